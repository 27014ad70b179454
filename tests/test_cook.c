// SPDX-License-Identifier: MIT
// Cooked files against the files that they were made from: the same answers where nothing had to be cut, and never a
// "hidden" that was not one before where something was.
#include <espy/bake.h>
#include <espy/cook.h>

#include <math.h>

#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "editor/cook_internal.h"
#include "hook_counter.h"
#include "pvs/format.h"
#include "pvs_case.h"
#include "test_main.h"

static const espyCookTarget espyTestLittle = {"little console", espyByteOrder_Little, true, true};
static const espyCookTarget espyTestBig = {"big console", espyByteOrder_Big, true, true};
static const espyCookTarget espyTestWhole = {"no unroll", espyByteOrder_Little, true, false};

static bool espyTest_IsBigEndianHere(void)
{
    const uint32_t one = 1;
    return *(const uint8_t*)&one == 0;
}

static const espyCookTarget* espyTest_Native(void)
{
    return espyTest_IsBigEndianHere() ? &espyTestBig : &espyTestLittle;
}

static espyPvsCaseDef espyTest_Level(uint32_t number)
{
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.seed = 100 + number;
    def.dims[0] = 17;
    def.dims[1] = number % 2 == 0 ? 6 : 5;
    def.dims[2] = 14;
    def.origin = (espyVec3){-8.0f, 0.5f, 3.0f};
    def.cellSize = 2.0f;
    def.occludeeCount = 70;
    def.coherent = true;
    def.storedShare = number == 3 ? 0.97f : 1.0f;
    def.coarseFactor = number == 2 ? 0 : 4 + number % 3;
    if (number == 4)
    {
        // Borders that round: no pairs may start at the second cell there.
        def.origin = (espyVec3){0.1f, -7.3f, 1003.7f};
        def.cellSize = 1.7f;
    }
    return def;
}

static espyCookResult espyTest_Cook(const espyPvsCase* made, const espyCookTarget* target, uint32_t budgetKB)
{
    espyCookDef def = espyCookDef_Default();
    def.target = *target;
    def.budgetKB = budgetKB;
    espyCookResult out;
    assert_int_equal(espyCook_Run(made->file, made->size, &def, &out), espyResult_Ok);
    assert_int_equal(out.size, out.report.after.fileBytes);
    assert_int_equal(made->size, out.report.before.fileBytes);
    return out;
}

static espyPvs espyTest_Load(const void* data, size_t size)
{
    espyPvs pvs;
    espyDataError error;
    espyResult result = espyPvs_Load(&pvs, data, size, &error);
    if (result != espyResult_Ok)
    {
        fail_msg("%s at %llu, '%s'", espyResult_GetName(result), (unsigned long long)error.byteOffset, error.field);
    }
    return pvs;
}

/// A coordinate inside, on a border of, or around the lattice.
static float espyTest_Coordinate(espyiRng* rng, float origin, float cellSize, uint32_t dim)
{
    int32_t border = (int32_t)espyiRng_Below(rng, dim + 3u) - 1;
    float at = origin + (float)border * cellSize;
    switch (espyiRng_Below(rng, 4))
    {
    case 0:
        return at;
    case 1:
        return at + cellSize * 1e-6f * (float)((int32_t)espyiRng_Below(rng, 9) - 4);
    default:
        return at + cellSize * espyiRng_Float(rng);
    }
}

static espyVec3 espyTest_Point(espyiRng* rng, const espyPvs* pvs)
{
    float x = espyTest_Coordinate(rng, pvs->origin.x, pvs->cellSize, pvs->dims[0]);
    float y = espyTest_Coordinate(rng, pvs->origin.y, pvs->cellSize, pvs->dims[1]);
    float z = espyTest_Coordinate(rng, pvs->origin.z, pvs->cellSize, pvs->dims[2]);
    return (espyVec3){x, y, z};
}

static float espyTest_Min(float a, float b)
{
    return a < b ? a : b;
}

static float espyTest_Max(float a, float b)
{
    return a > b ? a : b;
}

