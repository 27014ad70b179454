// SPDX-License-Identifier: MIT
// Moving draws against the coarse blocks of baked files, many at a time.
//
// Which blocks a box touches is a matter of one multiplication a face unless a face lies so close to a border that
// rounding could decide. Kernels find the blocks of those for which it cannot; the others ask espyViewSet_HidesBox, and
// all of them get its answer.
#ifndef ESPYI_MOVING_H
#define ESPYI_MOVING_H

#include <espy/culling.h>

/// Draws that a kernel takes at a time.
#define ESPYI_MOVING_CHUNK 64u
/// Files whose blocks are prepared; further ones are asked box by box.
#define ESPYI_MOVING_FILES 16u

/// The lattice of a file's coarse blocks in the world.
typedef struct espyiBlockGrid
{
    float origin[3];
    float top[3];   ///< Where it ends along each axis, in blocks.
    float perBlock; ///< Blocks a metre; 0: every box has to be asked for.
    float slack;    ///< In blocks: what rounding can move a face by, and more.
} espyiBlockGrid;

/// What a kernel finds for up to ESPYI_MOVING_CHUNK boxes.
typedef struct espyiBlockSpans
{
    uint64_t known;   ///< Boxes that lie in the blocks below and nowhere else.
    uint64_t outside; ///< Boxes of which a part is outside the lattice.
    int32_t first[3][ESPYI_MOVING_CHUNK], last[3][ESPYI_MOVING_CHUNK];
} espyiBlockSpans;

struct espyiFrustumKernels;

/// The files by which moving draws are tested.
typedef struct espyiMoving
{
    const espyViewSet* sets;
    uint32_t setCount;
    const struct espyiFrustumKernels* kernels;
    espyiBlockGrid grids[ESPYI_MOVING_FILES];
} espyiMoving;

/// `sets` stays the caller's.
void espyiMoving_Make(espyiMoving* moving, const espyViewSet* sets, uint32_t setCount,
                      const struct espyiFrustumKernels* kernels);
/// Sets bit draw - first of `hidden` for each of `count` draws whose box is hidden by some file, as
/// espyViewSet_HidesBox says.
void espyiMoving_Hide(const espyiMoving* moving, const espyCullBoxes* boxes, const uint32_t* draws, uint32_t count,
                      uint32_t first, uint32_t* hidden);

#endif
