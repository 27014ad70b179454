// SPDX-License-Identifier: MIT
// Views of the query system: groups, budgets, thresholds, several cameras, costs, exact pictures, what they tell.
#include "query_case.h"

#include "core/core.h"
#include "tests/hook_counter.h"
#include "tests/task_case.h"
#include "tests/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static espyBox espyTest_Box(float x, float y, float z, float r)
{
    return (espyBox){{x - r, y - r, z - r}, {x + r, y + r, z + r}};
}

/// `side` x `side` small boxes in the middle of the view.
static void espyTest_Grid(espyQueryCase* c, uint32_t side, bool shows)
{
    float half = (float)side;
    for (uint32_t i = 0; i < side * side; ++i)
    {
        espyQueryCase_Add(c, espyTest_Box((float)(i % side) * 2.0f - half, (float)(i / side) * 2.0f - half, -50, 0.5f),
                          shows);
    }
    espyQuerySystem_Rebuild(c->system);
}

static uint32_t espyTest_CountDrawn(const espyQueryCase* c)
{
    uint32_t count;
    espyQuerySystem_GetDraws(c->system, c->view, &count);
    return count;
}

// --- groups

static void test_a_hidden_tree_is_one_question(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 16, false);
    espyQueryCase_Frames(&c, 4);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    uint64_t first = espyQueryCase_Stats(&c).frame.queries;
    espyQueryCase_Frames(&c, 150);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 1, 2);
    assert_true(first > 20);
    // Tight bounds: the question is about the boxes below the node.
    assert_in_range(espyQueryCase_Stats(&c).frame.proxies, 1, 16);
    // One of them shows: all are drawn as long as nobody knows which, then only that one.
    c.truth.shows[100] = 1;
    espyQueryCase_Frames(&c, 2);
    assert_false(espyQueryCase_IsDrawn(&c, 100));
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, 100));
    bool revealed = false;
    for (uint32_t i = 0; i < 256; ++i)
    {
        revealed = revealed || espyQueryCase_Reason(&c, i) == espyQueryReason_Revealed;
    }
    assert_true(revealed);
    for (uint32_t frame = 0; frame < 200; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_true(espyQueryCase_IsDrawn(&c, 100));
        assert_true(frame < 20 || espyTest_CountDrawn(&c) == 1);
    }
    // The rest of the tree is asked about by nodes again.
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 1, 40);
    espyQueryCase_End(&c);
}

static void test_no_hierarchy_and_no_batches_where_not_wanted(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.maxGroup = 1;
    c.viewDef.maxBatch = 1;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 10, false);
    espyQueryCase_Frames(&c, 100);
    assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 100);
    assert_int_equal(espyQueryCase_Stats(&c).frame.proxies, 100);
    // Multiqueries alone: the best size by benefit over cost is about 10 where all has long been hidden.
    c.viewDef.maxBatch = 64;
    espyQuerySystem_ConfigureView(c.system, c.view, &c.viewDef);
    espyQueryCase_Frames(&c, 100);
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 8, 16);
    assert_int_equal(espyQueryCase_Stats(&c).frame.proxies, 100);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    // A question that fails reveals its own members alone, and those are asked about alone.
    c.truth.shows[37] = 1;
    espyQueryCase_Frames(&c, 2);
    assert_in_range(espyTest_CountDrawn(&c), 2, 16);
    assert_true(espyQueryCase_IsDrawn(&c, 37));
    espyQueryCase_Frames(&c, 3);
    assert_int_equal(espyTest_CountDrawn(&c), 1);
    assert_true(espyQueryCase_IsDrawn(&c, 37));
    espyQueryCase_End(&c);
}

static void test_groups_come_apart_ahead_of_what_they_meet(void** state)
{
    (void)state;
    // The camera walks sideways; what lies further that way shows. A group near it comes apart before it has to be
    // drawn.
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    c.viewDef.maxBatch = 1;
    c.viewDef.maxSweep = 1.0f;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 8, false);
    espyQueryCase_Frames(&c, 80);
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 1, 2);
    uint32_t shown = espyQueryCase_Add(&c, espyTest_Box(16.0f, -1, -50, 0.5f), true);
    uint32_t most = 0;
    for (uint32_t frame = 0; frame < 60; ++frame)
    {
        espyLens lens = {.nearDistance = 0.1f, .farDistance = 500.0f, .halfHeight = 1.0f, .aspect = 16.0f / 9.0f};
        float x = 0.0008f * (float)(frame * frame);
        espyQueryCase_Look(&c.camera.eye, (espyVec3){x, 0, 0}, (espyVec3){x, 0, -1}, &lens);
        espyQueryCase_Frame(&c);
        uint32_t drawn = 0;
        for (uint32_t i = 0; i < 64; ++i)
        {
            drawn += espyQueryCase_Reason(&c, i) == espyQueryReason_Revealed ? 1u : 0u;
        }
        most = drawn > most ? drawn : most;
        assert_true(espyQueryCase_IsDrawn(&c, shown));
    }
    // Objects whose own boxes met it were drawn; the group never as a whole.
    assert_true(most < 32);
    assert_true(espyQueryCase_Stats(&c).frame.queries > 4);
    espyQueryCase_End(&c);
}

