// SPDX-License-Identifier: MIT
// Works on one open pair: window cuts, exit faces and subdivision to close it, rays through what stays open to see it.
//
// Each step on a pair of boxes (A, B) ends in one of three ways: a flood or a window cut closes it; a ray gets through;
// or it is replaced by smaller pairs that cover it. The pair of cell and target is hidden when nothing is left.
#include "bake/proof_ladder.h"

#include <float.h>
#include <math.h>

#define ESPYI_MAX_DEPTH 48u
// Half thickness of a window, and the least distance of its plane from both boxes.
#define ESPYI_WINDOW_HALF 1e-4
#define ESPYI_WINDOW_PAD 1e-6
#define ESPYI_EXIT_SLAB 1e-3
#define ESPYI_MAX_PLANES 24u
// Slabs that one pair is cut at, one after the other.
#define ESPYI_MAX_SLABS 3u
// The next slab is cut where no more than this share of its section is open: others close little.
#define ESPYI_MORE_SLABS 0.5
// Boxes smaller than this on every axis are not halved any more.
#define ESPYI_MIN_HALVED 1e-3
// By which a box is grown before triangles are clipped to it, and once more after: far above the rounding of a clip.
#define ESPYI_CLIP_PAD 1e-6
#define ESPYI_NO_REF 0xFFFFFFFFu
// Portal tests that a budget's floods may take, on average, when going depth first. In rooms ten are usual.
#define ESPYI_TESTS_A_FLOOD 24u
// Floods that one part needs at least to be closed by window cuts. More open parts than the budget has of these are not
// looked at one by one.
#define ESPYI_FLOODS_A_PART 8u

static bool espyLadder_HasBudget(const espyiLadder* ladder)
{
    const espyiProver* prover = ladder->prover;
    // In large open spaces one flood tests thousands of openings.
    bool affordable =
        !ladder->def->deep || prover->work - ladder->firstWork < ESPYI_TESTS_A_FLOOD * (uint64_t)ladder->def->budget;
    return prover->floods - ladder->firstFlood < ladder->def->budget && affordable && !prover->failed;
}

// --- floods

/// The leaves of one side's box. Only those in scope: the flood that got to them ran to its end, and its shaft holds
/// every line that the smaller pairs speak of. A camera box counts with the leaves that hold cameras.
static bool espyLadder_Leaves(espyiLadder* ladder, const espyiBoxD* box, uint32_t side)
{
    espyiProver* prover = ladder->prover;
    espyiLeafList* list = &prover->seeds[side];
    list->count = 0;
    double grow = side == 0 ? prover->space->stats.margin : -prover->shrink;
    if (!espyiProver_FindLeaves(prover, box, grow, list))
    {
        prover->failed = true;
        return false;
    }
    if (side == 1 && !ladder->exited)
    {
        espyiProver_KeepViewers(prover, list, 0);
    }
    size_t kept = 0;
    for (size_t i = 0; i < list->count; ++i)
    {
        list->leaves[kept] = list->leaves[i];
        kept += espyiLeafScope_Has(&ladder->scope, list->leaves[i]);
    }
    list->count = kept;
    return true;
}

static double espyGap_Area(const espyiGap* gap)
{
    double sum[3] = {0, 0, 0};
    for (uint32_t i = 1; i + 1 < gap->count; ++i)
    {
        double a[3], b[3];
        for (int axis = 0; axis < 3; ++axis)
        {
            a[axis] = gap->points[i][axis] - gap->points[0][axis];
            b[axis] = gap->points[i + 1][axis] - gap->points[0][axis];
        }
        for (int axis = 0; axis < 3; ++axis)
        {
            int u = (axis + 1) % 3, v = (axis + 2) % 3;
            sum[axis] += a[u] * b[v] - a[v] * b[u];
        }
    }
    return 0.5 * sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}

/// The leaf that a way out belongs to.
static uint32_t espyLadder_Owner(const espyiFreeSpace* space, uint32_t ref)
{
    uint32_t low = 0, high = space->leafCount;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        if (space->leafFirst[middle] <= ref)
        {
            low = middle;
        }
        else
        {
            high = middle;
        }
    }
    return low;
}

