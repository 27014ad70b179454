// SPDX-License-Identifier: MIT
// The lattice: counts by formula, oriented areas against a point test, refusals without memory, ranks both ways.
#include <stdio.h>
#include <string.h>

#include "bake/grid.h"
#include "tests/bake_case.h"
#include "tests/test_main.h"

static espyHooks espyGridTest_hooks;

static espyResult espyGridTest_Build(const espyBakeArea* areas, uint32_t count, float cellSize, uint32_t maxCells,
                                     espyiGrid* grid, espyiGridRefusal* refusal)
{
    espyiGridDef def = {.areas = areas,
                        .areaCount = count,
                        .bounds = espyBox_Empty(),
                        .cellSize = cellSize,
                        .maxCells = maxCells,
                        .hooks = &espyGridTest_hooks};
    return espyiGrid_Build(&def, grid, refusal);
}

static espyBakeArea espyGridTest_Area(float x0, float y0, float z0, float x1, float y1, float z1)
{
    espyMat4 m = espyMat4_Identity();
    m.m[0] = x1 - x0;
    m.m[5] = y1 - y0;
    m.m[10] = z1 - z0;
    m.m[12] = 0.5f * (x0 + x1);
    m.m[13] = 0.5f * (y0 + y1);
    m.m[14] = 0.5f * (z0 + z1);
    return (espyBakeArea){m};
}

static espyBakeArea espyGridTest_Turned(espyiRng* rng)
{
    float q[4], length = 0.0f;
    for (int i = 0; i < 4; ++i)
    {
        q[i] = espyiRng_Float(rng) - 0.5f;
        length += q[i] * q[i];
    }
    length = __builtin_sqrtf(length) + 1e-6f;
    for (int i = 0; i < 4; ++i)
    {
        q[i] /= length;
    }
    espyVec3 t = {20.0f * espyiRng_Float(rng), 20.0f * espyiRng_Float(rng), 20.0f * espyiRng_Float(rng)};
    espyVec3 s = {0.2f + 12.0f * espyiRng_Float(rng), 0.2f + 12.0f * espyiRng_Float(rng),
                  0.2f + 12.0f * espyiRng_Float(rng)};
    return (espyBakeArea){espyMat4_FromTrs(t, q, s)};
}

static void worked_example_has_47850_cells(void** state)
{
    (void)state;
    espyBakeArea area = espyGridTest_Area(-100, -10, 30, 130, 50, 250);
    espyiGrid grid;
    espyiGridRefusal refusal;
    assert_int_equal(espyGridTest_Build(&area, 1, 4.0f, 262144, &grid, &refusal), espyResult_Ok);
    assert_int_equal(grid.dims[0], 58);
    assert_int_equal(grid.dims[1], 15);
    assert_int_equal(grid.dims[2], 55);
    assert_int_equal(grid.cellCount, 47850);
    assert_true(grid.dense);
    assert_true(grid.origin.x == -100.0f && grid.origin.y == -10.0f && grid.origin.z == 30.0f);
    // Smallest factor with at most 512 blocks: 7 gives 9 * 3 * 8 = 216, 6 gives 10 * 3 * 10 = 300, 5 gives 12 * 3 * 11
    // = 396.
    assert_int_equal(grid.coarseFactor, 5);
    assert_int_equal(grid.coarseCount, 12 * 3 * 11);
    for (uint32_t i = 0; i < grid.cellCount; ++i)
    {
        espyiCellCoord at = grid.cells[i];
        assert_int_equal(at.x + 58u * (at.y + 15u * at.z), i);
        assert_int_equal(espyiGrid_RankAt(&grid, at.x, at.y, at.z), (int)i);
    }
    espyiGrid_Free(&grid, &espyGridTest_hooks);
}

