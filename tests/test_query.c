// SPDX-License-Identifier: MIT
// The query system on a mock: what is drawn while answers are late, lost or about others, and what is asked.
#include "query_case.h"

#include "tests/hook_counter.h"
#include "tests/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// A box of half size `r` around a point.
static espyBox espyTest_Box(float x, float y, float z, float r)
{
    return (espyBox){{x - r, y - r, z - r}, {x + r, y + r, z + r}};
}

static void espyTest_Look(espyQueryCase* c, espyVec3 eye, float degrees)
{
    espyLens lens = {.nearDistance = 0.1f, .farDistance = 500.0f, .halfHeight = 1.0f, .aspect = 16.0f / 9.0f};
    float a = degrees * 3.14159265f / 180.0f;
    espyVec3 target = {eye.x + sinf(a), eye.y, eye.z - cosf(a)};
    espyQueryCase_Look(&c->camera.eye, eye, target, &lens);
}

// --- answers and states

static void test_all_is_drawn_until_answers_come(void** state)
{
    (void)state;
    for (uint32_t latency = 1; latency <= 4; ++latency)
    {
        espyQueryCase c;
        espyQueryCase_Init(&c, latency);
        espyQueryCase_Start(&c);
        uint32_t hidden = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
        uint32_t shown = espyQueryCase_Add(&c, espyTest_Box(8, 0, -10, 1), true);
        for (uint32_t frame = 0; frame < latency; ++frame)
        {
            espyQueryCase_Frame(&c);
            assert_true(espyQueryCase_IsDrawn(&c, hidden));
            assert_int_equal(espyQueryCase_Reason(&c, hidden), espyQueryReason_New);
            assert_int_equal(espyQuerySystem_Explain(c.system, c.view, c.ids[hidden]).visibility,
                             espyVisibility_Unknown);
            assert_true(espyQuerySystem_Explain(c.system, c.view, c.ids[hidden]).pending);
        }
        espyQueryCase_Frame(&c);
        assert_false(espyQueryCase_IsDrawn(&c, hidden));
        assert_true(espyQueryCase_IsDrawn(&c, shown));
        espyQueryDecision decision = espyQuerySystem_Explain(c.system, c.view, c.ids[hidden]);
        assert_int_equal(decision.visibility, espyVisibility_Occluded);
        assert_int_equal(decision.reason, espyQueryReason_Hidden);
        assert_int_equal(decision.age, latency);
        assert_int_equal(espyQueryCase_Reason(&c, shown), espyQueryReason_Visible);
        espyQueryCase_Frames(&c, 3);
        assert_int_equal(espyQueryCase_Stats(&c).latency, latency);
        // Nothing waits, and nothing breaks a rule of devices.
        espyMockCounts counts;
        espyMockDevice_GetCounts(&c.device, &counts);
        assert_int_equal(counts.waits, 0);
        assert_int_equal(counts.violations, 0);
        espyQueryCase_End(&c);
    }
}

static void test_shown_at_once_hidden_after_some(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    c.viewDef.hiddenAfter = 3;
    c.viewDef.visibleInterval = 4;
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    espyQueryCase_Frames(&c, 6);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    // Asked every frame while hidden: the first answer shows it, two frames later.
    c.truth.shows[i] = 1;
    espyQueryCase_Frames(&c, 2);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, i));
    espyQueryCase_Frames(&c, 20);
    // While visible: asked every interval, not every frame.
    uint64_t asked = c.truth.asked;
    espyQueryCase_Frames(&c, 60);
    assert_in_range(c.truth.asked - asked, 8, 16);
    // Three answers in a row; the settling ones come in frames that follow each other.
    c.truth.shows[i] = 0;
    uint32_t frames = 0, settling = 0;
    while (espyQueryCase_IsDrawn(&c, i) && frames < 40)
    {
        espyQueryCase_Frame(&c);
        settling += espyQueryCase_Reason(&c, i) == espyQueryReason_Settling ? 1u : 0u;
        ++frames;
    }
    // Until the next question: latency + interval at most; then three answers, each a frame after the one before but
    // the first, whose answer has to come before it is asked again.
    assert_in_range(frames, 5, 6 + 2 + 4);
    assert_in_range(settling, 3, 4);
    // One answer "visible" between two that say not starts the count anew.
    c.truth.shows[i] = 1;
    espyQueryCase_Frames(&c, 12);
    assert_true(espyQueryCase_IsDrawn(&c, i));
    espyQueryCase_End(&c);
}

