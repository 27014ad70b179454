// SPDX-License-Identifier: MIT
// The one frustum rule, shared by the single test and the batch kernels, and small vector helpers of views.
#ifndef ESPYI_VIEW_INTERNAL_H
#define ESPYI_VIEW_INTERNAL_H

#include <espy/view.h>

#define ESPYI_FLOAT_MAX 3.402823466e+38f
#define ESPYI_VIEW_PLANES 6u

/// Share of a box's distance from the eye by which it has to lie beyond a plane: 64 units of the last place, seven
/// times what turning a plane into world space and evaluating it can lose (1 mm at 250 m).
#define ESPYI_VIEW_EPSILON 3.8146973e-06f

static inline float espyiFloat_Abs(float v)
{
    return v < 0.0f ? -v : v;
}

static inline float espyiFloat_Max(float a, float b)
{
    return a > b ? a : b;
}

static inline bool espyiFloat_IsFinite(float v)
{
    return v >= -ESPYI_FLOAT_MAX && v <= ESPYI_FLOAT_MAX;
}

static inline float espyiVec3_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// True where a box lies beyond one plane of the eye for sure. Order of operations as in kernels/frustum.inl.
static inline bool espyiViewEye_IsOutside(const espyViewEye* eye, const espyBox* box)
{
    const float low[3] = {box->min.x - eye->eye.x, box->min.y - eye->eye.y, box->min.z - eye->eye.z};
    const float high[3] = {box->max.x - eye->eye.x, box->max.y - eye->eye.y, box->max.z - eye->eye.z};
    float reach = espyiFloat_Max(0.0f - low[0], high[0]) + espyiFloat_Max(0.0f - low[1], high[1]);
    reach = reach + espyiFloat_Max(0.0f - low[2], high[2]);
    float limit = reach * -ESPYI_VIEW_EPSILON;
    for (uint32_t i = 0; i < ESPYI_VIEW_PLANES; ++i)
    {
        const espyPlane* plane = &eye->planes[i];
        // The corner that is farthest inwards.
        float x = plane->normal.x * (plane->normal.x >= 0.0f ? high[0] : low[0]);
        float y = plane->normal.y * (plane->normal.y >= 0.0f ? high[1] : low[1]);
        float z = plane->normal.z * (plane->normal.z >= 0.0f ? high[2] : low[2]);
        float inside = ((x + y) + z) + plane->distance;
        if (inside < limit)
        {
            return true;
        }
    }
    return false;
}

#endif