/// The two smallest openings on the way that the flood took to one of the target's leaves, cut to the shaft, first the
/// one nearer to the camera. The narrow ones are what a line has to be aimed through.
static void espyLadder_FindGaps(espyiLadder* ladder, const espyiShaft* shaft, uint32_t leaf)
{
    const espyiFreeSpace* space = ladder->prover->space;
    ladder->gapCount = 0;
    double area[2] = {DBL_MAX, DBL_MAX};
    // From the target back to the camera.
    for (uint32_t ref = ladder->prover->through[leaf]; ref != ESPYI_NO_REF;)
    {
        const espyiPortalRef* portal = &space->refs[ref];
        espyiGap gap;
        for (uint32_t i = 0; i < portal->count; ++i)
        {
            for (int axis = 0; axis < 3; ++axis)
            {
                gap.points[i][axis] = space->points[portal->first + i][axis];
            }
        }
        gap.count = espyiShaft_Clip(shaft, gap.points, portal->count);
        double size = espyGap_Area(&gap);
        if (gap.count >= 3 && (ladder->gapCount < 2 || size < fmax(area[0], area[1])))
        {
            if (ladder->gapCount == 2)
            {
                // The larger one goes; the other moves to the target's side.
                if (area[0] < area[1])
                {
                    area[1] = area[0];
                    ladder->gaps[1] = ladder->gaps[0];
                }
            }
            else if (ladder->gapCount == 1)
            {
                area[1] = area[0];
                ladder->gaps[1] = ladder->gaps[0];
            }
            area[0] = size;
            ladder->gaps[0] = gap;
            ladder->gapCount += ladder->gapCount < 2;
        }
        // The leaf that the opening was entered from.
        leaf = espyLadder_Owner(space, ref);
        ref = ladder->prover->through[leaf];
    }
}

/// Everything that the camera box reaches inside the shaft, into `reached` (all of it: the flood never stops early).
/// True where a leaf of the target, of seeds[0], is part of it; *target is then such a leaf.
static bool espyLadder_Reach(espyiLadder* ladder, const espyiShaft* shaft, uint32_t* target)
{
    espyiProver* prover = ladder->prover;
    const espyiFreeSpace* space = prover->space;
    uint32_t* queue = prover->stacks[1];
    uint32_t count = 0;
    uint64_t tests = 0;
    prover->floods += 1;
    espyiProver_NextEpoch(prover);
    uint32_t mark = 2 * prover->epoch;
    for (size_t i = 0; i < prover->seeds[1].count; ++i)
    {
        prover->marks[prover->seeds[1].leaves[i]] = mark;
        prover->through[prover->seeds[1].leaves[i]] = ESPYI_NO_REF;
        queue[count++] = prover->seeds[1].leaves[i];
    }
    for (uint32_t at = 0; at < count; ++at)
    {
        uint32_t end = space->leafFirst[queue[at] + 1];
        if (!espyiProver_GoesOn(prover, end - space->leafFirst[queue[at]] + 1u))
        {
            break;
        }
        for (uint32_t i = space->leafFirst[queue[at]]; i < end; ++i)
        {
            const espyiPortalRef* ref = &space->refs[i];
            if (prover->marks[ref->leaf] != mark && espyiLeafScope_Has(&ladder->scope, ref->leaf))
            {
                tests += 1;
                if (espyiShaft_Meets(shaft, ref, (const double(*)[3])space->points))
                {
                    prover->marks[ref->leaf] = mark;
                    prover->through[ref->leaf] = i;
                    queue[count++] = ref->leaf;
                }
            }
        }
    }
    prover->work += tests;
    prover->reachedCount = count;
    for (uint32_t i = 0; i < count && i < ESPYI_MAX_REACHED; ++i)
    {
        prover->reached[i] = queue[i];
    }
    // One of the target's leaves that it got to, each as likely. None after a stop proves nothing: `failed` is set.
    uint32_t hits = 0;
    for (size_t i = 0; i < prover->seeds[0].count; ++i)
    {
        if (prover->marks[prover->seeds[0].leaves[i]] == mark && espyiRng_Below(&ladder->rng, ++hits) == 0)
        {
            *target = prover->seeds[0].leaves[i];
        }
    }
    return hits > 0;
}

/// Where the flood that just ran got to; `list` 0 of the whole pair, 1 of the pair at hand.
static espyiLeafScope espyLadder_Stamp(espyiLadder* ladder, uint32_t list)
{
    espyiProver* prover = ladder->prover;
    uint32_t* stamps = prover->within[list];
    if (++prover->withinStamp[list] == 0)
    {
        for (uint32_t i = 0; i < prover->space->leafCount; ++i)
        {
            stamps[i] = 0;
        }
        prover->withinStamp[list] = 1;
    }
    for (uint32_t i = 0; i < prover->reachedCount; ++i)
    {
        stamps[prover->stacks[1][i]] = prover->withinStamp[list];
    }
    return (espyiLeafScope){stamps, prover->withinStamp[list]};
}

