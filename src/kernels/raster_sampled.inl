// SPDX-License-Identifier: MIT
// Drawing in Sampled mode. Included by raster.inl.
//
// A batch is culled first, eight triangles at a time: what faces away or has no pixel centre in its bounds is gone
// before anything is computed for it. What is left is set up, eight at a time. Small triangles (at most 8 rows, in two
// columns of tiles) get their masks in lanes, a row of all eight at once, and then blend into at most four tiles.
// Larger ones are walked by rows of tiles: eight rows of spans at once, and eight tiles at once between the edges.

// --- small triangles

#define ESPY_SMALL_ROWS 8
#define ESPY_SMALL_COLUMNS 16 ///< From the first column of the tile that the triangle starts in.

/// Part of a small triangle in one tile.
typedef struct espyPiece
{
    uint64_t mask;
    uint32_t tile;
    uint16_t tileX, tileY;
    uint32_t lane;
} espyPiece;

/// Which of the lanes can be drawn as small triangles: within ESPY_SMALL_ROWS and ESPY_SMALL_COLUMNS, and the four
/// tiles from the first are within the clamp.
ESPY_HOT uint32_t espySmall_Select(const espySetup* s, const espyClamp* clamp)
{
    espyI8 row0 = espyI8_Load(s->row0), row1 = espyI8_Load(s->row1);
    espyI8 column0 = espyI8_And(espyI8_Load(s->column0), espyI8_Set(~7)), column1 = espyI8_Load(s->column1);
    espyI8 last = espyI8_Add(row0, espyI8_Set(ESPY_SMALL_ROWS)), end = espyI8_Add(column0, espyI8_Set(16));
    espyI8 over = espyI8_Or(espyI8_Greater(row1, last), espyI8_Greater(column1, end));
    over = espyI8_Or(over, espyI8_Or(espyI8_Greater(espyI8_Set(clamp->row0), row0),
                                     espyI8_Greater(espyI8_Set(clamp->column0), column0)));
    over = espyI8_Or(over, espyI8_Or(espyI8_Greater(last, espyI8_Set(clamp->row1)),
                                     espyI8_Greater(end, espyI8_Set(clamp->column1))));
    return s->drawn & ~espyI8_Bits(over);
}

/// Rows 2i and 2i + 1 of eight small triangles, 16 columns each. The arithmetic is that of espySetup_GetSpans.
typedef struct espySmallRows
{
    espyI8 pairs[ESPY_SMALL_ROWS / 2];
    espyI8 behind; ///< Least distance, over all edges and rows, of a position from the next centre.
} espySmallRows;

ESPY_HOT espySmallRows espySmall_GetRows(const espyRaster* raster, const espySetup* s, bool tall)
{
    const uint32_t digits = raster->subPixelBits;
    const espyF8 zero = espyF8_Set(0.0f), step = espyF8_Set(raster->step);
    const espyI8 below = espyI8_Set((1 << digits) - 1), two = espyI8_Set(2);
    espyI8 row0 = espyI8_Load(s->row0), count = espyI8_Sub(espyI8_Load(s->row1), row0);
    espyF8 y = espyF8_Add(espyF8_Set(raster->row0), espyF8_Mul(espyI8_ToFloat(row0), step));
    espyF8 yTop = espyF8_Load(s->yTop), yMid = espyF8_Load(s->yMid), yLow = espyF8_Load(s->yLow);
    espyF8 slopeLong = espyF8_Load(s->slopeLong), slopeUpper = espyF8_Load(s->slopeUpper);
    espyF8 slopeLower = espyF8_Load(s->slopeLower);
    // Columns from here on are relative to the first tile.
    espyI8 start = espyI8_And(espyI8_Load(s->column0), espyI8_Set(~7));
    espyI8 offset =
        espyI8_Sub(espyI8_Set((int32_t)raster->step - 1 - (int32_t)raster->column0), espyI8_ShiftLeft(start, digits));
    espyI8 xTop = espyI8_Add(espyF8_ToInt(espyF8_Load(s->xTop)), offset);
    espyI8 xMid = espyI8_Add(espyF8_ToInt(espyF8_Load(s->xMid)), offset);
    espySmallRows rows = {.behind = below};
    uint32_t rowCount = tall ? ESPY_SMALL_ROWS : ESPY_SMALL_ROWS / 2;
    for (uint32_t i = 0; i < ESPY_SMALL_ROWS / 2; ++i)
    {
        rows.pairs[i] = espyI8_Set(0);
    }
    ESPY_UNROLL
    for (uint32_t row = 0; row < rowCount; ++row)
    {
        espyF8 inside = espyF8_Min(y, yLow);
        espyI8 upper = espyF8_Less(y, yMid);
        espyF8 yStart = espyF8_Select(upper, yTop, yMid), slope = espyF8_Select(upper, slopeUpper, slopeLower);
        espyF8 alongLong = espyF8_Mul(espyF8_Sub(inside, yTop), slopeLong);
        espyF8 alongShort = espyF8_Mul(espyF8_Sub(inside, yStart), slope);
        espyI8 positionLong = espyI8_Sub(xTop, espyF8_ToInt(espyF8_Floor(espyF8_Sub(zero, alongLong))));
        espyI8 positionShort =
            espyI8_Sub(espyI8_Select(upper, xTop, xMid), espyF8_ToInt(espyF8_Floor(espyF8_Sub(zero, alongShort))));
        rows.behind = espyI8_Min(rows.behind, espyI8_And(espyI8_Add(positionLong, two), below));
        rows.behind = espyI8_Min(rows.behind, espyI8_And(espyI8_Add(positionShort, two), below));
        espyI8 columnLong = espyI8_ShiftRight(positionLong, digits);
        espyI8 columnShort = espyI8_ShiftRight(positionShort, digits);
        espyI8 from = espyI8_Bit(espyI8_Min(columnLong, columnShort));
        espyI8 span = espyI8_Sub(espyI8_Bit(espyI8_Max(columnLong, columnShort)), from);
        span = espyI8_And(span, espyI8_Greater(count, espyI8_Set((int32_t)row)));
        rows.pairs[row / 2] = espyI8_Or(rows.pairs[row / 2], espyI8_ShiftLeft(span, row % 2 * 16u));
        y = espyF8_Add(y, step);
    }
    return rows;
}

