// SPDX-License-Identifier: MIT
// Finds shader scripts and plain textures in a folder: its pk3 archives and its loose files.
#ifndef ESPYI_SHADER_SEARCH_H
#define ESPYI_SHADER_SEARCH_H

#include "import/import_common.h"
#include "import/shader_script.h"

/// Runs every script of FOLDER/*.pk3 (scripts/NAME.shader) and of FOLDER/scripts over the table, and marks shaders for
/// which a plain texture exists. As in the game, a script of the same path in a later pk3 by name replaces the earlier
/// one, and pk3 files replace loose ones. What cannot be read costs a warning each.
espyResult espyiShaderSearch_Folder(espyiImport* import, const char* folder, espyiShaderTable* table);

/// Writes the folder of a file's path ("." where it names none) into `out`; false where it does not fit.
bool espyiPath_Folder(const char* path, char* out, size_t size);

#endif
