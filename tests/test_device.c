// SPDX-License-Identifier: MIT
// The software device against the reference, its ring of answers, its own box count by count, its memory and its
// refusals.
#include "test_main.h"

#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "device_case.h"
#include "hook_counter.h"
#include "raster_case.h"

/// Float rounding and snapping to 2^-12 of a pixel.
#define ESPY_SOFT_SLACK 2e-3

static espyDevice espyTest_Soft(uint32_t latency, espyIsa cap, const espyHooks* hooks)
{
    espySoftDeviceDef def = espySoftDeviceDef_Default();
    def.latency = latency;
    def.isaCap = cap;
    def.maxQueriesPerFrame = 128;
    def.maxIds = 1000;
    if (hooks)
    {
        def.hooks = *hooks;
    }
    espyDevice device;
    assert_int_equal(espySoftDevice_Create(&def, &device), espyResult_Ok);
    assert_int_equal(espyDevice_Validate(&device, NULL), espyResult_Ok);
    return device;
}

static void test_answers_as_the_reference(void** state)
{
    (void)state;
    static const int32_t sizes[][2] = {{160, 90}, {97, 61}, {1, 1}, {8, 200}, {256, 144}};
    espyDeviceCaseReport report = {0};
    for (uint64_t seed = 1; seed <= 60; ++seed)
    {
        espyDeviceCase given = {.seed = seed,
                                .width = sizes[seed % 5][0],
                                .height = sizes[seed % 5][1],
                                .layers = seed % 3 == 0 ? 2 : 1,
                                .reversedZ = seed % 2 == 0,
                                .orthographic = seed % 7 == 0,
                                .infiniteFar = seed % 4 == 1 && seed % 7 != 0,
                                .slack = ESPY_SOFT_SLACK,
                                .frame = 1};
        espyDevice device = espyTest_Soft((uint32_t)(seed % 4), espyIsa_Auto, NULL);
        espyDeviceCase_Run(&device, &given, &report);
        espySoftDevice_Destroy(&device);
    }
    print_message("%u queries, %u hidden, %u partly, %u ids, %u seen, %llu samples, %llu in doubt\n", report.queries,
                  report.hidden, report.partly, report.ids, report.seen, (unsigned long long)report.samples,
                  (unsigned long long)report.doubtful);
    assert_true(report.hidden > 200 && report.partly > 500 && report.seen > 500 && report.seen < report.ids);
    assert_true(report.doubtful * 50 < report.samples);
}

/// A view straight on: one unit is one pixel.
static espyMat4 espyTest_Flat(int32_t width, int32_t height)
{
    espyMat4 m = espyMat4_Identity();
    m.m[0] = 2.0f / (float)width;
    m.m[5] = 2.0f / (float)height;
    return m;
}

static espyDeviceTarget espyTest_Target(espyDevice* device, int32_t width, int32_t height, uint32_t layers)
{
    espyDeviceTargetDef def = espyDeviceTargetDef_Default();
    def.width = width;
    def.height = height;
    def.layers = layers;
    def.ids = true;
    espyDeviceTarget target;
    assert_int_equal(device->createTarget(device->context, &def, &target), espyResult_Ok);
    return target;
}

static espyDevicePass espyTest_Pass(espyDeviceTarget target, espyMat4 view)
{
    return (espyDevicePass){.target = target, .viewProjection = {view, view}, .clearDepth = true, .clearIds = true};
}

static uint64_t espyTest_AskOne(espyDevice* device, const espyDevicePass* pass, uint64_t frame,
                                const espyDeviceDraw* opaque, uint32_t opaqueCount, const espyDeviceDraw* proxy)
{
    espyDeviceQuery query = {.tag = 7, .kind = espyQueryKind_Count, .proxyCount = 1};
    espyDeviceAnswer answer;
    assert_int_equal(device->beginFrame(device->context, frame), espyResult_Ok);
    assert_int_equal(device->beginPass(device->context, pass), espyResult_Ok);
    assert_int_equal(device->drawDepth(device->context, opaque, opaqueCount), espyResult_Ok);
    assert_int_equal(device->query(device->context, &query, 1, proxy, 1), espyResult_Ok);
    assert_int_equal(device->endPass(device->context), espyResult_Ok);
    assert_int_equal(device->endFrame(device->context), espyResult_Ok);
    assert_int_equal(device->poll(device->context, &answer, 1), 1);
    assert_int_equal(answer.tag, 7);
    assert_int_equal(answer.frame, frame);
    return answer.value;
}

