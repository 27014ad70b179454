// SPDX-License-Identifier: MIT
// What the run time pays: nanoseconds a draw of the batch functions by instruction set, nanoseconds a lookup, and the
// bytes that they touch. Medians of repeated runs; sets and slots are random, so that no branch can be guessed.
#include "bake/tables.h"
#include "core/tasks.h"
#include "pvs/cull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_BENCH_DRAWS 100000u
#define ESPY_BENCH_RUNS 41

typedef struct espyBenchFile
{
    espyiGrid grid;
    void* data;
    size_t size;
    espyPvs pvs;
} espyBenchFile;

static void* espyBench_Alloc(size_t count, size_t size)
{
    void* p = calloc(count, size);
    if (!p)
    {
        fprintf(stderr, "bench_pvs: out of memory\n");
        exit(4);
    }
    return p;
}

/// A lattice of `n` cells a side of which `stored` in `of` are kept, all with one random set, and `occludees` slots.
static espyBenchFile espyBench_MakeFile(uint32_t n, uint32_t stored, uint32_t of, uint32_t occludees)
{
    espyBenchFile file = {0};
    espyiRng rng = espyiRng_Seed(7);
    file.grid = (espyiGrid){.cellSize = 1.0f, .dims = {n, n, n}, .dense = stored == of};
    file.grid.cells = espyBench_Alloc((size_t)n * n * n, sizeof *file.grid.cells);
    for (uint32_t i = 0; i < n * n * n; ++i)
    {
        // Areas are lumps: whole columns of 8 x 8 cells.
        uint32_t x = i % n, y = i / n % n, z = i / n / n;
        if (espyiHash_U64(x / 8, z / 8) % of < stored)
        {
            file.grid.cells[file.grid.cellCount++] = (espyiCellCoord){(uint16_t)x, (uint16_t)y, (uint16_t)z};
        }
    }
    uint32_t words = espyiBits_Words(occludees);
    espyiTable table = {.width = occludees, .words = words, .setCount = 1, .cellCount = file.grid.cellCount};
    table.cells = espyBench_Alloc(table.cellCount, sizeof *table.cells);
    table.sets = espyBench_Alloc(words, sizeof *table.sets);
    for (uint32_t i = 0; i < occludees; ++i)
    {
        if (espyiRng_Below(&rng, 3) == 0)
        {
            espyiBits_Set(table.sets, i);
        }
    }
    espyBox* boxes = espyBench_Alloc(occludees, sizeof *boxes);
    espyiBlobDef def = {.grid = &file.grid, .occludeeCount = occludees, .occludeeBoxes = boxes, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    if (espyiBlob_Write(&def, &hooks, &file.data, &file.size) != espyResult_Ok ||
        espyPvs_Load(&file.pvs, file.data, file.size, NULL) != espyResult_Ok)
    {
        fprintf(stderr, "bench_pvs: the file could not be made\n");
        exit(1);
    }
    free(boxes);
    free(table.sets);
    free(table.cells);
    return file;
}

static void espyBench_FreeFile(espyBenchFile* file)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    free(file->grid.cells);
    espyiFree(&hooks, file->data);
}

typedef struct espyBenchDraws
{
    const espyPvs* pvs;
    const uint32_t* set;
    const uint32_t* slots;
    uint32_t* bits;
    uint32_t* list;
    uint32_t checksum;
} espyBenchDraws;

typedef void espyBenchFn(espyBenchDraws* draws);

static void espyBench_Range(espyBenchDraws* d)
{
    espyPvs_CullRange(d->pvs, d->set, 5, ESPY_BENCH_DRAWS, d->bits);
    d->checksum += d->bits[7];
}

static void espyBench_Bits(espyBenchDraws* d)
{
    espyPvs_CullBits(d->pvs, d->set, d->slots, ESPY_BENCH_DRAWS, d->bits);
    d->checksum += d->bits[7];
}

static void espyBench_List(espyBenchDraws* d)
{
    d->checksum += espyPvs_CullList(d->pvs, d->set, d->slots, ESPY_BENCH_DRAWS, d->list);
}

static void espyBench_ToList(espyBenchDraws* d)
{
    d->checksum += espyBits_ToList(d->bits, ESPY_BENCH_DRAWS, d->list);
}

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// Median nanoseconds a draw.
static double espyBench_Time(espyBenchFn* fn, espyBenchDraws* draws)
{
    double times[ESPY_BENCH_RUNS];
    for (int run = 0; run < ESPY_BENCH_RUNS; ++run)
    {
        double start = espyiClock_Seconds();
        for (int i = 0; i < 10; ++i)
        {
            fn(draws);
        }
        times[run] = (espyiClock_Seconds() - start) * 1e9 / (10.0 * ESPY_BENCH_DRAWS);
    }
    qsort(times, ESPY_BENCH_RUNS, sizeof times[0], espyBench_Compare);
    return times[ESPY_BENCH_RUNS / 2];
}

