// SPDX-License-Identifier: MIT
// What a second thread brings: the same bakes on one and on two threads, alternating; and how evenly work is shared.
//
//   bench_threads [RUNS]     (default 9)
#include <espy/bake.h>
#include <espy/editor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/scenes.h"

#define ESPY_MOST_RUNS 99

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static double espyBench_Median(double* values, int count)
{
    qsort(values, (size_t)count, sizeof *values, espyBench_Compare);
    return values[count / 2];
}

static void espyBench_Scene(const char* name, uint32_t size, int runs)
{
    espyWorld* world = NULL;
    espyGathered* gathered = NULL;
    espyBakeDef def = espyBakeDef_Default();
    if (espyScene_Build(name, size, 1, &world) != espyResult_Ok)
    {
        printf("%s: cannot be built\n", name);
        return;
    }
    espyEditor_ApplySettings(world, &def);
    def.quality = espyBakeQuality_Medium;
    if (espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered) != espyResult_Ok)
    {
        printf("%s: cannot be gathered\n", name);
        espyWorld_Destroy(world);
        return;
    }
    double seconds[2][ESPY_MOST_RUNS];
    double shares[ESPY_MOST_RUNS] = {0};
    for (int run = 0; run < runs; ++run)
    {
        for (int threads = 1; threads <= 2; ++threads)
        {
            espyBakeResult baked;
            def.threads = threads;
            if (espyBake_Run(espyGathered_GetInput(gathered), &def, &baked) == espyResult_Ok)
            {
                seconds[threads - 1][run] = baked.stats.seconds;
                shares[run] = threads == 2 ? (double)baked.stats.maxThreadWork / (double)baked.stats.totalWork : 0.0;
            }
            espyBake_Free(&baked);
        }
    }
    double one = espyBench_Median(seconds[0], runs), two = espyBench_Median(seconds[1], runs);
    printf("%-8s size %2u: 1 thread %.2f s, 2 threads %.2f s: %.2f times; busiest thread %.1f %% of the work\n", name,
           size, one, two, one / two, 100.0 * espyBench_Median(shares, runs));
    fflush(stdout);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
}

int main(int argc, char** argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 9;
    runs = runs < 1 ? 1 : runs > ESPY_MOST_RUNS ? ESPY_MOST_RUNS : runs;
    printf("medians of %d alternating runs, medium quality\n", runs);
    espyBench_Scene("rooms", 6, runs);
    espyBench_Scene("slits", 6, runs);
    espyBench_Scene("city", 6, runs);
    return 0;
}
