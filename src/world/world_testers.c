// SPDX-License-Identifier: MIT
// Tester meshes on nodes. Each node's slot has a place for the target and the tester that it was made; draws are
// chained by the target that they are in, so that a target that appears finds its own.
#include "world/world_internal.h"

#include <espy/world_testers.h>

typedef struct espyTesterNode
{
    uint32_t generation; ///< Of the node that the two belong to.
    espyTesterTargetId target;
    espyTesterId tester;
    uint32_t firstDraw; ///< Of the run `stamp`: index of a draw and 1; 0 ends a chain.
    uint64_t stamp;
} espyTesterNode;

struct espyWorldTesters
{
    espyHooks hooks;
    const espyWorld* world;
    espyTesterScene* scene;
    espyTesterNode* nodes; ///< By slot.
    size_t nodeCapacity;
    uint64_t revision, stamp;
    // Of a run, one entry a draw.
    espyDraw* draws; ///< What is left.
    espyDraw* batch; ///< What a call draws.
    uint32_t* nextDraw;
    int32_t* owners; ///< Slot of the target that it is in, or NONE.
    size_t drawCapacity, batchCapacity, nextCapacity, ownerCapacity;
    uint32_t drawCount;
    const espyDraw* given; ///< By the renderer.
    uint32_t firstFree;    ///< Chain of those in no target.
    espyWorldTestersDraw draw;
    void* context;
};

espyWorldTestersDef espyWorldTestersDef_Default(void)
{
    return (espyWorldTestersDef){.mainView = espyTesterViewDef_Default(), .cookie = ESPY_DEF_COOKIE};
}

espyResult espyWorldTesters_Create(const espyWorldTestersDef* def, espyWorldTesters** out)
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
    espyWorldTesters* testers = (espyWorldTesters*)espyiAlloc(&hooks, 1, sizeof *testers);
    if (!testers)
    {
        return espyResult_OutOfMemory;
    }
    testers->hooks = hooks;
    testers->world = def->world;
    testers->revision = def->world->revision;
    espyTesterSceneDef scene = espyTesterSceneDef_Default();
    scene.hooks = hooks;
    scene.device = def->device;
    scene.mainView = def->mainView;
    espyResult result = espyTesterScene_Create(&scene, &testers->scene);
    if (result != espyResult_Ok)
    {
        espyWorldTesters_Destroy(testers);
        return result;
    }
    *out = testers;
    return espyResult_Ok;
}

void espyWorldTesters_Destroy(espyWorldTesters* testers)
{
    if (testers)
    {
        espyHooks hooks = testers->hooks;
        espyTesterScene_Destroy(testers->scene);
        espyiFree(&hooks, testers->nodes);
        espyiFree(&hooks, testers->draws);
        espyiFree(&hooks, testers->batch);
        espyiFree(&hooks, testers->nextDraw);
        espyiFree(&hooks, testers->owners);
        espyiFree(&hooks, testers);
    }
}

espyTesterScene* espyWorldTesters_GetScene(const espyWorldTesters* testers)
{
    return testers ? testers->scene : NULL;
}

/// What a living node was made; null where it is neither.
static espyTesterNode* espyWorldTesters_Find(const espyWorldTesters* testers, int32_t slot)
{
    if (!testers->nodes || (size_t)slot >= testers->nodeCapacity)
    {
        return NULL;
    }
    espyTesterNode* node = &testers->nodes[slot];
    bool any = node->target.index1 != 0 || node->tester.index1 != 0;
    return any && node->generation == testers->world->nodes[slot].generation ? node : NULL;
}

/// The nearest node from `slot` up that is a target; NONE where there is none.
static int32_t espyWorldTesters_FindOwner(const espyWorldTesters* testers, int32_t slot)
{
    while (slot != ESPYI_WORLD_NONE)
    {
        const espyTesterNode* node = espyWorldTesters_Find(testers, slot);
        if (node && node->target.index1 != 0)
        {
            break;
        }
        slot = testers->world->nodes[slot].parent;
    }
    return slot;
}

