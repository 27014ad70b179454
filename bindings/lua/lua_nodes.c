// SPDX-License-Identifier: MIT
// What is asked of and done to one node: world:Function(node, ...) and node:Function(...).
#include "lua_calls.h"

#define ESPY_NODE_ARGUMENTS                      \
    espyWorld* world = espyLua_CheckWorld(L, 1); \
    espyNodeId node = espyLua_CheckNode(L, 2, "node", world)

static int World_DestroyNode(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_DestroyNode(world, node), NULL);
    return 0;
}

static int World_GetNode(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyNodeDef def;
    espyLua_CheckResult(L, espyWorld_GetNode(world, node, &def), NULL);
    espyLua_PushNodeDef(L, 1, &def);
    return 1;
}

static int World_SetFlags(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_SetFlags(world, node, espyLua_CheckFlags(L, 3, "flags")), NULL);
    return 0;
}

static int World_GetFlags(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_PushFlags(L, espyWorld_GetFlags(world, node));
    return 1;
}

static int World_SetLocalTransform(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_SetLocalTransform(world, node, espyLua_CheckMat4(L, 3, "local")),
                        "a value that is not finite");
    return 0;
}

static int World_GetWorldTransform(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyMat4 m = espyWorld_GetWorldTransform(world, node);
    espyLua_PushMat4(L, &m);
    return 1;
}

static int World_SetParent(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_SetParent(world, node, espyLua_OptionalNode(L, 3, "parent", world)),
                        "the parent is the node or below it");
    return 0;
}

static int World_SetName(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_SetName(world, node, espyLua_CheckText(L, 3, "name", NULL)), NULL);
    return 0;
}

static int World_AddTag(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_AddTag(world, node, espyLua_CheckText(L, 3, "tag", NULL)), NULL);
    return 0;
}

/// Returns whether the node had the tag.
static int World_RemoveTag(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyResult result = espyWorld_RemoveTag(world, node, espyLua_CheckText(L, 3, "tag", NULL));
    if (result != espyResult_NotFound)
    {
        espyLua_CheckResult(L, result, NULL);
    }
    lua_pushboolean(L, result == espyResult_Ok);
    return 1;
}

static int World_HasTag(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    lua_pushboolean(L, espyWorld_HasTag(world, node, espyLua_CheckText(L, 3, "tag", NULL)));
    return 1;
}

// --- flags by name

static int espyLua_SetFlag(lua_State* L, uint32_t bit)
{
    ESPY_NODE_ARGUMENTS;
    uint32_t flags = espyWorld_GetFlags(world, node);
    flags = espyLua_CheckBool(L, 3, "enable") ? flags | bit : flags & ~bit;
    espyLua_CheckResult(L, espyWorld_SetFlags(world, node, flags), NULL);
    return 0;
}

static int espyLua_GetFlag(lua_State* L, uint32_t bit)
{
    ESPY_NODE_ARGUMENTS;
    lua_pushboolean(L, (espyWorld_GetFlags(world, node) & bit) != 0);
    return 1;
}

static int World_EnableOccluder(lua_State* L)
{
    return espyLua_SetFlag(L, espyNodeFlag_OccluderStatic);
}

static int World_IsOccluder(lua_State* L)
{
    return espyLua_GetFlag(L, espyNodeFlag_OccluderStatic);
}

static int World_EnableOccludee(lua_State* L)
{
    return espyLua_SetFlag(L, espyNodeFlag_OccludeeStatic);
}

static int World_IsOccludee(lua_State* L)
{
    return espyLua_GetFlag(L, espyNodeFlag_OccludeeStatic);
}

// --- bounds and content

static int World_GetWorldBounds(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyBox box = espyWorld_GetWorldBounds(world, node);
    if (!espyBox_IsValid(box))
    {
        lua_pushnil(L);
        return 1;
    }
    espyLua_PushBox(L, box);
    return 1;
}

