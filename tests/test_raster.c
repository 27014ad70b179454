// SPDX-License-Identifier: MIT
// The rasteriser in Sampled mode: pixel for pixel against the reference, the same bits from every instruction set,
// order and number of threads, and all kinds of projections, sizes and bad input.
#include "test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hook_counter.h"
#include "raster_case.h"
#include "reference/raster_reference.h"
#include "scenes/scenes.h"

static const espyIsa espyTest_Isas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};

static espyRaster* espyTest_Create(int32_t width, int32_t height, bool ids, bool reversedZ, espyIsa cap)
{
    espyRasterDef def = espyRasterDef_Default();
    def.width = width;
    def.height = height;
    def.ids = ids;
    def.reversedZ = reversedZ;
    def.isaCap = cap;
    espyRaster* raster = NULL;
    assert_int_equal(espyRaster_Create(&def, &raster), espyResult_Ok);
    return raster;
}

static uint64_t espyTest_Hash(const espyRaster* raster)
{
    uint64_t hash = 0;
    for (int32_t y = 0; y < espyRaster_GetHeight(raster); ++y)
    {
        for (int32_t x = 0; x < espyRaster_GetWidth(raster); ++x)
        {
            float depth = espyRaster_GetDepth(raster, x, y);
            uint32_t bits;
            memcpy(&bits, &depth, sizeof bits);
            hash = espyiHash_U64(hash, (uint64_t)bits << 32 | espyRaster_GetId(raster, x, y));
        }
    }
    return hash;
}

/// Random triangles on a plane grid of sub-pixels, seen straight on: what is projected is exact, so that coverage must
/// agree in every pixel, ties included.
static void test_coverage_is_exact(void** state)
{
    (void)state;
    const int32_t sizes[][2] = {{1, 1}, {1, 7}, {13, 1}, {8, 8}, {64, 64}, {65, 33}, {127, 70}, {256, 128}};
    uint32_t pixels = 0, coarse = 0;
    for (uint32_t s = 0; s < ESPYI_ARRAY_COUNT(sizes); ++s)
    {
        int32_t width = sizes[s][0], height = sizes[s][1];
        // Pixels as units; depth from z. Powers of two keep everything exact, also where a size is odd.
        float scaleX = 2.0f / (float)width, scaleY = 2.0f / (float)height;
        espyMat4 clip = espyMat4_Identity();
        clip.m[0] = scaleX;
        clip.m[5] = scaleY;
        for (uint64_t seed = 1; seed <= 40; ++seed)
        {
            espyiRng rng = espyiRng_Seed(seed * 977 + s);
            enum
            {
                count = 60
            };
            espyVec3 positions[3 * count];
            uint32_t indices[3 * count];
            // Steps of a quarter pixel make many ties; fine steps test the rest.
            uint32_t digits = seed % 3 == 0 ? 2 : seed % 3 == 1 ? 1 : 8;
            float unit = 1.0f / (float)(1u << digits);
            for (uint32_t i = 0; i < 3 * count; ++i)
            {
                uint32_t spanX = (uint32_t)(width + 8) << digits, spanY = (uint32_t)(height + 8) << digits;
                float x = ((float)espyiRng_Below(&rng, spanX) - (float)spanX * 0.5f) * unit;
                float y = ((float)espyiRng_Below(&rng, spanY) - (float)spanY * 0.5f) * unit;
                float z = (float)espyiRng_Below(&rng, 255) / 256.0f;
                positions[i] = (espyVec3){x, y, z};
                indices[i] = i % 9 == 5 ? i - 4 : i; // Some share an edge.
            }
            espyReferenceImage image = espyReferenceImage_Create(width, height, true, 12);
            espyRaster* raster = espyTest_Create(width, height, true, true, espyIsa_Auto);
            assert_int_equal(espyRaster_Begin(raster, &clip), espyResult_Ok);
            for (uint32_t t = 0; t < count; ++t)
            {
                espyTriangles one = {positions, indices + 3 * t, 3 * count, 1};
                espyReferenceImage_Draw(&image, &one, &clip, t, true);
                assert_int_equal(espyRaster_DrawTriangles(raster, &one, NULL, t, true), espyResult_Ok);
            }
            for (int32_t y = 0; y < height; ++y)
            {
                for (int32_t x = 0; x < width; ++x)
                {
                    size_t at = (size_t)(y * width + x);
                    double expected = image.nearness[at], found = (double)espyRaster_GetDepth(raster, x, y);
                    // Slivers are steep: their planes hold fewer digits.
                    ++pixels;
                    coarse += fabs(found - expected) > 4e-6 ? 1u : 0u;
                    bool drawn = espyRaster_GetId(raster, x, y) != ESPY_RASTER_NO_ID;
                    if (drawn != (image.ids[at] != UINT32_MAX) || fabs(found - expected) > 1e-3)
                    {
                        print_error("size %dx%d seed %llu pixel %d %d: id %u for %u, depth %.9g for %.9g\n", width,
                                    height, (unsigned long long)seed, x, y, espyRaster_GetId(raster, x, y),
                                    image.ids[at], found, expected);
                        fail();
                    }
                }
            }
            // Every instruction set, and the other way round.
            uint64_t hash = espyTest_Hash(raster);
            for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(espyTest_Isas); ++i)
            {
                espyRaster* other = espyTest_Create(width, height, true, true, espyTest_Isas[i]);
                espyRaster_Begin(other, &clip);
                for (uint32_t t = count; t > 0; --t)
                {
                    espyTriangles one = {positions, indices + 3 * (t - 1), 3 * count, 1};
                    espyRaster_DrawTriangles(other, &one, NULL, t - 1, true);
                }
                assert_true(espyTest_Hash(other) == hash);
                espyRaster_Destroy(other);
            }
            espyRaster_Destroy(raster);
            espyReferenceImage_Destroy(&image);
        }
    }
    assert_true(coarse < pixels / 1000);
}

