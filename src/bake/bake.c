// SPDX-License-Identifier: MIT
// The bake from input to bytes: gather, prepare, one job an occludee, one job a coarse block, tables, blob.
//
// Each job's answers depend on its own target and on what all share (occluders, cells, settings) only, so the order in
// which threads take them never shows.
#include "bake/bake_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- counted memory

// Each block carries its size in front, in a pad that keeps it aligned.
#define ESPY_MEMORY_PAD 64u

typedef struct espyBakeOwner
{
    espyHooks user, hooks;
    atomic_size_t bytes, peak;
    espyiWarnings warnings;
    void* data;
} espyBakeOwner;

static void* espyMemory_Alloc(size_t size, size_t align, void* context)
{
    espyBakeOwner* owner = context;
    size_t total;
    (void)align;
    if (!espyiAddSize(size, ESPY_MEMORY_PAD, &total))
    {
        return NULL;
    }
    uint8_t* block = owner->user.alloc(total, ESPY_MEMORY_PAD, owner->user.context);
    if (!block)
    {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    size_t now = atomic_fetch_add(&owner->bytes, size) + size;
    size_t peak = atomic_load(&owner->peak);
    while (now > peak && !atomic_compare_exchange_weak(&owner->peak, &peak, now))
    {
    }
    return block + ESPY_MEMORY_PAD;
}

static void espyMemory_Free(void* pointer, void* context)
{
    espyBakeOwner* owner = context;
    if (pointer)
    {
        uint8_t* block = (uint8_t*)pointer - ESPY_MEMORY_PAD;
        size_t size;
        memcpy(&size, block, sizeof size);
        atomic_fetch_sub(&owner->bytes, size);
        owner->user.free(block, owner->user.context);
    }
}

static void espyMemory_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    espyBakeOwner* owner = context;
    owner->user.log(level, id, text, owner->user.context);
}

static espyBakeOwner* espyOwner_Create(const espyHooks* user)
{
    espyBakeOwner* owner = espyiAlloc(user, 1, sizeof *owner);
    if (owner)
    {
        owner->user = *user;
        owner->hooks = (espyHooks){.alloc = espyMemory_Alloc,
                                   .free = espyMemory_Free,
                                   .log = user->log ? espyMemory_Log : NULL,
                                   .context = owner};
        owner->warnings.hooks = &owner->hooks;
    }
    return owner;
}

// --- one bake

typedef struct espyBakeRun
{
    const espyBakeInput* input;
    const espyBakeDef* def;
    const espyHooks* hooks;
    espyBakeOwner* owner;
    espyBakeResult* out;
    double start;
    uint32_t threads;
    espyBakeStage progressStage;
    uint64_t progressTotal;
    espyiControl control;
    espyiPoll poll; // Of this thread while it works alone.
    espyiScene scene;
    espyiBvh* bvh;
    espyiFreeSpace* space;
    espyiCellTree* tree;
    espyiViewers viewers;
    uint32_t* sampleMasks;
    espyiPrevious previous;
    espyiCheckpoint* checkpoint;
    espyiSearchShared shared;
    espyiSearcher* searchers; // One a thread.
    uint32_t blockCount;      // Coarse blocks to bake: 0 without the dynamic table.
    espyiColumns* statics;
    espyiColumns* dynamics;
    bool* finished;            // Columns taken from a checkpoint: occludees, then blocks.
    uint32_t* order;           // Occludees, the costly ones first.
    uint32_t* proven;          // Of each occludee: cells that are proven not to see it.
    uint32_t* unknown;         // And cells that draw it for want of a proof.
    uint64_t copied;           // Occludees whose answers came from an earlier file.
    espyiTargetCounts* counts; // One a thread.
    espyiStageCount prepare, write;
} espyBakeRun;

static bool espyBake_Progress(void* context)
{
    espyBakeRun* run = context;
    espyBakeProgress progress = {
        .stage = run->progressStage,
        .done = atomic_load(&run->control.done),
        .total = run->progressTotal,
        .cells = run->scene.grid.cellCount,
        .rays = atomic_load(&run->control.rays),
        .seconds = espyiClock_Seconds() - run->start,
    };
    return run->def->progress(&progress, run->def->progressContext);
}

static bool espyBake_Advance(espyBakeRun* run, espyBakeStage stage)
{
    run->progressStage = stage;
    return espyiControl_Tick(&run->control);
}

static espyResult espyBake_Stopped(espyBakeRun* run)
{
    if (atomic_load(&run->control.ioFailed))
    {
        snprintf(run->out->message, sizeof run->out->message, "the checkpoint '%s' could not be written",
                 run->def->checkpointPath);
        return espyResult_Io;
    }
    return atomic_load(&run->control.outOfMemory) ? espyResult_OutOfMemory : espyResult_Cancelled;
}

