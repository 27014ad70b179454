// SPDX-License-Identifier: MIT
// Faults that people met in other visibility systems, as they would show with tester meshes.
#include "test_main.h"

#include <math.h>
#include <string.h>

#include "tester_case.h"

static const espyTesterTargetId espyTest_None = {0, 0};
static const espyTesterViewId espyTest_Main = {0, 0};

/// Half-covered cube, the camera almost touching the one in front.
static void report_03_half_covered_cube_close_by(void** state)
{
    (void)state;
    for (float offset = 0.1f; offset < 9.0f; offset += 0.4f)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-10, -5, -5.2f}, {0.0f, 5, -0.2f}});
        espyTesterTargetId half = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId whole = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{offset - 9.0f, -4, -16}, {offset, 4, -8}}, half);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-9.0f, -4, -16}, {-1.0f, 4, -8}}, whole);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, half));
        assert_false(espyTesterCase_IsShown(&c, whole));
        espyTesterCase_Destroy(&c);
    }
}

/// Orthographic: zoom alone changes nothing.
static void report_05_orthographic_zoom(void** state)
{
    (void)state;
    for (float zoom = 3.0f; zoom < 60.0f; zoom *= 1.6f)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        c.lens.orthographic = true;
        c.lens.halfHeight = zoom;
        c.lens.farDistance = 500;
        c.eye = (espyVec3){0, 0, 20};
        c.look = (espyVec3){0, 0, 0};
        espyTesterTargetId front = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterTargetId back = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-10, -10, -1}, {10, 10, 0}});
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-0.4f, -0.2f, -5}, {0.4f, 0.2f, -3}}, back);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-0.4f, -0.2f, 1}, {0.4f, 0.2f, 3}}, front);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, front));
        assert_false(espyTesterCase_IsShown(&c, back));
        espyTesterCase_Destroy(&c);
    }
}

/// Wall, box 0.1 behind it, camera near and very far: contact and distance do not switch culling off.
static void report_09_hidden_box_that_nearly_touches(void** state)
{
    (void)state;
    for (float distance = 1; distance < 3000; distance *= 2)
    {
        espyTesterViewDef def = espyTesterCase_ViewDef();
        def.reversedZ = true;
        espyTesterCase c;
        espyTesterCase_Create(&c, &def, 0);
        c.eye = (espyVec3){0, 0, distance};
        espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-40, -40, -1}, {40, 40, 0}});
        espyTesterTargetId hidden = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-12, -12, -25.1f}, {12, 12, -1.1f}}, hidden);
        espyTesterCase_Run(&c);
        // Beyond 900 m it is less than two pixels wide, and its footprint reaches out of the wall: shown is right, too.
        assert_true(distance > 900 || !espyTesterCase_IsShown(&c, hidden));
        espyTesterCase_Destroy(&c);
    }
}

/// Room A with two doors to room B, an object in B: seen by either, whatever the order.
static void report_13_room_seen_through_two_doorways(void** state)
{
    (void)state;
    for (int order = 0; order < 2; ++order)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        c.lens.halfHeight = 0.4f;
        // The wall between the rooms, with openings around x = -4 and x = 4.
        static const float edges[3][2] = {{-40, -5}, {-3, 3}, {5, 40}};
        for (int i = 0; i < 3; ++i)
        {
            espyTesterCase_Draw(&c, espyTest_None, (espyBox){{edges[i][0], -10, -10.2f}, {edges[i][1], 10, -10}});
        }
        espyTesterTargetId roomB = espyTesterCase_Target(&c, espyTest_None, "B");
        espyTesterTargetId object = espyTesterCase_Target(&c, roomB, "object");
        espyTesterId doors[2];
        for (int i = 0; i < 2; ++i)
        {
            float x = (i == order) ? -4.0f : 4.0f;
            doors[i] =
                espyTesterCase_Tester(&c, espyTest_None, (espyBox){{x - 1, -2, -10.15f}, {x + 1, 2, -10.05f}}, roomB);
        }
        espyTesterCase_Tester(&c, roomB, (espyBox){{-30, -3, -30}, {30, 3, -10.5f}}, object);
        bool both = false;
        for (float x = -20; x <= 20; x += 0.25f)
        {
            c.eye = (espyVec3){x, 0, 0};
            c.look = (espyVec3){x, 0, -1};
            espyTesterCase_Run(&c);
            bool first = espyTesterCase_WasActive(&c, doors[0]), second = espyTesterCase_WasActive(&c, doors[1]);
            assert_int_equal(espyTesterCase_IsShown(&c, roomB), first || second);
            assert_int_equal(espyTesterCase_IsShown(&c, object), first || second);
            // A door within the view, in front of its own opening, is seen.
            assert_true(fabsf(x) > 8 || first || second);
            both = both || (first && second);
        }
        assert_true(both);
        espyTesterCase_Destroy(&c);
    }
}

