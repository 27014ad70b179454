// SPDX-License-Identifier: MIT
// TesterScene: tester meshes from scripts, with the names of their proposal on testers (add_target, remove_target,
// set_force_active, was_active_last_frame). A scene is the host's (espyLua_PushTesterScene), or one of the script's own
// on the software device.
//
// Handles of targets, testers, views and draws are values: the same thing is the same handle while a script holds it,
// so that it can be a key of a table. They share a table with their scene, which they keep alive.
#include "lua_calls.h"
#include "lua_objects.h"

#include "espy_lua.h"

#define ESPY_LUA_TESTER_SCENE "a TesterScene"

typedef struct espyLuaTesterScene
{
    espyTesterScene* scene; ///< Null once it is gone.
    bool owned;
    espyDevice device;         ///< Of an owned one.
    espyWorldTesters* testers; ///< Whose scene it is, or null.
    const espyWorld* world;    ///< Theirs.
    uint64_t frame;
} espyLuaTesterScene;

typedef enum espyLuaPartKind
{
    espyLuaPart_Target = 0,
    espyLuaPart_Tester,
    espyLuaPart_View,
    espyLuaPart_Draw,
} espyLuaPartKind;

static const char* const espyLuaPartTypes[] = {"a TesterTarget", "a Tester", "a TesterView", "a TesterDraw"};
static const char* const espyLuaPartClasses[] = {"TesterTarget", "Tester", "TesterView", "TesterDraw"};

typedef struct espyLuaPart
{
    espyLuaTesterScene* owner; ///< Alive as long as this handle: the shared table holds it.
    int32_t index1;
    uint32_t generation;
} espyLuaPart;

static char espyLuaTesterScenesKey; ///< Registry: handles of the host's scenes by their address.

static const char* const espyLuaIdModes[] = {"Index", "Flag", NULL};

static const espyLuaField espyLuaTesterViewFields[] = {
    {"width", espyLuaKind_I32, offsetof(espyTesterViewDef, width), NULL},
    {"height", espyLuaKind_I32, offsetof(espyTesterViewDef, height), NULL},
    {"layers", espyLuaKind_U32, offsetof(espyTesterViewDef, layers), NULL},
    {"reversedZ", espyLuaKind_Bool, offsetof(espyTesterViewDef, reversedZ), NULL},
    {"mode", espyLuaKind_Enum, offsetof(espyTesterViewDef, mode), espyLuaIdModes},
    {"passBudget", espyLuaKind_U32, offsetof(espyTesterViewDef, passBudget), NULL},
    {"seed", espyLuaKind_Bool, offsetof(espyTesterViewDef, seed), NULL},
    {"shadow", espyLuaKind_Bool, offsetof(espyTesterViewDef, shadow), NULL},
    {NULL, espyLuaKind_Custom, 0, NULL}};

#define ESPY_STAT(field)                                                \
    {                                                                   \
#field, espyLuaKind_U32, offsetof(espyTesterStats, field), NULL \
    }

static const espyLuaField espyLuaTesterStatsFields[] = {
    ESPY_STAT(passes),  ESPY_STAT(depthPasses), ESPY_STAT(targetsShown), ESPY_STAT(entered),
    ESPY_STAT(exited),  ESPY_STAT(active),      ESPY_STAT(forced),       ESPY_STAT(inside),
    ESPY_STAT(seen),    ESPY_STAT(seeded),      ESPY_STAT(undecided),    ESPY_STAT(demoted),
    ESPY_STAT(outside), ESPY_STAT(ids),         ESPY_STAT(draws),        {NULL, espyLuaKind_Custom, 0, NULL}};

// --- handles

static espyLuaTesterScene* espyLua_CheckTesterScene(lua_State* L, int index)
{
    espyLuaTesterScene* box = espyLua_Test(L, index, ESPY_LUA_TESTER_SCENE);
    if (!box)
    {
        espyLua_TypeError(L, index, "scene", ESPY_LUA_TESTER_SCENE);
        return NULL;
    }
    if (!box->scene)
    {
        espyLua_ArgumentError(L, "scene", "this scene was destroyed");
    }
    return box;
}

