// SPDX-License-Identifier: MIT
// Memory ends in every allocation of every call on a world that holds all there is: a call that says so leaves the
// world as it was to the last answer, a call that goes through leaves it as it should be, and one more try gives what
// never failing gives.
#include "test_main.h"

#include <espy/world_proxy.h>
#include <stdio.h>
#include <string.h>

#include "tests/hook_counter.h"
#include "tests/world_case.h"

/// Occludees and occluders of the file that get a node late.
#define ESPY_TEST_LATE_OCCLUDEE (ESPY_WORLD_CASE_OCCLUDERS + 3)
#define ESPY_TEST_LATE_OCCLUDER 1

typedef struct espyMemory
{
    espyHookCounter counter; ///< First: it is the hooks' context.
    espyWorldCase file, other;
    espyWorld* world;
    espyMeshId box, small;
    espyNodeId wanderer, terrain, voxels, skeleton, camera;
    espyDataId data, second;
} espyMemory;

static uint8_t espyMemory_Values[2 * 4096];

static espyNodeDef espyMemory_Def(espyNodeKind kind, int32_t sourceId)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = kind;
    def.sourceId = sourceId;
    def.local = espyWorldCase_At((espyVec3){0.5f * (float)(sourceId % 13), 0.25f, -0.5f * (float)(sourceId % 7)});
    return def;
}

// --- calls

static espyResult espyCall_CreateMesh(espyMemory* m)
{
    static const espyVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const uint32_t indices[] = {0, 1, 2};
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId id;
    def.triangles = (espyTriangles){corners, indices, 3, 1};
    def.name = "triangle";
    return espyWorld_CreateMesh(m->world, &def, &id);
}

static espyResult espyCall_CreateLevels(espyMemory* m)
{
    static const char* const tags[] = {"Enemy", "Rock"};
    espyNodeDef def = espyMemory_Def(espyNodeKind_StaticMesh3D, 501);
    espyNodeId id;
    def.mesh = m->box;
    def.levels = &m->box;
    def.levelCount = 1;
    def.occluderMesh = m->small;
    def.flags = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    def.name = "a rock";
    def.tags = tags;
    def.tagCount = 2;
    return espyWorld_CreateNode(m->world, &def, &id);
}

static espyResult espyCall_CreateTerrain(espyMemory* m)
{
    static const float heights[20] = {0, 1, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2, 1, 0, 0, 0, 1, 0, 0};
    static const uint8_t holes[12] = {0, 0, 1};
    espyTerrain terrain = {.heights = heights, .holes = holes, .width = 5, .depth = 4, .spacing = 1.0f};
    espyNodeDef def = espyMemory_Def(espyNodeKind_Terrain3D, 502);
    def.terrain = &terrain;
    def.flags = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    return espyWorld_CreateNode(m->world, &def, &m->terrain);
}

static espyResult espyCall_CreateVoxels(espyMemory* m)
{
    espyVoxels voxels = {.bricks = {2, 1, 1}, .voxelSize = 0.25f, .values = espyMemory_Values};
    espyNodeDef def = espyMemory_Def(espyNodeKind_Voxel3D, 503);
    def.voxels = &voxels;
    def.flags = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    return espyWorld_CreateNode(m->world, &def, &m->voxels);
}

static espyResult espyCall_CreateInstances(espyMemory* m)
{
    espyMat4 instances[12];
    espyNodeDef def = espyMemory_Def(espyNodeKind_InstancedMesh3D, 504);
    espyNodeId id;
    for (uint32_t i = 0; i < 12; ++i)
    {
        instances[i] = espyWorldCase_At((espyVec3){4.0f * (float)(i % 4u), 0, 3.0f * (float)(i / 4u)});
    }
    def.mesh = m->small;
    def.instances = instances;
    def.instanceCount = 12;
    def.unrollCellSize = 5.0f;
    def.flags = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    return espyWorld_CreateNode(m->world, &def, &id);
}

static espyResult espyCall_CreateSkeleton(espyMemory* m)
{
    static const espyBox joints[2] = {{{0, 0, 0}, {1, 1, 1}}, {{-1, 0, 0}, {0, 2, 0}}};
    espyNodeDef def = espyMemory_Def(espyNodeKind_SkeletalMesh3D, 505);
    def.mesh = m->box;
    def.jointBoxes = joints;
    def.jointCount = 2;
    def.parent = m->voxels;
    def.flags = espyNodeFlag_AlwaysUpdate;
    return espyWorld_CreateNode(m->world, &def, &m->skeleton);
}

