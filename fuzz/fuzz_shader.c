// SPDX-License-Identifier: MIT
// Any bytes as a Quake 3 shader script.
#include "core/core.h"
#include "import/shader_script.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiShaderTable table;
    if (!espyiShaderTable_Create(&table, &hooks, 2))
    {
        return 0;
    }
    espyiShaderTable_Want(&table, "textures/a/b");
    espyiShaderTable_Want(&table, "a");
    espyiShaderTable_AddScript(&table, (const char*)data, size);
    for (uint32_t i = 0; i < table.count; ++i)
    {
        bool scripted = table.shaders[i].flags & espyiShaderFlag_Scripted;
        if (table.shaders[i].material > espyMaterialClass_Additive ||
            (!scripted && (table.shaders[i].flags != 0 || table.shaders[i].material != espyMaterialClass_Opaque)))
        {
            abort();
        }
    }
    espyiShaderTable_Free(&table);
    return 0;
}
