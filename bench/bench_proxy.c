// SPDX-License-Identifier: MIT
// What proxy occlusion costs: nanoseconds a pixel a capsule beside the usual inverse-square loop at the same
// instruction set, the price of a horizon cut, and images of a crowd by count: time, evaluations, error, memory.
#include <espy/proxy.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/tasks.h"
#include "proxy/proxy_internal.h"
#include "scenes/proxy_scene.h"

#define ESPY_RUNS 15
#define ESPY_CAPSULES 64u

void espyPeer_Scalar(const espyProxyEntry* entries, uint32_t count, espyiProxyReceivers* r);
void espyPeer_Sse41(const espyProxyEntry* entries, uint32_t count, espyiProxyReceivers* r);
void espyPeer_Avx2(const espyProxyEntry* entries, uint32_t count, espyiProxyReceivers* r);
void espyPeer_Avx512(const espyProxyEntry* entries, uint32_t count, espyiProxyReceivers* r);

typedef struct espyBenchIsa
{
    espyIsa isa;
    void (*peer)(const espyProxyEntry*, uint32_t, espyiProxyReceivers*);
} espyBenchIsa;

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

static float espyBench_Range(espyiRng* rng, float low, float high)
{
    return low + (high - low) * espyiRng_Float(rng);
}

/// A hundred receivers and 64 capsules. With `cut` the horizon cuts every capsule for every receiver.
static void espyBench_Fill(espyProxyEntry* entries, espyiProxyReceivers* r, bool cut)
{
    espyiRng rng = espyiRng_Seed(3);
    r->count = ESPYI_PROXY_PIXELS;
    for (uint32_t i = 0; i < r->count + ESPYI_PROXY_PAD; ++i)
    {
        r->position[0][i] = espyBench_Range(&rng, -1, 1);
        r->position[1][i] = 0;
        r->position[2][i] = espyBench_Range(&rng, -1, 1);
        r->normal[0][i] = r->normal[2][i] = 0;
        r->normal[1][i] = 1;
        r->owner[i] = 0;
    }
    for (uint32_t i = 0; i < ESPY_CAPSULES; ++i)
    {
        float angle = espyBench_Range(&rng, 0, 6.28f), away = espyBench_Range(&rng, 3, 12);
        float lean = espyBench_Range(&rng, -0.5f, 0.5f), height = cut ? espyBench_Range(&rng, -0.25f, 0.25f) : 0.35f;
        espyCapsule c = {.a = {cosf(angle) * away, height, sinf(angle) * away}, .radiusA = 0.3f, .radiusB = 0.3f};
        c.b = (espyVec3){c.a.x + lean, c.a.y + (cut ? 0 : 1.2f), c.a.z + 0.3f};
        entries[i] = (espyProxyEntry){.pack = espyiCapsule_Pack(&c, (espyVec3){0, 0, 0}), .strength = 1, .record = i};
    }
}

static void espyBench_Terms(void)
{
    static espyProxyEntry entries[ESPY_CAPSULES];
    static espyiProxyReceivers receivers;
    static const espyBenchIsa isas[] = {{espyIsa_Scalar, espyPeer_Scalar},
                                        {espyIsa_Sse41, espyPeer_Sse41},
                                        {espyIsa_Avx2, espyPeer_Avx2},
                                        {espyIsa_Avx512, espyPeer_Avx512}};
    uint32_t list[ESPY_CAPSULES];
    for (uint32_t i = 0; i < ESPY_CAPSULES; ++i)
    {
        list[i] = i;
    }
    printf("one term, ns a pixel a capsule (median of %d, alternating)\n", ESPY_RUNS);
    printf("%-8s %8s %8s %7s %8s\n", "set", "exact", "inv.sq.", "ratio", "cut");
    for (uint32_t k = 0; k < sizeof isas / sizeof isas[0]; ++k)
    {
        if (espyIsa_Detect(isas[k].isa) != isas[k].isa)
        {
            continue;
        }
        const espyiProxyKernels* kernels = espyiProxy_PickKernels(isas[k].isa);
        double times[3][ESPY_RUNS], scale = 1e9 / (20.0 * ESPYI_PROXY_PIXELS * ESPY_CAPSULES);
        for (int run = 0; run < ESPY_RUNS; ++run)
        {
            for (int which = 0; which < 3; ++which)
            {
                espyBench_Fill(entries, &receivers, which == 2);
                double start = espyiClock_ThreadCpuSeconds();
                for (int i = 0; i < 20; ++i)
                {
                    if (which == 1)
                    {
                        isas[k].peer(entries, ESPY_CAPSULES, &receivers);
                    }
                    else
                    {
                        kernels->exact(entries, list, ESPY_CAPSULES, false, &receivers);
                    }
                }
                times[which][run] = (espyiClock_ThreadCpuSeconds() - start) * scale;
            }
        }
        double exact = espyBench_Median(times[0], ESPY_RUNS), peer = espyBench_Median(times[1], ESPY_RUNS);
        printf("%-8s %8.2f %8.2f %7.2f %8.2f\n", espyIsa_GetName(isas[k].isa), exact, peer, exact / peer,
               espyBench_Median(times[2], ESPY_RUNS));
    }
}

/// Product over every capsule, without reach or tree.
static float espyBench_Truth(const espyCapsule* crowd, uint32_t count, espyVec3 eye, espyVec3 p, espyVec3 n)
{
    float survives = 1;
    espyVec3 at = {eye.x + p.x, eye.y + p.y, eye.z + p.z};
    for (uint32_t i = 0; i < count; ++i)
    {
        survives *= 1 - espyCapsule_Occlusion(&crowd[i], at, n, espyCapsuleInside_Continuous);
    }
    return survives;
}

