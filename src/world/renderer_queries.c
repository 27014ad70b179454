// SPDX-License-Identifier: MIT
// Occlusion queries of the renderer: nodes as objects of a query system, and what its answers hide after all other
// passes. The candidates of a view are what those passes left, so nothing else is ever asked about.
#include "world/data.h"
#include "world/renderer_movers.h"

#include <espy/world.h>

// --- nodes as objects

/// The box of a node as object: all that its draws test. Not valid where it is none.
static espyBox espyQueries_BoxOf(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const uint32_t may = espyNodeFlag_OccludeeStatic | espyNodeFlag_Dynamic;
    if (!node || !(node->flags & may) || (node->flags & espyNodeFlag_Skybox))
    {
        return espyBox_Empty();
    }
    int32_t slot = id.index1 - 1;
    espyBox box = node->bounds;
    uint32_t parts = espyiWorldData_DrawsOf(world, slot);
    for (uint32_t i = 0; i < parts && parts > 1u; ++i)
    {
        box = espyBox_Union(box, espyiWorldData_PartBox(world, slot, (int32_t)i, false));
    }
    return box;
}

static void espyQueries_Remove(espyRenderer* renderer, espyiQueriedNode* queried)
{
    if (queried->object.index1 != 0)
    {
        espyQuerySystem_RemoveObject(renderer->system, queried->object);
    }
    *queried = (espyiQueriedNode){0};
}

/// Makes a node's object, or moves it.
static bool espyQueries_Place(espyRenderer* renderer, espyNodeId id, espyBox box)
{
    if (!espyiGrow(&renderer->hooks, (void**)&renderer->queried, &renderer->queriedCapacity, (size_t)id.index1,
                   sizeof *renderer->queried))
    {
        return false;
    }
    espyiQueriedNode* queried = &renderer->queried[id.index1 - 1];
    if (queried->object.index1 != 0)
    {
        espyBox before = espyQuerySystem_GetBox(renderer->system, queried->object);
        // Flags and names change without a move, which would be one of no speed.
        return (before.min.x == box.min.x && before.min.y == box.min.y && before.min.z == box.min.z &&
                before.max.x == box.max.x && before.max.y == box.max.y && before.max.z == box.max.z) ||
               espyQuerySystem_SetBox(renderer->system, queried->object, box) == espyResult_Ok;
    }
    espyQueryObjectDef def = espyQueryObjectDef_Default();
    def.box = box;
    espyQueryObjectId object;
    if (espyQuerySystem_AddObject(renderer->system, &def, &object) != espyResult_Ok)
    {
        return false;
    }
    *queried = (espyiQueriedNode){id.generation, object};
    uint32_t index1 = (uint32_t)object.index1;
    renderer->queriedObjects = index1 > renderer->queriedObjects ? index1 : renderer->queriedObjects;
    return true;
}

/// Makes room in a view for bits of all objects.
static bool espyQueries_Reserve(const espyRenderer* renderer, espyiRendererView* view)
{
    uint32_t words = (renderer->queriedObjects + 31u) / 32u;
    if (words > view->candidateWords)
    {
        uint32_t room = words + words / 4u + 1u;
        uint32_t* fresh = (uint32_t*)espyiAlloc(&renderer->hooks, room, sizeof *fresh);
        if (!fresh)
        {
            return false;
        }
        espyiFree(&renderer->hooks, view->candidates);
        view->candidates = fresh;
        view->candidateWords = room;
    }
    return true;
}

bool espyiQueries_Follow(espyRenderer* renderer)
{
    bool whole = true;
    // What goes makes room for what comes.
    for (int pass = 0; pass < 2; ++pass)
    {
        espyNodeId id = {0, 0};
        while (espyWorld_NextChange(renderer->world, renderer->queriedRevision, &id))
        {
            size_t slot = (size_t)id.index1 - 1u;
            espyBox box = espyQueries_BoxOf(renderer->world, id);
            bool known = slot < renderer->queriedCapacity && renderer->queried[slot].object.index1 != 0;
            bool same = known && renderer->queried[slot].generation == id.generation && espyBox_IsValid(box);
            if (pass == 0 && known && !same)
            {
                espyQueries_Remove(renderer, &renderer->queried[slot]);
            }
            if (pass == 1 && espyBox_IsValid(box) && !espyQueries_Place(renderer, id, box))
            {
                whole = false;
            }
        }
    }
    if (whole)
    {
        renderer->queriedRevision = espyWorld_GetRevision(renderer->world);
    }
    for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        espyiRendererView* view = &renderer->views[i];
        whole = (!view->alive || view->queries.index1 == 0 || espyQueries_Reserve(renderer, view)) && whole;
    }
    return whole;
}

espyResult espyRenderer_SetQuerySystem(espyRenderer* renderer, espyQuerySystem* system)
{
    if (!ESPYI_CHECK(NULL, renderer != NULL))
    {
        return espyResult_InvalidArgument;
    }
    for (size_t i = 0; renderer->system && i < renderer->queriedCapacity; ++i)
    {
        espyQueries_Remove(renderer, &renderer->queried[i]);
    }
    for (uint32_t i = 0; i < ESPY_RENDERER_MAX_VIEWS; ++i)
    {
        renderer->views[i].queries = (espyQueryViewId){0, 0};
    }
    renderer->system = system;
    renderer->queriedRevision = 0;
    renderer->queriedObjects = 0;
    return espyResult_Ok;
}

