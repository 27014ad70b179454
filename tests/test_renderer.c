// SPDX-License-Identifier: MIT
// The renderer over a world: its lists against what gameplay is told node by node, views beside each other, switches,
// counts, near planes at walls, shadows, stale files, memory.
#include "hook_counter.h"
#include "task_case.h"
#include "test_main.h"
#include "view_case.h"
#include "world_case.h"

#include <espy/debug_draw.h>
#include <espy/editor.h>
#include <espy/pack.h>
#include <espy/renderer.h>

#include <stdio.h>
#include <string.h>

// --- levels

typedef struct espyTestLevel
{
    espyWorldCase c;
    espyWorld* world;
    espyNodeId nodes[ESPY_WORLD_CASE_ENTRIES];
    espyDataId data;
    espyNodeId camera;
    espyRenderer* renderer;
    espyViewId main;
} espyTestLevel;

static espyViewId espyTest_View(espyRenderer* renderer, const char* name)
{
    espyRendererViewDef def = espyRendererViewDef_Default();
    espyViewId id;
    def.name = name;
    assert_int_equal(espyRenderer_CreateView(renderer, &def, &id), espyResult_Ok);
    return id;
}

static espyRenderer* espyTest_Renderer(const espyWorld* world, const espyTasks* tasks)
{
    espyRendererDef def = espyRendererDef_Default();
    espyRenderer* renderer;
    def.world = world;
    if (tasks)
    {
        def.tasks = *tasks;
    }
    assert_int_equal(espyRenderer_Create(&def, &renderer), espyResult_Ok);
    return renderer;
}

static void espyTestLevel_Make(espyTestLevel* level, uint64_t seed)
{
    level->c = espyWorldCase_Make(seed, false);
    level->world = espyWorldCase_World(NULL, false);
    espyWorldCase_Nodes(level->world, &level->c, (espyVec3){0}, level->nodes);
    level->data = espyWorldCase_Load(level->world, &level->c, (espyVec3){0});
    level->camera = espyWorldCase_Camera(level->world, (espyVec3){0.5f, 3.0f, 0.5f});
    level->renderer = espyTest_Renderer(level->world, NULL);
    level->main = espyTest_View(level->renderer, "main");
}

static void espyTestLevel_Free(espyTestLevel* level)
{
    espyRenderer_Destroy(level->renderer);
    espyWorld_Destroy(level->world);
    espyWorldCase_Free(&level->c);
}

static bool espyTest_Lists(const espyDraw* draws, uint32_t count, espyNodeId node)
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

static bool espyTest_Draws(const espyRenderer* renderer, espyViewId view, espyNodeId node)
{
    uint32_t count;
    const espyDraw* draws = espyRenderer_GetDraws(renderer, view, &count);
    return espyTest_Lists(draws, count, node);
}

static bool espyTest_Updates(const espyRenderer* renderer, espyViewId view, espyNodeId node)
{
    uint32_t count;
    const espyDraw* draws = espyRenderer_GetUpdates(renderer, view, &count);
    return espyTest_Lists(draws, count, node);
}

static void espyTest_Place(espyWorld* world, espyNodeId camera, espyVec3 eye, espyVec3 forward)
{
    espyMat4 view = espyViewCase_LookAlong(eye, forward), transform;
    assert_true(espyMat4_InvertAffine(view, &transform));
    assert_int_equal(espyWorld_SetLocalTransform(world, camera, transform), espyResult_Ok);
}

static void espyTest_Frame(espyTestLevel* level)
{
    assert_int_equal(espyRenderer_BeginFrame(level->renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(level->renderer, level->main, level->camera, false), espyResult_Ok);
    assert_int_equal(espyRenderer_CullAll(level->renderer), espyResult_Ok);
    espyRenderer_EndFrame(level->renderer);
}

// --- against gameplay

/// Every occludee that has its bounds is drawn exactly where gameplay says that the camera sees it.
static void lists_agree_with_gameplay(void** state)
{
    (void)state;
    uint32_t drawn = 0, occluded = 0, outside = 0;
    for (uint64_t seed = 1; seed <= 6; ++seed)
    {
        espyTestLevel level;
        espyTestLevel_Make(&level, seed);
        espyiRng rng = espyiRng_Seed(seed);
        for (uint32_t i = 0; i < 60; ++i)
        {
            espyVec3 eye = {espyWorldCase_Random(&rng, -9.0f, 18.0f), espyWorldCase_Random(&rng, -1.0f, 10.0f),
                            espyWorldCase_Random(&rng, -9.0f, 18.0f)};
            espyVec3 forward = espyViewCase_Direction(&rng);
            espyTest_Place(level.world, level.camera, eye, forward);
            // Something moves, something hides.
            uint32_t entry = ESPY_WORLD_CASE_OCCLUDERS + espyiRng_Below(&rng, ESPY_WORLD_CASE_OCCLUDEES);
            espyVec3 place = level.c.boxes[entry].min;
            place.x += espyiRng_Below(&rng, 2) == 0 ? 0.0f : 2.0f;
            (void)espyWorld_SetLocalTransform(level.world, level.nodes[entry], espyWorldCase_At(place));
            entry = ESPY_WORLD_CASE_OCCLUDERS + espyiRng_Below(&rng, ESPY_WORLD_CASE_OCCLUDEES);
            uint32_t flags = espyWorld_GetFlags(level.world, level.nodes[entry]);
            (void)espyWorld_SetFlags(level.world, level.nodes[entry], flags ^ espyNodeFlag_Hidden);
            espyTest_Frame(&level);
            for (uint32_t k = ESPY_WORLD_CASE_OCCLUDERS; k < ESPY_WORLD_CASE_ENTRIES; ++k)
            {
                bool seen = espyWorld_IsSeenByCamera(level.world, level.nodes[k], level.camera);
                assert_int_equal(espyTest_Draws(level.renderer, level.main, level.nodes[k]), seen);
            }
            espyViewStats stats = espyRenderer_GetViewStats(level.renderer, level.main);
            drawn += stats.counts.drawn;
            occluded += stats.counts.occlusionCulled;
            outside += stats.counts.frustumCulled;
        }
        espyTestLevel_Free(&level);
    }
    assert_true(drawn > 500 && occluded > 500 && outside > 500);
}

// --- baked levels

static void espyTest_Box(espyWorld* world, espyVec3 min, espyVec3 max, uint32_t flags, const char* name)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = espyWorldCase_Mesh(world, (espyVec3){max.x - min.x, max.y - min.y, max.z - min.z});
    def.local = espyWorldCase_At(min);
    def.flags = flags | espyNodeFlag_CastsShadow;
    def.name = name;
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
}

