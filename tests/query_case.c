// SPDX-License-Identifier: MIT
// Cameras and a counting device.
#include "query_case.h"

#include <stdio.h>
#include <stdlib.h>

static espyResult espyCount_Query(void* context, const espyDeviceQuery* queries, uint32_t count,
                                  const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    espyQueryCaseDevice* counted = (espyQueryCaseDevice*)context;
    ++counted->queryCalls;
    counted->queries += count;
    counted->proxies += proxyCount;
    return counted->inner.query(counted->inner.context, queries, count, proxies, proxyCount);
}

static uint32_t espyCount_Poll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    espyQueryCaseDevice* counted = (espyQueryCaseDevice*)context;
    ++counted->polls;
    return counted->inner.poll(counted->inner.context, out, capacity);
}

static espyResult espyCount_ReadIds(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits)
{
    espyQueryCaseDevice* counted = (espyQueryCaseDevice*)context;
    ++counted->waits;
    return counted->inner.readIds(counted->inner.context, target, idCount, bits);
}

static espyResult espyCount_ReadPixels(void* context, espyDeviceTarget target, float* depth, uint32_t* ids)
{
    espyQueryCaseDevice* counted = (espyQueryCaseDevice*)context;
    ++counted->waits;
    return counted->inner.readPixels(counted->inner.context, target, depth, ids);
}

espyDevice espyQueryCase_Count(espyQueryCaseDevice* counted, const espyDevice* inner)
{
    *counted = (espyQueryCaseDevice){.inner = *inner};
    espyDevice device = espyDevice_Default();
    device.context = counted;
    device.caps = inner->caps;
    device.query = espyCount_Query;
    device.poll = espyCount_Poll;
    device.readIds = espyCount_ReadIds;
    device.readPixels = espyCount_ReadPixels;
    return device;
}

void espyQueryCase_Look(espyViewDef* def, espyVec3 eye, espyVec3 target, const espyLens* lens)
{
    *def = espyViewDef_Default();
    def->reversedZ = lens->reversedZ;
    espyLens unit = {
        .orthographic = true, .nearDistance = 0.0f, .farDistance = 1.0f, .halfHeight = 1.0f, .aspect = 1.0f};
    // The view alone: through a projection that only turns depth around.
    espyMat4 view = espyRasterCase_View(eye, target, &unit);
    for (uint32_t column = 0; column < 4; ++column)
    {
        view.m[4u * column + 2u] = -view.m[4u * column + 2u];
    }
    def->view = view;
    float top = lens->halfHeight, right = lens->halfHeight * lens->aspect;
    float n = lens->nearDistance;
    def->projection = lens->orthographic
                          ? espyMat4_Orthographic(-right, right, -top, top, n, lens->farDistance, lens->reversedZ)
                          : espyMat4_PerspectiveOffCentre(-right * n, right * n, -top * n, top * n, n,
                                                          lens->farDistance, lens->reversedZ);
}

// --- a world of boxes

espyBox espyQueryCase_ProxyBox(const espyDeviceDraw* proxy)
{
    espyBox unit = {{-1, -1, -1}, {1, 1, 1}};
    return espyMat4_TransformBox(proxy->toWorld, unit);
}

uint64_t espyQueryTruth_Answer(const espyMockQuery* query, void* context)
{
    espyQueryTruth* truth = (espyQueryTruth*)context;
    uint64_t samples = 0;
    truth->tag = query->query->tag;
    truth->frame = query->frame;
    truth->query = *query->query;
    truth->proxy = query->proxies[0];
    ++truth->asked;
    for (uint32_t p = 0; p < query->query->proxyCount; ++p)
    {
        espyBox box = espyQueryCase_ProxyBox(&query->proxies[p]);
        for (uint32_t i = 0; i < truth->count; ++i)
        {
            samples += truth->shows[i] && espyBox_Overlaps(box, truth->boxes[i]) ? 100u : 0u;
        }
    }
    return samples;
}

static void espyCase_Check(espyResult result, const char* what)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "query_case: %s: %s\n", what, espyResult_GetName(result));
        abort();
    }
}

