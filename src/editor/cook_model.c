// SPDX-License-Identifier: MIT
// Reads a baked file into arrays, and counts what they hide.
#include "cook_internal.h"
#include "core/core.h"
#include "pvs/format.h"

#include <string.h>

// --- reading

/// Coordinates of all ranks, in rank order.
static espyResult espyCookModel_ReadCoords(const espyPvsMap* map, const uint32_t dims[3], uint32_t count,
                                           const espyHooks* hooks, espyiCellCoord** out)
{
    *out = NULL;
    if (count == 0)
    {
        return espyResult_Ok;
    }
    espyiCellCoord* coords = espyiAlloc(hooks, count, sizeof *coords);
    if (!coords)
    {
        return espyResult_OutOfMemory;
    }
    *out = coords;
    if (!map->rows)
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t row = i / dims[0];
            coords[i] = (espyiCellCoord){(uint16_t)(i % dims[0]), (uint16_t)(row % dims[1]), (uint16_t)(row / dims[1])};
        }
        return espyResult_Ok;
    }
    const espyiFileRow* rows = map->rows;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < map->rowCount; ++i)
    {
        for (uint32_t bit = 0; bit < 32u; ++bit)
        {
            if ((rows[i].mask >> bit & 1u) != 0)
            {
                coords[rank++] = (espyiCellCoord){(uint16_t)((rows[i].xBlockY & 0xFFFFu) * 32u + bit),
                                                  (uint16_t)(rows[i].xBlockY >> 16), (uint16_t)rows[i].z};
            }
        }
    }
    return espyResult_Ok;
}

typedef struct espyCookReader
{
    const espyPvs* pvs;
    const uint32_t* keep;
    uint32_t keepCount;
    uint32_t* set; ///< Of the file's width.
} espyCookReader;

static void espyCookReader_FillStatic(void* context, uint32_t cell, uint32_t* row)
{
    const espyCookReader* reader = context;
    if (!reader->keep)
    {
        espyPvs_ReadStaticSet(reader->pvs, (int32_t)cell, row);
        return;
    }
    espyPvs_ReadStaticSet(reader->pvs, (int32_t)cell, reader->set);
    for (uint32_t i = 0; i < reader->keepCount; ++i)
    {
        if (espyiBits_Get(reader->set, reader->keep[i]))
        {
            espyiBits_Set(row, i);
        }
    }
}

static void espyCookReader_FillDynamic(void* context, uint32_t cell, uint32_t* row)
{
    const espyCookReader* reader = context;
    espyPvs_ReadDynamicSet(reader->pvs, (int32_t)cell, row);
}

static espyResult espyCookModel_ReadGrid(const espyPvs* pvs, const espyHooks* hooks, espyiCookModel* out)
{
    espyiGrid* grid = &out->grid;
    grid->origin = pvs->origin;
    grid->cellSize = pvs->cellSize;
    memcpy(grid->dims, pvs->dims, sizeof grid->dims);
    memcpy(grid->coarseDims, pvs->coarseDims, sizeof grid->coarseDims);
    grid->cellCount = pvs->cellCount;
    grid->dense = !pvs->cellMap.rows;
    grid->coarseFactor = pvs->coarseFactor;
    grid->coarseCount = pvs->coarseCount;
    espyResult result = espyCookModel_ReadCoords(&pvs->cellMap, grid->dims, grid->cellCount, hooks, &grid->cells);
    return result == espyResult_Ok
               ? espyCookModel_ReadCoords(&pvs->coarseMap, grid->coarseDims, grid->coarseCount, hooks, &grid->coarse)
               : result;
}

