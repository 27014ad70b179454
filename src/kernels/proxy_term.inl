// SPDX-License-Identifier: MIT
// The share of a cosine-weighted hemisphere that a capsule with two radii blocks, in closed form; one receiver a lane.
// Written over espyR (lanes) and espyLane (one number), so that the same lines run in single precision at every width
// (proxy/lanes.h) and in double (reference/capsule_double.c). docs/proxy.md derives every line.
//
// Frame of a receiver: e_u along the axis, e_h from the receiver to the axis line, e_t = e_u x e_h; s is the coordinate
// along the axis, h the distance to the axis line. Mirror symmetry in e_t lets |n.e_t| stand for n.e_t.
//
// Based on: Lambert, Photometria, 1760 (the contour integral); M. Stark, Lambert's formula for polygons, UUCS-00-012,
// 2000.

#if defined(__GNUC__)
#define ESPY_TERM_INLINE static inline __attribute__((always_inline))
#define ESPY_TERM_APART __attribute__((noinline))
#else
#define ESPY_TERM_INLINE static inline
#define ESPY_TERM_APART
#endif

/// One capsule, the same in every lane.
typedef struct espyTermCapsule
{
    espyR ax, ay, az, ux, uy, uz; ///< End A and the unit direction from A to B.
    espyR length, radiusA, radiusB;
    espyR taper; ///< (radiusB - radiusA) / length, below 1 in magnitude.
    espyR flat;  ///< sqrt(1 - taper^2)
} espyTermCapsule;

/// A capsule seen from a receiver.
typedef struct espyTermView
{
    espyR sA, sB, h;
    espyR zA, zB;             ///< n.A, n.B
    espyR nu, nh;             ///< The normal in the frame.
    espyR hx, hy, hz;         ///< From the receiver to the axis line.
    espyR inverse;            ///< 1 / h, at most 1e18.
    espyR inverseA, inverseB; ///< 1 / dA, 1 / dB
    espyR root;               ///< Radius that the cone has at the foot of the receiver.
    espyR edge2;              ///< Square of `edge`; negative where one end hides the other.
    espyR edge;               ///< Distance of the tangent lines from the receiver; 0 where one end hides the other.
    espyR mh, mt;             ///< Inward normals of the two tangent planes are (taper, mh, +-mt).
    espyR dA, dB;             ///< Distances to the ends, at least their radii.
    espyR sigmaA, sigmaB;     ///< Coordinates of the ends along the tangent lines.
    espyR yA, xA, yB, xB;     ///< Multiples of the sines and cosines of the half sweeps.
    espyR qA, qB;             ///< Half sweeps of the arcs.
} espyTermView;

/// Only what the tests against the horizon need.
ESPY_TERM_INLINE void espyTerm_Ends(const espyTermCapsule* c, const espyR p[3], const espyR n[3], espyR a[3], espyR* nu,
                                    espyR* zA, espyR* zB)
{
    a[0] = c->ax - p[0];
    a[1] = c->ay - p[1];
    a[2] = c->az - p[2];
    *zA = n[0] * a[0] + n[1] * a[1] + n[2] * a[2];
    *nu = n[0] * c->ux + n[1] * c->uy + n[2] * c->uz;
    *zB = *zA + c->length * *nu;
}

