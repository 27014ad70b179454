// SPDX-License-Identifier: MIT
// Any-hit and closest-hit rays a second of the hierarchy beside Embree, at equal instruction set and robust mode.
//
//   bench_embree_rays [SCENE]      city, rooms, terrain or soup; all of them without an argument
//
// Both sides answer the same segments over the same triangles. Every run times ours and each of Embree's ways
// (single, packets, stream; with and without the coherent flag) by CPU time of the thread, in alternating order; the
// printed ratio is the median over runs of ours / the fastest of Embree's medians. Above 1 ours is faster. Filling
// either side's ray arrays is not timed.
#include <embree3/rtcore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tasks.h"
#include "geometry/bvh.h"

#define ESPY_RUNS 9
#define ESPY_GROUP 32u
#define ESPY_GROUP_COUNT 2048u
#define ESPY_RAY_COUNT (ESPY_GROUP * ESPY_GROUP_COUNT)
#define ESPY_WAY_COUNT 7

// --- scenes

typedef struct espyBenchScene
{
    const char* name;
    espyVec3* positions;
    uint32_t* indices;
    size_t vertexCount, vertexCapacity, indexCount, indexCapacity;
    float size;   ///< The scene fills [0, size] in x and z.
    float height; ///< Cameras stand at most this high over the ground.
    float cell;   ///< Edge of a camera cell.
    float range;  ///< Targets are at most about this far away.
} espyBenchScene;

static void espyBench_Require(bool condition, const char* what)
{
    if (!condition)
    {
        fprintf(stderr, "bench_embree_rays: %s\n", what);
        exit(1);
    }
}

static uint32_t espyScene_AddVertex(espyBenchScene* s, float x, float y, float z)
{
    if (s->vertexCount == s->vertexCapacity)
    {
        s->vertexCapacity = 2 * s->vertexCapacity + 64;
        // One vector of slack: Embree reads 16 bytes at each.
        s->positions = realloc(s->positions, (s->vertexCapacity + 1) * sizeof(espyVec3));
        espyBench_Require(s->positions != NULL, "out of memory");
    }
    s->positions[s->vertexCount] = (espyVec3){x, y, z};
    return (uint32_t)s->vertexCount++;
}

static void espyScene_AddTriangle(espyBenchScene* s, uint32_t a, uint32_t b, uint32_t c)
{
    if (s->indexCount + 3 > s->indexCapacity)
    {
        s->indexCapacity = 2 * s->indexCapacity + 192;
        s->indices = realloc(s->indices, s->indexCapacity * sizeof(uint32_t));
        espyBench_Require(s->indices != NULL, "out of memory");
    }
    s->indices[s->indexCount++] = a;
    s->indices[s->indexCount++] = b;
    s->indices[s->indexCount++] = c;
}

