// SPDX-License-Identifier: MIT
// Nodes of a world: hierarchy, transforms, flags, cameras, lookup by source id. No library call, no recursion.
//
// World transforms and bounds are kept up to date when something is set, never on reading: const calls may run at the
// same time.
#include "world/world_internal.h"

static int32_t espyWorld_SlotOf(const espyWorld* world, const espyiWorldNode* node)
{
    return (int32_t)(node - world->nodes);
}

// --- source ids

static size_t espyWorld_SourceBucket(const espyWorld* world, int32_t sourceId)
{
    return (size_t)(espyiHash_Mix((uint64_t)(uint32_t)sourceId + 1u) & (world->sourceBucketCount - 1u));
}

static void espyWorld_LinkSource(espyWorld* world, int32_t slot)
{
    size_t bucket = espyWorld_SourceBucket(world, world->nodes[slot].sourceId);
    world->nodes[slot].nextSource = world->sourceBuckets[bucket];
    world->sourceBuckets[bucket] = slot;
}

static void espyWorld_UnlinkSource(espyWorld* world, int32_t slot)
{
    if (world->nodes[slot].sourceId < 0)
    {
        return;
    }
    int32_t* link = &world->sourceBuckets[espyWorld_SourceBucket(world, world->nodes[slot].sourceId)];
    while (*link != slot)
    {
        link = &world->nodes[*link].nextSource;
    }
    *link = world->nodes[slot].nextSource;
    --world->sourceCount;
}

/// Makes room for one more source id; the load stays at or below one node a bucket.
static bool espyWorld_ReserveSource(espyWorld* world)
{
    if (world->sourceCount < world->sourceBucketCount)
    {
        return true;
    }
    size_t count = world->sourceBucketCount > 0 ? 2 * world->sourceBucketCount : 64;
    int32_t* buckets = (int32_t*)espyiAlloc(&world->hooks, count, sizeof(int32_t));
    if (!buckets)
    {
        return false;
    }
    for (size_t i = 0; i < count; ++i)
    {
        buckets[i] = ESPYI_WORLD_NONE;
    }
    espyiFree(&world->hooks, world->sourceBuckets);
    world->sourceBuckets = buckets;
    world->sourceBucketCount = count;
    for (uint32_t i = 0; i < world->order.length; ++i)
    {
        int32_t slot = world->order.slots[i];
        if (slot != ESPYI_WORLD_NONE && world->nodes[slot].sourceId >= 0)
        {
            espyWorld_LinkSource(world, slot);
        }
    }
    return true;
}

espyNodeId espyWorld_FindSource(const espyWorld* world, int32_t sourceId)
{
    if (world && sourceId >= 0 && world->sourceBucketCount > 0)
    {
        int32_t slot = world->sourceBuckets[espyWorld_SourceBucket(world, sourceId)];
        for (; slot != ESPYI_WORLD_NONE; slot = world->nodes[slot].nextSource)
        {
            if (world->nodes[slot].sourceId == sourceId)
            {
                return espyiWorld_IdOf(world, slot);
            }
        }
    }
    return (espyNodeId){0};
}

// --- creation

static bool espyWorld_IsFinite(float value)
{
    return value - value == 0.0f;
}

/// Perspective with an angle below 180 degrees and a near plane, or orthographic with a height.
static bool espyCamera_IsSound(const espyCamera* camera)
{
    bool near = camera->nearDistance > 0.0f || (camera->orthographic && espyWorld_IsFinite(camera->nearDistance));
    bool far = camera->farDistance == 0.0f || camera->farDistance > camera->nearDistance;
    bool shape = camera->orthographic ? camera->halfHeight > 0.0f && espyWorld_IsFinite(camera->halfHeight)
                                      : camera->verticalFov > 0.0f && camera->verticalFov < 3.1415925f;
    return shape && near && far && camera->aspect > 0.0f && espyWorld_IsFinite(camera->aspect) &&
           espyWorld_IsFinite(camera->nearDistance) && espyWorld_IsFinite(camera->farDistance) &&
           espyWorld_IsFinite(camera->offsetX) && espyWorld_IsFinite(camera->offsetY);
}

