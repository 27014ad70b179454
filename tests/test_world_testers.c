// SPDX-License-Identifier: MIT
// Tester meshes on the nodes of a world: what is drawn after a renderer's cull, and how they follow their nodes.
#include "test_main.h"

#include <string.h>

#include <espy/view.h>
#include <espy/world_testers.h>

#include "hook_counter.h"
#include "tester_case.h"

typedef struct espyTestScene
{
    espyWorld* world;
    espyRenderer* renderer;
    espyViewId view;
    espyDevice device;
    espyWorldTesters* testers;
    espyHookCounter counter;
    espyMeshId cube;
    espyMat4 eye; ///< World to eye space.
    uint64_t frame;
    uint32_t drawnToDepth;
} espyTestScene;

static espyNodeId espyTest_AddNode(espyTestScene* s, espyNodeId parent, bool mesh, espyVec3 at, float half)
{
    const float none[4] = {0, 0, 0, 1};
    espyNodeDef def = espyNodeDef_Default();
    def.parent = parent;
    def.local = espyMat4_FromTrs(at, none, (espyVec3){1, 1, 1});
    if (mesh)
    {
        def.kind = espyNodeKind_StaticMesh3D;
        def.mesh = s->cube;
        def.local = espyMat4_FromTrs(at, none, (espyVec3){half, half, half});
    }
    else if (half > 0)
    {
        def.bounds = (espyBox){{-half, -half, -half}, {half, half, half}};
    }
    espyNodeId id;
    assert_int_equal(espyWorld_CreateNode(s->world, &def, &id), espyResult_Ok);
    return id;
}

static void espyTest_Create(espyTestScene* s)
{
    memset(s, 0, sizeof *s);
    espyWorldDef worldDef = espyWorldDef_Default();
    assert_int_equal(espyWorld_Create(&worldDef, &s->world), espyResult_Ok);
    espyVec3 positions[8];
    uint32_t indices[36];
    espyRasterCase_Box((espyBox){{-1, -1, -1}, {1, 1, 1}}, positions, indices);
    espyMeshDef mesh = espyMeshDef_Default();
    mesh.triangles = (espyTriangles){positions, indices, 8, 12};
    assert_int_equal(espyWorld_CreateMesh(s->world, &mesh, &s->cube), espyResult_Ok);
    espyRendererDef rendererDef = espyRendererDef_Default();
    rendererDef.world = s->world;
    assert_int_equal(espyRenderer_Create(&rendererDef, &s->renderer), espyResult_Ok);
    espyRendererViewDef viewDef = espyRendererViewDef_Default();
    assert_int_equal(espyRenderer_CreateView(s->renderer, &viewDef, &s->view), espyResult_Ok);
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    assert_int_equal(espySoftDevice_Create(&soft, &s->device), espyResult_Ok);
    espyWorldTestersDef def = espyWorldTestersDef_Default();
    def.hooks = espyHookCounter_Hooks(&s->counter);
    def.world = s->world;
    def.device = &s->device;
    def.mainView.width = 160;
    def.mainView.height = 90;
    assert_int_equal(espyWorldTesters_Create(&def, &s->testers), espyResult_Ok);
    s->eye = espyMat4_Identity();
}

static void espyTest_Destroy(espyTestScene* s)
{
    espyWorldTesters_Destroy(s->testers);
    assert_int_equal(atomic_load(&s->counter.blocks), 0);
    espySoftDevice_Destroy(&s->device);
    espyRenderer_Destroy(s->renderer);
    espyWorld_Destroy(s->world);
}

static espyResult espyTest_Draw(void* context, const espyDraw* draws, uint32_t count)
{
    espyTestScene* s = context;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyDeviceDraw draw = {.toWorld = espyWorld_GetWorldTransform(s->world, draws[i].node)};
        assert_int_equal(s->device.drawDepth(s->device.context, &draw, 1), espyResult_Ok);
        ++s->drawnToDepth;
    }
    return espyResult_Ok;
}

