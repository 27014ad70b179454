// SPDX-License-Identifier: MIT
// From vertices to triangles ready to be walked: eight at a time. Included by raster.inl.
//
// Positions are snapped to whole sub-pixels, so that everything about coverage is exact: facing, first and last rows
// and columns, and the column where an edge crosses a row. Floats do the work; where a result comes near enough to a
// decision for their rounding to matter, that lane is done again in 64-bit integers.

// --- vertices

/// Why a vertex cannot be used as it is.
enum
{
    espyCode_Near = 1u,
    espyCode_Far = 2u,
    espyCode_Left = 4u,
    espyCode_Right = 8u,
    espyCode_Top = 16u,
    espyCode_Bottom = 32u,
    espyCode_Behind = 64u,
    espyCode_Count = 7,
};

/// In sub-pixels. Position and d mean something only where the code is 0.
typedef struct espyScreenVertex
{
    float x, y, d;
    uint32_t code;
} espyScreenVertex;

/// Least w that is divided by: its inverse times a position within the guard band is finite.
#define ESPY_LEAST_W 8.6736174e-19f // 2^-60
/// Greatest w that is used: beyond, positions may not be finite.
#define ESPY_MOST_W 1e30f

ESPY_HOT espyF8 espyClip_Row(const float row[4], espyF8 x, espyF8 y, espyF8 z)
{
    espyF8 xy = espyF8_Add(espyF8_Mul(espyF8_Set(row[0]), x), espyF8_Mul(espyF8_Set(row[1]), y));
    return espyF8_Add(espyF8_Add(xy, espyF8_Mul(espyF8_Set(row[2]), z)), espyF8_Set(row[3]));
}

ESPY_HOT espyI8 espyCode_Unless(espyI8 fine, uint32_t code)
{
    return espyI8_AndNot(espyI8_Set((int32_t)code), fine);
}

/// `out` has room for a multiple of eight.
static void espyVertices_Transform(const espyRaster* raster, const espyiClip* clip, const float* positions,
                                   uint32_t count, espyScreenVertex* out)
{
    const espyF8 one = espyF8_Set(1.0f), half = espyF8_Set(0.5f), zero = espyF8_Set(0.0f);
    for (uint32_t first = 0; first < count; first += 8, positions += 24)
    {
        espyF8 px = espyF8_Load(positions), py = espyF8_Load(positions + 8), pz = espyF8_Load(positions + 16);
        espyF8 w = espyClip_Row(clip->w, px, py, pz), d = espyClip_Row(clip->d, px, py, pz);
        espyF8 x = espyClip_Row(clip->x, px, py, pz), y = espyClip_Row(clip->y, px, py, pz);
        espyF8 reach = espyF8_Mul(espyF8_Set(raster->guard), w);
        espyI8 inFront = espyI8_And(espyF8_Less(espyF8_Set(ESPY_LEAST_W), w), espyF8_Less(w, espyF8_Set(ESPY_MOST_W)));
        // A NaN fails every comparison and so has a code.
        espyI8 code = espyCode_Unless(espyF8_LessEqual(d, w), espyCode_Near);
        code = espyI8_Or(code, espyCode_Unless(espyF8_LessEqual(zero, d), espyCode_Far));
        code = espyI8_Or(code, espyCode_Unless(espyF8_LessEqual(espyF8_Sub(zero, reach), x), espyCode_Left));
        code = espyI8_Or(code, espyCode_Unless(espyF8_LessEqual(x, reach), espyCode_Right));
        code = espyI8_Or(code, espyCode_Unless(espyF8_LessEqual(espyF8_Sub(zero, reach), y), espyCode_Top));
        code = espyI8_Or(code, espyCode_Unless(espyF8_LessEqual(y, reach), espyCode_Bottom));
        code = espyI8_Or(code, espyCode_Unless(inFront, espyCode_Behind));
        espyF8 inverse = espyF8_Div(one, espyF8_Select(inFront, w, one));
        espyF8 columns[4] = {espyF8_Floor(espyF8_Add(espyF8_Mul(x, inverse), half)),
                             espyF8_Floor(espyF8_Add(espyF8_Mul(y, inverse), half)),
                             espyF8_Add(espyF8_Min(espyF8_Mul(d, inverse), one), zero), espyI8_AsFloat(code)};
        espyF8_StoreRows((float*)(out + first), columns);
    }
}

// --- clipping

typedef struct espyClipVertex
{
    float x, y, d, w;
    uint32_t edge; ///< That starts here, as below.
} espyClipVertex;

