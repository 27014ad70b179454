// SPDX-License-Identifier: MIT
// Fragments of shapes against what was drawn: by the same set-up, coverage and planes as drawing. Included by
// raster.inl.

/// d of eight pixels of a plane, operation by operation as espyiPlane_At.
ESPY_HOT espyF8 espyPlane_EightAt(const espyiPlane* plane, espyF8 x, float y)
{
    espyF8 across = espyF8_Mul(espyF8_Set(plane->gx), espyF8_Sub(x, espyF8_Set(plane->x)));
    espyF8 d = espyF8_Add(espyF8_Add(espyF8_Set(plane->d), across), espyF8_Set(plane->gy * (y - plane->y)));
    return espyF8_Min(espyF8_Max(d, espyF8_Set(plane->low)), espyF8_Set(plane->high));
}

/// Leaves an id in the pixels of one row that passed.
ESPY_HOT void espyProbe_Leave(const espyiProbe* probe, size_t at, espyI8 passes, espyF8 d)
{
    float* nearest = probe->tiles->nearest + at;
    int32_t* ids = (int32_t*)(void*)(probe->tiles->ids + at);
    espyI8 id = espyI8_Set((int32_t)probe->id), oldId = espyI8_Load(ids);
    espyF8 old = espyF8_Load(nearest);
    espyI8 tie = espyI8_And(espyF8_Equal(d, old), espyI8_LessU(id, oldId));
    espyI8 take = espyI8_And(passes, espyI8_Or(espyF8_Less(old, d), tie));
    espyF8_Store(nearest, espyF8_Select(take, d, old));
    espyI8_Store(ids, espyI8_Select(take, id, oldId));
}

/// Makes a tile of ids current, and clear where it was not.
static void espyProbe_Touch(const espyiProbe* probe, uint32_t tile)
{
    espyiIdTiles* tiles = probe->tiles;
    if (tiles->stamps[tile] == tiles->stamp)
    {
        return;
    }
    tiles->stamps[tile] = tiles->stamp;
    tiles->touched[tiles->touchedCount++] = tile;
    for (size_t at = (size_t)tile * ESPYI_TILE_PIXELS, end = at + ESPYI_TILE_PIXELS; at < end; at += ESPYI_TILE)
    {
        // Farther than anything that can pass.
        espyF8_Store(tiles->nearest + at, espyF8_Set(-1.0f));
        espyI8_Store((int32_t*)(void*)(tiles->ids + at), espyI8_Set(-1));
    }
}

