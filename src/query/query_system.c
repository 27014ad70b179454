// SPDX-License-Identifier: MIT
// The query system: defs, lifetime, objects, views, and the start of a frame.
#include "query/query_internal.h"

/// Questions on their way for each that a frame may ask, boxes a question, members a question: a power of two, a mean,
/// a power of two.
#define ESPY_SYSTEM_FLIGHTS 16u
#define ESPY_SYSTEM_BOXES 4u
#define ESPY_SYSTEM_MEMBERS 32u
#define ESPY_SYSTEM_MOST_QUERIES 65536u
/// Distances beyond which a box counts as having jumped: it leaves its old place grown by this share of its size.
#define ESPY_SYSTEM_JUMP 0.5f

// --- defs

espyQuerySystemDef espyQuerySystemDef_Default(void)
{
    return (espyQuerySystemDef){.seed = 1, .cookie = ESPY_DEF_COOKIE};
}

espyQueryObjectDef espyQueryObjectDef_Default(void)
{
    return (espyQueryObjectDef){
        .box = espyBox_Empty(),
        .toWorld = espyMat4_Identity(),
        .cost = 1.0f,
        .treeNode = ESPY_QUERY_NO_NODE,
        .cookie = ESPY_DEF_COOKIE,
    };
}

espyQueryViewDef espyQueryViewDef_Default(void)
{
    return (espyQueryViewDef){
        .maxQueries = 1024,
        .visibleInterval = 8,
        .hiddenAfter = 2,
        .timeLimit = 12,
        .bias = 0.01f,
        .margin = 1.0f,
        .smallest = 1.0f,
        .nearestOccluder = 2.0f,
        .maxSweep = 0.15f,
        .cutDistance = 5.0f,
        .cutAngle = 0.6f,
        .maxGroup = 4096,
        .maxBatch = 4,
        .autoOff = true,
        .costs = {.query = 1.0f, .proxy = 0.25f, .object = 8.0f},
        .cookie = ESPY_DEF_COOKIE,
    };
}

espyQueryCamera espyQueryCamera_Default(void)
{
    return (espyQueryCamera){.eye = espyViewDef_Default(), .width = 1280, .height = 720, .cookie = ESPY_DEF_COOKIE};
}

static bool espySystem_IsBetween(float v, float low, float high)
{
    return v >= low && v <= high;
}

static const char* espyQueryCosts_FindFault(const espyQueryCosts* costs)
{
    bool good = espySystem_IsBetween(costs->query, 0.0f, 1e12f) && espySystem_IsBetween(costs->proxy, 0.0f, 1e12f) &&
                espySystem_IsBetween(costs->object, 0.0f, 1e12f);
    return good ? NULL : "costs";
}

static const char* espyQueryViewDef_FindFault(const espyQueryViewDef* def)
{
    const struct
    {
        const char* field;
        bool good;
    } rules[] = {
        {"cookie", def->cookie == ESPY_DEF_COOKIE},
        {"maxQueries", def->maxQueries >= 1u && def->maxQueries <= ESPY_SYSTEM_MOST_QUERIES},
        {"visibleInterval", def->visibleInterval >= 1u && def->visibleInterval <= 64u},
        {"hiddenAfter", def->hiddenAfter >= 1u && def->hiddenAfter <= 16u},
        {"timeLimit", def->timeLimit >= 2u && def->timeLimit <= ESPY_QUERY_MAX_TIME_LIMIT},
        {"threshold", espySystem_IsBetween(def->threshold, 0.0f, 1.0f)},
        {"bias", espySystem_IsBetween(def->bias, 0.0f, 1e6f)},
        {"margin", espySystem_IsBetween(def->margin, 0.0f, 1000.0f)},
        {"smallest", espySystem_IsBetween(def->smallest, 0.0f, 1000.0f)},
        {"nearestOccluder", espySystem_IsBetween(def->nearestOccluder, 1e-3f, 1e9f)},
        {"maxSweep", espySystem_IsBetween(def->maxSweep, 0.0f, 10.0f)},
        {"cutDistance", espySystem_IsBetween(def->cutDistance, 0.0f, 1e30f)},
        {"cutAngle", espySystem_IsBetween(def->cutAngle, 0.01f, 3.2f)},
        {"maxGroup", def->maxGroup >= 1u},
        {"maxBatch", def->maxBatch >= 1u && def->maxBatch <= ESPYI_QUERY_MAX_BATCH},
        {"costs", espyQueryCosts_FindFault(&def->costs) == NULL},
    };
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(rules); ++i)
    {
        if (!rules[i].good)
        {
            return rules[i].field;
        }
    }
    return NULL;
}

