// SPDX-License-Identifier: MIT
// Faults that people met in other software rasterisers and occlusion systems, as they would show here.
#include "test_main.h"

#include <math.h>
#include <string.h>

#include "raster_case.h"

static espyRaster* espyTest_Create(espyRasterMode mode, int32_t width, int32_t height, const espyMat4* clip)
{
    espyRasterDef def = espyRasterDef_Default();
    def.mode = mode;
    def.width = width;
    def.height = height;
    espyRaster* raster = NULL;
    assert_int_equal(espyRaster_Create(&def, &raster), espyResult_Ok);
    assert_int_equal(espyRaster_Begin(raster, clip), espyResult_Ok);
    return raster;
}

static espyOccluder* espyTest_Prepare(const espyTriangles* triangles, espyRasterMode mode, bool twoSided)
{
    espyOccluderDef def = espyOccluderDef_Default();
    def.triangles = *triangles;
    def.mode = mode;
    def.twoSided = twoSided;
    espyOccluder* occluder = NULL;
    assert_int_equal(espyOccluder_Create(&def, &occluder), espyResult_Ok);
    return occluder;
}

/// Draws a box as an occluder.
static void espyTest_DrawBox(espyRaster* raster, espyRasterMode mode, espyBox box)
{
    espyVec3 positions[8];
    uint32_t indices[36];
    espyRasterCase_Box(box, positions, indices);
    espyOccluder* occluder = espyTest_Prepare(&(espyTriangles){positions, indices, 8, 12}, mode, false);
    espyOccluderDraw draw = {occluder, NULL, 0};
    assert_int_equal(espyRaster_DrawSorted(raster, &draw, 1, NULL), espyResult_Ok);
    espyOccluder_Destroy(occluder);
}

static const espyLens espyTest_Lens = {.nearDistance = 0.05f, .halfHeight = 0.6f, .aspect = 16.0f / 9.0f};

/// Two walls with a gap, a box behind: seen through any gap, down to a thousandth of a pixel, where it matters that no
/// sample may fall into it.
static void report_01_gap_between_two_walls(void** state)
{
    (void)state;
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &espyTest_Lens);
    for (float distance = 2.0f; distance < 40.0f; distance *= 1.7f)
    {
        float pixel = distance * 2.0f * 0.6f / 180.0f;
        for (float gap = 3.0f; gap > 0.001f; gap *= 0.45f)
        {
            for (float shift = -0.5f; shift < 0.5f; shift += 0.23f)
            {
                float middle = shift * pixel, half = 0.5f * gap * pixel;
                espyRaster* raster = espyTest_Create(espyRasterMode_Conservative, 320, 180, &clip);
                espyTest_DrawBox(raster, espyRasterMode_Conservative,
                                 (espyBox){{-60, -60, -distance - 0.1f}, {middle - half, 60, -distance}});
                espyTest_DrawBox(raster, espyRasterMode_Conservative,
                                 (espyBox){{middle + half, -60, -distance - 0.1f}, {60, 60, -distance}});
                espyBox behind = {{-2, -1, -3 * distance}, {2, 1, -2 * distance}};
                assert_int_equal(espyRaster_TestBox(raster, behind), espyVisibility_Visible);
                espyBox beside = {{4 * distance * 0.2f, -1, -3 * distance}, {4 * distance * 0.25f, 1, -2 * distance}};
                assert_int_equal(espyRaster_TestBox(raster, beside), espyVisibility_Occluded);
                espyRaster_Destroy(raster);
            }
        }
    }
}

static void report_03_half_covered_cube_close_by(void** state)
{
    (void)state;
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &espyTest_Lens);
    for (int mode = 0; mode < 2; ++mode)
    {
        for (float offset = 0.1f; offset < 9.0f; offset += 0.4f)
        {
            espyRaster* raster = espyTest_Create((espyRasterMode)mode, 320, 180, &clip);
            // Almost touching, from far left to the middle.
            espyTest_DrawBox(raster, (espyRasterMode)mode, (espyBox){{-10, -5, -5.06f}, {0.0f, 5, -0.06f}});
            espyBox second = {{offset - 9.0f, -4, -16}, {offset, 4, -8}};
            assert_int_equal(espyRaster_TestBox(raster, second), espyVisibility_Visible);
            espyBox covered = {{-9.0f, -4, -16}, {-0.5f, 4, -8}};
            assert_int_equal(espyRaster_TestBox(raster, covered), espyVisibility_Occluded);
            espyRaster_Destroy(raster);
        }
    }
}

