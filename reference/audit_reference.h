// SPDX-License-Identifier: MIT
// What shows along a ray, by the definition and nothing else: every triangle, one after the other, in double.
#ifndef ESPY_REFERENCE_AUDIT_H
#define ESPY_REFERENCE_AUDIT_H

#include <espy/bake.h>

typedef struct espyAuditReferenceAnswer
{
    bool shows;
    bool doubtful; ///< Some triangle is met so near to its rim, or to the surface, that rounding may decide.
} espyAuditReferenceAnswer;

/// Whether the occludee in `slot` shows along the ray: an open segment from the origin to its surface meets no occluder
/// but its own, where surfaces within 0.1 mm of each other do not hide each other.
espyAuditReferenceAnswer espyAuditReference_Shows(const espyBakeInput* input, uint32_t slot, const double origin[3],
                                                  const double direction[3]);

/// Distance from a point to the nearest triangle of all occluders and occludees, by dense sampling of barycentric
/// coordinates refined around the best; good to about a thousandth of the triangle's size.
double espyAuditReference_Distance(const espyBakeInput* input, const double point[3]);

#endif
