// SPDX-License-Identifier: MIT
// Segments against every triangle of a soup, one after the other.
//
// Based on: S. Woop, C. Benthin, I. Wald, "Watertight Ray/Triangle Intersection", JCGT 2(1), 2013 (float);
//           T. Moeller, B. Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", JGT 2(1), 1997 (double).
#include "reference/ray_reference.h"

#include <math.h>

static const float* espyReference_Corner(const espyiSoup* soup, uint32_t triangle, int corner)
{
    return &soup->triangles.positions[soup->triangles.indices[3 * (size_t)triangle + (size_t)corner]].x;
}

static bool espyReference_IsUsable(const espyiSoup* soup, uint32_t triangle)
{
    for (int corner = 0; corner < 3; ++corner)
    {
        if (soup->triangles.indices[3 * (size_t)triangle + (size_t)corner] >= soup->triangles.vertexCount)
        {
            return false;
        }
    }
    for (int corner = 0; corner < 3; ++corner)
    {
        const float* p = espyReference_Corner(soup, triangle, corner);
        const float* q = espyReference_Corner(soup, triangle, (corner + 1) % 3);
        for (int axis = 0; axis < 3; ++axis)
        {
            if (!isfinite(p[axis]) || fabsf(p[axis]) > 0x1p36f)
            {
                return false;
            }
        }
        if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2])
        {
            return false;
        }
    }
    return true;
}

static bool espyReference_IsSkipped(const espyiSoup* soup, uint32_t triangle, espyiSkip skip)
{
    uint64_t object = soup->objects ? soup->objects[triangle] : 0;
    return object >= skip.first && object < (uint64_t)skip.first + skip.count;
}

/// Enters and leaves of the segment through a box that is grown by `grow`.
static void espyReference_Clip(const float low[3], const float high[3], const float o[3], const float d[3], float grow,
                               float* enter, float* leave)
{
    float longest = fmaxf(fabsf(d[0]), fmaxf(fabsf(d[1]), fabsf(d[2])));
    *enter = -INFINITY;
    *leave = INFINITY;
    for (int axis = 0; axis < 3; ++axis)
    {
        float size = fmaxf(fabsf(d[axis]), longest * 0x1p-23f);
        float a, b;
        if (d[axis] < 0.0f)
        {
            a = (high[axis] - (o[axis] - grow)) * (1.0f / -size);
            b = (low[axis] - (o[axis] + grow)) * (1.0f / -size);
        }
        else
        {
            a = (low[axis] - (o[axis] + grow)) * (1.0f / size);
            b = (high[axis] - (o[axis] - grow)) * (1.0f / size);
        }
        *enter = fmaxf(*enter, a);
        *leave = fminf(*leave, b);
    }
}

static bool espyReference_TestTriangle(const espyiSoup* soup, uint32_t triangle, const espyiSegment* segment,
                                       float grow, float* tOut, bool* backFace)
{
    const float o[3] = {segment->origin.x, segment->origin.y, segment->origin.z};
    const float d[3] = {segment->direction.x, segment->direction.y, segment->direction.z};
    int z = 0;
    z = fabsf(d[1]) > fabsf(d[z]) ? 1 : z;
    z = fabsf(d[2]) > fabsf(d[z]) ? 2 : z;
    int x = (z + 1) % 3, y = (z + 2) % 3;
    if (d[z] < 0.0f)
    {
        int swap = x;
        x = y;
        y = swap;
    }
    float inverse = 1.0f / d[z];
    float image[3][2];
    for (int corner = 0; corner < 3; ++corner)
    {
        const float* p = espyReference_Corner(soup, triangle, corner);
        image[corner][0] = (p[x] - o[x]) - (d[x] * inverse) * (p[z] - o[z]);
        image[corner][1] = (p[y] - o[y]) - (d[y] * inverse) * (p[z] - o[z]);
    }
    int signs[3];
    for (int corner = 0; corner < 3; ++corner)
    {
        const float *a = image[corner], *b = image[(corner + 1) % 3];
        double cross = (double)a[0] * (double)b[1] - (double)a[1] * (double)b[0];
        signs[corner] = cross > 0.0 ? 1 : cross < 0.0 ? -1 : 0;
    }
    bool left = signs[0] > 0 || signs[1] > 0 || signs[2] > 0;
    bool right = signs[0] < 0 || signs[1] < 0 || signs[2] < 0;
    if (left == right)
    {
        return false;
    }
    const float* p0 = espyReference_Corner(soup, triangle, 0);
    const float* p1 = espyReference_Corner(soup, triangle, 1);
    const float* p2 = espyReference_Corner(soup, triangle, 2);
    float e[3], f[3], low[3], high[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        e[axis] = p1[axis] - p0[axis];
        f[axis] = p2[axis] - p0[axis];
        low[axis] = fminf(p0[axis], fminf(p1[axis], p2[axis]));
        high[axis] = fmaxf(p0[axis], fmaxf(p1[axis], p2[axis]));
    }
    float n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
    float distance = (p0[0] - o[0]) * n[0] + (p0[1] - o[1]) * n[1] + (p0[2] - o[2]) * n[2];
    float speed = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];
    float enter, leave;
    espyReference_Clip(low, high, o, d, grow, &enter, &leave);
    // fmaxf and fminf drop a NaN, so 0 / 0 becomes `enter`.
    float t = fminf(fmaxf(distance / speed, enter), leave);
    *tOut = t;
    *backFace = left;
    return enter <= leave && t > segment->tMin && t < segment->tMax;
}

