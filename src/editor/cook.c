// SPDX-License-Identifier: MIT
// Cooks a baked file for a target, and reports what it gave up.
#include "cook_internal.h"
#include "core/core.h"
#include "pvs/format.h"

#include <espy/pack.h>

#include <stdio.h>
#include <string.h>

// --- targets

static const espyCookTarget espyCookTargets[] = {
    {"gamecube", espyByteOrder_Big, true, true},   {"wii", espyByteOrder_Big, true, true},
    {"3ds", espyByteOrder_Little, true, true},     {"psp", espyByteOrder_Little, true, true},
    {"ps2", espyByteOrder_Little, true, true},     {"windows", espyByteOrder_Little, false, false},
    {"linux", espyByteOrder_Little, false, false}, {"web", espyByteOrder_Little, false, false},
};

const espyCookTarget* espyCookTarget_Get(uint32_t index)
{
    return index < ESPYI_ARRAY_COUNT(espyCookTargets) ? &espyCookTargets[index] : NULL;
}

const espyCookTarget* espyCookTarget_Find(const char* name)
{
    for (uint32_t i = 0; name && i < ESPYI_ARRAY_COUNT(espyCookTargets); ++i)
    {
        if (strcmp(espyCookTargets[i].name, name) == 0)
        {
            return &espyCookTargets[i];
        }
    }
    return NULL;
}

static bool espyCook_IsBigEndianHere(void)
{
    static const uint32_t one = 1;
    return *(const uint8_t*)&one == 0;
}

espyCookDef espyCookDef_Default(void)
{
    return (espyCookDef){
        .target = {.name = "here", .byteOrder = espyCook_IsBigEndianHere() ? espyByteOrder_Big : espyByteOrder_Little},
        .budgetKB = ESPY_COOK_BUDGET_OF_FILE,
        .cookie = ESPY_DEF_COOKIE};
}

const char* espyCookStep_GetName(espyCookStepKind kind)
{
    static const char* const names[] = {"drop tools", "drop parts",  "join cells", "drop dynamic",
                                        "merge sets", "empty table", "pack tables"};
    return (size_t)kind < ESPYI_ARRAY_COUNT(names) ? names[kind] : "unknown";
}

// --- the job

typedef struct espyCookJob
{
    const espyCookDef* def;
    espyHooks hooks;
    espyCookResult* out;
    void* native; ///< The source in this machine's byte order.
    espyPvs pvs;
    uint32_t* keep; ///< Slots that stay, or null: all.
    espyBox* keptBoxes;
    espyiCookOrigin origin;
    espyiCookPlan plan;
} espyCookJob;

static espyCookStep* espyCookJob_AddStep(espyCookJob* job, espyCookStepKind kind, size_t bytes)
{
    espyCookReport* report = &job->out->report;
    espyCookStep* step = &report->steps[report->stepCount++];
    *step = (espyCookStep){.kind = kind, .bytes = bytes};
    return step;
}

static void espyCookJob_Warn(const espyCookJob* job, size_t bytes)
{
    char line[256];
    const char* name = job->def->target.name ? job->def->target.name : "this target";
    snprintf(line, sizeof line, espyMessage_GetText(espyMessageId_CookEmptyTable), (unsigned long long)bytes,
             (unsigned long long)(job->out->report.budgetBytes / 1024u), name);
    if (job->hooks.log)
    {
        job->hooks.log(espyLogLevel_Warning, espyMessageId_CookEmptyTable, line, job->hooks.context);
    }
}

/// Copies the source in this machine's byte order, where it is sound.
static espyResult espyCookJob_Open(espyCookJob* job, const void* data, size_t size)
{
    // The least that can be a file, so that there is something to allocate; what is wrong is for the reader to say.
    job->native = espyiAlloc(&job->hooks, size > sizeof(espyiFileHeader) ? size : sizeof(espyiFileHeader), 1);
    if (!job->native)
    {
        return espyResult_OutOfMemory;
    }
    espyResult result = espyiBlob_ConvertByteOrder(data, size, espyCook_IsBigEndianHere(), job->native, &job->hooks,
                                                   NULL, &job->out->error);
    result = result == espyResult_Ok ? espyPvs_Load(&job->pvs, job->native, size, &job->out->error) : result;
    if (result == espyResult_Ok)
    {
        espyPvs_GetInfo(&job->pvs, &job->out->report.before);
    }
    return result;
}

