// SPDX-License-Identifier: MIT
// The definition of "shows", spelled out.
#include "reference/audit_reference.h"

#include <math.h>

#define ESPY_DOUBT 2e-5
#define ESPY_FLUSH 1e-4

typedef struct espyReferenceHit
{
    bool hit, doubtful;
    double t;
    double height; ///< Of the ray's target point over the triangle's plane; filled by espyReference_Height.
} espyReferenceHit;

static void espyReference_Corner(const espyTriangles* mesh, uint32_t triangle, uint32_t corner, double out[3])
{
    espyVec3 p = mesh->positions[mesh->indices[3 * triangle + corner]];
    out[0] = (double)p.x;
    out[1] = (double)p.y;
    out[2] = (double)p.z;
}

/// Moeller and Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997, with a band of doubt around the rim.
static espyReferenceHit espyReference_Meet(const double a[3], const double b[3], const double c[3], const double o[3],
                                           const double d[3])
{
    espyReferenceHit answer = {0};
    double e1[3], e2[3], s[3], p[3], q[3];
    for (int i = 0; i < 3; ++i)
    {
        e1[i] = b[i] - a[i];
        e2[i] = c[i] - a[i];
        s[i] = o[i] - a[i];
    }
    p[0] = d[1] * e2[2] - d[2] * e2[1];
    p[1] = d[2] * e2[0] - d[0] * e2[2];
    p[2] = d[0] * e2[1] - d[1] * e2[0];
    double determinant = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2];
    if (fabs(determinant) < 1e-14)
    {
        return answer;
    }
    q[0] = s[1] * e1[2] - s[2] * e1[1];
    q[1] = s[2] * e1[0] - s[0] * e1[2];
    q[2] = s[0] * e1[1] - s[1] * e1[0];
    double u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / determinant;
    double v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / determinant;
    double rim = fmin(u, fmin(v, 1.0 - u - v));
    answer.t = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / determinant;
    answer.hit = rim >= 0.0 && answer.t > 0.0;
    // Barycentric coordinates times the smallest height of the triangle are at most metres from the rim.
    answer.doubtful = fabs(rim) < 1e-4 && answer.t > 0.0;
    return answer;
}

static double espyReference_PlaneDistance(const double a[3], const double b[3], const double c[3], const double p[3])
{
    double n[3] = {(b[1] - a[1]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[1] - a[1]),
                   (b[2] - a[2]) * (c[0] - a[0]) - (b[0] - a[0]) * (c[2] - a[2]),
                   (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    return length > 0.0 ? fabs(n[0] * (p[0] - a[0]) + n[1] * (p[1] - a[1]) + n[2] * (p[2] - a[2])) / length : 0.0;
}

/// Whether the surface point at `t` is hidden by an occluder that is not the slot's own.
static bool espyReference_IsBlocked(const espyBakeInput* input, const espyBakeOccludee* occludee, const double o[3],
                                    const double d[3], double t, bool* doubtful)
{
    double target[3] = {o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]};
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        if (i >= occludee->firstOwn && i < occludee->firstOwn + occludee->ownCount)
        {
            continue;
        }
        const espyTriangles* mesh = &input->occluders[i].mesh;
        for (uint32_t triangle = 0; triangle < mesh->triangleCount; ++triangle)
        {
            double a[3], b[3], c[3];
            espyReference_Corner(mesh, triangle, 0, a);
            espyReference_Corner(mesh, triangle, 1, b);
            espyReference_Corner(mesh, triangle, 2, c);
            espyReferenceHit hit = espyReference_Meet(a, b, c, o, d);
            double apart = espyReference_PlaneDistance(a, b, c, target);
            if (hit.t > t + 1e-2 || (!hit.hit && !hit.doubtful))
            {
                continue;
            }
            // A shared edge inside a wall is a rim of both its triangles: doubt there is only doubt.
            *doubtful = *doubtful || hit.doubtful || fabs(apart - ESPY_FLUSH) < ESPY_DOUBT;
            if (hit.hit && hit.t < t && apart > ESPY_FLUSH)
            {
                return true;
            }
        }
    }
    return false;
}

