// SPDX-License-Identifier: MIT
// Views against their slow reference: frusta of every kind, near rectangles, cells, mirrors, stereo, bad matrices.
#include "pvs_case.h"
#include "reference/view_reference.h"
#include "test_main.h"
#include "view_case.h"

#include <espy/world.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const espyBox espyTestRoom = {{-50.0f, -10.0f, -50.0f}, {50.0f, 30.0f, 50.0f}};

static espyBox espyTest_RandomBox(espyiRng* rng, espyBox room)
{
    float size = room.max.x - room.min.x;
    float x = room.min.x + (espyiRng_Float(rng) * 2.0f - 0.5f) * size;
    float y = room.min.y + (espyiRng_Float(rng) * 2.0f - 0.5f) * size;
    float z = room.min.z + (espyiRng_Float(rng) * 2.0f - 0.5f) * size;
    float scale = espyiRng_Below(rng, 4) == 0 ? 0.0f : size * 0.1f;
    float w = espyiRng_Float(rng) * scale;
    float h = espyiRng_Float(rng) * scale;
    float d = espyiRng_Float(rng) * scale;
    return (espyBox){{x, y, z}, {x + w, y + h, z + d}};
}

/// Outside only where the reference finds all corners behind one plane, and always where it finds them clearly so.
static void espyTest_CheckFrustum(espyiRng* rng, espyBox room, uint32_t views, uint32_t boxes)
{
    uint32_t outside = 0, inside = 0;
    for (uint32_t i = 0; i < views; ++i)
    {
        espyViewDef def = espyViewCase_Random(rng, room);
        espyView view;
        espyView_Make(&view, &def, NULL);
        assert_int_equal(view.eyeCount, 1);
        for (uint32_t k = 0; k < boxes; ++k)
        {
            espyBox box = espyTest_RandomBox(rng, room);
            espyVisibility answer = espyView_TestBox(&view, box);
            double truth = espyViewReference_Outside(&def, box);
            if (answer == espyVisibility_Outside ? truth <= 0.0 : truth > 2e-4)
            {
                fail_msg("view %u box %u: answer %d, reference %g", i, k, (int)answer, truth);
            }
            outside += answer == espyVisibility_Outside ? 1u : 0u;
            inside += answer == espyVisibility_Visible ? 1u : 0u;
        }
    }
    // A test that only ever sees one answer tests nothing.
    assert_true(outside > views && inside > views);
}

static void frusta_match_the_reference(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(11);
    espyTest_CheckFrustum(&rng, espyTestRoom, 1500, 100);
}

static void frusta_match_the_reference_far_from_the_origin(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(12);
    espyBox room = {{15000.0f, 100.0f, -16000.0f}, {15400.0f, 400.0f, -15700.0f}};
    for (uint32_t i = 0; i < 300; ++i)
    {
        espyViewDef def = espyViewCase_Random(&rng, room);
        espyView view;
        espyView_Make(&view, &def, NULL);
        for (uint32_t k = 0; k < 100; ++k)
        {
            // Here the eye itself is only known to some centimetres: nothing that is inside may be lost.
            espyBox box = espyTest_RandomBox(&rng, room);
            if (espyView_TestBox(&view, box) == espyVisibility_Outside)
            {
                assert_true(espyViewReference_Outside(&def, box) > 0.0);
            }
        }
    }
}

static void boxes_of_no_use_are_unknown(void** state)
{
    (void)state;
    espyViewDef def = espyViewDef_Default();
    espyView view;
    espyView_Make(&view, &def, NULL);
    espyBox behind = {{-1, -1, 5}, {1, 1, 6}};
    assert_int_equal(espyView_TestBox(&view, behind), espyVisibility_Outside);
    assert_int_equal(espyView_TestBox(&view, espyBox_Empty()), espyVisibility_Unknown);
    espyBox bad = behind;
    bad.max.y = NAN;
    assert_int_equal(espyView_TestBox(&view, bad), espyVisibility_Unknown);
    bad = behind;
    bad.max.x = INFINITY;
    assert_int_equal(espyView_TestBox(&view, bad), espyVisibility_Unknown);
    // Finite and enormous: it surrounds the eye.
    espyBox all = {{-3e38f, -3e38f, -3e38f}, {3e38f, 3e38f, 3e38f}};
    assert_int_equal(espyView_TestBox(&view, all), espyVisibility_Visible);
}

