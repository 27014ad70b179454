// SPDX-License-Identifier: MIT
// The bake as a whole: what a wall hides and a hole shows, the fixed scheme as a lower bound, sizes by formula, the
// same bytes for any threads and instruction set, refusals, cancelling, and every allocation failing once.
#include <espy/editor.h>

#include <stdio.h>
#include <string.h>

#include <math.h>

#include "core/core.h"
#include "geometry/bvh.h"
#include "reference/fixed_scheme.h"
#include "reference/witness_truth.h"
#include "scenes/scenes.h"
#include "tests/bake_case.h"
#include "tests/test_main.h"

static uint64_t espyBakeTest_Hash(const espyBakeResult* r)
{
    return espyiHash_Bytes(0, r->data, r->size);
}

static espyBakeResult espyBakeTest_Run(espyBakeCase* c, const espyBakeDef* def)
{
    espyBakeResult r;
    espyResult result = espyBake_Run(espyBakeCase_Input(c), def, &r);
    if (result != espyResult_Ok)
    {
        print_message("%s: %s\n", espyResult_GetName(result), r.message);
    }
    assert_int_equal(result, espyResult_Ok);
    const espyBakeStats* s = &r.stats;
    assert_true(s->pairsVisible + s->pairsHidden + s->pairsUnknown == (s->cells - s->solidCells) * s->occludees);
    assert_true(s->pairsProvenHidden <= s->pairsHidden);
    return r;
}

// A wall 20 x 20 m at z = 10 with the camera area in front and a small box behind.
static espyBakeCase* espyBakeTest_Wall(float hole)
{
    espyBakeCase* c = espyBakeCase_Create();
    if (hole > 0.0f)
    {
        espyBakeCase_AddBox(c, (espyVec3){-20, -20, 10}, (espyVec3){20, 2, 10.2f}, espyCaseFlag_Occluder);
        espyBakeCase_AddBox(c, (espyVec3){-20, 2 + hole, 10}, (espyVec3){20, 20, 10.2f}, espyCaseFlag_Occluder);
        espyBakeCase_AddBox(c, (espyVec3){-20, 2, 10}, (espyVec3){2, 2 + hole, 10.2f}, espyCaseFlag_Occluder);
        espyBakeCase_AddBox(c, (espyVec3){2 + hole, 2, 10}, (espyVec3){20, 2 + hole, 10.2f}, espyCaseFlag_Occluder);
    }
    else
    {
        espyBakeCase_AddBox(c, (espyVec3){-20, -20, 10}, (espyVec3){20, 20, 10.2f}, espyCaseFlag_Occluder);
    }
    espyBakeCase_AddBox(c, (espyVec3){1.5f, 1.5f, 12}, (espyVec3){2.5f, 2.5f, 13}, espyCaseFlag_Both);
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 4, 8});
    return c;
}

static void a_wall_hides_what_is_behind(void** state)
{
    (void)state;
    for (int q = 0; q <= (int)espyBakeQuality_Proven; ++q)
    {
        espyBakeCase* c = espyBakeTest_Wall(0.0f);
        espyBakeDef def = espyBakeCase_Def();
        def.quality = (espyBakeQuality)q;
        espyBakeResult r = espyBakeTest_Run(c, &def);
        espyPvs pvs = espyBakeCase_Load(&r);
        assert_int_equal(espyBakeCase_CountCells(&pvs, 0), 0);
        assert_true(r.stats.pairsHidden == 16 && r.stats.pairsProvenHidden == 16);
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
}

static void a_hole_of_ten_centimetres_shows_it(void** state)
{
    (void)state;
    for (int q = 0; q <= (int)espyBakeQuality_Proven; ++q)
    {
        espyBakeCase* c = espyBakeTest_Wall(0.1f);
        espyBakeDef def = espyBakeCase_Def();
        def.quality = (espyBakeQuality)q;
        espyBakeResult r = espyBakeTest_Run(c, &def);
        espyPvs pvs = espyBakeCase_Load(&r);
        // All 16 cells have a line through the hole to the front of the box, some a very narrow one: Low may miss
        // those.
        uint32_t seen = espyBakeCase_CountCells(&pvs, 0);
        print_message("quality %d: %u of 16 cells\n", q, seen);
        assert_true(seen >= (q == (int)espyBakeQuality_Low ? 12u : 16u));
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
}

static void near_things_are_visible(void** state)
{
    (void)state;
    // A box in a cell of its own behind a wall, nearer to the next cell than the near distance.
    const float distances[2] = {0.05f, 0.4f};
    for (int i = 0; i < 2; ++i)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddBox(c, (espyVec3){-9, -9, 4}, (espyVec3){9, 9, 4.01f}, espyCaseFlag_Occluder);
        float z = 4.0f + distances[i];
        espyBakeCase_AddBox(c, (espyVec3){1, 1, z}, (espyVec3){1.2f, 1.2f, z + 0.1f}, espyCaseFlag_Both);
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 4, 4});
        espyBakeDef def = espyBakeCase_Def();
        espyBakeResult r = espyBakeTest_Run(c, &def);
        espyPvs pvs = espyBakeCase_Load(&r);
        assert_true(espyBakeCase_Sees(&pvs, (espyVec3){1, 1, 3.5f}, 0) == (i == 0));
        assert_false(espyBakeCase_Sees(&pvs, (espyVec3){1, 1, 1}, 0));
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
}