/// Everything but the half sweeps themselves. With `tapered` false both radii are radiusA and the taper is 0.
ESPY_TERM_INLINE void espyTerm_Look(const espyTermCapsule* c, const espyR a[3], const espyR n[3], bool tapered,
                                    espyTermView* v)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    v->sA = a[0] * c->ux + a[1] * c->uy + a[2] * c->uz;
    v->sB = v->sA + c->length;
    espyR hx = a[0] - v->sA * c->ux, hy = a[1] - v->sA * c->uy, hz = a[2] - v->sA * c->uz;
    espyR h2 = hx * hx + hy * hy + hz * hz;
    v->h = espyR_Sqrt(h2);
    espyR rA = c->radiusA, rB = tapered ? c->radiusB : c->radiusA;
    v->dA = espyR_Sqrt(espyR_Max(v->sA * v->sA + h2, rA * rA));
    v->dB = espyR_Sqrt(espyR_Max(v->sB * v->sB + h2, rB * rB));
    // One division for three.
    espyR nearest = espyR_Max(v->h, espyR_Set(1e-18f)), ends = v->dA * v->dB;
    espyR all = one / (nearest * ends), inverse = all * ends;
    all = all * nearest;
    v->inverseA = all * v->dB;
    v->inverseB = all * v->dA;
    v->root = tapered ? rA - v->sA * c->taper : rA;
    espyR across = tapered ? v->root / c->flat : rA;
    v->edge2 = (v->h - across) * (v->h + across);
    v->edge = espyR_Sqrt(espyR_Max(v->edge2, zero));
    // Where h is below the radius one end hides the other: `edge` is 0, one sweep is pi, the other 0, and mh is 1.
    v->mh = espyR_Min(v->root * inverse, one);
    if (tapered)
    {
        v->mh = espyR_Max(v->mh, zero - one);
    }
    v->mt = (tapered ? c->flat * v->edge : v->edge) * inverse;
    v->nh = (n[0] * hx + n[1] * hy + n[2] * hz) * inverse;
    v->hx = hx;
    v->hy = hy;
    v->hz = hz;
    v->inverse = inverse;
    if (tapered)
    {
        v->sigmaA = (v->sA - c->taper * rA) / c->flat;
        v->sigmaB = (v->sB - c->taper * rB) / c->flat;
        espyR lean = c->taper * h2, up = c->flat * v->edge;
        v->yA = up * v->dA;
        v->xA = lean - v->sA * v->root;
        v->yB = up * v->dB;
        v->xB = v->sB * v->root - lean;
    }
    else
    {
        v->sigmaA = v->sA;
        v->sigmaB = v->sB;
        v->yA = v->edge * v->dA;
        v->xA = zero - v->sA * rA;
        v->yB = v->edge * v->dB;
        v->xB = v->sB * rA;
    }
}

/// As espyTerm_Look, with the half sweeps.
ESPY_TERM_INLINE void espyTerm_View(const espyTermCapsule* c, const espyR a[3], const espyR n[3], bool tapered,
                                    espyTermView* v)
{
    espyTerm_Look(c, a, n, tapered, v);
    v->qA = espyR_Atan2(v->yA, v->xA);
    v->qB = espyR_Atan2(v->yB, v->xB);
}

/// pi F where all of the capsule is above the horizon: a rest and three angles, each times a factor. Holds for a sphere
/// and where one end hides the other: then the tangent lines are 0 away and one sweep is pi, the other 0.
typedef struct espyTermWhole
{
    espyR yT, xT, yA, xA, yB, xB; ///< Of the angle between a line's tangent points, and of the half sweeps.
    espyR line, endA, endB;       ///< Their factors.
    espyR rest;
} espyTermWhole;

/// Two radii.
ESPY_TERM_INLINE void espyTerm_WholeTapered(const espyTermCapsule* c, const espyTermView* v, espyTermWhole* w)
{
    espyR gA = c->radiusA * v->inverseA * v->inverseA, gB = c->radiusB * v->inverseB * v->inverseB;
    espyR turns = gA * (v->h * v->nu - v->sA * v->nh) - gB * (v->h * v->nu - v->sB * v->nh);
    w->yT = c->length * c->flat * v->edge;
    w->xT = v->edge * v->edge + v->sigmaA * v->sigmaB;
    w->yA = v->yA;
    w->xA = v->xA;
    w->yB = v->yB;
    w->xB = v->xB;
    w->line = c->taper * v->nu + v->mh * v->nh;
    w->endA = c->radiusA * gA * (v->zA * v->inverseA);
    w->endB = c->radiusB * gB * (v->zB * v->inverseB);
    w->rest = v->mt * turns;
}

/// One radius: the distance to the axis line is needed as its square alone, and no root waits for another.
ESPY_TERM_INLINE void espyTerm_WholeStraight(const espyTermCapsule* c, const espyR a[3], const espyR n[3], espyR nu,
                                             espyR zA, espyR zB, espyTermWhole* w)
{
    const espyR zero = espyR_Set(0.0f), one = espyR_Set(1.0f);
    espyR r = c->radiusA, r2 = r * r;
    espyR sA = a[0] * c->ux + a[1] * c->uy + a[2] * c->uz, sB = sA + c->length;
    espyR hx = a[0] - sA * c->ux, hy = a[1] - sA * c->uy, hz = a[2] - sA * c->uz;
    espyR h2 = hx * hx + hy * hy + hz * hz;
    espyR k2 = espyR_Max(h2 - r2, zero), k = espyR_Sqrt(k2);
    espyR dA = espyR_Sqrt(espyR_Max(sA * sA + h2, r2)), dB = espyR_Sqrt(espyR_Max(sB * sB + h2, r2));
    espyR across = (n[0] * hx + n[1] * hy + n[2] * hz) * (one / espyR_Max(h2, espyR_Set(1e-36f)));
    espyR ends = one / (dA * dB), inverseA = ends * dB, inverseB = ends * dA;
    espyR gA = r * inverseA * inverseA, gB = r * inverseB * inverseB;
    w->yT = c->length * k;
    w->xT = k2 + sA * sB;
    w->yA = k * dA;
    w->xA = zero - sA * r;
    w->yB = k * dB;
    w->xB = sB * r;
    w->line = r * across;
    w->endA = r * gA * (zA * inverseA);
    w->endB = r * gB * (zB * inverseB);
    w->rest = k * (gA * (nu - sA * across) - gB * (nu - sB * across));
}