/// The camera in 1 cm steps through a doorway between two rooms: at every step at least the room that it is in and the
/// one that it looks into.
static void report_17_crossing_between_rooms(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-20, -5, -0.1f}, {-1, 5, 0.1f}});
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{1, -5, -0.1f}, {20, 5, 0.1f}});
    espyTesterTargetId near = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId far = espyTesterCase_Target(&c, espyTest_None, NULL);
    // The rooms leave a strip of 20 cm between them that belongs to neither.
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-10, -3, 0.1f}, {10, 3, 10}}, near);
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-10, -3, -10}, {10, 3, -0.1f}}, far);
    for (int step = 0; step < 300; ++step)
    {
        float z = 1.5f - 0.01f * (float)step;
        c.eye = (espyVec3){0, 0, z};
        c.look = (espyVec3){0, 0, z - 1};
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, far));
        assert_true(z < 0.1f || espyTesterCase_IsShown(&c, near));
        c.look = (espyVec3){0, 0, z + 1};
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, near));
        assert_true(z > -0.1f || espyTesterCase_IsShown(&c, far));
    }
    espyTesterCase_Destroy(&c);
}

/// Made in front of the camera, shown by the very next run.
static void report_19_new_object_in_its_first_frame(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    for (int frame = 0; frame < 20; ++frame)
    {
        espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, -6}, {1, 1, -4}}, target);
        espyTesterCase_Run(&c);
        assert_true(espyTesterCase_IsShown(&c, target));
        uint32_t count;
        const espyTesterEvent* events = espyTesterScene_GetEvents(c.scene, espyTest_Main, &count);
        assert_int_equal(count, 1);
        assert_true(events[0].entered);
    }
    espyTesterCase_Destroy(&c);
}

/// The same answers from any number of threads of the device.
static void report_21_threads_do_not_matter(void** state)
{
    (void)state;
    uint32_t shown[2][2000], counts[2];
    for (int threaded = 0; threaded < 2; ++threaded)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        int threads = 8;
        espySoftDeviceDef soft = espySoftDeviceDef_Default();
        soft.tasks = (espyTasks){espyRasterCase_ParallelFor, &threads, 8};
        espyDevice device;
        assert_int_equal(espySoftDevice_Create(&soft, &device), espyResult_Ok);
        if (threaded)
        {
            assert_int_equal(espyTesterScene_SetDevice(c.scene, &device), espyResult_Ok);
            espyDevice swap = c.device;
            c.device = device;
            device = swap;
        }
        espyiRng rng = espyiRng_Seed(21);
        for (int i = 0; i < 2000; ++i)
        {
            espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
            espyVec3 p = {40 * espyiRng_Float(&rng) - 20, 20 * espyiRng_Float(&rng) - 10,
                          -5 - 40 * espyiRng_Float(&rng)};
            espyTesterCase_Tester(&c, espyTest_None, espyBox_Grow((espyBox){p, p}, 0.6f), target);
            espyTesterCase_Draw(&c, target, espyBox_Grow((espyBox){p, p}, 0.5f));
        }
        espyTesterCase_Run(&c);
        const espyTesterTargetId* ids = espyTesterScene_GetShown(c.scene, espyTest_Main, &counts[threaded]);
        for (uint32_t i = 0; i < counts[threaded]; ++i)
        {
            shown[threaded][i] = (uint32_t)ids[i].index1;
        }
        espyTesterCase_Destroy(&c);
        espySoftDevice_Destroy(&device);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_true(counts[0] > 100 && counts[0] < 1900);
    assert_memory_equal(shown[0], shown[1], counts[0] * sizeof shown[0][0]);
}

