// SPDX-License-Identifier: MIT
// Arrays of draws culled by the pipeline against the naive loop: every kind of view, every switch, every instruction
// set, any number of threads.
#include "cull_case.h"
#include "reference/cull_reference.h"
#include "task_case.h"
#include "test_main.h"

#include <string.h>

typedef struct espyCullLists
{
    uint32_t* memory;
    espyCullOutput out;
    uint32_t room;
} espyCullLists;

/// Lists of exactly the room that is asked for, with a mark behind each.
static espyCullLists espyCullLists_Make(uint32_t room, bool update)
{
    espyCullLists lists = {.memory = calloc((size_t)room * 2u + 2u, sizeof(uint32_t)), .room = room};
    lists.memory[room] = lists.memory[2u * room + 1u] = 0xC0FFEEu;
    lists.out.drawList = lists.memory;
    lists.out.updateList = update ? lists.memory + room + 1u : NULL;
    return lists;
}

static void espyCullLists_Check(const espyCullLists* got, const espyCullLists* wanted)
{
    assert_int_equal(got->out.drawCount, wanted->out.drawCount);
    assert_int_equal(got->out.updateCount, wanted->out.updateCount);
    assert_memory_equal(&got->out.counts, &wanted->out.counts, sizeof got->out.counts);
    assert_memory_equal(got->out.drawList, wanted->out.drawList, wanted->out.drawCount * sizeof(uint32_t));
    if (wanted->out.updateList)
    {
        assert_memory_equal(got->out.updateList, wanted->out.updateList, wanted->out.updateCount * sizeof(uint32_t));
    }
    assert_int_equal(got->memory[got->room], 0xC0FFEEu);
    assert_int_equal(got->memory[2u * got->room + 1u], 0xC0FFEEu);
}

static void espyTest_Compare(espyCullInput* input, const espyTasks* tasks, uint32_t taskCount, espyCullCounts* sum)
{
    uint32_t room = input->draws->count;
    bool update = input->draws->alwaysUpdate != NULL;
    espyCullLists wanted = espyCullLists_Make(room, update);
    espyCullReference_Run(input, &wanted.out);
    espyCullCounts_Add(sum, &wanted.out.counts);
    for (espyIsa isa = espyIsa_Auto; isa <= espyIsa_Avx512; isa = (espyIsa)(isa + 1))
    {
        for (uint32_t t = 0; t < taskCount; ++t)
        {
            espyCullLists got = espyCullLists_Make(room, update);
            input->isa = isa;
            input->tasks = tasks[t].parallelFor ? &tasks[t] : NULL;
            assert_int_equal(espyCull_Run(input, &got.out), espyResult_Ok);
            espyCullLists_Check(&got, &wanted);
            free(got.memory);
        }
    }
    free(wanted.memory);
}

static void culling_equals_the_naive_loop(void** state)
{
    (void)state;
    espyCullCounts sum = {0};
    uint32_t unions = 0;
    const espyTasks tasks[2] = {{0}, espyTaskCase_Backwards(3)};
    for (uint64_t seed = 1; seed <= 12; ++seed)
    {
        espyiRng rng = espyiRng_Seed(seed * 31u);
        uint32_t count = seed % 4 == 0 ? espyiRng_Below(&rng, 40) + 1u : 200u + espyiRng_Below(&rng, 1000);
        espyCullCase c = espyCullCase_Make(seed, count);
        espyBox room = espyCullCase_Room(&c);
        for (uint32_t i = 0; i < 120; ++i)
        {
            espyViewDef def = espyViewCase_Random(&rng, room);
            espyViewDef second = espyViewCase_Random(&rng, room);
            espyView view;
            espyViewSet set;
            def.shadow = espyiRng_Below(&rng, 8) == 0;
            espyView_Make(&view, &def, espyiRng_Below(&rng, 4) == 0 ? &second : NULL);
            espyViewSet_Make(&set, &view, &c.pvs, c.offset, c.scratch);
            espyCullCase_Vary(&c, &rng);
            espyCullInput input = {.view = &view, .draws = &c.draws, .set = &set, .sets = &set};
            input.setCount = espyiRng_Below(&rng, 4) == 0 ? 0 : 1;
            input.occlusion = espyiRng_Below(&rng, 8) != 0;
            input.frustum = espyiRng_Below(&rng, 4) != 0;
            unions += set.cellCount > 1 ? 1u : 0u;
            espyTest_Compare(&input, tasks, 2, &sum);
        }
        espyCullCase_Free(&c);
    }
    assert_true(unions > 100);
    assert_true(sum.drawn > 5000 && sum.frustumCulled > 5000 && sum.occlusionCulled > 5000 && sum.hidden > 1000 &&
                sum.withoutShadow > 1000 && sum.updatedCulled > 1000);
}

