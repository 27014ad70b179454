// SPDX-License-Identifier: MIT
// Prints what a file answers, on machines with a C library. Usage: answers FILE.espy POINTS
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers.h"

int main(int argc, char** argv)
{
    static _Alignas(ESPY_PVS_ALIGNMENT) uint8_t bytes[1 << 20];
    FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (!file || size == sizeof bytes)
    {
        fprintf(stderr, "usage: %s FILE.espy POINTS (files below 1 MB)\n", argv[0]);
        return 2;
    }
    fclose(file);
    espyPvs pvs;
    espyDataError error;
    if (espyPvs_Load(&pvs, bytes, size, &error) != espyResult_Ok)
    {
        fprintf(stderr, "%s: %s at %" PRIu64 ", '%s'\n", argv[1], espyResult_GetName(error.result), error.byteOffset,
                error.field);
        return 1;
    }
    espyTargetAnswers answers;
    espyTargetAnswers_Ask(&pvs, (uint32_t)strtoul(argv[2], NULL, 10), &answers);
    printf("%016" PRIx64 " %u cells %u occludees %u inside %u hidden %u boxes hidden\n", answers.hash,
           (unsigned)answers.cells, (unsigned)answers.occludees, (unsigned)answers.inside, (unsigned)answers.hidden,
           (unsigned)answers.boxesHidden);
    return 0;
}
