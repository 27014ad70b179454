// SPDX-License-Identifier: MIT
// Loads levels and visibility data for the commands.
#include "level_file.h"
#include "file_io.h"
#include "platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum
{
    espyCliData_Align = 64,
    espyCliPath_Max = 4096
};

// --- levels

/// Copies the part of the path that is a file on disk: PAK.pk3 of PAK.pk3:maps/NAME.bsp.
static bool espyCliLevel_GetFile(const char* path, char* out, size_t size)
{
    size_t length = strlen(path);
    for (const char* p = path; *p; ++p)
    {
        if (strncasecmp(p, ".pk3:", 5) == 0)
        {
            length = (size_t)(p - path) + 4;
            break;
        }
    }
    if (length + 1 > size)
    {
        return false;
    }
    memcpy(out, path, length);
    out[length] = '\0';
    return true;
}

espyCliExit espyiCliLevel_CheckInput(const char* path, espyCliLine* line)
{
    char file[espyCliPath_Max];
    if (!espyCliLevel_GetFile(path, file, sizeof file))
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%.80s...: the path is too long", path);
    }
    return espyiCliFile_CheckInput(file, line);
}

bool espyiCliLevel_IsSameFile(const char* path, const char* other)
{
    char file[espyCliPath_Max];
    return espyCliLevel_GetFile(path, file, sizeof file) && espyiCliFile_IsSame(file, other);
}

/// A library's failure as one line. Importers name the file themselves, where they can.
static espyCliExit espyCliLevel_Fail(const char* path, espyResult result, const char* message, espyCliLine* line)
{
    const char* name = espyiCliFile_GetName(path);
    espyCliExit status = espyiCliExit_FromResult(result);
    if (result == espyResult_OutOfMemory)
    {
        return espyiCliLine_Set(line, status, "%s: out of memory while reading the level", name);
    }
    if (message[0] == '\0')
    {
        return espyiCliLine_Set(line, status, "%s: cannot be read (%s)", name, espyResult_GetName(result));
    }
    // What was read from memory is called so.
    message += strncmp(message, "memory: ", 8) == 0 ? 8 : 0;
    bool named = strncmp(message, path, strlen(path)) == 0;
    return named ? espyiCliLine_Set(line, status, "%s", message)
                 : espyiCliLine_Set(line, status, "%s: %s", name, message);
}

static bool espyCliLevel_IsQuake(const unsigned char* head, size_t size)
{
    return size >= 4 && memcmp(head, "IBSP", 4) == 0;
}

/// What espyImport reads from memory: glTF in both spellings, and Quake 3.
static bool espyCliLevel_AcceptHead(const unsigned char* head, size_t size)
{
    size_t at = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; // A byte order mark.
    while (at < size && (head[at] == ' ' || head[at] == '\t' || head[at] == '\r' || head[at] == '\n'))
    {
        ++at;
    }
    return espyCliLevel_IsQuake(head, size) || (size >= 4 && memcmp(head, "glTF", 4) == 0) ||
           (at < size && head[at] == '{');
}

