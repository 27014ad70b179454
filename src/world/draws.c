// SPDX-License-Identifier: MIT
// Memory of the draws: groups, snapshots, and how one snapshot takes the place of another while queries run.
#include "world/data.h"

// --- maps

static uint32_t espySlotMap_Home(const espyiSlotMap* map, int32_t slot)
{
    return (uint32_t)espyiHash_Mix((uint64_t)(uint32_t)slot + 1u) & map->mask;
}

uint32_t espyiSlotMap_Find(const espyiSlotMap* map, int32_t slot)
{
    for (uint32_t i = espySlotMap_Home(map, slot); map->keys && map->keys[i] != ESPYI_WORLD_NONE;
         i = (i + 1u) & map->mask)
    {
        if (map->keys[i] == slot)
        {
            return map->values[i];
        }
    }
    return ESPYI_DRAWS_NONE;
}

void espyiSlotMap_Put(espyiSlotMap* map, int32_t slot, uint32_t value)
{
    uint32_t i = espySlotMap_Home(map, slot);
    while (map->keys[i] != ESPYI_WORLD_NONE && map->keys[i] != slot)
    {
        i = (i + 1u) & map->mask;
    }
    map->count += map->keys[i] == slot ? 0u : 1u;
    map->keys[i] = slot;
    map->values[i] = value;
}

void espyiSlotMap_Remove(espyiSlotMap* map, int32_t slot)
{
    if (espyiSlotMap_Find(map, slot) == ESPYI_DRAWS_NONE)
    {
        return;
    }
    uint32_t hole = espySlotMap_Home(map, slot);
    while (map->keys[hole] != slot)
    {
        hole = (hole + 1u) & map->mask;
    }
    // What follows without a gap moves back where the hole lies between its home and itself (Knuth, vol. 3, 6.4 R).
    for (uint32_t i = (hole + 1u) & map->mask; map->keys[i] != ESPYI_WORLD_NONE; i = (i + 1u) & map->mask)
    {
        uint32_t home = espySlotMap_Home(map, map->keys[i]);
        if (((i - home) & map->mask) >= ((i - hole) & map->mask))
        {
            map->keys[hole] = map->keys[i];
            map->values[hole] = map->values[i];
            hole = i;
        }
    }
    map->keys[hole] = ESPYI_WORLD_NONE;
    --map->count;
}

bool espyiSlotMap_Reserve(const espyHooks* hooks, espyiSlotMap* map, size_t count)
{
    size_t wanted = 16;
    while (wanted < 2u * count && wanted < SIZE_MAX / 4u && wanted <= UINT32_MAX / 2u)
    {
        wanted *= 2u;
    }
    if (map->keys && wanted <= (size_t)map->mask + 1u)
    {
        return true;
    }
    // Keys and values share a block.
    int32_t* block = (int32_t*)espyiAlloc(hooks, wanted, sizeof(int32_t) + sizeof(uint32_t));
    if (!block)
    {
        return false;
    }
    espyiSlotMap old = *map;
    *map = (espyiSlotMap){.keys = block, .values = (uint32_t*)(void*)(block + wanted), .mask = (uint32_t)wanted - 1u};
    for (size_t i = 0; i < wanted; ++i)
    {
        block[i] = ESPYI_WORLD_NONE;
    }
    for (size_t i = 0; old.keys && i <= old.mask; ++i)
    {
        if (old.keys[i] != ESPYI_WORLD_NONE)
        {
            espyiSlotMap_Put(map, old.keys[i], old.values[i]);
        }
    }
    espyiFree(hooks, old.keys);
    return true;
}

// --- groups

/// All arrays of draws in one block: six of floats, ids, parts, links, bitsets.
#define ESPY_GROUP_DRAW_BYTES (6u * sizeof(float) + sizeof(espyNodeId) + sizeof(int32_t) + sizeof(uint32_t))
#define ESPY_GROUP_BITSETS 7u

static uint32_t** espyDrawGroup_Bitset(espyiDrawGroup* g, uint32_t index)
{
    uint32_t** const sets[ESPY_GROUP_BITSETS] = {&g->present,     &g->drawn,        &g->moved,  &g->occludee,
                                                 &g->castsShadow, &g->alwaysUpdate, &g->several};
    return sets[index];
}

