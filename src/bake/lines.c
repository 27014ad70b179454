// SPDX-License-Identifier: MIT
// Sight lines: each free line from a point of the target is seen from every cell that it runs through.
//
// Based on: Wonka, Wimmer, Zhou, Maierhofer, Hesina, Reshetov, "Guided Visibility Sampling", 2006 (mutation and border
// sampling); Bittner, Mattausch, Wonka, Havran, Wimmer, "Adaptive Global Visibility Sampling", 2009 (one line serves
// every cell on it). Here lines start on the target, so that a target's answers depend on nothing but itself.
#include "bake/bake_internal.h"

#include <math.h>
#include <string.h>

#define ESPY_MOST_FLUSH 16u

static espyVec3 espyLines_Along(espyVec3 o, espyVec3 d, float t)
{
    return (espyVec3){o.x + d.x * t, o.y + d.y * t, o.z + d.z * t};
}

// --- walking cells

static void espyLines_Found(espyiSearcher* s, uint32_t rank, espyVec3 origin, uint32_t* fresh)
{
    if (espyiBits_Get(s->visible, rank))
    {
        return;
    }
    espyiBits_Set(s->visible, rank);
    // On doubt, draw: should rounding ever set a line against a proof, the line wins.
    espyiBits_Clear(s->hidden, rank);
    s->witness[rank] = origin;
    s->queue[s->queueCount++] = rank;
    if (!espyiBits_Get(s->shared->scene->grid.solid, rank))
    {
        ++*fresh;
    }
}

// True where a camera may be that far along the line. Asked for cells that are not known to see the target yet.
static bool espyLines_IsViewer(const espyiSearcher* s, uint32_t rank, const double o[3], const double d[3], double t)
{
    if (!s->shared->viewers || espyiBits_Get(s->visible, rank))
    {
        return true;
    }
    const double p[3] = {o[0] + t * d[0], o[1] + t * d[1], o[2] + t * d[2]};
    return espyiBits_Get(s->shared->viewers, espyiFreeSpace_FindLeaf(s->shared->space, p));
}

uint32_t espyiLines_Mark(espyiSearcher* s, espyVec3 origin, espyVec3 direction, float tEnd)
{
    const espyiGrid* grid = &s->shared->scene->grid;
    const double size = (double)grid->cellSize;
    const double o[3] = {(double)origin.x, (double)origin.y, (double)origin.z};
    const double d[3] = {(double)direction.x, (double)direction.y, (double)direction.z};
    double enter = 0.0, leave = (double)tEnd;
    for (int k = 0; k < 3; ++k)
    {
        double upper = size * (double)grid->dims[k];
        if (!(d[k] > 0.0 || d[k] < 0.0))
        {
            if (o[k] < 0.0 || o[k] >= upper)
            {
                return 0;
            }
            continue;
        }
        double a = -o[k] / d[k], b = (upper - o[k]) / d[k];
        enter = fmax(enter, a < b ? a : b);
        leave = fmin(leave, a < b ? b : a);
    }
    if (!(enter + ESPYI_CELL_DEPTH < leave))
    {
        return 0;
    }
    int32_t at[3], step[3];
    double next[3];
    for (int k = 0; k < 3; ++k)
    {
        double cell = floor((o[k] + d[k] * enter) / size);
        double last = (double)grid->dims[k] - 1.0;
        at[k] = (int32_t)(cell < 0.0 ? 0.0 : cell > last ? last : cell);
        step[k] = d[k] > 0.0 ? 1 : -1;
        next[k] = d[k] > 0.0 || d[k] < 0.0 ? (size * (double)(at[k] + (d[k] > 0.0)) - o[k]) / d[k] : INFINITY;
    }
    uint32_t fresh = 0;
    for (;;)
    {
        int axis = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        double exit = fmin(next[axis], leave);
        if (exit - enter > ESPYI_CELL_DEPTH)
        {
            int32_t rank = espyiGrid_RankAt(grid, at[0], at[1], at[2]);
            if (rank >= 0 && espyLines_IsViewer(s, (uint32_t)rank, o, d, 0.5 * (enter + exit)))
            {
                espyLines_Found(s, (uint32_t)rank, origin, &fresh);
            }
        }
        if (!(next[axis] < leave))
        {
            break;
        }
        enter = fmax(enter, exit);
        at[axis] += step[axis];
        if (at[axis] < 0 || (uint32_t)at[axis] >= grid->dims[axis])
        {
            break;
        }
        next[axis] = (size * (double)(at[axis] + (d[axis] > 0.0)) - o[axis]) / d[axis];
    }
    s->openFound += fresh;
    return fresh;
}

