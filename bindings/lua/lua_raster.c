// SPDX-License-Identifier: MIT
// Raster, Occluder, Recording: the software rasteriser from scripts. Handles own what they stand for; a raster keeps
// the recording that it writes to.
#include "lua_raster.h"

#include "espy_lua.h"

#define ESPY_LUA_RECORDING "a Recording"

static const char* const espyLuaRasterModes[] = {"Sampled", "Conservative", NULL};

/// A pointer, null once it was destroyed.
typedef struct espyLuaOwned
{
    void* object;
    uint32_t users; ///< Renderers that borrow it: Destroy waits for the end of the handle then.
} espyLuaOwned;

static espyLuaOwned* espyLua_PushOwned(lua_State* L, const char* type)
{
    espyLuaOwned* box = lua_newuserdata(L, sizeof *box);
    *box = (espyLuaOwned){0};
    lua_newtable(L);
    espyLua_SetUserTable(L, -2);
    luaL_getmetatable(L, type);
    lua_setmetatable(L, -2);
    return box;
}

static void* espyLua_CheckOwned(lua_State* L, int index, const char* name, const char* type)
{
    espyLuaOwned* box = espyLua_Test(L, index, type);
    if (!box)
    {
        espyLua_TypeError(L, index, name, type);
        return NULL;
    }
    if (!box->object)
    {
        espyLua_ArgumentError(L, name, "it was destroyed");
    }
    return box->object;
}

espyRaster* espyLua_CheckRaster(lua_State* L, int index, const char* name)
{
    return espyLua_CheckOwned(L, index, name, ESPY_LUA_RASTER);
}

espyOccluder* espyLua_CheckOccluder(lua_State* L, int index, const char* name)
{
    return espyLua_CheckOwned(L, index, name, ESPY_LUA_OCCLUDER);
}

void espyLua_Lend(lua_State* L, int index)
{
    espyLuaOwned* box = lua_touserdata(L, index);
    ++box->users;
}

/// A matrix, or null for nil; `room` holds it.
static const espyMat4* espyLua_OptionalMat4(lua_State* L, int index, const char* name, espyMat4* room)
{
    if (lua_isnoneornil(L, index))
    {
        return NULL;
    }
    *room = espyLua_CheckMat4(L, index, name);
    return room;
}

static uint32_t espyLua_OptionalId(lua_State* L, int index)
{
    return lua_isnoneornil(L, index) ? 0u : (uint32_t)espyLua_CheckWhole(L, index, "id", 0, UINT32_MAX);
}

static int espyLua_PushVisibility(lua_State* L, espyVisibility visibility)
{
    lua_pushstring(L, espyLuaVisibilities[visibility]);
    return 1;
}

// --- occluders

/// Occluder.Create{triangles = {positions = , indices = }, mode = "Sampled", twoSided = false}
static int Occluder_Create(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"triangles", espyLuaKind_Custom, 0, NULL},
        {"mode", espyLuaKind_Enum, offsetof(espyOccluderDef, mode), espyLuaRasterModes},
        {"twoSided", espyLuaKind_Bool, offsetof(espyOccluderDef, twoSided), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyOccluderDef def = espyOccluderDef_Default();
    espyLua_ReadStruct(L, 1, "def", fields, &def);
    lua_getfield(L, 1, "triangles");
    def.triangles = espyLua_CheckTriangles(L, lua_gettop(L), "triangles");
    espyOccluder* occluder = NULL;
    espyLuaOwned* box = espyLua_PushOwned(L, ESPY_LUA_OCCLUDER);
    espyLua_CheckResult(L, espyOccluder_Create(&def, &occluder), "an index past the end");
    box->object = occluder;
    return 1;
}

static int Occluder_Collect(lua_State* L)
{
    espyLuaOwned* box = espyLua_Test(L, 1, ESPY_LUA_OCCLUDER);
    if (box)
    {
        espyOccluder_Destroy(box->object);
        box->object = NULL;
    }
    return 0;
}

static int Occluder_Destroy(lua_State* L)
{
    espyLuaOwned* box = espyLua_Test(L, 1, ESPY_LUA_OCCLUDER);
    return box && box->users > 0 ? 0 : Occluder_Collect(L);
}

static int Occluder_GetBounds(lua_State* L)
{
    espyLua_PushBox(L, espyOccluder_GetBounds(espyLua_CheckOccluder(L, 1, "occluder")));
    return 1;
}

static int Occluder_GetBatchCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyOccluder_GetBatchCount(espyLua_CheckOccluder(L, 1, "occluder")));
    return 1;
}

