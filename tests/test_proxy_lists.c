// SPDX-License-Identifier: MIT
// Lists for shaders: a slow evaluation of what they hold is the image that the pass makes; short of room they keep the
// largest.
#include <espy/proxy.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/hook_counter.h"
#include "tests/proxy_case.h"
#include "tests/task_case.h"

/// The capsule of an entry, relative to the eye.
static espyCapsule espyTest_Unpack(const espyProxyEntry* e)
{
    const espyCapsulePack* k = &e->pack;
    espyVec3 a = {k->ax, k->ay, k->az};
    espyVec3 b = {a.x + k->length * k->ux, a.y + k->length * k->uy, a.z + k->length * k->uz};
    return (espyCapsule){a, b, k->radiusA, e->flags & espyProxyFlag_Tapered ? k->radiusB : k->radiusA};
}

static double espyTest_Ball(const espyProxyEntry* e, bool atB, espyVec3 p, espyVec3 n)
{
    espyCapsule c = espyTest_Unpack(e);
    c = atB ? (espyCapsule){c.b, c.b, c.radiusB, c.radiusB} : (espyCapsule){c.a, c.a, c.radiusA, c.radiusA};
    return (double)espyCapsule_Occlusion(&c, p, n, espyCapsuleInside_Continuous);
}

/// What survives the listed entries at p: as documented in proxy.h, straight.
static double espyTest_Exact(const espyProxyLists* lists, const uint32_t* ids, uint32_t count, espyVec3 p, espyVec3 n,
                             uint32_t owner)
{
    double survives = 1, pieces = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyProxyEntry* e = &lists->entries[ids[i]];
        espyCapsule c = espyTest_Unpack(e);
        double f = (double)espyCapsule_Occlusion(&c, p, n, espyCapsuleInside_Continuous);
        bool goesOn = i > 0 && lists->entries[ids[i - 1]].record == e->record;
        f += goesOn ? pieces : 0;
        f -= goesOn && ids[i - 1] + 1 == ids[i] ? espyTest_Ball(e, false, p, n) : 0;
        pieces = f;
        if (i + 1 < count && lists->entries[ids[i + 1]].record == e->record)
        {
            continue;
        }
        double strength = (double)e->strength;
        strength *= e->owner != 0.0f && (uint32_t)e->owner == owner ? (double)e->selfStrength : 1;
        double factor = 1 - strength * fmin(fmax(f, 0), 1);
        for (int end = 0; end < 2; ++end)
        {
            if (e->flags & (end ? espyProxyFlag_JointB : espyProxyFlag_JointA))
            {
                factor = fmin(factor / fmax(1 - strength * espyTest_Ball(e, end, p, n), 1e-4), 1);
            }
        }
        survives *= factor;
    }
    return survives;
}

static double espyTest_Source(const espyProxySource* s, espyVec3 p, espyVec3 n)
{
    const double v[3] = {(double)(s->x - p.x), (double)(s->y - p.y), (double)(s->z - p.z)};
    const double normal[3] = {(double)n.x, (double)n.y, (double)n.z};
    double d2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], height = 0, spread = 0;
    for (int k = 0; k < 3; ++k)
    {
        height += normal[k] * v[k];
        spread += fabs(normal[k]) * (double)s->wide[k];
    }
    double t = fmin(fmax(height + spread, 0), 2 * spread), mean = t * t / (4 * spread) + fmax(height - spread, 0);
    double across = (double)s->txx * v[0] * v[0] + (double)s->tyy * v[1] * v[1] + (double)s->tzz * v[2] * v[2] +
                    (double)s->txy * v[0] * v[1] + (double)s->txz * v[0] * v[2] + (double)s->tyz * v[1] * v[2];
    return ((double)s->area - across / d2) / d2 * mean / sqrt(d2);
}

