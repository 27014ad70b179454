// SPDX-License-Identifier: MIT
// Answers on whole scenes against truth in double: 20,000 boxes a scene and mode, none wrongly hidden. Sampled mode is
// held to every pixel that a box touches, Conservative mode to 64 sub-samples a pixel; what is hidden and yet shown
// (the leak) is printed and bounded.
#include "test_main.h"

#include <stdio.h>

#include "raster_case.h"
#include "reference/raster_reference.h"
#include "scenes/scenes.h"

#define ESPY_BOXES 20000u

typedef struct espySceneView
{
    const char* name;
    uint32_t size;
    espyVec3 eye, target;
    bool reversedZ;
} espySceneView;

static const espySceneView espyTest_Views[] = {
    {"castle", 0, {84.0f, 14.0f, -88.0f}, {0.0f, 6.0f, 0.0f}, true},
    {"castle", 0, {30.0f, 1.75f, -31.0f}, {-30.0f, 3.0f, 20.0f}, false},
    {"city", 22, {1.0f, 1.75f, 1.0f}, {418.0f, 4.0f, 380.0f}, true},
};

static espyBox espyTest_RandomBox(espyiRng* rng, espyBox bounds)
{
    float v[6];
    for (int i = 0; i < 6; ++i)
    {
        v[i] = espyiRng_Float(rng);
    }
    espyVec3 at = {bounds.min.x + (bounds.max.x - bounds.min.x) * v[0], 14.0f * v[1] * v[1] - 0.2f,
                   bounds.min.z + (bounds.max.z - bounds.min.z) * v[2]};
    return (espyBox){at, {at.x + 0.1f + 2.0f * v[3], at.y + 0.1f + 2.5f * v[4], at.z + 0.1f + 2.0f * v[5]}};
}

