// SPDX-License-Identifier: MIT
// The command line against transcripts: tests/cli/*.test hold commands and what they must print.
//
// A line of a transcript starts with
//   #   a remark
//   $   a command; it runs in a folder that the whole transcript shares, with espy in PATH and LEVELS set
//   >   a line that it must print on standard output        ~   a pattern for one ('*' is any text)
//   !   a line that it must print on standard error         ?   a pattern for one
//   =   its exit status, 0 where nothing is said
// "~..." and "?..." stand for any number of lines. `test_cli --rewrite [NAME...]` replaces the expectations that do not
// hold by what the program does now; the difference is then to be read.
#include "cli/cli_process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_main.h"

enum
{
    espyTranscripts_Max = 64,
    espyExpectations_Max = 512
};

static char espyTranscriptNames[espyTranscripts_Max][64];
static bool espyRewrite;

/// One command with what is expected of it; lines point into the transcript.
typedef struct espyCase
{
    const char* command;
    int line;
    int status;
    const char* expected[espyExpectations_Max]; ///< Whole lines with their sign.
    int expectedCount;
} espyCase;

/// '*' stands for any text, everything else for itself.
static bool espyPattern_Matches(const char* pattern, const char* text, size_t length)
{
    const char* star = NULL;
    size_t at = 0, retry = 0;
    while (at < length || *pattern)
    {
        if (*pattern == '*')
        {
            star = ++pattern;
            retry = at;
        }
        else if (at < length && *pattern == text[at])
        {
            ++pattern;
            ++at;
        }
        else if (star && retry < length)
        {
            pattern = star;
            at = ++retry;
        }
        else
        {
            return false;
        }
    }
    return true;
}

/// An empty line is the sign alone.
static bool espyExpectation_Fits(const char* expected, char exact, const char* text, size_t length)
{
    const char* want = expected + (expected[1] == ' ' ? 2 : 1);
    return expected[0] == exact ? strlen(want) == length && strncmp(want, text, length) == 0
                                : espyPattern_Matches(want, text, length);
}

/// Matches the lines of one stream with the expectations that carry its two signs.
static bool espyCase_MatchStream(const espyCase* test, const char* text, char exact, char pattern)
{
    const char* want[espyExpectations_Max];
    int count = 0, next = 0;
    for (int i = 0; i < test->expectedCount; ++i)
    {
        if (test->expected[i][0] == exact || test->expected[i][0] == pattern)
        {
            want[count++] = test->expected[i];
        }
    }
    while (*text)
    {
        size_t length = strcspn(text, "\n");
        bool any = next < count && want[next][0] == pattern && strcmp(want[next] + 1, "...") == 0;
        int line = any ? next + 1 : next;
        if (line < count && espyExpectation_Fits(want[line], exact, text, length))
        {
            next = line + 1;
        }
        else if (!any)
        {
            return false;
        }
        text += length;
        text += *text == '\n';
    }
    bool rest = next + 1 == count && want[next][0] == pattern && strcmp(want[next] + 1, "...") == 0;
    return next == count || rest;
}

static void espyText_Quote(FILE* to, const char* text, char sign)
{
    while (*text)
    {
        int length = (int)strcspn(text, "\n");
        fprintf(to, length > 0 ? "%c %.*s\n" : "%c%.*s\n", sign, length, text);
        text += length;
        text += *text == '\n';
    }
}

/// Runs one case. On a mismatch prints both sides, or writes what happened where the transcript is rewritten.
static bool espyCase_Run(const espyCase* test, const espyTestFolder* folder, const char* name, FILE* rewritten)
{
    espyTestRun run = espyTestRun_Shell(folder, test->command);
    bool good = run.status == test->status && espyCase_MatchStream(test, run.out, '>', '~') &&
                espyCase_MatchStream(test, run.err, '!', '?');
    if (rewritten && good)
    {
        for (int i = 0; i < test->expectedCount; ++i)
        {
            fprintf(rewritten, "%s\n", test->expected[i]);
        }
    }
    else if (rewritten || !good)
    {
        FILE* to = rewritten ? rewritten : stderr;
        if (!rewritten)
        {
            fprintf(stderr, "%s:%d: $ %s\n--- wanted\n", name, test->line, test->command);
            for (int i = 0; i < test->expectedCount; ++i)
            {
                fprintf(stderr, "%s\n", test->expected[i]);
            }
            fprintf(stderr, "= %d\n--- got\n", test->status);
        }
        espyText_Quote(to, run.out, '>');
        espyText_Quote(to, run.err, '!');
    }
    if (rewritten ? run.status != 0 : !good)
    {
        fprintf(rewritten ? rewritten : stderr, "= %d\n", run.status);
    }
    espyTestRun_Free(&run);
    return good;
}

