// SPDX-License-Identifier: MIT
// Unroll cells: which instances of a node are drawn and culled together. One definition for bakes and worlds.
#ifndef ESPYI_UNROLL_H
#define ESPYI_UNROLL_H

#include "core/core.h"

#include <espy/mesh.h>

/// Composed in double precision and rounded once, so that deep hierarchies do not drift.
typedef struct espyiMat4d
{
    double m[16];
} espyiMat4d;

/// Instances sorted by cell (z, then y, then x), then by index: those of cell c are order[firsts[c] .. firsts[c + 1]).
/// One allocation.
typedef struct espyiUnroll
{
    uint32_t instanceCount, cellCount;
    float cellSize;
    uint64_t revision; ///< The caller's.
    uint32_t* firsts;
    uint32_t* order;
} espyiUnroll;

ESPYI_SHARED espyiMat4d espyiMat4d_From(const espyMat4* m);
ESPYI_SHARED espyiMat4d espyiMat4d_Multiply(const espyiMat4d* a, const espyiMat4d* b);
ESPYI_SHARED espyVec3 espyiMat4d_TransformPoint(const espyiMat4d* m, espyVec3 p);

/// An instance belongs to the cell of side `cellSize` that holds the centre of its bounds (the vertices of all meshes),
/// on a lattice that begins at the minimum corner of all of them. Null where memory ends; free with espyiFree.
/// Cost: vertices times instances.
ESPYI_SHARED espyiUnroll* espyiUnroll_Make(const espyHooks* hooks, const espyiMat4d* world, const espyMat4* instances,
                                           uint32_t instanceCount, const espyTriangles* meshes, uint32_t meshCount,
                                           float cellSize);

#endif