/// Row 21: meshes flicker in very full scenes, only with threaded culling.
static void report_21_threads_cull_the_same_list(void** state)
{
    (void)state;
    static const uint32_t threadCounts[5] = {1, 2, 3, 8, 100};
    espyTasks tasks[6] = {{0}};
    for (uint32_t t = 0; t < 5; ++t)
    {
        tasks[t + 1u] = espyTaskCase_Threads(threadCounts[t]);
    }
    espyCullCase c = espyCullCase_Make(5, 70000);
    espyiRng rng = espyiRng_Seed(8);
    espyCullCounts sum = {0};
    espyBox room = {{61.0f, -6.0f, 43.0f}, {73.0f, 0.0f, 57.0f}};
    for (uint32_t i = 0; i < 3; ++i)
    {
        espyViewDef def = espyViewCase_Random(&rng, room);
        espyView view;
        espyViewSet set;
        espyView_Make(&view, &def, NULL);
        espyViewSet_Make(&set, &view, &c.pvs, c.offset, c.scratch);
        espyCullCase_Vary(&c, &rng);
        espyCullInput input = {.view = &view, .draws = &c.draws, .set = &set, .sets = &set, .setCount = 1};
        input.occlusion = input.frustum = true;
        espyTest_Compare(&input, tasks, 6, &sum);
    }
    assert_true(sum.drawn > 0 && sum.occlusionCulled > 0 && sum.frustumCulled > 0);
    espyCullCase_Free(&c);
}

typedef struct espyManyViews
{
    const espyCullCase* c;
    espyView views[32];
    espyViewSet sets[32];
    espyCullLists lists[32];
} espyManyViews;

static void espyManyViews_Cull(void* job, uint32_t index)
{
    espyManyViews* many = job;
    espyCullInput input = {.view = &many->views[index], .draws = &many->c->draws, .set = &many->sets[index]};
    input.sets = &many->sets[index];
    input.setCount = 1;
    input.occlusion = input.frustum = true;
    (void)espyCull_Run(&input, &many->lists[index].out);
}

/// Row 29: a mirror's camera flickers because it culls with another camera's matrix.
static void report_29_views_do_not_touch_each_other(void** state)
{
    (void)state;
    espyCullCase c = espyCullCase_Make(7, 3000);
    espyiRng rng = espyiRng_Seed(29);
    espyBox room = {{61.0f, -6.0f, 43.0f}, {73.0f, 0.0f, 57.0f}};
    c.draws.alwaysUpdate = c.bits[5];
    c.draws.moved = c.bits[3];
    espyManyViews* many = calloc(1, sizeof *many);
    uint32_t* scratch = calloc(espyViewSet_ScratchWords(&c.pvs) * 32u, sizeof *scratch);
    many->c = &c;
    for (uint32_t i = 0; i < 32; ++i)
    {
        espyViewDef def = espyViewCase_Random(&rng, room);
        espyView_Make(&many->views[i], &def, NULL);
        espyViewSet_Make(&many->sets[i], &many->views[i], &c.pvs, c.offset,
                         scratch + espyViewSet_ScratchWords(&c.pvs) * i);
        many->lists[i] = espyCullLists_Make(c.draws.count, true);
    }
    espyTasks tasks = espyTaskCase_Threads(8);
    tasks.parallelFor(tasks.context, 32, espyManyViews_Cull, many);
    for (uint32_t i = 0; i < 32; ++i)
    {
        espyCullLists alone = espyCullLists_Make(c.draws.count, true);
        espyCullInput input = {.view = &many->views[i], .draws = &c.draws, .set = &many->sets[i]};
        input.sets = &many->sets[i];
        input.setCount = 1;
        input.occlusion = input.frustum = true;
        espyCullReference_Run(&input, &alone.out);
        espyCullLists_Check(&many->lists[i], &alone);
        free(alone.memory);
        free(many->lists[i].memory);
    }
    free(scratch);
    free(many);
    espyCullCase_Free(&c);
}

