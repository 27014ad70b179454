// SPDX-License-Identifier: MIT
// Tester meshes at their limits: ids, budgets, seeds, shapes on the screen, failures, memory, cost.
#include "test_main.h"

#include <math.h>
#include <string.h>

#include "tester/tester_internal.h"
#include "tester_case.h"

static const espyTesterTargetId espyTest_None = {0, 0};
static const espyTesterViewId espyTest_Main = {0, 0};

/// A wall across the view at distance `z`.
static espyBox espyTest_Wall(float z)
{
    return (espyBox){{-60, -60, -z - 0.5f}, {60, 60, -z}};
}

/// A box of `half` metres to each side of (x, y, -z).
static espyBox espyTest_Box(float x, float y, float z, float half)
{
    return (espyBox){{x - half, y - half, -z - half}, {x + half, y + half, -z + half}};
}

// --- limits

static void test_more_testers_than_ids(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 4);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    espyTesterTargetId targets[10];
    for (int i = 0; i < 10; ++i)
    {
        targets[i] = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Box((float)i - 4.5f, 0, 20, 0.4f), targets[i]);
    }
    for (int frame = 0; frame < 3; ++frame)
    {
        espyTesterCase_Run(&c);
        uint32_t count;
        espyTesterScene_GetShown(c.scene, espyTest_Main, &count);
        // All are behind the wall; four at a time can be found to be. The rest is shown.
        assert_true(count >= 6 - 4 * (uint32_t)frame || frame > 0);
        assert_int_equal(c.messages, 1);
        assert_int_equal(c.lastMessage, espyMessageId_TesterTooMany);
        assert_non_null(strstr(c.lastText, "(4)"));
    }
    // Exactly as many as there are ids is not too many.
    for (int i = 4; i < 10; ++i)
    {
        assert_int_equal(espyTesterScene_DestroyTarget(c.scene, targets[i]), espyResult_Ok);
    }
    espyTesterCase_Destroy(&c);
    espyTesterCase_Create(&c, NULL, 4);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    for (int i = 0; i < 4; ++i)
    {
        targets[i] = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Box((float)i - 4.5f, 0, 20, 0.4f), targets[i]);
    }
    espyTesterCase_Run(&c);
    assert_int_equal(c.messages, 0);
    assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 0);
    espyTesterCase_Destroy(&c);
}

/// Walls behind each other, each with its tester, in a tower of targets: one appears a pass.
static void test_pass_budget(void** state)
{
    (void)state;
    for (uint32_t budget = 0; budget < 7; ++budget)
    {
        for (int mode = 0; mode < 2; ++mode)
        {
            espyTesterViewDef def = espyTesterCase_ViewDef();
            def.passBudget = budget;
            def.mode = (espyIdMode)mode;
            espyTesterCase c;
            espyTesterCase_Create(&c, &def, 0);
            espyTesterTargetId parent = espyTest_None;
            espyTesterTargetId levels[5];
            for (int i = 0; i < 5; ++i)
            {
                levels[i] = espyTesterCase_Target(&c, parent, NULL);
                espyTesterCase_Tester(&c, parent, espyTest_Box(0, 0, 20, 5.0f - (float)i), levels[i]);
                parent = levels[i];
            }
            espyTesterTargetId beside = espyTesterCase_Target(&c, espyTest_None, NULL);
            espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, -20, 1), beside);
            espyTesterCase_Run(&c);
            for (int i = 0; i < 5; ++i)
            {
                // Found, or not decided: shown.
                assert_true(espyTesterCase_IsShown(&c, levels[i]));
            }
            // Outside the frustum is evidence.
            assert_false(espyTesterCase_IsShown(&c, beside));
            espyTesterStats stats = espyTesterCase_Stats(&c);
            assert_true(budget == 0 || stats.passes <= budget);
            assert_int_equal(stats.seen + stats.undecided, 5);
            assert_int_equal(stats.undecided > 0, budget > 0 && budget < 5);
            espyTesterCase_Destroy(&c);
        }
    }
}

