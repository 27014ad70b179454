// SPDX-License-Identifier: MIT
// Boxes and matrices.
#include "test_main.h"

#include <espy/math.h>
#include <math.h>

static void test_box_validity(void** state)
{
    (void)state;
    assert_false(espyBox_IsValid(espyBox_Empty()));
    assert_true(espyBox_IsValid((espyBox){{0, 0, 0}, {0, 0, 0}}));
    assert_false(espyBox_IsValid((espyBox){{0, 0, 0}, {NAN, 1, 1}}));
    assert_false(espyBox_IsValid((espyBox){{0, 0, 0}, {INFINITY, 1, 1}}));
    assert_false(espyBox_Overlaps(espyBox_Empty(), (espyBox){{-1, -1, -1}, {1, 1, 1}}));
    assert_true(espyBox_Overlaps((espyBox){{0, 0, 0}, {1, 1, 1}}, (espyBox){{1, 1, 1}, {2, 2, 2}}));
    espyBox grown = espyBox_Grow(espyBox_AddPoint(espyBox_Empty(), (espyVec3){1, 2, 3}), 0.5f);
    assert_true(grown.min.x == 0.5f && grown.max.z == 3.5f);
}

static void test_box_union_of_empty_is_the_other(void** state)
{
    (void)state;
    espyBox a = {{1, 2, 3}, {4, 5, 6}};
    espyBox u = espyBox_Union(espyBox_Empty(), a);
    assert_memory_equal(&u, &a, sizeof a);
}

static void test_matrix_inverse(void** state)
{
    (void)state;
    const float half = 0.70710678f;
    espyMat4 m = espyMat4_FromTrs((espyVec3){3, -2, 7}, (const float[4]){0, half, 0, half}, (espyVec3){2, 3, -4});
    assert_true(espyMat4_Determinant3(m) < 0.0f);
    espyMat4 inverse;
    assert_true(espyMat4_InvertAffine(m, &inverse));
    espyVec3 p = espyMat4_TransformPoint(inverse, espyMat4_TransformPoint(m, (espyVec3){1, 2, 3}));
    assert_true(fabsf(p.x - 1) < 1e-5f && fabsf(p.y - 2) < 1e-5f && fabsf(p.z - 3) < 1e-5f);
    espyMat4 flat = espyMat4_FromTrs((espyVec3){0, 0, 0}, (const float[4]){0, 0, 0, 1}, (espyVec3){1, 0, 1});
    assert_false(espyMat4_InvertAffine(flat, &inverse));
}

static void test_matrix_multiply_applies_right_first(void** state)
{
    (void)state;
    const float none[4] = {0, 0, 0, 1};
    espyMat4 move = espyMat4_FromTrs((espyVec3){10, 0, 0}, none, (espyVec3){1, 1, 1});
    espyMat4 scale = espyMat4_FromTrs((espyVec3){0, 0, 0}, none, (espyVec3){2, 2, 2});
    espyVec3 p = espyMat4_TransformPoint(espyMat4_Multiply(move, scale), (espyVec3){1, 1, 1});
    assert_true(p.x == 12.0f && p.y == 2.0f);
}

static void test_transformed_box_is_the_bounds_of_its_corners(void** state)
{
    (void)state;
    const float half = 0.70710678f;
    espyMat4 quarter = espyMat4_FromTrs((espyVec3){0, 0, 0}, (const float[4]){0, half, 0, half}, (espyVec3){1, 1, 1});
    espyBox b = espyMat4_TransformBox(quarter, (espyBox){{0, 0, 0}, {1, 2, 3}});
    assert_true(fabsf(b.max.x - 3) < 1e-5f && fabsf(b.min.z + 1) < 1e-5f && fabsf(b.max.y - 2) < 1e-5f);
    assert_false(espyBox_IsValid(espyMat4_TransformBox(quarter, espyBox_Empty())));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box_validity),
        cmocka_unit_test(test_box_union_of_empty_is_the_other),
        cmocka_unit_test(test_matrix_inverse),
        cmocka_unit_test(test_matrix_multiply_applies_right_first),
        cmocka_unit_test(test_transformed_box_is_the_bounds_of_its_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
