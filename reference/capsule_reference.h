// SPDX-License-Identifier: MIT
// What a capsule blocks, the slow ways: rays against the solid, the hull of its end caps as a fine polygon, and the
// outline's contour integral by quadrature. None shares a line with the closed form.
#ifndef ESPY_CAPSULE_REFERENCE_H
#define ESPY_CAPSULE_REFERENCE_H

#include "reference/capsule_double.h"

#include <stdint.h>

/// What a bundle of rays finds.
typedef struct espyCapsuleRays
{
    double occlusion;       ///< Share of the cosine-weighted hemisphere around n.
    double solidAngleAbove; ///< sr above the horizon of n.
    double solidAngle;      ///< sr over the whole sphere.
    double blocked[3];      ///< Integral of w dw / pi over the blocked directions above the horizon.
} espyCapsuleRays;

/// True where the ray from p in direction w (unit) meets the solid.
bool espyCapsuleReference_Hits(const espyCapsuleDouble* capsule, const double p[3], const double w[3]);

/// `side` * `side` rays, one a stratum, twice (hemisphere and sphere).
espyCapsuleRays espyCapsuleReference_Rays(const espyCapsuleDouble* capsule, const double p[3], const double n[3],
                                          uint32_t side, uint64_t seed);

/// Share of the directions within `halfAngle` of `axis` that meet the solid, `side` * `side` rays.
double espyCapsuleReference_Cone(const espyCapsuleDouble* capsule, const double p[3], const double axis[3],
                                 double halfAngle, uint32_t side, uint64_t seed);

/// Occlusion from the convex hull of both end caps' circles, `points` on each, cut by the horizon, by Lambert's
/// formula. The error falls with the square of `points`. Outside the capsule only.
double espyCapsuleReference_Hull(const espyCapsuleDouble* capsule, const double p[3], const double n[3],
                                 uint32_t points);

/// Occlusion by Gauss-Legendre quadrature of Lambert's contour integral along the outline. Outside the capsule only.
double espyCapsuleReference_Contour(const espyCapsuleDouble* capsule, const double p[3], const double n[3]);

/// Distance from p to the surface; negative inside.
double espyCapsuleReference_Clearance(const espyCapsuleDouble* capsule, const double p[3]);

#endif
