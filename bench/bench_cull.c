// SPDX-License-Identifier: MIT
// What culling a frame's draws costs beside the frustum test alone over all of them, as ratios in one run.
//
//   bench_cull [RUNS]     (default 41)
//
// A level of boxes in one square kilometre; 1 % of them is in the set of the camera's cell, scattered or in runs of 50
// (what stands together is numbered together); about a quarter of those is in the frustum. Everything alternates; the
// figures are medians, of the processor's time where one thread works; calls of two threads begin while both run. The
// floor is the bytes that must be read and written over what this machine reads from memory.
#include "bake/tables.h"
#include "core/tasks.h"

#include <espy/culling.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define ESPY_MOST_RUNS 199
#define ESPY_MOST_CASES 10
#define ESPY_MOST_ATTEMPTS 50

static void* espyBench_Alloc(size_t count, size_t size)
{
    void* p = calloc(count, size);
    if (!p)
    {
        fprintf(stderr, "bench_cull: out of memory\n");
        exit(4);
    }
    return p;
}

// --- a second thread that waits awake, as an engine's workers do within a frame

typedef struct espyBenchPool
{
    pthread_t thread;
    atomic_uint next, done, round;
    atomic_uint beats; ///< Counts while the worker waits.
    atomic_bool stop;
    bool awake; ///< There is a worker.
    uint32_t count;
    void (*run)(void* job, uint32_t index);
    void* job;
} espyBenchPool;

static espyBenchPool espyBenchWorkers;

static void espyBench_Work(espyBenchPool* pool)
{
    for (uint32_t i = atomic_fetch_add(&pool->next, 1u); i < pool->count; i = atomic_fetch_add(&pool->next, 1u))
    {
        pool->run(pool->job, i);
        atomic_fetch_add(&pool->done, 1u);
    }
}

static void* espyBench_Worker(void* context)
{
    espyBenchPool* pool = context;
    unsigned seen = 0;
    while (!atomic_load(&pool->stop))
    {
        if (atomic_load(&pool->round) != seen)
        {
            seen = atomic_load(&pool->round);
            espyBench_Work(pool);
            atomic_fetch_add(&pool->done, 1u);
        }
        atomic_fetch_add(&pool->beats, 1u);
    }
    return NULL;
}

/// Waits until the worker is on a processor: on a machine with other work it is taken off for longer than a call takes.
static void espyBench_Meet(espyBenchPool* pool)
{
    for (unsigned beats = atomic_load(&pool->beats); pool->awake && atomic_load(&pool->beats) - beats < 100u;)
    {
    }
}

static void espyBench_For(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job)
{
    espyBenchPool* pool = context;
    pool->count = count;
    pool->run = run;
    pool->job = job;
    atomic_store(&pool->done, 0u);
    atomic_store(&pool->next, 0u);
    atomic_fetch_add(&pool->round, 1u);
    espyBench_Work(pool);
    // Every piece, and the worker out of the loop.
    while (atomic_load(&pool->done) < count + 1u)
    {
    }
}

// --- a level

typedef struct espyBenchLevel
{
    uint32_t count;
    espyiGrid grid;
    void* file;
    size_t fileSize;
    espyPvs pvs;
    espyBox* boxes;
    float* coordinates;
    espyBox* shuffled; ///< The boxes in the order of `slots`.
    uint32_t* slots;
    uint32_t* drawList;
    espyView view;
    espyViewSet sets[2]; ///< Of the cell with scattered draws, and of the one with runs.
} espyBenchLevel;

static void espyBench_Sets(espyBenchLevel* level, espyiTable* table, espyiRng* rng)
{
    uint32_t visible = level->count / 100u;
    for (uint32_t i = 0; i < visible;)
    {
        uint32_t slot = espyiRng_Below(rng, level->count);
        i += espyiBits_Get(table->sets, slot) ? 0u : 1u;
        espyiBits_Set(table->sets, slot);
    }
    uint32_t* runs = table->sets + table->words;
    for (uint32_t i = 0; i < visible;)
    {
        uint32_t first = espyiRng_Below(rng, level->count / 50u) * 50u;
        bool taken = espyiBits_Get(runs, first);
        for (uint32_t k = 0; k < 50u && !taken; ++k)
        {
            espyiBits_Set(runs, first + k);
        }
        i += taken ? 0u : 50u;
    }
}

