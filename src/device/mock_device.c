// SPDX-License-Identifier: MIT
// The mock device: calls are checked and counted, answers wait under the frame in which they are due.
//
//     asked in frame 7, latency 2         due[9] -> slot -> slot          a list for each frame to come
//     frame 9 begins                      ready: slot slot                poll takes from here
#include <espy/device_mock.h>

#include "core/core.h"

#include <string.h>

#define ESPY_DUE_LISTS (ESPY_MOCK_MAX_DELAY + 1u)
#define ESPY_NO_SLOT 0xFFFFFFFFu

/// An answer under way.
typedef struct espyMockSlot
{
    espyDeviceAnswer answer;
    uint32_t next;       ///< In its list; ESPY_NO_SLOT ends it.
    uint32_t generation; ///< Of the slot: the inner device answers late, too.
    bool used, known;    ///< Known: the value is there.
    bool boolean;
} espyMockSlot;

typedef struct espyMockTarget
{
    uint32_t* seen; ///< With ids: one bit an id.
    uint32_t layers;
    bool alive;
} espyMockTarget;

typedef struct espyMockDevice
{
    espyMockDeviceDef def;
    espyHooks hooks;
    espyiRng rng;
    espyMockFaults faults;
    espyMockCounts counts;
    uint64_t loseAt; ///< Number of the call; 0: none.
    bool lost, inFrame, inPass;
    uint64_t frame, ordinal;
    uint32_t asked; ///< Queries of the frame.
    espyDevicePass pass;
    size_t passTarget; ///< Of a pass without an inner device.
    espyMockSlot* slots;
    uint32_t* ready; ///< Ring of maxPending.
    uint32_t readyFirst, readyCount, freeSlot;
    uint32_t due[ESPY_DUE_LISTS];
    uint64_t* script;
    size_t scriptCapacity, scriptCount, scriptNext;
    bool* meshes; ///< Alive; without an inner device.
    size_t meshCapacity, meshCount;
    espyMockTarget* targets; ///< Without an inner device.
    size_t targetCapacity, targetCount;
} espyMockDevice;

static espyResult espyMock_Violate(espyMockDevice* mock, espyMockViolation violation)
{
    ++mock->counts.violation[violation];
    ++mock->counts.violations;
    return espyResult_InvalidArgument;
}

/// Counts a call. False where the device is lost.
static bool espyMock_Enter(espyMockDevice* mock)
{
    ++mock->counts.calls;
    mock->counts.callsAfterLoss += mock->lost ? 1u : 0u;
    mock->lost = mock->lost || (mock->loseAt != 0 && mock->counts.calls >= mock->loseAt);
    return !mock->lost;
}

static float espyMock_Chance(espyMockDevice* mock)
{
    return espyiRng_Float(&mock->rng);
}

/// What an inner device said; a refusal is a violation that was not seen before.
static espyResult espyMock_Inner(espyMockDevice* mock, espyResult result)
{
    if (result == espyResult_InvalidArgument || result == espyResult_Unsupported || result == espyResult_LimitExceeded)
    {
        espyMock_Violate(mock, espyMockViolation_Inner);
    }
    mock->lost = mock->lost || result == espyResult_DeviceLost;
    return result;
}

// --- answers

static void espyMock_PushReady(espyMockDevice* mock, uint32_t slot)
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

static void espyMock_PushDue(espyMockDevice* mock, uint32_t slot, uint64_t ordinal)
{
    uint32_t* list = &mock->due[ordinal % ESPY_DUE_LISTS];
    mock->slots[slot].next = *list;
    *list = slot;
}

/// Makes ready what is due in this frame, in the order in which it was asked.
static void espyMock_Ripen(espyMockDevice* mock)
{
    uint32_t* list = &mock->due[mock->ordinal % ESPY_DUE_LISTS];
    uint32_t reversed = ESPY_NO_SLOT;
    while (*list != ESPY_NO_SLOT)
    {
        uint32_t slot = *list;
        *list = mock->slots[slot].next;
        mock->slots[slot].next = reversed;
        reversed = slot;
    }
    while (reversed != ESPY_NO_SLOT)
    {
        uint32_t slot = reversed;
        reversed = mock->slots[slot].next;
        espyMock_PushReady(mock, slot);
    }
}

static uint32_t espyMock_TakeSlot(espyMockDevice* mock)
{
    uint32_t slot = mock->freeSlot;
    if (slot != ESPY_NO_SLOT)
    {
        mock->freeSlot = mock->slots[slot].next;
        mock->slots[slot].used = true;
        ++mock->counts.pending;
    }
    return slot;
}

