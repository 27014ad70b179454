// SPDX-License-Identifier: MIT
// Terrains, voxels, levels of detail and bare boxes as the bake sees them.
#include "bake_case.h"
#include "hook_counter.h"
#include "test_main.h"

#include "core/core.h"

#include <espy/editor.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const espyVec3 boxPositions[8] = {
    {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1},
};
static const uint32_t boxIndices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

enum
{
    Occluder = espyNodeFlag_OccluderStatic,
    Occludee = espyNodeFlag_OccludeeStatic,
};

typedef struct espyFixture
{
    espyHookCounter counter; // First: it is the hooks' context.
    espyHooks hooks;
    unsigned warnings;
    espyMessageId lastWarning;
    espyWorld* world;
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
    fixture->hooks = espyHookCounter_Hooks(&fixture->counter);
    fixture->hooks.log = espyFixture_Log;
    *state = fixture;
    return espyWorld_Create(&def, &fixture->world) == espyResult_Ok ? 0 : -1;
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
    assert_int_equal(espyEditor_Gather(fixture->world, 2.0f, 0.0f, &fixture->hooks, &fixture->gathered), espyResult_Ok);
    fixture->input = espyGathered_GetInput(fixture->gathered);
    return fixture->input;
}

static espyNodeId espyFixture_Add(espyFixture* fixture, const espyNodeDef* def)
{
    espyNodeId id;
    assert_int_equal(espyWorld_CreateNode(fixture->world, def, &id), espyResult_Ok);
    return id;
}

/// A box with this half size.
static espyMeshId espyFixture_Mesh(espyFixture* fixture, espyVec3 half)
{
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId id;
    espyVec3 positions[8];
    for (int i = 0; i < 8; ++i)
    {
        positions[i] = (espyVec3){half.x * boxPositions[i].x, half.y * boxPositions[i].y, half.z * boxPositions[i].z};
    }
    def.triangles = (espyTriangles){positions, boxIndices, 8, 12};
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &def, &id), espyResult_Ok);
    return id;
}

static espyMat4 espyTest_Place(espyVec3 center, espyVec3 size)
{
    const float straight[4] = {0, 0, 0, 1};
    return espyMat4_FromTrs(center, straight, size);
}

/// The volume of the cameras.
static void espyFixture_AddArea(espyFixture* fixture, espyVec3 center, espyVec3 size)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_OcclusionArea;
    def.local = espyTest_Place(center, size);
    espyFixture_Add(fixture, &def);
}

/// A box of 1 m that may be seen or not.
static void espyFixture_AddTarget(espyFixture* fixture, espyVec3 center)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = espyFixture_Mesh(fixture, (espyVec3){0.5f, 0.5f, 0.5f});
    def.local = espyTest_Place(center, (espyVec3){1, 1, 1});
    def.flags = Occludee;
    def.sourceId = 77;
    espyFixture_Add(fixture, &def);
}

/// Bakes the world and returns the number of cells that see the occludee of node `id`. The file goes to *file, to be
/// freed, where that is not null.
static uint32_t espyFixture_CountSeers(espyFixture* fixture, int32_t id, espyBakeResult* file)
{
    espyBakeResult result;
    espyBakeDef def = espyBakeCase_Def();
    assert_int_equal(espyBake_Run(espyFixture_Gather(fixture), &def, &result), espyResult_Ok);
    espyPvs pvs = espyBakeCase_Load(&result);
    uint32_t seers = 0, found = 0;
    for (uint32_t i = 0; i < pvs.occludeeCount; ++i)
    {
        if (espyPvs_GetOccludeeNode(&pvs, i) == id)
        {
            seers = espyBakeCase_CountCells(&pvs, i);
            ++found;
        }
    }
    assert_int_equal(found, 1);
    if (file)
    {
        *file = result;
    }
    else
    {
        espyBake_Free(&result);
    }
    return seers;
}

// --- terrain

enum
{
    Side = 33,
};

