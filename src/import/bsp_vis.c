// SPDX-License-Identifier: MIT
// Descends a Quake 3 map's tree to leafs and reads the cluster bits of its visibility lump.
//
// Based on: binary space partitions as in Fuchs, Kedem and Naylor, "On Visible Surface Generation by A Priori Tree
// Structures", 1980.
#include "import/bsp_vis.h"

#include <string.h>

/// Segments waiting for the far side of a plane. A tree deeper than this answers "not open", which claims nothing.
#define ESPY_BSP_LINE_DEPTH 256

static float espyBspVis_Distance(const espyiBspPlane* plane, const float point[3])
{
    return plane->normal[0] * point[0] + plane->normal[1] * point[1] + plane->normal[2] * point[2] - plane->distance;
}

int32_t espyiBspVis_GetLeafAt(const espyiBsp* bsp, const float point[3])
{
    if (bsp->nodeCount == 0)
    {
        return -1;
    }
    int32_t index = 0;
    while (index >= 0)
    {
        const espyiBspNode* node = &bsp->nodes[index];
        index = node->children[espyBspVis_Distance(&bsp->planes[node->plane], point) >= 0.0f ? 0 : 1];
    }
    return -1 - index;
}

int32_t espyiBspVis_GetCluster(const espyiBsp* bsp, int32_t leaf)
{
    return leaf >= 0 && (uint32_t)leaf < bsp->leafCount ? bsp->leafs[leaf].cluster : -1;
}

bool espyiBspVis_CanSee(const espyiBsp* bsp, int32_t fromCluster, int32_t toCluster)
{
    if (fromCluster < 0 || toCluster < 0)
    {
        return false;
    }
    if (!bsp->visBytes)
    {
        return true;
    }
    if ((uint32_t)fromCluster >= bsp->clusterCount || (uint32_t)toCluster >= bsp->clusterCount)
    {
        return false;
    }
    const uint8_t* row = bsp->visBytes + (size_t)fromCluster * bsp->clusterStride;
    return (row[toCluster >> 3] >> (toCluster & 7)) & 1;
}

typedef struct espyBspSegment
{
    int32_t node;
    float from[3], to[3];
} espyBspSegment;

bool espyiBspVis_IsLineOpen(const espyiBsp* bsp, const float from[3], const float to[3])
{
    if (bsp->nodeCount == 0)
    {
        return false;
    }
    espyBspSegment stack[ESPY_BSP_LINE_DEPTH];
    uint32_t top = 1;
    stack[0].node = 0;
    memcpy(stack[0].from, from, sizeof stack[0].from);
    memcpy(stack[0].to, to, sizeof stack[0].to);
    while (top > 0)
    {
        espyBspSegment s = stack[--top];
        while (s.node >= 0)
        {
            const espyiBspNode* node = &bsp->nodes[s.node];
            float a = espyBspVis_Distance(&bsp->planes[node->plane], s.from);
            float b = espyBspVis_Distance(&bsp->planes[node->plane], s.to);
            if ((a >= 0.0f) == (b >= 0.0f))
            {
                s.node = node->children[a >= 0.0f ? 0 : 1];
                continue;
            }
            if (top == ESPY_BSP_LINE_DEPTH)
            {
                return false;
            }
            float t = a / (a - b);
            float cut[3];
            for (int axis = 0; axis < 3; ++axis)
            {
                cut[axis] = s.from[axis] + t * (s.to[axis] - s.from[axis]);
            }
            espyBspSegment* far = &stack[top++];
            far->node = node->children[a >= 0.0f ? 1 : 0];
            memcpy(far->from, cut, sizeof cut);
            memcpy(far->to, s.to, sizeof cut);
            s.node = node->children[a >= 0.0f ? 0 : 1];
            memcpy(s.to, cut, sizeof cut);
        }
        if (bsp->leafs[-1 - s.node].cluster < 0)
        {
            return false;
        }
    }
    return true;
}
