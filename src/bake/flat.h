// SPDX-License-Identifier: MIT
// Convex polygons in the plane, by value: windows of nodes, covers' images and openings while they are cut.
#ifndef ESPYI_FLAT_H
#define ESPYI_FLAT_H

#include "core/core.h"

#define ESPYI_FLAT_POINTS 24u

typedef struct espyiFlat
{
    uint32_t count;
    uint32_t tag[2]; ///< Leaves in front and behind; or, on a stack, what to do next.
    double p[ESPYI_FLAT_POINTS][2];
} espyiFlat;

typedef struct espyiFlatList
{
    espyiFlat* items;
    size_t count, capacity;
} espyiFlatList;

/// Signed distance a u + b v + c where (a, b) has length `length` (it may be far from 1).
typedef struct espyiFlatLine
{
    double a, b, c, length;
} espyiFlatLine;

static inline double espyiFlatLine_At(const espyiFlatLine* line, const double p[2])
{
    return line->a * p[0] + line->b * p[1] + line->c;
}

/// Adds a copy. False: out of memory.
bool espyiFlatList_Push(const espyHooks* hooks, espyiFlatList* list, const espyiFlat* flat);

/// Least and largest value of the line over the points.
void espyiFlat_Range(const espyiFlat* flat, const espyiFlatLine* line, double* low, double* high);

/// Keeps what has sign * f >= -slack. False, with *out untouched, where the result has too many points.
bool espyiFlat_Clip(const espyiFlat* in, const espyiFlatLine* line, double sign, double slack, espyiFlat* out);

/// Signed: positive where the points run counter-clockwise.
double espyiFlat_Area(const espyiFlat* flat);

/// Convex hull of both, counter-clockwise. False: too many points.
bool espyiFlat_Hull(const espyiFlat* a, const espyiFlat* b, espyiFlat* out);

#endif
