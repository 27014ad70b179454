// SPDX-License-Identifier: MIT
// The handles that scripts hold: worlds, nodes, meshes.
#include "lua_objects.h"

#include "espy_lua.h"

#include <espy/world_data.h>

#include <string.h>

static char espyLuaWorldsKey; ///< Registry: weak table from the address of a world to its handle.

static void espyLua_PushWeakTable(lua_State* L)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
}

static void espyLua_PushWorlds(lua_State* L)
{
    lua_pushlightuserdata(L, &espyLuaWorldsKey);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        espyLua_PushWeakTable(L);
        lua_pushlightuserdata(L, &espyLuaWorldsKey);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
}

// --- worlds

void espyLua_PushWorldHandle(lua_State* L, espyWorld* world, bool owned)
{
    luaL_checkstack(L, 8, "espy");
    espyLua_PushWorlds(L);
    lua_pushlightuserdata(L, world);
    lua_rawget(L, -2);
    espyLuaWorld* known = lua_touserdata(L, -1);
    if (known && known->world == world)
    {
        lua_remove(L, -2);
        return;
    }
    lua_pop(L, 1);
    espyLuaWorld* box = lua_newuserdata(L, sizeof *box);
    *box = (espyLuaWorld){0};
    luaL_getmetatable(L, ESPY_LUA_WORLD);
    lua_setmetatable(L, -2);
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "handle");
    espyLua_PushWeakTable(L);
    lua_setfield(L, -2, "nodes");
    espyLua_SetUserTable(L, -2);
    lua_pushlightuserdata(L, world);
    lua_pushvalue(L, -2);
    lua_rawset(L, -4);
    lua_remove(L, -2);
    if (!owned)
    {
        // The host's worlds keep their handle, and with it what scripts set on nodes, until the host says otherwise.
        lua_pushlightuserdata(L, world);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    // Last: from here on the handle's finaliser destroys what it owns, and nothing above can leave it behind.
    box->world = world;
    box->owned = owned;
}

void espyLua_PushWorld(lua_State* L, espyWorld* world)
{
    espyLua_PushWorldHandle(L, world, false);
}

espyWorld* espyLua_ToWorld(lua_State* L, int index)
{
    espyLuaWorld* box = espyLua_Test(L, index, ESPY_LUA_WORLD);
    return box ? box->world : NULL;
}

espyWorld* espyLua_CheckWorld(lua_State* L, int index)
{
    espyLuaWorld* box = espyLua_Test(L, index, ESPY_LUA_WORLD);
    if (!box)
    {
        espyLua_TypeError(L, index, "world", "a World (call it as world:Function)");
        return NULL;
    }
    if (!box->world)
    {
        espyLua_ArgumentError(L, "world", "this world was destroyed");
    }
    if (box->inNotice)
    {
        espyLua_ArgumentError(L, "world", "not from within its data callback: remember the notice, act on it later");
    }
    return box->world;
}

// --- what stands on a world

espyLuaDependent* espyLua_PushDependent(lua_State* L, int world, const char* type)
{
    int place = espyLua_Absolute(L, world);
    espyLuaDependent* dependent = lua_newuserdata(L, sizeof *dependent);
    *dependent = (espyLuaDependent){.owner = lua_touserdata(L, place)};
    luaL_getmetatable(L, type);
    lua_setmetatable(L, -2);
    espyLua_GetUserTable(L, place);
    espyLua_SetUserTable(L, -2);
    return dependent;
}

void espyLua_HoldObject(espyLuaDependent* dependent, void* object, void (*destroy)(void*))
{
    dependent->object = object;
    dependent->destroy = destroy;
    dependent->next = dependent->owner->dependents;
    if (dependent->next)
    {
        dependent->next->previous = dependent;
    }
    dependent->owner->dependents = dependent;
}

