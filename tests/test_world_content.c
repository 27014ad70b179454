// SPDX-License-Identifier: MIT
// What nodes hold: terrains, voxels, levels of detail, poses, bare boxes, cameras; their bounds, triangles and hashes.
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
    espyHookCounter counter; // First: it is the hooks' context.
    espyHooks hooks;
    unsigned asserts;
    espyWorld* world;
} espyFixture;

static void espyFixture_CountAssert(const char* condition, const char* function, void* context)
{
    (void)condition;
    (void)function;
    ++((espyFixture*)context)->asserts;
}

static int espyFixture_Set(void** state)
{
    espyFixture* fixture = calloc(1, sizeof *fixture);
    espyWorldDef def = espyWorldDef_Default();
    fixture->hooks = espyHookCounter_Hooks(&fixture->counter);
    fixture->hooks.assertFail = espyFixture_CountAssert;
    def.hooks = fixture->hooks;
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

static espyMat4 espyTest_Move(float x, float y, float z)
{
    espyMat4 m = espyMat4_Identity();
    m.m[12] = x;
    m.m[13] = y;
    m.m[14] = z;
    return m;
}

/// Turned about every axis and moved.
static espyMat4 espyTest_Turned(void)
{
    const float q[4] = {0.1825742f, 0.3651484f, 0.5477226f, 0.7302967f};
    return espyMat4_FromTrs((espyVec3){3, -2, 5}, q, (espyVec3){1, 1.5f, 1});
}

/// A box of half size `s`, whose second half of triangles has the class `last`.
static espyMeshId espyFixture_Box(espyFixture* fixture, float s, espyMaterialClass last)
{
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId id;
    espyVec3 positions[8];
    const espyMeshPart parts[2] = {{0, 18, espyMaterialClass_Opaque, 0}, {18, 18, last, 0}};
    for (int i = 0; i < 8; ++i)
    {
        positions[i] = (espyVec3){s * boxPositions[i].x, s * boxPositions[i].y, s * boxPositions[i].z};
    }
    def.triangles = (espyTriangles){positions, boxIndices, 8, 12};
    def.parts = parts;
    def.partCount = 2;
    assert_int_equal(espyWorld_CreateMesh(fixture->world, &def, &id), espyResult_Ok);
    return id;
}

static espyNodeId espyFixture_Add(espyFixture* fixture, const espyNodeDef* def)
{
    espyNodeId id;
    assert_int_equal(espyWorld_CreateNode(fixture->world, def, &id), espyResult_Ok);
    return id;
}

static void espyFixture_Refused(espyFixture* fixture, const espyNodeDef* def)
{
    espyNodeId id;
    unsigned before = fixture->asserts;
    assert_int_equal(espyWorld_CreateNode(fixture->world, def, &id), espyResult_InvalidArgument);
    assert_int_equal(id.index1, 0);
    assert_true(fixture->asserts > before);
}

static void espyTest_AssertBox(espyBox got, espyBox want, float tolerance)
{
    const float a[6] = {got.min.x, got.min.y, got.min.z, got.max.x, got.max.y, got.max.z};
    const float b[6] = {want.min.x, want.min.y, want.min.z, want.max.x, want.max.y, want.max.z};
    for (int i = 0; i < 6; ++i)
    {
        assert_float_equal(a[i], b[i], tolerance);
    }
}

static espyBox espyTest_Box(float x0, float y0, float z0, float x1, float y1, float z1)
{
    return (espyBox){{x0, y0, z0}, {x1, y1, z1}};
}

static espyBox espyTest_SurfaceBounds(const espySurface* surface, espyMat4 transform)
{
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < 3 * surface->triangles.triangleCount; ++i)
    {
        espyVec3 p = surface->triangles.positions[surface->triangles.indices[i]];
        box = espyBox_AddPoint(box, espyMat4_TransformPoint(transform, p));
    }
    return box;
}

// --- terrain

enum
{
    TerrainWidth = 9,
    TerrainDepth = 6,
};

static espyTerrain espyTest_Terrain(float heights[TerrainWidth * TerrainDepth],
                                    uint8_t holes[(TerrainWidth - 1) * (TerrainDepth - 1)], uint64_t seed)
{
    espyiRng rng = espyiRng_Seed(seed);
    for (int i = 0; i < TerrainWidth * TerrainDepth; ++i)
    {
        heights[i] = 4.0f * espyiRng_Float(&rng);
    }
    for (int i = 0; i < (TerrainWidth - 1) * (TerrainDepth - 1); ++i)
    {
        holes[i] = espyiRng_Below(&rng, 3) == 0 ? 7 : 0;
    }
    return (espyTerrain){.heights = heights,
                         .holes = holes,
                         .width = TerrainWidth,
                         .depth = TerrainDepth,
                         .spacing = 0.5f,
                         .material = espyMaterialClass_Masked,
                         .color = 0x112233};
}

