// SPDX-License-Identifier: MIT
// What two boxes can see of each other in a tiny scene, by trying very many segments in double precision.
#include "visibility_reference.h"

#include <float.h>
#include <math.h>

static double espyReference_Dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void espyReference_Sub(const double a[3], const double b[3], double out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

static void espyReference_Cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

double espyReference_Random(uint64_t* state)
{
    // Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
    uint64_t z = (*state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return (double)(z >> 11) * (1.0 / 9007199254740992.0);
}

/// Signed volumes of the segment with the three edges, and the sides of its ends.
static bool espyReference_Meets(const double t[3][3], const double a[3], const double b[3])
{
    double e1[3], e2[3], n[3], d[3], pa[3], pb[3];
    espyReference_Sub(t[1], t[0], e1);
    espyReference_Sub(t[2], t[0], e2);
    espyReference_Cross(e1, e2, n);
    espyReference_Sub(a, t[0], pa);
    espyReference_Sub(b, t[0], pb);
    double sa = espyReference_Dot(n, pa), sb = espyReference_Dot(n, pb);
    if ((sa > 0 && sb > 0) || (sa < 0 && sb < 0) || sa == sb)
    {
        return false;
    }
    espyReference_Sub(b, a, d);
    double sign = 0;
    for (int i = 0; i < 3; ++i)
    {
        double u[3], v[3], c[3];
        espyReference_Sub(t[i], a, u);
        espyReference_Sub(t[(i + 1) % 3], a, v);
        espyReference_Cross(u, v, c);
        double volume = espyReference_Dot(d, c);
        if (volume * sign < 0)
        {
            return false;
        }
        sign = volume != 0 ? volume : sign;
    }
    return true;
}

bool espyReference_Blocked(espyReferenceScene* scene, const double a[3], const double b[3])
{
    if (scene->lastBlocker < scene->count && espyReference_Meets(scene->triangles[scene->lastBlocker], a, b))
    {
        return true;
    }
    for (uint32_t i = 0; i < scene->count; ++i)
    {
        if (espyReference_Meets(scene->triangles[i], a, b))
        {
            scene->lastBlocker = i;
            return true;
        }
    }
    return false;
}

static double espyReference_PointTriangle(const double p[3], const double t[3][3])
{
    double e1[3], e2[3], n[3], v[3];
    espyReference_Sub(t[1], t[0], e1);
    espyReference_Sub(t[2], t[0], e2);
    espyReference_Cross(e1, e2, n);
    double length = sqrt(espyReference_Dot(n, n));
    bool inside = length > 0;
    for (int i = 0; i < 3 && inside; ++i)
    {
        double e[3], c[3];
        espyReference_Sub(t[(i + 1) % 3], t[i], e);
        espyReference_Sub(p, t[i], v);
        espyReference_Cross(e, v, c);
        inside = espyReference_Dot(c, n) >= 0;
    }
    espyReference_Sub(p, t[0], v);
    // Outside the prism the nearest point is on an edge, which the segments' distances cover.
    return inside ? fabs(espyReference_Dot(v, n)) / length : DBL_MAX;
}

static double espyReference_SegmentSegment(const double p[3], const double q[3], const double r[3], const double s[3])
{
    double u[3], v[3], w[3];
    espyReference_Sub(q, p, u);
    espyReference_Sub(s, r, v);
    espyReference_Sub(p, r, w);
    double a = espyReference_Dot(u, u), b = espyReference_Dot(u, v), c = espyReference_Dot(v, v);
    double d = espyReference_Dot(u, w), e = espyReference_Dot(v, w), best = DBL_MAX;
    // Every candidate that can hold the least distance: the inner point and the four ends.
    double det = a * c - b * b;
    for (int i = 0; i < 5; ++i)
    {
        double x, y;
        if (i == 0)
        {
            x = det > 0 ? (b * e - c * d) / det : 0;
            x = fmin(fmax(x, 0), 1);
            y = c > 0 ? (b * x + e) / c : 0;
        }
        else if (i < 3)
        {
            x = i == 1 ? 0 : 1;
            y = c > 0 ? (b * x + e) / c : 0;
        }
        else
        {
            y = i == 3 ? 0 : 1;
            x = a > 0 ? (b * y - d) / a : 0;
        }
        x = fmin(fmax(x, 0), 1);
        y = fmin(fmax(y, 0), 1);
        double square = 0;
        for (int k = 0; k < 3; ++k)
        {
            double gap = w[k] + x * u[k] - y * v[k];
            square += gap * gap;
        }
        best = fmin(best, square);
    }
    return sqrt(best);
}

double espyReference_Clearance(const espyReferenceScene* scene, const double a[3], const double b[3])
{
    double best = DBL_MAX;
    for (uint32_t i = 0; i < scene->count; ++i)
    {
        const double(*t)[3] = scene->triangles[i];
        if (espyReference_Meets(t, a, b))
        {
            return 0;
        }
        best = fmin(best, fmin(espyReference_PointTriangle(a, t), espyReference_PointTriangle(b, t)));
        for (int k = 0; k < 3; ++k)
        {
            best = fmin(best, espyReference_SegmentSegment(a, b, t[k], t[(k + 1) % 3]));
        }
    }
    return best;
}

static void espyReference_InBox(const double box[2][3], uint64_t* seed, double out[3])
{
    for (int k = 0; k < 3; ++k)
    {
        out[k] = box[0][k] + (box[1][k] - box[0][k]) * espyReference_Random(seed);
    }
}

/// The part of the line p + t d inside the box; false where it misses.
static bool espyReference_LineBox(const double p[3], const double d[3], const double box[2][3], double* low,
                                  double* high)
{
    *low = -DBL_MAX;
    *high = DBL_MAX;
    for (int k = 0; k < 3; ++k)
    {
        if (d[k] == 0)
        {
            if (p[k] < box[0][k] || p[k] > box[1][k])
            {
                return false;
            }
            continue;
        }
        double t0 = (box[0][k] - p[k]) / d[k], t1 = (box[1][k] - p[k]) / d[k];
        *low = fmax(*low, fmin(t0, t1));
        *high = fmin(*high, fmax(t0, t1));
    }
    return *low <= *high;
}

uint64_t espyReference_FindFree(espyReferenceScene* scene, const double a[2][3], const double b[2][3], uint64_t tries,
                                double clearance, double nudge, uint64_t* seed, double from[3], double to[3])
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < tries; ++i)
    {
        double p[3], q[3];
        espyReference_InBox(a, seed, p);
        espyReference_InBox(b, seed, q);
        if (i % 2 && scene->count)
        {
            uint32_t index = (uint32_t)(espyReference_Random(seed) * scene->count);
            const double(*t)[3] = scene->triangles[index < scene->count ? index : 0];
            int edge = (int)(espyReference_Random(seed) * 3) % 3;
            double along = espyReference_Random(seed), d[3], low, high;
            for (int k = 0; k < 3; ++k)
            {
                double x = t[edge][k] + along * (t[(edge + 1) % 3][k] - t[edge][k]);
                d[k] = x + nudge * (2 * espyReference_Random(seed) - 1) - p[k];
            }
            if (!espyReference_LineBox(p, d, b, &low, &high) || high < 0)
            {
                continue;
            }
            low = fmax(low, 0);
            double s = low + (high - low) * espyReference_Random(seed);
            for (int k = 0; k < 3; ++k)
            {
                q[k] = fmin(fmax(p[k] + s * d[k], b[0][k]), b[1][k]);
            }
        }
        if (!espyReference_Blocked(scene, p, q) && espyReference_Clearance(scene, p, q) > clearance)
        {
            if (found++ == 0)
            {
                for (int k = 0; k < 3; ++k)
                {
                    from[k] = p[k];
                    to[k] = q[k];
                }
            }
        }
    }
    return found;
}
