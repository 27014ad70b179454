// SPDX-License-Identifier: MIT
// Compressed columns and shared rows against plain arrays of bytes.
#include "bake/tables.h"
#include "core/tasks.h"
#include "hook_counter.h"
#include "test_main.h"

#include <stdio.h>
#include <string.h>

static void* espyTest_Alloc(size_t count, size_t size)
{
    void* p = calloc(count > 0 ? count : 1, size);
    assert_non_null(p);
    return p;
}

// --- columns

typedef enum espyTestPattern
{
    espyTestPattern_Zero,
    espyTestPattern_Full,
    espyTestPattern_Single,
    espyTestPattern_Few,
    espyTestPattern_Runs,
    espyTestPattern_Random,
    espyTestPattern_Last,
    espyTestPattern_Count,
} espyTestPattern;

static void espyTest_FillColumn(espyTestPattern pattern, espyiRng* rng, uint32_t cellCount, uint32_t* bits)
{
    uint32_t words = espyiBits_Words(cellCount);
    memset(bits, 0, words * sizeof *bits);
    uint32_t value = 0;
    for (uint32_t i = 0; i < cellCount; ++i)
    {
        switch (pattern)
        {
        case espyTestPattern_Full:
            value = 1;
            break;
        case espyTestPattern_Single:
            value = i == cellCount / 3;
            break;
        case espyTestPattern_Few:
            value = espyiRng_Below(rng, 200) == 0;
            break;
        case espyTestPattern_Runs:
            value ^= espyiRng_Below(rng, 40) == 0 ? 1u : 0u;
            break;
        case espyTestPattern_Random:
            value = espyiRng_Below(rng, 2);
            break;
        case espyTestPattern_Last:
            value = i + 1 == cellCount;
            break;
        default:
            value = 0;
            break;
        }
        if (value != 0)
        {
            espyiBits_Set(bits, i);
        }
    }
}

static void test_columns_come_back_as_they_were_put(void** state)
{
    (void)state;
    static const uint32_t counts[] = {1, 31, 32, 33, 64, 100, 1000, 20000, 70001};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiRng rng = espyiRng_Seed(11);
    for (uint32_t c = 0; c < ESPYI_ARRAY_COUNT(counts); ++c)
    {
        uint32_t words = espyiBits_Words(counts[c]);
        espyiColumns* columns;
        assert_int_equal(espyiColumns_Create(espyTestPattern_Count + 1, counts[c], &hooks, &columns), espyResult_Ok);
        uint32_t* put = espyTest_Alloc((size_t)espyTestPattern_Count * words, sizeof *put);
        uint32_t* got = espyTest_Alloc(words, sizeof *got);
        for (uint32_t p = 0; p < espyTestPattern_Count; ++p)
        {
            uint32_t* column = put + (size_t)p * words;
            espyTest_FillColumn((espyTestPattern)p, &rng, counts[c], column);
            // Whatever lies above the last cell is not part of the column.
            uint32_t clean = column[words - 1];
            column[words - 1] |= counts[c] % 32 != 0 ? ~0u << (counts[c] % 32) : 0;
            assert_true(espyiColumns_Put(columns, p, column));
            column[words - 1] = clean;
        }
        for (uint32_t p = 0; p < espyTestPattern_Count; ++p)
        {
            memset(got, 0xCC, words * sizeof *got);
            assert_true(espyiColumns_Get(columns, p, got));
            assert_memory_equal(got, put + (size_t)p * words, words * sizeof *got);
        }
        memset(got, 0xCC, words * sizeof *got);
        assert_false(espyiColumns_Get(columns, espyTestPattern_Count, got));
        for (uint32_t i = 0; i < words; ++i)
        {
            assert_int_equal(got[i], 0);
        }
        espyiColumns_Destroy(columns);
        free(put);
        free(got);
    }
}