/// Replaces the file by one with packed tables, unless that one alone is over the budget: small tables can grow.
static espyResult espyCookJob_Pack(espyCookJob* job, void** data, size_t* size)
{
    espyPackResult packed;
    espyResult result = espyPack_Pack(*data, *size, &job->hooks, &packed);
    uint64_t budget = job->out->report.budgetBytes;
    if (result == espyResult_Ok && budget > 0 && packed.size > budget)
    {
        espyPack_Free(&packed);
    }
    else if (result == espyResult_Ok)
    {
        espyiFree(&job->hooks, *data);
        *data = packed.data;
        *size = packed.size;
        espyCookJob_AddStep(job, espyCookStepKind_PackTables, packed.size);
    }
    return result;
}

/// Hands the finished file over in the target's byte order. Takes `data`, which is this machine's.
static espyResult espyCookJob_Finish(espyCookJob* job, void* data, size_t size)
{
    bool big = job->def->target.byteOrder == espyByteOrder_Big;
    espyPvs pvs;
    espyResult result = job->def->pack ? espyCookJob_Pack(job, &data, &size) : espyResult_Ok;
    result = result == espyResult_Ok ? espyPvs_Load(&pvs, data, size, &job->out->error) : result;
    if (result == espyResult_Ok)
    {
        espyPvs_GetInfo(&pvs, &job->out->report.after);
    }
    if (result == espyResult_Ok && big != espyCook_IsBigEndianHere())
    {
        result = espyiBlob_ConvertByteOrder(data, size, big, data, &job->hooks, NULL, &job->out->error);
    }
    if (result != espyResult_Ok)
    {
        espyiFree(&job->hooks, data);
        return result;
    }
    job->out->data = data;
    job->out->size = size;
    return espyResult_Ok;
}

// --- desktops

static espyResult espyCookJob_KeepAll(espyCookJob* job, size_t size)
{
    void* data = job->native;
    job->native = NULL;
    return espyCookJob_Finish(job, data, size);
}

// --- consoles

/// Lists the slots that stay on a target that does not unroll.
static espyResult espyCookJob_ChooseSlots(espyCookJob* job)
{
    const espyPvs* pvs = &job->pvs;
    job->origin.occludeeCount = pvs->occludeeCount;
    job->origin.occludeeBoxes = (const espyBox*)(const void*)pvs->entries + pvs->occluderCount;
    uint32_t parts = 0;
    for (uint32_t i = 0; !job->def->target.unrolls && i < pvs->occludeeCount; ++i)
    {
        parts += espyPvs_GetOccludeePart(pvs, i) >= 0 ? 1u : 0u;
    }
    if (parts == 0)
    {
        return espyResult_Ok;
    }
    job->keep = espyiAlloc(&job->hooks, pvs->occludeeCount, sizeof *job->keep);
    job->keptBoxes = espyiAlloc(&job->hooks, pvs->occludeeCount, sizeof *job->keptBoxes);
    if (!job->keep || !job->keptBoxes)
    {
        return espyResult_OutOfMemory;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pvs->occludeeCount; ++i)
    {
        if (espyPvs_GetOccludeePart(pvs, i) < 0)
        {
            job->keptBoxes[kept] = espyPvs_GetOccludeeBox(pvs, i);
            job->keep[kept++] = i;
        }
    }
    job->origin.occludeeCount = kept;
    job->origin.occludeeBoxes = job->keptBoxes;
    return espyResult_Ok;
}

/// The source without the sections that only tools read.
static size_t espyCookJob_CountRunTimeBytes(const espyCookJob* job)
{
    const espyiFileHeader* h = job->native;
    const espyiFileSection* sections =
        (const espyiFileSection*)(const void*)((const uint8_t*)job->native + h->headerBytes);
    uint64_t bytes = h->fileBytes;
    for (uint32_t i = 0; i < h->sectionCount; ++i)
    {
        bytes -= (sections[i].flags & ESPYI_SECTION_FLAG_TOOL) != 0
                     ? espyiFile_Align(sections[i].bytes) + sizeof sections[i]
                     : 0u;
    }
    return (size_t)bytes;
}

