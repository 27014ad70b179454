// SPDX-License-Identifier: MIT
// Random scenes for devices: walls and rubble, testers and proxies among them, from one or two eyes.
#include "device_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "raster_case.h"
#include "test_main.h"

#define ESPY_CASE_SHAPES 24u
#define ESPY_CASE_PROXIES 40u

espyMat4 espyDeviceCase_Place(espyVec3 centre, espyVec3 half)
{
    espyMat4 m = espyMat4_Identity();
    m.m[0] = half.x;
    m.m[5] = half.y;
    m.m[10] = half.z;
    m.m[12] = centre.x;
    m.m[13] = centre.y;
    m.m[14] = centre.z;
    return m;
}

static float espyCase_Between(espyiRng* rng, float low, float high)
{
    return low + (high - low) * espyiRng_Float(rng);
}

/// Turned about two axes, sometimes mirrored.
static espyMat4 espyCase_Pose(espyiRng* rng, float reach, float least, float most)
{
    espyVec3 centre = {espyCase_Between(rng, -reach, reach), espyCase_Between(rng, -reach, reach),
                       espyCase_Between(rng, -reach, reach)};
    espyVec3 half = {espyCase_Between(rng, least, most), espyCase_Between(rng, least, most),
                     espyCase_Between(rng, least, most)};
    if (espyiRng_Below(rng, 4) == 0)
    {
        half.x = -half.x;
    }
    float a = espyCase_Between(rng, 0.0f, 6.28f), b = espyCase_Between(rng, 0.0f, 6.28f);
    espyMat4 turn = espyMat4_Identity(), tilt = espyMat4_Identity();
    turn.m[0] = turn.m[10] = cosf(a);
    turn.m[8] = sinf(a);
    turn.m[2] = -sinf(a);
    tilt.m[5] = tilt.m[10] = cosf(b);
    tilt.m[9] = -sinf(b);
    tilt.m[6] = sinf(b);
    espyMat4 place = espyDeviceCase_Place(centre, half), scale = place;
    scale.m[12] = scale.m[13] = scale.m[14] = 0.0f;
    place.m[0] = place.m[5] = place.m[10] = 1.0f;
    return espyMat4_Multiply(place, espyMat4_Multiply(turn, espyMat4_Multiply(tilt, scale)));
}

/// A mesh that is not a box: a bent sheet, drawn from both sides.
static espyTriangles espyCase_Sheet(void)
{
    enum
    {
        side = 9
    };
    static espyVec3 positions[side * side];
    static uint32_t indices[(side - 1) * (side - 1) * 6];
    uint32_t used = 0;
    for (uint32_t y = 0; y < side; ++y)
    {
        for (uint32_t x = 0; x < side; ++x)
        {
            float u = (float)x / 4.0f - 1.0f, v = (float)y / 4.0f - 1.0f;
            positions[y * side + x] = (espyVec3){u, v, 0.4f * sinf(3.0f * u) * cosf(2.0f * v)};
            uint32_t at = y * side + x;
            const uint32_t corners[6] = {at, at + 1, at + side, at + 1, at + side + 1, at + side};
            for (uint32_t i = 0; i < 6 && x + 1 < side && y + 1 < side; ++i)
            {
                indices[used++] = corners[i];
            }
        }
    }
    return (espyTriangles){
        .positions = positions, .indices = indices, .vertexCount = side * side, .triangleCount = used / 3u};
}

typedef struct espyCaseScene
{
    espyDeviceMesh sheet;
    espyDeviceDraw opaque[ESPY_CASE_SHAPES], proxies[ESPY_CASE_PROXIES];
    espyReferenceShape opaqueShapes[ESPY_CASE_SHAPES], proxyShapes[ESPY_CASE_PROXIES];
    espyDevicePass pass;
    espyDeviceReference references[ESPY_DEVICE_MAX_LAYERS];
} espyCaseScene;

/// `count` boxes and sheets.
static void espyCase_Shapes(espyiRng* rng, espyDeviceMesh sheet, uint32_t count, float most, espyDeviceDraw* draws,
                            espyReferenceShape* shapes)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        bool isSheet = espyiRng_Below(rng, 3) == 0;
        draws[i] = (espyDeviceDraw){.toWorld = espyCase_Pose(rng, 8.0f, 0.05f, most),
                                    .mesh = isSheet ? sheet : (espyDeviceMesh){0},
                                    .id = 3u * i + 1u};
        shapes[i] = (espyReferenceShape){.triangles = isSheet ? espyCase_Sheet() : espyDeviceReference_Box(),
                                         .toWorld = draws[i].toWorld,
                                         .id = draws[i].id};
    }
}