/// Budget 1: the first run shows what it could not decide, the next ones let go of what is hidden.
static void test_budget_and_demotion(void** state)
{
    (void)state;
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.passBudget = 1;
    espyTesterCase c;
    espyTesterCase_Create(&c, &def, 0);
    espyTesterTargetId near = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId far = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(10), near);
    espyTesterCase_Draw(&c, near, espyTest_Wall(10.1f));
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(20), far);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, near));
    assert_true(espyTesterCase_IsShown(&c, far));
    assert_int_equal(espyTesterCase_Stats(&c).undecided, 1);
    espyTesterCase_Run(&c);
    assert_int_equal(espyTesterCase_Stats(&c).demoted, 1);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, near));
    assert_false(espyTesterCase_IsShown(&c, far));
    assert_int_equal(espyTesterCase_Stats(&c).passes, 1);
    espyTesterCase_Destroy(&c);
}

// --- seeds

static void test_seeds_shrink(void** state)
{
    (void)state;
    for (int mode = 0; mode < 4; ++mode)
    {
        espyTesterViewDef def = espyTesterCase_ViewDef();
        def.mode = (mode & 1) != 0 ? espyIdMode_Flag : espyIdMode_Index;
        espyTesterCase c;
        espyTesterCase_Create(&c, &def, 0);
        if (mode >= 2)
        {
            // A device that has only one of the two.
            espyDevice less = c.device;
            less.caps.idFlag = (mode & 1) != 0;
            less.caps.idIndex = (mode & 1) == 0;
            assert_int_equal(espyTesterScene_SetDevice(c.scene, &less), espyResult_Ok);
        }
        espyTesterDrawId door = espyTesterCase_Draw(&c, espyTest_None, (espyBox){{100, -60, -10.5f}, {220, 60, -10}});
        espyTesterTargetId targets[6];
        for (int i = 0; i < 6; ++i)
        {
            targets[i] = espyTesterCase_Target(&c, espyTest_None, NULL);
            espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 20 + 4 * (float)i, 1), targets[i]);
        }
        for (int round = 0; round < 2; ++round)
        {
            espyTesterScene_SetDrawTransform(
                c.scene, door, espyTesterCase_BoxTransform((espyBox){{100, -60, -10.5f}, {220, 60, -10}}));
            for (int frame = 0; frame < 2; ++frame)
            {
                // Nothing in them is drawn, so that all are seen, whatever the order.
                espyTesterCase_Run(&c);
                assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 6);
                assert_int_equal(espyTesterCase_Stats(&c).seeded, frame == 0 ? 0 : 6);
            }
            // The door shuts: shown once more, then let go.
            espyTesterScene_SetDrawTransform(c.scene, door, espyTesterCase_BoxTransform(espyTest_Wall(10)));
            espyTesterCase_Run(&c);
            assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 6);
            assert_int_equal(espyTesterCase_Stats(&c).demoted, 6);
            espyTesterCase_Run(&c);
            assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 0);
            assert_int_equal(espyTesterCase_Stats(&c).exited, 6);
        }
        // Without seeds it is gone at once.
        def.seed = false;
        assert_int_equal(espyTesterScene_ConfigureView(c.scene, espyTest_Main, &def), espyResult_Ok);
        espyTesterScene_SetDrawTransform(c.scene, door, espyTesterCase_BoxTransform(espyTest_Box(100, 0, 10, 1)));
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 6);
        espyTesterScene_SetDrawTransform(c.scene, door, espyTesterCase_BoxTransform(espyTest_Wall(10)));
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 0);
        espyTesterCase_Destroy(&c);
    }
}

// --- shapes on the screen

static void test_camera_inside(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    // A pillar that the eye stands in hides everything: the near plane cuts its front.
    espyTesterTargetId room = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 0, 5), room);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(0.2f));
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, tester));
    assert_int_equal(espyTesterCase_Stats(&c).inside, 1);
    // In steps out through each face, until the near rectangle has left it too.
    for (float z = 0; z < 5.3f; z += 0.05f)
    {
        c.eye = (espyVec3){0, 0, z};
        c.look = (espyVec3){0, 0, z - 1};
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_Stats(&c).inside, z <= 5.11f ? 1 : 0);
        if (z <= 5.09f)
        {
            assert_true(espyTesterCase_IsShown(&c, room));
        }
    }
    // A box in front of the near plane that holds the eye.
    c.eye = (espyVec3){100, 0, 0};
    c.look = (espyVec3){100, 0, -1};
    espyTesterId tiny = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(100, 0, 0, 0.01f), espyTest_None);
    espyTesterId nearby = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(100, 0, 0.05f, 0.01f), espyTest_None);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, tiny));
    assert_false(espyTesterCase_WasActive(&c, nearby));
    // And by hand.
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, nearby, true, espyTest_Main), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, nearby));
    espyTesterCase_Destroy(&c);
}