/// From every random point: what the cooked file hides was hidden before. With `same` also the other way.
static void espyTest_CompareAnswers(const espyPvs* before, const espyPvs* after, const uint32_t* keep, bool same,
                                    uint64_t seed)
{
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t i = 0; i < 4000; ++i)
    {
        espyVec3 eye = espyTest_Point(&rng, before);
        int32_t from = espyPvs_FindCell(before, eye);
        int32_t to = espyPvs_FindCell(after, eye);
        for (uint32_t slot = 0; slot < after->occludeeCount; ++slot)
        {
            bool now = espyPvs_TestSlot(after, to, slot) == espyVisibility_Occluded;
            bool was = espyPvs_TestSlot(before, from, keep ? keep[slot] : slot) == espyVisibility_Occluded;
            if ((now && !was) || (same && was != now))
            {
                fail_msg("seed %llu: eye %.9g %.9g %.9g slot %u", (unsigned long long)seed, (double)eye.x,
                         (double)eye.y, (double)eye.z, slot);
            }
        }
        espyVec3 a = espyTest_Point(&rng, before);
        espyVec3 b = espyiRng_Below(&rng, 2) == 0 ? a : espyTest_Point(&rng, before);
        espyBox box = {{espyTest_Min(a.x, b.x), espyTest_Min(a.y, b.y), espyTest_Min(a.z, b.z)},
                       {espyTest_Max(a.x, b.x), espyTest_Max(a.y, b.y), espyTest_Max(a.z, b.z)}};
        bool now = espyPvs_TestBox(after, to, box) == espyVisibility_Occluded;
        bool was = espyPvs_TestBox(before, from, box) == espyVisibility_Occluded;
        if ((now && !was) || (same && was != now))
        {
            fail_msg("seed %llu: eye %.9g %.9g %.9g box %.9g %.9g %.9g .. %.9g %.9g %.9g", (unsigned long long)seed,
                     (double)eye.x, (double)eye.y, (double)eye.z, (double)box.min.x, (double)box.min.y,
                     (double)box.min.z, (double)box.max.x, (double)box.max.y, (double)box.max.z);
        }
    }
}

static espyVec3 espyTest_Center(espyBox box)
{
    return (espyVec3){(box.min.x + box.max.x) * 0.5f, (box.min.y + box.max.y) * 0.5f, (box.min.z + box.max.z) * 0.5f};
}

/// What stays hidden, by asking from the middle of every cell as baked.
static uint64_t espyTest_CountHidden(const espyPvs* before, const espyPvs* after)
{
    uint64_t hidden = 0;
    for (uint32_t cell = 0; cell < before->cellCount; ++cell)
    {
        int32_t to = espyPvs_FindCell(after, espyTest_Center(espyPvs_GetCellBox(before, (int32_t)cell)));
        for (uint32_t slot = 0; slot < after->occludeeCount; ++slot)
        {
            hidden += espyPvs_TestSlot(after, to, slot) == espyVisibility_Occluded ? 1u : 0u;
        }
    }
    return hidden;
}

