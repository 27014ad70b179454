// SPDX-License-Identifier: MIT
// Files come and go: a new snapshot is built beside the one that queries read, and takes its place in one step.
#include "core/log_text.h"
#include "world/data.h"

// --- candidates

/// What a change of files asks of every node, read from each once.
typedef struct espyDataNode
{
    int32_t sourceId;
    int32_t slot;
    bool occluder, occludee; ///< It may be one.
    bool instanced;
} espyDataNode;

bool espyiCandidates_Add(const espyWorld* world, const espyiGroup* group, int32_t slot, bool occluder,
                         espyiCandidates* candidates)
{
    const espyiWorldNode* node = &world->nodes[slot];
    const espyiUnroll* unroll = espyiWorldData_UnrollOf(world, slot);
    bool may = occluder ? espyiWorldNode_MayOcclude(node) : espyiWorldNode_MayBeOccludee(node);
    espyBox whole = occluder ? node->occluderBounds : node->bounds;
    if (!may || !espyBox_IsValid(whole))
    {
        return true;
    }
    // A bake has an occluder for each unroll cell; how many draws a node is depends on the world.
    bool parts = unroll && unroll->cellCount > 0 && (occluder || world->data->unrollInstances);
    uint32_t count = parts ? unroll->cellCount : 1u;
    if (!espyiGrow(&world->hooks, (void**)&candidates->list, &candidates->capacity, candidates->count + count,
                   sizeof(espyiMatchCandidate)))
    {
        return false;
    }
    espyVec3 o = group->draws.offset;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyBox box = parts ? espyiWorldData_PartBox(world, slot, (int32_t)i, occluder) : whole;
        candidates->list[candidates->count++] = (espyiMatchCandidate){
            .box = {{box.min.x - o.x, box.min.y - o.y, box.min.z - o.z},
                    {box.max.x - o.x, box.max.y - o.y, box.max.z - o.z}},
            .node = (uint32_t)slot,
            .part = parts ? (int32_t)i : -1,
            .sourceId = node->sourceId,
            .hidden = (node->flags & espyNodeFlag_Hidden) != 0,
        };
    }
    return true;
}

void espyiCandidates_Free(const espyHooks* hooks, espyiCandidates* candidates)
{
    espyiFree(hooks, candidates->list);
    espyiFree(hooks, candidates->found);
    *candidates = (espyiCandidates){0};
}

/// Finds the entries of all candidates. False where memory ends.
static bool espyCandidates_Match(const espyHooks* hooks, espyiCandidates* c, espyiBoxTable* table, const int32_t* nodes,
                                 const int32_t* parts)
{
    if (!espyiGrow(hooks, (void**)&c->found, &c->foundCapacity, c->count, sizeof(uint32_t)))
    {
        return c->count == 0;
    }
    espyiMatch_Run(table, c->list, (uint32_t)c->count, nodes, parts, c->found);
    return true;
}

/// End of the run from `first` on that ascends.
static size_t espyDataNode_RunEnd(const espyDataNode* list, size_t first, size_t count)
{
    size_t end = first < count ? first + 1u : count;
    while (end < count && list[end - 1u].sourceId <= list[end].sourceId)
    {
        ++end;
    }
    return end;
}

/// Stable, by source id. The result is in `list`. Cost: linear for each doubling of the runs that ascend already, of
/// which there are few.
static void espyDataNode_Sort(espyDataNode* list, espyDataNode* scratch, size_t count)
{
    espyDataNode* from = list;
    espyDataNode* to = scratch;
    while (espyDataNode_RunEnd(from, 0, count) < count)
    {
        for (size_t start = 0; start < count;)
        {
            size_t middle = espyDataNode_RunEnd(from, start, count);
            size_t end = espyDataNode_RunEnd(from, middle, count);
            size_t a = start;
            size_t b = middle;
            for (size_t k = start; k < end; ++k)
            {
                bool first = a < middle && (b >= end || from[a].sourceId <= from[b].sourceId);
                to[k] = first ? from[a++] : from[b++];
            }
            start = end;
        }
        espyDataNode* swap = from;
        from = to;
        to = swap;
    }
    if (from != list)
    {
        espyiBytes_Copy(list, from, count * sizeof(espyDataNode));
    }
}

