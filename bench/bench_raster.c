// SPDX-License-Identifier: MIT
// The rasteriser by instruction set: triangles and boxes a second on the castle and the city, answers checked against
// the reference, rectangle tests, and the time beside what clearing and streaming the same depth bytes takes.
//   bench_raster [FRAMES [quick]]      medians of FRAMES runs by the thread's own clock, 41 by default; quick: no
//   answers
//                                      checked
#include "../tests/raster_case.h"

#include "core/tasks.h"
#include "reference/raster_reference.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_WIDTH 1280
#define ESPY_HEIGHT 720
#define ESPY_BOXES 20000u
#define ESPY_MOST_RUNS 401

static int espyBench_runs = 41;

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double espyBench_Median(double* times)
{
    qsort(times, (size_t)espyBench_runs, sizeof *times, espyBench_Compare);
    return times[espyBench_runs / 2];
}

static void espyBench_Check(espyResult result)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "bench_raster: %s\n", espyResult_GetName(result));
        exit(1);
    }
}

static espyRaster* espyBench_Create(espyRasterMode mode, espyIsa cap)
{
    espyRasterDef def = espyRasterDef_Default();
    def.mode = mode;
    def.width = ESPY_WIDTH;
    def.height = ESPY_HEIGHT;
    def.reversedZ = true;
    def.isaCap = cap;
    espyRaster* raster;
    espyBench_Check(espyRaster_Create(&def, &raster));
    return raster;
}

typedef struct espyBenchScene
{
    const char* name;
    espyRasterMesh mesh;
    espyOccluder* occluders[2]; ///< By mode.
    espyMat4 view;
    espyBox* boxes;
    uint8_t* truth; ///< espyReferenceAnswer a box.
} espyBenchScene;

static espyBenchScene espyBench_Load(const char* name, uint32_t size, espyVec3 eye, espyVec3 target, bool boxes)
{
    espyBenchScene scene = {.name = name};
    espyWorld* world;
    espyBench_Check(espyScene_Build(name, size, 1, &world));
    scene.mesh = espyRasterCase_FromWorld(world);
    espyWorld_Destroy(world);
    for (int mode = 0; mode < 2; ++mode)
    {
        espyOccluderDef def = espyOccluderDef_Default();
        def.triangles = scene.mesh.triangles;
        def.mode = (espyRasterMode)mode;
        espyBench_Check(espyOccluder_Create(&def, &scene.occluders[mode]));
    }
    espyLens lens = {.reversedZ = true, .nearDistance = 0.1f, .halfHeight = 0.57735f, .aspect = 16.0f / 9.0f};
    scene.view = espyRasterCase_View(eye, target, &lens);
    scene.boxes = malloc(ESPY_BOXES * sizeof *scene.boxes);
    scene.truth = malloc(ESPY_BOXES);
    if (!scene.boxes || !scene.truth)
    {
        exit(4);
    }
    espyiRng rng = espyiRng_Seed(5);
    espyBox bounds = espyOccluder_GetBounds(scene.occluders[0]);
    for (uint32_t i = 0; i < ESPY_BOXES; ++i)
    {
        float x = bounds.min.x + (bounds.max.x - bounds.min.x) * espyiRng_Float(&rng);
        float y = 0.05f + 12.0f * espyiRng_Float(&rng) * espyiRng_Float(&rng);
        float z = bounds.min.z + (bounds.max.z - bounds.min.z) * espyiRng_Float(&rng);
        float sx = 0.1f + 1.5f * espyiRng_Float(&rng), sy = 0.1f + 1.5f * espyiRng_Float(&rng);
        float sz = 0.1f + 1.5f * espyiRng_Float(&rng);
        scene.boxes[i] = (espyBox){{x - sx, y, z - sz}, {x + sx, y + 2.0f * sy, z + sz}};
    }
    if (boxes)
    {
        espyReferenceImage image = espyReferenceImage_Create(ESPY_WIDTH, ESPY_HEIGHT, true, 0);
        espyReferenceImage_Draw(&image, &scene.mesh.triangles, &scene.view, 0, false);
        for (uint32_t i = 0; i < ESPY_BOXES; ++i)
        {
            scene.truth[i] = (uint8_t)espyReferenceImage_TestBox(&image, &scene.view, scene.boxes[i], true);
        }
        espyReferenceImage_Destroy(&image);
    }
    else
    {
        memset(scene.truth, espyReferenceAnswer_CrossesNear, ESPY_BOXES);
    }
    return scene;
}

