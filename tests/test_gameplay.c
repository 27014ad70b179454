// SPDX-License-Identifier: MIT
// What a camera sees, as game code asks: cases that people met elsewhere, and the rules that a random history cannot
// show.
#include "test_main.h"

#include <espy/editor.h>
#include <espy/pack.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "scenes/scenes.h"
#include "tests/hook_counter.h"
#include "tests/world_case.h"

/// Rooms of 8 m behind doors of 1 m, baked.
typedef struct espyPlay
{
    espyWorld* world;
    espyBakeResult file;
    espyPvs pvs;
    espyDataId data;
    espyNodeId camera;
} espyPlay;

static espyPlay espyPlay_Make(uint32_t size)
{
    espyPlay p = {0};
    espyGathered* gathered;
    assert_int_equal(espyScene_Build("rooms", size, 1, &p.world), espyResult_Ok);
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(p.world, &def);
    def.quality = espyBakeQuality_Low;
    def.threads = 1;
    assert_int_equal(espyEditor_Gather(p.world, def.cellSize, 0.0f, NULL, &gathered), espyResult_Ok);
    assert_int_equal(espyBake_Run(espyGathered_GetInput(gathered), &def, &p.file), espyResult_Ok);
    espyGathered_Destroy(gathered);
    assert_int_equal(espyPvs_Load(&p.pvs, p.file.data, p.file.size, NULL), espyResult_Ok);
    espyDataDef data = espyDataDef_Default();
    data.bytes = p.file.data;
    data.size = p.file.size;
    assert_int_equal(espyWorld_AddData(p.world, &data, &p.data, NULL), espyResult_Ok);
    p.camera = espyWorldCase_Camera(p.world, (espyVec3){4, 1.7f, 4});
    return p;
}

static void espyPlay_End(espyPlay* p)
{
    espyWorld_Destroy(p->world);
    espyBake_Free(&p->file);
}

static void espyPlay_Look(espyPlay* p, espyVec3 eye, espyVec3 target)
{
    float dx = target.x - eye.x, dz = target.z - eye.z;
    float s = 1.0f, c = 0.0f, length = dx * dx + dz * dz;
    if (length > 0.0f)
    {
        for (int i = 0; i < 40; ++i)
        {
            s = 0.5f * (s + length / s);
        }
        c = dz / s;
        s = dx / s;
    }
    // Columns: right, up, backwards.
    espyMat4 m = {{-c, 0, s, 0, 0, 1, 0, 0, -s, 0, -c, 0, eye.x, eye.y, eye.z, 1}};
    espyWorld_SetLocalTransform(p->world, p->camera, m);
}

static uint32_t espyPlay_Seen(const espyPlay* p, espyNodeId camera, espyNodeId* out, uint32_t capacity)
{
    uint32_t count;
    assert_int_equal(espyWorld_GetSeenByCamera(p->world, NULL, 0, camera, out, capacity, &count), espyResult_Ok);
    return count;
}

static espyNodeId espyPlay_Spawn(espyPlay* p, espyVec3 at, uint32_t flags, espyNodeId parent)
{
    espyNodeDef def = espyNodeDef_Default();
    def.bounds = (espyBox){{-0.25f, -0.25f, -0.25f}, {0.25f, 0.25f, 0.25f}};
    def.local = espyWorldCase_At(at);
    def.flags = flags;
    def.parent = parent;
    espyNodeId node;
    assert_int_equal(espyWorld_CreateNode(p->world, &def, &node), espyResult_Ok);
    return node;
}

