// SPDX-License-Identifier: MIT
// Tester meshes: every rule that tester.h states, on the software device.
#include "test_main.h"

#include <math.h>
#include <string.h>

#include "tester_case.h"

static const espyTesterTargetId espyTest_None = {0, 0};
static const espyTesterViewId espyTest_Main = {0, 0};

/// A wall across the view at distance `z`.
static espyBox espyTest_Wall(float z)
{
    return (espyBox){{-60, -60, -z - 0.5f}, {60, 60, -z}};
}

/// A box of `half` metres to each side of (x, y, -z).
static espyBox espyTest_Box(float x, float y, float z, float half)
{
    return (espyBox){{x - half, y - half, -z - half}, {x + half, y + half, -z + half}};
}

// --- the model

static void test_hidden_until_revealed(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId seen = espyTesterCase_Target(&c, espyTest_None, "seen");
    espyTesterTargetId behind = espyTesterCase_Target(&c, espyTest_None, "behind");
    espyTesterTargetId beside = espyTesterCase_Target(&c, espyTest_None, "beside");
    espyTesterTargetId lonely = espyTesterCase_Target(&c, espyTest_None, "lonely");
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    espyTesterId a = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), seen);
    espyTesterId b = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 15, 1), behind);
    espyTesterId d = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, -15, 1), beside);

    // Before the first run nothing is known: draw, but nothing was active.
    assert_true(espyTesterCase_IsShown(&c, behind));
    assert_false(espyTesterCase_WasActive(&c, a));
    uint32_t count = 7;
    assert_null(espyTesterScene_GetShown(c.scene, espyTest_Main, &count));
    assert_int_equal(count, 0);

    for (int frame = 0; frame < 3; ++frame)
    {
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, seen));
        assert_false(espyTesterCase_IsShown(&c, behind));
        assert_false(espyTesterCase_IsShown(&c, beside));
        // A target without testers is never shown: hidden is the default.
        assert_false(espyTesterCase_IsShown(&c, lonely));
        assert_true(espyTesterCase_IsShown(&c, espyTest_None));
        assert_true(espyTesterCase_WasActive(&c, a));
        assert_false(espyTesterCase_WasActive(&c, b));
        assert_false(espyTesterCase_WasActive(&c, d));
        assert_int_equal(espyTesterCase_Stats(&c).outside, 1);
        const espyTesterTargetId* shown = espyTesterScene_GetShown(c.scene, espyTest_Main, &count);
        assert_int_equal(count, 1);
        assert_int_equal(shown[0].index1, seen.index1);
    }
    // The warning came once.
    assert_int_equal(c.messages, 1);
    assert_int_equal(c.lastMessage, espyMessageId_TesterLonely);
    assert_non_null(strstr(c.lastText, "1 targets"));
    espyTesterCase_Destroy(&c);
}

static void test_many_to_many(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    espyTesterTargetId first = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId both = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId last = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId open = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), first);
    espyTesterId shut = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 20, 1), last);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, open, both), espyResult_Ok);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, shut, both), espyResult_Ok);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, shut, both), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, first));
    assert_true(espyTesterCase_IsShown(&c, both));
    assert_false(espyTesterCase_IsShown(&c, last));
    // Any of them is enough, and one taken away leaves the other.
    assert_int_equal(espyTesterScene_RemoveTarget(c.scene, open, both), espyResult_Ok);
    assert_int_equal(espyTesterScene_RemoveTarget(c.scene, open, both), espyResult_NotFound);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, both));
    assert_true(espyTesterCase_IsShown(&c, first));
    c.eye = (espyVec3){0, 0, -30};
    c.look = (espyVec3){0, 0, -20};
    espyTesterCase_Run(&c);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, both));
    assert_true(espyTesterCase_IsShown(&c, last));
    assert_false(espyTesterCase_IsShown(&c, first));
    espyTesterCase_Destroy(&c);
}

