// SPDX-License-Identifier: MIT
// Renderer: views, culled draws, counts. Every function takes a renderer first, or none: then it means the registered
// one, as in Renderer.GetNumOcclusionCulled().
#include "lua_raster.h"

#include "espy_lua.h"

#define ESPY_LUA_RENDERER "a Renderer"

static char espyLuaRendererKey; ///< Registry: the registered renderer.

/// Finds the renderer of a call and makes it argument 1, so that the others are where renderer:Function has them.
static espyRenderer* espyLua_CheckRenderer(lua_State* L)
{
    if (!espyLua_Test(L, 1, ESPY_LUA_RENDERER))
    {
        lua_pushlightuserdata(L, &espyLuaRendererKey);
        lua_rawget(L, LUA_REGISTRYINDEX);
        if (lua_isnil(L, -1))
        {
            espyLua_ArgumentError(L, "renderer",
                                  "no renderer is registered: call it as renderer:Function, or "
                                  "Renderer.Register(renderer) first");
        }
        lua_insert(L, 1);
    }
    return espyLua_CheckDependent(L, 1, "renderer", ESPY_LUA_RENDERER)->object;
}

/// View ids are numbers in Lua: index1, below 128, and above it the generation.
static espyViewId espyLua_CheckView(lua_State* L, int index)
{
    int64_t number = espyLua_CheckWhole(L, index, "view", 1, ((int64_t)1 << 39) - 1);
    return (espyViewId){(int32_t)(number & 127), (uint32_t)(number >> 7)};
}

static void espyLua_CheckViewResult(lua_State* L, espyResult result, const char* hint)
{
    if (result == espyResult_InvalidId)
    {
        espyLua_ArgumentError(L, "view", "this renderer has no such view");
    }
    espyLua_CheckResult(L, result, hint);
}

static void espyLuaRenderer_Destroy(void* renderer)
{
    espyRenderer_Destroy(renderer);
}

/// Renderer.Create(world)
static int Renderer_Create(lua_State* L)
{
    espyRendererDef def = espyRendererDef_Default();
    def.world = espyLua_CheckWorld(L, 1);
    espyLuaDependent* dependent = espyLua_PushDependent(L, 1, ESPY_LUA_RENDERER);
    espyRenderer* renderer = NULL;
    espyLua_CheckResult(L, espyRenderer_Create(&def, &renderer), NULL);
    espyLua_HoldObject(dependent, renderer, espyLuaRenderer_Destroy);
    return 1;
}

static int Renderer_Destroy(lua_State* L)
{
    espyLuaDependent* renderer = espyLua_Test(L, 1, ESPY_LUA_RENDERER);
    if (renderer)
    {
        espyLua_DropObject(renderer);
    }
    return 0;
}

/// Renderer.Register(renderer): the one that calls without a renderer mean; nil for none.
static int Renderer_Register(lua_State* L)
{
    lua_settop(L, 1);
    if (!lua_isnil(L, 1))
    {
        espyLua_CheckDependent(L, 1, "renderer", ESPY_LUA_RENDERER);
    }
    lua_pushlightuserdata(L, &espyLuaRendererKey);
    lua_insert(L, 1);
    lua_rawset(L, LUA_REGISTRYINDEX);
    return 0;
}

/// Renderer.Get(): the registered one, or nil.
static int Renderer_Get(lua_State* L)
{
    lua_pushlightuserdata(L, &espyLuaRendererKey);
    lua_rawget(L, LUA_REGISTRYINDEX);
    return 1;
}

void espyLua_SetRenderer(lua_State* L, espyRenderer* renderer, espyWorld* world)
{
    lua_pushlightuserdata(L, &espyLuaRendererKey);
    lua_pushvalue(L, -1);
    lua_rawget(L, LUA_REGISTRYINDEX);
    espyLuaDependent* before = espyLua_Test(L, -1, ESPY_LUA_RENDERER);
    if (before && !before->destroy)
    {
        espyLua_DropObject(before);
    }
    lua_pop(L, 1);
    if (renderer)
    {
        espyLua_PushWorld(L, world);
        espyLua_HoldObject(espyLua_PushDependent(L, -1, ESPY_LUA_RENDERER), renderer, NULL);
        lua_remove(L, -2);
    }
    else
    {
        lua_pushnil(L);
    }
    lua_rawset(L, LUA_REGISTRYINDEX);
}