/// Sheets seen from their edge and boxes far smaller than a pixel, wherever they fall among the pixels.
static void test_footprint(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(4);
    for (int lens = 0; lens < 4; ++lens)
    {
        espyTesterViewDef def = espyTesterCase_ViewDef();
        def.reversedZ = (lens & 1) != 0;
        espyTesterCase c;
        espyTesterCase_Create(&c, &def, 0);
        if (lens >= 2)
        {
            c.lens.orthographic = true;
            c.lens.halfHeight = 10;
            c.lens.farDistance = 2000;
        }
        espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-2000, -2000, -1500}, {2000, 2000, -1400}});
        espyTesterDrawId wall = espyTesterCase_Draw(&c, espyTest_None, espyTest_Box(5000, 0, 1, 1));
        espyTesterId testers[200];
        for (int i = 0; i < 200; ++i)
        {
            float z = lens >= 2 ? 5 + 900 * espyiRng_Float(&rng) : 5 + 60 * espyiRng_Float(&rng);
            float reach = lens >= 2 ? 9 : 0.5f * z;
            espyTesterDef tester = espyTesterDef_Default();
            float q[4] = {0, 0, 0, 1};
            espyVec3 at = {reach * (2 * espyiRng_Float(&rng) - 1), reach * (2 * espyiRng_Float(&rng) - 1), -z};
            espyVec3 half = {1e-4f, 1e-4f, 1e-4f};
            if (i % 2 == 1)
            {
                // A sheet through the eye, or along the view: nothing of its faces can be seen.
                half = i % 4 == 1 ? (espyVec3){0, 0.3f, 0.3f} : (espyVec3){0.3f, 0, 0.3f};
                at = i % 4 == 1 ? (espyVec3){lens >= 2 ? at.x : 0, at.y, at.z}
                                : (espyVec3){at.x, lens >= 2 ? at.y : 0, at.z};
            }
            tester.toWorld = espyMat4_FromTrs(at, q, half);
            assert_int_equal(espyTesterScene_CreateTester(c.scene, &tester, &testers[i]), espyResult_Ok);
        }
        espyTesterCase_Run(&c);
        for (int i = 0; i < 200; ++i)
        {
            assert_true(espyTesterCase_WasActive(&c, testers[i]));
        }
        assert_int_equal(espyTesterCase_Stats(&c).inside, 0);
        // Hidden they are found hidden: a footprint is no free pass.
        espyTesterScene_SetDrawTransform(c.scene, wall, espyTesterCase_BoxTransform(espyTest_Wall(1)));
        espyTesterCase_Run(&c);
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_Stats(&c).active, 0);
        espyTesterCase_Destroy(&c);
    }
}

/// A mesh of the device's, open and with its faces turned away: drawn from both sides.
static void test_meshes_are_two_sided(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    static const espyVec3 positions[3] = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}};
    static const uint32_t front[3] = {0, 1, 2}, back[3] = {0, 2, 1};
    for (int side = 0; side < 2; ++side)
    {
        espyDeviceMesh mesh;
        espyTriangles triangles = {positions, side == 0 ? front : back, 3, 1};
        assert_int_equal(c.device.createMesh(c.device.context, &triangles, false, &mesh), espyResult_Ok);
        espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 0, 1), espyTest_None);
        assert_int_equal(espyTesterScene_SetMesh(c.scene, tester, mesh, (espyBox){{-1, -1, 0}, {1, 1, 0}}),
                         espyResult_Ok);
        espyMat4 place = espyMat4_Identity();
        place.m[14] = -5;
        assert_int_equal(espyTesterScene_SetTransform(c.scene, tester, place), espyResult_Ok);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_WasActive(&c, tester));
        assert_int_equal(espyTesterScene_DestroyTester(c.scene, tester), espyResult_Ok);
        c.device.destroyMesh(c.device.context, mesh);
    }
    espyTesterCase_Destroy(&c);
}

