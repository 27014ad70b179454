// SPDX-License-Identifier: MIT
// The run-time core as a WebAssembly module: one instance holds one file. espy.js is the other half.
//
// Memory: the file starts at espyWeb_GetStart, the arrays that depend on it come behind. The host grows the memory
// before it writes; nothing is freed, since dropping the instance drops all of it.
#include <espy/culling.h>

#define ESPY_WEB_EXPORT __attribute__((visibility("default")))

/// Where the linker's own data ends.
extern unsigned char __heap_base;

/// What the host reads after a load, words in this order.
typedef struct espyWebInfo
{
    uint32_t cellCount, occludeeCount, occluderCount;
    uint32_t reasons; ///< Address of one byte a slot: espyVisibility of the last cull.
    uint32_t boxes;   ///< Address of the occludees' boxes, 6 floats each.
    uint32_t nodes;   ///< Address of their node ids, 0 where the file has none.
    uint32_t parts;   ///< Address of their parts, 0 where the file has none.
    uint32_t errorOffset, errorField;
    float origin[3], cellSize;
    uint32_t dims[3];
} espyWebInfo;

/// Words and floats that the host writes and reads.
typedef struct espyWebSlotCounts
{
    uint32_t drawn, frustumCulled, occlusionCulled, cells;
} espyWebSlotCounts;

static espyPvs espyWebPvs;
static espyWebInfo espyWebInfoNow;
static espyView espyWebView;
static espyViewSet espyWebSet;
static uint32_t* espyWebScratch;
static uint8_t* espyWebReasons;
static espyWebSlotCounts espyWebCounts;
/// View and projection matrix, or a box: what the host passes.
static float espyWebInput[32];

ESPY_WEB_EXPORT uint32_t espyWeb_GetStart(void);
ESPY_WEB_EXPORT uint32_t espyWeb_GetInfo(void);
ESPY_WEB_EXPORT uint32_t espyWeb_GetInput(void);
ESPY_WEB_EXPORT uint32_t espyWeb_GetCounts(void);
ESPY_WEB_EXPORT int32_t espyWeb_Load(uint32_t size);
ESPY_WEB_EXPORT int32_t espyWeb_FindCell(float x, float y, float z);
ESPY_WEB_EXPORT void espyWeb_GetCellBox(int32_t cell);
ESPY_WEB_EXPORT uint32_t espyWeb_CullCell(int32_t cell);
ESPY_WEB_EXPORT uint32_t espyWeb_CullView(uint32_t reversedZ, uint32_t occlusion, uint32_t frustum);
ESPY_WEB_EXPORT int32_t espyWeb_TestBox(void);

static uint32_t espyWeb_Align(uint32_t address)
{
    return (address + ESPY_PVS_ALIGNMENT - 1u) & ~(uint32_t)(ESPY_PVS_ALIGNMENT - 1u);
}

uint32_t espyWeb_GetStart(void)
{
    return espyWeb_Align((uint32_t)(uintptr_t)&__heap_base);
}

uint32_t espyWeb_GetInfo(void)
{
    return (uint32_t)(uintptr_t)&espyWebInfoNow;
}

uint32_t espyWeb_GetInput(void)
{
    return (uint32_t)(uintptr_t)espyWebInput;
}

uint32_t espyWeb_GetCounts(void)
{
    return (uint32_t)(uintptr_t)&espyWebCounts;
}

/// Room behind what is there; 0 where the memory cannot grow.
static uint32_t espyWeb_Reserve(uint32_t* end, uint64_t size)
{
    uint32_t start = espyWeb_Align(*end);
    uint64_t wanted = start + size, have = (uint64_t)__builtin_wasm_memory_size(0) << 16;
    if (wanted > UINT32_MAX ||
        (wanted > have && __builtin_wasm_memory_grow(0, (size_t)((wanted - have + 65535u) >> 16)) == SIZE_MAX))
    {
        return 0;
    }
    *end = (uint32_t)wanted;
    return start;
}

