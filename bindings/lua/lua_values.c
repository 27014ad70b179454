// SPDX-License-Identifier: MIT
// Between Lua values and the plain structs of espy.
#include "lua_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int espyLua_Absolute(lua_State* L, int index)
{
    return index > 0 || index <= LUA_REGISTRYINDEX ? index : lua_gettop(L) + index + 1;
}

void espyLua_Register(lua_State* L, const luaL_Reg* functions)
{
    for (; functions->name; ++functions)
    {
        lua_pushstring(L, functions->name);
        lua_pushcclosure(L, functions->func, 1);
        lua_setfield(L, -2, functions->name);
    }
}

void* espyLua_Test(lua_State* L, int index, const char* type)
{
    void* data = lua_touserdata(L, index);
    if (!data || !lua_getmetatable(L, index))
    {
        return NULL;
    }
    luaL_getmetatable(L, type);
    bool same = lua_rawequal(L, -1, -2) != 0;
    lua_pop(L, 2);
    return same ? data : NULL;
}

// --- errors

/// The name of the running function: its first upvalue, since Lua itself only knows it at some call sites.
static const char* espyLua_FunctionName(lua_State* L)
{
    const char* name = lua_type(L, lua_upvalueindex(1)) == LUA_TSTRING ? lua_tostring(L, lua_upvalueindex(1)) : NULL;
    return name ? name : "espy";
}

int espyLua_TypeError(lua_State* L, int index, const char* name, const char* expected)
{
    const char* got = luaL_typename(L, index);
    return luaL_error(L, "%s: %s: %s expected, got %s", espyLua_FunctionName(L), name, expected,
                      lua_isnone(L, index) ? "nothing" : got);
}

int espyLua_ArgumentError(lua_State* L, const char* name, const char* text)
{
    return luaL_error(L, "%s: %s: %s", espyLua_FunctionName(L), name, text);
}

void espyLua_CheckResult(lua_State* L, espyResult result, const char* hint)
{
    if (result != espyResult_Ok)
    {
        const char* function = espyLua_FunctionName(L);
        luaL_error(L, hint ? "%s: %s (%s)" : "%s: %s", function, espyResult_GetName(result), hint);
    }
}

// --- in

bool espyLua_CheckBool(lua_State* L, int index, const char* name)
{
    if (!lua_isboolean(L, index))
    {
        espyLua_TypeError(L, index, name, "true or false");
    }
    return lua_toboolean(L, index) != 0;
}

static lua_Number espyLua_CheckNumber(lua_State* L, int index, const char* name)
{
    // Not lua_isnumber, which takes strings too.
    if (lua_type(L, index) != LUA_TNUMBER)
    {
        espyLua_TypeError(L, index, name, "a number");
    }
    return lua_tonumber(L, index);
}

float espyLua_CheckFloat(lua_State* L, int index, const char* name)
{
    return (float)espyLua_CheckNumber(L, index, name);
}

int64_t espyLua_CheckWhole(lua_State* L, int index, const char* name, int64_t low, int64_t high)
{
    lua_Number value = espyLua_CheckNumber(L, index, name);
    if (!(value >= (lua_Number)low && value <= (lua_Number)high) || value != floor(value))
    {
        char text[96];
        snprintf(text, sizeof text, "a whole number from %lld to %lld expected", (long long)low, (long long)high);
        espyLua_ArgumentError(L, name, text);
    }
    return (int64_t)value;
}

const char* espyLua_CheckText(lua_State* L, int index, const char* name, size_t* length)
{
    if (lua_type(L, index) != LUA_TSTRING)
    {
        espyLua_TypeError(L, index, name, "a string");
    }
    return lua_tolstring(L, index, length);
}

void espyLua_CheckTable(lua_State* L, int index, const char* name)
{
    if (!lua_istable(L, index))
    {
        espyLua_TypeError(L, index, name, "a table");
    }
}

