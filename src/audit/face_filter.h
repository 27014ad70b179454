// SPDX-License-Identifier: MIT
// Which pixels of a panorama need their rays: those that may show something whose answer is not known yet, by the
// rasteriser. What a view counts stays the same.
#ifndef ESPYI_FACE_FILTER_H
#define ESPYI_FACE_FILTER_H

#include "audit/panorama.h"

#include <espy/raster.h>

/// What all workers share.
typedef struct espyiFaceFilter
{
    espyOccluder* blockers;
    uint32_t* drawnSlots; ///< Bitset of slots that have a surface of their own.
} espyiFaceFilter;

/// Of one worker.
typedef struct espyiFaceScratch
{
    espyRaster* raster;
    uint32_t* cast; ///< Bitset over the blocks of a face.
} espyiFaceScratch;

/// What a slot is to a view.
typedef enum espyiFaceNeed
{
    espyiFaceNeed_None = 0, ///< Nothing about it can change any more.
    espyiFaceNeed_First,    ///< Any one pixel that shows it is enough.
    espyiFaceNeed_All,      ///< Every pixel that shows it counts.
} espyiFaceNeed;

typedef espyiFaceNeed espyiFaceNeedFn(void* context, uint32_t slot);

/// Errors: OutOfMemory; nothing is held then.
espyResult espyiFaceFilter_Create(espyiFaceFilter* filter, const espyiDrawn* drawn, const espyHooks* hooks);
void espyiFaceFilter_Destroy(espyiFaceFilter* filter, const espyHooks* hooks);
espyResult espyiFaceScratch_Create(espyiFaceScratch* scratch, uint32_t size, const espyHooks* hooks);
void espyiFaceScratch_Destroy(espyiFaceScratch* scratch, const espyHooks* hooks);

/// Renders what of a face can matter: `need` is asked about a slot before each block of pixels that may show it, and
/// `seen` told as by espyiPanorama_RenderFace. A pixel is rendered at most once.
void espyiFaceFilter_Render(const espyiFaceFilter* filter, const espyiFaceScratch* scratch, const espyiDrawn* drawn,
                            espyVec3 point, uint32_t size, uint32_t face, espyiFaceNeedFn* need, espyiSeenFn* seen,
                            void* context);

#endif
