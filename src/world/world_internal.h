// SPDX-License-Identifier: MIT
// What the files of the world share: its storage and the checks of ids.
#ifndef ESPYI_WORLD_INTERNAL_H
#define ESPYI_WORLD_INTERNAL_H

#include "core/core.h"

#include <espy/world.h>

#include <string.h>

/// Marks "none" where an index is expected.
#define ESPYI_WORLD_NONE (-1)

/// A mesh is one allocation: this struct, then positions, indices, parts and name.
typedef struct espyiWorldMesh
{
    espyBox box;       ///< Of all vertices, mesh space.
    espyBox opaqueBox; ///< Of the vertices of opaque triangles.
    uint64_t hash;     ///< Of positions, indices and material classes.
    bool opaque;       ///< Every triangle is: `parts` is one part over everything.
    const espyVec3* positions;
    const uint32_t* indices;
    const espyMeshPart* parts;
    const char* name;
    uint32_t vertexCount, triangleCount, partCount;
} espyiWorldMesh;

/// ESPY_VOXEL_BRICK cubed voxels.
typedef struct espyiBrick
{
    uint8_t* values; ///< Null where all are `value`, and only then.
    uint8_t value;
    /// First and last on each axis, in the brick: of the voxels that are not empty [0], and of opaque ones [1].
    /// low[k][0] > high[k][0] where there is none.
    uint8_t low[2][3], high[2][3];
} espyiBrick;

/// What only some nodes have, in one allocation with the arrays that it points to, bricks' values apart.
typedef struct espyiContent
{
    const espyMeshId* levels;
    uint32_t levelCount;
    espyMeshId occluderMesh;
    espyTerrain terrain; ///< width 0: none.
    espyVoxels voxels;   ///< bricks[0] 0: none.
    espyiBrick* bricks;
    const espyBox* jointBoxes;
    uint32_t jointCount;
} espyiContent;

/// Links are slot indices or ESPYI_WORLD_NONE.
typedef struct espyiWorldNode
{
    // What matching a file with all nodes reads lies in one cache line.
    _Alignas(64) uint32_t generation;
    bool alive;
    espyNodeKind kind;
    uint32_t flags;
    int32_t sourceId;
    espyMeshId mesh;
    uint32_t instanceCount;
    espyBox bounds; ///< World space, of all that is drawn; empty where there is nothing.
    espyiContent* content;

    espyBox occluderBounds; ///< World space, of what the bake gathers as occluder; empty where there is nothing.
    int32_t parent, firstChild, lastChild, previousSibling, nextSibling;
    int32_t nextSource; ///< Next node of the same bucket of the source table.
    int32_t nextFree;
    int32_t newer, older; ///< Neighbours in order of the last change; of dead slots too.
    uint64_t revision;    ///< Of the world at the last change; of dead slots too.
    uint64_t contentRevision;
    uint32_t order; ///< Position in espyWorld.order.
    espyMat4 local, world;
    espyBox ownBounds; ///< Given, or of the pose; the node's space. Empty: none.
    espyMat4* instances;
    float unrollCellSize;
    espyCamera camera;
    espyOcclusionProxy proxy;
    char* strings; ///< Owns the name and the tags.
    const char* name;
    const char** tags;
    uint32_t tagCount;
} espyiWorldNode;

/// Slots in order, some of them removed. Removing and finding the n-th left cost the logarithm of the length.
/// Based on: Fenwick, "A New Data Structure for Cumulative Frequency Tables", 1994.
typedef struct espyiOrder
{
    int32_t* slots;   ///< ESPYI_WORLD_NONE where one was removed.
    uint32_t* counts; ///< counts[i]: those left among the (i & -i) entries up to number i, which count from 1.
    uint32_t length;  ///< Entries, removed ones included.
    uint32_t living;
    size_t slotCapacity, countCapacity;
} espyiOrder;

struct espyWorld
{
    espyHooks hooks;
    espySceneSettings settings;
    espyiWorldMesh** meshes;
    size_t meshCount, meshCapacity;
    espyiWorldNode* nodes; ///< Slots; an id is a slot and its generation.
    size_t slotCount, slotCapacity;
    espyiOrder order; ///< Slots of living nodes: a parent always comes before its children.
    int32_t freeSlot;
    int32_t newest; ///< Slot that changed last.
    uint64_t revision;
    espyNodeId activeCamera;
    bool hadCamera;         ///< The first one becomes the active camera, a later one does not.
    int32_t* sourceBuckets; ///< Hash table of sourceIds, chained through nextSource.
    size_t sourceBucketCount, sourceCount;
    struct espyiWorldData* data; ///< Draws and files.
};

/// Returns the mesh of an id, or null.
const espyiWorldMesh* espyiWorld_FindMesh(const espyWorld* world, espyMeshId id);
/// Frees all nodes or all meshes; for espyWorld_Destroy only.
void espyiWorld_FreeNodes(espyWorld* world);
void espyiWorld_FreeMeshes(espyWorld* world);

static inline bool espyiBox_Contains(espyBox outer, espyBox inner)
{
    return outer.min.x <= inner.min.x && outer.min.y <= inner.min.y && outer.min.z <= inner.min.z &&
           outer.max.x >= inner.max.x && outer.max.y >= inner.max.y && outer.max.z >= inner.max.z;
}