static espyResult espyCall_CreateEntry(espyMemory* m, uint32_t entry, int32_t sourceId)
{
    const espyBox* box = &m->file.boxes[entry];
    bool occluder = entry < ESPY_WORLD_CASE_OCCLUDERS;
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    espyVec3 size = {box->max.x - box->min.x, box->max.y - box->min.y, box->max.z - box->min.z};
    def.sourceId = sourceId;
    def.local = espyWorldCase_At(box->min);
    def.flags = occluder ? espyNodeFlag_OccluderStatic : espyNodeFlag_OccludeeStatic;
    if (occluder)
    {
        const float none[4] = {0, 0, 0, 1};
        def.kind = espyNodeKind_StaticMesh3D;
        def.mesh = m->box;
        // The box is 1 x 1 x 1 m.
        def.local = espyMat4_FromTrs(box->min, none, size);
    }
    else
    {
        def.bounds = (espyBox){{0, 0, 0}, size};
    }
    return espyWorld_CreateNode(m->world, &def, &id);
}

static espyResult espyCall_CreateOccludee(espyMemory* m)
{
    return espyCall_CreateEntry(m, ESPY_TEST_LATE_OCCLUDEE, 506);
}

static espyResult espyCall_CreateOccluder(espyMemory* m)
{
    return espyCall_CreateEntry(m, ESPY_TEST_LATE_OCCLUDER, 507);
}

static espyResult espyCall_SetName(espyMemory* m)
{
    return espyWorld_SetName(m->world, m->terrain, "a hill with a name that is longer than what it had");
}

static espyResult espyCall_AddTag(espyMemory* m)
{
    return espyWorld_AddTag(m->world, m->voxels, "Walls");
}

static espyResult espyCall_RemoveTag(espyMemory* m)
{
    return espyWorld_RemoveTag(m->world, m->voxels, "Walls");
}

static espyResult espyCall_FillVoxels(espyMemory* m)
{
    return espyWorld_FillVoxels(m->world, m->voxels, (espyVoxelRange){{3, 4, 5}, {20, 2, 2}}, espyVoxel_Opaque);
}

static espyResult espyCall_SetVoxels(espyMemory* m)
{
    return espyWorld_SetVoxels(m->world, m->voxels, (espyVoxelRange){{14, 0, 0}, {4, 16, 16}}, espyMemory_Values + 7);
}

static espyResult espyCall_SetMesh(espyMemory* m)
{
    return espyWorld_SetMesh(m->world, m->skeleton, m->small);
}

static espyResult espyCall_SetPose(espyMemory* m)
{
    const espyMat4 joints[2] = {espyWorldCase_At((espyVec3){1, 2, 3}), espyWorldCase_At((espyVec3){0, 5, 0})};
    return espyWorld_SetPose(m->world, m->skeleton, joints, 2);
}

static espyResult espyCall_SetParent(espyMemory* m)
{
    return espyWorld_SetParent(m->world, m->terrain, m->voxels);
}

static espyResult espyCall_SetProxy(espyMemory* m)
{
    espyOcclusionProxy proxy = {.present = true, .radius = 1, .height = 2, .strength = 1};
    return espyWorld_SetOcclusionProxy(m->world, m->skeleton, &proxy);
}

/// Into an entry that no node has, and out again into another.
static espyResult espyCall_Move(espyMemory* m)
{
    espyVec3 place = m->file.boxes[ESPY_TEST_LATE_OCCLUDEE + 1].min;
    return espyWorld_SetLocalTransform(m->world, m->wanderer, espyWorldCase_At(place));
}

static espyResult espyCall_SetFlags(espyMemory* m)
{
    return espyWorld_SetFlags(m->world, m->terrain, espyNodeFlag_OccludeeStatic | espyNodeFlag_CastsShadow);
}

static espyResult espyCall_AddData(espyMemory* m)
{
    espyDataDef def = espyDataDef_Default();
    def.bytes = m->other.file.file;
    def.size = m->other.file.size;
    def.offset = (espyVec3){1, 0, 2};
    return espyWorld_AddData(m->world, &def, &m->second, NULL);
}

static espyResult espyCall_SetOffset(espyMemory* m)
{
    return espyWorld_SetDataOffset(m->world, m->second, (espyVec3){0, 0, 0});
}

