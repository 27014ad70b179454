// SPDX-License-Identifier: MIT
// A bake at quality proven, and an attack on what it hides: shares, seconds, violations.
//
// usage: bench_proven SCENE|LEVEL [size [cell size [million rays [threads [seed]]]]]
// Exits 1 where a line proves a hidden pair visible.
#include <stdio.h>
#include <stdlib.h>

#include <espy/editor.h>
#include <espy/import.h>

#include "scenes/scenes.h"
#include "tests/attack_case.h"

static int espyBench_Run(espyAttackCase* c, const char* name, uint32_t threads, uint64_t rays, uint64_t seed)
{
    const espyBakeStats* stats = &c->result.stats;
    for (uint32_t i = 0; i < c->result.warningCount; ++i)
    {
        printf("%s: %s\n", name, c->result.warnings[i].text);
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
    if (rays == 0)
    {
        return 0;
    }
    if (!espyAttackCase_Prepare(c, threads))
    {
        return 4;
    }
    double start = espyiClock_Seconds();
    espyAdversaryResult r = espyAttackCase_Run(c, rays, seed, threads);
    if (r.violations > 0)
    {
        printf("  cell %u, slot %u: free from %.9g %.9g %.9g to %.9g %.9g %.9g\n", r.cell, r.slot, r.from[0], r.from[1],
               r.from[2], r.to[0], r.to[1], r.to[2]);
    }
    printf("  attack: %.1f Mrays in %.1f s, %llu cells held against them, %llu violations, %llu within 20 um\n",
           1e-6 * (double)r.rays, espyiClock_Seconds() - start, (unsigned long long)r.held,
           (unsigned long long)r.violations, (unsigned long long)r.grazing);
    return r.violations > 0;
}

int main(int argc, char** argv)
{
    const char* name = argc > 1 ? argv[1] : "rooms";
    uint32_t size = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    double cellSize = argc > 3 ? strtod(argv[3], NULL) : 0;
    double millions = argc > 4 ? strtod(argv[4], NULL) : 10;
    uint32_t threads = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 2;
    threads = threads < 1 ? 1 : threads > ESPY_ATTACK_MAX_THREADS ? ESPY_ATTACK_MAX_THREADS : threads;
    uint64_t seed = argc > 6 ? strtoull(argv[6], NULL, 10) : 1;
    espyWorld* world = NULL;
    espyImportDef importDef = espyImportDef_Default();
    espyImportReport report = {0};
    if (espyScene_Build(name, size, 1, &world) != espyResult_Ok &&
        espyImport_LoadFile(name, &importDef, &world, &report) != espyResult_Ok)
    {
        fprintf(stderr, "bench_proven: %s\n", report.message);
        return 2;
    }
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    def.cellSize = cellSize > 0 ? (float)cellSize : def.cellSize;
    def.quality = espyBakeQuality_Proven;
    def.dynamicObjects = false;
    def.threads = (int32_t)threads;
    espyGathered* gathered = NULL;
    if (espyEditor_Gather(world, def.cellSize, 0, NULL, &gathered) != espyResult_Ok)
    {
        return 4;
    }
    static espyAttackCase attacked;
    int status = 3;
    if (espyAttackCase_Bake(&attacked, espyGathered_GetInput(gathered), &def))
    {
        status = espyBench_Run(&attacked, name, threads, (uint64_t)(1e6 * millions), seed);
    }
    else
    {
        fprintf(stderr, "bench_proven: %s\n", attacked.result.message);
    }
    espyAttackCase_Free(&attacked);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    return status;
}
