// SPDX-License-Identifier: MIT
// The convex hull of two boxes as at most 18 planes, and whether a portal reaches into it.
//
// The hull of two axis-parallel boxes has the 6 planes of their common box and, for each pair of axes and each of the
// four sign quadrants, at most one plane through the two boxes' extreme edges there: needed where neither corner
// dominates the other. It is the intersection of the three 2-D hulls of the boxes' images, drawn out along the third
// axis; docs/notes/proof.md shows why nothing is missing.
#include "bake/proof_internal.h"

#include <math.h>

#define ESPYI_CLIP_POINTS 56u

void espyiShaft_Set(espyiShaft* shaft, const espyiBoxD* a, const espyiBoxD* b, double shrink)
{
    shaft->shrink = shrink;
    shaft->bridgeCount = 0;
    for (int axis = 0; axis < 3; ++axis)
    {
        shaft->min[axis] = fmin(a->min[axis], b->min[axis]) + shrink;
        shaft->max[axis] = fmax(a->max[axis], b->max[axis]) - shrink;
        shaft->centers[0][axis] = 0.5 * (a->min[axis] + a->max[axis]);
        shaft->centers[1][axis] = 0.5 * (b->min[axis] + b->max[axis]);
    }
    for (uint32_t pair = 0; pair < 3; ++pair)
    {
        uint32_t i = pair == 2 ? 1 : 0, j = pair == 0 ? 1 : 2;
        for (uint32_t quadrant = 0; quadrant < 4; ++quadrant)
        {
            double si = quadrant & 1 ? 1.0 : -1.0, sj = quadrant & 2 ? 1.0 : -1.0;
            double ai = si * (quadrant & 1 ? a->max[i] : a->min[i]);
            double aj = sj * (quadrant & 2 ? a->max[j] : a->min[j]);
            double bi = si * (quadrant & 1 ? b->max[i] : b->min[i]);
            double bj = sj * (quadrant & 2 ? b->max[j] : b->min[j]);
            double di = ai - bi, dj = bj - aj;
            if (!((di > 0 && dj > 0) || (di < 0 && dj < 0)))
            {
                continue;
            }
            // Along (bi - ai, bj - aj); the normal with both signs positive points out of the quadrant.
            double length = sqrt(di * di + dj * dj);
            double ni = fabs(dj) / length, nj = fabs(di) / length;
            espyiBridge* bridge = &shaft->bridges[shaft->bridgeCount++];
            bridge->axis[0] = i;
            bridge->axis[1] = j;
            bridge->positive[0] = si > 0;
            bridge->positive[1] = sj > 0;
            bridge->n[0] = si * ni;
            bridge->n[1] = sj * nj;
            bridge->w = fmax(ni * ai + nj * aj, ni * bi + nj * bj);
        }
    }
}

/// Keeps what has sign * x[axis] <= limit.
static uint32_t espyClip_Axis(double (*p)[3], uint32_t count, const double n[2], const uint32_t axis[2], double limit)
{
    double out[ESPYI_CLIP_POINTS][3];
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        const double* a = p[i];
        const double* b = p[i + 1 == count ? 0 : i + 1];
        double fa = n[0] * a[axis[0]] + n[1] * a[axis[1]] - limit;
        double fb = n[0] * b[axis[0]] + n[1] * b[axis[1]] - limit;
        if (fa <= 0 && made < ESPYI_CLIP_POINTS)
        {
            out[made][0] = a[0];
            out[made][1] = a[1];
            out[made++][2] = a[2];
        }
        if (((fa < 0 && fb > 0) || (fa > 0 && fb < 0)) && made < ESPYI_CLIP_POINTS)
        {
            double t = fa / (fa - fb);
            for (int k = 0; k < 3; ++k)
            {
                out[made][k] = a[k] + t * (b[k] - a[k]);
            }
            made += 1;
        }
    }
    for (uint32_t i = 0; i < made; ++i)
    {
        p[i][0] = out[i][0];
        p[i][1] = out[i][1];
        p[i][2] = out[i][2];
    }
    return made;
}

