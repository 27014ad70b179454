// SPDX-License-Identifier: MIT
// Between Lua values and the plain structs of espy: checked on the way in, arrays and tables on the way out.
//
//   point, direction  {x, y, z} or {x = , y = , z = }; comes back as {x, y, z}
//   box               {min = {x, y, z}, max = {x, y, z}}
//   matrix            16 numbers, column-major; or {position = , rotation = {x, y, z, w}, scale = }, each optional
//   enumerator        its name as a string: "StaticMesh3D"
//   def               a table with the names of the struct's fields; an unknown name is an error that lists it
//
// What is wrong raises a Lua error "Function: argument: what was expected, what came".
#ifndef ESPY_LUA_VALUES_H
#define ESPY_LUA_VALUES_H

#include <espy/world.h>

#include <lauxlib.h>
#include <lua.h>

// --- Lua 5.1 and LuaJIT beside 5.4

#if LUA_VERSION_NUM < 502
#define espyLua_SetUserTable(L, index) lua_setfenv(L, index)
#define espyLua_GetUserTable(L, index) lua_getfenv(L, index)
#define espyLua_Length(L, index) lua_objlen(L, index)
#else
#define espyLua_SetUserTable(L, index) lua_setuservalue(L, index)
#define espyLua_GetUserTable(L, index) lua_getuservalue(L, index)
#define espyLua_Length(L, index) lua_rawlen(L, index)
#endif

/// Absolute place of a relative stack index.
int espyLua_Absolute(lua_State* L, int index);
/// Adds functions to the table on top; each has its name as first upvalue, for messages.
void espyLua_Register(lua_State* L, const luaL_Reg* functions);
/// The user data at `index` if it has the metatable of `type`, else null. Raises nothing.
void* espyLua_Test(lua_State* L, int index, const char* type);

// --- errors

/// Raises "Function: name: <expected> expected, got <type>".
int espyLua_TypeError(lua_State* L, int index, const char* name, const char* expected);
/// Raises "Function: name: text".
int espyLua_ArgumentError(lua_State* L, const char* name, const char* text);
/// Raises "Function: Result" unless the result is Ok; `hint` (may be null) says what may be wrong.
void espyLua_CheckResult(lua_State* L, espyResult result, const char* hint);

// --- in; `name` is how the documentation calls the argument

bool espyLua_CheckBool(lua_State* L, int index, const char* name);
float espyLua_CheckFloat(lua_State* L, int index, const char* name);
/// A whole number from `low` to `high`.
int64_t espyLua_CheckWhole(lua_State* L, int index, const char* name, int64_t low, int64_t high);
const char* espyLua_CheckText(lua_State* L, int index, const char* name, size_t* length);
void espyLua_CheckTable(lua_State* L, int index, const char* name);
espyVec3 espyLua_CheckVec3(lua_State* L, int index, const char* name);
espyBox espyLua_CheckBox(lua_State* L, int index, const char* name);
espyMat4 espyLua_CheckMat4(lua_State* L, int index, const char* name);
/// Scratch memory for `count` items, freed by Lua; pushes its user data. Raises an error where memory ends.
void* espyLua_Scratch(lua_State* L, size_t count, size_t size);

// --- out: each pushes one value

void espyLua_PushVec3(lua_State* L, espyVec3 v);
void espyLua_PushBox(lua_State* L, espyBox box);
void espyLua_PushMat4(lua_State* L, const espyMat4* m);

// --- structs by a list of fields

typedef enum espyLuaKind
{
    espyLuaKind_Bool,
    espyLuaKind_Float,
    espyLuaKind_U32,
    espyLuaKind_I32,
    espyLuaKind_U64,
    espyLuaKind_Size,
    espyLuaKind_Enum, ///< int-sized; `names` ends with null.
    espyLuaKind_Vec3,
    espyLuaKind_Box,
    espyLuaKind_Mat4,
    espyLuaKind_U32x3,
    espyLuaKind_Custom, ///< Read and pushed by the caller; the name is known to the check of unknown names.
} espyLuaKind;

typedef struct espyLuaField
{
    const char* name;
    espyLuaKind kind;
    size_t offset;
    const char* const* names;
} espyLuaField;

/// Reads the fields that are there into *out, which holds the defaults; a list ends with a null name.
void espyLua_ReadStruct(lua_State* L, int index, const char* name, const espyLuaField* fields, void* out);
/// Pushes a table with all fields but Custom ones.
void espyLua_PushStruct(lua_State* L, const espyLuaField* fields, const void* from);

extern const char* const espyLuaNodeKinds[];
extern const char* const espyLuaMaterials[];
extern const char* const espyLuaQualities[];
extern const char* const espyLuaVisibilities[];
extern const espyLuaField espyLuaCameraFields[];
extern const espyLuaField espyLuaSettingsFields[];
extern const espyLuaField espyLuaProxyFields[];

/// The number of an enumerator by its name.
int espyLua_CheckEnum(lua_State* L, int index, const char* name, const char* const* names);

#endif
