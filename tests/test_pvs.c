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

/// The copy of a set is the set, in exactly the words promised; where there is none it keeps everything.
static void espyTest_CheckRead(const espyPvs* pvs, int32_t cell, bool dynamic)
{
    uint32_t width = dynamic ? pvs->coarseCount : pvs->occludeeCount;
    uint32_t words = espyiBits_Words(width);
    const uint32_t* set = dynamic ? espyPvs_GetDynamicSet(pvs, cell) : espyPvs_GetStaticSet(pvs, cell);
    uint32_t* copy = malloc(words * sizeof *copy + 1u);
    assert_non_null(copy);
    memset(copy, 0xA5, words * sizeof *copy);
    bool found = dynamic ? espyPvs_ReadDynamicSet(pvs, cell, copy) : espyPvs_ReadStaticSet(pvs, cell, copy);
    assert_int_equal(found, set != NULL);
    for (uint32_t bit = 0; bit < words * 32u; ++bit)
    {
        assert_int_equal(espyiBits_Get(copy, bit), bit < width && (!set || espyiBits_Get(set, bit)));
    }
    free(copy);
}

static void test_reading_a_set_copies_it(void** state)
{
    (void)state;
    static const uint32_t widths[] = {1, 31, 32, 33, 64, 95};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(widths); ++i)
    {
        espyPvsCaseDef def = espyPvsCaseDef_Default();
        def.seed = 20 + i;
        def.occludeeCount = widths[i];
        def.coarseFactor = i % 2 == 0 ? 4 : 0;
        espyPvsCase made = espyPvsCase_Make(&def);
        espyPvs pvs = espyTest_Load(&made);
        for (int32_t cell = -2; cell <= (int32_t)made.grid.cellCount; ++cell)
        {
            espyTest_CheckRead(&pvs, cell, false);
            espyTest_CheckRead(&pvs, cell, true);
        }
        espyPvsCase_Free(&made);
    }
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
    // Borders that no float hits exactly, far from the origin, and set widths around whole words.
    def.cellSize = 0.1f;
    def.origin = (espyVec3){-10000.3f, 9999.7f, 1e-3f};
    static const uint32_t widths[] = {1, 31, 32, 33, 64};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(widths); ++i)
    {
        def.seed = 10 + i;
        def.occludeeCount = widths[i];
        espyTest_CheckLookups(&def);
    }
}

static void test_lookup_in_a_sparse_grid(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    static const float shares[] = {0.02f, 0.3f, 0.9f};
    static const uint32_t dims[][3] = {{7, 5, 6}, {97, 2, 3}, {2, 3, 97}, {1, 200, 1}, {32, 4, 4}, {33, 4, 4}};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(shares); ++i)
    {
        for (uint32_t j = 0; j < ESPYI_ARRAY_COUNT(dims); ++j)
        {
            def.seed = 100 + 10 * i + j;
            def.storedShare = shares[i];
            memcpy(def.dims, dims[j], sizeof def.dims);
            espyTest_CheckLookups(&def);
        }
    }
}

/// Two areas as far apart as the lattice allows, cells given by hand.
static void test_lookup_in_the_largest_lattice(void** state)
{
    (void)state;
    espyiCellCoord cells[] = {{0, 0, 0},      {65534, 0, 0},  {0, 65534, 0},
                              {31, 0, 65534}, {32, 0, 65534}, {65534, 65534, 65534}};
    espyiGrid grid = {
        .cellSize = 0.25f, .dims = {65535, 65535, 65535}, .cellCount = ESPYI_ARRAY_COUNT(cells), .cells = cells};
    uint32_t indices[ESPYI_ARRAY_COUNT(cells)] = {0};
    uint32_t set = 1;
    espyiTable table = {
        .width = 1, .words = 1, .setCount = 1, .cellCount = grid.cellCount, .cells = indices, .sets = &set};
    espyBox box = {{0, 0, 0}, {1, 1, 1}};
    espyiBlobDef def = {.grid = &grid, .occludeeCount = 1, .occludeeBoxes = &box, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_Ok);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, file, size, NULL), espyResult_Ok);
    for (uint32_t i = 0; i < grid.cellCount; ++i)
    {
        espyBox bounds = espyPvs_GetCellBox(&pvs, (int32_t)i);
        espyVec3 middle = {(bounds.min.x + bounds.max.x) * 0.5f, (bounds.min.y + bounds.max.y) * 0.5f,
                           (bounds.min.z + bounds.max.z) * 0.5f};
        assert_int_equal(espyPvs_FindCell(&pvs, middle), (int32_t)i);
        middle.x += 40.0f;
        assert_int_equal(espyPvs_FindCell(&pvs, middle), ESPY_PVS_OUTSIDE);
    }
    float top = 65535.0f * 0.25f;
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){top, top, top}), 5);
    espyiFree(&hooks, file);
}

