// SPDX-License-Identifier: MIT
// ProxySet: capsules that darken what is near them; World: the proxies of nodes. The modules `proxyOcclusion` and
// `entity` stand on these; they are written in Lua (lua_modules.lua) and built in.
#include "lua_calls.h"

#include "espy_lua.h"
#include "lua_modules.inl"

#include <espy/world_proxy.h>

#define ESPY_LUA_PROXY_SET "a ProxySet"

typedef struct espyLuaProxySet
{
    espyProxySet* set; ///< Null once it is gone.
    bool owned;
    uint64_t revision; ///< Of the world followed last.
    const espyWorld* followed;
} espyLuaProxySet;

static char espyLuaProxySetKey; ///< Registry: the set that the module proxyOcclusion uses.

static const char* const espyLuaTechniques[] = {"Loop", "Clusters", NULL};
static const char* const espyLuaModes[] = {"Estimate", "Ambient", NULL};
static const char* const espyLuaInsides[] = {"Continuous", "Solid", NULL};

#define ESPY_FIELD(type, kind, field)                           \
    {                                                           \
#field, espyLuaKind_##kind, offsetof(type, field), NULL \
    }

static const espyLuaField espyLuaProxyDefFields[] = {ESPY_FIELD(espyProxyDef, Vec3, a),
                                                     ESPY_FIELD(espyProxyDef, Vec3, b),
                                                     ESPY_FIELD(espyProxyDef, Float, radius),
                                                     ESPY_FIELD(espyProxyDef, Float, radiusB),
                                                     ESPY_FIELD(espyProxyDef, Float, strength),
                                                     ESPY_FIELD(espyProxyDef, U32, group),
                                                     ESPY_FIELD(espyProxyDef, U32, viewMask),
                                                     ESPY_FIELD(espyProxyDef, U32, owner),
                                                     ESPY_FIELD(espyProxyDef, Float, selfStrength),
                                                     {NULL, espyLuaKind_Custom, 0, NULL}};

static const espyLuaField espyLuaProxySettingsFields[] = {
    ESPY_FIELD(espyProxySettings, Float, intensity),
    ESPY_FIELD(espyProxySettings, Float, power),
    ESPY_FIELD(espyProxySettings, Float, minDistance),
    ESPY_FIELD(espyProxySettings, Float, maxDistance),
    {"mode", espyLuaKind_Enum, offsetof(espyProxySettings, mode), espyLuaModes},
    {"inside", espyLuaKind_Enum, offsetof(espyProxySettings, inside), espyLuaInsides},
    ESPY_FIELD(espyProxySettings, Float, detail),
    ESPY_FIELD(espyProxySettings, U32, maxExact),
    {NULL, espyLuaKind_Custom, 0, NULL}};

static espyLuaProxySet* espyLua_CheckProxySet(lua_State* L, int index)
{
    espyLuaProxySet* box = espyLua_Test(L, index, ESPY_LUA_PROXY_SET);
    if (!box)
    {
        espyLua_TypeError(L, index, "set", ESPY_LUA_PROXY_SET);
        return NULL;
    }
    if (!box->set)
    {
        espyLua_ArgumentError(L, "set", "this set was destroyed");
    }
    return box;
}

static espyLuaProxySet* espyLua_PushProxySet(lua_State* L)
{
    espyLuaProxySet* box = lua_newuserdata(L, sizeof *box);
    *box = (espyLuaProxySet){0};
    luaL_getmetatable(L, ESPY_LUA_PROXY_SET);
    lua_setmetatable(L, -2);
    return box;
}

/// ProxySet.Create [{technique = "Loop", limit = 64}]
static int ProxySet_Create(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"technique", espyLuaKind_Enum, offsetof(espyProxySetDef, technique), espyLuaTechniques},
        {"limit", espyLuaKind_U32, offsetof(espyProxySetDef, limit), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyProxySetDef def = espyProxySetDef_Default();
    if (!lua_isnoneornil(L, 1))
    {
        espyLua_ReadStruct(L, 1, "def", fields, &def);
    }
    espyLuaProxySet* box = espyLua_PushProxySet(L);
    espyLua_CheckResult(L, espyProxySet_Create(&def, &box->set), "limit: at most 64 with Loop, 65536 with Clusters");
    box->owned = true;
    return 1;
}

