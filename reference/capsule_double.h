// SPDX-License-Identifier: MIT
// The closed form of the capsule term in double precision: the same lines as the run time's, with libm's arc tangent.
#ifndef ESPY_CAPSULE_DOUBLE_H
#define ESPY_CAPSULE_DOUBLE_H

#include <stdbool.h>

/// Ends, and the radius at each.
typedef struct espyCapsuleDouble
{
    double a[3], b[3];
    double radiusA, radiusB;
} espyCapsuleDouble;

/// Share of the cosine-weighted hemisphere around the unit normal that the capsule blocks from point p, [0, 1].
double espyCapsuleDouble_Occlusion(const espyCapsuleDouble* capsule, const double p[3], const double n[3], bool solid);

#endif