static void matrices_of_no_use_see_everything(void** state)
{
    (void)state;
    espyBox behind = {{-1, -1, 5}, {1, 1, 6}};
    espyPvsCaseDef caseDef = espyPvsCaseDef_Default();
    caseDef.origin = (espyVec3){-5.0f, -4.0f, -5.0f};
    espyPvsCase made = espyPvsCase_Make(&caseDef);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, NULL), espyResult_Ok);
    for (int i = 0; i < 16 * 2 * 2 + 6; ++i)
    {
        espyViewDef def = espyViewDef_Default();
        espyMat4* m = i % 2 == 0 ? &def.view : &def.projection;
        if (i < 64)
        {
            m->m[i / 4] = i / 2 % 2 == 0 ? NAN : INFINITY;
        }
        else
        {
            static const float scales[3] = {0.0f, 1e-30f, 1e30f};
            for (int k = 0; k < 16; ++k)
            {
                m->m[k] *= scales[i / 2 % 3];
            }
        }
        espyView view;
        espyView_Make(&view, &def, NULL);
        int32_t cells[ESPY_VIEW_MAX_CELLS];
        if (i < 64)
        {
            assert_int_equal(view.eyeCount, 0);
            assert_int_equal(espyView_TestBox(&view, behind), espyVisibility_Visible);
            assert_int_equal(espyView_FindCells(&view, &pvs, (espyVec3){0}, cells), 0);
        }
        else if (view.eyeCount != 0)
        {
            // A projection by another factor is the same projection.
            assert_ptr_equal(m, &def.projection);
        }
    }
    espyView zeroed = {0};
    int32_t cells[ESPY_VIEW_MAX_CELLS];
    assert_int_equal(espyView_TestBox(&zeroed, behind), espyVisibility_Visible);
    assert_int_equal(espyView_FindCells(&zeroed, &pvs, (espyVec3){0}, cells), 0);
    espyPvs none = {0};
    espyViewDef def = espyViewDef_Default();
    espyView view;
    espyView_Make(&view, &def, NULL);
    assert_int_equal(espyView_FindCells(&view, &none, (espyVec3){0}, cells), 0);
    assert_int_not_equal(espyView_FindCells(&view, &pvs, (espyVec3){0}, cells), 0);
    espyVec3 bad = {NAN, 0, 0};
    assert_int_equal(espyView_FindCells(&view, &pvs, bad, cells), 0);
    espyPvsCase_Free(&made);
}

/// Between the reference as it is and the reference grown by more than any rounding.
static void espyTest_CheckCells(const espyPvs* pvs, const espyViewDef* def, espyVec3 offset, uint32_t found[3])
{
    enum
    {
        room = 64
    };
    espyView view;
    espyView_Make(&view, def, NULL);
    int32_t cells[ESPY_VIEW_MAX_CELLS], exact[room], grown[room];
    uint32_t count = espyView_FindCells(&view, pvs, offset, cells);
    int32_t exactCount = espyViewReference_FindCells(def, pvs, offset, 0.0, exact, room);
    int32_t grownCount = espyViewReference_FindCells(def, pvs, offset, 5e-3, grown, room);
    assert_true(count <= ESPY_VIEW_MAX_CELLS);
    if (count == 0)
    {
        assert_true(grownCount < 0 || grownCount > ESPY_VIEW_MAX_CELLS);
        ++found[0];
        return;
    }
    assert_true(exactCount > 0 && exactCount <= (int32_t)count);
    for (uint32_t i = 1; i < count; ++i)
    {
        assert_true(cells[i - 1] < cells[i]);
    }
    for (int32_t i = 0; i < exactCount; ++i)
    {
        bool has = false;
        for (uint32_t k = 0; k < count; ++k)
        {
            has = has || cells[k] == exact[i];
        }
        assert_true(has);
    }
    if (grownCount >= 0 && grownCount <= room)
    {
        for (uint32_t k = 0; k < count; ++k)
        {
            bool wanted = false;
            for (int32_t i = 0; i < grownCount; ++i)
            {
                wanted = wanted || cells[k] == grown[i];
            }
            assert_true(wanted);
        }
    }
    ++found[count == 1 ? 1 : 2];
}

