// SPDX-License-Identifier: MIT
// Compressed columns (one a target) and the shared rows (one a cell) that a file stores.
//
// A bake finishes one target at a time, a lookup wants one cell at a time: between the two stands a bit matrix of cells
// by targets that is far too large to hold twice. Columns are kept as run lengths, gaps or plain words, whichever is
// smallest. They are then read in step, 32 cells at a time, turned by 32 x 32 bit transposes (after H. S. Warren,
// "Hacker's Delight", section 7-3) and each row is looked up among the unique ones.
#include "bake/tables.h"

#include <string.h>

// --- columns

typedef enum espyColumnKind
{
    espyColumnKind_Absent = 0,
    espyColumnKind_Words,  ///< 32-bit words.
    espyColumnKind_Single, ///< A varint a set bit: clear bits before it.
    espyColumnKind_Runs,   ///< Two varints a run of set bits: clear bits before it, its length.
} espyColumnKind;

typedef struct espyColumn
{
    uint8_t* data;
    uint32_t bytes;
    espyColumnKind kind;
} espyColumn;

struct espyiColumns
{
    espyHooks hooks;
    espyColumn* columns;
    uint32_t columnCount;
    uint32_t cellCount;
};

/// First index at or after `from` whose bit equals `value`, or `count`.
static uint32_t espyBits_FindNext(const uint32_t* bits, uint32_t count, uint32_t from, bool value)
{
    uint32_t flip = value ? 0 : ~0u;
    while (from < count)
    {
        uint32_t word = (bits[from >> 5] ^ flip) & (~0u << (from & 31u));
        if (word != 0)
        {
            uint32_t index = (from & ~31u) + espyiPopCount32((word & (0u - word)) - 1u);
            return index < count ? index : count;
        }
        from = (from & ~31u) + 32u;
    }
    return count;
}

static uint32_t espyVarint_Size(uint32_t v)
{
    return v < 1u << 7 ? 1u : v < 1u << 14 ? 2u : v < 1u << 21 ? 3u : v < 1u << 28 ? 4u : 5u;
}

static uint8_t* espyVarint_Write(uint8_t* to, uint32_t v)
{
    for (; v >= 0x80u; v >>= 7)
    {
        *to++ = (uint8_t)(v | 0x80u);
    }
    *to++ = (uint8_t)v;
    return to;
}

static uint32_t espyVarint_Read(const uint8_t** from)
{
    uint32_t v = 0;
    for (uint32_t shift = 0;; shift += 7)
    {
        uint8_t byte = *(*from)++;
        v |= (uint32_t)(byte & 0x7Fu) << shift;
        if ((byte & 0x80u) == 0)
        {
            return v;
        }
    }
}

espyResult espyiColumns_Create(uint32_t columnCount, uint32_t cellCount, const espyHooks* hooks, espyiColumns** out)
{
    *out = NULL;
    espyiColumns* columns = espyiAlloc(hooks, 1, sizeof *columns);
    if (!columns)
    {
        return espyResult_OutOfMemory;
    }
    columns->hooks = *hooks;
    columns->columnCount = columnCount;
    columns->cellCount = cellCount;
    columns->columns = espyiAlloc(hooks, columnCount, sizeof *columns->columns);
    if (!columns->columns && columnCount > 0)
    {
        espyiColumns_Destroy(columns);
        return espyResult_OutOfMemory;
    }
    *out = columns;
    return espyResult_Ok;
}

void espyiColumns_Destroy(espyiColumns* columns)
{
    if (!columns)
    {
        return;
    }
    espyHooks hooks = columns->hooks;
    for (uint32_t i = 0; columns->columns && i < columns->columnCount; ++i)
    {
        espyiFree(&hooks, columns->columns[i].data);
    }
    espyiFree(&hooks, columns->columns);
    espyiFree(&hooks, columns);
}