static void test_pending_keeps_the_state_and_expires(void** state)
{
    (void)state;
    for (int fault = 0; fault < 2; ++fault)
    {
        espyQueryCase c;
        espyQueryCase_Init(&c, 1);
        c.viewDef.timeLimit = 7;
        espyQueryCase_Start(&c);
        uint32_t hidden = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
        uint32_t shown = espyQueryCase_Add(&c, espyTest_Box(8, 0, -10, 1), true);
        espyQueryCase_Frames(&c, 8);
        assert_false(espyQueryCase_IsDrawn(&c, hidden));
        // The device answers no more: never, or too late.
        espyMockFaults faults = {.latency = 1, .anyNonZero = true};
        faults.neverReady = fault == 0;
        faults.dropShare = fault == 1 ? 1.0f : 0.0f;
        espyQueryCase_SetFaults(&c, &faults);
        uint32_t stays = 0;
        while (!espyQueryCase_IsDrawn(&c, hidden))
        {
            espyQueryCase_Frame(&c);
            assert_true(espyQueryCase_IsDrawn(&c, shown));
            ++stays;
            assert_true(stays < 20);
        }
        // The last answer was asked in the frame before the fault, or two before.
        assert_in_range(stays, 6, 8);
        assert_int_equal(espyQueryCase_Reason(&c, hidden), espyQueryReason_Expired);
        espyQueryCase_Frames(&c, 20);
        assert_true(espyQueryCase_Stats(&c).total.lost > 0);
        // Answers that are much too late change nothing.
        faults = (espyMockFaults){.latency = 1, .anyNonZero = true};
        espyQueryCase_SetFaults(&c, &faults);
        espyQueryCase_Frame(&c);
        assert_true(fault == 1 || espyQueryCase_Stats(&c).total.stale > 0);
        espyQueryCase_Frames(&c, 3);
        assert_false(espyQueryCase_IsDrawn(&c, hidden));
        espyQueryCase_End(&c);
    }
}

static void test_forged_and_repeated_answers_are_dropped(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), true);
    espyQueryCase_Frames(&c, 4);
    espyDeviceAnswer answer = {.tag = c.truth.tag, .frame = c.truth.frame, .value = 0};
    uint64_t stale = espyQueryCase_Stats(&c).total.stale;
    for (uint32_t k = 0; k < 40; ++k)
    {
        // Repeated; of another frame; of no view; of no question.
        espyMockDevice_Inject(&c.device, &answer);
        answer.frame += 1;
        espyMockDevice_Inject(&c.device, &answer);
        answer.tag ^= 0xFF;
        espyMockDevice_Inject(&c.device, &answer);
        answer.tag = ~answer.tag;
        espyMockDevice_Inject(&c.device, &answer);
        espyQueryCase_Frame(&c);
        assert_true(espyQueryCase_IsDrawn(&c, i));
        answer = (espyDeviceAnswer){.tag = c.truth.tag, .frame = c.truth.frame, .value = 0};
        if (c.truth.frame + 2 > c.frame)
        {
            answer.frame = c.frame + 9; // Not one that is still to come.
        }
    }
    assert_true(espyQueryCase_Stats(&c).total.stale > stale);
    espyQueryCase_End(&c);
}