static void test_any_size(void** state)
{
    (void)state;
    static const int32_t sizes[][2] = {{1, 1}, {1, 64}, {3, 7}, {31, 17}, {33, 65}, {1013, 617}};
    for (size_t s = 0; s < ESPYI_ARRAY_COUNT(sizes); ++s)
    {
        for (int reversed = 0; reversed < 2; ++reversed)
        {
            espyTesterViewDef def = espyTesterCase_ViewDef();
            def.width = sizes[s][0];
            def.height = sizes[s][1];
            def.reversedZ = reversed != 0;
            espyTesterCase c;
            espyTesterCase_Create(&c, &def, 0);
            espyTesterTargetId open = espyTesterCase_Target(&c, espyTest_None, NULL);
            espyTesterTargetId shut = espyTesterCase_Target(&c, espyTest_None, NULL);
            espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
            espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), open);
            espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 15, 1), shut);
            espyTesterCase_Run(&c);
            assert_true(espyTesterCase_IsShown(&c, open));
            // A pixel may be as large as the picture, and a footprint with it.
            assert_true(def.width < 16 || def.height < 16 || !espyTesterCase_IsShown(&c, shut));
            // Another size from one frame to the next.
            def.width = 50 - (int32_t)s;
            def.height = 30;
            assert_int_equal(espyTesterScene_ConfigureView(c.scene, espyTest_Main, &def), espyResult_Ok);
            espyTesterCase_Run(&c);
            espyTesterCase_Run(&c);
            assert_true(espyTesterCase_IsShown(&c, open));
            assert_false(espyTesterCase_IsShown(&c, shut));
            espyTesterCase_Destroy(&c);
        }
    }
}

/// Two eyes: what one of them sees is shown.
static void test_stereo(void** state)
{
    (void)state;
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.layers = 2;
    espyTesterCase c;
    espyTesterCase_Create(&c, &def, 0);
    espyTesterTargetId left = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId right = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId neither = espyTesterCase_Target(&c, espyTest_None, NULL);
    // A post between them: each eye sees past one side.
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-0.5f, -50, -2.1f}, {0.5f, 50, -2}});
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0.9f, 0, 5, 0.1f), left);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(-0.9f, 0, 5, 0.1f), right);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 3, 0.05f), neither);
    espyTesterRun run = espyTesterRun_Default();
    espyVec3 eyes[2] = {{-0.3f, 0, 0}, {0.3f, 0, 0}};
    for (int i = 0; i < 2; ++i)
    {
        run.viewProjection[i] = espyRasterCase_View(eyes[i], (espyVec3){eyes[i].x, eyes[i].y, eyes[i].z - 1}, &c.lens);
    }
    for (int frame = 0; frame < 2; ++frame)
    {
        assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
        assert_true(espyTesterCase_IsShown(&c, left));
        assert_true(espyTesterCase_IsShown(&c, right));
        assert_false(espyTesterCase_IsShown(&c, neither));
    }
    espyTesterCase_Destroy(&c);
}

// --- material, shadows

static void test_only_opaque_things_hide(void** state)
{
    (void)state;
    for (int material = 0; material < 4; ++material)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        espyTesterTargetId pane = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId behind = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(10), pane);
        espyTesterDrawDef def = espyTesterDrawDef_Default();
        def.parent = pane;
        def.toWorld = espyTesterCase_BoxTransform(espyTest_Wall(10.1f));
        def.material = (espyMaterialClass)material;
        espyTesterDrawId id;
        assert_int_equal(espyTesterScene_CreateDraw(c.scene, &def, &id), espyResult_Ok);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 20, 1), behind);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, pane));
        assert_int_equal(espyTesterCase_IsShown(&c, behind), material != espyMaterialClass_Opaque);
        assert_int_equal(espyTesterCase_Stats(&c).draws, material == espyMaterialClass_Opaque ? 1 : 0);
        espyTesterCase_Destroy(&c);
    }
}

static void test_shadow_views(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    espyTesterTargetId behind = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId inner = espyTesterCase_Target(&c, behind, NULL);
    espyTesterTargetId outside = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 20, 1), behind);
    espyTesterCase_Tester(&c, behind, espyTest_Box(0, 0, 20, 0.5f), inner);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, -20, 1), outside);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.shadow = true;
    espyTesterViewId sun;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &def, &sun), espyResult_Ok);
    assert_int_equal(espyTesterScene_GetDeviceTarget(c.scene, sun).value, 0);
    espyTesterCase_RunView(&c, sun);
    espyTesterCase_Run(&c);
    // In the light's frustum is enough; what the camera sees is another matter.
    assert_true(espyTesterScene_IsShown(c.scene, behind, sun));
    assert_true(espyTesterScene_IsShown(c.scene, inner, sun));
    assert_false(espyTesterScene_IsShown(c.scene, outside, sun));
    assert_true(espyTesterScene_WasActiveLastFrame(c.scene, tester, sun));
    assert_false(espyTesterCase_WasActive(&c, tester));
    assert_int_equal(espyTesterScene_GetStats(c.scene, sun).passes, 0);
    assert_int_equal(espyTesterScene_GetStats(c.scene, sun).depthPasses, 0);
    espyTesterCase_Destroy(&c);
}

