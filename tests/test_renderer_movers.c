// SPDX-License-Identifier: MIT
// Moving occluders of the renderer: what they cull is hidden in truth made in double, nothing else is culled, and the
// lists, reasons and switches hold.
#include "test_main.h"

#include "hook_counter.h"
#include "raster_case.h"
#include "reference/raster_reference.h"
#include "task_case.h"

#include <espy/gameplay.h>
#include <espy/renderer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_THINGS 600u
#define ESPY_DOORS 3u
#define ESPY_WIDTH 160
#define ESPY_HEIGHT 90

/// Things all over a hall, and doors in front of some.
typedef struct espyHall
{
    espyWorld* world;
    espyNodeId things[ESPY_THINGS];
    espyNodeId doors[ESPY_DOORS];
    espyVec3 positions[8];
    uint32_t indices[36];
    espyOccluder* shapes[2]; ///< By mode.
    espyRaster* rasters[2];
    espyRenderer* renderer;
    espyViewId plain, views[2];
} espyHall;

static espyNodeId espyHall_Node(espyWorld* world, espyBox bounds, espyMat4 local, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId node;
    def.kind = espyNodeKind_Node3D;
    def.bounds = bounds;
    def.local = local;
    def.flags = flags;
    assert_int_equal(espyWorld_CreateNode(world, &def, &node), espyResult_Ok);
    return node;
}

static espyMat4 espyHall_Door(espyiRng* rng)
{
    float angle = 3.0f * espyiRng_Float(rng), x = -4.0f + 8.0f * espyiRng_Float(rng),
          z = -6.0f - 3.0f * espyiRng_Float(rng);
    espyMat4 m = espyMat4_Identity();
    m.m[0] = cosf(angle);
    m.m[2] = sinf(angle);
    m.m[8] = -sinf(angle);
    m.m[10] = cosf(angle);
    m.m[12] = x;
    m.m[14] = z;
    return m;
}

static espyHall espyHall_Make(uint64_t seed, const espyTasks* tasks)
{
    espyHall hall = {0};
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
        espyVec3 low = {30.0f * v[0] - 15.0f, 5.0f * v[1] - 2.5f, -28.0f * v[2]};
        espyBox box = {low, {low.x + 0.1f + v[3], low.y + 0.1f + v[4], low.z + 0.1f + v[5]}};
        uint32_t flags = espyNodeFlag_Dynamic | espyNodeFlag_OccludeeStatic;
        flags |= i % 3 == 0 ? espyNodeFlag_AlwaysUpdate : 0u;
        hall.things[i] = espyHall_Node(hall.world, box, espyMat4_Identity(), flags);
    }
    espyBox leaf = {{-1.6f, -2.0f, -0.1f}, {1.6f, 2.0f, 0.1f}};
    espyRasterCase_Box(leaf, hall.positions, hall.indices);
    for (uint32_t i = 0; i < ESPY_DOORS; ++i)
    {
        hall.doors[i] = espyHall_Node(hall.world, leaf, espyHall_Door(&rng), espyNodeFlag_Dynamic);
    }
    espyRendererDef rendererDef = espyRendererDef_Default();
    rendererDef.world = hall.world;
    rendererDef.tasks = tasks ? *tasks : rendererDef.tasks;
    assert_int_equal(espyRenderer_Create(&rendererDef, &hall.renderer), espyResult_Ok);
    espyRendererViewDef viewDef = espyRendererViewDef_Default();
    assert_int_equal(espyRenderer_CreateView(hall.renderer, &viewDef, &hall.plain), espyResult_Ok);
    for (int mode = 0; mode < 2; ++mode)
    {
        espyOccluderDef def = espyOccluderDef_Default();
        def.triangles = (espyTriangles){hall.positions, hall.indices, 8, 12};
        def.mode = (espyRasterMode)mode;
        assert_int_equal(espyOccluder_Create(&def, &hall.shapes[mode]), espyResult_Ok);
        espyRasterDef rasterDef = espyRasterDef_Default();
        rasterDef.mode = (espyRasterMode)mode;
        rasterDef.width = ESPY_WIDTH;
        rasterDef.height = ESPY_HEIGHT;
        rasterDef.reversedZ = true;
        assert_int_equal(espyRaster_Create(&rasterDef, &hall.rasters[mode]), espyResult_Ok);
        viewDef.raster = hall.rasters[mode];
        assert_int_equal(espyRenderer_CreateView(hall.renderer, &viewDef, &hall.views[mode]), espyResult_Ok);
    }
    return hall;
}

