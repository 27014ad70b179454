// SPDX-License-Identifier: MIT
// The hierarchy against brute force: same bits, nothing leaks, nothing outside hurts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/bvh_tree.h"
#include "reference/ray_reference.h"

static const espyIsa espyIsas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
static const espyiSkip espyNoSkip = {0, 0};

/// A soup that owns its arrays.
typedef struct espyTestSoup
{
    espyiSoup soup;
    espyVec3* positions;
    uint32_t* indices;
    uint32_t* objects;
} espyTestSoup;

static espyTestSoup espyTestSoup_Create(uint32_t triangleCount)
{
    espyTestSoup s = {.positions = calloc(3u * triangleCount + 1u, sizeof(espyVec3)),
                      .indices = calloc(3u * triangleCount + 1u, sizeof(uint32_t)),
                      .objects = calloc(triangleCount + 1u, sizeof(uint32_t))};
    assert_true(s.positions && s.indices && s.objects);
    for (uint32_t i = 0; i < 3 * triangleCount; ++i)
    {
        s.indices[i] = i;
    }
    s.soup = (espyiSoup){{s.positions, s.indices, 3 * triangleCount, triangleCount}, s.objects};
    return s;
}

static void espyTestSoup_Destroy(espyTestSoup* s)
{
    free(s->positions);
    free(s->indices);
    free(s->objects);
}

static float espyTest_Range(espyiRng* rng, float low, float high)
{
    return low + (high - low) * espyiRng_Float(rng);
}

static espyVec3 espyTest_Point(espyiRng* rng, float size)
{
    float x = espyTest_Range(rng, -size, size), y = espyTest_Range(rng, -size, size);
    return (espyVec3){x, y, espyTest_Range(rng, -size, size)};
}

/// Triangles of the given size in a box; with `snap` > 0 corners lie on a lattice, so that many share edges, planes
/// and t.
static espyTestSoup espyTestSoup_Random(espyiRng* rng, uint32_t count, float world, float size, float snap)
{
    espyTestSoup s = espyTestSoup_Create(count);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyVec3 center = espyTest_Point(rng, world);
        for (int corner = 0; corner < 3; ++corner)
        {
            espyVec3 offset = espyTest_Point(rng, size);
            espyVec3 p = {center.x + offset.x, center.y + offset.y, center.z + offset.z};
            if (snap > 0.0f)
            {
                p = (espyVec3){snap * floorf(p.x / snap), snap * floorf(p.y / snap), snap * floorf(p.z / snap)};
            }
            s.positions[3 * i + (uint32_t)corner] = p;
        }
        s.objects[i] = i % 7;
    }
    return s;
}

static espyiBvh* espyTest_Build(const espyiSoup* soup, espyIsa isa)
{
    espyiBvh* bvh = NULL;
    assert_int_equal(espyiBvh_Build(soup, isa, 1, NULL, NULL, &bvh), espyResult_Ok);
    return bvh;
}

static uint32_t espyTest_FloatBits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void espyTest_ExpectHit(bool found, const espyiHit* hit, bool wanted, const espyiHit* want)
{
    assert_int_equal(found, wanted);
    if (wanted)
    {
        // -0 and 0 are one distance.
        assert_int_equal(espyTest_FloatBits(hit->t + 0.0f), espyTest_FloatBits(want->t + 0.0f));
        assert_int_equal(hit->triangle, want->triangle);
        assert_int_equal(hit->object, want->object);
        assert_int_equal(hit->backFace, want->backFace);
    }
}