static espyResult espyWorld_CheckNodeDef(const espyWorld* world, const espyNodeDef* def)
{
    const espyHooks* hooks = &world->hooks;
    if (!ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(hooks, def->kind >= espyNodeKind_Node3D && def->kind <= espyNodeKind_OcclusionArea) ||
        !ESPYI_CHECK(hooks, espyMat4_IsFinite(def->local)) ||
        !ESPYI_CHECK(hooks, def->instances != NULL || def->instanceCount == 0) ||
        !ESPYI_CHECK(hooks, def->instanceCount == 0 || def->kind == espyNodeKind_InstancedMesh3D) ||
        !ESPYI_CHECK(hooks, def->tags != NULL || def->tagCount == 0) ||
        !ESPYI_CHECK(hooks, def->kind != espyNodeKind_Camera3D || espyCamera_IsSound(&def->camera)) ||
        !ESPYI_CHECK(hooks, espyWorld_FindSource(world, def->sourceId).index1 == 0))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < def->instanceCount; ++i)
    {
        if (!ESPYI_CHECK(hooks, espyMat4_IsFinite(def->instances[i])))
        {
            return espyResult_InvalidArgument;
        }
    }
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        if (!ESPYI_CHECK(hooks, def->tags[i] != NULL))
        {
            return espyResult_InvalidArgument;
        }
    }
    if (!ESPYI_CHECK(hooks, def->parent.index1 == 0 || espyiWorld_FindNode(world, def->parent) != NULL))
    {
        return espyResult_InvalidId;
    }
    return espyiContent_Check(world, def);
}

static void espyWorldNode_FreeOwned(const espyHooks* hooks, espyiWorldNode* node)
{
    espyiFree(hooks, node->strings);
    espyiFree(hooks, node->instances);
    espyiContent_Free(hooks, node->content);
}

/// Copies what a def points to into a node that does not own anything yet.
static bool espyWorldNode_CopyOwned(const espyHooks* hooks, espyiWorldNode* node, const espyNodeDef* def)
{
    bool copied = espyiWorldNode_SetStrings(hooks, node, def->name, def->tags, def->tagCount) &&
                  espyiContent_Create(hooks, def, &node->content);
    if (copied && def->instanceCount > 0)
    {
        node->instances = (espyMat4*)espyiAlloc(hooks, def->instanceCount, sizeof(espyMat4));
        copied = node->instances != NULL;
    }
    if (!copied)
    {
        espyWorldNode_FreeOwned(hooks, node);
        return false;
    }
    espyiBytes_Copy(node->instances, def->instances, def->instanceCount * sizeof(espyMat4));
    node->instanceCount = def->instanceCount;
    return true;
}

static void espyWorld_LinkChild(espyWorld* world, int32_t slot)
{
    espyiWorldNode* node = &world->nodes[slot];
    node->previousSibling = node->nextSibling = ESPYI_WORLD_NONE;
    if (node->parent == ESPYI_WORLD_NONE)
    {
        return;
    }
    espyiWorldNode* parent = &world->nodes[node->parent];
    node->previousSibling = parent->lastChild;
    if (parent->lastChild != ESPYI_WORLD_NONE)
    {
        world->nodes[parent->lastChild].nextSibling = slot;
    }
    else
    {
        parent->firstChild = slot;
    }
    parent->lastChild = slot;
}

int32_t espyiWorld_NextInSubtree(const espyWorld* world, int32_t root, int32_t slot)
{
    if (world->nodes[slot].firstChild != ESPYI_WORLD_NONE)
    {
        return world->nodes[slot].firstChild;
    }
    while (slot != root && world->nodes[slot].nextSibling == ESPYI_WORLD_NONE)
    {
        slot = world->nodes[slot].parent;
    }
    return slot == root ? ESPYI_WORLD_NONE : world->nodes[slot].nextSibling;
}

