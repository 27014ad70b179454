// SPDX-License-Identifier: MIT
// Rewrites the tables of a .espy file in the packed form (format 2.0), and back. The reader is src/pvs/pvs_packed.c,
// with which this file shares the walk over a row; docs/notes/packed.md tells what else was tried.
//
// A table is coded twice: once to count how each context turns out, then with the probabilities that follow. The size
// of a block is the largest that keeps a cell's reading within a budget of coded bits.
//
// Based on: P. G. Howard, J. S. Vitter, "Fast and efficient lossless image compression", 1993, for predictions that
// only look at neighbours on one side; the column order is the nearest-neighbour tour of D. S. Johnson, S. Krishnan et
// al., "Compressing large Boolean matrices using reordering techniques", 2004.
#include "bake/pack_coder.h"
#include "bake/pack_internal.h"

#include <string.h>

/// How far blocks may be cut.
typedef struct espyPackWays
{
    uint32_t extent;    ///< Cells of a tile along an axis, at most.
    uint32_t shortest;  ///< Cells of a block that are cut no further.
    uint32_t worstBits; ///< Coded bits that reading a cell of a tile may take, where cutting can help it.
    uint32_t meanBits;  ///< The same on average.
} espyPackWays;

/// A cell takes its tile's anchor and a few rows: some 20 us. With tables that are still ESPY_PACK_WORTH times smaller
/// than plain ones so, the rest of the room is spent on this.
static const espyPackWays espyPackWays_Quick = {3u, 1u, 2200u, 1200u};
/// As small as can be with up to 60 us. Three quarters of the bits would cost a tenth more room on a level with long
/// views.
static const espyPackWays espyPackWays_Small = {ESPYI_PACK_MAX_EXTENT, 2u, 8000u, 3000u};
#define ESPY_PACK_WORTH 8u
/// Cells that the order of slots looks at, and words of such a column.
#define ESPY_PACK_SAMPLES 4096u
#define ESPY_PACK_SAMPLE_WORDS (ESPY_PACK_SAMPLES / 32u)
#define ESPY_PACK_BLOCK_ROWS (ESPYI_PACK_MAX_EXTENT * ESPYI_PACK_MAX_EXTENT * ESPYI_PACK_MAX_EXTENT)

#define ESPY_PACK_WANTED(value) (value)
#include "pvs/packed_row.inl"

// --- a table on its way

typedef struct espyPackTable
{
    const espyPvs* pvs;
    const espyPackWays* ways;
    bool dynamic;
    uint32_t width, words, stripes;
    uint16_t* model;   ///< Probabilities and order, as in the file.
    uint32_t* lengths; ///< Of every line of every stripe.
    size_t* starts;    ///< Of the same lines in `bytes`, which are in the order of blocks.
    uint8_t* bytes;
    size_t byteCount, byteCapacity;
    uint32_t* set;  ///< One cell's set in slot order.
    uint32_t* rows; ///< Of a block, in the order of the stripe.
    uint32_t* rowBits;
    uint32_t* work; ///< Bits that reading each cell takes.
    uint64_t counts[ESPYI_PACK_CONTEXTS][2];
    espyPackCoder coder;
} espyPackTable;

typedef struct espyPackMap
{
    espyiPackMap head;
    uint8_t* shapes; ///< Of each cell's tile.
    uint32_t* words; ///< The section, as in the file.
    size_t wordCount;
} espyPackMap;

static void espyPackTable_Free(espyPackTable* table, const espyHooks* hooks)
{
    espyiFree(hooks, table->model);
    espyiFree(hooks, table->lengths);
    espyiFree(hooks, table->starts);
    espyiFree(hooks, table->bytes);
    espyiFree(hooks, table->set);
    espyiFree(hooks, table->rows);
    espyiFree(hooks, table->rowBits);
    espyiFree(hooks, table->work);
    espyiFree(hooks, table->coder.line);
}

static void espyPackTable_Read(espyPackTable* table, uint32_t cell)
{
    if (table->dynamic)
    {
        espyPvs_ReadDynamicSet(table->pvs, (int32_t)cell, table->set);
    }
    else
    {
        espyPvs_ReadStaticSet(table->pvs, (int32_t)cell, table->set);
    }
}

static uint16_t* espyPackTable_Order(espyPackTable* table, uint32_t stripe)
{
    return table->model + ESPYI_PACK_CONTEXTS + (size_t)stripe * ESPYI_PACK_STRIPE_WORDS * 32u;
}

// --- order of slots