// An orthographic camera culled nothing, or rubbish when it was zoomed out.
static void report_05_orthographic_zoom(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    const espyVec3 eye = {2.0f, 1.0f, 1.0f};
    espyPlay_Look(&p, eye, (espyVec3){2.0f, 1.0f, 20.0f});
    static espyNodeId before[2048], now[2048];
    espyCamera camera = {.orthographic = true, .aspect = 1, .nearDistance = 0.1f, .farDistance = 100};
    uint32_t beforeCount = 0, hidden = 0;
    for (float half = 0.0625f; half <= 256.0f; half *= 2.0f)
    {
        camera.halfHeight = half;
        assert_int_equal(espyWorld_SetCamera(p.world, p.camera, &camera), espyResult_Ok);
        uint32_t count = espyPlay_Seen(&p, p.camera, now, 2048), common = 0;
        // A wider picture never shows less.
        for (uint32_t i = 0; i < beforeCount; ++i)
        {
            for (uint32_t k = 0; k < count; ++k)
            {
                common += now[k].index1 == before[i].index1 ? 1 : 0;
            }
        }
        assert_int_equal(common, beforeCount);
        espyWorld_EnableOcclusionCulling(p.world, false);
        uint32_t inFrustum = espyPlay_Seen(&p, p.camera, before, 2048);
        espyWorld_EnableOcclusionCulling(p.world, true);
        hidden += inFrustum - count;
        // As soon as it looks from outside the cells, too, all in the frustum counts as seen.
        assert_true(half < 8.0f || count == inFrustum);
        memcpy(before, now, sizeof now);
        beforeCount = count;
    }
    assert_true(hidden > 0);

    // Between perspective cameras far away with a slightly narrower and a slightly wider angle.
    camera.halfHeight = 2.0f;
    espyWorld_SetCamera(p.world, p.camera, &camera);
    espyWorld_EnableOcclusionCulling(p.world, false);
    uint32_t count = espyPlay_Seen(&p, p.camera, now, 2048);
    const float distance = 8192.0f;
    espyPlay_Look(&p, (espyVec3){eye.x, eye.y, eye.z - distance}, (espyVec3){2.0f, 1.0f, 20.0f});
    for (int wide = 0; wide < 2; ++wide)
    {
        camera = (espyCamera){.verticalFov = (wide ? 1.02f : 0.98f) * 2.0f * 2.0f / distance,
                              .aspect = 1,
                              .nearDistance = distance + 0.1f,
                              .farDistance = distance + 100.0f};
        espyWorld_SetCamera(p.world, p.camera, &camera);
        beforeCount = espyPlay_Seen(&p, p.camera, before, 2048);
        uint32_t common = 0;
        for (uint32_t i = 0; i < beforeCount; ++i)
        {
            for (uint32_t k = 0; k < count; ++k)
            {
                common += now[k].index1 == before[i].index1 ? 1 : 0;
            }
        }
        assert_int_equal(common, wide ? count : beforeCount);
    }
    assert_true(beforeCount > 0);
    espyPlay_End(&p);
}

// Moving an occluder that is switched off cost as much as one that is on.
static void report_11_hidden_occluder_moves_for_free(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyNodeId wall = {0};
    espyWorld_GetOccluderState(p.world, p.data, 0, &wall);
    espyNodeDef def;
    espyWorld_GetNode(p.world, wall, &def);
    espyWorld_SetFlags(p.world, wall, def.flags | espyNodeFlag_Hidden);
    static espyNodeId before[2048], now[2048];
    uint32_t count = espyPlay_Seen(&p, p.camera, before, 2048);
    for (int i = 0; i < 100; ++i)
    {
        def.local.m[12] += 0.25f;
        espyWorld_SetLocalTransform(p.world, wall, def.local);
        assert_int_equal(espyWorld_GetOccluderState(p.world, p.data, 0, NULL), espyOccluderState_Hidden);
        assert_int_equal(espyPlay_Seen(&p, p.camera, now, 2048), count);
        assert_memory_equal(before, now, count * sizeof before[0]);
    }
    espyPlay_End(&p);
}

// What was carried out of its room kept the answer of the place that it came from.
static void report_15_carried_from_room_to_room(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyNodeId thing = espyPlay_Spawn(&p, (espyVec3){4, 1, 4}, espyNodeFlag_OccludeeStatic, (espyNodeId){0});
    espyVec3 eye = {1.25f, 1.5f, 1.25f};
    int32_t cell = espyPvs_FindCell(&p.pvs, eye);
    assert_true(cell >= 0);
    uint32_t hidden = 0;
    for (float x = -12.0f; x < 24.0f; x += 0.25f)
    {
        espyWorld_SetLocalTransform(p.world, thing, espyWorldCase_At((espyVec3){x, 1.25f, x}));
        // Look at it, so that the frustum has no say.
        espyPlay_Look(&p, eye, (espyVec3){x, 1.25f, x});
        espyBox box = {{x - 0.25f, 1.0f, x - 0.25f}, {x + 0.25f, 1.5f, x + 0.25f}};
        bool expected = espyPvs_TestBox(&p.pvs, cell, box) != espyVisibility_Occluded;
        assert_int_equal(espyWorld_IsSeenByCamera(p.world, thing, p.camera), expected);
        hidden += expected ? 0 : 1;
    }
    assert_true(hidden > 0);
    espyPlay_End(&p);
}

