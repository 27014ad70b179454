// SPDX-License-Identifier: MIT
// The scene builders: the same bytes everywhere, the counts that the documentation states, sound closed meshes.
#include "test_main.h"

#include <stdio.h>
#include <string.h>

#include <espy/editor.h>
#include <espy/import.h>

#include "core/core.h"
#include "reference/ray_reference.h"
#include "scenes/scenes.h"

static uint64_t espyTest_HashFloats(uint64_t hash, const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = espyiHash_U64(hash, bits);
    }
    return hash;
}

static uint64_t espyTest_HashText(uint64_t hash, const char* text)
{
    return espyiHash_Bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

/// Hash of meshes, transforms, flags, names and settings.
static uint64_t espyTest_HashWorld(const espyWorld* world)
{
    uint64_t hash = espyWorld_GetNodeCount(world);
    for (uint32_t m = 0; m < espyWorld_GetMeshCount(world); ++m)
    {
        espyMeshDef mesh;
        assert_int_equal(espyWorld_GetMesh(world, espyWorld_GetMeshAt(world, m), &mesh), espyResult_Ok);
        hash = espyTest_HashText(hash, mesh.name);
        for (uint32_t v = 0; v < mesh.triangles.vertexCount; ++v)
        {
            espyVec3 p = mesh.triangles.positions[v];
            float values[3] = {p.x, p.y, p.z};
            hash = espyTest_HashFloats(hash, values, 3);
        }
        hash = espyiHash_Words(hash, mesh.triangles.indices, 3u * (size_t)mesh.triangles.triangleCount);
        for (uint32_t p = 0; p < mesh.partCount; ++p)
        {
            hash = espyiHash_U64(hash, (uint64_t)mesh.parts[p].indexCount << 32 | mesh.parts[p].color);
            hash = espyiHash_U64(hash, (uint64_t)mesh.parts[p].material);
        }
    }
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeDef node;
        assert_int_equal(espyWorld_GetNode(world, espyWorld_GetNodeAt(world, n), &node), espyResult_Ok);
        hash = espyiHash_U64(hash, (uint64_t)node.kind << 32 | node.flags);
        hash = espyTest_HashText(hash, node.name);
        hash = espyTest_HashFloats(hash, node.local.m, 16);
        for (uint32_t i = 0; i < node.instanceCount; ++i)
        {
            hash = espyTest_HashFloats(hash, node.instances[i].m, 16);
        }
    }
    espySceneSettings settings = espyWorld_GetSettings(world);
    return espyTest_HashFloats(hash, &settings.occlusionCellSize, 1);
}

static espyWorld* espyTest_Build(espySceneKind kind, uint32_t size, uint64_t seed)
{
    espyWorld* world = NULL;
    assert_int_equal(espyScene_Build(espyScene_GetName(kind), size, seed, &world), espyResult_Ok);
    assert_non_null(world);
    return world;
}

typedef struct espyTestCounts
{
    uint32_t occluders, occludees, areas, cameras, instances;
} espyTestCounts;

static espyTestCounts espyTest_Count(const espyWorld* world)
{
    espyTestCounts counts = {0};
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeDef node;
        espyWorld_GetNode(world, espyWorld_GetNodeAt(world, n), &node);
        counts.occluders += (node.flags & espyNodeFlag_OccluderStatic) ? 1u : 0u;
        counts.occludees += (node.flags & espyNodeFlag_OccludeeStatic) ? 1u : 0u;
        counts.areas += node.kind == espyNodeKind_OcclusionArea ? 1u : 0u;
        counts.cameras += node.kind == espyNodeKind_Camera3D ? 1u : 0u;
        counts.instances += node.instanceCount;
    }
    return counts;
}