/// The same with boxes that fill the coarse blocks as baked, but for a margin.
static uint64_t espyTest_CountDynamicHidden(const espyPvs* before, const espyPvs* after)
{
    uint64_t hidden = 0;
    float edge = before->cellSize * (float)before->coarseFactor;
    float margin = before->cellSize * 0.01f;
    const float* origin = &before->origin.x;
    for (uint32_t cell = 0; cell < before->cellCount; ++cell)
    {
        int32_t to = espyPvs_FindCell(after, espyTest_Center(espyPvs_GetCellBox(before, (int32_t)cell)));
        uint32_t blocks = before->coarseDims[0] * before->coarseDims[1] * before->coarseDims[2];
        for (uint32_t block = 0; block < blocks; ++block)
        {
            uint32_t at[3] = {block % before->coarseDims[0], block / before->coarseDims[0] % before->coarseDims[1],
                              block / before->coarseDims[0] / before->coarseDims[1]};
            float low[3], high[3];
            for (uint32_t axis = 0; axis < 3; ++axis)
            {
                low[axis] = origin[axis] + (float)at[axis] * edge + margin;
                float end = origin[axis] + (float)before->dims[axis] * before->cellSize;
                high[axis] = espyTest_Min(origin[axis] + (float)(at[axis] + 1u) * edge, end) - margin;
            }
            espyBox box = {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
            hidden += espyPvs_TestBox(after, to, box) == espyVisibility_Occluded ? 1u : 0u;
        }
    }
    return hidden;
}

/// The report against what can be counted from outside.
static void espyTest_CheckReport(const espyPvs* before, const espyPvs* after, const espyCookReport* report)
{
    assert_int_equal(report->hiddenPairsBefore, espyTest_CountHidden(before, before));
    assert_int_equal(report->hiddenPairs, espyTest_CountHidden(before, after));
    assert_int_equal(report->dynamicHiddenBefore, espyTest_CountDynamicHidden(before, before));
    assert_int_equal(report->dynamicHidden, espyTest_CountDynamicHidden(before, after));
    uint64_t pairs = 0, dynamicPairs = 0;
    for (uint32_t i = 0; i < report->stepCount; ++i)
    {
        pairs += report->steps[i].pairs;
        dynamicPairs += report->steps[i].dynamicPairs;
    }
    assert_int_equal(pairs, report->hiddenPairsBefore - report->hiddenPairs);
    assert_int_equal(dynamicPairs, report->dynamicHiddenBefore - report->dynamicHidden);
    assert_int_equal(report->steps[report->stepCount - 1u].bytes, report->after.fileBytes);
}

// --- targets

static void test_built_in_targets_are_found_by_name(void** state)
{
    (void)state;
    static const espyCookTarget known[] = {
        {"gamecube", espyByteOrder_Big, true, true},   {"wii", espyByteOrder_Big, true, true},
        {"3ds", espyByteOrder_Little, true, true},     {"psp", espyByteOrder_Little, true, true},
        {"ps2", espyByteOrder_Little, true, true},     {"windows", espyByteOrder_Little, false, false},
        {"linux", espyByteOrder_Little, false, false}, {"web", espyByteOrder_Little, false, false},
    };
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(known); ++i)
    {
        const espyCookTarget* target = espyCookTarget_Find(known[i].name);
        assert_non_null(target);
        assert_int_equal(target->byteOrder, known[i].byteOrder);
        assert_int_equal(target->isConsole, known[i].isConsole);
        assert_int_equal(target->unrolls, known[i].unrolls);
    }
    assert_null(espyCookTarget_Get(ESPYI_ARRAY_COUNT(known)));
    assert_null(espyCookTarget_Find("Wii"));
    assert_null(espyCookTarget_Find(NULL));
}

static void test_desktops_keep_every_byte(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    // A budget is for consoles.
    espyCookTarget here = {"here", espyTest_Native()->byteOrder, false, false};
    espyCookResult out = espyTest_Cook(&made, &here, 1);
    assert_int_equal(out.size, made.size);
    assert_memory_equal(out.data, made.file, made.size);
    assert_int_equal(out.report.stepCount, 0);
    espyCook_Free(&out);

    espyCookTarget there = {"there", here.byteOrder == espyByteOrder_Big ? espyByteOrder_Little : espyByteOrder_Big,
                            false, false};
    out = espyTest_Cook(&made, &there, 1);
    void* turned = malloc(made.size);
    assert_non_null(turned);
    assert_int_equal(
        espyBake_ConvertByteOrder(made.file, made.size, there.byteOrder == espyByteOrder_Big, turned, NULL),
        espyResult_Ok);
    assert_memory_equal(out.data, turned, made.size);
    free(turned);
    espyCook_Free(&out);
    espyPvsCase_Free(&made);
}