static void test_points_that_are_nowhere(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    for (uint32_t i = 0; i < 2; ++i)
    {
        def.storedShare = i == 0 ? 1.0f : 0.7f;
        espyPvsCase made = espyPvsCase_Make(&def);
        espyPvs pvs = espyTest_Load(&made);
        static const float bad[] = {NAN,    -NAN,    INFINITY, -INFINITY,     1e30f,
                                    -1e30f, 3.4e38f, -3.4e38f, 4294967296.0f, 1e-44f};
        espyVec3 inside = {def.origin.x + 0.5f, def.origin.y + 0.5f, def.origin.z + 0.5f};
        for (uint32_t j = 0; j < ESPYI_ARRAY_COUNT(bad); ++j)
        {
            espyVec3 x = inside, y = inside, z = inside;
            x.x = y.y = z.z = bad[j];
            assert_int_equal(espyPvs_FindCell(&pvs, x), espyPvsReference_FindCell(&made.grid, x));
            assert_int_equal(espyPvs_FindCell(&pvs, y), ESPY_PVS_OUTSIDE);
            assert_int_equal(espyPvs_FindCell(&pvs, z), ESPY_PVS_OUTSIDE);
        }
        assert_null(espyPvs_GetStaticSet(&pvs, ESPY_PVS_OUTSIDE));
        assert_null(espyPvs_GetDynamicSet(&pvs, ESPY_PVS_OUTSIDE));
        espyPvsCase_Free(&made);
    }
}

static void test_upper_faces_belong_to_the_last_cell(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    espyPvsCase made = espyPvsCase_Make(&def);
    espyPvs pvs = espyTest_Load(&made);
    espyVec3 top = {def.origin.x + 7.0f * def.cellSize, def.origin.y + 5.0f * def.cellSize,
                    def.origin.z + 6.0f * def.cellSize};
    assert_int_equal(espyPvs_FindCell(&pvs, top), 7 * 5 * 6 - 1);
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){nextafterf(top.x, 1e9f), top.y, top.z}), ESPY_PVS_OUTSIDE);
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){top.x, nextafterf(top.y, 1e9f), top.z}), ESPY_PVS_OUTSIDE);
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){top.x, top.y, nextafterf(top.z, 1e9f)}), ESPY_PVS_OUTSIDE);
    assert_int_equal(espyPvs_FindCell(&pvs, def.origin), 0);
    espyPvsCase_Free(&made);
}

/// A camera walks in 1 cm steps through a cell border, out of the volume, and through the strip between two areas: each
/// step is answered from the one cell that holds it, or everything is visible.
static void report_17_steps_between_cells_and_areas(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.dims[0] = 12;
    def.dims[1] = def.dims[2] = 1;
    def.origin = (espyVec3){0.3f, 0.0f, 0.0f};
    def.storedShare = 0.6f;
    def.seed = 5;
    espyPvsCase made = espyPvsCase_Make(&def);
    espyPvs pvs = espyTest_Load(&made);
    uint32_t outside = 0, changes = 0;
    int32_t last = -2;
    for (int step = -300; step < 2200; ++step)
    {
        espyVec3 eye = {(float)step * 0.01f, 0.7f, 0.7f};
        int32_t cell = espyPvs_FindCell(&pvs, eye);
        assert_int_equal(cell, espyPvsReference_FindCell(&made.grid, eye));
        changes += cell != last ? 1u : 0u;
        last = cell;
        if (cell == ESPY_PVS_OUTSIDE)
        {
            assert_null(espyPvs_GetStaticSet(&pvs, cell));
            ++outside;
            continue;
        }
        espyBox box = espyPvs_GetCellBox(&pvs, cell);
        assert_true(eye.x >= box.min.x && eye.x <= box.max.x);
        for (uint32_t slot = 0; slot < def.occludeeCount; ++slot)
        {
            bool needed = made.visible[(size_t)cell * def.occludeeCount + slot] != 0;
            assert_true(!needed || espyPvs_TestSlot(&pvs, cell, slot) == espyVisibility_Visible);
        }
    }
    assert_true(outside > 600 && changes > 8);
    assert_true(made.grid.cellCount < 12 && made.grid.cellCount > 3);
    espyPvsCase_Free(&made);
}