// Frames with too little in them while a camera crossed from room to room.
static void report_17_walk_in_centimetres(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    static espySceneKey keys[256];
    uint32_t keyCount = espyScene_GetPath(espySceneKind_Rooms, 2, 1, keys, 256);
    assert_in_range(keyCount, 2, 256);
    uint32_t steps = 0, hidden = 0;
    for (uint32_t k = 0; k + 1 < keyCount && steps < 2000; ++k)
    {
        float seconds = keys[k + 1].seconds - keys[k].seconds;
        uint32_t count = (uint32_t)(seconds * 150.0f) + 1; // 1.5 m a second
        for (uint32_t i = 0; i < count; ++i, ++steps)
        {
            float t = (float)i / (float)count;
            espyVec3 a = keys[k].eye, b = keys[k + 1].eye;
            espyVec3 eye = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
            espyPlay_Look(&p, eye, keys[k + 1].target);
            int32_t cell = espyPvs_FindCell(&p.pvs, eye);
            for (uint32_t slot = 0; slot < p.pvs.occludeeCount; ++slot)
            {
                espyNodeId node = espyWorld_FindSource(p.world, espyPvs_GetOccludeeNode(&p.pvs, slot));
                bool seen = espyWorld_IsSeenByCamera(p.world, node, p.camera);
                bool inFrustum = espyWorld_CouldSeeBox(p.world, p.camera, espyWorld_GetQueryBounds(p.world, node)) !=
                                 espyVisibility_Outside;
                // Whatever the eye's own cell sees is seen: a near rectangle only ever adds cells.
                assert_true(seen || !inFrustum || espyPvs_TestSlot(&p.pvs, cell, slot) == espyVisibility_Occluded);
                hidden += inFrustum && !seen ? 1 : 0;
            }
        }
    }
    assert_true(hidden > 0);
    // Outside every cell all in the frustum is seen.
    espyPlay_Look(&p, (espyVec3){-30, 1.5f, 4}, (espyVec3){4, 1.5f, 4});
    static espyNodeId with[2048], without[2048];
    uint32_t count = espyPlay_Seen(&p, p.camera, with, 2048);
    espyWorld_EnableOcclusionCulling(p.world, false);
    assert_int_equal(espyPlay_Seen(&p, p.camera, without, 2048), count);
    espyPlay_End(&p);
}

// A new object was reported unseen in its first frame.
static void report_19_seen_in_the_first_frame(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyPlay_Look(&p, (espyVec3){2, 1.5f, 2}, (espyVec3){4, 1.5f, 2});
    espyNodeId thing = espyPlay_Spawn(&p, (espyVec3){3.5f, 1.5f, 2}, espyNodeFlag_Dynamic, (espyNodeId){0});
    assert_true(espyWorld_IsSeenByCamera(p.world, thing, p.camera));
    static espyNodeId seen[2048];
    uint32_t count = espyPlay_Seen(&p, p.camera, seen, 2048);
    bool listed = false;
    for (uint32_t i = 0; i < count; ++i)
    {
        listed = listed || seen[i].index1 == thing.index1;
    }
    assert_true(listed);
    // And one that takes its place is somebody else, at once.
    espyWorld_DestroyNode(p.world, thing);
    assert_false(espyWorld_IsSeenByCamera(p.world, thing, p.camera));
    espyNodeId next = espyPlay_Spawn(&p, (espyVec3){3.5f, 1.5f, 2}, 0, (espyNodeId){0});
    assert_true(espyWorld_IsSeenByCamera(p.world, next, p.camera));
    espyPlay_End(&p);
}

typedef struct espyManyThreads
{
    const espyPlay* play;
    espyNodeId seen[4096];
    uint32_t count;
} espyManyThreads;

static void* espyManyThreads_Run(void* argument)
{
    espyManyThreads* t = argument;
    for (int i = 0; i < 5; ++i)
    {
        t->count = espyPlay_Seen(t->play, t->play->camera, t->seen, 4096);
    }
    return NULL;
}

