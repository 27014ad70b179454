// SPDX-License-Identifier: MIT
// Lists the page's files.
#include "static_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum
{
    espyStatic_MaxFiles = 1000,
    espyStatic_MaxDepth = 8,
    espyStatic_MaxPath = 4096
};

static const char* espyStatic_GetType(const char* name)
{
    static const struct
    {
        const char* ending;
        const char* type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".wasm", "application/wasm"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".woff2", "font/woff2"},
        {".map", "application/json"},
    };
    const char* dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; ++i)
    {
        if (strcmp(dot, types[i].ending) == 0)
        {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

static void espyStatic_Add(espyStaticFiles* files, const char* path, size_t rootLength)
{
    espyStaticFile* items = realloc(files->items, (files->count + 1) * sizeof *items);
    if (!items)
    {
        return;
    }
    files->items = items;
    espyStaticFile file = {.url = strdup(path + rootLength),
                           .path = strdup(path),
                           .type = espyStatic_GetType(path),
                           .forever = strncmp(path + rootLength, "/assets/", 8) == 0};
    if (!file.url || !file.path)
    {
        free(file.url);
        free(file.path);
        return;
    }
    files->items[files->count++] = file;
}

static void espyStatic_Walk(espyStaticFiles* files, const char* folder, size_t rootLength, int depth)
{
    DIR* directory = depth < espyStatic_MaxDepth ? opendir(folder) : NULL;
    if (!directory)
    {
        return;
    }
    for (struct dirent* entry; (entry = readdir(directory)) != NULL && files->count < espyStatic_MaxFiles;)
    {
        char path[espyStatic_MaxPath];
        struct stat info;
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path || lstat(path, &info) != 0)
        {
            continue;
        }
        if (S_ISDIR(info.st_mode))
        {
            espyStatic_Walk(files, path, rootLength, depth + 1);
        }
        else if (S_ISREG(info.st_mode))
        {
            espyStatic_Add(files, path, rootLength);
        }
    }
    closedir(directory);
}

void espyiStaticFiles_List(const char* folder, espyStaticFiles* out)
{
    *out = (espyStaticFiles){0};
    espyStatic_Walk(out, folder, strlen(folder), 0);
}

void espyiStaticFiles_Free(espyStaticFiles* files)
{
    for (size_t i = 0; i < files->count; ++i)
    {
        free(files->items[i].url);
        free(files->items[i].path);
    }
    free(files->items);
    *files = (espyStaticFiles){0};
}

const espyStaticFile* espyiStaticFiles_Find(const espyStaticFiles* files, const char* url)
{
    url = strcmp(url, "/") == 0 ? "/index.html" : url;
    for (size_t i = 0; i < files->count; ++i)
    {
        if (strcmp(files->items[i].url, url) == 0)
        {
            return &files->items[i];
        }
    }
    return NULL;
}