// --- failures

/// A device whose n-th call of those that may fail is lost, with all after it.
typedef struct espyTestLossy
{
    espyDevice inner;
    uint32_t calls, failAt;
} espyTestLossy;

static bool espyTestLossy_Fails(espyTestLossy* lossy)
{
    return ++lossy->calls >= lossy->failAt;
}

static espyResult espyTestLossy_BeginPass(void* context, const espyDevicePass* pass)
{
    espyTestLossy* l = context;
    return espyTestLossy_Fails(l) ? espyResult_DeviceLost : l->inner.beginPass(l->inner.context, pass);
}

static espyResult espyTestLossy_DrawDepth(void* context, const espyDeviceDraw* draws, uint32_t count)
{
    espyTestLossy* l = context;
    return espyTestLossy_Fails(l) ? espyResult_DeviceLost : l->inner.drawDepth(l->inner.context, draws, count);
}

static espyResult espyTestLossy_DrawIds(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode)
{
    espyTestLossy* l = context;
    return espyTestLossy_Fails(l) ? espyResult_DeviceLost : l->inner.drawIds(l->inner.context, draws, count, mode);
}

static espyResult espyTestLossy_EndPass(void* context)
{
    espyTestLossy* l = context;
    espyResult result = l->inner.endPass(l->inner.context);
    return espyTestLossy_Fails(l) ? espyResult_DeviceLost : result;
}

static espyResult espyTestLossy_ReadIds(void* context, espyDeviceTarget target, uint32_t count, uint32_t* bits)
{
    espyTestLossy* l = context;
    return espyTestLossy_Fails(l) ? espyResult_DeviceLost : l->inner.readIds(l->inner.context, target, count, bits);
}

static espyResult espyTestLossy_CreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out)
{
    espyTestLossy* l = context;
    return l->inner.createTarget(l->inner.context, def, out);
}

static void espyTestLossy_DestroyTarget(void* context, espyDeviceTarget target)
{
    espyTestLossy* l = context;
    l->inner.destroyTarget(l->inner.context, target);
}

static void test_lost_device(void** state)
{
    (void)state;
    for (uint32_t failAt = 1; failAt < 40; ++failAt)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        espyTestLossy lossy = {.inner = c.device, .failAt = UINT32_MAX};
        espyDevice device = c.device;
        device.context = &lossy;
        device.beginPass = espyTestLossy_BeginPass;
        device.drawDepth = espyTestLossy_DrawDepth;
        device.drawIds = espyTestLossy_DrawIds;
        device.endPass = espyTestLossy_EndPass;
        device.readIds = espyTestLossy_ReadIds;
        device.createTarget = espyTestLossy_CreateTarget;
        device.destroyTarget = espyTestLossy_DestroyTarget;
        assert_int_equal(espyTesterScene_SetDevice(c.scene, &device), espyResult_Ok);
        espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
        espyTesterTargetId open = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId shut = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId inner = espyTesterCase_Target(&c, shut, NULL);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), open);
        espyTesterCase_Draw(&c, open, espyTest_Box(0, 0, 5, 0.5f));
        espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 15, 1), shut);
        espyTesterCase_Tester(&c, shut, espyTest_Box(0, 0, 15, 1), inner);
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = espyTesterCase_Clip(&c);
        lossy.failAt = failAt;
        bool lost = false;
        for (int frame = 0; frame < 4; ++frame)
        {
            espyResult result = espyTesterCase_TryRun(&c, espyTest_Main, &run);
            lost = lossy.calls >= failAt;
            assert_int_equal(result, lost ? espyResult_DeviceLost : espyResult_Ok);
            // Everything is shown, also what no pass came to.
            assert_true(espyTesterCase_IsShown(&c, open));
            assert_int_equal(espyTesterCase_IsShown(&c, shut), lost);
            assert_int_equal(espyTesterCase_IsShown(&c, inner), lost);
            assert_int_equal(espyTesterCase_WasActive(&c, tester), lost);
        }
        assert_int_equal(c.messages, lost ? 1 : 0);
        assert_int_equal(c.lastMessage, lost ? espyMessageId_TesterDevice : espyMessageId_None);
        // Without a device, everything in the frustum; with another one, as before.
        assert_int_equal(espyTesterScene_SetDevice(c.scene, NULL), espyResult_Ok);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, inner));
        assert_int_equal(espyTesterScene_SetDevice(c.scene, &c.device), espyResult_Ok);
        espyTesterCase_Run(&c);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, open));
        assert_false(espyTesterCase_IsShown(&c, shut));
        espyTesterCase_Destroy(&c);
        if (!lost)
        {
            return;
        }
    }
    fail_msg("the runs never ended");
}

