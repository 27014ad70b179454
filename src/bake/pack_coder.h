// SPDX-License-Identifier: MIT
// Writes bits by their probabilities: what the row walk of pvs/packed_row.inl calls espyPackCoder when it packs.
//
// Based on: G. N. N. Martin, "Range encoding", 1979; the carry goes back into the bytes that are written.
#ifndef ESPYI_PACK_CODER_H
#define ESPYI_PACK_CODER_H

#include "pvs/packed.h"

/// What 16 raw bits count as, being read at once.
#define ESPYI_PACK_RAW_BITS 4u
/// A line is four rows of 4,096 slots: some 19,000 coded bits, each at most 15 bits long.
#define ESPYI_PACK_MAX_LINE 65535u

typedef struct espyPackCoder
{
    const uint16_t* probabilities; ///< Null: only count.
    uint64_t (*counts)[2];         ///< Of each context.
    uint32_t bits;                 ///< Coded since the row started.
    uint64_t low;
    uint32_t range;
    uint8_t* line;
    uint32_t lineBytes;
} espyPackCoder;

static inline void espyPackCoder_Start(espyPackCoder* coder)
{
    coder->low = 0;
    coder->range = 0xFFFFFFFFu;
    coder->lineBytes = 0;
}

static inline void espyPackCoder_Carry(espyPackCoder* coder)
{
    if (coder->low >> 32 != 0)
    {
        coder->low &= 0xFFFFFFFFu;
        // The coded number stays below 1, so that some byte takes it.
        uint32_t at = coder->lineBytes;
        while (++coder->line[--at] == 0)
        {
        }
    }
}

static inline void espyPackCoder_Push(espyPackCoder* coder)
{
    if (coder->lineBytes < ESPYI_PACK_MAX_LINE + 1u)
    {
        coder->line[coder->lineBytes++] = (uint8_t)(coder->low >> 24);
    }
    coder->low = coder->low << 8 & 0xFFFFFFFFu;
}

/// The reader's step: two bytes as soon as the range is below 2^16.
static inline void espyPackCoder_Refill(espyPackCoder* coder)
{
    espyPackCoder_Carry(coder);
    if (coder->range < 1u << 16)
    {
        coder->range <<= 16;
        espyPackCoder_Push(coder);
        espyPackCoder_Push(coder);
    }
}

static inline uint32_t espyPackCoder_Bit(espyPackCoder* coder, uint32_t context, uint32_t bit)
{
    ++coder->bits;
    if (!coder->probabilities)
    {
        ++coder->counts[context][bit];
        return bit;
    }
    uint32_t bound = (coder->range >> ESPYI_PACK_PROBABILITY_BITS) * coder->probabilities[context];
    coder->low += bit ? 0u : bound;
    coder->range = bit ? bound : coder->range - bound;
    espyPackCoder_Refill(coder);
    return bit;
}

static inline uint32_t espyPackCoder_BitOf(espyPackCoder* coder, uint32_t ifZero, uint32_t ifOne, uint32_t which,
                                           uint32_t bit)
{
    return espyPackCoder_Bit(coder, which ? ifOne : ifZero, bit);
}

static inline uint32_t espyPackCoder_Raw(espyPackCoder* coder, uint32_t value)
{
    coder->bits += ESPYI_PACK_RAW_BITS;
    if (coder->probabilities)
    {
        coder->range >>= 16;
        coder->low += (uint64_t)value * coder->range;
        espyPackCoder_Refill(coder);
    }
    return value;
}

/// Ends a line with the number of its interval that takes the fewest bytes; zeros at the end are not stored.
static inline void espyPackCoder_Finish(espyPackCoder* coder)
{
    uint64_t end = coder->low + coder->range;
    uint64_t rest = 0xFFFFFFFFu;
    uint32_t bytes = 0;
    while (((coder->low + rest) & ~rest) >= end)
    {
        rest >>= 8;
        ++bytes;
    }
    coder->low = (coder->low + rest) & ~rest;
    espyPackCoder_Carry(coder);
    for (uint32_t i = 0; i < bytes; ++i)
    {
        espyPackCoder_Push(coder);
    }
    while (coder->lineBytes > 0 && coder->line[coder->lineBytes - 1u] == 0)
    {
        --coder->lineBytes;
    }
}

#endif
