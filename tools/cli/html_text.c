// SPDX-License-Identifier: MIT
// HTML in memory.
#include "html_text.h"

#include "cli_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool espyHtmlText_Reserve(espyHtmlText* html, size_t more)
{
    if (html->failed || more > SIZE_MAX / 4 - html->size)
    {
        html->failed = true;
        return false;
    }
    if (html->size + more > html->capacity)
    {
        size_t capacity = (html->size + more) * 2u;
        char* text = realloc(html->text, capacity);
        if (!text)
        {
            html->failed = true;
            return false;
        }
        html->text = text;
        html->capacity = capacity;
    }
    return true;
}

static void espyHtmlText_Append(espyHtmlText* html, const char* text, size_t size)
{
    if (espyHtmlText_Reserve(html, size))
    {
        memcpy(html->text + html->size, text, size);
        html->size += size;
    }
}

void espyiHtmlText_Add(espyHtmlText* html, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    // One more for the zero that vsnprintf writes.
    if (length < 0 || !espyHtmlText_Reserve(html, (size_t)length + 1u))
    {
        html->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(html->text + html->size, (size_t)length + 1u, format, arguments);
    va_end(arguments);
    html->size += (size_t)length;
}

void espyiHtmlText_AddText(espyHtmlText* html, const char* text)
{
    char clean[401];
    espyiCliText_Sanitize(text, clean, sizeof clean);
    for (const char* at = clean; *at; ++at)
    {
        switch (*at)
        {
        case '&':
            espyHtmlText_Append(html, "&amp;", 5);
            break;
        case '<':
            espyHtmlText_Append(html, "&lt;", 4);
            break;
        case '>':
            espyHtmlText_Append(html, "&gt;", 4);
            break;
        case '"':
            espyHtmlText_Append(html, "&quot;", 6);
            break;
        case '\'':
            espyHtmlText_Append(html, "&#39;", 5);
            break;
        default:
            espyHtmlText_Append(html, at, 1);
        }
    }
}

void espyiHtmlText_Free(espyHtmlText* html)
{
    free(html->text);
    *html = (espyHtmlText){0};
}
