// SPDX-License-Identifier: MIT
#include "hook_counter.h"

#include <stdlib.h>

// In front of every block, as large as any alignment that is asked for.
#define ESPY_COUNTER_HEAD 64u

static void* espyCounter_Alloc(size_t size, size_t align, void* context)
{
    espyHookCounter* counter = context;
    unsigned call = atomic_fetch_add(&counter->calls, 1u) + 1u;
    bool fails = counter->failAt != 0 && (counter->once ? call == counter->failAt : call >= counter->failAt);
    if (fails || align > ESPY_COUNTER_HEAD)
    {
        return NULL;
    }
    void* block = NULL;
    if (posix_memalign(&block, ESPY_COUNTER_HEAD, size + ESPY_COUNTER_HEAD) != 0)
    {
        return NULL;
    }
    *(size_t*)block = size;
    atomic_fetch_add(&counter->blocks, 1u);
    size_t held = atomic_fetch_add(&counter->held, size) + size;
    size_t peak = atomic_load(&counter->peak);
    while (held > peak && !atomic_compare_exchange_weak(&counter->peak, &peak, held))
    {
    }
    return (char*)block + ESPY_COUNTER_HEAD;
}

static void espyCounter_Free(void* pointer, void* context)
{
    espyHookCounter* counter = context;
    if (pointer)
    {
        void* block = (char*)pointer - ESPY_COUNTER_HEAD;
        atomic_fetch_sub(&counter->held, *(size_t*)block);
        atomic_fetch_sub(&counter->blocks, 1u);
        free(block);
    }
}

espyHooks espyHookCounter_Hooks(espyHookCounter* counter)
{
    return (espyHooks){.alloc = espyCounter_Alloc, .free = espyCounter_Free, .context = counter};
}