bool espyRayReference_Closest(const espyiSoup* soup, const espyiSegment* segment, espyiSkip skip, espyiHit* out)
{
    const float o[3] = {segment->origin.x, segment->origin.y, segment->origin.z};
    const float d[3] = {segment->direction.x, segment->direction.y, segment->direction.z};
    float longest = 0.0f;
    for (int axis = 0; axis < 3; ++axis)
    {
        if (!isfinite(o[axis]) || !isfinite(d[axis]) || fabsf(o[axis]) > 0x1p36f || fabsf(d[axis]) > 0x1p60f)
        {
            return false;
        }
        longest = fmaxf(longest, fabsf(d[axis]));
    }
    if (longest < 0x1p-60f || isnan(segment->tMin) || isnan(segment->tMax))
    {
        return false;
    }
    float reach = 0.0f, away = fmaxf(fabsf(o[0]), fmaxf(fabsf(o[1]), fabsf(o[2])));
    for (uint32_t i = 0; i < soup->triangles.triangleCount; ++i)
    {
        if (espyReference_IsUsable(soup, i))
        {
            for (int k = 0; k < 9; ++k)
            {
                reach = fmaxf(reach, fabsf(espyReference_Corner(soup, i, k / 3)[k % 3] - o[k % 3]));
            }
        }
    }
    float grow = reach * 0x1p-19f + away * 0x1p-22f;
    bool found = false;
    for (uint32_t i = 0; i < soup->triangles.triangleCount; ++i)
    {
        float t;
        bool backFace;
        if (espyReference_IsUsable(soup, i) && !espyReference_IsSkipped(soup, i, skip) &&
            espyReference_TestTriangle(soup, i, segment, grow, &t, &backFace) && (!found || t < out->t))
        {
            *out = (espyiHit){t, i, soup->objects ? soup->objects[i] : 0, backFace};
            found = true;
        }
    }
    return found;
}

espyRayReferenceDouble espyRayReference_ClosestInDouble(const espyiSoup* soup, const espyiSegment* segment,
                                                        espyiSkip skip)
{
    // Distances from a decision below this part of the scene's reach are left to rounding.
    const double margin = 1e-5;
    espyRayReferenceDouble out = {false, (double)segment->tMax, UINT32_MAX, false, false};
    const double o[3] = {segment->origin.x, segment->origin.y, segment->origin.z};
    const double d[3] = {segment->direction.x, segment->direction.y, segment->direction.z};
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    for (uint32_t i = 0; i < soup->triangles.triangleCount; ++i)
    {
        if (!espyReference_IsUsable(soup, i) || espyReference_IsSkipped(soup, i, skip))
        {
            continue;
        }
        double p[3], e[3], f[3];
        for (int axis = 0; axis < 3; ++axis)
        {
            double corner = (double)espyReference_Corner(soup, i, 0)[axis];
            e[axis] = (double)espyReference_Corner(soup, i, 1)[axis] - corner;
            f[axis] = (double)espyReference_Corner(soup, i, 2)[axis] - corner;
            p[axis] = o[axis] - corner;
        }
        double h[3] = {d[1] * f[2] - d[2] * f[1], d[2] * f[0] - d[0] * f[2], d[0] * f[1] - d[1] * f[0]};
        double q[3] = {p[1] * e[2] - p[2] * e[1], p[2] * e[0] - p[0] * e[2], p[0] * e[1] - p[1] * e[0]};
        double determinant = e[0] * h[0] + e[1] * h[1] + e[2] * h[2];
        double u = (p[0] * h[0] + p[1] * h[1] + p[2] * h[2]) / determinant;
        double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / determinant;
        double t = (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / determinant;
        double n[3] = {e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]};
        double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        double reach = 0.0;
        for (int k = 0; k < 9; ++k)
        {
            reach = fmax(reach, fabs((double)espyReference_Corner(soup, i, k / 3)[k % 3] - o[k % 3]));
        }
        double edge =
            fmax(fmax(fabs(e[0]), fmax(fabs(e[1]), fabs(e[2]))), fmax(fabs(f[0]), fmax(fabs(f[1]), fabs(f[2]))));
        // How far barycentrics move when the segment moves sideways by the margin: by its part of the smallest height,
        // and more where the triangle is seen edge-on.
        double slant = fabs(determinant) / (area * length);
        double blur = margin * reach * edge / (area * slant);
        double blurT = margin * reach / (length * slant);
        if (!(blur < 1.0))
        {
            // Too thin or too steep to judge; doubtful where the segment comes near its bounding sphere at all.
            double along = -(p[0] * d[0] + p[1] * d[1] + p[2] * d[2]) / (length * length);
            double away = 0.0;
            for (int axis = 0; axis < 3; ++axis)
            {
                double delta = p[axis] + along * d[axis];
                away += delta * delta;
            }
            out.doubtful = out.doubtful || sqrt(away) < 4.0 * edge + margin * reach;
            continue;
        }
        if (u < -blur || v < -blur || u + v > 1.0 + blur || t < (double)segment->tMin - blurT ||
            t > (double)segment->tMax + blurT)
        {
            continue;
        }
        if (u < blur || v < blur || u + v > 1.0 - blur || t < (double)segment->tMin + blurT ||
            t > (double)segment->tMax - blurT)
        {
            out.doubtful = true;
        }
        if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > (double)segment->tMin && t < out.t)
        {
            out.hit = true;
            out.t = t;
            out.triangle = i;
            out.backFace = determinant < 0.0;
        }
    }
    return out;
}