/// A flood between two boxes. A leaf given for one side stands for that side's leaves: a window is crossed inside it.
static bool espyLadder_Closes(espyiLadder* ladder, const espyiBoxD* camera, const uint32_t* cameraLeaf,
                              const espyiBoxD* target, const uint32_t* targetLeaf)
{
    espyiProver* prover = ladder->prover;
    if ((!targetLeaf && !espyLadder_Leaves(ladder, target, 0)) ||
        (!cameraLeaf && !espyLadder_Leaves(ladder, camera, 1)))
    {
        return false;
    }
    espyiShaft shaft;
    espyiShaft_Set(&shaft, camera, target, prover->shrink);
    return espyiProver_Apart(prover, &shaft, &ladder->scope, targetLeaf ? targetLeaf : prover->seeds[0].leaves,
                             targetLeaf ? 1 : prover->seeds[0].count, cameraLeaf ? cameraLeaf : prover->seeds[1].leaves,
                             cameraLeaf ? 1 : prover->seeds[1].count);
}

// --- windows

/// Bounds of the shaft's section at x[axis] = m, exact on each of the other axes. False: empty.
static bool espyShaft_Section(const espyiShaft* shaft, uint32_t axis, double m, double low[3], double high[3])
{
    for (uint32_t other = 0; other < 3; ++other)
    {
        low[other] = shaft->min[other];
        high[other] = shaft->max[other];
    }
    for (uint32_t i = 0; i < shaft->bridgeCount; ++i)
    {
        const espyiBridge* b = &shaft->bridges[i];
        uint32_t own = b->axis[0] == axis ? 0u : 1u;
        if (b->axis[own] != axis)
        {
            continue;
        }
        uint32_t other = b->axis[1 - own];
        double limit = (b->w - b->n[own] * m) / b->n[1 - own];
        if (b->positive[1 - own])
        {
            high[other] = fmin(high[other], limit);
        }
        else
        {
            low[other] = fmax(low[other], limit);
        }
    }
    low[axis] = high[axis] = m;
    for (uint32_t other = 0; other < 3; ++other)
    {
        if (low[other] > high[other])
        {
            return false;
        }
    }
    return true;
}

/// Summed area of the windows of the reached leaves at this plane.
static double espyLadder_WindowArea(const espyiProver* prover, const espyiShaft* shaft, uint32_t axis, double m)
{
    double low[3], high[3], area = 0;
    if (!espyShaft_Section(shaft, axis, m, low, high))
    {
        return 0;
    }
    uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (uint32_t i = 0; i < prover->reachedCount; ++i)
    {
        const espyiBoxD* leaf = &prover->space->leafBoxes[prover->reached[i]];
        if (leaf->min[axis] < m && leaf->max[axis] > m)
        {
            double width = fmin(high[u], leaf->max[u]) - fmax(low[u], leaf->min[u]);
            double height = fmin(high[v], leaf->max[v]) - fmax(low[v], leaf->min[v]);
            area += width > 0 && height > 0 ? width * height : 0;
        }
    }
    return area;
}

/// A leaf slab that a plane was put in: [low, high] on the axis.
typedef struct espySlab
{
    uint32_t axis;
    double low, high;
    double open; ///< Share of the hull's section that its windows take.
} espySlab;

/// The separating plane with the least open area, as the leaf slab that it runs through; none of those given.
static bool espyLadder_ChoosePlane(const espyiProver* prover, const espyiShaft* shaft, const espyiBoxD* a,
                                   const espyiBoxD* b, const espySlab* used, uint32_t usedCount, espySlab* out)
{
    double best = DBL_MAX;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        // Strictly between the boxes, with room for the window's thickness on both sides.
        double from = fmin(a->max[axis], b->max[axis]) + 2 * ESPYI_WINDOW_HALF;
        double to = fmax(a->min[axis], b->min[axis]) - 2 * ESPYI_WINDOW_HALF;
        if (!(from < to))
        {
            continue;
        }
        uint32_t step = 1 + prover->reachedCount / ESPYI_MAX_PLANES;
        for (uint32_t i = 0; i < prover->reachedCount; i += step)
        {
            const espyiBoxD* leaf = &prover->space->leafBoxes[prover->reached[i]];
            double start = fmax(from, leaf->min[axis]), end = fmin(to, leaf->max[axis]);
            bool fresh = start < end;
            for (uint32_t k = 0; k < usedCount; ++k)
            {
                fresh = fresh && !(used[k].axis == axis && used[k].low < end && used[k].high > start);
            }
            if (!fresh)
            {
                continue;
            }
            double sectionLow[3], sectionHigh[3], m = 0.5 * (start + end);
            if (!espyShaft_Section(shaft, axis, m, sectionLow, sectionHigh))
            {
                continue;
            }
            uint32_t u = (axis + 1) % 3, v = (axis + 2) % 3;
            double section = (sectionHigh[u] - sectionLow[u]) * (sectionHigh[v] - sectionLow[v]);
            double area = espyLadder_WindowArea(prover, shaft, axis, m) / fmax(section, 1e-12);
            if (area < best)
            {
                best = area;
                *out = (espySlab){axis, start, end, area};
            }
        }
    }
    return best < DBL_MAX;
}

