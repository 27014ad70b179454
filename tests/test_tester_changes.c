// SPDX-License-Identifier: MIT
// Random changes to targets, testers, links, parents, forces and views against a model that is written down plainly: no
// device, so that a tester is active where it is forced and nowhere else.
#include "test_main.h"

#include <stdio.h>
#include <string.h>

#include "tester_case.h"

#define ESPY_TEST_MOST 40
#define ESPY_TEST_VIEWS 3
#define ESPY_TEST_NONE (-1)

typedef struct espyTestTarget
{
    bool alive;
    int parent;
    espyTesterTargetId id;
    bool shown[ESPY_TEST_VIEWS]; ///< After the last run.
} espyTestTarget;

typedef struct espyTestTester
{
    bool alive;
    int parent;
    espyTesterId id;
    bool reveals[ESPY_TEST_MOST];
    bool forced[ESPY_TEST_VIEWS], once[ESPY_TEST_VIEWS], active[ESPY_TEST_VIEWS];
} espyTestTester;

typedef struct espyTestModel
{
    espyTesterScene* scene;
    espyiRng rng;
    espyTestTarget targets[ESPY_TEST_MOST];
    espyTestTester testers[ESPY_TEST_MOST];
    espyTesterViewId views[ESPY_TEST_VIEWS];
    bool ran[ESPY_TEST_VIEWS];
    uint32_t refused, events;
} espyTestModel;

/// Does `from` wait, over any number of steps, for `target`?
static bool espyTestModel_WaitsFor(const espyTestModel* m, int from, int target)
{
    bool reached[ESPY_TEST_MOST] = {false};
    reached[from] = true;
    for (bool more = true; more;)
    {
        more = false;
        for (int at = 0; at < ESPY_TEST_MOST; ++at)
        {
            int parent = m->targets[at].parent;
            if (reached[at] && parent != ESPY_TEST_NONE && !reached[parent])
            {
                reached[parent] = more = true;
            }
            for (int t = 0; t < ESPY_TEST_MOST && reached[at]; ++t)
            {
                int in = m->testers[t].parent;
                if (m->testers[t].alive && m->testers[t].reveals[at] && in != ESPY_TEST_NONE && !reached[in])
                {
                    reached[in] = more = true;
                }
            }
        }
    }
    return reached[target];
}

static int espyTestModel_PickTarget(espyTestModel* m)
{
    int i = (int)espyiRng_Below(&m->rng, ESPY_TEST_MOST);
    return m->targets[i].alive ? i : ESPY_TEST_NONE;
}

static espyTesterTargetId espyTestModel_Id(const espyTestModel* m, int target)
{
    return target == ESPY_TEST_NONE ? (espyTesterTargetId){0, 0} : m->targets[target].id;
}

static void espyTestModel_Destroy(espyTestModel* m, int target)
{
    m->targets[target].alive = false;
    for (int i = 0; i < ESPY_TEST_MOST; ++i)
    {
        if (m->testers[i].alive && m->testers[i].parent == target)
        {
            m->testers[i].alive = false;
        }
        m->testers[i].reveals[target] = false;
        if (m->targets[i].alive && m->targets[i].parent == target)
        {
            espyTestModel_Destroy(m, i);
        }
    }
}

static void espyTestModel_Create(espyTestModel* m)
{
    int free = (int)espyiRng_Below(&m->rng, ESPY_TEST_MOST), parent = espyTestModel_PickTarget(m);
    if (espyiRng_Below(&m->rng, 2) == 0 && !m->targets[free].alive)
    {
        espyTesterTargetDef def = espyTesterTargetDef_Default();
        def.parent = espyTestModel_Id(m, parent);
        def.name = espyiRng_Below(&m->rng, 2) == 0 ? "name" : NULL;
        m->targets[free] = (espyTestTarget){.alive = true, .parent = parent};
        assert_int_equal(espyTesterScene_CreateTarget(m->scene, &def, &m->targets[free].id), espyResult_Ok);
    }
    else if (!m->testers[free].alive)
    {
        // Behind every camera: only force makes it active.
        espyTesterDef def = espyTesterDef_Default();
        def.parent = espyTestModel_Id(m, parent);
        def.bounds = (espyBox){{-1, -1, 5}, {1, 1, 6}};
        m->testers[free] = (espyTestTester){.alive = true, .parent = parent};
        assert_int_equal(espyTesterScene_CreateTester(m->scene, &def, &m->testers[free].id), espyResult_Ok);
    }
}

