// SPDX-License-Identifier: MIT
// Scenes for the suites of tester meshes.
#include "test_main.h"

#include "tester_case.h"

#include <string.h>

static void* espyCase_Alloc(size_t size, size_t align, void* context)
{
    espyTesterCase* c = context;
    espyHooks hooks = espyHookCounter_Hooks(&c->counter);
    return hooks.alloc(size, align, hooks.context);
}

static void espyCase_Free(void* pointer, void* context)
{
    espyTesterCase* c = context;
    espyHooks hooks = espyHookCounter_Hooks(&c->counter);
    hooks.free(pointer, hooks.context);
}

static void espyCase_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    espyTesterCase* c = context;
    (void)level;
    c->lastMessage = id;
    ++c->messages;
    strncpy(c->lastText, text, sizeof c->lastText - 1);
}

static void espyCase_Assert(const char* condition, const char* function, void* context)
{
    espyTesterCase* c = context;
    (void)condition, (void)function;
    ++c->asserts;
}

espyTesterViewDef espyTesterCase_ViewDef(void)
{
    espyTesterViewDef def = espyTesterViewDef_Default();
    def.width = 160;
    def.height = 90;
    return def;
}

void espyTesterCase_Create(espyTesterCase* c, const espyTesterViewDef* main, uint32_t maxIds)
{
    memset(c, 0, sizeof *c);
    c->main = main ? *main : espyTesterCase_ViewDef();
    c->lens = (espyLens){.reversedZ = c->main.reversedZ,
                         .nearDistance = 0.1f,
                         .halfHeight = 0.6f,
                         .aspect = (float)c->main.width / (float)c->main.height};
    c->look = (espyVec3){0, 0, -1};
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    soft.maxIds = maxIds != 0 ? maxIds : soft.maxIds;
    assert_int_equal(espySoftDevice_Create(&soft, &c->device), espyResult_Ok);
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    def.hooks = (espyHooks){espyCase_Alloc, espyCase_Free, espyCase_Log, espyCase_Assert, c};
    def.device = &c->device;
    def.mainView = c->main;
    assert_int_equal(espyTesterScene_Create(&def, &c->scene), espyResult_Ok);
}

void espyTesterCase_Destroy(espyTesterCase* c)
{
    espyTesterScene_Destroy(c->scene);
    assert_int_equal(atomic_load(&c->counter.blocks), 0);
    espySoftDevice_Destroy(&c->device);
}

espyTesterTargetId espyTesterCase_Target(espyTesterCase* c, espyTesterTargetId parent, const char* name)
{
    espyTesterTargetDef def = espyTesterTargetDef_Default();
    def.parent = parent;
    def.name = name;
    espyTesterTargetId id;
    assert_int_equal(espyTesterScene_CreateTarget(c->scene, &def, &id), espyResult_Ok);
    return id;
}

espyTesterId espyTesterCase_Tester(espyTesterCase* c, espyTesterTargetId parent, espyBox box, espyTesterTargetId target)
{
    espyTesterDef def = espyTesterDef_Default();
    def.parent = parent;
    def.bounds = box;
    espyTesterId id;
    assert_int_equal(espyTesterScene_CreateTester(c->scene, &def, &id), espyResult_Ok);
    if (target.index1 != 0)
    {
        assert_int_equal(espyTesterScene_AddTarget(c->scene, id, target), espyResult_Ok);
    }
    return id;
}

espyMat4 espyTesterCase_BoxTransform(espyBox b)
{
    espyMat4 m = espyMat4_Identity();
    m.m[0] = 0.5f * (b.max.x - b.min.x);
    m.m[5] = 0.5f * (b.max.y - b.min.y);
    m.m[10] = 0.5f * (b.max.z - b.min.z);
    m.m[12] = 0.5f * (b.max.x + b.min.x);
    m.m[13] = 0.5f * (b.max.y + b.min.y);
    m.m[14] = 0.5f * (b.max.z + b.min.z);
    return m;
}

espyTesterDrawId espyTesterCase_Draw(espyTesterCase* c, espyTesterTargetId parent, espyBox box)
{
    espyTesterDrawDef def = espyTesterDrawDef_Default();
    def.parent = parent;
    def.toWorld = espyTesterCase_BoxTransform(box);
    espyTesterDrawId id;
    assert_int_equal(espyTesterScene_CreateDraw(c->scene, &def, &id), espyResult_Ok);
    return id;
}

espyMat4 espyTesterCase_Clip(const espyTesterCase* c)
{
    return espyRasterCase_View(c->eye, c->look, &c->lens);
}

espyResult espyTesterCase_TryRun(espyTesterCase* c, espyTesterViewId view, const espyTesterRun* run)
{
    c->device.beginFrame(c->device.context, ++c->frame);
    espyResult result = espyTesterScene_RunView(c->scene, view, run);
    c->device.endFrame(c->device.context);
    return result;
}

void espyTesterCase_RunView(espyTesterCase* c, espyTesterViewId view)
{
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = run.viewProjection[1] = espyTesterCase_Clip(c);
    assert_int_equal(espyTesterCase_TryRun(c, view, &run), espyResult_Ok);
}

void espyTesterCase_Run(espyTesterCase* c)
{
    espyTesterCase_RunView(c, (espyTesterViewId){0, 0});
}

bool espyTesterCase_IsShown(const espyTesterCase* c, espyTesterTargetId target)
{
    return espyTesterScene_IsShown(c->scene, target, (espyTesterViewId){0, 0});
}

bool espyTesterCase_WasActive(const espyTesterCase* c, espyTesterId tester)
{
    return espyTesterScene_WasActiveLastFrame(c->scene, tester, (espyTesterViewId){0, 0});
}

espyTesterStats espyTesterCase_Stats(const espyTesterCase* c)
{
    return espyTesterScene_GetStats(c->scene, (espyTesterViewId){0, 0});
}

espyTriangles espyTesterCase_Triangles(const espyMat4* toWorld, espyTesterCaseBox* out)
{
    espyRasterCase_Box((espyBox){{-1, -1, -1}, {1, 1, 1}}, out->positions, out->indices);
    for (int i = 0; i < 8; ++i)
    {
        out->positions[i] = espyMat4_TransformPoint(*toWorld, out->positions[i]);
    }
    return (espyTriangles){out->positions, out->indices, 8, 12};
}
