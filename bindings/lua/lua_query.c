// SPDX-License-Identifier: MIT
// QuerySystem: the host's query system for scripts. Objects and views are numbers, reasons and kinds their names.
#include "lua_calls.h"

#include "espy_lua.h"

#define ESPY_LUA_QUERY_SYSTEM "a QuerySystem"
/// An id as a number: the index below, the generation above.
#define ESPY_LUA_ID_BITS 25u

typedef struct espyLuaQuerySystem
{
    espyQuerySystem* system; ///< Null once it is gone.
} espyLuaQuerySystem;

static char espyLuaQuerySystemKey; ///< Registry: the handle of the system that the host gave.

#define ESPY_VIEW_FIELD(kind, field)                                        \
    {                                                                       \
#field, espyLuaKind_##kind, offsetof(espyQueryViewDef, field), NULL \
    }

static const espyLuaField espyLuaQueryViewFields[] = {
    ESPY_VIEW_FIELD(U32, maxQueries),
    ESPY_VIEW_FIELD(U32, visibleInterval),
    ESPY_VIEW_FIELD(U32, hiddenAfter),
    ESPY_VIEW_FIELD(U32, timeLimit),
    ESPY_VIEW_FIELD(Float, threshold),
    ESPY_VIEW_FIELD(Float, bias),
    ESPY_VIEW_FIELD(Float, margin),
    ESPY_VIEW_FIELD(Float, smallest),
    ESPY_VIEW_FIELD(Float, nearestOccluder),
    ESPY_VIEW_FIELD(Float, maxSweep),
    ESPY_VIEW_FIELD(Float, cutDistance),
    ESPY_VIEW_FIELD(Float, cutAngle),
    ESPY_VIEW_FIELD(U32, maxGroup),
    ESPY_VIEW_FIELD(U32, maxBatch),
    ESPY_VIEW_FIELD(Bool, history),
    ESPY_VIEW_FIELD(Bool, autoOff),
    ESPY_VIEW_FIELD(Bool, exact),
    {"queryCost", espyLuaKind_Float, offsetof(espyQueryViewDef, costs.query), NULL},
    {"proxyCost", espyLuaKind_Float, offsetof(espyQueryViewDef, costs.proxy), NULL},
    {"objectCost", espyLuaKind_Float, offsetof(espyQueryViewDef, costs.object), NULL},
    {NULL, espyLuaKind_Custom, 0, NULL}};

#define ESPY_COUNT_FIELD(field)                                              \
    {                                                                        \
#field, espyLuaKind_U64, offsetof(espyQueryStats, frame.field), NULL \
    }

static const espyLuaField espyLuaQueryStatsFields[] = {
    ESPY_COUNT_FIELD(inFrustum),
    ESPY_COUNT_FIELD(drawn),
    ESPY_COUNT_FIELD(skipped),
    ESPY_COUNT_FIELD(queries),
    ESPY_COUNT_FIELD(proxies),
    ESPY_COUNT_FIELD(postponed),
    ESPY_COUNT_FIELD(answers),
    ESPY_COUNT_FIELD(stale),
    ESPY_COUNT_FIELD(lost),
    ESPY_COUNT_FIELD(ageSum),
    ESPY_COUNT_FIELD(pops),
    ESPY_COUNT_FIELD(missing),
    {"latency", espyLuaKind_U32, offsetof(espyQueryStats, latency), NULL},
    {"longestMissing", espyLuaKind_U32, offsetof(espyQueryStats, longestMissing), NULL},
    {"oldestEvidence", espyLuaKind_U32, offsetof(espyQueryStats, oldestEvidence), NULL},
    {"off", espyLuaKind_Bool, offsetof(espyQueryStats, off), NULL},
    {"bytes", espyLuaKind_Size, offsetof(espyQueryStats, bytes), NULL},
    {NULL, espyLuaKind_Custom, 0, NULL}};

static espyQuerySystem* espyLua_CheckQuerySystemAt(lua_State* L, int index)
{
    espyLuaQuerySystem* box = espyLua_Test(L, index, ESPY_LUA_QUERY_SYSTEM);
    if (!box)
    {
        espyLua_TypeError(L, index, "system", ESPY_LUA_QUERY_SYSTEM);
        return NULL;
    }
    if (!box->system)
    {
        espyLua_ArgumentError(L, "system", "the program took it away");
    }
    return box->system;
}

static espyQuerySystem* espyLua_CheckQuerySystem(lua_State* L)
{
    return espyLua_CheckQuerySystemAt(L, 1);
}