static espyNodeId espyTest_Named(const espyWorld* world, const char* name)
{
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeDef def;
        espyNodeId id = espyWorld_GetNodeAt(world, i);
        if (espyWorld_GetNode(world, id, &def) == espyResult_Ok && def.name && strcmp(def.name, name) == 0)
        {
            return id;
        }
    }
    fail_msg("no node %s", name);
    return (espyNodeId){0};
}

/// Two closed rooms of 4 x 4 x 8 m from x = 0 on; the wall between them ends at the border of the cells, x = 4. A crate
/// stands in each.
static espyWorld* espyTest_TwoRooms(void)
{
    espyWorldDef worldDef = espyWorldDef_Default();
    espyWorld* world;
    assert_int_equal(espyWorld_Create(&worldDef, &world), espyResult_Ok);
    uint32_t wall = espyNodeFlag_OccluderStatic;
    espyTest_Box(world, (espyVec3){-0.5f, -0.5f, -0.5f}, (espyVec3){8.5f, 0, 8.5f}, wall, "floor");
    espyTest_Box(world, (espyVec3){-0.5f, 4, -0.5f}, (espyVec3){8.5f, 4.5f, 8.5f}, wall, "ceiling");
    espyTest_Box(world, (espyVec3){-0.5f, 0, -0.5f}, (espyVec3){0, 4, 8.5f}, wall, "west");
    espyTest_Box(world, (espyVec3){8, 0, -0.5f}, (espyVec3){8.5f, 4, 8.5f}, wall, "east");
    espyTest_Box(world, (espyVec3){0, 0, -0.5f}, (espyVec3){8, 4, 0}, wall, "north");
    espyTest_Box(world, (espyVec3){0, 0, 8}, (espyVec3){8, 4, 8.5f}, wall, "south");
    espyTest_Box(world, (espyVec3){3.9375f, 0, 0}, (espyVec3){4, 4, 8}, wall, "between");
    espyTest_Box(world, (espyVec3){1, 0, 1}, (espyVec3){2, 1, 2}, espyNodeFlag_OccludeeStatic, "crate A");
    espyTest_Box(world, (espyVec3){6, 0, 4}, (espyVec3){7, 1, 5}, espyNodeFlag_OccludeeStatic, "crate B");
    espyNodeDef area = espyNodeDef_Default();
    espyNodeId id;
    area.kind = espyNodeKind_OcclusionArea;
    area.local = espyMat4_FromTrs((espyVec3){4, 2, 4}, (float[4]){0, 0, 0, 1}, (espyVec3){8, 4, 8});
    assert_int_equal(espyWorld_CreateNode(world, &area, &id), espyResult_Ok);
    return world;
}

/// Bakes a world with 2 m cells and loads the file into it. The bake owns the bytes.
static espyDataId espyTest_Bake(espyWorld* world, espyBakeResult* baked)
{
    espyBakeDef def = espyBakeDef_Default();
    espyGathered* gathered;
    espyDataDef data = espyDataDef_Default();
    espyDataId id;
    def.cellSize = 2.0f;
    def.threads = 1;
    assert_int_equal(espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered), espyResult_Ok);
    assert_int_equal(espyBake_Run(espyGathered_GetInput(gathered), &def, baked), espyResult_Ok);
    espyGathered_Destroy(gathered);
    data.bytes = baked->data;
    data.size = baked->size;
    assert_int_equal(espyWorld_AddData(world, &data, &id, NULL), espyResult_Ok);
    assert_false(espyWorld_IsOcclusionDataStale(world));
    return id;
}

/// The eye 3 cm from a wall, near plane 0.1 m: the wall is clipped, the room behind it is in view.
static void a_near_plane_behind_a_wall_sees_the_room(void** state)
{
    (void)state;
    espyWorld* world = espyTest_TwoRooms();
    espyBakeResult baked;
    espyTest_Bake(world, &baked);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, baked.data, baked.size, NULL), espyResult_Ok);
    espyNodeId crate = espyTest_Named(world, "crate B");
    uint32_t slot = espyWorld_GetNodeData(world, crate).slot;
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "main");
    static const float walls[2] = {0.5f, 0.03f};
    for (uint32_t i = 0; i < 8; ++i)
    {
        // Far from the wall and near it; perspective and orthographic; plain and reversed depth.
        bool near = (i & 1u) != 0;
        espyVec3 eye = {3.9375f - walls[near], 1.0f, 4.5f};
        espyViewDef def = espyViewDef_Default();
        def.reversedZ = (i & 4u) != 0;
        def.view = espyViewCase_LookAlong(eye, (espyVec3){1, 0, 0});
        def.projection = (i & 2u) != 0 ? espyMat4_Orthographic(-0.5f, 0.5f, -0.5f, 0.5f, 0.1f, 50.0f, def.reversedZ)
                                       : espyMat4_Perspective(1.2f, 1.0f, 0.1f, 50.0f, def.reversedZ);
        // The eye's own cell does not see the crate: by it alone the crate would be lost.
        assert_int_equal(espyPvs_TestSlot(&pvs, espyPvs_FindCell(&pvs, eye), slot), espyVisibility_Occluded);
        assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
        assert_int_equal(espyRenderer_SetView(renderer, view, &def, NULL), espyResult_Ok);
        assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
        assert_int_equal(espyTest_Draws(renderer, view, crate), near);
    }
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
}

/// A mirror on the wall between the rooms, seen from room B: its eye stands in room A, behind the wall, and must not
/// see what that room hides or holds.
static void a_mirror_looks_from_its_wall(void** state)
{
    (void)state;
    espyWorld* world = espyTest_TwoRooms();
    espyBakeResult baked;
    espyTest_Bake(world, &baked);
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "mirror");
    espyViewDef def = espyViewDef_Default(), mirrored;
    def.view = espyViewCase_LookAlong((espyVec3){5.5f, 1.5f, 4.5f}, (espyVec3){-1, 0, 0});
    def.projection = espyMat4_Perspective(0.8f, 1.0f, 0.1f, 50.0f, false);
    assert_true(espyViewDef_Mirror(&def, (espyPlane){{1, 0, 0}, -4.03125f}, &mirrored));
    assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_SetView(renderer, view, &mirrored, NULL), espyResult_Ok);
    assert_true(espyRenderer_GetView(renderer, view)->eyes[0].eye.x < 4.0f);
    assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
    assert_true(espyTest_Draws(renderer, view, espyTest_Named(world, "crate B")));
    assert_false(espyTest_Draws(renderer, view, espyTest_Named(world, "crate A")));
    assert_true(espyRenderer_GetViewStats(renderer, view).cells > 0);
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
}

