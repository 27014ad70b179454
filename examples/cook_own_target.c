// SPDX-License-Identifier: MIT
// Cooks a baked file for a machine that espy does not know. Usage: example_cook_own_target LEVEL.espy OUT.espy
#include <espy/cook.h>
#include <stdio.h>
#include <stdlib.h>

static bool espyExample_Cook(const void* bytes, size_t size, FILE* to)
{
    // [cook]
    espyCookDef def = espyCookDef_Default();
    def.target = (espyCookTarget){.name = "n64", .byteOrder = espyByteOrder_Big, .isConsole = true};
    def.budgetKB = 64;
    espyCookResult cooked;
    bool done = espyCook_Run(bytes, size, &def, &cooked) == espyResult_Ok &&
                fwrite(cooked.data, 1, cooked.size, to) == cooked.size;
    for (uint32_t i = 0; i < cooked.report.stepCount; ++i)
    {
        const espyCookStep* step = &cooked.report.steps[i];
        printf("%s: %zu bytes, %llu pairs became visible\n", espyCookStep_GetName(step->kind), step->bytes,
               (unsigned long long)step->pairs);
    }
    espyCook_Free(&cooked);
    // [cook]
    return done;
}

int main(int argc, char** argv)
{
    FILE* from = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE* to = from ? fopen(argv[2], "wb") : NULL;
    const size_t room = (size_t)64 << 20;
    void* bytes = to ? malloc(room) : NULL;
    bool done = bytes && espyExample_Cook(bytes, fread(bytes, 1, room, from), to);
    free(bytes);
    if (from)
    {
        fclose(from);
    }
    if (to)
    {
        done = fclose(to) == 0 && done;
    }
    if (!done)
    {
        fprintf(stderr, "usage: %s LEVEL.espy OUT.espy\n", argv[0]);
    }
    return done ? 0 : 1;
}
