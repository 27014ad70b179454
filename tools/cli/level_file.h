// SPDX-License-Identifier: MIT
// The two inputs of the commands: a level, and visibility data as a file of its own or inside a .glb.
#ifndef ESPYI_LEVEL_FILE_H
#define ESPYI_LEVEL_FILE_H

#include "cli_text.h"

#include <espy/editor.h>
#include <espy/import.h>

/// A level that was read. Free with espyiCliLevel_Free.
typedef struct espyCliLevel
{
    espyWorld* world;
    espyGathered* gathered;
    espyImportReport report;
} espyCliLevel;

/// Checks that the level is there before anything else is done ("-" always is). Of PAK.pk3:maps/NAME.bsp the pak is
/// checked.
espyCliExit espyiCliLevel_CheckInput(const char* path, espyCliLine* line);
/// True where the file `other` is the level itself (or the pak that holds it).
bool espyiCliLevel_IsSameFile(const char* path, const char* other);

/// Reads a level by ending and content; "-" is standard input, told apart by content (glTF or Quake 3).
espyCliExit espyiCliLevel_Load(const char* path, espyCliWarnings* warnings, espyCliLevel* out, espyCliLine* line);
/// Fills `gathered`, with instanced nodes unrolled as a bake with this cell size does it.
espyCliExit espyiCliLevel_Gather(const char* path, espyCliLevel* level, float cellSize, espyCliWarnings* warnings,
                                 espyCliLine* line);
void espyiCliLevel_Free(espyCliLevel* level);

/// Name of the node with this id, or "" where it has none.
const char* espyiCliLevel_GetNodeName(const espyCliLevel* level, int32_t node);

/// Visibility data, validated, aligned and in this machine's byte order. Free with espyiCliData_Free.
typedef struct espyCliData
{
    void* bytes; ///< The data alone.
    size_t size;
    espyPvs pvs;
    espyPvsInfo info;
    bool embedded;         ///< It was inside a .glb.
    bool foreignByteOrder; ///< It was of the other byte order.
} espyCliData;

/// Reads OUT.espy, or a .glb that carries such data; "-" is standard input.
espyCliExit espyiCliData_Load(const char* path, espyCliData* out, espyCliLine* line);
void espyiCliData_Free(espyCliData* data);

/// The settings that the data was baked with, as far as a file tells, over the defaults.
espyBakeDef espyiCliData_GetSettings(const espyCliData* data);

#endif
