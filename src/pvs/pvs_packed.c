// SPDX-License-Identifier: MIT
// Reads one cell out of a packed table: decodes the rows between it and the centre of its block, into the caller's
// words. No library call, no double, no allocation; 17 KB of stack.
//
// Bytes of any kind decode to some answer in bounded time: a line takes zeros after its last byte, every probability is
// above 0 and below 1, and the number of rows, words and slots comes from the header alone. What finds damage is
// espyPvs_Load.
//
// Based on: G. N. N. Martin, "Range encoding", 1979, in the binary form of I. Pavlov's LZMA, here with probabilities
// that are fixed per file.
#include "pvs/packed.h"

typedef struct espyPackCoder
{
    const uint8_t* at;
    const uint8_t* end;
    uint32_t range, code;
    const uint16_t* probabilities;
} espyPackCoder;

static inline uint32_t espyPackCoder_Byte(espyPackCoder* coder)
{
    return coder->at < coder->end ? *coder->at++ : 0u;
}

static void espyPackCoder_Start(espyPackCoder* coder, const uint8_t* from, const uint8_t* end)
{
    coder->at = from;
    coder->end = end;
    coder->range = 0xFFFFFFFFu;
    coder->code = 0;
    for (uint32_t i = 0; i < 4; ++i)
    {
        coder->code = coder->code << 8 | espyPackCoder_Byte(coder);
    }
}

/// Brings the range back to 2^16 or more. It is at least 1, so that once is enough.
static inline void espyPackCoder_Refill(espyPackCoder* coder)
{
    if (coder->range < 1u << 16)
    {
        uint32_t high = espyPackCoder_Byte(coder);
        coder->code = coder->code << 16 | high << 8 | espyPackCoder_Byte(coder);
        coder->range <<= 16;
    }
}

static inline uint32_t espyPackCoder_Decode(espyPackCoder* coder, uint32_t probability)
{
    uint32_t bound = (coder->range >> ESPYI_PACK_PROBABILITY_BITS) * probability;
    uint32_t bit = coder->code < bound ? 1u : 0u;
    // Without a branch: which bit it is can hardly be guessed.
    uint32_t other = bit - 1u;
    coder->code -= bound & other;
    coder->range = bound + ((coder->range - 2u * bound) & other);
    espyPackCoder_Refill(coder);
    return bit;
}

/// A bit that is 1 with the context's probability. `wanted` has no meaning here.
static inline uint32_t espyPackCoder_Bit(espyPackCoder* coder, uint32_t context, uint32_t wanted)
{
    (void)wanted;
    return espyPackCoder_Decode(coder, coder->probabilities[context]);
}

/// A bit by one of two contexts. Both are looked up before it is known which, since the bit before decides.
static inline uint32_t espyPackCoder_BitOf(espyPackCoder* coder, uint32_t ifZero, uint32_t ifOne, uint32_t which,
                                           uint32_t wanted)
{
    (void)wanted;
    uint32_t zero = coder->probabilities[ifZero];
    uint32_t one = coder->probabilities[ifOne];
    return espyPackCoder_Decode(coder, zero ^ ((zero ^ one) & (0u - which)));
}

static inline uint32_t espyPackCoder_Raw(espyPackCoder* coder, uint32_t wanted)
{
    (void)wanted;
    coder->range >>= 16;
    uint32_t value = coder->code / coder->range;
    // Only damaged bytes lead out of the interval.
    value = value < 0xFFFFu ? value : 0xFFFFu;
    coder->code -= value * coder->range;
    espyPackCoder_Refill(coder);
    return value;
}

#define ESPY_PACK_WANTED(value) 0u
#include "pvs/packed_row.inl"

// --- lines

/// The line that a stored cell belongs to: the number of lines that start up to it, less one.
static uint32_t espyPack_LineOf(const espyPvsPack* pack, uint32_t cell)
{
    const uint32_t* word = pack->starts + (size_t)(cell >> 5) * 2u;
    uint32_t upTo = cell % 32u == 31u ? ~0u : (2u << (cell & 31u)) - 1u;
    return word[1] + espyiPopCount32(word[0] & upTo) - 1u;
}

