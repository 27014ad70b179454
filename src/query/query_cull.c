// SPDX-License-Identifier: MIT
// One view in one frame: walks the tree, decides what is drawn from what is known, and wishes for questions.
//
// Evidence (an answer "hidden") counts for a node where all of these hold:
//   - its question is not older than the time limit, nor than the last cut, nor than anything that was seen in it or
//     above it since;
//   - nothing came below the node since, neither an object nor a candidate of the camera;
//   - no part of it has come into the view since.
// Where a node's evidence cannot count for all of it, it goes down to those children to which it applies. Going up
// again, a node stands for its children once all of them have been hidden for long enough: then one question does for
// all.
#include "query/query_internal.h"

/// Answers "hidden" in a row from which on a node may share a question.
#define ESPY_CULL_BATCH_RUN 3u
/// Answers that children need before a node stands for them, at first.
#define ESPY_CULL_PATIENCE 3u
/// Metres a tick, and sine of the angle, below which a camera is at rest.
#define ESPY_CULL_REST 1e-5f
/// Culls over which costs are summed, and for which a view stays off when they are too high, the first time.
#define ESPY_CULL_WINDOW 64u
#define ESPY_CULL_OFF 240u
#define ESPY_CULL_MOST_OFF 15360u

typedef enum espyCullVerdict
{
    espyCullVerdict_Down = 0, ///< Look at the children.
    espyCullVerdict_Drawn,
    espyCullVerdict_Hidden,
    espyCullVerdict_Outside,
    espyCullVerdict_Excluded,
} espyCullVerdict;

typedef struct espyCullWalk
{
    const espyQuerySystem* system;
    espyiQueryView* view;
    const espyiQueryPast* now;
    uint32_t tick;
    uint32_t latency;
    uint32_t grain; ///< Objects below a node of which nothing is known that is asked about as one.
    float skippedCost;
} espyCullWalk;

espyiQueryRecord* espyiQuery_Record(const espyQuerySystem* system, espyiQueryView* view, uint32_t node)
{
    espyiQueryRecord* record = &view->records[node];
    if (record->stamp != system->nodes[node].stamp)
    {
        *record = (espyiQueryRecord){.stamp = system->nodes[node].stamp, .patience = ESPY_CULL_PATIENCE};
    }
    return record;
}

bool espyiQueryReason_IsDrawn(espyQueryReason reason)
{
    return reason < espyQueryReason_Outside;
}

// --- what is known

/// True where the record's evidence is about the camera and the objects as they are, whatever came below since.
static bool espyCull_IsFresh(const espyCullWalk* walk, const espyiQueryRecord* record)
{
    return record->state == espyiQueryState_Hidden && walk->tick - record->evidence <= walk->view->def.timeLimit &&
           !espyiTick_After(walk->view->valid, record->evidence) &&
           !espyiTick_After(record->pathShown, record->evidence);
}

/// True where fresh evidence counts for all below the node.
static bool espyCull_Counts(const espyiQueryNode* node, const espyiQueryRecord* record)
{
    return !espyiTick_After(node->changed, record->evidence) && !espyiTick_After(record->entered, record->evidence);
}

static bool espyCull_IsEntering(const espyCullWalk* walk, const espyiQueryRecord* record, const espyBox* box)
{
    const espyiQueryPast* past = &walk->view->past[record->evidence % ESPYI_QUERY_PAST];
    return past->tick != record->evidence || espyiQueryPast_IsEntering(past, walk->now, box, walk->view->lens.pixel);
}

