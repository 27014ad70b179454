// SPDX-License-Identifier: MIT
// Where cameras can be: never too little, closed by what is too narrow for them; what it may and may not change in
// proofs; the way out of a level that leaks.
#include "test_main.h"

#include <stdio.h>

#include "bake/viewers.h"
#include "hook_counter.h"
#include "proof_kit.h"

#define ESPY_TEST_RADIUS 0.02

typedef struct espyViewerScene
{
    espyKit kit;
    espyiGrid grid;
    espyiCellTree* tree;
    espyiFreeSpace* space;
    espyiProver* prover;
    espyiViewers viewers;
    espyReferenceScene reference;
} espyViewerScene;

static void espyViewerScene_Open(espyViewerScene* s, uint32_t cells, espyVec3 start, double radius)
{
    static const espyHooks none = {0};
    espyHooks hooks = espyiHooks_Resolve(&none);
    s->grid = espyKit_Grid(0, 0, 0, 1, cells, cells, cells);
    s->space = espyKit_Space(&s->kit, espyKit_BoxD(-40, -40, -40, 60, 60, 60));
    assert_non_null(s->space);
    assert_int_equal(espyiCellTree_Build(&s->grid, NULL, NULL, &s->tree), espyResult_Ok);
    assert_int_equal(espyiProver_Create(s->space, s->tree, &s->grid, NULL, NULL, &s->prover), espyResult_Ok);
    s->reference = espyKit_Reference(&s->kit);
    espyiSoup soup = espyKit_Soup(&s->kit);
    espyiViewersDef def = {.occluders = &soup, .points = &start, .pointCount = 1, .radius = radius, .hooks = &hooks};
    assert_int_equal(espyiViewers_Find(s->space, &def, &s->viewers), espyResult_Ok);
    espyiProver_SetViewers(s->prover, s->viewers.leaves);
}

static void espyViewerScene_Close(espyViewerScene* s)
{
    espyiViewers_Free(&s->viewers);
    espyiProver_Destroy(s->prover);
    espyiCellTree_Destroy(s->tree);
    espyiFreeSpace_Destroy(s->space);
    free(s->grid.cells);
    espyKit_Free(&s->kit);
}

static bool espyViewerScene_Holds(const espyViewerScene* s, const double p[3])
{
    return espyiBits_Get(s->viewers.leaves, espyiFreeSpace_FindLeaf(s->space, p));
}

/// A closed room of 4 x 3 x 4 m in the cells from 0 on, walls 20 cm thick outside of it.
static void espyKit_AddRoom(espyKit* kit, double x)
{
    espyKit_Box(kit, x - 0.2, -0.2, -0.2, x + 4.2, 0, 4.2);
    espyKit_Box(kit, x - 0.2, 3, -0.2, x + 4.2, 3.2, 4.2);
    espyKit_Box(kit, x - 0.2, 0, -0.2, x + 4.2, 3, 0);
    espyKit_Box(kit, x - 0.2, 0, 4, x + 4.2, 3, 4.2);
}

/// Two rooms; the wall between them is open along one upright slit.
static void espyKit_AddTwoRooms(espyKit* kit, double slit)
{
    espyKit_AddRoom(kit, 0);
    espyKit_AddRoom(kit, 4.2);
    espyKit_Box(kit, -0.2, 0, 0, 0, 3, 4);
    espyKit_Box(kit, 8.2, 0, 0, 8.4, 3, 4);
    espyKit_Box(kit, 4, 0, 0, 4.2, 3, 2);
    espyKit_Box(kit, 4, 0, 2 + slit, 4.2, 3, 4);
}

/// One room; its wall at x = 0 has a hole above the floor, 30 cm wide and so high.
static void espyKit_AddLeakyRoom(espyKit* kit, double hole)
{
    espyKit_AddRoom(kit, 0);
    espyKit_Box(kit, 4, 0, 0, 4.2, 3, 4);
    espyKit_Box(kit, -0.2, 0, 0, 0, 3, 1);
    espyKit_Box(kit, -0.2, 0, 1.3, 0, 3, 4);
    espyKit_Box(kit, -0.2, hole, 1, 0, 3, 1.3);
}

