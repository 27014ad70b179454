// SPDX-License-Identifier: MIT
// A decoded Quake 3 map into the world of an import job.
//
// Objects: drawn faces of the world (model 0) are grouped by shader and by the 512-unit block that holds the middle of
// the face's box, block = floor(middle / 512) on each of Quake's axes; ordered by shader, then block z, y, x. A face
// is never cut. Each brush model that an entity names follows as one dynamic object, then the cameras.
#ifndef ESPYI_BSP_WORLD_H
#define ESPYI_BSP_WORLD_H

#include "import/bsp_read.h"
#include "import/import_common.h"
#include "import/shader_script.h"

#define ESPYI_BSP_BLOCK 512.0f

/// Fills the table with the names of the map's shaders; index i of the map becomes entries[i] of the table.
espyResult espyiBspWorld_WantShaders(espyiImport* import, const espyiBsp* bsp, espyiShaderTable* table,
                                     uint32_t** entries);
/// Builds every node. `entries` is what espyiBspWorld_WantShaders gave.
espyResult espyiBspWorld_Build(espyiImport* import, const espyiBsp* bsp, const espyiShaderTable* table,
                               const uint32_t* entries);

#endif
