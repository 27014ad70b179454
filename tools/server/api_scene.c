// SPDX-License-Identifier: MIT
// The level as the page needs it: nodes, geometry, flags, settings, areas.
#include "api_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// "ESG1", little endian: what /api/scene/geometry starts with.
#define ESPY_GEOMETRY_MAGIC 0x31475345u

typedef struct espyApiFlagName
{
    const char* name;
    uint32_t flag;
} espyApiFlagName;

static const espyApiFlagName espyApiFlagNames[] = {
    {"occluder", espyNodeFlag_OccluderStatic},
    {"occludee", espyNodeFlag_OccludeeStatic},
    {"hidden", espyNodeFlag_Hidden},
    {"blocker", espyNodeFlag_Blocker},
    {"dynamic", espyNodeFlag_Dynamic},
    {"skybox", espyNodeFlag_Skybox},
    {"alwaysUpdate", espyNodeFlag_AlwaysUpdate},
};

enum
{
    espyApiFlag_Count = sizeof espyApiFlagNames / sizeof espyApiFlagNames[0]
};

const char* espyiApi_GetKindName(espyNodeKind kind)
{
    static const char* const names[] = {"Node3D",    "StaticMesh3D", "InstancedMesh3D", "SkeletalMesh3D", "Particle3D",
                                        "Terrain3D", "Voxel3D",      "Camera3D",        "OcclusionArea"};
    return (unsigned)kind < sizeof names / sizeof names[0] ? names[kind] : "Node3D";
}

// --- meshes by index: those of the world, then one for each terrain or voxel node without a mesh

static int64_t espyScene_MeshIndex(const espyWorld* world, espyMeshId mesh)
{
    uint32_t count = espyWorld_GetMeshCount(world);
    uint32_t guess = (uint32_t)mesh.index1 - 1u;
    if (guess < count && espyWorld_GetMeshAt(world, guess).index1 == mesh.index1)
    {
        return guess;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (espyWorld_GetMeshAt(world, i).index1 == mesh.index1)
        {
            return i;
        }
    }
    return -1;
}

static bool espyScene_HasSurface(const espyNodeDef* def)
{
    return (def->kind == espyNodeKind_Terrain3D || def->kind == espyNodeKind_Voxel3D) && def->mesh.index1 == 0;
}

// --- /api/scene

static json_t* espyScene_FromCamera(const espyCamera* camera)
{
    json_t* o = json_object();
    espyiCliJson_Set(&o, "orthographic", json_boolean(camera->orthographic));
    espyiCliJson_Set(&o, "verticalFov", espyiCliJson_FromFloat(camera->verticalFov));
    espyiCliJson_Set(&o, "aspect", espyiCliJson_FromFloat(camera->aspect));
    espyiCliJson_Set(&o, "halfHeight", espyiCliJson_FromFloat(camera->halfHeight));
    espyiCliJson_Set(&o, "near", espyiCliJson_FromFloat(camera->nearDistance));
    espyiCliJson_Set(&o, "far", espyiCliJson_FromFloat(camera->farDistance));
    return o;
}

static json_t* espyScene_FromNode(const espyWorld* world, espyNodeId id, const espyNodeDef* def, int64_t mesh)
{
    json_t* o = json_object();
    espyMat4 transform = espyWorld_GetWorldTransform(world, id);
    espyNodeDef parent;
    bool hasParent = def->parent.index1 != 0 && espyWorld_GetNode(world, def->parent, &parent) == espyResult_Ok;
    espyiCliJson_Set(&o, "id", json_integer(def->sourceId));
    espyiCliJson_Set(&o, "name", espyiCliJson_FromText(def->name ? def->name : ""));
    espyiCliJson_Set(&o, "kind", json_string(espyiApi_GetKindName(def->kind)));
    espyiCliJson_Set(&o, "parent", json_integer(hasParent ? parent.sourceId : -1));
    espyiCliJson_Set(&o, "transform", espyiApi_FromMatrix(&transform));
    espyiCliJson_Set(&o, "bounds", espyiApi_FromBox(espyWorld_GetWorldBounds(world, id)));
    espyiCliJson_Set(&o, "mesh", json_integer(mesh));
    espyiCliJson_SetCount(&o, "instances", def->instanceCount);
    json_t* flags = json_object();
    for (int i = 0; i < espyApiFlag_Count; ++i)
    {
        espyiCliJson_Set(&flags, espyApiFlagNames[i].name, json_boolean((def->flags & espyApiFlagNames[i].flag) != 0));
    }
    espyiCliJson_Set(&o, "flags", flags);
    json_t* tags = json_array();
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        json_array_append_new(tags, espyiCliJson_FromText(def->tags[i]));
    }
    espyiCliJson_Set(&o, "tags", tags);
    if (def->kind == espyNodeKind_Camera3D)
    {
        espyiCliJson_Set(&o, "camera", espyScene_FromCamera(&def->camera));
    }
    return o;
}