/// Clips `to` to what lines from `from` through the window can meet beyond the plane x[axis] = m. False: nothing.
static bool espyWindow_Narrow(const espyiBoxD* from, const espyiBoxD* window, uint32_t axis, double m, espyiBoxD* to)
{
    double near, far, toNear, toFar;
    if (from->max[axis] < m)
    {
        near = m - from->max[axis];
        far = m - from->min[axis];
        toNear = to->min[axis] - m;
        toFar = to->max[axis] - m;
    }
    else
    {
        near = from->min[axis] - m;
        far = from->max[axis] - m;
        toNear = m - to->max[axis];
        toFar = m - to->min[axis];
    }
    double least = toNear / far, most = toFar / near;
    for (uint32_t other = 0; other < 3; ++other)
    {
        if (other == axis)
        {
            continue;
        }
        // to = w + (w - from) s, s in [least, most]: bounds by intervals.
        double down = window->min[other] - from->max[other], up = window->max[other] - from->min[other];
        double low = window->min[other] + (down < 0 ? down * most : down * least);
        double high = window->max[other] + (up > 0 ? up * most : up * least);
        double pad = ESPYI_WINDOW_PAD + 4 * DBL_EPSILON * (most * (fabs(down) + fabs(up)) + fabs(low) + fabs(high));
        to->min[other] = fmax(to->min[other], low - pad);
        to->max[other] = fmin(to->max[other], high + pad);
        if (to->min[other] > to->max[other])
        {
            return false;
        }
    }
    return true;
}

/// The part of the plane that is inside the leaf and the shaft, as a slab. False: they do not meet there.
static bool espyLadder_WindowBox(const espyiProver* prover, const espyiShaft* shaft, uint32_t leaf, uint32_t axis,
                                 double m, espyiBoxD* box)
{
    double low[3], high[3];
    const espyiBoxD* bounds = &prover->space->leafBoxes[leaf];
    if (bounds->min[axis] > m || bounds->max[axis] < m || !espyShaft_Section(shaft, axis, m, low, high))
    {
        return false;
    }
    for (uint32_t other = 0; other < 3; ++other)
    {
        if (other == axis)
        {
            box->min[other] = m - ESPYI_WINDOW_HALF;
            box->max[other] = m + ESPYI_WINDOW_HALF;
            continue;
        }
        box->min[other] = fmax(low[other], bounds->min[other]) - ESPYI_WINDOW_PAD;
        box->max[other] = fmin(high[other], bounds->max[other]) + ESPYI_WINDOW_PAD;
        if (box->min[other] > box->max[other])
        {
            return false;
        }
    }
    return true;
}

/// C at one plane: every window of it closed. Those that are not are kept for aiming (the first few).
static bool espyLadder_CutAt(espyiLadder* ladder, const espyiShaft* shaft, const espyiBoxD* a, const espyiBoxD* b,
                             uint32_t axis, double m)
{
    espyiProver* prover = ladder->prover;
    ladder->windowCount = 0;
    ladder->allWindows = false;
    for (uint32_t i = 0; i < prover->reachedCount; ++i)
    {
        espyiWindow window = {.leaf = prover->reached[i], .a = *a, .b = *b};
        if (!espyLadder_WindowBox(prover, shaft, window.leaf, axis, m, &window.box))
        {
            continue;
        }
        bool open = true;
        for (int round = 0; round < 2 && open; ++round)
        {
            open = espyWindow_Narrow(&window.a, &window.box, axis, m, &window.b) &&
                   espyWindow_Narrow(&window.b, &window.box, axis, m, &window.a);
        }
        if (!open)
        {
            continue;
        }
        window.a = espyiBox_Pad(window.a, ESPYI_MIN_THICKNESS);
        window.b = espyiBox_Pad(window.b, ESPYI_MIN_THICKNESS);
        window.box = espyiBox_Pad(window.box, ESPYI_MIN_THICKNESS);
        if (!espyLadder_HasBudget(ladder) || ladder->windowCount == ESPYI_MAX_WINDOWS)
        {
            return false;
        }
        if (!espyLadder_Closes(ladder, &window.box, &window.leaf, &window.b, NULL) &&
            !espyLadder_Closes(ladder, &window.a, NULL, &window.box, &window.leaf) &&
            !espyLadder_Closes(ladder, &window.a, NULL, &window.b, NULL))
        {
            ladder->windows[ladder->windowCount++] = window;
        }
    }
    ladder->allWindows = !prover->failed;
    return ladder->windowCount == 0 && !prover->failed;
}