/// The triangles are those of the documented rule, in order, none in a hole; every sample is one vertex at most.
static void terrain_triangles_follow_the_rule(void** state)
{
    espyFixture* fixture = *state;
    float heights[TerrainWidth * TerrainDepth];
    uint8_t holes[(TerrainWidth - 1) * (TerrainDepth - 1)];
    for (uint64_t seed = 1; seed < 40; ++seed)
    {
        espyTerrain terrain = espyTest_Terrain(heights, holes, seed);
        espyNodeDef def = espyNodeDef_Default();
        def.kind = espyNodeKind_Terrain3D;
        def.terrain = &terrain;
        def.local = espyTest_Turned();
        espyNodeId id = espyFixture_Add(fixture, &def);
        espySurface surface;
        assert_int_equal(espyWorld_BuildSurface(fixture->world, id, &fixture->hooks, &surface), espyResult_Ok);
        uint32_t triangle = 0;
        bool used[TerrainWidth * TerrainDepth] = {false};
        for (uint32_t z = 0; z + 1 < TerrainDepth; ++z)
        {
            for (uint32_t x = 0; x + 1 < TerrainWidth; ++x)
            {
                const uint32_t corners[6][2] = {{x, z}, {x, z + 1}, {x + 1, z + 1}, {x, z}, {x + 1, z + 1}, {x + 1, z}};
                for (int k = 0; k < 6 && holes[x + (TerrainWidth - 1) * z] == 0; ++k)
                {
                    uint32_t sample = corners[k][0] + TerrainWidth * corners[k][1];
                    espyVec3 got = surface.triangles.positions[surface.triangles.indices[triangle++]];
                    espyVec3 want = {0.5f * (float)corners[k][0], heights[sample], 0.5f * (float)corners[k][1]};
                    assert_memory_equal(&got, &want, sizeof want);
                    used[sample] = true;
                }
            }
        }
        uint32_t vertices = 0;
        for (int i = 0; i < TerrainWidth * TerrainDepth; ++i)
        {
            vertices += used[i] ? 1 : 0;
        }
        assert_int_equal(3 * surface.triangles.triangleCount, triangle);
        assert_int_equal(surface.triangles.vertexCount, vertices);
        assert_int_equal(surface.partCount, 1);
        assert_int_equal(surface.parts[0].material, espyMaterialClass_Masked);
        assert_int_equal(surface.parts[0].indexCount, triangle);
        espyBox want = espyTest_SurfaceBounds(&surface, def.local);
        espyBox got = espyWorld_GetWorldBounds(fixture->world, id);
        assert_memory_equal(&got, &want, sizeof want);
        espySurface_Free(&surface);
        assert_int_equal(surface.triangles.triangleCount, 0);
        // Masked terrain blocks nothing.
        espyWorld_SetFlags(fixture->world, id, espyNodeFlag_OccluderStatic);
        assert_false(espyBox_IsValid(espyWorld_GetOccluderBounds(fixture->world, id)));
    }
}

static void terrain_is_copied_and_checked(void** state)
{
    espyFixture* fixture = *state;
    float heights[TerrainWidth * TerrainDepth];
    uint8_t holes[(TerrainWidth - 1) * (TerrainDepth - 1)];
    espyTerrain terrain = espyTest_Terrain(heights, holes, 5);
    espyNodeDef def = espyNodeDef_Default(), got;
    def.kind = espyNodeKind_Terrain3D;
    def.terrain = &terrain;
    def.flags = espyNodeFlag_OccluderStatic;
    terrain.material = espyMaterialClass_Opaque;
    espyNodeId id = espyFixture_Add(fixture, &def);
    assert_int_equal(espyWorld_GetNode(fixture->world, id, &got), espyResult_Ok);
    assert_ptr_not_equal(got.terrain->heights, heights);
    assert_memory_equal(got.terrain->heights, heights, sizeof heights);
    assert_memory_equal(got.terrain->holes, holes, sizeof holes);
    assert_int_equal(got.terrain->color, 0x112233);
    espyBox drawn = espyWorld_GetWorldBounds(fixture->world, id), blocks;
    blocks = espyWorld_GetOccluderBounds(fixture->world, id);
    assert_memory_equal(&drawn, &blocks, sizeof drawn);

    const espyTerrain sound = terrain;
    terrain.width = 1;
    espyFixture_Refused(fixture, &def);
    terrain = sound;
    terrain.width = 1u << 20;
    terrain.depth = 1u << 20;
    espyFixture_Refused(fixture, &def);
    terrain = sound;
    terrain.spacing = 0.0f;
    espyFixture_Refused(fixture, &def);
    terrain = sound;
    terrain.material = (espyMaterialClass)4;
    espyFixture_Refused(fixture, &def);
    terrain = sound;
    terrain.heights = NULL;
    espyFixture_Refused(fixture, &def);
    terrain = sound;
    heights[20] = (float)(1e300 * 1e300);
    espyFixture_Refused(fixture, &def);
    heights[20] = 0.0f;
    def.kind = espyNodeKind_StaticMesh3D;
    espyFixture_Refused(fixture, &def);
    def.kind = espyNodeKind_Terrain3D;
    def.mesh = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Opaque);
    espyFixture_Refused(fixture, &def);
    // All holes: nothing is there.
    def.mesh = (espyMeshId){0};
    memset(holes, 1, sizeof holes);
    espySurface surface;
    id = espyFixture_Add(fixture, &def);
    assert_false(espyBox_IsValid(espyWorld_GetWorldBounds(fixture->world, id)));
    assert_int_equal(espyWorld_BuildSurface(fixture->world, id, &fixture->hooks, &surface), espyResult_Ok);
    assert_int_equal(surface.triangles.triangleCount, 0);
    espySurface_Free(&surface);
}

