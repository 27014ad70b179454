// SPDX-License-Identifier: MIT
// What the suites and the bench of queries share: cameras, and a device around another one that counts its calls.
#ifndef ESPY_QUERY_CASE_H
#define ESPY_QUERY_CASE_H

#include "raster_case.h"

#include <espy/device_mock.h>
#include <espy/query.h>

/// A device that passes everything on to another one and counts.
typedef struct espyQueryCaseDevice
{
    espyDevice inner;
    uint32_t waits; ///< Calls that may wait: readIds and readPixels.
    uint32_t polls, queryCalls;
    uint64_t queries, proxies;
} espyQueryCaseDevice;

/// The table of the counting device. Both outlive it.
espyDevice espyQueryCase_Count(espyQueryCaseDevice* counted, const espyDevice* inner);

/// A camera at `eye` that looks at `target`, as view and projection.
void espyQueryCase_Look(espyViewDef* def, espyVec3 eye, espyVec3 target, const espyLens* lens);

/// A world of boxes, each of which shows or does not. A question is answered by the boxes that show and meet its
/// proxies: a hundred samples each.
typedef struct espyQueryTruth
{
    espyBox* boxes;
    uint8_t* shows;
    uint32_t count;
    uint64_t tag, frame;  ///< Of the last question that was asked.
    uint64_t asked;       ///< Questions.
    espyDeviceDraw proxy; ///< The first of the last question.
    espyDeviceQuery query;
} espyQueryTruth;

/// For espyMockDeviceDef.answer; the context is the truth.
uint64_t espyQueryTruth_Answer(const espyMockQuery* query, void* context);

/// The box that a proxy stands for.
espyBox espyQueryCase_ProxyBox(const espyDeviceDraw* proxy);

/// A system on a mock with one view, that looks from the origin along -z: 90 degrees high, 1280 x 720.
typedef struct espyQueryCase
{
    espyQueryTruth truth;
    espyDevice device;
    espyDeviceTarget target;
    espyQuerySystem* system;
    espyQueryViewDef viewDef;
    espyQueryViewId view;
    espyQueryCamera camera;
    espyQueryObjectId ids[512];
    uint64_t frame;
    espyHooks hooks;
} espyQueryCase;

/// Fills all but the objects. Fields may be changed before Start.
void espyQueryCase_Init(espyQueryCase* c, uint32_t latency);
/// Creates the system and the view on the device of the case.
void espyQueryCase_Start(espyQueryCase* c);
void espyQueryCase_End(espyQueryCase* c);
/// Adds a box to truth and system; returns its index in both.
uint32_t espyQueryCase_Add(espyQueryCase* c, espyBox box, bool shows);
/// One frame: BeginFrame, Cull, Submit in a pass.
void espyQueryCase_Frame(espyQueryCase* c);
void espyQueryCase_Frames(espyQueryCase* c, uint32_t count);
/// Why object i was drawn or not.
espyQueryReason espyQueryCase_Reason(const espyQueryCase* c, uint32_t i);
bool espyQueryCase_IsDrawn(const espyQueryCase* c, uint32_t i);
espyQueryStats espyQueryCase_Stats(const espyQueryCase* c);
void espyQueryCase_SetFaults(espyQueryCase* c, const espyMockFaults* faults);

#endif
