// SPDX-License-Identifier: MIT
// Culls a world's draws for views: creation, memory, and the walk over the groups of draws.
#include "world/renderer_movers.h"

#include "world/frustum.h"

#include <espy/gameplay.h>

// --- creation

espyRendererDef espyRendererDef_Default(void)
{
    return (espyRendererDef){.cookie = ESPY_DEF_COOKIE};
}

espyRendererViewDef espyRendererViewDef_Default(void)
{
    return (espyRendererViewDef){.occlusion = true, .frustum = true, .cookie = ESPY_DEF_COOKIE};
}

espyResult espyRenderer_Create(const espyRendererDef* def, espyRenderer** out)
{
    if (!ESPYI_CHECK(def ? &def->hooks : NULL, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    if (!ESPYI_CHECK(&def->hooks, def->cookie == ESPY_DEF_COOKIE && def->world != NULL))
    {
        return espyResult_InvalidArgument;
    }
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    espyRenderer* renderer = (espyRenderer*)espyiAlloc(&hooks, 1, sizeof *renderer);
    if (!renderer)
    {
        return espyResult_OutOfMemory;
    }
    renderer->hooks = hooks;
    renderer->world = def->world;
    renderer->tasks = def->tasks;
    renderer->isa = def->isa;
    renderer->occlusion = true;
    renderer->frustum = true;
    renderer->frame = 1;
    *out = renderer;
    return espyResult_Ok;
}

static void espyRenderer_FreeView(espyRenderer* renderer, espyiRendererView* view)
{
    espyiFree(&renderer->hooks, view->drawList);
    espyiFree(&renderer->hooks, view->updateList);
    espyiFree(&renderer->hooks, view->draws);
    espyiFree(&renderer->hooks, view->sets);
    espyiFree(&renderer->hooks, view->setKeys);
    espyiFree(&renderer->hooks, view->scratch);
    espyiFree(&renderer->hooks, view->moverDraws);
    espyiFree(&renderer->hooks, view->moverTransforms);
    espyiFree(&renderer->hooks, view->candidates);
    *view = (espyiRendererView){.generation = view->generation};
}

void espyRenderer_Destroy(espyRenderer* renderer)
{
    if (renderer)
    {
        espyHooks hooks = renderer->hooks;
        espyRenderer_SetQuerySystem(renderer, NULL);
        for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
        {
            espyRenderer_FreeView(renderer, &renderer->views[i]);
        }
        espyiFree(&hooks, renderer->movers);
        espyiFree(&hooks, renderer->queried);
        espyiFree(&hooks, renderer);
    }
}

const espyiRendererView* espyiRenderer_FindView(const espyRenderer* renderer, espyViewId id)
{
    if (!renderer || id.index1 < 1 || id.index1 > ESPY_RENDERER_MAX_VIEWS)
    {
        return NULL;
    }
    const espyiRendererView* view = &renderer->views[id.index1 - 1];
    return view->alive && view->generation == id.generation ? view : NULL;
}

static espyiRendererView* espyRenderer_View(espyRenderer* renderer, espyViewId id)
{
    return (espyiRendererView*)(uintptr_t)espyiRenderer_FindView(renderer, id);
}

// --- memory

/// Gives an array new room; what was in it is not wanted. False, and the old one kept, without memory.
static bool espyRenderer_Replace(const espyHooks* hooks, void** array, size_t count, size_t size)
{
    void* fresh = espyiAlloc(hooks, count, size);
    if (fresh)
    {
        espyiFree(hooks, *array);
        *array = fresh;
    }
    return fresh != NULL;
}

/// Makes room in a view for the draws as they are.
static bool espyRenderer_Reserve(espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws)
{
    const espyHooks* hooks = &renderer->hooks;
    if (draws->drawCount > ESPY_CULL_MAX_DRAWS)
    {
        return false;
    }
    if (draws->drawCount > view->capacity)
    {
        // A quarter more, so that a world that grows node by node does not ask every frame. The lists of the last cull
        // are gone.
        size_t room = (size_t)draws->drawCount + draws->drawCount / 4u + 32u;
        view->capacity = 0;
        view->stats = (espyViewStats){0};
        if (!espyRenderer_Replace(hooks, (void**)&view->drawList, room, sizeof *view->drawList) ||
            !espyRenderer_Replace(hooks, (void**)&view->updateList, room, sizeof *view->updateList) ||
            !espyRenderer_Replace(hooks, (void**)&view->draws, room, sizeof *view->draws))
        {
            return false;
        }
        view->capacity = (uint32_t)room;
    }
    size_t words = 0;
    for (uint32_t i = 0; i < draws->groupCount; ++i)
    {
        words += draws->groups[i]->pvs ? espyViewSet_ScratchWords(draws->groups[i]->pvs) : 0;
    }
    if (words > view->scratchWords)
    {
        if (!espyRenderer_Replace(hooks, (void**)&view->scratch, words, sizeof *view->scratch))
        {
            return false;
        }
        view->scratchWords = words;
        for (size_t i = 0; i < view->setCapacity; ++i)
        {
            view->setKeys[i] = (espyiSetKey){0};
        }
    }
    if (draws->groupCount > view->setCapacity)
    {
        view->setCapacity = 0;
        if (!espyRenderer_Replace(hooks, (void**)&view->sets, draws->groupCount, sizeof *view->sets) ||
            !espyRenderer_Replace(hooks, (void**)&view->setKeys, draws->groupCount, sizeof *view->setKeys))
        {
            return false;
        }
        view->setCapacity = draws->groupCount;
    }
    if (view->raster && renderer->moverCount > view->moverCapacity)
    {
        view->moverCapacity = 0;
        if (!espyRenderer_Replace(hooks, (void**)&view->moverDraws, renderer->moverCount, sizeof *view->moverDraws) ||
            !espyRenderer_Replace(hooks, (void**)&view->moverTransforms, renderer->moverCount,
                                  sizeof *view->moverTransforms))
        {
            return false;
        }
        view->moverCapacity = renderer->moverCount;
    }
    return true;
}

espyResult espyRenderer_CreateView(espyRenderer* renderer, const espyRendererViewDef* def, espyViewId* out)
{
    if (!ESPYI_CHECK(renderer ? &renderer->hooks : NULL, renderer != NULL && def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyViewId){0};
    if (!ESPYI_CHECK(&renderer->hooks, def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t index = 0;
    while (index < ESPY_RENDERER_MAX_VIEWS && renderer->views[index].alive)
    {
        ++index;
    }
    if (index == ESPY_RENDERER_MAX_VIEWS)
    {
        return espyResult_LimitExceeded;
    }
    espyiRendererView* view = &renderer->views[index];
    view->raster = def->raster;
    uint32_t ticket;
    const espyiDraws* draws = espyiDraws_Acquire(renderer->world, &ticket);
    bool reserved = espyRenderer_Reserve(renderer, view, draws);
    espyiDraws_Release(renderer->world, ticket);
    if (!reserved)
    {
        espyRenderer_FreeView(renderer, view);
        return espyResult_OutOfMemory;
    }
    view->alive = true;
    ++view->generation;
    view->occlusion = def->occlusion;
    view->frustum = def->frustum;
    for (uint32_t i = 0; def->name && def->name[i] != '\0' && i + 1u < ESPYI_RENDERER_NAME; ++i)
    {
        view->name[i] = def->name[i];
    }
    *out = (espyViewId){(int32_t)index + 1, view->generation};
    return espyResult_Ok;
}

espyResult espyRenderer_DestroyView(espyRenderer* renderer, espyViewId id)
{
    espyiRendererView* view = espyRenderer_View(renderer, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    espyRenderer_FreeView(renderer, view);
    return espyResult_Ok;
}

// --- switches

void espyRenderer_EnableOcclusionCulling(espyRenderer* renderer, bool enabled)
{
    renderer->occlusion = enabled;
}

bool espyRenderer_IsOcclusionCullingEnabled(const espyRenderer* renderer)
{
    return renderer->occlusion;
}

void espyRenderer_EnableFrustumCulling(espyRenderer* renderer, bool enabled)
{
    renderer->frustum = enabled;
}

bool espyRenderer_IsFrustumCullingEnabled(const espyRenderer* renderer)
{
    return renderer->frustum;
}

// --- a frame

espyResult espyRenderer_BeginFrame(espyRenderer* renderer)
{
    espyResult result = espyResult_Ok;
    uint32_t ticket;
    const espyiDraws* draws = espyiDraws_Acquire(renderer->world, &ticket);
    for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        espyiRendererView* view = &renderer->views[i];
        if (view->alive && !espyRenderer_Reserve(renderer, view, draws))
        {
            result = espyResult_OutOfMemory;
        }
    }
    espyiDraws_Release(renderer->world, ticket);
    if (renderer->system && !espyiQueries_Follow(renderer))
    {
        result = espyResult_OutOfMemory;
    }
    ++renderer->frame;
    return result;
}

espyResult espyRenderer_SetView(espyRenderer* renderer, espyViewId id, const espyViewDef* def,
                                const espyViewDef* secondEye)
{
    espyiRendererView* view = espyRenderer_View(renderer, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&renderer->hooks, def != NULL && def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    bool reversed = view->raster && espyRaster_IsReversedZ(view->raster);
    if (view->raster &&
        !ESPYI_CHECK(&renderer->hooks, def->reversedZ == reversed && (!secondEye || secondEye->reversedZ == reversed)))
    {
        return espyResult_InvalidArgument;
    }
    if (!view->frozen)
    {
        espyView_Make(&view->view, def, secondEye);
        view->defs[0] = *def;
        view->defs[1] = secondEye ? *secondEye : (espyViewDef){0};
        view->eyes[0] = espyMat4_Multiply(def->projection, def->view);
        view->eyes[1] = secondEye ? espyMat4_Multiply(secondEye->projection, secondEye->view) : view->eyes[0];
    }
    return espyResult_Ok;
}

espyResult espyRenderer_SetCamera(espyRenderer* renderer, espyViewId id, espyNodeId camera, bool reversedZ)
{
    espyNodeDef node;
    if (!espyiRenderer_FindView(renderer, id) || espyWorld_GetNode(renderer->world, camera, &node) != espyResult_Ok ||
        node.kind != espyNodeKind_Camera3D)
    {
        return espyResult_InvalidId;
    }
    espyMat4 transform = espyWorld_GetWorldTransform(renderer->world, camera);
    espyViewDef def = espyViewDef_FromCamera(&node.camera, transform, reversedZ);
    return espyRenderer_SetView(renderer, id, &def, NULL);
}

espyResult espyRenderer_FreezeView(espyRenderer* renderer, espyViewId id, bool frozen)
{
    espyiRendererView* view = espyRenderer_View(renderer, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    view->frozen = frozen;
    if (renderer->system && view->queries.index1 != 0)
    {
        espyQuerySystem_FreezeView(renderer->system, view->queries, frozen);
    }
    return espyResult_Ok;
}

bool espyRenderer_IsViewFrozen(const espyRenderer* renderer, espyViewId id)
{
    const espyiRendererView* view = espyiRenderer_FindView(renderer, id);
    return view && view->frozen;
}

const espyView* espyRenderer_GetView(const espyRenderer* renderer, espyViewId id)
{
    const espyiRendererView* view = espyiRenderer_FindView(renderer, id);
    return view ? &view->view : NULL;
}

/// Bytes of a file whose hash stands for all of it: the header has the hash of the rest.
#define ESPY_RENDERER_KEY_BYTES 256u

/// What the view sees of a file. The words of the last cull stay where the cells are the same: uniting sets, and
/// reading those of packed files, is for when the camera changes cells.
static void espyRenderer_MakeSet(espyViewSet* set, espyiSetKey* key, const espyView* view, const espyiDrawGroup* group,
                                 uint32_t* scratch)
{
    const espyPvs* pvs = group->pvs;
    size_t keyBytes = pvs->size < ESPY_RENDERER_KEY_BYTES ? pvs->size : ESPY_RENDERER_KEY_BYTES;
    espyiSetKey now = {pvs->bytes, espyiHash_Bytes(pvs->size, pvs->bytes, keyBytes), scratch};
    espyViewSet fresh = {.pvs = pvs, .offset = group->offset};
    fresh.cellCount = espyView_FindCells(view, pvs, group->offset, fresh.cells);
    bool same = key->bytes == now.bytes && key->hash == now.hash && key->scratch == now.scratch &&
                set->cellCount == fresh.cellCount;
    for (uint32_t i = 0; i < fresh.cellCount && same; ++i)
    {
        same = set->cells[i] == fresh.cells[i];
    }
    if (same)
    {
        fresh.set = set->set;
        fresh.dynamicSet = set->dynamicSet;
    }
    else
    {
        espyiViewSet_Fill(&fresh, scratch);
    }
    *set = fresh;
    *key = now;
}

static bool espyRenderer_MayOcclude(const espyRenderer* renderer, const espyiRendererView* view)
{
    return renderer->occlusion && view->occlusion && !view->view.shadow &&
           espyWorld_IsOcclusionCullingEnabled(renderer->world);
}

/// What the view sees of each file, in the order of the groups; groups that may not be used see everything.
static void espyRenderer_MakeSets(const espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws)
{
    bool enabled = espyRenderer_MayOcclude(renderer, view);
    uint32_t* scratch = view->scratch;
    for (uint32_t i = 0; i < draws->groupCount; ++i)
    {
        const espyiDrawGroup* group = draws->groups[i];
        if (group->pvs && enabled && group->usable)
        {
            espyRenderer_MakeSet(&view->sets[i], &view->setKeys[i], &view->view, group, scratch);
            view->stats.filesUsed += view->sets[i].cellCount > 0 ? 1u : 0u;
            view->stats.cells += view->sets[i].cellCount;
        }
        else
        {
            view->sets[i] = (espyViewSet){.pvs = group->pvs};
            view->setKeys[i] = (espyiSetKey){0};
        }
        view->stats.files += group->pvs ? 1u : 0u;
        size_t words = group->pvs ? espyViewSet_ScratchWords(group->pvs) : 0;
        // Null where no file needs any, and null plus nothing is undefined.
        scratch = words > 0 ? scratch + words : scratch;
    }
    // Groups that are gone: others may have used their words.
    for (size_t i = draws->groupCount; i < view->setCapacity; ++i)
    {
        view->setKeys[i] = (espyiSetKey){0};
    }
}

static espyCullDraws espyRenderer_GroupDraws(const espyiDrawGroup* group, uint32_t firstIndex)
{
    return (espyCullDraws){
        .boxes = {group->minX, group->minY, group->minZ, group->maxX, group->maxY, group->maxZ, 1u},
        .count = group->count,
        .firstIndex = firstIndex,
        .firstSlot = group->pvs ? 0u : ESPY_PVS_NO_SLOT,
        .drawable = group->drawn,
        .shown = group->present,
        .castsShadow = group->castsShadow,
        .moved = group->moved,
        .occludee = group->occludee,
        .alwaysUpdate = group->alwaysUpdate,
    };
}

/// Turns indices over all groups, which ascend, into nodes and parts.
static void espyRenderer_Resolve(const espyiDraws* draws, const uint32_t* list, uint32_t count, espyDraw* out)
{
    espyiDrawCursor cursor = {0};
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t at = espyiDrawCursor_Seek(&cursor, draws, list[i]);
        out[i] = (espyDraw){draws->groups[cursor.group]->nodes[at], draws->groups[cursor.group]->parts[at]};
    }
}

static espyResult espyRenderer_CullView(const espyRenderer* renderer, espyiRendererView* view, const espyTasks* tasks)
{
    uint32_t ticket;
    const espyiDraws* draws = espyiDraws_Acquire(renderer->world, &ticket);
    espyResult result = espyResult_Ok;
    espyCullOutput output = {.drawList = view->drawList, .updateList = view->updateList};
    view->stats = (espyViewStats){.views = 1};
    size_t words = 0;
    for (uint32_t i = 0; i < draws->groupCount; ++i)
    {
        words += draws->groups[i]->pvs ? espyViewSet_ScratchWords(draws->groups[i]->pvs) : 0;
    }
    if (draws->drawCount > view->capacity || draws->groupCount > view->setCapacity || words > view->scratchWords ||
        (view->raster && renderer->moverCount > view->moverCapacity))
    {
        result = espyResult_LimitExceeded;
    }
    else
    {
        espyRenderer_MakeSets(renderer, view, draws);
    }
    uint32_t firstIndex = 0;
    for (uint32_t i = 0; i < draws->groupCount && result == espyResult_Ok; ++i)
    {
        espyCullDraws group = espyRenderer_GroupDraws(draws->groups[i], firstIndex);
        espyCullInput input = {
            .view = &view->view,
            .draws = &group,
            .set = draws->groups[i]->pvs ? &view->sets[i] : NULL,
            .sets = view->sets,
            .setCount = draws->groupCount,
            .occlusion = view->stats.filesUsed > 0,
            .frustum = renderer->frustum && view->frustum,
            .isa = renderer->isa,
            .tasks = tasks,
        };
        result = renderer->recorder ? espyCullRecorder_Run(renderer->recorder, &input, &output)
                                    : espyCull_Run(&input, &output);
        firstIndex += group.count;
    }
    if (result == espyResult_Ok && view->raster && espyRenderer_MayOcclude(renderer, view))
    {
        espyiMovers_Cull(renderer, view, draws, &output, tasks);
    }
    if (result == espyResult_Ok && view->queries.index1 != 0 && espyRenderer_MayOcclude(renderer, view))
    {
        espyiQueries_Cull(renderer, view, draws, &output);
    }
    if (result == espyResult_Ok)
    {
        espyRenderer_Resolve(draws, output.drawList, output.drawCount, view->draws);
        espyRenderer_Resolve(draws, output.updateList, output.updateCount, view->draws + output.drawCount);
        view->stats.counts = output.counts;
    }
    espyiDraws_Release(renderer->world, ticket);
    view->culledFrame = renderer->frame;
    return result;
}

espyResult espyRenderer_Cull(espyRenderer* renderer, espyViewId id)
{
    espyiRendererView* view = espyRenderer_View(renderer, id);
    return view ? espyRenderer_CullView(renderer, view, &renderer->tasks) : espyResult_InvalidId;
}

/// All living views as work items.
typedef struct espyRendererJob
{
    const espyRenderer* renderer;
    espyiRendererView* views[ESPY_RENDERER_MAX_VIEWS];
    espyResult results[ESPY_RENDERER_MAX_VIEWS];
} espyRendererJob;

static void espyRenderer_CullItem(void* context, uint32_t index)
{
    espyRendererJob* job = (espyRendererJob*)context;
    job->results[index] = espyRenderer_CullView(job->renderer, job->views[index], NULL);
}

espyResult espyRenderer_CullAll(espyRenderer* renderer)
{
    espyRendererJob job;
    const espyTasks* tasks = &renderer->tasks;
    uint32_t count = 0;
    job.renderer = renderer;
    for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        if (renderer->views[i].alive)
        {
            job.views[count++] = &renderer->views[i];
        }
    }
    if (tasks->parallelFor && tasks->threadCount > 1 && count >= tasks->threadCount && !renderer->recorder)
    {
        tasks->parallelFor(tasks->context, count, espyRenderer_CullItem, &job);
    }
    else
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            job.results[i] = espyRenderer_CullView(renderer, job.views[i], tasks);
        }
    }
    espyResult result = espyResult_Ok;
    for (uint32_t i = 0; i < count && result == espyResult_Ok; ++i)
    {
        result = job.results[i];
    }
    return result;
}

void espyRenderer_SetRecorder(espyRenderer* renderer, espyCullRecorder* recorder)
{
    renderer->recorder = recorder;
}

const espyDraw* espyRenderer_GetDraws(const espyRenderer* renderer, espyViewId id, uint32_t* count)
{
    const espyiRendererView* view = espyiRenderer_FindView(renderer, id);
    *count = view ? view->stats.counts.drawn : 0;
    return view ? view->draws : NULL;
}

const espyDraw* espyRenderer_GetUpdates(const espyRenderer* renderer, espyViewId id, uint32_t* count)
{
    const espyiRendererView* view = espyiRenderer_FindView(renderer, id);
    *count = view ? view->stats.counts.updatedCulled : 0;
    return view && view->draws ? view->draws + view->stats.counts.drawn : NULL;
}
