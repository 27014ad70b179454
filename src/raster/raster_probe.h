// SPDX-License-Identifier: MIT
// Shapes tested against what a raster holds as a GPU would: fragment by fragment, without changing it. For devices.
#ifndef ESPYI_RASTER_PROBE_H
#define ESPYI_RASTER_PROBE_H

#include "raster/raster_internal.h"

/// The nearest shape of each pixel, and its id, in the raster's tiles. A tile whose stamp is not the current one is
/// clear.
typedef struct espyiIdTiles
{
    float* nearest; ///< d, 64 a tile.
    uint32_t* ids;
    uint32_t* stamps;  ///< One a tile.
    uint32_t* touched; ///< Tiles with the current stamp, in no order.
    uint32_t touchedCount;
    uint32_t stamp;
} espyiIdTiles;

/// What is asked of a shape, and found. A fragment passes where its d is at least that of the raster.
typedef struct espyiProbe
{
    espyiIdTiles* tiles; ///< Null, or where fragments that pass leave `id`: nearer wins, of equals the lower id.
    uint32_t id;
    bool any;        ///< Stop at the first that passes.
    uint64_t passed; ///< Fragments, of both sides of the shape.
} espyiProbe;

/// 520 bytes a tile. False, and nothing is held, without memory.
bool espyiIdTiles_Create(espyiIdTiles* tiles, const espyHooks* hooks, const espyRaster* raster);
void espyiIdTiles_Destroy(espyiIdTiles* tiles, const espyHooks* hooks);
/// Constant time.
void espyiIdTiles_Clear(espyiIdTiles* tiles, const espyRaster* raster);
/// Id of a pixel on the screen, or ESPY_RASTER_NO_ID.
uint32_t espyiIdTiles_Get(const espyiIdTiles* tiles, const espyRaster* raster, uint32_t column, uint32_t row);

/// Adds the fragments of a shape, both sides, to what the probe found. The raster has begun and is in Sampled mode.
void espyiRaster_Probe(const espyRaster* raster, const espyOccluder* shape, const espyMat4* toWorld, espyiProbe* probe);

#endif