// --- preparing

// Everything that a proof may speak of, with slack: the prover treats the faces of this box as walls. Of no use where
// the poll stops.
static espyiBoxD espyBake_World(espyBakeRun* run)
{
    const espyiGrid* grid = &run->scene.grid;
    espyBox box = espyBox_Empty();
    box = espyBox_AddPoint(box, (espyVec3){0.0f, 0.0f, 0.0f});
    float s = grid->cellSize;
    for (uint32_t i = 0; i < grid->coarseCount; ++i)
    {
        box = espyBox_Union(box, espyiGrid_LocalCoarseBox(grid, i));
    }
    for (uint32_t i = 0; i < run->scene.vertexCount && espyiPoll_Work(&run->poll, 1); ++i)
    {
        espyVec3 p = run->scene.positions[i];
        box = espyiFinite3(p) ? espyBox_AddPoint(box, p) : box;
    }
    for (uint32_t i = 0; i < run->input->occludeeCount; ++i)
    {
        espyBox b = run->scene.occludeeBoxes[i];
        box = espyBox_Union(box, (espyBox){espyiScene_ToLocal(grid, b.min), espyiScene_ToLocal(grid, b.max)});
        const espyTriangles* mesh = &run->input->occludees[i].mesh;
        for (uint32_t k = 0; k < mesh->vertexCount && espyiPoll_Work(&run->poll, 1); ++k)
        {
            espyVec3 p = espyiScene_ToLocal(grid, mesh->positions[k]);
            box = espyiFinite3(p) ? espyBox_AddPoint(box, p) : box;
        }
    }
    double slack = 4.0 * (double)s + 16.0;
    return (espyiBoxD){{(double)box.min.x - slack, (double)box.min.y - slack, (double)box.min.z - slack},
                       {(double)box.max.x + slack, (double)box.max.y + slack, (double)box.max.z + slack}};
}

static espyResult espyBake_PrepareProofs(espyBakeRun* run, const espyiSoup* soup)
{
    espyiFreeSpaceDef def = {.smallestHole = (double)run->def->smallestHole, .hooks = run->hooks, .poll = &run->poll};
    espyiBoxD world = espyBake_World(run);
    if (espyiPoll_IsStopped(&run->poll))
    {
        return espyResult_Cancelled;
    }
    espyResult result = espyiFreeSpace_Build(soup, world, &def, &run->space);
    return result == espyResult_Ok ? espyiCellTree_Build(&run->scene.grid, run->hooks, &run->poll, &run->tree) : result;
}

// A way out that is narrower than this everywhere is a hole rather than the open air. Square metres.
#define ESPY_BAKE_LEAK_AREA 1.0

static bool espyBake_WarnLeak(espyBakeRun* run)
{
    const espyiLeak* leak = &run->viewers.leak;
    if (!leak->open || leak->wayCount == 0 || leak->area > ESPY_BAKE_LEAK_AREA)
    {
        return true;
    }
    const espyVec3 o = run->scene.grid.origin;
    const double origin[3] = {(double)o.x, (double)o.y, (double)o.z};
    // The two longest sides of the opening.
    const double* size = leak->size;
    double least =
        size[0] < size[1] ? (size[0] < size[2] ? size[0] : size[2]) : (size[1] < size[2] ? size[1] : size[2]);
    double most = size[0] > size[1] ? (size[0] > size[2] ? size[0] : size[2]) : (size[1] > size[2] ? size[1] : size[2]);
    double middle = size[0] + size[1] + size[2] - least - most;
    return espyiWarnings_Add(&run->owner->warnings, espyMessageId_BakeLeak, -1, leak->from[0] + origin[0],
                             leak->from[1] + origin[1], leak->from[2] + origin[2], middle, most,
                             leak->at[0] + origin[0], leak->at[1] + origin[1], leak->at[2] + origin[2]);
}

static bool espyBake_WarnViewPoints(espyBakeRun* run)
{
    espyiBoxD world = espyBake_World(run);
    bool ok = true;
    for (uint32_t i = 0; i < run->input->viewPointCount && ok; ++i)
    {
        espyVec3 given = run->input->viewPoints[i];
        espyVec3 local = espyiScene_ToLocal(&run->scene.grid, given);
        const double p[3] = {(double)local.x, (double)local.y, (double)local.z};
        bool inside = true;
        for (int k = 0; k < 3; ++k)
        {
            inside = inside && p[k] > world.min[k] && p[k] < world.max[k];
        }
        ok = inside || espyiWarnings_Add(&run->owner->warnings, espyMessageId_BakeViewPoint, -1, (double)given.x,
                                         (double)given.y, (double)given.z);
    }
    return ok && !espyiPoll_IsStopped(&run->poll);
}