espyResult espyQueryViewDef_Validate(const espyQueryViewDef* def, const char** field)
{
    const char* fault = def ? espyQueryViewDef_FindFault(def) : "def";
    if (field)
    {
        *field = fault;
    }
    return fault ? espyResult_InvalidArgument : espyResult_Ok;
}

const char* espyQueryReason_GetName(espyQueryReason reason)
{
    static const char* const names[espyQueryReason_Count] = {
        "None",     "New",      "Cut", "Expired", "Entering", "NearPlane", "Small",      "Visible",
        "Settling", "Revealed", "Off", "Outside", "Excluded", "Hidden",    "HiddenNode",
    };
    return (uint32_t)reason < espyQueryReason_Count ? names[reason] : "";
}

// --- lifetime

static bool espyQuerySystem_CanUse(const espyDevice* device)
{
    return device && espyDevice_Validate(device, NULL) == espyResult_Ok &&
           (device->caps.anyQueries || device->caps.countQueries);
}

/// Makes room for nodes in the system and in a view's records.
static bool espyQueryView_Reserve(const espyQuerySystem* system, espyiQueryView* view, size_t objects)
{
    const espyHooks* hooks = &system->hooks;
    size_t nodes = ESPYI_QUERY_FIXED_NODES + (size_t)system->callerNodes + 2u * objects;
    bool done = espyiGrow(hooks, (void**)&view->records, &view->recordCapacity, nodes, sizeof *view->records) &&
                espyiGrow(hooks, (void**)&view->wishes, &view->wishCapacity, nodes, sizeof *view->wishes) &&
                espyiGrow(hooks, (void**)&view->order, &view->orderCapacity, nodes, sizeof *view->order) &&
                // One more: a frozen view's list is never empty-handed.
                espyiGrow(hooks, (void**)&view->draws, &view->drawCapacity, objects + 1u, sizeof *view->draws);
    return done && (!view->def.history ||
                    espyiGrow(hooks, (void**)&view->history, &view->historyCapacity, objects, sizeof *view->history));
}

static bool espyQuerySystem_Room(espyQuerySystem* system, size_t objects)
{
    const espyHooks* hooks = &system->hooks;
    size_t nodes = ESPYI_QUERY_FIXED_NODES + (size_t)system->callerNodes + 2u * objects;
    bool done = espyiGrow(hooks, (void**)&system->objects, &system->objectCapacity, objects, sizeof *system->objects) &&
                espyiGrow(hooks, (void**)&system->nodes, &system->nodeCapacity, nodes, sizeof *system->nodes) &&
                espyiGrow(hooks, (void**)&system->sorted, &system->sortedCapacity, objects, sizeof *system->sorted);
    for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS && done; ++i)
    {
        done = !system->views[i].alive || espyQueryView_Reserve(system, &system->views[i], objects);
    }
    return done;
}

/// The nodes that are always there, and those of the caller's tree, which is empty.
static void espyQuerySystem_StartTree(espyQuerySystem* system, uint32_t callerNodes)
{
    system->nodeSlots = 0;
    system->freeNode = ESPYI_QUERY_NONE;
    system->top = ESPYI_QUERY_NONE;
    system->callerNodes = callerNodes;
    for (uint32_t i = 0; i < ESPYI_QUERY_FIXED_NODES + callerNodes; ++i)
    {
        espyiQueryTree_NewNode(system, ESPYI_QUERY_NONE);
    }
}