// --- scenes

static espyRasterMesh espyTest_Scene(const char* name, uint32_t size)
{
    espyWorld* world = NULL;
    assert_int_equal(espyScene_Build(name, size, 1, &world), espyResult_Ok);
    espyRasterMesh mesh = espyRasterCase_FromWorld(world);
    espyWorld_Destroy(world);
    return mesh;
}

static espyOccluder* espyTest_Prepare(const espyTriangles* triangles, espyRasterMode mode)
{
    espyOccluderDef def = espyOccluderDef_Default();
    def.triangles = *triangles;
    def.mode = mode;
    espyOccluder* occluder = NULL;
    assert_int_equal(espyOccluder_Create(&def, &occluder), espyResult_Ok);
    return occluder;
}

/// The same triangles in another order. The caller frees the indices.
static espyTriangles espyTest_Shuffle(const espyTriangles* triangles, uint64_t seed)
{
    uint32_t count = triangles->triangleCount;
    uint32_t* indices = malloc((size_t)count * 3u * sizeof *indices);
    assert_non_null(indices);
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t t = 0; t < count; ++t)
    {
        uint32_t at = espyiRng_Below(&rng, t + 1u);
        memmove(indices + 3u * t, indices + 3u * at, 3u * sizeof *indices);
        memcpy(indices + 3u * at, triangles->indices + 3u * t, 3u * sizeof *indices);
    }
    espyTriangles out = *triangles;
    out.indices = indices;
    return out;
}

/// Pixels whose depth is not that of the reference; counts those with the id as well.
static uint32_t espyTest_Differ(const espyRaster* raster, const espyReferenceImage* image, uint32_t id,
                                uint32_t* covered)
{
    uint32_t differ = 0;
    *covered = 0;
    for (int32_t y = 0; y < image->height; ++y)
    {
        for (int32_t x = 0; x < image->width; ++x)
        {
            double expected = image->nearness[y * image->width + x], found = (double)espyRaster_GetDepth(raster, x, y);
            found = image->reversedZ ? found : 1.0 - found;
            *covered += espyRaster_GetId(raster, x, y) == id ? 1u : 0u;
            differ += fabs(found - expected) > 1e-6 + 1e-4 * expected ? 1u : 0u;
        }
    }
    return differ;
}

