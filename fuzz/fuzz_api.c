// SPDX-License-Identifier: MIT
// Bytes from anywhere as requests to the editor's controller: "METHOD TARGET\nBODY". Saving and baking are left out:
// they take a disk and seconds, and read nothing of the request that others do not.
#include "api.h"

#include <espy/import.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void espyFuzz_Wake(void* context)
{
    (void)context;
}

static espyApi* espyFuzz_Open(void)
{
    static const char level[] =
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"mesh\":0,"
        "\"extras\":{\"occluder\":1,\"occludee\":1}},{\"scale\":[4,4,4],\"extras\":{\"occlusionArea\":1}}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{\"bufferView\":0,"
        "\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[1,1,0]}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,\"uri\":"
        "\"data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}";
    char folder[] = P_tmpdir "/espy-fuzz-api-XXXXXX", path[sizeof folder + 16];
    espyProject* project = NULL;
    espyCliLine line;
    if (!mkdtemp(folder))
    {
        abort();
    }
    snprintf(path, sizeof path, "%s/level.gltf", folder);
    FILE* file = fopen(path, "wb");
    if (!file || fwrite(level, 1, sizeof level - 1, file) != sizeof level - 1 || fclose(file) != 0 ||
        espyiProject_Open(path, NULL, &project, &line) != espyCliExit_Ok)
    {
        abort();
    }
    remove(path);
    rmdir(folder);
    return espyiApi_Create(project, espyFuzz_Wake, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static espyApi* api;
    api = api ? api : espyFuzz_Open();
    char head[600];
    const uint8_t* end = memchr(data, '\n', size);
    size_t length = end ? (size_t)(end - data) : size;
    if (length >= sizeof head)
    {
        return 0;
    }
    memcpy(head, data, length);
    head[length] = '\0';
    char* target = strchr(head, ' ');
    if (!target)
    {
        return 0;
    }
    *target++ = '\0';
    if (strstr(target, "/api/save") || strstr(target, "/api/occlusion/bake"))
    {
        return 0;
    }
    const espyApiRequest request = {.method = head,
                                    .target = target,
                                    .contentType = "application/json",
                                    .body = end ? end + 1 : NULL,
                                    .bodySize = end ? size - length - 1 : 0};
    espyApiResponse answer;
    espyiApi_Handle(api, &request, &answer);
    if (answer.status < 200 || answer.status > 599 || (answer.size > 0 && !answer.body))
    {
        abort();
    }
    free(answer.body);
    return 0;
}
