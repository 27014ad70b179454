// SPDX-License-Identifier: MIT
// The capsule term against truths that share no line with it: rays, the hull of the end caps, the contour by
// quadrature.
#include <espy/proxy.h>
#include <math.h>
#include <stdio.h>

#include "core/core.h"
#include "reference/capsule_reference.h"
#include "tests/test_main.h"

#define ESPY_TEST_PI 3.14159265358979323846
#define ESPY_TEST_CASES 1000000u

/// One receiver at the origin, in both precisions: the same numbers.
typedef struct espyCase
{
    espyCapsuleDouble capsule;
    double n[3];
    espyCapsule single;
    espyVec3 normal;
} espyCase;

static const double espyCase_Origin[3] = {0, 0, 0};

static double espyCase_Range(espyiRng* rng, double low, double high)
{
    return low + (high - low) * (double)espyiRng_Float(rng);
}

static void espyCase_Unit(espyiRng* rng, double v[3])
{
    double size;
    do
    {
        for (int i = 0; i < 3; ++i)
        {
            v[i] = espyCase_Range(rng, -1, 1);
        }
        size = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    } while (size > 1 || size < 0.1);
    for (int i = 0; i < 3; ++i)
    {
        v[i] /= size;
    }
}

static espyCase espyCase_Make(const double a[3], const double b[3], double radiusA, double radiusB, const double n[3])
{
    espyCase c = {0};
    float size = 0;
    for (int i = 0; i < 3; ++i)
    {
        c.capsule.a[i] = (float)a[i];
        c.capsule.b[i] = (float)b[i];
        c.n[i] = (float)n[i];
        size += (float)(c.n[i] * c.n[i]);
    }
    c.capsule.radiusA = (float)radiusA;
    c.capsule.radiusB = (float)radiusB;
    c.normal = (espyVec3){(float)n[0], (float)n[1], (float)n[2]};
    // The truths want a unit vector to more digits than a float holds.
    double exact = sqrt(c.n[0] * c.n[0] + c.n[1] * c.n[1] + c.n[2] * c.n[2]);
    for (int i = 0; i < 3; ++i)
    {
        c.n[i] /= size > 0 ? exact : 1;
    }
    c.single = (espyCapsule){{(float)a[0], (float)a[1], (float)a[2]},
                             {(float)b[0], (float)b[1], (float)b[2]},
                             (float)radiusA,
                             (float)radiusB};
    return c;
}

/// L / r 0.01 .. 50, clearance 0.001 r .. 30 r, any place along and past the axis, any normal; with `taper` the second
/// radius is 0.2 .. 1 of the first and the cone at most 64 degrees from the axis.
static espyCase espyCase_Random(espyiRng* rng, bool taper)
{
    double u[3], v[3], n[3], a[3], b[3];
    for (;;)
    {
        espyCase_Unit(rng, u);
        espyCase_Unit(rng, v);
        espyCase_Unit(rng, n);
        double length = pow(10, espyCase_Range(rng, -2, 1.699)), away = pow(10, espyCase_Range(rng, -3, 1.477));
        double along = espyCase_Range(rng, -0.3, 1.3) * length, scale = pow(10, espyCase_Range(rng, -1, 1));
        double second = taper ? espyCase_Range(rng, 0.2, 1) : 1;
        if (1 - second > 0.9 * length)
        {
            continue;
        }
        for (int i = 0; i < 3; ++i)
        {
            a[i] = scale * (v[i] * (1 + away) - u[i] * along);
            b[i] = a[i] + scale * u[i] * length;
        }
        espyCase c = espyCase_Make(a, b, scale, scale * second, n);
        if (espyCapsuleReference_Clearance(&c.capsule, espyCase_Origin) > 5e-4 * scale)
        {
            return c;
        }
    }
}

static double espyCase_Double(const espyCase* c)
{
    return espyCapsuleDouble_Occlusion(&c->capsule, espyCase_Origin, c->n, false);
}

static float espyCase_Single(const espyCase* c)
{
    return espyCapsule_Occlusion(&c->single, (espyVec3){0, 0, 0}, c->normal, espyCapsuleInside_Continuous);
}

