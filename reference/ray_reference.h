// SPDX-License-Identifier: MIT
// Segments against every triangle of a soup, one after the other: what the hierarchy must agree with.
#ifndef ESPY_REFERENCE_RAY_H
#define ESPY_REFERENCE_RAY_H

#include "geometry/bvh.h"

/// The float test of the library written plainly, over all triangles: answers must be equal bit for bit.
/// False and *out untouched where nothing is hit.
bool espyRayReference_Closest(const espyiSoup* soup, const espyiSegment* segment, espyiSkip skip, espyiHit* out);

/// A textbook test in double, which shares nothing with the library's.
typedef struct espyRayReferenceDouble
{
    bool hit;
    double t;
    uint32_t triangle;
    bool backFace;
    bool doubtful; ///< Some triangle is met so near to its rim, its plane or the ends of the segment that float may
                   ///< well decide otherwise.
} espyRayReferenceDouble;

espyRayReferenceDouble espyRayReference_ClosestInDouble(const espyiSoup* soup, const espyiSegment* segment,
                                                        espyiSkip skip);

#endif
