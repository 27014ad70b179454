// SPDX-License-Identifier: MIT
// A software rasteriser for occlusion: depth (and object ids) of chosen occluders on the CPU, and tests against them.
//
//     espyRasterDef def = espyRasterDef_Default();             once: a buffer ...
//     def.width = 640, def.height = 360;
//     espyRaster_Create(&def, &raster);
//     espyOccluder_Create(&occluderDef, &occluder);            ... and each mesh that occludes, prepared
//
//     espyRaster_Begin(raster, &viewProjection);               every frame: clear and set the view,
//     espyRaster_DrawSorted(raster, draws, drawCount, NULL);   draw what occludes, near batches first,
//     if (espyRaster_TestBox(raster, box) >= espyVisibility_Outside) ...   and skip what is outside or occluded
//
// Two modes, each a contract
//   Sampled       What a GPU does: a pixel is covered where its centre is inside the triangle, ties by the top-left
//                 rule, and its depth is the plane of the triangle at the centre; two triangles of an occluder that
//                 make a flat convex quad share the plane of one. Ids are those of the nearest surface.
//                 Tests take every pixel that the tested shape touches, with the shape's nearest depth: Occluded means
//                 that no touched pixel's centre shows it. What shows between centres only is not seen by this mode.
//   Conservative  A pixel counts as covered only where the surface that is drawn covers all of it, and its depth is
//                 nowhere nearer than any point of the surface in it. Silhouette and border edges shrink inward by the
//                 pixels that they touch; edges between two faces of the same side do not. Occluded means hidden at
//                 every point of every pixel, between centres as well.
//
// Depth is 0..1 in the convention of the projection: 0 at the near plane, or 1 with `reversedZ`. Any projection is
// taken: perspective, off-centre, oblique near plane, orthographic, far plane finite or at infinity. Triangles are
// clipped at the near plane, at the far plane and where they reach far past the screen; a vertex behind the eye is no
// special case. Pixel (0, 0) is the top left one.
//
// The result is a set of per-pixel maxima, so it does not depend on the order of draws, on the instruction set, or on
// the number of threads: the same bits in each.
//
// Doubt draws: a box that crosses the near plane, a NaN, an empty buffer give Visible or Unknown.
//
// Threads: calls that draw or change a raster are "owner"; const calls (tests, reads) may run at the same time as each
// other. No per-frame call allocates. The library starts no threads: DrawSorted splits the screen through the caller's
// task hook.
//
// Based on: J. Pineda, "A Parallel Algorithm for Polygon Rasterization", SIGGRAPH 1988; N. Greene, M. Kass, G. Miller,
//   "Hierarchical Z-Buffer Visibility", SIGGRAPH 1993; M. Andersson, J. Hasselgren, T. Akenine-Moller, "Masked Software
//   Occlusion Culling", HPG 2016 (tiles, spans by scan line as coverage masks, sorted test-before-draw).
#ifndef ESPY_RASTER_H
#define ESPY_RASTER_H

#include <espy/mesh.h>

#define ESPY_RASTER_MAX_SIZE 8192
/// Id of a pixel that nothing was drawn to.
#define ESPY_RASTER_NO_ID 0xFFFFFFFFu

typedef struct espyRaster espyRaster;
typedef struct espyOccluder espyOccluder;

typedef enum espyRasterMode
{
    espyRasterMode_Sampled = 0,
    espyRasterMode_Conservative,
} espyRasterMode;

typedef struct espyRasterDef
{
    espyHooks hooks;
    espyRasterMode mode;
    int32_t width, height; ///< Pixels, 1..ESPY_RASTER_MAX_SIZE each; default 1280 x 720.
    bool ids;              ///< Keep a 32-bit id a pixel. Sampled mode only; default false.
    bool reversedZ;        ///< Depth 1 at the near plane; default false.
    /// Binary digits that positions on the screen keep behind the point, 4..12; fewer where the buffer is larger than
    /// 1024 pixels a side (11 at 2048, 10 at 4096, 9 at 8192). 8 is what GPUs do. 0, the default, keeps the most.
    uint32_t subPixelBits;
    espyIsa isaCap; ///< Kernels to use at most; lowering it never changes a result. Default Auto.
    /// Batches (about 100 triangles each) that DrawSorted sorts at once; more are drawn in runs of this many. Default
    /// 16,384; 1..1,048,576. 48 bytes each.
    uint32_t maxBatches;
    uint32_t cookie;
} espyRasterDef;

typedef struct espyOccluderDef
{
    espyHooks hooks;
    espyTriangles triangles; ///< Read during creation only. Triangles that use a position twice are dropped.
    espyRasterMode mode;     ///< Of the rasters that will draw it.
    bool twoSided;           ///< Draw back faces too, for sheets without thickness; default false.
    uint32_t cookie;
} espyOccluderDef;