// --- voxels

enum
{
    VoxelsX = 32,
    VoxelsY = 48,
    VoxelsZ = 16,
    VoxelCount = VoxelsX * VoxelsY * VoxelsZ,
};

static uint8_t espyTest_At(const uint8_t* values, int x, int y, int z)
{
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < VoxelsX && y < VoxelsY && z < VoxelsZ;
    return inside ? values[x + VoxelsX * (y + VoxelsY * z)] : espyVoxel_Empty;
}

/// Every rectangle of a surface marks the unit faces that it covers; those must be the faces of the model, each once.
static void espyTest_CheckSurface(const espySurface* surface, const uint8_t* values, float size)
{
    static uint8_t covered[VoxelCount][6];
    memset(covered, 0, sizeof covered);
    uint32_t classOf = 0;
    for (uint32_t p = 0; p < surface->partCount; ++p)
    {
        const espyMeshPart* part = &surface->parts[p];
        assert_true((uint32_t)part->material + 1 > classOf);
        classOf = (uint32_t)part->material + 1;
        for (uint32_t i = part->firstIndex; i < part->firstIndex + part->indexCount; i += 6)
        {
            espyVec3 c[6];
            espyBox box = espyBox_Empty();
            for (uint32_t k = 0; k < 6; ++k)
            {
                c[k] = surface->triangles.positions[surface->triangles.indices[i + k]];
                box = espyBox_AddPoint(box, c[k]);
            }
            // Both triangles have the same normal, which is the side.
            float side[2][3];
            for (int t = 0; t < 2; ++t)
            {
                espyVec3 a = c[3 * t], b = c[3 * t + 1], d = c[3 * t + 2];
                float u[3] = {b.x - a.x, b.y - a.y, b.z - a.z}, v[3] = {d.x - a.x, d.y - a.y, d.z - a.z};
                side[t][0] = u[1] * v[2] - u[2] * v[1];
                side[t][1] = u[2] * v[0] - u[0] * v[2];
                side[t][2] = u[0] * v[1] - u[1] * v[0];
            }
            int axis = side[0][0] != 0.0f ? 0 : side[0][1] != 0.0f ? 1 : 2;
            bool positive = side[0][axis] > 0.0f;
            assert_true(side[0][axis] * side[1][axis] > 0.0f);
            const float* low = &box.min.x;
            const float* high = &box.max.x;
            int from[3], to[3];
            for (int k = 0; k < 3; ++k)
            {
                from[k] = (int)(low[k] / size + 0.5f);
                to[k] = (int)(high[k] / size + 0.5f);
            }
            assert_int_equal(from[axis], to[axis]);
            from[axis] -= positive ? 1 : 0;
            to[axis] = from[axis] + 1;
            for (int z = from[2]; z < to[2]; ++z)
            {
                for (int y = from[1]; y < to[1]; ++y)
                {
                    for (int x = from[0]; x < to[0]; ++x)
                    {
                        assert_int_equal(espyTest_At(values, x, y, z), classOf);
                        ++covered[x + VoxelsX * (y + VoxelsY * z)][2 * axis + (positive ? 1 : 0)];
                    }
                }
            }
        }
    }
    for (int i = 0; i < VoxelCount; ++i)
    {
        int x = i % VoxelsX, y = i / VoxelsX % VoxelsY, z = i / VoxelsX / VoxelsY;
        const int steps[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
        for (int s = 0; s < 6; ++s)
        {
            uint8_t other = espyTest_At(values, x + steps[s][0], y + steps[s][1], z + steps[s][2]);
            bool face = values[i] != espyVoxel_Empty && other != values[i] && other != espyVoxel_Opaque;
            assert_int_equal(covered[i][s], face ? 1 : 0);
        }
    }
}

static espyBox espyTest_VoxelBounds(const uint8_t* values, float size, espyMat4 transform, bool opaqueOnly)
{
    espyBox box = espyBox_Empty();
    for (int i = 0; i < VoxelCount; ++i)
    {
        int x = i % VoxelsX, y = i / VoxelsX % VoxelsY, z = i / VoxelsX / VoxelsY;
        for (int k = 0; k < 8 && values[i] != espyVoxel_Empty && (!opaqueOnly || values[i] == espyVoxel_Opaque); ++k)
        {
            espyVec3 p = {size * (float)(x + (k & 1)), size * (float)(y + (k >> 1 & 1)), size * (float)(z + (k >> 2))};
            box = espyBox_AddPoint(box, espyMat4_TransformPoint(transform, p));
        }
    }
    return box;
}

/// Random edits against an array: values, bounds, surface, and a hash that depends on the values alone.
static void voxels_match_a_model_through_edits(void** state)
{
    espyFixture* fixture = *state;
    const uint64_t seed = 7;
    espyiRng rng = espyiRng_Seed(seed);
    static uint8_t model[VoxelCount], given[VoxelCount], got[VoxelCount];
    memset(model, 0, sizeof model);
    espyVoxels voxels = {.bricks = {2, 3, 1}, .voxelSize = 0.25f};
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Voxel3D;
    def.voxels = &voxels;
    def.local = espyTest_Turned();
    def.flags = espyNodeFlag_OccluderStatic;
    espyNodeId id = espyFixture_Add(fixture, &def);
    const espyVoxelRange all = {{0, 0, 0}, {VoxelsX, VoxelsY, VoxelsZ}};
    assert_false(espyBox_IsValid(espyWorld_GetWorldBounds(fixture->world, id)));
    for (int round = 0; round < 120; ++round)
    {
        espyVoxelRange range = all;
        for (int axis = 0; axis < 3 && round % 10 != 9; ++axis)
        {
            range.min[axis] = espyiRng_Below(&rng, all.size[axis]);
            range.size[axis] = 1 + espyiRng_Below(&rng, all.size[axis] - range.min[axis]);
        }
        bool fill = espyiRng_Below(&rng, 2) == 0;
        uint8_t value = (uint8_t)espyiRng_Below(&rng, 5);
        size_t at = 0;
        bool differs = false;
        for (uint32_t z = 0; z < range.size[2]; ++z)
        {
            for (uint32_t y = 0; y < range.size[1]; ++y)
            {
                for (uint32_t x = 0; x < range.size[0]; ++x)
                {
                    uint8_t* voxel =
                        &model[range.min[0] + x + VoxelsX * (range.min[1] + y + VoxelsY * (range.min[2] + z))];
                    given[at] = fill ? value : (uint8_t)(espyiRng_Below(&rng, 8) > 4 ? espyiRng_Below(&rng, 5) : 0);
                    differs = differs || *voxel != given[at];
                    *voxel = given[at++];
                }
            }
        }
        uint64_t revision = espyWorld_GetRevision(fixture->world);
        uint64_t hash = espyWorld_GetContentHash(fixture->world, id);
        assert_int_equal(fill ? espyWorld_FillVoxels(fixture->world, id, range, (espyVoxel)value)
                              : espyWorld_SetVoxels(fixture->world, id, range, given),
                         espyResult_Ok);
        assert_int_equal(espyWorld_GetContentRevision(fixture->world, id) > revision, differs);
        assert_int_equal(espyWorld_GetContentHash(fixture->world, id) != hash, differs);
        assert_int_equal(espyWorld_GetVoxels(fixture->world, id, all, got), espyResult_Ok);
        assert_memory_equal(got, model, sizeof model);
        espyBox want = espyTest_VoxelBounds(model, 0.25f, def.local, false);
        espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), want, 1e-5f);
        want = espyTest_VoxelBounds(model, 0.25f, def.local, true);
        espyTest_AssertBox(espyWorld_GetOccluderBounds(fixture->world, id), want, 1e-5f);
        // Mirrored, with axes that change places, and moved.
        const espyMat4 straight = {{0, 0, -2, 0, 1, 0, 0, 0, 0, 3, 0, 0, 7, 8, 9, 1}};
        assert_int_equal(espyWorld_SetLocalTransform(fixture->world, id, straight), espyResult_Ok);
        want = espyTest_VoxelBounds(model, 0.25f, straight, false);
        espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), want, 0.0f);
        want = espyTest_VoxelBounds(model, 0.25f, straight, true);
        espyTest_AssertBox(espyWorld_GetOccluderBounds(fixture->world, id), want, 0.0f);
        assert_int_equal(espyWorld_SetLocalTransform(fixture->world, id, def.local), espyResult_Ok);
        if (round % 10 == 0)
        {
            espySurface surface;
            assert_int_equal(espyWorld_BuildSurface(fixture->world, id, &fixture->hooks, &surface), espyResult_Ok);
            espyTest_CheckSurface(&surface, model, 0.25f);
            espySurface_Free(&surface);
            // A node that is given the same values at once is the same to the hash.
            voxels.values = model;
            espyNodeId twin = espyFixture_Add(fixture, &def);
            assert_true(espyWorld_GetContentHash(fixture->world, twin) == espyWorld_GetContentHash(fixture->world, id));
            assert_int_equal(espyWorld_DestroyNode(fixture->world, twin), espyResult_Ok);
            voxels.values = NULL;
        }
    }
    // What has one value takes no memory.
    unsigned blocks = fixture->counter.blocks;
    assert_int_equal(espyWorld_FillVoxels(fixture->world, id, all, espyVoxel_Opaque), espyResult_Ok);
    assert_true(fixture->counter.blocks < blocks);
    espySurface surface;
    assert_int_equal(espyWorld_BuildSurface(fixture->world, id, &fixture->hooks, &surface), espyResult_Ok);
    // Sides of 2 x 3 x 1 bricks: 2 * (6 + 3 + 2) rectangles.
    assert_int_equal(surface.triangles.triangleCount, 44);
    espySurface_Free(&surface);
}