static void test_hierarchy(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    // Chains of three targets in each other, each with a tester in the one before: one in sight, one behind a wall.
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{0, -60, -10.5f}, {60, 60, -10}});
    espyTesterTargetId chain[2][3];
    for (int side = 0; side < 2; ++side)
    {
        espyTesterTargetId parent = espyTest_None;
        for (int level = 0; level < 3; ++level)
        {
            chain[side][level] = espyTesterCase_Target(&c, parent, NULL);
            espyTesterCase_Tester(&c, parent, espyTest_Box(side == 0 ? -4.0f : 4.0f, 0, 20, 3.0f - (float)level),
                                  chain[side][level]);
            parent = chain[side][level];
        }
    }
    espyTesterCase_Run(&c);
    for (int level = 0; level < 3; ++level)
    {
        assert_true(espyTesterCase_IsShown(&c, chain[0][level]));
        assert_false(espyTesterCase_IsShown(&c, chain[1][level]));
    }
    // Of the hidden side only the outermost tester was asked: once a pass.
    espyTesterStats stats = espyTesterCase_Stats(&c);
    assert_int_equal(stats.passes, 4);
    assert_int_equal(stats.ids, 2 + 2 + 2 + 1);
    espyTesterCase_Destroy(&c);
}

static void test_drawn_when_all_around_are_active(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId outer = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId inner = espyTesterCase_Target(&c, outer, NULL);
    espyTesterId outerTester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, -9, 1), outer);
    espyTesterId innerTester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), inner);
    // The inner one is active, but waits for what is around it.
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, innerTester));
    assert_false(espyTesterCase_IsShown(&c, inner));
    assert_int_equal(espyTesterScene_SetTransform(c.scene, outerTester,
                                                  (espyMat4){{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, -18, 1}}),
                     espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, outer));
    assert_true(espyTesterCase_IsShown(&c, inner));
    // Moved out, it waits no more.
    assert_int_equal(espyTesterScene_SetTransform(c.scene, outerTester, espyMat4_Identity()), espyResult_Ok);
    assert_int_equal(espyTesterScene_SetTargetParent(c.scene, inner, espyTest_None), espyResult_Ok);
    espyTesterCase_Run(&c);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, outer));
    assert_true(espyTesterCase_IsShown(&c, inner));
    espyTesterCase_Destroy(&c);
}

/// What a tester shows hides the next one: found in turn in index mode, and let go by the next run in flag mode.
static void test_iteration(void** state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
    {
        espyTesterViewDef def = espyTesterCase_ViewDef();
        def.mode = (espyIdMode)mode;
        espyTesterCase c;
        espyTesterCase_Create(&c, &def, 0);
        espyTesterTargetId near = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId middle = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId far = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(10), near);
        espyTesterCase_Draw(&c, near, espyTest_Box(0, 0, 10.2f, 0.1f));
        espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(20), middle);
        espyTesterCase_Draw(&c, middle, espyTest_Wall(20.1f));
        espyTesterId last = espyTesterCase_Tester(&c, espyTest_None, espyTest_Wall(30), far);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, near));
        assert_true(espyTesterCase_IsShown(&c, middle));
        if (mode == espyIdMode_Index)
        {
            assert_false(espyTesterCase_IsShown(&c, far));
            assert_int_equal(espyTesterCase_Stats(&c).passes, 3);
        }
        else
        {
            // All in one pass; the next run knows better and asks for one more frame.
            assert_true(espyTesterCase_WasActive(&c, last));
            assert_int_equal(espyTesterCase_Stats(&c).passes, 1);
            assert_int_equal(espyTesterCase_Stats(&c).depthPasses, 1);
            espyTesterCase_Run(&c);
            assert_int_equal(espyTesterCase_Stats(&c).demoted, 1);
        }
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, near));
        assert_true(espyTesterCase_IsShown(&c, middle));
        assert_false(espyTesterCase_IsShown(&c, far));
        // Settled: one pass.
        assert_int_equal(espyTesterCase_Stats(&c).passes, 1);
        espyTesterCase_Destroy(&c);
    }
}

// --- force

