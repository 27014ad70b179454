// SPDX-License-Identifier: MIT
// Targets, testers, draws and what ties them together.
#include "tester/tester_internal.h"

// --- defs

espyTesterViewDef espyTesterViewDef_Default(void)
{
    return (espyTesterViewDef){
        .width = 1280, .height = 720, .layers = 1, .mode = espyIdMode_Index, .seed = true, .cookie = ESPY_DEF_COOKIE};
}

espyTesterSceneDef espyTesterSceneDef_Default(void)
{
    return (espyTesterSceneDef){.mainView = espyTesterViewDef_Default(), .cookie = ESPY_DEF_COOKIE};
}

espyTesterTargetDef espyTesterTargetDef_Default(void)
{
    return (espyTesterTargetDef){.cookie = ESPY_DEF_COOKIE};
}

espyTesterDef espyTesterDef_Default(void)
{
    return (espyTesterDef){
        .toWorld = espyMat4_Identity(), .bounds = {{-1, -1, -1}, {1, 1, 1}}, .cookie = ESPY_DEF_COOKIE};
}

espyTesterDrawDef espyTesterDrawDef_Default(void)
{
    return (espyTesterDrawDef){.toWorld = espyMat4_Identity(), .cookie = ESPY_DEF_COOKIE};
}

espyTesterRun espyTesterRun_Default(void)
{
    espyTesterRun run = {.cookie = ESPY_DEF_COOKIE};
    for (uint32_t i = 0; i < ESPY_DEVICE_MAX_LAYERS; ++i)
    {
        run.viewProjection[i] = espyMat4_Identity();
    }
    return run;
}

// --- lifetime