static void test_unusable_runs(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    espyTesterTargetId shut = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 15, 1), shut);
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = espyTesterCase_Clip(&c);
    run.viewProjection[0].m[3] = NAN;
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_InvalidArgument);
    assert_true(espyTesterCase_IsShown(&c, shut));
    memset(&run.viewProjection[0], 0, sizeof run.viewProjection[0]);
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
    assert_true(espyTesterCase_IsShown(&c, shut));
    espyTesterCase_Run(&c);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, shut));
    run.cookie = 0;
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_InvalidArgument);
    assert_true(espyTesterCase_IsShown(&c, shut));
    assert_int_equal(espyTesterScene_RunView(c.scene, (espyTesterViewId){4, 1}, &run), espyResult_InvalidId);
    assert_int_equal(espyTesterScene_RunView(c.scene, espyTest_Main, NULL), espyResult_InvalidArgument);
    // No frame was begun: the device says so, and everything is shown.
    run = espyTesterRun_Default();
    run.viewProjection[0] = espyTesterCase_Clip(&c);
    assert_int_equal(espyTesterScene_RunView(c.scene, espyTest_Main, &run), espyResult_InvalidArgument);
    assert_true(espyTesterCase_IsShown(&c, shut));
    // A device without ids is none.
    espyDevice blind = espyDevice_Default();
    assert_int_equal(espyTesterScene_SetDevice(c.scene, &blind), espyResult_Unsupported);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, shut));
    espyTesterCase_Destroy(&c);
}

// --- the caller's own drawing

typedef struct espyTestDrawer
{
    espyTesterCase* c;
    espyTesterTargetId seen[64];
    uint32_t count, calls;
    espyTesterTargetId wall; ///< Target in which a wall stands.
    espyResult result;
    bool refused;
} espyTestDrawer;

static espyResult espyTestDrawer_Draw(void* context, espyTesterViewId view, const espyTesterTargetId* targets,
                                      uint32_t count)
{
    espyTestDrawer* d = context;
    assert_int_equal(view.index1, 0);
    ++d->calls;
    for (uint32_t i = 0; i < count; ++i)
    {
        d->seen[d->count++] = targets[i];
        if (targets[i].index1 == d->wall.index1)
        {
            espyDeviceDraw draw = {.toWorld = espyTesterCase_BoxTransform(espyTest_Wall(10.1f))};
            assert_int_equal(d->c->device.drawDepth(d->c->device.context, &draw, 1), espyResult_Ok);
        }
    }
    // The scene is in the middle of a run.
    espyTesterTargetDef def = espyTesterTargetDef_Default();
    espyTesterTargetId id;
    d->refused = espyTesterScene_CreateTarget(d->c->scene, &def, &id) == espyResult_InvalidArgument &&
                 espyTesterScene_DestroyTarget(d->c->scene, d->wall) == espyResult_InvalidArgument &&
                 espyTesterScene_ResetView(d->c->scene, view) == espyResult_InvalidArgument;
    return d->result;
}

static void test_callback(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTestDrawer drawer = {.c = &c};
    drawer.wall = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId behind = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId front = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(10), drawer.wall);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 20, 1), behind);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), front);
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = espyTesterCase_Clip(&c);
    run.drawTargets = espyTestDrawer_Draw;
    run.context = &drawer;
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
    // What is in no target first, then each that appears, once.
    assert_int_equal(drawer.calls, 2);
    assert_int_equal(drawer.count, 3);
    assert_int_equal(drawer.seen[0].index1, 0);
    assert_true(drawer.refused);
    assert_true(espyTesterCase_IsShown(&c, front));
    assert_false(espyTesterCase_IsShown(&c, behind));
    drawer.count = drawer.calls = 0;
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
    assert_int_equal(drawer.calls, 1);
    assert_int_equal(drawer.count, 3);
    // What it returns ends the run; the device is as it was.
    drawer.result = espyResult_Io;
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Io);
    assert_true(espyTesterCase_IsShown(&c, behind));
    drawer.result = espyResult_Ok;
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
    assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
    assert_false(espyTesterCase_IsShown(&c, behind));
    espyTesterCase_Destroy(&c);
}