/// The kinds where a formula could divide by nothing or take the wrong branch. Receiver at the origin.
static uint32_t espyCase_Degenerate(espyCase* out)
{
    uint32_t count = 0;
    const double up[3] = {0, 1, 0}, side[3] = {1, 0, 0}, down[3] = {0, -1, 0}, lean[3] = {0.6, 0.8, 0};
    const struct
    {
        double a[3], b[3], r;
        const double* n;
    } kinds[] = {
        {{0, 2, 0}, {0, 5, 0}, 1, up},                    // on the axis, ahead
        {{2, 0, 0}, {5, 0, 0}, 1, up},                    // on the axis, on the horizon
        {{1, 2, 0}, {1, 5, 0}, 1, up},                    // h = r
        {{1 + 1e-5, 2, 0}, {1 + 1e-5, 5, 0}, 1, up},      // h just above r
        {{1 - 1e-5, 2, 0}, {1 - 1e-5, 5, 0}, 1, up},      // h just below r
        {{-2, 1.0001, 0}, {2, 1.0001, 0}, 1, up},         // grazing the side
        {{-2, 1.0001, 0}, {2, 1.0001, 0}, 1, side},       //
        {{-2, 1.0001, 0}, {2, 1.0001, 0}, 1, lean},       //
        {{1.0001, 0, 0}, {4, 0, 0}, 1, lean},             // grazing an end
        {{0, -1.5, 1.5}, {0, 1.5, 1.5}, 1, up},           // beside
        {{-2, 0.5, 1.5}, {2, 0.5, 1.5}, 1, up},           // half buried
        {{-2, 0, 1.5}, {2, 0, 1.5}, 1, up},               // sunk to the middle
        {{-2, -0.5, 2}, {2, 2.5, 1.5}, 1, up},            // leaning
        {{-3, 0.2, 2}, {3, 0.2, 2}, 1, up},               // both ends cut
        {{-2, 1, 1.5}, {2, 1, 1.5}, 1, up},               // tangent to the horizon from above
        {{-2, -1, 1.5}, {2, -1, 1.5}, 1, up},             // and from below
        {{0.5, 1, 0.5}, {0.5, 1, 0.5}, 0.9, up},          // a ball
        {{0.5, 0.5, 1}, {0.5, 0.50001, 1}, 0.9, lean},    // almost a ball
        {{-24, 0.5, 2}, {24, 0.6, 2}, 1, up},             // long
        {{-1e4, 0.5, 2}, {1e4, 0.6, 2}, 1, up},           // longer than single precision holds in one piece
        {{-1e-2, 2e-3, 1e-2}, {2e-2, 0, 1e-2}, 1e-3, up}, // thin
        {{400, 300, 0}, {402, 301, 0}, 1, lean},          // far
        {{1.2, 0.4, 0}, {4, -3, 0.1}, 1, up},             // the back arc dips below
        {{0, -3, 0}, {0, -6, 0}, 1, up},                  // all below
        {{-3, -0.2, 2}, {3, -0.2, 2}, 1, down},           // upside down
    };
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
    {
        out[count++] = espyCase_Make(kinds[i].a, kinds[i].b, kinds[i].r, kinds[i].r, kinds[i].n);
    }
    return count;
}

static void test_truths_agree_with_each_other(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(11);
    double hull = 0, rays = 0;
    for (int i = 0; i < 60; ++i)
    {
        espyCase c = espyCase_Random(&rng, i & 1);
        double contour = espyCapsuleReference_Contour(&c.capsule, espyCase_Origin, c.n);
        hull = fmax(hull, fabs(espyCapsuleReference_Hull(&c.capsule, espyCase_Origin, c.n, 4096) - contour));
        rays =
            fmax(rays, fabs(espyCapsuleReference_Rays(&c.capsule, espyCase_Origin, c.n, 300, 5).occlusion - contour));
    }
    printf("truths (seed 11): contour against hull %.1e, against 90,000 rays %.1e\n", hull, rays);
    assert_true(hull < 1e-6);
    assert_true(rays < 6e-4);
}