static void report_05_orthographic_zoom(void** state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
    {
        for (float zoom = 0.5f; zoom < 300.0f; zoom *= 1.6f)
        {
            espyLens lens = {
                .orthographic = true, .nearDistance = 0.1f, .farDistance = 500.0f, .halfHeight = zoom, .aspect = 1.5f};
            espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 20}, (espyVec3){0, 0, 0}, &lens);
            espyRaster* raster = espyTest_Create((espyRasterMode)mode, 480, 320, &clip);
            espyTest_DrawBox(raster, (espyRasterMode)mode, (espyBox){{-10, -10, -1}, {10, 10, 0}});
            assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-0.4f, -0.2f, -5}, {0.4f, 0.2f, -3}}),
                             espyVisibility_Occluded);
            assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-0.4f, -0.2f, 1}, {0.4f, 0.2f, 3}}),
                             espyVisibility_Visible);
            espyRaster_Destroy(raster);
        }
    }
}

static void report_09_hidden_box_that_nearly_touches(void** state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
    {
        for (float distance = 1.0f; distance < 600.0f; distance *= 2.0f)
        {
            espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, distance}, (espyVec3){0, 0, 0}, &espyTest_Lens);
            espyRaster* raster = espyTest_Create((espyRasterMode)mode, 640, 360, &clip);
            espyTest_DrawBox(raster, (espyRasterMode)mode, (espyBox){{-40, -40, -1}, {40, 40, 0}});
            espyBox behind = {{-12, -12, -25.1f}, {12, 12, -1.1f}};
            assert_int_equal(espyRaster_TestBox(raster, behind), espyVisibility_Occluded);
            espyRaster_Destroy(raster);
        }
    }
}

static void report_21_threads_do_not_flicker(void** state)
{
    (void)state;
    enum
    {
        count = 600
    };
    static espyOccluderDraw draws[count];
    static espyMat4 places[count];
    espyVec3 positions[8];
    uint32_t indices[36];
    espyRasterCase_Box((espyBox){{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}}, positions, indices);
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &espyTest_Lens);
    for (int mode = 0; mode < 2; ++mode)
    {
        espyOccluder* cube = espyTest_Prepare(&(espyTriangles){positions, indices, 8, 12}, (espyRasterMode)mode, false);
        espyiRng rng = espyiRng_Seed(21);
        for (int i = 0; i < count; ++i)
        {
            places[i] = espyMat4_Identity();
            for (int k = 0; k < 3; ++k)
            {
                places[i].m[12 + k] = 60.0f * espyiRng_Float(&rng) - (k == 2 ? 62.0f : 30.0f);
            }
            draws[i] = (espyOccluderDraw){cube, &places[i], 0};
        }
        uint32_t one = 1, eight = 8;
        espyTasks tasks[2] = {{espyRasterCase_ParallelFor, &one, 1}, {espyRasterCase_ParallelFor, &eight, 8}};
        espyRaster* rasters[2];
        for (int t = 0; t < 2; ++t)
        {
            rasters[t] = espyTest_Create((espyRasterMode)mode, 500, 300, &clip);
            espyRaster_DrawSorted(rasters[t], draws, count, &tasks[t]);
        }
        for (int i = 0; i < 20000; ++i)
        {
            espyVec3 p = {60.0f * espyiRng_Float(&rng) - 30.0f, 0, 0};
            p.y = 30.0f * espyiRng_Float(&rng) - 15.0f;
            p.z = -70.0f * espyiRng_Float(&rng);
            espyBox box = {p, {p.x + 0.4f, p.y + 0.4f, p.z + 0.4f}};
            assert_int_equal(espyRaster_TestBox(rasters[0], box), espyRaster_TestBox(rasters[1], box));
        }
        espyRaster_Destroy(rasters[0]);
        espyRaster_Destroy(rasters[1]);
        espyOccluder_Destroy(cube);
    }
}