static void own_triangles_never_block(void** state)
{
    (void)state;
    // The back of a quad, and a box whose far side only can be seen through itself.
    espyBakeCase* c = espyBakeCase_Create();
    uint32_t quad = espyBakeCase_AddQuad(c, (espyVec3){0, 0, 6}, (espyVec3){2, 0, 6}, (espyVec3){2, 2, 6},
                                         (espyVec3){0, 2, 6}, espyCaseFlag_Both);
    uint32_t behind =
        espyBakeCase_AddBox(c, (espyVec3){0.9f, 0.9f, 7}, (espyVec3){1.1f, 1.1f, 7.2f}, espyCaseFlag_Occludee);
    espyBakeCase_AddArea(c, (espyVec3){0.5f, 0.5f, 4}, (espyVec3){1.5f, 1.5f, 5});
    espyBakeDef def = espyBakeCase_Def();
    def.cellSize = 1.0f;
    espyBakeResult r = espyBakeTest_Run(c, &def);
    espyPvs pvs = espyBakeCase_Load(&r);
    assert_true(espyBakeCase_Sees(&pvs, (espyVec3){1, 1, 4.5f}, quad));
    assert_false(espyBakeCase_Sees(&pvs, (espyVec3){1, 1, 4.5f}, behind));
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

static void floor_tiles_see_each_other(void** state)
{
    (void)state;
    // 8 x 8 tiles in one plane, all occluders: from above every tile is seen from every cell. A decal lies 0.05 mm over
    // one of them: neither hides the other.
    espyBakeCase* c = espyBakeCase_Create();
    for (uint32_t i = 0; i < 64; ++i)
    {
        float x = (float)(i % 8), z = (float)(i / 8);
        espyBakeCase_AddQuad(c, (espyVec3){x, 0, z}, (espyVec3){x, 0, z + 1}, (espyVec3){x + 1, 0, z + 1},
                             (espyVec3){x + 1, 0, z}, espyCaseFlag_Both);
    }
    espyBakeCase_AddQuad(c, (espyVec3){3, 5e-5f, 3}, (espyVec3){3, 5e-5f, 4}, (espyVec3){4, 5e-5f, 4},
                         (espyVec3){4, 5e-5f, 3}, espyCaseFlag_Both);
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){8, 4, 8});
    espyBakeDef def = espyBakeCase_Def();
    for (int q = 0; q < 3; ++q)
    {
        def.quality = (espyBakeQuality)q;
        espyBakeResult r = espyBakeTest_Run(c, &def);
        assert_true(r.stats.pairsVisible == 32 * 65);
        espyBake_Free(&r);
    }
    espyBakeCase_Destroy(c);
}

// --- scenes

typedef struct espyBakeTestScene
{
    espyWorld* world;
    espyGathered* gathered;
    const espyBakeInput* input;
    espyBakeDef def;
} espyBakeTestScene;

static espyBakeTestScene espyBakeTest_Scene(const char* name, uint32_t size)
{
    espyBakeTestScene s;
    assert_int_equal(espyScene_Build(name, size, 1, &s.world), espyResult_Ok);
    s.def = espyBakeDef_Default();
    espyEditor_ApplySettings(s.world, &s.def);
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyEditor_Gather(s.world, s.def.cellSize, 0.0f, &hooks, &s.gathered), espyResult_Ok);
    s.input = espyGathered_GetInput(s.gathered);
    s.def.threads = 1;
    return s;
}

static void espyBakeTest_EndScene(espyBakeTestScene* s)
{
    espyGathered_Destroy(s->gathered);
    espyWorld_Destroy(s->world);
}