static void test_a_zeroed_pvs_draws_everything(void** state)
{
    (void)state;
    espyPvs pvs = {0};
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){0, 0, 0}), ESPY_PVS_OUTSIDE);
    assert_null(espyPvs_GetStaticSet(&pvs, 0));
    assert_null(espyPvs_GetDynamicSet(&pvs, -1));
    assert_false(espyPvs_ReadStaticSet(&pvs, 0, NULL));
    assert_false(espyPvs_ReadDynamicSet(&pvs, 0, NULL));
    assert_int_equal(espyPvs_TestSlot(&pvs, 0, 0), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestSlot(&pvs, -1, 0), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestBox(&pvs, -1, (espyBox){{0, 0, 0}, {1, 1, 1}}), espyVisibility_Unknown);
    assert_false(espyBox_IsValid(espyPvs_GetCellBox(&pvs, 0)));
    assert_false(espyBox_IsValid(espyPvs_GetOccludeeBox(&pvs, 0)));
    assert_int_equal(espyPvs_GetOccludeeNode(&pvs, 0), -1);
    assert_false(espyPvs_IsSolidCell(&pvs, 0));
    espyPvsInfo info;
    espyPvs_GetInfo(&pvs, &info);
    assert_int_equal(info.cellCount, 0);
    static const uint32_t slots[3] = {0, 7, ESPY_PVS_NO_SLOT};
    uint32_t bits = 0;
    uint32_t list[3];
    static const uint32_t set = 0;
    espyPvs_CullBits(&pvs, &set, slots, 3, &bits);
    assert_int_equal(bits, 7);
    espyPvs_CullRange(&pvs, &set, 0, 3, &bits);
    assert_int_equal(bits, 7);
    assert_int_equal(espyPvs_CullList(&pvs, &set, slots, 3, list), 3);
}

static void test_slots_and_cells_that_do_not_exist(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    espyPvsCase made = espyPvsCase_Make(&def);
    espyPvs pvs = espyTest_Load(&made);
    int32_t cells = (int32_t)made.grid.cellCount;
    assert_int_equal(espyPvs_TestSlot(&pvs, 0, def.occludeeCount), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestSlot(&pvs, 0, ESPY_PVS_NO_SLOT), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestSlot(&pvs, cells, 0), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestSlot(&pvs, -2, 0), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestSlot(&pvs, ESPY_PVS_OUTSIDE, 0), espyVisibility_Visible);
    espyBox box = espyPvs_GetCellBox(&pvs, 0);
    assert_int_equal(espyPvs_TestBox(&pvs, ESPY_PVS_OUTSIDE, box), espyVisibility_Visible);
    assert_int_equal(espyPvs_TestBox(&pvs, cells, box), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestBox(&pvs, -2, box), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestBox(&pvs, 0, espyBox_Empty()), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestBox(&pvs, 0, (espyBox){{NAN, 0, 0}, {1, 1, 1}}), espyVisibility_Unknown);
    assert_int_equal(espyPvs_TestBox(&pvs, 0, (espyBox){{0, 0, 0}, {1, INFINITY, 1}}), espyVisibility_Unknown);
    assert_null(espyPvs_GetStaticSet(&pvs, cells));
    assert_null(espyPvs_GetStaticSet(&pvs, INT32_MIN));
    assert_false(espyBox_IsValid(espyPvs_GetCellBox(&pvs, cells)));
    espyPvsCase_Free(&made);
    def.coarseFactor = 0;
    made = espyPvsCase_Make(&def);
    pvs = espyTest_Load(&made);
    assert_null(espyPvs_GetDynamicSet(&pvs, 0));
    assert_int_equal(espyPvs_TestBox(&pvs, 0, box), espyVisibility_Unknown);
    espyPvsCase_Free(&made);
}

