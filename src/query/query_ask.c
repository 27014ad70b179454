// SPDX-License-Identifier: MIT
// Questions: which are asked in a frame, what they are about, and what their answers change.
//
// A question is an entry in a ring of its view, found by the serial number in its tag. An answer counts only while its
// entry is open and of the frame that it names, and only for members whose stamps are still those of their nodes: what
// comes late, twice, for a former owner or from another frame changes nothing.
//
// Based on: CHC++ (query.h), sections 5.1 (multiqueries: the greedy choice by benefit over cost) and 5.3 (tight
// bounds).
#include "query/query_internal.h"

/// Boxes of a node that is asked about, and the depth to which they are looked for.
#define ESPY_ASK_BOXES 8u
#define ESPY_ASK_DEPTH 3u
/// Boxes below a node take its place while their area is at most this much larger.
#define ESPY_ASK_AREA 1.4f
/// Ticks for which a group that met something further ahead stays apart.
#define ESPY_ASK_APART 24u
#define ESPY_ASK_MOST_PATIENCE 64u
/// Rounds of answers in one poll: a bound for devices that never end.
#define ESPY_ASK_ROUNDS 32768u
#define ESPY_ASK_ROUND 64u
/// Probability that a node changes from hidden to visible, by the answers "hidden" in a row: 0.01 + 0.7 e^-n, as
/// measured in CHC++.
static const float espyAskFails[16] = {0.71f,     0.267516f, 0.104735f, 0.044851f, 0.022821f, 0.014717f,
                                       0.011735f, 0.010638f, 0.010235f, 0.010086f, 0.010032f, 0.010012f,
                                       0.010004f, 0.010002f, 0.010001f, 0.01f};

uint32_t espyiQuery_Latency(const espyiQueryView* view)
{
    // Before there are answers: two frames, what drivers do.
    uint32_t latency = view->latencyCount == 0 ? 2u : 1u;
    for (uint32_t i = 0; i < ESPYI_QUERY_LATENCY_FRAMES && i < view->latencyCount; ++i)
    {
        latency = view->latencies[i] > latency ? view->latencies[i] : latency;
    }
    return latency;
}

// --- staging

static float espyAsk_Area(const espyBox* box)
{
    float x = box->max.x - box->min.x, y = box->max.y - box->min.y, z = box->max.z - box->min.z;
    return x * y + y * z + z * x;
}

/// True where the node has candidates in this cull.
static bool espyAsk_IsMarked(const espyiQueryView* view, uint32_t node)
{
    return !view->candidates || view->records[node].marked == view->culls;
}

/// The boxes that stand for a node: its own, or those below where they are tighter. Nodes without candidates are left
/// out. Returns how many.
static uint32_t espyAsk_Gather(const espyQuerySystem* system, const espyiQueryView* view, uint32_t node,
                               uint32_t out[ESPY_ASK_BOXES])
{
    const espyiQueryNode* nodes = system->nodes;
    uint32_t count = 1, depths[ESPY_ASK_BOXES] = {0};
    out[0] = node;
    float budget = espyAsk_Area(&nodes[node].box) * ESPY_ASK_AREA, area = espyAsk_Area(&nodes[node].box);
    for (uint32_t i = 0; i < count;)
    {
        uint32_t at = out[i], marked = 0;
        float below = 0.0f;
        for (uint32_t c = nodes[at].child; c != ESPYI_QUERY_NONE; c = nodes[c].next)
        {
            bool wanted = nodes[c].objects > 0 && espyAsk_IsMarked(view, c);
            marked += wanted ? 1u : 0u;
            below += wanted ? espyAsk_Area(&nodes[c].box) : 0.0f;
        }
        float after = area - espyAsk_Area(&nodes[at].box) + below;
        if (marked == 0 || depths[i] >= ESPY_ASK_DEPTH || count - 1u + marked > ESPY_ASK_BOXES || after > budget)
        {
            ++i;
            continue;
        }
        area = after;
        uint32_t depth = depths[i] + 1u;
        --count;
        out[i] = out[count];
        depths[i] = depths[count];
        for (uint32_t c = nodes[at].child; c != ESPYI_QUERY_NONE; c = nodes[c].next)
        {
            if (nodes[c].objects > 0 && espyAsk_IsMarked(view, c))
            {
                out[count] = c;
                depths[count++] = depth;
            }
        }
    }
    return count;
}

