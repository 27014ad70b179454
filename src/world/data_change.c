// SPDX-License-Identifier: MIT
// Nodes change: draws and occluders follow at once. Placing files, moving the origin, switches.
#include "world/data.h"

// --- taking free entries

/// Entries that the boxes of a node fit and that it may have: nobody had them yet, or the same content did.
static uint32_t espyGroup_TakeFree(espyiBoxTable* table, espyBox box, const void* keys, size_t stride, uint64_t key)
{
    uint32_t entry = espyiBoxTable_Take(table, box);
    if (entry == ESPYI_MATCH_NONE)
    {
        return entry;
    }
    uint64_t had;
    memcpy(&had, (const uint8_t*)keys + stride * entry, sizeof had);
    if (had != 0 && had != key)
    {
        espyiBoxTable_Return(table, entry);
        return ESPYI_MATCH_NONE;
    }
    return entry;
}

/// Lets a node that is in no file take free slots of one. Returns false where it stays.
static bool espySnapshot_TakeSlots(const espyWorld* world, espyiSnapshot* snapshot, uint32_t index, int32_t slot,
                                   espyiCandidates* c)
{
    const espyHooks* hooks = &world->hooks;
    espyiGroup* group = snapshot->groups[index];
    uint64_t key = espyiWorldData_ContentKey(world, slot);
    size_t found = 0;
    c->count = 0;
    // Where memory ends the node stays in no file, and is tested by its bounds.
    if (!espyiCandidates_Add(world, group, slot, false, c) || c->count == 0 ||
        !espyiGrow(hooks, (void**)&c->found, &c->foundCapacity, c->count + 1, sizeof(uint32_t)))
    {
        return false;
    }
    // By part + 1: the whole node first.
    c->found[0] = ESPYI_MATCH_NONE;
    for (size_t i = 0; i < c->count; ++i)
    {
        uint32_t entry =
            espyGroup_TakeFree(&group->freeSlots, c->list[i].box, group->contents, sizeof group->contents[0], key);
        c->found[c->list[i].part + 1] = entry;
        found += entry != ESPYI_MATCH_NONE ? 1u : 0u;
    }
    if (found > 0 && (found == c->count || espyiGroup_Reserve(hooks, group, c->count - found)))
    {
        espyiSnapshot_RemoveNode(snapshot, slot);
        espyiSnapshot_PlaceNode(world, snapshot, index, slot, c->found, (uint32_t)c->count + 1u);
        return true;
    }
    for (size_t i = 0; i < c->count; ++i)
    {
        uint32_t entry = c->found[c->list[i].part + 1];
        if (entry != ESPYI_MATCH_NONE)
        {
            espyiBoxTable_Return(&group->freeSlots, entry);
        }
    }
    return false;
}

static void espySnapshot_TakeOccluders(const espyWorld* world, espyiSnapshot* snapshot, uint32_t index, int32_t slot,
                                       espyiCandidates* c)
{
    espyiGroup* group = snapshot->groups[index];
    uint64_t key = espyiWorldData_ContentKey(world, slot);
    c->count = 0;
    if (!espyiCandidates_Add(world, group, slot, true, c))
    {
        return;
    }
    for (size_t i = 0; i < c->count; ++i)
    {
        uint32_t entry = espyGroup_TakeFree(&group->freeOccluders, c->list[i].box, &group->occluders[0].content,
                                            sizeof group->occluders[0], key);
        if (entry != ESPYI_MATCH_NONE)
        {
            espyiSnapshot_TakeOccluder(world, snapshot, index, entry, slot, c->list[i].part, key);
            (void)espyiGroup_CheckContent(world, group, entry);
        }
    }
}

