// SPDX-License-Identifier: MIT
// Tests of rectangles, boxes and triangles against what was drawn. Included by raster.inl.

// --- rectangles

/// True where some pixel of a part of one tile has a d at or below `d`. Rows and columns within the tile, half-open.
ESPY_HOT bool espyTile_Shows(const espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t row0, uint32_t row1,
                             uint32_t column0, uint32_t column1, float d)
{
    uint32_t tile = tileY * raster->stride + tileX;
    uint32_t state = raster->tileState[tile];
    if (state == espyiTileState_Clear)
    {
        return true;
    }
    if (state >= espyiTileState_FirstPlane)
    {
        // Least at a corner of the part.
        const espyiPlane* plane = espyiRaster_Plane(raster, state);
        uint32_t column = tileX * ESPYI_TILE + (plane->gx > 0.0f ? column0 : column1 - 1u);
        uint32_t row = tileY * ESPYI_TILE + (plane->gy > 0.0f ? row0 : row1 - 1u);
        return espyiPlane_At(plane, espyiRaster_Column(raster, column), espyiRaster_Row(raster, row)) <= d;
    }
    const float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    uint32_t columns = (0xFFu << column0) & (0xFFu >> (ESPYI_TILE - column1));
    espyF8 limit = espyF8_Set(d);
    for (uint32_t row = row0; row < row1; ++row)
    {
        if (espyI8_Bits(espyF8_LessEqual(espyF8_Load(pixels + row * ESPYI_TILE), limit)) & columns)
        {
            return true;
        }
    }
    return false;
}

/// The part of a rectangle in tiles from..to of one row of tiles.
ESPY_HOT bool espyTiles_Show(const espyRaster* raster, const espyPixelRect* rect, uint32_t tileY, uint32_t from,
                             uint32_t to, float d)
{
    const float* least = raster->tileMin + (size_t)tileY * raster->stride;
    uint32_t x0 = (uint32_t)rect->x0, y0 = (uint32_t)rect->y0, x1 = (uint32_t)rect->x1, y1 = (uint32_t)rect->y1;
    uint32_t top = tileY * ESPYI_TILE;
    uint32_t row0 = y0 > top ? y0 - top : 0, row1 = y1 < top + ESPYI_TILE ? y1 - top : ESPYI_TILE;
    espyF8 limit = espyF8_Set(d);
    // Rows of tileMin end at whole cells, so that eight can always be read from the start of a cell.
    for (uint32_t start = from & ~7u; start < to; start += 8)
    {
        uint32_t shows = espyI8_Bits(espyF8_LessEqual(espyF8_Load(least + start), limit));
        shows &= start < from ? 0xFFu << (from - start) : 0xFFu;
        shows &= to - start < 8u ? 0xFFu >> (8u - (to - start)) : 0xFFu;
        for (; shows; shows &= shows - 1u)
        {
            uint32_t tileX = start + espyBits_Lowest(shows), left = tileX * ESPYI_TILE;
            uint32_t column0 = x0 > left ? x0 - left : 0, column1 = x1 < left + ESPYI_TILE ? x1 - left : ESPYI_TILE;
            // A whole tile holds the pixel that its least d is of.
            if ((row0 == 0 && row1 == ESPYI_TILE && column0 == 0 && column1 == ESPYI_TILE) ||
                espyTile_Shows(raster, tileX, tileY, row0, row1, column0, column1, d))
            {
                return true;
            }
        }
    }
    return false;
}

static bool espyKernel_TestRect(const espyRaster* raster, espyPixelRect rect, float d)
{
    uint32_t from = (uint32_t)rect.x0 / ESPYI_TILE, to = ((uint32_t)rect.x1 + ESPYI_TILE - 1u) / ESPYI_TILE;
    uint32_t top = (uint32_t)rect.y0 / ESPYI_TILE, end = ((uint32_t)rect.y1 + ESPYI_TILE - 1u) / ESPYI_TILE;
    if (to - from <= 4u && end - top <= 4u)
    {
        for (uint32_t tileY = top; tileY < end; ++tileY)
        {
            if (espyTiles_Show(raster, &rect, tileY, from, to, d))
            {
                return true;
            }
        }
        return false;
    }
    for (uint32_t cellY = top / ESPYI_COARSE; cellY * ESPYI_COARSE < end; ++cellY)
    {
        uint32_t y0 = cellY * ESPYI_COARSE > top ? cellY * ESPYI_COARSE : top;
        uint32_t y1 = (cellY + 1u) * ESPYI_COARSE < end ? (cellY + 1u) * ESPYI_COARSE : end;
        for (uint32_t cellX = from / ESPYI_COARSE; cellX * ESPYI_COARSE < to; ++cellX)
        {
            if (raster->coarse[cellY * raster->coarseX + cellX].min > d)
            {
                continue;
            }
            uint32_t x0 = cellX * ESPYI_COARSE > from ? cellX * ESPYI_COARSE : from;
            uint32_t x1 = (cellX + 1u) * ESPYI_COARSE < to ? (cellX + 1u) * ESPYI_COARSE : to;
            for (uint32_t tileY = y0; tileY < y1; ++tileY)
            {
                if (espyTiles_Show(raster, &rect, tileY, x0, x1, d))
                {
                    return true;
                }
            }
        }
    }
    return false;
}