ESPY_HOT void espyProbe_Tile(const espyRaster* raster, uint32_t tileX, uint32_t tileY, uint64_t mask,
                             const espyiPlane* plane, espyiProbe* probe)
{
    static const float columns[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t tile = tileY * raster->stride + tileX, state = raster->tileState[tile];
    if (state == espyiTileState_Clear && probe->tiles == NULL)
    {
        probe->passed += espyiPopCount32((uint32_t)mask) + espyiPopCount32((uint32_t)(mask >> 32));
        return;
    }
    const float* pixels = raster->pixels + (size_t)tile * ESPYI_TILE_PIXELS;
    espyiPlane stored = {0};
    if (state >= espyiTileState_FirstPlane)
    {
        stored = *espyiRaster_Plane(raster, state);
    }
    espyF8 x = espyF8_Add(espyF8_Set(espyiRaster_Column(raster, tileX * ESPYI_TILE)),
                          espyF8_Mul(espyF8_Load(columns), espyF8_Set(raster->step)));
    for (uint32_t row = 0; mask != 0; ++row, mask >>= 8)
    {
        if ((mask & 0xFFu) == 0)
        {
            continue;
        }
        float y = espyiRaster_Row(raster, tileY * ESPYI_TILE + row);
        espyF8 d = espyPlane_EightAt(plane, x, y);
        espyF8 old =
            state == espyiTileState_Pixels ? espyF8_Load(pixels + row * ESPYI_TILE) : espyPlane_EightAt(&stored, x, y);
        uint32_t passes = espyI8_Bits(espyF8_LessEqual(old, d)) & (uint32_t)mask & 0xFFu;
        if (passes == 0)
        {
            continue;
        }
        probe->passed += espyiPopCount32(passes);
        if (probe->tiles != NULL)
        {
            espyProbe_Touch(probe, tile);
            espyProbe_Leave(probe, (size_t)tile * ESPYI_TILE_PIXELS + row * ESPYI_TILE, espyI8_FromBits(passes), d);
        }
        if (probe->any)
        {
            return;
        }
    }
}

static void espyProbe_Lane(const espyRaster* raster, const espyFaces* s, uint32_t lane, const espyClamp* clamp,
                           espyiProbe* probe)
{
    espyClamp own;
    espyFaces_Clamp(s, lane, clamp, &own);
    espyiPlane plane = espyFaces_GetPlane(s, lane, 0);
    for (uint32_t tileRow = (uint32_t)own.row0 / ESPYI_TILE; tileRow * ESPYI_TILE < (uint32_t)own.row1; ++tileRow)
    {
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
        espySpans spans = espyFaces_GetSpans(raster, s, lane, tileRow, &own);
        // Of rows past the last, which share its tile, nothing counts.
        int32_t rowsLeft = own.row1 - (int32_t)(tileRow * ESPYI_TILE);
        uint64_t rows = rowsLeft < 8 ? ~0ull >> 8u * (uint32_t)(8 - rowsLeft) : ~0ull;
        start = (spans.first & ~7) > start ? spans.first & ~7 : start;
        for (int32_t column = start; column < spans.last; column += 8)
        {
            uint64_t mask = plane.high < least[column / 8] ? 0 : espyS8_Cover(spans.from, spans.to, column) & rows;
            if (mask != 0)
            {
                espyProbe_Tile(raster, (uint32_t)column / 8u, tileRow, mask, &plane, probe);
                if (probe->any && probe->passed > 0)
                {
                    return;
                }
            }
        }
    }
}

/// One side of a batch. Faces are those that drawing would draw, with the same bits.
static void espyProbe_Side(const espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch,
                           const espyScreenVertex* screen, bool flip, espyiProbe* probe)
{
    const espyClamp clamp = {0, raster->height, 0, raster->width};
    const espyScreenVertex* vertices[4][8];
    espyFaces faces;
    espyFaceList list;
    espyFaceList_Fill(&list, raster, batch, screen, flip, &clamp, true);
    for (uint32_t first = 0; first < list.faceCount; first += 8)
    {
        uint32_t lanes = espyFaces_Gather(list.faces + first, list.faceCount - first, screen, vertices);
        espyFaces_Fill(raster, vertices, lanes, flip, &clamp, &faces);
        for (uint32_t rest = faces.drawn; rest && !(probe->any && probe->passed > 0); rest &= rest - 1u)
        {
            espyProbe_Lane(raster, &faces, espyBits_Lowest(rest), &clamp, probe);
        }
    }
    for (uint32_t i = 0; i < list.clippedCount && !(probe->any && probe->passed > 0); ++i)
    {
        espyScreenVertex corners[ESPY_MOST_CORNERS];
        uint32_t edges[ESPY_MOST_CORNERS], count;
        if (!espyBatch_Clip(raster, clip, batch, screen, list.clipped[i], corners, edges, &count))
        {
            continue;
        }
        uint32_t lanes = espyFaces_GatherFan(corners, count, vertices);
        espyFaces_Fill(raster, vertices, lanes, flip, &clamp, &faces);
        for (uint32_t rest = faces.drawn; rest; rest &= rest - 1u)
        {
            espyProbe_Lane(raster, &faces, espyBits_Lowest(rest), &clamp, probe);
        }
    }
}

static void espyKernel_ProbeBatch(const espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch,
                                  espyiProbe* probe)
{
    espyScreenVertex screen[ESPYI_BATCH_VERTICES];
    espyVertices_Transform(raster, clip, batch->positions, batch->vertexCount, screen);
    espyProbe_Side(raster, clip, batch, screen, false, probe);
    if (!(probe->any && probe->passed > 0))
    {
        espyProbe_Side(raster, clip, batch, screen, true, probe);
    }
}
