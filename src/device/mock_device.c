// SPDX-License-Identifier: MIT
// The mock device: calls are checked and counted, answers wait under the frame in which they are due.
//
//     asked in frame 7, latency 2         due[9] -> slot -> slot          a list for each frame to come
//     frame 9 begins                      ready: slot slot                poll takes from here
#include "device/mock_device.h"

#include <string.h>

static espyResult espyMock_Violate(espyiMockDevice* mock, espyMockViolation violation)
{
    ++mock->counts.violation[violation];
    ++mock->counts.violations;
    return espyResult_InvalidArgument;
}

/// Counts a call. False where the device is lost.
static bool espyMock_Enter(espyiMockDevice* mock)
{
    ++mock->counts.calls;
    mock->counts.callsAfterLoss += mock->lost ? 1u : 0u;
    mock->lost = mock->lost || (mock->loseAt != 0 && mock->counts.calls >= mock->loseAt);
    return !mock->lost;
}

static float espyMock_Chance(espyiMockDevice* mock)
{
    return espyiRng_Float(&mock->rng);
}

/// What an inner device said; a refusal is a violation that was not seen before.
static espyResult espyMock_Inner(espyiMockDevice* mock, espyResult result)
{
    if (result == espyResult_InvalidArgument || result == espyResult_Unsupported || result == espyResult_LimitExceeded)
    {
        espyMock_Violate(mock, espyMockViolation_Inner);
    }
    mock->lost = mock->lost || result == espyResult_DeviceLost;
    return result;
}

// --- answers

void espyiMockDevice_PushReady(espyiMockDevice* mock, uint32_t slot)
{
    uint32_t capacity = mock->def.maxPending;
    uint32_t at = (mock->readyFirst + mock->readyCount) % capacity;
    mock->ready[at] = slot;
    ++mock->readyCount;
    if (mock->faults.shuffle)
    {
        uint32_t other = (mock->readyFirst + espyiRng_Below(&mock->rng, mock->readyCount)) % capacity;
        mock->ready[at] = mock->ready[other];
        mock->ready[other] = slot;
    }
}

static void espyMock_PushDue(espyiMockDevice* mock, uint32_t slot, uint64_t ordinal)
{
    uint32_t* list = &mock->due[ordinal % ESPYI_MOCK_DUE_LISTS];
    mock->slots[slot].next = *list;
    *list = slot;
}

/// Makes ready what is due in this frame, in the order in which it was asked.
static void espyMock_Ripen(espyiMockDevice* mock)
{
    uint32_t* list = &mock->due[mock->ordinal % ESPYI_MOCK_DUE_LISTS];
    uint32_t reversed = ESPYI_MOCK_NO_SLOT;
    while (*list != ESPYI_MOCK_NO_SLOT)
    {
        uint32_t slot = *list;
        *list = mock->slots[slot].next;
        mock->slots[slot].next = reversed;
        reversed = slot;
    }
    while (reversed != ESPYI_MOCK_NO_SLOT)
    {
        uint32_t slot = reversed;
        reversed = mock->slots[slot].next;
        espyiMockDevice_PushReady(mock, slot);
    }
}

uint32_t espyiMockDevice_TakeSlot(espyiMockDevice* mock)
{
    uint32_t slot = mock->freeSlot;
    if (slot != ESPYI_MOCK_NO_SLOT)
    {
        mock->freeSlot = mock->slots[slot].next;
        mock->slots[slot].used = true;
        ++mock->counts.pending;
    }
    return slot;
}

static void espyMock_GiveSlot(espyiMockDevice* mock, uint32_t slot)
{
    mock->slots[slot].used = false;
    ++mock->slots[slot].generation;
    mock->slots[slot].next = mock->freeSlot;
    mock->freeSlot = slot;
    --mock->counts.pending;
}

static uint64_t espyMock_AsBoolean(espyiMockDevice* mock, uint64_t value)
{
    if (value == 0)
    {
        return 0;
    }
    return mock->faults.anyNonZero ? 1u + espyiRng_Below(&mock->rng, 1u << 30) : 1u;
}

