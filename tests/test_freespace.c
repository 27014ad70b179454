// SPDX-License-Identifier: MIT
// Leaves and openings against sampling: a segment is free exactly where it crosses openings only.
#include "test_main.h"

#include <stdio.h>

#include "proof_kit.h"

static const espyiBoxD espyWorld = {{-40, -40, -40}, {40, 40, 40}};

static uint32_t espyTest_LeafAt(const espyiFreeSpace* space, const double p[3])
{
    int32_t at = space->nodeCount ? 0 : ~0;
    while (at >= 0)
    {
        at = space->nodes[at].child[espyiPlane_At(&space->nodes[at].plane, p) > 0 ? 0 : 1];
    }
    return (uint32_t)~at;
}

/// Distance of p from the convex polygon, measured in its plane by the edges; negative inside.
static double espyTest_OutsidePolygon(const double (*p)[3], uint32_t count, const double q[3])
{
    double normal[3] = {0, 0, 0}, worst = -1e9;
    for (uint32_t i = 1; i + 1 < count; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] += (p[i][u] - p[0][u]) * (p[i + 1][v] - p[0][v]) - (p[i][v] - p[0][v]) * (p[i + 1][u] - p[0][u]);
        }
    }
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    if (length == 0)
    {
        return 1e9;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        const double* a = p[i];
        const double* b = p[(i + 1) % count];
        double e[3], out[3], el = 0, d = 0;
        for (int k = 0; k < 3; ++k)
        {
            e[k] = b[k] - a[k];
            el += e[k] * e[k];
        }
        if (el < 1e-20)
        {
            continue;
        }
        for (int k = 0; k < 3; ++k)
        {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            out[k] = (e[u] * normal[v] - e[v] * normal[u]) / (length * sqrt(el));
            d += out[k] * (q[k] - a[k]);
        }
        worst = fmax(worst, d);
    }
    return worst;
}

/// Whether some opening from leaf a to leaf b holds the point; the answer is unsure within `eps` of its border.
static int espyTest_Opening(const espyiFreeSpace* space, uint32_t a, uint32_t b, const double q[3], double eps)
{
    int best = 0;
    for (uint32_t i = space->leafFirst[a]; i < space->leafFirst[a + 1]; ++i)
    {
        const espyiPortalRef* ref = &space->refs[i];
        if (ref->leaf == b)
        {
            double d = espyTest_OutsidePolygon((const double(*)[3])space->points + ref->first, ref->count, q);
            best = d < -eps ? 2 : (d < eps && best == 0 ? 1 : best);
        }
    }
    return best;
}

typedef struct espyCrossings
{
    uint32_t sure, open, blocked;
} espyCrossings;