/// Brings the world transforms and bounds of a node and its descendants up to date.
static void espyWorld_UpdateSubtree(espyWorld* world, int32_t root)
{
    for (int32_t slot = root; slot != ESPYI_WORLD_NONE; slot = espyiWorld_NextInSubtree(world, root, slot))
    {
        espyiWorldNode* node = &world->nodes[slot];
        node->world = node->parent == ESPYI_WORLD_NONE
                          ? node->local
                          : espyMat4_Multiply(world->nodes[node->parent].world, node->local);
        espyiWorld_UpdateBounds(world, node);
        espyiWorld_Touch(world, slot);
    }
}

espyResult espyWorld_CreateNode(espyWorld* world, const espyNodeDef* def, espyNodeId* out)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyNodeId){0};
    espyResult result = espyWorld_CheckNodeDef(world, def);
    if (result != espyResult_Ok)
    {
        return result;
    }
    // All memory first, so that a failure leaves the world as it was.
    const espyHooks* hooks = &world->hooks;
    bool fresh = world->freeSlot == ESPYI_WORLD_NONE;
    espyiWorldNode node = {0};
    if ((fresh && world->slotCount >= INT32_MAX) ||
        (fresh && !espyiGrow(hooks, (void**)&world->nodes, &world->slotCapacity, world->slotCount + 1,
                             sizeof(espyiWorldNode))) ||
        !espyiOrder_Reserve(&world->order, hooks, 1) || (def->sourceId >= 0 && !espyWorld_ReserveSource(world)) ||
        !espyiWorldData_ReserveNode(world, def) || !espyWorldNode_CopyOwned(hooks, &node, def))
    {
        return espyResult_OutOfMemory;
    }
    int32_t slot = fresh ? (int32_t)world->slotCount++ : world->freeSlot;
    const espyiWorldNode dead = world->nodes[slot];
    node.generation = fresh ? 1 : dead.generation;
    node.newer = fresh ? ESPYI_WORLD_NONE : dead.newer;
    node.older = fresh ? ESPYI_WORLD_NONE : dead.older;
    if (!fresh)
    {
        world->freeSlot = dead.nextFree;
    }
    node.alive = true;
    node.kind = def->kind;
    node.flags = def->flags;
    node.parent = def->parent.index1 - 1;
    node.firstChild = node.lastChild = ESPYI_WORLD_NONE;
    node.nextSource = node.nextFree = ESPYI_WORLD_NONE;
    node.order = espyiOrder_Append(&world->order, slot);
    node.local = def->local;
    node.mesh = def->mesh;
    node.ownBounds = def->bounds;
    node.unrollCellSize = def->unrollCellSize;
    node.camera = def->camera;
    node.proxy = def->proxy;
    node.sourceId = def->sourceId < 0 ? -1 : def->sourceId;
    world->nodes[slot] = node;
    espyWorld_LinkChild(world, slot);
    espyWorld_UpdateSubtree(world, slot);
    espyiWorld_TouchContent(world, slot);
    if (node.sourceId >= 0)
    {
        ++world->sourceCount;
        espyWorld_LinkSource(world, slot);
    }
    *out = espyiWorld_IdOf(world, slot);
    if (node.kind == espyNodeKind_Camera3D && !world->hadCamera)
    {
        world->hadCamera = true;
        world->activeCamera = *out;
    }
    return espyResult_Ok;
}

// --- destruction

static void espyWorld_UnlinkChild(espyWorld* world, int32_t slot)
{
    espyiWorldNode* node = &world->nodes[slot];
    if (node->parent == ESPYI_WORLD_NONE)
    {
        return;
    }
    espyiWorldNode* parent = &world->nodes[node->parent];
    *(node->previousSibling != ESPYI_WORLD_NONE ? &world->nodes[node->previousSibling].nextSibling
                                                : &parent->firstChild) = node->nextSibling;
    *(node->nextSibling != ESPYI_WORLD_NONE ? &world->nodes[node->nextSibling].previousSibling : &parent->lastChild) =
        node->previousSibling;
}

