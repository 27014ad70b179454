// SPDX-License-Identifier: MIT
// Where cameras can be: the leaves of free space that are joined to given places by openings a camera fits through.
//
// A camera is a point that keeps `radius` from every occluder. An opening is closed to it only where one single convex
// occluder polygon is nearer than that to all of the opening's corners, and so to all of it: fragments of one wide
// opening are never taken for narrow ones. docs/notes/proof.md, "Where cameras can be".
#ifndef ESPYI_VIEWERS_H
#define ESPYI_VIEWERS_H

#include "bake/freespace.h"

/// Half the width of what cameras fit through at the default near distance. Metres.
#define ESPYI_CAMERA_RADIUS 0.02

typedef struct espyiViewersDef
{
    const espyiSoup* occluders; ///< Those that the free space was built from.
    const espyVec3* points;     ///< Places that a camera is at, relative to the lattice like all else.
    uint32_t pointCount;        ///< Those outside the world, or not finite, are left out.
    double radius;              ///< Metres, >= 0.
    const espyHooks* hooks;
    espyiPoll* poll; ///< May be null.
} espyiViewersDef;

/// The way from a point to the outside that is widest at its narrowest opening.
typedef struct espyiLeak
{
    bool open;         ///< The outside is reached at all.
    double from[3];    ///< The point that the way starts from.
    double at[3];      ///< Middle of its narrowest opening.
    double size[3];    ///< Bounds of that opening.
    double area;       ///< Of that opening.
    uint32_t wayCount; ///< Middles of the way's openings, from the point to the outside.
    double (*way)[3];
} espyiLeak;

typedef struct espyiViewers
{
    espyHooks hooks;
    uint32_t* leaves; ///< Bits over leaves.
    uint32_t count;   ///< Of the bits that are set; 0: no point was usable, and nothing is known.
    espyiLeak leak;
} espyiViewers;

/// Cost: a flood of all of space. Errors: OutOfMemory, Cancelled. Thread: any.
espyResult espyiViewers_Find(const espyiFreeSpace* space, const espyiViewersDef* def, espyiViewers* out);
void espyiViewers_Free(espyiViewers* viewers);

/// Sets a bit of `without` for every cell of the tree that holds no place for a camera. False: out of memory, or
/// stopped.
typedef struct espyiCellTree espyiCellTree;
bool espyiViewers_MarkCells(const espyiViewers* viewers, const espyiFreeSpace* space, const espyiCellTree* cells,
                            espyiPoll* poll, uint32_t* without);

#endif