/// A box under a grate with holes.
static void report_23_masked_grate_hides_nothing(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterDrawDef def = espyTesterDrawDef_Default();
    def.toWorld = espyTesterCase_BoxTransform((espyBox){{-20, -20, -5.1f}, {20, 20, -5}});
    def.material = espyMaterialClass_Masked;
    espyTesterDrawId grate;
    assert_int_equal(espyTesterScene_CreateDraw(c.scene, &def, &grate), espyResult_Ok);
    espyTesterTargetId pit = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, -12}, {1, 1, -10}}, pit);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, pit));
    espyTesterCase_Destroy(&c);
}

/// More targets and testers than 16 bits count, and 300 in one target.
static void report_25_counts_beyond_16_bits(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-500, -500, -30}, {500, 500, -29}});
    espyTesterTargetId group = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-5, -5, -25}, {5, 5, -24}}, group);
    espyTesterTargetId last = {0, 0};
    for (int i = 0; i < 300; ++i)
    {
        last = espyTesterCase_Target(&c, group, NULL);
        float x = (float)(i % 20) * 0.4f - 4, y = (float)(i / 20) * 0.4f - 3;
        espyTesterCase_Tester(&c, group, (espyBox){{x, y, -24.9f}, {x + 0.3f, y + 0.3f, -24.1f}}, last);
    }
    espyTesterTargetId far = {0, 0};
    for (int i = 0; i < 70000; ++i)
    {
        far = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, -40}, {1, 1, -39}}, far);
    }
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, last));
    assert_false(espyTesterCase_IsShown(&c, far));
    assert_int_equal(espyTesterCase_Stats(&c).targetsShown, 301);
    assert_int_equal(c.messages, 0);
    espyTesterCase_Destroy(&c);
}

/// A mesh 10 m away from its own origin.
static void report_27_bounds_away_from_the_pivot(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyVec3 positions[8];
    uint32_t indices[36];
    espyBox box = {{9, 9, 9}, {11, 11, 11}};
    espyRasterCase_Box(box, positions, indices);
    espyTriangles triangles = {positions, indices, 8, 12};
    espyDeviceMesh mesh;
    assert_int_equal(c.device.createMesh(c.device.context, &triangles, false, &mesh), espyResult_Ok);
    espyTesterDef def = espyTesterDef_Default();
    def.mesh = mesh;
    def.bounds = box;
    // Its pivot is behind the camera and beside it, the mesh ahead; and the other way round.
    def.toWorld.m[12] = def.toWorld.m[13] = -10;
    def.toWorld.m[14] = -15;
    espyTesterId ahead, behind;
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &ahead), espyResult_Ok);
    def.toWorld.m[12] = def.toWorld.m[13] = 0;
    def.toWorld.m[14] = -5;
    assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &behind), espyResult_Ok);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_WasActive(&c, ahead));
    assert_false(espyTesterCase_WasActive(&c, behind));
    espyTesterCase_Destroy(&c);
}

