// SPDX-License-Identifier: MIT
// Parser and help of the command-line tables.
// Based on: optimal string alignment distance, after F. Damerau, "A technique for computer detection and correction of
// spelling errors", 1964.
#include "options.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
    espyCliOptions_Max = 32,
    espyCliNearest_MaxLength = 31,
    espyCliHelp_Column = 26,
    espyCliHelp_Width = 100
};

// --- numbers

bool espyiCliNumber_ParseDouble(const char* text, double* out)
{
    // strtod alone would take leading space, "0x10", "inf" and "nan".
    const char* p = text;
    p += *p == '-' || *p == '+';
    size_t digits = 0;
    for (; isdigit((unsigned char)*p); ++p)
    {
        ++digits;
    }
    if (*p == '.')
    {
        for (++p; isdigit((unsigned char)*p); ++p)
        {
            ++digits;
        }
    }
    if (digits == 0)
    {
        return false;
    }
    if (*p == 'e' || *p == 'E')
    {
        ++p;
        p += *p == '-' || *p == '+';
        if (!isdigit((unsigned char)*p))
        {
            return false;
        }
        while (isdigit((unsigned char)*p))
        {
            ++p;
        }
    }
    if (*p != '\0')
    {
        return false;
    }
    double value = strtod(text, NULL);
    if (!isfinite(value))
    {
        return false;
    }
    *out = value;
    return true;
}

bool espyiCliNumber_ParseU64(const char* text, uint64_t* out)
{
    uint64_t value = 0;
    if (*text == '\0')
    {
        return false;
    }
    for (; *text; ++text)
    {
        if (!isdigit((unsigned char)*text))
        {
            return false;
        }
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10u)
        {
            return false;
        }
        value = value * 10u + digit;
    }
    *out = value;
    return true;
}

bool espyiCliNumber_ParsePoint(const char* text, double out[3])
{
    for (int i = 0; i < 3; ++i)
    {
        char number[64];
        size_t length = strcspn(text, ",");
        if (length >= sizeof number || (text[length] == ',') != (i < 2))
        {
            return false;
        }
        memcpy(number, text, length);
        number[length] = '\0';
        if (!espyiCliNumber_ParseDouble(number, &out[i]) || fabs(out[i]) > (double)FLT_MAX)
        {
            return false;
        }
        text += length + 1;
    }
    return true;
}

// --- nearest name

static uint32_t espyCliDistance_Compute(const char* a, const char* b)
{
    uint32_t lengthA = (uint32_t)strnlen(a, espyCliNearest_MaxLength);
    uint32_t lengthB = (uint32_t)strnlen(b, espyCliNearest_MaxLength);
    uint32_t table[espyCliNearest_MaxLength + 1][espyCliNearest_MaxLength + 1];
    for (uint32_t i = 0; i <= lengthA; ++i)
    {
        table[i][0] = i;
    }
    for (uint32_t j = 0; j <= lengthB; ++j)
    {
        table[0][j] = j;
    }
    for (uint32_t i = 1; i <= lengthA; ++i)
    {
        for (uint32_t j = 1; j <= lengthB; ++j)
        {
            uint32_t replaced = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            uint32_t dropped = table[i - 1][j] + 1, added = table[i][j - 1] + 1;
            uint32_t best = replaced < dropped ? replaced : dropped;
            best = added < best ? added : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && table[i - 2][j - 2] + 1 < best)
            {
                best = table[i - 2][j - 2] + 1;
            }
            table[i][j] = best;
        }
    }
    return table[lengthA][lengthB];
}

