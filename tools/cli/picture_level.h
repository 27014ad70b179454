// SPDX-License-Identifier: MIT
// A world as the triangles of a picture, painted by what the file says about each object.
#ifndef ESPYI_PICTURE_LEVEL_H
#define ESPYI_PICTURE_LEVEL_H

#include <espy/audit.h>
#include <espy/world.h>

#define ESPY_PICTURE_RED 0xD9463Du
#define ESPY_PICTURE_GREEN 0x5FA777u

typedef enum espyPicturePaint
{
    espyPicturePaint_Plan = 0, ///< Cut open; objects in red and green.
    espyPicturePaint_Eye,      ///< As it is.
    espyPicturePaint_XRay,     ///< Walls as ghosts; objects in red and green.
} espyPicturePaint;

/// What is known of one run of triangles.
typedef struct espyPictureRun
{
    uint32_t color;
    espyMaterialClass material;
    bool hidden;   ///< The file hides it from the eye's cell.
    bool occludee; ///< It has a slot.
    bool wall;     ///< An occluder too large to be a thing in a room.
    bool whole;    ///< Not cut open: terrain and trees.
} espyPictureRun;

typedef struct espyPictureLevel
{
    espyPictureScene scene;
    espyVec3* positions;
    uint32_t* indices;
    uint32_t* surfaceOf;
    espyPictureSurface* surfaces;
    espyPictureRun* runs; ///< One a surface.
    size_t positionCapacity, indexCapacity, triangleCapacity, runCapacity, surfaceCapacity;
    uint32_t visible, hidden; ///< Slots of the file.
} espyPictureLevel;

/// `cell` -1 draws everything as visible. Free also after a failure. Errors: OutOfMemory, LimitExceeded.
espyResult espyPictureLevel_Create(const espyWorld* world, const espyPvs* pvs, int32_t cell, espyPictureLevel* out);
void espyPictureLevel_Free(espyPictureLevel* level);

/// Fills the surfaces for one view.
void espyPictureLevel_Paint(espyPictureLevel* level, espyPicturePaint paint);

#endif
