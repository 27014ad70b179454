// SPDX-License-Identifier: MIT
// What free-space proofs decide of a scene, and what they cost: shares, floods, nanoseconds a portal test.
//
// usage: bench_proof SCENE|LEVEL [size [stride [cell size [depth budget rays]...]]]
// `stride` takes every n-th occludee. Each triple is one rung of the ladder over the pairs still open; an odd budget
// goes depth first.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <espy/editor.h>
#include <espy/import.h>

#include "bake/bake_internal.h"
#include "bake/proof_internal.h"
#include "scenes/scenes.h"

typedef struct espyBench
{
    espyiScene scene;
    espyiBvh* bvh;
    espyiFreeSpace* space;
    espyiCellTree* tree;
    uint32_t* masks;
    espyiControl control;
    espyiSearcher searcher;
    espyiProver* prover;
    espyiTarget target;
    uint64_t rays;
} espyBench;

typedef struct espyBenchRung
{
    uint32_t depth, budget, rays;
    double seconds;
    uint64_t pairs, visible, hidden, work, tried, floods;
} espyBenchRung;

static bool espyBench_TryRay(void* context, const double from[3], const double to[3])
{
    espyBench* bench = context;
    espyVec3 a = {(float)from[0], (float)from[1], (float)from[2]};
    espyVec3 b = espyiTarget_Aim(&bench->target, a, (espyVec3){(float)to[0], (float)to[1], (float)to[2]});
    espyiSegment segment = espyiSamples_Segment(a, b);
    bench->rays += 1;
    return !espyiBvh_Occluded(bench->bvh, &segment, bench->target.skip);
}

static espyiBoxD espyBench_World(const espyBench* bench, const espyBakeInput* input)
{
    const espyiGrid* grid = &bench->scene.grid;
    espyBox box = {{0, 0, 0},
                   {(float)grid->dims[0] * grid->cellSize, (float)grid->dims[1] * grid->cellSize,
                    (float)grid->dims[2] * grid->cellSize}};
    for (uint32_t i = 0; i < bench->scene.vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, bench->scene.positions[i]);
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        espyBox b = bench->scene.occludeeBoxes[i];
        box = espyBox_Union(box, (espyBox){espyiScene_ToLocal(grid, b.min), espyiScene_ToLocal(grid, b.max)});
    }
    return (espyiBoxD){{(double)box.min.x - 20, (double)box.min.y - 20, (double)box.min.z - 20},
                       {(double)box.max.x + 20, (double)box.max.y + 20, (double)box.max.z + 20}};
}

static uint64_t espyBench_Count(const espyBench* bench, const uint32_t* bits, const uint32_t* without)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < espyiBits_Words(bench->scene.grid.cellCount); ++i)
    {
        count += espyiPopCount32(bits[i] & ~bench->scene.grid.solid[i] & ~(without ? without[i] : 0u));
    }
    return count;
}

