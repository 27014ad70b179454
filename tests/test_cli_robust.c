// SPDX-License-Identifier: MIT
// The program under hostile arguments, damaged files and signals: it says what is wrong in one line, and leaves old
// files whole and no others behind.
#include "cli/cli_process.h"
#include "test_main.h"

#include "core/core.h"

#include <espy/bake.h>

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define ESPY_TEST_LEVELS ESPY_SOURCE_DIR "/tests/cli/levels"

static espyTestFolder espyFolder;

static int espyTest_Setup(void** state)
{
    (void)state;
    espyTestFolder_Create(&espyFolder, ESPY_PROGRAM, ESPY_TEST_LEVELS);
    return 0;
}

static int espyTest_Teardown(void** state)
{
    (void)state;
    espyTestFolder_Remove(&espyFolder);
    return 0;
}

/// The rules for everything that the program may answer.
static void espyTest_CheckManners(const espyTestRun* run, const char* what)
{
    bool known = (run->status >= 0 && run->status <= 4) || run->status == 130;
    if (!known)
    {
        fail_msg("%s: exit status %d: %s", what, run->status, run->err);
    }
    int errors = 0;
    for (const char* at = run->err; *at;)
    {
        size_t length = strcspn(at, "\n");
        bool ours = strncmp(at, "espy: ", 6) == 0;
        bool warning = strncmp(at, "espy: warning ", 14) == 0;
        errors += ours && !warning;
        for (size_t i = 0; i < length; ++i)
        {
            if ((unsigned char)at[i] < 0x20u)
            {
                fail_msg("%s: a control character in: %s", what, run->err);
            }
        }
        if (!ours && run->status > 2)
        {
            fail_msg("%s: a line that is not the program's own: %s", what, run->err);
        }
        at += length;
        at += *at == '\n';
    }
    if (run->status >= 3 && errors != 1)
    {
        fail_msg("%s: exit status %d with %d error lines: %s", what, run->status, errors, run->err);
    }
}

/// Words of the real options around files that exist, do not, or are of the wrong kind.
static void espyTest_RandomArgumentsNeverCrash(void** state)
{
    (void)state;
    static const char* const words[] = {
        "bake",
        "info",
        "visible",
        "audit",
        "check",
        "diff",
        "import",
        "report",
        "why",
        "-o",
        "out.espy",
        "out.glb",
        "--json",
        "--quality",
        "low",
        "medium",
        "--cell-size",
        "8",
        "4",
        "nan",
        "-1",
        "1e40",
        "--threads",
        "1",
        "--progress",
        "plain",
        "none",
        "--at",
        "1,2,3",
        "--points",
        "points.txt",
        "--from",
        "old.espy",
        "--full",
        "--embed",
        "--",
        "-",
        "--help",
        "--version",
        "--seed",
        "--views",
        "2",
        "--size",
        "16",
        "text.glb",
        "empty.espy",
        "missing.glb",
        ".",
        "/dev/null",
        "--max-cells",
        "--no-dynamic",
        "%s%s%n",
        "\x1b[2J",
        "\xff",
        "--budget-kb",
        "--start",
        "--near",
        "0.1",
        "--smallest-hole",
        "--max-wrong-pixels",
        "--checkpoint",
        "state.tmp",
        "",
        "a=b",
        "--json=1",
    };
    const char* level = ESPY_TEST_LEVELS "/halves.gltf";
    espyTestRun made =
        espyTestRun_Shell(&espyFolder, "espy bake \"$LEVELS/halves.gltf\" -o old.espy --quality low --progress none && "
                                       "echo '{\"asset\":' >text.glb && : >empty.espy && echo '1 2 3' >points.txt");
    assert_int_equal(made.status, 0);
    espyTestRun_Free(&made);
    uint64_t seed = 4;
    espyiRng rng = espyiRng_Seed(seed);
    for (int round = 0; round < 150; ++round)
    {
        char storage[14][160];
        char* argv[16];
        int count = 0;
        char program[] = "espy";
        argv[count++] = program;
        int length = 1 + (int)espyiRng_Below(&rng, 12);
        for (int i = 0; i < length; ++i)
        {
            // The first word is a command most of the time.
            uint32_t range = i == 0 && espyiRng_Below(&rng, 8) > 0 ? 7 : (uint32_t)ESPYI_ARRAY_COUNT(words);
            const char* word = espyiRng_Below(&rng, 8) == 0 && i > 0 ? level : words[espyiRng_Below(&rng, range)];
            snprintf(storage[i], sizeof storage[i], "%s", word);
            argv[count++] = storage[i];
        }
        argv[count] = NULL;
        char what[2400] = "";
        for (int i = 1; i < count; ++i)
        {
            strcat(what, argv[i]);
            strcat(what, " ");
        }
        espyTestRun run = espyTestRun_Program(&espyFolder, argv);
        espyTest_CheckManners(&run, what);
        espyTestRun_Free(&run);
    }
}

