// SPDX-License-Identifier: MIT
// Ten million lines against what proven bakes hide; and the attack itself: pairs hidden wrongly on purpose are caught.
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include <espy/editor.h>

#include "attack_case.h"
#include "reference/visibility_reference.h"
#include "scenes/scenes.h"

typedef struct espyAttackLevel
{
    espyWorld* world;
    espyGathered* gathered;
    espyBakeDef def;
    espyAttackCase attack;
} espyAttackLevel;

static espyAttackLevel* espyAttackLevel_Open(const char* scene, uint32_t size, espyBakeQuality quality)
{
    espyAttackLevel* level = calloc(1, sizeof *level);
    assert_non_null(level);
    assert_int_equal(espyScene_Build(scene, size, 1, &level->world), espyResult_Ok);
    level->def = espyBakeDef_Default();
    espyEditor_ApplySettings(level->world, &level->def);
    level->def.quality = quality;
    level->def.dynamicObjects = false;
    level->def.threads = 1;
    assert_int_equal(espyEditor_Gather(level->world, level->def.cellSize, 0, NULL, &level->gathered), espyResult_Ok);
    assert_true(espyAttackCase_Bake(&level->attack, espyGathered_GetInput(level->gathered), &level->def));
    return level;
}

static void espyAttackLevel_Close(espyAttackLevel* level)
{
    espyAttackCase_Free(&level->attack);
    espyGathered_Destroy(level->gathered);
    espyWorld_Destroy(level->world);
    free(level);
}

static void espyTest_AttackScene(const char* scene, uint32_t size, uint64_t rays)
{
    espyAttackLevel* level = espyAttackLevel_Open(scene, size, espyBakeQuality_Proven);
    const espyBakeStats* stats = &level->attack.result.stats;
    assert_int_equal(stats->pairsHidden, stats->pairsProvenHidden);
    assert_true(stats->pairsHidden > 0);
    assert_true(espyAttackCase_Prepare(&level->attack, 1));
    espyAdversaryResult r = espyAttackCase_Run(&level->attack, rays, 5, 1);
    print_message("%s %u: seed 5, %llu lines, %llu cells held against them, %llu violations, %llu within 20 um\n",
                  scene, size, (unsigned long long)r.rays, (unsigned long long)r.held, (unsigned long long)r.violations,
                  (unsigned long long)r.grazing);
    if (r.violations)
    {
        print_message("cell %u, slot %u: free from %.9g %.9g %.9g to %.9g %.9g %.9g\n", r.cell, r.slot, r.from[0],
                      r.from[1], r.from[2], r.to[0], r.to[1], r.to[2]);
    }
    assert_int_equal(r.violations, 0);
    assert_true(r.rays >= rays && r.held > r.rays);
    espyAttackLevel_Close(level);
}

static void espyTest_RoomsHold(void** state)
{
    (void)state;
    espyTest_AttackScene("rooms", 2, 4000000);
}

static void espyTest_SlitsHold(void** state)
{
    (void)state;
    espyTest_AttackScene("slits", 2, 4000000);
}

static void espyTest_CityHolds(void** state)
{
    (void)state;
    espyTest_AttackScene("city", 2, 2000000);
}

/// One pair after the other that a witness was found for is hidden in a copy of the file's sets: most are caught.
static void espyTest_HiddenOnPurposeIsCaught(void** state)
{
    (void)state;
    // Low: all that is visible from a cell in the open has a witness.
    espyAttackLevel* level = espyAttackLevel_Open("slits", 2, espyBakeQuality_Low);
    espyAttackCase* attack = &level->attack;
    assert_true(espyAttackCase_Prepare(attack, 1));
    espyPvs* pvs = &attack->pvs;
    size_t words = (size_t)pvs->staticSetCount * pvs->staticWords;
    uint32_t* sets = malloc(words * sizeof *sets);
    assert_non_null(sets);
    memcpy(sets, pvs->staticSets, words * sizeof *sets);
    pvs->staticSets = sets;
    uint64_t seed = 3;
    uint32_t caught = 0, tried = 0;
    while (tried < 40)
    {
        int32_t cell = (int32_t)(espyReference_Random(&seed) * pvs->cellCount);
        uint32_t slot = (uint32_t)(espyReference_Random(&seed) * pvs->occludeeCount);
        const uint32_t* set = espyPvs_GetStaticSet(pvs, cell);
        if (!set || espyPvs_IsSolidCell(pvs, cell) || !(set[slot >> 5] >> (slot & 31u) & 1u))
        {
            continue;
        }
        uint32_t* word = &sets[(size_t)(set - sets) + (slot >> 5)];
        *word &= ~(1u << (slot & 31u));
        espyAdversaryResult r = espyAttackCase_Run(attack, 150000, tried, 1);
        caught += r.violations > 0 && r.slot == slot;
        *word |= 1u << (slot & 31u);
        ++tried;
    }
    print_message("seed 3: %u of %u pairs hidden on purpose are caught by 150,000 lines each\n", caught, tried);
    assert_true(4 * caught >= 3 * tried);
    free(sets);
    espyAttackLevel_Close(level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_RoomsHold),
        cmocka_unit_test(espyTest_SlitsHold),
        cmocka_unit_test(espyTest_CityHolds),
        cmocka_unit_test(espyTest_HiddenOnPurposeIsCaught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
