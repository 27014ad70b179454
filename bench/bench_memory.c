// SPDX-License-Identifier: MIT
// What the largest bake that is allowed without asking holds in memory: rooms with 10,240 occludees in 262,144 cells at
// most. Also how long the bake ever goes without asking whether to go on.
//
//   bench_memory [SCENE] [SIZE] [QUALITY] [CELLS] [THREADS] [DYNAMIC]     (default rooms 32 low 262144 1 0)
//
// DYNAMIC 1 bakes the table of moving objects as well, which takes this bake an hour instead of minutes.
// The cell size is the finest that needs no more than CELLS. Prints the peak of the hooks' bytes by stage (what the
// scene itself holds is not part of it), the process's peak (the scene included), and the longest time between two
// calls of the progress callback by stage, in CPU time of the calling thread, which other programs do not lengthen:
// with one thread that is how late a cancel can be. Fails above 1 GB (1e9 bytes) of either.
#include <espy/bake.h>
#include <espy/editor.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/tasks.h"
#include "scenes/scenes.h"

#define ESPY_STAGES 4u
// In front of every block, as large as any alignment that is asked for.
#define ESPY_HEAD 64u

typedef struct espyBench
{
    atomic_size_t held;
    atomic_size_t peaks[ESPY_STAGES]; ///< Of each stage.
    atomic_uint stage;
    double last, longest[ESPY_STAGES];
    double shown;
} espyBench;

static void* espyBench_Alloc(size_t size, size_t align, void* context)
{
    espyBench* bench = context;
    void* block = NULL;
    if (align > ESPY_HEAD || posix_memalign(&block, ESPY_HEAD, size + ESPY_HEAD) != 0)
    {
        return NULL;
    }
    *(size_t*)block = size;
    size_t held = atomic_fetch_add(&bench->held, size) + size;
    atomic_size_t* peak = &bench->peaks[atomic_load(&bench->stage)];
    size_t most = atomic_load(peak);
    while (held > most && !atomic_compare_exchange_weak(peak, &most, held))
    {
    }
    return (char*)block + ESPY_HEAD;
}

static void espyBench_Free(void* pointer, void* context)
{
    espyBench* bench = context;
    if (pointer)
    {
        void* block = (char*)pointer - ESPY_HEAD;
        atomic_fetch_sub(&bench->held, *(size_t*)block);
        free(block);
    }
}

static bool espyBench_Progress(const espyBakeProgress* progress, void* context)
{
    espyBench* bench = context;
    double now = espyiClock_ThreadCpuSeconds(), gap = now - bench->last;
    uint32_t stage = atomic_load(&bench->stage);
    bench->longest[stage] = gap > bench->longest[stage] ? gap : bench->longest[stage];
    bench->last = now;
    atomic_store(&bench->stage, (unsigned)progress->stage);
    if (progress->seconds - bench->shown > 60.0)
    {
        bench->shown = progress->seconds;
        fprintf(stderr, "%.0f s: %llu of %llu\n", progress->seconds, (unsigned long long)progress->done,
                (unsigned long long)progress->total);
    }
    return true;
}

static bool espyBench_FindQuality(const char* name, espyBakeQuality* out)
{
    static const char* const names[] = {"low", "medium", "high", "proven"};
    for (int i = 0; i < 4; ++i)
    {
        if (strcmp(name, names[i]) == 0)
        {
            *out = (espyBakeQuality)i;
            return true;
        }
    }
    return false;
}

/// Cells of the areas' boxes at this size, as a bake counts them where areas do not overlap.
static uint64_t espyBench_CountCells(const espyBakeInput* input, float cellSize)
{
    uint64_t cells = 0;
    for (uint32_t i = 0; i < input->areaCount; ++i)
    {
        espyBox cube = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
        espyBox box = espyMat4_TransformBox(input->areas[i].transform, cube);
        const float sizes[3] = {box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z};
        uint64_t product = 1;
        for (int k = 0; k < 3; ++k)
        {
            float n = sizes[k] / cellSize;
            product *= (uint64_t)n + ((float)(uint64_t)n < n ? 1u : 0u);
        }
        cells += product;
    }
    return cells;
}