/// Why nothing hides an object of which there is no fresh evidence.
static espyQueryReason espyCull_Doubt(const espyCullWalk* walk, const espyiQueryRecord* record)
{
    uint32_t newest = espyiTick_Later(record->evidence, record->shown);
    if (record->state == espyiQueryState_Visible && !espyiTick_After(walk->view->valid, record->shown))
    {
        return record->run > 0 ? espyQueryReason_Settling : espyQueryReason_Visible;
    }
    if (espyiTick_After(walk->view->valid, newest))
    {
        bool before = newest != 0 || (record->asked != 0 && espyiTick_After(walk->view->valid, record->asked));
        return before ? espyQueryReason_Cut : espyQueryReason_New;
    }
    if (espyiTick_After(record->pathShown, record->evidence))
    {
        return espyQueryReason_Revealed;
    }
    return walk->tick - newest > walk->view->def.timeLimit ? espyQueryReason_Expired : espyQueryReason_New;
}

// --- what is drawn and asked

static void espyCull_Draw(espyCullWalk* walk, const espyiQueryNode* leaf, espyiQueryRecord* record,
                          espyQueryReason reason)
{
    espyiQueryView* view = walk->view;
    record->reason = (uint8_t)reason;
    record->visited = view->culls;
    uint32_t generation = walk->system->objects[leaf->object].generation;
    view->draws[view->drawCount++] = (espyQueryObjectId){(int32_t)leaf->object + 1, generation};
}

static void espyCull_Wish(espyCullWalk* walk, uint32_t node, const espyiQueryRecord* record, bool hidden, bool trial)
{
    espyiQueryView* view = walk->view;
    uint32_t wait = walk->tick - record->asked;
    view->wishes[view->wishCount++] = (espyiQueryWish){
        .node = node,
        .wait = (uint8_t)(wait < ESPYI_QUERY_WAITS ? wait : ESPYI_QUERY_WAITS - 1u),
        .batchable = hidden && !trial && view->def.maxBatch > 1u && record->run >= ESPY_CULL_BATCH_RUN &&
                     !espyiTick_After(record->solo, walk->tick),
        .group = walk->system->nodes[node].object == ESPYI_QUERY_NONE,
        .hidden = hidden,
        .trial = trial,
    };
}

/// True where a question of which nothing is known is not on its way already.
static bool espyCull_MayAsk(const espyCullWalk* walk, const espyiQueryRecord* record)
{
    return walk->tick - record->asked > walk->latency || espyiTick_After(walk->view->valid, record->asked);
}

/// Draws all below a node that is in the frustum, for one reason.
static void espyCull_DrawBelow(espyCullWalk* walk, uint32_t top, espyQueryReason reason)
{
    const espyiQueryNode* nodes = walk->system->nodes;
    espyiQueryView* view = walk->view;
    uint32_t at = top;
    for (;;)
    {
        espyiQueryRecord* record = espyiQuery_Record(walk->system, view, at);
        bool excluded = view->candidates && record->marked != view->culls;
        bool below = false;
        if (!excluded)
        {
            bool outside = espyView_TestBox(&view->lens.view, espyiQueryLens_Extend(&view->lens, nodes[at].box)) ==
                           espyVisibility_Outside;
            record->visited = view->culls;
            record->reason = (uint8_t)(outside ? espyQueryReason_Outside : reason);
            below = !outside && nodes[at].child != ESPYI_QUERY_NONE;
            record->inside = outside ? record->inside : walk->tick;
            if (!outside && nodes[at].object != ESPYI_QUERY_NONE)
            {
                espyCull_Draw(walk, &nodes[at], record, reason);
            }
        }
        else
        {
            record->visited = view->culls;
            record->reason = espyQueryReason_Excluded;
        }
        if (below)
        {
            at = nodes[at].child;
            continue;
        }
        while (at != top && nodes[at].next == ESPYI_QUERY_NONE)
        {
            at = nodes[at].parent;
        }
        if (at == top)
        {
            return;
        }
        at = nodes[at].next;
    }
}

// --- visits