/// Where one window is all that a plane leaves open, the pair shrinks to what lines through it meet.
static void espyLadder_Narrow(const espyiLadder* ladder, espyiPair* pair)
{
    if (ladder->windowCount != 1 || !ladder->allWindows)
    {
        return;
    }
    pair->a = ladder->windows[0].a;
    for (int axis = 0; axis < 3; ++axis)
    {
        pair->b.min[axis] = fmax(pair->b.min[axis], ladder->windows[0].b.min[axis]);
        pair->b.max[axis] = fmin(pair->b.max[axis], ladder->windows[0].b.max[axis]);
    }
}

/// C: at both ends of the slab with the least opening, since each end sees the whole depth of a slit on its far side.
/// While one window alone stays open, the pair shrinks to it and the next slab is cut: a line through two slits has
/// little room.
static bool espyLadder_Cut(espyiLadder* ladder, espyiPair* pair)
{
    espySlab used[ESPYI_MAX_SLABS] = {{0}};
    // Breadth first, floods are spread over the pair for the sake of rays: one slab each.
    uint32_t most = ladder->def->deep ? ESPYI_MAX_SLABS : 1u;
    for (uint32_t count = 0; count < most && ladder->prover->reachedCount <= ESPYI_MAX_REACHED; ++count)
    {
        espyiBoxD b = espyiBox_Pad(pair->b, ESPYI_MIN_THICKNESS);
        espyiShaft shaft;
        espyiShaft_Set(&shaft, &pair->a, &b, ladder->prover->shrink);
        espySlab* slab = &used[count];
        if (!espyLadder_ChoosePlane(ladder->prover, &shaft, &pair->a, &b, used, count, slab) ||
            (count > 0 && slab->open > ESPYI_MORE_SLABS))
        {
            return false;
        }
        double inset = fmin(2 * ESPYI_WINDOW_HALF, 0.25 * (slab->high - slab->low));
        const double planes[2] = {slab->low + inset, slab->high - inset};
        for (int end = 0; end < 2; ++end)
        {
            if (espyLadder_CutAt(ladder, &shaft, &pair->a, &b, slab->axis, planes[end]))
            {
                return true;
            }
            if (end == 1 || ladder->def->deep)
            {
                espyLadder_Narrow(ladder, pair);
            }
            b = espyiBox_Pad(pair->b, ESPYI_MIN_THICKNESS);
            espyiShaft_Set(&shaft, &pair->a, &b, ladder->prover->shrink);
        }
        // Aimed through later: those of the first slab.
        for (uint32_t i = 0; i < ladder->windowCount && count == 0; ++i)
        {
            ladder->aims[ladder->aimCount++] = ladder->windows[i];
        }
        if (ladder->windowCount != 1 || !ladder->allWindows)
        {
            return false;
        }
    }
    return false;
}

// --- steps

static bool espyLadder_Push(espyiProver* prover, const espyiPair* pair)
{
    void* pairs = prover->pairs;
    if (!espyiGrow(&prover->hooks, &pairs, &prover->pairCapacity, prover->pairCount + 1, sizeof(espyiPair)))
    {
        prover->failed = true;
        return false;
    }
    prover->pairs = pairs;
    prover->pairs[prover->pairCount++] = *pair;
    return true;
}

