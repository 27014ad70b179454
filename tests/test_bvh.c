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
    assert_int_equal(espyiBvh_Build(soup, isa, 1, NULL, &bvh), espyResult_Ok);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_MatchesFloatReference),
        cmocka_unit_test(espyTest_MatchesDoubleReference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
