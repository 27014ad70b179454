// SPDX-License-Identifier: MIT
// The audit leaves rays out that cannot matter; the numbers are those of all rays, on levels that are baked well and on
// files that hide what shows.
#include "test_main.h"

#include <string.h>

#include <espy/audit.h>
#include <espy/editor.h>

#include "audit/face_filter.h"
#include "bake_case.h"
#include "core/core.h"
#include "core/tasks.h"
#include "scenes/scenes.h"

static void espyTest_Compare(const char* name, const espyBakeInput* input, const espyPvs* pvs, uint32_t views,
                             bool mixedUp)
{
    espyAuditResult results[2];
    double seconds[2];
    for (int rays = 0; rays < 2; ++rays)
    {
        espyAuditDef def = espyAuditDef_Default();
        def.views = views;
        def.size = 96;
        def.seed = 7;
        def.threads = 1;
        def.allRays = rays == 1;
        double start = espyiClock_ThreadCpuSeconds();
        assert_int_equal(espyAudit_Run(input, pvs, &def, &results[rays]), espyResult_Ok);
        seconds[rays] = espyiClock_ThreadCpuSeconds() - start;
    }
    print_message("%s: %u views, %llu wrong pixels, %.2f s by what can matter, %.2f s by all rays\n", name, views,
                  (unsigned long long)results[0].wrongPixels, seconds[0], seconds[1]);
    // The file of another scene is wrong all over; a sampled bake may miss a pixel in a million.
    assert_true(mixedUp ? results[1].wrongPixels * 1000 > results[1].pixels
                        : results[1].wrongPixels * 100000 <= results[1].pixels);
    assert_int_equal(results[0].views, results[1].views);
    assert_true(results[0].views > 0);
    assert_int_equal(results[0].pixels, results[1].pixels);
    assert_int_equal(results[0].wrongPixels, results[1].wrongPixels);
    assert_int_equal(results[0].wrongObjects, results[1].wrongObjects);
    assert_int_equal(results[0].wrongViews, results[1].wrongViews);
    assert_int_equal(results[0].worst.view, results[1].worst.view);
    assert_int_equal(results[0].worst.node, results[1].worst.node);
    assert_int_equal(results[0].worst.pixels, results[1].worst.pixels);
    assert_true(results[0].visibleMean == results[1].visibleMean);
    assert_true(results[0].drawnMean == results[1].drawnMean);
    assert_true(results[0].tightness == results[1].tightness);
    assert_true(results[0].overFrustum == results[1].overFrustum);
    for (uint32_t v = 0; v < results[0].views; ++v)
    {
        const espyAuditView *a = &results[0].perView[v], *b = &results[1].perView[v];
        assert_true(a->point.x == b->point.x && a->point.y == b->point.y && a->point.z == b->point.z);
        assert_int_equal(a->wrongPixels, b->wrongPixels);
        assert_int_equal(a->wrongObjects, b->wrongObjects);
        assert_int_equal(a->visible, b->visible);
        assert_int_equal(a->drawn, b->drawn);
    }
    espyAudit_Free(&results[0]);
    espyAudit_Free(&results[1]);
}

static void espyTest_Level(const char* name, uint32_t size, uint32_t views)
{
    espyWorld* world;
    espyGathered* gathered;
    assert_int_equal(espyScene_Build(name, size, 1, &world), espyResult_Ok);
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    def.quality = espyBakeQuality_Low;
    def.dynamicObjects = false;
    def.threads = 1;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyEditor_Gather(world, def.cellSize, 0.0f, &hooks, &gathered), espyResult_Ok);
    const espyBakeInput* input = espyGathered_GetInput(gathered);
    espyBakeResult result;
    assert_int_equal(espyBake_Run(input, &def, &result), espyResult_Ok);
    espyPvs pvs = espyBakeCase_Load(&result);
    espyTest_Compare(name, input, &pvs, views, false);
    // The same file for a level whose things stand elsewhere: slots change places, and much is wrongly hidden.
    espyBakeInput mixed = *input;
    espyBakeOccludee* occludees = malloc((size_t)input->occludeeCount * sizeof *occludees);
    assert_non_null(occludees);
    memcpy(occludees, input->occludees, (size_t)input->occludeeCount * sizeof *occludees);
    for (uint32_t i = 0; i + 1 < input->occludeeCount; i += 2)
    {
        espyBakeOccludee *a = &occludees[i], *b = &occludees[input->occludeeCount - 1 - i];
        if (a->part < 0 && b->part < 0)
        {
            espyTriangles mesh = a->mesh;
            espyBox box = a->box;
            a->mesh = b->mesh;
            a->box = b->box;
            b->mesh = mesh;
            b->box = box;
        }
    }
    mixed.occludees = occludees;
    espyTest_Compare("mixed", &mixed, &pvs, views, true);
    free(occludees);
    espyBake_Free(&result);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
}

static void test_sample_level(void** state)
{
    (void)state;
    espyTest_Level("sample", 0, 6);
}

static void test_rooms(void** state)
{
    (void)state;
    espyTest_Level("rooms", 3, 12);
}

static void test_city(void** state)
{
    (void)state;
    espyTest_Level("city", 4, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_level),
        cmocka_unit_test(test_rooms),
        cmocka_unit_test(test_city),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