/// Runs a whole transcript; returns the number of commands that did not do what they must.
static int espyTranscript_Run(const char* name)
{
    char path[1024], newPath[1040];
    size_t size;
    snprintf(path, sizeof path, "%s/tests/cli/%s", ESPY_SOURCE_DIR, name);
    snprintf(newPath, sizeof newPath, "%s.tmp", path);
    char* text = espyTest_ReadText(path, &size);
    assert_non_null(text);
    FILE* rewritten = espyRewrite ? fopen(newPath, "w") : NULL;
    espyTestFolder folder;
    espyTestFolder_Create(&folder, ESPY_PROGRAM, ESPY_SOURCE_DIR "/tests/cli/levels");
    static espyCase test;
    int failures = 0, line = 0;
    test.command = NULL;
    for (char* at = text;;)
    {
        bool end = *at == '\0';
        char* next = at + strcspn(at, "\n");
        bool more = *next == '\n';
        *next = '\0';
        ++line;
        bool expectation = !end && strchr(">~!?=", at[0]) && at[0] != '\0';
        if (expectation)
        {
            assert_true(test.command && test.expectedCount < espyExpectations_Max);
            if (at[0] == '=')
            {
                test.status = atoi(at + 1);
            }
            else
            {
                test.expected[test.expectedCount++] = at;
            }
        }
        else
        {
            if (test.command)
            {
                failures += !espyCase_Run(&test, &folder, name, rewritten);
                test.command = NULL;
            }
            if (rewritten && !end)
            {
                fprintf(rewritten, "%s\n", at);
            }
            if (at[0] == '$')
            {
                test.command = at + 2;
                test.line = line;
                test.status = 0;
                test.expectedCount = 0;
            }
        }
        if (end)
        {
            break;
        }
        at = more ? next + 1 : next;
    }
    espyTestFolder_Remove(&folder);
    free(text);
    if (rewritten)
    {
        fclose(rewritten);
        assert_int_equal(rename(newPath, path), 0);
        return 0;
    }
    return failures;
}

static void espyTest_Transcript(void** state)
{
    assert_int_equal(espyTranscript_Run(*state), 0);
}

static int espyNames_Compare(const void* a, const void* b)
{
    return strcmp(a, b);
}

static int espyTranscript_List(void)
{
    int count = 0;
    DIR* entries = opendir(ESPY_SOURCE_DIR "/tests/cli");
    for (struct dirent* entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
    {
        size_t length = strlen(entry->d_name);
        if (length > 5 && length < sizeof espyTranscriptNames[0] && count < espyTranscripts_Max &&
            strcmp(entry->d_name + length - 5, ".test") == 0)
        {
            memcpy(espyTranscriptNames[count++], entry->d_name, length + 1);
        }
    }
    if (entries)
    {
        closedir(entries);
    }
    qsort(espyTranscriptNames, (size_t)count, sizeof espyTranscriptNames[0], espyNames_Compare);
    return count;
}

static bool espyArguments_Name(int argc, char** argv, const char* name)
{
    bool any = false;
    for (int i = 1; i < argc; ++i)
    {
        if (argv[i][0] != '-')
        {
            any = true;
            if (strcmp(argv[i], name) == 0)
            {
                return true;
            }
        }
    }
    return !any;
}

int main(int argc, char** argv)
{
    static struct CMUnitTest tests[espyTranscripts_Max];
    int found = espyTranscript_List();
    size_t count = 0;
    espyRewrite = argc > 1 && strcmp(argv[1], "--rewrite") == 0;
    for (int i = 0; i < found; ++i)
    {
        if (espyArguments_Name(argc, argv, espyTranscriptNames[i]))
        {
            tests[count++] =
                (struct CMUnitTest){espyTranscriptNames[i], espyTest_Transcript, NULL, NULL, espyTranscriptNames[i]};
        }
    }
    if (count == 0)
    {
        fprintf(stderr, "no transcript in tests/cli\n");
        return 1;
    }
    return _cmocka_run_group_tests("cli", tests, count, NULL, NULL);
}