espyResult espyQuerySystem_Create(const espyQuerySystemDef* def, espyQuerySystem** out)
{
    if (!ESPYI_CHECK(def ? &def->hooks : NULL, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    if (!ESPYI_CHECK(&def->hooks, def->cookie == ESPY_DEF_COOKIE && espyQuerySystem_CanUse(def->device)))
    {
        return espyResult_InvalidArgument;
    }
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    espyQuerySystem* system = (espyQuerySystem*)espyiAlloc(&hooks, 1, sizeof *system);
    if (!system)
    {
        return espyResult_OutOfMemory;
    }
    system->hooks = hooks;
    system->device = *def->device;
    system->maxQueriesPerFrame = def->maxQueriesPerFrame;
    system->seed = def->seed;
    system->tick = ESPYI_QUERY_FIRST_TICK;
    system->freeObject = ESPYI_QUERY_NONE;
    if (!espyQuerySystem_Room(system, 8))
    {
        espyQuerySystem_Destroy(system);
        return espyResult_OutOfMemory;
    }
    espyQuerySystem_StartTree(system, 0);
    *out = system;
    return espyResult_Ok;
}

static void espyQueryView_Free(const espyHooks* hooks, espyiQueryView* view)
{
    espyiFree(hooks, view->past);
    espyiFree(hooks, view->records);
    espyiFree(hooks, view->wishes);
    espyiFree(hooks, view->order);
    espyiFree(hooks, view->draws);
    espyiFree(hooks, view->history);
    espyiFree(hooks, view->entries);
    espyiFree(hooks, view->members);
    espyiFree(hooks, view->questions);
    espyiFree(hooks, view->proxies);
    *view = (espyiQueryView){.generation = view->generation, .serial = view->serial};
}

void espyQuerySystem_Destroy(espyQuerySystem* system)
{
    if (system)
    {
        espyHooks hooks = system->hooks;
        for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS; ++i)
        {
            espyQueryView_Free(&hooks, &system->views[i]);
        }
        espyiFree(&hooks, system->objects);
        espyiFree(&hooks, system->nodes);
        espyiFree(&hooks, system->sorted);
        espyiFree(&hooks, system);
    }
}

espyResult espyQuerySystem_SetDevice(espyQuerySystem* system, const espyDevice* device)
{
    if (!ESPYI_CHECK(system ? &system->hooks : NULL, system != NULL && espyQuerySystem_CanUse(device)))
    {
        return espyResult_InvalidArgument;
    }
    system->device = *device;
    system->lost = false;
    for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS; ++i)
    {
        espyiQueryView* view = &system->views[i];
        if (view->alive)
        {
            espyiQuery_Forget(view);
            view->lost = false;
            view->cutPending = true;
            view->latencyCount = 0;
        }
    }
    return espyResult_Ok;
}

// --- objects

uint32_t espyiQuery_FindObject(const espyQuerySystem* system, espyQueryObjectId id)
{
    uint32_t index = (uint32_t)id.index1 - 1u;
    bool found = system && id.index1 >= 1 && index < system->objectSlots && system->objects[index].alive &&
                 system->objects[index].generation == id.generation;
    return found ? index : ESPYI_QUERY_NONE;
}

espyResult espyQuerySystem_Reserve(espyQuerySystem* system, uint32_t objects)
{
    if (objects > ESPY_QUERY_MAX_OBJECTS)
    {
        return espyResult_LimitExceeded;
    }
    return espyQuerySystem_Room(system, objects) ? espyResult_Ok : espyResult_OutOfMemory;
}

/// A box that is no place: stored as the empty one.
static espyBox espySystem_KeptBox(espyBox box)
{
    return espyBox_IsValid(box) ? box : espyBox_Empty();
}

