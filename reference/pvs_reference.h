// SPDX-License-Identifier: MIT
// Lookups in a baked file the slow way: every cell and every block, one after the other, from the arrays that went in.
#ifndef ESPY_PVS_REFERENCE_H
#define ESPY_PVS_REFERENCE_H

#include "bake/grid.h"

/// Rank of the stored cell whose half-open box holds the point (upper faces of the lattice included), or -1.
int32_t espyPvsReference_FindCell(const espyiGrid* grid, espyVec3 point);

/// Closed bounds of a lattice cell range, by the formula of docs/format.md.
espyBox espyPvsReference_Box(const espyiGrid* grid, const uint32_t first[3], const uint32_t last[3]);

/// `blockVisible` holds grid->coarseCount bytes of one cell.
espyVisibility espyPvsReference_TestBox(const espyiGrid* grid, const uint8_t* blockVisible, espyBox box);

#endif
