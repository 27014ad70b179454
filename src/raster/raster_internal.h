// SPDX-License-Identifier: MIT
// How a raster is laid out, and the table of kernels that work on it.
//
// Depth inside is d: 1 at the near plane, 0 at the far plane or at infinity, whatever the projection's own direction,
// so that nearer is greater, a cleared pixel is 0 and floats are finest where the distance is greatest.
//
// Pixels are kept in tiles of 8 x 8. A tile is in one of three states:
//
//     Clear    nothing was drawn: all 64 depths are 0 and are not stored;
//     Pixels   64 depths by rows;
//     Plane    one triangle covers all of it: the state names one of the planes that belong to the row of tiles.
//
// so that clearing and walls touch only what is kept a tile: the least and greatest d and the state, each in an array
// of its own, eight of which are worked on together. Cells of 8 x 8 tiles hold the least of their tiles.
//
// Positions on the screen are whole numbers of sub-pixels from the middle of the screen, y down, within +-2^22: exact
// as floats and as integers.
#ifndef ESPYI_RASTER_INTERNAL_H
#define ESPYI_RASTER_INTERNAL_H

#include <espy/raster.h>

#include "core/core.h"

#define ESPYI_TILE 8u
#define ESPYI_TILE_PIXELS 64u
/// Tiles of a coarse cell along each side.
#define ESPYI_COARSE 8u
#define ESPYI_BATCH_TRIANGLES 255u
#define ESPYI_BATCH_VERTICES 256u
/// Neighbour that is not in the batch.
#define ESPYI_NO_NEIGHBOUR 0xFFu

/// d(x, y) = clamp((d + gx * (x - x0)) + gy * (y - y0), low, high), in this order of operations.
typedef struct espyiPlane
{
    float gx, gy, d, x, y, low, high;
    uint32_t id;
} espyiPlane;

typedef enum espyiTileState
{
    espyiTileState_Clear = 0,
    espyiTileState_Pixels,
    espyiTileState_FirstPlane, ///< This and all above name a plane.
} espyiTileState;

typedef struct espyiCoarse
{
    float min;      ///< Least tileMin, once no tile is empty; 0 before.
    uint32_t empty; ///< Tiles whose tileMin is 0.
} espyiCoarse;

/// What one batch claims in a tile, Conservative mode.
typedef struct espyiClaim
{
    uint64_t cover; ///< Centre inside a front face.
    uint64_t edge;  ///< Touched by a silhouette or border edge.
    float min;      ///< Least d of every front face that reaches into the tile.
    uint32_t stamp;
    uint32_t plane; ///< Of the one triangle that reaches into it, or ESPYI_MANY.
} espyiClaim;

#define ESPYI_MANY 0xFFFFFFFFu

/// World-to-clip (or mesh-to-clip) as rows: x and y scaled to sub-pixels, w, and d times w.
typedef struct espyiClip
{
    float x[4], y[4], w[4], d[4];
} espyiClip;

struct espyRaster
{
    espyHooks hooks;
    espyRasterMode mode;
    espyIsa isa;
    const struct espyiRasterKernels* kernels;
    bool ids, reversedZ, begun;
    int32_t width, height;
    uint32_t tilesX, tilesY; ///< Of tiles that hold pixels.
    uint32_t stride;         ///< Of tiles in a row of tileMin: tilesX rounded up to coarse cells.
    uint32_t coarseX, coarseY;
    uint32_t subPixelBits, wantedBits;
    float guard;         ///< |x|, |y| <= guard * w is drawn without clipping; sub-pixels.
    float column0, row0; ///< Centre of the first column and row, sub-pixels.
    float step;          ///< Sub-pixels of a pixel.
    espyMat4 viewProjection;
    espyiClip view;
    bool viewFlips;      ///< The view mirrors: front faces are clockwise on the screen.
    uint32_t stamp;      ///< Last one used in claims.
    uint32_t planeSlots; ///< Planes that a row of tiles can name; where they are used up, pixels are stored.
    float* tileMin;      ///< stride * 8 * coarseY; entries that are no tiles hold 2.
    float* tileMax;      ///< At least every d in the tile; stride * tilesY, and so are the next two.
    uint32_t* tileState;
    uint64_t* tileCover; ///< Of Pixels; bit 8 * row + column: something was drawn.
    espyiPlane* planes;  ///< planeSlots a row of tiles.
    uint32_t* planeCounts;
    espyiCoarse* coarse;
    float* pixels; ///< 64 a tile.
    uint32_t* idPixels;
    espyiClaim* claims;             ///< Conservative mode.
    uint32_t* touched;              ///< Conservative mode: tiles claimed by the batch; a band uses its own part.
    struct espyiSortEntry* entries; ///< Two runs of maxBatches.
    uint32_t maxBatches;
    espyRasterStats stats;
    struct espyRecording* recording;
};

