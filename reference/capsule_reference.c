// SPDX-License-Identifier: MIT
// What a capsule blocks, the slow ways.
//
// Based on: Lambert's formula for polygons (M. Stark, UUCS-00-012, 2000); Andrew's monotone chain for the hull;
// Gauss-Legendre nodes by Newton's method on the Legendre polynomials.
#include "reference/capsule_reference.h"

#include "core/core.h"

#include <math.h>
#include <stdlib.h>

#define ESPY_PI 3.14159265358979323846

typedef struct espyV
{
    double x, y, z;
} espyV;

static espyV espyV_Of(const double p[3])
{
    return (espyV){p[0], p[1], p[2]};
}

static espyV espyV_Add(espyV a, espyV b, double scale)
{
    return (espyV){a.x + b.x * scale, a.y + b.y * scale, a.z + b.z * scale};
}

static double espyV_Dot(espyV a, espyV b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyV espyV_Cross(espyV a, espyV b)
{
    return (espyV){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double espyV_Length(espyV a)
{
    return sqrt(espyV_Dot(a, a));
}

static espyV espyV_Unit(espyV a)
{
    double length = espyV_Length(a);
    return length > 0 ? (espyV){a.x / length, a.y / length, a.z / length} : (espyV){1, 0, 0};
}

static void espyV_Basis(espyV axis, espyV* e1, espyV* e2)
{
    espyV other = fabs(axis.x) < 0.6 ? (espyV){1, 0, 0} : (espyV){0, 1, 0};
    *e1 = espyV_Unit(espyV_Cross(axis, other));
    *e2 = espyV_Cross(axis, *e1);
}

// --- rays

/// Both ends seen from the receiver; one ball twice where it holds the other.
static void espyReference_Ends(const espyCapsuleDouble* capsule, const double p[3], espyV ends[2], double radii[2])
{
    espyV at = espyV_Of(p);
    ends[0] = espyV_Add(espyV_Of(capsule->a), at, -1);
    ends[1] = espyV_Add(espyV_Of(capsule->b), at, -1);
    radii[0] = capsule->radiusA;
    radii[1] = capsule->radiusB;
    if (espyV_Length(espyV_Add(ends[1], ends[0], -1)) <= fabs(radii[1] - radii[0]))
    {
        int large = radii[1] > radii[0];
        ends[0] = ends[1] = ends[large];
        radii[0] = radii[1] = radii[large];
    }
}

static bool espyReference_HitsBall(espyV centre, double radius, espyV w)
{
    double along = espyV_Dot(centre, w);
    double miss2 = espyV_Dot(centre, centre) - along * along;
    return espyV_Dot(centre, centre) <= radius * radius || (along > 0 && miss2 <= radius * radius);
}

static bool espyReference_Hits(const espyV ends[2], const double radii[2], espyV w)
{
    if (espyReference_HitsBall(ends[0], radii[0], w) || espyReference_HitsBall(ends[1], radii[1], w))
    {
        return true;
    }
    // The cone between the balls: its points at parameter s along the axis are r0 + t s from it, measured so that
    // |x - A - s u|^2 (1 - t^2) = (rA + t s)^2 with s shifted by the lean. Solved as a quadratic in the ray's length.
    espyV d = espyV_Add(ends[1], ends[0], -1);
    double length = espyV_Length(d);
    if (length == 0)
    {
        return false;
    }
    espyV u = espyV_Unit(d);
    double t = (radii[1] - radii[0]) / length;
    // A ball of radius rA + t s at s covers the point (s', rho) when rho^2 + (s - s')^2 <= (rA + t s)^2; the envelope
    // is rho sqrt(1-t^2) = rA + t s', for s' - s = -t (rA + t s).
    double flat2 = 1 - t * t;
    double sw = espyV_Dot(u, w), s0 = -espyV_Dot(u, ends[0]);
    espyV o = espyV_Add((espyV){-ends[0].x, -ends[0].y, -ends[0].z}, u, -s0), v = espyV_Add(w, u, -sw);
    double r0 = radii[0] + t * s0, rw = t * sw;
    double qa = espyV_Dot(v, v) * flat2 - rw * rw, qb = espyV_Dot(o, v) * flat2 - r0 * rw;
    double qc = espyV_Dot(o, o) * flat2 - r0 * r0;
    double roots[2];
    int count = 0;
    if (fabs(qa) < 1e-300)
    {
        roots[count++] = qb != 0 ? -qc / (2 * qb) : -1;
    }
    else
    {
        double disc = qb * qb - qa * qc;
        if (disc >= 0)
        {
            roots[count++] = (-qb - sqrt(disc)) / qa;
            roots[count++] = (-qb + sqrt(disc)) / qa;
        }
    }
    for (int i = 0; i < count; ++i)
    {
        double s = s0 + roots[i] * sw, radius = radii[0] + t * s;
        // The ball that touches the envelope there has its centre at s + t * radius / (1 - t^2).
        double centre = s + t * radius / flat2;
        if (roots[i] > 0 && radius >= 0 && centre >= 0 && centre <= length)
        {
            return true;
        }
    }
    return false;
}

bool espyCapsuleReference_Hits(const espyCapsuleDouble* capsule, const double p[3], const double w[3])
{
    espyV ends[2];
    double radii[2];
    espyReference_Ends(capsule, p, ends, radii);
    return espyReference_Hits(ends, radii, espyV_Of(w));
}

static double espyReference_Random(espyiRng* rng)
{
    return ((double)espyiRng_U32(rng) + 0.5) / 4294967296.0;
}

espyCapsuleRays espyCapsuleReference_Rays(const espyCapsuleDouble* capsule, const double p[3], const double n[3],
                                          uint32_t side, uint64_t seed)
{
    espyCapsuleRays found = {0};
    espyV ends[2], e1, e2, up = espyV_Of(n), sum = {0, 0, 0};
    double radii[2], rays = (double)side * side;
    espyReference_Ends(capsule, p, ends, radii);
    espyV_Basis(up, &e1, &e2);
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t i = 0; i < side; ++i)
    {
        for (uint32_t j = 0; j < side; ++j)
        {
            // Height z uniform over the sphere's upper and lower half: equal solid angles.
            double z = ((double)i + espyReference_Random(&rng)) / side;
            double phi = 2 * ESPY_PI * ((double)j + espyReference_Random(&rng)) / side, r = sqrt(1 - z * z);
            espyV flat = espyV_Add((espyV){0, 0, 0}, e1, r * cos(phi));
            flat = espyV_Add(flat, e2, r * sin(phi));
            espyV w = espyV_Add(flat, up, z);
            if (espyReference_Hits(ends, radii, w))
            {
                found.solidAngleAbove += 2 * ESPY_PI / rays;
                sum = espyV_Add(sum, w, 2 / rays);
            }
            found.solidAngle += espyReference_Hits(ends, radii, espyV_Add(flat, up, -z)) ? 2 * ESPY_PI / rays : 0;
            // Height by the square root: equal cosine-weighted shares.
            double c = sqrt(((double)i + espyReference_Random(&rng)) / side);
            r = sqrt(1 - c * c);
            w = espyV_Add(espyV_Add((espyV){0, 0, 0}, up, c), e1, r * cos(phi));
            w = espyV_Add(w, e2, r * sin(phi));
            found.occlusion += espyReference_Hits(ends, radii, w) ? 1 / rays : 0;
        }
    }
    found.solidAngle += found.solidAngleAbove;
    found.blocked[0] = sum.x;
    found.blocked[1] = sum.y;
    found.blocked[2] = sum.z;
    return found;
}

double espyCapsuleReference_Cone(const espyCapsuleDouble* capsule, const double p[3], const double axis[3],
                                 double halfAngle, uint32_t side, uint64_t seed)
{
    espyV ends[2], e1, e2, up = espyV_Of(axis);
    double radii[2], hits = 0, depth = 2 * sin(halfAngle / 2) * sin(halfAngle / 2);
    espyReference_Ends(capsule, p, ends, radii);
    espyV_Basis(up, &e1, &e2);
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t i = 0; i < side; ++i)
    {
        for (uint32_t j = 0; j < side; ++j)
        {
            double fall = depth * ((double)i + espyReference_Random(&rng)) / side, r = sqrt(fall * (2 - fall));
            double phi = 2 * ESPY_PI * ((double)j + espyReference_Random(&rng)) / side;
            espyV w = espyV_Add(espyV_Add((espyV){0, 0, 0}, up, 1 - fall), e1, r * cos(phi));
            hits += espyReference_Hits(ends, radii, espyV_Add(w, e2, r * sin(phi))) ? 1 : 0;
        }
    }
    return hits / ((double)side * side);
}

// --- hull

typedef struct espyFlat
{
    double x, y;
    espyV w;
} espyFlat;

static int espyFlat_Compare(const void* a, const void* b)
{
    const espyFlat *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

static double espyFlat_Turn(const espyFlat* a, const espyFlat* b, const espyFlat* c)
{
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/// n times the integral of w x dw along the great circle from a to b.
static double espyReference_Edge(espyV a, espyV b, espyV n)
{
    espyV cross = espyV_Cross(a, b);
    double sine = espyV_Length(cross);
    return sine > 0 ? atan2(sine, espyV_Dot(a, b)) * espyV_Dot(cross, n) / sine : 0;
}

/// Half of n times the contour integral of a closed polygon on the sphere, cut by the horizon of n.
static double espyReference_Polygon(const espyV* w, uint32_t count, espyV n)
{
    double sum = 0;
    espyV exit = {0, 0, 0}, entry = {0, 0, 0};
    bool cut = false;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyV a = w[i], b = w[(i + 1) % count];
        double za = espyV_Dot(a, n), zb = espyV_Dot(b, n);
        if (za <= 0 && zb <= 0)
        {
            continue;
        }
        if (za <= 0 || zb <= 0)
        {
            espyV x = espyV_Add(a, espyV_Add(b, a, -1), za / (za - zb));
            cut = true;
            if (za <= 0)
            {
                a = entry = x;
            }
            else
            {
                b = exit = x;
            }
        }
        sum += espyReference_Edge(a, b, n);
    }
    return (cut ? sum + espyReference_Edge(exit, entry, n) : sum) / 2;
}

double espyCapsuleReference_Hull(const espyCapsuleDouble* capsule, const double p[3], const double n[3],
                                 uint32_t points)
{
    espyV ends[2];
    double radii[2];
    espyReference_Ends(capsule, p, ends, radii);
    // Seen through the plane perpendicular to a direction from which all blocked directions are ahead: that to the
    // nearest ball on the axis.
    espyV best = ends[0];
    double nearest = 1e300;
    for (int i = 0; i <= 20000; ++i)
    {
        espyV c = espyV_Add(ends[0], espyV_Add(ends[1], ends[0], -1), i / 20000.0);
        double clearance = espyV_Length(c) - (radii[0] + (radii[1] - radii[0]) * i / 20000.0);
        if (clearance < nearest)
        {
            nearest = clearance;
            best = c;
        }
    }
    espyV view = espyV_Unit(best), e1, e2;
    espyV_Basis(view, &e1, &e2);
    espyFlat* flat = calloc((size_t)points * 2, sizeof *flat);
    espyFlat* hull = calloc((size_t)points * 4 + 2, sizeof *hull);
    espyV* outline = calloc((size_t)points * 4 + 2, sizeof *outline);
    double result = NAN;
    if (flat && hull && outline)
    {
        for (uint32_t i = 0; i < 2 * points; ++i)
        {
            espyV axis = espyV_Unit(ends[i & 1]), x, y;
            espyV_Basis(axis, &x, &y);
            double sine = radii[i & 1] / espyV_Length(ends[i & 1]), angle = 2 * ESPY_PI * (i / 2) / points;
            espyV w = espyV_Add((espyV){0, 0, 0}, axis, sqrt(1 - sine * sine));
            w = espyV_Add(espyV_Add(w, x, sine * cos(angle)), y, sine * sin(angle));
            double ahead = espyV_Dot(w, view);
            flat[i] = (espyFlat){espyV_Dot(w, e1) / ahead, espyV_Dot(w, e2) / ahead, w};
        }
        qsort(flat, (size_t)points * 2, sizeof *flat, espyFlat_Compare);
        uint32_t count = 0;
        for (int pass = 0; pass < 2; ++pass)
        {
            uint32_t base = count;
            for (uint32_t i = 0; i < 2 * points; ++i)
            {
                const espyFlat* next = &flat[pass == 0 ? i : 2 * points - 1 - i];
                while (count >= base + 2 && espyFlat_Turn(&hull[count - 2], &hull[count - 1], next) <= 0)
                {
                    --count;
                }
                hull[count++] = *next;
            }
            --count; // The other chain starts with it.
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            outline[i] = hull[i].w;
        }
        result = espyReference_Polygon(outline, count, espyV_Of(n)) / ESPY_PI;
    }
    free(flat);
    free(hull);
    free(outline);
    return result;
}

// --- contour

#define ESPY_NODES 12

static void espyReference_Legendre(double x[ESPY_NODES], double weight[ESPY_NODES])
{
    for (int i = 0; i < ESPY_NODES; ++i)
    {
        double at = cos(ESPY_PI * (i + 0.75) / (ESPY_NODES + 0.5)), slope = 1;
        for (int step = 0; step < 20; ++step)
        {
            double before = 1, value = at;
            for (int k = 2; k <= ESPY_NODES; ++k)
            {
                double next = ((2 * k - 1) * at * value - (k - 1) * before) / k;
                before = value;
                value = next;
            }
            slope = ESPY_NODES * (at * value - before) / (at * at - 1);
            at -= value / slope;
        }
        x[i] = at;
        weight[i] = 2 / ((1 - at * at) * slope * slope);
    }
}

/// A circle of directions around the ball of one end, as w(t) = c + a cos t + b sin t, counter-clockwise from outside.
typedef struct espyCircle
{
    espyV c, a, b;
} espyCircle;

static espyV espyCircle_At(const espyCircle* circle, double t)
{
    return espyV_Add(espyV_Add(circle->c, circle->a, cos(t)), circle->b, sin(t));
}

/// Where the outline leaves or enters the hemisphere, in the order of the walk.
typedef struct espyCrossing
{
    espyV at;
    bool enters;
} espyCrossing;

typedef struct espyCrossings
{
    espyCrossing list[32];
    int count, steps;
    bool above, firstAbove;
    espyV first;
} espyCrossings;

/// The next piece of the outline starts at `at` and lies above the horizon or below. Where that changes there is a
/// crossing, even between two pieces that each just miss it.
static void espyCrossings_Step(espyCrossings* crossings, espyV at, bool above)
{
    if (crossings->steps++ == 0)
    {
        crossings->first = at;
        crossings->firstAbove = above;
    }
    else if (above != crossings->above)
    {
        crossings->list[crossings->count++] = (espyCrossing){at, above};
    }
    crossings->above = above;
}

/// n times the integral of w x dw from t0 to t1, above the horizon only. The pieces between the horizon's crossings are
/// whole or nothing.
static double espyCircle_Arc(const espyCircle* circle, double t0, double t1, espyV n, const double* x,
                             const double* weight, espyCrossings* crossed)
{
    double stops[8];
    int count = 0;
    stops[count++] = t0;
    double flat = espyV_Dot(circle->c, n), pa = espyV_Dot(circle->a, n), pb = espyV_Dot(circle->b, n);
    double size = hypot(pa, pb), middle = atan2(pb, pa);
    if (size > fabs(flat))
    {
        double half = acos(-flat / size);
        double crossings[2] = {middle - half, middle + half};
        for (int i = 0; i < 2; ++i)
        {
            while (crossings[i] < t0)
            {
                crossings[i] += 2 * ESPY_PI;
            }
            while (crossings[i] > t0 + 2 * ESPY_PI)
            {
                crossings[i] -= 2 * ESPY_PI;
            }
        }
        double low = fmin(crossings[0], crossings[1]), high = fmax(crossings[0], crossings[1]);
        if (low > t0 && low < t1)
        {
            stops[count++] = low;
        }
        if (high > t0 && high < t1)
        {
            stops[count++] = high;
        }
    }
    stops[count++] = t1;
    double sum = 0;
    for (int i = 0; i + 1 < count; ++i)
    {
        double a = stops[i], b = stops[i + 1];
        bool above = espyV_Dot(espyCircle_At(circle, (a + b) / 2), n) > 0;
        espyCrossings_Step(crossed, espyCircle_At(circle, a), above);
        for (int k = 0; above && k < ESPY_NODES; ++k)
        {
            double t = (a + b) / 2 + (b - a) / 2 * x[k];
            espyV step = espyV_Add(espyV_Add((espyV){0, 0, 0}, circle->a, -sin(t)), circle->b, cos(t));
            sum += (b - a) / 2 * weight[k] * espyV_Dot(n, espyV_Cross(espyCircle_At(circle, t), step));
        }
    }
    return sum;
}

double espyCapsuleReference_Contour(const espyCapsuleDouble* capsule, const double p[3], const double n[3])
{
    static double x[ESPY_NODES], weight[ESPY_NODES];
    if (weight[0] == 0)
    {
        espyReference_Legendre(x, weight);
    }
    espyV ends[2], up = espyV_Of(n);
    double radii[2];
    espyReference_Ends(capsule, p, ends, radii);
    espyV along = espyV_Add(ends[1], ends[0], -1);
    espyCircle circles[2];
    double from[2], to[2];
    bool whole[2];
    for (int i = 0; i < 2; ++i)
    {
        // A point T of the circle is on the outline where the plane that touches the ball there has the other ball on
        // its inner side: m.B >= radius, m the inward unit normal. m = (E - T) / radius and T = l w.
        double d = espyV_Length(ends[i]), sine = radii[i] / d, cosine = sqrt((1 - sine) * (1 + sine));
        espyV axis = espyV_Unit(ends[i]), a, b;
        espyV_Basis(axis, &a, &b);
        circles[i] = (espyCircle){espyV_Add((espyV){0, 0, 0}, axis, cosine), espyV_Add((espyV){0, 0, 0}, a, sine),
                                  espyV_Add((espyV){0, 0, 0}, b, sine)};
        // m(t) = sine axis - cosine (a cos t + b sin t)
        double sign = i == 0 ? 1 : -1;
        double other = radii[1 - i] - radii[i];
        double flat = sign * sine * espyV_Dot(axis, along) - other;
        double pa = -sign * cosine * espyV_Dot(a, along), pb = -sign * cosine * espyV_Dot(b, along);
        double size = hypot(pa, pb), middle = atan2(pb, pa);
        double half = size <= fabs(flat) ? (flat >= 0 ? ESPY_PI : 0) : acos(-flat / size);
        // A whole circle starts anywhere but at a crossing of the horizon.
        double shift = half == ESPY_PI ? 0.1234 : 0;
        from[i] = middle - half + shift;
        to[i] = middle + half + shift;
        whole[i] = half == ESPY_PI;
    }
    if (espyV_Length(along) == 0)
    {
        whole[0] = true;
        from[0] = 0.1234;
        to[0] = from[0] + 2 * ESPY_PI;
    }
    double sum = 0;
    espyCrossings crossed = {.count = 0};
    if (whole[0] || whole[1])
    {
        int i = whole[0] ? 0 : 1;
        sum = espyCircle_Arc(&circles[i], from[i], to[i], up, x, weight, &crossed);
    }
    else
    {
        for (int i = 0; i < 2; ++i)
        {
            sum += espyCircle_Arc(&circles[i], from[i], to[i], up, x, weight, &crossed);
            // A great circle joins the end of each arc to the start of the other.
            espyV a = espyCircle_At(&circles[i], to[i]), b = espyCircle_At(&circles[1 - i], from[1 - i]);
            double za = espyV_Dot(a, up), zb = espyV_Dot(b, up);
            bool cut = (za > 0) != (zb > 0);
            espyV at = cut ? espyV_Add(a, espyV_Add(b, a, -1), za / (za - zb)) : b;
            espyCrossings_Step(&crossed, a, za > 0);
            if (cut)
            {
                espyCrossings_Step(&crossed, at, zb > 0);
            }
            sum += za > 0 ? espyReference_Edge(a, at, up) : 0;
            sum += cut && zb > 0 ? espyReference_Edge(at, b, up) : 0;
        }
    }
    espyCrossings_Step(&crossed, crossed.first, crossed.firstAbove);
    // Along the horizon from each exit to the next entry.
    for (int i = 0; i < crossed.count; ++i)
    {
        const espyCrossing *one = &crossed.list[i], *next = &crossed.list[(i + 1) % crossed.count];
        if (!one->enters && next->enters)
        {
            sum += espyReference_Edge(one->at, next->at, up);
        }
    }
    return sum / (2 * ESPY_PI);
}

double espyCapsuleReference_Clearance(const espyCapsuleDouble* capsule, const double p[3])
{
    espyV ends[2];
    double radii[2];
    espyReference_Ends(capsule, p, ends, radii);
    espyV d = espyV_Add(ends[1], ends[0], -1), u = espyV_Unit(d);
    double length = espyV_Length(d), s = -espyV_Dot(ends[0], u);
    double h = espyV_Length(espyV_Add(ends[0], u, s));
    double t = length > 0 ? (radii[1] - radii[0]) / length : 0;
    double at = fmax(0, fmin(length, s + h * t / sqrt(1 - t * t)));
    return hypot(h, at - s) - (radii[0] + t * at);
}
