// SPDX-License-Identifier: MIT
// Groups the drawn faces of a Quake 3 map into objects and gives them flags, and turns entities into nodes.
#include "import/bsp_world.h"

#include "import/bsp_entities.h"
#include "import/bsp_patch.h"
#include "import/bsp_vis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// What one shader of the map means for its faces.
typedef struct espyBspSurface
{
    bool skipped, moves;
    espyMaterialClass material;
    uint32_t color;
} espyBspSurface;

/// A drawn face and the object it belongs to.
typedef struct espyBspDrawn
{
    uint32_t shader;
    int32_t block[3];
    uint32_t face;
} espyBspDrawn;

typedef struct espyBspBuild
{
    espyiImport* import;
    const espyiBsp* bsp;
    const espyiShaderTable* table;
    const uint32_t* entries;
    espyBspSurface* surfaces;
    espyBspDrawn* drawn;
    espyVec3* positions; ///< The part being collected.
    uint32_t* indices;
    size_t vertexCount, vertexCapacity, indexCount, indexCapacity;
    espyiMeshBuilder mesh;
    int32_t nextId;
} espyBspBuild;

// --- shaders

espyResult espyiBspWorld_WantShaders(espyiImport* import, const espyiBsp* bsp, espyiShaderTable* table,
                                     uint32_t** entries)
{
    *entries = NULL;
    if (bsp->shaderCount == 0)
    {
        return espyiShaderTable_Create(table, &import->hooks, 0) ? espyResult_Ok : espyiImport_FailMemory(import);
    }
    if (!espyiImport_Charge(import, bsp->shaderCount, sizeof(espyiShaderInfo) + 5 * sizeof(uint32_t), "the shaders"))
    {
        return espyResult_LimitExceeded;
    }
    *entries = espyiAlloc(&import->hooks, bsp->shaderCount, sizeof **entries);
    if (!*entries || !espyiShaderTable_Create(table, &import->hooks, bsp->shaderCount))
    {
        espyiFree(&import->hooks, *entries);
        *entries = NULL;
        return espyiImport_FailMemory(import);
    }
    for (uint32_t i = 0; i < bsp->shaderCount; ++i)
    {
        (*entries)[i] = espyiShaderTable_Want(table, bsp->shaders[i].name);
    }
    return espyResult_Ok;
}

/// A quiet colour out of the shader's name, for pictures.
static uint32_t espyBspBuild_Color(const char* name)
{
    uint64_t hash = espyiHash_Bytes(1, name, strlen(name));
    uint32_t red = 96u + (uint32_t)(hash & 127u);
    uint32_t green = 96u + (uint32_t)((hash >> 8) & 127u);
    uint32_t blue = 96u + (uint32_t)((hash >> 16) & 127u);
    return red << 16 | green << 8 | blue;
}

/// What the map's own flags say against blocking, for shaders whose script is not here.
static espyMaterialClass espyBspBuild_MaterialOfFlags(const espyiBspShader* shader)
{
    if (shader->contents & (ESPYI_BSP_CONTENTS_TRANSLUCENT | ESPYI_BSP_CONTENTS_FOG) ||
        shader->surfaceFlags & ESPYI_BSP_SURF_LIGHTFILTER)
    {
        return espyMaterialClass_Translucent;
    }
    return shader->surfaceFlags & ESPYI_BSP_SURF_ALPHASHADOW ? espyMaterialClass_Masked : espyMaterialClass_Opaque;
}

/// Marks the shaders that drawn faces use, so that the warning counts nothing that only clips.
static espyResult espyBspBuild_WarnMissing(espyBspBuild* b)
{
    const espyiBsp* bsp = b->bsp;
    uint32_t* used = espyiAlloc(&b->import->hooks, espyiBits_Words(b->table->count) + 1u, sizeof *used);
    if (!used)
    {
        return espyiImport_FailMemory(b->import);
    }
    unsigned long long missing = 0;
    for (uint32_t i = 0; i < bsp->faceCount; ++i)
    {
        uint32_t shader = bsp->faces[i].shader;
        uint32_t entry = b->entries[shader];
        bool known = b->table->shaders[entry].flags & (espyiShaderFlag_Scripted | espyiShaderFlag_HasImage);
        if (!known && !b->surfaces[shader].skipped && !espyiBits_Get(used, entry))
        {
            espyiBits_Set(used, entry);
            ++missing;
        }
    }
    espyiFree(&b->import->hooks, used);
    if (missing > 0)
    {
        espyiImport_Warn(b->import, espyMessageId_ImportMissingShaders, -1, missing);
    }
    return espyResult_Ok;
}

