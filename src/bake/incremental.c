// SPDX-License-Identifier: MIT
// What an earlier file still says about the level as it is now: nothing, some columns, or everything.
//
// Content decides, not bounds: hashes of local geometry, and of the settings. Columns are independent of each other and
// a file's solid cells are a fixed point of how they are filled, so copying what did not change gives a full bake's
// bytes.
#include "bake/bake_internal.h"
#include "bake/pack_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvs/format.h"

typedef struct espyHashAt
{
    uint64_t hash;
    uint32_t index;
} espyHashAt;

static int espyIncremental_Compare(const void* a, const void* b)
{
    const espyHashAt* x = a;
    const espyHashAt* y = b;
    if (x->hash != y->hash)
    {
        return x->hash < y->hash ? -1 : 1;
    }
    return x->index < y->index ? -1 : x->index > y->index ? 1 : 0;
}

// A copy that this machine can load. Errors: OutOfMemory, Cancelled, and those of the data.
static espyResult espyIncremental_Load(const void* data, size_t size, const espyHooks* hooks, espyiPoll* poll,
                                       void** owned, espyPvs* pvs)
{
    static const uint16_t probe = 1;
    uint8_t low;
    memcpy(&low, &probe, 1);
    *owned = espyiAlloc(hooks, size, 1);
    if (!*owned)
    {
        return size == 0 ? espyResult_BadData : espyResult_OutOfMemory;
    }
    espyDataError error;
    espyResult result = espyiBlob_ConvertByteOrder(data, size, low == 0, *owned, hooks, poll, &error);
    return result == espyResult_Ok ? espyiPvs_LoadPolled(pvs, *owned, size, poll, &error) : result;
}

static bool espyIncremental_SameGrid(const espyPvs* pvs, const espyiGrid* grid)
{
    bool same = memcmp(&pvs->origin, &grid->origin, sizeof pvs->origin) == 0 ||
                (pvs->origin.x == grid->origin.x && pvs->origin.y == grid->origin.y && pvs->origin.z == grid->origin.z);
    if (!same || pvs->cellSize != grid->cellSize || pvs->cellCount != grid->cellCount ||
        memcmp(pvs->dims, grid->dims, sizeof pvs->dims) != 0)
    {
        return false;
    }
    // Same lattice and count: the stored cells are the same when every rank's cell is found at that rank.
    for (uint32_t i = 0; i < grid->runCount && !grid->dense; ++i)
    {
        const espyiCellRun* run = &grid->runs[i];
        for (uint32_t k = 0; k<run->length; k += run->length> 1u ? run->length - 1u : 1u)
        {
            espyBox box = espyiGrid_CellBox(grid, run->firstRank + k);
            espyVec3 middle = {0.5f * (box.min.x + box.max.x), 0.5f * (box.min.y + box.max.y),
                               0.5f * (box.min.z + box.max.z)};
            if (espyPvs_FindCell(pvs, middle) != (int32_t)(run->firstRank + k))
            {
                return false;
            }
        }
    }
    return true;
}

static const espyiFileHeader* espyIncremental_Header(const espyPvs* pvs)
{
    return (const espyiFileHeader*)(const void*)pvs->bytes;
}

static bool espyIncremental_HasHashes(const espyPvs* pvs)
{
    return espyiFile_Find(pvs->bytes, espyiSectionKind_Hashes) != NULL &&
           espyiFile_Find(pvs->bytes, espyiSectionKind_Statistics) != NULL;
}

// A proven file draws what it has neither seen nor proven; without its count there is no telling the two apart.
static bool espyIncremental_HasUnknown(const espyPvs* pvs)
{
    return espyIncremental_Header(pvs)->quality != (uint32_t)espyBakeQuality_Proven || pvs->occludeeCount == 0 ||
           espyiFile_Find(pvs->bytes, espyiSectionKind_Unknown) != NULL;
}