// --- one change of files

typedef struct espyOldUnroll
{
    int32_t slot;
    espyiUnroll* unroll;
} espyOldUnroll;

typedef struct espyDataJob
{
    espyWorld* world;
    espyiSnapshot* next;
    espyDataNode* nodes; ///< In order of source id, then of creation.
    size_t nodeCount;
    espyiCandidates occludees, occluders;
    espyOldUnroll* oldUnrolls; ///< Put back where the change fails.
    size_t oldCount, oldCapacity;
} espyDataJob;

static espyResult espyDataJob_Begin(espyDataJob* job, espyWorld* world, uint32_t groupCapacity)
{
    const espyHooks* hooks = &world->hooks;
    const espyiOrder* order = &world->order;
    *job = (espyDataJob){.world = world};
    job->next = espyiSnapshot_Clone(hooks, espyiWorldData_Current(world), groupCapacity);
    job->nodes = (espyDataNode*)espyiAlloc(hooks, (size_t)order->living + 1u, 2u * sizeof(espyDataNode));
    if (!job->next || !job->nodes)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < order->length; ++i)
    {
        int32_t slot = order->slots[i];
        if (slot != ESPYI_WORLD_NONE)
        {
            const espyiWorldNode* node = &world->nodes[slot];
            job->nodes[job->nodeCount++] = (espyDataNode){
                .sourceId = node->sourceId,
                .slot = slot,
                .occluder = espyiWorldNode_MayOcclude(node),
                .occludee = espyiWorldNode_MayBeOccludee(node),
                .instanced = node->kind == espyNodeKind_InstancedMesh3D,
            };
        }
    }
    espyDataNode_Sort(job->nodes, job->nodes + order->living + 1u, job->nodeCount);
    return espyResult_Ok;
}

/// Ends a change: publishes what was made, or undoes it.
static espyResult espyDataJob_End(espyDataJob* job, espyResult result)
{
    espyWorld* world = job->world;
    const espyHooks* hooks = &world->hooks;
    for (size_t i = 0; i < job->oldCount; ++i)
    {
        espyiUnroll** now = &world->data->unrolls[job->oldUnrolls[i].slot];
        espyiUnroll* useless = job->oldUnrolls[i].unroll;
        if (result != espyResult_Ok)
        {
            useless = *now;
            *now = job->oldUnrolls[i].unroll;
        }
        espyiFree(hooks, useless);
    }
    espyiFree(hooks, job->oldUnrolls);
    espyiFree(hooks, job->nodes);
    espyiCandidates_Free(hooks, &job->occludees);
    espyiCandidates_Free(hooks, &job->occluders);
    if (result == espyResult_Ok)
    {
        espyiWorldData_Publish(world, job->next);
    }
    else
    {
        espyiSnapshot_Free(hooks, job->next);
    }
    return result;
}

bool espyiWorldData_FitUnroll(espyWorld* world, const espyiHome* home, int32_t slot, const espyPvs* pvs,
                              espyiUnroll** old, bool* changed)
{
    const espyiWorldNode* node = &world->nodes[slot];
    espyiUnroll** unroll = &world->data->unrolls[slot];
    *old = NULL;
    *changed = false;
    bool used = home->group != 0 || home->occluderOf > 0;
    bool fits = *unroll && (used || ((*unroll)->cellSize == espyiWorldData_UnrollSize(world, slot, pvs) &&
                                     (*unroll)->revision == node->revision));
    if (node->kind != espyNodeKind_InstancedMesh3D || fits || !espyiWorld_FindMesh(world, node->mesh))
    {
        return true;
    }
    espyiUnroll* fresh = espyiWorldData_MakeUnroll(world, slot, pvs);
    if (!fresh)
    {
        return false;
    }
    *old = *unroll;
    *unroll = fresh;
    *changed = true;
    return true;
}