void espyiApi_GetScene(espyApiCall* call)
{
    espyWorld* world = espyiProject_GetWorld(call->api->project);
    json_t* nodes = json_array();
    int64_t surfaces = espyWorld_GetMeshCount(world);
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        espyNodeDef def;
        if (espyWorld_GetNode(world, id, &def) != espyResult_Ok)
        {
            continue;
        }
        int64_t mesh = espyScene_HasSurface(&def) ? surfaces++
                       : def.mesh.index1 != 0     ? espyScene_MeshIndex(world, def.mesh)
                                                  : -1;
        json_array_append_new(nodes, espyScene_FromNode(world, id, &def, mesh));
    }
    json_t* root = json_object();
    espyiCliJson_SetCount(&root, "revision", espyiProject_GetRevision(call->api->project));
    espyiCliJson_Set(&root, "nodes", nodes);
    espyiApi_Json(call, 200, root);
}

// --- /api/scene/geometry

typedef struct espySceneBytes
{
    unsigned char* bytes;
    size_t size, capacity;
    bool failed;
} espySceneBytes;

static void espyBytes_Add(espySceneBytes* b, const void* data, size_t size)
{
    if (b->failed || size == 0)
    {
        return;
    }
    if (b->size + size > b->capacity)
    {
        size_t capacity = 2 * (b->size + size);
        unsigned char* bytes = realloc(b->bytes, capacity);
        if (!bytes)
        {
            b->failed = true;
            return;
        }
        b->bytes = bytes;
        b->capacity = capacity;
    }
    memcpy(b->bytes + b->size, data, size);
    b->size += size;
}

// The machines that the server runs on are little endian, and so is the format.
static void espyBytes_AddWord(espySceneBytes* b, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 24)};
    espyBytes_Add(b, bytes, 4);
}

static void espyBytes_AddWords(espySceneBytes* b, const void* words, size_t count)
{
    const uint32_t one = 1;
    if (*(const unsigned char*)&one == 1)
    {
        espyBytes_Add(b, words, 4 * count);
        return;
    }
    for (size_t i = 0; i < count; ++i)
    {
        uint32_t word;
        memcpy(&word, (const unsigned char*)words + 4 * i, 4);
        espyBytes_AddWord(b, word);
    }
}

static void espyBytes_AddMesh(espySceneBytes* b, const espyTriangles* t, const espyMeshPart* parts, uint32_t partCount)
{
    const espyMeshPart whole = {0, 3u * t->triangleCount, espyMaterialClass_Opaque, 0xB0B0B0u};
    parts = partCount > 0 ? parts : &whole;
    partCount = partCount > 0 ? partCount : 1;
    espyBytes_AddWord(b, t->vertexCount);
    espyBytes_AddWord(b, 3u * t->triangleCount);
    espyBytes_AddWord(b, partCount);
    for (uint32_t i = 0; i < partCount; ++i)
    {
        espyBytes_AddWord(b, parts[i].firstIndex);
        espyBytes_AddWord(b, parts[i].indexCount);
        espyBytes_AddWord(b, (uint32_t)parts[i].material);
        espyBytes_AddWord(b, parts[i].color);
    }
    espyBytes_AddWords(b, t->positions, 3u * (size_t)t->vertexCount);
    espyBytes_AddWords(b, t->indices, 3u * (size_t)t->triangleCount);
}

