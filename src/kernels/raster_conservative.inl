// SPDX-License-Identifier: MIT
// Drawing in Conservative mode. Included by raster.inl.
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
