// SPDX-License-Identifier: MIT
// Node defs as Lua tables: {kind = "StaticMesh3D", mesh = m, local = {position = {0, 1, 0}}, tags = {"Enemy"}, ...}.
#include "lua_calls.h"

#include <string.h>

#define ESPY_FIELD(type, kind, field)                           \
    {                                                           \
#field, espyLuaKind_##kind, offsetof(type, field), NULL \
    }
#define ESPY_CUSTOM(field)                  \
    {                                       \
#field, espyLuaKind_Custom, 0, NULL \
    }

static const espyLuaField espyLuaNodeFields[] = {
    {"kind", espyLuaKind_Enum, offsetof(espyNodeDef, kind), espyLuaNodeKinds},
    ESPY_CUSTOM(parent),
    ESPY_FIELD(espyNodeDef, Mat4, local),
    ESPY_CUSTOM(mesh),
    ESPY_CUSTOM(levels),
    ESPY_CUSTOM(occluderMesh),
    ESPY_CUSTOM(terrain),
    ESPY_CUSTOM(voxels),
    ESPY_FIELD(espyNodeDef, Box, bounds),
    ESPY_CUSTOM(jointBoxes),
    ESPY_CUSTOM(flags),
    ESPY_CUSTOM(instances),
    ESPY_FIELD(espyNodeDef, Float, unrollCellSize),
    ESPY_CUSTOM(camera),
    ESPY_CUSTOM(proxy),
    ESPY_FIELD(espyNodeDef, I32, sourceId),
    ESPY_CUSTOM(name),
    ESPY_CUSTOM(tags),
    {NULL, espyLuaKind_Custom, 0, NULL}};

static const espyLuaField espyLuaTerrainFields[] = {
    ESPY_CUSTOM(heights),
    ESPY_CUSTOM(holes),
    ESPY_FIELD(espyTerrain, U32, width),
    ESPY_FIELD(espyTerrain, U32, depth),
    ESPY_FIELD(espyTerrain, Float, spacing),
    {"material", espyLuaKind_Enum, offsetof(espyTerrain, material), espyLuaMaterials},
    ESPY_FIELD(espyTerrain, U32, color),
    {NULL, espyLuaKind_Custom, 0, NULL}};

static const espyLuaField espyLuaVoxelFields[] = {ESPY_FIELD(espyVoxels, U32x3, bricks),
                                                  ESPY_FIELD(espyVoxels, Float, voxelSize),
                                                  ESPY_CUSTOM(values),
                                                  ESPY_FIELD(espyVoxels, U32, color),
                                                  {NULL, espyLuaKind_Custom, 0, NULL}};

static const struct
{
    const char* name;
    uint32_t bit;
} espyLuaFlags[] = {
    {"OccluderStatic", espyNodeFlag_OccluderStatic},
    {"OccludeeStatic", espyNodeFlag_OccludeeStatic},
    {"Hidden", espyNodeFlag_Hidden},
    {"Blocker", espyNodeFlag_Blocker},
    {"Dynamic", espyNodeFlag_Dynamic},
    {"Skybox", espyNodeFlag_Skybox},
    {"AlwaysUpdate", espyNodeFlag_AlwaysUpdate},
    {"CastsShadow", espyNodeFlag_CastsShadow},
};

uint32_t espyLua_CheckFlags(lua_State* L, int index, const char* name)
{
    int table = espyLua_Absolute(L, index);
    espyLua_CheckTable(L, table, name);
    uint32_t flags = 0;
    lua_pushnil(L);
    while (lua_next(L, table))
    {
        const char* key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        size_t i = 0;
        while (i < sizeof espyLuaFlags / sizeof *espyLuaFlags && strcmp(espyLuaFlags[i].name, key) != 0)
        {
            ++i;
        }
        if (i == sizeof espyLuaFlags / sizeof *espyLuaFlags)
        {
            lua_pushfstring(L, "no flag is called '%s'; write {OccluderStatic = true}", key);
            espyLua_ArgumentError(L, name, lua_tostring(L, -1));
        }
        else if (espyLua_CheckBool(L, -1, key))
        {
            flags |= espyLuaFlags[i].bit;
        }
        lua_pop(L, 1);
    }
    return flags;
}

