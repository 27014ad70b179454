// SPDX-License-Identifier: MIT
// World: creation, settings, meshes, the list of nodes.
#include "lua_calls.h"

/// Makes the owning handle of a new world; protected, since making it may run out of memory.
static int espyLuaWorld_Own(lua_State* L)
{
    espyLua_PushWorldHandle(L, lua_touserdata(L, 1), true);
    return 1;
}

static int World_Create(lua_State* L)
{
    espyWorldDef def = espyWorldDef_Default();
    lua_pushcfunction(L, espyLuaWorld_Own);
    espyWorld* world = NULL;
    espyLua_CheckResult(L, espyWorld_Create(&def, &world), NULL);
    lua_pushlightuserdata(L, world);
    if (lua_pcall(L, 1, 1, 0) != 0)
    {
        espyWorld_Destroy(world);
        return lua_error(L);
    }
    return 1;
}

static int World_SetSettings(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espySceneSettings settings = espyWorld_GetSettings(world);
    espyLua_ReadStruct(L, 2, "settings", espyLuaSettingsFields, &settings);
    espyWorld_SetSettings(world, &settings);
    return 0;
}

static int World_GetSettings(lua_State* L)
{
    espySceneSettings settings = espyWorld_GetSettings(espyLua_CheckWorld(L, 1));
    espyLua_PushStruct(L, espyLuaSettingsFields, &settings);
    return 1;
}

// --- meshes

static const espyLuaField espyLuaPartFields[] = {
    {"firstIndex", espyLuaKind_U32, offsetof(espyMeshPart, firstIndex), NULL},
    {"indexCount", espyLuaKind_U32, offsetof(espyMeshPart, indexCount), NULL},
    {"material", espyLuaKind_Enum, offsetof(espyMeshPart, material), espyLuaMaterials},
    {"color", espyLuaKind_U32, offsetof(espyMeshPart, color), NULL},
    {NULL, espyLuaKind_Custom, 0, NULL}};

/// Length of array field `name` of the table at `table`, which stays on the stack, divided by `of`.
static uint32_t espyLua_PushArray(lua_State* L, int table, const char* name, size_t of)
{
    lua_getfield(L, table, name);
    espyLua_CheckTable(L, -1, name);
    size_t count = espyLua_Length(L, -1);
    if (count % of != 0 || count > INT32_MAX)
    {
        espyLua_ArgumentError(L, name, "three numbers a point, three indices a triangle expected");
    }
    return (uint32_t)(count / of);
}

espyTriangles espyLua_CheckTriangles(lua_State* L, int index, const char* name)
{
    int table = espyLua_Absolute(L, index);
    espyLua_CheckTable(L, table, name);
    espyTriangles triangles = {.vertexCount = espyLua_PushArray(L, table, "positions", 3)};
    espyVec3* positions = espyLua_Scratch(L, triangles.vertexCount, sizeof *positions);
    for (uint32_t i = 0; i < triangles.vertexCount; ++i)
    {
        float v[3];
        for (int k = 0; k < 3; ++k)
        {
            lua_rawgeti(L, -2, (int)(3u * i) + k + 1);
            v[k] = espyLua_CheckFloat(L, -1, "positions");
            lua_pop(L, 1);
        }
        positions[i] = (espyVec3){v[0], v[1], v[2]};
    }
    triangles.positions = positions;
    triangles.triangleCount = espyLua_PushArray(L, table, "indices", 3);
    uint32_t* indices = espyLua_Scratch(L, (size_t)triangles.triangleCount * 3, sizeof *indices);
    for (uint32_t i = 0; i < 3 * triangles.triangleCount; ++i)
    {
        lua_rawgeti(L, -2, (int)i + 1);
        indices[i] = (uint32_t)espyLua_CheckWhole(L, -1, "indices", 0, UINT32_MAX);
        lua_pop(L, 1);
    }
    triangles.indices = indices;
    return triangles;
}