static void test_columns_take_the_smallest_form(void** state)
{
    (void)state;
    enum
    {
        cells = 32000
    };
    espyHookCounter counter = {0};
    espyHooks hooks = espyHookCounter_Hooks(&counter);
    static const size_t most[espyTestPattern_Count] = {0, 4, 3, 330, 2000, cells / 8, 3};
    espyiRng rng = espyiRng_Seed(12);
    uint32_t* bits = espyTest_Alloc(cells / 32, sizeof *bits);
    for (uint32_t p = 0; p < espyTestPattern_Count; ++p)
    {
        espyiColumns* columns;
        assert_int_equal(espyiColumns_Create(1, cells, &hooks, &columns), espyResult_Ok);
        size_t before = espyiColumns_GetBytes(columns), held = counter.held;
        espyTest_FillColumn((espyTestPattern)p, &rng, cells, bits);
        assert_true(espyiColumns_Put(columns, 0, bits));
        assert_true(espyiColumns_GetBytes(columns) - before <= most[p]);
        assert_int_equal(espyiColumns_GetBytes(columns) - before, counter.held - held);
        espyiColumns_Destroy(columns);
    }
    assert_int_equal(counter.blocks, 0);
    free(bits);
}

// --- tables

/// The bit matrix as bytes: [cell * width + column].
typedef struct espyTestMatrix
{
    uint32_t width, cellCount;
    uint8_t* bits;
} espyTestMatrix;

static espyTestMatrix espyTest_Matrix(uint32_t width, uint32_t cellCount, uint64_t seed, uint32_t distinct)
{
    espyTestMatrix m = {width, cellCount, espyTest_Alloc((size_t)width * cellCount, 1)};
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t cell = 0; cell < cellCount; ++cell)
    {
        // Rows repeat in stretches, as cells next to each other do.
        espyiRng row = espyiRng_Seed(seed + espyiRng_Below(&rng, distinct));
        uint32_t density = 1 + espyiRng_Below(&row, 8);
        for (uint32_t i = 0; i < width; ++i)
        {
            m.bits[(size_t)cell * width + i] = espyiRng_Below(&row, 9) < density;
        }
    }
    return m;
}

typedef struct espyTestPut
{
    const espyTestMatrix* matrix;
    espyiColumns* columns;
    bool backward;
} espyTestPut;

static void espyTest_PutColumn(void* context, uint32_t index, uint32_t worker)
{
    const espyTestPut* put = context;
    (void)worker;
    uint32_t column = put->backward ? put->matrix->width - 1 - index : index;
    uint32_t* bits = calloc(espyiBits_Words(put->matrix->cellCount), sizeof *bits);
    for (uint32_t cell = 0; bits && cell < put->matrix->cellCount; ++cell)
    {
        if (put->matrix->bits[(size_t)cell * put->matrix->width + column])
        {
            espyiBits_Set(bits, cell);
        }
    }
    if (!bits || !espyiColumns_Put(put->columns, column, bits))
    {
        abort();
    }
    free(bits);
}

static espyiColumns* espyTest_Columns(const espyTestMatrix* matrix, const espyHooks* hooks, uint32_t threads,
                                      bool backward)
{
    espyTestPut put = {.matrix = matrix, .backward = backward};
    assert_int_equal(espyiColumns_Create(matrix->width, matrix->cellCount, hooks, &put.columns), espyResult_Ok);
    espyiTasks_For(threads, matrix->width, espyTest_PutColumn, &put, NULL, NULL);
    return put.columns;
}

static bool espyTest_Bit(const espyiTable* table, uint32_t cell, uint32_t column)
{
    return espyiBits_Get(table->sets + (size_t)table->cells[cell] * table->words, column);
}

/// Unique rows, numbered by first use, each with the bits of the matrix and nothing above the width.
static void espyTest_CheckTable(const espyTestMatrix* m, const espyiTable* table)
{
    assert_int_equal(table->width, m->width);
    assert_int_equal(table->cellCount, m->cellCount);
    uint32_t next = 0;
    for (uint32_t cell = 0; cell < m->cellCount; ++cell)
    {
        assert_true(table->cells[cell] <= next && table->cells[cell] < table->setCount);
        next += table->cells[cell] == next ? 1u : 0u;
        for (uint32_t i = 0; i < table->words * 32; ++i)
        {
            bool wanted = i < m->width && m->bits[(size_t)cell * m->width + i];
            assert_int_equal(espyTest_Bit(table, cell, i), wanted);
        }
    }
    assert_int_equal(next, table->setCount);
    for (uint32_t i = 0; i < table->setCount && table->setCount < 300; ++i)
    {
        for (uint32_t j = i + 1; j < table->setCount; ++j)
        {
            assert_int_not_equal(memcmp(table->sets + (size_t)i * table->words, table->sets + (size_t)j * table->words,
                                        table->words * sizeof *table->sets),
                                 0);
        }
    }
}

