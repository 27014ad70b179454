// SPDX-License-Identifier: MIT
// pk3 archives (zip): entries by name, read with limits on what they declare and on what they really hold.
#ifndef ESPYI_PK3_H
#define ESPYI_PK3_H

#include <espy/base.h>

#define ESPYI_PK3_WHY_SIZE 160

/// An open archive. Zeroed memory is closed.
typedef struct espyiPk3
{
    void* zip;
    uint64_t count;
    espyHooks hooks;
    char why[ESPYI_PK3_WHY_SIZE]; ///< What went wrong last, without the file's name.
} espyiPk3;

/// Opens a regular file. Errors: NotFound, Io, BadData, OutOfMemory, Unsupported (a build without libzip).
espyResult espyiPk3_Open(espyiPk3* pk3, const char* path, const espyHooks* hooks);
void espyiPk3_Close(espyiPk3* pk3);
/// The path of entry `index` below pk3->count; null where it is no plain relative path (absolute, "..", backslashes,
/// control characters): such entries do not exist for espy.
const char* espyiPk3_GetName(const espyiPk3* pk3, uint64_t index);
/// The entry of a path, whatever the case of its letters: Quake ignores it. False where there is none.
bool espyiPk3_Find(const espyiPk3* pk3, const char* name, uint64_t* index);
/// Reads an entry of at most `limit` bytes whole; free with espyiFree. An empty entry gives null and size 0.
/// Errors: LimitExceeded, Unsupported (encrypted), BadData (damaged, or not of the declared size), OutOfMemory.
espyResult espyiPk3_Read(espyiPk3* pk3, uint64_t index, size_t limit, uint8_t** bytes, size_t* size);

/// Compares two ASCII texts without regard to case.
int espyiText_CompareNoCase(const char* a, const char* b);

#endif