espyResult espyRenderer_SetViewQueries(espyRenderer* renderer, espyViewId id, espyQueryViewId queries, int32_t width,
                                       int32_t height)
{
    const espyiRendererView* found = espyiRenderer_FindView(renderer, id);
    if (!found)
    {
        return espyResult_InvalidId;
    }
    espyiRendererView* view = &renderer->views[id.index1 - 1];
    if (queries.index1 == 0)
    {
        view->queries = queries;
        return espyResult_Ok;
    }
    if (!ESPYI_CHECK(&renderer->hooks, renderer->system != NULL && width >= 1 && width <= ESPY_RASTER_MAX_SIZE &&
                                           height >= 1 && height <= ESPY_RASTER_MAX_SIZE))
    {
        return espyResult_InvalidArgument;
    }
    if (!espyQueries_Reserve(renderer, view))
    {
        return espyResult_OutOfMemory;
    }
    view->queries = queries;
    view->queryWidth = width;
    view->queryHeight = height;
    espyQuerySystem_FreezeView(renderer->system, queries, view->frozen);
    return espyResult_Ok;
}

/// The object of a node, alive or not.
static espyQueryObjectId espyQueries_ObjectOf(const espyRenderer* renderer, espyNodeId node)
{
    const espyiQueriedNode* queried =
        renderer->queried && node.index1 > 0 && (size_t)node.index1 <= renderer->queriedCapacity
            ? &renderer->queried[node.index1 - 1]
            : NULL;
    return queried && queried->generation == node.generation ? queried->object : (espyQueryObjectId){0, 0};
}

espyQueryObjectId espyRenderer_GetQueryObject(const espyRenderer* renderer, espyNodeId node)
{
    return renderer ? espyQueries_ObjectOf(renderer, node) : (espyQueryObjectId){0, 0};
}

// --- the pass

static bool espyBox_HoldsBox(const espyBox* outer, const espyBox* box)
{
    return outer->min.x <= box->min.x && outer->min.y <= box->min.y && outer->min.z <= box->min.z &&
           outer->max.x >= box->max.x && outer->max.y >= box->max.y && outer->max.z >= box->max.z;
}

void espyiQueries_Cull(const espyRenderer* renderer, espyiRendererView* view, const espyiDraws* draws,
                       espyCullOutput* output)
{
    uint32_t words = (renderer->queriedObjects + 31u) / 32u;
    if (!renderer->system || view->defs[0].cookie != ESPY_DEF_COOKIE || words > view->candidateWords)
    {
        return;
    }
    for (uint32_t i = 0; i < words; ++i)
    {
        view->candidates[i] = 0;
    }
    espyiDrawCursor cursor = {0};
    for (uint32_t i = 0; i < output->drawCount; ++i)
    {
        uint32_t at = espyiDrawCursor_Seek(&cursor, draws, view->drawList[i]);
        const espyiDrawGroup* group = draws->groups[cursor.group];
        espyQueryObjectId object = espyQueries_ObjectOf(renderer, group->nodes[at]);
        view->draws[i].part = espyiPass_Shows;
        if (object.index1 != 0 && espyiBits_Get(group->occludee, at))
        {
            espyiBits_Set(view->candidates, (uint32_t)object.index1 - 1u);
        }
    }
    espyQueryCamera camera = espyQueryCamera_Default();
    camera.eye = view->defs[0];
    camera.secondEye = view->defs[1].cookie == ESPY_DEF_COOKIE ? &view->defs[1] : NULL;
    camera.width = view->queryWidth;
    camera.height = view->queryHeight;
    camera.candidates = view->candidates;
    camera.candidateCount = renderer->queriedObjects;
    if (espyQuerySystem_Cull(renderer->system, view->queries, &camera) != espyResult_Ok)
    {
        return;
    }
    cursor = (espyiDrawCursor){0};
    for (uint32_t i = 0; i < output->drawCount; ++i)
    {
        uint32_t at = espyiDrawCursor_Seek(&cursor, draws, view->drawList[i]);
        const espyiDrawGroup* group = draws->groups[cursor.group];
        espyQueryObjectId object = espyQueries_ObjectOf(renderer, group->nodes[at]);
        if (object.index1 == 0 || !espyiBits_Get(group->occludee, at))
        {
            continue;
        }
        espyQueryReason reason = espyQuerySystem_Explain(renderer->system, view->queries, object).reason;
        espyBox asked = espyQuerySystem_GetBox(renderer->system, object), now = espyiDrawGroup_GetBox(group, at);
        bool hidden = reason == espyQueryReason_Hidden || reason == espyQueryReason_HiddenNode;
        view->draws[i].part = hidden && espyBox_HoldsBox(&asked, &now) ? espyiPass_Hidden : espyiPass_Shows;
    }
    view->stats.queryCulled = espyiPass_Drop(view, draws, output);
}