/// The box from -1 to 1 under a transform is this box.
static espyMat4 espyAsk_BoxTransform(const espyBox* box)
{
    espyMat4 m = {{0}};
    m.m[0] = 0.5f * (box->max.x - box->min.x);
    m.m[5] = 0.5f * (box->max.y - box->min.y);
    m.m[10] = 0.5f * (box->max.z - box->min.z);
    m.m[12] = 0.5f * (box->max.x + box->min.x);
    m.m[13] = 0.5f * (box->max.y + box->min.y);
    m.m[14] = 0.5f * (box->max.z + box->min.z);
    m.m[15] = 1.0f;
    return m;
}

/// A proxy of the caller's, stretched about its box as far as the box has grown.
static espyMat4 espyAsk_ProxyTransform(const espyMat4* toWorld, const espyBox* box, const espyBox* grown)
{
    espyMat4 m = *toWorld;
    const float from[6] = {box->min.x, box->min.y, box->min.z, box->max.x, box->max.y, box->max.z};
    const float to[6] = {grown->min.x, grown->min.y, grown->min.z, grown->max.x, grown->max.y, grown->max.z};
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        float size = from[3u + axis] - from[axis];
        float scale = size > 0.0f ? (to[3u + axis] - to[axis]) / size : 1.0f;
        float centre = 0.5f * (from[axis] + from[3u + axis]), moved = 0.5f * (to[axis] + to[3u + axis]);
        for (uint32_t column = 0; column < 4; ++column)
        {
            float value = m.m[4u * column + axis];
            m.m[4u * column + axis] = column < 3 ? value * scale : (value - centre) * scale + moved;
        }
    }
    return m;
}

/// Adds the proxies of one node, for `horizon` ticks. Returns the pixels that they cover at least, 0 where that is not
/// wanted. There is room for ESPY_ASK_BOXES.
static float espyAsk_AddProxies(const espyQuerySystem* system, espyiQueryView* view, uint32_t node, float horizon,
                                float times)
{
    const espyiQueryLens* lens = &view->lens;
    uint32_t found[ESPY_ASK_BOXES];
    uint32_t count = espyAsk_Gather(system, view, node, found);
    float area = 0.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyiQueryNode* part = &system->nodes[found[i]];
        espyBox box = espyiQueryLens_Extend(lens, part->box);
        espyBox grown = espyiQueryLens_GrowBox(lens, &view->def, box, espyiQuery_Speed(system, part), horizon, times);
        // A part of a group that is thinner than a pixel would pass between samples.
        float distance = lens->orthographic ? 1.0f : espyiQueryLens_Distance(lens, &box);
        float size = lens->pixel * distance;
        float least = espyiQuery_Min(grown.max.x - grown.min.x,
                                     espyiQuery_Min(grown.max.y - grown.min.y, grown.max.z - grown.min.z));
        if (found[i] != node && least < 2.0f * size)
        {
            grown = espyBox_Grow(grown, size);
        }
        const espyiQueryObject* object =
            part->object != ESPYI_QUERY_NONE && !lens->hasShadow ? &system->objects[part->object] : NULL;
        espyDeviceDraw* proxy = &view->proxies[view->proxyCount++];
        *proxy = object && object->hasProxy
                     ? (espyDeviceDraw){.toWorld = espyAsk_ProxyTransform(&object->toWorld, &box, &grown),
                                        .mesh = object->mesh}
                     : (espyDeviceDraw){.toWorld = espyAsk_BoxTransform(&grown)};
        if (view->def.threshold > 0.0f)
        {
            espyiQueryScreen screen;
            espyiQueryLens_Project(lens, &grown, &screen);
            area = i == 0 || screen.area < area ? screen.area : area;
        }
    }
    return area;
}