/// Visibility of a pixel by the lists. `part` of each group's indices counts: 1, or its first ones.
static double espyTest_Visibility(const espyTestCase* c, const espyProxyLists* lists, uint32_t x, uint32_t y,
                                  double part)
{
    size_t at = (size_t)y * lists->width + x;
    espyVec3 p, n = {c->scene.normal[3 * at], c->scene.normal[3 * at + 1], c->scene.normal[3 * at + 2]};
    if (lists->pixels[at] == ESPY_PROXY_NO_GROUP)
    {
        return 1;
    }
    assert_true(espyProxyScene_GetPoint(&c->scene, x, y, &p));
    uint32_t tile = y / ESPY_PROXY_TILE * lists->tilesX + x / ESPY_PROXY_TILE;
    uint32_t group = lists->tiles[tile] + lists->pixels[at];
    assert_true(group < lists->tiles[tile + 1]);
    const espyProxyGroup* g = &lists->groups[group];
    uint32_t end = g->firstEntry + (uint32_t)(part * (g[1].firstEntry - g->firstEntry));
    uint32_t entries = g->firstNode < end ? g->firstNode - g->firstEntry : end - g->firstEntry;
    double survives = espyTest_Exact(lists, lists->indices + g->firstEntry, entries, p, n, c->scene.owner[at]);
    double sums = 0;
    for (uint32_t i = g->firstNode; i < end; ++i)
    {
        sums += espyTest_Source(&lists->nodes[lists->indices[i]].source, p, n);
    }
    return survives * exp(-sums);
}

static double espyTest_WorstLists(const espyTestCase* c, const espyProxyLists* lists, double part)
{
    double worst = 0;
    for (uint32_t y = 0; y < c->scene.height; ++y)
    {
        for (uint32_t x = 0; x < c->scene.width; ++x)
        {
            double v = (double)c->scene.visibility[(size_t)y * c->scene.width + x];
            worst = fmax(worst, fabs(v - espyTest_Visibility(c, lists, x, y, part)));
        }
    }
    return worst;
}

/// Limbs with joints, a long pipe and a proxy that spares its owner join the room.
static void espyTest_FillAll(espyTestCase* c)
{
    espyCapsule capsules[40];
    espyTest_FillRoom(c, capsules, 40);
    espyProxyDef limb = espyProxyDef_Default();
    limb.hasB = true;
    limb.radius = 0.4f;
    limb.radiusB = 0.15f;
    limb.group = 3;
    limb.a = (espyVec3){0.5f, 0.5f, -5};
    limb.b = (espyVec3){0.5f, 1.5f, -5};
    assert_int_equal(espyProxySet_SetId(c->set, 1, &limb, NULL), espyResult_Ok);
    limb.a = (espyVec3){0.5f, 1.5f, -4};
    assert_int_equal(espyProxySet_SetId(c->set, 2, &limb, NULL), espyResult_Ok);
    espyTest_AddCapsule(c, 100, (espyVec3){-20, 0.2f, -8}, (espyVec3){20, 0.3f, -9}, 0.1f);
    limb.group = 0;
    limb.owner = 7;
    limb.selfStrength = 0.3f;
    assert_int_equal(espyProxySet_SetId(c->set, 3, &limb, NULL), espyResult_Ok);
    for (uint32_t i = 0; i < c->scene.width * c->scene.height; i += 3)
    {
        c->scene.owner[i] = 7;
    }
}

static espyProxyLists espyTest_Build(espyTestCase* c, uint32_t room)
{
    espyProxyLists lists;
    assert_int_equal(espyProxyPass_Reserve(c->pass, c->set), espyResult_Ok);
    assert_int_equal(espyProxyPass_ReserveLists(c->pass, c->scene.width, c->scene.height, room), espyResult_Ok);
    assert_int_equal(espyProxyPass_BuildLists(c->pass, c->set, &c->scene.view, &c->image, &lists), espyResult_Ok);
    return lists;
}