ESPY_TERM_INLINE espyR espyTerm_WholeSum(const espyTermWhole* w, espyR theta, espyR qA, espyR qB)
{
    return (theta * w->line + w->rest) + (qA * w->endA + qB * w->endB);
}

/// |n.e_t|
ESPY_TERM_INLINE espyR espyTerm_Side(const espyTermCapsule* c, const espyTermView* v, const espyR n[3])
{
    espyR x = c->uy * v->hz - c->uz * v->hy, y = c->uz * v->hx - c->ux * v->hz, z = c->ux * v->hy - c->uy * v->hx;
    return espyR_Abs(n[0] * x + n[1] * y + n[2] * z) * v->inverse;
}

/// Coordinate of the centre of the ball of the capsule that is nearest to the receiver.
ESPY_TERM_INLINE espyR espyTerm_Foot(const espyTermCapsule* c, const espyTermView* v, bool tapered)
{
    espyR at = tapered ? v->h * c->taper / c->flat : espyR_Set(0.0f);
    return espyR_Min(espyR_Max(at, v->sA), v->sB);
}

/// Smallest and largest slope of the points where the outline meets the horizon, seen from above; low exceeds
/// high until the first one.
typedef struct espyTermSpan
{
    espyR low, high;
} espyTermSpan;

#define ESPY_TERM_STEEP 1e15f

ESPY_TERM_INLINE void espyTerm_AddPoint(espyTermSpan* span, espyM valid, espyR x, espyR y)
{
    const espyR steep = espyR_Set(ESPY_TERM_STEEP);
    espyR slope = y / espyR_Max(x, espyR_Set(1e-30f));
    slope = espyR_Max(espyR_Min(slope, steep), espyR_Set(0.0f) - steep);
    valid = espyM_And(valid, espyR_Less(espyR_Set(0.0f), x));
    span->low = espyR_Select(valid, espyR_Min(slope, span->low), span->low);
    span->high = espyR_Select(valid, espyR_Max(slope, span->high), span->high);
}

/// The edge with sign `side`: angle times height of its inward normal, above the horizon only.
ESPY_TERM_INLINE espyR espyTerm_CutEdge(const espyTermCapsule* c, const espyTermView* v, espyR nt, float side,
                                        espyR foot, bool tapered, espyTermSpan* span)
{
    const espyR zero = espyR_Set(0.0f);
    espyR mt = espyR_Set(side) * v->mt, mh = espyR_Set(side) * v->mh;
    espyR g = v->mh * v->nh + mt * nt;
    espyR slope = v->nu;
    espyR across = v->mt * v->nh - mh * nt;
    if (tapered)
    {
        g = g + c->taper * v->nu;
        slope = (v->nu - c->taper * g) / c->flat;
        across = across / c->flat;
    }
    espyR base = v->edge * across;
    espyR fA = v->sigmaA * slope + base, fB = v->sigmaB * slope + base;
    espyM upA = espyR_Less(zero, fA), upB = espyR_Less(zero, fB);
    espyM any = espyM_Or(upA, upB);
    espyM crosses = espyM_And(any, espyM_Not(espyM_And(upA, upB)));
    // The slope is not 0 where the edge crosses; elsewhere the quotient is not used.
    espyR tiny = espyR_Set(1e-30f);
    espyR safe = espyR_Select(espyR_Less(slope, zero), espyR_Min(slope, zero - tiny), espyR_Max(slope, tiny));
    espyR x = espyR_Min(espyR_Max((zero - base) / safe, v->sigmaA), v->sigmaB);
    espyR s0 = espyR_Select(upA, v->sigmaA, x), s1 = espyR_Select(upB, v->sigmaB, x);
    espyR angle = espyR_Atan2(espyR_Max(s1 - s0, zero) * v->edge, v->edge * v->edge + s0 * s1);
    // Where the edge crosses: x along the line's direction and `edge` along its foot.
    espyR xu = x, xh = v->edge * v->mt, xt = zero - v->edge * mh;
    if (tapered)
    {
        espyR t = x * c->taper;
        xu = x * c->flat;
        xh = (xh - t * v->mh) / c->flat;
        xt = (xt - t * mt) / c->flat;
    }
    espyR px = xu * foot + xh * v->h;
    espyR py = nt * (foot * xh - v->h * xu) + (v->nu * v->h - v->nh * foot) * xt;
    espyTerm_AddPoint(span, crosses, px, py);
    return espyR_Select(any, g * angle, zero);
}