// Samples where no camera can be see nothing.
static bool espyBake_KeepViewingSamples(espyBakeRun* run)
{
    const espyiGrid* grid = &run->scene.grid;
    uint32_t count = espyiSamples_Count(run->def->quality);
    bool running = true;
    for (uint32_t cell = 0; cell < grid->cellCount && running; ++cell)
    {
        running = espyiPoll_Work(&run->poll, 8 * (size_t)count);
        for (uint32_t i = 0; i < count; ++i)
        {
            espyVec3 sample = espyiSamples_Point(grid, cell, run->def->quality, i);
            const double p[3] = {(double)sample.x, (double)sample.y, (double)sample.z};
            if (!espyiBits_Get(run->viewers.leaves, espyiFreeSpace_FindLeaf(run->space, p)))
            {
                run->sampleMasks[cell] &= ~(1u << i);
            }
        }
    }
    return running;
}

// Proofs speak of places that a camera can get to from the known ones. Cells without such a place count as solid.
static espyResult espyBake_FindViewers(espyBakeRun* run, const espyiSoup* soup)
{
    espyiGrid* grid = &run->scene.grid;
    if (!run->space || run->def->quality != espyBakeQuality_Proven)
    {
        return espyResult_Ok;
    }
    if (!espyBake_WarnViewPoints(run))
    {
        return espyiPoll_Result(&run->poll, false);
    }
    if (run->scene.viewPointCount == 0)
    {
        return espyResult_Ok;
    }
    double near = (double)run->def->nearDistance;
    espyiViewersDef def = {.occluders = soup,
                           .points = run->scene.viewPoints,
                           .pointCount = run->scene.viewPointCount,
                           .radius = near < ESPYI_CAMERA_RADIUS ? near : ESPYI_CAMERA_RADIUS,
                           .hooks = run->hooks,
                           .poll = &run->poll};
    espyResult result = espyiViewers_Find(run->space, &def, &run->viewers);
    if (result != espyResult_Ok || run->viewers.count == 0)
    {
        return result;
    }
    uint32_t words = espyiBits_Words(grid->cellCount);
    memset(grid->solid, 0, words * sizeof *grid->solid);
    grid->solidCount = 0;
    if (!espyiViewers_MarkCells(&run->viewers, run->space, run->tree, &run->poll, grid->solid) ||
        !espyBake_WarnLeak(run) || !espyBake_KeepViewingSamples(run))
    {
        return espyiPoll_Result(&run->poll, false);
    }
    for (uint32_t i = 0; i < words; ++i)
    {
        grid->solidCount += espyiPopCount32(grid->solid[i]);
    }
    return espyResult_Ok;
}

