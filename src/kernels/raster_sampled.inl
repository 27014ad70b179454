// SPDX-License-Identifier: MIT
// Drawing in Sampled mode. Included by raster.inl.
//
// A batch is culled first, eight faces at a time: what faces away, has no pixel centre in its bounds or is behind what
// is there is gone before anything is computed for it. What is left is set up, eight at a time. Small faces (at most 8
// rows, in two columns of tiles) get their masks in lanes, a row of all eight at once, and then blend into at most four
// tiles. Larger ones are walked by rows of tiles: eight rows of spans at once, and eight tiles at once between the
// edges.

// --- small faces

#define ESPY_SMALL_ROWS 8
#define ESPY_SMALL_COLUMNS 16 ///< From the first column of the tile that the face starts in.

/// Part of a small face in one tile.
typedef struct espyPiece
{
    uint64_t mask;
    uint32_t tile;
    uint16_t tileX, tileY;
    uint32_t lane;
} espyPiece;

/// Which of the lanes can be drawn as small faces: within ESPY_SMALL_ROWS and ESPY_SMALL_COLUMNS, and the four
/// tiles from the first are within the clamp.
ESPY_HOT uint32_t espySmall_Select(const espyFaces* s, const espyClamp* clamp)
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

/// Rows 2i and 2i + 1 of eight small faces, 16 columns each. The arithmetic is that of espyFaces_GetSpans.
typedef struct espySmallRows
{
    espyI8 pairs[ESPY_SMALL_ROWS / 2];
    espyI8 behind; ///< Greatest distance, over all borders and rows, of a position from the column before it.
} espySmallRows;

