// SPDX-License-Identifier: MIT
// The share of a cosine-weighted hemisphere that a ball or a capsule blocks, exactly, for shaders: GLSL 1.30 or ES 3.00
// and later, no extension. Include or paste it; nothing else is needed. docs/proxy.md derives every line; the tests
// compile this file as C++ and compare it with the library.
//
//   float espyBallOcclusion(vec3 centre, float radius, vec3 p, vec3 n)
//   float espyCapsuleOcclusion(vec3 a, vec3 b, float radius, vec3 p, vec3 n)
//
// p: the receiver, n: its unit normal; all in one space, best relative to the eye. Several: multiply what survives,
// visibility *= 1.0 - strength * occlusion.

/// Angle of (x, y) for y >= 0, in [0, pi].
float espyAngle(float y, float x)
{
    float ax = abs(x);
    float t = min(ax, y) / max(max(ax, y), 1e-37f);
    float s = t * t;
    float q = 0.0796236712f + s * (-0.0336042195f + s * 0.00681179294f);
    q = (0.999996112f + s * (-0.333173681f + s * (0.198078155f + s * (-0.13233342f + s * q)))) * t;
    q = ax < y ? 1.57079633f - q : q;
    return x < 0.0f ? 3.14159265f - q : q;
}

float espyBallOcclusion(vec3 centre, float radius, vec3 p, vec3 n)
{
    vec3 c = centre - p;
    float height = dot(n, c);
    if (height <= -radius)
    {
        return 0.0f;
    }
    float d = sqrt(dot(c, c));
    if (d <= radius)
    {
        return clamp(1.0f - (d - height) / (2.0f * radius), 0.0f, 1.0f);
    }
    float up = height / d;
    float sine = radius / d;
    if (height >= radius)
    {
        return up * sine * sine;
    }
    float cosine = sqrt((1.0f - sine) * (1.0f + sine));
    float w = sqrt(max((sine - up) * (sine + up), 0.0f));
    float f = espyAngle(w, cosine) + sine * sine * up * espyAngle(w, -cosine * up) - cosine * w;
    return clamp(f * 0.318309886f, 0.0f, 1.0f);
}

/// A capsule seen from the receiver, in the frame of its axis (u), the way to the axis (h) and across (t).
struct EspyView
{
    float sA, sB;       // ends along the axis
    float h;            // distance to the axis line
    float nu, nh, nt;   // the normal
    float k, k2;        // distance of the tangent lines; k2 below 0 where one end hides the other
    float mh, mt;       // the inward normals of the tangent planes are (0, mh, +-mt)
    float foot, footZ;  // nearest point of the axis and its height
    float low, high;    // slopes of the outermost crossings of the horizon
};

EspyView espyAddCrossing(EspyView v, float x, float y)
{
    if (x > 0.0f)
    {
        float slope = clamp(y / max(x, 1e-30f), -1e15f, 1e15f);
        v.low = min(v.low, slope);
        v.high = max(v.high, slope);
    }
    return v;
}

/// Adds the crossing of one tangent line with the horizon.
EspyView espyCrossEdge(EspyView v, float side)
{
    float mh = side * v.mh;
    float base = v.k * (v.mt * v.nh - mh * v.nt);
    bool upA = v.sA * v.nu + base > 0.0f;
    bool upB = v.sB * v.nu + base > 0.0f;
    if (upA != upB)
    {
        float slope = v.nu < 0.0f ? min(v.nu, -1e-30f) : max(v.nu, 1e-30f);
        float x = clamp(-base / slope, v.sA, v.sB);
        float xh = v.k * v.mt;
        float xt = -v.k * mh;
        v = espyAddCrossing(v, x * v.foot + xh * v.h,
                            v.nt * (v.foot * xh - v.h * x) + (v.nu * v.h - v.nh * v.foot) * xt);
    }
    return v;
}

/// Angle of one tangent line above the horizon, times the height of its inward normal.
float espyEdge(EspyView v, float side)
{
    float base = v.k * (v.mt * v.nh - side * v.mh * v.nt);
    bool upA = v.sA * v.nu + base > 0.0f;
    bool upB = v.sB * v.nu + base > 0.0f;
    if (!upA && !upB)
    {
        return 0.0f;
    }
    float slope = v.nu < 0.0f ? min(v.nu, -1e-30f) : max(v.nu, 1e-30f);
    float x = clamp(-base / slope, v.sA, v.sB);
    float s0 = upA ? v.sA : x;
    float s1 = upB ? v.sB : x;
    return (v.mh * v.nh + side * v.mt * v.nt) * espyAngle(max(s1 - s0, 0.0f) * v.k, v.k2 + s0 * s1);
}