/// Where members of the next question go: counted on behind those of the entries.
static uint32_t espyAsk_NextMember(const espyiQueryView* view)
{
    return view->nextMember + view->stagedMembers;
}

/// Stages one question about some wishes, which all go into it. Room was checked.
static void espyAsk_AddQuestion(const espyQuerySystem* system, espyiQueryView* view, const uint32_t* wishes,
                                uint32_t count, bool group)
{
    uint32_t latency = espyiQuery_Latency(view);
    bool trial = view->wishes[wishes[0]].trial;
    bool early = trial || (group && view->lens.moving && (view->tick & 1u) != 0);
    float horizon = (float)(group ? latency + 1u : latency);
    // Ahead far enough for its parts to be asked about when this one is answered, and for the parts of those after
    // that.
    float times = !early ? 1.0f : count > 1u ? 3.0f : 2.0f;
    if (view->def.exact)
    {
        horizon = 0.0f;
    }
    uint32_t question = view->questionCount++;
    uint64_t serial = view->serial + question;
    espyiQueryEntry* entry = &view->entries[serial & view->entryMask];
    if (entry->open)
    {
        // The ring is full of questions without answers: the oldest gives way.
        ++view->stats.frame.lost;
        ++view->stats.total.lost;
    }
    uint32_t firstProxy = view->proxyCount, firstMember = espyAsk_NextMember(view);
    float least = 0.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t node = view->wishes[wishes[i]].node;
        float area = espyAsk_AddProxies(system, view, node, horizon, times);
        least = i == 0 || area < least ? area : least;
        view->members[(firstMember + i) & view->memberMask] = (espyiQueryMember){node, system->nodes[node].stamp};
    }
    view->stagedMembers += count;
    float samples = (float)system->device.caps.samplesPerPixel;
    uint64_t limit = view->def.threshold > 0.0f ? (uint64_t)(view->def.threshold * least * samples) : 0u;
    *entry = (espyiQueryEntry){.serial = serial,
                               .limit = limit,
                               .tick = view->tick,
                               .firstMember = firstMember,
                               .memberCount = (uint16_t)count,
                               .early = early};
    bool counts = view->def.threshold > 0.0f || !system->device.caps.anyQueries;
    view->questions[question] = (espyDeviceQuery){
        .tag = (serial << 8) | (uint64_t)(view - system->views),
        .kind = counts && system->device.caps.countQueries ? espyQueryKind_Count : espyQueryKind_Any,
        .firstProxy = firstProxy,
        .proxyCount = view->proxyCount - firstProxy,
    };
}

/// Sorts the wishes by how long they have waited, longest first, else as they came.
static void espyAsk_Sort(espyiQueryView* view)
{
    uint32_t starts[ESPYI_QUERY_WAITS + 1u] = {0};
    for (uint32_t i = 0; i < view->wishCount; ++i)
    {
        ++starts[ESPYI_QUERY_WAITS - view->wishes[i].wait];
    }
    uint32_t sum = 0;
    for (uint32_t b = 0; b <= ESPYI_QUERY_WAITS; ++b)
    {
        uint32_t count = starts[b];
        starts[b] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < view->wishCount; ++i)
    {
        view->order[starts[ESPYI_QUERY_WAITS - view->wishes[i].wait]++] = i;
    }
}

typedef struct espyAskBatch
{
    uint32_t wishes[ESPYI_QUERY_MAX_BATCH];
    uint32_t count;
    float keeps;   ///< Probability that all of it stays hidden.
    float benefit; ///< Nodes for each question that is to be expected.
} espyAskBatch;

