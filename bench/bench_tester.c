// SPDX-License-Identifier: MIT
// Tester meshes on the software device: 10,000 and 100,000 targets behind 400 buildings, one tester each or in groups,
// beside a plain test of every box against the same depth.
//   bench_tester [FRAMES]      a walk of that many frames, 21 by default; medians by the thread's own clock
//   bench_tester octree        a block of a million cubes, a tester and a target each, under an octree of testers; the
//                              walk is in a tunnel. For sizes that double: the cost of a run must not.
#include <espy/tester.h>
#include <espy/view.h>

#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ESPY_BUILDINGS 400u
#define ESPY_GROUP 64u
#define ESPY_MOST_FRAMES 1001u
#define ESPY_EXTENT 300.0f

typedef struct espyBenchCase
{
    const char* name;
    bool grouped;
    espyIdMode mode;
    bool seed;
} espyBenchCase;

static void espyBench_Check(espyResult result)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "bench_tester: %s\n", espyResult_GetName(result));
        exit(1);
    }
}

static double espyBench_Milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double espyBench_Median(double* times, uint32_t count)
{
    qsort(times, count, sizeof *times, espyBench_Compare);
    return times[count / 2];
}

static void espyBench_AddDraw(espyTesterScene* scene, espyTesterTargetId parent, espyBox b)
{
    espyTesterDrawDef def = espyTesterDrawDef_Default();
    espyTesterDrawId id;
    const float none[4] = {0, 0, 0, 1};
    def.parent = parent;
    def.toWorld = espyMat4_FromTrs(
        (espyVec3){0.5f * (b.min.x + b.max.x), 0.5f * (b.min.y + b.max.y), 0.5f * (b.min.z + b.max.z)}, none,
        (espyVec3){0.5f * (b.max.x - b.min.x), 0.5f * (b.max.y - b.min.y), 0.5f * (b.max.z - b.min.z)});
    espyBench_Check(espyTesterScene_CreateDraw(scene, &def, &id));
}

static espyTesterTargetId espyBench_AddTarget(espyTesterScene* scene, espyTesterTargetId parent, espyBox box)
{
    espyTesterTargetDef target = espyTesterTargetDef_Default();
    espyTesterDef tester = espyTesterDef_Default();
    espyTesterTargetId targetId;
    espyTesterId testerId;
    target.parent = tester.parent = parent;
    tester.bounds = box;
    espyBench_Check(espyTesterScene_CreateTarget(scene, &target, &targetId));
    espyBench_Check(espyTesterScene_CreateTester(scene, &tester, &testerId));
    espyBench_Check(espyTesterScene_AddTarget(scene, testerId, targetId));
    return targetId;
}

/// Buildings in blocks of 15 m, things in heaps of ESPY_GROUP between and in them.
static void espyBench_Build(espyTesterScene* scene, espyBox* boxes, uint32_t count, bool grouped)
{
    const espyTesterTargetId none = {0, 0};
    espyBench_AddDraw(scene, none, (espyBox){{-1, -1, -1}, {ESPY_EXTENT + 1, 0, ESPY_EXTENT + 1}});
    for (uint32_t i = 0; i < ESPY_BUILDINGS; ++i)
    {
        float x = 15.0f * (float)(i % 20), z = 15.0f * (float)(i / 20);
        espyBench_AddDraw(scene, none, (espyBox){{x + 3, 0, z + 3}, {x + 12, 6.0f + (float)(i * 7 % 13), z + 12}});
    }
    espyiRng rng = espyiRng_Seed(1);
    for (uint32_t i = 0; i < count; i += ESPY_GROUP)
    {
        uint32_t end = count - i < ESPY_GROUP ? count : i + ESPY_GROUP;
        espyVec3 heap = {(ESPY_EXTENT - 4) * espyiRng_Float(&rng), 0, (ESPY_EXTENT - 4) * espyiRng_Float(&rng)};
        espyBox bounds = espyBox_Empty();
        for (uint32_t k = i; k < end; ++k)
        {
            float half = 0.1f + 0.3f * espyiRng_Float(&rng);
            espyVec3 p = {heap.x + 4 * espyiRng_Float(&rng), half + 2 * espyiRng_Float(&rng),
                          heap.z + 4 * espyiRng_Float(&rng)};
            boxes[k] = (espyBox){{p.x - half, p.y - half, p.z - half}, {p.x + half, p.y + half, p.z + half}};
            bounds = espyBox_Union(bounds, boxes[k]);
        }
        espyTesterTargetId group = grouped ? espyBench_AddTarget(scene, none, bounds) : none;
        for (uint32_t k = i; k < end; ++k)
        {
            espyBench_AddDraw(scene, espyBench_AddTarget(scene, group, boxes[k]), boxes[k]);
        }
    }
}