/// Edges 0 to 2 of a cut triangle are parts of its own.
enum
{
    espyCutEdge_Seen = 3, ///< Made by a cut that can be on the screen.
    espyCutEdge_Off,      ///< Made by a cut at the guard band.
    espyCutEdge_Count,
};

/// Corners of a triangle cut by seven planes.
#define ESPY_MOST_CORNERS 10u

static inline float espyClip_RowOne(const float row[4], float x, float y, float z)
{
    return ((row[0] * x + row[1] * y) + row[2] * z) + row[3];
}

/// At least 0 inside the plane of a code.
static float espyClip_Inside(const espyClipVertex* v, uint32_t plane, float guard)
{
    switch (1u << plane)
    {
    case espyCode_Near:
        return v->w - v->d;
    case espyCode_Far:
        return v->d;
    case espyCode_Left:
        return guard * v->w + v->x;
    case espyCode_Right:
        return guard * v->w - v->x;
    case espyCode_Top:
        return guard * v->w + v->y;
    case espyCode_Bottom:
        return guard * v->w - v->y;
    default:
        return v->w - 2.0f * ESPY_LEAST_W;
    }
}

static inline float espyFloat_Clamp(float v, float low, float high)
{
    v = v > low ? v : low;
    return v < high ? v : high;
}

/// Cuts one triangle of a batch by the planes of `codes`; returns how many corners are left. edges[i] tells what the
/// edge from corner i to the next is.
/// Based on: I. Sutherland, G. Hodgman, "Reentrant Polygon Clipping", CACM 17(1), 1974.
static uint32_t espyTriangle_Clip(const espyRaster* raster, const espyiClip* clip, const float* positions,
                                  const uint8_t corners[3], uint32_t codes, espyScreenVertex out[ESPY_MOST_CORNERS],
                                  uint32_t edges[ESPY_MOST_CORNERS])
{
    espyClipVertex buffers[2][ESPY_MOST_CORNERS + 1];
    espyClipVertex* from = buffers[0];
    espyClipVertex* to = buffers[1];
    uint32_t count = 3;
    for (uint32_t i = 0; i < 3; ++i)
    {
        const float* p = positions + (corners[i] >> 3) * 24u + (corners[i] & 7u);
        from[i] = (espyClipVertex){
            espyClip_RowOne(clip->x, p[0], p[8], p[16]), espyClip_RowOne(clip->y, p[0], p[8], p[16]),
            espyClip_RowOne(clip->d, p[0], p[8], p[16]), espyClip_RowOne(clip->w, p[0], p[8], p[16]), i};
        float size = (from[i].x < 0.0f ? -from[i].x : from[i].x) + (from[i].y < 0.0f ? -from[i].y : from[i].y) +
                     (from[i].d < 0.0f ? -from[i].d : from[i].d) + (from[i].w < 0.0f ? -from[i].w : from[i].w);
        if (!(size < 1e30f))
        {
            return 0;
        }
    }
    for (uint32_t plane = 0; plane < espyCode_Count && count > 0; ++plane)
    {
        if (!(codes >> plane & 1u))
        {
            continue;
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; ++i)
        {
            const espyClipVertex *a = &from[i], *b = &from[i + 1 < count ? i + 1 : 0];
            float insideA = espyClip_Inside(a, plane, raster->guard),
                  insideB = espyClip_Inside(b, plane, raster->guard);
            if (insideA >= 0.0f)
            {
                to[kept++] = *a;
            }
            if ((insideA >= 0.0f) != (insideB >= 0.0f))
            {
                // Always from the inner to the outer one, so that both triangles at an edge get the same point.
                bool swap = insideB >= 0.0f;
                const espyClipVertex *in = swap ? b : a, *beyond = swap ? a : b;
                float insideIn = swap ? insideB : insideA, insideBeyond = swap ? insideA : insideB;
                float t = insideIn / (insideIn - insideBeyond);
                // Leaving, the cut begins; coming back, the edge goes on.
                uint32_t seen = espyCode_Near | espyCode_Far | espyCode_Behind;
                uint32_t cut = (seen >> plane & 1u) ? espyCutEdge_Seen : espyCutEdge_Off;
                to[kept++] = (espyClipVertex){in->x + t * (beyond->x - in->x), in->y + t * (beyond->y - in->y),
                                              in->d + t * (beyond->d - in->d), in->w + t * (beyond->w - in->w),
                                              swap ? a->edge : cut};
            }
            if (kept > ESPY_MOST_CORNERS - 1u)
            {
                return 0; // A convex polygon cannot get here; one bent by rounding is not worth drawing.
            }
        }
        espyClipVertex* swapped = from;
        from = to;
        to = swapped;
        count = kept;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!(from[i].w > ESPY_LEAST_W))
        {
            return 0;
        }
        float inverse = 1.0f / from[i].w;
        edges[i] = from[i].edge;
        float x = espyFloat_Clamp(from[i].x * inverse + 0.5f, -raster->guard, raster->guard);
        float y = espyFloat_Clamp(from[i].y * inverse + 0.5f, -raster->guard, raster->guard);
        int32_t wholeX = (int32_t)x, wholeY = (int32_t)y;
        out[i] = (espyScreenVertex){(float)(wholeX - ((float)wholeX > x ? 1 : 0)),
                                    (float)(wholeY - ((float)wholeY > y ? 1 : 0)),
                                    espyFloat_Clamp(from[i].d * inverse, 0.0f, 1.0f), 0};
    }
    return count;
}

