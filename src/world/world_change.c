// SPDX-License-Identifier: MIT
// What changed since: slots in a list by their last change, so that any number of readers can catch up, each at the
// cost of what it missed. Slots of destroyed nodes stay in it until they are used again.
#include "world/world_internal.h"

static void espyWorld_MoveToNewest(espyWorld* world, int32_t slot)
{
    espyiWorldNode* node = &world->nodes[slot];
    node->revision = ++world->revision;
    if (world->newest == slot)
    {
        return;
    }
    if (node->newer != ESPYI_WORLD_NONE)
    {
        world->nodes[node->newer].older = node->older;
    }
    if (node->older != ESPYI_WORLD_NONE)
    {
        world->nodes[node->older].newer = node->newer;
    }
    node->newer = ESPYI_WORLD_NONE;
    node->older = world->newest;
    if (world->newest != ESPYI_WORLD_NONE)
    {
        world->nodes[world->newest].newer = slot;
    }
    world->newest = slot;
}

void espyiWorld_Touch(espyWorld* world, int32_t slot)
{
    espyWorld_MoveToNewest(world, slot);
    espyiWorldData_NodeChanged(world, slot);
}

void espyiWorld_TouchContent(espyWorld* world, int32_t slot)
{
    espyWorld_MoveToNewest(world, slot);
    world->nodes[slot].contentRevision = world->revision;
    espyiWorldData_NodeChanged(world, slot);
}

uint64_t espyWorld_GetRevision(const espyWorld* world)
{
    return world ? world->revision : 0;
}

uint64_t espyWorld_GetNodeRevision(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node ? node->revision : 0;
}

uint64_t espyWorld_GetContentRevision(const espyWorld* world, espyNodeId id)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    return node ? node->contentRevision : 0;
}

bool espyWorld_NextChange(const espyWorld* world, uint64_t since, espyNodeId* node)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && node != NULL) || node->index1 < 0 ||
        (size_t)node->index1 > world->slotCount)
    {
        return false;
    }
    int32_t slot = node->index1 == 0 ? world->newest : world->nodes[node->index1 - 1].older;
    if (slot == ESPYI_WORLD_NONE || world->nodes[slot].revision <= since)
    {
        return false;
    }
    *node = espyiWorld_IdOf(world, slot);
    return true;
}