/// Puts an answer on its way; the slot of one whose value the inner device brings, or ESPYI_MOCK_NO_SLOT.
static uint32_t espyMock_Send(espyiMockDevice* mock, const espyDeviceQuery* query, bool known, uint64_t value)
{
    const espyMockFaults* faults = &mock->faults;
    bool drops = espyMock_Chance(mock) < faults->dropShare;
    uint32_t delay = faults->latency + espyiRng_Below(&mock->rng, faults->jitter + 1u);
    delay += espyMock_Chance(mock) < faults->lateShare ? faults->lateFrames : 0;
    uint32_t slot = drops ? ESPYI_MOCK_NO_SLOT : espyiMockDevice_TakeSlot(mock);
    if (slot == ESPYI_MOCK_NO_SLOT)
    {
        ++mock->counts.dropped;
        return ESPYI_MOCK_NO_SLOT;
    }
    espyiMockSlot* to = &mock->slots[slot];
    to->boolean = query->kind == espyQueryKind_Any;
    to->known = known;
    to->answer =
        (espyDeviceAnswer){query->tag, mock->frame, known && to->boolean ? espyMock_AsBoolean(mock, value) : value};
    espyMock_PushDue(mock, slot, mock->ordinal + delay);
    return slot;
}

/// Takes what the inner device has.
static void espyMock_Drain(espyiMockDevice* mock)
{
    espyDeviceAnswer answers[64];
    uint32_t count = 64;
    while (mock->def.inner != NULL && count == 64)
    {
        count = mock->def.inner->poll(mock->def.inner->context, answers, 64);
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t slot = (uint32_t)answers[i].tag;
            espyiMockSlot* to = slot < mock->def.maxPending ? &mock->slots[slot] : NULL;
            if (to != NULL && to->used && !to->known && to->generation == (uint32_t)(answers[i].tag >> 32))
            {
                to->known = true;
                to->answer.value = to->boolean ? espyMock_AsBoolean(mock, answers[i].value) : answers[i].value;
            }
        }
    }
}

static uint32_t espyMockDevice_Poll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock) || mock->faults.neverReady)
    {
        return 0;
    }
    espyMock_Drain(mock);
    uint32_t written = 0;
    for (uint32_t left = mock->readyCount; left > 0 && written < capacity; --left)
    {
        uint32_t slot = mock->ready[mock->readyFirst];
        mock->readyFirst = (mock->readyFirst + 1u) % mock->def.maxPending;
        --mock->readyCount;
        if (!mock->slots[slot].known)
        {
            espyMock_PushDue(mock, slot, mock->ordinal + 1u); // The inner device needs longer.
            continue;
        }
        out[written++] = mock->slots[slot].answer;
        espyMock_GiveSlot(mock, slot);
    }
    mock->counts.answers += written;
    return written;
}

// --- meshes and targets

static espyResult espyMockDevice_CreateMesh(void* context, const espyTriangles* triangles, bool twoSided,
                                            espyDeviceMesh* out)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    *out = (espyDeviceMesh){0};
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    for (size_t i = 0; i < (size_t)triangles->triangleCount * 3u; ++i)
    {
        if (triangles->indices[i] >= triangles->vertexCount)
        {
            return espyMock_Violate(mock, espyMockViolation_Def);
        }
    }
    espyResult result = espyResult_Ok;
    if (mock->def.inner != NULL)
    {
        result = espyMock_Inner(mock, mock->def.inner->createMesh(mock->def.inner->context, triangles, twoSided, out));
    }
    else
    {
        void* meshes = mock->meshes;
        if (!espyiGrow(&mock->hooks, &meshes, &mock->meshCapacity, mock->meshCount + 1u, sizeof *mock->meshes))
        {
            return espyResult_OutOfMemory;
        }
        mock->meshes = (bool*)meshes;
        mock->meshes[mock->meshCount++] = true;
        out->value = mock->meshCount;
    }
    mock->counts.meshes += result == espyResult_Ok ? 1u : 0u;
    return result;
}

static bool espyMock_IsMesh(const espyiMockDevice* mock, espyDeviceMesh mesh)
{
    return mesh.value == 0 || mock->def.inner != NULL ||
           (mesh.value <= mock->meshCount && mock->meshes[mesh.value - 1u]);
}

static void espyMockDevice_DestroyMesh(void* context, espyDeviceMesh mesh)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    (void)espyMock_Enter(mock); // What was made on a device that is lost is freed all the same.
    if (mesh.value == 0)
    {
        return;
    }
    if (!espyMock_IsMesh(mock, mesh))
    {
        espyMock_Violate(mock, espyMockViolation_Mesh);
        return;
    }
    if (mock->def.inner != NULL)
    {
        mock->def.inner->destroyMesh(mock->def.inner->context, mesh);
    }
    else
    {
        mock->meshes[mesh.value - 1u] = false;
    }
    --mock->counts.meshes;
}

