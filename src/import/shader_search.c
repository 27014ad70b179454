// SPDX-License-Identifier: MIT
// Gathers shader scripts and texture names from pk3 archives and loose folders, within fixed limits.
#include "import/shader_search.h"

#include "import/pk3.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// The largest scripts in the wild are some hundred kilobytes; what a folder holds is some megabytes.
#define ESPY_SCRIPT_MAX_BYTES ((size_t)8 << 20)
#define ESPY_SCRIPT_MAX_TOTAL ((size_t)128 << 20)
#define ESPY_SEARCH_MAX_FILES 4096u
#define ESPY_SEARCH_PATH_SIZE 4096u

typedef char espySearchName[256];

typedef struct espySearch
{
    espyiImport* import;
    espyiShaderTable* table;
    uint64_t* done; ///< Hashes of the script paths read so far.
    size_t doneCount, doneCapacity;
    size_t bytesLeft;
} espySearch;

// --- folders

bool espyiPath_Folder(const char* path, char* out, size_t size)
{
    const char* slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 1u;
    const char* source = slash ? path : ".";
    if (slash == path)
    {
        length = 1;
    }
    if (length >= size)
    {
        return false;
    }
    memcpy(out, source, length);
    out[length] = '\0';
    return true;
}

static int espySearch_CompareNames(const void* left, const void* right)
{
    const char* a = *(const espySearchName*)left;
    const char* b = *(const espySearchName*)right;
    int order = espyiText_CompareNoCase(a, b);
    return order != 0 ? order : strcmp(a, b);
}

/// The names in a folder that end in `ending`, sorted. A folder that is not there has none.
static espyResult espySearch_List(espySearch* s, const char* folder, const char* ending, espySearchName** names,
                                  size_t* count)
{
    *names = NULL;
    *count = 0;
    size_t capacity = 0;
    DIR* dir = opendir(folder);
    if (!dir)
    {
        return espyResult_Ok;
    }
    espyResult result = espyResult_Ok;
    for (struct dirent* entry = readdir(dir); entry && *count < ESPY_SEARCH_MAX_FILES; entry = readdir(dir))
    {
        size_t length = strlen(entry->d_name);
        if (length >= sizeof(espySearchName) || !espyiPath_EndsWith(entry->d_name, ending))
        {
            continue;
        }
        if (!espyiGrow(&s->import->hooks, (void**)names, &capacity, *count + 1, sizeof **names))
        {
            result = espyiImport_FailMemory(s->import);
            break;
        }
        memcpy((*names)[*count], entry->d_name, length + 1);
        ++*count;
    }
    closedir(dir);
    if (*count > 1)
    {
        qsort(*names, *count, sizeof **names, espySearch_CompareNames);
    }
    return result;
}

// --- scripts

/// True where this script path was not met before; remembers it. `name` is the path inside the game folder.
static bool espySearch_IsNew(espySearch* s, const char* name, espyResult* result)
{
    uint64_t hash = 0;
    for (const char* c = name; *c != '\0'; ++c)
    {
        char lower = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        hash = espyiHash_U64(hash, (uint64_t)(unsigned char)lower);
    }
    for (size_t i = 0; i < s->doneCount; ++i)
    {
        if (s->done[i] == hash)
        {
            return false;
        }
    }
    if (!espyiGrow(&s->import->hooks, (void**)&s->done, &s->doneCapacity, s->doneCount + 1, sizeof *s->done))
    {
        *result = espyiImport_FailMemory(s->import);
        return false;
    }
    s->done[s->doneCount++] = hash;
    return true;
}

static void espySearch_WarnSkipped(espySearch* s, const char* what, const char* why)
{
    char text[384];
    snprintf(text, sizeof text, "'%.160s' is not used for shaders: %s", what, why);
    espyiImport_Warn(s->import, espyMessageId_ImportSkipped, -1, text);
}

static size_t espySearch_Limit(const espySearch* s)
{
    return s->bytesLeft < ESPY_SCRIPT_MAX_BYTES ? s->bytesLeft : ESPY_SCRIPT_MAX_BYTES;
}

static bool espySearch_IsScript(const char* name)
{
    const char prefix[] = "scripts/";
    for (size_t i = 0; i + 1 < sizeof prefix; ++i)
    {
        char c = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
        if (c != prefix[i])
        {
            return false;
        }
    }
    return espyiPath_EndsWith(name, ".shader");
}

static bool espySearch_IsImage(const char* name)
{
    static const char* const endings[] = {".tga", ".jpg", ".jpeg", ".png", ".dds", ".pcx", ".bmp", ".ktx", ".webp"};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(endings); ++i)
    {
        if (espyiPath_EndsWith(name, endings[i]))
        {
            return true;
        }
    }
    return false;
}

