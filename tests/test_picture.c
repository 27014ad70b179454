// SPDX-License-Identifier: MIT
// Pictures: what covers what, ghosts, cuts and lines, on scenes of a few squares.
#include "test_main.h"

#include <string.h>

#include <espy/audit.h>

#include "core/core.h"

#define ESPY_SIDE 32u

typedef struct espyStage
{
    espyVec3 positions[64];
    uint32_t indices[96], surfaceOf[32];
    espyPictureSurface surfaces[8];
    espyPictureScene scene;
} espyStage;

static void espyStage_Begin(espyStage* stage)
{
    memset(stage, 0, sizeof *stage);
    stage->scene = (espyPictureScene){{stage->positions, stage->indices, 0, 0},
                                      stage->surfaceOf,
                                      stage->surfaces,
                                      ESPYI_ARRAY_COUNT(stage->surfaces)};
}

/// A square of side 2 * half in the plane z, or y where `level`, facing +z or +y.
static void espyStage_Square(espyStage* stage, uint32_t surface, float half, float at, bool level)
{
    espyTriangles* mesh = &stage->scene.triangles;
    uint32_t v = mesh->vertexCount, t = mesh->triangleCount;
    for (uint32_t c = 0; c < 4; ++c)
    {
        float a = c == 1 || c == 2 ? half : -half, b = c >= 2 ? half : -half;
        stage->positions[v + c] = level ? (espyVec3){a, at, -b} : (espyVec3){a, b, at};
    }
    const uint32_t corners[6] = {v, v + 1, v + 2, v, v + 2, v + 3};
    memcpy(stage->indices + 3 * t, corners, sizeof corners);
    stage->surfaceOf[t] = surface;
    stage->surfaceOf[t + 1] = surface;
    mesh->vertexCount += 4;
    mesh->triangleCount += 2;
}

static espyPictureDef espyTest_Def(void)
{
    espyPictureDef def = espyPictureDef_Default();
    def.eye = (espyVec3){0.0f, 0.0f, 5.0f};
    def.target = (espyVec3){0.0f, 0.0f, 0.0f};
    def.orthographic = true;
    def.halfHeight = 2.0f;
    def.width = ESPY_SIDE;
    def.height = ESPY_SIDE;
    def.toSun = (espyVec3){0.0f, 0.2f, 1.0f};
    def.skyColor = def.horizonColor = 0x0000FFu;
    def.threads = 1;
    return def;
}

static void espyTest_Draw(const espyStage* stage, const espyPictureDef* def, uint8_t* rgb)
{
    memset(rgb, 0xAA, 3 * ESPY_SIDE * ESPY_SIDE);
    assert_int_equal(espyPicture_Render(&stage->scene, def, rgb), espyResult_Ok);
}

static const uint8_t* espyTest_Pixel(const uint8_t* rgb, uint32_t x, uint32_t y)
{
    return rgb + 3 * (y * ESPY_SIDE + x);
}

static bool espyTest_IsMostly(const uint8_t* pixel, uint32_t channel)
{
    return pixel[channel] > 2 * pixel[(channel + 1) % 3] && pixel[channel] > 2 * pixel[(channel + 2) % 3];
}