static void espyScene_AddBox(espyBenchScene* s, espyVec3 low, espyVec3 high)
{
    static const uint8_t faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                        {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    uint32_t first = (uint32_t)s->vertexCount;
    for (uint32_t i = 0; i < 8; ++i)
    {
        espyScene_AddVertex(s, i & 1u ? high.x : low.x, i & 2u ? high.y : low.y, i & 4u ? high.z : low.z);
    }
    for (int i = 0; i < 6; ++i)
    {
        espyScene_AddTriangle(s, first + faces[i][0], first + faces[i][1], first + faces[i][2]);
        espyScene_AddTriangle(s, first + faces[i][0], first + faces[i][2], first + faces[i][3]);
    }
}

static float espyBench_Range(espyiRng* rng, float low, float high)
{
    return low + (high - low) * espyiRng_Float(rng);
}

static void espyScene_AddProp(espyBenchScene* s, espyiRng* rng, float x, float z, float size)
{
    float width = espyBench_Range(rng, 0.2f, 1.0f) * size, depth = espyBench_Range(rng, 0.2f, 1.0f) * size;
    float height = espyBench_Range(rng, 0.3f, 1.5f) * size;
    espyScene_AddBox(s, (espyVec3){x, 0.0f, z}, (espyVec3){x + width, height, z + depth});
}

/// 40 x 40 buildings of boxes with eight small boxes in the street beside each.
static void espyScene_MakeCity(espyBenchScene* s, espyiRng* rng)
{
    *s = (espyBenchScene){.name = "city", .size = 40 * 20.0f, .height = 3.0f, .cell = 4.0f, .range = 120.0f};
    espyScene_AddBox(s, (espyVec3){0.0f, -1.0f, 0.0f}, (espyVec3){s->size, 0.0f, s->size});
    for (int i = 0; i < 40 * 40; ++i)
    {
        float x = (float)(i % 40) * 20.0f, z = (float)(i / 40) * 20.0f;
        float top = espyBench_Range(rng, 6.0f, 30.0f);
        espyScene_AddBox(s, (espyVec3){x + 4.0f, 0.0f, z + 4.0f}, (espyVec3){x + 16.0f, top, z + 16.0f});
        for (int k = 0; k < 8; ++k)
        {
            bool along = espyiRng_Below(rng, 2) == 0;
            float a = espyBench_Range(rng, 0.0f, 19.0f), b = espyBench_Range(rng, 0.0f, 3.0f);
            espyScene_AddProp(s, rng, x + (along ? a : b), z + (along ? b : a), 1.0f);
        }
    }
}

/// 16 x 16 rooms of 8 m with doors in their walls, floor, ceiling and ten props each.
static void espyScene_MakeRooms(espyBenchScene* s, espyiRng* rng)
{
    const float edge = 8.0f, wall = 0.2f, high = 3.0f, door = 1.0f;
    *s = (espyBenchScene){.name = "rooms", .size = 16 * edge, .height = 2.5f, .cell = 2.0f, .range = 24.0f};
    espyScene_AddBox(s, (espyVec3){0.0f, -0.5f, 0.0f}, (espyVec3){s->size, 0.0f, s->size});
    espyScene_AddBox(s, (espyVec3){0.0f, high, 0.0f}, (espyVec3){s->size, high + 0.5f, s->size});
    for (int i = 0; i < 16 * 16; ++i)
    {
        float x = (float)(i % 16) * edge, z = (float)(i / 16) * edge;
        for (int side = 0; side < 2; ++side)
        {
            float gap = espyBench_Range(rng, 1.0f, edge - 2.0f), end = gap + door;
            const float pieces[3][4] = {{0.0f, gap, 0.0f, high}, {end, edge, 0.0f, high}, {gap, end, 2.1f, high}};
            for (int k = 0; k < 3; ++k)
            {
                const float* p = pieces[k];
                espyVec3 low = {x + (side ? 0.0f : p[0]), p[2], z + (side ? p[0] : 0.0f)};
                espyVec3 top = {x + (side ? wall : p[1]), p[3], z + (side ? p[1] : wall)};
                espyScene_AddBox(s, low, top);
            }
        }
        for (int k = 0; k < 10; ++k)
        {
            float px = espyBench_Range(rng, 0.5f, edge - 1.5f), pz = espyBench_Range(rng, 0.5f, edge - 1.5f);
            espyScene_AddProp(s, rng, x + px, z + pz, 1.0f);
        }
    }
}

static float espyTerrain_Height(float x, float z)
{
    // Waves of falling length from a polynomial that needs no library: enough for hills and bumps.
    float sum = 0.0f, length = 180.0f, amplitude = 18.0f;
    for (int i = 0; i < 5; ++i)
    {
        float a = x / length + 0.37f * (float)i, b = z / length + 0.71f * (float)i;
        a = a - (float)(int)a - 0.5f;
        b = b - (float)(int)b - 0.5f;
        sum += amplitude * (1.0f - 4.0f * a * a) * (1.0f - 4.0f * b * b);
        length *= 0.43f;
        amplitude *= 0.4f;
    }
    return sum;
}

/// A height field of 512 x 512 quads of 1 m.
static void espyScene_MakeTerrain(espyBenchScene* s, espyiRng* rng)
{
    const uint32_t n = 512;
    *s = (espyBenchScene){.name = "terrain", .size = 512.0f, .height = 4.0f, .cell = 4.0f, .range = 120.0f};
    for (uint32_t z = 0; z <= n; ++z)
    {
        for (uint32_t x = 0; x <= n; ++x)
        {
            float y = espyTerrain_Height((float)x, (float)z) + espyBench_Range(rng, 0.0f, 0.15f);
            espyScene_AddVertex(s, (float)x, y, (float)z);
        }
    }
    for (uint32_t z = 0; z < n; ++z)
    {
        for (uint32_t x = 0; x < n; ++x)
        {
            uint32_t a = z * (n + 1) + x, b = a + n + 1;
            espyScene_AddTriangle(s, a, b, a + 1);
            espyScene_AddTriangle(s, a + 1, b, b + 1);
        }
    }
}

/// 200,000 small triangles in a cube.
static void espyScene_MakeSoup(espyBenchScene* s, espyiRng* rng)
{
    *s = (espyBenchScene){.name = "soup", .size = 100.0f, .height = 100.0f, .cell = 4.0f, .range = 20.0f};
    for (uint32_t i = 0; i < 200000; ++i)
    {
        espyVec3 c = {100.0f * espyiRng_Float(rng), 100.0f * espyiRng_Float(rng), 100.0f * espyiRng_Float(rng)};
        uint32_t v[3];
        for (int k = 0; k < 3; ++k)
        {
            float x = c.x + espyBench_Range(rng, -0.5f, 0.5f), y = c.y + espyBench_Range(rng, -0.5f, 0.5f);
            v[k] = espyScene_AddVertex(s, x, y, c.z + espyBench_Range(rng, -0.5f, 0.5f));
        }
        espyScene_AddTriangle(s, v[0], v[1], v[2]);
    }
}

// --- segments

static espyVec3 espyScene_PickEye(const espyBenchScene* s, espyiRng* rng)
{
    float x = s->size * espyiRng_Float(rng), z = s->size * espyiRng_Float(rng);
    float ground = strcmp(s->name, "terrain") == 0 ? espyTerrain_Height(x, z) : 0.0f;
    return (espyVec3){x, ground + s->height * espyBench_Range(rng, 0.1f, 1.0f), z};
}

static espyiSegment espyBench_Segment(espyVec3 a, espyVec3 b, float tMax)
{
    return (espyiSegment){a, 0.0f, {b.x - a.x, b.y - a.y, b.z - a.z}, tMax};
}

/// Groups of 32 segments from one camera cell to one point of the scene.
static void espyBench_FillCoherent(const espyBenchScene* s, espyiRng* rng, espyiSegment* out)
{
    for (uint32_t group = 0; group < ESPY_GROUP_COUNT; ++group)
    {
        espyVec3 cell = espyScene_PickEye(s, rng);
        espyVec3 target;
        do
        {
            const uint32_t* index = &s->indices[3 * espyiRng_Below(rng, (uint32_t)(s->indexCount / 3))];
            espyVec3 a = s->positions[index[0]], b = s->positions[index[1]], c = s->positions[index[2]];
            float u = 0.5f * espyiRng_Float(rng), v = 0.5f * espyiRng_Float(rng), w = 1.0f - u - v;
            target = (espyVec3){u * a.x + v * b.x + w * c.x, u * a.y + v * b.y + w * c.y, u * a.z + v * b.z + w * c.z};
        } while (target.x > cell.x + s->range || target.x < cell.x - s->range || target.z > cell.z + s->range ||
                 target.z < cell.z - s->range);
        for (uint32_t i = 0; i < ESPY_GROUP; ++i)
        {
            espyVec3 eye = {cell.x + s->cell * espyiRng_Float(rng), cell.y + 0.5f * s->cell * espyiRng_Float(rng),
                            cell.z + s->cell * espyiRng_Float(rng)};
            *out++ = espyBench_Segment(eye, target, 0.999f);
        }
    }
}

/// Lines from anywhere in any direction, to the end of the scene.
static void espyBench_FillRandom(const espyBenchScene* s, espyiRng* rng, espyiSegment* out)
{
    for (uint32_t i = 0; i < ESPY_RAY_COUNT; ++i)
    {
        espyVec3 eye = espyScene_PickEye(s, rng);
        espyVec3 d;
        do
        {
            d = (espyVec3){espyBench_Range(rng, -1.0f, 1.0f), espyBench_Range(rng, -1.0f, 1.0f),
                           espyBench_Range(rng, -1.0f, 1.0f)};
        } while (d.x * d.x + d.y * d.y + d.z * d.z > 1.0f || d.x * d.x + d.y * d.y + d.z * d.z < 0.01f);
        // Most lines of a search are near level.
        d.y *= s->height < 50.0f ? 0.3f : 1.0f;
        out[i] = (espyiSegment){eye, 0.0f, d, 1e5f};
    }
}

// --- ways

/// One ready set of rays in every form, and the answers.
typedef struct espyBenchJob
{
    const espyiBvh* bvh;
    RTCScene scene;
    const espyiSegment* segments;
    uint32_t count; ///< A multiple of 32.
    bool closest;
    struct RTCRayHit* single;
    struct RTCRay* any;
    struct RTCRay4* rays4;
    struct RTCRay8* rays8;
    struct RTCRay16* rays16;
    uint64_t* blocked;
    espyiHit* hits;
} espyBenchJob;

typedef enum espyBenchWay
{
    espyBenchWay_Ours = 0,
    espyBenchWay_One,
    espyBenchWay_Packet4,
    espyBenchWay_Packet8,
    espyBenchWay_Packet16,
    espyBenchWay_Packet8Coherent,
    espyBenchWay_StreamCoherent,
} espyBenchWay;

static const char* const espyBenchWayNames[ESPY_WAY_COUNT] = {"espy", "1", "4", "8", "16", "8 coherent", "stream"};

static void espyJob_FillRay(struct RTCRay* ray, const espyiSegment* s)
{
    memset(ray, 0, sizeof(*ray));
    ray->org_x = s->origin.x;
    ray->org_y = s->origin.y;
    ray->org_z = s->origin.z;
    ray->dir_x = s->direction.x;
    ray->dir_y = s->direction.y;
    ray->dir_z = s->direction.z;
    ray->tnear = s->tMin;
    ray->tfar = s->tMax;
    ray->mask = UINT32_MAX;
}

#define ESPY_FILL_PACKET(packet, lane, s)         \
    do                                            \
    {                                             \
        (packet)->org_x[lane] = (s)->origin.x;    \
        (packet)->org_y[lane] = (s)->origin.y;    \
        (packet)->org_z[lane] = (s)->origin.z;    \
        (packet)->dir_x[lane] = (s)->direction.x; \
        (packet)->dir_y[lane] = (s)->direction.y; \
        (packet)->dir_z[lane] = (s)->direction.z; \
        (packet)->tnear[lane] = (s)->tMin;        \
        (packet)->tfar[lane] = (s)->tMax;         \
        (packet)->time[lane] = 0.0f;              \
        (packet)->mask[lane] = UINT32_MAX;        \
        (packet)->flags[lane] = 0;                \
    } while (0)

static void espyJob_Fill(espyBenchJob* job)
{
    for (uint32_t i = 0; i < job->count; ++i)
    {
        const espyiSegment* s = &job->segments[i];
        espyJob_FillRay(&job->any[i], s);
        espyJob_FillRay(&job->single[i].ray, s);
        job->single[i].hit.geomID = RTC_INVALID_GEOMETRY_ID;
        job->single[i].hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
        ESPY_FILL_PACKET(&job->rays4[i / 4], i % 4, s);
        ESPY_FILL_PACKET(&job->rays8[i / 8], i % 8, s);
        ESPY_FILL_PACKET(&job->rays16[i / 16], i % 16, s);
    }
    memset(job->blocked, 0, job->count / 8);
}

static void espyJob_Run(espyBenchJob* job, espyBenchWay way)
{
    static const int all[16] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    switch (way)
    {
    case espyBenchWay_Ours:
        for (uint32_t i = 0; i < job->count; i += ESPY_GROUP)
        {
            if (job->closest)
            {
                espyiBvh_ClosestMany(job->bvh, &job->segments[i], ESPY_GROUP, (espyiSkip){0, 0}, &job->hits[i]);
            }
            else
            {
                uint64_t bits;
                espyiBvh_OccludedMany(job->bvh, &job->segments[i], ESPY_GROUP, (espyiSkip){0, 0}, &bits);
                job->blocked[i / 64] |= bits << (i % 64);
            }
        }
        break;
    case espyBenchWay_One:
        for (uint32_t i = 0; i < job->count; ++i)
        {
            if (job->closest)
            {
                rtcIntersect1(job->scene, &context, &job->single[i]);
            }
            else
            {
                rtcOccluded1(job->scene, &context, &job->any[i]);
            }
        }
        break;
    case espyBenchWay_Packet4:
        for (uint32_t i = 0; i < job->count / 4; ++i)
        {
            rtcOccluded4(all, job->scene, &context, &job->rays4[i]);
        }
        break;
    case espyBenchWay_Packet8Coherent:
        context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
        // Falls through: the same calls with the flag set.
        __attribute__((fallthrough));
    case espyBenchWay_Packet8:
        for (uint32_t i = 0; i < job->count / 8; ++i)
        {
            rtcOccluded8(all, job->scene, &context, &job->rays8[i]);
        }
        break;
    case espyBenchWay_Packet16:
        for (uint32_t i = 0; i < job->count / 16; ++i)
        {
            rtcOccluded16(all, job->scene, &context, &job->rays16[i]);
        }
        break;
    case espyBenchWay_StreamCoherent:
        context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
        for (uint32_t i = 0; i < job->count; i += ESPY_GROUP)
        {
            rtcOccluded1M(job->scene, &context, &job->any[i], ESPY_GROUP, sizeof(struct RTCRay));
        }
        break;
    }
}

typedef struct espyBenchThread
{
    espyBenchJob job;
    espyBenchWay way;
    double seconds;
} espyBenchThread;

static void* espyBench_Thread(void* argument)
{
    espyBenchThread* self = argument;
    double start = espyiClock_ThreadCpuSeconds();
    espyJob_Run(&self->job, self->way);
    self->seconds = espyiClock_ThreadCpuSeconds() - start;
    return NULL;
}

/// CPU seconds of one run; with two threads each takes half of the rays, and the slower one counts.
static double espyBench_Time(espyBenchJob* job, espyBenchWay way, uint32_t threads)
{
    espyJob_Fill(job);
    espyBenchThread parts[2];
    pthread_t handles[2];
    double slowest = 0.0;
    for (uint32_t i = 0; i < threads; ++i)
    {
        uint32_t count = job->count / threads, first = i * count;
        parts[i] = (espyBenchThread){.job = *job, .way = way};
        parts[i].job.count = count;
        parts[i].job.segments += first;
        parts[i].job.single += first;
        parts[i].job.any += first;
        parts[i].job.rays4 += first / 4;
        parts[i].job.rays8 += first / 8;
        parts[i].job.rays16 += first / 16;
        parts[i].job.blocked += first / 64;
        parts[i].job.hits += first;
        espyBench_Require(pthread_create(&handles[i], NULL, espyBench_Thread, &parts[i]) == 0, "no thread");
    }
    for (uint32_t i = 0; i < threads; ++i)
    {
        pthread_join(handles[i], NULL);
        slowest = parts[i].seconds > slowest ? parts[i].seconds : slowest;
    }
    return slowest;
}

// --- measuring

static int espyBench_CompareDoubles(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static double espyBench_Median(const double values[ESPY_RUNS])
{
    double sorted[ESPY_RUNS];
    memcpy(sorted, values, sizeof(sorted));
    qsort(sorted, ESPY_RUNS, sizeof(double), espyBench_CompareDoubles);
    return sorted[ESPY_RUNS / 2];
}

static void espyBench_Measure(espyBenchJob* job, RTCDevice device, const char* label, bool coherent, uint32_t threads)
{
    bool usable[ESPY_WAY_COUNT] = {true, true};
    if (!job->closest)
    {
        usable[espyBenchWay_Packet4] = rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_NATIVE_RAY4_SUPPORTED) != 0;
        usable[espyBenchWay_Packet8] = rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_NATIVE_RAY8_SUPPORTED) != 0;
        usable[espyBenchWay_Packet16] = rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_NATIVE_RAY16_SUPPORTED) != 0;
        usable[espyBenchWay_Packet8Coherent] = usable[espyBenchWay_Packet8] && coherent;
        usable[espyBenchWay_StreamCoherent] =
            coherent && rtcGetDeviceProperty(device, RTC_DEVICE_PROPERTY_RAY_STREAM_SUPPORTED) != 0;
    }
    double seconds[ESPY_WAY_COUNT][ESPY_RUNS];
    for (uint32_t run = 0; run < ESPY_RUNS; ++run)
    {
        for (int i = 0; i < ESPY_WAY_COUNT; ++i)
        {
            int way = run % 2 == 0 ? i : ESPY_WAY_COUNT - 1 - i;
            if (usable[way])
            {
                seconds[way][run] = espyBench_Time(job, (espyBenchWay)way, threads);
            }
        }
    }
    int best = espyBenchWay_One;
    for (int way = espyBenchWay_One; way < ESPY_WAY_COUNT; ++way)
    {
        if (usable[way] && espyBench_Median(seconds[way]) < espyBench_Median(seconds[best]))
        {
            best = way;
        }
    }
    double ratios[ESPY_RUNS];
    for (int run = 0; run < ESPY_RUNS; ++run)
    {
        ratios[run] = seconds[best][run] / seconds[espyBenchWay_Ours][run];
    }
    // Answers of the last run of ours and of single rays.
    espyBench_Time(job, espyBenchWay_Ours, 1);
    uint32_t hits = 0, different = 0;
    for (uint32_t i = 0; i < job->count; ++i)
    {
        bool ours = job->closest ? job->hits[i].triangle != UINT32_MAX : (job->blocked[i / 64] >> (i % 64)) & 1u;
        hits += ours ? 1 : 0;
        if (job->closest)
        {
            espyJob_FillRay(&job->any[i], &job->segments[i]);
        }
    }
    uint64_t* mine = malloc(job->count / 8);
    espyBench_Require(mine != NULL, "out of memory");
    memcpy(mine, job->blocked, job->count / 8);
    bool closest = job->closest;
    job->closest = false;
    espyBench_Time(job, espyBenchWay_One, 1);
    job->closest = closest;
    for (uint32_t i = 0; i < job->count; ++i)
    {
        bool ours = closest ? job->hits[i].triangle != UINT32_MAX : (mine[i / 64] >> (i % 64)) & 1u;
        different += ours != (job->any[i].tfar < 0.0f) ? 1 : 0;
    }
    free(mine);
    double rate = 1e-6 * job->count;
    printf("  %-22s %u thread%s  espy %6.2f M/s", label, threads, threads > 1 ? "s" : " ",
           rate / espyBench_Median(seconds[0]));
    for (int way = 1; way < ESPY_WAY_COUNT; ++way)
    {
        if (usable[way])
        {
            printf("  [%s] %.2f", espyBenchWayNames[way], rate / espyBench_Median(seconds[way]));
        }
    }
    printf("  ratio %.2f  (hit %.0f %%, answers differ %u)\n", espyBench_Median(ratios), 100.0 * hits / job->count,
           different);
    fflush(stdout);
}

