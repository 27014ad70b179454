// SPDX-License-Identifier: MIT
// What of a world can be culled, as plain arrays: one group of draws for each loaded file, in slot order, and one for
// the nodes that are in no file. Kept up to date by every call that changes a node, at the cost of what changed.
//
// A draw is a node, or with espyWorldDef.unrollInstances one unroll cell of an InstancedMesh3D. Every node is one, also
// what is never drawn (cameras, plain nodes): gameplay asks about those; bits tell them apart. In the group of a file
// draw i < slotCount has slot i, so that espyPvs_CullRange(pvs, set, 0, count, out) tests all of them; draws from
// slotCount on have no slot (it keeps those) and are always `moved`.
//
// How to cull a group for a view, by words of 32 draws:
//     candidates = present & drawn                      (shadow views: & castsShadow, and nothing below)
//     static     = set of the view's cells in the group's own file; all ones where `usable` is false or there are none
//     kept       = candidates & (static | moved)
//     then the frustum by bounds for what is kept, and each draw of kept & moved & occludee by its bounds
//     (espyViewSet_HidesBox) in every usable file: gone where any of them says Occluded.
//
// Threads: draws change with the nodes (owner; no query may run then) and with files that come and go, which queries
// may overlap: those build new arrays beside the old ones and publish them. A query takes the draws once, works on
// them, and gives them back; it never waits and never keeps a writer waiting.
#ifndef ESPYI_DRAWS_H
#define ESPYI_DRAWS_H

#include <espy/world.h>

/// Every array of a group is padded to a multiple of this many draws (bitsets to whole words), and is 64-byte aligned.
/// Draws from `count` on have no bit set and an empty box.
#define ESPYI_DRAWS_PAD 32u
/// Coordinates of boxes that are never culled: far beyond every level, yet products with normals stay finite.
#define ESPYI_DRAWS_UNBOUNDED 1.0e18f
#define ESPYI_DRAWS_NONE 0xFFFFFFFFu

typedef struct espyiDrawGroup
{
    const espyPvs* pvs; ///< Null in the group of nodes that are in no file.
    espyVec3 offset;    ///< Metres: where the data's origin lies in the world.
    /// False: nothing may be culled by this file, neither by bits nor by the dynamic table (stale data, or none).
    bool usable;
    uint32_t count, slotCount, capacity;
    // Bounds now, world space. Never empty for a draw that is present: ESPY_NODE_POINT_EXTENT around the position where
    // a node has none, ESPYI_DRAWS_UNBOUNDED to each side where nothing is known (skyboxes).
    float *minX, *minY, *minZ, *maxX, *maxY, *maxZ;
    espyNodeId* nodes; ///< Null ids where no node has the slot.
    int32_t* parts;    ///< -1: the whole node; 0..: its unroll cell.
    uint32_t* next;    ///< The next draw of the same node, ESPYI_DRAWS_NONE at the last.
    // Bitsets.
    uint32_t* present; ///< There is a node and it is not hidden.
    uint32_t*
        drawn; ///< There is something to draw or, for a bare box, to cull: no camera, area, blocker or plain node.
    uint32_t* moved;        ///< Not where it was baked: its bit says nothing, its bounds decide.
    uint32_t* occludee;     ///< May be culled by occlusion in a renderer.
    uint32_t* castsShadow;  ///< espyNodeFlag_CastsShadow.
    uint32_t* alwaysUpdate; ///< espyNodeFlag_AlwaysUpdate.
    uint32_t* several;      ///< One of several draws of its node.
} espyiDrawGroup;

/// All draws at one moment. groups[0] holds the nodes that are in no file, the others follow in order of loading.
typedef struct espyiDraws
{
    espyiDrawGroup* const* groups;
    uint32_t groupCount;
    uint32_t drawCount; ///< Of all groups.
} espyiDraws;

/// Takes the draws for reading; give them back with the same `ticket`. Never fails, never waits. Thread: any.
const espyiDraws* espyiDraws_Acquire(const espyWorld* world, uint32_t* ticket);
void espyiDraws_Release(const espyWorld* world, uint32_t ticket);

/// Bounds now of one draw. Thread: any.
static inline espyBox espyiDrawGroup_GetBox(const espyiDrawGroup* group, uint32_t draw)
{
    return (espyBox){{group->minX[draw], group->minY[draw], group->minZ[draw]},
                     {group->maxX[draw], group->maxY[draw], group->maxZ[draw]}};
}

#endif