static uint32_t espyScene_AddSurfaces(espySceneBytes* b, const espyWorld* world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        espyNodeDef def;
        if (espyWorld_GetNode(world, id, &def) != espyResult_Ok || !espyScene_HasSurface(&def))
        {
            continue;
        }
        espySurface surface = {0};
        b->failed = b->failed || espyWorld_BuildSurface(world, id, NULL, &surface) != espyResult_Ok;
        if (!b->failed)
        {
            espyBytes_AddMesh(b, &surface.triangles, surface.parts, surface.partCount);
            espySurface_Free(&surface);
        }
        ++count;
    }
    return count;
}

static uint32_t espyScene_AddInstances(espySceneBytes* b, const espyWorld* world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeDef def;
        if (espyWorld_GetNode(world, espyWorld_GetNodeAt(world, i), &def) == espyResult_Ok && def.instanceCount > 0)
        {
            espyBytes_AddWord(b, (uint32_t)def.sourceId);
            espyBytes_AddWord(b, def.instanceCount);
            espyBytes_AddWords(b, def.instances, 16u * (size_t)def.instanceCount);
            ++count;
        }
    }
    return count;
}

void espyiApi_GetGeometry(espyApiCall* call)
{
    const espyWorld* world = espyiProject_GetWorld(call->api->project);
    espySceneBytes b = {0};
    uint32_t meshes = espyWorld_GetMeshCount(world);
    espyBytes_AddWord(&b, ESPY_GEOMETRY_MAGIC);
    espyBytes_AddWord(&b, 0); // Counts are known at the end.
    espyBytes_AddWord(&b, 0);
    for (uint32_t i = 0; i < meshes; ++i)
    {
        espyMeshDef def;
        b.failed = b.failed || espyWorld_GetMesh(world, espyWorld_GetMeshAt(world, i), &def) != espyResult_Ok;
        if (!b.failed)
        {
            espyBytes_AddMesh(&b, &def.triangles, def.parts, def.partCount);
        }
    }
    uint32_t surfaces = espyScene_AddSurfaces(&b, world);
    uint32_t instanced = espyScene_AddInstances(&b, world);
    if (b.failed)
    {
        free(b.bytes);
        espyiApi_Bytes(call, "", NULL, 0);
        return;
    }
    espySceneBytes counts = {.bytes = b.bytes + 4, .capacity = 8};
    espyBytes_AddWord(&counts, meshes + surfaces);
    espyBytes_AddWord(&counts, instanced);
    espyiApi_Bytes(call, "application/octet-stream", b.bytes, b.size);
}

// --- flags

/// Reads {"occluder": true, ...} into bits to set and bits to clear.
static bool espyScene_ReadFlags(espyApiCall* call, const json_t* object, uint32_t* set, uint32_t* clear)
{
    const char* key;
    const json_t* value;
    *set = *clear = 0;
    json_object_foreach((json_t*)(uintptr_t)object, key, value)
    {
        uint32_t flag = 0;
        for (int i = 0; i < espyApiFlag_Count; ++i)
        {
            flag = strcmp(key, espyApiFlagNames[i].name) == 0 ? espyApiFlagNames[i].flag : flag;
        }
        if (flag == 0 || !json_is_boolean(value))
        {
            espyiApi_Error(call, 400, "badField",
                           "set.%.40s: the flags are occluder, occludee, hidden, blocker, dynamic, skybox and "
                           "alwaysUpdate, each true or false",
                           key);
            return false;
        }
        *(json_is_true(value) ? set : clear) |= flag;
    }
    return true;
}

