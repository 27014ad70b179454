// SPDX-License-Identifier: MIT
// Edits of a level whose format cannot hold them: LEVEL.espy.json beside it.
//
//     {"espy": 1, "flags": [{"node": 3, "flags": 3}], "settings": {...}, "areas": [{"node": 9, "name": "", "transform":
//     [16 numbers]}]}
#include "file_io.h"
#include "project_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// PAK.pk3:maps/NAME.bsp is no place to write: the colon becomes part of a file's name beside the pak.
static char* espySide_MakePath(const char* levelPath)
{
    size_t length = strlen(levelPath);
    char* path = malloc(length + sizeof ".espy.json");
    if (path)
    {
        snprintf(path, length + sizeof ".espy.json", "%s.espy.json", levelPath);
        char* inside = strstr(path, ".pk3:");
        for (char* c = inside ? inside + 4 : path + length; c < path + length; ++c)
        {
            *c = *c == '/' || *c == ':' ? '_' : *c;
        }
    }
    return path;
}

static json_t* espySide_FromMatrix(const espyMat4* m)
{
    json_t* list = json_array();
    for (int i = 0; i < 16; ++i)
    {
        json_array_append_new(list, espyiCliJson_FromFloat(m->m[i]));
    }
    return list;
}

static json_t* espySide_FromSettings(const espySceneSettings* s)
{
    json_t* o = json_object();
    espyiCliJson_Set(&o, "occlusionCulling", json_boolean(s->occlusionCulling));
    espyiCliJson_Set(&o, "occlusionCellSize", espyiCliJson_FromFloat(s->occlusionCellSize));
    espyiCliJson_Set(&o, "bakeQuality", json_integer(s->bakeQuality));
    espyiCliJson_Set(&o, "dynamicObjects", json_boolean(s->dynamicObjects));
    espyiCliJson_SetCount(&o, "consoleBudgetKB", s->consoleBudgetKB);
    espyiCliJson_Set(&o, "unrollCellSize", espyiCliJson_FromFloat(s->unrollCellSize));
    return o;
}

espyCliExit espyiSave_SideFile(const espyProject* project, espyCliLine* line)
{
    const espyWorld* world = project->level.world;
    json_t* flags = json_array();
    json_t* areas = json_array();
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeDef def;
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        if (espyWorld_GetNode(world, id, &def) != espyResult_Ok || def.sourceId < 0)
        {
            continue;
        }
        json_t* entry = json_object();
        espyiCliJson_Set(&entry, "node", json_integer(def.sourceId));
        if (def.kind == espyNodeKind_OcclusionArea)
        {
            espyiCliJson_Set(&entry, "name", espyiCliJson_FromText(def.name ? def.name : ""));
            espyiCliJson_Set(&entry, "transform", espySide_FromMatrix(&def.local));
            json_array_append_new(areas, entry);
        }
        else
        {
            espyiCliJson_SetCount(&entry, "flags", def.flags);
            json_array_append_new(flags, entry);
        }
    }
    const espySceneSettings settings = espyWorld_GetSettings(world);
    json_t* root = json_object();
    espyiCliJson_Set(&root, "espy", json_integer(1));
    espyiCliJson_Set(&root, "settings", espySide_FromSettings(&settings));
    espyiCliJson_Set(&root, "flags", flags);
    espyiCliJson_Set(&root, "areas", areas);
    char* text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    char* path = espySide_MakePath(project->levelPath);
    espyCliExit status = text && path ? espyiCliFile_Write(path, text, strlen(text), line)
                                      : espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    json_decref(root);
    free(text);
    free(path);
    return status;
}

// --- reading

static bool espySide_ReadMatrix(const json_t* list, espyMat4* out)
{
    bool ok = json_array_size(list) == 16;
    for (size_t i = 0; i < 16 && ok; ++i)
    {
        const json_t* value = json_array_get(list, i);
        out->m[i] = (float)json_number_value(value);
        ok = json_is_number(value) && isfinite(out->m[i]);
    }
    return ok;
}

