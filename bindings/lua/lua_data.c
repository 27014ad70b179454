// SPDX-License-Identifier: MIT
// World: baked files, and what cameras see.
#include "lua_calls.h"

#include <espy/debug_draw.h>
#include <espy/gameplay.h>
#include <espy/world_data.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_LUA_TRACKER "a ViewTracker"

static const char* const espyLuaOccluderStates[] = {"InPlace", "Missing",   "Moved", "Hidden",
                                                    "Changed", "Unflagged", NULL};

// --- files

/// Data ids are plain numbers in Lua: index1 + 2^24 * (the low bits of) generation, exact in every Lua number.
static void espyLua_PushDataId(lua_State* L, espyDataId id)
{
    if (id.index1 == 0)
    {
        lua_pushnil(L);
        return;
    }
    lua_pushnumber(L, (lua_Number)((uint64_t)id.index1 + ((uint64_t)(id.generation & 0xFFFFFFu) << 24)));
}

/// Finds the loaded file of a number made by PushDataId; the null id where it is none any more.
static espyDataId espyLua_CheckDataId(lua_State* L, int index, const espyWorld* world)
{
    int64_t number = espyLua_CheckWhole(L, index, "data", 1, (int64_t)1 << 48);
    for (uint32_t i = 0; i < espyWorld_GetDataCount(world); ++i)
    {
        espyDataId id = espyWorld_GetDataAt(world, i);
        if (number == (int64_t)((uint64_t)id.index1 + ((uint64_t)(id.generation & 0xFFFFFFu) << 24)))
        {
            return id;
        }
    }
    espyLua_ArgumentError(L, "data", "no file of this number is loaded");
    return (espyDataId){0, 0};
}

static void espyLua_ReleaseBytes(const void* bytes, void* memory)
{
    (void)bytes;
    free(memory);
}