espyResult espyQuerySystem_AddObject(espyQuerySystem* system, const espyQueryObjectDef* def, espyQueryObjectId* out)
{
    if (!ESPYI_CHECK(system ? &system->hooks : NULL, system != NULL && def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyQueryObjectId){0};
    if (!ESPYI_CHECK(&system->hooks, def->cookie == ESPY_DEF_COOKIE && espySystem_IsBetween(def->cost, 0.0f, 1e12f) &&
                                         espyMat4_IsFinite(def->toWorld) &&
                                         (def->treeNode == ESPY_QUERY_NO_NODE || def->treeNode < system->callerNodes)))
    {
        return espyResult_InvalidArgument;
    }
    if (system->objectCount >= ESPY_QUERY_MAX_OBJECTS)
    {
        return espyResult_LimitExceeded;
    }
    if (!espyQuerySystem_Room(system, (size_t)system->objectCount + 1u))
    {
        return espyResult_OutOfMemory;
    }
    uint32_t index = system->freeObject;
    if (index != ESPYI_QUERY_NONE)
    {
        system->freeObject = system->objects[index].node;
    }
    else
    {
        index = system->objectSlots++;
    }
    espyiQueryObject* object = &system->objects[index];
    uint32_t leaf = espyiQueryTree_NewNode(system, index);
    *object = (espyiQueryObject){
        .generation = object->generation + 1u,
        .node = leaf,
        .added = espyiQuery_ChangeTick(system),
        .alive = true,
        .hasProxy = def->proxy,
        .cost = def->cost,
        .treeNode = def->treeNode,
        .mesh = def->mesh,
        .toWorld = def->toWorld,
    };
    system->nodes[leaf].box = espySystem_KeptBox(def->box);
    system->nodes[leaf].cost = def->cost;
    espyiQueryTree_Insert(system, leaf);
    ++system->objectCount;
    *out = (espyQueryObjectId){(int32_t)index + 1, object->generation};
    return espyResult_Ok;
}

/// Takes a leaf out of the tree and gives it back to the pool.
static void espyQuerySystem_DropLeaf(espyQuerySystem* system, uint32_t leaf)
{
    espyiQueryTree_Remove(system, leaf);
    system->nodes[leaf].stamp = ++system->stamp;
    system->nodes[leaf].object = ESPYI_QUERY_NONE;
    system->nodes[leaf].objects = 0;
    system->nodes[leaf].next = system->freeNode;
    system->freeNode = leaf;
}

espyResult espyQuerySystem_RemoveObject(espyQuerySystem* system, espyQueryObjectId id)
{
    uint32_t index = espyiQuery_FindObject(system, id);
    if (index == ESPYI_QUERY_NONE)
    {
        return espyResult_InvalidId;
    }
    espyiQueryObject* object = &system->objects[index];
    espyQuerySystem_DropLeaf(system, object->node);
    object->alive = false;
    object->node = system->freeObject;
    system->freeObject = index;
    --system->objectCount;
    return espyResult_Ok;
}

bool espyQuerySystem_IsObject(const espyQuerySystem* system, espyQueryObjectId id)
{
    return espyiQuery_FindObject(system, id) != ESPYI_QUERY_NONE;
}

uint32_t espyQuerySystem_GetObjectCount(const espyQuerySystem* system)
{
    return system ? system->objectCount : 0;
}

/// True where an object that was in `from` and moves at `speed` cannot just have moved to `to`.
static bool espySystem_IsJump(const espyBox* from, const espyBox* to, float speed)
{
    espyVec3 size = {from->max.x - from->min.x, from->max.y - from->min.y, from->max.z - from->min.z};
    float largest = espyiQuery_Max(size.x, espyiQuery_Max(size.y, size.z));
    espyBox room = espyBox_Grow(*from, ESPY_SYSTEM_JUMP * largest + 2.0f * speed);
    bool holds = to->min.x >= room.min.x && to->min.y >= room.min.y && to->min.z >= room.min.z &&
                 to->max.x <= room.max.x && to->max.y <= room.max.y && to->max.z <= room.max.z;
    return !holds || !espyBox_Overlaps(*from, *to);
}

/// The speed of a box that has moved since `ticks` ago.
static float espySystem_Speed(const espyBox* from, const espyBox* to, uint32_t ticks)
{
    espyVec3 step = {espyiQuery_Max(espyiQuery_Abs(to->min.x - from->min.x), espyiQuery_Abs(to->max.x - from->max.x)),
                     espyiQuery_Max(espyiQuery_Abs(to->min.y - from->min.y), espyiQuery_Abs(to->max.y - from->max.y)),
                     espyiQuery_Max(espyiQuery_Abs(to->min.z - from->min.z), espyiQuery_Abs(to->max.z - from->max.z))};
    return espyiVec3_Length(step) / (ticks == 2u ? 2.0f : 1.0f);
}

static void espyQuerySystem_MoveLeaf(espyQuerySystem* system, uint32_t index, espyBox box)
{
    uint32_t leaf = system->objects[index].node;
    espyiQueryNode* node = &system->nodes[leaf];
    uint32_t now = espyiQuery_ChangeTick(system);
    espyBox kept = espySystem_KeptBox(box);
    bool there = espyBox_IsValid(node->box);
    if (!there || !espyBox_IsValid(kept) || espySystem_IsJump(&node->box, &kept, espyiQuery_Speed(system, node)))
    {
        // As removed and added: nothing that is known is about this place.
        espyiQueryTree_Remove(system, leaf);
        node->stamp = ++system->stamp;
        node->box = kept;
        node->speed = 0.0f;
        espyiQueryTree_Insert(system, leaf);
        return;
    }
    uint32_t ticks = now - node->moved;
    float speed = espySystem_Speed(&node->box, &kept, ticks);
    node->speed = ticks == 0 ? node->speed + speed : speed;
    node->moved = now;
    node->box = kept;
    espyiQueryTree_Refit(system, leaf);
}

espyResult espyQuerySystem_SetBox(espyQuerySystem* system, espyQueryObjectId id, espyBox box)
{
    uint32_t index = espyiQuery_FindObject(system, id);
    if (index == ESPYI_QUERY_NONE)
    {
        return espyResult_InvalidId;
    }
    espyQuerySystem_MoveLeaf(system, index, box);
    return espyResult_Ok;
}

espyResult espyQuerySystem_SetBoxAndProxy(espyQuerySystem* system, espyQueryObjectId id, espyBox box, espyMat4 toWorld)
{
    uint32_t index = espyiQuery_FindObject(system, id);
    if (index == ESPYI_QUERY_NONE)
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&system->hooks, espyMat4_IsFinite(toWorld)))
    {
        return espyResult_InvalidArgument;
    }
    system->objects[index].toWorld = toWorld;
    espyQuerySystem_MoveLeaf(system, index, box);
    return espyResult_Ok;
}