static void espyHall_Free(espyHall* hall)
{
    espyRenderer_Destroy(hall->renderer);
    for (int mode = 0; mode < 2; ++mode)
    {
        espyOccluder_Destroy(hall->shapes[mode]);
        espyRaster_Destroy(hall->rasters[mode]);
    }
    espyWorld_Destroy(hall->world);
}

/// Gives the doors their shape; the views of the other mode then have none.
static void espyHall_Shape(espyHall* hall, int mode)
{
    for (uint32_t i = 0; i < ESPY_DOORS; ++i)
    {
        assert_int_equal(espyRenderer_AddOccluder(hall->renderer, hall->doors[i], hall->shapes[mode]), espyResult_Ok);
    }
    assert_int_equal(espyRenderer_GetOccluderCount(hall->renderer), ESPY_DOORS);
    assert_int_equal(espyRenderer_BeginFrame(hall->renderer), espyResult_Ok);
}

static espyViewDef espyHall_Look(float x, float y)
{
    espyViewDef def = espyViewDef_Default();
    def.view = espyMat4_Identity();
    def.view.m[12] = -x;
    def.view.m[13] = -y;
    def.projection = espyMat4_Perspective(1.0f, 16.0f / 9.0f, 0.1f, 0.0f, true);
    def.reversedZ = true;
    return def;
}

static bool espyHall_Has(const espyDraw* draws, uint32_t count, espyNodeId node)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        if (draws[i].node.index1 == node.index1)
        {
            return true;
        }
    }
    return false;
}

/// The picture of the doors that are not hidden, eight times as fine as the raster where that is Conservative.
static espyReferenceImage espyHall_Draw(const espyHall* hall, const espyViewDef* def, int fine)
{
    espyReferenceImage image = espyReferenceImage_Create(ESPY_WIDTH * fine, ESPY_HEIGHT * fine, true, 0);
    espyTriangles leaf = {hall->positions, hall->indices, 8, 12};
    for (uint32_t i = 0; i < ESPY_DOORS; ++i)
    {
        espyMat4 toWorld = espyWorld_GetWorldTransform(hall->world, hall->doors[i]);
        espyMat4 clip = espyMat4_Multiply(espyMat4_Multiply(def->projection, def->view), toWorld);
        if (!(espyWorld_GetFlags(hall->world, hall->doors[i]) & espyNodeFlag_Hidden))
        {
            espyReferenceImage_Draw(&image, &leaf, &clip, i, false);
        }
    }
    return image;
}

