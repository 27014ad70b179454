// SPDX-License-Identifier: MIT
// HIDDEN is never contradicted by a segment; what is plainly hidden is proven; the scenes that once fooled a prover.
#include "test_main.h"

#include <float.h>
#include <stdio.h>

#include "proof_kit.h"

/// A point is in the hull of two boxes where some mix of the two holds it.
static bool espyHull_Holds(const espyiBoxD* a, const espyiBoxD* b, const double p[3], double* depth)
{
    double low = 0, high = 1;
    *depth = 0;
    for (int k = 0; k < 3; ++k)
    {
        // a.min + s (b.min - a.min) <= p <= a.max + s (b.max - a.max)
        double da = b->min[k] - a->min[k], db = b->max[k] - a->max[k];
        double ra = p[k] - a->min[k], rb = p[k] - a->max[k];
        if (da > 0)
        {
            high = fmin(high, ra / da);
        }
        else if (da < 0)
        {
            low = fmax(low, ra / da);
        }
        else if (ra < 0)
        {
            return false;
        }
        if (db > 0)
        {
            low = fmax(low, rb / db);
        }
        else if (db < 0)
        {
            high = fmin(high, rb / db);
        }
        else if (rb > 0)
        {
            return false;
        }
    }
    *depth = high - low;
    return low <= high;
}

static bool espyShaft_Holds(const espyiShaft* shaft, const double p[3])
{
    for (int k = 0; k < 3; ++k)
    {
        if (p[k] < shaft->min[k] || p[k] > shaft->max[k])
        {
            return false;
        }
    }
    for (uint32_t i = 0; i < shaft->bridgeCount; ++i)
    {
        const espyiBridge* b = &shaft->bridges[i];
        if (b->n[0] * p[b->axis[0]] + b->n[1] * p[b->axis[1]] > b->w)
        {
            return false;
        }
    }
    return true;
}

static espyiBoxD espyTest_RandomBox(uint64_t* seed, double range, double size)
{
    espyiBoxD box;
    for (int k = 0; k < 3; ++k)
    {
        box.min[k] = range * (2 * espyReference_Random(seed) - 1);
        box.max[k] = box.min[k] + size * espyReference_Random(seed) + 0.01;
    }
    return box;
}

static void espyTest_HullIsEighteenPlanes(void** state)
{
    (void)state;
    uint64_t seed = 11;
    uint32_t inside = 0, checked = 0;
    for (int pair = 0; pair < 2000; ++pair)
    {
        espyiBoxD a = espyTest_RandomBox(&seed, 2, 1 + pair % 5);
        espyiBoxD b = espyTest_RandomBox(&seed, 2, 1 + pair % 3);
        espyiShaft shaft;
        espyiShaft_Set(&shaft, &a, &b, 0);
        assert_true(shaft.bridgeCount <= 12);
        for (int i = 0; i < 200; ++i)
        {
            double p[3], depth;
            for (int k = 0; k < 3; ++k)
            {
                double low = fmin(a.min[k], b.min[k]), high = fmax(a.max[k], b.max[k]);
                p[k] = low + (high - low) * (1.1 * espyReference_Random(&seed) - 0.05);
            }
            bool expected = espyHull_Holds(&a, &b, p, &depth);
            if (fabs(depth) > 1e-9)
            {
                assert_int_equal(espyShaft_Holds(&shaft, p), expected);
                inside += expected;
                checked += 1;
            }
        }
    }
    assert_true(inside > 50000 && checked - inside > 50000);
}

static void espyTest_EmptySceneHidesNothing(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyKitProver p = espyKit_Prover(&kit, espyKit_BoxD(-100, -100, -100, 100, 100, 100));
    assert_non_null(p.prover);
    // Thin targets and far ones: the shrink of the shaft once emptied it.
    double thin[] = {0, 1e-9, 1e-6, 1e-3, 1};
    for (size_t i = 0; i < 5; ++i)
    {
        for (size_t k = 0; k < 5; ++k)
        {
            espyiBoxD target = espyKit_BoxD(20, 0, 0, 20 + thin[i], thin[k], 1e-9);
            assert_false(espyiProver_IsHidden(p.prover, espyKit_BoxD(0, 0, 0, 1, 1, 1), target));
            assert_false(espyiProver_IsHidden(p.prover, espyKit_BoxD(0, 0, 0, 1e-3, 1e-3, 1e-3), target));
        }
    }
    espyKitProver_Free(&p);
}

static void espyTest_WallHides(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyKit_Box(&kit, 5, -10, -10, 5.2, 10, 10);
    espyKitProver p = espyKit_Prover(&kit, espyKit_BoxD(-100, -100, -100, 100, 100, 100));
    espyiBoxD camera = espyKit_BoxD(0, -1, -1, 2, 1, 1);
    assert_true(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(8, -1, -1, 9, 1, 1)));
    assert_true(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(5.3, -1, -1, 5.4, 1, 1)));
    // On the far side and in contact with it: hidden. Standing out of it: not.
    assert_true(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(5.2, -1, -1, 5.4, 1, 1)));
    assert_false(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(4.9, -1, -1, 5.4, 1, 1)));
    // Within the margin of the near face.
    assert_false(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(5.00005, -1, -1, 5.1, 1, 1)));
    assert_false(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(8, 9.9, -1, 9, 30, 1)));
    // Outside the world, inverted, not a number: never hidden.
    assert_false(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(80, -1, -1, 101, 1, 1)));
    assert_false(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD(9, -1, -1, 8, 1, 1)));
    assert_false(espyiProver_IsHidden(p.prover, camera, espyKit_BoxD((double)NAN, -1, -1, 9, 1, 1)));
    espyKitProver_Free(&p);
    espyKit_Free(&kit);
}