/// Every call and every instruction set against the float reference, bit for bit.
static void espyTest_Compare(const espyiSoup* soup, const espyiSegment* segments, uint32_t count, espyiSkip skip)
{
    espyiHit* wanted = calloc(count, sizeof(espyiHit));
    bool* found = calloc(count, sizeof(bool));
    espyiHit* hits = calloc(count, sizeof(espyiHit));
    uint64_t* blocked = calloc(count / 64 + 1, sizeof(uint64_t));
    assert_true(wanted && found && hits && blocked);
    for (uint32_t i = 0; i < count; ++i)
    {
        found[i] = espyRayReference_Closest(soup, &segments[i], skip, &wanted[i]);
    }
    for (size_t k = 0; k < ESPYI_ARRAY_COUNT(espyIsas); ++k)
    {
        espyiBvh* bvh = espyTest_Build(soup, espyIsas[k]);
        espyiBvh_OccludedMany(bvh, segments, count, skip, blocked);
        espyiBvh_ClosestMany(bvh, segments, count, skip, hits);
        for (uint32_t i = 0; i < count; ++i)
        {
            espyTest_ExpectHit(hits[i].triangle != UINT32_MAX, &hits[i], found[i], &wanted[i]);
            assert_int_equal((blocked[i / 64] >> (i % 64)) & 1u, found[i]);
            assert_int_equal(espyiBvh_Occluded(bvh, &segments[i], skip), found[i]);
            espyiHit hit = {0};
            espyTest_ExpectHit(espyiBvh_Closest(bvh, &segments[i], skip, &hit), &hit, found[i], &wanted[i]);
        }
        // Twice with one list, so that the second time all that it holds is tried.
        espyiBlockers blockers = {0};
        for (int round = 0; round < 2; ++round)
        {
            espyiBvh_OccludedAgain(bvh, segments, count, skip, &blockers, blocked);
            for (uint32_t i = 0; i < count; ++i)
            {
                assert_int_equal((blocked[i / 64] >> (i % 64)) & 1u, found[i]);
            }
        }
        espyiBvh_Destroy(bvh);
    }
    free(wanted);
    free(found);
    free(hits);
    free(blocked);
}

static espyiSegment espyTest_Segment(espyVec3 from, espyVec3 to, float tMin, float tMax)
{
    return (espyiSegment){from, tMin, {to.x - from.x, to.y - from.y, to.z - from.z}, tMax};
}

/// Random segments: free ones, ones between corners, ones along axes, ones that start on a triangle.
static void espyTest_FillSegments(espyiRng* rng, const espyiSoup* soup, float world, espyiSegment* out, uint32_t count)
{
    uint32_t vertexCount = soup->triangles.vertexCount;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyVec3 a = espyTest_Point(rng, world * 1.2f), b = espyTest_Point(rng, world * 1.2f);
        uint32_t kind = espyiRng_Below(rng, 6);
        if (vertexCount > 0 && (kind == 1 || kind == 2))
        {
            b = soup->triangles.positions[espyiRng_Below(rng, vertexCount)];
        }
        if (vertexCount > 0 && (kind == 2 || kind == 3))
        {
            a = soup->triangles.positions[espyiRng_Below(rng, vertexCount)];
        }
        if (kind == 4)
        {
            a = (espyVec3){floorf(a.x), floorf(a.y), floorf(a.z)};
            b = a;
            (&b.x)[espyiRng_Below(rng, 3)] += espyTest_Range(rng, -world, world);
        }
        out[i] = espyTest_Segment(a, b, kind == 5 ? espyTest_Range(rng, -1.0f, 1.0f) : 0.0f,
                                  kind == 0 ? INFINITY : espyTest_Range(rng, 0.5f, 2.0f));
    }
}

static void espyTest_MatchesFloatReference(void** state)
{
    (void)state;
    const uint64_t seed = 20261130;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    static const float snaps[] = {0.0f, 1.0f, 0.0f, 0.25f};
    for (uint32_t scene = 0; scene < 24; ++scene)
    {
        float world = scene % 3 == 0 ? 10.0f : scene % 3 == 1 ? 100.0f : 16384.0f;
        float size = world * espyTest_Range(&rng, 0.02f, 0.4f);
        espyTestSoup s = espyTestSoup_Random(&rng, 1 + espyiRng_Below(&rng, 600), world, size, snaps[scene % 4]);
        espyiSegment segments[150];
        espyTest_FillSegments(&rng, &s.soup, world, segments, ESPYI_ARRAY_COUNT(segments));
        espyTest_Compare(&s.soup, segments, ESPYI_ARRAY_COUNT(segments), espyNoSkip);
        espyTestSoup_Destroy(&s);
    }
}