/// Culled is what truth hides, the lists add up, and little that truth hides is drawn.
static void espyHall_Check(espyHall* hall, int mode, const espyViewDef* defs, uint32_t eyes, uint32_t* hidden,
                           uint32_t* leaks)
{
    espyViewId view = hall->views[mode];
    const espyViewDef* second = eyes > 1 ? &defs[1] : NULL;
    assert_int_equal(espyRenderer_SetView(hall->renderer, hall->plain, &defs[0], second), espyResult_Ok);
    assert_int_equal(espyRenderer_SetView(hall->renderer, view, &defs[0], second), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(hall->renderer, hall->plain), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(hall->renderer, view), espyResult_Ok);
    espyViewStats before = espyRenderer_GetViewStats(hall->renderer, hall->plain);
    espyViewStats after = espyRenderer_GetViewStats(hall->renderer, view);
    assert_int_equal(before.moverCulled, 0);
    assert_int_equal(after.counts.drawn + after.moverCulled, before.counts.drawn);
    assert_int_equal(after.counts.frustumCulled, before.counts.frustumCulled);
    assert_int_equal(after.counts.occlusionCulled, 0);
    espyReferenceImage images[2];
    espyMat4 clips[2];
    for (uint32_t eye = 0; eye < eyes; ++eye)
    {
        images[eye] = espyHall_Draw(hall, &defs[eye], mode == espyRasterMode_Sampled ? 1 : 8);
        clips[eye] = espyMat4_Multiply(defs[eye].projection, defs[eye].view);
    }
    uint32_t plainCount, count, updateCount, culled = 0, updatedCulled = 0, at = 0, atUpdate = 0;
    const espyDraw* plain = espyRenderer_GetDraws(hall->renderer, hall->plain, &plainCount);
    const espyDraw* draws = espyRenderer_GetDraws(hall->renderer, view, &count);
    const espyDraw* updates = espyRenderer_GetUpdates(hall->renderer, view, &updateCount);
    for (uint32_t i = 0; i < plainCount; ++i)
    {
        espyBox box = espyWorld_GetWorldBounds(hall->world, plain[i].node);
        bool shows = false, judged = true;
        for (uint32_t eye = 0; eye < eyes; ++eye)
        {
            espyReferenceAnswer answer =
                espyReferenceImage_TestBox(&images[eye], &clips[eye], box, mode == espyRasterMode_Sampled);
            shows = shows || answer == espyReferenceAnswer_Shows;
            judged = judged && answer != espyReferenceAnswer_CrossesNear;
        }
        // Both lists keep the order.
        bool drawn = at < count && draws[at].node.index1 == plain[i].node.index1;
        at += drawn ? 1u : 0u;
        *hidden += judged && !shows ? 1u : 0u;
        *leaks += judged && !shows && drawn ? 1u : 0u;
        if (!drawn)
        {
            assert_false(shows && judged);
            ++culled;
            if (espyWorld_GetFlags(hall->world, plain[i].node) & espyNodeFlag_AlwaysUpdate)
            {
                ++updatedCulled;
                assert_true(espyHall_Has(updates, updateCount, plain[i].node));
            }
        }
    }
    assert_int_equal(at, count);
    assert_int_equal(culled, after.moverCulled);
    assert_int_equal(after.counts.updatedCulled, before.counts.updatedCulled + updatedCulled);
    for (uint32_t i = 0; i < ESPY_THINGS; ++i)
    {
        atUpdate += atUpdate < updateCount && updates[atUpdate].node.index1 == hall->things[i].index1 ? 1u : 0u;
    }
    assert_int_equal(atUpdate, updateCount);
    for (uint32_t eye = 0; eye < eyes; ++eye)
    {
        espyReferenceImage_Destroy(&images[eye]);
    }
}

static void test_culls_what_is_hidden(void** state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
    {
        uint32_t hidden = 0, leaks = 0;
        for (uint64_t seed = 1; seed <= 8; ++seed)
        {
            espyHall hall = espyHall_Make(seed, NULL);
            espyiRng rng = espyiRng_Seed(seed + 50);
            espyHall_Shape(&hall, mode);
            for (uint32_t frame = 0; frame < 3; ++frame)
            {
                float x = 2.0f * espyiRng_Float(&rng) - 1.0f;
                espyViewDef defs[2] = {espyHall_Look(x, 0.2f), espyHall_Look(x + 0.064f, 0.2f)};
                espyRenderer_BeginFrame(hall.renderer);
                espyHall_Check(&hall, mode, defs, frame == 2 ? 2 : 1, &hidden, &leaks);
                // The doors move.
                for (uint32_t i = 0; i < ESPY_DOORS; ++i)
                {
                    assert_int_equal(espyWorld_SetLocalTransform(hall.world, hall.doors[i], espyHall_Door(&rng)),
                                     espyResult_Ok);
                }
            }
            espyHall_Free(&hall);
        }
        print_message("mode %d: %u hidden, %u of them drawn\n", mode, hidden, leaks);
        assert_true(hidden > 200);
        assert_true(leaks * (mode == espyRasterMode_Sampled ? 50u : 10u) < hidden);
    }
}

