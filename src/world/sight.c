// SPDX-License-Identifier: MIT
// A camera's look at the draws of a world, in steps small enough for the stack. No allocation, no library call.
#include "world/sight.h"

#include "pvs/packed.h"
#include "world/data.h"
#include "world/frustum.h"

/// Draws of one step: a list of 4 KB.
#define ESPY_SIGHT_STEP_WORDS 32u
#define ESPY_SIGHT_STEP (ESPY_SIGHT_STEP_WORDS * 32u)
/// Words of dynamic tables that a look keeps, twice over: 4 KB. Larger ones are asked box by box.
#define ESPY_SIGHT_SCRATCH 1024u

_Static_assert(ESPYI_PACK_STRIPE_WORDS % ESPY_SIGHT_STEP_WORDS == 0, "a step lies within a stripe");

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

// --- all draws

/// What a look at all draws prepares once, so that each draw costs little.
typedef struct espySightLook
{
    const espyiSight* sight;
    espyViewSet sets[ESPYI_SIGHT_MAX_FILES]; ///< Those of the camera, with the words of dynamic tables where they fit.
    espyiMoving moving;
    uint32_t scratch[ESPY_SIGHT_SCRATCH];
    // Of packed files: the last stripe that was read, of all cells together.
    const espyViewSet* stripeOf;
    uint32_t stripe;
    uint32_t words[ESPYI_PACK_STRIPE_WORDS];
} espySightLook;

static void espySightLook_Make(espySightLook* look, const espyiSight* sight)
{
    look->sight = sight;
    look->stripeOf = NULL;
    look->stripe = 0;
    size_t used = 0;
    for (uint32_t i = 0; i < sight->setCount; ++i)
    {
        look->sets[i] = sight->sets[i];
        size_t wanted = 2u * (size_t)sight->sets[i].pvs->coarseWords;
        if (wanted > 0 && wanted <= ESPY_SIGHT_SCRATCH - used)
        {
            espyiViewSet_FillDynamic(&look->sets[i], look->scratch + used);
            used += wanted;
        }
    }
    espyiMoving_Make(&look->moving, look->sets, sight->setCount, espyiFrustum_Pick(espyIsa_Auto));
}

/// Words of a stripe of a packed table, of all cells together.
static const uint32_t* espySightLook_ReadStripe(espySightLook* look, const espyViewSet* set, uint32_t stripe)
{
    if (look->stripeOf == set && look->stripe == stripe)
    {
        return look->words;
    }
    const espyPvsPack* pack = &set->pvs->staticPack;
    uint32_t one[ESPYI_PACK_STRIPE_WORDS];
    for (uint32_t i = 0; i < ESPYI_PACK_STRIPE_WORDS; ++i)
    {
        look->words[i] = one[i] = 0;
    }
    for (uint32_t c = 0; c < set->cellCount && stripe < espyiPack_StripeCount(pack->width); ++c)
    {
        espyiPack_ReadStripe(set->pvs, pack, (uint32_t)set->cells[c], stripe, one);
        for (uint32_t i = 0; i < ESPYI_PACK_STRIPE_WORDS; ++i)
        {
            look->words[i] |= one[i];
        }
    }
    look->stripeOf = set;
    look->stripe = stripe;
    return look->words;
}

/// Words of the draws of a step that are alone and that bits do not hide.
static void espySight_Candidates(espySightLook* look, const espyiDrawGroup* group, uint32_t firstWord,
                                 uint32_t wordCount, uint32_t* out)
{
    const espyiSight* sight = look->sight;
    const espyViewSet* set = sight->occlusion && group->pvs ? espySight_SetOf(sight, group) : NULL;
    uint32_t kept[ESPY_SIGHT_STEP_WORDS];
    uint32_t seen[ESPY_SIGHT_STEP_WORDS];
    for (uint32_t i = 0; i < wordCount; ++i)
    {
        seen[i] = set ? group->moved[firstWord + i] : ~0u;
    }
    bool packed = set && set->pvs->staticPack.model && set->pvs->staticPack.width > 0;
    if (packed)
    {
        // Steps lie within stripes. Draws behind the last slot are moved.
        const uint32_t* words = espySightLook_ReadStripe(look, set, firstWord / ESPYI_PACK_STRIPE_WORDS) +
                                firstWord % ESPYI_PACK_STRIPE_WORDS;
        for (uint32_t i = 0; i < wordCount; ++i)
        {
            seen[i] |= words[i];
        }
    }
    for (uint32_t c = 0; set && !packed && c < set->cellCount; ++c)
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

static espyCullBoxes espySight_Boxes(const espyiDrawGroup* group, uint32_t first)
{
    return (espyCullBoxes){group->minX + first,
                           group->minY + first,
                           group->minZ + first,
                           group->maxX + first,
                           group->maxY + first,
                           group->maxZ + first,
                           1};
}

/// Bits of the draws of a list, from `first` on, that moved and that the camera cannot see where they are now.
static void espySight_HideMoved(const espySightLook* look, const espyiDrawGroup* group, const uint32_t* list,
                                uint32_t count, uint32_t first, uint32_t* hidden)
{
    uint32_t moving[ESPY_SIGHT_STEP];
    uint32_t movingCount = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        moving[movingCount] = list[i];
        movingCount += espyiBits_Get(group->moved, list[i]) ? 1u : 0u;
    }
    espyCullBoxes boxes = espySight_Boxes(group, 0);
    espyiMoving_Hide(&look->moving, &boxes, moving, movingCount, first, hidden);
}

static void espySight_VisitStep(espySightLook* look, const espyiDrawGroup* group, uint32_t firstWord,
                                uint32_t wordCount, void (*seen)(void* context, espyNodeId node), void* context)
{
    const espyiSight* sight = look->sight;
    uint32_t words[ESPY_SIGHT_STEP_WORDS];
    uint32_t list[ESPY_SIGHT_STEP];
    uint32_t first = firstWord * 32u;
    espySight_Candidates(look, group, firstWord, wordCount, words);
    espyCullDraws draws = {
        .boxes = espySight_Boxes(group, first), .count = wordCount * 32u, .firstIndex = first, .drawable = words};
    // Bits are done; moving boxes come after the frustum, since each costs more than it does.
    espyCullInput input = {.view = &sight->view, .draws = &draws, .frustum = true};
    espyCullOutput output = {.drawList = list};
    espyCull_Run(&input, &output);
    uint32_t hidden[ESPY_SIGHT_STEP_WORDS] = {0};
    if (sight->occlusion && sight->setCount > 0)
    {
        espySight_HideMoved(look, group, list, output.drawCount, first, hidden);
    }
    for (uint32_t i = 0; i < output.drawCount; ++i)
    {
        espyNodeId node = group->nodes[list[i]];
        if (node.index1 != sight->camera.index1 && !espyiBits_Get(hidden, list[i] - first))
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
    espySightLook look;
    espySightLook_Make(&look, sight);
    for (uint32_t g = 0; g < sight->draws->groupCount; ++g)
    {
        const espyiDrawGroup* group = sight->draws->groups[g];
        uint32_t wordCount = espyiBits_Words(group->count);
        for (uint32_t first = 0; first < wordCount; first += ESPY_SIGHT_STEP_WORDS)
        {
            uint32_t left = wordCount - first;
            uint32_t count = left < ESPY_SIGHT_STEP_WORDS ? left : ESPY_SIGHT_STEP_WORDS;
            espySight_VisitStep(&look, group, first, count, seen, context);
            for (uint32_t i = 0; i < count; ++i)
            {
                espySight_VisitSeveral(sight, group, homes, first + i, seen, context);
            }
        }
    }
}
