// SPDX-License-Identifier: MIT
// Quake 3's curved patches: grids of biquadratic Bezier pieces, cut into triangles.
//
// Every column strip and every row strip of a patch has one number of cuts, so that its pieces meet without cracks.
// The triangles stay within ESPYI_PATCH_ERROR units of the surface, except where the cap on cuts is reached.
#ifndef ESPYI_BSP_PATCH_H
#define ESPYI_BSP_PATCH_H

#include "import/bsp_read.h"

#include <espy/math.h>

/// Quake units; 1 / 32 m.
#define ESPYI_PATCH_ERROR 1.0f
/// Cuts along one side of one piece, a power of two.
#define ESPYI_PATCH_MAX_CUTS 32u
/// Strips along one side of a patch at most.
#define ESPYI_PATCH_MAX_STRIPS 64u

/// The cuts of a patch and the size of the grid they make.
typedef struct espyiPatchCuts
{
    uint8_t columns[ESPYI_PATCH_MAX_STRIPS], rows[ESPYI_PATCH_MAX_STRIPS];
    uint32_t width, height; ///< Grid points.
} espyiPatchCuts;

/// Decides the cuts of a patch face from its curvature.
espyiPatchCuts espyiPatch_Plan(const espyiBsp* bsp, const espyiBspFace* face);
/// Writes width * height grid points, converted to metres, row by row.
void espyiPatch_Evaluate(const espyiBsp* bsp, const espyiBspFace* face, const espyiPatchCuts* cuts, espyVec3* points);

#endif
