// SPDX-License-Identifier: MIT
// Runs a fuzz target over the files named on the command line (folders: every file in them), as a normal test.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static int espyReplay_File(const char* path)
{
    FILE* file = fopen(path, "rb");
    if (!file)
    {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 0;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t* data = malloc(size > 0 ? (size_t)size : 1u);
    size_t got = data && size > 0 ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    LLVMFuzzerTestOneInput(data, got);
    free(data);
    return 1;
}

int main(int argc, char** argv)
{
    int files = 0;
    for (int i = 1; i < argc; ++i)
    {
        DIR* folder = opendir(argv[i]);
        if (!folder)
        {
            files += espyReplay_File(argv[i]);
            continue;
        }
        for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder))
        {
            char path[4096];
            if (entry->d_name[0] != '.' && snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name) > 0)
            {
                files += espyReplay_File(path);
            }
        }
        closedir(folder);
    }
    printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
