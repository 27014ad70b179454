// SPDX-License-Identifier: MIT
// A camera's look at the draws of a world, in steps small enough for the stack. No allocation, no library call.
#include "world/sight.h"

#include "world/data.h"

/// Draws of one step: a list of 4 KB.
#define ESPY_SIGHT_STEP_WORDS 32u
#define ESPY_SIGHT_STEP (ESPY_SIGHT_STEP_WORDS * 32u)

bool espyiSight_Begin(espyiSight* sight, const espyWorld* world, espyNodeId camera)
{
    espyNodeId id = camera.index1 != 0 || !world ? camera : world->activeCamera;
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!node || node->kind != espyNodeKind_Camera3D)
    {
        return false;
    }
    espyViewDef def = espyViewDef_FromCamera(&node->camera, node->world, false);
    sight->world = world;
    sight->camera = id;
    sight->setCount = 0;
    espyView_Make(&sight->view, &def, NULL);
    sight->draws = espyiDraws_Acquire(world, &sight->ticket);
    sight->occlusion = espyWorld_IsOcclusionCullingEnabled(world);
    for (uint32_t g = 1; sight->occlusion && g < sight->draws->groupCount; ++g)
    {
        const espyiDrawGroup* group = sight->draws->groups[g];
        if (group->usable && sight->setCount < ESPYI_SIGHT_MAX_FILES)
        {
            espyViewSet* set = &sight->sets[sight->setCount];
            // The cells are enough: their sets are joined where they are looked at.
            espyViewSet_Make(set, &sight->view, group->pvs, group->offset, NULL);
            sight->setCount += set->cellCount > 0 ? 1u : 0u;
        }
    }
    return true;
}

void espyiSight_End(espyiSight* sight)
{
    espyiDraws_Release(sight->world, sight->ticket);
}

/// What the camera looks from in the file of a group; null: it sees all of it.
static const espyViewSet* espySight_SetOf(const espyiSight* sight, const espyiDrawGroup* group)
{
    for (uint32_t i = 0; i < sight->setCount; ++i)
    {
        if (sight->sets[i].pvs == group->pvs)
        {
            return &sight->sets[i];
        }
    }
    return NULL;
}

bool espyiSight_SeesDraw(const espyiSight* sight, const espyiDrawGroup* group, uint32_t draw)
{
    espyBox box = espyiDrawGroup_GetBox(group, draw);
    if (espyView_TestBox(&sight->view, box) == espyVisibility_Outside)
    {
        return false;
    }
    if (!sight->occlusion)
    {
        return true;
    }
    if (espyiBits_Get(group->moved, draw))
    {
        return !espyViewSet_HidesBox(sight->sets, sight->setCount, box);
    }
    const espyViewSet* set = espySight_SetOf(sight, group);
    return !set || espyView_TestSlot(set->pvs, set->cells, set->cellCount, draw) != espyVisibility_Occluded;
}

/// Words of the draws of a step that are alone and that bits do not hide.
static void espySight_Candidates(const espyiSight* sight, const espyiDrawGroup* group, uint32_t firstWord,
                                 uint32_t wordCount, uint32_t* out)
{
    const espyViewSet* set = sight->occlusion && group->pvs ? espySight_SetOf(sight, group) : NULL;
    uint32_t kept[ESPY_SIGHT_STEP_WORDS];
    uint32_t seen[ESPY_SIGHT_STEP_WORDS];
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        seen[i] = set ? group->moved[firstWord + i] : ~0u;
    }
    for (uint32_t c = 0; set && c < set->cellCount; ++c)
    {
        espyPvs_CullRange(set->pvs, espyPvs_GetStaticSet(set->pvs, set->cells[c]), firstWord * 32u, wordCount * 32u,
                          kept);
        for (uint32_t i = 0; i < wordCount; ++i)
        {
            seen[i] |= kept[i];
        }
    }
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        out[i] = seen[i] & group->present[firstWord + i] & ~group->several[firstWord + i];
    }
}

/// True where a file has no plain sets for some of the cells (packed tables): bits are then asked for one by one.
static bool espySight_IsPacked(const espyViewSet* set)
{
    bool packed = false;
    for (uint32_t i = 0; i < set->cellCount; ++i)
    {
        packed = packed || espyPvs_GetStaticSet(set->pvs, set->cells[i]) == NULL;
    }
    return packed;
}

