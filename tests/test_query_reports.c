// SPDX-License-Identifier: MIT
// Faults of occlusion queries that people reported of other engines, each with the smallest input that shows it. On the
// software device, which draws.
#include "query_case.h"

#include "tests/test_main.h"

#include <math.h>
#include <string.h>

/// Boxes that are drawn as what they are, on a software device with a target of its own for each view.
typedef struct espyReport
{
    espyDevice device;
    espyQuerySystem* system;
    espyBox boxes[64];
    espyQueryObjectId ids[64];
    uint32_t count;
    uint64_t frame;
} espyReport;

typedef struct espyReportView
{
    espyQueryViewId view;
    espyDeviceTarget target;
    espyQueryCamera camera;
} espyReportView;

static void espyReport_Start(espyReport* r, uint32_t latency)
{
    *r = (espyReport){0};
    espySoftDeviceDef def = espySoftDeviceDef_Default();
    def.latency = latency;
    assert_int_equal(espySoftDevice_Create(&def, &r->device), espyResult_Ok);
    espyQuerySystemDef systemDef = espyQuerySystemDef_Default();
    systemDef.device = &r->device;
    assert_int_equal(espyQuerySystem_Create(&systemDef, &r->system), espyResult_Ok);
}

static void espyReport_End(espyReport* r)
{
    espyQuerySystem_Destroy(r->system);
    espySoftDevice_Destroy(&r->device);
}

static espyReportView espyReport_AddView(espyReport* r)
{
    espyReportView v = {.camera = espyQueryCamera_Default()};
    espyQueryViewDef def = espyQueryViewDef_Default();
    def.autoOff = false;
    assert_int_equal(espyQuerySystem_CreateView(r->system, &def, &v.view), espyResult_Ok);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = v.camera.width = 320;
    targetDef.height = v.camera.height = 180;
    targetDef.reversedZ = true;
    assert_int_equal(r->device.createTarget(r->device.context, &targetDef, &v.target), espyResult_Ok);
    return v;
}

static uint32_t espyReport_Add(espyReport* r, espyBox box)
{
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    def.box = r->boxes[r->count] = box;
    assert_int_equal(espyQuerySystem_AddObject(r->system, &def, &r->ids[r->count]), espyResult_Ok);
    return r->count++;
}

static void espyReport_Look(espyReportView* v, espyVec3 eye, espyVec3 target)
{
    espyLens lens = {.reversedZ = true, .nearDistance = 0.1f, .halfHeight = 0.6f, .aspect = 16.0f / 9.0f};
    espyQueryCase_Look(&v->camera.eye, eye, target, &lens);
}

/// One frame of all views; the depth is that of what each view draws.
static void espyReport_Frame(espyReport* r, espyReportView* views, uint32_t count)
{
    const espyDevice* d = &r->device;
    ++r->frame;
    assert_int_equal(d->beginFrame(d->context, r->frame), espyResult_Ok);
    assert_int_equal(espyQuerySystem_BeginFrame(r->system, r->frame), espyResult_Ok);
    for (uint32_t k = 0; k < count; ++k)
    {
        espyReportView* v = &views[k];
        assert_int_equal(espyQuerySystem_Cull(r->system, v->view, &v->camera), espyResult_Ok);
        espyDevicePass pass = {.target = v->target, .clearDepth = true};
        pass.viewProjection[0] = espyMat4_Multiply(v->camera.eye.projection, v->camera.eye.view);
        pass.viewProjection[1] = pass.viewProjection[0];
        assert_int_equal(d->beginPass(d->context, &pass), espyResult_Ok);
        uint32_t drawn;
        const espyQueryObjectId* draws = espyQuerySystem_GetDraws(r->system, v->view, &drawn);
        for (uint32_t i = 0; i < drawn; ++i)
        {
            espyBox box = r->boxes[draws[i].index1 - 1];
            espyVec3 centre = {0.5f * (box.min.x + box.max.x), 0.5f * (box.min.y + box.max.y),
                               0.5f * (box.min.z + box.max.z)};
            espyVec3 half = {box.max.x - centre.x, box.max.y - centre.y, box.max.z - centre.z};
            espyDeviceDraw draw = {.toWorld = espyMat4_FromTrs(centre, (float[4]){0, 0, 0, 1}, half)};
            assert_int_equal(d->drawDepth(d->context, &draw, 1), espyResult_Ok);
        }
        assert_int_equal(espyQuerySystem_Submit(r->system, v->view), espyResult_Ok);
        assert_int_equal(d->endPass(d->context), espyResult_Ok);
    }
    assert_int_equal(d->endFrame(d->context), espyResult_Ok);
}