static void voxels_are_checked(void** state)
{
    espyFixture* fixture = *state;
    static uint8_t values[4096];
    espyVoxels voxels = {.bricks = {1, 1, 1}, .voxelSize = 1.0f, .values = values};
    espyNodeDef def = espyNodeDef_Default(), got;
    def.kind = espyNodeKind_Voxel3D;
    def.voxels = &voxels;
    values[100] = 5;
    espyFixture_Refused(fixture, &def);
    values[100] = espyVoxel_Opaque;
    voxels.bricks[1] = 0;
    espyFixture_Refused(fixture, &def);
    voxels.bricks[1] = ESPY_VOXEL_MAX_BRICKS + 1;
    espyFixture_Refused(fixture, &def);
    voxels.bricks[0] = voxels.bricks[1] = voxels.bricks[2] = 1u << 31;
    espyFixture_Refused(fixture, &def);
    voxels.bricks[0] = voxels.bricks[1] = voxels.bricks[2] = 1;
    voxels.voxelSize = -1.0f;
    espyFixture_Refused(fixture, &def);
    voxels.voxelSize = 1.0f;
    espyNodeId id = espyFixture_Add(fixture, &def);
    assert_int_equal(espyWorld_GetNode(fixture->world, id, &got), espyResult_Ok);
    assert_non_null(got.voxels);
    assert_null(got.voxels->values);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), espyTest_Box(4, 6, 0, 5, 7, 1), 0.0f);
    uint8_t one = espyVoxel_Additive;
    uint64_t revision = espyWorld_GetRevision(fixture->world);
    espyVoxelRange range = {{15, 0, 0}, {2, 1, 1}};
    assert_int_equal(espyWorld_SetVoxels(fixture->world, id, range, &one), espyResult_InvalidArgument);
    range = (espyVoxelRange){{15, 0, 0}, {UINT32_MAX, 1, 1}};
    assert_int_equal(espyWorld_FillVoxels(fixture->world, id, range, espyVoxel_Empty), espyResult_InvalidArgument);
    range = (espyVoxelRange){{15, 0, 0}, {1, 1, 1}};
    assert_int_equal(espyWorld_SetVoxels(fixture->world, id, range, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_FillVoxels(fixture->world, id, range, (espyVoxel)5), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_GetVoxels(fixture->world, id, range, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetVoxels(fixture->world, (espyNodeId){0}, range, &one), espyResult_InvalidId);
    range.size[1] = 0;
    assert_int_equal(espyWorld_SetVoxels(fixture->world, id, range, &one), espyResult_Ok);
    assert_true(espyWorld_GetRevision(fixture->world) == revision);
    def = espyNodeDef_Default();
    espyNodeId plain = espyFixture_Add(fixture, &def);
    espySurface surface;
    assert_int_equal(espyWorld_SetVoxels(fixture->world, plain, range, &one), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_BuildSurface(fixture->world, plain, NULL, &surface), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_BuildSurface(fixture->world, (espyNodeId){0}, NULL, &surface), espyResult_InvalidId);
}

// --- levels, poses, boxes

static void levels_widen_bounds_and_block_by_an_inner_mesh_only(void** state)
{
    espyFixture* fixture = *state;
    espyMeshId fine = espyFixture_Box(fixture, 2.0f, espyMaterialClass_Opaque);
    espyMeshId coarse = espyFixture_Box(fixture, 3.0f, espyMaterialClass_Opaque);
    espyMeshId inner = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Opaque);
    espyNodeDef def = espyNodeDef_Default(), got;
    def.kind = espyNodeKind_StaticMesh3D;
    def.flags = espyNodeFlag_OccluderStatic;
    def.mesh = fine;
    def.levels = &coarse;
    def.levelCount = 1;
    espyNodeId id = espyFixture_Add(fixture, &def);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), espyTest_Box(-3, -3, -3, 3, 3, 3), 0.0f);
    assert_false(espyBox_IsValid(espyWorld_GetOccluderBounds(fixture->world, id)));
    uint64_t hash = espyWorld_GetContentHash(fixture->world, id);
    def.occluderMesh = inner;
    id = espyFixture_Add(fixture, &def);
    espyTest_AssertBox(espyWorld_GetOccluderBounds(fixture->world, id), espyTest_Box(-1, -1, -1, 1, 1, 1), 0.0f);
    assert_true(espyWorld_GetContentHash(fixture->world, id) != hash);
    assert_int_equal(espyWorld_GetNode(fixture->world, id, &got), espyResult_Ok);
    assert_int_equal(got.levelCount, 1);
    assert_int_equal(got.levels[0].index1, coarse.index1);
    assert_int_equal(got.occluderMesh.index1, inner.index1);
    // The inner mesh sticks out of a level.
    def.occluderMesh = coarse;
    espyFixture_Refused(fixture, &def);
    assert_int_equal(espyWorld_SetMesh(fixture->world, id, espyFixture_Box(fixture, 0.5f, espyMaterialClass_Opaque)),
                     espyResult_InvalidArgument);
    def.occluderMesh = inner;
    def.mesh = (espyMeshId){0};
    espyFixture_Refused(fixture, &def);
    def.mesh = fine;
    def.kind = espyNodeKind_SkeletalMesh3D;
    espyFixture_Refused(fixture, &def);
    def.kind = espyNodeKind_StaticMesh3D;
    def.levels = NULL;
    espyFixture_Refused(fixture, &def);
    espyMeshId bad = {99, 1};
    def.levels = &bad;
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_InvalidId);
}