static void test_visible_objects_do_not_ask_at_once(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.visibleInterval = 16;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 20, true);
    espyQueryCase_Frames(&c, 3);
    uint64_t most = 0, sum = 0;
    for (uint32_t frame = 0; frame < 170; ++frame)
    {
        espyQueryCase_Frame(&c);
        uint64_t queries = espyQueryCase_Stats(&c).frame.queries;
        most = queries > most ? queries : most;
        sum += queries;
    }
    // 400 objects, every 17 frames: 23.5 a frame.
    assert_in_range(sum / 170, 18, 28);
    assert_true(most < 60);
    espyQueryCase_End(&c);
}

// --- limits

static void test_budget_is_shared_by_turns(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.maxQueries = 10;
    c.viewDef.maxGroup = 1;
    c.viewDef.maxBatch = 1;
    c.viewDef.visibleInterval = 1;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 10, true);
    // Every object is asked about once in ten frames, none twice before all were.
    espyQueryCase_Frame(&c);
    for (uint32_t frame = 1; frame < 60; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 10);
        assert_int_equal(espyQueryCase_Stats(&c).frame.postponed, 90);
        assert_int_equal(espyTest_CountDrawn(&c), 100);
    }
    uint32_t pending = 0;
    for (uint32_t i = 0; i < 100; ++i)
    {
        espyQueryReason reason = espyQueryCase_Reason(&c, i);
        assert_int_equal(reason, espyQueryReason_Visible);
        pending += espyQuerySystem_Explain(c.system, c.view, c.ids[i]).pending ? 1u : 0u;
    }
    assert_in_range(pending, 10, 20);
    espyQueryCase_End(&c);
}

static void test_hidden_objects_past_the_budget_are_drawn(void** state)
{
    (void)state;
    // 100 hidden objects, 4 questions a frame, 10 frames: 40 at most can be known hidden at a time.
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.maxQueries = 4;
    c.viewDef.maxGroup = 1;
    c.viewDef.maxBatch = 1;
    c.viewDef.timeLimit = 10;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 10, false);
    for (uint32_t frame = 0; frame < 100; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_true(espyTest_CountDrawn(&c) >= 56);
        assert_true(frame < 20 || espyTest_CountDrawn(&c) < 90);
    }
    // Where the tree may be used, the same budget is plenty.
    c.viewDef.maxGroup = 4096;
    c.viewDef.maxBatch = 16;
    espyQuerySystem_ConfigureView(c.system, c.view, &c.viewDef);
    espyQuerySystem_Cut(c.system, c.view);
    espyQueryCase_Frames(&c, 150);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    espyQueryCase_End(&c);
}

static void test_views_share_what_the_device_takes(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyMockDevice_Destroy(&c.device);
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.answer = espyQueryTruth_Answer;
    def.callbackContext = &c.truth;
    def.caps.maxQueriesPerFrame = 30;
    def.faults.latency = 1;
    assert_int_equal(espyMockDevice_Create(&def, &c.device), espyResult_Ok);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    c.device.createTarget(c.device.context, &targetDef, &c.target);
    c.viewDef.maxGroup = 1;
    c.viewDef.maxBatch = 1;
    espyQueryCase_Start(&c);
    espyQueryViewDef other = c.viewDef;
    other.maxQueries = c.viewDef.maxQueries / 2u;
    espyQueryViewId second;
    assert_int_equal(espyQuerySystem_CreateView(c.system, &other, &second), espyResult_Ok);
    espyTest_Grid(&c, 10, true);
    const espyDevice* d = &c.device;
    for (uint64_t frame = 1; frame < 20; ++frame)
    {
        d->beginFrame(d->context, frame);
        espyQuerySystem_BeginFrame(c.system, frame);
        espyQuerySystem_Cull(c.system, c.view, &c.camera);
        espyQuerySystem_Cull(c.system, second, &c.camera);
        espyDevicePass pass = {.target = c.target};
        pass.viewProjection[0] = pass.viewProjection[1] = espyMat4_Identity();
        d->beginPass(d->context, &pass);
        assert_int_equal(espyQuerySystem_Submit(c.system, c.view), espyResult_Ok);
        assert_int_equal(espyQuerySystem_Submit(c.system, second), espyResult_Ok);
        d->endPass(d->context);
        d->endFrame(d->context);
        if (frame == 1)
        {
            assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 20);
            assert_int_equal(espyQuerySystem_GetStats(c.system, second).frame.queries, 10);
        }
    }
    espyMockCounts counts;
    espyMockDevice_GetCounts(&c.device, &counts);
    assert_int_equal(counts.violations, 0);
    espyQueryCase_End(&c);
}

/// A device on which someone else has asked for most of the frame's queries.
static espyResult espyTest_CrowdedQuery(void* context, const espyDeviceQuery* queries, uint32_t count,
                                        const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    espyDevice* inner = (espyDevice*)context;
    return count > 7 ? espyResult_LimitExceeded : inner->query(inner->context, queries, count, proxies, proxyCount);
}

static uint32_t espyTest_CrowdedPoll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    espyDevice* inner = (espyDevice*)context;
    return inner->poll(inner->context, out, capacity);
}

static void test_what_the_device_refuses_is_asked_later(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyDevice inner = c.device;
    espyDevice crowded = espyDevice_Default();
    crowded.context = &inner;
    crowded.caps = inner.caps;
    crowded.query = espyTest_CrowdedQuery;
    crowded.poll = espyTest_CrowdedPoll;
    espyQueryCase_Start(&c);
    assert_int_equal(espyQuerySystem_SetDevice(c.system, &crowded), espyResult_Ok);
    espyTest_Grid(&c, 6, false);
    espyQueryCase_Frame(&c);
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 4, 7);
    espyQueryCase_Frames(&c, 60);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    espyQueryCase_End(&c);
}