espyResult espyiCookModel_Load(const espyPvs* pvs, const uint32_t* keep, uint32_t keepCount, const espyHooks* hooks,
                               espyiCookModel* out)
{
    *out = (espyiCookModel){.scale = 1};
    espyCookReader reader = {.pvs = pvs, .keep = keep, .keepCount = keepCount};
    espyResult result = espyCookModel_ReadGrid(pvs, hooks, out);
    if (result == espyResult_Ok && pvs->cellCount > 0)
    {
        out->weights = espyiAlloc(hooks, pvs->cellCount, sizeof *out->weights);
        reader.set = espyiAlloc(hooks, (size_t)espyiBits_Words(pvs->occludeeCount) + 1u, sizeof *reader.set);
        result = out->weights && reader.set ? espyResult_Ok : espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; result == espyResult_Ok && i < pvs->cellCount; ++i)
    {
        out->weights[i] = 1;
    }
    if (result == espyResult_Ok)
    {
        result = espyiTable_FromRows(pvs->cellCount, keep ? keepCount : pvs->occludeeCount, espyCookReader_FillStatic,
                                     &reader, hooks, &out->statics);
    }
    if (result == espyResult_Ok && pvs->coarseFactor > 0)
    {
        result = espyiTable_FromRows(pvs->cellCount, pvs->coarseCount, espyCookReader_FillDynamic, &reader, hooks,
                                     &out->dynamics);
    }
    espyiFree(hooks, reader.set);
    if (result != espyResult_Ok)
    {
        espyiCookModel_Free(out, hooks);
    }
    return result;
}

void espyiCookModel_Free(espyiCookModel* model, const espyHooks* hooks)
{
    espyiFree(hooks, model->grid.cells);
    espyiFree(hooks, model->grid.coarse);
    espyiTable_Free(&model->statics, hooks);
    espyiTable_Free(&model->dynamics, hooks);
    espyiFree(hooks, model->weights);
    *model = (espyiCookModel){0};
}

espyResult espyiCookModel_Write(const espyiCookModel* model, const espyiCookOrigin* origin, const espyHooks* hooks,
                                void** out, size_t* outSize)
{
    espyPvsInfo info;
    espyPvs_GetInfo(origin->pvs, &info);
    bool empty = model->grid.cellCount == 0;
    espyiBlobDef def = {.grid = &model->grid,
                        .quality = info.quality,
                        .nearDistance = info.nearDistance,
                        .smallestHole = info.smallestHole,
                        .occlusionCulling = info.occlusionCulling,
                        .levelSettings = info.levelSettings,
                        .consoleBudgetKB = info.consoleBudgetKB,
                        .seed = info.seed,
                        .settingsHash = info.settingsHash,
                        .contentHash = info.contentHash,
                        .occluderCount = empty ? 0 : info.occluderCount,
                        .occludeeCount = empty ? 0 : origin->occludeeCount,
                        .occluderBoxes = (const espyBox*)(const void*)origin->pvs->entries,
                        .occludeeBoxes = origin->occludeeBoxes,
                        .statics = &model->statics,
                        .dynamics = model->grid.coarseFactor > 0 ? &model->dynamics : NULL,
                        .cooked = true,
                        .bakedCellSize = model->grid.cellSize > info.bakedCellSize ? info.bakedCellSize : 0.0f};
    return espyiBlob_Write(&def, hooks, out, outSize);
}

int32_t espyiCookCoord_Find(const espyiCellCoord* coords, uint32_t count, uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t wanted = (uint64_t)z << 32 | (uint64_t)y << 16 | x;
    uint32_t low = 0;
    uint32_t high = count;
    while (low < high)
    {
        uint32_t middle = low + (high - low) / 2u;
        const espyiCellCoord* at = &coords[middle];
        uint64_t order = (uint64_t)at->z << 32 | (uint64_t)at->y << 16 | at->x;
        if (order == wanted)
        {
            return (int32_t)middle;
        }
        if (order < wanted)
        {
            low = middle + 1u;
        }
        else
        {
            high = middle;
        }
    }
    return -1;
}

// --- counting

uint64_t espyiCookModel_CountHidden(const espyiCookModel* model)
{
    const espyiTable* table = &model->statics;
    uint64_t hidden = 0;
    for (uint32_t i = 0; i < table->cellCount; ++i)
    {
        // Few cells share a set, and few words a set: not worth remembering.
        const uint32_t* set = table->sets + (size_t)table->cells[i] * table->words;
        uint32_t seen = 0;
        for (uint32_t j = 0; j < table->words; ++j)
        {
            seen += espyiPopCount32(set[j]);
        }
        hidden += (uint64_t)model->weights[i] * (table->width - seen);
    }
    return hidden;
}

/// The blocks of the model that a block as baked reaches into, and where they begin for each.
typedef struct espyCookReach
{
    uint32_t* blocks;
    size_t count, capacity;
    uint32_t* first; ///< coarseCount + 1 of them; equal neighbours: some part is in no stored block.
} espyCookReach;