// Lists flickered in very full scenes, only with many threads.
static void report_21_many_objects_many_threads(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyiRng rng = espyiRng_Seed(5);
    for (uint32_t i = 0; i < 20000; ++i)
    {
        float x = espyWorldCase_Random(&rng, 0, 16), y = espyWorldCase_Random(&rng, 0.5f, 2);
        float z = espyWorldCase_Random(&rng, 0, 16);
        espyPlay_Spawn(&p, (espyVec3){x, y, z}, espyNodeFlag_Dynamic, (espyNodeId){0});
    }
    static espyManyThreads threads[8];
    pthread_t handles[8];
    for (int i = 0; i < 8; ++i)
    {
        threads[i].play = &p;
        assert_int_equal(pthread_create(&handles[i], NULL, espyManyThreads_Run, &threads[i]), 0);
    }
    static espyManyThreads alone;
    alone.play = &p;
    espyManyThreads_Run(&alone);
    assert_true(alone.count > 100);
    for (int i = 0; i < 8; ++i)
    {
        pthread_join(handles[i], NULL);
        assert_int_equal(threads[i].count, alone.count);
        uint32_t kept = alone.count < 4096 ? alone.count : 4096;
        assert_memory_equal(threads[i].seen, alone.seen, kept * sizeof alone.seen[0]);
    }
    espyPlay_End(&p);
}

// A second camera culled with the first one's matrix.
static void report_29_cameras_do_not_share_state(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyPlay_Look(&p, (espyVec3){2, 1.5f, 2}, (espyVec3){4, 1.5f, 2});
    espyNodeId main = p.camera;
    p.camera = espyWorldCase_Camera(p.world, (espyVec3){0, 0, 0});
    espyPlay_Look(&p, (espyVec3){13, 0.5f, 13}, (espyVec3){12, 0.5f, 2});
    static espyNodeId a[2048], b[2048], now[2048];
    uint32_t aCount = espyPlay_Seen(&p, main, a, 2048), bCount = espyPlay_Seen(&p, p.camera, b, 2048);
    assert_true(aCount != bCount || memcmp(a, b, aCount * sizeof a[0]) != 0);
    for (int i = 0; i < 4; ++i)
    {
        assert_int_equal(espyPlay_Seen(&p, main, now, 2048), aCount);
        assert_memory_equal(now, a, aCount * sizeof a[0]);
        assert_int_equal(espyPlay_Seen(&p, p.camera, now, 2048), bCount);
        assert_memory_equal(now, b, bCount * sizeof b[0]);
    }
    espyPlay_End(&p);
}

// Loading a second area stopped the first one from working.
static void report_31_two_areas_side_by_side(void** state)
{
    (void)state;
    espyWorldCase c = espyWorldCase_Make(11, false);
    espyWorld* world = espyWorldCase_World(NULL, false);
    espyNodeId near[ESPY_WORLD_CASE_ENTRIES], far[ESPY_WORLD_CASE_ENTRIES];
    const espyVec3 there = {32, 0, 0};
    espyWorldCase_Nodes(world, &c, (espyVec3){0, 0, 0}, near);
    espyWorldCase_Nodes(world, &c, there, far);
    espyNodeId camera = espyWorldCase_Camera(world, (espyVec3){0.5f, 2, 7.5f});
    uint32_t alone[3] = {0};
    espyDataId first = espyWorldCase_Load(world, &c, (espyVec3){0, 0, 0}), second = {0};
    for (int step = 0; step < 3; ++step)
    {
        // With one, with both, after the first one went: the camera walks over.
        if (step == 1)
        {
            second = espyWorldCase_Load(world, &c, there);
        }
        if (step == 2)
        {
            assert_int_equal(espyWorld_RemoveData(world, first), espyResult_Ok);
        }
        espyWorld_SetLocalTransform(world, camera, espyWorldCase_At((espyVec3){step == 2 ? 32.5f : 0.5f, 2, 7.5f}));
        for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
        {
            alone[step] += espyWorld_IsSeenByCamera(world, step == 2 ? far[i] : near[i], camera) ? 1 : 0;
            // What belongs to the file that the camera is not in stays visible.
            espyNodeId other = step == 2 ? near[i] : far[i];
            bool occludee = i >= ESPY_WORLD_CASE_OCCLUDERS && step == 1;
            bool outside =
                espyWorld_CouldSeeBox(world, camera, espyWorld_GetQueryBounds(world, other)) == espyVisibility_Outside;
            assert_true(!occludee || outside || espyWorld_IsSeenByCamera(world, other, camera));
        }
    }
    // The same file, the same place within it: the same answers.
    assert_int_equal(alone[0], alone[1]);
    assert_int_equal(alone[0], alone[2]);
    assert_true(alone[0] < ESPY_WORLD_CASE_ENTRIES && espyWorld_GetDataAt(world, 0).index1 == second.index1);
    espyWorld_Destroy(world);
    espyWorldCase_Free(&c);
}

