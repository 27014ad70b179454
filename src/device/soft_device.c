// SPDX-License-Identifier: MIT
// The software device: frames, passes, draws, queries and their answers.
//
// Answers wait in a ring of frames. With a latency of 2, at the time when frame 5 is begun:
//
//     slot    0       1       2       3
//     frame   5       2       3       4
//             fills   gone    ready   waits        ready: 3 + 2 <= 5; gone: given up when frame 5 began
//                     next
#include "device/soft_device.h"

#include <string.h>

static espyiSoftAnswers* espySoft_Slot(espyiSoftDevice* device, uint64_t ordinal)
{
    return &device->ring[ordinal % (device->latency + 2u)];
}

/// Checks a call within a pass, and all of its draws.
static bool espySoft_CheckDraws(const espyiSoftDevice* device, const espyDeviceDraw* draws, uint32_t count)
{
    bool good = ESPYI_CHECK(&device->hooks, device->pass != NULL);
    for (uint32_t i = 0; i < count && good; ++i)
    {
        good = ESPYI_CHECK(&device->hooks, espyMat4_IsFinite(draws[i].toWorld)) &&
               ESPYI_CHECK(&device->hooks, espyiSoftDevice_FindMesh(device, draws[i].mesh) != NULL);
    }
    return good;
}

static espyResult espySoftDevice_EndPass(void* context)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (!ESPYI_CHECK(&device->hooks, device->pass != NULL))
    {
        return espyResult_InvalidArgument;
    }
    device->pass = NULL;
    return espyResult_Ok;
}

static espyResult espySoftDevice_EndFrame(void* context)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (!ESPYI_CHECK(&device->hooks, device->inFrame && device->pass == NULL))
    {
        return espyResult_InvalidArgument;
    }
    device->inFrame = false;
    return espyResult_Ok;
}

static espyResult espySoftDevice_BeginFrame(void* context, uint64_t frame)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (!ESPYI_CHECK(&device->hooks, device->ordinal == 0 || frame > device->frame))
    {
        return espyResult_InvalidArgument;
    }
    device->pass = NULL;
    device->inFrame = true;
    device->frame = frame;
    ++device->ordinal;
    espyiSoftAnswers* slot = espySoft_Slot(device, device->ordinal);
    slot->ordinal = device->ordinal;
    slot->count = 0;
    slot->given = 0;
    return espyResult_Ok;
}

static espyResult espySoftDevice_BeginPass(void* context, const espyDevicePass* pass)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    espyiSoftTarget* target = espyiSoftDevice_FindTarget(device, pass->target);
    if (!ESPYI_CHECK(&device->hooks, device->inFrame && device->pass == NULL) ||
        !ESPYI_CHECK(&device->hooks, target != NULL) ||
        !ESPYI_CHECK(&device->hooks, espyRaster_GetWidth(target->rasters[0]) == target->width) ||
        !ESPYI_CHECK(&device->hooks, espyRaster_GetHeight(target->rasters[0]) == target->height))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < target->layers; ++i)
    {
        if (!ESPYI_CHECK(&device->hooks, espyMat4_IsFinite(pass->viewProjection[i])))
        {
            return espyResult_InvalidArgument;
        }
    }
    for (uint32_t i = 0; i < target->layers; ++i)
    {
        if (pass->clearDepth)
        {
            espyRaster_Begin(target->rasters[i], &pass->viewProjection[i]);
        }
        else
        {
            espyRaster_SetView(target->rasters[i], &pass->viewProjection[i]);
        }
        if (pass->clearIds && target->ids)
        {
            espyiIdTiles_Clear(&target->tiles[i], target->rasters[i]);
        }
    }
    if (pass->clearIds && target->ids)
    {
        memset(target->flags, 0, espyiBits_Words(device->maxIds) * sizeof *target->flags);
    }
    device->pass = target;
    return espyResult_Ok;
}

