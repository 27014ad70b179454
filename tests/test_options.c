// SPDX-License-Identifier: MIT
// The command-line tables, the numbers and the texts of the tools, without starting a program.
#include "cli_text.h"
#include "options.h"
#include "progress.h"
#include "test_main.h"

#include "core/core.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/// A command with one option of every kind.
typedef struct espySample
{
    const char* level;
    const char* other;
    const char* out;
    int32_t choice;
    float size;
    double share;
    uint32_t count;
    uint64_t seed;
    double at[3];
    espyVec3 points[4];
    espyCliVec3List starts;
    bool json, givenSize;
} espySample;

static const char* const espySampleChoices[] = {"low", "medium", "high", NULL};

static espyCliParse espySample_Parse(espySample* sample, int argc, char* const* argv, espyCliLine* line)
{
    *sample = (espySample){.choice = 1, .size = 4.0f, .seed = 1};
    sample->starts = (espyCliVec3List){sample->points, 0, 4};
    const espyCliArgument arguments[] = {{"LEVEL", "a level", &sample->level}, {"OTHER", "another", &sample->other}};
    const espyCliOption options[] = {
        {.name = "-o", .value = "F", .kind = espyCliOptionKind_Text, .target = &sample->out},
        {.name = "--quality",
         .value = "Q",
         .kind = espyCliOptionKind_Choice,
         .target = &sample->choice,
         .choices = espySampleChoices},
        {.name = "--cell-size",
         .value = "M",
         .kind = espyCliOptionKind_Float,
         .target = &sample->size,
         .min = 0.5,
         .max = 64.0,
         .unit = "metres",
         .given = &sample->givenSize},
        {.name = "--share",
         .value = "S",
         .kind = espyCliOptionKind_Double,
         .target = &sample->share,
         .min = 0.0,
         .max = 1.0},
        {.name = "--count",
         .value = "N",
         .kind = espyCliOptionKind_U32,
         .target = &sample->count,
         .min = 1.0,
         .max = 4294967295.0},
        {.name = "--seed", .value = "N", .kind = espyCliOptionKind_U64, .target = &sample->seed},
        {.name = "--at", .value = "X,Y,Z", .kind = espyCliOptionKind_Point, .target = sample->at},
        {.name = "--start", .value = "X,Y,Z", .kind = espyCliOptionKind_Vec3List, .target = &sample->starts},
        {.name = "--json", .kind = espyCliOptionKind_Flag, .target = &sample->json},
    };
    const espyCliUsage usage = {
        .command = "try",
        .synopsis = "try LEVEL OTHER [options]",
        .summary = "Tries.",
        .arguments = arguments,
        .argumentCount = 2,
        .options = options,
        .optionCount = sizeof options / sizeof options[0],
        .statuses = "0    done",
        .example = "espy try a b",
    };
    line->text[0] = '\0';
    return espyiCliOptions_Parse(&usage, argc, argv, line);
}

/// Parses words given as one text between blanks.
static espyCliParse espySample_ParseText(espySample* sample, const char* text, espyCliLine* line)
{
    static char copy[1024];
    static char* words[64];
    int count = 0;
    assert_true(strlen(text) < sizeof copy);
    strcpy(copy, text);
    for (char* word = strtok(copy, " "); word; word = strtok(NULL, " "))
    {
        words[count++] = word;
    }
    return espySample_Parse(sample, count, words, line);
}