static void test_force(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, espyTest_Wall(10));
    espyTesterTargetId room = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId hidden = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId chest = espyTesterCase_Target(&c, hidden, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 20, 1), room);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(4, 0, 20, 1), hidden);
    espyTesterId inHidden = espyTesterCase_Tester(&c, hidden, espyTest_Box(4, 0, 20, 1), chest);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    espyTesterViewId second;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &def, &second), espyResult_Ok);

    // In the main view where none is given; the other one knows nothing of it.
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, tester, true, espyTest_Main), espyResult_Ok);
    assert_true(espyTesterScene_IsForceActive(c.scene, tester, espyTest_Main));
    assert_false(espyTesterScene_IsForceActive(c.scene, tester, second));
    for (int frame = 0; frame < 3; ++frame)
    {
        espyTesterCase_Run(&c);
        espyTesterCase_RunView(&c, second);
        assert_true(espyTesterCase_IsShown(&c, room));
        assert_true(espyTesterCase_WasActive(&c, tester));
        assert_int_equal(espyTesterCase_Stats(&c).forced, 1);
        assert_false(espyTesterScene_IsShown(c.scene, room, second));
        assert_false(espyTesterScene_WasActiveLastFrame(c.scene, tester, second));
    }
    // Until it is taken back.
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, tester, false, espyTest_Main), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, room));
    assert_false(espyTesterCase_WasActive(&c, tester));

    // For one run: of the view that it was given for, however many frames pass.
    assert_int_equal(espyTesterScene_ForceOnce(c.scene, tester, second), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, room));
    espyTesterCase_RunView(&c, second);
    assert_true(espyTesterScene_IsShown(c.scene, room, second));
    assert_false(espyTesterScene_IsForceActive(c.scene, tester, second));
    espyTesterCase_RunView(&c, second);
    assert_false(espyTesterScene_IsShown(c.scene, room, second));
    // Once on top of held leaves held; false takes both.
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, tester, true, espyTest_Main), espyResult_Ok);
    assert_int_equal(espyTesterScene_ForceOnce(c.scene, tester, espyTest_Main), espyResult_Ok);
    espyTesterCase_Run(&c);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, room));
    assert_int_equal(espyTesterScene_ForceOnce(c.scene, tester, espyTest_Main), espyResult_Ok);
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, tester, false, espyTest_Main), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, room));

    // A forced tester in a target that is not shown counts as active; what it reveals waits for what is around it.
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, inHidden, true, espyTest_Main), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, inHidden));
    assert_false(espyTesterCase_IsShown(&c, chest));
    assert_int_equal(espyTesterScene_DestroyTester(c.scene, inHidden), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_int_equal(espyTesterCase_Stats(&c).forced, 0);
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, inHidden, true, espyTest_Main), espyResult_InvalidId);
    assert_int_equal(espyTesterScene_ForceOnce(c.scene, tester, (espyTesterViewId){9, 1}), espyResult_InvalidId);
    espyTesterCase_Destroy(&c);
}

