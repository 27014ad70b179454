// SPDX-License-Identifier: MIT
// Rasters: their memory, clearing, views, reading and merging.
#include "raster/raster_internal.h"

#include <string.h>

espyRasterDef espyRasterDef_Default(void)
{
    return (espyRasterDef){.width = 1280, .height = 720, .maxBatches = 16384, .cookie = ESPY_DEF_COOKIE};
}

const espyiRasterKernels* espyiRaster_Pick(espyIsa cap, espyIsa* isa)
{
    espyIsa best = espyIsa_Detect(cap);
    const espyiRasterKernels* kernels = NULL;
    *isa = best;
    if (best == espyIsa_Neon)
    {
        kernels = espyiRaster_GetNeon();
    }
    else if (best == espyIsa_Wasm128)
    {
        kernels = espyiRaster_GetWasm128();
    }
    else
    {
        kernels = best == espyIsa_Avx512 ? espyiRaster_GetAvx512() : NULL;
        if (!kernels && best >= espyIsa_Avx2)
        {
            *isa = espyIsa_Avx2;
            kernels = espyiRaster_GetAvx2();
        }
        if (!kernels && best >= espyIsa_Sse41)
        {
            *isa = espyIsa_Sse41;
            kernels = espyiRaster_GetSse41();
        }
    }
    if (!kernels)
    {
        *isa = espyIsa_Scalar;
        kernels = espyiRaster_GetScalar();
    }
    return kernels;
}

// --- memory

/// Planes that a row of tiles has at least.
#define ESPY_LEAST_PLANES 64u

/// Everything that depends on the size.
static void espyRaster_Measure(espyRaster* raster, int32_t width, int32_t height)
{
    raster->width = width;
    raster->height = height;
    raster->tilesX = ((uint32_t)width + ESPYI_TILE - 1u) / ESPYI_TILE;
    raster->tilesY = ((uint32_t)height + ESPYI_TILE - 1u) / ESPYI_TILE;
    raster->coarseX = (raster->tilesX + ESPYI_COARSE - 1u) / ESPYI_COARSE;
    raster->coarseY = (raster->tilesY + ESPYI_COARSE - 1u) / ESPYI_COARSE;
    raster->stride = raster->coarseX * ESPYI_COARSE;
    raster->planeSlots = raster->stride > ESPY_LEAST_PLANES ? raster->stride : ESPY_LEAST_PLANES;
    // The guard band reaches at least one screen beyond the middle, and positions stay within 2^22.
    uint32_t size = (uint32_t)(width > height ? width : height), digits = 12;
    while (digits > 9u && size > 1024u << (12u - digits))
    {
        --digits;
    }
    raster->subPixelBits = raster->wantedBits != 0 && raster->wantedBits < digits ? raster->wantedBits : digits;
    raster->step = (float)(1u << raster->subPixelBits);
    raster->guard = raster->subPixelBits <= 8u ? 16384.0f * raster->step : 4194304.0f;
    raster->column0 = (float)(1 - width) * 0.5f * raster->step;
    raster->row0 = (float)(1 - height) * 0.5f * raster->step;
}

static void espyRaster_FreeTiles(espyRaster* raster)
{
    espyiFree(&raster->hooks, raster->tileMin);
    espyiFree(&raster->hooks, raster->tileMax);
    espyiFree(&raster->hooks, raster->tileState);
    espyiFree(&raster->hooks, raster->tileCover);
    espyiFree(&raster->hooks, raster->planes);
    espyiFree(&raster->hooks, raster->planeCounts);
    espyiFree(&raster->hooks, raster->coarse);
    espyiFree(&raster->hooks, raster->pixels);
    espyiFree(&raster->hooks, raster->idPixels);
    espyiFree(&raster->hooks, raster->claims);
    espyiFree(&raster->hooks, raster->touched);
}