/// Makes the unroll cells of every instanced node fit the file. Draws in no file follow.
static espyResult espyDataJob_FitUnrolls(espyDataJob* job, const espyPvs* pvs)
{
    espyWorld* world = job->world;
    const espyHooks* hooks = &world->hooks;
    for (size_t i = 0; i < job->nodeCount; ++i)
    {
        int32_t slot = job->nodes[i].slot;
        const espyiHome* home = &job->next->homes[slot];
        espyiUnroll* old;
        bool changed = false;
        // Nodes without entries of their own in any file are not worth it.
        if (!job->nodes[i].instanced || !(job->nodes[i].occluder || world->data->unrollInstances))
        {
            continue;
        }
        if (!espyiGrow(hooks, (void**)&job->oldUnrolls, &job->oldCapacity, job->oldCount + 1, sizeof(espyOldUnroll)) ||
            !espyiWorldData_FitUnroll(world, home, slot, pvs, &old, &changed))
        {
            return espyResult_OutOfMemory;
        }
        if (changed)
        {
            job->oldUnrolls[job->oldCount++] = (espyOldUnroll){slot, old};
        }
        if (changed && world->data->unrollInstances && home->group == 0)
        {
            if (!espyiGroup_Reserve(hooks, job->next->groups[0], espyiWorldData_DrawsOf(world, slot)))
            {
                return espyResult_OutOfMemory;
            }
            espyiSnapshot_RemoveNode(job->next, slot);
            espyiSnapshot_PlaceNode(world, job->next, 0, slot, NULL, 0);
        }
    }
    return espyResult_Ok;
}

/// Candidates from `first` on that belong to the same node.
static size_t espyCandidates_RunOf(const espyiCandidates* c, size_t first)
{
    size_t end = first + 1;
    while (end < c->count && c->list[end].node == c->list[first].node)
    {
        ++end;
    }
    return end - first;
}

/// Takes nodes that were found out of the loose group. `owners` gets, by slot, the first candidate of the node that has
/// it, plus 1. Returns the draws that will have no slot, and the most parts of a node in *longest.
static size_t espyDataJob_TakeFound(espyDataJob* job, uint32_t* owners, size_t* longest)
{
    const espyiCandidates* c = &job->occludees;
    size_t without = 0;
    *longest = 1;
    for (size_t i = 0; i < c->count;)
    {
        size_t run = espyCandidates_RunOf(c, i);
        size_t found = 0;
        for (size_t k = i; k < i + run; ++k)
        {
            if (c->found[k] != ESPYI_MATCH_NONE)
            {
                owners[c->found[k]] = (uint32_t)i + 1u;
                ++found;
            }
        }
        if (found > 0)
        {
            espyiSnapshot_RemoveNode(job->next, (int32_t)c->list[i].node);
            without += run - found;
        }
        *longest = run > *longest ? run : *longest;
        i += run;
    }
    return without;
}

/// Slots between asking memory for what a slot needs and using it: nodes lie in the order that they were created in.
#define ESPY_DATA_AHEAD 12u

/// Moves nodes that were found in the file of group `index` from the loose group there, in the order of its slots: what
/// is written then lies side by side.
static espyResult espyDataJob_PlaceFound(espyDataJob* job, uint32_t index)
{
    const espyHooks* hooks = &job->world->hooks;
    const espyiCandidates* c = &job->occludees;
    espyiGroup* group = job->next->groups[index];
    uint32_t slotCount = group->draws.slotCount;
    size_t longest;
    uint32_t* owners = (uint32_t*)espyiAlloc(hooks, (size_t)slotCount + 1u, sizeof(uint32_t));
    size_t without = owners ? espyDataJob_TakeFound(job, owners, &longest) : 0;
    uint32_t* slots = owners ? (uint32_t*)espyiAlloc(hooks, longest + 1u, sizeof(uint32_t)) : NULL;
    bool room = slots && (without == 0 || espyiGroup_Reserve(hooks, group, without));
    for (uint32_t s = 0; s < slotCount && room; ++s)
    {
        // First the candidate of a slot that comes up, later its node.
        uint32_t late = s + 2u * ESPY_DATA_AHEAD;
        uint32_t soon = s + ESPY_DATA_AHEAD;
        if (late < slotCount && owners[late] > 0)
        {
            ESPYI_PREFETCH(&c->list[owners[late] - 1u].node);
            ESPYI_PREFETCH(&c->found[owners[late] - 1u]);
        }
        if (soon < slotCount && owners[soon] > 0)
        {
            uint32_t node = c->list[owners[soon] - 1u].node;
            ESPYI_PREFETCH(&job->world->nodes[node]);
            ESPYI_PREFETCH(&job->next->homes[node]);
        }
        size_t first = owners[s] > 0 ? owners[s] - 1u : 0u;
        int32_t node = owners[s] > 0 ? (int32_t)c->list[first].node : ESPYI_WORLD_NONE;
        // The other slots of a node of several come with its first one.
        if (node == ESPYI_WORLD_NONE || job->next->homes[node].group != ESPYI_DRAWS_NONE)
        {
            continue;
        }
        size_t run = espyCandidates_RunOf(c, first);
        slots[0] = ESPYI_DRAWS_NONE;
        for (size_t k = 0; k < run; ++k)
        {
            slots[c->list[first + k].part + 1] = c->found[first + k];
        }
        espyiSnapshot_PlaceNode(job->world, job->next, index, node, slots, (uint32_t)run + 1u);
    }
    espyiFree(hooks, slots);
    espyiFree(hooks, owners);
    return room ? espyResult_Ok : espyResult_OutOfMemory;
}