/// A view that does not run keeps its answers and has no new events.
static void test_views_that_do_not_run(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), target);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    espyTesterViewId mirror;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &def, &mirror), espyResult_Ok);
    assert_false(espyTesterScene_WasActiveLastFrame(c.scene, tester, mirror));
    espyTesterCase_Run(&c);
    espyTesterCase_RunView(&c, mirror);
    c.look = (espyVec3){0, 0, 1};
    for (int frame = 0; frame < 3; ++frame)
    {
        espyTesterCase_Run(&c);
        assert_false(espyTesterCase_WasActive(&c, tester));
        assert_true(espyTesterScene_WasActiveLastFrame(c.scene, tester, mirror));
        assert_true(espyTesterScene_IsShown(c.scene, target, mirror));
    }
    uint32_t count;
    const espyTesterEvent* events = espyTesterScene_GetEvents(c.scene, mirror, &count);
    assert_int_equal(count, 1);
    assert_true(events[0].entered);
    espyTesterCase_RunView(&c, mirror);
    assert_false(espyTesterScene_WasActiveLastFrame(c.scene, tester, mirror));
    // Switched off, it shows nothing, and says so.
    c.look = (espyVec3){0, 0, -1};
    espyTesterCase_RunView(&c, mirror);
    assert_int_equal(espyTesterScene_ResetView(c.scene, mirror), espyResult_Ok);
    assert_false(espyTesterScene_WasActiveLastFrame(c.scene, tester, mirror));
    events = espyTesterScene_GetEvents(c.scene, mirror, &count);
    assert_int_equal(count, 1);
    assert_false(events[0].entered);
    assert_null(espyTesterScene_GetShown(c.scene, mirror, &count));
    espyTesterCase_RunView(&c, mirror);
    events = espyTesterScene_GetEvents(c.scene, mirror, &count);
    assert_int_equal(count, 1);
    assert_true(events[0].entered);
    assert_int_equal(espyTesterScene_GetStats(c.scene, mirror).seeded, 0);
    assert_int_equal(espyTesterScene_DestroyView(c.scene, mirror), espyResult_Ok);
    assert_int_equal(espyTesterScene_DestroyView(c.scene, mirror), espyResult_InvalidId);
    assert_int_equal(espyTesterScene_DestroyView(c.scene, espyTest_Main), espyResult_InvalidId);
    assert_false(espyTesterScene_WasActiveLastFrame(c.scene, tester, mirror));
    espyTesterCase_Destroy(&c);
}

static void test_events(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId left = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId right = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId gone = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(-20, 0, 5, 1), left);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(20, 0, 5, 1), right);
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(-20, 0, 5, 1), gone);
    uint32_t count;
    espyTesterCase_Run(&c);
    espyTesterScene_GetEvents(c.scene, espyTest_Main, &count);
    assert_int_equal(count, 0);
    c.look = (espyVec3){-20, 0, -5};
    espyTesterCase_Run(&c);
    const espyTesterEvent* events = espyTesterScene_GetEvents(c.scene, espyTest_Main, &count);
    assert_int_equal(count, 2);
    assert_true(events[0].entered && events[1].entered);
    espyTesterCase_Run(&c);
    espyTesterScene_GetEvents(c.scene, espyTest_Main, &count);
    assert_int_equal(count, 0);
    // A destroyed target leaves no event, and neither does the one that takes its place.
    assert_int_equal(espyTesterScene_DestroyTarget(c.scene, gone), espyResult_Ok);
    espyTesterTargetId next = espyTesterCase_Target(&c, espyTest_None, NULL);
    assert_int_equal(next.index1, gone.index1);
    c.look = (espyVec3){20, 0, -5};
    espyTesterCase_Run(&c);
    events = espyTesterScene_GetEvents(c.scene, espyTest_Main, &count);
    assert_int_equal(count, 2);
    assert_true(events[0].entered);
    assert_int_equal(events[0].target.index1, right.index1);
    assert_false(events[1].entered);
    assert_int_equal(events[1].target.index1, left.index1);
    assert_int_equal(espyTesterCase_Stats(&c).entered, 1);
    assert_int_equal(espyTesterCase_Stats(&c).exited, 1);
    espyTesterCase_Destroy(&c);
}

static void test_empty_testers(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    // Without targets: asked all the same.
    espyTesterId bare = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), espyTest_None);
    espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId empty = espyTesterCase_Tester(&c, espyTest_None, espyBox_Empty(), target);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, bare));
    assert_false(espyTesterCase_WasActive(&c, empty));
    assert_false(espyTesterCase_IsShown(&c, target));
    assert_int_equal(espyTesterScene_SetForceActive(c.scene, empty, true, espyTest_Main), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, target));
    // No testers, no targets, nothing at all.
    espyTesterCase_Destroy(&c);
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Run(&c);
    assert_int_equal(espyTesterCase_Stats(&c).passes, 0);
    assert_int_equal(espyTesterCase_Stats(&c).depthPasses, 1);
    espyTesterCase_Destroy(&c);
}

// --- cycles

