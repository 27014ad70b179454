// SPDX-License-Identifier: MIT
// The state of a project, shared by its files.
#ifndef ESPYI_PROJECT_INTERNAL_H
#define ESPYI_PROJECT_INTERNAL_H

#include "project.h"

typedef enum espyProjectStepKind
{
    espyProjectStepKind_Flags = 0,
    espyProjectStepKind_Settings,
    espyProjectStepKind_AddArea,
    espyProjectStepKind_MoveArea,
    espyProjectStepKind_RemoveArea,
} espyProjectStepKind;

/// One change, both ways.
typedef struct espyProjectStep
{
    espyProjectStepKind kind;
    espyProjectFlags* before; ///< Flags: count each.
    espyProjectFlags* after;
    uint32_t count;
    espySceneSettings settingsBefore, settingsAfter;
    int32_t node; ///< Areas.
    espyMat4 transformBefore, transformAfter;
    char name[64];
} espyProjectStep;

struct espyProject
{
    char* levelPath;
    char* dataPath;
    espyCliWarnings warnings;
    espyCliLevel level; ///< `gathered` is the cache.
    espyCliData data;
    bool hasData;
    uint64_t revision, gatheredRevision, checkedRevision; ///< Caches hold while theirs is the project's.
    bool checked;                                         ///< The cached check could be made.
    espyBakeCheck check;
    bool editsDirty, dataDirty;
    bool settingsTouched; ///< The settings were edited: they go into the file.
    bool dataFromLevel;   ///< It came from inside the .glb, and goes back there.
    int32_t fileNodes;    ///< Ids below it are nodes of the file.
    int32_t nextId;       ///< Never used so far.
    uint8_t* touched;     ///< For each node of the file: its flags or transform were edited.
    espyProjectStep steps[ESPY_PROJECT_MAX_UNDO];
    uint32_t stepCount, doneCount; ///< Steps kept, and how many of them are done.
};

/// Writes the edits into the level's glTF; `pvs` (may be null) goes inside a .glb as well. Added areas get the ids
/// fileNodes, fileNodes + 1 ... in the order of `areas`.
espyCliExit espyiSave_Gltf(espyProject* project, const espyNodeId* areas, uint32_t areaCount, const void* pvs,
                           size_t pvsSize, espyCliLine* line);
/// Writes the edits beside a level of another format; reads and applies them. Load: Ok where there is no such file.
espyCliExit espyiSave_SideFile(const espyProject* project, espyCliLine* line);
espyCliExit espyiSave_LoadSideFile(espyProject* project, espyCliLine* line);

/// Tells that the level is not what it was.
void espyiProject_Changed(espyProject* project);
/// Makes an area node with this id. Errors: as espyWorld_CreateNode.
espyResult espyiProject_CreateArea(espyProject* project, int32_t node, const char* name, const espyMat4* transform);

#endif
