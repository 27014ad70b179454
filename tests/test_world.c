// SPDX-License-Identifier: MIT
// The world: ids, hierarchy, transforms, bounds, lookup, memory.
#include "hook_counter.h"
#include "test_main.h"

#include "core/core.h"

#include <espy/world.h>

#include <stdio.h>
#include <string.h>

static const espyVec3 boxPositions[8] = {
    {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1},
};
static const uint32_t boxIndices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

typedef struct espyFixture
{
    espyHookCounter counter;
    unsigned asserts;
    espyWorld* world;
} espyFixture;

static void espyFixture_CountAssert(const char* condition, const char* function, void* context)
{
    (void)condition;
    (void)function;
    // The counter is the first member: the hooks' one context serves both.
    ++((espyFixture*)context)->asserts;
}

static int espyFixture_Set(void** state)
{
    espyFixture* fixture = calloc(1, sizeof *fixture);
    espyWorldDef def = espyWorldDef_Default();
    def.hooks = espyHookCounter_Hooks(&fixture->counter);
    def.hooks.assertFail = espyFixture_CountAssert;
    *state = fixture;
    return espyWorld_Create(&def, &fixture->world) == espyResult_Ok ? 0 : -1;
}

static int espyFixture_Drop(void** state)
{
    espyFixture* fixture = *state;
    espyWorld_Destroy(fixture->world);
    int leaked = fixture->counter.blocks != 0;
    free(fixture);
    return leaked;
}

static espyMeshId espyFixture_Box(espyFixture* fixture)
{
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId id;
    def.triangles = (espyTriangles){boxPositions, boxIndices, 8, 12};
    def.name = "box";
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &def, &id), espyResult_Ok);
    return id;
}

static espyNodeId espyFixture_Node(espyFixture* fixture, espyNodeId parent, espyMat4 local, espyMeshId mesh)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = mesh.index1 != 0 ? espyNodeKind_StaticMesh3D : espyNodeKind_Node3D;
    def.parent = parent;
    def.local = local;
    def.mesh = mesh;
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_Ok);
    return id;
}

static espyMat4 espyTest_Move(float x, float y, float z)
{
    espyMat4 m = espyMat4_Identity();
    m.m[12] = x;
    m.m[13] = y;
    m.m[14] = z;
    return m;
}

static void espyTest_AssertBox(espyBox box, espyVec3 low, espyVec3 high)
{
    const float got[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    const float want[6] = {low.x, low.y, low.z, high.x, high.y, high.z};
    for (int i = 0; i < 6; ++i)
    {
        assert_float_equal(got[i], want[i], 1e-5f);
    }
}

static void meshes_are_copied_and_checked(void** state)
{
    espyFixture* fixture = *state;
    espyMeshId id = espyFixture_Box(fixture);
    espyMeshDef mesh;
    assert_int_equal(espyWorld_GetMesh(fixture->world, id, &mesh), espyResult_Ok);
    assert_string_equal(mesh.name, "box");
    assert_int_equal(mesh.triangles.triangleCount, 12);
    assert_ptr_not_equal(mesh.triangles.positions, boxPositions);
    assert_memory_equal(mesh.triangles.positions, boxPositions, sizeof boxPositions);
    assert_memory_equal(mesh.triangles.indices, boxIndices, sizeof boxIndices);
    assert_int_equal(mesh.partCount, 1);
    assert_int_equal(mesh.parts[0].indexCount, 36);
    assert_int_equal(mesh.parts[0].material, espyMaterialClass_Opaque);

    uint32_t past[3] = {0, 1, 8};
    espyMeshDef bad = espyMeshDef_Default();
    bad.triangles = (espyTriangles){boxPositions, past, 8, 1};
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &bad, &id), espyResult_InvalidArgument);
    assert_int_equal(id.index1, 0);
    espyMeshPart part = {33, 6, espyMaterialClass_Opaque, 0};
    bad.triangles = (espyTriangles){boxPositions, boxIndices, 8, 12};
    bad.parts = &part;
    bad.partCount = 1;
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &bad, &id), espyResult_InvalidArgument);
    part = (espyMeshPart){1, 3, espyMaterialClass_Opaque, 0};
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &bad, &id), espyResult_InvalidArgument);
    bad.cookie = 0;
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &bad, &id), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetMeshCount(fixture->world), 1);
    assert_true(fixture->asserts >= 4);
}

