// SPDX-License-Identifier: MIT
// A Quake 3 map's own answer to "what can be seen from here": leafs, clusters and the visibility lump.
//
// Points are Quake's own coordinates. Everything here is const on a map that espyiBsp_Read accepted. Thread: any.
#ifndef ESPYI_BSP_VIS_H
#define ESPYI_BSP_VIS_H

#include "import/bsp_read.h"

/// The leaf that contains a point (on a plane: the front side); -1 where the map has no tree.
int32_t espyiBspVis_GetLeafAt(const espyiBsp* bsp, const float point[3]);
/// The visibility cluster of a leaf; -1 where it is solid or the leaf is -1.
int32_t espyiBspVis_GetCluster(const espyiBsp* bsp, int32_t leaf);
/// What the lump says about two clusters. A map without a lump sees everything; -1 sees nothing.
bool espyiBspVis_CanSee(const espyiBsp* bsp, int32_t fromCluster, int32_t toCluster);
/// Quake units, 3 mm: lines nearer to a solid leaf are not called open, so that none slips along a seam of two leafs.
#define ESPYI_BSP_LINE_CLEARANCE 0.1f

/// True where the segment stays in leafs of clusters and clear of every solid leaf.
/// Detail brushes do not split the tree's clusters, so an open line may still pass through drawn detail.
bool espyiBspVis_IsLineOpen(const espyiBsp* bsp, const float from[3], const float to[3]);

/// espy's metres to Quake's units, and back.
static inline void espyiBsp_ToQuake(const float metres[3], float quake[3])
{
    quake[0] = metres[0] * 32.0f;
    quake[1] = -metres[2] * 32.0f;
    quake[2] = metres[1] * 32.0f;
}

static inline void espyiBsp_FromQuake(const float quake[3], float metres[3])
{
    metres[0] = quake[0] * (1.0f / 32.0f);
    metres[1] = quake[2] * (1.0f / 32.0f);
    metres[2] = -quake[1] * (1.0f / 32.0f);
}

#endif