/// The k-th triangle of an occludee: of its mesh, or of its box.
static uint32_t espyReference_SurfaceTriangle(const espyBakeOccludee* occludee, uint32_t k, double corners[3][3])
{
    if (occludee->mesh.triangleCount > 0)
    {
        for (uint32_t c = 0; k < occludee->mesh.triangleCount && c < 3; ++c)
        {
            espyReference_Corner(&occludee->mesh, k, c, corners[c]);
        }
        return occludee->mesh.triangleCount;
    }
    // Face k / 2: axis k / 4, its low or high side; two triangles each.
    uint32_t axis = k / 4 % 3, u = (axis + 1) % 3, v = (axis + 2) % 3;
    const double low[3] = {(double)occludee->box.min.x, (double)occludee->box.min.y, (double)occludee->box.min.z};
    const double high[3] = {(double)occludee->box.max.x, (double)occludee->box.max.y, (double)occludee->box.max.z};
    static const int at[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    for (uint32_t c = 0; c < 3; ++c)
    {
        corners[c][axis] = (k / 2 % 2) ? high[axis] : low[axis];
        corners[c][u] = at[k % 2][c][0] ? high[u] : low[u];
        corners[c][v] = at[k % 2][c][1] ? high[v] : low[v];
    }
    return 12;
}

espyAuditReferenceAnswer espyAuditReference_Shows(const espyBakeInput* input, uint32_t slot, const double origin[3],
                                                  const double direction[3])
{
    const espyBakeOccludee* occludee = &input->occludees[slot];
    espyAuditReferenceAnswer answer = {false, false};
    double corners[3][3];
    uint32_t count = espyReference_SurfaceTriangle(occludee, 0, corners);
    for (uint32_t k = 0; k < count; ++k)
    {
        espyReference_SurfaceTriangle(occludee, k, corners);
        espyReferenceHit hit = espyReference_Meet(corners[0], corners[1], corners[2], origin, direction);
        answer.doubtful = answer.doubtful || hit.doubtful;
        if (hit.hit && !espyReference_IsBlocked(input, occludee, origin, direction, hit.t, &answer.doubtful))
        {
            answer.shows = true;
        }
    }
    return answer;
}

static double espyReference_MeshDistance(const espyTriangles* mesh, const double point[3])
{
    double best = INFINITY;
    for (uint32_t triangle = 0; triangle < mesh->triangleCount; ++triangle)
    {
        double c[3][3], u0 = 0.0, v0 = 0.0, span = 1.0;
        for (uint32_t corner = 0; corner < 3; ++corner)
        {
            espyReference_Corner(mesh, triangle, corner, c[corner]);
        }
        for (uint32_t round = 0; round < 4; ++round)
        {
            double bestU = u0, bestV = v0, nearest = INFINITY;
            for (int i = -10; i <= 10; ++i)
            {
                for (int j = -10; j <= 10; ++j)
                {
                    double u = u0 + span * i / 10.0, v = v0 + span * j / 10.0, distance = 0.0;
                    if (u < 0.0 || v < 0.0 || u + v > 1.0)
                    {
                        continue;
                    }
                    for (int axis = 0; axis < 3; ++axis)
                    {
                        double p = c[0][axis] + u * (c[1][axis] - c[0][axis]) + v * (c[2][axis] - c[0][axis]);
                        distance += (p - point[axis]) * (p - point[axis]);
                    }
                    if (distance < nearest)
                    {
                        nearest = distance;
                        bestU = u;
                        bestV = v;
                    }
                }
            }
            u0 = bestU;
            v0 = bestV;
            span *= 0.2;
            best = fmin(best, sqrt(nearest));
        }
    }
    return best;
}

double espyAuditReference_Distance(const espyBakeInput* input, const double point[3])
{
    double best = INFINITY;
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        best = fmin(best, espyReference_MeshDistance(&input->occluders[i].mesh, point));
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        best = fmin(best, espyReference_MeshDistance(&input->occludees[i].mesh, point));
    }
    return best;
}
