// SPDX-License-Identifier: MIT
// Error lines, warnings, numbers and JSON of the commands.
#include "cli_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

espyCliExit espyiCliExit_FromResult(espyResult result)
{
    switch (result)
    {
    case espyResult_Ok:
        return espyCliExit_Ok;
    case espyResult_Cancelled:
        return espyCliExit_Cancelled;
    case espyResult_OutOfMemory:
    case espyResult_Io:
        return espyCliExit_Environment;
    default:
        return espyCliExit_BadInput;
    }
}

/// Length in bytes of the well-formed UTF-8 character at `p`, 0 where there is none (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF). Never reads past a zero byte.
static size_t espyCliUtf8_Length(const unsigned char* p)
{
    if (p[0] < 0x80u)
    {
        return 1;
    }
    size_t length = p[0] >= 0xC2u && p[0] <= 0xDFu ? 2 : p[0] >= 0xE0u && p[0] <= 0xEFu ? 3 : 0;
    length = p[0] >= 0xF0u && p[0] <= 0xF4u ? 4 : length;
    for (size_t i = 1; i < length; ++i)
    {
        if ((p[i] & 0xC0u) != 0x80u)
        {
            return 0;
        }
    }
    bool overlong = (p[0] == 0xE0u && p[1] < 0xA0u) || (p[0] == 0xF0u && p[1] < 0x90u);
    bool surrogate = p[0] == 0xEDu && p[1] > 0x9Fu;
    bool beyond = p[0] == 0xF4u && p[1] > 0x8Fu;
    return overlong || surrogate || beyond ? 0 : length;
}

void espyiCliText_Sanitize(const char* text, char* out, size_t outSize)
{
    const unsigned char* p = (const unsigned char*)text;
    size_t at = 0;
    while (*p)
    {
        size_t length = espyCliUtf8_Length(p);
        // C0 controls and DEL, and the C1 controls U+0080..U+009F.
        bool control = *p < 0x20u || *p == 0x7Fu || (length == 2 && p[0] == 0xC2u && p[1] < 0xA0u);
        bool keep = length > 0 && !control;
        size_t take = keep ? length : 1;
        if (at + take + 1 > outSize)
        {
            break;
        }
        if (keep)
        {
            memcpy(out + at, p, take);
        }
        else
        {
            out[at] = '?';
        }
        at += take;
        p += length > 0 ? length : 1;
    }
    out[at] = '\0';
}

espyCliExit espyiCliLine_Set(espyCliLine* line, espyCliExit exitStatus, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->text, sizeof line->text, format, arguments);
    va_end(arguments);
    return exitStatus;
}

void espyiCliError_Print(const char* format, ...)
{
    char text[5120], line[5120];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    espyiCliText_Sanitize(text, line, sizeof line);
    // Results come first where both streams are one terminal or file.
    fflush(stdout);
    fprintf(stderr, "espy: %s\n", line);
}

espyCliNumber espyiCliNumber_FromCount(uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    espyCliNumber out;
    size_t at = 0;
    for (int i = 0; i < length; ++i)
    {
        if (i > 0 && (length - i) % 3 == 0)
        {
            out.text[at++] = ',';
        }
        out.text[at++] = digits[i];
    }
    out.text[at] = '\0';
    return out;
}

espyCliNumber espyiCliNumber_FromFloat(float value)
{
    espyCliNumber out = {"null"};
    for (int digits = 6; isfinite(value) && digits <= FLT_DECIMAL_DIG; ++digits)
    {
        snprintf(out.text, sizeof out.text, "%.*g", digits, (double)value);
        if (strtof(out.text, NULL) == value)
        {
            break;
        }
    }
    return out;
}

espyCliNumber espyiCliNumber_FromDouble(double value)
{
    espyCliNumber out = {"null"};
    for (int digits = 6; isfinite(value) && digits <= DBL_DECIMAL_DIG; ++digits)
    {
        snprintf(out.text, sizeof out.text, "%.*g", digits, value);
        if (strtod(out.text, NULL) == value)
        {
            break;
        }
    }
    return out;
}

void espyiCliWarnings_Add(espyCliWarnings* warnings, espyMessageId id, int32_t node, const char* text)
{
    espyiCliError_Print("warning %s: %s", espyMessage_GetName(id), text);
    espyiCliWarnings_Keep(warnings, id, node, text);
}

void espyiCliWarnings_Keep(espyCliWarnings* warnings, espyMessageId id, int32_t node, const char* text)
{
    if (warnings->count == warnings->capacity)
    {
        size_t capacity = warnings->capacity ? warnings->capacity * 2 : 16;
        espyCliWarning* items = realloc(warnings->items, capacity * sizeof *items);
        if (!items)
        {
            return;
        }
        warnings->items = items;
        warnings->capacity = capacity;
    }
    char* copy = strdup(text);
    if (copy)
    {
        warnings->items[warnings->count++] = (espyCliWarning){id, node, copy};
    }
}

void espyiCliWarnings_Free(espyCliWarnings* warnings)
{
    for (size_t i = 0; i < warnings->count; ++i)
    {
        free(warnings->items[i].text);
    }
    free(warnings->items);
    *warnings = (espyCliWarnings){0};
}

static void espyCliWarnings_LogError(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    espyCliWarnings* warnings = context;
    (void)id;
    if (level == espyLogLevel_Error)
    {
        snprintf(warnings->lastError, sizeof warnings->lastError, "%s", text);
    }
}

