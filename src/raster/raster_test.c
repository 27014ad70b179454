// SPDX-License-Identifier: MIT
// Tests of rectangles, boxes and meshes against a raster.
#include "raster/raster_internal.h"

static espyVisibility espyRaster_TestRectD(const espyRaster* raster, espyPixelRect rect, float d)
{
    rect.x0 = rect.x0 > 0 ? rect.x0 : 0;
    rect.y0 = rect.y0 > 0 ? rect.y0 : 0;
    rect.x1 = rect.x1 < raster->width ? rect.x1 : raster->width;
    rect.y1 = rect.y1 < raster->height ? rect.y1 : raster->height;
    if (rect.x0 >= rect.x1 || rect.y0 >= rect.y1)
    {
        return espyVisibility_Outside;
    }
    return raster->kernels->testRect(raster, rect, d) ? espyVisibility_Visible : espyVisibility_Occluded;
}

espyVisibility espyRaster_TestRect(const espyRaster* raster, espyPixelRect rect, float depth)
{
    float d = espyiRaster_Flip(raster, depth);
    espyVisibility visibility =
        raster->begun && d == d ? espyRaster_TestRectD(raster, rect, d) : espyVisibility_Unknown;
    if (raster->recording)
    {
        espyiRecord_Rect(raster, rect, depth, visibility);
    }
    return visibility;
}

/// Corner i of the unit box: bit 0 is x, bit 1 is y, bit 2 is z. Counter-clockwise from outside.
static const uint8_t espyBoxFaces[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};

static espyVisibility espyRaster_TestBoxNow(const espyRaster* raster, espyBox box)
{
    if (!raster->begun || !espyBox_IsValid(box))
    {
        return espyVisibility_Unknown;
    }
    float reach = 0.0f;
    const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    for (uint32_t i = 0; i < 6; ++i)
    {
        float size = values[i] < 0.0f ? -values[i] : values[i];
        reach = size > reach ? size : reach;
    }
    box = espyBox_Grow(box, reach * 0x1p-20f);
    espyiProjectedBox projected;
    raster->kernels->projectBox(raster, &raster->view, box, &projected);
    if (projected.visibility != espyVisibility_Unknown)
    {
        return projected.visibility;
    }
    if (!raster->kernels->testRect(raster, projected.rect, projected.d))
    {
        return espyVisibility_Occluded;
    }
    // The outline and the faces, as far as the eye sees them.
    float positions[24];
    for (uint32_t i = 0; i < 8; ++i)
    {
        positions[i] = (i & 1u) ? box.max.x : box.min.x;
        positions[8 + i] = (i & 2u) ? box.max.y : box.min.y;
        positions[16 + i] = (i & 4u) ? box.max.z : box.min.z;
    }
    espyiBatchView view = {.positions = positions,
                           .indices = espyBoxFaces,
                           .vertexCount = 8,
                           .triangleCount = 12,
                           .flip = raster->viewFlips};
    // A box without a width has faces that are seen edge-on only from where they do not matter, yet both sides count.
    bool flat = !(box.min.x < box.max.x && box.min.y < box.max.y && box.min.z < box.max.z);
    return raster->kernels->testBatch(raster, &raster->view, &view, flat) ? espyVisibility_Visible
                                                                          : espyVisibility_Occluded;
}

espyVisibility espyRaster_TestBox(const espyRaster* raster, espyBox box)
{
    espyVisibility visibility = espyRaster_TestBoxNow(raster, box);
    if (raster->recording)
    {
        espyiRecord_Box(raster, box, visibility);
    }
    return visibility;
}

void espyRaster_TestBoxes(const espyRaster* raster, const espyBox* boxes, uint32_t count, espyVisibility* out)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        out[i] = espyRaster_TestBox(raster, boxes[i]);
    }
}

static espyVisibility espyRaster_TestMeshNow(const espyRaster* raster, const espyTriangles* triangles,
                                             const espyMat4* toWorld)
{
    if (!raster->begun || (toWorld && !espyMat4_IsFinite(*toWorld)))
    {
        return espyVisibility_Unknown;
    }
    espyBox bounds = espyBox_Empty();
    for (uint32_t i = 0; i < triangles->triangleCount; ++i)
    {
        for (uint32_t c = 0; c < 3; ++c)
        {
            uint32_t index = triangles->indices[(size_t)i * 3u + c];
            if (index >= triangles->vertexCount)
            {
                return espyVisibility_Unknown;
            }
            espyVec3 p = triangles->positions[index];
            if (!espyBox_IsValid((espyBox){p, p}))
            {
                return espyVisibility_Unknown;
            }
            bounds = espyBox_AddPoint(bounds, p);
        }
    }
    if (triangles->triangleCount == 0)
    {
        return espyVisibility_Outside;
    }
    espyiClip clip;
    float eye[4];
    bool flips = espyiRaster_MakeClip(raster, toWorld, &clip, eye);
    espyiProjectedBox projected;
    raster->kernels->projectBox(raster, &clip, bounds, &projected);
    if (projected.visibility == espyVisibility_Outside)
    {
        return espyVisibility_Outside;
    }
    if (projected.visibility == espyVisibility_Unknown &&
        !raster->kernels->testRect(raster, projected.rect, projected.d))
    {
        return espyVisibility_Occluded;
    }
    for (uint32_t next = 0; next < triangles->triangleCount;)
    {
        espyiLoose loose;
        espyiLoose_Gather(&loose, triangles, &next);
        espyiBatchView view = espyiLoose_View(&loose);
        view.flip = flips;
        if (raster->kernels->testBatch(raster, &clip, &view, true))
        {
            return espyVisibility_Visible;
        }
    }
    return espyVisibility_Occluded;
}

espyVisibility espyRaster_TestMesh(const espyRaster* raster, const espyTriangles* triangles, const espyMat4* toWorld)
{
    espyVisibility visibility = espyRaster_TestMeshNow(raster, triangles, toWorld);
    if (raster->recording)
    {
        espyiRecord_Mesh(raster, triangles, toWorld, visibility);
    }
    return visibility;
}
