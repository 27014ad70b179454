// SPDX-License-Identifier: MIT
// Default hooks on hosted systems. Freestanding builds leave this file out and give their own hooks.
#include "core/core.h"

#include <stdlib.h>
#ifdef _WIN32
#include <malloc.h>
#endif

static void* espyHosted_Alloc(size_t size, size_t align, void* context)
{
    (void)context;
#ifdef _WIN32
    return _aligned_malloc(size, align);
#else
    void* p = NULL;
    return posix_memalign(&p, align < sizeof(void*) ? sizeof(void*) : align, size) == 0 ? p : NULL;
#endif
}

static void espyHosted_Free(void* pointer, void* context)
{
    (void)context;
#ifdef _WIN32
    _aligned_free(pointer);
#else
    free(pointer);
#endif
}

espyHooks espyiHooks_Resolve(const espyHooks* hooks)
{
    espyHooks resolved = hooks ? *hooks : (espyHooks){0};
    if (!resolved.alloc || !resolved.free)
    {
        resolved.alloc = espyHosted_Alloc;
        resolved.free = espyHosted_Free;
    }
    return resolved;
}
