// SPDX-License-Identifier: MIT
// Everything that shows from a point: six square faces of a cube around it, one ray a pixel.
#ifndef ESPYI_PANORAMA_H
#define ESPYI_PANORAMA_H

#include "audit/drawn.h"

/// Near distance of the audit, metres.
#define ESPYI_PANORAMA_NEAR 1e-3f

/// Pixels along a side of the blocks that faces are rendered in.
#define ESPYI_PANORAMA_BLOCK 16u
/// Along a ray, in lengths of its direction: how far behind the first occluder surfaces may lie flush on it. 0.1 mm
/// seen at up to 87 degrees from straight on.
#define ESPYI_PANORAMA_FLUSH 2e-3f

/// Told about each slot that shows in a pixel; all slots of one pixel come one after the other, and a slot may come
/// more than once for a pixel.
typedef void espyiSeenFn(void* context, uint32_t pixel, uint32_t slot);

/// The ray of pixel (face * size + row) * size + column. Faces look along +x, -x, +y, -y, +z, -z.
espyiRay espyiPanorama_Ray(espyVec3 point, uint32_t size, uint32_t pixel);

/// True where a box reaches into the pyramid of a face (on doubt true).
bool espyiPanorama_IsInFace(espyVec3 point, uint32_t face, espyBox box);

/// World to clip space of a face, depth 1 at ESPYI_PANORAMA_NEAR: pixel centres are where the rays go.
espyMat4 espyiPanorama_Clip(espyVec3 point, uint32_t face);

/// Reports what shows in one face: every target surface on each pixel's ray up to the first occluder, that occluder's
/// own target, and what lies flush on it. Thread: any.
void espyiPanorama_RenderFace(const espyiDrawn* drawn, espyVec3 point, uint32_t size, uint32_t face, espyiSeenFn* seen,
                              void* context);
/// The same for one block of pixels from `left` and `top` on.
void espyiPanorama_RenderBlock(const espyiDrawn* drawn, espyVec3 point, uint32_t size, uint32_t face, uint32_t left,
                               uint32_t top, espyiSeenFn* seen, void* context);

#endif