static void test_occlusion_of_a_million_cases(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(1);
    double worstDouble = 0, worstSingle = 0, taperDouble = 0, taperSingle = 0;
    uint32_t cut = 0;
    for (uint32_t i = 0; i < ESPY_TEST_CASES; ++i)
    {
        bool taper = i % 10 == 9;
        espyCase c = espyCase_Random(&rng, taper);
        double truth = espyCapsuleReference_Contour(&c.capsule, espyCase_Origin, c.n);
        double d = fabs(espyCase_Double(&c) - truth), s = fabs((double)espyCase_Single(&c) - truth);
        assert_true(d <= 1e-7 && s <= 1e-3); // False for a NaN.
        *(taper ? &taperDouble : &worstDouble) = fmax(taper ? taperDouble : worstDouble, d);
        *(taper ? &taperSingle : &worstSingle) = fmax(taper ? taperSingle : worstSingle, s);
        cut += truth > 0 && truth < 1 && c.single.a.y > 0;
    }
    printf("occlusion, %u cases (seed 1): double %.1e, single %.1e; tapered: double %.1e, single %.1e\n",
           ESPY_TEST_CASES, worstDouble, worstSingle, taperDouble, taperSingle);
    assert_true(cut > 1000);
    assert_true(worstSingle <= 5e-5);
    assert_true(taperSingle <= 5e-5);
}

static void test_occlusion_of_degenerate_cases(void** state)
{
    (void)state;
    espyCase cases[32];
    uint32_t count = espyCase_Degenerate(cases);
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyCase* c = &cases[i];
        double truth = espyCapsuleReference_Contour(&c->capsule, espyCase_Origin, c->n);
        double rays = espyCapsuleReference_Rays(&c->capsule, espyCase_Origin, c->n, 300, 3).occlusion;
        double span = c->capsule.b[0] - c->capsule.a[0], allowed = span > 50 * c->capsule.radiusA ? 2e-3 : 5e-5;
        if (!(fabs(espyCase_Double(c) - truth) <= 1e-7) || !(fabs((double)espyCase_Single(c) - truth) <= allowed) ||
            !(fabs(rays - truth) < 6e-4))
        {
            fail_msg("kind %u: double %.9f single %.7f contour %.9f rays %.5f", i, espyCase_Double(c),
                     (double)espyCase_Single(c), truth, rays);
        }
    }
}

static void test_balls_have_the_known_values(void** state)
{
    (void)state;
    // Whole above the horizon: cos / d^2. Touching, normal along the surface: a half.
    espyCapsule ball = {{0, 2, 0}, {0, 2, 0}, 1, 1};
    espyVec3 at = {0, 0, 0};
    float f = espyCapsule_Occlusion(&ball, at, (espyVec3){0, 1, 0}, espyCapsuleInside_Continuous);
    assert_true(fabsf(f - 0.25f) < 1e-6f);
    ball = (espyCapsule){{1, 0, 0}, {1, 0, 0}, 1, 1};
    f = espyCapsule_Occlusion(&ball, at, (espyVec3){0, 1, 0}, espyCapsuleInside_Continuous);
    assert_true(fabsf(f - 0.5f) < 1e-3f);
    // A very long capsule: r nh / h, and on the axis of a tapered one only the near end shows.
    espyCapsule rod = {{-2500, 2, 0}, {2500, 2, 0}, 100, 100};
    rod.a.y = rod.b.y = 400;
    f = espyCapsule_Occlusion(&rod, at, (espyVec3){0, 1, 0}, espyCapsuleInside_Continuous);
    assert_true(fabsf(f - 0.25f) < 2e-3f);
    espyCapsule swallowed = {{0, 4, 0}, {0, 4.5f, 0}, 2, 1};
    f = espyCapsule_Occlusion(&swallowed, at, (espyVec3){0, 1, 0}, espyCapsuleInside_Continuous);
    assert_true(fabsf(f - 0.25f) < 1e-6f);
}

