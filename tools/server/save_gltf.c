// SPDX-License-Identifier: MIT
// Writes a project's edits into the level's own glTF. All else in the file stays: the JSON is read as a tree, changed
// where an edit says so, and written again in its order; buffers are copied.
#include "file_io.h"
#include "project_internal.h"

#include <stdlib.h>
#include <string.h>

#define ESPY_GLB_MAGIC 0x46546C67u
#define ESPY_GLB_JSON 0x4E4F534Au

typedef struct espySaveFile
{
    unsigned char* bytes;
    size_t size;
    bool glb;
    const char* text; ///< The JSON.
    size_t textSize;
    size_t restOffset; ///< Of a .glb: what follows the JSON chunk.
    json_t* root;
} espySaveFile;

static uint32_t espySave_Read32(const unsigned char* bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void espySave_Write32(unsigned char* bytes, size_t value)
{
    for (int i = 0; i < 4; ++i)
    {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
}

static bool espySave_AcceptAll(const unsigned char* head, size_t size)
{
    (void)head, (void)size;
    return true;
}

static espyCliExit espySave_Load(const char* path, espySaveFile* file, espyCliLine* line)
{
    void* bytes;
    espyCliExit status = espyiCliFile_Read(path, espySave_AcceptAll, &bytes, &file->size, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    file->bytes = bytes;
    file->text = bytes;
    file->textSize = file->size;
    file->glb = file->size >= 20 && espySave_Read32(file->bytes) == ESPY_GLB_MAGIC;
    if (file->glb)
    {
        file->textSize = espySave_Read32(file->bytes + 12);
        file->text += 20;
        if (espySave_Read32(file->bytes + 16) != ESPY_GLB_JSON || file->textSize > file->size - 20)
        {
            return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: is not the .glb any more that was opened", path);
        }
        file->restOffset = 20 + file->textSize;
    }
    json_error_t error;
    file->root = json_loadb(file->text, file->textSize, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(file->root))
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput,
                                "%s: its JSON cannot be edited (%s): convert it with espy import", path, error.text);
    }
    return espyCliExit_Ok;
}

// --- changes of the tree. They return false where memory runs out; jansson takes null for "no such thing".

/// The member of that name, made where there is none.
static json_t* espySave_Member(json_t* object, const char* key, json_t* (*make)(void))
{
    json_t* member = json_object_get(object, key);
    if (!member && object && json_object_set_new(object, key, make()) == 0)
    {
        member = json_object_get(object, key);
    }
    return member;
}

static bool espySave_IsTrue(const json_t* value)
{
    return json_is_true(value) || (json_is_integer(value) && json_integer_value(value) == 1) ||
           (json_is_string(value) && strcmp(json_string_value(value), "true") == 0);
}

static bool espySave_IsArea(const json_t* node)
{
    return espySave_IsTrue(json_object_get(json_object_get(node, "extras"), "occlusionArea"));
}

/// Occluder and occludee are always written, so that the level counts as flagged; the others where they say something.
static bool espySave_Flags(json_t* node, uint32_t flags)
{
    static const struct
    {
        const char* key;
        uint32_t flag;
        bool always;
    } names[] = {
        {"occluder", espyNodeFlag_OccluderStatic, true},
        {"occludee", espyNodeFlag_OccludeeStatic, true},
        {"hidden", espyNodeFlag_Hidden, false},
        {"blocker", espyNodeFlag_Blocker, false},
        {"dynamic", espyNodeFlag_Dynamic, false},
        {"skybox", espyNodeFlag_Skybox, false},
        {"alwaysUpdate", espyNodeFlag_AlwaysUpdate, false},
    };
    json_t* extras = espySave_Member(node, "extras", json_object);
    bool ok = json_is_object(extras);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && ok; ++i)
    {
        bool on = (flags & names[i].flag) != 0;
        if (on || names[i].always || json_object_get(extras, names[i].key))
        {
            ok = json_object_set_new(extras, names[i].key, json_boolean(on)) == 0;
        }
    }
    return ok;
}

static bool espySave_Matrix(json_t* node, espyMat4 local)
{
    json_object_del(node, "translation");
    json_object_del(node, "rotation");
    json_object_del(node, "scale");
    json_t* matrix = json_array();
    bool ok = matrix != NULL;
    for (int i = 0; i < 16 && ok; ++i)
    {
        ok = json_array_append_new(matrix, espyiCliJson_FromFloat(local.m[i])) == 0;
    }
    if (!ok)
    {
        json_decref(matrix);
        return false;
    }
    return json_object_set_new(node, "matrix", matrix) == 0;
}

static void espySave_RemoveIndex(json_t* list, int32_t index)
{
    for (size_t i = json_array_size(list); i > 0; --i)
    {
        const json_t* item = json_array_get(list, i - 1);
        if (json_is_integer(item) && json_integer_value(item) == index)
        {
            json_array_remove(list, i - 1);
        }
    }
}