// --- boxes

static void espyKernel_ProjectBox(const espyRaster* raster, const espyiClip* clip, espyBox box, espyiProjectedBox* out)
{
    // Corner i: bit 0 is x, bit 1 is y, bit 2 is z.
    const float xs[8] = {box.min.x, box.max.x, box.min.x, box.max.x, box.min.x, box.max.x, box.min.x, box.max.x};
    const float ys[8] = {box.min.y, box.min.y, box.max.y, box.max.y, box.min.y, box.min.y, box.max.y, box.max.y};
    const float zs[8] = {box.min.z, box.min.z, box.min.z, box.min.z, box.max.z, box.max.z, box.max.z, box.max.z};
    espyF8 px = espyF8_Load(xs), py = espyF8_Load(ys), pz = espyF8_Load(zs), zero = espyF8_Set(0.0f);
    espyF8 w = espyClip_Row(clip->w, px, py, pz), d = espyClip_Row(clip->d, px, py, pz);
    espyF8 x = espyClip_Row(clip->x, px, py, pz), y = espyClip_Row(clip->y, px, py, pz);
    espyF8 reachX = espyF8_Mul(espyF8_Set((float)raster->width * 0.5f * raster->step), w);
    espyF8 reachY = espyF8_Mul(espyF8_Set((float)raster->height * 0.5f * raster->step), w);
    bool outside = espyI8_Bits(espyF8_Less(w, d)) == 0xFFu || espyI8_Bits(espyF8_Less(d, zero)) == 0xFFu ||
                   espyI8_Bits(espyF8_Less(x, espyF8_Sub(zero, reachX))) == 0xFFu ||
                   espyI8_Bits(espyF8_Less(reachX, x)) == 0xFFu ||
                   espyI8_Bits(espyF8_Less(y, espyF8_Sub(zero, reachY))) == 0xFFu ||
                   espyI8_Bits(espyF8_Less(reachY, y)) == 0xFFu;
    out->rect = (espyPixelRect){0, 0, raster->width, raster->height};
    out->d = 2.0f;
    out->visibility = outside ? espyVisibility_Outside : espyVisibility_Visible;
    espyI8 inFront = espyI8_And(espyF8_LessEqual(d, w), espyF8_Less(espyF8_Set(ESPY_LEAST_W), w));
    // Nothing is known of what left the range of floats.
    const espyF8 most = espyF8_Set(ESPY_MOST_W);
    inFront = espyI8_And(inFront, espyI8_And(espyF8_Less(w, most), espyF8_Less(espyF8_Abs(x), most)));
    inFront = espyI8_And(inFront, espyF8_Less(espyF8_Abs(y), most));
    if (outside || espyI8_Bits(inFront) != 0xFFu)
    {
        return;
    }
    espyF8 inverse = espyF8_Div(espyF8_Set(1.0f), w), far = espyF8_Set(4194304.0f);
    espyF8 near = espyF8_Sub(zero, far);
    x = espyF8_Min(espyF8_Max(espyF8_Mul(x, inverse), near), far);
    y = espyF8_Min(espyF8_Max(espyF8_Mul(y, inverse), near), far);
    d = espyF8_Mul(d, inverse);
    float xMin = espyF8_Lowest(x), xMax = -espyF8_Lowest(espyF8_Sub(zero, x));
    float yMin = espyF8_Lowest(y), yMax = -espyF8_Lowest(espyF8_Sub(zero, y));
    int32_t left = (int32_t)(raster->column0 - 0.5f * raster->step),
            top = (int32_t)(raster->row0 - 0.5f * raster->step);
    uint32_t digits = raster->subPixelBits;
    // Up to a sub-pixel is cut off here, and one more covers rounding.
    espyPixelRect rect = {((int32_t)xMin - 2 - left) >> digits, ((int32_t)yMin - 2 - top) >> digits,
                          (((int32_t)xMax + 2 - left) >> digits) + 1, (((int32_t)yMax + 2 - top) >> digits) + 1};
    rect.x0 = rect.x0 > 0 ? rect.x0 : 0;
    rect.y0 = rect.y0 > 0 ? rect.y0 : 0;
    rect.x1 = rect.x1 < raster->width ? rect.x1 : raster->width;
    rect.y1 = rect.y1 < raster->height ? rect.y1 : raster->height;
    out->rect = rect;
    out->d = -espyF8_Lowest(espyF8_Sub(zero, d)) * ESPYI_DEPTH_GROWTH;
    out->visibility = rect.x0 >= rect.x1 || rect.y0 >= rect.y1 ? espyVisibility_Outside : espyVisibility_Unknown;
}

// --- triangles

