// SPDX-License-Identifier: MIT
// What a program that only knows the public headers relies on: several files at once, and levels far from the origin.
#include <string.h>

#include "tests/bake_case.h"
#include "tests/test_main.h"

// Two rooms with a door, moved as a whole. Multiples of 1/64 m keep every number exact up to 16 km.
static espyBakeResult espyUser_BakeRooms(espyVec3 by, espyBakeQuality quality)
{
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddTwoRooms(c, 3, 4);
    espyBakeCase_AddBox(c, (espyVec3){0.5f, 0.25f, 0.5f}, (espyVec3){1, 0.75f, 1}, espyCaseFlag_Occludee);
    espyBakeCase_AddBox(c, (espyVec3){7, 0.25f, 7}, (espyVec3){7.5f, 0.75f, 7.5f}, espyCaseFlag_Occludee);
    espyBakeCase_Shift(c, by);
    espyBakeDef def = espyBakeCase_Def();
    def.quality = quality;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_Ok);
    espyBakeCase_Destroy(c);
    return r;
}

// A half covered cube was hidden from a camera that almost touches the cube before it.
static void report_03_half_covered_from_very_near(void** state)
{
    (void)state;
    for (int quality = espyBakeQuality_Low; quality <= espyBakeQuality_Proven; ++quality)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddBox(c, (espyVec3){0, 0, -4}, (espyVec3){4, 4, 0}, espyCaseFlag_Both);
        uint32_t half = espyBakeCase_AddBox(c, (espyVec3){1, 0, -9}, (espyVec3){5, 4, -5}, espyCaseFlag_Both);
        uint32_t all =
            espyBakeCase_AddBox(c, (espyVec3){1.5f, 1.5f, -4.75f}, (espyVec3){2, 2, -4.25f}, espyCaseFlag_Occludee);
        espyBakeCase_AddArea(c, (espyVec3){1, 1, 0.0625f}, (espyVec3){4.25f, 3, 0.3125f});
        espyBakeDef def = espyBakeCase_Def();
        def.quality = (espyBakeQuality)quality;
        def.cellSize = 0.25f;
        espyBakeResult r;
        assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_Ok);
        espyPvs pvs = espyBakeCase_Load(&r);
        // From the last cell a line passes the right side of the first cube; from the middle ones none does.
        assert_true(espyBakeCase_Sees(&pvs, (espyVec3){4.15f, 2, 0.2f}, half));
        assert_false(espyBakeCase_Sees(&pvs, (espyVec3){2.1f, 2.1f, 0.2f}, all));
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
}

// What moved out of its room kept the answer of the place that it came from.
static void report_15_looked_up_again_at_every_move(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddTwoRooms(c, 0, 0);
    espyBakeDef def = espyBakeCase_Def();
    def.cellSize = 0.5f;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_Ok);
    espyPvs pvs = espyBakeCase_Load(&r);
    int32_t cell = espyPvs_FindCell(&pvs, (espyVec3){0.75f, 1, 4});
    assert_true(cell >= 0);
    const struct
    {
        float x, y;
        espyVisibility visibility;
    } steps[] = {
        {7, 1, espyVisibility_Occluded},   // in the other room
        {2, 1, espyVisibility_Visible},    // carried into this one
        {7, 1, espyVisibility_Occluded},   // and back
        {7.9f, 1, espyVisibility_Visible}, // halfway out of the volume
        {20, 1, espyVisibility_Visible},   // outside
        {7, -50, espyVisibility_Visible},  // fallen through the floor
    };
    for (uint32_t i = 0; i < sizeof steps / sizeof steps[0]; ++i)
    {
        espyBox box = {{steps[i].x, steps[i].y, 4}, {steps[i].x + 0.25f, steps[i].y + 0.25f, 4.25f}};
        assert_int_equal(espyPvs_TestBox(&pvs, cell, box), steps[i].visibility);
        assert_int_equal(espyPvs_TestBox(&pvs, ESPY_PVS_OUTSIDE, box), espyVisibility_Visible);
    }
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

