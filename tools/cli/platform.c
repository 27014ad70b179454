// SPDX-License-Identifier: MIT
#include "platform.h"

#include <string.h>

#if defined(_WIN32)

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#undef rename

void espyiPlatform_Begin(void)
{
    _fmode = _O_BINARY;
    _setmode(0, _O_BINARY);
    _setmode(1, _O_BINARY);
    _setmode(2, _O_BINARY);
}

int espyiPlatform_Rename(const char* from, const char* to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
    {
        return 0;
    }
    errno = GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND ? ENOENT : EACCES;
    return -1;
}

int espyiPlatform_Allocate(void** out, size_t align, size_t size)
{
    (void)align;
    *out = malloc(size > 0 ? size : 1);
    return *out ? 0 : ENOMEM;
}

ssize_t espyiPlatform_ReadLink(const char* path, char* out, size_t size)
{
    (void)path;
    (void)out;
    (void)size;
    errno = EINVAL;
    return -1;
}

char* espyiPlatform_MakeTemporaryFolder(char* pattern)
{
    // mktemp fills in a name that is free; between that and the next line only an attacker on the machine can take it,
    // and then the folder is not made.
    return _mktemp(pattern) && _mkdir(pattern) == 0 ? pattern : NULL;
}

const char* espyiPlatform_GetTemporaryFolder(void)
{
    const char* folder = getenv("TEMP");
    return folder && folder[0] != '\0' ? folder : ".";
}

const char* espyiPlatform_FindLastSeparator(const char* path)
{
    const char* slash = strrchr(path, '/');
    const char* other = strrchr(path, '\\');
    return !slash || (other && other > slash) ? other : slash;
}

bool espyiPlatform_IsSameFile(const char* a, const char* b)
{
    // Numbers of files are not told by stat here: the same place, then, letters compared as the system does.
    char first[MAX_PATH], second[MAX_PATH];
    return _access(a, 0) == 0 && _access(b, 0) == 0 && _fullpath(first, a, sizeof first) &&
           _fullpath(second, b, sizeof second) && _stricmp(first, second) == 0;
}

#else

#include <sys/stat.h>

void espyiPlatform_Begin(void)
{
}

const char* espyiPlatform_FindLastSeparator(const char* path)
{
    return strrchr(path, '/');
}

bool espyiPlatform_IsSameFile(const char* a, const char* b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

#endif
