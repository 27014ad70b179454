// SPDX-License-Identifier: MIT
// Gathering the bake's input from a world: flags, unroll cells, mirrored transforms, order, limits.
#include "hook_counter.h"
#include "test_main.h"

#include "core/core.h"

#include <espy/editor.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// A cube of side 2 about the origin, counter-clockwise from outside.
static const espyVec3 boxPositions[8] = {
    {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1},
};
static const uint32_t boxIndices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

typedef struct espyFixture
{
    espyHookCounter counter; // First: it is the hooks' context.
    espyHooks hooks;
    unsigned warnings;
    espyMessageId lastWarning;
    espyWorld* world;
    espyMeshId box;
    espyGathered* gathered;
    const espyBakeInput* input;
} espyFixture;

static void espyFixture_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    espyFixture* fixture = context;
    assert_true(level != espyLogLevel_Info && text[0] != '\0');
    ++fixture->warnings;
    fixture->lastWarning = id;
}

static int espyFixture_Set(void** state)
{
    espyFixture* fixture = calloc(1, sizeof *fixture);
    espyWorldDef def = espyWorldDef_Default();
    espyMeshDef mesh = espyMeshDef_Default();
    fixture->hooks = espyHookCounter_Hooks(&fixture->counter);
    fixture->hooks.log = espyFixture_Log;
    *state = fixture;
    mesh.triangles = (espyTriangles){boxPositions, boxIndices, 8, 12};
    return espyWorld_Create(&def, &fixture->world) != espyResult_Ok ||
           espyWorld_CreateMesh(fixture->world, &mesh, &fixture->box) != espyResult_Ok;
}

static int espyFixture_Drop(void** state)
{
    espyFixture* fixture = *state;
    espyGathered_Destroy(fixture->gathered);
    espyWorld_Destroy(fixture->world);
    int leaked = fixture->counter.blocks != 0;
    free(fixture);
    return leaked;
}

static const espyBakeInput* espyFixture_Gather(espyFixture* fixture)
{
    espyGathered_Destroy(fixture->gathered);
    assert_int_equal(espyEditor_Gather(fixture->world, 1.0f, 0.0f, &fixture->hooks, &fixture->gathered), espyResult_Ok);
    fixture->input = espyGathered_GetInput(fixture->gathered);
    return fixture->input;
}

static espyNodeId espyFixture_Add(espyFixture* fixture, espyNodeDef def)
{
    espyNodeId id;
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_Ok);
    return id;
}

static espyNodeDef espyFixture_BoxDef(const espyFixture* fixture, int32_t sourceId, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = fixture->box;
    def.sourceId = sourceId;
    def.flags = flags;
    return def;
}

static double espyTest_Volume(const espyTriangles* t)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < t->triangleCount; ++i)
    {
        espyVec3 a = t->positions[t->indices[3 * i]], b = t->positions[t->indices[3 * i + 1]];
        espyVec3 c = t->positions[t->indices[3 * i + 2]];
        sum += (double)a.x * ((double)b.y * c.z - (double)b.z * c.y) +
               (double)a.y * ((double)b.z * c.x - (double)b.x * c.z) +
               (double)a.z * ((double)b.x * c.y - (double)b.y * c.x);
    }
    return sum / 6.0;
}