/// A full lattice without solid cells.
static espyiGrid espyTest_Grid(uint32_t nx, uint32_t ny, uint32_t nz)
{
    espyiGrid grid = {.cellSize = 1.0f, .dims = {nx, ny, nz}, .cellCount = nx * ny * nz, .dense = true};
    grid.cells = espyTest_Alloc(grid.cellCount, sizeof *grid.cells);
    for (uint32_t i = 0; i < grid.cellCount; ++i)
    {
        grid.cells[i] = (espyiCellCoord){(uint16_t)(i % nx), (uint16_t)(i / nx % ny), (uint16_t)(i / nx / ny)};
    }
    return grid;
}

static void test_tables_match_the_matrix(void** state)
{
    (void)state;
    static const uint32_t widths[] = {1, 2, 31, 32, 33, 63, 64, 65, 200};
    static const uint32_t lengths[] = {1, 31, 32, 33, 97, 700};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    for (uint32_t w = 0; w < ESPYI_ARRAY_COUNT(widths); ++w)
    {
        for (uint32_t l = 0; l < ESPYI_ARRAY_COUNT(lengths); ++l)
        {
            espyTestMatrix matrix = espyTest_Matrix(widths[w], lengths[l], 20 + w * 10 + l, 40);
            espyiGrid grid = espyTest_Grid(lengths[l], 1, 1);
            espyiColumns* columns = espyTest_Columns(&matrix, &hooks, 1, false);
            espyiTable table;
            assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
            espyTest_CheckTable(&matrix, &table);
            espyiTable_Free(&table, &hooks);
            espyiColumns_Destroy(columns);
            free(grid.cells);
            free(matrix.bits);
        }
    }
}

static void test_tables_do_not_depend_on_order_or_threads(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyTestMatrix matrix = espyTest_Matrix(150, 3000, 77, 500);
    espyiGrid grid = espyTest_Grid(3000, 1, 1);
    espyiTable first = {0};
    static const uint32_t threads[] = {1, 1, 2, 7};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(threads); ++i)
    {
        espyiColumns* columns = espyTest_Columns(&matrix, &hooks, threads[i], i == 1);
        espyiTable table;
        assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
        espyiColumns_Destroy(columns);
        if (i == 0)
        {
            first = table;
            continue;
        }
        assert_int_equal(table.setCount, first.setCount);
        assert_memory_equal(table.cells, first.cells, table.cellCount * sizeof *table.cells);
        assert_memory_equal(table.sets, first.sets, (size_t)table.setCount * table.words * sizeof *table.sets);
        espyiTable_Free(&table, &hooks);
    }
    espyiTable_Free(&first, &hooks);
    free(grid.cells);
    free(matrix.bits);
}

static void test_tables_of_nothing(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiGrid grid = espyTest_Grid(40, 1, 1);
    espyiColumns* columns;
    espyiTable table;
    assert_int_equal(espyiColumns_Create(0, 40, &hooks, &columns), espyResult_Ok);
    assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
    assert_int_equal(table.words, 0);
    assert_int_equal(table.setCount, 1);
    assert_int_equal(table.cells[39], 0);
    espyiTable_Free(&table, &hooks);
    espyiColumns_Destroy(columns);
    // Columns that were never put are all zeros.
    assert_int_equal(espyiColumns_Create(3, 40, &hooks, &columns), espyResult_Ok);
    assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
    assert_int_equal(table.setCount, 1);
    assert_int_equal(table.sets[0], 0);
    espyiTable_Free(&table, &hooks);
    espyiColumns_Destroy(columns);
    free(grid.cells);
    grid = (espyiGrid){.cellSize = 1.0f, .dense = true};
    assert_int_equal(espyiColumns_Create(3, 0, &hooks, &columns), espyResult_Ok);
    assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
    assert_int_equal(table.setCount, 0);
    espyiTable_Free(&table, &hooks);
    espyiColumns_Destroy(columns);
}