/// Row 17: drop-outs while the camera crosses between two rooms, in a strip that belongs to neither.
static void report_17_crossing_a_wall_in_small_steps(void** state)
{
    (void)state;
    espyWorld* world = espyTest_TwoRooms();
    espyBakeResult baked;
    espyTest_Bake(world, &baked);
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "main");
    espyNodeId crates[2] = {espyTest_Named(world, "crate A"), espyTest_Named(world, "crate B")};
    for (int step = -100; step <= 900; ++step)
    {
        espyVec3 eye = {(float)step * 0.01f, 1.5f, 4.5f};
        espyViewDef def = espyViewDef_Default();
        def.view = espyViewCase_LookAlong(eye, (espyVec3){1, 0, 0});
        // All around: an orthographic slab as large as the level would leave the cells, so the frustum is switched off.
        assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
        espyRenderer_EnableFrustumCulling(renderer, false);
        assert_int_equal(espyRenderer_SetView(renderer, view, &def, NULL), espyResult_Ok);
        assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
        bool a = espyTest_Draws(renderer, view, crates[0]), b = espyTest_Draws(renderer, view, crates[1]);
        float nearPlane = eye.x + 0.1f;
        // Outside: everything. Within a room: its own crate. At the border of the cells: both.
        assert_true(a || nearPlane > 4.0f);
        assert_true(b || nearPlane < 4.0f);
        assert_true((a && b) || (nearPlane >= 0.0f && nearPlane <= 8.0f));
    }
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
}

/// Row 5: orthographic cameras cull nothing, or go wrong when zoomed.
static void report_05_zoom_alone_changes_nothing(void** state)
{
    (void)state;
    espyWorld* world = espyTest_TwoRooms();
    espyBakeResult baked;
    espyTest_Bake(world, &baked);
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "main");
    for (int zoom = 0; zoom < 40; ++zoom)
    {
        // Within the cell the picture grows from 2 cm to 1.9 m.
        float half = 0.01f + (float)zoom * 0.024f;
        espyViewDef def = espyViewDef_Default();
        def.view = espyViewCase_LookAlong((espyVec3){2.5f, 1.0f, 5.0f}, (espyVec3){1, 0, 0});
        def.projection = espyMat4_Orthographic(-half, half, -half, half, 0.1f, 50.0f, zoom % 2 != 0);
        def.reversedZ = zoom % 2 != 0;
        assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
        espyRenderer_EnableFrustumCulling(renderer, false);
        assert_int_equal(espyRenderer_SetView(renderer, view, &def, NULL), espyResult_Ok);
        assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
        assert_false(espyTest_Draws(renderer, view, espyTest_Named(world, "crate B")));
        assert_int_equal(espyRenderer_GetViewStats(renderer, view).counts.occlusionCulled, 1);
    }
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
}

/// Row 45: culling from the player's feet rather than the eye.
static void report_45_the_eye_decides(void** state)
{
    (void)state;
    espyWorld* world = espyTest_TwoRooms();
    espyBakeResult baked;
    espyTest_Bake(world, &baked);
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId player, camera;
    assert_int_equal(espyWorld_CreateNode(world, &def, &player), espyResult_Ok);
    // The player stands in room B, the camera 4 m behind in room A, as its child.
    assert_int_equal(espyWorld_SetLocalTransform(world, player, espyWorldCase_At((espyVec3){6, 1, 5})), espyResult_Ok);
    def.kind = espyNodeKind_Camera3D;
    def.parent = player;
    assert_true(
        espyMat4_InvertAffine(espyViewCase_LookAlong((espyVec3){-4, 0.5f, 0}, (espyVec3){1, 0, 0}), &def.local));
    assert_int_equal(espyWorld_CreateNode(world, &def, &camera), espyResult_Ok);
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "main");
    assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(renderer, view, camera, false), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(renderer, view, player, false), espyResult_InvalidId);
    assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
    assert_false(espyTest_Draws(renderer, view, espyTest_Named(world, "crate B")));
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
}

/// Row 15: an object that walks from indoors to outdoors keeps its old visibility.
static void report_15_moving_things_are_looked_up_anew(void** state)
{
    (void)state;
    espyWorld* world = espyTest_TwoRooms();
    espyBakeResult baked;
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId walker;
    espyTest_Bake(world, &baked);
    def.kind = espyNodeKind_SkeletalMesh3D;
    def.bounds = (espyBox){{-0.25f, 0, -0.25f}, {0.25f, 1, 0.25f}};
    def.flags = espyNodeFlag_Dynamic | espyNodeFlag_AlwaysUpdate;
    assert_int_equal(espyWorld_CreateNode(world, &def, &walker), espyResult_Ok);
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "main");
    espyViewDef camera = espyViewDef_Default();
    camera.view = espyViewCase_LookAlong((espyVec3){1.0f, 1.5f, 5.0f}, (espyVec3){1, 0, 0});
    for (int step = -20; step < 120; ++step)
    {
        espyVec3 place = {(float)step * 0.125f, 0.5f, 5.0f};
        assert_int_equal(espyWorld_SetLocalTransform(world, walker, espyWorldCase_At(place)), espyResult_Ok);
        assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
        espyRenderer_EnableFrustumCulling(renderer, false);
        assert_int_equal(espyRenderer_SetView(renderer, view, &camera, NULL), espyResult_Ok);
        assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
        bool drawn = espyTest_Draws(renderer, view, walker);
        // In the camera's own room, and wherever the file knows nothing.
        assert_true(drawn || (place.x > 3.5f && place.x < 8.5f));
        assert_int_equal(espyTest_Updates(renderer, view, walker), !drawn);
    }
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyBake_Free(&baked);
}

// --- several files

/// Row 31: loading a second baked area stops the first one from working.
static void report_31_files_work_side_by_side(void** state)
{
    (void)state;
    espyWorldCase c = espyWorldCase_Make(3, false);
    espyWorld* world = espyWorldCase_World(NULL, false);
    espyNodeId nodes[2][ESPY_WORLD_CASE_ENTRIES];
    espyVec3 offsets[2] = {{0, 0, 0}, {128.0f, 0, 0}};
    espyDataId data[2];
    for (uint32_t i = 0; i < 2; ++i)
    {
        espyWorldCase_Nodes(world, &c, offsets[i], nodes[i]);
        data[i] = espyWorldCase_Load(world, &c, offsets[i]);
    }
    espyRenderer* renderer = espyTest_Renderer(world, NULL);
    espyViewId view = espyTest_View(renderer, "main");
    uint32_t culledOf[2] = {0, 0};
    for (uint32_t i = 0; i < 3; ++i)
    {
        // In the first file, in the second, then in the second with the first one gone.
        uint32_t in = i == 0 ? 0 : 1;
        if (i == 2)
        {
            assert_int_equal(espyWorld_RemoveData(world, data[0]), espyResult_Ok);
        }
        espyViewDef def = espyViewDef_Default();
        def.view.m[12] = -0.5f - offsets[in].x;
        def.view.m[13] = -3.0f;
        def.view.m[14] = -0.5f;
        assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
        espyRenderer_EnableFrustumCulling(renderer, false);
        assert_int_equal(espyRenderer_SetView(renderer, view, &def, NULL), espyResult_Ok);
        assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
        uint32_t culled = 0;
        for (uint32_t k = 0; k < ESPY_WORLD_CASE_ENTRIES; ++k)
        {
            // What belongs to the file that the camera is not in is drawn.
            assert_true(espyTest_Draws(renderer, view, nodes[1 - in][k]));
            culled += espyTest_Draws(renderer, view, nodes[in][k]) ? 0u : 1u;
        }
        assert_true(culled > 0);
        culledOf[in] = i == 1 ? culled : culledOf[in];
        assert_true(i != 2 || culled == culledOf[1]);
        espyViewStats stats = espyRenderer_GetViewStats(renderer, view);
        assert_int_equal(stats.files, i == 2 ? 1 : 2);
        assert_int_equal(stats.filesUsed, 1);
        assert_int_equal(stats.counts.occlusionCulled, culled);
    }
    espyRenderer_Destroy(renderer);
    espyWorld_Destroy(world);
    espyWorldCase_Free(&c);
}