/// Pushes a scene's handle with its shared table.
static espyLuaTesterScene* espyLua_PushTesterBox(lua_State* L)
{
    espyLuaTesterScene* box = lua_newuserdata(L, sizeof *box);
    *box = (espyLuaTesterScene){0};
    lua_newtable(L);
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, "handle");
    lua_newtable(L); // Handles, held weakly.
    lua_newtable(L);
    lua_pushliteral(L, "v");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "parts");
    espyLua_SetUserTable(L, -2);
    luaL_getmetatable(L, ESPY_LUA_TESTER_SCENE);
    lua_setmetatable(L, -2);
    return box;
}

/// Pushes the handle of a part of the scene at `scene`; nil for a null id.
static void espyLua_PushPart(lua_State* L, int scene, espyLuaPartKind kind, int32_t index1, uint32_t generation)
{
    if (index1 == 0)
    {
        lua_pushnil(L);
        return;
    }
    espyLuaTesterScene* owner = lua_touserdata(L, scene);
    espyLua_GetUserTable(L, scene);
    int shared = lua_gettop(L);
    lua_getfield(L, shared, "parts");
    lua_Number key = (lua_Number)kind * 4294967296.0 + (lua_Number)index1;
    lua_pushnumber(L, key);
    lua_rawget(L, -2);
    const espyLuaPart* known = espyLua_Test(L, -1, espyLuaPartTypes[kind]);
    if (!known || known->generation != generation)
    {
        lua_pop(L, 1);
        espyLuaPart* part = lua_newuserdata(L, sizeof *part);
        *part = (espyLuaPart){owner, index1, generation};
        lua_pushvalue(L, shared);
        espyLua_SetUserTable(L, -2);
        luaL_getmetatable(L, espyLuaPartTypes[kind]);
        lua_setmetatable(L, -2);
        lua_pushnumber(L, key);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
    }
    lua_insert(L, shared);
    lua_settop(L, shared);
}

/// The part at `index` of the scene `owner` (null: of any that lives). Destroyed ones pass: the call says InvalidId.
static espyLuaPart* espyLua_CheckPart(lua_State* L, int index, const char* name, espyLuaPartKind kind,
                                      const espyLuaTesterScene* owner)
{
    espyLuaPart* part = espyLua_Test(L, index, espyLuaPartTypes[kind]);
    if (!part)
    {
        espyLua_TypeError(L, index, name, espyLuaPartTypes[kind]);
        return NULL;
    }
    if (!part->owner->scene)
    {
        espyLua_ArgumentError(L, name, "its scene was destroyed");
    }
    if (owner && part->owner != owner)
    {
        espyLua_ArgumentError(L, name, "it belongs to another scene");
    }
    return part;
}

static espyTesterTargetId espyLua_CheckTarget(lua_State* L, int index, const char* name,
                                              const espyLuaTesterScene* owner)
{
    const espyLuaPart* part = espyLua_CheckPart(L, index, name, espyLuaPart_Target, owner);
    return (espyTesterTargetId){part->index1, part->generation};
}

static espyTesterId espyLua_CheckTester(lua_State* L, int index, const espyLuaTesterScene* owner)
{
    const espyLuaPart* part = espyLua_CheckPart(L, index, "tester", espyLuaPart_Tester, owner);
    return (espyTesterId){part->index1, part->generation};
}

static espyTesterDrawId espyLua_CheckDraw(lua_State* L, int index, const espyLuaTesterScene* owner)
{
    const espyLuaPart* part = espyLua_CheckPart(L, index, "draw", espyLuaPart_Draw, owner);
    return (espyTesterDrawId){part->index1, part->generation};
}

/// Nothing or nil: the main view.
static espyTesterViewId espyLua_OptionalView(lua_State* L, int index, const espyLuaTesterScene* owner)
{
    if (lua_isnoneornil(L, index))
    {
        return (espyTesterViewId){0, 0};
    }
    const espyLuaPart* part = espyLua_CheckPart(L, index, "view", espyLuaPart_View, owner);
    return (espyTesterViewId){part->index1, part->generation};
}

