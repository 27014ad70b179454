// SPDX-License-Identifier: MIT
// The outline of a capsule cut by a round light or by the horizon: solid angles and the blocked direction.
//
// The outline seen from a point is two arcs of small circles (the ends) and two great circles (the edges), tangent
// where they meet. It and the disc of the light are convex, so the boundary of what they share follows the outline
// inside the disc and, from each exit, the disc's circle up to the next entry. Areas are sums of signed triangles to
// the disc's middle and of the segments between arcs and chords, which keep their digits for small lights; Lambert's
// contour integral gives the direction. The horizon is a disc of half angle pi / 2.
//
// Based on: O. Mazonka, Solid angle of conical surfaces, polyhedral cones and intersecting spherical caps, 2012,
// arXiv:1205.1396 (the cases); J. H. Lambert (the contour integral).
#include "proxy/capsule_pack.h"
#include "proxy/lanes.h"

#include "kernels/proxy_term.inl"

#define ESPY_PI 3.14159265f
#define ESPY_CONE_MIN 0.02f

/// Coordinates along (e_u, e_h, e_t).
typedef struct espyClipVec
{
    float u, h, t;
} espyClipVec;

/// An arc (`centre` is its unit axis) or, with `sine` 0, an edge from `from` to `to`. Counter-clockwise.
typedef struct espyClipPiece
{
    espyClipVec centre, radial; ///< Arc: w(x) = cosine centre + sine (cos x radial + sin x e_t).
    float sine, cosine;
    float begin, end;     ///< Arc: angles x, downwards where end < begin. Edge: 0 and 1.
    espyClipVec from, to; ///< Edge: tangent points, not unit.
    espyClipVec normal;   ///< Edge: inward normal.
} espyClipPiece;

/// A run of a piece inside the disc.
typedef struct espyClipRun
{
    espyClipVec from, to; ///< Unit.
    bool leaves;          ///< What follows it on the outline is outside.
} espyClipRun;

typedef struct espyClip
{
    espyTermCapsule capsule;
    espyTermView view;
    espyVec3 axes[3]; ///< e_u, e_h, e_t in the world.
    espyClipPiece pieces[4];
    uint32_t pieceCount;
    espyClipVec light;
    float cosine; ///< Of the disc's half angle.
    espyClipRun runs[16];
    uint32_t runCount;
    float area;
    espyClipVec blocked; ///< Integral of w dw, valid for the horizon.
} espyClip;

static float espyClip_Dot(espyClipVec a, espyClipVec b)
{
    return a.u * b.u + a.h * b.h + a.t * b.t;
}

static espyClipVec espyClip_Cross(espyClipVec a, espyClipVec b)
{
    return (espyClipVec){a.h * b.t - a.t * b.h, a.t * b.u - a.u * b.t, a.u * b.h - a.h * b.u};
}

static espyClipVec espyClip_Mix(espyClipVec a, float x, espyClipVec b, float y)
{
    return (espyClipVec){a.u * x + b.u * y, a.h * x + b.h * y, a.t * x + b.t * y};
}

static espyClipVec espyClip_Unit(espyClipVec a)
{
    float length = espyR_Sqrt(espyClip_Dot(a, a));
    float inverse = 1.0f / espyR_Max(length, 1e-30f);
    return espyClip_Mix(a, inverse, a, 0.0f);
}

/// Any quadrant, in (-pi, pi].
static float espyClip_Atan2(float y, float x)
{
    float angle = espyR_Atan2(espyR_Abs(y), x);
    return y < 0.0f ? -angle : angle;
}

/// Sine and cosine of an angle in [-2 pi, 2 pi]: reduced to an eighth of a turn, then Taylor to degree 9 and 8 (errors
/// below 2e-7).
static void espyClip_SinCos(float angle, float* sine, float* cosine)
{
    float turns = angle * (2.0f / ESPY_PI);
    int32_t quadrant = (int32_t)(turns + (turns < 0.0f ? -0.5f : 0.5f));
    float x = (angle - (float)quadrant * 1.5703125f) - (float)quadrant * 4.83826794897e-4f, x2 = x * x;
    float s =
        x * (1.0f + x2 * (-1.0f / 6.0f + x2 * (1.0f / 120.0f + x2 * (-1.0f / 5040.0f + x2 * (1.0f / 362880.0f)))));
    float c = 1.0f + x2 * (-0.5f + x2 * (1.0f / 24.0f + x2 * (-1.0f / 720.0f + x2 * (1.0f / 40320.0f))));
    switch (quadrant & 3)
    {
    case 0:
        *sine = s;
        *cosine = c;
        break;
    case 1:
        *sine = c;
        *cosine = -s;
        break;
    case 2:
        *sine = -s;
        *cosine = -c;
        break;
    default:
        *sine = -c;
        *cosine = s;
        break;
    }
}