/// Every kind of projection: the depth of all but a few pixels at edges is that of the reference, which clips and
/// projects in double.
static void test_projections(void** state)
{
    (void)state;
    espyRasterMesh mesh = espyTest_Scene("castle", 0);
    espyTriangles mixed = espyTest_Shuffle(&mesh.triangles, 11);
    espyOccluder* shuffled = espyTest_Prepare(&mixed, espyRasterMode_Sampled);
    free((void*)(uintptr_t)mixed.indices);
    const espyLens lenses[] = {
        {.nearDistance = 0.1f, .farDistance = 500.0f, .halfHeight = 0.6f, .aspect = 1.7f},
        {.nearDistance = 0.1f, .farDistance = 60.0f, .halfHeight = 0.6f, .aspect = 1.7f},
        {.nearDistance = 0.1f, .halfHeight = 0.6f, .aspect = 1.7f},
        {.reversedZ = true, .nearDistance = 0.1f, .farDistance = 60.0f, .halfHeight = 0.6f, .aspect = 1.7f},
        {.reversedZ = true, .nearDistance = 5.0f, .halfHeight = 1.6f, .aspect = 0.7f},
        {.orthographic = true, .nearDistance = -20.0f, .farDistance = 300.0f, .halfHeight = 30.0f, .aspect = 1.7f},
        {.orthographic = true,
         .reversedZ = true,
         .nearDistance = 1.0f,
         .farDistance = 90.0f,
         .halfHeight = 9.0f,
         .aspect = 1.0f},
    };
    for (uint32_t l = 0; l < ESPYI_ARRAY_COUNT(lenses); ++l)
    {
        int32_t width = 211, height = 127;
        espyMat4 clip =
            espyRasterCase_View((espyVec3){30.0f, 1.75f, -31.0f}, (espyVec3){-30.0f, 3.0f, 20.0f}, &lenses[l]);
        espyReferenceImage image = espyReferenceImage_Create(width, height, lenses[l].reversedZ, 0);
        espyReferenceImage_Draw(&image, &mesh.triangles, &clip, 7, false);
        espyRaster* raster = espyTest_Create(width, height, true, lenses[l].reversedZ, espyIsa_Auto);
        espyRaster_Begin(raster, &clip);
        assert_int_equal(espyRaster_DrawTriangles(raster, &mesh.triangles, NULL, 7, false), espyResult_Ok);
        uint32_t covered = 0, differ = espyTest_Differ(raster, &image, 7, &covered);
        print_message("lens %u: %u of %d pixels covered, %u differ\n", l, covered, width * height, differ);
        assert_true(covered > 2000);
        assert_true(differ <= 8);
        // Prepared: flat quads have one plane, so that depth may differ in the last digits, but nothing else.
        espyOccluder* occluder = espyTest_Prepare(&mesh.triangles, espyRasterMode_Sampled);
        espyRaster* prepared = espyTest_Create(width, height, true, lenses[l].reversedZ, espyIsa_Auto);
        espyRaster_Begin(prepared, &clip);
        assert_int_equal(espyRaster_DrawOccluder(prepared, occluder, NULL, 7), espyResult_Ok);
        assert_true(espyTest_Differ(prepared, &image, 7, &covered) <= 8);
        for (int32_t i = 0; i < width * height; ++i)
        {
            assert_int_equal(espyRaster_GetId(prepared, i % width, i / width),
                             espyRaster_GetId(raster, i % width, i / width));
        }
        // Sorted, in threads, by every instruction set, and with its triangles in another order: the same bits.
        uint64_t hash = espyTest_Hash(prepared);
        espyOccluderDraw draw = {occluder, NULL, 7};
        for (uint32_t threads = 1; threads <= 8; threads = threads * 2 + 1)
        {
            espyTasks tasks = {espyRasterCase_ParallelFor, &threads, threads};
            espyRaster_Begin(prepared, &clip);
            assert_int_equal(espyRaster_DrawSorted(prepared, &draw, 1, &tasks), espyResult_Ok);
            assert_true(espyTest_Hash(prepared) == hash);
        }
        draw.occluder = shuffled;
        for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(espyTest_Isas); ++i)
        {
            espyRaster* other = espyTest_Create(width, height, true, lenses[l].reversedZ, espyTest_Isas[i]);
            espyRaster_Begin(other, &clip);
            assert_int_equal(espyRaster_DrawSorted(other, &draw, 1, NULL), espyResult_Ok);
            assert_true(espyTest_Hash(other) == hash);
            espyRaster_Destroy(other);
        }
        espyRaster_Destroy(prepared);
        espyOccluder_Destroy(occluder);
        espyRaster_Destroy(raster);
        espyReferenceImage_Destroy(&image);
    }
    espyOccluder_Destroy(shuffled);
    espyRasterMesh_Free(&mesh);
}

static void espyTest_Random(espyRaster* raster, uint64_t seed)
{
    // Boxes here and there, also around and behind the eye.
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t i = 0; i < 40; ++i)
    {
        float v[6];
        for (int k = 0; k < 6; ++k)
        {
            v[k] = espyiRng_Float(&rng);
        }
        espyVec3 at = {20.0f * v[0] - 10.0f, 20.0f * v[1] - 10.0f, 24.0f * v[2] - 20.0f};
        espyVec3 positions[8];
        uint32_t indices[36];
        espyRasterCase_Box((espyBox){at, {at.x + 3.0f * v[3], at.y + 3.0f * v[4], at.z + 3.0f * v[5]}}, positions,
                           indices);
        espyTriangles triangles = {positions, indices, 8, 12};
        espyRaster_DrawTriangles(raster, &triangles, NULL, i, false);
    }
}