/// One occluder of a frame.
typedef struct espyOccluderDraw
{
    const espyOccluder* occluder;
    const espyMat4* toWorld; ///< Null: identity. Affine; a mirroring transform keeps front faces in front.
    uint32_t id;             ///< For a raster with ids; any value but ESPY_RASTER_NO_ID.
} espyOccluderDraw;

/// A half-open rectangle of whole pixels.
typedef struct espyPixelRect
{
    int32_t x0, y0, x1, y1;
} espyPixelRect;

/// What was done since Begin. Counts of calls, not of results: they depend on the number of bands.
typedef struct espyRasterStats
{
    uint64_t trianglesGiven;   ///< Of all draws.
    uint64_t trianglesSet;     ///< That were transformed: in batches that the view and the depth did not reject.
    uint64_t trianglesDrawn;   ///< That faced the eye and touched a pixel.
    uint64_t batchesGiven;     ///< Batches of DrawSorted and DrawOccluder.
    uint64_t batchesOutside;   ///< Rejected by the frustum.
    uint64_t batchesFacingOff; ///< Rejected because all faces look away.
    uint64_t batchesOccluded;  ///< Rejected by what was drawn before.
} espyRasterStats;

// --- lifetime

ESPY_API espyRasterDef espyRasterDef_Default(void);
ESPY_API espyOccluderDef espyOccluderDef_Default(void);

/// Creates a cleared raster. Memory: 4 bytes a pixel, 4 more with ids, about 0.4 more for tiles.
/// Errors: InvalidArgument (a field out of range), OutOfMemory. Thread: any.
ESPY_API espyResult espyRaster_Create(const espyRasterDef* def, espyRaster** out);
/// Null is allowed.
ESPY_API void espyRaster_Destroy(espyRaster* raster);

/// Changes the size and clears. On failure the raster keeps its old size and content.
/// Errors: InvalidArgument, OutOfMemory. Thread: owner.
ESPY_API espyResult espyRaster_Resize(espyRaster* raster, int32_t width, int32_t height);
ESPY_API int32_t espyRaster_GetWidth(const espyRaster* raster);
ESPY_API int32_t espyRaster_GetHeight(const espyRaster* raster);
ESPY_API espyRasterMode espyRaster_GetMode(const espyRaster* raster);
ESPY_API bool espyRaster_IsReversedZ(const espyRaster* raster);
/// The kernels in use.
ESPY_API espyIsa espyRaster_GetIsa(const espyRaster* raster);

/// Prepares triangles for drawing: joins equal positions, finds neighbours and flat quads, cuts into batches with
/// bounds and a cone of normals. What becomes a quad depends on positions alone, not on the order of the triangles.
/// Cost: about 1 us a triangle; do it at load time. Memory: about 20 bytes a triangle in Sampled, 60 in
/// Conservative mode. Positions that are not finite drop their triangles.
/// Errors: InvalidArgument (an index past the end), OutOfMemory. Thread: any.
ESPY_API espyResult espyOccluder_Create(const espyOccluderDef* def, espyOccluder** out);
ESPY_API void espyOccluder_Destroy(espyOccluder* occluder);
ESPY_API espyBox espyOccluder_GetBounds(const espyOccluder* occluder);
ESPY_API uint32_t espyOccluder_GetBatchCount(const espyOccluder* occluder);
ESPY_API uint32_t espyOccluder_GetTriangleCount(const espyOccluder* occluder);

// --- drawing

/// Starts a frame: clears to the far plane, sets world-to-clip, zeroes the statistics. A matrix that is not finite
/// gives InvalidArgument: nothing is drawn then and every test gives Unknown, until the next Begin. Thread: owner.
ESPY_API espyResult espyRaster_Begin(espyRaster* raster, const espyMat4* viewProjection);

/// Changes world-to-clip within a frame and keeps the content. Depths of different projections do not compare.
ESPY_API espyResult espyRaster_SetView(espyRaster* raster, const espyMat4* viewProjection);

/// Draws plain triangles, front faces (counter-clockwise) or, with twoSided, both. In Conservative mode the neighbours
/// are not known here and every triangle shrinks on its own: prepare an occluder instead. Indices past the end skip
/// their triangle and give InvalidArgument when the rest is drawn. Thread: owner.
ESPY_API espyResult espyRaster_DrawTriangles(espyRaster* raster, const espyTriangles* triangles,
                                             const espyMat4* toWorld, uint32_t id, bool twoSided);

/// Draws a prepared occluder, each batch after a test of its bounds.
/// Errors: InvalidArgument (prepared for the other mode, a transform that is not finite). Thread: owner.
ESPY_API espyResult espyRaster_DrawOccluder(espyRaster* raster, const espyOccluder* occluder, const espyMat4* toWorld,
                                            uint32_t id);