/// Rows of one of both tiles side by side: two bytes a pair become four a word.
ESPY_HOT espyI8 espySmall_Pack(espyI8 first, espyI8 second)
{
    const espyI8 bytes = espyI8_Set(0x00FF00FF), low = espyI8_Set(0xFFFF);
    first = espyI8_And(first, bytes);
    second = espyI8_And(second, bytes);
    first = espyI8_And(espyI8_Or(first, espyI8_ShiftRight(first, 8)), low);
    second = espyI8_And(espyI8_Or(second, espyI8_ShiftRight(second, 8)), low);
    return espyI8_Or(first, espyI8_ShiftLeft(second, 16));
}

/// Draws the lanes of `lanes`, and returns those that have to be drawn with more care.
ESPY_HOT uint32_t espySmall_Draw(espyRaster* raster, const espySetup* s, uint32_t lanes, uint32_t id, bool ids)
{
    espyI8 count = espyI8_Sub(espyI8_Load(s->row1), espyI8_Load(s->row0));
    bool tall = (espyI8_Bits(espyI8_Greater(count, espyI8_Set(ESPY_SMALL_ROWS / 2))) & lanes) != 0;
    espySmallRows rows = tall ? espySmall_GetRows(raster, s, true) : espySmall_GetRows(raster, s, false);
    uint32_t careful = (0xFFu ^ espyI8_Bits(espyI8_Greater(rows.behind, espyI8_Set(2)))) & lanes;
    // Words of masks: left tile, right tile; upper and lower four rows.
    espyI8 words[4];
    for (uint32_t i = 0; i < 2; ++i)
    {
        words[i] = espySmall_Pack(rows.pairs[2 * i], rows.pairs[2 * i + 1]);
        words[2 + i] =
            espySmall_Pack(espyI8_ShiftRight(rows.pairs[2 * i], 8), espyI8_ShiftRight(rows.pairs[2 * i + 1], 8));
    }
    espyI8 any = espyI8_Or(espyI8_Or(words[0], words[1]), espyI8_Or(words[2], words[3]));
    lanes &= ~careful & ~espyI8_Bits(espyI8_Equal(any, espyI8_Set(0)));
    int32_t masks[4][8];
    for (uint32_t i = 0; i < 4; ++i)
    {
        espyI8_Store(masks[i], words[i]);
    }
    espyPiece pieces[4 * 8];
    uint32_t pieceCount = 0;
    for (; lanes; lanes &= lanes - 1u)
    {
        uint32_t lane = espyBits_Lowest(lanes);
        uint32_t tileX = (uint32_t)s->column0[lane] / ESPYI_TILE, tileY = (uint32_t)s->row0[lane] / ESPYI_TILE;
        uint32_t down = (uint32_t)s->row0[lane] % ESPYI_TILE * 8u, tile = tileY * raster->stride + tileX;
        uint32_t below = down ? 1u : 0u;
        float high = s->high[lane];
        for (uint32_t side = 0; side < 2; ++side)
        {
            uint64_t mask = (uint32_t)masks[2 * side][lane] | (uint64_t)(uint32_t)masks[2 * side + 1][lane] << 32;
            uint64_t first = mask << down, second = (mask >> 1) >> (63u - down) & (0ull - below);
            uint32_t at = tile + side, next = at + (raster->stride & (0u - below));
            float least = raster->tileMin[at], leastNext = raster->tileMin[next];
            pieces[pieceCount] = (espyPiece){first, at, (uint16_t)(tileX + side), (uint16_t)tileY, lane};
            pieceCount += (uint32_t)(first != 0) & (uint32_t)(ids ? least <= high : least < high);
            pieces[pieceCount] = (espyPiece){second, next, (uint16_t)(tileX + side), (uint16_t)(tileY + below), lane};
            pieceCount += (uint32_t)(second != 0) & (uint32_t)(ids ? leastNext <= high : leastNext < high);
        }
    }
    for (uint32_t i = 0; i < pieceCount; ++i)
    {
        const espyPiece* piece = &pieces[i];
        espyiPlane plane = espySetup_GetPlane(s, piece->lane, id);
        espyTile_BlendPlane(raster, piece->tileX, piece->tileY, piece->tile, piece->mask, &plane, plane.high, ids);
    }
    return careful;
}