void espyQueryCase_Init(espyQueryCase* c, uint32_t latency)
{
    *c = (espyQueryCase){.viewDef = espyQueryViewDef_Default(), .camera = espyQueryCamera_Default()};
    c->truth.boxes = calloc(512, sizeof *c->truth.boxes);
    c->truth.shows = calloc(512, 1);
    espyMockDeviceDef def = espyMockDeviceDef_Default();
    def.answer = espyQueryTruth_Answer;
    def.callbackContext = &c->truth;
    def.faults.latency = latency;
    espyCase_Check(espyMockDevice_Create(&def, &c->device), "mock");
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    espyCase_Check(c->device.createTarget(c->device.context, &targetDef, &c->target), "target");
    espyLens lens = {.nearDistance = 0.1f, .farDistance = 500.0f, .halfHeight = 1.0f, .aspect = 16.0f / 9.0f};
    espyQueryCase_Look(&c->camera.eye, (espyVec3){0, 0, 0}, (espyVec3){0, 0, -1}, &lens);
    c->viewDef.autoOff = false;
    c->viewDef.history = true;
}

void espyQueryCase_Start(espyQueryCase* c)
{
    espyQuerySystemDef def = espyQuerySystemDef_Default();
    def.device = &c->device;
    def.hooks = c->hooks;
    espyCase_Check(espyQuerySystem_Create(&def, &c->system), "system");
    espyCase_Check(espyQuerySystem_CreateView(c->system, &c->viewDef, &c->view), "view");
}

void espyQueryCase_End(espyQueryCase* c)
{
    espyQuerySystem_Destroy(c->system);
    espyMockDevice_Destroy(&c->device);
    free(c->truth.boxes);
    free(c->truth.shows);
    *c = (espyQueryCase){0};
}

uint32_t espyQueryCase_Add(espyQueryCase* c, espyBox box, bool shows)
{
    uint32_t i = c->truth.count++;
    c->truth.boxes[i] = box;
    c->truth.shows[i] = shows;
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    def.box = box;
    espyCase_Check(espyQuerySystem_AddObject(c->system, &def, &c->ids[i]), "object");
    return i;
}

void espyQueryCase_Frame(espyQueryCase* c)
{
    const espyDevice* d = &c->device;
    ++c->frame;
    d->beginFrame(d->context, c->frame);
    espyCase_Check(espyQuerySystem_BeginFrame(c->system, c->frame), "BeginFrame");
    espyCase_Check(espyQuerySystem_Cull(c->system, c->view, &c->camera), "Cull");
    espyDevicePass pass = {.target = c->target, .clearDepth = true};
    pass.viewProjection[0] = espyMat4_Multiply(c->camera.eye.projection, c->camera.eye.view);
    pass.viewProjection[1] = pass.viewProjection[0];
    d->beginPass(d->context, &pass);
    espyQuerySystem_Submit(c->system, c->view);
    d->endPass(d->context);
    d->endFrame(d->context);
}

void espyQueryCase_Frames(espyQueryCase* c, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        espyQueryCase_Frame(c);
    }
}

espyQueryReason espyQueryCase_Reason(const espyQueryCase* c, uint32_t i)
{
    return espyQuerySystem_Explain(c->system, c->view, c->ids[i]).reason;
}

bool espyQueryCase_IsDrawn(const espyQueryCase* c, uint32_t i)
{
    uint32_t count;
    const espyQueryObjectId* draws = espyQuerySystem_GetDraws(c->system, c->view, &count);
    for (uint32_t d = 0; d < count; ++d)
    {
        if (draws[d].index1 == c->ids[i].index1 && draws[d].generation == c->ids[i].generation)
        {
            return true;
        }
    }
    return false;
}

espyQueryStats espyQueryCase_Stats(const espyQueryCase* c)
{
    return espyQuerySystem_GetStats(c->system, c->view);
}

void espyQueryCase_SetFaults(espyQueryCase* c, const espyMockFaults* faults)
{
    espyCase_Check(espyMockDevice_SetFaults(&c->device, faults), "faults");
}