/// A renderer keeps the words of its sets while the cells stay the same: whatever files come and go meanwhile, in
/// memory that is used again, it must answer like one that has just been made.
static void words_that_are_kept_are_never_wrong(void** state)
{
    (void)state;
    enum
    {
        files = 3
    };
    espyWorldCase cases[files];
    espyPackResult packed[files];
    espyDataId loaded[files] = {{0, 0}};
    espyWorld* world = espyWorldCase_World(NULL, false);
    espyNodeId nodes[ESPY_WORLD_CASE_ENTRIES];
    uint8_t* memory[files] = {NULL};
    for (uint32_t i = 0; i < files; ++i)
    {
        cases[i] = espyWorldCase_Make(40 + i, false);
        espyWorldCase_Nodes(world, &cases[i], (espyVec3){0}, nodes);
        assert_int_equal(espyPack_Pack(cases[i].file.file, cases[i].file.size, NULL, &packed[i]), espyResult_Ok);
        size_t most = packed[i].size > cases[i].file.size ? packed[i].size : cases[i].file.size;
        memory[i] = aligned_alloc(64, (most + 63u) / 64u * 64u);
    }
    espyRenderer* kept = espyTest_Renderer(world, NULL);
    espyViewId views[2];
    espyRendererViewDef viewDef = espyRendererViewDef_Default();
    viewDef.frustum = false;
    assert_int_equal(espyRenderer_CreateView(kept, &viewDef, &views[0]), espyResult_Ok);
    espyiRng rng = espyiRng_Seed(77);
    uint32_t culled = 0;
    for (uint32_t step = 0; step < 400; ++step)
    {
        uint32_t i = espyiRng_Below(&rng, files);
        if (loaded[i].index1 != 0)
        {
            assert_int_equal(espyWorld_RemoveData(world, loaded[i]), espyResult_Ok);
            loaded[i] = (espyDataId){0, 0};
        }
        else if (espyiRng_Below(&rng, 2) == 0)
        {
            // Plain or packed, always at one of the same addresses.
            bool pack = espyiRng_Below(&rng, 2) == 0;
            espyDataDef def = espyDataDef_Default();
            def.size = pack ? packed[i].size : cases[i].file.size;
            memcpy(memory[i], pack ? packed[i].data : cases[i].file.file, def.size);
            def.bytes = memory[i];
            assert_int_equal(espyWorld_AddData(world, &def, &loaded[i], NULL), espyResult_Ok);
        }
        espyViewDef def = espyViewDef_Default();
        float x = espyiRng_Below(&rng, 3) == 0 ? 1.0f : 4.0f;
        def.view = espyViewCase_LookAlong((espyVec3){x + 0.02f, 3.0f, 1.0f}, (espyVec3){1, 0.1f, 0});
        espyRenderer* fresh = espyTest_Renderer(world, NULL);
        assert_int_equal(espyRenderer_CreateView(fresh, &viewDef, &views[1]), espyResult_Ok);
        espyRenderer* both[2] = {kept, fresh};
        const espyDraw* draws[2];
        uint32_t counts[2];
        for (uint32_t k = 0; k < 2; ++k)
        {
            assert_int_equal(espyRenderer_BeginFrame(both[k]), espyResult_Ok);
            assert_int_equal(espyRenderer_SetView(both[k], views[k], &def, NULL), espyResult_Ok);
            assert_int_equal(espyRenderer_Cull(both[k], views[k]), espyResult_Ok);
            draws[k] = espyRenderer_GetDraws(both[k], views[k], &counts[k]);
        }
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(draws[0], draws[1], counts[0] * sizeof *draws[0]);
        culled += espyRenderer_GetViewStats(fresh, views[1]).counts.occlusionCulled;
        espyRenderer_Destroy(fresh);
    }
    assert_true(culled > 1000);
    espyRenderer_Destroy(kept);
    espyWorld_Destroy(world);
    for (uint32_t i = 0; i < files; ++i)
    {
        free(memory[i]);
        espyPack_Free(&packed[i]);
        espyWorldCase_Free(&cases[i]);
    }
}

static void a_stale_file_hides_nothing(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 2);
    espyRenderer_EnableFrustumCulling(level.renderer, false);
    espyTest_Frame(&level);
    assert_true(espyRenderer_GetNumOcclusionCulled(level.renderer) > 0);
    espyVec3 place = level.c.boxes[0].min;
    place.y += 1.0f;
    assert_int_equal(espyWorld_SetLocalTransform(level.world, level.nodes[0], espyWorldCase_At(place)), espyResult_Ok);
    assert_true(espyWorld_IsOcclusionDataStale(level.world));
    espyTest_Frame(&level);
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(level.renderer), 0);
    assert_int_equal(espyRenderer_GetViewStats(level.renderer, level.main).filesUsed, 0);
    espyTestLevel_Free(&level);
}

// --- views, switches, counts