espyQuerySystem* espyLua_BorrowQuerySystem(lua_State* L, int index, int renderer)
{
    int place = espyLua_Absolute(L, index), borrower = espyLua_Absolute(L, renderer);
    espyQuerySystem* system = espyLua_CheckQuerySystemAt(L, place);
    espyLua_GetUserTable(L, place);
    lua_pushvalue(L, borrower);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    lua_pop(L, 1);
    return system;
}

/// Makes the renderers that borrowed the system at the top let it go.
static void espyLua_ReturnQuerySystem(lua_State* L)
{
    espyLua_GetUserTable(L, -1);
    int borrowers = lua_gettop(L);
    lua_pushnil(L);
    while (lua_next(L, borrowers))
    {
        lua_pop(L, 1);
        espyLuaDependent* renderer = lua_touserdata(L, -1);
        if (renderer->object)
        {
            espyRenderer_SetQuerySystem(renderer->object, NULL);
        }
    }
    lua_pop(L, 1);
}

void espyLua_PushQueryId(lua_State* L, int32_t index1, uint32_t generation)
{
    lua_pushnumber(L, (lua_Number)((uint64_t)index1 + ((uint64_t)generation << ESPY_LUA_ID_BITS)));
}

static espyQueryObjectId espyLua_CheckQueryObject(lua_State* L, int index)
{
    uint64_t id = (uint64_t)espyLua_CheckWhole(L, index, "object", 0, (int64_t)1 << 53);
    return (espyQueryObjectId){(int32_t)(id & ((1u << ESPY_LUA_ID_BITS) - 1u)), (uint32_t)(id >> ESPY_LUA_ID_BITS)};
}

espyQueryViewId espyLua_CheckQueryView(lua_State* L, int index)
{
    uint64_t id = (uint64_t)espyLua_CheckWhole(L, index, "view", 0, (int64_t)1 << 53);
    return (espyQueryViewId){(int32_t)(id & ((1u << ESPY_LUA_ID_BITS) - 1u)), (uint32_t)(id >> ESPY_LUA_ID_BITS)};
}

