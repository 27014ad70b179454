// SPDX-License-Identifier: MIT
// Views: their memory, their targets on the device, forces, and what they answer between runs.
#include "tester/tester_internal.h"

// --- memory

static bool espyTesterView_Reserve(const espyHooks* hooks, espyiTesterView* view, size_t testers, size_t targets)
{
    return espyiGrow(hooks, (void**)&view->active, &view->activeCapacity, testers, sizeof *view->active) &&
           espyiGrow(hooks, (void**)&view->kept, &view->keptCapacity, testers, sizeof *view->kept) &&
           espyiGrow(hooks, (void**)&view->force, &view->forceCapacity, testers, sizeof *view->force) &&
           espyiGrow(hooks, (void**)&view->targetActive, &view->targetActiveCapacity, targets,
                     sizeof *view->targetActive) &&
           espyiGrow(hooks, (void**)&view->targetShown, &view->targetShownCapacity, targets,
                     sizeof *view->targetShown) &&
           espyiGrow(hooks, (void**)&view->shown, &view->shownCapacity, targets + 1, sizeof *view->shown) &&
           espyiGrow(hooks, (void**)&view->before, &view->beforeCapacity, targets + 1, sizeof *view->before) &&
           espyiGrow(hooks, (void**)&view->events, &view->eventCapacity, targets + 1, sizeof *view->events);
}

bool espyiTesterView_ReserveAll(espyTesterScene* scene, size_t testers, size_t targets)
{
    const espyHooks* hooks = &scene->hooks;
    if (!espyiGrow(hooks, (void**)&scene->asked, &scene->askedCapacity, testers, sizeof *scene->asked) ||
        !espyiGrow(hooks, (void**)&scene->bits, &scene->bitsCapacity, testers / 32 + 1, sizeof *scene->bits))
    {
        return false;
    }
    for (uint32_t i = 0; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        if (scene->views[i] && !espyTesterView_Reserve(hooks, scene->views[i], testers, targets))
        {
            return false;
        }
    }
    return true;
}

static void espyTesterView_Free(espyTesterScene* scene, uint32_t index)
{
    espyiTesterView* view = scene->views[index];
    const espyHooks* hooks = &scene->hooks;
    if (view)
    {
        espyiFree(hooks, view->active);
        espyiFree(hooks, view->kept);
        espyiFree(hooks, view->force);
        espyiFree(hooks, view->targetActive);
        espyiFree(hooks, view->targetShown);
        espyiFree(hooks, view->shown);
        espyiFree(hooks, view->before);
        espyiFree(hooks, view->events);
        espyiFree(hooks, view->forced);
        espyiFree(hooks, view);
        scene->views[index] = NULL;
    }
}

void espyiTesterView_FreeAll(espyTesterScene* scene)
{
    for (uint32_t i = 0; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        espyTesterView_Free(scene, i);
    }
}

void espyiTesterView_ForgetTester(espyTesterScene* scene, int32_t tester)
{
    for (uint32_t i = 0; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        espyiTesterView* view = scene->views[i];
        if (view)
        {
            view->active[tester] = view->kept[tester] = 0;
            view->force[tester] &= (uint8_t)espyiForce_Listed;
        }
    }
}

void espyiTesterView_ForgetTarget(espyTesterScene* scene, int32_t target)
{
    for (uint32_t i = 0; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        espyiTesterView* view = scene->views[i];
        if (view)
        {
            view->targetActive[target] = view->targetShown[target] = 0;
        }
    }
}

espyiTesterView* espyiTesterView_Find(const espyTesterScene* scene, espyTesterViewId id)
{
    if (id.index1 == 0 && id.generation == 0)
    {
        return scene->views[0];
    }
    if (id.index1 < 2 || id.index1 > ESPY_TESTER_MAX_VIEWS)
    {
        return NULL;
    }
    return scene->generations[id.index1 - 1] == id.generation ? scene->views[id.index1 - 1] : NULL;
}

// --- targets on the device

/// Makes what a view draws to, where it has none and needs one.
static espyResult espyTesterView_MakeTarget(espyTesterScene* scene, espyiTesterView* view)
{
    const espyTesterViewDef* def = &view->def;
    if (!scene->hasDevice || def->shadow || def->target.value != 0)
    {
        return espyResult_Ok;
    }
    espyDeviceTargetDef target = espyDeviceTargetDef_Default();
    target.width = def->width;
    target.height = def->height;
    target.layers = def->layers;
    target.ids = true;
    target.reversedZ = def->reversedZ;
    return scene->device.createTarget(scene->device.context, &target, &view->made);
}

static void espyTesterView_DropTarget(const espyTesterScene* scene, espyiTesterView* view)
{
    if (view->made.value != 0)
    {
        scene->device.destroyTarget(scene->device.context, view->made);
        view->made = (espyDeviceTarget){0};
    }
}

void espyiTesterView_DropTargets(espyTesterScene* scene)
{
    for (uint32_t i = 0; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        if (scene->views[i])
        {
            espyTesterView_DropTarget(scene, scene->views[i]);
            // Another device does not know it. Without a device yet, it may be one of the device to come.
            scene->views[i]->def.target.value = scene->hasDevice ? 0 : scene->views[i]->def.target.value;
        }
    }
}