/// E: every segment from A to B leaves A through one of these faces. Only for boxes with a gap between them: from one
/// that overlaps B, a segment may end inside it. False, with nothing pushed: not done.
static bool espyLadder_PushExits(espyiLadder* ladder, const espyiPair* pair)
{
    espyiProver* prover = ladder->prover;
    bool apart = false;
    for (int axis = 0; axis < 3; ++axis)
    {
        apart = apart || pair->a.min[axis] > pair->b.max[axis] + 1e-9 || pair->b.min[axis] > pair->a.max[axis] + 1e-9;
    }
    if (!apart)
    {
        return false;
    }
    size_t before = prover->pairCount;
    for (int face = 0; face < 6; ++face)
    {
        int axis = face / 2;
        bool exits = face % 2 ? pair->b.max[axis] > pair->a.max[axis] : pair->b.min[axis] < pair->a.min[axis];
        if (!exits || pair->a.max[axis] - pair->a.min[axis] < 4 * ESPYI_EXIT_SLAB)
        {
            if (exits)
            {
                // Too thin for a slab: nothing is gained.
                prover->pairCount = before;
                return false;
            }
            continue;
        }
        espyiPair slab = *pair;
        slab.depth += 1;
        slab.exited = true;
        if (face % 2)
        {
            slab.a.min[axis] = slab.a.max[axis] - ESPYI_EXIT_SLAB;
        }
        else
        {
            slab.a.max[axis] = slab.a.min[axis] + ESPYI_EXIT_SLAB;
        }
        // No line gets to a slab without a leaf of the flood.
        ladder->exited = true;
        if (!espyLadder_Leaves(ladder, &slab.a, 1) || (prover->seeds[1].count > 0 && !espyLadder_Push(prover, &slab)))
        {
            return false;
        }
    }
    return prover->pairCount > before;
}

static int espyBox_LongestAxis(const espyiBoxD* box)
{
    int axis = 0;
    for (int other = 1; other < 3; ++other)
    {
        axis = box->max[other] - box->min[other] > box->max[axis] - box->min[axis] ? other : axis;
    }
    return axis;
}

/// D: the larger of the two, halved; the target along the tree of its parts first. False: both are too small.
static bool espyLadder_PushHalves(espyiProver* prover, const espyiPair* pair)
{
    const espyiPartNode* node = &prover->parts.nodes[pair->node];
    int axisA = espyBox_LongestAxis(&pair->a), axisB = espyBox_LongestAxis(&pair->b);
    double sizeA = pair->a.max[axisA] - pair->a.min[axisA], sizeB = pair->b.max[axisB] - pair->b.min[axisB];
    espyiPair half[2] = {*pair, *pair};
    half[0].depth = half[1].depth = (uint8_t)(pair->depth + 1);
    if (sizeA >= sizeB && sizeA >= ESPYI_MIN_HALVED)
    {
        half[0].a.max[axisA] = half[1].a.min[axisA] = 0.5 * (pair->a.min[axisA] + pair->a.max[axisA]);
        return espyLadder_Push(prover, &half[1]) && espyLadder_Push(prover, &half[0]);
    }
    if (node->count > 1)
    {
        uint32_t children[2] = {pair->node + 1, pair->node + 2 * prover->parts.nodes[pair->node + 1].count};
        for (uint32_t side = 2; side-- > 0;)
        {
            const espyiBoxD* box = &prover->parts.nodes[children[side]].box;
            bool meets = true;
            half[side].node = children[side];
            for (int axis = 0; axis < 3; ++axis)
            {
                half[side].b.min[axis] = fmax(pair->b.min[axis], box->min[axis]);
                half[side].b.max[axis] = fmin(pair->b.max[axis], box->max[axis]);
                meets = meets && half[side].b.min[axis] <= half[side].b.max[axis];
            }
            if (meets && !espyLadder_Push(prover, &half[side]))
            {
                return false;
            }
        }
        return true;
    }
    if (sizeB >= ESPYI_MIN_HALVED)
    {
        half[0].b.max[axisB] = half[1].b.min[axisB] = 0.5 * (pair->b.min[axisB] + pair->b.max[axisB]);
        return espyLadder_Push(prover, &half[1]) && espyLadder_Push(prover, &half[0]);
    }
    return false;
}

