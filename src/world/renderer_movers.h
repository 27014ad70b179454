// SPDX-License-Identifier: MIT
// The pass of moving occluders, and a cursor over draws in ascending order.
#ifndef ESPYI_RENDERER_MOVERS_H
#define ESPYI_RENDERER_MOVERS_H

#include "world/draws.h"
#include "world/renderer_internal.h"

/// Finds the group of indices over all groups, which ascend.
typedef struct espyiDrawCursor
{
    uint32_t group, first;
} espyiDrawCursor;

/// Place of a draw in its group.
static inline uint32_t espyiDrawCursor_Seek(espyiDrawCursor* cursor, const espyiDraws* draws, uint32_t index)
{
    while (index - cursor->first >= draws->groups[cursor->group]->count)
    {
        cursor->first += draws->groups[cursor->group++]->count;
    }
    return index - cursor->first;
}

/// Draws the occluders as their nodes stand, takes what they hide out of the draw list, and merges what of it goes on
/// animating into the update list. The view has a raster and room for the occluders; view->draws is used as scratch.
void espyiMovers_Cull(const espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws,
                      espyCullOutput* output, const espyTasks* tasks);

#endif
