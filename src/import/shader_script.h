// SPDX-License-Identifier: MIT
// Quake 3 shader scripts, read as far as they decide whether a surface blocks sight.
//
// The table holds the shaders that one map uses; scripts of any size are run over it and only what the map uses is
// kept. Opaque means: the first drawn stage covers every pixel, without blending and without an alpha test. Lightmaps
// multiplied over such a stage change nothing. Doubt (an unfinished or stageless script) is never opaque.
#ifndef ESPYI_SHADER_SCRIPT_H
#define ESPYI_SHADER_SCRIPT_H

#include <espy/mesh.h>

#define ESPYI_SHADER_NAME_SIZE 64

enum
{
    espyiShaderFlag_Scripted = 1 << 0, ///< A script defines it.
    espyiShaderFlag_HasImage = 1 << 1, ///< No script is needed: a plain texture of that name exists.
    espyiShaderFlag_Sky = 1 << 2,
    espyiShaderFlag_NoDraw = 1 << 3,
    espyiShaderFlag_Moves = 1 << 4, ///< deformVertexes moves its vertices at run time.
};

typedef struct espyiShaderInfo
{
    char name[ESPYI_SHADER_NAME_SIZE]; ///< Lower case, forward slashes, no ending.
    uint32_t flags;
    espyMaterialClass material; ///< Opaque until a script says otherwise.
} espyiShaderInfo;

typedef struct espyiShaderTable
{
    espyiShaderInfo* shaders;
    uint32_t* slots; ///< Open addressing: index + 1, 0 is free.
    uint32_t count, capacity, slotMask;
    espyHooks hooks;
} espyiShaderTable;

/// Room for `capacity` shaders. False where memory ran out.
bool espyiShaderTable_Create(espyiShaderTable* table, const espyHooks* hooks, uint32_t capacity);
void espyiShaderTable_Free(espyiShaderTable* table);
/// Adds a name, or finds it again; its index. The table must have room.
uint32_t espyiShaderTable_Want(espyiShaderTable* table, const char* name);
/// The entry of a name of `length` characters as any file spells it, or null.
espyiShaderInfo* espyiShaderTable_Find(const espyiShaderTable* table, const char* name, size_t length);
/// Runs one script file over the table. Where two scripts disagree, the one that blocks less wins.
void espyiShaderTable_AddScript(espyiShaderTable* table, const char* text, size_t size);

#endif