void espyLua_PushFlags(lua_State* L, uint32_t flags)
{
    lua_newtable(L);
    for (size_t i = 0; i < sizeof espyLuaFlags / sizeof *espyLuaFlags; ++i)
    {
        lua_pushboolean(L, (flags & espyLuaFlags[i].bit) != 0);
        lua_setfield(L, -2, espyLuaFlags[i].name);
    }
}

// --- parts of a def; each leaves its scratch memory, or nothing, on the stack below the field's value

/// Length of the array at the top.
static uint32_t espyLua_CheckCount(lua_State* L, const char* name)
{
    espyLua_CheckTable(L, -1, name);
    size_t count = espyLua_Length(L, -1);
    if (count > INT32_MAX)
    {
        espyLua_ArgumentError(L, name, "too many items");
    }
    return (uint32_t)count;
}

/// Pushes field `name`; false, and nothing pushed, where it is nil.
static bool espyLua_HasField(lua_State* L, int table, const char* name)
{
    lua_getfield(L, table, name);
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        return false;
    }
    return true;
}

/// Reads bytes from a string, or from an array of numbers, which `count` must match.
static const uint8_t* espyLua_CheckBytes(lua_State* L, const char* name, size_t count)
{
    if (lua_type(L, -1) == LUA_TSTRING)
    {
        size_t length;
        const char* text = lua_tolstring(L, -1, &length);
        if (length != count)
        {
            espyLua_ArgumentError(L, name, "the string has not one byte for each item");
        }
        // The string stays in the def's table, which the caller holds.
        return (const uint8_t*)text;
    }
    if (espyLua_CheckCount(L, name) != count)
    {
        espyLua_ArgumentError(L, name, "the array has not one number for each item");
    }
    uint8_t* bytes = espyLua_Scratch(L, count, 1);
    lua_insert(L, -2);
    for (size_t i = 0; i < count; ++i)
    {
        lua_rawgeti(L, -1, (int)i + 1);
        bytes[i] = (uint8_t)espyLua_CheckWhole(L, -1, name, 0, 255);
        lua_pop(L, 1);
    }
    return bytes;
}

static const espyTerrain* espyLua_CheckTerrain(lua_State* L)
{
    int table = lua_gettop(L);
    espyTerrain* terrain = espyLua_Scratch(L, 1, sizeof *terrain);
    *terrain = (espyTerrain){.color = 0x808080u};
    espyLua_ReadStruct(L, table, "terrain", espyLuaTerrainFields, terrain);
    uint64_t samples = (uint64_t)terrain->width * terrain->depth;
    if (terrain->width < 2 || terrain->depth < 2 || samples > ((uint64_t)1 << 28))
    {
        espyLua_ArgumentError(L, "terrain", "width and depth: at least 2 each, together at most 2^28");
    }
    lua_getfield(L, table, "heights");
    if (espyLua_CheckCount(L, "heights") != samples)
    {
        espyLua_ArgumentError(L, "heights", "width * depth numbers expected");
    }
    float* heights = espyLua_Scratch(L, (size_t)samples, sizeof *heights);
    lua_insert(L, -2);
    for (int i = 0; i < (int)samples; ++i)
    {
        lua_rawgeti(L, -1, i + 1);
        heights[i] = espyLua_CheckFloat(L, -1, "heights");
        lua_pop(L, 1);
    }
    terrain->heights = heights;
    if (espyLua_HasField(L, table, "holes"))
    {
        terrain->holes = espyLua_CheckBytes(L, "holes", (size_t)(terrain->width - 1) * (terrain->depth - 1));
    }
    return terrain;
}