/// A ridge of 8 m along z in the middle of flat ground.
static espyTerrain espyTest_Ridge(float heights[Side * Side])
{
    for (int i = 0; i < Side * Side; ++i)
    {
        float x = (float)(i % Side) - 16.0f;
        float height = 8.0f - 2.0f * fabsf(x);
        heights[i] = height > 0.0f ? height : 0.0f;
    }
    return (espyTerrain){.heights = heights, .width = Side, .depth = Side, .spacing = 1.0f};
}

static void a_hill_hides_and_a_hole_in_it_reveals(void** state)
{
    espyFixture* fixture = *state;
    static float heights[Side * Side];
    static uint8_t holes[(Side - 1) * (Side - 1)];
    espyTerrain terrain = espyTest_Ridge(heights);
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Terrain3D;
    def.terrain = &terrain;
    def.flags = Occluder;
    espyNodeId ground = espyFixture_Add(fixture, &def);
    espyFixture_AddArea(fixture, (espyVec3){6, 2, 16}, (espyVec3){4, 2, 4});
    espyFixture_AddTarget(fixture, (espyVec3){26, 0.6f, 16});
    assert_int_equal(espyFixture_CountSeers(fixture, 77, NULL), 0);
    assert_int_equal(fixture->input->occluderCount, 1);
    assert_int_equal(fixture->input->occluders[0].mesh.triangleCount, 2 * (Side - 1) * (Side - 1));

    // Without the ridge's flag nothing hides it, nor does a masked one.
    assert_int_equal(espyWorld_SetFlags(fixture->world, ground, 0), espyResult_Ok);
    uint32_t all = espyFixture_CountSeers(fixture, 77, NULL);
    assert_true(all > 0);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, ground), espyResult_Ok);
    terrain.material = espyMaterialClass_Masked;
    ground = espyFixture_Add(fixture, &def);
    assert_int_equal(espyFixture_CountSeers(fixture, 77, NULL), all);

    // A tunnel through the ridge, one quad wide.
    assert_int_equal(espyWorld_DestroyNode(fixture->world, ground), espyResult_Ok);
    for (int x = 12; x < 20; ++x)
    {
        holes[x + (Side - 1) * 16] = 1;
    }
    terrain.material = espyMaterialClass_Opaque;
    terrain.holes = holes;
    espyFixture_Add(fixture, &def);
    assert_true(espyFixture_CountSeers(fixture, 77, NULL) > 0);
    assert_int_equal(fixture->input->occluders[0].mesh.triangleCount, 2 * (Side - 1) * (Side - 1) - 16);
}

static void a_terrain_is_an_occludee_by_its_triangles(void** state)
{
    espyFixture* fixture = *state;
    static float heights[Side * Side];
    espyTerrain terrain = espyTest_Ridge(heights);
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Terrain3D;
    def.terrain = &terrain;
    def.flags = Occluder | Occludee;
    def.sourceId = 5;
    def.local = espyTest_Place((espyVec3){1, 2, 3}, (espyVec3){-1, 1, 1});
    espyNodeId id = espyFixture_Add(fixture, &def);
    const espyBakeInput* input = espyFixture_Gather(fixture);
    assert_int_equal(input->occludeeCount, 1);
    assert_int_equal(input->occludees[0].ownCount, 1);
    assert_int_equal(input->occludees[0].mesh.triangleCount, 2 * (Side - 1) * (Side - 1));
    espyBox want = espyWorld_GetWorldBounds(fixture->world, id);
    assert_memory_equal(&input->occludees[0].box, &want, sizeof want);
    // Mirrored, yet every triangle still looks up.
    const espyTriangles* t = &input->occluders[0].mesh;
    for (uint32_t i = 0; i < t->triangleCount; ++i)
    {
        espyVec3 a = t->positions[t->indices[3 * i]], b = t->positions[t->indices[3 * i + 1]];
        espyVec3 c = t->positions[t->indices[3 * i + 2]];
        assert_true((b.z - a.z) * (c.x - a.x) - (b.x - a.x) * (c.z - a.z) > 0.0f);
    }
}

// --- voxels