// Every pair that the fixed rays find is found; and much more.
static void finds_all_that_fixed_rays_find(void** state)
{
    (void)state;
    const struct
    {
        const char* name;
        uint32_t size;
        espyBakeQuality quality;
    } cases[] = {{"rooms", 1, espyBakeQuality_High},
                 {"rooms", 2, espyBakeQuality_Low},
                 {"slits", 2, espyBakeQuality_Low},
                 {"city", 2, espyBakeQuality_Low},
                 {"rooms", 1, espyBakeQuality_Medium}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    {
        espyBakeTestScene s = espyBakeTest_Scene(cases[i].name, cases[i].size);
        s.def.quality = cases[i].quality;
        s.def.dynamicObjects = false;
        espyBakeResult r;
        assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
        espyPvs pvs = espyBakeCase_Load(&r);
        espyFixedScheme fixed;
        assert_true(espyFixedScheme_Run(s.input, &pvs, cases[i].quality, &fixed));
        uint32_t found = 0, ours = 0, lost = 0, solidDiffers = 0;
        for (uint32_t cell = 0; cell < pvs.cellCount; ++cell)
        {
            solidDiffers += (fixed.openSamples[cell] == 0) != espyPvs_IsSolidCell(&pvs, (int32_t)cell) ? 1u : 0u;
            for (uint32_t o = 0; o < s.input->occludeeCount; ++o)
            {
                bool visible = espyPvs_TestSlot(&pvs, (int32_t)cell, o) == espyVisibility_Visible;
                bool naive = fixed.visible[(size_t)cell * s.input->occludeeCount + o] != 0;
                found += naive ? 1u : 0u;
                ours += visible ? 1u : 0u;
                lost += naive && !visible ? 1u : 0u;
            }
        }
        print_message("%s %u: fixed rays find %u pairs, the bake %u\n", cases[i].name, cases[i].size, found, ours);
        assert_int_equal(lost, 0);
        assert_int_equal(solidDiffers, 0);
        assert_true(ours >= found && found > 0);
        espyFixedScheme_Free(&fixed);
        espyBake_Free(&r);
        espyBakeTest_EndScene(&s);
    }
}

// --- against what very many lines find

static double espyBakeTest_Trace(void* context, const double origin[3], const double direction[3], uint32_t firstOwn,
                                 uint32_t ownCount, uint32_t* triangle, bool* backFace)
{
    espyiSegment segment = {{(float)origin[0], (float)origin[1], (float)origin[2]},
                            0.0f,
                            {(float)direction[0], (float)direction[1], (float)direction[2]},
                            1e5f};
    espyiHit hit;
    if (!espyiBvh_Closest(context, &segment, (espyiSkip){firstOwn, ownCount}, &hit))
    {
        return INFINITY;
    }
    *triangle = hit.triangle;
    *backFace = hit.backFace;
    return (double)hit.t;
}

static espyiBvh* espyBakeTest_WorldBvh(const espyBakeInput* input)
{
    size_t vertices = 0, triangles = 0;
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        vertices += input->occluders[i].mesh.vertexCount;
        triangles += input->occluders[i].mesh.triangleCount;
    }
    espyVec3* positions = malloc(vertices * sizeof *positions);
    uint32_t* indices = malloc(3 * triangles * sizeof *indices);
    uint32_t* objects = malloc(triangles * sizeof *objects);
    uint32_t vertex = 0, triangle = 0;
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        const espyTriangles* mesh = &input->occluders[i].mesh;
        memcpy(positions + vertex, mesh->positions, mesh->vertexCount * sizeof *positions);
        for (uint32_t k = 0; k < mesh->triangleCount; ++k)
        {
            for (uint32_t c = 0; c < 3; ++c)
            {
                indices[3 * triangle + c] = vertex + mesh->indices[3 * k + c];
            }
            objects[triangle++] = i;
        }
        vertex += mesh->vertexCount;
    }
    espyiSoup soup = {{positions, indices, vertex, triangle}, objects};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiBvh* bvh;
    assert_int_equal(espyiBvh_Build(&soup, espyIsa_Auto, 1, &hooks, NULL, &bvh), espyResult_Ok);
    free(positions);
    free(indices);
    free(objects);
    return bvh;
}

// What the bake hides although a line shows it: at most a tenth of what the fixed scheme hides. And nothing that is
// proven hidden is ever shown by a line.
static void misses_a_tenth_of_what_fixed_rays_miss(void** state)
{
    (void)state;
    const char* names[] = {"rooms", "slits", "city"};
    for (uint32_t i = 0; i < 3; ++i)
    {
        espyBakeTestScene s = espyBakeTest_Scene(names[i], 2);
        s.def.dynamicObjects = false;
        espyBakeResult r, proven;
        assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
        espyPvs pvs = espyBakeCase_Load(&r);
        espyTruthMatrix truth;
        assert_true(espyTruth_Create(&truth, &pvs));
        espyiBvh* bvh = espyBakeTest_WorldBvh(s.input);
        espyTruthDef def = {.input = s.input,
                            .pvs = &pvs,
                            .trace = espyBakeTest_Trace,
                            .traceContext = bvh,
                            .rays = 1500000,
                            .seed = 5,
                            .threads = 1};
        espyTruth_Search(&def, &truth);
        uint64_t seen = espyTruth_Count(&truth, &pvs), missing = espyTruth_CountMissing(&truth, &pvs);
        espyFixedScheme fixed;
        assert_true(espyFixedScheme_Run(s.input, &pvs, espyBakeQuality_Medium, &fixed));
        uint64_t fixedMissing = 0;
        for (uint32_t cell = 0; cell < pvs.cellCount; ++cell)
        {
            for (uint32_t o = 0; o < s.input->occludeeCount && !espyPvs_IsSolidCell(&pvs, (int32_t)cell); ++o)
            {
                bool shown = espyiBits_Get(truth.bits + (size_t)cell * truth.words, o);
                fixedMissing += shown && !fixed.visible[(size_t)cell * s.input->occludeeCount + o] ? 1u : 0u;
            }
        }
        print_message("%s: of %llu pairs seen, the bake misses %llu, fixed rays %llu\n", names[i],
                      (unsigned long long)seen, (unsigned long long)missing, (unsigned long long)fixedMissing);
        assert_true(10 * missing <= fixedMissing);
        s.def.quality = espyBakeQuality_Proven;
        assert_int_equal(espyBake_Run(s.input, &s.def, &proven), espyResult_Ok);
        espyPvs provenPvs = espyBakeCase_Load(&proven);
        assert_true(espyTruth_CountMissing(&truth, &provenPvs) == 0);
        espyFixedScheme_Free(&fixed);
        espyiBvh_Destroy(bvh);
        espyTruth_Free(&truth);
        espyBake_Free(&proven);
        espyBake_Free(&r);
        espyBakeTest_EndScene(&s);
    }
}

