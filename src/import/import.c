// SPDX-License-Identifier: MIT
// Picks the importer by ending and content.
#include "import/import_common.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/// What every job may use in memory and work, besides a share for each byte of input.
#define ESPY_IMPORT_BASE_GRANT ((size_t)64 << 20)

typedef espyResult espyImportFn(espyiImport* import, const uint8_t* bytes, size_t size, const char* path);

espyImportDef espyImportDef_Default(void)
{
    return (espyImportDef){.maxMemoryBytes = sizeof(size_t) > 4 ? (size_t)2 << 30 : (size_t)1 << 30,
                           .cookie = ESPY_DEF_COOKIE};
}

/// Checks the caller's arguments and sets up a job with an empty world.
static espyResult espyImport_Begin(espyiImport* import, const char* file, const espyImportDef* def, espyWorld** out,
                                   espyImportReport* report)
{
    const espyHooks* hooks = def ? &def->hooks : NULL;
    if (!ESPYI_CHECK(hooks, file != NULL && def != NULL && out != NULL && report != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    *report = (espyImportReport){.format = ""};
    if (!ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    size_t base = def->maxMemoryBytes < ESPY_IMPORT_BASE_GRANT ? def->maxMemoryBytes : ESPY_IMPORT_BASE_GRANT;
    *import = (espyiImport){
        .hooks = espyiHooks_Resolve(&def->hooks),
        .file = file,
        .searchPath = def->searchPath,
        .memoryLeft = base,
        .memoryReserve = def->maxMemoryBytes - base,
        .report = report,
        .warn = def->warn,
        .warnContext = def->warnContext,
    };
    espyWorldDef worldDef = espyWorldDef_Default();
    worldDef.hooks = import->hooks;
    espyResult result = espyWorld_Create(&worldDef, &import->world);
    return result == espyResult_Ok ? result : espyiImport_FailMemory(import);
}

/// Hands the world over after success and destroys it after a failure.
static espyResult espyImport_End(espyiImport* import, espyResult result, espyWorld** out)
{
    if (result == espyResult_Ok)
    {
        *out = import->world;
    }
    else
    {
        espyWorld_Destroy(import->world);
    }
    return result;
}

static espyResult espyImport_FromMemory(espyImportFn* importer, const char* format, const void* bytes, size_t size,
                                        const espyImportDef* def, espyWorld** out, espyImportReport* report)
{
    espyiImport import;
    espyResult result = espyImport_Begin(&import, "memory", def, out, report);
    if (result != espyResult_Ok)
    {
        return result;
    }
    report->format = format;
    espyiImport_Grant(&import, size);
    result = ESPYI_CHECK(&import.hooks, bytes != NULL || size == 0)
                 ? importer(&import, (const uint8_t*)bytes, size, NULL)
                 : espyiImport_Fail(&import, espyResult_InvalidArgument, "no bytes");
    return espyImport_End(&import, result, out);
}

/// Reads "PAK.pk3:maps/NAME.bsp", whose colon is at `colon`.
static espyResult espyImport_FromPk3(espyiImport* import, const char* path, const char* colon)
{
    size_t length = (size_t)(colon - path);
    char* archive = espyiAlloc(&import->hooks, length + 1u, 1);
    if (!archive)
    {
        return espyiImport_FailMemory(import);
    }
    memcpy(archive, path, length);
    import->report->format = "bsp";
    espyResult result = espyiImport_Pk3(import, archive, colon + 1);
    espyiFree(&import->hooks, archive);
    return result;
}

/// The colon of "PAK.pk3:maps/NAME.bsp", or null.
static const char* espyImport_FindPk3Colon(const char* path)
{
    for (const char* c = strchr(path, ':'); c; c = strchr(c + 1, ':'))
    {
        char ending[5] = "";
        if (c - path >= 4)
        {
            memcpy(ending, c - 4, 4);
        }
        if (espyiPath_EndsWith(ending, ".pk3"))
        {
            return c;
        }
    }
    return NULL;
}

static espyResult espyImport_FromBytesOfFile(espyiImport* import, espyImportFn* importer, const char* format,
                                             const char* path)
{
    uint8_t* bytes;
    size_t size;
    import->report->format = format;
    espyResult result = espyiImport_ReadFile(import, path, &bytes, &size);
    if (result == espyResult_Ok)
    {
        result = importer(import, bytes, size, path);
        espyiFree(&import->hooks, bytes);
    }
    return result;
}

/// True where a regular file starts with these four characters: content decides where the ending says nothing.
static bool espyImport_Starts(const char* path, const char* magic)
{
    struct stat status;
    char start[4] = "";
    // A pipe is not even opened: that could block for ever.
    FILE* file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    bool same = file && fread(start, 1, sizeof start, file) == sizeof start && memcmp(start, magic, sizeof start) == 0;
    if (file)
    {
        fclose(file);
    }
    return same;
}

espyResult espyImport_LoadGltf(const void* bytes, size_t size, const espyImportDef* def, espyWorld** out,
                               espyImportReport* report)
{
    return espyImport_FromMemory(espyiImport_Gltf, "gltf", bytes, size, def, out, report);
}

espyResult espyImport_LoadBsp(const void* bytes, size_t size, const espyImportDef* def, espyWorld** out,
                              espyImportReport* report)
{
    return espyImport_FromMemory(espyiImport_Bsp, "bsp", bytes, size, def, out, report);
}

espyResult espyImport_LoadFile(const char* path, const espyImportDef* def, espyWorld** out, espyImportReport* report)
{
    espyiImport import;
    espyResult result = espyImport_Begin(&import, path, def, out, report);
    if (result != espyResult_Ok)
    {
        return result;
    }
    if (espyiPath_EndsWith(path, ".glb") || espyiPath_EndsWith(path, ".gltf") || espyImport_Starts(path, "glTF"))
    {
        result = espyImport_FromBytesOfFile(&import, espyiImport_Gltf, "gltf", path);
    }
    else if (espyImport_FindPk3Colon(path))
    {
        result = espyImport_FromPk3(&import, path, espyImport_FindPk3Colon(path));
    }
    else if (espyiPath_EndsWith(path, ".bsp") || espyImport_Starts(path, "IBSP"))
    {
        result = espyImport_FromBytesOfFile(&import, espyiImport_Bsp, "bsp", path);
    }
    else if (espyiPath_EndsWith(path, ".pk3"))
    {
        result = espyiImport_Fail(&import, espyResult_Unsupported, "name a map in it: FILE.pk3:maps/NAME.bsp");
    }
    else
    {
        report->format = "assimp";
        result = espyiImport_Assimp(&import, path);
    }
    return espyImport_End(&import, result, out);
}
