// SPDX-License-Identifier: MIT
// Tiles, drawing into them and merging them. Included by raster.inl.

/// The least of a coarse cell, after that of a tile in it was raised from `old`; `filled` tiles were empty before.
ESPY_HOT void espyCell_Raised(espyRaster* raster, uint32_t tileX, uint32_t tileY, float old, uint32_t filled)
{
    espyiCoarse* cell = &raster->coarse[tileY / ESPYI_COARSE * raster->coarseX + tileX / ESPYI_COARSE];
    cell->empty -= filled;
    if (cell->empty > 0 || old > cell->min)
    {
        return;
    }
    const float* row =
        raster->tileMin + (size_t)(tileY & ~(ESPYI_COARSE - 1u)) * raster->stride + (tileX & ~(ESPYI_COARSE - 1u));
    espyF8 least = espyF8_Load(row);
    for (uint32_t i = 1; i < ESPYI_COARSE; ++i)
    {
        least = espyF8_Min(least, espyF8_Load(row + (size_t)i * raster->stride));
    }
    cell->min = espyF8_Lowest(least);
}

/// Raises tileMin of a tile, and its cell's.
ESPY_HOT void espyTile_SetMin(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile, float min)
{
    float old = raster->tileMin[tile];
    if (min > old)
    {
        raster->tileMin[tile] = min;
        espyCell_Raised(raster, tileX, tileY, old, old <= 0.0f ? 1u : 0u);
    }
}

// --- planes

static const float espyLane_Numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/// A plane over a row of tiles: what is left to add is the part of the columns.
typedef struct espyPlaneRows
{
    float alongY[8]; ///< gy times the distance of each row.
    float gx, d, low, high;
    uint32_t id;
} espyPlaneRows;

/// `top` is the first row less plane->y.
ESPY_HOT espyPlaneRows espyPlaneRows_Make(const espyRaster* raster, const espyiPlane* plane, float top)
{
    espyPlaneRows rows = {.gx = plane->gx, .d = plane->d, .low = plane->low, .high = plane->high, .id = plane->id};
    espyF8 y = espyF8_Add(espyF8_Set(top), espyF8_Mul(espyF8_Load(espyLane_Numbers), espyF8_Set(raster->step)));
    espyF8_Store(rows.alongY, espyF8_Mul(espyF8_Set(plane->gy), y));
    return rows;
}

ESPY_HOT espyF8 espyPlaneRows_Clamp(const espyPlaneRows* rows, espyF8 d)
{
    return espyF8_Min(espyF8_Max(d, espyF8_Set(rows->low)), espyF8_Set(rows->high));
}

/// d of the columns of a tile, to which that of the rows is still to be added; `left` is the first less plane->x.
ESPY_HOT espyF8 espyPlaneRows_Across(const espyRaster* raster, const espyPlaneRows* rows, float left)
{
    espyF8 x = espyF8_Add(espyF8_Set(left), espyF8_Mul(espyF8_Load(espyLane_Numbers), espyF8_Set(raster->step)));
    return espyF8_Add(espyF8_Set(rows->d), espyF8_Mul(espyF8_Set(rows->gx), x));
}

/// Eight pixels of a tile. As espyiPlane_At, in the same order of operations; coordinates are exact, so theirs is free.
ESPY_HOT espyF8 espyPlaneRows_At(const espyPlaneRows* rows, espyF8 across, uint32_t row)
{
    return espyPlaneRows_Clamp(rows, espyF8_Add(across, espyF8_Set(rows->alongY[row])));
}

/// The same for one tile.
typedef struct espyTilePlane
{
    espyPlaneRows rows;
    espyF8 across;
} espyTilePlane;

ESPY_HOT espyTilePlane espyTilePlane_Make(const espyRaster* raster, const espyiPlane* plane, uint32_t tileX,
                                          uint32_t tileY)
{
    espyTilePlane over;
    over.rows = espyPlaneRows_Make(raster, plane, espyiRaster_Row(raster, tileY * ESPYI_TILE) - plane->y);
    over.across = espyPlaneRows_Across(raster, &over.rows, espyiRaster_Column(raster, tileX * ESPYI_TILE) - plane->x);
    return over;
}

ESPY_HOT espyF8 espyTilePlane_Row(const espyTilePlane* plane, uint32_t row)
{
    return espyPlaneRows_At(&plane->rows, plane->across, row);
}

/// Least and greatest d of a plane over the pixels of a tile. Rounding is monotonic, so both are at corners.
ESPY_HOT void espyPlane_Range(const espyRaster* raster, const espyiPlane* plane, uint32_t tileX, uint32_t tileY,
                              float* low, float* high)
{
    float left = espyiRaster_Column(raster, tileX * ESPYI_TILE), top = espyiRaster_Row(raster, tileY * ESPYI_TILE);
    float right = left + 7.0f * raster->step, bottom = top + 7.0f * raster->step;
    bool growsX = plane->gx > 0.0f, growsY = plane->gy > 0.0f;
    *low = espyiPlane_At(plane, growsX ? left : right, growsY ? top : bottom);
    *high = espyiPlane_At(plane, growsX ? right : left, growsY ? bottom : top);
}