static int ProxySet_Destroy(lua_State* L)
{
    espyLuaProxySet* box = espyLua_Test(L, 1, ESPY_LUA_PROXY_SET);
    if (box && box->set && box->owned)
    {
        espyProxySet_Destroy(box->set);
    }
    if (box)
    {
        box->set = NULL;
    }
    return 0;
}

void espyLua_SetProxySet(lua_State* L, espyProxySet* set)
{
    lua_pushlightuserdata(L, &espyLuaProxySetKey);
    lua_pushvalue(L, -1);
    lua_rawget(L, LUA_REGISTRYINDEX);
    espyLuaProxySet* before = espyLua_Test(L, -1, ESPY_LUA_PROXY_SET);
    if (before && !before->owned)
    {
        before->set = NULL;
    }
    lua_pop(L, 1);
    if (set)
    {
        espyLua_PushProxySet(L)->set = set;
    }
    else
    {
        lua_pushnil(L);
    }
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/// ProxySet.Get(): the set that the program gave, else one of the module's own.
static int ProxySet_GetDefault(lua_State* L)
{
    lua_settop(L, 0);
    lua_pushlightuserdata(L, &espyLuaProxySetKey);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, 1))
    {
        lua_settop(L, 0);
        ProxySet_Create(L);
        lua_pushlightuserdata(L, &espyLuaProxySetKey);
        lua_pushvalue(L, 1);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
    return 1;
}

/// Raises what a call refused, by the field's name; pushes the name of a field that was clamped, or nil.
static int espyLua_PushIssue(lua_State* L, espyResult result, const espyProxyIssue* issue)
{
    if (result == espyResult_LimitExceeded)
    {
        espyLua_ArgumentError(L, "limit", "the set holds as many proxies as it may");
    }
    else if (result != espyResult_Ok && issue->field)
    {
        espyLua_ArgumentError(L, issue->field, "out of range, or not finite");
    }
    espyLua_CheckResult(L, result, NULL);
    lua_pushstring(L, issue->field);
    return 1;
}

static espyProxyDef espyLua_CheckProxyDef(lua_State* L, int index)
{
    espyProxyDef def = espyProxyDef_Default();
    espyLua_ReadStruct(L, index, "def", espyLuaProxyDefFields, &def);
    lua_getfield(L, index, "b");
    def.hasB = !lua_isnil(L, -1);
    lua_pop(L, 1);
    return def;
}

static int espyLua_PushProxyDef(lua_State* L, espyResult result, const espyProxyDef* def)
{
    if (result == espyResult_NotFound)
    {
        lua_pushnil(L);
        return 1;
    }
    espyLua_CheckResult(L, result, NULL);
    espyLua_PushStruct(L, espyLuaProxyDefFields, def);
    if (!def->hasB)
    {
        lua_pushnil(L);
        lua_setfield(L, -2, "b");
    }
    return 1;
}

static uint64_t espyLua_CheckProxyId(lua_State* L, int index)
{
    return (uint64_t)espyLua_CheckWhole(L, index, "id", 0, (int64_t)1 << 53);
}

/// set:Set(key, {a = {x, y, z} [, b = ], radius = , ...}): the name of a field that was brought into range, or nil.
static int ProxySet_Set(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    const char* key = espyLua_CheckText(L, 2, "key", NULL);
    espyProxyDef def = espyLua_CheckProxyDef(L, 3);
    espyProxyIssue issue = {0};
    espyResult result = espyProxySet_Set(box->set, key, &def, &issue);
    return espyLua_PushIssue(L, result, &issue);
}

static int ProxySet_SetId(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    uint64_t id = espyLua_CheckProxyId(L, 2);
    espyProxyDef def = espyLua_CheckProxyDef(L, 3);
    espyProxyIssue issue = {0};
    espyResult result = espyProxySet_SetId(box->set, id, &def, &issue);
    return espyLua_PushIssue(L, result, &issue);
}