espyResult espyiTesterView_MakeTargets(espyTesterScene* scene)
{
    for (uint32_t i = 0; i < ESPY_TESTER_MAX_VIEWS; ++i)
    {
        espyResult result = scene->views[i] ? espyTesterView_MakeTarget(scene, scene->views[i]) : espyResult_Ok;
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    return espyResult_Ok;
}

// --- creation

static bool espyTesterView_IsDefSound(const espyTesterScene* scene, const espyTesterViewDef* def)
{
    uint32_t layers = scene->hasDevice ? scene->device.caps.maxLayers : ESPY_DEVICE_MAX_LAYERS;
    return ESPYI_CHECK(&scene->hooks, def != NULL && def->cookie == ESPY_DEF_COOKIE) &&
           ESPYI_CHECK(&scene->hooks, def->width >= 1 && def->width <= ESPY_RASTER_MAX_SIZE && def->height >= 1 &&
                                          def->height <= ESPY_RASTER_MAX_SIZE) &&
           ESPYI_CHECK(&scene->hooks, def->layers >= 1 && def->layers <= layers) &&
           ESPYI_CHECK(&scene->hooks, def->mode == espyIdMode_Index || def->mode == espyIdMode_Flag);
}

/// Puts a view into a free place.
static espyResult espyTesterView_Create(espyTesterScene* scene, uint32_t index, const espyTesterViewDef* def)
{
    if (!espyTesterView_IsDefSound(scene, def))
    {
        return espyResult_InvalidArgument;
    }
    espyiTesterView* view = (espyiTesterView*)espyiAlloc(&scene->hooks, 1, sizeof *view);
    if (!view)
    {
        return espyResult_OutOfMemory;
    }
    view->def = *def;
    view->run = 1;
    scene->views[index] = view;
    espyResult result = espyTesterView_Reserve(&scene->hooks, view, scene->testers.count, scene->targets.count)
                            ? espyTesterView_MakeTarget(scene, view)
                            : espyResult_OutOfMemory;
    if (result != espyResult_Ok)
    {
        espyTesterView_Free(scene, index);
        return result;
    }
    ++scene->generations[index];
    return espyResult_Ok;
}

espyResult espyiTesterView_CreateMain(espyTesterScene* scene, const espyTesterViewDef* def)
{
    return espyTesterView_Create(scene, 0, def);
}

espyResult espyTesterScene_CreateView(espyTesterScene* scene, const espyTesterViewDef* def, espyTesterViewId* out)
{
    if (!ESPYI_CHECK(scene ? &scene->hooks : NULL, scene != NULL && out != NULL && !scene->running))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyTesterViewId){0, 0};
    uint32_t index = 1;
    while (index < ESPY_TESTER_MAX_VIEWS && scene->views[index])
    {
        ++index;
    }
    if (index == ESPY_TESTER_MAX_VIEWS)
    {
        return espyResult_LimitExceeded;
    }
    espyResult result = espyTesterView_Create(scene, index, def);
    if (result == espyResult_Ok)
    {
        *out = (espyTesterViewId){(int32_t)index + 1, scene->generations[index]};
    }
    return result;
}

/// The view of an id that may be changed now, or null and why not.
static espyiTesterView* espyTesterView_FindToChange(const espyTesterScene* scene, espyTesterViewId id, espyResult* why)
{
    *why = espyResult_InvalidArgument;
    if (!ESPYI_CHECK(scene ? &scene->hooks : NULL, scene != NULL && !scene->running))
    {
        return NULL;
    }
    espyiTesterView* view = espyiTesterView_Find(scene, id);
    *why = ESPYI_CHECK(&scene->hooks, view != NULL) ? espyResult_Ok : espyResult_InvalidId;
    return view;
}

espyResult espyTesterScene_DestroyView(espyTesterScene* scene, espyTesterViewId id)
{
    espyResult result;
    espyiTesterView* view = espyTesterView_FindToChange(scene, id, &result);
    if (!view)
    {
        return result;
    }
    if (!ESPYI_CHECK(&scene->hooks, view != scene->views[0]))
    {
        return espyResult_InvalidId;
    }
    espyTesterView_DropTarget(scene, view);
    espyTesterView_Free(scene, (uint32_t)id.index1 - 1u);
    return espyResult_Ok;
}

espyResult espyTesterScene_ConfigureView(espyTesterScene* scene, espyTesterViewId id, const espyTesterViewDef* def)
{
    espyResult result;
    espyiTesterView* view = espyTesterView_FindToChange(scene, id, &result);
    if (!view)
    {
        return result;
    }
    if (!espyTesterView_IsDefSound(scene, def))
    {
        return espyResult_InvalidArgument;
    }
    espyTesterView_DropTarget(scene, view);
    espyTesterViewDef before = view->def;
    view->def = *def;
    result = espyTesterView_MakeTarget(scene, view);
    if (result != espyResult_Ok)
    {
        view->def = before;
        view->def.target = (espyDeviceTarget){0};
    }
    return result;
}