// --- triangles

/// What a triangle is set up for.
typedef enum espySetupKind
{
    espySetupKind_Sampled = 0, ///< Depth at pixel centres.
    espySetupKind_Farthest,    ///< Depth nowhere nearer than the surface in the pixel.
    espySetupKind_Nearest,     ///< Depth nowhere farther.
} espySetupKind;

/// Eight triangles. Corners by y: top, middle, bottom; the long edge joins top and bottom.
typedef struct espySetup
{
    _Alignas(32) float xTop[8];
    float yTop[8], xMid[8], yMid[8], xLow[8], yLow[8];
    float slopeLong[8], slopeUpper[8], slopeLower[8]; ///< Columns by rows.
    float gx[8], gy[8], d[8], x[8], y[8], low[8], high[8];
    int32_t row0[8], row1[8], column0[8], column1[8]; ///< Centres within the bounds; half-open; not yet clamped.
    uint32_t clipped;                                 ///< One bit a lane: has a vertex that cannot be used.
    uint32_t front;                                   ///< One bit a lane: faces the right way and has an area.
    uint32_t back;  ///< Faces the other way and has an area; of Farthest only those that reach onto the screen.
    uint32_t drawn; ///< Front, and centres are within its bounds and the clamp.
} espySetup;

/// Rows and columns that a call works on, half-open.
typedef struct espyClamp
{
    int32_t row0, row1, column0, column1;
} espyClamp;

/// First column (or row) whose centre is at or behind a position; `first` is the centre of column 0.
ESPY_HOT espyI8 espyCentre_Behind(espyF8 position, float first, float step, uint32_t digits)
{
    espyI8 offset = espyI8_Set((int32_t)step - 1 - (int32_t)first);
    return espyI8_ShiftRight(espyI8_Add(espyF8_ToInt(position), offset), digits);
}

ESPY_HOT void espySetup_Swap(espyI8 swap, espyF8* a, espyF8* b)
{
    espyF8 keep = *a;
    *a = espyF8_Select(swap, *b, keep);
    *b = espyF8_Select(swap, keep, *b);
}

/// Twice the area of one lane, exactly.
static int64_t espySetup_ExactArea(const espyScreenVertex* const corners[3])
{
    int64_t x0 = (int64_t)corners[0]->x, y0 = (int64_t)corners[0]->y;
    return ((int64_t)corners[1]->x - x0) * ((int64_t)corners[2]->y - y0) -
           ((int64_t)corners[2]->x - x0) * ((int64_t)corners[1]->y - y0);
}

/// Eight triangles as far as it takes to leave them out.
typedef struct espyFacing
{
    espyF8 x[3], y[3], d[3];
    espyF8 x10, y10, x20, y20, area;
    espyF8 xMin, xMax, yMin, yMax;
    espyI8 column0, column1, row0, row1; ///< As in espySetup, and so are the bits.
    uint32_t clipped, front, back, drawn;
} espyFacing;