static void espyColumn_EncodeRuns(espyColumn* column, const uint32_t* bits, uint32_t count)
{
    uint8_t* to = column->data;
    uint32_t end = 0;
    for (uint32_t start = espyBits_FindNext(bits, count, 0, true); start < count;
         start = espyBits_FindNext(bits, count, end, true))
    {
        to = espyVarint_Write(to, start - end);
        end = espyBits_FindNext(bits, count, start, false);
        if (column->kind == espyColumnKind_Runs)
        {
            to = espyVarint_Write(to, end - start);
            continue;
        }
        for (uint32_t i = start + 1; i < end; ++i)
        {
            *to++ = 0;
        }
    }
}

bool espyiColumns_Put(espyiColumns* columns, uint32_t column, const uint32_t* cellBits)
{
    uint32_t count = columns->cellCount;
    uint64_t single = 0;
    uint64_t runs = 0;
    uint32_t end = 0;
    for (uint32_t start = espyBits_FindNext(cellBits, count, 0, true); start < count;
         start = espyBits_FindNext(cellBits, count, end, true))
    {
        uint32_t gap = espyVarint_Size(start - end);
        end = espyBits_FindNext(cellBits, count, start, false);
        single += gap + (end - start - 1u);
        runs += gap + espyVarint_Size(end - start);
    }
    uint64_t words = (uint64_t)espyiBits_Words(count) * 4u;
    espyColumn encoded = {.kind = espyColumnKind_Words, .bytes = (uint32_t)words};
    if (single < words && single <= runs)
    {
        encoded = (espyColumn){.kind = espyColumnKind_Single, .bytes = (uint32_t)single};
    }
    else if (runs < words)
    {
        encoded = (espyColumn){.kind = espyColumnKind_Runs, .bytes = (uint32_t)runs};
    }
    if (encoded.bytes == 0)
    {
        columns->columns[column] = encoded;
        return true;
    }
    encoded.data = espyiAlloc(&columns->hooks, encoded.bytes, 1);
    if (!encoded.data)
    {
        return false;
    }
    if (encoded.kind != espyColumnKind_Words)
    {
        espyColumn_EncodeRuns(&encoded, cellBits, count);
    }
    else
    {
        uint32_t* to = (uint32_t*)(void*)encoded.data;
        memcpy(to, cellBits, encoded.bytes);
        if (count % 32u != 0)
        {
            to[count / 32u] &= ~(~0u << (count % 32u));
        }
    }
    columns->columns[column] = encoded;
    return true;
}

size_t espyiColumns_GetBytes(const espyiColumns* columns)
{
    size_t bytes = sizeof *columns + columns->columnCount * sizeof *columns->columns;
    for (uint32_t i = 0; i < columns->columnCount; ++i)
    {
        bytes += columns->columns[i].bytes;
    }
    return bytes;
}

/// Reads a column from its first word to its last.
typedef struct espyColumnCursor
{
    const uint32_t* words; ///< Where the column is plain words, else null.
    const uint8_t* next;
    const uint8_t* last;
    uint32_t start, end; ///< Current run of set bits; start is UINT32_MAX after the last.
    bool runs;
} espyColumnCursor;

static void espyColumnCursor_Step(espyColumnCursor* cursor)
{
    if (cursor->next == cursor->last)
    {
        cursor->start = UINT32_MAX;
        return;
    }
    cursor->start = cursor->end + espyVarint_Read(&cursor->next);
    cursor->end = cursor->start + (cursor->runs ? espyVarint_Read(&cursor->next) : 1u);
}

static espyColumnCursor espyColumnCursor_Begin(const espyColumn* column)
{
    espyColumnCursor cursor = {0};
    if (column->kind == espyColumnKind_Words)
    {
        cursor.words = (const uint32_t*)(const void*)column->data;
        return cursor;
    }
    cursor.next = column->data;
    cursor.last = column->data + column->bytes;
    cursor.runs = column->kind == espyColumnKind_Runs;
    espyColumnCursor_Step(&cursor);
    return cursor;
}