/// Nodes keep their index: a removed area leaves the scene, or where it has children stops being one.
static void espySave_RemoveArea(json_t* root, json_t* nodes, int32_t index)
{
    json_t* node = json_array_get(nodes, (size_t)index);
    json_object_del(json_object_get(node, "extras"), "occlusionArea");
    json_object_del(node, "mesh");
    if (json_array_size(json_object_get(node, "children")) > 0)
    {
        return;
    }
    size_t i;
    json_t* value;
    json_array_foreach(json_object_get(root, "scenes"), i, value)
    {
        espySave_RemoveIndex(json_object_get(value, "nodes"), index);
    }
    json_array_foreach(nodes, i, value)
    {
        espySave_RemoveIndex(json_object_get(value, "children"), index);
    }
}

/// The scene that is shown; a file without one gets one of all roots.
static json_t* espySave_Scene(json_t* root, const json_t* nodes)
{
    json_t* scenes = espySave_Member(root, "scenes", json_array);
    if (json_array_size(scenes) > 0)
    {
        json_int_t index = json_integer_value(json_object_get(root, "scene"));
        return index >= 0 ? json_array_get(scenes, (size_t)index) : NULL;
    }
    json_t* scene = json_object();
    json_t* roots = espySave_Member(scene, "nodes", json_array);
    size_t count = json_array_size(nodes);
    uint8_t* child = calloc(count + 1, 1);
    bool ok = child && roots && json_array_append_new(scenes, scene) == 0;
    for (size_t i = 0; i < count && ok; ++i)
    {
        const json_t* children = json_object_get(json_array_get(nodes, i), "children");
        for (size_t k = 0; k < json_array_size(children); ++k)
        {
            json_int_t at = json_integer_value(json_array_get(children, k));
            if (at >= 0 && (size_t)at < count)
            {
                child[at] = 1;
            }
        }
    }
    for (size_t i = 0; i < count && ok; ++i)
    {
        ok = child[i] || json_array_append_new(roots, json_integer((json_int_t)i)) == 0;
    }
    free(child);
    return ok ? scene : NULL;
}

static bool espySave_AddArea(const espyWorld* world, espyNodeId area, json_t* nodes, json_t* scene)
{
    espyNodeDef def;
    if (espyWorld_GetNode(world, area, &def) != espyResult_Ok)
    {
        return false;
    }
    json_t* node = json_object();
    bool ok = json_object_set_new(node, "name", espyiCliJson_FromText(def.name ? def.name : "")) == 0;
    json_t* extras = espySave_Member(node, "extras", json_object);
    ok = ok && espySave_Matrix(node, def.local);
    ok = ok && json_object_set_new(extras, "occlusionArea", json_true()) == 0;
    json_t* list = espySave_Member(scene, "nodes", json_array);
    ok = ok && json_array_append_new(list, json_integer((json_int_t)json_array_size(nodes))) == 0;
    return json_array_append_new(nodes, node) == 0 && ok;
}

static bool espySave_Settings(json_t* scene, const espySceneSettings* s)
{
    json_t* extras = espySave_Member(scene, "extras", json_object);
    bool ok = json_is_object(extras);
    ok = ok && json_object_set_new(extras, "occlusionCulling", json_boolean(s->occlusionCulling)) == 0;
    ok = ok && json_object_set_new(extras, "occlusionCellSize", espyiCliJson_FromFloat(s->occlusionCellSize)) == 0;
    ok = ok && json_object_set_new(extras, "bakeQuality", json_string(espyiCliQuality_GetName(s->bakeQuality))) == 0;
    ok = ok && json_object_set_new(extras, "dynamicObjects", json_boolean(s->dynamicObjects)) == 0;
    ok = ok && json_object_set_new(extras, "consoleBudgetKB", json_integer(s->consoleBudgetKB)) == 0;
    // 0 is what a file without the key means.
    if (s->unrollCellSize == 0.0f)
    {
        json_object_del(extras, "unrollCellSize");
        return ok;
    }
    return ok && json_object_set_new(extras, "unrollCellSize", espyiCliJson_FromFloat(s->unrollCellSize)) == 0;
}

/// A level without any flag means all of them; the first edit says for every mesh what it has meant so far.
static bool espySave_CarriesFlags(const json_t* nodes)
{
    size_t i;
    const json_t* node;
    json_array_foreach(nodes, i, node)
    {
        const json_t* extras = json_object_get(node, "extras");
        if (json_object_get(extras, "occluder") || json_object_get(extras, "occludee"))
        {
            return true;
        }
    }
    return false;
}