const char* espyiCliOptions_FindNearest(const char* word, const char* const* names, uint32_t count, uint32_t maxEdits)
{
    const char* nearest = NULL;
    uint32_t best = maxEdits < UINT32_MAX ? maxEdits + 1 : UINT32_MAX;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t distance = espyCliDistance_Compute(word, names[i]);
        if (distance < best)
        {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

// --- parsing

/// Finds an option by the first `length` characters of a word.
static const espyCliOption* espyCliOptions_Find(const espyCliUsage* usage, const char* word, size_t length)
{
    for (uint32_t i = 0; i < usage->optionCount; ++i)
    {
        const char* name = usage->options[i].name;
        if (strlen(name) == length && strncmp(name, word, length) == 0)
        {
            return &usage->options[i];
        }
    }
    return NULL;
}

static void espyCliOptions_Unknown(const espyCliUsage* usage, const char* word, size_t length, espyCliLine* line)
{
    const char* names[espyCliOptions_Max + 1];
    uint32_t count = 0;
    for (; count < usage->optionCount && count < espyCliOptions_Max; ++count)
    {
        names[count] = usage->options[count].name;
    }
    names[count++] = "--help";
    char option[80];
    snprintf(option, sizeof option, "%.*s", length < sizeof option ? (int)length : (int)sizeof option - 1, word);
    // A suggestion further off than a third of the word would only puzzle.
    const char* nearest = espyiCliOptions_FindNearest(option, names, count, (uint32_t)strlen(option) / 3u);
    espyiCliLine_Set(line, espyCliExit_Usage, "%s: unknown option '%s'%s%s%s ('espy %s --help' lists all)",
                     usage->command, option, nearest ? ": did you mean " : "", nearest ? nearest : "",
                     nearest ? "?" : "", usage->command);
}

/// Describes what a value must be, for error lines and help.
static void espyCliOption_DescribeRange(const espyCliOption* option, char* out, size_t size)
{
    const char* unit = option->unit ? option->unit : "";
    const char* gap = option->unit ? " " : "";
    switch (option->kind)
    {
    case espyCliOptionKind_Float:
    case espyCliOptionKind_Double:
        snprintf(out, size, "a number from %s to %s%s%s", espyiCliNumber_FromDouble(option->min).text,
                 espyiCliNumber_FromDouble(option->max).text, gap, unit);
        break;
    case espyCliOptionKind_U32:
        snprintf(out, size, "a whole number from %.0f to %.0f%s%s", option->min, option->max, gap, unit);
        break;
    case espyCliOptionKind_U64:
        snprintf(out, size, "a whole number from 0 to 18446744073709551615");
        break;
    case espyCliOptionKind_Point:
    case espyCliOptionKind_Vec3List:
        snprintf(out, size, "three numbers X,Y,Z in metres");
        break;
    case espyCliOptionKind_Choice:
    {
        size_t at = 0;
        out[0] = '\0';
        for (const char* const* choice = option->choices; *choice && at < size; ++choice)
        {
            const char* between = choice == option->choices ? "" : choice[1] ? ", " : " or ";
            int put = snprintf(out + at, size - at, "%s%s", between, *choice);
            at += put > 0 ? (size_t)put : 0;
        }
        break;
    }
    default:
        snprintf(out, size, "a file name");
        break;
    }
}

/// Stores one value; false where it is not what the option takes.
static bool espyCliOption_Store(const espyCliOption* option, const char* value)
{
    double number;
    uint64_t whole;
    switch (option->kind)
    {
    case espyCliOptionKind_Text:
        if (value[0] == '\0' || (value[0] == '-' && value[1] != '\0'))
        {
            return false;
        }
        *(const char**)option->target = value;
        return true;
    case espyCliOptionKind_Choice:
        for (int32_t i = 0; option->choices[i]; ++i)
        {
            if (strcmp(option->choices[i], value) == 0)
            {
                *(int32_t*)option->target = i;
                return true;
            }
        }
        return false;
    case espyCliOptionKind_Float:
    case espyCliOptionKind_Double:
        if (!espyiCliNumber_ParseDouble(value, &number) || number < option->min || number > option->max)
        {
            return false;
        }
        if (option->kind == espyCliOptionKind_Float)
        {
            *(float*)option->target = (float)number;
        }
        else
        {
            *(double*)option->target = number;
        }
        return true;
    case espyCliOptionKind_U32:
        if (!espyiCliNumber_ParseU64(value, &whole) || (double)whole < option->min || (double)whole > option->max)
        {
            return false;
        }
        *(uint32_t*)option->target = (uint32_t)whole;
        return true;
    case espyCliOptionKind_U64:
        return espyiCliNumber_ParseU64(value, option->target);
    case espyCliOptionKind_Point:
        return espyiCliNumber_ParsePoint(value, option->target);
    case espyCliOptionKind_Vec3List:
    {
        espyCliVec3List* list = option->target;
        double point[3];
        if (list->count >= list->capacity || !espyiCliNumber_ParsePoint(value, point))
        {
            return false;
        }
        list->items[list->count++] = (espyVec3){(float)point[0], (float)point[1], (float)point[2]};
        return true;
    }
    default:
        return false;
    }
}

/// Reads the option at argv[*index], and its value from the same word or the next.
static espyCliParse espyCliOptions_ReadOne(const espyCliUsage* usage, int argc, char* const* argv, int* index,
                                           uint32_t* seen, espyCliLine* line)
{
    const char* word = argv[*index];
    size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : strlen(word);
    const espyCliOption* option = espyCliOptions_Find(usage, word, length);
    if (!option)
    {
        espyCliOptions_Unknown(usage, word, length, line);
        return espyCliParse_Error;
    }
    uint32_t bit = 1u << (uint32_t)(option - usage->options);
    if ((*seen & bit) != 0 && option->kind != espyCliOptionKind_Vec3List)
    {
        espyiCliLine_Set(line, espyCliExit_Usage, "%s: %s is given twice", usage->command, option->name);
        return espyCliParse_Error;
    }
    *seen |= bit;
    if (option->given)
    {
        *option->given = true;
    }
    bool attached = word[length] == '=';
    if (option->kind == espyCliOptionKind_Flag)
    {
        if (attached)
        {
            espyiCliLine_Set(line, espyCliExit_Usage, "%s: %s takes no value", usage->command, option->name);
            return espyCliParse_Error;
        }
        *(bool*)option->target = true;
        return espyCliParse_Ok;
    }
    char range[160];
    espyCliOption_DescribeRange(option, range, sizeof range);
    if (!attached && *index + 1 >= argc)
    {
        espyiCliLine_Set(line, espyCliExit_Usage, "%s: %s needs %s after it", usage->command, option->name, range);
        return espyCliParse_Error;
    }
    const char* value = attached ? word + length + 1 : argv[++*index];
    if (!espyCliOption_Store(option, value))
    {
        espyiCliLine_Set(line, espyCliExit_Usage, "%s: %s wants %s, not '%.80s'", usage->command, option->name, range,
                         value);
        return espyCliParse_Error;
    }
    return espyCliParse_Ok;
}

espyCliParse espyiCliOptions_Parse(const espyCliUsage* usage, int argc, char* const* argv, espyCliLine* line)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; ++i)
    {
        if (strcmp(argv[i], "--help") == 0)
        {
            return espyCliParse_Help;
        }
    }
    uint32_t seen = 0, arguments = 0;
    bool options = true;
    for (int i = 0; i < argc; ++i)
    {
        const char* word = argv[i];
        if (options && strcmp(word, "--") == 0)
        {
            options = false;
        }
        else if (options && word[0] == '-' && word[1] != '\0')
        {
            espyCliParse parsed = espyCliOptions_ReadOne(usage, argc, argv, &i, &seen, line);
            if (parsed != espyCliParse_Ok)
            {
                return parsed;
            }
        }
        else if (arguments < usage->argumentCount)
        {
            *usage->arguments[arguments++].target = word;
        }
        else
        {
            espyiCliLine_Set(line, espyCliExit_Usage, "%s: '%.200s' is one file too many: espy %s", usage->command,
                             word, usage->synopsis);
            // The synopsis may go over several lines; its first one tells enough.
            line->text[strcspn(line->text, "\n")] = '\0';
            return espyCliParse_Error;
        }
    }
    if (arguments < usage->argumentCount)
    {
        espyiCliLine_Set(line, espyCliExit_Usage, "%s: %s is missing: espy %s", usage->command,
                         usage->arguments[arguments].name, usage->synopsis);
        line->text[strcspn(line->text, "\n")] = '\0';
        return espyCliParse_Error;
    }
    return espyCliParse_Ok;
}