static void cells_match_the_reference(void** state)
{
    (void)state;
    for (uint32_t variant = 0; variant < 4; ++variant)
    {
        espyPvsCaseDef caseDef = espyPvsCaseDef_Default();
        caseDef.seed = 5 + variant;
        caseDef.storedShare = variant % 2 == 0 ? 1.0f : 0.9f;
        espyPvsCase made = espyPvsCase_Make(&caseDef);
        espyPvs pvs;
        assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, NULL), espyResult_Ok);
        espyVec3 offset = variant < 2 ? (espyVec3){0, 0, 0} : (espyVec3){100.0f, -20.0f, 64.0f};
        espyBox room = {{pvs.origin.x + offset.x, pvs.origin.y + offset.y, pvs.origin.z + offset.z},
                        {pvs.origin.x + offset.x + (float)pvs.dims[0] * pvs.cellSize,
                         pvs.origin.y + offset.y + (float)pvs.dims[1] * pvs.cellSize,
                         pvs.origin.z + offset.z + (float)pvs.dims[2] * pvs.cellSize}};
        espyiRng rng = espyiRng_Seed(70 + variant);
        uint32_t found[3] = {0, 0, 0};
        for (uint32_t i = 0; i < 4000; ++i)
        {
            espyViewDef def = espyViewCase_Random(&rng, room);
            espyTest_CheckCells(&pvs, &def, offset, found);
        }
        assert_true(found[0] > 100 && found[1] > 100 && found[2] > 100);
        espyPvsCase_Free(&made);
    }
}

static void a_view_on_a_border_looks_from_both_sides(void** state)
{
    (void)state;
    espyPvsCaseDef caseDef = espyPvsCaseDef_Default();
    caseDef.origin = (espyVec3){0, 0, 0};
    caseDef.cellSize = 2.0f;
    caseDef.dims[0] = caseDef.dims[1] = caseDef.dims[2] = 4;
    espyPvsCase made = espyPvsCase_Make(&caseDef);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, NULL), espyResult_Ok);
    espyViewDef def = espyViewDef_Default();
    // Near rectangle in the plane z = 4, around (3, 3).
    def.view = espyViewCase_LookAlong((espyVec3){3.0f, 3.0f, 4.1f}, (espyVec3){0, 0, -1});
    espyView view;
    int32_t cells[ESPY_VIEW_MAX_CELLS];
    espyView_Make(&view, &def, NULL);
    assert_int_equal(espyView_FindCells(&view, &pvs, (espyVec3){0}, cells), 2);
    assert_int_equal(cells[0], 1 + 4 * (1 + 4 * 1));
    assert_int_equal(cells[1], 1 + 4 * (1 + 4 * 2));
    // On a corner of eight cells.
    def.view = espyViewCase_LookAlong((espyVec3){4.0f, 4.0f, 4.1f}, (espyVec3){0, 0, -1});
    espyView_Make(&view, &def, NULL);
    assert_int_equal(espyView_FindCells(&view, &pvs, (espyVec3){0}, cells), 8);
    // On the border of the volume, and just outside.
    def.view = espyViewCase_LookAlong((espyVec3){4.0f, 4.0f, 0.1f}, (espyVec3){0, 0, -1});
    espyView_Make(&view, &def, NULL);
    assert_int_equal(espyView_FindCells(&view, &pvs, (espyVec3){0}, cells), 0);
    espyPvsCase_Free(&made);
}