static bool espyTest_NoRay(void* context, const double from[3], const double to[3])
{
    (void)context;
    (void)from;
    (void)to;
    return false;
}

static espyiVerdict espyTest_Climb(const espyViewerScene* s, uint32_t cell, espyiBoxD target)
{
    espyiProofTarget proof = {.bounds = target};
    espyiLadderDef def = {.depth = 14, .budget = 2000, .raysPerStep = 1, .seed = 1, .tryRay = espyTest_NoRay};
    espyiVerdict verdict = espyiProver_Ladder(s->prover, cell, &proof, &def, NULL);
    def.deep = true;
    assert_int_equal(espyiProver_Ladder(s->prover, cell, &proof, &def, NULL), verdict);
    return verdict;
}

/// A slit too narrow for cameras still lets light through: where cameras can be says nothing of windows and exit faces.
static void espyTest_SightPassesWhereCamerasDoNot(void** state)
{
    (void)state;
    espyViewerScene s = {0};
    espyKit_AddTwoRooms(&s.kit, 0.01);
    espyViewerScene_Open(&s, 8, (espyVec3){1, 1, 1}, ESPY_TEST_RADIUS);
    const double here[3] = {2, 1.5, 2}, there[3] = {6, 1.5, 2};
    assert_true(espyViewerScene_Holds(&s, here));
    assert_false(espyViewerScene_Holds(&s, there));
    // Cell (2, 1, 2) looks straight through the slit at this, with 4 mm to spare on each side.
    uint32_t cell = 2 + 8 * (1 + 8 * 2);
    espyiBoxD target = espyKit_BoxD(7, 1.2, 1.9, 7.4, 1.6, 2.1);
    const double from[3] = {2.5, 1.4, 2.005}, to[3] = {7.2, 1.4, 2.005};
    assert_true(espyReference_Clearance(&s.reference, from, to) > 0.004);
    espyiBoxD camera = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]);
    assert_false(espyiProver_IsHidden(s.prover, camera, target));
    assert_int_equal(espyTest_Climb(&s, cell, target), espyiVerdict_Unknown);
    uint32_t hidden[16] = {0};
    espyiProver_DriveCells(s.prover, target, NULL, 0, hidden, NULL);
    assert_false(espyiBits_Get(hidden, cell));

    // The test has power: a prover that lets light pass only where cameras do calls it hidden.
    for (uint32_t leaf = 0; leaf < s.space->leafCount; ++leaf)
    {
        for (uint32_t i = s.space->leafFirst[leaf]; i < s.space->leafFirst[leaf + 1]; ++i)
        {
            bool viewer = espyiBits_Get(s.viewers.leaves, s.space->refs[i].leaf);
            s.space->refs[i].leaf = viewer ? s.space->refs[i].leaf : leaf;
        }
    }
    assert_int_equal(espyTest_Climb(&s, cell, target), espyiVerdict_Hidden);
    espyViewerScene_Close(&s);
}

/// Cells that hold no place for a camera, and camera boxes in them: vacuously hidden. Wider slits let cameras through.
static void espyTest_CellsWithoutCameras(void** state)
{
    (void)state;
    for (int wide = 0; wide < 2; ++wide)
    {
        espyViewerScene s = {0};
        espyKit_AddTwoRooms(&s.kit, wide ? 0.05 : 0.01);
        espyViewerScene_Open(&s, 8, (espyVec3){1, 1, 1}, ESPY_TEST_RADIUS);
        uint32_t without[16] = {0};
        assert_true(espyiViewers_MarkCells(&s.viewers, s.space, s.tree, NULL, without));
        for (uint32_t cell = 0; cell < s.grid.cellCount; ++cell)
        {
            espyiBoxD box = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]);
            bool first = box.min[0] < 4 && box.min[1] < 3 && box.min[2] < 4;
            bool second = box.max[0] > 4.2 && box.min[1] < 3 && box.min[2] < 4;
            assert_int_equal(!espyiBits_Get(without, cell), first || (wide && second));
            if (espyiBits_Get(without, cell))
            {
                assert_true(espyiProver_IsHidden(s.prover, box, espyKit_BoxD(20, 20, 20, 21, 21, 21)));
                assert_int_equal(espyTest_Climb(&s, cell, espyKit_BoxD(20, 20, 20, 21, 21, 21)), espyiVerdict_Hidden);
            }
        }
        assert_false(s.viewers.leak.open);
        espyViewerScene_Close(&s);
    }
}