static void what_blocks_has_bounds_of_its_own(void** state)
{
    espyFixture* fixture = *state;
    // The opaque half of the triangles covers z from -1 to 1 and y from -1 only in part: compare with its corners.
    espyMeshId mixed = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Translucent);
    espyMeshId other = espyFixture_Box(fixture, 5.0f, espyMaterialClass_Opaque);
    espyMat4 instances[2] = {espyTest_Move(0, 0, 0), espyTest_Turned()};
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_InstancedMesh3D;
    def.flags = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    def.mesh = mixed;
    def.local = espyTest_Turned();
    def.instances = instances;
    def.instanceCount = 2;
    espyNodeId id = espyFixture_Add(fixture, &def);
    espyBox all = espyBox_Empty(), opaque = espyBox_Empty();
    for (int i = 0; i < 2; ++i)
    {
        espyMat4 world = espyMat4_Multiply(def.local, instances[i]);
        for (int k = 0; k < 36; ++k)
        {
            espyVec3 p = espyMat4_TransformPoint(world, boxPositions[boxIndices[k]]);
            all = espyBox_AddPoint(all, p);
            opaque = k < 18 ? espyBox_AddPoint(opaque, p) : opaque;
        }
    }
    espyBox got = espyWorld_GetWorldBounds(fixture->world, id);
    assert_memory_equal(&got, &all, sizeof all);
    got = espyWorld_GetOccluderBounds(fixture->world, id);
    assert_memory_equal(&got, &opaque, sizeof opaque);
    const uint32_t none[] = {espyNodeFlag_OccludeeStatic, espyNodeFlag_OccluderStatic | espyNodeFlag_Hidden,
                             espyNodeFlag_OccluderStatic | espyNodeFlag_Dynamic,
                             espyNodeFlag_OccluderStatic | espyNodeFlag_Skybox};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(none); ++i)
    {
        assert_int_equal(espyWorld_SetFlags(fixture->world, id, none[i]), espyResult_Ok);
        assert_false(espyBox_IsValid(espyWorld_GetOccluderBounds(fixture->world, id)));
    }
    // A dynamic node's box holds the exact one.
    assert_int_equal(espyWorld_SetFlags(fixture->world, id, espyNodeFlag_Dynamic), espyResult_Ok);
    got = espyBox_Union(espyWorld_GetWorldBounds(fixture->world, id), all);
    espyBox loose = espyWorld_GetWorldBounds(fixture->world, id);
    assert_memory_equal(&got, &loose, sizeof loose);
    uint64_t hash = espyWorld_GetContentHash(fixture->world, id);
    uint64_t revision = espyWorld_GetRevision(fixture->world);
    assert_int_equal(espyWorld_SetMesh(fixture->world, id, other), espyResult_Ok);
    assert_true(espyWorld_GetContentHash(fixture->world, id) != hash);
    assert_true(espyWorld_GetContentRevision(fixture->world, id) > revision);
    assert_true(espyWorld_GetWorldBounds(fixture->world, id).max.x > loose.max.x);
    assert_int_equal(espyWorld_SetMesh(fixture->world, id, (espyMeshId){0}), espyResult_InvalidId);
}

