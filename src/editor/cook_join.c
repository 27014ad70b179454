// SPDX-License-Identifier: MIT
// Joins 2 x 2 x 2 cells of a model into one.
//
// Nothing may become hidden for any point or box, so the borders of the new lattice must be borders of the old one to
// the last bit, and whatever an answer of the new one stands for was asked from the old one:
//   - A point in a cell that is not stored sees everything. A joined cell is stored only where all its cells are.
//   - Cells are half-open, but the last of the lattice holds its upper border as well. Where a layer is left over
//   above,
//     that border belongs to the layer, which therefore joins the last cell too.
//   - A box touches blocks as a closed thing: one that ends on the new lattice's outer border touches the layer that is
//     left over behind it.
// Along each axis the pairs may start at the first or the second cell: eight ways, of which the best is kept.
#include "cook_internal.h"
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

typedef struct espyCookJoin
{
    const espyiCookModel* from;
    uint32_t shift[3];
    uint32_t dims[3];
    espyiCellCoord* cells; ///< Joined cells in rank order, room for all of the old ones.
    uint32_t cellCount;
    uint32_t* row;    ///< Of the old dynamic table.
    uint32_t* ranges; ///< Of each new block: low and high old block along x, y, z.
    const espyiGrid* to;
} espyCookJoin;

static float espyCookJoin_Border(float origin, float cellSize, uint32_t cell)
{
    return origin + (float)(int32_t)cell * cellSize;
}

/// True where every border of the new lattice along one axis is the same float as the old one there.
static bool espyCookJoin_BordersAgree(float origin, float cellSize, uint32_t shift, uint32_t dim)
{
    float start = espyCookJoin_Border(origin, cellSize, shift);
    for (uint32_t i = 0; i <= dim; ++i)
    {
        if (espyCookJoin_Border(start, cellSize * 2.0f, i) != espyCookJoin_Border(origin, cellSize, 2u * i + shift))
        {
            return false;
        }
    }
    return true;
}

static bool espyCookJoin_Begin(espyCookJoin* join, uint32_t way)
{
    const espyiGrid* grid = &join->from->grid;
    const float origin[3] = {grid->origin.x, grid->origin.y, grid->origin.z};
    for (uint32_t axis = 0; axis < 3u; ++axis)
    {
        join->shift[axis] = way >> axis & 1u;
        join->dims[axis] = grid->dims[axis] > join->shift[axis] ? (grid->dims[axis] - join->shift[axis]) / 2u : 0;
        if (join->dims[axis] == 0 ||
            !espyCookJoin_BordersAgree(origin[axis], grid->cellSize, join->shift[axis], join->dims[axis]))
        {
            return false;
        }
    }
    return true;
}

/// Old cells along one axis whose answers a new cell gives: its two, and a layer that is left over above the last.
static uint32_t espyCookJoin_Span(const espyCookJoin* join, uint32_t axis, uint32_t cell)
{
    bool last = cell + 1u == join->dims[axis];
    return last && 2u * join->dims[axis] + join->shift[axis] < join->from->grid.dims[axis] ? 3u : 2u;
}

/// Calls `visit` with the rank of every old cell of a new one. False where one is not stored.
typedef void espyCookVisit(void* context, uint32_t rank, bool own);
static bool espyCookJoin_Visit(const espyCookJoin* join, espyiCellCoord cell, espyCookVisit* visit, void* context)
{
    const espyiGrid* grid = &join->from->grid;
    uint32_t span[3] = {espyCookJoin_Span(join, 0, cell.x), espyCookJoin_Span(join, 1, cell.y),
                        espyCookJoin_Span(join, 2, cell.z)};
    for (uint32_t i = 0; i < span[0] * span[1] * span[2]; ++i)
    {
        uint32_t d[3] = {i % span[0], i / span[0] % span[1], i / span[0] / span[1]};
        int32_t rank = espyiCookCoord_Find(grid->cells, grid->cellCount, 2u * cell.x + join->shift[0] + d[0],
                                           2u * cell.y + join->shift[1] + d[1], 2u * cell.z + join->shift[2] + d[2]);
        if (rank < 0)
        {
            return false;
        }
        if (visit)
        {
            visit(context, (uint32_t)rank, d[0] < 2u && d[1] < 2u && d[2] < 2u);
        }
    }
    return true;
}