static espyCullVerdict espyCull_VisitLeaf(espyCullWalk* walk, uint32_t at, const espyBox* box)
{
    const espyiQueryNode* leaf = &walk->system->nodes[at];
    espyiQueryView* view = walk->view;
    espyiQueryRecord* record = &view->records[at];
    bool fresh = espyCull_IsFresh(walk, record) && !view->def.exact;
    bool counts = fresh && espyCull_Counts(leaf, record);
    bool entering = counts && espyCull_IsEntering(walk, record, box);
    bool hidden = counts && !entering;
    bool due = hidden || view->def.exact;
    espyQueryReason reason = entering ? espyQueryReason_Entering : espyCull_Doubt(walk, record);
    if (!due)
    {
        // Answers that settle it are asked for one after the other, others only when the last one should be there.
        bool early = reason == espyQueryReason_Visible && espyiTick_After(record->due, walk->tick);
        due = reason == espyQueryReason_Settling || view->def.visibleInterval == 1u ||
              (!early && espyCull_MayAsk(walk, record));
    }
    if (due)
    {
        espyiQueryScreen screen;
        float horizon = view->def.exact ? 0.0f : (float)walk->latency;
        espyBox grown =
            espyiQueryLens_GrowBox(&view->lens, &view->def, *box, espyiQuery_Speed(walk->system, leaf), horizon, 1.0f);
        espyiQueryLens_Project(&view->lens, &grown, &screen);
        bool small = !(screen.thickness >= view->def.smallest);
        if (screen.nearPlane || small)
        {
            reason = screen.nearPlane ? espyQueryReason_NearPlane : espyQueryReason_Small;
            hidden = false;
        }
        else
        {
            espyCull_Wish(walk, at, record, hidden, false);
        }
    }
    if (!hidden)
    {
        espyCull_Draw(walk, leaf, record, reason);
        return espyCullVerdict_Drawn;
    }
    record->reason = espyQueryReason_Hidden;
    walk->skippedCost += leaf->cost;
    ++view->stats.frame.skipped;
    uint32_t age = walk->tick - record->evidence;
    view->stats.oldestEvidence = age > view->stats.oldestEvidence ? age : view->stats.oldestEvidence;
    return espyCullVerdict_Hidden;
}

/// True where a group can be asked about: its grown box keeps clear of the near plane.
static bool espyCull_CanAskGroup(const espyCullWalk* walk, const espyiQueryNode* node, const espyBox* box)
{
    const espyiQueryView* view = walk->view;
    espyiQueryScreen screen;
    espyBox grown = espyiQueryLens_GrowBox(&view->lens, &view->def, *box, espyiQuery_Speed(walk->system, node),
                                           (float)(walk->latency + 1u), 1.0f);
    espyiQueryLens_Project(&view->lens, &grown, &screen);
    return !screen.nearPlane;
}

static espyCullVerdict espyCull_VisitNode(espyCullWalk* walk, uint32_t at, const espyBox* box, uint32_t insideBefore)
{
    const espyiQueryNode* node = &walk->system->nodes[at];
    espyiQueryView* view = walk->view;
    espyiQueryRecord* record = &view->records[at];
    bool fresh = espyCull_IsFresh(walk, record) && !view->def.exact;
    if (fresh && espyCull_Counts(node, record) && !espyiTick_After(record->split, walk->tick) &&
        node->objects <= view->def.maxGroup && !espyCull_IsEntering(walk, record, box) &&
        espyCull_CanAskGroup(walk, node, box))
    {
        espyCull_Wish(walk, at, record, true, false);
        record->reason = espyQueryReason_Hidden;
        walk->skippedCost += node->cost;
        view->stats.frame.skipped += node->objects;
        uint32_t age = walk->tick - record->evidence;
        view->stats.oldestEvidence = age > view->stats.oldestEvidence ? age : view->stats.oldestEvidence;
        return espyCullVerdict_Hidden;
    }
    // Nothing below was looked at since what is known began to count: many objects start as one.
    bool unknown = walk->tick - insideBefore > view->def.timeLimit || espyiTick_After(view->valid, insideBefore);
    bool few = node->objects <= walk->grain && node->objects <= view->def.maxGroup;
    if (!fresh && !view->def.exact && record->state != espyiQueryState_Visible && unknown && few && walk->grain > 1u)
    {
        record->whole = true;
    }
    if (record->whole && !fresh && record->state == espyiQueryState_Unknown && !view->def.exact &&
        espyCull_CanAskGroup(walk, node, box))
    {
        espyQueryReason reason = espyCull_Doubt(walk, record);
        if (espyCull_MayAsk(walk, record))
        {
            espyCull_Wish(walk, at, record, false, false);
        }
        espyCull_DrawBelow(walk, at, reason);
        return espyCullVerdict_Drawn;
    }
    record->passes = fresh;
    record->pullOk = true;
    record->pullAny = false;
    record->pullRun = UINT16_MAX;
    return espyCullVerdict_Down;
}