static void hashes_are_of_the_content_alone(void** state)
{
    espyFixture* fixture = *state;
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Opaque);
    espyNodeId a = espyFixture_Add(fixture, &def);
    def.mesh = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Opaque);
    def.local = espyTest_Turned();
    def.name = "other";
    espyNodeId b = espyFixture_Add(fixture, &def);
    def.mesh = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Masked);
    espyNodeId c = espyFixture_Add(fixture, &def);
    uint64_t hash = espyWorld_GetContentHash(fixture->world, a);
    assert_true(hash != 0 && hash == espyWorld_GetContentHash(fixture->world, b));
    assert_true(hash != espyWorld_GetContentHash(fixture->world, c));
    def = espyNodeDef_Default();
    assert_true(espyWorld_GetContentHash(fixture->world, espyFixture_Add(fixture, &def)) == 0);
    def.bounds = espyTest_Box(0, 0, 0, 1, 1, 1);
    assert_true(espyWorld_GetContentHash(fixture->world, espyFixture_Add(fixture, &def)) != 0);
    assert_true(espyWorld_GetContentHash(fixture->world, (espyNodeId){0}) == 0);
}

static void bounds_follow_poses_and_what_is_given(void** state)
{
    espyFixture* fixture = *state;
    const espyBox joints[2] = {espyTest_Box(-1, -1, -1, 1, 1, 1), espyTest_Box(0, 0, 0, 2, 1, 1)};
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_SkeletalMesh3D;
    def.mesh = espyFixture_Box(fixture, 1.0f, espyMaterialClass_Opaque);
    def.local = espyTest_Move(10, 0, 0);
    def.jointBoxes = joints;
    def.jointCount = 2;
    espyNodeId id = espyFixture_Add(fixture, &def);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), espyTest_Box(9, -1, -1, 11, 1, 1), 0.0f);
    espyMat4 pose[2] = {espyTest_Move(0, 5, 0), espyTest_Move(0, 0, -4)};
    uint64_t content = espyWorld_GetContentRevision(fixture->world, id);
    assert_int_equal(espyWorld_SetPose(fixture->world, id, pose, 2), espyResult_Ok);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), espyTest_Box(9, 0, -4, 12, 6, 1), 0.0f);
    assert_int_equal(espyWorld_SetLocalTransform(fixture->world, id, espyTest_Move(0, 0, 1)), espyResult_Ok);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), espyTest_Box(-1, 0, -3, 2, 6, 2), 0.0f);
    assert_true(espyWorld_GetContentRevision(fixture->world, id) == content);
    assert_int_equal(espyWorld_SetPose(fixture->world, id, pose, 1), espyResult_InvalidArgument);
    pose[1].m[3] = (float)(1e300 * 1e300);
    assert_int_equal(espyWorld_SetPose(fixture->world, id, pose, 2), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetBounds(fixture->world, id, espyTest_Box(0, 0, 0, 1, 2, 3)), espyResult_Ok);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, id), espyTest_Box(0, 0, 1, 1, 2, 4), 0.0f);

    def = espyNodeDef_Default();
    def.kind = espyNodeKind_Particle3D;
    def.bounds = espyTest_Box(-1, 0, -1, 1, 9, 1);
    espyNodeId smoke = espyFixture_Add(fixture, &def);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, smoke), def.bounds, 0.0f);
    assert_int_equal(espyWorld_SetBounds(fixture->world, smoke, espyBox_Empty()), espyResult_Ok);
    assert_false(espyBox_IsValid(espyWorld_GetWorldBounds(fixture->world, smoke)));
    espyTest_AssertBox(espyWorld_GetQueryBounds(fixture->world, smoke),
                       espyTest_Box(-0.25f, -0.25f, -0.25f, 0.25f, 0.25f, 0.25f), 0.0f);
    espyBox nan = espyTest_Box(0, 0, 0, 1, 1, (float)(1e300 * 1e300));
    assert_int_equal(espyWorld_SetBounds(fixture->world, smoke, nan), espyResult_InvalidArgument);
    def.kind = espyNodeKind_StaticMesh3D;
    espyFixture_Refused(fixture, &def);
    def.kind = espyNodeKind_Node3D;
    def.bounds = nan;
    espyFixture_Refused(fixture, &def);
    def.bounds = espyBox_Empty();
    def.jointBoxes = joints;
    def.jointCount = 2;
    espyFixture_Refused(fixture, &def);

    // A bare box: turned with its node.
    def = espyNodeDef_Default();
    def.bounds = espyTest_Box(-1, -1, -1, 1, 1, 1);
    def.local = espyTest_Turned();
    espyNodeId lamp = espyFixture_Add(fixture, &def);
    espyTest_AssertBox(espyWorld_GetWorldBounds(fixture->world, lamp), espyMat4_TransformBox(def.local, def.bounds),
                       0.0f);
    espyTest_AssertBox(espyWorld_GetQueryBounds(fixture->world, lamp), espyMat4_TransformBox(def.local, def.bounds),
                       0.0f);
}

