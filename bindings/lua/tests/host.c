// SPDX-License-Identifier: MIT
// A program that embeds Lua as games do: it owns a world with baked data and gives it to a script.
//   lua_host SCRIPT.lua
// The script finds the globals `world` (four rooms, baked, with a camera), `espy`, `Renderer`, and as the query system
// one on a device that sees nothing, whose frames are BeginHostFrame(n) and EndHostFrame(), and `testers` with a `hall`
// and its `hallTester`, 5 m ahead of the origin. When it has run, all of that goes; a function AfterWorld that the
// script left behind is then called, with its handles still in its hands.
#include "bindings/lua/espy_lua.h"
#include "scenes/scenes.h"

#include <espy/device_mock.h>
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

typedef struct espyHostDevice
{
    espyDevice device;
    espyDeviceTarget target;
} espyHostDevice;

static espyHostDevice* espyHost_Device(lua_State* L)
{
    return (espyHostDevice*)lua_touserdata(L, lua_upvalueindex(1));
}

static int espyHost_BeginFrame(lua_State* L)
{
    espyHostDevice* host = espyHost_Device(L);
    espyDevicePass pass = {.target = host->target, .clearDepth = true};
    pass.viewProjection[0] = pass.viewProjection[1] = espyMat4_Identity();
    host->device.beginFrame(host->device.context, (uint64_t)lua_tonumber(L, 1));
    host->device.beginPass(host->device.context, &pass);
    return 0;
}

static int espyHost_EndFrame(lua_State* L)
{
    espyHostDevice* host = espyHost_Device(L);
    host->device.endPass(host->device.context);
    host->device.endFrame(host->device.context);
    return 0;
}

/// A device on which no question is answered with a sample, and a query system on it.
static bool espyHost_MakeQueries(espyHostDevice* host, espyQuerySystem** out)
{
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.defaultValue = 0;
    def.faults.latency = 1;
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    espyQuerySystemDef systemDef = espyQuerySystemDef_Default();
    systemDef.device = &host->device;
    return espyMockDevice_Create(&def, &host->device) == espyResult_Ok &&
           host->device.createTarget(host->device.context, &targetDef, &host->target) == espyResult_Ok &&
           espyQuerySystem_Create(&systemDef, out) == espyResult_Ok;
}

/// A scene of testers without a device: what is in the frustum is shown.
static espyTesterScene* espyHost_MakeTesters(espyTesterTargetId* hall, espyTesterId* tester)
{
    espyTesterScene* scene = NULL;
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    espyTesterTargetDef targetDef = espyTesterTargetDef_Default();
    espyTesterDef testerDef = espyTesterDef_Default();
    testerDef.bounds = (espyBox){{-1, -1, -6}, {1, 1, -4}};
    bool made = espyTesterScene_Create(&def, &scene) == espyResult_Ok &&
                espyTesterScene_CreateTarget(scene, &targetDef, hall) == espyResult_Ok &&
                espyTesterScene_CreateTester(scene, &testerDef, tester) == espyResult_Ok &&
                espyTesterScene_AddTarget(scene, *tester, *hall) == espyResult_Ok;
    return made ? scene : NULL;
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

    espyHostDevice host = {0};
    espyQuerySystem* queries = NULL;
    if (!espyHost_MakeQueries(&host, &queries))
    {
        return espyHost_Fail("no query system");
    }

    espyTesterTargetId hall;
    espyTesterId hallTester;
    espyTesterScene* testers = espyHost_MakeTesters(&hall, &hallTester);
    if (!testers)
    {
        return espyHost_Fail("no testers");
    }
    espyWorldTestersDef onNodesDef = espyWorldTestersDef_Default();
    onNodesDef.world = world;
    espyWorldTesters* onNodes = NULL;
    if (espyWorldTesters_Create(&onNodesDef, &onNodes) != espyResult_Ok)
    {
        return espyHost_Fail("no testers on nodes");
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
    espyLua_PushTesterScene(L, testers);
    lua_setglobal(L, "testers");
    espyLua_PushTesterTarget(L, testers, hall);
    lua_setglobal(L, "hall");
    espyLua_PushTester(L, testers, hallTester);
    lua_setglobal(L, "hallTester");
    espyLua_PushWorldTesters(L, onNodes, world);
    lua_setglobal(L, "onNodes");
    espyLua_SetQuerySystem(L, queries);
    lua_pushlightuserdata(L, &host);
    lua_pushcclosure(L, espyHost_BeginFrame, 1);
    lua_setglobal(L, "BeginHostFrame");
    lua_pushlightuserdata(L, &host);
    lua_pushcclosure(L, espyHost_EndFrame, 1);
    lua_setglobal(L, "EndHostFrame");
    lua_settop(L, 0);
    bool passed = espyHost_Run(L, argv[1]);
    espyLua_ForgetWorld(L, world);
    espyLua_ForgetTesterScene(L, testers);
    espyTesterScene_Destroy(testers);
    espyLua_ForgetTesterScene(L, espyWorldTesters_GetScene(onNodes));
    espyWorldTesters_Destroy(onNodes);
    espyLua_SetQuerySystem(L, NULL);
    espyQuerySystem_Destroy(queries);
    espyMockDevice_Destroy(&host.device);
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
