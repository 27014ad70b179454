// SPDX-License-Identifier: MIT
// The README's first program: loads a .espy file and culls. Usage: example_hello FILE.espy X Y Z
#include <espy/espy.h>
#include <stdio.h>
#include <stdlib.h>

/// The whole file, aligned as espyPvs_Load wants it; null where it cannot be read.
static void* espyHello_Read(const char* path, size_t* outSize)
{
    FILE* file = fopen(path, "rb");
    long end = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    *outSize = end > 0 ? (size_t)end : 0;
    // aligned_alloc takes multiples of the alignment.
    size_t room = (*outSize / ESPY_PVS_ALIGNMENT + 1) * ESPY_PVS_ALIGNMENT;
    void* bytes = end >= 0 ? aligned_alloc(ESPY_PVS_ALIGNMENT, room) : NULL;
    if (bytes && (fseek(file, 0, SEEK_SET) != 0 || fread(bytes, 1, *outSize, file) != *outSize))
    {
        free(bytes);
        bytes = NULL;
    }
    if (file)
    {
        fclose(file);
    }
    return bytes;
}

int main(int argc, char** argv)
{
    if (argc != 5)
    {
        fprintf(stderr, "usage: %s FILE.espy X Y Z\n", argv[0]);
        return 2;
    }
    size_t size;
    void* bytes = espyHello_Read(argv[1], &size);
    if (!bytes)
    {
        fprintf(stderr, "%s: cannot be read\n", argv[1]);
        return 1;
    }
    // [readme]
    espyPvs pvs;
    espyDataError error;
    if (espyPvs_Load(&pvs, bytes, size, &error) != espyResult_Ok) // once; no copy, no allocation
    {
        fprintf(stderr, "%s: bad '%s' at byte %llu\n", argv[1], error.field, (unsigned long long)error.byteOffset);
        free(bytes);
        return 1;
    }
    espyVec3 eye = {strtof(argv[2], NULL), strtof(argv[3], NULL), strtof(argv[4], NULL)};
    int32_t cell = espyPvs_FindCell(&pvs, eye); // every frame: one lookup ...
    for (uint32_t slot = 0; slot < pvs.occludeeCount; ++slot)
    {
        if (espyPvs_TestSlot(&pvs, cell, slot) != espyVisibility_Occluded) // ... and one bit test a draw
        {
            printf("draw node %d\n", (int)espyPvs_GetOccludeeNode(&pvs, slot));
        }
    }
    // [readme]
    free(bytes);
    return 0;
}
