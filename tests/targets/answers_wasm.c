// SPDX-License-Identifier: MIT
// What answers.mjs calls: there is no C library on this machine.
#include "answers.h"

#define ESPY_TARGET_EXPORT __attribute__((visibility("default")))

/// Where the linker's own data ends.
extern unsigned char __heap_base;

ESPY_TARGET_EXPORT uint32_t espyTargetWasm_GetStart(void);
ESPY_TARGET_EXPORT int32_t espyTargetWasm_Ask(uint32_t size, uint32_t points);
ESPY_TARGET_EXPORT uint32_t espyTargetWasm_GetAnswers(void);

static espyTargetAnswers espyTargetWasmAnswers;

/// First byte of where the file is to be put.
uint32_t espyTargetWasm_GetStart(void)
{
    return ((uint32_t)(uintptr_t)&__heap_base + ESPY_PVS_ALIGNMENT - 1u) & ~(uint32_t)(ESPY_PVS_ALIGNMENT - 1u);
}

/// Returns an espyResult.
int32_t espyTargetWasm_Ask(uint32_t size, uint32_t points)
{
    espyPvs pvs;
    espyResult result = espyPvs_Load(&pvs, (const void*)(uintptr_t)espyTargetWasm_GetStart(), size, NULL);
    if (result == espyResult_Ok)
    {
        espyTargetAnswers_Ask(&pvs, points, &espyTargetWasmAnswers);
    }
    return (int32_t)result;
}

uint32_t espyTargetWasm_GetAnswers(void)
{
    return (uint32_t)(uintptr_t)&espyTargetWasmAnswers;
}