static void test_moving_boxes(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    uint32_t hidden = 0, visible = 0;
    for (uint32_t round = 0; round < 8; ++round)
    {
        def.seed = 300 + round;
        def.storedShare = round % 2 == 0 ? 1.0f : 0.05f;
        def.dims[0] = 11 + round * 9;
        def.dims[1] = 9;
        def.coarseFactor = 4 + round % 3;
        def.distinctRows = 5;
        espyPvsCase made = espyPvsCase_Make(&def);
        espyPvs pvs = espyTest_Load(&made);
        espyiRng rng = espyiRng_Seed(def.seed);
        for (uint32_t i = 0; i < 1500; ++i)
        {
            espyVec3 a = espyTest_Point(&rng, &made.grid);
            espyVec3 size = {espyiRng_Float(&rng) * 4.0f, espyiRng_Float(&rng) * 4.0f, espyiRng_Float(&rng) * 4.0f};
            espyBox box = {a, {a.x + size.x, a.y + size.y, a.z + size.z}};
            uint32_t cell = espyiRng_Below(&rng, made.grid.cellCount);
            espyVisibility wanted =
                espyPvsReference_TestBox(&made.grid, made.blockVisible + (size_t)cell * made.grid.coarseCount, box);
            assert_int_equal(espyPvs_TestBox(&pvs, (int32_t)cell, box), wanted);
            hidden += wanted == espyVisibility_Occluded ? 1u : 0u;
            visible += wanted == espyVisibility_Visible ? 1u : 0u;
        }
        espyPvsCase_Free(&made);
    }
    assert_true(hidden > 1000 && visible > 1000);
}

// --- batches

static bool espyTest_Kept(const espyPvsCase* made, const espyPvs* pvs, int32_t cell, uint32_t slot)
{
    return slot >= pvs->occludeeCount || cell < 0 || made->visible[(size_t)cell * pvs->occludeeCount + slot] != 0;
}

static void espyTest_CheckBatch(const espyPvsCase* made, const espyPvs* pvs, int32_t cell, const uint32_t* slots,
                                uint32_t count)
{
    const uint32_t* set = espyPvs_GetStaticSet(pvs, cell);
    uint32_t words = espyiBits_Words(count);
    // Exactly as large as promised, so that a sanitizer sees any write behind.
    uint32_t* bits = malloc((words + 1u) * sizeof *bits);
    uint32_t* list = malloc((count + 1u) * sizeof *list);
    assert_true(bits && list);
    bits[words] = 0xABCDEF01u;
    list[count] = 0xABCDEF02u;
    espyPvs_CullBits(pvs, set, slots, count, bits);
    uint32_t listed = espyPvs_CullList(pvs, set, slots, count, list);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < words * 32u; ++i)
    {
        bool wanted = i < count && espyTest_Kept(made, pvs, cell, slots[i]);
        assert_int_equal(espyiBits_Get(bits, i), wanted);
        if (wanted)
        {
            assert_true(kept < listed);
            assert_int_equal(list[kept++], i);
        }
    }
    assert_int_equal(kept, listed);
    assert_int_equal(bits[words], 0xABCDEF01u);
    assert_int_equal(list[count], 0xABCDEF02u);
    free(bits);
    free(list);
}