static void espyReport_Frames(espyReport* r, espyReportView* views, uint32_t count, uint32_t frames)
{
    for (uint32_t i = 0; i < frames; ++i)
    {
        espyReport_Frame(r, views, count);
    }
}

static bool espyReport_IsDrawn(const espyReport* r, const espyReportView* v, uint32_t i)
{
    espyVisibility visibility = espyQuerySystem_Explain(r->system, v->view, r->ids[i]).visibility;
    return visibility != espyVisibility_Occluded && visibility != espyVisibility_Outside;
}

static espyBox espyReport_Cube(float x, float y, float z, float r)
{
    return (espyBox){{x - r, y - r, z - r}, {x + r, y + r, z + r}};
}

static void report_19_a_new_object_is_seen_in_its_first_frame(void** state)
{
    (void)state;
    espyReport r;
    espyReport_Start(&r, 2);
    espyReportView v = espyReport_AddView(&r);
    espyReport_Look(&v, (espyVec3){0, 0, 0}, (espyVec3){0, 0, -1});
    espyReport_Add(&r, espyReport_Cube(0, 0, -20, 4));
    espyReport_Frames(&r, &v, 1, 10);
    uint32_t fresh = espyReport_Add(&r, espyReport_Cube(0, 0, -10, 1));
    espyReport_Frame(&r, &v, 1);
    uint32_t count;
    const espyQueryObjectId* draws = espyQuerySystem_GetDraws(r.system, v.view, &count);
    bool drawn = false;
    for (uint32_t i = 0; i < count; ++i)
    {
        drawn = drawn || draws[i].index1 == r.ids[fresh].index1;
    }
    assert_true(drawn);
    espyReport_End(&r);
}

static void report_33_casting_a_shadow_is_not_being_seen(void** state)
{
    (void)state;
    // An enemy behind a wall; its shadow falls past the wall into the view. The editor's camera sees it.
    espyReport r;
    espyReport_Start(&r, 1);
    espyReportView views[3] = {espyReport_AddView(&r), espyReport_AddView(&r), espyReport_AddView(&r)};
    espyReport_Look(&views[0], (espyVec3){0, 1, 0}, (espyVec3){0, 1, -1});
    espyReport_Look(&views[1], (espyVec3){0, 1, 0}, (espyVec3){0, 1, -1});
    espyReport_Look(&views[2], (espyVec3){0, 20, -10}, (espyVec3){0, 0, -10.1f});
    views[1].camera.shadow = (espyVec3){6, 0, 4};
    espyReport_Add(&r, (espyBox){{-3, -1, -6}, {3, 4, -5}});
    uint32_t enemy = espyReport_Add(&r, (espyBox){{-0.5f, 0, -9}, {0.5f, 1.8f, -8}});
    espyReport_Frames(&r, views, 3, 12);
    assert_false(espyReport_IsDrawn(&r, &views[0], enemy));
    assert_true(espyReport_IsDrawn(&r, &views[1], enemy)); // Draw it into the shadow map.
    assert_true(espyReport_IsDrawn(&r, &views[2], enemy));
    assert_int_equal(espyQuerySystem_Explain(r.system, views[0].view, r.ids[enemy]).visibility,
                     espyVisibility_Occluded);
    espyReport_End(&r);
}

static void report_39_a_recycled_slot_gets_no_answer_of_its_last_owner(void** state)
{
    (void)state;
    espyReport r;
    espyReport_Start(&r, 3);
    espyReportView v = espyReport_AddView(&r);
    espyReport_Look(&v, (espyVec3){0, 0, 0}, (espyVec3){0, 0, -1});
    espyReport_Add(&r, (espyBox){{-4, -4, -6}, {4, 4, -5}});
    uint32_t i = espyReport_Add(&r, espyReport_Cube(0, 0, -10, 1));
    espyReport_Frames(&r, &v, 1, 12);
    assert_false(espyReport_IsDrawn(&r, &v, i));
    for (uint32_t wait = 0; wait < 5; ++wait)
    {
        // The old owner's answers, all "hidden", are still on their way. The new one stands in front.
        espyQueryObjectId old = r.ids[i];
        espyQuerySystem_RemoveObject(r.system, old);
        espyQueryObjectDef def = espyQueryObjectDef_Default();
        def.box = r.boxes[i] = espyReport_Cube(0, 0, -3, 0.5f);
        assert_int_equal(espyQuerySystem_AddObject(r.system, &def, &r.ids[i]), espyResult_Ok);
        assert_int_equal(r.ids[i].index1, old.index1);
        for (uint32_t frame = 0; frame < 8; ++frame)
        {
            espyReport_Frame(&r, &v, 1);
            assert_true(espyReport_IsDrawn(&r, &v, i));
        }
        espyQuerySystem_RemoveObject(r.system, r.ids[i]);
        def.box = r.boxes[i] = espyReport_Cube(0, 0, -10, 1);
        espyQuerySystem_AddObject(r.system, &def, &r.ids[i]);
        espyReport_Frames(&r, &v, 1, 12 + wait);
        assert_false(espyReport_IsDrawn(&r, &v, i));
    }
    espyReport_End(&r);
}