/// The arc of one end (`side` -1 for A, +1 for B), above the horizon only.
ESPY_TERM_INLINE espyR espyTerm_CutArc(const espyTermView* v, espyR nt, float side, espyR s, espyR z, espyR d,
                                       espyR inverse, espyR radius, espyR sigma, espyR q, espyR taper, espyR foot,
                                       espyR footZ, bool tapered, espyTermSpan* span)
{
    const espyR zero = espyR_Set(0.0f), pi = espyR_Set((espyLane)3.14159265358979323846),
                turn = espyR_Set((espyLane)6.28318530717958647693);
    espyR tangent = espyR_Sqrt(espyR_Max(sigma * sigma + v->edge2, zero));
    espyR up = z * inverse, sine = radius * inverse, cosine = tangent * inverse;
    espyR cut2 = (sine - up) * (sine + up);
    espyR w = espyR_Sqrt(espyR_Max(cut2, zero));
    espyR p = espyR_Set(side) * (v->h * v->nu - s * v->nh) * inverse;
    espyR middle = espyR_Atan2(nt, p);
    espyM cut = espyR_Less(zero, cut2);
    espyR reach = espyR_Select(cut, espyR_Atan2(w, zero - cosine * up), espyR_Select(espyR_Less(zero, up), pi, zero));
    // Sine and cosine of the half sweep, through the tangent point.
    espyR it = espyR_Set(1.0f) / espyR_Max(tangent, espyR_Set(1e-30f));
    espyR sq = v->mt * d * it;
    espyR cq = s * v->mh;
    if (tapered)
    {
        cq = cq - taper * v->h;
    }
    cq = espyR_Max(espyR_Min(espyR_Set(side) * cq * it, espyR_Set(1.0f)), espyR_Set(-1.0f));
    espyR ends = sq * p, mean = cq * nt, rim = w / sine;
    espyR a = middle - reach, b = middle + reach, wrapped = b - turn, minusQ = zero - q;
    espyM first = espyR_Less(a, q);
    espyM highIsEnd = espyR_Less(q, b), lowIsEnd = espyR_Less(a, minusQ);
    espyR sweep = espyR_Min(q, b) - espyR_Max(minusQ, a);
    espyR sum = espyR_Select(highIsEnd, ends - mean, rim) + espyR_Select(lowIsEnd, ends + mean, rim);
    sweep = espyR_Select(first, sweep, zero);
    sum = espyR_Select(first, sum, zero);
    espyM second = espyR_Less(minusQ, wrapped);
    sweep = sweep + espyR_Select(second, wrapped + q, zero);
    sum = sum + espyR_Select(second, rim + ends + mean, zero);
    // The two points where the end's circle meets the horizon, scaled by d.
    espyR ex = s * foot + v->h * v->h - footZ * z, ey = nt * v->h * (foot - s);
    espyTerm_AddPoint(span, cut, cosine * ex - w * ey, cosine * ey + w * ex);
    espyTerm_AddPoint(span, cut, cosine * ex + w * ey, cosine * ey - w * ex);
    return sine * (sine * up * sweep - cosine * sum);
}