static espyClipVec espyClip_At(const espyClipPiece* piece, float x)
{
    if (piece->sine == 0.0f)
    {
        return espyClip_Unit(espyClip_Mix(piece->from, 1.0f - x, piece->to, x));
    }
    float s, c;
    espyClip_SinCos(x, &s, &c);
    espyClipVec w = espyClip_Mix(piece->centre, piece->cosine, piece->radial, piece->sine * c);
    w.t += piece->sine * s;
    return w;
}

/// The direction w, not necessarily unit, is blocked.
static bool espyClip_Blocks(const espyClip* clip, espyClipVec w)
{
    w = espyClip_Unit(w);
    espyClipVec normals[2] = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
    uint32_t edges = 0;
    for (uint32_t i = 0; i < clip->pieceCount; ++i)
    {
        const espyClipPiece* piece = &clip->pieces[i];
        if (piece->sine != 0.0f && espyClip_Dot(w, piece->centre) >= piece->cosine)
        {
            return true;
        }
        if (piece->sine == 0.0f && edges < 2)
        {
            normals[edges++] = piece->normal;
        }
    }
    if (edges < 2 || espyClip_Dot(w, normals[0]) < 0.0f || espyClip_Dot(w, normals[1]) < 0.0f)
    {
        return false;
    }
    // Between the two chords that cut off the ends.
    espyClipVec a = clip->pieces[1].from, b = clip->pieces[1].to;
    return w.u * a.h - w.h * a.u >= 0.0f && w.u * b.h - w.h * b.u <= 0.0f;
}

static void espyClip_AddArc(espyClip* clip, float side, float s, float d, float radius, float sigma, float q)
{
    const espyTermView* v = &clip->view;
    if (q <= 0.0f)
    {
        return;
    }
    espyClipPiece* piece = &clip->pieces[clip->pieceCount++];
    float tangent = espyR_Sqrt(espyR_Max(sigma * sigma + v->edge2, 0.0f));
    *piece = (espyClipPiece){.centre = {s / d, v->h / d, 0.0f},
                             .radial = {side * v->h / d, -side * s / d, 0.0f},
                             .sine = radius / d,
                             .cosine = tangent / d,
                             .begin = side * q,
                             .end = -side * q};
}

static void espyClip_AddEdge(espyClip* clip, float side)
{
    const espyTermView* v = &clip->view;
    const espyTermCapsule* c = &clip->capsule;
    espyClipVec normal = {c->taper, v->mh, -side * v->mt};
    espyClipVec ends[2] = {{v->sA, v->h, 0.0f}, {v->sB, v->h, 0.0f}};
    espyClipPiece* piece = &clip->pieces[clip->pieceCount++];
    *piece = (espyClipPiece){.normal = normal, .end = 1.0f};
    espyClipVec a = espyClip_Mix(ends[0], 1.0f, normal, -c->radiusA),
                b = espyClip_Mix(ends[1], 1.0f, normal, -c->radiusB);
    piece->from = side > 0.0f ? a : b;
    piece->to = side > 0.0f ? b : a;
}