static void nodes_keep_what_they_were_given(void** state)
{
    espyFixture* fixture = *state;
    char name[] = "door", tag[] = "Enemy";
    const char* tags[] = {tag, "Pickup"};
    espyMat4 instances[2] = {espyMat4_Identity(), espyTest_Move(5, 0, 0)};
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = espyNodeKind_InstancedMesh3D;
    def.mesh = espyFixture_Box(fixture);
    def.instances = instances;
    def.instanceCount = 2;
    def.unrollCellSize = 3.0f;
    def.name = name;
    def.tags = tags;
    def.tagCount = 2;
    def.sourceId = 7;
    def.flags = espyNodeFlag_OccluderStatic;
    def.proxy = (espyOcclusionProxy){.present = true, .radius = 0.5f};
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_Ok);
    memset(name, 'x', 4);
    memset(tag, 'x', 5);
    memset(instances, 0, sizeof instances);
    espyNodeDef got;
    assert_int_equal(espyWorld_GetNode(fixture->world, id, &got), espyResult_Ok);
    assert_string_equal(got.name, "door");
    assert_string_equal(got.tags[0], "Enemy");
    assert_string_equal(got.tags[1], "Pickup");
    assert_int_equal(got.instanceCount, 2);
    assert_float_equal(got.instances[1].m[12], 5.0f, 0.0f);
    assert_float_equal(got.unrollCellSize, 3.0f, 0.0f);
    assert_int_equal(got.sourceId, 7);
    assert_true(got.proxy.present);
    assert_int_equal(espyWorld_GetFlags(fixture->world, id), espyNodeFlag_OccluderStatic);
    assert_int_equal(espyWorld_SetFlags(fixture->world, id, espyNodeFlag_Hidden), espyResult_Ok);
    assert_int_equal(espyWorld_GetFlags(fixture->world, id), espyNodeFlag_Hidden);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), (espyVec3){-1, -1, -1}, (espyVec3){6, 1, 1});
}

static void bad_nodes_are_refused(void** state)
{
    espyFixture* fixture = *state;
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.local.m[12] = (float)(1e300 * 1e300);
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidArgument);
    def = espyNodeDef_Default();
    def.parent = (espyNodeId){5, 1};
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidId);
    def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = (espyMeshId){1, 1};
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidId);
    def = espyNodeDef_Default();
    def.mesh = espyFixture_Box(fixture);
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidArgument);
    def = espyNodeDef_Default();
    def.sourceId = 3;
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_Ok);
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidArgument);
    def = (espyNodeDef){0};
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetNodeCount(fixture->world), 1);
    assert_int_equal(espyWorld_GetNode(fixture->world, (espyNodeId){0}, &def), espyResult_InvalidId);
    assert_int_equal(espyWorld_SetLocalTransform(fixture->world, (espyNodeId){9, 9}, espyMat4_Identity()),
                     espyResult_InvalidId);
    assert_true(fixture->asserts >= 7);
}

static void world_transforms_follow_parents(void** state)
{
    espyFixture* fixture = *state;
    espyNodeId a = espyFixture_Node(fixture, (espyNodeId){0}, espyTest_Move(1, 0, 0), (espyMeshId){0});
    espyNodeId b = espyFixture_Node(fixture, a, espyTest_Move(0, 2, 0), (espyMeshId){0});
    espyNodeId c = espyFixture_Node(fixture, b, espyTest_Move(0, 0, 3), espyFixture_Box(fixture));
    espyNodeId d = espyFixture_Node(fixture, a, espyTest_Move(0, 0, 9), (espyMeshId){0});
    espyMat4 world = espyWorld_GetWorldTransform(fixture->world, c);
    assert_float_equal(world.m[12], 1, 0);
    assert_float_equal(world.m[13], 2, 0);
    assert_float_equal(world.m[14], 3, 0);
    assert_int_equal(espyWorld_SetLocalTransform(fixture->world, a, espyTest_Move(10, 0, 0)), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, c).m[12], 10, 0);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, d).m[12], 10, 0);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, c), (espyVec3){9, 1, 2}, (espyVec3){11, 3, 4});
    assert_int_equal(espyWorld_SetLocalTransform(fixture->world, b, espyTest_Move(0, 0, 0)), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, c).m[13], 0, 0);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, d).m[14], 9, 0);
}