/// Finds what faces the right way and has centres in its bounds. Lanes outside `lanes` are ignored, and so are those
/// with a vertex that cannot be used, which out->clipped tells. With `bothSides` every lane is front, also without an
/// area.
ESPY_HOT void espyFacing_Find(const espyRaster* raster, const espyScreenVertex* const vertices[3][8], uint32_t lanes,
                              bool flip, bool bothSides, const espyClamp* clamp, espyFacing* out)
{
    espyF8* x = out->x;
    espyF8* y = out->y;
    espyI8 codes = espyI8_Set(0);
    for (int c = 0; c < 3; ++c)
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
        out->d[c] = columns[2];
        codes = espyI8_Or(codes, espyF8_AsInt(columns[3]));
    }
    out->clipped = espyI8_Bits(espyI8_Greater(codes, espyI8_Set(0))) & lanes;
    lanes &= ~out->clipped;
    // Facing. y runs down, so that a counter-clockwise triangle has a negative area.
    out->x10 = espyF8_Sub(x[1], x[0]), out->y10 = espyF8_Sub(y[1], y[0]);
    out->x20 = espyF8_Sub(x[2], x[0]), out->y20 = espyF8_Sub(y[2], y[0]);
    espyF8 product0 = espyF8_Mul(out->x10, out->y20), product1 = espyF8_Mul(out->x20, out->y10);
    espyF8 area = espyF8_Sub(product0, product1);
    espyF8 doubt = espyF8_Mul(espyF8_Add(espyF8_Abs(product0), espyF8_Abs(product1)), espyF8_Set(0x1p-22f));
    uint32_t doubtful = espyI8_Bits(espyF8_LessEqual(espyF8_Abs(area), doubt)) & lanes;
    if (doubtful)
    {
        float exact[8];
        espyF8_Store(exact, area);
        for (; doubtful; doubtful &= doubtful - 1u)
        {
            uint32_t i = espyBits_Lowest(doubtful);
            const espyScreenVertex* const corners[3] = {vertices[0][i], vertices[1][i], vertices[2][i]};
            exact[i] = (float)espySetup_ExactArea(corners);
        }
        area = espyF8_Load(exact);
    }
    const espyF8 zero = espyF8_Set(0.0f);
    espyI8 facing = flip ? espyF8_Less(zero, area) : espyF8_Less(area, zero);
    out->area = area;
    out->front = bothSides ? lanes : espyI8_Bits(facing) & lanes;
    out->back = espyI8_Bits(flip ? espyF8_Less(area, zero) : espyF8_Less(zero, area)) & lanes;
    // Bounds in whole columns and rows.
    const uint32_t digits = raster->subPixelBits;
    out->xMin = espyF8_Min(espyF8_Min(x[0], x[1]), x[2]), out->xMax = espyF8_Max(espyF8_Max(x[0], x[1]), x[2]);
    out->yMin = espyF8_Min(espyF8_Min(y[0], y[1]), y[2]), out->yMax = espyF8_Max(espyF8_Max(y[0], y[1]), y[2]);
    out->column0 = espyCentre_Behind(out->xMin, raster->column0, raster->step, digits);
    out->column1 = espyCentre_Behind(out->xMax, raster->column0, raster->step, digits);
    out->row0 = espyCentre_Behind(out->yMin, raster->row0, raster->step, digits);
    out->row1 = espyCentre_Behind(out->yMax, raster->row0, raster->step, digits);
    espyI8 rows =
        espyI8_Greater(espyI8_Min(out->row1, espyI8_Set(clamp->row1)), espyI8_Max(out->row0, espyI8_Set(clamp->row0)));
    espyI8 columns = espyI8_Greater(espyI8_Min(out->column1, espyI8_Set(clamp->column1)),
                                    espyI8_Max(out->column0, espyI8_Set(clamp->column0)));
    out->drawn = espyI8_Bits(espyI8_And(rows, columns)) & out->front;
}

