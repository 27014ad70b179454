// SPDX-License-Identifier: MIT
// Faults that people met in other tools, as tests of the bake. Each is named after its row in the list of reports.
#include <espy/editor.h>

#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "scenes/scenes.h"
#include "tests/bake_case.h"
#include "tests/test_main.h"

static espyBakeResult espyReports_Bake(espyBakeCase* c, const espyBakeDef* def)
{
    espyBakeResult r;
    espyResult result = espyBake_Run(espyBakeCase_Input(c), def, &r);
    if (result != espyResult_Ok)
    {
        print_message("%s: %s\n", espyResult_GetName(result), r.message);
    }
    assert_int_equal(result, espyResult_Ok);
    return r;
}

// An object behind two walls that shows through the slit between them.
static void report_01_slit_between_walls(void** state)
{
    (void)state;
    const float slits[] = {0.5f, 0.1f, 0.05f, 0.02f, 0.01f};
    const float distances[] = {11, 16, 26};
    for (uint32_t i = 0; i < 5; ++i)
    {
        for (uint32_t k = 0; k < 3; ++k)
        {
            for (int angle = -1; angle <= 1; ++angle)
            {
                espyBakeCase* c = espyBakeCase_Create();
                // Sheets: no line slants through a slit that is much deeper than wide.
                float edge = 2 + slits[i];
                espyBakeCase_AddQuad(c, (espyVec3){-30, -10, 10}, (espyVec3){2, -10, 10}, (espyVec3){2, 10, 10},
                                     (espyVec3){-30, 10, 10}, espyCaseFlag_Occluder);
                espyBakeCase_AddQuad(c, (espyVec3){edge, -10, 10}, (espyVec3){30, -10, 10}, (espyVec3){30, 10, 10},
                                     (espyVec3){edge, 10, 10}, espyCaseFlag_Occluder);
                // Off to a side, so that it shows only along slanted lines.
                float z = distances[k], x = 2 + (float)angle * 0.5f * (z - 10.0f);
                espyBakeCase_AddBox(c, (espyVec3){x - 0.5f, 0, z}, (espyVec3){x + 0.5f, 1, z + 1}, espyCaseFlag_Both);
                espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 2, 8});
                espyBakeDef def = espyBakeCase_Def();
                espyBakeResult r = espyReports_Bake(c, &def);
                espyPvs pvs = espyBakeCase_Load(&r);
                // The cell that the line from the object's middle through the slit's middle runs through at z = 7.
                float sx = 2 + 0.5f * slits[i], eye = sx + (sx - x) * 3.0f / (z - 9.5f);
                bool seen = espyBakeCase_Sees(&pvs, (espyVec3){eye, 0.5f, 7}, 0);
                if (!seen)
                {
                    print_message("slit %g, distance %g, angle %d\n", (double)slits[i], (double)z, angle);
                }
                assert_true(seen);
                espyBake_Free(&r);
                espyBakeCase_Destroy(c);
            }
        }
    }
}

// Different answers from run to run.
static void report_07_same_answer_every_run(void** state)
{
    (void)state;
    espyWorld* world;
    assert_int_equal(espyScene_Build("tower", 2, 3, &world), espyResult_Ok);
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    def.quality = espyBakeQuality_Low;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyGathered* gathered;
    assert_int_equal(espyEditor_Gather(world, def.cellSize, 0.0f, &hooks, &gathered), espyResult_Ok);
    uint64_t hash = 0;
    for (int32_t run = 0; run < 10; ++run)
    {
        def.threads = 1 + run % 4;
        espyBakeResult r;
        assert_int_equal(espyBake_Run(espyGathered_GetInput(gathered), &def, &r), espyResult_Ok);
        uint64_t now = espyiHash_Bytes(0, r.data, r.size);
        hash = run == 0 ? now : hash;
        assert_true(now == hash);
        espyBake_Free(&r);
    }
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
}

