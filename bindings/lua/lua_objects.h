// SPDX-License-Identifier: MIT
// The handles that scripts hold: worlds, nodes, meshes. A handle never dangles: it remembers its world's box, which is
// emptied when the world goes, and checks its generation at every use.
//
// Each world has one Lua table, shared by all its handles: the world's own handle (so that a node keeps it alive), a
// weak list of node handles (the same node is the same value), the fields that scripts set on nodes, and the bytes of
// loaded data.
#ifndef ESPY_LUA_OBJECTS_H
#define ESPY_LUA_OBJECTS_H

#include "lua_values.h"

#define ESPY_LUA_WORLD "espy.World"
#define ESPY_LUA_NODE "espy.Node"
#define ESPY_LUA_MESH "espy.Mesh"

typedef struct espyLuaWorld
{
    espyWorld* world;                    ///< Null once it is gone.
    bool owned;                          ///< Destroyed with the handle.
    bool inNotice;                       ///< The data callback is running: the world is in the middle of a change.
    struct espyLuaDependent* dependents; ///< Destroyed before the world.
    lua_State* noticeThread;             ///< Runs the data callback; held by the shared table. Null: no callback.
} espyLuaWorld;

/// User data of an object that stands on a world: a tracker, a renderer. Shares its world's table, so that the world's
/// handle lives as long.
typedef struct espyLuaDependent
{
    espyLuaWorld* owner;
    void* object;           ///< Null once it is gone.
    void (*destroy)(void*); ///< Null: the host owns it.
    struct espyLuaDependent *previous, *next;
} espyLuaDependent;

typedef struct espyLuaNode
{
    espyLuaWorld* owner; ///< Alive as long as this handle: the shared table holds it.
    espyNodeId id;
} espyLuaNode;

typedef struct espyLuaMesh
{
    espyLuaWorld* owner;
    espyMeshId id;
} espyLuaMesh;

/// Makes the metatables and leaves the class tables World, Node and Mesh in the module table on top.
void espyLua_OpenObjects(lua_State* L);
/// Pushes empty user data of `type` that stands on the world at stack index `world`; Hold gives it its object.
espyLuaDependent* espyLua_PushDependent(lua_State* L, int world, const char* type);
void espyLua_HoldObject(espyLuaDependent* dependent, void* object, void (*destroy)(void*));
/// Destroys the object, if it is there and owned.
void espyLua_DropObject(espyLuaDependent* dependent);
/// The living dependent of `type` at `index`; raises an error that says what it is instead.
espyLuaDependent* espyLua_CheckDependent(lua_State* L, int index, const char* name, const char* type);
/// Makes the metatable of a kind of dependents, whose functions are those of class `name` of the table on top.
void espyLua_OpenDependent(lua_State* L, const char* type, const char* name, lua_CFunction destroy);
/// Pushes the handle of the world that a dependent stands on, at `index`.
void espyLua_PushOwner(lua_State* L, int index);
/// Pushes a handle of a world, made on first use.
void espyLua_PushWorldHandle(lua_State* L, espyWorld* world, bool owned);

/// The living world of argument `index`; raises an error that says what it is instead.
espyWorld* espyLua_CheckWorld(lua_State* L, int index);
/// The living node of `world` at `index`; errors tell a wrong type, another world's node and a destroyed one apart.
espyNodeId espyLua_CheckNode(lua_State* L, int index, const char* name, const espyWorld* world);
/// The same, where nil or nothing stands for none: the null id.
espyNodeId espyLua_OptionalNode(lua_State* L, int index, const char* name, const espyWorld* world);
espyMeshId espyLua_CheckMesh(lua_State* L, int index, const char* name, const espyWorld* world);

/// Pushes the handle of a node of the world at stack index `world`; nil for an id that is no node.
void espyLua_PushNodeOf(lua_State* L, int world, espyNodeId id);
void espyLua_PushMeshOf(lua_State* L, int world, espyMeshId id);

/// Pushes the table `key` of the table that all handles of the world at `world` share; made on first use.
void espyLua_PushShared(lua_State* L, int world, const char* key);

#endif
