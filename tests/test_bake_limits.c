// SPDX-License-Identifier: MIT
// The largest bakes: the warning and the refusal by cells at their very numbers, memory that grows by what is counted;
// and levels that are the same under other transforms.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <espy/editor.h>

#include "bake_case.h"
#include "core/core.h"
#include "scenes/scenes.h"
#include "test_main.h"

// --- cells

/// Bakes one occludee without any occluder in nx * ny * nz cells of 1 m, and `extra` more in an area of their own.
static espyResult espyLimits_Bake(uint32_t nx, uint32_t ny, uint32_t nz, uint32_t extra, uint32_t maxCells,
                                  espyBakeResult* out)
{
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddBoxOnly(c, (espyVec3){0, 0, 0}, (espyVec3){1, 1, 1});
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){(float)nx, (float)ny, (float)nz});
    if (extra > 0)
    {
        espyBakeCase_AddArea(c, (espyVec3){0, (float)ny + 8, 0}, (espyVec3){(float)extra, (float)ny + 9, 1});
    }
    espyBakeDef def = espyBakeCase_Def();
    def.cellSize = 1.0f;
    def.maxCells = maxCells;
    espyResult result = espyBake_Run(espyBakeCase_Input(c), &def, out);
    espyBakeCase_Destroy(c);
    return result;
}

static void many_cells_are_warned_about_and_refused_in_time(void** state)
{
    (void)state;
    espyBakeResult r;
    // 65,536 are fine, one more is told.
    assert_int_equal(espyLimits_Bake(64, 16, 64, 0, ESPY_BAKE_MAX_CELLS, &r), espyResult_Ok);
    assert_int_equal(r.stats.cells, 65536);
    assert_false(espyBakeCase_HasWarning(&r, espyMessageId_BakeManyCells));
    espyBake_Free(&r);
    assert_int_equal(espyLimits_Bake(64, 16, 64, 1, ESPY_BAKE_MAX_CELLS, &r), espyResult_Ok);
    assert_int_equal(r.stats.cells, 65537);
    assert_true(espyBakeCase_HasWarning(&r, espyMessageId_BakeManyCells));
    espyBake_Free(&r);
    // 262,144 are taken, one more is not, unless the caller says so.
    assert_int_equal(espyLimits_Bake(128, 16, 128, 0, ESPY_BAKE_MAX_CELLS, &r), espyResult_Ok);
    assert_int_equal(r.stats.cells, 262144);
    espyBake_Free(&r);
    assert_int_equal(espyLimits_Bake(128, 16, 128, 1, ESPY_BAKE_MAX_CELLS, &r), espyResult_LimitExceeded);
    assert_null(r.data);
    assert_non_null(strstr(r.message, "262145"));
    assert_non_null(strstr(r.message, "262144"));
    espyBake_Free(&r);
    assert_int_equal(espyLimits_Bake(128, 16, 128, 1, 262145, &r), espyResult_Ok);
    espyBake_Free(&r);
}

// --- memory

/// Peak bytes of a bake of the rooms on `threads` threads, and what it counted.
static espyBakeStats espyLimits_Rooms(float cellSize, int32_t threads, espyPvsInfo* info)
{
    espyWorld* world = NULL;
    espyGathered* gathered = NULL;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyScene_Build("rooms", 2, 1, &world), espyResult_Ok);
    assert_int_equal(espyEditor_Gather(world, cellSize, 0.0f, &hooks, &gathered), espyResult_Ok);
    espyBakeDef def = espyBakeCase_Def();
    def.quality = espyBakeQuality_Low;
    def.cellSize = cellSize;
    def.threads = threads;
    def.dynamicObjects = false;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyGathered_GetInput(gathered), &def, &r), espyResult_Ok);
    espyPvs pvs = espyBakeCase_Load(&r);
    espyPvs_GetInfo(&pvs, info);
    espyBakeStats stats = r.stats;
    espyBake_Free(&r);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    return stats;
}

/// What a bake holds beyond what the level itself takes: so many bytes a cell of each thread's search, the columns, and
/// the sets twice. 300 is twice what a search's arrays add up to, as arrays that grow double.
static void memory_grows_by_what_is_counted(void** state)
{
    (void)state;
    for (int32_t threads = 1; threads <= 3; threads += 2)
    {
        espyPvsInfo few, many;
        espyBakeStats coarse = espyLimits_Rooms(1.0f, threads, &few), fine = espyLimits_Rooms(0.5f, threads, &many);
        assert_true(fine.cells >= 6 * coarse.cells);
        double cells = (double)(fine.cells - coarse.cells);
        double bound = cells * (300.0 * threads + (double)fine.occludees / 8.0) + 2.0 * (double)many.staticSetsBytes;
        double grown = (double)fine.peakMemoryBytes - (double)coarse.peakMemoryBytes;
        print_message("%d thread(s): %llu to %llu cells, %.2f to %.2f MB, at most %.2f MB more\n", (int)threads,
                      (unsigned long long)coarse.cells, (unsigned long long)fine.cells,
                      1e-6 * (double)coarse.peakMemoryBytes, 1e-6 * (double)fine.peakMemoryBytes, 1e-6 * bound);
        assert_true(grown < bound);
    }
}

// --- transforms

