// SPDX-License-Identifier: MIT
// How narrow a gap each quality finds: two walls with a slit between them and a box behind, swept over the width of the
// slit, the distance and the angle; then a chain of three slits, one behind the other, seen from random places.
//
//   bench_slits [VIEWS]     (default 20000 views through the chain that see something)
//
// A trial is a cell on the line from the middle of the box through the middle of the slit, missed where the file hides
// the box from it. Truth is the slit itself: no ray is cast. Beside the counts: how much of all cells the file hides.
#include <espy/bake.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

#define ESPY_MOST_QUADS 16u

static const char* const espyQualityNames[] = {"low", "medium", "high", "proven"};

typedef struct espyBench
{
    espyVec3 positions[ESPY_MOST_QUADS][4];
    espyBakeOccluder walls[ESPY_MOST_QUADS];
    uint32_t wallCount;
    espyBakeOccludee box;
    espyBakeArea area;
} espyBench;

static const uint32_t espyQuad[6] = {0, 1, 2, 0, 2, 3};

/// A sheet at this depth.
static void espyBench_AddSheet(espyBench* bench, float x0, float x1, float y0, float y1, float z)
{
    espyVec3* p = bench->positions[bench->wallCount];
    p[0] = (espyVec3){x0, y0, z};
    p[1] = (espyVec3){x1, y0, z};
    p[2] = (espyVec3){x1, y1, z};
    p[3] = (espyVec3){x0, y1, z};
    bench->walls[bench->wallCount++] =
        (espyBakeOccluder){.mesh = {p, espyQuad, 4, 2}, .node = (int32_t)bench->wallCount};
}

static void espyBench_AddSlit(espyBench* bench, float x, float width, float z)
{
    espyBench_AddSheet(bench, -60, x, -20, 20, z);
    espyBench_AddSheet(bench, x + width, 60, -20, 20, z);
}

/// A square hole instead, around a height of 0.5.
static void espyBench_AddHole(espyBench* bench, float x, float width, float z)
{
    espyBench_AddSlit(bench, x, width, z);
    espyBench_AddSheet(bench, x, x + width, -20, 0.5f - 0.5f * width, z);
    espyBench_AddSheet(bench, x, x + width, 0.5f + 0.5f * width, 20, z);
}

static void espyBench_SetArea(espyBench* bench, espyBox box)
{
    bench->area.transform = espyMat4_Identity();
    bench->area.transform.m[0] = box.max.x - box.min.x;
    bench->area.transform.m[5] = box.max.y - box.min.y;
    bench->area.transform.m[10] = box.max.z - box.min.z;
    bench->area.transform.m[12] = 0.5f * (box.min.x + box.max.x);
    bench->area.transform.m[13] = 0.5f * (box.min.y + box.max.y);
    bench->area.transform.m[14] = 0.5f * (box.min.z + box.max.z);
}

static bool espyBench_Bake(const espyBench* bench, espyBakeQuality quality, uint64_t seed, espyBakeResult* out,
                           espyPvs* pvs)
{
    espyBakeInput input = {.occluders = bench->walls,
                           .occludees = &bench->box,
                           .areas = &bench->area,
                           .occluderCount = bench->wallCount,
                           .occludeeCount = 1,
                           .areaCount = 1};
    espyBakeDef def = espyBakeDef_Default();
    def.quality = quality;
    def.cellSize = 2.0f;
    def.threads = 1;
    def.dynamicObjects = false;
    def.seed = seed;
    return espyBake_Run(&input, &def, out) == espyResult_Ok &&
           espyPvs_Load(pvs, out->data, out->size, NULL) == espyResult_Ok;
}

// --- one slit

static void espyBench_Sweep(espyBakeQuality quality, bool hole)
{
    static const float widths[] = {0.05f, 0.02f, 0.01f, 0.005f, 0.002f, 0.001f, 0.0005f, 0.0002f};
    static const float distances[] = {1, 3, 6, 12, 24};
    printf("%-7s", espyQualityNames[quality]);
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(widths); ++i)
    {
        uint32_t trials = 0, missed = 0;
        uint64_t hidden = 0, pairs = 0;
        for (uint32_t k = 0; k < ESPYI_ARRAY_COUNT(distances); ++k)
        {
            for (int angle = -4; angle <= 4; ++angle)
            {
                espyBench bench = {.wallCount = 0};
                if (hole)
                {
                    espyBench_AddHole(&bench, 2.0f, widths[i], 10.0f);
                }
                else
                {
                    espyBench_AddSlit(&bench, 2.0f, widths[i], 10.0f);
                }
                float slope = 0.25f * (float)angle, z = 10.0f + distances[k];
                float slit = 2.0f + 0.5f * widths[i], x = slit + slope * (distances[k] + 0.5f);
                bench.box = (espyBakeOccludee){.box = {{x - 0.5f, 0, z}, {x + 0.5f, 1, z + 1}}, .node = 99, .part = -1};
                espyBench_SetArea(&bench, (espyBox){{-4, 0, 0}, {8, 2, 8}});
                espyBakeResult baked;
                espyPvs pvs;
                if (espyBench_Bake(&bench, quality, 1 + k, &baked, &pvs))
                {
                    for (float depth = 3.0f; depth < 10.0f; depth += 2.0f)
                    {
                        int32_t cell = espyPvs_FindCell(&pvs, (espyVec3){slit - slope * depth, 0.5f, 10.0f - depth});
                        trials += cell >= 0;
                        missed += cell >= 0 && espyPvs_TestSlot(&pvs, cell, 0) == espyVisibility_Occluded;
                    }
                    hidden += baked.stats.pairsHidden;
                    pairs += baked.stats.cells;
                }
                espyBake_Free(&baked);
            }
        }
        printf("  %3u/%-3u %2.0f %%", missed, trials, pairs ? 100.0 * (double)hidden / (double)pairs : 0.0);
    }
    printf("\n");
}