static void same_bytes_for_any_threads_and_instruction_set(void** state)
{
    (void)state;
    const char* names[] = {"rooms", "slits", "tower"};
    for (uint32_t i = 0; i < 3; ++i)
    {
        espyBakeTestScene s = espyBakeTest_Scene(names[i], i == 2 ? 1 : 2);
        uint64_t hash = 0;
        const int32_t threads[] = {1, 2, 7, 1, 1, 1, 1};
        const espyIsa isas[] = {espyIsa_Auto,  espyIsa_Auto, espyIsa_Auto,  espyIsa_Scalar,
                                espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
        for (uint32_t k = 0; k < 7; ++k)
        {
            s.def.threads = threads[k];
            s.def.isa = isas[k];
            espyBakeResult r;
            assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
            uint64_t now = espyBakeTest_Hash(&r);
            hash = k == 0 ? now : hash;
            assert_true(now == hash);
            espyBake_Free(&r);
        }
        espyBakeTest_EndScene(&s);
    }
}

// Surfaces within 0.1 mm of each other never hide each other, from however flat an angle.
static void decals_show_at_every_angle(void** state)
{
    (void)state;
    static const float depths[] = {-0.00009f, -0.00001f, 0.0f, 0.00005f};
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; ++i)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddBox(c, (espyVec3){-40, -0.25f, -4}, (espyVec3){40, 0, 4}, espyCaseFlag_Occluder);
        float y = depths[i];
        uint32_t decal =
            espyBakeCase_AddQuad(c, (espyVec3){-0.5f, y, 0.5f}, (espyVec3){0.5f, y, 0.5f}, (espyVec3){0.5f, y, -0.5f},
                                 (espyVec3){-0.5f, y, -0.5f}, espyCaseFlag_Occludee);
        espyBakeCase_AddArea(c, (espyVec3){24, 0.25f, -2}, (espyVec3){32, 1.25f, 2});
        espyBakeDef def = espyBakeCase_Def();
        for (int q = 0; q <= (int)espyBakeQuality_Proven; ++q)
        {
            def.quality = (espyBakeQuality)q;
            espyBakeResult r = espyBakeTest_Run(c, &def);
            espyPvs pvs = espyBakeCase_Load(&r);
            assert_int_equal(espyBakeCase_CountCells(&pvs, decal), pvs.cellCount);
            espyBake_Free(&r);
        }
        espyBakeCase_Destroy(c);
    }
}

// The wall is the box's own: it never blocks rays towards it, although it stands far outside of it.
static void own_occluders_may_lie_outside_the_box(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    uint32_t wall = espyBakeCase_AddQuad(c, (espyVec3){-4, 0, 0}, (espyVec3){4, 0, 0}, (espyVec3){4, 4, 0},
                                         (espyVec3){-4, 4, 0}, espyCaseFlag_Occluder);
    uint32_t box = espyBakeCase_AddBoxOnly(c, (espyVec3){-0.5f, 0, -2}, (espyVec3){0.5f, 1, -1});
    c->occludees[box].firstOwn = wall;
    c->occludees[box].ownCount = 1;
    espyBakeCase_AddArea(c, (espyVec3){-3, 0, -4}, (espyVec3){3, 2, 4});
    espyBakeDef def = espyBakeCase_Def();
    def.cellSize = 1.0f;
    for (int q = 0; q <= (int)espyBakeQuality_Proven; ++q)
    {
        def.quality = (espyBakeQuality)q;
        espyBakeResult r = espyBakeTest_Run(c, &def);
        espyPvs pvs = espyBakeCase_Load(&r);
        assert_int_equal(espyBakeCase_CountCells(&pvs, box), pvs.cellCount);
        assert_int_equal(r.stats.pairsProvenHidden, 0);
        espyBake_Free(&r);
    }
    espyBakeCase_Destroy(c);
}

// The same file on every machine. After a change of what a bake finds, raise ESPYI_BAKE_ALGORITHM and take the new
// numbers; after any other change they must stay.
static void golden_hashes(void** state)
{
    (void)state;
    static const uint64_t wanted[] = {0x2DBDB3C8EC642588ull, 0x6A9288D4BD7AB26Bull, 0x84D451256C3266B5ull,
                                      0xFCE7A31E18B6FC42ull};
    bool right = true;
    for (int q = 0; q <= (int)espyBakeQuality_Proven; ++q)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddTwoRooms(c, 3.0f, 3.25f);
        for (uint32_t i = 0; i < 12; ++i)
        {
            float x = 0.5f + 0.625f * (float)i, z = 1.0f + 0.5f * (float)(i * 5 % 12);
            espyBakeCase_AddBox(c, (espyVec3){x, 0, z}, (espyVec3){x + 0.375f, 0.75f, z + 0.375f}, espyCaseFlag_Both);
        }
        espyBakeDef def = espyBakeCase_Def();
        def.cellSize = 1.0f;
        def.quality = (espyBakeQuality)q;
        espyBakeResult r = espyBakeTest_Run(c, &def);
        espyDataError error;
        void* little = aligned_alloc(64, (r.size + 63) / 64 * 64);
        assert_int_equal(espyBake_ConvertByteOrder(r.data, r.size, false, little, &error), espyResult_Ok);
        uint64_t hash = espyiHash_Bytes(0, little, r.size);
        if (hash != wanted[q])
        {
            print_message("quality %d: 0x%016llX\n", q, (unsigned long long)hash);
        }
        right = right && hash == wanted[q];
        free(little);
        espyBake_Free(&r);
        espyBakeCase_Destroy(c);
    }
    assert_true(right);
}

