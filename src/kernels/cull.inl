// SPDX-License-Identifier: MIT
// Batch kernels of pvs, compiled once per instruction set. The includer names the getter in ESPYI_CULL_KERNELS.
#include "core/core.h"
#include "pvs/cull.h"

// --- scalar
// ----------------------------------------------------------------------------------------------------------

/// 1 where a slot is kept. The read stays inside the set: a slot out of range reads bit 0 and ignores it.
static uint32_t espyCull_TestSlot(const uint32_t* set, uint32_t slotCount, uint32_t slot)
{
    uint32_t out = slot >= slotCount;
    uint32_t inside = out ? 0 : slot;
    return ((set[inside >> 5] >> (inside & 31u)) & 1u) | out;
}

static void espyCull_TestSlotsScalar(const uint32_t* set, uint32_t slotCount, const uint32_t* slots, uint32_t count,
                                     uint32_t* out)
{
    for (uint32_t first = 0; first < count; first += 32u)
    {
        uint32_t draws = count - first < 32u ? count - first : 32u;
        uint32_t word = 0;
        for (uint32_t i = 0; i < draws; ++i)
        {
            word |= espyCull_TestSlot(set, slotCount, slots[first + i]) << i;
        }
        out[first >> 5] = word;
    }
}

static uint32_t espyCull_ListWord(uint32_t word, uint32_t base, uint32_t* out)
{
    uint32_t written = 0;
    while (word != 0)
    {
        uint32_t lowest = word & (0u - word);
        out[written++] = base + espyiPopCount32(lowest - 1u);
        word ^= lowest;
    }
    return written;
}

static uint32_t espyCull_ListBitsScalar(const uint32_t* words, uint32_t wordCount, uint32_t base, uint32_t* out,
                                        uint32_t room)
{
    (void)room;
    uint32_t written = 0;
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        written += espyCull_ListWord(words[i], base + i * 32u, out + written);
    }
    return written;
}

const espyiCullKernels* ESPYI_CULL_KERNELS(void)
{
    static const espyiCullKernels kernels = {espyCull_TestSlotsScalar, espyCull_ListBitsScalar};
    return &kernels;
}
