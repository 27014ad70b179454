// SPDX-License-Identifier: MIT
#include "scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool espyScratch_Create(const char* name, char path[ESPY_SCRATCH_PATH])
{
    const char* place = getenv("TMPDIR");
    int length = snprintf(path, ESPY_SCRATCH_PATH, "%s/espy-%s-XXXXXX", place ? place : "/tmp", name);
    return length > 0 && length < ESPY_SCRATCH_PATH && mkdtemp(path) != NULL;
}

void espyScratch_Remove(const char* path)
{
    DIR* entries = opendir(path);
    for (struct dirent* entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries))
    {
        char child[4096];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(child, sizeof child, "%s/%s", path, entry->d_name) >= (int)sizeof child)
        {
            continue;
        }
        struct stat info;
        if (lstat(child, &info) == 0 && S_ISDIR(info.st_mode))
        {
            chmod(child, 0700);
            espyScratch_Remove(child);
        }
        else
        {
            unlink(child);
        }
    }
    if (entries)
    {
        closedir(entries);
    }
    rmdir(path);
}