// --- time

// A bake whose time runs out draws what it has not settled; its answers are not reused.
static void time_budget_only_draws_more(void** state)
{
    (void)state;
    espyBakeTestScene s = espyBakeTest_Scene("rooms", 2);
    espyBakeResult full, cut, again;
    assert_int_equal(espyBake_Run(s.input, &s.def, &full), espyResult_Ok);
    espyPvs whole = espyBakeCase_Load(&full);
    static const float budgets[] = {1e-6f, 0.02f};
    for (int i = 0; i < 2; ++i)
    {
        espyBakeDef def = s.def;
        def.timeBudget = budgets[i];
        assert_int_equal(espyBake_Run(s.input, &def, &cut), espyResult_Ok);
        const espyBakeStats* stats = &cut.stats;
        bool warned = false;
        for (uint32_t w = 0; w < cut.warningCount; ++w)
        {
            warned = warned || cut.warnings[w].id == espyMessageId_BakeTimeBudget;
        }
        // The second may be enough on a fast machine.
        assert_true(warned || i == 1);
        assert_int_equal(stats->pairsVisible + stats->pairsHidden + stats->pairsUnknown,
                         (stats->cells - stats->solidCells) * stats->occludees);
        assert_true(i == 1 || stats->pairsHidden == 0);
        espyPvs pvs = espyBakeCase_Load(&cut);
        for (int32_t cell = 0; cell < (int32_t)whole.cellCount; ++cell)
        {
            for (uint32_t slot = 0; slot < whole.occludeeCount; ++slot)
            {
                assert_true(espyPvs_TestSlot(&whole, cell, slot) != espyVisibility_Visible ||
                            espyPvs_TestSlot(&pvs, cell, slot) == espyVisibility_Visible);
            }
        }
        def.timeBudget = 0.0f;
        def.previous = cut.data;
        def.previousSize = cut.size;
        assert_int_equal(espyBake_Run(s.input, &def, &again), espyResult_Ok);
        assert_true(!warned || again.stats.copiedOccludees == 0);
        assert_int_equal(again.size, full.size);
        assert_memory_equal(again.data, full.data, full.size);
        espyBake_Free(&again);
        espyBake_Free(&cut);
    }
    espyBake_Free(&full);
    espyBakeTest_EndScene(&s);
}

// --- sizes and limits

static void sizes_follow_the_formulas(void** state)
{
    (void)state;
    espyBakeTestScene s = espyBakeTest_Scene("rooms", 2);
    espyBakeResult r;
    assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
    espyPvs pvs = espyBakeCase_Load(&r);
    espyPvsInfo info;
    espyPvs_GetInfo(&pvs, &info);
    assert_true(info.cellCount == r.stats.cells && info.occludeeCount == s.input->occludeeCount);
    assert_true(info.entriesBytes == 24u * (size_t)(s.input->occludeeCount + s.input->occluderCount));
    assert_true(info.staticCellsBytes == 2u * (size_t)info.cellCount);
    assert_true(info.staticSetsBytes == (size_t)info.staticSetCount * ((info.occludeeCount + 31u) / 32u) * 4u);
    assert_true(info.dynamicCellsBytes == 2u * (size_t)info.cellCount);
    assert_true(info.dynamicSetsBytes == (size_t)info.dynamicSetCount * ((info.coarseCount + 31u) / 32u) * 4u);
    assert_int_equal(info.cellMapBytes, 0);
    s.def.dynamicObjects = false;
    espyBake_Free(&r);
    assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
    pvs = espyBakeCase_Load(&r);
    espyPvs_GetInfo(&pvs, &info);
    assert_true(info.dynamicCellsBytes == 0 && info.dynamicSetsBytes == 0);
    espyBake_Free(&r);
    espyBakeTest_EndScene(&s);
}

static void refusals_name_numbers(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeTest_Wall(0.0f);
    espyBakeDef def = espyBakeCase_Def();
    def.maxCells = 10;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_LimitExceeded);
    assert_non_null(strstr(r.message, "16 cells"));
    assert_non_null(strstr(r.message, "10"));
    assert_null(r.data);
    espyBake_Free(&r);
    def = espyBakeCase_Def();
    espyBakeCase_AddBox(c, (espyVec3){0, 0, 1e6f}, (espyVec3){1, 1, 1000001.0f}, espyCaseFlag_Both);
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_LimitExceeded);
    assert_non_null(strstr(r.message, "16384"));
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);

    c = espyBakeTest_Wall(0.0f);
    def = espyBakeCase_Def();
    espyBakeInput input = *espyBakeCase_Input(c);
    assert_true(input.occludeeCount > 0);
    espyBakeOccludee occludee = input.occludees[0];
    occludee.part = -2;
    occludee.name = "crowd";
    input.occludees = &occludee;
    input.occludeeCount = 1;
    assert_int_equal(espyBake_Run(&input, &def, &r), espyResult_InvalidArgument);
    assert_non_null(strstr(r.message, "occludee 'crowd': part -2"));
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);

    memset(&def, 0xA5, sizeof def);
    assert_int_equal(espyBake_Run(&(espyBakeInput){0}, &def, &r), espyResult_InvalidArgument);
    assert_true(r.message[0] != 0);
    espyBake_Free(&r);
    const struct
    {
        size_t offset;
        float value;
        const char* field;
    } bad[] = {{offsetof(espyBakeDef, cellSize), 0.0f, "cellSize"},
               {offsetof(espyBakeDef, cellSize), __builtin_nanf(""), "cellSize"},
               {offsetof(espyBakeDef, nearDistance), -1.0f, "nearDistance"},
               {offsetof(espyBakeDef, smallestHole), __builtin_nanf(""), "smallestHole"}};
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; ++i)
    {
        char message[128];
        def = espyBakeDef_Default();
        memcpy((char*)&def + bad[i].offset, &bad[i].value, sizeof(float));
        assert_int_equal(espyBakeDef_Validate(&def, message, sizeof message), espyResult_InvalidArgument);
        assert_non_null(strstr(message, bad[i].field));
    }
}

