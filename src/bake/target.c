// SPDX-License-Identifier: MIT
// One target of the search as points to aim at: its surface as triangles with areas, in clusters for the prover.
#include "bake/bake_internal.h"

#include <math.h>

#define ESPY_TARGET_PART 6u

void espyiTarget_Free(espyiTarget* target, const espyHooks* hooks)
{
    espyiFree(hooks, target->corners);
    espyiFree(hooks, target->cumulative);
    espyiFree(hooks, target->parts);
    espyiFree(hooks, target->partFirst);
    espyiFree(hooks, target->order);
    *target = (espyiTarget){0};
}

static espyVec3 espyTarget_Sub(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static espyVec3 espyTarget_Add(espyVec3 a, espyVec3 b, float scale)
{
    return (espyVec3){a.x + b.x * scale, a.y + b.y * scale, a.z + b.z * scale};
}

static float espyTarget_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyTarget_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double espyTarget_Area(const espyVec3* t)
{
    espyVec3 n = espyTarget_Cross(espyTarget_Sub(t[1], t[0]), espyTarget_Sub(t[2], t[0]));
    return sqrt((double)n.x * (double)n.x + (double)n.y * (double)n.y + (double)n.z * (double)n.z);
}

// --- clustering

static float espyTarget_Key(const espyiTarget* target, uint32_t triangle, int axis)
{
    const espyVec3* t = &target->corners[3u * (size_t)triangle];
    return axis == 0 ? t[0].x + t[1].x + t[2].x : axis == 1 ? t[0].y + t[1].y + t[2].y : t[0].z + t[1].z + t[2].z;
}

static bool espyTarget_Before(const espyiTarget* target, uint32_t a, uint32_t b, int axis)
{
    float ka = espyTarget_Key(target, a, axis), kb = espyTarget_Key(target, b, axis);
    return ka != kb ? ka < kb : a < b;
}

// Hoare's selection: afterwards order[lo, k) come before order[k, hi) along the axis.
static void espyTarget_Select(espyiTarget* target, uint32_t lo, uint32_t hi, uint32_t k, int axis)
{
    uint32_t* order = target->order;
    while (hi - lo > 1)
    {
        // Never the last one: both sides of the split keep at least one.
        uint32_t pivot = order[lo + (hi - lo - 1) / 2];
        uint32_t i = lo, j = hi - 1;
        for (;;)
        {
            while (espyTarget_Before(target, order[i], pivot, axis))
            {
                ++i;
            }
            while (espyTarget_Before(target, pivot, order[j], axis))
            {
                --j;
            }
            if (i >= j)
            {
                break;
            }
            uint32_t swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        uint32_t split = j + 1;
        if (k < split)
        {
            hi = split;
        }
        else if (k > split)
        {
            lo = split;
        }
        else
        {
            return;
        }
    }
}

static int espyTarget_LongestAxis(const espyiTarget* target, uint32_t lo, uint32_t hi)
{
    int longest = 0;
    float best = -1.0f;
    for (int axis = 0; axis < 3; ++axis)
    {
        float least = espyTarget_Key(target, target->order[lo], axis), most = least;
        for (uint32_t i = lo + 1; i < hi; ++i)
        {
            float key = espyTarget_Key(target, target->order[i], axis);
            least = key < least ? key : least;
            most = key > most ? key : most;
        }
        if (most - least > best)
        {
            best = most - least;
            longest = axis;
        }
    }
    return longest;
}

static espyiBoxD espyTarget_BoxD(espyBox box)
{
    return (espyiBoxD){{(double)box.min.x, (double)box.min.y, (double)box.min.z},
                       {(double)box.max.x, (double)box.max.y, (double)box.max.z}};
}

// Halves the triangles by the median along the longest axis until at most 6 are together, then puts them in that order.
static bool espyTarget_Cluster(espyiTarget* target, const espyHooks* hooks, espyiPoll* poll)
{
    uint32_t n = target->triangleCount;
    size_t mostParts = (size_t)n / (ESPY_TARGET_PART / 2u) + 1u;
    if (!espyiGrow(hooks, (void**)&target->order, &target->orderCapacity, n, sizeof *target->order) ||
        !espyiGrow(hooks, (void**)&target->parts, &target->partCapacity, mostParts, sizeof *target->parts) ||
        !espyiGrow(hooks, (void**)&target->partFirst, &target->firstCapacity, mostParts + 1u,
                   sizeof *target->partFirst) ||
        !espyiGrow(hooks, (void**)&target->cumulative, &target->cumulativeCapacity, n, sizeof *target->cumulative))
    {
        return false;
    }
    for (uint32_t i = 0; i < n; ++i)
    {
        target->order[i] = i;
    }
    struct
    {
        uint32_t lo, hi;
    } stack[64];
    uint32_t depth = 0;
    stack[depth].lo = 0;
    stack[depth++].hi = n;
    target->partCount = 0;
    while (depth > 0)
    {
        --depth;
        uint32_t lo = stack[depth].lo, hi = stack[depth].hi;
        if (!espyiPoll_Work(poll, hi - lo))
        {
            return false;
        }
        if (hi - lo <= ESPY_TARGET_PART)
        {
            target->partFirst[target->partCount++] = lo;
            continue;
        }
        uint32_t middle = lo + (hi - lo) / 2;
        espyTarget_Select(target, lo, hi, middle, espyTarget_LongestAxis(target, lo, hi));
        stack[depth].lo = middle;
        stack[depth++].hi = hi;
        stack[depth].lo = lo;
        stack[depth++].hi = middle;
    }
    target->partFirst[target->partCount] = n;
    // Apply the order in place, cycle by cycle.
    for (uint32_t i = 0; i < n; ++i)
    {
        uint32_t from = target->order[i];
        while (from < i)
        {
            from = target->order[from];
        }
        for (uint32_t k = 0; k < 3; ++k)
        {
            espyVec3 swap = target->corners[3u * (size_t)i + k];
            target->corners[3u * (size_t)i + k] = target->corners[3u * (size_t)from + k];
            target->corners[3u * (size_t)from + k] = swap;
        }
    }
    double sum = 0.0;
    for (uint32_t part = 0; part < target->partCount; ++part)
    {
        espyBox box = espyBox_Empty();
        for (uint32_t i = target->partFirst[part]; i < target->partFirst[part + 1]; ++i)
        {
            const espyVec3* t = &target->corners[3u * (size_t)i];
            box = espyBox_AddPoint(espyBox_AddPoint(espyBox_AddPoint(box, t[0]), t[1]), t[2]);
            sum += espyTarget_Area(t);
            target->cumulative[i] = sum;
        }
        target->parts[part] = espyTarget_BoxD(box);
    }
    return true;
}

// --- filling

static bool espyTarget_FillBoxFaces(espyiTarget* target, const espyHooks* hooks)
{
    if (!espyiGrow(hooks, (void**)&target->corners, &target->cornerCapacity, 36, sizeof *target->corners))
    {
        return false;
    }
    const float lo[3] = {target->box.min.x, target->box.min.y, target->box.min.z};
    const float hi[3] = {target->box.max.x, target->box.max.y, target->box.max.z};
    static const uint8_t quad[6] = {0, 1, 2, 2, 1, 3};
    for (uint32_t face = 0; face < 6; ++face)
    {
        uint32_t axis = face >> 1, u = (axis + 1) % 3, v = (axis + 2) % 3;
        for (uint32_t i = 0; i < 6; ++i)
        {
            float p[3];
            p[axis] = face & 1u ? hi[axis] : lo[axis];
            p[u] = quad[i] & 1u ? hi[u] : lo[u];
            p[v] = quad[i] & 2u ? hi[v] : lo[v];
            target->corners[6u * face + i] = (espyVec3){p[0], p[1], p[2]};
        }
    }
    target->triangleCount = 12;
    return true;
}

static bool espyTarget_SameTriangle(const espyVec3* a, const espyVec3* b)
{
    for (uint32_t turn = 0; turn < 6; ++turn)
    {
        // All orders: both senses from each corner.
        uint32_t step = turn < 3 ? 1u : 2u;
        bool same = true;
        for (uint32_t k = 0; k < 3; ++k)
        {
            const espyVec3* q = &b[(turn + step * k) % 3];
            same = same && a[k].x == q->x && a[k].y == q->y && a[k].z == q->z;
        }
        if (same)
        {
            return true;
        }
    }
    return false;
}

// Finds the triangle in a part, from *part on and around. False: no part's box holds it.
static bool espyTarget_PlaceTriangle(espyiTarget* target, const espyVec3* t, uint32_t* part)
{
    bool inside = false;
    for (uint32_t i = 0; i < target->partCount; ++i)
    {
        uint32_t at = *part + i < target->partCount ? *part + i : *part + i - target->partCount;
        const espyiBoxD* box = &target->parts[at];
        bool holds = true;
        for (uint32_t k = 0; k < 3; ++k)
        {
            const double p[3] = {(double)t[k].x, (double)t[k].y, (double)t[k].z};
            for (int axis = 0; axis < 3; ++axis)
            {
                holds = holds && p[axis] >= box->min[axis] && p[axis] <= box->max[axis];
            }
        }
        for (uint32_t k = target->partFirst[at]; k < target->partFirst[at + 1] && holds; ++k)
        {
            if (espyTarget_SameTriangle(t, &target->corners[3u * (size_t)k]))
            {
                *part = at;
                return true;
            }
        }
        inside = inside || holds;
    }
    target->own = espyiOwnPlace_Parts;
    return inside;
}

// False: stopped.
static bool espyTarget_PlaceOwn(espyiTarget* target, const espyiScene* scene, const espyBakeOccludee* in,
                                espyiPoll* poll)
{
    uint32_t part = 0;
    target->own = espyiOwnPlace_Surface;
    for (uint32_t i = 0; i < in->ownCount; ++i)
    {
        const espyTriangles* mesh = &scene->input->occluders[in->firstOwn + i].mesh;
        for (uint32_t k = 0; k < mesh->triangleCount; ++k)
        {
            if (!espyiPoll_Work(poll, 1u + target->partCount / 64u))
            {
                return false;
            }
            espyVec3 t[3];
            bool finite = true;
            for (uint32_t c = 0; c < 3; ++c)
            {
                t[c] = espyiScene_ToLocal(&scene->grid, mesh->positions[mesh->indices[3u * (size_t)k + c]]);
                finite = finite && espyiFinite3(t[c]);
            }
            // What is degenerate blocks nothing.
            if (finite && espyTarget_Area(t) > 0.0 && !espyTarget_PlaceTriangle(target, t, &part))
            {
                target->own = espyiOwnPlace_Elsewhere;
                return true;
            }
        }
    }
    return true;
}

bool espyiTarget_FillOccludee(espyiTarget* target, const espyiScene* scene, uint32_t occludee, espyBakeQuality quality,
                              espyiPoll* poll)
{
    const espyBakeOccludee* in = &scene->input->occludees[occludee];
    const espyHooks* hooks = scene->hooks;
    const espyiGrid* grid = &scene->grid;
    espyBox box = scene->occludeeBoxes[occludee];
    target->box = (espyBox){espyiScene_ToLocal(grid, box.min), espyiScene_ToLocal(grid, box.max)};
    target->bounds = target->box;
    target->volume = false;
    target->skip = (espyiSkip){in->firstOwn, in->ownCount};
    target->seed = scene->occludeeHashes[occludee];
    target->triangleCount = 0;
    if (!espyiGrow(hooks, (void**)&target->corners, &target->cornerCapacity, 3u * (size_t)in->mesh.triangleCount,
                   sizeof *target->corners))
    {
        return false;
    }
    for (uint32_t i = 0; i < in->mesh.triangleCount; ++i)
    {
        if (!espyiPoll_Work(poll, 1))
        {
            return false;
        }
        espyVec3* t = &target->corners[3u * (size_t)target->triangleCount];
        bool finite = true;
        for (uint32_t k = 0; k < 3; ++k)
        {
            t[k] = espyiScene_ToLocal(grid, in->mesh.positions[in->mesh.indices[3u * (size_t)i + k]]);
            finite = finite && espyiFinite3(t[k]);
        }
        if (finite && espyTarget_Area(t) > 0.0)
        {
            target->bounds = espyBox_AddPoint(espyBox_AddPoint(espyBox_AddPoint(target->bounds, t[0]), t[1]), t[2]);
            ++target->triangleCount;
        }
    }
    target->proofBounds = target->bounds;
    for (uint32_t i = 0; i < in->ownCount; ++i)
    {
        espyBox own = scene->occluderBoxes[in->firstOwn + i];
        if (espyBox_IsValid(own))
        {
            own = (espyBox){espyiScene_ToLocal(grid, own.min), espyiScene_ToLocal(grid, own.max)};
            target->proofBounds = espyBox_Union(target->proofBounds, own);
        }
    }
    target->fixedCount = espyiSamples_Targets(grid, quality, target->box, &in->mesh, target->fixedTargets);
    return (target->triangleCount > 0 || espyTarget_FillBoxFaces(target, hooks)) &&
           espyTarget_Cluster(target, hooks, poll) && espyTarget_PlaceOwn(target, scene, in, poll);
}

bool espyiTarget_FillBlock(espyiTarget* target, const espyiScene* scene, uint32_t coarse)
{
    const espyHooks* hooks = scene->hooks;
    target->box = espyiGrid_LocalCoarseBox(&scene->grid, coarse);
    target->bounds = target->proofBounds = target->box;
    target->own = espyiOwnPlace_Parts;
    target->volume = true;
    target->skip = (espyiSkip){0, 0};
    espyiCellCoord at = scene->grid.coarse[coarse];
    target->seed = espyiHash_U64(scene->settingsHash, at.x | (uint64_t)at.y << 16 | (uint64_t)at.z << 32);
    target->triangleCount = 0;
    if (!espyiGrow(hooks, (void**)&target->parts, &target->partCapacity, 1, sizeof *target->parts))
    {
        return false;
    }
    target->parts[0] = espyTarget_BoxD(target->box);
    target->partCount = 1;
    // People-sized boxes anywhere in the block: four points a side, none on the faces that it shares with the next one.
    target->fixedCount = 0;
    for (uint32_t i = 0; i < 64; ++i)
    {
        espyVec3 a = target->box.min, b = target->box.max;
        const float share[3] = {((float)(i & 3u) + 0.5f) / 4.0f, ((float)(i >> 2 & 3u) + 0.5f) / 4.0f,
                                ((float)(i >> 4) + 0.5f) / 4.0f};
        target->fixedTargets[target->fixedCount++] =
            (espyVec3){a.x + (b.x - a.x) * share[0], a.y + (b.y - a.y) * share[1], a.z + (b.z - a.z) * share[2]};
    }
    return true;
}

// --- points

espyVec3 espyiTarget_RandomPoint(const espyiTarget* target, espyiRng* rng)
{
    float u = espyiRng_Float(rng), v = espyiRng_Float(rng);
    if (target->volume)
    {
        float w = espyiRng_Float(rng);
        espyVec3 a = target->box.min, b = target->box.max;
        return (espyVec3){a.x + (b.x - a.x) * u, a.y + (b.y - a.y) * v, a.z + (b.z - a.z) * w};
    }
    uint32_t how = espyiRng_U32(rng);
    uint32_t n = target->triangleCount;
    double total = target->cumulative[n - 1];
    uint32_t triangle;
    if ((how & 3u) == 0 || !(total > 0.0))
    {
        triangle = espyiRng_Below(rng, n);
    }
    else
    {
        double wanted = (double)espyiRng_Float(rng) * total;
        uint32_t lo = 0, hi = n - 1;
        while (lo < hi)
        {
            uint32_t middle = lo + (hi - lo) / 2;
            if (target->cumulative[middle] > wanted)
            {
                hi = middle;
            }
            else
            {
                lo = middle + 1;
            }
        }
        triangle = lo;
    }
    if (u + v > 1.0f)
    {
        u = 1.0f - u;
        v = 1.0f - v;
    }
    // A quarter of the points lie on edges or, of those, on corners: what sticks out is seen first.
    if ((how >> 2 & 3u) == 0)
    {
        v = 0.0f;
        u = (how >> 4 & 1u) ? u : (how >> 5 & 1u) ? 1.0f : 0.0f;
    }
    uint32_t turn = espyiRng_Below(rng, 3);
    const espyVec3* t = &target->corners[3u * (size_t)triangle];
    espyVec3 a = t[turn], b = t[(turn + 1) % 3], c = t[(turn + 2) % 3];
    return (espyVec3){
        a.x + (b.x - a.x) * u + (c.x - a.x) * v,
        a.y + (b.y - a.y) * u + (c.y - a.y) * v,
        a.z + (b.z - a.z) * u + (c.z - a.z) * v,
    };
}

// Squared distance from a point to a box.
static double espyTarget_BoxDistance(const espyiBoxD* box, espyVec3 p)
{
    const double at[3] = {(double)p.x, (double)p.y, (double)p.z};
    double sum = 0.0;
    for (int k = 0; k < 3; ++k)
    {
        double d = at[k] < box->min[k] ? box->min[k] - at[k] : at[k] > box->max[k] ? at[k] - box->max[k] : 0.0;
        sum += d * d;
    }
    return sum;
}

// Nearest point of a triangle, by the regions of its corners, edges and inside.
// Based on: Ericson, "Real-Time Collision Detection", 2005, section 5.1.5.
static espyVec3 espyTarget_NearestOnTriangle(const espyVec3* t, espyVec3 p)
{
    espyVec3 ab = espyTarget_Sub(t[1], t[0]), ac = espyTarget_Sub(t[2], t[0]);
    espyVec3 ap = espyTarget_Sub(p, t[0]), bp = espyTarget_Sub(p, t[1]), cp = espyTarget_Sub(p, t[2]);
    float d1 = espyTarget_Dot(ab, ap), d2 = espyTarget_Dot(ac, ap);
    float d3 = espyTarget_Dot(ab, bp), d4 = espyTarget_Dot(ac, bp);
    float d5 = espyTarget_Dot(ab, cp), d6 = espyTarget_Dot(ac, cp);
    if (d1 <= 0.0f && d2 <= 0.0f)
    {
        return t[0];
    }
    if (d3 >= 0.0f && d4 <= d3)
    {
        return t[1];
    }
    if (d6 >= 0.0f && d5 <= d6)
    {
        return t[2];
    }
    float vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f)
    {
        return espyTarget_Add(t[0], ab, d1 / (d1 - d3));
    }
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f)
    {
        return espyTarget_Add(t[0], ac, d2 / (d2 - d6));
    }
    if (va <= 0.0f && d4 - d3 >= 0.0f && d5 - d6 >= 0.0f)
    {
        return espyTarget_Add(t[1], espyTarget_Sub(t[2], t[1]), (d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    float inverse = 1.0f / (va + vb + vc);
    return espyTarget_Add(espyTarget_Add(t[0], ab, vb * inverse), ac, vc * inverse);
}

// Where the line from + s * d, s > 0, first meets a triangle before *s. d need not have unit length.
static bool espyTarget_LineHit(const espyVec3* t, espyVec3 from, espyVec3 d, float* s)
{
    espyVec3 ab = espyTarget_Sub(t[1], t[0]), ac = espyTarget_Sub(t[2], t[0]);
    espyVec3 q = espyTarget_Cross(d, ac);
    float det = espyTarget_Dot(ab, q);
    if (!(det > 0.0f || det < 0.0f))
    {
        return false;
    }
    float inverse = 1.0f / det;
    espyVec3 o = espyTarget_Sub(from, t[0]);
    float u = espyTarget_Dot(o, q) * inverse;
    espyVec3 r = espyTarget_Cross(o, ab);
    float v = espyTarget_Dot(d, r) * inverse;
    float at = espyTarget_Dot(ac, r) * inverse;
    if (!(u >= 0.0f && v >= 0.0f && u + v <= 1.0f && at > 0.0f && at < *s))
    {
        return false;
    }
    *s = at;
    return true;
}

static bool espyTarget_LineMeetsBox(const espyiBoxD* box, espyVec3 from, espyVec3 d, double most)
{
    const double o[3] = {(double)from.x, (double)from.y, (double)from.z};
    const double dir[3] = {(double)d.x, (double)d.y, (double)d.z};
    double enter = 0.0, leave = most;
    for (int k = 0; k < 3; ++k)
    {
        if (!(dir[k] > 0.0 || dir[k] < 0.0))
        {
            if (o[k] < box->min[k] - 1e-5 || o[k] > box->max[k] + 1e-5)
            {
                return false;
            }
            continue;
        }
        double a = (box->min[k] - 1e-5 - o[k]) / dir[k], b = (box->max[k] + 1e-5 - o[k]) / dir[k];
        double lo = a < b ? a : b, hi = a < b ? b : a;
        enter = lo > enter ? lo : enter;
        leave = hi < leave ? hi : leave;
    }
    return enter <= leave;
}

espyiProofTarget espyiTarget_DescribeProof(const espyiTarget* target, const espyiBoxD* bounds)
{
    espyiProofTarget proof = {.bounds = *bounds, .parts = bounds, .partCount = 1};
    if (target->own != espyiOwnPlace_Elsewhere)
    {
        proof.parts = target->parts;
        proof.partCount = target->partCount;
    }
    if (target->own == espyiOwnPlace_Surface)
    {
        proof.corners = target->corners;
        proof.partFirst = target->partFirst;
    }
    return proof;
}

espyVec3 espyiTarget_Aim(const espyiTarget* target, espyVec3 from, espyVec3 to)
{
    if (target->volume)
    {
        return to;
    }
    espyVec3 d = espyTarget_Sub(to, from);
    float s = 3.402823466e+38f;
    for (uint32_t part = 0; part < target->partCount; ++part)
    {
        if (espyTarget_LineMeetsBox(&target->parts[part], from, d, (double)s))
        {
            for (uint32_t i = target->partFirst[part]; i < target->partFirst[part + 1]; ++i)
            {
                espyTarget_LineHit(&target->corners[3u * (size_t)i], from, d, &s);
            }
        }
    }
    espyVec3 onLine = espyTarget_Add(from, d, s);
    bool met = s < 3.4e+38f && espyiFinite3(onLine);
    if (met && s <= 1.0f)
    {
        return onLine;
    }
    espyVec3 nearest = target->corners[0];
    double best = 1e300;
    for (uint32_t part = 0; part < target->partCount; ++part)
    {
        if (espyTarget_BoxDistance(&target->parts[part], to) >= best)
        {
            continue;
        }
        for (uint32_t i = target->partFirst[part]; i < target->partFirst[part + 1]; ++i)
        {
            espyVec3 p = espyTarget_NearestOnTriangle(&target->corners[3u * (size_t)i], to);
            espyVec3 off = espyTarget_Sub(p, to);
            double distance = (double)espyTarget_Dot(off, off);
            if (distance < best)
            {
                best = distance;
                nearest = p;
            }
        }
    }
    // The line may pass a rim that was aimed at by a rounding error and meet what is far behind.
    espyVec3 off = espyTarget_Sub(onLine, to);
    return met && (double)espyTarget_Dot(off, off) < 100.0 * best ? onLine : nearest;
}
