// SPDX-License-Identifier: MIT
// A console program with the two files of dist/ and nothing else: loads a cooked file and culls a list of draws.
//   powerpc-eabi-gcc main.c espy_pvs.c ...      (devkitPPC; here any compiler does)
// Usage: example_one_file LEVEL.espy X Y Z
#include "espy_pvs.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_FILE (512 * 1024) // The budget that the file was cooked for.
#define MAX_SLOTS 8192

// [one-file]
// On a console the file is usually one block of the level's archive. It is used where it lies.
static _Alignas(ESPY_PVS_ALIGNMENT) uint8_t level[MAX_FILE];
static uint32_t visibleSlots[MAX_SLOTS];

/// Lists the slots that can be seen from the eye. Slots are numbered like the occludee boxes of the file, by which a
/// level's objects were matched when it was loaded.
static uint32_t ListVisible(const espyPvs* pvs, espyVec3 eye)
{
    static uint32_t bits[MAX_SLOTS / 32];
    espyPvs_ReadStaticSet(pvs, espyPvs_FindCell(pvs, eye), bits); // all ones outside of every cell
    return espyBits_ToList(bits, pvs->occludeeCount, visibleSlots);
}
// [one-file]

int main(int argc, char** argv)
{
    FILE* file = argc == 5 ? fopen(argv[1], "rb") : NULL;
    if (!file)
    {
        fprintf(stderr, "usage: %s LEVEL.espy X Y Z\n", argv[0]);
        return 2;
    }
    size_t size = fread(level, 1, sizeof level, file);
    fclose(file);
    espyPvs pvs;
    espyDataError error;
    espyResult result = espyPvs_Load(&pvs, level, size, &error);
    if (result != espyResult_Ok || pvs.occludeeCount > MAX_SLOTS)
    {
        fprintf(stderr, "%s: %s ('%s')\n", argv[1], espyResult_GetName(result), error.field);
        return 1;
    }
    espyVec3 eye = {strtof(argv[2], NULL), strtof(argv[3], NULL), strtof(argv[4], NULL)};
    uint32_t count = ListVisible(&pvs, eye);
    printf("%u of %u objects can be seen\n", (unsigned)count, (unsigned)pvs.occludeeCount);
    return 0;
}
