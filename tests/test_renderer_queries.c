// SPDX-License-Identifier: MIT
// Occlusion queries of the renderer: what they cull is hidden in truth made in double, what other passes cull is never
// asked about, and nodes that move, come and go are followed.
#include "test_main.h"

#include "hook_counter.h"
#include "query_case.h"
#include "reference/raster_reference.h"

#include <espy/renderer.h>

#include <string.h>

#define ESPY_THINGS 400u
#define ESPY_WALLS 3u
#define ESPY_WIDTH 320
#define ESPY_HEIGHT 180

/// Things all over a hall, walls in front of some. Only walls draw depth.
typedef struct espyHall
{
    espyWorld* world;
    espyNodeId things[ESPY_THINGS];
    espyBox walls[ESPY_WALLS];
    espyDevice soft, device;
    espyQueryCaseDevice counted;
    espyDeviceTarget target;
    espyQuerySystem* system;
    espyQueryViewId queries;
    espyRenderer* renderer;
    espyViewId plain, view; ///< Without queries, and with.
    uint64_t frame;
} espyHall;

static espyNodeId espyHall_Node(espyWorld* world, espyBox bounds, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId node;
    def.kind = espyNodeKind_Node3D;
    def.bounds = bounds;
    def.flags = flags;
    assert_int_equal(espyWorld_CreateNode(world, &def, &node), espyResult_Ok);
    return node;
}

static espyHall espyHall_Make(uint64_t seed)
{
    espyHall hall = {
        .walls = {{{-6, -3, -6.5f}, {-1, 3, -6}}, {{0, -3, -8}, {5, 3, -7}}, {{-12, -3, -15}, {12, 0, -14}}}};
    espyiRng rng = espyiRng_Seed(seed);
    espyWorldDef worldDef = espyWorldDef_Default();
    assert_int_equal(espyWorld_Create(&worldDef, &hall.world), espyResult_Ok);
    for (uint32_t i = 0; i < ESPY_THINGS; ++i)
    {
        float v[6];
        for (int k = 0; k < 6; ++k)
        {
            v[k] = espyiRng_Float(&rng);
        }
        espyVec3 low = {40.0f * v[0] - 20.0f, 5.0f * v[1] - 2.5f, -30.0f * v[2] + 4.0f};
        espyBox box = {low, {low.x + 0.2f + v[3], low.y + 0.2f + v[4], low.z + 0.2f + v[5]}};
        uint32_t flags = espyNodeFlag_Dynamic | (i % 3 == 0 ? espyNodeFlag_AlwaysUpdate : 0u);
        hall.things[i] = espyHall_Node(hall.world, box, flags | (i % 10 == 9 ? espyNodeFlag_Hidden : 0u));
    }
    espyRendererDef rendererDef = espyRendererDef_Default();
    rendererDef.world = hall.world;
    assert_int_equal(espyRenderer_Create(&rendererDef, &hall.renderer), espyResult_Ok);
    espyRendererViewDef viewDef = espyRendererViewDef_Default();
    assert_int_equal(espyRenderer_CreateView(hall.renderer, &viewDef, &hall.plain), espyResult_Ok);
    assert_int_equal(espyRenderer_CreateView(hall.renderer, &viewDef, &hall.view), espyResult_Ok);
    return hall;
}

/// Gives the renderer a system on the software device; the hall stays where it is from now on.
static void espyHall_Ask(espyHall* hall)
{
    espySoftDeviceDef softDef = espySoftDeviceDef_Default();
    softDef.latency = 2;
    assert_int_equal(espySoftDevice_Create(&softDef, &hall->soft), espyResult_Ok);
    hall->device = espyQueryCase_Count(&hall->counted, &hall->soft);
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = ESPY_WIDTH;
    targetDef.height = ESPY_HEIGHT;
    assert_int_equal(hall->soft.createTarget(hall->soft.context, &targetDef, &hall->target), espyResult_Ok);
    espyQuerySystemDef systemDef = espyQuerySystemDef_Default();
    systemDef.device = &hall->device;
    assert_int_equal(espyQuerySystem_Create(&systemDef, &hall->system), espyResult_Ok);
    espyQueryViewDef viewDef = espyQueryViewDef_Default();
    viewDef.autoOff = false;
    assert_int_equal(espyQuerySystem_CreateView(hall->system, &viewDef, &hall->queries), espyResult_Ok);
    assert_int_equal(espyRenderer_SetQuerySystem(hall->renderer, hall->system), espyResult_Ok);
    assert_int_equal(espyRenderer_SetViewQueries(hall->renderer, hall->view, hall->queries, ESPY_WIDTH, ESPY_HEIGHT),
                     espyResult_Ok);
}