/// Tightens a box inside one part to what is in it of the part's triangles. False: nothing is.
static bool espyLadder_Tighten(const espyiLadder* ladder, uint32_t node, espyiBoxD* box)
{
    const espyiPartTree* tree = &ladder->prover->parts;
    const espyiProofTarget* target = ladder->target;
    if (!target->corners || tree->nodes[node].count != 1)
    {
        return true;
    }
    uint32_t part = tree->order[tree->nodes[node].first];
    espyiShaft clip = {.bridgeCount = 0};
    espyiBoxD tight = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int axis = 0; axis < 3; ++axis)
    {
        clip.min[axis] = box->min[axis] - ESPYI_CLIP_PAD;
        clip.max[axis] = box->max[axis] + ESPYI_CLIP_PAD;
    }
    for (uint32_t i = target->partFirst[part]; i < target->partFirst[part + 1]; ++i)
    {
        double points[3 + 18][3];
        for (uint32_t k = 0; k < 3; ++k)
        {
            const espyVec3* p = &target->corners[3u * (size_t)i + k];
            points[k][0] = (double)p->x;
            points[k][1] = (double)p->y;
            points[k][2] = (double)p->z;
        }
        uint32_t count = espyiShaft_Clip(&clip, points, 3);
        for (uint32_t k = 0; k < count; ++k)
        {
            for (int axis = 0; axis < 3; ++axis)
            {
                tight.min[axis] = fmin(tight.min[axis], points[k][axis]);
                tight.max[axis] = fmax(tight.max[axis], points[k][axis]);
            }
        }
    }
    for (int axis = 0; axis < 3; ++axis)
    {
        box->min[axis] = fmax(box->min[axis], tight.min[axis] - ESPYI_CLIP_PAD);
        box->max[axis] = fmin(box->max[axis], tight.max[axis] + ESPYI_CLIP_PAD);
        if (!(box->min[axis] <= box->max[axis]))
        {
            return false;
        }
    }
    return true;
}

/// One step on one pair. Visible: a ray got through. Hidden: closed. Unknown: to be split.
static espyiVerdict espyLadder_Step(espyiLadder* ladder, espyiPair* pair)
{
    espyiProver* prover = ladder->prover;
    // Breadth first it is rays that count, and these want the whole part.
    if (ladder->def->deep && !espyLadder_Tighten(ladder, pair->node, &pair->b))
    {
        return espyiVerdict_Hidden;
    }
    espyiBoxD b = espyiBox_Pad(pair->b, ESPYI_MIN_THICKNESS);
    ladder->windowCount = ladder->aimCount = 0;
    ladder->allWindows = false;
    ladder->exited = pair->exited;
    if (!espyLadder_Leaves(ladder, &b, 0) || !espyLadder_Leaves(ladder, &pair->a, 1))
    {
        return espyiVerdict_Unknown;
    }
    espyiShaft shaft;
    espyiShaft_Set(&shaft, &pair->a, &b, prover->shrink);
    uint32_t leaf = 0;
    bool reaches = espyLadder_Reach(ladder, &shaft, &leaf);
    if (!ladder->whole.stamps)
    {
        ladder->whole = espyLadder_Stamp(ladder, 0);
    }
    if (!reaches)
    {
        return espyiVerdict_Hidden;
    }
    espyiPair narrow = *pair;
    ladder->scope = espyLadder_Stamp(ladder, 1);
    bool closed = espyLadder_Cut(ladder, &narrow);
    ladder->scope = ladder->whole;
    if (closed)
    {
        return espyiVerdict_Hidden;
    }
    const espyiPair* aimed = ladder->def->deep ? &narrow : pair;
    b = espyiBox_Pad(aimed->b, ESPYI_MIN_THICKNESS);
    espyiShaft_Set(&shaft, &aimed->a, &b, prover->shrink);
    espyLadder_FindGaps(ladder, &shaft, leaf);
    bool seen = espyiLadder_Shoot(ladder, &aimed->a, &aimed->b, pair->node);
    *pair = narrow;
    return seen ? espyiVerdict_Visible : espyiVerdict_Unknown;
}