/// Words are asked for in ascending order.
static uint32_t espyColumnCursor_Word(espyColumnCursor* cursor, uint32_t word)
{
    if (cursor->words)
    {
        return cursor->words[word];
    }
    uint32_t bits = 0;
    uint32_t first = word * 32u;
    while (cursor->start < first + 32u)
    {
        uint32_t from = cursor->start > first ? cursor->start - first : 0;
        if (cursor->end - first >= 32u)
        {
            bits |= ~0u << from;
            if (cursor->end - first > 32u)
            {
                break;
            }
        }
        else
        {
            bits |= (~0u << from) & ~(~0u << (cursor->end - first));
        }
        espyColumnCursor_Step(cursor);
    }
    return bits;
}

bool espyiColumns_Get(const espyiColumns* columns, uint32_t column, uint32_t* cellBits)
{
    const espyColumn* from = &columns->columns[column];
    uint32_t words = espyiBits_Words(columns->cellCount);
    espyColumnCursor cursor = espyColumnCursor_Begin(from);
    for (uint32_t i = 0; i < words; ++i)
    {
        cellBits[i] = espyColumnCursor_Word(&cursor, i);
    }
    return from->kind != espyColumnKind_Absent;
}

// --- unique rows

/// Rows in chunks that never move: growing copies nothing and leaves no hole as large as the pool.
#define ESPY_POOL_CHUNK_WORDS (256u * 1024u)

typedef struct espySetPool
{
    const espyHooks* hooks;
    uint32_t words;
    uint32_t rowsPerChunk;
    uint32_t count;
    uint32_t** chunks;
    size_t chunkCapacity;
    uint64_t* hashes;
    size_t hashCapacity;
    uint32_t* slots; ///< Row + 1, or 0.
    uint32_t slotCount;
} espySetPool;

static void espySetPool_Begin(espySetPool* pool, uint32_t words, const espyHooks* hooks)
{
    *pool = (espySetPool){.hooks = hooks, .words = words};
    uint32_t rows = ESPY_POOL_CHUNK_WORDS / (words > 0 ? words : 1u);
    pool->rowsPerChunk = rows > 0 ? rows : 1u;
}

static void espySetPool_End(espySetPool* pool)
{
    for (size_t i = 0; i < pool->chunkCapacity; ++i)
    {
        espyiFree(pool->hooks, pool->chunks[i]);
    }
    espyiFree(pool->hooks, pool->chunks);
    espyiFree(pool->hooks, pool->hashes);
    espyiFree(pool->hooks, pool->slots);
}

static const uint32_t* espySetPool_Row(const espySetPool* pool, uint32_t row)
{
    return pool->chunks[row / pool->rowsPerChunk] + (size_t)(row % pool->rowsPerChunk) * pool->words;
}

static bool espySetPool_Rehash(espySetPool* pool)
{
    uint32_t slotCount = pool->slotCount > 0 ? pool->slotCount * 2u : 1024u;
    uint32_t* slots = slotCount > pool->slotCount ? espyiAlloc(pool->hooks, slotCount, sizeof *slots) : NULL;
    if (!slots)
    {
        return false;
    }
    for (uint32_t i = 0; i < pool->count; ++i)
    {
        uint32_t slot = (uint32_t)pool->hashes[i] & (slotCount - 1u);
        while (slots[slot] != 0)
        {
            slot = (slot + 1u) & (slotCount - 1u);
        }
        slots[slot] = i + 1u;
    }
    espyiFree(pool->hooks, pool->slots);
    pool->slots = slots;
    pool->slotCount = slotCount;
    return true;
}