/// Main camera and a mirrored one: neither writes to the other's state.
static void report_29_each_view_its_own(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.width = 77;
    def.height = 33;
    def.reversedZ = true;
    espyTesterViewId mirror;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &def, &mirror), espyResult_Ok);
    espyTesterTargetId front = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterTargetId back = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId a = espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, -6}, {1, 1, -4}}, front);
    espyTesterId b = espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, 4}, {1, 1, 6}}, back);
    for (int frame = 0; frame < 6; ++frame)
    {
        c.lens.reversedZ = frame % 2 == 1;
        c.look = (espyVec3){0, 0, frame % 2 == 1 ? 1.0f : -1.0f};
        espyTesterCase_RunView(&c, frame % 2 == 1 ? mirror : espyTest_Main);
        assert_true(espyTesterCase_WasActive(&c, a));
        assert_false(espyTesterCase_WasActive(&c, b));
        assert_int_equal(espyTesterScene_WasActiveLastFrame(c.scene, a, mirror), false);
        assert_int_equal(espyTesterScene_WasActiveLastFrame(c.scene, b, mirror), frame > 0);
        assert_int_equal(espyTesterCase_IsShown(&c, back), false);
        assert_int_equal(espyTesterScene_IsShown(c.scene, front, mirror), frame == 0);
    }
    espyTesterCase_Destroy(&c);
}

/// An enemy behind a wall whose shadow is in view: a shadow view's answers are its own.
static void report_33_shadows_do_not_count(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-50, -50, -10.5f}, {50, 50, -10}});
    espyTesterTargetId enemy = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, -16}, {1, 1, -14}}, enemy);
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.shadow = true;
    espyTesterViewId sun;
    assert_int_equal(espyTesterScene_CreateView(c.scene, &def, &sun), espyResult_Ok);
    espyTesterCase_Run(&c);
    espyTesterCase_RunView(&c, sun);
    assert_false(espyTesterCase_WasActive(&c, tester));
    assert_true(espyTesterScene_WasActiveLastFrame(c.scene, tester, sun));
    espyTesterCase_Destroy(&c);
}

/// Sizes that are no powers of two, small testers at pixels all over the screen.
static void report_37_odd_sizes(void** state)
{
    (void)state;
    espyTesterViewDef def = espyTesterCase_ViewDef();
    def.width = 1013;
    def.height = 617;
    espyTesterCase c;
    espyTesterCase_Create(&c, &def, 0);
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-400, -400, -201}, {400, 400, -200}});
    espyTesterId testers[1200];
    float halfX = 0.6f * 1013.0f / 617.0f * 100, halfY = 0.6f * 100;
    for (int i = 0; i < 1200; ++i)
    {
        // A pixel at 100 m is 0.19 m.
        float x = halfX * ((float)(i % 40) / 19.5f - 1) * 0.9999f, y = halfY * ((float)(i / 40) / 14.5f - 1) * 0.9999f;
        testers[i] = espyTesterCase_Tester(&c, espyTest_None,
                                           (espyBox){{x - 0.02f, y - 0.02f, -100.02f}, {x + 0.02f, y + 0.02f, -100}},
                                           espyTest_None);
    }
    espyTesterCase_Run(&c);
    for (int i = 0; i < 1200; ++i)
    {
        assert_true(espyTesterCase_WasActive(&c, testers[i]));
    }
    espyTesterCase_Destroy(&c);
}

/// A new tester in the place of an old one has none of its answers, and is found in its first frame.
static void report_39_recycled_places(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-50, -50, -10.5f}, {50, 50, -10}});
    for (int round = 0; round < 8; ++round)
    {
        espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
        bool open = round % 2 == 0;
        espyBox box = open ? (espyBox){{-1, -1, -6}, {1, 1, -4}} : (espyBox){{-1, -1, -16}, {1, 1, -14}};
        espyTesterId tester = espyTesterCase_Tester(&c, espyTest_None, box, target);
        assert_int_equal(tester.index1, 1);
        assert_false(espyTesterCase_WasActive(&c, tester));
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_WasActive(&c, tester), open);
        assert_int_equal(espyTesterCase_IsShown(&c, target), open);
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterScene_DestroyTester(c.scene, tester), espyResult_Ok);
        assert_int_equal(espyTesterScene_DestroyTarget(c.scene, target), espyResult_Ok);
        assert_false(espyTesterCase_WasActive(&c, tester));
    }
    espyTesterCase_Destroy(&c);
}

