// SPDX-License-Identifier: MIT
// What nodes are made of beyond a mesh: levels of detail, height fields, joints, given bounds; and the bounds that
// follow from all of it. No library call.
#include "world/world_internal.h"

/// Most samples of a terrain.
#define ESPY_TERRAIN_MAX_SAMPLES ((uint64_t)1 << 28)

// --- checks

static bool espyNodeKind_HasMesh(espyNodeKind kind)
{
    return kind != espyNodeKind_Node3D && kind != espyNodeKind_Camera3D && kind != espyNodeKind_OcclusionArea;
}

static bool espyNodeKind_HasLevels(espyNodeKind kind)
{
    return kind == espyNodeKind_StaticMesh3D || kind == espyNodeKind_InstancedMesh3D;
}

static bool espyNodeKind_HasBounds(espyNodeKind kind)
{
    return kind == espyNodeKind_Node3D || kind == espyNodeKind_SkeletalMesh3D || kind == espyNodeKind_Particle3D;
}

static bool espyContent_IsFinite(float value)
{
    return value - value == 0.0f;
}

static bool espyContent_IsFiniteBox(espyBox box)
{
    const float* v = &box.min.x;
    return espyContent_IsFinite(v[0]) && espyContent_IsFinite(v[1]) && espyContent_IsFinite(v[2]) &&
           espyContent_IsFinite(v[3]) && espyContent_IsFinite(v[4]) && espyContent_IsFinite(v[5]);
}

static bool espyTerrain_IsSound(const espyHooks* hooks, const espyTerrain* terrain)
{
    if (!ESPYI_CHECK(hooks, terrain->width >= 2 && terrain->depth >= 2) ||
        !ESPYI_CHECK(hooks, (uint64_t)terrain->width * terrain->depth <= ESPY_TERRAIN_MAX_SAMPLES) ||
        !ESPYI_CHECK(hooks, terrain->spacing > 0.0f && espyContent_IsFinite(terrain->spacing)) ||
        !ESPYI_CHECK(hooks, (uint32_t)terrain->material <= espyMaterialClass_Additive) ||
        !ESPYI_CHECK(hooks, terrain->heights != NULL))
    {
        return false;
    }
    size_t count = (size_t)terrain->width * terrain->depth;
    for (size_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(hooks, espyContent_IsFinite(terrain->heights[i])))
        {
            return false;
        }
    }
    return true;
}

static bool espyVoxels_IsSound(const espyHooks* hooks, const espyVoxels* voxels)
{
    const uint32_t* bricks = voxels->bricks;
    uint64_t plane = (uint64_t)bricks[0] * bricks[1];
    if (!ESPYI_CHECK(hooks, bricks[0] > 0 && bricks[1] > 0 && bricks[2] > 0) ||
        !ESPYI_CHECK(hooks, plane <= ESPY_VOXEL_MAX_BRICKS && plane * bricks[2] <= ESPY_VOXEL_MAX_BRICKS) ||
        !ESPYI_CHECK(hooks, voxels->voxelSize > 0.0f && espyContent_IsFinite(voxels->voxelSize)))
    {
        return false;
    }
    uint64_t count = voxels->values ? plane * bricks[2] * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK : 0;
    for (uint64_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(hooks, voxels->values[i] <= espyVoxel_Additive))
        {
            return false;
        }
    }
    return true;
}

/// What can be checked of the promise about an occluder mesh: that it reaches out of no level's bounds.
static bool espyContent_IsInside(const espyWorld* world, espyMeshId occluder, espyMeshId mesh, const espyMeshId* levels,
                                 uint32_t levelCount)
{
    espyBox inner = espyiWorld_FindMesh(world, occluder)->opaqueBox;
    bool inside = !espyBox_IsValid(inner) || espyiBox_Contains(espyiWorld_FindMesh(world, mesh)->box, inner);
    for (uint32_t i = 0; i < levelCount && espyBox_IsValid(inner); ++i)
    {
        inside = inside && espyiBox_Contains(espyiWorld_FindMesh(world, levels[i])->box, inner);
    }
    return inside;
}

