// SPDX-License-Identifier: MIT
// Queries of game logic. No allocation, no library call.
#include <espy/gameplay.h>

#include "world/data.h"
#include "world/sight.h"

void espyWorld_EnableOcclusionCulling(espyWorld* world, bool enabled)
{
    if (world)
    {
        world->data->cullingEnabled = enabled;
    }
}

bool espyWorld_IsOcclusionCullingEnabled(const espyWorld* world)
{
    return world && world->data->cullingEnabled && world->settings.occlusionCulling;
}

bool espyWorld_IsSeenByCamera(const espyWorld* world, espyNodeId node, espyNodeId camera)
{
    espyiSight sight;
    if (!espyiWorld_FindNode(world, node) || !espyiSight_Begin(&sight, world, camera))
    {
        return false;
    }
    const espyiHome* home = &((const espyiSnapshot*)(const void*)sight.draws)->homes[node.index1 - 1];
    const espyiDrawGroup* group = sight.draws->groups[home->group];
    bool seen = false;
    for (uint32_t draw = home->first; draw != ESPYI_DRAWS_NONE && !seen && node.index1 != sight.camera.index1;
         draw = group->next[draw])
    {
        seen = espyiBits_Get(group->present, draw) && espyiSight_SeesDraw(&sight, group, draw);
    }
    espyiSight_End(&sight);
    return seen;
}

typedef struct espySeenList
{
    const espyWorld* world;
    const char* const* tags;
    uint32_t tagCount;
    espyNodeId* out;
    uint32_t capacity, count;
} espySeenList;

static void espySeenList_Add(void* context, espyNodeId node)
{
    espySeenList* list = (espySeenList*)context;
    bool wanted = list->tagCount == 0;
    for (uint32_t i = 0; i < list->tagCount && !wanted; ++i)
    {
        wanted = espyWorld_HasTag(list->world, node, list->tags[i]);
    }
    if (wanted)
    {
        if (list->count < list->capacity)
        {
            list->out[list->count] = node;
        }
        ++list->count;
    }
}

espyResult espyWorld_GetSeenByCamera(const espyWorld* world, const char* const* tags, uint32_t tagCount,
                                     espyNodeId camera, espyNodeId* outNodes, uint32_t capacity, uint32_t* count)
{
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, world != NULL && count != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *count = 0;
    bool sound =
        ESPYI_CHECK(hooks, outNodes != NULL || capacity == 0) && ESPYI_CHECK(hooks, tags != NULL || tagCount == 0);
    for (uint32_t i = 0; i < tagCount && sound; ++i)
    {
        sound = ESPYI_CHECK(hooks, tags[i] != NULL);
    }
    if (!sound)
    {
        return espyResult_InvalidArgument;
    }
    espyiSight sight;
    if (!espyiSight_Begin(&sight, world, camera))
    {
        return espyResult_InvalidId;
    }
    espySeenList list = {world, tags, tagCount, outNodes, capacity, 0};
    espyiSight_Visit(&sight, espySeenList_Add, &list);
    espyiSight_End(&sight);
    *count = list.count;
    return espyResult_Ok;
}

espyVisibility espyWorld_CouldSeeBox(const espyWorld* world, espyNodeId camera, espyBox box)
{
    espyiSight sight;
    if (!espyBox_IsValid(box) || !espyiSight_Begin(&sight, world, camera))
    {
        return espyVisibility_Unknown;
    }
    espyVisibility visibility = espyView_TestBox(&sight.view, box);
    if (visibility == espyVisibility_Visible && espyViewSet_HidesBox(sight.sets, sight.setCount, box))
    {
        visibility = espyVisibility_Occluded;
    }
    espyiSight_End(&sight);
    return visibility;
}

// --- lines

/// Share of the coordinates that taking an offset away may lose.
#define ESPY_LINE_ERROR 2.3841858e-07f

static float espyLine_Abs(float v)
{
    return v < 0.0f ? -v : v;
}

/// Cells of a file in which a point is: one, or all that it may be in where an offset costs the last bits. False where
/// it may be outside.
static bool espyLine_FindCells(const espyiDrawGroup* group, espyVec3 point, espyViewSet* out)
{
    *out = (espyViewSet){.pvs = group->pvs, .offset = group->offset};
    const float p[3] = {point.x, point.y, point.z};
    const float o[3] = {group->offset.x, group->offset.y, group->offset.z};
    float ends[3][2];
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        float moved = p[axis] - o[axis];
        float error = o[axis] != 0.0f ? (espyLine_Abs(p[axis]) + espyLine_Abs(o[axis])) * ESPY_LINE_ERROR : 0.0f;
        ends[axis][0] = moved - error;
        ends[axis][1] = moved + error;
    }
    for (uint32_t corner = 0; corner < 8; ++corner)
    {
        espyVec3 at = {ends[0][corner & 1u], ends[1][corner >> 1 & 1u], ends[2][corner >> 2]};
        int32_t cell = espyPvs_FindCell(group->pvs, at);
        bool known = false;
        for (uint32_t i = 0; i < out->cellCount; ++i)
        {
            known = known || out->cells[i] == cell;
        }
        if (cell == ESPY_PVS_OUTSIDE)
        {
            return false;
        }
        if (!known)
        {
            out->cells[out->cellCount++] = cell;
        }
    }
    return true;
}

/// True where the block around `to` is hidden from the cell of `from`.
static bool espyLine_IsBlocked(const espyiDrawGroup* group, espyVec3 from, espyVec3 to)
{
    espyViewSet set;
    return espyLine_FindCells(group, from, &set) && espyViewSet_HidesBox(&set, 1, (espyBox){to, to});
}

espyVisibility espyWorld_TestLine(const espyWorld* world, espyVec3 a, espyVec3 b)
{
    if (!espyWorld_IsOcclusionCullingEnabled(world))
    {
        return espyVisibility_Unknown;
    }
    uint32_t ticket;
    const espyiDraws* draws = espyiDraws_Acquire(world, &ticket);
    bool blocked = false;
    for (uint32_t g = 1; g < draws->groupCount && !blocked; ++g)
    {
        const espyiDrawGroup* group = draws->groups[g];
        // Sight is the same both ways, what was found out about it need not be.
        blocked = group->usable && (espyLine_IsBlocked(group, a, b) || espyLine_IsBlocked(group, b, a));
    }
    espyiDraws_Release(world, ticket);
    return blocked ? espyVisibility_Occluded : espyVisibility_Unknown;
}