static void report_35_mirrored_instance(void** state)
{
    (void)state;
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 1, 5}, (espyVec3){0, 0, 0}, &espyTest_Lens);
    espyVec3 positions[8], mirrored[8];
    uint32_t indices[36];
    espyRasterCase_Box((espyBox){{0.2f, -1, -1}, {2, 1, 1}}, positions, indices);
    espyRasterCase_Box((espyBox){{-2, -1, -1}, {-0.2f, 1, 1}}, mirrored, indices);
    espyMat4 mirror = espyMat4_Identity();
    mirror.m[0] = -1.0f;
    for (int mode = 0; mode < 2; ++mode)
    {
        espyRaster* rasters[2];
        for (int i = 0; i < 2; ++i)
        {
            espyTriangles box = {i ? mirrored : positions, indices, 8, 12};
            espyOccluder* occluder = espyTest_Prepare(&box, (espyRasterMode)mode, false);
            rasters[i] = espyTest_Create((espyRasterMode)mode, 200, 120, &clip);
            assert_int_equal(espyRaster_DrawOccluder(rasters[i], occluder, i ? NULL : &mirror, 0), espyResult_Ok);
            espyOccluder_Destroy(occluder);
        }
        uint32_t covered = 0;
        for (int32_t y = 0; y < 120; ++y)
        {
            for (int32_t x = 0; x < 200; ++x)
            {
                float a = espyRaster_GetDepth(rasters[0], x, y), b = espyRaster_GetDepth(rasters[1], x, y);
                // Claims look at whole tiles, and the diagonals of faces run the other way.
                assert_true(fabsf(a - b) < (mode == 0 ? 1e-5f : 2e-2f));
                covered += a < 1.0f ? 1u : 0u;
            }
        }
        assert_true(covered > 500);
        espyRaster_Destroy(rasters[0]);
        espyRaster_Destroy(rasters[1]);
    }
}

static void report_37_sizes_that_are_no_powers_of_two(void** state)
{
    (void)state;
    espyLens lens = espyTest_Lens;
    lens.aspect = 1013.0f / 617.0f;
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &lens);
    espyRaster* raster = espyTest_Create(espyRasterMode_Sampled, 1013, 617, &clip);
    espyTest_DrawBox(raster, espyRasterMode_Sampled, (espyBox){{-900, -900, -11}, {900, 900, -10}});
    // One hole: everything is hidden but what touches its pixels.
    espyRaster* holed = espyTest_Create(espyRasterMode_Sampled, 1013, 617, &clip);
    const int32_t hole[2] = {1012, 616};
    float pixel = 10.0f * 1.2f / 617.0f, left = (float)(hole[0] - 506) * pixel, top = -(float)(hole[1] - 308) * pixel;
    espyTest_DrawBox(holed, espyRasterMode_Sampled, (espyBox){{-900, -900, -11}, {left - pixel * 0.55f, 900, -10}});
    espyTest_DrawBox(holed, espyRasterMode_Sampled, (espyBox){{-900, top + pixel * 0.55f, -11}, {900, 900, -10}});
    assert_true(espyRaster_GetDepth(holed, hole[0], hole[1]) == 1.0f);
    float behind = espyRaster_GetDepth(raster, 500, 300) + 1e-4f;
    for (int32_t y = 0; y < 617; y += 3)
    {
        for (int32_t x = 0; x < 1013; x += 3)
        {
            for (int32_t size = 1; size < 700; size = size * 3 + 1)
            {
                espyPixelRect rect = {x, y, x + size, y + size};
                assert_int_equal(espyRaster_TestRect(raster, rect, behind), espyVisibility_Occluded);
                bool touches = hole[0] < rect.x1 && hole[1] < rect.y1;
                assert_int_equal(espyRaster_TestRect(holed, rect, behind),
                                 touches ? espyVisibility_Visible : espyVisibility_Occluded);
            }
        }
    }
    espyRaster_Destroy(raster);
    espyRaster_Destroy(holed);
}

