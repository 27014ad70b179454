// SPDX-License-Identifier: MIT
// Records of culls: run again they answer the same, on other kernels and threads too; changed ones are told; damaged
// ones are refused.
#include "cull_case.h"
#include "hook_counter.h"
#include "task_case.h"
#include "test_main.h"

#include "world/cull_record.h"

#include <espy/cull_replay.h>

#include <string.h>

typedef struct espyTestRecord
{
    uint8_t* bytes;
    size_t size, capacity, limit; ///< `limit` 0: none.
} espyTestRecord;

static bool espyTest_Write(const void* bytes, size_t size, void* context)
{
    espyTestRecord* record = context;
    if (record->limit > 0 && record->size + size > record->limit)
    {
        return false;
    }
    if (record->size + size > record->capacity)
    {
        record->capacity = (record->size + size) * 2u;
        record->bytes = realloc(record->bytes, record->capacity);
        assert_non_null(record->bytes);
    }
    memcpy(record->bytes + record->size, bytes, size);
    record->size += size;
    return true;
}

/// Culls `calls` random views over two files.
static void espyTest_Record(espyTestRecord* record, uint64_t seed, uint32_t draws, uint32_t calls)
{
    espyCullRecorder recorder = {.write = espyTest_Write, .context = record};
    espyCullCase cases[2] = {espyCullCase_Make(seed, draws), espyCullCase_Make(seed + 1u, draws / 2u + 1u)};
    espyiRng rng = espyiRng_Seed(seed);
    uint32_t* lists = calloc((size_t)draws * 2u + 2u, sizeof *lists);
    for (uint32_t i = 0; i < calls; ++i)
    {
        espyCullCase* c = &cases[i % 2u];
        espyViewDef def = espyViewCase_Random(&rng, espyCullCase_Room(c));
        espyViewDef second = espyViewCase_Random(&rng, espyCullCase_Room(c));
        espyView view;
        espyViewSet sets[2];
        def.shadow = espyiRng_Below(&rng, 6) == 0;
        espyView_Make(&view, &def, espyiRng_Below(&rng, 3) == 0 ? &second : NULL);
        espyViewSet_Make(&sets[0], &view, &cases[0].pvs, cases[0].offset, cases[0].scratch);
        espyViewSet_Make(&sets[1], &view, &cases[1].pvs, cases[1].offset, i % 5u == 0 ? NULL : cases[1].scratch);
        espyCullCase_Vary(c, &rng);
        espyCullInput input = {.view = &view, .draws = &c->draws, .set = &sets[i % 2u], .sets = sets};
        espyViewSet own = sets[i % 2u];
        input.set = i % 3u == 0 ? &own : i % 7u == 0 ? NULL : input.set;
        input.setCount = i % 3u;
        input.occlusion = espyiRng_Below(&rng, 6) != 0;
        input.frustum = espyiRng_Below(&rng, 6) != 0;
        espyCullOutput output = {.drawList = lists, .updateList = c->draws.alwaysUpdate ? lists + draws + 1u : NULL};
        assert_int_equal(espyCullRecorder_Run(&recorder, &input, &output), espyResult_Ok);
    }
    assert_int_equal(recorder.result, espyResult_Ok);
    free(lists);
    espyCullCase_Free(&cases[0]);
    espyCullCase_Free(&cases[1]);
}

static espyResult espyTest_Replay(const uint8_t* bytes, size_t size, espyCullReplayResult* out, espyDataError* error)
{
    espyCullReplayDef def = espyCullReplayDef_Default();
    return espyCullReplay_Run(bytes, size, &def, out, error);
}

static void replays_answer_the_same(void** state)
{
    (void)state;
    espyTestRecord record = {0};
    espyTest_Record(&record, 21, 600, 60);
    const espyTasks tasks[3] = {{0}, espyTaskCase_Backwards(4), espyTaskCase_Threads(2)};
    for (espyIsa isa = espyIsa_Auto; isa <= espyIsa_Avx512; isa = (espyIsa)(isa + 1))
    {
        for (uint32_t t = 0; t < 3; ++t)
        {
            espyCullReplayDef def = espyCullReplayDef_Default();
            espyCullReplayResult result;
            def.isa = isa;
            def.tasks = tasks[t];
            assert_int_equal(espyCullReplay_Run(record.bytes, record.size, &def, &result, NULL), espyResult_Ok);
            assert_int_equal(result.calls, 60);
            assert_int_equal(result.differing, 0);
            assert_int_equal(result.firstDraw, 0xFFFFFFFFu);
        }
    }
    free(record.bytes);
}

