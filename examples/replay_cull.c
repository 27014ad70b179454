// SPDX-License-Identifier: MIT
// Runs a record of culls again, with every set of kernels. Usage: example_replay_cull RECORD.cull
#include <espy/cull_replay.h>
#include <stdio.h>
#include <stdlib.h>

static int espyExample_Replay(const void* bytes, size_t size)
{
    int status = 0;
    for (espyIsa isa = espyIsa_Scalar; isa <= espyIsa_Wasm128; isa = (espyIsa)(isa + 1))
    {
        if (espyIsa_Detect(isa) != isa)
        {
            continue;
        }
        // [replay]
        espyCullReplayDef def = espyCullReplayDef_Default();
        espyCullReplayResult result;
        espyDataError error;
        def.isa = isa;
        if (espyCullReplay_Run(bytes, size, &def, &result, &error) != espyResult_Ok)
        {
            fprintf(stderr, "bad '%s' at byte %llu\n", error.field, (unsigned long long)error.byteOffset);
            return 1;
        }
        printf("%-8s %u calls, %u answered differently\n", espyIsa_GetName(isa), result.calls, result.differing);
        // [replay]
        if (result.differing > 0)
        {
            printf("first: call %u, draw %u\n", result.firstCall, result.firstDraw);
            status = 1;
        }
    }
    return status;
}

int main(int argc, char** argv)
{
    FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char* bytes = end >= 0 ? malloc((size_t)end + 1u) : NULL;
    int status = 1;
    if (bytes && fseek(file, 0, SEEK_SET) == 0 && fread(bytes, 1, (size_t)end, file) == (size_t)end)
    {
        status = espyExample_Replay(bytes, (size_t)end);
    }
    else
    {
        fprintf(stderr, "usage: example_replay_cull RECORD.cull\n");
    }
    free(bytes);
    if (file)
    {
        fclose(file);
    }
    return status;
}