bool espyiCliOptions_Accept(const espyCliUsage* usage, int argc, char* const* argv, espyCliExit* outStatus)
{
    espyCliLine line;
    switch (espyiCliOptions_Parse(usage, argc, argv, &line))
    {
    case espyCliParse_Help:
        espyiCliOptions_PrintHelp(usage);
        *outStatus = espyCliExit_Ok;
        return false;
    case espyCliParse_Error:
        espyiCliError_Print("%s", line.text);
        *outStatus = espyCliExit_Usage;
        return false;
    default:
        return true;
    }
}

// --- help

/// Prints a label and its text in two columns, broken between words.
static void espyCliHelp_PrintEntry(const char* label, const char* text)
{
    int at = printf("  %s", label);
    if (at > espyCliHelp_Column - 2)
    {
        printf("\n");
        at = 0;
    }
    at += printf("%*s", espyCliHelp_Column - at, "");
    while (*text)
    {
        int length = (int)strcspn(text, " ");
        if (at + 1 + length > espyCliHelp_Width)
        {
            at = printf("\n%*s", espyCliHelp_Column, "") - 1;
        }
        at += printf("%s%.*s", at > espyCliHelp_Column ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

/// Prints lines with an indent of two.
static void espyCliHelp_PrintLines(const char* text)
{
    while (*text)
    {
        int length = (int)strcspn(text, "\n");
        printf("  %.*s\n", length, text);
        text += length;
        text += *text == '\n';
    }
}

void espyiCliOptions_PrintHelp(const espyCliUsage* usage)
{
    printf("usage: espy %s\n\n%s\n\n", usage->synopsis, usage->summary);
    for (uint32_t i = 0; i < usage->argumentCount; ++i)
    {
        espyCliHelp_PrintEntry(usage->arguments[i].name, usage->arguments[i].help);
    }
    printf("\noptions:\n");
    for (uint32_t i = 0; i < usage->optionCount; ++i)
    {
        const espyCliOption* option = &usage->options[i];
        char label[80];
        snprintf(label, sizeof label, "%s%s%s", option->name, option->value ? " " : "",
                 option->value ? option->value : "");
        espyCliHelp_PrintEntry(label, option->help);
    }
    espyCliHelp_PrintEntry("--help", "this text");
    printf("\nexit status:\n");
    espyCliHelp_PrintLines(usage->statuses);
    printf("\nexample:\n");
    espyCliHelp_PrintLines(usage->example);
}