static void espyTest_NearCoversFar(void** state)
{
    (void)state;
    uint8_t rgb[3 * ESPY_SIDE * ESPY_SIDE];
    espyStage stage;
    espyStage_Begin(&stage);
    stage.surfaces[0].color = 0xFF0000u;
    stage.surfaces[1].color = 0x00FF00u;
    espyStage_Square(&stage, 0, 1.0f, 0.0f, false);
    espyStage_Square(&stage, 1, 0.5f, 1.0f, false);
    for (uint32_t perspective = 0; perspective < 2; ++perspective)
    {
        espyPictureDef def = espyTest_Def();
        def.orthographic = perspective == 0;
        espyTest_Draw(&stage, &def, rgb);
        assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 16), 1));
        assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, perspective == 0 ? 10 : 12, 16), 0));
        assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 1, 1), 2));
    }
    // The near square is 8 pixels wide, the far one 16.
    espyPictureDef def = espyTest_Def();
    espyTest_Draw(&stage, &def, rgb);
    uint32_t red = 0, green = 0, blue = 0;
    for (uint32_t i = 0; i < ESPY_SIDE * ESPY_SIDE; ++i)
    {
        red += espyTest_IsMostly(rgb + 3 * i, 0) ? 1u : 0u;
        green += espyTest_IsMostly(rgb + 3 * i, 1) ? 1u : 0u;
        blue += espyTest_IsMostly(rgb + 3 * i, 2) ? 1u : 0u;
    }
    assert_true(green >= 60 && green <= 68);
    assert_true(red + green >= 250 && red + green <= 262);
    assert_true(blue >= 764 && blue <= 772);
}

static void espyTest_GhostsAndGratesLetThrough(void** state)
{
    (void)state;
    uint8_t rgb[3 * ESPY_SIDE * ESPY_SIDE];
    espyStage stage;
    espyStage_Begin(&stage);
    stage.surfaces[0].color = 0xFF0000u;
    stage.surfaces[1] = (espyPictureSurface){.color = 0x00FF00u, .look = espyPictureLook_Ghost};
    espyStage_Square(&stage, 0, 1.0f, 0.0f, false);
    espyStage_Square(&stage, 1, 1.5f, 1.0f, false);
    espyPictureDef def = espyTest_Def();
    espyTest_Draw(&stage, &def, rgb);
    assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 16), 0));
    assert_true(espyTest_Pixel(rgb, 16, 16)[1] > 0);
    assert_true(espyTest_Pixel(rgb, 6, 16)[2] > 200);
    stage.surfaces[1].look = espyPictureLook_Grate;
    espyTest_Draw(&stage, &def, rgb);
    uint32_t bars = 0, holes = 0;
    for (uint32_t i = 0; i < ESPY_SIDE * ESPY_SIDE; ++i)
    {
        bars += rgb[3 * i + 1] > 60 ? 1u : 0u;
        holes += rgb[3 * i] > 120 ? 1u : 0u;
    }
    assert_true(bars > 100 && holes > 100);
}

static void espyTest_CutOpens(void** state)
{
    (void)state;
    uint8_t rgb[3 * ESPY_SIDE * ESPY_SIDE];
    espyStage stage;
    espyStage_Begin(&stage);
    stage.surfaces[0] = (espyPictureSurface){.color = 0xFF0000u, .cut = true};
    stage.surfaces[1].color = 0x00FF00u;
    espyStage_Square(&stage, 0, 1.0f, 1.0f, true);
    espyStage_Square(&stage, 1, 1.0f, 0.0f, true);
    espyPictureDef def = espyTest_Def();
    def.eye = (espyVec3){0.0f, 5.0f, 0.0f};
    def.toSun = (espyVec3){0.0f, 1.0f, 0.1f};
    espyTest_Draw(&stage, &def, rgb);
    assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 16), 0));
    def.cutHeight = 0.5f;
    espyTest_Draw(&stage, &def, rgb);
    assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 16), 1));
    // A wall that stands through the cut keeps its lower half: seen from the side, half of the square is left.
    espyStage_Begin(&stage);
    stage.surfaces[0] = (espyPictureSurface){.color = 0xFF0000u, .cut = true};
    espyStage_Square(&stage, 0, 1.0f, 0.0f, false);
    def = espyTest_Def();
    def.cutHeight = 0.0f;
    espyTest_Draw(&stage, &def, rgb);
    assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 20), 0));
    assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 12), 2));
}