/// The target that a node is in, itself not counted.
static espyTesterTargetId espyWorldTesters_ParentOf(const espyWorldTesters* testers, int32_t slot)
{
    int32_t owner = espyWorldTesters_FindOwner(testers, testers->world->nodes[slot].parent);
    return owner == ESPYI_WORLD_NONE ? (espyTesterTargetId){0, 0} : testers->nodes[owner].target;
}

/// Destroys what belonged to a node of this slot that is gone.
static void espyWorldTesters_Clear(espyWorldTesters* testers, espyTesterNode* node)
{
    // What was in a target may have gone with it.
    if (espyTesterScene_IsTester(testers->scene, node->tester))
    {
        espyTesterScene_DestroyTester(testers->scene, node->tester);
    }
    if (espyTesterScene_IsTarget(testers->scene, node->target))
    {
        espyTesterScene_DestroyTarget(testers->scene, node->target);
    }
    *node = (espyTesterNode){.stamp = node->stamp};
}

/// Brings what a living node was made to its place.
static espyResult espyWorldTesters_Place(espyWorldTesters* testers, int32_t slot, const espyTesterNode* node)
{
    espyTesterTargetId parent = espyWorldTesters_ParentOf(testers, slot);
    espyResult result = espyResult_Ok;
    if (node->target.index1 != 0)
    {
        result = espyTesterScene_SetTargetParent(testers->scene, node->target, parent);
    }
    if (node->tester.index1 != 0)
    {
        espyResult moved = espyTesterScene_SetTesterParent(testers->scene, node->tester, parent);
        result = result == espyResult_Ok ? moved : result;
        espyTesterScene_SetMesh(testers->scene, node->tester, (espyDeviceMesh){0}, testers->world->nodes[slot].bounds);
    }
    return result;
}

/// The place of a node that is to be made one of the two; null and why not.
static espyTesterNode* espyWorldTesters_Claim(espyWorldTesters* testers, espyNodeId id, espyResult* why)
{
    *why = espyResult_InvalidId;
    if (!ESPYI_CHECK(testers ? &testers->hooks : NULL,
                     testers != NULL && espyiWorld_FindNode(testers->world, id) != NULL))
    {
        return NULL;
    }
    *why = espyResult_OutOfMemory;
    if (!espyiGrow(&testers->hooks, (void**)&testers->nodes, &testers->nodeCapacity, (size_t)id.index1,
                   sizeof *testers->nodes))
    {
        return NULL;
    }
    espyTesterNode* node = &testers->nodes[id.index1 - 1];
    if (node->generation != id.generation)
    {
        espyWorldTesters_Clear(testers, node);
        node->generation = id.generation;
    }
    *why = espyResult_Ok;
    return node;
}

espyResult espyWorldTesters_MakeTarget(espyWorldTesters* testers, espyNodeId id, espyTesterTargetId* out)
{
    espyResult result;
    espyTesterNode* node = espyWorldTesters_Claim(testers, id, &result);
    if (node && node->target.index1 == 0)
    {
        int32_t slot = id.index1 - 1;
        espyTesterTargetDef def = espyTesterTargetDef_Default();
        def.parent = espyWorldTesters_ParentOf(testers, slot);
        def.name = testers->world->nodes[slot].name;
        def.userData = (uint64_t)slot;
        result = espyTesterScene_CreateTarget(testers->scene, &def, &node->target);
        // What is under it is in it from now on. That closes no cycle: it waits for what they waited for.
        for (int32_t at = slot; at != ESPYI_WORLD_NONE && result == espyResult_Ok;
             at = espyiWorld_NextInSubtree(testers->world, slot, at))
        {
            const espyTesterNode* below = at != slot ? espyWorldTesters_Find(testers, at) : NULL;
            if (below)
            {
                espyWorldTesters_Place(testers, at, below);
            }
        }
    }
    if (out)
    {
        *out = node ? node->target : (espyTesterTargetId){0, 0};
    }
    return result;
}