static void espyTest_NumbersAreWholeAndStrict(void** state)
{
    (void)state;
    const struct
    {
        const char* text;
        double value;
    } good[] = {
        {"0", 0.0},     {"-0.5", -0.5},   {"+3", 3.0},  {".25", 0.25}, {"5.", 5.0},      {"1e3", 1e3},
        {"1E-2", 0.01}, {"1.5e+1", 15.0}, {"007", 7.0}, {"0.1", 0.1},  {"1e308", 1e308},
    };
    static const char* const bad[] = {
        "",   " 1", "1 ", "1x", "x",   "nan", "NaN",   "inf",   "-inf",   "infinity", "0x10",  "1e",  "1e+",
        "e5", ".",  "-",  "+",  "--1", "1,5", "1.2.3", "1e400", "-1e999", "1e5.5",    "1_000", "1\n", "\t1",
    };
    double value;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i)
    {
        assert_true(espyiCliNumber_ParseDouble(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    {
        if (espyiCliNumber_ParseDouble(bad[i], &value))
        {
            fail_msg("'%s' was taken as %g", bad[i], value);
        }
    }
}

static void espyTest_WholeNumbersDoNotWrap(void** state)
{
    (void)state;
    uint64_t value;
    assert_true(espyiCliNumber_ParseU64("18446744073709551615", &value) && value == UINT64_MAX);
    assert_true(espyiCliNumber_ParseU64("0", &value) && value == 0);
    static const char* const bad[] = {
        "", "-1", "+1", "1.0", "1e3", " 1", "18446744073709551616", "99999999999999999999", "0x1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    {
        assert_false(espyiCliNumber_ParseU64(bad[i], &value));
    }
}

static void espyTest_PointsHaveThreeFiniteFloats(void** state)
{
    (void)state;
    double p[3];
    assert_true(espyiCliNumber_ParsePoint("1,-2.5,3e2", p));
    assert_true(p[0] == 1.0 && p[1] == -2.5 && p[2] == 300.0);
    static const char* const bad[] = {"",      "1",       "1,2",      "1,2,3,4", "1,2,",   ",1,2", "1, 2,3",
                                      "1;2;3", "nan,0,0", "1e39,0,0", "a,b,c",   "1,2,3 ", "1,,3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    {
        assert_false(espyiCliNumber_ParsePoint(bad[i], p));
    }
}

static void espyTest_OptionsReachTheirTargets(void** state)
{
    (void)state;
    espySample s;
    espyCliLine line;
    assert_int_equal(
        espySample_ParseText(&s,
                             "a.glb -o out --quality=high --cell-size 2 b.glb --share 0.5 --count 4294967295 "
                             "--seed 18446744073709551615 --at -1,2,-3 --start 1,2,3 --start=4,5,6 --json",
                             &line),
        espyCliParse_Ok);
    assert_string_equal(s.level, "a.glb");
    assert_string_equal(s.other, "b.glb");
    assert_string_equal(s.out, "out");
    assert_int_equal(s.choice, 2);
    assert_true(s.size == 2.0f && s.givenSize && s.share == 0.5 && s.json);
    assert_true(s.count == UINT32_MAX && s.seed == UINT64_MAX);
    assert_true(s.at[0] == -1.0 && s.at[1] == 2.0 && s.at[2] == -3.0);
    assert_int_equal(s.starts.count, 2);
    assert_true(s.points[1].x == 4.0f && s.points[1].z == 6.0f);

    assert_int_equal(espySample_ParseText(&s, "a b", &line), espyCliParse_Ok);
    assert_true(s.size == 4.0f && !s.givenSize && !s.json && s.choice == 1 && !s.out);

    // After "--" everything is a file; "-" always is one.
    assert_int_equal(espySample_ParseText(&s, "-o - -- - --json", &line), espyCliParse_Ok);
    assert_string_equal(s.out, "-");
    assert_string_equal(s.level, "-");
    assert_string_equal(s.other, "--json");
    assert_false(s.json);
}

static void espyTest_HelpWinsOverMistakes(void** state)
{
    (void)state;
    espySample s;
    espyCliLine line;
    assert_int_equal(espySample_ParseText(&s, "--nonsense --help", &line), espyCliParse_Help);
    assert_int_equal(espySample_ParseText(&s, "a b -- --help", &line), espyCliParse_Error);
}

/// Every mistake is one line that names the option and what it wants.
static void espyTest_MistakesAreNamed(void** state)
{
    (void)state;
    static const struct
    {
        const char* words;
        const char* message;
    } cases[] = {
        {"", "try: LEVEL is missing: espy try LEVEL OTHER [options]"},
        {"a", "try: OTHER is missing: espy try LEVEL OTHER [options]"},
        {"a b c", "try: 'c' is one file too many: espy try LEVEL OTHER [options]"},
        {"a b --jsom", "try: unknown option '--jsom': did you mean --json? ('espy try --help' lists all)"},
        {"a b --cel-size=3",
         "try: unknown option '--cel-size': did you mean --cell-size? ('espy try --help' lists all)"},
        {"a b --frobnicate", "try: unknown option '--frobnicate' ('espy try --help' lists all)"},
        {"a b --hlep", "try: unknown option '--hlep': did you mean --help? ('espy try --help' lists all)"},
        {"a b -o", "try: -o needs a file name after it"},
        {"a b -o --json", "try: -o wants a file name, not '--json'"},
        {"a b --json=1", "try: --json takes no value"},
        {"a b --json --json", "try: --json is given twice"},
        {"a b --cell-size 2 --cell-size 3", "try: --cell-size is given twice"},
        {"a b --cell-size nan", "try: --cell-size wants a number from 0.5 to 64 metres, not 'nan'"},
        {"a b --cell-size 0.49", "try: --cell-size wants a number from 0.5 to 64 metres, not '0.49'"},
        {"a b --cell-size 65", "try: --cell-size wants a number from 0.5 to 64 metres, not '65'"},
        {"a b --cell-size 4m", "try: --cell-size wants a number from 0.5 to 64 metres, not '4m'"},
        {"a b --cell-size=", "try: --cell-size wants a number from 0.5 to 64 metres, not ''"},
        {"a b --share 1.01", "try: --share wants a number from 0 to 1, not '1.01'"},
        {"a b --count 0", "try: --count wants a whole number from 1 to 4294967295, not '0'"},
        {"a b --count 4294967296", "try: --count wants a whole number from 1 to 4294967295, not '4294967296'"},
        {"a b --count -1", "try: --count wants a whole number from 1 to 4294967295, not '-1'"},
        {"a b --seed 1.5", "try: --seed wants a whole number from 0 to 18446744073709551615, not '1.5'"},
        {"a b --at 1,2", "try: --at wants three numbers X,Y,Z in metres, not '1,2'"},
        {"a b --at", "try: --at needs three numbers X,Y,Z in metres after it"},
        {"a b --quality best", "try: --quality wants low, medium or high, not 'best'"},
        {"a b --start 1,2,3 --start x", "try: --start wants three numbers X,Y,Z in metres, not 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    {
        espySample s;
        espyCliLine line;
        assert_int_equal(espySample_ParseText(&s, cases[i].words, &line), espyCliParse_Error);
        assert_string_equal(line.text, cases[i].message);
    }
}

static void espyTest_NearestNameIsSuggested(void** state)
{
    (void)state;
    static const char* const names[] = {"bake", "info", "visible", "audit", "check", "diff", "import"};
    static const char* const pairs[][2] = {
        {"bkae", "bake"},    {"visble", "visible"}, {"chekc", "check"}, {"imprt", "import"},
        {"auditt", "audit"}, {"cook", "check"},     {"", "bake"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i)
    {
        assert_string_equal(espyiCliOptions_FindNearest(pairs[i][0], names, 7, UINT32_MAX), pairs[i][1]);
    }
    char longWord[500];
    memset(longWord, 'x', sizeof longWord);
    longWord[sizeof longWord - 1] = '\0';
    assert_non_null(espyiCliOptions_FindNearest(longWord, names, 7, UINT32_MAX));
    assert_null(espyiCliOptions_FindNearest("bake", names, 0, UINT32_MAX));
    assert_null(espyiCliOptions_FindNearest("bkae", names, 7, 0));
    assert_non_null(espyiCliOptions_FindNearest("bkae", names, 7, 1));
}

/// Random words never crash; what is accepted is inside its range.
static void espyTest_RandomWordsAreAcceptedOrNamed(void** state)
{
    (void)state;
    static const char* const pieces[] = {
        "-",   "--", "-o", "--json", "--cell-size", "--count", "--at", "--start", "--help",   "--seed", "=", "1",
        "2.5", "-3", ",",  "1,2,3",  "nan",         "1e999",   "high", "%s%n",    "\xff\xfe", "\n",     "a", "--share"};
    uint64_t seed = 20;
    espyiRng rng = espyiRng_Seed(seed);
    for (int round = 0; round < 20000; ++round)
    {
        char storage[12][64];
        char* words[12];
        int count = (int)espyiRng_Below(&rng, 12);
        for (int i = 0; i < count; ++i)
        {
            storage[i][0] = '\0';
            for (uint32_t n = espyiRng_Below(&rng, 3) + 1; n > 0; --n)
            {
                const char* piece = pieces[espyiRng_Below(&rng, sizeof pieces / sizeof pieces[0])];
                strcat(storage[i], espyiRng_Below(&rng, 4) > 0 ? piece : "");
            }
            words[i] = storage[i];
        }
        espySample s;
        espyCliLine line;
        espyCliParse parsed = espySample_Parse(&s, count, words, &line);
        bool inside = s.size >= 0.5f && s.size <= 64.0f && s.share >= 0.0 && s.share <= 1.0 && s.starts.count <= 4;
        if (!inside || (parsed == espyCliParse_Error) != (line.text[0] != '\0') ||
            strlen(line.text) >= sizeof line.text)
        {
            fail_msg("seed %llu, round %d", (unsigned long long)seed, round);
        }
    }
}

static void espyTest_TextIsMadePrintable(void** state)
{
    (void)state;
    static const char* const pairs[][2] = {
        {"plain", "plain"},
        {"two\nlines\tand\x1b[31mred\x7f", "two?lines?and?[31mred?"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff\xfe", "??"},
        {"\xc3", "?"},
        {"\xe2\x82", "??"},
        {"\xc0\xaf", "??"},           // overlong
        {"\xed\xa0\x80", "???"},      // surrogate
        {"\xf4\x90\x80\x80", "????"}, // above U+10FFFF
        {"\xc2\x9b", "?"},            // C1 control
    };
    char out[64];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i)
    {
        espyiCliText_Sanitize(pairs[i][0], out, sizeof out);
        assert_string_equal(out, pairs[i][1]);
    }
    char small[6];
    espyiCliText_Sanitize("abc\xe2\x82\xac", small, sizeof small);
    assert_string_equal(small, "abc");
}

static void espyTest_NumbersPrintShortAndExact(void** state)
{
    (void)state;
    assert_string_equal(espyiCliNumber_FromCount(0).text, "0");
    assert_string_equal(espyiCliNumber_FromCount(999).text, "999");
    assert_string_equal(espyiCliNumber_FromCount(47850).text, "47,850");
    assert_string_equal(espyiCliNumber_FromCount(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(espyiCliNumber_FromFloat(0.1f).text, "0.1");
    assert_string_equal(espyiCliNumber_FromDouble(0.1).text, "0.1");
    assert_string_equal(espyiCliNumber_FromDouble(-2.5).text, "-2.5");
    assert_string_equal(espyiCliNumber_FromFloat(NAN).text, "null");
    assert_string_equal(espyiCliNumber_FromDouble(INFINITY).text, "null");
    espyiRng rng = espyiRng_Seed(7);
    for (int i = 0; i < 20000; ++i)
    {
        uint32_t bits = espyiRng_U32(&rng);
        uint64_t wide = (uint64_t)espyiRng_U32(&rng) << 32 | bits;
        float f;
        double d;
        memcpy(&f, &bits, sizeof f);
        memcpy(&d, &wide, sizeof d);
        assert_true(!isfinite(f) || strtof(espyiCliNumber_FromFloat(f).text, NULL) == f);
        assert_true(!isfinite(d) || strtod(espyiCliNumber_FromDouble(d).text, NULL) == d);
    }
}

static void espyTest_JsonSurvivesWhatIsNotFinite(void** state)
{
    (void)state;
    json_t* object = json_object();
    espyiCliJson_Set(&object, "a", espyiCliJson_FromDouble(NAN));
    espyiCliJson_Set(&object, "b", espyiCliJson_FromFloat(0.1f));
    espyiCliJson_Set(&object, "c", espyiCliJson_FromText("\xff\"\n"));
    espyiCliJson_SetCount(&object, "d", 1234567890123ull);
    char* text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    assert_string_equal(text, "{\"a\":null,\"b\":0.1,\"c\":\"?\\\"?\",\"d\":1234567890123}");
    free(text);
    // Memory that ran out shows as a null value: the object goes, later calls are harmless.
    espyiCliJson_Set(&object, "e", NULL);
    assert_null(object);
    espyiCliJson_Set(&object, "f", json_integer(1));
    assert_null(object);
}

static void espyTest_ProgressTellsWhatIsKnown(void** state)
{
    (void)state;
    char text[200];
    espyCliProgressState s = {.countName = "cells", .rateName = "rays"};
    espyiCliProgress_Describe(&s, text, sizeof text);
    assert_string_equal(text, "0 %");
    s = (espyCliProgressState){47, 100, 47.0, 47850, "cells", 3.21e6, "rays"};
    espyiCliProgress_Describe(&s, text, sizeof text);
    assert_string_equal(text, "47 % of 47,850 cells, 3.2 M rays/s, 0:53 left");
    s.seconds = 47.0 * 100.0;
    espyiCliProgress_Describe(&s, text, sizeof text);
    assert_string_equal(text, "47 % of 47,850 cells, 3.2 M rays/s, 1:28:20 left");
    s = (espyCliProgressState){101, 100, 0.5, 1, "views", 12.3, "views"};
    espyiCliProgress_Describe(&s, text, sizeof text);
    assert_string_equal(text, "100 % of 1 views, 12 views/s");
}

/// Lines come every two seconds, not before.
static void espyTest_ProgressLinesAreRare(void** state)
{
    (void)state;
    FILE* file = tmpfile();
    assert_non_null(file);
    espyCliProgress progress;
    espyiCliProgress_Begin(&progress, espyCliProgressMode_Auto, file, "baking");
    assert_false(progress.bar);
    for (int i = 0; i <= 70; ++i)
    {
        espyCliProgressState s = {(uint64_t)i, 100, 0.1 * i, 8, "cells", 0.0, "rays"};
        espyiCliProgress_Show(&progress, &s);
    }
    espyiCliProgress_End(&progress);
    rewind(file);
    char line[200];
    int lines = 0;
    while (fgets(line, sizeof line, file))
    {
        assert_non_null(strstr(line, "espy: baking: "));
        ++lines;
    }
    fclose(file);
    assert_int_equal(lines, 3);
}

/// A bar fits its terminal at every width and leaves a clean line.
static void espyTest_BarFitsTheTerminal(void** state)
{
    (void)state;
    for (int width = 1; width < 200; ++width)
    {
        FILE* file = tmpfile();
        assert_non_null(file);
        espyCliProgress progress;
        espyiCliProgress_Begin(&progress, espyCliProgressMode_None, file, "baking");
        progress.bar = true;
        progress.width = width;
        for (int i = 1; i <= 10; ++i)
        {
            espyCliProgressState s = {(uint64_t)i * 10, 100, (double)i, 47850, "cells", 1e6 / i, "rays"};
            espyiCliProgress_Show(&progress, &s);
        }
        espyiCliProgress_End(&progress);
        rewind(file);
        char all[8192] = "";
        size_t size = fread(all, 1, sizeof all - 1, file);
        fclose(file);
        assert_true(size > 0 && all[0] == '\r' && all[size - 1] == '\r');
        for (char* part = strtok(all, "\r"); part; part = strtok(NULL, "\r"))
        {
            assert_true((int)strlen(part) <= (width > 2 ? width - 1 : 1));
            assert_null(strchr(part, '\n'));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_NumbersAreWholeAndStrict),
        cmocka_unit_test(espyTest_WholeNumbersDoNotWrap),
        cmocka_unit_test(espyTest_PointsHaveThreeFiniteFloats),
        cmocka_unit_test(espyTest_OptionsReachTheirTargets),
        cmocka_unit_test(espyTest_HelpWinsOverMistakes),
        cmocka_unit_test(espyTest_MistakesAreNamed),
        cmocka_unit_test(espyTest_NearestNameIsSuggested),
        cmocka_unit_test(espyTest_RandomWordsAreAcceptedOrNamed),
        cmocka_unit_test(espyTest_TextIsMadePrintable),
        cmocka_unit_test(espyTest_NumbersPrintShortAndExact),
        cmocka_unit_test(espyTest_JsonSurvivesWhatIsNotFinite),
        cmocka_unit_test(espyTest_ProgressTellsWhatIsKnown),
        cmocka_unit_test(espyTest_ProgressLinesAreRare),
        cmocka_unit_test(espyTest_BarFitsTheTerminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