/// report_51: two wall quads that share an edge hide what stands behind the joint.
static void report_51_coplanar_quads_fuse(void** state)
{
    (void)state;
    for (int variant = 0; variant < 3; ++variant)
    {
        uint64_t seed = 5;
        double m[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (variant == 2)
        {
            espyKit_Rotation(&seed, m);
        }
        espyKit kit = {0};
        double p[6][3];
        for (int i = 0; i < 6; ++i)
        {
            double q[3] = {5, i < 3 ? -8.0 : 8.0, 8.0 * (i % 3 - 1)};
            for (int k = 0; k < 3; ++k)
            {
                p[i][k] = m[k] * q[0] + m[3 + k] * q[1] + m[6 + k] * q[2];
            }
        }
        if (variant == 1)
        {
            // A T-junction: one side of the joint is cut in two.
            const double middle[3] = {5, 0, 0};
            espyKit_AddTriangle(&kit, p[0], p[1], middle);
            espyKit_AddTriangle(&kit, p[1], p[4], middle);
            espyKit_AddTriangle(&kit, p[4], p[3], middle);
            espyKit_AddTriangle(&kit, p[3], p[0], middle);
        }
        else
        {
            espyKit_AddQuad(&kit, p[0], p[1], p[4], p[3]);
        }
        espyKit_AddQuad(&kit, p[1], p[2], p[5], p[4]);
        espyKitProver prover = espyKit_Prover(&kit, espyKit_BoxD(-50, -50, -50, 50, 50, 50));
        double camera[3], target[3];
        for (int k = 0; k < 3; ++k)
        {
            camera[k] = 0;
            target[k] = 9 * m[k];
        }
        espyiBoxD c = espyKit_BoxD(camera[0] - 0.5, camera[1] - 0.5, camera[2] - 0.5, camera[0] + 0.5, camera[1] + 0.5,
                                   camera[2] + 0.5);
        espyiBoxD t = espyKit_BoxD(target[0] - 0.5, target[1] - 0.5, target[2] - 0.5, target[0] + 0.5, target[1] + 0.5,
                                   target[2] + 0.5);
        assert_true(espyiProver_IsHidden(prover.prover, c, t));
        espyKitProver_Free(&prover);
        espyKit_Free(&kit);
    }
}

/// Breaks free space: openings whose second-longest side is below `width` lead nowhere.
static void espyTest_DropSlivers(espyiFreeSpace* space, double width)
{
    for (uint32_t leaf = 0; leaf < space->leafCount; ++leaf)
    {
        for (uint32_t i = space->leafFirst[leaf]; i < space->leafFirst[leaf + 1]; ++i)
        {
            espyiPortalRef* ref = &space->refs[i];
            uint32_t longer = 0;
            for (int k = 0; k < 3; ++k)
            {
                longer += (double)ref->max[k] - (double)ref->min[k] >= width;
            }
            ref->leaf = longer < 2 ? leaf : ref->leaf;
        }
    }
}

/// Gaps of two micrometres, most of the wall open: whatever is decided, not that it blocks.
static void espyTest_GratingIsOpen(void** state)
{
    (void)state;
    for (int thick = 0; thick < 2; ++thick)
    {
        espyKit kit = {0};
        // Near the origin 32-bit floats resolve the gaps.
        for (int i = 0; i < 300; ++i)
        {
            double y0 = 1e-6 * (3 * i), y1 = 1e-6 * (3 * i + 1);
            if (thick)
            {
                espyKit_Box(&kit, 0.5, y0, -1, 0.50001, y1, 1);
            }
            else
            {
                const double a[3] = {0.5, y0, -1}, b[3] = {0.5, y1, -1}, c[3] = {0.5, y1, 1}, d[3] = {0.5, y0, 1};
                espyKit_AddQuad(&kit, a, b, c, d);
            }
        }
        espyKit_Box(&kit, 0.5, -5, -5, 0.6, 0, 5);
        espyKit_Box(&kit, 0.5, 9e-4, -5, 0.6, 5, 5);
        espyKit_Box(&kit, 0.5, 0, -5, 0.6, 9e-4, -1);
        espyKit_Box(&kit, 0.5, 0, 1, 0.6, 9e-4, 5);
        espyKitProver p = espyKit_Prover(&kit, espyKit_BoxD(-10, -10, -10, 10, 10, 10));
        assert_non_null(p.prover);
        espyiBoxD camera = espyKit_BoxD(0, 0, -0.1, 0.1, 1e-3, 0.1), target = espyKit_BoxD(0.9, 0, -0.1, 1, 1e-3, 0.1);
        assert_false(espyiProver_IsHidden(p.prover, camera, target));
        const double from[3] = {0.05, 2e-6, 0}, to[3] = {0.95, 2e-6, 0};
        espyReferenceScene reference = espyKit_Reference(&kit);
        assert_false(espyReference_Blocked(&reference, from, to));
        // The scene has power: a prover that drops slivers calls it closed.
        espyTest_DropSlivers(p.space, 1e-5);
        assert_true(espyiProver_IsHidden(p.prover, camera, target));
        espyKitProver_Free(&p);
        espyKit_Free(&kit);
    }
}

/// Free space whose three planes were put in by hand: z = 0, and one on each side of it, turned by a hair. No occluder.
static espyKitProver espyTest_TiltedPlanes(double tilt, double offset)
{
    static const espyHooks none = {0};
    espyKitProver p = {.grid = espyKit_Grid(0, 0, 0, 1, 1, 1, 1)};
    espyHooks hooks = espyiHooks_Resolve(&none);
    espyiFreeSpace* space = espyiAlloc(&hooks, 1, sizeof(espyiFreeSpace));
    assert_non_null(space);
    space->hooks = hooks;
    space->world = espyKit_BoxD(-20, -20, -20, 20, 20, 20);
    space->rounding = 64 * DBL_EPSILON * 20;
    space->nodeCount = 3;
    space->leafCount = 4;
    space->nodes = espyiAlloc(&hooks, 3, sizeof(espyiNode));
    space->leafParents = espyiAlloc(&hooks, 4, sizeof(int32_t));
    assert_true(space->nodes && space->leafParents);
    double length = sqrt(1 + tilt * tilt);
    space->nodes[0] = (espyiNode){.plane = {{0, 0, 1}, 0, 2, 3}, .child = {1, 2}, .parent = -1};
    space->nodes[1] = (espyiNode){.plane = {{tilt / length, 0, 1 / length}, offset, 2, 0}, .child = {~0, ~1}};
    space->nodes[2] =
        (espyiNode){.plane = {{tilt / length, 0, 1 / length}, -offset, 2, 0}, .child = {~2, ~3}, .side = 1};
    const int32_t parents[4] = {1, 1, 2, 2};
    memcpy(space->leafParents, parents, sizeof(parents));
    espyiPolygonSet pieces = {0};
    espyiFreeSpaceDef def = {0};
    assert_int_equal(espyiPortals_Build(space, &pieces, NULL, &def, 1000), espyResult_Ok);
    space->stats.margin = 1e-4;
    p.space = space;
    assert_int_equal(espyiCellTree_Build(&p.grid, NULL, NULL, &p.tree), espyResult_Ok);
    assert_int_equal(espyiProver_Create(p.space, p.tree, &p.grid, NULL, NULL, &p.prover), espyResult_Ok);
    return p;
}

/// Planes that cross at 1e-8 rad once hid a strip 18 cm wide with nothing in it: a window within the tolerance of a
/// plane belongs to both of its sides.
static void espyTest_TiltedPlanesHideNothing(void** state)
{
    (void)state;
    uint64_t seed = 23;
    uint32_t strips = 0;
    for (int tilt = 3; tilt <= 12; ++tilt)
    {
        for (int offset = -3; offset <= 3; ++offset)
        {
            espyKitProver p = espyTest_TiltedPlanes(pow(10, -tilt), 1e-9 * offset);
            for (int pair = 0; pair < 300; ++pair)
            {
                // Above and below, narrower than the strip, some of them beside where the planes cross.
                double width = 0.01 + 0.2 * espyReference_Random(&seed), reach = pair % 2 ? 15 : 1;
                double x = reach * (2 * espyReference_Random(&seed) - 1), y = 2 * espyReference_Random(&seed);
                double near = pair % 3 ? 0.5 : 1e-3, far = near + 0.1;
                espyiBoxD above = espyKit_BoxD(x, y, near, x + width, y + width, far);
                espyiBoxD below = espyKit_BoxD(x, y, -far, x + width, y + width, -near);
                assert_false(espyiProver_IsHidden(p.prover, above, below));
                assert_false(espyiProver_IsHidden(p.prover, below, above));
                strips += 2;
            }
            if (tilt == 8 && offset == 1)
            {
                // The test has power: without the openings that lie on two planes at once a strip closes.
                espyTest_DropSlivers(p.space, 1);
                uint32_t lost = 0;
                for (int i = 0; i < 400; ++i)
                {
                    double x = -20 + 0.1 * i + 0.005;
                    lost += espyiProver_IsHidden(p.prover, espyKit_BoxD(x, 0, 0.5, x + 0.08, 0.1, 0.6),
                                                 espyKit_BoxD(x, 0, -0.6, x + 0.08, 0.1, -0.5));
                }
                print_message("tilted planes without openings below 1 m: %u of 400 strips closed\n", lost);
                assert_true(lost > 0);
            }
            espyKitProver_Free(&p);
        }
    }
    assert_int_equal(strips, 10 * 7 * 600);
}

/// A triangle without area, a NaN and an index past the end leave an empty scene empty.
static void espyTest_BadTrianglesBlockNothing(void** state)
{
    (void)state;
    espyKit kit = {0};
    const double a[3] = {5, 0, 0}, b[3] = {5, 10, 0}, c[3] = {5, 20, 0}, nan[3] = {(double)NAN, 0, 3};
    const double inf[3] = {5, (double)INFINITY, 3};
    espyKit_AddTriangle(&kit, a, b, c);
    espyKit_AddTriangle(&kit, a, a, a);
    espyKit_AddTriangle(&kit, a, b, nan);
    espyKit_AddTriangle(&kit, a, inf, b);
    espyKit_AddTriangle(&kit, a, b, c);
    kit.indices[14] = 1000;
    espyKitProver p = espyKit_Prover(&kit, espyKit_BoxD(-50, -50, -50, 50, 50, 50));
    assert_non_null(p.prover);
    assert_int_equal(p.space->nodeCount, 0);
    assert_false(espyiProver_IsHidden(p.prover, espyKit_BoxD(0, 0, 0, 1, 1, 1), espyKit_BoxD(9, 0, 0, 10, 1, 1)));
    espyKitProver_Free(&p);
    espyKit_Free(&kit);
}

static espyiBoxD espyTest_PairBox(uint64_t* seed, bool lattice)
{
    espyiBoxD box;
    for (int k = 0; k < 3; ++k)
    {
        box.min[k] = 12 * (espyReference_Random(seed) - 0.5);
        box.max[k] = box.min[k] + 0.02 + 1.5 * espyReference_Random(seed);
        if (lattice)
        {
            box.min[k] = 0.5 * floor(2 * box.min[k]);
            box.max[k] = box.min[k] + (espyReference_Random(seed) < 0.5 ? 0.5 : 1);
        }
    }
    return box;
}

typedef struct espyPowerResult
{
    uint32_t pairs, hidden, contradicted;
    uint64_t rays;
} espyPowerResult;

/// Random pairs over random scenes; every HIDDEN is attacked with `rays` segments.
static espyPowerResult espyTest_Attack(espyKitKind kind, uint64_t seed, uint32_t scenes, uint32_t pairs, uint64_t rays,
                                       double shrink)
{
    espyPowerResult result = {0};
    for (uint32_t s = 0; s < scenes; ++s)
    {
        espyKit kit = {0};
        espyKit_RandomScene(&kit, kind, &seed);
        espyKitProver p = espyKit_Prover(&kit, espyKit_BoxD(-40, -40, -40, 40, 40, 40));
        assert_non_null(p.prover);
        p.prover->shrink = shrink;
        espyReferenceScene reference = espyKit_Reference(&kit);
        // HIDDEN speaks of occluders moved by the snap.
        double clearance = 1e-7 + 2 * p.space->stats.snap;
        for (uint32_t i = 0; i < pairs; ++i)
        {
            espyiBoxD camera = espyTest_PairBox(&seed, kind == espyKitKind_Lattice);
            espyiBoxD target = espyTest_PairBox(&seed, kind == espyKitKind_Lattice);
            result.pairs += 1;
            if (!espyiProver_IsHidden(p.prover, camera, target))
            {
                continue;
            }
            result.hidden += 1;
            double a[2][3], b[2][3], from[3], to[3];
            memcpy(a[0], camera.min, sizeof(a[0]));
            memcpy(a[1], camera.max, sizeof(a[1]));
            memcpy(b[0], target.min, sizeof(b[0]));
            memcpy(b[1], target.max, sizeof(b[1]));
            result.rays += rays;
            if (espyReference_FindFree(&reference, (const double(*)[3])a, (const double(*)[3])b, rays, clearance, 0.01,
                                       &seed, from, to))
            {
                result.contradicted += 1;
                if (shrink == ESPYI_SHAFT_SHRINK)
                {
                    fprintf(stderr, "kind %d scene %u pair %u: free from %.9g %.9g %.9g to %.9g %.9g %.9g (%.3g)\n",
                            (int)kind, s, i, from[0], from[1], from[2], to[0], to[1], to[2],
                            espyReference_Clearance(&reference, from, to));
                }
            }
        }
        espyKitProver_Free(&p);
        espyKit_Free(&kit);
    }
    return result;
}

static void espyTest_HiddenIsNeverSeen(void** state)
{
    (void)state;
    uint64_t rays = 0;
    for (int kind = 0; kind < espyKitKind_Count; ++kind)
    {
        espyPowerResult r = espyTest_Attack((espyKitKind)kind, 1000 + (uint64_t)kind, 60, 60, 1000, ESPYI_SHAFT_SHRINK);
        print_message("kind %d: seed %d, %u pairs, %u hidden, %llu rays, %u contradicted\n", kind, 1000 + kind, r.pairs,
                      r.hidden, (unsigned long long)r.rays, r.contradicted);
        assert_int_equal(r.contradicted, 0);
        assert_true(r.hidden > 20);
        rays += r.rays;
    }
    assert_true(rays > 1000000);
}

/// The attack has power: provers broken on purpose are caught.
static void espyTest_BrokenShaftIsCaught(void** state)
{
    (void)state;
    espyPowerResult r = espyTest_Attack(espyKitKind_Slits, 77, 60, 60, 2000, 0.01);
    print_message("shaft 1 cm too thin: %u of %u proofs contradicted\n", r.contradicted, r.hidden);
    assert_true(r.contradicted > 0);
}

/// Hulls that reach into a slit by less than 2 mm: a shaft that is 1 mm too thin calls half of them closed.
static void espyTest_ShaftOneMillimetreThinIsCaught(void** state)
{
    (void)state;
    uint64_t seed = 97;
    uint32_t hidden[2] = {0, 0}, wrong[2] = {0, 0};
    for (int i = 0; i < 60; ++i)
    {
        espyKit kit = {0};
        double width = 0.002 + 0.01 * espyReference_Random(&seed);
        espyKit_Box(&kit, 0, -20, -20, 0.05, 0, 20);
        espyKit_Box(&kit, 0, width, -20, 0.05, 20, 20);
        espyKitProver p = espyKit_Prover(&kit, espyKit_BoxD(-40, -40, -40, 40, 40, 40));
        espyReferenceScene reference = espyKit_Reference(&kit);
        double low = (double)(float)width - 0.002 * espyReference_Random(&seed);
        const double a[2][3] = {{-2, low, -0.5}, {-1, low + 0.5, 0.5}}, b[2][3] = {{1, low, -0.5}, {2, low + 0.5, 0.5}};
        espyiBoxD camera = espyKit_BoxD(-2, low, -0.5, -1, low + 0.5, 0.5);
        espyiBoxD target = espyKit_BoxD(1, low, -0.5, 2, low + 0.5, 0.5);
        for (int broken = 0; broken < 2; ++broken)
        {
            p.prover->shrink = broken ? 1e-3 : ESPYI_SHAFT_SHRINK;
            if (espyiProver_IsHidden(p.prover, camera, target))
            {
                double from[3], to[3];
                hidden[broken] += 1;
                wrong[broken] += espyReference_FindFree(&reference, a, b, 20000, 1e-5, 1e-3, &seed, from, to) > 0;
            }
        }
        espyKitProver_Free(&p);
        espyKit_Free(&kit);
    }
    print_message("seed 97, shaft 1 mm too thin: %u of %u proofs contradicted; sound: %u of %u\n", wrong[1], hidden[1],
                  wrong[0], hidden[0]);
    assert_int_equal(wrong[0], 0);
    assert_true(wrong[1] > 0);
}

/// A polygon moved onto a plane in front of the target must not hide it: that is what the margin is for.
static void espyTest_SnappedPlanesNeedTheMargin(void** state)
{
    (void)state;
    espyKit kit = {0};
    const double p[8][3] = {{5, -20, -20},    {5, -20, 20},    {5, 0, 20},       {5, 0, -20},
                            {5.0002, 0, -20}, {5.0002, 0, 20}, {5.0002, 15, 20}, {5.0002, 15, -20}};
    espyKit_AddQuad(&kit, p[0], p[1], p[2], p[3]);
    espyKit_AddQuad(&kit, p[4], p[5], p[6], p[7]);
    espyiSoup soup = espyKit_Soup(&kit);
    // Holes of 1 mm may close: the second quad is put onto the first one's plane.
    espyiFreeSpaceDef def = {.smallestHole = 1e-3};
    espyKitProver prover = {.grid = espyKit_Grid(0, 0, 0, 1, 1, 1, 1)};
    assert_int_equal(espyiFreeSpace_Build(&soup, espyKit_BoxD(-50, -50, -50, 50, 50, 50), &def, &prover.space),
                     espyResult_Ok);
    assert_int_equal(espyiCellTree_Build(&prover.grid, NULL, NULL, &prover.tree), espyResult_Ok);
    assert_int_equal(espyiProver_Create(prover.space, prover.tree, &prover.grid, NULL, NULL, &prover.prover),
                     espyResult_Ok);
    assert_true(prover.space->stats.snap > 1.9e-4);
    // Between the two: seen past the first.
    espyiBoxD camera = espyKit_BoxD(0, 2, -1, 1, 3, 1), target = espyKit_BoxD(5.0001, 4, -1, 5.0001, 5, 1);
    const double from[3] = {0.5, 2.5, 0}, to[3] = {5.0001, 4.5, 0};
    espyReferenceScene reference = espyKit_Reference(&kit);
    assert_false(espyReference_Blocked(&reference, from, to));
    assert_false(espyiProver_IsHidden(prover.prover, camera, target));
    prover.space->stats.margin = 0;
    assert_true(espyiProver_IsHidden(prover.prover, camera, target));
    espyKitProver_Free(&prover);
    espyKit_Free(&kit);
}

/// Scenes moved so that a grid of 12 x 12 x 12 cells of 1 m covers them.
typedef struct espyLadderScene
{
    espyKit kit;
    espyiGrid grid;
    espyiCellTree* tree;
    espyiFreeSpace* space;
    espyiProver* prover;
    espyReferenceScene reference;
    double target[2][3];
    uint64_t rays;
} espyLadderScene;

static void espyLadderScene_Open(espyLadderScene* s, double cellSize, uint32_t cells)
{
    s->grid = espyKit_Grid(100, -50, 3, cellSize, cells, cells, cells);
    s->space = espyKit_Space(&s->kit, espyKit_BoxD(-40, -40, -40, 60, 60, 60));
    assert_non_null(s->space);
    assert_int_equal(espyiCellTree_Build(&s->grid, NULL, NULL, &s->tree), espyResult_Ok);
    assert_int_equal(espyiProver_Create(s->space, s->tree, &s->grid, NULL, NULL, &s->prover), espyResult_Ok);
    s->reference = espyKit_Reference(&s->kit);
}

static void espyLadderScene_Close(espyLadderScene* s)
{
    espyiProver_Destroy(s->prover);
    espyiCellTree_Destroy(s->tree);
    espyiFreeSpace_Destroy(s->space);
    free(s->grid.cells);
    espyKit_Free(&s->kit);
}

static bool espyLadderScene_TryRay(void* context, const double from[3], const double to[3])
{
    espyLadderScene* s = context;
    s->rays += 1;
    for (int k = 0; k < 3; ++k)
    {
        // What it aims at is the target, from the cell; both with rounding.
        assert_true(to[k] >= s->target[0][k] - 1e-4 && to[k] <= s->target[1][k] + 1e-4);
    }
    return !espyReference_Blocked(&s->reference, from, to);
}

static espyPowerResult espyTest_AttackLadder(espyKitKind kind, uint64_t seed, uint32_t scenes, uint32_t pairs,
                                             uint64_t rays, double shrink)
{
    espyPowerResult result = {0};
    for (uint32_t i = 0; i < scenes; ++i)
    {
        espyLadderScene s = {0};
        espyKit_RandomScene(&s.kit, kind, &seed);
        espyKit_Move(&s.kit, 6);
        espyLadderScene_Open(&s, 1, 12);
        s.prover->shrink = shrink;
        double clearance = 1e-6 + 2 * s.space->stats.snap;
        for (uint32_t k = 0; k < pairs; ++k)
        {
            uint32_t cell = (uint32_t)(espyReference_Random(&seed) * s.grid.cellCount) % s.grid.cellCount;
            espyiBoxD target = espyTest_PairBox(&seed, kind == espyKitKind_Lattice);
            espyiBoxD camera = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]);
            for (int axis = 0; axis < 3; ++axis)
            {
                target.min[axis] += 6;
                target.max[axis] += 6;
            }
            // Every other target has parts, with space between them that need not be hidden.
            espyiBoxD parts[5];
            uint32_t partCount = k % 4 < 2 ? 1 : 5;
            parts[0] = target;
            for (uint32_t part = 0; part < partCount && partCount > 1; ++part)
            {
                for (int axis = 0; axis < 3; ++axis)
                {
                    double size = target.max[axis] - target.min[axis];
                    parts[part].min[axis] = target.min[axis] + 0.75 * size * espyReference_Random(&seed);
                    parts[part].max[axis] = parts[part].min[axis] + 0.25 * size * espyReference_Random(&seed);
                }
            }
            espyiProofTarget proof = {.bounds = target, .parts = parts, .partCount = partCount};
            espyiLadderDef def = {.depth = 8, .budget = 120, .deep = k % 2 != 0};
            result.pairs += 1;
            if (espyiProver_Ladder(s.prover, cell, &proof, &def, NULL) != espyiVerdict_Hidden)
            {
                continue;
            }
            result.hidden += 1;
            double from[3], to[3];
            const double a[2][3] = {{camera.min[0], camera.min[1], camera.min[2]},
                                    {camera.max[0], camera.max[1], camera.max[2]}};
            result.rays += rays;
            bool seen = false;
            for (uint32_t part = 0; part < partCount && !seen; ++part)
            {
                const double b[2][3] = {{parts[part].min[0], parts[part].min[1], parts[part].min[2]},
                                        {parts[part].max[0], parts[part].max[1], parts[part].max[2]}};
                seen = espyReference_FindFree(&s.reference, a, b, rays / partCount, clearance, 0.01, &seed, from, to);
            }
            if (seen)
            {
                result.contradicted += 1;
                if (shrink == ESPYI_SHAFT_SHRINK)
                {
                    fprintf(stderr, "kind %d scene %u pair %u: free from %.9g %.9g %.9g to %.9g %.9g %.9g (%.3g)\n",
                            (int)kind, i, k, from[0], from[1], from[2], to[0], to[1], to[2],
                            espyReference_Clearance(&s.reference, from, to));
                }
            }
        }
        espyLadderScene_Close(&s);
    }
    return result;
}

