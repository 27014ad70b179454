// SPDX-License-Identifier: MIT
// What changes in a world and how it is found: revisions, reparenting, names and tags, many nodes at once.
#include "hook_counter.h"
#include "test_main.h"

#include "core/core.h"

#include <espy/world.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct espyFixture
{
    espyHookCounter counter; // First: it is the hooks' context.
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
    def.hooks = espyHookCounter_Hooks(&fixture->counter);
    def.hooks.assertFail = espyFixture_CountAssert;
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

static espyNodeId espyFixture_Add(espyFixture* fixture, espyNodeId parent, float x)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.parent = parent;
    def.local = espyTest_Move(x, 0, 0);
    def.bounds = (espyBox){{0, 0, 0}, {1, 1, 1}};
    assert_int_equal(espyWorld_CreateNode(fixture->world, &def, &id), espyResult_Ok);
    return id;
}

static bool espyTest_IsSame(espyNodeId a, espyNodeId b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

static uint32_t espyFixture_CountChanges(espyFixture* fixture, uint64_t since)
{
    espyNodeId node = {0};
    uint32_t count = 0;
    while (espyWorld_NextChange(fixture->world, since, &node))
    {
        ++count;
    }
    return count;
}

static void every_kind_of_change_is_found(void** state)
{
    espyFixture* fixture = *state;
    espyWorld* world = fixture->world;
    assert_true(espyWorld_GetRevision(world) == 0);
    espyNodeId a = espyFixture_Add(fixture, (espyNodeId){0}, 1);
    espyNodeId b = espyFixture_Add(fixture, a, 2);
    espyNodeId c = espyFixture_Add(fixture, (espyNodeId){0}, 3);
    assert_int_equal(espyFixture_CountChanges(fixture, 0), 3);
    uint64_t since = espyWorld_GetRevision(world);
    assert_int_equal(espyFixture_CountChanges(fixture, since), 0);

    espyNodeId node = {0};
    assert_int_equal(espyWorld_SetFlags(world, c, espyNodeFlag_Hidden), espyResult_Ok);
    assert_true(espyWorld_NextChange(world, since, &node) && espyTest_IsSame(node, c));
    assert_false(espyWorld_NextChange(world, since, &node));
    // The same flags again are no change, nor are names, tags and cameras.
    since = espyWorld_GetRevision(world);
    assert_int_equal(espyWorld_SetFlags(world, c, espyNodeFlag_Hidden), espyResult_Ok);
    assert_int_equal(espyWorld_SetName(world, c, "c"), espyResult_Ok);
    assert_int_equal(espyWorld_AddTag(world, c, "t"), espyResult_Ok);
    assert_true(espyWorld_GetRevision(world) == since);

    // A parent's move is a move of its child; content stays.
    uint64_t content = espyWorld_GetContentRevision(world, b);
    assert_int_equal(espyWorld_SetLocalTransform(world, a, espyTest_Move(5, 0, 0)), espyResult_Ok);
    assert_int_equal(espyFixture_CountChanges(fixture, since), 2);
    assert_true(espyWorld_GetNodeRevision(world, b) > since && espyWorld_GetNodeRevision(world, c) <= since);
    assert_true(espyWorld_GetContentRevision(world, b) == content);
    assert_float_equal(espyWorld_GetWorldBounds(world, b).min.x, 7, 0);

    since = espyWorld_GetRevision(world);
    assert_int_equal(espyWorld_SetBounds(world, b, (espyBox){{0, 0, 0}, {2, 2, 2}}), espyResult_Ok);
    assert_int_equal(espyFixture_CountChanges(fixture, since), 1);
    assert_true(espyWorld_GetContentRevision(world, b) > since);

    // The destroyed appear as no nodes, then as what took their place.
    since = espyWorld_GetRevision(world);
    assert_int_equal(espyWorld_DestroyNode(world, a), espyResult_Ok);
    node = (espyNodeId){0};
    uint32_t dead = 0;
    while (espyWorld_NextChange(world, since, &node))
    {
        assert_true(node.index1 == a.index1 || node.index1 == b.index1);
        assert_false(espyWorld_IsNode(world, node));
        ++dead;
    }
    assert_int_equal(dead, 2);
    espyNodeId d = espyFixture_Add(fixture, (espyNodeId){0}, 4);
    node = (espyNodeId){0};
    assert_true(espyWorld_NextChange(world, since, &node) && espyTest_IsSame(node, d));
    assert_int_equal(espyFixture_CountChanges(fixture, since), 2);
    assert_true(espyWorld_GetNodeRevision(world, a) == 0 && espyWorld_GetContentRevision(world, a) == 0);
    node = (espyNodeId){1000, 1};
    assert_false(espyWorld_NextChange(world, 0, &node));
}

/// Random changes against a plain list of when each slot changed last, seen by readers that look at different times.
static void readers_find_exactly_what_changed(void** state)
{
    enum
    {
        Most = 200,
        Readers = 3,
    };
    espyFixture* fixture = *state;
    espyWorld* world = fixture->world;
    const uint64_t seed = 99;
    espyiRng rng = espyiRng_Seed(seed);
    static uint64_t changed[Most + 1];
    espyNodeId ids[Most];
    uint32_t count = 0;
    uint64_t seen[Readers] = {0}, clock = 0, looked[Readers] = {0};
    memset(changed, 0, sizeof changed);
    for (int round = 0; round < 20000; ++round)
    {
        ++clock;
        uint32_t pick = count > 0 ? espyiRng_Below(&rng, count) : 0;
        switch (espyiRng_Below(&rng, 4))
        {
        case 0:
            if (count < Most)
            {
                ids[count] = espyFixture_Add(fixture, (espyNodeId){0}, 0);
                changed[ids[count++].index1] = clock;
            }
            break;
        case 1:
            if (count > 0)
            {
                assert_int_equal(espyWorld_DestroyNode(world, ids[pick]), espyResult_Ok);
                changed[ids[pick].index1] = clock;
                ids[pick] = ids[--count];
            }
            break;
        default:
            if (count > 0)
            {
                assert_int_equal(espyWorld_SetLocalTransform(world, ids[pick], espyTest_Move((float)round, 0, 0)),
                                 espyResult_Ok);
                changed[ids[pick].index1] = clock;
            }
            break;
        }
        uint32_t reader = espyiRng_Below(&rng, 40);
        if (reader < Readers)
        {
            bool found[Most + 1] = {false};
            espyNodeId node = {0};
            while (espyWorld_NextChange(world, seen[reader], &node))
            {
                assert_false(found[node.index1]);
                found[node.index1] = true;
            }
            for (int i = 1; i <= Most; ++i)
            {
                if (found[i] != (changed[i] > looked[reader]))
                {
                    fail_msg("seed %llu, round %d, slot %d", (unsigned long long)seed, round, i);
                }
            }
            seen[reader] = espyWorld_GetRevision(world);
            looked[reader] = clock;
        }
    }
}

static void parents_change_without_cycles(void** state)
{
    espyFixture* fixture = *state;
    espyWorld* world = fixture->world;
    espyNodeDef got;
    espyNodeId none = {0};
    espyNodeId a = espyFixture_Add(fixture, none, 1);
    espyNodeId b = espyFixture_Add(fixture, a, 10);
    espyNodeId c = espyFixture_Add(fixture, b, 100);
    espyNodeId d = espyFixture_Add(fixture, none, 1000);
    assert_int_equal(espyWorld_SetParent(world, a, a), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetParent(world, a, c), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_SetParent(world, a, (espyNodeId){50, 1}), espyResult_InvalidId);
    assert_int_equal(espyWorld_SetParent(world, none, a), espyResult_InvalidId);
    assert_int_equal(fixture->asserts, 4);
    uint64_t since = espyWorld_GetRevision(world);
    assert_int_equal(espyWorld_SetParent(world, b, d), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldBounds(world, c).min.x, 1110, 0);
    assert_int_equal(espyFixture_CountChanges(fixture, since), 2);
    assert_int_equal(espyWorld_GetNode(world, b, &got), espyResult_Ok);
    assert_true(espyTest_IsSame(got.parent, d));
    const espyNodeId order[] = {a, d, b, c};
    for (uint32_t i = 0; i < 4; ++i)
    {
        assert_true(espyTest_IsSame(espyWorld_GetNodeAt(world, i), order[i]));
    }
    // The old parent lets go, the new one takes along.
    assert_int_equal(espyWorld_SetLocalTransform(world, a, espyTest_Move(7, 0, 0)), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldBounds(world, c).min.x, 1110, 0);
    assert_int_equal(espyWorld_DestroyNode(world, a), espyResult_Ok);
    assert_true(espyWorld_IsNode(world, c));
    assert_int_equal(espyWorld_SetParent(world, b, none), espyResult_Ok);
    assert_float_equal(espyWorld_GetWorldBounds(world, c).min.x, 110, 0);
    assert_int_equal(espyWorld_DestroyNode(world, d), espyResult_Ok);
    assert_true(espyWorld_IsNode(world, c));
    assert_int_equal(espyWorld_DestroyNode(world, b), espyResult_Ok);
    assert_int_equal(espyWorld_GetNodeCount(world), 0);
}

/// Random reparenting: parents come first, and every transform is that of its chain.
static void order_and_transforms_survive_reparenting(void** state)
{
    enum
    {
        Count = 300,
    };
    espyFixture* fixture = *state;
    espyWorld* world = fixture->world;
    const uint64_t seed = 4;
    espyiRng rng = espyiRng_Seed(seed);
    espyNodeId ids[Count];
    int parent[Count];
    for (int i = 0; i < Count; ++i)
    {
        ids[i] = espyFixture_Add(fixture, (espyNodeId){0}, (float)(i + 1));
        parent[i] = -1;
    }
    for (int round = 0; round < 4000; ++round)
    {
        int child = (int)espyiRng_Below(&rng, Count);
        int above = (int)espyiRng_Below(&rng, Count + 1) - 1;
        bool cycle = false;
        for (int i = above; i >= 0; i = parent[i])
        {
            cycle = cycle || i == child;
        }
        espyResult result = espyWorld_SetParent(world, ids[child], above < 0 ? (espyNodeId){0} : ids[above]);
        assert_int_equal(result, cycle ? espyResult_InvalidArgument : espyResult_Ok);
        parent[child] = cycle ? parent[child] : above;
        if (round % 50 != 0)
        {
            continue;
        }
        bool met[Count + 1] = {false};
        assert_int_equal(espyWorld_GetNodeCount(world), Count);
        for (uint32_t i = 0; i < Count; ++i)
        {
            espyNodeDef node;
            espyNodeId id = espyWorld_GetNodeAt(world, i);
            assert_int_equal(espyWorld_GetNode(world, id, &node), espyResult_Ok);
            assert_false(met[id.index1]);
            assert_true(node.parent.index1 == 0 || met[node.parent.index1]);
            met[id.index1] = true;
        }
        for (int i = 0; i < Count; ++i)
        {
            float x = 0.0f;
            for (int k = i; k >= 0; k = parent[k])
            {
                x += (float)(k + 1);
            }
            if (espyWorld_GetWorldTransform(world, ids[i]).m[12] != x)
            {
                fail_msg("seed %llu, round %d, node %d", (unsigned long long)seed, round, i);
            }
        }
    }
}

static void names_and_tags_change(void** state)
{
    espyFixture* fixture = *state;
    espyWorld* world = fixture->world;
    espyNodeDef got;
    espyNodeId id = espyFixture_Add(fixture, (espyNodeId){0}, 0);
    assert_int_equal(espyWorld_AddTag(world, id, "Enemy"), espyResult_Ok);
    assert_int_equal(espyWorld_AddTag(world, id, "Turret"), espyResult_Ok);
    assert_int_equal(espyWorld_AddTag(world, id, "Enemy"), espyResult_Ok);
    assert_int_equal(espyWorld_AddTag(world, id, ""), espyResult_Ok);
    assert_int_equal(espyWorld_SetName(world, id, "gun"), espyResult_Ok);
    assert_int_equal(espyWorld_GetNode(world, id, &got), espyResult_Ok);
    assert_int_equal(got.tagCount, 3);
    assert_string_equal(got.name, "gun");
    assert_string_equal(got.tags[1], "Turret");
    assert_true(espyWorld_HasTag(world, id, "Enemy") && espyWorld_HasTag(world, id, ""));
    assert_false(espyWorld_HasTag(world, id, "Enem") || espyWorld_HasTag(world, id, "Enemy2"));
    // A tag of its own block, and its own name.
    assert_int_equal(espyWorld_SetName(world, id, got.tags[1]), espyResult_Ok);
    assert_int_equal(espyWorld_GetNode(world, id, &got), espyResult_Ok);
    assert_string_equal(got.name, "Turret");
    assert_int_equal(espyWorld_AddTag(world, id, got.name + 1), espyResult_Ok);
    assert_true(espyWorld_HasTag(world, id, "urret"));
    assert_int_equal(espyWorld_RemoveTag(world, id, "Enemy"), espyResult_Ok);
    assert_int_equal(espyWorld_RemoveTag(world, id, "Enemy"), espyResult_NotFound);
    assert_false(espyWorld_HasTag(world, id, "Enemy"));
    assert_true(espyWorld_HasTag(world, id, "Turret") && espyWorld_HasTag(world, id, "urret"));
    assert_int_equal(espyWorld_SetName(world, id, NULL), espyResult_Ok);
    assert_int_equal(espyWorld_GetNode(world, id, &got), espyResult_Ok);
    assert_string_equal(got.name, "");
    assert_int_equal(espyWorld_AddTag(world, id, NULL), espyResult_InvalidArgument);
    assert_int_equal(espyWorld_RemoveTag(world, id, NULL), espyResult_InvalidArgument);
    assert_false(espyWorld_HasTag(world, id, NULL) || espyWorld_HasTag(world, (espyNodeId){0}, "x"));
    assert_int_equal(espyWorld_SetName(world, (espyNodeId){0}, "x"), espyResult_InvalidId);
    assert_int_equal(espyWorld_AddTag(world, (espyNodeId){0}, "x"), espyResult_InvalidId);
    assert_int_equal(espyWorld_RemoveTag(world, (espyNodeId){0}, "x"), espyResult_InvalidId);
}

static double espyTest_Seconds(void)
{
    return (double)clock() / (double)CLOCKS_PER_SEC;
}

/// Creates `count` nodes and destroys them one by one, in order or the first first by index; seconds of processor time.
static double espyFixture_Churn(espyFixture* fixture, int count, int way)
{
    espyNodeId* ids = calloc((size_t)count, sizeof *ids);
    double start = espyTest_Seconds();
    for (int i = 0; i < count; ++i)
    {
        ids[i] = espyFixture_Add(fixture, (espyNodeId){0}, (float)i);
    }
    for (int i = 0; i < count; ++i)
    {
        espyNodeId id = way == 0 ? ids[i] : way == 1 ? ids[count - 1 - i] : espyWorld_GetNodeAt(fixture->world, 0);
        assert_int_equal(espyWorld_DestroyNode(fixture->world, id), espyResult_Ok);
    }
    double seconds = espyTest_Seconds() - start;
    free(ids);
    assert_int_equal(espyWorld_GetNodeCount(fixture->world), 0);
    return seconds;
}

/// Eight times the nodes may cost eight times as much and some for caches, not the 64 times of a quadratic path.
static void many_nodes_come_and_go_in_time(void** state)
{
    espyFixture* fixture = *state;
    for (int way = 0; way < 3; ++way)
    {
        espyFixture_Churn(fixture, 100000, way);
        double few = espyFixture_Churn(fixture, 12500, way), many = espyFixture_Churn(fixture, 100000, way);
        printf("way %d: 12,500 nodes in %.1f ms, 100,000 in %.1f ms\n", way, 1e3 * few, 1e3 * many);
        assert_true(many < 32.0 * few + 0.05);
    }
}

static void a_destroyed_half_leaves_the_order(void** state)
{
    enum
    {
        Count = 5000,
    };
    espyFixture* fixture = *state;
    static espyNodeId ids[Count];
    const uint64_t seed = 12;
    espyiRng rng = espyiRng_Seed(seed);
    for (int i = 0; i < Count; ++i)
    {
        ids[i] = espyFixture_Add(fixture, (espyNodeId){0}, 0);
    }
    int left = Count;
    while (left > 0)
    {
        int gone = (int)espyiRng_Below(&rng, (uint32_t)left);
        assert_int_equal(espyWorld_DestroyNode(fixture->world, ids[gone]), espyResult_Ok);
        memmove(&ids[gone], &ids[gone + 1], (size_t)(left - gone - 1) * sizeof ids[0]);
        --left;
        for (int i = 0; i < left; i += 1 + left / 16)
        {
            if (!espyTest_IsSame(espyWorld_GetNodeAt(fixture->world, (uint32_t)i), ids[i]))
            {
                fail_msg("seed %llu, %d left, index %d", (unsigned long long)seed, left, i);
            }
        }
        assert_int_equal(espyWorld_GetNodeAt(fixture->world, (uint32_t)left).index1, 0);
    }
}

/// Reparenting, names and tags with an allocation that fails. True where one did.
static bool espyTest_ChangeFailing(unsigned failAt)
{
    espyFixture fixture = {.counter = {.failAt = failAt}};
    espyWorldDef worldDef = espyWorldDef_Default();
    worldDef.hooks = espyHookCounter_Hooks(&fixture.counter);
    espyNodeId ids[8], parent;
    bool failed = espyWorld_Create(&worldDef, &fixture.world) != espyResult_Ok;
    espyNodeDef def = espyNodeDef_Default(), got;
    def.name = "first";
    for (int i = 0; i < 8 && !failed; ++i)
    {
        failed = espyWorld_CreateNode(fixture.world, &def, &ids[i]) != espyResult_Ok;
        def.parent = failed ? def.parent : ids[i];
    }
    if (!failed)
    {
        failed = espyWorld_SetName(fixture.world, ids[0], "second") != espyResult_Ok;
        assert_int_equal(espyWorld_GetNode(fixture.world, ids[0], &got), espyResult_Ok);
        assert_string_equal(got.name, failed ? "first" : "second");
    }
    for (int i = 0; i < 3 && !failed; ++i)
    {
        const char* const tags[] = {"a", "b", "c"};
        failed = espyWorld_AddTag(fixture.world, ids[0], tags[i]) != espyResult_Ok;
        assert_int_equal(espyWorld_HasTag(fixture.world, ids[0], tags[i]), !failed);
        assert_int_equal(espyWorld_GetNode(fixture.world, ids[0], &got), espyResult_Ok);
        assert_int_equal(got.tagCount, failed ? i : i + 1);
    }
    def.parent = (espyNodeId){0};
    failed = failed || espyWorld_CreateNode(fixture.world, &def, &parent) != espyResult_Ok;
    if (!failed)
    {
        uint64_t revision = espyWorld_GetRevision(fixture.world);
        failed = espyWorld_SetParent(fixture.world, ids[0], parent) != espyResult_Ok;
        assert_int_equal(espyWorld_GetNode(fixture.world, ids[0], &got), espyResult_Ok);
        assert_int_equal(got.parent.index1, failed ? 0 : parent.index1);
        assert_int_equal(espyWorld_GetRevision(fixture.world) > revision, !failed);
    }
    espyWorld_Destroy(fixture.world);
    assert_int_equal(fixture.counter.blocks, 0);
    return failed;
}

static void every_failed_allocation_changes_nothing(void** state)
{
    (void)state;
    unsigned failAt = 1;
    while (espyTest_ChangeFailing(failAt))
    {
        ++failAt;
    }
    assert_true(failAt > 20);
}

int main(void)
{
#define ESPY_TEST(name) cmocka_unit_test_setup_teardown(name, espyFixture_Set, espyFixture_Drop)
    const struct CMUnitTest tests[] = {
        ESPY_TEST(every_kind_of_change_is_found),
        ESPY_TEST(readers_find_exactly_what_changed),
        ESPY_TEST(parents_change_without_cycles),
        ESPY_TEST(order_and_transforms_survive_reparenting),
        ESPY_TEST(names_and_tags_change),
        ESPY_TEST(many_nodes_come_and_go_in_time),
        ESPY_TEST(a_destroyed_half_leaves_the_order),
        cmocka_unit_test(every_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