static void whole_multiples_make_no_extra_cell(void** state)
{
    (void)state;
    // 0.1 and 0.3 are not floats; 30 / 0.3 must still be 100.
    const float sizes[][2] = {{30.0f, 0.3f}, {8.0f, 2.0f}, {7.0f, 0.7f}, {1000.0f, 0.1f}, {0.5f, 4.0f}};
    const uint32_t cells[] = {100, 4, 10, 10000, 1};
    for (uint32_t i = 0; i < 5; ++i)
    {
        espyBakeArea area = espyGridTest_Area(0.1f, 0, 0, 0.1f + sizes[i][0], 0.01f, 0.01f);
        espyiGrid grid;
        espyiGridRefusal refusal;
        assert_int_equal(espyGridTest_Build(&area, 1, sizes[i][1], 262144, &grid, &refusal), espyResult_Ok);
        assert_int_equal(grid.dims[0], cells[i]);
        espyiGrid_Free(&grid, &espyGridTest_hooks);
    }
}

static bool espyGridTest_Inside(const espyMat4* inverse, espyVec3 p, float slack)
{
    espyVec3 u = espyMat4_TransformPoint(*inverse, p);
    float most = 0.5f + slack;
    return u.x >= -most && u.x <= most && u.y >= -most && u.y <= most && u.z >= -most && u.z <= most;
}

// Every point of an area lies in a stored cell; every stored cell holds (nearly) a point of an area.
static void oriented_areas_cover_their_points(void** state)
{
    (void)state;
    const uint64_t seed = 20;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t round = 0; round < 40; ++round)
    {
        espyBakeArea areas[3];
        espyMat4 inverse[3];
        uint32_t count = 1 + round % 3;
        for (uint32_t i = 0; i < count; ++i)
        {
            areas[i] = espyGridTest_Turned(&rng);
            assert_true(espyMat4_InvertAffine(areas[i].transform, &inverse[i]));
        }
        espyiGrid grid;
        espyiGridRefusal refusal;
        assert_int_equal(espyGridTest_Build(areas, count, 1.0f, 262144, &grid, &refusal), espyResult_Ok);
        for (uint32_t k = 0; k < 3000; ++k)
        {
            espyVec3 u = {espyiRng_Float(&rng) - 0.5f, espyiRng_Float(&rng) - 0.5f, espyiRng_Float(&rng) - 0.5f};
            espyVec3 p = espyMat4_TransformPoint(areas[k % count].transform, u);
            float c[3] = {p.x - grid.origin.x, p.y - grid.origin.y, p.z - grid.origin.z};
            int32_t at[3];
            bool border = false;
            for (int axis = 0; axis < 3; ++axis)
            {
                at[axis] = (int32_t)c[axis];
                float f = c[axis] - (float)at[axis];
                border = border || f < 1e-3f || f > 0.999f;
            }
            if (!border)
            {
                assert_true(espyiGrid_RankAt(&grid, at[0], at[1], at[2]) >= 0);
            }
        }
        for (uint32_t cell = 0; cell < grid.cellCount; ++cell)
        {
            espyBox box = espyiGrid_CellBox(&grid, cell);
            bool met = false;
            // Eleven points a side, in an area grown by as much as they are apart.
            for (uint32_t k = 0; k < 11 * 11 * 11 && !met; ++k)
            {
                espyVec3 p = {box.min.x + 0.1f * (float)(k % 11), box.min.y + 0.1f * (float)(k / 11 % 11),
                              box.min.z + 0.1f * (float)(k / 121)};
                for (uint32_t i = 0; i < count && !met; ++i)
                {
                    const float* m = areas[i].transform.m;
                    float thin = __builtin_sqrtf(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
                    float y = __builtin_sqrtf(m[4] * m[4] + m[5] * m[5] + m[6] * m[6]);
                    float z = __builtin_sqrtf(m[8] * m[8] + m[9] * m[9] + m[10] * m[10]);
                    thin = y < thin ? y : thin;
                    thin = z < thin ? z : thin;
                    met = espyGridTest_Inside(&inverse[i], p, 0.09f / thin);
                }
            }
            assert_true(met);
            espyiCellCoord at = grid.cells[cell];
            assert_int_equal(espyiGrid_RankAt(&grid, at.x, at.y, at.z), (int)cell);
        }
        espyiGrid_Free(&grid, &espyGridTest_hooks);
    }
}

