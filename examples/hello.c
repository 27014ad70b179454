// SPDX-License-Identifier: MIT
// The README's first program: loads a .espy file and culls. Usage: example_hello FILE.espy X Y Z
#include <espy/espy.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
    if (argc != 5)
    {
        fprintf(stderr, "usage: %s FILE.espy X Y Z\n", argv[0]);
        return 2;
    }
    // [readme]
    static _Alignas(ESPY_PVS_ALIGNMENT) unsigned char bytes[1 << 22];
    FILE* file = fopen(argv[1], "rb");
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;

    espyPvs pvs;
    espyDataError error;
    if (espyPvs_Load(&pvs, bytes, size, &error) != espyResult_Ok) // once; no copy, no allocation
    {
        fprintf(stderr, "%s: bad '%s' at byte %llu\n", argv[1], error.field, (unsigned long long)error.byteOffset);
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
    if (file)
    {
        fclose(file);
    }
    return 0;
}
