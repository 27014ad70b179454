// SPDX-License-Identifier: MIT
// What a device has to answer, as bounds: every fragment of every shape by double arithmetic, nothing skipped, nothing
// snapped. Fragments whose centre is too near an edge, or whose depth is too near what was drawn, to be told by a
// device's rounding count as possible, not as sure.
#ifndef ESPY_DEVICE_REFERENCE_H
#define ESPY_DEVICE_REFERENCE_H

#include <espy/device.h>

typedef struct espyDeviceReference
{
    int32_t width, height;
    bool reversedZ;
    double slack;  ///< Pixels that a device may round positions by.
    espyMat4 clip; ///< World to clip.
    /// Nearness of what was drawn, a pixel: nowhere less than `sure`, nowhere more than `possible`.
    double *sure, *possible;
} espyDeviceReference;

typedef struct espyReferenceShape
{
    espyTriangles triangles;
    espyMat4 toWorld;
    uint32_t id;
} espyReferenceShape;

/// Bounds of an answer.
typedef struct espyReferenceCount
{
    uint64_t low, high;
} espyReferenceCount;

/// Cleared to the far plane; exits the program without memory.
espyDeviceReference espyDeviceReference_Create(int32_t width, int32_t height, bool reversedZ, double slack);
void espyDeviceReference_Destroy(espyDeviceReference* reference);
/// Depth test and write. One-sided shapes show the faces that are counter-clockwise from outside, also when toWorld
/// mirrors.
void espyDeviceReference_Draw(espyDeviceReference* reference, const espyReferenceShape* shape, bool twoSided);
/// Fragments of both sides that pass.
espyReferenceCount espyDeviceReference_Count(const espyDeviceReference* reference, const espyReferenceShape* shape);
/// For each shape whether its id is the nearest that passes in some pixel: high 1 where it can be, low 1 where it must.
void espyDeviceReference_Nearest(const espyDeviceReference* reference, const espyReferenceShape* shapes, uint32_t count,
                                 espyReferenceCount* out);

/// The twelve triangles of the box that every device has.
espyTriangles espyDeviceReference_Box(void);

#endif