static void test_batches_in_every_instruction_set(void** state)
{
    (void)state;
    static const uint32_t counts[] = {0, 1, 2, 15, 16, 31, 32, 33, 63, 64, 100, 1023, 1024, 1025, 2500};
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.occludeeCount = 333;
    espyPvsCase made = espyPvsCase_Make(&def);
    espyPvs pvs = espyTest_Load(&made);
    espyIsa best = pvs.isa;
    espyiRng rng = espyiRng_Seed(4);
    uint32_t slots[2500];
    for (uint32_t round = 0; round < 12; ++round)
    {
        for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(slots); ++i)
        {
            slots[i] = espyiRng_Below(&rng, def.occludeeCount + (round % 3) * 40u);
            if (round % 4 == 3 && espyiRng_Below(&rng, 4) == 0)
            {
                slots[i] = espyiRng_U32(&rng) | 0x80000000u;
            }
        }
        slots[3] = ESPY_PVS_NO_SLOT;
        slots[20] = def.occludeeCount;
        slots[40] = def.occludeeCount - 1u;
        int32_t cell = round == 0 ? ESPY_PVS_OUTSIDE : (int32_t)espyiRng_Below(&rng, made.grid.cellCount);
        for (espyIsa isa = espyIsa_Auto; isa <= espyIsa_Wasm128; isa = (espyIsa)(isa + 1))
        {
            // Sets that this machine lacks are never picked by Load, and so not tried here.
            if (isa <= espyIsa_Scalar || espyIsa_Detect(isa) == isa)
            {
                pvs.isa = isa;
                for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(counts); ++i)
                {
                    espyTest_CheckBatch(&made, &pvs, cell, slots, counts[i]);
                }
            }
        }
        pvs.isa = best;
    }
    espyPvsCase_Free(&made);
}

static void test_ranges(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    static const uint32_t widths[] = {1, 31, 32, 33, 64, 100, 130};
    static const uint32_t firsts[] = {0, 1, 5, 31, 32, 33, 64, 99, 128, 129, 130, 131, 0x7FFFFFFFu, 0xFFFFFFF0u};
    for (uint32_t w = 0; w < ESPYI_ARRAY_COUNT(widths); ++w)
    {
        def.occludeeCount = widths[w];
        def.dims[0] = def.dims[1] = def.dims[2] = 2;
        espyPvsCase made = espyPvsCase_Make(&def);
        espyPvs pvs = espyTest_Load(&made);
        for (uint32_t f = 0; f < ESPYI_ARRAY_COUNT(firsts); ++f)
        {
            for (uint32_t count = 0; count < 140; ++count)
            {
                int32_t cell = (int32_t)(count % (made.grid.cellCount + 1u)) - 1;
                uint32_t words = espyiBits_Words(count);
                uint32_t* bits = malloc((words + 1u) * sizeof *bits);
                assert_non_null(bits);
                bits[words] = 0xABCDEF01u;
                espyPvs_CullRange(&pvs, espyPvs_GetStaticSet(&pvs, cell), firsts[f], count, bits);
                for (uint32_t i = 0; i < words * 32u; ++i)
                {
                    uint64_t slot = (uint64_t)firsts[f] + i;
                    bool known = slot < def.occludeeCount;
                    bool wanted = i < count && (!known || espyTest_Kept(&made, &pvs, cell, (uint32_t)slot));
                    assert_int_equal(espyiBits_Get(bits, i), wanted);
                }
                assert_int_equal(bits[words], 0xABCDEF01u);
                free(bits);
            }
        }
        espyPvsCase_Free(&made);
    }
}

static void test_lists_of_bits(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(8);
    for (uint32_t round = 0; round < 600; ++round)
    {
        uint32_t count = espyiRng_Below(&rng, 400);
        uint32_t words = espyiBits_Words(count);
        uint32_t bits[13];
        uint32_t ones = 0;
        for (uint32_t i = 0; i < words; ++i)
        {
            // From nearly empty over random to full; bits past the count stay set.
            uint32_t r = espyiRng_U32(&rng);
            bits[i] = round % 4 == 0 ? ~0u : round % 4 == 1 ? r & espyiRng_U32(&rng) & espyiRng_U32(&rng) : r;
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            ones += espyiBits_Get(bits, i) ? 1u : 0u;
        }
        uint32_t* list = malloc((ones + 1u) * sizeof *list);
        assert_non_null(list);
        list[ones] = 0xABCDEF03u;
        assert_int_equal(espyBits_ToList(bits, count, list), ones);
        uint32_t at = 0;
        for (uint32_t i = 0; i < count; ++i)
        {
            if (espyiBits_Get(bits, i))
            {
                assert_int_equal(list[at++], i);
            }
        }
        assert_int_equal(list[ones], 0xABCDEF03u);
        free(list);
    }
}

