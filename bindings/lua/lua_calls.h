// SPDX-License-Identifier: MIT
// The parts of the module: each adds its functions to the module table on top of the stack.
#ifndef ESPY_LUA_CALLS_H
#define ESPY_LUA_CALLS_H

#include "lua_objects.h"

#include <espy/query.h>

/// World: creation, settings, meshes, nodes.
void espyLua_OpenWorld(lua_State* L);
/// World and Node: what is asked of and done to one node.
void espyLua_OpenNodes(lua_State* L);
/// World: baked files, and what cameras see. ViewTracker: who came into view.
void espyLua_OpenData(lua_State* L);
/// Renderer: views, culled draws, counts.
void espyLua_OpenRenderer(lua_State* L);
/// ProxySet, and the proxies of nodes; the modules proxyOcclusion and espy.entity.
void espyLua_OpenProxies(lua_State* L);
void espyLua_OpenTesters(lua_State* L);
/// QuerySystem: objects, views and decisions of the host's query system.
void espyLua_OpenQueries(lua_State* L);
/// The system at `index`. The renderer at `renderer` (a handle) is told to let it go before the host takes it away.
espyQuerySystem* espyLua_BorrowQuerySystem(lua_State* L, int index, int renderer);
/// Ids of the system's views and objects as numbers.
espyQueryViewId espyLua_CheckQueryView(lua_State* L, int index);
void espyLua_PushQueryId(lua_State* L, int32_t index1, uint32_t generation);
/// Raster, Occluder, Recording: the software rasteriser.
void espyLua_OpenRasters(lua_State* L);

/// Reads a table {positions = {x, y, z, ...}, indices = {0, 1, 2, ...}}. Its memory stays on the stack.
espyTriangles espyLua_CheckTriangles(lua_State* L, int index, const char* name);

/// Reads argument `index` as an espyNodeDef. Scratch memory that the def points to stays on the stack.
espyNodeDef espyLua_CheckNodeDef(lua_State* L, int index, const espyWorld* world);
/// Pushes a node's def as a table.
void espyLua_PushNodeDef(lua_State* L, int world, const espyNodeDef* def);

/// Flags as a table {OccluderStatic = true, ...}, tags as one string or an array, an array of matrices.
uint32_t espyLua_CheckFlags(lua_State* L, int index, const char* name);
void espyLua_PushFlags(lua_State* L, uint32_t flags);
const char** espyLua_CheckTags(lua_State* L, int index, const char* name, uint32_t* count);
espyMat4* espyLua_CheckMatrices(lua_State* L, int index, const char* name, uint32_t* count);

/// Adds functions f(world, node, ...) to World, and to Node as node:f(...).
void espyLua_RegisterNodeCalls(lua_State* L, const luaL_Reg* functions);
/// Adds functions to the class table `name` of the module table on top.
void espyLua_RegisterClass(lua_State* L, const char* name, const luaL_Reg* functions);

#endif