static void test_merge_is_drawing_both(void** state)
{
    (void)state;
    espyLens lens = {.nearDistance = 0.1f, .farDistance = 100.0f, .halfHeight = 0.7f, .aspect = 1.3f};
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &lens);
    for (uint64_t seed = 1; seed <= 12; ++seed)
    {
        espyRaster* both = espyTest_Create(131, 77, true, false, espyIsa_Auto);
        espyRaster* first = espyTest_Create(131, 77, true, false, espyIsa_Auto);
        espyRaster* second = espyTest_Create(131, 77, true, false, espyIsa_Scalar);
        espyRaster_Begin(both, &clip);
        espyRaster_Begin(first, &clip);
        espyRaster_Begin(second, &clip);
        espyTest_Random(both, seed);
        espyTest_Random(both, seed + 100);
        espyTest_Random(first, seed);
        espyTest_Random(second, seed + 100);
        assert_int_equal(espyRaster_Merge(first, second), espyResult_Ok);
        assert_true(espyTest_Hash(first) == espyTest_Hash(both));
        // Rectangles agree with the pixels, at every level of the hierarchy.
        espyiRng rng = espyiRng_Seed(seed);
        for (int i = 0; i < 300; ++i)
        {
            int32_t x0 = (int32_t)espyiRng_Below(&rng, 131), y0 = (int32_t)espyiRng_Below(&rng, 77);
            int32_t x1 = x0 + 1 + (int32_t)espyiRng_Below(&rng, 131), y1 = y0 + 1 + (int32_t)espyiRng_Below(&rng, 77);
            float depth = espyRaster_GetDepth(both, x0, y0) + 0.01f * (espyiRng_Float(&rng) - 0.3f);
            bool shows = false;
            for (int32_t y = y0; y < y1 && y < 77; ++y)
            {
                for (int32_t x = x0; x < x1 && x < 131; ++x)
                {
                    shows = shows || 1.0f - depth >= 1.0f - espyRaster_GetDepth(both, x, y);
                }
            }
            espyVisibility found = espyRaster_TestRect(both, (espyPixelRect){x0, y0, x1, y1}, depth);
            // 1 - depth rounds; within that either is right.
            espyVisibility nearer = espyRaster_TestRect(both, (espyPixelRect){x0, y0, x1, y1}, depth - 1e-6f);
            assert_true(shows ? found == espyVisibility_Visible || nearer == espyVisibility_Visible
                              : found == espyVisibility_Occluded || nearer == espyVisibility_Visible);
        }
        espyRaster_Destroy(both);
        espyRaster_Destroy(first);
        espyRaster_Destroy(second);
    }
}

static void test_sizes(void** state)
{
    (void)state;
    const int32_t sizes[][2] = {{1, 1}, {8192, 1}, {1, 8192}, {8191, 3}, {4097, 130}, {8192, 8192}};
    espyLens lens = {.nearDistance = 0.1f, .halfHeight = 1.0f, .aspect = 1.0f};
    espyMat4 clip = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &lens);
    espyVec3 wall[4] = {{-50, -50, -9}, {50, -50, -9}, {50, 50, -9}, {-50, 50, -9}};
    uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    espyTriangles triangles = {wall, indices, 4, 2};
    espyRaster* raster = espyTest_Create(64, 64, false, false, espyIsa_Auto);
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(sizes); ++i)
    {
        int32_t w = sizes[i][0], h = sizes[i][1];
        assert_int_equal(espyRaster_Resize(raster, w, h), espyResult_Ok);
        assert_int_equal(espyRaster_TestRect(raster, (espyPixelRect){0, 0, w, h}, 0.5f), espyVisibility_Unknown);
        espyRaster_Begin(raster, &clip);
        assert_int_equal(espyRaster_TestRect(raster, (espyPixelRect){0, 0, w, h}, 1.0f), espyVisibility_Visible);
        espyRaster_DrawTriangles(raster, &triangles, NULL, 0, false);
        float depth = espyRaster_GetDepth(raster, w / 2, h / 2);
        assert_true(fabsf(depth - (1.0f - 0.1f / 9.0f)) < 1e-6f);
        assert_true(fabsf(espyRaster_GetDepth(raster, w - 1, h - 1) - depth) < 1e-6f);
        assert_int_equal(espyRaster_TestRect(raster, (espyPixelRect){-5, -5, w + 5, h + 5}, depth + 0.001f),
                         espyVisibility_Occluded);
        assert_int_equal(espyRaster_TestRect(raster, (espyPixelRect){-5, -5, w + 5, h + 5}, depth - 0.001f),
                         espyVisibility_Visible);
        assert_int_equal(espyRaster_TestRect(raster, (espyPixelRect){w, 0, w + 9, h}, 0.0f), espyVisibility_Outside);
        assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-1, -1, -20}, {1, 1, -10}}), espyVisibility_Occluded);
        assert_int_equal(espyRaster_TestBox(raster, (espyBox){{-1, -1, -20}, {1, 1, -8}}), espyVisibility_Visible);
    }
    assert_int_equal(espyRaster_Resize(raster, 8193, 1), espyResult_InvalidArgument);
    assert_int_equal(espyRaster_Resize(raster, 0, 1), espyResult_InvalidArgument);
    espyRaster_Destroy(raster);
}

