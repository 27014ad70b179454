// SPDX-License-Identifier: MIT
// The share of a cosine-weighted hemisphere that a ball, a capsule or a round cone blocks, exactly, for shaders: GLSL
// 1.30 or ES 3.00 and later, no extension. Include or paste it; nothing else is needed. docs/proxy.md derives every
// line; the tests compile this file as C++ and compare it with the library.
//
//   float espyBallOcclusion(vec3 centre, float radius, vec3 p, vec3 n)
//   float espyCapsuleOcclusion(vec3 a, vec3 b, float radius, vec3 p, vec3 n)
//   float espyRoundConeOcclusion(vec3 a, vec3 b, float radiusA, float radiusB, vec3 p, vec3 n)
//   float espyRoundConeSolidAngle(vec3 a, vec3 b, float radiusA, float radiusB, vec3 p)       steradians
//
// p: the receiver, n: its unit normal; all in one space, best relative to the eye. Several: multiply what survives,
// visibility *= 1.0 - strength * occlusion. espy_proxy.glsl does that with the lists of the library.

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

/// Inside: `solid` gives 1, otherwise what goes on from the value at the surface.
float espyBall(vec3 centre, float radius, vec3 p, vec3 n, bool solid)
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
        return solid ? 1.0f : clamp(1.0f - (d - height) / (2.0f * radius), 0.0f, 1.0f);
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

/// A round cone seen from the receiver, in the frame of its axis (u), the way to the axis (h) and across (t).
struct EspyView
{
    float taper, level; // growth of the radius along the axis, and sqrt(1 - taper^2)
    float sA, sB;       // ends along the axis
    float lA, lB;       // ends along the tangent lines
    float dA, dB;       // distances to the ends, at least their radii
    float h;            // distance to the axis line
    float root;         // radius that the cone has at the foot of the receiver
    float k, k2;        // distance of the tangent lines; k2 below 0 where one end hides the other
    float mh, mt;       // the inward normals of the tangent planes are (taper, mh, +-mt)
    float qA, qB;       // half sweeps of the ends' arcs
    float nu, nh, nt;   // the normal
    float foot, footZ;  // nearest ball's centre along the axis, and its height
    float radius;       // and its radius
    float low, high;    // slopes of the outermost crossings of the horizon
};

EspyView espyLook(vec3 toA, vec3 u, float span, float radiusA, float radiusB, vec3 n)
{
    EspyView v;
    v.taper = span > 0.0f ? (radiusB - radiusA) / span : 0.0f;
    v.level = sqrt(max((1.0f - v.taper) * (1.0f + v.taper), 0.0f));
    v.nu = dot(n, u);
    v.sA = dot(toA, u);
    v.sB = v.sA + span;
    vec3 across = toA - u * v.sA;
    float h2 = dot(across, across);
    v.h = sqrt(h2);
    float inverse = 1.0f / max(v.h, 1e-18f);
    v.root = radiusA - v.sA * v.taper;
    float wide = v.root / v.level;
    v.k2 = (v.h - wide) * (v.h + wide);
    v.k = sqrt(max(v.k2, 0.0f));
    v.mh = clamp(v.root * inverse, -1.0f, 1.0f);
    v.mt = v.level * v.k * inverse;
    v.nh = dot(n, across) * inverse;
    v.nt = abs(dot(n, cross(u, across))) * inverse;
    v.dA = sqrt(max(v.sA * v.sA + h2, radiusA * radiusA));
    v.dB = sqrt(max(v.sB * v.sB + h2, radiusB * radiusB));
    v.lA = (v.sA - v.taper * radiusA) / v.level;
    v.lB = (v.sB - v.taper * radiusB) / v.level;
    float lean = v.taper * h2;
    float up = v.level * v.k;
    v.qA = espyAngle(up * v.dA, lean - v.sA * v.root);
    v.qB = espyAngle(up * v.dB, v.sB * v.root - lean);
    v.foot = clamp(v.h * v.taper / v.level, v.sA, v.sB);
    v.footZ = v.foot * v.nu + v.h * v.nh;
    v.radius = radiusA + (v.foot - v.sA) * v.taper;
    v.low = 2e15f;
    v.high = -2e15f;
    return v;
}

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

/// Slope of one tangent line's height over the horizon.
float espyEdgeSlope(EspyView v, float side)
{
    float slope = (v.nu - v.taper * (v.mh * v.nh + side * v.mt * v.nt + v.taper * v.nu)) / v.level;
    return slope < 0.0f ? min(slope, -1e-30f) : max(slope, 1e-30f);
}