/// Blocks of the model along one axis. False where a part of the block is outside the lattice.
static bool espyCookReach_Axis(const espyiCookModel* model, const espyiCookOrigin* origin, uint32_t axis,
                               uint32_t block, uint32_t out[2])
{
    uint32_t low = block * origin->pvs->coarseFactor;
    uint32_t high = low + origin->pvs->coarseFactor - 1u;
    high = high < origin->pvs->dims[axis] ? high : origin->pvs->dims[axis] - 1u;
    if (low < model->offset[axis] || (high - model->offset[axis]) / model->scale >= model->grid.dims[axis])
    {
        return false;
    }
    out[0] = (low - model->offset[axis]) / model->scale / model->grid.coarseFactor;
    out[1] = (high - model->offset[axis]) / model->scale / model->grid.coarseFactor;
    return true;
}

/// Appends what one block reaches. False: out of memory.
static bool espyCookReach_Add(espyCookReach* reach, const espyiCookModel* model, const espyiCookOrigin* origin,
                              espyiCellCoord block, const espyHooks* hooks)
{
    uint32_t x[2], y[2], z[2];
    size_t start = reach->count;
    if (!espyCookReach_Axis(model, origin, 0, block.x, x) || !espyCookReach_Axis(model, origin, 1, block.y, y) ||
        !espyCookReach_Axis(model, origin, 2, block.z, z))
    {
        return true;
    }
    for (uint32_t k = z[0]; k <= z[1]; ++k)
    {
        for (uint32_t j = y[0]; j <= y[1]; ++j)
        {
            for (uint32_t i = x[0]; i <= x[1]; ++i)
            {
                int32_t rank = espyiCookCoord_Find(model->grid.coarse, model->grid.coarseCount, i, j, k);
                if (rank < 0)
                {
                    reach->count = start;
                    return true;
                }
                if (!espyiGrow(hooks, (void**)&reach->blocks, &reach->capacity, reach->count + 1u,
                               sizeof *reach->blocks))
                {
                    return false;
                }
                reach->blocks[reach->count++] = (uint32_t)rank;
            }
        }
    }
    return true;
}

/// Blocks as baked that a set of the model hides.
static uint32_t espyCookReach_CountHidden(const espyCookReach* reach, uint32_t coarseCount, const uint32_t* set)
{
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < coarseCount; ++i)
    {
        bool all = reach->first[i + 1u] > reach->first[i];
        for (uint32_t j = reach->first[i]; all && j < reach->first[i + 1u]; ++j)
        {
            all = !espyiBits_Get(set, reach->blocks[j]);
        }
        hidden += all ? 1u : 0u;
    }
    return hidden;
}

espyResult espyiCookModel_CountDynamicHidden(const espyiCookModel* model, const espyiCookOrigin* origin,
                                             const espyHooks* hooks, uint64_t* out)
{
    const espyiTable* table = &model->dynamics;
    *out = 0;
    if (model->grid.coarseFactor == 0 || table->setCount == 0)
    {
        return espyResult_Ok;
    }
    espyCookReach reach = {.first = espyiAlloc(hooks, (size_t)origin->pvs->coarseCount + 1u, sizeof *reach.first)};
    uint32_t* hidden = espyiAlloc(hooks, table->setCount, sizeof *hidden);
    bool good = reach.first && hidden;
    for (uint32_t i = 0; good && i < origin->pvs->coarseCount; ++i)
    {
        good = espyCookReach_Add(&reach, model, origin, origin->coarse[i], hooks);
        reach.first[i + 1u] = (uint32_t)reach.count;
    }
    for (uint32_t i = 0; good && i < table->setCount; ++i)
    {
        hidden[i] = espyCookReach_CountHidden(&reach, origin->pvs->coarseCount, table->sets + (size_t)i * table->words);
    }
    for (uint32_t i = 0; good && i < table->cellCount; ++i)
    {
        *out += (uint64_t)model->weights[i] * hidden[table->cells[i]];
    }
    espyiFree(hooks, reach.blocks);
    espyiFree(hooks, reach.first);
    espyiFree(hooks, hidden);
    return good ? espyResult_Ok : espyResult_OutOfMemory;
}