static void flags_decide_what_is_gathered(void** state)
{
    enum
    {
        Occluder = espyNodeFlag_OccluderStatic,
        Occludee = espyNodeFlag_OccludeeStatic,
    };
    espyFixture* fixture = *state;
    static const struct
    {
        uint32_t flags;
        unsigned occluders, occludees, warnings;
    } cases[] = {
        {0, 0, 0, 0},
        {Occluder, 1, 0, 0},
        {Occludee, 0, 1, 0},
        {Occluder | Occludee, 1, 1, 0},
        {Occluder | Occludee | espyNodeFlag_Hidden, 0, 0, 0},
        {Occluder | Occludee | espyNodeFlag_Skybox, 0, 0, 0},
        {Occluder | Occludee | espyNodeFlag_Dynamic, 0, 0, 1},
        {Occludee | espyNodeFlag_Dynamic, 0, 0, 0},
        {Occluder | Occludee | espyNodeFlag_Blocker, 1, 0, 0},
        {Occludee | espyNodeFlag_Blocker, 0, 0, 0},
    };
    espyNodeId id = espyFixture_Add(fixture, espyFixture_BoxDef(fixture, 0, 0));
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        fixture->warnings = 0;
        assert_int_equal(espyWorld_SetFlags(fixture->world, id, cases[i].flags), espyResult_Ok);
        espyFixture_Gather(fixture);
        assert_int_equal(fixture->input->occluderCount, cases[i].occluders);
        assert_int_equal(fixture->input->occludeeCount, cases[i].occludees);
        assert_int_equal(fixture->warnings, cases[i].warnings);
        if (cases[i].warnings)
        {
            assert_int_equal(fixture->lastWarning, espyMessageId_ImportDynamicOccluder);
        }
        if (cases[i].occluders && cases[i].occludees)
        {
            assert_int_equal(fixture->input->occludees[0].firstOwn, 0);
            assert_int_equal(fixture->input->occludees[0].ownCount, 1);
        }
        else if (cases[i].occludees)
        {
            assert_int_equal(fixture->input->occludees[0].ownCount, 0);
        }
    }
}

static void report_53_a_blocker_occludes_without_being_drawn(void** state)
{
    espyFixture* fixture = *state;
    espyFixture_Add(fixture, espyFixture_BoxDef(fixture, 4, espyNodeFlag_OccluderStatic | espyNodeFlag_Blocker));
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->occluderCount, 1);
    assert_int_equal(fixture->input->occluders[0].node, 4);
    assert_int_equal(fixture->input->occluders[0].mesh.triangleCount, 12);
    assert_int_equal(fixture->input->occludeeCount, 0);
}

static void report_59_only_the_opaque_part_blocks(void** state)
{
    espyFixture* fixture = *state;
    // Two faces of the cube are glass, two a grate, one glows.
    const espyMeshPart parts[] = {
        {0, 6, espyMaterialClass_Translucent, 0},  {6, 6, espyMaterialClass_Opaque, 0},
        {12, 12, espyMaterialClass_Masked, 0},     {24, 6, espyMaterialClass_Additive, 0},
        {30, 6, espyMaterialClass_Translucent, 0},
    };
    espyMeshDef mesh = espyMeshDef_Default();
    mesh.triangles = (espyTriangles){boxPositions, boxIndices, 8, 12};
    mesh.parts = parts;
    mesh.partCount = ESPYI_ARRAY_COUNT(parts);
    espyNodeDef def = espyFixture_BoxDef(fixture, 0, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic);
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &mesh, &def.mesh), espyResult_Ok);
    espyFixture_Add(fixture, def);
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->occluderCount, 1);
    const espyTriangles* blocks = &fixture->input->occluders[0].mesh;
    assert_int_equal(blocks->triangleCount, 2);
    assert_int_equal(blocks->vertexCount, 4);
    for (uint32_t i = 0; i < 6; ++i)
    {
        assert_memory_equal(&blocks->positions[blocks->indices[i]], &boxPositions[boxIndices[6 + i]], sizeof(espyVec3));
    }
    assert_int_equal(fixture->input->occludees[0].mesh.triangleCount, 12);
    assert_int_equal(fixture->input->occludees[0].ownCount, 1);
}

