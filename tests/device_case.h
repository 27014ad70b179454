// SPDX-License-Identifier: MIT
// What the suites of devices share: random scenes that any device must answer as the reference does.
#ifndef ESPY_DEVICE_CASE_H
#define ESPY_DEVICE_CASE_H

#include <espy/device.h>

#include "reference/device_reference.h"

typedef struct espyDeviceCase
{
    uint64_t seed;
    int32_t width, height;
    uint32_t layers;
    bool reversedZ, orthographic, infiniteFar;
    double slack;   ///< Of the device, in pixels.
    uint64_t frame; ///< The first; more are begun until all answers are there.
} espyDeviceCase;

/// What was compared, to see that scenes ask something.
typedef struct espyDeviceCaseReport
{
    uint32_t queries, hidden, partly; ///< Of the queries: with no fragment for sure; with some hidden.
    uint32_t ids, seen;
    uint64_t samples, doubtful; ///< Of all counts: the lower bound, and between the bounds.
} espyDeviceCaseReport;

/// Draws a scene of the seed on the device, asks for ids in both modes and for counts, and fails the test where an
/// answer is out of the reference's bounds. Adds to the report. Returns the number of the last frame.
uint64_t espyDeviceCase_Run(espyDevice* device, const espyDeviceCase* given, espyDeviceCaseReport* report);

/// A scale and a place, with an optional mirroring.
espyMat4 espyDeviceCase_Place(espyVec3 centre, espyVec3 half);

#endif
