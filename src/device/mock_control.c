// SPDX-License-Identifier: MIT
// Life of a mock device, and what a test tells it and asks of it.
#include "device/mock_device.h"

#include <string.h>

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

static void espyMock_UseFaults(espyiMockDevice* mock, const espyMockFaults* faults)
{
    mock->faults = *faults;
    mock->loseAt = faults->loseAtCall != 0 ? mock->counts.calls + faults->loseAtCall : 0;
}

static void espyMock_Free(espyiMockDevice* mock)
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
    espyiMockDevice* mock = (espyiMockDevice*)espyiAlloc(&hooks, 1, sizeof *mock);
    if (mock == NULL)
    {
        return espyResult_OutOfMemory;
    }
    mock->def = *def;
    mock->hooks = hooks;
    mock->rng = espyiRng_Seed(def->seed);
    espyMock_UseFaults(mock, &def->faults);
    mock->slots = (espyiMockSlot*)espyiAlloc(&hooks, def->maxPending, sizeof *mock->slots);
    mock->ready = (uint32_t*)espyiAlloc(&hooks, def->maxPending, sizeof *mock->ready);
    if (mock->slots == NULL || mock->ready == NULL)
    {
        espyMock_Free(mock);
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < def->maxPending; ++i)
    {
        mock->slots[i].next = i + 1u < def->maxPending ? i + 1u : ESPYI_MOCK_NO_SLOT;
    }
    memset(mock->due, 0xFF, sizeof mock->due);
    if (def->inner != NULL)
    {
        espyMock_MeetCaps(&mock->def.caps, &def->inner->caps);
    }
    *out = (espyDevice){.context = mock, .caps = mock->def.caps, .cookie = ESPY_DEF_COOKIE};
    espyiMockDevice_FillTable(out);
    if (espyDevice_Validate(out, NULL) != espyResult_Ok)
    {
        espyMock_Free(mock);
        *out = (espyDevice){0};
        return espyResult_InvalidArgument;
    }
    return espyResult_Ok;
}

void espyMockDevice_Destroy(espyDevice* device)
{
    espyiMockDevice* mock = espyiMockDevice_Of(device);
    if (mock != NULL)
    {
        espyMock_Free(mock);
        *device = (espyDevice){0};
    }
}

// --- control

espyResult espyMockDevice_SetFaults(espyDevice* device, const espyMockFaults* faults)
{
    espyiMockDevice* mock = espyiMockDevice_Of(device);
    if (mock == NULL || !ESPYI_CHECK(&mock->hooks, espyMockFaults_IsValid(faults)))
    {
        return espyResult_InvalidArgument;
    }
    espyMock_UseFaults(mock, faults);
    return espyResult_Ok;
}

espyResult espyMockDevice_Script(espyDevice* device, const uint64_t* values, uint32_t count)
{
    espyiMockDevice* mock = espyiMockDevice_Of(device);
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
    espyiMockDevice* mock = espyiMockDevice_Of(device);
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    uint32_t slot = espyiMockDevice_TakeSlot(mock);
    if (slot == ESPYI_MOCK_NO_SLOT)
    {
        return espyResult_OutOfMemory;
    }
    mock->slots[slot].answer = *answer;
    mock->slots[slot].known = true;
    espyiMockDevice_PushReady(mock, slot);
    return espyResult_Ok;
}

espyResult espyMockDevice_Lose(espyDevice* device)
{
    espyiMockDevice* mock = espyiMockDevice_Of(device);
    if (mock == NULL)
    {
        return espyResult_InvalidArgument;
    }
    mock->lost = true;
    return espyResult_Ok;
}

espyResult espyMockDevice_GetCounts(const espyDevice* device, espyMockCounts* out)
{
    const espyiMockDevice* mock = espyiMockDevice_Of(device);
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
    espyiMockDevice* mock = espyiMockDevice_Of(device);
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
