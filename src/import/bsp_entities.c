// SPDX-License-Identifier: MIT
// Reads the entities text of a Quake map, one entity a call.
#include "import/bsp_entities.h"

#include <math.h>
#include <string.h>

typedef struct espyEntityToken
{
    const char* text;
    size_t size;
    bool quoted;
} espyEntityToken;

static bool espyEntity_IsSpace(char c)
{
    return (unsigned char)c <= ' ';
}

static bool espyEntity_Token(const char* text, size_t size, size_t* cursor, espyEntityToken* out)
{
    size_t at = *cursor;
    while (at < size && espyEntity_IsSpace(text[at]))
    {
        ++at;
    }
    if (at >= size)
    {
        *cursor = size;
        return false;
    }
    if (text[at] == '"')
    {
        size_t first = at + 1;
        size_t end = first;
        while (end < size && text[end] != '"')
        {
            ++end;
        }
        *out = (espyEntityToken){text + first, end - first, true};
        *cursor = end < size ? end + 1 : size;
        return true;
    }
    size_t end = at + 1;
    if (text[at] != '{' && text[at] != '}')
    {
        while (end < size && !espyEntity_IsSpace(text[end]) && text[end] != '"' && text[end] != '{' && text[end] != '}')
        {
            ++end;
        }
    }
    *out = (espyEntityToken){text + at, end - at, false};
    *cursor = end;
    return true;
}

size_t espyiText_Float(const char* text, size_t size, float* out)
{
    size_t at = 0;
    while (at < size && espyEntity_IsSpace(text[at]))
    {
        ++at;
    }
    double sign = 1.0;
    if (at < size && (text[at] == '-' || text[at] == '+'))
    {
        sign = text[at] == '-' ? -1.0 : 1.0;
        ++at;
    }
    double value = 0.0;
    int exponent = 0;
    bool any = false;
    bool point = false;
    for (; at < size; ++at)
    {
        if (text[at] == '.' && !point)
        {
            point = true;
        }
        else if (text[at] >= '0' && text[at] <= '9')
        {
            any = true;
            value = value * 10.0 + (double)(text[at] - '0');
            exponent -= point ? 1 : 0;
        }
        else
        {
            break;
        }
    }
    if (!any)
    {
        return 0;
    }
    if (at + 1 < size && (text[at] == 'e' || text[at] == 'E'))
    {
        size_t digit = at + 1;
        bool negative = text[digit] == '-';
        digit += text[digit] == '-' || text[digit] == '+' ? 1u : 0u;
        int stated = 0;
        size_t first = digit;
        for (; digit < size && text[digit] >= '0' && text[digit] <= '9'; ++digit)
        {
            stated = stated < 1000 ? stated * 10 + (text[digit] - '0') : stated;
        }
        if (digit > first)
        {
            exponent += negative ? -stated : stated;
            at = digit;
        }
    }
    for (; exponent > 0 && isfinite(value) && value != 0.0; --exponent)
    {
        value *= 10.0;
    }
    double divisor = 1.0;
    for (; exponent < 0 && isfinite(divisor); ++exponent)
    {
        divisor *= 10.0;
    }
    float result = (float)(sign * value / divisor);
    if (!isfinite(result))
    {
        return 0;
    }
    *out = result;
    return at;
}

static bool espyEntity_Floats(espyEntityToken value, float out[3])
{
    size_t at = 0;
    float read[3];
    for (int i = 0; i < 3; ++i)
    {
        size_t used = espyiText_Float(value.text + at, value.size - at, &read[i]);
        if (used == 0)
        {
            return false;
        }
        at += used;
    }
    memcpy(out, read, sizeof read);
    return true;
}

static bool espyEntity_KeyIs(espyEntityToken key, const char* name)
{
    return key.size == strlen(name) && memcmp(key.text, name, key.size) == 0;
}

static void espyEntity_Text(espyEntityToken value, char out[ESPYI_ENTITY_TEXT])
{
    size_t size = value.size < ESPYI_ENTITY_TEXT - 1 ? value.size : ESPYI_ENTITY_TEXT - 1;
    for (size_t i = 0; i < size; ++i)
    {
        out[i] = value.text[i] >= 0x20 && value.text[i] < 0x7F ? value.text[i] : '?';
    }
    out[size] = '\0';
}

static void espyEntity_Set(espyiBspEntity* entity, espyEntityToken key, espyEntityToken value)
{
    if (espyEntity_KeyIs(key, "classname"))
    {
        espyEntity_Text(value, entity->className);
    }
    else if (espyEntity_KeyIs(key, "model"))
    {
        espyEntity_Text(value, entity->model);
    }
    else if (espyEntity_KeyIs(key, "targetname"))
    {
        espyEntity_Text(value, entity->targetName);
    }
    else if (espyEntity_KeyIs(key, "origin"))
    {
        entity->hasOrigin = espyEntity_Floats(value, entity->origin) || entity->hasOrigin;
    }
    else if (espyEntity_KeyIs(key, "angles"))
    {
        espyEntity_Floats(value, entity->angles);
    }
    else if (espyEntity_KeyIs(key, "angle"))
    {
        espyiText_Float(value.text, value.size, &entity->angles[1]);
    }
}

bool espyiBspEntity_Next(const char* text, size_t size, size_t* cursor, espyiBspEntity* out)
{
    espyEntityToken token;
    do
    {
        if (!espyEntity_Token(text, size, cursor, &token))
        {
            return false;
        }
    } while (token.quoted || token.text[0] != '{');
    *out = (espyiBspEntity){.hasOrigin = false};
    for (;;)
    {
        espyEntityToken value;
        if (!espyEntity_Token(text, size, cursor, &token) || (!token.quoted && token.text[0] == '}'))
        {
            return true;
        }
        if (!espyEntity_Token(text, size, cursor, &value) || (!value.quoted && value.text[0] == '}'))
        {
            return true;
        }
        espyEntity_Set(out, token, value);
    }
}
