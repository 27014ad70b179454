// SPDX-License-Identifier: MIT
// From answers a target (columns over cells) to shared sets a cell (rows), and on to the blob.
#ifndef ESPYI_TABLES_H
#define ESPYI_TABLES_H

#include <espy/bake.h>

#include "bake/grid.h"

/// Columns of bits over cells, one a target, stored compressed as they are finished. Put is "Thread: any" for different
/// columns; every column is put exactly once.
typedef struct espyiColumns espyiColumns;
espyResult espyiColumns_Create(uint32_t columnCount, uint32_t cellCount, const espyHooks* hooks, espyiColumns** out);
void espyiColumns_Destroy(espyiColumns* columns);
/// Stores a copy. False: out of memory.
bool espyiColumns_Put(espyiColumns* columns, uint32_t column, const uint32_t* cellBits);
/// Expands a column into words(cellCount) words; an absent column gives zeros and false.
bool espyiColumns_Get(const espyiColumns* columns, uint32_t column, uint32_t* cellBits);
size_t espyiColumns_GetBytes(const espyiColumns* columns);

/// Unique sets in order of the first cell that uses each, and the index of every cell.
typedef struct espyiTable
{
    uint32_t width; ///< Bits a set.
    uint32_t words; ///< 32-bit words a set.
    uint32_t setCount;
    uint32_t cellCount;
    uint32_t* cells; ///< cellCount indices below setCount.
    uint32_t* sets;  ///< setCount * words.
} espyiTable;

/// Transposes block by block and shares equal rows as it goes, so that memory never holds the full matrix of rows.
/// A solid cell takes the union of its open neighbours (6-neighbourhood), or'ed with its own bits; one without an open
/// neighbour, and with solidSeesAll (quality proven) every solid cell, gets a full set. `grid->solid` null: none.
/// Reads of the grid: cellCount, cells, dims, solid and what espyiGrid_RankAt reads. Same bytes from the same columns.
/// Errors: OutOfMemory, Cancelled (by the poll, which may be null).
espyResult espyiTable_Build(const espyiColumns* columns, const espyiGrid* grid, bool solidSeesAll,
                            const espyHooks* hooks, espyiPoll* poll, espyiTable* out);
void espyiTable_Free(espyiTable* table, const espyHooks* hooks);

/// The same from columns that nobody needs any more: *columns are destroyed (and null) as soon as all rows are shared,
/// whether the rest goes well or not, since columns, rows and a table at once would be the most that a bake ever holds.
espyResult espyiTable_Consume(espyiColumns** columns, const espyiGrid* grid, bool solidSeesAll, const espyHooks* hooks,
                              espyiPoll* poll, espyiTable* out);

/// Writes the row of a cell, `words` words that come zeroed; bits above the width stay 0.
typedef void espyiRowFn(void* context, uint32_t cell, uint32_t* row);
/// The same table from rows that are written one by one, in order of the cells.
espyResult espyiTable_FromRows(uint32_t cellCount, uint32_t width, espyiRowFn* fill, void* context,
                               const espyHooks* hooks, espyiTable* out);

/// Everything that goes into a file, as arrays.
typedef struct espyiBlobDef
{
    const espyiGrid* grid;
    espyBakeQuality quality;
    float nearDistance, smallestHole;
    bool occlusionCulling;
    uint32_t consoleBudgetKB;
    uint32_t levelSettings; ///< espyBakeSetting bits.
    uint64_t seed;
    uint64_t settingsHash, contentHash;
    uint32_t occluderCount, occludeeCount;
    const espyBox* occluderBoxes;
    const espyBox* occludeeBoxes;
    const int32_t* occluderNodes;
    const int32_t* occludeeNodes;
    const int32_t* occludeeParts;
    const uint64_t* occluderHashes;
    const uint64_t* occludeeHashes;
    const uint64_t* occluderContents; ///< The caller's; null: none.
    const espyiTable* statics;
    const espyiTable* dynamics;      ///< Null: no dynamic table.
    const uint32_t* occludeeProven;  ///< Cells that are proven not to see each; for `espy info` and incremental bakes.
    const uint32_t* occludeeUnknown; ///< Cells that draw each for want of a proof, for incremental bakes.
    bool late;                       ///< Time ran out: marks occludeeUnknown.
    const espyVec3* viewPoints;      ///< From the grid's origin; none: no section.
    uint32_t viewPointCount;
    bool cooked;         ///< Without any section that only tools read.
    float bakedCellSize; ///< Of a cook that joined cells; 0: cellSize.
    espyiPoll* poll;     ///< May be null.
} espyiBlobDef;

/// Writes the blob in this machine's byte order, 16-byte aligned, from the hooks' allocator, and proves it with
/// espyPvs_Load. Deterministic: padding is 0. Node ids, parts or hashes that are null leave their section out.
/// Errors: InvalidArgument (the def breaks a rule of the format), LimitExceeded, OutOfMemory, Cancelled (by the poll).
espyResult espyiBlob_Write(const espyiBlobDef* def, const espyHooks* hooks, void** out, size_t* outSize);

/// espyBake_ConvertByteOrder with the copy that it works on from `hooks`, asking `poll` (may be null). One more error:
/// Cancelled.
espyResult espyiBlob_ConvertByteOrder(const void* data, size_t size, bool bigEndian, void* out, const espyHooks* hooks,
                                      espyiPoll* poll, espyDataError* error);

#endif
