// SPDX-License-Identifier: MIT
// What the importers share: messages, bounded file reading, clean meshes.
#include "import/import_common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// --- messages

/// "file: text" into `line`, always terminated, one line.
static void espyImport_Format(const espyiImport* import, char* line, size_t size, const char* format, va_list arguments)
{
    int used = snprintf(line, size, "%s: ", import->file);
    size_t start = used < 0 ? 0 : (size_t)used;
    if (start < size)
    {
        vsnprintf(line + start, size - start, format, arguments);
    }
    for (char* c = line; *c != '\0'; ++c)
    {
        // Names come from files: no line ends, no terminal control. Bytes above 0x7F are UTF-8 and stay.
        *c = (unsigned char)*c < 0x20 || *c == 0x7F ? '?' : *c;
    }
}

espyResult espyiImport_Fail(espyiImport* import, espyResult result, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    espyImport_Format(import, import->report->message, sizeof import->report->message, format, arguments);
    va_end(arguments);
    return result;
}

void espyiImport_Warn(espyiImport* import, espyMessageId id, int32_t node, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, node);
    espyImport_Format(import, line, sizeof line, espyMessage_GetText(id), arguments);
    va_end(arguments);
    ++import->report->warningCount;
    if (import->warn)
    {
        import->warn(id, node, line, import->warnContext);
    }
    else if (import->hooks.log)
    {
        import->hooks.log(espyMessage_GetLevel(id), id, line, import->hooks.context);
    }
}

/// The share of memory and work for every byte of input: the costliest honest input is JSON of short numbers.
#define ESPY_IMPORT_GRANT_PER_BYTE 256u

void espyiImport_Grant(espyiImport* import, size_t bytes)
{
    size_t share;
    if (!espyiMulSize(bytes, ESPY_IMPORT_GRANT_PER_BYTE, &share) || share > import->memoryReserve)
    {
        share = import->memoryReserve;
    }
    import->memoryLeft += share;
    import->memoryReserve -= share;
}

bool espyiImport_Charge(espyiImport* import, size_t count, size_t size, const char* what)
{
    size_t bytes;
    if (!espyiMulSize(count, size, &bytes) || bytes > import->memoryLeft)
    {
        espyiImport_Fail(import, espyResult_LimitExceeded,
                         "%s would need %llu times %llu bytes, more than the %llu bytes left for a file of this size",
                         what, (unsigned long long)count, (unsigned long long)size,
                         (unsigned long long)import->memoryLeft);
        return false;
    }
    import->memoryLeft -= bytes;
    return true;
}

// --- files

espyResult espyiImport_ReadFile(espyiImport* import, const char* path, uint8_t** bytes, size_t* size)
{
    *bytes = NULL;
    *size = 0;
    struct stat status;
    if (stat(path, &status) != 0)
    {
        return espyiImport_Fail(import, errno == ENOENT || errno == ENOTDIR ? espyResult_NotFound : espyResult_Io,
                                "cannot open '%s': %s", path, strerror(errno));
    }
    // A pipe or a device could block for ever or never end.
    if (!S_ISREG(status.st_mode))
    {
        return espyiImport_Fail(import, espyResult_Io, "'%s' is not a regular file", path);
    }
    if (status.st_size <= 0)
    {
        return espyResult_Ok;
    }
    size_t wanted = (uintmax_t)status.st_size > SIZE_MAX ? SIZE_MAX : (size_t)status.st_size;
    espyiImport_Grant(import, wanted);
    if (!espyiImport_Charge(import, wanted, 1, "the file"))
    {
        return espyResult_LimitExceeded;
    }
    uint8_t* data = espyiAlloc(&import->hooks, wanted, 1);
    if (!data)
    {
        return espyiImport_FailMemory(import);
    }
    FILE* file = fopen(path, "rb");
    bool read = file && fread(data, 1, wanted, file) == wanted;
    int error = errno;
    if (file)
    {
        fclose(file);
    }
    if (!read)
    {
        espyiFree(&import->hooks, data);
        return espyiImport_Fail(import, espyResult_Io, "cannot read '%s': %s", path,
                                file ? "it ended early" : strerror(error));
    }
    *bytes = data;
    *size = wanted;
    return espyResult_Ok;
}

bool espyiPath_EndsWith(const char* path, const char* ending)
{
    size_t length = strlen(path);
    size_t endingLength = strlen(ending);
    if (length < endingLength)
    {
        return false;
    }
    for (size_t i = 0; i < endingLength; ++i)
    {
        char c = path[length - endingLength + i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c != ending[i])
        {
            return false;
        }
    }
    return true;
}

// --- meshes

static bool espyImport_IsFinite(espyVec3 p)
{
    // The difference of a finite value to itself is 0; of an infinity or NaN it is NaN.
    return p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f;
}

/// The mesh's copy of a vertex of the part being added; room for it has been made.
static uint32_t espyMeshBuilder_Map(espyiMeshBuilder* builder, const espyVec3* positions, uint32_t vertex)
{
    if (builder->remap[vertex] == 0)
    {
        builder->positions[builder->vertexCount++] = positions[vertex];
        builder->remap[vertex] = (uint32_t)builder->vertexCount;
    }
    return builder->remap[vertex] - 1;
}