/// Part of the screen that one call works on: rows of tiles, and its own stamps.
typedef struct espyiBand
{
    uint32_t tileRow0, tileRow1;
    uint32_t stamp; ///< Of the last batch, Conservative mode.
    espyRasterStats stats;
} espyiBand;

/// Triangles of a batch that hang together, one after the other: those that it draws, then those around them.
typedef struct espyiPart
{
    uint8_t ownCount, triangleCount;
} espyiPart;

/// Triangles of one draw call of the kernels.
typedef struct espyiBatchView
{
    const float* positions;    ///< x[8] y[8] z[8] for each eight vertices.
    const uint8_t* indices;    ///< 3 a triangle.
    const uint8_t* neighbours; ///< 3 a triangle across edges 01, 12, 20, or null: none.
    uint32_t vertexCount;
    uint32_t triangleCount;
    /// So many pairs of triangles come first, each the halves of a flat convex quad: corners 0 1 2 and 0 2 3.
    uint32_t quadCount;
    const espyiPart* parts; ///< Conservative mode; null: every triangle is one of its own.
    uint32_t partCount;
    uint32_t id;
    bool flip; ///< Draw those that are clockwise on the screen.
} espyiBatchView;

typedef struct espyiProjectedBox
{
    espyVisibility visibility; ///< Outside; Visible where it crosses the near plane; Unknown where rect and d are set.
    espyPixelRect rect;        ///< Pixels that the box can touch, on the screen.
    float d;                   ///< Of the nearest corner.
} espyiProjectedBox;

struct espyiProbe;

typedef struct espyiRasterKernels
{
    void (*drawBatch)(espyRaster* raster, espyiBand* band, const espyiClip* clip, const espyiBatchView* batch);
    /// True where some pixel of a rectangle on the screen has a d at or below `d`.
    bool (*testRect)(const espyRaster* raster, espyPixelRect rect, float d);
    void (*projectBox)(const espyRaster* raster, const espyiClip* clip, espyBox box, espyiProjectedBox* out);
    /// True where a touched pixel shows any of the triangles, or one crosses the near plane. `flip` as in the batch;
    /// both sides where twoSided.
    bool (*testBatch)(const espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch, bool twoSided);
    /// Takes the nearer of both in one tile.
    void (*mergeTile)(espyRaster* raster, const espyRaster* other, uint32_t tile);
    /// Adds the fragments of both sides that pass (raster_probe.h).
    void (*probeBatch)(const espyRaster* raster, const espyiClip* clip, const espyiBatchView* batch,
                       struct espyiProbe* probe);
} espyiRasterKernels;

/// Kernels of one instruction set; null where this build or target has none.
const espyiRasterKernels* espyiRaster_GetScalar(void);
const espyiRasterKernels* espyiRaster_GetSse41(void);
const espyiRasterKernels* espyiRaster_GetAvx2(void);
const espyiRasterKernels* espyiRaster_GetAvx512(void);
const espyiRasterKernels* espyiRaster_GetNeon(void);
const espyiRasterKernels* espyiRaster_GetWasm128(void);

/// The kernels that a raster uses, and their instruction set.
const espyiRasterKernels* espyiRaster_Pick(espyIsa cap, espyIsa* isa);

/// Tests kept for tests of shapes: grown so that what was rounded on either side cannot hide the shape.
#define ESPYI_DEPTH_GROWTH (1.0f + 1.0f / 65536.0f)

/// Centre of a column or row.
static inline float espyiRaster_Column(const espyRaster* raster, uint32_t column)
{
    return raster->column0 + (float)(int32_t)column * raster->step;
}
static inline float espyiRaster_Row(const espyRaster* raster, uint32_t row)
{
    return raster->row0 + (float)(int32_t)row * raster->step;
}

/// The plane that a state above Pixels names.
static inline const espyiPlane* espyiRaster_Plane(const espyRaster* raster, uint32_t state)
{
    return &raster->planes[state - espyiTileState_FirstPlane];
}

static inline float espyiPlane_At(const espyiPlane* plane, float x, float y)
{
    float d = (plane->d + plane->gx * (x - plane->x)) + plane->gy * (y - plane->y);
    d = d > plane->low ? d : plane->low;
    return d < plane->high ? d : plane->high;
}

