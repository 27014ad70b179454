// SPDX-License-Identifier: MIT
// The edits of a project, each with the way back.
#include "project_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static espyCliExit espyEdit_NoMemory(espyCliLine* line)
{
    return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
}

void espyiProject_Changed(espyProject* project)
{
    ++project->revision;
    project->editsDirty = true;
}

static void espyEdit_Touch(espyProject* project, int32_t node)
{
    if (node >= 0 && node < project->fileNodes)
    {
        project->touched[node] = 1;
    }
}

espyResult espyiProject_CreateArea(espyProject* project, int32_t node, const char* name, const espyMat4* transform)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_OcclusionArea;
    def.local = *transform;
    def.sourceId = node;
    def.name = name;
    espyNodeId id;
    return espyWorld_CreateNode(project->level.world, &def, &id);
}

// --- doing and undoing

static bool espyEdit_ApplyFlags(espyProject* project, const espyProjectFlags* flags, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        espyNodeId id = espyWorld_FindSource(project->level.world, flags[i].node);
        espyWorld_SetFlags(project->level.world, id, flags[i].flags);
        espyEdit_Touch(project, flags[i].node);
    }
    return true;
}

/// An area's transform in the world becomes `transform`, whatever its parents do.
static bool espyEdit_PlaceArea(espyProject* project, int32_t node, const espyMat4* transform)
{
    espyWorld* world = project->level.world;
    espyNodeId id = espyWorld_FindSource(world, node);
    espyNodeDef def;
    if (espyWorld_GetNode(world, id, &def) != espyResult_Ok)
    {
        return false;
    }
    espyMat4 local = *transform, inverse;
    if (def.parent.index1 != 0)
    {
        if (!espyMat4_InvertAffine(espyWorld_GetWorldTransform(world, def.parent), &inverse))
        {
            return false;
        }
        local = espyMat4_Multiply(inverse, *transform);
    }
    espyEdit_Touch(project, node);
    return espyWorld_SetLocalTransform(world, id, local) == espyResult_Ok;
}

static bool espyEdit_Apply(espyProject* project, const espyProjectStep* step, bool forward)
{
    espyProjectStepKind kind = step->kind;
    if (kind == espyProjectStepKind_Flags)
    {
        return espyEdit_ApplyFlags(project, forward ? step->after : step->before, step->count);
    }
    if (kind == espyProjectStepKind_Settings)
    {
        espyWorld_SetSettings(project->level.world, forward ? &step->settingsAfter : &step->settingsBefore);
        project->settingsTouched = true;
        return true;
    }
    if (kind == espyProjectStepKind_MoveArea)
    {
        return espyEdit_PlaceArea(project, step->node, forward ? &step->transformAfter : &step->transformBefore);
    }
    if ((kind == espyProjectStepKind_AddArea) == forward)
    {
        return espyiProject_CreateArea(project, step->node, step->name, &step->transformAfter) == espyResult_Ok;
    }
    return espyWorld_DestroyNode(project->level.world, espyWorld_FindSource(project->level.world, step->node)) ==
           espyResult_Ok;
}

static void espyEdit_FreeStep(espyProjectStep* step)
{
    free(step->before);
    free(step->after);
    *step = (espyProjectStep){0};
}

/// Does a step and keeps it; steps that were undone before are forgotten, and the oldest where there are too many.
static espyCliExit espyEdit_Do(espyProject* project, espyProjectStep* step, espyCliLine* line)
{
    if (!espyEdit_Apply(project, step, true))
    {
        espyEdit_FreeStep(step);
        return espyEdit_NoMemory(line);
    }
    while (project->stepCount > project->doneCount)
    {
        espyEdit_FreeStep(&project->steps[--project->stepCount]);
    }
    if (project->stepCount == ESPY_PROJECT_MAX_UNDO)
    {
        espyEdit_FreeStep(&project->steps[0]);
        memmove(project->steps, project->steps + 1, (ESPY_PROJECT_MAX_UNDO - 1u) * sizeof project->steps[0]);
        --project->stepCount;
    }
    project->steps[project->stepCount++] = *step;
    project->doneCount = project->stepCount;
    espyiProject_Changed(project);
    return espyCliExit_Ok;
}

bool espyiProject_CanUndo(const espyProject* project)
{
    return project->doneCount > 0;
}

bool espyiProject_CanRedo(const espyProject* project)
{
    return project->doneCount < project->stepCount;
}

bool espyiProject_Undo(espyProject* project)
{
    if (project->doneCount == 0 || !espyEdit_Apply(project, &project->steps[project->doneCount - 1], false))
    {
        return false;
    }
    --project->doneCount;
    espyiProject_Changed(project);
    return true;
}

bool espyiProject_Redo(espyProject* project)
{
    if (project->doneCount == project->stepCount || !espyEdit_Apply(project, &project->steps[project->doneCount], true))
    {
        return false;
    }
    ++project->doneCount;
    espyiProject_Changed(project);
    return true;
}

// --- the edits

espyCliExit espyiProject_SetFlags(espyProject* project, const espyProjectFlags* flags, uint32_t count,
                                  espyCliLine* line)
{
    const espyWorld* world = project->level.world;
    espyProjectStep step = {.kind = espyProjectStepKind_Flags};
    step.before = calloc(count + 1u, sizeof *step.before);
    step.after = calloc(count + 1u, sizeof *step.after);
    if (!step.before || !step.after)
    {
        espyEdit_FreeStep(&step);
        return espyEdit_NoMemory(line);
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        espyNodeId id = espyWorld_FindSource(world, flags[i].node);
        if (id.index1 == 0)
        {
            espyEdit_FreeStep(&step);
            return espyiCliLine_Set(line, espyCliExit_BadInput, "there is no node %d", (int)flags[i].node);
        }
        uint32_t before = espyWorld_GetFlags(world, id);
        if (before != flags[i].flags)
        {
            step.before[step.count] = (espyProjectFlags){flags[i].node, before};
            step.after[step.count++] = flags[i];
        }
    }
    if (step.count == 0)
    {
        espyEdit_FreeStep(&step);
        return espyCliExit_Ok;
    }
    return espyEdit_Do(project, &step, line);
}