/// Leaves only those pairs of the camera box and one part that a flood does not close, where these are few enough for
/// the budget; else the whole target. Windows and exit faces close small boxes far better than the one around them all.
/// False: nothing is left.
static bool espyLadder_SweepParts(espyiLadder* ladder, const espyiPair* whole)
{
    espyiProver* prover = ladder->prover;
    const espyiPartNode* nodes = prover->parts.nodes;
    espyiBoxD b = espyiBox_Pad(whole->b, ESPYI_MIN_THICKNESS);
    espyiShaft shaft;
    uint32_t leaf = 0;
    prover->pairCount = 0;
    if (!espyLadder_Leaves(ladder, &b, 0) || !espyLadder_Leaves(ladder, &whole->a, 1))
    {
        return espyLadder_Push(prover, whole);
    }
    espyiShaft_Set(&shaft, &whole->a, &b, prover->shrink);
    if (!espyLadder_Reach(ladder, &shaft, &leaf))
    {
        return false;
    }
    ladder->scope = ladder->whole = espyLadder_Stamp(ladder, 0);
    // Breadth first and in place: what is kept moves to the front, what is still to be looked at waits behind.
    size_t kept = 0, most = ladder->def->budget / ESPYI_FLOODS_A_PART + 1u;
    espyLadder_Push(prover, whole);
    for (size_t head = 0; head < prover->pairCount && !prover->failed; ++head)
    {
        espyiPair pair = prover->pairs[head];
        b = espyiBox_Pad(pair.b, ESPYI_MIN_THICKNESS);
        if (head > 0 && espyLadder_Closes(ladder, &pair.a, NULL, &b, NULL))
        {
            continue;
        }
        const espyiPartNode* node = &nodes[pair.node];
        if (node->count == 1)
        {
            prover->pairs[kept++] = pair;
        }
        else
        {
            espyiPair children[2] = {pair, pair};
            children[0].node = pair.node + 1;
            children[1].node = pair.node + 2 * nodes[pair.node + 1].count;
            children[0].b = nodes[children[0].node].box;
            children[1].b = nodes[children[1].node].box;
            espyLadder_Push(prover, &children[0]);
            espyLadder_Push(prover, &children[1]);
        }
        if (kept + prover->pairCount - head > most)
        {
            prover->pairCount = 0;
            return espyLadder_Push(prover, whole);
        }
    }
    prover->pairCount = kept;
    return kept > 0;
}

espyiVerdict espyiProver_Ladder(espyiProver* prover, uint32_t cell, const espyiProofTarget* target,
                                const espyiLadderDef* def, uint64_t* work)
{
    espyiProofTarget whole = *target;
    if (target->partCount == 0)
    {
        whole.parts = &target->bounds;
        whole.partCount = 1;
        whole.corners = NULL;
    }
    espyiBoxD camera = espyiCellTree_Box(prover->cells, prover->cells->leafOf[cell]);
    uint64_t startWork = prover->work;
    if (prover->failed || whole.partCount > UINT32_MAX / 4 || !espyiProver_BuildParts(prover, &whole) ||
        !espyiProver_BoxIsUsable(prover, &camera, ESPYI_MIN_CAMERA))
    {
        return espyiVerdict_Unknown;
    }
    espyiBoxD padded = espyiBox_Pad(prover->parts.nodes[0].box, 2 * ESPYI_MIN_THICKNESS);
    if (!espyiProver_BoxIsUsable(prover, &padded, 0))
    {
        return espyiVerdict_Unknown;
    }
    espyiLadder ladder = {.prover = prover,
                          .def = def,
                          .target = &whole,
                          .camera = camera,
                          .rng = espyiRng_Seed(espyiHash_U64(def->seed, cell)),
                          .firstFlood = prover->floods,
                          .firstWork = prover->work};
    uint32_t depth = def->depth < ESPYI_MAX_DEPTH ? def->depth : ESPYI_MAX_DEPTH;
    espyiVerdict verdict = espyiVerdict_Hidden;
    espyiPair first = {.a = camera, .b = prover->parts.nodes[0].box};
    prover->pairCount = 0;
    if (!def->deep || whole.partCount == 1)
    {
        espyLadder_Push(prover, &first);
    }
    else if (espyLadder_SweepParts(&ladder, &first))
    {
        // The budget is for what the sweep left.
        ladder.firstFlood = prover->floods;
        ladder.firstWork = prover->work;
    }
    size_t head = 0;
    while (head < prover->pairCount && verdict != espyiVerdict_Visible &&
           !(def->deep && verdict == espyiVerdict_Unknown))
    {
        espyiPair pair = def->deep ? prover->pairs[--prover->pairCount] : prover->pairs[head++];
        if (!espyLadder_HasBudget(&ladder))
        {
            verdict = espyiVerdict_Unknown;
            break;
        }
        espyiVerdict step = espyLadder_Step(&ladder, &pair);
        if (step == espyiVerdict_Visible)
        {
            verdict = step;
        }
        else if (step == espyiVerdict_Unknown)
        {
            bool split = pair.depth < depth && ((!pair.exited && espyLadder_PushExits(&ladder, &pair)) ||
                                                espyLadder_PushHalves(prover, &pair));
            if (!split)
            {
                verdict = espyiVerdict_Unknown;
            }
        }
    }
    if (prover->failed && verdict == espyiVerdict_Hidden)
    {
        verdict = espyiVerdict_Unknown;
    }
    if (work)
    {
        *work += prover->work - startWork;
    }
    return verdict;
}
