// SPDX-License-Identifier: MIT
// What an audit draws: the occluders, and the occludees that are drawn on their own (whole nodes without parts, and the
// parts of the others), each as a ray hierarchy and as exact triangles.
#ifndef ESPYI_DRAWN_H
#define ESPYI_DRAWN_H

#include <espy/bake.h>

#include "audit/exact.h"
#include "core/core.h"
#include "geometry/bvh.h"

/// The triangles of several meshes as one.
typedef struct espyiMerged
{
    espyVec3* positions;
    uint32_t* indices;
    uint32_t* objects; ///< One a triangle: index of the occluder or of the occludee's slot.
    espyiSoup soup;    ///< Views the above.
} espyiMerged;

typedef struct espyiDrawn
{
    espyHooks hooks;
    const espyBakeInput* input;
    espyiMerged blockers; ///< Objects are occluders.
    espyiMerged targets;  ///< Objects are slots of occludees that are drawn on their own.
    espyiBvh* blockerBvh;
    espyiBvh* targetBvh;
    espyiExact* blockerExact;
    espyiExact* targetExact;
    uint32_t* wholeOf; ///< Slot of the whole node that a part belongs to, or the slot itself.
} espyiDrawn;

/// Errors: InvalidArgument (an index or range past its end), LimitExceeded, OutOfMemory. Borrows the input.
espyResult espyiDrawn_Create(const espyBakeInput* input, uint32_t threads, const espyHooks* hooks, espyiDrawn** out);
void espyiDrawn_Destroy(espyiDrawn* drawn);

/// The occluders that never block rays towards a slot.
espyiSkip espyiDrawn_OwnOf(const espyiDrawn* drawn, uint32_t slot);

/// True where a double-precision ray is sure to meet the slot's surface with no other occluder on the way.
bool espyiDrawn_Confirm(const espyiDrawn* drawn, uint32_t slot, const espyiRay* ray, double tMin);

#endif