static void switches_and_counts_follow_the_requirement(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 4);
    espyRenderer* r = level.renderer;
    assert_true(espyRenderer_IsOcclusionCullingEnabled(r) && espyRenderer_IsFrustumCullingEnabled(r));
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r) + espyRenderer_GetNumFrustumCulled(r), 0);
    espyTest_Frame(&level);
    uint32_t occlusion = espyRenderer_GetNumOcclusionCulled(r), frustum = espyRenderer_GetNumFrustumCulled(r);
    uint32_t drawn = espyRenderer_GetFrameStats(r).counts.drawn;
    assert_true(occlusion > 0 && frustum > 0 && drawn > 0);
    // A second view of the same camera doubles the sums, and the main view's own counts stay.
    espyViewId second = espyTest_View(r, "second screen");
    assert_int_equal(espyRenderer_BeginFrame(r), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(r, level.main, level.camera, false), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(r, second, level.camera, true), espyResult_Ok);
    assert_int_equal(espyRenderer_CullAll(r), espyResult_Ok);
    // Until the frame ends the sums are those of the last one.
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r), occlusion);
    espyRenderer_EndFrame(r);
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r), 2 * occlusion);
    assert_int_equal(espyRenderer_GetNumFrustumCulled(r), 2 * frustum);
    assert_int_equal(espyRenderer_GetFrameStats(r).views, 2);
    assert_int_equal(espyRenderer_GetViewStats(r, level.main).counts.occlusionCulled, occlusion);
    assert_int_equal(espyRenderer_GetViewStats(r, second).counts.drawn, drawn);
    // A view that is not culled in a frame does not count in it.
    assert_int_equal(espyRenderer_BeginFrame(r), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(r, second), espyResult_Ok);
    espyRenderer_EndFrame(r);
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r), occlusion);
    assert_int_equal(espyRenderer_DestroyView(r, second), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(r, second), espyResult_InvalidId);
    // Switched off, what was occluded is drawn or outside.
    espyRenderer_EnableOcclusionCulling(r, false);
    assert_false(espyRenderer_IsOcclusionCullingEnabled(r));
    espyTest_Frame(&level);
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r), 0);
    assert_true(espyRenderer_GetNumFrustumCulled(r) >= frustum);
    assert_int_equal(espyRenderer_GetNumFrustumCulled(r) + espyRenderer_GetFrameStats(r).counts.drawn,
                     occlusion + frustum + drawn);
    espyRenderer_EnableFrustumCulling(r, false);
    espyTest_Frame(&level);
    assert_int_equal(espyRenderer_GetNumFrustumCulled(r), 0);
    assert_int_equal(espyRenderer_GetFrameStats(r).counts.drawn, occlusion + frustum + drawn);
    espyRenderer_EnableOcclusionCulling(r, true);
    espyTest_Frame(&level);
    // Without the frustum, occlusion counts are the same: it comes first.
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r), occlusion);
    // The world's switch counts as well.
    espyWorld_EnableOcclusionCulling(level.world, false);
    espyTest_Frame(&level);
    assert_int_equal(espyRenderer_GetNumOcclusionCulled(r), 0);
    espyTestLevel_Free(&level);
}

static void an_editors_own_view_is_never_culled(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 4);
    espyRendererViewDef def = espyRendererViewDef_Default();
    espyViewId editor;
    def.occlusion = def.frustum = false;
    assert_int_equal(espyRenderer_CreateView(level.renderer, &def, &editor), espyResult_Ok);
    assert_int_equal(espyRenderer_BeginFrame(level.renderer), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(level.renderer, editor, level.camera, false), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(level.renderer, editor), espyResult_Ok);
    espyViewStats stats = espyRenderer_GetViewStats(level.renderer, editor);
    assert_int_equal(stats.counts.drawn, ESPY_WORLD_CASE_ENTRIES);
    assert_int_equal(stats.counts.occlusionCulled + stats.counts.frustumCulled, 0);
    espyTestLevel_Free(&level);
}

static void frozen_views_keep_what_they_cull_with(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 5);
    espyTest_Frame(&level);
    espyViewStats before = espyRenderer_GetViewStats(level.renderer, level.main);
    assert_int_equal(espyRenderer_FreezeView(level.renderer, level.main, true), espyResult_Ok);
    espyTest_Place(level.world, level.camera, (espyVec3){-7, 7, 7}, (espyVec3){1, -1, -1});
    espyTest_Frame(&level);
    espyViewStats frozen = espyRenderer_GetViewStats(level.renderer, level.main);
    assert_memory_equal(&frozen, &before, sizeof before);
    assert_true(espyRenderer_IsViewFrozen(level.renderer, level.main));
    assert_int_equal(espyRenderer_FreezeView(level.renderer, level.main, false), espyResult_Ok);
    espyTest_Frame(&level);
    espyViewStats after = espyRenderer_GetViewStats(level.renderer, level.main);
    assert_memory_not_equal(&after, &before, sizeof before);
    espyTestLevel_Free(&level);
}

/// Row 33: a thing that only casts a shadow counts as seen. And shadow casters are never occlusion-culled.
static void report_33_shadows_use_their_frustum_alone(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 6);
    espyRenderer* r = level.renderer;
    espyViewId sun = espyTest_View(r, "sun");
    uint32_t casters = 0;
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        uint32_t flags = espyWorld_GetFlags(level.world, level.nodes[i]);
        flags = i % 3 == 0 ? flags & ~(uint32_t)espyNodeFlag_CastsShadow : flags | espyNodeFlag_CastsShadow;
        assert_int_equal(espyWorld_SetFlags(level.world, level.nodes[i], flags), espyResult_Ok);
        casters += i % 3 == 0 ? 0u : 1u;
    }
    espyViewDef def = espyViewDef_Default();
    def.shadow = true;
    def.view = espyViewCase_LookAlong((espyVec3){0.25f, 30.0f, 0.25f}, (espyVec3){0, -1, 0});
    def.projection = espyMat4_Orthographic(-20, 20, -20, 20, 0.1f, 60.0f, false);
    assert_int_equal(espyRenderer_BeginFrame(r), espyResult_Ok);
    assert_int_equal(espyRenderer_SetView(r, sun, &def, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_SetCamera(r, level.main, level.camera, false), espyResult_Ok);
    assert_int_equal(espyRenderer_CullAll(r), espyResult_Ok);
    espyViewStats stats = espyRenderer_GetViewStats(r, sun);
    assert_int_equal(stats.counts.drawn, casters);
    assert_int_equal(stats.counts.withoutShadow, ESPY_WORLD_CASE_ENTRIES - casters);
    assert_int_equal(stats.counts.occlusionCulled, 0);
    // The main view, and what gameplay is told, do not know of it.
    uint32_t shadowOnly = 0;
    for (uint32_t i = ESPY_WORLD_CASE_OCCLUDERS; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        bool seen = espyWorld_IsSeenByCamera(level.world, level.nodes[i], level.camera);
        assert_int_equal(espyTest_Draws(r, level.main, level.nodes[i]), seen);
        shadowOnly += !seen && espyTest_Draws(r, sun, level.nodes[i]) ? 1u : 0u;
    }
    assert_true(shadowOnly > 0);
    // A shadow view placed in a cell does not use it either.
    def.view = espyViewCase_LookAlong((espyVec3){0.5f, 3.0f, 0.5f}, (espyVec3){0, -1, 0});
    def.projection = espyMat4_Orthographic(-0.2f, 0.2f, -0.2f, 0.2f, 0.1f, 60.0f, false);
    assert_int_equal(espyRenderer_SetView(r, sun, &def, NULL), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(r, sun), espyResult_Ok);
    assert_int_equal(espyRenderer_GetViewStats(r, sun).counts.occlusionCulled, 0);
    espyTestLevel_Free(&level);
}

