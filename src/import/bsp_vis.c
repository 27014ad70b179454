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

/// Cuts a segment to the part of it on one side of a plane, `sign` 1 for the front, and a little beyond.
static void espyBspVis_Clip(const espyBspSegment* s, float a, float b, float sign, espyBspSegment* out)
{
    // Signed distances into the kept side, counted from just outside it.
    float from = sign * a + ESPYI_BSP_LINE_CLEARANCE;
    float to = sign * b + ESPYI_BSP_LINE_CLEARANCE;
    *out = *s;
    if (from >= 0.0f && to >= 0.0f)
    {
        return;
    }
    float t = from / (from - to);
    float* moved = from < 0.0f ? out->from : out->to;
    for (int axis = 0; axis < 3; ++axis)
    {
        moved[axis] = s->from[axis] + t * (s->to[axis] - s->from[axis]);
    }
}

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
            if (a > ESPYI_BSP_LINE_CLEARANCE && b > ESPYI_BSP_LINE_CLEARANCE)
            {
                s.node = node->children[0];
                continue;
            }
            if (a < -ESPYI_BSP_LINE_CLEARANCE && b < -ESPYI_BSP_LINE_CLEARANCE)
            {
                s.node = node->children[1];
                continue;
            }
            if (top == ESPY_BSP_LINE_DEPTH)
            {
                return false;
            }
            espyBspSegment front;
            espyBspVis_Clip(&s, a, b, 1.0f, &front);
            espyBspVis_Clip(&s, a, b, -1.0f, &stack[top]);
            stack[top++].node = node->children[1];
            s = front;
            s.node = node->children[0];
        }
        if (bsp->leafs[-1 - s.node].cluster < 0)
        {
            return false;
        }
    }
    return true;
}