/// Matches nodes that are in no file with the free slots of group `index`. `fresh`: nobody had any of them yet.
static espyResult espyDataJob_MatchOccludees(espyDataJob* job, uint32_t index, bool fresh)
{
    espyiGroup* group = job->next->groups[index];
    const espyPvs* pvs = &group->file->pvs;
    job->occludees.count = 0;
    // Most nodes are one box: room for these at once.
    if (!espyiGrow(&job->world->hooks, (void**)&job->occludees.list, &job->occludees.capacity, job->nodeCount,
                   sizeof(espyiMatchCandidate)))
    {
        return espyResult_OutOfMemory;
    }
    for (size_t i = 0; i < job->nodeCount; ++i)
    {
        int32_t slot = job->nodes[i].slot;
        if (job->nodes[i].occludee && job->next->homes[slot].group == 0 &&
            !espyiCandidates_Add(job->world, group, slot, false, &job->occludees))
        {
            return espyResult_OutOfMemory;
        }
    }
    const int32_t* nodes = pvs->nodes ? pvs->nodes + pvs->occluderCount : NULL;
    if (!espyCandidates_Match(&job->world->hooks, &job->occludees, &group->freeSlots, nodes, pvs->parts))
    {
        return espyResult_OutOfMemory;
    }
    for (size_t i = 0; i < job->occludees.count && !fresh; ++i)
    {
        // A slot that had another content is for that one alone.
        uint32_t* entry = &job->occludees.found[i];
        uint64_t had = *entry != ESPYI_MATCH_NONE ? group->contents[*entry] : 0;
        if (had != 0 && had != espyiWorldData_ContentKey(job->world, (int32_t)job->occludees.list[i].node))
        {
            espyiBoxTable_Return(&group->freeSlots, *entry);
            *entry = ESPYI_MATCH_NONE;
        }
    }
    return espyDataJob_PlaceFound(job, index);
}

static espyResult espyDataJob_MatchOccluders(espyDataJob* job, uint32_t index)
{
    espyiGroup* group = job->next->groups[index];
    const espyPvs* pvs = &group->file->pvs;
    for (size_t i = 0; i < job->nodeCount; ++i)
    {
        if (job->nodes[i].occluder &&
            !espyiCandidates_Add(job->world, group, job->nodes[i].slot, true, &job->occluders))
        {
            return espyResult_OutOfMemory;
        }
    }
    if (!espyCandidates_Match(&job->world->hooks, &job->occluders, &group->freeOccluders, pvs->nodes, NULL))
    {
        return espyResult_OutOfMemory;
    }
    int32_t last = ESPYI_WORLD_NONE;
    uint64_t key = 0;
    for (size_t i = 0; i < job->occluders.count; ++i)
    {
        const espyiMatchCandidate* c = &job->occluders.list[i];
        uint32_t entry = job->occluders.found[i];
        if (entry != ESPYI_MATCH_NONE)
        {
            // Parts of a node follow each other, and its key takes all of its instances.
            int32_t slot = (int32_t)c->node;
            key = slot == last ? key : espyiWorldData_ContentKey(job->world, slot);
            last = slot;
            espyiSnapshot_TakeOccluder(job->world, job->next, index, entry, slot, c->part, key);
        }
    }
    return espyiGroup_CheckHashes(job->world, group) ? espyResult_Ok : espyResult_OutOfMemory;
}

