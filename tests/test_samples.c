// SPDX-License-Identifier: MIT
// Where the fixed scheme looks from and to, by quality; and which points are inside something solid.
#include <math.h>

#include "bake/bake_internal.h"
#include "tests/bake_case.h"
#include "tests/test_main.h"

static espyHooks espySamplesTest_hooks;

static espyiGrid espySamplesTest_Grid(float cellSize, float side)
{
    espyiGrid grid;
    espyiGridRefusal refusal;
    espyiGridDef def = {.bounds = {{0, 0, 0}, {side, side, side}},
                        .cellSize = cellSize,
                        .maxCells = 1000,
                        .hooks = &espySamplesTest_hooks};
    assert_int_equal(espyiGrid_Build(&def, &grid, &refusal), espyResult_Ok);
    return grid;
}

static void sample_counts_and_places(void** state)
{
    (void)state;
    espyiGrid grid = espySamplesTest_Grid(2.0f, 8.0f);
    const uint32_t counts[3] = {4, 9, 17};
    for (int q = 0; q < 3; ++q)
    {
        espyBakeQuality quality = (espyBakeQuality)q;
        assert_int_equal(espyiSamples_Count(quality), counts[q]);
        uint32_t corners = 0, centres = 0;
        for (uint32_t i = 0; i < counts[q]; ++i)
        {
            espyVec3 p = espyiSamples_Point(&grid, 21, quality, i);
            espyBox box = espyiGrid_LocalCellBox(&grid, 21);
            assert_true(p.x > box.min.x && p.x < box.max.x && p.y > box.min.y && p.y < box.max.y);
            assert_true(p.z > box.min.z && p.z < box.max.z);
            float off[3] = {fabsf(p.x - box.min.x - 1.0f), fabsf(p.y - box.min.y - 1.0f),
                            fabsf(p.z - box.min.z - 1.0f)};
            corners += off[0] > 0.979f && off[0] < 0.981f && off[1] > 0.979f && off[1] < 0.981f && off[2] > 0.979f &&
                               off[2] < 0.981f
                           ? 1u
                           : 0u;
            centres += off[0] < 1e-5f && off[1] < 1e-5f && off[2] < 1e-5f ? 1u : 0u;
            for (uint32_t k = 0; k < i; ++k)
            {
                // No two the same; Low's corners differ on two axes each.
                espyVec3 o = espyiSamples_Point(&grid, 21, quality, k);
                int differ = (fabsf(o.x - p.x) > 1e-3f) + (fabsf(o.y - p.y) > 1e-3f) + (fabsf(o.z - p.z) > 1e-3f);
                assert_true(differ >= (quality == espyBakeQuality_Low ? 2 : 1));
            }
        }
        assert_int_equal(corners, quality == espyBakeQuality_Low ? 4 : 8);
        assert_int_equal(centres, quality == espyBakeQuality_Low ? 0 : 1);
    }
    espyiGrid_Free(&grid, &espySamplesTest_hooks);
}

static void target_counts_by_quality(void** state)
{
    (void)state;
    espyiGrid grid = espySamplesTest_Grid(2.0f, 8.0f);
    espyVec3 vertices[100];
    for (uint32_t i = 0; i < 100; ++i)
    {
        vertices[i] = (espyVec3){0.01f * (float)i, 0.5f, 0.25f};
    }
    espyTriangles mesh = {.positions = vertices, .vertexCount = 100};
    espyVec3 out[ESPYI_MAX_FIXED_TARGETS];
    espyBox small = {{0, 0, 0}, {1, 1, 1}};
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_Low, small, &mesh, out), 9);
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_Medium, small, &mesh, out), 15 + 8);
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_High, small, &mesh, out), 15 + 24);
    // The stride goes over the whole mesh.
    assert_true(out[15].x == 0.0f && out[15 + 23].x > 0.9f);
    mesh.vertexCount = 3;
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_High, small, &mesh, out), 15 + 3);
    mesh.vertexCount = 0;
    // Longer than two cells: about a point a cell on each face, 6 or 8 a side at most.
    espyBox exactlyTwo = {{0, 0, 0}, {4, 1, 1}};
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_Medium, exactlyTwo, &mesh, out), 15);
    espyBox longer = {{0, 0, 0}, {5, 1, 1}};
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_Medium, longer, &mesh, out), 15 + 4 * 3 + 2);
    espyBox large = {{0, 0, 0}, {100, 100, 100}};
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_Low, large, &mesh, out), 9 + 6 * 36);
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_Medium, large, &mesh, out), 15 + 6 * 36);
    assert_int_equal(espyiSamples_Targets(&grid, espyBakeQuality_High, large, &mesh, out), 15 + 6 * 64);
    for (uint32_t i = 15; i < 15 + 6 * 64; ++i)
    {
        bool onFace =
            out[i].x == 0 || out[i].x == 100 || out[i].y == 0 || out[i].y == 100 || out[i].z == 0 || out[i].z == 100;
        assert_true(onFace);
    }
    espyiGrid_Free(&grid, &espySamplesTest_hooks);
}