// --- switches

static int Renderer_EnableOcclusionCulling(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyRenderer_EnableOcclusionCulling(renderer, espyLua_CheckBool(L, 2, "enable"));
    return 0;
}

static int Renderer_IsOcclusionCullingEnabled(lua_State* L)
{
    lua_pushboolean(L, espyRenderer_IsOcclusionCullingEnabled(espyLua_CheckRenderer(L)));
    return 1;
}

static int Renderer_EnableFrustumCulling(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyRenderer_EnableFrustumCulling(renderer, espyLua_CheckBool(L, 2, "enable"));
    return 0;
}

static int Renderer_IsFrustumCullingEnabled(lua_State* L)
{
    lua_pushboolean(L, espyRenderer_IsFrustumCullingEnabled(espyLua_CheckRenderer(L)));
    return 1;
}

// --- views

/// Renderers of the host may outlive what a script lends to them.
static void espyLua_CheckOwnRenderer(lua_State* L, const char* name)
{
    const espyLuaDependent* dependent = espyLua_Test(L, 1, ESPY_LUA_RENDERER);
    if (!dependent->destroy)
    {
        espyLua_ArgumentError(L, name, "for renderers of the script's own, not for the host's");
    }
}

/// Makes the renderer at 1 keep the handle at `index` while its world lives.
static void espyLua_LendToRenderer(lua_State* L, int index, const char* name)
{
    int place = espyLua_Absolute(L, index);
    espyLua_CheckOwnRenderer(L, name);
    espyLua_PushOwner(L, 1);
    espyLua_PushShared(L, lua_gettop(L), "lent");
    lua_pushvalue(L, place);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 2);
    espyLua_Lend(L, place);
}

/// renderer:CreateView [{name = "", occlusion = true, frustum = true, raster = }]
static int Renderer_CreateView(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"name", espyLuaKind_Custom, 0, NULL},
        {"occlusion", espyLuaKind_Bool, offsetof(espyRendererViewDef, occlusion), NULL},
        {"frustum", espyLuaKind_Bool, offsetof(espyRendererViewDef, frustum), NULL},
        {"raster", espyLuaKind_Custom, 0, NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyRendererViewDef def = espyRendererViewDef_Default();
    if (!lua_isnoneornil(L, 2))
    {
        espyLua_ReadStruct(L, 2, "def", fields, &def);
        lua_getfield(L, 2, "name");
        def.name = lua_isnil(L, -1) ? NULL : espyLua_CheckText(L, -1, "name", NULL);
        lua_getfield(L, 2, "raster");
        if (!lua_isnil(L, -1))
        {
            def.raster = espyLua_CheckRaster(L, lua_gettop(L), "raster");
            espyLua_LendToRenderer(L, -1, "raster");
        }
    }
    espyViewId view;
    espyLua_CheckResult(L, espyRenderer_CreateView(renderer, &def, &view), "at most 64 views");
    lua_pushnumber(L, (lua_Number)((uint64_t)view.index1 + ((uint64_t)view.generation << 7)));
    return 1;
}

static int Renderer_DestroyView(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyLua_CheckViewResult(L, espyRenderer_DestroyView(renderer, espyLua_CheckView(L, 2)), NULL);
    return 0;
}

