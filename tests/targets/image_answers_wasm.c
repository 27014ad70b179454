// SPDX-License-Identifier: MIT
// What image_answers.mjs calls: there is no C library on this machine, and memory is handed out from one block.
#include "image_answers.h"

#include <string.h>

#define ESPY_TARGET_EXPORT __attribute__((visibility("default")))

ESPY_TARGET_EXPORT uint32_t espyTargetWasm_Draw(uint32_t cap);
ESPY_TARGET_EXPORT uint32_t espyTargetWasm_GetImages(void);
ESPY_TARGET_EXPORT const char* espyTargetWasm_GetSet(void);

/// Of the library, which asks for it where a program gives no hooks.
espyHooks espyiHooks_Resolve(const espyHooks* hooks);

static espyTargetImages espyTargetWasmImages;
static _Alignas(64) unsigned char espyTargetWasmMemory[4u << 20];
static size_t espyTargetWasmUsed;

static void* espyTargetWasm_Alloc(size_t size, size_t align, void* context)
{
    (void)context;
    size_t start = (espyTargetWasmUsed + align - 1u) / align * align;
    if (start > sizeof espyTargetWasmMemory || size > sizeof espyTargetWasmMemory - start)
    {
        return NULL;
    }
    espyTargetWasmUsed = start + size;
    return espyTargetWasmMemory + start;
}

/// What compilers call by themselves; each is an instruction here, but for the last.
void* memcpy(void* to, const void* from, size_t size)
{
    return __builtin_memcpy(to, from, size);
}

void* memmove(void* to, const void* from, size_t size)
{
    return __builtin_memmove(to, from, size);
}

void* memset(void* to, int value, size_t size)
{
    return __builtin_memset(to, value, size);
}

int memcmp(const void* a, const void* b, size_t size)
{
    const unsigned char *left = a, *right = b;
    for (size_t i = 0; i < size; ++i)
    {
        if (left[i] != right[i])
        {
            return left[i] < right[i] ? -1 : 1;
        }
    }
    return 0;
}

/// All is given back when the next image begins.
static void espyTargetWasm_Free(void* pointer, void* context)
{
    (void)pointer;
    (void)context;
}

espyHooks espyiHooks_Resolve(const espyHooks* hooks)
{
    espyHooks resolved = hooks ? *hooks : (espyHooks){0};
    resolved.alloc = espyTargetWasm_Alloc;
    resolved.free = espyTargetWasm_Free;
    return resolved;
}

/// 1 where the images were drawn.
uint32_t espyTargetWasm_Draw(uint32_t cap)
{
    espyTargetWasmUsed = 0;
    espyTargetWasmImages = espyTargetImages_Draw((espyIsa)cap);
    return espyTargetWasmImages.succeeded ? 1u : 0u;
}

uint32_t espyTargetWasm_GetImages(void)
{
    return (uint32_t)(uintptr_t)&espyTargetWasmImages;
}

/// Name of the kernels that drew last.
const char* espyTargetWasm_GetSet(void)
{
    return espyIsa_GetName(espyTargetWasmImages.isa);
}
