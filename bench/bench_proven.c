// SPDX-License-Identifier: MIT
// A bake at quality proven, and an attack on what it hides: shares, seconds, violations.
//
// usage: bench_proven SCENE|LEVEL [size [cell size [million rays [threads [seed]]]]]
// Exits 1 where a line proves a hidden pair visible.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <espy/editor.h>
#include <espy/import.h>

#include "bake/bake_internal.h"
#include "bake/freespace_internal.h"
#include "reference/adversary.h"
#include "scenes/scenes.h"

#define ESPY_BENCH_MAX_THREADS 64u

typedef struct espyBench
{
    const espyBakeInput* input;
    espyBakeDef def;
    espyBakeResult result;
    espyPvs pvs;
    espyAdversary adversary;
    espyiBvh* bvh;
    espyiScene scene;
    espyiFreeSpace* space;
    espyiViewers viewers;
    double (*rims)[2][3];
    uint32_t rimCount;
    uint64_t rays, seed;
    espyAdversaryResult found[ESPY_BENCH_MAX_THREADS];
} espyBench;

static void espyBench_Trace(void* context, const espyVec3* origins, const espyVec3* directions, uint32_t count,
                            float tMin, uint32_t firstOwn, uint32_t ownCount, espyAdversaryHit* hits)
{
    const espyBench* bench = context;
    espyiSegment segments[ESPY_ADVERSARY_BATCH] = {0};
    espyiHit found[ESPY_ADVERSARY_BATCH];
    for (uint32_t i = 0; i < count; ++i)
    {
        segments[i] = (espyiSegment){origins[i], tMin, directions[i], 1e6f};
    }
    espyiBvh_ClosestMany(bench->bvh, segments, count, (espyiSkip){firstOwn, ownCount}, found);
    for (uint32_t i = 0; i < count; ++i)
    {
        bool hit = found[i].t >= 0.0f && found[i].triangle != UINT32_MAX;
        hits[i] = (espyAdversaryHit){hit ? (double)found[i].t : INFINITY, hit ? found[i].triangle : UINT32_MAX};
    }
}

static bool espyBench_IsPlace(void* context, const double point[3])
{
    const espyBench* bench = context;
    const espyVec3 o = bench->scene.grid.origin;
    const double p[3] = {point[0] - (double)o.x, point[1] - (double)o.y, point[2] - (double)o.z};
    return bench->viewers.count == 0 || espyiBits_Get(bench->viewers.leaves, espyiFreeSpace_FindLeaf(bench->space, p));
}

static void espyBench_Attack(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espyBench* bench = context;
    const espyAdversaryDef def = {
        .input = bench->input,
        .pvs = &bench->pvs,
        .trace = espyBench_Trace,
        .traceContext = bench,
        .place = espyBench_IsPlace,
        .placeContext = bench,
        .rims = (const double(*)[2][3])bench->rims,
        .rimCount = bench->rimCount,
        .tolerance = 2e-5,
        .rays = bench->rays,
        .seed = espyiHash_U64(bench->seed, index),
    };
    espyAdversary_Run(&bench->adversary, &def, &bench->found[index]);
}