static void report_23_masked_and_translucent_surfaces_never_occlude(void** state)
{
    espyFixture* fixture = *state;
    for (int c = espyMaterialClass_Masked; c <= espyMaterialClass_Additive; ++c)
    {
        espyMeshPart part = {0, 36, (espyMaterialClass)c, 0};
        espyMeshDef mesh = espyMeshDef_Default();
        mesh.triangles = (espyTriangles){boxPositions, boxIndices, 8, 12};
        mesh.parts = &part;
        mesh.partCount = 1;
        espyNodeDef def = espyFixture_BoxDef(fixture, c, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic);
        assert_int_equal(espyWorld_CreateMesh(fixture->world, &mesh, &def.mesh), espyResult_Ok);
        espyFixture_Add(fixture, def);
    }
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->occluderCount, 0);
    assert_int_equal(fixture->input->occludeeCount, 3);
    assert_int_equal(fixture->input->occludees[0].ownCount, 0);
}

static void report_35_mirrored_transforms_keep_triangles_the_right_way_round(void** state)
{
    espyFixture* fixture = *state;
    const uint32_t both = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    espyMat4 mirror = espyMat4_Identity();
    mirror.m[0] = -1.0f;
    espyNodeDef def = espyFixture_BoxDef(fixture, 0, both);
    def.local = mirror;
    espyNodeId parent = espyFixture_Add(fixture, def);
    // Mirrored twice is not mirrored.
    def.parent = parent;
    def.sourceId = 1;
    espyFixture_Add(fixture, def);
    // Instances, one of them mirrored, under a mirrored node.
    espyMat4 instances[2] = {espyMat4_Identity(), mirror};
    instances[1].m[12] = 0.5f;
    def = espyFixture_BoxDef(fixture, 2, both);
    def.kind = espyNodeKind_InstancedMesh3D;
    def.local = mirror;
    def.instances = instances;
    def.instanceCount = 2;
    espyFixture_Add(fixture, def);
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->occluderCount, 3);
    assert_int_equal(fixture->input->occludeeCount, 4);
    for (uint32_t i = 0; i < 3; ++i)
    {
        assert_float_equal(espyTest_Volume(&fixture->input->occluders[i].mesh), i == 2 ? 16.0 : 8.0, 1e-5);
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        assert_float_equal(espyTest_Volume(&fixture->input->occludees[i].mesh), i >= 2 ? 16.0 : 8.0, 1e-5);
    }
}

static void order_is_by_id_then_part(void** state)
{
    espyFixture* fixture = *state;
    const uint32_t both = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    espyMat4 instances[3] = {espyMat4_Identity(), espyMat4_Identity(), espyMat4_Identity()};
    instances[0].m[12] = 100.0f;
    instances[2].m[14] = 100.0f;
    espyFixture_Add(fixture, espyFixture_BoxDef(fixture, 9, both));
    espyNodeDef def = espyFixture_BoxDef(fixture, 5, both);
    def.kind = espyNodeKind_InstancedMesh3D;
    def.instances = instances;
    def.instanceCount = 3;
    espyFixture_Add(fixture, def);
    espyFixture_Add(fixture, espyFixture_BoxDef(fixture, 2, both));
    espyFixture_Gather(fixture);
    const int32_t nodes[] = {2, 5, 5, 5, 5, 9}, parts[] = {-1, -1, 0, 1, 2, -1};
    const uint32_t firstOwn[] = {0, 1, 1, 2, 3, 4}, ownCount[] = {1, 3, 1, 1, 1, 1};
    assert_int_equal(fixture->input->occludeeCount, 6);
    assert_int_equal(fixture->input->occluderCount, 5);
    for (int i = 0; i < 6; ++i)
    {
        const espyBakeOccludee* occludee = &fixture->input->occludees[i];
        assert_int_equal(occludee->node, nodes[i]);
        assert_int_equal(occludee->part, parts[i]);
        assert_int_equal(occludee->firstOwn, firstOwn[i]);
        assert_int_equal(occludee->ownCount, ownCount[i]);
    }
    // Cells in z, y, x order from the minimum corner (-1, -1, -1).
    assert_float_equal(fixture->input->occludees[2].box.min.x, -1, 0);
    assert_float_equal(fixture->input->occludees[3].box.min.x, 99, 0);
    assert_float_equal(fixture->input->occludees[4].box.min.z, 99, 0);
}

