// SPDX-License-Identifier: MIT
// Rays against triangles in double precision, for the few that decide whether a pixel counts, and distances from
// points. Shares no code with the ray hierarchy that it checks.
#ifndef ESPYI_EXACT_H
#define ESPYI_EXACT_H

#include <espy/mesh.h>

#include "core/core.h"
#include "geometry/bvh.h"

/// A ray this near to the rim of a triangle decides nothing: metres.
#define ESPYI_EXACT_GRAZE 1e-5
/// Surfaces this near to each other never hide each other: metres.
#define ESPYI_EXACT_FLUSH 1e-4

typedef struct espyiExact espyiExact;

typedef struct espyiRay
{
    double origin[3];
    double direction[3]; ///< Any length but 0.
} espyiRay;

/// Copies the triangles; skips degenerate and not finite ones.
espyResult espyiExact_Build(const espyiSoup* soup, const espyHooks* hooks, espyiExact** out);
void espyiExact_Destroy(espyiExact* exact);

/// True where no triangle comes nearer to the point than `distance` metres. Thread: any.
bool espyiExact_IsClear(const espyiExact* exact, const double point[3], double distance);

/// Nearest hit with a triangle of `object`, beyond tMin, that is no nearer than ESPYI_EXACT_GRAZE to the triangle's
/// rim. False where there is none. Thread: any.
bool espyiExact_NearestSure(const espyiExact* exact, uint32_t object, const espyiRay* ray, double tMin, double* t);

/// True where a triangle, grown by ESPYI_EXACT_GRAZE, meets the ray between tMin and tMax, other than those of the
/// skipped objects and those in whose plane (within ESPYI_EXACT_FLUSH) the point at tMax lies. Thread: any.
bool espyiExact_MayBlock(const espyiExact* exact, espyiSkip skip, const espyiRay* ray, double tMin, double tMax);

#endif
