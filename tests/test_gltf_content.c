// SPDX-License-Identifier: MIT
// Kinds of nodes, levels of detail, bounds and cameras through a .glb and back, and extras that make no sense.
#include "gltf_case.h"
#include "test_main.h"

#include "core/core.h"

#include <espy/editor.h>

#include <stdio.h>
#include <string.h>

#define ESPY_OUT ESPY_BINARY_DIR "/gltf_content.glb"

static espyMeshId espyTest_Box(espyWorld* world, float half)
{
    static const uint32_t indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    espyVec3 positions[8];
    for (int i = 0; i < 8; ++i)
    {
        positions[i] = (espyVec3){i & 1 ? half : -half, i & 2 ? half : -half, i & 4 ? half : -half};
    }
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId id;
    def.triangles = (espyTriangles){positions, indices, 8, 12};
    assert_int_equal(espyWorld_CreateMesh(world, &def, &id), espyResult_Ok);
    return id;
}

static espyNodeDef espyTest_Def(espyNodeKind kind, int32_t id, uint32_t flags)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = kind;
    def.sourceId = id;
    def.flags = flags;
    def.local.m[12] = 20.0f * (float)id;
    return def;
}

static void espyTest_Add(espyWorld* world, const espyNodeDef* def)
{
    espyNodeId id;
    assert_int_equal(espyWorld_CreateNode(world, def, &id), espyResult_Ok);
}

enum
{
    Occluder = espyNodeFlag_OccluderStatic,
    Occludee = espyNodeFlag_OccludeeStatic,
    Shadow = espyNodeFlag_CastsShadow,
    NodeCount = 11,
};

/// One node of every kind and every field that the format has to carry.
static espyWorld* espyTest_MakeWorld(void)
{
    espyWorldDef worldDef = espyWorldDef_Default();
    espyWorld* world;
    assert_int_equal(espyWorld_Create(&worldDef, &world), espyResult_Ok);
    espySceneSettings settings = espySceneSettings_Default();
    settings.bakeQuality = espyBakeQuality_High;
    espyWorld_SetSettings(world, &settings);
    espyMeshId fine = espyTest_Box(world, 2.0f), inner = espyTest_Box(world, 0.5f);
    const espyMeshId levels[2] = {espyTest_Box(world, 2.5f), espyTest_Box(world, 1.0f)};

    float heights[12];
    for (int i = 0; i < 12; ++i)
    {
        heights[i] = 0.25f * (float)(i * i % 7);
    }
    const uint8_t holes[6] = {0, 1, 0, 0, 0, 0};
    espyTerrain terrain = {.heights = heights, .holes = holes, .width = 4, .depth = 3, .spacing = 1.5f};
    terrain.color = 0x336699;
    espyNodeDef def = espyTest_Def(espyNodeKind_Terrain3D, 0, Occluder | Shadow);
    def.terrain = &terrain;
    def.name = "ground";
    espyTest_Add(world, &def);

    static uint8_t values[4096];
    for (int i = 0; i < 4096; ++i)
    {
        values[i] = (uint8_t)(i * 7 % 11 == 0 ? 1 + i % 4 : 0);
    }
    espyVoxels voxels = {.bricks = {1, 1, 1}, .voxelSize = 0.25f, .values = values, .color = 0x996633};
    def = espyTest_Def(espyNodeKind_Voxel3D, 1, Occluder | Occludee);
    def.voxels = &voxels;
    espyTest_Add(world, &def);

    def = espyTest_Def(espyNodeKind_StaticMesh3D, 2, Occluder | Occludee | Shadow);
    def.mesh = fine;
    def.levels = levels;
    def.levelCount = 2;
    def.occluderMesh = inner;
    espyTest_Add(world, &def);

    def = espyTest_Def(espyNodeKind_SkeletalMesh3D, 3, Occludee | espyNodeFlag_AlwaysUpdate);
    def.mesh = fine;
    def.bounds = (espyBox){{-1, -2, -3}, {1.5f, 2, 3}};
    espyTest_Add(world, &def);

    def = espyTest_Def(espyNodeKind_Particle3D, 4, Occludee);
    def.bounds = (espyBox){{-1, 0, -1}, {1, 8, 1}};
    espyTest_Add(world, &def);

    def = espyTest_Def(espyNodeKind_Node3D, 5, Occludee | Shadow);
    def.bounds = (espyBox){{-4, -4, -4}, {4, 4, 4}};
    espyTest_Add(world, &def);

    espyMat4 instances[3] = {espyMat4_Identity(), espyMat4_Identity(), espyMat4_Identity()};
    instances[1].m[14] = 50.0f;
    instances[2].m[14] = 100.0f;
    def = espyTest_Def(espyNodeKind_InstancedMesh3D, 6, Occluder | Occludee);
    def.mesh = fine;
    def.instances = instances;
    def.instanceCount = 3;
    def.unrollCellSize = 60.0f;
    espyTest_Add(world, &def);

    // Draws nothing, as it is.
    def = espyTest_Def(espyNodeKind_InstancedMesh3D, 7, Occluder | Occludee | Shadow);
    def.mesh = fine;
    espyTest_Add(world, &def);

    def = espyTest_Def(espyNodeKind_Camera3D, 8, Shadow);
    def.camera.offsetX = 0.25f;
    def.camera.offsetY = -0.5f;
    espyTest_Add(world, &def);
    def = espyTest_Def(espyNodeKind_Camera3D, 9, Shadow);
    def.camera = (espyCamera){
        .orthographic = true, .aspect = 2.0f, .halfHeight = 3.0f, .nearDistance = -4.0f, .farDistance = 50.0f};
    espyTest_Add(world, &def);
    assert_int_equal(espyWorld_SetActiveCamera(world, espyWorld_FindSource(world, 9)), espyResult_Ok);

    // A terrain that is a mesh stays a terrain.
    def = espyTest_Def(espyNodeKind_Terrain3D, 10, Occluder | espyNodeFlag_Hidden);
    def.mesh = inner;
    espyTest_Add(world, &def);
    return world;
}

