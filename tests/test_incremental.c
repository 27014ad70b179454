// SPDX-License-Identifier: MIT
// Incremental bakes equal full ones byte for byte, whatever was changed; and the check says what is stale and why.
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "tests/bake_case.h"
#include "tests/test_main.h"

typedef struct espyIncrementalFile
{
    void* data;
    size_t size;
} espyIncrementalFile;

static espyBakeCase* espyIncremental_Rooms(void)
{
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddTwoRooms(c, 3.0f, 4.0f);
    for (uint32_t i = 0; i < 10; ++i)
    {
        float x = 0.5f + 0.75f * (float)i, z = 1.0f + 0.6f * (float)(i * 7 % 10);
        espyBakeCase_AddBox(c, (espyVec3){x, 0, z}, (espyVec3){x + 0.4f, 0.8f, z + 0.4f}, espyCaseFlag_Occludee);
    }
    return c;
}

static espyIncrementalFile espyIncremental_Bake(espyBakeCase* c, const espyBakeDef* base,
                                                const espyIncrementalFile* previous, espyBakeStats* stats,
                                                bool* unusable)
{
    espyBakeDef def = *base;
    def.previous = previous ? previous->data : NULL;
    def.previousSize = previous ? previous->size : 0;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_Ok);
    espyIncrementalFile file = {malloc(r.size), r.size};
    memcpy(file.data, r.data, r.size);
    *stats = r.stats;
    *unusable = espyBakeCase_HasWarning(&r, espyMessageId_BakePreviousUnusable);
    espyBake_Free(&r);
    return file;
}

// Bakes the changed level both ways and compares.
static void espyIncremental_Compare(espyBakeCase* c, const espyBakeDef* def, const espyIncrementalFile* old,
                                    uint64_t copied, bool unusable)
{
    espyBakeStats stats;
    bool refused;
    espyIncrementalFile full = espyIncremental_Bake(c, def, NULL, &stats, &refused);
    assert_int_equal(stats.copiedOccludees, 0);
    espyBakeStats whole = stats;
    espyIncrementalFile fast = espyIncremental_Bake(c, def, old, &stats, &refused);
    assert_int_equal(refused, unusable);
    assert_int_equal(stats.copiedOccludees, copied);
    assert_int_equal(stats.copiedOccludees + stats.retestedOccludees, c->occludeeCount);
    assert_true(stats.pairsVisible + stats.pairsHidden + stats.pairsUnknown ==
                (stats.cells - stats.solidCells) * stats.occludees);
    // A copied answer counts as what it was when it was found.
    assert_int_equal(stats.pairsVisible, whole.pairsVisible);
    assert_int_equal(stats.pairsHidden, whole.pairsHidden);
    assert_int_equal(stats.pairsProvenHidden, whole.pairsProvenHidden);
    assert_int_equal(stats.pairsUnknown, whole.pairsUnknown);
    assert_int_equal(full.size, fast.size);
    assert_memory_equal(full.data, fast.data, full.size);
    free(full.data);
    free(fast.data);
}

static void espyIncremental_Move(espyBakeCase* c, uint32_t occludee, float by)
{
    espyVec3* p = (espyVec3*)(uintptr_t)c->occludees[occludee].mesh.positions;
    for (uint32_t i = 0; i < c->occludees[occludee].mesh.vertexCount; ++i)
    {
        p[i].y += by;
    }
    c->occludees[occludee].box.min.y += by;
    c->occludees[occludee].box.max.y += by;
}