static void espyTest_WriteFile(const char* name, const void* bytes, size_t size)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", espyFolder.work, name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static char* espyTest_ReadWork(const char* name, size_t* size)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", espyFolder.work, name);
    return espyTest_ReadText(path, size);
}

/// Every command that reads data refuses it cut short or changed, with status 3 and the name of the file.
static void espyTest_DamagedDataIsRefused(void** state)
{
    (void)state;
    espyTestRun run = espyTestRun_Shell(&espyFolder, "espy bake \"$LEVELS/halves.gltf\" -o good.espy --progress none");
    assert_int_equal(run.status, 0);
    espyTestRun_Free(&run);
    size_t size;
    char* good = espyTest_ReadWork("good.espy", &size);
    assert_non_null(good);
    static const char* const commands[] = {
        "espy info bad.espy",
        "espy visible bad.espy --at 1,1,1",
        "espy check bad.espy \"$LEVELS/halves.gltf\"",
        "espy audit bad.espy \"$LEVELS/halves.gltf\" --views 1 --size 8",
        "espy report bad.espy \"$LEVELS/halves.gltf\" -o bad.html",
        "espy diff good.espy bad.espy",
        "espy bake \"$LEVELS/halves.gltf\" -o new.espy --from bad.espy",
        "espy info - <bad.espy",
    };
    uint64_t seed = 9;
    espyiRng rng = espyiRng_Seed(seed);
    for (int round = 0; round < 60; ++round)
    {
        char* bad = malloc(size);
        assert_non_null(bad);
        memcpy(bad, good, size);
        size_t cut = round < 30 ? size * (size_t)round / 30 : size;
        if (cut == size)
        {
            bad[espyiRng_Below(&rng, (uint32_t)size)] ^= (char)(1u << espyiRng_Below(&rng, 8));
        }
        espyTest_WriteFile("bad.espy", bad, cut);
        free(bad);
        const char* command = commands[(size_t)round % ESPYI_ARRAY_COUNT(commands)];
        run = espyTestRun_Shell(&espyFolder, command);
        espyTest_CheckManners(&run, command);
        const char* name = strstr(command, "- <") ? "standard input" : "bad.espy";
        if (run.status != 3 || !strstr(run.err, name))
        {
            fail_msg("seed %llu, round %d: %s: status %d: %s", (unsigned long long)seed, round, command, run.status,
                     run.err);
        }
        espyTestRun_Free(&run);
    }
    free(good);
}

/// Data of the other byte order is read by every command as if it were of this machine's.
static void espyTest_EitherByteOrderIsRead(void** state)
{
    (void)state;
    espyTestRun run = espyTestRun_Shell(&espyFolder, "espy bake \"$LEVELS/areas.gltf\" -o own.espy --progress none");
    assert_int_equal(run.status, 0);
    espyTestRun_Free(&run);
    size_t size;
    char* own = espyTest_ReadWork("own.espy", &size);
    assert_non_null(own);
    char* other = malloc(size);
    assert_non_null(other);
    const uint32_t one = 1;
    bool big = *(const uint8_t*)&one == 0;
    assert_int_equal(espyBake_ConvertByteOrder(own, size, !big, other, NULL), espyResult_Ok);
    espyTest_WriteFile("other.espy", other, size);
    free(own);
    free(other);
    run = espyTestRun_Shell(&espyFolder,
                            "! cmp -s own.espy other.espy && "
                            "espy info own.espy >a; espy info other.espy >b; diff a b | grep -c endian; "
                            "espy visible own.espy --at 1,1,1 --json >a && "
                            "espy visible other.espy --at 1,1,1 --json | cmp - a && "
                            "espy diff own.espy other.espy | head -1 && "
                            "espy check other.espy \"$LEVELS/areas.gltf\" && "
                            "espy bake \"$LEVELS/areas.gltf\" -o other.espy --json | grep -c '\"copied\":1' && "
                            "cmp own.espy other.espy");
    assert_string_equal(run.err, "");
    assert_int_equal(run.status, 0);
    assert_string_equal(run.out, "2\npairs      0 gained, 0 lost, in 0 of 8 cells\nup to date\n1\n");
    espyTestRun_Free(&run);
}