static void espyTest_MatchesDoubleReference(void** state)
{
    (void)state;
    const uint64_t seed = 77001;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    uint32_t judged = 0, hits = 0, total = 0;
    for (uint32_t scene = 0; scene < 20; ++scene)
    {
        float world = scene % 2 == 0 ? 10.0f : 1000.0f;
        espyTestSoup s = espyTestSoup_Random(&rng, 200, world, world * 0.3f, 0.0f);
        espyiBvh* bvh = espyTest_Build(&s.soup, espyIsa_Auto);
        for (uint32_t i = 0; i < 500; ++i, ++total)
        {
            espyVec3 a = espyTest_Point(&rng, world), b = espyTest_Point(&rng, world);
            espyiSegment segment = espyTest_Segment(a, b, 0.0f, 1.0f);
            espyRayReferenceDouble want = espyRayReference_ClosestInDouble(&s.soup, &segment, espyNoSkip);
            if (want.doubtful)
            {
                continue;
            }
            ++judged;
            hits += want.hit ? 1 : 0;
            espyiHit hit;
            assert_int_equal(espyiBvh_Occluded(bvh, &segment, espyNoSkip), want.hit);
            assert_int_equal(espyiBvh_Closest(bvh, &segment, espyNoSkip, &hit), want.hit);
            if (want.hit)
            {
                assert_true(fabs((double)hit.t - want.t) < 1e-3);
                // Two triangles may cross within rounding of each other on this very segment.
                if (hit.triangle == want.triangle)
                {
                    assert_int_equal(hit.backFace, want.backFace);
                }
                else
                {
                    assert_true(fabs((double)hit.t - want.t) < 1e-5);
                }
            }
        }
        espyiBvh_Destroy(bvh);
        espyTestSoup_Destroy(&s);
    }
    printf("judged %u of %u, hits %u\n", judged, total, hits);
    assert_true(judged > total / 2 && hits > judged / 10);
}

/// A closed mesh around the origin: a cube's faces cut into quads of two triangles, pushed onto a sphere and made
/// bumpy.
static espyTestSoup espyTestSoup_Closed(espyiRng* rng, uint32_t steps, float radius, float bump)
{
    espyTestSoup s = espyTestSoup_Create(12 * steps * steps);
    float bumps[256];
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(bumps); ++i)
    {
        bumps[i] = 1.0f + bump * espyTest_Range(rng, -1.0f, 1.0f);
    }
    uint32_t count = 0;
    for (uint32_t face = 0; face < 6; ++face)
    {
        for (uint32_t cell = 0; cell < steps * steps; ++cell)
        {
            espyVec3 corner[4];
            for (uint32_t k = 0; k < 4; ++k)
            {
                // Lattice coordinates on the cube are the identity of a corner: equal ones give equal points.
                int32_t n = (int32_t)steps;
                int32_t u = 2 * (int32_t)(cell % steps + (k & 1u)) - n, v = 2 * (int32_t)(cell / steps + (k >> 1)) - n;
                int32_t lattice[3];
                lattice[face / 2] = face % 2 != 0 ? n : -n;
                lattice[(face / 2 + 1) % 3] = u;
                lattice[(face / 2 + 2) % 3] = v;
                float x = (float)lattice[0], y = (float)lattice[1], z = (float)lattice[2];
                uint32_t hash = (uint32_t)(lattice[0] * 73856093) ^ (uint32_t)(lattice[1] * 19349663) ^
                                (uint32_t)(lattice[2] * 83492791);
                float scale = radius / sqrtf(x * x + y * y + z * z) * bumps[(hash >> 3) & 255u];
                corner[k] = (espyVec3){x * scale, y * scale, z * scale};
            }
            const uint32_t order[6] = {0, 1, 3, 0, 3, 2};
            for (uint32_t k = 0; k < 6; ++k)
            {
                s.positions[count++] = corner[order[k]];
            }
        }
    }
    return s;
}