static void cameras_are_checked_and_one_is_active(void** state)
{
    espyFixture* fixture = *state;
    espyNodeDef def = espyNodeDef_Default(), got;
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, 0);
    espyNodeId plain = espyFixture_Add(fixture, &def);
    def.kind = espyNodeKind_Camera3D;
    espyNodeId first = espyFixture_Add(fixture, &def);
    espyNodeId second = espyFixture_Add(fixture, &def);
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, first.index1);
    assert_int_equal(espyWorld_SetActiveCamera(fixture->world, second), espyResult_Ok);
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, second.index1);
    assert_int_equal(espyWorld_SetActiveCamera(fixture->world, plain), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetActiveCamera(fixture->world, (espyNodeId){77, 1}), espyResult_InvalidId);
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, second.index1);
    assert_int_equal(espyWorld_DestroyNode(fixture->world, second), espyResult_Ok);
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, 0);
    espyFixture_Add(fixture, &def);
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, 0);
    assert_int_equal(espyWorld_SetActiveCamera(fixture->world, first), espyResult_Ok);
    assert_int_equal(espyWorld_SetActiveCamera(fixture->world, (espyNodeId){0}), espyResult_Ok);
    assert_int_equal(espyWorld_GetActiveCamera(fixture->world).index1, 0);

    const float infinite = (float)(1e300 * 1e300);
    espyCamera sound = def.camera, camera = sound;
    camera.offsetX = 0.5f;
    assert_int_equal(espyWorld_SetCamera(fixture->world, first, &camera), espyResult_Ok);
    assert_int_equal(espyWorld_GetNode(fixture->world, first, &got), espyResult_Ok);
    assert_float_equal(got.camera.offsetX, 0.5f, 0.0f);
    const espyCamera bad[] = {
        {.verticalFov = 0.0f, .aspect = 1, .nearDistance = 1},
        {.verticalFov = 3.2f, .aspect = 1, .nearDistance = 1},
        {.verticalFov = 1.0f, .aspect = 0, .nearDistance = 1},
        {.verticalFov = 1.0f, .aspect = 1, .nearDistance = 0},
        {.verticalFov = 1.0f, .aspect = 1, .nearDistance = 1, .farDistance = 0.5f},
        {.verticalFov = 1.0f, .aspect = 1, .nearDistance = 1, .farDistance = infinite},
        {.verticalFov = 1.0f, .aspect = 1, .nearDistance = 1, .offsetY = infinite},
        {.orthographic = true, .halfHeight = 0, .aspect = 1},
        {.orthographic = true, .halfHeight = infinite, .aspect = 1},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(bad); ++i)
    {
        assert_int_equal(espyWorld_SetCamera(fixture->world, first, &bad[i]), espyResult_InvalidArgument);
        def.camera = bad[i];
        espyFixture_Refused(fixture, &def);
    }
    camera = (espyCamera){.orthographic = true, .halfHeight = 5, .aspect = 2, .nearDistance = -10, .farDistance = 10};
    assert_int_equal(espyWorld_SetCamera(fixture->world, first, &camera), espyResult_Ok);
    assert_int_equal(espyWorld_SetCamera(fixture->world, plain, &sound), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetCamera(fixture->world, (espyNodeId){0}, &sound), espyResult_InvalidId);
}