static void a_voxel_wall_hides_until_it_is_edited(void** state)
{
    espyFixture* fixture = *state;
    espyVoxels voxels = {.bricks = {1, 1, 2}, .voxelSize = 0.5f};
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Voxel3D;
    def.voxels = &voxels;
    def.flags = Occluder | Occludee;
    def.sourceId = 3;
    espyNodeId wall = espyFixture_Add(fixture, &def);
    espyFixture_AddArea(fixture, (espyVec3){1, 3, 8}, (espyVec3){2, 2, 4});
    espyFixture_AddTarget(fixture, (espyVec3){8.5f, 2.5f, 8.5f});
    // Empty voxels are nothing.
    uint32_t all = espyFixture_CountSeers(fixture, 77, NULL);
    assert_true(all > 0);
    assert_int_equal(fixture->input->occluderCount, 0);
    assert_int_equal(fixture->input->occludeeCount, 1);

    const espyVoxelRange slab = {{8, 0, 0}, {2, 16, 32}};
    assert_int_equal(espyWorld_FillVoxels(fixture->world, wall, slab, espyVoxel_Translucent), espyResult_Ok);
    assert_int_equal(espyFixture_CountSeers(fixture, 77, NULL), all);
    assert_int_equal(fixture->input->occludeeCount, 2);
    assert_int_equal(espyWorld_FillVoxels(fixture->world, wall, slab, espyVoxel_Opaque), espyResult_Ok);
    espyBakeResult file;
    assert_int_equal(espyFixture_CountSeers(fixture, 77, &file), 0);
    espyBox box = espyWorld_GetOccluderBounds(fixture->world, wall);
    assert_memory_equal(&box, &fixture->input->occludees[0].box, sizeof box);

    // A window 1 m wide: the file is stale, and a new one sees through.
    uint64_t hash = espyWorld_GetContentHash(fixture->world, wall);
    uint64_t revision = espyWorld_GetRevision(fixture->world);
    const espyVoxelRange window = {{8, 4, 15}, {2, 2, 2}};
    assert_int_equal(espyWorld_FillVoxels(fixture->world, wall, window, espyVoxel_Empty), espyResult_Ok);
    assert_true(espyWorld_GetContentHash(fixture->world, wall) != hash);
    assert_true(espyWorld_GetContentRevision(fixture->world, wall) > revision);
    espyBakeDef bakeDef = espyBakeCase_Def();
    espyBakeCheck check;
    assert_int_equal(espyBake_Check(espyFixture_Gather(fixture), &bakeDef, file.data, file.size, &check),
                     espyResult_Ok);
    assert_true(check.stale);
    assert_int_equal(check.firstNode, 3);
    espyBake_Free(&file);
    assert_true(espyFixture_CountSeers(fixture, 77, NULL) > 0);
}

// --- levels of detail

