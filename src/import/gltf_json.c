// SPDX-License-Identifier: MIT
// A JSON text checked once and then read in place.
// Based on: RFC 8259.
#include "import/gltf_json.h"

#include "import/gltf_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t espyJson_SkipSpaces(espyiJson json, size_t at)
{
    while (at < json.size &&
           (json.text[at] == ' ' || json.text[at] == '\t' || json.text[at] == '\n' || json.text[at] == '\r'))
    {
        ++at;
    }
    return at;
}

static size_t espyJson_SkipDigits(espyiJson json, size_t at)
{
    while (at < json.size && json.text[at] >= '0' && json.text[at] <= '9')
    {
        ++at;
    }
    return at;
}

static int espyJson_HexDigit(char c)
{
    if (c >= '0' && c <= '9')
    {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// --- check

static size_t espyJson_Fault(espyiJsonCheck* check, size_t offset, const char* what)
{
    check->offset = offset;
    check->what = what;
    return 0;
}

// The functions below return the end of what starts at `at`, or 0 after a fault: nothing ends at byte 0.

static size_t espyJson_CheckString(espyiJson json, size_t start, espyiJsonCheck* check)
{
    for (size_t at = start + 1; at < json.size; ++at)
    {
        char c = json.text[at];
        if (c == '"')
        {
            return at + 1;
        }
        bool sound = (unsigned char)c >= 0x20;
        if (c == '\\')
        {
            char escape = ++at < json.size ? json.text[at] : '\0';
            sound = escape != '\0' && strchr("\"\\/bfnrtu", escape) != NULL;
            for (int i = 0; escape == 'u' && i < 4; ++i)
            {
                sound = sound && ++at < json.size && espyJson_HexDigit(json.text[at]) >= 0;
            }
        }
        if (!sound)
        {
            return espyJson_Fault(check, at, "a bad character in a string");
        }
    }
    return espyJson_Fault(check, start, "a string without end");
}

static size_t espyJson_CheckNumber(espyiJson json, size_t start, espyiJsonCheck* check)
{
    size_t at = start + (json.text[start] == '-' ? 1u : 0u);
    size_t end = espyJson_SkipDigits(json, at);
    bool sound = end > at && (json.text[at] != '0' || end == at + 1);
    if (sound && end < json.size && json.text[end] == '.')
    {
        at = end + 1;
        end = espyJson_SkipDigits(json, at);
        sound = end > at;
    }
    if (sound && end < json.size && (json.text[end] == 'e' || json.text[end] == 'E'))
    {
        at = end + 1;
        at += at < json.size && (json.text[at] == '+' || json.text[at] == '-') ? 1u : 0u;
        end = espyJson_SkipDigits(json, at);
        sound = end > at;
    }
    return sound ? end : espyJson_Fault(check, start, "a bad number");
}

static size_t espyJson_CheckScalar(espyiJson json, size_t at, espyiJsonCheck* check)
{
    static const char* const words[] = {"true", "false", "null"};
    char c = json.text[at];
    if (c == '"')
    {
        return espyJson_CheckString(json, at, check);
    }
    if (c == '-' || (c >= '0' && c <= '9'))
    {
        return espyJson_CheckNumber(json, at, check);
    }
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(words); ++i)
    {
        size_t length = strlen(words[i]);
        if (length <= json.size - at && memcmp(json.text + at, words[i], length) == 0)
        {
            return at + length;
        }
    }
    return espyJson_Fault(check, at, "no value");
}

espyiJsonCheck espyiJson_Check(espyiJson json)
{
    espyiJsonCheck check = {0};
    uint64_t isObject = 0; // One bit a level, the innermost lowest.
    uint32_t depth = 0;
    size_t at = espyJson_SkipSpaces(json, 0);
    for (;;)
    {
        // A value starts here.
        if (at >= json.size)
        {
            espyJson_Fault(&check, at, "the text ends early");
            return check;
        }
        ++check.values;
        char c = json.text[at];
        bool opened = c == '{' || c == '[';
        if (opened)
        {
            if (depth == ESPYI_JSON_MAX_DEPTH)
            {
                espyJson_Fault(&check, at, "nesting deeper than 64");
                return check;
            }
            check.objects += c == '{' ? 1u : 0u;
            isObject = isObject << 1 | (c == '{' ? 1u : 0u);
            ++depth;
            at = espyJson_SkipSpaces(json, at + 1);
        }
        else
        {
            at = espyJson_CheckScalar(json, at, &check);
            if (at == 0)
            {
                return check;
            }
        }
        // What may follow a value: ends of containers, then a comma and the next value.
        for (;;)
        {
            at = espyJson_SkipSpaces(json, at);
            if (depth == 0)
            {
                if (at < json.size)
                {
                    espyJson_Fault(&check, at, "text after the end");
                }
                return check;
            }
            c = at < json.size ? json.text[at] : '\0';
            bool object = (isObject & 1u) != 0;
            if (c == (object ? '}' : ']'))
            {
                --depth;
                isObject >>= 1;
                ++at;
                opened = false;
                continue;
            }
            if (!opened)
            {
                if (c != ',')
                {
                    espyJson_Fault(&check, at, at < json.size ? "no comma or end" : "the text ends early");
                    return check;
                }
                at = espyJson_SkipSpaces(json, at + 1);
            }
            if (object)
            {
                if (at >= json.size || json.text[at] != '"')
                {
                    espyJson_Fault(&check, at, at < json.size ? "no name" : "the text ends early");
                    return check;
                }
                at = espyJson_CheckString(json, at, &check);
                if (at == 0)
                {
                    return check;
                }
                at = espyJson_SkipSpaces(json, at);
                if (at >= json.size || json.text[at] != ':')
                {
                    espyJson_Fault(&check, at, at < json.size ? "no colon" : "the text ends early");
                    return check;
                }
                at = espyJson_SkipSpaces(json, at + 1);
            }
            break;
        }
    }
}

// --- reading

static size_t espyJson_EndOfString(espyiJson json, size_t at)
{
    for (++at; json.text[at] != '"'; ++at)
    {
        at += json.text[at] == '\\' ? 1u : 0u;
    }
    return at + 1;
}

/// End of the value that starts at `at`.
static size_t espyJson_EndOfValue(espyiJson json, size_t at)
{
    uint32_t depth = 0;
    do
    {
        char c = json.text[at];
        if (c == '"')
        {
            at = espyJson_EndOfString(json, at);
            continue;
        }
        if (depth == 0 && c != '{' && c != '[')
        {
            while (at < json.size && strchr(",]} \t\r\n", json.text[at]) == NULL)
            {
                ++at;
            }
            return at;
        }
        depth += c == '{' || c == '[' ? 1u : 0u;
        depth -= c == '}' || c == ']' ? 1u : 0u;
        ++at;
    } while (depth > 0);
    return at;
}

// --- what cannot be read

/// True where the number at [begin, end) is past the range of double. 18 digits and the exponent decide, without a
/// point: strtod wants the locale's.
static bool espyJson_Overflows(espyiJson json, size_t begin, size_t end)
{
    char digits[64];
    size_t count = 0;
    int64_t power = 0, exponent = 0;
    bool fraction = false, negative = false;
    size_t at = begin + (json.text[begin] == '-' ? 1u : 0u);
    for (; at < end && (json.text[at] | 0x20) != 'e'; ++at)
    {
        fraction = fraction || json.text[at] == '.';
        bool kept = json.text[at] != '.' && count < 18 && (count > 0 || json.text[at] != '0');
        if (kept)
        {
            digits[count++] = json.text[at];
        }
        power += json.text[at] == '.' ? 0 : (fraction ? -1 : 0) + (kept || count == 0 ? 0 : 1);
    }
    for (++at; at < end; ++at)
    {
        negative = negative || json.text[at] == '-';
        bool isDigit = json.text[at] >= '0' && json.text[at] <= '9';
        exponent = isDigit && exponent < 1000000000 ? exponent * 10 + (json.text[at] - '0') : exponent;
    }
    power += negative ? -exponent : exponent;
    snprintf(digits + count, sizeof digits - count, "e%lld", (long long)power);
    return count > 0 && isinf(strtod(digits, NULL));
}

/// The value of the four digits of an escape \u at `at`, or -1 where there is none.
static int32_t espyJson_EscapedUnit(espyiJson json, size_t at)
{
    if (json.text[at] != '\\' || json.text[at + 1] != 'u')
    {
        return -1;
    }
    int32_t unit = 0;
    for (size_t i = 2; i < 6; ++i)
    {
        unit = unit * 16 + espyJson_HexDigit(json.text[at + i]);
    }
    return unit;
}

/// Returns the end of the string, or 0 after a fault.
static size_t espyJson_ReadString(espyiJson json, size_t start, espyiJsonCheck* check)
{
    size_t at = start + 1;
    while (json.text[at] != '"')
    {
        size_t length = espyiUtf8_Length((const unsigned char*)json.text + at);
        int32_t unit = espyJson_EscapedUnit(json, at);
        if (length == 0)
        {
            return espyJson_Fault(check, at, "a byte that is not UTF-8");
        }
        if (unit >= 0xD800 && unit < 0xE000)
        {
            int32_t second = unit < 0xDC00 ? espyJson_EscapedUnit(json, at + 6) : -1;
            if (second < 0xDC00 || second >= 0xE000)
            {
                return espyJson_Fault(check, at, "half a surrogate pair");
            }
            at += 6;
        }
        at += unit >= 0 ? 6 : json.text[at] == '\\' ? 2 : length;
    }
    return at + 1;
}

espyiJsonCheck espyiJson_FindUnreadable(espyiJson json)
{
    espyiJsonCheck check = {0};
    size_t at = 0;
    while (at < json.size && !check.what)
    {
        char c = json.text[at];
        if (c == '"')
        {
            at = espyJson_ReadString(json, at, &check);
        }
        else if (c == '-' || (c >= '0' && c <= '9'))
        {
            size_t end = espyJson_CheckNumber(json, at, &check);
            if (espyJson_Overflows(json, at, end))
            {
                espyJson_Fault(&check, at, "a number too large");
            }
            at = end;
        }
        else
        {
            ++at;
        }
    }
    return check;
}

// --- reading

espyiJsonSpan espyiJson_Root(espyiJson json)
{
    size_t begin = espyJson_SkipSpaces(json, 0);
    return (espyiJsonSpan){begin, espyJson_EndOfValue(json, begin)};
}

char espyiJson_Kind(espyiJson json, espyiJsonSpan value)
{
    char c = espyiJsonSpan_IsPresent(value) ? json.text[value.begin] : '\0';
    return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

bool espyiJson_Next(espyiJson json, espyiJsonSpan container, size_t* position, espyiJsonSpan* key, espyiJsonSpan* value)
{
    char kind = espyiJson_Kind(json, container);
    if (kind != '{' && kind != '[')
    {
        return false;
    }
    size_t at = espyJson_SkipSpaces(json, *position == 0 ? container.begin + 1 : *position);
    if (json.text[at] == ',')
    {
        at = espyJson_SkipSpaces(json, at + 1);
    }
    if (json.text[at] == '}' || json.text[at] == ']')
    {
        return false;
    }
    if (kind == '{')
    {
        espyiJsonSpan name = {at, espyJson_EndOfString(json, at)};
        at = espyJson_SkipSpaces(json, name.end);
        at = espyJson_SkipSpaces(json, at + 1);
        if (key)
        {
            *key = name;
        }
    }
    *value = (espyiJsonSpan){at, espyJson_EndOfValue(json, at)};
    *position = value->end;
    return true;
}

bool espyiJson_IsText(espyiJson json, espyiJsonSpan value, const char* text)
{
    size_t length = strlen(text);
    return espyiJson_Kind(json, value) == '"' && value.end - value.begin == length + 2 &&
           memcmp(json.text + value.begin + 1, text, length) == 0;
}

espyiJsonSpan espyiJson_Member(espyiJson json, espyiJsonSpan object, const char* name)
{
    size_t position = 0;
    espyiJsonSpan key, value;
    if (espyiJson_Kind(json, object) == '{')
    {
        while (espyiJson_Next(json, object, &position, &key, &value))
        {
            if (espyiJson_IsText(json, key, name))
            {
                return value;
            }
        }
    }
    return (espyiJsonSpan){0};
}

espyiJsonSpan espyiJson_Element(espyiJson json, espyiJsonSpan array, size_t index)
{
    size_t position = 0;
    espyiJsonSpan value;
    if (espyiJson_Kind(json, array) == '[')
    {
        while (espyiJson_Next(json, array, &position, NULL, &value))
        {
            if (index-- == 0)
            {
                return value;
            }
        }
    }
    return (espyiJsonSpan){0};
}

size_t espyiJson_Count(espyiJson json, espyiJsonSpan container)
{
    size_t position = 0, count = 0;
    espyiJsonSpan value;
    while (espyiJson_Next(json, container, &position, NULL, &value))
    {
        ++count;
    }
    return count;
}

bool espyiJson_Unsigned(espyiJson json, espyiJsonSpan value, uint64_t* out)
{
    *out = 0;
    if (!espyiJsonSpan_IsPresent(value) || value.end - value.begin > 19)
    {
        return false;
    }
    for (size_t at = value.begin; at < value.end; ++at)
    {
        char c = json.text[at];
        if (c < '0' || c > '9')
        {
            return false;
        }
        *out = *out * 10 + (uint64_t)(c - '0');
    }
    return *out <= (uint64_t)INT64_MAX;
}

int32_t espyiJson_Index(espyiJson json, espyiJsonSpan value)
{
    uint64_t number;
    return espyiJson_Unsigned(json, value, &number) && number <= INT32_MAX ? (int32_t)number : -1;
}

/// The four hexadecimal digits at `at`.
static uint32_t espyJson_Hex4(espyiJson json, size_t at)
{
    uint32_t code = 0;
    for (size_t i = 0; i < 4; ++i)
    {
        code = code << 4 | (uint32_t)espyJson_HexDigit(json.text[at + i]);
    }
    return code;
}

static char* espyJson_WriteUtf8(char* out, uint32_t code)
{
    if (code < 0x80)
    {
        *out++ = (char)code;
        return out;
    }
    // An escape is at least as long as its UTF-8: the output never outgrows the input.
    if (code < 0x800)
    {
        *out++ = (char)(0xC0 | code >> 6);
    }
    else
    {
        if (code < 0x10000)
        {
            *out++ = (char)(0xE0 | code >> 12);
        }
        else
        {
            *out++ = (char)(0xF0 | code >> 18);
            *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        }
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
    }
    *out++ = (char)(0x80 | (code & 0x3F));
    return out;
}

bool espyiJson_String(espyiJson json, espyiJsonSpan value, char* out)
{
    *out = '\0';
    if (espyiJson_Kind(json, value) != '"')
    {
        return false;
    }
    size_t last = value.end - 1;
    for (size_t at = value.begin + 1; at < last; ++at)
    {
        if (json.text[at] != '\\')
        {
            *out++ = json.text[at];
            continue;
        }
        char escape = json.text[++at];
        if (escape != 'u')
        {
            static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
            *out++ = to[strchr(from, escape) - from];
            continue;
        }
        uint32_t code = espyJson_Hex4(json, at + 1);
        at += 4;
        if (code >= 0xD800 && code < 0xDC00 && last - at > 6 && json.text[at + 1] == '\\' && json.text[at + 2] == 'u')
        {
            uint32_t low = espyJson_Hex4(json, at + 3);
            code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0;
            at += 6;
        }
        if (code == 0 || (code >= 0xD800 && code < 0xE000))
        {
            *out = '\0';
            return false;
        }
        out = espyJson_WriteUtf8(out, code);
    }
    *out = '\0';
    return true;
}
