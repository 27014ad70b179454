// SPDX-License-Identifier: MIT
#include "task_case.h"

#include "core/tasks.h"

typedef struct espyTaskCase
{
    void (*run)(void* job, uint32_t index);
    void* job;
} espyTaskCase;

static void espyTaskCase_Item(void* context, uint32_t index, uint32_t worker)
{
    const espyTaskCase* loop = context;
    (void)worker;
    loop->run(loop->job, index);
}

static void espyTaskCase_ForThreads(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job)
{
    espyTaskCase loop = {run, job};
    (void)espyiTasks_For((uint32_t)(uintptr_t)context, count, espyTaskCase_Item, &loop, NULL, NULL);
}

static void espyTaskCase_ForBackwards(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job)
{
    (void)context;
    for (uint32_t i = count; i > 0; --i)
    {
        run(job, i - 1u);
    }
}

espyTasks espyTaskCase_Threads(uint32_t threads)
{
    return (espyTasks){espyTaskCase_ForThreads, (void*)(uintptr_t)threads, threads};
}

espyTasks espyTaskCase_Backwards(uint32_t threads)
{
    return (espyTasks){espyTaskCase_ForBackwards, NULL, threads};
}
