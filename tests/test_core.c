// SPDX-License-Identifier: MIT
// Results, messages, hooks, hash, random numbers, bits.
#include "test_main.h"

#include "core/core.h"

static void test_results_and_messages_have_names(void** state)
{
    (void)state;
    assert_string_equal(espyResult_GetName(espyResult_Ok), "Ok");
    assert_string_equal(espyResult_GetName(espyResult_Unsupported), "Unsupported");
    assert_string_equal(espyResult_GetName((espyResult)999), "Unknown");
    assert_string_equal(espyMessage_GetName(espyMessageId_BakeTooManyCells), "BakeTooManyCells");
    assert_int_equal(espyMessageId_BakeTooManyCells, 101);
    assert_int_equal(espyMessage_GetLevel(espyMessageId_BakeManyCells), espyLogLevel_Warning);
    assert_string_equal(espyMessage_GetText((espyMessageId)77777), "");
}

static void test_message_numbers_are_unique(void** state)
{
    (void)state;
    static const int numbers[] = {
#define ESPY_MESSAGE(name, number, level, text) number,
#include <espy/messages.inl>
#undef ESPY_MESSAGE
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(numbers); ++i)
    {
        for (size_t j = i + 1; j < ESPYI_ARRAY_COUNT(numbers); ++j)
        {
            assert_int_not_equal(numbers[i], numbers[j]);
        }
    }
}

static void test_hash_is_the_same_everywhere(void** state)
{
    (void)state;
    static const uint32_t words[3] = {1u, 0x3F800000u, 0xFFFFFFFFu};
    assert_true(espyiHash_Words(0, words, 3) == 0x398FEF0DB7C7E0C1ull);
    assert_true(espyiHash_Bytes(7, "espy", 4) == 0x309258B2BE6AB478ull);
    assert_true(espyiHash_Bytes(7, "espy", 4) != espyiHash_Bytes(8, "espy", 4));
    assert_true(espyiHash_Bytes(7, "espy\0", 5) != espyiHash_Bytes(7, "espy", 4));
}

static void test_random_numbers_are_the_same_everywhere(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(1);
    assert_int_equal(espyiRng_U32(&rng), 0xF758CB42u);
    double sum = 0;
    for (int i = 0; i < 100000; ++i)
    {
        float f = espyiRng_Float(&rng);
        assert_true(f >= 0.0f && f < 1.0f);
        sum += (double)f;
        assert_true(espyiRng_Below(&rng, 7) < 7);
    }
    assert_true(sum > 49500.0 && sum < 50500.0);
}

static void test_allocation_is_checked_and_zeroed(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_null(espyiAlloc(&hooks, SIZE_MAX / 2, 3));
    assert_null(espyiAlloc(&hooks, 0, 8));
    uint32_t* words = espyiAlloc(&hooks, 100, sizeof *words);
    assert_non_null(words);
    assert_int_equal((uintptr_t)words % 64u, 0);
    for (int i = 0; i < 100; ++i)
    {
        assert_int_equal(words[i], 0);
    }
    espyiFree(&hooks, words);
    espyiFree(&hooks, NULL);
}

static void test_grow_keeps_what_was_there(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; ++i)
    {
        assert_true(espyiGrow(&hooks, &array, &capacity, i + 1, sizeof(size_t)));
        ((size_t*)array)[i] = i * i;
    }
    for (size_t i = 0; i < 1000; ++i)
    {
        assert_int_equal(((size_t*)array)[i], i * i);
    }
    assert_false(espyiGrow(&hooks, &array, &capacity, SIZE_MAX / 4, sizeof(size_t)));
    assert_int_equal(((size_t*)array)[999], 999 * 999);
    espyiFree(&hooks, array);
}

static void test_isa_cap_is_kept(void** state)
{
    (void)state;
    assert_int_equal(espyIsa_Detect(espyIsa_Scalar), espyIsa_Scalar);
    assert_true(espyIsa_Detect(espyIsa_Sse41) <= espyIsa_Sse41);
    assert_true(espyIsa_Detect(espyIsa_Avx2) <= espyIsa_Avx2);
    assert_int_not_equal(espyIsa_Detect(espyIsa_Auto), espyIsa_Auto);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_and_messages_have_names),
        cmocka_unit_test(test_message_numbers_are_unique),
        cmocka_unit_test(test_hash_is_the_same_everywhere),
        cmocka_unit_test(test_random_numbers_are_the_same_everywhere),
        cmocka_unit_test(test_allocation_is_checked_and_zeroed),
        cmocka_unit_test(test_grow_keeps_what_was_there),
        cmocka_unit_test(test_isa_cap_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