/// Lines of points made of anything: answered, or named with their number.
static void espyTest_RandomPointsAreAnsweredOrNamed(void** state)
{
    (void)state;
    static const char* const pieces[] = {"1",   " ", "\t", "-2.5", "1e3", "\n",  "\r\n",
                                         "nan", "x", ",",  "1e99", "0x1", "\xff"};
    espyTestRun run = espyTestRun_Shell(&espyFolder, "espy bake \"$LEVELS/halves.gltf\" -o a.espy --progress none");
    assert_int_equal(run.status, 0);
    espyTestRun_Free(&run);
    uint64_t seed = 3;
    espyiRng rng = espyiRng_Seed(seed);
    for (int round = 0; round < 40; ++round)
    {
        char text[4096] = "";
        // Most lines are good, so that some files are good to the end.
        for (uint32_t n = espyiRng_Below(&rng, 20); n > 0; --n)
        {
            if (espyiRng_Below(&rng, 20) > 0)
            {
                char line[100];
                snprintf(line, sizeof line, "%.9g %.9g\t%.9g\n", (double)espyiRng_Float(&rng) * 20.0 - 2.0,
                         (double)espyiRng_Float(&rng) * 5.0, (double)espyiRng_Float(&rng) * 9.0);
                strcat(text, line);
                continue;
            }
            for (uint32_t k = espyiRng_Below(&rng, 8); k > 0; --k)
            {
                strcat(text, pieces[espyiRng_Below(&rng, (uint32_t)ESPYI_ARRAY_COUNT(pieces))]);
            }
        }
        espyTest_WriteFile("points.txt", text, strlen(text));
        run = espyTestRun_Shell(&espyFolder, "espy visible a.espy --points points.txt --json");
        espyTest_CheckManners(&run, text);
        if (run.status != 0 && (run.status != 3 || !strstr(run.err, "espy: points.txt: line ")))
        {
            fail_msg("seed %llu, round %d: status %d: %s", (unsigned long long)seed, round, run.status, run.err);
        }
        espyTestRun_Free(&run);
    }
}

/// Seconds from a signal to the end of a bake that would take minutes.
static double espyTest_CancelOnce(int signalNumber)
{
    char program[] = "espy", bake[] = "bake", level[] = ESPY_TEST_LEVELS "/halves.gltf", o[] = "-o",
         out[] = "long.espy";
    char quality[] = "--quality", high[] = "high", size[] = "--cell-size", small[] = "0.15", most[] = "--max-cells";
    char many[] = "1000000", full[] = "--full";
    char* argv[] = {program, bake, level, o, out, quality, high, size, small, most, many, full, NULL};
    pid_t child = espyTestProcess_Start(&espyFolder, argv);
    nanosleep(&(struct timespec){0, 700000000}, NULL);
    double start = espyTest_Seconds();
    // Twice, as timeout(1) does: the second must not cut the tidy end short.
    kill(child, signalNumber);
    kill(child, signalNumber);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    double seconds = espyTest_Seconds() - start;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    char path[700];
    size_t textSize;
    snprintf(path, sizeof path, "%s/err", espyFolder.root);
    char* text = espyTest_ReadText(path, &textSize);
    assert_non_null(text);
    assert_non_null(strstr(text, "espy: cancelled: long.espy was not written\n"));
    free(text);
    return seconds;
}

/// Cancelled within 200 ms; the old file stays as it was and nothing is left beside it. The best of several tries
/// counts: what a busy machine adds is no fault of the program.
static void espyTest_SignalsCancelABake(void** state)
{
    (void)state;
    static const char old[] = "an old file";
    espyTest_WriteFile("long.espy", old, sizeof old);
    int before = espyTestFolder_CountEntries(&espyFolder);
    double best = 1e9;
    for (int round = 0; round < 20 && best > 0.2; ++round)
    {
        double seconds = espyTest_CancelOnce(round % 2 == 0 ? SIGINT : SIGTERM);
        best = seconds < best ? seconds : best;
    }
    print_message("cancelled after %.0f ms\n", best * 1e3);
    assert_true(best <= 0.2);
    size_t size;
    char* now = espyTest_ReadWork("long.espy", &size);
    assert_int_equal(size, sizeof old);
    assert_memory_equal(now, old, size);
    free(now);
    assert_int_equal(espyTestFolder_CountEntries(&espyFolder), before);
}