// --- memory

/// Everything that allocates, with an allocation that fails. True where one did.
static bool espyTest_BuildFailing(unsigned failAt)
{
    espyFixture fixture = {.counter = {.failAt = failAt}};
    espyWorldDef worldDef = espyWorldDef_Default();
    fixture.hooks = worldDef.hooks = espyHookCounter_Hooks(&fixture.counter);
    if (espyWorld_Create(&worldDef, &fixture.world) != espyResult_Ok)
    {
        assert_int_equal(fixture.counter.blocks, 0);
        return true;
    }
    float heights[TerrainWidth * TerrainDepth];
    uint8_t holes[(TerrainWidth - 1) * (TerrainDepth - 1)];
    static uint8_t values[2 * 4096], before[2 * 4096], after[2 * 4096];
    espyTerrain terrain = espyTest_Terrain(heights, holes, 3);
    for (size_t i = 0; i < sizeof values; ++i)
    {
        values[i] = (uint8_t)(i % 3);
    }
    espyVoxels voxels = {.bricks = {2, 1, 1}, .voxelSize = 1.0f, .values = values};
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId ids[2];
    def.kind = espyNodeKind_Terrain3D;
    def.terrain = &terrain;
    bool failed = espyWorld_CreateNode(fixture.world, &def, &ids[0]) != espyResult_Ok;
    def.kind = espyNodeKind_Voxel3D;
    def.terrain = NULL;
    def.voxels = &voxels;
    failed = failed || espyWorld_CreateNode(fixture.world, &def, &ids[1]) != espyResult_Ok;
    const espyVoxelRange all = {{0, 0, 0}, {32, 16, 16}};
    const espyVoxelRange edits[] = {{{0, 0, 0}, {32, 16, 16}}, {{3, 4, 5}, {20, 2, 2}}, {{15, 0, 0}, {2, 16, 16}}};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(edits) && !failed; ++i)
    {
        assert_int_equal(espyWorld_GetVoxels(fixture.world, ids[1], all, before), espyResult_Ok);
        uint64_t revision = espyWorld_GetRevision(fixture.world);
        uint64_t hash = espyWorld_GetContentHash(fixture.world, ids[1]);
        espyResult result = espyWorld_FillVoxels(fixture.world, ids[1], edits[i], (espyVoxel)(1 + i));
        failed = result != espyResult_Ok;
        if (failed)
        {
            assert_int_equal(result, espyResult_OutOfMemory);
            assert_int_equal(espyWorld_GetVoxels(fixture.world, ids[1], all, after), espyResult_Ok);
            assert_memory_equal(before, after, sizeof before);
            assert_true(espyWorld_GetRevision(fixture.world) == revision);
            assert_true(espyWorld_GetContentHash(fixture.world, ids[1]) == hash);
        }
    }
    for (int i = 0; i < 2 && !failed; ++i)
    {
        espySurface surface;
        failed = espyWorld_BuildSurface(fixture.world, ids[i], &fixture.hooks, &surface) != espyResult_Ok;
        assert_int_equal(surface.triangles.triangleCount > 0, !failed);
        espySurface_Free(&surface);
    }
    espyWorld_Destroy(fixture.world);
    assert_int_equal(fixture.counter.blocks, 0);
    return failed;
}

static void every_failed_allocation_leaves_content_whole(void** state)
{
    (void)state;
    unsigned failAt = 1;
    while (espyTest_BuildFailing(failAt))
    {
        ++failAt;
    }
    assert_true(failAt > 15);
}

int main(void)
{
#define ESPY_TEST(name) cmocka_unit_test_setup_teardown(name, espyFixture_Set, espyFixture_Drop)
    const struct CMUnitTest tests[] = {
        ESPY_TEST(terrain_triangles_follow_the_rule),
        ESPY_TEST(terrain_is_copied_and_checked),
        ESPY_TEST(voxels_match_a_model_through_edits),
        ESPY_TEST(voxels_are_checked),
        ESPY_TEST(levels_widen_bounds_and_block_by_an_inner_mesh_only),
        ESPY_TEST(what_blocks_has_bounds_of_its_own),
        ESPY_TEST(hashes_are_of_the_content_alone),
        ESPY_TEST(bounds_follow_poses_and_what_is_given),
        ESPY_TEST(cameras_are_checked_and_one_is_active),
        cmocka_unit_test(every_failed_allocation_leaves_content_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