/// The outline from `point` and the light in its frame. False inside the capsule.
static bool espyClip_Start(espyClip* clip, const espyCapsule* capsule, espyVec3 point, espyVec3 light, float cosine)
{
    espyCapsulePack p = espyiCapsule_Pack(capsule, point);
    *clip = (espyClip){.cosine = cosine};
    clip->capsule =
        (espyTermCapsule){p.ax, p.ay, p.az, p.ux, p.uy, p.uz, p.length, p.radiusA, p.radiusB, p.taper, p.flat};
    const float at[3] = {0.0f, 0.0f, 0.0f}, n[3] = {light.x, light.y, light.z};
    espyTermView* v = &clip->view;
    float a[3];
    espyTerm_Ends(&clip->capsule, at, n, a, &v->nu, &v->zA, &v->zB);
    espyTerm_View(&clip->capsule, a, n, true, v);
    float foot = espyTerm_Foot(&clip->capsule, v, true);
    float radius = p.radiusA + (foot - v->sA) * p.taper;
    if (espyR_Sqrt(foot * foot + v->h * v->h) <= radius)
    {
        return false;
    }
    espyVec3 u = {p.ux, p.uy, p.uz}, h = {v->hx, v->hy, v->hz};
    if (v->h <= 1e-6f * (v->dA + v->dB))
    {
        // On the axis: any perpendicular serves.
        bool alongX = u.x > 0.6f || u.x < -0.6f;
        h = alongX ? (espyVec3){u.y, -u.x, 0.0f} : (espyVec3){0.0f, u.z, -u.y};
    }
    float inverse = 1.0f / espyR_Sqrt(h.x * h.x + h.y * h.y + h.z * h.z);
    h = (espyVec3){h.x * inverse, h.y * inverse, h.z * inverse};
    espyVec3 t = {u.y * h.z - u.z * h.y, u.z * h.x - u.x * h.z, u.x * h.y - u.y * h.x};
    clip->axes[0] = u;
    clip->axes[1] = h;
    clip->axes[2] = t;
    clip->light =
        (espyClipVec){light.x * u.x + light.y * u.y + light.z * u.z, light.x * h.x + light.y * h.y + light.z * h.z,
                      light.x * t.x + light.y * t.y + light.z * t.z};
    if (v->edge > 0.0f && p.length > 0.0f)
    {
        espyClip_AddArc(clip, -1.0f, v->sA, v->dA, p.radiusA, v->sigmaA, v->qA);
        espyClip_AddEdge(clip, 1.0f);
        espyClip_AddArc(clip, 1.0f, v->sB, v->dB, p.radiusB, v->sigmaB, v->qB);
        espyClip_AddEdge(clip, -1.0f);
    }
    else if (v->qA >= v->qB)
    {
        espyClip_AddArc(clip, -1.0f, v->sA, v->dA, p.radiusA, v->sigmaA, ESPY_PI);
    }
    else
    {
        espyClip_AddArc(clip, 1.0f, v->sB, v->dB, p.radiusB, v->sigmaB, ESPY_PI);
    }
    return true;
}

/// Where the piece meets the disc's circle, in the order of the walk; at most 2.
static uint32_t espyClip_Crossings(const espyClip* clip, const espyClipPiece* piece, float out[2])
{
    float roots[2];
    uint32_t count = 0;
    if (piece->sine == 0.0f)
    {
        // |w| cos g = w.l squared along the chord; false roots behind the light are dropped.
        espyClipVec d = espyClip_Mix(piece->to, 1.0f, piece->from, -1.0f);
        float c2 = clip->cosine * clip->cosine;
        float la = espyClip_Dot(piece->from, clip->light), ld = espyClip_Dot(d, clip->light);
        float qa = ld * ld - c2 * espyClip_Dot(d, d), qb = la * ld - c2 * espyClip_Dot(piece->from, d);
        float qc = la * la - c2 * espyClip_Dot(piece->from, piece->from);
        if (clip->cosine == 0.0f)
        {
            roots[count++] = ld != 0.0f ? -la / ld : -1.0f;
        }
        else
        {
            float disc = qb * qb - qa * qc;
            if (disc > 0.0f)
            {
                float root = espyR_Sqrt(disc), q = -(qb + (qb < 0.0f ? -root : root));
                roots[count++] = qa != 0.0f ? q / qa : -1.0f;
                roots[count++] = q != 0.0f ? qc / q : -1.0f;
            }
        }
        uint32_t kept = 0;
        for (uint32_t i = 0; i < count; ++i)
        {
            if (roots[i] > 0.0f && roots[i] < 1.0f && (clip->cosine <= 0.0f || la + ld * roots[i] > 0.0f))
            {
                out[kept++] = roots[i];
            }
        }
        count = kept;
    }
    else
    {
        float x = piece->sine * espyClip_Dot(piece->radial, clip->light), y = piece->sine * clip->light.t;
        float k = clip->cosine - piece->cosine * espyClip_Dot(piece->centre, clip->light);
        float square = x * x + y * y - k * k;
        if (square > 0.0f)
        {
            float middle = espyClip_Atan2(y, x), half = espyClip_Atan2(espyR_Sqrt(square), k);
            float low = espyR_Min(piece->begin, piece->end), high = espyR_Max(piece->begin, piece->end);
            for (int i = 0; i < 2; ++i)
            {
                float at = i == 0 ? middle - half : middle + half;
                at = at < -ESPY_PI ? at + 2.0f * ESPY_PI : at > ESPY_PI ? at - 2.0f * ESPY_PI : at;
                if (at > low && at < high)
                {
                    out[count++] = at;
                }
            }
        }
    }
    if (count == 2 && (out[1] < out[0]) != (piece->end < piece->begin))
    {
        float swap = out[0];
        out[0] = out[1];
        out[1] = swap;
    }
    return count;
}

