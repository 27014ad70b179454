// SPDX-License-Identifier: MIT
// Matrices of views: projections, inverse, cameras, oblique near planes and mirrors. No library call, no double.
//
// Based on: E. Lengyel, "Oblique View Frustum Depth Projection and Clipping", 2005, for depth 0..1 in both directions.
#include "world/view_internal.h"

#include <espy/world.h>

/// Where an orthographic camera without a far distance ends, metres.
#define ESPY_VIEW_FAR 100000.0f

/// Tangent on (0, pi/2), within 4 units of the last place: Taylor series of sine and cosine up to pi/4, where the next
/// term is below half a unit, and tan(x) = 1 / tan(pi/2 - x) above. A library's tangent differs between machines.
static float espyView_Tangent(float x)
{
    // Half of pi in two parts.
    const float half = 1.57079637f;
    const float rest = -4.37113883e-08f;
    bool upper = x > 0.5f * half;
    float a = upper ? (half - x) + rest : x;
    float q = a * a;
    float sine = a * (1.0f + q * (-1.0f / 6.0f + q * (1.0f / 120.0f + q * (-1.0f / 5040.0f + q * (1.0f / 362880.0f)))));
    float cosine = 1.0f + q * (-0.5f + q * (1.0f / 24.0f + q * (-1.0f / 720.0f + q * (1.0f / 40320.0f))));
    return upper ? cosine / sine : sine / cosine;
}

/// Square root of a positive number by Newton's method from above, the same bits everywhere; 64 halvings reach every
/// float from its own value.
static float espyView_SquareRoot(float v)
{
    float x = v > 1.0f ? v : 1.0f;
    for (int i = 0; i < 80; ++i)
    {
        float next = 0.5f * (x + v / x);
        if (!(next < x))
        {
            break;
        }
        x = next;
    }
    return x;
}

static espyVec3 espyView_Axis(const espyMat4* m, int column)
{
    return (espyVec3){m->m[4 * column], m->m[4 * column + 1], m->m[4 * column + 2]};
}

// --- projections

/// Third row for an eye that looks down -z: z' = a * z + b, so that depth 0..1 runs from near to far or back.
static void espyView_PerspectiveDepth(espyMat4* m, float nearDistance, float farDistance, bool reversedZ)
{
    bool infinite = !(farDistance > 0.0f);
    float a = -1.0f;
    float b = -nearDistance;
    if (!infinite)
    {
        a = farDistance / (nearDistance - farDistance);
        b = nearDistance * a;
    }
    m->m[10] = reversedZ ? -1.0f - a : a;
    m->m[14] = reversedZ ? 0.0f - b : b;
    m->m[11] = -1.0f;
}

espyMat4 espyMat4_PerspectiveOffCentre(float left, float right, float bottom, float top, float nearDistance,
                                       float farDistance, bool reversedZ)
{
    espyMat4 m = {{0}};
    bool fits =
        right > left && top > bottom && nearDistance > 0.0f && (farDistance == 0.0f || farDistance > nearDistance);
    if (!fits)
    {
        return m;
    }
    float width = right - left;
    float height = top - bottom;
    m.m[0] = 2.0f * nearDistance / width;
    m.m[5] = 2.0f * nearDistance / height;
    m.m[8] = (right + left) / width;
    m.m[9] = (top + bottom) / height;
    espyView_PerspectiveDepth(&m, nearDistance, farDistance, reversedZ);
    return m;
}

espyMat4 espyMat4_Perspective(float verticalFov, float aspect, float nearDistance, float farDistance, bool reversedZ)
{
    espyMat4 m = {{0}};
    bool fits = verticalFov > 0.0f && verticalFov < 3.14159f && aspect > 0.0f && nearDistance > 0.0f &&
                (farDistance == 0.0f || farDistance > nearDistance);
    if (!fits)
    {
        return m;
    }
    float tangent = espyView_Tangent(0.5f * verticalFov);
    m.m[0] = 1.0f / (tangent * aspect);
    m.m[5] = 1.0f / tangent;
    espyView_PerspectiveDepth(&m, nearDistance, farDistance, reversedZ);
    return m;
}

espyMat4 espyMat4_Orthographic(float left, float right, float bottom, float top, float nearDistance, float farDistance,
                               bool reversedZ)
{
    espyMat4 m = {{0}};
    if (!(right > left && top > bottom && farDistance > nearDistance))
    {
        return m;
    }
    float width = right - left;
    float height = top - bottom;
    float depth = farDistance - nearDistance;
    m.m[0] = 2.0f / width;
    m.m[5] = 2.0f / height;
    m.m[12] = -(right + left) / width;
    m.m[13] = -(top + bottom) / height;
    m.m[10] = reversedZ ? 1.0f / depth : -1.0f / depth;
    m.m[14] = reversedZ ? farDistance / depth : -nearDistance / depth;
    m.m[15] = 1.0f;
    return m;
}