static void espyBench_File(espyBenchLevel* level, espyiRng* rng)
{
    // Two cells; the camera is in the one or the other.
    level->grid = (espyiGrid){.origin = {0, -50, -50}, .cellSize = 100.0f, .dims = {2, 1, 1}, .dense = true};
    level->grid.cells = espyBench_Alloc(2, sizeof *level->grid.cells);
    level->grid.cells[1].x = 1;
    level->grid.cellCount = 2;
    espyiTable table = {.width = level->count, .words = espyiBits_Words(level->count), .setCount = 2, .cellCount = 2};
    table.cells = espyBench_Alloc(2, sizeof *table.cells);
    table.cells[1] = 1;
    table.sets = espyBench_Alloc((size_t)table.words * 2u, sizeof *table.sets);
    espyBench_Sets(level, &table, rng);
    espyiBlobDef def = {
        .grid = &level->grid, .occludeeCount = level->count, .occludeeBoxes = level->boxes, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    if (espyiBlob_Write(&def, &hooks, &level->file, &level->fileSize) != espyResult_Ok ||
        espyPvs_Load(&level->pvs, level->file, level->fileSize, NULL) != espyResult_Ok)
    {
        fprintf(stderr, "bench_cull: the file could not be made\n");
        exit(1);
    }
    free(table.sets);
    free(table.cells);
}

static void espyBench_MakeLevel(espyBenchLevel* level, uint32_t count)
{
    *level = (espyBenchLevel){.count = count};
    espyiRng rng = espyiRng_Seed(count);
    level->boxes = espyBench_Alloc(count, sizeof *level->boxes);
    level->shuffled = espyBench_Alloc(count, sizeof *level->shuffled);
    level->coordinates = espyBench_Alloc((size_t)count * 6u, sizeof(float));
    level->slots = espyBench_Alloc(count, sizeof *level->slots);
    level->drawList = espyBench_Alloc(count, sizeof *level->drawList);
    for (uint32_t i = 0; i < count; ++i)
    {
        float x = espyiRng_Float(&rng) * 1000.0f - 500.0f, z = espyiRng_Float(&rng) * 1000.0f - 500.0f;
        float w = 1.0f + espyiRng_Float(&rng) * 4.0f, h = 1.0f + espyiRng_Float(&rng) * 10.0f;
        level->boxes[i] = (espyBox){{x, 0.0f, z}, {x + w, h, z + w}};
        const float* f = &level->boxes[i].min.x;
        for (uint32_t k = 0; k < 6; ++k)
        {
            level->coordinates[(size_t)k * count + i] = f[k];
        }
        level->slots[i] = i;
    }
    for (uint32_t i = count - 1u; i > 0; --i)
    {
        uint32_t other = espyiRng_Below(&rng, i + 1u);
        uint32_t slot = level->slots[i];
        level->slots[i] = level->slots[other];
        level->slots[other] = slot;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        level->shuffled[i] = level->boxes[level->slots[i]];
    }
    espyBench_File(level, &rng);
    for (uint32_t i = 0; i < 2; ++i)
    {
        espyViewDef def = espyViewDef_Default();
        def.projection = espyMat4_Perspective(1.0471976f, 16.0f / 9.0f, 0.1f, 2000.0f, true);
        def.reversedZ = true;
        def.view.m[12] = -50.0f - 100.0f * (float)i;
        espyView_Make(&level->view, &def, NULL);
        espyViewSet_Make(&level->sets[i], &level->view, &level->pvs, (espyVec3){0}, NULL);
    }
}

static void espyBench_FreeLevel(espyBenchLevel* level)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    free(level->grid.cells);
    espyiFree(&hooks, level->file);
    free(level->boxes);
    free(level->shuffled);
    free(level->coordinates);
    free(level->slots);
    free(level->drawList);
}

// --- timing