static espyResult espyBspBuild_Surfaces(espyBspBuild* b)
{
    const uint32_t neverDrawn = ESPYI_BSP_SURF_SKY | ESPYI_BSP_SURF_NODRAW | ESPYI_BSP_SURF_HINT | ESPYI_BSP_SURF_SKIP;
    const espyiBsp* bsp = b->bsp;
    // One more than there are, so that a map without any is nothing special.
    b->surfaces = espyiAlloc(&b->import->hooks, (size_t)bsp->shaderCount + 1u, sizeof *b->surfaces);
    if (!b->surfaces)
    {
        return espyiImport_FailMemory(b->import);
    }
    for (uint32_t i = 0; i < bsp->shaderCount; ++i)
    {
        const espyiBspShader* shader = &bsp->shaders[i];
        const espyiShaderInfo* info = &b->table->shaders[b->entries[i]];
        espyMaterialClass ofFlags = espyBspBuild_MaterialOfFlags(shader);
        b->surfaces[i] = (espyBspSurface){
            .skipped = (shader->surfaceFlags & neverDrawn) || (shader->contents & ESPYI_BSP_CONTENTS_TRIGGER) ||
                       (info->flags & (espyiShaderFlag_Sky | espyiShaderFlag_NoDraw)),
            .moves = info->flags & espyiShaderFlag_Moves,
            .material = info->material != espyMaterialClass_Opaque ? info->material : ofFlags,
            .color = espyBspBuild_Color(info->name),
        };
    }
    return espyBspBuild_WarnMissing(b);
}

// --- faces

static int32_t espyBspBuild_Block(float low, float high)
{
    float block = floorf((low * 0.5f + high * 0.5f) / ESPYI_BSP_BLOCK);
    // Far beyond any map the blocks run into each other instead of past the integers.
    block = block < -1.0e6f ? -1.0e6f : block;
    block = block > 1.0e6f ? 1.0e6f : block;
    return (int32_t)block;
}

/// Puts a drawn face into its block; false where it draws nothing.
static bool espyBspBuild_Classify(const espyBspBuild* b, uint32_t index, espyBspDrawn* out)
{
    const espyiBspFace* face = &b->bsp->faces[index];
    bool drawn = face->kind == espyiBspFaceKind_Patch || face->indexCount > 0;
    if (!drawn || face->vertexCount == 0 || b->surfaces[face->shader].skipped)
    {
        return false;
    }
    *out = (espyBspDrawn){.shader = face->shader, .face = index};
    for (int axis = 0; axis < 3; ++axis)
    {
        const espyiBspVertex* vertices = b->bsp->vertices + face->firstVertex;
        float low = vertices[0].position[axis];
        float high = low;
        for (uint32_t i = 1; i < face->vertexCount; ++i)
        {
            low = fminf(low, vertices[i].position[axis]);
            high = fmaxf(high, vertices[i].position[axis]);
        }
        out->block[axis] = espyBspBuild_Block(low, high);
    }
    return true;
}

static int espyBspDrawn_CompareObject(const espyBspDrawn* a, const espyBspDrawn* b)
{
    if (a->shader != b->shader)
    {
        return a->shader < b->shader ? -1 : 1;
    }
    for (int axis = 2; axis >= 0; --axis)
    {
        if (a->block[axis] != b->block[axis])
        {
            return a->block[axis] < b->block[axis] ? -1 : 1;
        }
    }
    return 0;
}

static int espyBspDrawn_Compare(const void* left, const void* right)
{
    const espyBspDrawn* a = left;
    const espyBspDrawn* b = right;
    int order = espyBspDrawn_CompareObject(a, b);
    return order != 0 ? order : (a->face > b->face) - (a->face < b->face);
}

static espyVec3 espyBspBuild_Point(const float quake[3])
{
    float metres[3];
    espyiBsp_FromQuake(quake, metres);
    return (espyVec3){metres[0], metres[1], metres[2]};
}

/// True where two corners are one point: such triangles come from patches whose edges shrink to a point.
static bool espyBspBuild_IsCollapsed(const espyVec3* p, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t corners[4] = {a, b, c, a};
    for (int i = 0; i < 3; ++i)
    {
        const espyVec3* q = &p[corners[i]];
        const espyVec3* r = &p[corners[i + 1]];
        if (q->x == r->x && q->y == r->y && q->z == r->z)
        {
            return true;
        }
    }
    return false;
}