static const espyVoxels* espyLua_CheckVoxels(lua_State* L)
{
    int table = lua_gettop(L);
    espyVoxels* voxels = espyLua_Scratch(L, 1, sizeof *voxels);
    *voxels = (espyVoxels){.bricks = {1, 1, 1}, .voxelSize = 1.0f, .color = 0x808080u};
    espyLua_ReadStruct(L, table, "voxels", espyLuaVoxelFields, voxels);
    uint64_t bricks = voxels->bricks[0] <= ESPY_VOXEL_MAX_BRICKS && voxels->bricks[1] <= ESPY_VOXEL_MAX_BRICKS
                          ? (uint64_t)voxels->bricks[0] * voxels->bricks[1]
                          : 0;
    bricks = bricks <= ESPY_VOXEL_MAX_BRICKS ? bricks * voxels->bricks[2] : 0;
    if (bricks < 1 || bricks > ESPY_VOXEL_MAX_BRICKS)
    {
        espyLua_ArgumentError(L, "bricks", "at least 1 along each axis, together at most 2^20");
    }
    if (espyLua_HasField(L, table, "values"))
    {
        size_t brick = (size_t)ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK;
        voxels->values = espyLua_CheckBytes(L, "values", (size_t)bricks * brick);
    }
    return voxels;
}

static void espyLua_CheckLevels(lua_State* L, const espyWorld* world, espyNodeDef* def)
{
    def->levelCount = espyLua_CheckCount(L, "levels");
    espyMeshId* levels = espyLua_Scratch(L, def->levelCount, sizeof *levels);
    lua_insert(L, -2);
    for (uint32_t i = 0; i < def->levelCount; ++i)
    {
        lua_rawgeti(L, -1, (int)i + 1);
        levels[i] = espyLua_CheckMesh(L, -1, "levels", world);
        lua_pop(L, 1);
    }
    def->levels = levels;
}

espyMat4* espyLua_CheckMatrices(lua_State* L, int index, const char* name, uint32_t* count)
{
    lua_pushvalue(L, index);
    *count = espyLua_CheckCount(L, name);
    espyMat4* matrices = espyLua_Scratch(L, *count, sizeof *matrices);
    lua_insert(L, -2);
    for (uint32_t i = 0; i < *count; ++i)
    {
        lua_rawgeti(L, -1, (int)i + 1);
        matrices[i] = espyLua_CheckMat4(L, -1, name);
        lua_pop(L, 1);
    }
    return matrices;
}

static void espyLua_CheckJointBoxes(lua_State* L, espyNodeDef* def)
{
    def->jointCount = espyLua_CheckCount(L, "jointBoxes");
    espyBox* boxes = espyLua_Scratch(L, def->jointCount, sizeof *boxes);
    lua_insert(L, -2);
    for (uint32_t i = 0; i < def->jointCount; ++i)
    {
        lua_rawgeti(L, -1, (int)i + 1);
        boxes[i] = espyLua_CheckBox(L, -1, "jointBoxes");
        lua_pop(L, 1);
    }
    def->jointBoxes = boxes;
}

const char** espyLua_CheckTags(lua_State* L, int index, const char* name, uint32_t* count)
{
    lua_pushvalue(L, index);
    if (lua_type(L, -1) == LUA_TSTRING)
    {
        const char** one = espyLua_Scratch(L, 1, sizeof *one);
        one[0] = lua_tostring(L, -2);
        *count = 1;
        return one;
    }
    if (!lua_istable(L, -1))
    {
        espyLua_TypeError(L, -1, name, "a tag or an array of tags");
    }
    *count = espyLua_CheckCount(L, name);
    const char** tags = espyLua_Scratch(L, *count, sizeof *tags);
    lua_insert(L, -2);
    for (uint32_t i = 0; i < *count; ++i)
    {
        lua_rawgeti(L, -1, (int)i + 1);
        // The array holds the string after it is popped.
        tags[i] = espyLua_CheckText(L, -1, name, NULL);
        lua_pop(L, 1);
    }
    return tags;
}

