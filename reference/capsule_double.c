// SPDX-License-Identifier: MIT
// The closed form of the capsule term in double precision.
#include "reference/capsule_double.h"

#include <math.h>

typedef double espyLane;
typedef double espyR;
typedef bool espyM;

static espyR espyR_Set(double a)
{
    return a;
}

static espyR espyR_Sqrt(espyR a)
{
    return sqrt(a);
}

static espyR espyR_Min(espyR a, espyR b)
{
    return a < b ? a : b;
}

static espyR espyR_Max(espyR a, espyR b)
{
    return a > b ? a : b;
}

static espyR espyR_Abs(espyR a)
{
    return fabs(a);
}

static espyM espyR_Less(espyR a, espyR b)
{
    return a < b;
}

static espyM espyR_LessEqual(espyR a, espyR b)
{
    return a <= b;
}

static espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return m ? a : b;
}

static espyM espyM_And(espyM a, espyM b)
{
    return a && b;
}

static espyM espyM_Or(espyM a, espyM b)
{
    return a || b;
}

static espyM espyM_Not(espyM a)
{
    return !a;
}

static bool espyM_Any(espyM a)
{
    return a;
}

static espyR espyR_Atan2(espyR y, espyR x)
{
    return atan2(y, x);
}

#include "kernels/proxy_term.inl"

double espyCapsuleDouble_Occlusion(const espyCapsuleDouble* capsule, const double p[3], const double n[3], bool solid)
{
    double rA = capsule->radiusA, rB = capsule->radiusB;
    const double *a = capsule->a, *b = capsule->b;
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (length <= fabs(rB - rA))
    {
        // One ball holds the other.
        a = rA < rB ? b : a;
        rA = rB = fmax(rA, rB);
        length = 0;
    }
    espyTermCapsule c = {.ax = a[0], .ay = a[1], .az = a[2], .ux = 1, .length = length, .radiusA = rA, .radiusB = rB};
    c.flat = 1;
    if (length > 0)
    {
        c.ux = d[0] / length;
        c.uy = d[1] / length;
        c.uz = d[2] / length;
        c.taper = (rB - rA) / length;
        c.flat = sqrt((1 - c.taper) * (1 + c.taper));
    }
    return rA == rB ? espyTerm_Occlusion(&c, p, n, false, solid) : espyTerm_Occlusion(&c, p, n, true, solid);
}
