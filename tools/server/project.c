// SPDX-License-Identifier: MIT
// Opens and saves a project; keeps what is computed from it until it changes.
#include "project_internal.h"

#include "file_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char* espyProject_Copy(const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/// The level's path with another ending. Of PAK.pk3:maps/NAME.bsp a file beside the pak.
static char* espyProject_MakeDataPath(const char* levelPath)
{
    size_t length = strlen(levelPath);
    char* path = malloc(length + sizeof ".espy");
    if (!path)
    {
        return NULL;
    }
    memcpy(path, levelPath, length + 1);
    for (char* inside = strstr(path, ".pk3:"); inside; inside = NULL)
    {
        const char* name = strrchr(inside, '/');
        name = name ? name + 1 : inside + 5;
        char* folder = strrchr(path, '/');
        folder = folder && folder < inside ? folder + 1 : path;
        memmove(folder, name, strlen(name) + 1);
    }
    char* dot = strrchr(path, '.');
    char* slash = strrchr(path, '/');
    char* end = dot && (!slash || dot > slash) ? dot : path + strlen(path);
    memcpy(end, ".espy", sizeof ".espy");
    return path;
}

static void espyProject_Warn(espyProject* project, const espyCliLine* why)
{
    espyCliLine text;
    espyiCliLine_Set(&text, espyCliExit_Ok, espyMessage_GetText(espyMessageId_BakePreviousUnusable), why->text);
    espyiCliWarnings_Add(&project->warnings, espyMessageId_BakePreviousUnusable, -1, text.text);
}

/// The data that belongs to the level, if any. What is damaged is told and left where it is.
static void espyProject_LoadData(espyProject* project, bool named)
{
    espyCliLine line;
    bool glb = espyiCliFile_HasEnding(project->levelPath, ".glb");
    if (!named && glb && espyiCliData_Load(project->levelPath, &project->data, &line) == espyCliExit_Ok)
    {
        project->hasData = true;
        project->dataFromLevel = true;
        return;
    }
    if (!espyiCliFile_IsRegular(project->dataPath))
    {
        return;
    }
    project->hasData = espyiCliData_Load(project->dataPath, &project->data, &line) == espyCliExit_Ok;
    if (!project->hasData)
    {
        espyProject_Warn(project, &line);
    }
}

static void espyProject_CountIds(espyProject* project)
{
    const espyWorld* world = project->level.world;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeDef def;
        if (espyWorld_GetNode(world, espyWorld_GetNodeAt(world, i), &def) == espyResult_Ok &&
            def.sourceId >= project->nextId && def.sourceId < INT32_MAX)
        {
            project->nextId = def.sourceId + 1;
        }
    }
    project->fileNodes = project->nextId;
}