static void espyMock_GiveSlot(espyMockDevice* mock, uint32_t slot)
{
    mock->slots[slot].used = false;
    ++mock->slots[slot].generation;
    mock->slots[slot].next = mock->freeSlot;
    mock->freeSlot = slot;
    --mock->counts.pending;
}

static uint64_t espyMock_AsBoolean(espyMockDevice* mock, uint64_t value)
{
    if (value == 0)
    {
        return 0;
    }
    return mock->faults.anyNonZero ? 1u + espyiRng_Below(&mock->rng, 1u << 30) : 1u;
}

/// Puts an answer on its way; the slot of one whose value the inner device brings, or ESPY_NO_SLOT.
static uint32_t espyMock_Send(espyMockDevice* mock, const espyDeviceQuery* query, bool known, uint64_t value)
{
    const espyMockFaults* faults = &mock->faults;
    bool drops = espyMock_Chance(mock) < faults->dropShare;
    uint32_t delay = faults->latency + espyiRng_Below(&mock->rng, faults->jitter + 1u);
    delay += espyMock_Chance(mock) < faults->lateShare ? faults->lateFrames : 0;
    uint32_t slot = drops ? ESPY_NO_SLOT : espyMock_TakeSlot(mock);
    if (slot == ESPY_NO_SLOT)
    {
        ++mock->counts.dropped;
        return ESPY_NO_SLOT;
    }
    espyMockSlot* to = &mock->slots[slot];
    to->boolean = query->kind == espyQueryKind_Any;
    to->known = known;
    to->answer =
        (espyDeviceAnswer){query->tag, mock->frame, known && to->boolean ? espyMock_AsBoolean(mock, value) : value};
    espyMock_PushDue(mock, slot, mock->ordinal + delay);
    return slot;
}

