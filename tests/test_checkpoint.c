// SPDX-License-Identifier: MIT
// Killed at any moment, a bake with a checkpoint ends with the same bytes; a damaged or foreign checkpoint is not used.
#include <espy/editor.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/core.h"
#include "scenes/scenes.h"
#include "tests/bake_case.h"
#include "tests/test_main.h"

static const char espyCheckpointTest_path[] = ESPY_BINARY_DIR "/test_checkpoint.tmp";

typedef struct espyCheckpointLevel
{
    espyWorld* world;
    espyGathered* gathered;
    espyBakeDef def;
} espyCheckpointLevel;

static espyCheckpointLevel espyCheckpointTest_Level(void)
{
    espyCheckpointLevel level;
    assert_int_equal(espyScene_Build("slits", 2, 1, &level.world), espyResult_Ok);
    level.def = espyBakeDef_Default();
    espyEditor_ApplySettings(level.world, &level.def);
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyEditor_Gather(level.world, level.def.cellSize, 0.0f, &hooks, &level.gathered), espyResult_Ok);
    level.def.threads = 1;
    return level;
}

static void espyCheckpointTest_EndLevel(espyCheckpointLevel* level)
{
    espyGathered_Destroy(level->gathered);
    espyWorld_Destroy(level->world);
}

static uint64_t espyCheckpointTest_Bake(const espyCheckpointLevel* level, const espyBakeDef* def, bool* unusable)
{
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyGathered_GetInput(level->gathered), def, &r), espyResult_Ok);
    *unusable = espyBakeCase_HasWarning(&r, espyMessageId_BakeCheckpointUnusable);
    const espyBakeStats* s = &r.stats;
    assert_true(s->pairsVisible + s->pairsHidden + s->pairsUnknown == (s->cells - s->solidCells) * s->occludees);
    uint64_t hash = espyiHash_Bytes(0, r.data, r.size);
    espyBake_Free(&r);
    return hash;
}

typedef struct espyCheckpointStop
{
    uint64_t at; // Units of work after which the process dies, or the bake is cancelled.
    bool kill;
} espyCheckpointStop;

static bool espyCheckpointTest_OnProgress(const espyBakeProgress* progress, void* context)
{
    const espyCheckpointStop* stop = context;
    if (progress->done < stop->at)
    {
        return true;
    }
    if (stop->kill)
    {
        kill(getpid(), SIGKILL);
    }
    return false;
}

static long espyCheckpointTest_Size(void)
{
    FILE* f = fopen(espyCheckpointTest_path, "rb");
    if (!f)
    {
        return -1;
    }
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    fclose(f);
    return size;
}

static void killed_bakes_go_on(void** state)
{
    (void)state;
    espyCheckpointLevel level = espyCheckpointTest_Level();
    bool unusable;
    uint64_t wanted = espyCheckpointTest_Bake(&level, &level.def, &unusable);
    remove(espyCheckpointTest_path);
    level.def.checkpointPath = espyCheckpointTest_path;
    uint32_t kills = 0;
    long last = -1;
    for (uint64_t at = 1; at < 60; at += 9)
    {
        espyCheckpointStop stop = {at, true};
        espyBakeDef def = level.def;
        def.threads = at % 2 ? 1 : 2;
        def.progress = espyCheckpointTest_OnProgress;
        def.progressContext = &stop;
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
        {
            espyBakeResult r;
            espyBake_Run(espyGathered_GetInput(level.gathered), &def, &r);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSIGNALED(status))
        {
            break;
        }
        ++kills;
        long size = espyCheckpointTest_Size();
        assert_true(size >= last);
        last = size;
    }
    print_message("%u kills, %ld bytes\n", kills, last);
    assert_true(kills > 0);
    assert_true(espyCheckpointTest_Bake(&level, &level.def, &unusable) == wanted);
    assert_false(unusable);
    // Nothing is left behind.
    assert_int_equal(espyCheckpointTest_Size(), -1);
    espyCheckpointTest_EndLevel(&level);
}