static void destroying_takes_descendants_and_makes_ids_stale(void** state)
{
    espyFixture* fixture = *state;
    espyNodeId none = {0};
    espyMeshId noMesh = {0};
    espyNodeId a = espyFixture_Node(fixture, none, espyMat4_Identity(), noMesh);
    espyNodeId b = espyFixture_Node(fixture, a, espyMat4_Identity(), noMesh);
    espyNodeId other = espyFixture_Node(fixture, none, espyMat4_Identity(), noMesh);
    espyNodeId c = espyFixture_Node(fixture, b, espyMat4_Identity(), noMesh);
    espyNodeId d = espyFixture_Node(fixture, a, espyTest_Move(4, 0, 0), noMesh);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, b), espyResult_Ok);
    assert_false(espyWorld_IsNode(fixture->world, b));
    assert_false(espyWorld_IsNode(fixture->world, c));
    assert_int_equal(espyWorld_GetNodeCount(fixture->world), 3);
    assert_int_equal(espyWorld_GetNodeAt(fixture->world, 1).index1, other.index1);
    assert_int_equal(espyWorld_GetNodeAt(fixture->world, 2).index1, d.index1);
    assert_int_equal(espyWorld_GetNodeAt(fixture->world, 3).index1, 0);
    // The slots are used again under new generations.
    espyNodeId e = espyFixture_Node(fixture, a, espyMat4_Identity(), noMesh);
    assert_true(e.index1 == b.index1 || e.index1 == c.index1);
    assert_false(espyWorld_IsNode(fixture->world, b));
    assert_false(espyWorld_IsNode(fixture->world, c));
    assert_int_equal(espyWorld_DestroyNode(fixture->world, b), espyResult_InvalidId);
    // The links of what is left still work.
    assert_int_equal(espyWorld_SetLocalTransform(fixture->world, a, espyTest_Move(1, 0, 0)), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, d).m[12], 5, 0);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, e).m[12], 1, 0);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, a), espyResult_Ok);
    assert_int_equal(espyWorld_GetNodeCount(fixture->world), 1);
    assert_int_equal(espyWorld_GetNodeAt(fixture->world, 0).index1, other.index1);
}

