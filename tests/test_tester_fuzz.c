// SPDX-License-Identifier: MIT
// Tester meshes over random scenes against brute force: when a run is over, no tester that could have been seen is
// inactive, and what is shown is what the active testers reveal.
#include "test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference/tester_reference.h"
#include "tester_case.h"

#define ESPY_TEST_TARGETS 12u
#define ESPY_TEST_TESTERS 24u
#define ESPY_TEST_DRAWS 40u

/// A scene twice: in the library, and as plain triangles.
typedef struct espyTestWorld
{
    espyTesterCase c;
    espyiRng rng;
    uint32_t targetCount, testerCount, drawCount;
    espyTesterTargetId targetIds[ESPY_TEST_TARGETS];
    espyTesterId testerIds[ESPY_TEST_TESTERS];
    espyTesterDrawId drawIds[ESPY_TEST_DRAWS];
    espyReferenceTarget targets[ESPY_TEST_TARGETS];
    espyReferenceMesh testers[ESPY_TEST_TESTERS], draws[ESPY_TEST_DRAWS];
    uint32_t revealed[ESPY_TEST_TESTERS][ESPY_TEST_TARGETS];
    bool isMesh[ESPY_TEST_TESTERS];
    espyTesterCaseBox testerBoxes[ESPY_TEST_TESTERS], drawBoxes[ESPY_TEST_DRAWS];
    espyDeviceMesh wedge; ///< A mesh that fills half of its bounds.
    espyReferenceTesters reference;
} espyTestWorld;