/// Its height at its foot.
float espyEdgeBase(EspyView v, float side)
{
    return v.k * ((v.mt * v.nh - side * v.mh * v.nt) / v.level);
}

/// Adds the crossing of one tangent line with the horizon.
EspyView espyCrossEdge(EspyView v, float side)
{
    float base = espyEdgeBase(v, side);
    float slope = espyEdgeSlope(v, side);
    if ((v.lA * slope + base > 0.0f) != (v.lB * slope + base > 0.0f))
    {
        float x = clamp(-base / slope, v.lA, v.lB);
        float t = x * v.taper;
        float xu = x * v.level;
        float xh = (v.k * v.mt - t * v.mh) / v.level;
        float xt = (-v.k * side * v.mh - t * side * v.mt) / v.level;
        v = espyAddCrossing(v, xu * v.foot + xh * v.h,
                            v.nt * (v.foot * xh - v.h * xu) + (v.nu * v.h - v.nh * v.foot) * xt);
    }
    return v;
}

/// Angle of one tangent line above the horizon, times the height of its inward normal.
float espyEdge(EspyView v, float side)
{
    float base = espyEdgeBase(v, side);
    float slope = espyEdgeSlope(v, side);
    bool upA = v.lA * slope + base > 0.0f;
    bool upB = v.lB * slope + base > 0.0f;
    if (!upA && !upB)
    {
        return 0.0f;
    }
    float x = clamp(-base / slope, v.lA, v.lB);
    float s0 = upA ? v.lA : x;
    float s1 = upB ? v.lB : x;
    float height = v.mh * v.nh + side * v.mt * v.nt + v.taper * v.nu;
    return height * espyAngle(max(s1 - s0, 0.0f) * v.k, v.k * v.k + s0 * s1);
}

/// Adds the two points where an end's circle meets the horizon.
EspyView espyCrossArc(EspyView v, float s, float l, float z, float d, float radius)
{
    float up = z / d;
    float sine = radius / d;
    float w2 = (sine - up) * (sine + up);
    if (w2 > 0.0f)
    {
        float w = sqrt(w2);
        float cosine = sqrt(max(l * l + v.k2, 0.0f)) / d;
        float ex = s * v.foot + v.h * v.h - v.footZ * z;
        float ey = v.nt * v.h * (v.foot - s);
        v = espyAddCrossing(v, cosine * ex - w * ey, cosine * ey + w * ex);
        v = espyAddCrossing(v, cosine * ex + w * ey, cosine * ey - w * ex);
    }
    return v;
}