static void levels_block_by_their_occluder_mesh_and_are_seen_by_all(void** state)
{
    espyFixture* fixture = *state;
    espyFixture_AddArea(fixture, (espyVec3){1, 3, 8}, (espyVec3){2, 2, 4});
    espyFixture_AddTarget(fixture, (espyVec3){9.5f, 2.5f, 8.5f});
    espyMeshId fine = espyFixture_Mesh(fixture, (espyVec3){0.5f, 6, 10});
    // The far level has lost a part: it is a small box only.
    espyMeshId levels[2] = {espyFixture_Mesh(fixture, (espyVec3){0.4f, 1, 1}),
                            espyFixture_Mesh(fixture, (espyVec3){1.5f, 2, 3})};
    espyMeshId inner = espyFixture_Mesh(fixture, (espyVec3){0.3f, 1, 1});
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = fine;
    def.flags = Occluder | Occludee;
    def.sourceId = 4;
    def.local = espyTest_Place((espyVec3){5, 3, 8}, (espyVec3){1, 1, 1});
    espyNodeId wall = espyFixture_Add(fixture, &def);
    assert_int_equal(espyFixture_CountSeers(fixture, 77, NULL), 0);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, wall), espyResult_Ok);

    def.levels = levels;
    def.levelCount = 2;
    wall = espyFixture_Add(fixture, &def);
    assert_int_equal(fixture->warnings, 0);
    assert_true(espyFixture_CountSeers(fixture, 77, NULL) > 0);
    assert_int_equal(fixture->lastWarning, espyMessageId_GatherLevelsBlockNothing);
    uint32_t warningCount;
    const espyBakeWarning* warning = espyGathered_GetWarnings(fixture->gathered, &warningCount);
    assert_int_equal(warningCount, 1);
    assert_int_equal(warning->id, espyMessageId_GatherLevelsBlockNothing);
    assert_int_equal(warning->node, 4);
    assert_non_null(strstr(warning->text, "node #4"));
    assert_null(espyGathered_GetWarnings(NULL, &warningCount));
    assert_int_equal(warningCount, 0);
    assert_int_equal(fixture->input->occluderCount, 0);
    const espyBakeOccludee* occludee = &fixture->input->occludees[0];
    assert_int_equal(occludee->mesh.triangleCount, 36);
    assert_int_equal(occludee->ownCount, 0);
    espyBox want = espyWorld_GetWorldBounds(fixture->world, wall);
    assert_memory_equal(&occludee->box, &want, sizeof want);
    assert_float_equal(want.max.x, 6.5f, 0);
    assert_float_equal(want.max.y, 9.0f, 0);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, wall), espyResult_Ok);

    def.occluderMesh = inner;
    wall = espyFixture_Add(fixture, &def);
    fixture->lastWarning = espyMessageId_None;
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->lastWarning, espyMessageId_None);
    assert_int_equal(fixture->input->occluderCount, 1);
    assert_int_equal(fixture->input->occluders[0].mesh.triangleCount, 12);
    assert_float_equal(fixture->input->occluders[0].mesh.positions[0].x, 4.7f, 1e-5f);
    assert_int_equal(fixture->input->occludees[0].mesh.triangleCount, 36);
    assert_int_equal(fixture->input->occludees[0].ownCount, 1);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, wall), espyResult_Ok);

    // Instanced: each unroll cell has all levels.
    espyMat4 instances[2] = {espyMat4_Identity(), espyTest_Place((espyVec3){0, 0, 100}, (espyVec3){1, 1, 1})};
    def.kind = espyNodeKind_InstancedMesh3D;
    def.instances = instances;
    def.instanceCount = 2;
    espyFixture_Add(fixture, &def);
    espyFixture_Gather(fixture);
    assert_int_equal(fixture->input->occluderCount, 2);
    assert_int_equal(fixture->input->occludees[0].mesh.triangleCount, 72);
    assert_int_equal(fixture->input->occludees[1].mesh.triangleCount, 36);
    assert_int_equal(fixture->input->occludees[2].firstOwn, 1);
}

// --- bare boxes

static void bare_boxes_are_occludees(void** state)
{
    espyFixture* fixture = *state;
    espyFixture_AddArea(fixture, (espyVec3){1, 3, 8}, (espyVec3){2, 2, 4});
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = espyFixture_Mesh(fixture, (espyVec3){0.5f, 6, 10});
    def.flags = Occluder;
    def.sourceId = 4;
    def.local = espyTest_Place((espyVec3){5, 3, 8}, (espyVec3){1, 1, 1});
    espyNodeId wall = espyFixture_Add(fixture, &def);
    def = espyNodeDef_Default();
    def.flags = Occludee | Occluder;
    def.sourceId = 6;
    def.bounds = (espyBox){{-1, -1, -1}, {1, 1, 1}};
    def.local = espyTest_Place((espyVec3){9, 3, 8}, (espyVec3){1, 1, 1});
    espyNodeId lamp = espyFixture_Add(fixture, &def);
    assert_int_equal(espyFixture_CountSeers(fixture, 6, NULL), 0);
    assert_int_equal(fixture->warnings, 0);
    assert_int_equal(fixture->input->occluderCount, 1);
    espyBox want = espyWorld_GetWorldBounds(fixture->world, lamp);
    assert_memory_equal(&fixture->input->occludees[0].box, &want, sizeof want);
    assert_int_equal(espyWorld_SetFlags(fixture->world, wall, 0), espyResult_Ok);
    assert_true(espyFixture_CountSeers(fixture, 6, NULL) > 0);
    const uint32_t none[] = {0, Occludee | espyNodeFlag_Hidden, Occludee | espyNodeFlag_Dynamic};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(none); ++i)
    {
        assert_int_equal(espyWorld_SetFlags(fixture->world, lamp, none[i]), espyResult_Ok);
        assert_int_equal(espyFixture_Gather(fixture)->occludeeCount, 0);
    }
    assert_int_equal(espyWorld_SetFlags(fixture->world, lamp, Occludee), espyResult_Ok);
    assert_int_equal(espyWorld_SetBounds(fixture->world, lamp, espyBox_Empty()), espyResult_Ok);
    assert_int_equal(espyFixture_Gather(fixture)->occludeeCount, 0);
}