static void test_answers_out_of_order(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.timeLimit = 20;
    c.viewDef.hiddenAfter = 1;
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    espyMockFaults faults = {.latency = 1, .jitter = 5, .shuffle = true, .anyNonZero = true};
    espyQueryCase_SetFaults(&c, &faults);
    espyQueryCase_Frames(&c, 40);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    for (uint32_t k = 0; k < 30; ++k)
    {
        // Shown: it stays shown, whatever older answers "hidden" come after the first that says so.
        c.truth.shows[i] = 1;
        uint32_t missing = 0;
        bool drawn = false;
        for (uint32_t frame = 0; frame < 12; ++frame)
        {
            espyQueryCase_Frame(&c);
            assert_true(!drawn || espyQueryCase_IsDrawn(&c, i));
            drawn = espyQueryCase_IsDrawn(&c, i);
            missing += drawn ? 0u : 1u;
        }
        assert_true(missing <= 6);
        c.truth.shows[i] = 0;
        espyQueryCase_Frames(&c, 40);
        assert_false(espyQueryCase_IsDrawn(&c, i));
    }
    espyQueryCase_End(&c);
}

// --- cameras

static void test_cuts_by_call_and_by_movement(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -40, 4), false);
    for (int kind = 0; kind < 5; ++kind)
    {
        espyTest_Look(&c, (espyVec3){0, 0, 0}, 0);
        espyQueryCase_Frames(&c, 10);
        assert_false(espyQueryCase_IsDrawn(&c, i));
        switch (kind)
        {
        case 0:
            c.camera.cut = true;
            break;
        case 1:
            assert_int_equal(espyQuerySystem_Cut(c.system, c.view), espyResult_Ok);
            break;
        case 2: // Further than cutDistance.
            espyTest_Look(&c, (espyVec3){0, 0, 6}, 0);
            break;
        case 3: // More than cutAngle.
            espyTest_Look(&c, (espyVec3){0, 0, 0}, 36);
            break;
        default: // Another kind of camera.
            c.camera.eye.projection = espyMat4_Orthographic(-20, 20, -20, 20, 0.1f, 500.0f, false);
            break;
        }
        espyQueryCase_Frame(&c);
        assert_true(espyQueryCase_IsDrawn(&c, i));
        assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_Cut);
        c.camera.cut = false;
        espyQueryCase_Frame(&c);
        assert_false(espyQueryCase_IsDrawn(&c, i));
    }
    // Walking and turning as people do is none.
    espyTest_Look(&c, (espyVec3){0, 0, 0}, 0);
    espyQueryCase_Frames(&c, 10);
    for (uint32_t step = 0; step < 20; ++step)
    {
        espyTest_Look(&c, (espyVec3){0, 0, -0.08f * (float)step}, 1.5f * (float)step);
        espyQueryCase_Frame(&c);
        assert_false(espyQueryCase_IsDrawn(&c, i));
    }
    espyQueryCase_End(&c);
}

static void test_answers_from_before_a_cut_are_void(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 3);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -40, 4), false);
    espyQueryCase_Frames(&c, 10);
    // Answers of three frames before it say "hidden".
    c.camera.cut = true;
    c.truth.shows[i] = 1;
    for (uint32_t frame = 0; frame < 10; ++frame)
    {
        espyQueryCase_Frame(&c);
        c.camera.cut = false;
        assert_true(espyQueryCase_IsDrawn(&c, i));
    }
    assert_true(espyQueryCase_Stats(&c).total.stale >= 2);
    espyQueryCase_End(&c);
}