static int World_GetOccluderBounds(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyBox box = espyWorld_GetOccluderBounds(world, node);
    if (!espyBox_IsValid(box))
    {
        lua_pushnil(L);
        return 1;
    }
    espyLua_PushBox(L, box);
    return 1;
}

static int World_GetQueryBounds(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_PushBox(L, espyWorld_GetQueryBounds(world, node));
    return 1;
}

/// nil takes the bounds away.
static int World_SetBounds(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyBox box = lua_isnoneornil(L, 3) ? espyBox_Empty() : espyLua_CheckBox(L, 3, "bounds");
    espyLua_CheckResult(L, espyWorld_SetBounds(world, node, box),
                        "a kind without bounds, or a value that is not finite");
    return 0;
}

static int World_SetPose(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    uint32_t count;
    const espyMat4* joints = espyLua_CheckMatrices(L, 3, "joints", &count);
    espyLua_CheckResult(L, espyWorld_SetPose(world, node, joints, count), "a SkeletalMesh3D, a matrix a joint box");
    return 0;
}

static int World_SetMesh(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyLua_CheckResult(L, espyWorld_SetMesh(world, node, espyLua_CheckMesh(L, 3, "mesh", world)),
                        "a node that was created with a mesh");
    return 0;
}

static const char* const espyLuaVoxels[] = {"Empty", "Opaque", "Masked", "Translucent", "Additive", NULL};

static espyVoxelRange espyLua_CheckRange(lua_State* L, int index)
{
    static const espyLuaField fields[] = {{"min", espyLuaKind_U32x3, offsetof(espyVoxelRange, min), NULL},
                                          {"size", espyLuaKind_U32x3, offsetof(espyVoxelRange, size), NULL},
                                          {NULL, espyLuaKind_Custom, 0, NULL}};
    espyVoxelRange range = {{0, 0, 0}, {1, 1, 1}};
    espyLua_ReadStruct(L, index, "range", fields, &range);
    return range;
}

/// Voxels of a range, or 0 where it has none or more than a grid can have.
static uint64_t espyLua_RangeCount(const espyVoxelRange* range)
{
    uint64_t most = (uint64_t)ESPY_VOXEL_MAX_BRICKS * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK;
    uint64_t count = 1;
    for (int i = 0; i < 3; ++i)
    {
        if (range->size[i] == 0 || count > most / range->size[i])
        {
            return 0;
        }
        count *= range->size[i];
    }
    return count;
}

/// world:SetVoxels(node, {min = {x, y, z}, size = {x, y, z}}, bytes): a string of one byte a voxel.
static int World_SetVoxels(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyVoxelRange range = espyLua_CheckRange(L, 3);
    size_t length;
    const char* values = espyLua_CheckText(L, 4, "values", &length);
    if ((uint64_t)length != espyLua_RangeCount(&range))
    {
        return espyLua_ArgumentError(L, "values", "one byte for each voxel of the range expected");
    }
    espyLua_CheckResult(L, espyWorld_SetVoxels(world, node, range, (const uint8_t*)values),
                        "a Voxel3D without a mesh, a range inside it, values from 0 to 4");
    return 0;
}

static int World_FillVoxels(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyVoxelRange range = espyLua_CheckRange(L, 3);
    espyVoxel value = (espyVoxel)espyLua_CheckEnum(L, 4, "value", espyLuaVoxels);
    espyLua_CheckResult(L, espyWorld_FillVoxels(world, node, range, value),
                        "a Voxel3D without a mesh, a range inside it");
    return 0;
}

static int World_GetVoxels(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyVoxelRange range = espyLua_CheckRange(L, 3);
    uint64_t count = espyLua_RangeCount(&range);
    if (count == 0 || count > ((uint64_t)1 << 30))
    {
        return espyLua_ArgumentError(L, "range", "at least one voxel, at most 2^30 at once");
    }
    uint8_t* bytes = espyLua_Scratch(L, (size_t)count, 1);
    espyLua_CheckResult(L, espyWorld_GetVoxels(world, node, range, bytes),
                        "a Voxel3D without a mesh, a range inside it");
    lua_pushlstring(L, (const char*)bytes, (size_t)count);
    return 1;
}