void espyLua_DropObject(espyLuaDependent* dependent)
{
    if (!dependent->object)
    {
        return;
    }
    if (dependent->destroy)
    {
        dependent->destroy(dependent->object);
    }
    dependent->object = NULL;
    *(dependent->previous ? &dependent->previous->next : &dependent->owner->dependents) = dependent->next;
    if (dependent->next)
    {
        dependent->next->previous = dependent->previous;
    }
    dependent->previous = dependent->next = NULL;
}

espyLuaDependent* espyLua_CheckDependent(lua_State* L, int index, const char* name, const char* type)
{
    espyLuaDependent* dependent = espyLua_Test(L, index, type);
    if (!dependent)
    {
        espyLua_TypeError(L, index, name, type);
        return NULL;
    }
    if (!dependent->object)
    {
        espyLua_ArgumentError(L, name, "it or its world was destroyed");
    }
    if (dependent->owner->inNotice)
    {
        espyLua_ArgumentError(L, name, "not from within its world's data callback");
    }
    return dependent;
}

void espyLua_OpenDependent(lua_State* L, const char* type, const char* name, lua_CFunction destroy)
{
    luaL_newmetatable(L, type);
    lua_pushcfunction(L, destroy);
    lua_setfield(L, -2, "__gc");
    lua_getfield(L, -2, name);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void espyLua_PushOwner(lua_State* L, int index)
{
    espyLua_GetUserTable(L, index);
    lua_getfield(L, -1, "handle");
    lua_remove(L, -2);
}

/// What the module holds of a world's C side goes before the world does.
static void espyLuaWorld_Detach(espyLuaWorld* box)
{
    while (box->dependents)
    {
        espyLua_DropObject(box->dependents);
    }
    if (box->noticeThread)
    {
        espyWorld_SetDataCallback(box->world, NULL, NULL);
        box->noticeThread = NULL;
    }
}

void espyLua_ForgetWorld(lua_State* L, espyWorld* world)
{
    espyLua_PushWorlds(L);
    lua_pushlightuserdata(L, world);
    lua_rawget(L, -2);
    espyLuaWorld* box = lua_touserdata(L, -1);
    if (box && box->world)
    {
        espyLuaWorld_Detach(box);
        box->world = NULL;
    }
    lua_pop(L, 1);
    lua_pushlightuserdata(L, world);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    lua_pushlightuserdata(L, world);
    lua_pushnil(L);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/// world:Destroy(), and the end of the handle.
static int espyLuaWorld_Destroy(lua_State* L)
{
    espyLuaWorld* box = espyLua_Test(L, 1, ESPY_LUA_WORLD);
    if (!box || !box->world)
    {
        return 0;
    }
    if (box->inNotice)
    {
        return espyLua_ArgumentError(L, "world", "not from within its data callback");
    }
    espyLuaWorld_Detach(box);
    if (box->owned)
    {
        espyWorld_Destroy(box->world);
    }
    box->world = NULL;
    return 0;
}

static int espyLuaWorld_ToString(lua_State* L)
{
    espyWorld* world = espyLua_ToWorld(L, 1);
    if (world)
    {
        lua_pushfstring(L, "World (%d nodes)", (int)espyWorld_GetNodeCount(world));
    }
    else
    {
        lua_pushliteral(L, "World (destroyed)");
    }
    return 1;
}

void espyLua_PushShared(lua_State* L, int world, const char* key)
{
    luaL_checkstack(L, 4, "espy");
    espyLua_GetUserTable(L, world);
    lua_getfield(L, -1, key);
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, key);
    }
    lua_remove(L, -2);
}

// --- nodes

static bool espyLua_SameId(espyNodeId a, espyNodeId b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

void espyLua_PushNodeOf(lua_State* L, int world, espyNodeId id)
{
    int place = espyLua_Absolute(L, world);
    espyLuaWorld* box = lua_touserdata(L, place);
    if (!espyWorld_IsNode(box->world, id))
    {
        lua_pushnil(L);
        return;
    }
    espyLua_PushShared(L, place, "nodes");
    lua_rawgeti(L, -1, id.index1);
    espyLuaNode* node = lua_touserdata(L, -1);
    if (!node || !espyLua_SameId(node->id, id))
    {
        lua_pop(L, 1);
        node = lua_newuserdata(L, sizeof *node);
        *node = (espyLuaNode){box, id};
        luaL_getmetatable(L, ESPY_LUA_NODE);
        lua_setmetatable(L, -2);
        espyLua_GetUserTable(L, place);
        espyLua_SetUserTable(L, -2);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, id.index1);
    }
    lua_remove(L, -2);
}