/// Segments from inside a closed mesh, through its corners and edges, to far outside: not one may get out.
static void espyTest_NothingLeaks(void** state)
{
    (void)state;
    const uint64_t seed = 424242;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    static const float radii[] = {1.0f, 50.0f, 8000.0f, 0.001f};
    uint32_t total = 0;
    for (size_t mesh = 0; mesh < ESPYI_ARRAY_COUNT(radii); ++mesh)
    {
        float radius = radii[mesh];
        espyTestSoup s = espyTestSoup_Closed(&rng, 12, radius, 0.2f);
        // Far from the origin the corners are rounded, and the same corner still lies at the same place.
        espyVec3 shift = mesh == 1 ? (espyVec3){16000.0f, -300.0f, 7777.0f} : (espyVec3){0.0f, 0.0f, 0.0f};
        for (uint32_t i = 0; i < s.soup.triangles.vertexCount; ++i)
        {
            espyVec3* p = &s.positions[i];
            *p = (espyVec3){p->x + shift.x, p->y + shift.y, p->z + shift.z};
        }
        espyiBvh* bvhs[ESPYI_ARRAY_COUNT(espyIsas)];
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(espyIsas); ++k)
        {
            bvhs[k] = espyTest_Build(&s.soup, espyIsas[k]);
        }
        for (uint32_t batch = 0; batch < 4200; ++batch)
        {
            espyiSegment segments[64];
            for (uint32_t i = 0; i < 64; ++i)
            {
                espyVec3 from = espyTest_Point(&rng, 0.3f * radius);
                from = (espyVec3){from.x + shift.x, from.y + shift.y, from.z + shift.z};
                uint32_t triangle = espyiRng_Below(&rng, s.soup.triangles.triangleCount);
                const espyVec3* p = &s.positions[3 * triangle];
                espyVec3 to = p[0];
                if (i % 2 != 0)
                {
                    float w = espyiRng_Float(&rng);
                    to = (espyVec3){p[0].x + w * (p[1].x - p[0].x), p[0].y + w * (p[1].y - p[0].y),
                                    p[0].z + w * (p[1].z - p[0].z)};
                }
                segments[i] = espyTest_Segment(from, to, 0.0f, 10.0f);
                if (i % 8 == 0)
                {
                    // From the very middle, exactly along the lattice directions of corners.
                    segments[i].origin = shift;
                    segments[i].direction = (espyVec3){to.x - shift.x, to.y - shift.y, to.z - shift.z};
                }
            }
            uint64_t blocked = 0;
            espyiBvh_OccludedMany(bvhs[batch % ESPYI_ARRAY_COUNT(espyIsas)], segments, 64, espyNoSkip, &blocked);
            assert_true(blocked == UINT64_MAX);
            total += 64;
        }
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(espyIsas); ++k)
        {
            espyiBvh_Destroy(bvhs[k]);
        }
        espyTestSoup_Destroy(&s);
    }
    printf("%u segments, none leaks\n", total);
    assert_true(total > 1000000);
}

/// All of a pinwheel's triangles share one corner, at which every segment aims.
static void espyTest_FanHasNoHole(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(5);
    for (uint32_t round = 0; round < 400; ++round)
    {
        const uint32_t blades = 37;
        espyTestSoup s = espyTestSoup_Create(blades);
        espyVec3 middle = espyTest_Point(&rng, 100.0f);
        espyVec3 rim[64];
        for (uint32_t i = 0; i < blades; ++i)
        {
            float angle = 6.2831853f * (float)i / (float)blades;
            rim[i] = (espyVec3){middle.x + cosf(angle), middle.y + 0.1f * espyTest_Range(&rng, -1.0f, 1.0f),
                                middle.z + sinf(angle)};
        }
        for (uint32_t i = 0; i < blades; ++i)
        {
            s.positions[3 * i] = middle;
            s.positions[3 * i + 1] = rim[i];
            s.positions[3 * i + 2] = rim[(i + 1) % blades];
        }
        espyiBvh* bvh = espyTest_Build(&s.soup, espyIsa_Auto);
        for (uint32_t i = 0; i < 64; ++i)
        {
            espyVec3 from = {middle.x + espyTest_Range(&rng, -0.3f, 0.3f), middle.y + 30.0f,
                             middle.z + espyTest_Range(&rng, -0.3f, 0.3f)};
            espyiSegment segment = espyTest_Segment(from, middle, 0.0f, 2.0f);
            assert_true(espyiBvh_Occluded(bvh, &segment, espyNoSkip));
        }
        espyiBvh_Destroy(bvh);
        espyTestSoup_Destroy(&s);
    }
}

