// SPDX-License-Identifier: MIT
// Nodes of a world: hierarchy, transforms, flags, bounds, lookup by source id. No library call, no recursion.
//
// A parent must exist when its child is created and never changes, so that a cycle cannot be built and order of
// creation is also an order in which parents come first. World transforms are kept up to date when something is set,
// never on reading: const calls may run at the same time.
#include "world/world_internal.h"

static espyiWorldNode* espyWorld_FindNode(const espyWorld* world, espyNodeId id)
{
    if (!world || id.index1 <= 0 || (size_t)id.index1 > world->slotCount)
    {
        return NULL;
    }
    espyiWorldNode* node = &world->nodes[id.index1 - 1];
    return node->alive && node->generation == id.generation ? node : NULL;
}

static int32_t espyWorld_SlotOf(const espyWorld* world, const espyiWorldNode* node)
{
    return (int32_t)(node - world->nodes);
}

static bool espyNodeKind_HasMesh(espyNodeKind kind)
{
    return kind != espyNodeKind_Node3D && kind != espyNodeKind_Camera3D && kind != espyNodeKind_OcclusionArea;
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
    for (size_t i = 0; i < world->nodeCount; ++i)
    {
        if (world->nodes[world->order[i]].sourceId >= 0)
        {
            espyWorld_LinkSource(world, world->order[i]);
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
                return (espyNodeId){slot + 1, world->nodes[slot].generation};
            }
        }
    }
    return (espyNodeId){0};
}

// --- creation

static espyResult espyWorld_CheckNodeDef(const espyWorld* world, const espyNodeDef* def)
{
    const espyHooks* hooks = &world->hooks;
    if (!ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(hooks, def->kind >= espyNodeKind_Node3D && def->kind <= espyNodeKind_OcclusionArea) ||
        !ESPYI_CHECK(hooks, espyMat4_IsFinite(def->local)) ||
        !ESPYI_CHECK(hooks, def->instances != NULL || def->instanceCount == 0) ||
        !ESPYI_CHECK(hooks, def->instanceCount == 0 || def->kind == espyNodeKind_InstancedMesh3D) ||
        !ESPYI_CHECK(hooks, def->tags != NULL || def->tagCount == 0) ||
        !ESPYI_CHECK(hooks, def->mesh.index1 == 0 || espyNodeKind_HasMesh(def->kind)) ||
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
    if (!ESPYI_CHECK(hooks, def->parent.index1 == 0 || espyWorld_FindNode(world, def->parent) != NULL) ||
        !ESPYI_CHECK(hooks, def->mesh.index1 == 0 || espyiWorld_FindMesh(world, def->mesh) != NULL))
    {
        return espyResult_InvalidId;
    }
    return espyResult_Ok;
}

/// Copies name, tags and instances of a def into a node that does not own any yet.
static bool espyWorldNode_CopyOwned(const espyHooks* hooks, espyiWorldNode* node, const espyNodeDef* def)
{
    size_t textSize = def->name ? espyiText_Length(def->name) + 1 : 1;
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        textSize += espyiText_Length(def->tags[i]) + 1;
    }
    // One block: tag pointers first, for their alignment, then the texts.
    char* block = (char*)espyiAlloc(hooks, def->tagCount * sizeof(char*) + textSize, 1);
    espyMat4* instances = NULL;
    if (block && def->instanceCount > 0)
    {
        instances = (espyMat4*)espyiAlloc(hooks, def->instanceCount, sizeof(espyMat4));
    }
    if (!block || (def->instanceCount > 0 && !instances))
    {
        espyiFree(hooks, block);
        return false;
    }
    espyiBytes_Copy(instances, def->instances, def->instanceCount * sizeof(espyMat4));
    node->instances = instances;
    node->instanceCount = def->instanceCount;
    node->strings = block;
    node->tags = (const char**)(void*)block;
    node->tagCount = def->tagCount;
    char* text = block + def->tagCount * sizeof(char*);
    size_t size = def->name ? espyiText_Length(def->name) + 1 : 1;
    espyiBytes_Copy(text, def->name ? def->name : "", size);
    node->name = text;
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        text += size;
        size = espyiText_Length(def->tags[i]) + 1;
        espyiBytes_Copy(text, def->tags[i], size);
        node->tags[i] = text;
    }
    return true;
}

