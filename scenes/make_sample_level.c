// SPDX-License-Identifier: MIT
// Writes the sample level that the project ships: make_sample_level OUT.glb
#include "scenes/scenes.h"

#include <espy/import.h>

#include <stdio.h>

int main(int argc, char** argv)
{
    if (argc != 2)
    {
        fprintf(stderr, "usage: make_sample_level OUT.glb\n");
        return 2;
    }
    espyWorld* world = NULL;
    espyImportReport report = {0};
    espyResult result = espyScene_BuildSample(1, &world);
    if (result == espyResult_Ok)
    {
        result = espyImport_SaveGlb(world, argv[1], NULL, 0, &report);
    }
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "make_sample_level: %s\n", report.message[0] ? report.message : espyResult_GetName(result));
    }
    espyWorld_Destroy(world);
    return result == espyResult_Ok ? 0 : 4;
}
