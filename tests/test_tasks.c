// SPDX-License-Identifier: MIT
// Parallel loops: every item once, any number of threads, cancel.
#include "test_main.h"

#include <stdatomic.h>

#include "core/tasks.h"

typedef struct espyTestLoop
{
    atomic_uint runs[1000];
    atomic_uint workersSeen;
    atomic_uint ticks;
} espyTestLoop;

static void espyTest_Count(void* context, uint32_t index, uint32_t worker)
{
    espyTestLoop* loop = context;
    atomic_fetch_add(&loop->runs[index], 1u);
    atomic_fetch_or(&loop->workersSeen, 1u << worker);
}

static bool espyTest_Stop(void* context)
{
    espyTestLoop* loop = context;
    atomic_fetch_add(&loop->ticks, 1u);
    return false;
}

static void espyTest_Slow(void* context, uint32_t index, uint32_t worker)
{
    double end = espyiClock_Seconds() + 0.002;
    while (espyiClock_Seconds() < end)
    {
    }
    espyTest_Count(context, index, worker);
}

static void test_every_item_runs_once(void** state)
{
    (void)state;
    static const uint32_t threadCounts[] = {1, 2, 7};
    for (size_t t = 0; t < ESPYI_ARRAY_COUNT(threadCounts); ++t)
    {
        static espyTestLoop loop;
        for (int i = 0; i < 1000; ++i)
        {
            atomic_store(&loop.runs[i], 0u);
        }
        atomic_store(&loop.workersSeen, 0u);
        assert_true(espyiTasks_For(threadCounts[t], 1000, espyTest_Count, &loop, NULL, NULL));
        for (int i = 0; i < 1000; ++i)
        {
            assert_int_equal(atomic_load(&loop.runs[i]), 1);
        }
        assert_true(atomic_load(&loop.workersSeen) < (1u << threadCounts[t]));
    }
    assert_true(espyiTasks_For(4, 0, espyTest_Count, NULL, NULL, NULL));
}

static void test_cancel_stops_early(void** state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; ++threads)
    {
        static espyTestLoop loop;
        uint32_t done = 0;
        for (int i = 0; i < 1000; ++i)
        {
            atomic_store(&loop.runs[i], 0u);
        }
        double start = espyiClock_Seconds();
        assert_false(espyiTasks_For(threads, 1000, espyTest_Slow, &loop, espyTest_Stop, &loop));
        assert_true(espyiClock_Seconds() - start < 1.0);
        for (int i = 0; i < 1000; ++i)
        {
            done += atomic_load(&loop.runs[i]);
        }
        assert_true(done > 0 && done < 1000);
    }
}

static void test_thread_count_is_clamped(void** state)
{
    (void)state;
    assert_int_equal(espyiTasks_ThreadCount(3), 3);
    assert_int_equal(espyiTasks_ThreadCount(100000), 256);
    assert_true(espyiTasks_ThreadCount(0) >= 1);
    assert_true(espyiTasks_ThreadCount(-5) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_runs_once),
        cmocka_unit_test(test_cancel_stops_early),
        cmocka_unit_test(test_thread_count_is_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