ESPY_HOT float espyPlane_Low(const espyRaster* raster, const espyiPlane* plane, uint32_t tileX, uint32_t tileY)
{
    float x = espyiRaster_Column(raster, tileX * ESPYI_TILE) + (plane->gx > 0.0f ? 0.0f : 7.0f * raster->step);
    float y = espyiRaster_Row(raster, tileY * ESPYI_TILE) + (plane->gy > 0.0f ? 0.0f : 7.0f * raster->step);
    return espyiPlane_At(plane, x, y);
}

/// Keeps a plane for tiles of one row; returns the state that names it, or 0 where the row has no more room.
ESPY_HOT uint32_t espyPlane_Keep(espyRaster* raster, uint32_t tileY, const espyiPlane* plane)
{
    uint32_t count = raster->planeCounts[tileY];
    if (count == raster->planeSlots)
    {
        return 0;
    }
    uint32_t index = tileY * raster->planeSlots + count;
    raster->planes[index] = *plane;
    raster->planeCounts[tileY] = count + 1u;
    return espyiTileState_FirstPlane + index;
}

// --- pixels

/// Stores a tile pixel by pixel.
static void espyTile_Expand(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile, bool ids)
{
    uint32_t state = raster->tileState[tile], id = ESPY_RASTER_NO_ID;
    float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    if (state == espyiTileState_Clear)
    {
        raster->tileCover[tile] = 0;
        ESPY_UNROLL
        for (uint32_t row = 0; row < ESPYI_TILE; ++row)
        {
            espyF8_Store(pixels + row * ESPYI_TILE, espyF8_Set(0.0f));
        }
    }
    else
    {
        const espyiPlane* plane = espyiRaster_Plane(raster, state);
        raster->tileCover[tile] = ~0ull;
        id = plane->id;
        espyTilePlane over = espyTilePlane_Make(raster, plane, tileX, tileY);
        for (uint32_t row = 0; row < ESPYI_TILE; ++row)
        {
            espyF8_Store(pixels + row * ESPYI_TILE, espyTilePlane_Row(&over, row));
        }
    }
    if (ids)
    {
        int32_t* to = (int32_t*)(void*)(raster->idPixels + (size_t)tile * ESPYI_TILE_PIXELS);
        for (uint32_t row = 0; row < ESPYI_TILE; ++row)
        {
            espyI8_Store(to + row * ESPYI_TILE, espyI8_Set((int32_t)id));
        }
    }
    raster->tileState[tile] = espyiTileState_Pixels;
}

/// Rows of a tile without ids, after a plane was put into the pixels of `mask`; returns the least of each column. Those
/// of a `fresh` tile are not read: nothing was drawn to it.
ESPY_HOT espyF8 espyTile_BlendRows(float* pixels, const espyPlaneRows* rows, espyF8 across, uint64_t mask, bool fresh)
{
    espyRowBits bits = espyRowBits_Make(mask);
    espyF8 least = espyF8_Set(2.0f);
    ESPY_UNROLL
    for (uint32_t row = 0; row < ESPYI_TILE; ++row, pixels += ESPYI_TILE)
    {
        if (ESPY_SKIP_ROWS && !fresh && (mask >> 8u * row & 0xFFu) == 0)
        {
            least = espyF8_Min(least, espyF8_Load(pixels));
            continue;
        }
        // No d is below 0, so that 0 leaves what is there.
        espyF8 d = espyRowBits_Keep(bits, row, espyPlaneRows_At(rows, across, row));
        d = fresh ? d : espyF8_Max(d, espyF8_Load(pixels));
        least = espyF8_Min(least, d);
        espyF8_Store(pixels, d);
    }
    return least;
}

/// The same with ids: of equals the lower one stays.
ESPY_HOT espyF8 espyTile_BlendIds(float* pixels, int32_t* rowIds, const espyPlaneRows* rows, espyF8 across,
                                  uint64_t mask)
{
    espyI8 id = espyI8_Set((int32_t)rows->id);
    espyF8 least = espyF8_Set(2.0f);
    for (uint32_t row = 0; row < ESPYI_TILE; ++row, pixels += ESPYI_TILE, rowIds += ESPYI_TILE)
    {
        espyI8 covered = espyI8_FromBits((uint32_t)(mask >> 8u * row) & 0xFFu), oldId = espyI8_Load(rowIds);
        espyF8 d = espyPlaneRows_At(rows, across, row), old = espyF8_Load(pixels);
        espyI8 tie = espyI8_And(espyF8_Equal(d, old), espyI8_LessU(id, oldId));
        espyI8 take = espyI8_And(covered, espyI8_Or(espyF8_Less(old, d), tie));
        d = espyF8_Select(take, d, old);
        least = espyF8_Min(least, d);
        espyF8_Store(pixels, d);
        espyI8_Store(rowIds, espyI8_Select(take, id, oldId));
    }
    return least;
}