static void test_no_jump_across_surface_end_and_horizon(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(4);
    double surface = 0, end = 0, horizon = 0;
    for (int i = 0; i < 200000; ++i)
    {
        double n[3], v[3], p[3], q[3];
        espyCase_Unit(&rng, n);
        espyCase_Unit(&rng, v);
        double s = espyCase_Range(&rng, 0, 3);
        espyCapsuleDouble c = {{0, 0, 0}, {0, 3, 0}, 1, 1};
        if (i % 2 == 0)
        {
            c.radiusB = 0.5;
        }
        // Through the surface: along a ray from a point of the axis, bisected to where the clearance is 0.
        double low = 0, high = 8;
        for (int k = 0; k < 60; ++k)
        {
            double middle = (low + high) / 2;
            const double at[3] = {v[0] * middle, s + v[1] * middle, v[2] * middle};
            *(espyCapsuleReference_Clearance(&c, at) < 0 ? &low : &high) = middle;
        }
        for (int k = 0; k < 3; ++k)
        {
            p[k] = v[k] * (low - 5e-10) + (k == 1 ? s : 0);
            q[k] = v[k] * (low + 5e-10) + (k == 1 ? s : 0);
        }
        surface = fmax(
            surface, fabs(espyCapsuleDouble_Occlusion(&c, p, n, false) - espyCapsuleDouble_Occlusion(&c, q, n, false)));
        // Across h = r, beyond an end.
        c.radiusB = 1;
        double phi = espyCase_Range(&rng, 0, 2 * ESPY_TEST_PI), y = -1 - espyCase_Range(&rng, 1e-3, 5);
        const double in[3] = {cos(phi) * (1 - 5e-10), y, sin(phi) * (1 - 5e-10)};
        const double out[3] = {cos(phi) * (1 + 5e-10), y, sin(phi) * (1 + 5e-10)};
        end = fmax(
            end, fabs(espyCapsuleDouble_Occlusion(&c, in, n, false) - espyCapsuleDouble_Occlusion(&c, out, n, false)));
        // Across the horizon of each end and of the whole.
        for (int k = 0; k < 3; ++k)
        {
            p[k] = v[k] * espyCase_Range(&rng, 1.01, 6) + (k == 1 ? s : 0);
        }
        const double goal[] = {1, -1};
        double z = -(p[0] * n[0] + p[1] * n[1] + p[2] * n[2]) - goal[i & 1];
        for (int k = 0; k < 3; ++k)
        {
            q[k] = p[k] + n[k] * (z - 5e-10);
            p[k] += n[k] * (z + 5e-10);
        }
        if (espyCapsuleReference_Clearance(&c, p) > 0)
        {
            horizon = fmax(horizon, fabs(espyCapsuleDouble_Occlusion(&c, p, n, false) -
                                         espyCapsuleDouble_Occlusion(&c, q, n, false)));
        }
    }
    printf("largest step over 1e-9 r (seed 4): surface %.1e, h = r %.1e, horizon %.1e\n", surface, end, horizon);
    assert_true(surface <= 1e-4 && end <= 1e-4 && horizon <= 1e-4);
}

static void test_inside_grows_to_one_on_the_axis(void** state)
{
    (void)state;
    espyCapsule c = {{0, 0, 0}, {0, 2, 0}, 1, 1};
    espyVec3 normal = {1, 0, 0};
    float last = -1;
    // From the surface, where an outward normal sees nothing, to the axis.
    for (int i = 0; i <= 10; ++i)
    {
        float f =
            espyCapsule_Occlusion(&c, (espyVec3){1 - 0.1f * (float)i, 1, 0}, normal, espyCapsuleInside_Continuous);
        assert_true(f > last);
        last = f;
    }
    assert_true(last == 1.0f);
    float solid = espyCapsule_Occlusion(&c, (espyVec3){0.9f, 1, 0}, normal, espyCapsuleInside_Solid);
    assert_true(solid == 1.0f);
}

static void test_solid_angles_direction_and_lights(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(9);
    double whole = 0, above = 0, blocked = 0, cone = 0, dot = 0;
    espyVec3 zero = {0, 0, 0};
    for (int i = 0; i < 120; ++i)
    {
        espyCase c = espyCase_Random(&rng, i & 1);
        espyCapsuleRays rays = espyCapsuleReference_Rays(&c.capsule, espyCase_Origin, c.n, 250, 21);
        whole = fmax(whole, fabs((double)espyCapsule_SolidAngle(&c.single, zero) - rays.solidAngle) / 4);
        above = fmax(above,
                     fabs((double)espyCapsule_SolidAngleAbove(&c.single, zero, c.normal) - rays.solidAngleAbove) / 2);
        espyVec3 b = espyCapsule_BlockedDirection(&c.single, zero, c.normal);
        blocked = fmax(blocked, fabs((double)b.x - rays.blocked[0]) + fabs((double)b.y - rays.blocked[1]));
        double axis[3], size = 0, at = espyCase_Range(&rng, 0, 1), half = espyCase_Range(&rng, 0.02, 1.5);
        for (int k = 0; k < 3; ++k)
        {
            axis[k] = c.capsule.a[k] + at * (c.capsule.b[k] - c.capsule.a[k]) +
                      c.capsule.radiusA * espyCase_Range(&rng, -2, 2);
            size += axis[k] * axis[k];
        }
        for (int k = 0; k < 3; ++k)
        {
            axis[k] /= sqrt(size);
        }
        double truth = espyCapsuleReference_Cone(&c.capsule, espyCase_Origin, axis, half, 250, 5);
        espyVec3 toLight = {(float)axis[0], (float)axis[1], (float)axis[2]};
        cone = fmax(cone, fabs((double)espyCapsule_ConeLight(&c.single, zero, toLight, (float)half) - truth));
    }
    // The direction's product with the normal is the occlusion: two ways through other code.
    for (int i = 0; i < 50000; ++i)
    {
        espyCase c = espyCase_Random(&rng, i & 1);
        espyVec3 b = espyCapsule_BlockedDirection(&c.single, zero, c.normal);
        dot = fmax(
            dot, fabs((double)(b.x * c.normal.x + b.y * c.normal.y + b.z * c.normal.z) - (double)espyCase_Single(&c)));
    }
    printf(
        "against 62,500 rays (seed 9): solid angle / pi %.1e, above %.1e, direction %.1e, cone %.1e; direction . n - F "
        "%.1e\n",
        whole, above, blocked, cone, dot);
    assert_true(whole < 3e-3 && above < 3e-3 && blocked < 3e-3 && cone < 1e-3 && dot < 5e-5);
}

