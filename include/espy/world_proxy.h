// SPDX-License-Identifier: MIT
// Capsule proxies that follow the nodes of a world: the OcclusionProxy component, and limbs between two nodes.
//
//     espyWorld_SetOcclusionProxy(world, boulder, &(espyOcclusionProxy){.radius = 2, .height = 3, .strength = 1});
//     every frame:  espyWorld_FollowProxies(world, set, &revision);    then the image pass of proxy.h
#ifndef ESPY_WORLD_PROXY_H
#define ESPY_WORLD_PROXY_H

#include <espy/proxy.h>
#include <espy/world.h>

/// Ids of proxies that follow nodes are this plus the node's index1; other numbers and all strings are the caller's.
#define ESPY_WORLD_PROXY_ID ((uint64_t)1 << 63)

/// Gives a node a proxy, or changes it; null or radius 0 takes it away. `present` is set by this call. Errors:
/// InvalidId, InvalidArgument (a value that is not finite, a negative radius or height). Thread: owner.
ESPY_API espyResult espyWorld_SetOcclusionProxy(espyWorld* world, espyNodeId node, const espyOcclusionProxy* proxy);

/// Brings the proxies of `set` up to date with the nodes: capsules along world up at their nodes' places now, none for
/// nodes that are hidden or gone. `revision` is the caller's memory of the last call, 0 at first and for another set.
/// Errors: those of espyProxySet_SetId, the first one that occurs; the other nodes are still done, and the next call
/// tries again. Cost: constant for each node that changed since. Allocates only where the set grows. Thread: owner.
ESPY_API espyResult espyWorld_FollowProxies(const espyWorld* world, espyProxySet* set, uint64_t* revision);

/// A capsule between two nodes: an arm between joints that are nodes, a rope between two posts.
typedef struct espyProxyLimb
{
    uint64_t id;               ///< Its number in the set, below ESPY_WORLD_PROXY_ID.
    espyNodeId a, b;           ///< Its ends.
    espyVec3 offsetA, offsetB; ///< In the space of each node. Default 0.
    espyProxyDef def;          ///< All but its ends: radii, strength, group, owner, views.
} espyProxyLimb;

ESPY_API espyProxyLimb espyProxyLimb_Default(void);

/// Puts limbs where their nodes are now, once a frame; takes those away that have a node which is hidden or gone.
/// Errors: those of espyProxySet_SetId, the first one that occurs, and InvalidArgument for an id that is too large; the
/// other limbs are still done. Cost: constant for each limb. Allocates only where the set grows. Thread: owner.
ESPY_API espyResult espyWorld_FollowLimbs(const espyWorld* world, espyProxySet* set, const espyProxyLimb* limbs,
                                          uint32_t count);

#endif