static bool espySetPool_Append(espySetPool* pool, const uint32_t* row, uint64_t hash)
{
    size_t chunk = pool->count / pool->rowsPerChunk;
    if (!espyiGrow(pool->hooks, (void**)&pool->hashes, &pool->hashCapacity, (size_t)pool->count + 1u, sizeof hash) ||
        !espyiGrow(pool->hooks, (void**)&pool->chunks, &pool->chunkCapacity, chunk + 1u, sizeof *pool->chunks))
    {
        return false;
    }
    if (!pool->chunks[chunk])
    {
        pool->chunks[chunk] = espyiAlloc(pool->hooks, (size_t)pool->rowsPerChunk * (pool->words > 0 ? pool->words : 1u),
                                         sizeof **pool->chunks);
        if (!pool->chunks[chunk])
        {
            return false;
        }
    }
    memcpy(pool->chunks[chunk] + (size_t)(pool->count % pool->rowsPerChunk) * pool->words, row,
           (size_t)pool->words * sizeof *row);
    pool->hashes[pool->count++] = hash; // NOLINT(clang-analyzer-core.NullDereference): grown above
    return true;
}

/// Index of an equal row, which is added where there is none yet. False: out of memory.
static bool espySetPool_Intern(espySetPool* pool, const uint32_t* row, uint32_t* out)
{
    // At most half full.
    if (pool->count >= pool->slotCount / 2u && !espySetPool_Rehash(pool))
    {
        return false;
    }
    uint64_t hash = espyiHash_Words(0, row, pool->words);
    uint32_t slot = (uint32_t)hash & (pool->slotCount - 1u);
    for (; pool->slots[slot] != 0; slot = (slot + 1u) & (pool->slotCount - 1u))
    {
        uint32_t other = pool->slots[slot] - 1u;
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a slot in use names a row, which has a hash
        if (pool->hashes[other] == hash &&
            memcmp(espySetPool_Row(pool, other), row, (size_t)pool->words * sizeof *row) == 0)
        {
            *out = other;
            return true;
        }
    }
    if (!espySetPool_Append(pool, row, hash))
    {
        return false;
    }
    *out = pool->count - 1u;
    pool->slots[slot] = pool->count;
    return true;
}

// --- table

typedef struct espyTableBuild
{
    const espyiGrid* grid;
    const espyHooks* hooks;
    espyiPoll* poll;
    espySetPool pool;
    uint32_t width;
    espyColumnCursor* cursors;
    uint32_t* block; ///< 32 rows.
    uint32_t* cells; ///< Row of each cell in the pool.
} espyTableBuild;

/// Bit j of word i becomes bit i of word j.
static void espyBits_Transpose32(uint32_t m[32])
{
    uint32_t mask = 0x0000FFFFu;
    for (uint32_t j = 16; j != 0; j >>= 1, mask ^= mask << j)
    {
        for (uint32_t k = 0; k < 32; k = (k + j + 1u) & ~j)
        {
            uint32_t t = ((m[k] >> j) ^ m[k + j]) & mask;
            m[k] ^= t << j;
            m[k + j] ^= t;
        }
    }
}

/// Fills the block with the rows of cells 32 * word and on.
static void espyTable_FillBlock(espyTableBuild* build, uint32_t word)
{
    uint32_t words = build->pool.words;
    for (uint32_t group = 0; group < words; ++group)
    {
        uint32_t m[32] = {0};
        uint32_t any = 0;
        uint32_t columns = build->width - group * 32u < 32u ? build->width - group * 32u : 32u;
        for (uint32_t i = 0; i < columns; ++i)
        {
            m[i] = espyColumnCursor_Word(&build->cursors[group * 32u + i], word);
            any |= m[i];
        }
        if (any != 0)
        {
            espyBits_Transpose32(m);
        }
        for (uint32_t i = 0; i < 32u; ++i)
        {
            build->block[(size_t)i * words + group] = m[i];
        }
    }
}

static bool espyTable_InternCells(espyTableBuild* build)
{
    uint32_t cellCount = build->grid->cellCount;
    uint32_t words = build->pool.words;
    for (uint32_t first = 0; first < cellCount; first += 32u)
    {
        // A column takes a step of its cursor, a row is hashed and compared.
        if (!espyiPoll_Work(build->poll, build->width + 32u * (size_t)words))
        {
            return false;
        }
        espyTable_FillBlock(build, first / 32u);
        for (uint32_t i = 0; i < 32u && first + i < cellCount; ++i)
        {
            if (!espySetPool_Intern(&build->pool, build->block + (size_t)i * words, &build->cells[first + i]))
            {
                return false;
            }
        }
    }
    return true;
}