static void report_41_a_box_is_seen_from_every_side_and_from_inside(void** state)
{
    (void)state;
    for (int dx = -1; dx <= 1; ++dx)
    {
        for (int dy = -1; dy <= 1; ++dy)
        {
            for (int dz = -1; dz <= 1; ++dz)
            {
                espyReport r;
                espyReport_Start(&r, 1);
                espyReportView v = espyReport_AddView(&r);
                uint32_t i = espyReport_Add(&r, espyReport_Cube(5, 6, 7, 1));
                // From all 26 sides, and from the middle.
                espyVec3 eye = {5 + 6.0f * (float)dx, 6 + 6.0f * (float)dy, 7 + 6.0f * (float)dz};
                bool inside = dx == 0 && dy == 0 && dz == 0;
                espyReport_Look(&v, eye, inside ? (espyVec3){9, 6, 7} : (espyVec3){5, 6, 7});
                for (uint32_t frame = 0; frame < 20; ++frame)
                {
                    espyReport_Frame(&r, &v, 1);
                    assert_true(espyReport_IsDrawn(&r, &v, i));
                }
                assert_int_equal(espyQuerySystem_Explain(r.system, v.view, r.ids[i]).reason,
                                 inside ? espyQueryReason_NearPlane : espyQueryReason_Visible);
                espyReport_End(&r);
            }
        }
    }
}

/// What of the boxes can be seen in a view: all are drawn with their ids.
static void espyReport_Seen(espyRaster* raster, const espyReport* r, const espyReportView* v, bool seen[64])
{
    espyMat4 viewProjection = espyMat4_Multiply(v->camera.eye.projection, v->camera.eye.view);
    espyRaster_Begin(raster, &viewProjection);
    for (uint32_t i = 0; i < r->count; ++i)
    {
        espyVec3 positions[8];
        uint32_t indices[36];
        espyRasterCase_Box(r->boxes[i], positions, indices);
        espyTriangles triangles = {positions, indices, 8, 12};
        espyRaster_DrawTriangles(raster, &triangles, NULL, i, false);
        seen[i] = false;
    }
    for (int32_t y = 0; y < espyRaster_GetHeight(raster); ++y)
    {
        for (int32_t x = 0; x < espyRaster_GetWidth(raster); ++x)
        {
            uint32_t id = espyRaster_GetId(raster, x, y);
            if (id != ESPY_RASTER_NO_ID)
            {
                seen[id] = true;
            }
        }
    }
}