static void test_lists_hold_what_the_pass_evaluates(void** state)
{
    (void)state;
    for (int technique = 0; technique < 2; ++technique)
    {
        espyTestCase c = espyTest_Create(125, 75, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f,
                                         (espyProxyTechnique)technique);
        espyTest_FillAll(&c);
        c.image.lit.data = NULL;
        espyTest_Apply(&c);
        espyProxyLists lists = espyTest_Build(&c, 400000);
        double worst = espyTest_WorstLists(&c, &lists, 1);
        uint32_t groups = lists.tiles[lists.tilesX * lists.tilesY];
        printf("%s: %u tiles, %u groups, %u indices; error against the pass %.1e\n", technique ? "tree" : "loop",
               lists.tilesX * lists.tilesY, groups, lists.groups[groups].firstEntry, worst);
        assert_int_equal(lists.leftOut, 0);
        assert_true(worst < 5e-5);
        assert_true(groups > lists.tilesX * lists.tilesY);
        espyTest_Free(&c);
    }
}

// Depth and normals without any order: every pixel could be a group of its own, and a tile holds 64.
static void test_noise_fits_into_the_groups_of_a_tile(void** state)
{
    (void)state;
    espyTestCase c =
        espyTest_Create(64, 48, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Clusters);
    espyTest_FillAll(&c);
    espyiRng rng = espyiRng_Seed(6);
    for (uint32_t i = 0; i < 64 * 48; ++i)
    {
        c.scene.depth[i] = 0.1f / espyTest_Range(&rng, 1, 12);
        c.scene.distance[i] = 0;
        float z = espyTest_Range(&rng, -1, 1), phi = espyTest_Range(&rng, 0, 6.2831853f), r = sqrtf(1 - z * z);
        c.scene.normal[3 * i] = r * cosf(phi);
        c.scene.normal[3 * i + 1] = z;
        c.scene.normal[3 * i + 2] = r * sinf(phi);
    }
    espyProxyLists lists = espyTest_Build(&c, 400000);
    uint32_t most = 0;
    for (uint32_t i = 0; i < lists.tilesX * lists.tilesY; ++i)
    {
        uint32_t groups = lists.tiles[i + 1] - lists.tiles[i];
        most = groups > most ? groups : most;
    }
    assert_int_equal(most, ESPY_PROXY_TILE_GROUPS);
    // Groups that share the last place are wide, yet what they list still holds for each of their pixels.
    espyTest_Apply(&c);
    double worst = 0;
    for (uint32_t i = 0; i < 64 * 48; ++i)
    {
        uint32_t x = i % 64, y = i / 64;
        const float* m = lists.fromDepth.m;
        float cx = ((float)x + 0.5f) / 32 - 1, cy = 1 - ((float)y + 0.5f) / 24, d = c.scene.depth[i], q[4];
        for (int k = 0; k < 4; ++k)
        {
            q[k] = m[k] * cx + m[4 + k] * cy + m[8 + k] * d + m[12 + k];
        }
        espyVec3 p = {q[0] / q[3], q[1] / q[3], q[2] / q[3]};
        espyVec3 n = {c.scene.normal[3 * i], c.scene.normal[3 * i + 1], c.scene.normal[3 * i + 2]};
        if (lists.pixels[i] == ESPY_PROXY_NO_GROUP)
        {
            continue;
        }
        const espyProxyGroup* g = &lists.groups[lists.tiles[y / 16 * lists.tilesX + x / 16] + lists.pixels[i]];
        double v =
            espyTest_Exact(&lists, lists.indices + g->firstEntry, g->firstNode - g->firstEntry, p, n, c.scene.owner[i]);
        double sums = 0;
        for (uint32_t k = g->firstNode; k < g[1].firstEntry; ++k)
        {
            sums += espyTest_Source(&lists.nodes[lists.indices[k]].source, p, n);
        }
        worst = fmax(worst, fabs(v * exp(-sums) - (double)c.scene.visibility[i]));
    }
    printf("noise: error against the pass %.1e\n", worst);
    assert_true(worst < 0.02);
    espyTest_Free(&c);
}