/// The free space of the bake, for its openings and its viewers; both are rebuilt here from the same input.
static bool espyBench_Space(espyBench* bench, const espyHooks* hooks)
{
    espyiWarnings warnings = {.hooks = hooks};
    char message[256];
    bench->scene.hooks = hooks;
    if (espyiScene_Gather(bench->input, &bench->def, &warnings, &bench->scene, message, sizeof message) !=
        espyResult_Ok)
    {
        return false;
    }
    espyiWarnings_Free(&warnings);
    const espyiScene* s = &bench->scene;
    espyBox box = {{0, 0, 0},
                   {(float)s->grid.dims[0] * s->grid.cellSize, (float)s->grid.dims[1] * s->grid.cellSize,
                    (float)s->grid.dims[2] * s->grid.cellSize}};
    for (uint32_t i = 0; i < s->vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, s->positions[i]);
    }
    espyiBoxD world = {{(double)box.min.x - 20, (double)box.min.y - 20, (double)box.min.z - 20},
                       {(double)box.max.x + 20, (double)box.max.y + 20, (double)box.max.z + 20}};
    espyiSoup soup = {{s->positions, s->indices, s->vertexCount, s->triangleCount}, s->objects};
    espyiFreeSpaceDef def = {.smallestHole = (double)bench->def.smallestHole, .hooks = hooks};
    if (espyiFreeSpace_Build(&soup, world, &def, &bench->space) != espyResult_Ok)
    {
        return false;
    }
    if (s->viewPointCount > 0)
    {
        espyiViewersDef viewers = {.occluders = &soup,
                                   .points = s->viewPoints,
                                   .pointCount = s->viewPointCount,
                                   .radius = fmin((double)bench->def.nearDistance, ESPYI_CAMERA_RADIUS),
                                   .hooks = hooks};
        if (espyiViewers_Find(bench->space, &viewers, &bench->viewers) != espyResult_Ok)
        {
            return false;
        }
    }
    size_t most = 0;
    for (size_t i = 0; i < bench->space->refCount; ++i)
    {
        most += bench->space->refs[i].count;
    }
    bench->rims = calloc(most + 1, sizeof *bench->rims);
    const double origin[3] = {(double)s->grid.origin.x, (double)s->grid.origin.y, (double)s->grid.origin.z};
    for (size_t i = 0; i < bench->space->refCount && bench->rims; ++i)
    {
        const espyiPortalRef* ref = &bench->space->refs[i];
        for (uint32_t k = 0; k < ref->count; ++k)
        {
            for (int axis = 0; axis < 3; ++axis)
            {
                bench->rims[bench->rimCount][0][axis] = bench->space->points[ref->first + k][axis] + origin[axis];
                bench->rims[bench->rimCount][1][axis] =
                    bench->space->points[ref->first + (k + 1) % ref->count][axis] + origin[axis];
            }
            bench->rimCount += 1;
        }
    }
    return bench->rims != NULL;
}

