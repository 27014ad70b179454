// SPDX-License-Identifier: MIT
// What a camera sees of the draws of a world: what queries and trackers share.
#ifndef ESPYI_SIGHT_H
#define ESPYI_SIGHT_H

#include "world/draws.h"

#include <espy/culling.h>
#include <espy/gameplay.h>

/// Files that a camera is in at the same time and that moving boxes are tested by; more count as no evidence.
#define ESPYI_SIGHT_MAX_FILES 16u

/// A camera and the files around it. Holds the draws until it ends.
typedef struct espyiSight
{
    const espyWorld* world;
    const espyiDraws* draws;
    uint32_t ticket;
    espyNodeId camera;
    espyView view;
    bool occlusion;
    espyViewSet sets[ESPYI_SIGHT_MAX_FILES]; ///< Of usable files whose cells the camera is in.
    uint32_t setCount;
} espyiSight;

/// Takes the draws and finds out what `camera` (null: the active one) looks from. False, and nothing to end, for a
/// camera that is none.
bool espyiSight_Begin(espyiSight* sight, const espyWorld* world, espyNodeId camera);
void espyiSight_End(espyiSight* sight);
/// True where the camera sees a draw whose bits are set as a candidate.
bool espyiSight_SeesDraw(const espyiSight* sight, const espyiDrawGroup* group, uint32_t draw);
/// Calls `seen` for each node that the camera sees, once.
void espyiSight_Visit(const espyiSight* sight, void (*seen)(void* context, espyNodeId node), void* context);

#endif