static void test_short_of_room_the_largest_stay(void** state)
{
    (void)state;
    for (int technique = 0; technique < 2; ++technique)
    {
        espyTestCase c =
            espyTest_Create(96, 64, (espyVec3){0, 3, 4}, (espyVec3){0, 0, 0}, 1, (espyProxyTechnique)technique);
        espyiRng rng = espyiRng_Seed(5);
        for (uint32_t i = 0; i < (technique ? 300u : 60u); ++i)
        {
            espyVec3 a = {espyTest_Range(&rng, -3, 3), espyTest_Range(&rng, 0.1f, 1), espyTest_Range(&rng, -3, 3)};
            espyTest_AddCapsule(&c, i, a, (espyVec3){a.x + 0.2f, a.y, a.z + 0.2f}, 0.1f);
        }
        espyProxyScene_AddPlane(&c.scene, (espyVec3){0, 0, 0}, espyTest_Up, &espyTest_Grey);
        c.image.lit.data = NULL;
        espyTest_Apply(&c);
        espyProxyLists lists = espyTest_Build(&c, 1000000);
        uint32_t all = lists.groups[lists.tiles[lists.tilesX * lists.tilesY]].firstEntry;
        // What is left where each group keeps its first half instead.
        double first = espyTest_WorstLists(&c, &lists, 0.5);
        for (uint32_t room = all / 2; room > 0; room /= 9)
        {
            lists = espyTest_Build(&c, room);
            uint32_t groups = lists.tiles[lists.tilesX * lists.tilesY], used = lists.groups[groups].firstEntry;
            assert_true(used <= room && lists.leftOut == all - used);
            for (uint32_t i = 0; i < groups; ++i)
            {
                const espyProxyGroup* g = &lists.groups[i];
                assert_true(g->firstEntry <= g->firstNode && g->firstNode <= g[1].firstEntry);
                for (uint32_t k = g->firstEntry; k < g[1].firstEntry; ++k)
                {
                    bool entry = k < g->firstNode;
                    assert_true(lists.indices[k] < (entry ? lists.entryCount : lists.nodeCount));
                    assert_true(!entry || k == g->firstEntry || lists.indices[k] > lists.indices[k - 1]);
                }
            }
            double worst = espyTest_WorstLists(&c, &lists, 1);
            printf("%s, room for %u of %u: error %.4f (first half: %.4f)\n", technique ? "tree" : "loop", room, all,
                   worst, first);
            // In the tree's lists entries come before sums, so that their first half is a good one already.
            assert_true(room < all / 2 || worst < (technique ? 1.0 : 0.1) * first);
        }
        espyTest_Free(&c);
    }
}

static void test_lists_are_the_same_for_any_threads(void** state)
{
    (void)state;
    espyTestCase c =
        espyTest_Create(100, 70, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Clusters);
    espyTest_FillAll(&c);
    assert_int_equal(espyProxyPass_Reserve(c.pass, c.set), espyResult_Ok);
    espyProxyPassDef def = espyProxyPassDef_Default();
    def.tasks = espyTaskCase_Threads(3);
    espyProxyPass* other;
    assert_int_equal(espyProxyPass_Create(&def, &other), espyResult_Ok);
    assert_int_equal(espyProxyPass_Reserve(other, c.set), espyResult_Ok);
    for (uint32_t room = 300000; room > 1000; room = 1000)
    {
        espyProxyLists a = espyTest_Build(&c, room), b;
        assert_int_equal(espyProxyPass_ReserveLists(other, 100, 70, room), espyResult_Ok);
        assert_int_equal(espyProxyPass_BuildLists(other, c.set, &c.scene.view, &c.image, &b), espyResult_Ok);
        uint32_t tiles = a.tilesX * a.tilesY, groups = a.tiles[tiles];
        assert_memory_equal(a.tiles, b.tiles, (tiles + 1) * sizeof *a.tiles);
        assert_memory_equal(a.groups, b.groups, (groups + 1) * sizeof *a.groups);
        assert_memory_equal(a.indices, b.indices, a.groups[groups].firstEntry * sizeof *a.indices);
        assert_memory_equal(a.pixels, b.pixels, (size_t)100 * 70);
    }
    espyProxyPass_Destroy(other);
    espyTest_Free(&c);
}