static void espyTest_AlikeSegmentsMatchSingles(void** state)
{
    (void)state;
    const uint64_t seed = 90210;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    uint32_t blockedCount = 0, total = 0;
    for (uint32_t scene = 0; scene < 8; ++scene)
    {
        espyTestSoup s =
            espyTestSoup_Random(&rng, 4000, 50.0f, scene % 2 != 0 ? 1.0f : 8.0f, scene % 4 == 3 ? 0.5f : 0);
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(espyIsas); ++k)
        {
            espyiBvh* bvh = espyTest_Build(&s.soup, espyIsas[k]);
            for (uint32_t group = 0; group < 60; ++group)
            {
                espyiSegment segments[150];
                uint32_t count = 1 + espyiRng_Below(&rng, 150);
                espyVec3 cell = espyTest_Point(&rng, 50.0f), target = espyTest_Point(&rng, 50.0f);
                espyiSkip skip = {espyiRng_Below(&rng, 7), espyiRng_Below(&rng, 3)};
                for (uint32_t i = 0; i < count; ++i)
                {
                    espyVec3 offset = espyTest_Point(&rng, 2.0f);
                    espyVec3 from = {cell.x + offset.x, cell.y + offset.y, cell.z + offset.z};
                    segments[i] = espyTest_Segment(from, target, 0.0f, espyTest_Range(&rng, 0.5f, 1.0f));
                }
                segments[espyiRng_Below(&rng, count)].direction.x = NAN;
                uint64_t blocked[3] = {0};
                espyiBvh_OccludedMany(bvh, segments, count, skip, blocked);
                for (uint32_t i = 0; i < count; ++i, ++total)
                {
                    bool single = espyiBvh_Occluded(bvh, &segments[i], skip);
                    assert_int_equal((blocked[i / 64] >> (i % 64)) & 1u, single);
                    blockedCount += single ? 1 : 0;
                }
                // Bits past the count stay 0.
                assert_true(count % 64 == 0 || blocked[count / 64] >> (count % 64) == 0);
            }
            espyiBvh_Destroy(bvh);
        }
        espyTestSoup_Destroy(&s);
    }
    assert_true(blockedCount > total / 10 && blockedCount < total - total / 10);
}

static void espyTest_SkipLeavesOutObjects(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(31);
    espyTestSoup s = espyTestSoup_Random(&rng, 300, 10.0f, 4.0f, 0.0f);
    espyiSegment segments[100];
    espyTest_FillSegments(&rng, &s.soup, 10.0f, segments, ESPYI_ARRAY_COUNT(segments));
    static const espyiSkip skips[] = {{0, 1}, {3, 2}, {0, 7}, {6, UINT32_MAX}, {UINT32_MAX, UINT32_MAX}, {2, 0}};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(skips); ++i)
    {
        espyTest_Compare(&s.soup, segments, ESPYI_ARRAY_COUNT(segments), skips[i]);
    }
    espyTestSoup_Destroy(&s);
}

static uint64_t espyTest_HashTree(const espyiBvh* bvh)
{
    const espyiBvhTree* tree = espyiBvh_GetTree(bvh);
    uint64_t hash = espyiHash_U64(tree->nodeCount, tree->leafCount);
    hash = espyiHash_Bytes(hash, tree->nodes, tree->nodeCount * sizeof(espyiBvhNode));
    return espyiHash_Bytes(hash, tree->leaves, tree->leafCount * sizeof(espyiBvhLeaf));
}

static void espyTest_TreeIsTheSameForAnyThreads(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(8);
    espyTestSoup s = espyTestSoup_Random(&rng, 60000, 100.0f, 1.0f, 0.5f);
    uint64_t hashes[4];
    static const uint32_t threads[] = {0, 1, 2, 7};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(threads); ++i)
    {
        espyiBvh* bvh = NULL;
        assert_int_equal(espyiBvh_Build(&s.soup, espyIsa_Auto, threads[i], NULL, NULL, &bvh), espyResult_Ok);
        hashes[i] = espyTest_HashTree(bvh);
        assert_true(hashes[i] == hashes[0]);
        espyiBvh_Destroy(bvh);
    }
    espyTestSoup_Destroy(&s);
}