espyResult espyiContent_Check(const espyWorld* world, const espyNodeDef* def)
{
    const espyHooks* hooks = &world->hooks;
    bool leveled = def->levels != NULL || def->levelCount > 0 || def->occluderMesh.index1 != 0;
    bool plain = def->mesh.index1 == 0;
    if (!ESPYI_CHECK(hooks, plain || espyNodeKind_HasMesh(def->kind)) ||
        !ESPYI_CHECK(hooks, def->levels != NULL || def->levelCount == 0) ||
        !ESPYI_CHECK(hooks, !leveled || (espyNodeKind_HasLevels(def->kind) && !plain)) ||
        !ESPYI_CHECK(hooks, def->terrain == NULL || (def->kind == espyNodeKind_Terrain3D && plain)) ||
        !ESPYI_CHECK(hooks, def->voxels == NULL || (def->kind == espyNodeKind_Voxel3D && plain)) ||
        !ESPYI_CHECK(hooks, def->jointBoxes != NULL || def->jointCount == 0) ||
        !ESPYI_CHECK(hooks, def->jointCount == 0 || def->kind == espyNodeKind_SkeletalMesh3D) ||
        !ESPYI_CHECK(hooks, espyContent_IsFiniteBox(def->bounds)) ||
        !ESPYI_CHECK(hooks, !espyBox_IsValid(def->bounds) || espyNodeKind_HasBounds(def->kind)) ||
        (def->terrain && !espyTerrain_IsSound(hooks, def->terrain)) ||
        (def->voxels && !espyVoxels_IsSound(hooks, def->voxels)))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < def->jointCount; ++i)
    {
        if (!ESPYI_CHECK(hooks, espyContent_IsFiniteBox(def->jointBoxes[i])))
        {
            return espyResult_InvalidArgument;
        }
    }
    bool known = plain || espyiWorld_FindMesh(world, def->mesh) != NULL;
    known = known && (def->occluderMesh.index1 == 0 || espyiWorld_FindMesh(world, def->occluderMesh) != NULL);
    for (uint32_t i = 0; i < def->levelCount; ++i)
    {
        known = known && espyiWorld_FindMesh(world, def->levels[i]) != NULL;
    }
    if (!ESPYI_CHECK(hooks, known))
    {
        return espyResult_InvalidId;
    }
    bool inside = def->occluderMesh.index1 == 0 ||
                  espyContent_IsInside(world, def->occluderMesh, def->mesh, def->levels, def->levelCount);
    return ESPYI_CHECK(hooks, inside) ? espyResult_Ok : espyResult_InvalidArgument;
}

// --- copies

/// Adds room for `count` elements and returns where they will start; false on overflow.
static bool espyContent_AddSize(size_t* total, size_t count, size_t size, size_t* start)
{
    size_t bytes;
    *start = *total;
    return espyiMulSize(count, size, &bytes) && espyiAddSize(*total, bytes, total);
}

bool espyiContent_Create(const espyHooks* hooks, const espyNodeDef* def, espyiContent** out)
{
    *out = NULL;
    if (def->levelCount == 0 && def->occluderMesh.index1 == 0 && !def->terrain && !def->voxels && def->jointCount == 0)
    {
        return true;
    }
    const espyTerrain* t = def->terrain;
    size_t samples = t ? (size_t)t->width * t->depth : 0;
    size_t quads = t && t->holes ? (size_t)(t->width - 1) * (t->depth - 1) : 0;
    const uint32_t* b = def->voxels ? def->voxels->bricks : NULL;
    size_t bricks = b ? (size_t)b[0] * b[1] * b[2] : 0;
    // In order of falling alignment.
    size_t total = sizeof(espyiContent), brickStart, heightStart, levelStart, boxStart, holeStart;
    if (!espyContent_AddSize(&total, bricks, sizeof(espyiBrick), &brickStart) ||
        !espyContent_AddSize(&total, samples, sizeof(float), &heightStart) ||
        !espyContent_AddSize(&total, def->levelCount, sizeof(espyMeshId), &levelStart) ||
        !espyContent_AddSize(&total, def->jointCount, sizeof(espyBox), &boxStart) ||
        !espyContent_AddSize(&total, quads, 1, &holeStart))
    {
        return false;
    }
    uint8_t* block = (uint8_t*)espyiAlloc(hooks, total, 1);
    if (!block)
    {
        return false;
    }
    espyiContent* content = (espyiContent*)(void*)block;
    espyiBytes_Copy(block + heightStart, t ? t->heights : NULL, samples * sizeof(float));
    espyiBytes_Copy(block + levelStart, def->levels, def->levelCount * sizeof(espyMeshId));
    espyiBytes_Copy(block + boxStart, def->jointBoxes, def->jointCount * sizeof(espyBox));
    espyiBytes_Copy(block + holeStart, t ? t->holes : NULL, quads);
    content->levels = def->levelCount > 0 ? (const espyMeshId*)(void*)(block + levelStart) : NULL;
    content->levelCount = def->levelCount;
    content->occluderMesh = def->occluderMesh;
    content->jointBoxes = def->jointCount > 0 ? (const espyBox*)(void*)(block + boxStart) : NULL;
    content->jointCount = def->jointCount;
    if (t)
    {
        content->terrain = *t;
        content->terrain.heights = (const float*)(void*)(block + heightStart);
        content->terrain.holes = quads > 0 ? block + holeStart : NULL;
    }
    if (def->voxels)
    {
        content->voxels = *def->voxels;
        content->voxels.values = NULL;
        content->bricks = (espyiBrick*)(void*)(block + brickStart);
        if (!espyiVoxels_Fill(hooks, content, def->voxels->values))
        {
            espyiContent_Free(hooks, content);
            return false;
        }
    }
    *out = content;
    return true;
}