/// Random creations and destructions against a plain model of them.
static void sources_and_order_match_a_model(void** state)
{
    enum
    {
        Rounds = 20000,
        Most = 512,
    };
    espyFixture* fixture = *state;
    const uint64_t seed = 20240607;
    espyiRng rng = espyiRng_Seed(seed);
    static struct
    {
        espyNodeId id, parent;
        int32_t source;
    } model[Most];
    uint32_t count = 0;
    int32_t nextSource = 0;
    for (int round = 0; round < Rounds; ++round)
    {
        if (count < Most && espyiRng_Below(&rng, 100) < 60)
        {
            espyNodeDef def = espyNodeDef_Default();
            def.parent = count > 0 && espyiRng_Below(&rng, 2) ? model[espyiRng_Below(&rng, count)].id : (espyNodeId){0};
            def.sourceId = espyiRng_Below(&rng, 3) > 0 ? nextSource++ * 7 : -1;
            model[count].parent = def.parent;
            model[count].source = def.sourceId;
            assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &model[count].id), espyResult_Ok);
            ++count;
        }
        else if (count > 0)
        {
            espyNodeId gone = model[espyiRng_Below(&rng, count)].id;
            assert_int_equal(espyWorld_DestroyNode(fixture->world, gone), espyResult_Ok);
            uint32_t kept = 0;
            for (uint32_t i = 0; i < count; ++i)
            {
                bool dead = model[i].id.index1 == gone.index1;
                bool orphan = model[i].parent.index1 != 0;
                for (uint32_t k = 0; k < kept; ++k)
                {
                    orphan = orphan && model[k].id.index1 != model[i].parent.index1;
                }
                if (dead || orphan)
                {
                    assert_false(espyWorld_IsNode(fixture->world, model[i].id));
                    if (model[i].source >= 0)
                    {
                        assert_int_equal(espyWorld_FindSource(fixture->world, model[i].source).index1, 0);
                    }
                    continue;
                }
                model[kept++] = model[i];
            }
            count = kept;
        }
        if (espyWorld_GetNodeCount(fixture->world) != count)
        {
            fail_msg("seed %llu, round %d", (unsigned long long)seed, round);
        }
        for (uint32_t i = 0; i < count && round % 16 == 0; ++i)
        {
            espyNodeId at = espyWorld_GetNodeAt(fixture->world, i);
            assert_int_equal(at.index1, model[i].id.index1);
            assert_int_equal(at.generation, model[i].id.generation);
            if (model[i].source >= 0)
            {
                assert_int_equal(espyWorld_FindSource(fixture->world, model[i].source).index1, at.index1);
            }
        }
    }
}

static void a_chain_of_100000_nodes_works(void** state)
{
    espyFixture* fixture = *state;
    enum
    {
        Depth = 100000,
    };
    espyNodeId first = {0}, last = {0};
    for (int i = 0; i < Depth; ++i)
    {
        last = espyFixture_Node(fixture, last, espyTest_Move(1, 0, 0), (espyMeshId){0});
        first = i == 0 ? last : first;
    }
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, last).m[12], (float)Depth, 0);
    assert_int_equal(espyWorld_SetLocalTransform(fixture->world, first, espyTest_Move(0, 1, 0)), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, last).m[12], (float)(Depth - 1), 0);
    assert_float_equal(espyWorld_GetWorldTransform(fixture->world, last).m[13], 1, 0);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, first), espyResult_Ok);
    assert_int_equal(espyWorld_GetNodeCount(fixture->world), 0);
}

static void report_27_bounds_come_from_the_vertices(void** state)
{
    // All vertices lie 10 m from the mesh's origin; a box about the pivot would be 10 m off.
    espyFixture* fixture = *state;
    espyVec3 far[3] = {{10, 0, 0}, {10, 1, 0}, {10, 0, 1}};
    uint32_t indices[3] = {0, 1, 2};
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId mesh;
    def.triangles = (espyTriangles){far, indices, 3, 1};
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &def, &mesh), espyResult_Ok);
    // A quarter turn about y takes x to -z.
    espyMat4 turn = {{0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 100, 0, 0, 1}};
    espyNodeId node = espyFixture_Node(fixture, (espyNodeId){0}, turn, mesh);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, node), (espyVec3){100, 0, -10},
                       (espyVec3){101, 1, -10});
    // Tight for what is in it, not for its box: a tetrahedron turned by 45 degrees.
    float h = 0.70710678f;
    espyMat4 half = {{h, 0, -h, 0, 0, 1, 0, 0, h, 0, h, 0, 0, 0, 0, 1}};
    espyVec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t faces[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    def.triangles = (espyTriangles){corner, faces, 4, 4};
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &def, &mesh), espyResult_Ok);
    node = espyFixture_Node(fixture, (espyNodeId){0}, half, mesh);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, node), (espyVec3){0, 0, -h}, (espyVec3){h, 1, h});
    assert_false(espyBox_IsValid(espyWorld_GetWorldBounds(fixture->world, (espyNodeId){0})));
}