static espyResult espyMockDevice_CreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    *out = (espyDeviceTarget){0};
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (mock->inPass)
    {
        return espyMock_Violate(mock, espyMockViolation_InPass);
    }
    if (def->cookie != ESPY_DEF_COOKIE || def->width < 1 || def->width > ESPY_RASTER_MAX_SIZE || def->height < 1 ||
        def->height > ESPY_RASTER_MAX_SIZE || def->layers < 1 || def->layers > mock->def.caps.maxLayers ||
        (def->ids && mock->def.caps.maxIds == 0))
    {
        return espyMock_Violate(mock, espyMockViolation_Def);
    }
    if (mock->def.inner != NULL)
    {
        espyResult result = espyMock_Inner(mock, mock->def.inner->createTarget(mock->def.inner->context, def, out));
        mock->counts.targets += result == espyResult_Ok ? 1u : 0u;
        return result;
    }
    void* targets = mock->targets;
    bool fits = espyiGrow(&mock->hooks, &targets, &mock->targetCapacity, mock->targetCount + 1u, sizeof *mock->targets);
    mock->targets = (espyiMockTarget*)targets;
    espyiMockTarget made = {.layers = def->layers, .alive = true};
    if (fits && def->ids)
    {
        made.seen = (uint32_t*)espyiAlloc(&mock->hooks, espyiBits_Words(mock->def.caps.maxIds), sizeof *made.seen);
        fits = made.seen != NULL;
    }
    if (!fits)
    {
        return espyResult_OutOfMemory;
    }
    mock->targets[mock->targetCount++] = made;
    ++mock->counts.targets;
    out->value = mock->targetCount;
    return espyResult_Ok;
}

static espyiMockTarget* espyMock_FindTarget(const espyiMockDevice* mock, espyDeviceTarget target)
{
    return target.value >= 1 && target.value <= mock->targetCount && mock->targets[target.value - 1u].alive
               ? &mock->targets[target.value - 1u]
               : NULL;
}

static void espyMockDevice_DestroyTarget(void* context, espyDeviceTarget target)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    (void)espyMock_Enter(mock);
    if (target.value == 0)
    {
        return;
    }
    mock->inPass = mock->inPass && mock->pass.target.value != target.value;
    if (mock->def.inner != NULL)
    {
        mock->def.inner->destroyTarget(mock->def.inner->context, target);
        --mock->counts.targets;
        return;
    }
    espyiMockTarget* found = espyMock_FindTarget(mock, target);
    if (found == NULL)
    {
        espyMock_Violate(mock, espyMockViolation_Target);
        return;
    }
    espyiFree(&mock->hooks, found->seen);
    *found = (espyiMockTarget){0};
    --mock->counts.targets;
}

// --- frames and passes

static espyResult espyMockDevice_BeginFrame(void* context, uint64_t frame)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (mock->ordinal != 0 && frame <= mock->frame)
    {
        return espyMock_Violate(mock, espyMockViolation_FrameNotGrowing);
    }
    if (mock->inFrame)
    {
        espyMock_Ripen(mock); // Of the frame that ends here.
    }
    espyResult result = espyResult_Ok;
    if (mock->def.inner != NULL)
    {
        espyMock_Drain(mock);
        result = espyMock_Inner(mock, mock->def.inner->beginFrame(mock->def.inner->context, frame));
    }
    mock->inPass = false;
    mock->inFrame = result == espyResult_Ok;
    mock->frame = frame;
    mock->asked = 0;
    ++mock->ordinal;
    ++mock->counts.frames;
    espyMock_Ripen(mock);
    return result;
}

static espyResult espyMockDevice_BeginPass(void* context, const espyDevicePass* pass)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!mock->inFrame || mock->inPass)
    {
        return espyMock_Violate(mock, mock->inPass ? espyMockViolation_InPass : espyMockViolation_NoFrame);
    }
    espyiMockTarget* target = mock->def.inner == NULL ? espyMock_FindTarget(mock, pass->target) : NULL;
    if (mock->def.inner == NULL && target == NULL)
    {
        return espyMock_Violate(mock, espyMockViolation_Target);
    }
    for (uint32_t i = 0; i < (target != NULL ? target->layers : 1u); ++i)
    {
        if (!espyMat4_IsFinite(pass->viewProjection[i]))
        {
            return espyMock_Violate(mock, espyMockViolation_Matrix);
        }
    }
    if (mock->def.inner != NULL)
    {
        espyResult result = espyMock_Inner(mock, mock->def.inner->beginPass(mock->def.inner->context, pass));
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    else if (pass->clearIds && target->seen != NULL)
    {
        memset(target->seen, 0, espyiBits_Words(mock->def.caps.maxIds) * sizeof *target->seen);
    }
    mock->pass = *pass;
    mock->inPass = true;
    ++mock->counts.passes;
    return espyResult_Ok;
}