/// The rule of the header, cell by cell from the matrix of bytes.
static void espyTest_ApplySolid(espyTestMatrix* m, const espyiGrid* grid, bool solidSeesAll)
{
    uint8_t* old = espyTest_Alloc((size_t)m->width * m->cellCount, 1);
    memcpy(old, m->bits, (size_t)m->width * m->cellCount);
    for (uint32_t a = 0; a < m->cellCount; ++a)
    {
        if (!espyiBits_Get(grid->solid, a))
        {
            continue;
        }
        bool any = false;
        for (uint32_t b = 0; b < m->cellCount; ++b)
        {
            int distance = abs(grid->cells[a].x - grid->cells[b].x) + abs(grid->cells[a].y - grid->cells[b].y) +
                           abs(grid->cells[a].z - grid->cells[b].z);
            if (distance != 1 || espyiBits_Get(grid->solid, b))
            {
                continue;
            }
            any = true;
            for (uint32_t i = 0; i < m->width; ++i)
            {
                m->bits[(size_t)a * m->width + i] |= old[(size_t)b * m->width + i];
            }
        }
        if (!any || solidSeesAll)
        {
            memset(m->bits + (size_t)a * m->width, 1, m->width);
        }
    }
    free(old);
}

static void test_solid_cells_see_what_their_open_neighbours_see(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    for (uint32_t round = 0; round < 24; ++round)
    {
        uint32_t width = 20 + round * 3;
        espyiGrid grid = espyTest_Grid(5, 4, 6);
        espyTestMatrix matrix = espyTest_Matrix(width, grid.cellCount, 500 + round, 10 + round * 20);
        espyiRng rng = espyiRng_Seed(round);
        grid.solid = espyTest_Alloc(espyiBits_Words(grid.cellCount), sizeof *grid.solid);
        for (uint32_t i = 0; i < grid.cellCount; ++i)
        {
            // From no solid cell to only solid ones.
            if (espyiRng_Below(&rng, 12) < round % 13)
            {
                espyiBits_Set(grid.solid, i);
                ++grid.solidCount;
            }
        }
        espyiColumns* columns = espyTest_Columns(&matrix, &hooks, 1, false);
        bool solidSeesAll = round >= 13;
        espyiTable table;
        assert_int_equal(espyiTable_Build(columns, &grid, solidSeesAll, &hooks, NULL, &table), espyResult_Ok);
        espyTest_ApplySolid(&matrix, &grid, solidSeesAll);
        espyTest_CheckTable(&matrix, &table);
        espyiTable_Free(&table, &hooks);
        espyiColumns_Destroy(columns);
        free(grid.solid);
        free(grid.cells);
        free(matrix.bits);
    }
}