/// The arc of one end (side -1: a, +1: b) above the horizon; q is half its sweep.
float espyArc(EspyView v, float side, float s, float l, float z, float d, float radius, float q)
{
    float up = z / d;
    float sine = radius / d;
    float tangent = sqrt(max(l * l + v.k2, 0.0f));
    float cosine = tangent / d;
    float w2 = (sine - up) * (sine + up);
    float w = sqrt(max(w2, 0.0f));
    float p = side * (v.h * v.nu - s * v.nh) / d;
    float middle = espyAngle(v.nt, p);
    float reach = w2 > 0.0f ? espyAngle(w, -cosine * up) : (up > 0.0f ? 3.14159265f : 0.0f);
    float it = 1.0f / max(tangent, 1e-30f);
    float ends = v.mt * d * it * p;
    float mean = clamp(side * (s * v.mh - v.taper * v.h) * it, -1.0f, 1.0f) * v.nt;
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

/// End a, unit axis u, length span; neither end's ball holds the other. `solid` as with espyBall.
float espyShape(vec3 a, vec3 u, float span, float radiusA, float radiusB, vec3 p, vec3 n, bool solid)
{
    vec3 toA = a - p;
    float zA = dot(n, toA);
    float zB = zA + span * dot(n, u);
    if (zA <= -radiusA && zB <= -radiusB)
    {
        return 0.0f;
    }
    EspyView v = espyLook(toA, u, span, radiusA, radiusB, n);
    float d = sqrt(v.foot * v.foot + v.h * v.h);
    if (d <= v.radius)
    {
        return solid ? 1.0f : clamp(1.0f - (d - v.footZ) / (2.0f * v.radius), 0.0f, 1.0f);
    }
    if (zA >= radiusA && zB >= radiusB)
    {
        float theta = espyAngle(span * v.level * v.k, v.k * v.k + v.lA * v.lB);
        float gA = radiusA / (v.dA * v.dA);
        float gB = radiusB / (v.dB * v.dB);
        float f = theta * (v.taper * v.nu + v.mh * v.nh);
        f += radiusA * gA * v.qA * (zA / v.dA) + radiusB * gB * v.qB * (zB / v.dB);
        f += v.mt * (gA * (v.h * v.nu - v.sA * v.nh) - gB * (v.h * v.nu - v.sB * v.nh));
        return clamp(f * 0.318309886f, 0.0f, 1.0f);
    }
    v = espyCrossArc(v, v.sA, v.lA, zA, v.dA, radiusA);
    v = espyCrossArc(v, v.sB, v.lB, zB, v.dB, radiusB);
    float f = espyArc(v, -1.0f, v.sA, v.lA, zA, v.dA, radiusA, v.qA);
    f += espyArc(v, 1.0f, v.sB, v.lB, zB, v.dB, radiusB, v.qB);
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

/// Solid angle, steradians: 0 .. 2 pi outside, growing to 4 pi on the axis.
float espyShapeSolidAngle(vec3 a, vec3 u, float span, float radiusA, float radiusB, vec3 p)
{
    EspyView v = espyLook(a - p, u, span, radiusA, radiusB, vec3(0.0f, 0.0f, 0.0f));
    float d = sqrt(v.foot * v.foot + v.h * v.h);
    if (d <= v.radius)
    {
        return 6.28318531f * (2.0f - d / v.radius);
    }
    float cA = sqrt(max(v.lA * v.lA + v.k2, 0.0f)) / v.dA;
    float cB = sqrt(max(v.lB * v.lB + v.k2, 0.0f)) / v.dB;
    float tA = radiusA / v.dA;
    float tB = radiusB / v.dB;
    // pi - qA - qB by the tangents of both, so that small angles keep their digits.
    float lean = v.taper * v.h * v.h;
    float up = v.level * v.k;
    float yA = up * v.dA;
    float xA = lean - v.sA * v.root;
    float yB = up * v.dB;
    float xB = v.sB * v.root - lean;
    float mA = max(yA, abs(xA));
    float mB = max(yB, abs(xB));
    float g = 0.0f;
    if (mA > 0.0f && mB > 0.0f)
    {
        yA = yA / mA;
        xA = xA / mA;
        yB = yB / mB;
        xB = xB / mB;
        float y = yA * xB + yB * xA;
        g = espyAngle(abs(y), yA * yB - xA * xB);
        g = y < 0.0f ? -g : g;
    }
    return clamp(2.0f * (v.qA * tA * tA / (1.0f + cA) + v.qB * tB * tB / (1.0f + cB) + g), 0.0f, 6.28318531f);
}

float espyBallOcclusion(vec3 centre, float radius, vec3 p, vec3 n)
{
    return espyBall(centre, radius, p, n, false);
}

float espyRoundConeOcclusion(vec3 a, vec3 b, float radiusA, float radiusB, vec3 p, vec3 n)
{
    vec3 axis = b - a;
    float span = sqrt(dot(axis, axis));
    if (span <= abs(radiusB - radiusA) || span < 1e-6f * radiusA)
    {
        // One ball holds the other.
        if (radiusA < radiusB)
        {
            return espyBall(b, radiusB, p, n, false);
        }
        return espyBall(a, radiusA, p, n, false);
    }
    return espyShape(a, axis * (1.0f / span), span, radiusA, radiusB, p, n, false);
}

float espyCapsuleOcclusion(vec3 a, vec3 b, float radius, vec3 p, vec3 n)
{
    return espyRoundConeOcclusion(a, b, radius, radius, p, n);
}

float espyRoundConeSolidAngle(vec3 a, vec3 b, float radiusA, float radiusB, vec3 p)
{
    vec3 axis = b - a;
    float span = sqrt(dot(axis, axis));
    if (span <= abs(radiusB - radiusA) || span < 1e-6f * radiusA)
    {
        if (radiusA < radiusB)
        {
            return espyShapeSolidAngle(b, vec3(1.0f, 0.0f, 0.0f), 0.0f, radiusB, radiusB, p);
        }
        return espyShapeSolidAngle(a, vec3(1.0f, 0.0f, 0.0f), 0.0f, radiusA, radiusA, p);
    }
    return espyShapeSolidAngle(a, axis * (1.0f / span), span, radiusA, radiusB, p);
}
