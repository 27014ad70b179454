// SPDX-License-Identifier: MIT
// The table of functions itself: a table that can do nothing, and the check of a table from outside.
#include <espy/device.h>

#include "core/core.h"

static espyResult espyDevice_NoCreateMesh(void* context, const espyTriangles* triangles, bool twoSided,
                                          espyDeviceMesh* out)
{
    (void)context, (void)triangles, (void)twoSided;
    *out = (espyDeviceMesh){0};
    return espyResult_Unsupported;
}

static void espyDevice_NoDestroyMesh(void* context, espyDeviceMesh mesh)
{
    (void)context, (void)mesh;
}

static espyResult espyDevice_NoCreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out)
{
    (void)context, (void)def;
    *out = (espyDeviceTarget){0};
    return espyResult_Unsupported;
}

static void espyDevice_NoDestroyTarget(void* context, espyDeviceTarget target)
{
    (void)context, (void)target;
}

static espyResult espyDevice_NoBeginFrame(void* context, uint64_t frame)
{
    (void)context, (void)frame;
    return espyResult_Unsupported;
}

static espyResult espyDevice_NoBeginPass(void* context, const espyDevicePass* pass)
{
    (void)context, (void)pass;
    return espyResult_Unsupported;
}

static espyResult espyDevice_NoDrawDepth(void* context, const espyDeviceDraw* draws, uint32_t count)
{
    (void)context, (void)draws, (void)count;
    return espyResult_Unsupported;
}

static espyResult espyDevice_NoDrawIds(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode)
{
    (void)context, (void)draws, (void)count, (void)mode;
    return espyResult_Unsupported;
}

static espyResult espyDevice_NoQuery(void* context, const espyDeviceQuery* queries, uint32_t count,
                                     const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    (void)context, (void)queries, (void)count, (void)proxies, (void)proxyCount;
    return espyResult_Unsupported;
}

static espyResult espyDevice_NoReadIds(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits)
{
    (void)context, (void)target, (void)idCount, (void)bits;
    return espyResult_Unsupported;
}

static espyResult espyDevice_NoEnd(void* context)
{
    (void)context;
    return espyResult_Unsupported;
}

static uint32_t espyDevice_NoPoll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    (void)context, (void)out, (void)capacity;
    return 0;
}

static espyResult espyDevice_NoReadPixels(void* context, espyDeviceTarget target, float* depth, uint32_t* ids)
{
    (void)context, (void)target, (void)depth, (void)ids;
    return espyResult_Unsupported;
}

espyDevice espyDevice_Default(void)
{
    return (espyDevice){
        .createMesh = espyDevice_NoCreateMesh,
        .destroyMesh = espyDevice_NoDestroyMesh,
        .createTarget = espyDevice_NoCreateTarget,
        .destroyTarget = espyDevice_NoDestroyTarget,
        .beginFrame = espyDevice_NoBeginFrame,
        .beginPass = espyDevice_NoBeginPass,
        .drawDepth = espyDevice_NoDrawDepth,
        .drawIds = espyDevice_NoDrawIds,
        .query = espyDevice_NoQuery,
        .endPass = espyDevice_NoEnd,
        .readIds = espyDevice_NoReadIds,
        .endFrame = espyDevice_NoEnd,
        .poll = espyDevice_NoPoll,
        .readPixels = espyDevice_NoReadPixels,
        .cookie = ESPY_DEF_COOKIE,
    };
}

espyDeviceTargetDef espyDeviceTargetDef_Default(void)
{
    return (espyDeviceTargetDef){.width = 1280, .height = 720, .layers = 1, .cookie = ESPY_DEF_COOKIE};
}

static const char* espyDevice_FindFault(const espyDevice* d)
{
    const espyDeviceCaps* caps = &d->caps;
    const bool queries = caps->anyQueries || caps->countQueries;
    const bool ids = caps->idIndex || caps->idFlag;
    if (d->cookie != ESPY_DEF_COOKIE)
    {
        return "cookie";
    }
    if (d->createMesh == NULL || d->destroyMesh == NULL)
    {
        return "createMesh, destroyMesh";
    }
    if (d->createTarget == NULL || d->destroyTarget == NULL)
    {
        return "createTarget, destroyTarget";
    }
    if (d->beginFrame == NULL || d->beginPass == NULL || d->endPass == NULL || d->endFrame == NULL)
    {
        return "beginFrame, beginPass, endPass, endFrame";
    }
    if (d->drawDepth == NULL || d->drawIds == NULL || d->readIds == NULL || d->readPixels == NULL)
    {
        return "drawDepth, drawIds, readIds, readPixels";
    }
    if (d->query == NULL || d->poll == NULL)
    {
        return "query, poll";
    }
    if (queries && caps->maxQueriesPerFrame == 0)
    {
        return "caps.maxQueriesPerFrame";
    }
    if (ids && caps->maxIds == 0)
    {
        return "caps.maxIds";
    }
    if ((queries || ids) && caps->samplesPerPixel == 0)
    {
        return "caps.samplesPerPixel";
    }
    if ((queries || ids) && (caps->maxLayers == 0 || caps->maxLayers > ESPY_DEVICE_MAX_LAYERS))
    {
        return "caps.maxLayers";
    }
    return NULL;
}

espyResult espyDevice_Validate(const espyDevice* device, const char** field)
{
    const char* fault = device == NULL ? "device" : espyDevice_FindFault(device);
    if (field != NULL)
    {
        *field = fault;
    }
    return fault == NULL ? espyResult_Ok : espyResult_InvalidArgument;
}