static void espyTest_Names(void** state)
{
    (void)state;
    espySceneKind kind;
    for (uint32_t k = 0; k < espySceneKind_Count; ++k)
    {
        assert_true(espyScene_FindKind(espyScene_GetName((espySceneKind)k), &kind));
        assert_int_equal(kind, k);
        assert_true(espyScene_GetFullSize((espySceneKind)k) > 0);
    }
    assert_false(espyScene_FindKind("castle in the air", &kind));
    assert_false(espyScene_FindKind(NULL, &kind));
    assert_string_equal(espyScene_GetName(espySceneKind_Count), "");
    espyWorld* world = NULL;
    assert_int_equal(espyScene_Build("castle in the air", 1, 1, &world), espyResult_NotFound);
    assert_null(world);
    assert_int_equal(espyScene_Build("rooms", ESPY_SCENE_MAX_SIZE + 1, 1, &world), espyResult_InvalidArgument);
    assert_null(world);
}

static void espyTest_GoldenHashes(void** state)
{
    (void)state;
    static const struct
    {
        espySceneKind kind;
        uint32_t size;
        uint64_t hash;
    } golden[] = {
        {espySceneKind_Rooms, 0, 0x9B4CF1B62DCE7747ull},  {espySceneKind_Slits, 0, 0x557C3DE78369BDC2ull},
        {espySceneKind_City, 0, 0x5B6A0544EBA57346ull},   {espySceneKind_Tower, 0, 0x3FB54A74405718DBull},
        {espySceneKind_Forest, 2, 0x0986931154D32F47ull}, {espySceneKind_Sample, 0, 0x37BBCD92BF50CF42ull},
        {espySceneKind_Castle, 0, 0xBD389F0EF310A29Dull},
    };
    for (size_t g = 0; g < ESPYI_ARRAY_COUNT(golden); ++g)
    {
        espyWorld* world = espyTest_Build(golden[g].kind, golden[g].size, 1);
        uint64_t hash = espyTest_HashWorld(world);
        espyWorld_Destroy(world);
        if (hash != golden[g].hash)
        {
            fail_msg("%s: 0x%016llXull", espyScene_GetName(golden[g].kind), (unsigned long long)hash);
        }
        world = espyTest_Build(golden[g].kind, golden[g].size, 2);
        assert_true(espyTest_HashWorld(world) != hash);
        espyWorld_Destroy(world);
    }
}

/// What every scene promises: ids in order, finite transforms, at least one area and one camera, bounds that the bake
/// takes, no mesh without use.
static void espyTest_EveryScene(void** state)
{
    (void)state;
    for (uint32_t k = 0; k < espySceneKind_Count; ++k)
    {
        for (uint32_t size = 1; size <= 2; ++size)
        {
            espyWorld* world = espyTest_Build((espySceneKind)k, size, 7);
            espyTestCounts counts = espyTest_Count(world);
            assert_true(counts.occluders > 0 && counts.occludees > 0 && counts.areas > 0 && counts.cameras > 0);
            assert_true(espyWorld_GetSettings(world).occlusionCellSize > 0.0f);
            for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
            {
                espyNodeDef node;
                espyNodeId id = espyWorld_GetNodeAt(world, n);
                espyWorld_GetNode(world, id, &node);
                assert_int_equal(node.sourceId, (int32_t)n);
                assert_true(espyMat4_IsFinite(node.local));
                assert_non_null(node.name);
                assert_true(node.name[0] != '\0');
                if (node.flags & (espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic))
                {
                    espyBox box = espyWorld_GetWorldBounds(world, id);
                    assert_true(espyBox_IsValid(box));
                    assert_true(box.min.x > -1000.0f && box.max.x < 5000.0f);
                }
            }
            espyWorld_Destroy(world);
        }
    }
}

