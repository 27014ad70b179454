// SPDX-License-Identifier: MIT
// Batch kernels by instruction set. Every set gives the same bits.
#ifndef ESPYI_CULL_H
#define ESPYI_CULL_H

#include <espy/pvs.h>

typedef struct espyiCullKernels
{
    /// Bit i of `out` (whole words, unused high bits 0) is 1 where slots[i] >= slotCount or its bit in `set` is 1.
    void (*testSlots)(const uint32_t* set, uint32_t slotCount, const uint32_t* slots, uint32_t count, uint32_t* out);
    /// Writes base + the index of each 1 bit of `wordCount` words and returns how many. Stores at most `room` entries,
    /// which is at least the number of 1 bits; entries after the last one may be overwritten.
    uint32_t (*listBits)(const uint32_t* words, uint32_t wordCount, uint32_t base, uint32_t* out, uint32_t room);
} espyiCullKernels;

/// Kernels of one instruction set; null where this build or target has none.
const espyiCullKernels* espyiCull_GetScalar(void);
const espyiCullKernels* espyiCull_GetSse41(void);
const espyiCullKernels* espyiCull_GetAvx2(void);
const espyiCullKernels* espyiCull_GetAvx512(void);

#endif
