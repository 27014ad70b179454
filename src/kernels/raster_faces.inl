// SPDX-License-Identifier: MIT
// Faces: triangles, and flat quads that two of them make, ready to be walked in Sampled mode. Included by raster.inl.
//
// A quad is drawn as one: its diagonal costs nothing, and all of it has the plane of its larger half. It must be convex
// on the screen and face one way beyond doubt; otherwise its halves are drawn. A triangle is a quad whose last corners
// are one.
//
// Every row that a face covers crosses one edge that is its left border and one that is its right: edges that run down
// and up. Each edge knows its rows, and the column where it crosses one is computed from its upper end, so that faces
// at an edge agree about it.

typedef struct espyFaceCorners
{
    uint8_t at[4]; ///< Vertices of the batch.
} espyFaceCorners;

/// Eight faces. Edge k runs from corner k to the next.
typedef struct espyFaces
{
    _Alignas(32) float xTop[4][8];
    float yTop[4][8], xEnd[4][8], yEnd[4][8]; ///< Upper and lower end of each edge.
    float slope[4][8];                        ///< Columns by rows.
    int32_t start[4][8];                      ///< Position of the upper end, see espyFaces_Offset.
    int32_t isLeft[4][8];                     ///< -1: a left border; 0: a right one.
    float gx[8], gy[8], d[8], x[8], y[8], low[8], high[8];
    int32_t row0[8], row1[8], column0[8], column1[8]; ///< Centres within the bounds; half-open; not yet clamped.
    uint32_t drawn;                                   ///< One bit a lane: faces the right way and has centres.
} espyFaces;

ESPY_HOT espyiPlane espyFaces_GetPlane(const espyFaces* s, uint32_t lane, uint32_t id)
{
    return (espyiPlane){s->gx[lane], s->gy[lane], s->d[lane], s->x[lane], s->y[lane], s->low[lane], s->high[lane], id};
}

/// What is added to a position so that its column is the first with a centre at or behind it, less one sub-pixel.
/// Positions are off by one sub-pixel at most: those with fewer than 3 left to the next column are in doubt.
ESPY_HOT int32_t espyFaces_Offset(const espyRaster* raster)
{
    return (int32_t)raster->step - 2 - (int32_t)raster->column0;
}
#define ESPY_FACES_DOUBT 3

// --- culling

/// Eight faces as far as it takes to leave them out.
typedef struct espyFaceBounds
{
    espyI8 row0, row1, column0, column1;
    espyF8 high;
    uint32_t drawn;   ///< Faces the right way beyond doubt and has centres in its bounds.
    uint32_t halves;  ///< Has to be drawn as two triangles.
    uint32_t clipped; ///< Has a vertex that cannot be used.
} espyFaceBounds;

/// Positive where corners a, b, c face the right way.
ESPY_HOT espyF8 espyCorners_Area(const espyF8* x, const espyF8* y, int a, int b, int c, bool flip, espyF8* doubt)
{
    espyF8 product0 = espyF8_Mul(espyF8_Sub(x[b], x[a]), espyF8_Sub(y[c], y[a]));
    espyF8 product1 = espyF8_Mul(espyF8_Sub(x[c], x[a]), espyF8_Sub(y[b], y[a]));
    *doubt = espyF8_Mul(espyF8_Add(espyF8_Abs(product0), espyF8_Abs(product1)), espyF8_Set(0x1p-22f));
    return flip ? espyF8_Sub(product0, product1) : espyF8_Sub(product1, product0);
}

/// Corners of eight faces, and which of them have a vertex that cannot be used.
ESPY_HOT uint32_t espyCorners_Load(const espyScreenVertex* const vertices[4][8], espyF8 x[4], espyF8 y[4], espyF8 d[4])
{
    espyI8 codes = espyI8_Set(0);
    for (int c = 0; c < 4; ++c)
    {
        const float* rows[8];
        for (int i = 0; i < 8; ++i)
        {
            rows[i] = &vertices[c][i]->x;
        }
        espyF8 columns[4];
        espyF8_Columns(rows, columns);
        x[c] = columns[0];
        y[c] = columns[1];
        d[c] = columns[2];
        codes = espyI8_Or(codes, espyF8_AsInt(columns[3]));
    }
    return espyI8_Bits(espyI8_Greater(codes, espyI8_Set(0)));
}