espyBox espyQuerySystem_GetBox(const espyQuerySystem* system, espyQueryObjectId id)
{
    uint32_t index = espyiQuery_FindObject(system, id);
    return index == ESPYI_QUERY_NONE ? espyBox_Empty() : system->nodes[system->objects[index].node].box;
}

espyResult espyQuerySystem_SetTree(espyQuerySystem* system, const uint32_t* parents, uint32_t count)
{
    if (!ESPYI_CHECK(system ? &system->hooks : NULL,
                     system != NULL && (parents != NULL || count == 0) && system->objectCount == 0))
    {
        return espyResult_InvalidArgument;
    }
    if (count > ESPY_QUERY_MAX_OBJECTS)
    {
        return espyResult_LimitExceeded;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(&system->hooks, parents[i] == ESPY_QUERY_NO_NODE || parents[i] < i))
        {
            return espyResult_InvalidArgument;
        }
    }
    uint32_t before = system->callerNodes;
    system->callerNodes = count;
    bool room = espyQuerySystem_Room(system, 8);
    system->callerNodes = before;
    if (!room)
    {
        return espyResult_OutOfMemory;
    }
    espyQuerySystem_StartTree(system, count);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t parent = parents[i] == ESPY_QUERY_NO_NODE ? ESPYI_QUERY_ROOT : ESPYI_QUERY_FIXED_NODES + parents[i];
        espyiQueryTree_Link(system, parent, ESPYI_QUERY_FIXED_NODES + i);
    }
    return espyResult_Ok;
}