/// Two areas with a gap between them, through the lattice, the tables, the writer and the reader.
static void test_areas_that_are_apart(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyBakeArea areas[2];
    const float none[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    areas[0].transform = espyMat4_FromTrs((espyVec3){-20.3f, 1.7f, 4.1f}, none, (espyVec3){9.0f, 5.0f, 7.0f});
    areas[1].transform = espyMat4_FromTrs((espyVec3){31.0f, 6.5f, -8.0f}, none, (espyVec3){50.0f, 4.0f, 6.0f});
    espyiGridDef def = {.areas = areas, .areaCount = 2, .cellSize = 0.7f, .maxCells = 100000, .hooks = &hooks};
    espyiGrid grid;
    espyiGridRefusal refusal;
    assert_int_equal(espyiGrid_Build(&def, &grid, &refusal), espyResult_Ok);
    assert_false(grid.dense);
    espyiRng rng = espyiRng_Seed(31);
    for (uint32_t i = 0; i < grid.cellCount; ++i)
    {
        if (espyiRng_Below(&rng, 40) == 0)
        {
            espyiBits_Set(grid.solid, i);
            ++grid.solidCount;
        }
    }
    const uint32_t width = 21;
    espyTestMatrix matrix = espyTest_Matrix(width, grid.cellCount, 600, 30);
    espyiColumns* columns = espyTest_Columns(&matrix, &hooks, 1, false);
    espyiTable table;
    assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
    espyTest_ApplySolid(&matrix, &grid, false);
    static espyBox boxes[21];
    espyiBlobDef blob = {.grid = &grid, .occludeeCount = width, .occludeeBoxes = boxes, .statics = &table};
    void* file;
    size_t size;
    espyPvs pvs;
    assert_int_equal(espyiBlob_Write(&blob, &hooks, &file, &size), espyResult_Ok);
    assert_int_equal(espyPvs_Load(&pvs, file, size, NULL), espyResult_Ok);
    for (uint32_t cell = 0; cell < grid.cellCount; ++cell)
    {
        espyBox wanted = espyiGrid_CellBox(&grid, cell);
        espyBox box = espyPvs_GetCellBox(&pvs, (int32_t)cell);
        assert_memory_equal(&box, &wanted, sizeof box);
        assert_int_equal(espyPvs_FindCell(&pvs, box.min), (int32_t)cell);
        assert_int_equal(espyPvs_IsSolidCell(&pvs, (int32_t)cell), espyiBits_Get(grid.solid, cell));
        for (uint32_t slot = 0; slot < width; ++slot)
        {
            assert_int_equal(espyiBits_Get(espyPvs_GetStaticSet(&pvs, (int32_t)cell), slot),
                             matrix.bits[(size_t)cell * width + slot]);
        }
    }
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){-5.0f, 4.5f, 0.0f}), ESPY_PVS_OUTSIDE);
    espyPvsInfo info;
    espyPvs_GetInfo(&pvs, &info);
    // The space between costs nothing: about a byte a stored cell where rows are short of 32.
    assert_true(info.cellMapBytes < grid.cellCount * 4u);
    espyiFree(&hooks, file);
    espyiTable_Free(&table, &hooks);
    espyiColumns_Destroy(columns);
    espyiGrid_Free(&grid, &hooks);
    free(matrix.bits);
}

/// A table of `setCount` unique sets, through the writer and the reader: indices switch to 32 bits by themselves.
static void espyTest_CheckSetCount(uint32_t setCount, uint32_t indexBytes)
{
    enum
    {
        bits = 17,
        nx = 300
    };
    espyHooks hooks = espyiHooks_Resolve(NULL);
    uint32_t cellCount = nx * 240;
    espyiGrid grid = espyTest_Grid(nx, 240, 1);
    grid.coarseFactor = 16;
    grid.coarseDims[0] = 19;
    grid.coarseDims[1] = 15;
    grid.coarseDims[2] = 1;
    grid.coarseCount = 19 * 15;
    espyiColumns* columns;
    espyiColumns* blocks;
    assert_int_equal(espyiColumns_Create(bits, cellCount, &hooks, &columns), espyResult_Ok);
    assert_int_equal(espyiColumns_Create(grid.coarseCount, cellCount, &hooks, &blocks), espyResult_Ok);
    uint32_t* column = espyTest_Alloc(espyiBits_Words(cellCount), sizeof *column);
    for (uint32_t i = 0; i < bits; ++i)
    {
        memset(column, 0, espyiBits_Words(cellCount) * sizeof *column);
        for (uint32_t cell = 0; cell < cellCount; ++cell)
        {
            if ((cell % setCount >> i) & 1u)
            {
                espyiBits_Set(column, cell);
            }
        }
        assert_true(espyiColumns_Put(columns, i, column));
        assert_true(espyiColumns_Put(blocks, i + 200, column));
    }
    espyiTable statics, dynamics;
    assert_int_equal(espyiTable_Build(columns, &grid, false, &hooks, NULL, &statics), espyResult_Ok);
    assert_int_equal(espyiTable_Build(blocks, &grid, false, &hooks, NULL, &dynamics), espyResult_Ok);
    assert_int_equal(statics.setCount, setCount);
    static espyBox boxes[bits];
    espyiBlobDef def = {
        .grid = &grid, .occludeeCount = bits, .occludeeBoxes = boxes, .statics = &statics, .dynamics = &dynamics};
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_Ok);
    espyPvs pvs;
    espyPvsInfo info;
    assert_int_equal(espyPvs_Load(&pvs, file, size, NULL), espyResult_Ok);
    espyPvs_GetInfo(&pvs, &info);
    assert_int_equal(info.staticSetCount, setCount);
    assert_int_equal(info.staticIndexBytes, indexBytes);
    assert_int_equal(info.dynamicIndexBytes, indexBytes);
    assert_int_equal(info.staticCellsBytes, (size_t)cellCount * indexBytes);
    assert_int_equal(info.staticSetsBytes, (size_t)setCount * 4);
    assert_int_equal(info.dynamicSetsBytes, (size_t)setCount * 9 * 4);
    for (uint32_t cell = 0; cell < cellCount; ++cell)
    {
        assert_int_equal(*espyPvs_GetStaticSet(&pvs, (int32_t)cell), cell % setCount);
        const uint32_t* set = espyPvs_GetDynamicSet(&pvs, (int32_t)cell);
        assert_int_equal((set[6] >> 8) | (set[7] << 24), (cell % setCount) & ~0u);
    }
    espyiFree(&hooks, file);
    espyiTable_Free(&statics, &hooks);
    espyiTable_Free(&dynamics, &hooks);
    espyiColumns_Destroy(columns);
    espyiColumns_Destroy(blocks);
    free(column);
    free(grid.cells);
}