static void test_threads_give_the_same_lists(void** state)
{
    (void)state;
    const espyTasks tasks[2] = {espyTaskCase_Threads(4), espyTaskCase_Backwards(3)};
    espyViewDef def = espyHall_Look(0.1f, 0.3f);
    espyHall alone = espyHall_Make(77, NULL);
    espyHall_Shape(&alone, 1);
    espyRenderer_SetView(alone.renderer, alone.views[1], &def, NULL);
    assert_int_equal(espyRenderer_CullAll(alone.renderer), espyResult_Ok);
    uint32_t count, expected;
    const espyDraw* wanted = espyRenderer_GetDraws(alone.renderer, alone.views[1], &expected);
    assert_true(espyRenderer_GetViewStats(alone.renderer, alone.views[1]).moverCulled > 0);
    for (uint32_t t = 0; t < 2; ++t)
    {
        espyHall hall = espyHall_Make(77, &tasks[t]);
        espyHall_Shape(&hall, 1);
        espyRenderer_SetView(hall.renderer, hall.views[1], &def, NULL);
        assert_int_equal(espyRenderer_CullAll(hall.renderer), espyResult_Ok);
        const espyDraw* draws = espyRenderer_GetDraws(hall.renderer, hall.views[1], &count);
        assert_int_equal(count, expected);
        assert_memory_equal(draws, wanted, count * sizeof *draws);
        espyHall_Free(&hall);
    }
    espyHall_Free(&alone);
}