void espyiContent_Free(const espyHooks* hooks, espyiContent* content)
{
    if (content)
    {
        espyiVoxels_Free(hooks, content);
        espyiFree(hooks, content);
    }
}

// --- bounds

static espyBox espyTerrain_Bounds(const espyTerrain* terrain, const espyMat4* transform)
{
    espyBox box = espyBox_Empty();
    uint32_t quads = terrain->width - 1;
    for (uint32_t z = 0; z < terrain->depth; ++z)
    {
        for (uint32_t x = 0; x < terrain->width; ++x)
        {
            // A sample counts where one of the quads around it is closed.
            bool closed = terrain->holes == NULL;
            for (uint32_t k = 0; k < 4 && !closed; ++k)
            {
                // Below 0 wraps round to above the range.
                uint32_t qx = x - (k & 1u), qz = z - (k >> 1);
                closed = qx < quads && qz < terrain->depth - 1 && terrain->holes[qx + (size_t)quads * qz] == 0;
            }
            if (closed)
            {
                espyVec3 p = {(float)x * terrain->spacing, terrain->heights[x + (size_t)terrain->width * z],
                              (float)z * terrain->spacing};
                box = espyBox_AddPoint(box, espyMat4_TransformPoint(*transform, p));
            }
        }
    }
    return box;
}

/// Bounds of a mesh at every place where the node draws it.
static espyBox espyWorldNode_AddMesh(const espyiWorldNode* node, const espyiWorldMesh* mesh, bool opaqueOnly,
                                     espyBox box)
{
    espyBox (*add)(const espyiWorldMesh*, const espyMat4*, espyBox) =
        opaqueOnly ? espyiWorldMesh_AddOpaqueBounds : espyiWorldMesh_AddBounds;
    if (node->kind != espyNodeKind_InstancedMesh3D)
    {
        // What moves is not compared with baked boxes: its box may be loose, and cheap.
        return espyiWorldNode_IsDynamic(node) ? espyBox_Union(box, espyMat4_TransformBox(node->world, mesh->box))
                                              : add(mesh, &node->world, box);
    }
    for (uint32_t i = 0; i < node->instanceCount; ++i)
    {
        espyMat4 transform = espyMat4_Multiply(node->world, node->instances[i]);
        box = espyiWorldNode_IsDynamic(node) ? espyBox_Union(box, espyMat4_TransformBox(transform, mesh->box))
                                             : add(mesh, &transform, box);
    }
    return box;
}