/// Reads field `key` of the table, or its item `place` where there is none; false where both are nil.
static bool espyLua_GetPart(lua_State* L, int table, const char* key, int place)
{
    lua_getfield(L, table, key);
    if (lua_isnil(L, -1) && place > 0)
    {
        lua_pop(L, 1);
        lua_rawgeti(L, table, place);
    }
    if (lua_isnil(L, -1))
    {
        lua_pop(L, 1);
        return false;
    }
    return true;
}

/// Reads `count` numbers by key or place; a missing one is an error unless `optional`, which leaves *out as it is.
static void espyLua_ReadNumbers(lua_State* L, int index, const char* name, const char* keys, int count, float* out)
{
    int table = espyLua_Absolute(L, index);
    if (!lua_istable(L, table))
    {
        espyLua_TypeError(L, table, name, "a table of numbers");
    }
    for (int i = 0; i < count; ++i)
    {
        char key[2] = {keys[i], 0};
        if (!espyLua_GetPart(L, table, key, i + 1) || lua_type(L, -1) != LUA_TNUMBER)
        {
            char text[64];
            snprintf(text, sizeof text, "%d numbers expected, number %d is missing", count, i + 1);
            espyLua_ArgumentError(L, name, text);
        }
        out[i] = (float)lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
}

espyVec3 espyLua_CheckVec3(lua_State* L, int index, const char* name)
{
    float v[3];
    espyLua_ReadNumbers(L, index, name, "xyz", 3, v);
    return (espyVec3){v[0], v[1], v[2]};
}

espyBox espyLua_CheckBox(lua_State* L, int index, const char* name)
{
    int table = espyLua_Absolute(L, index);
    espyLua_CheckTable(L, table, name);
    espyBox box;
    lua_getfield(L, table, "min");
    box.min = espyLua_CheckVec3(L, -1, "min");
    lua_getfield(L, table, "max");
    box.max = espyLua_CheckVec3(L, -1, "max");
    lua_pop(L, 2);
    return box;
}

espyMat4 espyLua_CheckMat4(lua_State* L, int index, const char* name)
{
    int table = espyLua_Absolute(L, index);
    espyLua_CheckTable(L, table, name);
    if (espyLua_Length(L, table) == 16)
    {
        espyMat4 m;
        for (int i = 0; i < 16; ++i)
        {
            lua_rawgeti(L, table, i + 1);
            m.m[i] = espyLua_CheckFloat(L, -1, name);
            lua_pop(L, 1);
        }
        return m;
    }
    if (espyLua_Length(L, table) != 0)
    {
        espyLua_ArgumentError(L, name, "16 numbers expected, or {position = , rotation = , scale = }");
    }
    float rotation[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    espyVec3 position = {0.0f, 0.0f, 0.0f}, scale = {1.0f, 1.0f, 1.0f};
    lua_pushnil(L);
    while (lua_next(L, table))
    {
        const char* key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        if (strcmp(key, "position") == 0)
        {
            position = espyLua_CheckVec3(L, -1, "position");
        }
        else if (strcmp(key, "rotation") == 0)
        {
            espyLua_ReadNumbers(L, -1, "rotation", "xyzw", 4, rotation);
        }
        else if (strcmp(key, "scale") == 0)
        {
            scale = espyLua_CheckVec3(L, -1, "scale");
        }
        else
        {
            espyLua_ArgumentError(L, name, "fields are position, rotation and scale");
        }
        lua_pop(L, 1);
    }
    return espyMat4_FromTrs(position, rotation, scale);
}

void* espyLua_Scratch(lua_State* L, size_t count, size_t size)
{
    if (count > (SIZE_MAX / 2) / size)
    {
        luaL_error(L, "espy: out of memory");
    }
    return lua_newuserdata(L, count * size > 0 ? count * size : 1);
}

// --- out

static void espyLua_PushFloats(lua_State* L, const float* values, int count)
{
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; ++i)
    {
        lua_pushnumber(L, (lua_Number)values[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

void espyLua_PushVec3(lua_State* L, espyVec3 v)
{
    float values[3] = {v.x, v.y, v.z};
    espyLua_PushFloats(L, values, 3);
}

void espyLua_PushBox(lua_State* L, espyBox box)
{
    lua_createtable(L, 0, 2);
    espyLua_PushVec3(L, box.min);
    lua_setfield(L, -2, "min");
    espyLua_PushVec3(L, box.max);
    lua_setfield(L, -2, "max");
}

void espyLua_PushMat4(lua_State* L, const espyMat4* m)
{
    espyLua_PushFloats(L, m->m, 16);
}

// --- structs

const char* const espyLuaNodeKinds[] = {"Node3D",    "StaticMesh3D", "InstancedMesh3D", "SkeletalMesh3D", "Particle3D",
                                        "Terrain3D", "Voxel3D",      "Camera3D",        "OcclusionArea",  NULL};
const char* const espyLuaMaterials[] = {"Opaque", "Masked", "Translucent", "Additive", NULL};
const char* const espyLuaQualities[] = {"Low", "Medium", "High", "Proven", NULL};
const char* const espyLuaVisibilities[] = {"Unknown", "Visible", "Outside", "Occluded", NULL};

#define ESPY_FIELD(type, kind, field)                           \
    {                                                           \
#field, espyLuaKind_##kind, offsetof(type, field), NULL \
    }

const espyLuaField espyLuaCameraFields[] = {
    ESPY_FIELD(espyCamera, Bool, orthographic),  ESPY_FIELD(espyCamera, Float, verticalFov),
    ESPY_FIELD(espyCamera, Float, aspect),       ESPY_FIELD(espyCamera, Float, halfHeight),
    ESPY_FIELD(espyCamera, Float, nearDistance), ESPY_FIELD(espyCamera, Float, farDistance),
    ESPY_FIELD(espyCamera, Float, offsetX),      ESPY_FIELD(espyCamera, Float, offsetY),
    {NULL, espyLuaKind_Custom, 0, NULL}};

const espyLuaField espyLuaSettingsFields[] = {
    ESPY_FIELD(espySceneSettings, Bool, occlusionCulling),
    ESPY_FIELD(espySceneSettings, Float, occlusionCellSize),
    {"bakeQuality", espyLuaKind_Enum, offsetof(espySceneSettings, bakeQuality), espyLuaQualities},
    ESPY_FIELD(espySceneSettings, Bool, dynamicObjects),
    ESPY_FIELD(espySceneSettings, U32, consoleBudgetKB),
    ESPY_FIELD(espySceneSettings, Float, unrollCellSize),
    {NULL, espyLuaKind_Custom, 0, NULL}};

const espyLuaField espyLuaProxyFields[] = {ESPY_FIELD(espyOcclusionProxy, Float, radius),
                                           ESPY_FIELD(espyOcclusionProxy, Float, height),
                                           ESPY_FIELD(espyOcclusionProxy, Float, offsetX),
                                           ESPY_FIELD(espyOcclusionProxy, Float, offsetY),
                                           ESPY_FIELD(espyOcclusionProxy, Float, offsetZ),
                                           ESPY_FIELD(espyOcclusionProxy, Float, strength),
                                           {NULL, espyLuaKind_Custom, 0, NULL}};

int espyLua_CheckEnum(lua_State* L, int index, const char* name, const char* const* names)
{
    const char* text = espyLua_CheckText(L, index, name, NULL);
    for (int i = 0; names[i]; ++i)
    {
        if (strcmp(text, names[i]) == 0)
        {
            return i;
        }
    }
    luaL_Buffer list;
    luaL_buffinit(L, &list);
    luaL_addstring(&list, "one of ");
    for (int i = 0; names[i]; ++i)
    {
        luaL_addstring(&list, i > 0 ? ", " : "");
        luaL_addstring(&list, names[i]);
    }
    luaL_addstring(&list, " expected");
    luaL_pushresult(&list);
    return espyLua_ArgumentError(L, name, lua_tostring(L, -1));
}

static void espyLua_ReadField(lua_State* L, const espyLuaField* field, void* out)
{
    const char* name = field->name;
    switch (field->kind)
    {
    case espyLuaKind_Bool:
        *(bool*)out = espyLua_CheckBool(L, -1, name);
        break;
    case espyLuaKind_Float:
        *(float*)out = espyLua_CheckFloat(L, -1, name);
        break;
    case espyLuaKind_U32:
        *(uint32_t*)out = (uint32_t)espyLua_CheckWhole(L, -1, name, 0, UINT32_MAX);
        break;
    case espyLuaKind_I32:
        *(int32_t*)out = (int32_t)espyLua_CheckWhole(L, -1, name, INT32_MIN, INT32_MAX);
        break;
    case espyLuaKind_Enum:
        *(int*)out = espyLua_CheckEnum(L, -1, name, field->names);
        break;
    case espyLuaKind_Vec3:
        *(espyVec3*)out = espyLua_CheckVec3(L, -1, name);
        break;
    case espyLuaKind_Box:
        *(espyBox*)out = espyLua_CheckBox(L, -1, name);
        break;
    case espyLuaKind_Mat4:
        *(espyMat4*)out = espyLua_CheckMat4(L, -1, name);
        break;
    case espyLuaKind_U32x3:
        espyLua_CheckTable(L, -1, name);
        for (int i = 0; i < 3; ++i)
        {
            lua_rawgeti(L, -1, i + 1);
            ((uint32_t*)out)[i] = (uint32_t)espyLua_CheckWhole(L, -1, name, 0, UINT32_MAX);
            lua_pop(L, 1);
        }
        break;
    case espyLuaKind_U64:
    case espyLuaKind_Size:
    case espyLuaKind_Custom:
        break;
    }
}

void espyLua_ReadStruct(lua_State* L, int index, const char* name, const espyLuaField* fields, void* out)
{
    int table = espyLua_Absolute(L, index);
    espyLua_CheckTable(L, table, name);
    lua_pushnil(L);
    while (lua_next(L, table))
    {
        const char* key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        const espyLuaField* field = fields;
        while (field->name && strcmp(field->name, key) != 0)
        {
            ++field;
        }
        if (!field->name)
        {
            lua_pushfstring(L, "no field is called '%s'", key);
            espyLua_ArgumentError(L, name, lua_tostring(L, -1));
        }
        espyLua_ReadField(L, field, (char*)out + field->offset);
        lua_pop(L, 1);
    }
}

void espyLua_PushStruct(lua_State* L, const espyLuaField* fields, const void* from)
{
    lua_newtable(L);
    for (const espyLuaField* field = fields; field->name; ++field)
    {
        const void* at = (const char*)from + field->offset;
        switch (field->kind)
        {
        case espyLuaKind_Bool:
            lua_pushboolean(L, *(const bool*)at);
            break;
        case espyLuaKind_Float:
            lua_pushnumber(L, (lua_Number) * (const float*)at);
            break;
        case espyLuaKind_U32:
            lua_pushinteger(L, (lua_Integer) * (const uint32_t*)at);
            break;
        case espyLuaKind_I32:
            lua_pushinteger(L, (lua_Integer) * (const int32_t*)at);
            break;
        case espyLuaKind_U64:
            lua_pushinteger(L, (lua_Integer) * (const uint64_t*)at);
            break;
        case espyLuaKind_Size:
            lua_pushinteger(L, (lua_Integer) * (const size_t*)at);
            break;
        case espyLuaKind_Enum:
            lua_pushstring(L, field->names[*(const int*)at]);
            break;
        case espyLuaKind_Vec3:
            espyLua_PushVec3(L, *(const espyVec3*)at);
            break;
        case espyLuaKind_Box:
            espyLua_PushBox(L, *(const espyBox*)at);
            break;
        case espyLuaKind_Mat4:
            espyLua_PushMat4(L, at);
            break;
        case espyLuaKind_U32x3:
            lua_createtable(L, 3, 0);
            for (int i = 0; i < 3; ++i)
            {
                lua_pushinteger(L, (lua_Integer)((const uint32_t*)at)[i]);
                lua_rawseti(L, -2, i + 1);
            }
            break;
        case espyLuaKind_Custom:
            continue;
        }
        lua_setfield(L, -2, field->name);
    }
}