/// Random forest: every unroll cell holds exactly the instances whose centre it holds, the whole node all of them.
static void unroll_cells_hold_the_instances_whose_centre_they_hold(void** state)
{
    espyFixture* fixture = *state;
    enum
    {
        Count = 200,
    };
    const uint64_t seed = 99;
    const float size = 7.0f;
    espyiRng rng = espyiRng_Seed(seed);
    static espyMat4 instances[Count];
    static int32_t cellOf[Count];
    espyBox whole = espyBox_Empty();
    for (int i = 0; i < Count; ++i)
    {
        instances[i] = espyMat4_Identity();
        instances[i].m[0] = instances[i].m[5] = instances[i].m[10] = 0.25f;
        instances[i].m[12] = 60.0f * espyiRng_Float(&rng);
        instances[i].m[13] = 10.0f * espyiRng_Float(&rng);
        instances[i].m[14] = 60.0f * espyiRng_Float(&rng);
        whole = espyBox_Union(whole, espyMat4_TransformBox(instances[i], (espyBox){boxPositions[0], boxPositions[7]}));
    }
    espyNodeDef def = espyFixture_BoxDef(fixture, 0, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic);
    def.kind = espyNodeKind_InstancedMesh3D;
    def.instances = instances;
    def.instanceCount = Count;
    def.unrollCellSize = size;
    espyFixture_Add(fixture, def);
    espyFixture_Gather(fixture);
    // The reference: cells as rows of a plain grid.
    static int32_t rank[16 * 16 * 16];
    memset(rank, -1, sizeof rank);
    for (int i = 0; i < Count; ++i)
    {
        int x = (int)floorf((instances[i].m[12] - whole.min.x) / size);
        int y = (int)floorf((instances[i].m[13] - whole.min.y) / size);
        int z = (int)floorf((instances[i].m[14] - whole.min.z) / size);
        cellOf[i] = (z * 16 + y) * 16 + x;
        rank[cellOf[i]] = 0;
    }
    int32_t cells = 0;
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(rank); ++i)
    {
        rank[i] = rank[i] == 0 ? cells++ : -1;
    }
    assert_true(cells > 20);
    assert_int_equal(fixture->input->occludeeCount, cells + 1);
    assert_int_equal(fixture->input->occluderCount, cells);
    assert_int_equal(fixture->input->occludees[0].mesh.triangleCount, 12 * Count);
    assert_int_equal(fixture->input->occludees[0].ownCount, cells);
    assert_float_equal(espyTest_Volume(&fixture->input->occludees[0].mesh), Count * 0.125, 1e-2);
    for (int32_t c = 0; c < cells; ++c)
    {
        const espyBakeOccludee* part = &fixture->input->occludees[c + 1];
        espyBox box = espyBox_Empty();
        uint32_t members = 0;
        for (int i = 0; i < Count; ++i)
        {
            if (rank[cellOf[i]] == c)
            {
                espyBox one = espyMat4_TransformBox(instances[i], (espyBox){boxPositions[0], boxPositions[7]});
                box = espyBox_Union(box, one);
                ++members;
            }
        }
        assert_int_equal(part->part, c);
        assert_int_equal(part->mesh.triangleCount, 12 * members);
        assert_int_equal(part->mesh.vertexCount, 8 * members);
        assert_memory_equal(&part->box, &box, sizeof box);
        assert_float_equal(espyTest_Volume(&part->mesh), (float)members * 0.125f, 1e-3);
        assert_int_equal(part->firstOwn, c);
        assert_int_equal(part->ownCount, 1);
        assert_int_equal(fixture->input->occluders[c].mesh.triangleCount, 12 * members);
        for (uint32_t i = 0; i < 3 * part->mesh.triangleCount; ++i)
        {
            assert_true(part->mesh.indices[i] < part->mesh.vertexCount);
        }
    }
}