static void espyTest_StartsOnSurfaces(void** state)
{
    (void)state;
    // A floor of two triangles at y = 2, and a segment that starts on it, lies in it, ends on it, or passes.
    const espyVec3 positions[] = {
        {-50.0f, 2.0f, -50.0f}, {50.0f, 2.0f, -50.0f}, {50.0f, 2.0f, 50.0f}, {-50.0f, 2.0f, 50.0f}};
    const uint32_t indices[] = {0, 2, 1, 0, 3, 2};
    const espyiSoup soup = {{positions, indices, 4, 2}, NULL};
    const espyiSegment segments[] = {
        {{1.0f, 2.0f, 3.0f}, 0.0f, {0.1f, 1.0f, 0.3f}, 100.0f},     // starts on it, goes up
        {{1.0f, 2.0f, 3.0f}, 0.0f, {0.7f, -1e-3f, 0.3f}, 100.0f},   // starts on it, goes down, flat
        {{1.0f, 2.0f, 3.0f}, 0.0f, {1.0f, 0.0f, 0.25f}, 100.0f},    // runs in it
        {{1.0f, 2.0f, 3.0f}, 0.0f, {-0.0f, -0.0f, -1.0f}, 100.0f},  // runs in it, negative zeros
        {{1.0f, 4.0f, 3.0f}, 0.0f, {0.0f, -1.0f, 0.0f}, 2.0f},      // ends on it
        {{1.0f, 4.0f, 3.0f}, 0.0f, {0.0f, -1.0f, -0.0f}, 2.0001f},  // passes
        {{1.0f, 4.0f, 3.0f}, 0.0f, {0.0f, 1.0f, 0.0f}, 100.0f},     // goes away
        {{1.0f, 1.0f, 3.0f}, 0.0f, {0.0f, 1.0f, 0.0f}, 100.0f},     // from below
        {{50.0f, 4.0f, 50.0f}, 0.0f, {0.0f, -1.0f, 0.0f}, 100.0f},  // touches a corner
        {{0.0f, 4.0f, 0.0f}, 0.0f, {0.0f, -1.0f, 0.0f}, 100.0f},    // touches the shared edge
        {{50.001f, 4.0f, 0.0f}, 0.0f, {0.0f, -1.0f, 0.0f}, 100.0f}, // misses by 1 mm
        {{1.0f, 4.0f, 3.0f}, -5.0f, {0.0f, 1.0f, 0.0f}, 0.0f},      // behind, with negative t
    };
    const bool wanted[] = {false, false, false, false, false, true, false, true, true, true, false, true};
    for (size_t k = 0; k < ESPYI_ARRAY_COUNT(espyIsas); ++k)
    {
        espyiBvh* bvh = espyTest_Build(&soup, espyIsas[k]);
        for (size_t i = 0; i < ESPYI_ARRAY_COUNT(segments); ++i)
        {
            assert_int_equal(espyiBvh_Occluded(bvh, &segments[i], espyNoSkip), wanted[i]);
        }
        espyiHit hit;
        assert_true(espyiBvh_Closest(bvh, &segments[5], espyNoSkip, &hit));
        assert_true(hit.t >= 2.0f && hit.t <= 2.0f && hit.triangle == 1 && !hit.backFace);
        assert_true(espyiBvh_Closest(bvh, &segments[7], espyNoSkip, &hit) && hit.backFace);
        // The shared edge belongs to both: the lower index wins.
        assert_true(espyiBvh_Closest(bvh, &segments[9], espyNoSkip, &hit) && hit.triangle == 0);
        espyiBvh_Destroy(bvh);
    }
    espyTest_Compare(&soup, segments, ESPYI_ARRAY_COUNT(segments), espyNoSkip);
}

