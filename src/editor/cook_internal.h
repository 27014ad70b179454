// SPDX-License-Identifier: MIT
// A baked file as arrays that a cook can cut, and the ways of cutting.
#ifndef ESPYI_COOK_INTERNAL_H
#define ESPYI_COOK_INTERNAL_H

#include "bake/tables.h"

#include <espy/cook.h>

/// The file as baked, for counting: pairs are counted in its cells and its coarse blocks whatever becomes of them.
typedef struct espyiCookOrigin
{
    const espyPvs* pvs;
    const espyBox* occludeeBoxes; ///< Of the slots that stay.
    uint32_t occludeeCount;
    const espyiCellCoord* coarse; ///< Blocks by rank.
} espyiCookOrigin;

/// Cells, blocks and tables at some state of the cook. Cell i covers the cells as baked from offset + scale * i on.
typedef struct espyiCookModel
{
    espyiGrid grid; ///< Without solid cells, runs and rows.
    espyiTable statics, dynamics;
    uint32_t* weights; ///< Cells as baked in each cell.
    uint32_t scale;
    uint32_t offset[3];
} espyiCookModel;

/// Writes a model as a file without sections for tools, in this machine's byte order.
espyResult espyiCookModel_Write(const espyiCookModel* model, const espyiCookOrigin* origin, const espyHooks* hooks,
                                void** out, size_t* outSize);

/// Reads a loaded file. `keep` names the slots that stay, ascending; null: all.
espyResult espyiCookModel_Load(const espyPvs* pvs, const uint32_t* keep, uint32_t keepCount, const espyHooks* hooks,
                               espyiCookModel* out);
void espyiCookModel_Free(espyiCookModel* model, const espyHooks* hooks);

/// Joins 2 x 2 x 2 cells. A joined cell is stored where all of its cells were and sees what any of them saw. Of the
/// eight ways to lay the pairs the one that keeps most hidden pairs is taken. NotFound: there is nothing to join.
espyResult espyiCookModel_Join(const espyiCookModel* from, const espyHooks* hooks, espyiCookModel* out);

/// Hidden pairs that are left, counted in cells as baked.
uint64_t espyiCookModel_CountHidden(const espyiCookModel* model);
/// The same of the dynamic table, in coarse blocks as baked. OutOfMemory.
espyResult espyiCookModel_CountDynamicHidden(const espyiCookModel* model, const espyiCookOrigin* origin,
                                             const espyHooks* hooks, uint64_t* out);

/// Rank of a coordinate in a list in rank order (z, y, x), or -1.
int32_t espyiCookCoord_Find(const espyiCellCoord* coords, uint32_t count, uint32_t x, uint32_t y, uint32_t z);

/// One set after another is united with the one that costs fewest new pairs, of those that lie side by side.
typedef struct espyiCookMerge
{
    uint32_t keep, gone; ///< Sets as numbered in the table; `gone` is not named again.
    uint64_t pairs;      ///< Weighted pairs that become visible.
} espyiCookMerge;

typedef struct espyiCookMerges
{
    espyiCookMerge* items;
    uint32_t count;
} espyiCookMerges;

/// Plans merges until `stopAt` sets (at least 1) are left.
espyResult espyiCookMerges_Plan(const espyiTable* table, const espyiGrid* grid, const uint32_t* weights,
                                uint32_t stopAt, const espyHooks* hooks, espyiCookMerges* out);
void espyiCookMerges_Free(espyiCookMerges* merges, const espyHooks* hooks);
/// Replaces the table by one after the first `count` merges.
espyResult espyiCookMerges_Apply(const espyiCookMerges* merges, uint32_t count, const espyHooks* hooks,
                                 espyiTable* table);

/// The model after some joins, and the merges that could follow.
typedef struct espyiCookLevel
{
    espyiCookModel model;
    espyiCookMerges staticMerges, dynamicMerges;
    size_t bytes;       ///< Of its file without any merge.
    size_t fixedBytes;  ///< Of its file without the two tables.
    size_t coarseBytes; ///< Of the map of coarse blocks.
    uint64_t hidden, dynamicHidden;
} espyiCookLevel;

/// Doublings of a cell until the longest lattice is one cell.
#define ESPYI_COOK_MAX_LEVELS 17u

/// How a file is brought under its budget.
typedef struct espyiCookPlan
{
    espyiCookLevel levels[ESPYI_COOK_MAX_LEVELS];
    uint32_t levelCount;
    // What was chosen.
    bool found; ///< False: nothing hidden can be kept.
    uint32_t joins;
    bool dropDynamic;
    uint32_t staticMerges, dynamicMerges;
} espyiCookPlan;

/// Finds what `level->model` takes as a file and what it hides.
espyResult espyiCookLevel_Measure(espyiCookLevel* level, const espyiCookOrigin* origin, const espyHooks* hooks);
/// Size of its file with these numbers of sets; `dynamic` false: without the dynamic table.
size_t espyiCookLevel_GetBytes(const espyiCookLevel* level, bool dynamic, uint32_t staticSets, uint32_t dynamicSets);

/// Chooses. Level 0 is there and measured.
espyResult espyiCookPlan_Choose(espyiCookPlan* plan, const espyiCookOrigin* origin, uint64_t budget,
                                const espyHooks* hooks);
void espyiCookPlan_Free(espyiCookPlan* plan, const espyHooks* hooks);

#endif