/// Turns Quake's clockwise fronts into counter-clockwise ones.
static void espyBspBuild_Triangle(espyBspBuild* b, uint32_t i, uint32_t j, uint32_t k)
{
    if (!espyBspBuild_IsCollapsed(b->positions, i, j, k))
    {
        b->indices[b->indexCount++] = i;
        b->indices[b->indexCount++] = k;
        b->indices[b->indexCount++] = j;
    }
}

static espyResult espyBspBuild_Room(espyBspBuild* b, size_t vertices, size_t indices)
{
    const espyHooks* hooks = &b->import->hooks;
    if (b->vertexCount + vertices > UINT32_MAX)
    {
        espyiImport_Fail(b->import, espyResult_LimitExceeded, "an object of more than 2^32 vertices");
        return espyResult_LimitExceeded;
    }
    // Also pays for work: faces that share vertices, and patches that are cut finely, count each time.
    if (!espyiImport_Charge(b->import, vertices, sizeof(espyVec3), "the faces") ||
        !espyiImport_Charge(b->import, indices, sizeof(uint32_t), "the faces"))
    {
        return espyResult_LimitExceeded;
    }
    if (!espyiGrow(hooks, (void**)&b->positions, &b->vertexCapacity, b->vertexCount + vertices, sizeof(espyVec3)) ||
        !espyiGrow(hooks, (void**)&b->indices, &b->indexCapacity, b->indexCount + indices, sizeof(uint32_t)))
    {
        return espyiImport_FailMemory(b->import);
    }
    return espyResult_Ok;
}

static espyResult espyBspBuild_AddPatch(espyBspBuild* b, const espyiBspFace* face)
{
    espyiPatchCuts cuts = espyiPatch_Plan(b->bsp, face);
    size_t points = (size_t)cuts.width * cuts.height;
    espyResult result = espyBspBuild_Room(b, points, 6u * points);
    if (result != espyResult_Ok)
    {
        return result;
    }
    uint32_t first = (uint32_t)b->vertexCount;
    espyiPatch_Evaluate(b->bsp, face, &cuts, b->positions + first);
    b->vertexCount += points;
    for (uint32_t row = 0; row + 1 < cuts.height; ++row)
    {
        for (uint32_t column = 0; column + 1 < cuts.width; ++column)
        {
            uint32_t corner = first + row * cuts.width + column;
            uint32_t below = corner + cuts.width;
            espyBspBuild_Triangle(b, corner, below, corner + 1);
            espyBspBuild_Triangle(b, corner + 1, below, below + 1);
        }
    }
    return espyResult_Ok;
}

static espyResult espyBspBuild_AddTriangles(espyBspBuild* b, const espyiBspFace* face)
{
    espyResult result = espyBspBuild_Room(b, face->vertexCount, face->indexCount);
    if (result != espyResult_Ok)
    {
        return result;
    }
    uint32_t first = (uint32_t)b->vertexCount;
    for (uint32_t i = 0; i < face->vertexCount; ++i)
    {
        b->positions[b->vertexCount++] = espyBspBuild_Point(b->bsp->vertices[face->firstVertex + i].position);
    }
    const uint32_t* meshVerts = b->bsp->meshVerts + face->firstIndex;
    for (uint32_t i = 0; i < face->indexCount; i += 3)
    {
        espyBspBuild_Triangle(b, first + meshVerts[i], first + meshVerts[i + 1], first + meshVerts[i + 2]);
    }
    return espyResult_Ok;
}