static espyResult espySoftDevice_DrawDepth(void* context, const espyDeviceDraw* draws, uint32_t count)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (!espySoft_CheckDraws(device, draws, count))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t first = 0; first < count; first += ESPYI_SOFT_DRAWS)
    {
        uint32_t run = count - first < ESPYI_SOFT_DRAWS ? count - first : ESPYI_SOFT_DRAWS;
        for (uint32_t i = 0; i < run; ++i)
        {
            const espyDeviceDraw* draw = &draws[first + i];
            device->draws[i] = (espyOccluderDraw){
                .occluder = espyiSoftDevice_FindMesh(device, draw->mesh), .toWorld = &draw->toWorld, .id = 0};
        }
        for (uint32_t layer = 0; layer < device->pass->layers; ++layer)
        {
            espyRaster_DrawSorted(device->pass->rasters[layer], device->draws, run, &device->tasks);
        }
    }
    return espyResult_Ok;
}

static espyResult espySoftDevice_DrawIds(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (!espySoft_CheckDraws(device, draws, count) || !ESPYI_CHECK(&device->hooks, device->pass->ids))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(&device->hooks, draws[i].id < device->maxIds))
        {
            return espyResult_InvalidArgument;
        }
    }
    espyiSoftTarget* target = device->pass;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyDeviceDraw* draw = &draws[i];
        const espyOccluder* mesh = espyiSoftDevice_FindMesh(device, draw->mesh);
        for (uint32_t layer = 0; layer < target->layers; ++layer)
        {
            bool flag = mode == espyIdMode_Flag;
            espyiProbe probe = {.tiles = flag ? NULL : &target->tiles[layer], .id = draw->id, .any = flag};
            if (flag && espyiBits_Get(target->flags, draw->id))
            {
                break;
            }
            espyiRaster_Probe(target->rasters[layer], mesh, &draw->toWorld, &probe);
            if (flag && probe.passed > 0)
            {
                espyiBits_Set(target->flags, draw->id);
            }
        }
    }
    return espyResult_Ok;
}

static uint64_t espySoft_Answer(const espyiSoftDevice* device, const espyDeviceQuery* query,
                                const espyDeviceDraw* proxies)
{
    espyiProbe probe = {.any = query->kind == espyQueryKind_Any};
    for (uint32_t i = 0; i < query->proxyCount; ++i)
    {
        const espyDeviceDraw* draw = &proxies[query->firstProxy + i];
        const espyOccluder* mesh = espyiSoftDevice_FindMesh(device, draw->mesh);
        for (uint32_t layer = 0; layer < device->pass->layers && !(probe.any && probe.passed > 0); ++layer)
        {
            espyiRaster_Probe(device->pass->rasters[layer], mesh, &draw->toWorld, &probe);
        }
    }
    return probe.passed;
}

static espyResult espySoftDevice_Query(void* context, const espyDeviceQuery* queries, uint32_t count,
                                       const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    if (!espySoft_CheckDraws(device, proxies, proxyCount))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (queries[i].kind != espyQueryKind_Any && queries[i].kind != espyQueryKind_Count)
        {
            return espyResult_Unsupported;
        }
        if (!ESPYI_CHECK(&device->hooks, queries[i].firstProxy <= proxyCount &&
                                             queries[i].proxyCount <= proxyCount - queries[i].firstProxy))
        {
            return espyResult_InvalidArgument;
        }
    }
    espyiSoftAnswers* slot = espySoft_Slot(device, device->ordinal);
    if (count > device->maxQueries - slot->count)
    {
        return espyResult_LimitExceeded;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        slot->answers[slot->count++] =
            (espyDeviceAnswer){queries[i].tag, device->frame, espySoft_Answer(device, &queries[i], proxies)};
    }
    return espyResult_Ok;
}

static espyResult espySoftDevice_ReadIds(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    espyiSoftTarget* from = espyiSoftDevice_FindTarget(device, target);
    memset(bits, 0, espyiBits_Words(idCount) * sizeof *bits);
    if (!ESPYI_CHECK(&device->hooks, device->inFrame && device->pass == NULL) ||
        !ESPYI_CHECK(&device->hooks, from != NULL && from->ids))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t known = idCount < device->maxIds ? idCount : device->maxIds;
    memcpy(bits, from->flags, espyiBits_Words(known) * sizeof *bits);
    if (known % 32u != 0)
    {
        bits[known / 32u] &= (1u << known % 32u) - 1u;
    }
    for (uint32_t layer = 0; layer < from->layers; ++layer)
    {
        const espyiIdTiles* tiles = &from->tiles[layer];
        for (uint32_t i = 0; i < tiles->touchedCount; ++i)
        {
            const uint32_t* ids = tiles->ids + (size_t)tiles->touched[i] * ESPYI_TILE_PIXELS;
            for (uint32_t p = 0; p < ESPYI_TILE_PIXELS; ++p)
            {
                if (ids[p] < idCount)
                {
                    espyiBits_Set(bits, ids[p]);
                }
            }
        }
    }
    return espyResult_Ok;
}