static void incremental_equals_full(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    espyBakeCase* c = espyIncremental_Rooms();
    espyBakeStats stats;
    bool refused;
    espyIncrementalFile old = espyIncremental_Bake(c, &def, NULL, &stats, &refused);
    // Nothing changed.
    espyIncremental_Compare(c, &def, &old, 10, false);
    // The other byte order is as good.
    espyIncrementalFile swapped = {malloc(old.size), old.size};
    espyDataError error;
    static const uint16_t one = 1;
    bool little = *(const uint8_t*)&one == 1;
    assert_int_equal(espyBake_ConvertByteOrder(old.data, old.size, little, swapped.data, &error), espyResult_Ok);
    espyIncremental_Compare(c, &def, &swapped, 10, false);
    free(swapped.data);
    // One moved by a hair, one new, one gone, the rest in another order.
    espyIncremental_Move(c, 4, 0.001f);
    espyIncremental_Compare(c, &def, &old, 9, false);
    espyBakeCase_AddBox(c, (espyVec3){7, 2, 7}, (espyVec3){7.5f, 3, 7.5f}, espyCaseFlag_Occludee);
    espyIncremental_Compare(c, &def, &old, 9, false);
    c->occludees[0] = c->occludees[--c->occludeeCount];
    espyIncremental_Compare(c, &def, &old, 8, false);
    // Stored flags do not force anything.
    def.consoleBudgetKB = 7;
    def.occlusionCulling = false;
    espyIncremental_Compare(c, &def, &old, 8, false);
    // Each of these does.
    espyBakeDef other = def;
    other.quality = espyBakeQuality_High;
    espyIncremental_Compare(c, &other, &old, 0, true);
    other = def;
    other.cellSize = 1.5f;
    espyIncremental_Compare(c, &other, &old, 0, true);
    other = def;
    other.seed = 2;
    espyIncremental_Compare(c, &other, &old, 0, true);
    other = def;
    other.dynamicObjects = false;
    espyIncremental_Compare(c, &other, &old, 0, true);
    other = def;
    other.nearDistance = 0.2f;
    espyIncremental_Compare(c, &other, &old, 0, true);
    // And another volume: cells are one and the same only where all are.
    espyBakeArea area = c->areas[0];
    espyBakeCase_AddArea(c, (espyVec3){0, 8, 0}, (espyVec3){2, 10, 2});
    espyIncremental_Compare(c, &def, &old, 0, true);
    --c->areaCount;
    c->areas[0].transform.m[0] += 2.0f;
    espyIncremental_Compare(c, &def, &old, 0, true);
    c->areas[0] = area;
    espyIncremental_Compare(c, &def, &old, 8, false);
    // A hole in a wall: same bounds, other content.
    uint32_t* indices = (uint32_t*)(uintptr_t)c->occluders[8].mesh.indices;
    indices[3] = indices[4];
    espyIncremental_Compare(c, &def, &old, 0, true);
    free(old.data);
    espyBakeCase_Destroy(c);
}

/// Quality proven draws what is neither seen nor proven. Copied, that is still unknown and not seen.
static void unknown_pairs_stay_unknown(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    def.quality = espyBakeQuality_Proven;
    espyBakeCase* c = espyIncremental_Rooms();
    // Crossed blinds in the door: neither a line nor a proof gets through all of them.
    for (uint32_t i = 0; i < 24; ++i)
    {
        float z = 3.0f + (float)i / 24.0f;
        espyVec3 a = {3.9f + 0.01f * (float)(i % 2), 0, z}, b = {4.4f, 0, z + 0.0395f};
        espyBakeCase_AddQuad(c, a, b, (espyVec3){b.x, 2, b.z}, (espyVec3){a.x, 2, a.z}, espyCaseFlag_Occluder);
    }
    espyBakeStats stats;
    bool refused;
    espyIncrementalFile old = espyIncremental_Bake(c, &def, NULL, &stats, &refused);
    print_message("visible %llu, hidden %llu, unknown %llu\n", (unsigned long long)stats.pairsVisible,
                  (unsigned long long)stats.pairsHidden, (unsigned long long)stats.pairsUnknown);
    assert_true(stats.pairsUnknown > 0 && stats.pairsProvenHidden > 0);
    espyIncremental_Compare(c, &def, &old, 10, false);
    espyIncremental_Move(c, 4, 0.001f);
    espyIncremental_Compare(c, &def, &old, 9, false);
    free(old.data);
    espyBakeCase_Destroy(c);
}

static void own_occluders_are_part_of_the_content(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    espyBakeCase* c = espyIncremental_Rooms();
    uint32_t box = espyBakeCase_AddBox(c, (espyVec3){6, 1, 6}, (espyVec3){7, 2, 7}, espyCaseFlag_Both);
    espyBakeStats stats;
    bool refused;
    espyIncrementalFile old = espyIncremental_Bake(c, &def, NULL, &stats, &refused);
    // The same box is no longer its own blocker: occluders are unchanged, the occludee is not.
    c->occludees[box].ownCount = 0;
    espyIncremental_Compare(c, &def, &old, 10, false);
    free(old.data);
    espyBakeCase_Destroy(c);
}