static void odd_inputs_draw_or_say_why(void** state)
{
    (void)state;
    espyBakeDef def = espyBakeCase_Def();
    // Nothing at all.
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeResult r;
    assert_int_equal(espyBake_Run(espyBakeCase_Input(c), &def, &r), espyResult_InvalidArgument);
    assert_true(r.message[0] != 0);
    espyBake_Free(&r);
    // An area only.
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 4, 4});
    r = espyBakeTest_Run(c, &def);
    assert_true(espyBakeCase_HasWarning(&r, espyMessageId_BakeNoOccluders));
    assert_true(espyBakeCase_HasWarning(&r, espyMessageId_BakeNoOccludees));
    espyBakeCase_Load(&r);
    espyBake_Free(&r);
    // An occludee that has no triangles; nothing blocks.
    espyBakeCase_AddBoxOnly(c, (espyVec3){10, 10, 10}, (espyVec3){11, 11, 11});
    r = espyBakeTest_Run(c, &def);
    espyPvs pvs = espyBakeCase_Load(&r);
    assert_int_equal(espyBakeCase_CountCells(&pvs, 0), 8);
    espyBake_Free(&r);
    // One without bounds is always visible, whatever blocks.
    espyBakeCase_AddBox(c, (espyVec3){5, -9, -9}, (espyVec3){5.1f, 9, 9}, espyCaseFlag_Occluder);
    c->occludees[0].box.max.x = __builtin_nanf("");
    r = espyBakeTest_Run(c, &def);
    pvs = espyBakeCase_Load(&r);
    assert_int_equal(espyBakeCase_CountCells(&pvs, 0), 8);
    assert_true(espyBakeCase_HasWarning(&r, espyMessageId_BakeBadOccludee));
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
    // Without areas: the union of what can be seen.
    c = espyBakeCase_Create();
    espyBakeCase_AddBox(c, (espyVec3){0, 0, 0}, (espyVec3){1, 1, 1}, espyCaseFlag_Both);
    espyBakeCase_AddBox(c, (espyVec3){9, 3, 9}, (espyVec3){10, 4, 10}, espyCaseFlag_Both);
    r = espyBakeTest_Run(c, &def);
    assert_true(espyBakeCase_HasWarning(&r, espyMessageId_BakeNoAreas));
    assert_int_equal(r.stats.cells, 5 * 2 * 5);
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

static void large_occludees_are_listed(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddBox(c, (espyVec3){0, 0, 0}, (espyVec3){16, 1, 1}, espyCaseFlag_Both);
    espyBakeCase_AddBox(c, (espyVec3){0, 2, 0}, (espyVec3){16.1f, 3, 1}, espyCaseFlag_Both);
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){4, 4, 4});
    espyBakeDef def = espyBakeCase_Def();
    espyBakeResult r = espyBakeTest_Run(c, &def);
    uint32_t listed = 0;
    for (uint32_t i = 0; i < r.warningCount; ++i)
    {
        listed += r.warnings[i].id == espyMessageId_BakeLargeOccludee ? 1u : 0u;
    }
    assert_int_equal(listed, 1);
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