/// Boxes straight on cover what can be counted by hand, with a face in front and one behind.
static void test_counts_by_hand(void** state)
{
    (void)state;
    espyDevice device = espyTest_Soft(0, espyIsa_Auto, NULL);
    espyDevicePass pass = espyTest_Pass(espyTest_Target(&device, 61, 45, 1), espyTest_Flat(61, 45));
    // From (-10, -6) to (10, 6) about the middle of a pixel: 20 x 12 pixels.
    espyDeviceDraw proxy = {.toWorld = espyDeviceCase_Place((espyVec3){0.25f, 0.25f, 0.5f}, (espyVec3){10, 6, 0.25f})};
    assert_int_equal(espyTest_AskOne(&device, &pass, 1, NULL, 0, &proxy), 2 * 20 * 12);
    // As near counts as passing: the front face on the wall's.
    espyDeviceDraw wall = {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){40, 40, 0.25f})};
    assert_int_equal(espyTest_AskOne(&device, &pass, 2, &wall, 1, &proxy), 20 * 12);
    // A wall over the left half, columns up to the 30th of 61.
    wall.toWorld = espyDeviceCase_Place((espyVec3){-20.5f, 0, 0.1f}, (espyVec3){20, 40, 0.05f});
    assert_int_equal(espyTest_AskOne(&device, &pass, 3, &wall, 1, &proxy), 2 * 11 * 12);
    // Behind all of it.
    wall.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.1f}, (espyVec3){40, 40, 0.05f});
    assert_int_equal(espyTest_AskOne(&device, &pass, 4, &wall, 1, &proxy), 0);
    // All of an odd screen; the parts of tiles past its edges do not count.
    proxy.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){100, 100, 0.25f});
    assert_int_equal(espyTest_AskOne(&device, &pass, 5, NULL, 0, &proxy), 2 * 61 * 45);
    // Off the screen.
    proxy.toWorld = espyDeviceCase_Place((espyVec3){60, 0, 0.5f}, (espyVec3){10, 10, 0.25f});
    assert_int_equal(espyTest_AskOne(&device, &pass, 6, NULL, 0, &proxy), 0);
    // Both eyes are summed.
    pass = espyTest_Pass(espyTest_Target(&device, 20, 20, 2), espyTest_Flat(20, 20));
    proxy.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){5, 5, 0.25f});
    assert_int_equal(espyTest_AskOne(&device, &pass, 7, NULL, 0, &proxy), 2 * 2 * 10 * 10);
    espySoftDevice_Destroy(&device);
}

/// What a closed shape covers when it is drawn is what its front faces pass, and its back faces are as many.
static void test_counts_as_drawing(void** state)
{
    (void)state;
    espyDevice device = espyTest_Soft(0, espyIsa_Auto, NULL);
    espyDeviceTarget target = espyTest_Target(&device, 150, 110, 1);
    espyLens lens = {.nearDistance = 0.1f, .farDistance = 100.0f, .halfHeight = 0.7f, .aspect = 150.0f / 110.0f};
    espyiRng rng = espyiRng_Seed(5);
    static float depth[150 * 110];
    for (uint64_t frame = 1; frame < 200; frame += 2)
    {
        espyVec3 eye = {espyiRng_Float(&rng) * 10.0f - 5.0f, espyiRng_Float(&rng) * 4.0f, 8.0f};
        espyDevicePass pass = espyTest_Pass(target, espyRasterCase_View(eye, (espyVec3){0, 0, 0}, &lens));
        espyVec3 half = {espyiRng_Float(&rng) + 0.01f, espyiRng_Float(&rng) + 0.01f, espyiRng_Float(&rng) + 0.01f};
        espyDeviceDraw box = {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0}, half)};
        uint64_t counted = espyTest_AskOne(&device, &pass, frame, NULL, 0, &box), drawn = 0;
        assert_int_equal(espyTest_AskOne(&device, &pass, frame + 1, &box, 1, &box), counted / 2);
        assert_int_equal(device.readPixels(device.context, target, depth, NULL), espyResult_Ok);
        for (uint32_t i = 0; i < 150 * 110; ++i)
        {
            drawn += depth[i] < 1.0f ? 1u : 0u;
        }
        assert_true(drawn > 0);
        assert_int_equal(counted, 2 * drawn);
    }
    espySoftDevice_Destroy(&device);
}