static void espyBench_Scene(const espyBenchScene* scene, espyRasterMode mode, espyIsa cap, const double* streaming)
{
    espyRaster* raster = espyBench_Create(mode, cap);
    if (espyRaster_GetIsa(raster) != cap)
    {
        espyRaster_Destroy(raster);
        return;
    }
    static double draws[ESPY_MOST_RUNS], tests[ESPY_MOST_RUNS];
    static espyVisibility answers[ESPY_BOXES];
    espyOccluderDraw draw = {scene->occluders[mode], NULL, 0};
    for (int run = 0; run < espyBench_runs; ++run)
    {
        double start = espyiClock_ThreadCpuSeconds();
        espyRaster_Begin(raster, &scene->view);
        espyRaster_DrawSorted(raster, &draw, 1, NULL);
        double drawn = espyiClock_ThreadCpuSeconds();
        espyRaster_TestBoxes(raster, scene->boxes, ESPY_BOXES, answers);
        draws[run] = drawn - start;
        tests[run] = espyiClock_ThreadCpuSeconds() - drawn;
    }
    uint32_t wrong = 0, leak = 0, hidden = 0, judged = 0;
    for (uint32_t i = 0; i < ESPY_BOXES; ++i)
    {
        bool occluded = answers[i] == espyVisibility_Occluded || answers[i] == espyVisibility_Outside;
        judged += scene->truth[i] <= espyReferenceAnswer_Shows ? 1u : 0u;
        hidden += answers[i] == espyVisibility_Occluded ? 1u : 0u;
        wrong += occluded && scene->truth[i] == espyReferenceAnswer_Shows ? 1u : 0u;
        leak += !occluded && scene->truth[i] == espyReferenceAnswer_Hidden ? 1u : 0u;
    }
    espyRasterStats stats;
    espyRaster_GetStats(raster, &stats);
    double time = espyBench_Median(draws), testTime = espyBench_Median(tests);
    uint32_t triangles = scene->mesh.triangles.triangleCount;
    printf(
        "%-7s %-12s %-7s %7u %7.3f %7.1f %6.2f %7.1f %6u %6u %6u %6.2f  %llu of %llu batches, %llu set, %llu drawn\n",
        scene->name, mode == espyRasterMode_Sampled ? "sampled" : "conservative", espyIsa_GetName(cap), triangles,
        time * 1e3, triangles / time * 1e-6, time / *streaming, ESPY_BOXES / testTime * 1e-6, judged, hidden, wrong,
        judged ? 100.0 * leak / judged : 0.0,
        (unsigned long long)(stats.batchesGiven - stats.batchesOutside - stats.batchesOccluded -
                             stats.batchesFacingOff),
        (unsigned long long)stats.batchesGiven, (unsigned long long)stats.trianglesSet,
        (unsigned long long)stats.trianglesDrawn);
    espyRaster_Destroy(raster);
}

/// Seconds to clear the depth bytes of a frame and to read them once.
static double espyBench_Streaming(void)
{
    static double times[ESPY_MOST_RUNS];
    size_t count = (size_t)ESPY_WIDTH * ESPY_HEIGHT;
    uint64_t* depth = malloc(count * 4u);
    uint64_t sum = 0;
    if (!depth)
    {
        exit(4);
    }
    for (int run = 0; run < espyBench_runs; ++run)
    {
        double start = espyiClock_ThreadCpuSeconds();
        memset(depth, run, count * 4u);
        for (size_t i = 0; i < count / 2u; ++i)
        {
            sum += depth[i];
        }
        times[run] = espyiClock_ThreadCpuSeconds() - start;
    }
    free(depth);
    double time = espyBench_Median(times);
    printf("clearing and streaming %d x %d depths: %.3f ms (%llu)\n", ESPY_WIDTH, ESPY_HEIGHT, time * 1e3,
           (unsigned long long)(sum & 1u));
    return time;
}