// --- adding

espyDataDef espyDataDef_Default(void)
{
    return (espyDataDef){.cookie = ESPY_DEF_COOKIE};
}

/// An id that no file has. False where memory ends.
static bool espyWorldData_TakeId(espyWorld* world, espyDataId* out)
{
    struct espyiWorldData* data = world->data;
    const espyiSnapshot* snapshot = espyiWorldData_Current(world);
    for (size_t i = 0; i < data->idCount; ++i)
    {
        espyDataId id = {(int32_t)i + 1, data->idGenerations[i]};
        bool taken = id.generation == UINT32_MAX;
        for (uint32_t g = 1; g < snapshot->draws.groupCount && !taken; ++g)
        {
            taken = snapshot->groups[g]->file->id.index1 == id.index1;
        }
        if (!taken)
        {
            *out = id;
            return true;
        }
    }
    if (!espyiGrow(&world->hooks, (void**)&data->idGenerations, &data->idCapacity, data->idCount + 1, sizeof(uint32_t)))
    {
        return false;
    }
    data->idGenerations[data->idCount++] = 1;
    *out = (espyDataId){(int32_t)data->idCount, 1};
    return true;
}

static size_t espyPvsInfo_TableBytes(const espyPvsInfo* info)
{
    size_t statics = info->staticPackBytes > 0 ? info->staticPackBytes : info->staticCellsBytes + info->staticSetsBytes;
    size_t dynamics =
        info->dynamicPackBytes > 0 ? info->dynamicPackBytes : info->dynamicCellsBytes + info->dynamicSetsBytes;
    return info->entriesBytes + info->cellMapBytes + statics + dynamics;
}

static void espyText_AddBytes(espyiText* text, const char* words, size_t bytes)
{
    espyiText_Add(text, words);
    espyiText_AddNumber(text, bytes);
}

/// "'north': occluders 12 of 12, occludees 40 of 41; 10240 bytes: entries 1272, ..."
static void espyWorldData_LogResolved(const espyWorld* world, const espyiGroup* group)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < group->draws.slotCount; ++i)
    {
        found += group->draws.nodes[i].index1 != 0 ? 1u : 0u;
    }
    espyPvsInfo info;
    espyPvs_GetInfo(&group->file->pvs, &info);
    char piece[288];
    espyiText text = {.at = piece, .room = sizeof piece};
    if (group->file->name[0] != '\0')
    {
        espyiText_Add(&text, "'");
        espyiText_Add(&text, group->file->name);
        espyiText_Add(&text, "': ");
    }
    espyiText_Add(&text, "occluders ");
    espyiText_AddNumber(&text, info.occluderCount - group->displaced);
    espyText_AddBytes(&text, " of ", info.occluderCount);
    espyText_AddBytes(&text, ", occludees ", found);
    espyText_AddBytes(&text, " of ", info.occludeeCount);
    espyText_AddBytes(&text, "; ", espyPvsInfo_TableBytes(&info));
    espyText_AddBytes(&text, " bytes: entries ", info.entriesBytes);
    espyText_AddBytes(&text, ", cell map ", info.cellMapBytes);
    if (info.staticPackBytes > 0)
    {
        espyText_AddBytes(&text, ", packed static tables ", info.staticPackBytes);
    }
    else
    {
        espyText_AddBytes(&text, ", static cells ", info.staticCellsBytes);
        espyText_AddBytes(&text, ", static sets ", info.staticSetsBytes);
    }
    if (info.dynamicPackBytes > 0)
    {
        espyText_AddBytes(&text, ", packed dynamic tables ", info.dynamicPackBytes);
    }
    else
    {
        espyText_AddBytes(&text, ", dynamic cells ", info.dynamicCellsBytes);
        espyText_AddBytes(&text, ", dynamic sets ", info.dynamicSetsBytes);
    }
    espyiHooks_LogText(&world->hooks, espyMessageId_PvsResolved, piece);
}