static void espyBench_RunIsa(const espyBenchScene* s, espyiSegment* const segments[2], espyIsa isa, const char* config)
{
    if (espyIsa_Detect(isa) != isa)
    {
        printf(" %s: not on this machine\n", espyIsa_GetName(isa));
        return;
    }
    espyiSoup soup = {{s->positions, s->indices, (uint32_t)s->vertexCount, (uint32_t)(s->indexCount / 3)}, NULL};
    espyBenchJob job = {.count = ESPY_RAY_COUNT};
    espyiBvh* bvh;
    double start = espyiClock_ThreadCpuSeconds();
    espyBench_Require(espyiBvh_Build(&soup, isa, 1, NULL, NULL, &bvh) == espyResult_Ok, "cannot build");
    double built = espyiClock_ThreadCpuSeconds() - start;
    RTCDevice device = rtcNewDevice(config);
    espyBench_Require(device != NULL, "no Embree device");
    RTCScene scene = rtcNewScene(device);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    RTCGeometry geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, s->positions, 0,
                               sizeof(espyVec3), s->vertexCount);
    rtcSetSharedGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, s->indices, 0,
                               3 * sizeof(uint32_t), s->indexCount / 3);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    start = espyiClock_ThreadCpuSeconds();
    rtcCommitScene(scene);
    printf(" %s, Embree \"%s\"; build CPU s: espy %.3f, Embree %.3f; espy %.1f MB\n", espyIsa_GetName(isa), config,
           built, espyiClock_ThreadCpuSeconds() - start, 1e-6 * (double)espyiBvh_GetBytes(bvh));
    job.bvh = bvh;
    job.scene = scene;
    job.single = aligned_alloc(64, sizeof(*job.single) * ESPY_RAY_COUNT);
    job.any = aligned_alloc(64, sizeof(*job.any) * ESPY_RAY_COUNT);
    job.rays4 = aligned_alloc(64, sizeof(*job.rays4) * ESPY_RAY_COUNT / 4);
    job.rays8 = aligned_alloc(64, sizeof(*job.rays8) * ESPY_RAY_COUNT / 8);
    job.rays16 = aligned_alloc(64, sizeof(*job.rays16) * ESPY_RAY_COUNT / 16);
    job.blocked = aligned_alloc(64, ESPY_RAY_COUNT / 8);
    job.hits = aligned_alloc(64, sizeof(*job.hits) * ESPY_RAY_COUNT);
    espyBench_Require(job.single && job.any && job.rays4 && job.rays8 && job.rays16 && job.blocked && job.hits,
                      "out of memory");
    for (uint32_t threads = 1; threads <= 2; ++threads)
    {
        job.segments = segments[0];
        espyBench_Measure(&job, device, "any, one target", true, threads);
        job.segments = segments[1];
        espyBench_Measure(&job, device, "any, random lines", false, threads);
        job.closest = true;
        espyBench_Measure(&job, device, "closest, random lines", false, threads);
        job.closest = false;
    }
    free(job.single);
    free(job.any);
    free(job.rays4);
    free(job.rays8);
    free(job.rays16);
    free(job.blocked);
    free(job.hits);
    rtcReleaseScene(scene);
    rtcReleaseDevice(device);
    espyiBvh_Destroy(bvh);
}

