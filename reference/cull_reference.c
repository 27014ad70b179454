// SPDX-License-Identifier: MIT
#include "reference/cull_reference.h"

#include <math.h>

static bool espyReference_Bit(const uint32_t* bits, uint32_t index, bool ifNull)
{
    return bits ? (bits[index / 32u] >> (index % 32u)) & 1u : ifNull;
}

static bool espyReference_HidesSlot(const espyCullInput* input, uint32_t draw)
{
    const espyCullDraws* draws = input->draws;
    uint64_t slot = draws->slots ? draws->slots[draw] : (uint64_t)draws->firstSlot + draw;
    if (!input->set || input->set->cellCount == 0 || slot >= input->set->pvs->occludeeCount)
    {
        return false;
    }
    for (uint32_t i = 0; i < input->set->cellCount; ++i)
    {
        if (espyPvs_TestSlot(input->set->pvs, input->set->cells[i], (uint32_t)slot) != espyVisibility_Occluded)
        {
            return false;
        }
    }
    return true;
}

/// The nearest float that is not above, or not below, the exact difference.
static float espyReference_ToData(float value, float offset, bool up)
{
    double exact = (double)value - (double)offset;
    float nearest = (float)exact;
    if (up ? (double)nearest < exact : (double)nearest > exact)
    {
        nearest = nextafterf(nearest, up ? INFINITY : -INFINITY);
    }
    return nearest;
}

static espyVec3 espyReference_PointToData(espyVec3 point, espyVec3 offset, bool up)
{
    return (espyVec3){espyReference_ToData(point.x, offset.x, up), espyReference_ToData(point.y, offset.y, up),
                      espyReference_ToData(point.z, offset.z, up)};
}

static bool espyReference_HidesBox(const espyCullInput* input, espyBox box)
{
    for (uint32_t i = 0; i < input->setCount; ++i)
    {
        const espyViewSet* set = &input->sets[i];
        bool hidden = set->cellCount > 0;
        espyBox local = {espyReference_PointToData(box.min, set->offset, false),
                         espyReference_PointToData(box.max, set->offset, true)};
        for (uint32_t k = 0; k < set->cellCount; ++k)
        {
            hidden = hidden && espyPvs_TestBox(set->pvs, set->cells[k], local) == espyVisibility_Occluded;
        }
        if (hidden)
        {
            return true;
        }
    }
    return false;
}

void espyCullReference_Run(const espyCullInput* input, espyCullOutput* output)
{
    const espyCullDraws* draws = input->draws;
    for (uint32_t i = 0; i < draws->count; ++i)
    {
        const espyCullBoxes* b = &draws->boxes;
        size_t at = (size_t)i * b->stride;
        espyBox box = {{b->minX[at], b->minY[at], b->minZ[at]}, {b->maxX[at], b->maxY[at], b->maxZ[at]}};
        bool occlusion = input->occlusion && !input->view->shadow;
        bool moved = espyReference_Bit(draws->moved, i, false);
        if (!espyReference_Bit(draws->drawable, i, true))
        {
            continue;
        }
        if (!espyReference_Bit(draws->shown, i, true))
        {
            ++output->counts.hidden;
            continue;
        }
        if (input->view->shadow && !espyReference_Bit(draws->castsShadow, i, true))
        {
            ++output->counts.withoutShadow;
            continue;
        }
        bool culled = true;
        if (occlusion && (moved ? espyReference_Bit(draws->occludee, i, true) && espyReference_HidesBox(input, box)
                                : espyReference_HidesSlot(input, i)))
        {
            ++output->counts.occlusionCulled;
        }
        else if (input->frustum && espyView_TestBox(input->view, box) == espyVisibility_Outside)
        {
            ++output->counts.frustumCulled;
        }
        else
        {
            culled = false;
            ++output->counts.drawn;
            output->drawList[output->drawCount++] = i + draws->firstIndex;
        }
        if (culled && output->updateList && espyReference_Bit(draws->alwaysUpdate, i, false))
        {
            ++output->counts.updatedCulled;
            output->updateList[output->updateCount++] = i + draws->firstIndex;
        }
    }
}
