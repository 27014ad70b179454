// SPDX-License-Identifier: MIT
#include "pvs_case.h"

#include "pvs/format.h"
#include "test_main.h"

#include <string.h>

static void* espyCase_Alloc(size_t count, size_t size)
{
    void* p = calloc(count > 0 ? count : 1, size);
    assert_non_null(p);
    return p;
}

espyPvsCaseDef espyPvsCaseDef_Default(void)
{
    return (espyPvsCaseDef){.seed = 1,
                            .dims = {7, 5, 6},
                            .origin = {-3.5f, 1.25f, 10.0f},
                            .cellSize = 1.5f,
                            .storedShare = 1.0f,
                            .solidShare = 0.1f,
                            .occluderCount = 3,
                            .occludeeCount = 45,
                            .distinctRows = 20,
                            .coarseFactor = 4,
                            .tools = true};
}

/// Cells that are stored for themselves take the next number of the generator, lumps one of their own.
static bool espyCase_IsStored(const espyPvsCaseDef* def, espyiRng* rng, uint32_t x, uint32_t y, uint32_t z)
{
    if (def->storedLump == 0)
    {
        return espyiRng_Float(rng) < def->storedShare;
    }
    uint32_t lump = x / def->storedLump + 1000u * (y / def->storedLump) + 1000000u * (z / def->storedLump);
    espyiRng own = espyiRng_Seed(def->seed * 7u + lump);
    return espyiRng_Float(&own) < def->storedShare;
}

static void espyCase_FillGrid(const espyPvsCaseDef* def, espyiRng* rng, espyiGrid* grid)
{
    size_t lattice = (size_t)def->dims[0] * def->dims[1] * def->dims[2];
    grid->origin = def->origin;
    grid->cellSize = def->cellSize;
    memcpy(grid->dims, def->dims, sizeof grid->dims);
    grid->cells = espyCase_Alloc(lattice, sizeof *grid->cells);
    for (uint32_t z = 0; z < def->dims[2]; ++z)
    {
        for (uint32_t y = 0; y < def->dims[1]; ++y)
        {
            for (uint32_t x = 0; x < def->dims[0]; ++x)
            {
                if (espyCase_IsStored(def, rng, x, y, z))
                {
                    grid->cells[grid->cellCount++] = (espyiCellCoord){(uint16_t)x, (uint16_t)y, (uint16_t)z};
                }
            }
        }
    }
    grid->dense = grid->cellCount == lattice;
    grid->solid = espyCase_Alloc(espyiBits_Words(grid->cellCount), sizeof *grid->solid);
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        if (espyiRng_Float(rng) < def->solidShare)
        {
            espyiBits_Set(grid->solid, i);
            ++grid->solidCount;
        }
    }
}

static void espyCase_FillCoarse(const espyPvsCaseDef* def, espyiGrid* grid)
{
    if (def->coarseFactor == 0)
    {
        return;
    }
    grid->coarseFactor = def->coarseFactor;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        grid->coarseDims[axis] = (def->dims[axis] + def->coarseFactor - 1) / def->coarseFactor;
    }
    size_t blocks = (size_t)grid->coarseDims[0] * grid->coarseDims[1] * grid->coarseDims[2];
    uint8_t* used = espyCase_Alloc(blocks, 1);
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        espyiCellCoord c = grid->cells[i];
        size_t row = c.y / def->coarseFactor + (size_t)grid->coarseDims[1] * (c.z / def->coarseFactor);
        used[c.x / def->coarseFactor + grid->coarseDims[0] * row] = 1;
    }
    grid->coarse = espyCase_Alloc(blocks, sizeof *grid->coarse);
    for (size_t i = 0; i < blocks; ++i)
    {
        if (used[i])
        {
            grid->coarse[grid->coarseCount++] = (espyiCellCoord){
                (uint16_t)(i % grid->coarseDims[0]), (uint16_t)(i / grid->coarseDims[0] % grid->coarseDims[1]),
                (uint16_t)(i / grid->coarseDims[0] / grid->coarseDims[1])};
        }
    }
    free(used);
}

/// Whether a cell sees what lies at a random place: within a random distance.
static bool espyCase_SeesNear(const espyPvsCaseDef* def, espyiCellCoord cell, uint32_t item)
{
    espyiRng rng = espyiRng_Seed(def->seed * 131u + item);
    float reach = 0.2f + 0.4f * espyiRng_Float(&rng);
    float distance = 0.0f;
    const uint32_t at[3] = {cell.x, cell.y, cell.z};
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        float d = (float)at[axis] / (float)def->dims[axis] - espyiRng_Float(&rng);
        distance += d * d;
    }
    return distance < reach * reach;
}