static void espyDrawGroup_Copy(espyiDrawGroup* to, const espyiDrawGroup* from)
{
    size_t n = from->count;
    espyiBytes_Copy(to->minX, from->minX, n * sizeof(float));
    espyiBytes_Copy(to->minY, from->minY, n * sizeof(float));
    espyiBytes_Copy(to->minZ, from->minZ, n * sizeof(float));
    espyiBytes_Copy(to->maxX, from->maxX, n * sizeof(float));
    espyiBytes_Copy(to->maxY, from->maxY, n * sizeof(float));
    espyiBytes_Copy(to->maxZ, from->maxZ, n * sizeof(float));
    espyiBytes_Copy(to->nodes, from->nodes, n * sizeof(espyNodeId));
    espyiBytes_Copy(to->parts, from->parts, n * sizeof(int32_t));
    espyiBytes_Copy(to->next, from->next, n * sizeof(uint32_t));
    espyiDrawGroup source = *from;
    for (uint32_t i = 0; i < ESPY_GROUP_BITSETS; ++i)
    {
        espyiBytes_Copy(*espyDrawGroup_Bitset(to, i), *espyDrawGroup_Bitset(&source, i),
                        espyiBits_Words(from->count) * sizeof(uint32_t));
    }
}

static void espyDrawGroup_SetBox(espyiDrawGroup* g, uint32_t draw, espyBox box)
{
    g->minX[draw] = box.min.x;
    g->minY[draw] = box.min.y;
    g->minZ[draw] = box.min.z;
    g->maxX[draw] = box.max.x;
    g->maxY[draw] = box.max.y;
    g->maxZ[draw] = box.max.z;
}

/// Gives a group arrays for `capacity` draws, with what it has so far. False where memory ends, with it as it was.
static bool espyDrawGroup_Resize(const espyHooks* hooks, espyiDrawGroup* group, size_t capacity)
{
    if (capacity > UINT32_MAX - ESPYI_DRAWS_PAD)
    {
        return false;
    }
    uint32_t padded = ((uint32_t)capacity + ESPYI_DRAWS_PAD - 1u) / ESPYI_DRAWS_PAD * ESPYI_DRAWS_PAD;
    padded = padded > 0 ? padded : ESPYI_DRAWS_PAD;
    size_t setBytes = (padded / 32u * sizeof(uint32_t) + 63u) / 64u * 64u;
    size_t bytes;
    if (!espyiMulSize(padded, ESPY_GROUP_DRAW_BYTES, &bytes) ||
        !espyiAddSize(bytes, ESPY_GROUP_BITSETS * setBytes, &bytes))
    {
        return false;
    }
    uint8_t* block = (uint8_t*)espyiAlloc(hooks, bytes, 1);
    if (!block)
    {
        return false;
    }
    espyiDrawGroup grown = *group;
    grown.capacity = padded;
    // Floats first: `minX` is the block. A multiple of 32 of them keeps every array at 64 bytes.
    grown.minX = (float*)(void*)block;
    grown.minY = grown.minX + padded;
    grown.minZ = grown.minY + padded;
    grown.maxX = grown.minZ + padded;
    grown.maxY = grown.maxX + padded;
    grown.maxZ = grown.maxY + padded;
    grown.nodes = (espyNodeId*)(void*)(grown.maxZ + padded);
    grown.parts = (int32_t*)(void*)(grown.nodes + padded);
    grown.next = (uint32_t*)(void*)(grown.parts + padded);
    uint8_t* sets = (uint8_t*)(grown.next + padded);
    for (uint32_t i = 0; i < ESPY_GROUP_BITSETS; ++i)
    {
        *espyDrawGroup_Bitset(&grown, i) = (uint32_t*)(void*)(sets + i * setBytes);
    }
    if (group->minX)
    {
        espyDrawGroup_Copy(&grown, group);
    }
    for (uint32_t i = group->count; i < padded; ++i)
    {
        espyDrawGroup_SetBox(&grown, i, espyBox_Empty());
        grown.parts[i] = -1;
        grown.next[i] = ESPYI_DRAWS_NONE;
    }
    espyiFree(hooks, group->minX);
    *group = grown;
    return true;
}

void espyiGroup_ClearDraw(espyiGroup* group, uint32_t draw)
{
    espyiDrawGroup* g = &group->draws;
    espyDrawGroup_SetBox(g, draw, espyBox_Empty());
    g->nodes[draw] = (espyNodeId){0};
    g->parts[draw] = -1;
    g->next[draw] = ESPYI_DRAWS_NONE;
    espyiBits_Clear(g->present, draw);
    espyiBits_Clear(g->drawn, draw);
    espyiBits_Clear(g->moved, draw);
    espyiBits_Clear(g->occludee, draw);
    espyiBits_Clear(g->castsShadow, draw);
    espyiBits_Clear(g->alwaysUpdate, draw);
    espyiBits_Clear(g->several, draw);
    if (draw >= g->slotCount)
    {
        g->next[draw] = group->freeDraw;
        group->freeDraw = draw;
    }
}

