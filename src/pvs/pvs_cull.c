// SPDX-License-Identifier: MIT
// Culls many draws at once: the choice of kernels, and the paths that need none.
#include "core/core.h"
#include "pvs/cull.h"

/// Draws of one step of CullList: their bits stay on the stack.
#define ESPY_CULL_LIST_WORDS 32u

static const espyiCullKernels* espyCull_Pick(espyIsa isa)
{
    const espyiCullKernels* kernels = NULL;
    if (isa == espyIsa_Avx512)
    {
        kernels = espyiCull_GetAvx512();
    }
    if (!kernels && (isa == espyIsa_Avx2 || isa == espyIsa_Avx512))
    {
        kernels = espyiCull_GetAvx2();
    }
    if (!kernels && (isa == espyIsa_Sse41 || isa == espyIsa_Avx2 || isa == espyIsa_Avx512))
    {
        kernels = espyiCull_GetSse41();
    }
    return kernels ? kernels : espyiCull_GetScalar();
}

/// Ones for `count` draws, zeros in the rest of the last word.
static void espyCull_KeepAll(uint32_t count, uint32_t* outBits)
{
    for (uint32_t i = 0; i < count / 32u; ++i)
    {
        outBits[i] = ~0u;
    }
    if (count % 32u != 0)
    {
        outBits[count / 32u] = ~(~0u << (count % 32u));
    }
}

void espyPvs_CullBits(const espyPvs* pvs, const uint32_t* set, const uint32_t* slots, uint32_t count, uint32_t* outBits)
{
    // A zeroed espyPvs has no slots: all are out of range and kept, whatever the set.
    if (!set || pvs->occludeeCount == 0)
    {
        espyCull_KeepAll(count, outBits);
        return;
    }
    espyCull_Pick(pvs->isa)->testSlots(set, pvs->occludeeCount, slots, count, outBits);
}

void espyPvs_CullRange(const espyPvs* pvs, const uint32_t* set, uint32_t firstSlot, uint32_t count, uint32_t* outBits)
{
    uint32_t known = 0;
    if (set && firstSlot < pvs->occludeeCount)
    {
        known = pvs->occludeeCount - firstSlot;
        known = known < count ? known : count;
    }
    const uint32_t* from = known > 0 ? set + (firstSlot >> 5) : NULL;
    uint32_t shift = firstSlot & 31u;
    uint32_t full = known / 32u;
    uint32_t rest = known % 32u;
    if (shift == 0)
    {
        for (uint32_t i = 0; i < full; ++i)
        {
            outBits[i] = from[i];
        }
    }
    else
    {
        for (uint32_t i = 0; i < full; ++i)
        {
            outBits[i] = (from[i] >> shift) | (from[i + 1u] << (32u - shift));
        }
    }
    if (full * 32u == count)
    {
        return;
    }
    // The word where the known slots end: its own bits below, ones (slots out of range) above, zeros past the count.
    uint32_t word = 0;
    if (rest > 0)
    {
        word = from[full] >> shift;
        // The next word exists only where the slots reach into it.
        if (shift + rest > 32u)
        {
            word |= from[full + 1u] << (32u - shift);
        }
    }
    uint32_t wordDraws = count - full * 32u;
    word |= ~0u << rest;
    if (wordDraws < 32u)
    {
        outBits[full] = word & ~(~0u << wordDraws);
        return;
    }
    outBits[full] = word;
    espyCull_KeepAll(wordDraws - 32u, outBits + full + 1u);
}

uint32_t espyPvs_CullList(const espyPvs* pvs, const uint32_t* set, const uint32_t* slots, uint32_t count,
                          uint32_t* outList)
{
    if (!set || pvs->occludeeCount == 0)
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            outList[i] = i;
        }
        return count;
    }
    const espyiCullKernels* kernels = espyCull_Pick(pvs->isa);
    uint32_t bits[ESPY_CULL_LIST_WORDS];
    uint32_t kept = 0;
    for (uint32_t first = 0; first < count;)
    {
        uint32_t part = count - first < ESPY_CULL_LIST_WORDS * 32u ? count - first : ESPY_CULL_LIST_WORDS * 32u;
        kernels->testSlots(set, pvs->occludeeCount, slots + first, part, bits);
        kept += kernels->listBits(bits, espyiBits_Words(part), first, outList + kept, count - kept);
        first += part;
    }
    return kept;
}

uint32_t espyBits_ToList(const uint32_t* bits, uint32_t count, uint32_t* outList)
{
    uint32_t full = count / 32u;
    uint32_t rest = count % 32u;
    // The caller's room is exact, and bits past `count` may be set: so the number of ones is needed first.
    uint32_t last = rest != 0 ? bits[full] & ~(~0u << rest) : 0;
    uint32_t room = espyiPopCount32(last);
    for (uint32_t i = 0; i < full; ++i)
    {
        room += espyiPopCount32(bits[i]);
    }
    const espyiCullKernels* kernels = espyCull_Pick(espyIsa_Detect(espyIsa_Auto));
    uint32_t written = kernels->listBits(bits, full, 0, outList, room);
    return written + kernels->listBits(&last, 1, full * 32u, outList + written, room - written);
}