static void test_an_uncut_cook_answers_as_the_file_did(void** state)
{
    (void)state;
    for (uint32_t number = 0; number < 5; ++number)
    {
        espyPvsCaseDef level = espyTest_Level(number);
        espyPvsCase made = espyPvsCase_Make(&level);
        espyCookResult out = espyTest_Cook(&made, espyTest_Native(), 0);
        espyPvs before = espyTest_Load(made.file, made.size);
        espyPvs after = espyTest_Load(out.data, out.size);
        assert_int_equal(after.occludeeCount, before.occludeeCount);
        assert_int_equal(after.cellCount, before.cellCount);
        assert_int_equal(after.staticSetCount, before.staticSetCount);
        assert_int_equal(after.dynamicSetCount, before.dynamicSetCount);
        assert_true(out.size < made.size);
        assert_null(after.nodes);
        assert_null(after.parts);
        assert_null(after.hashes);
        assert_null(after.solid);
        size_t boxes = ((size_t)before.occluderCount + before.occludeeCount) * sizeof(espyBox);
        assert_memory_equal(after.entries, before.entries, boxes);
        uint32_t was[8], now[8];
        for (uint32_t cell = 0; cell < before.cellCount; ++cell)
        {
            espyPvs_ReadStaticSet(&before, (int32_t)cell, was);
            espyPvs_ReadStaticSet(&after, (int32_t)cell, now);
            assert_memory_equal(was, now, before.staticWords * sizeof *was);
            espyPvs_ReadDynamicSet(&before, (int32_t)cell, was);
            espyPvs_ReadDynamicSet(&after, (int32_t)cell, now);
            assert_memory_equal(was, now, before.coarseWords * sizeof *was);
        }
        espyTest_CompareAnswers(&before, &after, NULL, true, level.seed);
        espyTest_CheckReport(&before, &after, &out.report);
        espyCook_Free(&out);
        espyPvsCase_Free(&made);
    }
}

static void test_both_byte_orders_come_back(void** state)
{
    (void)state;
    for (uint32_t budgetKB = 0; budgetKB <= 4; budgetKB += 4)
    {
        espyPvsCaseDef level = espyTest_Level(3);
        espyPvsCase made = espyPvsCase_Make(&level);
        espyCookResult little = espyTest_Cook(&made, &espyTestLittle, budgetKB);
        espyCookResult big = espyTest_Cook(&made, &espyTestBig, budgetKB);
        assert_int_equal(little.size, big.size);
        assert_int_equal(((const uint8_t*)little.data)[0], 'E');
        assert_int_equal(((const uint8_t*)big.data)[0], 'Y');
        // A cooked file can be cooked again, for the other order as well.
        espyCookDef def = espyCookDef_Default();
        def.target = espyTestLittle;
        def.budgetKB = 0;
        espyCookResult again;
        assert_int_equal(espyCook_Run(big.data, big.size, &def, &again), espyResult_Ok);
        assert_int_equal(again.size, little.size);
        assert_memory_equal(again.data, little.data, little.size);
        espyCook_Free(&again);
        espyCook_Free(&big);
        espyCook_Free(&little);
        espyPvsCase_Free(&made);
    }
}

static void test_whole_nodes_alone_where_nothing_is_unrolled(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(1);
    espyPvsCase made = espyPvsCase_Make(&level);
    espyPvs before = espyTest_Load(made.file, made.size);
    uint32_t keep[128], kept = 0;
    for (uint32_t i = 0; i < before.occludeeCount; ++i)
    {
        if (espyPvs_GetOccludeePart(&before, i) < 0)
        {
            keep[kept++] = i;
        }
    }
    assert_true(kept > 5 && kept < before.occludeeCount);
    espyCookResult out = espyTest_Cook(&made, &espyTestWhole, 0);
    espyPvs after = espyTest_Load(out.data, out.size);
    assert_int_equal(after.occludeeCount, kept);
    assert_int_equal(after.occluderCount, before.occluderCount);
    for (uint32_t i = 0; i < kept; ++i)
    {
        espyBox a = espyPvs_GetOccludeeBox(&after, i), b = espyPvs_GetOccludeeBox(&before, keep[i]);
        assert_memory_equal(&a, &b, sizeof a);
    }
    espyTest_CompareAnswers(&before, &after, keep, true, level.seed);
    assert_int_equal(out.report.stepCount, 2);
    assert_int_equal(out.report.steps[1].kind, espyCookStepKind_DropParts);
    assert_int_equal(out.report.steps[1].count, before.occludeeCount - kept);
    assert_true(out.report.steps[1].bytes < out.report.steps[0].bytes);
    espyCook_Free(&out);
    out = espyTest_Cook(&made, &espyTestLittle, 0);
    assert_int_equal(out.report.steps[0].bytes, out.size);
    espyCook_Free(&out);
    espyPvsCase_Free(&made);
}