static void espyTest_LadderIsNeverWrong(void** state)
{
    (void)state;
    for (int kind = 0; kind < espyKitKind_Count; ++kind)
    {
        espyPowerResult r =
            espyTest_AttackLadder((espyKitKind)kind, 2000 + (uint64_t)kind, 40, 40, 1000, ESPYI_SHAFT_SHRINK);
        print_message("ladder, kind %d: seed %d, %u pairs, %u hidden, %u contradicted\n", kind, 2000 + kind, r.pairs,
                      r.hidden, r.contradicted);
        assert_int_equal(r.contradicted, 0);
        assert_true(r.hidden > 20);
    }
}

/// Parts of three triangles each: no line to a point of them contradicts a proof, and more is proven than of the boxes
/// around them.
static void espyTest_TrianglesAreNeverWrong(void** state)
{
    (void)state;
    uint64_t seed = 61, attacked = 0;
    uint32_t hidden[2] = {0, 0}, contradicted = 0;
    for (uint32_t i = 0; i < 120; ++i)
    {
        espyLadderScene s = {0};
        espyKit_RandomScene(&s.kit, (espyKitKind)(i % espyKitKind_Count), &seed);
        espyKit_Move(&s.kit, 6);
        espyLadderScene_Open(&s, 1, 12);
        double clearance = 1e-6 + 2 * s.space->stats.snap;
        for (uint32_t k = 0; k < 30; ++k)
        {
            uint32_t cell = (uint32_t)(espyReference_Random(&seed) * s.grid.cellCount) % s.grid.cellCount;
            espyiBoxD camera = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]);
            double at[3], size = 0.2 + 2 * espyReference_Random(&seed);
            for (int axis = 0; axis < 3; ++axis)
            {
                at[axis] = 1 + 10 * espyReference_Random(&seed);
            }
            uint32_t partCount = 1 + k % 3, partFirst[4] = {0, 3, 6, 9};
            espyVec3 corners[27];
            espyiBoxD parts[3], bounds = espyKit_BoxD(1e9, 1e9, 1e9, -1e9, -1e9, -1e9);
            for (uint32_t part = 0; part < partCount; ++part)
            {
                parts[part] = espyKit_BoxD(1e9, 1e9, 1e9, -1e9, -1e9, -1e9);
                for (uint32_t v = 9 * part; v < 9 * part + 9; ++v)
                {
                    corners[v] = (espyVec3){(float)(at[0] + size * espyReference_Random(&seed)),
                                            (float)(at[1] + size * espyReference_Random(&seed)),
                                            (float)(at[2] + size * espyReference_Random(&seed))};
                    const double p[3] = {(double)corners[v].x, (double)corners[v].y, (double)corners[v].z};
                    for (int axis = 0; axis < 3; ++axis)
                    {
                        parts[part].min[axis] = fmin(parts[part].min[axis], p[axis]);
                        parts[part].max[axis] = fmax(parts[part].max[axis], p[axis]);
                        bounds.min[axis] = fmin(bounds.min[axis], p[axis]);
                        bounds.max[axis] = fmax(bounds.max[axis], p[axis]);
                    }
                }
            }
            espyiProofTarget proof = {.bounds = bounds, .parts = parts, .partCount = partCount};
            espyiLadderDef def = {.depth = 14, .budget = 300, .deep = k % 2 != 0};
            hidden[0] += espyiProver_Ladder(s.prover, cell, &proof, &def, NULL) == espyiVerdict_Hidden;
            proof.corners = corners;
            proof.partFirst = partFirst;
            if (espyiProver_Ladder(s.prover, cell, &proof, &def, NULL) != espyiVerdict_Hidden)
            {
                continue;
            }
            hidden[1] += 1;
            for (uint32_t ray = 0; ray < 900; ++ray)
            {
                const espyVec3* t = &corners[3 * (ray % (3 * partCount))];
                // A third ends on edges.
                double u = espyReference_Random(&seed), v = ray % 3 ? espyReference_Random(&seed) : 0, from[3], to[3];
                u = u + v > 1 ? 1 - u : u;
                v = u + v > 1 ? 1 - v : v;
                const double a[3] = {(double)t[0].x, (double)t[0].y, (double)t[0].z};
                const double b[3] = {(double)t[1].x, (double)t[1].y, (double)t[1].z};
                const double c[3] = {(double)t[2].x, (double)t[2].y, (double)t[2].z};
                for (int axis = 0; axis < 3; ++axis)
                {
                    to[axis] = a[axis] + u * (b[axis] - a[axis]) + v * (c[axis] - a[axis]);
                    from[axis] = camera.min[axis] + espyReference_Random(&seed) * (camera.max[axis] - camera.min[axis]);
                }
                attacked += 1;
                contradicted += !espyReference_Blocked(&s.reference, from, to) &&
                                espyReference_Clearance(&s.reference, from, to) > clearance;
            }
        }
        espyLadderScene_Close(&s);
    }
    print_message("seed 61: %u hidden by boxes, %u by triangles, %llu lines, %u contradicted\n", hidden[0], hidden[1],
                  (unsigned long long)attacked, contradicted);
    assert_int_equal(contradicted, 0);
    assert_true(attacked > 100000 && hidden[1] > hidden[0]);
}