static int espyBench_Report(const espyBench* bench, const espyBakeResult* baked)
{
    static const char* const names[ESPY_STAGES] = {"prepare", "static", "dynamic", "write"};
    const espyBakeStats* stats = &baked->stats;
    espyPvs pvs;
    espyPvsInfo info = {0};
    if (espyPvs_Load(&pvs, baked->data, baked->size, NULL) == espyResult_Ok)
    {
        espyPvs_GetInfo(&pvs, &info);
    }
    printf("cells %llu, occludees %llu, occluder triangles %llu; %u unique sets, file %.1f MB, %.1f s\n",
           (unsigned long long)stats->cells, (unsigned long long)stats->occludees, (unsigned long long)stats->triangles,
           info.staticSetCount, 1e-6 * (double)baked->size, stats->seconds);
    size_t most = 0;
    for (uint32_t i = 0; i < ESPY_STAGES; ++i)
    {
        size_t peak = atomic_load(&bench->peaks[i]);
        most = peak > most ? peak : most;
        printf("%-8s hooks' peak %7.1f MB, longest without asking %4.0f ms\n", names[i], 1e-6 * (double)peak,
               1e3 * bench->longest[i]);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double resident = 1024.0 * (double)usage.ru_maxrss;
    printf("bake's hooks %.1f MB (its own count %.1f MB), process %.1f MB resident at most\n", 1e-6 * (double)most,
           1e-6 * (double)stats->peakMemoryBytes, 1e-6 * resident);
    bool good = most < 1000000000u && resident < 1e9;
    printf("%s 1 GB\n", good ? "under" : "ABOVE");
    return good ? 0 : 1;
}

int main(int argc, char** argv)
{
    const char* scene = argc > 1 ? argv[1] : "rooms";
    uint32_t size = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 32;
    uint64_t most = argc > 4 ? strtoull(argv[4], NULL, 10) : ESPY_BAKE_MAX_CELLS;
    espyBakeDef def = espyBakeDef_Default();
    espyWorld* world = NULL;
    espyGathered* gathered = NULL;
    if (!espyBench_FindQuality(argc > 3 ? argv[3] : "low", &def.quality) ||
        espyScene_Build(scene, size, 1, &world) != espyResult_Ok ||
        espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered) != espyResult_Ok)
    {
        fprintf(stderr, "usage: bench_memory [SCENE] [SIZE] [QUALITY] [CELLS] [THREADS] [DYNAMIC]\n");
        espyWorld_Destroy(world);
        return 2;
    }
    const espyBakeInput* input = espyGathered_GetInput(gathered);
    espyBench bench = {0};
    def.threads = argc > 5 ? (int32_t)strtol(argv[5], NULL, 10) : 1;
    def.dynamicObjects = argc > 6 && strcmp(argv[6], "1") == 0;
    def.progress = espyBench_Progress;
    def.progressContext = &bench;
    def.hooks = (espyHooks){.alloc = espyBench_Alloc, .free = espyBench_Free, .context = &bench};
    while (espyBench_CountCells(input, def.cellSize) < most && def.cellSize > 0.1f)
    {
        def.cellSize *= 0.999f;
    }
    def.cellSize /= 0.999f;
    printf("%s %u, %s, cells of %.3f m, %d thread(s)\n", scene, size, argc > 3 ? argv[3] : "low", (double)def.cellSize,
           (int)def.threads);
    fflush(stdout);
    bench.last = espyiClock_ThreadCpuSeconds();
    espyBakeResult baked;
    espyResult result = espyBake_Run(input, &def, &baked);
    int status = 1;
    if (result == espyResult_Ok)
    {
        status = espyBench_Report(&bench, &baked);
    }
    else
    {
        fprintf(stderr, "%s\n", baked.message);
    }
    espyBake_Free(&baked);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    return status;
}