static void areas_apart_cost_nothing_between(void** state)
{
    (void)state;
    espyBakeArea areas[3] = {espyGridTest_Area(0, 0, 0, 8, 4, 8), espyGridTest_Area(1000, 200, 900, 1008, 204, 908),
                             espyGridTest_Area(4, 0, 4, 12, 4, 12)};
    espyiGrid grid;
    espyiGridRefusal refusal;
    assert_int_equal(espyGridTest_Build(areas, 3, 2.0f, 1000, &grid, &refusal), espyResult_Ok);
    // Two of 4 * 2 * 4; the third overlaps the first in 2 * 2 * 2.
    assert_int_equal(grid.cellCount, 32 + 32 + 32 - 8);
    assert_false(grid.dense);
    uint64_t previous = 0;
    for (uint32_t i = 0; i < grid.cellCount; ++i)
    {
        espyiCellCoord at = grid.cells[i];
        uint64_t key = at.x + 65536ull * (at.y + 65536ull * at.z);
        assert_true(i == 0 || key > previous);
        previous = key;
        assert_int_equal(espyiGrid_RankAt(&grid, at.x, at.y, at.z), (int)i);
    }
    assert_int_equal(espyiGrid_RankAt(&grid, 100, 50, 100), -1);
    assert_int_equal(espyiGrid_RankAt(&grid, -1, 0, 0), -1);
    assert_int_equal(espyiGrid_RankAt(&grid, (int32_t)grid.dims[0], 0, 0), -1);
    espyiGrid_Free(&grid, &espyGridTest_hooks);
}

static void coarse_blocks_hold_every_cell(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(3);
    for (uint32_t round = 0; round < 20; ++round)
    {
        espyBakeArea areas[2] = {espyGridTest_Turned(&rng), espyGridTest_Turned(&rng)};
        espyiGrid grid;
        espyiGridRefusal refusal;
        assert_int_equal(espyGridTest_Build(areas, 2, 0.5f, 262144, &grid, &refusal), espyResult_Ok);
        uint64_t total = (uint64_t)grid.coarseDims[0] * grid.coarseDims[1] * grid.coarseDims[2];
        uint8_t* wanted = calloc((size_t)total, 1);
        uint32_t count = 0;
        for (uint32_t i = 0; i < grid.cellCount; ++i)
        {
            espyiCellCoord at = grid.cells[i];
            uint32_t b = grid.coarseFactor;
            uint8_t* w = &wanted[at.x / b + grid.coarseDims[0] * (at.y / b + grid.coarseDims[1] * (at.z / b))];
            count += *w == 0 ? 1u : 0u;
            *w = 1;
        }
        assert_int_equal(grid.coarseCount, count);
        uint64_t previous = 0;
        for (uint32_t i = 0; i < grid.coarseCount; ++i)
        {
            espyiCellCoord at = grid.coarse[i];
            uint64_t key = at.x + grid.coarseDims[0] * (at.y + (uint64_t)grid.coarseDims[1] * at.z);
            assert_int_equal(wanted[key], 1);
            assert_true(i == 0 || key > previous);
            previous = key;
        }
        free(wanted);
        espyiGrid_Free(&grid, &espyGridTest_hooks);
    }
}