static void espyCliWarnings_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    if (level == espyLogLevel_Warning)
    {
        espyiCliWarnings_Add(context, id, -1, text);
    }
    espyCliWarnings_LogError(level, id, text, context);
}

static void espyCliWarnings_AssertFail(const char* condition, const char* function, void* context)
{
    (void)context;
    espyiCliError_Print("internal error: '%s' does not hold in %s: please report this", condition, function);
}

espyHooks espyiCliWarnings_GetHooks(espyCliWarnings* warnings)
{
    return (espyHooks){.log = espyCliWarnings_Log, .assertFail = espyCliWarnings_AssertFail, .context = warnings};
}

espyHooks espyiCliWarnings_GetErrorHooks(espyCliWarnings* warnings)
{
    return (espyHooks){.log = espyCliWarnings_LogError, .assertFail = espyCliWarnings_AssertFail, .context = warnings};
}

json_t* espyiCliWarnings_ToJson(const espyCliWarnings* warnings)
{
    json_t* list = json_array();
    for (size_t i = 0; i < warnings->count && list; ++i)
    {
        const espyCliWarning* item = &warnings->items[i];
        json_t* entry = json_object();
        espyiCliJson_Set(&entry, "id", json_integer(item->id));
        espyiCliJson_Set(&entry, "text", espyiCliJson_FromText(item->text));
        espyiCliJson_Set(&entry, "node", json_integer(item->node));
        if (json_array_append_new(list, entry) != 0)
        {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

void espyiCliJson_Set(json_t** object, const char* key, json_t* value)
{
    // A null object takes the value along, so that nothing leaks.
    if (json_object_set_new(*object, key, value) != 0)
    {
        json_decref(*object);
        *object = NULL;
    }
}

void espyiCliJson_SetCount(json_t** object, const char* key, uint64_t value)
{
    espyiCliJson_Set(object, key, json_integer((json_int_t)value));
}

json_t* espyiCliJson_FromText(const char* text)
{
    char clean[2048];
    espyiCliText_Sanitize(text, clean, sizeof clean);
    return json_string(clean);
}

json_t* espyiCliJson_FromFloat(float value)
{
    // 0.1f is 0.100000001490116 as a double: the double next to its short decimal prints as people wrote it.
    return espyiCliJson_FromDouble(isfinite(value) ? strtod(espyiCliNumber_FromFloat(value).text, NULL)
                                                   : (double)value);
}

json_t* espyiCliJson_FromDouble(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t* espyiCliJson_FromTables(const espyPvsInfo* info)
{
    json_t* tables = json_object();
    espyiCliJson_SetCount(&tables, "entries", info->entriesBytes);
    espyiCliJson_SetCount(&tables, "cellMap", info->cellMapBytes);
    espyiCliJson_SetCount(&tables, "staticCells", info->staticCellsBytes);
    espyiCliJson_SetCount(&tables, "staticSets", info->staticSetsBytes);
    espyiCliJson_SetCount(&tables, "dynamicCells", info->dynamicCellsBytes);
    espyiCliJson_SetCount(&tables, "dynamicSets", info->dynamicSetsBytes);
    return tables;
}

void espyiCliTables_PrintResolved(FILE* stream, const espyPvsInfo* info)
{
    espyCliLine tables, line;
    if (info->packed)
    {
        espyiCliLine_Set(
            &tables, espyCliExit_Ok, "%s bytes: entries %s, cell map %s, packed static %s, packed dynamic %s",
            espyiCliNumber_FromCount(info->fileBytes).text, espyiCliNumber_FromCount(info->entriesBytes).text,
            espyiCliNumber_FromCount(info->cellMapBytes).text, espyiCliNumber_FromCount(info->staticPackBytes).text,
            espyiCliNumber_FromCount(info->dynamicPackBytes).text);
        espyiCliLine_Set(&line, espyCliExit_Ok, espyMessage_GetText(espyMessageId_PvsResolved), tables.text);
        fprintf(stream, "%s\n", line.text);
        return;
    }
    espyiCliLine_Set(
        &tables, espyCliExit_Ok,
        "%s bytes: entries %s, cell map %s, static cells %s, static sets %s, dynamic cells %s, dynamic sets "
        "%s",
        espyiCliNumber_FromCount(info->fileBytes).text, espyiCliNumber_FromCount(info->entriesBytes).text,
        espyiCliNumber_FromCount(info->cellMapBytes).text, espyiCliNumber_FromCount(info->staticCellsBytes).text,
        espyiCliNumber_FromCount(info->staticSetsBytes).text, espyiCliNumber_FromCount(info->dynamicCellsBytes).text,
        espyiCliNumber_FromCount(info->dynamicSetsBytes).text);
    espyiCliLine_Set(&line, espyCliExit_Ok, espyMessage_GetText(espyMessageId_PvsResolved), tables.text);
    fprintf(stream, "%s\n", line.text);
}

espyCliExit espyiCliJson_Print(json_t* object)
{
    // Nine digits tell any two floats apart; more would print the noise of doubles.
    char* text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(FLT_DECIMAL_DIG)) : NULL;
    json_decref(object);
    if (!text)
    {
        espyiCliError_Print("out of memory while writing the JSON object");
        return espyCliExit_Environment;
    }
    puts(text);
    free(text);
    return espyCliExit_Ok;
}

const char* espyiCliQuality_GetName(espyBakeQuality quality)
{
    static const char* const names[] = {"low", "medium", "high", "proven"};
    return (size_t)quality < sizeof names / sizeof names[0] ? names[quality] : "unknown";
}