/// world:AddData(bytes [, {offset = {x, y, z}, name = ""}]): the number of the file, or nil and what is wrong with it.
static int World_AddData(lua_State* L)
{
    static const espyLuaField fields[] = {{"offset", espyLuaKind_Vec3, offsetof(espyDataDef, offset), NULL},
                                          {"name", espyLuaKind_Custom, 0, NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyDataDef def = espyDataDef_Default();
    const char* bytes = espyLua_CheckText(L, 2, "bytes", &def.size);
    lua_settop(L, 3);
    if (!lua_isnil(L, 3))
    {
        espyLua_ReadStruct(L, 3, "def", fields, &def);
        lua_getfield(L, 3, "name");
        def.name = lua_isnil(L, -1) ? NULL : espyLua_CheckText(L, -1, "name", NULL);
    }
    // Not Lua's memory: queries on other threads may read it until the world says that they no longer do.
    char* memory = malloc(def.size + ESPY_PVS_ALIGNMENT);
    if (!memory)
    {
        espyLua_CheckResult(L, espyResult_OutOfMemory, NULL);
        return 0;
    }
    char* aligned = memory + (ESPY_PVS_ALIGNMENT - (uintptr_t)memory % ESPY_PVS_ALIGNMENT) % ESPY_PVS_ALIGNMENT;
    memcpy(aligned, bytes, def.size);
    def.bytes = aligned;
    def.release = espyLua_ReleaseBytes;
    def.releaseContext = memory;
    espyDataId id;
    espyDataError error = {0};
    espyResult result = espyWorld_AddData(world, &def, &id, &error);
    if (result == espyResult_Ok)
    {
        espyLua_PushDataId(L, id);
        return 1;
    }
    free(memory);
    lua_pushnil(L);
    if (error.field)
    {
        lua_pushfstring(L, "%s: %s at byte %f", espyResult_GetName(result), error.field, (lua_Number)error.byteOffset);
    }
    else
    {
        lua_pushstring(L, espyResult_GetName(result));
    }
    return 2;
}

static int World_RemoveData(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLua_CheckResult(L, espyWorld_RemoveData(world, espyLua_CheckDataId(L, 2, world)), NULL);
    return 0;
}

static int World_CollectData(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyWorld_CollectData(espyLua_CheckWorld(L, 1)));
    return 1;
}

static int World_GetDataCount(lua_State* L)
{
    lua_pushinteger(L, (lua_Integer)espyWorld_GetDataCount(espyLua_CheckWorld(L, 1)));
    return 1;
}

/// Counts from 1, as Lua does; nil past the end.
static int World_GetDataAt(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    uint32_t place = (uint32_t)espyLua_CheckWhole(L, 2, "index", 1, UINT32_MAX);
    espyLua_PushDataId(L, espyWorld_GetDataAt(world, place - 1));
    return 1;
}

#define ESPY_PVS_FIELD(field, kind)                                    \
    {                                                                  \
#field, espyLuaKind_##kind, offsetof(espyPvsInfo, field), NULL \
    }

static int World_GetDataInfo(lua_State* L)
{
    static const espyLuaField facts[] = {
        {"offset", espyLuaKind_Vec3, offsetof(espyDataInfo, offset), NULL},
        {"tableBytes", espyLuaKind_Size, offsetof(espyDataInfo, tableBytes), NULL},
        {"worldBytes", espyLuaKind_Size, offsetof(espyDataInfo, worldBytes), NULL},
        {"occludersInPlace", espyLuaKind_U32, offsetof(espyDataInfo, occludersInPlace), NULL},
        {"occludeesFound", espyLuaKind_U32, offsetof(espyDataInfo, occludeesFound), NULL},
        {"occludeesInPlace", espyLuaKind_U32, offsetof(espyDataInfo, occludeesInPlace), NULL},
        {"stale", espyLuaKind_Bool, offsetof(espyDataInfo, stale), NULL},
        {NULL, espyLuaKind_Custom, 0, NULL}};
    static const espyLuaField file[] = {{"quality", espyLuaKind_Enum, offsetof(espyPvsInfo, quality), espyLuaQualities},
                                        ESPY_PVS_FIELD(origin, Vec3),
                                        ESPY_PVS_FIELD(cellSize, Float),
                                        ESPY_PVS_FIELD(dims, U32x3),
                                        ESPY_PVS_FIELD(cellCount, U32),
                                        ESPY_PVS_FIELD(solidCellCount, U32),
                                        ESPY_PVS_FIELD(occluderCount, U32),
                                        ESPY_PVS_FIELD(occludeeCount, U32),
                                        ESPY_PVS_FIELD(staticSetCount, U32),
                                        ESPY_PVS_FIELD(dynamicSetCount, U32),
                                        ESPY_PVS_FIELD(coarseFactor, U32),
                                        ESPY_PVS_FIELD(coarseDims, U32x3),
                                        ESPY_PVS_FIELD(coarseCount, U32),
                                        ESPY_PVS_FIELD(occlusionCulling, Bool),
                                        ESPY_PVS_FIELD(consoleBudgetKB, U32),
                                        ESPY_PVS_FIELD(nearDistance, Float),
                                        ESPY_PVS_FIELD(fileBytes, Size),
                                        {NULL, espyLuaKind_Custom, 0, NULL}};
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyDataInfo info;
    espyLua_CheckResult(L, espyWorld_GetDataInfo(world, espyLua_CheckDataId(L, 2, world), &info), NULL);
    espyLua_PushStruct(L, facts, &info);
    espyLua_PushStruct(L, file, &info.file);
    lua_setfield(L, -2, "file");
    return 1;
}

static int World_SetDataOffset(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyDataId data = espyLua_CheckDataId(L, 2, world);
    espyLua_CheckResult(L, espyWorld_SetDataOffset(world, data, espyLua_CheckVec3(L, 3, "offset")),
                        "a value that is not finite");
    return 0;
}

static int World_MoveOrigin(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLua_CheckResult(L, espyWorld_MoveOrigin(world, espyLua_CheckVec3(L, 2, "origin")),
                        "a node would lie where numbers end");
    return 0;
}

/// Protected part of a notice: (notice, world handle, callback).
static int espyLua_Notify(lua_State* L)
{
    const espyDataNotice* notice = lua_touserdata(L, 1);
    lua_newtable(L);
    espyLua_PushDataId(L, notice->data);
    lua_setfield(L, -2, "data");
    lua_pushboolean(L, notice->stale);
    lua_setfield(L, -2, "stale");
    lua_pushinteger(L, (lua_Integer)notice->occluder + 1);
    lua_setfield(L, -2, "occluder");
    espyLua_PushNodeOf(L, 2, notice->node);
    lua_setfield(L, -2, "node");
    lua_pushinteger(L, (lua_Integer)notice->sourceId);
    lua_setfield(L, -2, "sourceId");
    lua_pushstring(L, espyLuaOccluderStates[notice->state]);
    lua_setfield(L, -2, "state");
    lua_call(L, 1, 0);
    return 0;
}

/// Called by the world in the middle of a change: runs the script's function on a thread of its own, since the one that
/// set it may be long gone. An error in it must not unwind through the world: it is told on standard error.
static void espyLua_OnNotice(const espyDataNotice* notice, void* context)
{
    espyDataNotice copy = *notice;
    espyLuaWorld* box = context;
    lua_State* L = box->noticeThread;
    // Notify, handle and callback lie at 1 to 3: nothing that may fail is done outside the protected call.
    lua_settop(L, 3);
    lua_pushvalue(L, 1);
    lua_pushlightuserdata(L, &copy);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    box->inNotice = true;
    if (lua_pcall(L, 3, 0, 0) != 0)
    {
        const char* text = lua_tostring(L, -1);
        fprintf(stderr, "espy: error in a data callback: %s\n", text ? text : "(no text)");
    }
    box->inNotice = false;
    lua_settop(L, 3);
}

/// world:SetDataCallback(function(notice) ... end), nil to end it.
static int World_SetDataCallback(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyLuaWorld* box = lua_touserdata(L, 1);
    lua_settop(L, 2);
    if (lua_isnil(L, 2))
    {
        espyWorld_SetDataCallback(world, NULL, NULL);
        box->noticeThread = NULL;
        return 0;
    }
    if (!lua_isfunction(L, 2))
    {
        return espyLua_TypeError(L, 2, "callback", "a function or nil");
    }
    espyLua_GetUserTable(L, 1);
    lua_State* thread = lua_newthread(L);
    lua_setfield(L, -2, "noticeThread");
    lua_pushcfunction(L, espyLua_Notify);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_xmove(L, thread, 3);
    box->noticeThread = thread;
    espyWorld_SetDataCallback(world, espyLua_OnNotice, box);
    return 0;
}

static int World_IsOcclusionDataStale(lua_State* L)
{
    lua_pushboolean(L, espyWorld_IsOcclusionDataStale(espyLua_CheckWorld(L, 1)));
    return 1;
}

static int World_IsDataStale(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    lua_pushboolean(L, espyWorld_IsDataStale(world, espyLua_CheckDataId(L, 2, world)));
    return 1;
}

/// world:GetOccluderState(data, occluder): its state's name, and its node or nil. Occluders count from 1.
static int World_GetOccluderState(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyDataId data = espyLua_CheckDataId(L, 2, world);
    uint32_t occluder = (uint32_t)espyLua_CheckWhole(L, 3, "occluder", 1, UINT32_MAX);
    espyNodeId node = {0, 0};
    espyOccluderState state = espyWorld_GetOccluderState(world, data, occluder - 1, &node);
    lua_pushstring(L, espyLuaOccluderStates[state]);
    espyLua_PushNodeOf(L, 1, node);
    return 2;
}

static int World_GetNodeData(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeData data = espyWorld_GetNodeData(world, espyLua_CheckNode(L, 2, "node", world));
    lua_newtable(L);
    espyLua_PushDataId(L, data.data);
    lua_setfield(L, -2, "data");
    if (data.slot != ESPY_PVS_NO_SLOT)
    {
        lua_pushinteger(L, (lua_Integer)data.slot);
        lua_setfield(L, -2, "slot");
    }
    lua_pushboolean(L, data.inPlace);
    lua_setfield(L, -2, "inPlace");
    lua_pushboolean(L, data.occluder);
    lua_setfield(L, -2, "occluder");
    return 1;
}

static int World_GetPartCount(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    lua_pushinteger(L, (lua_Integer)espyWorld_GetPartCount(world, espyLua_CheckNode(L, 2, "node", world)));
    return 1;
}

/// The instances of a part, both counted from 1; nil for a part that does not exist.
static int World_GetPartInstances(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", world);
    uint32_t part = (uint32_t)espyLua_CheckWhole(L, 3, "part", 1, UINT32_MAX);
    uint32_t count = 0;
    const uint32_t* instances = espyWorld_GetPartInstances(world, node, part - 1, &count);
    if (!instances)
    {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_pushinteger(L, (lua_Integer)instances[i] + 1);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

// --- what cameras see

static int World_EnableOcclusionCulling(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyWorld_EnableOcclusionCulling(world, espyLua_CheckBool(L, 2, "enable"));
    return 0;
}

static int World_IsOcclusionCullingEnabled(lua_State* L)
{
    lua_pushboolean(L, espyWorld_IsOcclusionCullingEnabled(espyLua_CheckWorld(L, 1)));
    return 1;
}

/// A camera argument: nil means the active one.
static espyNodeId espyLua_CheckCamera(lua_State* L, int index, const espyWorld* world)
{
    espyNodeId camera = espyLua_OptionalNode(L, index, "camera", world);
    espyNodeDef def;
    if (camera.index1 != 0 &&
        (espyWorld_GetNode(world, camera, &def) != espyResult_Ok || def.kind != espyNodeKind_Camera3D))
    {
        espyLua_ArgumentError(L, "camera", "a Camera3D expected, got another kind of node");
    }
    return camera;
}

static int World_IsSeenByCamera(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeId node = espyLua_CheckNode(L, 2, "node", world);
    lua_pushboolean(L, espyWorld_IsSeenByCamera(world, node, espyLua_CheckCamera(L, 3, world)));
    return 1;
}

/// world:GetSeenByCamera([tags] [, camera]): tags as one string or an array; a camera alone may come first.
static int World_GetSeenByCamera(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    int cameraAt = espyLua_Test(L, 2, ESPY_LUA_NODE) ? 2 : 3;
    espyNodeId camera = espyLua_CheckCamera(L, cameraAt, world);
    const char** tags = NULL;
    uint32_t tagCount = 0;
    if (cameraAt == 3 && !lua_isnoneornil(L, 2))
    {
        tags = espyLua_CheckTags(L, 2, "tags", &tagCount);
        if (tagCount == 0)
        {
            // Any of no tags: nobody. To the C call no tags mean every node.
            lua_newtable(L);
            return 1;
        }
    }
    uint32_t count = 0, room = espyWorld_GetNodeCount(world);
    espyNodeId* nodes = espyLua_Scratch(L, room, sizeof *nodes);
    espyResult result = espyWorld_GetSeenByCamera(world, tags, tagCount, camera, nodes, room, &count);
    if (result != espyResult_InvalidId)
    {
        espyLua_CheckResult(L, result, NULL);
    }
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count && i < room; ++i)
    {
        espyLua_PushNodeOf(L, 1, nodes[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
    return 1;
}

static int World_CouldSeeBox(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeId camera = espyLua_CheckCamera(L, 2, world);
    lua_pushstring(L, espyLuaVisibilities[espyWorld_CouldSeeBox(world, camera, espyLua_CheckBox(L, 3, "box"))]);
    return 1;
}

static int World_TestLine(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyVec3 a = espyLua_CheckVec3(L, 2, "a");
    espyVec3 b = espyLua_CheckVec3(L, 3, "b");
    lua_pushstring(L, espyLuaVisibilities[espyWorld_TestLine(world, a, b)]);
    return 1;
}

// --- what culling knows, to be drawn

typedef struct espyLuaDebugItem
{
    espyBox box; ///< Of a line: its ends.
    uint32_t color;
} espyLuaDebugItem;

/// Counts on the first walk, while there is no room; fills on the second.
typedef struct espyLuaDebugList
{
    espyLuaDebugItem *boxes, *lines;
    uint32_t boxCount, lineCount;
} espyLuaDebugList;

static void espyLua_TakeBox(espyBox box, uint32_t color, void* context)
{
    espyLuaDebugList* list = context;
    if (list->boxes)
    {
        list->boxes[list->boxCount] = (espyLuaDebugItem){box, color};
    }
    ++list->boxCount;
}

static void espyLua_TakeLine(espyVec3 from, espyVec3 to, uint32_t color, void* context)
{
    espyLuaDebugList* list = context;
    if (list->lines)
    {
        list->lines[list->lineCount] = (espyLuaDebugItem){{from, to}, color};
    }
    ++list->lineCount;
}

static void espyLua_PushDebugItems(lua_State* L, const espyLuaDebugItem* items, uint32_t count, const char* min,
                                   const char* max)
{
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; ++i)
    {
        lua_createtable(L, 0, 3);
        espyLua_PushVec3(L, items[i].box.min);
        lua_setfield(L, -2, min);
        espyLua_PushVec3(L, items[i].box.max);
        lua_setfield(L, -2, max);
        lua_pushinteger(L, (lua_Integer)items[i].color);
        lua_setfield(L, -2, "color");
        lua_rawseti(L, -2, (int)i + 1);
    }
}

/// world:DrawOcclusion([camera] [, selected]): boxes {min = , max = , color = 0xRRGGBB} and lines {from = , to = ,
/// color =
/// }. What is drawn is collected first and given then: a script's error must not unwind through the walk.
static int World_DrawOcclusion(lua_State* L)
{
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyNodeId camera = espyLua_CheckCamera(L, 2, world);
    camera = camera.index1 != 0 ? camera : espyWorld_GetActiveCamera(world);
    espyNodeDef def;
    espyView view = {0};
    if (espyWorld_GetNode(world, camera, &def) == espyResult_Ok)
    {
        espyViewDef viewDef = espyViewDef_FromCamera(&def.camera, espyWorld_GetWorldTransform(world, camera), false);
        espyView_Make(&view, &viewDef, NULL);
    }
    uint32_t selectedCount = 0;
    espyNodeId* selected = NULL;
    if (!lua_isnoneornil(L, 3))
    {
        espyLua_CheckTable(L, 3, "selected");
        selectedCount = (uint32_t)espyLua_Length(L, 3);
        selected = espyLua_Scratch(L, selectedCount, sizeof *selected);
        for (uint32_t i = 0; i < selectedCount; ++i)
        {
            lua_rawgeti(L, 3, (int)i + 1);
            selected[i] = espyLua_CheckNode(L, -1, "selected", world);
            lua_pop(L, 1);
        }
    }
    espyLuaDebugList count = {0};
    espyDebugDraw draw = {espyLua_TakeLine, espyLua_TakeBox, &count};
    espyWorld_DrawOcclusion(world, &view, selected, selectedCount, &draw);
    espyLuaDebugList list = {0};
    list.boxes = espyLua_Scratch(L, count.boxCount, sizeof *list.boxes);
    list.lines = espyLua_Scratch(L, count.lineCount, sizeof *list.lines);
    draw.context = &list;
    espyWorld_DrawOcclusion(world, &view, selected, selectedCount, &draw);
    espyLua_PushDebugItems(L, list.boxes, list.boxCount, "min", "max");
    espyLua_PushDebugItems(L, list.lines, list.lineCount, "from", "to");
    return 2;
}

// --- who came into view, who left it

static void espyLuaTracker_Destroy(void* tracker)
{
    espyViewTracker_Destroy(tracker);
}

/// espy.ViewTracker.Create(world [, {camera = , tags = , maxNodes = }])
static int ViewTracker_Create(lua_State* L)
{
    static const espyLuaField fields[] = {{"camera", espyLuaKind_Custom, 0, NULL},
                                          {"tags", espyLuaKind_Custom, 0, NULL},
                                          {"maxNodes", espyLuaKind_U32, offsetof(espyViewTrackerDef, maxNodes), NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyWorld* world = espyLua_CheckWorld(L, 1);
    espyViewTrackerDef def = espyViewTrackerDef_Default();
    lua_settop(L, 2);
    if (!lua_isnil(L, 2))
    {
        espyLua_ReadStruct(L, 2, "def", fields, &def);
        lua_getfield(L, 2, "camera");
        def.camera = espyLua_CheckCamera(L, 3, world);
        lua_getfield(L, 2, "tags");
        if (!lua_isnil(L, 4))
        {
            def.tags = espyLua_CheckTags(L, 4, "tags", &def.tagCount);
        }
    }
    espyLuaDependent* dependent = espyLua_PushDependent(L, 1, ESPY_LUA_TRACKER);
    espyViewTracker* tracker = NULL;
    espyLua_CheckResult(L, espyViewTracker_Create(world, &def, &tracker), NULL);
    espyLua_HoldObject(dependent, tracker, espyLuaTracker_Destroy);
    return 1;
}

static int ViewTracker_Destroy(lua_State* L)
{
    espyLuaDependent* tracker = espyLua_Test(L, 1, ESPY_LUA_TRACKER);
    if (tracker)
    {
        espyLua_DropObject(tracker);
    }
    return 0;
}

/// tracker:Poll(): the nodes that came into view, and those that left it and still live.
static int ViewTracker_Poll(lua_State* L)
{
    espyViewTracker* tracker = espyLua_CheckDependent(L, 1, "tracker", ESPY_LUA_TRACKER)->object;
    espyViewEvent events[64];
    uint32_t count = 0;
    lua_settop(L, 1);
    espyLua_PushOwner(L, 1);
    lua_newtable(L);
    lua_newtable(L);
    do
    {
        espyLua_CheckResult(L, espyViewTracker_Poll(tracker, events, 64, &count),
                            "the world has more nodes than maxNodes");
        for (uint32_t i = 0; i < count && i < 64; ++i)
        {
            espyLua_PushNodeOf(L, 2, events[i].node);
            if (lua_isnil(L, -1))
            {
                lua_pop(L, 1);
                continue;
            }
            int list = events[i].entered ? 3 : 4;
            lua_rawseti(L, list, (int)espyLua_Length(L, list) + 1);
        }
    } while (count >= 64);
    return 2;
}

void espyLua_OpenData(lua_State* L)
{
    static const luaL_Reg world[] = {{"AddData", World_AddData},
                                     {"RemoveData", World_RemoveData},
                                     {"CollectData", World_CollectData},
                                     {"GetDataCount", World_GetDataCount},
                                     {"GetDataAt", World_GetDataAt},
                                     {"GetDataInfo", World_GetDataInfo},
                                     {"SetDataOffset", World_SetDataOffset},
                                     {"MoveOrigin", World_MoveOrigin},
                                     {"SetDataCallback", World_SetDataCallback},
                                     {"IsOcclusionDataStale", World_IsOcclusionDataStale},
                                     {"IsDataStale", World_IsDataStale},
                                     {"GetOccluderState", World_GetOccluderState},
                                     {"EnableOcclusionCulling", World_EnableOcclusionCulling},
                                     {"IsOcclusionCullingEnabled", World_IsOcclusionCullingEnabled},
                                     {"GetSeenByCamera", World_GetSeenByCamera},
                                     {"CouldSeeBox", World_CouldSeeBox},
                                     {"TestLine", World_TestLine},
                                     {"DrawOcclusion", World_DrawOcclusion},
                                     {NULL, NULL}};
    static const luaL_Reg nodes[] = {{"IsSeenByCamera", World_IsSeenByCamera},
                                     {"GetNodeData", World_GetNodeData},
                                     {"GetPartCount", World_GetPartCount},
                                     {"GetPartInstances", World_GetPartInstances},
                                     {NULL, NULL}};
    static const luaL_Reg tracker[] = {
        {"Create", ViewTracker_Create}, {"Destroy", ViewTracker_Destroy}, {"Poll", ViewTracker_Poll}, {NULL, NULL}};
    espyLua_RegisterClass(L, "World", world);
    espyLua_RegisterNodeCalls(L, nodes);
    espyLua_RegisterClass(L, "ViewTracker", tracker);
    espyLua_OpenDependent(L, ESPY_LUA_TRACKER, "ViewTracker", ViewTracker_Destroy);
}