static const char* espyEdit_CheckSettings(const espySceneSettings* s)
{
    espyBakeDef def = espyBakeDef_Default();
    static char message[256];
    def.cellSize = s->occlusionCellSize;
    def.quality = s->bakeQuality;
    def.consoleBudgetKB = s->consoleBudgetKB;
    if (espyBakeDef_Validate(&def, message, sizeof message) != espyResult_Ok)
    {
        return message;
    }
    return isfinite(s->unrollCellSize) && s->unrollCellSize >= 0.0f ? NULL : "unrollCellSize must be 0 or more metres";
}

espyCliExit espyiProject_SetSettings(espyProject* project, const espySceneSettings* settings, espyCliLine* line)
{
    const char* fault = espyEdit_CheckSettings(settings);
    if (fault)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s", fault);
    }
    espyProjectStep step = {.kind = espyProjectStepKind_Settings, .settingsAfter = *settings};
    step.settingsBefore = espyWorld_GetSettings(project->level.world);
    const espySceneSettings* b = &step.settingsBefore;
    bool same = b->occlusionCulling == settings->occlusionCulling &&
                b->occlusionCellSize == settings->occlusionCellSize && b->bakeQuality == settings->bakeQuality &&
                b->dynamicObjects == settings->dynamicObjects && b->consoleBudgetKB == settings->consoleBudgetKB &&
                b->unrollCellSize == settings->unrollCellSize;
    return same ? espyCliExit_Ok : espyEdit_Do(project, &step, line);
}

/// Areas have a volume and are where a bake can be.
static espyCliExit espyEdit_CheckTransform(const espyMat4* transform, espyCliLine* line)
{
    const espyBox unit = {{-0.5f, -0.5f, -0.5f}, {0.5f, 0.5f, 0.5f}};
    espyBox box = espyMat4_TransformBox(*transform, unit);
    const float most = ESPY_BAKE_MAX_COORDINATE;
    espyMat4 inverse;
    if (!espyMat4_IsFinite(*transform) || !espyMat4_InvertAffine(*transform, &inverse))
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "the area has no volume: every side must be above 0");
    }
    if (box.min.x < -most || box.min.y < -most || box.min.z < -most || box.max.x > most || box.max.y > most ||
        box.max.z > most)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "the area reaches beyond %g m from the origin",
                                (double)most);
    }
    return espyCliExit_Ok;
}

static uint32_t espyEdit_CountAreas(const espyWorld* world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeDef def;
        count += espyWorld_GetNode(world, espyWorld_GetNodeAt(world, i), &def) == espyResult_Ok &&
                 def.kind == espyNodeKind_OcclusionArea;
    }
    return count;
}

espyCliExit espyiProject_AddArea(espyProject* project, const espyMat4* transform, const char* name, int32_t* outNode,
                                 espyCliLine* line)
{
    espyCliExit status = espyEdit_CheckTransform(transform, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    if (espyEdit_CountAreas(project->level.world) >= ESPY_PROJECT_MAX_AREAS || project->nextId == INT32_MAX)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "there are %u areas already: remove some",
                                ESPY_PROJECT_MAX_AREAS);
    }
    espyProjectStep step = {.kind = espyProjectStepKind_AddArea, .node = project->nextId, .transformAfter = *transform};
    snprintf(step.name, sizeof step.name, "%s", name ? name : "Occlusion Area");
    status = espyEdit_Do(project, &step, line);
    if (status == espyCliExit_Ok)
    {
        *outNode = project->nextId++;
    }
    return status;
}

/// The area, its transform and name; BadInput for anything else.
static espyCliExit espyEdit_FindArea(const espyProject* project, int32_t node, espyProjectStep* step, espyMat4* world,
                                     espyCliLine* line)
{
    espyNodeId id = espyWorld_FindSource(project->level.world, node);
    espyNodeDef def;
    if (id.index1 == 0 || espyWorld_GetNode(project->level.world, id, &def) != espyResult_Ok ||
        def.kind != espyNodeKind_OcclusionArea)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "node %d is no Occlusion Area", (int)node);
    }
    step->node = node;
    snprintf(step->name, sizeof step->name, "%s", def.name ? def.name : "");
    *world = espyWorld_GetWorldTransform(project->level.world, id);
    return espyCliExit_Ok;
}

espyCliExit espyiProject_MoveArea(espyProject* project, int32_t node, const espyMat4* transform, espyCliLine* line)
{
    espyProjectStep step = {.kind = espyProjectStepKind_MoveArea, .transformAfter = *transform};
    espyCliExit status = espyEdit_FindArea(project, node, &step, &step.transformBefore, line);
    status = status == espyCliExit_Ok ? espyEdit_CheckTransform(transform, line) : status;
    bool same = memcmp(&step.transformBefore, transform, sizeof *transform) == 0;
    return status != espyCliExit_Ok || same ? status : espyEdit_Do(project, &step, line);
}

espyCliExit espyiProject_RemoveArea(espyProject* project, int32_t node, espyCliLine* line)
{
    espyProjectStep step = {.kind = espyProjectStepKind_RemoveArea};
    espyCliExit status = espyEdit_FindArea(project, node, &step, &step.transformAfter, line);
    return status == espyCliExit_Ok ? espyEdit_Do(project, &step, line) : status;
}