/// Every instruction set gives the same counts and ids.
static void test_same_bits(void** state)
{
    (void)state;
    static const espyIsa isas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
    uint64_t expected = 0;
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(isas); ++i)
    {
        espyDevice device = espyTest_Soft(0, isas[i], NULL);
        espyDeviceTarget target = espyTest_Target(&device, 333, 222, 1);
        espyLens lens = {.nearDistance = 0.1f, .farDistance = 60.0f, .halfHeight = 0.7f, .aspect = 1.5f};
        espyiRng rng = espyiRng_Seed(99);
        espyDevicePass pass = espyTest_Pass(target, espyRasterCase_View((espyVec3){3, 2, 9}, (espyVec3){0}, &lens));
        espyDeviceDraw draws[90];
        espyDeviceQuery queries[60];
        for (uint32_t d = 0; d < 90; ++d)
        {
            espyVec3 at = {espyiRng_Float(&rng) * 12 - 6, espyiRng_Float(&rng) * 8 - 4, espyiRng_Float(&rng) * 14 - 4};
            espyVec3 half = {espyiRng_Float(&rng) + 0.1f, espyiRng_Float(&rng) + 0.1f, espyiRng_Float(&rng) + 0.1f};
            draws[d] = (espyDeviceDraw){.toWorld = espyDeviceCase_Place(at, half), .id = d};
        }
        for (uint32_t q = 0; q < 60; ++q)
        {
            queries[q] = (espyDeviceQuery){.tag = q, .kind = espyQueryKind_Count, .firstProxy = q, .proxyCount = 1};
        }
        uint64_t hash = 0;
        uint32_t bits[3];
        static uint32_t ids[333 * 222];
        device.beginFrame(device.context, 1);
        device.beginPass(device.context, &pass);
        device.drawDepth(device.context, draws + 60, 30);
        device.drawIds(device.context, draws, 60, espyIdMode_Index);
        assert_int_equal(device.query(device.context, queries, 60, draws, 60), espyResult_Ok);
        device.endPass(device.context);
        assert_int_equal(device.readIds(device.context, target, 90, bits), espyResult_Ok);
        device.endFrame(device.context);
        espyDeviceAnswer answers[60];
        assert_int_equal(device.poll(device.context, answers, 60), 60);
        for (uint32_t q = 0; q < 60; ++q)
        {
            hash = espyiHash_U64(hash, answers[q].value);
        }
        device.readPixels(device.context, target, NULL, ids);
        hash = espyiHash_Words(hash, ids, ESPYI_ARRAY_COUNT(ids));
        hash = espyiHash_Words(hash, bits, 3);
        expected = i == 0 ? hash : expected;
        assert_true(hash == expected);
        espySoftDevice_Destroy(&device);
    }
}

static uint32_t espyTest_PollTag(espyDevice* device, uint64_t* tag)
{
    espyDeviceAnswer answer = {0};
    uint32_t count = device->poll(device->context, &answer, 1);
    *tag = answer.tag;
    return count;
}

static void test_latency(void** state)
{
    (void)state;
    for (uint32_t latency = 0; latency <= 16; latency += 4)
    {
        espyDevice device = espyTest_Soft(latency, espyIsa_Auto, NULL);
        espyDevicePass pass = espyTest_Pass(espyTest_Target(&device, 8, 8, 1), espyTest_Flat(8, 8));
        espyDeviceDraw proxy = {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){1, 1, 0.25f})};
        uint64_t tag;
        for (uint64_t frame = 10; frame < 60; ++frame)
        {
            espyDeviceQuery query = {.tag = frame, .kind = espyQueryKind_Any, .proxyCount = 1};
            assert_int_equal(device.beginFrame(device.context, frame), espyResult_Ok);
            // Nothing of a frame comes while it is begun.
            bool due = frame >= 10 + latency;
            if (latency > 0 && due)
            {
                assert_int_equal(espyTest_PollTag(&device, &tag), 1);
                assert_int_equal(tag, frame - latency);
            }
            assert_int_equal(espyTest_PollTag(&device, &tag), 0);
            device.beginPass(device.context, &pass);
            assert_int_equal(device.query(device.context, &query, 1, &proxy, 1), espyResult_Ok);
            device.endPass(device.context);
            assert_int_equal(device.endFrame(device.context), espyResult_Ok);
            if (latency == 0)
            {
                assert_int_equal(espyTest_PollTag(&device, &tag), 1);
                assert_int_equal(tag, frame);
            }
            assert_int_equal(espyTest_PollTag(&device, &tag), 0);
        }
        // Left alone, the answers of all but the last frames are given up and never come twice.
        for (uint64_t frame = 60; frame < 100; ++frame)
        {
            espyDeviceQuery query = {.tag = frame, .kind = espyQueryKind_Any, .proxyCount = 1};
            device.beginFrame(device.context, frame);
            device.beginPass(device.context, &pass);
            device.query(device.context, &query, 1, &proxy, 1);
            device.endPass(device.context);
            device.endFrame(device.context);
        }
        uint64_t last = 0;
        uint32_t count = 0;
        while (espyTest_PollTag(&device, &tag) == 1)
        {
            assert_true(tag > last && tag >= 98 - latency);
            last = tag;
            ++count;
        }
        assert_int_equal(last, 99 - latency);
        assert_int_equal(count, 2);
        espySoftDevice_Destroy(&device);
    }
}