// --- budgets

static void test_every_budget_is_kept_and_only_adds(void** state)
{
    (void)state;
    uint32_t kinds[6] = {0};
    for (uint32_t number = 0; number < 5; ++number)
    {
        espyPvsCaseDef level = espyTest_Level(number);
        espyPvsCase made = espyPvsCase_Make(&level);
        espyPvs before = espyTest_Load(made.file, made.size);
        uint64_t last = UINT64_MAX;
        for (uint32_t budgetKB = (uint32_t)(made.size / 1024u) + 1u; budgetKB > 0; --budgetKB)
        {
            espyCookResult out = espyTest_Cook(&made, espyTest_Native(), budgetKB);
            espyPvs after = espyTest_Load(out.data, out.size);
            assert_true(out.size <= (size_t)budgetKB * 1024u);
            espyTest_CompareAnswers(&before, &after, NULL, false, level.seed * 1000u + budgetKB);
            if (!out.report.empty)
            {
                espyTest_CheckReport(&before, &after, &out.report);
                assert_true(out.report.hiddenPairs + out.report.dynamicHidden > 0);
            }
            for (uint32_t i = 0; i < out.report.stepCount; ++i)
            {
                ++kinds[out.report.steps[i].kind];
            }
            last = budgetKB;
            espyCook_Free(&out);
        }
        assert_int_equal(last, 1);
        espyPvsCase_Free(&made);
    }
    // Every way of cutting was taken somewhere.
    assert_true(kinds[espyCookStepKind_MergeSets] > 0);
    assert_true(kinds[espyCookStepKind_JoinCells] > 0);
    assert_true(kinds[espyCookStepKind_DropDynamic] > 0);
    assert_true(kinds[espyCookStepKind_EmptyTable] > 0);
}

static void test_packed_tables_fit_before_anything_is_cut(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    espyPvs before = espyTest_Load(made.file, made.size);
    uint32_t whole = 0, cut = 0;
    for (uint32_t budgetKB = (uint32_t)(made.size / 1024u) + 1u; budgetKB > 0; budgetKB = budgetKB * 2u / 3u)
    {
        espyCookDef def = espyCookDef_Default();
        def.target = *espyTest_Native();
        def.budgetKB = budgetKB;
        def.pack = true;
        espyCookResult out;
        assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_Ok);
        assert_true(out.size <= (size_t)budgetKB * 1024u);
        espyPvs after = espyTest_Load(out.data, out.size);
        bool same = !out.report.empty && out.report.hiddenPairs == out.report.hiddenPairsBefore &&
                    out.report.dynamicHidden == out.report.dynamicHiddenBefore;
        espyTest_CompareAnswers(&before, &after, NULL, same, level.seed + budgetKB);
        espyCook_Free(&out);
        out = espyTest_Cook(&made, espyTest_Native(), budgetKB);
        bool plainCut = out.report.hiddenPairs < out.report.hiddenPairsBefore;
        whole += same && plainCut ? 1u : 0u;
        cut += same ? 0u : 1u;
        espyCook_Free(&out);
    }
    assert_true(whole > 0 && cut > 0);
    espyPvsCase_Free(&made);
}

static void test_a_little_over_budget_merges_sets_first(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    espyCookResult whole = espyTest_Cook(&made, espyTest_Native(), 0);
    uint32_t budgetKB = (uint32_t)(whole.size / 1024u);
    espyCookResult out = espyTest_Cook(&made, espyTest_Native(), budgetKB);
    assert_int_equal(out.report.stepCount, 2);
    assert_int_equal(out.report.steps[1].kind, espyCookStepKind_MergeSets);
    assert_true(out.report.hiddenPairs * 100u > out.report.hiddenPairsBefore * 90u);
    assert_true(out.report.after.cellSize == out.report.before.cellSize);
    espyCook_Free(&out);
    espyCook_Free(&whole);
    espyPvsCase_Free(&made);
}