void espyiApi_PutFlags(espyApiCall* call)
{
    const json_t* list = json_object_get(call->body, "nodes");
    const json_t* changes = json_object_get(call->body, "set");
    uint32_t set, clear;
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    if (!json_is_array(list) || !json_is_object(changes))
    {
        espyiApi_Error(call, 400, "badField", "nodes must be an array of ids and set an object of flags");
        return;
    }
    if (!espyScene_ReadFlags(call, changes, &set, &clear))
    {
        return;
    }
    espyWorld* world = espyiProject_GetWorld(call->api->project);
    size_t count = json_array_size(list);
    espyProjectFlags* flags = calloc(count + 1, sizeof *flags);
    for (size_t i = 0; i < count && flags; ++i)
    {
        const json_t* id = json_array_get(list, i);
        json_int_t node = json_integer_value(id);
        if (!json_is_integer(id) || node < 0 || node > INT32_MAX)
        {
            free(flags);
            espyiApi_Error(call, 400, "badField", "nodes[%zu] is no id of a node", i);
            return;
        }
        uint32_t before = espyWorld_GetFlags(world, espyWorld_FindSource(world, (int32_t)node));
        flags[i] = (espyProjectFlags){(int32_t)node, (before | set) & ~clear};
    }
    espyCliLine line;
    espyCliExit status = flags ? espyiProject_SetFlags(call->api->project, flags, (uint32_t)count, &line)
                               : espyiCliLine_Set(&line, espyCliExit_Environment, "out of memory");
    free(flags);
    if (status != espyCliExit_Ok)
    {
        espyiApi_Fail(call, status, &line);
        return;
    }
    espyiApi_PostChanged(call->api);
    espyiApi_GetStatus(call);
}

// --- settings

void espyiApi_GetSettings(espyApiCall* call)
{
    espySceneSettings s = espyWorld_GetSettings(espyiProject_GetWorld(call->api->project));
    json_t* o = json_object();
    espyiCliJson_Set(&o, "occlusionCulling", json_boolean(s.occlusionCulling));
    espyiCliJson_Set(&o, "occlusionCellSize", espyiCliJson_FromFloat(s.occlusionCellSize));
    espyiCliJson_Set(&o, "bakeQuality", json_string(espyiCliQuality_GetName(s.bakeQuality)));
    espyiCliJson_Set(&o, "dynamicObjects", json_boolean(s.dynamicObjects));
    espyiCliJson_SetCount(&o, "consoleBudgetKB", s.consoleBudgetKB);
    espyiCliJson_Set(&o, "unrollCellSize", espyiCliJson_FromFloat(s.unrollCellSize));
    espyiApi_Json(call, 200, o);
}

static bool espyScene_ReadQuality(const json_t* value, espyBakeQuality* out)
{
    for (espyBakeQuality q = espyBakeQuality_Low; q <= espyBakeQuality_Proven; ++q)
    {
        if (json_is_string(value) && strcmp(json_string_value(value), espyiCliQuality_GetName(q)) == 0)
        {
            *out = q;
            return true;
        }
    }
    return false;
}

/// One member of the settings; false where its type is wrong or there is no such setting.
static bool espyScene_ReadSetting(const char* key, const json_t* value, espySceneSettings* s)
{
    if (strcmp(key, "occlusionCulling") == 0)
    {
        s->occlusionCulling = json_is_true(value);
        return json_is_boolean(value);
    }
    if (strcmp(key, "dynamicObjects") == 0)
    {
        s->dynamicObjects = json_is_true(value);
        return json_is_boolean(value);
    }
    if (strcmp(key, "occlusionCellSize") == 0)
    {
        s->occlusionCellSize = (float)json_number_value(value);
        return json_is_number(value);
    }
    if (strcmp(key, "unrollCellSize") == 0)
    {
        s->unrollCellSize = (float)json_number_value(value);
        return json_is_number(value);
    }
    if (strcmp(key, "consoleBudgetKB") == 0)
    {
        json_int_t budget = json_integer_value(value);
        s->consoleBudgetKB = (uint32_t)budget;
        return json_is_integer(value) && budget >= 0 && budget <= (json_int_t)UINT32_MAX;
    }
    return strcmp(key, "bakeQuality") == 0 && espyScene_ReadQuality(value, &s->bakeQuality);
}