// --- order

/// Makes room for `count` more; false where memory ends. Positions stay.
bool espyiOrder_Reserve(espyiOrder* order, const espyHooks* hooks, size_t count);
/// Appends a slot, for which there is room, and returns its position.
uint32_t espyiOrder_Append(espyiOrder* order, int32_t slot);
void espyiOrder_Remove(espyiOrder* order, uint32_t position);
/// True where removed entries outnumber the others so far that Compact is due.
bool espyiOrder_IsSparse(const espyiOrder* order);
/// Closes the gaps. Positions change: read them again from `slots`.
void espyiOrder_Compact(espyiOrder* order);
/// Slot of the n-th entry that is left; `index` < living.
int32_t espyiOrder_At(const espyiOrder* order, uint32_t index);

// --- content

/// Copies of a def what makes a node's content, checked before; null with true where it has none.
bool espyiContent_Create(const espyHooks* hooks, const espyNodeDef* def, espyiContent** out);
void espyiContent_Free(const espyHooks* hooks, espyiContent* content);
/// Ok, InvalidArgument or InvalidId for what a def says about content.
espyResult espyiContent_Check(const espyWorld* world, const espyNodeDef* def);

/// Bounds of a mesh under a transform, joined to `box`: of all vertices, or of those of opaque triangles.
espyBox espyiWorldMesh_AddBounds(const espyiWorldMesh* mesh, const espyMat4* transform, espyBox box);
espyBox espyiWorldMesh_AddOpaqueBounds(const espyiWorldMesh* mesh, const espyMat4* transform, espyBox box);
/// Computes node->bounds and node->occluderBounds anew.
void espyiWorld_UpdateBounds(const espyWorld* world, espyiWorldNode* node);

/// Copies values into bricks that are still empty; false where memory ends, with some of them filled.
bool espyiVoxels_Fill(const espyHooks* hooks, espyiContent* content, const uint8_t* values);
void espyiVoxels_Free(const espyHooks* hooks, espyiContent* content);
/// Value of a voxel inside the grid.
static inline uint8_t espyiVoxels_At(const espyiContent* content, uint32_t x, uint32_t y, uint32_t z)
{
    const uint32_t side = ESPY_VOXEL_BRICK;
    const uint32_t* bricks = content->voxels.bricks;
    const espyiBrick* brick = &content->bricks[x / side + bricks[0] * (y / side + bricks[1] * (z / side))];
    return brick->values ? brick->values[x % side + side * (y % side + side * (z % side))] : brick->value;
}
/// Bounds of the voxels that are not empty (or opaque ones only) under a transform, joined to `box`.
espyBox espyiVoxels_AddBounds(const espyiContent* content, const espyMat4* transform, bool opaqueOnly, espyBox box);

// --- names and tags

/// Replaces name and tags of a node; false where memory ends, with the node as it was.
bool espyiWorldNode_SetStrings(const espyHooks* hooks, espyiWorldNode* node, const char* name, const char* const* tags,
                               uint32_t tagCount);

// --- changes

/// Says that a node's slot changed, or that its content did as well.
void espyiWorld_Touch(espyWorld* world, int32_t slot);
void espyiWorld_TouchContent(espyWorld* world, int32_t slot);

// --- draws and files: data.h

bool espyiWorldData_Create(espyWorld* world, bool unrollInstances);
void espyiWorldData_Destroy(espyWorld* world);
/// Makes room for the draws of one more node; false where memory ends.
bool espyiWorldData_ReserveNode(espyWorld* world, const espyNodeDef* def);
/// Brings draws and occluders of a slot up to date: a node that is new, changed or gone.
void espyiWorldData_NodeChanged(espyWorld* world, int32_t slot);

/// True where a node may change shape or place at run time, whatever its flags say.
static inline bool espyiWorldNode_IsDynamic(const espyiWorldNode* node)
{
    return (node->flags & espyNodeFlag_Dynamic) != 0 || node->kind == espyNodeKind_SkeletalMesh3D ||
           node->kind == espyNodeKind_Particle3D;
}

/// Node of an id, or null.
static inline espyiWorldNode* espyiWorld_FindNode(const espyWorld* world, espyNodeId id)
{
    if (!world || id.index1 <= 0 || (size_t)id.index1 > world->slotCount)
    {
        return NULL;
    }
    espyiWorldNode* node = &world->nodes[id.index1 - 1];
    return node->alive && node->generation == id.generation ? node : NULL;
}

static inline espyNodeId espyiWorld_IdOf(const espyWorld* world, int32_t slot)
{
    return (espyNodeId){slot + 1, world->nodes[slot].generation};
}

/// The node after `slot` in a walk of the tree under `root` that visits parents first; NONE at the end.
int32_t espyiWorld_NextInSubtree(const espyWorld* world, int32_t root, int32_t slot);

static inline size_t espyiText_Length(const char* text)
{
    size_t length = 0;
    while (text[length] != '\0')
    {
        ++length;
    }
    return length;
}

static inline void espyiBytes_Copy(void* to, const void* from, size_t size)
{
    if (size > 0)
    {
        memcpy(to, from, size);
    }
}

#endif