static void calls_append_group_by_group(void** state)
{
    (void)state;
    espyCullCase a = espyCullCase_Make(4, 100), b = espyCullCase_Make(8, 70);
    espyViewDef def = espyViewDef_Default();
    espyView view;
    espyView_Make(&view, &def, NULL);
    espyCullLists lists = espyCullLists_Make(170, true);
    a.draws.alwaysUpdate = a.bits[5];
    b.draws.alwaysUpdate = b.bits[5];
    b.draws.firstIndex = 100;
    espyCullInput input = {.view = &view, .draws = &a.draws, .frustum = true};
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_Ok);
    input.draws = &b.draws;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_Ok);
    assert_int_equal(lists.out.counts.drawn, lists.out.drawCount);
    assert_int_equal(lists.out.counts.drawn + lists.out.counts.frustumCulled, 170);
    for (uint32_t i = 1; i < lists.out.drawCount; ++i)
    {
        assert_true(lists.out.drawList[i - 1] < lists.out.drawList[i]);
    }
    assert_true(lists.out.drawCount == 0 || lists.out.drawList[lists.out.drawCount - 1] < 170);
    free(lists.memory);
    espyCullCase_Free(&a);
    espyCullCase_Free(&b);
}

static void callers_mistakes_have_defined_results(void** state)
{
    (void)state;
    espyCullCase c = espyCullCase_Make(4, 100);
    espyViewDef def = espyViewDef_Default();
    espyView view;
    espyView_Make(&view, &def, NULL);
    espyCullLists lists = espyCullLists_Make(100, false);
    espyCullInput input = {.view = &view, .draws = &c.draws};
    assert_int_equal(espyCull_Run(NULL, &lists.out), espyResult_InvalidArgument);
    assert_int_equal(espyCull_Run(&input, NULL), espyResult_InvalidArgument);
    input.setCount = 1;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_InvalidArgument);
    input.setCount = 0;
    input.view = NULL;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_InvalidArgument);
    input.view = &view;
    c.draws.boxes.stride = 2;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_InvalidArgument);
    c.draws.boxes = espyCullBoxes_FromArray(NULL);
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_InvalidArgument);
    c.draws.boxes = espyCullBoxes_FromArray(c.boxes);
    c.draws.boxes.maxX = c.draws.boxes.minX;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_InvalidArgument);
    c.draws.boxes = espyCullBoxes_FromArray(c.boxes);
    c.draws.count = ESPY_CULL_MAX_DRAWS + 1u;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_LimitExceeded);
    c.draws.count = 0;
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_Ok);
    assert_int_equal(lists.out.drawCount, 0);
    c.draws.count = 100;
    // Neither occlusion nor frustum: everything.
    assert_int_equal(espyCull_Run(&input, &lists.out), espyResult_Ok);
    assert_int_equal(lists.out.drawCount, 100);
    // A set made with nowhere to put a union sees everything static, and no less.
    espyViewSet set = {0};
    view = (espyView){0};
    espyViewSet_Make(&set, &view, &c.pvs, c.offset, NULL);
    assert_null(set.set);
    assert_int_equal(set.cellCount, 0);
    free(lists.memory);
    espyCullCase_Free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(culling_equals_the_naive_loop),
        cmocka_unit_test(report_21_threads_cull_the_same_list),
        cmocka_unit_test(report_29_views_do_not_touch_each_other),
        cmocka_unit_test(calls_append_group_by_group),
        cmocka_unit_test(callers_mistakes_have_defined_results),
    };
    return cmocka_run_group_tests_name("culling", tests, NULL, NULL);
}