static espyResult espyCall_MoveOrigin(espyMemory* m)
{
    return espyWorld_MoveOrigin(m->world, (espyVec3){64, 0, -32});
}

static espyResult espyCall_RemoveData(espyMemory* m)
{
    return espyWorld_RemoveData(m->world, m->data);
}

static espyResult espyCall_Destroy(espyMemory* m)
{
    return espyWorld_DestroyNode(m->world, m->voxels);
}

static espyResult espyCall_CreateAgain(espyMemory* m)
{
    espyNodeDef def = espyMemory_Def(espyNodeKind_Camera3D, 508);
    espyNodeId id;
    def.name = "second eye";
    return espyWorld_CreateNode(m->world, &def, &id);
}

typedef struct espyCall
{
    const char* name;
    espyResult (*run)(espyMemory* m);
    /// Goes through without the unroll cells of an instanced node, which is then drawn as a whole by its bounds.
    bool cells;
} espyCall;

static const espyCall espyCalls[] = {
    {"CreateMesh", espyCall_CreateMesh, false},
    {"CreateNode with levels", espyCall_CreateLevels, false},
    {"CreateNode with terrain", espyCall_CreateTerrain, false},
    {"CreateNode with voxels", espyCall_CreateVoxels, false},
    {"CreateNode with joints", espyCall_CreateSkeleton, false},
    {"CreateNode for a baked occludee", espyCall_CreateOccludee, false},
    {"CreateNode for a baked occluder", espyCall_CreateOccluder, false},
    {"SetName", espyCall_SetName, false},
    {"AddTag", espyCall_AddTag, false},
    {"RemoveTag", espyCall_RemoveTag, false},
    {"FillVoxels", espyCall_FillVoxels, false},
    {"SetVoxels", espyCall_SetVoxels, false},
    {"SetMesh", espyCall_SetMesh, false},
    {"SetPose", espyCall_SetPose, false},
    {"SetParent", espyCall_SetParent, false},
    {"SetOcclusionProxy", espyCall_SetProxy, false},
    {"SetLocalTransform", espyCall_Move, false},
    {"SetFlags", espyCall_SetFlags, false},
    {"AddData", espyCall_AddData, false},
    {"SetDataOffset", espyCall_SetOffset, false},
    {"MoveOrigin", espyCall_MoveOrigin, false},
    {"RemoveData", espyCall_RemoveData, false},
    {"DestroyNode", espyCall_Destroy, false},
    {"CreateNode in a used slot", espyCall_CreateAgain, false},
    {"CreateNode with instances", espyCall_CreateInstances, true},
};

#define ESPY_CALLS ESPYI_ARRAY_COUNT(espyCalls)

// --- what a world answers

static uint64_t espyHash_Text(uint64_t hash, const char* text)
{
    return text ? espyiHash_Bytes(hash, text, strlen(text)) : espyiHash_U64(hash, 77);
}

static uint64_t espyMemory_HashNode(const espyMemory* m, espyNodeId id, uint64_t hash)
{
    espyNodeDef def;
    assert_int_equal(espyWorld_GetNode(m->world, id, &def), espyResult_Ok);
    hash = espyiHash_U64(hash, (uint64_t)def.kind << 32 | def.flags);
    hash = espyiHash_U64(hash, (uint64_t)(uint32_t)id.index1 << 32 | id.generation);
    hash = espyiHash_U64(hash, (uint64_t)(uint32_t)def.parent.index1 << 32 | (uint32_t)def.sourceId);
    hash = espyiHash_U64(hash, (uint64_t)(uint32_t)def.mesh.index1 << 32 | def.instanceCount);
    hash = espyiHash_Bytes(hash, &def.local, sizeof def.local);
    hash = espyHash_Text(hash, def.name);
    for (uint32_t i = 0; i < def.tagCount; ++i)
    {
        hash = espyHash_Text(hash, def.tags[i]);
    }
    hash = espyiHash_U64(hash, (uint64_t)def.levelCount << 32 | def.jointCount);
    hash = espyiHash_U64(hash, def.proxy.present);
    espyBox boxes[2] = {espyWorld_GetWorldBounds(m->world, id), espyWorld_GetOccluderBounds(m->world, id)};
    hash = espyiHash_Bytes(hash, boxes, sizeof boxes);
    hash = espyiHash_U64(hash, espyWorld_GetContentHash(m->world, id));
    espyNodeData data = espyWorld_GetNodeData(m->world, id);
    hash = espyiHash_U64(hash, (uint64_t)(uint32_t)data.data.index1 << 32 | data.slot);
    hash = espyiHash_U64(hash, (data.inPlace ? 1u : 0u) | (data.occluder ? 2u : 0u));
    uint32_t parts = espyWorld_GetPartCount(m->world, id);
    for (uint32_t i = 0; i < parts; ++i)
    {
        uint32_t count;
        const uint32_t* instances = espyWorld_GetPartInstances(m->world, id, i, &count);
        hash = instances ? espyiHash_Words(hash, instances, count) : espyiHash_U64(hash, parts);
    }
    return espyiHash_U64(hash, espyWorld_IsSeenByCamera(m->world, id, m->camera));
}

