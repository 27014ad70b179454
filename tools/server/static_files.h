// SPDX-License-Identifier: MIT
// The page's files: listed once at the start, so that a request can only name what was found then.
#ifndef ESPYI_STATIC_FILES_H
#define ESPYI_STATIC_FILES_H

#include "cli_text.h"

typedef struct espyStaticFile
{
    char* url;  ///< "/assets/index.js"
    char* path; ///< On disk.
    const char* type;
    bool forever; ///< Its name has a hash of its content.
} espyStaticFile;

typedef struct espyStaticFiles
{
    espyStaticFile* items;
    size_t count;
} espyStaticFiles;

/// Lists a folder with its subfolders (no hidden files, no links, at most 1,000). Leaves *out empty where there is no
/// such folder.
void espyiStaticFiles_List(const char* folder, espyStaticFiles* out);
void espyiStaticFiles_Free(espyStaticFiles* files);
/// "/" is "/index.html". Null where there is no such file.
const espyStaticFile* espyiStaticFiles_Find(const espyStaticFiles* files, const char* url);

#endif