/// Every new cell has its first old one; those come in rank order already.
static void espyCookJoin_ListCells(espyCookJoin* join)
{
    const espyiGrid* grid = &join->from->grid;
    join->cellCount = 0;
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        const uint32_t at[3] = {grid->cells[i].x, grid->cells[i].y, grid->cells[i].z};
        uint32_t cell[3];
        bool first = true;
        for (uint32_t axis = 0; axis < 3u; ++axis)
        {
            first = first && at[axis] >= join->shift[axis] && (at[axis] - join->shift[axis]) % 2u == 0;
            cell[axis] = first ? (at[axis] - join->shift[axis]) / 2u : 0;
            first = first && cell[axis] < join->dims[axis];
        }
        espyiCellCoord made = {(uint16_t)cell[0], (uint16_t)cell[1], (uint16_t)cell[2]};
        if (first && espyCookJoin_Visit(join, made, NULL, NULL))
        {
            join->cells[join->cellCount++] = made;
        }
    }
}

// --- rows of the new tables

typedef struct espyCookUnion
{
    const espyiCookModel* from;
    const espyiTable* table;
    uint32_t* row;
    uint32_t weight;
} espyCookUnion;

static void espyCookUnion_Add(void* context, uint32_t rank, bool own)
{
    espyCookUnion* made = context;
    const espyiTable* table = made->table;
    const uint32_t* set = table->sets + (size_t)table->cells[rank] * table->words;
    for (uint32_t i = 0; i < table->words; ++i)
    {
        made->row[i] |= set[i];
    }
    made->weight += own ? made->from->weights[rank] : 0;
}

static uint32_t espyCookJoin_Unite(const espyCookJoin* join, const espyiTable* table, uint32_t cell, uint32_t* row)
{
    espyCookUnion made = {.from = join->from, .table = table, .row = row};
    espyCookJoin_Visit(join, join->cells[cell], espyCookUnion_Add, &made);
    return made.weight;
}

static void espyCookJoin_FillStatic(void* context, uint32_t cell, uint32_t* row)
{
    const espyCookJoin* join = context;
    espyCookJoin_Unite(join, &join->from->statics, cell, row);
}

static void espyCookJoin_FillDynamic(void* context, uint32_t cell, uint32_t* row)
{
    const espyCookJoin* join = context;
    const espyiGrid* grid = &join->from->grid;
    memset(join->row, 0, (size_t)join->from->dynamics.words * sizeof *join->row);
    espyCookJoin_Unite(join, &join->from->dynamics, cell, join->row);
    for (uint32_t block = 0; block < join->to->coarseCount; ++block)
    {
        const uint32_t* r = join->ranges + (size_t)block * 6u;
        bool seen = false;
        for (uint32_t z = r[4]; !seen && z <= r[5]; ++z)
        {
            for (uint32_t y = r[2]; !seen && y <= r[3]; ++y)
            {
                for (uint32_t x = r[0]; !seen && x <= r[1]; ++x)
                {
                    int32_t old = espyiCookCoord_Find(grid->coarse, grid->coarseCount, x, y, z);
                    seen = old < 0 || espyiBits_Get(join->row, (uint32_t)old);
                }
            }
        }
        if (seen)
        {
            espyiBits_Set(row, block);
        }
    }
}

/// Old blocks along one axis that a box in the new block can touch.
static void espyCookJoin_FindRange(const espyCookJoin* join, uint32_t axis, uint32_t block, uint32_t out[2])
{
    const espyiGrid* grid = &join->from->grid;
    uint32_t factor = join->to->coarseFactor;
    uint32_t last = block * factor + factor - 1u;
    bool ends = last + 1u >= join->dims[axis];
    last = ends ? join->dims[axis] - 1u : last;
    // The layer left over below is in the same old block as the next one.
    uint32_t low = 2u * block * factor + join->shift[axis];
    uint32_t high = 2u * last + join->shift[axis] + 1u;
    high += ends && high + 1u < grid->dims[axis] ? 1u : 0u;
    out[0] = low / grid->coarseFactor;
    out[1] = high / grid->coarseFactor;
}