// A 24-unit box that all but touches its occluder, or is far from it: neither switches culling off.
static void report_09_contact_and_distance(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddBox(c, (espyVec3){-40, -40, 20}, (espyVec3){40, 40, 21}, espyCaseFlag_Occluder);
    espyBakeCase_AddBox(c, (espyVec3){-12, -12, 21.1f}, (espyVec3){12, 12, 45}, espyCaseFlag_Both);
    espyBakeCase_AddBox(c, (espyVec3){-12, -12, 221}, (espyVec3){12, 12, 245}, espyCaseFlag_Both);
    espyBakeCase_AddArea(c, (espyVec3){-2, -2, -8}, (espyVec3){2, 2, 18});
    espyBakeDef def = espyBakeCase_Def();
    espyBakeResult r = espyReports_Bake(c, &def);
    assert_true(r.stats.pairsVisible == 0 && r.stats.pairsProvenHidden == r.stats.pairsHidden);
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

// A box in a pit under an alpha-masked grate.
static void report_23_grate_never_occludes(void** state)
{
    (void)state;
    for (int masked = 0; masked < 2; ++masked)
    {
        espyWorldDef worldDef = espyWorldDef_Default();
        espyWorld* world;
        assert_int_equal(espyWorld_Create(&worldDef, &world), espyResult_Ok);
        static const uint32_t quadIndices[6] = {0, 2, 1, 0, 3, 2};
        static const uint32_t boxIndices[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                                2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
        espyVec3 grate[4] = {{-50, 0, -50}, {50, 0, -50}, {50, 0, 50}, {-50, 0, 50}};
        espyVec3 box[8];
        for (uint32_t i = 0; i < 8; ++i)
        {
            box[i] = (espyVec3){i & 1u ? 2.0f : 1.0f, i & 2u ? -2.0f : -3.0f, i & 4u ? 2.0f : 1.0f};
        }
        for (int n = 0; n < 2; ++n)
        {
            espyMeshDef mesh = espyMeshDef_Default();
            mesh.triangles =
                n == 0 ? (espyTriangles){grate, quadIndices, 4, 2} : (espyTriangles){box, boxIndices, 8, 12};
            espyMeshPart part = {0, n == 0 ? 6 : 36,
                                 n == 0 && masked ? espyMaterialClass_Masked : espyMaterialClass_Opaque, 0};
            mesh.parts = &part;
            mesh.partCount = 1;
            espyNodeDef node = espyNodeDef_Default();
            node.kind = espyNodeKind_StaticMesh3D;
            node.flags = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
            node.sourceId = n;
            assert_int_equal(espyWorld_CreateMesh(world, &mesh, &node.mesh), espyResult_Ok);
            espyNodeId id;
            assert_int_equal(espyWorld_CreateNode(world, &node, &id), espyResult_Ok);
        }
        espyNodeDef area = espyNodeDef_Default();
        area.kind = espyNodeKind_OcclusionArea;
        area.local = espyMat4_Identity();
        area.local.m[0] = area.local.m[5] = area.local.m[10] = 4.0f;
        area.local.m[13] = 3.0f;
        area.sourceId = 2;
        espyNodeId id;
        assert_int_equal(espyWorld_CreateNode(world, &area, &id), espyResult_Ok);
        espyBakeDef def = espyBakeCase_Def();
        espyHooks hooks = espyiHooks_Resolve(NULL);
        espyGathered* gathered;
        assert_int_equal(espyEditor_Gather(world, def.cellSize, 0.0f, &hooks, &gathered), espyResult_Ok);
        espyBakeResult r;
        assert_int_equal(espyBake_Run(espyGathered_GetInput(gathered), &def, &r), espyResult_Ok);
        espyPvs pvs = espyBakeCase_Load(&r);
        assert_int_equal(pvs.occludeeCount, 2);
        assert_int_equal(espyBakeCase_CountCells(&pvs, 1), masked ? pvs.cellCount : 0);
        espyBake_Free(&r);
        espyGathered_Destroy(gathered);
        espyWorld_Destroy(world);
    }
}

// A count that does not fit the 8 bits it is kept in.
static void report_25_many_in_one_cell(void** state)
{
    (void)state;
    // 300 occludees in one cell; 70,000 made-up sets are in the tests of the file.
    espyBakeCase* c = espyBakeCase_Create();
    for (uint32_t i = 0; i < 300; ++i)
    {
        float x = 0.05f + 0.1f * (float)(i % 10), y = 0.05f + 0.1f * (float)(i / 10 % 10),
              z = 0.05f + 0.3f * (float)(i / 100);
        espyBakeCase_AddBox(c, (espyVec3){x, y, z}, (espyVec3){x + 0.02f, y + 0.02f, z + 0.02f}, espyCaseFlag_Both);
    }
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){2, 2, 2});
    espyBakeDef def = espyBakeCase_Def();
    espyBakeResult r = espyReports_Bake(c, &def);
    espyPvs pvs = espyBakeCase_Load(&r);
    assert_int_equal(pvs.occludeeCount, 300);
    for (uint32_t i = 0; i < 300; ++i)
    {
        assert_int_equal(espyBakeCase_CountCells(&pvs, i), 1);
        assert_true(espyPvs_GetOccludeeBox(&pvs, i).min.x == c->occludees[i].box.min.x);
    }
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

// Mirrored geometry turns its triangles inside out.
static void report_35_mirrored_level(void** state)
{
    (void)state;
    espyPvs first = {0};
    espyBakeResult results[2];
    for (int mirrored = 0; mirrored < 2; ++mirrored)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddTwoRooms(c, 3.0f, 4.0f);
        // A pillar that fills whole cells.
        espyBakeCase_AddBox(c, (espyVec3){5.5f, 0, 5.5f}, (espyVec3){8, 4, 8}, espyCaseFlag_Both);
        espyBakeCase_AddBox(c, (espyVec3){1, 0, 1}, (espyVec3){1.5f, 1, 1.5f}, espyCaseFlag_Both);
        espyBakeCase_AddBox(c, (espyVec3){6, 0, 1}, (espyVec3){6.5f, 1, 1.5f}, espyCaseFlag_Both);
        if (mirrored)
        {
            espyBakeCase_Scale(c, (espyVec3){-1, 1, 1});
            espyBakeCase_Shift(c, (espyVec3){8, 0, 0});
        }
        espyBakeDef def = espyBakeCase_Def();
        def.quality = espyBakeQuality_High;
        results[mirrored] = espyReports_Bake(c, &def);
        espyPvs pvs = espyBakeCase_Load(&results[mirrored]);
        first = mirrored ? first : pvs;
        assert_int_equal(results[mirrored].stats.solidCells, 2);
        for (uint32_t cell = 0; cell < pvs.cellCount; ++cell)
        {
            // Cell x of 4 is cell 3 - x of the mirrored level.
            uint32_t other = mirrored ? cell - cell % 4 + 3 - cell % 4 : cell;
            assert_int_equal(espyPvs_IsSolidCell(&pvs, (int32_t)cell), espyPvs_IsSolidCell(&first, (int32_t)other));
            for (uint32_t slot = 0; slot < 3; ++slot)
            {
                assert_int_equal(espyPvs_TestSlot(&pvs, (int32_t)cell, slot),
                                 espyPvs_TestSlot(&first, (int32_t)other, slot));
            }
        }
        espyBakeCase_Destroy(c);
    }
    espyBake_Free(&results[0]);
    espyBake_Free(&results[1]);
}

