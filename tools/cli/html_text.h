// SPDX-License-Identifier: MIT
// An HTML page as it grows in memory.
#ifndef ESPYI_HTML_TEXT_H
#define ESPYI_HTML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/// Zeroed it is empty. Free with espyiHtmlText_Free.
typedef struct espyHtmlText
{
    char* text; ///< Without a zero at its end.
    size_t size, capacity;
    bool failed; ///< Memory ran out; nothing is added from then on.
} espyHtmlText;

/// Adds markup. What comes from a file or the command line goes through espyiHtmlText_AddText instead.
void espyiHtmlText_Add(espyHtmlText* html, const char* format, ...) __attribute__((format(printf, 2, 3)));
/// Adds text, made printable and with everything escaped that would be markup, also inside quoted attributes. Longer
/// text than 400 bytes is cut.
void espyiHtmlText_AddText(espyHtmlText* html, const char* text);
void espyiHtmlText_Free(espyHtmlText* html);

#endif