static void moved_levels_give_the_same_sets(void** state)
{
    (void)state;
    // Coordinates are eighths, so that these offsets are exact.
    const espyVec3 offsets[] = {{0, 0, 0}, {10000, -512, -10000}, {-8192, 8192, 8000}};
    espyPvs first = {0};
    espyBakeResult results[3];
    for (int i = 0; i < 3; ++i)
    {
        espyBakeCase* c = espyBakeCase_Create();
        espyBakeCase_AddBox(c, (espyVec3){0, 0, 4}, (espyVec3){5.5f, 4, 4.25f}, espyCaseFlag_Occluder);
        espyBakeCase_AddBox(c, (espyVec3){5.625f, 0, 4}, (espyVec3){8, 4, 4.25f}, espyCaseFlag_Occluder);
        for (uint32_t k = 0; k < 12; ++k)
        {
            float x = 0.5f + 2.0f * (float)(k % 4), z = 5.0f + (float)(k / 4);
            espyBakeCase_AddBox(c, (espyVec3){x, 1, z}, (espyVec3){x + 0.5f, 1.5f, z + 0.5f}, espyCaseFlag_Both);
        }
        espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){8, 4, 8});
        espyBakeCase_Shift(c, offsets[i]);
        espyBakeDef def = espyBakeCase_Def();
        results[i] = espyBakeTest_Run(c, &def);
        espyPvs pvs = espyBakeCase_Load(&results[i]);
        first = i == 0 ? pvs : first;
        assert_int_equal(pvs.cellCount, 32);
        for (uint32_t cell = 0; cell < 32; ++cell)
        {
            for (uint32_t slot = 0; slot < 12; ++slot)
            {
                assert_int_equal(espyPvs_TestSlot(&pvs, (int32_t)cell, slot),
                                 espyPvs_TestSlot(&first, (int32_t)cell, slot));
            }
            assert_int_equal(espyPvs_GetDynamicSet(&pvs, (int32_t)cell)[0],
                             espyPvs_GetDynamicSet(&first, (int32_t)cell)[0]);
        }
        espyBakeCase_Destroy(c);
    }
    assert_true(results[0].stats.pairsVisible > 0 && results[0].stats.pairsHidden > 0);
    for (int i = 0; i < 3; ++i)
    {
        espyBake_Free(&results[i]);
    }
}

// --- dynamic table

static void moving_boxes_are_culled_safely(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    // Two halves of a hall 64 x 4 x 8 m with a closed wall between, then the same with a slot in it.
    espyBakeCase_AddBox(c, (espyVec3){-1, -1, -1}, (espyVec3){65, 0, 9}, espyCaseFlag_Occluder);
    espyBakeCase_AddBox(c, (espyVec3){-1, 4, -1}, (espyVec3){65, 5, 9}, espyCaseFlag_Occluder);
    espyBakeCase_AddBox(c, (espyVec3){-1, 0, -1}, (espyVec3){65, 4, 0}, espyCaseFlag_Occluder);
    espyBakeCase_AddBox(c, (espyVec3){-1, 0, 8}, (espyVec3){65, 4, 9}, espyCaseFlag_Occluder);
    espyBakeCase_AddBox(c, (espyVec3){-1, 0, 0}, (espyVec3){0, 4, 8}, espyCaseFlag_Occluder);
    espyBakeCase_AddBox(c, (espyVec3){64, 0, 0}, (espyVec3){65, 4, 8}, espyCaseFlag_Occluder);
    uint32_t wall = espyBakeCase_AddBox(c, (espyVec3){32, 0, 0}, (espyVec3){32.5f, 4, 8}, espyCaseFlag_Occluder);
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){64, 4, 8});
    espyBakeDef def = espyBakeCase_Def();
    espyBakeResult r = espyBakeTest_Run(c, &def);
    espyPvs pvs = espyBakeCase_Load(&r);
    int32_t cell = espyPvs_FindCell(&pvs, (espyVec3){2, 1, 2});
    assert_int_equal(espyPvs_TestBox(&pvs, cell, (espyBox){{20, 0.5f, 3}, {20.5f, 2.3f, 3.5f}}),
                     espyVisibility_Visible);
    assert_int_equal(espyPvs_TestBox(&pvs, cell, (espyBox){{50, 0.5f, 3}, {50.5f, 2.3f, 3.5f}}),
                     espyVisibility_Occluded);
    assert_int_equal(espyPvs_TestBox(&pvs, cell, (espyBox){{50, 0.5f, 3}, {50.5f, 9, 3.5f}}), espyVisibility_Visible);
    espyBake_Free(&r);
    // Shorten the wall: a slot 20 cm wide along z = 8.
    espyVec3* p = (espyVec3*)(uintptr_t)c->occluders[wall].mesh.positions;
    for (uint32_t i = 0; i < 8; ++i)
    {
        p[i].z = p[i].z > 4.0f ? 7.8f : p[i].z;
    }
    r = espyBakeTest_Run(c, &def);
    pvs = espyBakeCase_Load(&r);
    cell = espyPvs_FindCell(&pvs, (espyVec3){2, 1, 7});
    assert_int_equal(espyPvs_TestBox(&pvs, cell, (espyBox){{50, 0.5f, 7}, {50.5f, 2.3f, 7.5f}}),
                     espyVisibility_Visible);
    espyBake_Free(&r);
    espyBakeCase_Destroy(c);
}

// --- progress, cancelling, memory

typedef struct espyBakeTestProgress
{
    uint64_t calls, cancelAt, last, total;
} espyBakeTestProgress;

static bool espyBakeTest_OnProgress(const espyBakeProgress* progress, void* context)
{
    espyBakeTestProgress* p = context;
    assert_true(progress->done >= p->last);
    assert_true(progress->done <= progress->total);
    p->last = progress->done;
    p->total = progress->total;
    return ++p->calls != p->cancelAt;
}

static void progress_never_falls_and_cancels(void** state)
{
    (void)state;
    espyBakeTestScene s = espyBakeTest_Scene("rooms", 2);
    espyBakeTestProgress p = {.cancelAt = UINT64_MAX};
    s.def.progress = espyBakeTest_OnProgress;
    s.def.progressContext = &p;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
    assert_true(p.calls >= 4 && p.last == p.total);
    espyBake_Free(&r);
    for (int32_t threads = 1; threads <= 2; ++threads)
    {
        for (uint64_t at = 1; at <= 3; ++at)
        {
            p = (espyBakeTestProgress){.cancelAt = at};
            s.def.threads = threads;
            assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Cancelled);
            assert_null(r.data);
            assert_int_equal(p.calls, at);
            espyBake_Free(&r);
        }
    }
    espyBakeTest_EndScene(&s);
}

