// SPDX-License-Identifier: MIT
// Panoramas by rays: packets for the first surfaces, single rays for what shows through them.
#include "audit/panorama.h"

#include <math.h>

#define ESPY_FAR 1e30f
/// Along the ray: surfaces nearer to each other than this are both reported.
#define ESPY_TIE_REACH 1e-4f

/// Axis and sign of the forward direction, then the axes of columns and rows.
static const struct
{
    uint8_t forward, right, up;
    float sign;
} espyPanoramaFaces[6] = {{0, 2, 1, 1.0f},  {0, 2, 1, -1.0f}, {1, 0, 2, 1.0f},
                          {1, 0, 2, -1.0f}, {2, 0, 1, 1.0f},  {2, 0, 1, -1.0f}};

static espyVec3 espyPanorama_Direction(uint32_t size, uint32_t face, uint32_t column, uint32_t row)
{
    float axes[3];
    axes[espyPanoramaFaces[face].forward] = espyPanoramaFaces[face].sign;
    axes[espyPanoramaFaces[face].right] = ((float)(2 * column + 1) - (float)size) / (float)size;
    axes[espyPanoramaFaces[face].up] = ((float)size - (float)(2 * row + 1)) / (float)size;
    return (espyVec3){axes[0], axes[1], axes[2]};
}

espyiRay espyiPanorama_Ray(espyVec3 point, uint32_t size, uint32_t pixel)
{
    uint32_t column = pixel % size, row = pixel / size % size, face = pixel / size / size;
    espyVec3 d = espyPanorama_Direction(size, face, column, row);
    return (espyiRay){{(double)point.x, (double)point.y, (double)point.z}, {(double)d.x, (double)d.y, (double)d.z}};
}

espyMat4 espyiPanorama_Clip(espyVec3 point, uint32_t face)
{
    const float at[3] = {point.x, point.y, point.z};
    const uint32_t axes[2] = {espyPanoramaFaces[face].right, espyPanoramaFaces[face].up};
    espyMat4 clip = {{0}};
    for (uint32_t row = 0; row < 2; ++row)
    {
        clip.m[4 * axes[row] + row] = 1.0f;
        clip.m[12 + row] = -at[axes[row]];
    }
    clip.m[14] = ESPYI_PANORAMA_NEAR;
    clip.m[4 * espyPanoramaFaces[face].forward + 3] = espyPanoramaFaces[face].sign;
    clip.m[15] = -espyPanoramaFaces[face].sign * at[espyPanoramaFaces[face].forward];
    return clip;
}

bool espyiPanorama_IsInFace(espyVec3 point, uint32_t face, espyBox box)
{
    const float low[3] = {box.min.x - point.x, box.min.y - point.y, box.min.z - point.z};
    const float high[3] = {box.max.x - point.x, box.max.y - point.y, box.max.z - point.z};
    uint32_t forward = espyPanoramaFaces[face].forward;
    float farthest = espyPanoramaFaces[face].sign > 0.0f ? high[forward] : -low[forward];
    // Outside where the whole box is beyond one of the four side planes.
    for (uint32_t side = 0; side < 2; ++side)
    {
        uint32_t axis = side == 0 ? espyPanoramaFaces[face].right : espyPanoramaFaces[face].up;
        if (farthest + high[axis] < 0.0f || farthest - low[axis] < 0.0f)
        {
            return false;
        }
    }
    return true;
}

typedef struct espyPanoramaJob
{
    const espyiDrawn* drawn;
    espyVec3 point;
    espyiSeenFn* seen;
    void* context;
} espyPanoramaJob;

/// Distance of the point at `t` from the plane of an occluder's triangle.
static double espyPanorama_DistanceFromBlocker(const espyPanoramaJob* job, const espyiSegment* segment, float t,
                                               uint32_t triangle)
{
    const espyTriangles* mesh = &job->drawn->blockers.soup.triangles;
    double corner[3][3], a[3], b[3], normal[3];
    for (uint32_t c = 0; c < 3; ++c)
    {
        espyVec3 p = mesh->positions[mesh->indices[3 * (size_t)triangle + c]];
        corner[c][0] = (double)p.x;
        corner[c][1] = (double)p.y;
        corner[c][2] = (double)p.z;
    }
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        a[axis] = corner[1][axis] - corner[0][axis];
        b[axis] = corner[2][axis] - corner[0][axis];
    }
    normal[0] = a[1] * b[2] - a[2] * b[1];
    normal[1] = a[2] * b[0] - a[0] * b[2];
    normal[2] = a[0] * b[1] - a[1] * b[0];
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double height = ((double)segment->origin.x + (double)t * (double)segment->direction.x - corner[0][0]) * normal[0] +
                    ((double)segment->origin.y + (double)t * (double)segment->direction.y - corner[0][1]) * normal[1] +
                    ((double)segment->origin.z + (double)t * (double)segment->direction.z - corner[0][2]) * normal[2];
    return length > 0.0 ? fabs(height) / length : INFINITY;
}