static espyCliExit espyCliLevel_LoadStandardInput(const espyImportDef* def, espyCliLevel* out, espyCliLine* line)
{
    void* bytes;
    size_t size;
    espyCliExit status = espyiCliFile_Read("-", espyCliLevel_AcceptHead, &bytes, &size, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    if (!espyCliLevel_AcceptHead(bytes, size))
    {
        free(bytes);
        return espyiCliLine_Set(
            line, espyCliExit_BadInput,
            size == 0 ? "standard input: is empty"
                      : "standard input: is neither glTF nor a Quake 3 map: other formats are read from files");
    }
    espyResult result = espyCliLevel_IsQuake(bytes, size)
                            ? espyImport_LoadBsp(bytes, size, def, &out->world, &out->report)
                            : espyImport_LoadGltf(bytes, size, def, &out->world, &out->report);
    free(bytes);
    return result == espyResult_Ok ? espyCliExit_Ok : espyCliLevel_Fail("-", result, out->report.message, line);
}

static void espyCliLevel_Warn(espyMessageId id, int32_t node, const char* text, void* context)
{
    espyiCliWarnings_Add(context, id, node, text);
}

espyCliExit espyiCliLevel_Load(const char* path, espyCliWarnings* warnings, espyCliLevel* out, espyCliLine* line)
{
    *out = (espyCliLevel){0};
    espyImportDef def = espyImportDef_Default();
    def.hooks = espyiCliWarnings_GetHooks(warnings);
    def.warn = espyCliLevel_Warn;
    def.warnContext = warnings;
    if (espyiCliFile_IsStandard(path))
    {
        return espyCliLevel_LoadStandardInput(&def, out, line);
    }
    espyCliExit status = espyiCliLevel_CheckInput(path, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    espyResult result = espyImport_LoadFile(path, &def, &out->world, &out->report);
    return result == espyResult_Ok ? espyCliExit_Ok : espyCliLevel_Fail(path, result, out->report.message, line);
}

espyCliExit espyiCliLevel_Gather(const char* path, espyCliLevel* level, float cellSize, espyCliWarnings* warnings,
                                 espyCliLine* line)
{
    espyHooks hooks = espyiCliWarnings_GetErrorHooks(warnings);
    espyResult result = espyEditor_Gather(level->world, cellSize, 0.0f, &hooks, &level->gathered);
    uint32_t count = 0;
    const espyBakeWarning* items = espyGathered_GetWarnings(level->gathered, &count);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyiCliWarnings_Add(warnings, items[i].id, items[i].node, items[i].text);
    }
    return result == espyResult_Ok ? espyCliExit_Ok : espyCliLevel_Fail(path, result, warnings->lastError, line);
}

void espyiCliLevel_Free(espyCliLevel* level)
{
    if (level->gathered)
    {
        espyGathered_Destroy(level->gathered);
    }
    if (level->world)
    {
        espyWorld_Destroy(level->world);
    }
    *level = (espyCliLevel){0};
}

const char* espyiCliLevel_GetNodeName(const espyCliLevel* level, int32_t node)
{
    espyNodeDef def;
    espyNodeId id = espyWorld_FindSource(level->world, node);
    bool found = id.index1 != 0 && espyWorld_GetNode(level->world, id, &def) == espyResult_Ok;
    return found && def.name ? def.name : "";
}

// --- visibility data

/// Names the offset and the field; damaged data is the commonest failure of all.
static espyCliExit espyCliData_Fail(const char* path, const espyCliData* data, const espyDataError* error,
                                    espyCliLine* line)
{
    const char* name = espyiCliFile_GetName(path);
    const char* where = data->embedded ? "the data inside is" : "is";
    const char* field = error->field ? error->field : "data";
    if (error->result == espyResult_UnsupportedVersion)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s: %s of a format version that espy %d.%d.%d does not read (%s): bake it again", name,
                                where, ESPY_VERSION_MAJOR, ESPY_VERSION_MINOR, ESPY_VERSION_PATCH, field);
    }
    if (error->result == espyResult_OutOfMemory)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "%s: out of memory while reading", name);
    }
    if (error->byteOffset == 0)
    {
        return espyiCliLine_Set(
            line, espyCliExit_BadInput,
            "%s: %s no visibility data (wrong at byte 0, field '%s'): name a file that espy bake wrote", name, where,
            field);
    }
    return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: %s damaged at byte %llu, field '%s': bake it again", name,
                            where, (unsigned long long)error->byteOffset, field);
}

static bool espyCliData_IsGlb(const void* bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "glTF", 4) == 0;
}