static espyCullVerdict espyCull_Enter(espyCullWalk* walk, uint32_t at)
{
    const espyiQueryNode* node = &walk->system->nodes[at];
    espyiQueryView* view = walk->view;
    espyiQueryRecord* record = espyiQuery_Record(walk->system, view, at);
    record->visited = view->culls;
    record->passes = false;
    if (node->objects == 0)
    {
        record->reason = espyQueryReason_Outside;
        return espyCullVerdict_Outside;
    }
    if (view->candidates && record->marked != view->culls)
    {
        record->reason = espyQueryReason_Excluded;
        return espyCullVerdict_Excluded;
    }
    espyBox box = espyiQueryLens_Extend(&view->lens, node->box);
    if (espyView_TestBox(&view->lens.view, box) == espyVisibility_Outside)
    {
        record->reason = espyQueryReason_Outside;
        return espyCullVerdict_Outside;
    }
    record->pathShown = record->shown;
    if (node->parent != ESPYI_QUERY_NONE)
    {
        const espyiQueryRecord* above = &view->records[node->parent];
        record->pathShown = espyiTick_Later(record->shown, above->pathShown);
        if (above->passes && espyiTick_After(above->evidence, record->evidence) &&
            !espyiTick_After(node->joined, above->evidence) && espyiTick_After(above->evidence, record->shown))
        {
            record->state = espyiQueryState_Hidden;
            record->evidence = above->evidence;
            record->run = above->run;
            record->whole = false;
        }
    }
    uint32_t insideBefore = record->inside;
    record->inside = walk->tick;
    record->reason = espyQueryReason_None;
    return node->object != ESPYI_QUERY_NONE ? espyCull_VisitLeaf(walk, at, &box)
                                            : espyCull_VisitNode(walk, at, &box, insideBefore);
}

/// Adds what became of a child to what its parent knows about all of them.
static void espyCull_Fold(espyiQueryRecord* parent, const espyiQueryRecord* child, espyCullVerdict verdict)
{
    if (verdict == espyCullVerdict_Hidden)
    {
        parent->pullAny = true;
        parent->pullRun = child->run < parent->pullRun ? child->run : parent->pullRun;
    }
    else if (verdict == espyCullVerdict_Drawn)
    {
        parent->pullOk = false;
    }
}

/// After the children of a node: may it stand for them from now on? It is asked about first, so that children whose
/// boxes are hidden while that of the node is not stay hidden.
static espyCullVerdict espyCull_Leave(espyCullWalk* walk, uint32_t at)
{
    const espyiQueryNode* node = &walk->system->nodes[at];
    espyiQueryRecord* record = &walk->view->records[at];
    if (!record->pullOk)
    {
        return espyCullVerdict_Drawn;
    }
    if (!record->pullAny)
    {
        return espyCullVerdict_Outside;
    }
    espyBox box = espyiQueryLens_Extend(&walk->view->lens, node->box);
    if (node->objects > 1u && node->objects <= walk->view->def.maxGroup && record->pullRun >= record->patience &&
        !espyiTick_After(record->split, walk->tick) && espyCull_MayAsk(walk, record) &&
        espyCull_CanAskGroup(walk, node, &box))
    {
        record->state = espyiQueryState_Unknown;
        record->run = record->pullRun;
        espyCull_Wish(walk, at, record, true, true);
    }
    return espyCullVerdict_Drawn;
}

