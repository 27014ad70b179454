// SPDX-License-Identifier: MIT
// Who came into a camera's view and who left it: two bitsets by node slot, compared at each poll.
#include <espy/gameplay.h>

#include "world/data.h"
#include "world/sight.h"

struct espyViewTracker
{
    espyHooks hooks;
    const espyWorld* world;
    espyNodeId camera;
    uint32_t maxNodes;
    const char** tags;
    uint32_t tagCount;
    uint32_t* now;         ///< Seen at this poll.
    uint32_t* before;      ///< Told of as entered.
    uint32_t* generations; ///< Of the nodes in `before`.
};

espyViewTrackerDef espyViewTrackerDef_Default(void)
{
    return (espyViewTrackerDef){.cookie = ESPY_DEF_COOKIE};
}

/// Tags behind the struct: pointers, then texts.
static size_t espyViewTracker_TagBytes(const espyViewTrackerDef* def)
{
    size_t bytes = def->tagCount * sizeof(char*);
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        bytes += espyiText_Length(def->tags[i]) + 1;
    }
    return bytes;
}

static void espyViewTracker_CopyTags(espyViewTracker* tracker, const espyViewTrackerDef* def)
{
    tracker->tags = (const char**)(void*)(tracker + 1);
    tracker->tagCount = def->tagCount;
    char* text = (char*)(tracker->tags + def->tagCount);
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        size_t size = espyiText_Length(def->tags[i]) + 1;
        espyiBytes_Copy(text, def->tags[i], size);
        tracker->tags[i] = text;
        text += size;
    }
}

espyResult espyViewTracker_Create(const espyWorld* world, const espyViewTrackerDef* def, espyViewTracker** out)
{
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, world != NULL && def != NULL && out != NULL) ||
        !ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(hooks, def->tags != NULL || def->tagCount == 0) ||
        !ESPYI_CHECK(hooks, def->maxNodes <= (uint32_t)INT32_MAX))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    for (uint32_t i = 0; i < def->tagCount; ++i)
    {
        if (!ESPYI_CHECK(hooks, def->tags[i] != NULL))
        {
            return espyResult_InvalidArgument;
        }
    }
    const espyiWorldNode* camera = espyiWorld_FindNode(world, def->camera);
    if (!ESPYI_CHECK(hooks, def->camera.index1 == 0 || (camera && camera->kind == espyNodeKind_Camera3D)))
    {
        return espyResult_InvalidId;
    }
    uint32_t maxNodes = def->maxNodes > 0 ? def->maxNodes : (uint32_t)world->slotCount;
    size_t words = (size_t)espyiBits_Words(maxNodes) + 1u;
    espyViewTracker* tracker =
        (espyViewTracker*)espyiAlloc(hooks, sizeof(espyViewTracker) + espyViewTracker_TagBytes(def), 1);
    if (!tracker)
    {
        return espyResult_OutOfMemory;
    }
    tracker->hooks = *hooks;
    tracker->world = world;
    tracker->camera = def->camera;
    tracker->maxNodes = maxNodes;
    espyViewTracker_CopyTags(tracker, def);
    tracker->now = (uint32_t*)espyiAlloc(hooks, words, sizeof(uint32_t));
    tracker->before = (uint32_t*)espyiAlloc(hooks, words, sizeof(uint32_t));
    tracker->generations = (uint32_t*)espyiAlloc(hooks, (size_t)maxNodes + 1u, sizeof(uint32_t));
    if (!tracker->now || !tracker->before || !tracker->generations)
    {
        espyViewTracker_Destroy(tracker);
        return espyResult_OutOfMemory;
    }
    *out = tracker;
    return espyResult_Ok;
}

void espyViewTracker_Destroy(espyViewTracker* tracker)
{
    if (tracker)
    {
        espyHooks hooks = tracker->hooks;
        espyiFree(&hooks, tracker->now);
        espyiFree(&hooks, tracker->before);
        espyiFree(&hooks, tracker->generations);
        espyiFree(&hooks, tracker);
    }
}

static void espyViewTracker_Mark(void* context, espyNodeId node)
{
    espyViewTracker* tracker = (espyViewTracker*)context;
    uint32_t index = (uint32_t)node.index1 - 1u;
    bool wanted = index < tracker->maxNodes && tracker->tagCount == 0;
    for (uint32_t i = 0; i < tracker->tagCount && index < tracker->maxNodes && !wanted; ++i)
    {
        wanted = espyWorld_HasTag(tracker->world, node, tracker->tags[i]);
    }
    if (wanted)
    {
        espyiBits_Set(tracker->now, index);
    }
}

/// Room for events of one poll.
typedef struct espyEventList
{
    espyViewEvent* events;
    uint32_t capacity, count;
} espyEventList;

/// Tells of what changed at one slot, as far as there is room.
static void espyViewTracker_Tell(espyViewTracker* tracker, uint32_t index, espyEventList* list)
{
    bool now = espyiBits_Get(tracker->now, index);
    uint32_t generation = tracker->world->nodes[index].generation;
    bool other = tracker->generations[index] != generation;
    if (espyiBits_Get(tracker->before, index) && (!now || other))
    {
        if (list->count == list->capacity)
        {
            return;
        }
        list->events[list->count++] =
            (espyViewEvent){.node = {(int32_t)index + 1, tracker->generations[index]}, .entered = false};
        espyiBits_Clear(tracker->before, index);
    }
    if (now && !espyiBits_Get(tracker->before, index) && list->count < list->capacity)
    {
        list->events[list->count++] = (espyViewEvent){.node = {(int32_t)index + 1, generation}, .entered = true};
        espyiBits_Set(tracker->before, index);
        tracker->generations[index] = generation;
    }
}

espyResult espyViewTracker_Poll(espyViewTracker* tracker, espyViewEvent* events, uint32_t capacity, uint32_t* count)
{
    const espyHooks* hooks = tracker ? &tracker->hooks : NULL;
    if (!ESPYI_CHECK(hooks, tracker != NULL && count != NULL && (events != NULL || capacity == 0)))
    {
        return espyResult_InvalidArgument;
    }
    const espyWorld* world = tracker->world;
    uint32_t words = espyiBits_Words(tracker->maxNodes);
    for (uint32_t i = 0; i < words; ++i)
    {
        tracker->now[i] = 0;
    }
    espyiSight sight;
    if (espyiSight_Begin(&sight, world, tracker->camera))
    {
        espyiSight_Visit(&sight, espyViewTracker_Mark, tracker);
        espyiSight_End(&sight);
    }
    espyEventList list = {events, capacity, 0};
    for (uint32_t w = 0; w < words; ++w)
    {
        // What stayed is looked at too: another node may have taken its slot.
        for (uint32_t left = tracker->now[w] | tracker->before[w]; left != 0; left &= left - 1u)
        {
            espyViewTracker_Tell(tracker, w * 32u + espyiPopCount32((left & (0u - left)) - 1u), &list);
        }
    }
    *count = list.count;
    return world->slotCount > tracker->maxNodes ? espyResult_LimitExceeded : espyResult_Ok;
}
