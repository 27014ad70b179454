// SPDX-License-Identifier: MIT
// Rays of the ladder, aimed through what its proofs could not close: the narrowest openings of a flood's way, windows.
#include "bake/proof_ladder.h"

#include <float.h>
#include <math.h>

#define ESPYI_AIM_TRIES 4u
// Of four rays, so many through the gaps of the flood, one through a window, and the rest at random.
#define ESPYI_GAP_RAYS 2u

static double espyLadder_Random(espyiLadder* ladder, double low, double high)
{
    return low + (high - low) * (double)espyiRng_Float(&ladder->rng);
}

/// A point of some part under the node inside the box. False: none was found in a few tries.
static bool espyLadder_PickTarget(espyiLadder* ladder, uint32_t node, const espyiBoxD* box, double p[3])
{
    const espyiPartTree* tree = &ladder->prover->parts;
    for (uint32_t attempt = 0; attempt < ESPYI_AIM_TRIES; ++attempt)
    {
        uint32_t at = tree->nodes[node].first + espyiRng_Below(&ladder->rng, tree->nodes[node].count);
        const espyiBoxD* part = &ladder->target->parts[tree->order[at]];
        bool meets = true;
        for (int axis = 0; axis < 3; ++axis)
        {
            double low = fmax(part->min[axis], box->min[axis]), high = fmin(part->max[axis], box->max[axis]);
            meets = meets && low <= high;
            p[axis] = espyLadder_Random(ladder, low, high);
        }
        if (meets)
        {
            return true;
        }
    }
    return false;
}

/// From the target's point back through the window's point to a point of the box. False: the line misses it.
static bool espyLadder_Extend(espyiLadder* ladder, const double b[3], const double w[3], const espyiBoxD* box,
                              double a[3])
{
    double low = 1.0, high = DBL_MAX;
    for (int axis = 0; axis < 3; ++axis)
    {
        double d = w[axis] - b[axis];
        if (fabs(d) < 1e-12)
        {
            if (b[axis] < box->min[axis] || b[axis] > box->max[axis])
            {
                return false;
            }
            continue;
        }
        double t0 = (box->min[axis] - b[axis]) / d, t1 = (box->max[axis] - b[axis]) / d;
        low = fmax(low, fmin(t0, t1));
        high = fmin(high, fmax(t0, t1));
    }
    if (!(low <= high))
    {
        return false;
    }
    double t = espyLadder_Random(ladder, low, high);
    for (int axis = 0; axis < 3; ++axis)
    {
        a[axis] = fmin(fmax(b[axis] + t * (w[axis] - b[axis]), box->min[axis]), box->max[axis]);
    }
    return true;
}

static void espyLadder_PickInGap(espyiLadder* ladder, const espyiGap* gap, double p[3])
{
    // A corner fan with random weights: near enough to uniform to reach all of it.
    uint32_t i = 1 + espyiRng_Below(&ladder->rng, gap->count - 2);
    double u = (double)espyiRng_Float(&ladder->rng), v = (double)espyiRng_Float(&ladder->rng);
    if (u + v > 1)
    {
        u = 1 - u;
        v = 1 - v;
    }
    for (int axis = 0; axis < 3; ++axis)
    {
        p[axis] = gap->points[0][axis] + u * (gap->points[i][axis] - gap->points[0][axis]) +
                  v * (gap->points[i + 1][axis] - gap->points[0][axis]);
    }
}

/// A line through the gaps, from A to a part of B. False: the lines that were tried miss one of them.
static bool espyLadder_AimThroughGaps(espyiLadder* ladder, const espyiBoxD* a, const espyiBoxD* b, uint32_t node,
                                      double from[3], double to[3])
{
    for (uint32_t attempt = 0; attempt < ESPYI_AIM_TRIES && ladder->gapCount; ++attempt)
    {
        double near[3], far[3];
        espyLadder_PickInGap(ladder, &ladder->gaps[0], near);
        if (ladder->gapCount == 1)
        {
            if (espyLadder_PickTarget(ladder, node, b, to) && espyLadder_Extend(ladder, to, near, a, from))
            {
                return true;
            }
            continue;
        }
        espyLadder_PickInGap(ladder, &ladder->gaps[1], far);
        if (!espyLadder_Extend(ladder, far, near, a, from))
        {
            continue;
        }
        // A part that the line meets, of a few.
        const espyiPartTree* tree = &ladder->prover->parts;
        for (uint32_t k = 0; k < 2 * ESPYI_AIM_TRIES; ++k)
        {
            uint32_t at = tree->nodes[node].first + espyiRng_Below(&ladder->rng, tree->nodes[node].count);
            if (espyLadder_Extend(ladder, near, far, &ladder->target->parts[tree->order[at]], to))
            {
                return true;
            }
        }
        if (espyLadder_Extend(ladder, near, far, b, to))
        {
            return true;
        }
    }
    return false;
}

bool espyiLadder_Shoot(espyiLadder* ladder, const espyiBoxD* a, const espyiBoxD* b, uint32_t node)
{
    for (uint32_t ray = 0; ladder->def->tryRay && ray < ladder->def->raysPerStep; ++ray)
    {
        double from[3], to[3];
        bool aimed = ray % 4 < ESPYI_GAP_RAYS && espyLadder_AimThroughGaps(ladder, a, b, node, from, to);
        if (ray % 4 != 3 && !aimed && ladder->aimCount)
        {
            const espyiWindow* window = &ladder->aims[espyiRng_Below(&ladder->rng, ladder->aimCount)];
            for (uint32_t attempt = 0; attempt < ESPYI_AIM_TRIES && !aimed; ++attempt)
            {
                double w[3];
                for (int axis = 0; axis < 3; ++axis)
                {
                    w[axis] = espyLadder_Random(ladder, window->box.min[axis], window->box.max[axis]);
                }
                aimed = espyLadder_PickTarget(ladder, node, &window->b, to) &&
                        espyLadder_Extend(ladder, to, w, &window->a, from);
            }
        }
        if (!aimed)
        {
            if (!espyLadder_PickTarget(ladder, node, b, to))
            {
                continue;
            }
            for (int axis = 0; axis < 3; ++axis)
            {
                from[axis] = espyLadder_Random(ladder, a->min[axis], a->max[axis]);
            }
        }
        for (int axis = 0; axis < 3; ++axis)
        {
            // Padding and rounding may have left the cell by a hair.
            from[axis] = fmin(fmax(from[axis], ladder->camera.min[axis]), ladder->camera.max[axis]);
        }
        if (ladder->def->tryRay(ladder->def->context, from, to))
        {
            return true;
        }
    }
    return false;
}