// --- the new model

static int espyCookCoord_Compare(const void* a, const void* b)
{
    const espyiCellCoord* l = a;
    const espyiCellCoord* r = b;
    return l->z != r->z   ? (l->z < r->z ? -1 : 1)
           : l->y != r->y ? (l->y < r->y ? -1 : 1)
                          : (l->x > r->x) - (l->x < r->x);
}

/// Blocks that hold a stored cell, in rank order.
static bool espyCookJoin_ListBlocks(const espyHooks* hooks, espyiGrid* grid)
{
    grid->coarse = espyiAlloc(hooks, grid->cellCount, sizeof *grid->coarse);
    if (!grid->coarse)
    {
        return false;
    }
    uint32_t factor = grid->coarseFactor;
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        espyiCellCoord c = grid->cells[i];
        grid->coarse[i] =
            (espyiCellCoord){(uint16_t)(c.x / factor), (uint16_t)(c.y / factor), (uint16_t)(c.z / factor)};
    }
    qsort(grid->coarse, grid->cellCount, sizeof *grid->coarse, espyCookCoord_Compare);
    grid->coarseCount = 0;
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        if (i == 0 || espyCookCoord_Compare(&grid->coarse[grid->coarseCount - 1u], &grid->coarse[i]) != 0)
        {
            grid->coarse[grid->coarseCount++] = grid->coarse[i];
        }
    }
    return true;
}

static bool espyCookJoin_MakeGrid(const espyCookJoin* join, const espyHooks* hooks, espyiCookModel* out)
{
    const espyiCookModel* from = join->from;
    espyiGrid* grid = &out->grid;
    grid->origin = (espyVec3){espyCookJoin_Border(from->grid.origin.x, from->grid.cellSize, join->shift[0]),
                              espyCookJoin_Border(from->grid.origin.y, from->grid.cellSize, join->shift[1]),
                              espyCookJoin_Border(from->grid.origin.z, from->grid.cellSize, join->shift[2])};
    grid->cellSize = from->grid.cellSize * 2.0f;
    memcpy(grid->dims, join->dims, sizeof grid->dims);
    grid->cellCount = join->cellCount;
    grid->dense = (uint64_t)grid->dims[0] * grid->dims[1] * grid->dims[2] == grid->cellCount;
    out->scale = from->scale * 2u;
    for (uint32_t axis = 0; axis < 3u; ++axis)
    {
        out->offset[axis] = from->offset[axis] + from->scale * join->shift[axis];
    }
    grid->cells = espyiAlloc(hooks, grid->cellCount, sizeof *grid->cells);
    out->weights = espyiAlloc(hooks, grid->cellCount, sizeof *out->weights);
    if (!grid->cells || !out->weights)
    {
        return false;
    }
    memcpy(grid->cells, join->cells, (size_t)grid->cellCount * sizeof *grid->cells);
    if (from->grid.coarseFactor == 0)
    {
        return true;
    }
    grid->coarseFactor = espyiGrid_CoarseFactor(grid->dims);
    for (uint32_t axis = 0; axis < 3u; ++axis)
    {
        grid->coarseDims[axis] = grid->dims[axis] / grid->coarseFactor + (grid->dims[axis] % grid->coarseFactor != 0);
    }
    return espyCookJoin_ListBlocks(hooks, grid);
}