static void test_many_objects_start_as_groups(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.maxQueries = 8;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 16, false);
    c.truth.shows[5] = 1;
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 256);
    uint32_t frames = 1;
    while (espyTest_CountDrawn(&c) > 1 && frames < 100)
    {
        espyQueryCase_Frame(&c);
        assert_true(espyQueryCase_IsDrawn(&c, 5));
        ++frames;
    }
    // One by one it would be 32 frames at the least, and those known by then would have expired.
    assert_true(frames < 30);
    espyQueryCase_End(&c);
}

// --- thresholds

static void test_threshold_is_a_share_of_the_proxy(void** state)
{
    (void)state;
    // A box of 100 x 100 pixels, more or less; one tenth of them is 1,000 samples, or 4,000 at 4 samples a pixel.
    for (uint32_t samples = 1; samples <= 4; samples *= 4)
    {
        espyQueryCase c;
        espyQueryCase_Init(&c, 1);
        espyMockDevice_Destroy(&c.device);
        espyMockDeviceDef def = espyMockDeviceDef_Default();
        def.caps.samplesPerPixel = samples;
        def.faults.latency = 1;
        assert_int_equal(espyMockDevice_Create(&def, &c.device), espyResult_Ok);
        espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
        c.device.createTarget(c.device.context, &targetDef, &c.target);
        c.viewDef.threshold = 0.1f;
        c.viewDef.hiddenAfter = 1;
        c.viewDef.visibleInterval = 1;
        espyQueryCase_Start(&c);
        uint32_t i = espyQueryCase_Add(&c, (espyBox){{-1, -1, -7.3f}, {1, 1, -7.2f}}, true);
        for (int resolution = 1; resolution <= 2; ++resolution)
        {
            c.camera.width = 1280 * resolution;
            c.camera.height = 720 * resolution;
            uint64_t tenth = 1000u * samples * (uint32_t)(resolution * resolution);
            const uint64_t below[4] = {tenth * 8 / 10, tenth * 8 / 10, tenth * 8 / 10, tenth * 8 / 10};
            const uint64_t above[4] = {tenth * 13 / 10, tenth * 13 / 10, tenth * 13 / 10, tenth * 13 / 10};
            espyMockDevice_Script(&c.device, below, 4);
            espyQueryCase_Frames(&c, 4);
            assert_false(espyQueryCase_IsDrawn(&c, i));
            espyMockDevice_Script(&c.device, above, 4);
            espyQueryCase_Frames(&c, 4);
            assert_true(espyQueryCase_IsDrawn(&c, i));
        }
        espyQueryCase_End(&c);
    }
}

static void test_kinds_of_questions(void** state)
{
    (void)state;
    for (int kind = 0; kind < 3; ++kind)
    {
        espyQueryCase c;
        espyQueryCase_Init(&c, 1);
        espyMockDevice_Destroy(&c.device);
        espyMockDeviceDef def = espyMockDeviceDef_Default();
        def.answer = espyQueryTruth_Answer;
        def.callbackContext = &c.truth;
        def.faults.latency = 1;
        def.caps.anyQueries = kind != 1;
        def.caps.countQueries = kind != 2;
        assert_int_equal(espyMockDevice_Create(&def, &c.device), espyResult_Ok);
        espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
        c.device.createTarget(c.device.context, &targetDef, &c.target);
        espyQueryCase_Start(&c);
        uint32_t hidden = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
        uint32_t shown = espyQueryCase_Add(&c, espyTest_Box(8, 0, -10, 1), true);
        espyQueryCase_Frames(&c, 5);
        assert_int_equal(c.truth.query.kind, kind == 1 ? espyQueryKind_Count : espyQueryKind_Any);
        assert_false(espyQueryCase_IsDrawn(&c, hidden));
        assert_true(espyQueryCase_IsDrawn(&c, shown));
        espyMockCounts counts;
        espyMockDevice_GetCounts(&c.device, &counts);
        assert_int_equal(counts.violations, 0);
        espyQueryCase_End(&c);
    }
}

// --- several views

static void test_views_know_nothing_of_each_other(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyQueryViewId mirror;
    assert_int_equal(espyQuerySystem_CreateView(c.system, &c.viewDef, &mirror), espyResult_Ok);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    espyQueryCase_Frames(&c, 5);
    assert_false(espyQueryCase_IsDrawn(&c, i));
    // The mirrored camera, with a turned-over matrix, looks for the first time.
    espyQueryCamera turned = c.camera;
    turned.eye.view.m[0] = -1;
    assert_int_equal(espyQuerySystem_Cull(c.system, mirror, &turned), espyResult_Ok);
    uint32_t count;
    espyQuerySystem_GetDraws(c.system, mirror, &count);
    assert_int_equal(count, 1);
    assert_int_equal(espyQuerySystem_Explain(c.system, mirror, c.ids[i]).reason, espyQueryReason_New);
    assert_int_equal(espyQuerySystem_Explain(c.system, c.view, c.ids[i]).reason, espyQueryReason_Hidden);
    // A view that takes the place of another gets none of its answers.
    assert_int_equal(espyQuerySystem_DestroyView(c.system, c.view), espyResult_Ok);
    assert_int_equal(espyQuerySystem_DestroyView(c.system, c.view), espyResult_InvalidId);
    assert_int_equal(espyQuerySystem_Cull(c.system, c.view, &c.camera), espyResult_InvalidId);
    espyQueryViewId old = c.view;
    assert_int_equal(espyQuerySystem_CreateView(c.system, &c.viewDef, &c.view), espyResult_Ok);
    assert_int_equal(c.view.index1, old.index1);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_New);
    espyQueryCase_End(&c);
}