static espyResult espyMockDevice_EndPass(void* context)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!mock->inPass)
    {
        return espyMock_Violate(mock, espyMockViolation_NoPass);
    }
    mock->inPass = false;
    return mock->def.inner != NULL ? espyMock_Inner(mock, mock->def.inner->endPass(mock->def.inner->context))
                                   : espyResult_Ok;
}

static espyResult espyMockDevice_EndFrame(void* context)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!mock->inFrame || mock->inPass)
    {
        return espyMock_Violate(mock, mock->inPass ? espyMockViolation_InPass : espyMockViolation_NoFrame);
    }
    mock->inFrame = false;
    espyResult result = espyResult_Ok;
    if (mock->def.inner != NULL)
    {
        result = espyMock_Inner(mock, mock->def.inner->endFrame(mock->def.inner->context));
        espyMock_Drain(mock);
    }
    espyMock_Ripen(mock); // What is due in the frame that asked.
    return result;
}

// --- draws

/// Checks a call within a pass, and all of its draws.
static bool espyMock_CheckDraws(espyiMockDevice* mock, const espyDeviceDraw* draws, uint32_t count, bool ids)
{
    espyMockViolation found = mock->inPass ? espyMockViolation_Count : espyMockViolation_NoPass;
    for (uint32_t i = 0; i < count && found == espyMockViolation_Count; ++i)
    {
        found = !espyMat4_IsFinite(draws[i].toWorld)          ? espyMockViolation_Matrix
                : !espyMock_IsMesh(mock, draws[i].mesh)       ? espyMockViolation_Mesh
                : ids && draws[i].id >= mock->def.caps.maxIds ? espyMockViolation_Id
                                                              : espyMockViolation_Count;
    }
    if (found != espyMockViolation_Count)
    {
        espyMock_Violate(mock, found);
    }
    return found == espyMockViolation_Count;
}

static espyResult espyMockDevice_DrawDepth(void* context, const espyDeviceDraw* draws, uint32_t count)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!espyMock_CheckDraws(mock, draws, count, false))
    {
        return espyResult_InvalidArgument;
    }
    mock->counts.depthDraws += count;
    if (mock->def.drawn != NULL)
    {
        mock->def.drawn(&mock->pass, draws, count, mock->def.callbackContext);
    }
    return mock->def.inner != NULL
               ? espyMock_Inner(mock, mock->def.inner->drawDepth(mock->def.inner->context, draws, count))
               : espyResult_Ok;
}

static espyResult espyMockDevice_DrawIds(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!(mode == espyIdMode_Index ? mock->def.caps.idIndex : mode == espyIdMode_Flag && mock->def.caps.idFlag))
    {
        espyMock_Violate(mock, espyMockViolation_Unsupported);
        return espyResult_Unsupported;
    }
    if (!espyMock_CheckDraws(mock, draws, count, true))
    {
        return espyResult_InvalidArgument;
    }
    if (mock->def.inner != NULL)
    {
        mock->counts.idDraws += count;
        return espyMock_Inner(mock, mock->def.inner->drawIds(mock->def.inner->context, draws, count, mode));
    }
    espyiMockTarget* target = espyMock_FindTarget(mock, mock->pass.target);
    if (target == NULL || target->seen == NULL)
    {
        return espyMock_Violate(mock, espyMockViolation_Target);
    }
    mock->counts.idDraws += count;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (mock->def.sees == NULL || mock->def.sees(&mock->pass, &draws[i], mode, mock->def.callbackContext))
        {
            espyiBits_Set(target->seen, draws[i].id);
        }
    }
    return espyResult_Ok;
}

static espyResult espyMock_CheckQueries(espyiMockDevice* mock, const espyDeviceQuery* queries, uint32_t count,
                                        uint32_t proxyCount)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        bool known = queries[i].kind == espyQueryKind_Any
                         ? mock->def.caps.anyQueries
                         : queries[i].kind == espyQueryKind_Count && mock->def.caps.countQueries;
        if (!known)
        {
            espyMock_Violate(mock, espyMockViolation_Unsupported);
            return espyResult_Unsupported;
        }
        if (queries[i].firstProxy > proxyCount || queries[i].proxyCount > proxyCount - queries[i].firstProxy)
        {
            return espyMock_Violate(mock, espyMockViolation_Run);
        }
    }
    if (count > mock->def.caps.maxQueriesPerFrame - mock->asked)
    {
        espyMock_Violate(mock, espyMockViolation_TooManyQueries);
        return espyResult_LimitExceeded;
    }
    return espyResult_Ok;
}