/// Columns of a stripe over evenly spread cells.
static void espyPackTable_Sample(espyPackTable* table, uint32_t stripe, uint32_t* columns)
{
    uint32_t cells = table->pvs->cellCount;
    uint32_t samples = cells < ESPY_PACK_SAMPLES ? cells : ESPY_PACK_SAMPLES;
    uint32_t width = espyiPack_StripeWidth(table->width, stripe);
    for (uint32_t sample = 0; sample < samples; ++sample)
    {
        espyPackTable_Read(table, (uint32_t)((uint64_t)cells * sample / samples));
        const uint32_t* set = table->set + (size_t)stripe * ESPYI_PACK_STRIPE_WORDS;
        for (uint32_t slot = 0; slot < width; ++slot)
        {
            if (espyiBits_Get(set, slot))
            {
                espyiBits_Set(columns + (size_t)slot * ESPY_PACK_SAMPLE_WORDS, sample);
            }
        }
    }
}

/// Differing samples of two columns, or any number from `enough` on.
static uint32_t espyPack_Distance(const uint32_t* a, const uint32_t* b, uint32_t enough)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < ESPY_PACK_SAMPLE_WORDS && distance < enough; ++i)
    {
        distance += espyiPopCount32(a[i] ^ b[i]);
    }
    return distance;
}

/// Each slot is followed by the one left over that is most like it, the lower one of equals.
static void espyPack_Tour(const uint32_t* columns, uint16_t* order, uint32_t width)
{
    for (uint32_t i = 0; i < width; ++i)
    {
        order[i] = (uint16_t)i;
    }
    for (uint32_t i = 0; i + 2u < width; ++i)
    {
        const uint32_t* from = columns + (size_t)order[i] * ESPY_PACK_SAMPLE_WORDS;
        uint32_t best = i + 1u;
        uint32_t bestDistance = ~0u;
        for (uint32_t j = i + 1u; j < width && bestDistance > 0; ++j)
        {
            uint32_t distance =
                espyPack_Distance(from, columns + (size_t)order[j] * ESPY_PACK_SAMPLE_WORDS, bestDistance);
            if (distance < bestDistance)
            {
                bestDistance = distance;
                best = j;
            }
        }
        // Kept in slot order behind, so that "the lower one" stays true.
        uint16_t chosen = order[best];
        memmove(&order[i + 2u], &order[i + 1u], (best - i - 1u) * sizeof *order);
        order[i + 1u] = chosen;
    }
}

static espyResult espyPackTable_FindOrder(espyPackTable* table, const espyHooks* hooks)
{
    for (uint32_t stripe = 0; stripe < table->stripes; ++stripe)
    {
        uint32_t width = espyiPack_StripeWidth(table->width, stripe);
        uint32_t* columns = espyiAlloc(hooks, (size_t)width * ESPY_PACK_SAMPLE_WORDS, sizeof *columns);
        if (!columns)
        {
            return espyResult_OutOfMemory;
        }
        espyPackTable_Sample(table, stripe, columns);
        espyPack_Tour(columns, espyPackTable_Order(table, stripe), width);
        espyiFree(hooks, columns);
    }
    return espyResult_Ok;
}

// --- map

static void espyPackMap_Tile(const espyPackMap* map, const espyPvs* pvs, const uint32_t at[3], espyiPackSpan spans[3])
{
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        spans[axis] = espyiPackSpan_At(pvs->dims[axis], map->head.tiles[axis], at[axis]);
    }
}

/// The block that a stored cell is in, and the centre of the middle block of its tile.
static void espyPackMap_Block(const espyPackMap* map, const espyPvs* pvs, uint32_t cell, uint32_t at[3],
                              espyiPackSpan spans[3], uint32_t anchor[3])
{
    espyiPvs_Coordinates(pvs, cell, at);
    espyPackMap_Tile(map, pvs, at, spans);
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        uint32_t parts = espyiPackShape_Parts(map->shapes[cell], axis);
        anchor[axis] = espyiPackSpan_Part(spans[axis], parts, spans[axis].centre).centre;
        spans[axis] = espyiPackSpan_Part(spans[axis], parts, at[axis]);
    }
}

