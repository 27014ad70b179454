// SPDX-License-Identifier: MIT
// What runs on several threads, made small enough for the thread sanitizer: bakes, audits, columns, queries.
#include "test_main.h"

#include <espy/audit.h>
#include <espy/editor.h>
#include <pthread.h>
#include <string.h>

#include "bake/tables.h"
#include "core/tasks.h"
#include "scenes/scenes.h"

#define ESPY_TEST_THREADS 4

typedef struct espyThreadsScene
{
    espyWorld* world;
    espyGathered* gathered;
    espyBakeDef def;
    espyBakeResult baked;
} espyThreadsScene;

static espyThreadsScene espyThreads_Scene(void)
{
    espyThreadsScene s = {0};
    assert_int_equal(espyScene_Build("rooms", 1, 1, &s.world), espyResult_Ok);
    s.def = espyBakeDef_Default();
    espyEditor_ApplySettings(s.world, &s.def);
    s.def.quality = espyBakeQuality_Low;
    s.def.threads = ESPY_TEST_THREADS;
    assert_int_equal(espyEditor_Gather(s.world, s.def.cellSize, 0.0f, NULL, &s.gathered), espyResult_Ok);
    return s;
}

static void espyThreads_End(espyThreadsScene* s)
{
    espyBake_Free(&s->baked);
    espyGathered_Destroy(s->gathered);
    espyWorld_Destroy(s->world);
}

static void* espyThreads_Bake(void* argument)
{
    espyThreadsScene* s = argument;
    return espyBake_Run(espyGathered_GetInput(s->gathered), &s->def, &s->baked) == espyResult_Ok ? s : NULL;
}

static void two_bakes_at_once_give_the_same_bytes(void** state)
{
    (void)state;
    espyThreadsScene a = espyThreads_Scene(), b = espyThreads_Scene();
    pthread_t threads[2];
    assert_int_equal(pthread_create(&threads[0], NULL, espyThreads_Bake, &a), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, espyThreads_Bake, &b), 0);
    for (int i = 0; i < 2; ++i)
    {
        void* done = NULL;
        assert_int_equal(pthread_join(threads[i], &done), 0);
        assert_non_null(done);
    }
    assert_int_equal(a.baked.size, b.baked.size);
    assert_memory_equal(a.baked.data, b.baked.data, a.baked.size);
    espyThreads_End(&a);
    espyThreads_End(&b);
}

static void an_audit_on_many_threads_equals_one(void** state)
{
    (void)state;
    espyThreadsScene s = espyThreads_Scene();
    assert_non_null(espyThreads_Bake(&s));
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, s.baked.data, s.baked.size, NULL), espyResult_Ok);
    espyAuditDef def = espyAuditDef_Default();
    def.views = 8;
    def.size = 8;
    espyAuditResult one, many;
    def.threads = 1;
    assert_int_equal(espyAudit_Run(espyGathered_GetInput(s.gathered), &pvs, &def, &one), espyResult_Ok);
    def.threads = ESPY_TEST_THREADS;
    assert_int_equal(espyAudit_Run(espyGathered_GetInput(s.gathered), &pvs, &def, &many), espyResult_Ok);
    assert_int_equal(one.wrongPixels, many.wrongPixels);
    assert_int_equal(one.pixels, many.pixels);
    assert_memory_equal(one.perView, many.perView, (size_t)one.views * sizeof *one.perView);
    espyAudit_Free(&one);
    espyAudit_Free(&many);
    espyThreads_End(&s);
}

typedef struct espyThreadsColumns
{
    espyiColumns* columns;
    bool failed[64];
} espyThreadsColumns;

static void espyThreads_Put(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espyThreadsColumns* c = context;
    uint32_t bits[4] = {index, ~index, index * 2654435761u, 0};
    c->failed[index] = !espyiColumns_Put(c->columns, index, bits);
}

static void columns_are_put_from_many_threads(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyThreadsColumns c = {0};
    assert_int_equal(espyiColumns_Create(64, 128, &hooks, &c.columns), espyResult_Ok);
    assert_true(espyiTasks_For(ESPY_TEST_THREADS, 64, espyThreads_Put, &c, NULL, NULL));
    for (uint32_t i = 0; i < 64; ++i)
    {
        uint32_t bits[4], wanted[4] = {i, ~i, i * 2654435761u, 0};
        assert_false(c.failed[i]);
        assert_true(espyiColumns_Get(c.columns, i, bits));
        assert_memory_equal(bits, wanted, sizeof bits);
    }
    espyiColumns_Destroy(c.columns);
}

typedef struct espyThreadsQueries
{
    const espyPvs* pvs;
    uint64_t sums[64];
} espyThreadsQueries;

static void espyThreads_Query(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espyThreadsQueries* q = context;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 1000; ++i)
    {
        espyVec3 p = {0.01f * (float)(i % 800), 1.0f, 0.008f * (float)i};
        int32_t cell = espyPvs_FindCell(q->pvs, p);
        sum = sum * 31u + (uint64_t)(cell + 1) + (uint64_t)espyPvs_TestSlot(q->pvs, cell, i % 10u) +
              (uint64_t)espyPvs_TestBox(q->pvs, cell, (espyBox){p, p});
    }
    q->sums[index] = sum;
}

static void a_loaded_file_answers_many_threads(void** state)
{
    (void)state;
    espyThreadsScene s = espyThreads_Scene();
    assert_non_null(espyThreads_Bake(&s));
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, s.baked.data, s.baked.size, NULL), espyResult_Ok);
    espyThreadsQueries q = {.pvs = &pvs};
    assert_true(espyiTasks_For(ESPY_TEST_THREADS, 64, espyThreads_Query, &q, NULL, NULL));
    for (uint32_t i = 1; i < 64; ++i)
    {
        assert_true(q.sums[i] == q.sums[0]);
    }
    espyThreads_End(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_bakes_at_once_give_the_same_bytes),
        cmocka_unit_test(an_audit_on_many_threads_equals_one),
        cmocka_unit_test(columns_are_put_from_many_threads),
        cmocka_unit_test(a_loaded_file_answers_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