static void espyTest_StrangeSegmentsAreNotBlocked(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(12);
    espyTestSoup s = espyTestSoup_Random(&rng, 500, 10.0f, 10.0f, 0.0f);
    const float strange[] = {NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-44f, 0.0f, -0.0f, 1e30f};
    enum
    {
        count = 2000
    };
    espyiSegment* segments = calloc(count, sizeof(espyiSegment));
    assert_non_null(segments);
    for (uint32_t i = 0; i < count; ++i)
    {
        segments[i] = espyTest_Segment(espyTest_Point(&rng, 12.0f), espyTest_Point(&rng, 12.0f), 0.0f, 1.0f);
        float* fields = &segments[i].origin.x;
        for (uint32_t k = 0; k < 1 + i % 3; ++k)
        {
            fields[espyiRng_Below(&rng, 8)] = strange[espyiRng_Below(&rng, ESPYI_ARRAY_COUNT(strange))];
        }
    }
    espyTest_Compare(&s.soup, segments, count, espyNoSkip);
    uint64_t blocked[count / 64 + 1];
    espyiBvh* bvh = espyTest_Build(&s.soup, espyIsa_Auto);
    espyiBvh_OccludedMany(bvh, segments, count, espyNoSkip, blocked);
    uint32_t finiteBlocked = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        const float* f = &segments[i].origin.x;
        bool bad = isnan(f[3]) || isnan(f[7]);
        for (int k = 0; k < 3; ++k)
        {
            bad = bad || !isfinite(f[k]) || !isfinite(f[4 + k]);
        }
        bool isBlocked = (blocked[i / 64] >> (i % 64)) & 1u;
        assert_false(bad && isBlocked);
        finiteBlocked += isBlocked ? 1 : 0;
    }
    assert_true(finiteBlocked > 0);
    espyiBvh_Destroy(bvh);
    free(segments);
    espyTestSoup_Destroy(&s);
}