static void espySide_ReadSettings(espyProject* project, const json_t* o)
{
    espySceneSettings s = espyWorld_GetSettings(project->level.world);
    const json_t* budget = json_object_get(o, "consoleBudgetKB");
    s.occlusionCulling = json_is_true(json_object_get(o, "occlusionCulling"));
    s.occlusionCellSize = (float)json_number_value(json_object_get(o, "occlusionCellSize"));
    s.bakeQuality = (espyBakeQuality)json_integer_value(json_object_get(o, "bakeQuality"));
    s.dynamicObjects = json_is_true(json_object_get(o, "dynamicObjects"));
    s.consoleBudgetKB = json_integer_value(budget) >= 0 && json_integer_value(budget) <= (json_int_t)UINT32_MAX
                            ? (uint32_t)json_integer_value(budget)
                            : s.consoleBudgetKB;
    s.unrollCellSize = (float)json_number_value(json_object_get(o, "unrollCellSize"));
    espyBakeDef def = espyBakeDef_Default();
    def.cellSize = s.occlusionCellSize;
    def.quality = s.bakeQuality;
    if (espyBakeDef_Validate(&def, NULL, 0) == espyResult_Ok && isfinite(s.unrollCellSize) && s.unrollCellSize >= 0.0f)
    {
        espyWorld_SetSettings(project->level.world, &s);
    }
}

/// Applies what fits the level; what does not is skipped, since the level may have changed under it.
static void espySide_Apply(espyProject* project, const json_t* root)
{
    espyWorld* world = project->level.world;
    size_t i;
    const json_t* entry;
    json_array_foreach(json_object_get(root, "flags"), i, entry)
    {
        json_int_t node = json_integer_value(json_object_get(entry, "node"));
        json_int_t flags = json_integer_value(json_object_get(entry, "flags"));
        espyNodeId id =
            node >= 0 && node < project->fileNodes ? espyWorld_FindSource(world, (int32_t)node) : (espyNodeId){0, 0};
        if (id.index1 != 0 && flags >= 0 && flags < 256)
        {
            espyWorld_SetFlags(world, id, (uint32_t)flags);
        }
    }
    json_array_foreach(json_object_get(root, "areas"), i, entry)
    {
        espyMat4 transform;
        const json_t* name = json_object_get(entry, "name");
        if (i < ESPY_PROJECT_MAX_AREAS && espySide_ReadMatrix(json_object_get(entry, "transform"), &transform))
        {
            espyiProject_CreateArea(project, project->nextId++, json_string_value(name), &transform);
        }
    }
    if (json_is_object(json_object_get(root, "settings")))
    {
        espySide_ReadSettings(project, json_object_get(root, "settings"));
    }
}

static bool espySide_AcceptHead(const unsigned char* head, size_t size)
{
    return size > 0 && head[0] == '{';
}

espyCliExit espyiSave_LoadSideFile(espyProject* project, espyCliLine* line)
{
    char* path = strcmp(project->level.report.format, "gltf") != 0 ? espySide_MakePath(project->levelPath) : NULL;
    if (!path || !espyiCliFile_IsRegular(path))
    {
        free(path);
        return espyCliExit_Ok;
    }
    void* bytes = NULL;
    size_t size = 0;
    espyCliExit status = espyiCliFile_Read(path, espySide_AcceptHead, &bytes, &size, line);
    json_error_t error;
    json_t* root = status == espyCliExit_Ok ? json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (status == espyCliExit_Ok && json_integer_value(json_object_get(root, "espy")) != 1)
    {
        status =
            espyiCliLine_Set(line, espyCliExit_BadInput, "%s: is no file of edits: move it away, or restore it", path);
    }
    if (status == espyCliExit_Ok)
    {
        espySide_Apply(project, root);
    }
    json_decref(root);
    free(bytes);
    free(path);
    return status;
}
