// SPDX-License-Identifier: MIT
// Which cuts bring a file under its budget: how many joins, which merges, with or without the dynamic table.
//
// The means are tried in a fixed order (merge; join and merge; the same without the dynamic table) and the first that
// keeps enough of what was hidden is taken, else the best of all. What is kept is the mean over both tables of the
// share of hidden pairs that stays hidden, so that a table weighs the same however large it is.
#include "cook_internal.h"
#include "core/core.h"
#include "pvs/format.h"

/// Share of the hidden pairs that is good enough not to look at harder cuts.
#define ESPY_COOK_ENOUGH 0.75

// --- sizes

/// Of one section with its entry in the directory.
static uint64_t espyCookLevel_SectionBytes(uint64_t bytes)
{
    return sizeof(espyiFileSection) + espyiFile_Align(bytes);
}

static uint64_t espyCookLevel_TableBytes(const espyiTable* table, uint32_t setCount)
{
    return espyCookLevel_SectionBytes((uint64_t)table->cellCount * espyiFile_IndexBytes(setCount)) +
           espyCookLevel_SectionBytes((uint64_t)setCount * table->words * 4u);
}

size_t espyiCookLevel_GetBytes(const espyiCookLevel* level, bool dynamic, uint32_t staticSets, uint32_t dynamicSets)
{
    uint64_t bytes = level->fixedBytes + espyCookLevel_TableBytes(&level->model.statics, staticSets);
    if (dynamic && level->model.grid.coarseFactor > 0)
    {
        bytes += level->coarseBytes + espyCookLevel_TableBytes(&level->model.dynamics, dynamicSets);
    }
    return (size_t)bytes;
}

espyResult espyiCookLevel_Measure(espyiCookLevel* level, const espyiCookOrigin* origin, const espyHooks* hooks)
{
    const espyiCookModel* model = &level->model;
    void* data;
    espyResult result = espyiCookModel_Write(model, origin, hooks, &data, &level->bytes);
    if (result != espyResult_Ok)
    {
        return result;
    }
    // How many slots the index of a map has only its writer knows.
    static const espyiSectionKind maps[] = {espyiSectionKind_CoarseRows, espyiSectionKind_CoarseIndex};
    level->coarseBytes = 0;
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(maps); ++i)
    {
        const espyiFileSection* section = espyiFile_Find(data, (uint32_t)maps[i]);
        level->coarseBytes += section ? (size_t)espyCookLevel_SectionBytes(section->bytes) : 0u;
    }
    espyiFree(hooks, data);
    level->fixedBytes = 0;
    level->fixedBytes =
        level->bytes - espyiCookLevel_GetBytes(level, true, model->statics.setCount, model->dynamics.setCount);
    level->hidden = espyiCookModel_CountHidden(model);
    return espyiCookModel_CountDynamicHidden(model, origin, hooks, &level->dynamicHidden);
}

// --- merges

/// Fewest merges of one table alone that would do, as the number of sets that is left: at least 1.
static uint32_t espyCookLevel_FindLeft(const espyiCookLevel* level, bool ofDynamic, uint64_t budget)
{
    uint32_t staticSets = level->model.statics.setCount;
    uint32_t dynamicSets = level->model.dynamics.setCount;
    uint32_t low = 1;
    uint32_t high = ofDynamic ? dynamicSets : staticSets;
    while (low < high)
    {
        uint32_t middle = low + (high - low + 1u) / 2u;
        size_t bytes = ofDynamic ? espyiCookLevel_GetBytes(level, true, staticSets, middle)
                                 : espyiCookLevel_GetBytes(level, true, middle, dynamicSets);
        if (bytes <= budget)
        {
            low = middle;
        }
        else
        {
            high = middle - 1u;
        }
    }
    return low;
}

