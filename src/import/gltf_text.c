// SPDX-License-Identifier: MIT
// Building JSON text and writing a .glb around it.
// Based on: glTF 2.0 specification, section 4.4; RFC 8259.
#include "import/gltf_text.h"

#include "import/glb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <io.h>
#else
#include <sys/stat.h>
#include <unistd.h>
#endif

// --- text

void espyiText_AddBytes(espyiText* text, const void* bytes, size_t size)
{
    size_t needed;
    if (text->failed || size == 0)
    {
        return;
    }
    if (!espyiAddSize(text->size, size, &needed) ||
        !espyiGrow(text->hooks, (void**)&text->bytes, &text->capacity, needed, 1))
    {
        text->failed = true;
        return;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size = needed;
}

void espyiText_Add(espyiText* text, const char* format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    espyiText_AddBytes(text, line, length < 0 ? 0 : (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

void espyiText_AddFloat(espyiText* text, float value)
{
    char line[40];
    for (int digits = 6; digits <= 9; ++digits)
    {
        snprintf(line, sizeof line, "%.*g", digits, (double)value);
        if (strtof(line, NULL) == value)
        {
            break;
        }
    }
    char* comma = strchr(line, ',');
    if (comma)
    {
        *comma = '.';
    }
    espyiText_AddBytes(text, line, strlen(line));
    // Readers take "-0" for a whole number and lose the sign.
    espyiText_AddBytes(text, ".0", strcmp(line, "-0") == 0 ? 2 : 0);
}

size_t espyiUtf8_Length(const unsigned char* s)
{
    size_t length = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : 4;
    if (length == 4 && (s[0] < 0xF0 || s[0] > 0xF4))
    {
        return 0;
    }
    for (size_t i = 1; i < length; ++i)
    {
        if ((s[i] & 0xC0) != 0x80)
        {
            return 0;
        }
    }
    bool wrong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) ||
                 (s[0] == 0xF4 && s[1] >= 0x90);
    return wrong ? 0 : length;
}

void espyiText_AddString(espyiText* text, const char* string)
{
    espyiText_AddBytes(text, "\"", 1);
    const unsigned char* s = (const unsigned char*)string;
    while (*s != '\0')
    {
        size_t length = espyiUtf8_Length(s);
        if (*s == '"' || *s == '\\')
        {
            espyiText_Add(text, "\\%c", *s);
        }
        else if (*s < 0x20)
        {
            espyiText_Add(text, "\\u%04X", *s);
        }
        else
        {
            espyiText_AddBytes(text, length > 0 ? (const char*)s : "?", length > 0 ? length : 1);
        }
        s += length > 0 ? length : 1;
    }
    espyiText_AddBytes(text, "\"", 1);
}

void espyiText_Align(espyiText* text, size_t alignment)
{
    static const char zeros[16] = {0};
    size_t over = text->size % alignment;
    espyiText_AddBytes(text, zeros, over > 0 ? alignment - over : 0);
}

void espyiText_Free(espyiText* text)
{
    espyiFree(text->hooks, text->bytes);
    text->bytes = NULL;
    text->size = text->capacity = 0;
}

// --- file

static bool espyFile_Sync(FILE* file)
{
#ifdef _WIN32
    return fflush(file) == 0 && _commit(_fileno(file)) == 0;
#else
    return fflush(file) == 0 && fsync(fileno(file)) == 0;
#endif
}

/// A rename would put a file in the place of a link, a device or a pipe.
static bool espyFile_IsReplaceable(const char* path)
{
#ifdef _WIN32
    (void)path;
    return true;
#else
    struct stat info;
    return lstat(path, &info) != 0 || S_ISREG(info.st_mode);
#endif
}

static bool espyFile_Replace(const char* from, const char* to)
{
#ifdef _WIN32
    // rename does not replace there.
    remove(to);
#endif
    return rename(from, to) == 0;
}

static bool espyFile_Write(FILE* file, const void* bytes, size_t size)
{
    return size == 0 || fwrite(bytes, 1, size, file) == size;
}

static bool espyFile_WriteChunkHeader(FILE* file, size_t size, uint32_t type)
{
    uint8_t header[8];
    espyiLittle_Write32(header, (uint32_t)size);
    espyiLittle_Write32(header + 4, type);
    return espyFile_Write(file, header, sizeof header);
}

/// Writes the whole container; the sizes are those of the padded chunks.
static bool espyGlb_WriteAll(FILE* file, const espyiText* json, size_t jsonSize, const espyiGlbPiece* pieces,
                             size_t pieceCount, size_t binSize, size_t total, espyiGlbPiece rest)
{
    static const char spaces[16] = "                ", zeros[4] = {0};
    uint8_t header[12];
    espyiLittle_Write32(header, ESPYI_GLB_MAGIC);
    espyiLittle_Write32(header + 4, 2);
    espyiLittle_Write32(header + 8, (uint32_t)total);
    bool good = espyFile_Write(file, header, sizeof header) &&
                espyFile_WriteChunkHeader(file, jsonSize, ESPYI_GLB_CHUNK_JSON) &&
                espyFile_Write(file, json->bytes, json->size) && espyFile_Write(file, spaces, jsonSize - json->size);
    if (binSize > 0)
    {
        size_t written = 0;
        good = good && espyFile_WriteChunkHeader(file, binSize, ESPYI_GLB_CHUNK_BIN);
        for (size_t i = 0; i < pieceCount; ++i)
        {
            good = good && espyFile_Write(file, pieces[i].bytes, pieces[i].size);
            written += pieces[i].size;
        }
        good = good && espyFile_Write(file, zeros, binSize - written);
    }
    return good && espyFile_Write(file, rest.bytes, rest.size);
}

espyResult espyiGlb_Write(espyiImport* import, const char* path, const espyiText* json, const espyiGlbPiece* pieces,
                          size_t pieceCount, espyiGlbPiece rest)
{
    if (json->failed)
    {
        return espyiImport_FailMemory(import);
    }
    // 12 + 8 + JSON + 8 bytes come before the binary chunk's data.
    uint64_t jsonSize = json->size + (20u - json->size % 16u) % 16u;
    uint64_t binSize = 0;
    for (size_t i = 0; i < pieceCount; ++i)
    {
        binSize += pieces[i].size;
    }
    binSize = (binSize + 3u) & ~(uint64_t)3u;
    uint64_t total = 20u + jsonSize + (binSize > 0 ? 8u + binSize : 0u) + rest.size;
    if (total > UINT32_MAX)
    {
        return espyiImport_Fail(import, espyResult_LimitExceeded, "the .glb would have %llu bytes, 4 GiB are the limit",
                                (unsigned long long)total);
    }
    espyiText beside = {.hooks = &import->hooks};
    espyiText_AddBytes(&beside, path, strlen(path));
    espyiText_AddBytes(&beside, ".tmp", sizeof ".tmp");
    if (beside.failed)
    {
        return espyiImport_FailMemory(import);
    }
    bool replaces = espyFile_IsReplaceable(path);
    FILE* file = fopen(replaces ? beside.bytes : path, "wb");
    bool written = file && espyGlb_WriteAll(file, json, (size_t)jsonSize, pieces, pieceCount, (size_t)binSize,
                                            (size_t)total, rest);
    // Pipes and many devices cannot be synced; closing still tells what went wrong.
    written = written && (!replaces || espyFile_Sync(file));
    int error = errno;
    if (file && fclose(file) != 0)
    {
        written = false;
    }
    if (!written || (replaces && !espyFile_Replace(beside.bytes, path)))
    {
        error = written ? errno : error;
        if (file && replaces)
        {
            remove(beside.bytes);
        }
        espyiImport_Fail(import, espyResult_Io, "cannot write '%s': %s", path, strerror(error));
        espyiText_Free(&beside);
        return espyResult_Io;
    }
    espyiText_Free(&beside);
    return espyResult_Ok;
}