static espyResult espyBake_Prepare(espyBakeRun* run)
{
    double cpu = espyiClock_ThreadCpuSeconds();
    const espyBakeInput* input = run->input;
    espyiScene* scene = &run->scene;
    espyResult result =
        espyiScene_Gather(input, run->def, &run->owner->warnings, scene, run->out->message, sizeof run->out->message);
    if (result != espyResult_Ok)
    {
        return result;
    }
    run->blockCount = run->def->dynamicObjects ? scene->grid.coarseCount : 0;
    run->progressTotal = 2ull + input->occludeeCount + run->blockCount;
    if (!espyBake_Advance(run, espyBakeStage_Prepare))
    {
        return espyResult_Cancelled;
    }
    espyiSoup soup = {{scene->positions, scene->indices, scene->vertexCount, scene->triangleCount}, scene->objects};
    result = espyiBvh_Build(&soup, run->def->isa, run->threads, run->hooks, &run->poll, &run->bvh);
    if (result == espyResult_Ok && scene->triangleCount > 0)
    {
        result = espyBake_PrepareProofs(run, &soup);
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    run->sampleMasks = espyiAlloc(run->hooks, scene->grid.cellCount, sizeof *run->sampleMasks);
    if (!run->sampleMasks)
    {
        return espyResult_OutOfMemory;
    }
    run->prepare.cpuSeconds += espyiClock_ThreadCpuSeconds() - cpu;
    if (!espyiSolid_Classify(scene, run->bvh, run->def->quality, run->threads, &run->control, run->sampleMasks,
                             &run->prepare))
    {
        return espyBake_Stopped(run);
    }
    result = espyBake_FindViewers(run, &soup);
    if (result != espyResult_Ok)
    {
        return result;
    }
    if (scene->grid.solidCount == scene->grid.cellCount &&
        !espyiWarnings_Add(&run->owner->warnings, espyMessageId_BakeAllSolid, -1))
    {
        return espyResult_OutOfMemory;
    }
    result = espyiPrevious_Open(&run->previous, scene, run->def, &run->poll, &run->owner->warnings);
    run->copied = run->previous.copied;
    return result;
}

// --- columns

static bool espyBake_PutColumn(espyBakeRun* run, uint32_t column, const uint32_t* cellBits)
{
    uint32_t occludees = run->input->occludeeCount;
    return column < occludees ? espyiColumns_Put(run->statics, column, cellBits)
                              : espyiColumns_Put(run->dynamics, column - occludees, cellBits);
}

static bool espyBake_Restore(void* context, uint32_t column, const uint32_t* cellBits, const espyiTargetCounts* counts)
{
    espyBakeRun* run = context;
    if (run->finished[column])
    {
        return true;
    }
    run->finished[column] = true;
    if (column < run->input->occludeeCount)
    {
        run->proven[column] = (uint32_t)counts->provenHidden;
        run->unknown[column] = (uint32_t)counts->unknown;
        run->counts[0].visible += counts->visible;
        run->counts[0].hidden += counts->hidden;
        run->counts[0].provenHidden += counts->provenHidden;
        run->counts[0].unknown += counts->unknown;
        ++run->out->stats.retestedOccludees;
    }
    atomic_fetch_add(&run->control.done, 1);
    return espyBake_PutColumn(run, column, cellBits);
}

typedef struct espyBakeJob
{
    float size;
    uint32_t occludee;
} espyBakeJob;

static int espyBake_CompareJobs(const void* a, const void* b)
{
    const espyBakeJob* x = a;
    const espyBakeJob* y = b;
    if (x->size > y->size || x->size < y->size)
    {
        return x->size > y->size ? -1 : 1;
    }
    return x->occludee < y->occludee ? -1 : 1;
}

// Large occludees have the most targets and are seen from most places: taken last, one would keep a thread busy alone.
static bool espyBake_OrderJobs(espyBakeRun* run)
{
    uint32_t count = run->input->occludeeCount;
    espyBakeJob* jobs = espyiAlloc(run->hooks, (size_t)count + 1u, sizeof *jobs);
    run->order = espyiAlloc(run->hooks, (size_t)count + 1u, sizeof *run->order);
    bool ok = jobs && run->order;
    for (uint32_t i = 0; i < count && ok; ++i)
    {
        espyBox b = run->scene.occludeeBoxes[i];
        jobs[i] = (espyBakeJob){b.max.x - b.min.x + (b.max.y - b.min.y) + (b.max.z - b.min.z), i};
    }
    if (ok)
    {
        qsort(jobs, count, sizeof *jobs, espyBake_CompareJobs);
    }
    for (uint32_t i = 0; i < count && ok; ++i)
    {
        run->order[i] = jobs[i].occludee;
    }
    espyiFree(run->hooks, jobs);
    return ok;
}

static espyResult espyBake_OpenColumns(espyBakeRun* run)
{
    uint32_t occludees = run->input->occludeeCount, cells = run->scene.grid.cellCount;
    run->finished = espyiAlloc(run->hooks, (size_t)occludees + run->blockCount + 1u, sizeof *run->finished);
    run->counts = espyiAlloc(run->hooks, run->threads, sizeof *run->counts);
    run->searchers = espyiAlloc(run->hooks, run->threads, sizeof *run->searchers);
    run->proven = espyiAlloc(run->hooks, (size_t)occludees + 1u, sizeof *run->proven);
    run->unknown = espyiAlloc(run->hooks, (size_t)occludees + 1u, sizeof *run->unknown);
    if (!run->finished || !run->proven || !run->unknown || !run->counts || !run->searchers || !espyBake_OrderJobs(run))
    {
        return espyResult_OutOfMemory;
    }
    espyResult result = espyiColumns_Create(occludees, cells, run->hooks, &run->statics);
    if (result == espyResult_Ok && run->blockCount > 0)
    {
        result = espyiColumns_Create(run->blockCount, cells, run->hooks, &run->dynamics);
    }
    if (result == espyResult_Ok && run->def->checkpointPath)
    {
        result =
            espyiCheckpoint_Open(run->def->checkpointPath, run->scene.contentHash, occludees + run->blockCount, cells,
                                 &run->owner->warnings, run->hooks, espyBake_Restore, run, &run->checkpoint);
        if (result == espyResult_Io)
        {
            snprintf(run->out->message, sizeof run->out->message, "the checkpoint '%s' could not be opened",
                     run->def->checkpointPath);
        }
        else if (result == espyResult_BadData)
        {
            snprintf(run->out->message, sizeof run->out->message,
                     "'%s' is not a checkpoint and was left as it is: choose another name for the checkpoint",
                     run->def->checkpointPath);
        }
    }
    run->shared = (espyiSearchShared){
        .scene = &run->scene,
        .bvh = run->bvh,
        .space = run->space,
        .viewers = run->viewers.count > 0 ? run->viewers.leaves : NULL,
        .tree = run->tree,
        .sampleMasks = run->sampleMasks,
        .quality = run->def->quality,
        .nearDistance = run->def->nearDistance,
        .threads = run->threads,
        .control = &run->control,
    };
    for (uint32_t i = 0; i < run->threads && result == espyResult_Ok; ++i)
    {
        result = espyiSearcher_Init(&run->searchers[i], &run->shared) ? espyResult_Ok : espyResult_OutOfMemory;
    }
    return result;
}

// All cells see it.
static void espyBake_FillAll(const espyBakeRun* run, espyiSearcher* searcher, espyiTargetCounts* counts)
{
    const espyiGrid* grid = &run->scene.grid;
    uint32_t words = espyiBits_Words(grid->cellCount);
    memset(searcher->visible, 0xFF, words * sizeof *searcher->visible);
    if (grid->cellCount % 32u != 0)
    {
        searcher->visible[words - 1] = (1u << (grid->cellCount % 32u)) - 1u;
    }
    counts->visible = grid->cellCount - grid->solidCount;
}

// The time is up before the target's turn.
static void espyBake_Draw(const espyBakeRun* run, espyiSearcher* searcher, espyiTargetCounts* counts)
{
    espyBake_FillAll(run, searcher, counts);
    counts->unknown = counts->visible;
    counts->visible = 0;
    counts->late = true;
}

// Counts of copied answers.
static void espyBake_CountCopied(const espyBakeRun* run, const espyiSearcher* searcher, uint32_t slot,
                                 espyiTargetCounts* counts)
{
    const espyiGrid* grid = &run->scene.grid;
    for (uint32_t i = 0; i < espyiBits_Words(grid->cellCount); ++i)
    {
        counts->visible += espyiPopCount32(searcher->visible[i] & ~grid->solid[i]);
    }
    uint64_t rest = grid->cellCount - grid->solidCount - counts->visible;
    uint64_t unknown = espyiPrevious_GetUnknown(&run->previous, slot);
    counts->unknown = unknown < counts->visible ? unknown : counts->visible;
    counts->visible -= counts->unknown;
    counts->provenHidden = espyiPrevious_GetProven(&run->previous, slot);
    counts->provenHidden = counts->provenHidden < rest ? counts->provenHidden : rest;
    counts->hidden = rest - counts->provenHidden;
}

static void espyBake_FinishColumn(espyBakeRun* run, uint32_t column, uint32_t worker, const espyiTargetCounts* counts)
{
    espyiSearcher* searcher = &run->searchers[worker];
    if (column < run->input->occludeeCount)
    {
        run->proven[column] = (uint32_t)counts->provenHidden;
        run->unknown[column] = (uint32_t)counts->unknown;
        run->counts[worker].visible += counts->visible;
        run->counts[worker].hidden += counts->hidden;
        run->counts[worker].provenHidden += counts->provenHidden;
        run->counts[worker].unknown += counts->unknown;
    }
    if (!espyBake_PutColumn(run, column, searcher->visible))
    {
        espyiControl_Fail(&run->control);
    }
    if (counts->late)
    {
        atomic_store(&run->control.late, true);
    }
    else if (run->checkpoint && !espyiCheckpoint_Append(run->checkpoint, column, searcher->visible, counts))
    {
        atomic_store(&run->control.ioFailed, true);
        atomic_store(&run->control.stop, true);
    }
    atomic_fetch_add(&run->control.done, 1);
}

static void espyBake_StaticJob(void* context, uint32_t item, uint32_t worker)
{
    espyBakeRun* run = context;
    uint32_t index = run->order[item];
    espyiSearcher* searcher = &run->searchers[worker];
    espyiTargetCounts counts = {0};
    if (run->finished[index] || atomic_load(&run->control.stop))
    {
        return;
    }
    if (run->scene.occludeeBad[index] || run->scene.triangleCount == 0)
    {
        espyBake_FillAll(run, searcher, &counts);
    }
    else if (run->previous.usable && run->previous.slots[index] != UINT32_MAX)
    {
        espyiPrevious_GetStatic(&run->previous, run->previous.slots[index], searcher->visible);
        espyBake_CountCopied(run, searcher, run->previous.slots[index], &counts);
    }
    else if (espyiControl_IsLate(&run->control))
    {
        espyBake_Draw(run, searcher, &counts);
    }
    else if (!espyiTarget_FillOccludee(&searcher->target, &run->scene, index, run->def->quality, &searcher->poll))
    {
        if (!espyiPoll_IsStopped(&searcher->poll))
        {
            espyiControl_Fail(&run->control);
        }
        if (atomic_load(&run->control.stop))
        {
            return;
        }
        espyBake_Draw(run, searcher, &counts);
    }
    else if (!espyiSearcher_Run(searcher, &counts))
    {
        return;
    }
    espyBake_FinishColumn(run, index, worker, &counts);
}

static void espyBake_DynamicJob(void* context, uint32_t index, uint32_t worker)
{
    espyBakeRun* run = context;
    espyiSearcher* searcher = &run->searchers[worker];
    espyiTargetCounts counts = {0};
    uint32_t column = run->input->occludeeCount + index;
    if (run->finished[column] || atomic_load(&run->control.stop))
    {
        return;
    }
    if (run->scene.triangleCount == 0)
    {
        espyBake_FillAll(run, searcher, &counts);
    }
    else if (run->previous.usable)
    {
        espyiPrevious_GetDynamic(&run->previous, index, searcher->visible);
    }
    else if (espyiControl_IsLate(&run->control))
    {
        espyBake_Draw(run, searcher, &counts);
    }
    else if (!espyiTarget_FillBlock(&searcher->target, &run->scene, index))
    {
        espyiControl_Fail(&run->control);
        return;
    }
    else if (!espyiSearcher_Run(searcher, &counts))
    {
        return;
    }
    espyBake_FinishColumn(run, column, worker, &counts);
}

static espyResult espyBake_Search(espyBakeRun* run)
{
    espyResult result = espyBake_OpenColumns(run);
    if (result != espyResult_Ok)
    {
        return result;
    }
    atomic_fetch_add(&run->control.done, 1);
    // A loop over one item runs on the calling thread.
    run->control.alone = run->threads == 1 || run->input->occludeeCount <= 1;
    bool running = espyBake_Advance(run, espyBakeStage_Static) &&
                   espyiTasks_For(run->threads, run->input->occludeeCount, espyBake_StaticJob, run, espyiControl_Tick,
                                  &run->control);
    run->control.alone = run->threads == 1 || run->blockCount <= 1;
    running = running && espyBake_Advance(run, espyBakeStage_Dynamic) &&
              espyiTasks_For(run->threads, run->blockCount, espyBake_DynamicJob, run, espyiControl_Tick, &run->control);
    return running && !atomic_load(&run->control.stop) ? espyResult_Ok : espyBake_Stopped(run);
}

// --- writing

typedef struct espyBakeIds
{
    int32_t* occluderNodes;
    int32_t* occludeeNodes;
    int32_t* occludeeParts;
    uint64_t* occluderContents;
    bool anyContent;
} espyBakeIds;

static bool espyBake_GatherIds(const espyBakeRun* run, espyBakeIds* ids)
{
    const espyBakeInput* input = run->input;
    ids->occluderNodes = espyiAlloc(run->hooks, (size_t)input->occluderCount + 1u, sizeof *ids->occluderNodes);
    ids->occludeeNodes = espyiAlloc(run->hooks, (size_t)input->occludeeCount + 1u, sizeof *ids->occludeeNodes);
    ids->occludeeParts = espyiAlloc(run->hooks, (size_t)input->occludeeCount + 1u, sizeof *ids->occludeeParts);
    ids->occluderContents = espyiAlloc(run->hooks, (size_t)input->occluderCount + 1u, sizeof *ids->occluderContents);
    if (!ids->occluderNodes || !ids->occludeeNodes || !ids->occludeeParts || !ids->occluderContents)
    {
        return false;
    }
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        ids->occluderNodes[i] = input->occluders[i].node;
        ids->occluderContents[i] = input->occluders[i].content;
        ids->anyContent = ids->anyContent || input->occluders[i].content != 0;
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        ids->occludeeNodes[i] = input->occludees[i].node;
        ids->occludeeParts[i] = input->occludees[i].part;
    }
    return true;
}

