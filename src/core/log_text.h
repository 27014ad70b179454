// SPDX-License-Identifier: MIT
// Lines of text without a C library: words and numbers into a fixed room, cut off where it ends.
#ifndef ESPYI_LOG_TEXT_H
#define ESPYI_LOG_TEXT_H

#include "core/core.h"

/// Always ends with a zero; `at` moves on.
typedef struct espyiText
{
    char* at;
    size_t room; ///< Bytes left, the zero included.
} espyiText;

static inline void espyiText_Add(espyiText* text, const char* words)
{
    while (*words != '\0' && text->room > 1)
    {
        *text->at++ = *words++;
        --text->room;
    }
    *text->at = '\0';
}

static inline void espyiText_AddNumber(espyiText* text, uint64_t number)
{
    char digits[21];
    char* first = digits + sizeof digits - 1;
    *first = '\0';
    do
    {
        *--first = (char)('0' + (int)(number % 10u));
        number /= 10u;
    } while (number > 0);
    espyiText_Add(text, first);
}

/// Logs a message whose text takes one string.
static inline void espyiHooks_LogText(const espyHooks* hooks, espyMessageId id, const char* piece)
{
    if (!hooks->log)
    {
        return;
    }
    char line[320];
    espyiText text = {.at = line, .room = sizeof line};
    for (const char* c = espyMessage_GetText(id); *c != '\0'; ++c)
    {
        char one[2] = {*c, '\0'};
        bool here = c[0] == '%' && c[1] == 's';
        espyiText_Add(&text, here ? piece : one);
        c += here ? 1 : 0;
    }
    hooks->log(espyMessage_GetLevel(id), id, line, hooks->context);
}

#endif