static void test_index_and_flag(void** state)
{
    (void)state;
    espyDevice device = espyTest_Soft(0, espyIsa_Auto, NULL);
    espyDeviceTarget target = espyTest_Target(&device, 64, 64, 1);
    espyDevicePass pass = espyTest_Pass(target, espyTest_Flat(64, 64));
    // 5 behind 40, in front of nothing; 900 behind the wall; 41 on the same place as 40.
    espyDeviceDraw testers[4] = {
        {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){5, 5, 0.05f}), .id = 5},
        {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.3f}, (espyVec3){9, 9, 0.05f}), .id = 40},
        {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.3f}, (espyVec3){9, 9, 0.05f}), .id = 41},
        {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.9f}, (espyVec3){9, 9, 0.05f}), .id = 900}};
    espyDeviceDraw wall = {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.7f}, (espyVec3){40, 40, 0.01f})};
    uint32_t bits[32];
    device.beginFrame(device.context, 1);
    device.beginPass(device.context, &pass);
    device.drawDepth(device.context, &wall, 1);
    assert_int_equal(device.drawIds(device.context, testers, 4, espyIdMode_Index), espyResult_Ok);
    device.endPass(device.context);
    assert_int_equal(device.readIds(device.context, target, 1000, bits), espyResult_Ok);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 1024; ++i)
    {
        seen += espyiBits_Get(bits, i);
    }
    assert_true(seen == 1 && espyiBits_Get(bits, 40));
    // Ids beyond what is asked for are left out.
    assert_int_equal(device.readIds(device.context, target, 40, bits), espyResult_Ok);
    assert_true(bits[0] == 0 && bits[1] == 0);
    pass.clearDepth = false;
    device.beginPass(device.context, &pass);
    assert_int_equal(device.drawIds(device.context, testers, 4, espyIdMode_Flag), espyResult_Ok);
    device.endPass(device.context);
    assert_int_equal(device.readIds(device.context, target, 1000, bits), espyResult_Ok);
    assert_true(espyiBits_Get(bits, 5) && espyiBits_Get(bits, 40) && espyiBits_Get(bits, 41));
    assert_false(espyiBits_Get(bits, 900));
    // Kept where ids are not cleared; gone where they are.
    pass.clearIds = false;
    device.beginPass(device.context, &pass);
    device.endPass(device.context);
    device.readIds(device.context, target, 1000, bits);
    assert_true(espyiBits_Get(bits, 5));
    pass.clearIds = true;
    device.beginPass(device.context, &pass);
    device.endPass(device.context);
    device.readIds(device.context, target, 1000, bits);
    assert_false(espyiBits_Get(bits, 5));
    device.endFrame(device.context);
    espySoftDevice_Destroy(&device);
}