static void report_41_box_from_all_sides(void** state)
{
    (void)state;
    espyVec3 positions[8];
    uint32_t indices[36];
    espyBox box = {{-1, -1, -1}, {1, 1, 1}};
    espyRasterCase_Box(box, positions, indices);
    espyTriangles mesh = {positions, indices, 8, 12};
    for (int i = 0; i < 27; ++i)
    {
        espyVec3 eye = {(float)(i % 3 - 1) * 6.0f, (float)(i / 3 % 3 - 1) * 6.0f, (float)(i / 9 - 1) * 6.0f};
        espyVec3 target = i == 13 ? (espyVec3){1, 0, 0} : (espyVec3){0, 0, 0};
        espyMat4 clip = espyRasterCase_View(eye, target, &espyTest_Lens);
        espyRaster* raster = espyTest_Create(espyRasterMode_Sampled, 64, 36, &clip);
        assert_int_equal(espyRaster_TestMesh(raster, &mesh, NULL), espyVisibility_Visible);
        assert_int_equal(espyRaster_TestBox(raster, box), espyVisibility_Visible);
        // One face alone, which turns its back on half of the places.
        assert_int_equal(espyRaster_TestMesh(raster, &(espyTriangles){positions, indices, 8, 2}, NULL),
                         i == 13 ? espyVisibility_Outside : espyVisibility_Visible);
        espyRaster_Destroy(raster);
    }
}

static void report_47_quad_through_the_near_plane(void** state)
{
    (void)state;
    for (int i = 0; i < 4; ++i)
    {
        espyLens lens = {.orthographic = i & 1,
                         .reversedZ = (i & 2) != 0,
                         .nearDistance = 1.0f,
                         .farDistance = 50.0f,
                         .halfHeight = i & 1 ? 4.0f : 1.0f,
                         .aspect = 1.0f};
        espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &lens);
        espyRasterDef def = espyRasterDef_Default();
        def.width = def.height = 101;
        def.reversedZ = lens.reversedZ;
        espyRaster* raster = NULL;
        assert_int_equal(espyRaster_Create(&def, &raster), espyResult_Ok);
        espyRaster_Begin(raster, &clip);
        // A floor from behind the eye to far in front, 1 below it.
        espyVec3 floor[4] = {{-9, -1, 9}, {9, -1, 9}, {9, -1, -40}, {-9, -1, -40}};
        uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
        assert_int_equal(espyRaster_DrawTriangles(raster, &(espyTriangles){floor, indices, 4, 2}, NULL, 0, true),
                         espyResult_Ok);
        float none = lens.reversedZ ? 0.0f : 1.0f;
        for (int32_t y = 0; y < 101; ++y)
        {
            float depth = espyRaster_GetDepth(raster, 50, y);
            // Orthographic: seen edge-on. Perspective: below the horizon only, nearer the lower.
            bool drawn = !lens.orthographic && y > 51;
            assert_true(drawn == (depth != none));
            assert_true(!drawn || y == 52 ||
                        (lens.reversedZ ? depth >= espyRaster_GetDepth(raster, 50, y - 1)
                                        : depth <= espyRaster_GetDepth(raster, 50, y - 1)));
        }
        // A wall that leans through the near plane: nothing of it shows where it is behind.
        espyRaster_Begin(raster, &clip);
        espyVec3 wall[4] = {{-9, -9, 8}, {9, -9, 8}, {9, 9, -10}, {-9, 9, -10}};
        espyRaster_DrawTriangles(raster, &(espyTriangles){wall, indices, 4, 2}, NULL, 0, true);
        // It is at z = -1 - y, so that it meets the near plane at height 0.
        for (int32_t y = 0; y < 101; ++y)
        {
            // In perspective its upper end is below the upper border of the screen.
            bool drawn = espyRaster_GetDepth(raster, 50, y) != none;
            assert_true(drawn ? y <= 50 : y >= 50 || (y < 8 && !lens.orthographic));
        }
        espyRaster_Destroy(raster);
    }
}