/// Offers a node the free entries of one file.
static void espySnapshot_Offer(espyWorld* world, espyiSnapshot* snapshot, uint32_t index, int32_t slot)
{
    espyiGroup* group = snapshot->groups[index];
    const espyiWorldNode* node = &world->nodes[slot];
    const espyiHome* home = &snapshot->homes[slot];
    bool slots = group->freeSlots.waiting > 0 && home->group == 0 && espyiWorldNode_MayBeOccludee(node);
    bool occluders = group->freeOccluders.waiting > 0 && espyiWorldNode_MayOcclude(node) &&
                     espyiSlotMap_Find(&group->firstOccluder, slot) == ESPYI_DRAWS_NONE;
    if (!slots && !occluders)
    {
        return;
    }
    if (node->kind == espyNodeKind_InstancedMesh3D)
    {
        espyiUnroll* old;
        bool changed;
        // With other cells it is drawn in other parts.
        bool redraw = world->data->unrollInstances && home->group == 0;
        if (!espyiWorldData_FitUnroll(world, home, slot, &group->file->pvs, &old, &changed))
        {
            return;
        }
        if (changed && redraw &&
            !espyiGroup_Reserve(&world->hooks, snapshot->groups[0], espyiWorldData_DrawsOf(world, slot)))
        {
            espyiFree(&world->hooks, world->data->unrolls[slot]);
            world->data->unrolls[slot] = old;
            return;
        }
        espyiFree(&world->hooks, old);
        if (changed && redraw)
        {
            espyiSnapshot_RemoveNode(snapshot, slot);
            espyiSnapshot_PlaceNode(world, snapshot, 0, slot, NULL, 0);
        }
    }
    if (slots)
    {
        espySnapshot_TakeSlots(world, snapshot, index, slot, &world->data->offered);
    }
    if (occluders)
    {
        espySnapshot_TakeOccluders(world, snapshot, index, slot, &world->data->offered);
    }
}

// --- nodes

bool espyiWorldData_ReserveNode(espyWorld* world, const espyNodeDef* def)
{
    const espyHooks* hooks = &world->hooks;
    espyiSnapshot* snapshot = espyiWorldData_Current(world);
    size_t wanted = world->slotCount + 1u;
    size_t had = snapshot->homeCapacity;
    size_t parts = def->instanceCount > 0 ? def->instanceCount : 1u;
    size_t draws = world->data->unrollInstances ? parts : 1u;
    espyiCandidates* offered = &world->data->offered;
    if (!espyiGrow(hooks, (void**)&world->data->unrolls, &world->data->unrollCapacity, wanted, sizeof(espyiUnroll*)) ||
        !espyiGrow(hooks, (void**)&snapshot->homes, &snapshot->homeCapacity, wanted, sizeof(espyiHome)) ||
        !espyiGrow(hooks, (void**)&offered->list, &offered->capacity, parts, sizeof(espyiMatchCandidate)) ||
        !espyiGrow(hooks, (void**)&offered->found, &offered->foundCapacity, parts + 1u, sizeof(uint32_t)) ||
        !espyiGroup_Reserve(hooks, snapshot->groups[0], draws))
    {
        for (size_t i = had; i < snapshot->homeCapacity; ++i)
        {
            snapshot->homes[i].group = snapshot->homes[i].first = ESPYI_DRAWS_NONE;
        }
        return false;
    }
    for (size_t i = had; i < snapshot->homeCapacity; ++i)
    {
        snapshot->homes[i].group = snapshot->homes[i].first = ESPYI_DRAWS_NONE;
    }
    return true;
}

/// Every occluder that the node has been in some file: looked at again, or given back where the node is gone.
static void espySnapshot_RefreshOccluders(espyWorld* world, espyiSnapshot* snapshot, int32_t slot, bool gone)
{
    for (uint32_t g = 1; g < snapshot->draws.groupCount && snapshot->homes[slot].occluderOf > 0; ++g)
    {
        espyiGroup* group = snapshot->groups[g];
        uint32_t first = espyiSlotMap_Find(&group->firstOccluder, slot);
        for (uint32_t entry = first; entry != ESPYI_DRAWS_NONE;)
        {
            uint32_t next = group->occluders[entry].next;
            if (gone)
            {
                group->occluders[entry].node = ESPYI_WORLD_NONE;
                group->occluders[entry].next = ESPYI_DRAWS_NONE;
                espyiBoxTable_Return(&group->freeOccluders, entry);
            }
            espyiGroup_RefreshOccluder(world, group, entry);
            entry = next;
        }
        if (gone && first != ESPYI_DRAWS_NONE)
        {
            espyiSlotMap_Remove(&group->firstOccluder, slot);
            --snapshot->homes[slot].occluderOf;
        }
    }
}