static void test_cycles_are_refused(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId hall = espyTesterCase_Target(&c, espyTest_None, "hall");
    espyTesterTargetId chest = espyTesterCase_Target(&c, hall, "chest");
    espyTesterTargetId cave = espyTesterCase_Target(&c, espyTest_None, "cave");
    espyTesterTargetId pit = espyTesterCase_Target(&c, espyTest_None, NULL);
    assert_string_equal(espyTesterScene_GetCycle(c.scene), "");

    // Itself.
    espyTesterId inHall = espyTesterCase_Tester(&c, hall, espyTest_Box(0, 0, 5, 1), espyTest_None);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, inHall, hall), espyResult_InvalidArgument);
    assert_string_equal(espyTesterScene_GetCycle(c.scene), "hall > hall");
    assert_int_equal(c.lastMessage, espyMessageId_TesterCycle);
    assert_non_null(strstr(c.lastText, "hall > hall"));
    // One around it.
    espyTesterId inChest = espyTesterCase_Tester(&c, chest, espyTest_Box(0, 0, 5, 1), espyTest_None);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, inChest, hall), espyResult_InvalidArgument);
    assert_string_equal(espyTesterScene_GetCycle(c.scene), "hall > chest > hall");
    // Through others: chest reveals cave, cave reveals the pit, the pit would reveal the hall.
    assert_int_equal(espyTesterScene_AddTarget(c.scene, inChest, cave), espyResult_Ok);
    espyTesterCase_Tester(&c, cave, espyTest_Box(0, 0, 5, 1), pit);
    espyTesterId inPit = espyTesterCase_Tester(&c, pit, espyTest_Box(0, 0, 5, 1), espyTest_None);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, inPit, hall), espyResult_InvalidArgument);
    assert_string_equal(espyTesterScene_GetCycle(c.scene), "hall > chest > cave > #4 > hall");
    // By moving a target, and by moving a tester.
    assert_int_equal(espyTesterScene_SetTargetParent(c.scene, hall, chest), espyResult_InvalidArgument);
    assert_int_equal(espyTesterScene_SetTargetParent(c.scene, hall, hall), espyResult_InvalidArgument);
    assert_int_equal(espyTesterScene_SetTargetParent(c.scene, hall, pit), espyResult_InvalidArgument);
    espyTesterId free = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), chest);
    assert_int_equal(espyTesterScene_SetTesterParent(c.scene, free, pit), espyResult_InvalidArgument);
    assert_string_equal(espyTesterScene_GetCycle(c.scene), "chest > cave > #4 > chest");
    assert_int_equal(espyTesterScene_SetTesterParent(c.scene, free, hall), espyResult_Ok);
    uint32_t asserts = c.asserts;
    assert_true(asserts >= 6);

    // What was refused changed nothing: the chain opens from its top, and only there.
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, hall));
    espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), hall);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, hall));
    assert_true(espyTesterCase_IsShown(&c, chest));
    assert_true(espyTesterCase_IsShown(&c, cave));
    assert_true(espyTesterCase_IsShown(&c, pit));
    // With the link gone, the other way round is fine.
    assert_int_equal(espyTesterScene_RemoveTarget(c.scene, inChest, cave), espyResult_Ok);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, inPit, hall), espyResult_Ok);
    assert_int_equal(c.asserts, asserts);
    espyTesterCase_Destroy(&c);
}

// --- ids