/// Walks the segment leaf by leaf and compares each crossing with the triangles there.
static void espyTest_Walk(const espyKit* kit, const espyiFreeSpace* space, const double a[3], const double b[3],
                          espyCrossings* count)
{
    // All parameters where the segment meets a node plane, in order; between two of them it is in one leaf.
    static double cuts[65536];
    uint32_t cutCount = 0;
    for (uint32_t i = 0; i < space->nodeCount && cutCount < 65530; ++i)
    {
        double fa = espyiPlane_At(&space->nodes[i].plane, a), fb = espyiPlane_At(&space->nodes[i].plane, b);
        if ((fa > 0) != (fb > 0))
        {
            cuts[cutCount++] = fa / (fa - fb);
        }
    }
    for (uint32_t i = 1; i < cutCount; ++i)
    {
        for (uint32_t k = i; k > 0 && cuts[k] < cuts[k - 1]; --k)
        {
            double swap = cuts[k];
            cuts[k] = cuts[k - 1];
            cuts[k - 1] = swap;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cutCount; ++i)
    {
        // Several nodes may share a plane.
        if (kept == 0 || cuts[i] - cuts[kept - 1] > 1e-9)
        {
            cuts[kept++] = cuts[i];
        }
    }
    cutCount = kept;
    for (uint32_t i = 0; i < cutCount; ++i)
    {
        double before = i ? 0.5 * (cuts[i - 1] + cuts[i]) : 0.5 * cuts[i];
        double after = i + 1 < cutCount ? 0.5 * (cuts[i] + cuts[i + 1]) : 0.5 * (cuts[i] + 1);
        if (after - before < 1e-5)
        {
            continue;
        }
        double p[3], q[3], x[3];
        for (int k = 0; k < 3; ++k)
        {
            p[k] = a[k] + before * (b[k] - a[k]);
            q[k] = a[k] + after * (b[k] - a[k]);
            x[k] = a[k] + cuts[i] * (b[k] - a[k]);
        }
        uint32_t from = espyTest_LeafAt(space, p), to = espyTest_LeafAt(space, q);
        if (from == to)
        {
            continue;
        }
        espyReferenceScene reference = espyKit_Reference(kit);
        bool blocked = espyReference_Blocked(&reference, p, q);
        int opening = espyTest_Opening(space, from, to, x, 1e-5);
        // Near the edge of an occluder either answer will do.
        double near = 1e9;
        for (int shift = 0; shift < 6; ++shift)
        {
            double p2[3], q2[3];
            memcpy(p2, p, sizeof(p2));
            memcpy(q2, q, sizeof(q2));
            p2[shift / 2] += shift % 2 ? 2e-5 : -2e-5;
            q2[shift / 2] += shift % 2 ? 2e-5 : -2e-5;
            near = espyReference_Blocked(&reference, p2, q2) == blocked ? near : 0;
        }
        if (near == 0 || opening == 1)
        {
            continue;
        }
        if (blocked == (opening == 2))
        {
            fprintf(stderr, "leaves %u and %u at %.9g %.9g %.9g: blocked %d, opening %d\n", from, to, x[0], x[1], x[2],
                    blocked, opening);
        }
        assert_true(blocked != (opening == 2));
        count->sure += 1;
        count->open += !blocked;
        count->blocked += blocked;
    }
}

static void espyTest_OpeningsMatchTriangles(void** state)
{
    (void)state;
    espyCrossings count = {0};
    for (int kind = 0; kind < espyKitKind_Count; ++kind)
    {
        uint64_t seed = 300 + (uint64_t)kind;
        for (int s = 0; s < 25; ++s)
        {
            espyKit kit = {0};
            espyKit_RandomScene(&kit, (espyKitKind)kind, &seed);
            espyiFreeSpace* space = espyKit_Space(&kit, espyWorld);
            assert_non_null(space);
            for (int i = 0; i < 150; ++i)
            {
                double a[3], b[3];
                for (int k = 0; k < 3; ++k)
                {
                    a[k] = 14 * (espyReference_Random(&seed) - 0.5);
                    b[k] = 14 * (espyReference_Random(&seed) - 0.5);
                }
                espyTest_Walk(&kit, space, a, b, &count);
            }
            espyiFreeSpace_Destroy(space);
            espyKit_Free(&kit);
        }
    }
    print_message("%u crossings, %u open, %u blocked\n", count.sure, count.open, count.blocked);
    assert_true(count.open > 10000 && count.blocked > 2000);
}

static void espyTest_LeafBoxesHoldLeaves(void** state)
{
    (void)state;
    for (int kind = 0; kind < espyKitKind_Count; ++kind)
    {
        uint64_t seed = 500 + (uint64_t)kind;
        espyKit kit = {0};
        espyKit_RandomScene(&kit, (espyKitKind)kind, &seed);
        espyiFreeSpace* space = espyKit_Space(&kit, espyWorld);
        assert_non_null(space);
        for (int i = 0; i < 20000; ++i)
        {
            double p[3];
            for (int k = 0; k < 3; ++k)
            {
                p[k] = 12 * (espyReference_Random(&seed) - 0.5);
            }
            const espyiBoxD* box = &space->leafBoxes[espyTest_LeafAt(space, p)];
            for (int k = 0; k < 3; ++k)
            {
                assert_true(box->min[k] <= p[k] && p[k] <= box->max[k]);
            }
        }
        espyiFreeSpace_Destroy(space);
        espyKit_Free(&kit);
    }
}

static void espyTest_FlatPiecesAreJoined(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyKit_Box(&kit, 1, 2, 3, 4, 5, 6);
    espyiFreeSpace* space = espyKit_Space(&kit, espyWorld);
    espyiFreeSpaceStats stats;
    espyiFreeSpace_GetStats(space, &stats);
    assert_int_equal(stats.polygons, 6);
    assert_int_equal(stats.nodes, 6);
    assert_true(stats.snap == 0 && stats.margin == 1e-4);
    espyiFreeSpace_Destroy(space);
    espyKit_Free(&kit);
    // A floor of 20 x 20 tiles and a copy of it upside down.
    for (int i = 0; i < 800; ++i)
    {
        double x = i % 20, z = i / 20 % 20;
        const double a[3] = {x, 0, z}, b[3] = {x + 1, 0, z}, c[3] = {x + 1, 0, z + 1}, d[3] = {x, 0, z + 1};
        if (i < 400)
        {
            espyKit_AddQuad(&kit, a, b, c, d);
        }
        else
        {
            espyKit_AddQuad(&kit, d, c, b, a);
        }
    }
    space = espyKit_Space(&kit, espyWorld);
    espyiFreeSpace_GetStats(space, &stats);
    assert_true(stats.polygons < 60);
    assert_int_equal(stats.nodes, 1);
    espyiFreeSpace_Destroy(space);
    espyKit_Free(&kit);
}

/// Floats put the walls of a turned room a few steps from its floor; the room stays closed.
static void espyTest_TurnedRoomsAreClosed(void** state)
{
    (void)state;
    uint64_t seed = 9;
    uint32_t closed = 0;
    for (int i = 0; i < 40; ++i)
    {
        double m[9];
        espyKit_Rotation(&seed, m);
        espyKit kit = {0};
        // Six slabs that abut.
        const double slabs[6][6] = {{-3, -1.2, -3, 3, -1, 3}, {-3, 1, -3, 3, 1.2, 3},       {-3, -1, -3, -2.8, 1, 3},
                                    {2.8, -1, -3, 3, 1, 3},   {-2.8, -1, -3, 2.8, 1, -2.8}, {-2.8, -1, 2.8, 2.8, 1, 3}};
        for (int k = 0; k < 6; ++k)
        {
            espyKit_AddBox(&kit, slabs[k], slabs[k] + 3, m);
        }
        espyKitProver p = espyKit_Prover(&kit, espyWorld);
        closed += espyiProver_IsHidden(p.prover, espyKit_BoxD(-0.5, -0.5, -0.5, 0.5, 0.5, 0.5),
                                       espyKit_BoxD(8, 8, 8, 9, 9, 9));
        espyKitProver_Free(&p);
        espyKit_Free(&kit);
    }
    print_message("%u of 40 turned rooms are closed\n", closed);
    assert_true(closed >= 38);
}

static void espyTest_SameBitsTwice(void** state)
{
    (void)state;
    uint64_t seed = 21;
    espyKit kit = {0};
    for (int i = 0; i < 5; ++i)
    {
        espyKit_RandomScene(&kit, espyKitKind_Rotated, &seed);
    }
    espyiFreeSpace* a = espyKit_Space(&kit, espyWorld);
    espyiFreeSpace* b = espyKit_Space(&kit, espyWorld);
    assert_int_equal(a->leafCount, b->leafCount);
    assert_int_equal(a->refCount, b->refCount);
    assert_int_equal(a->pointCount, b->pointCount);
    assert_memory_equal(a->points, b->points, a->pointCount * sizeof(double[3]));
    assert_memory_equal(a->refs, b->refs, a->refCount * sizeof(espyiPortalRef));
    espyiFreeSpace_Destroy(a);
    espyiFreeSpace_Destroy(b);
    espyKit_Free(&kit);
}

/// The biggest polygons come first; a stop by size opens space, never closes it.
static void espyTest_BudgetsOnlyOpen(void** state)
{
    (void)state;
    uint64_t seed = 31;
    espyKit kit = {0};
    for (int i = 0; i < 40; ++i)
    {
        espyKit_RandomScene(&kit, espyKitKind_Rotated, &seed);
    }
    espyKit_Box(&kit, -12, 5, -12, 12, 5.5, 12);
    const uint32_t limits[5][2] = {{1, 0}, {6, 0}, {40, 0}, {0, 10}, {0, 300}};
    for (int i = 0; i < 5; ++i)
    {
        espyiSoup soup = espyKit_Soup(&kit);
        espyiFreeSpaceDef def = {.maxPolygons = limits[i][0], .maxNodes = limits[i][1]};
        espyiFreeSpace* space = NULL;
        assert_int_equal(espyiFreeSpace_Build(&soup, espyWorld, &def, &space), espyResult_Ok);
        assert_true(space->stats.droppedPolygons > 0);
        assert_true(limits[i][0] == 0 || space->stats.polygons <= limits[i][0]);
        assert_true(limits[i][1] == 0 || space->stats.nodes <= limits[i][1]);
        espyiFreeSpace_Destroy(space);
    }
    espyKit_Free(&kit);
}

typedef struct espyFailing
{
    int64_t left;
    int64_t live;
} espyFailing;

static void* espyFailing_Alloc(size_t size, size_t align, void* context)
{
    espyFailing* failing = context;
    if (failing->left-- <= 0)
    {
        return NULL;
    }
    failing->live += 1;
    void* p = NULL;
    return posix_memalign(&p, align < sizeof(void*) ? sizeof(void*) : align, size) == 0 ? p : NULL;
}

static void espyFailing_Release(void* pointer, void* context)
{
    espyFailing* failing = context;
    failing->live -= pointer != NULL;
    free(pointer);
}

static void espyTest_EveryAllocationMayFail(void** state)
{
    (void)state;
    uint64_t seed = 41;
    espyKit kit = {0};
    espyKit_RandomScene(&kit, espyKitKind_Rotated, &seed);
    espyiGrid grid = espyKit_Grid(-4, -4, -4, 2, 4, 4, 4);
    espyiSoup soup = espyKit_Soup(&kit);
    bool done = false;
    for (int64_t fail = 0; !done && fail < 100000; ++fail)
    {
        espyFailing failing = {.left = fail};
        espyHooks hooks = {.alloc = espyFailing_Alloc, .free = espyFailing_Release, .context = &failing};
        espyiFreeSpaceDef def = {.hooks = &hooks};
        espyiFreeSpace* space = NULL;
        espyiCellTree* tree = NULL;
        espyiProver* prover = NULL;
        uint32_t hidden[2] = {0};
        espyResult result = espyiFreeSpace_Build(&soup, espyWorld, &def, &space);
        result = result == espyResult_Ok ? espyiCellTree_Build(&grid, &hooks, NULL, &tree) : result;
        result = result == espyResult_Ok ? espyiProver_Create(space, tree, &grid, &hooks, NULL, &prover) : result;
        if (result == espyResult_Ok)
        {
            espyiBoxD target = espyKit_BoxD(3, 3, 3, 3.5, 3.5, 3.5);
            espyiProofTarget proof = {.bounds = target};
            espyiLadderDef ladder = {.depth = 6, .budget = 40};
            espyiProver_DriveCells(prover, target, NULL, 0, hidden, NULL);
            espyiProver_Ladder(prover, 3, &proof, &ladder, NULL);
            done = !prover->failed;
        }
        else
        {
            assert_int_equal(result, espyResult_OutOfMemory);
        }
        espyiProver_Destroy(prover);
        espyiCellTree_Destroy(tree);
        espyiFreeSpace_Destroy(space);
        assert_int_equal(failing.live, 0);
    }
    assert_true(done);
    free(grid.cells);
    espyKit_Free(&kit);
}

/// Anything may come in: built or refused, never a crash.
static void espyTest_SoupFuzz(void** state)
{
    (void)state;
    uint64_t seed = 61;
    static const double odd[] = {0, 1, -1, 1e-30, 1e30, 1e7, 3e-7, (double)INFINITY, (double)NAN, 0.5, 39.999, 40, -40};
    for (int round = 0; round < 1500; ++round)
    {
        espyKit kit = {0};
        uint32_t count = (uint32_t)(espyReference_Random(&seed) * 24);
        for (uint32_t i = 0; i < count; ++i)
        {
            double p[3][3];
            for (int v = 0; v < 3; ++v)
            {
                for (int k = 0; k < 3; ++k)
                {
                    double dice = espyReference_Random(&seed);
                    p[v][k] = dice < 0.02  ? odd[(int)(espyReference_Random(&seed) * 13) % 13]
                              : dice < 0.5 ? floor(6 * espyReference_Random(&seed))
                                           : 6 * espyReference_Random(&seed);
                    if (v == 2 && dice > 0.9)
                    {
                        // Nearly on the other edge.
                        p[v][k] = p[0][k] + 0.3 * (p[1][k] - p[0][k]) + 1e-7 * espyReference_Random(&seed);
                    }
                }
            }
            espyKit_AddTriangle(&kit, p[0], p[1], p[2]);
        }
        if (kit.triangleCount && round % 7 == 0)
        {
            kit.indices[(uint32_t)(espyReference_Random(&seed) * 3)] = round % 2 ? 0xFFFFFFFFu : kit.vertexCount;
        }
        espyKitProver p = espyKit_Prover(&kit, espyWorld);
        assert_non_null(p.prover);
        for (uint32_t i = 0; i < p.space->refCount; ++i)
        {
            assert_true(p.space->refs[i].leaf < p.space->leafCount && p.space->refs[i].count >= 3);
        }
        espyiProver_IsHidden(p.prover, espyKit_BoxD(0, 0, 0, 1, 1, 1), espyKit_BoxD(4, 4, 4, 5, 5, 5));
        espyKitProver_Free(&p);
        espyKit_Free(&kit);
    }
    espyKit none = {0};
    espyiSoup soup = espyKit_Soup(&none);
    espyiFreeSpaceDef def = {0};
    espyiFreeSpace* space = NULL;
    assert_int_equal(espyiFreeSpace_Build(&soup, espyKit_BoxD(1, 0, 0, 0, 1, 1), &def, &space),
                     espyResult_InvalidArgument);
    assert_int_equal(espyiFreeSpace_Build(&soup, espyKit_BoxD((double)NAN, 0, 0, 1, 1, 1), &def, &space),
                     espyResult_InvalidArgument);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_OpeningsMatchTriangles), cmocka_unit_test(espyTest_LeafBoxesHoldLeaves),
        cmocka_unit_test(espyTest_FlatPiecesAreJoined),    cmocka_unit_test(espyTest_TurnedRoomsAreClosed),
        cmocka_unit_test(espyTest_SameBitsTwice),          cmocka_unit_test(espyTest_BudgetsOnlyOpen),
        cmocka_unit_test(espyTest_EveryAllocationMayFail), cmocka_unit_test(espyTest_SoupFuzz),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