/// Takes what the inner device has.
static void espyMock_Drain(espyMockDevice* mock)
{
    espyDeviceAnswer answers[64];
    uint32_t count = 64;
    while (mock->def.inner != NULL && count == 64)
    {
        count = mock->def.inner->poll(mock->def.inner->context, answers, 64);
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t slot = (uint32_t)answers[i].tag;
            espyMockSlot* to = slot < mock->def.maxPending ? &mock->slots[slot] : NULL;
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockDevice* mock = (espyMockDevice*)context;
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

static bool espyMock_IsMesh(const espyMockDevice* mock, espyDeviceMesh mesh)
{
    return mesh.value == 0 || mock->def.inner != NULL ||
           (mesh.value <= mock->meshCount && mock->meshes[mesh.value - 1u]);
}

static void espyMockDevice_DestroyMesh(void* context, espyDeviceMesh mesh)
{
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
    mock->targets = (espyMockTarget*)targets;
    espyMockTarget made = {.layers = def->layers, .alive = true};
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

static espyMockTarget* espyMock_FindTarget(const espyMockDevice* mock, espyDeviceTarget target)
{
    return target.value >= 1 && target.value <= mock->targetCount && mock->targets[target.value - 1u].alive
               ? &mock->targets[target.value - 1u]
               : NULL;
}

static void espyMockDevice_DestroyTarget(void* context, espyDeviceTarget target)
{
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockTarget* found = espyMock_FindTarget(mock, target);
    if (found == NULL)
    {
        espyMock_Violate(mock, espyMockViolation_Target);
        return;
    }
    espyiFree(&mock->hooks, found->seen);
    *found = (espyMockTarget){0};
    --mock->counts.targets;
}

// --- frames and passes

static espyResult espyMockDevice_BeginFrame(void* context, uint64_t frame)
{
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockDevice* mock = (espyMockDevice*)context;
    if (!espyMock_Enter(mock))
    {
        return espyResult_DeviceLost;
    }
    if (!mock->inFrame || mock->inPass)
    {
        return espyMock_Violate(mock, mock->inPass ? espyMockViolation_InPass : espyMockViolation_NoFrame);
    }
    espyMockTarget* target = mock->def.inner == NULL ? espyMock_FindTarget(mock, pass->target) : NULL;
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
static bool espyMock_CheckDraws(espyMockDevice* mock, const espyDeviceDraw* draws, uint32_t count, bool ids)
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
    espyMockTarget* target = espyMock_FindTarget(mock, mock->pass.target);
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

static espyResult espyMock_CheckQueries(espyMockDevice* mock, const espyDeviceQuery* queries, uint32_t count,
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
        if (!known && slot != ESPY_NO_SLOT)
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
    espyMockDevice* mock = (espyMockDevice*)context;
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
    const espyMockTarget* from = espyMock_FindTarget(mock, target);
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
    espyMockDevice* mock = (espyMockDevice*)context;
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

// --- lifetime

espyMockDeviceDef espyMockDeviceDef_Default(void)
{
    return (espyMockDeviceDef){.caps = {.anyQueries = true,
                                        .countQueries = true,
                                        .idIndex = true,
                                        .idFlag = true,
                                        .maxQueriesPerFrame = 65536,
                                        .maxIds = 1048576,
                                        .samplesPerPixel = 1,
                                        .maxLayers = ESPY_DEVICE_MAX_LAYERS},
                               .defaultValue = 1,
                               .faults = {.anyNonZero = true},
                               .seed = 1,
                               .maxPending = 262144,
                               .cookie = ESPY_DEF_COOKIE};
}

static bool espyMockFaults_IsValid(const espyMockFaults* faults)
{
    return faults->latency <= ESPY_MOCK_MAX_DELAY && faults->jitter <= ESPY_MOCK_MAX_DELAY &&
           faults->lateFrames <= ESPY_MOCK_MAX_DELAY &&
           faults->latency + faults->jitter + faults->lateFrames <= ESPY_MOCK_MAX_DELAY && faults->dropShare >= 0.0f &&
           faults->dropShare <= 1.0f && faults->lateShare >= 0.0f && faults->lateShare <= 1.0f;
}

static void espyMock_UseFaults(espyMockDevice* mock, const espyMockFaults* faults)
{
    mock->faults = *faults;
    mock->loseAt = faults->loseAtCall != 0 ? mock->counts.calls + faults->loseAtCall : 0;
}

static void espyMock_Free(espyMockDevice* mock)
{
    espyHooks hooks = mock->hooks;
    for (size_t i = 0; i < mock->targetCount; ++i)
    {
        espyiFree(&hooks, mock->targets[i].seen);
    }
    espyiFree(&hooks, mock->targets);
    espyiFree(&hooks, mock->meshes);
    espyiFree(&hooks, mock->script);
    espyiFree(&hooks, mock->slots);
    espyiFree(&hooks, mock->ready);
    espyiFree(&hooks, mock);
}

static void espyMock_MeetCaps(espyDeviceCaps* caps, const espyDeviceCaps* inner)
{
    caps->anyQueries = caps->anyQueries && inner->anyQueries;
    caps->countQueries = caps->countQueries && inner->countQueries;
    caps->idIndex = caps->idIndex && inner->idIndex;
    caps->idFlag = caps->idFlag && inner->idFlag;
    caps->maxQueriesPerFrame =
        caps->maxQueriesPerFrame < inner->maxQueriesPerFrame ? caps->maxQueriesPerFrame : inner->maxQueriesPerFrame;
    caps->maxIds = caps->maxIds < inner->maxIds ? caps->maxIds : inner->maxIds;
    caps->maxLayers = caps->maxLayers < inner->maxLayers ? caps->maxLayers : inner->maxLayers;
    caps->samplesPerPixel = inner->samplesPerPixel;
}

espyResult espyMockDevice_Create(const espyMockDeviceDef* def, espyDevice* out)
{
    *out = (espyDevice){0};
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    if (!ESPYI_CHECK(&hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&hooks, espyMockFaults_IsValid(&def->faults)) ||
        !ESPYI_CHECK(&hooks, def->maxPending >= 1 && def->maxPending <= 1u << 28) ||
        !ESPYI_CHECK(&hooks, def->inner == NULL || espyDevice_Validate(def->inner, NULL) == espyResult_Ok))
    {
        return espyResult_InvalidArgument;
    }
    espyMockDevice* mock = (espyMockDevice*)espyiAlloc(&hooks, 1, sizeof *mock);
    if (mock == NULL)
    {
        return espyResult_OutOfMemory;
    }
    mock->def = *def;
    mock->hooks = hooks;
    mock->rng = espyiRng_Seed(def->seed);
    espyMock_UseFaults(mock, &def->faults);
    mock->slots = (espyMockSlot*)espyiAlloc(&hooks, def->maxPending, sizeof *mock->slots);
    mock->ready = (uint32_t*)espyiAlloc(&hooks, def->maxPending, sizeof *mock->ready);
    if (mock->slots == NULL || mock->ready == NULL)
    {
        espyMock_Free(mock);
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < def->maxPending; ++i)
    {
        mock->slots[i].next = i + 1u < def->maxPending ? i + 1u : ESPY_NO_SLOT;
    }
    memset(mock->due, 0xFF, sizeof mock->due);
    if (def->inner != NULL)
    {
        espyMock_MeetCaps(&mock->def.caps, &def->inner->caps);
    }
    *out = (espyDevice){
        .context = mock,
        .caps = mock->def.caps,
        .createMesh = espyMockDevice_CreateMesh,
        .destroyMesh = espyMockDevice_DestroyMesh,
        .createTarget = espyMockDevice_CreateTarget,
        .destroyTarget = espyMockDevice_DestroyTarget,
        .beginFrame = espyMockDevice_BeginFrame,
        .beginPass = espyMockDevice_BeginPass,
        .drawDepth = espyMockDevice_DrawDepth,
        .drawIds = espyMockDevice_DrawIds,
        .query = espyMockDevice_Query,
        .endPass = espyMockDevice_EndPass,
        .readIds = espyMockDevice_ReadIds,
        .endFrame = espyMockDevice_EndFrame,
        .poll = espyMockDevice_Poll,
        .readPixels = espyMockDevice_ReadPixels,
        .cookie = ESPY_DEF_COOKIE,
    };
    if (espyDevice_Validate(out, NULL) != espyResult_Ok)
    {
        espyMock_Free(mock);
        *out = (espyDevice){0};
        return espyResult_InvalidArgument;
    }
    return espyResult_Ok;
}

static espyMockDevice* espyMock_Of(const espyDevice* device)
{
    return device != NULL && device->poll == espyMockDevice_Poll ? (espyMockDevice*)device->context : NULL;
}

void espyMockDevice_Destroy(espyDevice* device)
{
    espyMockDevice* mock = espyMock_Of(device);
    if (mock != NULL)
    {
        espyMock_Free(mock);
        *device = (espyDevice){0};
    }
}

// --- control

espyResult espyMockDevice_SetFaults(espyDevice* device, const espyMockFaults* faults)
{
    espyMockDevice* mock = espyMock_Of(device);
    if (mock == NULL || !ESPYI_CHECK(&mock->hooks, espyMockFaults_IsValid(faults)))
    {
        return espyResult_InvalidArgument;
    }
    espyMock_UseFaults(mock, faults);
    return espyResult_Ok;
}

espyResult espyMockDevice_Script(espyDevice* device, const uint64_t* values, uint32_t count)
{
    espyMockDevice* mock = espyMock_Of(device);
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    void* script = mock->script;
    if (!espyiGrow(&mock->hooks, &script, &mock->scriptCapacity, count, sizeof *values))
    {
        return espyResult_OutOfMemory;
    }
    mock->script = (uint64_t*)script;
    for (uint32_t i = 0; i < count; ++i)
    {
        mock->script[i] = values[i];
    }
    mock->scriptCount = count;
    mock->scriptNext = 0;
    return espyResult_Ok;
}

espyResult espyMockDevice_Inject(espyDevice* device, const espyDeviceAnswer* answer)
{
    espyMockDevice* mock = espyMock_Of(device);
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    uint32_t slot = espyMock_TakeSlot(mock);
    if (slot == ESPY_NO_SLOT)
    {
        return espyResult_OutOfMemory;
    }
    mock->slots[slot].answer = *answer;
    mock->slots[slot].known = true;
    espyMock_PushReady(mock, slot);
    return espyResult_Ok;
}

espyResult espyMockDevice_Lose(espyDevice* device)
{
    espyMockDevice* mock = espyMock_Of(device);
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    mock->lost = true;
    return espyResult_Ok;
}

espyResult espyMockDevice_GetCounts(const espyDevice* device, espyMockCounts* out)
{
    const espyMockDevice* mock = espyMock_Of(device);
    *out = (espyMockCounts){0};
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    *out = mock->counts;
    return espyResult_Ok;
}

espyResult espyMockDevice_ResetCounts(espyDevice* device)
{
    espyMockDevice* mock = espyMock_Of(device);
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    mock->loseAt = mock->loseAt > mock->counts.calls ? mock->loseAt - mock->counts.calls : mock->loseAt;
    mock->counts = (espyMockCounts){
        .pending = mock->counts.pending, .meshes = mock->counts.meshes, .targets = mock->counts.targets};
    return espyResult_Ok;
}

const char* espyMockViolation_GetName(espyMockViolation violation)
{
    static const char* const names[espyMockViolation_Count] = {
        "FrameNotGrowing", "NoFrame",        "NoPass", "InPass", "Target", "Mesh", "Matrix", "Id",
        "Unsupported",     "TooManyQueries", "Run",    "Def",    "Inner"};
    return (uint32_t)violation < espyMockViolation_Count ? names[violation] : "Unknown";
}