/// Returns an espyResult.
int32_t espyWeb_Load(uint32_t size)
{
    const uint32_t start = espyWeb_GetStart();
    espyDataError error = {espyResult_Ok, 0, ""};
    espyWebInfo* info = &espyWebInfoNow;
    espyResult result = espyPvs_Load(&espyWebPvs, (const void*)(uintptr_t)start, size, &error);
    if (result != espyResult_Ok)
    {
        info->errorOffset = (uint32_t)error.byteOffset;
        info->errorField = (uint32_t)(uintptr_t)error.field;
        return (int32_t)result;
    }
    const espyPvs* pvs = &espyWebPvs;
    uint32_t end = start + size;
    uint32_t scratch = espyWeb_Reserve(&end, 4u * (uint64_t)espyViewSet_ScratchWords(pvs) + 4u);
    uint32_t reasons = scratch ? espyWeb_Reserve(&end, (uint64_t)pvs->occludeeCount + 1u) : 0;
    if (reasons == 0)
    {
        return espyResult_OutOfMemory;
    }
    espyWebScratch = (uint32_t*)(uintptr_t)scratch;
    espyWebReasons = (uint8_t*)(uintptr_t)reasons;
    *info = (espyWebInfo){
        .cellCount = pvs->cellCount,
        .occludeeCount = pvs->occludeeCount,
        .occluderCount = pvs->occluderCount,
        .reasons = reasons,
        .boxes = (uint32_t)(uintptr_t)(pvs->entries + 6u * (size_t)pvs->occluderCount),
        .nodes = pvs->nodes ? (uint32_t)(uintptr_t)(pvs->nodes + pvs->occluderCount) : 0,
        .parts = (uint32_t)(uintptr_t)pvs->parts,
        .origin = {pvs->origin.x, pvs->origin.y, pvs->origin.z},
        .cellSize = pvs->cellSize,
        .dims = {pvs->dims[0], pvs->dims[1], pvs->dims[2]},
    };
    return espyResult_Ok;
}

int32_t espyWeb_FindCell(float x, float y, float z)
{
    return espyPvs_FindCell(&espyWebPvs, (espyVec3){x, y, z});
}

/// Six floats where the input is.
void espyWeb_GetCellBox(int32_t cell)
{
    const espyBox box = espyPvs_GetCellBox(&espyWebPvs, cell);
    const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    for (uint32_t i = 0; i < 6; ++i)
    {
        espyWebInput[i] = values[i];
    }
}

/// Fills the reasons from a set of bits (null: all visible) and the view's frustum (null: not asked).
static uint32_t espyWeb_Fill(const uint32_t* set, const espyView* view)
{
    const espyPvs* pvs = &espyWebPvs;
    espyWebSlotCounts counts = {0, 0, 0, espyWebSet.cellCount};
    for (uint32_t slot = 0; slot < pvs->occludeeCount; ++slot)
    {
        espyVisibility seen = espyVisibility_Visible;
        if (set && (set[slot / 32u] >> (slot % 32u) & 1u) == 0u)
        {
            seen = espyVisibility_Occluded;
            ++counts.occlusionCulled;
        }
        else if (view && espyView_TestBox(view, espyPvs_GetOccludeeBox(pvs, slot)) == espyVisibility_Outside)
        {
            seen = espyVisibility_Outside;
            ++counts.frustumCulled;
        }
        else
        {
            ++counts.drawn;
        }
        espyWebReasons[slot] = (uint8_t)seen;
    }
    espyWebCounts = counts;
    return counts.drawn;
}

/// What can be seen from anywhere in a cell. Returns how many.
uint32_t espyWeb_CullCell(int32_t cell)
{
    bool known = espyPvs_ReadStaticSet(&espyWebPvs, cell, espyWebScratch);
    espyWebSet = (espyViewSet){.pvs = &espyWebPvs, .cellCount = known ? 1u : 0u, .cells = {cell}};
    return espyWeb_Fill(known ? espyWebScratch : NULL, NULL);
}

/// Culls for the view and projection in the input (column-major, depth 0..1). Returns how many are to be drawn.
uint32_t espyWeb_CullView(uint32_t reversedZ, uint32_t occlusion, uint32_t frustum)
{
    espyViewDef def = espyViewDef_Default();
    for (uint32_t i = 0; i < 16; ++i)
    {
        def.view.m[i] = espyWebInput[i];
        def.projection.m[i] = espyWebInput[16 + i];
    }
    def.reversedZ = reversedZ != 0;
    espyView_Make(&espyWebView, &def, NULL);
    espyViewSet_Make(&espyWebSet, &espyWebView, &espyWebPvs, (espyVec3){0.0f, 0.0f, 0.0f}, espyWebScratch);
    if (!occlusion)
    {
        espyWebSet.cellCount = 0;
        espyWebSet.set = NULL;
    }
    return espyWeb_Fill(espyWebSet.set, frustum ? &espyWebView : NULL);
}

/// Tests the box in the input, of something that moves, against the view of the last cull.
int32_t espyWeb_TestBox(void)
{
    const float* f = espyWebInput;
    const espyBox box = {{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
    espyVisibility seen = espyView_TestBox(&espyWebView, box);
    if (seen == espyVisibility_Outside || espyWebSet.cellCount == 0)
    {
        return (int32_t)seen;
    }
    seen = espyView_TestMovingBox(&espyWebPvs, espyWebSet.cells, espyWebSet.cellCount, box);
    return (int32_t)seen;
}