/// Shape of the tile that a stored cell is in.
static uint32_t espyPack_ShapeOf(const espyPvs* pvs, const espyPvsPack* pack, uint32_t cell)
{
    const uint32_t* shapes = pack->starts + (size_t)espyiBits_Words(pvs->cellCount) * 2u;
    uint32_t line = espyPack_LineOf(pack, cell);
    return shapes[line / 4u] >> (8u * (line % 4u));
}

static uint32_t espyPack_LineLength(const espyPvsPack* pack, size_t index)
{
    return pack->wideLengths ? ((const uint16_t*)pack->lengths)[index] : ((const uint8_t*)pack->lengths)[index];
}

static void espyPack_StartLine(const espyPvsPack* pack, uint32_t stripe, uint32_t line, espyPackCoder* coder)
{
    uint32_t groups = espyiPack_LineGroups(pack->lineCount);
    uint32_t group = line / ESPYI_PACK_LINE_GROUP;
    size_t first = (size_t)stripe * pack->lineCount;
    uint32_t offset = pack->bases[(size_t)stripe * groups + group];
    for (uint32_t i = group * ESPYI_PACK_LINE_GROUP; i < line; ++i)
    {
        offset += espyPack_LineLength(pack, first + i);
    }
    const uint8_t* from = pack->bytes + offset;
    espyPackCoder_Start(coder, from, from + espyPack_LineLength(pack, first + line));
}

// --- rows

/// Rows of two planes of a box that grows away from the centre of a block.
typedef struct espyPackPlanes
{
    uint32_t rows[2][ESPYI_PACK_REACH][ESPYI_PACK_REACH][ESPYI_PACK_STRIPE_WORDS];
} espyPackPlanes;

typedef struct espyPackWalk
{
    const espyPvs* pvs;
    const espyPvsPack* pack;
    espyPackCoder coder;
    uint32_t stripe, words, lastWord;
    uint32_t centre[3];
    uint32_t steps[3]; ///< From the centre to the cell.
    bool down[3];      ///< Towards lower coordinates.
    bool anchored;     ///< The centre is predicted from the row below.
    uint32_t anchor[ESPYI_PACK_STRIPE_WORDS];
} espyPackWalk;

static uint32_t espyPackWalk_At(const espyPackWalk* walk, uint32_t axis, uint32_t step)
{
    return walk->down[axis] ? walk->centre[axis] - step : walk->centre[axis] + step;
}

static void espyPackWalk_StartLine(espyPackWalk* walk, uint32_t cell)
{
    espyPack_StartLine(walk->pack, walk->stripe, espyPack_LineOf(walk->pack, cell), &walk->coder);
}

/// The row at the centre of the tile's middle block, which is the first of its line. No bits where it is not stored.
static void espyPackWalk_ReadAnchor(espyPackWalk* walk, const uint32_t at[3])
{
    int32_t rank = espyiPvs_RankAt(walk->pvs, at[0], at[1], at[2]);
    if (rank >= 0)
    {
        espyPackWalk_StartLine(walk, (uint32_t)rank);
        espyPackRow_CodeFirst(&walk->coder, NULL, walk->anchor, walk->words, walk->lastWord);
        return;
    }
    for (uint32_t w = 0; w < walk->words; ++w)
    {
        walk->anchor[w] = 0;
    }
}