/// Sets up eight triangles given by the vertices of their corners; lanes and sides as above.
ESPY_HOT void espySetup_Fill(const espyRaster* raster, const espyScreenVertex* const vertices[3][8], uint32_t lanes,
                             bool flip, bool bothSides, espySetupKind kind, const espyClamp* clamp, espySetup* out)
{
    espyFacing f;
    espyFacing_Find(raster, vertices, lanes, flip, bothSides, clamp, &f);
    out->clipped = f.clipped;
    out->front = f.front;
    out->back = f.back;
    out->drawn = f.drawn;
    if (kind == espySetupKind_Sampled ? !f.drawn : !f.front)
    {
        return;
    }
    if (out->back && kind == espySetupKind_Farthest)
    {
        // Of the whole screen, whatever the clamp: all bands must come to the same answer.
        espyI8 rowsOn = espyI8_And(espyI8_Greater(espyI8_Add(f.row1, espyI8_Set(1)), espyI8_Set(0)),
                                   espyI8_Greater(espyI8_Set(raster->height + 1), f.row0));
        espyI8 columnsOn = espyI8_And(espyI8_Greater(espyI8_Add(f.column1, espyI8_Set(1)), espyI8_Set(0)),
                                      espyI8_Greater(espyI8_Set(raster->width + 1), f.column0));
        out->back &= espyI8_Bits(espyI8_And(rowsOn, columnsOn));
    }
    const espyF8 zero = espyF8_Set(0.0f);
    espyF8 *x = f.x, *y = f.y, *d = f.d;
    espyI8_Store(out->column0, f.column0);
    espyI8_Store(out->column1, f.column1);
    espyI8_Store(out->row0, f.row0);
    espyI8_Store(out->row1, f.row1);

    // The plane, from the farthest corner, where d is least and must be finest.
    espyF8 d10 = espyF8_Sub(d[1], d[0]), d20 = espyF8_Sub(d[2], d[0]);
    espyF8 inverse = espyF8_Div(espyF8_Set(1.0f), f.area);
    espyF8 gx = espyF8_Mul(espyF8_Sub(espyF8_Mul(d10, f.y20), espyF8_Mul(d20, f.y10)), inverse);
    espyF8 gy = espyF8_Mul(espyF8_Sub(espyF8_Mul(d20, f.x10), espyF8_Mul(d10, f.x20)), inverse);
    espyI8 one = espyF8_Less(d[1], d[0]);
    espyF8 low = espyF8_Select(one, d[1], d[0]);
    espyF8 lowX = espyF8_Select(one, x[1], x[0]), lowY = espyF8_Select(one, y[1], y[0]);
    espyI8 two = espyF8_Less(d[2], low);
    low = espyF8_Select(two, d[2], low);
    lowX = espyF8_Select(two, x[2], lowX);
    lowY = espyF8_Select(two, y[2], lowY);
    espyF8 high = espyF8_Max(espyF8_Max(d[0], d[1]), d[2]);
    // Slivers: gradients are rounded by this much more than what they are differences of. From 2^12 on they mean
    // little, and the depth of the farthest (or nearest) corner stands for all of it.
    espyF8 size = espyF8_Mul(espyF8_Sub(f.xMax, f.xMin), espyF8_Sub(f.yMax, f.yMin));
    espyI8 sliver = espyF8_LessEqual(espyF8_Mul(espyF8_Abs(f.area), espyF8_Set(4096.0f)), size);
    gx = espyF8_Select(sliver, zero, gx);
    gy = espyF8_Select(sliver, zero, gy);
    espyF8 base = low;
    if (kind != espySetupKind_Sampled)
    {
        // Half a pixel and what snapping moved, along the gradient; and the rounding of the plane itself.
        espyF8 reach = espyF8_Mul(espyF8_Add(espyF8_Abs(gx), espyF8_Abs(gy)), espyF8_Set(raster->step * 0.5f + 1.0f));
        espyF8 thin = espyF8_Select(sliver, zero, espyF8_Mul(size, espyF8_Abs(inverse)));
        espyF8 spread = espyF8_Mul(espyF8_Add(espyF8_Abs(d10), espyF8_Abs(d20)), espyF8_Add(thin, espyF8_Set(1.0f)));
        espyF8 slack = espyF8_Mul(espyF8_Add(high, spread), espyF8_Set(0x1p-20f));
        reach = espyF8_Add(reach, slack);
        if (kind == espySetupKind_Farthest)
        {
            base = espyF8_Sub(base, reach);
            low = espyF8_Mul(low, espyF8_Set(1.0f - 0x1p-20f));
        }
        else
        {
            espyF8 growth = espyF8_Set(ESPYI_DEPTH_GROWTH);
            base = espyF8_Select(sliver, high, espyF8_Add(base, reach));
            base = espyF8_Mul(base, growth);
            gx = espyF8_Mul(gx, growth);
            gy = espyF8_Mul(gy, growth);
            high = espyF8_Mul(high, growth);
        }
    }
    espyF8_Store(out->gx, gx);
    espyF8_Store(out->gy, gy);
    espyF8_Store(out->d, base);
    espyF8_Store(out->x, lowX);
    espyF8_Store(out->y, lowY);
    espyF8_Store(out->low, low);
    espyF8_Store(out->high, high);

    // Corners by y.
    espyI8 swap = espyF8_Less(y[1], y[0]);
    espySetup_Swap(swap, &x[0], &x[1]);
    espySetup_Swap(swap, &y[0], &y[1]);
    swap = espyF8_Less(y[2], y[1]);
    espySetup_Swap(swap, &x[1], &x[2]);
    espySetup_Swap(swap, &y[1], &y[2]);
    swap = espyF8_Less(y[1], y[0]);
    espySetup_Swap(swap, &x[0], &x[1]);
    espySetup_Swap(swap, &y[0], &y[1]);
    // Flat edges have no rows of their own; their slope only has to be finite.
    const espyF8 least = espyF8_Set(1.0f);
    espyF8_Store(out->slopeLong, espyF8_Div(espyF8_Sub(x[2], x[0]), espyF8_Max(espyF8_Sub(y[2], y[0]), least)));
    espyF8_Store(out->slopeUpper, espyF8_Div(espyF8_Sub(x[1], x[0]), espyF8_Max(espyF8_Sub(y[1], y[0]), least)));
    espyF8_Store(out->slopeLower, espyF8_Div(espyF8_Sub(x[2], x[1]), espyF8_Max(espyF8_Sub(y[2], y[1]), least)));
    espyF8_Store(out->xTop, x[0]);
    espyF8_Store(out->yTop, y[0]);
    espyF8_Store(out->xMid, x[1]);
    espyF8_Store(out->yMid, y[1]);
    espyF8_Store(out->xLow, x[2]);
    espyF8_Store(out->yLow, y[2]);
}