static void report_49_few_and_broken_occluders(void** state)
{
    (void)state;
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 5}, (espyVec3){0, 0, 0}, &espyTest_Lens);
    espyVec3 corners[5] = {{-1, -1, 0}, {1, -1, 0}, {0, 1, 0}, {0, 0, -1}, {NAN, 0, 0}};
    uint32_t tetrahedron[12] = {0, 1, 2, 1, 0, 3, 2, 1, 3, 0, 2, 3}, broken[9] = {0, 0, 0, 0, 1, 4, 1, 2, 1};
    for (int mode = 0; mode < 2; ++mode)
    {
        for (uint32_t count = 0; count <= 40; ++count)
        {
            espyRaster* raster = espyTest_Create((espyRasterMode)mode, 100, 60, &clip);
            espyOccluder* occluder =
                espyTest_Prepare(&(espyTriangles){corners, tetrahedron, 4, 4}, (espyRasterMode)mode, false);
            espyOccluderDraw draws[40];
            for (uint32_t i = 0; i < count; ++i)
            {
                draws[i] = (espyOccluderDraw){occluder, NULL, i};
            }
            assert_int_equal(espyRaster_DrawSorted(raster, draws, count, NULL), espyResult_Ok);
            assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-0.1f, -0.3f, -4}, {0.1f, -0.1f, -3}}),
                             count > 0 ? espyVisibility_Occluded : espyVisibility_Visible);
            espyOccluder_Destroy(occluder);
            espyRaster_Destroy(raster);
        }
        espyRaster* raster = espyTest_Create((espyRasterMode)mode, 100, 60, &clip);
        espyOccluder* occluder = espyTest_Prepare(&(espyTriangles){corners, broken, 5, 3}, (espyRasterMode)mode, false);
        assert_int_equal(espyOccluder_GetTriangleCount(occluder), 0);
        assert_int_equal(espyRaster_DrawOccluder(raster, occluder, NULL, 0), espyResult_Ok);
        espyOccluder_Destroy(occluder);
        uint32_t past[3] = {0, 1, 5};
        espyOccluderDef def = espyOccluderDef_Default();
        def.triangles = (espyTriangles){corners, past, 5, 1};
        assert_int_equal(espyOccluder_Create(&def, &occluder), espyResult_InvalidArgument);
        assert_int_equal(espyRaster_DrawTriangles(raster, &def.triangles, NULL, 0, false), espyResult_InvalidArgument);
        assert_int_equal(espyRaster_TestMesh(raster, &def.triangles, NULL), espyVisibility_Unknown);
        espyRaster_Destroy(raster);
    }
}

static void report_51_walls_that_meet_hide_together(void** state)
{
    (void)state;
    espyVec3 wall[6] = {{-8, -8, 0}, {0.013f, -8, 0}, {0.013f, 8, 0}, {-8, 8, 0}, {8, -8, 0}, {8, 8, 0}};
    uint32_t indices[12] = {0, 1, 2, 0, 2, 3, 1, 4, 5, 1, 5, 2};
    for (int mode = 0; mode < 2; ++mode)
    {
        espyOccluder* occluder = espyTest_Prepare(&(espyTriangles){wall, indices, 6, 4}, (espyRasterMode)mode, false);
        for (float x = -2.0f; x < 2.0f; x += 0.17f)
        {
            espyMat4 clip = espyRasterCase_View((espyVec3){x, 0.3f, 6}, (espyVec3){0, 0, 0}, &espyTest_Lens);
            espyRaster* raster = espyTest_Create((espyRasterMode)mode, 321, 179, &clip);
            espyRaster_DrawOccluder(raster, occluder, NULL, 0);
            assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-1, -1, -3}, {1, 1, -1}}), espyVisibility_Occluded);
            espyRaster_Destroy(raster);
        }
        espyOccluder_Destroy(occluder);
    }
    // Two occluders meet in Sampled mode as well.
    espyMat4 clip = espyRasterCase_View((espyVec3){0.4f, 0.3f, 6}, (espyVec3){0, 0, 0}, &espyTest_Lens);
    espyRaster* raster = espyTest_Create(espyRasterMode_Sampled, 321, 179, &clip);
    espyRaster_DrawTriangles(raster, &(espyTriangles){wall, indices, 6, 2}, NULL, 0, false);
    espyRaster_DrawTriangles(raster, &(espyTriangles){wall, indices + 6, 6, 2}, NULL, 0, false);
    assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-1, -1, -3}, {1, 1, -1}}), espyVisibility_Occluded);
    espyRaster_Destroy(raster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_01_gap_between_two_walls),
        cmocka_unit_test(report_03_half_covered_cube_close_by),
        cmocka_unit_test(report_05_orthographic_zoom),
        cmocka_unit_test(report_09_hidden_box_that_nearly_touches),
        cmocka_unit_test(report_21_threads_do_not_flicker),
        cmocka_unit_test(report_35_mirrored_instance),
        cmocka_unit_test(report_37_sizes_that_are_no_powers_of_two),
        cmocka_unit_test(report_41_box_from_all_sides),
        cmocka_unit_test(report_47_quad_through_the_near_plane),
        cmocka_unit_test(report_49_few_and_broken_occluders),
        cmocka_unit_test(report_51_walls_that_meet_hide_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