// "Visible" was true for what only casts a shadow into the picture, or what only another camera sees.
static void report_33_shadows_do_not_count(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyVec3 eye = {1.25f, 1.5f, 1.25f}, behind = {14.5f, 1.0f, 14.5f};
    espyPlay_Look(&p, eye, behind);
    espyNodeId enemy = espyPlay_Spawn(&p, behind, espyNodeFlag_OccludeeStatic, (espyNodeId){0});
    espyNodeId editor = espyWorldCase_Camera(p.world, (espyVec3){14.5f, 1.0f, 16.5f});
    assert_int_equal(espyPvs_TestBox(&p.pvs, espyPvs_FindCell(&p.pvs, eye), (espyBox){behind, behind}),
                     espyVisibility_Occluded);
    for (int shadow = 0; shadow < 2; ++shadow)
    {
        espyWorld_SetFlags(p.world, enemy,
                           espyNodeFlag_OccludeeStatic | (shadow ? (uint32_t)espyNodeFlag_CastsShadow : 0u));
        assert_false(espyWorld_IsSeenByCamera(p.world, enemy, p.camera));
        assert_true(espyWorld_IsSeenByCamera(p.world, enemy, editor));
    }
    espyPlay_End(&p);
}

// Culled from the player's feet instead of the eye behind him.
static void report_45_the_cameras_eye_decides(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyNodeId player = espyPlay_Spawn(&p, (espyVec3){10.5f, 0.5f, 14}, 0, (espyNodeId){0});
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    def.parent = player;
    def.local = espyWorldCase_At((espyVec3){0, 1.0f, 0});
    espyNodeId eye;
    assert_int_equal(espyWorld_CreateNode(p.world, &def, &eye), espyResult_Ok);
    uint32_t differs = 0;
    for (float back = 0; back < 6.0f; back += 0.5f)
    {
        espyWorld_SetLocalTransform(p.world, eye, espyWorldCase_At((espyVec3){-back, 1.0f, 0}));
        espyVec3 at = {10.5f - back, 1.5f, 14}, feet = {10.5f, 0.5f, 14};
        for (uint32_t slot = 0; slot < p.pvs.occludeeCount; ++slot)
        {
            espyNodeId node = espyWorld_FindSource(p.world, espyPvs_GetOccludeeNode(&p.pvs, slot));
            bool inFrustum =
                espyWorld_CouldSeeBox(p.world, eye, espyWorld_GetQueryBounds(p.world, node)) != espyVisibility_Outside;
            bool bit = espyPvs_TestSlot(&p.pvs, espyPvs_FindCell(&p.pvs, at), slot) != espyVisibility_Occluded;
            bool wrong = espyPvs_TestSlot(&p.pvs, espyPvs_FindCell(&p.pvs, feet), slot) != espyVisibility_Occluded;
            assert_true(!inFrustum || !bit || espyWorld_IsSeenByCamera(p.world, node, eye));
            differs += inFrustum && bit != wrong ? 1 : 0;
        }
    }
    assert_true(differs > 0);
    espyPlay_End(&p);
}

// An occluder that is not drawn stopped blocking: there are two switches.
static void report_53_hidden_is_not_undrawn(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyNodeId wall = {0};
    espyWorld_GetOccluderState(p.world, p.data, 0, &wall);
    uint32_t flags = espyWorld_GetFlags(p.world, wall);
    espyWorld_SetFlags(p.world, wall, flags | espyNodeFlag_Blocker);
    assert_false(espyWorld_IsDataStale(p.world, p.data));
    espyWorld_SetFlags(p.world, wall, flags | espyNodeFlag_Hidden);
    assert_true(espyWorld_IsDataStale(p.world, p.data));
    espyWorld_SetFlags(p.world, wall, flags);
    assert_false(espyWorld_IsDataStale(p.world, p.data));
    espyPlay_End(&p);
}

// --- rules

