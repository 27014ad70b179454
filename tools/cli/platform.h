// SPDX-License-Identifier: MIT
// What Windows lacks of POSIX, by the same names and with the same meaning as far as the program needs it.
#ifndef ESPYI_PLATFORM_H
#define ESPYI_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>

/// Called first of all: on Windows the standard streams carry bytes as they are, so that output is the same there.
void espyiPlatform_Begin(void);

#if defined(_WIN32)

#include <io.h>
#include <sys/stat.h>
#include <sys/types.h>

// Files are not handed to other programs: there are none.
#define O_CLOEXEC 0
#define O_DIRECTORY 0
#define lstat stat
#define fsync _commit
// The C library knows no permission to execute and stops at the question.
#define access(path, mode) _access((path), (mode) & (R_OK | W_OK))
#define fchmod(file, mode) ((void)(file), (void)(mode), 0)
#define rename espyiPlatform_Rename
#define posix_memalign espyiPlatform_Allocate
#define readlink espyiPlatform_ReadLink
#define mkdtemp espyiPlatform_MakeTemporaryFolder
#define realpath(path, out) _fullpath((out), (path), PATH_MAX)
#undef P_tmpdir
#define P_tmpdir espyiPlatform_GetTemporaryFolder()

/// Replaces `to`, as POSIX does.
int espyiPlatform_Rename(const char* from, const char* to);
/// For free(); the C library's own alignment, 16, is what data needs.
int espyiPlatform_Allocate(void** out, size_t align, size_t size);
/// There are no links: always "no link".
ssize_t espyiPlatform_ReadLink(const char* path, char* out, size_t size);
char* espyiPlatform_MakeTemporaryFolder(char* pattern);
const char* espyiPlatform_GetTemporaryFolder(void);

#endif

/// Last separator of a path, or null.
const char* espyiPlatform_FindLastSeparator(const char* path);
/// True where both paths name one existing file.
bool espyiPlatform_IsSameFile(const char* a, const char* b);

#endif