espyNodeDef espyLua_CheckNodeDef(lua_State* L, int index, const espyWorld* world)
{
    int table = espyLua_Absolute(L, index);
    espyNodeDef def = espyNodeDef_Default();
    luaL_checkstack(L, 40, "espy");
    espyLua_ReadStruct(L, table, "def", espyLuaNodeFields, &def);
    lua_getfield(L, table, "parent");
    def.parent = espyLua_OptionalNode(L, -1, "parent", world);
    if (espyLua_HasField(L, table, "mesh"))
    {
        def.mesh = espyLua_CheckMesh(L, -1, "mesh", world);
    }
    if (espyLua_HasField(L, table, "levels"))
    {
        espyLua_CheckLevels(L, world, &def);
    }
    if (espyLua_HasField(L, table, "occluderMesh"))
    {
        def.occluderMesh = espyLua_CheckMesh(L, -1, "occluderMesh", world);
    }
    if (espyLua_HasField(L, table, "terrain"))
    {
        espyLua_CheckTable(L, -1, "terrain");
        def.terrain = espyLua_CheckTerrain(L);
    }
    if (espyLua_HasField(L, table, "voxels"))
    {
        espyLua_CheckTable(L, -1, "voxels");
        def.voxels = espyLua_CheckVoxels(L);
    }
    if (espyLua_HasField(L, table, "jointBoxes"))
    {
        espyLua_CheckJointBoxes(L, &def);
    }
    if (espyLua_HasField(L, table, "flags"))
    {
        def.flags = espyLua_CheckFlags(L, -1, "flags");
    }
    if (espyLua_HasField(L, table, "instances"))
    {
        def.instances = espyLua_CheckMatrices(L, -1, "instances", &def.instanceCount);
    }
    if (espyLua_HasField(L, table, "camera"))
    {
        espyLua_ReadStruct(L, -1, "camera", espyLuaCameraFields, &def.camera);
    }
    if (espyLua_HasField(L, table, "proxy"))
    {
        def.proxy.present = true;
        espyLua_ReadStruct(L, -1, "proxy", espyLuaProxyFields, &def.proxy);
    }
    if (espyLua_HasField(L, table, "name"))
    {
        def.name = espyLua_CheckText(L, -1, "name", NULL);
    }
    if (espyLua_HasField(L, table, "tags"))
    {
        def.tags = espyLua_CheckTags(L, -1, "tags", &def.tagCount);
    }
    return def;
}

void espyLua_PushNodeDef(lua_State* L, int world, const espyNodeDef* def)
{
    int place = espyLua_Absolute(L, world);
    espyLua_PushStruct(L, espyLuaNodeFields, def);
    espyLua_PushNodeOf(L, place, def->parent);
    lua_setfield(L, -2, "parent");
    espyLua_PushMeshOf(L, place, def->mesh);
    lua_setfield(L, -2, "mesh");
    espyLua_PushMeshOf(L, place, def->occluderMesh);
    lua_setfield(L, -2, "occluderMesh");
    espyLua_PushFlags(L, def->flags);
    lua_setfield(L, -2, "flags");
    lua_createtable(L, (int)def->levelCount, 0);
    for (uint32_t i = 0; i < def->levelCount; ++i)
    {
        espyLua_PushMeshOf(L, place, def->levels[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "levels");
    lua_createtable(L, (int)def->instanceCount, 0);
    for (uint32_t i = 0; i < def->instanceCount; ++i)
    {
        espyLua_PushMat4(L, &def->instances[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "instances");
    lua_createtable(L, (int)def->jointCount, 0);
    for (uint32_t i = 0; i < def->jointCount; ++i)
    {
        espyLua_PushBox(L, def->jointBoxes[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "jointBoxes");
    if (def->kind == espyNodeKind_Camera3D)
    {
        espyLua_PushStruct(L, espyLuaCameraFields, &def->camera);
        lua_setfield(L, -2, "camera");
    }
    if (def->proxy.present)
    {
        espyLua_PushStruct(L, espyLuaProxyFields, &def->proxy);
        lua_setfield(L, -2, "proxy");
    }
    if (def->terrain)
    {
        espyLua_PushStruct(L, espyLuaTerrainFields, def->terrain);
        lua_setfield(L, -2, "terrain");
    }
    if (def->voxels)
    {
        espyLua_PushStruct(L, espyLuaVoxelFields, def->voxels);
        lua_setfield(L, -2, "voxels");
    }
    lua_pushstring(L, def->name ? def->name : "");
    lua_setfield(L, -2, "name");
    lua_createtable(L, (int)def->tagCount, 0);
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        lua_pushstring(L, def->tags[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "tags");
}