/// Lists, which work on words and many boxes at a time, beside single questions; plain and packed files, nodes in place
/// and moved, cameras in one cell and between cells.
static void lists_are_single_answers(void** state)
{
    (void)state;
    for (uint32_t packed = 0; packed < 2; ++packed)
    {
        espyPlay p = espyPlay_Make(3);
        espyPackResult pack = {0};
        if (packed)
        {
            espyDataDef def = espyDataDef_Default();
            assert_int_equal(espyPack_Pack(p.file.data, p.file.size, NULL, &pack), espyResult_Ok);
            assert_int_equal(espyWorld_RemoveData(p.world, p.data), espyResult_Ok);
            def.bytes = pack.data;
            def.size = pack.size;
            assert_int_equal(espyWorld_AddData(p.world, &def, &p.data, NULL), espyResult_Ok);
        }
        espyiRng rng = espyiRng_Seed(5);
        uint32_t nodeCount = espyWorld_GetNodeCount(p.world);
        espyNodeId* seen = test_malloc(nodeCount * sizeof *seen);
        uint32_t hidden = 0;
        for (uint32_t round = 0; round < 40; ++round)
        {
            float x = espyiRng_Float(&rng) * 24.0f, z = espyiRng_Float(&rng) * 24.0f;
            // Every other eye is on the border of two cells.
            x = round % 2u == 0 ? p.pvs.origin.x + p.pvs.cellSize * (float)(round % 8u) : x;
            espyPlay_Look(&p, (espyVec3){x, 1.7f, z}, (espyVec3){12, 1.7f, 12});
            for (uint32_t i = 0; i < nodeCount && round % 4u == 1u; i += 3u)
            {
                espyNodeId node = espyWorld_GetNodeAt(p.world, i);
                espyMat4 local = espyWorld_GetWorldTransform(p.world, node);
                local.m[12] += espyiRng_Float(&rng) - 0.5f;
                bool moves = !(espyWorld_GetFlags(p.world, node) & espyNodeFlag_OccluderStatic) &&
                             node.index1 != p.camera.index1;
                if (moves)
                {
                    espyWorld_SetLocalTransform(p.world, node, local);
                }
            }
            assert_false(espyWorld_IsOcclusionDataStale(p.world));
            uint32_t count = espyPlay_Seen(&p, p.camera, seen, nodeCount);
            for (uint32_t i = 0; i < nodeCount; ++i)
            {
                espyNodeId node = espyWorld_GetNodeAt(p.world, i);
                bool listed = false;
                for (uint32_t k = 0; k < count && !listed; ++k)
                {
                    listed = seen[k].index1 == node.index1;
                }
                assert_int_equal(listed, espyWorld_IsSeenByCamera(p.world, node, p.camera));
                hidden += listed ? 0u : 1u;
            }
        }
        assert_true(hidden > 1000);
        test_free(seen);
        espyPlay_End(&p);
        espyPack_Free(&pack);
    }
}

static void tags_filter_and_capacity_counts(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyPlay_Look(&p, (espyVec3){2, 1.5f, 2}, (espyVec3){4, 1.5f, 2});
    espyNodeId enemy = espyPlay_Spawn(&p, (espyVec3){3, 1.5f, 2}, 0, (espyNodeId){0});
    espyNodeId turret = espyPlay_Spawn(&p, (espyVec3){3.5f, 1.5f, 2}, 0, (espyNodeId){0});
    espyWorld_AddTag(p.world, enemy, "Enemy");
    espyWorld_AddTag(p.world, turret, "Turret");
    espyWorld_AddTag(p.world, turret, "Enemy");
    const char* tags[] = {"Turret", "Enemy", "Nobody"};
    espyNodeId out[4] = {{0}};
    uint32_t count = 0;
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, tags, 3, p.camera, out, 4, &count), espyResult_Ok);
    assert_int_equal(count, 2);
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, tags, 1, p.camera, out, 4, &count), espyResult_Ok);
    assert_true(count == 1 && out[0].index1 == turret.index1);
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, tags + 2, 1, p.camera, out, 4, &count), espyResult_Ok);
    assert_int_equal(count, 0);
    uint32_t all;
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, NULL, 0, p.camera, NULL, 0, &all), espyResult_Ok);
    assert_true(all > 2);
    out[1] = (espyNodeId){77, 7};
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, NULL, 0, p.camera, out, 1, &count), espyResult_Ok);
    assert_int_equal(count, all);
    assert_int_equal(out[1].index1, 77);
    tags[1] = NULL;
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, tags, 2, p.camera, out, 4, &count), espyResult_InvalidArgument);
    assert_int_equal(count, 0);
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, NULL, 1, p.camera, out, 4, &count), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, NULL, 0, p.camera, NULL, 4, &count),
                     espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetSeenByCamera(NULL, NULL, 0, p.camera, out, 4, &count), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetSeenByCamera(p.world, NULL, 0, enemy, out, 4, &count), espyResult_InvalidId);
    assert_false(espyWorld_IsSeenByCamera(p.world, enemy, turret));
    assert_false(espyWorld_IsSeenByCamera(NULL, enemy, p.camera));
    assert_int_equal(espyWorld_CouldSeeBox(p.world, turret, (espyBox){{0, 0, 0}, {1, 1, 1}}), espyVisibility_Unknown);
    assert_int_equal(espyWorld_CouldSeeBox(p.world, p.camera, espyBox_Empty()), espyVisibility_Unknown);
    espyPlay_End(&p);
}