static espyResult espyTest_Run(espyTestScene* s)
{
    espyViewDef view = espyViewDef_Default();
    view.view = s->eye;
    assert_int_equal(espyRenderer_BeginFrame(s->renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_SetView(s->renderer, s->view, &view, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_CullAll(s->renderer), espyResult_Ok);
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = espyMat4_Multiply(view.projection, view.view);
    s->drawnToDepth = 0;
    s->device.beginFrame(s->device.context, ++s->frame);
    espyResult result =
        espyWorldTesters_RunView(s->testers, s->renderer, s->view, (espyTesterViewId){0, 0}, &run, espyTest_Draw, s);
    s->device.endFrame(s->device.context);
    espyRenderer_EndFrame(s->renderer);
    return result;
}

static bool espyTest_IsDrawn(const espyTestScene* s, espyNodeId node)
{
    uint32_t count;
    const espyDraw* draws = espyWorldTesters_GetDraws(s->testers, &count);
    for (uint32_t i = 0; i < count; ++i)
    {
        if (draws[i].node.index1 == node.index1)
        {
            return true;
        }
    }
    return false;
}

static espyTesterId espyTest_Link(espyTestScene* s, espyNodeId testerNode, espyNodeId targetNode)
{
    espyTesterId tester;
    espyTesterTargetId target;
    assert_int_equal(espyWorldTesters_MakeTester(s->testers, testerNode, &tester), espyResult_Ok);
    assert_int_equal(espyWorldTesters_MakeTarget(s->testers, targetNode, &target), espyResult_Ok);
    assert_int_equal(espyTesterScene_AddTarget(espyWorldTesters_GetScene(s->testers), tester, target), espyResult_Ok);
    return tester;
}

static const espyNodeId espyTest_None = {0, 0};

static void test_draws_after_a_cull(void** state)
{
    (void)state;
    espyTestScene s;
    espyTest_Create(&s);
    espyNodeId wall = espyTest_AddNode(&s, espyTest_None, true, (espyVec3){0, 0, -40}, 20);
    espyNodeId hall = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, -8}, 0);
    espyNodeId crate = espyTest_AddNode(&s, hall, true, (espyVec3){0, 0, 0}, 0.5f);
    espyNodeId aside = espyTest_AddNode(&s, hall, true, (espyVec3){50, 0, 0}, 0.5f);
    espyNodeId hallBox = espyTest_AddNode(&s, espyTest_None, true, (espyVec3){0, 0, -8}, 1);
    espyNodeId cave = espyTest_AddNode(&s, espyTest_None, true, (espyVec3){0, 0, -80}, 1);
    espyNodeId gem = espyTest_AddNode(&s, cave, true, (espyVec3){0, 0, 0}, 0.5f);
    espyNodeId caveBox = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, -80}, 2);
    espyTesterId hallTester = espyTest_Link(&s, hallBox, hall);
    espyTest_Link(&s, caveBox, cave);
    assert_int_equal(espyWorldTesters_GetTester(s.testers, hallBox).index1, hallTester.index1);
    assert_int_equal(espyWorldTesters_GetTarget(s.testers, hallBox).index1, 0);
    for (int frame = 0; frame < 3; ++frame)
    {
        assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
        assert_int_equal(espyTest_Run(&s), espyResult_Ok);
        assert_true(espyTest_IsDrawn(&s, wall));
        assert_true(espyTest_IsDrawn(&s, crate));
        // Left out by the frustum before; hidden behind the wall; a tester itself.
        assert_false(espyTest_IsDrawn(&s, aside));
        assert_false(espyTest_IsDrawn(&s, cave));
        assert_false(espyTest_IsDrawn(&s, gem));
        assert_false(espyTest_IsDrawn(&s, hallBox));
        assert_false(espyTest_IsDrawn(&s, caveBox));
        uint32_t count;
        espyWorldTesters_GetDraws(s.testers, &count);
        assert_int_equal(count, 2);
        assert_int_equal(s.drawnToDepth, 2);
    }
    unsigned calls = atomic_load(&s.counter.calls);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_int_equal(atomic_load(&s.counter.calls), calls);
    espyTest_Destroy(&s);
}