static int Occluder_GetTriangleCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyOccluder_GetTriangleCount(espyLua_CheckOccluder(L, 1, "occluder")));
    return 1;
}

// --- rasters

/// Raster.Create{width = 1280, height = 720, mode = "Sampled", ids = false, reversedZ = false, ...}
static int Raster_Create(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"mode", espyLuaKind_Enum, offsetof(espyRasterDef, mode), espyLuaRasterModes},
        {"width", espyLuaKind_I32, offsetof(espyRasterDef, width), NULL},
        {"height", espyLuaKind_I32, offsetof(espyRasterDef, height), NULL},
        {"ids", espyLuaKind_Bool, offsetof(espyRasterDef, ids), NULL},
        {"reversedZ", espyLuaKind_Bool, offsetof(espyRasterDef, reversedZ), NULL},
        {"subPixelBits", espyLuaKind_U32, offsetof(espyRasterDef, subPixelBits), NULL},
        {"maxBatches", espyLuaKind_U32, offsetof(espyRasterDef, maxBatches), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyRasterDef def = espyRasterDef_Default();
    if (!lua_isnoneornil(L, 1))
    {
        espyLua_ReadStruct(L, 1, "def", fields, &def);
    }
    espyRaster* raster = NULL;
    espyLuaOwned* box = espyLua_PushOwned(L, ESPY_LUA_RASTER);
    espyLua_CheckResult(L, espyRaster_Create(&def, &raster),
                        "width and height from 1 to 8192, ids in Sampled mode only");
    box->object = raster;
    return 1;
}

static int Raster_Collect(lua_State* L)
{
    espyLuaOwned* box = espyLua_Test(L, 1, ESPY_LUA_RASTER);
    if (box)
    {
        espyRaster_Destroy(box->object);
        box->object = NULL;
    }
    return 0;
}

static int Raster_Destroy(lua_State* L)
{
    espyLuaOwned* box = espyLua_Test(L, 1, ESPY_LUA_RASTER);
    return box && box->users > 0 ? 0 : Raster_Collect(L);
}

static int Raster_Resize(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    int32_t width = (int32_t)espyLua_CheckWhole(L, 2, "width", 1, ESPY_RASTER_MAX_SIZE);
    int32_t height = (int32_t)espyLua_CheckWhole(L, 3, "height", 1, ESPY_RASTER_MAX_SIZE);
    espyLua_CheckResult(L, espyRaster_Resize(raster, width, height), NULL);
    return 0;
}

static int Raster_GetWidth(lua_State* L)
{
    lua_pushinteger(L, espyRaster_GetWidth(espyLua_CheckRaster(L, 1, "raster")));
    return 1;
}

static int Raster_GetHeight(lua_State* L)
{
    lua_pushinteger(L, espyRaster_GetHeight(espyLua_CheckRaster(L, 1, "raster")));
    return 1;
}

static int Raster_GetMode(lua_State* L)
{
    lua_pushstring(L, espyLuaRasterModes[espyRaster_GetMode(espyLua_CheckRaster(L, 1, "raster"))]);
    return 1;
}

static int Raster_IsReversedZ(lua_State* L)
{
    lua_pushboolean(L, espyRaster_IsReversedZ(espyLua_CheckRaster(L, 1, "raster")));
    return 1;
}

static int Raster_GetIsa(lua_State* L)
{
    lua_pushstring(L, espyIsa_GetName(espyRaster_GetIsa(espyLua_CheckRaster(L, 1, "raster"))));
    return 1;
}

static int Raster_Begin(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyMat4 view = espyLua_CheckMat4(L, 2, "viewProjection");
    espyLua_CheckResult(L, espyRaster_Begin(raster, &view), NULL);
    return 0;
}

static int Raster_SetView(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyMat4 view = espyLua_CheckMat4(L, 2, "viewProjection");
    espyLua_CheckResult(L, espyRaster_SetView(raster, &view), NULL);
    return 0;
}

/// raster:DrawTriangles({positions = , indices = } [, toWorld [, id [, twoSided]]])
static int Raster_DrawTriangles(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    lua_settop(L, 5);
    espyMat4 room;
    const espyMat4* toWorld = espyLua_OptionalMat4(L, 3, "toWorld", &room);
    uint32_t id = espyLua_OptionalId(L, 4);
    bool twoSided = !lua_isnil(L, 5) && espyLua_CheckBool(L, 5, "twoSided");
    espyTriangles triangles = espyLua_CheckTriangles(L, 2, "triangles");
    espyLua_CheckResult(L, espyRaster_DrawTriangles(raster, &triangles, toWorld, id, twoSided),
                        "call Begin first; an index past the end");
    return 0;
}