static void test_stereo_is_what_either_eye_sees(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    // Outside the left eye's frustum and inside the right one's.
    uint32_t i = espyQueryCase_Add(&c, (espyBox){{18.0f, -1, -10}, {19, 1, -9.9f}}, false);
    espyViewDef right = c.camera.eye;
    right.view.m[12] = -3.0f;
    espyQueryCase_Frames(&c, 2);
    assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_Outside);
    c.camera.secondEye = &right;
    espyQueryCase_Frame(&c);
    assert_true(espyQueryCase_IsDrawn(&c, i));
    espyQueryCase_Frames(&c, 3);
    assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_Hidden);
    espyQueryCase_End(&c);
}

static void test_casters_are_asked_about_with_their_shadows(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyQueryViewId shadows;
    assert_int_equal(espyQuerySystem_CreateView(c.system, &c.viewDef, &shadows), espyResult_Ok);
    // High above the view; its shadow falls into it, 20 m down.
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 20, -10, 1), false);
    espyQueryCamera light = c.camera;
    light.shadow = (espyVec3){0, -20, 0};
    for (uint32_t frame = 0; frame < 6; ++frame)
    {
        const espyDevice* d = &c.device;
        ++c.frame;
        d->beginFrame(d->context, c.frame);
        espyQuerySystem_BeginFrame(c.system, c.frame);
        espyQuerySystem_Cull(c.system, c.view, &c.camera);
        espyQuerySystem_Cull(c.system, shadows, &light);
        espyDevicePass pass = {.target = c.target};
        pass.viewProjection[0] = pass.viewProjection[1] = espyMat4_Identity();
        d->beginPass(d->context, &pass);
        espyQuerySystem_Submit(c.system, c.view);
        espyQuerySystem_Submit(c.system, shadows);
        d->endPass(d->context);
        d->endFrame(d->context);
        assert_int_equal(espyQueryCase_Reason(&c, i), espyQueryReason_Outside);
        assert_int_equal(espyQuerySystem_Explain(c.system, shadows, c.ids[i]).reason,
                         frame == 0 ? espyQueryReason_New : espyQueryReason_Hidden);
    }
    // What was asked about reaches from the caster to the end of its shadow.
    espyBox asked = espyQueryCase_ProxyBox(&c.truth.proxy);
    assert_true(asked.min.y < -0.9f && asked.max.y > 20.9f);
    espyQueryCase_End(&c);
}

static void test_candidates_of_baked_data(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 8, false);
    uint32_t bits[2] = {0x0000FFFFu, 0};
    c.camera.candidates = bits;
    c.camera.candidateCount = 64;
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 16);
    assert_in_range(espyQueryCase_Stats(&c).frame.queries, 1, 16);
    assert_int_equal(espyQueryCase_Reason(&c, 40), espyQueryReason_Excluded);
    espyQueryCase_Frames(&c, 80);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 1);
    // New candidates are drawn although the nodes above them were hidden: they were not asked about.
    bits[0] = 0x00FFFFFFu;
    espyQueryCase_Frame(&c);
    for (uint32_t i = 0; i < 64; ++i)
    {
        assert_int_equal(espyQueryCase_IsDrawn(&c, i), i >= 16 && i < 24);
    }
    espyQueryCase_Frames(&c, 60);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    // Without candidates all are, and those that were none are new.
    c.camera.candidates = NULL;
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 40);
    espyQueryCase_Frames(&c, 80);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    // Objects past the count are candidates.
    c.camera.candidates = bits;
    c.camera.candidateCount = 32;
    espyQueryCase_Frame(&c);
    assert_int_equal(espyQueryCase_Reason(&c, 30), espyQueryReason_Excluded);
    assert_true(espyQueryCase_Reason(&c, 40) != espyQueryReason_Excluded);
    espyQueryCase_End(&c);
}

typedef struct espyTestParallel
{
    espyQuerySystem* system;
    espyQueryViewId views[8];
    espyQueryCamera cameras[8];
} espyTestParallel;

static void espyTest_CullOne(void* job, uint32_t index)
{
    espyTestParallel* p = (espyTestParallel*)job;
    espyQuerySystem_Cull(p->system, p->views[index], &p->cameras[index]);
}

/// A walk of eight cameras; hashes everything that is drawn.
static uint64_t espyTest_Walk(const espyTasks* tasks)
{
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 20, false);
    espyiRng rng = espyiRng_Seed(3);
    for (uint32_t i = 0; i < 400; ++i)
    {
        c.truth.shows[i] = espyiRng_Below(&rng, 8) == 0;
    }
    espyTestParallel p = {.system = c.system};
    for (uint32_t v = 0; v < 8; ++v)
    {
        espyQuerySystem_CreateView(c.system, &c.viewDef, &p.views[v]);
    }
    uint64_t hash = 0;
    const espyDevice* d = &c.device;
    for (uint64_t frame = 1; frame < 60; ++frame)
    {
        d->beginFrame(d->context, frame);
        espyQuerySystem_BeginFrame(c.system, frame);
        for (uint32_t v = 0; v < 8; ++v)
        {
            espyLens lens = {.nearDistance = 0.1f, .halfHeight = 1.0f, .aspect = 16.0f / 9.0f};
            float x = 0.02f * (float)frame * (float)v;
            p.cameras[v] = espyQueryCamera_Default();
            espyQueryCase_Look(&p.cameras[v].eye, (espyVec3){x, 0, 0}, (espyVec3){x, 0, -1}, &lens);
        }
        tasks->parallelFor(tasks->context, 8, espyTest_CullOne, &p);
        for (uint32_t v = 0; v < 8; ++v)
        {
            espyDevicePass pass = {.target = c.target};
            pass.viewProjection[0] = pass.viewProjection[1] = espyMat4_Identity();
            d->beginPass(d->context, &pass);
            espyQuerySystem_Submit(c.system, p.views[v]);
            d->endPass(d->context);
            uint32_t count;
            const espyQueryObjectId* draws = espyQuerySystem_GetDraws(c.system, p.views[v], &count);
            for (uint32_t i = 0; i < count; ++i)
            {
                hash = espyiHash_U64(hash, (uint64_t)draws[i].index1);
            }
        }
        d->endFrame(d->context);
    }
    espyQueryCase_End(&c);
    return hash;
}