/// Props and walls are made of closed shells that face outward: every directed edge has its opposite once, and the
/// signed volume is positive. Terrains and panes of glass are open.
static void espyTest_MeshesAreClosed(void** state)
{
    (void)state;
    for (uint32_t k = 0; k < espySceneKind_Count; ++k)
    {
        espyWorld* world = espyTest_Build((espySceneKind)k, 1, 3);
        for (uint32_t m = 0; m < espyWorld_GetMeshCount(world); ++m)
        {
            espyMeshDef mesh;
            espyWorld_GetMesh(world, espyWorld_GetMeshAt(world, m), &mesh);
            if (strcmp(mesh.name, "Terrain") == 0 || strcmp(mesh.name, "Living room window") == 0 ||
                strcmp(mesh.name, "Iron gate") == 0)
            {
                continue;
            }
            const uint32_t* indices = mesh.triangles.indices;
            uint32_t edgeCount = mesh.triangles.triangleCount * 3;
            double volume = 0.0;
            for (uint32_t e = 0; e < edgeCount; ++e)
            {
                uint32_t from = indices[e], to = indices[e % 3 == 2 ? e - 2 : e + 1], same = 0, opposite = 0;
                for (uint32_t f = 0; f < edgeCount; ++f)
                {
                    uint32_t otherFrom = indices[f], otherTo = indices[f % 3 == 2 ? f - 2 : f + 1];
                    same += otherFrom == from && otherTo == to ? 1u : 0u;
                    opposite += otherFrom == to && otherTo == from ? 1u : 0u;
                }
                if (same != 1 || opposite != 1)
                {
                    fail_msg("%s: edge %u-%u is used %u times, its opposite %u times", mesh.name, from, to, same,
                             opposite);
                }
            }
            for (uint32_t t = 0; t < edgeCount; t += 3)
            {
                espyVec3 a = mesh.triangles.positions[indices[t]], b = mesh.triangles.positions[indices[t + 1]];
                espyVec3 c = mesh.triangles.positions[indices[t + 2]];
                volume += (double)a.x * ((double)b.y * c.z - (double)b.z * c.y) +
                          (double)a.y * ((double)b.z * c.x - (double)b.x * c.z) +
                          (double)a.z * ((double)b.x * c.y - (double)b.y * c.x);
            }
            assert_true(volume > 0.0);
        }
        espyWorld_Destroy(world);
    }
}

static void espyTest_RoomsAtFullSize(void** state)
{
    (void)state;
    for (uint32_t k = espySceneKind_Rooms; k <= espySceneKind_Slits; ++k)
    {
        espyWorld* world = espyTest_Build((espySceneKind)k, 0, 1);
        espyTestCounts counts = espyTest_Count(world);
        assert_int_equal(counts.occludees, 360);
        assert_int_equal(counts.areas, 1);
        assert_int_equal(counts.occluders, 36 + 36 + 25 + 60 + 4);
        uint32_t doors = 0, slits = 0, closed = 0;
        for (uint32_t m = 0; m < espyWorld_GetMeshCount(world); ++m)
        {
            espyMeshDef mesh;
            espyWorld_GetMesh(world, espyWorld_GetMeshAt(world, m), &mesh);
            if (strncmp(mesh.name, "Wall ", 5) == 0)
            {
                uint32_t boxes = mesh.triangles.triangleCount / 12;
                doors += boxes == 3 ? 1u : 0u;
                slits += boxes == 2 ? 1u : 0u;
                closed += boxes == 1 ? 1u : 0u;
            }
        }
        assert_int_equal(doors, k == espySceneKind_Rooms ? 45 : 0);
        assert_int_equal(slits, k == espySceneKind_Rooms ? 0 : 60);
        assert_int_equal(closed, k == espySceneKind_Rooms ? 15 : 0);
        // 24 x 2 x 24 cells of 2 m.
        espyNodeId area = espyWorld_GetNodeAt(world, espyWorld_GetNodeCount(world) - 2);
        espyMat4 transform = espyWorld_GetWorldTransform(world, area);
        assert_true(transform.m[0] == 48.0f && transform.m[5] == 4.0f && transform.m[10] == 48.0f);
        assert_true(espyWorld_GetSettings(world).occlusionCellSize == 2.0f);
        espyWorld_Destroy(world);
    }
}

static void espyTest_CityAtFullSize(void** state)
{
    (void)state;
    espyWorld* world = espyTest_Build(espySceneKind_City, 0, 1);
    espyTestCounts counts = espyTest_Count(world);
    assert_int_equal(counts.occludees, 144 + 8 * 144);
    assert_int_equal(counts.occluders, 144 + 1);
    espyMat4 transform =
        espyWorld_GetWorldTransform(world, espyWorld_GetNodeAt(world, espyWorld_GetNodeCount(world) - 2));
    // 57 x 3 x 57 cells of 4 m: 12,632,112 pairs.
    assert_true(transform.m[0] == 228.0f && transform.m[5] == 12.0f && transform.m[10] == 228.0f);
    espyWorld_Destroy(world);
}

