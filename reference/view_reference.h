// SPDX-License-Identifier: MIT
// Views the slow way, in double: corners of boxes through the matrices, and the near rectangle cut by every cell.
#ifndef ESPY_REFERENCE_VIEW_REFERENCE_H
#define ESPY_REFERENCE_VIEW_REFERENCE_H

#include <espy/view.h>

/// How far beyond a clip plane the whole box is, as a share of its reach: positive where it is outside, at most 0
/// where no single plane has all eight corners behind it.
double espyViewReference_Outside(const espyViewDef* def, espyBox box);

/// Writes all stored cells of the file that the near rectangle touches, grown by `margin` metres, ascending. Returns
/// how many there are (also beyond `room`), or -1 where a part of it is in no cell, or -2 where it is not bounded.
int32_t espyViewReference_FindCells(const espyViewDef* def, const espyPvs* pvs, espyVec3 offset, double margin,
                                    int32_t* cells, uint32_t room);

#endif