static void espyCase_Views(espyCaseScene* scene, espyiRng* rng, const espyDeviceCase* given)
{
    espyLens lens = {.orthographic = given->orthographic,
                     .reversedZ = given->reversedZ,
                     .nearDistance = 0.5f,
                     .farDistance = given->infiniteFar ? 0.0f : 40.0f,
                     .halfHeight = given->orthographic ? 9.0f : 0.6f,
                     .aspect = (float)given->width / (float)given->height};
    espyVec3 eye = {espyCase_Between(rng, -12.0f, 12.0f), espyCase_Between(rng, -3.0f, 6.0f),
                    espyCase_Between(rng, 6.0f, 14.0f)};
    for (uint32_t layer = 0; layer < given->layers; ++layer)
    {
        scene->pass.viewProjection[layer] = espyRasterCase_View(eye, (espyVec3){0.0f, 0.0f, 0.0f}, &lens);
        scene->references[layer] =
            espyDeviceReference_Create(given->width, given->height, given->reversedZ, given->slack);
        scene->references[layer].clip = scene->pass.viewProjection[layer];
        eye.x += 0.5f;
    }
}

static void espyCase_CheckIds(espyDevice* device, const espyCaseScene* scene, const espyDeviceCase* given,
                              espyIdMode mode, espyDeviceCaseReport* report)
{
    uint32_t bits[(3 * ESPY_CASE_PROXIES + 31) / 32];
    assert_int_equal(device->readIds(device->context, scene->pass.target, 3 * ESPY_CASE_PROXIES, bits), espyResult_Ok);
    espyReferenceCount expected[ESPY_CASE_PROXIES] = {{0, 0}};
    for (uint32_t layer = 0; layer < given->layers; ++layer)
    {
        espyReferenceCount here[ESPY_CASE_PROXIES];
        if (mode == espyIdMode_Index)
        {
            espyDeviceReference_Nearest(&scene->references[layer], scene->proxyShapes, ESPY_CASE_PROXIES, here);
        }
        for (uint32_t i = 0; i < ESPY_CASE_PROXIES; ++i)
        {
            if (mode == espyIdMode_Flag)
            {
                here[i] = espyDeviceReference_Count(&scene->references[layer], &scene->proxyShapes[i]);
            }
            expected[i].low += here[i].low;
            expected[i].high += here[i].high;
        }
    }
    for (uint32_t id = 0; id < 3 * ESPY_CASE_PROXIES; ++id)
    {
        bool seen = espyiBits_Get(bits, id);
        if (id % 3 != 1)
        {
            assert_false(seen);
            continue;
        }
        const espyReferenceCount* bounds = &expected[id / 3];
        ++report->ids;
        report->seen += seen ? 1u : 0u;
        if (seen ? bounds->high == 0 : bounds->low > 0)
        {
            print_error("seed %llu mode %d id %u: seen %d, bounds %llu..%llu\n", (unsigned long long)given->seed,
                        (int)mode, id, (int)seen, (unsigned long long)bounds->low, (unsigned long long)bounds->high);
            fail();
        }
    }
}

static void espyCase_CheckAnswer(const espyCaseScene* scene, const espyDeviceCase* given, espyQueryKind kind,
                                 uint32_t first, uint32_t count, uint64_t value, espyDeviceCaseReport* report)
{
    espyReferenceCount bounds = {0, 0};
    uint64_t all = 0;
    for (uint32_t i = first; i < first + count; ++i)
    {
        for (uint32_t layer = 0; layer < given->layers; ++layer)
        {
            espyDeviceReference empty =
                espyDeviceReference_Create(given->width, given->height, given->reversedZ, given->slack);
            empty.clip = scene->references[layer].clip;
            espyReferenceCount here = espyDeviceReference_Count(&scene->references[layer], &scene->proxyShapes[i]);
            all += espyDeviceReference_Count(&empty, &scene->proxyShapes[i]).low;
            espyDeviceReference_Destroy(&empty);
            bounds.low += here.low;
            bounds.high += here.high;
        }
    }
    ++report->queries;
    report->hidden += bounds.high == 0 && all > 0 ? 1u : 0u;
    report->partly += bounds.low > 0 && bounds.high < all ? 1u : 0u;
    report->samples += bounds.low;
    report->doubtful += bounds.high - bounds.low;
    bool good = kind == espyQueryKind_Count ? value >= bounds.low && value <= bounds.high
                                            : (value != 0 ? bounds.high > 0 : bounds.low == 0);
    if (!good)
    {
        print_error("seed %llu kind %d proxies %u+%u: %llu, bounds %llu..%llu\n", (unsigned long long)given->seed,
                    (int)kind, first, count, (unsigned long long)value, (unsigned long long)bounds.low,
                    (unsigned long long)bounds.high);
        fail();
    }
}