/// Depth that the caller drew before, in a raster of its own.
static void test_borrowed_target(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyRasterDef rasterDef = espyRasterDef_Default();
    rasterDef.width = 160;
    rasterDef.height = 90;
    espyRaster* raster;
    assert_int_equal(espyRaster_Create(&rasterDef, &raster), espyResult_Ok);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    assert_int_equal(espySoftDevice_WrapRaster(&c.device, raster, true, &def.target), espyResult_Ok);
    assert_int_equal(espyTesterScene_ConfigureView(c.scene, espyTest_Main, &def), espyResult_Ok);
    assert_true(espyTesterScene_GetDeviceTarget(c.scene, espyTest_Main).value == def.target.value);
    espyTesterTargetId shut = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 15, 1), shut);
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = espyTesterCase_Clip(&c);
    for (int keep = 0; keep < 2; ++keep)
    {
        espyVec3 positions[8];
        uint32_t indices[36];
        espyRasterCase_Box(espyTest_Wall(10), positions, indices);
        assert_int_equal(espyTesterScene_ResetView(c.scene, espyTest_Main), espyResult_Ok);
        assert_int_equal(espyRaster_Begin(raster, &run.viewProjection[0]), espyResult_Ok);
        assert_int_equal(espyRaster_DrawTriangles(raster, &(espyTriangles){positions, indices, 8, 12}, NULL, 0, false),
                         espyResult_Ok);
        run.keepDepth = keep != 0;
        assert_int_equal(espyTesterCase_TryRun(&c, espyTest_Main, &run), espyResult_Ok);
        assert_int_equal(espyTesterCase_IsShown(&c, shut), keep == 0);
    }
    espyTesterCase_Destroy(&c);
    espyRaster_Destroy(raster);
}

// --- cost and memory

static void test_nothing_allocates_in_a_run(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    for (int i = 0; i < 500; ++i)
    {
        espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Box((float)(i % 25) - 12, (float)(i / 25) - 10, 20, 0.4f),
                              target);
    }
    unsigned calls = atomic_load(&c.counter.calls);
    for (int frame = 0; frame < 4; ++frame)
    {
        c.look.x = 0.3f * (float)frame;
        espyTesterCase_Run(&c);
    }
    assert_int_equal(atomic_load(&c.counter.calls), calls);
    espyTesterCase_Destroy(&c);
}