/// The union of what either eye sees.
static void stereo_is_the_union_of_its_eyes(void** state)
{
    (void)state;
    espyPvsCaseDef caseDef = espyPvsCaseDef_Default();
    espyPvsCase made = espyPvsCase_Make(&caseDef);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, NULL), espyResult_Ok);
    espyBox room = {{-3.5f, 1.25f, 10.0f}, {7.0f, 8.75f, 19.0f}};
    espyiRng rng = espyiRng_Seed(31);
    uint32_t unions = 0;
    for (uint32_t i = 0; i < 2000; ++i)
    {
        espyViewDef left = espyViewCase_Random(&rng, room);
        espyViewDef right = espyViewCase_Random(&rng, room);
        espyView both, one[2];
        espyView_Make(&both, &left, &right);
        espyView_Make(&one[0], &left, NULL);
        espyView_Make(&one[1], &right, NULL);
        int32_t cells[ESPY_VIEW_MAX_CELLS], of[2][ESPY_VIEW_MAX_CELLS];
        uint32_t count = espyView_FindCells(&both, &pvs, (espyVec3){0}, cells);
        uint32_t counts[2] = {espyView_FindCells(&one[0], &pvs, (espyVec3){0}, of[0]),
                              espyView_FindCells(&one[1], &pvs, (espyVec3){0}, of[1])};
        uint32_t wanted = 0;
        int32_t merged[2 * ESPY_VIEW_MAX_CELLS];
        for (int32_t cell = 0; cell < (int32_t)pvs.cellCount; ++cell)
        {
            bool has = false;
            for (uint32_t k = 0; k < counts[0] + counts[1]; ++k)
            {
                has = has || (k < counts[0] ? of[0][k] : of[1][k - counts[0]]) == cell;
            }
            if (has)
            {
                merged[wanted++] = cell;
            }
        }
        bool known = counts[0] > 0 && counts[1] > 0 && wanted <= ESPY_VIEW_MAX_CELLS;
        assert_int_equal(count, known ? wanted : 0);
        if (known)
        {
            assert_memory_equal(cells, merged, wanted * sizeof *cells);
            unions += wanted > counts[0] && wanted > counts[1] ? 1u : 0u;
        }
        for (uint32_t k = 0; k < 20; ++k)
        {
            espyBox box = espyTest_RandomBox(&rng, room);
            bool outside = espyView_TestBox(&one[0], box) == espyVisibility_Outside &&
                           espyView_TestBox(&one[1], box) == espyVisibility_Outside;
            assert_int_equal(espyView_TestBox(&both, box) == espyVisibility_Outside, outside);
        }
    }
    assert_true(unions > 50);
    espyPvsCase_Free(&made);
}