/// A tester box from all 26 directions and from inside, both depth directions.
static void report_41_every_side(void** state)
{
    (void)state;
    for (int reversed = 0; reversed < 2; ++reversed)
    {
        espyTesterViewDef def = espyTesterCase_ViewDef();
        def.reversedZ = reversed != 0;
        espyTesterCase c;
        espyTesterCase_Create(&c, &def, 0);
        espyTesterTargetId target = espyTesterCase_Target(&c, espyTest_None, NULL);
        espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, -1}, {1, 1, 1}}, target);
        for (int i = 0; i < 27; ++i)
        {
            espyVec3 d = {(float)(i % 3) - 1, (float)(i / 3 % 3) - 1, (float)(i / 9) - 1};
            for (float distance = 1.5f; distance < 2000; distance *= 3)
            {
                c.eye = (espyVec3){d.x * distance, d.y * distance, d.z * distance};
                c.look = i == 13 ? (espyVec3){0.3f, 0.2f, -1} : (espyVec3){0, 0, 0};
                assert_int_equal(espyTesterScene_ResetView(c.scene, espyTest_Main), espyResult_Ok);
                espyTesterCase_Run(&c);
                assert_true(espyTesterCase_IsShown(&c, target));
            }
        }
        espyTesterCase_Destroy(&c);
    }
}

/// Turned by 180 degrees in one frame, and back: what is ahead is shown at once.
static void report_43_turning_around(void** state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
    {
        espyTesterViewDef def = espyTesterCase_ViewDef();
        def.mode = (espyIdMode)mode;
        espyTesterCase c;
        espyTesterCase_Create(&c, &def, 0);
        espyTesterTargetId sides[2];
        for (int i = 0; i < 2; ++i)
        {
            float z = i == 0 ? -5.0f : 5.0f;
            sides[i] = espyTesterCase_Target(&c, espyTest_None, NULL);
            espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -1, z - 1}, {1, 1, z + 1}}, sides[i]);
        }
        for (int frame = 0; frame < 12; ++frame)
        {
            int side = frame / 3 % 2;
            c.look = (espyVec3){0, 0, side == 0 ? -1.0f : 1.0f};
            espyTesterCase_Run(&c);
            assert_true(espyTesterCase_IsShown(&c, sides[side]));
            assert_false(espyTesterCase_IsShown(&c, sides[1 - side]));
        }
        espyTesterCase_Destroy(&c);
    }
}

/// Third person: the camera 5 m behind the player decides, and no centre ray.
static void report_45_the_eye_decides(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    // The player at the origin looks into a wall; the camera looks over it. Of the object only a corner stands out.
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-3, -10, -1.2f}, {3, 0.5f, -1}});
    espyTesterTargetId object = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, -2, -9}, {1, 0.4f, -8}}, object);
    espyTesterCase_Run(&c);
    assert_false(espyTesterCase_IsShown(&c, object));
    c.eye = (espyVec3){0, 2.0f, 5};
    c.look = (espyVec3){0, 0, -8};
    for (float y = 2.0f; y > 0.55f; y -= 0.05f)
    {
        c.eye.y = y;
        espyTesterCase_Run(&c);
        // The line from the eye over the wall's far edge at (0.5, -1.2) meets z = -8 here; two pixels are 0.35 m there.
        float height = y + (0.5f - y) / 6.2f * 13.0f;
        assert_true(height > 0.05f || espyTesterCase_IsShown(&c, object));
    }
    espyTesterCase_Destroy(&c);
}

/// A flat tester through the near plane, orthographic and perspective.
static void report_47_through_the_near_plane(void** state)
{
    (void)state;
    for (int ortho = 0; ortho < 2; ++ortho)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        c.lens.orthographic = ortho != 0;
        c.lens.farDistance = 100;
        c.lens.halfHeight = ortho ? 3.0f : 0.6f;
        for (float y = -1; y <= 1; y += 0.1f)
        {
            espyTesterId tester =
                espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-1, y, -5}, {1, y, 3}}, espyTest_None);
            espyTesterCase_Run(&c);
            assert_true(espyTesterCase_WasActive(&c, tester));
            assert_int_equal(espyTesterScene_DestroyTester(c.scene, tester), espyResult_Ok);
        }
        espyTesterCase_Destroy(&c);
    }
}