// --- casting

bool espyiLines_Aim(const espyiSearcher* s, espyVec3 origin, espyVec3 towards, espyiSegment* out)
{
    espyVec3 d = {towards.x - origin.x, towards.y - origin.y, towards.z - origin.z};
    float length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    if (!(length > 1e-6f))
    {
        return false;
    }
    float inverse = 1.0f / length;
    d = (espyVec3){d.x * inverse, d.y * inverse, d.z * inverse};
    *out = (espyiSegment){origin, espyiSurfaceGap(origin, 0.0f), d, s->shared->scene->reach};
    return true;
}

// A line that ends at a back face may run inside something solid: then no camera is on it.
static bool espyLines_InSolid(espyiSearcher* s, const espyiSegment* line, float tEnd)
{
    uint64_t rays = 0;
    espyVec3 middle = espyLines_Along(line->origin, line->direction, 0.5f * tEnd);
    bool inside = espyiSolid_IsInside(s->shared->bvh, middle, s->shared->scene->reach, &rays);
    s->stage->rays += rays;
    return inside;
}

// Surfaces within the gap of each other never hide each other, however flat a line leaves them: a triangle whose plane
// holds the line's start to within the gap does not end it.
static bool espyLines_IsFlush(const espyiScene* scene, espyVec3 origin, uint32_t triangle)
{
    const uint32_t* corner = &scene->indices[3u * (size_t)triangle];
    espyVec3 a = scene->positions[corner[0]], b = scene->positions[corner[1]], c = scene->positions[corner[2]];
    double u[3] = {(double)b.x - (double)a.x, (double)b.y - (double)a.y, (double)b.z - (double)a.z};
    double v[3] = {(double)c.x - (double)a.x, (double)c.y - (double)a.y, (double)c.z - (double)a.z};
    double o[3] = {(double)origin.x - (double)a.x, (double)origin.y - (double)a.y, (double)origin.z - (double)a.z};
    double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    double height = n[0] * o[0] + n[1] * o[1] + n[2] * o[2];
    double gap = (double)espyiSurfaceGap(origin, 0.0f);
    return height * height <= gap * gap * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

// Goes on past flush triangles. A surface has few of them on one line; past that many the line ends.
static void espyLines_PassFlush(espyiSearcher* s, const espyiSegment* line, espyiHit* hit)
{
    for (uint32_t passed = 0; passed < ESPY_MOST_FLUSH && hit->t >= 0.0f; ++passed)
    {
        if (!espyLines_IsFlush(s->shared->scene, line->origin, hit->triangle))
        {
            return;
        }
        espyiSegment rest = *line;
        rest.tMin = hit->t;
        hit->t = -1.0f;
        espyiBvh_Closest(s->shared->bvh, &rest, s->target.skip, hit);
        ++s->stage->rays;
    }
}

uint32_t espyiLines_Cast(espyiSearcher* s, uint32_t count)
{
    const espyiSearchShared* shared = s->shared;
    espyiBvh_ClosestMany(shared->bvh, s->segments, count, s->target.skip, s->hits);
    s->stage->rays += count;
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyiSegment* line = &s->segments[i];
        espyiHit* hit = &s->hits[i];
        if (!s->target.volume)
        {
            espyLines_PassFlush(s, line, hit);
        }
        bool ends = hit->t >= 0.0f;
        float tEnd = ends ? hit->t : line->tMax;
        if (ends && hit->backFace && espyLines_InSolid(s, line, tEnd))
        {
            continue;
        }
        uint32_t found = espyiLines_Mark(s, line->origin, line->direction, tEnd);
        if (s->target.volume)
        {
            // A line through a volume is seen from both of its ends.
            espyVec3 back = {-line->direction.x, -line->direction.y, -line->direction.z};
            espyiSegment other = {line->origin, 0.0f, back, line->tMax};
            espyiHit behind;
            bool stops = espyiBvh_Closest(shared->bvh, &other, s->target.skip, &behind);
            found += espyiLines_Mark(s, line->origin, back, stops ? behind.t : other.tMax);
            ++s->stage->rays;
        }
        if (found > 0)
        {
            s->pool[s->poolNext] = (espyiLine){line->origin, espyLines_Along(line->origin, line->direction, tEnd),
                                               ends ? hit->triangle : UINT32_MAX};
            s->poolNext = (s->poolNext + 1u) % ESPYI_LINE_POOL;
            s->poolCount += s->poolCount < ESPYI_LINE_POOL ? 1u : 0u;
            fresh += found;
        }
    }
    return fresh;
}