static void espyHall_Free(espyHall* hall)
{
    espyRenderer_Destroy(hall->renderer);
    if (hall->system)
    {
        assert_int_equal(espyQuerySystem_GetObjectCount(hall->system), 0);
        espyQuerySystem_Destroy(hall->system);
        espySoftDevice_Destroy(&hall->soft);
    }
    espyWorld_Destroy(hall->world);
}

static espyViewDef espyHall_Look(float x)
{
    espyViewDef def = espyViewDef_Default();
    def.view = espyMat4_Identity();
    def.view.m[12] = -x;
    def.projection = espyMat4_Perspective(1.0f, 16.0f / 9.0f, 0.1f, 100.0f, false);
    return def;
}

/// Begins a frame, culls, and asks; `late` (may be null) moves something between BeginFrame and the cull.
static void espyHall_Frame(espyHall* hall, const espyViewDef* def, const espyNodeId* late)
{
    hall->soft.beginFrame(hall->soft.context, ++hall->frame);
    assert_int_equal(espyRenderer_BeginFrame(hall->renderer), espyResult_Ok);
    assert_int_equal(espyQuerySystem_BeginFrame(hall->system, hall->frame), espyResult_Ok);
    if (late)
    {
        espyMat4 aside = espyMat4_Identity();
        aside.m[13] = 0.5f;
        assert_int_equal(espyWorld_SetLocalTransform(hall->world, *late, aside), espyResult_Ok);
    }
    assert_int_equal(espyRenderer_SetView(hall->renderer, hall->plain, def, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_SetView(hall->renderer, hall->view, def, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_CullAll(hall->renderer), espyResult_Ok);
    espyDevicePass pass = {.target = hall->target, .clearDepth = true};
    pass.viewProjection[0] = espyMat4_Multiply(def->projection, def->view);
    assert_int_equal(hall->soft.beginPass(hall->soft.context, &pass), espyResult_Ok);
    for (uint32_t i = 0; i < ESPY_WALLS; ++i)
    {
        const espyBox* box = &hall->walls[i];
        espyVec3 half = {0.5f * (box->max.x - box->min.x), 0.5f * (box->max.y - box->min.y),
                         0.5f * (box->max.z - box->min.z)};
        espyVec3 middle = {box->min.x + half.x, box->min.y + half.y, box->min.z + half.z};
        const float none[4] = {0, 0, 0, 1};
        espyDeviceDraw draw = {.toWorld = espyMat4_FromTrs(middle, none, half)};
        assert_int_equal(hall->soft.drawDepth(hall->soft.context, &draw, 1), espyResult_Ok);
    }
    assert_int_equal(espyQuerySystem_Submit(hall->system, hall->queries), espyResult_Ok);
    hall->soft.endPass(hall->soft.context);
    hall->soft.endFrame(hall->soft.context);
    espyRenderer_EndFrame(hall->renderer);
}

static void espyHall_Frames(espyHall* hall, const espyViewDef* def, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        espyHall_Frame(hall, def, NULL);
    }
}

static bool espyHall_Has(const espyDraw* draws, uint32_t count, espyNodeId node)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        if (draws[i].node.index1 == node.index1 && draws[i].node.generation == node.generation)
        {
            return true;
        }
    }
    return false;
}

static bool espyHall_IsDrawn(const espyHall* hall, espyViewId view, espyNodeId node)
{
    uint32_t count;
    const espyDraw* draws = espyRenderer_GetDraws(hall->renderer, view, &count);
    return espyHall_Has(draws, count, node);
}

/// Why queries did or did not cull a node.
static espyQueryReason espyHall_Reason(const espyHall* hall, espyNodeId node)
{
    espyQueryObjectId object = espyRenderer_GetQueryObject(hall->renderer, node);
    return espyQuerySystem_Explain(hall->system, hall->queries, object).reason;
}