static void test_joined_cells_tell_how_large_they_were(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    bool joined = false;
    for (uint32_t budgetKB = 1; budgetKB < 8; ++budgetKB)
    {
        espyCookResult out = espyTest_Cook(&made, espyTest_Native(), budgetKB);
        espyPvs pvs = espyTest_Load(out.data, out.size);
        espyPvsInfo info;
        espyPvs_GetInfo(&pvs, &info);
        assert_true(info.bakedCellSize == level.cellSize);
        joined = joined || info.cellSize > level.cellSize;
        espyCook_Free(&out);
    }
    assert_true(joined);
    espyPvsCase_Free(&made);
}

typedef struct espyTestLog
{
    espyMessageId id;
    char text[256];
    uint32_t count;
} espyTestLog;

static void espyTest_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    espyTestLog* log = context;
    assert_int_equal(level, espyLogLevel_Warning);
    log->id = id;
    snprintf(log->text, sizeof log->text, "%s", text);
    ++log->count;
}

static void test_a_strict_budget_leaves_an_empty_table(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    espyCookResult whole = espyTest_Cook(&made, espyTest_Native(), 0);
    espyCookDef def = espyCookDef_Default();
    espyTestLog log = {0};
    def.target = *espyTest_Native();
    def.strictBudget = true;
    def.budgetKB = (uint32_t)(whole.size / 1024u) + 1u;
    def.hooks = (espyHooks){.log = espyTest_Log, .context = &log};
    espyCookResult out;
    assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_Ok);
    assert_false(out.report.empty);
    assert_int_equal(out.size, whole.size);
    assert_memory_equal(out.data, whole.data, whole.size);
    assert_int_equal(log.count, 0);
    espyCook_Free(&out);

    --def.budgetKB;
    assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_Ok);
    assert_true(out.report.empty);
    assert_int_equal(log.count, 1);
    assert_int_equal(log.id, espyMessageId_CookEmptyTable);
    assert_non_null(strstr(log.text, "console"));
    espyPvs pvs = espyTest_Load(out.data, out.size);
    assert_int_equal(pvs.cellCount, 0);
    assert_int_equal(pvs.occludeeCount, 0);
    assert_true(out.size < 300);
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){0, 1, 4}), ESPY_PVS_OUTSIDE);
    // An empty file stays what it is.
    espyCookResult again;
    log = (espyTestLog){0};
    assert_int_equal(espyCook_Run(out.data, out.size, &def, &again), espyResult_Ok);
    assert_int_equal(log.count, 0);
    assert_int_equal(again.size, out.size);
    assert_memory_equal(again.data, out.data, out.size);
    espyCook_Free(&again);
    espyCook_Free(&out);
    espyCook_Free(&whole);
    espyPvsCase_Free(&made);
}

static void test_the_budget_is_the_files_own_by_default(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    ((espyiFileHeader*)made.file)->consoleBudgetKB = 6;
    espyPvsCase_Rehash(made.file, made.size);
    espyCookResult out = espyTest_Cook(&made, espyTest_Native(), ESPY_COOK_BUDGET_OF_FILE);
    assert_int_equal(out.report.budgetBytes, 6 * 1024);
    assert_true(out.size <= 6 * 1024);
    espyCook_Free(&out);
    ((espyiFileHeader*)made.file)->consoleBudgetKB = 0;
    espyPvsCase_Rehash(made.file, made.size);
    out = espyTest_Cook(&made, espyTest_Native(), ESPY_COOK_BUDGET_OF_FILE);
    assert_int_equal(out.report.stepCount, 1);
    espyCook_Free(&out);
    espyPvsCase_Free(&made);
}

// --- joins

/// The next model, written as a file. False where nothing can be joined.
static bool espyTest_Join(espyiCookModel* model, const espyiCookOrigin* origin, const espyHooks* hooks, void** file,
                          size_t* size)
{
    espyiCookModel next;
    espyResult result = espyiCookModel_Join(model, hooks, &next);
    espyiCookModel_Free(model, hooks);
    *model = next;
    if (result == espyResult_NotFound)
    {
        return false;
    }
    assert_int_equal(result, espyResult_Ok);
    assert_int_equal(espyiCookModel_Write(model, origin, hooks, file, size), espyResult_Ok);
    return true;
}