bool espyiGroup_Reserve(const espyHooks* hooks, espyiGroup* group, size_t count)
{
    size_t needed;
    if (!espyiAddSize(group->draws.count, count, &needed))
    {
        return false;
    }
    // Some of them may be free already; those are not worth counting.
    size_t doubled = 2u * (size_t)group->draws.capacity;
    return needed <= group->draws.capacity ||
           espyDrawGroup_Resize(hooks, &group->draws, needed > doubled ? needed : doubled);
}

uint32_t espyiGroup_TakeDraw(espyiGroup* group)
{
    uint32_t draw = group->freeDraw;
    if (draw != ESPYI_DRAWS_NONE)
    {
        group->freeDraw = group->draws.next[draw];
        group->draws.next[draw] = ESPYI_DRAWS_NONE;
        return draw;
    }
    return group->draws.count++;
}

/// Arrays of a file's group, by its counts.
static bool espyGroup_AllocEntries(const espyHooks* hooks, espyiGroup* group, uint32_t slots, uint32_t occluders)
{
    group->contents = (uint64_t*)espyiAlloc(hooks, (size_t)slots + 1u, sizeof(uint64_t));
    group->occluders = (espyiOccluder*)espyiAlloc(hooks, (size_t)occluders + 1u, sizeof(espyiOccluder));
    group->freeSlots.heads = (uint32_t*)espyiAlloc(hooks, espyiBoxTable_GetBuckets(slots), sizeof(uint32_t));
    group->freeSlots.next = (uint32_t*)espyiAlloc(hooks, (size_t)slots + 1u, sizeof(uint32_t));
    group->freeOccluders.heads = (uint32_t*)espyiAlloc(hooks, espyiBoxTable_GetBuckets(occluders), sizeof(uint32_t));
    group->freeOccluders.next = (uint32_t*)espyiAlloc(hooks, (size_t)occluders + 1u, sizeof(uint32_t));
    return group->contents && group->occluders && group->freeSlots.heads && group->freeSlots.next &&
           group->freeOccluders.heads && group->freeOccluders.next &&
           espyiSlotMap_Reserve(hooks, &group->firstOccluder, (size_t)occluders + 1u);
}

espyiGroup* espyiGroup_Create(const espyHooks* hooks, espyiFile* file)
{
    espyiGroup* group = (espyiGroup*)espyiAlloc(hooks, 1, sizeof(espyiGroup));
    if (!group)
    {
        return NULL;
    }
    group->holders = 1;
    group->freeDraw = ESPYI_DRAWS_NONE;
    uint32_t slots = file ? file->pvs.occludeeCount : 0u;
    bool made = espyDrawGroup_Resize(hooks, &group->draws, slots);
    group->draws.count = group->draws.slotCount = slots;
    if (made && file)
    {
        uint32_t occluders = file->pvs.occluderCount;
        made = espyGroup_AllocEntries(hooks, group, slots, occluders);
        if (made)
        {
            const float* boxes = file->pvs.entries;
            float cell = file->bakedCellSize;
            espyiBoxTable_Init(&group->freeSlots, boxes + 6u * (size_t)occluders, slots, cell, group->freeSlots.heads,
                               group->freeSlots.next);
            espyiBoxTable_Init(&group->freeOccluders, boxes, occluders, cell, group->freeOccluders.heads,
                               group->freeOccluders.next);
            for (uint32_t i = 0; i < occluders; ++i)
            {
                group->occluders[i] = (espyiOccluder){
                    .node = ESPYI_WORLD_NONE, .next = ESPYI_DRAWS_NONE, .state = espyOccluderState_Missing};
            }
            group->displaced = occluders;
            group->draws.pvs = &file->pvs;
            group->file = file;
            ++file->holders;
        }
    }
    if (!made)
    {
        espyiGroup_Drop(hooks, group);
        return NULL;
    }
    return group;
}