ESPY_HOT espySmallRows espySmall_GetRows(const espyRaster* raster, const espyFaces* s, bool tall)
{
    const uint32_t digits = raster->subPixelBits;
    const espyF8 zero = espyF8_Set(0.0f), step = espyF8_Set(raster->step);
    const espyI8 below = espyI8_Set((1 << digits) - 1);
    espyI8 row0 = espyI8_Load(s->row0);
    espyF8 y = espyF8_Add(espyF8_Set(raster->row0), espyF8_Mul(espyI8_ToFloat(row0), step));
    // Columns are relative to the first tile.
    espyI8 origin = espyI8_ShiftLeft(espyI8_And(espyI8_Load(s->column0), espyI8_Set(~7)), digits);
    espySmallRows rows = {.behind = espyI8_Set(0)};
    uint32_t rowCount = tall ? ESPY_SMALL_ROWS : ESPY_SMALL_ROWS / 2;
    for (uint32_t i = 0; i < ESPY_SMALL_ROWS / 2; ++i)
    {
        rows.pairs[i] = espyI8_Set(0);
    }
    for (uint32_t row = 0; row < rowCount; ++row)
    {
        espyI8 from = espyI8_Set(0), to = from;
        ESPY_UNROLL
        for (int k = 0; k < 4; ++k)
        {
            espyF8 yTop = espyF8_Load(s->yTop[k]);
            espyI8 valid = espyI8_And(espyF8_LessEqual(yTop, y), espyF8_Less(y, espyF8_Load(s->yEnd[k])));
            espyF8 along = espyF8_Mul(espyF8_Sub(y, yTop), espyF8_Load(s->slope[k]));
            espyI8 position = espyI8_Sub(espyI8_Load(s->start[k]), espyF8_ToInt(espyF8_Floor(espyF8_Sub(zero, along))));
            espyI8 left = espyI8_And(valid, espyI8_Load(s->isLeft[k]));
            from = espyI8_Or(from, espyI8_And(position, left));
            to = espyI8_Or(to, espyI8_And(position, espyI8_AndNot(valid, left)));
        }
        rows.behind = espyI8_Max(rows.behind, espyI8_Max(espyI8_And(from, below), espyI8_And(to, below)));
        // Of rows that have none, both are 0.
        espyI8 inside = espyI8_Greater(espyI8_Load(s->row1), espyI8_Add(row0, espyI8_Set((int32_t)row)));
        from = espyI8_ShiftRight(espyI8_Sub(from, origin), digits);
        to = espyI8_ShiftRight(espyI8_Sub(to, origin), digits);
        espyI8 span = espyI8_And(espyI8_Sub(espyI8_Bit(to), espyI8_Bit(from)), inside);
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
ESPY_HOT uint32_t espySmall_Draw(espyRaster* raster, const espyFaces* s, uint32_t lanes, uint32_t id, bool ids)
{
    espyI8 count = espyI8_Sub(espyI8_Load(s->row1), espyI8_Load(s->row0));
    int32_t mostBehind = (1 << raster->subPixelBits) - 1 - ESPY_FACES_DOUBT;
    bool tall = (espyI8_Bits(espyI8_Greater(count, espyI8_Set(ESPY_SMALL_ROWS / 2))) & lanes) != 0;
    espySmallRows rows = tall ? espySmall_GetRows(raster, s, true) : espySmall_GetRows(raster, s, false);
    uint32_t careful = espyI8_Bits(espyI8_Greater(rows.behind, espyI8_Set(mostBehind))) & lanes;
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
        espyiPlane plane = espyFaces_GetPlane(s, piece->lane, id);
        espyTile_BlendPlane(raster, piece->tileX, piece->tileY, piece->tile, piece->mask, &plane, plane.high, ids);
    }
    return careful;
}

// --- larger faces

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

/// What a face keeps from one row of tiles to the next.
typedef struct espyFaceWalk
{
    espyClamp own;
    espyiPlane plane;
    int32_t from, to;   ///< Tiles of its bounds.
    espyF8 left, right; ///< d of the first and last column of the first eight tiles, rows not yet added.
} espyFaceWalk;

/// d of the first columns of eight tiles and of their last ones, without what the rows add.
ESPY_HOT void espyWalk_Across(const espyRaster* raster, const espyiPlane* plane, int32_t start, espyF8* left,
                              espyF8* right)
{
    const float across = raster->step * (float)(ESPYI_TILE - 1u);
    espyF8 tiles = espyF8_Mul(espyF8_Load(espyLane_Numbers), espyF8_Set(raster->step * (float)ESPYI_TILE));
    espyF8 x = espyF8_Add(espyF8_Set(espyiRaster_Column(raster, (uint32_t)start * ESPYI_TILE) - plane->x), tiles);
    espyF8 d = espyF8_Set(plane->d), gx = espyF8_Set(plane->gx);
    *left = espyF8_Add(d, espyF8_Mul(gx, x));
    *right = espyF8_Add(d, espyF8_Mul(gx, espyF8_Add(x, espyF8_Set(across))));
}

/// Draws a face in one row of tiles, into the tiles that hold something behind it. `narrow`: it is within eight.
ESPY_HOT void espySampled_DrawRow(espyRaster* raster, const espyFaces* s, uint32_t lane, uint32_t tileRow,
                                  const espyFaceWalk* walk, bool narrow, bool ids)
{
    const espyiPlane* plane = &walk->plane;
    const float across = raster->step * (float)(ESPYI_TILE - 1u);
    espySpans spans = espyFaces_GetSpans(raster, s, lane, tileRow, &walk->own);
    int32_t firstTile = spans.first / 8, endTile = (spans.last + 7) / 8;
    // Tiles that all eight rows cover.
    int32_t firstFull = (espyS8_Highest(spans.from) + 7) / 8, endFull = espyS8_Lowest(spans.to) / 8;
    float top = espyiRaster_Row(raster, tileRow * ESPYI_TILE) - plane->y;
    espyPlaneRows rows = espyPlaneRows_Make(raster, plane, top);
    espyF8 lowY = espyF8_Set(plane->gy * (plane->gy > 0.0f ? top : top + across));
    espyF8 highY = espyF8_Set(plane->gy * (plane->gy > 0.0f ? top + across : top));
    espyF8 left = walk->left, right = walk->right;
    uint32_t state = 0;
    int32_t start = narrow ? walk->from & ~7 : firstTile & ~7;
    for (; narrow || start < endTile; start += 8)
    {
        uint32_t first = tileRow * raster->stride + (uint32_t)start;
        if (!narrow)
        {
            espyWalk_Across(raster, plane, start, &left, &right);
        }
        espyF8 low = espyPlaneRows_Clamp(&rows, espyF8_Add(espyF8_Min(left, right), lowY));
        espyF8 high = espyPlaneRows_Clamp(&rows, espyF8_Add(espyF8_Max(left, right), highY));
        uint32_t shows = espyTiles_Behind(raster->tileMin + first, high, ids);
        shows &= espyTiles_Range(start, firstTile, endTile);
        if (firstFull < endFull)
        {
            uint32_t full = shows & espyTiles_Range(start, firstFull, endFull);
            shows &= ~espyTiles_Cover(raster, (uint32_t)start, tileRow, full, low, high, plane, &state, ids);
        }
        float highs[8];
        espyF8_Store(highs, high);
        float x = espyiRaster_Column(raster, (uint32_t)start * ESPYI_TILE) - plane->x;
        for (; shows; shows &= shows - 1u)
        {
            uint32_t i = espyBits_Lowest(shows);
            uint64_t mask = espyS8_Cover(spans.from, spans.to, (start + (int32_t)i) * (int32_t)ESPYI_TILE);
            if (mask)
            {
                espyTile_Blend(raster, (uint32_t)start + i, tileRow, first + i, mask, &rows,
                               x + (float)(int32_t)i * (raster->step * (float)ESPYI_TILE), highs[i], ids);
            }
        }
        if (narrow)
        {
            return;
        }
    }
}

/// Draws one face row by row of tiles.
ESPY_HOT void espySampled_Walk(espyRaster* raster, const espyFaces* s, uint32_t lane, const espyFaceWalk* walk,
                               bool narrow, bool ids)
{
    const espyF8 most = espyF8_Set(walk->plane.high);
    int32_t start = walk->from & ~7;
    uint32_t range = espyTiles_Range(start, walk->from, walk->to), end = (uint32_t)walk->own.row1;
    for (uint32_t row = (uint32_t)walk->own.row0 / ESPYI_TILE; row * ESPYI_TILE < end; ++row)
    {
        // No spans where all of it is behind what is there.
        const float* least = raster->tileMin + (size_t)row * raster->stride;
        uint32_t open = espyTiles_Behind(least + start, most, ids) & range;
        for (int32_t next = start + 8; !narrow && next < walk->to && !open; next += 8)
        {
            open = espyTiles_Behind(least + next, most, ids) & espyTiles_Below(walk->to - next);
        }
        if (open)
        {
            espySampled_DrawRow(raster, s, lane, row, walk, narrow, ids);
        }
    }
}

static void espySampled_DrawLane(espyRaster* raster, const espyFaces* s, uint32_t lane, const espyClamp* clamp,
                                 uint32_t id, bool ids)
{
    espyFaceWalk walk = {.plane = espyFaces_GetPlane(s, lane, id)};
    espyFaces_Clamp(s, lane, clamp, &walk.own);
    walk.from = walk.own.column0 / 8;
    walk.to = (walk.own.column1 + 7) / 8;
    espyWalk_Across(raster, &walk.plane, walk.from & ~7, &walk.left, &walk.right);
    if (walk.to - (walk.from & ~7) <= 8)
    {
        espySampled_Walk(raster, s, lane, &walk, true, ids);
    }
    else
    {
        espySampled_Walk(raster, s, lane, &walk, false, ids);
    }
}

// --- batches

/// Draws eight faces that are set up.
ESPY_HOT void espySampled_DrawFaces(espyRaster* raster, const espyFaces* faces, const espyClamp* clamp, uint32_t id,
                                    bool ids)
{
    uint32_t small = espySmall_Select(faces, clamp), rest = faces->drawn & ~small;
    rest |= small ? espySmall_Draw(raster, faces, small, id, ids) : 0;
    for (; rest; rest &= rest - 1u)
    {
        espySampled_DrawLane(raster, faces, espyBits_Lowest(rest), clamp, id, ids);
    }
}

ESPY_HOT void espySampled_DrawBatch(espyRaster* raster, espyiBand* band, const espyiClip* clip,
                                    const espyiBatchView* batch, const espyClamp* clamp, bool ids)
{
    espyScreenVertex screen[ESPYI_BATCH_VERTICES];
    const espyScreenVertex* vertices[4][8];
    espyFaces faces;
    espyFaceList list;
    espyVertices_Transform(raster, clip, batch->positions, batch->vertexCount, screen);
    espyFaceList_Fill(&list, raster, batch, screen, batch->flip, clamp, ids);
    for (uint32_t first = 0; first < list.faceCount; first += 8)
    {
        uint32_t lanes = espyFaces_Gather(list.faces + first, list.faceCount - first, screen, vertices);
        espyFaces_Fill(raster, vertices, lanes, batch->flip, clamp, &faces);
        espySampled_DrawFaces(raster, &faces, clamp, batch->id, ids);
    }
    band->stats.trianglesDrawn += list.drawnCount;
    for (uint32_t i = 0; i < list.clippedCount; ++i)
    {
        espyScreenVertex corners[ESPY_MOST_CORNERS];
        uint32_t edges[ESPY_MOST_CORNERS], count;
        if (!espyBatch_Clip(raster, clip, batch, screen, list.clipped[i], corners, edges, &count))
        {
            continue;
        }
        uint32_t lanes = espyFaces_GatherFan(corners, count, vertices);
        espyFaces_Fill(raster, vertices, lanes, batch->flip, clamp, &faces);
        band->stats.trianglesDrawn += faces.drawn ? 1u : 0u;
        for (uint32_t lane = faces.drawn; lane; lane &= lane - 1u)
        {
            espySampled_DrawLane(raster, &faces, espyBits_Lowest(lane), clamp, batch->id, ids);
        }
    }
}