static void espyBench_Draws(void)
{
    uint32_t occludees = ESPY_BENCH_DRAWS + 64u;
    espyBenchFile file = espyBench_MakeFile(2, 1, 1, occludees);
    espyiRng rng = espyiRng_Seed(3);
    uint32_t* slots = espyBench_Alloc(ESPY_BENCH_DRAWS, sizeof *slots);
    for (uint32_t i = 0; i < ESPY_BENCH_DRAWS; ++i)
    {
        slots[i] = espyiRng_Below(&rng, 50) == 0 ? ESPY_PVS_NO_SLOT : espyiRng_Below(&rng, occludees);
    }
    espyBenchDraws draws = {.pvs = &file.pvs, .set = espyPvs_GetStaticSet(&file.pvs, 0), .slots = slots};
    draws.bits = espyBench_Alloc(espyiBits_Words(ESPY_BENCH_DRAWS), sizeof *draws.bits);
    draws.list = espyBench_Alloc(ESPY_BENCH_DRAWS, sizeof *draws.list);
    uint32_t setBytes = espyiBits_Words(occludees) * 4u;
    printf("%u draws, set of %u bytes; a third of the slots visible; medians of %d runs\n", ESPY_BENCH_DRAWS, setBytes,
           ESPY_BENCH_RUNS);
    printf("bytes touched a draw: range %.3f, slots %.3f (+ set), list %.3f (+ set)\n", 2.0 / 8.0, 4.0 + 1.0 / 8.0,
           4.0 + 4.0 / 3.0);
    printf("%-8s %12s %12s %12s\n", "isa", "CullRange", "CullBits", "CullList");
    espyIsa best = espyIsa_Detect(espyIsa_Auto);
    for (espyIsa isa = espyIsa_Scalar; isa <= espyIsa_Avx512; isa = (espyIsa)(isa + 1))
    {
        if (isa > best || espyIsa_Detect(isa) != isa)
        {
            continue;
        }
        file.pvs.isa = isa;
        double range = espyBench_Time(espyBench_Range, &draws);
        double list = espyBench_Time(espyBench_List, &draws);
        double bits = espyBench_Time(espyBench_Bits, &draws);
        printf("%-8s %9.4f ns %9.4f ns %9.4f ns\n", espyIsa_GetName(isa), range, bits, list);
    }
    printf("espyBits_ToList (best isa): %.4f ns a bit\n", espyBench_Time(espyBench_ToList, &draws));
    printf("checksum %08x\n\n", draws.checksum);
    free(draws.list);
    free(draws.bits);
    free(slots);
    espyBench_FreeFile(&file);
}

/// Lookups at random points, so that the map does not stay in the cache by chance.
static void espyBench_Lookups(const char* name, uint32_t n, uint32_t stored, uint32_t of)
{
    enum
    {
        points = 1 << 15
    };
    espyBenchFile file = espyBench_MakeFile(n, stored, of, 32);
    espyiRng rng = espyiRng_Seed(5);
    espyVec3* at = espyBench_Alloc(points, sizeof *at);
    for (int i = 0; i < points; ++i)
    {
        float size = (float)n;
        at[i] = (espyVec3){espyiRng_Float(&rng) * size, espyiRng_Float(&rng) * size, espyiRng_Float(&rng) * size};
    }
    double times[ESPY_BENCH_RUNS];
    int32_t sum = 0;
    for (int run = 0; run < ESPY_BENCH_RUNS; ++run)
    {
        double start = espyiClock_Seconds();
        for (int i = 0; i < points; ++i)
        {
            sum ^= espyPvs_FindCell(&file.pvs, at[i]);
        }
        times[run] = (espyiClock_Seconds() - start) * 1e9 / points;
    }
    qsort(times, ESPY_BENCH_RUNS, sizeof times[0], espyBench_Compare);
    espyPvsInfo info;
    espyPvs_GetInfo(&file.pvs, &info);
    printf("%-7s %4u^3 lattice %9u cells, map %9zu bytes, probes %2u: %7.2f ns a lookup (%d)\n", name, n,
           info.cellCount, info.cellMapBytes, file.pvs.cellMap.probes, times[ESPY_BENCH_RUNS / 2], sum & 1);
    free(at);
    espyBench_FreeFile(&file);
}

/// Validation reads every byte once and hashes it.
static void espyBench_Load(void)
{
    espyBenchFile file = espyBench_MakeFile(160, 1, 3, 64);
    double times[ESPY_BENCH_RUNS];
    for (int run = 0; run < ESPY_BENCH_RUNS; ++run)
    {
        double start = espyiClock_Seconds();
        if (espyPvs_Load(&file.pvs, file.data, file.size, NULL) != espyResult_Ok)
        {
            exit(1);
        }
        times[run] = espyiClock_Seconds() - start;
    }
    qsort(times, ESPY_BENCH_RUNS, sizeof times[0], espyBench_Compare);
    printf("\nespyPvs_Load: %zu bytes, %.2f ns a byte\n", file.size,
           times[ESPY_BENCH_RUNS / 2] * 1e9 / (double)file.size);
    espyBench_FreeFile(&file);
}

int main(void)
{
    espyBench_Draws();
    espyBench_Lookups("dense", 16, 1, 1);
    espyBench_Lookups("dense", 160, 1, 1);
    espyBench_Lookups("sparse", 16, 1, 3);
    espyBench_Lookups("sparse", 64, 1, 3);
    espyBench_Lookups("sparse", 256, 1, 3);
    espyBench_Load();
    return 0;
}
