// SPDX-License-Identifier: MIT
// Any bytes as a Quake 3 map: loads, or is refused with one line.
#include <espy/import.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    espyImportDef def = espyImportDef_Default();
    def.maxMemoryBytes = (size_t)64 << 20;
    espyWorld* world = NULL;
    espyImportReport report;
    espyResult result = espyImport_LoadBsp(data, size, &def, &world, &report);
    if ((result == espyResult_Ok) != (world != NULL) || (result == espyResult_Ok) != (report.message[0] == '\0'))
    {
        abort();
    }
    for (uint32_t i = 0; world && i < espyWorld_GetNodeCount(world); ++i)
    {
        espyWorld_GetWorldBounds(world, espyWorld_GetNodeAt(world, i));
    }
    espyWorld_Destroy(world);
    return 0;
}