static espyResult espyCookLevel_PlanMerges(espyiCookLevel* level, uint64_t budget, const espyHooks* hooks)
{
    const espyiCookModel* model = &level->model;
    espyResult result = espyiCookMerges_Plan(&model->statics, &model->grid, model->weights,
                                             espyCookLevel_FindLeft(level, false, budget), hooks, &level->staticMerges);
    if (result == espyResult_Ok && model->grid.coarseFactor > 0)
    {
        result = espyiCookMerges_Plan(&model->dynamics, &model->grid, model->weights,
                                      espyCookLevel_FindLeft(level, true, budget), hooks, &level->dynamicMerges);
    }
    return result;
}

/// Share of a table's hidden pairs that its next merge costs, for each byte that it saves.
static double espyCookLevel_Price(const espyiCookMerges* merges, uint32_t next, uint64_t hidden,
                                  const espyiTable* table)
{
    return (double)merges->items[next].pairs / ((double)(hidden > 0 ? hidden : 1u) * (double)table->words);
}

/// Hidden pairs in the blocks of the level itself, in which the costs of its merges are counted.
static uint64_t espyCookLevel_CountOwnDynamic(const espyiCookLevel* level)
{
    espyiCookModel own = {.statics = level->model.dynamics, .weights = level->model.weights};
    return level->model.grid.coarseFactor > 0 ? espyiCookModel_CountHidden(&own) : 0;
}

/// Takes the cheaper of both tables' next merges until the file fits. False: it never does.
static bool espyCookLevel_TakeMerges(const espyiCookLevel* level, bool dynamic, uint64_t budget, uint32_t out[2])
{
    const espyiCookModel* model = &level->model;
    uint64_t ownDynamic = espyCookLevel_CountOwnDynamic(level);
    out[0] = out[1] = 0;
    while (espyiCookLevel_GetBytes(level, dynamic, model->statics.setCount - out[0],
                                   model->dynamics.setCount - out[1]) > budget)
    {
        bool hasStatic = out[0] < level->staticMerges.count;
        bool hasDynamic = dynamic && out[1] < level->dynamicMerges.count;
        if (!hasStatic && !hasDynamic)
        {
            return false;
        }
        bool takeDynamic =
            hasDynamic &&
            (!hasStatic || espyCookLevel_Price(&level->dynamicMerges, out[1], ownDynamic, &model->dynamics) <
                               espyCookLevel_Price(&level->staticMerges, out[0], level->hidden, &model->statics));
        ++out[takeDynamic ? 1 : 0];
    }
    return true;
}

// --- the choice

static espyResult espyCookTable_Copy(const espyiTable* from, const espyHooks* hooks, espyiTable* out)
{
    *out = *from;
    size_t words = (size_t)from->setCount * from->words;
    out->cells = espyiAlloc(hooks, from->cellCount, sizeof *out->cells);
    out->sets = espyiAlloc(hooks, words, sizeof *out->sets);
    if (!out->cells || (!out->sets && words > 0))
    {
        espyiTable_Free(out, hooks);
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < from->cellCount; ++i)
    {
        out->cells[i] = from->cells[i];
    }
    for (size_t i = 0; i < words; ++i)
    {
        out->sets[i] = from->sets[i];
    }
    return espyResult_Ok;
}

/// Dynamic pairs that stay hidden after the first `count` merges of a level.
static espyResult espyCookLevel_CountDynamicAfter(const espyiCookLevel* level, uint32_t count,
                                                  const espyiCookOrigin* origin, const espyHooks* hooks, uint64_t* out)
{
    *out = level->dynamicHidden;
    if (count == 0)
    {
        return espyResult_Ok;
    }
    espyiCookModel model = level->model;
    espyResult result = espyCookTable_Copy(&level->model.dynamics, hooks, &model.dynamics);
    if (result == espyResult_Ok)
    {
        result = espyiCookMerges_Apply(&level->dynamicMerges, count, hooks, &model.dynamics);
        if (result == espyResult_Ok)
        {
            result = espyiCookModel_CountDynamicHidden(&model, origin, hooks, out);
        }
        espyiTable_Free(&model.dynamics, hooks);
    }
    return result;
}