/// Allocates what espyRaster_Measure asked for. Pixels are left as they come: nothing reads them before it wrote them.
static bool espyRaster_AllocTiles(espyRaster* raster)
{
    size_t tiles = (size_t)raster->stride * raster->tilesY;
    size_t bytes = tiles * ESPYI_TILE_PIXELS * sizeof(float);
    raster->tileMin =
        espyiAlloc(&raster->hooks, (size_t)raster->stride * raster->coarseY * ESPYI_COARSE, sizeof(float));
    raster->tileMax = espyiAlloc(&raster->hooks, tiles, sizeof *raster->tileMax);
    raster->tileState = espyiAlloc(&raster->hooks, tiles, sizeof *raster->tileState);
    raster->tileCover = espyiAlloc(&raster->hooks, tiles, sizeof *raster->tileCover);
    raster->planes = espyiAlloc(&raster->hooks, (size_t)raster->planeSlots * raster->tilesY, sizeof *raster->planes);
    raster->planeCounts = espyiAlloc(&raster->hooks, raster->tilesY, sizeof *raster->planeCounts);
    raster->coarse = espyiAlloc(&raster->hooks, (size_t)raster->coarseX * raster->coarseY, sizeof *raster->coarse);
    raster->pixels = (float*)raster->hooks.alloc(bytes, 64, raster->hooks.context);
    raster->idPixels = raster->ids ? (uint32_t*)raster->hooks.alloc(bytes, 64, raster->hooks.context) : NULL;
    bool conservative = raster->mode == espyRasterMode_Conservative;
    raster->claims = conservative ? espyiAlloc(&raster->hooks, tiles, sizeof *raster->claims) : NULL;
    raster->touched = conservative ? espyiAlloc(&raster->hooks, tiles, sizeof *raster->touched) : NULL;
    raster->stamp = 0;
    if (raster->tileMin && raster->tileMax && raster->tileState && raster->tileCover && raster->planes &&
        raster->planeCounts && raster->coarse && raster->pixels && (raster->idPixels || !raster->ids) &&
        ((raster->claims && raster->touched) || !conservative))
    {
        return true;
    }
    espyRaster_FreeTiles(raster);
    return false;
}

static void espyRaster_Clear(espyRaster* raster)
{
    // Of a row of cells, tiles past the last are nearer than anything and so never shown.
    for (uint32_t y = 0; y < raster->coarseY * ESPYI_COARSE; ++y)
    {
        float* row = raster->tileMin + (size_t)y * raster->stride;
        uint32_t real = y < raster->tilesY ? raster->tilesX : 0;
        memset(row, 0, real * sizeof *row);
        for (uint32_t x = real; x < raster->stride; ++x)
        {
            row[x] = 2.0f;
        }
    }
    size_t tiles = (size_t)raster->stride * raster->tilesY;
    memset(raster->tileMax, 0, tiles * sizeof *raster->tileMax);
    memset(raster->tileState, 0, tiles * sizeof *raster->tileState);
    memset(raster->planeCounts, 0, raster->tilesY * sizeof *raster->planeCounts);
    for (uint32_t y = 0; y < raster->coarseY; ++y)
    {
        uint32_t rows =
            raster->tilesY - y * ESPYI_COARSE < ESPYI_COARSE ? raster->tilesY - y * ESPYI_COARSE : ESPYI_COARSE;
        for (uint32_t x = 0; x < raster->coarseX; ++x)
        {
            uint32_t columns =
                raster->tilesX - x * ESPYI_COARSE < ESPYI_COARSE ? raster->tilesX - x * ESPYI_COARSE : ESPYI_COARSE;
            raster->coarse[(size_t)y * raster->coarseX + x] = (espyiCoarse){0.0f, rows * columns};
        }
    }
    if (raster->claims && raster->stamp > 0x7FFFFFFFu)
    {
        memset(raster->claims, 0, tiles * sizeof *raster->claims);
        raster->stamp = 0;
    }
}

espyResult espyRaster_Create(const espyRasterDef* def, espyRaster** out)
{
    *out = NULL;
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    if (!ESPYI_CHECK(&hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&hooks, def->width >= 1 && def->width <= ESPY_RASTER_MAX_SIZE) ||
        !ESPYI_CHECK(&hooks, def->height >= 1 && def->height <= ESPY_RASTER_MAX_SIZE) ||
        !ESPYI_CHECK(&hooks, def->mode == espyRasterMode_Sampled || def->mode == espyRasterMode_Conservative) ||
        !ESPYI_CHECK(&hooks, !def->ids || def->mode == espyRasterMode_Sampled) ||
        !ESPYI_CHECK(&hooks, def->subPixelBits == 0 || (def->subPixelBits >= 4 && def->subPixelBits <= 12)) ||
        !ESPYI_CHECK(&hooks, def->maxBatches >= 1 && def->maxBatches <= 1u << 20))
    {
        return espyResult_InvalidArgument;
    }
    espyRaster* raster = espyiAlloc(&hooks, 1, sizeof *raster);
    if (!raster)
    {
        return espyResult_OutOfMemory;
    }
    raster->hooks = hooks;
    raster->mode = def->mode;
    raster->ids = def->ids;
    raster->reversedZ = def->reversedZ;
    raster->wantedBits = def->subPixelBits;
    raster->maxBatches = def->maxBatches;
    raster->kernels = espyiRaster_Pick(def->isaCap, &raster->isa);
    espyRaster_Measure(raster, def->width, def->height);
    raster->entries = espyiAlloc(&hooks, 2u * (size_t)def->maxBatches, sizeof *raster->entries);
    if (!raster->entries || !espyRaster_AllocTiles(raster))
    {
        espyiFree(&hooks, raster->entries);
        espyiFree(&hooks, raster);
        return espyResult_OutOfMemory;
    }
    espyRaster_Clear(raster);
    *out = raster;
    return espyResult_Ok;
}