static espyResult espySearch_Pk3(espySearch* s, const char* path)
{
    espyiPk3 pk3;
    espyResult result = espyiPk3_Open(&pk3, path, &s->import->hooks);
    if (result == espyResult_OutOfMemory)
    {
        return espyiImport_FailMemory(s->import);
    }
    if (result != espyResult_Ok)
    {
        espySearch_WarnSkipped(s, path, pk3.why);
        return espyResult_Ok;
    }
    for (uint64_t i = 0; i < pk3.count && result == espyResult_Ok; ++i)
    {
        const char* name = espyiPk3_GetName(&pk3, i);
        if (!name)
        {
            continue;
        }
        if (espySearch_IsImage(name))
        {
            espyiShaderInfo* info = espyiShaderTable_Find(s->table, name, strlen(name));
            if (info)
            {
                info->flags |= (uint32_t)espyiShaderFlag_HasImage;
            }
        }
        else if (espySearch_IsScript(name) && espySearch_IsNew(s, name, &result))
        {
            uint8_t* bytes;
            size_t size;
            espyResult read = espyiPk3_Read(&pk3, i, espySearch_Limit(s), &bytes, &size);
            if (read == espyResult_OutOfMemory)
            {
                result = espyiImport_FailMemory(s->import);
                continue;
            }
            if (read != espyResult_Ok)
            {
                espySearch_WarnSkipped(s, name, pk3.why);
                continue;
            }
            s->bytesLeft -= size;
            espyiShaderTable_AddScript(s->table, (const char*)bytes, size);
            espyiFree(&s->import->hooks, bytes);
        }
    }
    espyiPk3_Close(&pk3);
    return result;
}

static espyResult espySearch_LooseScript(espySearch* s, const char* path)
{
    // Scripts live only while they are read: their own limit instead of the job's.
    size_t left = s->import->memoryLeft;
    size_t reserve = s->import->memoryReserve;
    s->import->memoryLeft = espySearch_Limit(s);
    s->import->memoryReserve = 0;
    uint8_t* bytes;
    size_t size;
    espyResult result = espyiImport_ReadFile(s->import, path, &bytes, &size);
    s->import->memoryLeft = left;
    s->import->memoryReserve = reserve;
    if (result == espyResult_OutOfMemory)
    {
        return result;
    }
    if (result != espyResult_Ok)
    {
        s->import->report->message[0] = '\0';
        espySearch_WarnSkipped(s, path, espyResult_GetName(result));
        return espyResult_Ok;
    }
    s->bytesLeft -= size;
    espyiShaderTable_AddScript(s->table, (const char*)bytes, size);
    espyiFree(&s->import->hooks, bytes);
    return espyResult_Ok;
}

static void espySearch_LooseImages(espySearch* s, const char* folder)
{
    static const char* const endings[] = {".tga", ".jpg", ".png"};
    for (uint32_t i = 0; i < s->table->count; ++i)
    {
        espyiShaderInfo* info = &s->table->shaders[i];
        if ((info->flags & (espyiShaderFlag_Scripted | espyiShaderFlag_HasImage)) || info->name[0] == '\0' ||
            info->name[0] == '/' || strstr(info->name, ".."))
        {
            continue;
        }
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(endings); ++k)
        {
            char path[ESPY_SEARCH_PATH_SIZE];
            struct stat status;
            int used = snprintf(path, sizeof path, "%s/%s%s", folder, info->name, endings[k]);
            if (used > 0 && (size_t)used < sizeof path && stat(path, &status) == 0)
            {
                info->flags |= (uint32_t)espyiShaderFlag_HasImage;
                break;
            }
        }
    }
}

static espyResult espySearch_Pk3s(espySearch* s, const char* folder)
{
    espySearchName* names;
    size_t count;
    espyResult result = espySearch_List(s, folder, ".pk3", &names, &count);
    for (size_t i = count; i > 0 && result == espyResult_Ok; --i)
    {
        char path[ESPY_SEARCH_PATH_SIZE];
        int used = snprintf(path, sizeof path, "%s/%s", folder, names[i - 1]);
        if (used > 0 && (size_t)used < sizeof path)
        {
            result = espySearch_Pk3(s, path);
        }
    }
    espyiFree(&s->import->hooks, names);
    return result;
}

static espyResult espySearch_Loose(espySearch* s, const char* folder)
{
    char scripts[ESPY_SEARCH_PATH_SIZE];
    int used = snprintf(scripts, sizeof scripts, "%s/scripts", folder);
    if (used < 0 || (size_t)used >= sizeof scripts)
    {
        return espyResult_Ok;
    }
    espySearchName* names;
    size_t count;
    espyResult result = espySearch_List(s, scripts, ".shader", &names, &count);
    for (size_t i = 0; i < count && result == espyResult_Ok; ++i)
    {
        char path[ESPY_SEARCH_PATH_SIZE];
        char inner[sizeof(espySearchName) + 8];
        snprintf(inner, sizeof inner, "scripts/%s", names[i]);
        used = snprintf(path, sizeof path, "%s/%s", scripts, names[i]);
        if (used > 0 && (size_t)used < sizeof path && espySearch_IsNew(s, inner, &result))
        {
            result = espySearch_LooseScript(s, path);
        }
    }
    espyiFree(&s->import->hooks, names);
    espySearch_LooseImages(s, folder);
    return result;
}

espyResult espyiShaderSearch_Folder(espyiImport* import, const char* folder, espyiShaderTable* table)
{
    espySearch search = {.import = import, .table = table, .bytesLeft = ESPY_SCRIPT_MAX_TOTAL};
    espyResult result = espySearch_Pk3s(&search, folder);
    result = result == espyResult_Ok ? espySearch_Loose(&search, folder) : result;
    espyiFree(&import->hooks, search.done);
    return result;
}