static void espyTestModel_Relate(espyTestModel* m)
{
    espyTestTester* tester = &m->testers[espyiRng_Below(&m->rng, ESPY_TEST_MOST)];
    int target = espyTestModel_PickTarget(m), parent = espyTestModel_PickTarget(m);
    if (!tester->alive || target == ESPY_TEST_NONE)
    {
        return;
    }
    bool cycle = false;
    espyResult result;
    switch (espyiRng_Below(&m->rng, 5))
    {
    case 0:
    case 1:
        cycle = tester->parent != ESPY_TEST_NONE && !tester->reveals[target] &&
                espyTestModel_WaitsFor(m, tester->parent, target);
        result = espyTesterScene_AddTarget(m->scene, tester->id, m->targets[target].id);
        tester->reveals[target] = tester->reveals[target] || !cycle;
        break;
    case 2:
        result = espyTesterScene_RemoveTarget(m->scene, tester->id, m->targets[target].id);
        assert_int_equal(result, tester->reveals[target] ? espyResult_Ok : espyResult_NotFound);
        tester->reveals[target] = false;
        return;
    case 3:
        cycle = parent != ESPY_TEST_NONE && parent != m->targets[target].parent &&
                espyTestModel_WaitsFor(m, parent, target);
        result = espyTesterScene_SetTargetParent(m->scene, m->targets[target].id, espyTestModel_Id(m, parent));
        m->targets[target].parent = cycle ? m->targets[target].parent : parent;
        break;
    default:
        for (int i = 0; i < ESPY_TEST_MOST && parent != ESPY_TEST_NONE && parent != tester->parent; ++i)
        {
            cycle = cycle || (tester->reveals[i] && espyTestModel_WaitsFor(m, parent, i));
        }
        result = espyTesterScene_SetTesterParent(m->scene, tester->id, espyTestModel_Id(m, parent));
        tester->parent = cycle ? tester->parent : parent;
        break;
    }
    assert_int_equal(result, cycle ? espyResult_InvalidArgument : espyResult_Ok);
    m->refused += cycle;
}

static void espyTestModel_Force(espyTestModel* m)
{
    espyTestTester* tester = &m->testers[espyiRng_Below(&m->rng, ESPY_TEST_MOST)];
    uint32_t view = espyiRng_Below(&m->rng, ESPY_TEST_VIEWS);
    espyResult result = espyResult_Ok;
    switch (espyiRng_Below(&m->rng, 3))
    {
    case 0:
        result = espyTesterScene_SetForceActive(m->scene, tester->id, true, m->views[view]);
        tester->forced[view] = true;
        break;
    case 1:
        result = espyTesterScene_SetForceActive(m->scene, tester->id, false, m->views[view]);
        tester->forced[view] = tester->once[view] = false;
        break;
    default:
        result = espyTesterScene_ForceOnce(m->scene, tester->id, m->views[view]);
        tester->once[view] = true;
        break;
    }
    assert_int_equal(result, tester->alive ? espyResult_Ok : espyResult_InvalidId);
}

static void espyTestModel_Remove(espyTestModel* m)
{
    int i = (int)espyiRng_Below(&m->rng, ESPY_TEST_MOST);
    if (espyiRng_Below(&m->rng, 2) == 0)
    {
        espyResult result = espyTesterScene_DestroyTarget(m->scene, m->targets[i].id);
        assert_int_equal(result, m->targets[i].alive ? espyResult_Ok : espyResult_InvalidId);
        if (m->targets[i].alive)
        {
            espyTestModel_Destroy(m, i);
        }
    }
    else
    {
        espyResult result = espyTesterScene_DestroyTester(m->scene, m->testers[i].id);
        assert_int_equal(result, m->testers[i].alive ? espyResult_Ok : espyResult_InvalidId);
        m->testers[i].alive = false;
    }
}