/// Start of the n-th chunk of a kind; the payload's size in `payload`.
static size_t espyTest_Chunk(const espyTestRecord* record, uint32_t kind, uint32_t n, size_t* payload)
{
    size_t at = ESPYI_RECORD_HEADER_BYTES;
    for (;;)
    {
        assert_true(at + ESPYI_RECORD_CHUNK_BYTES <= record->size);
        *payload = (size_t)record->bytes[at + 8] | (size_t)record->bytes[at + 9] << 8 |
                   (size_t)record->bytes[at + 10] << 16 | (size_t)record->bytes[at + 11] << 24;
        if (record->bytes[at] == kind && n-- == 0)
        {
            return at;
        }
        at += ESPYI_RECORD_CHUNK_BYTES + *payload + ESPYI_RECORD_HASH_BYTES;
    }
}

/// Makes the hash of a chunk right again.
static void espyTest_Rehash(espyTestRecord* record, size_t at, size_t payload)
{
    uint8_t* body = record->bytes + at + ESPYI_RECORD_CHUNK_BYTES;
    uint64_t hash = record->bytes[at];
    for (size_t i = 0; i < payload; i += ESPYI_RECORD_BLOCK_BYTES)
    {
        size_t left = payload - i < ESPYI_RECORD_BLOCK_BYTES ? payload - i : ESPYI_RECORD_BLOCK_BYTES;
        hash = espyiHash_Bytes(hash, body + i, left);
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        body[payload + i] = (uint8_t)(hash >> (8u * i));
    }
}

static void a_wrong_answer_is_told(void** state)
{
    (void)state;
    espyTestRecord record = {0};
    espyTest_Record(&record, 5, 100, 12);
    size_t payload;
    // The last word of a call is an entry of a list, unless both are empty.
    for (uint32_t n = 0; n < 12; ++n)
    {
        size_t at = espyTest_Chunk(&record, ESPYI_RECORD_CALL, n, &payload);
        uint8_t* body = record.bytes + at + ESPYI_RECORD_CHUNK_BYTES;
        if (body[4u * espyiRecordHead_DrawCount] == 0)
        {
            continue;
        }
        body[payload - 4] ^= 0x80u;
        espyTest_Rehash(&record, at, payload);
        espyCullReplayResult result;
        assert_int_equal(espyTest_Replay(record.bytes, record.size, &result, NULL), espyResult_Ok);
        assert_int_equal(result.calls, 12);
        assert_int_equal(result.differing, 1);
        assert_int_equal(result.firstCall, n);
        assert_int_not_equal(result.firstDraw, 0xFFFFFFFFu);
        body[payload - 4] ^= 0x80u;
        // A count alone.
        body[4u * espyiRecordHead_Counts + 4u] ^= 1u;
        espyTest_Rehash(&record, at, payload);
        assert_int_equal(espyTest_Replay(record.bytes, record.size, &result, NULL), espyResult_Ok);
        assert_int_equal(result.differing, 1);
        assert_int_equal(result.firstDraw, 0xFFFFFFFFu);
        body[4u * espyiRecordHead_Counts + 4u] ^= 1u;
        espyTest_Rehash(&record, at, payload);
    }
    free(record.bytes);
}