/// A file is read on only where its first bytes are those of a .glb or of the format: what is wrong in the first field
/// already is no such file.
static bool espyCliData_AcceptHead(const unsigned char* head, size_t size)
{
    espyPvs pvs;
    espyDataError error = {espyResult_Ok, 0, NULL};
    espyResult result = espyPvs_Load(&pvs, head, size, &error);
    return espyCliData_IsGlb(head, size) || result != espyResult_BadData || error.byteOffset != 0;
}

/// Replaces the bytes of a .glb by an aligned copy of the data inside it.
static espyCliExit espyCliData_Extract(const char* path, espyCliData* data, espyCliLine* line)
{
    const void* inside;
    size_t size;
    const char* name = espyiCliFile_GetName(path);
    espyResult result = espyImport_FindEmbedded(data->bytes, data->size, &inside, &size);
    if (result == espyResult_NotFound)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s: has no visibility data inside: write it with espy bake --embed", name);
    }
    if (result != espyResult_Ok)
    {
        return espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s: is no sound .glb file", name);
    }
    void* copy = NULL;
    if (posix_memalign(&copy, espyCliData_Align, size > 0 ? size : 1) != 0)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "%s: out of memory while reading", name);
    }
    if (size > 0)
    {
        memcpy(copy, inside, size);
    }
    free(data->bytes);
    data->bytes = copy;
    data->size = size;
    data->embedded = true;
    return espyCliExit_Ok;
}

static espyCliExit espyCliData_Resolve(const char* path, espyCliData* data, espyCliLine* line)
{
    if (data->size == 0)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: is empty: bake it again", espyiCliFile_GetName(path));
    }
    if (espyCliData_IsGlb(data->bytes, data->size))
    {
        espyCliExit status = espyCliData_Extract(path, data, line);
        if (status != espyCliExit_Ok)
        {
            return status;
        }
    }
    espyDataError error = {espyResult_Ok, 0, NULL};
    espyResult result = espyPvs_Load(&data->pvs, data->bytes, data->size, &error);
    if (result == espyResult_WrongByteOrder)
    {
        const uint32_t one = 1;
        bool bigEndian = *(const unsigned char*)&one == 0;
        data->foreignByteOrder = true;
        result = espyBake_ConvertByteOrder(data->bytes, data->size, bigEndian, data->bytes, &error);
        result = result == espyResult_Ok ? espyPvs_Load(&data->pvs, data->bytes, data->size, &error) : result;
    }
    if (result != espyResult_Ok)
    {
        error.result = result;
        return espyCliData_Fail(path, data, &error, line);
    }
    espyPvs_GetInfo(&data->pvs, &data->info);
    return espyCliExit_Ok;
}

espyCliExit espyiCliData_Load(const char* path, espyCliData* out, espyCliLine* line)
{
    *out = (espyCliData){0};
    espyCliExit status = espyiCliFile_Read(path, espyCliData_AcceptHead, &out->bytes, &out->size, line);
    status = status == espyCliExit_Ok ? espyCliData_Resolve(path, out, line) : status;
    if (status != espyCliExit_Ok)
    {
        espyiCliData_Free(out);
    }
    return status;
}

void espyiCliData_Free(espyCliData* data)
{
    free(data->bytes);
    *data = (espyCliData){0};
}

espyBakeDef espyiCliData_GetSettings(const espyCliData* data)
{
    espyBakeDef def = espyBakeDef_Default();
    def.quality = data->info.quality;
    def.cellSize = data->info.cellSize;
    def.nearDistance = data->info.nearDistance;
    def.smallestHole = data->info.smallestHole;
    def.seed = data->info.seed;
    def.dynamicObjects = data->info.coarseFactor > 0;
    def.levelSettings = data->info.levelSettings;
    def.occlusionCulling = data->info.occlusionCulling;
    def.consoleBudgetKB = data->info.consoleBudgetKB;
    def.maxCells = data->info.cellCount > def.maxCells ? data->info.cellCount : def.maxCells;
    return def;
}