static void test_wraps_a_raster(void** state)
{
    (void)state;
    espyDevice device = espyTest_Soft(0, espyIsa_Auto, NULL);
    espyRasterDef def = espyRasterDef_Default();
    def.width = 32;
    def.height = 32;
    espyRaster* raster;
    assert_int_equal(espyRaster_Create(&def, &raster), espyResult_Ok);
    espyMat4 flat = espyTest_Flat(32, 32);
    espyVec3 corners[3] = {{-60, -60, 0.2f}, {60, -60, 0.2f}, {0, 90, 0.2f}};
    uint32_t indices[3] = {0, 1, 2};
    espyTriangles triangles = {.positions = corners, .indices = indices, .vertexCount = 3, .triangleCount = 1};
    espyRaster_Begin(raster, &flat);
    espyRaster_DrawTriangles(raster, &triangles, NULL, 0, true);
    espyDeviceTarget target;
    assert_int_equal(espySoftDevice_WrapRaster(&device, raster, true, &target), espyResult_Ok);
    espyDevicePass pass = espyTest_Pass(target, flat);
    pass.clearDepth = false;
    espyDeviceDraw proxy = {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){4, 4, 0.25f})};
    assert_int_equal(espyTest_AskOne(&device, &pass, 1, NULL, 0, &proxy), 0);
    proxy.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.1f}, (espyVec3){4, 4, 0.05f});
    assert_int_equal(espyTest_AskOne(&device, &pass, 2, NULL, 0, &proxy), 2 * 8 * 8);
    // Another size needs another wrap.
    assert_int_equal(espyRaster_Resize(raster, 40, 32), espyResult_Ok);
    device.beginFrame(device.context, 3);
    assert_int_equal(device.beginPass(device.context, &pass), espyResult_InvalidArgument);
    device.destroyTarget(device.context, target);
    assert_int_equal(espyRaster_GetWidth(raster), 40);
    espyDevice other = espyDevice_Default();
    assert_int_equal(espySoftDevice_WrapRaster(&other, raster, false, &target), espyResult_InvalidArgument);
    espySoftDevice_Destroy(&device);
    espyRaster_Destroy(raster);
}

static void test_refusals(void** state)
{
    (void)state;
    espyDevice device = espyTest_Soft(0, espyIsa_Auto, NULL);
    void* c = device.context;
    espyDeviceTarget target = espyTest_Target(&device, 16, 16, 1), none = {0};
    espyDevicePass pass = espyTest_Pass(target, espyTest_Flat(16, 16));
    espyDeviceDraw draw = {.toWorld = espyMat4_Identity()};
    espyDeviceQuery query = {.proxyCount = 1};
    uint32_t bits[4];
    // Outside of a frame and of a pass.
    assert_int_equal(device.beginPass(c, &pass), espyResult_InvalidArgument);
    assert_int_equal(device.endFrame(c), espyResult_InvalidArgument);
    assert_int_equal(device.readIds(c, target, 8, bits), espyResult_InvalidArgument);
    assert_int_equal(device.beginFrame(c, 5), espyResult_Ok);
    assert_int_equal(device.drawDepth(c, &draw, 1), espyResult_InvalidArgument);
    assert_int_equal(device.drawIds(c, &draw, 1, espyIdMode_Index), espyResult_InvalidArgument);
    assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_InvalidArgument);
    assert_int_equal(device.endPass(c), espyResult_InvalidArgument);
    assert_int_equal(device.beginFrame(c, 5), espyResult_InvalidArgument);
    // Handles of nothing, and of something freed.
    pass.target = none;
    assert_int_equal(device.beginPass(c, &pass), espyResult_InvalidArgument);
    pass.target = target;
    pass.viewProjection[0].m[3] = __builtin_nanf("");
    assert_int_equal(device.beginPass(c, &pass), espyResult_InvalidArgument);
    pass.viewProjection[0] = espyTest_Flat(16, 16);
    espyDeviceMesh mesh;
    espyTriangles box = espyDeviceReference_Box();
    assert_int_equal(device.createMesh(c, &box, false, &mesh), espyResult_Ok);
    device.destroyMesh(c, mesh);
    assert_int_equal(device.beginPass(c, &pass), espyResult_Ok);
    assert_int_equal(device.beginPass(c, &pass), espyResult_InvalidArgument);
    draw.mesh = mesh;
    assert_int_equal(device.drawDepth(c, &draw, 1), espyResult_InvalidArgument);
    draw.mesh.value = 12345;
    assert_int_equal(device.drawDepth(c, &draw, 1), espyResult_InvalidArgument);
    draw.mesh.value = 0;
    draw.toWorld.m[12] = __builtin_inff();
    assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_InvalidArgument);
    draw.toWorld = espyMat4_Identity();
    draw.id = 1000;
    assert_int_equal(device.drawIds(c, &draw, 1, espyIdMode_Flag), espyResult_InvalidArgument);
    query.firstProxy = UINT32_MAX;
    assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_InvalidArgument);
    query.firstProxy = 0;
    query.kind = (espyQueryKind)9;
    assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_Unsupported);
    // All of a call's queries or none.
    espyDeviceQuery many[129] = {{0}};
    assert_int_equal(device.query(c, many, 100, NULL, 0), espyResult_Ok);
    assert_int_equal(device.query(c, many, 29, NULL, 0), espyResult_LimitExceeded);
    assert_int_equal(device.query(c, many, 28, NULL, 0), espyResult_Ok);
    assert_int_equal(device.readIds(c, target, 8, bits), espyResult_InvalidArgument);
    assert_int_equal(device.endFrame(c), espyResult_InvalidArgument);
    assert_int_equal(device.endPass(c), espyResult_Ok);
    // A frame that is begun is ended by the next.
    assert_int_equal(device.beginFrame(c, 6), espyResult_Ok);
    espyDeviceAnswer answers[130];
    assert_int_equal(device.poll(c, answers, 130), 128);
    assert_int_equal(answers[0].value, 0);
    device.destroyTarget(c, target);
    assert_int_equal(device.beginPass(c, &pass), espyResult_InvalidArgument);
    // Definitions.
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.layers = 3;
    assert_int_equal(device.createTarget(c, &targetDef, &target), espyResult_InvalidArgument);
    targetDef.layers = 1;
    targetDef.width = 8193;
    assert_int_equal(device.createTarget(c, &targetDef, &target), espyResult_InvalidArgument);
    const uint32_t past[3] = {0, 1, 8};
    box.indices = past;
    box.triangleCount = 1;
    assert_int_equal(device.createMesh(c, &box, false, &mesh), espyResult_InvalidArgument);
    espySoftDevice_Destroy(&device);
    espySoftDevice_Destroy(&device);
    espySoftDevice_Destroy(NULL);
    espySoftDeviceDef def = espySoftDeviceDef_Default();
    def.latency = 17;
    assert_int_equal(espySoftDevice_Create(&def, &device), espyResult_InvalidArgument);
    // The empty table.
    espyDevice empty = espyDevice_Default();
    const char* field = NULL;
    assert_int_equal(espyDevice_Validate(&empty, &field), espyResult_Ok);
    assert_int_equal(empty.beginFrame(NULL, 1), espyResult_Unsupported);
    assert_int_equal(empty.poll(NULL, answers, 1), 0);
    empty.poll = NULL;
    assert_int_equal(espyDevice_Validate(&empty, &field), espyResult_InvalidArgument);
    assert_string_equal(field, "query, poll");
}

