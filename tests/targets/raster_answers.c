// SPDX-License-Identifier: MIT
// A frame of the rasteriser in both modes: quads, triangles across every plane, tests of boxes, rectangles and meshes.
#include "image_answers.h"

#include <espy/raster.h>

#include <string.h>

enum
{
    espyTarget_Width = 93,
    espyTarget_Height = 61,
    espyTarget_Boxes = 40,
    espyTarget_Tests = 200,
};

static float espyTarget_Range(uint64_t* state, float low, float high)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * ((float)(uint32_t)(*state >> 40) * 0x1p-24f);
}

static void espyTarget_Add(uint64_t* hash, uint32_t value)
{
    uint64_t h = (*hash ^ value) * 0x9E3779B97F4A7C15u;
    *hash = h ^ (h >> 29);
}

static espyBox espyTarget_RandomBox(uint64_t* state, float most)
{
    espyBox box;
    box.min.x = espyTarget_Range(state, -8.0f, 8.0f);
    box.min.y = espyTarget_Range(state, -5.0f, 5.0f);
    box.min.z = espyTarget_Range(state, -20.0f, 2.0f);
    box.max.x = box.min.x + espyTarget_Range(state, 0.05f, most);
    box.max.y = box.min.y + espyTarget_Range(state, 0.05f, most);
    box.max.z = box.min.z + espyTarget_Range(state, 0.05f, most);
    return box;
}

/// Boxes as one mesh, and loose triangles.
static void espyTarget_Mesh(uint64_t* state, espyVec3* positions, uint32_t* indices)
{
    static const uint32_t faces[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    for (uint32_t b = 0; b < espyTarget_Boxes; ++b)
    {
        espyBox box = espyTarget_RandomBox(state, 3.0f);
        for (uint32_t i = 0; i < 8; ++i)
        {
            positions[8u * b + i] = (espyVec3){(i & 1u) ? box.max.x : box.min.x, (i & 2u) ? box.max.y : box.min.y,
                                               (i & 4u) ? box.max.z : box.min.z};
        }
        for (uint32_t i = 0; i < 36; ++i)
        {
            indices[36u * b + i] = 8u * b + faces[i];
        }
    }
}

static void espyTarget_AskRaster(espyRaster* raster, uint64_t* state, const espyTriangles* mesh, espyTargetImages* out)
{
    for (int32_t y = 0; y < espyTarget_Height; ++y)
    {
        for (int32_t x = 0; x < espyTarget_Width; ++x)
        {
            float depth = espyRaster_GetDepth(raster, x, y);
            uint32_t bits;
            memcpy(&bits, &depth, sizeof bits);
            espyTarget_Add(&out->hash, bits);
            espyTarget_Add(&out->hash, espyRaster_GetId(raster, x, y));
            out->dark += depth > 0.0f ? 1u : 0u;
        }
    }
    for (uint32_t i = 0; i < espyTarget_Tests; ++i)
    {
        espyPixelRect rect;
        rect.x0 = (int32_t)espyTarget_Range(state, -9.0f, 90.0f);
        rect.y0 = (int32_t)espyTarget_Range(state, -9.0f, 60.0f);
        rect.x1 = rect.x0 + 1 + (int32_t)espyTarget_Range(state, 0.0f, 30.0f);
        rect.y1 = rect.y0 + 1 + (int32_t)espyTarget_Range(state, 0.0f, 30.0f);
        float depth = espyTarget_Range(state, 0.0f, 0.05f);
        espyTarget_Add(&out->hash, (uint32_t)espyRaster_TestRect(raster, rect, depth));
        espyTarget_Add(&out->hash, (uint32_t)espyRaster_TestBox(raster, espyTarget_RandomBox(state, 1.0f)));
    }
    for (uint32_t i = 0; i < mesh->triangleCount; i += 12)
    {
        espyTriangles part = {mesh->positions, mesh->indices + 3u * (size_t)i, mesh->vertexCount, 12};
        espyTarget_Add(&out->hash, (uint32_t)espyRaster_TestMesh(raster, &part, NULL));
    }
}

static bool espyTarget_Frame(espyIsa cap, espyRasterMode mode, espyTargetImages* out)
{
    static espyVec3 positions[8 * espyTarget_Boxes];
    static uint32_t indices[36 * espyTarget_Boxes];
    uint64_t state = 77;
    espyTarget_Mesh(&state, positions, indices);
    espyTriangles mesh = {positions, indices, 8 * espyTarget_Boxes, 12 * espyTarget_Boxes};
    espyTriangles loose = {positions, indices, 8 * espyTarget_Boxes, 24};
    espyOccluderDef occluderDef = espyOccluderDef_Default();
    occluderDef.triangles = mesh;
    occluderDef.mode = mode;
    espyRasterDef def = espyRasterDef_Default();
    def.mode = mode;
    def.width = espyTarget_Width;
    def.height = espyTarget_Height;
    def.ids = mode == espyRasterMode_Sampled;
    def.reversedZ = true;
    def.isaCap = cap;
    def.maxBatches = 16;
    espyOccluder* occluder = NULL;
    espyRaster* raster = NULL;
    bool done = espyOccluder_Create(&occluderDef, &occluder) == espyResult_Ok &&
                espyRaster_Create(&def, &raster) == espyResult_Ok;
    // Perspective along -z from (0.3, 0.2, 0), 90 degrees, near 0.1, infinite far.
    espyMat4 view = {
        {1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.5f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -1.0f, -0.3f, -0.3f, 0.1f, 0.0f}};
    espyMat4 moved = espyMat4_Identity();
    moved.m[4] = 0.25f;
    moved.m[12] = 1.5f;
    done = done && espyRaster_Begin(raster, &view) == espyResult_Ok;
    if (done)
    {
        const espyOccluderDraw draws[2] = {{occluder, NULL, 3}, {occluder, &moved, 1}};
        out->isa = espyRaster_GetIsa(raster);
        done = espyRaster_DrawTriangles(raster, &loose, &moved, 2, true) == espyResult_Ok &&
               espyRaster_DrawSorted(raster, draws, 2, NULL) == espyResult_Ok;
        espyTarget_AskRaster(raster, &state, &mesh, out);
    }
    espyRaster_Destroy(raster);
    espyOccluder_Destroy(occluder);
    return done;
}

espyTargetImages espyTargetImages_Draw(espyIsa cap)
{
    espyTargetImages out = {0};
    out.succeeded =
        espyTarget_Frame(cap, espyRasterMode_Sampled, &out) && espyTarget_Frame(cap, espyRasterMode_Conservative, &out);
    return out;
}