/// Twice the arc tangent gives the signed area of a spherical triangle of unit vectors.
static float espyClip_Triangle(espyClipVec a, espyClipVec b, espyClipVec c)
{
    float volume = espyClip_Dot(a, espyClip_Cross(b, c));
    return 2.0f * espyClip_Atan2(volume, 1.0f + espyClip_Dot(a, b) + espyClip_Dot(b, c) + espyClip_Dot(c, a));
}

static void espyClip_AddRun(espyClip* clip, const espyClipPiece* piece, float begin, float end)
{
    espyClipRun* run = &clip->runs[clip->runCount++];
    *run = (espyClipRun){.from = espyClip_At(piece, begin), .to = espyClip_At(piece, end)};
    clip->area += espyClip_Triangle(clip->light, run->from, run->to);
    espyClipVec step = espyClip_Mix(run->to, 1.0f, run->from, -1.0f);
    if (piece->sine == 0.0f)
    {
        espyClipVec cross = espyClip_Cross(run->from, run->to);
        float angle = espyR_Atan2(espyR_Sqrt(espyClip_Dot(cross, cross)), espyClip_Dot(run->from, run->to));
        clip->blocked = espyClip_Mix(clip->blocked, 1.0f, piece->normal, 0.5f * angle);
        return;
    }
    float sweep = espyR_Abs(end - begin), s, c, sine2 = piece->sine * piece->sine, one = 1.0f + piece->cosine;
    espyClip_SinCos(sweep, &s, &c);
    clip->area += sweep * sine2 / one - 2.0f * espyClip_Atan2(sine2 * s, one * one + sine2 * c);
    espyClipVec arc = espyClip_Mix(piece->centre, sweep * sine2, espyClip_Cross(piece->centre, step), piece->cosine);
    clip->blocked = espyClip_Mix(clip->blocked, 1.0f, arc, 0.5f);
}

/// The stretches of the disc's circle between the runs.
static void espyClip_Close(espyClip* clip)
{
    for (uint32_t i = 0; i < clip->runCount; ++i)
    {
        const espyClipRun *run = &clip->runs[i], *next = &clip->runs[(i + 1) % clip->runCount];
        if (!run->leaves)
        {
            continue;
        }
        espyClipVec x = espyClip_Mix(run->to, 1.0f, clip->light, -espyClip_Dot(run->to, clip->light));
        espyClipVec y = espyClip_Cross(clip->light, x);
        float angle = espyClip_Atan2(espyClip_Dot(next->from, y), espyClip_Dot(next->from, x));
        // A stretch of almost nothing and one of almost a turn look alike: the capsule blocks the middle of the long
        // one or it does not.
        float whole = angle < 0.0f ? angle + 2.0f * ESPY_PI : angle, s, c;
        if (angle < 0.0f && angle > -0.01f)
        {
            espyClip_SinCos(0.5f * whole, &s, &c);
            espyClipVec middle = espyClip_Mix(clip->light, espyClip_Dot(run->to, clip->light), x, c);
            whole = espyClip_Blocks(clip, espyClip_Mix(middle, 1.0f, y, s)) ? whole : 0.0f;
        }
        clip->area += whole * (1.0f - clip->cosine);
        clip->blocked = espyClip_Mix(clip->blocked, 1.0f, clip->light, 0.5f * whole);
    }
}