static espyBox espyWorldNode_DrawnBounds(const espyWorld* world, const espyiWorldNode* node)
{
    const espyiContent* content = node->content;
    espyBox box = espyBox_Empty();
    if (espyBox_IsValid(node->ownBounds))
    {
        return espyMat4_TransformBox(node->world, node->ownBounds);
    }
    if (node->mesh.index1 != 0)
    {
        box = espyWorldNode_AddMesh(node, espyiWorld_FindMesh(world, node->mesh), false, box);
        for (uint32_t i = 0; content && i < content->levelCount; ++i)
        {
            box = espyWorldNode_AddMesh(node, espyiWorld_FindMesh(world, content->levels[i]), false, box);
        }
    }
    if (content && content->terrain.width > 0)
    {
        box = espyTerrain_Bounds(&content->terrain, &node->world);
    }
    if (content && content->bricks)
    {
        box = espyiVoxels_AddBounds(content, &node->world, false, box);
    }
    return box;
}

static espyBox espyWorldNode_OccluderBounds(const espyWorld* world, const espyiWorldNode* node)
{
    const uint32_t never = espyNodeFlag_Hidden | espyNodeFlag_Skybox;
    const espyiContent* content = node->content;
    espyBox box = espyBox_Empty();
    if (!(node->flags & espyNodeFlag_OccluderStatic) || (node->flags & never) || espyiWorldNode_IsDynamic(node))
    {
        return box;
    }
    if (node->mesh.index1 != 0)
    {
        bool inner = content && content->occluderMesh.index1 != 0;
        const espyiWorldMesh* mesh = espyiWorld_FindMesh(world, inner ? content->occluderMesh : node->mesh);
        if (!inner && content && content->levelCount > 0)
        {
            return box;
        }
        return !inner && mesh->opaque ? node->bounds : espyWorldNode_AddMesh(node, mesh, true, box);
    }
    if (content && content->terrain.width > 0)
    {
        return content->terrain.material == espyMaterialClass_Opaque ? node->bounds : box;
    }
    return content && content->bricks ? espyiVoxels_AddBounds(content, &node->world, true, box) : box;
}

void espyiWorld_UpdateBounds(const espyWorld* world, espyiWorldNode* node)
{
    // Both come out empty or NaN together with what they are computed from; readers see one kind of nothing.
    node->bounds = espyWorldNode_DrawnBounds(world, node);
    node->bounds = espyBox_IsValid(node->bounds) ? node->bounds : espyBox_Empty();
    node->occluderBounds = espyWorldNode_OccluderBounds(world, node);
    node->occluderBounds = espyBox_IsValid(node->occluderBounds) ? node->occluderBounds : espyBox_Empty();
}

espyBox espyWorld_GetWorldBounds(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node ? node->bounds : espyBox_Empty();
}

espyBox espyWorld_GetOccluderBounds(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node ? node->occluderBounds : espyBox_Empty();
}

espyBox espyWorld_GetQueryBounds(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!node || espyBox_IsValid(node->bounds))
    {
        return node ? node->bounds : espyBox_Empty();
    }
    espyVec3 p = {node->world.m[12], node->world.m[13], node->world.m[14]};
    return espyBox_Grow((espyBox){p, p}, ESPY_NODE_POINT_EXTENT);
}

// --- changes of content

static void espyWorld_ContentChanged(espyWorld* world, espyiWorldNode* node)
{
    espyiWorld_UpdateBounds(world, node);
    espyiWorld_TouchContent(world, (int32_t)(node - world->nodes));
}

/// Bounds that a skeleton or particles take while they move are no change of content: such nodes count as moving.
static void espyWorld_OwnBoundsChanged(espyWorld* world, espyiWorldNode* node, espyBox bounds)
{
    node->ownBounds = bounds;
    if (node->kind == espyNodeKind_Node3D)
    {
        espyWorld_ContentChanged(world, node);
        return;
    }
    espyiWorld_UpdateBounds(world, node);
    espyiWorld_Touch(world, (int32_t)(node - world->nodes));
}

espyResult espyWorld_SetBounds(espyWorld* world, espyNodeId id, espyBox bounds)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&world->hooks, espyNodeKind_HasBounds(node->kind) && espyContent_IsFiniteBox(bounds)))
    {
        return espyResult_InvalidArgument;
    }
    espyWorld_OwnBoundsChanged(world, node, bounds);
    return espyResult_Ok;
}