static void test_views_are_culled_at_the_same_time(void** state)
{
    (void)state;
    espyTasks backwards = espyTaskCase_Backwards(4), threads = espyTaskCase_Threads(4);
    uint64_t hash = espyTest_Walk(&backwards);
    assert_true(hash == espyTest_Walk(&threads));
    assert_true(hash == espyTest_Walk(&backwards));
}

// --- off, frozen, lost

static void test_off_while_it_costs_more_than_it_saves(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    c.viewDef.autoOff = true;
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 10, true);
    espyQueryCase_Frames(&c, 63);
    assert_false(espyQueryCase_Stats(&c).off);
    // Nothing is hidden, so nothing is saved.
    espyQueryCase_Frames(&c, 2);
    assert_true(espyQueryCase_Stats(&c).off);
    assert_int_equal(espyQueryCase_Reason(&c, 0), espyQueryReason_Off);
    espyQueryCase_Frames(&c, 100);
    assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 0);
    assert_int_equal(espyTest_CountDrawn(&c), 100);
    // It tries again after 240 culls, and stays on where it pays.
    memset(c.truth.shows, 0, 100);
    espyQueryCase_Frames(&c, 145);
    assert_false(espyQueryCase_Stats(&c).off);
    espyQueryCase_Frames(&c, 300);
    assert_false(espyQueryCase_Stats(&c).off);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    // Measured costs: where drawing costs nothing, hiding saves nothing.
    espyQueryCosts costs = {.query = 1, .proxy = 1, .object = 0};
    assert_int_equal(espyQuerySystem_SetCosts(c.system, c.view, &costs), espyResult_Ok);
    espyQueryCase_Frames(&c, 130);
    assert_true(espyQueryCase_Stats(&c).off);
    costs.query = -1;
    assert_int_equal(espyQuerySystem_SetCosts(c.system, c.view, &costs), espyResult_InvalidArgument);
    espyQueryCase_End(&c);
}

static void test_switched_off_by_the_caller(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 4, false);
    espyQueryCase_Frames(&c, 10);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    espyQuerySystem_EnableView(c.system, c.view, false);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 16);
    assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 0);
    espyQuerySystem_EnableView(c.system, c.view, true);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 16);
    espyQueryCase_Frames(&c, 2);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    espyQueryCase_End(&c);
}

static void test_frozen_views_stand_still(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 4, false);
    c.truth.shows[3] = c.truth.shows[9] = 1;
    espyQueryCase_Frames(&c, 20);
    assert_int_equal(espyTest_CountDrawn(&c), 2);
    assert_int_equal(espyQuerySystem_FreezeView(c.system, c.view, true), espyResult_Ok);
    assert_true(espyQuerySystem_IsViewFrozen(c.system, c.view));
    uint64_t asked = c.truth.asked;
    espyQueryCamera before = c.camera;
    espyLens lens = {.nearDistance = 0.1f, .halfHeight = 1.0f, .aspect = 1.0f};
    espyQueryCase_Look(&c.camera.eye, (espyVec3){100, 0, 0}, (espyVec3){0, 0, 0}, &lens);
    memset(c.truth.shows, 1, 16);
    espyQueryCase_Frames(&c, 30);
    assert_int_equal(espyTest_CountDrawn(&c), 2);
    assert_true(c.truth.asked == asked);
    // What is removed goes, what is new comes.
    espyQuerySystem_RemoveObject(c.system, c.ids[3]);
    uint32_t fresh = espyQueryCase_Add(&c, espyTest_Box(0, 0, -20, 1), false);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 2);
    assert_true(espyQueryCase_IsDrawn(&c, fresh) && espyQueryCase_IsDrawn(&c, 9));
    // Thawed, it knows nothing.
    espyQuerySystem_FreezeView(c.system, c.view, false);
    c.camera = before;
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 16);
    espyQueryCase_End(&c);
}

static void test_a_lost_device_draws_everything(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyTest_Grid(&c, 4, false);
    espyQueryCase_Frames(&c, 10);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    espyMockDevice_Lose(&c.device);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyQuerySystem_Submit(c.system, c.view), espyResult_Ok); // Nothing is left to ask.
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 16);
    assert_true(espyQueryCase_Stats(&c).off);
    espyQueryCase_Frames(&c, 5);
    // Another device, and it goes on.
    espyMockDevice_Destroy(&c.device);
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.answer = espyQueryTruth_Answer;
    def.callbackContext = &c.truth;
    def.faults.latency = 1;
    assert_int_equal(espyMockDevice_Create(&def, &c.device), espyResult_Ok);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    c.device.createTarget(c.device.context, &targetDef, &c.target);
    espyDevice none = espyDevice_Default();
    assert_int_equal(espyQuerySystem_SetDevice(c.system, &none), espyResult_InvalidArgument);
    assert_int_equal(espyQuerySystem_SetDevice(c.system, &c.device), espyResult_Ok);
    espyQueryCase_Frame(&c);
    assert_int_equal(espyTest_CountDrawn(&c), 16);
    espyQueryCase_Frames(&c, 3);
    assert_int_equal(espyTest_CountDrawn(&c), 0);
    espyQueryCase_End(&c);
}