/// The walls as seen through pixel centres.
static espyReferenceImage espyHall_Picture(const espyHall* hall, const espyMat4* clip)
{
    espyReferenceImage image = espyReferenceImage_Create(ESPY_WIDTH, ESPY_HEIGHT, false, 0);
    for (uint32_t i = 0; i < ESPY_WALLS; ++i)
    {
        espyVec3 positions[8];
        uint32_t indices[36];
        espyRasterCase_Box(hall->walls[i], positions, indices);
        espyTriangles triangles = {positions, indices, 8, 12};
        espyReferenceImage_Draw(&image, &triangles, clip, i, false);
    }
    return image;
}

static void test_culls_what_is_hidden(void** state)
{
    (void)state;
    uint32_t hidden = 0, culled = 0;
    for (uint64_t seed = 1; seed <= 4; ++seed)
    {
        espyHall hall = espyHall_Make(seed);
        espyHall_Ask(&hall);
        for (uint32_t place = 0; place < 3; ++place)
        {
            espyViewDef def = espyHall_Look(1.5f * (float)place);
            espyHall_Frames(&hall, &def, 30);
            espyMat4 clip = espyMat4_Multiply(def.projection, def.view);
            espyReferenceImage image = espyHall_Picture(&hall, &clip);
            uint32_t plainCount, count, updateCount, at = 0, gone = 0;
            const espyDraw* plain = espyRenderer_GetDraws(hall.renderer, hall.plain, &plainCount);
            const espyDraw* draws = espyRenderer_GetDraws(hall.renderer, hall.view, &count);
            const espyDraw* updates = espyRenderer_GetUpdates(hall.renderer, hall.view, &updateCount);
            for (uint32_t i = 0; i < plainCount; ++i)
            {
                espyBox box = espyWorld_GetWorldBounds(hall.world, plain[i].node);
                // Both lists keep the order.
                bool drawn = at < count && draws[at].node.index1 == plain[i].node.index1;
                at += drawn ? 1u : 0u;
                if (!drawn)
                {
                    ++gone;
                    assert_int_not_equal(espyReferenceImage_TestBox(&image, &clip, box, false),
                                         espyReferenceAnswer_Shows);
                    bool animated = (espyWorld_GetFlags(hall.world, plain[i].node) & espyNodeFlag_AlwaysUpdate) != 0;
                    assert_int_equal(espyHall_Has(updates, updateCount, plain[i].node), animated);
                    espyQueryReason reason = espyHall_Reason(&hall, plain[i].node);
                    assert_true(reason == espyQueryReason_Hidden || reason == espyQueryReason_HiddenNode);
                }
                if (espyReferenceImage_TestBox(&image, &clip, espyBox_Grow(box, 0.05f), true) ==
                    espyReferenceAnswer_Hidden)
                {
                    ++hidden;
                    culled += drawn ? 0u : 1u;
                }
            }
            assert_int_equal(at, count);
            espyViewStats stats = espyRenderer_GetViewStats(hall.renderer, hall.view);
            assert_int_equal(stats.queryCulled, gone);
            assert_int_equal(stats.counts.drawn, count);
            assert_int_equal(espyRenderer_GetFrameStats(hall.renderer).queryCulled, gone);
            // Nothing that another pass took is a candidate, let alone asked about.
            for (uint32_t i = 0; i < ESPY_THINGS; ++i)
            {
                bool left = espyHall_Has(plain, plainCount, hall.things[i]);
                assert_int_equal(espyHall_Reason(&hall, hall.things[i]) == espyQueryReason_Excluded, !left);
            }
            char text[700];
            espyRenderer_FormatStats(hall.renderer, text, sizeof text);
            assert_non_null(strstr(text, ", by queries "));
            espyReferenceImage_Destroy(&image);
        }
        assert_int_equal(hall.counted.waits, 0);
        espyHall_Free(&hall);
    }
    print_message("%u hidden, %u of them culled\n", hidden, culled);
    assert_true(hidden > 200);
    assert_true(culled * 20u >= hidden * 19u);
}