void espyRaster_Destroy(espyRaster* raster)
{
    if (raster)
    {
        espyHooks hooks = raster->hooks;
        espyRaster_FreeTiles(raster);
        espyiFree(&hooks, raster->entries);
        espyiFree(&hooks, raster);
    }
}

espyResult espyRaster_Resize(espyRaster* raster, int32_t width, int32_t height)
{
    if (!ESPYI_CHECK(&raster->hooks, width >= 1 && width <= ESPY_RASTER_MAX_SIZE) ||
        !ESPYI_CHECK(&raster->hooks, height >= 1 && height <= ESPY_RASTER_MAX_SIZE))
    {
        return espyResult_InvalidArgument;
    }
    espyRaster resized = *raster;
    espyRaster_Measure(&resized, width, height);
    if (!espyRaster_AllocTiles(&resized))
    {
        return espyResult_OutOfMemory;
    }
    espyRaster_FreeTiles(raster);
    *raster = resized;
    raster->begun = false;
    espyRaster_Clear(raster);
    return espyResult_Ok;
}

int32_t espyRaster_GetWidth(const espyRaster* raster)
{
    return raster->width;
}

int32_t espyRaster_GetHeight(const espyRaster* raster)
{
    return raster->height;
}

espyRasterMode espyRaster_GetMode(const espyRaster* raster)
{
    return raster->mode;
}

bool espyRaster_IsReversedZ(const espyRaster* raster)
{
    return raster->reversedZ;
}

espyIsa espyRaster_GetIsa(const espyRaster* raster)
{
    return raster->isa;
}

// --- views

/// Determinant of three rows without one column.
static float espyRows_Minor(const float a[4], const float b[4], const float c[4], uint32_t without)
{
    uint32_t i = without == 0 ? 1 : 0, j = without <= 1 ? 2 : 1, k = without <= 2 ? 3 : 2;
    return a[i] * (b[j] * c[k] - b[k] * c[j]) - a[j] * (b[i] * c[k] - b[k] * c[i]) + a[k] * (b[i] * c[j] - b[j] * c[i]);
}

bool espyiRaster_MakeClip(const espyRaster* raster, const espyMat4* toWorld, espyiClip* clip, float eye[4])
{
    espyMat4 m = toWorld ? espyMat4_Multiply(raster->viewProjection, *toWorld) : raster->viewProjection;
    float scaleX = (float)raster->width * 0.5f * raster->step, scaleY = (float)raster->height * -0.5f * raster->step;
    float x[4], y[4];
    for (uint32_t i = 0; i < 4; ++i)
    {
        x[i] = m.m[4 * i];
        y[i] = m.m[4 * i + 1];
        clip->x[i] = x[i] * scaleX;
        clip->y[i] = y[i] * scaleY;
        clip->w[i] = m.m[4 * i + 3];
        clip->d[i] = raster->reversedZ ? m.m[4 * i + 2] : m.m[4 * i + 3] - m.m[4 * i + 2];
    }
    // The point that x, y and w are all 0 at; where d is negative there, the transform mirrors.
    float side = 0.0f;
    for (uint32_t i = 0; i < 4; ++i)
    {
        eye[i] = espyRows_Minor(x, y, clip->w, i) * (i % 2u ? -1.0f : 1.0f);
        side += eye[i] * clip->d[i];
    }
    bool flips = side < 0.0f;
    for (uint32_t i = 0; i < 4; ++i)
    {
        eye[i] = flips ? -eye[i] : eye[i];
    }
    return flips;
}

static espyResult espyRaster_UseView(espyRaster* raster, const espyMat4* viewProjection)
{
    raster->begun = espyMat4_IsFinite(*viewProjection);
    if (!ESPYI_CHECK(&raster->hooks, raster->begun))
    {
        return espyResult_InvalidArgument;
    }
    float eye[4];
    raster->viewProjection = *viewProjection;
    raster->viewFlips = espyiRaster_MakeClip(raster, NULL, &raster->view, eye);
    return espyResult_Ok;
}