void espyiApi_PutSettings(espyApiCall* call)
{
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    espySceneSettings settings = espyWorld_GetSettings(espyiProject_GetWorld(call->api->project));
    const char* key;
    const json_t* value;
    json_object_foreach(call->body, key, value)
    {
        if (!espyScene_ReadSetting(key, value, &settings))
        {
            espyiApi_Error(call, 400, "badField",
                           "%.40s: settings are occlusionCulling and dynamicObjects (true, false), occlusionCellSize "
                           "and unrollCellSize (metres), bakeQuality (low, medium, high, proven), consoleBudgetKB",
                           key);
            return;
        }
    }
    espyCliLine line;
    espyCliExit status = espyiProject_SetSettings(call->api->project, &settings, &line);
    if (status != espyCliExit_Ok)
    {
        espyiApi_Fail(call, status, &line);
        return;
    }
    espyiApi_PostChanged(call->api);
    espyiApi_GetSettings(call);
}

// --- areas

static bool espyScene_ReadFloats(const json_t* list, float* out, size_t count)
{
    bool ok = json_array_size(list) == count;
    for (size_t i = 0; i < count && ok; ++i)
    {
        const json_t* value = json_array_get(list, i);
        out[i] = (float)json_number_value(value);
        ok = json_is_number(value) && isfinite(out[i]);
    }
    return ok;
}

/// {"transform": [16]} or {"min": [3], "max": [3]}.
static bool espyScene_ReadTransform(espyApiCall* call, espyMat4* out)
{
    float low[3], high[3];
    if (espyScene_ReadFloats(json_object_get(call->body, "transform"), out->m, 16))
    {
        return true;
    }
    if (espyScene_ReadFloats(json_object_get(call->body, "min"), low, 3) &&
        espyScene_ReadFloats(json_object_get(call->body, "max"), high, 3))
    {
        *out = espyMat4_Identity();
        for (int i = 0; i < 3; ++i)
        {
            out->m[5 * i] = high[i] - low[i];
            out->m[12 + i] = 0.5f * (low[i] + high[i]);
        }
        return true;
    }
    espyiApi_Error(call, 400, "badField",
                   "an area wants transform (16 numbers, column-major, of the cube -0.5..0.5) or min and max (3 each)");
    return false;
}

static void espyScene_AnswerArea(espyApiCall* call, espyCliExit status, const espyCliLine* line, int32_t node)
{
    if (status != espyCliExit_Ok)
    {
        espyiApi_Fail(call, status, line);
        return;
    }
    espyiApi_PostChanged(call->api);
    json_t* o = json_object();
    espyiCliJson_Set(&o, "id", json_integer(node));
    espyiApi_Json(call, 200, o);
}

void espyiApi_PostArea(espyApiCall* call)
{
    espyMat4 transform;
    if (espyiApi_IsBaking(call) || !espyScene_ReadTransform(call, &transform))
    {
        return;
    }
    const json_t* name = json_object_get(call->body, "name");
    int32_t node = -1;
    espyCliLine line;
    espyCliExit status = espyiProject_AddArea(call->api->project, &transform, json_string_value(name), &node, &line);
    espyScene_AnswerArea(call, status, &line, node);
}

void espyiApi_PutArea(espyApiCall* call)
{
    espyMat4 transform;
    if (espyiApi_IsBaking(call) || !espyScene_ReadTransform(call, &transform))
    {
        return;
    }
    espyCliLine line;
    espyCliExit status = espyiProject_MoveArea(call->api->project, call->node, &transform, &line);
    espyScene_AnswerArea(call, status, &line, call->node);
}

void espyiApi_DeleteArea(espyApiCall* call)
{
    if (espyiApi_IsBaking(call))
    {
        return;
    }
    espyCliLine line;
    espyCliExit status = espyiProject_RemoveArea(call->api->project, call->node, &line);
    espyScene_AnswerArea(call, status, &line, call->node);
}