static void espyBake_FreeIds(const espyBakeRun* run, espyBakeIds* ids)
{
    espyiFree(run->hooks, ids->occluderNodes);
    espyiFree(run->hooks, ids->occludeeNodes);
    espyiFree(run->hooks, ids->occludeeParts);
    espyiFree(run->hooks, ids->occluderContents);
}

static espyResult espyBake_WriteBlob(espyBakeRun* run, const espyiTable* statics, const espyiTable* dynamics)
{
    espyBakeIds ids = {0};
    espyResult result = espyResult_OutOfMemory;
    if (espyBake_GatherIds(run, &ids))
    {
        const espyiScene* scene = &run->scene;
        bool late = atomic_load(&run->control.late);
        espyiBlobDef blob = {
            .grid = &scene->grid,
            .quality = run->def->quality,
            .nearDistance = run->def->nearDistance,
            .smallestHole = run->def->smallestHole,
            .occlusionCulling = run->def->occlusionCulling,
            .consoleBudgetKB = run->def->consoleBudgetKB,
            .levelSettings = run->def->levelSettings,
            .seed = run->def->seed,
            .settingsHash = scene->settingsHash,
            .contentHash = scene->contentHash,
            .occluderCount = run->input->occluderCount,
            .occludeeCount = run->input->occludeeCount,
            .occluderBoxes = scene->occluderBoxes,
            .occludeeBoxes = scene->occludeeBoxes,
            .occluderNodes = ids.occluderNodes,
            .occludeeNodes = ids.occludeeNodes,
            .occludeeParts = ids.occludeeParts,
            .occluderHashes = scene->occluderHashes,
            .occludeeHashes = scene->occludeeHashes,
            .occluderContents = ids.anyContent ? ids.occluderContents : NULL,
            .occludeeProven = run->proven,
            .occludeeUnknown = run->def->quality == espyBakeQuality_Proven || late ? run->unknown : NULL,
            .late = late,
            .viewPoints = scene->viewPoints,
            .viewPointCount = scene->viewPointCount,
            .statics = statics,
            .dynamics = dynamics,
            .poll = &run->poll,
        };
        result = espyiBlob_Write(&blob, run->hooks, &run->owner->data, &run->out->size);
    }
    espyBake_FreeIds(run, &ids);
    return result;
}