/// Adds the two points where an end's circle meets the horizon.
EspyView espyCrossArc(EspyView v, float s, float z, float radius)
{
    float d = sqrt(s * s + v.h * v.h);
    float up = z / d;
    float sine = radius / d;
    float w2 = (sine - up) * (sine + up);
    if (w2 > 0.0f)
    {
        float w = sqrt(w2);
        float cosine = sqrt(max(s * s + v.k2, 0.0f)) / d;
        float ex = s * v.foot + v.h * v.h - v.footZ * z;
        float ey = v.nt * v.h * (v.foot - s);
        v = espyAddCrossing(v, cosine * ex - w * ey, cosine * ey + w * ex);
        v = espyAddCrossing(v, cosine * ex + w * ey, cosine * ey - w * ex);
    }
    return v;
}

/// The arc of one end (side -1: a, +1: b) above the horizon; q is half its sweep.
float espyArc(EspyView v, float side, float s, float z, float radius, float q)
{
    float d = sqrt(s * s + v.h * v.h);
    float up = z / d;
    float sine = radius / d;
    float tangent = sqrt(max(s * s + v.k2, 0.0f));
    float cosine = tangent / d;
    float w2 = (sine - up) * (sine + up);
    float w = sqrt(max(w2, 0.0f));
    float p = side * (v.h * v.nu - s * v.nh) / d;
    float middle = espyAngle(v.nt, p);
    float reach = w2 > 0.0f ? espyAngle(w, -cosine * up) : (up > 0.0f ? 3.14159265f : 0.0f);
    float it = 1.0f / max(tangent, 1e-30f);
    float ends = v.mt * d * it * p;
    float mean = clamp(side * s * v.mh * it, -1.0f, 1.0f) * v.nt;
    float rim = w / sine;
    float from = middle - reach;
    float to = middle + reach;
    float wrapped = to - 6.28318531f;
    float sweep = 0.0f;
    float sum = 0.0f;
    if (from < q)
    {
        sweep = min(q, to) - max(-q, from);
        sum = (q < to ? ends - mean : rim) + (from < -q ? ends + mean : rim);
    }
    if (-q < wrapped)
    {
        sweep += wrapped + q;
        sum += rim + ends + mean;
    }
    return sine * (sine * up * sweep - cosine * sum);
}

float espyCapsuleOcclusion(vec3 a, vec3 b, float radius, vec3 p, vec3 n)
{
    vec3 u = b - a;
    float span = sqrt(dot(u, u));
    if (span < 1e-6f * radius)
    {
        return espyBallOcclusion(a, radius, p, n);
    }
    u = u * (1.0f / span);
    vec3 toA = a - p;
    EspyView v;
    v.nu = dot(n, u);
    float zA = dot(n, toA);
    float zB = zA + span * v.nu;
    if (zA <= -radius && zB <= -radius)
    {
        return 0.0f;
    }
    v.sA = dot(toA, u);
    v.sB = v.sA + span;
    vec3 across = toA - u * v.sA;
    float h2 = dot(across, across);
    v.h = sqrt(h2);
    float inverse = 1.0f / max(v.h, 1e-18f);
    v.k2 = (v.h - radius) * (v.h + radius);
    v.k = sqrt(max(v.k2, 0.0f));
    v.mh = min(radius * inverse, 1.0f);
    v.mt = v.k * inverse;
    v.nh = dot(n, across) * inverse;
    v.foot = clamp(0.0f, v.sA, v.sB);
    v.footZ = v.foot * v.nu + v.h * v.nh;
    float d = sqrt(v.foot * v.foot + h2);
    if (d <= radius)
    {
        return clamp(1.0f - (d - v.footZ) / (2.0f * radius), 0.0f, 1.0f);
    }
    float dA2 = v.sA * v.sA + h2;
    float dB2 = v.sB * v.sB + h2;
    float qA = espyAngle(v.k * sqrt(dA2), -v.sA * radius);
    float qB = espyAngle(v.k * sqrt(dB2), v.sB * radius);
    if (zA >= radius && zB >= radius)
    {
        float theta = espyAngle(span * v.k, v.k * v.k + v.sA * v.sB);
        float gA = radius / dA2;
        float gB = radius / dB2;
        float f = theta * v.mh * v.nh + radius * (gA * qA * zA / sqrt(dA2) + gB * qB * zB / sqrt(dB2));
        f += v.mt * (gA * (v.h * v.nu - v.sA * v.nh) - gB * (v.h * v.nu - v.sB * v.nh));
        return clamp(f * 0.318309886f, 0.0f, 1.0f);
    }
    v.nt = abs(dot(n, cross(u, across))) * inverse;
    v.low = 2e15f;
    v.high = -2e15f;
    v = espyCrossArc(v, v.sA, zA, radius);
    v = espyCrossArc(v, v.sB, zB, radius);
    float f = espyArc(v, -1.0f, v.sA, zA, radius, qA) + espyArc(v, 1.0f, v.sB, zB, radius, qB);
    if (v.k > 0.0f)
    {
        v = espyCrossEdge(v, 1.0f);
        v = espyCrossEdge(v, -1.0f);
        f += espyEdge(v, 1.0f) + espyEdge(v, -1.0f);
    }
    if (v.low <= v.high)
    {
        f += espyAngle(v.high - v.low, 1.0f + v.high * v.low);
    }
    return clamp(f * 0.159154943f, 0.0f, 1.0f);
}