/// Lines of all cells once the shapes are known: a cell begins one in another half of a block or another row.
static bool espyPackMap_Fill(espyPackMap* map, const espyPvs* pvs, const espyHooks* hooks)
{
    size_t headWords = sizeof map->head / sizeof *map->words;
    size_t starts = headWords + (size_t)espyiBits_Words(pvs->cellCount) * 2u;
    // As many lines as cells at most.
    map->words = espyiAlloc(hooks, starts + pvs->cellCount / 4u + 1u, sizeof *map->words);
    if (!map->words)
    {
        return false;
    }
    uint32_t last[3] = {0, 0, 0};
    for (uint32_t cell = 0; cell < pvs->cellCount; ++cell)
    {
        uint32_t at[3];
        uint32_t anchor[3];
        espyiPackSpan spans[3];
        espyPackMap_Block(map, pvs, cell, at, spans, anchor);
        uint32_t from = at[0] < spans[0].centre ? spans[0].low : spans[0].centre;
        uint32_t* word = map->words + headWords + (size_t)(cell / 32u) * 2u;
        if (cell % 32u == 0)
        {
            word[1] = map->head.lineCount;
        }
        if (cell == 0 || from != last[0] || at[1] != last[1] || at[2] != last[2])
        {
            uint32_t line = map->head.lineCount++;
            word[0] |= 1u << cell % 32u;
            map->words[starts + line / 4u] |= (uint32_t)map->shapes[cell] << (8u * (line % 4u));
        }
        last[0] = from;
        last[1] = at[1];
        last[2] = at[2];
    }
    memcpy(map->words, &map->head, sizeof map->head);
    map->wordCount = starts + (map->head.lineCount + 3u) / 4u;
    return true;
}

static uint32_t espyPackMap_LineOf(const espyPackMap* map, uint32_t cell)
{
    const uint32_t* word = map->words + sizeof map->head / sizeof *map->words + (size_t)(cell / 32u) * 2u;
    return word[1] + espyiPopCount32(word[0] & (~0u >> (31u - cell % 32u))) - 1u;
}

// --- blocks

typedef struct espyPackBlock
{
    espyPackTable* table;
    const espyPackMap* map;
    const espyHooks* hooks;
    espyiPackSpan spans[3];
    uint32_t stripe, words, lastWord;
    uint32_t anchorAt[3]; ///< Whose row predicts that of the centre, unless it is the same.
    uint32_t anchorBits;
    uint32_t anchor[ESPYI_PACK_STRIPE_WORDS];
} espyPackBlock;

static uint32_t* espyPackBlock_Row(const espyPackBlock* block, const uint32_t at[3])
{
    uint32_t x = at[0] - block->spans[0].low;
    uint32_t y = at[1] - block->spans[1].low;
    uint32_t z = at[2] - block->spans[2].low;
    uint32_t index = (z * ESPYI_PACK_MAX_EXTENT + y) * ESPYI_PACK_MAX_EXTENT + x;
    return block->table->rows + (size_t)index * ESPYI_PACK_STRIPE_WORDS;
}

static uint32_t* espyPackBlock_Bits(const espyPackBlock* block, const uint32_t* row)
{
    return &block->table->rowBits[(size_t)(row - block->table->rows) / ESPYI_PACK_STRIPE_WORDS];
}

static void espyPackBlock_Near(const espyPackBlock* block, const uint32_t* row, const uint32_t at[3],
                               espyiPackNear* nearby)
{
    ptrdiff_t inward[3];
    uint32_t away = 0;
    ptrdiff_t stride = ESPYI_PACK_STRIPE_WORDS;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        uint32_t centre = block->spans[axis].centre;
        away |= at[axis] != centre ? 1u << axis : 0u;
        inward[axis] = at[axis] < centre ? stride : -stride;
        stride *= ESPYI_PACK_MAX_EXTENT;
    }
    espyiPackNear_Find(nearby, row, away, inward);
    if (away == 0 && memcmp(at, block->anchorAt, sizeof block->anchorAt) != 0)
    {
        nearby->rows[nearby->count++] = block->anchor;
    }
}

/// The row of a stored cell in the order of the stripe.
static void espyPackBlock_LoadRow(const espyPackBlock* block, uint32_t cell, uint32_t* row)
{
    espyPackTable* table = block->table;
    espyPackTable_Read(table, cell);
    const uint32_t* set = table->set + (size_t)block->stripe * ESPYI_PACK_STRIPE_WORDS;
    const uint16_t* order = espyPackTable_Order(table, block->stripe);
    uint32_t width = espyiPack_StripeWidth(table->width, block->stripe);
    memset(row, 0, block->words * sizeof *row);
    for (uint32_t i = 0; i < width; ++i)
    {
        row[i / 32u] |= (set[order[i] / 32u] >> (order[i] % 32u) & 1u) << (i % 32u);
    }
}