// --- larger triangles

/// The lowest `count` of eight bits, none below 0.
ESPY_HOT uint32_t espyTiles_Below(int32_t count)
{
    count = count > 0 ? count : 0;
    count = count < 8 ? count : 8;
    return (1u << count) - 1u;
}

/// Bits of tiles from..to of the eight from `start` on.
ESPY_HOT uint32_t espyTiles_Range(int32_t start, int32_t from, int32_t to)
{
    return espyTiles_Below(to - start) & ~espyTiles_Below(from - start);
}

/// Which of eight tiles hold something behind d.
ESPY_HOT uint32_t espyTiles_Behind(const float* least, espyF8 d, bool ids)
{
    espyF8 old = espyF8_Load(least);
    return espyI8_Bits(ids ? espyF8_LessEqual(old, d) : espyF8_Less(old, d));
}

/// Tiles of `all` become the plane where it is in front of all that they hold; returns which did.
ESPY_HOT uint32_t espyTiles_Cover(espyRaster* raster, uint32_t start, uint32_t tileY, uint32_t all, espyF8 low,
                                  espyF8 high, const espyiPlane* plane, uint32_t* state, bool ids)
{
    uint32_t first = tileY * raster->stride + start;
    espyF8 most = espyF8_Load(raster->tileMax + first), old = espyF8_Load(raster->tileMin + first);
    all &= espyI8_Bits(ids ? espyF8_Less(most, low) : espyF8_LessEqual(most, low));
    if (!all)
    {
        return 0;
    }
    *state = *state ? *state : espyPlane_Keep(raster, tileY, plane);
    if (!*state)
    {
        return 0;
    }
    espyI8 take = espyI8_FromBits(all);
    int32_t* states = (int32_t*)(void*)(raster->tileState + first);
    espyI8_Store(states, espyI8_Select(take, espyI8_Set((int32_t)*state), espyI8_Load(states)));
    espyF8_Store(raster->tileMax + first, espyF8_Select(take, high, most));
    espyF8_Store(raster->tileMin + first, espyF8_Select(take, espyF8_Max(low, old), old));
    const espyF8 zero = espyF8_Set(0.0f);
    uint32_t filled = espyI8_Bits(espyI8_And(espyF8_LessEqual(old, zero), espyF8_Less(zero, low))) & all;
    float least = espyF8_Lowest(espyF8_Select(take, old, espyF8_Set(2.0f)));
    espyCell_Raised(raster, start, tileY, least, espyiPopCount32(filled));
    return all;
}