// --- inverse

bool espyMat4_Invert(espyMat4 m, espyMat4* out)
{
    // By the 2x2 minors of the upper and the lower two rows.
    const float* a = m.m;
    float s0 = a[0] * a[5] - a[1] * a[4], s1 = a[0] * a[9] - a[1] * a[8], s2 = a[0] * a[13] - a[1] * a[12];
    float s3 = a[4] * a[9] - a[5] * a[8], s4 = a[4] * a[13] - a[5] * a[12], s5 = a[8] * a[13] - a[9] * a[12];
    float c0 = a[2] * a[7] - a[3] * a[6], c1 = a[2] * a[11] - a[3] * a[10], c2 = a[2] * a[15] - a[3] * a[14];
    float c3 = a[6] * a[11] - a[7] * a[10], c4 = a[6] * a[15] - a[7] * a[14], c5 = a[10] * a[15] - a[11] * a[14];
    float determinant = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0;
    if (!(determinant > 0.0f || determinant < 0.0f) || !espyMat4_IsFinite(m))
    {
        return false;
    }
    float i = 1.0f / determinant;
    espyMat4 r = {{
        (a[5] * c5 - a[9] * c4 + a[13] * c3) * i,
        (0.0f - a[1] * c5 + a[9] * c2 - a[13] * c1) * i,
        (a[1] * c4 - a[5] * c2 + a[13] * c0) * i,
        (0.0f - a[1] * c3 + a[5] * c1 - a[9] * c0) * i,
        (0.0f - a[4] * c5 + a[8] * c4 - a[12] * c3) * i,
        (a[0] * c5 - a[8] * c2 + a[12] * c1) * i,
        (0.0f - a[0] * c4 + a[4] * c2 - a[12] * c0) * i,
        (a[0] * c3 - a[4] * c1 + a[8] * c0) * i,
        (a[7] * s5 - a[11] * s4 + a[15] * s3) * i,
        (0.0f - a[3] * s5 + a[11] * s2 - a[15] * s1) * i,
        (a[3] * s4 - a[7] * s2 + a[15] * s0) * i,
        (0.0f - a[3] * s3 + a[7] * s1 - a[11] * s0) * i,
        (0.0f - a[6] * s5 + a[10] * s4 - a[14] * s3) * i,
        (a[2] * s5 - a[10] * s2 + a[14] * s1) * i,
        (0.0f - a[2] * s4 + a[6] * s2 - a[14] * s0) * i,
        (a[2] * s3 - a[6] * s1 + a[10] * s0) * i,
    }};
    if (!espyMat4_IsFinite(r))
    {
        return false;
    }
    *out = r;
    return true;
}

// --- defs

espyViewDef espyViewDef_Default(void)
{
    return (espyViewDef){
        .view = espyMat4_Identity(),
        .projection = espyMat4_Perspective(1.0471976f, 16.0f / 9.0f, 0.1f, 0.0f, false),
        .cookie = ESPY_DEF_COOKIE,
    };
}

/// World to eye for an eye that stands at the transform's origin along its axes, scale taken out. All zero where the
/// axes are of no use.
static espyMat4 espyView_LookFrom(const espyMat4* world)
{
    espyMat4 unscaled = *world;
    for (int axis = 0; axis < 3; ++axis)
    {
        espyVec3 a = espyView_Axis(world, axis);
        float length2 = espyiVec3_Dot(a, a);
        if (!(length2 > 0.0f && length2 <= ESPYI_FLOAT_MAX))
        {
            return (espyMat4){{0}};
        }
        float inverse = 1.0f / espyView_SquareRoot(length2);
        unscaled.m[4 * axis] = a.x * inverse;
        unscaled.m[4 * axis + 1] = a.y * inverse;
        unscaled.m[4 * axis + 2] = a.z * inverse;
    }
    espyMat4 view;
    return espyMat4_InvertAffine(unscaled, &view) ? view : (espyMat4){{0}};
}