static void areas_and_cameras_are_gathered(void** state)
{
    espyFixture* fixture = *state;
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_OcclusionArea;
    def.local.m[0] = 10.0f;
    def.local.m[12] = 3.0f;
    espyNodeId area = espyFixture_Add(fixture, def);
    def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    def.parent = area;
    def.local.m[12] = 0.5f;
    espyNodeId camera = espyFixture_Add(fixture, def);
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->areaCount, 1);
    assert_float_equal(fixture->input->areas[0].transform.m[0], 10, 0);
    assert_int_equal(fixture->input->viewPointCount, 1);
    assert_float_equal(fixture->input->viewPoints[0].x, 8, 0);
    espyWorld_SetFlags(fixture->world, area, espyNodeFlag_Hidden);
    espyWorld_SetFlags(fixture->world, camera, espyNodeFlag_Hidden);
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->areaCount, 0);
    assert_int_equal(fixture->input->viewPointCount, 0);
}

static void deep_hierarchies_do_not_drift(void** state)
{
    // 2,000 steps of 0.1 m: rounded at every step the end is millimetres off.
    espyFixture* fixture = *state;
    espyNodeId parent = {0};
    for (int i = 0; i < 2000; ++i)
    {
        espyNodeDef def = espyNodeDef_Default();
        def.parent = parent;
        def.local.m[12] = 0.1f;
        if (i == 1999)
        {
            def.kind = espyNodeKind_StaticMesh3D;
            def.mesh = fixture->box;
            def.flags = espyNodeFlag_OccludeeStatic;
        }
        parent = espyFixture_Add(fixture, def);
    }
    espyFixture_Gather(fixture);
    assert_float_equal(fixture->input->occludees[0].box.min.x, (float)(2000.0 * (double)0.1f - 1.0), 0.0f);
}

static void boxes_agree_with_the_world(void** state)
{
    espyFixture* fixture = *state;
    espyiRng rng = espyiRng_Seed(5);
    for (int i = 0; i < 50; ++i)
    {
        espyNodeDef def = espyFixture_BoxDef(fixture, i, espyNodeFlag_OccludeeStatic);
        for (int k = 0; k < 12; ++k)
        {
            def.local.m[k / 3 * 4 + k % 3] = 20.0f * espyiRng_Float(&rng) - 10.0f;
        }
        espyFixture_Add(fixture, def);
    }
    espyFixture_Gather(fixture);
    for (int i = 0; i < 50; ++i)
    {
        espyBox got = fixture->input->occludees[i].box;
        espyBox want = espyWorld_GetWorldBounds(fixture->world, espyWorld_FindSource(fixture->world, i));
        assert_float_equal(got.min.x, want.min.x, 1e-4);
        assert_float_equal(got.max.z, want.max.z, 1e-4);
    }
}

static void too_many_triangles_are_refused(void** state)
{
    espyFixture* fixture = *state;
    espyNodeDef def = espyFixture_BoxDef(fixture, 0, espyNodeFlag_OccludeeStatic);
    // 65,536 triangles in 1,025 places.
    uint32_t triangles = 1u << 16;
    uint32_t* indices = calloc(3 * (size_t)triangles, sizeof *indices);
    espyMeshDef mesh = espyMeshDef_Default();
    mesh.triangles = (espyTriangles){boxPositions, indices, 8, triangles};
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &mesh, &def.mesh), espyResult_Ok);
    free(indices);
    espyMat4* places = calloc(1025, sizeof *places);
    for (int i = 0; i < 1025; ++i)
    {
        places[i] = espyMat4_Identity();
    }
    def.kind = espyNodeKind_InstancedMesh3D;
    def.instances = places;
    def.instanceCount = 1025;
    espyFixture_Add(fixture, def);
    free(places);
    assert_int_equal(espyEditor_Gather(fixture->world, 1.0f, 0.0f, &fixture->hooks, &fixture->gathered),
                     espyResult_LimitExceeded);
    assert_null(fixture->gathered);
    assert_int_equal(fixture->lastWarning, espyMessageId_GatherTooManyTriangles);
}