static void espyCull_Walk(espyCullWalk* walk)
{
    const espyiQueryNode* nodes = walk->system->nodes;
    espyiQueryRecord* records = walk->view->records;
    uint32_t at = ESPYI_QUERY_ROOT;
    for (;;)
    {
        espyCullVerdict verdict = espyCull_Enter(walk, at);
        if (verdict == espyCullVerdict_Down)
        {
            at = nodes[at].child;
            continue;
        }
        while (at != ESPYI_QUERY_ROOT)
        {
            espyCull_Fold(&records[nodes[at].parent], &records[at], verdict);
            if (nodes[at].next != ESPYI_QUERY_NONE)
            {
                break;
            }
            at = nodes[at].parent;
            verdict = espyCull_Leave(walk, at);
        }
        if (at == ESPYI_QUERY_ROOT)
        {
            return;
        }
        at = nodes[at].next;
    }
}

// --- a cull

/// Marks the camera's candidates and what is above them, and when they became some.
static void espyCull_Mark(const espyQuerySystem* system, espyiQueryView* view, const espyQueryCamera* camera)
{
    bool before = view->candidates, all = camera->candidates == NULL;
    view->candidates = !all;
    for (uint32_t i = 0; (before || !all) && i < system->objectSlots; ++i)
    {
        const espyiQueryObject* object = &system->objects[i];
        if (!object->alive || (!all && i < camera->candidateCount && !espyiBits_Get(camera->candidates, i)))
        {
            continue;
        }
        espyiQueryRecord* leaf = espyiQuery_Record(system, view, object->node);
        bool fresh = before && leaf->marked + 1u != view->culls;
        for (uint32_t at = object->node; at != ESPYI_QUERY_NONE; at = system->nodes[at].parent)
        {
            espyiQueryRecord* record = espyiQuery_Record(system, view, at);
            if (record->marked == view->culls && (!fresh || record->entered == system->tick))
            {
                break;
            }
            record->marked = view->culls;
            record->entered = fresh ? system->tick : record->entered;
        }
    }
}

/// Objects without a box, or all of them where the camera is of no use.
static void espyCull_DrawPlain(espyCullWalk* walk, bool all)
{
    const espyQuerySystem* system = walk->system;
    for (uint32_t i = 0; i < system->objectSlots; ++i)
    {
        const espyiQueryObject* object = &system->objects[i];
        if (!object->alive || (!all && system->nodes[object->node].parent != ESPYI_QUERY_LOOSE))
        {
            continue;
        }
        espyiQueryRecord* record = espyiQuery_Record(system, walk->view, object->node);
        if (walk->view->candidates && record->marked != walk->view->culls)
        {
            record->visited = walk->view->culls;
            record->reason = espyQueryReason_Excluded;
            continue;
        }
        espyCull_Draw(walk, &system->nodes[object->node], record, espyQueryReason_New);
    }
}

