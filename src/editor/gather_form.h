// SPDX-License-Identifier: MIT
// What one node is made of, for the bake: all that is drawn for it, and what of it may block.
#ifndef ESPYI_GATHER_FORM_H
#define ESPYI_GATHER_FORM_H

#include "core/core.h"

#include <espy/world.h>

/// Triangles in the node's space, borrowed from the world or from what the form owns. Zeroed is empty.
typedef struct espyiGatherForm
{
    espyTriangles drawn;  ///< Of every level of detail.
    espyTriangles blocks; ///< Opaque ones that every level covers; none where nothing may block.
    bool shared;          ///< `blocks` is `drawn`.
    bool blocksNothing;   ///< There are levels and no mesh that stands for all of them.
    espySurface surface;
    espyVec3* positions[2];
    uint32_t* indices[2];
} espyiGatherForm;

/// Makes the form of a node. Free it also after a failure. Errors: OutOfMemory, LimitExceeded.
espyResult espyiGatherForm_Make(const espyWorld* world, espyNodeId id, const espyNodeDef* node, const espyHooks* hooks,
                                espyiGatherForm* out);
void espyiGatherForm_Free(const espyHooks* hooks, espyiGatherForm* form);

#endif