static void espyTest_BrokenLadderIsCaught(void** state)
{
    (void)state;
    espyPowerResult thin = espyTest_AttackLadder(espyKitKind_Slits, 88, 40, 40, 2000, 0.01);
    print_message("ladder, shaft 1 cm too thin: %u of %u proofs contradicted\n", thin.contradicted, thin.hidden);
    assert_true(thin.contradicted > 0);
}

/// Two rooms and a wall with a slit 5 cm wide, 20 cm deep: the pairs that see each other through it are found.
static void espyTest_LadderLooksThroughSlits(void** state)
{
    (void)state;
    espyLadderScene s = {0};
    espyKit_Box(&s.kit, -0.2, -0.2, -0.2, 16.2, 0, 8.2);
    espyKit_Box(&s.kit, -0.2, 3, -0.2, 16.2, 3.2, 8.2);
    espyKit_Box(&s.kit, -0.2, 0, -0.2, 0, 3, 8.2);
    espyKit_Box(&s.kit, 16, 0, -0.2, 16.2, 3, 8.2);
    espyKit_Box(&s.kit, 0, 0, -0.2, 16, 3, 0);
    espyKit_Box(&s.kit, 0, 0, 8, 16, 3, 8.2);
    espyKit_Box(&s.kit, 7.9, 0, 0, 8.1, 3, 3);
    espyKit_Box(&s.kit, 7.9, 0, 3.05, 8.1, 3, 8);
    espyLadderScene_Open(&s, 1, 8);
    uint64_t seed = 4;
    uint32_t seen = 0, found = 0, missedByRays = 0, foundOfMissed = 0, closed = 0, wrong = 0;
    for (int t = 0; t < 20; ++t)
    {
        double x = 9 + 6 * espyReference_Random(&seed), z = 0.5 + 7 * espyReference_Random(&seed);
        espyiBoxD target = espyKit_BoxD(x, 0.1, z, x + 0.4, 0.9, z + 0.4);
        memcpy(s.target[0], target.min, sizeof(target.min));
        memcpy(s.target[1], target.max, sizeof(target.max));
        uint32_t hidden[16] = {0};
        espyiProver_DriveCells(s.prover, target, NULL, 0, hidden, NULL);
        for (uint32_t cell = 0; cell < s.grid.cellCount; ++cell)
        {
            espyiBoxD camera = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]);
            if (camera.max[1] > 3 || camera.max[0] > 7)
            {
                continue;
            }
            // Truth: very many segments through points of the slit.
            const double slit[2][3] = {{7.9, 0, 3}, {8.1, 3, 3.05}};
            bool visible = false, plain = false;
            const double a[2][3] = {{camera.min[0], camera.min[1], camera.min[2]},
                                    {camera.max[0], camera.max[1], camera.max[2]}};
            for (int i = 0; i < 6000 && !visible; ++i)
            {
                double from[3], w[3], to[3], low = 0, high = 1e9;
                for (int k = 0; k < 3; ++k)
                {
                    from[k] = a[0][k] + espyReference_Random(&seed) * (a[1][k] - a[0][k]);
                    w[k] = slit[0][k] + espyReference_Random(&seed) * (slit[1][k] - slit[0][k]);
                    double d = w[k] - from[k], t0 = (target.min[k] - from[k]) / d, t1 = (target.max[k] - from[k]) / d;
                    low = fmax(low, fmin(t0, t1));
                    high = fmin(high, fmax(t0, t1));
                }
                for (int k = 0; k < 3; ++k)
                {
                    to[k] = from[k] + low * (w[k] - from[k]);
                }
                visible = low <= high && !espyReference_Blocked(&s.reference, from, to);
            }
            for (int i = 0; i < 300 && !plain && visible; ++i)
            {
                double from[3], to[3];
                for (int k = 0; k < 3; ++k)
                {
                    from[k] = a[0][k] + espyReference_Random(&seed) * (a[1][k] - a[0][k]);
                    to[k] = target.min[k] + espyReference_Random(&seed) * (target.max[k] - target.min[k]);
                }
                plain = !espyReference_Blocked(&s.reference, from, to);
            }
            espyiVerdict verdict = espyiVerdict_Hidden;
            if (!espyiBits_Get(hidden, cell))
            {
                espyiProofTarget proof = {.bounds = target};
                espyiLadderDef def = {.depth = 14,
                                      .budget = 400,
                                      .raysPerStep = 16,
                                      .seed = 1,
                                      .tryRay = espyLadderScene_TryRay,
                                      .context = &s};
                verdict = espyiProver_Ladder(s.prover, cell, &proof, &def, NULL);
            }
            seen += visible;
            found += visible && verdict == espyiVerdict_Visible;
            missedByRays += visible && !plain;
            foundOfMissed += visible && !plain && verdict == espyiVerdict_Visible;
            closed += verdict == espyiVerdict_Hidden;
            wrong += visible && verdict == espyiVerdict_Hidden;
        }
    }
    print_message("slit: %u pairs see through it, %u found; %u that 300 rays a pair miss, %u of them found; "
                  "%u closed, %u wrongly\n",
                  seen, found, missedByRays, foundOfMissed, closed, wrong);
    assert_int_equal(wrong, 0);
    assert_true(seen > 100 && found >= (99 * seen + 99) / 100);
    assert_true(missedByRays > 20 && 20 * foundOfMissed >= 19 * missedByRays);
    assert_true(closed > 300);
    espyLadderScene_Close(&s);
}