/// Takes the camera: movement, cuts, and its place among the past ones. False where no view can be made of it.
static bool espyCull_TakeCamera(const espyQuerySystem* system, espyiQueryView* view, const espyQueryCamera* camera)
{
    espyiQueryLens lens;
    bool usable = espyiQueryLens_Make(&lens, camera);
    uint32_t ticks = system->tick - view->tick;
    float span = ticks > 0 ? (float)ticks : 1.0f;
    bool jumped = usable && view->culled && espyiQueryLens_IsCut(&view->lens, &lens, &view->def, span);
    bool cut = !view->culled || view->cutPending || camera->cut || !usable || jumped;
    if (!cut)
    {
        espyVec3 a = view->lens.view.eyes[0].eye, b = lens.view.eyes[0].eye;
        lens.step = (espyVec3){(b.x - a.x) / span, (b.y - a.y) / span, (b.z - a.z) / span};
        lens.stepLength = espyiVec3_Length(lens.step);
        lens.moving = lens.stepLength > ESPY_CULL_REST;
        for (uint32_t i = 0; i < 3; ++i)
        {
            // The row of the view matrix that looks along the axis of sight.
            float turned = lens.defs[0].view.m[4u * i + 2u] - view->lens.defs[0].view.m[4u * i + 2u];
            lens.turning = lens.turning || espyiQuery_Abs(turned) > ESPY_CULL_REST;
        }
    }
    bool same = !cut && !lens.moving && !lens.turning;
    for (uint32_t i = 0; i < 16u && same; ++i)
    {
        same = lens.viewProjection[0].m[i] == view->lens.viewProjection[0].m[i] &&
               lens.viewProjection[1].m[i] == view->lens.viewProjection[1].m[i];
    }
    view->camera += same ? 0u : 1u;
    view->valid = cut ? system->tick : view->valid;
    view->lens = lens;
    view->tick = system->tick;
    view->culled = usable;
    view->cutPending = !usable;
    espyiQueryPast_Make(&view->past[system->tick % ESPYI_QUERY_PAST], &view->lens, system->tick, view->camera);
    return usable;
}

/// Switches off for a while where asking has cost more than it saved, and on again to see whether it still does.
static void espyCull_Weigh(espyiQueryView* view, float saved)
{
    const espyQueryCosts* costs = &view->def.costs;
    view->spent += (float)view->questionCount * costs->query + (float)view->proxyCount * costs->proxy;
    view->saved += saved * costs->object;
    if (++view->windowCulls < ESPY_CULL_WINDOW)
    {
        return;
    }
    if (view->def.autoOff && !view->def.exact && view->spent > view->saved)
    {
        view->offLength = view->offLength == 0 ? ESPY_CULL_OFF : view->offLength * 2u;
        view->offLength = view->offLength < ESPY_CULL_MOST_OFF ? view->offLength : ESPY_CULL_MOST_OFF;
        view->offUntil = view->culls + view->offLength;
        view->cutPending = true;
    }
    else
    {
        view->offLength = 0;
    }
    view->windowCulls = 0;
    view->spent = view->saved = 0.0f;
}

/// A frozen view draws what it drew, as far as it is there, and what is new.
static void espyCull_Frozen(const espyQuerySystem* system, espyiQueryView* view)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < view->drawCount; ++i)
    {
        const espyiQueryObject* object = &system->objects[view->draws[i].index1 - 1];
        if (object->alive && object->generation == view->draws[i].generation &&
            !espyiTick_After(object->added, view->tick))
        {
            view->draws[kept++] = view->draws[i];
        }
    }
    for (uint32_t i = 0; i < system->objectSlots; ++i)
    {
        const espyiQueryObject* object = &system->objects[i];
        if (object->alive && espyiTick_After(object->added, view->tick))
        {
            view->draws[kept++] = (espyQueryObjectId){(int32_t)i + 1, object->generation};
        }
    }
    view->drawCount = kept;
    view->questionCount = view->proxyCount = 0;
    view->stats.frame.drawn = kept;
}