static void test_joins_of_all_sorts_of_lattices_only_add(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    uint32_t shifted = 0, inexact = 0, joins = 0, lumps = 0;
    for (uint32_t seed = 1; seed <= 120; ++seed)
    {
        espyiRng rng = espyiRng_Seed(seed);
        espyPvsCaseDef level = espyPvsCaseDef_Default();
        level.seed = seed;
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            level.dims[axis] = axis == 1 ? 2u + espyiRng_Below(&rng, 6) : 9u + espyiRng_Below(&rng, 9);
        }
        level.occludeeCount = 6;
        level.coherent = true;
        level.coarseFactor = 4u + espyiRng_Below(&rng, 3);
        bool odd = espyiRng_Below(&rng, 3) == 0;
        level.cellSize = odd ? 1.7f : 1.5f;
        level.origin.x = odd ? 0.1f + espyiRng_Float(&rng) * 100.0f : level.origin.x;
        bool lump = espyiRng_Below(&rng, 2) == 0;
        level.storedShare = lump ? 0.8f : 1.0f;
        level.storedLump = lump ? 4 : 0;
        espyPvsCase made = espyPvsCase_Make(&level);
        espyPvs before = espyTest_Load(made.file, made.size);
        espyiCookModel model;
        assert_int_equal(espyiCookModel_Load(&before, NULL, 0, &hooks, &model), espyResult_Ok);
        espyiCookOrigin origin = {.pvs = &before,
                                  .occludeeBoxes = (const espyBox*)(const void*)before.entries + before.occluderCount,
                                  .occludeeCount = before.occludeeCount};
        void* file;
        size_t size;
        for (uint32_t join = 0; espyTest_Join(&model, &origin, &hooks, &file, &size); ++join)
        {
            espyPvs after = espyTest_Load(file, size);
            assert_true(after.cellSize == before.cellSize * (float)(2u << join));
            espyTest_CompareAnswers(&before, &after, NULL, false, seed);
            shifted += model.offset[0] + model.offset[1] + model.offset[2] > 0 ? 1u : 0u;
            inexact += odd ? 1u : 0u;
            lumps += lump ? 1u : 0u;
            ++joins;
            espyiFree(&hooks, file);
        }
        espyiCookModel_Free(&model, &hooks);
        espyPvsCase_Free(&made);
    }
    assert_true(joins > 100 && shifted > 20 && inexact > 20 && lumps > 20);
}

// --- the same everywhere, and failures

static void test_cooks_are_the_same_everywhere(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(1);
    espyPvsCase made = espyPvsCase_Make(&level);
    static const struct
    {
        uint32_t budgetKB;
        uint64_t hash;
    } golden[] = {{0, 0xC9216EAFBF893069ull}, {12, 0x0DBCA4D6614ABDBDull}, {6, 0x9F013C548F5C779Eull}};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(golden); ++i)
    {
        espyCookResult out = espyTest_Cook(&made, &espyTestBig, golden[i].budgetKB);
        uint64_t hash = espyiHash_Bytes(1, out.data, out.size);
        if (hash != golden[i].hash)
        {
            fail_msg("budget %u KB: 0x%016llXull", golden[i].budgetKB, (unsigned long long)hash);
        }
        espyCook_Free(&out);
    }
    espyPvsCase_Free(&made);
}

static void test_memory_that_runs_out_is_told_and_freed(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(1);
    level.dims[0] = 9;
    espyPvsCase made = espyPvsCase_Make(&level);
    espyCookDef def = espyCookDef_Default();
    def.target = espyTestWhole;
    def.budgetKB = 3;
    espyResult result = espyResult_OutOfMemory;
    unsigned failAt = 0;
    while (result != espyResult_Ok)
    {
        espyHookCounter counter = {.failAt = ++failAt};
        def.hooks = espyHookCounter_Hooks(&counter);
        espyCookResult out;
        result = espyCook_Run(made.file, made.size, &def, &out);
        assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
        assert_true((out.data != NULL) == (result == espyResult_Ok));
        espyCook_Free(&out);
        assert_int_equal(atomic_load(&counter.blocks), 0);
    }
    assert_true(failAt > 40);
    espyPvsCase_Free(&made);
}