/// The box -0.5..0.5 under a transform, or a mesh with the transform's points under none.
static void espyLimits_Place(espyWorld* world, espyMat4 m, bool asMesh, uint32_t flags)
{
    static const uint32_t faces[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    espyVec3 p[8];
    uint32_t indices[36];
    bool mirrored = espyMat4_Determinant3(m) < 0.0f;
    for (uint32_t i = 0; i < 8; ++i)
    {
        p[i] = (espyVec3){i & 1u ? 0.5f : -0.5f, i & 2u ? 0.5f : -0.5f, i & 4u ? 0.5f : -0.5f};
        p[i] = asMesh ? espyMat4_TransformPoint(m, p[i]) : p[i];
    }
    for (uint32_t i = 0; i < 36; ++i)
    {
        // A mirrored triangle is turned round, so that its front stays outside.
        uint32_t corner = asMesh && mirrored && i % 3 > 0 ? i + 3 - 2 * (i % 3) : i;
        indices[i] = faces[corner];
    }
    espyMeshDef mesh = espyMeshDef_Default();
    espyMeshPart part = {.firstIndex = 0, .indexCount = 36, .material = espyMaterialClass_Opaque};
    mesh.triangles = (espyTriangles){p, indices, 8, 12};
    mesh.parts = &part;
    mesh.partCount = 1;
    espyNodeDef node = espyNodeDef_Default();
    espyMeshId meshId;
    espyNodeId nodeId;
    assert_int_equal(espyWorld_CreateMesh(world, &mesh, &meshId), espyResult_Ok);
    node.kind = espyNodeKind_StaticMesh3D;
    node.mesh = meshId;
    node.flags |= flags;
    node.local = asMesh ? espyMat4_Identity() : m;
    assert_int_equal(espyWorld_CreateNode(world, &node, &nodeId), espyResult_Ok);
}

/// Columns are the images of the axes: a box that is stretched, sheared by a quarter and, where asked, mirrored.
static espyMat4 espyLimits_Transform(float sx, float sy, float sz, float shear, float x, float y, float z)
{
    espyMat4 m = espyMat4_Identity();
    m.m[0] = sx;
    m.m[5] = sy;
    m.m[10] = sz;
    m.m[4] = shear;
    m.m[12] = x;
    m.m[13] = y;
    m.m[14] = z;
    return m;
}

static espyBakeResult espyLimits_BakePlaced(bool asMesh, float side)
{
    espyWorld* world = NULL;
    espyGathered* gathered = NULL;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyWorldDef worldDef = espyWorldDef_Default();
    assert_int_equal(espyWorld_Create(&worldDef, &world), espyResult_Ok);
    // A wall of a unit box stretched to 8 x 4 x 0.25 m, a leaning one, and boxes before and behind.
    espyLimits_Place(world, espyLimits_Transform(side * 8.0f, 4.0f, 0.25f, 0, 4, 2, 4), asMesh,
                     espyNodeFlag_OccluderStatic);
    espyLimits_Place(world, espyLimits_Transform(side * 2.0f, 3.0f, 0.5f, 0.5f, 2, 1.5f, 6), asMesh,
                     espyNodeFlag_OccluderStatic);
    for (uint32_t i = 0; i < 8; ++i)
    {
        espyMat4 m =
            espyLimits_Transform(side * 0.5f, 1.0f, side * 0.25f, 0, 0.5f + (float)i, 0.5f, i % 2 ? 7.0f : 2.0f);
        espyLimits_Place(world, m, asMesh, espyNodeFlag_OccludeeStatic);
    }
    assert_int_equal(espyEditor_Gather(world, 2.0f, 0.0f, &hooks, &gathered), espyResult_Ok);
    espyBakeInput input = *espyGathered_GetInput(gathered);
    espyBakeArea area = {espyLimits_Transform(8, 4, 8, 0, 4, 2, 4)};
    input.areas = &area;
    input.areaCount = 1;
    espyBakeDef def = espyBakeCase_Def();
    espyBakeResult r;
    assert_int_equal(espyBake_Run(&input, &def, &r), espyResult_Ok);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
    return r;
}

/// A node's stretched, leaning or mirrored box hides and is hidden as the same triangles are that need no transform.
static void transforms_do_not_matter(void** state)
{
    (void)state;
    for (int mirrored = 0; mirrored < 2; ++mirrored)
    {
        float side = mirrored ? -1.0f : 1.0f;
        espyBakeResult nodes = espyLimits_BakePlaced(false, side), meshes = espyLimits_BakePlaced(true, side);
        espyPvs a = espyBakeCase_Load(&nodes), b = espyBakeCase_Load(&meshes);
        assert_int_equal(a.occludeeCount, 8);
        assert_true(nodes.stats.pairsVisible > 0 && nodes.stats.pairsHidden > 0);
        for (uint32_t cell = 0; cell < a.cellCount; ++cell)
        {
            for (uint32_t slot = 0; slot < 8; ++slot)
            {
                assert_int_equal(espyPvs_TestSlot(&a, (int32_t)cell, slot), espyPvs_TestSlot(&b, (int32_t)cell, slot));
            }
        }
        espyBake_Free(&nodes);
        espyBake_Free(&meshes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_cells_are_warned_about_and_refused_in_time),
        cmocka_unit_test(memory_grows_by_what_is_counted),
        cmocka_unit_test(transforms_do_not_matter),
    };
    return cmocka_run_group_tests_name("bake limits", tests, NULL, NULL);
}