// --- where to look

espyVec3 espyiLines_RandomDirection(espyiRng* rng)
{
    for (;;)
    {
        float x = 2.0f * espyiRng_Float(rng) - 1.0f, y = 2.0f * espyiRng_Float(rng) - 1.0f;
        espyVec3 d = {x, y, 2.0f * espyiRng_Float(rng) - 1.0f};
        float square = d.x * d.x + d.y * d.y + d.z * d.z;
        if (square > 0.01f && square <= 1.0f)
        {
            float inverse = 1.0f / sqrtf(square);
            return (espyVec3){d.x * inverse, d.y * inverse, d.z * inverse};
        }
    }
}

// Between scale and scale / 2^octaves, evenly over octaves.
static float espyLines_LogRandom(espyiRng* rng, float scale, uint32_t octaves)
{
    uint32_t halvings = espyiRng_Below(rng, octaves);
    float value = scale * (0.5f + 0.5f * espyiRng_Float(rng));
    for (uint32_t i = 0; i < halvings; ++i)
    {
        value *= 0.5f;
    }
    return value;
}

// The end of a known line, moved by a random amount in a random direction.
static espyVec3 espyLines_Mutate(espyiSearcher* s, const espyiLine* line)
{
    espyVec3 d = {line->end.x - line->origin.x, line->end.y - line->origin.y, line->end.z - line->origin.z};
    float length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
    float most = 0.25f * fminf(length, 32.0f * s->shared->scene->grid.cellSize);
    // One draw of random numbers a statement: the order of arguments is the compiler's choice.
    float far = espyLines_LogRandom(&s->rng, most, 10);
    return espyLines_Along(line->end, espyiLines_RandomDirection(&s->rng), far);
}

// A point just outside an edge of a triangle: past the rim of what blocks. `edge`: the one from corner to corner + 1;
// `share`: where along it.
static espyVec3 espyLines_PastEdge(espyiSearcher* s, uint32_t triangle, uint32_t edge, float share)
{
    const espyiScene* scene = s->shared->scene;
    const uint32_t* corner = &scene->indices[3u * (size_t)triangle];
    espyVec3 a = scene->positions[corner[edge]];
    espyVec3 b = scene->positions[corner[(edge + 1) % 3]];
    espyVec3 c = scene->positions[corner[(edge + 2) % 3]];
    espyVec3 p = {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, a.z + (b.z - a.z) * share};
    // Across the edge, in the triangle's plane: what of (p - c) is not along it.
    espyVec3 along = {b.x - a.x, b.y - a.y, b.z - a.z};
    espyVec3 out = {p.x - c.x, p.y - c.y, p.z - c.z};
    float square = along.x * along.x + along.y * along.y + along.z * along.z;
    float part = square > 0.0f ? (out.x * along.x + out.y * along.y + out.z * along.z) / square : 0.0f;
    out = espyLines_Along(out, along, -part);
    float length = sqrtf(out.x * out.x + out.y * out.y + out.z * out.z);
    float scale = length > 0.0f ? espyLines_LogRandom(&s->rng, 0.5f, 12) / length : 0.0f;
    return espyLines_Along(p, out, scale);
}

static espyVec3 espyLines_Border(espyiSearcher* s, const espyiLine* line)
{
    uint32_t edge = espyiRng_Below(&s->rng, 3);
    return espyLines_PastEdge(s, line->triangle, edge, espyiRng_Float(&s->rng));
}

