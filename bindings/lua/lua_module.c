// SPDX-License-Identifier: MIT
// The module table that require("espy") gives.
#include "espy_lua.h"
#include "lua_calls.h"

int luaopen_espy(lua_State* L)
{
    luaL_checkstack(L, 16, "espy");
    lua_newtable(L);
    espyLua_OpenObjects(L);
    espyLua_OpenWorld(L);
    espyLua_OpenNodes(L);
    espyLua_OpenData(L);
    espyLua_OpenRenderer(L);
    espyLua_OpenProxies(L);
    espyLua_OpenTesters(L);
    espyLua_OpenQueries(L);
    espyLua_OpenRasters(L);
    lua_pushinteger(L, (lua_Integer)espyLib_GetVersion());
    lua_setfield(L, -2, "version");
    return 1;
}