static void espyTestModel_Run(espyTestModel* m)
{
    uint32_t view = espyiRng_Below(&m->rng, ESPY_TEST_VIEWS);
    espyTesterRun run = espyTesterRun_Default();
    run.viewProjection[0] = espyRasterCase_View((espyVec3){0, 0, 0}, (espyVec3){0, 0, -1},
                                                &(espyLens){.nearDistance = 0.1f, .halfHeight = 0.6f, .aspect = 1});
    bool before[ESPY_TEST_MOST], active[ESPY_TEST_MOST] = {false};
    for (int i = 0; i < ESPY_TEST_MOST; ++i)
    {
        before[i] = m->targets[i].alive && m->targets[i].shown[view];
        espyTestTester* tester = &m->testers[i];
        tester->active[view] = tester->alive && (tester->forced[view] || tester->once[view]);
        tester->once[view] = false;
        for (int k = 0; k < ESPY_TEST_MOST && tester->active[view]; ++k)
        {
            active[k] = active[k] || tester->reveals[k];
        }
    }
    assert_int_equal(espyTesterScene_RunView(m->scene, m->views[view], &run), espyResult_Ok);
    m->ran[view] = true;
    uint32_t shown = 0, changes = 0, count;
    for (int i = 0; i < ESPY_TEST_MOST; ++i)
    {
        bool all = m->targets[i].alive;
        for (int at = i; all && at != ESPY_TEST_NONE; at = m->targets[at].parent)
        {
            all = active[at];
        }
        m->targets[i].shown[view] = all;
        shown += all;
        changes += all != before[i];
    }
    espyTesterScene_GetShown(m->scene, m->views[view], &count);
    assert_int_equal(count, shown);
    const espyTesterEvent* events = espyTesterScene_GetEvents(m->scene, m->views[view], &count);
    assert_int_equal(count, changes);
    for (uint32_t e = 0; e < count; ++e)
    {
        for (int i = 0; i < ESPY_TEST_MOST; ++i)
        {
            if (m->targets[i].alive && m->targets[i].id.index1 == events[e].target.index1)
            {
                assert_int_equal(m->targets[i].id.generation, events[e].target.generation);
                assert_int_equal(m->targets[i].shown[view], events[e].entered);
            }
        }
    }
    m->events += count;
}

static void espyTestModel_Compare(const espyTestModel* m)
{
    for (int i = 0; i < ESPY_TEST_MOST; ++i)
    {
        assert_int_equal(espyTesterScene_IsTarget(m->scene, m->targets[i].id), m->targets[i].alive);
        assert_int_equal(espyTesterScene_IsTester(m->scene, m->testers[i].id), m->testers[i].alive);
        for (int v = 0; v < ESPY_TEST_VIEWS && m->ran[v]; ++v)
        {
            assert_int_equal(espyTesterScene_IsShown(m->scene, m->targets[i].id, m->views[v]),
                             !m->targets[i].alive || m->targets[i].shown[v]);
            assert_int_equal(espyTesterScene_WasActiveLastFrame(m->scene, m->testers[i].id, m->views[v]),
                             m->testers[i].alive && m->testers[i].active[v]);
        }
    }
}

static void test_random_changes(void** state)
{
    (void)state;
    uint32_t refused = 0, events = 0;
    for (uint64_t seed = 0; seed < 60; ++seed)
    {
        static espyTestModel m;
        memset(&m, 0, sizeof m);
        m.rng = espyiRng_Seed(seed);
        espyHookCounter counter;
        memset(&counter, 0, sizeof counter);
        espyTesterSceneDef def = espyTesterSceneDef_Default();
        def.hooks = espyHookCounter_Hooks(&counter);
        assert_int_equal(espyTesterScene_Create(&def, &m.scene), espyResult_Ok);
        for (int v = 1; v < ESPY_TEST_VIEWS; ++v)
        {
            assert_int_equal(espyTesterScene_CreateView(m.scene, &def.mainView, &m.views[v]), espyResult_Ok);
        }
        for (int step = 0; step < 1500; ++step)
        {
            switch (espyiRng_Below(&m.rng, 12))
            {
            case 0:
            case 1:
            case 2:
                espyTestModel_Create(&m);
                break;
            case 3:
            case 4:
            case 5:
            case 6:
                espyTestModel_Relate(&m);
                break;
            case 7:
            case 8:
                espyTestModel_Force(&m);
                break;
            case 9:
                if (espyiRng_Below(&m.rng, 4) == 0)
                {
                    espyTestModel_Remove(&m);
                }
                break;
            default:
                espyTestModel_Run(&m);
                break;
            }
            if (step % 16 == 0)
            {
                espyTestModel_Compare(&m);
            }
        }
        refused += m.refused;
        events += m.events;
        espyTesterScene_Destroy(m.scene);
        assert_int_equal(atomic_load(&counter.blocks), 0);
    }
    print_message("%u refused, %u events\n", refused, events);
    assert_true(refused > 500 && events > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