uint64_t espyDeviceCase_Run(espyDevice* device, const espyDeviceCase* given, espyDeviceCaseReport* report)
{
    static espyCaseScene scene;
    espyiRng rng = espyiRng_Seed(given->seed);
    memset(&scene, 0, sizeof scene);
    espyTriangles sheet = espyCase_Sheet();
    assert_int_equal(device->createMesh(device->context, &sheet, true, &scene.sheet), espyResult_Ok);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = given->width;
    targetDef.height = given->height;
    targetDef.layers = given->layers;
    targetDef.ids = true;
    targetDef.reversedZ = given->reversedZ;
    assert_int_equal(device->createTarget(device->context, &targetDef, &scene.pass.target), espyResult_Ok);
    espyCase_Shapes(&rng, scene.sheet, ESPY_CASE_SHAPES, 4.0f, scene.opaque, scene.opaqueShapes);
    espyCase_Shapes(&rng, scene.sheet, ESPY_CASE_PROXIES, 1.5f, scene.proxies, scene.proxyShapes);
    espyCase_Views(&scene, &rng, given);
    for (uint32_t layer = 0; layer < given->layers; ++layer)
    {
        for (uint32_t i = 0; i < ESPY_CASE_SHAPES; ++i)
        {
            espyDeviceReference_Draw(&scene.references[layer], &scene.opaqueShapes[i], scene.opaque[i].mesh.value != 0);
        }
    }
    // Half of the queries have one proxy, the others up to four; every other one counts.
    espyDeviceQuery queries[2 * ESPY_CASE_PROXIES];
    for (uint32_t i = 0; i < 2 * ESPY_CASE_PROXIES; ++i)
    {
        uint32_t first = i / 2, run = i % 4 < 2 ? 1u : espyiRng_Below(&rng, 5);
        run = run < ESPY_CASE_PROXIES - first ? run : ESPY_CASE_PROXIES - first;
        queries[i] = (espyDeviceQuery){.tag = given->seed * 1000 + i,
                                       .kind = i % 2 ? espyQueryKind_Count : espyQueryKind_Any,
                                       .firstProxy = first,
                                       .proxyCount = run};
    }
    uint64_t frame = given->frame;
    assert_int_equal(device->beginFrame(device->context, frame), espyResult_Ok);
    // Ids of mode Index in the first pass, of mode Flag in the second over the same depth.
    for (uint32_t p = 0; p < 2; ++p)
    {
        espyIdMode mode = p == 0 ? espyIdMode_Index : espyIdMode_Flag;
        scene.pass.clearDepth = p == 0;
        scene.pass.clearIds = true;
        assert_int_equal(device->beginPass(device->context, &scene.pass), espyResult_Ok);
        if (p == 0)
        {
            assert_int_equal(device->drawDepth(device->context, scene.opaque, ESPY_CASE_SHAPES), espyResult_Ok);
        }
        assert_int_equal(device->drawIds(device->context, scene.proxies, ESPY_CASE_PROXIES, mode), espyResult_Ok);
        if (p == 1)
        {
            assert_int_equal(
                device->query(device->context, queries, 2 * ESPY_CASE_PROXIES, scene.proxies, ESPY_CASE_PROXIES),
                espyResult_Ok);
        }
        assert_int_equal(device->endPass(device->context), espyResult_Ok);
        espyCase_CheckIds(device, &scene, given, mode, report);
    }
    assert_int_equal(device->endFrame(device->context), espyResult_Ok);
    uint32_t left = 2 * ESPY_CASE_PROXIES;
    bool answered[2 * ESPY_CASE_PROXIES] = {false};
    for (uint32_t tries = 0; left > 0 && tries < 100000; ++tries)
    {
        espyDeviceAnswer answers[7];
        uint32_t count = device->poll(device->context, answers, 7);
        for (uint32_t i = 0; i < count; ++i)
        {
            uint64_t q = answers[i].tag - given->seed * 1000;
            assert_true(q < 2 * ESPY_CASE_PROXIES && !answered[q]);
            assert_int_equal(answers[i].frame, given->frame);
            answered[q] = true;
            --left;
            espyCase_CheckAnswer(&scene, given, queries[q].kind, queries[q].firstProxy, queries[q].proxyCount,
                                 answers[i].value, report);
        }
        if (count == 0 && frame < given->frame + 20)
        {
            assert_int_equal(device->beginFrame(device->context, ++frame), espyResult_Ok);
            assert_int_equal(device->endFrame(device->context), espyResult_Ok);
        }
        else if (count == 0)
        {
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); // Ten seconds in all: the machine may be busy.
        }
    }
    assert_int_equal(left, 0);
    for (uint32_t layer = 0; layer < given->layers; ++layer)
    {
        espyDeviceReference_Destroy(&scene.references[layer]);
    }
    device->destroyTarget(device->context, scene.pass.target);
    device->destroyMesh(device->context, scene.sheet);
    return frame;
}