static double espyTest_Around(const espyReferenceScene* scene, const double p[3])
{
    const double q[3] = {p[0], p[1], p[2] + 1e-9};
    return espyReference_Clearance(scene, p, q);
}

/// Walks as a camera would, the radius away from everything, and asks at each step. Returns the steps.
static uint32_t espyTest_Walk(espyViewerScene* s, const double start[3], double radius, uint32_t steps, uint64_t* seed)
{
    double at[3] = {start[0], start[1], start[2]};
    uint32_t done = 0;
    for (uint32_t i = 0; i < steps; ++i)
    {
        double to[3], reach = pow(10, 1 - 3 * espyReference_Random(seed));
        for (int k = 0; k < 3; ++k)
        {
            to[k] = at[k] + reach * (2 * espyReference_Random(seed) - 1);
            to[k] = fmin(fmax(to[k], -30), 50);
        }
        if (!espyReference_Blocked(&s->reference, at, to) && espyReference_Clearance(&s->reference, at, to) > radius)
        {
            memcpy(at, to, sizeof(at));
            done += 1;
            assert_true(espyViewerScene_Holds(s, at));
        }
    }
    return done;
}

/// No place that a camera can get to is missing: many posts on a floor cut its openings to pieces; random scenes.
static void espyTest_EveryPlaceIsReached(void** state)
{
    (void)state;
    uint64_t seed = 31;
    for (int posts = 0; posts < 3; ++posts)
    {
        espyViewerScene s = {0};
        espyKit_AddRoom(&s.kit, 0);
        espyKit_Box(&s.kit, -0.2, 0, 0, 0, 3, 4);
        espyKit_Box(&s.kit, 4, 0, 0, 4.2, 3, 4);
        for (int i = 0; i < 60; ++i)
        {
            double x = 0.1 + 3.8 * espyReference_Random(&seed), z = 0.1 + 3.8 * espyReference_Random(&seed);
            espyKit_Box(&s.kit, x, 0, z, x + 0.01, posts == 1 ? 3 : 0.3 + espyReference_Random(&seed), z + 0.01);
        }
        const double start[3] = {2, 2.9, 2};
        espyViewerScene_Open(&s, 4, (espyVec3){2, 2.9f, 2}, ESPY_TEST_RADIUS);
        assert_false(s.viewers.leak.open);
        uint32_t steps = espyTest_Walk(&s, start, ESPY_TEST_RADIUS, 2000, &seed), open = 0;
        for (int i = 0; i < 5000 && posts != 1; ++i)
        {
            // Every open place of the room, not only those that the walk came to.
            double p[3] = {4 * espyReference_Random(&seed), 3 * espyReference_Random(&seed),
                           4 * espyReference_Random(&seed)};
            if (espyTest_Around(&s.reference, p) > ESPY_TEST_RADIUS)
            {
                open += 1;
                assert_true(espyViewerScene_Holds(&s, p));
            }
        }
        assert_true(steps > 100 && (posts == 1 || open > 3000));
        espyViewerScene_Close(&s);
    }
    uint32_t steps = 0, barred = 0;
    for (int i = 0; i < 40; ++i)
    {
        espyViewerScene s = {0};
        espyKit_RandomScene(&s.kit, (espyKitKind)(i % espyKitKind_Count), &seed);
        double radius = 0.02 + 0.3 * espyReference_Random(&seed), start[3];
        s.reference = espyKit_Reference(&s.kit);
        for (int tries = 0; tries < 1000; ++tries)
        {
            for (int k = 0; k < 3; ++k)
            {
                start[k] = (double)(float)(10 * (espyReference_Random(&seed) - 0.5));
            }
            if (espyTest_Around(&s.reference, start) > radius)
            {
                break;
            }
        }
        espyViewerScene_Open(&s, 4, (espyVec3){(float)start[0], (float)start[1], (float)start[2]}, radius);
        steps += espyTest_Walk(&s, start, radius, 300, &seed);
        barred += s.space->leafCount - s.viewers.count;
        espyViewerScene_Close(&s);
    }
    print_message("%u steps, %u leaves out of reach\n", steps, barred);
    assert_true(steps > 2000 && barred > 500);
}