static void espyTable_FullRow(const espyTableBuild* build, uint32_t* row)
{
    for (uint32_t i = 0; i < build->pool.words; ++i)
    {
        row[i] = ~0u;
    }
    if (build->width % 32u != 0)
    {
        row[build->width / 32u] = ~(~0u << (build->width % 32u));
    }
}

/// Or's the rows of the open neighbours of a cell into `row`. False where it has none.
static bool espyTable_UniteNeighbours(const espyTableBuild* build, uint32_t cell, uint32_t* row)
{
    static const int32_t steps[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    espyiCellCoord at = build->grid->cells[cell];
    bool any = false;
    for (uint32_t i = 0; i < 6u; ++i)
    {
        int32_t other = espyiGrid_RankAt(build->grid, at.x + steps[i][0], at.y + steps[i][1], at.z + steps[i][2]);
        if (other < 0 || espyiBits_Get(build->grid->solid, (uint32_t)other))
        {
            continue;
        }
        const uint32_t* set = espySetPool_Row(&build->pool, build->cells[other]);
        for (uint32_t j = 0; j < build->pool.words; ++j)
        {
            row[j] |= set[j];
        }
        any = true;
    }
    return any;
}

/// Only open cells are read and only solid ones written, so that the order of cells does not matter.
static bool espyTable_FillSolidCells(espyTableBuild* build, bool solidSeesAll)
{
    uint32_t* row = build->block;
    for (uint32_t i = 0; i < build->grid->cellCount; ++i)
    {
        bool solid = espyiBits_Get(build->grid->solid, i);
        if (!espyiPoll_Work(build->poll, solid ? 8u * (size_t)build->pool.words + 1u : 1u))
        {
            return false;
        }
        if (!solid)
        {
            continue;
        }
        memcpy(row, espySetPool_Row(&build->pool, build->cells[i]), (size_t)build->pool.words * sizeof *row);
        if (solidSeesAll || !espyTable_UniteNeighbours(build, i, row))
        {
            espyTable_FullRow(build, row);
        }
        if (!espySetPool_Intern(&build->pool, row, &build->cells[i]))
        {
            return false;
        }
    }
    return true;
}

/// Numbers the rows that are still in use by the first cell that uses each, and copies them out in that order.
static bool espyTable_Finish(espyTableBuild* build, espyiTable* out)
{
    uint32_t cellCount = build->grid->cellCount;
    uint32_t words = build->pool.words;
    uint32_t* order = espyiAlloc(build->hooks, build->pool.count, sizeof *order); // Number + 1, or 0.
    if (!order)
    {
        return false;
    }
    uint32_t setCount = 0;
    for (uint32_t i = 0; i < cellCount; ++i)
    {
        uint32_t* number = &order[build->cells[i]];
        if (*number == 0)
        {
            *number = ++setCount;
        }
    }
    out->sets = words > 0 ? espyiAlloc(build->hooks, (size_t)setCount * words, sizeof *out->sets) : NULL;
    bool good = words == 0 || out->sets != NULL;
    for (uint32_t i = 0; good && words > 0 && i < build->pool.count; ++i)
    {
        good = espyiPoll_Work(build->poll, words);
        if (order[i] != 0)
        {
            memcpy(out->sets + (size_t)(order[i] - 1u) * words, espySetPool_Row(&build->pool, i),
                   (size_t)words * sizeof *out->sets);
        }
    }
    for (uint32_t i = 0; i < cellCount; ++i)
    {
        build->cells[i] = order[build->cells[i]] - 1u;
    }
    espyiFree(build->hooks, order);
    out->setCount = setCount;
    out->cells = build->cells;
    build->cells = NULL;
    return good;
}

espyResult espyiTable_FromRows(uint32_t cellCount, uint32_t width, espyiRowFn* fill, void* context,
                               const espyHooks* hooks, espyiTable* out)
{
    *out = (espyiTable){.width = width, .words = espyiBits_Words(width), .cellCount = cellCount};
    if (cellCount == 0)
    {
        return espyResult_Ok;
    }
    espyiGrid grid = {.cellCount = cellCount};
    espyTableBuild build = {.grid = &grid, .hooks = hooks, .width = width};
    espySetPool_Begin(&build.pool, out->words, hooks);
    build.cells = espyiAlloc(hooks, cellCount, sizeof *build.cells);
    build.block = espyiAlloc(hooks, (size_t)out->words + 1u, sizeof *build.block);
    bool good = build.cells && build.block;
    for (uint32_t i = 0; good && i < cellCount; ++i)
    {
        memset(build.block, 0, (size_t)out->words * sizeof *build.block);
        fill(context, i, build.block);
        good = espySetPool_Intern(&build.pool, build.block, &build.cells[i]);
    }
    good = good && espyTable_Finish(&build, out);
    espySetPool_End(&build.pool);
    espyiFree(hooks, build.block);
    espyiFree(hooks, build.cells);
    if (!good)
    {
        espyiTable_Free(out, hooks);
        return espyResult_OutOfMemory;
    }
    return espyResult_Ok;
}

/// `spent`: where the columns are kept that go once they are turned; null: they stay.
static espyResult espyTable_FromColumns(const espyiColumns* columns, espyiColumns** spent, const espyiGrid* grid,
                                        bool solidSeesAll, const espyHooks* hooks, espyiPoll* poll, espyiTable* out)
{
    uint32_t width = columns->columnCount;
    *out = (espyiTable){.width = width, .words = espyiBits_Words(width), .cellCount = grid->cellCount};
    if (grid->cellCount == 0)
    {
        return espyResult_Ok;
    }
    espyTableBuild build = {.grid = grid, .hooks = hooks, .poll = poll, .width = width};
    espySetPool_Begin(&build.pool, out->words, hooks);
    build.cells = espyiAlloc(hooks, grid->cellCount, sizeof *build.cells);
    // One word at least, so that width 0 needs no case of its own.
    build.block = espyiAlloc(hooks, (size_t)out->words * 32u + 1u, sizeof *build.block);
    build.cursors = espyiAlloc(hooks, (size_t)width + 1u, sizeof *build.cursors);
    bool good = build.cells && build.block && build.cursors;
    for (uint32_t i = 0; good && i < width; ++i)
    {
        build.cursors[i] = espyColumnCursor_Begin(&columns->columns[i]);
    }
    good = good && espyTable_InternCells(&build);
    if (spent)
    {
        espyiColumns_Destroy(*spent);
        *spent = NULL;
    }
    good = good && (!grid->solid || espyTable_FillSolidCells(&build, solidSeesAll)) && espyTable_Finish(&build, out);
    espySetPool_End(&build.pool);
    espyiFree(hooks, build.cursors);
    espyiFree(hooks, build.block);
    espyiFree(hooks, build.cells);
    if (!good)
    {
        espyiTable_Free(out, hooks);
    }
    return espyiPoll_Result(poll, good);
}

espyResult espyiTable_Build(const espyiColumns* columns, const espyiGrid* grid, bool solidSeesAll,
                            const espyHooks* hooks, espyiPoll* poll, espyiTable* out)
{
    return espyTable_FromColumns(columns, NULL, grid, solidSeesAll, hooks, poll, out);
}

espyResult espyiTable_Consume(espyiColumns** columns, const espyiGrid* grid, bool solidSeesAll, const espyHooks* hooks,
                              espyiPoll* poll, espyiTable* out)
{
    return espyTable_FromColumns(*columns, columns, grid, solidSeesAll, hooks, poll, out);
}

void espyiTable_Free(espyiTable* table, const espyHooks* hooks)
{
    espyiFree(hooks, table->cells);
    espyiFree(hooks, table->sets);
    *table = (espyiTable){0};
}