static void segments_end_before_their_target(void** state)
{
    (void)state;
    const float lengths[] = {0.01f, 1, 30, 1000, 16000};
    for (uint32_t i = 0; i < 5; ++i)
    {
        espyiSegment s = espyiSamples_Segment((espyVec3){0, 0, 0}, (espyVec3){lengths[i], 0, 0});
        double end = (double)s.tMax * (double)lengths[i];
        assert_true(end < (double)lengths[i] - 0.9e-4);
        assert_true(end > (double)lengths[i] - 0.02);
    }
    assert_true(espyiSamples_Segment((espyVec3){1, 1, 1}, (espyVec3){1, 1, 1}).tMax == 0.0f);
}

static espyiBvh* espySamplesTest_Bvh(espyBakeCase* c)
{
    espyiScene scene = {.hooks = &espySamplesTest_hooks};
    espyiWarnings warnings = {.hooks = &espySamplesTest_hooks};
    espyBakeDef def = espyBakeCase_Def();
    char message[256];
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){8, 8, 8});
    assert_int_equal(espyiScene_Gather(espyBakeCase_Input(c), &def, &warnings, &scene, message, sizeof message),
                     espyResult_Ok);
    espyiSoup soup = {{scene.positions, scene.indices, scene.vertexCount, scene.triangleCount}, scene.objects};
    espyiBvh* bvh;
    assert_int_equal(espyiBvh_Build(&soup, espyIsa_Auto, 1, &espySamplesTest_hooks, NULL, &bvh), espyResult_Ok);
    espyiScene_Free(&scene);
    espyiWarnings_Free(&warnings);
    return bvh;
}

static bool espySamplesTest_Inside(const espyiBvh* bvh, float x, float y, float z)
{
    uint64_t rays = 0;
    return espyiSolid_IsInside(bvh, (espyVec3){x, y, z}, 1000.0f, &rays);
}

static void inside_a_box_is_solid(void** state)
{
    (void)state;
    for (int mirrored = 0; mirrored < 2; ++mirrored)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddBox(c, (espyVec3){2, 0, 2}, (espyVec3){5, 3, 5}, espyCaseFlag_Occluder);
        if (mirrored)
        {
            espyBakeCase_Scale(c, (espyVec3){-1, 1, 1});
            espyBakeCase_Shift(c, (espyVec3){7, 0, 0});
        }
        espyiBvh* bvh = espySamplesTest_Bvh(c);
        assert_true(espySamplesTest_Inside(bvh, 3, 1, 3));
        assert_true(espySamplesTest_Inside(bvh, 2.01f, 0.01f, 4.99f));
        assert_false(espySamplesTest_Inside(bvh, 1.99f, 1, 3));
        assert_false(espySamplesTest_Inside(bvh, 3, 3.01f, 3));
        espyiBvh_Destroy(bvh);
        espyBakeCase_Destroy(c);
    }
}

static void open_meshes_make_nothing_solid(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    // A terrain sheet that faces up: below it all rays up meet back faces.
    espyBakeCase_AddQuad(c, (espyVec3){-50, 4, -50}, (espyVec3){-50, 4, 50}, (espyVec3){50, 4, 50},
                         (espyVec3){50, 4, -50}, espyCaseFlag_Occluder);
    espyiBvh* bvh = espySamplesTest_Bvh(c);
    assert_false(espySamplesTest_Inside(bvh, 3, 3, 3));
    assert_false(espySamplesTest_Inside(bvh, 3, 3.999f, 3));
    assert_false(espySamplesTest_Inside(bvh, 3, 5, 3));
    espyiBvh_Destroy(bvh);
    espyBakeCase_Destroy(c);
    // A box without its lid.
    c = espyBakeCase_Create();
    espyBakeCase_AddBox(c, (espyVec3){2, 0, 2}, (espyVec3){5, 3, 5}, espyCaseFlag_Occluder);
    uint32_t* indices = (uint32_t*)(uintptr_t)c->occluders[0].mesh.indices;
    for (uint32_t i = 18; i < 24; ++i)
    {
        indices[i] = 0;
    }
    bvh = espySamplesTest_Bvh(c);
    assert_false(espySamplesTest_Inside(bvh, 3, 1, 3));
    espyiBvh_Destroy(bvh);
    espyBakeCase_Destroy(c);
}

