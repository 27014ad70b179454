// SPDX-License-Identifier: MIT
#include "view_case.h"

#include <math.h>

static float espyCase_Between(espyiRng* rng, float low, float high)
{
    return low + espyiRng_Float(rng) * (high - low);
}

espyMat4 espyViewCase_LookAlong(espyVec3 eye, espyVec3 forward)
{
    double f[3] = {(double)forward.x, (double)forward.y, (double)forward.z};
    double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    for (int i = 0; i < 3; ++i)
    {
        f[i] /= length;
    }
    const double up[3] = {0.0, fabs(f[1]) > 0.99 ? 0.0 : 1.0, fabs(f[1]) > 0.99 ? 1.0 : 0.0};
    double r[3] = {f[1] * up[2] - f[2] * up[1], f[2] * up[0] - f[0] * up[2], f[0] * up[1] - f[1] * up[0]};
    length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (int i = 0; i < 3; ++i)
    {
        r[i] /= length;
    }
    const double u[3] = {r[1] * f[2] - r[2] * f[1], r[2] * f[0] - r[0] * f[2], r[0] * f[1] - r[1] * f[0]};
    const double e[3] = {(double)eye.x, (double)eye.y, (double)eye.z};
    espyMat4 m = espyMat4_Identity();
    for (int k = 0; k < 3; ++k)
    {
        m.m[4 * k] = (float)r[k];
        m.m[4 * k + 1] = (float)u[k];
        m.m[4 * k + 2] = (float)-f[k];
    }
    m.m[12] = (float)-(r[0] * e[0] + r[1] * e[1] + r[2] * e[2]);
    m.m[13] = (float)-(u[0] * e[0] + u[1] * e[1] + u[2] * e[2]);
    m.m[14] = (float)(f[0] * e[0] + f[1] * e[1] + f[2] * e[2]);
    return m;
}

espyVec3 espyViewCase_Direction(espyiRng* rng)
{
    for (;;)
    {
        float x = espyCase_Between(rng, -1.0f, 1.0f);
        float y = espyCase_Between(rng, -1.0f, 1.0f);
        float z = espyCase_Between(rng, -1.0f, 1.0f);
        float length2 = x * x + y * y + z * z;
        if (length2 > 0.01f && length2 <= 1.0f)
        {
            return (espyVec3){x, y, z};
        }
    }
}

static espyMat4 espyCase_Projection(espyiRng* rng, float size, bool reversedZ)
{
    bool finite = espyiRng_Below(rng, 2) == 0;
    float nearDistance = espyCase_Between(rng, 0.002f, 0.02f) * size;
    float farDistance = finite ? espyCase_Between(rng, 0.1f, 2.0f) * size : 0.0f;
    float halfHeight = espyCase_Between(rng, 0.01f, 0.2f) * size;
    float halfWidth = halfHeight * espyCase_Between(rng, 0.4f, 2.5f);
    switch (espyiRng_Below(rng, 4))
    {
    case 0:
        return espyMat4_Orthographic(-halfWidth, halfWidth, -halfHeight, halfHeight, nearDistance, 2.0f * size,
                                     reversedZ);
    case 1:
        return espyMat4_Orthographic(-0.3f * halfWidth, halfWidth, -halfHeight, 0.1f * halfHeight, -nearDistance,
                                     1.5f * size, reversedZ);
    case 2:
    {
        float right = nearDistance * espyCase_Between(rng, -0.5f, 2.0f);
        float top = nearDistance * espyCase_Between(rng, -0.5f, 2.0f);
        float left = right - nearDistance * espyCase_Between(rng, 0.3f, 2.0f);
        float bottom = top - nearDistance * espyCase_Between(rng, 0.3f, 2.0f);
        return espyMat4_PerspectiveOffCentre(left, right, bottom, top, nearDistance, farDistance, reversedZ);
    }
    default:
    {
        float fov = espyCase_Between(rng, 0.05f, 2.6f);
        float aspect = espyCase_Between(rng, 0.4f, 2.5f);
        return espyMat4_Perspective(fov, aspect, nearDistance, farDistance, reversedZ);
    }
    }
}

espyViewDef espyViewCase_Random(espyiRng* rng, espyBox room)
{
    espyViewDef def = espyViewDef_Default();
    float size = room.max.x - room.min.x;
    float x = espyCase_Between(rng, room.min.x, room.max.x);
    float y = espyCase_Between(rng, room.min.y, room.max.y);
    float z = espyCase_Between(rng, room.min.z, room.max.z);
    espyVec3 forward = espyViewCase_Direction(rng);
    def.reversedZ = espyiRng_Below(rng, 2) == 0;
    def.view = espyViewCase_LookAlong((espyVec3){x, y, z}, forward);
    def.projection = espyCase_Projection(rng, size, def.reversedZ);
    espyVec3 normal = espyViewCase_Direction(rng);
    float back = espyCase_Between(rng, 0.01f, 0.2f) * size;
    espyPlane plane = {normal, back - (normal.x * x + normal.y * y + normal.z * z)};
    espyViewDef mirrored;
    switch (espyiRng_Below(rng, 6))
    {
    case 0:
        (void)espyViewDef_ClipNear(&def, plane);
        return def;
    case 1:
    case 2:
        (void)espyViewDef_Mirror(&def, plane, &mirrored);
        return mirrored;
    case 3:
    {
        espyMat4 scale = espyMat4_Identity();
        scale.m[0] = espyiRng_Below(rng, 2) == 0 ? -2.0f : 2.0f;
        scale.m[5] = scale.m[10] = 2.0f;
        def.view = espyMat4_Multiply(scale, def.view);
        return def;
    }
    default:
        return def;
    }
}