/// Adds a wish where that pays: nodes over questions, of which there is one, and one a node where it fails.
static bool espyAskBatch_Add(espyAskBatch* batch, const espyiQueryView* view, uint32_t wish)
{
    const espyiQueryRecord* record = &view->records[view->wishes[wish].node];
    float keeps = batch->keeps * (1.0f - espyAskFails[record->run < 15u ? record->run : 15u]);
    float count = (float)(batch->count + 1u);
    float benefit = count / (1.0f + (1.0f - keeps) * count);
    if (batch->count > 0 && (batch->count >= view->def.maxBatch || benefit <= batch->benefit))
    {
        return false;
    }
    batch->wishes[batch->count++] = wish;
    batch->keeps = keeps;
    batch->benefit = benefit;
    return true;
}

static void espyAskBatch_Close(const espyQuerySystem* system, espyiQueryView* view, espyAskBatch* batch)
{
    if (batch->count > 0)
    {
        bool group = batch->count > 1u || view->wishes[batch->wishes[0]].group;
        espyAsk_AddQuestion(system, view, batch->wishes, batch->count, group);
    }
    *batch = (espyAskBatch){.keeps = 1.0f};
}

void espyiQuery_Stage(const espyQuerySystem* system, espyiQueryView* view)
{
    view->questionCount = view->proxyCount = view->stagedMembers = 0;
    espyAsk_Sort(view);
    espyAskBatch batch = {.keeps = 1.0f};
    uint32_t taken = 0;
    for (; taken < view->wishCount; ++taken)
    {
        const espyiQueryWish* wish = &view->wishes[view->order[taken]];
        // A batch that is open will become one more question, of at most as many boxes as it has room for.
        uint32_t open = batch.count > 0 ? 1u : 0u;
        uint32_t boxes = view->proxyCount + (batch.count + 1u) * ESPY_ASK_BOXES;
        if (view->questionCount + open + 1u > view->budget || boxes > view->proxyRoom)
        {
            bool joins = wish->batchable && open > 0 && boxes <= view->proxyRoom &&
                         espyAskBatch_Add(&batch, view, view->order[taken]);
            if (!joins)
            {
                break;
            }
            continue;
        }
        if (!wish->batchable)
        {
            espyAsk_AddQuestion(system, view, &view->order[taken], 1, wish->group && wish->hidden);
        }
        else if (!espyAskBatch_Add(&batch, view, view->order[taken]))
        {
            espyAskBatch_Close(system, view, &batch);
            espyAskBatch_Add(&batch, view, view->order[taken]);
        }
    }
    espyAskBatch_Close(system, view, &batch);
    view->stats.frame.postponed = view->wishCount - taken;
}

// --- asking

/// The staged questions up to `count` are on their way.
static void espyAsk_Commit(const espyQuerySystem* system, espyiQueryView* view, uint32_t count)
{
    uint32_t members = 0;
    for (uint32_t q = 0; q < count; ++q)
    {
        espyiQueryEntry* entry = &view->entries[(view->serial + q) & view->entryMask];
        entry->open = true;
        entry->frame = system->frame;
        members += entry->memberCount;
        for (uint32_t i = 0; i < entry->memberCount; ++i)
        {
            uint32_t node = view->members[(entry->firstMember + i) & view->memberMask].node;
            view->records[node].asked = view->tick;
        }
        view->stats.frame.proxies += view->questions[q].proxyCount;
    }
    view->serial += count;
    view->nextMember += members;
    view->stats.frame.queries += count;
    view->stats.total.queries += count;
    view->stats.total.proxies += view->stats.frame.proxies;
}