espyiGroup* espyiGroup_Clone(const espyHooks* hooks, const espyiGroup* from)
{
    espyiGroup* group = (espyiGroup*)espyiAlloc(hooks, 1, sizeof(espyiGroup));
    if (!group)
    {
        return NULL;
    }
    *group = *from;
    group->holders = 1;
    group->file = NULL;
    group->contents = NULL;
    group->occluders = NULL;
    group->freeSlots.heads = group->freeSlots.next = NULL;
    group->freeOccluders.heads = group->freeOccluders.next = NULL;
    group->firstOccluder = (espyiSlotMap){0};
    group->draws.minX = NULL;
    group->draws.count = 0;
    bool made = espyDrawGroup_Resize(hooks, &group->draws, from->draws.capacity);
    if (made)
    {
        group->draws.count = from->draws.count;
        espyDrawGroup_Copy(&group->draws, &from->draws);
    }
    if (made && from->file)
    {
        uint32_t slots = from->draws.slotCount;
        uint32_t occluders = from->file->pvs.occluderCount;
        made = espyGroup_AllocEntries(hooks, group, slots, occluders);
        if (made)
        {
            espyiBytes_Copy(group->contents, from->contents, slots * sizeof(uint64_t));
            espyiBytes_Copy(group->occluders, from->occluders, occluders * sizeof(espyiOccluder));
            espyiBytes_Copy(group->freeSlots.heads, from->freeSlots.heads,
                            espyiBoxTable_GetBuckets(slots) * sizeof(uint32_t));
            espyiBytes_Copy(group->freeSlots.next, from->freeSlots.next, slots * sizeof(uint32_t));
            espyiBytes_Copy(group->freeOccluders.heads, from->freeOccluders.heads,
                            espyiBoxTable_GetBuckets(occluders) * sizeof(uint32_t));
            espyiBytes_Copy(group->freeOccluders.next, from->freeOccluders.next, occluders * sizeof(uint32_t));
            for (uint32_t i = 0; i <= from->firstOccluder.mask; ++i)
            {
                if (from->firstOccluder.keys[i] != ESPYI_WORLD_NONE)
                {
                    espyiSlotMap_Put(&group->firstOccluder, from->firstOccluder.keys[i], from->firstOccluder.values[i]);
                }
            }
            group->file = from->file;
            ++group->file->holders;
        }
    }
    if (!made)
    {
        espyiGroup_Drop(hooks, group);
        return NULL;
    }
    return group;
}

void espyiGroup_Drop(const espyHooks* hooks, espyiGroup* group)
{
    if (--group->holders > 0)
    {
        return;
    }
    espyiFile* file = group->file;
    if (file && --file->holders == 0)
    {
        if (file->release)
        {
            file->release(file->pvs.bytes, file->releaseContext);
        }
        espyiFree(hooks, file);
    }
    espyiFree(hooks, group->draws.minX);
    espyiFree(hooks, group->contents);
    espyiFree(hooks, group->occluders);
    espyiFree(hooks, group->freeSlots.heads);
    espyiFree(hooks, group->freeSlots.next);
    espyiFree(hooks, group->freeOccluders.heads);
    espyiFree(hooks, group->freeOccluders.next);
    espyiFree(hooks, group->firstOccluder.keys);
    espyiFree(hooks, group);
}

// --- snapshots

espyiSnapshot* espyiSnapshot_Clone(const espyHooks* hooks, const espyiSnapshot* from, uint32_t groupCapacity)
{
    espyiSnapshot* snapshot = (espyiSnapshot*)espyiAlloc(hooks, 1, sizeof(espyiSnapshot));
    espyiGroup** groups = (espyiGroup**)espyiAlloc(hooks, groupCapacity, sizeof(espyiGroup*));
    espyiHome* homes = NULL;
    bool made = snapshot && groups;
    if (made && from && from->homeCapacity > 0)
    {
        homes = (espyiHome*)espyiAlloc(hooks, from->homeCapacity, sizeof(espyiHome));
        made = homes != NULL;
    }
    if (!made)
    {
        espyiFree(hooks, groups);
        espyiFree(hooks, snapshot);
        return NULL;
    }
    snapshot->groups = groups;
    // espyiDrawGroup is the first member of espyiGroup.
    snapshot->draws.groups = (espyiDrawGroup* const*)(void*)groups;
    snapshot->homes = homes;
    if (from)
    {
        snapshot->draws.groupCount = from->draws.groupCount;
        snapshot->homeCapacity = from->homeCapacity;
        espyiBytes_Copy(homes, from->homes, from->homeCapacity * sizeof(espyiHome));
        for (uint32_t i = 0; i < from->draws.groupCount; ++i)
        {
            groups[i] = from->groups[i];
            ++groups[i]->holders;
        }
    }
    return snapshot;
}

void espyiSnapshot_Free(const espyHooks* hooks, espyiSnapshot* snapshot)
{
    if (!snapshot)
    {
        return;
    }
    for (uint32_t i = 0; i < snapshot->draws.groupCount; ++i)
    {
        espyiGroup_Drop(hooks, snapshot->groups[i]);
    }
    espyiFree(hooks, snapshot->groups);
    espyiFree(hooks, snapshot->homes);
    espyiFree(hooks, snapshot);
}