static void report_25_more_sets_than_16_bits_count(void** state)
{
    (void)state;
    espyTest_CheckSetCount(65534, 2);
    espyTest_CheckSetCount(65535, 4);
    espyTest_CheckSetCount(70000, 4);
}

static void test_building_survives_every_failed_allocation(void** state)
{
    (void)state;
    espyTestMatrix matrix = espyTest_Matrix(40, 5000, 9, 4000);
    espyiGrid grid = espyTest_Grid(5000, 1, 1);
    grid.solid = espyTest_Alloc(espyiBits_Words(5000), sizeof *grid.solid);
    espyiBits_Set(grid.solid, 17);
    espyResult result = espyResult_OutOfMemory;
    for (unsigned failAt = 1; result != espyResult_Ok; ++failAt)
    {
        espyHookCounter counter = {0};
        espyHooks hooks = espyHookCounter_Hooks(&counter);
        espyiColumns* columns = espyTest_Columns(&matrix, &hooks, 1, false);
        counter.failAt = counter.calls + failAt;
        espyiTable table;
        result = espyiTable_Build(columns, &grid, false, &hooks, NULL, &table);
        assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
        if (result == espyResult_Ok)
        {
            assert_true(failAt > 5);
            espyiTable_Free(&table, &hooks);
        }
        assert_null(table.cells);
        espyiColumns_Destroy(columns);
        assert_int_equal(counter.blocks, 0);
        assert_true(failAt < 100);
    }
    espyHookCounter counter = {.failAt = 1};
    espyHooks hooks = espyHookCounter_Hooks(&counter);
    espyiColumns* columns;
    assert_int_equal(espyiColumns_Create(4, 100, &hooks, &columns), espyResult_OutOfMemory);
    counter = (espyHookCounter){.failAt = 2};
    assert_int_equal(espyiColumns_Create(4, 100, &hooks, &columns), espyResult_OutOfMemory);
    assert_int_equal(counter.blocks, 0);
    counter = (espyHookCounter){.failAt = 3};
    assert_int_equal(espyiColumns_Create(4, 100, &hooks, &columns), espyResult_Ok);
    static const uint32_t bits[4] = {1, 2, 3, 4};
    assert_false(espyiColumns_Put(columns, 0, bits));
    espyiColumns_Destroy(columns);
    assert_int_equal(counter.blocks, 0);
    free(grid.solid);
    free(grid.cells);
    free(matrix.bits);
}

// --- the largest bake

/// A target is seen from a box of cells around it with a ragged rim, the way rooms are: 262,144 cells, 10,000 targets.
static void espyTest_LargeColumn(uint32_t column, uint32_t nx, uint32_t ny, uint32_t nz, uint32_t* bits)
{
    memset(bits, 0, (size_t)espyiBits_Words(nx * ny * nz) * sizeof *bits);
    espyiRng rng = espyiRng_Seed(column);
    uint32_t cx = espyiRng_Below(&rng, nx), cz = espyiRng_Below(&rng, nz);
    uint32_t reach = 6 + espyiRng_Below(&rng, 24);
    for (uint32_t z = cz > reach ? cz - reach : 0; z < nz && z < cz + reach; ++z)
    {
        for (uint32_t y = 0; y < ny; ++y)
        {
            uint32_t rim = espyiRng_Below(&rng, 4);
            uint32_t first = cx > reach + rim ? cx - reach - rim : 0;
            uint32_t end = cx + reach + rim < nx ? cx + reach + rim : nx;
            for (uint32_t x = first; x < end; ++x)
            {
                espyiBits_Set(bits, x + nx * (y + ny * z));
            }
        }
    }
}