espyResult espyRaster_SetView(espyRaster* raster, const espyMat4* viewProjection)
{
    if (raster->recording)
    {
        espyiRecord_View(raster, viewProjection, false);
    }
    return espyRaster_UseView(raster, viewProjection);
}

espyResult espyRaster_Begin(espyRaster* raster, const espyMat4* viewProjection)
{
    if (raster->recording)
    {
        espyiRecord_View(raster, viewProjection, true);
    }
    espyRaster_Clear(raster);
    raster->stats = (espyRasterStats){0};
    return espyRaster_UseView(raster, viewProjection);
}

// --- reading

/// One d, and the id with it.
static float espyRaster_GetPixel(const espyRaster* raster, uint32_t column, uint32_t row, uint32_t* id)
{
    uint32_t tile = row / ESPYI_TILE * raster->stride + column / ESPYI_TILE;
    size_t first = (size_t)tile * ESPYI_TILE_PIXELS;
    uint32_t within = row % ESPYI_TILE * ESPYI_TILE + column % ESPYI_TILE;
    *id = ESPY_RASTER_NO_ID;
    uint32_t state = raster->tileState[tile];
    if (state >= espyiTileState_FirstPlane)
    {
        const espyiPlane* plane = espyiRaster_Plane(raster, state);
        *id = raster->ids ? plane->id : ESPY_RASTER_NO_ID;
        return espyiPlane_At(plane, espyiRaster_Column(raster, column), espyiRaster_Row(raster, row));
    }
    if (state == espyiTileState_Clear)
    {
        return 0.0f;
    }
    *id = raster->ids ? raster->idPixels[first + within] : ESPY_RASTER_NO_ID;
    return raster->pixels[first + within];
}

static bool espyRaster_Holds(const espyRaster* raster, int32_t x, int32_t y)
{
    return x >= 0 && y >= 0 && x < raster->width && y < raster->height;
}

float espyRaster_GetDepth(const espyRaster* raster, int32_t x, int32_t y)
{
    uint32_t id;
    float d = espyRaster_Holds(raster, x, y) ? espyRaster_GetPixel(raster, (uint32_t)x, (uint32_t)y, &id) : 0.0f;
    return espyiRaster_Flip(raster, d);
}

uint32_t espyRaster_GetId(const espyRaster* raster, int32_t x, int32_t y)
{
    uint32_t id = ESPY_RASTER_NO_ID;
    if (espyRaster_Holds(raster, x, y))
    {
        espyRaster_GetPixel(raster, (uint32_t)x, (uint32_t)y, &id);
    }
    return id;
}

void espyRaster_ReadDepth(const espyRaster* raster, float* out, size_t stride)
{
    for (int32_t y = 0; y < raster->height; ++y)
    {
        for (int32_t x = 0; x < raster->width; ++x)
        {
            uint32_t id;
            out[(size_t)y * stride + (size_t)x] =
                espyiRaster_Flip(raster, espyRaster_GetPixel(raster, (uint32_t)x, (uint32_t)y, &id));
        }
    }
}

void espyRaster_ReadIds(const espyRaster* raster, uint32_t* out, size_t stride)
{
    for (int32_t y = 0; y < raster->height; ++y)
    {
        for (int32_t x = 0; x < raster->width; ++x)
        {
            espyRaster_GetPixel(raster, (uint32_t)x, (uint32_t)y, &out[(size_t)y * stride + (size_t)x]);
        }
    }
}

void espyRaster_GetStats(const espyRaster* raster, espyRasterStats* out)
{
    *out = raster->stats;
}

espyResult espyRaster_Merge(espyRaster* raster, const espyRaster* other)
{
    if (!ESPYI_CHECK(&raster->hooks, raster != other) || !ESPYI_CHECK(&raster->hooks, raster->mode == other->mode) ||
        !ESPYI_CHECK(&raster->hooks, raster->width == other->width && raster->height == other->height) ||
        !ESPYI_CHECK(&raster->hooks, raster->subPixelBits == other->subPixelBits) ||
        !ESPYI_CHECK(&raster->hooks, raster->ids == other->ids && raster->reversedZ == other->reversedZ))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t y = 0; y < raster->tilesY; ++y)
    {
        for (uint32_t x = 0; x < raster->tilesX; ++x)
        {
            raster->kernels->mergeTile(raster, other, y * raster->stride + x);
        }
    }
    return espyResult_Ok;
}