// Proofs of another region of cameras say nothing here.
static bool espyIncremental_SameViewPoints(const espyPvs* pvs, const espyiScene* scene)
{
    const espyiFileSection* section = espyiFile_Find(pvs->bytes, espyiSectionKind_ViewPoints);
    size_t bytes = (size_t)scene->viewPointCount * sizeof(espyVec3);
    return section ? section->bytes == bytes && section->elementBytes == sizeof(espyVec3) &&
                         memcmp(pvs->bytes + (size_t)section->offset, scene->viewPoints, bytes) == 0
                   : bytes == 0;
}

// First reason why no answer of the file holds for this level, or null. Occluders count in order: of two at the same
// place, which one is hit first may decide where guided lines look.
static const char* espyIncremental_FindChange(const espyPvs* pvs, const espyiScene* scene)
{
    if (!espyIncremental_HasHashes(pvs))
    {
        return "it was cooked without content hashes";
    }
    if (espyIncremental_Header(pvs)->settingsHash != scene->settingsHash)
    {
        return "quality, cell size or another setting changed";
    }
    if (!espyIncremental_SameGrid(pvs, &scene->grid))
    {
        return "the cells changed";
    }
    if (!espyIncremental_HasUnknown(pvs))
    {
        return "it does not say which answers are unknown";
    }
    const espyiFileSection* unknown = espyiFile_Find(pvs->bytes, espyiSectionKind_Unknown);
    if (unknown && (unknown->flags & ESPYI_SECTION_FLAG_LATE) != 0)
    {
        return "its time budget ran out";
    }
    if (!espyIncremental_SameViewPoints(pvs, scene))
    {
        return "the places that cameras start from changed";
    }
    bool same = pvs->occluderCount == scene->input->occluderCount;
    for (uint32_t i = 0; i < scene->input->occluderCount && same; ++i)
    {
        same = espyPvs_GetOccluderHash(pvs, i) == scene->occluderHashes[i];
    }
    return same ? NULL : "an occluder changed";
}

static const espyHashAt* espyIncremental_Find(const espyHashAt* sorted, uint32_t count, uint64_t hash)
{
    uint32_t lo = 0, hi = count;
    while (lo < hi)
    {
        uint32_t middle = lo + (hi - lo) / 2;
        if (sorted[middle].hash < hash)
        {
            lo = middle + 1;
        }
        else
        {
            hi = middle;
        }
    }
    return lo < count && sorted[lo].hash == hash ? &sorted[lo] : NULL;
}

static bool espyIncremental_Match(espyiPrevious* previous, const espyiScene* scene)
{
    const espyHooks* hooks = scene->hooks;
    uint32_t wanted = scene->input->occludeeCount, have = previous->pvs.occludeeCount;
    previous->slots = espyiAlloc(hooks, (size_t)wanted + 1u, sizeof *previous->slots);
    espyHashAt* sorted = espyiAlloc(hooks, (size_t)have + 1u, sizeof *sorted);
    if (!previous->slots || !sorted)
    {
        espyiFree(hooks, sorted);
        return false;
    }
    for (uint32_t i = 0; i < have; ++i)
    {
        sorted[i] = (espyHashAt){espyPvs_GetOccludeeHash(&previous->pvs, i), i};
    }
    qsort(sorted, have, sizeof *sorted, espyIncremental_Compare);
    for (uint32_t i = 0; i < wanted; ++i)
    {
        const espyHashAt* found = espyIncremental_Find(sorted, have, scene->occludeeHashes[i]);
        previous->slots[i] = found ? found->index : UINT32_MAX;
        previous->copied += found ? 1u : 0u;
    }
    espyiFree(hooks, sorted);
    return true;
}

/// Columns are read bit by bit, which packed tables are not made for.
static espyResult espyIncremental_Unpack(espyiPrevious* previous, const espyHooks* hooks, espyiPoll* poll)
{
    if (!previous->pvs.staticPack.model)
    {
        return espyResult_Ok;
    }
    espyPackResult plain;
    espyResult result = espyiPack_Unpack(previous->pvs.bytes, previous->pvs.size, hooks, poll, &plain);
    if (result == espyResult_Ok)
    {
        espyiFree(hooks, previous->owned);
        previous->owned = plain.data;
        result = espyiPvs_LoadPolled(&previous->pvs, plain.data, plain.size, poll, NULL);
    }
    return result;
}