static uint32_t espySoftDevice_Poll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    uint32_t written = 0;
    uint64_t oldest = device->ordinal > device->latency + 1u ? device->ordinal - device->latency - 1u : 1u;
    for (uint64_t ordinal = oldest; ordinal + device->latency <= device->ordinal && written < capacity; ++ordinal)
    {
        if (ordinal == device->ordinal && device->inFrame)
        {
            break;
        }
        espyiSoftAnswers* slot = espySoft_Slot(device, ordinal);
        uint32_t left = slot->count - slot->given, room = capacity - written, run = left < room ? left : room;
        memcpy(out + written, slot->answers + slot->given, run * sizeof *out);
        slot->given += run;
        written += run;
    }
    return written;
}

static espyResult espySoftDevice_ReadPixels(void* context, espyDeviceTarget target, float* depth, uint32_t* ids)
{
    espyiSoftDevice* device = (espyiSoftDevice*)context;
    espyiSoftTarget* from = espyiSoftDevice_FindTarget(device, target);
    if (!ESPYI_CHECK(&device->hooks, device->pass == NULL) || !ESPYI_CHECK(&device->hooks, from != NULL))
    {
        return espyResult_InvalidArgument;
    }
    const espyRaster* raster = from->rasters[0];
    uint32_t width = (uint32_t)from->width, height = (uint32_t)from->height;
    if (depth != NULL)
    {
        espyRaster_ReadDepth(raster, depth, width);
    }
    for (uint32_t y = 0; y < height && ids != NULL; ++y)
    {
        for (uint32_t x = 0; x < width; ++x)
        {
            ids[(size_t)y * width + x] =
                from->ids ? espyiIdTiles_Get(&from->tiles[0], raster, x, y) : ESPY_RASTER_NO_ID;
        }
    }
    return espyResult_Ok;
}

// --- lifetime

espySoftDeviceDef espySoftDeviceDef_Default(void)
{
    return (espySoftDeviceDef){.maxQueriesPerFrame = 65536, .maxIds = 1048576, .cookie = ESPY_DEF_COOKIE};
}

