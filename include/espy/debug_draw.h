// SPDX-License-Identifier: MIT
// Draws what occlusion culling knows, through the caller's callbacks: lines and boxes in world space.
#ifndef ESPY_DEBUG_DRAW_H
#define ESPY_DEBUG_DRAW_H

#include <espy/view.h>
#include <espy/world.h>

/// Colours, 0xRRGGBB.
#define ESPY_DEBUG_CYAN 0x00FFFFu
#define ESPY_DEBUG_GREEN 0x00FF00u
#define ESPY_DEBUG_RED 0xFF0000u

/// A null function draws nothing of its kind.
typedef struct espyDebugDraw
{
    void (*line)(espyVec3 from, espyVec3 to, uint32_t color, void* context);
    void (*box)(espyBox box, uint32_t color, void* context);
    void* context;
} espyDebugDraw;

/// Draws an occlusion preview: the volume of every loaded file in cyan, the cells that the view looks from in green,
/// every occludee's box in green (visible from those cells) or red (culled), and for the nodes in `selected` a line
/// from the view's cell to the box, in the same colour. The frustum plays no part. What nothing is known about (stale
/// data, a view outside the cells, data switched off) is green. Hidden nodes are left out. `view` is the game camera's.
/// Cost: linear in the draws of the world times `selectedCount`. Allocates nothing. Thread: any.
ESPY_API void espyWorld_DrawOcclusion(const espyWorld* world, const espyView* view, const espyNodeId* selected,
                                      uint32_t selectedCount, const espyDebugDraw* draw);

/// Draws a view: its near rectangle and its edges up to `reach` metres from the eye (or to the far plane where that is
/// nearer), both eyes of a stereo pair. For frozen views, and mirrors.
ESPY_API void espyView_Draw(const espyView* view, float reach, uint32_t color, const espyDebugDraw* draw);

/// The twelve edges of a box as lines, for callers without boxes.
ESPY_API void espyDebugDraw_BoxLines(const espyDebugDraw* draw, espyBox box, uint32_t color);

#endif