/// Puts a plane into the pixels of `mask`: nearer wins. `left` is the first column less plane->x, `high` at least every
/// d of the plane in the tile.
ESPY_HOT void espyTile_Blend(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile, uint64_t mask,
                             const espyPlaneRows* rows, float left, float high, bool ids)
{
    float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    espyF8 across = espyPlaneRows_Across(raster, rows, left), least;
    uint64_t cover = mask;
    if (!ids && raster->tileState[tile] == espyiTileState_Clear)
    {
        least = espyTile_BlendRows(pixels, rows, across, mask, true);
        raster->tileState[tile] = espyiTileState_Pixels;
        raster->tileMax[tile] = high;
    }
    else
    {
        if (raster->tileState[tile] != espyiTileState_Pixels)
        {
            espyTile_Expand(raster, tileX, tileY, tile, ids);
        }
        cover |= raster->tileCover[tile];
        raster->tileMax[tile] = raster->tileMax[tile] > high ? raster->tileMax[tile] : high;
        int32_t* tileIds = ids ? (int32_t*)(void*)(raster->idPixels + (size_t)tile * ESPYI_TILE_PIXELS) : NULL;
        least = ids ? espyTile_BlendIds(pixels, tileIds, rows, across, mask)
                    : espyTile_BlendRows(pixels, rows, across, mask, false);
    }
    raster->tileCover[tile] = cover;
    if (cover == ~0ull)
    {
        espyTile_SetMin(raster, tileX, tileY, tile, espyF8_Lowest(least));
    }
}

ESPY_HOT void espyTile_BlendPlane(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile, uint64_t mask,
                                  const espyiPlane* plane, float high, bool ids)
{
    espyPlaneRows rows = espyPlaneRows_Make(raster, plane, espyiRaster_Row(raster, tileY * ESPYI_TILE) - plane->y);
    espyTile_Blend(raster, tileX, tileY, tile, mask, &rows, espyiRaster_Column(raster, tileX * ESPYI_TILE) - plane->x,
                   high, ids);
}

/// The same, or nothing where all of it is behind what is there, or the plane itself where it covers all of the tile in
/// front of what is there. `large`: only the part in the tile is compared.
ESPY_HOT void espyTile_Draw(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint64_t mask, const espyiPlane* plane,
                            bool large, bool ids)
{
    uint32_t tile = tileY * raster->stride + tileX;
    float low = plane->low, high = plane->high, least = raster->tileMin[tile], most = raster->tileMax[tile];
    if (large || mask == ~0ull)
    {
        espyPlane_Range(raster, plane, tileX, tileY, &low, &high);
    }
    if (ids ? high < least : high <= least)
    {
        return;
    }
    if (mask == ~0ull && (ids ? low > most : low >= most))
    {
        uint32_t state = espyPlane_Keep(raster, tileY, plane);
        if (state != 0)
        {
            raster->tileState[tile] = state;
            raster->tileMax[tile] = high;
            espyTile_SetMin(raster, tileX, tileY, tile, low);
            return;
        }
    }
    espyTile_BlendPlane(raster, tileX, tileY, tile, mask, plane, high, ids);
}

// --- merging

static void espyKernel_MergeTile(espyRaster* raster, const espyRaster* other, uint32_t tile)
{
    uint32_t tileX = tile % raster->stride, tileY = tile / raster->stride, state = other->tileState[tile];
    if (state == espyiTileState_Clear)
    {
        return;
    }
    if (state >= espyiTileState_FirstPlane)
    {
        espyTile_Draw(raster, tileX, tileY, ~0ull, espyiRaster_Plane(other, state), true, raster->ids);
        return;
    }
    if (raster->tileState[tile] != espyiTileState_Pixels)
    {
        espyTile_Expand(raster, tileX, tileY, tile, raster->ids);
    }
    const float* pixels = other->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    float* to = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    espyF8 least = espyF8_Set(2.0f);
    for (uint32_t row = 0; row < ESPYI_TILE; ++row)
    {
        espyF8 old = espyF8_Load(to + row * ESPYI_TILE), d = espyF8_Load(pixels + row * ESPYI_TILE);
        if (raster->ids)
        {
            size_t at = (size_t)tile * ESPYI_TILE_PIXELS + row * ESPYI_TILE;
            int32_t* idPixels = (int32_t*)(void*)(raster->idPixels + at);
            espyI8 oldId = espyI8_Load(idPixels), id = espyI8_Load((const int32_t*)(const void*)(other->idPixels + at));
            espyI8 tie = espyI8_And(espyF8_Equal(d, old), espyI8_LessU(id, oldId));
            espyI8_Store(idPixels, espyI8_Select(espyI8_Or(espyF8_Less(old, d), tie), id, oldId));
        }
        d = espyF8_Max(old, d);
        least = espyF8_Min(least, d);
        espyF8_Store(to + row * ESPYI_TILE, d);
    }
    uint64_t cover = raster->tileCover[tile] | other->tileCover[tile];
    raster->tileCover[tile] = cover;
    raster->tileMax[tile] = raster->tileMax[tile] > other->tileMax[tile] ? raster->tileMax[tile] : other->tileMax[tile];
    if (cover == ~0ull)
    {
        espyTile_SetMin(raster, tileX, tileY, tile, espyF8_Lowest(least));
    }
}