// Culled by a ray to its centre although half of it stands out behind a cliff.
static void report_45_half_out_behind_a_cliff(void** state)
{
    (void)state;
    const float shares[] = {0.5f, 0.2f, 0.05f, 0.01f};
    for (uint32_t i = 0; i < 4; ++i)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddBox(c, (espyVec3){-50, -50, 10}, (espyVec3){50, 4, 30}, espyCaseFlag_Occluder);
        // Seen from the height of the cliff's top, that much of it stands out.
        espyBakeCase_AddBox(c, (espyVec3){1, 3 + shares[i], 32}, (espyVec3){2, 4 + shares[i], 33}, espyCaseFlag_Both);
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 8, 8});
        espyBakeDef def = espyBakeCase_Def();
        espyBakeResult r = espyReports_Bake(c, &def);
        espyPvs pvs = espyBakeCase_Load(&r);
        assert_true(espyBakeCase_Sees(&pvs, (espyVec3){1, 5, 1}, 0));
        // From the foot of the cliff it cannot be seen.
        assert_false(espyBakeCase_Sees(&pvs, (espyVec3){1, 1, 7}, 0));
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
}

// Crashes with few occluders, one tetrahedron, degenerate or NaN triangles, an index past the end.
static void report_49_few_and_bad_occluders(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    def.quality = espyBakeQuality_Low;
    for (uint32_t n = 0; n <= 40; ++n)
    {
        espyBakeCase* c = espyBakeCase_Create();
        for (uint32_t i = 0; i < n; ++i)
        {
            espyVec3 p[4] = {{(float)i, 0, 3}, {(float)i + 0.5f, 0, 3}, {(float)i, 1, 3}, {(float)i, 0, 3.5f}};
            static const uint32_t tetrahedron[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
            espyBakeCase_AddMesh(c, p, 4, tetrahedron, n == 1 ? 1 : 4, espyCaseFlag_Both);
        }
        espyBakeCase_AddBox(c, (espyVec3){0, 0, 6}, (espyVec3){1, 1, 7}, espyCaseFlag_Occludee);
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 2, 2});
        espyBakeResult r = espyReports_Bake(c, &def);
        espyPvs pvs = espyBakeCase_Load(&r);
        assert_int_equal(pvs.occluderCount, n);
        assert_int_equal(espyBakeCase_CountCells(&pvs, n), 2);
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
    const float nan = __builtin_nanf(""), infinite = __builtin_inff();
    const espyVec3 bad[][3] = {{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                               {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}},
                               {{nan, 0, 1}, {9, 9, 1}, {9, 0, 1}},
                               {{infinite, 0, 1}, {0, 9, 1}, {9, 0, 1}},
                               {{0, -infinite, 1}, {0, nan, 1}, {9, 0, 1}}};
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    {
        espyBakeCase* c = espyBakeCase_Create();
        const uint32_t indices[3] = {0, 1, 2};
        espyBakeCase_AddMesh(c, bad[i], 3, indices, 1, espyCaseFlag_Occluder);
        espyBakeCase_AddBox(c, (espyVec3){0, 0, 6}, (espyVec3){1, 1, 7}, espyCaseFlag_Occludee);
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 2, 2});
        espyBakeResult r = espyReports_Bake(c, &def);
        assert_true(espyBakeCase_HasWarning(&r, espyMessageId_BakeBadTriangles));
        assert_int_equal(r.stats.triangles, 0);
        assert_int_equal(r.stats.pairsVisible, 2);
        espyBake_Free(&r);
        // An occludee of such triangles shows its box.
        c->occludees[0].mesh = c->occluders[0].mesh;
        espyBakeCase_AddBox(c, (espyVec3){-50, -50, 4}, (espyVec3){50, 50, 5}, espyCaseFlag_Occluder);
        r = espyReports_Bake(c, &def);
        assert_int_equal(r.stats.pairsVisible, 0);
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
    espyBakeCase* c = espyBakeCase_Create();
    espyVec3 p[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    const uint32_t past[3] = {0, 1, 3};
    espyBakeCase_AddMesh(c, p, 3, past, 1, espyCaseFlag_Both);
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_InvalidArgument);
    assert_non_null(strstr(r.message, "index 3"));
    espyBake_Free(&r);
    c->occluders[0].mesh.indices = NULL;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_InvalidArgument);
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