/// Draws a triangle in one row of tiles, into the tiles that hold something behind its nearest corner.
ESPY_HOT void espySampled_DrawRow(espyRaster* raster, const espySetup* s, uint32_t lane, uint32_t tileRow,
                                  const espyClamp* own, const espyiPlane* plane, bool ids)
{
    const float across = raster->step * (float)(ESPYI_TILE - 1u);
    espySpans spans = espySetup_GetSpans(raster, s, lane, tileRow, own);
    int32_t firstTile = spans.first / 8, endTile = (spans.last + 7) / 8;
    // Tiles that all eight rows cover.
    int32_t firstFull = (espyS8_Highest(spans.from) + 7) / 8, endFull = espyS8_Lowest(spans.to) / 8;
    float top = espyiRaster_Row(raster, tileRow * ESPYI_TILE) - plane->y;
    espyPlaneRows rows = espyPlaneRows_Make(raster, plane, top);
    espyF8 lowY = espyF8_Set(plane->gy * (plane->gy > 0.0f ? top : top + across));
    espyF8 highY = espyF8_Set(plane->gy * (plane->gy > 0.0f ? top + across : top));
    espyF8 d = espyF8_Set(plane->d), gx = espyF8_Set(plane->gx);
    espyF8 tiles = espyF8_Mul(espyF8_Load(espyLane_Numbers), espyF8_Set(raster->step * (float)ESPYI_TILE));
    uint32_t state = 0;
    for (int32_t start = firstTile & ~7; start < endTile; start += 8)
    {
        uint32_t first = tileRow * raster->stride + (uint32_t)start;
        espyF8 x = espyF8_Add(espyF8_Set(espyiRaster_Column(raster, (uint32_t)start * ESPYI_TILE) - plane->x), tiles);
        // d of the first and the last columns.
        espyF8 left = espyF8_Add(d, espyF8_Mul(gx, x));
        espyF8 right = espyF8_Add(d, espyF8_Mul(gx, espyF8_Add(x, espyF8_Set(across))));
        espyF8 low = espyPlaneRows_Clamp(&rows, espyF8_Add(espyF8_Min(left, right), lowY));
        espyF8 high = espyPlaneRows_Clamp(&rows, espyF8_Add(espyF8_Max(left, right), highY));
        uint32_t shows = espyTiles_Behind(raster->tileMin + first, high, ids);
        shows &= espyTiles_Range(start, firstTile, endTile);
        uint32_t full = shows & espyTiles_Range(start, firstFull, endFull);
        if (full)
        {
            shows &= ~espyTiles_Cover(raster, (uint32_t)start, tileRow, full, low, high, plane, &state, ids);
        }
        float highs[8], xs[8];
        espyF8_Store(highs, high);
        espyF8_Store(xs, x);
        for (; shows; shows &= shows - 1u)
        {
            uint32_t i = espyBits_Lowest(shows);
            uint64_t mask = espyS8_Cover(spans.from, spans.to, (start + (int32_t)i) * (int32_t)ESPYI_TILE);
            if (mask)
            {
                espyTile_Blend(raster, (uint32_t)start + i, tileRow, first + i, mask, &rows, xs[i], highs[i], ids);
            }
        }
    }
}

static void espySampled_DrawLane(espyRaster* raster, const espySetup* s, uint32_t lane, const espyClamp* clamp,
                                 uint32_t id, bool ids)
{
    espyClamp own;
    espySetup_Clamp(s, lane, clamp, &own);
    espyiPlane plane = espySetup_GetPlane(s, lane, id);
    const espyF8 most = espyF8_Set(plane.high);
    int32_t from = own.column0 / 8, to = (own.column1 + 7) / 8, start = from & ~7;
    uint32_t range = espyTiles_Range(start, from, to), row = (uint32_t)own.row0 / ESPYI_TILE;
    for (; row * ESPYI_TILE < (uint32_t)own.row1; ++row)
    {
        // No spans where all of it is behind what is there.
        const float* least = raster->tileMin + (size_t)row * raster->stride;
        uint32_t open = espyTiles_Behind(least + start, most, ids) & range;
        for (int32_t next = start + 8; next < to && !open; next += 8)
        {
            open = espyTiles_Behind(least + next, most, ids) & espyTiles_Below(to - next);
        }
        if (open)
        {
            espySampled_DrawRow(raster, s, lane, row, &own, &plane, ids);
        }
    }
}

// --- batches

/// Does any tile within the bounds of a triangle hold something behind its nearest corner?
ESPY_HOT bool espyTiles_Open(const espyRaster* raster, const espyClamp* bounds, float high, bool ids)
{
    const espyF8 most = espyF8_Set(high);
    int32_t from = bounds->column0 / 8, to = (bounds->column1 + 7) / 8, start = from & ~7;
    const float* least = raster->tileMin + (size_t)((uint32_t)bounds->row0 / ESPYI_TILE) * raster->stride + start;
    uint32_t range = espyTiles_Range(start, from, to), open = 0;
    if (to > start + 8)
    {
        return true; // Wide ones are few.
    }
    for (int32_t row = bounds->row0 & ~7; row < bounds->row1; row += 8, least += raster->stride)
    {
        open |= espyTiles_Behind(least, most, ids);
    }
    return (open & range) != 0;
}