espyResult espyTesterScene_ResetView(espyTesterScene* scene, espyTesterViewId id)
{
    espyResult result;
    espyiTesterView* view = espyTesterView_FindToChange(scene, id, &result);
    if (!view)
    {
        return result;
    }
    view->eventCount = 0;
    for (uint32_t i = 1; i < view->shownCount; ++i)
    {
        if (espyiTester_FindTarget(scene, view->shown[i]) != ESPYI_TESTER_NONE)
        {
            view->events[view->eventCount++] = (espyTesterEvent){view->shown[i], false};
        }
    }
    size_t testers = scene->testers.count, targets = scene->targets.count;
    memset(view->active, 0, testers * sizeof *view->active);
    memset(view->kept, 0, testers * sizeof *view->kept);
    memset(view->targetActive, 0, targets * sizeof *view->targetActive);
    memset(view->targetShown, 0, targets * sizeof *view->targetShown);
    view->run = 1;
    view->ran = false;
    view->shownCount = view->beforeCount = 0;
    view->stats = (espyTesterStats){.exited = view->eventCount};
    return espyResult_Ok;
}

espyDeviceTarget espyTesterScene_GetDeviceTarget(const espyTesterScene* scene, espyTesterViewId id)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, id) : NULL;
    return !view ? (espyDeviceTarget){0} : view->def.target.value != 0 ? view->def.target : view->made;
}

// --- force

static espyResult espyTesterView_SetForce(espyTesterScene* scene, espyTesterId id, espyTesterViewId viewId, uint8_t set,
                                          uint8_t clear)
{
    espyResult result;
    espyiTesterView* view = espyTesterView_FindToChange(scene, viewId, &result);
    if (!view)
    {
        return result;
    }
    int32_t tester = espyiTester_Find(scene, id);
    if (!ESPYI_CHECK(&scene->hooks, tester != ESPYI_TESTER_NONE))
    {
        return espyResult_InvalidId;
    }
    uint8_t force = (uint8_t)((view->force[tester] | set) & ~clear);
    if (set != 0 && (force & espyiForce_Listed) == 0)
    {
        if (!espyiGrow(&scene->hooks, (void**)&view->forced, &view->forcedCapacity, view->forcedCount + 1,
                       sizeof *view->forced))
        {
            return espyResult_OutOfMemory;
        }
        view->forced[view->forcedCount++] = (uint32_t)tester;
        force |= espyiForce_Listed;
    }
    view->force[tester] = force;
    return espyResult_Ok;
}

espyResult espyTesterScene_SetForceActive(espyTesterScene* scene, espyTesterId tester, bool force,
                                          espyTesterViewId view)
{
    return force ? espyTesterView_SetForce(scene, tester, view, espyiForce_Held, 0)
                 : espyTesterView_SetForce(scene, tester, view, 0, espyiForce_Held | espyiForce_Once);
}

espyResult espyTesterScene_ForceOnce(espyTesterScene* scene, espyTesterId tester, espyTesterViewId view)
{
    return espyTesterView_SetForce(scene, tester, view, espyiForce_Once, 0);
}

bool espyTesterScene_IsForceActive(const espyTesterScene* scene, espyTesterId id, espyTesterViewId viewId)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, viewId) : NULL;
    int32_t tester = view ? espyiTester_Find(scene, id) : ESPYI_TESTER_NONE;
    return tester != ESPYI_TESTER_NONE && (view->force[tester] & (espyiForce_Held | espyiForce_Once)) != 0;
}

// --- answers

const espyTesterTargetId* espyTesterScene_GetShown(const espyTesterScene* scene, espyTesterViewId id, uint32_t* count)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, id) : NULL;
    *count = view && view->shownCount > 1 ? view->shownCount - 1 : 0;
    return *count > 0 ? view->shown + 1 : NULL;
}

bool espyTesterScene_IsShown(const espyTesterScene* scene, espyTesterTargetId id, espyTesterViewId viewId)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, viewId) : NULL;
    int32_t target = view && view->ran ? espyiTester_FindTarget(scene, id) : ESPYI_TESTER_NONE;
    return target == ESPYI_TESTER_NONE || view->targetShown[target] == view->run;
}

bool espyTesterScene_WasActiveLastFrame(const espyTesterScene* scene, espyTesterId id, espyTesterViewId viewId)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, viewId) : NULL;
    int32_t tester = view ? espyiTester_Find(scene, id) : ESPYI_TESTER_NONE;
    return tester != ESPYI_TESTER_NONE && view->active[tester] == view->run;
}

const espyTesterEvent* espyTesterScene_GetEvents(const espyTesterScene* scene, espyTesterViewId id, uint32_t* count)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, id) : NULL;
    *count = view ? view->eventCount : 0;
    return *count > 0 ? view->events : NULL;
}

espyTesterStats espyTesterScene_GetStats(const espyTesterScene* scene, espyTesterViewId id)
{
    const espyiTesterView* view = scene ? espyiTesterView_Find(scene, id) : NULL;
    return view ? view->stats : (espyTesterStats){0};
}
