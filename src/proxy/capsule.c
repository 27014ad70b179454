// SPDX-License-Identifier: MIT
// One capsule seen from one point, in single precision without a library call.
#include "proxy/lanes.h"
#include "proxy/proxy_internal.h"

#include "kernels/proxy_term.inl"

#define ESPY_PI 3.14159265358979f

static float espyCapsule_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyCapsule_Sub(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

bool espyiCapsule_IsNormal(espyVec3 n)
{
    // False for a NaN. Normals from 8 bits a channel are off by a few per cent.
    float size = espyCapsule_Dot(n, n);
    return size > 0.25f && size < 4.0f;
}

espyCapsulePack espyiCapsule_Pack(const espyCapsule* capsule, espyVec3 origin)
{
    espyVec3 a = espyCapsule_Sub(capsule->a, origin), axis = espyCapsule_Sub(capsule->b, capsule->a);
    float length2 = espyCapsule_Dot(axis, axis), length = espyR_Sqrt(length2);
    espyCapsulePack pack = {.ax = a.x,
                            .ay = a.y,
                            .az = a.z,
                            .ux = 1.0f,
                            .radiusA = capsule->radiusA,
                            .radiusB = capsule->radiusB,
                            .flat = 1.0f};
    float grow = capsule->radiusB - capsule->radiusA;
    if (!(length > espyR_Abs(grow)))
    {
        if (grow > 0.0f)
        {
            espyVec3 b = espyCapsule_Sub(capsule->b, origin);
            pack.ax = b.x;
            pack.ay = b.y;
            pack.az = b.z;
            pack.radiusA = capsule->radiusB;
        }
        pack.radiusB = pack.radiusA;
        return pack;
    }
    pack.length = length;
    pack.ux = axis.x / length;
    pack.uy = axis.y / length;
    pack.uz = axis.z / length;
    pack.taper = grow / length;
    pack.flat = espyR_Sqrt((1.0f - pack.taper) * (1.0f + pack.taper));
    return pack;
}

static espyTermCapsule espyCapsule_Term(const espyCapsulePack* p)
{
    return (espyTermCapsule){p->ax,     p->ay,      p->az,      p->ux,    p->uy,  p->uz,
                             p->length, p->radiusA, p->radiusB, p->taper, p->flat};
}

float espyCapsule_Occlusion(const espyCapsule* capsule, espyVec3 point, espyVec3 normal, espyCapsuleInside inside)
{
    if (!espyiCapsule_IsNormal(normal))
    {
        return espyCapsule_SolidAngle(capsule, point) * (0.25f / ESPY_PI);
    }
    espyCapsulePack pack = espyiCapsule_Pack(capsule, point);
    espyTermCapsule c = espyCapsule_Term(&pack);
    const float p[3] = {0.0f, 0.0f, 0.0f}, n[3] = {normal.x, normal.y, normal.z};
    bool solid = inside == espyCapsuleInside_Solid;
    return pack.taper == 0.0f ? espyTerm_Occlusion(&c, p, n, false, solid) : espyTerm_Occlusion(&c, p, n, true, solid);
}

float espyCapsule_CosineLight(const espyCapsule* capsule, espyVec3 point, espyVec3 toLight)
{
    return espyCapsule_Occlusion(capsule, point, toLight, espyCapsuleInside_Solid);
}

/// The capsule from a point without a normal; false inside, with the clearance rule's share in *depth (0 at the
/// surface, 1 on the axis).
static bool espyCapsule_View(const espyTermCapsule* c, espyVec3 point, espyTermView* v, float* depth)
{
    const float p[3] = {point.x, point.y, point.z}, n[3] = {0.0f, 0.0f, 0.0f};
    float a[3];
    espyTerm_Ends(c, p, n, a, &v->nu, &v->zA, &v->zB);
    espyTerm_View(c, a, n, true, v);
    float foot = espyTerm_Foot(c, v, true), radius = c->radiusA + (foot - v->sA) * c->taper;
    float d = espyR_Sqrt(foot * foot + v->h * v->h);
    *depth = d <= radius ? 1.0f - d / radius : 0.0f;
    return d > radius;
}

/// Tangent lengths of the ends.
static void espyCapsule_Tangents(const espyTermView* v, float* lA, float* lB)
{
    *lA = espyR_Sqrt(espyR_Max(v->sigmaA * v->sigmaA + v->edge2, 0.0f));
    *lB = espyR_Sqrt(espyR_Max(v->sigmaB * v->sigmaB + v->edge2, 0.0f));
}

float espyCapsule_SolidAngle(const espyCapsule* capsule, espyVec3 point)
{
    espyCapsulePack pack = espyiCapsule_Pack(capsule, point);
    return espyiCapsule_SolidAngle(&pack, (espyVec3){0.0f, 0.0f, 0.0f});
}

float espyiCapsule_SolidAngle(const espyCapsulePack* pack, espyVec3 point)
{
    espyTermCapsule c = espyCapsule_Term(pack);
    espyTermView v;
    float depth;
    if (!espyCapsule_View(&c, point, &v, &depth))
    {
        return 2.0f * ESPY_PI * (1.0f + depth);
    }
    // Gauss-Bonnet: 2 pi less the arcs' geodesic curvature, 2 q cos(a) each; the corners are tangent and turn by
    // nothing. Written as q (1 - cos a) with 1 - cos a = sin^2 a / (1 + cos a), and g = pi - qA - qB, so that small
    // angles keep their digits.
    float lA, lB;
    espyCapsule_Tangents(&v, &lA, &lB);
    float cA = lA / v.dA, cB = lB / v.dB, sA = c.radiusA / v.dA, sB = c.radiusB / v.dB;
    // tan(qA) and tan(qB) as y over x give tan(pi - qA - qB); g lies in [-pi, pi] and is negative only by taper.
    float lean = c.taper * v.h * v.h, up = c.flat * v.edge;
    float yA = up * v.dA, xA = lean - v.sA * v.root, yB = up * v.dB, xB = v.sB * v.root - lean;
    // A scale for each, so that products of tiny radii stay in range.
    float mA = espyR_Max(yA, espyR_Abs(xA)), mB = espyR_Max(yB, espyR_Abs(xB));
    float g = 0.0f;
    if (mA > 0.0f && mB > 0.0f)
    {
        yA /= mA;
        xA /= mA;
        yB /= mB;
        xB /= mB;
        float y = yA * xB + yB * xA, x = yA * yB - xA * xB;
        g = espyR_Atan2(espyR_Abs(y), x);
        g = y < 0.0f ? -g : g;
    }
    float w = 2.0f * (v.qA * sA * sA / (1.0f + cA) + v.qB * sB * sB / (1.0f + cB) + g);
    return espyR_Min(espyR_Max(w, 0.0f), 2.0f * ESPY_PI);
}

float espyCapsule_Bound(const espyCapsule* capsule, espyVec3 point)
{
    espyCapsulePack pack = espyiCapsule_Pack(capsule, point);
    float s = -(pack.ax * pack.ux + pack.ay * pack.uy + pack.az * pack.uz);
    s = espyR_Min(espyR_Max(s, 0.0f), pack.length);
    float x = pack.ax + s * pack.ux, y = pack.ay + s * pack.uy, z = pack.az + s * pack.uz;
    float d2 = x * x + y * y + z * z, r = espyR_Max(pack.radiusA, pack.radiusB);
    if (d2 <= r * r)
    {
        return 1.0f;
    }
    return espyR_Min(r / espyR_Sqrt(d2), (r * r + 2.0f / ESPY_PI * r * pack.length) / d2);
}

float espyCapsule_Reach(const espyCapsule* capsule, float threshold)
{
    espyCapsulePack pack = espyiCapsule_Pack(capsule, capsule->a);
    float r = espyR_Max(pack.radiusA, pack.radiusB), e = espyR_Max(threshold, 1e-12f);
    return espyR_Min(r / e, espyR_Sqrt((r * r + 2.0f / ESPY_PI * r * pack.length) / e));
}