static void damaged_files_are_not_used(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    def.quality = espyBakeQuality_Low;
    espyBakeCase* c = espyIncremental_Rooms();
    espyBakeStats stats;
    bool refused;
    espyIncrementalFile old = espyIncremental_Bake(c, &def, NULL, &stats, &refused);
    for (size_t i = 0; i < 40; ++i)
    {
        espyIncrementalFile bad = {malloc(old.size), old.size};
        memcpy(bad.data, old.data, old.size);
        if (i < 20)
        {
            bad.size = old.size * i / 20;
        }
        else
        {
            ((uint8_t*)bad.data)[old.size * (i - 20) / 20] ^= 0x10;
        }
        espyIncrementalFile fresh = espyIncremental_Bake(c, &def, &bad, &stats, &refused);
        assert_true(refused && stats.copiedOccludees == 0);
        assert_memory_equal(fresh.data, old.data, old.size);
        free(fresh.data);
        free(bad.data);
    }
    free(old.data);
    espyBakeCase_Destroy(c);
}

static espyBakeCheck espyIncremental_Check(espyBakeCase* c, const espyBakeDef* def, const espyIncrementalFile* file)
{
    espyBakeCheck check;
    assert_int_equal(espyBake_Check(espyBakeCase_Input(c), def, file->data, file->size, &check), espyResult_Ok);
    assert_non_null(check.reason);
    return check;
}

static void check_says_what_changed(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    espyBakeCase* c = espyIncremental_Rooms();
    espyBakeStats stats;
    bool refused;
    espyIncrementalFile file = espyIncremental_Bake(c, &def, NULL, &stats, &refused);
    espyBakeCheck check = espyIncremental_Check(c, &def, &file);
    assert_true(!check.stale && check.changedOccluders == 0 && check.changedOccludees == 0 && check.firstNode == -1);
    assert_string_equal(check.reason, "");
    // Occluders in another order are the same occluders.
    espyBakeOccluder swap = c->occluders[0];
    c->occluders[0] = c->occluders[5];
    c->occluders[5] = swap;
    check = espyIncremental_Check(c, &def, &file);
    assert_true(!check.stale && check.changedOccluders == 0);
    // A moved occludee is not stale.
    espyIncremental_Move(c, 3, 0.25f);
    check = espyIncremental_Check(c, &def, &file);
    assert_true(!check.stale && check.changedOccludees == 1);
    assert_int_equal(check.firstNode, c->occludees[3].node);
    // Settings, an occluder more, an altered one, one gone.
    espyBakeDef other = def;
    other.quality = espyBakeQuality_Low;
    check = espyIncremental_Check(c, &other, &file);
    assert_true(check.stale && check.changedOccluders == 0);
    espyBakeCase_AddBox(c, (espyVec3){1, 0, 1}, (espyVec3){1.1f, 1, 1.1f}, espyCaseFlag_Occluder);
    check = espyIncremental_Check(c, &def, &file);
    assert_true(check.stale && check.changedOccluders == 1);
    assert_int_equal(check.firstNode, c->occluders[c->occluderCount - 1].node);
    --c->occluderCount;
    uint32_t* indices = (uint32_t*)(uintptr_t)c->occluders[7].mesh.indices;
    indices[3] = indices[4];
    check = espyIncremental_Check(c, &def, &file);
    assert_true(check.stale && check.changedOccluders == 1);
    assert_int_equal(check.firstNode, c->occluders[7].node);
    int32_t gone = c->occluders[c->occluderCount - 1].node;
    indices[3] = 0;
    c->occluderCount--;
    check = espyIncremental_Check(c, &def, &file);
    assert_true(check.stale && check.changedOccluders >= 1);
    assert_true(check.firstNode >= 0 && check.firstNode <= gone);
    // The volume.
    c->occluderCount++;
    espyBakeCase_AddArea(c, (espyVec3){8, 0, 0}, (espyVec3){10, 4, 8});
    check = espyIncremental_Check(c, &def, &file);
    assert_true(check.stale);
    assert_string_equal(check.reason, "the cells changed");
    // Damage is an error, not an answer.
    ((uint8_t*)file.data)[file.size / 2] ^= 1;
    assert_int_equal(espyBake_Check(espyBakeCase_Input(c), &def, file.data, file.size, &check), espyResult_BadData);
    assert_true(check.stale);
    free(file.data);
    espyBakeCase_Destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(incremental_equals_full),
        cmocka_unit_test(unknown_pairs_stay_unknown),
        cmocka_unit_test(own_occluders_are_part_of_the_content),
        cmocka_unit_test(damaged_files_are_not_used),
        cmocka_unit_test(check_says_what_changed),
    };
    return cmocka_run_group_tests_name("incremental", tests, NULL, NULL);
}