/// The group of a new file as the last one of a snapshot.
static espyResult espyDataJob_AddGroup(espyDataJob* job, const espyPvs* pvs, const espyDataDef* def)
{
    espyWorld* world = job->world;
    const espyHooks* hooks = &world->hooks;
    espyiFile* file = (espyiFile*)espyiAlloc(hooks, 1, sizeof(espyiFile));
    if (!file)
    {
        return espyResult_OutOfMemory;
    }
    file->pvs = *pvs;
    espyPvsInfo info;
    espyPvs_GetInfo(pvs, &info);
    file->bakedCellSize = info.bakedCellSize;
    if (!espyWorldData_TakeId(world, &file->id))
    {
        espyiFree(hooks, file);
        return espyResult_OutOfMemory;
    }
    espyiText text = {.at = file->name, .room = sizeof file->name};
    espyiText_Add(&text, def->name ? def->name : "");
    espyiGroup* group = espyiGroup_Create(hooks, file);
    if (!group)
    {
        espyiFree(hooks, file);
        return espyResult_OutOfMemory;
    }
    group->draws.offset = def->offset;
    job->next->groups[job->next->draws.groupCount++] = group;
    return espyResult_Ok;
}

uint32_t espyiSnapshot_CountDraws(const espyiSnapshot* snapshot)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < snapshot->draws.groupCount; ++i)
    {
        count += snapshot->groups[i]->draws.count;
    }
    return count;
}

espyResult espyWorld_AddData(espyWorld* world, const espyDataDef* def, espyDataId* out, espyDataError* error)
{
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, world != NULL && def != NULL && out != NULL) ||
        !ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) || !ESPYI_CHECK(hooks, espyiVec3_IsFinite(def->offset)))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyDataId){0};
    espyPvs pvs;
    espyResult result = espyPvs_Load(&pvs, def->bytes, def->size, error);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyDataJob job;
    uint32_t index = espyiWorldData_Current(world)->draws.groupCount;
    result = espyDataJob_Begin(&job, world, index + 1u);
    if (result == espyResult_Ok && !espyiSnapshot_Own(hooks, job.next, 0))
    {
        result = espyResult_OutOfMemory;
    }
    result = result == espyResult_Ok ? espyDataJob_AddGroup(&job, &pvs, def) : result;
    result = result == espyResult_Ok ? espyDataJob_FitUnrolls(&job, &pvs) : result;
    result = result == espyResult_Ok ? espyDataJob_MatchOccludees(&job, index, true) : result;
    result = result == espyResult_Ok ? espyDataJob_MatchOccluders(&job, index) : result;
    espyiGroup* group = NULL;
    if (result == espyResult_Ok)
    {
        group = job.next->groups[index];
        group->file->release = def->release;
        group->file->releaseContext = def->releaseContext;
        espyiGroup_RefreshUsable(group);
        job.next->draws.drawCount = espyiSnapshot_CountDraws(job.next);
    }
    result = espyDataJob_End(&job, result);
    if (result == espyResult_Ok)
    {
        *out = group->file->id;
        espyWorldData_LogResolved(world, group);
        if (group->displaced > 0)
        {
            espyiGroup_Announce(world, group, espyiGroup_FirstDisplaced(group));
        }
    }
    return result;
}

// --- removing

uint32_t espyiSnapshot_FindData(const espyiSnapshot* snapshot, espyDataId id)
{
    for (uint32_t i = 1; i < snapshot->draws.groupCount; ++i)
    {
        espyDataId has = snapshot->groups[i]->file->id;
        if (has.index1 == id.index1 && has.generation == id.generation)
        {
            return i;
        }
    }
    return 0;
}