/// Codes the cells of one half of a row of a block, from the centre on. `row` of a cell that is not stored repeats its
/// nearest neighbour, as the reader has it.
static bool espyPackBlock_CodeLine(espyPackBlock* block, uint32_t y, uint32_t z, bool down)
{
    espyPackTable* table = block->table;
    const espyPvs* pvs = table->pvs;
    uint32_t first = down ? block->spans[0].centre - 1u : block->spans[0].centre;
    uint32_t count = down ? block->spans[0].centre - block->spans[0].low : block->spans[0].high - first;
    uint32_t coded[ESPYI_PACK_STRIPE_WORDS] = {0};
    int32_t last = -1;
    espyPackCoder_Start(&table->coder);
    for (uint32_t i = 0; i < count; ++i)
    {
        const uint32_t at[3] = {down ? first - i : first + i, y, z};
        uint32_t* row = espyPackBlock_Row(block, at);
        espyiPackNear nearby;
        espyPackBlock_Near(block, row, at, &nearby);
        int32_t rank = espyiPvs_RankAt(pvs, at[0], y, z);
        table->coder.bits = 0;
        if (rank >= 0)
        {
            espyPackBlock_LoadRow(block, (uint32_t)rank, row);
            espyPackRow_Code(&table->coder, &nearby, row, coded, block->words, block->lastWord);
            last = rank;
        }
        else if (nearby.count > 0)
        {
            memcpy(row, nearby.rows[0], block->words * sizeof *row);
        }
        else
        {
            memset(row, 0, block->words * sizeof *row);
        }
        *espyPackBlock_Bits(block, row) = table->coder.bits;
    }
    if (last < 0 || !table->coder.probabilities)
    {
        return true;
    }
    espyPackCoder_Finish(&table->coder);
    size_t line = (size_t)block->stripe * block->map->head.lineCount + espyPackMap_LineOf(block->map, (uint32_t)last);
    size_t bytes = table->coder.lineBytes;
    if (!espyiGrow(block->hooks, (void**)&table->bytes, &table->byteCapacity, table->byteCount + bytes, 1))
    {
        return false;
    }
    if (bytes > 0)
    {
        memcpy(table->bytes + table->byteCount, table->coder.line, bytes);
    }
    table->starts[line] = table->byteCount;
    table->lengths[line] = (uint32_t)bytes;
    table->byteCount += bytes;
    return true;
}

/// Coordinate of step 0, 1, 2 ... along an axis, nearest to the centre first.
static uint32_t espyPackSpan_Outward(const espyiPackSpan* span, uint32_t step)
{
    uint32_t below = span->centre - span->low;
    uint32_t above = span->high - 1u - span->centre;
    uint32_t both = below < above ? below : above;
    if (step > 2u * both)
    {
        return below > above ? span->centre - (step - both) : span->centre + (step - both);
    }
    return step % 2u != 0 ? span->centre + (step + 1u) / 2u : span->centre - step / 2u;
}

/// Adds up what reading each cell of the block takes: the rows of the box to the centre.
static void espyPackBlock_AddWork(const espyPackBlock* block)
{
    const espyiPackSpan* s = block->spans;
    uint32_t at[3];
    for (at[2] = s[2].low; at[2] < s[2].high; ++at[2])
    {
        for (at[1] = s[1].low; at[1] < s[1].high; ++at[1])
        {
            for (at[0] = s[0].low; at[0] < s[0].high; ++at[0])
            {
                int32_t rank = espyiPvs_RankAt(block->table->pvs, at[0], at[1], at[2]);
                uint32_t low[3], high[3], on[3];
                for (uint32_t axis = 0; axis < 3; ++axis)
                {
                    low[axis] = at[axis] < s[axis].centre ? at[axis] : s[axis].centre;
                    high[axis] = at[axis] < s[axis].centre ? s[axis].centre : at[axis];
                }
                uint32_t bits = block->anchorBits;
                for (on[2] = low[2]; on[2] <= high[2]; ++on[2])
                {
                    for (on[1] = low[1]; on[1] <= high[1]; ++on[1])
                    {
                        for (on[0] = low[0]; on[0] <= high[0]; ++on[0])
                        {
                            bits += *espyPackBlock_Bits(block, espyPackBlock_Row(block, on));
                        }
                    }
                }
                if (rank >= 0)
                {
                    block->table->work[rank] += bits;
                }
            }
        }
    }
}