static void test_bound_and_reach_hold(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(13);
    float largest = 0;
    espyVec3 zero = {0, 0, 0};
    for (int i = 0; i < 200000; ++i)
    {
        espyCase c = espyCase_Random(&rng, i & 1);
        float f = espyCase_Single(&c), b = espyCapsule_Bound(&c.single, zero);
        assert_true(f <= b * 1.0001f + 2e-5f);
        largest = fmaxf(largest, f / (b + 1e-4f));
        float reach = espyCapsule_Reach(&c.single, 1.0f / 255.0f);
        assert_true(f < 1.01f / 255.0f ||
                    reach >= 0.99f * (float)espyCapsuleReference_Clearance(&c.capsule, espyCase_Origin));
    }
    printf("largest occlusion over its bound (seed 13): %.4f\n", (double)largest);
    assert_true(largest > 0.95f);
}

static void test_nothing_gives_a_nan(void** state)
{
    (void)state;
    espyiRng rng = espyiRng_Seed(17);
    for (int i = 0; i < 300000; ++i)
    {
        // Radii 1e-6 .. 1e8, lengths and distances 0 .. 1e8, axes and normals along the axes of space as well.
        double u[3], v[3], n[3];
        espyCase_Unit(&rng, u);
        espyCase_Unit(&rng, v);
        espyCase_Unit(&rng, n);
        if (i % 3 == 0)
        {
            v[0] = v[2] = u[0] = u[1] = 0;
            v[1] = u[2] = 1;
            n[0] = i % 2 ? 0 : 1;
            n[1] = i % 2 ? 1 : 0;
            n[2] = 0;
        }
        double r = pow(10, espyCase_Range(&rng, -6, 8)), d = i % 7 == 0 ? 0 : pow(10, espyCase_Range(&rng, -6, 8));
        double length = i % 5 == 0 ? 0 : pow(10, espyCase_Range(&rng, -6, 8));
        double a[3], b[3];
        for (int k = 0; k < 3; ++k)
        {
            a[k] = v[k] * d;
            b[k] = a[k] + u[k] * length;
        }
        espyCase c = espyCase_Make(a, b, r, i % 2 ? r : r * espyCase_Range(&rng, 0.01, 2), n);
        espyVec3 zero = {0, 0, 0};
        float f = espyCase_Single(&c), w = espyCapsule_SolidAngle(&c.single, zero);
        float above = espyCapsule_SolidAngleAbove(&c.single, zero, c.normal);
        float cone = espyCapsule_ConeLight(&c.single, zero, c.normal, 0.3f);
        espyVec3 blocked = espyCapsule_BlockedDirection(&c.single, zero, c.normal);
        assert_true(f >= 0 && f <= 1);
        assert_true(w >= 0 && w <= 12.5664f);
        assert_true(above >= 0 && above <= 6.2832f);
        assert_true(cone >= 0 && cone <= 1);
        assert_true(blocked.x == blocked.x && blocked.y == blocked.y && blocked.z == blocked.z);
    }
    espyCapsule c = {{0, 2, 0}, {0, 3, 0}, 1, 1};
    espyVec3 zero = {0, 0, 0}, bad = {NAN, 0, 0};
    float none = espyCapsule_Occlusion(&c, zero, zero, espyCapsuleInside_Continuous);
    assert_true(fabsf(none - espyCapsule_SolidAngle(&c, zero) / 12.5663706f) < 1e-6f);
    assert_true(espyCapsule_Occlusion(&c, zero, bad, espyCapsuleInside_Continuous) == none);
}