static void espyBench_Run(espyBench* bench, const espyBakeInput* input, uint32_t stride, espyBenchRung* rungs,
                          uint32_t rungCount)
{
    const espyHooks hooks = espyiHooks_Resolve(NULL);
    const espyiGrid* grid = &bench->scene.grid;
    uint32_t words = espyiBits_Words(grid->cellCount);
    uint32_t* hidden = espyiAlloc(&hooks, words, sizeof(uint32_t));
    uint64_t driveFloods = 0, pairs = 0, seen = 0, proven = 0, wrong = 0, driveWork = 0, late = 0;
    double driveSeconds = 0, searchSeconds = 0;
    for (uint32_t i = 0; i < input->occludeeCount; i += stride)
    {
        if (bench->scene.occludeeBad[i] ||
            !espyiTarget_FillOccludee(&bench->searcher.target, &bench->scene, i, espyBakeQuality_Medium, NULL) ||
            !espyiTarget_FillOccludee(&bench->target, &bench->scene, i, espyBakeQuality_Medium, NULL))
        {
            continue;
        }
        espyiTargetCounts counts;
        double start = espyiClock_ThreadCpuSeconds();
        espyiSearcher_Run(&bench->searcher, &counts);
        searchSeconds += espyiClock_ThreadCpuSeconds() - start;
        const uint32_t* visible = bench->searcher.visible;
        pairs += grid->cellCount - grid->solidCount;
        seen += counts.visible;

        // Blocks may hold cells that rays have seen; a proof of one of those would be counted as wrong.
        const espyBox b = bench->target.bounds;
        espyiBoxD bounds = {{(double)b.min.x, (double)b.min.y, (double)b.min.z},
                            {(double)b.max.x, (double)b.max.y, (double)b.max.z}};
        memset(hidden, 0, words * sizeof(uint32_t));
        uint64_t floods = bench->prover->floods;
        start = espyiClock_ThreadCpuSeconds();
        espyiProver_DriveCells(bench->prover, bounds, visible, 0, hidden, &driveWork);
        driveSeconds += espyiClock_ThreadCpuSeconds() - start;
        driveFloods += bench->prover->floods - floods;
        proven += espyBench_Count(bench, hidden, visible);
        for (uint32_t cell = 0; cell < grid->cellCount; ++cell)
        {
            if (espyiBits_Get(hidden, cell) && espyiBits_Get(visible, cell))
            {
                // Near cells count as visible without a ray.
                espyBox near = espyBox_Grow(espyiGrid_LocalCellBox(grid, cell), 0.1001f);
                wrong += espyBox_Overlaps(near, bench->target.bounds) ? 0u : 1u;
            }
        }
        uint32_t* open = hidden;
        for (uint32_t w = 0; w < words; ++w)
        {
            open[w] = ~(hidden[w] | visible[w] | grid->solid[w]);
        }
        espyiProofTarget target = espyiTarget_DescribeProof(&bench->target, &bounds);
        for (uint32_t r = 0; r < rungCount; ++r)
        {
            espyBenchRung* rung = &rungs[r];
            espyiLadderDef def = {.depth = rung->depth,
                                  .budget = rung->budget,
                                  .raysPerStep = rung->rays,
                                  .deep = rung->budget % 2 != 0,
                                  .seed = espyiHash_U64(bench->target.seed, r),
                                  .tryRay = espyBench_TryRay,
                                  .context = bench};
            uint64_t before = bench->rays;
            start = espyiClock_ThreadCpuSeconds();
            for (uint32_t cell = 0; cell < grid->cellCount; ++cell)
            {
                if (espyiBits_Get(open, cell))
                {
                    espyiVerdict verdict = espyiProver_Ladder(bench->prover, cell, &target, &def, &rung->work);
                    rung->pairs += 1;
                    rung->visible += verdict == espyiVerdict_Visible;
                    rung->hidden += verdict == espyiVerdict_Hidden;
                    late += verdict == espyiVerdict_Visible;
                    proven += verdict == espyiVerdict_Hidden;
                    if (verdict != espyiVerdict_Unknown)
                    {
                        espyiBits_Clear(open, cell);
                    }
                }
            }
            rung->seconds += espyiClock_ThreadCpuSeconds() - start;
            rung->tried += bench->rays - before;
        }
    }
    uint64_t all = seen + late;
    printf("pairs %llu, visible %.3f %%, proven hidden %.3f %%, unknown %.3f %% (%.2f %% of visible), wrong %llu\n",
           (unsigned long long)pairs, 100.0 * (double)all / (double)pairs, 100.0 * (double)proven / (double)pairs,
           100.0 * (double)(pairs - all - proven) / (double)pairs,
           100.0 * (double)(pairs - all - proven) / (double)(all ? all : 1), (unsigned long long)wrong);
    printf("search without proofs: %.2f s, finds %.2f %% of what is known visible\n", searchSeconds,
           100.0 * (double)seen / (double)(all ? all : 1));
    printf("drive: %.3f s, %.1f ns a portal test, %llu tests\n", driveSeconds,
           1e9 * driveSeconds / (double)(driveWork ? driveWork : 1), (unsigned long long)driveWork);
    printf("       %llu floods, %.3f a pair, %.2f us each\n", (unsigned long long)driveFloods,
           (double)driveFloods / (double)pairs, 1e6 * driveSeconds / (double)(driveFloods ? driveFloods : 1));
    for (uint32_t r = 0; r < rungCount; ++r)
    {
        printf("rung depth %u budget %u rays %u: %llu pairs, %llu visible, %llu hidden, %.3f s, %llu rays\n",
               rungs[r].depth, rungs[r].budget, rungs[r].rays, (unsigned long long)rungs[r].pairs,
               (unsigned long long)rungs[r].visible, (unsigned long long)rungs[r].hidden, rungs[r].seconds,
               (unsigned long long)rungs[r].tried);
    }
    espyiFree(&hooks, hidden);
}