static espyViewDef espyLua_CheckViewDef(lua_State* L, int index, const char* name)
{
    static const espyLuaField fields[] = {{"view", espyLuaKind_Mat4, offsetof(espyViewDef, view), NULL},
                                          {"projection", espyLuaKind_Mat4, offsetof(espyViewDef, projection), NULL},
                                          {"reversedZ", espyLuaKind_Bool, offsetof(espyViewDef, reversedZ), NULL},
                                          {"shadow", espyLuaKind_Bool, offsetof(espyViewDef, shadow), NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyViewDef def = espyViewDef_Default();
    espyLua_ReadStruct(L, index, name, fields, &def);
    return def;
}

/// renderer:SetView(view, {view = m, projection = m, reversedZ = , shadow = } [, secondEye])
static int Renderer_SetView(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyViewId view = espyLua_CheckView(L, 2);
    espyViewDef def = espyLua_CheckViewDef(L, 3, "def");
    bool stereo = !lua_isnoneornil(L, 4);
    espyViewDef second = stereo ? espyLua_CheckViewDef(L, 4, "secondEye") : def;
    espyLua_CheckViewResult(L, espyRenderer_SetView(renderer, view, &def, stereo ? &second : NULL), NULL);
    return 0;
}

/// renderer:SetCamera(view, camera [, reversedZ])
static int Renderer_SetCamera(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyViewId view = espyLua_CheckView(L, 2);
    lua_settop(L, 4);
    espyLua_PushOwner(L, 1);
    espyNodeId camera = espyLua_CheckNode(L, 3, "camera", espyLua_ToWorld(L, -1));
    bool reversedZ = !lua_isnil(L, 4) && espyLua_CheckBool(L, 4, "reversedZ");
    espyLua_CheckResult(L, espyRenderer_SetCamera(renderer, view, camera, reversedZ),
                        "a view of this renderer and a Camera3D expected");
    return 0;
}

static int Renderer_FreezeView(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyViewId view = espyLua_CheckView(L, 2);
    espyLua_CheckViewResult(L, espyRenderer_FreezeView(renderer, view, espyLua_CheckBool(L, 3, "frozen")), NULL);
    return 0;
}

static int Renderer_IsViewFrozen(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    lua_pushboolean(L, espyRenderer_IsViewFrozen(renderer, espyLua_CheckView(L, 2)));
    return 1;
}

/// Where a view looks from: an array of eyes {eye = , corners = {4 points of the near rectangle}}, nil for no such
/// view.
static int Renderer_GetView(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    const espyView* view = espyRenderer_GetView(renderer, espyLua_CheckView(L, 2));
    if (!view)
    {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, (int)view->eyeCount, 0);
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        lua_newtable(L);
        espyLua_PushVec3(L, view->eyes[i].eye);
        lua_setfield(L, -2, "eye");
        lua_createtable(L, 4, 0);
        for (int corner = 0; view->hasRectangle && corner < 4; ++corner)
        {
            espyLua_PushVec3(L, view->eyes[i].corners[corner]);
            lua_rawseti(L, -2, corner + 1);
        }
        lua_setfield(L, -2, "corners");
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

// --- moving occluders

/// renderer:AddOccluder(node, occluder)
static int Renderer_AddOccluder(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    lua_settop(L, 3);
    espyLua_PushOwner(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", espyLua_ToWorld(L, -1));
    espyOccluder* occluder = espyLua_CheckOccluder(L, 3, "occluder");
    espyLua_LendToRenderer(L, 3, "occluder");
    espyLua_CheckResult(L, espyRenderer_AddOccluder(renderer, node, occluder), "at most 4096 occluders");
    return 0;
}

static int Renderer_RemoveOccluder(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    lua_settop(L, 2);
    espyLua_PushOwner(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", espyLua_ToWorld(L, -1));
    espyLua_CheckResult(L, espyRenderer_RemoveOccluder(renderer, node), "this node has no occluder here");
    return 0;
}

static int Renderer_GetOccluderCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyRenderer_GetOccluderCount(espyLua_CheckRenderer(L)));
    return 1;
}

// --- occlusion queries

/// renderer:SetQuerySystem(system): nil takes it away.
static int Renderer_SetQuerySystem(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyLua_CheckOwnRenderer(L, "system");
    espyQuerySystem* system = lua_isnoneornil(L, 2) ? NULL : espyLua_BorrowQuerySystem(L, 2, 1);
    espyLua_CheckResult(L, espyRenderer_SetQuerySystem(renderer, system), NULL);
    return 0;
}

/// renderer:SetViewQueries(view, queries [, width = 1280, height = 720]): a view of the system; nil switches off.
static int Renderer_SetViewQueries(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyViewId view = espyLua_CheckView(L, 2);
    const espyQueryCamera sizes = espyQueryCamera_Default();
    espyQueryViewId queries = {0, 0};
    int32_t width = sizes.width, height = sizes.height;
    if (!lua_isnoneornil(L, 3))
    {
        queries = espyLua_CheckQueryView(L, 3);
    }
    if (!lua_isnoneornil(L, 4))
    {
        width = (int32_t)espyLua_CheckWhole(L, 4, "width", 1, ESPY_RASTER_MAX_SIZE);
        height = (int32_t)espyLua_CheckWhole(L, 5, "height", 1, ESPY_RASTER_MAX_SIZE);
    }
    espyLua_CheckViewResult(L, espyRenderer_SetViewQueries(renderer, view, queries, width, height),
                            "call SetQuerySystem first");
    return 0;
}

/// The object of a node in the system, nil where it is none.
static int Renderer_GetQueryObject(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    lua_settop(L, 2);
    espyLua_PushOwner(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", espyLua_ToWorld(L, -1));
    espyQueryObjectId object = espyRenderer_GetQueryObject(renderer, node);
    if (object.index1 == 0)
    {
        lua_pushnil(L);
        return 1;
    }
    espyLua_PushQueryId(L, object.index1, object.generation);
    return 1;
}

// --- a frame

static int Renderer_BeginFrame(lua_State* L)
{
    espyLua_CheckResult(L, espyRenderer_BeginFrame(espyLua_CheckRenderer(L)), NULL);
    return 0;
}

static int Renderer_Cull(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyLua_CheckViewResult(L, espyRenderer_Cull(renderer, espyLua_CheckView(L, 2)), "call BeginFrame first");
    return 0;
}

static int Renderer_CullAll(lua_State* L)
{
    espyLua_CheckResult(L, espyRenderer_CullAll(espyLua_CheckRenderer(L)), "call BeginFrame first");
    return 0;
}

/// Pushes two arrays: nodes and their parts (0 for a whole node, else the unroll cell from 1).
static int espyLua_PushDraws(lua_State* L, const espyDraw* draws, uint32_t count)
{
    lua_settop(L, 1);
    espyLua_PushOwner(L, 1);
    lua_createtable(L, (int)count, 0);
    lua_createtable(L, (int)count, 0);
    int written = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyLua_PushNodeOf(L, 2, draws[i].node);
        if (lua_isnil(L, -1))
        {
            // Destroyed since the cull.
            lua_pop(L, 1);
            continue;
        }
        lua_rawseti(L, 3, ++written);
        lua_pushinteger(L, (lua_Integer)draws[i].part + 1);
        lua_rawseti(L, 4, written);
    }
    return 2;
}

static int Renderer_GetDraws(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    uint32_t count = 0;
    const espyDraw* draws = espyRenderer_GetDraws(renderer, espyLua_CheckView(L, 2), &count);
    return espyLua_PushDraws(L, draws, count);
}

static int Renderer_GetUpdates(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    uint32_t count = 0;
    const espyDraw* draws = espyRenderer_GetUpdates(renderer, espyLua_CheckView(L, 2), &count);
    return espyLua_PushDraws(L, draws, count);
}

static int Renderer_EndFrame(lua_State* L)
{
    espyRenderer_EndFrame(espyLua_CheckRenderer(L));
    return 0;
}

// --- stats

#define ESPY_COUNT(field)                                                    \
    {                                                                        \
#field, espyLuaKind_U32, offsetof(espyViewStats, counts.field), NULL \
    }
#define ESPY_STAT(field)                                              \
    {                                                                 \
#field, espyLuaKind_U32, offsetof(espyViewStats, field), NULL \
    }

static const espyLuaField espyLuaStatsFields[] = {ESPY_COUNT(drawn),
                                                  ESPY_COUNT(frustumCulled),
                                                  ESPY_COUNT(occlusionCulled),
                                                  ESPY_COUNT(hidden),
                                                  ESPY_COUNT(withoutShadow),
                                                  ESPY_COUNT(updatedCulled),
                                                  ESPY_STAT(views),
                                                  ESPY_STAT(files),
                                                  ESPY_STAT(filesUsed),
                                                  ESPY_STAT(cells),
                                                  ESPY_STAT(moverCulled),
                                                  ESPY_STAT(queryCulled),
                                                  {NULL, espyLuaKind_Custom, 0, NULL}};

static int Renderer_GetViewStats(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    espyViewStats stats = espyRenderer_GetViewStats(renderer, espyLua_CheckView(L, 2));
    espyLua_PushStruct(L, espyLuaStatsFields, &stats);
    return 1;
}

static int Renderer_GetFrameStats(lua_State* L)
{
    espyViewStats stats = espyRenderer_GetFrameStats(espyLua_CheckRenderer(L));
    espyLua_PushStruct(L, espyLuaStatsFields, &stats);
    return 1;
}

static int Renderer_GetNumOcclusionCulled(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyRenderer_GetNumOcclusionCulled(espyLua_CheckRenderer(L)));
    return 1;
}

static int Renderer_GetNumFrustumCulled(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyRenderer_GetNumFrustumCulled(espyLua_CheckRenderer(L)));
    return 1;
}

static int Renderer_FormatStats(lua_State* L)
{
    espyRenderer* renderer = espyLua_CheckRenderer(L);
    size_t length = espyRenderer_FormatStats(renderer, NULL, 0);
    char* text = espyLua_Scratch(L, length + 1, 1);
    espyRenderer_FormatStats(renderer, text, length + 1);
    lua_pushlstring(L, text, length);
    return 1;
}

void espyLua_OpenRenderer(lua_State* L)
{
    static const luaL_Reg functions[] = {{"Create", Renderer_Create},
                                         {"Destroy", Renderer_Destroy},
                                         {"Register", Renderer_Register},
                                         {"Get", Renderer_Get},
                                         {"EnableOcclusionCulling", Renderer_EnableOcclusionCulling},
                                         {"IsOcclusionCullingEnabled", Renderer_IsOcclusionCullingEnabled},
                                         {"EnableFrustumCulling", Renderer_EnableFrustumCulling},
                                         {"IsFrustumCullingEnabled", Renderer_IsFrustumCullingEnabled},
                                         {"CreateView", Renderer_CreateView},
                                         {"DestroyView", Renderer_DestroyView},
                                         {"SetView", Renderer_SetView},
                                         {"SetCamera", Renderer_SetCamera},
                                         {"FreezeView", Renderer_FreezeView},
                                         {"IsViewFrozen", Renderer_IsViewFrozen},
                                         {"GetView", Renderer_GetView},
                                         {"AddOccluder", Renderer_AddOccluder},
                                         {"RemoveOccluder", Renderer_RemoveOccluder},
                                         {"GetOccluderCount", Renderer_GetOccluderCount},
                                         {"SetQuerySystem", Renderer_SetQuerySystem},
                                         {"SetViewQueries", Renderer_SetViewQueries},
                                         {"GetQueryObject", Renderer_GetQueryObject},
                                         {"BeginFrame", Renderer_BeginFrame},
                                         {"Cull", Renderer_Cull},
                                         {"CullAll", Renderer_CullAll},
                                         {"GetDraws", Renderer_GetDraws},
                                         {"GetUpdates", Renderer_GetUpdates},
                                         {"EndFrame", Renderer_EndFrame},
                                         {"GetViewStats", Renderer_GetViewStats},
                                         {"GetFrameStats", Renderer_GetFrameStats},
                                         {"GetNumOcclusionCulled", Renderer_GetNumOcclusionCulled},
                                         {"GetNumFrustumCulled", Renderer_GetNumFrustumCulled},
                                         {"FormatStats", Renderer_FormatStats},
                                         {NULL, NULL}};
    espyLua_RegisterClass(L, "Renderer", functions);
    espyLua_OpenDependent(L, ESPY_LUA_RENDERER, "Renderer", Renderer_Destroy);
}