espyResult espyiPrevious_Open(espyiPrevious* previous, const espyiScene* scene, const espyBakeDef* def, espyiPoll* poll,
                              espyiWarnings* warnings)
{
    *previous = (espyiPrevious){0};
    if (!def->previous)
    {
        return espyResult_Ok;
    }
    espyResult result =
        espyIncremental_Load(def->previous, def->previousSize, scene->hooks, poll, &previous->owned, &previous->pvs);
    if (result == espyResult_OutOfMemory || result == espyResult_Cancelled)
    {
        return result;
    }
    const char* reason = result == espyResult_Ok                   ? espyIncremental_FindChange(&previous->pvs, scene)
                         : result == espyResult_UnsupportedVersion ? "it is of another version"
                                                                   : "it is damaged";
    if (reason)
    {
        return espyiWarnings_Add(warnings, espyMessageId_BakePreviousUnusable, -1, reason) ? espyResult_Ok
                                                                                           : espyResult_OutOfMemory;
    }
    if (espyIncremental_Unpack(previous, scene->hooks, poll) != espyResult_Ok)
    {
        return espyiPoll_Result(poll, false);
    }
    previous->usable = true;
    return espyIncremental_Match(previous, scene) ? espyResult_Ok : espyResult_OutOfMemory;
}

void espyiPrevious_Close(espyiPrevious* previous, const espyHooks* hooks)
{
    espyiFree(hooks, previous->owned);
    espyiFree(hooks, previous->slots);
    *previous = (espyiPrevious){0};
}

void espyiPrevious_GetStatic(const espyiPrevious* previous, uint32_t slot, uint32_t* cellBits)
{
    memset(cellBits, 0, espyiBits_Words(previous->pvs.cellCount) * sizeof *cellBits);
    for (uint32_t cell = 0; cell < previous->pvs.cellCount; ++cell)
    {
        const uint32_t* set = espyPvs_GetStaticSet(&previous->pvs, (int32_t)cell);
        if (!set || espyiBits_Get(set, slot))
        {
            espyiBits_Set(cellBits, cell);
        }
    }
}

static uint32_t espyIncremental_GetCount(const espyPvs* pvs, espyiSectionKind kind, uint32_t slot)
{
    const espyiFileSection* section = espyiFile_Find(pvs->bytes, (uint32_t)kind);
    return section ? ((const uint32_t*)(const void*)(pvs->bytes + (size_t)section->offset))[slot] : 0;
}

uint32_t espyiPrevious_GetProven(const espyiPrevious* previous, uint32_t slot)
{
    return espyIncremental_GetCount(&previous->pvs, espyiSectionKind_Statistics, slot);
}

uint32_t espyiPrevious_GetUnknown(const espyiPrevious* previous, uint32_t slot)
{
    return espyIncremental_GetCount(&previous->pvs, espyiSectionKind_Unknown, slot);
}

void espyiPrevious_GetDynamic(const espyiPrevious* previous, uint32_t coarse, uint32_t* cellBits)
{
    memset(cellBits, 0, espyiBits_Words(previous->pvs.cellCount) * sizeof *cellBits);
    for (uint32_t cell = 0; cell < previous->pvs.cellCount; ++cell)
    {
        const uint32_t* set = espyPvs_GetDynamicSet(&previous->pvs, (int32_t)cell);
        if (!set || espyiBits_Get(set, coarse))
        {
            espyiBits_Set(cellBits, cell);
        }
    }
}

// --- the check