static espyMat4 espyBench_View(uint32_t frame)
{
    // Along a street, turning slowly.
    float x = 15.0f * 6.0f, z = 20.0f + 0.3f * (float)frame, turn = 0.004f * (float)frame;
    float c = 1.0f - 0.5f * turn * turn, s = turn;
    espyMat4 view = {{-c, 0, -s, 0, 0, 1, 0, 0, s, 0, -c, 0, c * x - s * z, -1.7f, s * x + c * z, 1}};
    return espyMat4_Multiply(espyMat4_Perspective(1.0f, 16.0f / 9.0f, 0.1f, 0.0f, true), view);
}

static void espyBench_Run(uint32_t count, const espyBenchCase* what, uint32_t frames)
{
    static double runMs[ESPY_MOST_FRAMES], testMs[ESPY_MOST_FRAMES];
    espyBox* boxes = malloc((size_t)count * sizeof *boxes);
    espyVisibility* answers = malloc((size_t)count * sizeof *answers);
    if (!boxes || !answers)
    {
        espyBench_Check(espyResult_OutOfMemory);
    }
    espyDevice device;
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    espyBench_Check(espySoftDevice_Create(&soft, &device));
    espyRasterDef rasterDef = espyRasterDef_Default();
    rasterDef.reversedZ = true;
    espyRaster* raster;
    espyBench_Check(espyRaster_Create(&rasterDef, &raster));
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    def.device = &device;
    def.mainView.reversedZ = true;
    def.mainView.mode = what->mode;
    def.mainView.seed = what->seed;
    espyBench_Check(espySoftDevice_WrapRaster(&device, raster, true, &def.mainView.target));
    espyTesterScene* scene;
    espyBench_Check(espyTesterScene_Create(&def, &scene));
    espyBench_Build(scene, boxes, count, what->grouped);

    uint64_t passes = 0, active = 0, asked = 0, shown = 0, visible = 0;
    uint32_t firstPasses = 0;
    double firstMs = 0;
    for (uint32_t frame = 0; frame <= frames; ++frame)
    {
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = espyBench_View(frame);
        espyBench_Check(device.beginFrame(device.context, frame + 1));
        double start = espyBench_Milliseconds();
        espyBench_Check(espyTesterScene_RunView(scene, (espyTesterViewId){0, 0}, &run));
        double taken = espyBench_Milliseconds() - start;
        espyBench_Check(device.endFrame(device.context));
        espyTesterStats stats = espyTesterScene_GetStats(scene, (espyTesterViewId){0, 0});
        if (frame == 0)
        {
            firstPasses = stats.passes;
            firstMs = taken;
            continue;
        }
        runMs[frame - 1] = taken;
        passes += stats.passes;
        active += stats.active;
        asked += stats.ids;
        shown += stats.targetsShown;
        start = espyBench_Milliseconds();
        espyRaster_TestBoxes(raster, boxes, count, answers);
        testMs[frame - 1] = espyBench_Milliseconds() - start;
        for (uint32_t i = 0; i < count; ++i)
        {
            visible += answers[i] < espyVisibility_Outside;
        }
    }
    double n = (double)frames;
    printf("%7u  %-22s  %5u  %8.2f  %6.1f  %8.2f  %8.0f  %8.0f  %8.0f  %9.2f  %8.0f\n", count, what->name, firstPasses,
           firstMs, (double)passes / n, espyBench_Median(runMs, frames), (double)active / n, (double)shown / n,
           (double)asked / n, espyBench_Median(testMs, frames), (double)visible / n);
    espyTesterScene_Destroy(scene);
    espySoftDevice_Destroy(&device);
    espyRaster_Destroy(raster);
    free(boxes);
    free(answers);
}

// --- an octree down to single cubes

typedef struct espyBenchTree
{
    espyTesterScene* scene;
    int32_t size[3]; ///< Cubes.
    uint32_t testers, cubes;
} espyBenchTree;

/// A tunnel 4 x 4 wide along z, in the middle.
static bool espyBench_IsAir(const espyBenchTree* tree, const int32_t at[3])
{
    int32_t x = at[0] - tree->size[0] / 2, y = at[1] - tree->size[1] / 2;
    return x >= -2 && x < 2 && y >= -2 && y < 2;
}