static void damaged_records_are_refused(void** state)
{
    (void)state;
    espyTestRecord record = {0};
    espyTest_Record(&record, 9, 40, 4);
    espyCullReplayResult result;
    espyDataError error;
    // Cut at every byte: refused, unless it ends between two chunks. Exactly as large as it is, for the sanitizers.
    for (size_t size = 0; size < record.size; ++size)
    {
        uint8_t* copy = malloc(size > 0 ? size : 1u);
        memcpy(copy, record.bytes, size);
        espyResult got = espyTest_Replay(copy, size, &result, &error);
        assert_true(got == espyResult_Ok || got == espyResult_BadData);
        assert_int_equal(error.result, got);
        assert_true(got == espyResult_Ok || (error.field[0] != '\0' && error.byteOffset <= size));
        free(copy);
    }
    for (size_t at = 0; at < record.size; ++at)
    {
        record.bytes[at] ^= 0x10u;
        assert_int_not_equal(espyTest_Replay(record.bytes, record.size, &result, &error), espyResult_Ok);
        record.bytes[at] ^= 0x10u;
    }
    assert_int_equal(espyTest_Replay(record.bytes, record.size, &result, &error), espyResult_Ok);
    // Every word of a call's head wrong with a hash that fits: refused, or it runs and says that it differs.
    size_t payload;
    size_t at = espyTest_Chunk(&record, ESPYI_RECORD_CALL, 1, &payload);
    static const uint32_t values[4] = {0, 1, 0x7FFFFFFFu, 0xFFFFFFFFu};
    for (size_t word = 0; word < payload / 4u && word < 120; ++word)
    {
        uint8_t* place = record.bytes + at + ESPYI_RECORD_CHUNK_BYTES + 4u * word;
        uint8_t old[4];
        memcpy(old, place, 4);
        for (uint32_t v = 0; v < 4; ++v)
        {
            for (uint32_t i = 0; i < 4; ++i)
            {
                place[i] = (uint8_t)(values[v] >> (8u * i));
            }
            espyTest_Rehash(&record, at, payload);
            espyResult got = espyTest_Replay(record.bytes, record.size, &result, &error);
            assert_true(got == espyResult_Ok || got == espyResult_BadData);
        }
        memcpy(place, old, 4);
    }
    free(record.bytes);
}

static void no_allocation_that_fails_is_lost(void** state)
{
    (void)state;
    espyTestRecord record = {0};
    espyTest_Record(&record, 15, 64, 6);
    bool done = false;
    for (unsigned n = 1; !done; ++n)
    {
        espyHookCounter counter = {.failAt = n};
        espyCullReplayDef def = espyCullReplayDef_Default();
        espyCullReplayResult result;
        def.hooks = espyHookCounter_Hooks(&counter);
        espyResult got = espyCullReplay_Run(record.bytes, record.size, &def, &result, NULL);
        assert_true(got == espyResult_Ok || got == espyResult_OutOfMemory);
        assert_int_equal(counter.blocks, 0);
        done = got == espyResult_Ok;
        assert_true(n < 1000);
    }
    free(record.bytes);
}

static void culling_goes_on_where_recording_cannot(void** state)
{
    (void)state;
    espyTestRecord record = {.limit = 1000};
    espyCullRecorder recorder = {.write = espyTest_Write, .context = &record};
    espyCullCase c = espyCullCase_Make(4, 300);
    uint32_t lists[300];
    espyView view = {0};
    espyViewSet sets[ESPY_CULL_RECORD_SETS + 1u];
    memset(sets, 0, sizeof sets);
    espyCullInput input = {.view = &view, .draws = &c.draws};
    espyCullOutput output = {.drawList = lists};
    assert_int_equal(espyCullRecorder_Run(&recorder, &input, &output), espyResult_Ok);
    assert_int_equal(recorder.result, espyResult_Io);
    assert_int_equal(output.drawCount, 300);
    output.drawCount = 0;
    recorder = (espyCullRecorder){.write = espyTest_Write, .context = &record};
    input.sets = sets;
    input.setCount = ESPY_CULL_RECORD_SETS + 1u;
    assert_int_equal(espyCullRecorder_Run(&recorder, &input, &output), espyResult_Ok);
    assert_int_equal(recorder.result, espyResult_LimitExceeded);
    assert_int_equal(output.drawCount, 300);
    output.drawCount = 0;
    assert_int_equal(espyCullRecorder_Run(NULL, &input, &output), espyResult_Ok);
    assert_int_equal(output.drawCount, 300);
    assert_int_equal(espyCullRecorder_Run(&recorder, NULL, &output), espyResult_InvalidArgument);
    espyCullCase_Free(&c);
    free(record.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_answer_the_same),
        cmocka_unit_test(a_wrong_answer_is_told),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(no_allocation_that_fails_is_lost),
        cmocka_unit_test(culling_goes_on_where_recording_cannot),
    };
    return cmocka_run_group_tests_name("cull_replay", tests, NULL, NULL);
}