/// The row that predicts the centre's, and what reading it takes.
static void espyPackBlock_LoadAnchor(espyPackBlock* block)
{
    const espyiPackSpan* spans = block->spans;
    const uint32_t* at = block->anchorAt;
    memset(block->anchor, 0, sizeof block->anchor);
    block->anchorBits = 0;
    if (at[0] == spans[0].centre && at[1] == spans[1].centre && at[2] == spans[2].centre)
    {
        return;
    }
    int32_t rank = espyiPvs_RankAt(block->table->pvs, at[0], at[1], at[2]);
    if (rank >= 0)
    {
        espyPackBlock_LoadRow(block, (uint32_t)rank, block->anchor);
        for (uint32_t w = 0; w < block->words; ++w)
        {
            block->anchorBits += block->anchor[w] != 0 ? 1u + 2u * ESPYI_PACK_RAW_BITS : 1u;
        }
    }
}

static bool espyPackBlock_Code(espyPackBlock* block)
{
    const espyiPackSpan* spans = block->spans;
    espyPackBlock_LoadAnchor(block);
    for (uint32_t k = 0; k < spans[2].high - spans[2].low; ++k)
    {
        uint32_t z = espyPackSpan_Outward(&spans[2], k);
        for (uint32_t j = 0; j < spans[1].high - spans[1].low; ++j)
        {
            uint32_t y = espyPackSpan_Outward(&spans[1], j);
            if (!espyPackBlock_CodeLine(block, y, z, false) || !espyPackBlock_CodeLine(block, y, z, true))
            {
                return false;
            }
        }
    }
    if (!block->table->coder.probabilities)
    {
        espyPackBlock_AddWork(block);
    }
    return true;
}

/// The lowest stored cell of the block. A lattice may be far larger than what it stores, so that blocks are found by
/// their cells.
static bool espyPackBlock_IsFirst(const espyPackBlock* block, uint32_t cell)
{
    const espyiPackSpan* s = block->spans;
    int32_t rank = -1;
    for (uint32_t z = s[2].low; z < s[2].high; ++z)
    {
        for (uint32_t y = s[1].low; y < s[1].high; ++y)
        {
            for (uint32_t x = s[0].low; x < s[0].high && rank < 0; ++x)
            {
                rank = espyiPvs_RankAt(block->table->pvs, x, y, z);
            }
            if (rank >= 0)
            {
                return (uint32_t)rank == cell;
            }
        }
    }
    return false;
}

// --- passes

/// Codes all blocks, in the order of their lowest cells.
static bool espyPackTable_Pass(espyPackTable* table, const espyPackMap* map, const espyHooks* hooks)
{
    const espyPvs* pvs = table->pvs;
    for (uint32_t stripe = 0; stripe < table->stripes; ++stripe)
    {
        uint32_t width = espyiPack_StripeWidth(table->width, stripe);
        espyPackBlock block = {.table = table, .map = map, .hooks = hooks, .stripe = stripe};
        block.words = espyiBits_Words(width);
        block.lastWord = espyiPack_LastWord(width);
        for (uint32_t cell = 0; cell < pvs->cellCount; ++cell)
        {
            uint32_t at[3];
            espyPackMap_Block(map, pvs, cell, at, block.spans, block.anchorAt);
            if (espyPackBlock_IsFirst(&block, cell) && !espyPackBlock_Code(&block))
            {
                return false;
            }
        }
    }
    return true;
}

static void espyPackTable_SetProbabilities(espyPackTable* table)
{
    for (uint32_t i = 0; i < ESPYI_PACK_CONTEXTS; ++i)
    {
        uint64_t ones = table->counts[i][1];
        uint64_t all = ones + table->counts[i][0];
        // Half a count more of each, so that what never happened keeps a code.
        uint64_t share = ((2u * ones + 1u) << ESPYI_PACK_PROBABILITY_BITS) / (2u * all + 2u);
        uint32_t most = ESPYI_PACK_PROBABILITY_ONE - 1u;
        table->model[i] = (uint16_t)(share < 1u ? 1u : share > most ? most : share);
    }
}