ESPY_HOT espyF8 espyCorners_Min(const espyF8 v[4])
{
    return espyF8_Min(espyF8_Min(v[0], v[1]), espyF8_Min(v[2], v[3]));
}

ESPY_HOT espyF8 espyCorners_Max(const espyF8 v[4])
{
    return espyF8_Max(espyF8_Max(v[0], v[1]), espyF8_Max(v[2], v[3]));
}

/// Rows and columns with centres, and which lanes have some within the clamp.
ESPY_HOT uint32_t espyCorners_Bound(const espyRaster* raster, espyF8 xMin, espyF8 xMax, espyF8 yMin, espyF8 yMax,
                                    const espyClamp* clamp, espyFaceBounds* out)
{
    const uint32_t digits = raster->subPixelBits;
    out->column0 = espyCentre_Behind(xMin, raster->column0, raster->step, digits);
    out->column1 = espyCentre_Behind(xMax, raster->column0, raster->step, digits);
    out->row0 = espyCentre_Behind(yMin, raster->row0, raster->step, digits);
    out->row1 = espyCentre_Behind(yMax, raster->row0, raster->step, digits);
    espyI8 rows =
        espyI8_Greater(espyI8_Min(out->row1, espyI8_Set(clamp->row1)), espyI8_Max(out->row0, espyI8_Set(clamp->row0)));
    espyI8 columns = espyI8_Greater(espyI8_Min(out->column1, espyI8_Set(clamp->column1)),
                                    espyI8_Max(out->column0, espyI8_Set(clamp->column0)));
    return espyI8_Bits(espyI8_And(rows, columns));
}

ESPY_HOT void espyQuads_Find(const espyRaster* raster, const espyScreenVertex* const vertices[4][8], uint32_t lanes,
                             bool flip, const espyClamp* clamp, espyFaceBounds* out)
{
    espyF8 x[4], y[4], d[4], doubt[4], area[4];
    out->clipped = espyCorners_Load(vertices, x, y, d) & lanes;
    lanes &= ~out->clipped;
    const espyF8 zero = espyF8_Set(0.0f);
    area[0] = espyCorners_Area(x, y, 0, 1, 2, flip, &doubt[0]);
    area[1] = espyCorners_Area(x, y, 0, 2, 3, flip, &doubt[1]);
    area[2] = espyCorners_Area(x, y, 1, 2, 3, flip, &doubt[2]);
    area[3] = espyCorners_Area(x, y, 0, 1, 3, flip, &doubt[3]);
    espyI8 front = espyI8_And(espyI8_And(espyF8_Less(doubt[0], area[0]), espyF8_Less(doubt[1], area[1])),
                              espyI8_And(espyF8_Less(doubt[2], area[2]), espyF8_Less(doubt[3], area[3])));
    espyI8 back =
        espyI8_And(espyF8_Less(area[0], espyF8_Sub(zero, doubt[0])), espyF8_Less(area[1], espyF8_Sub(zero, doubt[1])));
    uint32_t frontBits = espyI8_Bits(front) & lanes;
    lanes &= ~espyI8_Bits(back);
    out->drawn = out->halves = 0;
    if (lanes)
    {
        lanes &= espyCorners_Bound(raster, espyCorners_Min(x), espyCorners_Max(x), espyCorners_Min(y),
                                   espyCorners_Max(y), clamp, out);
        out->high = espyCorners_Max(d);
        out->drawn = lanes & frontBits;
        out->halves = lanes & ~frontBits;
    }
}

ESPY_HOT void espyTriangles_Find(const espyRaster* raster, const espyScreenVertex* const vertices[3][8], uint32_t lanes,
                                 bool flip, const espyClamp* clamp, espyFaceBounds* out)
{
    espyFacing facing;
    espyFacing_Find(raster, vertices, lanes, flip, false, clamp, &facing);
    *out = (espyFaceBounds){.row0 = facing.row0,
                            .row1 = facing.row1,
                            .column0 = facing.column0,
                            .column1 = facing.column1,
                            .high = espyF8_Max(espyF8_Max(facing.d[0], facing.d[1]), facing.d[2]),
                            .drawn = facing.drawn,
                            .clipped = facing.clipped};
}

// --- lists

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

/// Faces of a batch that are to be drawn, and triangles of it that have to be clipped first.
typedef struct espyFaceList
{
    espyFaceCorners faces[ESPYI_BATCH_TRIANGLES + 1u];
    uint8_t clipped[ESPYI_BATCH_TRIANGLES + 1u];
    uint32_t faceCount, clippedCount;
    uint32_t drawnCount; ///< Triangles in the faces.
} espyFaceList;