espyResult espyQuerySystem_Submit(espyQuerySystem* system, espyQueryViewId id)
{
    espyiQueryView* view = espyiQuery_FindView(system, id);
    if (!view)
    {
        return espyResult_InvalidId;
    }
    uint32_t count = view->tick == system->tick ? view->questionCount : 0u;
    espyResult result = espyResult_Ok;
    while (count > 0)
    {
        uint32_t last = count - 1u;
        uint32_t proxies = view->questions[last].firstProxy + view->questions[last].proxyCount;
        result = system->device.query(system->device.context, view->questions, count, view->proxies, proxies);
        if (result != espyResult_LimitExceeded)
        {
            break;
        }
        // Other views were here first: as many as go, those who waited longest.
        count /= 2u;
    }
    if (result == espyResult_Ok && count > 0)
    {
        espyAsk_Commit(system, view, count);
        result = count < view->questionCount ? espyResult_LimitExceeded : espyResult_Ok;
    }
    view->stats.frame.postponed += view->questionCount - (result == espyResult_Ok ? view->questionCount : count);
    view->lost = view->lost || result == espyResult_DeviceLost;
    view->questionCount = view->proxyCount = view->stagedMembers = 0;
    return result;
}

// --- answers

/// Nodes above that stand for a node that was seen step aside; what they knew goes on for the others below them.
static void espyAnswer_SplitAbove(const espyQuerySystem* system, espyiQueryView* view, uint32_t node)
{
    for (uint32_t at = system->nodes[node].parent; at != ESPYI_QUERY_NONE; at = system->nodes[at].parent)
    {
        espyiQueryRecord* record = espyiQuery_Record(system, view, at);
        if (record->state == espyiQueryState_Hidden)
        {
            record->split = espyiTick_Later(record->split, system->tick + ESPY_ASK_APART);
        }
    }
}

static void espyAnswer_Impatient(espyiQueryRecord* record)
{
    uint32_t patience = (uint32_t)record->patience * 2u + 2u;
    record->patience = (uint8_t)(patience < ESPY_ASK_MOST_PATIENCE ? patience : ESPY_ASK_MOST_PATIENCE);
}

/// The group met something further ahead: its parts are asked about from now on, and stay hidden meanwhile.
static void espyAnswer_TakeApart(const espyQuerySystem* system, espyiQueryRecord* record, bool batch)
{
    uint32_t until = system->tick + ESPY_ASK_APART;
    if (batch)
    {
        record->solo = espyiTick_Later(record->solo, until);
        return;
    }
    record->split = espyiTick_Later(record->split, until);
    record->run = 0;
    espyAnswer_Impatient(record);
}

static void espyAnswer_Seen(const espyQuerySystem* system, espyiQueryView* view, uint32_t node,
                            espyiQueryRecord* record, uint32_t asked, bool batch)
{
    if (!espyiTick_After(asked, record->evidence) || !espyiTick_After(asked, record->shown))
    {
        return;
    }
    uint32_t interval = view->def.visibleInterval;
    bool first = record->state != espyiQueryState_Visible;
    record->shown = asked;
    record->run = 0;
    if (batch)
    {
        // One of them was: each is drawn, and asked about alone.
        record->state = espyiQueryState_Unknown;
        record->whole = system->nodes[node].object == ESPYI_QUERY_NONE;
        record->solo = espyiTick_Later(record->solo, system->tick + ESPY_ASK_APART);
    }
    else
    {
        record->state = espyiQueryState_Visible;
        record->whole = false;
        record->due = system->tick + (first ? 1u + espyiRng_Below(&view->rng, interval) : interval);
        espyAnswer_Impatient(record);
    }
    espyAnswer_SplitAbove(system, view, node);
}

static void espyAnswer_Hidden(const espyiQueryView* view, espyiQueryRecord* record, uint32_t asked)
{
    if (!espyiTick_After(asked, record->evidence) || !espyiTick_After(asked, record->shown))
    {
        return;
    }
    record->evidence = asked;
    record->run = (uint16_t)(record->run < UINT16_MAX ? record->run + 1u : UINT16_MAX);
    record->whole = false;
    if (record->state != espyiQueryState_Visible || record->run >= view->def.hiddenAfter)
    {
        record->state = espyiQueryState_Hidden;
    }
    // Calm again: trust comes back as it went.
    if (record->run % 64u == 0 && record->patience > 0)
    {
        record->patience /= 2u;
    }
}