void espyLua_SetQuerySystem(lua_State* L, espyQuerySystem* system)
{
    lua_pushlightuserdata(L, &espyLuaQuerySystemKey);
    lua_pushvalue(L, -1);
    lua_rawget(L, LUA_REGISTRYINDEX);
    espyLuaQuerySystem* before = espyLua_Test(L, -1, ESPY_LUA_QUERY_SYSTEM);
    if (before)
    {
        espyLua_ReturnQuerySystem(L);
        before->system = NULL;
    }
    lua_pop(L, 1);
    if (system)
    {
        espyLuaQuerySystem* box = lua_newuserdata(L, sizeof *box);
        box->system = system;
        lua_newtable(L); // Renderers that borrow it, held weakly.
        lua_newtable(L);
        lua_pushliteral(L, "k");
        lua_setfield(L, -2, "__mode");
        lua_setmetatable(L, -2);
        espyLua_SetUserTable(L, -2);
        luaL_getmetatable(L, ESPY_LUA_QUERY_SYSTEM);
        lua_setmetatable(L, -2);
    }
    else
    {
        lua_pushnil(L);
    }
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/// QuerySystem.Get(): the system that the program gave, or nil.
static int QuerySystem_Get(lua_State* L)
{
    lua_pushlightuserdata(L, &espyLuaQuerySystemKey);
    lua_rawget(L, LUA_REGISTRYINDEX);
    return 1;
}

// --- objects

static int QuerySystem_Reserve(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    uint32_t objects = (uint32_t)espyLua_CheckWhole(L, 2, "objects", 0, UINT32_MAX);
    espyLua_CheckResult(L, espyQuerySystem_Reserve(system, objects), "at most 16777216 objects");
    return 0;
}

/// system:AddObject{box = {min = , max = } [, toWorld = m] [, cost = 1] [, treeNode = i]}: a number. With toWorld the
/// box from -1 to 1 under it is asked about. Tree nodes count from 1.
static int QuerySystem_AddObject(lua_State* L)
{
    static const espyLuaField fields[] = {{"box", espyLuaKind_Box, offsetof(espyQueryObjectDef, box), NULL},
                                          {"toWorld", espyLuaKind_Mat4, offsetof(espyQueryObjectDef, toWorld), NULL},
                                          {"cost", espyLuaKind_Float, offsetof(espyQueryObjectDef, cost), NULL},
                                          {"treeNode", espyLuaKind_Custom, 0, NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    espyQueryObjectId id;
    espyLua_ReadStruct(L, 2, "def", fields, &def);
    lua_getfield(L, 2, "toWorld");
    def.proxy = !lua_isnil(L, -1);
    lua_getfield(L, 2, "treeNode");
    if (!lua_isnil(L, -1))
    {
        def.treeNode = (uint32_t)espyLua_CheckWhole(L, -1, "treeNode", 1, ESPY_QUERY_MAX_OBJECTS) - 1u;
    }
    espyLua_CheckResult(L, espyQuerySystem_AddObject(system, &def, &id), "cost: 0 or more; treeNode: one of SetTree");
    espyLua_PushQueryId(L, id.index1, id.generation);
    return 1;
}

static int QuerySystem_RemoveObject(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_CheckResult(L, espyQuerySystem_RemoveObject(system, espyLua_CheckQueryObject(L, 2)), NULL);
    return 0;
}

static int QuerySystem_IsObject(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    lua_pushboolean(L, espyQuerySystem_IsObject(system, espyLua_CheckQueryObject(L, 2)));
    return 1;
}

static int QuerySystem_GetObjectCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyQuerySystem_GetObjectCount(espyLua_CheckQuerySystem(L)));
    return 1;
}

static int QuerySystem_SetBox(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryObjectId id = espyLua_CheckQueryObject(L, 2);
    espyLua_CheckResult(L, espyQuerySystem_SetBox(system, id, espyLua_CheckBox(L, 3, "box")), NULL);
    return 0;
}

static int QuerySystem_SetBoxAndProxy(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryObjectId id = espyLua_CheckQueryObject(L, 2);
    espyBox box = espyLua_CheckBox(L, 3, "box");
    espyMat4 toWorld = espyLua_CheckMat4(L, 4, "toWorld");
    espyLua_CheckResult(L, espyQuerySystem_SetBoxAndProxy(system, id, box, toWorld), NULL);
    return 0;
}

static int QuerySystem_GetBox(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_PushBox(L, espyQuerySystem_GetBox(system, espyLua_CheckQueryObject(L, 2)));
    return 1;
}

/// system:SetTree{0, 1, 1, ...}: the parent of each node, counted from 1; 0 at the top.
static int QuerySystem_SetTree(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_CheckTable(L, 2, "parents");
    uint32_t count = (uint32_t)espyLua_Length(L, 2);
    uint32_t* parents = espyLua_Scratch(L, (size_t)count + 1u, sizeof *parents);
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_rawgeti(L, 2, (int)i + 1);
        int64_t parent = espyLua_CheckWhole(L, -1, "parents", 0, (int64_t)count);
        parents[i] = parent == 0 ? ESPY_QUERY_NO_NODE : (uint32_t)parent - 1u;
        lua_pop(L, 1);
    }
    espyLua_CheckResult(L, espyQuerySystem_SetTree(system, parents, count),
                        "parents come before their children, and there are no objects yet");
    return 0;
}

static int QuerySystem_Rebuild(lua_State* L)
{
    espyQuerySystem_Rebuild(espyLua_CheckQuerySystem(L));
    return 0;
}

// --- views

/// system:CreateView [{maxQueries = , ...}]: a number.
static int QuerySystem_CreateView(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewDef def = espyQueryViewDef_Default();
    espyQueryViewId view;
    const char* field;
    if (!lua_isnoneornil(L, 2))
    {
        espyLua_ReadStruct(L, 2, "def", espyLuaQueryViewFields, &def);
    }
    if (espyQueryViewDef_Validate(&def, &field) != espyResult_Ok)
    {
        return espyLua_ArgumentError(L, field, "out of range");
    }
    espyLua_CheckResult(L, espyQuerySystem_CreateView(system, &def, &view), "at most 32 views");
    espyLua_PushQueryId(L, view.index1, view.generation);
    return 1;
}

static int QuerySystem_DestroyView(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_CheckResult(L, espyQuerySystem_DestroyView(system, espyLua_CheckQueryView(L, 2)), NULL);
    return 0;
}

/// Fields that are left out stay as they are.
static int QuerySystem_ConfigureView(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyQueryViewDef def = espyQuerySystem_GetViewDef(system, view);
    const char* field;
    espyLua_ReadStruct(L, 3, "def", espyLuaQueryViewFields, &def);
    if (def.cookie == ESPY_DEF_COOKIE && espyQueryViewDef_Validate(&def, &field) != espyResult_Ok)
    {
        return espyLua_ArgumentError(L, field, "out of range");
    }
    espyLua_CheckResult(L, espyQuerySystem_ConfigureView(system, view, &def), NULL);
    return 0;
}