/// The triangles corner by corner: vertices may be numbered anew.
static void espyTest_AssertSameTriangles(const espyTriangles* a, const espyTriangles* b)
{
    assert_int_equal(a->triangleCount, b->triangleCount);
    for (uint32_t i = 0; i < 3 * a->triangleCount; ++i)
    {
        assert_memory_equal(&a->positions[a->indices[i]], &b->positions[b->indices[i]], sizeof(espyVec3));
    }
}

/// Two worlds give the bake the same to the bit.
static void espyTest_AssertSameInput(const espyWorld* a, const espyWorld* b)
{
    espyGathered *x, *y;
    assert_int_equal(espyEditor_Gather(a, 4.0f, 0.0f, NULL, &x), espyResult_Ok);
    assert_int_equal(espyEditor_Gather(b, 4.0f, 0.0f, NULL, &y), espyResult_Ok);
    const espyBakeInput *p = espyGathered_GetInput(x), *q = espyGathered_GetInput(y);
    assert_true(p->occluderCount > 3 && p->occludeeCount > 5);
    assert_int_equal(p->occluderCount, q->occluderCount);
    assert_int_equal(p->occludeeCount, q->occludeeCount);
    assert_int_equal(p->viewPointCount, q->viewPointCount);
    for (uint32_t i = 0; i < p->occluderCount; ++i)
    {
        assert_int_equal(p->occluders[i].node, q->occluders[i].node);
        espyTest_AssertSameTriangles(&p->occluders[i].mesh, &q->occluders[i].mesh);
    }
    for (uint32_t i = 0; i < p->occludeeCount; ++i)
    {
        const espyBakeOccludee *o = &p->occludees[i], *r = &q->occludees[i];
        assert_true(o->node == r->node && o->part == r->part);
        assert_true(o->firstOwn == r->firstOwn && o->ownCount == r->ownCount);
        assert_memory_equal(&o->box, &r->box, sizeof o->box);
        espyTest_AssertSameTriangles(&o->mesh, &r->mesh);
    }
    espyGathered_Destroy(x);
    espyGathered_Destroy(y);
}