/// What is usual: a ball of the capsule's radius at `s` along the axis, by the inverse square or exactly.
static double espyApprox_Ball(const espyCase* c, double s, bool exact)
{
    const espyCapsuleDouble* k = &c->capsule;
    espyCapsuleDouble ball = {.radiusA = k->radiusA, .radiusB = k->radiusA};
    double d2 = 0, height = 0;
    for (int i = 0; i < 3; ++i)
    {
        ball.a[i] = ball.b[i] = k->a[i] + s * (k->b[i] - k->a[i]);
        d2 += ball.a[i] * ball.a[i];
        height += ball.a[i] * c->n[i];
    }
    return exact ? espyCapsuleDouble_Occlusion(&ball, espyCase_Origin, c->n, false)
                 : fmin(1, fmax(0, height) * k->radiusA * k->radiusA / (d2 * sqrt(d2)));
}

static double espyApprox_Closest(const espyCase* c)
{
    double dot = 0, size = 0;
    for (int i = 0; i < 3; ++i)
    {
        double u = c->capsule.b[i] - c->capsule.a[i];
        dot -= c->capsule.a[i] * u;
        size += u * u;
    }
    return size > 0 ? fmin(1, fmax(0, dot / size)) : 0;
}

static void test_usual_approximations_beside(void** state)
{
    (void)state;
    static const char* const names[] = {"closest ball, inverse square", "closest ball, exact", "5 balls, product",
                                        "this, single precision"};
    for (int lying = 0; lying < 2; ++lying)
    {
        espyiRng rng = espyiRng_Seed(23);
        double worst[4] = {0}, square[4] = {0};
        uint32_t count = 0;
        while (count < 20000)
        {
            espyCase c = espyCase_Random(&rng, false);
            if (lying)
            {
                // On the ground beside a capsule that lies on it.
                double length = espyCase_Range(&rng, 0.5, 12), along = espyCase_Range(&rng, -0.2, 1.2) * length;
                double away = espyCase_Range(&rng, 0.1, 8);
                const double a[3] = {-along, 1, away}, b[3] = {length - along, 1, away}, n[3] = {0, 1, 0};
                c = espyCase_Make(a, b, 1, 1, n);
            }
            double truth = espyCase_Double(&c), closest = espyApprox_Closest(&c), survives = 1;
            if (truth < 1e-5)
            {
                continue;
            }
            for (int i = 0; i < 5; ++i)
            {
                survives *= 1 - espyApprox_Ball(&c, i / 4.0, true);
            }
            const double found[] = {espyApprox_Ball(&c, closest, false), espyApprox_Ball(&c, closest, true),
                                    1 - survives, (double)espyCase_Single(&c)};
            for (int i = 0; i < 4; ++i)
            {
                worst[i] = fmax(worst[i], fabs(found[i] - truth));
                square[i] += (found[i] - truth) * (found[i] - truth) / 20000;
            }
            ++count;
        }
        for (int i = 0; i < 4; ++i)
        {
            printf("%-9s %-29s max %.5f rms %.5f\n", lying ? "lying" : "any", names[i], worst[i], sqrt(square[i]));
        }
        assert_true(worst[0] > 0.1 && worst[1] > 0.1 && worst[2] > 0.1 && worst[3] <= 5e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truths_agree_with_each_other),
        cmocka_unit_test(test_occlusion_of_a_million_cases),
        cmocka_unit_test(test_occlusion_of_degenerate_cases),
        cmocka_unit_test(test_balls_have_the_known_values),
        cmocka_unit_test(test_no_jump_across_surface_end_and_horizon),
        cmocka_unit_test(test_inside_grows_to_one_on_the_axis),
        cmocka_unit_test(test_solid_angles_direction_and_lights),
        cmocka_unit_test(test_bound_and_reach_hold),
        cmocka_unit_test(test_usual_approximations_beside),
        cmocka_unit_test(test_nothing_gives_a_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
