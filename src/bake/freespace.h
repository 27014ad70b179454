// SPDX-License-Identifier: MIT
// Free space as a BSP of convex leaves joined by portals: where could a sight line get through?
//
// Auto-partition BSP over occluder polygons; portals are the node windows minus every coplanar occluder polygon (2-D
// subtraction), so overlaps, abutting faces, T-junctions and duplicates need no repair. Any subset of the occluders is
// sound: what is left out only makes more space free. docs/notes/proof.md holds the statements and the tolerances.
#ifndef ESPYI_FREESPACE_H
#define ESPYI_FREESPACE_H

#include "core/poll.h"
#include "geometry/bvh.h"

/// Double-precision box, closed. The prover knows boxes only.
typedef struct espyiBoxD
{
    double min[3], max[3];
} espyiBoxD;

typedef struct espyiFreeSpaceDef
{
    double smallestHole;  ///< Metres, at most 1. Polygons may be moved onto planes by a quarter of it (at least 2 float
                          ///< steps).
    uint32_t maxPolygons; ///< Biggest first up to this many; 0: 32,768, which builds within seconds.
    uint32_t maxNodes;    ///< Safety stop of the splitting; 0: 262,144. Past it, pieces are dropped, soundly.
    const espyHooks* hooks;
    espyiPoll* poll; ///< Stopped: the build ends with Cancelled. May be null.
} espyiFreeSpaceDef;

typedef struct espyiFreeSpaceStats
{
    uint32_t polygons;        ///< After joining flat neighbours.
    uint32_t droppedPolygons; ///< By the budgets; pieces where the splitting was stopped.
    uint32_t nodes, leaves, portals;
    double snap;   ///< Largest distance by which a polygon was moved onto a plane.
    double margin; ///< Growth of targets that makes the above safe (>= 1e-4).
    double seconds;
} espyiFreeSpaceStats;

typedef struct espyiFreeSpace espyiFreeSpace;

/// `world` must enclose every cell and target with slack; its faces act as walls. Triangles that are degenerate or not
/// finite are left out. Same result everywhere; one thread.
espyResult espyiFreeSpace_Build(const espyiSoup* occluders, espyiBoxD world, const espyiFreeSpaceDef* def,
                                espyiFreeSpace** out);
void espyiFreeSpace_Destroy(espyiFreeSpace* space);
/// The leaf that holds a point; outside the world, the nearest in the tree.
uint32_t espyiFreeSpace_FindLeaf(const espyiFreeSpace* space, const double p[3]);
void espyiFreeSpace_GetStats(const espyiFreeSpace* space, espyiFreeSpaceStats* out);

#endif
