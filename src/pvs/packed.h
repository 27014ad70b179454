// SPDX-License-Identifier: MIT
// The packed form of a table: what its writer (src/bake/pack.c) and its reader (pvs_packed.c) must agree on.
// docs/format.md is the normative page, docs/notes/packed.md tells why it is so.
//
// The lattice is split into tiles of at most 7 cells along each axis, and a tile into up to 4 x 4 x 4 blocks, so that
// the writer can bound what reading a cell takes. Within a block a cell is predicted from its
// neighbours on the side of the block's centre, so that the answer for one cell takes the cells of the box between it
// and the centre and no others: at most 4 x 4 x 4. Slots of a stripe are stored in an order that puts alike columns
// side by side.
#ifndef ESPYI_PACKED_H
#define ESPYI_PACKED_H

#include "core/core.h"
#include "pvs/format.h"

/// A program that is never given packed files can do without 5 KB of decoder: they are refused by their version then.
#if defined(ESPY_WITHOUT_PACKED)
#define ESPYI_PACK_IS_READ 0
#else
#define ESPYI_PACK_IS_READ 1
#endif

/// Farthest cell of a tile from its centre, along each axis.
#define ESPYI_PACK_RADIUS 3u
#define ESPYI_PACK_MAX_EXTENT (2u * ESPYI_PACK_RADIUS + 1u)
#define ESPYI_PACK_REACH (ESPYI_PACK_RADIUS + 1u)
/// Slots of a stripe: with two planes of 4 x 4 rows a reader takes 16 KB of stack.
#define ESPYI_PACK_STRIPE_WORDS 128u
/// Lines whose lengths are added up to find one of them.
#define ESPYI_PACK_LINE_GROUP 16u

/// Probabilities are in 1/32768, never 0 or 1, so that a decoder always goes on.
#define ESPYI_PACK_PROBABILITY_BITS 15u
#define ESPYI_PACK_PROBABILITY_ONE (1u << ESPYI_PACK_PROBABILITY_BITS)

/// Contexts of a slot whose neighbours disagree: 3 x 8 states of two axes and 128 of three, each with what the slot
/// before it had: another state, the same and 0, the same and 1.
#define ESPYI_PACK_STATES (3u * 8u + 128u)
#define ESPYI_PACK_MIXED_CONTEXTS (3u * ESPYI_PACK_STATES)
/// Contexts of "some slot of this group differs from all of its neighbours": group size, axes, the last such answer,
/// whether the group has slots whose neighbours disagree.
#define ESPYI_PACK_GROUP_CONTEXTS (3u * 4u * 2u * 2u)
/// Contexts of such a slot: axes, what its neighbours have, the last answer, whether it lies beside a change.
#define ESPYI_PACK_SLOT_CONTEXTS (4u * 2u * 2u * 2u)
#define ESPYI_PACK_FIRST_GROUP ESPYI_PACK_MIXED_CONTEXTS
#define ESPYI_PACK_FIRST_SLOT (ESPYI_PACK_FIRST_GROUP + ESPYI_PACK_GROUP_CONTEXTS)
#define ESPYI_PACK_CONTEXTS (ESPYI_PACK_FIRST_SLOT + ESPYI_PACK_SLOT_CONTEXTS)

_Static_assert(ESPYI_PACK_FIRST_GROUP == 456 && ESPYI_PACK_FIRST_SLOT == 504 && ESPYI_PACK_CONTEXTS == 536,
               "contexts are numbered as docs/format.md says");

/// A tile or block along one axis. Its cells are low to high - 1.
typedef struct espyiPackSpan
{
    uint32_t low, high, centre;
} espyiPackSpan;

/// The tile that holds coordinate x when `dim` cells are split into `tiles`, both below 65,536 and not 0.
static inline espyiPackSpan espyiPackSpan_At(uint32_t dim, uint32_t tiles, uint32_t x)
{
    uint32_t tile = ((x + 1u) * tiles - 1u) / dim;
    espyiPackSpan span;
    span.low = dim * tile / tiles;
    span.high = dim * (tile + 1u) / tiles;
    span.centre = (span.low + span.high - 1u) / 2u;
    return span;
}

/// The block that holds x where the tile is split into `parts`, as even as cells allow.
static inline espyiPackSpan espyiPackSpan_Part(espyiPackSpan tile, uint32_t parts, uint32_t x)
{
    uint32_t extent = tile.high - tile.low;
    uint32_t part = ((x - tile.low + 1u) * parts - 1u) / extent;
    espyiPackSpan span;
    span.low = tile.low + extent * part / parts;
    span.high = tile.low + extent * (part + 1u) / parts;
    span.centre = (span.low + span.high - 1u) / 2u;
    return span;
}

/// Parts of a tile along an axis by its shape: 1 to 4 in two bits an axis.
static inline uint32_t espyiPackShape_Parts(uint32_t shape, uint32_t axis)
{
    return (shape >> (2u * axis) & 3u) + 1u;
}

