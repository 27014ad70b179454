// SPDX-License-Identifier: MIT
// Files come and go while other threads ask: made small enough for the thread sanitizer.
#include "test_main.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/world_case.h"

#define ESPY_STREAM_THREADS 3
#define ESPY_STREAM_CHANGES 300

typedef struct espyStream
{
    espyWorldCase c;
    espyWorld* world;
    espyNodeId near[ESPY_WORLD_CASE_ENTRIES], far[ESPY_WORLD_CASE_ENTRIES], camera;
    atomic_bool done;
    /// Seen nodes with: no file, the near one, the far one, both. Whatever is loaded meanwhile, it is one of these.
    uint32_t counts[4];
    atomic_uint asked, different;
} espyStream;

static const espyVec3 espyStream_there = {32, 0, 0};

static uint32_t espyStream_Count(const espyStream* s)
{
    espyNodeId out[256];
    uint32_t count;
    espyResult result = espyWorld_GetSeenByCamera(s->world, NULL, 0, s->camera, out, 256, &count);
    return result == espyResult_Ok ? count : UINT32_MAX;
}

static void* espyStream_Ask(void* argument)
{
    espyStream* s = argument;
    espyViewTrackerDef def = espyViewTrackerDef_Default();
    espyViewTracker* tracker;
    if (espyViewTracker_Create(s->world, &def, &tracker) != espyResult_Ok)
    {
        atomic_fetch_add(&s->different, 1u);
        return NULL;
    }
    uint32_t tracked = 0;
    while (!atomic_load(&s->done))
    {
        uint32_t count = espyStream_Count(s);
        bool known = count == s->counts[0] || count == s->counts[1] || count == s->counts[2] || count == s->counts[3];
        espyViewEvent events[128];
        espyViewTracker_Poll(tracker, events, 128, &count);
        for (uint32_t i = 0; i < count; ++i)
        {
            tracked += events[i].entered ? 1u : ~0u;
        }
        known = known && (tracked == s->counts[0] || tracked == s->counts[1] || tracked == s->counts[2] ||
                          tracked == s->counts[3]);
        for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
        {
            espyWorld_IsSeenByCamera(s->world, s->near[i], s->camera);
            espyWorld_GetNodeData(s->world, s->far[i]);
        }
        espyWorld_TestLine(s->world, s->c.boxes[0].min, s->c.boxes[1].min);
        espyWorld_IsOcclusionDataStale(s->world);
        espyDataInfo info;
        espyDataId id = espyWorld_GetDataAt(s->world, 0);
        if (id.index1 != 0)
        {
            espyWorld_GetDataInfo(s->world, id, &info);
        }
        atomic_fetch_add(&s->asked, 1u);
        atomic_fetch_add(&s->different, known ? 0u : 1u);
    }
    espyViewTracker_Destroy(tracker);
    return NULL;
}

/// Spoils the bytes: whoever still read them would answer differently.
static void espyStream_Release(const void* bytes, void* context)
{
    (void)bytes;
    free(context);
}

static espyDataId espyStream_Load(const espyStream* s, espyVec3 offset)
{
    espyDataDef def = espyDataDef_Default();
    void* copy = aligned_alloc(16, (s->c.file.size + 15) / 16 * 16);
    assert_non_null(copy);
    memcpy(copy, s->c.file.file, s->c.file.size);
    def.bytes = copy;
    def.size = s->c.file.size;
    def.offset = offset;
    def.release = espyStream_Release;
    def.releaseContext = copy;
    espyDataId id;
    assert_int_equal(espyWorld_AddData(s->world, &def, &id, NULL), espyResult_Ok);
    return id;
}

static void files_come_and_go_while_others_ask(void** state)
{
    (void)state;
    static espyStream s;
    const espyVec3 here = {0, 0, 0};
    s.c = espyWorldCase_Make(21, true);
    s.world = espyWorldCase_World(NULL, false);
    espyWorldCase_Nodes(s.world, &s.c, here, s.near);
    espyWorldCase_Nodes(s.world, &s.c, espyStream_there, s.far);
    s.camera = espyWorldCase_Camera(s.world, (espyVec3){0.5f, 2.5f, 7.5f});
    espyDataId ids[2] = {{0}};
    for (int i = 0; i < 4; ++i)
    {
        ids[0] = i & 1 ? espyStream_Load(&s, here) : (espyDataId){0};
        ids[1] = i & 2 ? espyStream_Load(&s, espyStream_there) : (espyDataId){0};
        s.counts[i] = espyStream_Count(&s);
        for (int k = 0; k < 2; ++k)
        {
            assert_int_equal(ids[k].index1 == 0 || espyWorld_RemoveData(s.world, ids[k]) == espyResult_Ok, 1);
            ids[k] = (espyDataId){0};
        }
    }
    assert_true(s.counts[1] < s.counts[0]);

    pthread_t threads[ESPY_STREAM_THREADS];
    for (int i = 0; i < ESPY_STREAM_THREADS; ++i)
    {
        assert_int_equal(pthread_create(&threads[i], NULL, espyStream_Ask, &s), 0);
    }
    espyiRng rng = espyiRng_Seed(4);
    for (int i = 0; i < ESPY_STREAM_CHANGES || atomic_load(&s.asked) < 50; ++i)
    {
        uint32_t which = espyiRng_Below(&rng, 2);
        if (ids[which].index1 == 0)
        {
            ids[which] = espyStream_Load(&s, which ? espyStream_there : here);
        }
        else
        {
            assert_int_equal(espyWorld_RemoveData(s.world, ids[which]), espyResult_Ok);
            ids[which] = (espyDataId){0};
        }
        espyWorld_CollectData(s.world);
    }
    atomic_store(&s.done, true);
    for (int i = 0; i < ESPY_STREAM_THREADS; ++i)
    {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(s.different, 0);
    assert_int_equal(espyWorld_CollectData(s.world), 0);
    espyWorld_Destroy(s.world);
    espyWorldCase_Free(&s.c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_come_and_go_while_others_ask)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
