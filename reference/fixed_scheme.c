// SPDX-License-Identifier: MIT
#include "reference/fixed_scheme.h"

#include <math.h>
#include <stdlib.h>

// Rays that pass an edge or end at a surface closer than this count as blocked, so that a ray the float code may well
// decide otherwise is not held against it.
#define ESPY_FIXED_DOUBT 1e-5
#define ESPY_FIXED_GAP 1e-4

typedef struct espyFixedPoint
{
    double x, y, z;
} espyFixedPoint;

typedef struct espyFixedHit
{
    double t;
    bool backFace;
} espyFixedHit;

static espyFixedPoint espyFixed_From(espyVec3 p)
{
    return (espyFixedPoint){(double)p.x, (double)p.y, (double)p.z};
}

static espyFixedPoint espyFixed_Sub(espyFixedPoint a, espyFixedPoint b)
{
    return (espyFixedPoint){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double espyFixed_Dot(espyFixedPoint a, espyFixedPoint b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyFixedPoint espyFixed_Cross(espyFixedPoint a, espyFixedPoint b)
{
    return (espyFixedPoint){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Moller and Trumbore, with a triangle that is `doubt` larger on each side.
static bool espyFixed_Hit(const espyTriangles* mesh, uint32_t triangle, espyFixedPoint o, espyFixedPoint d,
                          double doubt, espyFixedHit* out)
{
    espyFixedPoint a = espyFixed_From(mesh->positions[mesh->indices[3u * triangle]]);
    espyFixedPoint e = espyFixed_Sub(espyFixed_From(mesh->positions[mesh->indices[3u * triangle + 1u]]), a);
    espyFixedPoint f = espyFixed_Sub(espyFixed_From(mesh->positions[mesh->indices[3u * triangle + 2u]]), a);
    espyFixedPoint q = espyFixed_Cross(d, f);
    double det = espyFixed_Dot(e, q);
    if (!(fabs(det) > 0.0))
    {
        return false;
    }
    espyFixedPoint s = espyFixed_Sub(o, a);
    espyFixedPoint r = espyFixed_Cross(s, e);
    double u = espyFixed_Dot(s, q) / det, v = espyFixed_Dot(d, r) / det;
    out->t = espyFixed_Dot(f, r) / det;
    out->backFace = det < 0.0;
    return u >= -doubt && v >= -doubt && u + v <= 1.0 + doubt;
}

static bool espyFixed_Blocked(const espyBakeInput* input, const espyBakeOccludee* target, espyFixedPoint from,
                              espyFixedPoint to)
{
    espyFixedPoint d = espyFixed_Sub(to, from);
    double end = 1.0 - (ESPY_FIXED_GAP - ESPY_FIXED_DOUBT) / sqrt(espyFixed_Dot(d, d) + 1e-30);
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        if (i >= target->firstOwn && i - target->firstOwn < target->ownCount)
        {
            continue;
        }
        for (uint32_t k = 0; k < input->occluders[i].mesh.triangleCount; ++k)
        {
            espyFixedHit hit;
            if (espyFixed_Hit(&input->occluders[i].mesh, k, from, d, ESPY_FIXED_DOUBT, &hit) && hit.t > -1e-9 &&
                hit.t < end)
            {
                return true;
            }
        }
    }
    return false;
}

// Solid: something is hit in each direction, and from behind. Faces that share a place count as the back one.
static bool espyFixed_Solid(const espyBakeInput* input, espyFixedPoint from)
{
    for (int i = 0; i < 26; ++i)
    {
        int code = i < 13 ? i : i + 1; // Without the middle of 3 * 3 * 3.
        espyFixedPoint d = {code % 3 - 1 + 0.011, code / 3 % 3 - 1 + 0.007, code / 9 - 1 + 0.013};
        double nearest = INFINITY;
        bool back = false;
        for (uint32_t o = 0; o < input->occluderCount; ++o)
        {
            for (uint32_t k = 0; k < input->occluders[o].mesh.triangleCount; ++k)
            {
                espyFixedHit hit;
                if (!espyFixed_Hit(&input->occluders[o].mesh, k, from, d, 0.0, &hit) || hit.t <= 0.0)
                {
                    continue;
                }
                if (hit.t < nearest - 1e-6 || (hit.backFace && hit.t < nearest + 1e-6))
                {
                    nearest = hit.t;
                    back = hit.backFace;
                }
            }
        }
        if (!back)
        {
            return false;
        }
    }
    return true;
}

static uint32_t espyFixed_Samples(espyBox cell, espyBakeQuality quality, espyFixedPoint out[17])
{
    espyFixedPoint lo = espyFixed_From(cell.min), hi = espyFixed_From(cell.max);
    espyFixedPoint middle = {(lo.x + hi.x) / 2, (lo.y + hi.y) / 2, (lo.z + hi.z) / 2};
    uint32_t count = 0;
    if (quality != espyBakeQuality_Low)
    {
        out[count++] = middle;
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        uint32_t ones = (i & 1u) + (i >> 1 & 1u) + (i >> 2);
        if (quality == espyBakeQuality_Low && ones % 2 != 0)
        {
            continue;
        }
        out[count++] = (espyFixedPoint){middle.x + (i & 1u ? 0.49 : -0.49) * (hi.x - lo.x),
                                        middle.y + (i & 2u ? 0.49 : -0.49) * (hi.y - lo.y),
                                        middle.z + (i & 4u ? 0.49 : -0.49) * (hi.z - lo.z)};
    }
    // The eight low-discrepancy points of High.
    for (uint32_t i = 1; i <= 8 && quality == espyBakeQuality_High; ++i)
    {
        double x = i * 0.8191725, y = i * 0.6710436, z = i * 0.5497004;
        out[count++] = (espyFixedPoint){lo.x + (x - floor(x)) * (hi.x - lo.x), lo.y + (y - floor(y)) * (hi.y - lo.y),
                                        lo.z + (z - floor(z)) * (hi.z - lo.z)};
    }
    return count;
}

static uint32_t espyFixed_Targets(const espyBakeOccludee* o, double cellSize, espyBakeQuality quality,
                                  espyFixedPoint* out)
{
    espyFixedPoint lo = espyFixed_From(o->box.min), hi = espyFixed_From(o->box.max);
    const double low[3] = {lo.x, lo.y, lo.z}, size[3] = {hi.x - lo.x, hi.y - lo.y, hi.z - lo.z};
    uint32_t count = 0;
    // Corners, face centres and the centre are the points with 0, 1/2 or 1 on each axis that have 0, 2 or 3 halves.
    for (uint32_t i = 0; i < 27; ++i)
    {
        double share[3] = {(i % 3) / 2.0, (i / 3 % 3) / 2.0, (i / 9) / 2.0};
        int halves = (i % 3 == 1) + (i / 3 % 3 == 1) + (i / 9 == 1);
        if (halves == 1 || (halves == 2 && quality == espyBakeQuality_Low))
        {
            continue;
        }
        out[count++] =
            (espyFixedPoint){low[0] + share[0] * size[0], low[1] + share[1] * size[1], low[2] + share[2] * size[2]};
    }
    uint32_t wanted = quality == espyBakeQuality_Low ? 0 : quality == espyBakeQuality_Medium ? 8 : 24;
    wanted = o->mesh.vertexCount < wanted ? o->mesh.vertexCount : wanted;
    for (uint32_t i = 0; i < wanted; ++i)
    {
        out[count++] = espyFixed_From(o->mesh.positions[(uint64_t)i * o->mesh.vertexCount / wanted]);
    }
    if (fmax(size[0], fmax(size[1], size[2])) <= 2.0 * cellSize)
    {
        return count;
    }
    double most = quality == espyBakeQuality_High ? 8.0 : 6.0;
    for (uint32_t face = 0; face < 6; ++face)
    {
        uint32_t axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
        double nu = fmin(most, fmax(1.0, ceil(size[u] / cellSize))),
               nv = fmin(most, fmax(1.0, ceil(size[v] / cellSize)));
        for (double i = 0.5; i < nu; i += 1.0)
        {
            for (double k = 0.5; k < nv; k += 1.0)
            {
                double p[3];
                p[axis] = low[axis] + (face % 2) * size[axis];
                p[u] = low[u] + i / nu * size[u];
                p[v] = low[v] + k / nv * size[v];
                out[count++] = (espyFixedPoint){p[0], p[1], p[2]};
            }
        }
    }
    return count;
}

bool espyFixedScheme_Run(const espyBakeInput* input, const espyPvs* pvs, espyBakeQuality quality, espyFixedScheme* out)
{
    *out = (espyFixedScheme){.cellCount = pvs->cellCount, .occludeeCount = input->occludeeCount};
    out->visible = calloc((size_t)pvs->cellCount * input->occludeeCount + 1u, 1);
    out->openSamples = calloc((size_t)pvs->cellCount + 1u, 1);
    if (!out->visible || !out->openSamples)
    {
        espyFixedScheme_Free(out);
        return false;
    }
    for (uint32_t cell = 0; cell < pvs->cellCount; ++cell)
    {
        espyFixedPoint samples[17], open[17], targets[15 + 24 + 6 * 8 * 8];
        uint32_t sampleCount = espyFixed_Samples(espyPvs_GetCellBox(pvs, (int32_t)cell), quality, samples);
        for (uint32_t i = 0; i < sampleCount; ++i)
        {
            if (!espyFixed_Solid(input, samples[i]))
            {
                open[out->openSamples[cell]++] = samples[i];
            }
        }
        for (uint32_t o = 0; o < input->occludeeCount; ++o)
        {
            uint32_t targetCount = espyFixed_Targets(&input->occludees[o], (double)pvs->cellSize, quality, targets);
            uint8_t* visible = &out->visible[(size_t)cell * input->occludeeCount + o];
            for (uint32_t i = 0; i < out->openSamples[cell] && !*visible; ++i)
            {
                for (uint32_t k = 0; k < targetCount && !*visible; ++k)
                {
                    ++out->rays;
                    *visible = !espyFixed_Blocked(input, &input->occludees[o], open[i], targets[k]);
                }
            }
        }
    }
    return true;
}

void espyFixedScheme_Free(espyFixedScheme* scheme)
{
    free(scheme->visible);
    free(scheme->openSamples);
    *scheme = (espyFixedScheme){0};
}
