// SPDX-License-Identifier: MIT
// Probing a raster: whole shapes and batches that what was drawn hides are left out before their pixels are looked at.
#include "raster/raster_probe.h"

#include <string.h>

bool espyiIdTiles_Create(espyiIdTiles* tiles, const espyHooks* hooks, const espyRaster* raster)
{
    size_t count = (size_t)raster->stride * raster->tilesY;
    *tiles = (espyiIdTiles){.nearest = espyiAlloc(hooks, count * ESPYI_TILE_PIXELS, sizeof *tiles->nearest),
                            .ids = espyiAlloc(hooks, count * ESPYI_TILE_PIXELS, sizeof *tiles->ids),
                            .stamps = espyiAlloc(hooks, count, sizeof *tiles->stamps),
                            .touched = espyiAlloc(hooks, count, sizeof *tiles->touched),
                            .stamp = 1};
    if (tiles->nearest && tiles->ids && tiles->stamps && tiles->touched)
    {
        return true;
    }
    espyiIdTiles_Destroy(tiles, hooks);
    return false;
}

void espyiIdTiles_Destroy(espyiIdTiles* tiles, const espyHooks* hooks)
{
    espyiFree(hooks, tiles->nearest);
    espyiFree(hooks, tiles->ids);
    espyiFree(hooks, tiles->stamps);
    espyiFree(hooks, tiles->touched);
    *tiles = (espyiIdTiles){0};
}

void espyiIdTiles_Clear(espyiIdTiles* tiles, const espyRaster* raster)
{
    tiles->touchedCount = 0;
    if (++tiles->stamp == 0)
    {
        memset(tiles->stamps, 0, (size_t)raster->stride * raster->tilesY * sizeof *tiles->stamps);
        tiles->stamp = 1;
    }
}

uint32_t espyiIdTiles_Get(const espyiIdTiles* tiles, const espyRaster* raster, uint32_t column, uint32_t row)
{
    uint32_t tile = row / ESPYI_TILE * raster->stride + column / ESPYI_TILE;
    size_t within = row % ESPYI_TILE * ESPYI_TILE + column % ESPYI_TILE;
    return tiles->stamps[tile] == tiles->stamp ? tiles->ids[tile * (size_t)ESPYI_TILE_PIXELS + within]
                                               : ESPY_RASTER_NO_ID;
}

/// Can any fragment within bounds pass?
static bool espyProbe_MayPass(const espyRaster* raster, const espyiClip* clip, espyBox bounds)
{
    espyiProjectedBox box;
    raster->kernels->projectBox(raster, clip, espyiBatch_SafeBounds(bounds), &box);
    return box.visibility == espyVisibility_Visible ||
           (box.visibility == espyVisibility_Unknown && raster->kernels->testRect(raster, box.rect, box.d));
}

void espyiRaster_Probe(const espyRaster* raster, const espyOccluder* shape, const espyMat4* toWorld, espyiProbe* probe)
{
    espyiClip clip;
    float eye[4];
    espyiRaster_MakeClip(raster, toWorld, &clip, eye);
    if (shape->batchCount == 0 || !espyProbe_MayPass(raster, &clip, shape->bounds))
    {
        return;
    }
    for (uint32_t b = 0; b < shape->batchCount && !(probe->any && probe->passed > 0); ++b)
    {
        const espyiBatch* batch = &shape->batches[b];
        if (shape->batchCount > 1 && !espyProbe_MayPass(raster, &clip, batch->bounds))
        {
            continue;
        }
        espyiBatchView view = espyiOccluder_View(shape, batch);
        raster->kernels->probeBatch(raster, &clip, &view, probe);
    }
}