static void every_kind_comes_back(void** state)
{
    (void)state;
    espyWorld* world = espyTest_MakeWorld();
    espyImportReport report;
    assert_int_equal(espyImport_SaveGlb(world, ESPY_OUT, NULL, 0, &report), espyResult_Ok);
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, ESPY_OUT);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(test.warningCount, 0);
    assert_int_equal(espyWorld_GetNodeCount(test.world), NodeCount);
    for (int32_t i = 0; i < NodeCount; ++i)
    {
        espyNodeDef a, b = espyGltfCase_Node(&test, i);
        espyNodeId id = espyWorld_FindSource(world, i), other = espyWorld_FindSource(test.world, i);
        assert_int_equal(espyWorld_GetNode(world, id, &a), espyResult_Ok);
        assert_int_equal(a.kind, b.kind);
        assert_int_equal(a.flags, b.flags);
        assert_int_equal(a.levelCount, b.levelCount);
        assert_int_equal(a.occluderMesh.index1 != 0, b.occluderMesh.index1 != 0);
        assert_int_equal(a.instanceCount, b.instanceCount);
        assert_float_equal(a.unrollCellSize, b.unrollCellSize, 0);
        assert_memory_equal(&a.bounds, &b.bounds, sizeof a.bounds);
        assert_float_equal(a.camera.offsetX, b.camera.offsetX, 0);
        assert_float_equal(a.camera.offsetY, b.camera.offsetY, 0);
        if (a.kind == espyNodeKind_Camera3D)
        {
            assert_int_equal(a.camera.orthographic, b.camera.orthographic);
            assert_float_equal(a.camera.nearDistance, b.camera.nearDistance, 0);
            assert_float_equal(a.camera.farDistance, b.camera.farDistance, 0);
        }
        espyBox x = espyWorld_GetWorldBounds(world, id), y = espyWorld_GetWorldBounds(test.world, other);
        assert_memory_equal(&x, &y, sizeof x);
        x = espyWorld_GetOccluderBounds(world, id);
        y = espyWorld_GetOccluderBounds(test.world, other);
        assert_memory_equal(&x, &y, sizeof x);
    }
    assert_int_equal(espyWorld_GetActiveCamera(test.world).index1, espyWorld_FindSource(test.world, 9).index1);
    assert_int_equal(espyWorld_GetSettings(test.world).bakeQuality, espyBakeQuality_High);
    espyTest_AssertSameInput(world, test.world);
    // What was read once is written the same from then on.
    size_t sizes[2];
    uint8_t* bytes[2];
    for (int i = 0; i < 2; ++i)
    {
        assert_int_equal(espyImport_SaveGlb(test.world, ESPY_OUT, NULL, 0, &report), espyResult_Ok);
        bytes[i] = espyGltfCase_ReadFile(ESPY_OUT, &sizes[i]);
        espyGltfCase_Drop(&test);
        espyGltfCase_LoadBytes(&test, bytes[i], sizes[i], 0);
        espyGltfCase_AssertOk(&test);
        espyTest_AssertSameInput(world, test.world);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    espyGltfCase_Drop(&test);
    free(bytes[0]);
    free(bytes[1]);
    espyWorld_Destroy(world);
}

static void extras_that_make_no_sense_are_told_with_their_node(void** state)
{
    (void)state;
    static const char* const extras[] = {
        "\"nodeKind\":\"enemy\"",
        "\"nodeKind\":\"Camera3D\"",
        "\"lodMeshes\":[0,9]",
        "\"lodMeshes\":7",
        "\"lodMeshes\":[0.5]",
        "\"occluderMesh\":-1",
        "\"occluderMesh\":3",
        "\"occlusionBounds\":[1,2]",
        "\"occlusionBounds\":[0,0,0,1,1,1]",
        "\"occlusionBounds\":[0,0,0,1,1,\"x\"]",
        "\"cameraOffset\":[1e300,0]",
        "\"unrollCellSize\":-2",
        "\"castsShadow\":\"perhaps\"",
        "\"occluderMesh\":1",
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(extras); ++i)
    {
        char json[2048];
        // The box is the only mesh of the file.
        snprintf(json, sizeof json,
                 "{" ESPY_GLTF_ASSET ",\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"name\":\"a\"},"
                 "{\"mesh\":0,\"extras\":{\"occluder\":1,%s}}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}",
                 extras[i]);
        espyGltfCase test = {0};
        espyGltfCase_LoadBox(&test, json);
        espyGltfCase_AssertOk(&test);
        if (test.warningCount != 1 || test.warningIds[0] != espyMessageId_ImportUnknownExtra ||
            test.warningNodes[0] != 1)
        {
            fail_msg("%s: %u warnings", extras[i], test.warningCount);
        }
        espyNodeDef node = espyGltfCase_Node(&test, 1);
        assert_int_equal(node.kind, espyNodeKind_StaticMesh3D);
        assert_int_equal(node.flags, espyNodeFlag_OccluderStatic | espyNodeFlag_CastsShadow);
        assert_int_equal(node.levelCount, 0);
        assert_int_equal(node.occluderMesh.index1, 0);
        espyGltfCase_Drop(&test);
    }
}