/// The box that every device has.
static espyResult espySoft_CreateBox(espyiSoftDevice* device)
{
    static const uint32_t indices[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    espyVec3 corners[8];
    for (uint32_t i = 0; i < 8; ++i)
    {
        corners[i] = (espyVec3){(i & 1u) ? 1.0f : -1.0f, (i & 2u) ? 1.0f : -1.0f, (i & 4u) ? 1.0f : -1.0f};
    }
    espyOccluderDef def = espyOccluderDef_Default();
    def.hooks = device->hooks;
    def.triangles = (espyTriangles){.positions = corners, .vertexCount = 8, .indices = indices, .triangleCount = 12};
    def.mode = espyRasterMode_Sampled;
    return espyOccluder_Create(&def, &device->box);
}

static void espySoft_Free(espyiSoftDevice* device)
{
    espyHooks hooks = device->hooks;
    for (size_t i = 0; i < device->meshCount; ++i)
    {
        espyOccluder_Destroy(device->meshes[i].occluder);
    }
    for (size_t i = 0; i < device->targetCount; ++i)
    {
        espyiSoftDevice_FreeTarget(device, &device->targets[i]);
    }
    for (uint32_t i = 0; i < ESPYI_SOFT_MAX_LATENCY + 2u; ++i)
    {
        espyiFree(&hooks, device->ring[i].answers);
    }
    espyOccluder_Destroy(device->box);
    espyiFree(&hooks, device->meshes);
    espyiFree(&hooks, device->targets);
    espyiFree(&hooks, device->draws);
    espyiFree(&hooks, device);
}

espyResult espySoftDevice_Create(const espySoftDeviceDef* def, espyDevice* out)
{
    *out = (espyDevice){0};
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    if (!ESPYI_CHECK(&hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&hooks, def->latency <= ESPYI_SOFT_MAX_LATENCY) ||
        !ESPYI_CHECK(&hooks, def->maxQueriesPerFrame >= 1 && def->maxQueriesPerFrame <= 1u << 24) ||
        !ESPYI_CHECK(&hooks, def->maxIds >= 1 && def->maxIds <= 1u << 24))
    {
        return espyResult_InvalidArgument;
    }
    espyiSoftDevice* device = (espyiSoftDevice*)espyiAlloc(&hooks, 1, sizeof *device);
    if (device == NULL)
    {
        return espyResult_OutOfMemory;
    }
    device->hooks = hooks;
    device->tasks = def->tasks;
    device->isaCap = def->isaCap;
    device->latency = def->latency;
    device->maxQueries = def->maxQueriesPerFrame;
    device->maxIds = def->maxIds;
    device->draws = (espyOccluderDraw*)espyiAlloc(&hooks, ESPYI_SOFT_DRAWS, sizeof *device->draws);
    bool made = device->draws != NULL;
    for (uint32_t i = 0; i < def->latency + 2u && made; ++i)
    {
        espyiSoftAnswers* slot = &device->ring[i];
        slot->answers = (espyDeviceAnswer*)espyiAlloc(&hooks, def->maxQueriesPerFrame, sizeof *slot->answers);
        made = slot->answers != NULL;
    }
    if (!made || espySoft_CreateBox(device) != espyResult_Ok)
    {
        espySoft_Free(device);
        return espyResult_OutOfMemory;
    }
    *out = (espyDevice){
        .context = device,
        .caps = {.anyQueries = true,
                 .countQueries = true,
                 .idIndex = true,
                 .idFlag = true,
                 .maxQueriesPerFrame = def->maxQueriesPerFrame,
                 .maxIds = def->maxIds,
                 .samplesPerPixel = 1,
                 .maxLayers = ESPY_DEVICE_MAX_LAYERS},
        .createMesh = espyiSoftDevice_CreateMesh,
        .destroyMesh = espyiSoftDevice_DestroyMesh,
        .createTarget = espyiSoftDevice_CreateTarget,
        .destroyTarget = espyiSoftDevice_DestroyTarget,
        .beginFrame = espySoftDevice_BeginFrame,
        .beginPass = espySoftDevice_BeginPass,
        .drawDepth = espySoftDevice_DrawDepth,
        .drawIds = espySoftDevice_DrawIds,
        .query = espySoftDevice_Query,
        .endPass = espySoftDevice_EndPass,
        .readIds = espySoftDevice_ReadIds,
        .endFrame = espySoftDevice_EndFrame,
        .poll = espySoftDevice_Poll,
        .readPixels = espySoftDevice_ReadPixels,
        .cookie = ESPY_DEF_COOKIE,
    };
    return espyResult_Ok;
}

void espySoftDevice_Destroy(espyDevice* device)
{
    if (device != NULL && device->poll == espySoftDevice_Poll)
    {
        espySoft_Free((espyiSoftDevice*)device->context);
        *device = (espyDevice){0};
    }
}

espyResult espySoftDevice_WrapRaster(espyDevice* device, espyRaster* raster, bool ids, espyDeviceTarget* out)
{
    *out = (espyDeviceTarget){0};
    if (device->poll != espySoftDevice_Poll)
    {
        return espyResult_InvalidArgument;
    }
    espyiSoftDevice* soft = (espyiSoftDevice*)device->context;
    if (!ESPYI_CHECK(&soft->hooks, raster->mode == espyRasterMode_Sampled) ||
        !ESPYI_CHECK(&soft->hooks, soft->pass == NULL))
    {
        return espyResult_InvalidArgument;
    }
    espyiSoftTarget made = {.rasters = {raster},
                            .width = raster->width,
                            .height = raster->height,
                            .layers = 1,
                            .ids = ids,
                            .borrowed = true};
    return espyiSoftDevice_AddTarget(soft, &made, out);
}