static inline espyiPlane espySetup_GetPlane(const espySetup* s, uint32_t lane, uint32_t id)
{
    return (espyiPlane){s->gx[lane], s->gy[lane], s->d[lane], s->x[lane], s->y[lane], s->low[lane], s->high[lane], id};
}

// --- spans

typedef struct espySpans
{
    espyS8 from, to;
    int32_t first, last; ///< Columns of all rows, half-open.
} espySpans;

/// Column of the first centre at or right of an edge in a row, in integers.
static int32_t espyEdge_ExactColumn(const espyRaster* raster, float x0, float y0, float x1, float y1, float y)
{
    int64_t dx = (int64_t)x1 - (int64_t)x0, dy = (int64_t)y1 - (int64_t)y0;
    int64_t product = ((int64_t)y - (int64_t)y0) * dx;
    int64_t along = product / dy;
    along += (product > 0 && along * dy != product) ? 1 : 0; // Up: the division cuts towards 0.
    int64_t position = (int64_t)x0 + along - (int64_t)raster->column0 + (int64_t)raster->step - 1;
    return (int32_t)(position >> raster->subPixelBits);
}

/// Which pixels of eight rows have their centre inside: by each edge, the column where it crosses the row. One column
/// for both triangles at an edge, so that no pixel is drawn twice or left out; centres on an edge belong to the
/// triangle right of it, on a flat edge to the one below it.
ESPY_HOT espySpans espySetup_GetSpans(const espyRaster* raster, const espySetup* s, uint32_t lane, uint32_t tileRow,
                                      const espyClamp* clamp)
{
    static const float rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32_t digits = raster->subPixelBits;
    float first = espyiRaster_Row(raster, tileRow * ESPYI_TILE);
    espyF8 y = espyF8_Add(espyF8_Set(first), espyF8_Mul(espyF8_Load(rows), espyF8_Set(raster->step)));
    espyF8 xTop = espyF8_Set(s->xTop[lane]), yTop = espyF8_Set(s->yTop[lane]);
    espyF8 xMid = espyF8_Set(s->xMid[lane]), yMid = espyF8_Set(s->yMid[lane]);
    espyF8 yLow = espyF8_Set(s->yLow[lane]);
    espyI8 valid = espyI8_And(espyF8_LessEqual(yTop, y), espyF8_Less(y, yLow));
    espyF8 inside = espyF8_Min(espyF8_Max(y, yTop), yLow);
    espyI8 upper = espyF8_Less(y, yMid);
    espyF8 yStart = espyF8_Select(upper, yTop, yMid), xStart = espyF8_Select(upper, xTop, xMid);
    espyF8 slope = espyF8_Select(upper, espyF8_Set(s->slopeUpper[lane]), espyF8_Set(s->slopeLower[lane]));
    const espyF8 zero = espyF8_Set(0.0f);
    espyF8 alongLong = espyF8_Mul(espyF8_Sub(inside, yTop), espyF8_Set(s->slopeLong[lane]));
    espyF8 alongShort = espyF8_Mul(espyF8_Sub(inside, yStart), slope);
    // x + ceil(along), so that adding rounds nothing.
    espyI8 offset = espyI8_Set((int32_t)raster->step - 1 - (int32_t)raster->column0);
    espyI8 positionLong =
        espyI8_Sub(espyI8_Add(espyF8_ToInt(xTop), offset), espyF8_ToInt(espyF8_Floor(espyF8_Sub(zero, alongLong))));
    espyI8 positionShort =
        espyI8_Sub(espyI8_Add(espyF8_ToInt(xStart), offset), espyF8_ToInt(espyF8_Floor(espyF8_Sub(zero, alongShort))));
    espyI8 columnLong = espyI8_ShiftRight(positionLong, digits);
    espyI8 columnShort = espyI8_ShiftRight(positionShort, digits);
    // `along` is off by at most one sub-pixel. Only where that reaches a centre does it matter.
    const espyI8 below = espyI8_Set((1 << digits) - 1), two = espyI8_Set(2);
    espyI8 behind =
        espyI8_Min(espyI8_And(espyI8_Add(positionLong, two), below), espyI8_And(espyI8_Add(positionShort, two), below));
    uint32_t doubtful = 0xFFu ^ espyI8_Bits(espyI8_Greater(behind, two));
    if (doubtful && (doubtful &= espyI8_Bits(valid)))
    {
        int32_t longs[8], shorts[8];
        espyI8_Store(longs, columnLong);
        espyI8_Store(shorts, columnShort);
        for (; doubtful; doubtful &= doubtful - 1u)
        {
            uint32_t i = espyBits_Lowest(doubtful);
            float at = first + rows[i] * raster->step;
            longs[i] = espyEdge_ExactColumn(raster, s->xTop[lane], s->yTop[lane], s->xLow[lane], s->yLow[lane], at);
            shorts[i] =
                at < s->yMid[lane]
                    ? espyEdge_ExactColumn(raster, s->xTop[lane], s->yTop[lane], s->xMid[lane], s->yMid[lane], at)
                    : espyEdge_ExactColumn(raster, s->xMid[lane], s->yMid[lane], s->xLow[lane], s->yLow[lane], at);
        }
        columnLong = espyI8_Load(longs);
        columnShort = espyI8_Load(shorts);
    }
    espyI8 from = espyI8_Max(espyI8_Min(columnLong, columnShort), espyI8_Set(clamp->column0));
    espyI8 to = espyI8_Min(espyI8_Max(columnLong, columnShort), espyI8_Set(clamp->column1));
    from = espyI8_Select(valid, from, espyI8_Set(32767));
    to = espyI8_Select(valid, espyI8_Max(to, espyI8_Set(0)), espyI8_Set(0));
    espySpans spans = {.from = espyS8_FromInts(from), .to = espyS8_FromInts(to)};
    spans.first = espyS8_Lowest(spans.from);
    spans.last = espyS8_Highest(spans.to);
    return spans;
}