/// Mean of the shares that stay hidden, over the tables that hide anything.
static double espyCookPlan_Score(const espyiCookPlan* plan, uint64_t hidden, uint64_t dynamicHidden)
{
    const espyiCookLevel* baked = &plan->levels[0];
    double sum = 0.0;
    double tables = 0.0;
    if (baked->hidden > 0)
    {
        sum += (double)hidden / (double)baked->hidden;
        tables += 1.0;
    }
    if (baked->dynamicHidden > 0)
    {
        sum += (double)dynamicHidden / (double)baked->dynamicHidden;
        tables += 1.0;
    }
    return tables > 0.0 ? sum / tables : 0.0;
}

/// Looks at one level with or without the dynamic table; keeps it where it is better than what was found before.
static espyResult espyCookPlan_Try(espyiCookPlan* plan, uint32_t joins, bool dynamic, uint64_t budget,
                                   const espyiCookOrigin* origin, const espyHooks* hooks, double* bestScore)
{
    const espyiCookLevel* level = &plan->levels[joins];
    uint32_t merges[2];
    if (!espyCookLevel_TakeMerges(level, dynamic, budget, merges))
    {
        return espyResult_Ok;
    }
    uint64_t hidden = level->hidden;
    for (uint32_t i = 0; i < merges[0]; ++i)
    {
        hidden -= level->staticMerges.items[i].pairs;
    }
    uint64_t dynamicHidden = 0;
    if (dynamic)
    {
        espyResult result = espyCookLevel_CountDynamicAfter(level, merges[1], origin, hooks, &dynamicHidden);
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    double score = espyCookPlan_Score(plan, hidden, dynamicHidden);
    // Among equals the one that gives up less comes first.
    if (score > *bestScore || (plan->found && score == *bestScore && dynamic && plan->dropDynamic))
    {
        *bestScore = score;
        plan->found = true;
        plan->joins = joins;
        plan->dropDynamic = !dynamic && level->model.grid.coarseFactor > 0;
        plan->staticMerges = merges[0];
        plan->dynamicMerges = merges[1];
    }
    return espyResult_Ok;
}

espyResult espyiCookPlan_Choose(espyiCookPlan* plan, const espyiCookOrigin* origin, uint64_t budget,
                                const espyHooks* hooks)
{
    double best = 0.0;
    espyResult result = espyResult_Ok;
    for (uint32_t joins = 0; result == espyResult_Ok && joins < ESPYI_COOK_MAX_LEVELS; ++joins)
    {
        espyiCookLevel* level = &plan->levels[joins];
        if (joins > 0)
        {
            result = espyiCookModel_Join(&plan->levels[joins - 1u].model, hooks, &level->model);
            if (result == espyResult_NotFound)
            {
                return espyResult_Ok;
            }
            plan->levelCount += result == espyResult_Ok ? 1u : 0u;
            result = result == espyResult_Ok ? espyiCookLevel_Measure(level, origin, hooks) : result;
        }
        // What is joined further only ever keeps less.
        if (result != espyResult_Ok || espyCookPlan_Score(plan, level->hidden, level->dynamicHidden) <= best)
        {
            return result;
        }
        result = espyCookLevel_PlanMerges(level, budget, hooks);
        if (result == espyResult_Ok)
        {
            result = espyCookPlan_Try(plan, joins, true, budget, origin, hooks, &best);
        }
        if (result == espyResult_Ok && best < ESPY_COOK_ENOUGH && level->model.grid.coarseFactor > 0)
        {
            result = espyCookPlan_Try(plan, joins, false, budget, origin, hooks, &best);
        }
        if (best >= ESPY_COOK_ENOUGH)
        {
            return result;
        }
    }
    return result;
}

void espyiCookPlan_Free(espyiCookPlan* plan, const espyHooks* hooks)
{
    for (uint32_t i = 0; i < ESPYI_COOK_MAX_LEVELS; ++i)
    {
        espyiCookModel_Free(&plan->levels[i].model, hooks);
        espyiCookMerges_Free(&plan->levels[i].staticMerges, hooks);
        espyiCookMerges_Free(&plan->levels[i].dynamicMerges, hooks);
    }
}
