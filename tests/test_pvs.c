// SPDX-License-Identifier: MIT
// Lookups in a loaded file against a naive reference: cells, sets, bits, moving boxes.
#include "pvs_case.h"
#include "reference/pvs_reference.h"
#include "test_main.h"

#include <math.h>
#include <string.h>

static espyPvs espyTest_Load(const espyPvsCase* made)
{
    espyPvs pvs;
    espyDataError error;
    espyResult result = espyPvs_Load(&pvs, made->file, made->size, &error);
    if (result != espyResult_Ok)
    {
        fail_msg("refused: %s at %llu in %s", espyResult_GetName(result), (unsigned long long)error.byteOffset,
                 error.field);
    }
    return pvs;
}

/// A coordinate inside, on a border of, next to, or outside the cells of one axis.
static float espyTest_Coordinate(espyiRng* rng, float origin, float cellSize, uint32_t dim)
{
    float border = origin + (float)espyiRng_Below(rng, dim + 1) * cellSize;
    switch (espyiRng_Below(rng, 5))
    {
    case 0:
        return border;
    case 1:
        return nextafterf(border, -1e30f);
    case 2:
        return nextafterf(border, 1e30f);
    case 3:
        return origin + (espyiRng_Float(rng) * 1.4f - 0.2f) * (float)dim * cellSize;
    default:
        return origin + espyiRng_Float(rng) * (float)dim * cellSize;
    }
}

static espyVec3 espyTest_Point(espyiRng* rng, const espyiGrid* grid)
{
    return (espyVec3){espyTest_Coordinate(rng, grid->origin.x, grid->cellSize, grid->dims[0]),
                      espyTest_Coordinate(rng, grid->origin.y, grid->cellSize, grid->dims[1]),
                      espyTest_Coordinate(rng, grid->origin.z, grid->cellSize, grid->dims[2])};
}

static void espyTest_CheckLookups(const espyPvsCaseDef* def)
{
    espyPvsCase made = espyPvsCase_Make(def);
    espyPvs pvs = espyTest_Load(&made);
    espyiRng rng = espyiRng_Seed(def->seed + 99);
    for (uint32_t i = 0; i < 3000; ++i)
    {
        espyVec3 point = espyTest_Point(&rng, &made.grid);
        int32_t cell = espyPvs_FindCell(&pvs, point);
        int32_t wanted = espyPvsReference_FindCell(&made.grid, point);
        if (cell != wanted)
        {
            fail_msg("seed %llu: point %.9g %.9g %.9g in cell %d, not %d", (unsigned long long)def->seed,
                     (double)point.x, (double)point.y, (double)point.z, cell, wanted);
        }
    }
    for (uint32_t cell = 0; cell < made.grid.cellCount; ++cell)
    {
        espyiCellCoord c = made.grid.cells[cell];
        const uint32_t first[3] = {c.x, c.y, c.z};
        const uint32_t last[3] = {c.x + 1u, c.y + 1u, c.z + 1u};
        espyBox wanted = espyPvsReference_Box(&made.grid, first, last);
        espyBox box = espyPvs_GetCellBox(&pvs, (int32_t)cell);
        assert_memory_equal(&box, &wanted, sizeof box);
        const uint32_t* set = espyPvs_GetStaticSet(&pvs, (int32_t)cell);
        for (uint32_t slot = 0; slot < def->occludeeCount; ++slot)
        {
            bool visible = made.visible[(size_t)cell * def->occludeeCount + slot] != 0;
            assert_int_equal(espyiBits_Get(set, slot), visible);
            assert_int_equal(espyPvs_TestSlot(&pvs, (int32_t)cell, slot),
                             visible ? espyVisibility_Visible : espyVisibility_Occluded);
        }
        assert_int_equal(espyPvs_IsSolidCell(&pvs, (int32_t)cell),
                         made.grid.solid && espyiBits_Get(made.grid.solid, cell));
    }
    espyPvsCase_Free(&made);
}

static void test_lookup_in_a_dense_grid(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    espyTest_CheckLookups(&def);
}

static const struct CMUnitTest espyTests[] = {
    cmocka_unit_test(test_lookup_in_a_dense_grid),
};

int main(void)
{
    return cmocka_run_group_tests_name("pvs", espyTests, NULL, NULL);
}