static void test_memory(void** state)
{
    (void)state;
    // Every allocation fails once; nothing leaks, and frames allocate nothing.
    for (unsigned failAt = 0; failAt < 60; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espySoftDeviceDef def = espySoftDeviceDef_Default();
        def.hooks = espyHookCounter_Hooks(&counter);
        def.maxQueriesPerFrame = 16;
        def.maxIds = 100;
        espyDevice device;
        espyResult result = espySoftDevice_Create(&def, &device);
        assert_true(result == espyResult_Ok || (failAt > 0 && result == espyResult_OutOfMemory));
        if (result == espyResult_Ok)
        {
            void* c = device.context;
            espyDeviceMesh mesh;
            espyDeviceTarget target;
            espyTriangles box = espyDeviceReference_Box();
            espyResult meshResult = device.createMesh(c, &box, false, &mesh);
            espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
            targetDef.width = 64;
            targetDef.height = 48;
            targetDef.layers = 2;
            targetDef.ids = true;
            espyResult targetResult = device.createTarget(c, &targetDef, &target);
            assert_true(meshResult == espyResult_Ok || meshResult == espyResult_OutOfMemory);
            assert_true(targetResult == espyResult_Ok || targetResult == espyResult_OutOfMemory);
            unsigned calls = counter.calls;
            if (meshResult == espyResult_Ok && targetResult == espyResult_Ok)
            {
                espyDevicePass pass = espyTest_Pass(target, espyTest_Flat(64, 48));
                espyDeviceDraw draw = {.toWorld = espyMat4_Identity(), .mesh = mesh};
                (void)espyTest_AskOne(&device, &pass, 1, &draw, 1, &draw);
                assert_int_equal(counter.calls, calls);
            }
            espySoftDevice_Destroy(&device);
        }
        assert_int_equal(counter.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_by_hand),
        cmocka_unit_test(test_counts_as_drawing),
        cmocka_unit_test(test_answers_as_the_reference),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_index_and_flag),
        cmocka_unit_test(test_wraps_a_raster),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
