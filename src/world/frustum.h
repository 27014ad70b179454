// SPDX-License-Identifier: MIT
// Frustum kernels by instruction set. Every set gives the same bits.
#ifndef ESPYI_FRUSTUM_H
#define ESPYI_FRUSTUM_H

#include "world/moving.h"

#include <espy/culling.h>

typedef struct espyiFrustumKernels
{
    /// Copies those of `count` draws that are not outside, in order, with `base` added to each; returns how many.
    /// The view has at least one eye. `out` has room for `count` entries; those after the last may be overwritten.
    uint32_t (*cull)(const espyView* view, const espyCullBoxes* boxes, const uint32_t* draws, uint32_t count,
                     uint32_t base, uint32_t* out);
    /// As espyBits_ToList, of whole words; `room` is at least the number of 1 bits.
    uint32_t (*listBits)(const uint32_t* words, uint32_t wordCount, uint32_t base, uint32_t* out, uint32_t room);
    /// Number of 1 bits.
    uint32_t (*countBits)(const uint32_t* words, uint32_t wordCount);
    /// Blocks of the boxes of at most ESPYI_MOVING_CHUNK ascending draws.
    void (*findBlocks)(const espyiBlockGrid* grid, const espyCullBoxes* boxes, const uint32_t* draws, uint32_t count,
                       espyiBlockSpans* out);
} espyiFrustumKernels;

/// Kernels of one instruction set; null where this build or target has none.
const espyiFrustumKernels* espyiFrustum_GetScalar(void);
const espyiFrustumKernels* espyiFrustum_GetSse41(void);
const espyiFrustumKernels* espyiFrustum_GetAvx2(void);
const espyiFrustumKernels* espyiFrustum_GetAvx512(void);

/// The best ones of this machine that are not above `cap`.
const espyiFrustumKernels* espyiFrustum_Pick(espyIsa cap);

/// Fills the words of a set from its file and cells, as espyViewSet_Make does.
void espyiViewSet_Fill(espyViewSet* set, uint32_t* scratch);
/// Only those of the dynamic table; `scratch` has twice its words.
void espyiViewSet_FillDynamic(espyViewSet* set, uint32_t* scratch);

#endif
