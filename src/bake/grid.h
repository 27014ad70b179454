// SPDX-License-Identifier: MIT
// The lattice of cells that the areas touch, its coarse blocks, and which cells are solid.
#ifndef ESPYI_GRID_H
#define ESPYI_GRID_H

#include <espy/bake.h>

#include "core/core.h"

/// Stored cells in rank order (z, y, x). Lattice coordinates fit 16 bits.
typedef struct espyiCellCoord
{
    uint16_t x, y, z;
} espyiCellCoord;

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
    struct espyiCellRun* runs;
    uint32_t runCount;
} espyiGrid;

/// Box of a cell relative to the origin of the world (the lattice box, half-open in meaning).
espyBox espyiGrid_CellBox(const espyiGrid* grid, uint32_t rank);
espyBox espyiGrid_CoarseBox(const espyiGrid* grid, uint32_t coarse);
/// Rank of the stored cell at lattice coordinates, or -1 (also outside the lattice).
int32_t espyiGrid_RankAt(const espyiGrid* grid, int32_t x, int32_t y, int32_t z);

#endif