// --- memory

/// A thing without a name is told by its id.
static void warnings_name_what_has_no_name(void** state)
{
    espyFixture* fixture = *state;
    espyNodeDef def = espyNodeDef_Default();
    def.flags = Occludee;
    def.sourceId = 12;
    def.bounds = (espyBox){{-20, -1, -20}, {20, 1, 20}};
    espyFixture_Add(fixture, &def);
    espyBakeDef bakeDef = espyBakeCase_Def();
    espyBakeResult result;
    assert_int_equal(espyBake_Run(espyFixture_Gather(fixture), &bakeDef, &result), espyResult_Ok);
    bool found = false;
    for (uint32_t i = 0; i < result.warningCount; ++i)
    {
        bool large = result.warnings[i].id == espyMessageId_BakeLargeOccludee;
        assert_true(!large || result.warnings[i].node == 12);
        assert_true(!large || strstr(result.warnings[i].text, "'node 12'") != NULL);
        found = found || large;
    }
    assert_true(found);
    espyBake_Free(&result);
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void** state)
{
    espyFixture* fixture = *state;
    static float heights[Side * Side];
    espyTerrain terrain = espyTest_Ridge(heights);
    espyNodeDef def = espyNodeDef_Default();
    def.flags = Occluder | Occludee;
    def.kind = espyNodeKind_Terrain3D;
    def.terrain = &terrain;
    espyFixture_Add(fixture, &def);
    espyVoxels voxels = {.bricks = {1, 1, 1}, .voxelSize = 0.5f};
    def.kind = espyNodeKind_Voxel3D;
    def.terrain = NULL;
    def.voxels = &voxels;
    const espyVoxelRange slab = {{0, 0, 0}, {16, 8, 16}};
    espyNodeId id = espyFixture_Add(fixture, &def);
    assert_int_equal(espyWorld_FillVoxels(fixture->world, id, slab, espyVoxel_Opaque), espyResult_Ok);
    espyMeshId level = espyFixture_Mesh(fixture, (espyVec3){2, 2, 2});
    def.voxels = NULL;
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = def.occluderMesh = espyFixture_Mesh(fixture, (espyVec3){1, 1, 1});
    def.levels = &level;
    def.levelCount = 1;
    espyFixture_Add(fixture, &def);
    def.occluderMesh = (espyMeshId){0};
    espyFixture_Add(fixture, &def);
    def = espyNodeDef_Default();
    def.flags = Occludee;
    def.bounds = (espyBox){{-1, -1, -1}, {1, 1, 1}};
    espyFixture_Add(fixture, &def);
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
    assert_true(failures > 15);
}

#define ESPY_TEST(name) cmocka_unit_test_setup_teardown(name, espyFixture_Set, espyFixture_Drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ESPY_TEST(a_hill_hides_and_a_hole_in_it_reveals),
        ESPY_TEST(a_terrain_is_an_occludee_by_its_triangles),
        ESPY_TEST(a_voxel_wall_hides_until_it_is_edited),
        ESPY_TEST(levels_block_by_their_occluder_mesh_and_are_seen_by_all),
        ESPY_TEST(bare_boxes_are_occludees),
        ESPY_TEST(warnings_name_what_has_no_name),
        ESPY_TEST(every_failed_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