static void a_house_on_the_ground_is_solid(void** state)
{
    (void)state;
    // Its bottom lies in the ground's top, whichever comes first.
    for (int order = 0; order < 2; ++order)
    {
        espyBakeCase* c = espyBakeCase_Create();
        for (int i = 0; i < 2; ++i)
        {
            if (i == order)
            {
                espyBakeCase_AddBox(c, (espyVec3){-50, -1, -50}, (espyVec3){50, 0, 50}, espyCaseFlag_Occluder);
            }
            else
            {
                espyBakeCase_AddBox(c, (espyVec3){2, 0, 2}, (espyVec3){5, 3, 5}, espyCaseFlag_Occluder);
            }
        }
        espyiBvh* bvh = espySamplesTest_Bvh(c);
        assert_true(espySamplesTest_Inside(bvh, 3, 1, 3));
        assert_false(espySamplesTest_Inside(bvh, 1, 1, 1));
        espyiBvh_Destroy(bvh);
        espyBakeCase_Destroy(c);
    }
}

// --- targets

static void clusters_hold_every_triangle_once(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(5);
    for (uint32_t n = 1; n <= 400; n += 57)
    {
        espyVec3* positions = malloc(3u * n * sizeof *positions);
        uint32_t* indices = malloc(3u * n * sizeof *indices);
        double area = 0.0;
        for (uint32_t i = 0; i < 3 * n; ++i)
        {
            positions[i] = (espyVec3){8 * espyiRng_Float(&rng), 8 * espyiRng_Float(&rng), 8 * espyiRng_Float(&rng)};
            indices[i] = i;
        }
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddMesh(c, positions, 3 * n, indices, n, espyCaseFlag_Occludee);
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){8, 8, 8});
        espyiScene scene = {.hooks = &espySamplesTest_hooks};
        espyiWarnings warnings = {.hooks = &espySamplesTest_hooks};
        espyBakeDef def = espyBakeCase_Def();
        char message[256];
        assert_int_equal(espyiScene_Gather(espyBakeCase_Input(c), &def, &warnings, &scene, message, sizeof message),
                         espyResult_Ok);
        espyiTarget target = {0};
        assert_true(espyiTarget_FillOccludee(&target, &scene, 0, def.quality, NULL));
        assert_int_equal(target.triangleCount, n);
        assert_int_equal(target.partFirst[0], 0);
        assert_int_equal(target.partFirst[target.partCount], n);
        double keySum = 0.0, wantedSum = 0.0;
        for (uint32_t p = 0; p < target.partCount; ++p)
        {
            uint32_t first = target.partFirst[p], last = target.partFirst[p + 1];
            assert_true(last > first && last - first <= 6);
            for (uint32_t i = 3 * first; i < 3 * last; ++i)
            {
                espyVec3 v = target.corners[i];
                assert_true((double)v.x >= target.parts[p].min[0] && (double)v.x <= target.parts[p].max[0]);
                assert_true((double)v.y >= target.parts[p].min[1] && (double)v.y <= target.parts[p].max[1]);
                assert_true((double)v.z >= target.parts[p].min[2] && (double)v.z <= target.parts[p].max[2]);
                keySum += (double)v.x * (double)v.y + (double)v.z;
            }
        }
        for (uint32_t i = 0; i < 3 * n; ++i)
        {
            wantedSum += (double)positions[i].x * (double)positions[i].y + (double)positions[i].z;
        }
        assert_true(fabs(keySum - wantedSum) < 1e-6 * fabs(wantedSum));
        area = target.cumulative[n - 1];
        assert_true(area > 0.0);
        for (uint32_t i = 0; i < 200; ++i)
        {
            // A random point lies on some triangle; aiming at it from anywhere gives a point of the surface.
            espyVec3 p = espyiTarget_RandomPoint(&target, &rng);
            espyVec3 q = espyiTarget_Aim(&target, p, (espyVec3){p.x + 0.1f, p.y, p.z});
            espyVec3 onSurface = espyiTarget_Aim(&target, (espyVec3){-5, 20, -7}, p);
            espyVec3 away = {p.x - (-5), p.y - 20, p.z - (-7)};
            float length = sqrtf(away.x * away.x + away.y * away.y + away.z * away.z);
            float ox = onSurface.x + 5, oy = onSurface.y - 20, oz = onSurface.z + 7;
            // Never farther than the point itself along the same line.
            assert_true(sqrtf(ox * ox + oy * oy + oz * oz) <= length + 0.01f);
            assert_true(espyiFinite3(q));
        }
        espyiTarget_Free(&target, &espySamplesTest_hooks);
        espyiScene_Free(&scene);
        espyiWarnings_Free(&warnings);
        espyBakeCase_Destroy(c);
        free(positions);
        free(indices);
    }
}