/// A mirror's picture of a point is where the reflected point would be seen: same clip coordinates, same frustum.
static void mirrors_see_what_a_reflected_world_shows(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(17);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 2000; ++i)
    {
        espyViewDef def = espyViewDef_Default();
        espyVec3 eye = {espyiRng_Float(&rng) * 20.0f, espyiRng_Float(&rng) * 3.0f, 1.0f + espyiRng_Float(&rng) * 20.0f};
        def.reversedZ = espyiRng_Below(&rng, 2) == 0;
        def.view = espyViewCase_LookAlong(eye, espyViewCase_Direction(&rng));
        def.projection =
            espyMat4_Perspective(1.2f, 1.5f, 0.1f, espyiRng_Below(&rng, 2) == 0 ? 0.0f : 200.0f, def.reversedZ);
        // The mirror hangs in the plane z = 0.5; its normal needs no unit length.
        espyPlane mirror = {{0.0f, 0.0f, 3.0f}, -1.5f};
        espyViewDef mirrored;
        if (!espyViewDef_Mirror(&def, mirror, &mirrored))
        {
            continue;
        }
        espyView plain, reflected;
        espyView_Make(&plain, &def, NULL);
        espyView_Make(&reflected, &mirrored, NULL);
        assert_true(fabsf(reflected.eyes[0].eye.z - (1.0f - eye.z)) < 1e-3f);
        for (uint32_t k = 0; k < 50; ++k)
        {
            espyVec3 p = {espyiRng_Float(&rng) * 40.0f - 10.0f, espyiRng_Float(&rng) * 20.0f - 10.0f,
                          espyiRng_Float(&rng) * 30.0f - 15.0f};
            espyVec3 other = {p.x, p.y, 1.0f - p.z};
            bool shown = espyView_TestBox(&reflected, (espyBox){p, p}) == espyVisibility_Visible;
            bool sideways = espyView_TestBox(&plain, (espyBox){other, other}) == espyVisibility_Visible;
            if (p.z < 0.49f)
            {
                // Behind the mirror, in its wall: clipped, however it lies in the frustum.
                assert_false(shown);
            }
            else if (p.z > 0.51f && fabsf(other.z - eye.z) > 0.3f && shown != sideways)
            {
                // Only rounding at a border plane may tell them apart.
                double a = espyViewReference_Outside(&mirrored, (espyBox){p, p});
                assert_true(fabs(a) < 1e-3);
            }
            kept += shown ? 1u : 0u;
        }
        // Lines of sight start on the mirror.
        for (int c = 0; reflected.hasRectangle && c < 4; ++c)
        {
            assert_true(fabsf(reflected.eyes[0].corners[c].z - 0.5f) <= reflected.eyes[0].cornerError + 1e-3f);
        }
    }
    assert_true(kept > 2000);
    espyViewDef def = espyViewDef_Default();
    espyViewDef out;
    // Behind the mirror, and no mirror at all.
    assert_false(espyViewDef_Mirror(&def, (espyPlane){{0, 0, 1}, -1.0f}, &out));
    assert_memory_equal(&out, &def, sizeof def);
    assert_false(espyViewDef_Mirror(&def, (espyPlane){{0, 0, 0}, 1.0f}, &out));
    assert_false(espyViewDef_Mirror(&def, (espyPlane){{NAN, 0, 0}, 1.0f}, &out));
    assert_false(espyViewDef_ClipNear(&def, (espyPlane){{0, 0, NAN}, 1.0f}));
    assert_memory_equal(&out, &def, sizeof def);
}

static void cameras_ignore_the_scale_of_their_node(void** state)
{
    (void)state;
    espyCamera camera = {.verticalFov = 1.0f, .aspect = 1.5f, .nearDistance = 0.1f, .farDistance = 100.0f};
    static const float turn[4] = {0.0f, 0.38268343f, 0.0f, 0.92387953f};
    espyMat4 plain = espyMat4_FromTrs((espyVec3){3, 2, 1}, turn, (espyVec3){1, 1, 1});
    espyMat4 scaled = espyMat4_FromTrs((espyVec3){3, 2, 1}, turn, (espyVec3){0.01f, 30.0f, 7.0f});
    espyViewDef a = espyViewDef_FromCamera(&camera, plain, false);
    espyViewDef b = espyViewDef_FromCamera(&camera, scaled, false);
    for (int i = 0; i < 16; ++i)
    {
        assert_true(fabsf(a.view.m[i] - b.view.m[i]) < 1e-5f);
    }
    espyView view;
    espyView_Make(&view, &a, NULL);
    assert_int_equal(view.eyeCount, 1);
    assert_true(fabsf(view.eyes[0].eye.x - 3.0f) < 1e-4f && fabsf(view.eyes[0].eye.z - 1.0f) < 1e-4f);
    scaled.m[0] = scaled.m[1] = scaled.m[2] = 0.0f;
    b = espyViewDef_FromCamera(&camera, scaled, false);
    espyView_Make(&view, &b, NULL);
    assert_int_equal(view.eyeCount, 0);
    // Orthographic cameras have an end even where none is set.
    camera.orthographic = true;
    camera.halfHeight = 5.0f;
    camera.farDistance = 0.0f;
    for (int reversed = 0; reversed < 2; ++reversed)
    {
        a = espyViewDef_FromCamera(&camera, plain, reversed != 0);
        espyView_Make(&view, &a, NULL);
        assert_true(view.eyeCount == 1 && view.hasRectangle);
    }
}