// Two walls that meet, and a box behind their joint.
static void report_51_walls_that_meet(void** state)
{
    (void)state;
    for (int solid = 0; solid < 2; ++solid)
    {
        espyBakeCase* c = espyBakeCase_Create();
        if (solid)
        {
            espyBakeCase_AddBox(c, (espyVec3){-30, -30, 10}, (espyVec3){2, 30, 10.2f}, espyCaseFlag_Occluder);
            espyBakeCase_AddBox(c, (espyVec3){2, -30, 10}, (espyVec3){30, 30, 10.2f}, espyCaseFlag_Occluder);
        }
        else
        {
            espyBakeCase_AddQuad(c, (espyVec3){-30, -30, 10}, (espyVec3){2, -30, 10}, (espyVec3){2, 30, 10},
                                 (espyVec3){-30, 30, 10}, espyCaseFlag_Occluder);
            espyBakeCase_AddQuad(c, (espyVec3){2, -30, 10}, (espyVec3){30, -30, 10}, (espyVec3){30, 30, 10},
                                 (espyVec3){2, 30, 10}, espyCaseFlag_Occluder);
        }
        espyBakeCase_AddBox(c, (espyVec3){1.5f, 1, 12}, (espyVec3){2.5f, 2, 13}, espyCaseFlag_Both);
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 4, 8});
        espyBakeDef def = espyBakeCase_Def();
        espyBakeResult r = espyReports_Bake(c, &def);
        assert_int_equal(r.stats.pairsVisible, 0);
        assert_true(r.stats.pairsProvenHidden == r.stats.pairsHidden);
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_01_slit_between_walls),      cmocka_unit_test(report_07_same_answer_every_run),
        cmocka_unit_test(report_09_contact_and_distance),    cmocka_unit_test(report_23_grate_never_occludes),
        cmocka_unit_test(report_25_many_in_one_cell),        cmocka_unit_test(report_35_mirrored_level),
        cmocka_unit_test(report_45_half_out_behind_a_cliff), cmocka_unit_test(report_49_few_and_bad_occluders),
        cmocka_unit_test(report_51_walls_that_meet),
    };
    return cmocka_run_group_tests_name("bake_reports", tests, NULL, NULL);
}