espyResult espyQuerySystem_Cull(espyQuerySystem* system, espyQueryViewId id, const espyQueryCamera* camera)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&system->hooks, camera != NULL && camera->cookie == ESPY_DEF_COOKIE && camera->width >= 1 &&
                                         camera->width <= ESPY_RASTER_MAX_SIZE && camera->height >= 1 &&
                                         camera->height <= ESPY_RASTER_MAX_SIZE))
    {
        return espyResult_InvalidArgument;
    }
    if (view->frozen)
    {
        espyCull_Frozen(system, view);
        return espyResult_Ok;
    }
    ++view->culls;
    view->drawCount = view->wishCount = 0;
    view->stats.oldestEvidence = 0;
    view->stats.frame.drawn = view->stats.frame.skipped = 0;
    bool usable = espyCull_TakeCamera(system, view, camera);
    bool off = !view->enabled || system->lost || view->lost || espyiTick_After(view->offUntil, view->culls);
    view->cutPending = view->cutPending || off;
    view->stats.off = off;
    espyCull_Mark(system, view, camera);
    espyCullWalk walk = {
        .system = system,
        .view = view,
        .now = &view->past[system->tick % ESPYI_QUERY_PAST],
        .tick = system->tick,
        .latency = espyiQuery_Latency(view),
        .grain = system->objectCount / view->budget,
    };
    espyCull_DrawPlain(&walk, !usable);
    if (usable && off)
    {
        espyCull_DrawBelow(&walk, ESPYI_QUERY_ROOT, espyQueryReason_Off);
    }
    else if (usable)
    {
        espyCull_Walk(&walk);
    }
    espyiQuery_Stage(system, view);
    if (!off)
    {
        espyCull_Weigh(view, walk.skippedCost);
    }
    view->stats.frame.drawn = view->drawCount;
    view->stats.frame.inFrustum = view->stats.frame.drawn + view->stats.frame.skipped;
    view->stats.total.drawn += view->stats.frame.drawn;
    view->stats.total.skipped += view->stats.frame.skipped;
    view->stats.total.inFrustum += view->stats.frame.inFrustum;
    view->stats.total.postponed += view->stats.frame.postponed;
    espyiQuery_WriteHistory(system, view);
    return espyResult_Ok;
}

const espyQueryObjectId* espyQuerySystem_GetDraws(const espyQuerySystem* system, espyQueryViewId id, uint32_t* count)
{
    const espyiQueryView* view = espyiQuery_FindView(system, id);
    *count = view ? view->drawCount : 0;
    return view ? view->draws : NULL;
}

// --- exact pictures

espyResult espyQuerySystem_Wait(espyQuerySystem* system, espyQueryViewId id, bool (*idle)(void* context), void* context)
{
    enum
    {
        mostPolls = 1000000
    };
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(&system->hooks, view->def.exact))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t polls = 0; view->oldest < view->serial && !view->lost;)
    {
        if (espyiQuery_Poll(system) == 0)
        {
            bool more = idle ? idle(context) : ++polls < mostPolls;
            if (!more)
            {
                break;
            }
        }
        // Only this frame's are waited for.
        const espyiQueryEntry* entry = &view->entries[view->oldest & view->entryMask];
        while (view->oldest < view->serial && (!entry->open || entry->tick != view->tick))
        {
            entry = &view->entries[++view->oldest & view->entryMask];
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < view->drawCount && !view->lost; ++i)
    {
        uint32_t node = system->objects[view->draws[i].index1 - 1].node;
        espyiQueryRecord* record = &view->records[node];
        // Answered in this frame, whatever was known before.
        bool asked = record->asked == view->tick;
        bool hidden = asked && record->evidence == view->tick && record->run > 0;
        bool seen = asked && record->shown == view->tick;
        record->reason = (uint8_t)(hidden ? espyQueryReason_Hidden : seen ? espyQueryReason_Visible : record->reason);
        if (!hidden)
        {
            view->draws[kept++] = view->draws[i];
        }
    }
    if (view->lost)
    {
        return espyResult_DeviceLost;
    }
    view->stats.frame.skipped += view->drawCount - kept;
    view->stats.total.skipped += view->drawCount - kept;
    view->stats.total.drawn -= view->drawCount - kept;
    view->stats.frame.drawn = view->drawCount = kept;
    return espyResult_Ok;
}