/// True where a plane shows in some pixel of `mask` in one tile.
ESPY_HOT bool espyTile_ShowsPlane(const espyRaster* raster, uint32_t tileX, uint32_t tileY, uint64_t mask,
                                  const espyiPlane* plane)
{
    uint32_t tile = tileY * raster->stride + tileX;
    float low, high;
    espyPlane_Range(raster, plane, tileX, tileY, &low, &high);
    if (high < raster->tileMin[tile])
    {
        return false;
    }
    uint32_t state = raster->tileState[tile];
    if (state == espyiTileState_Clear)
    {
        return true;
    }
    const float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    espyTilePlane over = espyTilePlane_Make(raster, plane, tileX, tileY), drawn = over;
    bool isPlane = state >= espyiTileState_FirstPlane;
    if (isPlane)
    {
        drawn = espyTilePlane_Make(raster, espyiRaster_Plane(raster, state), tileX, tileY);
    }
    for (uint32_t row = 0; mask != 0; ++row, mask >>= 8)
    {
        espyF8 old = isPlane ? espyTilePlane_Row(&drawn, row) : espyF8_Load(pixels + row * ESPYI_TILE);
        if (espyI8_Bits(espyF8_LessEqual(old, espyTilePlane_Row(&over, row))) & (uint32_t)mask & 0xFFu)
        {
            return true;
        }
    }
    return false;
}

static bool espyLane_Shows(const espyRaster* raster, const espySetup* s, uint32_t lane, const espyClamp* clamp)
{
    espyClamp own = {s->row0[lane] - 1, s->row1[lane] + 1, s->column0[lane] - 1, s->column1[lane] + 1};
    own.row0 = own.row0 > clamp->row0 ? own.row0 : clamp->row0;
    own.row1 = own.row1 < clamp->row1 ? own.row1 : clamp->row1;
    own.column0 = own.column0 > clamp->column0 ? own.column0 : clamp->column0;
    own.column1 = own.column1 < clamp->column1 ? own.column1 : clamp->column1;
    if (own.row0 >= own.row1 || own.column0 >= own.column1)
    {
        return false;
    }
    espyiPlane plane = espySetup_GetPlane(s, lane, 0);
    for (uint32_t tileRow = (uint32_t)own.row0 / ESPYI_TILE; tileRow * ESPYI_TILE < (uint32_t)own.row1; ++tileRow)
    {
        espySpans spans = espySetup_GetTouched(raster, s, lane, tileRow, &own);
        // Rows of the tile that are on the screen.
        uint64_t rows = ~0ull;
        if (own.row1 < (int32_t)(tileRow + 1u) * 8)
        {
            rows >>= 8u * ((tileRow + 1u) * 8u - (uint32_t)own.row1);
        }
        for (int32_t column = spans.first & ~7; column < spans.last; column += 8)
        {
            uint64_t mask = espyS8_Cover(spans.from, spans.to, column) & rows;
            if (mask && espyTile_ShowsPlane(raster, (uint32_t)column / 8u, tileRow, mask, &plane))
            {
                return true;
            }
        }
    }
    return false;
}

static bool espyKernel_TestBatch(const espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch,
                                 bool twoSided)
{
    espyScreenVertex screen[ESPYI_BATCH_VERTICES];
    espyClamp clamp = {0, raster->height, 0, raster->width};
    espyVertices_Transform(raster, clip, batch->positions, batch->vertexCount, screen);
    for (uint32_t first = 0; first < batch->triangleCount; first += 8)
    {
        const espyScreenVertex* vertices[3][8];
        espySetup setup;
        uint32_t lanes = espyBatch_Gather(batch, screen, first, vertices);
        espySetup_Fill(raster, vertices, lanes, batch->flip, twoSided, espySetupKind_Nearest, &clamp, &setup);
        uint32_t clipped = setup.clipped;
        for (uint32_t rest = setup.front; rest; rest &= rest - 1u)
        {
            if (espyLane_Shows(raster, &setup, espyBits_Lowest(rest), &clamp))
            {
                return true;
            }
        }
        for (uint32_t rest = clipped; rest; rest &= rest - 1u)
        {
            espyScreenVertex corners[ESPY_MOST_CORNERS];
            uint32_t edges[ESPY_MOST_CORNERS], count, index = first + espyBits_Lowest(rest);
            const uint8_t* at = batch->indices + (size_t)index * 3u;
            uint32_t all = screen[at[0]].code & screen[at[1]].code & screen[at[2]].code;
            uint32_t any = screen[at[0]].code | screen[at[1]].code | screen[at[2]].code;
            if (all)
            {
                continue;
            }
            if (any & (espyCode_Near | espyCode_Behind))
            {
                return true;
            }
            if (!espyBatch_Clip(raster, clip, batch, screen, index, corners, edges, &count))
            {
                continue;
            }
            uint32_t fan = espyFan_Gather(corners, count, vertices);
            espySetup_Fill(raster, vertices, fan, batch->flip, twoSided, espySetupKind_Nearest, &clamp, &setup);
            for (uint32_t lane = setup.front; lane; lane &= lane - 1u)
            {
                if (espyLane_Shows(raster, &setup, espyBits_Lowest(lane), &clamp))
                {
                    return true;
                }
            }
        }
    }
    return false;
}