static int QuerySystem_GetViewDef(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewDef def = espyQuerySystem_GetViewDef(system, espyLua_CheckQueryView(L, 2));
    espyLua_PushStruct(L, espyLuaQueryViewFields, &def);
    return 1;
}

/// system:SetCosts(view, query, proxy, object)
static int QuerySystem_SetCosts(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyQueryCosts costs = {0};
    costs.query = espyLua_CheckFloat(L, 3, "query");
    costs.proxy = espyLua_CheckFloat(L, 4, "proxy");
    costs.object = espyLua_CheckFloat(L, 5, "object");
    espyLua_CheckResult(L, espyQuerySystem_SetCosts(system, view, &costs), "costs: 0 or more");
    return 0;
}

static int QuerySystem_EnableView(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyLua_CheckResult(L, espyQuerySystem_EnableView(system, view, espyLua_CheckBool(L, 3, "enable")), NULL);
    return 0;
}

static int QuerySystem_Cut(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_CheckResult(L, espyQuerySystem_Cut(system, espyLua_CheckQueryView(L, 2)), NULL);
    return 0;
}

static int QuerySystem_FreezeView(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyLua_CheckResult(L, espyQuerySystem_FreezeView(system, view, espyLua_CheckBool(L, 3, "frozen")), NULL);
    return 0;
}

static int QuerySystem_IsViewFrozen(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    lua_pushboolean(L, espyQuerySystem_IsViewFrozen(system, espyLua_CheckQueryView(L, 2)));
    return 1;
}

// --- a frame

static int QuerySystem_BeginFrame(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    uint64_t frame = (uint64_t)espyLua_CheckWhole(L, 2, "frame", 0, (int64_t)1 << 53);
    espyLua_CheckResult(L, espyQuerySystem_BeginFrame(system, frame), "frame: more than the last one");
    return 0;
}

/// Bits of an array of objects, and for how many.
static uint32_t* espyLua_ObjectBits(lua_State* L, int index, const char* name, uint32_t* outCount)
{
    espyLua_CheckTable(L, index, name);
    uint32_t count = (uint32_t)espyLua_Length(L, index), most = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_rawgeti(L, index, (int)i + 1);
        uint32_t at = (uint32_t)espyLua_CheckQueryObject(L, -1).index1;
        most = at > most ? at : most;
        lua_pop(L, 1);
    }
    uint32_t* bits = espyLua_Scratch(L, (size_t)most / 32u + 1u, sizeof *bits);
    for (uint32_t i = 0; i <= most / 32u; ++i)
    {
        bits[i] = 0;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_rawgeti(L, index, (int)i + 1);
        uint32_t at = (uint32_t)espyLua_CheckQueryObject(L, -1).index1;
        bits[at > 0 ? (at - 1u) / 32u : 0u] |= at > 0 ? 1u << ((at - 1u) % 32u) : 0u;
        lua_pop(L, 1);
    }
    *outCount = most;
    return bits;
}

/// system:Cull(view, {view = m, projection = m, reversedZ = , width = , height = , cut = , shadow = })
static int QuerySystem_Cull(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"view", espyLuaKind_Mat4, offsetof(espyQueryCamera, eye.view), NULL},
        {"projection", espyLuaKind_Mat4, offsetof(espyQueryCamera, eye.projection), NULL},
        {"reversedZ", espyLuaKind_Bool, offsetof(espyQueryCamera, eye.reversedZ), NULL},
        {"width", espyLuaKind_I32, offsetof(espyQueryCamera, width), NULL},
        {"height", espyLuaKind_I32, offsetof(espyQueryCamera, height), NULL},
        {"cut", espyLuaKind_Bool, offsetof(espyQueryCamera, cut), NULL},
        {"shadow", espyLuaKind_Vec3, offsetof(espyQueryCamera, shadow), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyQueryCamera camera = espyQueryCamera_Default();
    espyLua_ReadStruct(L, 3, "camera", fields, &camera);
    espyLua_CheckResult(L, espyQuerySystem_Cull(system, view, &camera), "width and height: 1 to 8192");
    return 0;
}