/// Returns whether there was one.
static int ProxySet_Remove(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    lua_pushboolean(L, espyProxySet_Remove(box->set, espyLua_CheckText(L, 2, "key", NULL)) == espyResult_Ok);
    return 1;
}

static int ProxySet_RemoveId(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    lua_pushboolean(L, espyProxySet_RemoveId(box->set, espyLua_CheckProxyId(L, 2)) == espyResult_Ok);
    return 1;
}

static int ProxySet_Get(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    espyProxyDef def;
    espyResult result = espyProxySet_Get(box->set, espyLua_CheckText(L, 2, "key", NULL), &def);
    return espyLua_PushProxyDef(L, result, &def);
}

static int ProxySet_GetId(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    espyProxyDef def;
    espyResult result = espyProxySet_GetId(box->set, espyLua_CheckProxyId(L, 2), &def);
    return espyLua_PushProxyDef(L, result, &def);
}

/// Fields that are left out stay as they are. The name of a field that was brought into range, or nil.
static int ProxySet_Configure(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    espyProxySettings settings = espyProxySet_GetSettings(box->set);
    espyLua_ReadStruct(L, 2, "settings", espyLuaProxySettingsFields, &settings);
    espyProxyIssue issue = {0};
    espyResult result = espyProxySet_Configure(box->set, &settings, &issue);
    return espyLua_PushIssue(L, result, &issue);
}

static int ProxySet_GetSettings(lua_State* L)
{
    espyProxySettings settings = espyProxySet_GetSettings(espyLua_CheckProxySet(L, 1)->set);
    espyLua_PushStruct(L, espyLuaProxySettingsFields, &settings);
    return 1;
}

static int ProxySet_Clear(lua_State* L)
{
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 1);
    espyProxySet_Clear(box->set);
    // Nodes that have proxies come back at the next FollowProxies.
    box->revision = 0;
    return 0;
}

static int ProxySet_GetCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyProxySet_GetCount(espyLua_CheckProxySet(L, 1)->set));
    return 1;
}

// --- nodes

/// world:SetOcclusionProxy(node, {radius = , height = , ...}): fields that are left out stay; nil takes the proxy away.
static int World_SetOcclusionProxy(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", world);
    espyNodeDef def;
    espyLua_CheckResult(L, espyWorld_GetNode(world, node, &def), NULL);
    if (!def.proxy.present)
    {
        def.proxy = (espyOcclusionProxy){.strength = 1.0f};
    }
    bool takeAway = lua_isnoneornil(L, 3);
    if (!takeAway)
    {
        espyLua_ReadStruct(L, 3, "proxy", espyLuaProxyFields, &def.proxy);
    }
    espyLua_CheckResult(L, espyWorld_SetOcclusionProxy(world, node, takeAway ? NULL : &def.proxy),
                        "radius and height: 0 or more; all values finite");
    return 0;
}

/// world:FollowProxies(set): brings the proxies of nodes up to date, once a frame.
static int World_FollowProxies(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 2);
    if (box->followed != world)
    {
        box->followed = world;
        box->revision = 0;
    }
    espyLua_CheckResult(L, espyWorld_FollowProxies(world, box->set, &box->revision), "more nodes than the set holds");
    return 0;
}