/// True where the camera cannot see a draw that is in its frustum. `packed` is the set of the draw's file where bits
/// were not looked at before.
static bool espySight_Hides(const espyiSight* sight, const espyiDrawGroup* group, uint32_t draw,
                            const espyViewSet* packed)
{
    if (espyiBits_Get(group->moved, draw))
    {
        return sight->setCount > 0 &&
               espyViewSet_HidesBox(sight->sets, sight->setCount, espyiDrawGroup_GetBox(group, draw));
    }
    return packed && espyView_TestSlot(packed->pvs, packed->cells, packed->cellCount, draw) == espyVisibility_Occluded;
}

static void espySight_VisitStep(const espyiSight* sight, const espyiDrawGroup* group, uint32_t firstWord,
                                uint32_t wordCount, void (*seen)(void* context, espyNodeId node), void* context)
{
    uint32_t words[ESPY_SIGHT_STEP_WORDS];
    uint32_t list[ESPY_SIGHT_STEP];
    uint32_t first = firstWord * 32u;
    espySight_Candidates(sight, group, firstWord, wordCount, words);
    espyCullDraws draws = {
        .boxes = {group->minX + first, group->minY + first, group->minZ + first, group->maxX + first,
                  group->maxY + first, group->maxZ + first, 1},
        .count = wordCount * 32u,
        .firstIndex = first,
        .drawable = words,
    };
    // Bits are done; moving boxes come after the frustum, since each costs more than it does.
    espyCullInput input = {.view = &sight->view, .draws = &draws, .frustum = true};
    espyCullOutput output = {.drawList = list};
    espyCull_Run(&input, &output);
    const espyViewSet* set = sight->occlusion && group->pvs ? espySight_SetOf(sight, group) : NULL;
    const espyViewSet* packed = set && espySight_IsPacked(set) ? set : NULL;
    for (uint32_t i = 0; i < output.drawCount; ++i)
    {
        uint32_t draw = list[i];
        espyNodeId node = group->nodes[draw];
        if (node.index1 != sight->camera.index1 && !espySight_Hides(sight, group, draw, packed))
        {
            seen(context, node);
        }
    }
}

/// A node of several draws is looked at where its first one is.
static void espySight_VisitSeveral(const espyiSight* sight, const espyiDrawGroup* group, const espyiHome* homes,
                                   uint32_t word, void (*seen)(void* context, espyNodeId node), void* context)
{
    for (uint32_t left = group->present[word] & group->several[word]; left != 0; left &= left - 1u)
    {
        uint32_t draw = word * 32u + espyiPopCount32((left & (0u - left)) - 1u);
        espyNodeId node = group->nodes[draw];
        bool visible = false;
        for (uint32_t d = homes[node.index1 - 1].first == draw ? draw : ESPYI_DRAWS_NONE;
             d != ESPYI_DRAWS_NONE && !visible; d = group->next[d])
        {
            visible = espyiSight_SeesDraw(sight, group, d);
        }
        if (visible)
        {
            seen(context, node);
        }
    }
}

void espyiSight_Visit(const espyiSight* sight, void (*seen)(void* context, espyNodeId node), void* context)
{
    // The draws are the first member of a snapshot.
    const espyiHome* homes = ((const espyiSnapshot*)(const void*)sight->draws)->homes;
    for (uint32_t g = 0; g < sight->draws->groupCount; ++g)
    {
        const espyiDrawGroup* group = sight->draws->groups[g];
        uint32_t wordCount = espyiBits_Words(group->count);
        for (uint32_t first = 0; first < wordCount; first += ESPY_SIGHT_STEP_WORDS)
        {
            uint32_t left = wordCount - first;
            uint32_t count = left < ESPY_SIGHT_STEP_WORDS ? left : ESPY_SIGHT_STEP_WORDS;
            espySight_VisitStep(sight, group, first, count, seen, context);
            for (uint32_t i = 0; i < count; ++i)
            {
                espySight_VisitSeveral(sight, group, homes, first + i, seen, context);
            }
        }
    }
}
