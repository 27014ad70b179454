// SPDX-License-Identifier: MIT
// The Quake 3 importer from end to end: a map's bytes and the shader scripts around it become a world.
#include "import/bsp_read.h"
#include "import/bsp_world.h"
#include "import/import_common.h"
#include "import/pk3.h"
#include "import/shader_search.h"

#include <string.h>

#define ESPY_BSP_PATH_SIZE 4096u

/// Runs the shader search over `folder`, and over its parent where it is a game's "maps" folder.
static espyResult espyBspImport_Search(espyiImport* import, const char* folder, espyiShaderTable* table)
{
    espyResult result = espyiShaderSearch_Folder(import, folder, table);
    const char* slash = strrchr(folder, '/');
    if (result != espyResult_Ok || espyiText_CompareNoCase(slash ? slash + 1 : folder, "maps") != 0)
    {
        return result;
    }
    char parent[ESPY_BSP_PATH_SIZE];
    return espyiPath_Folder(folder, parent, sizeof parent) ? espyiShaderSearch_Folder(import, parent, table) : result;
}

/// Imports a map. `folder` is searched for shaders; null searches nothing.
static espyResult espyBspImport_Map(espyiImport* import, const uint8_t* bytes, size_t size, const char* folder)
{
    // The decoded tables take at most twice their bytes.
    if (!espyiImport_Charge(import, size, 2, "the map"))
    {
        return espyResult_LimitExceeded;
    }
    espyiBsp bsp;
    espyiBspError error;
    espyResult result = espyiBsp_Read(bytes, size, &import->hooks, &bsp, &error);
    if (result != espyResult_Ok)
    {
        return espyiImport_Fail(import, result, "%s", error.text);
    }
    espyiShaderTable table;
    uint32_t* entries;
    result = espyiBspWorld_WantShaders(import, &bsp, &table, &entries);
    if (result == espyResult_Ok)
    {
        result = folder ? espyBspImport_Search(import, folder, &table) : espyResult_Ok;
        result = result == espyResult_Ok ? espyiBspWorld_Build(import, &bsp, &table, entries) : result;
        espyiFree(&import->hooks, entries);
        espyiShaderTable_Free(&table);
    }
    espyiBsp_Free(&bsp);
    return result;
}

espyResult espyiImport_Bsp(espyiImport* import, const uint8_t* bytes, size_t size, const char* path)
{
    char folder[ESPY_BSP_PATH_SIZE];
    const char* search = import->searchPath;
    if (!search && path && espyiPath_Folder(path, folder, sizeof folder))
    {
        search = folder;
    }
    return espyBspImport_Map(import, bytes, size, search);
}

espyResult espyiImport_Pk3(espyiImport* import, const char* pk3Path, const char* entry)
{
    espyiPk3 pk3;
    espyResult result = espyiPk3_Open(&pk3, pk3Path, &import->hooks);
    if (result != espyResult_Ok)
    {
        return espyiImport_Fail(import, result, "cannot open the archive: %s", pk3.why);
    }
    uint64_t index;
    uint8_t* bytes = NULL;
    size_t size = 0;
    if (!espyiPk3_Find(&pk3, entry, &index))
    {
        result = espyiImport_Fail(import, espyResult_NotFound, "there is no '%s' in the archive", entry);
    }
    else
    {
        result = espyiPk3_Read(&pk3, index, import->memoryLeft, &bytes, &size);
        if (result != espyResult_Ok)
        {
            espyiImport_Fail(import, result, "%s", pk3.why);
        }
        else
        {
            espyiImport_Grant(import, size);
            result = espyiImport_Charge(import, size, 1, "the map") ? espyResult_Ok : espyResult_LimitExceeded;
        }
    }
    espyiPk3_Close(&pk3);
    if (result == espyResult_Ok)
    {
        char folder[ESPY_BSP_PATH_SIZE];
        const char* search = import->searchPath;
        if (!search && espyiPath_Folder(pk3Path, folder, sizeof folder))
        {
            search = folder;
        }
        result = espyBspImport_Map(import, bytes, size, search);
    }
    espyiFree(&import->hooks, bytes);
    return result;
}
