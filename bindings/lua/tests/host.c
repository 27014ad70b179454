// SPDX-License-Identifier: MIT
// A program that embeds Lua as games do: it owns a world with baked data and gives it to a script.
//   lua_host SCRIPT.lua
// The script finds the globals `world` (four rooms, baked, with a camera), `espy`, `Renderer`. When it has run, the
// world goes; a function AfterWorld that the script left behind is then called, with its handles still in its hands.
#include "bindings/lua/espy_lua.h"
#include "scenes/scenes.h"

#include <espy/editor.h>
#include <espy/renderer.h>
#include <espy/world_data.h>

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

static int espyHost_Fail(const char* what)
{
    fprintf(stderr, "lua_host: %s\n", what);
    return 1;
}

static bool espyHost_Bake(const espyWorld* world, espyBakeResult* baked)
{
    espyGathered* gathered = NULL;
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    if (espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered) != espyResult_Ok)
    {
        return false;
    }
    espyResult result = espyBake_Run(espyGathered_GetInput(gathered), &def, baked);
    espyGathered_Destroy(gathered);
    return result == espyResult_Ok;
}

static bool espyHost_Run(lua_State* L, const char* script)
{
    if (luaL_loadfile(L, script) != 0 || lua_pcall(L, 0, 0, 0) != 0)
    {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        return false;
    }
    return true;
}

int main(int argc, char** argv)
{
    espyWorld* world = NULL;
    espyBakeResult baked = {0};
    if (argc != 2)
    {
        return espyHost_Fail("usage: lua_host SCRIPT.lua");
    }
    if (espyScene_BuildRooms(2, 1, &world) != espyResult_Ok || !espyHost_Bake(world, &baked))
    {
        return espyHost_Fail(baked.message);
    }
    espyNodeDef camera = espyNodeDef_Default();
    camera.kind = espyNodeKind_Camera3D;
    camera.name = "player camera";
    const float noRotation[4] = {0, 0, 0, 1};
    camera.local = espyMat4_FromTrs((espyVec3){4.0f, 1.6f, 4.0f}, noRotation, (espyVec3){1, 1, 1});
    espyNodeId eye;
    espyDataDef data = espyDataDef_Default();
    data.bytes = baked.data;
    data.size = baked.size;
    espyDataId loaded;
    if (espyWorld_CreateNode(world, &camera, &eye) != espyResult_Ok ||
        espyWorld_SetActiveCamera(world, eye) != espyResult_Ok ||
        espyWorld_AddData(world, &data, &loaded, NULL) != espyResult_Ok)
    {
        return espyHost_Fail("the world could not be set up");
    }

    espyRendererDef rendererDef = espyRendererDef_Default();
    rendererDef.world = world;
    espyRenderer* renderer = NULL;
    espyViewId view;
    espyRendererViewDef viewDef = espyRendererViewDef_Default();
    viewDef.name = "main";
    if (espyRenderer_Create(&rendererDef, &renderer) != espyResult_Ok ||
        espyRenderer_CreateView(renderer, &viewDef, &view) != espyResult_Ok)
    {
        return espyHost_Fail("no renderer");
    }

    lua_State* L = luaL_newstate();
    luaL_openlibs(L);
    lua_pushcfunction(L, luaopen_espy);
    lua_call(L, 0, 1);
    lua_pushvalue(L, -1);
    lua_setglobal(L, "espy");
    lua_getfield(L, -1, "Renderer");
    lua_setglobal(L, "Renderer");
    espyLua_PushWorld(L, world);
    lua_setglobal(L, "world");
    espyLua_SetRenderer(L, renderer, world);
    lua_settop(L, 0);
    bool passed = espyHost_Run(L, argv[1]);
    espyLua_ForgetWorld(L, world);
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
    lua_getglobal(L, "AfterWorld");
    if (passed && lua_isfunction(L, -1) && lua_pcall(L, 0, 0, 0) != 0)
    {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        passed = false;
    }
    lua_close(L);
    return passed ? 0 : 1;
}