/// Reports the target of `hit` if it shows, and one that lies in the same place. `blocker` is null where none is hit.
static void espyPanorama_Report(const espyPanoramaJob* job, uint32_t pixel, const espyiSegment* segment,
                                const espyiHit* blocker, const espyiHit* hit)
{
    if (blocker && hit->t > blocker->t)
    {
        espyiSkip own = espyiDrawn_OwnOf(job->drawn, hit->object);
        bool isOwn = blocker->object - own.first < own.count;
        if (!isOwn && espyPanorama_DistanceFromBlocker(job, segment, hit->t, blocker->triangle) > ESPYI_EXACT_FLUSH)
        {
            return;
        }
    }
    job->seen(job->context, pixel, hit->object);
}

/// Reports every target on one ray, given the first of them.
static void espyPanorama_FollowRay(const espyPanoramaJob* job, uint32_t pixel, espyiSegment segment,
                                   const espyiHit* blocker, espyiHit hit)
{
    float end = segment.tMax;
    do
    {
        espyPanorama_Report(job, pixel, &segment, blocker, &hit);
        espyiHit other;
        espyiSegment around = segment;
        around.tMin = hit.t - ESPY_TIE_REACH > ESPYI_PANORAMA_NEAR ? hit.t - ESPY_TIE_REACH : ESPYI_PANORAMA_NEAR;
        around.tMax = hit.t + ESPY_TIE_REACH < end ? hit.t + ESPY_TIE_REACH : end;
        if (espyiBvh_Closest(job->drawn->targetBvh, &around, (espyiSkip){hit.object, 1}, &other))
        {
            espyPanorama_Report(job, pixel, &segment, blocker, &other);
        }
        segment.tMin = hit.t;
    } while (espyiBvh_Closest(job->drawn->targetBvh, &segment, (espyiSkip){0, 0}, &hit));
}

void espyiPanorama_RenderBlock(const espyiDrawn* drawn, espyVec3 point, uint32_t size, uint32_t face, uint32_t left,
                               uint32_t top, espyiSeenFn* seen, void* context)
{
    espyPanoramaJob job = {drawn, point, seen, context};
    espyiSegment segments[ESPYI_PANORAMA_BLOCK * ESPYI_PANORAMA_BLOCK];
    espyiHit blockers[ESPYI_PANORAMA_BLOCK * ESPYI_PANORAMA_BLOCK];
    espyiHit targets[ESPYI_PANORAMA_BLOCK * ESPYI_PANORAMA_BLOCK];
    uint32_t pixels[ESPYI_PANORAMA_BLOCK * ESPYI_PANORAMA_BLOCK], count = 0;
    for (uint32_t row = top; row < size && row < top + ESPYI_PANORAMA_BLOCK; ++row)
    {
        for (uint32_t column = left; column < size && column < left + ESPYI_PANORAMA_BLOCK; ++column)
        {
            pixels[count] = (face * size + row) * size + column;
            segments[count++] = (espyiSegment){.origin = point,
                                               .tMin = ESPYI_PANORAMA_NEAR,
                                               .direction = espyPanorama_Direction(size, face, column, row),
                                               .tMax = ESPY_FAR};
        }
    }
    if (count == 0)
    {
        return; // Beyond the face.
    }
    espyiBvh_ClosestMany(drawn->blockerBvh, segments, count, (espyiSkip){0, 0}, blockers);
    for (uint32_t i = 0; i < count; ++i)
    {
        segments[i].tMax = blockers[i].triangle != UINT32_MAX ? blockers[i].t + ESPYI_PANORAMA_FLUSH : ESPY_FAR;
    }
    espyiBvh_ClosestMany(drawn->targetBvh, segments, count, (espyiSkip){0, 0}, targets);
    for (uint32_t i = 0; i < count; ++i)
    {
        if (targets[i].triangle != UINT32_MAX)
        {
            espyPanorama_FollowRay(&job, pixels[i], segments[i],
                                   blockers[i].triangle != UINT32_MAX ? &blockers[i] : NULL, targets[i]);
        }
    }
}

void espyiPanorama_RenderFace(const espyiDrawn* drawn, espyVec3 point, uint32_t size, uint32_t face, espyiSeenFn* seen,
                              void* context)
{
    for (uint32_t top = 0; top < size; top += ESPYI_PANORAMA_BLOCK)
    {
        for (uint32_t left = 0; left < size; left += ESPYI_PANORAMA_BLOCK)
        {
            espyiPanorama_RenderBlock(drawn, point, size, face, left, top, seen, context);
        }
    }
}