static uint64_t espyMemory_Hash(const espyMemory* m)
{
    uint32_t count = espyWorld_GetNodeCount(m->world);
    uint64_t hash = espyiHash_U64(espyWorld_GetMeshCount(m->world), count);
    for (uint32_t i = 0; i < count; ++i)
    {
        hash = espyMemory_HashNode(m, espyWorld_GetNodeAt(m->world, i), hash);
    }
    for (uint32_t f = 0; f < espyWorld_GetDataCount(m->world); ++f)
    {
        espyDataInfo info;
        espyDataId id = espyWorld_GetDataAt(m->world, f);
        assert_int_equal(espyWorld_GetDataInfo(m->world, id, &info), espyResult_Ok);
        hash = espyiHash_U64(hash, (uint64_t)(uint32_t)id.index1 << 32 | id.generation);
        hash = espyiHash_U64(hash, (uint64_t)info.occludeesFound << 32 | info.occludeesInPlace);
        hash = espyiHash_U64(hash, (uint64_t)info.occludersInPlace << 32 | info.stale);
        hash = espyiHash_Bytes(hash, &info.offset, sizeof info.offset);
        for (uint32_t i = 0; i < info.file.occluderCount; ++i)
        {
            hash = espyiHash_U64(hash, (uint64_t)espyWorld_GetOccluderState(m->world, id, i, NULL));
        }
    }
    espyNodeId seen[128];
    uint32_t seenCount;
    assert_int_equal(espyWorld_GetSeenByCamera(m->world, NULL, 0, m->camera, seen, 128, &seenCount), espyResult_Ok);
    assert_true(seenCount <= 128);
    hash = espyiHash_Bytes(hash, seen, seenCount * sizeof *seen);
    return espyiHash_U64(hash, espyWorld_GetRevision(m->world));
}

// --- running

static void espyMemory_Begin(espyMemory* m)
{
    const espyWorldCase file = m->file, other = m->other;
    *m = (espyMemory){.file = file, .other = other};
    espyHooks hooks = espyHookCounter_Hooks(&m->counter);
    m->world = espyWorldCase_World(&hooks, true);
    m->box = espyWorldCase_Mesh(m->world, (espyVec3){1, 1, 1});
    m->small = espyWorldCase_Mesh(m->world, (espyVec3){0.5f, 0.5f, 0.5f});
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        if (i != ESPY_TEST_LATE_OCCLUDEE && i != ESPY_TEST_LATE_OCCLUDEE + 1 && i != ESPY_TEST_LATE_OCCLUDER)
        {
            assert_int_equal(espyCall_CreateEntry(m, i, (int32_t)i), espyResult_Ok);
        }
    }
    espyNodeDef def = espyNodeDef_Default();
    const espyBox* home = &m->file.boxes[ESPY_TEST_LATE_OCCLUDEE + 1];
    def.flags = espyNodeFlag_OccludeeStatic;
    def.bounds =
        (espyBox){{0, 0, 0}, {home->max.x - home->min.x, home->max.y - home->min.y, home->max.z - home->min.z}};
    def.local = espyWorldCase_At((espyVec3){100, 0, 100});
    assert_int_equal(espyWorld_CreateNode(m->world, &def, &m->wanderer), espyResult_Ok);
    m->camera = espyWorldCase_Camera(m->world, (espyVec3){0.5f, 2, 0.5f});
    m->data = espyWorldCase_Load(m->world, &m->file, (espyVec3){0, 0, 0});
}