bool espyiLines_Swerve(espyiSearcher* s, const espyiSegment* line, const espyiHit* hit, espyiSegment* out)
{
    const espyiScene* scene = s->shared->scene;
    const uint32_t* corner = &scene->indices[3u * (size_t)hit->triangle];
    espyVec3 h = espyLines_Along(line->origin, line->direction, hit->t);
    uint32_t nearest = 0;
    float best = INFINITY, share = 0.0f;
    for (uint32_t edge = 0; edge < 3; ++edge)
    {
        espyVec3 a = scene->positions[corner[edge]];
        espyVec3 b = scene->positions[corner[(edge + 1) % 3]];
        espyVec3 ab = {b.x - a.x, b.y - a.y, b.z - a.z}, ah = {h.x - a.x, h.y - a.y, h.z - a.z};
        float square = ab.x * ab.x + ab.y * ab.y + ab.z * ab.z;
        float t = square > 0.0f ? (ab.x * ah.x + ab.y * ah.y + ab.z * ah.z) / square : 0.0f;
        t = t < 0.0f ? 0.0f : t > 1.0f ? 1.0f : t;
        espyVec3 off = {ah.x - ab.x * t, ah.y - ab.y * t, ah.z - ab.z * t};
        float distance = off.x * off.x + off.y * off.y + off.z * off.z;
        // Now and then a farther edge: two triangles of one wall would send a line back and forth over their diagonal.
        distance *= 0.25f + espyiRng_Float(&s->rng);
        if (distance < best)
        {
            best = distance;
            nearest = edge;
            share = t;
        }
    }
    return espyiLines_Aim(s, line->origin, espyLines_PastEdge(s, hit->triangle, nearest, share), out);
}

static void espyLines_Choose(espyiSearcher* s, uint32_t index, espyiSegment* out)
{
    // A third random, a third around lines that found something, a third along the rims of what those hit.
    uint32_t kind = s->poolCount > 0 ? index % 3u : 0u;
    espyVec3 origin = espyiTarget_RandomPoint(&s->target, &s->rng);
    if (kind > 0)
    {
        const espyiLine* line = &s->pool[espyiRng_Below(&s->rng, s->poolCount)];
        bool border = kind == 2u && line->triangle != UINT32_MAX;
        // Half of them keep the point of the target too.
        if (espyiRng_U32(&s->rng) & 1u)
        {
            origin = line->origin;
        }
        espyVec3 towards = border ? espyLines_Border(s, line) : espyLines_Mutate(s, line);
        if (espyiLines_Aim(s, origin, towards, out))
        {
            return;
        }
    }
    *out = (espyiSegment){origin, espyiSurfaceGap(origin, 0.0f), espyiLines_RandomDirection(&s->rng),
                          s->shared->scene->reach};
}

// New open cells a ray below which exploring ends, over the last four batches; and the fewest batches.
typedef struct espyLineEffort
{
    float rate;
    uint32_t leastBatches, mostBatches;
} espyLineEffort;

static const espyLineEffort espyLineEfforts[] = {
    [espyBakeQuality_Low] = {0.10f, 4, 64},
    [espyBakeQuality_Medium] = {0.01f, 8, 1024},
    [espyBakeQuality_High] = {0.01f, 16, 2048},
    [espyBakeQuality_Proven] = {0.01f, 16, 2048},
};

bool espyiLines_Explore(espyiSearcher* s)
{
    const espyLineEffort* effort = &espyLineEfforts[s->shared->quality];
    uint32_t recent[4] = {0};
    for (uint32_t batch = 0; batch < effort->mostBatches; ++batch)
    {
        if (!espyiControl_JobGoesOn(s->shared->control))
        {
            return false;
        }
        for (uint32_t i = 0; i < ESPYI_LINE_BATCH; ++i)
        {
            espyLines_Choose(s, i, &s->segments[i]);
        }
        recent[batch & 3u] = espyiLines_Cast(s, ESPYI_LINE_BATCH);
        uint32_t sum = recent[0] + recent[1] + recent[2] + recent[3];
        if (batch + 1 >= effort->leastBatches && (float)sum < effort->rate * (float)(4 * ESPYI_LINE_BATCH))
        {
            break;
        }
    }
    return true;
}