/// world:CreateMesh{positions = {x, y, z, ...}, indices = {0, 1, 2, ...}, parts = {...}, name = ""}
static int World_CreateMesh(lua_State* L)
{
    static const espyLuaField fields[] = {{"positions", espyLuaKind_Custom, 0, NULL},
                                          {"indices", espyLuaKind_Custom, 0, NULL},
                                          {"parts", espyLuaKind_Custom, 0, NULL},
                                          {"name", espyLuaKind_Custom, 0, NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyMeshDef def = espyMeshDef_Default();
    espyLua_ReadStruct(L, 2, "def", fields, &def);
    def.triangles = espyLua_CheckTriangles(L, 2, "def");
    lua_getfield(L, 2, "parts");
    if (!lua_isnil(L, -1))
    {
        def.partCount = espyLua_PushArray(L, 2, "parts", 1);
        espyMeshPart* parts = espyLua_Scratch(L, def.partCount, sizeof *parts);
        for (uint32_t i = 0; i < def.partCount; ++i)
        {
            parts[i] = (espyMeshPart){.color = 0x808080u};
            lua_rawgeti(L, -2, (int)i + 1);
            espyLua_ReadStruct(L, -1, "parts", espyLuaPartFields, &parts[i]);
            lua_pop(L, 1);
        }
        def.parts = parts;
    }
    lua_getfield(L, 2, "name");
    def.name = lua_isnil(L, -1) ? NULL : espyLua_CheckText(L, -1, "name", NULL);
    espyMeshId id;
    espyLua_CheckResult(L, espyWorld_CreateMesh(world, &def, &id), "an index past the end, or a part outside them");
    espyLua_PushMeshOf(L, 1, id);
    return 1;
}

static void espyLua_PushTriangles(lua_State* L, const espyTriangles* triangles)
{
    lua_createtable(L, (int)triangles->vertexCount * 3, 0);
    for (uint32_t i = 0; i < triangles->vertexCount; ++i)
    {
        const float v[3] = {triangles->positions[i].x, triangles->positions[i].y, triangles->positions[i].z};
        for (int k = 0; k < 3; ++k)
        {
            lua_pushnumber(L, (lua_Number)v[k]);
            lua_rawseti(L, -2, (int)(3u * i) + k + 1);
        }
    }
    lua_setfield(L, -2, "positions");
    lua_createtable(L, (int)triangles->triangleCount * 3, 0);
    for (uint32_t i = 0; i < 3 * triangles->triangleCount; ++i)
    {
        lua_pushinteger(L, (lua_Integer)triangles->indices[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "indices");
}

static void espyLua_PushParts(lua_State* L, const espyMeshPart* parts, uint32_t count)
{
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyLua_PushStruct(L, espyLuaPartFields, &parts[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    lua_setfield(L, -2, "parts");
}

static int World_GetMesh(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyMeshDef def;
    espyLua_CheckResult(L, espyWorld_GetMesh(world, espyLua_CheckMesh(L, 2, "mesh", world), &def), NULL);
    lua_newtable(L);
    espyLua_PushTriangles(L, &def.triangles);
    espyLua_PushParts(L, def.parts, def.partCount);
    lua_pushstring(L, def.name ? def.name : "");
    lua_setfield(L, -2, "name");
    return 1;
}

static int World_GetMeshCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyWorld_GetMeshCount(espyLua_CheckWorld(L, 1)));
    return 1;
}

/// Counts from 1, as Lua does; nil past the end.
static int World_GetMeshAt(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    uint32_t place = (uint32_t)espyLua_CheckWhole(L, 2, "index", 1, UINT32_MAX);
    espyLua_PushMeshOf(L, 1, espyWorld_GetMeshAt(world, place - 1));
    return 1;
}

/// Frees a surface when the script is done with it, or at the error that memory ended while copying it.
static int espyLuaSurface_Free(lua_State* L)
{
    espySurface_Free(lua_touserdata(L, 1));
    return 0;
}

static int World_BuildSurface(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", world);
    espySurface* surface = lua_newuserdata(L, sizeof *surface);
    *surface = (espySurface){0};
    lua_newtable(L);
    lua_pushcfunction(L, espyLuaSurface_Free);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    espyLua_CheckResult(L, espyWorld_BuildSurface(world, node, NULL, surface), "a Terrain3D or Voxel3D without a mesh");
    lua_newtable(L);
    espyLua_PushTriangles(L, &surface->triangles);
    espyLua_PushParts(L, surface->parts, surface->partCount);
    espySurface_Free(surface);
    return 1;
}

// --- nodes of a world

static int World_CreateNode(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeDef def = espyLua_CheckNodeDef(L, 2, world);
    espyNodeId id;
    espyLua_CheckResult(L, espyWorld_CreateNode(world, &def, &id),
                        "content that the kind does not take, a sourceId that is taken, or a value out of range");
    espyLua_PushNodeOf(L, 1, id);
    return 1;
}

static int World_GetNodeCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyWorld_GetNodeCount(espyLua_CheckWorld(L, 1)));
    return 1;
}

/// Counts from 1, as Lua does; nil past the end.
static int World_GetNodeAt(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    uint32_t place = (uint32_t)espyLua_CheckWhole(L, 2, "index", 1, UINT32_MAX);
    espyLua_PushNodeOf(L, 1, espyWorld_GetNodeAt(world, place - 1));
    return 1;
}

static int World_FindSource(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    int32_t source = (int32_t)espyLua_CheckWhole(L, 2, "sourceId", INT32_MIN, INT32_MAX);
    espyLua_PushNodeOf(L, 1, espyWorld_FindSource(world, source));
    return 1;
}

/// False for a destroyed node instead of an error; still an error for what is no Node.
static int World_IsNode(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLuaNode* node = espyLua_Test(L, 2, ESPY_LUA_NODE);
    if (!node)
    {
        return espyLua_TypeError(L, 2, "node", "a Node");
    }
    lua_pushboolean(L, node->owner->world == world && espyWorld_IsNode(world, node->id));
    return 1;
}

static int World_GetRevision(lua_State* L)
{
    lua_pushnumber(L, (lua_Number)espyWorld_GetRevision(espyLua_CheckWorld(L, 1)));
    return 1;
}

/// world:NextChange(since [, node]): the node that changed before `node`, nil at the end. Destroyed ones are left out.
static int World_NextChange(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    uint64_t since = (uint64_t)espyLua_CheckWhole(L, 2, "since", 0, (int64_t)1 << 53);
    espyNodeId node = espyLua_OptionalNode(L, 3, "node", world);
    while (espyWorld_NextChange(world, since, &node))
    {
        if (espyWorld_IsNode(world, node))
        {
            espyLua_PushNodeOf(L, 1, node);
            return 1;
        }
    }
    lua_pushnil(L);
    return 1;
}

static int World_SetActiveCamera(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLua_CheckResult(L, espyWorld_SetActiveCamera(world, espyLua_OptionalNode(L, 2, "camera", world)),
                        "a Camera3D expected");
    return 0;
}

static int World_GetActiveCamera(lua_State* L)
{
    espyLua_PushNodeOf(L, 1, espyWorld_GetActiveCamera(espyLua_CheckWorld(L, 1)));
    return 1;
}

void espyLua_RegisterClass(lua_State* L, const char* name, const luaL_Reg* functions)
{
    lua_getfield(L, -1, name);
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, name);
    }
    espyLua_Register(L, functions);
    lua_pop(L, 1);
}

void espyLua_OpenWorld(lua_State* L)
{
    static const luaL_Reg functions[] = {{"Create", World_Create},
                                         {"SetSettings", World_SetSettings},
                                         {"GetSettings", World_GetSettings},
                                         {"CreateMesh", World_CreateMesh},
                                         {"GetMesh", World_GetMesh},
                                         {"GetMeshCount", World_GetMeshCount},
                                         {"GetMeshAt", World_GetMeshAt},
                                         {"BuildSurface", World_BuildSurface},
                                         {"CreateNode", World_CreateNode},
                                         {"GetNodeCount", World_GetNodeCount},
                                         {"GetNodeAt", World_GetNodeAt},
                                         {"FindSource", World_FindSource},
                                         {"IsNode", World_IsNode},
                                         {"GetRevision", World_GetRevision},
                                         {"NextChange", World_NextChange},
                                         {"SetActiveCamera", World_SetActiveCamera},
                                         {"GetActiveCamera", World_GetActiveCamera},
                                         {NULL, NULL}};
    espyLua_RegisterClass(L, "World", functions);
}