// Every view point of the level is one of the file's, which may have more (--start). A camera elsewhere may be where
// proofs do not hold.
static bool espyCheck_HasViewPoints(const espyPvs* pvs, const espyiScene* scene)
{
    const espyiFileSection* section = espyiFile_Find(pvs->bytes, espyiSectionKind_ViewPoints);
    if (!section || section->elementBytes != sizeof(espyVec3))
    {
        return scene->viewPointCount == 0;
    }
    const uint8_t* stored = pvs->bytes + (size_t)section->offset;
    size_t count = (size_t)section->bytes / sizeof(espyVec3);
    bool all = true;
    for (uint32_t i = 0; i < scene->viewPointCount && all; ++i)
    {
        bool found = false;
        for (size_t k = 0; k < count && !found; ++k)
        {
            found = memcmp(stored + k * sizeof(espyVec3), &scene->viewPoints[i], sizeof(espyVec3)) == 0;
        }
        all = found;
    }
    return all;
}

typedef struct espyCheckSide
{
    espyHashAt* sorted;
    uint32_t count;
} espyCheckSide;

// Pairs off equal hashes; what is left over on either side changed. *first takes the lowest index left on the new side,
// else UINT32_MAX; *firstOld the same of the old side.
static uint32_t espyCheck_Unpaired(espyCheckSide old, espyCheckSide now, uint32_t* first, uint32_t* firstOld)
{
    uint32_t i = 0, k = 0, missing = 0, added = 0;
    *first = *firstOld = UINT32_MAX;
    while (i < old.count || k < now.count)
    {
        bool takeOld = k >= now.count || (i < old.count && old.sorted[i].hash < now.sorted[k].hash);
        bool takeNew = i >= old.count || (k < now.count && now.sorted[k].hash < old.sorted[i].hash);
        if (takeOld)
        {
            *firstOld = old.sorted[i].index < *firstOld ? old.sorted[i].index : *firstOld;
            ++missing;
            ++i;
        }
        else if (takeNew)
        {
            *first = now.sorted[k].index < *first ? now.sorted[k].index : *first;
            ++added;
            ++k;
        }
        else
        {
            ++i;
            ++k;
        }
    }
    // An altered one is both missing and added.
    return missing > added ? missing : added;
}

static bool espyCheck_Compare(const espyPvs* pvs, const espyiScene* scene, espyBakeCheck* out)
{
    const espyHooks* hooks = scene->hooks;
    const espyBakeInput* input = scene->input;
    size_t most = pvs->occluderCount > pvs->occludeeCount ? pvs->occluderCount : pvs->occludeeCount;
    most = input->occluderCount > most ? input->occluderCount : most;
    most = input->occludeeCount > most ? input->occludeeCount : most;
    espyCheckSide old = {espyiAlloc(hooks, most + 1u, sizeof *old.sorted), 0};
    espyCheckSide now = {espyiAlloc(hooks, most + 1u, sizeof *now.sorted), 0};
    bool ok = old.sorted && now.sorted;
    for (int kind = 0; kind < 2 && ok; ++kind)
    {
        old.count = kind == 0 ? pvs->occluderCount : pvs->occludeeCount;
        now.count = kind == 0 ? input->occluderCount : input->occludeeCount;
        for (uint32_t i = 0; i < old.count; ++i)
        {
            old.sorted[i] =
                (espyHashAt){kind == 0 ? espyPvs_GetOccluderHash(pvs, i) : espyPvs_GetOccludeeHash(pvs, i), i};
        }
        for (uint32_t i = 0; i < now.count; ++i)
        {
            now.sorted[i] = (espyHashAt){kind == 0 ? scene->occluderHashes[i] : scene->occludeeHashes[i], i};
        }
        qsort(old.sorted, old.count, sizeof *old.sorted, espyIncremental_Compare);
        qsort(now.sorted, now.count, sizeof *now.sorted, espyIncremental_Compare);
        uint32_t first, firstOld;
        uint32_t changed = espyCheck_Unpaired(old, now, &first, &firstOld);
        if (changed > 0 && out->firstNode < 0)
        {
            out->firstNode = first != UINT32_MAX
                                 ? (kind == 0 ? input->occluders[first].node : input->occludees[first].node)
                             : kind == 0 ? espyPvs_GetOccluderNode(pvs, firstOld)
                                         : espyPvs_GetOccludeeNode(pvs, firstOld);
        }
        if (kind == 0)
        {
            out->changedOccluders = changed;
        }
        else
        {
            out->changedOccludees = changed;
        }
    }
    espyiFree(hooks, old.sorted);
    espyiFree(hooks, now.sorted);
    return ok;
}