/// Every allocation fails once: OutOfMemory, nothing leaks, and the scene goes on.
static void test_out_of_memory(void** state)
{
    (void)state;
    for (unsigned failAt = 1;; ++failAt)
    {
        espyTesterCase c;
        memset(&c, 0, sizeof c);
        espySoftDeviceDef soft = espySoftDeviceDef_Default();
        assert_int_equal(espySoftDevice_Create(&soft, &c.device), espyResult_Ok);
        espyTesterSceneDef def = espyTesterSceneDef_Default();
        def.hooks = espyHookCounter_Hooks(&c.counter);
        def.device = &c.device;
        def.mainView = espyTesterCase_ViewDef();
        c.lens = (espyLens){.nearDistance = 0.1f, .halfHeight = 0.6f, .aspect = 1.8f};
        c.look = (espyVec3){0, 0, -1};
        c.counter.failAt = failAt;
        bool failed = false;
        if (espyTesterScene_Create(&def, &c.scene) != espyResult_Ok)
        {
            assert_null(c.scene);
            assert_int_equal(atomic_load(&c.counter.blocks), 0);
            espySoftDevice_Destroy(&c.device);
            continue;
        }
        espyTesterTargetId last = {0, 0};
        for (int i = 0; i < 40; ++i)
        {
            espyTesterTargetDef targetDef = espyTesterTargetDef_Default();
            espyTesterDef testerDef = espyTesterDef_Default();
            espyTesterDrawDef drawDef = espyTesterDrawDef_Default();
            espyTesterViewDef viewDef = espyTesterCase_ViewDef();
            espyTesterTargetId target = {0, 0};
            espyTesterId tester = {0, 0};
            espyTesterDrawId draw = {0, 0};
            espyTesterViewId view = {0, 0};
            targetDef.name = testerDef.name = "n";
            testerDef.bounds = espyTest_Box(0, 0, 5, 1);
            espyResult results[6];
            results[0] = espyTesterScene_CreateTarget(c.scene, &targetDef, &target);
            results[1] = espyTesterScene_CreateTester(c.scene, &testerDef, &tester);
            results[2] = espyTesterScene_CreateDraw(c.scene, &drawDef, &draw);
            results[3] = i % 10 == 0 ? espyTesterScene_CreateView(c.scene, &viewDef, &view) : espyResult_Ok;
            bool both = results[0] == espyResult_Ok && results[1] == espyResult_Ok;
            results[4] = both ? espyTesterScene_AddTarget(c.scene, tester, target) : espyResult_Ok;
            results[5] = both ? espyTesterScene_SetForceActive(c.scene, tester, true, espyTest_Main) : espyResult_Ok;
            for (int r = 0; r < 6; ++r)
            {
                assert_true(results[r] == espyResult_Ok || results[r] == espyResult_OutOfMemory);
                if (results[r] != espyResult_Ok && !failed)
                {
                    // One failure; from here on there is memory again.
                    failed = true;
                    c.counter.failAt = 0;
                }
            }
            last = both && results[4] == espyResult_Ok ? target : last;
        }
        espyTesterCase_Run(&c);
        assert_true(last.index1 != 0);
        assert_true(espyTesterCase_IsShown(&c, last));
        espyTesterCase_Destroy(&c);
        if (!failed)
        {
            return;
        }
    }
}

/// The cost of a run depends on what is shown: a wide tree of which one branch is open.
static void test_hidden_things_cost_nothing(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(50));
    for (int branch = 0; branch < 8; ++branch)
    {
        espyTesterTargetId top = espyTesterCase_Target(&c, espyTest_None, NULL);
        float z = branch == 0 ? 20.0f : 100.0f;
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, z, 5), top);
        for (int i = 0; i < 2000; ++i)
        {
            espyTesterTargetId leaf = espyTesterCase_Target(&c, top, NULL);
            espyTesterCase_Tester(
                &c, top, espyTest_Box((float)(i % 50) * 0.1f - 2.5f, (float)(i / 50) * 0.1f - 2, z, 0.04f), leaf);
        }
    }
    espyTesterCase_Run(&c);
    espyTesterStats stats = espyTesterCase_Stats(&c);
    assert_int_equal(stats.targetsShown, 2001);
    // Eight tops in each pass, the leaves of the open branch once or twice.
    assert_true(stats.ids < 8 * stats.passes + 4000);
    espyTesterCase_Run(&c);
    stats = espyTesterCase_Stats(&c);
    assert_int_equal(stats.passes, 1);
    assert_int_equal(stats.ids, 2001 + 7);
    espyTesterCase_Destroy(&c);
}

/// After 2^32 - 1 runs the numbers start again, and nobody notices.
static void test_run_numbers_wrap(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), target);
    c.scene->views[0]->run = UINT32_MAX - 3;
    uint32_t entered = 0;
    for (int frame = 0; frame < 8; ++frame)
    {
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_WasActive(&c, tester));
        assert_int_equal(espyTesterCase_Stats(&c).seeded, frame == 0 ? 0 : 1);
        uint32_t count;
        espyTesterScene_GetEvents(c.scene, espyTest_Main, &count);
        entered += count;
    }
    assert_int_equal(entered, 1);
    espyTesterCase_Destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_testers_than_ids),
        cmocka_unit_test(test_pass_budget),
        cmocka_unit_test(test_budget_and_demotion),
        cmocka_unit_test(test_seeds_shrink),
        cmocka_unit_test(test_camera_inside),
        cmocka_unit_test(test_footprint),
        cmocka_unit_test(test_meshes_are_two_sided),
        cmocka_unit_test(test_any_size),
        cmocka_unit_test(test_stereo),
        cmocka_unit_test(test_only_opaque_things_hide),
        cmocka_unit_test(test_shadow_views),
        cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_unusable_runs),
        cmocka_unit_test(test_callback),
        cmocka_unit_test(test_borrowed_target),
        cmocka_unit_test(test_nothing_allocates_in_a_run),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_hidden_things_cost_nothing),
        cmocka_unit_test(test_run_numbers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
