// SPDX-License-Identifier: MIT
// Moving occluders: drawn to a view's raster at every cull, and tested against by what the other passes leave.
#include "world/renderer_movers.h"

// --- the list

static uint32_t espyRenderer_FindMover(const espyRenderer* renderer, espyNodeId node)
{
    uint32_t i = 0;
    while (i < renderer->moverCount &&
           (renderer->movers[i].node.index1 != node.index1 || renderer->movers[i].node.generation != node.generation))
    {
        ++i;
    }
    return i;
}

espyResult espyRenderer_AddOccluder(espyRenderer* renderer, espyNodeId node, const espyOccluder* occluder)
{
    if (!ESPYI_CHECK(renderer ? &renderer->hooks : NULL, renderer != NULL && occluder != NULL))
    {
        return espyResult_InvalidArgument;
    }
    if (!espyWorld_IsNode(renderer->world, node))
    {
        return espyResult_InvalidId;
    }
    uint32_t at = espyRenderer_FindMover(renderer, node);
    if (at == ESPY_RENDERER_MAX_OCCLUDERS)
    {
        return espyResult_LimitExceeded;
    }
    if (!espyiGrow(&renderer->hooks, (void**)&renderer->movers, &renderer->moverCapacity, (size_t)at + 1u,
                   sizeof *renderer->movers))
    {
        return espyResult_OutOfMemory;
    }
    renderer->movers[at] = (espyiMover){node, occluder};
    renderer->moverCount += at == renderer->moverCount ? 1u : 0u;
    return espyResult_Ok;
}

espyResult espyRenderer_RemoveOccluder(espyRenderer* renderer, espyNodeId node)
{
    uint32_t at = espyRenderer_FindMover(renderer, node);
    if (at == renderer->moverCount)
    {
        return espyResult_InvalidId;
    }
    renderer->movers[at] = renderer->movers[--renderer->moverCount];
    return espyResult_Ok;
}

uint32_t espyRenderer_GetOccluderCount(const espyRenderer* renderer)
{
    return renderer->moverCount;
}

// --- the pass

/// Draws that one call of the task hook tests.
#define ESPY_MOVER_BLOCK 256u

typedef struct espyMoverJob
{
    const espyRaster* raster;
    const espyiDraws* draws;
    const uint32_t* list; ///< Ascending.
    uint32_t count;
    espyDraw* found;
} espyMoverJob;

static void espyMoverJob_Run(void* context, uint32_t block)
{
    const espyMoverJob* job = (const espyMoverJob*)context;
    uint32_t end = (block + 1u) * ESPY_MOVER_BLOCK < job->count ? (block + 1u) * ESPY_MOVER_BLOCK : job->count;
    espyiDrawCursor cursor = {0};
    for (uint32_t i = block * ESPY_MOVER_BLOCK; i < end; ++i)
    {
        int32_t* found = &job->found[i].part;
        uint32_t at = espyiDrawCursor_Seek(&cursor, job->draws, job->list[i]);
        const espyiDrawGroup* group = job->draws->groups[cursor.group];
        if (*found == espyiPass_Shows)
        {
            continue;
        }
        espyVisibility visibility = espyiBits_Get(group->occludee, at)
                                        ? espyRaster_TestBox(job->raster, espyiDrawGroup_GetBox(group, at))
                                        : espyVisibility_Visible;
        *found = visibility == espyVisibility_Occluded  ? espyiPass_Hidden
                 : visibility == espyVisibility_Outside ? *found
                                                        : espyiPass_Shows;
    }
}

/// Draws the occluders for one eye and tests the draws that no eye saw yet.
static void espyMovers_TestEye(const espyiRendererView* view, uint32_t eye, uint32_t occluderCount, espyMoverJob* job,
                               const espyTasks* tasks)
{
    if (espyRaster_Begin(view->raster, &view->eyes[eye]) == espyResult_Ok)
    {
        espyRaster_DrawSorted(view->raster, view->moverDraws, occluderCount, tasks);
    }
    uint32_t blocks = (job->count + ESPY_MOVER_BLOCK - 1u) / ESPY_MOVER_BLOCK;
    bool parallel = tasks && tasks->parallelFor && tasks->threadCount > 1 && !espyRaster_IsRecording(view->raster);
    if (parallel)
    {
        tasks->parallelFor(tasks->context, blocks, espyMoverJob_Run, job);
    }
    for (uint32_t i = 0; i < blocks && !parallel; ++i)
    {
        espyMoverJob_Run(job, i);
    }
}

/// Puts two ascending runs of `list` together; `room` holds the second.
static void espyList_Merge(uint32_t* list, uint32_t first, uint32_t second, uint32_t* room)
{
    for (uint32_t i = 0; i < second; ++i)
    {
        room[i] = list[first + i];
    }
    for (uint32_t at = first + second; second > 0; --at)
    {
        bool takeFirst = first > 0 && list[first - 1u] > room[second - 1u];
        list[at - 1u] = takeFirst ? list[--first] : room[--second];
    }
}

uint32_t espyiPass_Drop(espyiRendererView* view, const espyiDraws* draws, espyCullOutput* output)
{
    uint32_t kept = 0, count = output->drawCount, updates = output->updateCount;
    espyiDrawCursor cursor = {0};
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t index = view->drawList[i];
        if (view->draws[i].part != espyiPass_Hidden)
        {
            view->drawList[kept++] = index;
            continue;
        }
        uint32_t at = espyiDrawCursor_Seek(&cursor, draws, index);
        if (espyiBits_Get(draws->groups[cursor.group]->alwaysUpdate, at))
        {
            view->updateList[updates++] = index;
        }
    }
    espyList_Merge(view->updateList, output->updateCount, updates - output->updateCount, view->drawList + kept);
    output->counts.updatedCulled += updates - output->updateCount;
    output->counts.drawn = output->drawCount = kept;
    output->updateCount = updates;
    return count - kept;
}

void espyiMovers_Cull(const espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws,
                      espyCullOutput* output, const espyTasks* tasks)
{
    uint32_t occluderCount = 0;
    for (uint32_t i = 0; i < renderer->moverCount; ++i)
    {
        const espyiMover* mover = &renderer->movers[i];
        if (espyWorld_IsNode(renderer->world, mover->node) &&
            !(espyWorld_GetFlags(renderer->world, mover->node) & espyNodeFlag_Hidden))
        {
            view->moverTransforms[occluderCount] = espyWorld_GetWorldTransform(renderer->world, mover->node);
            view->moverDraws[occluderCount] = (espyOccluderDraw){
                .occluder = mover->occluder, .toWorld = &view->moverTransforms[occluderCount], .id = i};
            ++occluderCount;
        }
    }
    if (occluderCount == 0 || output->drawCount == 0)
    {
        return;
    }
    espyMoverJob job = {view->raster, draws, view->drawList, output->drawCount, view->draws};
    for (uint32_t i = 0; i < job.count; ++i)
    {
        view->draws[i].part = espyiPass_Outside;
    }
    for (uint32_t eye = 0; eye < view->view.eyeCount; ++eye)
    {
        espyMovers_TestEye(view, eye, occluderCount, &job, tasks);
    }
    view->stats.moverCulled = espyiPass_Drop(view, draws, output);
}
