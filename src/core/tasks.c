// SPDX-License-Identifier: MIT
#include "core/tasks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

typedef struct espyTaskLoop
{
    espyiTaskFn* fn;
    void* context;
    espyiTickFn* tick;
    void* tickContext;
    uint32_t count;
    atomic_uint next;
    atomic_uint running;
    atomic_bool stop;
} espyTaskLoop;

typedef struct espyTaskThread
{
    espyTaskLoop* loop;
    uint32_t worker;
    pthread_t thread;
} espyTaskThread;

static void espyTasks_Work(espyTaskLoop* loop, uint32_t worker, double* lastTick)
{
    while (!atomic_load(&loop->stop))
    {
        uint32_t index = atomic_fetch_add(&loop->next, 1u);
        if (index >= loop->count)
        {
            break;
        }
        loop->fn(loop->context, index, worker);
        if (lastTick && loop->tick)
        {
            double now = espyiClock_Seconds();
            if (now - *lastTick > 0.05)
            {
                *lastTick = now;
                if (!loop->tick(loop->tickContext))
                {
                    atomic_store(&loop->stop, true);
                }
            }
        }
    }
}

static void* espyTasks_Thread(void* argument)
{
    espyTaskThread* self = argument;
    espyTasks_Work(self->loop, self->worker, NULL);
    atomic_fetch_sub(&self->loop->running, 1u);
    return NULL;
}

uint32_t espyiTasks_ThreadCount(int32_t wanted)
{
    long count = wanted;
    if (count <= 0)
    {
#if defined(_WIN32)
        count = pthread_num_processors_np();
#elif defined(_SC_NPROCESSORS_ONLN)
        count = sysconf(_SC_NPROCESSORS_ONLN);
#else
        count = 1;
#endif
    }
    return count < 1 ? 1u : count > 256 ? 256u : (uint32_t)count;
}

bool espyiTasks_For(uint32_t threads, uint32_t count, espyiTaskFn* fn, void* context, espyiTickFn* tick,
                    void* tickContext)
{
    espyTaskLoop loop = {.fn = fn, .context = context, .tick = tick, .tickContext = tickContext, .count = count};
    espyTaskThread others[256];
    uint32_t started = 0;
    if (threads > count)
    {
        threads = count > 0 ? count : 1;
    }
    // A tick must come every 50 ms however long one item takes. With a tick and threads to spare, the calling thread
    // only watches; a single-threaded loop ticks between items.
    bool watch = tick && threads > 1;
    for (uint32_t i = watch ? 0 : 1; i < threads && started < ESPYI_ARRAY_COUNT(others); ++i)
    {
        others[started].loop = &loop;
        others[started].worker = i;
        atomic_fetch_add(&loop.running, 1u);
        if (pthread_create(&others[started].thread, NULL, espyTasks_Thread, &others[started]) != 0)
        {
            atomic_fetch_sub(&loop.running, 1u);
            break;
        }
        ++started;
    }
    if (watch && started > 0)
    {
        while (atomic_load(&loop.running) > 0)
        {
            struct timespec pause = {0, 5 * 1000 * 1000};
            static const uint32_t pausesPerTick = 10;
            for (uint32_t i = 0; i < pausesPerTick && atomic_load(&loop.running) > 0; ++i)
            {
                nanosleep(&pause, NULL);
            }
            if (!atomic_load(&loop.stop) && !tick(tickContext))
            {
                atomic_store(&loop.stop, true);
            }
        }
    }
    else
    {
        double lastTick = espyiClock_Seconds();
        espyTasks_Work(&loop, 0, &lastTick);
    }
    for (uint32_t i = 0; i < started; ++i)
    {
        pthread_join(others[i].thread, NULL);
    }
    return !atomic_load(&loop.stop);
}

static double espyClock_Read(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

double espyiClock_Seconds(void)
{
    return espyClock_Read(CLOCK_MONOTONIC);
}

double espyiClock_ThreadCpuSeconds(void)
{
    return espyClock_Read(CLOCK_THREAD_CPUTIME_ID);
}