static void espyBench_Rects(const espyBenchScene* scene, espyIsa cap)
{
    espyRaster* raster = espyBench_Create(espyRasterMode_Sampled, cap);
    if (espyRaster_GetIsa(raster) == cap)
    {
        espyOccluderDraw draw = {scene->occluders[0], NULL, 0};
        espyRaster_Begin(raster, &scene->view);
        espyRaster_DrawSorted(raster, &draw, 1, NULL);
        // A backdrop behind everything, so that no rectangle can be left early.
        espyMat4 flat = espyMat4_Identity();
        espyVec3 corners[4] = {{-2.0f, -2.0f, 1e-7f}, {2.0f, -2.0f, 1e-7f}, {2.0f, 2.0f, 1e-7f}, {-2.0f, 2.0f, 1e-7f}};
        uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
        espyRaster_SetView(raster, &flat);
        espyRaster_DrawTriangles(raster, &(espyTriangles){corners, indices, 4, 2}, NULL, 0, true);
        printf("rectangle test, %-7s", espyIsa_GetName(cap));
        for (int32_t size = 8; size <= 512; size *= 4)
        {
            enum
            {
                count = 4096
            };
            static espyPixelRect rects[count];
            static double times[ESPY_MOST_RUNS];
            espyiRng rng = espyiRng_Seed((uint64_t)size);
            uint32_t hidden = 0;
            for (int i = 0; i < count; ++i)
            {
                int32_t x = (int32_t)espyiRng_Below(&rng, (uint32_t)(ESPY_WIDTH - size));
                int32_t y = (int32_t)espyiRng_Below(&rng, (uint32_t)(ESPY_HEIGHT - size));
                rects[i] = (espyPixelRect){x, y, x + size, y + size};
            }
            for (int run = 0; run < espyBench_runs; ++run)
            {
                double start = espyiClock_ThreadCpuSeconds();
                for (int i = 0; i < count; ++i)
                {
                    hidden += espyRaster_TestRect(raster, rects[i], 0.0f) == espyVisibility_Occluded ? 1u : 0u;
                }
                times[run] = (espyiClock_ThreadCpuSeconds() - start) / count;
            }
            printf("  %d px %.1f ns (%.0f %% hidden)", size, espyBench_Median(times) * 1e9,
                   100.0 * hidden / count / espyBench_runs);
        }
        printf("\n");
    }
    espyRaster_Destroy(raster);
}

int main(int argc, char** argv)
{
    espyBench_runs = argc > 1 ? atoi(argv[1]) : espyBench_runs;
    espyBench_runs = espyBench_runs < 1 ? 1 : espyBench_runs > ESPY_MOST_RUNS ? ESPY_MOST_RUNS : espyBench_runs;
    double streaming = espyBench_Streaming();
    bool truth = argc < 3;
    espyBenchScene scenes[3] = {
        espyBench_Load("castle", 0, (espyVec3){84.0f, 14.0f, -88.0f}, (espyVec3){0.0f, 6.0f, 0.0f}, truth),
        espyBench_Load("castle", 0, (espyVec3){30.0f, 1.75f, -31.0f}, (espyVec3){-30.0f, 3.0f, 20.0f}, truth),
        espyBench_Load("city", 22, (espyVec3){1.0f, 1.75f, 1.0f}, (espyVec3){418.0f, 4.0f, 380.0f}, truth)};
    static const espyIsa isas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
    printf("scene   mode         set       tris      ms  Mtri/s x strm  Mbox/s judged hidden  wrong leak %%\n");
    for (uint32_t s = 0; s < ESPYI_ARRAY_COUNT(scenes); ++s)
    {
        for (int mode = 0; mode < 2; ++mode)
        {
            for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(isas); ++i)
            {
                espyBench_Scene(&scenes[s], (espyRasterMode)mode, isas[i], &streaming);
            }
        }
    }
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(isas); ++i)
    {
        espyBench_Rects(&scenes[0], isas[i]);
    }
    for (uint32_t s = 0; s < ESPYI_ARRAY_COUNT(scenes); ++s)
    {
        espyOccluder_Destroy(scenes[s].occluders[0]);
        espyOccluder_Destroy(scenes[s].occluders[1]);
        espyRasterMesh_Free(&scenes[s].mesh);
        free(scenes[s].boxes);
        free(scenes[s].truth);
    }
    return 0;
}