static void espyTest_View(const espySceneView* view, espyRasterMode mode, double mostLeak)
{
    const int32_t width = mode == espyRasterMode_Sampled ? 641 : 241,
                  height = mode == espyRasterMode_Sampled ? 359 : 135;
    const int32_t fine = mode == espyRasterMode_Sampled ? 1 : 8;
    espyWorld* world = NULL;
    assert_int_equal(espyScene_Build(view->name, view->size, 1, &world), espyResult_Ok);
    espyRasterMesh mesh = espyRasterCase_FromWorld(world);
    espyWorld_Destroy(world);
    espyLens lens = {.reversedZ = view->reversedZ,
                     .nearDistance = 0.1f,
                     .farDistance = 900.0f,
                     .halfHeight = 0.57735f,
                     .aspect = 16.0f / 9.0f};
    espyMat4 clip = espyRasterCase_View(view->eye, view->target, &lens);
    espyReferenceImage image = espyReferenceImage_Create(width * fine, height * fine, view->reversedZ, 0);
    espyReferenceImage_Draw(&image, &mesh.triangles, &clip, 0, false);

    espyOccluderDef occluderDef = espyOccluderDef_Default();
    occluderDef.triangles = mesh.triangles;
    occluderDef.mode = mode;
    espyOccluder* occluder;
    assert_int_equal(espyOccluder_Create(&occluderDef, &occluder), espyResult_Ok);
    espyRasterDef def = espyRasterDef_Default();
    def.mode = mode;
    def.width = width;
    def.height = height;
    def.reversedZ = view->reversedZ;
    espyRaster* raster;
    assert_int_equal(espyRaster_Create(&def, &raster), espyResult_Ok);
    espyRaster_Begin(raster, &clip);
    espyOccluderDraw draw = {occluder, NULL, 0};
    assert_int_equal(espyRaster_DrawSorted(raster, &draw, 1, NULL), espyResult_Ok);

    // What is claimed is never nearer than what is there, at any sample; and the same whatever the order and set.
    uint32_t tooNear = 0;
    for (int32_t y = 0; y < height * fine && mode == espyRasterMode_Conservative; ++y)
    {
        for (int32_t x = 0; x < width * fine; ++x)
        {
            double claimed = (double)espyRaster_GetDepth(raster, x / fine, y / fine);
            claimed = view->reversedZ ? claimed : 1.0 - claimed;
            tooNear += claimed > image.nearness[(size_t)y * (size_t)(width * fine) + (size_t)x] + 1e-7 ? 1u : 0u;
        }
    }
    uint32_t wrong = 0, leak = 0, judged = 0, hidden = 0;
    espyiRng rng = espyiRng_Seed(11);
    espyBox bounds = espyOccluder_GetBounds(occluder);
    for (uint32_t i = 0; i < ESPY_BOXES; ++i)
    {
        espyBox box = espyTest_RandomBox(&rng, bounds);
        espyReferenceAnswer truth = espyReferenceImage_TestBox(&image, &clip, box, mode == espyRasterMode_Sampled);
        espyVisibility found = espyRaster_TestBox(raster, box);
        bool culled = found == espyVisibility_Occluded || found == espyVisibility_Outside;
        if (truth == espyReferenceAnswer_CrossesNear || truth == espyReferenceAnswer_Off)
        {
            assert_true(truth == espyReferenceAnswer_Off || found != espyVisibility_Occluded);
            continue;
        }
        ++judged;
        hidden += truth == espyReferenceAnswer_Hidden ? 1u : 0u;
        wrong += culled && truth == espyReferenceAnswer_Shows ? 1u : 0u;
        leak += !culled && truth == espyReferenceAnswer_Hidden ? 1u : 0u;
    }
    print_message("%s, %s: %u boxes judged, %u hidden, %u wrong, leak %.2f %%, %u samples claimed too near\n",
                  view->name, mode == espyRasterMode_Sampled ? "sampled" : "conservative", judged, hidden, wrong,
                  100.0 * leak / judged, tooNear);
    assert_int_equal(tooNear, 0);
    assert_int_equal(wrong, 0);
    assert_true(100.0 * leak / judged <= mostLeak);

    // The order of draws, the instruction set and threads change nothing.
    static const espyIsa isas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(isas); ++i)
    {
        def.isaCap = isas[i];
        def.maxBatches = i == 1 ? 50 : 16384;
        espyRaster* other;
        uint32_t threads = 1 + i;
        espyTasks tasks = {espyRasterCase_ParallelFor, &threads, threads};
        assert_int_equal(espyRaster_Create(&def, &other), espyResult_Ok);
        espyRaster_Begin(other, &clip);
        if (i == 2)
        {
            espyRaster_DrawOccluder(other, occluder, NULL, 0);
        }
        else
        {
            espyRaster_DrawSorted(other, &draw, 1, &tasks);
        }
        uint32_t differ = 0;
        for (int32_t y = 0; y < height; ++y)
        {
            for (int32_t x = 0; x < width; ++x)
            {
                differ += espyRaster_GetDepth(other, x, y) != espyRaster_GetDepth(raster, x, y) ? 1u : 0u;
            }
        }
        if (differ > 0)
        {
            fail_msg("%u pixels differ with %s, %u threads", differ, espyIsa_GetName(espyRaster_GetIsa(other)),
                     threads);
        }
        espyRaster_Destroy(other);
    }
    espyRaster_Destroy(raster);
    espyOccluder_Destroy(occluder);
    espyReferenceImage_Destroy(&image);
    espyRasterMesh_Free(&mesh);
}

static void test_sampled_answers(void** state)
{
    (void)state;
    for (uint32_t v = 0; v < ESPYI_ARRAY_COUNT(espyTest_Views); ++v)
    {
        espyTest_View(&espyTest_Views[v], espyRasterMode_Sampled, 0.5);
    }
}

static void test_conservative_answers(void** state)
{
    (void)state;
    for (uint32_t v = 0; v < ESPYI_ARRAY_COUNT(espyTest_Views); ++v)
    {
        espyTest_View(&espyTest_Views[v], espyRasterMode_Conservative, 12.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled_answers),
        cmocka_unit_test(test_conservative_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