/// What world.h says of the picture of a camera, by its corners.
static void off_centre_cameras_span_what_they_say(void** state)
{
    (void)state;
    for (int i = 0; i < 4; ++i)
    {
        espyCamera camera = {.orthographic = i % 2 != 0, .verticalFov = 1.0f, .aspect = 1.5f, .halfHeight = 2.0f};
        camera.nearDistance = 0.5f;
        camera.farDistance = i < 2 ? 0.0f : 50.0f;
        camera.offsetX = 0.75f;
        camera.offsetY = -1.25f;
        espyViewDef def = espyViewDef_FromCamera(&camera, espyMat4_Identity(), i < 2);
        espyView view;
        espyView_Make(&view, &def, NULL);
        assert_true(view.hasRectangle);
        float h = camera.orthographic ? 2.0f : 0.5f * tanf(0.5f);
        const espyVec3* c = view.eyes[0].corners;
        assert_true(fabsf(c[0].x - 1.5f * h * (0.75f - 1.0f)) < 1e-5f && fabsf(c[2].x - 1.5f * h * 1.75f) < 1e-5f);
        assert_true(fabsf(c[0].y - h * (-1.25f - 1.0f)) < 1e-5f && fabsf(c[2].y - h * (-1.25f + 1.0f)) < 1e-5f);
        assert_true(fabsf(c[0].z + 0.5f) < 1e-5f && fabsf(c[2].z + 0.5f) < 1e-5f);
    }
}

static void projections_agree_with_the_c_library(void** state)
{
    (void)state;
    for (int i = 1; i < 3141; ++i)
    {
        float fov = (float)i * 0.001f;
        espyMat4 m = espyMat4_Perspective(fov, 1.0f, 0.1f, 0.0f, false);
        double wanted = 1.0 / tan((double)fov * 0.5);
        assert_true(fabs((double)m.m[5] - wanted) <= 4e-7 * wanted + 4e-8);
    }
    static const float bad[][4] = {{0, 1, 0.1f, 0},     {4, 1, 0.1f, 0}, {1, 0, 0.1f, 0}, {1, 1, 0, 0},
                                   {1, 1, 0.1f, 0.05f}, {1, 1, -1, 0},   {1, 1, 0.1f, -5}};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(bad); ++i)
    {
        espyViewDef def = espyViewDef_Default();
        def.projection = espyMat4_Perspective(bad[i][0], bad[i][1], bad[i][2], bad[i][3], false);
        espyView view;
        espyView_Make(&view, &def, NULL);
        assert_false(view.hasRectangle);
        espyBox behind = {{-1, -1, 5}, {1, 1, 6}};
        assert_int_equal(espyView_TestBox(&view, behind), espyVisibility_Visible);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frusta_match_the_reference),
        cmocka_unit_test(frusta_match_the_reference_far_from_the_origin),
        cmocka_unit_test(boxes_of_no_use_are_unknown),
        cmocka_unit_test(matrices_of_no_use_see_everything),
        cmocka_unit_test(cells_match_the_reference),
        cmocka_unit_test(a_view_on_a_border_looks_from_both_sides),
        cmocka_unit_test(stereo_is_the_union_of_its_eyes),
        cmocka_unit_test(mirrors_see_what_a_reflected_world_shows),
        cmocka_unit_test(cameras_ignore_the_scale_of_their_node),
        cmocka_unit_test(off_centre_cameras_span_what_they_say),
        cmocka_unit_test(projections_agree_with_the_c_library),
    };
    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