/// As 16 hexadecimal digits: a Lua number does not hold 64 bits everywhere.
static int World_GetContentHash(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    uint64_t hash = espyWorld_GetContentHash(world, node);
    char text[17];
    for (int i = 15; i >= 0; --i, hash >>= 4)
    {
        text[i] = "0123456789abcdef"[hash & 15];
    }
    lua_pushlstring(L, text, 16);
    return 1;
}

static int World_GetNodeRevision(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    lua_pushnumber(L, (lua_Number)espyWorld_GetNodeRevision(world, node));
    return 1;
}

static int World_GetContentRevision(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    lua_pushnumber(L, (lua_Number)espyWorld_GetContentRevision(world, node));
    return 1;
}

static int World_SetCamera(lua_State* L)
{
    ESPY_NODE_ARGUMENTS;
    espyNodeDef def;
    espyLua_CheckResult(L, espyWorld_GetNode(world, node, &def), NULL);
    espyLua_ReadStruct(L, 3, "camera", espyLuaCameraFields, &def.camera);
    espyLua_CheckResult(L, espyWorld_SetCamera(world, node, &def.camera), "a Camera3D, values in range");
    return 0;
}

/// node:Function(...) as world:Function(node, ...).
static int espyLuaNode_Call(lua_State* L)
{
    const espyLuaNode* node = espyLua_Test(L, 1, ESPY_LUA_NODE);
    if (!node)
    {
        return espyLua_TypeError(L, 1, "self", "a Node (call it as node:Function)");
    }
    espyLua_GetUserTable(L, 1);
    lua_getfield(L, -1, "handle");
    lua_replace(L, -2);
    lua_insert(L, 1);
    return lua_tocfunction(L, lua_upvalueindex(2))(L);
}

void espyLua_RegisterNodeCalls(lua_State* L, const luaL_Reg* functions)
{
    espyLua_RegisterClass(L, "World", functions);
    lua_getfield(L, -1, "Node");
    for (; functions->name; ++functions)
    {
        lua_pushstring(L, functions->name);
        lua_pushcfunction(L, functions->func);
        lua_pushcclosure(L, espyLuaNode_Call, 2);
        lua_setfield(L, -2, functions->name);
    }
    lua_pop(L, 1);
}

void espyLua_OpenNodes(lua_State* L)
{
    static const luaL_Reg functions[] = {{"DestroyNode", World_DestroyNode},
                                         {"GetNode", World_GetNode},
                                         {"SetFlags", World_SetFlags},
                                         {"GetFlags", World_GetFlags},
                                         {"SetLocalTransform", World_SetLocalTransform},
                                         {"GetWorldTransform", World_GetWorldTransform},
                                         {"SetParent", World_SetParent},
                                         {"SetName", World_SetName},
                                         {"AddTag", World_AddTag},
                                         {"RemoveTag", World_RemoveTag},
                                         {"HasTag", World_HasTag},
                                         {"EnableOccluder", World_EnableOccluder},
                                         {"IsOccluder", World_IsOccluder},
                                         {"EnableOccludee", World_EnableOccludee},
                                         {"IsOccludee", World_IsOccludee},
                                         {"GetWorldBounds", World_GetWorldBounds},
                                         {"GetOccluderBounds", World_GetOccluderBounds},
                                         {"GetQueryBounds", World_GetQueryBounds},
                                         {"SetBounds", World_SetBounds},
                                         {"SetPose", World_SetPose},
                                         {"SetMesh", World_SetMesh},
                                         {"SetVoxels", World_SetVoxels},
                                         {"FillVoxels", World_FillVoxels},
                                         {"GetVoxels", World_GetVoxels},
                                         {"GetContentHash", World_GetContentHash},
                                         {"GetNodeRevision", World_GetNodeRevision},
                                         {"GetContentRevision", World_GetContentRevision},
                                         {"SetCamera", World_SetCamera},
                                         {NULL, NULL}};
    espyLua_RegisterNodeCalls(L, functions);
}
