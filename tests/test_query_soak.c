// SPDX-License-Identifier: MIT
// Random operations on the query system; bench_query soak runs 1,000,000 and more.
#include "query_soak.h"

#include "tests/test_main.h"

#include <stdio.h>

static void test_no_seen_object_stays_hidden_past_its_time(void** state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; ++seed)
    {
        espyQuerySoakResult result = espyQuerySoak_Run(seed, 25000);
        printf("seed %d: %d frames, %d questions, %d stale, %d lost, longest missing %u\n", (int)seed,
               (int)result.frames, (int)result.queries, (int)result.stale, (int)result.lost, result.longest);
        assert_true(result.longest <= result.timeLimit);
        assert_true(result.wrong == 0);
        assert_true(result.waits == 0);
        assert_true(result.violations == 0);
        assert_true(result.allocations == 0 && result.heldAtEnd == result.heldAtStart);
        // The faults were there, and the system did hide.
        assert_true(result.stale > 0 && result.lost > 0 && result.missing > 0 && result.queries > 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_seen_object_stays_hidden_past_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
