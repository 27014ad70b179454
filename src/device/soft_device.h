// SPDX-License-Identifier: MIT
// What a software device is made of.
#ifndef ESPYI_SOFT_DEVICE_H
#define ESPYI_SOFT_DEVICE_H

#include <espy/device.h>

#include "raster/raster_probe.h"

#define ESPYI_SOFT_MAX_LATENCY 16u
/// Meshes that one call of the rasteriser sorts.
#define ESPYI_SOFT_DRAWS 1024u

/// One target: a raster an eye, and what testers left.
typedef struct espyiSoftTarget
{
    espyRaster* rasters[ESPY_DEVICE_MAX_LAYERS];
    espyiIdTiles tiles[ESPY_DEVICE_MAX_LAYERS]; ///< With ids.
    uint32_t* flags;                            ///< With ids: one bit an id, of mode Flag.
    int32_t width, height;
    uint32_t layers; ///< 0: the slot is free.
    bool ids, borrowed;
    uint32_t generation;
} espyiSoftTarget;

typedef struct espyiSoftMesh
{
    espyOccluder* occluder; ///< Null: the slot is free.
    uint32_t generation;
} espyiSoftMesh;

/// Answers of one frame.
typedef struct espyiSoftAnswers
{
    espyDeviceAnswer* answers;
    uint32_t count, given;
    uint64_t ordinal; ///< Of its frame, counted from 1; 0 is none.
} espyiSoftAnswers;

typedef struct espyiSoftDevice
{
    espyHooks hooks;
    espyTasks tasks;
    espyIsa isaCap;
    uint32_t latency, maxQueries, maxIds;
    espyOccluder* box;
    espyiSoftMesh* meshes;
    size_t meshCount, meshCapacity;
    espyiSoftTarget* targets;
    size_t targetCount, targetCapacity;
    espyOccluderDraw* draws; ///< ESPYI_SOFT_DRAWS of them.
    espyiSoftAnswers ring[ESPYI_SOFT_MAX_LATENCY + 2];
    uint64_t frame, ordinal;
    bool inFrame;
    espyiSoftTarget* pass; ///< Null: none is begun.
} espyiSoftDevice;

/// Meshes and targets: the functions of the table that make and free them.
espyResult espyiSoftDevice_CreateMesh(void* context, const espyTriangles* triangles, bool twoSided,
                                      espyDeviceMesh* out);
void espyiSoftDevice_DestroyMesh(void* context, espyDeviceMesh mesh);
espyResult espyiSoftDevice_CreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out);
void espyiSoftDevice_DestroyTarget(void* context, espyDeviceTarget target);
/// Null where a handle names nothing that is alive.
const espyOccluder* espyiSoftDevice_FindMesh(const espyiSoftDevice* device, espyDeviceMesh mesh);
espyiSoftTarget* espyiSoftDevice_FindTarget(const espyiSoftDevice* device, espyDeviceTarget target);
/// Takes over the rasters of `made`, unless they are borrowed, also when it fails.
espyResult espyiSoftDevice_AddTarget(espyiSoftDevice* device, espyiSoftTarget* made, espyDeviceTarget* out);
void espyiSoftDevice_FreeTarget(const espyiSoftDevice* device, espyiSoftTarget* target);

#endif