static void what_always_updates_is_listed_while_culled(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 7);
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        uint32_t flags = espyWorld_GetFlags(level.world, level.nodes[i]) | (i % 2 == 0 ? espyNodeFlag_AlwaysUpdate : 0);
        flags |= i % 10 == 0 ? espyNodeFlag_Hidden : 0;
        // Occluders that hide would make the file stale.
        flags &= i < ESPY_WORLD_CASE_OCCLUDERS ? ~(uint32_t)espyNodeFlag_Hidden : ~0u;
        assert_int_equal(espyWorld_SetFlags(level.world, level.nodes[i], flags), espyResult_Ok);
    }
    espyTest_Frame(&level);
    uint32_t updated = 0;
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        uint32_t flags = espyWorld_GetFlags(level.world, level.nodes[i]);
        bool drawn = espyTest_Draws(level.renderer, level.main, level.nodes[i]);
        bool wanted = !drawn && (flags & espyNodeFlag_AlwaysUpdate) != 0 && (flags & espyNodeFlag_Hidden) == 0;
        assert_int_equal(espyTest_Updates(level.renderer, level.main, level.nodes[i]), wanted);
        updated += wanted ? 1u : 0u;
    }
    assert_true(updated > 0);
    espyTestLevel_Free(&level);
}

static void stats_are_put_into_words(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 4);
    espyTest_Frame(&level);
    char text[1024], part[1024], wanted[1024];
    size_t length = espyRenderer_FormatStats(level.renderer, text, sizeof text);
    assert_int_equal(strlen(text), length);
    espyViewStats s = espyRenderer_GetFrameStats(level.renderer);
    char line[256];
    snprintf(line, sizeof line,
             ": drawn %u, frustum culled %u, occlusion culled %u, hidden %u; files %u of %u, cells %u", s.counts.drawn,
             s.counts.frustumCulled, s.counts.occlusionCulled, s.counts.hidden, s.filesUsed, s.files, s.cells);
    snprintf(wanted, sizeof wanted, "occlusion culling on, frustum culling on\nframe, views 1%s\nmain%s\n", line, line);
    assert_string_equal(text, wanted);
    for (size_t size = 0; size <= length + 2; ++size)
    {
        memset(part, '#', sizeof part);
        assert_int_equal(espyRenderer_FormatStats(level.renderer, part, size), length);
        size_t kept = size == 0 ? 0 : size - 1 < length ? size - 1 : length;
        assert_memory_equal(part, text, kept);
        assert_int_equal(part[kept], size == 0 ? '#' : '\0');
        assert_int_equal(part[size], '#');
    }
    assert_int_equal(espyRenderer_FormatStats(level.renderer, NULL, 100), length);
    espyTestLevel_Free(&level);
}

// --- threads, records, memory

/// Row 7: identical results every run and with every thread count.
static void report_07_threads_and_runs_give_the_same_lists(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 8);
    espyTasks tasks[3] = {{0}, espyTaskCase_Backwards(2), espyTaskCase_Threads(4)};
    espyDraw lists[9][ESPY_WORLD_CASE_ENTRIES];
    uint32_t counts[9];
    for (uint32_t t = 0; t < 3; ++t)
    {
        espyRenderer* r = espyTest_Renderer(level.world, &tasks[t]);
        espyViewId views[9];
        espyiRng rng = espyiRng_Seed(3);
        assert_int_equal(espyRenderer_BeginFrame(r), espyResult_Ok);
        for (uint32_t i = 0; i < 9; ++i)
        {
            espyViewDef def = espyViewCase_Random(&rng, (espyBox){{-8, 0, -8}, {8, 8, 8}});
            views[i] = espyTest_View(r, "probe");
            assert_int_equal(espyRenderer_SetView(r, views[i], &def, NULL), espyResult_Ok);
        }
        for (uint32_t run = 0; run < 10; ++run)
        {
            assert_int_equal(espyRenderer_CullAll(r), espyResult_Ok);
            for (uint32_t i = 0; i < 9; ++i)
            {
                uint32_t count;
                const espyDraw* draws = espyRenderer_GetDraws(r, views[i], &count);
                if (t == 0 && run == 0)
                {
                    memcpy(lists[i], draws, count * sizeof *draws);
                    counts[i] = count;
                }
                assert_int_equal(count, counts[i]);
                assert_memory_equal(draws, lists[i], count * sizeof *draws);
            }
        }
        espyRenderer_Destroy(r);
    }
    espyTestLevel_Free(&level);
}

/// One thread culls two views over and over, another reads and culls two more, while files come and go.
typedef struct espyTestStream
{
    espyTestLevel* level;
    espyViewId views[4];
    uint32_t failed[3];
} espyTestStream;

static void espyTestStream_Run(void* job, uint32_t index)
{
    espyTestStream* stream = job;
    for (uint32_t i = 0; i < 200; ++i)
    {
        if (index == 2)
        {
            espyDataDef def = espyDataDef_Default();
            espyDataId id;
            def.bytes = stream->level->c.file.file;
            def.size = stream->level->c.file.size;
            def.offset = (espyVec3){256.0f, 0, 0};
            bool ok = espyWorld_AddData(stream->level->world, &def, &id, NULL) == espyResult_Ok &&
                      espyWorld_RemoveData(stream->level->world, id) == espyResult_Ok;
            stream->failed[2] += ok ? 0u : 1u;
            continue;
        }
        for (uint32_t v = 0; v < 2; ++v)
        {
            uint32_t count;
            espyResult result = espyRenderer_Cull(stream->level->renderer, stream->views[2 * index + v]);
            const espyDraw* draws =
                espyRenderer_GetDraws(stream->level->renderer, stream->views[2 * index + v], &count);
            // A file that came since BeginFrame may be more than there is room for.
            bool ok = result == espyResult_Ok ? draws && count > 0 : result == espyResult_LimitExceeded && count == 0;
            stream->failed[index] += ok ? 0u : 1u;
        }
    }
}

static void views_are_culled_while_files_come_and_go(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 9);
    espyTestStream stream = {.level = &level};
    for (uint32_t i = 0; i < 4; ++i)
    {
        stream.views[i] = espyTest_View(level.renderer, "view");
        assert_int_equal(espyRenderer_SetCamera(level.renderer, stream.views[i], level.camera, i % 2 == 0),
                         espyResult_Ok);
    }
    assert_int_equal(espyRenderer_BeginFrame(level.renderer), espyResult_Ok);
    espyTasks tasks = espyTaskCase_Threads(3);
    tasks.parallelFor(tasks.context, 3, espyTestStream_Run, &stream);
    assert_int_equal(stream.failed[0] + stream.failed[1] + stream.failed[2], 0);
    espyRenderer_EndFrame(level.renderer);
    (void)espyWorld_CollectData(level.world);
    espyTestLevel_Free(&level);
}

typedef struct espyTestBytes
{
    uint8_t* bytes;
    size_t size;
} espyTestBytes;