espyCliExit espyiProject_Open(const char* levelPath, const char* dataPath, espyProject** out, espyCliLine* line)
{
    *out = NULL;
    espyProject* project = calloc(1, sizeof *project);
    if (!project)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    project->revision = 1;
    project->levelPath = espyProject_Copy(levelPath);
    project->dataPath = dataPath ? espyProject_Copy(dataPath) : espyProject_MakeDataPath(levelPath);
    espyCliExit status = project->levelPath && project->dataPath
                             ? espyiCliLevel_Load(levelPath, &project->warnings, &project->level, line)
                             : espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    if (status == espyCliExit_Ok)
    {
        espyProject_CountIds(project);
        project->touched = calloc((size_t)project->fileNodes + 1u, 1);
        status = project->touched ? espyiSave_LoadSideFile(project, line)
                                  : espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    if (status != espyCliExit_Ok)
    {
        espyiProject_Close(project);
        return status;
    }
    espyProject_LoadData(project, dataPath != NULL);
    *out = project;
    return espyCliExit_Ok;
}

void espyiProject_Close(espyProject* project)
{
    if (!project)
    {
        return;
    }
    for (uint32_t i = 0; i < project->stepCount; ++i)
    {
        free(project->steps[i].before);
        free(project->steps[i].after);
    }
    espyiCliData_Free(&project->data);
    espyiCliLevel_Free(&project->level);
    espyiCliWarnings_Free(&project->warnings);
    free(project->touched);
    free(project->levelPath);
    free(project->dataPath);
    free(project);
}

const char* espyiProject_GetLevelPath(const espyProject* project)
{
    return project->levelPath;
}

const char* espyiProject_GetDataPath(const espyProject* project)
{
    return project->dataFromLevel ? project->levelPath : project->dataPath;
}

const char* espyiProject_GetFormat(const espyProject* project)
{
    return project->level.report.format;
}

espyWorld* espyiProject_GetWorld(espyProject* project)
{
    return project->level.world;
}

const espyCliWarnings* espyiProject_GetWarnings(const espyProject* project)
{
    return &project->warnings;
}

uint64_t espyiProject_GetRevision(const espyProject* project)
{
    return project->revision;
}

bool espyiProject_IsDirty(const espyProject* project)
{
    return project->editsDirty || project->dataDirty;
}

// --- data

const espyCliData* espyiProject_GetData(const espyProject* project)
{
    return project->hasData ? &project->data : NULL;
}

static void espyProject_ReplaceData(espyProject* project, const espyCliData* data)
{
    espyiCliData_Free(&project->data);
    project->data = data ? *data : (espyCliData){0};
    project->hasData = data != NULL;
    project->dataDirty = true;
    ++project->revision;
}

espyCliExit espyiProject_SetData(espyProject* project, void* bytes, size_t size, espyCliLine* line)
{
    espyCliData data = {.bytes = bytes, .size = size};
    espyDataError error = {espyResult_Ok, 0, ""};
    if (espyPvs_Load(&data.pvs, bytes, size, &error) != espyResult_Ok)
    {
        free(bytes);
        return espyiCliLine_Set(line, espyCliExit_BadInput, "the data does not load (byte %llu, '%s')",
                                (unsigned long long)error.byteOffset, error.field);
    }
    espyPvs_GetInfo(&data.pvs, &data.info);
    espyProject_ReplaceData(project, &data);
    return espyCliExit_Ok;
}

void espyiProject_ClearData(espyProject* project)
{
    if (project->hasData)
    {
        espyProject_ReplaceData(project, NULL);
    }
}

espyBakeDef espyiProject_GetBakeDef(const espyProject* project)
{
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(project->level.world, &def);
    return def;
}

const espyGathered* espyiProject_Gather(espyProject* project, espyCliLine* line)
{
    if (project->level.gathered && project->gatheredRevision == project->revision)
    {
        return project->level.gathered;
    }
    if (project->level.gathered)
    {
        espyGathered_Destroy(project->level.gathered);
        project->level.gathered = NULL;
    }
    // Its warnings come back with those of the bake, by node.
    espyCliWarnings warnings = {0};
    float cellSize = espyWorld_GetSettings(project->level.world).occlusionCellSize;
    espyCliExit status = espyiCliLevel_Gather(project->levelPath, &project->level, cellSize, &warnings, line);
    espyiCliWarnings_Free(&warnings);
    project->gatheredRevision = project->revision;
    return status == espyCliExit_Ok ? project->level.gathered : NULL;
}

espyGathered* espyiProject_TakeGathered(espyProject* project, espyCliLine* line)
{
    espyGathered* gathered = espyiProject_Gather(project, line) ? project->level.gathered : NULL;
    if (gathered)
    {
        project->level.gathered = NULL;
    }
    return gathered;
}

/// Settings that the data was baked with, and those of the level where the level decides (as `espy check` has it).
static espyBakeDef espyProject_GetCheckDef(const espyProject* project)
{
    espyBakeDef def = espyiCliData_GetSettings(&project->data);
    espyBakeDef own = espyiProject_GetBakeDef(project);
    def.quality = def.levelSettings & espyBakeSetting_Quality ? own.quality : def.quality;
    def.cellSize = def.levelSettings & espyBakeSetting_CellSize ? own.cellSize : def.cellSize;
    def.dynamicObjects = def.levelSettings & espyBakeSetting_DynamicObjects ? own.dynamicObjects : def.dynamicObjects;
    return def;
}

bool espyiProject_Check(espyProject* project, espyBakeCheck* out)
{
    if (!project->hasData)
    {
        return false;
    }
    if (project->checkedRevision != project->revision)
    {
        espyCliLine line;
        const espyGathered* gathered = espyiProject_Gather(project, &line);
        espyBakeDef def = espyProject_GetCheckDef(project);
        project->checked = gathered && espyBake_Check(espyGathered_GetInput(gathered), &def, project->data.bytes,
                                                      project->data.size, &project->check) == espyResult_Ok;
        project->checkedRevision = project->revision;
    }
    *out = project->check;
    return project->checked;
}

// --- disk

static int espyProject_CompareAreas(const void* a, const void* b)
{
    int32_t x = ((const espyProjectFlags*)a)->node, y = ((const espyProjectFlags*)b)->node;
    return x < y ? -1 : x > y;
}

/// Areas that are not in the file yet, by id.
static espyNodeId* espyProject_ListAdded(const espyProject* project, uint32_t* count)
{
    const espyWorld* world = project->level.world;
    espyProjectFlags ids[ESPY_PROJECT_MAX_AREAS];
    *count = 0;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world) && *count < ESPY_PROJECT_MAX_AREAS; ++i)
    {
        espyNodeDef def;
        if (espyWorld_GetNode(world, espyWorld_GetNodeAt(world, i), &def) == espyResult_Ok &&
            def.kind == espyNodeKind_OcclusionArea && def.sourceId >= project->fileNodes)
        {
            ids[(*count)++].node = def.sourceId;
        }
    }
    qsort(ids, *count, sizeof ids[0], espyProject_CompareAreas);
    espyNodeId* areas = calloc(*count + 1u, sizeof *areas);
    for (uint32_t i = 0; areas && i < *count; ++i)
    {
        areas[i] = espyWorld_FindSource(world, ids[i].node);
    }
    return areas;
}

