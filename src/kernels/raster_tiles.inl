// SPDX-License-Identifier: MIT
// Tiles, and drawing into them. Included by raster.inl.

// --- tiles

/// Raises tileMin of a tile, and its cell's.
ESPY_HOT void espyTile_SetMin(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile, float min)
{
    float old = raster->tileMin[tile];
    if (!(min > old))
    {
        return;
    }
    raster->tileMin[tile] = min;
    espyiCoarse* cell = &raster->coarse[tileY / ESPYI_COARSE * raster->coarseX + tileX / ESPYI_COARSE];
    if (old <= 0.0f)
    {
        --cell->empty;
    }
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

/// A plane over the columns of a tile: what is left to add is gy times the distance of the row.
typedef struct espyTilePlane
{
    espyF8 acrossX, low, high;
    float firstY, gy;
} espyTilePlane;

ESPY_HOT espyTilePlane espyTilePlane_Make(const espyRaster* raster, const espyiPlane* plane, uint32_t tileX,
                                          uint32_t tileY)
{
    static const float columns[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    espyF8 x = espyF8_Add(espyF8_Set(espyiRaster_Column(raster, tileX * ESPYI_TILE)),
                          espyF8_Mul(espyF8_Load(columns), espyF8_Set(raster->step)));
    x = espyF8_Sub(x, espyF8_Set(plane->x));
    return (espyTilePlane){espyF8_Add(espyF8_Set(plane->d), espyF8_Mul(espyF8_Set(plane->gx), x)),
                           espyF8_Set(plane->low), espyF8_Set(plane->high),
                           espyiRaster_Row(raster, tileY * ESPYI_TILE) - plane->y, plane->gy};
}

/// The same as espyiPlane_At for eight columns of a row; row coordinates are exact, so their order is free. `y` is that
/// of the row less plane->y.
ESPY_HOT espyF8 espyTilePlane_At(const espyTilePlane* plane, float y)
{
    espyF8 d = espyF8_Add(plane->acrossX, espyF8_Set(plane->gy * y));
    return espyF8_Min(espyF8_Max(d, plane->low), plane->high);
}

ESPY_HOT espyF8 espyTilePlane_Row(const espyRaster* raster, const espyTilePlane* plane, uint32_t row)
{
    return espyTilePlane_At(plane, plane->firstY + (float)(int32_t)row * raster->step);
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

/// Stores a tile pixel by pixel.
static void espyTile_Expand(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile, bool ids)
{
    espyiTileHead* head = &raster->heads[tile];
    float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    uint32_t id = ESPY_RASTER_NO_ID;
    if (head->state == espyiTileState_Clear)
    {
        for (uint32_t row = 0; row < ESPYI_TILE; ++row)
        {
            espyF8_Store(pixels + row * ESPYI_TILE, espyF8_Set(0.0f));
        }
    }
    else
    {
        espyiPlane plane;
        memcpy(&plane, pixels, sizeof plane);
        id = plane.id;
        espyTilePlane over = espyTilePlane_Make(raster, &plane, tileX, tileY);
        for (uint32_t row = 0; row < ESPYI_TILE; ++row)
        {
            espyF8_Store(pixels + row * ESPYI_TILE, espyTilePlane_Row(raster, &over, row));
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
    head->state = espyiTileState_Pixels;
}

/// After pixels changed.
ESPY_HOT void espyTile_Refresh(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint32_t tile)
{
    if (raster->heads[tile].cover != ~0ull)
    {
        return;
    }
    const float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    espyF8 least = espyF8_Load(pixels);
    for (uint32_t row = 1; row < ESPYI_TILE; ++row)
    {
        least = espyF8_Min(least, espyF8_Load(pixels + row * ESPYI_TILE));
    }
    espyTile_SetMin(raster, tileX, tileY, tile, espyF8_Lowest(least));
}

/// Puts a plane into the pixels of `mask`: nearer wins; of equals the lower id. Of a `large` triangle only the part in
/// the tile is compared with what is there.
ESPY_HOT void espyTile_Draw(espyRaster* raster, uint32_t tileX, uint32_t tileY, uint64_t mask, const espyiPlane* plane,
                            bool large, bool ids)
{
    uint32_t tile = tileY * raster->stride + tileX;
    espyiTileHead* head = &raster->heads[tile];
    float low = plane->low, high = plane->high, least = raster->tileMin[tile];
    if (large || mask == ~0ull)
    {
        espyPlane_Range(raster, plane, tileX, tileY, &low, &high);
    }
    if (ids ? high < least : high <= least)
    {
        return;
    }
    float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    if (mask == ~0ull && (ids ? low > head->dMax : low >= head->dMax))
    {
        memcpy(pixels, plane, sizeof *plane);
        head->state = espyiTileState_Plane;
        head->cover = mask;
        head->dMax = high;
        espyTile_SetMin(raster, tileX, tileY, tile, low);
        return;
    }
    if (head->state != espyiTileState_Pixels)
    {
        espyTile_Expand(raster, tileX, tileY, tile, ids);
    }
    head->cover |= mask;
    head->dMax = head->dMax > high ? head->dMax : high;
    espyTilePlane over = espyTilePlane_Make(raster, plane, tileX, tileY);
    int32_t* idPixels = ids ? (int32_t*)(void*)(raster->idPixels + (size_t)tile * ESPYI_TILE_PIXELS) : NULL;
    espyI8 id = espyI8_Set((int32_t)plane->id);
    uint32_t first = espyBits_LowestByte(mask);
    float y = over.firstY + (float)(int32_t)first * raster->step;
    pixels += first * ESPYI_TILE;
    for (mask >>= 8u * first; mask != 0; mask >>= 8, y += raster->step, pixels += ESPYI_TILE)
    {
        espyI8 covered = espyI8_FromBits((uint32_t)mask & 0xFFu);
        espyF8 d = espyTilePlane_At(&over, y);
        espyF8 old = espyF8_Load(pixels);
        if (ids)
        {
            int32_t* rowIds = idPixels + (pixels - raster->pixels) - (ptrdiff_t)tile * (ptrdiff_t)ESPYI_TILE_PIXELS;
            espyI8 oldId = espyI8_Load(rowIds);
            espyI8 tie = espyI8_And(espyF8_Equal(d, old), espyI8_LessU(id, oldId));
            espyI8 take = espyI8_And(covered, espyI8_Or(espyF8_Less(old, d), tie));
            espyF8_Store(pixels, espyF8_Select(take, d, old));
            espyI8_Store(rowIds, espyI8_Select(take, id, oldId));
        }
        else
        {
            espyF8_Store(pixels, espyF8_Select(covered, espyF8_Max(d, old), old));
        }
    }
    espyTile_Refresh(raster, tileX, tileY, tile);
}

// --- Sampled mode

ESPY_HOT void espySetup_Clamp(const espySetup* s, uint32_t lane, const espyClamp* clamp, espyClamp* out)
{
    out->row0 = s->row0[lane] > clamp->row0 ? s->row0[lane] : clamp->row0;
    out->row1 = s->row1[lane] < clamp->row1 ? s->row1[lane] : clamp->row1;
    out->column0 = s->column0[lane] > clamp->column0 ? s->column0[lane] : clamp->column0;
    out->column1 = s->column1[lane] < clamp->column1 ? s->column1[lane] : clamp->column1;
}

ESPY_HOT void espySampled_DrawLane(espyRaster* raster, const espySetup* s, uint32_t lane, const espyClamp* clamp,
                                   uint32_t id, bool ids)
{
    espyClamp own;
    espySetup_Clamp(s, lane, clamp, &own);
    espyiPlane plane = espySetup_GetPlane(s, lane, id);
    bool large = own.column1 - own.column0 > 16 || own.row1 - own.row0 > 16;
    for (uint32_t tileRow = (uint32_t)own.row0 / ESPYI_TILE; tileRow * ESPYI_TILE < (uint32_t)own.row1; ++tileRow)
    {
        // Most triangles are small, and many of them are behind what is there: no spans for those.
        const float* least = raster->tileMin + (size_t)tileRow * raster->stride;
        int32_t start = own.column0 & ~7;
        while (start < own.column1 && plane.high < least[start / 8])
        {
            start += 8;
        }
        if (start >= own.column1)
        {
            continue;
        }
        espySpans spans = espySetup_GetSpans(raster, s, lane, tileRow, &own);
        start = (spans.first & ~7) > start ? spans.first & ~7 : start;
        for (int32_t column = start; column < spans.last; column += 8)
        {
            if (plane.high < least[column / 8])
            {
                continue;
            }
            uint64_t mask = espyS8_Cover(spans.from, spans.to, column);
            if (mask)
            {
                espyTile_Draw(raster, (uint32_t)column / 8u, tileRow, mask, &plane, large, ids);
            }
        }
    }
}

// --- Conservative mode
//
// Why a claim holds. Let F be what the front faces of a batch (its own and its neighbours') cover on the screen. A
// pixel with a point in F, its centre, that no border of F crosses is in F as a whole. The border of F is made of edges
// between a front face and none, or one that does not face the eye: those are marked. A batch knows only some of the
// neighbours of its own faces; the edges where its knowledge ends are marked as well. So each pixel whose centre one of
// the batch's own faces covers, and that no marked edge touches, is covered at every point; and its depth is nowhere
// farther than the farthest of all faces that reach into the tile.

/// Widest part of the screen that one triangle may have planes kept for; more than that only lower the claims.
#define ESPY_MOST_PLANES 288u

typedef struct espyClaimList
{
    espyiPlane planes[ESPY_MOST_PLANES];
    uint32_t planeCount;
    uint32_t* touched;
    uint32_t touchedCount;
    uint32_t stamp;
} espyClaimList;

static void espyClaims_AddLane(espyRaster* raster, espyClaimList* list, const espySetup* s, uint32_t lane,
                               const espyClamp* clamp, bool own)
{
    // A triangle touches at most one column and row more than those whose centres are within its bounds.
    espyClamp centres, touched = *clamp;
    espySetup_Clamp(s, lane, clamp, &centres);
    touched.row0 = s->row0[lane] - 1 > clamp->row0 ? s->row0[lane] - 1 : clamp->row0;
    touched.row1 = s->row1[lane] + 1 < clamp->row1 ? s->row1[lane] + 1 : clamp->row1;
    touched.column0 = s->column0[lane] - 1 > clamp->column0 ? s->column0[lane] - 1 : clamp->column0;
    touched.column1 = s->column1[lane] + 1 < clamp->column1 ? s->column1[lane] + 1 : clamp->column1;
    if (touched.row0 >= touched.row1 || touched.column0 >= touched.column1)
    {
        return;
    }
    espyiPlane plane = espySetup_GetPlane(s, lane, 0);
    uint32_t planeIndex = ESPYI_MANY;
    if (own && list->planeCount < ESPY_MOST_PLANES)
    {
        planeIndex = list->planeCount++;
        list->planes[planeIndex] = plane;
    }
    bool covers = own && (s->drawn >> lane & 1u);
    // Of a small triangle all tiles within its bounds count, and its farthest corner.
    // By its own bounds: those clamped to a band would make results depend on the bands.
    bool wide = s->column1[lane] - s->column0[lane] > 14, large = wide || s->row1[lane] - s->row0[lane] > 14;
    for (uint32_t tileRow = (uint32_t)touched.row0 / ESPYI_TILE; tileRow * ESPYI_TILE < (uint32_t)touched.row1;
         ++tileRow)
    {
        int32_t first = touched.column0, last = touched.column1, rowStart = (int32_t)(tileRow * ESPYI_TILE);
        if (wide)
        {
            espySpans outer = espySetup_GetTouched(raster, s, lane, tileRow, &touched);
            first = outer.first;
            last = outer.last;
        }
        bool hasCentres = covers && rowStart < centres.row1 && rowStart + 8 > centres.row0, hasSpans = false;
        espySpans spans = {.first = 32767, .last = 0};
        for (int32_t column = first & ~7; column < last; column += 8)
        {
            uint32_t tileX = (uint32_t)column / 8u, tile = tileRow * raster->stride + tileX;
            espyiClaim* claim = &raster->claims[tile];
            bool known = claim->stamp == list->stamp;
            if (!own && !(known && claim->cover != 0))
            {
                continue; // Nothing is claimed there.
            }
            // Behind what is there: whatever the batch claims in this tile, the least of it is, too.
            float low = plane.low;
            uint64_t mask = 0;
            if (plane.high > raster->tileMin[tile])
            {
                low = large ? espyPlane_Low(raster, &plane, tileX, tileRow) : low;
                if (hasCentres && !hasSpans)
                {
                    spans = espySetup_GetSpans(raster, s, lane, tileRow, &centres);
                    hasSpans = true;
                }
                mask = hasSpans ? espyS8_Cover(spans.from, spans.to, column) : 0;
            }
            if (known)
            {
                claim->cover |= mask;
                claim->min = claim->min < low ? claim->min : low;
                claim->plane = ESPYI_MANY;
            }
            else
            {
                *claim = (espyiClaim){mask, 0, low, list->stamp, planeIndex};
                list->touched[list->touchedCount++] = tile;
            }
        }
    }
}

/// Marks every pixel that a segment touches, in tiles that the batch claims.
static void espyClaims_MarkEdge(espyRaster* raster, const espyClaimList* list, const espyScreenVertex* a,
                                const espyScreenVertex* b, const espyClamp* clamp)
{
    const espyScreenVertex *top = a->y <= b->y ? a : b, *low = a->y <= b->y ? b : a;
    const uint32_t digits = raster->subPixelBits;
    int32_t edge = (int32_t)(raster->row0 - 0.5f * raster->step);
    int32_t row0 = ((int32_t)top->y - edge - ESPY_TOUCH_DOUBT) >> digits;
    int32_t row1 = (((int32_t)low->y - edge + ESPY_TOUCH_DOUBT) >> digits) + 1;
    row0 = row0 > clamp->row0 ? row0 : clamp->row0;
    row1 = row1 < clamp->row1 ? row1 : clamp->row1;
    // Columns in which anything can be marked.
    float xMin = a->x < b->x ? a->x : b->x, xMax = a->x < b->x ? b->x : a->x;
    int32_t left = (int32_t)(raster->column0 - 0.5f * raster->step);
    int32_t column0 = ((int32_t)xMin - left - ESPY_TOUCH_DOUBT) >> digits;
    int32_t column1 = (((int32_t)xMax - left + ESPY_TOUCH_DOUBT) >> digits) + 1;
    column0 = column0 > clamp->column0 ? column0 : clamp->column0;
    column1 = column1 < clamp->column1 ? column1 : clamp->column1;
    float dy = low->y - top->y, slope = dy >= 1.0f ? (low->x - top->x) / dy : 0.0f;
    espyF8 yTop = espyF8_Set(top->y), yLow = espyF8_Set(low->y), xTop = espyF8_Set(top->x);
    for (int32_t row = row0 & ~7; row < row1; row += 8)
    {
        uint32_t tileRow = (uint32_t)row / ESPYI_TILE;
        const espyiClaim* claims = &raster->claims[tileRow * raster->stride];
        int32_t at = column0 & ~7;
        while (at < column1 && (claims[at / 8].stamp != list->stamp || claims[at / 8].cover == 0))
        {
            at += 8;
        }
        if (at >= column1)
        {
            continue;
        }
        espyF8 upper, lower, x0 = xTop, x1 = espyF8_Set(low->x);
        espyI8 valid = espyRows_Touching(raster, tileRow, top->y, low->y, &upper, &lower);
        if (dy >= 1.0f)
        {
            espyF8 above = espyF8_Min(espyF8_Max(upper, yTop), yLow);
            espyF8 below = espyF8_Min(espyF8_Max(lower, yTop), yLow);
            x0 = espyF8_Add(xTop, espyF8_Mul(espyF8_Sub(above, yTop), espyF8_Set(slope)));
            x1 = espyF8_Add(xTop, espyF8_Mul(espyF8_Sub(below, yTop), espyF8_Set(slope)));
        }
        espySpans spans = espySpans_Touching(raster, espyF8_Min(x0, x1), espyF8_Max(x0, x1), valid, clamp);
        for (int32_t column = spans.first & ~7; column < spans.last; column += 8)
        {
            espyiClaim* claim = &raster->claims[tileRow * raster->stride + (uint32_t)column / 8u];
            if (claim->stamp == list->stamp)
            {
                claim->edge |= espyS8_Cover(spans.from, spans.to, column);
            }
        }
    }
}

static void espyClaims_Draw(espyRaster* raster, const espyClaimList* list)
{
    for (uint32_t i = 0; i < list->touchedCount; ++i)
    {
        uint32_t tile = list->touched[i];
        const espyiClaim* claim = &raster->claims[tile];
        uint64_t mask = claim->cover & ~claim->edge;
        if (mask == 0)
        {
            continue;
        }
        espyiPlane flat = {0.0f, 0.0f, claim->min, 0.0f, 0.0f, claim->min, claim->min, 0};
        espyTile_Draw(raster, tile % raster->stride, tile / raster->stride, mask,
                      claim->plane != ESPYI_MANY ? &list->planes[claim->plane] : &flat, claim->plane != ESPYI_MANY,
                      false);
    }
}

// --- batches

/// Vertices of up to eight triangles that clipping made of one, as a fan. Lanes past the last repeat the first.
static uint32_t espyFan_Gather(const espyScreenVertex* corners, uint32_t count, const espyScreenVertex* vertices[3][8])
{
    uint32_t triangles = count - 2;
    for (uint32_t i = 0; i < 8; ++i)
    {
        uint32_t t = i < triangles ? i : 0;
        vertices[0][i] = &corners[0];
        vertices[1][i] = &corners[t + 1];
        vertices[2][i] = &corners[t + 2];
    }
    return (1u << triangles) - 1u;
}

/// Gathers eight triangles of a batch, from `first` on; returns the bits of those that exist.
ESPY_HOT uint32_t espyBatch_Gather(const espyiBatchView* batch, const espyScreenVertex* screen, uint32_t first,
                                   const espyScreenVertex* vertices[3][8])
{
    uint32_t count = batch->triangleCount - first < 8 ? batch->triangleCount - first : 8;
    for (uint32_t i = 0; i < 8; ++i)
    {
        const uint8_t* corners = batch->indices + (size_t)(first + (i < count ? i : 0)) * 3u;
        vertices[0][i] = &screen[corners[0]];
        vertices[1][i] = &screen[corners[1]];
        vertices[2][i] = &screen[corners[2]];
    }
    return (1u << count) - 1u;
}

/// Cuts triangle `index` to what can be drawn. False where nothing is left.
static bool espyBatch_Clip(const espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch,
                           const espyScreenVertex* screen, uint32_t index, espyScreenVertex out[ESPY_MOST_CORNERS],
                           uint32_t edges[ESPY_MOST_CORNERS], uint32_t* count)
{
    const uint8_t* corners = batch->indices + (size_t)index * 3u;
    uint32_t a = screen[corners[0]].code, b = screen[corners[1]].code, c = screen[corners[2]].code;
    if (a & b & c)
    {
        return false; // All beyond the same plane.
    }
    *count = espyTriangle_Clip(raster, clip, batch->positions, corners, a | b | c, out, edges);
    return *count >= 3;
}

ESPY_HOT void espySampled_DrawBatch(espyRaster* raster, espyiBand* band, const espyiClip* clip,
                                    const espyiBatchView* batch, const espyClamp* clamp, bool ids)
{
    espyScreenVertex screen[ESPYI_BATCH_VERTICES];
    espyVertices_Transform(raster, clip, batch->positions, batch->vertexCount, screen);
    for (uint32_t first = 0; first < batch->triangleCount; first += 8)
    {
        const espyScreenVertex* vertices[3][8];
        espySetup setup;
        uint32_t lanes = espyBatch_Gather(batch, screen, first, vertices);
        espySetup_Fill(raster, vertices, lanes, batch->flip, false, espySetupKind_Sampled, clamp, &setup);
        uint32_t clipped = setup.clipped;
        for (uint32_t rest = setup.drawn; rest; rest &= rest - 1u)
        {
            ++band->stats.trianglesDrawn;
            espySampled_DrawLane(raster, &setup, espyBits_Lowest(rest), clamp, batch->id, ids);
        }
        for (uint32_t rest = clipped; rest; rest &= rest - 1u)
        {
            espyScreenVertex corners[ESPY_MOST_CORNERS];
            uint32_t edges[ESPY_MOST_CORNERS], count;
            if (!espyBatch_Clip(raster, clip, batch, screen, first + espyBits_Lowest(rest), corners, edges, &count))
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
}

/// Triangles from..to of a batch, whose first ones up to `ownEnd` it draws.
typedef struct espyClaimRange
{
    uint32_t from, ownEnd, to;
} espyClaimRange;

/// Claims of some triangles of one part. Sets their bits in `front`, or in `torn` where only pieces of them are front.
static void espyClaims_AddRange(espyRaster* raster, espyiBand* band, const espyiClip* clip, const espyiBatchView* batch,
                                const espyScreenVertex* screen, const espyClamp* clamp, espyClaimList* list,
                                uint32_t from, uint32_t to, bool own, uint32_t front[8], uint32_t torn[8])
{
    for (uint32_t first = from; first < to; first += 8)
    {
        const espyScreenVertex* vertices[3][8];
        espySetup setup;
        uint32_t lanes = espyBatch_Gather(batch, screen, first, vertices);
        lanes &= to - first < 8u ? (1u << (to - first)) - 1u : 0xFFu;
        espySetup_Fill(raster, vertices, lanes, batch->flip, false, espySetupKind_Farthest, clamp, &setup);
        uint32_t clipped = setup.clipped;
        for (uint32_t rest = setup.front; rest; rest &= rest - 1u)
        {
            uint32_t lane = espyBits_Lowest(rest), t = first + lane;
            front[t / 32u] |= 1u << t % 32u;
            band->stats.trianglesDrawn += own && (setup.drawn >> lane & 1u) ? 1u : 0u;
            espyClaims_AddLane(raster, list, &setup, lane, clamp, own);
        }
        for (uint32_t rest = clipped; rest; rest &= rest - 1u)
        {
            espyScreenVertex corners[ESPY_MOST_CORNERS];
            uint32_t edges[ESPY_MOST_CORNERS], count;
            if (!espyBatch_Clip(raster, clip, batch, screen, first + espyBits_Lowest(rest), corners, edges, &count))
            {
                continue;
            }
            uint32_t fan = espyFan_Gather(corners, count, vertices), t = first + espyBits_Lowest(rest);
            espySetup_Fill(raster, vertices, fan, batch->flip, false, espySetupKind_Farthest, clamp, &setup);
            // Where rounding turned a piece over, the piece is missing and the neighbours must know.
            front[t / 32u] |= (setup.front != 0 && setup.back == 0 ? 1u : 0u) << t % 32u;
            torn[t / 32u] |= (setup.front != 0 && setup.back != 0 ? 1u : 0u) << t % 32u;
            band->stats.trianglesDrawn += own && setup.drawn ? 1u : 0u;
            for (uint32_t lane = setup.front; lane; lane &= lane - 1u)
            {
                espyClaims_AddLane(raster, list, &setup, espyBits_Lowest(lane), clamp, own);
            }
        }
    }
}

/// Marks the borders of a part: edges of front faces that no front face is behind.
static void espyClaims_MarkBorders(espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch,
                                   const espyScreenVertex* screen, const espyClamp* clamp, const espyClaimList* list,
                                   const espyClaimRange* range, const uint32_t front[8], const uint32_t torn[8])
{
    for (uint32_t t = range->from; t < range->to; ++t)
    {
        const uint8_t* corners = batch->indices + (size_t)t * 3u;
        bool isFront = (front[t / 32u] >> t % 32u & 1u) != 0;
        bool isCut = (screen[corners[0]].code | screen[corners[1]].code | screen[corners[2]].code) != 0;
        if (!isFront && !(torn[t / 32u] >> t % 32u & 1u))
        {
            continue;
        }
        bool marks[espyCutEdge_Count] = {true, true, true, true, false};
        for (uint32_t e = 0; e < 3 && isFront && batch->neighbours; ++e)
        {
            uint32_t other = batch->neighbours[(size_t)t * 3u + e];
            marks[e] = other == ESPYI_NO_NEIGHBOUR || !(front[other / 32u] >> other % 32u & 1u);
        }
        if (!isCut)
        {
            for (uint32_t e = 0; e < 3; ++e)
            {
                if (marks[e])
                {
                    espyClaims_MarkEdge(raster, list, &screen[corners[e]], &screen[corners[e < 2 ? e + 1 : 0]], clamp);
                }
            }
            continue;
        }
        espyScreenVertex cut[ESPY_MOST_CORNERS];
        uint32_t edges[ESPY_MOST_CORNERS], count = 0;
        bool any = espyBatch_Clip(raster, clip, batch, screen, t, cut, edges, &count);
        for (uint32_t i = 0; i < count && any; ++i)
        {
            if (marks[edges[i]])
            {
                espyClaims_MarkEdge(raster, list, &cut[i], &cut[i + 1 < count ? i + 1 : 0], clamp);
            }
        }
    }
}

static void espyConservative_DrawBatch(espyRaster* raster, espyiBand* band, const espyiClip* clip,
                                       const espyiBatchView* batch, const espyClamp* clamp)
{
    espyScreenVertex screen[ESPYI_BATCH_VERTICES];
    espyClaimList list;
    uint32_t front[8] = {0}, torn[8] = {0}; // One bit a triangle.
    list.touched = raster->touched + (size_t)band->tileRow0 * raster->stride;
    espyVertices_Transform(raster, clip, batch->positions, batch->vertexCount, screen);
    uint32_t parts = batch->parts ? batch->partCount : batch->triangleCount, next = 0;
    for (uint32_t p = 0; p < parts; ++p)
    {
        espyClaimRange range = {next, next + (batch->parts ? batch->parts[p].ownCount : 1u),
                                next + (batch->parts ? batch->parts[p].triangleCount : 1u)};
        next = range.to;
        list.planeCount = 0;
        list.touchedCount = 0;
        list.stamp = ++band->stamp;
        // Its own triangles first: the others only matter where those are.
        espyClaims_AddRange(raster, band, clip, batch, screen, clamp, &list, range.from, range.ownEnd, true, front,
                            torn);
        if (list.touchedCount == 0)
        {
            continue;
        }
        espyClaims_AddRange(raster, band, clip, batch, screen, clamp, &list, range.ownEnd, range.to, false, front,
                            torn);
        espyClaims_MarkBorders(raster, clip, batch, screen, clamp, &list, &range, front, torn);
        espyClaims_Draw(raster, &list);
    }
}

static void espyKernel_DrawBatch(espyRaster* raster, espyiBand* band, const espyiClip* clip,
                                 const espyiBatchView* batch)
{
    const int32_t tile = (int32_t)ESPYI_TILE;
    espyClamp clamp = {(int32_t)band->tileRow0 * tile, (int32_t)band->tileRow1 * tile, 0,
                       (int32_t)raster->tilesX * tile};
    if (raster->mode == espyRasterMode_Conservative)
    {
        espyConservative_DrawBatch(raster, band, clip, batch, &clamp);
    }
    else if (raster->ids)
    {
        espySampled_DrawBatch(raster, band, clip, batch, &clamp, true);
    }
    else
    {
        espySampled_DrawBatch(raster, band, clip, batch, &clamp, false);
    }
}

// --- merging

static void espyKernel_MergeTile(espyRaster* raster, const espyRaster* other, uint32_t tile)
{
    const espyiTileHead* from = &other->heads[tile];
    espyiTileHead* head = &raster->heads[tile];
    uint32_t tileX = tile % raster->stride, tileY = tile / raster->stride;
    if (from->state == espyiTileState_Clear)
    {
        return;
    }
    const float* pixels = other->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    if (from->state == espyiTileState_Plane)
    {
        espyiPlane plane;
        memcpy(&plane, pixels, sizeof plane);
        espyTile_Draw(raster, tileX, tileY, ~0ull, &plane, true, raster->ids);
        return;
    }
    if (head->state != espyiTileState_Pixels)
    {
        espyTile_Expand(raster, tileX, tileY, tile, raster->ids);
    }
    float* to = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
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
        espyF8_Store(to + row * ESPYI_TILE, espyF8_Max(old, d));
    }
    head->cover |= from->cover;
    head->dMax = head->dMax > from->dMax ? head->dMax : from->dMax;
    espyTile_Refresh(raster, tileX, tileY, tile);
}