espyResult espyWorldTesters_MakeTester(espyWorldTesters* testers, espyNodeId id, espyTesterId* out)
{
    espyResult result;
    espyTesterNode* node = espyWorldTesters_Claim(testers, id, &result);
    if (node && node->tester.index1 == 0)
    {
        espyTesterDef def = espyTesterDef_Default();
        def.parent = espyWorldTesters_ParentOf(testers, id.index1 - 1);
        def.bounds = testers->world->nodes[id.index1 - 1].bounds;
        def.name = testers->world->nodes[id.index1 - 1].name;
        def.userData = (uint64_t)id.index1 - 1u;
        result = espyTesterScene_CreateTester(testers->scene, &def, &node->tester);
    }
    if (out)
    {
        *out = node ? node->tester : (espyTesterId){0, 0};
    }
    return result;
}

espyTesterTargetId espyWorldTesters_GetTarget(const espyWorldTesters* testers, espyNodeId id)
{
    const espyTesterNode* node =
        testers && espyiWorld_FindNode(testers->world, id) ? espyWorldTesters_Find(testers, id.index1 - 1) : NULL;
    return node ? node->target : (espyTesterTargetId){0, 0};
}

espyTesterId espyWorldTesters_GetTester(const espyWorldTesters* testers, espyNodeId id)
{
    const espyTesterNode* node =
        testers && espyiWorld_FindNode(testers->world, id) ? espyWorldTesters_Find(testers, id.index1 - 1) : NULL;
    return node ? node->tester : (espyTesterId){0, 0};
}

espyResult espyWorldTesters_Follow(espyWorldTesters* testers)
{
    if (!ESPYI_CHECK(testers ? &testers->hooks : NULL, testers != NULL))
    {
        return espyResult_InvalidArgument;
    }
    // First out of what is gone, then away with it: a target takes with it what is in it.
    espyResult result = espyResult_Ok;
    for (int pass = 0; pass < 2; ++pass)
    {
        espyNodeId id = {0, 0};
        while (espyWorld_NextChange(testers->world, testers->revision, &id))
        {
            int32_t slot = id.index1 - 1;
            if (!testers->nodes || (size_t)slot >= testers->nodeCapacity)
            {
                continue;
            }
            bool stays = espyWorld_IsNode(testers->world, id) && testers->nodes[slot].generation == id.generation;
            if (pass == 0 && stays && espyWorldTesters_Find(testers, slot))
            {
                espyResult placed = espyWorldTesters_Place(testers, slot, &testers->nodes[slot]);
                result = result == espyResult_Ok ? placed : result;
            }
            if (pass == 1 && !stays)
            {
                espyWorldTesters_Clear(testers, &testers->nodes[slot]);
            }
        }
    }
    testers->revision = testers->world->revision;
    return result;
}

// --- a run

/// Draws a chain of draws.
static espyResult espyWorldTesters_DrawChain(espyWorldTesters* testers, uint32_t first)
{
    uint32_t count = 0;
    for (uint32_t at = first; at != 0; at = testers->nextDraw[at - 1])
    {
        testers->batch[count++] = testers->given[at - 1];
    }
    return count > 0 && testers->draw ? testers->draw(testers->context, testers->batch, count) : espyResult_Ok;
}

static espyResult espyWorldTesters_DrawTargets(void* context, espyTesterViewId view, const espyTesterTargetId* targets,
                                               uint32_t count)
{
    espyWorldTesters* testers = (espyWorldTesters*)context;
    (void)view;
    espyResult result = espyResult_Ok;
    for (uint32_t i = 0; i < count && result == espyResult_Ok; ++i)
    {
        if (targets[i].index1 == 0)
        {
            result = espyWorldTesters_DrawChain(testers, testers->firstFree);
            continue;
        }
        const espyTesterNode* node = &testers->nodes[espyTesterScene_GetTargetUserData(testers->scene, targets[i])];
        result = node->stamp == testers->stamp ? espyWorldTesters_DrawChain(testers, node->firstDraw) : espyResult_Ok;
    }
    return result;
}