static void torn_and_damaged_files_change_nothing(void** state)
{
    (void)state;
    espyCheckpointLevel level = espyCheckpointTest_Level();
    level.def.quality = espyBakeQuality_Low;
    level.def.dynamicObjects = false;
    bool unusable;
    uint64_t wanted = espyCheckpointTest_Bake(&level, &level.def, &unusable);
    // A checkpoint of most of the work.
    level.def.checkpointPath = espyCheckpointTest_path;
    remove(espyCheckpointTest_path);
    espyCheckpointStop stop = {30, false};
    espyBakeDef cancelled = level.def;
    cancelled.threads = 2;
    cancelled.progress = espyCheckpointTest_OnProgress;
    cancelled.progressContext = &stop;
    espyBakeResult r;
    espyResult result = espyBake_Run(espyGathered_GetInput(level.gathered), &cancelled, &r);
    assert_true(result == espyResult_Cancelled || result == espyResult_Ok);
    espyBake_Free(&r);
    long size = espyCheckpointTest_Size();
    assert_true(size > 100);
    uint8_t* good = malloc((size_t)size);
    FILE* f = fopen(espyCheckpointTest_path, "rb");
    assert_int_equal(fread(good, 1, (size_t)size, f), (size_t)size);
    fclose(f);
    espyiRng rng = espyiRng_Seed(11);
    for (uint32_t i = 0; i < 24; ++i)
    {
        size_t length = (size_t)size;
        uint8_t* bad = malloc(length);
        memcpy(bad, good, length);
        if (i < 12)
        {
            length = i < 2 ? i * 7 : espyiRng_Below(&rng, (uint32_t)size);
        }
        else
        {
            // Behind the magic: a file that does not begin with it is not a checkpoint at all.
            bad[8u + espyiRng_Below(&rng, (uint32_t)size - 8u)] ^= (uint8_t)(1u << espyiRng_Below(&rng, 8));
        }
        f = fopen(espyCheckpointTest_path, "wb");
        assert_int_equal(fwrite(bad, 1, length, f), length);
        fclose(f);
        free(bad);
        assert_true(espyCheckpointTest_Bake(&level, &level.def, &unusable) == wanted);
    }
    free(good);
    espyCheckpointTest_EndLevel(&level);
}

static void foreign_files_are_not_used_and_others_kept(void** state)
{
    (void)state;
    espyCheckpointLevel level = espyCheckpointTest_Level();
    level.def.quality = espyBakeQuality_Low;
    bool unusable;
    uint64_t wanted = espyCheckpointTest_Bake(&level, &level.def, &unusable);
    // Of another seed.
    level.def.checkpointPath = espyCheckpointTest_path;
    remove(espyCheckpointTest_path);
    espyCheckpointStop stop = {20, false};
    espyBakeDef other = level.def;
    other.seed = 99;
    other.progress = espyCheckpointTest_OnProgress;
    other.progressContext = &stop;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyGathered_GetInput(level.gathered), &other, &r), espyResult_Cancelled);
    espyBake_Free(&r);
    assert_true(espyCheckpointTest_Bake(&level, &level.def, &unusable) == wanted);
    assert_true(unusable);
    // Something else altogether stays as it is, however short.
    static const char* const texts[] = {"a shopping list that is long enough to hold a header, or so one would think",
                                        "milk", "m", "10KCmilk"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    {
        FILE* f = fopen(espyCheckpointTest_path, "wb");
        fputs(texts[i], f);
        fclose(f);
        espyBakeResult refused;
        assert_int_equal(espyBake_Run(espyGathered_GetInput(level.gathered), &level.def, &refused), espyResult_BadData);
        assert_non_null(strstr(refused.message, "test_checkpoint.tmp' is not a checkpoint"));
        assert_null(refused.data);
        espyBake_Free(&refused);
        char kept[128] = "";
        f = fopen(espyCheckpointTest_path, "rb");
        assert_non_null(f);
        assert_int_equal(fread(kept, 1, sizeof kept - 1, f), strlen(texts[i]));
        fclose(f);
        assert_string_equal(kept, texts[i]);
    }
    remove(espyCheckpointTest_path);
    // A path that cannot be.
    level.def.checkpointPath = ESPY_BINARY_DIR "/no/such/folder/x.tmp";
    assert_int_equal(espyBake_Run(espyGathered_GetInput(level.gathered), &level.def, &r), espyResult_Io);
    assert_non_null(strstr(r.message, "no/such/folder"));
    espyBake_Free(&r);
    espyCheckpointTest_EndLevel(&level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_bakes_go_on),
        cmocka_unit_test(torn_and_damaged_files_change_nothing),
        cmocka_unit_test(foreign_files_are_not_used_and_others_kept),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