typedef struct espyBakeTestMemory
{
    int64_t left; // Allocations until one fails; negative: never.
    int64_t live;
} espyBakeTestMemory;

static void* espyBakeTest_Alloc(size_t size, size_t align, void* context)
{
    espyBakeTestMemory* m = context;
    if (m->left >= 0 && m->left-- == 0)
    {
        return NULL;
    }
    ++m->live;
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void espyBakeTest_FreeBlock(void* pointer, void* context)
{
    espyBakeTestMemory* m = context;
    m->live -= pointer != NULL ? 1 : 0;
    free(pointer);
}

static void every_allocation_may_fail(void** state)
{
    (void)state;
    espyBakeCase* c = espyBakeCase_Create();
    espyBakeCase_AddTwoRooms(c, 3.0f, 4.0f);
    espyBakeCase_AddBox(c, (espyVec3){6, 0, 2}, (espyVec3){6.5f, 1, 2.5f}, espyCaseFlag_Both);
    espyBakeCase_AddBox(c, (espyVec3){1, 0, 2}, (espyVec3){1.5f, 1, 2.5f}, espyCaseFlag_Both);
    espyBakeTestMemory memory = {.left = -1};
    espyBakeDef def = espyBakeCase_Def();
    def.quality = espyBakeQuality_Low;
    def.cellSize = 4.0f;
    def.hooks = (espyHooks){.alloc = espyBakeTest_Alloc, .free = espyBakeTest_FreeBlock, .context = &memory};
    espyBakeResult r = espyBakeTest_Run(c, &def);
    uint64_t hash = espyBakeTest_Hash(&r);
    void* previous = malloc(r.size);
    size_t previousSize = r.size;
    memcpy(previous, r.data, r.size);
    espyBake_Free(&r);
    assert_int_equal(memory.live, 0);
    for (int incremental = 0; incremental < 2; ++incremental)
    {
        def.previous = incremental ? previous : NULL;
        def.previousSize = incremental ? previousSize : 0;
        espyResult result = espyResult_OutOfMemory;
        uint32_t failures = 0;
        for (int64_t n = 0; result != espyResult_Ok; ++n)
        {
            memory.left = n;
            result = espyBake_Run(espyBakeCase_Input(c), &def, &r);
            assert_true(result == espyResult_Ok || (result == espyResult_OutOfMemory && r.data == NULL));
            assert_true(result != espyResult_Ok || espyBakeTest_Hash(&r) == hash);
            espyBake_Free(&r);
            assert_int_equal(memory.live, 0);
            ++failures;
        }
        print_message("%u allocations\n", failures - 1);
        assert_true(failures > 30);
    }
    free(previous);
    espyBakeCase_Destroy(c);
}

static void proven_quality_draws_what_it_does_not_know(void** state)
{
    (void)state;
    espyBakeTestScene s = espyBakeTest_Scene("rooms", 2);
    s.def.quality = espyBakeQuality_Proven;
    s.def.dynamicObjects = false;
    espyBakeResult r;
    assert_int_equal(espyBake_Run(s.input, &s.def, &r), espyResult_Ok);
    assert_true(r.stats.pairsHidden == r.stats.pairsProvenHidden);
    espyPvs pvs = espyBakeCase_Load(&r);
    uint64_t drawn = 0;
    for (uint32_t i = 0; i < s.input->occludeeCount; ++i)
    {
        drawn += espyBakeCase_CountCells(&pvs, i);
    }
    assert_true(drawn >= r.stats.pairsVisible + r.stats.pairsUnknown);
    espyBake_Free(&r);
    espyBakeTest_EndScene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wall_hides_what_is_behind),
        cmocka_unit_test(a_hole_of_ten_centimetres_shows_it),
        cmocka_unit_test(near_things_are_visible),
        cmocka_unit_test(own_triangles_never_block),
        cmocka_unit_test(floor_tiles_see_each_other),
        cmocka_unit_test(finds_all_that_fixed_rays_find),
        cmocka_unit_test(misses_a_tenth_of_what_fixed_rays_miss),
        cmocka_unit_test(same_bytes_for_any_threads_and_instruction_set),
        cmocka_unit_test(decals_show_at_every_angle),
        cmocka_unit_test(own_occluders_may_lie_outside_the_box),
        cmocka_unit_test(golden_hashes),
        cmocka_unit_test(time_budget_only_draws_more),
        cmocka_unit_test(sizes_follow_the_formulas),
        cmocka_unit_test(refusals_name_numbers),
        cmocka_unit_test(odd_inputs_draw_or_say_why),
        cmocka_unit_test(large_occludees_are_listed),
        cmocka_unit_test(moved_levels_give_the_same_sets),
        cmocka_unit_test(moving_boxes_are_culled_safely),
        cmocka_unit_test(progress_never_falls_and_cancels),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(proven_quality_draws_what_it_does_not_know),
    };
    return cmocka_run_group_tests_name("bake", tests, NULL, NULL);
}