/// Killed without a word at different moments, the same command ends with the same bytes.
static void espyTest_KilledBakesGoOn(void** state)
{
    (void)state;
    char program[] = "espy", bake[] = "bake", level[] = ESPY_TEST_LEVELS "/halves.gltf", o[] = "-o", out[] = "c.espy";
    char size[] = "--cell-size", small[] = "0.5", checkpoint[] = "--checkpoint", saved[] = "c.state";
    char* argv[] = {program, bake, level, o, out, size, small, checkpoint, saved, NULL};
    int killed = 0;
    for (int round = 0; round < 4; ++round)
    {
        pid_t child = espyTestProcess_Start(&espyFolder, argv);
        nanosleep(&(struct timespec){0, 50000000 + 60000000 * round}, NULL);
        kill(child, SIGKILL);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        killed += WIFSIGNALED(status);
    }
    print_message("killed %d times\n", killed);
    espyTestRun run = espyTestRun_Program(&espyFolder, argv);
    assert_int_equal(run.status, 0);
    espyTestRun_Free(&run);
    run = espyTestRun_Shell(&espyFolder, "espy bake \"$LEVELS/halves.gltf\" -o d.espy --cell-size 0.5 >table 2>&1 && "
                                         "cmp c.espy d.espy && ls -A");
    assert_int_equal(run.status, 0);
    assert_null(strstr(run.out, ".espy-"));
    espyTestRun_Free(&run);
}

/// Links are written through, permissions are kept, and a disk that is full leaves the old file.
static void espyTest_FilesAreReplacedWhole(void** state)
{
    (void)state;
    espyTestRun run = espyTestRun_Shell(
        &espyFolder,
        "espy bake \"$LEVELS/halves.gltf\" -o real.espy --progress none >/dev/null && chmod 640 real.espy && "
        "ln -s real.espy link.espy && cp real.espy before.espy && "
        "espy bake \"$LEVELS/areas.gltf\" -o link.espy --full --progress none >/dev/null && "
        "test -L link.espy && ! cmp -s real.espy before.espy && stat -c %a real.espy && "
        "(ulimit -f 1; espy bake \"$LEVELS/halves.gltf\" --cell-size 0.5 -o real.espy --full --progress none); "
        "echo $?; ls -A");
    assert_string_equal(run.out, "640\n4\nbefore.espy\nlink.espy\nreal.espy\n");
    assert_non_null(strstr(run.err, "espy: real.espy: cannot be written: File too large\n"));
    espyTestRun_Free(&run);
}

/// Memory that ends anywhere within an import is said, and never ends the program.
static void espyTest_LittleMemoryIsSaid(void** state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); // The sanitizer's own mappings do not fit a limit.
#endif
    espyTestRun run = espyTestRun_Shell(
        &espyFolder, "awk 'BEGIN { n = 20000; printf \"{\\\"asset\\\":{\\\"version\\\":\\\"2.0\\\"},\\\"nodes\\\":[\"; "
                     "for (i = 0; i < n; ++i) printf \"%s{\\\"name\\\":\\\"node number %d of "
                     "many\\\",\\\"translation\\\":[%d,1,2]}\", "
                     "i ? \",\" : \"\", i, i; printf \"]}\" }' >many.gltf; "
                     "for size in 30000 40000 50000 60000 70000 80000 100000 120000 140000 unlimited; do "
                     "(ulimit -v $size; espy import many.gltf -o many.glb >/dev/null); echo $?; done");
    uint32_t refused = 0;
    int status = -1, length = 0;
    for (const char* at = run.out; sscanf(at, "%d%n", &status, &length) == 1; at += length)
    {
        // 127: not even the libraries fit.
        if (status != 0 && status != 4 && status != 127)
        {
            fail_msg("exit status %d: %s", status, run.err);
        }
        refused += status == 4;
    }
    assert_int_equal(status, 0);
    assert_true(refused > 0);
    assert_non_null(strstr(run.err, "espy: many.gltf: out of memory while reading the level\n"));
    espyTestRun_Free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(espyTest_RandomArgumentsNeverCrash, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_DamagedDataIsRefused, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_EitherByteOrderIsRead, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_RandomPointsAreAnsweredOrNamed, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_SignalsCancelABake, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_KilledBakesGoOn, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_FilesAreReplacedWhole, espyTest_Setup, espyTest_Teardown),
        cmocka_unit_test_setup_teardown(espyTest_LittleMemoryIsSaid, espyTest_Setup, espyTest_Teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