espyViewDef espyViewDef_FromCamera(const struct espyCamera* camera, espyMat4 worldTransform, bool reversedZ)
{
    espyViewDef def = espyViewDef_Default();
    def.reversedZ = reversedZ;
    def.view = espyView_LookFrom(&worldTransform);
    float x = camera->offsetX;
    float y = camera->offsetY;
    if (camera->orthographic)
    {
        float h = camera->halfHeight;
        float w = h * camera->aspect;
        float farDistance = camera->farDistance > 0.0f ? camera->farDistance : ESPY_VIEW_FAR;
        def.projection = espyMat4_Orthographic(w * (x - 1.0f), w * (x + 1.0f), h * (y - 1.0f), h * (y + 1.0f),
                                               camera->nearDistance, farDistance, reversedZ);
    }
    else
    {
        def.projection = espyMat4_Perspective(camera->verticalFov, camera->aspect, camera->nearDistance,
                                              camera->farDistance, reversedZ);
        // Half pictures are what off-centre terms count in.
        def.projection.m[8] = x;
        def.projection.m[9] = y;
    }
    return def;
}

/// A plane as the four numbers that a point (x, y, z, 1) is multiplied with.
static void espyPlane_ToEyeSpace(espyPlane plane, const espyMat4* eyeToWorld, float out[4])
{
    for (int column = 0; column < 4; ++column)
    {
        const float* c = &eyeToWorld->m[4 * column];
        out[column] = plane.normal.x * c[0] + plane.normal.y * c[1] + plane.normal.z * c[2] + plane.distance * c[3];
    }
}

bool espyViewDef_ClipNear(espyViewDef* def, espyPlane plane)
{
    espyMat4 eyeToWorld, unproject;
    if (!espyMat4_InvertAffine(def->view, &eyeToWorld) || !espyMat4_Invert(def->projection, &unproject))
    {
        return false;
    }
    float c[4];
    espyPlane_ToEyeSpace(plane, &eyeToWorld, c);
    // The far corner that lies farthest inside the plane gets far depth: the most of the depth range is then used.
    float signX = c[0] >= 0.0f ? 1.0f : -1.0f;
    float signY = c[1] >= 0.0f ? 1.0f : -1.0f;
    float farDepth = def->reversedZ ? 0.0f : 1.0f;
    float corner[4];
    for (int row = 0; row < 4; ++row)
    {
        const float* u = unproject.m;
        corner[row] = signX * u[row] + signY * u[4 + row] + farDepth * u[8 + row] + u[12 + row];
    }
    float reach = c[0] * corner[0] + c[1] * corner[1] + c[2] * corner[2] + c[3] * corner[3];
    if (!(reach > 0.0f && reach <= ESPYI_FLOAT_MAX))
    {
        return false;
    }
    float scale = 1.0f / reach;
    espyMat4 projection = def->projection;
    for (int column = 0; column < 4; ++column)
    {
        float depth = scale * c[column];
        projection.m[4 * column + 2] = def->reversedZ ? projection.m[4 * column + 3] - depth : depth;
    }
    if (!espyMat4_IsFinite(projection))
    {
        return false;
    }
    def->projection = projection;
    return true;
}

bool espyViewDef_Mirror(const espyViewDef* def, espyPlane mirror, espyViewDef* out)
{
    *out = *def;
    espyMat4 eyeToWorld;
    espyVec3 n = mirror.normal;
    float length2 = espyiVec3_Dot(n, n);
    if (!(length2 > 0.0f && length2 <= ESPYI_FLOAT_MAX) || !espyMat4_InvertAffine(def->view, &eyeToWorld))
    {
        return false;
    }
    espyVec3 eye = espyView_Axis(&eyeToWorld, 3);
    if (!(espyiVec3_Dot(n, eye) + mirror.distance > 0.0f))
    {
        return false;
    }
    float s = 2.0f / length2;
    espyMat4 reflect = {{
        1.0f - s * n.x * n.x,
        0.0f - s * n.y * n.x,
        0.0f - s * n.z * n.x,
        0.0f,
        0.0f - s * n.x * n.y,
        1.0f - s * n.y * n.y,
        0.0f - s * n.z * n.y,
        0.0f,
        0.0f - s * n.x * n.z,
        0.0f - s * n.y * n.z,
        1.0f - s * n.z * n.z,
        0.0f,
        0.0f - s * n.x * mirror.distance,
        0.0f - s * n.y * mirror.distance,
        0.0f - s * n.z * mirror.distance,
        1.0f,
    }};
    espyViewDef mirrored = *def;
    mirrored.view = espyMat4_Multiply(def->view, reflect);
    if (!espyViewDef_ClipNear(&mirrored, mirror))
    {
        return false;
    }
    *out = mirrored;
    return true;
}