static void test_ids(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId child = espyTesterCase_Target(&c, target, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, 5, 1), target);
    espyTesterId inner = espyTesterCase_Tester(&c, child, espyTest_Box(0, 0, 5, 1), espyTest_None);
    espyTesterDrawId draw = espyTesterCase_Draw(&c, child, espyTest_Box(0, 0, 5, 0.5f));
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, tester));
    assert_true(espyTesterScene_IsTester(c.scene, inner));
    // With a target goes what is in it.
    assert_int_equal(espyTesterScene_DestroyTarget(c.scene, target), espyResult_Ok);
    assert_false(espyTesterScene_IsTarget(c.scene, target));
    assert_false(espyTesterScene_IsTarget(c.scene, child));
    assert_false(espyTesterScene_IsTester(c.scene, inner));
    assert_true(espyTesterScene_IsTester(c.scene, tester));
    assert_int_equal(espyTesterScene_SetDrawTransform(c.scene, draw, espyMat4_Identity()), espyResult_InvalidId);
    assert_int_equal(espyTesterScene_AddTarget(c.scene, tester, target), espyResult_InvalidId);
    assert_int_equal(espyTesterScene_DestroyTarget(c.scene, target), espyResult_InvalidId);
    assert_int_equal(espyTesterScene_DestroyTarget(c.scene, espyTest_None), espyResult_InvalidId);
    // A new owner of the place has none of the answers.
    assert_int_equal(espyTesterScene_DestroyTester(c.scene, tester), espyResult_Ok);
    espyTesterTargetId next = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId nextTester = espyTesterCase_Tester(&c, espyTest_None, espyTest_Box(0, 0, -5, 1), next);
    assert_int_equal(nextTester.index1, tester.index1);
    assert_false(espyTesterCase_WasActive(&c, nextTester));
    assert_false(espyTesterCase_WasActive(&c, tester));
    assert_false(espyTesterCase_IsShown(&c, next));
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, next));
    assert_int_equal(espyTesterCase_Stats(&c).seeded, 0);

    // Arguments that are no use.
    espyTesterDef def = espyTesterDef_Default();
    def.parent = target;
    espyTesterId none;
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &none), espyResult_InvalidId);
    def.parent = espyTest_None;
    def.toWorld.m[5] = NAN;
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &none), espyResult_InvalidArgument);
    def.toWorld.m[5] = 1;
    def.bounds.max.x = INFINITY;
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &none), espyResult_InvalidArgument);
    assert_int_equal(none.index1, 0);
    espyTesterDef zero;
    memset(&zero, 0, sizeof zero);
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &zero, &none), espyResult_InvalidArgument);
    espyMat4 bad = espyMat4_Identity();
    bad.m[12] = INFINITY;
    assert_int_equal(espyTesterScene_SetTransform(c.scene, nextTester, bad), espyResult_InvalidArgument);
    assert_int_equal(espyTesterScene_SetMesh(c.scene, nextTester, (espyDeviceMesh){0}, def.bounds),
                     espyResult_InvalidArgument);
    espyTesterViewDef view = espyTesterCase_ViewDef();
    espyTesterViewId id;
    view.width = 0;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &view, &id), espyResult_InvalidArgument);
    view.width = 10;
    view.layers = 3;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &view, &id), espyResult_InvalidArgument);
    view.layers = 1;
    for (int i = 1; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        assert_int_equal(espyTesterScene_CreateView(c.scene, &view, &id), espyResult_Ok);
    }
    assert_int_equal(espyTesterScene_CreateView(c.scene, &view, &id), espyResult_LimitExceeded);
    espyTesterCase_Destroy(&c);
}

static void test_user_data(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetDef target = espyTesterTargetDef_Default();
    target.userData = 0x1234567890ull;
    espyTesterTargetId targetId;
    assert_int_equal(espyTesterScene_CreateTarget(c.scene, &target, &targetId), espyResult_Ok);
    espyTesterDef tester = espyTesterDef_Default();
    tester.userData = 77;
    tester.name = "t";
    espyTesterId testerId;
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &tester, &testerId), espyResult_Ok);
    assert_true(espyTesterScene_GetTargetUserData(c.scene, targetId) == 0x1234567890ull);
    assert_true(espyTesterScene_GetTesterUserData(c.scene, testerId) == 77);
    assert_true(espyTesterScene_GetTargetUserData(c.scene, espyTest_None) == 0);
    assert_true(espyTesterScene_GetTesterUserData(c.scene, (espyTesterId){5, 5}) == 0);
    espyTesterCase_Destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden_until_revealed),
        cmocka_unit_test(test_many_to_many),
        cmocka_unit_test(test_hierarchy),
        cmocka_unit_test(test_drawn_when_all_around_are_active),
        cmocka_unit_test(test_iteration),
        cmocka_unit_test(test_force),
        cmocka_unit_test(test_views_that_do_not_run),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_empty_testers),
        cmocka_unit_test(test_cycles_are_refused),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_user_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