static void report_43_late_answers_do_not_pop_and_nobody_waits(void** state)
{
    (void)state;
    espyRasterDef rasterDef = espyRasterDef_Default();
    rasterDef.width = 320;
    rasterDef.height = 180;
    rasterDef.ids = true;
    rasterDef.reversedZ = true;
    espyRaster* raster;
    assert_int_equal(espyRaster_Create(&rasterDef, &raster), espyResult_Ok);
    for (uint32_t latency = 0; latency <= 4; ++latency)
    {
        for (int drops = 0; drops < 2; ++drops)
        {
            // The software device draws; a mock between delays its answers and loses some.
            espyReport r;
            espyReport_Start(&r, 0);
            espyDevice soft = r.device;
            espyMockDeviceDef mockDef = espyMockDeviceDef_Default();
            mockDef.inner = &soft;
            mockDef.faults.latency = latency;
            mockDef.faults.dropShare = drops ? 0.3f : 0.0f;
            assert_int_equal(espyMockDevice_Create(&mockDef, &r.device), espyResult_Ok);
            assert_int_equal(espyQuerySystem_SetDevice(r.system, &r.device), espyResult_Ok);
            espyReportView v = espyReport_AddView(&r);
            for (uint32_t i = 0; i < 8; ++i)
            {
                // Walls with gaps, and boxes behind them, on two sides.
                float x = (float)i * 4.0f - 14.0f;
                espyReport_Add(&r, (espyBox){{x - 1.6f, -2, -8.5f}, {x + 1.6f, 3, -8}});
                espyReport_Add(&r, espyReport_Cube(x, 0, -13, 0.7f));
                espyReport_Add(&r, (espyBox){{x - 1.6f, -2, 8}, {x + 1.6f, 3, 8.5f}});
                espyReport_Add(&r, espyReport_Cube(x, 0, 13, 0.7f));
            }
            uint32_t longest = 0, missing[64] = {0}, hidden = 0;
            for (uint32_t frame = 0; frame < 120; ++frame)
            {
                // A walk along the walls; a turn of 180 degrees in one frame; a teleport that is announced.
                float x = 0.04f * (float)(frame % 60) + (frame >= 90 ? -10.0f : 0.0f);
                float side = frame >= 45 && frame < 90 ? 1.0f : -1.0f;
                espyReport_Look(&v, (espyVec3){x, 0, 0}, (espyVec3){x, 0, side});
                v.camera.cut = frame == 90;
                espyReport_Frame(&r, &v, 1);
                bool seen[64];
                espyReport_Seen(raster, &r, &v, seen);
                for (uint32_t i = 0; i < r.count; ++i)
                {
                    bool drawn = espyReport_IsDrawn(&r, &v, i);
                    missing[i] = seen[i] && !drawn ? missing[i] + 1u : 0u;
                    longest = missing[i] > longest ? missing[i] : longest;
                    hidden += drawn ? 0u : 1u;
                    // First frames and cuts are visible.
                    assert_true(!seen[i] || drawn || (frame != 0 && frame != 45 && frame != 90));
                }
            }
            assert_true(longest <= (drops ? 12u : latency + 1u));
            assert_true(hidden > 500);
            espyMockCounts counts;
            espyMockDevice_GetCounts(&r.device, &counts);
            assert_int_equal(counts.waits, 0);
            assert_int_equal(counts.violations, 0);
            espyMockDevice_Destroy(&r.device);
            r.device = soft;
            espyReport_End(&r);
        }
    }
    espyRaster_Destroy(raster);
}

static void test_exact_pictures_hide_nothing_that_shows(void** state)
{
    (void)state;
    espyRasterDef rasterDef = espyRasterDef_Default();
    rasterDef.width = 320;
    rasterDef.height = 180;
    rasterDef.ids = true;
    rasterDef.reversedZ = true;
    espyRaster* raster;
    assert_int_equal(espyRaster_Create(&rasterDef, &raster), espyResult_Ok);
    espyReport r;
    espyReport_Start(&r, 0);
    espyReportView v = espyReport_AddView(&r);
    espyQueryViewDef def = espyQuerySystem_GetViewDef(r.system, v.view);
    def.exact = true;
    assert_int_equal(espyQuerySystem_ConfigureView(r.system, v.view, &def), espyResult_Ok);
    for (uint32_t i = 0; i < 60; ++i)
    {
        float a = (float)i * 2.399963f, far = 3.0f + 0.4f * (float)i;
        espyReport_Add(&r,
                       espyReport_Cube(far * cosf(a), 0.3f * sinf(5.0f * a), far * sinf(a), 1.2f - 0.012f * (float)i));
    }
    uint32_t hidden = 0;
    for (uint32_t frame = 0; frame < 30; ++frame)
    {
        float a = 1.7f * (float)frame;
        espyReport_Look(&v, (espyVec3){sinf(a), 0, 0.5f}, (espyVec3){sinf(a) + cosf(a), 0, 0.5f + sinf(a)});
        espyReport_Frame(&r, &v, 1);
        assert_int_equal(espyQuerySystem_Wait(r.system, v.view, NULL, NULL), espyResult_Ok);
        bool seen[64];
        espyReport_Seen(raster, &r, &v, seen);
        for (uint32_t i = 0; i < r.count; ++i)
        {
            assert_true(!seen[i] || espyReport_IsDrawn(&r, &v, i));
            espyQueryReason reason = espyQuerySystem_Explain(r.system, v.view, r.ids[i]).reason;
            hidden += reason == espyQueryReason_Hidden ? 1u : 0u;
        }
    }
    assert_true(hidden > 50);
    espyReport_End(&r);
    espyRaster_Destroy(raster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_19_a_new_object_is_seen_in_its_first_frame),
        cmocka_unit_test(report_33_casting_a_shadow_is_not_being_seen),
        cmocka_unit_test(report_39_a_recycled_slot_gets_no_answer_of_its_last_owner),
        cmocka_unit_test(report_41_a_box_is_seen_from_every_side_and_from_inside),
        cmocka_unit_test(report_43_late_answers_do_not_pop_and_nobody_waits),
        cmocka_unit_test(test_exact_pictures_hide_nothing_that_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
