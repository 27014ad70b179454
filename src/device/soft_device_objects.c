// SPDX-License-Identifier: MIT
// Meshes and targets of the software device: slots with generations, so that a handle of something freed names nothing.
#include "device/soft_device.h"

#include <string.h>

static uint64_t espySoft_Handle(size_t index, uint32_t generation)
{
    return (uint64_t)generation << 32 | (uint64_t)(index + 1u);
}

// --- meshes

espyResult espyiSoftDevice_CreateMesh(void* context, const espyTriangles* triangles, bool twoSided, espyDeviceMesh* out)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    *out = (espyDeviceMesh){0};
    size_t slot = 0;
    while (slot < device->meshCount && device->meshes[slot].occluder != NULL)
    {
        ++slot;
    }
    void* meshes = device->meshes;
    if (!espyiGrow(&device->hooks, &meshes, &device->meshCapacity, slot + 1u, sizeof *device->meshes))
    {
        return espyResult_OutOfMemory;
    }
    device->meshes = (espyiSoftMesh*)meshes;
    espyOccluderDef def = espyOccluderDef_Default();
    def.hooks = device->hooks;
    def.triangles = *triangles;
    def.mode = espyRasterMode_Sampled;
    def.twoSided = twoSided;
    espyOccluder* occluder;
    espyResult result = espyOccluder_Create(&def, &occluder);
    if (result != espyResult_Ok)
    {
        return result;
    }
    if (slot == device->meshCount)
    {
        device->meshes[device->meshCount++] = (espyiSoftMesh){.generation = 1};
    }
    device->meshes[slot].occluder = occluder;
    out->value = espySoft_Handle(slot, device->meshes[slot].generation);
    return espyResult_Ok;
}

void espyiSoftDevice_DestroyMesh(void* context, espyDeviceMesh mesh)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (mesh.value == 0 || !ESPYI_CHECK(&device->hooks, espyiSoftDevice_FindMesh(device, mesh) != NULL))
    {
        return;
    }
    espyiSoftMesh* slot = &device->meshes[(uint32_t)mesh.value - 1u];
    espyOccluder_Destroy(slot->occluder);
    slot->occluder = NULL;
    ++slot->generation;
}

const espyOccluder* espyiSoftDevice_FindMesh(const espyiSoftDevice* device, espyDeviceMesh mesh)
{
    uint32_t index = (uint32_t)mesh.value - 1u;
    if (mesh.value == 0)
    {
        return device->box;
    }
    return index < device->meshCount && device->meshes[index].generation == (uint32_t)(mesh.value >> 32)
               ? device->meshes[index].occluder
               : NULL;
}

// --- targets

espyiSoftTarget* espyiSoftDevice_FindTarget(const espyiSoftDevice* device, espyDeviceTarget target)
{
    uint32_t index = (uint32_t)target.value - 1u;
    return index < device->targetCount && device->targets[index].layers > 0 &&
                   device->targets[index].generation == (uint32_t)(target.value >> 32)
               ? &device->targets[index]
               : NULL;
}

void espyiSoftDevice_FreeTarget(const espyiSoftDevice* device, espyiSoftTarget* target)
{
    for (uint32_t i = 0; i < ESPY_DEVICE_MAX_LAYERS; ++i)
    {
        espyiIdTiles_Destroy(&target->tiles[i], &device->hooks);
        if (!target->borrowed)
        {
            espyRaster_Destroy(target->rasters[i]);
        }
    }
    espyiFree(&device->hooks, target->flags);
    *target = (espyiSoftTarget){.generation = target->generation + 1u};
}

espyResult espyiSoftDevice_AddTarget(espyiSoftDevice* device, espyiSoftTarget* made, espyDeviceTarget* out)
{
    size_t slot = 0;
    while (slot < device->targetCount && device->targets[slot].layers > 0)
    {
        ++slot;
    }
    void* targets = device->targets;
    bool fits = espyiGrow(&device->hooks, &targets, &device->targetCapacity, slot + 1u, sizeof *device->targets);
    device->targets = (espyiSoftTarget*)targets;
    if (fits && made->ids)
    {
        made->flags = (uint32_t*)espyiAlloc(&device->hooks, espyiBits_Words(device->maxIds), sizeof *made->flags);
        fits = made->flags != NULL;
        for (uint32_t i = 0; i < made->layers && fits; ++i)
        {
            fits = espyiIdTiles_Create(&made->tiles[i], &device->hooks, made->rasters[i]);
        }
    }
    if (!fits)
    {
        espyiSoftDevice_FreeTarget(device, made);
        return espyResult_OutOfMemory;
    }
    if (slot == device->targetCount)
    {
        device->targets[device->targetCount++] = (espyiSoftTarget){.generation = 1};
    }
    made->generation = device->targets[slot].generation;
    device->targets[slot] = *made;
    out->value = espySoft_Handle(slot, made->generation);
    return espyResult_Ok;
}

espyResult espyiSoftDevice_CreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    *out = (espyDeviceTarget){0};
    // A pass holds on to its target's slot, which growing moves.
    if (!ESPYI_CHECK(&device->hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&device->hooks, def->layers >= 1 && def->layers <= ESPY_DEVICE_MAX_LAYERS) ||
        !ESPYI_CHECK(&device->hooks, device->pass == NULL))
    {
        return espyResult_InvalidArgument;
    }
    espyRasterDef rasterDef = espyRasterDef_Default();
    rasterDef.hooks = device->hooks;
    rasterDef.width = def->width;
    rasterDef.height = def->height;
    rasterDef.reversedZ = def->reversedZ;
    rasterDef.isaCap = device->isaCap;
    espyiSoftTarget made = {.width = def->width, .height = def->height, .layers = def->layers, .ids = def->ids};
    for (uint32_t i = 0; i < def->layers; ++i)
    {
        espyResult result = espyRaster_Create(&rasterDef, &made.rasters[i]);
        if (result != espyResult_Ok)
        {
            espyiSoftDevice_FreeTarget(device, &made);
            return result;
        }
    }
    return espyiSoftDevice_AddTarget(device, &made, out);
}

void espyiSoftDevice_DestroyTarget(void* context, espyDeviceTarget target)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    espyiSoftTarget* found = espyiSoftDevice_FindTarget(device, target);
    if (target.value == 0 || !ESPYI_CHECK(&device->hooks, found != NULL))
    {
        return;
    }
    if (device->pass == found)
    {
        device->pass = NULL;
    }
    espyiSoftDevice_FreeTarget(device, found);
}
