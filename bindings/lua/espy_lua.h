// SPDX-License-Identifier: MIT
// The Lua module of espy, for hosts that embed Lua: what a program calls to give its worlds and its renderer to
// scripts. Scripts themselves need none of this: `local espy = require("espy")`. One source builds for Lua 5.4, 5.1 and
// LuaJIT.
//
// Thread: owner of the lua_State and of the world at once; the module never locks.
#ifndef ESPY_LUA_H
#define ESPY_LUA_H

#include <espy/proxy.h>
#include <espy/query.h>
#include <espy/renderer.h>
#include <espy/world_testers.h>

#include <lua.h>

/// Opens the module and leaves its table on the stack (a lua_CFunction for luaL_requiref, package.preload or require).
ESPY_API int luaopen_espy(lua_State* L);

/// Pushes the handle of a world that the host owns; the same world gives the same handle while it lives. Call
/// espyLua_ForgetWorld before the world is destroyed. Errors: a Lua error where memory ends.
ESPY_API void espyLua_PushWorld(lua_State* L, espyWorld* world);
/// Pushes a node of a world that was pushed before, nil for a null or stale id.
ESPY_API void espyLua_PushNode(lua_State* L, espyWorld* world, espyNodeId node);
/// Makes every handle of the world and its nodes raise an error from now on. Does nothing for a world never pushed.
ESPY_API void espyLua_ForgetWorld(lua_State* L, espyWorld* world);
/// The world of the value at `index`, or null where it is no living world handle.
ESPY_API espyWorld* espyLua_ToWorld(lua_State* L, int index);

/// Makes a renderer of the host the one that scripts mean by Renderer.EnableOcclusionCulling(...). `world` is the one
/// that it culls. It is let go by espyLua_ForgetWorld, or by a null renderer; call either before it is destroyed.
ESPY_API void espyLua_SetRenderer(lua_State* L, espyRenderer* renderer, espyWorld* world);

/// Makes a set of the host the one that the module proxyOcclusion uses; null lets it go. Call it with null, or another
/// set, before it is destroyed.
ESPY_API void espyLua_SetProxySet(lua_State* L, espyProxySet* set);

/// Pushes the handle of a scene of testers that the host owns and runs; the same scene gives the same handle. Call
/// espyLua_ForgetTesterScene before it is destroyed: every handle of it then raises an error.
ESPY_API void espyLua_PushTesterScene(lua_State* L, espyTesterScene* scene);
ESPY_API void espyLua_ForgetTesterScene(lua_State* L, espyTesterScene* scene);
/// The same for testers on the nodes of a world: the handle of their scene, which then makes nodes targets and testers,
/// too. `world` is the one that they were created with.
ESPY_API void espyLua_PushWorldTesters(lua_State* L, espyWorldTesters* testers, const espyWorld* world);
/// Push a tester or a target of such a scene, nil for a null id.
ESPY_API void espyLua_PushTester(lua_State* L, espyTesterScene* scene, espyTesterId tester);
ESPY_API void espyLua_PushTesterTarget(lua_State* L, espyTesterScene* scene, espyTesterTargetId target);

/// Makes a query system of the host the one of QuerySystem.Get(); null lets it go, and so does another one. Call it
/// before the system is destroyed.
ESPY_API void espyLua_SetQuerySystem(lua_State* L, espyQuerySystem* system);

#endif