/// What is proven from where cameras can be is never contradicted by a line that starts there.
static void espyTest_HiddenFromEveryPlace(void** state)
{
    (void)state;
    uint64_t seed = 71;
    uint32_t hidden = 0, contradicted = 0, attacked = 0;
    for (int i = 0; i < 60; ++i)
    {
        espyViewerScene s = {0};
        espyKit_AddTwoRooms(&s.kit, 0.005 + 0.03 * espyReference_Random(&seed));
        for (int k = 0; k < 6; ++k)
        {
            double x = 8 * espyReference_Random(&seed), z = 3.4 * espyReference_Random(&seed);
            espyKit_Box(&s.kit, x, 0, z, x + 0.5, 2 * espyReference_Random(&seed) + 0.2, z + 0.5);
        }
        espyViewerScene_Open(&s, 8, (espyVec3){1, 2.9f, 1}, ESPY_TEST_RADIUS);
        for (int k = 0; k < 60; ++k)
        {
            uint32_t cell = (uint32_t)(espyReference_Random(&seed) * s.grid.cellCount) % s.grid.cellCount;
            espyiBoxD camera = espyiCellTree_Box(s.tree, s.tree->leafOf[cell]), target;
            for (int axis = 0; axis < 3; ++axis)
            {
                target.min[axis] = (axis == 1 ? 2.5 : axis == 0 ? 7.8 : 3.6) * espyReference_Random(&seed);
                target.max[axis] = target.min[axis] + 0.4 * espyReference_Random(&seed);
            }
            espyiProofTarget proof = {.bounds = target};
            espyiLadderDef def = {.depth = 8, .budget = 120, .deep = k % 2 != 0};
            if (espyiProver_Ladder(s.prover, cell, &proof, &def, NULL) != espyiVerdict_Hidden)
            {
                continue;
            }
            hidden += 1;
            for (int ray = 0; ray < 600; ++ray)
            {
                double from[3], to[3], through = espyReference_Random(&seed);
                for (int axis = 0; axis < 3; ++axis)
                {
                    from[axis] = camera.min[axis] + espyReference_Random(&seed) * (camera.max[axis] - camera.min[axis]);
                    to[axis] = target.min[axis] + espyReference_Random(&seed) * (target.max[axis] - target.min[axis]);
                }
                // Half of them through the slit.
                if (ray % 2 && from[0] < 4 && to[0] > 4.2)
                {
                    double w[3] = {4.1, 0, 2.001 + 0.003 * through};
                    double s0 = (w[0] - from[0]) / (to[0] - from[0]);
                    from[2] = w[2] - s0 / (1 - s0) * (to[2] - w[2]);
                }
                if (from[2] < camera.min[2] || from[2] > camera.max[2] || !espyViewerScene_Holds(&s, from))
                {
                    continue;
                }
                attacked += 1;
                contradicted += !espyReference_Blocked(&s.reference, from, to) &&
                                espyReference_Clearance(&s.reference, from, to) > 1e-6;
            }
        }
        espyViewerScene_Close(&s);
    }
    print_message("seed 71: %u hidden, %u lines, %u contradicted\n", hidden, attacked, contradicted);
    assert_int_equal(contradicted, 0);
    assert_true(hidden > 500 && attacked > 20000);
}

