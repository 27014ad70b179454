// SPDX-License-Identifier: MIT
// Any bytes as a glTF file: loading, gathering and finding embedded data end well.
#include <espy/editor.h>
#include <espy/import.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    espyImportDef def = espyImportDef_Default();
    espyImportReport report;
    espyWorld* world;
    const void* pvs;
    size_t pvsSize;
    def.maxMemoryBytes = (size_t)256 << 20;
    if (espyImport_LoadGltf(data, size, &def, &world, &report) == espyResult_Ok)
    {
        espyGathered* gathered;
        if (espyEditor_Gather(world, 4.0f, 0.0f, NULL, &gathered) == espyResult_Ok)
        {
            espyGathered_Destroy(gathered);
        }
        espyWorld_Destroy(world);
    }
    else if (report.message[0] == '\0')
    {
        // A refusal without a word.
        abort();
    }
    espyImport_FindEmbedded(data, size, &pvs, &pvsSize);
    return 0;
}
