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
    espyBox box; ///< Of all vertices, mesh space.
    const espyVec3* positions;
    const uint32_t* indices;
    const espyMeshPart* parts;
    const char* name;
    uint32_t vertexCount, triangleCount, partCount;
} espyiWorldMesh;

/// Links are slot indices or ESPYI_WORLD_NONE.
typedef struct espyiWorldNode
{
    uint32_t generation;
    bool alive;
    espyNodeKind kind;
    uint32_t flags;
    int32_t parent, firstChild, lastChild, previousSibling, nextSibling;
    int32_t nextSource; ///< Next node of the same bucket of the source table.
    int32_t nextFree;
    uint32_t order; ///< Position in espyWorld.order.
    espyMat4 local, world;
    espyMeshId mesh;
    espyMat4* instances;
    uint32_t instanceCount;
    float unrollCellSize;
    espyCamera camera;
    espyOcclusionProxy proxy;
    int32_t sourceId;
    char* strings; ///< Owns the name and the tags.
    const char* name;
    const char** tags;
    uint32_t tagCount;
} espyiWorldNode;

struct espyWorld
{
    espyHooks hooks;
    espySceneSettings settings;
    espyiWorldMesh** meshes;
    size_t meshCount, meshCapacity;
    espyiWorldNode* nodes; ///< Slots; an id is a slot and its generation.
    size_t slotCount, slotCapacity;
    int32_t* order; ///< Slots of living nodes in order of creation: a parent always comes before its children.
    size_t nodeCount, orderCapacity;
    int32_t freeSlot;
    int32_t* sourceBuckets; ///< Hash table of sourceIds, chained through nextSource.
    size_t sourceBucketCount, sourceCount;
};

/// Returns the mesh of an id, or null.
const espyiWorldMesh* espyiWorld_FindMesh(const espyWorld* world, espyMeshId id);
/// Frees all nodes or all meshes; for espyWorld_Destroy only.
void espyiWorld_FreeNodes(espyWorld* world);
void espyiWorld_FreeMeshes(espyWorld* world);

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