static espyResult espyCheck_Run(const espyBakeInput* input, const espyBakeDef* def, const espyPvs* pvs,
                                espyiScene* scene, espyiWarnings* warnings, espyBakeCheck* out)
{
    char message[256];
    espyResult result = espyiScene_Gather(input, def, warnings, scene, message, sizeof message);
    if (result == espyResult_OutOfMemory)
    {
        return result;
    }
    if (result != espyResult_Ok)
    {
        out->stale = true;
        out->reason = "the level cannot be baked as it is now";
        return espyResult_Ok;
    }
    if (!espyIncremental_HasHashes(pvs))
    {
        out->stale = true;
        out->reason = "the file was cooked without content hashes";
        return espyResult_Ok;
    }
    if (!espyCheck_Compare(pvs, scene, out))
    {
        return espyResult_OutOfMemory;
    }
    if (!espyIncremental_SameGrid(pvs, &scene->grid))
    {
        // Content hashes count from the lattice: on another one no node stands out.
        out->stale = true;
        out->firstNode = -1;
        out->reason = "the cells changed";
    }
    else if (out->changedOccluders > 0)
    {
        out->stale = true;
        out->reason = "an occluder changed";
    }
    else if (espyIncremental_Header(pvs)->settingsHash != scene->settingsHash)
    {
        out->stale = true;
        out->reason = "quality, cell size or another setting changed";
    }
    else if (!espyCheck_HasViewPoints(pvs, scene))
    {
        out->stale = true;
        out->firstNode = -1;
        out->reason = "a camera moved to where the proofs may not hold";
    }
    else if (out->changedOccludees > 0)
    {
        out->reason = "an occludee changed";
    }
    return espyResult_Ok;
}

espyResult espyBake_Check(const espyBakeInput* input, const espyBakeDef* def, const void* data, size_t size,
                          espyBakeCheck* out)
{
    *out = (espyBakeCheck){.stale = true, .firstNode = -1, .reason = "not compared"};
    char message[256];
    espyResult result = espyBakeDef_Validate(def, message, sizeof message);
    // The hooks of a def that nobody filled are not pointers to call.
    espyHooks hooks = espyiHooks_Resolve(def && def->cookie == ESPY_DEF_COOKIE ? &def->hooks : NULL);
    if (!ESPYI_CHECK(&hooks, result == espyResult_Ok))
    {
        out->reason = "a setting is out of range";
        return result;
    }
    result = espyiScene_Validate(input, NULL, message, sizeof message);
    if (result == espyResult_InvalidArgument)
    {
        out->reason = "the input breaks a rule";
        return result;
    }
    if (result == espyResult_LimitExceeded)
    {
        out->reason = "the level cannot be baked as it is now";
        return espyResult_Ok;
    }
    void* owned = NULL;
    espyPvs pvs;
    result = espyIncremental_Load(data, size, &hooks, NULL, &owned, &pvs);
    if (result == espyResult_Ok)
    {
        *out = (espyBakeCheck){.firstNode = -1, .reason = ""};
        // The checks of the input belong to the bake: its warnings are not wanted here.
        espyHooks quiet = hooks;
        quiet.log = NULL;
        espyiWarnings warnings = {.hooks = &quiet};
        espyiScene scene = {.hooks = &hooks};
        result = espyCheck_Run(input, def, &pvs, &scene, &warnings, out);
        espyiScene_Free(&scene);
        espyiWarnings_Free(&warnings);
    }
    espyiFree(&hooks, owned);
    return result;
}