static void test_without_an_image_the_tree_alone(void** state)
{
    (void)state;
    espyTestCase c =
        espyTest_Create(32, 32, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Clusters);
    espyTest_FillAll(&c);
    assert_int_equal(espyProxyPass_Reserve(c.pass, c.set), espyResult_Ok);
    espyProxyLists lists;
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, NULL, &lists), espyResult_Ok);
    assert_true(lists.entryCount >= 41 && lists.levels > 2 && !lists.tiles && !lists.pixels);
    assert_int_equal(lists.levelCount[0], lists.entryCount);
    assert_int_equal(lists.levelCount[lists.levels - 1], 1);
    // Each entry is a leaf once, and lies in the boxes above it.
    bool* seen = test_calloc(lists.entryCount, sizeof *seen);
    for (uint32_t i = 0; i < lists.entryCount; ++i)
    {
        assert_false(seen[lists.leafEntries[i]]);
        seen[lists.leafEntries[i]] = true;
        uint32_t at = i;
        for (uint32_t l = 0; l < lists.levels; ++l, at /= ESPY_PROXY_BRANCH)
        {
            const espyProxyNode* node = &lists.nodes[lists.levelStart[l] + at];
            const espyCapsulePack* k = &lists.entries[lists.leafEntries[i]].pack;
            assert_true(node->box.min.x <= k->ax && node->box.max.x >= k->ax && node->radius >= k->radiusA);
        }
    }
    test_free(seen);
    espyTest_Free(&c);
}

static void test_nothing_to_list_and_bad_arguments(void** state)
{
    (void)state;
    espyHookCounter counter = {0};
    espyTestCase c =
        espyTest_Create(32, 32, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Loop);
    espyProxyPass_Destroy(c.pass);
    espyProxyPassDef def = espyProxyPassDef_Default();
    def.hooks = espyHookCounter_Hooks(&counter);
    assert_int_equal(espyProxyPass_Create(&def, &c.pass), espyResult_Ok);
    unsigned calls = atomic_load(&counter.calls);
    espyProxyLists lists;
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &c.image, &lists), espyResult_Ok);
    assert_true(lists.entryCount == 0 && !lists.tiles && !lists.entries);
    assert_int_equal(atomic_load(&counter.calls), calls);
    espyTest_FillAll(&c);
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &c.image, &lists),
                     espyResult_LimitExceeded);
    assert_int_equal(espyProxyPass_Reserve(c.pass, c.set), espyResult_Ok);
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &c.image, &lists),
                     espyResult_LimitExceeded);
    assert_int_equal(espyProxyPass_ReserveLists(c.pass, 0, 32, 9), espyResult_InvalidArgument);
    assert_int_equal(espyProxyPass_ReserveLists(c.pass, 32, 70000, 9), espyResult_InvalidArgument);
    assert_int_equal(espyProxyPass_ReserveLists(c.pass, 32, 32, 5000), espyResult_Ok);
    calls = atomic_load(&counter.calls);
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &c.image, &lists), espyResult_Ok);
    assert_int_equal(atomic_load(&counter.calls), calls);
    espyProxyImage image = c.image;
    image.depth.data = NULL;
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &image, &lists),
                     espyResult_InvalidArgument);
    // A larger one that fails leaves the room that there is; 0 gives it back.
    for (unsigned i = 1; i <= 6; ++i)
    {
        counter.failAt = atomic_load(&counter.calls) + i;
        assert_int_equal(espyProxyPass_ReserveLists(c.pass, 64, 64, 9000), espyResult_OutOfMemory);
        assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &c.image, &lists), espyResult_Ok);
    }
    counter.failAt = 0;
    unsigned held = atomic_load(&counter.blocks);
    assert_int_equal(espyProxyPass_ReserveLists(c.pass, 0, 0, 0), espyResult_Ok);
    assert_int_equal(atomic_load(&counter.blocks), held - 6);
    espyTest_Free(&c);
    assert_int_equal(atomic_load(&counter.blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_hold_what_the_pass_evaluates),
        cmocka_unit_test(test_noise_fits_into_the_groups_of_a_tile),
        cmocka_unit_test(test_short_of_room_the_largest_stay),
        cmocka_unit_test(test_lists_are_the_same_for_any_threads),
        cmocka_unit_test(test_without_an_image_the_tree_alone),
        cmocka_unit_test(test_nothing_to_list_and_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