static void test_memory_of_the_largest_bake(void** state)
{
    (void)state;
    enum
    {
        nx = 128,
        ny = 16,
        nz = 128,
        cells = nx * ny * nz,
        targets = 10000
    };
    assert_int_equal(cells, 262144);
    espyHookCounter counter = {0};
    espyHooks hooks = espyHookCounter_Hooks(&counter);
    espyiGrid grid = espyTest_Grid(nx, ny, nz);
    espyiColumns* columns;
    assert_int_equal(espyiColumns_Create(targets, cells, &hooks, &columns), espyResult_Ok);
    uint32_t* bits = espyTest_Alloc(cells / 32, sizeof *bits);
    double start = espyiClock_Seconds();
    for (uint32_t i = 0; i < targets; ++i)
    {
        espyTest_LargeColumn(i, nx, ny, nz, bits);
        assert_true(espyiColumns_Put(columns, i, bits));
    }
    size_t columnBytes = counter.held;
    double filled = espyiClock_Seconds();
    espyiTable table;
    assert_int_equal(espyiTable_Consume(&columns, &grid, false, &hooks, NULL, &table), espyResult_Ok);
    assert_null(columns);
    double built = espyiClock_Seconds();
    espyBox* boxes = espyTest_Alloc(targets, sizeof *boxes);
    espyiBlobDef def = {.grid = &grid, .occludeeCount = targets, .occludeeBoxes = boxes, .statics = &table};
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_Ok);
    espyiFree(&hooks, file);
    free(boxes);
    size_t peak = counter.peak, setBytes = (size_t)table.setCount * table.words * 4;
    print_message("columns %zu MB, %u unique sets of %u words (%zu MB), peak %zu MB; put %.2f s, build %.2f s\n",
                  columnBytes >> 20, table.setCount, table.words, setBytes >> 20, peak >> 20, filled - start,
                  built - filled);
    // Never more than the sets twice and what is counted in cells: no cell shares its set here, which is the worst.
    assert_true(table.setCount == cells);
    assert_true(peak < 2 * setBytes + 64 * (size_t)cells + ((size_t)2 << 20));
    assert_true(peak < (size_t)700 << 20);
    // Spot checks against the columns themselves.
    for (uint32_t i = 0; i < targets; i += 997)
    {
        espyTest_LargeColumn(i, nx, ny, nz, bits);
        for (uint32_t cell = 0; cell < cells; ++cell)
        {
            if (espyTest_Bit(&table, cell, i) != espyiBits_Get(bits, cell))
            {
                fail_msg("cell %u, target %u", cell, i);
            }
        }
    }
    espyiTable_Free(&table, &hooks);
    assert_int_equal(counter.blocks, 0);
    free(bits);
    free(grid.cells);
}

static const struct CMUnitTest espyTests[] = {
    cmocka_unit_test(test_columns_come_back_as_they_were_put),
    cmocka_unit_test(test_columns_take_the_smallest_form),
    cmocka_unit_test(test_tables_match_the_matrix),
    cmocka_unit_test(test_tables_do_not_depend_on_order_or_threads),
    cmocka_unit_test(test_tables_of_nothing),
    cmocka_unit_test(test_solid_cells_see_what_their_open_neighbours_see),
    cmocka_unit_test(test_areas_that_are_apart),
    cmocka_unit_test(report_25_more_sets_than_16_bits_count),
    cmocka_unit_test(test_building_survives_every_failed_allocation),
    cmocka_unit_test(test_memory_of_the_largest_bake),
};

int main(void)
{
    return cmocka_run_group_tests_name("tables", espyTests, NULL, NULL);
}
