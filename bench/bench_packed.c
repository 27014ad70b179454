// SPDX-License-Identifier: MIT
// Packed tables: how much smaller than plain ones, beside zlib over the whole plain tables (which gives no access to a
// single cell), and what reading the set of a cell takes.
//
//   bench_packed [FILE.espy | LEVEL]...     (default: the scenes rooms, slits and city); levels are baked at medium
//   quality
//
// A change of cell is timed cold: one read of each of many cells, far apart, in one sweep. "Warm" reads one cell again
// and again, which is how fast it can get; medians and worst over cells, each the least of some sweeps.
#include "core/tasks.h"
#include "scenes/scenes.h"

#include <espy/bake.h>
#include <espy/editor.h>
#include <espy/import.h>
#include <espy/pack.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(ESPY_BENCH_ZLIB)
#include <zlib.h>
#endif

#define ESPY_BENCH_CELLS 2000u
#define ESPY_BENCH_SWEEPS 9

static void* espyBench_Alloc(size_t count, size_t size)
{
    void* p = calloc(count, size);
    if (!p)
    {
        fprintf(stderr, "bench_packed: out of memory\n");
        exit(4);
    }
    return p;
}

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// Bytes of the plain tables after zlib at level 9; 0 where it is not installed.
static size_t espyBench_Zlib(const espyPvs* pvs, const espyPvsInfo* info)
{
#if defined(ESPY_BENCH_ZLIB)
    const void* const parts[4] = {pvs->staticCells, pvs->staticSets, pvs->dynamicCells, pvs->dynamicSets};
    const size_t sizes[4] = {info->staticCellsBytes, info->staticSetsBytes, info->dynamicCellsBytes,
                             info->dynamicSetsBytes};
    size_t all = sizes[0] + sizes[1] + sizes[2] + sizes[3];
    uLongf size = compressBound(all);
    uint8_t* plain = espyBench_Alloc(all + 1u, 1);
    uint8_t* out = espyBench_Alloc(size, 1);
    size_t at = 0;
    for (uint32_t i = 0; i < 4; ++i)
    {
        if (sizes[i] > 0)
        {
            memcpy(plain + at, parts[i], sizes[i]);
        }
        at += sizes[i];
    }
    bool done = compress2(out, &size, plain, all, 9) == Z_OK;
    free(plain);
    free(out);
    return done ? size : 0;
#else
    (void)pvs;
    (void)info;
    return 0;
#endif
}

/// Microseconds of each of `count` cells: the least over sweeps, ascending.
static void espyBench_Times(const espyPvs* pvs, uint32_t count, int reads, double* times)
{
    uint32_t* words = espyBench_Alloc((size_t)pvs->staticWords + 1u, sizeof *words);
    for (uint32_t i = 0; i < count; ++i)
    {
        times[i] = 1e9;
    }
    for (int sweep = 0; sweep < ESPY_BENCH_SWEEPS; ++sweep)
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            // A stride that is coprime to most counts scatters the cells.
            int32_t cell = (int32_t)((uint64_t)i * 7919u * pvs->cellCount / count % pvs->cellCount);
            for (int read = 0; read < reads; ++read)
            {
                double start = espyiClock_Seconds();
                espyPvs_ReadStaticSet(pvs, cell, words);
                double took = (espyiClock_Seconds() - start) * 1e6;
                times[i] = took < times[i] ? took : times[i];
            }
        }
    }
    qsort(times, count, sizeof *times, espyBench_Compare);
    free(words);
}