static void espyAnswer_Measure(espyiQueryView* view, uint32_t tick, uint32_t age)
{
    if (view->latencyCount == 0 || view->latencyTick != tick)
    {
        view->latencyTick = tick;
        view->latencies[view->latencyCount % ESPYI_QUERY_LATENCY_FRAMES] = 0;
        // Wraps at a multiple of the window, far from 0.
        view->latencyCount += view->latencyCount < UINT32_MAX - ESPYI_QUERY_LATENCY_FRAMES ? 1u : 0u;
    }
    uint8_t* slot = &view->latencies[(view->latencyCount - 1u) % ESPYI_QUERY_LATENCY_FRAMES];
    *slot = age > *slot ? (uint8_t)age : *slot;
}

static void espyAnswer_Take(espyQuerySystem* system, const espyDeviceAnswer* answer)
{
    uint32_t index = (uint32_t)(answer->tag & 0xFFu);
    uint64_t serial = answer->tag >> 8;
    espyiQueryView* view = index < ESPY_QUERY_MAX_VIEWS ? &system->views[index] : NULL;
    if (!view || !view->alive)
    {
        return;
    }
    espyiQueryEntry* entry = &view->entries[serial & view->entryMask];
    uint32_t age = system->tick - entry->tick;
    bool membersThere = view->nextMember - entry->firstMember <= view->memberMask + 1u;
    if (!entry->open || entry->serial != serial || entry->frame != answer->frame || !membersThere ||
        age > view->def.timeLimit || espyiTick_After(view->valid, entry->tick))
    {
        ++view->stats.frame.stale;
        ++view->stats.total.stale;
        return;
    }
    entry->open = false;
    espyAnswer_Measure(view, system->tick, age);
    view->stats.frame.ageSum += age;
    view->stats.total.ageSum += age;
    ++view->stats.frame.answers;
    ++view->stats.total.answers;
    bool hidden = answer->value <= entry->limit;
    for (uint32_t i = 0; i < entry->memberCount; ++i)
    {
        espyiQueryMember member = view->members[(entry->firstMember + i) & view->memberMask];
        if (system->nodes[member.node].stamp != member.stamp)
        {
            continue;
        }
        espyiQueryRecord* record = espyiQuery_Record(system, view, member.node);
        if (hidden)
        {
            espyAnswer_Hidden(view, record, entry->tick);
        }
        else if (entry->early)
        {
            espyAnswer_TakeApart(system, record, entry->memberCount > 1u);
        }
        else
        {
            espyAnswer_Seen(system, view, member.node, record, entry->tick, entry->memberCount > 1u);
        }
    }
}

uint32_t espyiQuery_Poll(espyQuerySystem* system)
{
    espyDeviceAnswer answers[ESPY_ASK_ROUND];
    uint32_t all = 0;
    for (uint32_t round = 0; round < ESPY_ASK_ROUNDS; ++round)
    {
        uint32_t count = system->device.poll(system->device.context, answers, ESPY_ASK_ROUND);
        count = count < ESPY_ASK_ROUND ? count : ESPY_ASK_ROUND;
        for (uint32_t i = 0; i < count; ++i)
        {
            espyAnswer_Take(system, &answers[i]);
        }
        all += count;
        if (count < ESPY_ASK_ROUND)
        {
            break;
        }
    }
    return all;
}

void espyiQuery_Expire(const espyQuerySystem* system, espyiQueryView* view)
{
    uint64_t room = (uint64_t)view->entryMask + 1u;
    for (; view->oldest < view->serial; ++view->oldest)
    {
        espyiQueryEntry* entry = &view->entries[view->oldest & view->entryMask];
        if (view->serial - view->oldest > room || !entry->open)
        {
            continue;
        }
        if (system->tick - entry->tick <= view->def.timeLimit)
        {
            break;
        }
        entry->open = false;
        ++view->stats.frame.lost;
        ++view->stats.total.lost;
    }
}

void espyiQuery_Forget(espyiQueryView* view)
{
    for (; view->oldest < view->serial; ++view->oldest)
    {
        view->entries[view->oldest & view->entryMask].open = false;
    }
}