static void switches_leave_the_frustum(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyVec3 eye = {1.25f, 1.5f, 1.25f}, behind = {14.5f, 1.0f, 14.5f};
    espyPlay_Look(&p, eye, behind);
    espyNodeId enemy = espyPlay_Spawn(&p, behind, 0, (espyNodeId){0});
    espyNodeId back = espyPlay_Spawn(&p, (espyVec3){1.25f, 1.5f, 0.25f}, 0, (espyNodeId){0});
    espySceneSettings settings = espyWorld_GetSettings(p.world);
    for (int i = 0; i < 4; ++i)
    {
        bool on = i == 0 || i == 3;
        settings.occlusionCulling = i != 1;
        espyWorld_SetSettings(p.world, &settings);
        espyWorld_EnableOcclusionCulling(p.world, i != 2);
        assert_int_equal(espyWorld_IsOcclusionCullingEnabled(p.world), on);
        assert_int_equal(espyWorld_IsSeenByCamera(p.world, enemy, p.camera), !on);
        assert_false(espyWorld_IsSeenByCamera(p.world, back, p.camera));
        assert_int_equal(espyWorld_TestLine(p.world, eye, behind),
                         on ? espyVisibility_Occluded : espyVisibility_Unknown);
    }
    // Never itself, never what is hidden, and a box for hidden things all the same.
    assert_false(espyWorld_IsSeenByCamera(p.world, p.camera, p.camera));
    espyWorld_EnableOcclusionCulling(p.world, false);
    espyWorld_SetFlags(p.world, enemy, espyNodeFlag_Hidden);
    assert_false(espyWorld_IsSeenByCamera(p.world, enemy, p.camera));
    assert_int_equal(espyWorld_CouldSeeBox(p.world, p.camera, espyWorld_GetQueryBounds(p.world, enemy)),
                     espyVisibility_Visible);
    espyPlay_End(&p);
}

// Blocked only by evidence: where a line is called blocked no surface point of the block is seen from the cell.
static void lines_are_blocked_by_evidence_alone(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyiRng rng = espyiRng_Seed(3);
    uint32_t blocked = 0;
    for (int i = 0; i < 4000; ++i)
    {
        float c[6];
        for (int k = 0; k < 6; ++k)
        {
            c[k] = k % 3 == 1 ? espyWorldCase_Random(&rng, 0, 4) : espyWorldCase_Random(&rng, -2, 20);
        }
        espyVec3 a = {c[0], c[1], c[2]}, b = {c[3], c[4], c[5]};
        int32_t fromA = espyPvs_FindCell(&p.pvs, a), fromB = espyPvs_FindCell(&p.pvs, b);
        bool expected = espyPvs_TestBox(&p.pvs, fromA, (espyBox){b, b}) == espyVisibility_Occluded ||
                        espyPvs_TestBox(&p.pvs, fromB, (espyBox){a, a}) == espyVisibility_Occluded;
        assert_int_equal(espyWorld_TestLine(p.world, a, b),
                         expected ? espyVisibility_Occluded : espyVisibility_Unknown);
        assert_int_equal(espyWorld_TestLine(p.world, b, a), espyWorld_TestLine(p.world, a, b));
        blocked += expected ? 1 : 0;
    }
    assert_true(blocked > 50);
    espyPlay_End(&p);
}