/// Block answers are those of the single cells, at least; hints and limits never add any; the lattice's origin does not
/// matter (everything is relative to it).
static void espyTest_DriveCoversCells(void** state)
{
    (void)state;
    uint64_t seed = 17;
    uint32_t hiddenCells = 0;
    for (int i = 0; i < 12; ++i)
    {
        espyLadderScene s = {0};
        espyKit_RandomScene(&s.kit, i % 2 ? espyKitKind_Slits : espyKitKind_Lattice, &seed);
        espyKit_Move(&s.kit, 6);
        espyLadderScene_Open(&s, 1, 12);
        espyiBoxD target = espyTest_PairBox(&seed, false);
        for (int axis = 0; axis < 3; ++axis)
        {
            target.min[axis] += 6;
            target.max[axis] += 6;
        }
        uint32_t all[54] = {0}, some[54] = {0}, hinted[54] = {0}, visible[54] = {0};
        uint64_t work = 0;
        espyiProver_DriveCells(s.prover, target, NULL, 0, all, &work);
        espyiProver_DriveCells(s.prover, target, NULL, work / 3 + 1, some, NULL);
        visible[7] = 0xF0F0u;
        espyiProver_DriveCells(s.prover, target, visible, 0, hinted, NULL);
        for (uint32_t cell = 0; cell < s.grid.cellCount; ++cell)
        {
            espyiBoxD box = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]);
            double x = s.grid.cells[cell].x, y = s.grid.cells[cell].y, z = s.grid.cells[cell].z;
            assert_true(box.min[0] == x && box.min[1] == y && box.max[2] == z + 1);
            // A block is a bigger shaft: what it closes, each of its cells closes alone.
            assert_int_equal(espyiBits_Get(all, cell), espyiProver_IsHidden(s.prover, box, target));
            assert_true(!espyiBits_Get(some, cell) || espyiBits_Get(all, cell));
            assert_true(!espyiBits_Get(hinted, cell) || (espyiBits_Get(all, cell) && !espyiBits_Get(visible, cell)));
            hiddenCells += espyiBits_Get(all, cell);
        }
        espyLadderScene_Close(&s);
    }
    assert_true(hiddenCells > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_HullIsEighteenPlanes),
        cmocka_unit_test(espyTest_EmptySceneHidesNothing),
        cmocka_unit_test(espyTest_WallHides),
        cmocka_unit_test(report_51_coplanar_quads_fuse),
        cmocka_unit_test(espyTest_GratingIsOpen),
        cmocka_unit_test(espyTest_TiltedPlanesHideNothing),
        cmocka_unit_test(espyTest_BadTrianglesBlockNothing),
        cmocka_unit_test(espyTest_HiddenIsNeverSeen),
        cmocka_unit_test(espyTest_BrokenShaftIsCaught),
        cmocka_unit_test(espyTest_ShaftOneMillimetreThinIsCaught),
        cmocka_unit_test(espyTest_SnappedPlanesNeedTheMargin),
        cmocka_unit_test(espyTest_LadderIsNeverWrong),
        cmocka_unit_test(espyTest_TrianglesAreNeverWrong),
        cmocka_unit_test(espyTest_BrokenLadderIsCaught),
        cmocka_unit_test(espyTest_LadderLooksThroughSlits),
        cmocka_unit_test(espyTest_DriveCoversCells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