/// Reads the source and drops what costs no answer.
static espyResult espyCookJob_Load(espyCookJob* job)
{
    espyiCookLevel* level = &job->plan.levels[0];
    espyResult result = espyCookJob_ChooseSlots(job);
    if (result == espyResult_Ok)
    {
        result = espyiCookModel_Load(&job->pvs, job->keep, job->origin.occludeeCount, &job->hooks, &level->model);
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    job->plan.levelCount = 1;
    job->origin.pvs = &job->pvs;
    job->origin.coarse = level->model.grid.coarse;
    result = espyiCookLevel_Measure(level, &job->origin, &job->hooks);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyCookReport* report = &job->out->report;
    report->hiddenPairs = report->hiddenPairsBefore = level->hidden;
    report->dynamicHidden = report->dynamicHiddenBefore = level->dynamicHidden;
    espyCookJob_AddStep(job, espyCookStepKind_DropTools, job->keep ? espyCookJob_CountRunTimeBytes(job) : level->bytes);
    if (job->keep)
    {
        espyCookJob_AddStep(job, espyCookStepKind_DropParts, level->bytes)->count =
            job->pvs.occludeeCount - job->origin.occludeeCount;
    }
    return espyResult_Ok;
}

/// Everything visible: what is left where the budget allows nothing better.
static espyResult espyCookJob_WriteEmpty(espyCookJob* job)
{
    const espyiCookLevel* baked = &job->plan.levels[0];
    espyiCookModel empty = {.grid = {.origin = job->pvs.origin, .cellSize = job->pvs.cellSize}};
    void* data;
    size_t size;
    espyResult result = espyiCookModel_Write(&empty, &job->origin, &job->hooks, &data, &size);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyCookJob_Warn(job, baked->bytes);
    espyCookReport* report = &job->out->report;
    espyCookStep* step = espyCookJob_AddStep(job, espyCookStepKind_EmptyTable, size);
    step->count = baked->model.grid.cellCount;
    step->pairs = baked->hidden;
    step->dynamicPairs = baked->dynamicHidden;
    report->empty = true;
    report->hiddenPairs = report->dynamicHidden = 0;
    return espyCookJob_Finish(job, data, size);
}

static void espyCookJob_ReportJoins(espyCookJob* job)
{
    for (uint32_t i = 1; i <= job->plan.joins; ++i)
    {
        const espyiCookLevel* before = &job->plan.levels[i - 1u];
        const espyiCookLevel* after = &job->plan.levels[i];
        espyCookStep* step = espyCookJob_AddStep(job, espyCookStepKind_JoinCells, after->bytes);
        step->count = before->model.grid.cellCount - after->model.grid.cellCount;
        step->pairs = before->hidden - after->hidden;
        step->dynamicPairs = before->dynamicHidden - after->dynamicHidden;
    }
}

/// Applies what was chosen to the model of its level.
static espyResult espyCookJob_Cut(espyCookJob* job)
{
    const espyiCookPlan* plan = &job->plan;
    espyiCookLevel* level = &job->plan.levels[plan->joins];
    espyiCookModel* model = &level->model;
    espyCookReport* report = &job->out->report;
    espyCookJob_ReportJoins(job);
    uint64_t hidden = level->hidden;
    uint64_t dynamicHidden = level->dynamicHidden;
    if (plan->dropDynamic)
    {
        espyCookStep* step = espyCookJob_AddStep(job, espyCookStepKind_DropDynamic,
                                                 espyiCookLevel_GetBytes(level, false, model->statics.setCount, 0));
        step->dynamicPairs = dynamicHidden;
        dynamicHidden = 0;
        model->grid.coarseFactor = 0;
    }
    espyResult result = espyiCookMerges_Apply(&level->staticMerges, plan->staticMerges, &job->hooks, &model->statics);
    if (result == espyResult_Ok)
    {
        result = espyiCookMerges_Apply(&level->dynamicMerges, plan->dynamicMerges, &job->hooks, &model->dynamics);
    }
    if (result == espyResult_Ok)
    {
        report->hiddenPairs = espyiCookModel_CountHidden(model);
        result = espyiCookModel_CountDynamicHidden(model, &job->origin, &job->hooks, &report->dynamicHidden);
    }
    if (result == espyResult_Ok && plan->staticMerges + plan->dynamicMerges > 0)
    {
        espyCookStep* step = espyCookJob_AddStep(
            job, espyCookStepKind_MergeSets,
            espyiCookLevel_GetBytes(level, true, model->statics.setCount, model->dynamics.setCount));
        step->count = (uint64_t)plan->staticMerges + plan->dynamicMerges;
        step->pairs = hidden - report->hiddenPairs;
        step->dynamicPairs = dynamicHidden - report->dynamicHidden;
    }
    return result;
}

/// Packed tables cost no answer: where they alone bring the file under its budget nothing has to be cut.
static espyResult espyCookJob_FitsPacked(espyCookJob* job, uint64_t budget, bool* out)
{
    void* data;
    size_t size;
    *out = false;
    espyResult result = espyiCookModel_Write(&job->plan.levels[0].model, &job->origin, &job->hooks, &data, &size);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyPackResult packed;
    result = espyPack_Pack(data, size, &job->hooks, &packed);
    *out = result == espyResult_Ok && packed.size <= budget;
    espyPack_Free(&packed);
    espyiFree(&job->hooks, data);
    return result;
}

static espyResult espyCookJob_CookForConsole(espyCookJob* job)
{
    uint64_t budgetKB =
        job->def->budgetKB == ESPY_COOK_BUDGET_OF_FILE ? job->out->report.before.consoleBudgetKB : job->def->budgetKB;
    uint64_t budget = budgetKB * 1024u;
    job->out->report.budgetBytes = budget;
    espyResult result = espyCookJob_Load(job);
    bool over = result == espyResult_Ok && budget > 0 && job->plan.levels[0].bytes > budget;
    if (over && job->def->pack)
    {
        bool fits;
        result = espyCookJob_FitsPacked(job, budget, &fits);
        over = result == espyResult_Ok && !fits;
    }
    if (over && !job->def->strictBudget)
    {
        result = espyiCookPlan_Choose(&job->plan, &job->origin, budget, &job->hooks);
    }
    if (result == espyResult_Ok && over && !job->plan.found)
    {
        return espyCookJob_WriteEmpty(job);
    }
    if (result == espyResult_Ok && over)
    {
        result = espyCookJob_Cut(job);
    }
    void* data = NULL;
    size_t size = 0;
    const espyiCookModel* model = &job->plan.levels[job->plan.joins].model;
    if (result == espyResult_Ok)
    {
        result = espyiCookModel_Write(model, &job->origin, &job->hooks, &data, &size);
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    return espyCookJob_Finish(job, data, size);
}

// --- the whole

static bool espyCookDef_IsValid(const espyCookDef* def)
{
    return def && def->cookie == ESPY_DEF_COOKIE &&
           (def->target.byteOrder == espyByteOrder_Little || def->target.byteOrder == espyByteOrder_Big);
}

espyResult espyCook_Run(const void* data, size_t size, const espyCookDef* def, espyCookResult* out)
{
    *out = (espyCookResult){.error = {espyResult_Ok, 0, ""}};
    espyHooks hooks = espyiHooks_Resolve(def ? &def->hooks : NULL);
    if (!ESPYI_CHECK(&hooks, espyCookDef_IsValid(def)) || !ESPYI_CHECK(&hooks, data || size == 0))
    {
        return espyResult_InvalidArgument;
    }
    // The plan is too large for some stacks.
    espyCookJob* job = espyiAlloc(&hooks, 1, sizeof *job);
    if (!job)
    {
        return espyResult_OutOfMemory;
    }
    job->def = def;
    job->hooks = hooks;
    job->out = out;
    out->hooks = hooks;
    espyResult result = espyCookJob_Open(job, data, size);
    if (result == espyResult_Ok)
    {
        result = def->target.isConsole ? espyCookJob_CookForConsole(job) : espyCookJob_KeepAll(job, size);
    }
    espyiCookPlan_Free(&job->plan, &hooks);
    espyiFree(&hooks, job->keep);
    espyiFree(&hooks, job->keptBoxes);
    espyiFree(&hooks, job->native);
    espyiFree(&hooks, job);
    return result;
}

void espyCook_Free(espyCookResult* result)
{
    if (result->data)
    {
        espyiFree(&result->hooks, result->data);
    }
    *result = (espyCookResult){0};
}