espyResult espyiMeshBuilder_AddPart(espyiMeshBuilder* builder, const espyVec3* positions, size_t vertexCount,
                                    const uint32_t* indices, size_t indexCount, espyMaterialClass material,
                                    uint32_t color)
{
    espyiImport* import = builder->import;
    const espyHooks* hooks = &import->hooks;
    indexCount -= indexCount % 3u;
    size_t newVertices = vertexCount < indexCount ? vertexCount : indexCount;
    if (indexCount == 0)
    {
        return espyResult_Ok;
    }
    if (builder->indexCount + indexCount > UINT32_MAX || builder->vertexCount + newVertices > UINT32_MAX)
    {
        return espyiImport_Fail(import, espyResult_LimitExceeded, "a mesh of more than 2^32 indices");
    }
    if (!espyiImport_Charge(import, indexCount, sizeof(uint32_t), "a mesh") ||
        !espyiImport_Charge(import, newVertices, 2 * sizeof(espyVec3), "a mesh"))
    {
        return espyResult_LimitExceeded;
    }
    if (!espyiGrow(hooks, (void**)&builder->positions, &builder->vertexCapacity, builder->vertexCount + newVertices,
                   sizeof(espyVec3)) ||
        !espyiGrow(hooks, (void**)&builder->indices, &builder->indexCapacity, builder->indexCount + indexCount,
                   sizeof(uint32_t)) ||
        !espyiGrow(hooks, (void**)&builder->parts, &builder->partCapacity, builder->partCount + 1,
                   sizeof(espyMeshPart)) ||
        !espyiGrow(hooks, (void**)&builder->remap, &builder->remapCapacity, vertexCount, sizeof(uint32_t)))
    {
        return espyiImport_FailMemory(import);
    }
    if (vertexCount > 0)
    {
        memset(builder->remap, 0, vertexCount * sizeof(uint32_t));
    }
    size_t first = builder->indexCount;
    for (size_t i = 0; i < indexCount; i += 3)
    {
        uint32_t corner[3];
        bool sound = true;
        for (size_t k = 0; k < 3; ++k)
        {
            corner[k] = indices ? indices[i + k] : (uint32_t)(i + k);
            sound = sound && corner[k] < vertexCount && espyImport_IsFinite(positions[corner[k]]);
        }
        builder->dropped += sound ? 0 : 1;
        for (size_t k = 0; sound && k < 3; ++k)
        {
            builder->indices[builder->indexCount++] = espyMeshBuilder_Map(builder, positions, corner[k]);
        }
    }
    if (builder->indexCount > first)
    {
        builder->parts[builder->partCount++] =
            (espyMeshPart){(uint32_t)first, (uint32_t)(builder->indexCount - first), material, color};
    }
    return espyResult_Ok;
}

espyResult espyiMeshBuilder_Finish(espyiMeshBuilder* builder, const char* name, espyMeshId* out)
{
    *out = (espyMeshId){0};
    if (builder->dropped > 0)
    {
        char what[160] = "a mesh without a name";
        if (name && name[0] != '\0')
        {
            snprintf(what, sizeof what, "'%.128s'", name);
        }
        espyiImport_Warn(builder->import, espyMessageId_ImportBadTriangles, -1, (unsigned long long)builder->dropped,
                         what);
    }
    espyResult result = espyResult_Ok;
    if (builder->partCount > 0)
    {
        espyMeshDef def = espyMeshDef_Default();
        def.triangles = (espyTriangles){builder->positions, builder->indices, (uint32_t)builder->vertexCount,
                                        (uint32_t)(builder->indexCount / 3)};
        def.parts = builder->parts;
        def.partCount = (uint32_t)builder->partCount;
        def.name = name;
        result = espyWorld_CreateMesh(builder->import->world, &def, out);
        result = result == espyResult_Ok ? result : espyiImport_FailMemory(builder->import);
    }
    builder->vertexCount = builder->indexCount = builder->partCount = 0;
    builder->dropped = 0;
    return result;
}

void espyiMeshBuilder_Free(espyiMeshBuilder* builder)
{
    const espyHooks* hooks = &builder->import->hooks;
    espyiFree(hooks, builder->positions);
    espyiFree(hooks, builder->indices);
    espyiFree(hooks, builder->parts);
    espyiFree(hooks, builder->remap);
    *builder = (espyiMeshBuilder){.import = builder->import};
}

// --- flags

void espyiImport_FlagIfNone(espyiImport* import)
{
    espyWorld* world = import->world;
    uint32_t count = espyWorld_GetNodeCount(world);
    for (uint32_t i = 0; i < count; ++i)
    {
        if (espyWorld_GetFlags(world, espyWorld_GetNodeAt(world, i)) &
            (espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic))
        {
            return;
        }
    }
    bool any = false;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        espyNodeDef node;
        espyMeshDef mesh;
        if (espyWorld_GetNode(world, id, &node) != espyResult_Ok || node.mesh.index1 == 0 ||
            (node.flags & espyNodeFlag_Skybox) || espyWorld_GetMesh(world, node.mesh, &mesh) != espyResult_Ok)
        {
            continue;
        }
        bool opaque = false;
        for (uint32_t k = 0; k < mesh.partCount; ++k)
        {
            opaque = opaque || mesh.parts[k].material == espyMaterialClass_Opaque;
        }
        uint32_t added = node.flags & espyNodeFlag_Blocker ? 0u : (uint32_t)espyNodeFlag_OccludeeStatic;
        added |= opaque && !(node.flags & espyNodeFlag_Dynamic) ? (uint32_t)espyNodeFlag_OccluderStatic : 0u;
        espyWorld_SetFlags(world, id, node.flags | added);
        any = true;
    }
    if (any)
    {
        espyiImport_Warn(import, espyMessageId_ImportNoFlags, -1);
    }
}