// Own occluders block in proofs: these may speak of the surface alone only where it is what blocks, and of the boxes of
// parts only where these hold it.
static void own_occluders_have_a_place(void** state)
{
    (void)state;
    static const espyiOwnPlace wanted[] = {espyiOwnPlace_Surface, espyiOwnPlace_Parts, espyiOwnPlace_Elsewhere,
                                           espyiOwnPlace_Elsewhere};
    for (uint32_t variant = 0; variant < 4; ++variant)
    {
        // Two heaps of seven triangles, ten metres apart: at least one part each.
        espyVec3 positions[42];
        uint32_t indices[42], turned[42];
        espyiRng rng = espyiRng_Seed(8);
        for (uint32_t i = 0; i < 42; ++i)
        {
            float x = (i < 21 ? 0.0f : 10.0f) + 2.0f * espyiRng_Float(&rng);
            positions[i] = (espyVec3){x, 2.0f * espyiRng_Float(&rng), 2.0f * espyiRng_Float(&rng)};
            indices[i] = i;
            // The same triangles, last first, from another corner and from the other side.
            turned[i] = 3 * (13 - i / 3) + (5 - i % 3) % 3;
        }
        espyBakeCase* c = espyBakeCase_Create();
        uint32_t target = espyBakeCase_AddMesh(c, positions, 42, indices, 14, espyCaseFlag_Occludee);
        espyVec3 a = positions[0], b = positions[1], d = positions[2];
        uint32_t own = 0;
        if (variant == 0)
        {
            own = espyBakeCase_AddMesh(c, positions, 42, turned, 14, espyCaseFlag_Occluder);
        }
        else
        {
            // Half of one triangle; a wall between the heaps, inside the bounds; a wall far away.
            espyVec3 half = {0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z)};
            float x = variant == 2 ? 6.0f : 40.0f;
            const espyVec3 inPart[3] = {a, half, d}, away[3] = {{x, 1, 1}, {x, 1.5f, 1}, {x, 1, 1.5f}};
            own = espyBakeCase_AddMesh(c, variant == 1 ? inPart : away, 3, indices, 1, espyCaseFlag_Occluder);
        }
        c->occludees[target].firstOwn = own;
        c->occludees[target].ownCount = 1;
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){12, 4, 4});
        espyiScene scene = {.hooks = &espySamplesTest_hooks};
        espyiWarnings warnings = {.hooks = &espySamplesTest_hooks};
        espyBakeDef def = espyBakeCase_Def();
        char message[256];
        assert_int_equal(espyiScene_Gather(espyBakeCase_Input(c), &def, &warnings, &scene, message, sizeof message),
                         espyResult_Ok);
        espyiTarget filled = {0};
        assert_true(espyiTarget_FillOccludee(&filled, &scene, target, def.quality, NULL));
        assert_int_equal(filled.own, wanted[variant]);
        espyiTarget_Free(&filled, &espySamplesTest_hooks);
        espyiScene_Free(&scene);
        espyiWarnings_Free(&warnings);
        espyBakeCase_Destroy(c);
    }
}

int main(void)
{
    espySamplesTest_hooks = espyiHooks_Resolve(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_counts_and_places),          cmocka_unit_test(target_counts_by_quality),
        cmocka_unit_test(segments_end_before_their_target),  cmocka_unit_test(inside_a_box_is_solid),
        cmocka_unit_test(open_meshes_make_nothing_solid),    cmocka_unit_test(a_house_on_the_ground_is_solid),
        cmocka_unit_test(clusters_hold_every_triangle_once), cmocka_unit_test(own_occluders_have_a_place),
    };
    return cmocka_run_group_tests_name("samples", tests, NULL, NULL);
}