static void test_near_plane_small_and_edge_on(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    uint32_t inside = espyQueryCase_Add(&c, espyTest_Box(0, 0, 0, 3), false);
    uint32_t nearIt = espyQueryCase_Add(&c, (espyBox){{-0.2f, -0.2f, -0.3f}, {0.2f, 0.2f, -0.09f}}, false);
    uint32_t small = espyQueryCase_Add(&c, espyTest_Box(0, 0, -300, 0.05f), false);
    // A sheet that is seen along its plane, and a pole thinner than a pixel.
    uint32_t sheet = espyQueryCase_Add(&c, (espyBox){{-30, 0, -300}, {30, 0, -260}}, false);
    uint32_t pole = espyQueryCase_Add(&c, (espyBox){{50, -20, -300}, {50.1f, 20, -299.9f}}, false);
    // A box beside the eye that crosses the plane of the near rectangle, but not the rectangle.
    uint32_t beside = espyQueryCase_Add(&c, (espyBox){{3, -2, -20}, {4, 2, 5}}, false);
    for (uint32_t frame = 0; frame < 6; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_int_equal(espyQueryCase_Reason(&c, inside), espyQueryReason_NearPlane);
        assert_int_equal(espyQueryCase_Reason(&c, nearIt), espyQueryReason_NearPlane);
        assert_int_equal(espyQueryCase_Reason(&c, small), espyQueryReason_Small);
        assert_int_equal(espyQueryCase_Reason(&c, sheet), espyQueryReason_Small);
        assert_int_equal(espyQueryCase_Reason(&c, pole), espyQueryReason_Small);
    }
    assert_false(espyQueryCase_IsDrawn(&c, beside));
    assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 1);
    // `smallest` 0 asks about them all the same.
    c.viewDef.smallest = 0.0f;
    assert_int_equal(espyQuerySystem_ConfigureView(c.system, c.view, &c.viewDef), espyResult_Ok);
    espyQueryCase_Frames(&c, 3);
    assert_false(espyQueryCase_IsDrawn(&c, pole));
    espyQueryCase_End(&c);
}

static void test_eye_inside_the_grown_box(void** state)
{
    (void)state;
    // The box is 1 cm from the eye's near rectangle: the bias reaches it, and a movement towards it from further.
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.bias = 0.3f;
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, (espyBox){{-1, -1, -1}, {1, 1, -0.35f}}, false);
    espyQueryCase_Frames(&c, 4);
    assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_NearPlane);
    c.viewDef.bias = 0.01f;
    espyQuerySystem_ConfigureView(c.system, c.view, &c.viewDef);
    espyQueryCase_Frames(&c, 4);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    espyQueryCase_End(&c);
}

static void test_what_was_off_the_screen_is_drawn_when_it_enters(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    espyQueryCase_Start(&c);
    // At 90 degrees and 16:9 the right border is at x = 16/9 of the depth. Half of this wall is outside.
    uint32_t wall = espyQueryCase_Add(&c, (espyBox){{10, -2, -10}, {30, 2, -9}}, false);
    uint32_t middle = espyQueryCase_Add(&c, espyTest_Box(0, 0, -30, 3), false);
    espyQueryCase_Frames(&c, 6);
    assert_false(espyQueryCase_IsDrawn(&c, wall));
    espyTest_Look(&c, (espyVec3){0, 0, 0}, 3);
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, wall));
    assert_int_equal(espyQueryCase_Reason(&c, wall), espyQueryReason_Entering);
    assert_false(espyQueryCase_IsDrawn(&c, middle));
    // Turned back, none of it is new.
    espyQueryCase_Frames(&c, 6);
    assert_false(espyQueryCase_IsDrawn(&c, wall));
    espyTest_Look(&c, (espyVec3){0, 0, 0}, 1);
    espyQueryCase_Frame(&c);
    assert_false(espyQueryCase_IsDrawn(&c, wall));
    // Walking backwards lets its rest in.
    espyQueryCase_Frames(&c, 6);
    espyTest_Look(&c, (espyVec3){0, 0, 0.5f}, 1);
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, wall));
    espyQueryCase_End(&c);
}