static espyResult espyPackTable_Create(espyPackTable* table, const espyPvs* pvs, bool dynamic, const espyHooks* hooks)
{
    table->pvs = pvs;
    table->dynamic = dynamic;
    table->width = dynamic ? pvs->coarseCount : pvs->occludeeCount;
    table->words = espyiBits_Words(table->width);
    table->stripes = espyiPack_StripeCount(table->width);
    table->model = espyiAlloc(hooks, (size_t)ESPYI_PACK_CONTEXTS + table->width, sizeof *table->model);
    table->set = espyiAlloc(hooks, (size_t)table->words + 1u, sizeof *table->set);
    table->rows = espyiAlloc(hooks, (size_t)ESPY_PACK_BLOCK_ROWS * ESPYI_PACK_STRIPE_WORDS, sizeof *table->rows);
    table->rowBits = espyiAlloc(hooks, ESPY_PACK_BLOCK_ROWS, sizeof *table->rowBits);
    table->work = espyiAlloc(hooks, (size_t)pvs->cellCount + 1u, sizeof *table->work);
    table->coder.line = espyiAlloc(hooks, ESPYI_PACK_MAX_LINE + 1u, 1);
    if (!table->model || !table->set || !table->rows || !table->rowBits || !table->work || !table->coder.line)
    {
        return espyResult_OutOfMemory;
    }
    return espyPackTable_FindOrder(table, hooks);
}

// --- shapes

/// Stored cells of a tile; returns how many.
static uint32_t espyPackBlock_Cells(const espyPackBlock* tile, uint32_t cells[ESPY_PACK_BLOCK_ROWS])
{
    const espyiPackSpan* s = tile->spans;
    uint32_t count = 0;
    for (uint32_t z = s[2].low; z < s[2].high; ++z)
    {
        for (uint32_t y = s[1].low; y < s[1].high; ++y)
        {
            for (uint32_t x = s[0].low; x < s[0].high; ++x)
            {
                int32_t rank = espyiPvs_RankAt(tile->table->pvs, x, y, z);
                if (rank >= 0)
                {
                    cells[count++] = (uint32_t)rank;
                }
            }
        }
    }
    return count;
}

/// Counts what reading the cells of a tile takes with the shape that they have.
static bool espyPackTable_FitsTile(espyPackTable* table, const espyPackMap* map, const uint32_t* cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        table->work[cells[i]] = 0;
    }
    for (uint32_t stripe = 0; stripe < table->stripes; ++stripe)
    {
        uint32_t width = espyiPack_StripeWidth(table->width, stripe);
        espyPackBlock block = {.table = table, .map = map, .stripe = stripe};
        block.words = espyiBits_Words(width);
        block.lastWord = espyiPack_LastWord(width);
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t at[3];
            espyPackMap_Block(map, table->pvs, cells[i], at, block.spans, block.anchorAt);
            if (espyPackBlock_IsFirst(&block, cells[i]))
            {
                espyPackBlock_Code(&block);
            }
        }
    }
    uint64_t sum = 0;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        sum += table->work[cells[i]];
        worst = table->work[cells[i]] > worst ? table->work[cells[i]] : worst;
    }
    return worst <= table->ways->worstBits && sum <= (uint64_t)table->ways->meanBits * count;
}

/// The next finer shape: one part more along the axis with the longest ones. 0 when none is longer than `shortest`.
static uint32_t espyPackShape_Finer(uint32_t shape, const espyiPackSpan tile[3], uint32_t shortest)
{
    uint32_t best = 3;
    uint32_t longest = shortest;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        uint32_t parts = espyiPackShape_Parts(shape, axis);
        uint32_t extent = (tile[axis].high - tile[axis].low + parts - 1u) / parts;
        if (parts < 4u && extent > longest)
        {
            longest = extent;
            best = axis;
        }
    }
    return best < 3u ? shape + (1u << (2u * best)) : 0;
}

static void espyPackTable_FindShapes(espyPackTable* table, espyPackMap* map)
{
    const espyPvs* pvs = table->pvs;
    table->coder.probabilities = NULL;
    table->coder.counts = table->counts;
    for (uint32_t cell = 0; cell < pvs->cellCount; ++cell)
    {
        uint32_t at[3];
        uint32_t cells[ESPY_PACK_BLOCK_ROWS];
        espyPackBlock tile = {.table = table, .map = map};
        espyiPvs_Coordinates(pvs, cell, at);
        espyPackMap_Tile(map, pvs, at, tile.spans);
        if (!espyPackBlock_IsFirst(&tile, cell))
        {
            continue;
        }
        uint32_t count = espyPackBlock_Cells(&tile, cells);
        uint32_t shape = 0;
        while (!espyPackTable_FitsTile(table, map, cells, count))
        {
            uint32_t finer = espyPackShape_Finer(shape, tile.spans, table->ways->shortest);
            if (finer == 0)
            {
                break;
            }
            shape = finer;
            for (uint32_t i = 0; i < count; ++i)
            {
                map->shapes[cells[i]] = (uint8_t)shape;
            }
        }
    }
}