static void espyWorld_LinkChild(espyWorld* world, int32_t slot)
{
    espyiWorldNode* node = &world->nodes[slot];
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

static void espyWorld_UpdateWorldTransform(espyWorld* world, espyiWorldNode* node)
{
    node->world = node->parent == ESPYI_WORLD_NONE ? node->local
                                                   : espyMat4_Multiply(world->nodes[node->parent].world, node->local);
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
        !espyiGrow(hooks, (void**)&world->order, &world->orderCapacity, world->nodeCount + 1, sizeof(int32_t)) ||
        (def->sourceId >= 0 && !espyWorld_ReserveSource(world)) || !espyWorldNode_CopyOwned(hooks, &node, def))
    {
        return espyResult_OutOfMemory;
    }
    int32_t slot = fresh ? (int32_t)world->slotCount++ : world->freeSlot;
    node.generation = fresh ? 1 : world->nodes[slot].generation;
    if (!fresh)
    {
        world->freeSlot = world->nodes[slot].nextFree;
    }
    node.alive = true;
    node.kind = def->kind;
    node.flags = def->flags;
    node.parent = def->parent.index1 - 1;
    node.firstChild = node.lastChild = node.previousSibling = node.nextSibling = ESPYI_WORLD_NONE;
    node.nextSource = node.nextFree = ESPYI_WORLD_NONE;
    node.order = (uint32_t)world->nodeCount;
    node.local = def->local;
    node.mesh = def->mesh;
    node.unrollCellSize = def->unrollCellSize;
    node.camera = def->camera;
    node.proxy = def->proxy;
    node.sourceId = def->sourceId < 0 ? -1 : def->sourceId;
    world->nodes[slot] = node;
    world->order[world->nodeCount++] = slot;
    espyWorld_LinkChild(world, slot);
    espyWorld_UpdateWorldTransform(world, &world->nodes[slot]);
    if (node.sourceId >= 0)
    {
        ++world->sourceCount;
        espyWorld_LinkSource(world, slot);
    }
    *out = (espyNodeId){slot + 1, node.generation};
    return espyResult_Ok;
}

// --- destruction

static void espyWorldNode_FreeOwned(const espyHooks* hooks, espyiWorldNode* node)
{
    espyiFree(hooks, node->strings);
    espyiFree(hooks, node->instances);
}

/// The node after `slot` in a walk of the tree under `root` that visits parents first; NONE at the end.
static int32_t espyWorld_NextInSubtree(const espyWorld* world, int32_t root, int32_t slot)
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

espyResult espyWorld_DestroyNode(espyWorld* world, espyNodeId id)
{
    espyiWorldNode* root = espyWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, root != NULL))
    {
        return espyResult_InvalidId;
    }
    int32_t rootSlot = espyWorld_SlotOf(world, root);
    uint32_t kept = root->order;
    espyWorld_UnlinkChild(world, rootSlot);
    // Links stay readable until the walk is over; nothing of the subtree comes before its root in the order.
    for (int32_t slot = rootSlot; slot != ESPYI_WORLD_NONE; slot = espyWorld_NextInSubtree(world, rootSlot, slot))
    {
        world->nodes[slot].alive = false;
    }
    size_t count = world->nodeCount;
    for (uint32_t i = kept; i < count; ++i)
    {
        int32_t slot = world->order[i];
        espyiWorldNode* node = &world->nodes[slot];
        if (node->alive)
        {
            node->order = kept;
            world->order[kept++] = slot;
            continue;
        }
        espyWorld_UnlinkSource(world, slot);
        espyWorldNode_FreeOwned(&world->hooks, node);
        uint32_t generation = node->generation;
        *node = (espyiWorldNode){.generation = generation, .nextFree = ESPYI_WORLD_NONE};
        // A slot whose generations are used up is never handed out again, so that no stale id can match.
        if (generation < UINT32_MAX)
        {
            node->generation = generation + 1;
            node->nextFree = world->freeSlot;
            world->freeSlot = slot;
        }
    }
    world->nodeCount = kept;
    return espyResult_Ok;
}