/// Lists the triangles of a batch that face the eye, have a centre in their bounds and are not behind what is there;
/// and those with a vertex that cannot be used.
ESPY_HOT void espySampled_Cull(const espyRaster* raster, const espyiBatchView* batch, const espyScreenVertex* screen,
                               const espyClamp* clamp, bool ids, uint8_t drawn[ESPYI_BATCH_TRIANGLES + 8u],
                               uint32_t* drawnCount, uint8_t clipped[ESPYI_BATCH_TRIANGLES + 8u],
                               uint32_t* clippedCount)
{
    uint32_t drawnEnd = 0, clippedEnd = 0;
    for (uint32_t first = 0; first < batch->triangleCount; first += 8)
    {
        const espyScreenVertex* vertices[3][8];
        espyFacing facing;
        uint32_t lanes = espyBatch_Gather(batch, screen, first, vertices);
        espyFacing_Find(raster, vertices, lanes, batch->flip, false, clamp, &facing);
        for (uint32_t rest = facing.clipped; rest; rest &= rest - 1u)
        {
            clipped[clippedEnd++] = (uint8_t)(first + espyBits_Lowest(rest));
        }
        if (!facing.drawn)
        {
            continue;
        }
        int32_t row0[8], row1[8], column0[8], column1[8];
        float high[8];
        espyI8_Store(row0, espyI8_Max(facing.row0, espyI8_Set(clamp->row0)));
        espyI8_Store(row1, espyI8_Min(facing.row1, espyI8_Set(clamp->row1)));
        espyI8_Store(column0, espyI8_Max(facing.column0, espyI8_Set(clamp->column0)));
        espyI8_Store(column1, espyI8_Min(facing.column1, espyI8_Set(clamp->column1)));
        espyF8_Store(high, espyF8_Max(espyF8_Max(facing.d[0], facing.d[1]), facing.d[2]));
        for (uint32_t rest = facing.drawn; rest; rest &= rest - 1u)
        {
            uint32_t i = espyBits_Lowest(rest);
            espyClamp bounds = {row0[i], row1[i], column0[i], column1[i]};
            drawn[drawnEnd] = (uint8_t)(first + i);
            drawnEnd += espyTiles_Open(raster, &bounds, high[i], ids) ? 1u : 0u;
        }
    }
    *drawnCount = drawnEnd;
    *clippedCount = clippedEnd;
}

ESPY_HOT void espySampled_DrawBatch(espyRaster* raster, espyiBand* band, const espyiClip* clip,
                                    const espyiBatchView* batch, const espyClamp* clamp, bool ids)
{
    espyScreenVertex screen[ESPYI_BATCH_VERTICES];
    const espyScreenVertex* vertices[3][8];
    espySetup setup;
    uint8_t drawn[ESPYI_BATCH_TRIANGLES + 8u], clipped[ESPYI_BATCH_TRIANGLES + 8u];
    uint32_t drawnCount, clippedCount;
    espyVertices_Transform(raster, clip, batch->positions, batch->vertexCount, screen);
    espySampled_Cull(raster, batch, screen, clamp, ids, drawn, &drawnCount, clipped, &clippedCount);
    band->stats.trianglesDrawn += drawnCount;
    for (uint32_t first = 0; first < drawnCount; first += 8)
    {
        uint32_t lanes = espyBatch_GatherListed(batch, screen, drawn + first, drawnCount - first, vertices);
        espySetup_Fill(raster, vertices, lanes, batch->flip, false, espySetupKind_Sampled, clamp, &setup);
        uint32_t small = espySmall_Select(&setup, clamp), rest = setup.drawn & ~small;
        rest |= small ? espySmall_Draw(raster, &setup, small, batch->id, ids) : 0;
        for (; rest; rest &= rest - 1u)
        {
            espySampled_DrawLane(raster, &setup, espyBits_Lowest(rest), clamp, batch->id, ids);
        }
    }
    for (uint32_t i = 0; i < clippedCount; ++i)
    {
        espyScreenVertex corners[ESPY_MOST_CORNERS];
        uint32_t edges[ESPY_MOST_CORNERS], count;
        if (!espyBatch_Clip(raster, clip, batch, screen, clipped[i], corners, edges, &count))
        {
            continue;
        }
        uint32_t fan = espyFan_Gather(corners, count, vertices);
        espySetup_Fill(raster, vertices, fan, batch->flip, false, espySetupKind_Sampled, clamp, &setup);
        band->stats.trianglesDrawn += setup.drawn ? 1u : 0u;
        for (uint32_t lane = setup.drawn; lane; lane &= lane - 1u)
        {
            espySampled_DrawLane(raster, &setup, espyBits_Lowest(lane), clamp, batch->id, ids);
        }
    }
}