static void espyProject_Remap(espyProject* project, int32_t from, int32_t to)
{
    for (uint32_t i = 0; i < project->stepCount; ++i)
    {
        espyProjectStep* step = &project->steps[i];
        step->node = step->kind >= espyProjectStepKind_AddArea && step->node == from ? to : step->node;
        for (uint32_t k = 0; k < step->count; ++k)
        {
            step->before[k].node = step->before[k].node == from ? to : step->before[k].node;
            step->after[k].node = step->after[k].node == from ? to : step->after[k].node;
        }
    }
}

/// Added areas are nodes of the file now: they take the ids that they have there, and steps that spoke of them or of a
/// removed area with such an id follow.
static bool espyProject_Renumber(espyProject* project, const espyNodeId* areas, uint32_t count)
{
    uint8_t* touched = realloc(project->touched, (size_t)project->fileNodes + count + 1u);
    if (!touched)
    {
        return false;
    }
    project->touched = touched;
    memset(touched, 0, (size_t)project->fileNodes + count + 1u);
    bool ok = true;
    for (uint32_t i = 0; i < count && ok; ++i)
    {
        espyNodeDef def;
        int32_t id = project->fileNodes + (int32_t)i;
        ok = espyWorld_GetNode(project->level.world, areas[i], &def) == espyResult_Ok;
        if (ok && def.sourceId != id)
        {
            char name[64];
            snprintf(name, sizeof name, "%s", def.name ? def.name : "");
            const espyMat4 transform = def.local;
            espyProject_Remap(project, id, project->nextId++);
            espyProject_Remap(project, def.sourceId, id);
            espyWorld_DestroyNode(project->level.world, areas[i]);
            ok = espyiProject_CreateArea(project, id, name, &transform) == espyResult_Ok;
        }
    }
    project->fileNodes += (int32_t)count;
    return ok;
}

static espyCliExit espyProject_SaveEdits(espyProject* project, const void* pvs, size_t pvsSize, espyCliLine* line)
{
    if (strcmp(project->level.report.format, "gltf") != 0)
    {
        return espyiSave_SideFile(project, line);
    }
    uint32_t count;
    espyNodeId* areas = espyProject_ListAdded(project, &count);
    if (!areas)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    espyCliExit status = espyiSave_Gltf(project, areas, count, pvs, pvsSize, line);
    if (status == espyCliExit_Ok && !espyProject_Renumber(project, areas, count))
    {
        status = espyiCliLine_Set(line, espyCliExit_Environment, "out of memory after saving: open the level again");
    }
    free(areas);
    return status;
}

espyCliExit espyiProject_Save(espyProject* project, bool embed, espyCliLine* line)
{
    bool glb = espyiCliFile_HasEnding(project->levelPath, ".glb");
    if (embed && !glb)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s: data can be inside a .glb alone: save it beside the level", project->levelPath);
    }
    embed = embed || project->dataFromLevel;
    const void* inside = embed && project->hasData ? project->data.bytes : NULL;
    espyCliExit status = espyCliExit_Ok;
    // Edits first: data without the flags that it was baked with would be stale.
    if (project->editsDirty || (embed && project->dataDirty))
    {
        status = espyProject_SaveEdits(project, inside, inside ? project->data.size : 0, line);
        if (status != espyCliExit_Ok)
        {
            return status;
        }
        project->editsDirty = false;
    }
    if (project->dataDirty && !embed && project->hasData)
    {
        status = espyiCliFile_Write(project->dataPath, project->data.bytes, project->data.size, line);
    }
    else if (project->dataDirty && !embed && espyiCliFile_IsRegular(project->dataPath) &&
             remove(project->dataPath) != 0)
    {
        status = espyiCliLine_Set(line, espyCliExit_Environment, "%s: cannot be removed", project->dataPath);
    }
    project->dataFromLevel = status == espyCliExit_Ok ? embed && project->hasData : project->dataFromLevel;
    project->dataDirty = status == espyCliExit_Ok ? false : project->dataDirty;
    ++project->revision;
    return status;
}
