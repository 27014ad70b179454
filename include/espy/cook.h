// SPDX-License-Identifier: MIT
// Cooks a baked file for a target: its byte order, without what only tools read, and inside a console's budget.
//
// Targets that are no consoles keep everything and change the byte order alone. A console's file loses the sections
// that only tools read and, where the target draws instanced nodes as a whole, the slots of their unroll cells. Is it
// still over the budget, what is hidden is given up, never the other way round: every cell and box that a cooked file
// answers with "hidden" was hidden in the original, for every point and every box. Part of the library espy-bake.
#ifndef ESPY_COOK_H
#define ESPY_COOK_H

#include <espy/pvs.h>

/// The budget that the file itself states (the scene's setting).
#define ESPY_COOK_BUDGET_OF_FILE 0xFFFFFFFFu

typedef enum espyByteOrder
{
    espyByteOrder_Little = 0,
    espyByteOrder_Big,
} espyByteOrder;

/// What a cook has to know about a machine. Addons fill in their own.
typedef struct espyCookTarget
{
    const char* name;
    espyByteOrder byteOrder;
    bool isConsole; ///< The budget counts, and sections that only tools read are dropped.
    bool unrolls;   ///< Draws one call an unroll cell of an instanced node, so that the slots of the cells are kept.
} espyCookTarget;

typedef struct espyCookDef
{
    espyCookTarget target; ///< The name may be null. Default: this machine's byte order, no console.
    uint32_t budgetKB;     ///< Units of 1024 bytes of file; 0 unlimited. Default ESPY_COOK_BUDGET_OF_FILE.
    bool strictBudget;     ///< Default false. Over the budget write the empty table at once, without any cutting.
    /// Default false. Write the tables in packed form (pack.h). Where that alone fits the budget nothing is cut; else
    /// the tables are cut until they fit as plain ones, and packed after that.
    bool pack;
    espyHooks hooks;
    uint32_t cookie;
} espyCookDef;

typedef enum espyCookStepKind
{
    espyCookStepKind_DropTools = 0, ///< Sections that only tools read: ids, hashes, statistics.
    espyCookStepKind_DropParts,     ///< Slots of unroll cells; count: slots.
    espyCookStepKind_JoinCells,     ///< 2 x 2 x 2 cells into one that sees what any of them saw; count: cells fewer.
    espyCookStepKind_DropDynamic,   ///< The table for things that move.
    espyCookStepKind_MergeSets,     ///< Two sets into their union; count: sets fewer, of both tables.
    espyCookStepKind_EmptyTable,    ///< Everything is visible from everywhere.
    espyCookStepKind_PackTables,    ///< Both tables in packed form.
} espyCookStepKind;

#define ESPY_COOK_MAX_STEPS 24

/// What one step did. Pairs are counted in cells and blocks as baked, whatever they were joined to.
typedef struct espyCookStep
{
    espyCookStepKind kind;
    uint64_t count;
    size_t bytes;          ///< Of the file after this step.
    uint64_t pairs;        ///< Pairs of cell and occludee that became visible.
    uint64_t dynamicPairs; ///< Pairs of cell and coarse block that became visible to things that move.
} espyCookStep;

typedef struct espyCookReport
{
    espyPvsInfo before, after;                   ///< Facts of the source and of the cooked file.
    uint64_t budgetBytes;                        ///< 0: unlimited, also where the target is no console.
    uint64_t hiddenPairsBefore, hiddenPairs;     ///< Of cell and occludee. Before: without dropped parts.
    uint64_t dynamicHiddenBefore, dynamicHidden; ///< Of cell and coarse block.
    bool empty;                                  ///< The empty table was written for want of budget.
    espyCookStep steps[ESPY_COOK_MAX_STEPS];     ///< In the order in which they were done.
    uint32_t stepCount;
} espyCookReport;

/// A cooked file. Free with espyCook_Free.
typedef struct espyCookResult
{
    void* data; ///< In the target's byte order, 16-byte aligned; null unless the result was Ok.
    size_t size;
    espyCookReport report;
    espyDataError error; ///< After BadData and UnsupportedVersion: where.
    espyHooks hooks;     ///< Internal.
} espyCookResult;

/// Built-in targets: gamecube, wii (big-endian consoles), 3ds, psp, ps2 (little-endian consoles), windows, linux, web.
/// Null for an index out of range or an unknown name. Lifetime: static. Thread: any.
ESPY_API const espyCookTarget* espyCookTarget_Get(uint32_t index);
ESPY_API const espyCookTarget* espyCookTarget_Find(const char* name);

ESPY_API espyCookDef espyCookDef_Default(void);

/// Cooks a file of either byte order. Over the budget the first of these that keeps three quarters of what was hidden
/// is taken, and where none does the one that keeps most: merge sets; join 2 x 2 x 2 cells once, twice and so on, and
/// merge sets where that is not enough; the same without the dynamic table (a file that has one keeps at most half
/// then). Where nothing hidden would be left the empty table is written and the log told (CookEmptyTable).
/// `out` is always filled and is to be freed, also after a failure. Same bytes for the same input.
/// Errors: InvalidArgument, BadData, UnsupportedVersion, OutOfMemory. Thread: any. Cost: milliseconds for a file inside
/// its budget, up to some seconds for hundreds of thousands of cells that have to be cut.
ESPY_API espyResult espyCook_Run(const void* data, size_t size, const espyCookDef* def, espyCookResult* out);

ESPY_API void espyCook_Free(espyCookResult* result);

/// "drop tools", "merge sets" and so on. Thread: any.
ESPY_API const char* espyCookStep_GetName(espyCookStepKind kind);

#endif