/// raster:DrawOccluder(occluder [, toWorld [, id]])
static int Raster_DrawOccluder(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyOccluder* occluder = espyLua_CheckOccluder(L, 2, "occluder");
    espyMat4 room;
    const espyMat4* toWorld = espyLua_OptionalMat4(L, 3, "toWorld", &room);
    espyLua_CheckResult(L, espyRaster_DrawOccluder(raster, occluder, toWorld, espyLua_OptionalId(L, 4)),
                        "call Begin first; the occluder is of the raster's mode");
    return 0;
}

/// raster:DrawSorted{{occluder = , toWorld = , id = }, ...}
static int Raster_DrawSorted(lua_State* L)
{
    static const espyLuaField fields[] = {{"occluder", espyLuaKind_Custom, 0, NULL},
                                          {"toWorld", espyLuaKind_Custom, 0, NULL},
                                          {"id", espyLuaKind_U32, offsetof(espyOccluderDraw, id), NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyLua_CheckTable(L, 2, "draws");
    uint32_t count = (uint32_t)espyLua_Length(L, 2);
    espyOccluderDraw* draws = espyLua_Scratch(L, count, sizeof *draws);
    espyMat4* transforms = espyLua_Scratch(L, count, sizeof *transforms);
    for (uint32_t i = 0; i < count; ++i)
    {
        draws[i] = (espyOccluderDraw){0};
        lua_rawgeti(L, 2, (int)i + 1);
        int at = lua_gettop(L);
        espyLua_ReadStruct(L, at, "draws", fields, &draws[i]);
        lua_getfield(L, at, "occluder");
        draws[i].occluder = espyLua_CheckOccluder(L, -1, "occluder");
        lua_getfield(L, at, "toWorld");
        draws[i].toWorld = espyLua_OptionalMat4(L, lua_gettop(L), "toWorld", &transforms[i]);
        lua_settop(L, at - 1);
    }
    espyLua_CheckResult(L, espyRaster_DrawSorted(raster, draws, count, NULL),
                        "call Begin first; occluders are of the raster's mode");
    return 0;
}

static int Raster_Merge(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyLua_CheckResult(L, espyRaster_Merge(raster, espyLua_CheckRaster(L, 2, "other")),
                        "both have the same mode, size, ids and depth direction");
    return 0;
}

/// raster:TestRect({x0 = , y0 = , x1 = , y1 = }, depth)
static int Raster_TestRect(lua_State* L)
{
    static const espyLuaField fields[] = {{"x0", espyLuaKind_I32, offsetof(espyPixelRect, x0), NULL},
                                          {"y0", espyLuaKind_I32, offsetof(espyPixelRect, y0), NULL},
                                          {"x1", espyLuaKind_I32, offsetof(espyPixelRect, x1), NULL},
                                          {"y1", espyLuaKind_I32, offsetof(espyPixelRect, y1), NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyPixelRect rect = {0};
    espyLua_ReadStruct(L, 2, "rect", fields, &rect);
    return espyLua_PushVisibility(L, espyRaster_TestRect(raster, rect, espyLua_CheckFloat(L, 3, "depth")));
}

static int Raster_TestBox(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    return espyLua_PushVisibility(L, espyRaster_TestBox(raster, espyLua_CheckBox(L, 2, "box")));
}

static int Raster_TestBoxes(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    espyLua_CheckTable(L, 2, "boxes");
    uint32_t count = (uint32_t)espyLua_Length(L, 2);
    espyBox* boxes = espyLua_Scratch(L, count, sizeof *boxes);
    espyVisibility* answers = espyLua_Scratch(L, count, sizeof *answers);
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_rawgeti(L, 2, (int)i + 1);
        boxes[i] = espyLua_CheckBox(L, lua_gettop(L), "boxes");
        lua_pop(L, 1);
    }
    espyRaster_TestBoxes(raster, boxes, count, answers);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyLua_PushVisibility(L, answers[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/// raster:TestMesh({positions = , indices = } [, toWorld])
static int Raster_TestMesh(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    lua_settop(L, 3);
    espyMat4 room;
    const espyMat4* toWorld = espyLua_OptionalMat4(L, 3, "toWorld", &room);
    espyTriangles triangles = espyLua_CheckTriangles(L, 2, "triangles");
    return espyLua_PushVisibility(L, espyRaster_TestMesh(raster, &triangles, toWorld));
}

static int Raster_GetDepth(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    int32_t x = (int32_t)espyLua_CheckWhole(L, 2, "x", INT32_MIN, INT32_MAX);
    int32_t y = (int32_t)espyLua_CheckWhole(L, 3, "y", INT32_MIN, INT32_MAX);
    lua_pushnumber(L, (lua_Number)espyRaster_GetDepth(raster, x, y));
    return 1;
}

/// The id of a pixel, nil where nothing was drawn.
static int Raster_GetId(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    int32_t x = (int32_t)espyLua_CheckWhole(L, 2, "x", INT32_MIN, INT32_MAX);
    int32_t y = (int32_t)espyLua_CheckWhole(L, 3, "y", INT32_MIN, INT32_MAX);
    uint32_t id = espyRaster_GetId(raster, x, y);
    if (id == ESPY_RASTER_NO_ID)
    {
        lua_pushnil(L);
        return 1;
    }
    lua_pushnumber(L, (lua_Number)id);
    return 1;
}

/// All depths as one array, rows from the top.
static int Raster_ReadDepth(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    size_t width = (size_t)espyRaster_GetWidth(raster), count = width * (size_t)espyRaster_GetHeight(raster);
    float* depths = espyLua_Scratch(L, count, sizeof *depths);
    espyRaster_ReadDepth(raster, depths, width);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; ++i)
    {
        lua_pushnumber(L, (lua_Number)depths[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

/// All ids as one array, 4294967295 where nothing was drawn.
static int Raster_ReadIds(lua_State* L)
{
    const espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    size_t width = (size_t)espyRaster_GetWidth(raster), count = width * (size_t)espyRaster_GetHeight(raster);
    uint32_t* ids = espyLua_Scratch(L, count, sizeof *ids);
    espyRaster_ReadIds(raster, ids, width);
    lua_createtable(L, (int)count, 0);
    for (size_t i = 0; i < count; ++i)
    {
        lua_pushnumber(L, (lua_Number)ids[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

#define ESPY_STAT(field)                                                \
    {                                                                   \
#field, espyLuaKind_U64, offsetof(espyRasterStats, field), NULL \
    }

static int Raster_GetStats(lua_State* L)
{
    static const espyLuaField fields[] = {ESPY_STAT(trianglesGiven),  ESPY_STAT(trianglesSet),
                                          ESPY_STAT(trianglesDrawn),  ESPY_STAT(batchesGiven),
                                          ESPY_STAT(batchesOutside),  ESPY_STAT(batchesFacingOff),
                                          ESPY_STAT(batchesOccluded), {NULL, espyLuaKind_Custom, 0, NULL}};
    espyRasterStats stats;
    espyRaster_GetStats(espyLua_CheckRaster(L, 1, "raster"), &stats);
    espyLua_PushStruct(L, fields, &stats);
    return 1;
}

// --- recordings

static int Recording_Create(lua_State* L)
{
    espyRecording* recording = NULL;
    espyLuaOwned* box = espyLua_PushOwned(L, ESPY_LUA_RECORDING);
    espyLua_CheckResult(L, espyRecording_Create(NULL, &recording), NULL);
    box->object = recording;
    return 1;
}

static int Recording_Collect(lua_State* L)
{
    espyLuaOwned* box = espyLua_Test(L, 1, ESPY_LUA_RECORDING);
    if (box)
    {
        espyRecording_Destroy(box->object);
        box->object = NULL;
    }
    return 0;
}

/// Rasters that write to it keep it: then this does nothing.
static int Recording_Destroy(lua_State* L)
{
    espyLuaOwned* box = espyLua_Test(L, 1, ESPY_LUA_RECORDING);
    return box && box->users > 0 ? 0 : Recording_Collect(L);
}

/// The bytes so far as a string.
static int Recording_GetBytes(lua_State* L)
{
    size_t size = 0;
    const void* bytes = espyRecording_GetBytes(espyLua_CheckOwned(L, 1, "recording", ESPY_LUA_RECORDING), &size);
    espyLua_CheckResult(L, bytes ? espyResult_Ok : espyResult_OutOfMemory, NULL);
    lua_pushlstring(L, bytes, size);
    return 1;
}

/// raster:Record(recording); nil stops. The raster's table holds the recording as long as it is written to.
static int Raster_Record(lua_State* L)
{
    espyRaster* raster = espyLua_CheckRaster(L, 1, "raster");
    lua_settop(L, 2);
    espyRecording* recording = lua_isnil(L, 2) ? NULL : espyLua_CheckOwned(L, 2, "recording", ESPY_LUA_RECORDING);
    espyLua_GetUserTable(L, 1);
    lua_getfield(L, -1, "recording");
    espyLuaOwned* before = lua_touserdata(L, -1);
    lua_pop(L, 1);
    lua_pushvalue(L, 2);
    lua_setfield(L, -2, "recording");
    if (before)
    {
        --before->users;
    }
    if (recording)
    {
        espyLua_Lend(L, 2);
    }
    espyRaster_Record(raster, recording);
    return 0;
}

static int Raster_IsRecording(lua_State* L)
{
    lua_pushboolean(L, espyRaster_IsRecording(espyLua_CheckRaster(L, 1, "raster")));
    return 1;
}

/// Raster.Replay(bytes): the raster at its end, and {calls = , tests = , testsDiffer = , firstDiffers = }.
static int Raster_Replay(lua_State* L)
{
    static const espyLuaField fields[] = {
        {"calls", espyLuaKind_U32, offsetof(espyReplayReport, calls), NULL},
        {"tests", espyLuaKind_U32, offsetof(espyReplayReport, tests), NULL},
        {"testsDiffer", espyLuaKind_U32, offsetof(espyReplayReport, testsDiffer), NULL},
        {"firstDiffers", espyLuaKind_U32, offsetof(espyReplayReport, firstDiffers), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    size_t size = 0;
    const char* bytes = espyLua_CheckText(L, 1, "bytes", &size);
    espyRaster* raster = NULL;
    espyReplayReport report;
    espyDataError error = {0};
    espyLuaOwned* box = espyLua_PushOwned(L, ESPY_LUA_RASTER);
    espyResult result = espyRaster_Replay(NULL, bytes, size, espyIsa_Auto, &raster, &report, &error);
    espyLua_CheckResult(L, result, error.field);
    box->object = raster;
    espyLua_PushStruct(L, fields, &report);
    return 2;
}

void espyLua_OpenRasters(lua_State* L)
{
    static const luaL_Reg rasters[] = {{"Create", Raster_Create},
                                       {"Destroy", Raster_Destroy},
                                       {"Resize", Raster_Resize},
                                       {"GetWidth", Raster_GetWidth},
                                       {"GetHeight", Raster_GetHeight},
                                       {"GetMode", Raster_GetMode},
                                       {"IsReversedZ", Raster_IsReversedZ},
                                       {"GetIsa", Raster_GetIsa},
                                       {"Begin", Raster_Begin},
                                       {"SetView", Raster_SetView},
                                       {"DrawTriangles", Raster_DrawTriangles},
                                       {"DrawOccluder", Raster_DrawOccluder},
                                       {"DrawSorted", Raster_DrawSorted},
                                       {"Merge", Raster_Merge},
                                       {"TestRect", Raster_TestRect},
                                       {"TestBox", Raster_TestBox},
                                       {"TestBoxes", Raster_TestBoxes},
                                       {"TestMesh", Raster_TestMesh},
                                       {"GetDepth", Raster_GetDepth},
                                       {"GetId", Raster_GetId},
                                       {"ReadDepth", Raster_ReadDepth},
                                       {"ReadIds", Raster_ReadIds},
                                       {"GetStats", Raster_GetStats},
                                       {"Record", Raster_Record},
                                       {"IsRecording", Raster_IsRecording},
                                       {"Replay", Raster_Replay},
                                       {NULL, NULL}};
    static const luaL_Reg occluders[] = {{"Create", Occluder_Create},
                                         {"Destroy", Occluder_Destroy},
                                         {"GetBounds", Occluder_GetBounds},
                                         {"GetBatchCount", Occluder_GetBatchCount},
                                         {"GetTriangleCount", Occluder_GetTriangleCount},
                                         {NULL, NULL}};
    static const luaL_Reg recordings[] = {
        {"Create", Recording_Create}, {"Destroy", Recording_Destroy}, {"GetBytes", Recording_GetBytes}, {NULL, NULL}};
    espyLua_RegisterClass(L, "Raster", rasters);
    espyLua_OpenDependent(L, ESPY_LUA_RASTER, "Raster", Raster_Collect);
    espyLua_RegisterClass(L, "Occluder", occluders);
    espyLua_OpenDependent(L, ESPY_LUA_OCCLUDER, "Occluder", Occluder_Collect);
    espyLua_RegisterClass(L, "Recording", recordings);
    espyLua_OpenDependent(L, ESPY_LUA_RECORDING, "Recording", Recording_Collect);
}