// Loading a second baked area stopped the first one from working.
static void report_31_two_files_side_by_side(void** state)
{
    (void)state;
    espyBakeResult west = espyUser_BakeRooms((espyVec3){0, 0, 0}, espyBakeQuality_Medium);
    espyBakeResult east = espyUser_BakeRooms((espyVec3){64, 0, 0}, espyBakeQuality_Medium);
    espyPvs a = espyBakeCase_Load(&west);
    const espyVec3 inWest = {1.5f, 1, 6.5f}, inEast = {65.5f, 1, 6.5f};
    uint32_t words = (a.occludeeCount + 31) / 32, before[64];
    assert_in_range(words, 1, 64);
    int32_t cell = espyPvs_FindCell(&a, inWest);
    memcpy(before, espyPvs_GetStaticSet(&a, cell), words * sizeof before[0]);
    uint32_t hidden = 0;
    for (uint32_t slot = 0; slot < a.occludeeCount; ++slot)
    {
        hidden += espyPvs_TestSlot(&a, cell, slot) == espyVisibility_Occluded;
    }
    assert_true(hidden > 0);

    // Both work, each only for what it was baked for: a camera in one is outside the other, which then hides nothing.
    espyPvs b = espyBakeCase_Load(&east);
    assert_memory_equal(before, espyPvs_GetStaticSet(&a, cell), words * sizeof before[0]);
    assert_int_equal(espyPvs_FindCell(&a, inEast), ESPY_PVS_OUTSIDE);
    assert_int_equal(espyPvs_FindCell(&b, inWest), ESPY_PVS_OUTSIDE);
    for (uint32_t slot = 0; slot < b.occludeeCount; ++slot)
    {
        assert_int_equal(espyPvs_TestSlot(&b, espyPvs_FindCell(&b, inWest), slot), espyVisibility_Visible);
        assert_int_equal(espyPvs_TestSlot(&a, espyPvs_FindCell(&a, inEast), slot), espyVisibility_Visible);
    }
    int32_t there = espyPvs_FindCell(&b, inEast);
    assert_int_equal(there, cell);
    assert_memory_equal(before, espyPvs_GetStaticSet(&b, there), words * sizeof before[0]);

    // The first one goes, the second one stays.
    memset(west.data, 0xA5, west.size);
    espyBake_Free(&west);
    assert_memory_equal(before, espyPvs_GetStaticSet(&b, there), words * sizeof before[0]);
    espyBake_Free(&east);
}

// The same level at the origin and kilometres away has the same sets.
static void espyTest_SameSetsFarFromTheOrigin(void** state)
{
    (void)state;
    const espyVec3 offsets[] = {{8192, 0, 0}, {-8192, 4096, 8192}, {1024, -1024, 512}};
    for (int quality = espyBakeQuality_Low; quality <= espyBakeQuality_Proven; ++quality)
    {
        espyBakeResult home = espyUser_BakeRooms((espyVec3){0, 0, 0}, (espyBakeQuality)quality);
        espyPvs a = espyBakeCase_Load(&home);
        for (uint32_t i = 0; i < 3; ++i)
        {
            espyBakeResult away = espyUser_BakeRooms(offsets[i], (espyBakeQuality)quality);
            espyPvs b = espyBakeCase_Load(&away);
            assert_int_equal(a.cellCount, b.cellCount);
            for (uint32_t cell = 0; cell < a.cellCount; ++cell)
            {
                assert_memory_equal(espyPvs_GetStaticSet(&a, (int32_t)cell), espyPvs_GetStaticSet(&b, (int32_t)cell),
                                    4 * (size_t)a.staticWords);
            }
            espyBake_Free(&away);
        }
        espyBake_Free(&home);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_03_half_covered_from_very_near),
        cmocka_unit_test(report_15_looked_up_again_at_every_move),
        cmocka_unit_test(report_31_two_files_side_by_side),
        cmocka_unit_test(espyTest_SameSetsFarFromTheOrigin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