static void test_follows_its_nodes(void** state)
{
    (void)state;
    espyTestScene s;
    espyTest_Create(&s);
    espyTesterScene* scene = espyWorldTesters_GetScene(s.testers);
    espyTest_AddNode(&s, espyTest_None, true, (espyVec3){0, 0, -40}, 20);
    espyNodeId outer = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, 0}, 0);
    espyNodeId inner = espyTest_AddNode(&s, outer, true, (espyVec3){0, 0, -10}, 0.5f);
    espyNodeId outerBox = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, -80}, 2);
    espyNodeId innerBox = espyTest_AddNode(&s, outer, false, (espyVec3){0, 0, -10}, 1);
    // The inner ones first: the outer target takes them in.
    espyTesterId innerTester = espyTest_Link(&s, innerBox, inner);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_true(espyTest_IsDrawn(&s, inner));
    espyTest_Link(&s, outerBox, outer);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_false(espyTest_IsDrawn(&s, inner));
    // The outer tester comes out from behind the wall, and goes back.
    espyMat4 place = espyMat4_Identity();
    place.m[14] = -10;
    assert_int_equal(espyWorld_SetLocalTransform(s.world, outerBox, place), espyResult_Ok);
    assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_true(espyTest_IsDrawn(&s, inner));
    place.m[14] = -80;
    assert_int_equal(espyWorld_SetLocalTransform(s.world, outerBox, place), espyResult_Ok);
    assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_false(espyTest_IsDrawn(&s, inner));
    // What closes a cycle stays where it was.
    espyNodeId back = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, 5}, 1);
    espyTesterId backTester;
    assert_int_equal(espyWorldTesters_MakeTester(s.testers, back, &backTester), espyResult_Ok);
    assert_int_equal(espyTesterScene_AddTarget(scene, backTester, espyWorldTesters_GetTarget(s.testers, outer)),
                     espyResult_Ok);
    assert_int_equal(espyWorld_SetParent(s.world, back, inner), espyResult_Ok);
    assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_InvalidArgument);
    assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
    assert_int_equal(espyWorld_DestroyNode(s.world, back), espyResult_Ok);
    // Out of the outer target and away with that: the inner one lives.
    assert_int_equal(espyWorld_SetParent(s.world, inner, espyTest_None), espyResult_Ok);
    assert_int_equal(espyWorld_SetParent(s.world, innerBox, espyTest_None), espyResult_Ok);
    assert_int_equal(espyWorld_DestroyNode(s.world, outer), espyResult_Ok);
    assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
    assert_false(espyTesterScene_IsTester(scene, backTester));
    assert_true(espyTesterScene_IsTester(scene, innerTester));
    assert_int_equal(espyWorldTesters_GetTarget(s.testers, outer).index1, 0);
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_true(espyTest_IsDrawn(&s, inner));
    // A new node in the place of an old one is nothing yet.
    assert_int_equal(espyWorld_DestroyNode(s.world, innerBox), espyResult_Ok);
    espyNodeId next = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, -10}, 1);
    assert_int_equal(espyWorldTesters_GetTester(s.testers, next).index1, 0);
    assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
    assert_false(espyTesterScene_IsTester(scene, innerTester));
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_false(espyTest_IsDrawn(&s, inner));
    assert_int_equal(espyWorldTesters_MakeTarget(s.testers, innerBox, NULL), espyResult_InvalidId);
    espyTest_Destroy(&s);
}

static void test_failures_draw(void** state)
{
    (void)state;
    espyTestScene s;
    espyTest_Create(&s);
    espyTest_AddNode(&s, espyTest_None, true, (espyVec3){0, 0, -40}, 20);
    espyNodeId cave = espyTest_AddNode(&s, espyTest_None, true, (espyVec3){0, 0, -80}, 1);
    espyNodeId caveBox = espyTest_AddNode(&s, espyTest_None, false, (espyVec3){0, 0, -80}, 2);
    espyTest_Link(&s, caveBox, cave);
    // No memory for the draws: all that the renderer kept.
    s.counter.failAt = atomic_load(&s.counter.calls) + 1;
    assert_int_equal(espyTest_Run(&s), espyResult_OutOfMemory);
    assert_true(espyTest_IsDrawn(&s, cave));
    s.counter.failAt = 0;
    assert_int_equal(espyTest_Run(&s), espyResult_Ok);
    assert_false(espyTest_IsDrawn(&s, cave));
    // A view that is none.
    s.view = (espyViewId){7, 7};
    espyTesterRun run = espyTesterRun_Default();
    assert_int_equal(
        espyWorldTesters_RunView(s.testers, s.renderer, s.view, (espyTesterViewId){0, 0}, &run, NULL, NULL),
        espyResult_InvalidId);
    uint32_t count;
    espyWorldTesters_GetDraws(s.testers, &count);
    assert_int_equal(count, 0);
    espyTest_Destroy(&s);

    // Every allocation once.
    for (unsigned failAt = 1;; ++failAt)
    {
        espyTest_Create(&s);
        espyNodeId nodes[12];
        for (int i = 0; i < 12; ++i)
        {
            nodes[i] = espyTest_AddNode(&s, i > 0 ? nodes[i / 2] : espyTest_None, true, (espyVec3){0, 0, -3}, 0.9f);
        }
        s.counter.failAt = atomic_load(&s.counter.calls) + failAt;
        bool failed = false;
        for (int i = 0; i < 12; ++i)
        {
            espyResult results[2];
            results[0] = espyWorldTesters_MakeTarget(s.testers, nodes[i], NULL);
            results[1] = espyWorldTesters_MakeTester(s.testers, nodes[i], NULL);
            for (int k = 0; k < 2; ++k)
            {
                assert_true(results[k] == espyResult_Ok || results[k] == espyResult_OutOfMemory);
                failed = failed || results[k] != espyResult_Ok;
            }
            s.counter.failAt = failed ? 0 : s.counter.failAt;
        }
        assert_int_equal(espyWorldTesters_Follow(s.testers), espyResult_Ok);
        espyTest_Destroy(&s);
        if (!failed)
        {
            return;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_after_a_cull),
        cmocka_unit_test(test_follows_its_nodes),
        cmocka_unit_test(test_failures_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