/// No testers, one, a few; bounds of a point; all of them empty; NaN is refused.
static void report_49_degenerate_testers(void** state)
{
    (void)state;
    for (int count = 0; count < 41; ++count)
    {
        espyTesterCase c;
        espyTesterCase_Create(&c, NULL, 0);
        for (int i = 0; i < count; ++i)
        {
            float x = (float)(i % 8) * 0.3f - 1, y = (float)(i / 8) * 0.3f - 1;
            espyTesterCase_Tester(&c, espyTest_None, (espyBox){{x, y, -5}, {x, y, -5}}, espyTest_None);
            espyTesterCase_Tester(&c, espyTest_None, espyBox_Empty(), espyTest_None);
        }
        espyTesterDef def = espyTesterDef_Default();
        def.bounds.min.y = NAN;
        espyTesterId id;
        assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &id), espyResult_InvalidArgument);
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_Stats(&c).active, count);
        // A transform that flattens everything to a point.
        memset(&def.toWorld, 0, sizeof def.toWorld);
        def.toWorld.m[14] = -5;
        def.toWorld.m[15] = 1;
        def.bounds.min.y = -1;
        assert_int_equal(espyTesterScene_CreateTester(c.scene, &def, &id), espyResult_Ok);
        espyTesterCase_Run(&c);
        assert_int_equal(espyTesterCase_Stats(&c).active, count + 1);
        espyTesterCase_Destroy(&c);
    }
}

/// Two walls that meet hide what is behind their joint.
static void report_51_walls_that_meet(void** state)
{
    (void)state;
    espyTesterCase c;
    espyTesterCase_Create(&c, NULL, 0);
    espyTesterTargetId room = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-60, -60, -11}, {60, 60, -9}}, room);
    espyTesterCase_Draw(&c, espyTest_None, (espyBox){{-60, -60, -10.5f}, {0.37f, 60, -10}});
    espyTesterCase_Draw(&c, room, (espyBox){{0.37f, -60, -10.5f}, {60, 60, -10}});
    espyTesterTargetId behind = espyTesterCase_Target(&c, espyTest_None, NULL);
    espyTesterCase_Tester(&c, espyTest_None, (espyBox){{-0.3f, -1, -16}, {1, 1, -14}}, behind);
    espyTesterCase_Run(&c);
    assert_true(espyTesterCase_IsShown(&c, room));
    assert_false(espyTesterCase_IsShown(&c, behind));
    espyTesterCase_Destroy(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_03_half_covered_cube_close_by),
        cmocka_unit_test(report_05_orthographic_zoom),
        cmocka_unit_test(report_09_hidden_box_that_nearly_touches),
        cmocka_unit_test(report_13_room_seen_through_two_doorways),
        cmocka_unit_test(report_17_crossing_between_rooms),
        cmocka_unit_test(report_19_new_object_in_its_first_frame),
        cmocka_unit_test(report_21_threads_do_not_matter),
        cmocka_unit_test(report_23_masked_grate_hides_nothing),
        cmocka_unit_test(report_25_counts_beyond_16_bits),
        cmocka_unit_test(report_27_bounds_away_from_the_pivot),
        cmocka_unit_test(report_29_each_view_its_own),
        cmocka_unit_test(report_33_shadows_do_not_count),
        cmocka_unit_test(report_37_odd_sizes),
        cmocka_unit_test(report_39_recycled_places),
        cmocka_unit_test(report_41_every_side),
        cmocka_unit_test(report_43_turning_around),
        cmocka_unit_test(report_45_the_eye_decides),
        cmocka_unit_test(report_47_through_the_near_plane),
        cmocka_unit_test(report_49_degenerate_testers),
        cmocka_unit_test(report_51_walls_that_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