/// Rows from the centre plane to the wanted x. The row of the centre is in the line that goes up; a way down starts
/// another line behind it. A cell that is not stored has no bits of its own: it repeats its nearest neighbour.
static void espyPackWalk_ReadLine(espyPackWalk* walk, espyPackPlanes* planes, uint32_t j, uint32_t k)
{
    uint32_t y = espyPackWalk_At(walk, 1, j);
    uint32_t z = espyPackWalk_At(walk, 2, k);
    const ptrdiff_t plane = (ptrdiff_t)(ESPYI_PACK_REACH * ESPYI_PACK_REACH * ESPYI_PACK_STRIPE_WORDS);
    ptrdiff_t inward[3];
    inward[0] = -(ptrdiff_t)ESPYI_PACK_STRIPE_WORDS;
    inward[1] = -(ptrdiff_t)(ESPYI_PACK_REACH * ESPYI_PACK_STRIPE_WORDS);
    inward[2] = (k & 1u) != 0 ? -plane : plane;
    bool started = false;
    for (uint32_t i = 0; i <= walk->steps[0]; ++i)
    {
        started = started && !(i == 1u && walk->down[0]);
        uint32_t* row = planes->rows[k & 1u][j][i];
        espyiPackNear nearby;
        espyiPackNear_Find(&nearby, row, (i > 0 ? 1u : 0u) | (j > 0 ? 2u : 0u) | (k > 0 ? 4u : 0u), inward);
        if (nearby.count == 0 && walk->anchored)
        {
            nearby.rows[nearby.count++] = walk->anchor;
        }
        int32_t rank = espyiPvs_RankAt(walk->pvs, espyPackWalk_At(walk, 0, i), y, z);
        if (rank < 0)
        {
            for (uint32_t w = 0; w < walk->words; ++w)
            {
                row[w] = nearby.count > 0 ? nearby.rows[0][w] : 0;
            }
            continue;
        }
        if (!started)
        {
            espyPackWalk_StartLine(walk, (uint32_t)rank);
            started = true;
        }
        espyPackRow_Code(&walk->coder, &nearby, NULL, row, walk->words, walk->lastWord);
    }
}

/// Finds the block of a cell, the way to it from the block's centre, and reads what that centre is predicted from.
static void espyPackWalk_Start(espyPackWalk* walk, uint32_t cell)
{
    uint32_t at[3];
    uint32_t anchor[3];
    espyiPvs_Coordinates(walk->pvs, cell, at);
    uint32_t shape = espyPack_ShapeOf(walk->pvs, walk->pack, cell);
    walk->anchored = false;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        espyiPackSpan tile = espyiPackSpan_At(walk->pvs->dims[axis], walk->pack->tiles[axis], at[axis]);
        espyiPackSpan block = espyiPackSpan_Part(tile, espyiPackShape_Parts(shape, axis), at[axis]);
        anchor[axis] = espyiPackSpan_Part(tile, espyiPackShape_Parts(shape, axis), tile.centre).centre;
        walk->centre[axis] = block.centre;
        walk->anchored = walk->anchored || block.centre != anchor[axis];
        walk->down[axis] = at[axis] < block.centre;
        walk->steps[axis] = walk->down[axis] ? block.centre - at[axis] : at[axis] - block.centre;
    }
    espyPackCoder_Start(&walk->coder, walk->pack->bytes, walk->pack->bytes);
    if (walk->anchored)
    {
        espyPackWalk_ReadAnchor(walk, anchor);
    }
}

void espyiPack_ReadStripe(const espyPvs* pvs, const espyPvsPack* pack, uint32_t cell, uint32_t stripe, uint32_t* words)
{
    espyPackPlanes planes;
    espyPackWalk walk;
    uint32_t width = espyiPack_StripeWidth(pack->width, stripe);
    walk.pvs = pvs;
    walk.pack = pack;
    walk.coder.probabilities = pack->model;
    walk.stripe = stripe;
    walk.words = espyiBits_Words(width);
    walk.lastWord = espyiPack_LastWord(width);
    espyPackWalk_Start(&walk, cell);
    for (uint32_t k = 0; k <= walk.steps[2]; ++k)
    {
        for (uint32_t j = 0; j <= walk.steps[1]; ++j)
        {
            espyPackWalk_ReadLine(&walk, &planes, j, k);
        }
    }
    const uint32_t* row = planes.rows[walk.steps[2] & 1u][walk.steps[1]][walk.steps[0]];
    const uint16_t* order = pack->model + ESPYI_PACK_CONTEXTS + (size_t)stripe * ESPYI_PACK_STRIPE_WORDS * 32u;
    for (uint32_t w = 0; w < walk.words; ++w)
    {
        words[w] = 0;
    }
    for (uint32_t w = 0; w < walk.words; ++w)
    {
        for (uint32_t rest = row[w]; rest != 0; rest &= rest - 1u)
        {
            espyiBits_Set(words, order[w * 32u + espyiPack_LowestBit(rest)]);
        }
    }
}