static bool espyTest_Append(const void* bytes, size_t size, void* context)
{
    espyTestBytes* to = context;
    uint8_t* grown = realloc(to->bytes, to->size + size);
    if (grown)
    {
        memcpy(grown + to->size, bytes, size);
        to->bytes = grown;
        to->size += size;
    }
    return grown != NULL;
}

static void a_recorded_frame_answers_the_same(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 10);
    espyTestBytes bytes = {0};
    espyCullRecorder recorder = {.write = espyTest_Append, .context = &bytes};
    espyRenderer_SetRecorder(level.renderer, &recorder);
    espyTest_Frame(&level);
    espyTest_Place(level.world, level.camera, (espyVec3){-3, 5, 3}, (espyVec3){1, -0.2f, -0.5f});
    espyTest_Frame(&level);
    espyRenderer_SetRecorder(level.renderer, NULL);
    espyTest_Frame(&level);
    assert_int_equal(recorder.result, espyResult_Ok);
    espyCullReplayDef def = espyCullReplayDef_Default();
    espyCullReplayResult result;
    assert_int_equal(espyCullReplay_Run(bytes.bytes, bytes.size, &def, &result, NULL), espyResult_Ok);
    // Two frames of one view over the group of loose nodes and that of the file.
    assert_int_equal(result.calls, 4);
    assert_int_equal(result.differing, 0);
    free(bytes.bytes);
    espyTestLevel_Free(&level);
}

static void a_world_that_outgrows_the_frame_is_told(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 11);
    espyTest_Frame(&level);
    for (uint32_t i = 0; i < 200; ++i)
    {
        espyNodeDef def = espyNodeDef_Default();
        espyNodeId id;
        def.bounds = (espyBox){{0, 0, 0}, {1, 1, 1}};
        assert_int_equal(espyWorld_CreateNode(level.world, &def, &id), espyResult_Ok);
    }
    uint32_t count;
    assert_int_equal(espyRenderer_Cull(level.renderer, level.main), espyResult_LimitExceeded);
    (void)espyRenderer_GetDraws(level.renderer, level.main, &count);
    assert_int_equal(count, 0);
    assert_int_equal(espyRenderer_CullAll(level.renderer), espyResult_LimitExceeded);
    espyTest_Frame(&level);
    (void)espyRenderer_GetDraws(level.renderer, level.main, &count);
    assert_true(count > 0);
    espyTestLevel_Free(&level);
}

static void no_allocation_that_fails_is_lost(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 12);
    bool done = false;
    for (unsigned n = 1; !done; ++n)
    {
        espyHookCounter counter = {.failAt = n};
        espyRendererDef def = espyRendererDef_Default();
        espyRenderer* renderer = NULL;
        def.world = level.world;
        def.hooks = espyHookCounter_Hooks(&counter);
        espyResult result = espyRenderer_Create(&def, &renderer);
        if (result == espyResult_Ok)
        {
            espyRendererViewDef viewDef = espyRendererViewDef_Default();
            espyViewId view;
            result = espyRenderer_CreateView(renderer, &viewDef, &view);
            if (result == espyResult_Ok)
            {
                done = true;
                unsigned calls = counter.calls;
                counter.failAt = calls + 1u;
                // Frames ask for nothing.
                assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
                assert_int_equal(espyRenderer_SetCamera(renderer, view, level.camera, false), espyResult_Ok);
                assert_int_equal(espyRenderer_CullAll(renderer), espyResult_Ok);
                espyRenderer_EndFrame(renderer);
                assert_int_equal(counter.calls, calls);
                // A world that grew, and no memory: told by BeginFrame and by the cull.
                for (uint32_t i = 0; i < 300; ++i)
                {
                    espyNodeDef node = espyNodeDef_Default();
                    espyNodeId id;
                    assert_int_equal(espyWorld_CreateNode(level.world, &node, &id), espyResult_Ok);
                }
                assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_OutOfMemory);
                assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_LimitExceeded);
                counter.failAt = 0;
                assert_int_equal(espyRenderer_BeginFrame(renderer), espyResult_Ok);
                assert_int_equal(espyRenderer_Cull(renderer, view), espyResult_Ok);
            }
        }
        assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
        espyRenderer_Destroy(renderer);
        assert_int_equal(counter.blocks, 0);
        assert_true(n < 100);
    }
    espyTestLevel_Free(&level);
}

static void callers_mistakes_have_defined_results(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 13);
    espyRenderer* r = level.renderer;
    espyRendererDef def = espyRendererDef_Default();
    espyRenderer* out = r;
    espyViewId none = {0}, far = {ESPY_RENDERER_MAX_VIEWS + 1, 1}, id;
    assert_int_equal(espyRenderer_Create(NULL, &out), espyResult_InvalidArgument);
    assert_int_equal(espyRenderer_Create(&def, &out), espyResult_InvalidArgument);
    assert_null(out);
    def.world = level.world;
    def.cookie = 0;
    assert_int_equal(espyRenderer_Create(&def, &out), espyResult_InvalidArgument);
    espyRendererViewDef viewDef = {0};
    assert_int_equal(espyRenderer_CreateView(r, &viewDef, &id), espyResult_InvalidArgument);
    viewDef = espyRendererViewDef_Default();
    viewDef.name = "a name that is longer than a view's name may be by far";
    for (uint32_t i = 1; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        assert_int_equal(espyRenderer_CreateView(r, &viewDef, &id), espyResult_Ok);
    }
    assert_int_equal(espyRenderer_CreateView(r, &viewDef, &id), espyResult_LimitExceeded);
    espyViewDef view = espyViewDef_Default();
    const espyViewId bad[2] = {none, far};
    for (uint32_t i = 0; i < 2; ++i)
    {
        uint32_t count = 5;
        assert_int_equal(espyRenderer_SetView(r, bad[i], &view, NULL), espyResult_InvalidId);
        assert_int_equal(espyRenderer_SetCamera(r, bad[i], level.camera, false), espyResult_InvalidId);
        assert_int_equal(espyRenderer_FreezeView(r, bad[i], true), espyResult_InvalidId);
        assert_false(espyRenderer_IsViewFrozen(r, bad[i]));
        assert_int_equal(espyRenderer_DestroyView(r, bad[i]), espyResult_InvalidId);
        assert_int_equal(espyRenderer_Cull(r, bad[i]), espyResult_InvalidId);
        assert_null(espyRenderer_GetDraws(r, bad[i], &count));
        assert_int_equal(count, 0);
        assert_null(espyRenderer_GetUpdates(r, bad[i], &count));
        assert_null(espyRenderer_GetView(r, bad[i]));
        assert_int_equal(espyRenderer_GetViewStats(r, bad[i]).views, 0);
    }
    view.cookie = 0;
    assert_int_equal(espyRenderer_SetView(r, level.main, &view, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyRenderer_SetView(r, level.main, NULL, NULL), espyResult_InvalidArgument);
    // A view that was never set sees everything.
    assert_int_equal(espyRenderer_BeginFrame(r), espyResult_Ok);
    assert_int_equal(espyRenderer_Cull(r, level.main), espyResult_Ok);
    assert_int_equal(espyRenderer_GetViewStats(r, level.main).counts.drawn, ESPY_WORLD_CASE_ENTRIES);
    espyRenderer_Destroy(NULL);
    espyTestLevel_Free(&level);
}