/// First pass: counts what each context turns out as, and the work.
static void espyPackTable_Count(espyPackTable* table, const espyPackMap* map, const espyHooks* hooks,
                                espyPackStats* stats)
{
    uint32_t cellCount = table->pvs->cellCount;
    memset(table->counts, 0, sizeof table->counts);
    memset(table->work, 0, cellCount * sizeof *table->work);
    espyPackTable_Pass(table, map, hooks);
    uint64_t sum = 0;
    stats->worstBits = 0;
    for (uint32_t cell = 0; cell < cellCount; ++cell)
    {
        sum += table->work[cell];
        stats->worstBits = table->work[cell] > stats->worstBits ? table->work[cell] : stats->worstBits;
    }
    stats->meanBits = cellCount > 0 ? (uint32_t)(sum / cellCount) : 0;
}

/// Second pass, and the bytes of all lines in the order of the file.
static espyResult espyPackTable_Encode(espyPackTable* table, const espyPackMap* map, const espyHooks* hooks)
{
    size_t lines = (size_t)table->stripes * map->head.lineCount;
    table->lengths = espyiAlloc(hooks, lines + 1u, sizeof *table->lengths);
    table->starts = espyiAlloc(hooks, lines + 1u, sizeof *table->starts);
    espyPackTable_SetProbabilities(table);
    table->coder.probabilities = table->model;
    if (!table->lengths || !table->starts || !espyPackTable_Pass(table, map, hooks))
    {
        return espyResult_OutOfMemory;
    }
    // Offsets are 32 bits.
    return table->byteCount > 0xFFFFFFFFu ? espyResult_LimitExceeded : espyResult_Ok;
}

// --- the file

static espyResult espyPackTable_AddSections(const espyPackTable* table, const espyPackMap* map, espyiRewrite* rewrite)
{
    uint32_t first = (uint32_t)(table->dynamic ? espyiSectionKind_DynamicMap : espyiSectionKind_StaticMap);
    uint32_t lineCount = map->head.lineCount;
    uint64_t lines = (uint64_t)table->stripes * lineCount;
    uint32_t longest = 0;
    for (uint64_t i = 0; i < lines; ++i)
    {
        longest = table->lengths[i] > longest ? table->lengths[i] : longest;
    }
    uint32_t lengthBytes = longest > 255u ? 2u : 1u;
    uint32_t groups = espyiPack_LineGroups(lineCount);
    uint64_t modelCount = (uint64_t)ESPYI_PACK_CONTEXTS + table->width;
    uint32_t* words = espyiRewrite_Add(rewrite, first, 4, map->wordCount);
    uint16_t* model = espyiRewrite_Add(rewrite, first + 1u, 2, modelCount);
    uint8_t* lengths = espyiRewrite_Add(rewrite, first + 2u, lengthBytes, lines);
    uint32_t* bases = espyiRewrite_Add(rewrite, first + 3u, 4, (uint64_t)table->stripes * groups);
    uint8_t* bytes = espyiRewrite_Add(rewrite, first + 4u, 1, table->byteCount);
    if (!words || !model || !lengths || !bases || !bytes)
    {
        return espyResult_OutOfMemory;
    }
    memcpy(words, map->words, map->wordCount * sizeof *words);
    memcpy(model, table->model, (size_t)modelCount * sizeof *model);
    uint32_t offset = 0;
    for (size_t i = 0; i < lines; ++i)
    {
        uint32_t line = (uint32_t)(i % lineCount);
        if (line % ESPYI_PACK_LINE_GROUP == 0)
        {
            bases[i / lineCount * groups + line / ESPYI_PACK_LINE_GROUP] = offset;
        }
        if (lengthBytes == 2u)
        {
            ((uint16_t*)(void*)lengths)[i] = (uint16_t)table->lengths[i];
        }
        else
        {
            lengths[i] = (uint8_t)table->lengths[i];
        }
        if (table->lengths[i] > 0)
        {
            memcpy(bytes + offset, table->bytes + table->starts[i], table->lengths[i]);
        }
        offset += table->lengths[i];
    }
    return espyResult_Ok;
}