int main(int argc, char** argv)
{
    static void (*const makers[])(espyBenchScene*, espyiRng*) = {espyScene_MakeCity, espyScene_MakeRooms,
                                                                 espyScene_MakeTerrain, espyScene_MakeSoup};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(makers); ++i)
    {
        espyBenchScene scene;
        espyiRng rng = espyiRng_Seed(i + 1);
        makers[i](&scene, &rng);
        if (argc < 2 || strcmp(argv[1], scene.name) == 0)
        {
            printf("%s: %zu triangles\n", scene.name, scene.indexCount / 3);
            espyiSegment* segments[2] = {malloc(ESPY_RAY_COUNT * sizeof(espyiSegment)),
                                         malloc(ESPY_RAY_COUNT * sizeof(espyiSegment))};
            espyBench_Require(segments[0] && segments[1], "out of memory");
            espyBench_FillCoherent(&scene, &rng, segments[0]);
            espyBench_FillRandom(&scene, &rng, segments[1]);
            espyBench_RunIsa(&scene, segments, espyIsa_Avx512, "threads=1,isa=avx512");
            espyBench_RunIsa(&scene, segments, espyIsa_Avx2, "threads=1,isa=avx2");
            espyBench_RunIsa(&scene, segments, espyIsa_Sse41, "threads=1,isa=sse4.2");
            free(segments[0]);
            free(segments[1]);
        }
        free(scene.positions);
        free(scene.indices);
    }
    return 0;
}