typedef struct espyBenchCase
{
    const char* name;
    espyCullInput input;
    espyCullDraws draws;
    double times[ESPY_MOST_RUNS];
    double median; ///< Nanoseconds a call.
    double best;
    espyCullCounts counts;
    double bytes;
} espyBenchCase;

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/// How often the threads of this program had to make room for others.
static long espyBench_Interruptions(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static double espyBench_Once(espyBenchCase* c, uint32_t* drawList, int repeats, bool wall)
{
    espyCullOutput output = {.drawList = drawList};
    espyBench_Meet(&espyBenchWorkers);
    double start = wall ? espyiClock_Seconds() : espyiClock_ThreadCpuSeconds();
    for (int k = 0; k < repeats; ++k)
    {
        output = (espyCullOutput){.drawList = drawList};
        if (espyCull_Run(&c->input, &output) != espyResult_Ok)
        {
            exit(1);
        }
    }
    double end = wall ? espyiClock_Seconds() : espyiClock_ThreadCpuSeconds();
    c->counts = output.counts;
    return (end - start) * 1e9 / repeats;
}

/// With `wall` false counts the processor's time, which others on the machine do not stretch; with it a call is made
/// again where one of the threads was interrupted in it.
static void espyBench_RunCases(espyBenchCase* cases, uint32_t count, uint32_t* drawList, int runs, int repeats,
                               bool wall)
{
    for (int run = 0; run < runs; ++run)
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            for (int attempt = 0; attempt < ESPY_MOST_ATTEMPTS; ++attempt)
            {
                long before = espyBench_Interruptions();
                cases[i].times[run] = espyBench_Once(&cases[i], drawList, repeats, wall);
                if (!wall || espyBench_Interruptions() == before)
                {
                    break;
                }
            }
        }
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        qsort(cases[i].times, (size_t)runs, sizeof(double), espyBench_Compare);
        cases[i].median = cases[i].times[runs / 2];
        cases[i].best = cases[i].times[0];
        // Bits of the set, boxes of what the set leaves, the list; slots where there are any.
        const espyCullCounts* c = &cases[i].counts;
        double tested = (double)(c->drawn + c->frustumCulled);
        cases[i].bytes = (cases[i].input.occlusion ? cases[i].draws.count / 8.0 : 0.0) + tested * 24.0 +
                         c->drawn * 4.0 + (cases[i].draws.slots ? cases[i].draws.count * 4.0 : 0.0);
    }
}

/// Sums are only wanted so that their reads happen.
static volatile uint64_t espyBenchSink;

/// Bytes a nanosecond of one thread that reads memory in order.
static double espyBench_Bandwidth(void)
{
    const size_t words = (size_t)16 << 20;
    uint64_t* memory = espyBench_Alloc(words, sizeof *memory);
    double best = 0.0;
    for (size_t i = 0; i < words; ++i)
    {
        memory[i] = i;
    }
    for (int run = 0; run < 5; ++run)
    {
        uint64_t sums[4] = {0};
        double start = espyiClock_ThreadCpuSeconds();
        for (size_t i = 0; i < words; i += 4)
        {
            sums[0] ^= memory[i];
            sums[1] ^= memory[i + 1];
            sums[2] ^= memory[i + 2];
            sums[3] ^= memory[i + 3];
        }
        double speed = (double)(words * sizeof *memory) / ((espyiClock_ThreadCpuSeconds() - start) * 1e9);
        espyBenchSink = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
        best = speed > best ? speed : best;
    }
    free(memory);
    return best;
}

static espyBenchCase espyBench_Case(const espyBenchLevel* level, const char* name, int set, bool slots, bool soa)
{
    espyBenchCase c = {.name = name};
    uint32_t n = level->count;
    const float* f = level->coordinates;
    c.draws = (espyCullDraws){.boxes = espyCullBoxes_FromArray(slots ? level->shuffled : level->boxes), .count = n};
    if (soa)
    {
        c.draws.boxes =
            (espyCullBoxes){f, f + n, f + 2 * (size_t)n, f + 3 * (size_t)n, f + 4 * (size_t)n, f + 5 * (size_t)n, 1u};
    }
    c.draws.slots = slots ? level->slots : NULL;
    c.input = (espyCullInput){.view = &level->view, .frustum = true};
    if (set >= 0)
    {
        c.input.set = &level->sets[set];
        c.input.occlusion = true;
    }
    return c;
}

static void espyBench_Print(espyBenchCase* cases, uint32_t count, double bandwidth)
{
    printf("%-44s %10s %9s %8s %10s %8s %7s %7s\n", "", "us", "ns/draw", "ratio", "bytes", "floor us", "tested",
           "drawn");
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyBenchCase* c = &cases[i];
        printf("%-44s %10.2f %9.4f %8.2f %10.0f %8.2f %7u %7u\n", c->name, c->median * 1e-3,
               c->median / (double)c->draws.count, cases[0].median / c->median, c->bytes, c->bytes / bandwidth * 1e-3,
               c->counts.drawn + c->counts.frustumCulled, c->counts.drawn);
    }
}

