// SPDX-License-Identifier: MIT
// Building JSON text and writing a .glb around it.
#ifndef ESPYI_GLTF_TEXT_H
#define ESPYI_GLTF_TEXT_H

#include "import/import_common.h"

/// Growing bytes. After a failed allocation everything is ignored and `failed` stays set.
typedef struct espyiText
{
    const espyHooks* hooks;
    char* bytes;
    size_t size, capacity;
    bool failed;
} espyiText;

void espyiText_AddBytes(espyiText* text, const void* bytes, size_t size);
/// Formats at most 255 bytes.
void espyiText_Add(espyiText* text, const char* format, ...) ESPYI_PRINTF(2, 3);
/// The shortest form that gives the same float back; a point whatever the locale.
void espyiText_AddFloat(espyiText* text, float value);
/// A JSON string with its quotes. Bytes that are not UTF-8 become '?'.
void espyiText_AddString(espyiText* text, const char* string);
/// Length of the UTF-8 sequence at `s`, 0 where it is none (overlong forms, surrogates and stray bytes included). Reads
/// no further than the first byte that does not belong to it.
size_t espyiUtf8_Length(const unsigned char* s);
/// Zero bytes up to a multiple of `alignment`.
void espyiText_Align(espyiText* text, size_t alignment);
void espyiText_Free(espyiText* text);

/// Bytes of the binary chunk in pieces, so that large data is not copied together.
typedef struct espyiGlbPiece
{
    const void* bytes;
    size_t size;
} espyiGlbPiece;

/// Writes a .glb beside `path` and renames it: readers see the old file or the new one. What is no regular file (a
/// link, a device, a pipe) is written in place. The binary chunk starts at a multiple of 16 in the file. `rest` is
/// appended as it is (further chunks). Errors: LimitExceeded (4 GiB), Io.
espyResult espyiGlb_Write(espyiImport* import, const char* path, const espyiText* json, const espyiGlbPiece* pieces,
                          size_t pieceCount, espyiGlbPiece rest);

#endif