static void test_boxes_are_swept_by_movement_and_latency(void** state)
{
    (void)state;
    for (uint32_t latency = 1; latency <= 3; latency += 2)
    {
        espyQueryCase c;
        espyQueryCase_Init(&c, latency);
        c.viewDef.nearestOccluder = 2.0f;
        c.viewDef.maxSweep = 10.0f;
        espyQueryCase_Start(&c);
        uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -20, 1), false);
        for (uint32_t frame = 0; frame < 30; ++frame)
        {
            espyTest_Look(&c, (espyVec3){0.05f * (float)frame, 0, 0}, 0);
            espyQueryCase_Frame(&c);
        }
        espyBox asked = espyQueryCase_ProxyBox(&c.truth.proxy);
        // d (z / e - 1) along the movement, at the farthest corner of about 21 m, and some to all sides.
        float sweep = 0.05f * (float)latency * (21.1f / 2.0f - 1.0f);
        assert_true(fabsf(asked.max.x - 1.0f - 1.25f * sweep) < 0.1f * sweep + 0.03f);
        assert_true(fabsf(-1.0f - asked.min.x - 0.25f * sweep) < 0.1f * sweep + 0.03f);
        assert_false(espyQueryCase_IsDrawn(&c, i));
        // maxSweep limits it.
        c.viewDef.maxSweep = 0.01f;
        espyQuerySystem_ConfigureView(c.system, c.view, &c.viewDef);
        espyTest_Look(&c, (espyVec3){1.5f, 0, 0}, 0);
        espyQueryCase_Frame(&c);
        asked = espyQueryCase_ProxyBox(&c.truth.proxy);
        assert_true(asked.max.x < 1.0f + 1.25f * 0.25f + 0.03f);
        // At rest there is the bias alone; turning adds a pixel.
        espyQueryCase_Frame(&c);
        asked = espyQueryCase_ProxyBox(&c.truth.proxy);
        assert_true(fabsf(asked.max.x - 1.01f) < 0.003f);
        espyTest_Look(&c, (espyVec3){1.5f, 0, 0}, 1);
        espyQueryCase_Frame(&c);
        asked = espyQueryCase_ProxyBox(&c.truth.proxy);
        assert_true(fabsf(asked.max.x - 1.01f - 21.0f * 2.0f / 720.0f) < 0.005f);
        espyQueryCase_End(&c);
    }
}

static void test_orthographic_views(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.camera.eye.projection = espyMat4_Orthographic(-20, 20, -20, 20, 0.1f, 500.0f, false);
    espyQueryCase_Start(&c);
    uint32_t hidden = espyQueryCase_Add(&c, espyTest_Box(0, 0, -100, 2), false);
    uint32_t shown = espyQueryCase_Add(&c, espyTest_Box(10, 0, -100, 2), true);
    uint32_t small = espyQueryCase_Add(&c, espyTest_Box(5, 5, -5, 0.01f), false);
    uint32_t cut = espyQueryCase_Add(&c, espyTest_Box(-5, 5, 0, 1), false);
    espyQueryCase_Frames(&c, 5);
    assert_false(espyQueryCase_IsDrawn(&c, hidden));
    assert_true(espyQueryCase_IsDrawn(&c, shown));
    assert_int_equal(espyQueryCase_Reason(&c, small), espyQueryReason_Small);
    assert_int_equal(espyQueryCase_Reason(&c, cut), espyQueryReason_NearPlane);
    espyQueryCase_End(&c);
}

static void test_cameras_of_no_use_draw_everything(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    uint32_t behind = espyQueryCase_Add(&c, espyTest_Box(0, 0, 10, 1), false);
    espyQueryCase_Frames(&c, 5);
    espyViewDef good = c.camera.eye;
    c.camera.eye.view.m[0] = (float)NAN;
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, i) && espyQueryCase_IsDrawn(&c, behind));
    memset(&c.camera.eye.view, 0, sizeof c.camera.eye.view);
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, i) && espyQueryCase_IsDrawn(&c, behind));
    c.camera.eye = good;
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, i));
    assert_int_equal(espyQueryCase_Reason(&c, behind), espyQueryReason_Outside);
    espyQueryCase_Frames(&c, 2);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    c.camera.width = 0;
    assert_int_equal(espyQuerySystem_Cull(c.system, c.view, &c.camera), espyResult_InvalidArgument);
    espyQueryCase_End(&c);
}