static espyResult espyMockDevice_Query(void* context, const espyDeviceQuery* queries, uint32_t count,
                                       const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!espyMock_CheckDraws(mock, proxies, proxyCount, false))
    {
        return espyResult_InvalidArgument;
    }
    espyResult result = espyMock_CheckQueries(mock, queries, count, proxyCount);
    for (uint32_t i = 0; i < count && result == espyResult_Ok; ++i)
    {
        const espyDeviceQuery* query = &queries[i];
        const espyDeviceDraw* run = query->proxyCount > 0 ? proxies + query->firstProxy : NULL;
        bool scripted = mock->scriptNext < mock->scriptCount;
        bool known = scripted || mock->def.answer != NULL || mock->def.inner == NULL;
        uint64_t value = query->proxyCount > 0 ? mock->def.defaultValue : 0;
        if (scripted)
        {
            value = mock->script[mock->scriptNext++];
        }
        else if (mock->def.answer != NULL)
        {
            espyMockQuery asked = {mock->frame, &mock->pass, query, run};
            value = mock->def.answer(&asked, mock->def.callbackContext);
        }
        uint32_t slot = espyMock_Send(mock, query, known, value);
        if (!known && slot != ESPYI_MOCK_NO_SLOT)
        {
            espyDeviceQuery inner = *query;
            inner.tag = (uint64_t)mock->slots[slot].generation << 32 | slot;
            inner.firstProxy = 0;
            result = espyMock_Inner(
                mock, mock->def.inner->query(mock->def.inner->context, &inner, 1, run, query->proxyCount));
        }
        ++mock->asked;
        ++mock->counts.queries;
        mock->counts.proxies += query->proxyCount;
    }
    return result;
}

// --- reading

static espyResult espyMockDevice_ReadIds(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    memset(bits, 0, espyiBits_Words(idCount) * sizeof *bits);
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!mock->inFrame || mock->inPass)
    {
        return espyMock_Violate(mock, mock->inPass ? espyMockViolation_InPass : espyMockViolation_NoFrame);
    }
    ++mock->counts.waits;
    ++mock->counts.readIds;
    if (mock->def.inner != NULL)
    {
        return espyMock_Inner(mock, mock->def.inner->readIds(mock->def.inner->context, target, idCount, bits));
    }
    const espyiMockTarget* from = espyMock_FindTarget(mock, target);
    if (from == NULL || from->seen == NULL)
    {
        return espyMock_Violate(mock, espyMockViolation_Target);
    }
    uint32_t known = idCount < mock->def.caps.maxIds ? idCount : mock->def.caps.maxIds;
    memcpy(bits, from->seen, espyiBits_Words(known) * sizeof *bits);
    if (known % 32u != 0)
    {
        bits[known / 32u] &= (1u << known % 32u) - 1u;
    }
    return espyResult_Ok;
}

static espyResult espyMockDevice_ReadPixels(void* context, espyDeviceTarget target, float* depth, uint32_t* ids)
{
    espyiMockDevice* mock = (espyiMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (mock->inPass)
    {
        return espyMock_Violate(mock, espyMockViolation_InPass);
    }
    ++mock->counts.waits;
    return mock->def.inner != NULL
               ? espyMock_Inner(mock, mock->def.inner->readPixels(mock->def.inner->context, target, depth, ids))
               : espyResult_Unsupported;
}

// --- table

void espyiMockDevice_FillTable(espyDevice* out)
{
    out->createMesh = espyMockDevice_CreateMesh;
    out->destroyMesh = espyMockDevice_DestroyMesh;
    out->createTarget = espyMockDevice_CreateTarget;
    out->destroyTarget = espyMockDevice_DestroyTarget;
    out->beginFrame = espyMockDevice_BeginFrame;
    out->beginPass = espyMockDevice_BeginPass;
    out->drawDepth = espyMockDevice_DrawDepth;
    out->drawIds = espyMockDevice_DrawIds;
    out->query = espyMockDevice_Query;
    out->endPass = espyMockDevice_EndPass;
    out->readIds = espyMockDevice_ReadIds;
    out->endFrame = espyMockDevice_EndFrame;
    out->poll = espyMockDevice_Poll;
    out->readPixels = espyMockDevice_ReadPixels;
}

espyiMockDevice* espyiMockDevice_Of(const espyDevice* device)
{
    return device != NULL && device->poll == espyMockDevice_Poll ? (espyiMockDevice*)device->context : NULL;
}