static void espyMemory_End(espyMemory* m)
{
    espyWorld_Destroy(m->world);
    assert_int_equal(m->counter.blocks, 0);
    assert_int_equal(m->counter.held, 0);
}

/// One allocation of one call fails, alone or with all that follow.
static void espyMemory_Fail(espyMemory* m, uint32_t call, unsigned n, bool once, const uint64_t* hashes)
{
    espyMemory_Begin(m);
    for (uint32_t i = 0; i < call; ++i)
    {
        assert_int_equal(espyCalls[i].run(m), espyResult_Ok);
    }
    assert_true(espyMemory_Hash(m) == hashes[call]);
    m->counter.failAt = m->counter.calls + n;
    m->counter.once = once;
    espyResult result = espyCalls[call].run(m);
    m->counter.failAt = 0;
    uint64_t now = espyMemory_Hash(m);
    if (result == espyResult_OutOfMemory)
    {
        if (now != hashes[call])
        {
            fail_msg("%s, allocation %u: not as it was", espyCalls[call].name, n);
        }
        result = espyCalls[call].run(m);
        now = espyMemory_Hash(m);
    }
    assert_int_equal(result, espyResult_Ok);
    if (now != hashes[call + 1] && !espyCalls[call].cells)
    {
        fail_msg("%s, allocation %u: not as it should be", espyCalls[call].name, n);
    }
    espyMemory_End(m);
}

static void every_failed_allocation_loses_nothing(void** state)
{
    (void)state;
    static espyMemory m;
    m.file = espyWorldCase_Make(11, false);
    m.other = espyWorldCase_Make(12, true);
    for (size_t i = 0; i < sizeof espyMemory_Values; ++i)
    {
        // One of the two bricks is all of one value, which takes no memory until it is edited.
        espyMemory_Values[i] = i % 32u < 16u ? (uint8_t)(i % 3u) : 0u;
    }
    uint64_t hashes[ESPY_CALLS + 1];
    unsigned calls[ESPY_CALLS];
    espyMemory_Begin(&m);
    hashes[0] = espyMemory_Hash(&m);
    for (uint32_t i = 0; i < ESPY_CALLS; ++i)
    {
        unsigned before = m.counter.calls;
        assert_int_equal(espyCalls[i].run(&m), espyResult_Ok);
        calls[i] = m.counter.calls - before;
        hashes[i + 1] = espyMemory_Hash(&m);
        assert_true(hashes[i + 1] != hashes[i] || i == 0);
    }
    espyMemory_End(&m);
    unsigned all = 0;
    for (uint32_t i = 0; i < ESPY_CALLS; ++i)
    {
        for (unsigned n = 1; n <= calls[i]; ++n)
        {
            espyMemory_Fail(&m, i, n, false, hashes);
            espyMemory_Fail(&m, i, n, true, hashes);
        }
        printf("%s: %u allocations\n", espyCalls[i].name, calls[i]);
        all += calls[i];
    }
    assert_true(all > 60);
    espyWorldCase_Free(&m.file);
    espyWorldCase_Free(&m.other);
}

/// Moving nodes is for every frame, also while entries of a file wait for theirs.
static void moving_asks_for_no_memory(void** state)
{
    (void)state;
    static espyMemory m;
    m.file = espyWorldCase_Make(13, false);
    m.other = espyWorldCase_Make(14, true);
    espyMemory_Begin(&m);
    espyNodeData data = espyWorld_GetNodeData(m.world, m.wanderer);
    assert_int_equal(data.slot, ESPY_PVS_NO_SLOT);
    unsigned before = m.counter.calls;
    assert_int_equal(espyCall_Move(&m), espyResult_Ok);
    data = espyWorld_GetNodeData(m.world, m.wanderer);
    assert_int_equal(data.slot, ESPY_TEST_LATE_OCCLUDEE + 1 - ESPY_WORLD_CASE_OCCLUDERS);
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(m.world); ++i)
    {
        espyNodeId node = espyWorld_GetNodeAt(m.world, i);
        assert_int_equal(espyWorld_SetLocalTransform(m.world, node, espyWorldCase_At((espyVec3){(float)i, 1, 2})),
                         espyResult_Ok);
    }
    assert_int_equal(m.counter.calls, before);
    espyMemory_End(&m);
    espyWorldCase_Free(&m.file);
    espyWorldCase_Free(&m.other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failed_allocation_loses_nothing),
        cmocka_unit_test(moving_asks_for_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