// --- objects

static void test_recycled_and_moved_objects_count_as_new(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 3);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    espyQueryCase_Frames(&c, 10);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    // The same place, the same slot, another owner; answers of the old one are on their way.
    espyQueryObjectId old = c.ids[i];
    assert_int_equal(espyQuerySystem_RemoveObject(c.system, old), espyResult_Ok);
    assert_int_equal(espyQuerySystem_RemoveObject(c.system, old), espyResult_InvalidId);
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    def.box = espyTest_Box(0, 0, -10, 1);
    assert_int_equal(espyQuerySystem_AddObject(c.system, &def, &c.ids[i]), espyResult_Ok);
    assert_int_equal(c.ids[i].index1, old.index1);
    assert_false(espyQuerySystem_IsObject(c.system, old));
    for (uint32_t frame = 0; frame < 3; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_New);
    }
    espyQueryCase_Frame(&c);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    // A step is no jump.
    c.truth.boxes[i] = espyTest_Box(0.2f, 0, -10, 1);
    assert_int_equal(espyQuerySystem_SetBox(c.system, c.ids[i], c.truth.boxes[i]), espyResult_Ok);
    espyQueryCase_Frame(&c);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    // It is asked about grown by what it may move until the answer counts.
    espyBox asked = espyQueryCase_ProxyBox(&c.truth.proxy);
    assert_true(asked.max.x > 1.2f + 0.2f * 3.0f && asked.max.x < 1.2f + 0.2f * 3.0f + 0.1f);
    // A jump is one, whether it overlaps the old place or not.
    c.truth.boxes[i] = espyTest_Box(4, 0, -10, 1);
    espyQuerySystem_SetBox(c.system, c.ids[i], c.truth.boxes[i]);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_New);
    espyQueryCase_Frames(&c, 6);
    c.truth.boxes[i] = espyTest_Box(4, 0, -10, 5);
    espyQuerySystem_SetBox(c.system, c.ids[i], c.truth.boxes[i]);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_New);
    // Boxes of no use are drawn, wherever they are, until they have a place.
    espyQueryCase_Frames(&c, 6);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    espyQuerySystem_SetBox(c.system, c.ids[i], (espyBox){{0, 0, 0}, {(float)NAN, 1, 1}});
    espyQueryCase_Frames(&c, 6);
    assert_true(espyQueryCase_IsDrawn(&c, i));
    espyQuerySystem_SetBox(c.system, c.ids[i], c.truth.boxes[i]);
    espyQueryCase_Frames(&c, 6);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    espyQueryCase_End(&c);
}

static void test_an_object_added_below_a_hidden_node(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    espyQueryCase_Start(&c);
    for (uint32_t i = 0; i < 64; ++i)
    {
        espyQueryCase_Add(&c, espyTest_Box((float)(i % 8) * 2.0f - 8.0f, (float)(i / 8) * 2.0f - 8.0f, -40, 0.8f),
                          false);
    }
    espyQuerySystem_Rebuild(c.system);
    espyQueryCase_Frames(&c, 120);
    assert_int_equal(espyQueryCase_Reason(&c, 20), espyQueryReason_HiddenNode);
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 1, 6);
    espyQueryDecision decision = espyQuerySystem_Explain(c.system, c.view, c.ids[20]);
    assert_true(decision.depth > 0 && decision.age >= 2 && decision.age <= 4);
    // A new one in the middle is drawn, and its neighbours need no doubt.
    uint32_t fresh = espyQueryCase_Add(&c, espyTest_Box(0.9f, 0.9f, -40, 0.3f), true);
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, fresh));
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < 64; ++i)
    {
        drawn += espyQueryCase_IsDrawn(&c, i) ? 1u : 0u;
    }
    assert_true(drawn <= 4);
    for (uint32_t frame = 0; frame < 60; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_true(espyQueryCase_IsDrawn(&c, fresh));
    }
    espyQueryCase_End(&c);
}