/// A square of two triangles has lines at its rim and none along its diagonal; where a second square goes on in the
/// same plane, the rim between them has none either.
static void espyTest_LinesAtRimsOnly(void** state)
{
    (void)state;
    uint8_t rgb[3 * ESPY_SIDE * ESPY_SIDE];
    espyStage stage;
    espyStage_Begin(&stage);
    stage.surfaces[0].color = 0xC0C0C0u;
    espyStage_Square(&stage, 0, 1.0f, 0.0f, false);
    espyPictureDef def = espyTest_Def();
    def.samples = 8;
    espyTest_Draw(&stage, &def, rgb);
    int inside = espyTest_Pixel(rgb, 13, 16)[0], diagonal = espyTest_Pixel(rgb, 16, 15)[0];
    int rim = espyTest_Pixel(rgb, 8, 16)[0];
    assert_true(rim < inside - 15);
    assert_true(diagonal > inside - 6 && diagonal < inside + 6);
    // Move a copy aside so that the right rim of one is the left rim of the other.
    espyStage_Square(&stage, 0, 1.0f, 0.0f, false);
    for (uint32_t c = 0; c < 4; ++c)
    {
        stage.positions[c].x -= 1.0f;
        stage.positions[4 + c].x += 1.0f;
    }
    espyTest_Draw(&stage, &def, rgb);
    int seam = espyTest_Pixel(rgb, 16, 16)[0];
    inside = espyTest_Pixel(rgb, 10, 16)[0];
    assert_true(seam > inside - 6 && seam < inside + 6);
}

static void espyTest_SameForAnyThreads(void** state)
{
    (void)state;
    uint8_t one[3 * ESPY_SIDE * ESPY_SIDE], many[3 * ESPY_SIDE * ESPY_SIDE];
    espyStage stage;
    espyStage_Begin(&stage);
    stage.surfaces[0].color = 0xD0B090u;
    espyStage_Square(&stage, 0, 1.5f, 0.0f, true);
    espyStage_Square(&stage, 0, 0.5f, 0.0f, false);
    espyPictureDef def = espyTest_Def();
    def.orthographic = false;
    def.eye = (espyVec3){1.0f, 2.0f, 3.0f};
    espyTest_Draw(&stage, &def, one);
    def.threads = 3;
    espyTest_Draw(&stage, &def, many);
    assert_memory_equal(one, many, sizeof one);
}

static void espyTest_CountFail(const char* condition, const char* function, void* context)
{
    (void)condition;
    (void)function;
    ++*(uint32_t*)context;
}

static void espyTest_Refusals(void** state)
{
    (void)state;
    uint8_t rgb[3 * ESPY_SIDE * ESPY_SIDE];
    uint32_t fails = 0;
    espyStage stage;
    espyStage_Begin(&stage);
    espyStage_Square(&stage, 0, 1.0f, 0.0f, false);
    espyPictureDef def = espyTest_Def();
    def.hooks.assertFail = espyTest_CountFail;
    def.hooks.context = &fails;
    def.width = 0;
    assert_int_equal(espyPicture_Render(&stage.scene, &def, rgb), espyResult_InvalidArgument);
    def.width = ESPY_SIDE;
    def.samples = 9;
    assert_int_equal(espyPicture_Render(&stage.scene, &def, rgb), espyResult_InvalidArgument);
    def.samples = 1;
    stage.indices[4] = 99;
    assert_int_equal(espyPicture_Render(&stage.scene, &def, rgb), espyResult_InvalidArgument);
    stage.indices[4] = 2;
    stage.surfaceOf[1] = 99;
    assert_int_equal(espyPicture_Render(&stage.scene, &def, rgb), espyResult_InvalidArgument);
    assert_int_equal(fails, 4);
    // Nothing to draw is a picture of the sky.
    espyStage_Begin(&stage);
    espyTest_Draw(&stage, &def, rgb);
    assert_true(espyTest_IsMostly(espyTest_Pixel(rgb, 16, 16), 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_NearCoversFar),     cmocka_unit_test(espyTest_GhostsAndGratesLetThrough),
        cmocka_unit_test(espyTest_CutOpens),          cmocka_unit_test(espyTest_LinesAtRimsOnly),
        cmocka_unit_test(espyTest_SameForAnyThreads), cmocka_unit_test(espyTest_Refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
