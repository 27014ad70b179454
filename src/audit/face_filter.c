// SPDX-License-Identifier: MIT
// Panoramas without the rays that cannot matter.
//
// A slot matters to a view while it was not seen, or where the file hides it. It cannot show in a face where its box,
// grown, is hidden by the occluders at every point of every pixel (Conservative mode of the rasteriser). Rays report
// surfaces up to ESPYI_PANORAMA_FLUSH behind the first occluder; the box is grown by more than that, so that it then
// holds a point in front of the occluder on the same ray and is not hidden.
#include "audit/face_filter.h"

#include <math.h>

/// Metres: ESPYI_PANORAMA_FLUSH along the longest direction of a pixel, sqrt(3), and a little more for rounding.
#define ESPY_FILTER_GROWTH (2.0f * ESPYI_PANORAMA_FLUSH + 1e-3f)

espyResult espyiFaceFilter_Create(espyiFaceFilter* filter, const espyiDrawn* drawn, const espyHooks* hooks)
{
    espyOccluderDef def = espyOccluderDef_Default();
    def.hooks = *hooks;
    def.triangles = drawn->blockers.soup.triangles;
    def.mode = espyRasterMode_Conservative;
    def.twoSided = true;
    size_t words = drawn->input->occludeeCount / 32u + 1u;
    *filter = (espyiFaceFilter){.drawnSlots = espyiAlloc(hooks, words, sizeof *filter->drawnSlots)};
    if (!filter->drawnSlots || espyOccluder_Create(&def, &filter->blockers) != espyResult_Ok)
    {
        espyiFaceFilter_Destroy(filter, hooks);
        return espyResult_OutOfMemory;
    }
    for (uint32_t t = 0; t < drawn->targets.soup.triangles.triangleCount; ++t)
    {
        espyiBits_Set(filter->drawnSlots, drawn->targets.objects[t]);
    }
    return espyResult_Ok;
}

void espyiFaceFilter_Destroy(espyiFaceFilter* filter, const espyHooks* hooks)
{
    espyOccluder_Destroy(filter->blockers);
    espyiFree(hooks, filter->drawnSlots);
    *filter = (espyiFaceFilter){0};
}

static uint32_t espyFace_Blocks(uint32_t size)
{
    return (size + ESPYI_PANORAMA_BLOCK - 1u) / ESPYI_PANORAMA_BLOCK;
}

espyResult espyiFaceScratch_Create(espyiFaceScratch* scratch, uint32_t size, const espyHooks* hooks)
{
    espyRasterDef def = espyRasterDef_Default();
    def.hooks = *hooks;
    def.mode = espyRasterMode_Conservative;
    def.width = def.height = (int32_t)size;
    def.reversedZ = true;
    size_t blocks = (size_t)espyFace_Blocks(size) * espyFace_Blocks(size);
    *scratch = (espyiFaceScratch){.cast = espyiAlloc(hooks, blocks / 32u + 1u, sizeof *scratch->cast)};
    if (!scratch->cast || espyRaster_Create(&def, &scratch->raster) != espyResult_Ok)
    {
        espyiFaceScratch_Destroy(scratch, hooks);
        return espyResult_OutOfMemory;
    }
    return espyResult_Ok;
}

void espyiFaceScratch_Destroy(espyiFaceScratch* scratch, const espyHooks* hooks)
{
    espyRaster_Destroy(scratch->raster);
    espyiFree(hooks, scratch->cast);
    *scratch = (espyiFaceScratch){0};
}

/// Columns or rows of blocks, half-open.
typedef struct espyBlockRange
{
    uint32_t x0, y0, x1, y1;
} espyBlockRange;

static uint32_t espyFace_Block(double position, uint32_t blocks)
{
    double block = position / (double)ESPYI_PANORAMA_BLOCK;
    return block <= 0.0 ? 0u : block >= (double)blocks ? blocks : (uint32_t)block;
}

/// Blocks that hold every pixel that a box can touch, by its corners and a pixel more; all where it reaches the eye.
static espyBlockRange espyFace_FindBlocks(const espyMat4* clip, espyBox box, uint32_t size)
{
    uint32_t blocks = espyFace_Blocks(size);
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t corner = 0; corner < 8; ++corner)
    {
        const double p[3] = {(double)((corner & 1u) ? box.max.x : box.min.x),
                             (double)((corner & 2u) ? box.max.y : box.min.y),
                             (double)((corner & 4u) ? box.max.z : box.min.z)};
        double rows[4];
        for (uint32_t r = 0; r < 4; ++r)
        {
            rows[r] = (double)clip->m[r] * p[0] + (double)clip->m[4 + r] * p[1] + (double)clip->m[8 + r] * p[2] +
                      (double)clip->m[12 + r];
        }
        if (!(rows[3] > (double)ESPYI_PANORAMA_NEAR))
        {
            return (espyBlockRange){0, 0, blocks, blocks};
        }
        const double at[2] = {(rows[0] / rows[3] + 1.0) * 0.5 * (double)size,
                              (1.0 - rows[1] / rows[3]) * 0.5 * (double)size};
        for (uint32_t axis = 0; axis < 2; ++axis)
        {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
    return (espyBlockRange){espyFace_Block(low[0] - 1.0, blocks), espyFace_Block(low[1] - 1.0, blocks),
                            espyFace_Block(high[0] + 1.0 + (double)ESPYI_PANORAMA_BLOCK, blocks),
                            espyFace_Block(high[1] + 1.0 + (double)ESPYI_PANORAMA_BLOCK, blocks)};
}

void espyiFaceFilter_Render(const espyiFaceFilter* filter, const espyiFaceScratch* scratch, const espyiDrawn* drawn,
                            espyVec3 point, uint32_t size, uint32_t face, espyiFaceNeedFn* need, espyiSeenFn* seen,
                            void* context)
{
    uint32_t blocks = espyFace_Blocks(size);
    espyMat4 clip = espyiPanorama_Clip(point, face);
    espyOccluderDraw draw = {.occluder = filter->blockers};
    espyRaster_Begin(scratch->raster, &clip);
    espyRaster_DrawSorted(scratch->raster, &draw, 1, NULL);
    for (size_t i = 0; i <= (size_t)blocks * blocks / 32u; ++i)
    {
        scratch->cast[i] = 0;
    }
    for (uint32_t slot = 0; slot < drawn->input->occludeeCount; ++slot)
    {
        espyBox box = espyBox_Grow(drawn->input->occludees[slot].box, ESPY_FILTER_GROWTH);
        if (!espyiBits_Get(filter->drawnSlots, slot) || need(context, slot) == espyiFaceNeed_None ||
            !espyiPanorama_IsInFace(point, face, box) ||
            espyRaster_TestBox(scratch->raster, box) >= espyVisibility_Outside)
        {
            continue;
        }
        espyBlockRange range = espyFace_FindBlocks(&clip, box, size);
        for (uint32_t y = range.y0; y < range.y1; ++y)
        {
            for (uint32_t x = range.x0; x < range.x1 && need(context, slot) != espyiFaceNeed_None; ++x)
            {
                uint32_t block = y * blocks + x;
                if (!espyiBits_Get(scratch->cast, block))
                {
                    espyiBits_Set(scratch->cast, block);
                    espyiPanorama_RenderBlock(drawn, point, size, face, x * ESPYI_PANORAMA_BLOCK,
                                              y * ESPYI_PANORAMA_BLOCK, seen, context);
                }
            }
        }
    }
}