static void espySnapshot_RefreshNode(espyWorld* world, espyiSnapshot* snapshot, int32_t slot)
{
    const espyiHome* home = &snapshot->homes[slot];
    espyiGroup* group = snapshot->groups[home->group];
    for (uint32_t draw = home->first; draw != ESPYI_DRAWS_NONE; draw = group->draws.next[draw])
    {
        espyiGroup_RefreshDraw(world, group, draw);
    }
    espySnapshot_RefreshOccluders(world, snapshot, slot, false);
}

/// An entry of the node in the group, else the first one that is out of place: what a notice names.
static uint32_t espyGroup_EntryToName(const espyiGroup* group, int32_t slot)
{
    uint32_t entry = espyiSlotMap_Find(&group->firstOccluder, slot);
    while (entry != ESPYI_DRAWS_NONE && group->displaced > 0 &&
           group->occluders[entry].state == espyOccluderState_InPlace)
    {
        entry = group->occluders[entry].next;
    }
    return entry != ESPYI_DRAWS_NONE ? entry : espyiGroup_FirstDisplaced(group);
}

static void espySnapshot_RefreshStale(espyWorld* world, espyiSnapshot* snapshot, int32_t slot)
{
    for (uint32_t g = 1; g < snapshot->draws.groupCount; ++g)
    {
        espyiGroup* group = snapshot->groups[g];
        espyiGroup_RefreshUsable(group);
        if (group->announcedStale != (group->displaced > 0))
        {
            espyiGroup_Announce(world, group, espyGroup_EntryToName(group, slot));
        }
    }
}

void espyiWorldData_NodeChanged(espyWorld* world, int32_t slot)
{
    espyiSnapshot* snapshot = espyiWorldData_Current(world);
    const espyiWorldNode* node = &world->nodes[slot];
    if (!node->alive)
    {
        espyiSnapshot_RemoveNode(snapshot, slot);
        espySnapshot_RefreshOccluders(world, snapshot, slot, true);
        espyiFree(&world->hooks, world->data->unrolls[slot]);
        world->data->unrolls[slot] = NULL;
    }
    else if (snapshot->homes[slot].group == ESPYI_DRAWS_NONE)
    {
        // There is room: espyiWorldData_ReserveNode. Without memory for its cells the node is one draw.
        if (world->data->unrollInstances && node->kind == espyNodeKind_InstancedMesh3D)
        {
            world->data->unrolls[slot] = espyiWorldData_MakeUnroll(world, slot, NULL);
        }
        espyiSnapshot_PlaceNode(world, snapshot, 0, slot, NULL, 0);
    }
    else
    {
        espySnapshot_RefreshNode(world, snapshot, slot);
    }
    // A node that is being created has no content revision yet.
    for (uint32_t g = 1; g < snapshot->draws.groupCount && node->alive && node->contentRevision > 0; ++g)
    {
        if (!world->data->quiet)
        {
            espySnapshot_Offer(world, snapshot, g, slot);
        }
    }
    if (snapshot->draws.groupCount > 1)
    {
        espySnapshot_RefreshStale(world, snapshot, slot);
    }
    snapshot->draws.drawCount = espyiSnapshot_CountDraws(snapshot);
}

// --- places of files

/// Looks at every draw and occluder of a file again.
static void espySnapshot_RefreshGroup(const espyWorld* world, espyiSnapshot* snapshot, uint32_t index)
{
    espyiGroup* group = snapshot->groups[index];
    for (uint32_t draw = 0; draw < group->draws.count; ++draw)
    {
        if (group->draws.nodes[draw].index1 != 0)
        {
            espyiGroup_RefreshDraw(world, group, draw);
        }
    }
    for (uint32_t entry = 0; entry < group->file->pvs.occluderCount; ++entry)
    {
        espyiGroup_RefreshOccluder(world, group, entry);
    }
}

static void espySnapshot_OfferAll(espyWorld* world, espyiSnapshot* snapshot, uint32_t index)
{
    for (uint32_t i = 0; i < world->order.length; ++i)
    {
        if (world->order.slots[i] != ESPYI_WORLD_NONE)
        {
            espySnapshot_Offer(world, snapshot, index, world->order.slots[i]);
        }
    }
}