espyiGroup* espyiSnapshot_Own(const espyHooks* hooks, espyiSnapshot* snapshot, uint32_t index)
{
    espyiGroup* shared = snapshot->groups[index];
    if (shared->holders == 1)
    {
        return shared;
    }
    espyiGroup* own = espyiGroup_Clone(hooks, shared);
    if (own)
    {
        --shared->holders;
        snapshot->groups[index] = own;
    }
    return own;
}

// --- readers

const espyiDraws* espyiDraws_Acquire(const espyWorld* world, uint32_t* ticket)
{
    struct espyiWorldData* data = world->data;
    for (;;)
    {
        uint32_t generation = atomic_load(&data->generation);
        *ticket = generation & 1u;
        atomic_fetch_add(&data->readers[*ticket], 1u);
        // Only now that it is counted does the generation tell: had it passed on in between, nobody would wait for us.
        if (atomic_load(&data->generation) == generation)
        {
            return &atomic_load(&data->current)->draws;
        }
        atomic_fetch_sub(&data->readers[*ticket], 1u);
    }
}

void espyiDraws_Release(const espyWorld* world, uint32_t ticket)
{
    atomic_fetch_sub_explicit(&world->data->readers[ticket], 1u, memory_order_release);
}

/// Frees what was replaced in a generation whose readers have gone, and goes on to the next generation where that is
/// the older one of two.
static void espyWorldData_Collect(espyWorld* world)
{
    struct espyiWorldData* data = world->data;
    // Twice: what was replaced just now is the younger one's.
    for (uint32_t round = 0; round < 2; ++round)
    {
        uint32_t older = (atomic_load(&data->generation) & 1u) ^ 1u;
        if (atomic_load(&data->readers[older]) != 0)
        {
            return;
        }
        espyiSnapshot* snapshot = data->waiting[older];
        data->waiting[older] = NULL;
        while (snapshot)
        {
            espyiSnapshot* next = snapshot->next;
            espyiSnapshot_Free(&world->hooks, snapshot);
            snapshot = next;
        }
        atomic_fetch_add(&data->generation, 1u);
    }
}

void espyiWorldData_Publish(espyWorld* world, espyiSnapshot* snapshot)
{
    struct espyiWorldData* data = world->data;
    espyiSnapshot* old = atomic_exchange(&data->current, snapshot);
    uint32_t young = atomic_load(&data->generation) & 1u;
    if (old)
    {
        old->next = data->waiting[young];
        data->waiting[young] = old;
    }
    espyWorldData_Collect(world);
}

uint32_t espyWorld_CollectData(espyWorld* world)
{
    uint32_t left = 0;
    if (world)
    {
        espyWorldData_Collect(world);
        for (uint32_t i = 0; i < 2; ++i)
        {
            for (const espyiSnapshot* s = world->data->waiting[i]; s; s = s->next)
            {
                ++left;
            }
        }
    }
    return left;
}

// --- the world's part

bool espyiWorldData_Create(espyWorld* world, bool unrollInstances)
{
    const espyHooks* hooks = &world->hooks;
    world->data = (struct espyiWorldData*)espyiAlloc(hooks, 1, sizeof(struct espyiWorldData));
    espyiSnapshot* first = world->data ? espyiSnapshot_Clone(hooks, NULL, 1) : NULL;
    espyiGroup* loose = first ? espyiGroup_Create(hooks, NULL) : NULL;
    if (!loose)
    {
        espyiSnapshot_Free(hooks, first);
        espyiFree(hooks, world->data);
        world->data = NULL;
        return false;
    }
    first->groups[0] = loose;
    first->draws.groupCount = 1;
    world->data->unrollInstances = unrollInstances;
    world->data->cullingEnabled = true;
    atomic_init(&world->data->generation, 0u);
    atomic_init(&world->data->readers[0], 0u);
    atomic_init(&world->data->readers[1], 0u);
    atomic_init(&world->data->current, first);
    return true;
}

void espyiWorldData_Destroy(espyWorld* world)
{
    const espyHooks* hooks = &world->hooks;
    struct espyiWorldData* data = world->data;
    if (!data)
    {
        return;
    }
    espyWorldData_Collect(world);
    espyiSnapshot_Free(hooks, espyiWorldData_Current(world));
    for (size_t i = 0; i < data->unrollCapacity; ++i)
    {
        espyiFree(hooks, data->unrolls[i]);
    }
    espyiFree(hooks, data->unrolls);
    espyiCandidates_Free(hooks, &data->offered);
    espyiFree(hooks, data->idGenerations);
    espyiFree(hooks, data);
    world->data = NULL;
}