/// With the way that was chosen.
static espyResult espyCookJoin_Make(espyCookJoin* join, const espyHooks* hooks, espyiCookModel* out)
{
    const espyiCookModel* from = join->from;
    if (!espyCookJoin_MakeGrid(join, hooks, out))
    {
        return espyResult_OutOfMemory;
    }
    espyResult result =
        espyiTable_FromRows(join->cellCount, from->statics.width, espyCookJoin_FillStatic, join, hooks, &out->statics);
    if (result != espyResult_Ok)
    {
        return result;
    }
    for (uint32_t i = 0; i < join->cellCount; ++i)
    {
        espyiTable none = {.cells = from->statics.cells};
        out->weights[i] = espyCookJoin_Unite(join, &none, i, NULL);
    }
    if (from->grid.coarseFactor == 0)
    {
        return espyResult_Ok;
    }
    join->to = &out->grid;
    join->row = espyiAlloc(hooks, (size_t)from->dynamics.words + 1u, sizeof *join->row);
    join->ranges = espyiAlloc(hooks, (size_t)out->grid.coarseCount * 6u, sizeof *join->ranges);
    result = espyResult_OutOfMemory;
    if (join->row && join->ranges)
    {
        for (uint32_t i = 0; i < out->grid.coarseCount; ++i)
        {
            espyiCellCoord block = out->grid.coarse[i];
            espyCookJoin_FindRange(join, 0, block.x, join->ranges + (size_t)i * 6u);
            espyCookJoin_FindRange(join, 1, block.y, join->ranges + (size_t)i * 6u + 2u);
            espyCookJoin_FindRange(join, 2, block.z, join->ranges + (size_t)i * 6u + 4u);
        }
        result = espyiTable_FromRows(join->cellCount, out->grid.coarseCount, espyCookJoin_FillDynamic, join, hooks,
                                     &out->dynamics);
    }
    espyiFree(hooks, join->row);
    espyiFree(hooks, join->ranges);
    return result;
}

/// Hidden pairs that a way keeps, and cells as baked that it keeps.
static void espyCookJoin_Rate(const espyCookJoin* join, uint32_t* row, uint64_t out[2])
{
    const espyiTable* table = &join->from->statics;
    out[0] = out[1] = 0;
    for (uint32_t i = 0; i < join->cellCount; ++i)
    {
        memset(row, 0, (size_t)table->words * sizeof *row);
        uint32_t weight = espyCookJoin_Unite(join, table, i, row);
        uint32_t seen = 0;
        for (uint32_t j = 0; j < table->words; ++j)
        {
            seen += espyiPopCount32(row[j]);
        }
        out[0] += (uint64_t)weight * (table->width - seen);
        out[1] += weight;
    }
}

espyResult espyiCookModel_Join(const espyiCookModel* from, const espyHooks* hooks, espyiCookModel* out)
{
    *out = (espyiCookModel){0};
    if (from->grid.cellCount == 0)
    {
        return espyResult_NotFound;
    }
    espyCookJoin join = {.from = from};
    join.cells = espyiAlloc(hooks, from->grid.cellCount, sizeof *join.cells);
    uint32_t* row = espyiAlloc(hooks, (size_t)from->statics.words + 1u, sizeof *row);
    espyResult result = join.cells && row ? espyResult_NotFound : espyResult_OutOfMemory;
    uint64_t best[2] = {0, 0};
    uint32_t bestWay = 8;
    for (uint32_t way = 0; result == espyResult_NotFound && way < 8u; ++way)
    {
        uint64_t kept[2];
        if (!espyCookJoin_Begin(&join, way))
        {
            continue;
        }
        espyCookJoin_ListCells(&join);
        espyCookJoin_Rate(&join, row, kept);
        if (kept[0] > best[0] || (kept[0] == best[0] && kept[1] > best[1]))
        {
            best[0] = kept[0];
            best[1] = kept[1];
            bestWay = way;
        }
    }
    if (bestWay < 8u)
    {
        espyCookJoin_Begin(&join, bestWay);
        espyCookJoin_ListCells(&join);
        result = espyCookJoin_Make(&join, hooks, out);
    }
    espyiFree(hooks, join.cells);
    espyiFree(hooks, row);
    if (result != espyResult_Ok)
    {
        espyiCookModel_Free(out, hooks);
    }
    return result;
}