espyResult espyWorld_SetPose(espyWorld* world, espyNodeId id, const espyMat4* joints, uint32_t count)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    uint32_t wanted = node->content ? node->content->jointCount : 0;
    if (!ESPYI_CHECK(&world->hooks, joints != NULL && count > 0 && count == wanted))
    {
        return espyResult_InvalidArgument;
    }
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(&world->hooks, espyMat4_IsFinite(joints[i])))
        {
            return espyResult_InvalidArgument;
        }
        box = espyBox_Union(box, espyMat4_TransformBox(joints[i], node->content->jointBoxes[i]));
    }
    if (!ESPYI_CHECK(&world->hooks, espyContent_IsFiniteBox(box)))
    {
        return espyResult_InvalidArgument;
    }
    espyWorld_OwnBoundsChanged(world, node, box);
    return espyResult_Ok;
}

espyResult espyWorld_SetMesh(espyWorld* world, espyNodeId id, espyMeshId mesh)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, node != NULL) || !ESPYI_CHECK(hooks, espyiWorld_FindMesh(world, mesh) != NULL))
    {
        return espyResult_InvalidId;
    }
    const espyiContent* content = node->content;
    bool inside = !content || content->occluderMesh.index1 == 0 ||
                  espyContent_IsInside(world, content->occluderMesh, mesh, content->levels, content->levelCount);
    if (!ESPYI_CHECK(hooks, node->mesh.index1 != 0) || !ESPYI_CHECK(hooks, inside))
    {
        return espyResult_InvalidArgument;
    }
    node->mesh = mesh;
    espyWorld_ContentChanged(world, node);
    return espyResult_Ok;
}

// --- hash

static uint64_t espyContent_HashFloats(uint64_t hash, const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        // Adding 0 turns -0 into 0.
        float value = values[i] + 0.0f;
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        hash = espyiHash_U64(hash, word);
    }
    return hash;
}

static uint64_t espyContent_HashMesh(const espyWorld* world, uint64_t hash, espyMeshId id)
{
    return espyiHash_U64(hash, id.index1 != 0 ? espyiWorld_FindMesh(world, id)->hash : 0);
}

static uint64_t espyContent_Hash(const espyWorld* world, const espyiContent* content, uint64_t hash)
{
    for (uint32_t i = 0; i < content->levelCount; ++i)
    {
        hash = espyContent_HashMesh(world, hash, content->levels[i]);
    }
    hash = espyContent_HashMesh(world, hash, content->occluderMesh);
    const espyTerrain* t = &content->terrain;
    if (t->width > 0)
    {
        const uint32_t words[3] = {t->width, t->depth, (uint32_t)t->material};
        hash = espyiHash_Words(hash, words, 3);
        hash = espyContent_HashFloats(hash, &t->spacing, 1);
        hash = espyContent_HashFloats(hash, t->heights, (size_t)t->width * t->depth);
        size_t quads = t->holes ? (size_t)(t->width - 1) * (t->depth - 1) : 0;
        for (size_t i = 0; i < quads; ++i)
        {
            // A terrain without any hole is one whose holes are null.
            hash = t->holes[i] != 0 ? espyiHash_U64(hash, i) : hash;
        }
    }
    const uint32_t* b = content->voxels.bricks;
    if (content->bricks)
    {
        hash = espyContent_HashFloats(espyiHash_Words(hash, b, 3), &content->voxels.voxelSize, 1);
        size_t count = (size_t)b[0] * b[1] * b[2];
        for (size_t i = 0; i < count; ++i)
        {
            const espyiBrick* brick = &content->bricks[i];
            const size_t size = (size_t)ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK;
            hash = brick->values ? espyiHash_Bytes(hash, brick->values, size) : espyiHash_U64(hash, brick->value);
        }
    }
    return hash;
}

uint64_t espyWorld_GetContentHash(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    bool bounded = node && node->kind == espyNodeKind_Node3D && espyBox_IsValid(node->ownBounds);
    if (!node || (node->mesh.index1 == 0 && !node->content && !bounded))
    {
        return 0;
    }
    uint64_t hash = espyContent_HashMesh(world, 0, node->mesh);
    for (uint32_t i = 0; i < node->instanceCount; ++i)
    {
        hash = espyContent_HashFloats(hash, node->instances[i].m, 16);
    }
    hash = bounded ? espyContent_HashFloats(hash, &node->ownBounds.min.x, 6) : hash;
    hash = node->content ? espyContent_Hash(world, node->content, hash) : hash;
    // 0 is what has nothing.
    return hash != 0 ? hash : 1;
}