/// The target in field "parent" of the table at `index`, or none.
static espyTesterTargetId espyLua_ParentField(lua_State* L, int index, const espyLuaTesterScene* owner)
{
    espyTesterTargetId id = {0, 0};
    lua_getfield(L, index, "parent");
    if (!lua_isnil(L, -1))
    {
        id = espyLua_CheckTarget(L, -1, "parent", owner);
    }
    lua_pop(L, 1);
    return id;
}

/// Text in field "name"; it lives as long as the table.
static const char* espyLua_NameField(lua_State* L, int index)
{
    lua_getfield(L, index, "name");
    const char* name = lua_isnil(L, -1) ? NULL : espyLua_CheckText(L, -1, "name", NULL);
    lua_pop(L, 1);
    return name;
}

static void espyLua_CheckTesterResult(lua_State* L, const espyLuaTesterScene* box, espyResult result, const char* hint)
{
    if (result == espyResult_InvalidArgument && !hint)
    {
        lua_pushfstring(L, "targets would wait for each other: %s", espyTesterScene_GetCycle(box->scene));
        hint = lua_tostring(L, -1);
    }
    espyLua_CheckResult(L, result, hint);
}

// --- scenes

/// TesterScene.Create [{width = 1280, height = 720, mode = "Index", ...}]: one of the script's own.
static int TesterScene_Create(lua_State* L)
{
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    if (!lua_isnoneornil(L, 1))
    {
        espyLua_ReadStruct(L, 1, "def", espyLuaTesterViewFields, &def.mainView);
    }
    espyLuaTesterScene* box = espyLua_PushTesterBox(L);
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    espyLua_CheckResult(L, espySoftDevice_Create(&soft, &box->device), NULL);
    box->owned = true;
    def.device = &box->device;
    espyResult result = espyTesterScene_Create(&def, &box->scene);
    if (result != espyResult_Ok)
    {
        espySoftDevice_Destroy(&box->device);
    }
    espyLua_CheckResult(L, result, "width, height: 1 to 8192; layers: 1 or 2");
    return 1;
}

static int TesterScene_Destroy(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_Test(L, 1, ESPY_LUA_TESTER_SCENE);
    if (box && box->scene && box->owned)
    {
        espyTesterScene_Destroy(box->scene);
        espySoftDevice_Destroy(&box->device);
    }
    if (box)
    {
        box->scene = NULL;
    }
    return 0;
}

static void espyLua_PushTesterScenes(lua_State* L)
{
    lua_pushlightuserdata(L, &espyLuaTesterScenesKey);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        lua_newtable(L);
        lua_pushlightuserdata(L, &espyLuaTesterScenesKey);
        lua_pushvalue(L, -2);
        lua_rawset(L, LUA_REGISTRYINDEX);
    }
}

void espyLua_PushTesterScene(lua_State* L, espyTesterScene* scene)
{
    luaL_checkstack(L, 12, "espy");
    espyLua_PushTesterScenes(L);
    lua_pushlightuserdata(L, scene);
    lua_rawget(L, -2);
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        espyLua_PushTesterBox(L)->scene = scene;
        lua_pushlightuserdata(L, scene);
        lua_pushvalue(L, -2);
        lua_rawset(L, -4);
    }
    lua_remove(L, -2);
}

void espyLua_PushWorldTesters(lua_State* L, espyWorldTesters* testers, const espyWorld* world)
{
    espyLua_PushTesterScene(L, espyWorldTesters_GetScene(testers));
    espyLuaTesterScene* box = lua_touserdata(L, -1);
    box->testers = testers;
    box->world = world;
}

void espyLua_PushTester(lua_State* L, espyTesterScene* scene, espyTesterId tester)
{
    espyLua_PushTesterScene(L, scene);
    espyLua_PushPart(L, lua_gettop(L), espyLuaPart_Tester, tester.index1, tester.generation);
    lua_remove(L, -2);
}