// Gives back what only the search needs. Writing needs room for itself.
static void espyBake_EndSearch(espyBakeRun* run)
{
    for (uint32_t i = 0; i < run->threads && run->searchers; ++i)
    {
        espyiSearcher_Free(&run->searchers[i]);
    }
    espyiPrevious_Close(&run->previous, run->hooks);
    espyiFree(run->hooks, run->sampleMasks);
    espyiViewers_Free(&run->viewers);
    espyiCellTree_Destroy(run->tree);
    espyiFreeSpace_Destroy(run->space);
    espyiBvh_Destroy(run->bvh);
    run->sampleMasks = NULL;
    run->tree = NULL;
    run->space = NULL;
    run->bvh = NULL;
}

static espyResult espyBake_Write(espyBakeRun* run)
{
    if (!espyBake_Advance(run, espyBakeStage_Write))
    {
        return espyResult_Cancelled;
    }
    double cpu = espyiClock_ThreadCpuSeconds();
    bool strict = run->def->quality == espyBakeQuality_Proven, moving = run->dynamics != NULL;
    if (atomic_load(&run->control.late) &&
        !espyiWarnings_Add(&run->owner->warnings, espyMessageId_BakeTimeBudget, -1, (double)run->def->timeBudget))
    {
        return espyResult_OutOfMemory;
    }
    espyBake_EndSearch(run);
    espyiTable statics = {0}, dynamics = {0};
    espyResult result = espyiTable_Consume(&run->statics, &run->scene.grid, strict, run->hooks, &run->poll, &statics);
    if (result == espyResult_Ok && moving)
    {
        result = espyiTable_Consume(&run->dynamics, &run->scene.grid, strict, run->hooks, &run->poll, &dynamics);
    }
    if (result == espyResult_Ok)
    {
        result = espyBake_WriteBlob(run, &statics, moving ? &dynamics : NULL);
    }
    espyiTable_Free(&statics, run->hooks);
    espyiTable_Free(&dynamics, run->hooks);
    run->write.cpuSeconds = espyiClock_ThreadCpuSeconds() - cpu;
    return result;
}