int main(int argc, char** argv)
{
    const char* name = argc > 1 ? argv[1] : "rooms";
    uint32_t size = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    uint32_t stride = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    espyWorld* world = NULL;
    espyImportDef importDef = espyImportDef_Default();
    espyImportReport report = {0};
    if (espyScene_Build(name, size, 1, &world) != espyResult_Ok &&
        espyImport_LoadFile(name, &importDef, &world, &report) != espyResult_Ok)
    {
        fprintf(stderr, "bench_proof: %s\n", report.message);
        return 2;
    }
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    def.cellSize = argc > 4 && strtod(argv[4], NULL) > 0 ? (float)strtod(argv[4], NULL) : def.cellSize;
    espyBenchRung rungs[8] = {{.depth = 8, .budget = 40, .rays = 16}, {.depth = 14, .budget = 400, .rays = 16}};
    uint32_t rungCount = argc > 5 ? 0 : 2;
    for (int i = 5; i + 2 < argc && rungCount < 8; i += 3)
    {
        rungs[rungCount++] = (espyBenchRung){.depth = (uint32_t)strtoul(argv[i], NULL, 10),
                                             .budget = (uint32_t)strtoul(argv[i + 1], NULL, 10),
                                             .rays = (uint32_t)strtoul(argv[i + 2], NULL, 10)};
    }
    espyGathered* gathered = NULL;
    if (espyEditor_Gather(world, def.cellSize, 0, NULL, &gathered) != espyResult_Ok)
    {
        return 4;
    }
    const espyBakeInput* input = espyGathered_GetInput(gathered);
    const espyHooks hooks = espyiHooks_Resolve(NULL);
    static espyBench bench;
    espyiWarnings warnings = {.hooks = &hooks};
    char message[256];
    def.hooks = hooks;
    bench.scene.hooks = &hooks;
    if (espyiScene_Gather(input, &def, &warnings, &bench.scene, message, sizeof message) != espyResult_Ok)
    {
        fprintf(stderr, "bench_proof: %s\n", message);
        return 3;
    }
    espyiSoup soup = {{bench.scene.positions, bench.scene.indices, bench.scene.vertexCount, bench.scene.triangleCount},
                      bench.scene.objects};
    espyiFreeSpaceDef spaceDef = {.smallestHole = (double)def.smallestHole, .hooks = &hooks};
    if (espyiBvh_Build(&soup, espyIsa_Auto, 1, &hooks, NULL, &bench.bvh) != espyResult_Ok ||
        espyiFreeSpace_Build(&soup, espyBench_World(&bench, input), &spaceDef, &bench.space) != espyResult_Ok ||
        espyiCellTree_Build(&bench.scene.grid, &hooks, NULL, &bench.tree) != espyResult_Ok ||
        espyiProver_Create(bench.space, bench.tree, &bench.scene.grid, &hooks, NULL, &bench.prover) != espyResult_Ok)
    {
        return 4;
    }
    espyiFreeSpaceStats stats;
    espyiFreeSpace_GetStats(bench.space, &stats);
    printf("%s: %u triangles, %u polygons (%u dropped), %u leaves, %u portals, snap %.2g, %.2f s\n", name,
           bench.scene.triangleCount, stats.polygons, stats.droppedPolygons, stats.leaves, stats.portals, stats.snap,
           stats.seconds);
    espyiStageCount count = {0};
    bench.masks = espyiAlloc(&hooks, bench.scene.grid.cellCount, sizeof(uint32_t));
    espyiSolid_Classify(&bench.scene, bench.bvh, espyBakeQuality_Medium, 1, &bench.control, bench.masks, &count);
    espyiSearchShared shared = {.scene = &bench.scene,
                                .bvh = bench.bvh,
                                .sampleMasks = bench.masks,
                                .quality = espyBakeQuality_Medium,
                                .nearDistance = def.nearDistance,
                                .control = &bench.control};
    if (!espyiSearcher_Init(&bench.searcher, &shared))
    {
        return 4;
    }
    printf("%u cells (%u solid), %u occludees, stride %u\n", bench.scene.grid.cellCount, bench.scene.grid.solidCount,
           input->occludeeCount, stride);
    espyBench_Run(&bench, input, stride ? stride : 1, rungs, rungCount);

    espyiSearcher_Free(&bench.searcher);
    espyiTarget_Free(&bench.target, &hooks);
    espyiFree(&hooks, bench.masks);
    espyiProver_Destroy(bench.prover);
    espyiCellTree_Destroy(bench.tree);
    espyiFreeSpace_Destroy(bench.space);
    espyiBvh_Destroy(bench.bvh);
    espyiScene_Free(&bench.scene);
    espyiWarnings_Free(&warnings);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    return 0;
}