// --- three slits

typedef struct espySlit
{
    float x, width, z;
} espySlit;

static const espySlit espyChain[3] = {{1.9f, 0.09f, 10.0f}, {2.4f, 0.04f, 13.0f}, {2.9f, 0.02f, 16.0f}};

/// `scale`: of all widths.
static bool espyBench_Passes(espyVec3 from, espyVec3 to, double scale)
{
    for (uint32_t i = 0; i < 3; ++i)
    {
        double t = ((double)espyChain[i].z - (double)from.z) / ((double)to.z - (double)from.z);
        double x = (double)from.x + t * ((double)to.x - (double)from.x);
        if (x <= (double)espyChain[i].x || x >= (double)espyChain[i].x + scale * (double)espyChain[i].width)
        {
            return false;
        }
    }
    return true;
}

/// Lines are drawn through a point of the last two slits, or hardly any would get through.
static void espyBench_Chain(espyBakeQuality quality, float scale, uint32_t views)
{
    espyBench bench = {.wallCount = 0};
    for (uint32_t i = 0; i < 3; ++i)
    {
        espyBench_AddSlit(&bench, espyChain[i].x, scale * espyChain[i].width, espyChain[i].z);
    }
    bench.box = (espyBakeOccludee){.box = {{2, 0, 19}, {5, 2, 20}}, .node = 99, .part = -1};
    espyBench_SetArea(&bench, (espyBox){{-4, 0, 0}, {8, 2, 8}});
    espyBakeResult baked;
    espyPvs pvs;
    uint32_t seen = 0, missed = 0, drawn = 0;
    if (espyBench_Bake(&bench, quality, 1, &baked, &pvs))
    {
        espyiRng rng = espyiRng_Seed(7);
        while (seen < views && drawn < 1000u * views)
        {
            ++drawn;
            float a = espyiRng_Float(&rng), b = espyiRng_Float(&rng), depth = espyiRng_Float(&rng);
            float height = espyiRng_Float(&rng), up = espyiRng_Float(&rng);
            double far = (double)espyChain[2].x + (double)(scale * espyChain[2].width) * (double)a;
            double near = (double)espyChain[1].x + (double)(scale * espyChain[1].width) * (double)b;
            double slope = (far - near) / ((double)espyChain[2].z - (double)espyChain[1].z);
            double z = 8.0 * (double)depth, x = near + slope * (z - (double)espyChain[1].z);
            espyVec3 eye = {(float)x, 2.0f * height, (float)z};
            espyVec3 target = {(float)(near + slope * (19.0 - (double)espyChain[1].z)), 2.0f * up, 19.0f};
            int32_t cell = espyPvs_FindCell(&pvs, eye);
            if (cell < 0 || target.x <= 2.0f || target.x >= 5.0f || !espyBench_Passes(eye, target, (double)scale))
            {
                continue;
            }
            ++seen;
            missed += espyPvs_TestSlot(&pvs, cell, 0) == espyVisibility_Occluded;
        }
    }
    printf("%-7s %3.0f %% of the widths: %u of %u views miss the box\n", espyQualityNames[quality],
           100.0 * (double)scale, missed, seen);
    espyBake_Free(&baked);
}

int main(int argc, char** argv)
{
    uint32_t views = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
    printf("lines of sight missed by the width of the slit\n");
    printf("         50 mm         20 mm         10 mm         5 mm          2 mm          1 mm          0.5 mm        "
           "0.2 mm\n");
    for (int q = espyBakeQuality_Low; q <= espyBakeQuality_Proven; ++q)
    {
        espyBench_Sweep((espyBakeQuality)q, false);
    }
    printf("and of a square hole\n");
    for (int q = espyBakeQuality_Low; q <= espyBakeQuality_Proven; ++q)
    {
        espyBench_Sweep((espyBakeQuality)q, true);
    }
    printf("\nthree slits of 9, 4 and 2 cm, one behind the other\n");
    for (int q = espyBakeQuality_Low; q <= espyBakeQuality_Proven; ++q)
    {
        espyBench_Chain((espyBakeQuality)q, 1.0f, views);
        espyBench_Chain((espyBakeQuality)q, 0.1f, views);
    }
    return 0;
}