static void an_occluder_mesh_outside_is_left_out(void** state)
{
    (void)state;
    espyWorldDef worldDef = espyWorldDef_Default();
    espyWorld* world;
    assert_int_equal(espyWorld_Create(&worldDef, &world), espyResult_Ok);
    espyNodeDef def = espyTest_Def(espyNodeKind_StaticMesh3D, 0, Occluder);
    def.mesh = espyTest_Box(world, 2.0f);
    def.occluderMesh = espyTest_Box(world, 1.0f);
    espyTest_Add(world, &def);
    espyImportReport report;
    assert_int_equal(espyImport_SaveGlb(world, ESPY_OUT, NULL, 0, &report), espyResult_Ok);
    espyWorld_Destroy(world);
    size_t size;
    uint8_t* bytes = espyGltfCase_ReadFile(ESPY_OUT, &size);
    // Swap the two meshes: what blocks is now the larger one.
    bool meshSwapped = false, innerSwapped = false;
    for (size_t i = 0; i + 20 < size; ++i)
    {
        if (memcmp(bytes + i, "\"mesh\":0", 8) == 0)
        {
            bytes[i + 7] = '1';
            meshSwapped = true;
        }
        if (memcmp(bytes + i, "\"occluderMesh\":1", 16) == 0)
        {
            bytes[i + 15] = '0';
            innerSwapped = true;
        }
    }
    assert_true(meshSwapped && innerSwapped);
    espyGltfCase test = {0};
    espyGltfCase_LoadBytes(&test, bytes, size, 0);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(test.warningCount, 1);
    assert_int_equal(test.warningNodes[0], 0);
    assert_int_equal(espyGltfCase_Node(&test, 0).occluderMesh.index1, 0);
    espyGltfCase_Drop(&test);
    free(bytes);
}

static void names_are_read_in_any_case(void** state)
{
    (void)state;
    static const struct
    {
        const char* text;
        espyBakeQuality quality;
        unsigned warnings;
    } cases[] = {
        {"\"HIGH\"", espyBakeQuality_High, 0},     {"\"Proven\"", espyBakeQuality_Proven, 0},
        {"\"lOw\"", espyBakeQuality_Low, 0},       {"3", espyBakeQuality_Proven, 0},
        {"\"higher\"", espyBakeQuality_Medium, 1}, {"\"hig\"", espyBakeQuality_Medium, 1},
        {"4", espyBakeQuality_Medium, 1},          {"true", espyBakeQuality_Medium, 1},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        char json[1024];
        snprintf(json, sizeof json,
                 "{" ESPY_GLTF_ASSET ",\"scene\":0,\"scenes\":[{\"nodes\":[0],\"extras\":{\"bakeQuality\":%s}}],"
                 "\"nodes\":[{\"mesh\":0,\"extras\":{\"occluder\":1,\"nodeKind\":\"terrain3d\"}}]," ESPY_GLTF_BOX_MESH
                 "," ESPY_GLTF_BOX_DATA "}",
                 cases[i].text);
        espyGltfCase test = {0};
        espyGltfCase_LoadBox(&test, json);
        espyGltfCase_AssertOk(&test);
        assert_int_equal(espyWorld_GetSettings(test.world).bakeQuality, cases[i].quality);
        assert_int_equal(test.warningCount, cases[i].warnings);
        assert_true(test.warningCount == 0 || test.warningNodes[0] == -1);
        assert_int_equal(espyGltfCase_Node(&test, 0).kind, espyNodeKind_Terrain3D);
        espyGltfCase_Drop(&test);
    }
}

/// Reading what every kind writes, with an allocation that fails.
static void every_failed_allocation_is_reported(void** state)
{
    (void)state;
    espyWorld* world = espyTest_MakeWorld();
    espyImportReport report;
    assert_int_equal(espyImport_SaveGlb(world, ESPY_OUT, NULL, 0, &report), espyResult_Ok);
    espyWorld_Destroy(world);
    espyGltfCase test = {0};
    unsigned failAt = 0;
    do
    {
        test.counter.failAt = ++failAt;
        espyGltfCase_LoadFile(&test, ESPY_OUT);
        assert_true(test.result == espyResult_Ok || test.result == espyResult_OutOfMemory);
        espyGltfCase_Drop(&test);
    } while (test.result != espyResult_Ok);
    assert_true(failAt > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_comes_back),
        cmocka_unit_test(extras_that_make_no_sense_are_told_with_their_node),
        cmocka_unit_test(an_occluder_mesh_outside_is_left_out),
        cmocka_unit_test(names_are_read_in_any_case),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