static int QuerySystem_GetDraws(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    uint32_t count = 0;
    const espyQueryObjectId* draws = espyQuerySystem_GetDraws(system, espyLua_CheckQueryView(L, 2), &count);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyLua_PushQueryId(L, draws[i].index1, draws[i].generation);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static int QuerySystem_Submit(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_CheckResult(L, espyQuerySystem_Submit(system, espyLua_CheckQueryView(L, 2)), "in a pass of the device");
    return 0;
}

static int QuerySystem_Wait(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyLua_CheckResult(L, espyQuerySystem_Wait(system, espyLua_CheckQueryView(L, 2), NULL, NULL),
                        "for views with exact = true");
    return 0;
}

// --- what it knows

/// {visibility = , reason = , age = , pending = , depth = }
static int QuerySystem_Explain(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyQueryDecision decision = espyQuerySystem_Explain(system, view, espyLua_CheckQueryObject(L, 3));
    lua_createtable(L, 0, 5);
    lua_pushstring(L, espyLuaVisibilities[decision.visibility]);
    lua_setfield(L, -2, "visibility");
    lua_pushstring(L, espyQueryReason_GetName(decision.reason));
    lua_setfield(L, -2, "reason");
    lua_pushinteger(L, (lua_Integer)decision.age);
    lua_setfield(L, -2, "age");
    lua_pushboolean(L, decision.pending);
    lua_setfield(L, -2, "pending");
    lua_pushinteger(L, (lua_Integer)decision.depth);
    lua_setfield(L, -2, "depth");
    return 1;
}

/// An array of reasons, the newest first.
static int QuerySystem_GetHistory(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    espyQueryReason reasons[ESPY_QUERY_HISTORY];
    uint32_t count = espyQuerySystem_GetHistory(system, view, espyLua_CheckQueryObject(L, 3), reasons);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_pushstring(L, espyQueryReason_GetName(reasons[i]));
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/// system:Compare(view, {object, ...}): those that can be seen.
static int QuerySystem_Compare(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryViewId view = espyLua_CheckQueryView(L, 2);
    uint32_t count;
    const uint32_t* bits = espyLua_ObjectBits(L, 3, "seen", &count);
    espyLua_CheckResult(L, espyQuerySystem_Compare(system, view, bits, count), NULL);
    return 0;
}

/// Counts of the last frame.
static int QuerySystem_GetStats(lua_State* L)
{
    espyQuerySystem* system = espyLua_CheckQuerySystem(L);
    espyQueryStats stats = espyQuerySystem_GetStats(system, espyLua_CheckQueryView(L, 2));
    espyLua_PushStruct(L, espyLuaQueryStatsFields, &stats);
    return 1;
}

/// The host destroys its systems itself.
static int QuerySystem_Collect(lua_State* L)
{
    (void)L;
    return 0;
}

void espyLua_OpenQueries(lua_State* L)
{
    static const luaL_Reg functions[] = {{"Get", QuerySystem_Get},
                                         {"Reserve", QuerySystem_Reserve},
                                         {"AddObject", QuerySystem_AddObject},
                                         {"RemoveObject", QuerySystem_RemoveObject},
                                         {"IsObject", QuerySystem_IsObject},
                                         {"GetObjectCount", QuerySystem_GetObjectCount},
                                         {"SetBox", QuerySystem_SetBox},
                                         {"SetBoxAndProxy", QuerySystem_SetBoxAndProxy},
                                         {"GetBox", QuerySystem_GetBox},
                                         {"SetTree", QuerySystem_SetTree},
                                         {"Rebuild", QuerySystem_Rebuild},
                                         {"CreateView", QuerySystem_CreateView},
                                         {"DestroyView", QuerySystem_DestroyView},
                                         {"ConfigureView", QuerySystem_ConfigureView},
                                         {"GetViewDef", QuerySystem_GetViewDef},
                                         {"SetCosts", QuerySystem_SetCosts},
                                         {"EnableView", QuerySystem_EnableView},
                                         {"Cut", QuerySystem_Cut},
                                         {"FreezeView", QuerySystem_FreezeView},
                                         {"IsViewFrozen", QuerySystem_IsViewFrozen},
                                         {"BeginFrame", QuerySystem_BeginFrame},
                                         {"Cull", QuerySystem_Cull},
                                         {"GetDraws", QuerySystem_GetDraws},
                                         {"Submit", QuerySystem_Submit},
                                         {"Wait", QuerySystem_Wait},
                                         {"Explain", QuerySystem_Explain},
                                         {"GetHistory", QuerySystem_GetHistory},
                                         {"Compare", QuerySystem_Compare},
                                         {"GetStats", QuerySystem_GetStats},
                                         {NULL, NULL}};
    espyLua_RegisterClass(L, "QuerySystem", functions);
    espyLua_OpenDependent(L, ESPY_LUA_QUERY_SYSTEM, "QuerySystem", QuerySystem_Collect);
}