/// Draws many occluders: all their batches are sorted by nearest depth, those outside the view or hidden by nearer
/// ones are left out. This gives the same buffer as drawing them one by one in any order, in less time. `tasks` may be
/// null. Errors: InvalidArgument as in DrawOccluder, for the draws concerned; the others are drawn. Thread: owner.
ESPY_API espyResult espyRaster_DrawSorted(espyRaster* raster, const espyOccluderDraw* draws, uint32_t count,
                                          const espyTasks* tasks);

/// Takes the nearer of both in every pixel. Both must have the same mode, size, ids and depth direction.
/// Errors: InvalidArgument. Thread: owner of `raster`; `other` is read.
ESPY_API espyResult espyRaster_Merge(espyRaster* raster, const espyRaster* other);

// --- tests; Thread: any, while nobody draws

/// Is anything at `depth` (of the nearest point, in the projection's convention) in these pixels to be seen? Pixels
/// off the screen do not count: Outside where none is left. Unknown before Begin and for a NaN.
/// Cost: 20 ns at 8 pixels a side, 110 ns at 512 where all of it is hidden (AVX2, Zen).
ESPY_API espyVisibility espyRaster_TestRect(const espyRaster* raster, espyPixelRect rect, float depth);

/// Tests a box of world space: Outside, Occluded or Visible; Unknown where the box is not valid or before Begin. First
/// its rectangle on the screen at its nearest depth; where that shows, its outline and faces, pixel by pixel. The box
/// is grown by 2^-20 of its largest coordinate, which covers the rounding of both sides.
ESPY_API espyVisibility espyRaster_TestBox(const espyRaster* raster, espyBox box);

/// Tests many boxes; out[i] belongs to boxes[i].
ESPY_API void espyRaster_TestBoxes(const espyRaster* raster, const espyBox* boxes, uint32_t count, espyVisibility* out);

/// Tests triangles (both sides count): every pixel that a triangle touches, at the nearest depth that it has there.
/// Closer than a box. Unknown with an index past the end or a position or transform that is not finite.
ESPY_API espyVisibility espyRaster_TestMesh(const espyRaster* raster, const espyTriangles* triangles,
                                            const espyMat4* toWorld);

// --- reading; Thread: any, while nobody draws

/// Depth of a pixel, or that of the far plane off the screen. Exact: what ReadDepth writes.
ESPY_API float espyRaster_GetDepth(const espyRaster* raster, int32_t x, int32_t y);
/// Id of a pixel; ESPY_RASTER_NO_ID where nothing was drawn, off the screen, or without ids.
ESPY_API uint32_t espyRaster_GetId(const espyRaster* raster, int32_t x, int32_t y);
/// Writes width * height depths, rows from the top, `stride` floats apart (at least the width).
ESPY_API void espyRaster_ReadDepth(const espyRaster* raster, float* out, size_t stride);
ESPY_API void espyRaster_ReadIds(const espyRaster* raster, uint32_t* out, size_t stride);
ESPY_API void espyRaster_GetStats(const espyRaster* raster, espyRasterStats* out);

// --- record and replay: a frame as bytes, for a bug report

typedef struct espyRecording espyRecording;

/// What a replay found.
typedef struct espyReplayReport
{
    uint32_t calls;        ///< Replayed.
    uint32_t tests;        ///< Of them.
    uint32_t testsDiffer;  ///< Tests with another answer than when they were recorded.
    uint32_t firstDiffers; ///< Index of the first such call, or UINT32_MAX.
} espyReplayReport;

/// A recording grows by its hooks: not for frames that count. One that ran out of memory keeps what it has and
/// GetBytes gives null.
ESPY_API espyResult espyRecording_Create(const espyHooks* hooks, espyRecording** out);
ESPY_API void espyRecording_Destroy(espyRecording* recording);
/// The bytes so far, little endian on every machine. Lifetime: until the next recorded call.
ESPY_API const void* espyRecording_GetBytes(const espyRecording* recording, size_t* size);

/// Writes every later Begin, SetView, draw and test of `raster` to `recording`, with geometry and answers; null stops.
/// While recording, tests are "owner" as well. Resize is not recorded: begin a new recording after it. Thread: owner.
ESPY_API void espyRaster_Record(espyRaster* raster, espyRecording* recording);
ESPY_API bool espyRaster_IsRecording(const espyRaster* raster);

/// Creates a raster as recorded, with kernels at most `isaCap`, repeats every call, and leaves the raster for a look at
/// its content. Errors: BadData, UnsupportedVersion (see `error`), OutOfMemory. Thread: any.
ESPY_API espyResult espyRaster_Replay(const espyHooks* hooks, const void* bytes, size_t size, espyIsa isaCap,
                                      espyRaster** out, espyReplayReport* report, espyDataError* error);

#endif