static void espyBench_AddNode(espyBenchTree* tree, espyTesterTargetId parent, const int32_t min[3], int32_t side)
{
    if (min[0] >= tree->size[0] || min[1] >= tree->size[1] || min[2] >= tree->size[2] ||
        (side == 1 && espyBench_IsAir(tree, min)))
    {
        return;
    }
    espyBox box = {{(float)min[0], (float)min[1], (float)min[2]},
                   {(float)(min[0] + side), (float)(min[1] + side), (float)(min[2] + side)}};
    espyTesterTargetId target = espyBench_AddTarget(tree->scene, parent, box);
    ++tree->testers;
    if (side == 1)
    {
        espyBench_AddDraw(tree->scene, target, box);
        ++tree->cubes;
        return;
    }
    for (int i = 0; i < 8; ++i)
    {
        int32_t half = side / 2;
        int32_t child[3] = {min[0] + half * (i & 1), min[1] + half * (i >> 1 & 1), min[2] + half * (i >> 2)};
        espyBench_AddNode(tree, target, child, half); // Eight levels deep.
    }
}

static void espyBench_RunTree(const int32_t size[3])
{
    enum
    {
        frames = 11
    };
    espyDevice device;
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    espyBench_Check(espySoftDevice_Create(&soft, &device));
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    def.device = &device;
    def.mainView.reversedZ = true;
    espyBenchTree tree = {.size = {size[0], size[1], size[2]}};
    espyBench_Check(espyTesterScene_Create(&def, &tree.scene));
    double start = espyBench_Milliseconds();
    espyBench_AddNode(&tree, (espyTesterTargetId){0, 0}, (const int32_t[3]){0, 0, 0}, 128);
    double build = espyBench_Milliseconds() - start, times[frames], first = 0;
    espyTesterStats stats = {0};
    for (uint32_t frame = 0; frame <= frames; ++frame)
    {
        espyTesterRun run = espyTesterRun_Default();
        espyMat4 view = espyMat4_Identity();
        view.m[12] = -0.5f * (float)size[0];
        view.m[13] = -0.5f * (float)size[1];
        view.m[14] = -((float)size[2] - 1.0f - 0.05f * (float)frame);
        run.viewProjection[0] = espyMat4_Multiply(espyMat4_Perspective(1.0f, 16.0f / 9.0f, 0.1f, 0.0f, true), view);
        espyBench_Check(device.beginFrame(device.context, frame + 1));
        start = espyBench_Milliseconds();
        espyBench_Check(espyTesterScene_RunView(tree.scene, (espyTesterViewId){0, 0}, &run));
        *(frame == 0 ? &first : &times[frame - 1]) = espyBench_Milliseconds() - start;
        espyBench_Check(device.endFrame(device.context));
        stats = espyTesterScene_GetStats(tree.scene, (espyTesterViewId){0, 0});
    }
    printf("%8u  %8u  %8.0f  %8.2f  %8.2f  %7u  %7u  %7u  %6u\n", tree.cubes, tree.testers, build, first,
           espyBench_Median(times, frames), stats.active, stats.draws, stats.ids, stats.passes);
    espyTesterScene_Destroy(tree.scene);
    espySoftDevice_Destroy(&device);
}

int main(int argc, char** argv)
{
    if (argc > 1 && argv[1][0] == 'o')
    {
        printf("   cubes   testers  build ms  first ms  frame ms   active    draws    asked  passes\n");
        for (int32_t side = 16; side <= 128; side *= 2)
        {
            espyBench_RunTree((const int32_t[3]){side, side < 64 ? side : 64, 128});
        }
        return 0;
    }
    uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 21;
    frames = frames < 1 ? 1 : frames < ESPY_MOST_FRAMES ? frames : ESPY_MOST_FRAMES;
    static const espyBenchCase cases[] = {
        {"index, one by one", false, espyIdMode_Index, true},      {"flag, one by one", false, espyIdMode_Flag, true},
        {"index, in groups", true, espyIdMode_Index, true},        {"flag, in groups", true, espyIdMode_Flag, true},
        {"index, groups, no seed", true, espyIdMode_Index, false},
    };
    printf("1280 x 720, software device, one thread; means of %u frames, medians of times\n", frames);
    printf("                                 first run            each frame                                        "
           "test of every box\n");
    printf("targets  testers                 passes       ms  passes        ms    active     shown     asked"
           "         ms   visible\n");
    for (uint32_t count = 10000; count <= 100000; count *= 10)
    {
        for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
        {
            espyBench_Run(count, &cases[i], frames);
        }
    }
    return 0;
}