/// Takes group `gone` out of a snapshot and its nodes into the loose group.
static espyResult espyDataJob_RemoveGroup(espyDataJob* job, uint32_t gone)
{
    espyWorld* world = job->world;
    const espyHooks* hooks = &world->hooks;
    espyiSnapshot* next = job->next;
    espyiGroup* group = next->groups[gone];
    espyiGroup* loose = espyiSnapshot_Own(hooks, next, 0);
    if (!loose || !espyiGroup_Reserve(hooks, loose, group->draws.count))
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i <= group->firstOccluder.mask; ++i)
    {
        int32_t slot = group->firstOccluder.keys[i];
        if (slot != ESPYI_WORLD_NONE)
        {
            --next->homes[slot].occluderOf;
        }
    }
    for (uint32_t i = gone; i + 1u < next->draws.groupCount; ++i)
    {
        next->groups[i] = next->groups[i + 1u];
    }
    --next->draws.groupCount;
    for (size_t i = 0; i < job->nodeCount; ++i)
    {
        int32_t slot = job->nodes[i].slot;
        espyiHome* home = &next->homes[slot];
        if (home->group == gone)
        {
            espyiSnapshot_PlaceNode(world, next, 0, slot, NULL, 0);
        }
        else if (home->group > gone)
        {
            --home->group;
        }
    }
    // Dropped last: the current snapshot holds it still.
    espyiGroup_Drop(hooks, group);
    return espyResult_Ok;
}

espyResult espyWorld_RemoveData(espyWorld* world, espyDataId id)
{
    const espyHooks* hooks = world ? &world->hooks : NULL;
    uint32_t gone = world ? espyiSnapshot_FindData(espyiWorldData_Current(world), id) : 0;
    if (!ESPYI_CHECK(hooks, gone > 0))
    {
        return espyResult_InvalidId;
    }
    espyDataJob job;
    espyResult result = espyDataJob_Begin(&job, world, espyiWorldData_Current(world)->draws.groupCount);
    result = result == espyResult_Ok ? espyDataJob_RemoveGroup(&job, gone) : result;
    for (uint32_t i = 1; result == espyResult_Ok && i < job.next->draws.groupCount; ++i)
    {
        if (job.next->groups[i]->freeSlots.waiting > 0)
        {
            result = espyiSnapshot_Own(hooks, job.next, i) ? espyDataJob_MatchOccludees(&job, i, false)
                                                           : espyResult_OutOfMemory;
        }
    }
    if (result == espyResult_Ok)
    {
        job.next->draws.drawCount = espyiSnapshot_CountDraws(job.next);
        uint32_t* generation = &world->data->idGenerations[id.index1 - 1];
        *generation += *generation < UINT32_MAX ? 1u : 0u;
    }
    return espyDataJob_End(&job, result);
}

// --- reading

uint32_t espyWorld_GetDataCount(const espyWorld* world)
{
    uint32_t ticket;
    uint32_t count = world ? espyiDraws_Acquire(world, &ticket)->groupCount - 1u : 0u;
    if (world)
    {
        espyiDraws_Release(world, ticket);
    }
    return count;
}

espyDataId espyWorld_GetDataAt(const espyWorld* world, uint32_t index)
{
    espyDataId id = {0};
    if (world)
    {
        uint32_t ticket;
        // The first member of a snapshot.
        const espyiSnapshot* s = (const espyiSnapshot*)(const void*)espyiDraws_Acquire(world, &ticket);
        id = index < s->draws.groupCount - 1u ? s->groups[index + 1u]->file->id : id;
        espyiDraws_Release(world, ticket);
    }
    return id;
}

static size_t espyGroup_Bytes(const espyiGroup* group)
{
    size_t slots = (size_t)group->draws.slotCount + 1u;
    size_t occluders = (size_t)group->file->pvs.occluderCount + 1u;
    size_t drawBytes = 6u * sizeof(float) + sizeof(espyNodeId) + 2u * sizeof(uint32_t);
    return sizeof(espyiGroup) + sizeof(espyiFile) + group->draws.capacity * drawBytes +
           group->draws.capacity / 8u * 7u + slots * (sizeof(uint64_t) + sizeof(uint32_t)) +
           occluders * (sizeof(espyiOccluder) + sizeof(uint32_t)) +
           ((size_t)group->freeSlots.mask + group->freeOccluders.mask + 2u) * sizeof(uint32_t) +
           ((size_t)group->firstOccluder.mask + 1u) * 2u * sizeof(uint32_t);
}

