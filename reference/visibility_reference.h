// SPDX-License-Identifier: MIT
// What two boxes can see of each other in a tiny scene, by trying very many segments in double precision.
//
// Independent of src/bake: plain loops over triangles. A segment counts as free only where it keeps a given clearance
// from every triangle, so that an answer never hangs on rounding.
#ifndef ESPY_VISIBILITY_REFERENCE_H
#define ESPY_VISIBILITY_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct espyReferenceScene
{
    const double (*triangles)[3][3];
    uint32_t count;
    uint32_t lastBlocker; ///< Tried first: neighbouring segments are mostly blocked by the same triangle.
} espyReferenceScene;

/// True where the closed segment meets a triangle.
bool espyReference_Blocked(espyReferenceScene* scene, const double a[3], const double b[3]);

/// Distance between the segment and the nearest triangle; 0 where they meet.
double espyReference_Clearance(const espyReferenceScene* scene, const double a[3], const double b[3]);

/// Number of free segments found among `tries` from box a to box b: half between uniform points, half through a point
/// `nudge` beside a random edge of a random triangle. The first one goes into `from` and `to`.
uint64_t espyReference_FindFree(espyReferenceScene* scene, const double a[2][3], const double b[2][3], uint64_t tries,
                                double clearance, double nudge, uint64_t* seed, double from[3], double to[3]);

/// Uniform in [0, 1); advances the state.
double espyReference_Random(uint64_t* state);

#endif