static void espyTest_Sample(void** state)
{
    (void)state;
    espyWorld* world = espyTest_Build(espySceneKind_Sample, 0, 1);
    espyTestCounts counts = espyTest_Count(world);
    assert_true(espyWorld_GetNodeCount(world) < 300);
    assert_true(counts.instances >= 100);
    assert_true(counts.cameras >= 3);
    uint32_t masked = 0, translucent = 0, dynamic = 0;
    for (uint32_t m = 0; m < espyWorld_GetMeshCount(world); ++m)
    {
        espyMeshDef mesh;
        espyWorld_GetMesh(world, espyWorld_GetMeshAt(world, m), &mesh);
        for (uint32_t p = 0; p < mesh.partCount; ++p)
        {
            masked += mesh.parts[p].material == espyMaterialClass_Masked ? 1u : 0u;
            translucent += mesh.parts[p].material == espyMaterialClass_Translucent ? 1u : 0u;
        }
    }
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        dynamic += (espyWorld_GetFlags(world, espyWorld_GetNodeAt(world, n)) & espyNodeFlag_Dynamic) ? 1u : 0u;
    }
    assert_true(masked > 0 && translucent > 0);
    assert_int_equal(dynamic, 1);
    espyWorld_Destroy(world);
}

static bool espyTest_IsInArea(const espyWorld* world, espyVec3 p)
{
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeDef node;
        espyWorld_GetNode(world, espyWorld_GetNodeAt(world, n), &node);
        const float* m = node.local.m;
        if (node.kind == espyNodeKind_OcclusionArea && p.x >= m[12] - 0.5f * m[0] && p.x <= m[12] + 0.5f * m[0] &&
            p.y >= m[13] - 0.5f * m[5] && p.y <= m[13] + 0.5f * m[5] && p.z >= m[14] - 0.5f * m[10] &&
            p.z <= m[14] + 0.5f * m[10])
        {
            return true;
        }
    }
    return false;
}

/// Paths stay in the areas, move on, and lead through openings: no wall of the rooms, the city or the tower is crossed.
static void espyTest_Paths(void** state)
{
    (void)state;
    for (uint32_t k = 0; k < espySceneKind_Count; ++k)
    {
        for (uint32_t size = 1; size <= 4; size += 3)
        {
            espySceneKind kind = (espySceneKind)k;
            uint32_t count = espyScene_GetPath(kind, size, 5, NULL, 0);
            assert_true(count >= 3);
            espySceneKey* keys = calloc(count, sizeof *keys);
            assert_non_null(keys);
            assert_int_equal(espyScene_GetPath(kind, size, 5, keys, count), count);
            espyWorld* world = espyTest_Build(kind, size, 5);
            espyGathered* gathered = NULL;
            assert_int_equal(espyEditor_Gather(world, 4.0f, 0.0f, NULL, &gathered), espyResult_Ok);
            const espyBakeInput* input = espyGathered_GetInput(gathered);
            for (uint32_t i = 0; i < count; ++i)
            {
                assert_true(memcmp(&keys[i].eye, &keys[i].target, sizeof keys[i].eye) != 0);
                assert_true(i == 0 || keys[i].seconds > keys[i - 1].seconds);
                if (!espyTest_IsInArea(world, keys[i].eye))
                {
                    fail_msg("%s key %u leaves the areas", espyScene_GetName(kind), i);
                }
                if (i == 0 || kind == espySceneKind_Forest)
                {
                    continue;
                }
                espyVec3 a = keys[i - 1].eye, b = keys[i].eye;
                for (uint32_t o = 0; o < input->occluderCount; ++o)
                {
                    espyiSoup soup = {input->occluders[o].mesh, NULL};
                    espyiSegment segment = {a, 0.0f, {b.x - a.x, b.y - a.y, b.z - a.z}, 1.0f};
                    espyiHit hit;
                    if (espyRayReference_Closest(&soup, &segment, (espyiSkip){0, 0}, &hit))
                    {
                        fail_msg("%s key %u crosses %s", espyScene_GetName(kind), i, input->occluders[o].name);
                    }
                }
            }
            free(keys);
            espyGathered_Destroy(gathered);
            espyWorld_Destroy(world);
        }
    }
    assert_int_equal(espyScene_GetPath(espySceneKind_Count, 1, 1, NULL, 0), 0);
    assert_int_equal(espyScene_GetPath(espySceneKind_Rooms, ESPY_SCENE_MAX_SIZE + 1, 1, NULL, 0), 0);
}