static void coarse_factor_follows_the_rule(void** state)
{
    (void)state;
    const uint32_t cases[][4] = {{1, 1, 1, 4},    {32, 32, 32, 4},     {33, 32, 32, 5},     {64, 64, 64, 8},
                                 {58, 15, 55, 5}, {128, 128, 128, 16}, {200, 200, 200, 16}, {65535, 1, 1, 16}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    {
        assert_int_equal(espyiGrid_CoarseFactor(cases[i]), cases[i][3]);
    }
}

static void* espyGridTest_SmallAlloc(size_t size, size_t align, void* context)
{
    size_t* largest = context;
    *largest = size > *largest ? size : *largest;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void espyGridTest_SmallFree(void* pointer, void* context)
{
    (void)context;
    free(pointer);
}

static void too_many_cells_are_refused_without_memory(void** state)
{
    (void)state;
    size_t largest = 0;
    espyHooks hooks = {.alloc = espyGridTest_SmallAlloc, .free = espyGridTest_SmallFree, .context = &largest};
    espyBakeArea huge = espyGridTest_Area(-16000, -16000, -16000, 16000, 16000, 16000);
    espyiRng rng = espyiRng_Seed(1);
    espyBakeArea turned = espyGridTest_Turned(&rng);
    for (int i = 0; i < 12; ++i)
    {
        turned.transform.m[i] *= 1000.0f;
    }
    const struct
    {
        const espyBakeArea* area;
        float cellSize;
    } cases[] = {{&huge, 4.0f}, {&huge, 0.5f}, {&turned, 4.0f}, {&turned, 1.0f}};
    for (uint32_t i = 0; i < 4; ++i)
    {
        espyiGridDef def = {
            .areas = cases[i].area, .areaCount = 1, .cellSize = cases[i].cellSize, .maxCells = 262144, .hooks = &hooks};
        espyiGrid grid;
        espyiGridRefusal refusal;
        assert_int_equal(espyiGrid_Build(&def, &grid, &refusal), espyResult_LimitExceeded);
        assert_true(refusal.cells > 262144);
        assert_null(grid.cells);
    }
    assert_true(largest < 4096);
    espyiGrid grid;
    espyiGridRefusal refusal;
    // 8000^3 cells.
    assert_int_equal(espyGridTest_Build(&huge, 1, 4.0f, 262144, &grid, &refusal), espyResult_LimitExceeded);
    assert_true(refusal.cells == 8000ull * 8000ull * 8000ull);
    assert_int_equal(espyGridTest_Build(&huge, 1, 0.1f, 262144, &grid, &refusal), espyResult_LimitExceeded);
    assert_true(refusal.length == 320000 && refusal.cells == 0);
}

static void just_at_the_limit_is_taken(void** state)
{
    (void)state;
    espyBakeArea area = espyGridTest_Area(0, 0, 0, 64, 64, 64);
    espyiGrid grid;
    espyiGridRefusal refusal;
    assert_int_equal(espyGridTest_Build(&area, 1, 1.0f, 262144, &grid, &refusal), espyResult_Ok);
    assert_int_equal(grid.cellCount, 262144);
    espyiGrid_Free(&grid, &espyGridTest_hooks);
    assert_int_equal(espyGridTest_Build(&area, 1, 1.0f, 262143, &grid, &refusal), espyResult_LimitExceeded);
    assert_true(refusal.cells == 262144);
}

static void flat_areas_have_cells(void** state)
{
    (void)state;
    espyBakeArea flat = espyGridTest_Area(0, 1, 0, 10, 1, 10);
    espyiGrid grid;
    espyiGridRefusal refusal;
    assert_int_equal(espyGridTest_Build(&flat, 1, 1.0f, 1000, &grid, &refusal), espyResult_Ok);
    assert_int_equal(grid.cellCount, 100);
    espyiGrid_Free(&grid, &espyGridTest_hooks);
    // Turned by 45 degrees about y and flat: still one layer thick.
    const float half = 0.38268343f, rest = 0.92387953f;
    const float q[4] = {0, half, 0, rest};
    flat.transform = espyMat4_FromTrs((espyVec3){5, 1, 5}, q, (espyVec3){10, 0, 10});
    assert_int_equal(espyGridTest_Build(&flat, 1, 1.0f, 1000, &grid, &refusal), espyResult_Ok);
    assert_int_equal(grid.dims[1], 1);
    assert_true(grid.cellCount > 100 && grid.cellCount < 160);
    espyiGrid_Free(&grid, &espyGridTest_hooks);
}

int main(void)
{
    espyGridTest_hooks = espyiHooks_Resolve(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example_has_47850_cells),
        cmocka_unit_test(whole_multiples_make_no_extra_cell),
        cmocka_unit_test(oriented_areas_cover_their_points),
        cmocka_unit_test(areas_apart_cost_nothing_between),
        cmocka_unit_test(coarse_blocks_hold_every_cell),
        cmocka_unit_test(coarse_factor_follows_the_rule),
        cmocka_unit_test(too_many_cells_are_refused_without_memory),
        cmocka_unit_test(just_at_the_limit_is_taken),
        cmocka_unit_test(flat_areas_have_cells),
    };
    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