/// How far float columns may be off, and snapped corners from true ones; sub-pixels.
#define ESPY_TOUCH_DOUBT 3

/// Spans of the pixels that a range of x in each row touches.
ESPY_HOT espySpans espySpans_Touching(const espyRaster* raster, espyF8 xMin, espyF8 xMax, espyI8 valid,
                                      const espyClamp* clamp)
{
    const uint32_t digits = raster->subPixelBits;
    int32_t edge = (int32_t)(raster->column0 - 0.5f * raster->step);
    espyI8 from = espyI8_Sub(espyF8_ToInt(espyF8_Floor(xMin)), espyI8_Set(edge + ESPY_TOUCH_DOUBT));
    espyI8 to = espyI8_Add(espyF8_ToInt(espyF8_Floor(xMax)), espyI8_Set((1 << digits) + ESPY_TOUCH_DOUBT - edge));
    from = espyI8_Max(espyI8_ShiftRight(from, digits), espyI8_Set(clamp->column0));
    to = espyI8_Min(espyI8_ShiftRight(to, digits), espyI8_Set(clamp->column1));
    from = espyI8_Select(valid, from, espyI8_Set(32767));
    to = espyI8_Select(valid, espyI8_Max(to, espyI8_Set(0)), espyI8_Set(0));
    espySpans spans = {.from = espyS8_FromInts(from), .to = espyS8_FromInts(to)};
    spans.first = espyS8_Lowest(spans.from);
    spans.last = espyS8_Highest(spans.to);
    return spans;
}