espyResult espyWorld_SetDataOffset(espyWorld* world, espyDataId id, espyVec3 offset)
{
    const espyHooks* hooks = world ? &world->hooks : NULL;
    espyiSnapshot* snapshot = world ? espyiWorldData_Current(world) : NULL;
    uint32_t index = snapshot ? espyiSnapshot_FindData(snapshot, id) : 0;
    if (!ESPYI_CHECK(hooks, index > 0))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(hooks, espyiVec3_IsFinite(offset)))
    {
        return espyResult_InvalidArgument;
    }
    snapshot->groups[index]->draws.offset = offset;
    espySnapshot_RefreshGroup(world, snapshot, index);
    espySnapshot_OfferAll(world, snapshot, index);
    espySnapshot_RefreshStale(world, snapshot, ESPYI_WORLD_NONE);
    return espyResult_Ok;
}

espyResult espyWorld_MoveOrigin(espyWorld* world, espyVec3 origin)
{
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, world != NULL && espyiVec3_IsFinite(origin)))
    {
        return espyResult_InvalidArgument;
    }
    espyiSnapshot* snapshot = espyiWorldData_Current(world);
    // First whether all of it can be done, then all of it.
    bool fits = true;
    for (uint32_t i = 0; i < world->order.length; ++i)
    {
        int32_t slot = world->order.slots[i];
        const espyiWorldNode* node = slot != ESPYI_WORLD_NONE ? &world->nodes[slot] : NULL;
        if (node && node->parent == ESPYI_WORLD_NONE)
        {
            fits = fits && espyiVec3_IsFinite((espyVec3){node->local.m[12] - origin.x, node->local.m[13] - origin.y,
                                                         node->local.m[14] - origin.z});
        }
    }
    for (uint32_t g = 1; g < snapshot->draws.groupCount; ++g)
    {
        espyVec3 o = snapshot->groups[g]->draws.offset;
        fits = fits && espyiVec3_IsFinite((espyVec3){o.x - origin.x, o.y - origin.y, o.z - origin.z});
    }
    if (!ESPYI_CHECK(hooks, fits))
    {
        return espyResult_InvalidArgument;
    }
    world->data->quiet = true;
    for (uint32_t i = 0; i < world->order.length; ++i)
    {
        int32_t slot = world->order.slots[i];
        if (slot != ESPYI_WORLD_NONE && world->nodes[slot].parent == ESPYI_WORLD_NONE)
        {
            espyMat4 local = world->nodes[slot].local;
            local.m[12] -= origin.x;
            local.m[13] -= origin.y;
            local.m[14] -= origin.z;
            espyWorld_SetLocalTransform(world, espyiWorld_IdOf(world, slot), local);
        }
    }
    for (uint32_t g = 1; g < snapshot->draws.groupCount; ++g)
    {
        espyVec3* o = &snapshot->groups[g]->draws.offset;
        *o = (espyVec3){o->x - origin.x, o->y - origin.y, o->z - origin.z};
        espySnapshot_RefreshGroup(world, snapshot, g);
    }
    world->data->quiet = false;
    for (uint32_t g = 1; g < snapshot->draws.groupCount; ++g)
    {
        espySnapshot_OfferAll(world, snapshot, g);
    }
    espySnapshot_RefreshStale(world, snapshot, ESPYI_WORLD_NONE);
    return espyResult_Ok;
}

// --- switches and parts

void espyWorld_SetDataCallback(espyWorld* world, void (*notice)(const espyDataNotice* notice, void* context),
                               void* context)
{
    if (world)
    {
        world->data->notice = notice;
        world->data->noticeContext = context;
    }
}

uint32_t espyWorld_GetPartCount(const espyWorld* world, espyNodeId id)
{
    return espyiWorld_FindNode(world, id) ? espyiWorldData_DrawsOf(world, id.index1 - 1) : 0;
}

const uint32_t* espyWorld_GetPartInstances(const espyWorld* world, espyNodeId id, uint32_t part, uint32_t* count)
{
    const espyiUnroll* unroll = espyiWorld_FindNode(world, id) ? world->data->unrolls[id.index1 - 1] : NULL;
    bool known = unroll && world->data->unrollInstances && part < unroll->cellCount;
    if (count)
    {
        *count = known ? unroll->firsts[part + 1u] - unroll->firsts[part] : 0u;
    }
    return known ? unroll->order + unroll->firsts[part] : NULL;
}
