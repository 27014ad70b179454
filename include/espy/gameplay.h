// SPDX-License-Identifier: MIT
// What can a camera see right now? The renderer's answer for game logic: the frustum test on a node's bounds, then the
// baked bit of an occludee in its place, or the dynamic table for anything else (nodes without bounds are a box of
// ESPY_NODE_POINT_EXTENT to each side of their position). Evaluated when asked: no frame of lag, no renderer needed,
// the same in an editor and in play, on every platform.
//
// A camera looks from all cells that its near rectangle touches, as a view does (view.h): more than ESPY_VIEW_MAX_CELLS
// of them, or a part of it in no cell, and only the frustum counts. Hidden nodes and the camera itself are never seen;
// casting a shadow into the picture does not count. Where a null id is given as camera the world's active one is taken;
// without any camera nothing is seen.
//
// Answers lean on the baked data: with files that are stale, of other places, or without a dynamic table, with the
// scene's switch espySceneSettings.occlusionCulling off, or after espyWorld_EnableOcclusionCulling(world, false), what
// is in the frustum counts as seen.
//
// Thread: any, at the same time as each other and as espyWorld_AddData and espyWorld_RemoveData; nothing else may
// change the world meanwhile. No call but espyViewTracker_Create allocates.
#ifndef ESPY_GAMEPLAY_H
#define ESPY_GAMEPLAY_H

#include <espy/world_data.h>

/// Switches the use of baked data for every query and renderer of this world on or off, beside the scene's own switch.
/// Default on. Thread: owner.
ESPY_API void espyWorld_EnableOcclusionCulling(espyWorld* world, bool enabled);
/// True where both switches are on. Thread: any.
ESPY_API bool espyWorld_IsOcclusionCullingEnabled(const espyWorld* world);

/// True where `camera` can see the node. False for ids that are none and for a camera that is no Camera3D.
/// Cost: below 1 us with one file.
ESPY_API bool espyWorld_IsSeenByCamera(const espyWorld* world, espyNodeId node, espyNodeId camera);

/// Writes the nodes that `camera` can see: all, or with tagCount > 0 those that have any of `tags`. Only the first
/// `capacity` are written (outNodes may be null with 0); *count is how many there are. Each node once, in the same
/// order for the same history of the world. Errors: InvalidArgument (a null tag or array), InvalidId (no such camera),
/// both with *count 0. Cost: linear in the nodes; 100,000 nodes: docs/gameplay.md.
ESPY_API espyResult espyWorld_GetSeenByCamera(const espyWorld* world, const char* const* tags, uint32_t tagCount,
                                              espyNodeId camera, espyNodeId* outNodes, uint32_t capacity,
                                              uint32_t* count);

/// Could the camera see a thing with these bounds (world space)? Outside (the frustum), Occluded (by the dynamic
/// tables) or Visible; Unknown for a box that is not valid or without a camera. No node is asked, so that hidden ones
/// or ones to be spawned can be tried out.
ESPY_API espyVisibility espyWorld_CouldSeeBox(const espyWorld* world, espyNodeId camera, espyBox box);

/// Is the line of sight between two points (world space) blocked? Occluded only from baked evidence: some file's
/// dynamic table says that the coarse block around one point is hidden from the cell of the other. Else Unknown: the
/// files cannot tell a free line from a blocked one. Whatever is not in a file (doors, moved things) blocks nothing.
ESPY_API espyVisibility espyWorld_TestLine(const espyWorld* world, espyVec3 a, espyVec3 b);

// --- who came into view, who left it

/// Remembers what a camera saw at the last poll. Belongs to its world: destroy it first.
typedef struct espyViewTracker espyViewTracker;

typedef struct espyViewTrackerDef
{
    espyNodeId camera;       ///< Null: the active camera, whichever that is at each poll.
    const char* const* tags; ///< Copied. None: every node.
    uint32_t tagCount;
    uint32_t maxNodes; ///< Nodes that the tracker has room for: the highest index1 that the world will reach. Default
                       ///< 0: what the world has at creation.
    uint32_t cookie;
} espyViewTrackerDef;

typedef struct espyViewEvent
{
    espyNodeId node; ///< May be destroyed by now where it left.
    bool entered;    ///< False: left.
} espyViewEvent;

ESPY_API espyViewTrackerDef espyViewTrackerDef_Default(void);
/// Starts with nothing seen: the first poll reports all that is. Errors: InvalidArgument, InvalidId, OutOfMemory.
/// Thread: owner of the world.
ESPY_API espyResult espyViewTracker_Create(const espyWorld* world, const espyViewTrackerDef* def,
                                           espyViewTracker** out);
ESPY_API void espyViewTracker_Destroy(espyViewTracker* tracker);
/// Writes what changed since the last poll, in order of index1; what does not fit into `capacity` comes with the next
/// one. Without a camera everything has left. A node that was destroyed leaves, also where another took its place.
/// Errors: LimitExceeded (the world has nodes beyond maxNodes; those are not told of, the others are).
/// Cost: as GetSeenByCamera. Never allocates. Thread: one at a time for each tracker.
ESPY_API espyResult espyViewTracker_Poll(espyViewTracker* tracker, espyViewEvent* events, uint32_t capacity,
                                         uint32_t* count);

#endif
