// SPDX-License-Identifier: MIT
// The passes after baked bits and frustum: moving occluders and occlusion queries, and a cursor over draws in ascending
// order.
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

/// What a pass found about a draw; kept in its part in view->draws until draws are resolved.
enum
{
    espyiPass_Outside = 0, ///< In every eye so far.
    espyiPass_Hidden,      ///< Outside or occluded in every eye so far, and occluded in one.
    espyiPass_Shows,
};

/// Takes what a pass found hidden out of the draw list, and merges what of it goes on animating into the update list.
/// Returns how many that were.
uint32_t espyiPass_Drop(espyiRendererView* view, const espyiDraws* draws, espyCullOutput* output);

/// Draws the occluders as their nodes stand, takes what they hide out of the draw list, and merges what of it goes on
/// animating into the update list. The view has a raster and room for the occluders; view->draws is used as scratch.
void espyiMovers_Cull(const espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws,
                      espyCullOutput* output, const espyTasks* tasks);

/// Brings the objects of the query system to where the nodes are, and makes room in the views. False where memory
/// ended: what has no object is drawn.
bool espyiQueries_Follow(espyRenderer* renderer);
/// Culls the view of the query system by what the other passes left, and takes out what it hides.
void espyiQueries_Cull(const espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws,
                       espyCullOutput* output);

#endif