espyResult espyWorld_GetDataInfo(const espyWorld* world, espyDataId id, espyDataInfo* out)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyDataInfo){0};
    uint32_t ticket;
    const espyiSnapshot* s = (const espyiSnapshot*)(const void*)espyiDraws_Acquire(world, &ticket);
    uint32_t index = espyiSnapshot_FindData(s, id);
    if (index > 0)
    {
        const espyiGroup* group = s->groups[index];
        espyPvs_GetInfo(&group->file->pvs, &out->file);
        out->offset = group->draws.offset;
        out->tableBytes = espyPvsInfo_TableBytes(&out->file);
        out->worldBytes = espyGroup_Bytes(group);
        out->occludersInPlace = out->file.occluderCount - group->displaced;
        for (uint32_t i = 0; i < group->draws.slotCount; ++i)
        {
            bool found = group->draws.nodes[i].index1 != 0;
            out->occludeesFound += found ? 1u : 0u;
            out->occludeesInPlace += found && !espyiBits_Get(group->draws.moved, i) ? 1u : 0u;
        }
        out->stale = group->displaced > 0;
    }
    espyiDraws_Release(world, ticket);
    return ESPYI_CHECK(&world->hooks, index > 0) ? espyResult_Ok : espyResult_InvalidId;
}

bool espyWorld_IsOcclusionDataStale(const espyWorld* world)
{
    bool stale = false;
    if (world)
    {
        uint32_t ticket;
        const espyiSnapshot* s = (const espyiSnapshot*)(const void*)espyiDraws_Acquire(world, &ticket);
        for (uint32_t i = 1; i < s->draws.groupCount; ++i)
        {
            stale = stale || s->groups[i]->displaced > 0;
        }
        espyiDraws_Release(world, ticket);
    }
    return stale;
}

bool espyWorld_IsDataStale(const espyWorld* world, espyDataId id)
{
    bool stale = false;
    if (world)
    {
        uint32_t ticket;
        const espyiSnapshot* s = (const espyiSnapshot*)(const void*)espyiDraws_Acquire(world, &ticket);
        uint32_t index = espyiSnapshot_FindData(s, id);
        stale = index > 0 && s->groups[index]->displaced > 0;
        espyiDraws_Release(world, ticket);
    }
    return stale;
}

espyOccluderState espyWorld_GetOccluderState(const espyWorld* world, espyDataId id, uint32_t entry, espyNodeId* node)
{
    espyOccluderState state = espyOccluderState_Missing;
    espyNodeId found = {0};
    if (world)
    {
        uint32_t ticket;
        const espyiSnapshot* s = (const espyiSnapshot*)(const void*)espyiDraws_Acquire(world, &ticket);
        uint32_t index = espyiSnapshot_FindData(s, id);
        if (index > 0 && entry < s->groups[index]->file->pvs.occluderCount)
        {
            const espyiOccluder* occluder = &s->groups[index]->occluders[entry];
            state = occluder->state;
            found = occluder->node != ESPYI_WORLD_NONE ? espyiWorld_IdOf(world, occluder->node) : found;
        }
        espyiDraws_Release(world, ticket);
    }
    if (node)
    {
        *node = found;
    }
    return state;
}

espyNodeData espyWorld_GetNodeData(const espyWorld* world, espyNodeId id)
{
    espyNodeData result = {.slot = ESPY_PVS_NO_SLOT};
    if (espyiWorld_FindNode(world, id))
    {
        uint32_t ticket;
        const espyiSnapshot* s = (const espyiSnapshot*)(const void*)espyiDraws_Acquire(world, &ticket);
        const espyiHome* home = &s->homes[id.index1 - 1];
        const espyiGroup* group = s->groups[home->group];
        result.occluder = home->occluderOf > 0;
        if (group->file)
        {
            result.data = group->file->id;
            result.inPlace = true;
            for (uint32_t draw = home->first; draw != ESPYI_DRAWS_NONE; draw = group->draws.next[draw])
            {
                bool first = draw < group->draws.slotCount && result.slot == ESPY_PVS_NO_SLOT;
                result.slot = first ? draw : result.slot;
                result.inPlace = result.inPlace && !espyiBits_Get(group->draws.moved, draw);
            }
        }
        espyiDraws_Release(world, ticket);
    }
    return result;
}