void espyiWorld_FreeNodes(espyWorld* world)
{
    for (size_t i = 0; i < world->nodeCount; ++i)
    {
        espyWorldNode_FreeOwned(&world->hooks, &world->nodes[world->order[i]]);
    }
    espyiFree(&world->hooks, world->nodes);
    espyiFree(&world->hooks, world->order);
    espyiFree(&world->hooks, world->sourceBuckets);
}

// --- reading and setting

bool espyWorld_IsNode(const espyWorld* world, espyNodeId id)
{
    return espyWorld_FindNode(world, id) != NULL;
}

uint32_t espyWorld_GetNodeCount(const espyWorld* world)
{
    return world ? (uint32_t)world->nodeCount : 0;
}

espyNodeId espyWorld_GetNodeAt(const espyWorld* world, uint32_t index)
{
    if (!world || index >= world->nodeCount)
    {
        return (espyNodeId){0};
    }
    int32_t slot = world->order[index];
    return (espyNodeId){slot + 1, world->nodes[slot].generation};
}

espyResult espyWorld_GetNode(const espyWorld* world, espyNodeId id, espyNodeDef* out)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = espyNodeDef_Default();
    const espyiWorldNode* node = espyWorld_FindNode(world, id);
    if (!ESPYI_CHECK(&world->hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    out->kind = node->kind;
    if (node->parent != ESPYI_WORLD_NONE)
    {
        out->parent = (espyNodeId){node->parent + 1, world->nodes[node->parent].generation};
    }
    out->local = node->local;
    out->mesh = node->mesh;
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
    return espyResult_Ok;
}

espyResult espyWorld_SetFlags(espyWorld* world, espyNodeId id, uint32_t flags)
{
    espyiWorldNode* node = espyWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    node->flags = flags;
    return espyResult_Ok;
}

uint32_t espyWorld_GetFlags(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyWorld_FindNode(world, id);
    return node ? node->flags : 0;
}

espyResult espyWorld_SetLocalTransform(espyWorld* world, espyNodeId id, espyMat4 local)
{
    espyiWorldNode* node = espyWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&world->hooks, espyMat4_IsFinite(local)))
    {
        return espyResult_InvalidArgument;
    }
    node->local = local;
    int32_t root = espyWorld_SlotOf(world, node);
    for (int32_t slot = root; slot != ESPYI_WORLD_NONE; slot = espyWorld_NextInSubtree(world, root, slot))
    {
        espyWorld_UpdateWorldTransform(world, &world->nodes[slot]);
    }
    return espyResult_Ok;
}

espyMat4 espyWorld_GetWorldTransform(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyWorld_FindNode(world, id);
    return node ? node->world : espyMat4_Identity();
}

static bool espyBox_Contains(espyBox outer, espyBox inner)
{
    return outer.min.x <= inner.min.x && outer.min.y <= inner.min.y && outer.min.z <= inner.min.z &&
           outer.max.x >= inner.max.x && outer.max.y >= inner.max.y && outer.max.z >= inner.max.z;
}

static espyBox espyWorldMesh_AddBounds(const espyiWorldMesh* mesh, espyMat4 transform, espyBox box)
{
    // Rounding is monotone, so the transformed mesh box holds every transformed vertex to the bit: an instance whose
    // loose box adds nothing needs no look at its vertices.
    if (espyBox_Contains(box, espyMat4_TransformBox(transform, mesh->box)))
    {
        return box;
    }
    for (uint32_t i = 0; i < mesh->vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, espyMat4_TransformPoint(transform, mesh->positions[i]));
    }
    return box;
}

espyBox espyWorld_GetWorldBounds(const espyWorld* world, espyNodeId id)
{
    espyBox box = espyBox_Empty();
    const espyiWorldNode* node = espyWorld_FindNode(world, id);
    const espyiWorldMesh* mesh = node ? espyiWorld_FindMesh(world, node->mesh) : NULL;
    if (!mesh)
    {
        return box;
    }
    if (node->kind != espyNodeKind_InstancedMesh3D)
    {
        return espyWorldMesh_AddBounds(mesh, node->world, box);
    }
    for (uint32_t i = 0; i < node->instanceCount; ++i)
    {
        box = espyWorldMesh_AddBounds(mesh, espyMat4_Multiply(node->world, node->instances[i]), box);
    }
    return box;
}