static void espyBench_Crowd(uint32_t count, bool anyNormal)
{
    espyVec3 eye = {0, 6, 0};
    espyProxyScene scene;
    espyCapsule* crowd = calloc(count, sizeof *crowd);
    espyProxySetDef setDef = espyProxySetDef_Default();
    setDef.technique = espyProxyTechnique_Clusters;
    setDef.limit = ESPY_PROXY_CLUSTER_LIMIT;
    espyProxySet* set;
    espyProxyPassDef passDef = espyProxyPassDef_Default();
    espyProxyPass* pass;
    if (!crowd || !espyProxyScene_Create(&scene, 1920, 1080, eye, (espyVec3){0, 0, -30}, 1.0f) ||
        espyProxySet_Create(&setDef, &set) != espyResult_Ok || espyProxyPass_Create(&passDef, &pass) != espyResult_Ok)
    {
        exit(4);
    }
    // 0.5 a square metre whatever the count: the field grows.
    float half = 0.5f * sqrtf((float)count / 0.5f);
    espyiRng rng = espyiRng_Seed(7);
    for (uint32_t i = 0; i < count; ++i)
    {
        float x = espyBench_Range(&rng, -half, half), z = espyBench_Range(&rng, -half, half) - 10;
        crowd[i] = (espyCapsule){{x, 0.3f, z}, {x, 1.5f, z}, 0.3f, 0.3f};
        espyProxyDef def = espyProxyDef_Default();
        def.a = crowd[i].a;
        def.b = crowd[i].b;
        def.hasB = true;
        def.radius = 0.3f;
        espyProxySet_SetId(set, i, &def, NULL);
    }
    espyProxySurface grey = {.albedo = {0.5f, 0.5f, 0.5f}};
    espyProxyScene_AddPlane(&scene, (espyVec3){0, 0, 0}, (espyVec3){0, 1, 0}, &grey);
    if (anyNormal)
    {
        for (uint32_t i = 0; i < scene.width * scene.height; ++i)
        {
            // One direction a tile, as on a wall or a prop.
            uint32_t tile = i % scene.width / 16u + i / scene.width / 16u * 256u;
            espyiRng at = espyiRng_Seed(tile);
            float z = espyBench_Range(&at, -1, 1), phi = espyBench_Range(&at, 0, 6.2831853f), r = sqrtf(1 - z * z);
            scene.normal[3 * (size_t)i] = r * cosf(phi);
            scene.normal[3 * (size_t)i + 1] = z;
            scene.normal[3 * (size_t)i + 2] = r * sinf(phi);
        }
    }
    espyProxyScene_Light(&scene, (espyVec3){0.4f, 1, 0.3f}, 1, 0.5f, NULL, 0, 0);
    espyProxyImage image = espyProxyScene_Image(&scene);
    image.lit.data = NULL;
    image.owner = NULL;
    espyProxyPass_Reserve(pass, set);
    double start = espyiClock_ThreadCpuSeconds();
    if (espyProxyPass_Apply(pass, set, &scene.view, &image) != espyResult_Ok)
    {
        exit(1);
    }
    double seconds = espyiClock_ThreadCpuSeconds() - start;
    espyProxyStats stats = espyProxyPass_GetStats(pass);
    double worst = 0, sum = 0, mean = 0;
    uint32_t checked = 0;
    for (uint32_t i = 0; checked < 1500 && i < 20000; ++i)
    {
        uint32_t x = espyiRng_Below(&rng, scene.width), y = espyiRng_Below(&rng, scene.height);
        size_t at = (size_t)y * scene.width + x;
        espyVec3 p, n = {scene.normal[3 * at], scene.normal[3 * at + 1], scene.normal[3 * at + 2]};
        if (espyProxyScene_GetPoint(&scene, x, y, &p) && fabsf(p.x) < half && fabsf(p.z + 10) < half)
        {
            double truth = espyBench_Truth(crowd, count, eye, p, n), error = fabs((double)scene.visibility[at] - truth);
            worst = fmax(worst, error);
            sum += error * error;
            mean += 1 - truth;
            ++checked;
        }
    }
    double pixels = (double)stats.pixels;
    printf("%6u %-6s %8.1f %8.1f %8.1f %8.1f %9.4f %9.4f %8.3f %9.2f %llu\n", count, anyNormal ? "any" : "ground",
           seconds * 1e3, seconds * 1e9 / pixels, (double)stats.exact / pixels, (double)stats.far / pixels, worst,
           sqrt(sum / (checked + 1e-9)), mean / (checked + 1e-9), (double)stats.bytes / 1048576,
           (unsigned long long)stats.overflows);
    espyProxyPass_Destroy(pass);
    espyProxySet_Destroy(set);
    espyProxyScene_Free(&scene);
    free(crowd);
}

int main(int argc, char** argv)
{
    bool crowdOnly = argc > 1 && strcmp(argv[1], "crowd") == 0;
    if (!crowdOnly)
    {
        espyBench_Terms();
    }
    printf(
        "\ncrowd at 1920 x 1080, one thread, 0.5 a square metre; error against the product of all at 1,500 pixels\n");
    printf("%6s %-6s %8s %8s %8s %8s %9s %9s %8s %9s %s\n", "count", "normal", "ms", "ns/px", "exact/px", "sums/px",
           "error max", "rms", "mean", "MiB", "overflows");
    static const uint32_t counts[] = {64, 256, 1000, 4000, 20000};
    for (uint32_t i = crowdOnly ? 4 : 0; i < sizeof counts / sizeof counts[0]; ++i)
    {
        espyBench_Crowd(counts[i], false);
    }
    espyBench_Crowd(20000, true);
    return 0;
}