/// Chains the draws by the targets that they are in, the last ones first.
static void espyWorldTesters_Chain(espyWorldTesters* testers, uint32_t count)
{
    ++testers->stamp;
    testers->firstFree = 0;
    for (uint32_t i = count; i > 0; --i)
    {
        espyNodeId id = testers->given[i - 1].node;
        bool known = espyiWorld_FindNode(testers->world, id) != NULL;
        const espyTesterNode* own = known ? espyWorldTesters_Find(testers, id.index1 - 1) : NULL;
        int32_t owner = known ? espyWorldTesters_FindOwner(testers, id.index1 - 1) : ESPYI_WORLD_NONE;
        bool isTester = own && own->tester.index1 != 0;
        testers->owners[i - 1] = isTester ? ESPYI_WORLD_NONE - 1 : owner;
        if (isTester)
        {
            continue;
        }
        espyTesterNode* node = owner != ESPYI_WORLD_NONE ? &testers->nodes[owner] : NULL;
        uint32_t* first = node ? &node->firstDraw : &testers->firstFree;
        if (node && node->stamp != testers->stamp)
        {
            node->stamp = testers->stamp;
            node->firstDraw = 0;
        }
        testers->nextDraw[i - 1] = *first;
        *first = i;
    }
}

static bool espyWorldTesters_Reserve(espyWorldTesters* testers, size_t count)
{
    const espyHooks* hooks = &testers->hooks;
    return espyiGrow(hooks, (void**)&testers->draws, &testers->drawCapacity, count, sizeof *testers->draws) &&
           espyiGrow(hooks, (void**)&testers->batch, &testers->batchCapacity, count, sizeof *testers->batch) &&
           espyiGrow(hooks, (void**)&testers->nextDraw, &testers->nextCapacity, count, sizeof *testers->nextDraw) &&
           espyiGrow(hooks, (void**)&testers->owners, &testers->ownerCapacity, count, sizeof *testers->owners);
}

espyResult espyWorldTesters_RunView(espyWorldTesters* testers, const espyRenderer* renderer, espyViewId view,
                                    espyTesterViewId testerView, const espyTesterRun* run, espyWorldTestersDraw draw,
                                    void* context)
{
    if (!ESPYI_CHECK(testers ? &testers->hooks : NULL, testers != NULL && renderer != NULL && run != NULL))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t count = 0;
    testers->given = espyRenderer_GetDraws(renderer, view, &count);
    testers->drawCount = 0;
    if (!ESPYI_CHECK(&testers->hooks, espyRenderer_GetView(renderer, view) != NULL))
    {
        testers->given = NULL;
        return espyResult_InvalidId;
    }
    if (!espyWorldTesters_Reserve(testers, count))
    {
        testers->drawCount = count;
        return espyResult_OutOfMemory;
    }
    espyWorldTesters_Chain(testers, count);
    testers->draw = draw;
    testers->context = context;
    espyTesterRun inner = *run;
    inner.drawTargets = espyWorldTesters_DrawTargets;
    inner.context = testers;
    espyResult result = espyTesterScene_RunView(testers->scene, testerView, &inner);
    for (uint32_t i = 0; i < count; ++i)
    {
        int32_t owner = testers->owners[i];
        espyTesterTargetId target = owner >= 0 ? testers->nodes[owner].target : (espyTesterTargetId){0, 0};
        if (owner >= ESPYI_WORLD_NONE && espyTesterScene_IsShown(testers->scene, target, testerView))
        {
            testers->draws[testers->drawCount++] = testers->given[i];
        }
    }
    testers->given = testers->draws;
    return result;
}

const espyDraw* espyWorldTesters_GetDraws(const espyWorldTesters* testers, uint32_t* count)
{
    *count = testers ? testers->drawCount : 0;
    return testers ? testers->given : NULL;
}