/// Few triangles, some of them broken, in every number from 0 to 40; a tetrahedron; an index past the end.
static void report_49_few_and_broken_occluders(void** state)
{
    (void)state;
    const uint64_t seed = 49;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t count = 0; count <= 40; ++count)
    {
        for (uint32_t variant = 0; variant < 3; ++variant)
        {
            espyTestSoup s = espyTestSoup_Random(&rng, count, 10.0f, 8.0f, 0.0f);
            for (uint32_t i = 0; variant > 0 && i < count; ++i)
            {
                espyVec3* p = &s.positions[3 * i];
                switch (variant == 2 ? 1u : espyiRng_Below(&rng, 8))
                {
                case 0:
                    p[0].y = NAN;
                    break;
                case 1:
                    p[2] = p[0];
                    break;
                case 2:
                    p[1].z = -INFINITY;
                    break;
                case 3:
                    p[1] = (espyVec3){1e30f, 0.0f, 0.0f};
                    break;
                case 4:
                    s.indices[3 * i + 1] = 3 * count + i;
                    break;
                case 5:
                    // Three points of one line.
                    p[2] = (espyVec3){2.0f * p[1].x - p[0].x, 2.0f * p[1].y - p[0].y, 2.0f * p[1].z - p[0].z};
                    break;
                default:
                    break;
                }
            }
            espyiSegment segments[40];
            espyTest_FillSegments(&rng, &s.soup, 10.0f, segments, ESPYI_ARRAY_COUNT(segments));
            espyTest_Compare(&s.soup, segments, ESPYI_ARRAY_COUNT(segments), espyNoSkip);
            if (variant == 2 || count == 0)
            {
                espyiBvh* bvh = espyTest_Build(&s.soup, espyIsa_Auto);
                uint64_t blocked = 1;
                espyiBvh_OccludedMany(bvh, segments, ESPYI_ARRAY_COUNT(segments), espyNoSkip, &blocked);
                assert_true(blocked == 0 && espyiBvh_GetBytes(bvh) > 0);
                espyiBvh_Destroy(bvh);
            }
            espyTestSoup_Destroy(&s);
        }
    }
    const espyVec3 positions[] = {{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
    const uint32_t indices[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const espyiSoup tetrahedron = {{positions, indices, 4, 4}, NULL};
    const espyiSegment through = {{0.2f, 0.2f, 5.0f}, 0.0f, {0.0f, 0.0f, -1.0f}, 10.0f};
    espyiBvh* bvh = espyTest_Build(&tetrahedron, espyIsa_Auto);
    espyiHit hit;
    assert_true(espyiBvh_Closest(bvh, &through, espyNoSkip, &hit));
    assert_true(hit.triangle == 3 && !hit.backFace && fabsf(hit.t - 4.4f) < 1e-5f);
    espyiBvh_Destroy(bvh);
    espyTest_Compare(&tetrahedron, &through, 1, espyNoSkip);
}

/// Many triangles with one and the same centroid, and a scene so uneven that the tree must fall back to halving.
static void espyTest_DepthIsBounded(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(3);
    espyTestSoup s = espyTestSoup_Create(3000);
    for (uint32_t i = 0; i < 3000; ++i)
    {
        // The second half shrinks towards a point by a factor each, which invites one split a triangle.
        float size = i < 1500 ? 1.0f : powf(0.97f, (float)(i - 1500));
        espyVec3 at = i < 1500 ? (espyVec3){0.0f, 0.0f, 0.0f} : (espyVec3){100.0f * size, 0.0f, 0.0f};
        s.positions[3 * i] = (espyVec3){at.x - size, -1.0f, at.z};
        s.positions[3 * i + 1] = (espyVec3){at.x + size, 1.0f, at.z};
        s.positions[3 * i + 2] = (espyVec3){at.x, 0.0f, at.z + size};
    }
    espyiSegment segments[60];
    espyTest_FillSegments(&rng, &s.soup, 50.0f, segments, ESPYI_ARRAY_COUNT(segments));
    espyTest_Compare(&s.soup, segments, ESPYI_ARRAY_COUNT(segments), espyNoSkip);
    espyTestSoup_Destroy(&s);
}

/// Fails the allocation with the given number and counts what is still held.
typedef struct espyTestAllocator
{
    uint32_t calls, failAt, live;
} espyTestAllocator;

static void* espyTest_Alloc(size_t size, size_t align, void* context)
{
    espyTestAllocator* allocator = context;
    if (allocator->calls++ == allocator->failAt)
    {
        return NULL;
    }
    void* p = aligned_alloc(align, (size + align - 1) / align * align);
    allocator->live += p ? 1 : 0;
    return p;
}

static void espyTest_Free(void* pointer, void* context)
{
    espyTestAllocator* allocator = context;
    allocator->live -= pointer ? 1 : 0;
    free(pointer);
}

static void espyTest_EveryAllocationMayFail(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(4);
    espyTestSoup s = espyTestSoup_Random(&rng, 100, 10.0f, 4.0f, 0.0f);
    bool built = false;
    for (uint32_t failAt = 0; !built; ++failAt)
    {
        espyTestAllocator allocator = {.failAt = failAt};
        espyHooks hooks = {.alloc = espyTest_Alloc, .free = espyTest_Free, .context = &allocator};
        espyiBvh* bvh = NULL;
        espyResult result = espyiBvh_Build(&s.soup, espyIsa_Auto, 1, &hooks, NULL, &bvh);
        built = result == espyResult_Ok;
        assert_true(built || (result == espyResult_OutOfMemory && bvh == NULL));
        assert_true(failAt < 20);
        espyiBvh_Destroy(bvh);
        assert_int_equal(allocator.live, 0);
    }
    espyTestSoup_Destroy(&s);
}

static void espyTest_RefusesNull(void** state)
{
    (void)state;
    espyiBvh* bvh = NULL;
    const espyiSoup soup = {{NULL, NULL, 0, 3}, NULL};
    assert_int_equal(espyiBvh_Build(NULL, espyIsa_Auto, 1, NULL, NULL, &bvh), espyResult_InvalidArgument);
    assert_int_equal(espyiBvh_Build(&soup, espyIsa_Auto, 1, NULL, NULL, &bvh), espyResult_InvalidArgument);
    assert_null(bvh);
    espyiBvh_Destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_MatchesFloatReference),
        cmocka_unit_test(espyTest_MatchesDoubleReference),
        cmocka_unit_test(espyTest_AlikeSegmentsMatchSingles),
        cmocka_unit_test(espyTest_NothingLeaks),
        cmocka_unit_test(espyTest_FanHasNoHole),
        cmocka_unit_test(espyTest_SkipLeavesOutObjects),
        cmocka_unit_test(espyTest_TreeIsTheSameForAnyThreads),
        cmocka_unit_test(espyTest_StartsOnSurfaces),
        cmocka_unit_test(espyTest_StrangeSegmentsAreNotBlocked),
        cmocka_unit_test(report_49_few_and_broken_occluders),
        cmocka_unit_test(espyTest_DepthIsBounded),
        cmocka_unit_test(espyTest_EveryAllocationMayFail),
        cmocka_unit_test(espyTest_RefusesNull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