static void trackers_tell_of_slots_that_change_hands(void** state)
{
    (void)state;
    espyPlay p = espyPlay_Make(2);
    espyPlay_Look(&p, (espyVec3){2, 1.5f, 2}, (espyVec3){4, 1.5f, 2});
    espyViewTrackerDef def = espyViewTrackerDef_Default();
    const char* tags[] = {"Enemy"};
    def.camera = p.camera;
    def.tags = tags;
    def.tagCount = 1;
    espyViewTracker* tracker;
    espyNodeId enemy = espyPlay_Spawn(&p, (espyVec3){3, 1.5f, 2}, 0, (espyNodeId){0});
    espyWorld_AddTag(p.world, enemy, "Enemy");
    assert_int_equal(espyViewTracker_Create(p.world, &def, &tracker), espyResult_Ok);
    espyViewEvent events[4];
    uint32_t count;
    assert_int_equal(espyViewTracker_Poll(tracker, events, 4, &count), espyResult_Ok);
    assert_true(count == 1 && events[0].entered && events[0].node.index1 == enemy.index1);
    assert_int_equal(espyViewTracker_Poll(tracker, events, 4, &count), espyResult_Ok);
    assert_int_equal(count, 0);
    espyWorld_DestroyNode(p.world, enemy);
    espyNodeId next = espyPlay_Spawn(&p, (espyVec3){3, 1.5f, 2}, 0, (espyNodeId){0});
    espyWorld_AddTag(p.world, next, "Enemy");
    assert_int_equal(next.index1, enemy.index1);
    assert_int_equal(espyViewTracker_Poll(tracker, events, 1, &count), espyResult_Ok);
    assert_true(count == 1 && !events[0].entered && events[0].node.generation == enemy.generation);
    assert_int_equal(espyViewTracker_Poll(tracker, events, 1, &count), espyResult_Ok);
    assert_true(count == 1 && events[0].entered && events[0].node.generation == next.generation);
    // Nodes beyond its room are not told of, the others are.
    espyPlay_Spawn(&p, (espyVec3){3, 1.5f, 2}, 0, (espyNodeId){0});
    espyWorld_SetFlags(p.world, next, espyNodeFlag_Hidden);
    assert_int_equal(espyViewTracker_Poll(tracker, events, 4, &count), espyResult_LimitExceeded);
    assert_true(count == 1 && !events[0].entered);
    // Without its camera nothing is seen.
    espyWorld_SetFlags(p.world, next, 0);
    espyViewTracker_Poll(tracker, events, 4, &count);
    assert_int_equal(count, 1);
    espyWorld_DestroyNode(p.world, p.camera);
    espyViewTracker_Poll(tracker, events, 4, &count);
    assert_true(count == 1 && !events[0].entered);
    espyViewTracker_Destroy(tracker);
    espyViewTracker_Destroy(NULL);
    assert_int_equal(espyViewTracker_Create(p.world, &def, &tracker), espyResult_InvalidId);
    assert_int_equal(espyViewTracker_Create(p.world, &(espyViewTrackerDef){0}, &tracker), espyResult_InvalidArgument);
    assert_int_equal(espyViewTracker_Poll(NULL, events, 4, &count), espyResult_InvalidArgument);
    espyPlay_End(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_05_orthographic_zoom),
        cmocka_unit_test(report_11_hidden_occluder_moves_for_free),
        cmocka_unit_test(report_15_carried_from_room_to_room),
        cmocka_unit_test(report_17_walk_in_centimetres),
        cmocka_unit_test(report_19_seen_in_the_first_frame),
        cmocka_unit_test(report_21_many_objects_many_threads),
        cmocka_unit_test(report_29_cameras_do_not_share_state),
        cmocka_unit_test(report_31_two_areas_side_by_side),
        cmocka_unit_test(report_33_shadows_do_not_count),
        cmocka_unit_test(report_45_the_cameras_eye_decides),
        cmocka_unit_test(report_53_hidden_is_not_undrawn),
        cmocka_unit_test(lists_are_single_answers),
        cmocka_unit_test(tags_filter_and_capacity_counts),
        cmocka_unit_test(switches_leave_the_frustum),
        cmocka_unit_test(lines_are_blocked_by_evidence_alone),
        cmocka_unit_test(trackers_tell_of_slots_that_change_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
