// SPDX-License-Identifier: MIT
// Moving draws by coarse blocks: what may be known without asking, and what asks. No allocation, no library call.
#include "world/moving.h"

#include "core/core.h"
#include "pvs/packed.h"
#include "world/frustum.h"
#include "world/view_internal.h"

/// Share of the largest coordinate that bringing a face into blocks, and the borders themselves, can lose: some eight
/// roundings of 2^-23 each, four times over.
#define ESPY_MOVING_ERROR 3.8146973e-06f
/// With more slack hardly any box would be certain.
#define ESPY_MOVING_MAX_SLACK 0.125f

static void espyBlockGrid_Make(espyiBlockGrid* grid, const espyViewSet* set)
{
    const espyPvs* pvs = set->pvs;
    *grid = (espyiBlockGrid){.perBlock = 0.0f};
    if (set->cellCount == 0 || !set->dynamicSet || pvs->coarseFactor == 0)
    {
        return;
    }
    const float origin[3] = {pvs->origin.x, pvs->origin.y, pvs->origin.z};
    const float offset[3] = {set->offset.x, set->offset.y, set->offset.z};
    float perBlock = pvs->inverseCellSize / (float)pvs->coarseFactor;
    float largest = 0.0f;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        float extent = (float)pvs->dims[axis] * pvs->cellSize;
        float reach = espyiFloat_Abs(origin[axis]) + espyiFloat_Abs(offset[axis]) + extent;
        largest = espyiFloat_Max(largest, reach);
        grid->origin[axis] = origin[axis] + offset[axis];
        grid->top[axis] = extent * perBlock;
    }
    grid->slack = largest * ESPY_MOVING_ERROR * perBlock;
    grid->perBlock = grid->slack <= ESPY_MOVING_MAX_SLACK ? perBlock : 0.0f;
}

void espyiMoving_Make(espyiMoving* moving, const espyViewSet* sets, uint32_t setCount,
                      const espyiFrustumKernels* kernels)
{
    moving->sets = sets;
    moving->setCount = setCount;
    moving->kernels = kernels;
    for (uint32_t i = 0; i < setCount && i < ESPYI_MOVING_FILES; ++i)
    {
        espyBlockGrid_Make(&moving->grids[i], &sets[i]);
    }
}

static espyBox espyMoving_Box(const espyCullBoxes* boxes, uint32_t draw)
{
    size_t at = (size_t)draw * boxes->stride;
    return (espyBox){{boxes->minX[at], boxes->minY[at], boxes->minZ[at]},
                     {boxes->maxX[at], boxes->maxY[at], boxes->maxZ[at]}};
}

static bool espyMoving_InSpan(const espyViewSet* set, const espyiBlockSpans* spans, uint32_t i)
{
    uint32_t first[3];
    uint32_t last[3];
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        first[axis] = (uint32_t)spans->first[axis][i];
        last[axis] = (uint32_t)spans->last[axis][i];
    }
    return espyiPvs_AreBlocksHidden(set->pvs, set->dynamicSet, first, last);
}

/// Bits of the boxes, among those of `wanted`, that one file hides.
static uint64_t espyMoving_HideBy(const espyiMoving* moving, uint32_t file, const espyCullBoxes* boxes,
                                  const uint32_t* draws, uint32_t count, uint64_t wanted)
{
    const espyViewSet* set = &moving->sets[file];
    espyiBlockSpans spans;
    spans.known = spans.outside = 0;
    if (file < ESPYI_MOVING_FILES && moving->grids[file].perBlock > 0.0f)
    {
        moving->kernels->findBlocks(&moving->grids[file], boxes, draws, count, &spans);
    }
    uint64_t hidden = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint64_t bit = (uint64_t)1 << i;
        bool hides = false;
        if ((wanted & ~spans.outside & bit) != 0)
        {
            hides = (spans.known & bit) != 0 ? espyMoving_InSpan(set, &spans, i)
                                             : espyViewSet_HidesBox(set, 1, espyMoving_Box(boxes, draws[i]));
        }
        hidden |= hides ? bit : 0u;
    }
    return hidden;
}

void espyiMoving_Hide(const espyiMoving* moving, const espyCullBoxes* boxes, const uint32_t* draws, uint32_t count,
                      uint32_t first, uint32_t* hidden)
{
    for (uint32_t start = 0; start < count; start += ESPYI_MOVING_CHUNK)
    {
        uint32_t left = count - start;
        uint32_t some = left < ESPYI_MOVING_CHUNK ? left : ESPYI_MOVING_CHUNK;
        uint64_t wanted = ~(uint64_t)0 >> (64u - some);
        uint64_t gone = 0;
        for (uint32_t file = 0; file < moving->setCount && wanted != 0; ++file)
        {
            uint64_t now = espyMoving_HideBy(moving, file, boxes, draws + start, some, wanted);
            gone |= now;
            wanted &= ~now;
        }
        for (uint32_t i = 0; i < some; ++i)
        {
            if ((gone >> i & 1u) != 0)
            {
                espyiBits_Set(hidden, draws[start + i] - first);
            }
        }
    }
}