static void test_bad_input(void** state)
{
    (void)state;
    espyRasterDef def = espyRasterDef_Default();
    espyRaster* raster = NULL;
    def.width = 9000;
    assert_int_equal(espyRaster_Create(&def, &raster), espyResult_InvalidArgument);
    assert_null(raster);
    raster = espyTest_Create(50, 40, true, false, espyIsa_Auto);
    espyMat4 bad = espyMat4_Identity();
    bad.m[3] = NAN;
    assert_int_equal(espyRaster_Begin(raster, &bad), espyResult_InvalidArgument);
    assert_int_equal(espyRaster_TestBox(raster, (espyBox){{0, 0, 0}, {1, 1, 1}}), espyVisibility_Unknown);
    espyMat4 zero = {{0}};
    float odd[] = {NAN, INFINITY, -INFINITY, 0.0f, 1e38f, -1e38f, 1e-38f, 5.0f, -0.5f};
    espyMat4 views[3] = {espyMat4_Identity(), zero, espyMat4_Identity()};
    views[2].m[11] = 1e30f;
    for (int v = 0; v < 3; ++v)
    {
        assert_int_equal(espyRaster_Begin(raster, &views[v]), espyResult_Ok);
        espyiRng rng = espyiRng_Seed(3);
        for (int i = 0; i < 3000; ++i)
        {
            espyVec3 p[3];
            uint32_t indices[3] = {0, 1, 2};
            for (int k = 0; k < 3; ++k)
            {
                p[k].x = odd[espyiRng_Below(&rng, 9)];
                p[k].y = odd[espyiRng_Below(&rng, 9)];
                p[k].z = odd[espyiRng_Below(&rng, 9)];
            }
            espyTriangles one = {p, indices, 3, 1};
            espyRaster_DrawTriangles(raster, &one, NULL, 1, true);
            espyRaster_TestMesh(raster, &one, NULL);
            espyRaster_TestBox(raster, (espyBox){p[0], p[1]});
        }
        for (int32_t y = 0; y < 40; ++y)
        {
            for (int32_t x = 0; x < 50; ++x)
            {
                float depth = espyRaster_GetDepth(raster, x, y);
                assert_true(depth >= 0.0f && depth <= 1.0f);
            }
        }
    }
    espyRaster_Destroy(raster);
}

static void test_out_of_memory(void** state)
{
    (void)state;
    espyRasterMesh mesh = espyTest_Scene("rooms", 2);
    for (int mode = 0; mode < 2; ++mode)
    {
        bool done = false;
        for (unsigned failAt = 1; !done; ++failAt)
        {
            espyHookCounter counter = {0};
            counter.failAt = failAt;
            espyOccluderDef occluderDef = espyOccluderDef_Default();
            occluderDef.hooks = espyHookCounter_Hooks(&counter);
            occluderDef.triangles = mesh.triangles;
            occluderDef.mode = (espyRasterMode)mode;
            espyRasterDef def = espyRasterDef_Default();
            def.hooks = occluderDef.hooks;
            def.mode = (espyRasterMode)mode;
            def.width = def.height = 32;
            def.maxBatches = 8;
            espyOccluder* occluder;
            espyRaster* raster;
            espyRecording* recording;
            espyResult first = espyOccluder_Create(&occluderDef, &occluder);
            espyResult second = espyRaster_Create(&def, &raster);
            espyResult third = espyRecording_Create(&def.hooks, &recording);
            assert_true(first == espyResult_Ok || first == espyResult_OutOfMemory);
            assert_true(second == espyResult_Ok || second == espyResult_OutOfMemory);
            done = first == espyResult_Ok && second == espyResult_Ok && third == espyResult_Ok &&
                   espyRaster_Resize(raster, 40, 40) == espyResult_Ok;
            espyOccluder_Destroy(occluder);
            espyRaster_Destroy(raster);
            espyRecording_Destroy(recording);
            assert_int_equal(counter.blocks, 0);
        }
    }
    espyRasterMesh_Free(&mesh);
}