/// Does any tile within some bounds hold something behind d?
ESPY_HOT bool espyTiles_Open(const espyRaster* raster, const espyClamp* bounds, float d, bool ids)
{
    const espyF8 most = espyF8_Set(d);
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

/// Appends those of eight faces that are not behind what is there.
ESPY_HOT void espyFaceList_Add(espyFaceList* list, const espyRaster* raster, const espyFaceBounds* bounds,
                               const espyFaceCorners corners[8], const espyClamp* clamp, bool ids)
{
    int32_t row0[8], row1[8], column0[8], column1[8];
    float high[8];
    espyI8_Store(row0, espyI8_Max(bounds->row0, espyI8_Set(clamp->row0)));
    espyI8_Store(row1, espyI8_Min(bounds->row1, espyI8_Set(clamp->row1)));
    espyI8_Store(column0, espyI8_Max(bounds->column0, espyI8_Set(clamp->column0)));
    espyI8_Store(column1, espyI8_Min(bounds->column1, espyI8_Set(clamp->column1)));
    espyF8_Store(high, bounds->high);
    uint32_t end = list->faceCount;
    for (uint32_t rest = bounds->drawn; rest; rest &= rest - 1u)
    {
        uint32_t i = espyBits_Lowest(rest);
        espyClamp own = {row0[i], row1[i], column0[i], column1[i]};
        bool open = espyTiles_Open(raster, &own, high[i], ids);
        list->faces[end] = corners[i];
        list->drawnCount += !open ? 0u : corners[i].at[2] != corners[i].at[3] ? 2u : 1u;
        end += open ? 1u : 0u;
    }
    list->faceCount = end;
}

/// Adds triangles of a batch: `count` up to eight, from `first` on or as a list names them.
ESPY_HOT void espyFaceList_AddTriangles(espyFaceList* list, const espyRaster* raster, const espyiBatchView* batch,
                                        const espyScreenVertex* screen, const uint8_t names[8], uint32_t count,
                                        bool flip, const espyClamp* clamp, bool ids)
{
    const espyScreenVertex* vertices[3][8];
    espyFaceCorners corners[8];
    espyFaceBounds bounds;
    for (uint32_t i = 0; i < 8; ++i)
    {
        const uint8_t* at = batch->indices + (size_t)names[i < count ? i : 0] * 3u;
        vertices[0][i] = &screen[at[0]];
        vertices[1][i] = &screen[at[1]];
        vertices[2][i] = &screen[at[2]];
        corners[i] = (espyFaceCorners){{at[0], at[1], at[2], at[2]}};
    }
    espyTriangles_Find(raster, vertices, (1u << count) - 1u, flip, clamp, &bounds);
    for (uint32_t rest = bounds.clipped; rest; rest &= rest - 1u)
    {
        list->clipped[list->clippedCount++] = names[espyBits_Lowest(rest)];
    }
    if (bounds.drawn)
    {
        espyFaceList_Add(list, raster, &bounds, corners, clamp, ids);
    }
}

/// Lists what of a batch faces the eye, has a centre in its bounds and is not behind what is there.
ESPY_HOT void espyFaceList_Fill(espyFaceList* list, const espyRaster* raster, const espyiBatchView* batch,
                                const espyScreenVertex* screen, bool flip, const espyClamp* clamp, bool ids)
{
    uint8_t halves[ESPYI_BATCH_TRIANGLES + 1u], names[8];
    uint32_t halfCount = 0;
    list->faceCount = list->clippedCount = list->drawnCount = 0;
    for (uint32_t first = 0; first < batch->quadCount; first += 8)
    {
        const espyScreenVertex* vertices[4][8];
        espyFaceCorners corners[8];
        espyFaceBounds bounds;
        uint32_t count = batch->quadCount - first < 8 ? batch->quadCount - first : 8;
        for (uint32_t i = 0; i < 8; ++i)
        {
            const uint8_t* at = batch->indices + (size_t)(first + (i < count ? i : 0)) * 6u;
            corners[i] = (espyFaceCorners){{at[0], at[1], at[2], at[5]}};
            for (uint32_t c = 0; c < 4; ++c)
            {
                vertices[c][i] = &screen[corners[i].at[c]];
            }
        }
        espyQuads_Find(raster, vertices, (1u << count) - 1u, flip, clamp, &bounds);
        for (uint32_t rest = bounds.clipped; rest; rest &= rest - 1u)
        {
            uint32_t quad = first + espyBits_Lowest(rest);
            list->clipped[list->clippedCount++] = (uint8_t)(2u * quad);
            list->clipped[list->clippedCount++] = (uint8_t)(2u * quad + 1u);
        }
        for (uint32_t rest = bounds.halves; rest; rest &= rest - 1u)
        {
            uint32_t quad = first + espyBits_Lowest(rest);
            halves[halfCount++] = (uint8_t)(2u * quad);
            halves[halfCount++] = (uint8_t)(2u * quad + 1u);
        }
        if (bounds.drawn)
        {
            espyFaceList_Add(list, raster, &bounds, corners, clamp, ids);
        }
    }
    for (uint32_t first = 0; first < halfCount; first += 8)
    {
        uint32_t count = halfCount - first < 8 ? halfCount - first : 8;
        espyFaceList_AddTriangles(list, raster, batch, screen, halves + first, count, flip, clamp, ids);
    }
    for (uint32_t first = 2u * batch->quadCount; first < batch->triangleCount; first += 8)
    {
        uint32_t count = batch->triangleCount - first < 8 ? batch->triangleCount - first : 8;
        for (uint32_t i = 0; i < 8; ++i)
        {
            names[i] = (uint8_t)(first + i);
        }
        espyFaceList_AddTriangles(list, raster, batch, screen, names, count, flip, clamp, ids);
    }
}

/// Gathers up to eight faces; returns the bits of those that exist.
ESPY_HOT uint32_t espyFaces_Gather(const espyFaceCorners* faces, uint32_t count, const espyScreenVertex* screen,
                                   const espyScreenVertex* vertices[4][8])
{
    count = count < 8 ? count : 8;
    for (uint32_t i = 0; i < 8; ++i)
    {
        const espyFaceCorners* face = &faces[i < count ? i : 0];
        for (uint32_t c = 0; c < 4; ++c)
        {
            vertices[c][i] = &screen[face->at[c]];
        }
    }
    return (1u << count) - 1u;
}

/// Triangles of a clipped one, as a fan.
ESPY_HOT uint32_t espyFaces_GatherFan(const espyScreenVertex* corners, uint32_t count,
                                      const espyScreenVertex* vertices[4][8])
{
    uint32_t lanes = espyFan_Gather(corners, count, vertices);
    memcpy(vertices[3], vertices[2], sizeof vertices[3]);
    return lanes;
}

// --- set-up

/// Sets up eight faces. Of a quad the halves are known to face the same way.
ESPY_HOT void espyFaces_Fill(const espyRaster* raster, const espyScreenVertex* const vertices[4][8], uint32_t lanes,
                             bool flip, const espyClamp* clamp, espyFaces* out)
{
    espyF8 x[4], y[4], d[4], doubt[2];
    espyCorners_Load(vertices, x, y, d);
    const espyF8 zero = espyF8_Set(0.0f);
    espyF8 area = espyCorners_Area(x, y, 0, 1, 2, flip, &doubt[0]);
    espyF8 other = espyCorners_Area(x, y, 0, 2, 3, flip, &doubt[1]);
    uint32_t doubtful = espyI8_Bits(espyF8_LessEqual(espyF8_Abs(area), doubt[0])) & lanes;
    if (doubtful)
    {
        float exact[8];
        espyF8_Store(exact, area);
        for (; doubtful; doubtful &= doubtful - 1u)
        {
            uint32_t i = espyBits_Lowest(doubtful);
            const espyScreenVertex* const corners[3] = {vertices[0][i], vertices[1][i], vertices[2][i]};
            exact[i] = (float)espySetup_ExactArea(corners) * (flip ? 1.0f : -1.0f);
        }
        area = espyF8_Load(exact);
    }
    espyF8 xMin = espyCorners_Min(x), xMax = espyCorners_Max(x), yMin = espyCorners_Min(y), yMax = espyCorners_Max(y);
    espyFaceBounds bounds;
    out->drawn = espyI8_Bits(espyF8_Less(zero, area)) & lanes;
    out->drawn &= espyCorners_Bound(raster, xMin, xMax, yMin, yMax, clamp, &bounds);
    if (!out->drawn)
    {
        return;
    }
    espyI8_Store(out->column0, bounds.column0);
    espyI8_Store(out->column1, bounds.column1);
    espyI8_Store(out->row0, bounds.row0);
    espyI8_Store(out->row1, bounds.row1);

    // The plane of the larger half, from its farthest corner, where d is least and must be finest.
    espyI8 second = espyF8_Less(area, other);
    espyF8 x1 = espyF8_Select(second, x[2], x[1]), x2 = espyF8_Select(second, x[3], x[2]);
    espyF8 y1 = espyF8_Select(second, y[2], y[1]), y2 = espyF8_Select(second, y[3], y[2]);
    espyF8 d1 = espyF8_Select(second, d[2], d[1]), d2 = espyF8_Select(second, d[3], d[2]);
    area = espyF8_Select(second, other, area);
    espyF8 d10 = espyF8_Sub(d1, d[0]), d20 = espyF8_Sub(d2, d[0]);
    espyF8 inverse = espyF8_Div(espyF8_Set(flip ? 1.0f : -1.0f), area);
    espyF8 gx = espyF8_Sub(espyF8_Mul(d10, espyF8_Sub(y2, y[0])), espyF8_Mul(d20, espyF8_Sub(y1, y[0])));
    espyF8 gy = espyF8_Sub(espyF8_Mul(d20, espyF8_Sub(x1, x[0])), espyF8_Mul(d10, espyF8_Sub(x2, x[0])));
    gx = espyF8_Mul(gx, inverse);
    gy = espyF8_Mul(gy, inverse);
    espyI8 one = espyF8_Less(d1, d[0]);
    espyF8 base = espyF8_Select(one, d1, d[0]);
    espyF8 baseX = espyF8_Select(one, x1, x[0]), baseY = espyF8_Select(one, y1, y[0]);
    espyI8 two = espyF8_Less(d2, base);
    base = espyF8_Select(two, d2, base);
    espyF8_Store(out->x, espyF8_Select(two, x2, baseX));
    espyF8_Store(out->y, espyF8_Select(two, y2, baseY));
    // Slivers: gradients are rounded by this much more than what they are differences of. From 2^12 on they mean
    // little, and the depth of the farthest corner stands for all of it.
    espyF8 low = espyCorners_Min(d), size = espyF8_Mul(espyF8_Sub(xMax, xMin), espyF8_Sub(yMax, yMin));
    espyI8 sliver = espyF8_LessEqual(espyF8_Mul(area, espyF8_Set(4096.0f)), size);
    espyF8_Store(out->gx, espyF8_Select(sliver, zero, gx));
    espyF8_Store(out->gy, espyF8_Select(sliver, zero, gy));
    espyF8_Store(out->d, espyF8_Select(sliver, low, base));
    espyF8_Store(out->low, low);
    espyF8_Store(out->high, espyCorners_Max(d));

    // Flat edges have no rows; their slope only has to be finite.
    const espyF8 least = espyF8_Set(1.0f);
    const espyI8 offset = espyI8_Set(espyFaces_Offset(raster)), ones = espyI8_Set(-1);
    for (int k = 0; k < 4; ++k)
    {
        int next = (k + 1) & 3;
        espyI8 down = espyF8_Less(y[k], y[next]);
        espyF8 xTop = espyF8_Select(down, x[k], x[next]), xEnd = espyF8_Select(down, x[next], x[k]);
        espyF8 yTop = espyF8_Min(y[k], y[next]), yEnd = espyF8_Max(y[k], y[next]);
        espyF8_Store(out->xTop[k], xTop);
        espyF8_Store(out->yTop[k], yTop);
        espyF8_Store(out->xEnd[k], xEnd);
        espyF8_Store(out->yEnd[k], yEnd);
        espyF8_Store(out->slope[k], espyF8_Div(espyF8_Sub(xEnd, xTop), espyF8_Max(espyF8_Sub(yEnd, yTop), least)));
        espyI8_Store(out->start[k], espyI8_Add(espyF8_ToInt(xTop), offset));
        espyI8_Store(out->isLeft[k], flip ? espyI8_AndNot(ones, down) : down);
    }
}

ESPY_HOT void espyFaces_Clamp(const espyFaces* s, uint32_t lane, const espyClamp* clamp, espyClamp* out)
{
    out->row0 = s->row0[lane] > clamp->row0 ? s->row0[lane] : clamp->row0;
    out->row1 = s->row1[lane] < clamp->row1 ? s->row1[lane] : clamp->row1;
    out->column0 = s->column0[lane] > clamp->column0 ? s->column0[lane] : clamp->column0;
    out->column1 = s->column1[lane] < clamp->column1 ? s->column1[lane] : clamp->column1;
}

// --- spans

/// Columns where the borders cross rows that are in doubt, in integers.
static void espyFaces_Decide(const espyRaster* raster, const espyFaces* s, uint32_t lane, float first, uint32_t rows,
                             int32_t from[8], int32_t to[8])
{
    for (; rows; rows &= rows - 1u)
    {
        uint32_t i = espyBits_Lowest(rows);
        float y = first + (float)(int32_t)i * raster->step;
        for (uint32_t k = 0; k < 4; ++k)
        {
            if (s->yTop[k][lane] <= y && y < s->yEnd[k][lane])
            {
                int32_t column = espyEdge_ExactColumn(raster, s->xTop[k][lane], s->yTop[k][lane], s->xEnd[k][lane],
                                                      s->yEnd[k][lane], y);
                *(s->isLeft[k][lane] ? &from[i] : &to[i]) = column;
            }
        }
    }
}

/// Which pixels of eight rows have their centre inside. Centres on an edge belong to the face right of it, on a flat
/// edge to the one below it.
ESPY_HOT espySpans espyFaces_GetSpans(const espyRaster* raster, const espyFaces* s, uint32_t lane, uint32_t tileRow,
                                      const espyClamp* clamp)
{
    const uint32_t digits = raster->subPixelBits;
    const espyF8 zero = espyF8_Set(0.0f);
    float first = espyiRaster_Row(raster, tileRow * ESPYI_TILE);
    espyF8 y = espyF8_Add(espyF8_Set(first), espyF8_Mul(espyF8_Load(espyLane_Numbers), espyF8_Set(raster->step)));
    espyI8 from = espyI8_Set(0), to = from, any = from;
    ESPY_UNROLL
    for (int k = 0; k < 4; ++k)
    {
        espyF8 yTop = espyF8_Set(s->yTop[k][lane]), yEnd = espyF8_Set(s->yEnd[k][lane]);
        espyI8 valid = espyI8_And(espyF8_LessEqual(yTop, y), espyF8_Less(y, yEnd));
        espyF8 inside = espyF8_Min(espyF8_Max(y, yTop), yEnd);
        espyF8 along = espyF8_Mul(espyF8_Sub(inside, yTop), espyF8_Set(s->slope[k][lane]));
        // x + ceil(along), so that adding rounds nothing.
        espyI8 position =
            espyI8_Sub(espyI8_Set(s->start[k][lane]), espyF8_ToInt(espyF8_Floor(espyF8_Sub(zero, along))));
        espyI8 left = espyI8_And(valid, espyI8_Set(s->isLeft[k][lane]));
        from = espyI8_Or(from, espyI8_And(position, left));
        to = espyI8_Or(to, espyI8_And(position, espyI8_AndNot(valid, left)));
        any = espyI8_Or(any, valid);
    }
    const espyI8 below = espyI8_Set((1 << digits) - 1);
    espyI8 behind = espyI8_Max(espyI8_And(from, below), espyI8_And(to, below));
    uint32_t doubtful = espyI8_Bits(espyI8_Greater(behind, espyI8_Set((1 << digits) - 1 - ESPY_FACES_DOUBT)));
    from = espyI8_ShiftRight(from, digits);
    to = espyI8_ShiftRight(to, digits);
    if (doubtful)
    {
        int32_t froms[8], tos[8];
        espyI8_Store(froms, from);
        espyI8_Store(tos, to);
        espyFaces_Decide(raster, s, lane, first, doubtful, froms, tos);
        from = espyI8_Load(froms);
        to = espyI8_Load(tos);
    }
    from = espyI8_Max(from, espyI8_Set(clamp->column0));
    to = espyI8_Max(espyI8_Min(to, espyI8_Set(clamp->column1)), espyI8_Set(0));
    espySpans spans = {.from = espyS8_FromInts(espyI8_Select(any, from, espyI8_Set(32767))), .to = espyS8_FromInts(to)};
    spans.first = espyS8_Lowest(spans.from);
    spans.last = espyS8_Highest(spans.to);
    return spans;
}