/// pi F with the horizon cut, for any receiver outside the capsule.
ESPY_TERM_INLINE espyR espyTerm_Cut(const espyTermCapsule* c, const espyTermView* v, const espyR n[3], bool tapered)
{
    const espyR zero = espyR_Set(0.0f), steep = espyR_Set(2.0f * ESPY_TERM_STEEP);
    espyTermSpan span = {steep, zero - steep};
    espyR rA = c->radiusA, rB = tapered ? c->radiusB : c->radiusA;
    espyR nt = espyTerm_Side(c, v, n);
    // All blocked directions lie within a right angle of that to the nearest ball.
    espyR foot = espyTerm_Foot(c, v, tapered);
    espyR footZ = foot * v->nu + v->h * v->nh;
    espyR sum = espyTerm_CutEdge(c, v, nt, 1.0f, foot, tapered, &span);
    sum = sum + espyTerm_CutEdge(c, v, nt, -1.0f, foot, tapered, &span);
    sum = sum + espyTerm_CutArc(v, nt, -1.0f, v->sA, v->zA, v->dA, v->inverseA, rA, v->sigmaA, v->qA, c->taper, foot,
                                footZ, tapered, &span);
    sum = sum + espyTerm_CutArc(v, nt, 1.0f, v->sB, v->zB, v->dB, v->inverseB, rB, v->sigmaB, v->qB, c->taper, foot,
                                footZ, tapered, &span);
    espyM closes = espyR_LessEqual(span.low, span.high);
    espyR width = espyR_Max(span.high - span.low, zero);
    espyR phi = espyR_Atan2(width, espyR_Set(1.0f) + span.high * span.low);
    return espyR_Set(0.5f) * (sum + espyR_Select(closes, phi, zero));
}

/// Where some but not all of the capsule is above the horizon, and where some of it is.
ESPY_TERM_INLINE espyM espyTerm_IsCut(const espyTermCapsule* c, espyR zA, espyR zB, bool tapered, espyM* someAbove)
{
    const espyR zero = espyR_Set(0.0f);
    espyR rA = c->radiusA, rB = tapered ? c->radiusB : c->radiusA;
    *someAbove = espyM_Or(espyR_Less(zero - rA, zA), espyR_Less(zero - rB, zB));
    return espyM_And(*someAbove, espyM_Or(espyR_Less(zA, rA), espyR_Less(zB, rB)));
}

/// pi F of receivers that the capsule's horizon cuts, or that are inside.
ESPY_TERM_INLINE espyR espyTerm_CutOrInside(const espyTermCapsule* c, const espyTermView* v, const espyR n[3],
                                            bool tapered, bool solid)
{
    const espyR one = espyR_Set(1.0f);
    espyR f = espyTerm_Cut(c, v, n, tapered);
    espyR foot = espyTerm_Foot(c, v, tapered);
    espyR radius = tapered ? c->radiusA + (foot - v->sA) * c->taper : c->radiusA;
    espyR d = espyR_Sqrt(foot * foot + v->h * v->h);
    espyM inside = espyR_LessEqual(d, radius);
    if (espyM_Any(inside))
    {
        espyR z = v->zA + (foot - v->sA) * v->nu;
        espyR within = solid ? one : one - (d - z) / (radius + radius);
        f = espyR_Select(inside, within * espyR_Set((espyLane)3.14159265358979323846), f);
    }
    return f;
}

/// F from pi F, in [0, 1].
ESPY_TERM_INLINE espyR espyTerm_Share(espyR f, espyM someAbove)
{
    const espyR zero = espyR_Set(0.0f), inversePi = espyR_Set((espyLane)0.31830988618379067154);
    return espyR_Select(someAbove, espyR_Max(espyR_Min(f * inversePi, espyR_Set(1.0f)), zero), zero);
}

/// F in [0, 1] for receivers at p with unit normals n. `solid`: 1 inside; otherwise the continuation of the value at
/// the surface that grows to 1 on the axis.
ESPY_TERM_INLINE espyR espyTerm_Occlusion(const espyTermCapsule* c, const espyR p[3], const espyR n[3], bool tapered,
                                          bool solid)
{
    espyTermView v;
    espyR a[3];
    espyTerm_Ends(c, p, n, a, &v.nu, &v.zA, &v.zB);
    espyM someAbove, cut = espyTerm_IsCut(c, v.zA, v.zB, tapered, &someAbove);
    if (!espyM_Any(someAbove))
    {
        return espyR_Set(0.0f);
    }
    espyTermWhole w;
    if (tapered)
    {
        espyTerm_Look(c, a, n, true, &v);
        espyTerm_WholeTapered(c, &v, &w);
    }
    else
    {
        espyTerm_WholeStraight(c, a, n, v.nu, v.zA, v.zB, &w);
    }
    espyR f = espyTerm_WholeSum(&w, espyR_Atan2(w.yT, w.xT), espyR_Atan2(w.yA, w.xA), espyR_Atan2(w.yB, w.xB));
    if (espyM_Any(cut))
    {
        espyTerm_View(c, a, n, tapered, &v);
        f = espyR_Select(cut, espyTerm_CutOrInside(c, &v, n, tapered, solid), f);
    }
    return espyTerm_Share(f, someAbove);
}