static void test_objects_of_the_callers_tree(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    // Two octants below one root, and an object of no node.
    static const uint32_t parents[] = {ESPY_QUERY_NO_NODE, 0, 0}, bad[] = {0};
    assert_int_equal(espyQuerySystem_SetTree(c.system, bad, 1), espyResult_InvalidArgument);
    assert_int_equal(espyQuerySystem_SetTree(c.system, parents, 3), espyResult_Ok);
    for (uint32_t i = 0; i < 16; ++i)
    {
        c.truth.boxes[i] = espyTest_Box((float)(i % 8) - 4.0f, i < 8 ? -8.0f : 8.0f, -30, 0.4f);
        espyQueryObjectDef def = espyQueryObjectDef_Default();
        def.box = c.truth.boxes[i];
        def.treeNode = 1u + i / 8u;
        assert_int_equal(espyQuerySystem_AddObject(c.system, &def, &c.ids[i]), espyResult_Ok);
        def.treeNode = 3;
        espyQueryObjectId none;
        assert_int_equal(espyQuerySystem_AddObject(c.system, &def, &none), espyResult_InvalidArgument);
    }
    c.truth.count = 16;
    uint32_t alone = espyQueryCase_Add(&c, espyTest_Box(0, 0, -30, 1), true);
    assert_int_equal(espyQuerySystem_SetTree(c.system, parents, 3), espyResult_InvalidArgument);
    espyQueryCase_Frames(&c, 60);
    // Each octant is one question; above them something shows.
    assert_int_equal(espyQuerySystem_Explain(c.system, c.view, c.ids[3]).reason, espyQueryReason_HiddenNode);
    assert_true(espyQuerySystem_Explain(c.system, c.view, c.ids[3]).depth <= 2);
    assert_true(espyQueryCase_IsDrawn(&c, alone));
    c.truth.shows[12] = 1;
    espyQueryCase_Frames(&c, 20);
    assert_true(espyQueryCase_IsDrawn(&c, 12));
    assert_false(espyQueryCase_IsDrawn(&c, 3));
    for (uint32_t i = 0; i < 16; ++i)
    {
        assert_int_equal(espyQuerySystem_RemoveObject(c.system, c.ids[i]), espyResult_Ok);
    }
    espyQueryCase_Frames(&c, 3);
    espyQueryCase_End(&c);
}

static void test_rebuilding_keeps_what_is_known_of_objects(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    for (uint32_t i = 0; i < 100; ++i)
    {
        espyQueryCase_Add(&c, espyTest_Box((float)(i % 10) * 2.0f - 10.0f, (float)(i / 10) - 5.0f, -30, 0.3f),
                          i % 10 == 0);
    }
    c.viewDef.maxGroup = 1; // Each object has answers of its own.
    espyQuerySystem_ConfigureView(c.system, c.view, &c.viewDef);
    espyQueryCase_Frames(&c, 20);
    espyQuerySystem_Rebuild(c.system);
    espyQueryCase_Frame(&c);
    for (uint32_t i = 0; i < 100; ++i)
    {
        assert_int_equal(espyQueryCase_IsDrawn(&c, i), i % 10 == 0);
    }
    // Empty and single trees.
    espyQuerySystem* system;
    espyQuerySystemDef def = espyQuerySystemDef_Default();
    def.device = &c.device;
    assert_int_equal(espyQuerySystem_Create(&def, &system), espyResult_Ok);
    espyQuerySystem_Rebuild(system);
    espyQueryObjectDef object = espyQueryObjectDef_Default();
    espyQueryObjectId id;
    object.box = espyTest_Box(0, 0, 0, 1);
    espyQuerySystem_AddObject(system, &object, &id);
    espyQuerySystem_Rebuild(system);
    // All at one place, more than halving can part.
    for (uint32_t i = 0; i < 300; ++i)
    {
        assert_int_equal(espyQuerySystem_AddObject(system, &object, &id), espyResult_Ok);
    }
    espyQuerySystem_Rebuild(system);
    assert_int_equal(espyQuerySystem_GetObjectCount(system), 301);
    espyQuerySystem_Destroy(system);
    espyQuerySystem_Rebuild(NULL);
    espyQueryCase_End(&c);
}

