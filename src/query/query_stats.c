// SPDX-License-Identifier: MIT
// What a view can tell: reasons, histories, comparisons with a reference, counts.
#include "query/query_internal.h"

/// Why an object was drawn or not in the last cull, and by which node: its own leaf or one above.
static espyQueryReason espyQuery_Reason(const espyQuerySystem* system, const espyiQueryView* view, uint32_t index,
                                        uint32_t* outNode, uint32_t* outDepth)
{
    const espyiQueryObject* object = &system->objects[index];
    uint32_t at = object->node;
    *outNode = at;
    *outDepth = 0;
    if (view->culls == 0 || espyiTick_After(object->added, view->tick))
    {
        return espyQueryReason_None;
    }
    const espyiQueryRecord* leaf = &view->records[at];
    if (view->candidates && (leaf->stamp != system->nodes[at].stamp || leaf->marked != view->culls))
    {
        return espyQueryReason_Excluded;
    }
    for (; at != ESPYI_QUERY_NONE; at = system->nodes[at].parent, ++*outDepth)
    {
        const espyiQueryRecord* record = &view->records[at];
        if (record->stamp == system->nodes[at].stamp && record->visited == view->culls)
        {
            espyQueryReason reason = (espyQueryReason)record->reason;
            bool hidden = reason == espyQueryReason_Hidden && *outDepth > 0;
            // A node above that was passed says nothing about an object that came below it since.
            bool passed = reason == espyQueryReason_None && *outDepth > 0;
            *outNode = at;
            return hidden ? espyQueryReason_HiddenNode : passed ? espyQueryReason_None : reason;
        }
    }
    return espyQueryReason_None;
}

espyQueryDecision espyQuerySystem_Explain(const espyQuerySystem* system, espyQueryViewId id, espyQueryObjectId objectId)
{
    const espyiQueryView* view = espyiQuery_FindView(system, id);
    uint32_t index = espyiQuery_FindObject(system, objectId);
    espyQueryDecision decision = {0};
    if (!view || index == ESPYI_QUERY_NONE)
    {
        return decision;
    }
    uint32_t node, depth;
    decision.reason = espyQuery_Reason(system, view, index, &node, &depth);
    const espyiQueryRecord* record = &view->records[node];
    bool known = record->stamp == system->nodes[node].stamp;
    switch (decision.reason)
    {
    case espyQueryReason_Hidden:
    case espyQueryReason_HiddenNode:
        decision.visibility = espyVisibility_Occluded;
        decision.age = view->tick - record->evidence;
        break;
    case espyQueryReason_Outside:
        decision.visibility = espyVisibility_Outside;
        break;
    case espyQueryReason_Excluded:
        decision.visibility = espyVisibility_Occluded;
        break;
    case espyQueryReason_Visible:
    case espyQueryReason_NearPlane:
        decision.visibility = espyVisibility_Visible;
        break;
    default:
        break;
    }
    decision.depth = decision.reason == espyQueryReason_HiddenNode ? depth : 0;
    uint32_t newest = known ? espyiTick_Later(record->evidence, record->shown) : 0;
    decision.pending = known && espyiTick_After(record->asked, newest) &&
                       system->tick - record->asked <= view->def.timeLimit &&
                       !espyiTick_After(view->valid, record->asked);
    return decision;
}

// --- history

void espyiQuery_WriteHistory(const espyQuerySystem* system, espyiQueryView* view)
{
    for (uint32_t i = 0; view->history && i < system->objectSlots; ++i)
    {
        const espyiQueryObject* object = &system->objects[i];
        espyiQueryHistory* history = &view->history[i];
        if (!object->alive)
        {
            continue;
        }
        if (history->generation != object->generation)
        {
            *history = (espyiQueryHistory){.generation = object->generation};
        }
        uint32_t node, depth;
        uint32_t reason = (uint32_t)espyQuery_Reason(system, view, i, &node, &depth);
        for (uint32_t b = 0; b < 4; ++b)
        {
            history->planes[b] = history->planes[b] << 1 | (reason >> b & 1u);
        }
        history->culls += history->culls < ESPY_QUERY_HISTORY ? 1u : 0u;
    }
}

uint32_t espyQuerySystem_GetHistory(const espyQuerySystem* system, espyQueryViewId id, espyQueryObjectId objectId,
                                    espyQueryReason out[ESPY_QUERY_HISTORY])
{
    const espyiQueryView* view = espyiQuery_FindView(system, id);
    uint32_t index = espyiQuery_FindObject(system, objectId);
    for (uint32_t i = 0; i < ESPY_QUERY_HISTORY; ++i)
    {
        out[i] = espyQueryReason_None;
    }
    if (!view || !view->history || index == ESPYI_QUERY_NONE || view->history[index].generation != objectId.generation)
    {
        return 0;
    }
    const espyiQueryHistory* history = &view->history[index];
    for (uint32_t i = 0; i < history->culls; ++i)
    {
        uint32_t reason = 0;
        for (uint32_t b = 0; b < 4; ++b)
        {
            reason |= (uint32_t)(history->planes[b] >> i & 1u) << b;
        }
        out[i] = (espyQueryReason)reason;
    }
    return history->culls;
}

// --- counts

espyResult espyQuerySystem_Compare(espyQuerySystem* system, espyQueryViewId id, const uint32_t* seen, uint32_t count)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    for (uint32_t i = 0; i < count && i < system->objectSlots; ++i)
    {
        const espyiQueryObject* object = &system->objects[i];
        if (!object->alive)
        {
            continue;
        }
        espyiQueryRecord* record = espyiQuery_Record(system, view, object->node);
        uint32_t node, depth;
        bool missing =
            espyiBits_Get(seen, i) && !espyiQueryReason_IsDrawn(espyQuery_Reason(system, view, i, &node, &depth));
        uint32_t frames = missing ? (uint32_t)record->missing + (record->missing < UINT16_MAX ? 1u : 0u) : 0u;
        uint32_t pop = missing && record->missing == 0 ? 1u : 0u;
        record->missing = (uint16_t)frames;
        view->stats.frame.missing += missing ? 1u : 0u;
        view->stats.total.missing += missing ? 1u : 0u;
        view->stats.frame.pops += pop;
        view->stats.total.pops += pop;
        view->stats.longestMissing = frames > view->stats.longestMissing ? frames : view->stats.longestMissing;
    }
    return espyResult_Ok;
}

espyQueryStats espyQuerySystem_GetStats(const espyQuerySystem* system, espyQueryViewId id)
{
    const espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return (espyQueryStats){0};
    }
    espyQueryStats stats = view->stats;
    stats.latency = view->latencyCount > 0 ? espyiQuery_Latency(view) : 0;
    stats.bytes =
        view->recordCapacity * sizeof *view->records + view->wishCapacity * sizeof *view->wishes +
        view->orderCapacity * sizeof *view->order + view->drawCapacity * sizeof *view->draws +
        view->historyCapacity * sizeof *view->history + ((size_t)view->entryMask + 1u) * sizeof *view->entries +
        ((size_t)view->memberMask + 1u) * sizeof *view->members +
        (size_t)view->def.maxQueries * sizeof *view->questions + (size_t)view->proxyRoom * sizeof *view->proxies;
    return stats;
}