/// Adds the faces drawn[0..count), all of one shader, as one part of the mesh.
static espyResult espyBspBuild_AddPart(espyBspBuild* b, const espyBspDrawn* drawn, size_t count)
{
    b->vertexCount = 0;
    b->indexCount = 0;
    for (size_t i = 0; i < count; ++i)
    {
        const espyiBspFace* face = &b->bsp->faces[drawn[i].face];
        espyResult result =
            face->kind == espyiBspFaceKind_Patch ? espyBspBuild_AddPatch(b, face) : espyBspBuild_AddTriangles(b, face);
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    const espyBspSurface* surface = &b->surfaces[drawn[0].shader];
    return espyiMeshBuilder_AddPart(&b->mesh, b->positions, b->vertexCount, b->indices, b->indexCount,
                                    surface->material, surface->color);
}

// --- nodes

static espyResult espyBspBuild_AddNode(espyBspBuild* b, espyNodeDef* def)
{
    espyNodeId id;
    def->sourceId = b->nextId;
    espyResult result = espyWorld_CreateNode(b->import->world, def, &id);
    if (result == espyResult_Ok)
    {
        ++b->nextId;
        return result;
    }
    return result == espyResult_OutOfMemory
               ? espyiImport_FailMemory(b->import)
               : espyiImport_Fail(b->import, espyResult_BadData, "node '%s' cannot be placed", def->name);
}

/// Closes the mesh collected so far into a node; nothing where no triangle is left.
static espyResult espyBspBuild_AddMeshNode(espyBspBuild* b, const char* name, uint32_t flags, espyMat4 local)
{
    espyMeshId mesh;
    espyResult result = espyiMeshBuilder_Finish(&b->mesh, name, &mesh);
    if (result != espyResult_Ok || mesh.index1 == 0)
    {
        return result;
    }
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = mesh;
    def.flags = flags;
    def.local = local;
    def.name = name;
    return espyBspBuild_AddNode(b, &def);
}

/// Collects the drawn faces of a model into b->drawn, ordered by object.
static espyResult espyBspBuild_Collect(espyBspBuild* b, const espyiBspModel* model, size_t* count)
{
    *count = 0;
    for (uint32_t i = 0; i < model->faceCount; ++i)
    {
        uint32_t face = model->firstFace + i;
        // Pays for the work: many entities may name one model, many faces the same vertices.
        if (!espyiImport_Charge(b->import, (size_t)b->bsp->faces[face].vertexCount + 1u, sizeof(float), "the faces"))
        {
            return espyResult_LimitExceeded;
        }
        *count += espyBspBuild_Classify(b, face, &b->drawn[*count]) ? 1u : 0u;
    }
    if (*count > 1)
    {
        qsort(b->drawn, *count, sizeof *b->drawn, espyBspDrawn_Compare);
    }
    return espyResult_Ok;
}

static espyResult espyBspBuild_World(espyBspBuild* b)
{
    size_t count;
    espyResult result = espyBspBuild_Collect(b, &b->bsp->models[0], &count);
    if (result != espyResult_Ok)
    {
        return result;
    }
    for (size_t first = 0, end = 0; first < count; first = end)
    {
        const espyBspDrawn* object = &b->drawn[first];
        for (end = first + 1; end < count && espyBspDrawn_CompareObject(object, &b->drawn[end]) == 0;)
        {
            ++end;
        }
        result = espyBspBuild_AddPart(b, object, end - first);
        if (result != espyResult_Ok)
        {
            return result;
        }
        const espyBspSurface* surface = &b->surfaces[object->shader];
        uint32_t flags = espyNodeFlag_OccludeeStatic | espyNodeFlag_CastsShadow;
        flags |= surface->material == espyMaterialClass_Opaque ? (uint32_t)espyNodeFlag_OccluderStatic : 0u;
        flags = surface->moves ? (uint32_t)(espyNodeFlag_Dynamic | espyNodeFlag_CastsShadow) : flags;
        char name[ESPYI_BSP_NAME_SIZE + 48];
        snprintf(name, sizeof name, "%s %d %d %d", b->bsp->shaders[object->shader].name, (int)object->block[0],
                 (int)object->block[1], (int)object->block[2]);
        result = espyBspBuild_AddMeshNode(b, name, flags, espyMat4_Identity());
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    return espyResult_Ok;
}

/// The number of a brush model's name, "*12"; 0 for anything else, as model 0 is the world.
static uint32_t espyBspBuild_ModelOf(const espyBspBuild* b, const char* name)
{
    if (name[0] != '*')
    {
        return 0;
    }
    uint32_t number = 0;
    for (const char* c = name + 1; *c >= '0' && *c <= '9' && number < b->bsp->modelCount; ++c)
    {
        number = number * 10u + (uint32_t)(*c - '0');
    }
    return number < b->bsp->modelCount ? number : 0;
}

static espyResult espyBspBuild_BrushModel(espyBspBuild* b, const espyiBspEntity* entity, uint32_t model)
{
    size_t count;
    espyResult result = espyBspBuild_Collect(b, &b->bsp->models[model], &count);
    if (result != espyResult_Ok)
    {
        return result;
    }
    // Blocks do not split a thing that moves as one; only its shaders make parts.
    for (size_t first = 0, end = 0; first < count; first = end)
    {
        for (end = first + 1; end < count && b->drawn[end].shader == b->drawn[first].shader;)
        {
            ++end;
        }
        result = espyBspBuild_AddPart(b, &b->drawn[first], end - first);
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    char name[3 * ESPYI_ENTITY_TEXT];
    snprintf(name, sizeof name, "%s %s%s%s", entity->model, entity->className, entity->targetName[0] ? " " : "",
             entity->targetName);
    espyMat4 local = espyMat4_Identity();
    espyVec3 origin = espyBspBuild_Point(entity->origin);
    local.m[12] = origin.x;
    local.m[13] = origin.y;
    local.m[14] = origin.z;
    return espyBspBuild_AddMeshNode(b, name, espyNodeFlag_Dynamic | espyNodeFlag_CastsShadow, local);
}

/// Where a player or the game's own camera starts: places that a view is known to reach.
static bool espyBspBuild_IsCamera(const espyiBspEntity* entity)
{
    static const char* const starts[] = {"info_player_",        "team_ctf_redplayer", "team_ctf_blueplayer",
                                         "team_ctf_redspawn",   "team_ctf_bluespawn", "misc_portal_camera",
                                         "misc_teleporter_dest"};
    char lower[ESPYI_ENTITY_TEXT];
    for (size_t i = 0; i < sizeof lower; ++i)
    {
        char c = entity->className[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(starts); ++i)
    {
        if (strncmp(lower, starts[i], strlen(starts[i])) == 0)
        {
            return true;
        }
    }
    return false;
}

static espyResult espyBspBuild_Camera(espyBspBuild* b, const espyiBspEntity* entity)
{
    const float halfDegree = 3.14159265f / 360.0f;
    // Yaw 0 looks along Quake's +x, our camera along -z; pitch is positive downwards there.
    float yaw = (entity->angles[1] - 90.0f) * halfDegree;
    float pitch = -entity->angles[0] * halfDegree;
    float sy = sinf(yaw);
    float cy = cosf(yaw);
    float sp = sinf(pitch);
    float cp = cosf(pitch);
    const float rotation[4] = {cy * sp, sy * cp, -sy * sp, cy * cp};
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    def.local = espyMat4_FromTrs(espyBspBuild_Point(entity->origin), rotation, (espyVec3){1.0f, 1.0f, 1.0f});
    def.camera = (espyCamera){.verticalFov = 1.2870022f, // 90 degrees across a 4:3 screen, as the game starts with.
                              .aspect = 4.0f / 3.0f,
                              .nearDistance = 0.1f};
    def.name = entity->className;
    return espyBspBuild_AddNode(b, &def);
}

/// Walks the entities; brush models when `cameras` is false, cameras when it is true.
static espyResult espyBspBuild_Entities(espyBspBuild* b, bool cameras)
{
    size_t cursor = 0;
    espyiBspEntity entity;
    while (espyiBspEntity_Next(b->bsp->entities, b->bsp->entitySize, &cursor, &entity))
    {
        espyResult result = espyResult_Ok;
        uint32_t model = espyBspBuild_ModelOf(b, entity.model);
        if (!espyiImport_Charge(b->import, 1, sizeof(espyNodeDef), "the entities"))
        {
            return espyResult_LimitExceeded;
        }
        if (!cameras && model != 0)
        {
            result = espyBspBuild_BrushModel(b, &entity, model);
        }
        else if (cameras && entity.hasOrigin && espyBspBuild_IsCamera(&entity))
        {
            result = espyBspBuild_Camera(b, &entity);
        }
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    return espyResult_Ok;
}

espyResult espyiBspWorld_Build(espyiImport* import, const espyiBsp* bsp, const espyiShaderTable* table,
                               const uint32_t* entries)
{
    espyBspBuild b = {.import = import, .bsp = bsp, .table = table, .entries = entries, .mesh = {.import = import}};
    espyResult result = espyBspBuild_Surfaces(&b);
    if (result == espyResult_Ok)
    {
        b.drawn = espyiAlloc(&import->hooks, (size_t)bsp->faceCount + 1u, sizeof *b.drawn);
        result = b.drawn ? espyResult_Ok : espyiImport_FailMemory(import);
    }
    result = result == espyResult_Ok ? espyBspBuild_World(&b) : result;
    result = result == espyResult_Ok ? espyBspBuild_Entities(&b, false) : result;
    result = result == espyResult_Ok ? espyBspBuild_Entities(&b, true) : result;
    espyiMeshBuilder_Free(&b.mesh);
    espyiFree(&import->hooks, b.positions);
    espyiFree(&import->hooks, b.indices);
    espyiFree(&import->hooks, b.drawn);
    espyiFree(&import->hooks, b.surfaces);
    return result;
}