/// Empties the slot of a node that nothing links to any more.
static void espyWorld_Bury(espyWorld* world, int32_t slot)
{
    espyiWorldNode* node = &world->nodes[slot];
    espyWorld_UnlinkSource(world, slot);
    espyWorldNode_FreeOwned(&world->hooks, node);
    espyiOrder_Remove(&world->order, node->order);
    uint32_t generation = node->generation;
    *node = (espyiWorldNode){
        .generation = generation, .nextFree = ESPYI_WORLD_NONE, .newer = node->newer, .older = node->older};
    // A slot whose generations are used up is never handed out again, so that no stale id can match.
    if (generation < UINT32_MAX)
    {
        node->generation = generation + 1;
        node->nextFree = world->freeSlot;
        world->freeSlot = slot;
    }
    espyiWorld_Touch(world, slot);
}

/// Closes the gaps of the order once they outnumber the nodes: each removal pays for a constant share of it.
static void espyWorld_TidyOrder(espyWorld* world)
{
    if (!espyiOrder_IsSparse(&world->order))
    {
        return;
    }
    espyiOrder_Compact(&world->order);
    for (uint32_t i = 0; i < world->order.length; ++i)
    {
        world->nodes[world->order.slots[i]].order = i;
    }
}

espyResult espyWorld_DestroyNode(espyWorld* world, espyNodeId id)
{
    espyiWorldNode* root = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, root != NULL))
    {
        return espyResult_InvalidId;
    }
    int32_t rootSlot = espyWorld_SlotOf(world, root);
    espyWorld_UnlinkChild(world, rootSlot);
    // Links must stay readable until the walk is over: first a list of all of them, then their end.
    int32_t doomed = ESPYI_WORLD_NONE;
    for (int32_t slot = rootSlot; slot != ESPYI_WORLD_NONE; slot = espyiWorld_NextInSubtree(world, rootSlot, slot))
    {
        world->nodes[slot].nextFree = doomed;
        doomed = slot;
    }
    while (doomed != ESPYI_WORLD_NONE)
    {
        int32_t slot = doomed;
        doomed = world->nodes[slot].nextFree;
        espyWorld_Bury(world, slot);
    }
    espyWorld_TidyOrder(world);
    return espyResult_Ok;
}

void espyiWorld_FreeNodes(espyWorld* world)
{
    // What was freed of a dead slot is null.
    for (size_t i = 0; i < world->slotCount; ++i)
    {
        espyWorldNode_FreeOwned(&world->hooks, &world->nodes[i]);
    }
    espyiFree(&world->hooks, world->nodes);
    espyiFree(&world->hooks, world->order.slots);
    espyiFree(&world->hooks, world->order.counts);
    espyiFree(&world->hooks, world->sourceBuckets);
}

// --- reading and setting

bool espyWorld_IsNode(const espyWorld* world, espyNodeId id)
{
    return espyiWorld_FindNode(world, id) != NULL;
}

uint32_t espyWorld_GetNodeCount(const espyWorld* world)
{
    return world ? world->order.living : 0;
}

espyNodeId espyWorld_GetNodeAt(const espyWorld* world, uint32_t index)
{
    bool known = world && index < world->order.living;
    return known ? espyiWorld_IdOf(world, espyiOrder_At(&world->order, index)) : (espyNodeId){0};
}

espyResult espyWorld_GetNode(const espyWorld* world, espyNodeId id, espyNodeDef* out)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = espyNodeDef_Default();
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(&world->hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    out->kind = node->kind;
    if (node->parent != ESPYI_WORLD_NONE)
    {
        out->parent = espyiWorld_IdOf(world, node->parent);
    }
    out->local = node->local;
    out->mesh = node->mesh;
    out->bounds = node->ownBounds;
    out->flags = node->flags;
    out->instances = node->instances;
    out->instanceCount = node->instanceCount;
    out->unrollCellSize = node->unrollCellSize;
    out->camera = node->camera;
    out->proxy = node->proxy;
    out->sourceId = node->sourceId;
    out->name = node->name;
    out->tags = node->tags;
    out->tagCount = node->tagCount;
    const espyiContent* content = node->content;
    if (content)
    {
        out->levels = content->levels;
        out->levelCount = content->levelCount;
        out->occluderMesh = content->occluderMesh;
        out->terrain = content->terrain.width > 0 ? &content->terrain : NULL;
        out->voxels = content->bricks ? &content->voxels : NULL;
        out->jointBoxes = content->jointBoxes;
        out->jointCount = content->jointCount;
    }
    return espyResult_Ok;
}

