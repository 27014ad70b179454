// SPDX-License-Identifier: MIT
// Capsule proxies that follow the nodes of a world.
#include "world/world_internal.h"

#include <espy/world_proxy.h>

static bool espyProxy_IsSound(const espyOcclusionProxy* proxy)
{
    const float largest = 1.0e8f;
    return proxy->radius >= 0.0f && proxy->radius <= largest && proxy->height >= 0.0f && proxy->height <= largest &&
           proxy->offsetX >= -largest && proxy->offsetX <= largest && proxy->offsetY >= -largest &&
           proxy->offsetY <= largest && proxy->offsetZ >= -largest && proxy->offsetZ <= largest &&
           proxy->strength >= -largest && proxy->strength <= largest;
}

espyResult espyWorld_SetOcclusionProxy(espyWorld* world, espyNodeId id, const espyOcclusionProxy* proxy)
{
    espyiWorldNode* node = espyiWorld_FindNode(world, id);
    const espyHooks* hooks = world ? &world->hooks : NULL;
    if (!ESPYI_CHECK(hooks, node != NULL))
    {
        return espyResult_InvalidId;
    }
    if (!ESPYI_CHECK(hooks, proxy == NULL || espyProxy_IsSound(proxy)))
    {
        return espyResult_InvalidArgument;
    }
    node->proxy = proxy ? *proxy : (espyOcclusionProxy){0};
    node->proxy.present = proxy != NULL && proxy->radius > 0.0f;
    espyiWorld_Touch(world, id.index1 - 1);
    return espyResult_Ok;
}

/// Sets or removes the proxy of one slot.
static espyResult espyWorld_FollowNode(const espyWorld* world, espyNodeId id, espyProxySet* set)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    uint64_t key = ESPY_WORLD_PROXY_ID + (uint64_t)(uint32_t)id.index1;
    if (!node || !node->proxy.present || (node->flags & espyNodeFlag_Hidden) != 0)
    {
        espyResult removed = espyProxySet_RemoveId(set, key);
        return removed == espyResult_NotFound ? espyResult_Ok : removed;
    }
    const espyOcclusionProxy* proxy = &node->proxy;
    espyProxyDef def = espyProxyDef_AtNode(node->world, (espyVec3){proxy->offsetX, proxy->offsetY, proxy->offsetZ},
                                           proxy->radius, proxy->height);
    def.strength = proxy->strength;
    // Pixels of the node itself can be told apart by this id in the image's owner plane.
    def.owner = (uint32_t)id.index1 <= ESPY_PROXY_OWNER_LIMIT ? (uint32_t)id.index1 : 0;
    return espyProxySet_SetId(set, key, &def, NULL);
}

espyResult espyWorld_FollowProxies(const espyWorld* world, espyProxySet* set, uint64_t* revision)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && set != NULL && revision != NULL))
    {
        return espyResult_InvalidArgument;
    }
    espyResult result = espyResult_Ok;
    // What goes makes room for what comes.
    for (int pass = 0; pass < 2; ++pass)
    {
        espyNodeId id = {0, 0};
        while (espyWorld_NextChange(world, *revision, &id))
        {
            const espyiWorldNode* node = espyiWorld_FindNode(world, id);
            bool stays = node && node->proxy.present && (node->flags & espyNodeFlag_Hidden) == 0;
            if (stays == (pass == 1))
            {
                espyResult one = espyWorld_FollowNode(world, id, set);
                result = result == espyResult_Ok ? one : result;
            }
        }
    }
    if (result == espyResult_Ok)
    {
        *revision = world->revision;
    }
    return result;
}

// --- limbs

espyProxyLimb espyProxyLimb_Default(void)
{
    return (espyProxyLimb){.def = espyProxyDef_Default()};
}

static espyResult espyWorld_FollowLimb(const espyWorld* world, espyProxySet* set, const espyProxyLimb* limb)
{
    const espyiWorldNode *a = espyiWorld_FindNode(world, limb->a), *b = espyiWorld_FindNode(world, limb->b);
    if (limb->id >= ESPY_WORLD_PROXY_ID)
    {
        return espyResult_InvalidArgument;
    }
    if (!a || !b || ((a->flags | b->flags) & espyNodeFlag_Hidden) != 0)
    {
        espyResult removed = espyProxySet_RemoveId(set, limb->id);
        return removed == espyResult_NotFound ? espyResult_Ok : removed;
    }
    espyProxyDef def = limb->def;
    espyProxyDef ends =
        espyProxyDef_BetweenNodes(a->world, limb->offsetA, b->world, limb->offsetB, def.radius, def.radiusB);
    def.a = ends.a;
    def.b = ends.b;
    def.hasB = true;
    return espyProxySet_SetId(set, limb->id, &def, NULL);
}

espyResult espyWorld_FollowLimbs(const espyWorld* world, espyProxySet* set, const espyProxyLimb* limbs, uint32_t count)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && set != NULL && (limbs != NULL || count == 0)))
    {
        return espyResult_InvalidArgument;
    }
    espyResult result = espyResult_Ok;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyResult one = espyWorld_FollowLimb(world, set, &limbs[i]);
        result = result == espyResult_Ok ? one : result;
    }
    return result;
}