/// Rows that one row is predicted from, nearest first: along x, y, z, then the diagonals between them. `count` is 1, 3
/// or 7 for 1 to 3 axes; `firstState` is that of the mixed contexts. The centre of a block has no axes: it is predicted
/// from the centre of the block in the middle of the tile, and that one from nothing.
typedef struct espyiPackNear
{
    const uint32_t* rows[7];
    uint32_t count, axes, firstState;
} espyiPackNear;

/// Neighbours of a row that is away from the centre along the axes of `away` (bits 1, 2, 4 for x, y, z). inward[a]
/// words lead to the row one step nearer to the centre along axis a.
static inline void espyiPackNear_Find(espyiPackNear* out, const uint32_t* row, uint32_t away, const ptrdiff_t inward[3])
{
    // Two axes have the states from 0, 8 and 16 on; three have those from 24 on.
    static const uint8_t firstStates[8] = {0, 0, 0, 0, 0, 8, 16, 24};
    static const uint8_t steps[7] = {1, 2, 4, 3, 5, 6, 7};
    out->axes = espyiPopCount32(away);
    out->firstState = firstStates[away];
    out->count = 0;
    for (uint32_t n = 0; n < 7; ++n)
    {
        uint32_t step = steps[n];
        if ((step & away) == step)
        {
            ptrdiff_t offset = (step & 1u) != 0 ? inward[0] : 0;
            offset += (step & 2u) != 0 ? inward[1] : 0;
            offset += (step & 4u) != 0 ? inward[2] : 0;
            out->rows[out->count++] = row + offset;
        }
    }
}

/// Index of the lowest 1 bit of a number that is not 0.
static inline uint32_t espyiPack_LowestBit(uint32_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctz(bits);
#else
    return espyiPopCount32((bits & (0u - bits)) - 1u);
#endif
}

static inline uint32_t espyiPack_StripeCount(uint32_t width)
{
    uint32_t words = espyiBits_Words(width);
    return words / ESPYI_PACK_STRIPE_WORDS + (words % ESPYI_PACK_STRIPE_WORDS != 0 ? 1u : 0u);
}

/// Slots of one stripe: all stripes but the last are full.
static inline uint32_t espyiPack_StripeWidth(uint32_t width, uint32_t stripe)
{
    uint32_t rest = width - stripe * ESPYI_PACK_STRIPE_WORDS * 32u;
    return rest < ESPYI_PACK_STRIPE_WORDS * 32u ? rest : ESPYI_PACK_STRIPE_WORDS * 32u;
}

/// 1 bits of the slots that exist in the last word of a row.
static inline uint32_t espyiPack_LastWord(uint32_t width)
{
    return width % 32u != 0 ? ~(~0u << (width % 32u)) : ~0u;
}

/// Head of a section STATIC_MAP or DYNAMIC_MAP. Behind it are two words for every 32 cells: bits of those that start a
/// line, and the number of lines before them; then the shapes of the tiles that the lines are in, four to a word.
typedef struct espyiPackMap
{
    uint32_t tiles[3];
    uint32_t lineCount;
} espyiPackMap;

/// First place of a loaded section that breaks a rule; null where it holds all of them. What the checks read is proven
/// to have the size that the header demands.
const void* espyiPack_CheckMap(const espyiPackMap* map, const uint32_t dims[3], uint32_t cellCount);
const void* espyiPack_CheckModel(const uint16_t* model, uint32_t width);
/// Bases must be the running sums of the lengths, and all of them together the bytes of the table.
const void* espyiPack_CheckLines(const espyPvsPack* pack, uint64_t byteCount);

static inline uint32_t espyiPack_LineGroups(uint32_t lineCount)
{
    return lineCount / ESPYI_PACK_LINE_GROUP + (lineCount % ESPYI_PACK_LINE_GROUP != 0 ? 1u : 0u);
}

/// Rank of a coordinate inside the lattice, -1 where it is not stored. Exported for espy-bake alone.
ESPY_EXPORT int32_t espyiPvs_RankAt(const espyPvs* pvs, uint32_t x, uint32_t y, uint32_t z);
/// Lattice coordinates of a stored cell.
ESPY_EXPORT void espyiPvs_Coordinates(const espyPvs* pvs, uint32_t cell, uint32_t out[3]);

/// True where all of some coarse blocks are stored and not in a dynamic set. Ends early at any block that is not, so
/// that the work is bounded by the stored ones. Exported for the world alone.
bool espyiPvs_AreBlocksHidden(const espyPvs* pvs, const uint32_t* dynamicSet, const uint32_t first[3],
                              const uint32_t last[3]);

/// Writes the words of one stripe of a cell's set, in slot order, unused high bits 0. `cell` is a stored cell.
void espyiPack_ReadStripe(const espyPvs* pvs, const espyPvsPack* pack, uint32_t cell, uint32_t stripe, uint32_t* words);

#endif