/// A hole in the wall: the way out is found, its narrowest opening is the hole, and all of space is in reach.
static void espyTest_LeakIsTraced(void** state)
{
    (void)state;
    for (int hole = 0; hole < 2; ++hole)
    {
        espyViewerScene s = {0};
        espyKit_AddLeakyRoom(&s.kit, hole ? 0.2 : 0);
        espyViewerScene_Open(&s, 4, (espyVec3){2, 1, 2}, ESPY_TEST_RADIUS);
        const espyiLeak* leak = &s.viewers.leak;
        const double outside[3] = {-10, 1, 2};
        assert_int_equal(leak->open, hole);
        assert_int_equal(espyViewerScene_Holds(&s, outside), hole);
        if (hole)
        {
            assert_true(leak->at[0] >= -0.21 && leak->at[0] <= 0.01);
            assert_true(fabs(leak->at[1] - 0.1) < 0.01 && fabs(leak->at[2] - 1.15) < 0.01);
            assert_true(fabs(leak->area - 0.06) < 1e-6);
            assert_true(leak->from[0] == 2 && leak->from[1] == 1 && leak->from[2] == 2);
            assert_true(leak->wayCount >= 1);
        }
        espyViewerScene_Close(&s);
    }
}

/// Starts outside the world, or none: nothing is known, and nothing is filtered.
static void espyTest_UselessStarts(void** state)
{
    (void)state;
    espyViewerScene s = {0};
    espyKit_AddRoom(&s.kit, 0);
    espyViewerScene_Open(&s, 4, (espyVec3){1000, 1, 1}, ESPY_TEST_RADIUS);
    assert_int_equal(s.viewers.count, 0);
    assert_false(s.viewers.leak.open);
    espyViewerScene_Close(&s);
}

/// Each allocation fails once: out of memory, nothing is left behind, and the next try gives the same leaves.
static void espyTest_EveryAllocationMayFail(void** state)
{
    (void)state;
    espyViewerScene s = {0};
    espyKit_AddLeakyRoom(&s.kit, 0.2);
    espyViewerScene_Open(&s, 8, (espyVec3){2, 2, 2}, ESPY_TEST_RADIUS);
    espyiSoup soup = espyKit_Soup(&s.kit);
    const espyVec3 start = {2, 2, 2};
    uint32_t without[16] = {0}, failures = 0;
    assert_true(espyiViewers_MarkCells(&s.viewers, s.space, s.tree, NULL, without));
    espyResult result = espyResult_OutOfMemory;
    for (unsigned failAt = 1; result != espyResult_Ok; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt, .once = true};
        espyHooks counted = espyHookCounter_Hooks(&counter), hooks = espyiHooks_Resolve(&counted);
        espyiViewersDef def = {
            .occluders = &soup, .points = &start, .pointCount = 1, .radius = ESPY_TEST_RADIUS, .hooks = &hooks};
        espyiViewers viewers;
        result = espyiViewers_Find(s.space, &def, &viewers);
        if (result == espyResult_Ok)
        {
            assert_int_equal(viewers.count, s.viewers.count);
            assert_memory_equal(viewers.leaves, s.viewers.leaves, espyiBits_Words(s.space->leafCount) * 4);
            // And of the cells: every allocation of the walk.
            bool marked = false;
            for (unsigned later = 1; !marked; ++later)
            {
                uint32_t cells[16] = {0};
                counter.failAt = atomic_load(&counter.calls) + later;
                marked = espyiViewers_MarkCells(&viewers, s.space, s.tree, NULL, cells);
                failures += !marked;
                assert_true(!marked || memcmp(cells, without, sizeof(cells)) == 0);
            }
        }
        else
        {
            assert_int_equal(result, espyResult_OutOfMemory);
            assert_null(viewers.leaves);
            failures += 1;
        }
        espyiViewers_Free(&viewers);
        assert_int_equal(atomic_load(&counter.blocks), 0);
        assert_true(failAt < 200);
    }
    print_message("%u allocations failed\n", failures);
    assert_true(failures >= 10);
    espyViewerScene_Close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_SightPassesWhereCamerasDoNot),
        cmocka_unit_test(espyTest_CellsWithoutCameras),
        cmocka_unit_test(espyTest_EveryPlaceIsReached),
        cmocka_unit_test(espyTest_HiddenFromEveryPlace),
        cmocka_unit_test(espyTest_LeakIsTraced),
        cmocka_unit_test(espyTest_UselessStarts),
        cmocka_unit_test(espyTest_EveryAllocationMayFail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
