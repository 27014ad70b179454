// SPDX-License-Identifier: MIT
// The registry of proxies: names, live fields, limits, refusals by name, memory.
#include <espy/proxy.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/hook_counter.h"
#include "tests/test_main.h"

static espyProxySet* espyTest_Set(espyHookCounter* counter, espyProxyTechnique technique, uint32_t limit)
{
    espyProxySetDef def = espyProxySetDef_Default();
    def.technique = technique;
    def.limit = limit;
    if (counter)
    {
        def.hooks = espyHookCounter_Hooks(counter);
    }
    espyProxySet* set = NULL;
    assert_int_equal(espyProxySet_Create(&def, &set), espyResult_Ok);
    return set;
}

static espyProxyDef espyTest_Ball(float x, float radius)
{
    espyProxyDef def = espyProxyDef_Default();
    def.a = (espyVec3){x, 1, 2};
    def.radius = radius;
    return def;
}

static void test_same_key_moves(void** state)
{
    (void)state;
    espyProxySet* set = espyTest_Set(NULL, espyProxyTechnique_Loop, 64);
    espyProxyDef def = espyTest_Ball(1, 2), read;
    assert_int_equal(espyProxySet_Set(set, "boulder", &def, NULL), espyResult_Ok);
    def = espyTest_Ball(5, 3);
    assert_int_equal(espyProxySet_Set(set, "boulder", &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_GetCount(set), 1);
    assert_int_equal(espyProxySet_Get(set, "boulder", &read), espyResult_Ok);
    assert_true(read.a.x == 5.0f && read.radius == 3.0f && read.radiusB == 3.0f && read.b.x == 5.0f);
    // A number and its digits are two names, and so is the empty string.
    assert_int_equal(espyProxySet_SetId(set, 7, &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_Set(set, "7", &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_Set(set, "", &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_GetCount(set), 4);
    assert_int_equal(espyProxySet_Remove(set, "7"), espyResult_Ok);
    assert_int_equal(espyProxySet_Remove(set, "7"), espyResult_NotFound);
    assert_int_equal(espyProxySet_GetId(set, 7, &read), espyResult_Ok);
    espyProxySet_Clear(set);
    assert_int_equal(espyProxySet_GetCount(set), 0);
    assert_int_equal(espyProxySet_GetId(set, 7, &read), espyResult_NotFound);
    espyProxySet_Destroy(set);
}

static void test_radius_zero_removes(void** state)
{
    (void)state;
    espyProxySet* set = espyTest_Set(NULL, espyProxyTechnique_Loop, 64);
    espyProxyDef def = espyTest_Ball(1, 2);
    assert_int_equal(espyProxySet_Set(set, "a", &def, NULL), espyResult_Ok);
    def.radius = 0;
    assert_int_equal(espyProxySet_Set(set, "a", &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_GetCount(set), 0);
    assert_int_equal(espyProxySet_Set(set, "never there", &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_GetCount(set), 0);
    espyProxySet_Destroy(set);
}

static void test_the_65th_is_refused_by_name(void** state)
{
    (void)state;
    espyProxySet* set = espyTest_Set(NULL, espyProxyTechnique_Loop, 64);
    espyProxyDef def = espyTest_Ball(1, 2);
    espyProxyIssue issue;
    for (uint64_t i = 0; i < 64; ++i)
    {
        assert_int_equal(espyProxySet_SetId(set, i, &def, &issue), espyResult_Ok);
        assert_null(issue.field);
    }
    assert_int_equal(espyProxySet_SetId(set, 64, &def, &issue), espyResult_LimitExceeded);
    assert_string_equal(issue.field, "limit");
    assert_false(issue.clamped);
    assert_int_equal(espyProxySet_GetCount(set), 64);
    // One that is there still moves, and a place that is given up is free.
    def.a.x = 9;
    assert_int_equal(espyProxySet_SetId(set, 63, &def, NULL), espyResult_Ok);
    assert_int_equal(espyProxySet_RemoveId(set, 0), espyResult_Ok);
    assert_int_equal(espyProxySet_SetId(set, 64, &def, NULL), espyResult_Ok);
    espyProxySet_Destroy(set);
    // The plain loop takes no larger limit; clusters do.
    espyProxySetDef large = espyProxySetDef_Default();
    large.limit = 65;
    assert_int_equal(espyProxySet_Create(&large, &set), espyResult_InvalidArgument);
    large.technique = espyProxyTechnique_Clusters;
    assert_int_equal(espyProxySet_Create(&large, &set), espyResult_Ok);
    espyProxySet_Destroy(set);
}

static void test_bad_fields_are_named(void** state)
{
    (void)state;
    espyProxySet* set = espyTest_Set(NULL, espyProxyTechnique_Loop, 64);
    espyProxyIssue issue;
    struct
    {
        espyProxyDef def;
        const char* field;
    } bad[12];
    uint32_t count = 0;
#define ESPY_BAD(member, value, name)     \
    bad[count].def = espyTest_Ball(1, 2); \
    bad[count].def.hasB = true;           \
    bad[count].def.member = (value);      \
    bad[count++].field = (name)
    ESPY_BAD(a.x, NAN, "a");
    ESPY_BAD(a.z, INFINITY, "a");
    ESPY_BAD(b.y, -INFINITY, "b");
    ESPY_BAD(a.y, 2e8f, "a");
    ESPY_BAD(radius, NAN, "radius");
    ESPY_BAD(radius, -1, "radius");
    ESPY_BAD(radius, 2e8f, "radius");
    ESPY_BAD(radiusB, NAN, "radiusB");
    ESPY_BAD(strength, NAN, "strength");
    ESPY_BAD(selfStrength, INFINITY, "selfStrength");
    ESPY_BAD(owner, ESPY_PROXY_OWNER_LIMIT + 1, "owner");
    ESPY_BAD(cookie, 0, "cookie");
#undef ESPY_BAD
    for (uint32_t i = 0; i < count; ++i)
    {
        assert_int_equal(espyProxySet_Set(set, "x", &bad[i].def, &issue), espyResult_InvalidArgument);
        assert_string_equal(issue.field, bad[i].field);
        assert_false(issue.clamped);
    }
    assert_int_equal(espyProxySet_GetCount(set), 0);
    espyProxyDef def = espyTest_Ball(1, 2), read;
    assert_int_equal(espyProxySet_Set(set, NULL, &def, &issue), espyResult_InvalidArgument);
    assert_string_equal(issue.field, "key");
    char longKey[ESPY_PROXY_KEY_LIMIT + 2];
    memset(longKey, 'k', sizeof longKey - 1);
    longKey[sizeof longKey - 1] = 0;
    assert_int_equal(espyProxySet_Set(set, longKey, &def, &issue), espyResult_InvalidArgument);
    longKey[ESPY_PROXY_KEY_LIMIT] = 0;
    assert_int_equal(espyProxySet_Set(set, longKey, &def, &issue), espyResult_Ok);
    // Clamped ones are taken, and named.
    def.strength = 1.5f;
    assert_int_equal(espyProxySet_Set(set, "x", &def, &issue), espyResult_Ok);
    assert_string_equal(issue.field, "strength");
    assert_true(issue.clamped);
    assert_int_equal(espyProxySet_Get(set, "x", &read), espyResult_Ok);
    assert_true(read.strength == 1.0f);
    // A refusal leaves what was there.
    def.a.x = NAN;
    assert_int_equal(espyProxySet_Set(set, "x", &def, &issue), espyResult_InvalidArgument);
    assert_int_equal(espyProxySet_Get(set, "x", &read), espyResult_Ok);
    assert_true(read.a.x == 1.0f);
    espyProxySet_Destroy(set);
}

static void test_settings_are_live_and_checked(void** state)
{
    (void)state;
    espyProxySet* set = espyTest_Set(NULL, espyProxyTechnique_Loop, 64);
    espyProxySettings s = espyProxySet_GetSettings(set);
    assert_true(s.intensity == 1.0f && s.power == 1.0f && s.minDistance == 0.0f && s.maxDistance == 0.0f);
    assert_int_equal(s.mode, espyProxyMode_Estimate);
    espyProxyIssue issue;
    s.intensity = 0.8f;
    s.minDistance = 40;
    assert_int_equal(espyProxySet_Configure(set, &s, &issue), espyResult_Ok);
    assert_null(issue.field);
    s.power = 99;
    assert_int_equal(espyProxySet_Configure(set, &s, &issue), espyResult_Ok);
    assert_string_equal(issue.field, "power");
    assert_true(issue.clamped && espyProxySet_GetSettings(set).power == 16.0f);
    s.maxDistance = NAN;
    assert_int_equal(espyProxySet_Configure(set, &s, &issue), espyResult_InvalidArgument);
    assert_string_equal(issue.field, "maxDistance");
    s = espyProxySet_GetSettings(set);
    assert_true(s.intensity == 0.8f && s.minDistance == 40.0f && s.maxDistance == 0.0f);
    espyProxySet_Clear(set);
    assert_true(espyProxySet_GetSettings(set).intensity == 0.8f);
    espyProxySet_Destroy(set);
}

static void espyTest_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    (void)level;
    espyMessageId* last = context;
    *last = id;
    assert_non_null(strstr(text, "proxy occlusion"));
}

static void test_clamps_and_refusals_are_numbered_messages(void** state)
{
    (void)state;
    espyMessageId last = espyMessageId_None;
    espyProxySetDef setDef = espyProxySetDef_Default();
    setDef.hooks = (espyHooks){.log = espyTest_Log, .context = &last};
    espyProxySet* set;
    assert_int_equal(espyProxySet_Create(&setDef, &set), espyResult_Ok);
    espyProxyDef def = espyTest_Ball(1, 1);
    def.strength = -1;
    assert_int_equal(espyProxySet_Set(set, "a", &def, NULL), espyResult_Ok);
    assert_int_equal(last, espyMessageId_ProxyClamped);
    def.strength = NAN;
    assert_int_equal(espyProxySet_Set(set, "a", &def, NULL), espyResult_InvalidArgument);
    assert_int_equal(last, espyMessageId_ProxyRefused);
    espyProxySet_Destroy(set);
}

static void test_many_names_come_and_go(void** state)
{
    (void)state;
    espyProxySet* set = espyTest_Set(NULL, espyProxyTechnique_Clusters, 20000);
    char key[32];
    for (uint32_t round = 0; round < 3; ++round)
    {
        for (uint32_t i = 0; i < 20000; ++i)
        {
            snprintf(key, sizeof key, "crowd/%u", i);
            espyProxyDef def = espyTest_Ball((float)i, 1);
            assert_int_equal(espyProxySet_Set(set, key, &def, NULL), espyResult_Ok);
        }
        assert_int_equal(espyProxySet_GetCount(set), 20000);
        for (uint32_t i = round; i < 20000; i += 2)
        {
            snprintf(key, sizeof key, "crowd/%u", i);
            assert_int_equal(espyProxySet_Remove(set, key), espyResult_Ok);
        }
        for (uint32_t i = 0; i < 20000; ++i)
        {
            espyProxyDef read;
            snprintf(key, sizeof key, "crowd/%u", i);
            bool there = i < round || (i - round) % 2 != 0;
            assert_int_equal(espyProxySet_Get(set, key, &read), there ? espyResult_Ok : espyResult_NotFound);
            assert_true(!there || read.a.x == (float)i);
        }
    }
    espyProxySet_Destroy(set);
}

static void test_memory_failures_lose_nothing(void** state)
{
    (void)state;
    for (unsigned failAt = 1; failAt < 40; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyProxySetDef setDef = espyProxySetDef_Default();
        setDef.technique = espyProxyTechnique_Clusters;
        setDef.limit = 1000;
        setDef.hooks = espyHookCounter_Hooks(&counter);
        espyProxySet* set;
        if (espyProxySet_Create(&setDef, &set) == espyResult_Ok)
        {
            uint32_t held = 0;
            for (uint32_t i = 0; i < 100; ++i)
            {
                char key[16];
                snprintf(key, sizeof key, "k%u", i);
                espyProxyDef def = espyTest_Ball(1, 1);
                espyResult result = espyProxySet_Set(set, key, &def, NULL);
                assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
                held += result == espyResult_Ok;
            }
            assert_int_equal(espyProxySet_GetCount(set), held);
            espyProxySet_Destroy(set);
        }
        assert_int_equal(atomic_load(&counter.blocks), 0);
    }
}

static void test_moving_allocates_nothing(void** state)
{
    (void)state;
    espyHookCounter counter = {0};
    espyProxySet* set = espyTest_Set(&counter, espyProxyTechnique_Loop, 64);
    espyProxyDef def = espyTest_Ball(1, 1);
    assert_int_equal(espyProxySet_Set(set, "mover", &def, NULL), espyResult_Ok);
    unsigned calls = atomic_load(&counter.calls);
    for (int i = 0; i < 100; ++i)
    {
        def.a.x += 1;
        assert_int_equal(espyProxySet_Set(set, "mover", &def, NULL), espyResult_Ok);
    }
    assert_int_equal(atomic_load(&counter.calls), calls);
    espyProxySet_Destroy(set);
    assert_int_equal(atomic_load(&counter.blocks), 0);
}

static void test_a_capsule_at_a_node_stands_upright(void** state)
{
    (void)state;
    // A quarter turn about y and twice the size: the offset turns and scales, the axis stays on world up.
    const float half = 0.70710678f;
    espyMat4 node = espyMat4_FromTrs((espyVec3){10, 0, 0}, (const float[4]){0, half, 0, half}, (espyVec3){2, 2, 2});
    espyProxyDef def = espyProxyDef_AtNode(node, (espyVec3){0, 1, 3}, 0.5f, 3);
    assert_true(fabsf(def.a.x - 16) < 1e-5f && fabsf(def.a.y - 0.5f) < 1e-5f && fabsf(def.a.z) < 1e-5f);
    assert_true(fabsf(def.b.y - 3.5f) < 1e-5f && def.hasB && def.radius == 0.5f);
}

static void test_a_limb_between_two_joints_follows_both(void** state)
{
    (void)state;
    const float half = 0.70710678f;
    espyMat4 shoulder =
        espyMat4_FromTrs((espyVec3){0, 1.5f, 0}, (const float[4]){0, 0, half, half}, (espyVec3){1, 1, 1});
    espyMat4 elbow = espyMat4_FromTrs((espyVec3){0.3f, 1.2f, 0}, (const float[4]){0, 0, 0, 1}, (espyVec3){2, 2, 2});
    // A quarter turn about z takes x to y; the other joint is twice as large.
    espyProxyDef def =
        espyProxyDef_BetweenNodes(shoulder, (espyVec3){0.1f, 0, 0}, elbow, (espyVec3){0, 0, 0.05f}, 0.08f, 0.05f);
    assert_true(fabsf(def.a.x) < 1e-6f && fabsf(def.a.y - 1.6f) < 1e-6f && def.hasB);
    assert_true(fabsf(def.b.x - 0.3f) < 1e-6f && fabsf(def.b.z - 0.1f) < 1e-6f);
    assert_true(def.radius == 0.08f && def.radiusB == 0.05f && def.strength == 1.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_key_moves),
        cmocka_unit_test(test_radius_zero_removes),
        cmocka_unit_test(test_the_65th_is_refused_by_name),
        cmocka_unit_test(test_bad_fields_are_named),
        cmocka_unit_test(test_settings_are_live_and_checked),
        cmocka_unit_test(test_clamps_and_refusals_are_numbered_messages),
        cmocka_unit_test(test_many_names_come_and_go),
        cmocka_unit_test(test_memory_failures_lose_nothing),
        cmocka_unit_test(test_moving_allocates_nothing),
        cmocka_unit_test(test_a_capsule_at_a_node_stands_upright),
        cmocka_unit_test(test_a_limb_between_two_joints_follows_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