/// Upper and lower border of eight rows of pixels, and which of the rows a range of y touches.
ESPY_HOT espyI8 espyRows_Touching(const espyRaster* raster, uint32_t tileRow, float yMin, float yMax, espyF8* upper,
                                  espyF8* lower)
{
    static const float rows[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    float first = espyiRaster_Row(raster, tileRow * ESPYI_TILE) - 0.5f * raster->step;
    *upper = espyF8_Add(espyF8_Set(first), espyF8_Mul(espyF8_Load(rows), espyF8_Set(raster->step)));
    *lower = espyF8_Add(*upper, espyF8_Set(raster->step));
    return espyI8_And(espyF8_LessEqual(espyF8_Sub(*upper, espyF8_Set((float)ESPY_TOUCH_DOUBT)), espyF8_Set(yMax)),
                      espyF8_LessEqual(espyF8_Set(yMin), espyF8_Add(*lower, espyF8_Set((float)ESPY_TOUCH_DOUBT))));
}

/// Every pixel of eight rows that the triangle touches.
ESPY_HOT espySpans espySetup_GetTouched(const espyRaster* raster, const espySetup* s, uint32_t lane, uint32_t tileRow,
                                        const espyClamp* clamp)
{
    espyF8 upper, lower;
    espyI8 valid = espyRows_Touching(raster, tileRow, s->yTop[lane], s->yLow[lane], &upper, &lower);
    espyF8 xTop = espyF8_Set(s->xTop[lane]), xMid = espyF8_Set(s->xMid[lane]), xLow = espyF8_Set(s->xLow[lane]);
    espyF8 yTop = espyF8_Set(s->yTop[lane]), yMid = espyF8_Set(s->yMid[lane]), yLow = espyF8_Set(s->yLow[lane]);
    if (s->yTop[lane] >= s->yLow[lane])
    {
        espyF8 least = espyF8_Min(espyF8_Min(xTop, xMid), xLow), most = espyF8_Max(espyF8_Max(xTop, xMid), xLow);
        return espySpans_Touching(raster, least, most, valid, clamp);
    }
    espyF8 above = espyF8_Min(espyF8_Max(upper, yTop), yLow), below = espyF8_Min(espyF8_Max(lower, yTop), yLow);
    espyF8 slopeLong = espyF8_Set(s->slopeLong[lane]);
    espyF8 slopeUpper = espyF8_Set(s->slopeUpper[lane]), slopeLower = espyF8_Set(s->slopeLower[lane]);
    espyF8 long0 = espyF8_Add(xTop, espyF8_Mul(espyF8_Sub(above, yTop), slopeLong));
    espyF8 long1 = espyF8_Add(xTop, espyF8_Mul(espyF8_Sub(below, yTop), slopeLong));
    espyI8 startsAbove = espyF8_Less(above, yMid), endsBelow = espyF8_Less(yMid, below);
    espyF8 x0 = espyF8_Select(startsAbove, xTop, xMid), y0 = espyF8_Select(startsAbove, yTop, yMid);
    espyF8 x1 = espyF8_Select(endsBelow, xMid, xTop), y1 = espyF8_Select(endsBelow, yMid, yTop);
    espyF8 short0 =
        espyF8_Add(x0, espyF8_Mul(espyF8_Sub(above, y0), espyF8_Select(startsAbove, slopeUpper, slopeLower)));
    espyF8 short1 = espyF8_Add(x1, espyF8_Mul(espyF8_Sub(below, y1), espyF8_Select(endsBelow, slopeLower, slopeUpper)));
    // The middle corner, where the row or its border holds it.
    espyI8 atMid = espyI8_And(espyF8_LessEqual(above, yMid), espyF8_LessEqual(yMid, below));
    espyF8 mid = espyF8_Select(atMid, xMid, long0);
    espyF8 least = espyF8_Min(espyF8_Min(espyF8_Min(long0, long1), espyF8_Min(short0, short1)), mid);
    espyF8 most = espyF8_Max(espyF8_Max(espyF8_Max(long0, long1), espyF8_Max(short0, short1)), mid);
    return espySpans_Touching(raster, least, most, valid, clamp);
}

ESPY_HOT void espySetup_Clamp(const espySetup* s, uint32_t lane, const espyClamp* clamp, espyClamp* out)
{
    out->row0 = s->row0[lane] > clamp->row0 ? s->row0[lane] : clamp->row0;
    out->row1 = s->row1[lane] < clamp->row1 ? s->row1[lane] : clamp->row1;
    out->column0 = s->column0[lane] > clamp->column0 ? s->column0[lane] : clamp->column0;
    out->column1 = s->column1[lane] < clamp->column1 ? s->column1[lane] : clamp->column1;
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