// --- checks

const void* espyiPack_CheckMap(const espyiPackMap* map, const uint32_t dims[3], uint32_t cellCount)
{
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        uint32_t tiles = map->tiles[axis];
        if (tiles > dims[axis] || (uint64_t)tiles * ESPYI_PACK_MAX_EXTENT < dims[axis])
        {
            return &map->tiles[axis];
        }
    }
    const uint32_t* words = (const uint32_t*)(const void*)(map + 1);
    uint32_t lines = 0;
    for (uint32_t i = 0; i < espyiBits_Words(cellCount); ++i)
    {
        uint32_t inWord = cellCount - i * 32u;
        // The first cell starts a line, so that every cell is in one.
        if ((i == 0 && (words[0] & 1u) == 0) || (inWord < 32u && words[i * 2u] >> inWord != 0))
        {
            return &words[i * 2u];
        }
        if (words[i * 2u + 1u] != lines)
        {
            return &words[i * 2u + 1u];
        }
        lines += espyiPopCount32(words[i * 2u]);
    }
    if (lines != map->lineCount)
    {
        return &map->lineCount;
    }
    const uint32_t* shapes = words + (size_t)espyiBits_Words(cellCount) * 2u;
    for (uint32_t i = 0; i < lines / 4u + (lines % 4u != 0 ? 1u : 0u); ++i)
    {
        // Six bits a shape; none behind the last line.
        uint32_t allowed = lines - i * 4u >= 4u ? 0x3F3F3F3Fu : 0x3F3F3F3Fu & ~(~0u << (8u * (lines - i * 4u)));
        if ((shapes[i] & ~allowed) != 0)
        {
            return &shapes[i];
        }
    }
    return NULL;
}

const void* espyiPack_CheckModel(const uint16_t* model, uint32_t width)
{
    for (uint32_t i = 0; i < ESPYI_PACK_CONTEXTS; ++i)
    {
        if (model[i] == 0 || model[i] >= ESPYI_PACK_PROBABILITY_ONE)
        {
            return &model[i];
        }
    }
    for (uint32_t stripe = 0; stripe < espyiPack_StripeCount(width); ++stripe)
    {
        const uint16_t* order = model + ESPYI_PACK_CONTEXTS + (size_t)stripe * ESPYI_PACK_STRIPE_WORDS * 32u;
        uint32_t count = espyiPack_StripeWidth(width, stripe);
        uint32_t seen[ESPYI_PACK_STRIPE_WORDS];
        for (uint32_t i = 0; i < espyiBits_Words(count); ++i)
        {
            seen[i] = 0;
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            if (order[i] >= count || espyiBits_Get(seen, order[i]))
            {
                return &order[i];
            }
            espyiBits_Set(seen, order[i]);
        }
    }
    return NULL;
}

const void* espyiPack_CheckLines(const espyPvsPack* pack, uint64_t byteCount)
{
    uint32_t lineCount = pack->lineCount;
    uint64_t offset = 0;
    const uint32_t* base = pack->bases;
    for (uint32_t stripe = 0; stripe < espyiPack_StripeCount(pack->width); ++stripe)
    {
        for (uint32_t line = 0; line < lineCount; ++line)
        {
            if (line % ESPYI_PACK_LINE_GROUP == 0)
            {
                if (*base != offset)
                {
                    return base;
                }
                ++base;
            }
            offset += espyPack_LineLength(pack, (size_t)stripe * lineCount + line);
        }
    }
    return offset == byteCount ? NULL : pack->lengths;
}