static uint8_t* espyTest_ReadFile(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length > 0);
    rewind(file);
    uint8_t* bytes = malloc((size_t)length);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)length, file), (size_t)length);
    fclose(file);
    *size = (size_t)length;
    return bytes;
}

/// The file in the repository is what the builder writes, and reads back as the same level.
static void espyTest_SampleFileIsCurrent(void** state)
{
    (void)state;
    const char* shipped = ESPY_SOURCE_DIR "/samples/sample_level.glb";
    const char* fresh = ESPY_BINARY_DIR "/test_scenes_sample.glb";
    espyWorld* world = espyTest_Build(espySceneKind_Sample, 0, 1);
    espyImportReport report;
    assert_int_equal(espyImport_SaveGlb(world, fresh, NULL, 0, &report), espyResult_Ok);
    size_t shippedSize, freshSize;
    uint8_t* shippedBytes = espyTest_ReadFile(shipped, &shippedSize);
    uint8_t* freshBytes = espyTest_ReadFile(fresh, &freshSize);
    remove(fresh);
    assert_true(shippedSize < 400000);
    if (shippedSize != freshSize || memcmp(shippedBytes, freshBytes, freshSize) != 0)
    {
        fail_msg("run: make_sample_level %s", shipped);
    }
    free(shippedBytes);
    free(freshBytes);

    espyWorld* loaded = NULL;
    espyImportDef importDef = espyImportDef_Default();
    assert_int_equal(espyImport_LoadFile(shipped, &importDef, &loaded, &report), espyResult_Ok);
    espyGathered *expected = NULL, *gathered = NULL;
    assert_int_equal(espyEditor_Gather(world, 2.0f, 0.0f, NULL, &expected), espyResult_Ok);
    assert_int_equal(espyEditor_Gather(loaded, 2.0f, 0.0f, NULL, &gathered), espyResult_Ok);
    const espyBakeInput *a = espyGathered_GetInput(expected), *b = espyGathered_GetInput(gathered);
    assert_int_equal(a->occluderCount, b->occluderCount);
    assert_int_equal(a->occludeeCount, b->occludeeCount);
    assert_int_equal(a->areaCount, b->areaCount);
    assert_int_equal(a->viewPointCount, b->viewPointCount);
    for (uint32_t i = 0; i < a->occludeeCount; ++i)
    {
        assert_int_equal(a->occludees[i].node, b->occludees[i].node);
        assert_int_equal(a->occludees[i].part, b->occludees[i].part);
        assert_int_equal(a->occludees[i].mesh.triangleCount, b->occludees[i].mesh.triangleCount);
        assert_string_equal(a->occludees[i].name, b->occludees[i].name);
    }
    assert_true(espyWorld_GetSettings(loaded).occlusionCellSize == 2.0f);
    espyGathered_Destroy(expected);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    espyWorld_Destroy(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_Names),           cmocka_unit_test(espyTest_GoldenHashes),
        cmocka_unit_test(espyTest_EveryScene),      cmocka_unit_test(espyTest_MeshesAreClosed),
        cmocka_unit_test(espyTest_RoomsAtFullSize), cmocka_unit_test(espyTest_CityAtFullSize),
        cmocka_unit_test(espyTest_Sample),          cmocka_unit_test(espyTest_SampleFileIsCurrent),
        cmocka_unit_test(espyTest_Paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