// --- views

espyiQueryView* espyiQuery_FindView(const espyQuerySystem* system, espyQueryViewId id)
{
    if (!system || id.index1 < 1 || id.index1 > (int32_t)ESPY_QUERY_MAX_VIEWS)
    {
        return NULL;
    }
    const espyiQueryView* view = &system->views[id.index1 - 1];
    return view->alive && view->generation == id.generation ? (espyiQueryView*)(uintptr_t)view : NULL;
}

static uint32_t espySystem_PowerOfTwo(uint32_t least)
{
    uint32_t power = 1;
    while (power < least)
    {
        power *= 2u;
    }
    return power;
}

static bool espyQueryView_Allocate(const espyQuerySystem* system, espyiQueryView* view)
{
    const espyHooks* hooks = &system->hooks;
    uint32_t queries = espySystem_PowerOfTwo(view->def.maxQueries);
    view->entryMask = queries * ESPY_SYSTEM_FLIGHTS - 1u;
    view->memberMask = espySystem_PowerOfTwo(queries * ESPY_SYSTEM_MEMBERS + ESPYI_QUERY_MAX_BATCH) - 1u;
    // Room for one batch of everything, so that a question always fits.
    view->proxyRoom = view->def.maxQueries * ESPY_SYSTEM_BOXES + ESPYI_QUERY_MAX_BATCH * 8u;
    view->past = (espyiQueryPast*)espyiAlloc(hooks, ESPYI_QUERY_PAST, sizeof *view->past);
    view->entries = (espyiQueryEntry*)espyiAlloc(hooks, (size_t)view->entryMask + 1u, sizeof *view->entries);
    view->members = (espyiQueryMember*)espyiAlloc(hooks, (size_t)view->memberMask + 1u, sizeof *view->members);
    view->questions = (espyDeviceQuery*)espyiAlloc(hooks, view->def.maxQueries, sizeof *view->questions);
    view->proxies = (espyDeviceDraw*)espyiAlloc(hooks, view->proxyRoom, sizeof *view->proxies);
    return view->past && view->entries && view->members && view->questions && view->proxies &&
           espyQueryView_Reserve(system, view, system->objectCapacity);
}

espyResult espyQuerySystem_CreateView(espyQuerySystem* system, const espyQueryViewDef* def, espyQueryViewId* out)
{
    if (!ESPYI_CHECK(system ? &system->hooks : NULL, system != NULL && def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyQueryViewId){0};
    if (!ESPYI_CHECK(&system->hooks, espyQueryViewDef_FindFault(def) == NULL))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t index = 0;
    while (index < ESPY_QUERY_MAX_VIEWS && system->views[index].alive)
    {
        ++index;
    }
    if (index == ESPY_QUERY_MAX_VIEWS)
    {
        return espyResult_LimitExceeded;
    }
    espyiQueryView* view = &system->views[index];
    view->def = *def;
    if (!espyQueryView_Allocate(system, view))
    {
        espyQueryView_Free(&system->hooks, view);
        return espyResult_OutOfMemory;
    }
    view->alive = view->enabled = view->cutPending = true;
    ++view->generation;
    view->oldest = view->serial;
    view->budget = def->maxQueries;
    view->rng = espyiRng_Seed(espyiHash_U64(system->seed, ((uint64_t)index << 32) + view->generation));
    *out = (espyQueryViewId){(int32_t)index + 1, view->generation};
    return espyResult_Ok;
}

espyResult espyQuerySystem_DestroyView(espyQuerySystem* system, espyQueryViewId id)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    espyQueryView_Free(&system->hooks, view);
    return espyResult_Ok;
}