/// world:FollowLimbs(set, {{id = 1, a = node, b = node [, offsetA = , offsetB = , radius = , ...]}, ...}): puts
/// capsules between pairs of nodes, once a frame.
static int World_FollowLimbs(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"a", espyLuaKind_Custom, 0, NULL},
        {"b", espyLuaKind_Custom, 0, NULL},
        {"id", espyLuaKind_Custom, 0, NULL},
        ESPY_FIELD(espyProxyLimb, Vec3, offsetA),
        ESPY_FIELD(espyProxyLimb, Vec3, offsetB),
        {"radius", espyLuaKind_Float, offsetof(espyProxyLimb, def.radius), NULL},
        {"radiusB", espyLuaKind_Float, offsetof(espyProxyLimb, def.radiusB), NULL},
        {"strength", espyLuaKind_Float, offsetof(espyProxyLimb, def.strength), NULL},
        {"group", espyLuaKind_U32, offsetof(espyProxyLimb, def.group), NULL},
        {"viewMask", espyLuaKind_U32, offsetof(espyProxyLimb, def.viewMask), NULL},
        {"owner", espyLuaKind_U32, offsetof(espyProxyLimb, def.owner), NULL},
        {"selfStrength", espyLuaKind_Float, offsetof(espyProxyLimb, def.selfStrength), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLuaProxySet* box = espyLua_CheckProxySet(L, 2);
    espyLua_CheckTable(L, 3, "limbs");
    for (int i = 1;; ++i)
    {
        lua_rawgeti(L, 3, i);
        if (lua_isnil(L, -1))
        {
            return 0;
        }
        espyProxyLimb limb = espyProxyLimb_Default();
        espyLua_ReadStruct(L, -1, "limb", fields, &limb);
        lua_getfield(L, -1, "a");
        limb.a = espyLua_CheckNode(L, lua_gettop(L), "a", world);
        lua_getfield(L, -2, "b");
        limb.b = espyLua_CheckNode(L, lua_gettop(L), "b", world);
        lua_getfield(L, -3, "id");
        limb.id = espyLua_CheckProxyId(L, lua_gettop(L));
        espyLua_CheckResult(L, espyWorld_FollowLimbs(world, box->set, &limb, 1),
                            "values out of range, or more limbs than the set holds");
        lua_pop(L, 4);
    }
}

/// Adds a module of lua_modules.lua to package.preload, where there is one, under a name.
static void espyLua_Preload(lua_State* L, int modules, const char* module, const char* name)
{
    lua_getglobal(L, "package");
    if (lua_istable(L, -1))
    {
        lua_getfield(L, -1, "preload");
        if (lua_istable(L, -1))
        {
            lua_getfield(L, modules, module);
            lua_setfield(L, -2, name);
        }
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

void espyLua_OpenProxies(lua_State* L)
{
    static const luaL_Reg set[] = {{"Create", ProxySet_Create},
                                   {"Destroy", ProxySet_Destroy},
                                   {"GetDefault", ProxySet_GetDefault},
                                   {"Set", ProxySet_Set},
                                   {"SetId", ProxySet_SetId},
                                   {"Remove", ProxySet_Remove},
                                   {"RemoveId", ProxySet_RemoveId},
                                   {"Get", ProxySet_Get},
                                   {"GetId", ProxySet_GetId},
                                   {"Configure", ProxySet_Configure},
                                   {"GetSettings", ProxySet_GetSettings},
                                   {"Clear", ProxySet_Clear},
                                   {"GetCount", ProxySet_GetCount},
                                   {NULL, NULL}};
    static const luaL_Reg nodes[] = {{"SetOcclusionProxy", World_SetOcclusionProxy}, {NULL, NULL}};
    static const luaL_Reg world[] = {
        {"FollowProxies", World_FollowProxies}, {"FollowLimbs", World_FollowLimbs}, {NULL, NULL}};
    espyLua_RegisterClass(L, "ProxySet", set);
    espyLua_RegisterNodeCalls(L, nodes);
    espyLua_RegisterClass(L, "World", world);
    espyLua_OpenDependent(L, ESPY_LUA_PROXY_SET, "ProxySet", ProxySet_Destroy);

    // The modules in Lua: a chunk that takes the module table and gives a table of loaders by name.
    int module = lua_gettop(L);
    if (luaL_loadbuffer(L, (const char*)espyLuaModules, sizeof espyLuaModules, "=espy") != 0)
    {
        lua_error(L);
    }
    lua_pushvalue(L, module);
    lua_call(L, 1, 1);
    int modules = lua_gettop(L);
    espyLua_Preload(L, modules, "proxyOcclusion", "proxyOcclusion");
    espyLua_Preload(L, modules, "proxyOcclusion", "@builtin::systems.proxyOcclusion.proxyOcclusion");
    espyLua_Preload(L, modules, "entity", "espy.entity");
    lua_settop(L, module);
}