static void test_record_and_replay(void** state)
{
    (void)state;
    espyLens lens = {.nearDistance = 0.1f, .farDistance = 300.0f, .halfHeight = 0.7f, .aspect = 1.3f};
    espyMat4 clip = espyRasterCase_View((espyVec3){3, 1.75f, 3}, (espyVec3){12, 2, 9}, &lens);
    espyRasterMesh mesh = espyTest_Scene("rooms", 2);
    for (int mode = 0; mode < 2; ++mode)
    {
        espyRasterDef def = espyRasterDef_Default();
        def.mode = (espyRasterMode)mode;
        def.width = 90;
        def.height = 50;
        espyRaster* raster;
        espyRecording* recording;
        assert_int_equal(espyRaster_Create(&def, &raster), espyResult_Ok);
        assert_int_equal(espyRecording_Create(NULL, &recording), espyResult_Ok);
        espyOccluder* occluder = espyTest_Prepare(&mesh.triangles, (espyRasterMode)mode);
        espyMat4 moved = espyMat4_Identity();
        moved.m[12] = 0.5f;
        espyOccluderDraw draws[2] = {{occluder, NULL, 1}, {occluder, &moved, 2}};
        espyRaster_Record(raster, recording);
        espyRaster_Begin(raster, &clip);
        espyRaster_DrawSorted(raster, draws, 2, NULL);
        espyTest_Random(raster, 4);
        espyiRng rng = espyiRng_Seed(9);
        for (int i = 0; i < 200; ++i)
        {
            espyVec3 p = {16.0f * espyiRng_Float(&rng), 0, 0};
            p.z = 16.0f * espyiRng_Float(&rng);
            espyRaster_TestBox(raster, (espyBox){p, {p.x + 0.4f, 1.0f, p.z + 0.4f}});
            espyRaster_TestRect(raster, (espyPixelRect){i % 80, i % 40, i % 80 + 9, i % 40 + 7}, 0.99f);
        }
        espyRaster_TestMesh(raster, &mesh.triangles, &moved);
        espyRaster_Record(raster, NULL);
        size_t size;
        const void* bytes = espyRecording_GetBytes(recording, &size);
        assert_non_null(bytes);
        for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(espyTest_Isas); ++i)
        {
            espyRaster* again;
            espyReplayReport report;
            assert_int_equal(espyRaster_Replay(NULL, bytes, size, espyTest_Isas[i], &again, &report, NULL),
                             espyResult_Ok);
            assert_int_equal(report.tests, 401);
            assert_int_equal(report.testsDiffer, 0);
            assert_true(espyTest_Hash(again) == espyTest_Hash(raster));
            espyRaster_Destroy(again);
        }
        // Cut short and damaged: a named error or another answer, nothing else.
        uint8_t* copy = malloc(size);
        assert_non_null(copy);
        for (int i = 0; i < 150; ++i)
        {
            espyRaster* again = NULL;
            espyDataError error;
            size_t cut = i < 60 ? (size_t)i : espyiRng_Below(&rng, (uint32_t)size);
            memcpy(copy, bytes, size);
            if (i % 2)
            {
                copy[cut] ^= (uint8_t)(1u << (i % 8));
                cut = size;
            }
            espyResult result = espyRaster_Replay(NULL, copy, cut, espyIsa_Auto, &again, NULL, &error);
            assert_true(result == espyResult_Ok || error.field[0] != 0 || result == espyResult_OutOfMemory);
            espyRaster_Destroy(again);
        }
        free(copy);
        espyOccluder_Destroy(occluder);
        espyRecording_Destroy(recording);
        espyRaster_Destroy(raster);
    }
    espyRasterMesh_Free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_is_exact),
        cmocka_unit_test(test_projections),
        cmocka_unit_test(test_merge_is_drawing_both),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_record_and_replay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