static bool espySave_Nodes(const espyProject* project, json_t* root, json_t* nodes)
{
    const espyWorld* world = project->level.world;
    bool anyTouched = false;
    for (int32_t i = 0; i < project->fileNodes; ++i)
    {
        anyTouched = anyTouched || project->touched[i];
    }
    bool all = anyTouched && !espySave_CarriesFlags(nodes);
    bool ok = true;
    for (int32_t i = 0; i < project->fileNodes && ok; ++i)
    {
        json_t* node = json_array_get(nodes, (size_t)i);
        espyNodeId id = espyWorld_FindSource(world, i);
        espyNodeDef def;
        if (id.index1 == 0 || espyWorld_GetNode(world, id, &def) != espyResult_Ok)
        {
            if (espySave_IsArea(node))
            {
                espySave_RemoveArea(root, nodes, i);
            }
            continue;
        }
        bool area = def.kind == espyNodeKind_OcclusionArea;
        if (area && project->touched[i])
        {
            ok = espySave_Matrix(node, def.local);
        }
        else if (!area && (project->touched[i] || (all && json_object_get(node, "mesh"))))
        {
            ok = espySave_Flags(node, def.flags);
        }
    }
    return ok;
}

/// Takes cleared data out of the level. Its bytes stay in the buffer, unused: another tool can pack them away.
static void espySave_RemoveData(json_t* root, json_t* scene)
{
    json_object_del(json_object_get(scene, "extensions"), "ESPY_visibility");
    if (json_object_size(json_object_get(scene, "extensions")) == 0)
    {
        json_object_del(scene, "extensions");
    }
    json_t* used = json_object_get(root, "extensionsUsed");
    for (size_t i = json_array_size(used); i > 0; --i)
    {
        const char* name = json_string_value(json_array_get(used, i - 1));
        if (name && strcmp(name, "ESPY_visibility") == 0)
        {
            json_array_remove(used, i - 1);
        }
    }
    if (used && json_array_size(used) == 0)
    {
        json_object_del(root, "extensionsUsed");
    }
}

static bool espySave_Tree(const espyProject* project, json_t* root, const espyNodeId* areas, uint32_t areaCount)
{
    json_t* nodes = espySave_Member(root, "nodes", json_array);
    json_t* scene = espySave_Scene(root, nodes);
    bool ok = json_is_array(nodes) && json_is_object(scene) && espySave_Nodes(project, root, nodes);
    for (uint32_t i = 0; i < areaCount && ok; ++i)
    {
        ok = espySave_AddArea(project->level.world, areas[i], nodes, scene);
    }
    const espySceneSettings settings = espyWorld_GetSettings(project->level.world);
    ok = ok && (!project->settingsTouched || espySave_Settings(scene, &settings));
    if (ok && project->dataFromLevel && !project->hasData)
    {
        espySave_RemoveData(root, scene);
    }
    return ok;
}

// --- writing

static espyCliExit espySave_Write(const char* path, const espySaveFile* file, espyCliLine* line)
{
    char* text = json_dumps(file->root, (file->glb ? (size_t)JSON_COMPACT : (size_t)JSON_INDENT(2)));
    if (!text)
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    espyCliExit status;
    size_t length = strlen(text);
    if (!file->glb)
    {
        status = espyiCliFile_Write(path, text, length, line);
        free(text);
        return status;
    }
    size_t padded = (length + 3u) & ~(size_t)3u, rest = file->size - file->restOffset;
    unsigned char* bytes = padded + rest + 20u <= UINT32_MAX ? malloc(20u + padded + rest) : NULL;
    if (bytes)
    {
        memcpy(bytes, file->bytes, 20);
        espySave_Write32(bytes + 8, 20u + padded + rest);
        espySave_Write32(bytes + 12, padded);
        memcpy(bytes + 20, text, length); // NOLINT(bugprone-not-null-terminated-result): a chunk, no string
        memset(bytes + 20 + length, ' ', padded - length);
        memcpy(bytes + 20 + padded, file->bytes + file->restOffset, rest);
        status = espyiCliFile_Write(path, bytes, 20u + padded + rest, line);
    }
    else
    {
        status = espyiCliLine_Set(line, espyCliExit_Environment, "out of memory");
    }
    free(bytes);
    free(text);
    return status;
}

espyCliExit espyiSave_Gltf(espyProject* project, const espyNodeId* areas, uint32_t areaCount, const void* pvs,
                           size_t pvsSize, espyCliLine* line)
{
    espySaveFile file = {0};
    espyCliExit status = espySave_Load(project->levelPath, &file, line);
    if (status == espyCliExit_Ok && !espySave_Tree(project, file.root, areas, areaCount))
    {
        status = espyiCliLine_Set(line, espyCliExit_Environment,
                                  "%s: out of memory, or its nodes are not what was opened: nothing was written",
                                  project->levelPath);
    }
    status = status == espyCliExit_Ok ? espySave_Write(project->levelPath, &file, line) : status;
    json_decref(file.root);
    free(file.bytes);
    if (status == espyCliExit_Ok && pvs)
    {
        espyImportReport report = {0};
        espyResult result = espyImport_EmbedGlb(project->levelPath, project->levelPath, pvs, pvsSize, &report);
        status = result == espyResult_Ok
                     ? status
                     : espyiCliLine_Set(line, espyiCliExit_FromResult(result), "%s",
                                        report.message[0] ? report.message : espyResult_GetName(result));
    }
    return status;
}
