// SPDX-License-Identifier: MIT
// The fixed scheme: rays from the samples of every cell that is still open to the fixed points of the target.
//
// Point by point of the target, cell by cell: rays that follow one another meet in one point and start close together,
// so that what blocked the last ones often blocks the next one too.
#include "bake/bake_internal.h"

/// Casts a batch of rays to one point; what is free is seen.
static void espyFixed_Cast(espyiSearcher* s, espyiBlockers* blockers, uint32_t count, espyVec3 to)
{
    uint64_t blocked = 0;
    espyiBvh_OccludedAgain(s->shared->bvh, s->segments, count, s->target.skip, blockers, &blocked);
    s->stage->rays += count;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!(blocked >> i & 1u) && !espyiBits_Get(s->visible, s->goals[i]))
        {
            espyiSearcher_See(s, s->goals[i], espyiTarget_Aim(&s->target, s->segments[i].origin, to));
        }
    }
}

/// Rays to one fixed point from the first `open` cells of s->open. False: stopped.
static bool espyFixed_Point(espyiSearcher* s, espyiBlockers* blockers, uint32_t point, uint32_t open)
{
    const espyiSearchShared* shared = s->shared;
    const espyiGrid* grid = &shared->scene->grid;
    espyVec3 to = s->target.fixedTargets[point];
    uint32_t samples = espyiSamples_Count(shared->quality), pending = 0;
    // A volume's points are shared out among the samples: four samples see all of them.
    uint32_t first = s->target.volume ? point & 3u : 0u, stride = s->target.volume ? 4u : 1u;
    for (uint32_t i = 0; i < open; ++i)
    {
        uint32_t cell = s->open[i];
        for (uint32_t k = first; k < samples; k += stride)
        {
            if (shared->sampleMasks[cell] >> k & 1u)
            {
                s->goals[pending] = cell;
                s->segments[pending++] = espyiSamples_Segment(espyiSamples_Point(grid, cell, shared->quality, k), to);
            }
        }
        if (pending + ESPYI_MAX_SAMPLES > ESPYI_LINE_BATCH || i + 1u == open)
        {
            espyFixed_Cast(s, blockers, pending, to);
            pending = 0;
            if (!espyiControl_JobGoesOn(shared->control))
            {
                return false;
            }
        }
    }
    return true;
}

bool espyiFixed_Run(espyiSearcher* s)
{
    uint32_t open = 0;
    for (uint32_t cell = 0; cell < s->shared->scene->grid.cellCount; ++cell)
    {
        if (espyiSearcher_IsOpen(s, cell) && s->shared->sampleMasks[cell] != 0)
        {
            s->open[open++] = cell;
        }
    }
    espyiBlockers blockers = {0};
    for (uint32_t point = 0; point < s->target.fixedCount && open > 0; ++point)
    {
        if (!espyFixed_Point(s, &blockers, point, open))
        {
            return false;
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < open; ++i)
        {
            s->open[kept] = s->open[i];
            kept += espyiBits_Get(s->visible, s->open[i]) ? 0u : 1u;
        }
        open = kept;
    }
    return true;
}