uint32_t espyiShaft_Clip(const espyiShaft* shaft, double (*points)[3], uint32_t count)
{
    for (uint32_t axis = 0; axis < 3 && count; ++axis)
    {
        const uint32_t axes[2] = {axis, axis};
        const double low[2] = {-1.0, 0.0}, high[2] = {1.0, 0.0};
        count = espyClip_Axis(points, count, low, axes, -shaft->min[axis]);
        count = espyClip_Axis(points, count, high, axes, shaft->max[axis]);
    }
    for (uint32_t i = 0; i < shaft->bridgeCount && count; ++i)
    {
        const espyiBridge* bridge = &shaft->bridges[i];
        count = espyClip_Axis(points, count, bridge->n, bridge->axis, bridge->w - shaft->shrink);
    }
    return count;
}

/// One plane against the points: 0 all are inside, 1 some, 2 none.
static uint32_t espyShaft_Side(const double (*p)[3], uint32_t count, const double n[2], const uint32_t axis[2],
                               double limit)
{
    uint32_t inside = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        inside += n[0] * p[i][axis[0]] + n[1] * p[i][axis[1]] < limit;
    }
    return inside == count ? 0u : (inside ? 1u : 2u);
}

bool espyiShaft_Meets(const espyiShaft* shaft, const espyiPortalRef* ref, const double (*points)[3])
{
    // Bounds as [0] low and [1] high, so that a sign picks one.
    double bounds[2][3];
    uint32_t crossedAxes = 0, crossedBridges = 0;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        bounds[0][axis] = (double)ref->min[axis];
        bounds[1][axis] = (double)ref->max[axis];
        if (bounds[1][axis] <= shaft->min[axis] || bounds[0][axis] >= shaft->max[axis])
        {
            return false;
        }
        crossedAxes |= (bounds[0][axis] < shaft->min[axis] ? 1u : 0u) << (2 * axis);
        crossedAxes |= (bounds[1][axis] > shaft->max[axis] ? 2u : 0u) << (2 * axis);
    }
    for (uint32_t i = 0; i < shaft->bridgeCount; ++i)
    {
        const espyiBridge* b = &shaft->bridges[i];
        double limit = b->w - shaft->shrink;
        // The corner of the portal's box that is deepest inside, and the one farthest out.
        double deep =
            b->n[0] * bounds[1 - b->positive[0]][b->axis[0]] + b->n[1] * bounds[1 - b->positive[1]][b->axis[1]];
        if (deep >= limit)
        {
            return false;
        }
        double far = b->n[0] * bounds[b->positive[0]][b->axis[0]] + b->n[1] * bounds[b->positive[1]][b->axis[1]];
        crossedBridges |= (far > limit ? 1u : 0u) << i;
    }
    uint32_t crossed = espyiPopCount32(crossedAxes);
    const double(*p)[3] = points + ref->first;
    for (uint32_t i = 0; i < shaft->bridgeCount; ++i)
    {
        if (crossedBridges >> i & 1u)
        {
            const espyiBridge* b = &shaft->bridges[i];
            uint32_t side = espyShaft_Side(p, ref->count, b->n, b->axis, b->w - shaft->shrink);
            if (side == 2)
            {
                return false;
            }
            crossed += side;
        }
    }
    // A convex polygon cut by one plane only, with a point inside that plane, has a point inside all. (On the axes the
    // portal's box is tight but for a rounding, so the tests above found such a point.)
    if (crossed <= 1)
    {
        return true;
    }
    double clipped[ESPYI_CLIP_POINTS][3];
    for (uint32_t i = 0; i < ref->count; ++i)
    {
        clipped[i][0] = p[i][0];
        clipped[i][1] = p[i][1];
        clipped[i][2] = p[i][2];
    }
    uint32_t count = ref->count;
    for (uint32_t bit = 0; bit < 6 && count; ++bit)
    {
        if (crossedAxes >> bit & 1u)
        {
            const uint32_t axes[2] = {bit / 2, bit / 2};
            const double n[2] = {bit & 1u ? 1.0 : -1.0, 0.0};
            count = espyClip_Axis(clipped, count, n, axes, bit & 1u ? shaft->max[bit / 2] : -shaft->min[bit / 2]);
        }
    }
    for (uint32_t i = 0; i < shaft->bridgeCount && count; ++i)
    {
        if (crossedBridges >> i & 1u)
        {
            const espyiBridge* b = &shaft->bridges[i];
            count = espyClip_Axis(clipped, count, b->n, b->axis, b->w - shaft->shrink);
        }
    }
    return count > 0;
}