espyResult espyWorld_SetFlags(espyWorld* world, espyNodeId id, uint32_t flags)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (node->flags != flags)
    {
        node->flags = flags;
        // What blocks, and how closely bounds are taken, depends on them.
        espyiWorld_UpdateBounds(world, node);
        espyiWorld_Touch(world, espyWorld_SlotOf(world, node));
    }
    return espyResult_Ok;
}

uint32_t espyWorld_GetFlags(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node ? node->flags : 0;
}

espyResult espyWorld_SetLocalTransform(espyWorld* world, espyNodeId id, espyMat4 local)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&world->hooks, espyMat4_IsFinite(local)))
    {
        return espyResult_InvalidArgument;
    }
    node->local = local;
    espyWorld_UpdateSubtree(world, espyWorld_SlotOf(world, node));
    return espyResult_Ok;
}

espyMat4 espyWorld_GetWorldTransform(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node ? node->world : espyMat4_Identity();
}

/// Puts a subtree behind all other nodes in the order, parents first, for which there is room.
static void espyWorld_MoveToEnd(espyWorld* world, int32_t root)
{
    for (int32_t slot = root; slot != ESPYI_WORLD_NONE; slot = espyiWorld_NextInSubtree(world, root, slot))
    {
        espyiOrder_Remove(&world->order, world->nodes[slot].order);
        world->nodes[slot].order = espyiOrder_Append(&world->order, slot);
    }
    espyWorld_TidyOrder(world);
}

espyResult espyWorld_SetParent(espyWorld* world, espyNodeId id, espyNodeId parentId)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, node != NULL) ||
        !ESPYI_CHECK(hooks, parentId.index1 == 0 || espyiWorld_FindNode(world, parentId) != NULL))
    {
        return espyResult_InvalidId;
    }
    int32_t slot = espyWorld_SlotOf(world, node), parent = parentId.index1 - 1;
    bool cycle = false;
    for (int32_t above = parent; above != ESPYI_WORLD_NONE && !cycle; above = world->nodes[above].parent)
    {
        cycle = above == slot;
    }
    if (!ESPYI_CHECK(hooks, !cycle))
    {
        return espyResult_InvalidArgument;
    }
    bool younger = parent != ESPYI_WORLD_NONE && world->nodes[parent].order > node->order;
    size_t moved = 0;
    for (int32_t s = slot; s != ESPYI_WORLD_NONE && younger; s = espyiWorld_NextInSubtree(world, slot, s))
    {
        ++moved;
    }
    if (!espyiOrder_Reserve(&world->order, hooks, moved))
    {
        return espyResult_OutOfMemory;
    }
    espyWorld_UnlinkChild(world, slot);
    node->parent = parent;
    espyWorld_LinkChild(world, slot);
    if (younger)
    {
        espyWorld_MoveToEnd(world, slot);
    }
    espyWorld_UpdateSubtree(world, slot);
    return espyResult_Ok;
}

// --- cameras

espyResult espyWorld_SetCamera(espyWorld* world, espyNodeId id, const espyCamera* camera)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(hooks, camera != NULL && node->kind == espyNodeKind_Camera3D && espyCamera_IsSound(camera)))
    {
        return espyResult_InvalidArgument;
    }
    node->camera = *camera;
    return espyResult_Ok;
}

espyResult espyWorld_SetActiveCamera(espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, world != NULL && (id.index1 == 0 || node != NULL)))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(hooks, node == NULL || node->kind == espyNodeKind_Camera3D))
    {
        return espyResult_InvalidArgument;
    }
    world->activeCamera = node ? id : (espyNodeId){0};
    return espyResult_Ok;
}

espyNodeId espyWorld_GetActiveCamera(const espyWorld* world)
{
    bool alive = world && espyiWorld_FindNode(world, world->activeCamera) != NULL;
    return alive ? world->activeCamera : (espyNodeId){0};
}