static const espyVec3 espyTest_WedgePositions[4] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
static const uint32_t espyTest_WedgeIndices[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static float espyTest_Range(espyTestWorld* w, float low, float high)
{
    return low + (high - low) * espyiRng_Float(&w->rng);
}

static espyMat4 espyTest_Place(espyTestWorld* w, float smallest, float largest)
{
    float q[4], length = 0;
    for (int i = 0; i < 4; ++i)
    {
        q[i] = espyTest_Range(w, -1, 1);
        length += q[i] * q[i];
    }
    bool turned = espyiRng_Below(&w->rng, 2) == 0 && length > 0.01f;
    for (int i = 0; i < 4; ++i)
    {
        q[i] = turned ? q[i] / sqrtf(length) : i == 3 ? 1.0f : 0.0f;
    }
    espyVec3 at = {espyTest_Range(w, -12, 12), espyTest_Range(w, -6, 6), espyTest_Range(w, -24, 4)};
    espyVec3 scale = {espyTest_Range(w, smallest, largest), espyTest_Range(w, smallest, largest),
                      espyTest_Range(w, smallest, largest)};
    if (espyiRng_Below(&w->rng, 6) == 0)
    {
        scale.x = 0.0f; // A sheet.
    }
    return espyMat4_FromTrs(at, q, scale);
}

static espyTriangles espyTest_WedgeTriangles(const espyMat4* toWorld, espyTesterCaseBox* out)
{
    for (int i = 0; i < 4; ++i)
    {
        out->positions[i] = espyMat4_TransformPoint(*toWorld, espyTest_WedgePositions[i]);
    }
    memcpy(out->indices, espyTest_WedgeIndices, sizeof espyTest_WedgeIndices);
    return (espyTriangles){out->positions, out->indices, 4, 4};
}

static uint32_t espyTest_Parent(espyTestWorld* w, uint32_t below)
{
    uint32_t pick = espyiRng_Below(&w->rng, 2 * below + 1);
    return pick < below ? pick : ESPY_REFERENCE_NONE;
}

static espyTesterTargetId espyTest_TargetId(const espyTestWorld* w, uint32_t target)
{
    return target == ESPY_REFERENCE_NONE ? (espyTesterTargetId){0, 0} : w->targetIds[target];
}

static void espyTest_PlaceTester(espyTestWorld* w, uint32_t i)
{
    espyMat4 place = espyTest_Place(w, 0.02f, 3.0f);
    w->testers[i].triangles = w->isMesh[i] ? espyTest_WedgeTriangles(&place, &w->testerBoxes[i])
                                           : espyTesterCase_Triangles(&place, &w->testerBoxes[i]);
    assert_int_equal(espyTesterScene_SetTransform(w->c.scene, w->testerIds[i], place), espyResult_Ok);
}

static void espyTest_PlaceDraw(espyTestWorld* w, uint32_t i)
{
    espyMat4 place = espyTest_Place(w, 0.2f, i % 5 == 0 ? 9.0f : 2.5f);
    w->draws[i].triangles = espyTesterCase_Triangles(&place, &w->drawBoxes[i]);
    assert_int_equal(espyTesterScene_SetDrawTransform(w->c.scene, w->drawIds[i], place), espyResult_Ok);
}

static void espyTest_Build(espyTestWorld* w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->rng = espyiRng_Seed(seed);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.width = 24 + (int32_t)espyiRng_Below(&w->rng, 70);
    def.height = 24 + (int32_t)espyiRng_Below(&w->rng, 50);
    def.reversedZ = espyiRng_Below(&w->rng, 2) == 0;
    def.mode = espyiRng_Below(&w->rng, 3) == 0 ? espyIdMode_Flag : espyIdMode_Index;
    def.seed = espyiRng_Below(&w->rng, 3) != 0;
    def.passBudget = espyiRng_Below(&w->rng, 4) == 0 ? 1 + espyiRng_Below(&w->rng, 3) : 0;
    espyTesterCase_Create(&w->c, &def, espyiRng_Below(&w->rng, 6) == 0 ? 3 : 0);
    w->c.lens.orthographic = espyiRng_Below(&w->rng, 4) == 0;
    w->c.lens.farDistance = w->c.lens.orthographic ? 60.0f : espyiRng_Below(&w->rng, 2) == 0 ? 30.0f : 0.0f;
    w->c.lens.halfHeight = w->c.lens.orthographic ? 8.0f : w->c.lens.halfHeight;
    espyTriangles wedge = {espyTest_WedgePositions, espyTest_WedgeIndices, 4, 4};
    assert_int_equal(w->c.device.createMesh(w->c.device.context, &wedge, false, &w->wedge), espyResult_Ok);

    w->targetCount = 1 + espyiRng_Below(&w->rng, ESPY_TEST_TARGETS);
    for (uint32_t i = 0; i < w->targetCount; ++i)
    {
        w->targets[i].parent = espyTest_Parent(w, i);
        w->targetIds[i] = espyTesterCase_Target(&w->c, espyTest_TargetId(w, w->targets[i].parent), NULL);
    }
    w->testerCount = 1 + espyiRng_Below(&w->rng, ESPY_TEST_TESTERS);
    for (uint32_t i = 0; i < w->testerCount; ++i)
    {
        espyReferenceMesh* tester = &w->testers[i];
        espyTesterDef testerDef = espyTesterDef_Default();
        tester->parent = espyTest_Parent(w, w->targetCount);
        w->isMesh[i] = espyiRng_Below(&w->rng, 4) == 0;
        testerDef.parent = espyTest_TargetId(w, tester->parent);
        testerDef.mesh = w->isMesh[i] ? w->wedge : (espyDeviceMesh){0};
        assert_int_equal(espyTesterScene_CreateTester(w->c.scene, &testerDef, &w->testerIds[i]), espyResult_Ok);
        tester->targets = w->revealed[i];
        for (uint32_t k = 0; k < 3; ++k)
        {
            // What would close a cycle is refused.
            uint32_t target = espyiRng_Below(&w->rng, w->targetCount);
            if (espyTesterScene_AddTarget(w->c.scene, w->testerIds[i], w->targetIds[target]) == espyResult_Ok)
            {
                w->revealed[i][tester->targetCount++] = target;
            }
        }
        tester->forced = espyiRng_Below(&w->rng, 20) == 0;
        espyTesterScene_SetForceActive(w->c.scene, w->testerIds[i], tester->forced, (espyTesterViewId){0, 0});
        espyTest_PlaceTester(w, i);
    }
    w->drawCount = espyiRng_Below(&w->rng, ESPY_TEST_DRAWS);
    for (uint32_t i = 0; i < w->drawCount; ++i)
    {
        w->draws[i].parent = espyTest_Parent(w, w->targetCount);
        w->drawIds[i] =
            espyTesterCase_Draw(&w->c, espyTest_TargetId(w, w->draws[i].parent), (espyBox){{-1, -1, -1}, {1, 1, 1}});
        espyTest_PlaceDraw(w, i);
    }
    w->reference = (espyReferenceTesters){.targets = w->targets,
                                          .testers = w->testers,
                                          .draws = w->draws,
                                          .targetCount = w->targetCount,
                                          .testerCount = w->testerCount,
                                          .drawCount = w->drawCount,
                                          .width = def.width,
                                          .height = def.height,
                                          .reversedZ = def.reversedZ};
}

static void espyTest_Move(espyTestWorld* w)
{
    if (espyiRng_Below(&w->rng, 3) == 0)
    {
        w->c.eye = (espyVec3){espyTest_Range(w, -3, 3), espyTest_Range(w, -1, 1), espyTest_Range(w, 0, 6)};
        w->c.look = (espyVec3){espyTest_Range(w, -6, 6), espyTest_Range(w, -2, 2), -10};
    }
    else
    {
        w->c.eye.x += espyTest_Range(w, -0.3f, 0.3f);
        w->c.eye.z += espyTest_Range(w, -0.5f, 0.3f);
    }
    if (w->drawCount > 0 && espyiRng_Below(&w->rng, 2) == 0)
    {
        espyTest_PlaceDraw(w, espyiRng_Below(&w->rng, w->drawCount));
    }
    if (espyiRng_Below(&w->rng, 2) == 0)
    {
        espyTest_PlaceTester(w, espyiRng_Below(&w->rng, w->testerCount));
    }
    w->reference.clip = espyTesterCase_Clip(&w->c);
}

/// What is shown follows from who is active, by the words of the model.
static void espyTest_CheckShown(const espyTestWorld* w, const uint8_t* active, const uint8_t* shown)
{
    uint8_t targetActive[ESPY_TEST_TARGETS] = {0};
    for (uint32_t i = 0; i < w->testerCount; ++i)
    {
        for (uint32_t k = 0; k < w->testers[i].targetCount && active[i]; ++k)
        {
            targetActive[w->testers[i].targets[k]] = 1;
        }
    }
    uint32_t count = 0, listed;
    for (uint32_t i = 0; i < w->targetCount; ++i)
    {
        bool all = true;
        for (uint32_t at = i; at != ESPY_REFERENCE_NONE; at = w->targets[at].parent)
        {
            all = all && targetActive[at];
        }
        assert_int_equal(shown[i], all);
        count += all;
    }
    espyTesterScene_GetShown(w->c.scene, (espyTesterViewId){0, 0}, &listed);
    assert_int_equal(listed, count);
}

static void test_no_visible_tester_stays_inactive(void** state)
{
    (void)state;
    uint64_t first = 0;
    uint32_t hidden = 0, visible = 0, active = 0, plain = 0;
    for (uint64_t seed = first; seed < first + 1200; ++seed)
    {
        static espyTestWorld w;
        espyTest_Build(&w, seed);
        uint8_t before[ESPY_TEST_TARGETS] = {0};
        for (int frame = 0; frame < 5; ++frame)
        {
            espyTest_Move(&w);
            espyTesterCase_Run(&w.c);
            uint8_t isActive[ESPY_TEST_TESTERS], shown[ESPY_TEST_TARGETS];
            uint32_t pixels[ESPY_TEST_TESTERS], inner[ESPY_TEST_TESTERS];
            for (uint32_t i = 0; i < w.testerCount; ++i)
            {
                isActive[i] = espyTesterCase_WasActive(&w.c, w.testerIds[i]);
            }
            for (uint32_t i = 0; i < w.targetCount; ++i)
            {
                shown[i] = espyTesterCase_IsShown(&w.c, w.targetIds[i]);
            }
            espyTest_CheckShown(&w, isActive, shown);
            espyReferenceTesters_CountPixels(&w.reference, shown, pixels, inner);
            for (uint32_t i = 0; i < w.testerCount; ++i)
            {
                uint32_t sure = w.isMesh[i] ? inner[i] : pixels[i];
                visible += sure > 0;
                hidden += !isActive[i];
                if (sure > 0 && !isActive[i])
                {
                    fail_msg("seed %llu frame %d: tester %u has %u pixels and is not active", (unsigned long long)seed,
                             frame, i, sure);
                }
            }
            // Events are the difference of what is shown.
            uint32_t events;
            const espyTesterEvent* list = espyTesterScene_GetEvents(w.c.scene, (espyTesterViewId){0, 0}, &events);
            for (uint32_t i = 0; i < events; ++i)
            {
                uint32_t target = (uint32_t)list[i].target.index1 - 1u;
                assert_int_equal(before[target], !list[i].entered);
                before[target] = list[i].entered;
            }
            assert_memory_equal(before, shown, w.targetCount);
            // How close to the plain nine steps, where nothing is in the way of that.
            if (!w.c.main.seed && w.c.main.passBudget == 0 && w.c.main.mode == espyIdMode_Index &&
                w.c.lastMessage != espyMessageId_TesterTooMany)
            {
                uint8_t plainActive[ESPY_TEST_TESTERS], plainShown[ESPY_TEST_TARGETS];
                espyReferenceTesters_Run(&w.reference, plainActive, plainShown);
                for (uint32_t i = 0; i < w.testerCount; ++i)
                {
                    active += isActive[i];
                    plain += plainActive[i];
                }
            }
        }
        w.c.device.destroyMesh(w.c.device.context, w.wedge);
        espyTesterCase_Destroy(&w.c);
    }
    print_message("visible %u, inactive %u; active %u where the plain steps have %u\n", visible, hidden, active, plain);
    assert_true(visible > 5000 && hidden > 5000 && plain > 500);
    assert_true((double)active < 1.3 * (double)plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_visible_tester_stays_inactive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