static espyResult espyPackTable_Pack(espyPackTable* table, espyPackMap* map, const espyHooks* hooks,
                                     espyiRewrite* rewrite, espyPackStats* stats)
{
    const espyPvs* pvs = table->pvs;
    map->shapes = espyiAlloc(hooks, (size_t)pvs->cellCount + 1u, 1);
    if (!map->shapes)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        map->head.tiles[axis] = (pvs->dims[axis] + table->ways->extent - 1u) / table->ways->extent;
    }
    espyPackTable_FindShapes(table, map);
    if (!espyPackMap_Fill(map, pvs, hooks))
    {
        return espyResult_OutOfMemory;
    }
    espyPackTable_Count(table, map, hooks, stats);
    espyResult result = espyPackTable_Encode(table, map, hooks);
    return result == espyResult_Ok ? espyPackTable_AddSections(table, map, rewrite) : result;
}

/// Packs one table with memory that it gives back.
static espyResult espyPack_Table(const espyPvs* pvs, bool dynamic, const espyPackWays* ways, const espyHooks* hooks,
                                 espyiRewrite* rewrite, espyPackStats* stats)
{
    espyPackTable* table = espyiAlloc(hooks, 1, sizeof *table);
    if (!table)
    {
        return espyResult_OutOfMemory;
    }
    espyPackMap map = {0};
    espyResult result = espyPackTable_Create(table, pvs, dynamic, hooks);
    table->ways = ways;
    if (result == espyResult_Ok)
    {
        result = espyPackTable_Pack(table, &map, hooks, rewrite, stats);
    }
    espyPackTable_Free(table, hooks);
    espyiFree(hooks, table);
    espyiFree(hooks, map.shapes);
    espyiFree(hooks, map.words);
    return result;
}

static uint64_t espyPack_PlainBytes(uint32_t cells, uint32_t sets, uint32_t words)
{
    return (uint64_t)cells * espyiFile_IndexBytes(sets) + (uint64_t)sets * words * 4u;
}

/// True where the sections of a table are ESPY_PACK_WORTH times smaller than its plain ones.
static bool espyPack_IsWorth(const espyiRewrite* rewrite, uint32_t first, uint64_t plain)
{
    uint64_t bytes = 0;
    for (uint32_t i = first; i < rewrite->count; ++i)
    {
        bytes += rewrite->sections[i].bytes;
    }
    return bytes * ESPY_PACK_WORTH <= plain;
}

/// Packs a table so that it is quickly read, and where that makes it too large once more so that it is small.
static espyResult espyPack_Best(const espyPvs* pvs, bool dynamic, const espyHooks* hooks, espyiRewrite* rewrite,
                                espyPackStats* stats)
{
    uint32_t first = rewrite->count;
    uint64_t plain = dynamic ? espyPack_PlainBytes(pvs->cellCount, pvs->dynamicSetCount, pvs->coarseWords)
                             : espyPack_PlainBytes(pvs->cellCount, pvs->staticSetCount, pvs->staticWords);
    espyResult result = espyPack_Table(pvs, dynamic, &espyPackWays_Quick, hooks, rewrite, stats);
    if (result == espyResult_Ok && !espyPack_IsWorth(rewrite, first, plain))
    {
        espyiRewrite_Drop(rewrite, first);
        result = espyPack_Table(pvs, dynamic, &espyPackWays_Small, hooks, rewrite, stats);
    }
    return result;
}

espyResult espyPack_Pack(const void* data, size_t size, const espyHooks* hooks, espyPackResult* out)
{
    *out = (espyPackResult){.hooks = espyiHooks_Resolve(hooks)};
    espyPvs pvs;
    espyResult result = espyPvs_Load(&pvs, data, size, &out->error);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiRewrite rewrite = {.hooks = &out->hooks, .source = &pvs, .major = ESPYI_FILE_PACKED_MAJOR};
    rewrite.setCounts[0] = pvs.staticSetCount;
    rewrite.setCounts[1] = pvs.dynamicSetCount;
    result = espyPack_Best(&pvs, false, &out->hooks, &rewrite, &out->stats);
    if (result == espyResult_Ok && pvs.coarseFactor > 0)
    {
        espyPackStats ignored;
        result = espyPack_Best(&pvs, true, &out->hooks, &rewrite, &ignored);
    }
    if (result == espyResult_Ok)
    {
        result = espyiRewrite_Write(&rewrite, &out->data, &out->size);
    }
    espyiRewrite_Free(&rewrite);
    return result;
}

void espyPack_Free(espyPackResult* result)
{
    if (result->data)
    {
        espyiFree(&result->hooks, result->data);
    }
    *result = (espyPackResult){0};
}
