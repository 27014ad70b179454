// SPDX-License-Identifier: MIT
// The picture of a bake: the level cut open from above, what an eye sees, and what espy leaves out behind the walls.
#ifndef ESPYI_PICTURE_H
#define ESPYI_PICTURE_H

#include <espy/pvs.h>
#include <espy/world.h>

typedef struct espyPictureDefinition
{
    espyVec3 eye, target;
    const char* title; ///< Of the level.
    uint32_t samples;  ///< Rays a side of each pixel, 1..8; 3 takes some seconds.
    int32_t threads;   ///< 0: one a core.
} espyPictureDefinition;

/// Takes the camera of the level with most hidden objects ahead of it, or the middle of a cell where it has none.
/// False where the data has no cell.
bool espyPictureDefinition_Choose(const espyWorld* world, const espyPvs* pvs, espyPictureDefinition* out);

/// Writes a PNG of 1600 x 900. On failure says why in `message`.
/// Errors: InvalidArgument, OutOfMemory, Io.
espyResult espyPicture_Write(const espyWorld* world, const espyPvs* pvs, const espyPictureDefinition* definition,
                             const char* path, char* message, size_t messageSize);

#endif