// --- statistics

static void espyBake_FillStages(espyBakeRun* run, espyBakeStats* stats)
{
    static const char* const names[espyiStage_Count] = {
        [espyiStage_Prepare] = "prepare", [espyiStage_Near] = "near",       [espyiStage_Lines] = "lines",
        [espyiStage_Proof] = "proof",     [espyiStage_Fixed] = "fixed",     [espyiStage_Guided] = "guided",
        [espyiStage_Ladder] = "ladder",   [espyiStage_Dynamic] = "dynamic", [espyiStage_Write] = "write",
    };
    stats->stageCount = espyiStage_Count;
    for (uint32_t i = 0; i < espyiStage_Count; ++i)
    {
        espyBakeStageStats* to = &stats->stages[i];
        *to = (espyBakeStageStats){.name = names[i]};
        for (uint32_t k = 0; k < run->threads && run->searchers; ++k)
        {
            const espyiStageCount* from = &run->searchers[k].stages[i];
            to->rays += from->rays;
            to->pairs += from->pairs;
            to->cpuSeconds += from->cpuSeconds;
        }
        const espyiStageCount* own = i == espyiStage_Prepare ? &run->prepare
                                     : i == espyiStage_Write ? &run->write
                                                             : NULL;
        if (own)
        {
            to->rays += own->rays;
            to->cpuSeconds += own->cpuSeconds;
        }
        stats->rays += to->rays;
        stats->cpuSeconds += to->cpuSeconds;
    }
}