static void settings_reach_the_def(void** state)
{
    espyFixture* fixture = *state;
    espySceneSettings s = {false, 2.5f, espyBakeQuality_High, false, 64, 9.0f};
    espyBakeDef def = {0};
    espyWorld_SetSettings(fixture->world, &s);
    espyEditor_ApplySettings(fixture->world, &def);
    assert_false(def.occlusionCulling || def.dynamicObjects);
    assert_float_equal(def.cellSize, 2.5f, 0);
    assert_int_equal(def.quality, espyBakeQuality_High);
    assert_int_equal(def.consoleBudgetKB, 64);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    espyFixture* fixture = *state;
    const uint32_t both = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    espyMat4 instances[2] = {espyMat4_Identity(), espyMat4_Identity()};
    instances[1].m[12] = 100.0f;
    espyNodeDef def = espyFixture_BoxDef(fixture, 0, both);
    def.kind = espyNodeKind_InstancedMesh3D;
    def.instances = instances;
    def.instanceCount = 2;
    espyFixture_Add(fixture, def);
    espyFixture_Add(fixture, espyFixture_BoxDef(fixture, 1, both));
    def = espyNodeDef_Default();
    def.kind = espyNodeKind_OcclusionArea;
    espyFixture_Add(fixture, def);
    unsigned failures = 0;
    for (unsigned failAt = 1;; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyHooks hooks = espyHookCounter_Hooks(&counter);
        espyGathered* gathered;
        espyResult result = espyEditor_Gather(fixture->world, 1.0f, 0.0f, &hooks, &gathered);
        espyGathered_Destroy(gathered);
        assert_int_equal(counter.blocks, 0);
        if (result == espyResult_Ok)
        {
            break;
        }
        assert_int_equal(result, espyResult_OutOfMemory);
        assert_null(gathered);
        ++failures;
    }
    assert_true(failures > 10);
}

static void an_empty_world_gathers_nothing(void** state)
{
    espyFixture* fixture = *state;
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->occluderCount, 0);
    assert_int_equal(fixture->input->occludeeCount, 0);
    espyGathered* gathered;
    assert_int_equal(espyEditor_Gather(fixture->world, 0.0f, 0.0f, NULL, &gathered), espyResult_InvalidArgument);
    assert_int_equal(espyEditor_Gather(fixture->world, (float)NAN, 0.0f, NULL, &gathered), espyResult_InvalidArgument);
}

#define ESPY_TEST(name) cmocka_unit_test_setup_teardown(name, espyFixture_Set, espyFixture_Drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ESPY_TEST(flags_decide_what_is_gathered),
        ESPY_TEST(report_53_a_blocker_occludes_without_being_drawn),
        ESPY_TEST(report_59_only_the_opaque_part_blocks),
        ESPY_TEST(report_23_masked_and_translucent_surfaces_never_occlude),
        ESPY_TEST(report_35_mirrored_transforms_keep_triangles_the_right_way_round),
        ESPY_TEST(order_is_by_id_then_part),
        ESPY_TEST(unroll_cells_hold_the_instances_whose_centre_they_hold),
        ESPY_TEST(areas_and_cameras_are_gathered),
        ESPY_TEST(deep_hierarchies_do_not_drift),
        ESPY_TEST(boxes_agree_with_the_world),
        ESPY_TEST(too_many_triangles_are_refused),
        ESPY_TEST(settings_reach_the_def),
        ESPY_TEST(every_failed_allocation_is_reported_and_leaks_nothing),
        ESPY_TEST(an_empty_world_gathers_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