static void test_never_asks_about_what_is_culled(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(3);
    espyHall_Ask(&hall);
    // Nothing stands above: no question at all.
    espyViewDef def = espyHall_Look(0.0f);
    def.view.m[13] = -1000.0f;
    espyHall_Frames(&hall, &def, 20);
    assert_int_equal(espyRenderer_GetViewStats(hall.renderer, hall.view).counts.drawn, 0);
    assert_int_equal(hall.counted.queries, 0);
    // Off by its own switch, by that of occlusion culling, and in shadow views.
    def = espyHall_Look(0.0f);
    espyRenderer_EnableOcclusionCulling(hall.renderer, false);
    espyHall_Frames(&hall, &def, 20);
    espyRenderer_EnableOcclusionCulling(hall.renderer, true);
    def.shadow = true;
    espyHall_Frames(&hall, &def, 20);
    def.shadow = false;
    const espyQueryViewId none = {0, 0};
    assert_int_equal(espyRenderer_SetViewQueries(hall.renderer, hall.view, none, 0, 0), espyResult_Ok);
    espyHall_Frames(&hall, &def, 20);
    assert_int_equal(hall.counted.queries, 0);
    assert_int_equal(espyRenderer_GetViewStats(hall.renderer, hall.view).queryCulled, 0);
    espyHall_Free(&hall);
}

