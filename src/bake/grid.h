// SPDX-License-Identifier: MIT
// The lattice of cells that the areas touch, its coarse blocks, and which cells are solid.
#ifndef ESPYI_GRID_H
#define ESPYI_GRID_H

#include <espy/bake.h>

#include "core/poll.h"

/// Lattice cells along one axis at most: coordinates are stored in 16 bits.
#define ESPYI_GRID_MAX_DIM 65535u

/// Stored cells in rank order (z, y, x). Lattice coordinates fit 16 bits.
typedef struct espyiCellCoord
{
    uint16_t x, y, z;
} espyiCellCoord;

/// Consecutive stored cells of one row, ranks firstRank and on.
typedef struct espyiCellRun
{
    uint16_t x, y, z;
    uint16_t length;
    uint32_t firstRank;
} espyiCellRun;

typedef struct espyiGrid
{
    espyVec3 origin; ///< Minimum corner, world metres.
    float cellSize;
    uint32_t dims[3];
    uint32_t cellCount;
    bool dense;            ///< Every lattice cell is stored: rank = x + nx * (y + ny * z).
    espyiCellCoord* cells; ///< cellCount coordinates by rank; also filled when dense.
    uint32_t* solid;       ///< Bitset over ranks.
    uint32_t solidCount;
    // Coarse blocks of coarseFactor^3 cells; those that hold a stored cell, ranked in z, y, x order.
    uint32_t coarseFactor, coarseDims[3], coarseCount;
    espyiCellCoord* coarse;
    // Rank lookup when not dense: firstRank of each run of consecutive x, sorted by (z, y, x).
    espyiCellRun* runs;
    uint32_t runCount;
    // First run of each row y + ny * z, and runCount at the end; null where the lattice has too many rows for it.
    uint32_t* rowRuns;
} espyiGrid;

typedef struct espyiGridDef
{
    const espyBakeArea* areas;
    uint32_t areaCount;
    espyBox bounds; ///< The volume where there are no areas.
    float cellSize;
    uint32_t maxCells;
    const espyHooks* hooks;
    espyiPoll* poll; ///< May be null.
} espyiGridDef;

/// Why a grid was refused: LimitExceeded comes with one of these.
typedef struct espyiGridRefusal
{
    uint64_t cells;  ///< Stored cells that were needed, when above maxCells; else 0.
    uint64_t length; ///< Lattice cells along one axis, when above ESPYI_GRID_MAX_DIM; else 0.
} espyiGridRefusal;

/// Counts before it allocates, so that a huge area is refused at once. Errors: InvalidArgument (an area that is not
/// finite, nothing to cover), LimitExceeded, OutOfMemory, Cancelled (by the poll). On failure *out is zeroed.
espyResult espyiGrid_Build(const espyiGridDef* def, espyiGrid* out, espyiGridRefusal* refusal);
void espyiGrid_Free(espyiGrid* grid, const espyHooks* hooks);

/// Box of a cell relative to the origin of the world (the lattice box, half-open in meaning).
espyBox espyiGrid_CellBox(const espyiGrid* grid, uint32_t rank);
espyBox espyiGrid_CoarseBox(const espyiGrid* grid, uint32_t coarse);
/// The same relative to the origin of the lattice, as everything inside the bake is.
espyBox espyiGrid_LocalCellBox(const espyiGrid* grid, uint32_t rank);
espyBox espyiGrid_LocalCoarseBox(const espyiGrid* grid, uint32_t coarse);
/// Rank of the stored cell at lattice coordinates, or -1 (also outside the lattice).
int32_t espyiGrid_RankAt(const espyiGrid* grid, int32_t x, int32_t y, int32_t z);
/// Hash of the lattice and of which cells are stored.
uint64_t espyiGrid_Hash(const espyiGrid* grid);

/// The smallest b in 4..16 with ceil(nx/b) * ceil(ny/b) * ceil(nz/b) <= 512, else 16.
uint32_t espyiGrid_CoarseFactor(const uint32_t dims[3]);

#endif