void espyLua_PushTesterTarget(lua_State* L, espyTesterScene* scene, espyTesterTargetId target)
{
    espyLua_PushTesterScene(L, scene);
    espyLua_PushPart(L, lua_gettop(L), espyLuaPart_Target, target.index1, target.generation);
    lua_remove(L, -2);
}

void espyLua_ForgetTesterScene(lua_State* L, espyTesterScene* scene)
{
    luaL_checkstack(L, 6, "espy");
    espyLua_PushTesterScenes(L);
    lua_pushlightuserdata(L, scene);
    lua_rawget(L, -2);
    espyLuaTesterScene* box = espyLua_Test(L, -1, ESPY_LUA_TESTER_SCENE);
    if (box)
    {
        box->scene = NULL;
    }
    lua_pop(L, 1);
    lua_pushlightuserdata(L, scene);
    lua_pushnil(L);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// --- targets, testers, draws

/// scene:CreateTarget [{parent = target, name = "hall"}]
static int TesterScene_CreateTarget(lua_State* L)
{
    static const espyLuaField fields[] = {{"parent", espyLuaKind_Custom, 0, NULL},
                                          {"name", espyLuaKind_Custom, 0, NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterTargetDef def = espyTesterTargetDef_Default();
    if (!lua_isnoneornil(L, 2))
    {
        espyLua_ReadStruct(L, 2, "def", fields, &def);
        def.parent = espyLua_ParentField(L, 2, box);
        def.name = espyLua_NameField(L, 2);
    }
    espyTesterTargetId id;
    espyLua_CheckResult(L, espyTesterScene_CreateTarget(box->scene, &def, &id), "parent: a living target");
    espyLua_PushPart(L, 1, espyLuaPart_Target, id.index1, id.generation);
    return 1;
}

/// scene:CreateTester{bounds = {min = , max = } [, toWorld = , parent = target, name = ]}
static int TesterScene_CreateTester(lua_State* L)
{
    static const espyLuaField fields[] = {{"bounds", espyLuaKind_Box, offsetof(espyTesterDef, bounds), NULL},
                                          {"toWorld", espyLuaKind_Mat4, offsetof(espyTesterDef, toWorld), NULL},
                                          {"parent", espyLuaKind_Custom, 0, NULL},
                                          {"name", espyLuaKind_Custom, 0, NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterDef def = espyTesterDef_Default();
    espyLua_ReadStruct(L, 2, "def", fields, &def);
    def.parent = espyLua_ParentField(L, 2, box);
    def.name = espyLua_NameField(L, 2);
    espyTesterId id;
    espyLua_CheckResult(L, espyTesterScene_CreateTester(box->scene, &def, &id),
                        "parent: a living target; bounds and toWorld: finite");
    espyLua_PushPart(L, 1, espyLuaPart_Tester, id.index1, id.generation);
    return 1;
}

/// scene:CreateDraw{toWorld = [, parent = target, material = "Opaque"]}: the box -1..1 under it is drawn to depth.
static int TesterScene_CreateDraw(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"toWorld", espyLuaKind_Mat4, offsetof(espyTesterDrawDef, toWorld), NULL},
        {"material", espyLuaKind_Enum, offsetof(espyTesterDrawDef, material), espyLuaMaterials},
        {"parent", espyLuaKind_Custom, 0, NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterDrawDef def = espyTesterDrawDef_Default();
    espyLua_ReadStruct(L, 2, "def", fields, &def);
    def.parent = espyLua_ParentField(L, 2, box);
    espyTesterDrawId id;
    espyLua_CheckResult(L, espyTesterScene_CreateDraw(box->scene, &def, &id),
                        "parent: a living target; toWorld: finite");
    espyLua_PushPart(L, 1, espyLuaPart_Draw, id.index1, id.generation);
    return 1;
}

static int TesterScene_DestroyTarget(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyLua_CheckResult(L, espyTesterScene_DestroyTarget(box->scene, espyLua_CheckTarget(L, 2, "target", box)), NULL);
    return 0;
}

static int TesterScene_IsTarget(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    lua_pushboolean(L, espyTesterScene_IsTarget(box->scene, espyLua_CheckTarget(L, 2, "target", box)));
    return 1;
}

/// scene:SetTargetParent(target [, parent]): nil is none.
static int TesterScene_SetTargetParent(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterTargetId target = espyLua_CheckTarget(L, 2, "target", box), parent = {0, 0};
    if (!lua_isnoneornil(L, 3))
    {
        parent = espyLua_CheckTarget(L, 3, "parent", box);
    }
    espyLua_CheckTesterResult(L, box, espyTesterScene_SetTargetParent(box->scene, target, parent), NULL);
    return 0;
}

static int TesterScene_DestroyTester(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyLua_CheckResult(L, espyTesterScene_DestroyTester(box->scene, espyLua_CheckTester(L, 2, box)), NULL);
    return 0;
}

static int TesterScene_IsTester(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    lua_pushboolean(L, espyTesterScene_IsTester(box->scene, espyLua_CheckTester(L, 2, box)));
    return 1;
}

static int TesterScene_SetTesterParent(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    espyTesterTargetId parent = {0, 0};
    if (!lua_isnoneornil(L, 3))
    {
        parent = espyLua_CheckTarget(L, 3, "parent", box);
    }
    espyLua_CheckTesterResult(L, box, espyTesterScene_SetTesterParent(box->scene, tester, parent), NULL);
    return 0;
}

static int TesterScene_SetTransform(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    espyMat4 toWorld = espyLua_CheckMat4(L, 3, "toWorld");
    espyLua_CheckResult(L, espyTesterScene_SetTransform(box->scene, tester, toWorld), "toWorld: finite");
    return 0;
}

static int TesterScene_DestroyDraw(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyLua_CheckResult(L, espyTesterScene_DestroyDraw(box->scene, espyLua_CheckDraw(L, 2, box)), NULL);
    return 0;
}

static int TesterScene_SetDrawTransform(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterDrawId draw = espyLua_CheckDraw(L, 2, box);
    espyMat4 toWorld = espyLua_CheckMat4(L, 3, "toWorld");
    espyLua_CheckResult(L, espyTesterScene_SetDrawTransform(box->scene, draw, toWorld), "toWorld: finite");
    return 0;
}

static int TesterScene_AddTarget(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    espyTesterTargetId target = espyLua_CheckTarget(L, 3, "target", box);
    espyLua_CheckTesterResult(L, box, espyTesterScene_AddTarget(box->scene, tester, target), NULL);
    return 0;
}

/// Returns whether it was one.
static int TesterScene_RemoveTarget(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    espyResult result = espyTesterScene_RemoveTarget(box->scene, tester, espyLua_CheckTarget(L, 3, "target", box));
    espyLua_CheckResult(L, result == espyResult_NotFound ? espyResult_Ok : result, NULL);
    lua_pushboolean(L, result == espyResult_Ok);
    return 1;
}

static int TesterScene_GetCycle(lua_State* L)
{
    lua_pushstring(L, espyTesterScene_GetCycle(espyLua_CheckTesterScene(L, 1)->scene));
    return 1;
}

/// scene:SetForceActive(tester, force [, view])
static int TesterScene_SetForceActive(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    bool force = espyLua_CheckBool(L, 3, "force");
    espyTesterViewId view = espyLua_OptionalView(L, 4, box);
    espyLua_CheckResult(L, espyTesterScene_SetForceActive(box->scene, tester, force, view), NULL);
    return 0;
}

static int TesterScene_ForceOnce(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    espyLua_CheckResult(L, espyTesterScene_ForceOnce(box->scene, tester, espyLua_OptionalView(L, 3, box)), NULL);
    return 0;
}

static int TesterScene_IsForceActive(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    lua_pushboolean(L, espyTesterScene_IsForceActive(box->scene, tester, espyLua_OptionalView(L, 3, box)));
    return 1;
}

static int TesterScene_WasActiveLastFrame(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterId tester = espyLua_CheckTester(L, 2, box);
    lua_pushboolean(L, espyTesterScene_WasActiveLastFrame(box->scene, tester, espyLua_OptionalView(L, 3, box)));
    return 1;
}

// --- views

static int TesterScene_CreateView(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterViewDef def = espyTesterViewDef_Default();
    espyLua_ReadStruct(L, 2, "def", espyLuaTesterViewFields, &def);
    espyTesterViewId id;
    espyLua_CheckResult(L, espyTesterScene_CreateView(box->scene, &def, &id),
                        "width, height: 1 to 8192; layers: 1 or 2");
    espyLua_PushPart(L, 1, espyLuaPart_View, id.index1, id.generation);
    return 1;
}

static int TesterScene_DestroyView(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    const espyLuaPart* view = espyLua_CheckPart(L, 2, "view", espyLuaPart_View, box);
    espyTesterViewId id = {view->index1, view->generation};
    espyLua_CheckResult(L, espyTesterScene_DestroyView(box->scene, id), NULL);
    return 0;
}

/// scene:ConfigureView(def [, view]): what is left out has its default.
static int TesterScene_ConfigureView(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterViewDef def = espyTesterViewDef_Default();
    espyLua_ReadStruct(L, 2, "def", espyLuaTesterViewFields, &def);
    espyLua_CheckResult(L, espyTesterScene_ConfigureView(box->scene, espyLua_OptionalView(L, 3, box), &def),
                        "width, height: 1 to 8192; layers: 1 or 2");
    return 0;
}

static int TesterScene_ResetView(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyLua_CheckResult(L, espyTesterScene_ResetView(box->scene, espyLua_OptionalView(L, 2, box)), NULL);
    return 0;
}

/// scene:RunView(viewProjection [, view [, secondEye]]). A scene of the script's own begins and ends the frame, too.
static int TesterScene_RunView(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = run.viewProjection[1] = espyLua_CheckMat4(L, 2, "viewProjection");
    espyTesterViewId view = espyLua_OptionalView(L, 3, box);
    if (!lua_isnoneornil(L, 4))
    {
        run.viewProjection[1] = espyLua_CheckMat4(L, 4, "secondEye");
    }
    espyResult begun = box->owned ? box->device.beginFrame(box->device.context, ++box->frame) : espyResult_Ok;
    espyResult result = espyTesterScene_RunView(box->scene, view, &run);
    espyResult ended = box->owned ? box->device.endFrame(box->device.context) : espyResult_Ok;
    result = begun != espyResult_Ok ? begun : result == espyResult_Ok ? ended : result;
    espyLua_CheckResult(L, result, "everything is shown");
    return 0;
}

// --- on nodes

/// The scene of a call on nodes, and the node at 2.
static espyLuaTesterScene* espyLua_CheckWorldTesters(lua_State* L, espyNodeId* node)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    if (!box->testers)
    {
        espyLua_ArgumentError(L, "scene", "its testers are not on nodes: the program gives such scenes");
    }
    if (node)
    {
        *node = espyLua_CheckNode(L, 2, "node", box->world);
    }
    return box;
}

/// testers:MakeTarget(node): what is under the node is hidden until it is seen.
static int WorldTesters_MakeTarget(lua_State* L)
{
    espyNodeId node;
    espyTesterTargetId id;
    espyLuaTesterScene* box = espyLua_CheckWorldTesters(L, &node);
    espyLua_CheckResult(L, espyWorldTesters_MakeTarget(box->testers, node, &id), NULL);
    espyLua_PushPart(L, 1, espyLuaPart_Target, id.index1, id.generation);
    return 1;
}

/// testers:MakeTester(node): the node's bounds stand for what add_target names.
static int WorldTesters_MakeTester(lua_State* L)
{
    espyNodeId node;
    espyTesterId id;
    espyLuaTesterScene* box = espyLua_CheckWorldTesters(L, &node);
    espyLua_CheckResult(L, espyWorldTesters_MakeTester(box->testers, node, &id), NULL);
    espyLua_PushPart(L, 1, espyLuaPart_Tester, id.index1, id.generation);
    return 1;
}

/// The target that a node was made, or nil.
static int WorldTesters_GetTarget(lua_State* L)
{
    espyNodeId node;
    const espyLuaTesterScene* box = espyLua_CheckWorldTesters(L, &node);
    espyTesterTargetId id = espyWorldTesters_GetTarget(box->testers, node);
    espyLua_PushPart(L, 1, espyLuaPart_Target, id.index1, id.generation);
    return 1;
}

/// The tester that a node was made, or nil.
static int WorldTesters_GetTester(lua_State* L)
{
    espyNodeId node;
    const espyLuaTesterScene* box = espyLua_CheckWorldTesters(L, &node);
    espyTesterId id = espyWorldTesters_GetTester(box->testers, node);
    espyLua_PushPart(L, 1, espyLuaPart_Tester, id.index1, id.generation);
    return 1;
}

/// testers:Follow(): targets and testers to where their nodes are.
static int WorldTesters_Follow(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckWorldTesters(L, NULL);
    espyLua_CheckTesterResult(L, box, espyWorldTesters_Follow(box->testers), NULL);
    return 0;
}

// --- answers

/// scene:GetShown([view]): an array of targets.
static int TesterScene_GetShown(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    uint32_t count;
    const espyTesterTargetId* shown = espyTesterScene_GetShown(box->scene, espyLua_OptionalView(L, 2, box), &count);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyLua_PushPart(L, 1, espyLuaPart_Target, shown[i].index1, shown[i].generation);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static int TesterScene_IsShown(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterTargetId target = espyLua_CheckTarget(L, 2, "target", box);
    lua_pushboolean(L, espyTesterScene_IsShown(box->scene, target, espyLua_OptionalView(L, 3, box)));
    return 1;
}

/// scene:GetEvents([view]): an array of {target = , entered = true or false}.
static int TesterScene_GetEvents(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    uint32_t count;
    const espyTesterEvent* events = espyTesterScene_GetEvents(box->scene, espyLua_OptionalView(L, 2, box), &count);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_createtable(L, 0, 2);
        espyLua_PushPart(L, 1, espyLuaPart_Target, events[i].target.index1, events[i].target.generation);
        lua_setfield(L, -2, "target");
        lua_pushboolean(L, events[i].entered);
        lua_setfield(L, -2, "entered");
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static int TesterScene_GetStats(lua_State* L)
{
    espyLuaTesterScene* box = espyLua_CheckTesterScene(L, 1);
    espyTesterStats stats = espyTesterScene_GetStats(box->scene, espyLua_OptionalView(L, 2, box));
    espyLua_PushStruct(L, espyLuaTesterStatsFields, &stats);
    return 1;
}

// --- the proposal's names

static int Tester_AddTarget(lua_State* L)
{
    const espyLuaPart* tester = espyLua_CheckPart(L, 1, "tester", espyLuaPart_Tester, NULL);
    espyTesterTargetId target = espyLua_CheckTarget(L, 2, "target", tester->owner);
    espyTesterId id = {tester->index1, tester->generation};
    espyLua_CheckTesterResult(L, tester->owner, espyTesterScene_AddTarget(tester->owner->scene, id, target), NULL);
    return 0;
}

static int Tester_RemoveTarget(lua_State* L)
{
    const espyLuaPart* tester = espyLua_CheckPart(L, 1, "tester", espyLuaPart_Tester, NULL);
    espyTesterTargetId target = espyLua_CheckTarget(L, 2, "target", tester->owner);
    espyResult result =
        espyTesterScene_RemoveTarget(tester->owner->scene, (espyTesterId){tester->index1, tester->generation}, target);
    espyLua_CheckResult(L, result == espyResult_NotFound ? espyResult_Ok : result, NULL);
    return 0;
}

/// tester:set_force_active(force [, view])
static int Tester_SetForceActive(lua_State* L)
{
    const espyLuaPart* tester = espyLua_CheckPart(L, 1, "tester", espyLuaPart_Tester, NULL);
    bool force = espyLua_CheckBool(L, 2, "force");
    espyTesterViewId view = espyLua_OptionalView(L, 3, tester->owner);
    espyTesterId id = {tester->index1, tester->generation};
    espyLua_CheckResult(L, espyTesterScene_SetForceActive(tester->owner->scene, id, force, view), NULL);
    return 0;
}

/// tester:was_active_last_frame([view])
static int Tester_WasActiveLastFrame(lua_State* L)
{
    const espyLuaPart* tester = espyLua_CheckPart(L, 1, "tester", espyLuaPart_Tester, NULL);
    espyTesterViewId view = espyLua_OptionalView(L, 2, tester->owner);
    espyTesterId id = {tester->index1, tester->generation};
    lua_pushboolean(L, espyTesterScene_WasActiveLastFrame(tester->owner->scene, id, view));
    return 1;
}

void espyLua_OpenTesters(lua_State* L)
{
    static const luaL_Reg scene[] = {{"Create", TesterScene_Create},
                                     {"Destroy", TesterScene_Destroy},
                                     {"CreateTarget", TesterScene_CreateTarget},
                                     {"DestroyTarget", TesterScene_DestroyTarget},
                                     {"IsTarget", TesterScene_IsTarget},
                                     {"SetTargetParent", TesterScene_SetTargetParent},
                                     {"CreateTester", TesterScene_CreateTester},
                                     {"DestroyTester", TesterScene_DestroyTester},
                                     {"IsTester", TesterScene_IsTester},
                                     {"SetTesterParent", TesterScene_SetTesterParent},
                                     {"SetTransform", TesterScene_SetTransform},
                                     {"AddTarget", TesterScene_AddTarget},
                                     {"RemoveTarget", TesterScene_RemoveTarget},
                                     {"GetCycle", TesterScene_GetCycle},
                                     {"CreateDraw", TesterScene_CreateDraw},
                                     {"DestroyDraw", TesterScene_DestroyDraw},
                                     {"SetDrawTransform", TesterScene_SetDrawTransform},
                                     {"CreateView", TesterScene_CreateView},
                                     {"DestroyView", TesterScene_DestroyView},
                                     {"ConfigureView", TesterScene_ConfigureView},
                                     {"ResetView", TesterScene_ResetView},
                                     {"SetForceActive", TesterScene_SetForceActive},
                                     {"ForceOnce", TesterScene_ForceOnce},
                                     {"IsForceActive", TesterScene_IsForceActive},
                                     {"RunView", TesterScene_RunView},
                                     {"GetShown", TesterScene_GetShown},
                                     {"IsShown", TesterScene_IsShown},
                                     {"WasActiveLastFrame", TesterScene_WasActiveLastFrame},
                                     {"GetEvents", TesterScene_GetEvents},
                                     {"GetStats", TesterScene_GetStats},
                                     {NULL, NULL}};
    static const luaL_Reg tester[] = {{"add_target", Tester_AddTarget},
                                      {"remove_target", Tester_RemoveTarget},
                                      {"set_force_active", Tester_SetForceActive},
                                      {"was_active_last_frame", Tester_WasActiveLastFrame},
                                      {NULL, NULL}};
    static const luaL_Reg none[] = {{NULL, NULL}};
    static const luaL_Reg onNodes[] = {{"MakeTarget", WorldTesters_MakeTarget}, {"MakeTester", WorldTesters_MakeTester},
                                       {"GetTarget", WorldTesters_GetTarget},   {"GetTester", WorldTesters_GetTester},
                                       {"Follow", WorldTesters_Follow},         {NULL, NULL}};
    espyLua_RegisterClass(L, "TesterScene", scene);
    espyLua_RegisterClass(L, "TesterScene", onNodes);
    espyLua_RegisterClass(L, "WorldTesters", onNodes);
    espyLua_OpenDependent(L, ESPY_LUA_TESTER_SCENE, "TesterScene", TesterScene_Destroy);
    for (int kind = 0; kind < 4; ++kind)
    {
        const char* name = espyLuaPartClasses[kind];
        espyLua_RegisterClass(L, name, kind == espyLuaPart_Tester ? tester : none);
        luaL_newmetatable(L, espyLuaPartTypes[kind]);
        lua_getfield(L, -2, name);
        lua_setfield(L, -2, "__index");
        lua_pushstring(L, name);
        lua_setfield(L, -2, "__metatable");
        lua_pop(L, 1);
    }
}
