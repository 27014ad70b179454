// SPDX-License-Identifier: MIT
// Buffers of a glTF file: the binary chunk, data URIs, and files beside the level and below, never elsewhere.
#include "import/gltf_file.h"

#include <string.h>

espyResult espyiGltfFile_CopyString(espyiGltfFile* file, espyiJsonSpan value, const char* what, char** out)
{
    size_t length = value.end - value.begin;
    *out = NULL;
    if (!espyiImport_Charge(file->import, length + 1, 1, what))
    {
        return espyResult_LimitExceeded;
    }
    *out = espyiAlloc(&file->import->hooks, length + 1, 1);
    if (!*out)
    {
        return espyiImport_FailMemory(file->import);
    }
    if (!espyiJson_String(file->json, value, *out))
    {
        espyiFree(&file->import->hooks, *out);
        *out = NULL;
        return espyiImport_Fail(file->import, espyResult_BadData, "%s at byte %llu is not a sound string", what,
                                (unsigned long long)value.begin);
    }
    return espyResult_Ok;
}

static int espyBase64_Digit(char c)
{
    if (c >= 'A' && c <= 'Z')
    {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z')
    {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9')
    {
        return c - '0' + 52;
    }
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/// Decodes in place: three bytes are written after every four read. False for anything but base64.
static bool espyBase64_Decode(char* text, size_t* size)
{
    uint8_t* out = (uint8_t*)text;
    uint32_t bits = 0;
    size_t digits = 0;
    for (; *text != '\0' && *text != '='; ++text)
    {
        int digit = espyBase64_Digit(*text);
        if (digit < 0)
        {
            return false;
        }
        bits = bits << 6 | (uint32_t)digit;
        if (++digits % 4 != 1)
        {
            // The second to fourth digit of a group each complete a byte.
            *out++ = (uint8_t)(bits >> (6 - 2 * ((digits - 1) % 4)));
        }
    }
    size_t padding = strspn(text, "=");
    *size = digits / 4 * 3 + (digits % 4 == 0 ? 0 : digits % 4 - 1);
    return text[padding] == '\0' && padding <= 2 && digits % 4 != 1;
}

static int espyPercent_Digit(char c)
{
    const char* digits = "0123456789abcdef";
    const char* found = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return found ? (int)(found - digits) : -1;
}

/// Undoes percent escapes in place. False for a zero byte; a lone percent sign stays as it is.
static bool espyPercent_Decode(char* text)
{
    char* out = text;
    for (; *text != '\0'; ++text)
    {
        int high = *text == '%' ? espyPercent_Digit(text[1]) : -1;
        int low = high >= 0 ? espyPercent_Digit(text[2]) : -1;
        if (low >= 0)
        {
            if (high == 0 && low == 0)
            {
                return false;
            }
            *out++ = (char)(high << 4 | low);
            text += 2;
        }
        else
        {
            *out++ = *text;
        }
    }
    *out = '\0';
    return true;
}

/// True for a relative path that stays in its folder: no root, no drive or scheme, no backslash, no "..".
static bool espyPath_StaysInside(const char* path)
{
    if (path[0] == '\0' || path[0] == '/' || strpbrk(path, ":\\") != NULL)
    {
        return false;
    }
    for (const char* segment = path; segment; segment = strchr(segment, '/'))
    {
        segment += *segment == '/' ? 1 : 0;
        if (strncmp(segment, "..", 2) == 0 && (segment[2] == '/' || segment[2] == '\0'))
        {
            return false;
        }
    }
    return true;
}

/// Reads a file beside the level.
static espyResult espyGltf_ReadNeighbour(espyiGltfFile* file, size_t index, char* uri, espyiGltfBuffer* buffer)
{
    espyiImport* import = file->import;
    if (!espyPercent_Decode(uri) || !espyPath_StaysInside(uri))
    {
        return espyiImport_Fail(import, espyResult_BadData, "buffer %llu: '%s' is not inside the folder of the level",
                                (unsigned long long)index, uri);
    }
    if (!file->path)
    {
        return espyiImport_Fail(import, espyResult_NotFound, "buffer %llu: the file '%s' is not in memory",
                                (unsigned long long)index, uri);
    }
    const char* slash = strrchr(file->path, '/');
    size_t folder = slash ? (size_t)(slash - file->path) + 1 : 0;
    size_t uriSize = strlen(uri) + 1;
    char* path = espyiAlloc(&import->hooks, folder + uriSize, 1);
    if (!path)
    {
        return espyiImport_FailMemory(import);
    }
    memcpy(path, file->path, folder);
    memcpy(path + folder, uri, uriSize);
    espyResult result = espyiImport_ReadFile(import, path, &buffer->owned, &buffer->size);
    buffer->bytes = buffer->owned;
    espyiFree(&import->hooks, path);
    return result;
}

static espyResult espyGltf_ReadUri(espyiGltfFile* file, size_t index, espyiJsonSpan value, espyiGltfBuffer* buffer)
{
    char* uri;
    espyResult result = espyiGltfFile_CopyString(file, value, "the uri of a buffer", &uri);
    if (!uri)
    {
        return result;
    }
    if (strncmp(uri, "data:", 5) != 0)
    {
        result = espyGltf_ReadNeighbour(file, index, uri, buffer);
        espyiFree(&file->import->hooks, uri);
        return result;
    }
    char* comma = strchr(uri, ',');
    size_t marker = strlen(";base64");
    bool encoded = comma && (size_t)(comma - uri) >= marker && strncmp(comma - marker, ";base64", marker) == 0;
    if (!encoded || !espyBase64_Decode(comma + 1, &buffer->size))
    {
        espyiFree(&file->import->hooks, uri);
        return espyiImport_Fail(file->import, espyResult_BadData, "buffer %llu: the data URI is not sound base64",
                                (unsigned long long)index);
    }
    buffer->owned = (uint8_t*)uri;
    buffer->bytes = (uint8_t*)comma + 1;
    return espyResult_Ok;
}

static espyResult espyGltf_LoadBuffer(espyiGltfFile* file, size_t index, espyiJsonSpan value, espyiGltfBuffer* buffer)
{
    espyiJson json = file->json;
    uint64_t length;
    if (!espyiJson_Unsigned(json, espyiJson_Member(json, value, "byteLength"), &length))
    {
        return espyiImport_Fail(file->import, espyResult_BadData, "buffer %llu: no byteLength",
                                (unsigned long long)index);
    }
    espyiJsonSpan uri = espyiJson_Member(json, value, "uri");
    espyResult result = espyResult_Ok;
    if (espyiJsonSpan_IsPresent(uri))
    {
        result = espyGltf_ReadUri(file, index, uri, buffer);
    }
    else if (index == 0 && file->bin)
    {
        buffer->bytes = file->bin;
        buffer->size = file->binSize;
    }
    else
    {
        // Legal where only compressed views use it; whoever reads from it says that it is missing.
        return espyResult_Ok;
    }
    if (result == espyResult_Ok && length > buffer->size)
    {
        return espyiImport_Fail(file->import, espyResult_BadData,
                                "buffer %llu: %llu bytes are declared, %llu are there", (unsigned long long)index,
                                (unsigned long long)length, (unsigned long long)buffer->size);
    }
    buffer->size = (size_t)length;
    return result;
}

espyResult espyiGltfFile_LoadBuffers(espyiGltfFile* file)
{
    espyiJson json = file->json;
    espyiJsonSpan buffers = espyiJson_Member(json, file->root, "buffers");
    size_t count = espyiJson_Count(json, buffers);
    if (count == 0)
    {
        return espyResult_Ok;
    }
    file->buffers = espyiAlloc(&file->import->hooks, count, sizeof(espyiGltfBuffer));
    if (!file->buffers)
    {
        return espyiImport_FailMemory(file->import);
    }
    file->bufferCount = count;
    espyResult result = espyResult_Ok;
    size_t position = 0, index = 0;
    espyiJsonSpan value;
    while (result == espyResult_Ok && espyiJson_Next(json, buffers, &position, NULL, &value))
    {
        result = espyGltf_LoadBuffer(file, index, value, &file->buffers[index]);
        ++index;
    }
    return result;
}