espyResult espyTesterScene_Create(const espyTesterSceneDef* def, espyTesterScene** out)
{
    if (!ESPYI_CHECK(def ? &def->hooks : NULL, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    if (!ESPYI_CHECK(&def->hooks, def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    espyTesterScene* scene = (espyTesterScene*)espyiAlloc(&hooks, 1, sizeof *scene);
    if (!scene)
    {
        return espyResult_OutOfMemory;
    }
    scene->hooks = hooks;
    scene->targets.firstFree = scene->testers.firstFree = ESPYI_TESTER_NONE;
    scene->draws.firstFree = scene->edges.firstFree = ESPYI_TESTER_NONE;
    scene->root = (espyiTesterInside){ESPYI_TESTER_NONE, ESPYI_TESTER_NONE, ESPYI_TESTER_NONE};
    scene->batch = (espyDeviceDraw*)espyiAlloc(&hooks, ESPYI_TESTER_BATCH, sizeof *scene->batch);
    espyResult result = scene->batch ? espyiTesterView_CreateMain(scene, &def->mainView) : espyResult_OutOfMemory;
    result = result == espyResult_Ok && def->device ? espyTesterScene_SetDevice(scene, def->device) : result;
    if (result != espyResult_Ok)
    {
        espyTesterScene_Destroy(scene);
        return result;
    }
    *out = scene;
    return espyResult_Ok;
}

void espyTesterScene_Destroy(espyTesterScene* scene)
{
    if (!scene)
    {
        return;
    }
    espyHooks hooks = scene->hooks;
    espyiTesterView_DropTargets(scene);
    espyiTesterView_FreeAll(scene);
    for (size_t i = 0; i < scene->targets.count; ++i)
    {
        espyiFree(&hooks, espyiTester_TargetAt(scene, (int32_t)i)->name);
    }
    for (size_t i = 0; i < scene->testers.count; ++i)
    {
        espyiFree(&hooks, espyiTester_At(scene, (int32_t)i)->name);
    }
    espyiFree(&hooks, scene->targets.items);
    espyiFree(&hooks, scene->testers.items);
    espyiFree(&hooks, scene->draws.items);
    espyiFree(&hooks, scene->edges.items);
    espyiFree(&hooks, scene->asked);
    espyiFree(&hooks, scene->bits);
    espyiFree(&hooks, scene->batch);
    espyiFree(&hooks, scene->searched);
    espyiFree(&hooks, scene->onward);
    espyiFree(&hooks, scene->queue);
    espyiFree(&hooks, scene);
}

/// True where a scene may be changed now.
static bool espyTesterScene_MayChange(const espyTesterScene* scene)
{
    return ESPYI_CHECK(scene ? &scene->hooks : NULL, scene != NULL) && ESPYI_CHECK(&scene->hooks, !scene->running);
}

espyResult espyTesterScene_SetDevice(espyTesterScene* scene, const espyDevice* device)
{
    if (!espyTesterScene_MayChange(scene))
    {
        return espyResult_InvalidArgument;
    }
    espyiTesterView_DropTargets(scene);
    scene->hasDevice = false;
    scene->warnedIds = scene->warnedDevice = false;
    if (!device)
    {
        return espyResult_Ok;
    }
    if (!ESPYI_CHECK(&scene->hooks, espyDevice_Validate(device, NULL) == espyResult_Ok))
    {
        return espyResult_InvalidArgument;
    }
    if (!device->caps.idIndex && !device->caps.idFlag)
    {
        return espyResult_Unsupported;
    }
    scene->device = *device;
    scene->hasDevice = true;
    espyResult result = espyiTesterView_MakeTargets(scene);
    if (result != espyResult_Ok)
    {
        espyiTesterView_DropTargets(scene);
        scene->hasDevice = false;
    }
    return result;
}

// --- records

static espyiTesterSlot* espyTesterPool_At(const espyiTesterPool* pool, size_t size, int32_t index)
{
    return (espyiTesterSlot*)(void*)((uint8_t*)pool->items + size * (size_t)index);
}

/// Makes room for one more. Ok, LimitExceeded or OutOfMemory.
static espyResult espyTesterPool_Reserve(const espyHooks* hooks, espyiTesterPool* pool, size_t size)
{
    if (pool->firstFree != ESPYI_TESTER_NONE)
    {
        return espyResult_Ok;
    }
    if (pool->count >= ESPYI_TESTER_LIMIT)
    {
        return espyResult_LimitExceeded;
    }
    return espyiGrow(hooks, &pool->items, &pool->capacity, pool->count + 1, size) ? espyResult_Ok
                                                                                  : espyResult_OutOfMemory;
}

/// Takes the slot that Reserve made room for, zeroed but for its generation, which is a new one.
static int32_t espyTesterPool_Take(espyiTesterPool* pool, size_t size)
{
    int32_t index = pool->firstFree;
    if (index != ESPYI_TESTER_NONE)
    {
        pool->firstFree = espyTesterPool_At(pool, size, index)->next;
    }
    else
    {
        index = (int32_t)pool->count++;
    }
    espyiTesterSlot* slot = espyTesterPool_At(pool, size, index);
    uint32_t generation = slot->generation + 1;
    memset(slot, 0, size);
    slot->generation = generation;
    slot->alive = true;
    return index;
}

static void espyTesterPool_Give(espyiTesterPool* pool, size_t size, int32_t index)
{
    espyiTesterSlot* slot = espyTesterPool_At(pool, size, index);
    slot->alive = false;
    slot->next = pool->firstFree;
    pool->firstFree = index;
}

static int32_t espyTesterPool_Find(const espyiTesterPool* pool, size_t size, int32_t index1, uint32_t generation)
{
    if (index1 < 1 || (size_t)index1 > pool->count)
    {
        return ESPYI_TESTER_NONE;
    }
    const espyiTesterSlot* slot = espyTesterPool_At(pool, size, index1 - 1);
    return slot->alive && slot->generation == generation ? index1 - 1 : ESPYI_TESTER_NONE;
}

/// Puts a record at the head of its parent's list.
static void espyTesterPool_Link(const espyiTesterPool* pool, size_t size, int32_t* first, int32_t index, int32_t parent)
{
    espyiTesterSlot* slot = espyTesterPool_At(pool, size, index);
    slot->parent = parent;
    slot->previous = ESPYI_TESTER_NONE;
    slot->next = *first;
    if (*first != ESPYI_TESTER_NONE)
    {
        espyTesterPool_At(pool, size, *first)->previous = index;
    }
    *first = index;
}

static void espyTesterPool_Unlink(const espyiTesterPool* pool, size_t size, int32_t* first, int32_t index)
{
    const espyiTesterSlot* slot = espyTesterPool_At(pool, size, index);
    if (slot->previous != ESPYI_TESTER_NONE)
    {
        espyTesterPool_At(pool, size, slot->previous)->next = slot->next;
    }
    else
    {
        *first = slot->next;
    }
    if (slot->next != ESPYI_TESTER_NONE)
    {
        espyTesterPool_At(pool, size, slot->next)->previous = slot->previous;
    }
}

int32_t espyiTester_FindTarget(const espyTesterScene* scene, espyTesterTargetId id)
{
    return espyTesterPool_Find(&scene->targets, sizeof(espyiTarget), id.index1, id.generation);
}

int32_t espyiTester_Find(const espyTesterScene* scene, espyTesterId id)
{
    return espyTesterPool_Find(&scene->testers, sizeof(espyiTester), id.index1, id.generation);
}

static int32_t espyTester_FindDraw(const espyTesterScene* scene, espyTesterDrawId id)
{
    return espyTesterPool_Find(&scene->draws, sizeof(espyiTesterDraw), id.index1, id.generation);
}

/// Index of the target that something is to be in; false for an id that is neither null nor alive.
static bool espyTester_FindParent(const espyTesterScene* scene, espyTesterTargetId id, int32_t* parent)
{
    *parent = espyiTester_FindTarget(scene, id);
    return *parent != ESPYI_TESTER_NONE || (id.index1 == 0 && id.generation == 0);
}

/// Copies a name, null where there is none. False where memory ends.
static bool espyTester_CopyName(const espyHooks* hooks, const char* name, char** out)
{
    *out = NULL;
    if (!name)
    {
        return true;
    }
    size_t size = 1;
    while (name[size - 1] != '\0')
    {
        ++size;
    }
    *out = (char*)espyiAlloc(hooks, size, 1);
    if (*out)
    {
        memcpy(*out, name, size);
    }
    return *out != NULL;
}

// --- edges

static void espyTester_RemoveEdge(espyTesterScene* scene, int32_t index)
{
    espyiTesterEdge* edge = espyiTester_EdgeAt(scene, index);
    espyiTester* tester = espyiTester_At(scene, edge->tester);
    espyiTarget* target = espyiTester_TargetAt(scene, edge->target);
    *(edge->previousOfTester != ESPYI_TESTER_NONE ? &espyiTester_EdgeAt(scene, edge->previousOfTester)->nextOfTester
                                                  : &tester->firstEdge) = edge->nextOfTester;
    *(edge->previousOfTarget != ESPYI_TESTER_NONE ? &espyiTester_EdgeAt(scene, edge->previousOfTarget)->nextOfTarget
                                                  : &target->firstEdge) = edge->nextOfTarget;
    if (edge->nextOfTester != ESPYI_TESTER_NONE)
    {
        espyiTester_EdgeAt(scene, edge->nextOfTester)->previousOfTester = edge->previousOfTester;
    }
    if (edge->nextOfTarget != ESPYI_TESTER_NONE)
    {
        espyiTester_EdgeAt(scene, edge->nextOfTarget)->previousOfTarget = edge->previousOfTarget;
    }
    --tester->edgeCount;
    scene->lonelyTargets += --target->edgeCount == 0 ? 1u : 0u;
    edge->nextOfTester = scene->edges.firstFree;
    scene->edges.firstFree = index;
}

static int32_t espyTester_FindEdge(const espyTesterScene* scene, int32_t tester, int32_t target)
{
    const espyiTester* a = espyiTester_At(scene, tester);
    const espyiTarget* b = espyiTester_TargetAt(scene, target);
    bool byTester = a->edgeCount < b->edgeCount;
    int32_t at = byTester ? a->firstEdge : b->firstEdge;
    while (at != ESPYI_TESTER_NONE)
    {
        const espyiTesterEdge* edge = espyiTester_EdgeAt(scene, at);
        if (edge->tester == tester && edge->target == target)
        {
            break;
        }
        at = byTester ? edge->nextOfTester : edge->nextOfTarget;
    }
    return at;
}

static int32_t espyTester_TakeEdge(espyTesterScene* scene)
{
    int32_t index = scene->edges.firstFree;
    if (index == ESPYI_TESTER_NONE)
    {
        return (int32_t)scene->edges.count++;
    }
    scene->edges.firstFree = espyiTester_EdgeAt(scene, index)->nextOfTester;
    return index;
}

espyResult espyTesterScene_AddTarget(espyTesterScene* scene, espyTesterId testerId, espyTesterTargetId targetId)
{
    if (!espyTesterScene_MayChange(scene))
    {
        return espyResult_InvalidArgument;
    }
    int32_t tester = espyiTester_Find(scene, testerId);
    int32_t target = espyiTester_FindTarget(scene, targetId);
    if (!ESPYI_CHECK(&scene->hooks, tester != ESPYI_TESTER_NONE && target != ESPYI_TESTER_NONE))
    {
        return espyResult_InvalidId;
    }
    if (espyTester_FindEdge(scene, tester, target) != ESPYI_TESTER_NONE)
    {
        return espyResult_Ok;
    }
    int32_t parent = espyiTester_At(scene, tester)->slot.parent;
    const espyiTesterInside* inside = &espyiTester_TargetAt(scene, target)->inside;
    bool mayClose =
        target == parent || inside->firstTarget != ESPYI_TESTER_NONE || inside->firstTester != ESPYI_TESTER_NONE;
    if (parent != ESPYI_TESTER_NONE && mayClose)
    {
        espyiTesterCycle_Mark(scene, parent);
        if (espyiTesterCycle_IsMarked(scene, target))
        {
            espyiTesterCycle_Report(scene, target);
            return espyResult_InvalidArgument;
        }
    }
    espyResult result = espyTesterPool_Reserve(&scene->hooks, &scene->edges, sizeof(espyiTesterEdge));
    if (result != espyResult_Ok)
    {
        return result;
    }
    int32_t index = espyTester_TakeEdge(scene);
    espyiTesterEdge* edge = espyiTester_EdgeAt(scene, index);
    espyiTester* a = espyiTester_At(scene, tester);
    espyiTarget* b = espyiTester_TargetAt(scene, target);
    *edge = (espyiTesterEdge){tester, target, ESPYI_TESTER_NONE, a->firstEdge, ESPYI_TESTER_NONE, b->firstEdge};
    if (a->firstEdge != ESPYI_TESTER_NONE)
    {
        espyiTester_EdgeAt(scene, a->firstEdge)->previousOfTester = index;
    }
    if (b->firstEdge != ESPYI_TESTER_NONE)
    {
        espyiTester_EdgeAt(scene, b->firstEdge)->previousOfTarget = index;
    }
    a->firstEdge = b->firstEdge = index;
    ++a->edgeCount;
    scene->lonelyTargets -= b->edgeCount++ == 0 ? 1u : 0u;
    return espyResult_Ok;
}

espyResult espyTesterScene_RemoveTarget(espyTesterScene* scene, espyTesterId testerId, espyTesterTargetId targetId)
{
    if (!espyTesterScene_MayChange(scene))
    {
        return espyResult_InvalidArgument;
    }
    int32_t tester = espyiTester_Find(scene, testerId);
    int32_t target = espyiTester_FindTarget(scene, targetId);
    if (!ESPYI_CHECK(&scene->hooks, tester != ESPYI_TESTER_NONE && target != ESPYI_TESTER_NONE))
    {
        return espyResult_InvalidId;
    }
    int32_t edge = espyTester_FindEdge(scene, tester, target);
    if (edge == ESPYI_TESTER_NONE)
    {
        return espyResult_NotFound;
    }
    espyTester_RemoveEdge(scene, edge);
    return espyResult_Ok;
}

const char* espyTesterScene_GetCycle(const espyTesterScene* scene)
{
    return scene ? scene->cycle : "";
}

// --- targets

espyResult espyTesterScene_CreateTarget(espyTesterScene* scene, const espyTesterTargetDef* def, espyTesterTargetId* out)
{
    if (!espyTesterScene_MayChange(scene) || !ESPYI_CHECK(&scene->hooks, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyTesterTargetId){0, 0};
    if (!ESPYI_CHECK(&scene->hooks, def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    int32_t parent;
    if (!ESPYI_CHECK(&scene->hooks, espyTester_FindParent(scene, def->parent, &parent)))
    {
        return espyResult_InvalidId;
    }
    espyResult result = espyTesterPool_Reserve(&scene->hooks, &scene->targets, sizeof(espyiTarget));
    char* name = NULL;
    if (result == espyResult_Ok &&
        (!espyiTesterCycle_Reserve(scene, scene->targets.count + 1) ||
         !espyiTesterView_ReserveAll(scene, scene->testers.count, scene->targets.count + 1) ||
         !espyTester_CopyName(&scene->hooks, def->name, &name)))
    {
        result = espyResult_OutOfMemory;
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    int32_t index = espyTesterPool_Take(&scene->targets, sizeof(espyiTarget));
    espyiTarget* target = espyiTester_TargetAt(scene, index);
    target->inside = (espyiTesterInside){ESPYI_TESTER_NONE, ESPYI_TESTER_NONE, ESPYI_TESTER_NONE};
    target->firstEdge = ESPYI_TESTER_NONE;
    target->name = name;
    target->userData = def->userData;
    ++scene->lonelyTargets;
    espyTesterPool_Link(&scene->targets, sizeof(espyiTarget), &espyiTester_Inside(scene, parent)->firstTarget, index,
                        parent);
    *out = espyiTester_TargetId(scene, index);
    return espyResult_Ok;
}

static void espyTester_Destroy(espyTesterScene* scene, int32_t index)
{
    espyiTester* tester = espyiTester_At(scene, index);
    while (tester->firstEdge != ESPYI_TESTER_NONE)
    {
        espyTester_RemoveEdge(scene, tester->firstEdge);
    }
    espyTesterPool_Unlink(&scene->testers, sizeof *tester, &espyiTester_Inside(scene, tester->slot.parent)->firstTester,
                          index);
    espyiFree(&scene->hooks, tester->name);
    tester->name = NULL;
    espyiTesterView_ForgetTester(scene, index);
    espyTesterPool_Give(&scene->testers, sizeof *tester, index);
}

static void espyTester_DestroyDraw(espyTesterScene* scene, int32_t index)
{
    espyiTesterDraw* draw = espyiTester_DrawAt(scene, index);
    espyTesterPool_Unlink(&scene->draws, sizeof *draw, &espyiTester_Inside(scene, draw->slot.parent)->firstDraw, index);
    espyTesterPool_Give(&scene->draws, sizeof *draw, index);
}

/// Destroys a target that has no target in it.
static void espyTester_DestroyLeaf(espyTesterScene* scene, int32_t index)
{
    espyiTarget* target = espyiTester_TargetAt(scene, index);
    while (target->inside.firstTester != ESPYI_TESTER_NONE)
    {
        espyTester_Destroy(scene, target->inside.firstTester);
    }
    while (target->inside.firstDraw != ESPYI_TESTER_NONE)
    {
        espyTester_DestroyDraw(scene, target->inside.firstDraw);
    }
    while (target->firstEdge != ESPYI_TESTER_NONE)
    {
        espyTester_RemoveEdge(scene, target->firstEdge);
    }
    --scene->lonelyTargets;
    espyTesterPool_Unlink(&scene->targets, sizeof *target, &espyiTester_Inside(scene, target->slot.parent)->firstTarget,
                          index);
    espyiFree(&scene->hooks, target->name);
    target->name = NULL;
    espyiTesterView_ForgetTarget(scene, index);
    espyTesterPool_Give(&scene->targets, sizeof *target, index);
}

espyResult espyTesterScene_DestroyTarget(espyTesterScene* scene, espyTesterTargetId id)
{
    if (!espyTesterScene_MayChange(scene))
    {
        return espyResult_InvalidArgument;
    }
    int32_t top = espyiTester_FindTarget(scene, id);
    if (!ESPYI_CHECK(&scene->hooks, top != ESPYI_TESTER_NONE))
    {
        return espyResult_InvalidId;
    }
    for (int32_t at = top;;)
    {
        const espyiTarget* target = espyiTester_TargetAt(scene, at);
        if (target->inside.firstTarget != ESPYI_TESTER_NONE)
        {
            at = target->inside.firstTarget;
            continue;
        }
        int32_t parent = target->slot.parent;
        espyTester_DestroyLeaf(scene, at);
        if (at == top)
        {
            return espyResult_Ok;
        }
        at = parent;
    }
}

bool espyTesterScene_IsTarget(const espyTesterScene* scene, espyTesterTargetId target)
{
    return scene && espyiTester_FindTarget(scene, target) != ESPYI_TESTER_NONE;
}

espyResult espyTesterScene_SetTargetParent(espyTesterScene* scene, espyTesterTargetId id, espyTesterTargetId parentId)
{
    if (!espyTesterScene_MayChange(scene))
    {
        return espyResult_InvalidArgument;
    }
    int32_t index = espyiTester_FindTarget(scene, id);
    int32_t parent;
    if (!ESPYI_CHECK(&scene->hooks, index != ESPYI_TESTER_NONE && espyTester_FindParent(scene, parentId, &parent)))
    {
        return espyResult_InvalidId;
    }
    if (parent == espyiTester_TargetAt(scene, index)->slot.parent)
    {
        return espyResult_Ok;
    }
    if (parent != ESPYI_TESTER_NONE)
    {
        espyiTesterCycle_Mark(scene, parent);
        if (espyiTesterCycle_IsMarked(scene, index))
        {
            espyiTesterCycle_Report(scene, index);
            return espyResult_InvalidArgument;
        }
    }
    int32_t old = espyiTester_TargetAt(scene, index)->slot.parent;
    espyTesterPool_Unlink(&scene->targets, sizeof(espyiTarget), &espyiTester_Inside(scene, old)->firstTarget, index);
    espyTesterPool_Link(&scene->targets, sizeof(espyiTarget), &espyiTester_Inside(scene, parent)->firstTarget, index,
                        parent);
    return espyResult_Ok;
}

uint64_t espyTesterScene_GetTargetUserData(const espyTesterScene* scene, espyTesterTargetId target)
{
    int32_t index = scene ? espyiTester_FindTarget(scene, target) : ESPYI_TESTER_NONE;
    return index != ESPYI_TESTER_NONE ? espyiTester_TargetAt(scene, index)->userData : 0;
}

// --- testers

espyResult espyTesterScene_CreateTester(espyTesterScene* scene, const espyTesterDef* def, espyTesterId* out)
{
    if (!espyTesterScene_MayChange(scene) || !ESPYI_CHECK(&scene->hooks, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyTesterId){0, 0};
    if (!ESPYI_CHECK(&scene->hooks, def->cookie == ESPY_DEF_COOKIE && espyMat4_IsFinite(def->toWorld) &&
                                        espyiTester_IsBoxFinite(def->bounds)))
    {
        return espyResult_InvalidArgument;
    }
    int32_t parent;
    if (!ESPYI_CHECK(&scene->hooks, espyTester_FindParent(scene, def->parent, &parent)))
    {
        return espyResult_InvalidId;
    }
    espyResult result = espyTesterPool_Reserve(&scene->hooks, &scene->testers, sizeof(espyiTester));
    char* name = NULL;
    if (result == espyResult_Ok &&
        (!espyiTesterView_ReserveAll(scene, scene->testers.count + 1, scene->targets.count) ||
         !espyTester_CopyName(&scene->hooks, def->name, &name)))
    {
        result = espyResult_OutOfMemory;
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    int32_t index = espyTesterPool_Take(&scene->testers, sizeof(espyiTester));
    espyiTester* tester = espyiTester_At(scene, index);
    tester->firstEdge = ESPYI_TESTER_NONE;
    tester->toWorld = def->toWorld;
    tester->mesh = def->mesh;
    tester->bounds = def->bounds;
    tester->name = name;
    tester->userData = def->userData;
    espyTesterPool_Link(&scene->testers, sizeof *tester, &espyiTester_Inside(scene, parent)->firstTester, index,
                        parent);
    *out = (espyTesterId){index + 1, tester->slot.generation};
    return espyResult_Ok;
}

/// The tester of an id that may be changed now, or NONE and why not.
static int32_t espyTester_FindToChange(espyTesterScene* scene, espyTesterId id, espyResult* why)
{
    *why = espyResult_InvalidArgument;
    if (!espyTesterScene_MayChange(scene))
    {
        return ESPYI_TESTER_NONE;
    }
    int32_t index = espyiTester_Find(scene, id);
    *why = ESPYI_CHECK(&scene->hooks, index != ESPYI_TESTER_NONE) ? espyResult_Ok : espyResult_InvalidId;
    return index;
}

espyResult espyTesterScene_DestroyTester(espyTesterScene* scene, espyTesterId id)
{
    espyResult result;
    int32_t index = espyTester_FindToChange(scene, id, &result);
    if (index != ESPYI_TESTER_NONE)
    {
        espyTester_Destroy(scene, index);
    }
    return result;
}

bool espyTesterScene_IsTester(const espyTesterScene* scene, espyTesterId tester)
{
    return scene && espyiTester_Find(scene, tester) != ESPYI_TESTER_NONE;
}

espyResult espyTesterScene_SetTesterParent(espyTesterScene* scene, espyTesterId id, espyTesterTargetId parentId)
{
    espyResult result;
    int32_t index = espyTester_FindToChange(scene, id, &result);
    if (index == ESPYI_TESTER_NONE)
    {
        return result;
    }
    int32_t parent;
    if (!ESPYI_CHECK(&scene->hooks, espyTester_FindParent(scene, parentId, &parent)))
    {
        return espyResult_InvalidId;
    }
    const espyiTester* tester = espyiTester_At(scene, index);
    if (parent == tester->slot.parent)
    {
        return espyResult_Ok;
    }
    if (parent != ESPYI_TESTER_NONE && tester->firstEdge != ESPYI_TESTER_NONE)
    {
        espyiTesterCycle_Mark(scene, parent);
        for (int32_t at = tester->firstEdge; at != ESPYI_TESTER_NONE;)
        {
            const espyiTesterEdge* edge = espyiTester_EdgeAt(scene, at);
            if (espyiTesterCycle_IsMarked(scene, edge->target))
            {
                espyiTesterCycle_Report(scene, edge->target);
                return espyResult_InvalidArgument;
            }
            at = edge->nextOfTester;
        }
    }
    espyTesterPool_Unlink(&scene->testers, sizeof *tester, &espyiTester_Inside(scene, tester->slot.parent)->firstTester,
                          index);
    espyTesterPool_Link(&scene->testers, sizeof *tester, &espyiTester_Inside(scene, parent)->firstTester, index,
                        parent);
    return espyResult_Ok;
}

espyResult espyTesterScene_SetTransform(espyTesterScene* scene, espyTesterId id, espyMat4 toWorld)
{
    espyResult result;
    int32_t index = espyTester_FindToChange(scene, id, &result);
    if (index == ESPYI_TESTER_NONE)
    {
        return result;
    }
    if (!ESPYI_CHECK(&scene->hooks, espyMat4_IsFinite(toWorld)))
    {
        return espyResult_InvalidArgument;
    }
    espyiTester_At(scene, index)->toWorld = toWorld;
    return espyResult_Ok;
}

espyResult espyTesterScene_SetMesh(espyTesterScene* scene, espyTesterId id, espyDeviceMesh mesh, espyBox bounds)
{
    espyResult result;
    int32_t index = espyTester_FindToChange(scene, id, &result);
    if (index == ESPYI_TESTER_NONE)
    {
        return result;
    }
    if (!ESPYI_CHECK(&scene->hooks, espyiTester_IsBoxFinite(bounds)))
    {
        return espyResult_InvalidArgument;
    }
    espyiTester_At(scene, index)->mesh = mesh;
    espyiTester_At(scene, index)->bounds = bounds;
    return espyResult_Ok;
}

uint64_t espyTesterScene_GetTesterUserData(const espyTesterScene* scene, espyTesterId tester)
{
    int32_t index = scene ? espyiTester_Find(scene, tester) : ESPYI_TESTER_NONE;
    return index != ESPYI_TESTER_NONE ? espyiTester_At(scene, index)->userData : 0;
}

// --- draws

espyResult espyTesterScene_CreateDraw(espyTesterScene* scene, const espyTesterDrawDef* def, espyTesterDrawId* out)
{
    if (!espyTesterScene_MayChange(scene) || !ESPYI_CHECK(&scene->hooks, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyTesterDrawId){0, 0};
    if (!ESPYI_CHECK(&scene->hooks, def->cookie == ESPY_DEF_COOKIE && espyMat4_IsFinite(def->toWorld)))
    {
        return espyResult_InvalidArgument;
    }
    int32_t parent;
    if (!ESPYI_CHECK(&scene->hooks, espyTester_FindParent(scene, def->parent, &parent)))
    {
        return espyResult_InvalidId;
    }
    espyResult result = espyTesterPool_Reserve(&scene->hooks, &scene->draws, sizeof(espyiTesterDraw));
    if (result != espyResult_Ok)
    {
        return result;
    }
    int32_t index = espyTesterPool_Take(&scene->draws, sizeof(espyiTesterDraw));
    espyiTesterDraw* draw = espyiTester_DrawAt(scene, index);
    draw->toWorld = def->toWorld;
    draw->mesh = def->mesh;
    draw->material = def->material;
    espyTesterPool_Link(&scene->draws, sizeof *draw, &espyiTester_Inside(scene, parent)->firstDraw, index, parent);
    *out = (espyTesterDrawId){index + 1, draw->slot.generation};
    return espyResult_Ok;
}

static int32_t espyTester_FindDrawToChange(espyTesterScene* scene, espyTesterDrawId id, espyResult* why)
{
    *why = espyResult_InvalidArgument;
    if (!espyTesterScene_MayChange(scene))
    {
        return ESPYI_TESTER_NONE;
    }
    int32_t index = espyTester_FindDraw(scene, id);
    *why = ESPYI_CHECK(&scene->hooks, index != ESPYI_TESTER_NONE) ? espyResult_Ok : espyResult_InvalidId;
    return index;
}

espyResult espyTesterScene_DestroyDraw(espyTesterScene* scene, espyTesterDrawId id)
{
    espyResult result;
    int32_t index = espyTester_FindDrawToChange(scene, id, &result);
    if (index != ESPYI_TESTER_NONE)
    {
        espyTester_DestroyDraw(scene, index);
    }
    return result;
}

espyResult espyTesterScene_SetDrawTransform(espyTesterScene* scene, espyTesterDrawId id, espyMat4 toWorld)
{
    espyResult result;
    int32_t index = espyTester_FindDrawToChange(scene, id, &result);
    if (index == ESPYI_TESTER_NONE)
    {
        return result;
    }
    if (!ESPYI_CHECK(&scene->hooks, espyMat4_IsFinite(toWorld)))
    {
        return espyResult_InvalidArgument;
    }
    espyiTester_DrawAt(scene, index)->toWorld = toWorld;
    return espyResult_Ok;
}

espyResult espyTesterScene_SetDrawMesh(espyTesterScene* scene, espyTesterDrawId id, espyDeviceMesh mesh)
{
    espyResult result;
    int32_t index = espyTester_FindDrawToChange(scene, id, &result);
    if (index != ESPYI_TESTER_NONE)
    {
        espyiTester_DrawAt(scene, index)->mesh = mesh;
    }
    return result;
}