void espyLua_PushNode(lua_State* L, espyWorld* world, espyNodeId node)
{
    espyLua_PushWorldHandle(L, world, false);
    espyLua_PushNodeOf(L, -1, node);
    lua_remove(L, -2);
}

espyNodeId espyLua_CheckNode(lua_State* L, int index, const char* name, const espyWorld* world)
{
    espyLuaNode* node = espyLua_Test(L, index, ESPY_LUA_NODE);
    if (!node)
    {
        espyLua_TypeError(L, index, name, "a Node");
        return (espyNodeId){0, 0};
    }
    if (!node->owner->world)
    {
        espyLua_ArgumentError(L, name, "the world of this node was destroyed");
    }
    if (node->owner->world != world)
    {
        espyLua_ArgumentError(L, name, "this node is of another world");
    }
    if (!espyWorld_IsNode(world, node->id))
    {
        espyLua_ArgumentError(L, name, "this node was destroyed");
    }
    return node->id;
}

espyNodeId espyLua_OptionalNode(lua_State* L, int index, const char* name, const espyWorld* world)
{
    return lua_isnoneornil(L, index) ? (espyNodeId){0, 0} : espyLua_CheckNode(L, index, name, world);
}

/// Pushes the table of fields that scripts set on a node, or nil; makes it where `make`. What an earlier node of the
/// same place was given is dropped.
static void espyLua_PushFields(lua_State* L, int index, const espyLuaNode* node, bool make)
{
    espyLua_GetUserTable(L, index);
    lua_getfield(L, -1, "fields");
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushvalue(L, -1);
        lua_setfield(L, -3, "fields");
    }
    lua_remove(L, -2);
    lua_rawgeti(L, -1, node->id.index1);
    if (lua_istable(L, -1))
    {
        lua_rawgeti(L, -1, 1);
        bool same = lua_tonumber(L, -1) == (lua_Number)node->id.generation;
        lua_pop(L, 1);
        if (same)
        {
            lua_rawgeti(L, -1, 2);
            lua_remove(L, -2);
            lua_remove(L, -2);
            return;
        }
    }
    lua_pop(L, 1);
    if (!make)
    {
        lua_pop(L, 1);
        lua_pushnil(L);
        return;
    }
    lua_createtable(L, 2, 0);
    lua_pushnumber(L, (lua_Number)node->id.generation);
    lua_rawseti(L, -2, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, 2);
    lua_insert(L, -3);
    lua_rawseti(L, -2, node->id.index1);
    lua_pop(L, 1);
}

/// node.field: what the script set, then the functions of Node.
static int espyLuaNode_Index(lua_State* L)
{
    const espyLuaNode* node = espyLua_Test(L, 1, ESPY_LUA_NODE);
    if (!node)
    {
        return espyLua_TypeError(L, 1, "self", "a Node");
    }
    espyLua_PushFields(L, 1, node, false);
    if (!lua_isnil(L, -1))
    {
        lua_pushvalue(L, 2);
        lua_rawget(L, -2);
        if (!lua_isnil(L, -1))
        {
            return 1;
        }
    }
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    return 1;
}

static int espyLuaNode_NewIndex(lua_State* L)
{
    const espyLuaNode* node = espyLua_Test(L, 1, ESPY_LUA_NODE);
    if (!node)
    {
        return espyLua_TypeError(L, 1, "self", "a Node");
    }
    if (!node->owner->world || !espyWorld_IsNode(node->owner->world, node->id))
    {
        return luaL_error(L, "set field: self: this node was destroyed");
    }
    if (lua_isnil(L, 2))
    {
        return luaL_error(L, "set field: a name expected, got nil");
    }
    espyLua_PushFields(L, 1, node, true);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_rawset(L, -3);
    return 0;
}