/// Walks the outline. Afterwards `area` and `blocked` hold what outline and disc share.
static void espyClip_Walk(espyClip* clip)
{
    bool startsOutside = false;
    for (uint32_t i = 0; i < clip->pieceCount; ++i)
    {
        const espyClipPiece* piece = &clip->pieces[i];
        float at[4];
        uint32_t stops = 1 + espyClip_Crossings(clip, piece, at + 1);
        at[0] = piece->begin;
        at[stops] = piece->end;
        for (uint32_t k = 0; k < stops; ++k)
        {
            espyClipVec middle = espyClip_At(piece, 0.5f * (at[k] + at[k + 1]));
            if (espyClip_Dot(middle, clip->light) > clip->cosine)
            {
                espyClip_AddRun(clip, piece, at[k], at[k + 1]);
            }
            else if (clip->runCount > 0)
            {
                clip->runs[clip->runCount - 1].leaves = true;
            }
            else
            {
                startsOutside = true;
            }
        }
    }
    if (clip->runCount > 0)
    {
        // The walk is closed: what comes after the last run is what the walk began with.
        espyClipRun* last = &clip->runs[clip->runCount - 1];
        last->leaves = last->leaves || startsOutside;
        espyClip_Close(clip);
    }
    else
    {
        // Nothing of the outline is inside: the disc is in the capsule whole, or outside.
        bool blocked = espyClip_Blocks(clip, clip->light);
        clip->area = blocked ? 2.0f * ESPY_PI * (1.0f - clip->cosine) : 0.0f;
        clip->blocked = espyClip_Mix(clip->light, blocked ? ESPY_PI : 0.0f, clip->light, 0.0f);
    }
}

static float espyClip_Clamp(float value, float low, float high)
{
    return espyR_Min(espyR_Max(value, low), high);
}

float espyCapsule_SolidAngleAbove(const espyCapsule* capsule, espyVec3 point, espyVec3 normal)
{
    espyClip clip;
    if (!espyiCapsule_IsNormal(normal))
    {
        return 0.5f * espyCapsule_SolidAngle(capsule, point);
    }
    if (!espyClip_Start(&clip, capsule, point, normal, 0.0f))
    {
        // Continued inside like the occlusion: as seen at the surface, growing to everything on the axis.
        return 2.0f * ESPY_PI * espyCapsule_Occlusion(capsule, point, normal, espyCapsuleInside_Continuous);
    }
    espyClip_Walk(&clip);
    return espyClip_Clamp(clip.area, 0.0f, 2.0f * ESPY_PI);
}

float espyCapsule_ConeLight(const espyCapsule* capsule, espyVec3 point, espyVec3 toLight, float halfAngle)
{
    espyClip clip;
    if (!espyiCapsule_IsNormal(toLight))
    {
        return 0.0f;
    }
    float s, c, angle = espyClip_Clamp(halfAngle, ESPY_CONE_MIN, 0.5f * ESPY_PI);
    espyClip_SinCos(0.5f * angle, &s, &c);
    float depth = 2.0f * s * s; // 1 - cos, without cancellation.
    if (!espyClip_Start(&clip, capsule, point, toLight, 1.0f - depth))
    {
        return 1.0f;
    }
    espyClip_Walk(&clip);
    return espyClip_Clamp(clip.area / (2.0f * ESPY_PI * (1.0f - clip.cosine)), 0.0f, 1.0f);
}

espyVec3 espyCapsule_BlockedDirection(const espyCapsule* capsule, espyVec3 point, espyVec3 normal)
{
    espyClip clip;
    bool cut = espyiCapsule_IsNormal(normal);
    espyVec3 light = cut ? normal : (espyVec3){0.0f, 0.0f, 0.0f};
    // Without a normal everything counts as above a horizon below which nothing is.
    if (!espyClip_Start(&clip, capsule, point, light, cut ? 0.0f : -1.0f))
    {
        return (espyVec3){0.0f, 0.0f, 0.0f};
    }
    espyClip_Walk(&clip);
    const float scale = 1.0f / ESPY_PI;
    const espyVec3 *u = &clip.axes[0], *h = &clip.axes[1], *t = &clip.axes[2];
    espyClipVec b = {clip.blocked.u * scale, clip.blocked.h * scale, clip.blocked.t * scale};
    return (espyVec3){b.u * u->x + b.h * h->x + b.t * t->x, b.u * u->y + b.h * h->y + b.t * t->y,
                      b.u * u->z + b.h * h->z + b.t * t->z};
}