// --- exact pictures

typedef struct espyTestIdle
{
    espyQueryCase* c;
    uint32_t calls;
} espyTestIdle;

/// Lets time pass on the device.
static bool espyTest_Idle(void* context)
{
    espyTestIdle* idle = (espyTestIdle*)context;
    const espyDevice* d = &idle->c->device;
    d->beginFrame(d->context, idle->c->frame + 1000u + idle->calls);
    d->endFrame(d->context);
    return ++idle->calls < 50;
}

static void test_exact_pictures_wait(void** state)
{
    (void)state;
    for (uint32_t latency = 0; latency <= 3; latency += 3)
    {
        espyQueryCase c;
        espyQueryCase_Init(&c, latency);
        c.viewDef.exact = true;
        espyQueryCase_Start(&c);
        espyTest_Grid(&c, 6, false);
        for (uint32_t frame = 0; frame < 20; ++frame)
        {
            for (uint32_t i = 0; i < 36; ++i)
            {
                c.truth.shows[i] = (i * 7 + frame * 5) % 11 < 3;
            }
            espyQueryCase_Frame(&c);
            assert_int_equal(espyTest_CountDrawn(&c), 36);
            assert_int_equal(espyQueryCase_Stats(&c).frame.queries, 36);
            espyTestIdle idle = {&c, 0};
            assert_int_equal(espyQuerySystem_Wait(c.system, c.view, espyTest_Idle, &idle), espyResult_Ok);
            assert_int_equal(idle.calls, latency);
            c.frame += 2000;
            for (uint32_t i = 0; i < 36; ++i)
            {
                assert_int_equal(espyQueryCase_IsDrawn(&c, i), c.truth.shows[i]);
                assert_int_equal(espyQueryCase_Reason(&c, i),
                                 c.truth.shows[i] ? espyQueryReason_Visible : espyQueryReason_Hidden);
            }
        }
        // A device that never answers: the wait ends, and all is drawn.
        espyMockFaults faults = {.neverReady = true};
        espyQueryCase_SetFaults(&c, &faults);
        espyQueryCase_Frame(&c);
        espyTestIdle idle = {&c, 0};
        assert_int_equal(espyQuerySystem_Wait(c.system, c.view, espyTest_Idle, &idle), espyResult_Ok);
        assert_int_equal(espyTest_CountDrawn(&c), 36);
        espyQueryViewDef plain = c.viewDef;
        plain.exact = false;
        espyQuerySystem_ConfigureView(c.system, c.view, &plain);
        assert_int_equal(espyQuerySystem_Wait(c.system, c.view, NULL, NULL), espyResult_InvalidArgument);
        espyQueryCase_End(&c);
    }
}

// --- what it tells

static void test_histories_and_counts(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    uint32_t other = espyQueryCase_Add(&c, espyTest_Box(0, 0, 10, 1), false);
    espyQueryReason kept[200] = {espyQueryReason_None};
    for (uint32_t frame = 0; frame < 200; ++frame)
    {
        c.truth.shows[i] = frame / 10 % 2;
        espyQueryCase_Frame(&c);
        kept[frame] = espyQueryCase_Reason(&c, i);
        espyQueryReason history[ESPY_QUERY_HISTORY];
        uint32_t count = espyQuerySystem_GetHistory(c.system, c.view, c.ids[i], history);
        assert_int_equal(count, frame + 1 < 64 ? frame + 1 : 64);
        for (uint32_t k = 0; k < count; ++k)
        {
            assert_int_equal(history[k], kept[frame - k]);
        }
        espyQuerySystem_GetHistory(c.system, c.view, c.ids[other], history);
        assert_int_equal(history[0], espyQueryReason_Outside);
    }
    espyQueryStats stats = espyQueryCase_Stats(&c);
    assert_true(stats.total.drawn + stats.total.skipped == stats.total.inFrustum);
    assert_true(stats.total.queries == c.truth.asked);
    assert_true(stats.total.answers > 50 && stats.total.ageSum == stats.total.answers);
    assert_true(stats.bytes > 1000);
    espyQueryReason history[ESPY_QUERY_HISTORY];
    assert_int_equal(espyQuerySystem_GetHistory(c.system, c.view, (espyQueryObjectId){9, 9}, history), 0);
    assert_string_equal(espyQueryReason_GetName(espyQueryReason_HiddenNode), "HiddenNode");
    assert_string_equal(espyQueryReason_GetName(espyQueryReason_Count), "");
    assert_string_equal(espyQueryReason_GetName((espyQueryReason)-1), "");
    espyQueryCase_End(&c);
}

