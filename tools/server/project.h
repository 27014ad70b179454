// SPDX-License-Identifier: MIT
// What the server edits: a level, its baked data, the settings, and what can be undone.
//
// Nothing here knows of HTTP or JSON. One thread at a time; a bake works on a copy of its own (bake_job.h).
#ifndef ESPYI_PROJECT_H
#define ESPYI_PROJECT_H

#include "level_file.h"

/// Changes that can be undone.
#define ESPY_PROJECT_MAX_UNDO 256u
/// Areas that a level can be given.
#define ESPY_PROJECT_MAX_AREAS 1024u

typedef struct espyProject espyProject;

/// Flags of one node, for a change of many.
typedef struct espyProjectFlags
{
    int32_t node; ///< Source id.
    uint32_t flags;
} espyProjectFlags;

/// Reads the level, its side file of edits if there is one, and the data if there is any. `dataPath` null: the data
/// inside a .glb, else the level's name with the ending .espy. Data that is damaged is a warning; the level opens.
espyCliExit espyiProject_Open(const char* levelPath, const char* dataPath, espyProject** out, espyCliLine* line);
void espyiProject_Close(espyProject* project);

const char* espyiProject_GetLevelPath(const espyProject* project);
const char* espyiProject_GetDataPath(const espyProject* project);
const char* espyiProject_GetFormat(const espyProject* project);
espyWorld* espyiProject_GetWorld(espyProject* project);
const espyCliWarnings* espyiProject_GetWarnings(const espyProject* project);
/// Grows with every change of the level or the data: what was fetched under another number is out of date.
uint64_t espyiProject_GetRevision(const espyProject* project);
/// True where something is not on disk yet.
bool espyiProject_IsDirty(const espyProject* project);

// --- data

/// The baked data; null where there is none.
const espyCliData* espyiProject_GetData(const espyProject* project);
/// Takes bytes of malloc over as the data. They are freed, and the old data kept, where they do not load.
espyCliExit espyiProject_SetData(espyProject* project, void* bytes, size_t size, espyCliLine* line);
/// Drops the data. The file stays until the next save.
void espyiProject_ClearData(espyProject* project);
/// How the data relates to the level as it is. Cached for a revision. False where there is no data or it cannot be
/// told.
bool espyiProject_Check(espyProject* project, espyBakeCheck* out);
/// The input of a bake of the level as it is; null with the line where it cannot be gathered. Borrowed until the next
/// change. Cached for a revision.
const espyGathered* espyiProject_Gather(espyProject* project, espyCliLine* line);
/// Gives that input away: the project makes another when it needs one.
espyGathered* espyiProject_TakeGathered(espyProject* project, espyCliLine* line);
/// Settings of a bake of this level.
espyBakeDef espyiProject_GetBakeDef(const espyProject* project);

// --- edits; each is one step of undo, or nothing where it changes nothing

/// Sets the flags of nodes. All or none: BadInput for a node that is none.
espyCliExit espyiProject_SetFlags(espyProject* project, const espyProjectFlags* flags, uint32_t count,
                                  espyCliLine* line);
/// BadInput where a value is out of range.
espyCliExit espyiProject_SetSettings(espyProject* project, const espySceneSettings* settings, espyCliLine* line);
/// Adds an area: the cube -0.5..0.5 under `transform`. *outNode is its id.
espyCliExit espyiProject_AddArea(espyProject* project, const espyMat4* transform, const char* name, int32_t* outNode,
                                 espyCliLine* line);
espyCliExit espyiProject_MoveArea(espyProject* project, int32_t node, const espyMat4* transform, espyCliLine* line);
espyCliExit espyiProject_RemoveArea(espyProject* project, int32_t node, espyCliLine* line);

bool espyiProject_CanUndo(const espyProject* project);
bool espyiProject_CanRedo(const espyProject* project);
/// False where there is nothing to undo, or memory runs out (then nothing changes).
bool espyiProject_Undo(espyProject* project);
bool espyiProject_Redo(espyProject* project);

// --- disk

/// Writes what changed: edits into the level's own glTF (or its side file), data to the data path or, where it came
/// from inside a .glb or `embed` is set, into that. Each file is written beside and renamed; what was on disk stays
/// where a write fails. Data that was cleared is removed from disk.
espyCliExit espyiProject_Save(espyProject* project, bool embed, espyCliLine* line);

#endif