static uint32_t espyHall_Culled(espyHall* hall, const espyViewDef* def)
{
    espyRenderer_BeginFrame(hall->renderer);
    assert_int_equal(espyRenderer_SetView(hall->renderer, hall->views[1], def, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(hall->renderer, hall->views[1]), espyResult_Ok);
    espyRenderer_EndFrame(hall->renderer);
    uint32_t culled = espyRenderer_GetViewStats(hall->renderer, hall->views[1]).moverCulled;
    assert_int_equal(espyRenderer_GetFrameStats(hall->renderer).moverCulled, culled);
    return culled;
}

static void test_switches(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(5, NULL);
    espyViewDef def = espyHall_Look(0.0f, 0.0f);
    assert_int_equal(espyHall_Culled(&hall, &def), 0);
    espyHall_Shape(&hall, 1);
    uint32_t culled = espyHall_Culled(&hall, &def);
    char text[600];
    assert_true(culled > 0);
    espyRenderer_FormatStats(hall.renderer, text, sizeof text);
    assert_non_null(strstr(text, "behind moving occluders "));
    // Off with occlusion, in shadow views, for shapes of the other mode, and while the doors are hidden.
    espyRenderer_EnableOcclusionCulling(hall.renderer, false);
    assert_int_equal(espyHall_Culled(&hall, &def), 0);
    espyRenderer_EnableOcclusionCulling(hall.renderer, true);
    espyWorld_EnableOcclusionCulling(hall.world, false);
    assert_int_equal(espyHall_Culled(&hall, &def), 0);
    espyWorld_EnableOcclusionCulling(hall.world, true);
    espyViewDef shadow = def;
    shadow.shadow = true;
    assert_int_equal(espyHall_Culled(&hall, &shadow), 0);
    for (uint32_t i = 0; i < ESPY_DOORS; ++i)
    {
        espyWorld_SetFlags(hall.world, hall.doors[i], espyNodeFlag_Dynamic | espyNodeFlag_Hidden);
    }
    assert_int_equal(espyHall_Culled(&hall, &def), 0);
    for (uint32_t i = 0; i < ESPY_DOORS; ++i)
    {
        espyWorld_SetFlags(hall.world, hall.doors[i], espyNodeFlag_Dynamic);
    }
    assert_int_equal(espyHall_Culled(&hall, &def), culled);
    // Frozen, the picture stays; without the frustum pass what is outside is still not culled by doors.
    espyRenderer_FreezeView(hall.renderer, hall.views[1], true);
    espyViewDef away = espyHall_Look(50.0f, 0.0f);
    assert_int_equal(espyHall_Culled(&hall, &away), culled);
    espyRenderer_FreezeView(hall.renderer, hall.views[1], false);
    espyRenderer_EnableFrustumCulling(hall.renderer, false);
    assert_int_equal(espyHall_Culled(&hall, &def), culled);
    espyRenderer_EnableFrustumCulling(hall.renderer, true);
    // Destroyed, removed.
    assert_int_equal(espyWorld_DestroyNode(hall.world, hall.doors[0]), espyResult_Ok);
    assert_true(espyHall_Culled(&hall, &def) <= culled);
    assert_int_equal(espyRenderer_RemoveOccluder(hall.renderer, hall.doors[0]), espyResult_Ok);
    assert_int_equal(espyRenderer_RemoveOccluder(hall.renderer, hall.doors[0]), espyResult_InvalidId);
    assert_int_equal(espyRenderer_AddOccluder(hall.renderer, hall.doors[0], hall.shapes[1]), espyResult_InvalidId);
    assert_int_equal(espyRenderer_RemoveOccluder(hall.renderer, hall.doors[1]), espyResult_Ok);
    assert_int_equal(espyRenderer_RemoveOccluder(hall.renderer, hall.doors[2]), espyResult_Ok);
    assert_int_equal(espyRenderer_GetOccluderCount(hall.renderer), 0);
    assert_int_equal(espyHall_Culled(&hall, &def), 0);
    espyHall_Free(&hall);
}

static void test_errors(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(6, NULL);
    espyViewDef def = espyHall_Look(0.0f, 0.0f), other = def;
    other.reversedZ = false;
    other.projection = espyMat4_Perspective(1.0f, 1.0f, 0.1f, 0.0f, false);
    assert_int_equal(espyRenderer_AddOccluder(hall.renderer, hall.doors[0], NULL), espyResult_InvalidArgument);
    assert_int_equal(espyRenderer_SetView(hall.renderer, hall.views[0], &other, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyRenderer_SetView(hall.renderer, hall.views[0], &def, &other), espyResult_InvalidArgument);
    assert_int_equal(espyRenderer_SetView(hall.renderer, hall.plain, &other, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_SetView(hall.renderer, hall.views[0], &def, NULL), espyResult_Ok);
    // Room is made in BeginFrame and nowhere else.
    assert_int_equal(espyRenderer_AddOccluder(hall.renderer, hall.doors[0], hall.shapes[0]), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(hall.renderer, hall.views[0]), espyResult_LimitExceeded);
    assert_int_equal(espyRenderer_Cull(hall.renderer, hall.plain), espyResult_Ok);
    assert_int_equal(espyRenderer_BeginFrame(hall.renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(hall.renderer, hall.views[0]), espyResult_Ok);
    espyHall_Free(&hall);
}

static void test_out_of_memory(void** state)
{
    (void)state;
    espyHall hall = espyHall_Make(7, NULL);
    bool done = false;
    for (unsigned failAt = 1; !done; ++failAt)
    {
        espyHookCounter counter = {0};
        counter.failAt = failAt;
        espyRendererDef def = espyRendererDef_Default();
        espyRenderer* renderer = NULL;
        def.world = hall.world;
        def.hooks = espyHookCounter_Hooks(&counter);
        espyRendererViewDef viewDef = espyRendererViewDef_Default();
        espyViewId view = {0};
        espyViewDef look = espyHall_Look(0.0f, 0.0f);
        viewDef.raster = hall.rasters[0];
        done = espyRenderer_Create(&def, &renderer) == espyResult_Ok &&
               espyRenderer_AddOccluder(renderer, hall.doors[0], hall.shapes[0]) == espyResult_Ok &&
               espyRenderer_CreateView(renderer, &viewDef, &view) == espyResult_Ok &&
               espyRenderer_AddOccluder(renderer, hall.doors[1], hall.shapes[0]) == espyResult_Ok &&
               espyRenderer_BeginFrame(renderer) == espyResult_Ok &&
               espyRenderer_SetView(renderer, view, &look, NULL) == espyResult_Ok &&
               espyRenderer_Cull(renderer, view) == espyResult_Ok;
        espyRenderer_Destroy(renderer);
        assert_int_equal(counter.blocks, 0);
    }
    espyHall_Free(&hall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_culls_what_is_hidden),
        cmocka_unit_test(test_threads_give_the_same_lists),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