static int espyLuaNode_Equal(lua_State* L)
{
    const espyLuaNode* a = espyLua_Test(L, 1, ESPY_LUA_NODE);
    const espyLuaNode* b = espyLua_Test(L, 2, ESPY_LUA_NODE);
    lua_pushboolean(L, a && b && a->owner == b->owner && espyLua_SameId(a->id, b->id));
    return 1;
}

static int espyLuaNode_ToString(lua_State* L)
{
    const espyLuaNode* node = espyLua_Test(L, 1, ESPY_LUA_NODE);
    espyNodeDef def;
    if (node && node->owner->world && espyWorld_GetNode(node->owner->world, node->id, &def) == espyResult_Ok)
    {
        lua_pushfstring(L, "%s '%s' (%d.%d)", espyLuaNodeKinds[def.kind], def.name ? def.name : "", node->id.index1,
                        (int)node->id.generation);
    }
    else
    {
        lua_pushliteral(L, "Node (destroyed)");
    }
    return 1;
}

// --- meshes

void espyLua_PushMeshOf(lua_State* L, int world, espyMeshId id)
{
    int place = espyLua_Absolute(L, world);
    if (id.index1 == 0)
    {
        lua_pushnil(L);
        return;
    }
    espyLuaMesh* mesh = lua_newuserdata(L, sizeof *mesh);
    *mesh = (espyLuaMesh){lua_touserdata(L, place), id};
    luaL_getmetatable(L, ESPY_LUA_MESH);
    lua_setmetatable(L, -2);
    espyLua_GetUserTable(L, place);
    espyLua_SetUserTable(L, -2);
}

espyMeshId espyLua_CheckMesh(lua_State* L, int index, const char* name, const espyWorld* world)
{
    espyLuaMesh* mesh = espyLua_Test(L, index, ESPY_LUA_MESH);
    if (!mesh)
    {
        espyLua_TypeError(L, index, name, "a Mesh");
        return (espyMeshId){0, 0};
    }
    if (mesh->owner->world != world)
    {
        espyLua_ArgumentError(L, name, "this mesh is of another world");
    }
    return mesh->id;
}

static int espyLuaMesh_Equal(lua_State* L)
{
    const espyLuaMesh* a = espyLua_Test(L, 1, ESPY_LUA_MESH);
    const espyLuaMesh* b = espyLua_Test(L, 2, ESPY_LUA_MESH);
    lua_pushboolean(L, a && b && a->owner == b->owner && a->id.index1 == b->id.index1 &&
                           a->id.generation == b->id.generation);
    return 1;
}

// --- classes

void espyLua_OpenObjects(lua_State* L)
{
    static const luaL_Reg world[] = {
        {"__gc", espyLuaWorld_Destroy}, {"__tostring", espyLuaWorld_ToString}, {NULL, NULL}};
    static const luaL_Reg node[] = {{"__newindex", espyLuaNode_NewIndex},
                                    {"__eq", espyLuaNode_Equal},
                                    {"__tostring", espyLuaNode_ToString},
                                    {NULL, NULL}};
    static const luaL_Reg mesh[] = {{"__eq", espyLuaMesh_Equal}, {NULL, NULL}};
    luaL_newmetatable(L, ESPY_LUA_WORLD);
    espyLua_Register(L, world);
    lua_newtable(L);
    lua_pushcfunction(L, espyLuaWorld_Destroy);
    lua_setfield(L, -2, "Destroy");
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, "World");
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "World");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);

    luaL_newmetatable(L, ESPY_LUA_NODE);
    espyLua_Register(L, node);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, "Node");
    lua_pushcclosure(L, espyLuaNode_Index, 1);
    lua_setfield(L, -2, "__index");
    lua_pushliteral(L, "Node");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);

    luaL_newmetatable(L, ESPY_LUA_MESH);
    espyLua_Register(L, mesh);
    lua_pushliteral(L, "Mesh");
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}