static void test_pops_against_a_reference(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 3);
    espyQueryCase_Start(&c);
    uint32_t i = espyQueryCase_Add(&c, espyTest_Box(0, 0, -10, 1), false);
    uint32_t seen = 0;
    for (uint32_t frame = 0; frame < 20; ++frame)
    {
        espyQueryCase_Frame(&c);
        espyQuerySystem_Compare(c.system, c.view, &seen, 1);
    }
    assert_int_equal(espyQueryCase_Stats(&c).total.pops, 0);
    c.truth.shows[i] = 1;
    seen = 1;
    for (uint32_t frame = 0; frame < 20; ++frame)
    {
        espyQueryCase_Frame(&c);
        assert_int_equal(espyQuerySystem_Compare(c.system, c.view, &seen, 1), espyResult_Ok);
    }
    espyQueryStats stats = espyQueryCase_Stats(&c);
    assert_int_equal(stats.total.pops, 1);
    assert_int_equal(stats.total.missing, 3);
    assert_int_equal(stats.longestMissing, 3);
    espyQueryCase_End(&c);
}

// --- refusals and memory

static void test_settings_out_of_range_are_named(void** state)
{
    (void)state;
    const char* field;
    espyQueryViewDef def = espyQueryViewDef_Default();
    assert_int_equal(espyQueryViewDef_Validate(&def, &field), espyResult_Ok);
    assert_null(field);
#define ESPY_REFUSED(name, value)                                                          \
    def = espyQueryViewDef_Default();                                                      \
    def.name = (value);                                                                    \
    assert_int_equal(espyQueryViewDef_Validate(&def, &field), espyResult_InvalidArgument); \
    assert_string_equal(field, #name)
    ESPY_REFUSED(maxQueries, 0);
    ESPY_REFUSED(maxQueries, 65537);
    ESPY_REFUSED(visibleInterval, 0);
    ESPY_REFUSED(visibleInterval, 65);
    ESPY_REFUSED(hiddenAfter, 0);
    ESPY_REFUSED(timeLimit, 1);
    ESPY_REFUSED(timeLimit, 61);
    ESPY_REFUSED(threshold, 1.5f);
    ESPY_REFUSED(threshold, (float)NAN);
    ESPY_REFUSED(bias, -1.0f);
    ESPY_REFUSED(margin, (float)INFINITY);
    ESPY_REFUSED(smallest, -0.5f);
    ESPY_REFUSED(nearestOccluder, 0.0f);
    ESPY_REFUSED(maxSweep, -0.1f);
    ESPY_REFUSED(cutDistance, -1.0f);
    ESPY_REFUSED(cutAngle, 0.0f);
    ESPY_REFUSED(maxGroup, 0);
    ESPY_REFUSED(maxBatch, 0);
    ESPY_REFUSED(maxBatch, 65);
    ESPY_REFUSED(cookie, 0);
#undef ESPY_REFUSED
    def = espyQueryViewDef_Default();
    def.costs.object = (float)NAN;
    assert_int_equal(espyQueryViewDef_Validate(&def, &field), espyResult_InvalidArgument);
    assert_string_equal(field, "costs");
    assert_int_equal(espyQueryViewDef_Validate(NULL, NULL), espyResult_InvalidArgument);
}

static void test_refusals(void** state)
{
    (void)state;
    espyQueryCase c;
    espyQueryCase_Init(&c, 1);
    espyQueryCase_Start(&c);
    espyQuerySystem* system = c.system;
    espyQuerySystem* other;
    espyQuerySystemDef def = espyQuerySystemDef_Default();
    assert_int_equal(espyQuerySystem_Create(&def, &other), espyResult_InvalidArgument);
    espyDevice blind = c.device;
    blind.caps.anyQueries = blind.caps.countQueries = false;
    def.device = &blind;
    assert_int_equal(espyQuerySystem_Create(&def, &other), espyResult_InvalidArgument);
    assert_int_equal(espyQuerySystem_Create(NULL, &other), espyResult_InvalidArgument);
    espyQueryObjectDef object = espyQueryObjectDef_Default();
    espyQueryObjectId id;
    object.cost = -1;
    assert_int_equal(espyQuerySystem_AddObject(system, &object, &id), espyResult_InvalidArgument);
    object.cost = 1;
    object.toWorld.m[5] = (float)INFINITY;
    assert_int_equal(espyQuerySystem_AddObject(system, &object, &id), espyResult_InvalidArgument);
    assert_int_equal(espyQuerySystem_AddObject(system, &(espyQueryObjectDef){0}, &id), espyResult_InvalidArgument);
    const espyQueryObjectId bad[] = {{0, 0}, {-1, 1}, {1, 1}, {INT32_MAX, 7}};
    for (uint32_t i = 0; i < 4; ++i)
    {
        assert_int_equal(espyQuerySystem_SetBox(system, bad[i], espyTest_Box(0, 0, 0, 1)), espyResult_InvalidId);
        assert_int_equal(espyQuerySystem_RemoveObject(system, bad[i]), espyResult_InvalidId);
        assert_int_equal(espyQuerySystem_Explain(system, c.view, bad[i]).reason, espyQueryReason_None);
        espyQueryViewId view = {bad[i].index1, bad[i].generation + 5u};
        assert_int_equal(espyQuerySystem_Submit(system, view), espyResult_InvalidId);
        assert_int_equal(espyQuerySystem_Cut(system, view), espyResult_InvalidId);
        uint32_t count = 7;
        assert_null(espyQuerySystem_GetDraws(system, view, &count));
        assert_int_equal(count, 0);
        assert_int_equal(espyQuerySystem_GetStats(system, view).bytes, 0);
        assert_int_equal(espyQuerySystem_GetViewDef(system, view).cookie, 0);
    }
    // As many views as there are, and no more.
    espyQueryViewId view;
    espyQueryViewDef small = c.viewDef;
    small.maxQueries = 4;
    for (uint32_t i = 1; i < ESPY_QUERY_MAX_VIEWS; ++i)
    {
        assert_int_equal(espyQuerySystem_CreateView(system, &small, &view), espyResult_Ok);
    }
    assert_int_equal(espyQuerySystem_CreateView(system, &small, &view), espyResult_LimitExceeded);
    // Frames that do not grow are counted on.
    assert_int_equal(espyQuerySystem_BeginFrame(system, 5), espyResult_Ok);
    assert_int_equal(espyQuerySystem_BeginFrame(system, 5), espyResult_InvalidArgument);
    assert_int_equal(espyQuerySystem_BeginFrame(system, 9), espyResult_Ok);
    assert_int_equal(espyQuerySystem_Reserve(system, ESPY_QUERY_MAX_OBJECTS + 1u), espyResult_LimitExceeded);
    assert_int_equal(espyQuerySystem_GetObjectCount(NULL), 0);
    espyQuerySystem_Destroy(NULL);
    espyQueryCase_End(&c);
}

static void test_memory_ends_anywhere(void** state)
{
    (void)state;
    for (unsigned failAt = 1; failAt < 60; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyQueryCase c;
        espyQueryCase_Init(&c, 1);
        espyQuerySystemDef def = espyQuerySystemDef_Default();
        def.device = &c.device;
        def.hooks = espyHookCounter_Hooks(&counter);
        espyResult made = espyQuerySystem_Create(&def, &c.system);
        if (made == espyResult_Ok)
        {
            made = espyQuerySystem_CreateView(c.system, &c.viewDef, &c.view);
            uint32_t added = 0;
            for (uint32_t i = 0; i < 100; ++i)
            {
                espyQueryObjectDef object = espyQueryObjectDef_Default();
                object.box = espyTest_Box((float)i, 0, -20, 0.3f);
                espyResult result = espyQuerySystem_AddObject(c.system, &object, &c.ids[added]);
                assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
                added += result == espyResult_Ok ? 1u : 0u;
                assert_int_equal(espyQuerySystem_GetObjectCount(c.system), added);
            }
            if (made == espyResult_Ok)
            {
                // What is there goes on without memory.
                espyQueryCase_Frames(&c, 10);
            }
            static const uint32_t parents[] = {ESPY_QUERY_NO_NODE};
            for (uint32_t i = 0; i < added; ++i)
            {
                espyQuerySystem_RemoveObject(c.system, c.ids[i]);
            }
            espyResult tree = espyQuerySystem_SetTree(c.system, parents, 1);
            assert_true(tree == espyResult_Ok || tree == espyResult_OutOfMemory);
        }
        else
        {
            assert_int_equal(made, espyResult_OutOfMemory);
        }
        espyQueryCase_End(&c);
        assert_int_equal(counter.blocks, 0);
    }
}

static void test_frames_allocate_nothing(void** state)
{
    (void)state;
    espyHookCounter counter = {0};
    espyQueryCase c;
    espyQueryCase_Init(&c, 2);
    c.hooks = espyHookCounter_Hooks(&counter);
    espyQueryCase_Start(&c);
    assert_int_equal(espyQuerySystem_Reserve(c.system, 300), espyResult_Ok);
    unsigned calls = counter.calls;
    espyTest_Grid(&c, 16, false);
    for (uint32_t frame = 0; frame < 50; ++frame)
    {
        c.truth.shows[frame * 5] ^= 1;
        espyQuerySystem_SetBox(c.system, c.ids[frame], espyTest_Box((float)frame, 0, -30, 1));
        espyQueryCase_Frame(&c);
    }
    espyQuerySystem_Rebuild(c.system);
    espyQueryCase_Frames(&c, 5);
    assert_int_equal(counter.calls, calls);
    espyQueryCase_End(&c);
    assert_int_equal(counter.blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hidden_tree_is_one_question),
        cmocka_unit_test(test_no_hierarchy_and_no_batches_where_not_wanted),
        cmocka_unit_test(test_groups_come_apart_ahead_of_what_they_meet),
        cmocka_unit_test(test_visible_objects_do_not_ask_at_once),
        cmocka_unit_test(test_budget_is_shared_by_turns),
        cmocka_unit_test(test_hidden_objects_past_the_budget_are_drawn),
        cmocka_unit_test(test_views_share_what_the_device_takes),
        cmocka_unit_test(test_what_the_device_refuses_is_asked_later),
        cmocka_unit_test(test_many_objects_start_as_groups),
        cmocka_unit_test(test_threshold_is_a_share_of_the_proxy),
        cmocka_unit_test(test_kinds_of_questions),
        cmocka_unit_test(test_views_know_nothing_of_each_other),
        cmocka_unit_test(test_stereo_is_what_either_eye_sees),
        cmocka_unit_test(test_casters_are_asked_about_with_their_shadows),
        cmocka_unit_test(test_candidates_of_baked_data),
        cmocka_unit_test(test_views_are_culled_at_the_same_time),
        cmocka_unit_test(test_off_while_it_costs_more_than_it_saves),
        cmocka_unit_test(test_switched_off_by_the_caller),
        cmocka_unit_test(test_frozen_views_stand_still),
        cmocka_unit_test(test_a_lost_device_draws_everything),
        cmocka_unit_test(test_exact_pictures_wait),
        cmocka_unit_test(test_histories_and_counts),
        cmocka_unit_test(test_pops_against_a_reference),
        cmocka_unit_test(test_settings_out_of_range_are_named),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory_ends_anywhere),
        cmocka_unit_test(test_frames_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