static void test_bad_input_is_named(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyPvsCaseDef_Default();
    espyPvsCase made = espyPvsCase_Make(&level);
    espyCookDef def = espyCookDef_Default();
    espyCookResult out;
    for (size_t size = 0; size < made.size; size += 16)
    {
        assert_int_equal(espyCook_Run(made.file, size, &def, &out), espyResult_BadData);
        assert_null(out.data);
        assert_true(out.error.field[0] != '\0');
        espyCook_Free(&out);
    }
    ((uint8_t*)made.file)[made.size - 1u] ^= 0x40u;
    assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_BadData);
    def.cookie = 0;
    assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_InvalidArgument);
    espyCook_Free(&out);
    assert_int_equal(espyCook_Run(made.file, made.size, NULL, &out), espyResult_InvalidArgument);
    espyPvsCase_Free(&made);
}

static void test_bad_baked_cell_sizes_are_refused(void** state)
{
    (void)state;
    espyPvsCaseDef level = espyTest_Level(0);
    espyPvsCase made = espyPvsCase_Make(&level);
    espyCookResult out = {0};
    const espyiFileSection* section = NULL;
    for (uint32_t budgetKB = 8; !section && budgetKB > 0; --budgetKB)
    {
        espyCook_Free(&out);
        out = espyTest_Cook(&made, espyTest_Native(), budgetKB);
        section = espyiFile_Find(out.data, espyiSectionKind_BakedCellSize);
    }
    assert_non_null(section);
    static const float bad[] = {0.0f, -1.0f, 1e6f};
    for (uint32_t i = 0; i <= ESPYI_ARRAY_COUNT(bad); ++i)
    {
        const float nan = NAN;
        memcpy((uint8_t*)out.data + section->offset, i < ESPYI_ARRAY_COUNT(bad) ? &bad[i] : &nan, sizeof(float));
        espyPvsCase_Rehash(out.data, out.size);
        espyPvs pvs;
        espyDataError error;
        assert_int_equal(espyPvs_Load(&pvs, out.data, out.size, &error), espyResult_BadData);
        assert_string_equal(error.field, "BAKED_CELL_SIZE");
        assert_int_equal(error.byteOffset, section->offset);
    }
    espyCook_Free(&out);
    espyPvsCase_Free(&made);
}

static void test_names_of_steps(void** state)
{
    (void)state;
    assert_string_equal(espyCookStep_GetName(espyCookStepKind_MergeSets), "merge sets");
    assert_string_equal(espyCookStep_GetName((espyCookStepKind)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_targets_are_found_by_name),
        cmocka_unit_test(test_desktops_keep_every_byte),
        cmocka_unit_test(test_an_uncut_cook_answers_as_the_file_did),
        cmocka_unit_test(test_both_byte_orders_come_back),
        cmocka_unit_test(test_whole_nodes_alone_where_nothing_is_unrolled),
        cmocka_unit_test(test_every_budget_is_kept_and_only_adds),
        cmocka_unit_test(test_packed_tables_fit_before_anything_is_cut),
        cmocka_unit_test(test_a_little_over_budget_merges_sets_first),
        cmocka_unit_test(test_joined_cells_tell_how_large_they_were),
        cmocka_unit_test(test_a_strict_budget_leaves_an_empty_table),
        cmocka_unit_test(test_the_budget_is_the_files_own_by_default),
        cmocka_unit_test(test_joins_of_all_sorts_of_lattices_only_add),
        cmocka_unit_test(test_cooks_are_the_same_everywhere),
        cmocka_unit_test(test_memory_that_runs_out_is_told_and_freed),
        cmocka_unit_test(test_bad_input_is_named),
        cmocka_unit_test(test_bad_baked_cell_sizes_are_refused),
        cmocka_unit_test(test_names_of_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