static void test_follows_nodes(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(5);
    const uint32_t flags = espyNodeFlag_Dynamic;
    espyNodeId moved = espyHall_Node(hall.world, (espyBox){{2, -0.5f, -10}, {2.4f, -0.1f, -9.6f}}, flags);
    espyNodeId leaving = espyHall_Node(hall.world, (espyBox){{2.5f, -0.5f, -10}, {2.9f, -0.1f, -9.6f}}, flags);
    espyNodeId fixed = espyHall_Node(hall.world, (espyBox){{2, 0, -10}, {2.4f, 0.4f, -9.6f}}, 0);
    espyHall_Ask(&hall);
    espyViewDef def = espyHall_Look(0.0f);
    espyHall_Frame(&hall, &def, NULL);
    assert_true(espyHall_IsDrawn(&hall, hall.view, moved));
    espyHall_Frames(&hall, &def, 30);
    assert_false(espyHall_IsDrawn(&hall, hall.view, moved));
    assert_false(espyHall_IsDrawn(&hall, hall.view, leaving));
    assert_true(espyHall_IsDrawn(&hall, hall.plain, moved));
    // No occludee: never an object, always drawn.
    assert_int_equal(espyRenderer_GetQueryObject(hall.renderer, fixed).index1, 0);
    assert_true(espyHall_IsDrawn(&hall, hall.view, fixed));
    // Moved since BeginFrame: what was asked was about another place.
    espyHall_Frame(&hall, &def, &moved);
    assert_true(espyHall_IsDrawn(&hall, hall.view, moved));
    // It jumped out from behind the wall: drawn in the same frame.
    espyMat4 away = espyMat4_Identity();
    away.m[14] = 5.0f;
    assert_int_equal(espyWorld_SetLocalTransform(hall.world, leaving, away), espyResult_Ok);
    espyHall_Frame(&hall, &def, NULL);
    assert_true(espyHall_IsDrawn(&hall, hall.view, leaving));
    // Another node in the place and slot of one that was hidden knows nothing of it.
    espyHall_Frames(&hall, &def, 30);
    assert_false(espyHall_IsDrawn(&hall, hall.view, moved));
    uint32_t objects = espyQuerySystem_GetObjectCount(hall.system);
    assert_int_equal(espyWorld_DestroyNode(hall.world, moved), espyResult_Ok);
    espyNodeId next = espyHall_Node(hall.world, (espyBox){{2, -0.5f, -10}, {2.4f, -0.1f, -9.6f}}, flags);
    espyHall_Frame(&hall, &def, NULL);
    assert_true(espyHall_IsDrawn(&hall, hall.view, next));
    assert_int_equal(espyQuerySystem_GetObjectCount(hall.system), objects);
    assert_int_equal(espyRenderer_GetQueryObject(hall.renderer, moved).index1, 0);
    // Frozen, decisions stay though the camera looks elsewhere.
    espyHall_Frames(&hall, &def, 30);
    assert_int_equal(espyRenderer_FreezeView(hall.renderer, hall.view, true), espyResult_Ok);
    assert_true(espyQuerySystem_IsViewFrozen(hall.system, hall.queries));
    espyViewDef other = espyHall_Look(8.0f);
    espyHall_Frames(&hall, &other, 20);
    assert_false(espyHall_IsDrawn(&hall, hall.view, next));
    assert_int_equal(espyRenderer_FreezeView(hall.renderer, hall.view, false), espyResult_Ok);
    // A view of the system that is gone hides nothing.
    espyHall_Frames(&hall, &def, 30);
    assert_true(espyRenderer_GetViewStats(hall.renderer, hall.view).queryCulled > 0);
    assert_int_equal(espyQuerySystem_DestroyView(hall.system, hall.queries), espyResult_Ok);
    assert_int_equal(espyRenderer_CullAll(hall.renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_GetViewStats(hall.renderer, hall.view).queryCulled, 0);
    espyHall_Free(&hall);
}

static void test_errors(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(9);
    const espyQueryViewId some = {1, 1};
    const espyViewId none = {0, 0};
    assert_int_equal(espyRenderer_SetQuerySystem(NULL, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyRenderer_SetViewQueries(hall.renderer, hall.view, some, 100, 100), espyResult_InvalidArgument);
    espyHall_Ask(&hall);
    assert_int_equal(espyRenderer_SetViewQueries(hall.renderer, none, hall.queries, 100, 100), espyResult_InvalidId);
    const int32_t sizes[3][2] = {{0, 100}, {100, 0}, {ESPY_RASTER_MAX_SIZE + 1, 100}};
    for (uint32_t i = 0; i < 3; ++i)
    {
        assert_int_equal(espyRenderer_SetViewQueries(hall.renderer, hall.view, hall.queries, sizes[i][0], sizes[i][1]),
                         espyResult_InvalidArgument);
    }
    const espyNodeId nodes[3] = {{0, 0}, {-5, 1}, {1 << 30, 1}};
    for (uint32_t i = 0; i < 3; ++i)
    {
        assert_int_equal(espyRenderer_GetQueryObject(hall.renderer, nodes[i]).index1, 0);
    }
    assert_int_equal(espyRenderer_GetQueryObject(NULL, nodes[0]).index1, 0);
    // Taken away, the system is as it was before.
    espyViewDef def = espyHall_Look(0.0f);
    espyHall_Frame(&hall, &def, NULL);
    assert_int_equal(espyQuerySystem_GetObjectCount(hall.system), ESPY_THINGS);
    assert_int_equal(espyRenderer_SetQuerySystem(hall.renderer, NULL), espyResult_Ok);
    assert_int_equal(espyQuerySystem_GetObjectCount(hall.system), 0);
    espyHall_Frames(&hall, &def, 20);
    assert_int_equal(espyRenderer_GetViewStats(hall.renderer, hall.view).queryCulled, 0);
    espyHall_Free(&hall);
}

static void test_out_of_memory(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(7);
    espyHall_Ask(&hall);
    assert_int_equal(espyRenderer_SetQuerySystem(hall.renderer, NULL), espyResult_Ok);
    espyViewDef look = espyHall_Look(0.0f);
    bool done = false;
    for (unsigned failAt = 1; !done; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyRendererDef def = espyRendererDef_Default();
        espyRendererViewDef viewDef = espyRendererViewDef_Default();
        espyRenderer* renderer = NULL;
        espyViewId view = {0};
        def.world = hall.world;
        def.hooks = espyHookCounter_Hooks(&counter);
        done = espyRenderer_Create(&def, &renderer) == espyResult_Ok &&
               espyRenderer_SetQuerySystem(renderer, hall.system) == espyResult_Ok &&
               espyRenderer_CreateView(renderer, &viewDef, &view) == espyResult_Ok &&
               espyRenderer_SetViewQueries(renderer, view, hall.queries, 64, 64) == espyResult_Ok &&
               espyRenderer_BeginFrame(renderer) == espyResult_Ok &&
               espyRenderer_SetView(renderer, view, &look, NULL) == espyResult_Ok;
        // Without room for candidates nothing is culled by them; the cull itself goes on.
        assert_true(!done || espyRenderer_Cull(renderer, view) == espyResult_Ok);
        espyRenderer_Destroy(renderer);
        assert_int_equal(counter.blocks, 0);
        assert_int_equal(espyQuerySystem_GetObjectCount(hall.system), 0);
    }
    espyHall_Free(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_culls_what_is_hidden), cmocka_unit_test(test_never_asks_about_what_is_culled),
        cmocka_unit_test(test_follows_nodes),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