// --- facts

static void test_entries_and_what_tools_read(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    for (uint32_t round = 0; round < 2; ++round)
    {
        def.tools = round == 0;
        espyPvsCase made = espyPvsCase_Make(&def);
        espyPvs pvs = espyTest_Load(&made);
        for (uint32_t i = 0; i < def.occluderCount; ++i)
        {
            espyBox box = espyPvs_GetOccluderBox(&pvs, i);
            assert_memory_equal(&box, &made.boxes[i], sizeof box);
            assert_int_equal(espyPvs_GetOccluderNode(&pvs, i), def.tools ? made.nodes[i] : -1);
            assert_true(espyPvs_GetOccluderHash(&pvs, i) == (def.tools ? made.hashes[i] : 0));
        }
        for (uint32_t i = 0; i < def.occludeeCount; ++i)
        {
            uint32_t entry = def.occluderCount + i;
            espyBox box = espyPvs_GetOccludeeBox(&pvs, i);
            assert_memory_equal(&box, &made.boxes[entry], sizeof box);
            assert_int_equal(espyPvs_GetOccludeeNode(&pvs, i), def.tools ? made.nodes[entry] : -1);
            assert_int_equal(espyPvs_GetOccludeePart(&pvs, i), def.tools ? made.parts[i] : -1);
            assert_true(espyPvs_GetOccludeeHash(&pvs, i) == (def.tools ? made.hashes[entry] : 0));
        }
        assert_false(espyBox_IsValid(espyPvs_GetOccluderBox(&pvs, def.occluderCount)));
        assert_false(espyBox_IsValid(espyPvs_GetOccludeeBox(&pvs, def.occludeeCount)));
        assert_int_equal(espyPvs_GetOccludeeNode(&pvs, def.occludeeCount), -1);
        assert_int_equal(espyPvs_GetOccluderNode(&pvs, def.occluderCount), -1);
        espyPvsInfo info;
        espyPvs_GetInfo(&pvs, &info);
        assert_int_equal(info.quality, espyBakeQuality_High);
        assert_int_equal(info.occluderCount, def.occluderCount);
        assert_int_equal(info.solidCellCount, def.tools ? made.grid.solidCount : 0);
        assert_int_equal(info.consoleBudgetKB, 512);
        assert_true(info.occlusionCulling);
        assert_true(info.nearDistance == 0.125f && info.smallestHole == 0.25f);
        assert_true(info.settingsHash == 0x1122334455667788ull && info.contentHash == 0x99AABBCCDDEEFF00ull);
        uint64_t proven = 0;
        for (uint32_t i = 0; i < def.occludeeCount && def.tools; ++i)
        {
            proven += made.proven[i];
        }
        assert_true(info.provenHiddenPairs == proven && info.seed == def.seed);
        assert_int_equal(info.coarseCount, made.grid.coarseCount);
        assert_int_equal(info.fileBytes, made.size);
        espyPvsCase_Free(&made);
    }
}

static const struct CMUnitTest espyTests[] = {
    cmocka_unit_test(test_reading_a_set_copies_it),
    cmocka_unit_test(test_lookup_in_a_dense_grid),
    cmocka_unit_test(test_lookup_in_a_sparse_grid),
    cmocka_unit_test(test_lookup_in_the_largest_lattice),
    cmocka_unit_test(test_points_that_are_nowhere),
    cmocka_unit_test(test_upper_faces_belong_to_the_last_cell),
    cmocka_unit_test(report_17_steps_between_cells_and_areas),
    cmocka_unit_test(test_a_zeroed_pvs_draws_everything),
    cmocka_unit_test(test_slots_and_cells_that_do_not_exist),
    cmocka_unit_test(test_moving_boxes),
    cmocka_unit_test(test_batches_in_every_instruction_set),
    cmocka_unit_test(test_ranges),
    cmocka_unit_test(test_lists_of_bits),
    cmocka_unit_test(test_entries_and_what_tools_read),
};

int main(void)
{
    return cmocka_run_group_tests_name("pvs", espyTests, NULL, NULL);
}
