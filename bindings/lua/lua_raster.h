// SPDX-License-Identifier: MIT
// Rasters and occluders of scripts, for those parts of the module that borrow them.
#ifndef ESPY_LUA_RASTER_H
#define ESPY_LUA_RASTER_H

#include "lua_calls.h"

#include <espy/raster.h>

#define ESPY_LUA_RASTER "a Raster"
#define ESPY_LUA_OCCLUDER "an Occluder"

espyRaster* espyLua_CheckRaster(lua_State* L, int index, const char* name);
espyOccluder* espyLua_CheckOccluder(lua_State* L, int index, const char* name);
/// Marks the object at `index` as borrowed: from now on only the end of its handle destroys it. The borrower keeps the
/// handle.
void espyLua_Lend(lua_State* L, int index);

#endif