static void espyBake_FillStats(espyBakeRun* run)
{
    espyBakeStats* stats = &run->out->stats;
    stats->cells = run->scene.grid.cellCount;
    stats->solidCells = run->scene.grid.solidCount;
    stats->occluders = run->input->occluderCount;
    stats->occludees = run->input->occludeeCount;
    stats->triangles = run->scene.triangleCount;
    stats->threads = (int32_t)run->threads;
    espyBake_FillStages(run, stats);
    for (uint32_t i = 0; i < run->threads && run->counts && run->searchers; ++i)
    {
        const espyiTargetCounts* counts = &run->counts[i];
        stats->pairsVisible += counts->visible;
        stats->pairsHidden += counts->hidden + counts->provenHidden;
        stats->pairsProvenHidden += counts->provenHidden;
        stats->pairsUnknown += counts->unknown;
        uint64_t work = run->searchers[i].work;
        stats->totalWork += work;
        stats->maxThreadWork = work > stats->maxThreadWork ? work : stats->maxThreadWork;
    }
    stats->copiedOccludees = run->copied;
    stats->retestedOccludees = stats->occludees - stats->copiedOccludees;
    stats->seconds = espyiClock_Seconds() - run->start;
    stats->peakMemoryBytes = atomic_load(&run->owner->peak);
}

static void espyBake_Close(espyBakeRun* run, bool finished)
{
    espyBake_EndSearch(run);
    espyiFree(run->hooks, run->searchers);
    espyiFree(run->hooks, run->counts);
    espyiFree(run->hooks, run->finished);
    espyiFree(run->hooks, run->proven);
    espyiFree(run->hooks, run->unknown);
    espyiFree(run->hooks, run->order);
    espyiCheckpoint_Close(run->checkpoint, finished);
    espyiColumns_Destroy(run->statics);
    espyiColumns_Destroy(run->dynamics);
    espyiScene_Free(&run->scene);
}

static void espyBake_Explain(espyResult result, espyBakeResult* out)
{
    if (result != espyResult_Ok && out->message[0] == 0)
    {
        const char* text = result == espyResult_OutOfMemory ? "out of memory"
                           : result == espyResult_Cancelled ? "cancelled"
                                                            : espyResult_GetName(result);
        snprintf(out->message, sizeof out->message, "%s", text);
    }
}

espyResult espyBake_Run(const espyBakeInput* input, const espyBakeDef* def, espyBakeResult* out)
{
    *out = (espyBakeResult){0};
    // The hooks of a def that nobody filled are not pointers to call.
    espyHooks hooks = espyiHooks_Resolve(def && def->cookie == ESPY_DEF_COOKIE ? &def->hooks : NULL);
    espyResult result = espyBakeDef_Validate(def, out->message, sizeof out->message);
    if (!ESPYI_CHECK(&hooks, def != NULL && result == espyResult_Ok))
    {
        return result;
    }
    espyBakeRun run = {.input = input, .def = def, .out = out, .start = espyiClock_Seconds()};
    run.threads = espyiTasks_ThreadCount(def->threads);
    run.control.alone = run.threads == 1;
    run.control.tick = def->progress ? espyBake_Progress : NULL;
    run.control.tickContext = &run;
    run.control.lastTick = run.start;
    run.control.deadline = def->timeBudget > 0.0f ? run.start + (double)def->timeBudget : 0.0;
    run.poll = (espyiPoll){.goOn = espyiControl_GoesOn, .context = &run.control};
    result = espyiScene_Validate(input, &run.poll, out->message, sizeof out->message);
    espyBakeOwner* owner = result == espyResult_Ok ? espyOwner_Create(&hooks) : NULL;
    if (!owner)
    {
        result = result == espyResult_Ok ? espyResult_OutOfMemory : result;
        espyBake_Explain(result, out);
        return result;
    }
    out->owner = owner;
    run.owner = owner;
    run.hooks = &owner->hooks;
    run.scene = (espyiScene){.hooks = run.hooks, .poll = &run.poll};
    result = espyBake_Prepare(&run);
    result = result == espyResult_Ok ? espyBake_Search(&run) : result;
    result = result == espyResult_Ok ? espyBake_Write(&run) : result;
    if (result == espyResult_Ok)
    {
        atomic_fetch_add(&run.control.done, 1);
        espyBake_Advance(&run, espyBakeStage_Write);
        out->data = owner->data;
    }
    espyBake_FillStats(&run);
    espyBake_Close(&run, result == espyResult_Ok);
    espyBake_Explain(result, out);
    out->warnings = owner->warnings.items;
    out->warningCount = (uint32_t)owner->warnings.count;
    return result;
}

void espyBake_Free(espyBakeResult* result)
{
    espyBakeOwner* owner = result->owner;
    if (owner)
    {
        espyiFree(&owner->hooks, owner->data);
        espyiWarnings_Free(&owner->warnings);
        espyHooks user = owner->user;
        espyiFree(&user, owner);
    }
    *result = (espyBakeResult){0};
}