static void espyBench_File(const char* name, const void* data, size_t size)
{
    espyPvs plain, pvs;
    espyPackResult packed;
    espyPvsInfo a, b;
    double start = espyiClock_Seconds();
    if (espyPvs_Load(&plain, data, size, NULL) != espyResult_Ok || plain.cellCount == 0 ||
        espyPack_Pack(data, size, NULL, &packed) != espyResult_Ok)
    {
        printf("%s: no such data\n", name);
        return;
    }
    double seconds = espyiClock_Seconds() - start;
    if (espyPvs_Load(&pvs, packed.data, packed.size, NULL) != espyResult_Ok)
    {
        exit(1);
    }
    espyPvs_GetInfo(&plain, &a);
    espyPvs_GetInfo(&pvs, &b);
    size_t statics = a.staticCellsBytes + a.staticSetsBytes, dynamics = a.dynamicCellsBytes + a.dynamicSetsBytes;
    size_t all = statics + dynamics, small = b.staticPackBytes + b.dynamicPackBytes;
    size_t zlib = espyBench_Zlib(&plain, &a);
    printf("%s: %u cells, %u occludees, %u coarse blocks; packed in %.1f s\n", name, a.cellCount, a.occludeeCount,
           a.coarseCount, seconds);
    printf("  bytes    plain %zu, packed %zu (%.2f times smaller), zlib over all %zu (%.2f times)\n", all, small,
           (double)all / (double)small, zlib, zlib > 0 ? (double)all / (double)zlib : 0.0);
    printf("  static   %zu to %zu (%.2f), dynamic %zu to %zu (%.2f)\n", statics, b.staticPackBytes,
           (double)statics / (double)b.staticPackBytes, dynamics, b.dynamicPackBytes,
           b.dynamicPackBytes > 0 ? (double)dynamics / (double)b.dynamicPackBytes : 0.0);
    uint32_t count = a.cellCount < ESPY_BENCH_CELLS ? a.cellCount : ESPY_BENCH_CELLS;
    double* times = espyBench_Alloc(count, sizeof *times);
    for (int warm = 0; warm < 2; ++warm)
    {
        espyBench_Times(&pvs, count, warm ? 6 : 1, times);
        printf("  %s     median %.1f us, 99 of 100 below %.1f us, worst %.1f us a cell\n", warm ? "warm" : "cold",
               times[count / 2u], times[count * 99u / 100u], times[count - 1u]);
    }
    printf("  coded    %u bits a cell on average, %u for the worst\n", packed.stats.meanBits, packed.stats.worstBits);
    fflush(stdout);
    free(times);
    espyPack_Free(&packed);
}

static void espyBench_World(const char* name, espyWorld* world)
{
    espyGathered* gathered = NULL;
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    def.quality = espyBakeQuality_Medium;
    if (espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered) == espyResult_Ok)
    {
        espyBakeResult baked;
        if (espyBake_Run(espyGathered_GetInput(gathered), &def, &baked) == espyResult_Ok)
        {
            espyBench_File(name, baked.data, baked.size);
        }
        else
        {
            printf("%s: %s\n", name, baked.message);
        }
        espyBake_Free(&baked);
        espyGathered_Destroy(gathered);
    }
    espyWorld_Destroy(world);
}

static void espyBench_Scene(const char* name)
{
    espyWorld* world = NULL;
    if (espyScene_Build(name, 0, 1, &world) == espyResult_Ok)
    {
        espyBench_World(name, world);
    }
}

static void espyBench_Argument(const char* path)
{
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".espy") != 0)
    {
        espyWorld* world = NULL;
        espyImportReport report;
        espyImportDef def = espyImportDef_Default();
        if (espyImport_LoadFile(path, &def, &world, &report) != espyResult_Ok)
        {
            printf("%s\n", report.message);
            return;
        }
        espyBench_World(path, world);
        return;
    }
    FILE* file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    void* data = NULL;
    if (size > 0 && posix_memalign(&data, ESPY_PVS_ALIGNMENT, (size_t)size) == 0)
    {
        rewind(file);
        espyBench_File(path, data, fread(data, 1, (size_t)size, file));
    }
    else
    {
        printf("%s: cannot be read\n", path);
    }
    free(data);
    if (file)
    {
        fclose(file);
    }
}

int main(int argc, char** argv)
{
    for (int i = 1; i < argc; ++i)
    {
        espyBench_Argument(argv[i]);
    }
    if (argc < 2)
    {
        espyBench_Scene("rooms");
        espyBench_Scene("slits");
        espyBench_Scene("city");
    }
    return 0;
}