/// Random rows, several cells sharing one, and the table of them by linear search.
static uint8_t* espyCase_FillTable(const espyPvsCaseDef* def, espyiRng* rng, const espyiGrid* grid, uint32_t width,
                                   espyiTable* table)
{
    uint32_t cellCount = grid->cellCount;
    uint32_t words = espyiBits_Words(width);
    uint8_t* visible = espyCase_Alloc((size_t)cellCount * width, 1);
    *table = (espyiTable){.width = width, .words = words, .cellCount = cellCount};
    table->cells = espyCase_Alloc(cellCount, sizeof *table->cells);
    table->sets = espyCase_Alloc((size_t)cellCount * (words > 0 ? words : 1), sizeof *table->sets);
    for (uint32_t cell = 0; cell < cellCount; ++cell)
    {
        espyiRng row = espyiRng_Seed(def->seed * 977u + espyiRng_Below(rng, def->distinctRows));
        uint32_t* set = table->sets + (size_t)table->setCount * words;
        memset(set, 0, words * sizeof *set);
        for (uint32_t i = 0; i < width; ++i)
        {
            if (def->coherent ? espyCase_SeesNear(def, grid->cells[cell], i) : espyiRng_Below(&row, 3) == 0)
            {
                visible[(size_t)cell * width + i] = 1;
                espyiBits_Set(set, i);
            }
        }
        uint32_t same = 0;
        while (same < table->setCount && memcmp(table->sets + (size_t)same * words, set, words * sizeof *set) != 0)
        {
            ++same;
        }
        table->cells[cell] = same;
        table->setCount += same == table->setCount ? 1u : 0u;
    }
    return visible;
}

static void espyCase_FillEntries(const espyPvsCaseDef* def, espyiRng* rng, espyPvsCase* made)
{
    uint32_t count = def->occluderCount + def->occludeeCount;
    made->boxes = espyCase_Alloc(count, sizeof *made->boxes);
    made->nodes = espyCase_Alloc(count, sizeof *made->nodes);
    made->hashes = espyCase_Alloc(count, sizeof *made->hashes);
    made->parts = espyCase_Alloc(def->occludeeCount, sizeof *made->parts);
    made->proven = espyCase_Alloc(def->occludeeCount, sizeof *made->proven);
    for (uint32_t i = 0; i < count; ++i)
    {
        espyVec3 low = {espyiRng_Float(rng), espyiRng_Float(rng), espyiRng_Float(rng)};
        made->boxes[i] = (espyBox){low, {low.x + 1.0f, low.y + 2.0f, low.z + 3.0f}};
        made->nodes[i] = (int32_t)espyiRng_Below(rng, 1000);
        made->boxes[i] = def->boxes ? def->boxes[i] : made->boxes[i];
        made->nodes[i] = def->nodes ? def->nodes[i] : made->nodes[i];
        made->hashes[i] = espyiHash_U64(def->seed, i);
    }
    for (uint32_t i = 0; i < def->occludeeCount; ++i)
    {
        made->parts[i] = (int32_t)espyiRng_Below(rng, 4) - 1;
        made->parts[i] = def->wholeNodes ? -1 : made->parts[i];
        made->proven[i] = 0xFFFFFFF0u + i % 16u;
    }
}

espyPvsCase espyPvsCase_Make(const espyPvsCaseDef* def)
{
    espyPvsCase made = {0};
    espyiRng rng = espyiRng_Seed(def->seed);
    espyCase_FillGrid(def, &rng, &made.grid);
    espyCase_FillCoarse(def, &made.grid);
    espyCase_FillEntries(def, &rng, &made);
    made.visible = espyCase_FillTable(def, &rng, &made.grid, def->occludeeCount, &made.statics);
    made.blockVisible = espyCase_FillTable(def, &rng, &made.grid, made.grid.coarseCount, &made.dynamics);
    if (!def->tools)
    {
        free(made.grid.solid);
        made.grid.solid = NULL;
    }
    made.blob = (espyiBlobDef){.grid = &made.grid,
                               .quality = espyBakeQuality_High,
                               .nearDistance = 0.125f,
                               .smallestHole = 0.25f,
                               .occlusionCulling = true,
                               .consoleBudgetKB = 512,
                               .seed = def->seed,
                               .settingsHash = 0x1122334455667788ull,
                               .contentHash = 0x99AABBCCDDEEFF00ull,
                               .occluderCount = def->occluderCount,
                               .occludeeCount = def->occludeeCount,
                               .occluderBoxes = made.boxes,
                               .occludeeBoxes = made.boxes + def->occluderCount,
                               .statics = &made.statics,
                               .dynamics = def->coarseFactor > 0 ? &made.dynamics : NULL};
    if (def->tools)
    {
        made.blob.occluderNodes = made.nodes;
        made.blob.occludeeNodes = made.nodes + def->occluderCount;
        made.blob.occludeeParts = made.parts;
        made.blob.occludeeProven = made.proven;
        made.blob.occluderHashes = made.hashes;
        made.blob.occludeeHashes = made.hashes + def->occluderCount;
    }
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyiBlob_Write(&made.blob, &hooks, &made.file, &made.size), espyResult_Ok);
    // The def points into this function's copies; what the caller gets must not.
    made.blob.grid = NULL;
    made.blob.statics = NULL;
    made.blob.dynamics = NULL;
    return made;
}

void espyPvsCase_Free(espyPvsCase* made)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiFree(&hooks, made->file);
    free(made->grid.cells);
    free(made->grid.solid);
    free(made->grid.coarse);
    free(made->visible);
    free(made->blockVisible);
    free(made->boxes);
    free(made->nodes);
    free(made->parts);
    free(made->proven);
    free(made->hashes);
    free(made->statics.cells);
    free(made->statics.sets);
    free(made->dynamics.cells);
    free(made->dynamics.sets);
    *made = (espyPvsCase){0};
}

void espyPvsCase_Rehash(void* file, size_t size)
{
    ((espyiFileHeader*)file)->hash = espyiFile_Hash(file, size, NULL);
}