static void test_proxies_of_the_caller(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyVec3 positions[8];
    uint32_t indices[36];
    espyRasterCase_Box((espyBox){{0, 0, 0}, {1, 1, 1}}, positions, indices);
    espyTriangles triangles = {positions, indices, 8, 12};
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    def.box = espyTest_Box(0, 0, -20, 2);
    def.proxy = true;
    assert_int_equal(c.device.createMesh(c.device.context, &triangles, true, &def.mesh), espyResult_Ok);
    def.toWorld = espyMat4_FromTrs((espyVec3){-1, -1, -21}, (float[4]){0, 0, 0, 1}, (espyVec3){2, 2, 2});
    assert_int_equal(espyQuerySystem_AddObject(c.system, &def, &c.ids[0]), espyResult_Ok);
    espyQueryCase_Frame(&c);
    assert_true(c.truth.proxy.mesh.value == def.mesh.value);
    // Stretched about the box by what the box has grown: 1 cm of 2 m.
    espyVec3 corner = espyMat4_TransformPoint(c.truth.proxy.toWorld, (espyVec3){1, 1, 1});
    assert_true(fabsf(corner.x - 1.005f) < 1e-3f && fabsf(corner.z + 18.995f) < 1e-3f);
    espyMat4 moved = espyMat4_FromTrs((espyVec3){-0.9f, -1, -21}, (float[4]){0, 0, 0, 1}, (espyVec3){2, 2, 2});
    assert_int_equal(espyQuerySystem_SetBoxAndProxy(c.system, c.ids[0], espyTest_Box(0.1f, 0, -20, 2), moved),
                     espyResult_Ok);
    espyQueryCase_Frames(&c, 8);
    corner = espyMat4_TransformPoint(c.truth.proxy.toWorld, (espyVec3){1, 1, 1});
    assert_true(fabsf(corner.x - 1.105f) < 1e-3f);
    moved.m[3] = (float)NAN;
    assert_int_equal(espyQuerySystem_SetBoxAndProxy(c.system, c.ids[0], def.box, moved), espyResult_InvalidArgument);
    espyQueryCase_End(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_drawn_until_answers_come),
        cmocka_unit_test(test_shown_at_once_hidden_after_some),
        cmocka_unit_test(test_pending_keeps_the_state_and_expires),
        cmocka_unit_test(test_forged_and_repeated_answers_are_dropped),
        cmocka_unit_test(test_answers_out_of_order),
        cmocka_unit_test(test_cuts_by_call_and_by_movement),
        cmocka_unit_test(test_answers_from_before_a_cut_are_void),
        cmocka_unit_test(test_near_plane_small_and_edge_on),
        cmocka_unit_test(test_eye_inside_the_grown_box),
        cmocka_unit_test(test_what_was_off_the_screen_is_drawn_when_it_enters),
        cmocka_unit_test(test_boxes_are_swept_by_movement_and_latency),
        cmocka_unit_test(test_orthographic_views),
        cmocka_unit_test(test_cameras_of_no_use_draw_everything),
        cmocka_unit_test(test_recycled_and_moved_objects_count_as_new),
        cmocka_unit_test(test_an_object_added_below_a_hidden_node),
        cmocka_unit_test(test_objects_of_the_callers_tree),
        cmocka_unit_test(test_rebuilding_keeps_what_is_known_of_objects),
        cmocka_unit_test(test_proxies_of_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