/// One batch to draw in its turn.
typedef struct espyiSortEntry
{
    uint32_t key; ///< Less is nearer.
    uint32_t draw, batch;
    float d; ///< Of the nearest corner; above 1 where it crosses the near plane.
    int16_t x0, y0, x1, y1;
} espyiSortEntry;

/// Mesh-to-clip of a raster. `eye` is the homogeneous point of view in mesh space, with the sign that makes its product
/// with the plane of a front face positive. Returns whether front faces are clockwise on the screen.
bool espyiRaster_MakeClip(const espyRaster* raster, const espyMat4* toWorld, espyiClip* clip, float eye[4]);

/// Bounds grown so that their corners, when rounded, hold the rounded vertices.
espyBox espyiBatch_SafeBounds(espyBox bounds);

/// d of a depth in the projection's convention, and back.
static inline float espyiRaster_Flip(const espyRaster* raster, float depth)
{
    return raster->reversedZ ? depth : 1.0f - depth;
}

/// Up to 85 triangles with vertices of their own, in the layout of a batch.
#define ESPYI_LOOSE_TRIANGLES 85u
typedef struct espyiLoose
{
    float positions[24u * ((3u * ESPYI_LOOSE_TRIANGLES + 7u) / 8u)];
    uint8_t indices[3u * ESPYI_LOOSE_TRIANGLES];
    uint32_t triangleCount;
} espyiLoose;

/// Gathers triangles from *next on, which moves behind them. Triangles with an index past the end are left out; returns
/// how many those were.
uint32_t espyiLoose_Gather(espyiLoose* loose, const espyTriangles* triangles, uint32_t* next);
espyiBatchView espyiLoose_View(const espyiLoose* loose);

/// Square root; a bound from above where there is no instruction for it.
static inline float espyiFloat_Root(float v)
{
#if defined(__GNUC__)
    return __builtin_sqrtf(v);
#else
    // Newton from above: only bounds are made of it.
    float root = v > 1.0f ? v : 1.0f;
    for (uint32_t i = 0; i < 64; ++i)
    {
        root = 0.5f * (root + v / root);
    }
    return root * 1.00001f;
#endif
}

// --- occluders

typedef struct espyiBatch
{
    espyBox bounds; ///< Of its own triangles.
    espyVec3 coneAxis;
    float coneSine;      ///< Sine of the angle around the axis that holds all normals; above 1 where it is no use.
    uint32_t firstGroup; ///< Of eight vertices.
    uint32_t firstTriangle;
    uint32_t firstPart, partCount;
    uint16_t vertexCount;
    uint8_t triangleCount;
    uint8_t quadCount; ///< As in the view.
} espyiBatch;

struct espyOccluder
{
    espyHooks hooks;
    espyRasterMode mode;
    bool twoSided;
    espyBox bounds;
    espyiBatch* batches;
    float* positions;
    uint8_t* indices;
    uint8_t* neighbours; ///< Conservative mode, and so are parts.
    espyiPart* parts;
    uint32_t partCount;
    uint32_t batchCount, triangleCount;
};

static inline espyiBatchView espyiOccluder_View(const espyOccluder* occluder, const espyiBatch* batch)
{
    return (espyiBatchView){.positions = occluder->positions + (size_t)batch->firstGroup * 24u,
                            .indices = occluder->indices + (size_t)batch->firstTriangle * 3u,
                            .neighbours =
                                occluder->neighbours ? occluder->neighbours + (size_t)batch->firstTriangle * 3u : NULL,
                            .vertexCount = batch->vertexCount,
                            .triangleCount = batch->triangleCount,
                            .quadCount = batch->quadCount,
                            .parts = occluder->parts ? occluder->parts + batch->firstPart : NULL,
                            .partCount = batch->partCount};
}

// --- recording; each is called only where raster->recording is set

void espyiRecord_View(const espyRaster* raster, const espyMat4* viewProjection, bool clears);
void espyiRecord_Triangles(const espyRaster* raster, const espyTriangles* triangles, const espyMat4* toWorld,
                           uint32_t id, bool twoSided);
void espyiRecord_Occluder(const espyRaster* raster, const espyOccluder* occluder, const espyMat4* toWorld, uint32_t id);
void espyiRecord_Rect(const espyRaster* raster, espyPixelRect rect, float depth, espyVisibility answer);
void espyiRecord_Box(const espyRaster* raster, espyBox box, espyVisibility answer);
void espyiRecord_Mesh(const espyRaster* raster, const espyTriangles* triangles, const espyMat4* toWorld,
                      espyVisibility answer);

#endif