espyResult espyQuerySystem_ConfigureView(espyQuerySystem* system, espyQueryViewId id, const espyQueryViewDef* def)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&system->hooks, def != NULL && espyQueryViewDef_FindFault(def) == NULL))
    {
        return espyResult_InvalidArgument;
    }
    espyQueryViewDef before = view->def;
    view->def = *def;
    view->def.maxQueries = before.maxQueries;
    view->def.history = before.history;
    return espyResult_Ok;
}

espyQueryViewDef espyQuerySystem_GetViewDef(const espyQuerySystem* system, espyQueryViewId id)
{
    const espyiQueryView* view = espyiQuery_FindView(system, id);
    return view ? view->def : (espyQueryViewDef){0};
}

espyResult espyQuerySystem_SetCosts(espyQuerySystem* system, espyQueryViewId id, const espyQueryCosts* costs)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&system->hooks, costs != NULL && espyQueryCosts_FindFault(costs) == NULL))
    {
        return espyResult_InvalidArgument;
    }
    view->def.costs = *costs;
    return espyResult_Ok;
}

espyResult espyQuerySystem_EnableView(espyQuerySystem* system, espyQueryViewId id, bool enable)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    view->cutPending = view->cutPending || view->enabled != enable;
    view->enabled = enable;
    return espyResult_Ok;
}

espyResult espyQuerySystem_Cut(espyQuerySystem* system, espyQueryViewId id)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    view->cutPending = true;
    return espyResult_Ok;
}

espyResult espyQuerySystem_FreezeView(espyQuerySystem* system, espyQueryViewId id, bool frozen)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    view->cutPending = view->cutPending || view->frozen != frozen;
    view->frozen = frozen;
    return espyResult_Ok;
}

bool espyQuerySystem_IsViewFrozen(const espyQuerySystem* system, espyQueryViewId id)
{
    const espyiQueryView* view = espyiQuery_FindView(system, id);
    return view && view->frozen;
}

// --- a frame

/// What each view may ask in this frame: all that it wants where that fits, else shares of the same size.
static void espyQuerySystem_ShareBudget(espyQuerySystem* system)
{
    uint64_t device = system->device.caps.maxQueriesPerFrame, most = system->maxQueriesPerFrame;
    most = most == 0 || most > device ? device : most;
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS; ++i)
    {
        wanted += system->views[i].alive ? system->views[i].def.maxQueries : 0u;
    }
    for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS; ++i)
    {
        espyiQueryView* view = &system->views[i];
        if (view->alive)
        {
            uint64_t share = wanted <= most ? view->def.maxQueries : most * view->def.maxQueries / wanted;
            view->budget = share > 0 ? (uint32_t)share : 1u;
        }
    }
}

espyResult espyQuerySystem_BeginFrame(espyQuerySystem* system, uint64_t frame)
{
    if (!ESPYI_CHECK(NULL, system != NULL))
    {
        return espyResult_InvalidArgument;
    }
    bool grows = ESPYI_CHECK(&system->hooks, frame > system->frame || system->tick == ESPYI_QUERY_FIRST_TICK);
    system->frame = grows ? frame : system->frame + 1u;
    ++system->tick;
    for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS; ++i)
    {
        espyiQueryView* view = &system->views[i];
        if (view->alive)
        {
            system->lost = system->lost || view->lost;
            view->stats.frame = (espyQueryCounts){0};
            view->questionCount = view->proxyCount = view->stagedMembers = 0;
        }
    }
    espyQuerySystem_ShareBudget(system);
    espyiQuery_Poll(system);
    for (uint32_t i = 0; i < ESPY_QUERY_MAX_VIEWS; ++i)
    {
        if (system->views[i].alive)
        {
            espyiQuery_Expire(system, &system->views[i]);
        }
    }
    return grows ? espyResult_Ok : espyResult_InvalidArgument;
}