/// The bounds of many random instances equal those of every vertex transformed one by one.
static void instanced_bounds_equal_every_vertex(void** state)
{
    espyFixture* fixture = *state;
    espyiRng rng = espyiRng_Seed(11);
    enum
    {
        Count = 300,
    };
    static espyMat4 instances[Count];
    for (int i = 0; i < Count; ++i)
    {
        for (int k = 0; k < 12; ++k)
        {
            instances[i].m[k / 3 * 4 + k % 3] = 4.0f * espyiRng_Float(&rng) - 2.0f;
        }
        instances[i].m[15] = 1.0f;
    }
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = espyNodeKind_InstancedMesh3D;
    def.mesh = espyFixture_Box(fixture);
    def.local = instances[0];
    def.instances = instances;
    def.instanceCount = Count;
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_Ok);
    espyBox want = espyBox_Empty();
    for (int i = 0; i < Count; ++i)
    {
        espyMat4 world = espyMat4_Multiply(def.local, instances[i]);
        for (int v = 0; v < 8; ++v)
        {
            want = espyBox_AddPoint(want, espyMat4_TransformPoint(world, boxPositions[v]));
        }
    }
    espyBox got = espyWorld_GetWorldBounds(fixture->world, id);
    assert_memory_equal(&got, &want, sizeof got);
}

static void settings_are_kept(void** state)
{
    espyFixture* fixture = *state;
    espySceneSettings s = espyWorld_GetSettings(fixture->world);
    assert_true(s.occlusionCulling && s.dynamicObjects);
    assert_float_equal(s.occlusionCellSize, 4, 0);
    assert_int_equal(s.consoleBudgetKB, 512);
    s.occlusionCellSize = 2;
    espyWorld_SetSettings(fixture->world, &s);
    assert_float_equal(espyWorld_GetSettings(fixture->world).occlusionCellSize, 2, 0);
}

/// Builds a small world with hooks whose allocation number `failAt` fails; true where that happened.
static bool espyTest_BuildFailing(unsigned failAt)
{
    espyFixture fixture = {.counter = {.failAt = failAt}};
    espyWorldDef worldDef = espyWorldDef_Default();
    worldDef.hooks = espyHookCounter_Hooks(&fixture.counter);
    bool failed = espyWorld_Create(&worldDef, &fixture.world) != espyResult_Ok;
    espyMeshDef mesh = espyMeshDef_Default();
    espyMeshId meshId;
    mesh.triangles = (espyTriangles){boxPositions, boxIndices, 8, 12};
    failed = failed || espyWorld_CreateMesh(fixture.world, &mesh, &meshId) != espyResult_Ok;
    espyMat4 instance = espyMat4_Identity();
    for (int i = 0; i < 80 && !failed; ++i)
    {
        espyNodeDef def = espyNodeDef_Default();
        espyNodeId id;
        def.kind = espyNodeKind_InstancedMesh3D;
        def.mesh = meshId;
        def.instances = &instance;
        def.instanceCount = 1;
        def.sourceId = i;
        failed = espyWorld_CreateNode(fixture.world, &def, &id) != espyResult_Ok;
        assert_int_equal(espyWorld_GetNodeCount(fixture.world), failed ? i : i + 1);
        assert_int_equal(espyWorld_FindSource(fixture.world, i).index1 != 0, !failed);
    }
    espyWorld_Destroy(fixture.world);
    assert_int_equal(fixture.counter.blocks, 0);
    return failed;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    (void)state;
    unsigned failAt = 1;
    while (espyTest_BuildFailing(failAt))
    {
        ++failAt;
    }
    assert_true(failAt > 160);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(meshes_are_copied_and_checked, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(nodes_keep_what_they_were_given, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(bad_nodes_are_refused, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(world_transforms_follow_parents, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(destroying_takes_descendants_and_makes_ids_stale, espyFixture_Set,
                                        espyFixture_Drop),
        cmocka_unit_test_setup_teardown(sources_and_order_match_a_model, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(a_chain_of_100000_nodes_works, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(report_27_bounds_come_from_the_vertices, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(instanced_bounds_equal_every_vertex, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test_setup_teardown(settings_are_kept, espyFixture_Set, espyFixture_Drop),
        cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