// --- debug drawing

typedef struct espyTestDrawn
{
    uint32_t cyan, boxes, greenBoxes, redBoxes, greenLines, redLines, lines;
    espyBox all[512];
    uint32_t colors[512];
} espyTestDrawn;

static void espyTest_OnBox(espyBox box, uint32_t color, void* context)
{
    espyTestDrawn* drawn = context;
    assert_true(drawn->boxes < 512);
    drawn->all[drawn->boxes] = box;
    drawn->colors[drawn->boxes++] = color;
    drawn->cyan += color == ESPY_DEBUG_CYAN ? 1u : 0u;
    drawn->greenBoxes += color == ESPY_DEBUG_GREEN ? 1u : 0u;
    drawn->redBoxes += color == ESPY_DEBUG_RED ? 1u : 0u;
}

static void espyTest_OnLine(espyVec3 from, espyVec3 to, uint32_t color, void* context)
{
    espyTestDrawn* drawn = context;
    (void)from;
    (void)to;
    ++drawn->lines;
    drawn->greenLines += color == ESPY_DEBUG_GREEN ? 1u : 0u;
    drawn->redLines += color == ESPY_DEBUG_RED ? 1u : 0u;
}

static void the_preview_shows_what_is_culled(void** state)
{
    (void)state;
    espyTestLevel level;
    espyTestLevel_Make(&level, 14);
    espyRenderer_EnableFrustumCulling(level.renderer, false);
    espyTest_Place(level.world, level.nodes[ESPY_WORLD_CASE_ENTRIES - 1], (espyVec3){100, 0, 0}, (espyVec3){0, 0, -1});
    espyTest_Frame(&level);
    const espyView* view = espyRenderer_GetView(level.renderer, level.main);
    espyTestDrawn* drawn = calloc(1, sizeof *drawn);
    espyDebugDraw draw = {espyTest_OnLine, espyTest_OnBox, drawn};
    espyWorld_DrawOcclusion(level.world, view, level.nodes, ESPY_WORLD_CASE_ENTRIES, &draw);
    espyViewStats stats = espyRenderer_GetViewStats(level.renderer, level.main);
    assert_int_equal(drawn->cyan, 1);
    assert_int_equal(drawn->redBoxes, stats.counts.occlusionCulled);
    assert_true(drawn->redBoxes > 0);
    assert_int_equal(drawn->greenBoxes, stats.cells + ESPY_WORLD_CASE_OCCLUDEES - drawn->redBoxes);
    assert_int_equal(drawn->redLines, drawn->redBoxes);
    assert_int_equal(drawn->greenLines, drawn->greenBoxes - stats.cells);
    // The volume of the file, and each red box belongs to a node that is not drawn.
    for (uint32_t i = 0; i < drawn->boxes; ++i)
    {
        for (uint32_t k = ESPY_WORLD_CASE_OCCLUDERS; k < ESPY_WORLD_CASE_ENTRIES - 1u; ++k)
        {
            espyBox bounds = espyWorld_GetQueryBounds(level.world, level.nodes[k]);
            if (memcmp(&bounds, &drawn->all[i], sizeof bounds) == 0)
            {
                assert_int_equal(drawn->colors[i] == ESPY_DEBUG_GREEN,
                                 espyTest_Draws(level.renderer, level.main, level.nodes[k]));
            }
        }
    }
    // One selected node, one line; without callbacks nothing happens.
    memset(drawn, 0, sizeof *drawn);
    espyWorld_DrawOcclusion(level.world, view, &level.nodes[ESPY_WORLD_CASE_OCCLUDERS], 1, &draw);
    assert_int_equal(drawn->lines, 1);
    espyWorld_DrawOcclusion(level.world, view, level.nodes, 3, &(espyDebugDraw){0});
    // Nothing is known: all green.
    memset(drawn, 0, sizeof *drawn);
    espyWorld_EnableOcclusionCulling(level.world, false);
    espyWorld_DrawOcclusion(level.world, view, NULL, 0, &draw);
    assert_int_equal(drawn->redBoxes, 0);
    assert_int_equal(drawn->greenBoxes, ESPY_WORLD_CASE_OCCLUDEES);
    memset(drawn, 0, sizeof *drawn);
    espyView_Draw(view, 10.0f, ESPY_DEBUG_RED, &draw);
    assert_int_equal(drawn->redLines, 12);
    espyDebugDraw_BoxLines(&draw, (espyBox){{0, 0, 0}, {1, 1, 1}}, ESPY_DEBUG_GREEN);
    assert_int_equal(drawn->greenLines, 12);
    free(drawn);
    espyTestLevel_Free(&level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_agree_with_gameplay),
        cmocka_unit_test(a_near_plane_behind_a_wall_sees_the_room),
        cmocka_unit_test(a_mirror_looks_from_its_wall),
        cmocka_unit_test(report_17_crossing_a_wall_in_small_steps),
        cmocka_unit_test(report_05_zoom_alone_changes_nothing),
        cmocka_unit_test(report_45_the_eye_decides),
        cmocka_unit_test(report_15_moving_things_are_looked_up_anew),
        cmocka_unit_test(report_31_files_work_side_by_side),
        cmocka_unit_test(words_that_are_kept_are_never_wrong),
        cmocka_unit_test(a_stale_file_hides_nothing),
        cmocka_unit_test(switches_and_counts_follow_the_requirement),
        cmocka_unit_test(an_editors_own_view_is_never_culled),
        cmocka_unit_test(frozen_views_keep_what_they_cull_with),
        cmocka_unit_test(report_33_shadows_use_their_frustum_alone),
        cmocka_unit_test(what_always_updates_is_listed_while_culled),
        cmocka_unit_test(stats_are_put_into_words),
        cmocka_unit_test(report_07_threads_and_runs_give_the_same_lists),
        cmocka_unit_test(views_are_culled_while_files_come_and_go),
        cmocka_unit_test(a_recorded_frame_answers_the_same),
        cmocka_unit_test(a_world_that_outgrows_the_frame_is_told),
        cmocka_unit_test(no_allocation_that_fails_is_lost),
        cmocka_unit_test(callers_mistakes_have_defined_results),
        cmocka_unit_test(the_preview_shows_what_is_culled),
    };
    return cmocka_run_group_tests_name("renderer", tests, NULL, NULL);
}