static int espyBench_Run(espyBench* bench, const char* name, uint32_t threads)
{
    const espyHooks hooks = espyiHooks_Resolve(NULL);
    espyResult result = espyBake_Run(bench->input, &bench->def, &bench->result);
    const espyBakeStats* stats = &bench->result.stats;
    if (result != espyResult_Ok || espyPvs_Load(&bench->pvs, bench->result.data, bench->result.size, NULL))
    {
        fprintf(stderr, "bench_proven: %s\n", bench->result.message);
        return 3;
    }
    for (uint32_t i = 0; i < bench->result.warningCount; ++i)
    {
        printf("%s: %s\n", name, bench->result.warnings[i].text);
    }
    uint64_t pairs = stats->pairsVisible + stats->pairsHidden + stats->pairsUnknown;
    double all = pairs ? (double)pairs : 1.0, visible = stats->pairsVisible ? (double)stats->pairsVisible : 1.0;
    printf(
        "%s: %llu cells (%llu without a camera), %llu occludees, %llu pairs: visible %.3f %%, proven hidden %.3f %%, "
        "unknown %.3f %%, over %.2f %%; %.2f s, %.2f CPU s, %.1f Mrays\n",
        name, (unsigned long long)stats->cells, (unsigned long long)stats->solidCells,
        (unsigned long long)stats->occludees, (unsigned long long)pairs, 100.0 * (double)stats->pairsVisible / all,
        100.0 * (double)stats->pairsProvenHidden / all, 100.0 * (double)stats->pairsUnknown / all,
        100.0 * (double)stats->pairsUnknown / visible, stats->seconds, stats->cpuSeconds, 1e-6 * (double)stats->rays);
    for (uint32_t i = 0; i < stats->stageCount; ++i)
    {
        printf("  %-8s %10.3f CPU s %12llu rays %12llu pairs\n", stats->stages[i].name, stats->stages[i].cpuSeconds,
               (unsigned long long)stats->stages[i].rays, (unsigned long long)stats->stages[i].pairs);
    }
    if (bench->rays == 0)
    {
        return 0;
    }
    if (!espyAdversary_Create(bench->input, &bench->adversary) || !espyBench_Space(bench, &hooks))
    {
        return 4;
    }
    espyiSoup soup = {{bench->adversary.positions, bench->adversary.indices, 3 * bench->adversary.triangleCount,
                       bench->adversary.triangleCount},
                      bench->adversary.objects};
    if (espyiBvh_Build(&soup, espyIsa_Auto, threads, &hooks, NULL, &bench->bvh) != espyResult_Ok)
    {
        return 4;
    }
    double start = espyiClock_Seconds();
    espyiTasks_For(threads, threads, espyBench_Attack, bench, NULL, NULL);
    espyAdversaryResult sum = {0};
    for (uint32_t i = 0; i < threads; ++i)
    {
        const espyAdversaryResult* r = &bench->found[i];
        if (r->violations > 0 && sum.violations == 0)
        {
            printf("  cell %u, slot %u: free from %.9g %.9g %.9g to %.9g %.9g %.9g\n", r->cell, r->slot, r->from[0],
                   r->from[1], r->from[2], r->to[0], r->to[1], r->to[2]);
        }
        sum.rays += r->rays;
        sum.held += r->held;
        sum.violations += r->violations;
        sum.grazing += r->grazing;
    }
    printf("  attack: %.1f Mrays in %.1f s, %llu cells held against them, %llu violations, %llu within 20 um\n",
           1e-6 * (double)sum.rays, espyiClock_Seconds() - start, (unsigned long long)sum.held,
           (unsigned long long)sum.violations, (unsigned long long)sum.grazing);
    return sum.violations > 0;
}

int main(int argc, char** argv)
{
    const char* name = argc > 1 ? argv[1] : "rooms";
    uint32_t size = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    double cellSize = argc > 3 ? strtod(argv[3], NULL) : 0;
    double millions = argc > 4 ? strtod(argv[4], NULL) : 10;
    uint32_t threads = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 2;
    threads = threads < 1 ? 1 : threads > ESPY_BENCH_MAX_THREADS ? ESPY_BENCH_MAX_THREADS : threads;
    static espyBench bench;
    bench.seed = argc > 6 ? strtoull(argv[6], NULL, 10) : 1;
    bench.rays = (uint64_t)(1e6 * millions / (double)threads);
    espyWorld* world = NULL;
    espyImportDef importDef = espyImportDef_Default();
    espyImportReport report = {0};
    if (espyScene_Build(name, size, 1, &world) != espyResult_Ok &&
        espyImport_LoadFile(name, &importDef, &world, &report) != espyResult_Ok)
    {
        fprintf(stderr, "bench_proven: %s\n", report.message);
        return 2;
    }
    bench.def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &bench.def);
    bench.def.cellSize = cellSize > 0 ? (float)cellSize : bench.def.cellSize;
    bench.def.quality = espyBakeQuality_Proven;
    bench.def.dynamicObjects = false;
    bench.def.threads = (int32_t)threads;
    espyGathered* gathered = NULL;
    if (espyEditor_Gather(world, bench.def.cellSize, 0, NULL, &gathered) != espyResult_Ok)
    {
        return 4;
    }
    bench.input = espyGathered_GetInput(gathered);
    int status = espyBench_Run(&bench, name, threads);
    espyiBvh_Destroy(bench.bvh);
    espyAdversary_Free(&bench.adversary);
    espyiViewers_Free(&bench.viewers);
    espyiFreeSpace_Destroy(bench.space);
    if (bench.scene.hooks)
    {
        espyiScene_Free(&bench.scene);
    }
    free(bench.rims);
    espyBake_Free(&bench.result);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    return status;
}
