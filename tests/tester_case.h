// SPDX-License-Identifier: MIT
// What the suites of tester meshes share: a scene on the software device, built from boxes.
#ifndef ESPY_TESTER_CASE_H
#define ESPY_TESTER_CASE_H

#include <espy/tester.h>

#include "hook_counter.h"
#include "raster_case.h"

typedef struct espyTesterCase
{
    espyDevice device;
    espyTesterScene* scene;
    espyTesterViewDef main;
    uint64_t frame;
    espyLens lens;
    espyVec3 eye, look;
    espyHookCounter counter; ///< Of the scene.
    espyMessageId lastMessage;
    uint32_t messages;
    char lastText[320];
    uint32_t asserts;
} espyTesterCase;

/// A view of 160 x 90 from the origin along -z, near 0.1, far plane at infinity.
espyTesterViewDef espyTesterCase_ViewDef(void);
/// Creates device and scene; `main` null: as above. `maxIds` 0: the device's default.
void espyTesterCase_Create(espyTesterCase* c, const espyTesterViewDef* main, uint32_t maxIds);
void espyTesterCase_Destroy(espyTesterCase* c);

espyTesterTargetId espyTesterCase_Target(espyTesterCase* c, espyTesterTargetId parent, const char* name);
/// A box tester that reveals `target` (null: nothing).
espyTesterId espyTesterCase_Tester(espyTesterCase* c, espyTesterTargetId parent, espyBox box,
                                   espyTesterTargetId target);
/// An opaque box.
espyTesterDrawId espyTesterCase_Draw(espyTesterCase* c, espyTesterTargetId parent, espyBox box);
/// The transform that brings the box -1..1 to `box`.
espyMat4 espyTesterCase_BoxTransform(espyBox box);
/// World to clip of the case's camera.
espyMat4 espyTesterCase_Clip(const espyTesterCase* c);

/// Runs the main view, or one view, in a frame of its own, and expects Ok.
void espyTesterCase_Run(espyTesterCase* c);
void espyTesterCase_RunView(espyTesterCase* c, espyTesterViewId view);
espyResult espyTesterCase_TryRun(espyTesterCase* c, espyTesterViewId view, const espyTesterRun* run);
bool espyTesterCase_IsShown(const espyTesterCase* c, espyTesterTargetId target);
bool espyTesterCase_WasActive(const espyTesterCase* c, espyTesterId tester);
espyTesterStats espyTesterCase_Stats(const espyTesterCase* c);

/// Boxes and what they are made of: a reference mesh of them owns its arrays.
typedef struct espyTesterCaseBox
{
    espyVec3 positions[8];
    uint32_t indices[36];
} espyTesterCaseBox;

/// The triangles of a box under a transform, in `out`.
espyTriangles espyTesterCase_Triangles(const espyMat4* toWorld, espyTesterCaseBox* out);

#endif
