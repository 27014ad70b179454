// SPDX-License-Identifier: MIT
// Vectors, boxes and matrices. Plain structs by value; no libm call is made.
#ifndef ESPY_MATH_H
#define ESPY_MATH_H

#include <espy/base.h>

/// A point or direction, metres.
typedef struct espyVec3
{
    float x, y, z;
} espyVec3;

/// Axis-aligned box, closed. Empty when any min exceeds its max (see espyBox_Empty).
typedef struct espyBox
{
    espyVec3 min, max;
} espyBox;

/// Column-major 4x4: m[4 * column + row].
typedef struct espyMat4
{
    float m[16];
} espyMat4;

ESPY_API espyBox espyBox_Empty(void);
/// True where every min is at most its max and all six values are finite.
ESPY_API bool espyBox_IsValid(espyBox box);
ESPY_API espyBox espyBox_AddPoint(espyBox box, espyVec3 point);
ESPY_API espyBox espyBox_Union(espyBox a, espyBox b);
/// Closed boxes: touching counts. False for an empty or NaN box.
ESPY_API bool espyBox_Overlaps(espyBox a, espyBox b);
/// Grows (or shrinks, when negative) by `amount` on every side.
ESPY_API espyBox espyBox_Grow(espyBox box, float amount);

ESPY_API espyMat4 espyMat4_Identity(void);
/// a * b: b is applied first.
ESPY_API espyMat4 espyMat4_Multiply(espyMat4 a, espyMat4 b);
/// Translation * rotation (unit quaternion x, y, z, w) * scale.
ESPY_API espyMat4 espyMat4_FromTrs(espyVec3 translation, const float rotation[4], espyVec3 scale);
ESPY_API espyVec3 espyMat4_TransformPoint(espyMat4 m, espyVec3 p);
/// Bounds of the eight transformed corners (tight for the box, not for what is in it). Empty stays empty.
ESPY_API espyBox espyMat4_TransformBox(espyMat4 m, espyBox box);
/// Determinant of the upper 3x3; negative means mirrored.
ESPY_API float espyMat4_Determinant3(espyMat4 m);
/// True where all sixteen values are finite.
ESPY_API bool espyMat4_IsFinite(espyMat4 m);
/// Affine inverse; returns false and leaves *out alone where the upper 3x3 is singular.
ESPY_API bool espyMat4_InvertAffine(espyMat4 m, espyMat4* out);

#endif