static void espyBench_Level(uint32_t count, int runs, int repeats, double bandwidth)
{
    espyBenchLevel level;
    espyBench_MakeLevel(&level, count);
    espyBenchCase cases[ESPY_MOST_CASES] = {
        espyBench_Case(&level, "frustum alone, array of boxes", -1, false, false),
        espyBench_Case(&level, "frustum alone, six arrays", -1, false, true),
        espyBench_Case(&level, "PVS + frustum, slot order, scattered", 0, false, false),
        espyBench_Case(&level, "PVS + frustum, slot order, runs of 50", 1, false, false),
        espyBench_Case(&level, "same, runs of 50, six arrays", 1, false, true),
        espyBench_Case(&level, "same, scattered, six arrays", 0, false, true),
        espyBench_Case(&level, "PVS + frustum, arbitrary slots", 0, true, false),
    };
    const uint32_t caseCount = 7;
    for (uint32_t i = 0; i < caseCount; ++i)
    {
        cases[i].input.draws = &cases[i].draws;
    }
    printf("\n%u draws, %u in the set of the camera's cell; one thread, kernels %s; ratio: to the first line\n", count,
           count / 100u, espyIsa_GetName(espyIsa_Detect(espyIsa_Auto)));
    espyBench_RunCases(cases, caseCount, level.drawList, runs, repeats, false);
    espyBench_Print(cases, caseCount, bandwidth);
    espyBench_FreeLevel(&level);
}

static void espyBench_Isas(int runs)
{
    espyBenchLevel level;
    espyBench_MakeLevel(&level, 100000);
    espyBenchCase cases[ESPY_MOST_CASES];
    char names[ESPY_MOST_CASES][64];
    uint32_t count = 0;
    for (espyIsa isa = espyIsa_Scalar; isa <= espyIsa_Avx512; isa = (espyIsa)(isa + 1))
    {
        if (espyIsa_Detect(isa) != isa)
        {
            continue;
        }
        for (int set = -1; set < 1; ++set)
        {
            snprintf(names[count], sizeof names[count], "%s, %s", espyIsa_GetName(isa),
                     set < 0 ? "frustum alone" : "PVS + frustum, slot order, scattered");
            cases[count] = espyBench_Case(&level, names[count], set, false, false);
            cases[count].input.isa = isa;
            ++count;
        }
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        cases[i].input.draws = &cases[i].draws;
    }
    printf("\nby instruction set; ratio: to plain C, frustum alone\n");
    espyBench_RunCases(cases, count, level.drawList, runs, 5, false);
    espyBench_Print(cases, count, 1e9);
    espyBench_FreeLevel(&level);
}

static void espyBench_Threads(int runs, double bandwidth)
{
    espyBenchPool* pool = &espyBenchWorkers;
    espyTasks tasks = {espyBench_For, pool, 2};
    espyBenchLevel level;
    espyBench_MakeLevel(&level, 1000000);
    espyBenchCase cases[ESPY_MOST_CASES] = {
        espyBench_Case(&level, "frustum alone, one thread", -1, false, false),
        espyBench_Case(&level, "frustum alone, two threads", -1, false, false),
        espyBench_Case(&level, "PVS + frustum, arbitrary slots, one", 0, true, false),
        espyBench_Case(&level, "PVS + frustum, arbitrary slots, two", 0, true, false),
        espyBench_Case(&level, "PVS + frustum, slot order, one", 0, false, false),
        espyBench_Case(&level, "PVS + frustum, slot order, two", 0, false, false),
    };
    const uint32_t caseCount = 6;
    if (pthread_create(&pool->thread, NULL, espyBench_Worker, pool) != 0)
    {
        printf("no second thread\n");
        return;
    }
    pool->awake = true;
    for (uint32_t i = 0; i < caseCount; ++i)
    {
        cases[i].input.draws = &cases[i].draws;
        cases[i].input.tasks = i % 2 == 1 ? &tasks : NULL;
    }
    espyBench_RunCases(cases, caseCount, level.drawList, runs, 1, true);
    atomic_store(&pool->stop, true);
    pthread_join(pool->thread, NULL);
    pool->awake = false;
    printf("\n1,000,000 draws on one and two threads\n");
    espyBench_Print(cases, caseCount, bandwidth);
    for (uint32_t i = 0; i < caseCount; i += 2)
    {
        printf("%-44s two threads %.2f times as fast (best of each: %.2f)\n", cases[i].name,
               cases[i].median / cases[i + 1].median, cases[i].best / cases[i + 1].best);
    }
    espyBench_FreeLevel(&level);
}

int main(int argc, char** argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 41;
    runs = runs < 1 ? 1 : runs > ESPY_MOST_RUNS ? ESPY_MOST_RUNS : runs;
    double bandwidth = espyBench_Bandwidth();
    printf("medians of %d alternating runs; memory read in order: %.1f GB/s\n", runs, bandwidth);
    espyBench_Level(100000, runs, 10, bandwidth);
    espyBench_Level(1000000, runs, 1, bandwidth);
    espyBench_Isas(runs);
    espyBench_Threads(runs, bandwidth);
    return 0;
}
