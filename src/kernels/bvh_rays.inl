// SPDX-License-Identifier: MIT
// Any-hit and closest-hit walks of the hierarchy: one text, compiled once per instruction set.
//
// The triangle test, which alone decides every answer. The triangle is moved to the origin of the segment and sheared
// so that the segment runs along one axis; what is left is whether (0, 0) lies in a 2-D triangle.
//   - A corner shared by triangles has one 2-D image, and the sign of an edge function is exact for the images: the
//     rounded difference of two rounded products has the sign of the exact difference unless it is 0, and then the
//     sign is taken again in double, where both products are exact. So the 2-D images of a closed mesh are a closed
//     mesh, and nothing leaks through its edges and corners.
//   - t comes from the plane of the corners as given: a segment that starts on an axis-aligned face has t = 0 exactly.
//   - t is then clamped to where the segment is inside the grown bounds of the triangle, computed by the very sequence
//     that tests nodes. Rounding is monotonic, so a box around the triangle yields an interval around that one: no
//     node test ever rejects what the triangle test accepts, by construction.
//
// Growth of bounds. With u = 2^-24 and R the largest distance along an axis from the origin to a corner, in units of
// u R: the 2-D images are off by at most 7, steep axes by 4 (see Prepare), slabs by 3, the grown origins by 2, R by 2.
// Growing by 32 u R covers the sum with room to spare.
//
// Based on: S. Woop, C. Benthin, I. Wald, "Watertight Ray/Triangle Intersection", JCGT 2(1), 2013;
//           T. Ize, "Robust BVH Ray Traversal", JCGT 2(2), 2013.
#include "geometry/bvh_simd.h"
#include "geometry/bvh_tree.h"

/// A segment made ready for tests.
typedef struct espyRay
{
    float origin[3], direction[3];
    float inverse[3];    ///< Of the direction, kept finite.
    float nearOrigin[3]; ///< Origin moved so that boxes appear grown at the side where the segment enters.
    float farOrigin[3];
    uint32_t nearRow[3], farRow[3]; ///< Rows of espyiBvhNode::bounds where the segment enters and leaves.
    uint32_t kx, ky, kz;            ///< kz: the axis along which the direction is longest; kx, ky keep the winding.
    float shearX, shearY;
    float tMin, tMax;
} espyRay;

/// False where the segment has no points to test: a NaN, an infinite origin or direction, an empty interval, or
/// magnitudes with which the test could overflow (beyond 2^36 m, directions outside 2^-60..2^60).
static bool espyRay_Prepare(const espyiBvhTree* tree, const espyiSegment* segment, espyRay* ray)
{
    const float o[3] = {segment->origin.x, segment->origin.y, segment->origin.z};
    const float d[3] = {segment->direction.x, segment->direction.y, segment->direction.z};
    const float low[3] = {tree->bounds.min.x, tree->bounds.min.y, tree->bounds.min.z};
    const float high[3] = {tree->bounds.max.x, tree->bounds.max.y, tree->bounds.max.z};
    float size[3], reach = 0.0f;
    for (int axis = 0; axis < 3; ++axis)
    {
        if (!(o[axis] >= -ESPYI_BVH_MAX_COORDINATE && o[axis] <= ESPYI_BVH_MAX_COORDINATE))
        {
            return false;
        }
        size[axis] = d[axis] < 0.0f ? -d[axis] : d[axis];
        if (!(size[axis] <= 1152921504606846976.0f))
        {
            return false;
        }
        float below = o[axis] - low[axis], above = high[axis] - o[axis];
        reach = below > reach ? below : reach;
        reach = above > reach ? above : reach;
    }
    uint32_t kz = size[0] >= size[1] ? (size[0] >= size[2] ? 0u : 2u) : (size[1] >= size[2] ? 1u : 2u);
    if (!(size[kz] >= 8.67361738e-19f) || !(segment->tMin < segment->tMax))
    {
        return false;
    }
    float grow = reach * 1.9073486328125e-06f; // 32 u
    float smallest = size[kz] * 1.1920928955078125e-07f;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        bool negative = d[axis] < 0.0f;
        // Along an axis that is almost perpendicular the segment moves by less than the growth: any slope will do.
        float bounded = size[axis] < smallest ? smallest : size[axis];
        ray->origin[axis] = o[axis];
        ray->direction[axis] = d[axis];
        ray->inverse[axis] = 1.0f / (negative ? -bounded : bounded);
        ray->nearOrigin[axis] = negative ? o[axis] - grow : o[axis] + grow;
        ray->farOrigin[axis] = negative ? o[axis] + grow : o[axis] - grow;
        ray->nearRow[axis] = negative ? axis + 3 : axis;
        ray->farRow[axis] = negative ? axis : axis + 3;
    }
    bool flip = d[kz] < 0.0f;
    uint32_t next = kz == 2 ? 0 : kz + 1, last = kz == 0 ? 2 : kz - 1;
    ray->kx = flip ? last : next;
    ray->ky = flip ? next : last;
    ray->kz = kz;
    ray->shearX = d[ray->kx] * ray->inverse[kz];
    ray->shearY = d[ray->ky] * ray->inverse[kz];
    ray->tMin = segment->tMin;
    ray->tMax = segment->tMax;
    return true;
}

static inline espyF8 espyF8_Max3(espyF8 a, espyF8 b, espyF8 c)
{
    return espyF8_Max(espyF8_Max(a, b), c);
}

static inline espyF8 espyF8_Min3(espyF8 a, espyF8 b, espyF8 c)
{
    return espyF8_Min(espyF8_Min(a, b), c);
}

/// Where the segment crosses one grown plane of eight boxes.
static inline espyF8 espyRay_Slab(espyF8 plane, float origin, float inverse)
{
    return espyF8_Mul(espyF8_Sub(plane, espyF8_Set(origin)), espyF8_Set(inverse));
}

/// Children that the segment may meet before tFar; *entry gets where it enters each.
static inline uint32_t espyNode_Test(const espyiBvhNode* node, const espyRay* ray, float tFar, espyF8* entry)
{
    espyF8 enter[3], leave[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        enter[axis] =
            espyRay_Slab(espyF8_Load(node->bounds[ray->nearRow[axis]]), ray->nearOrigin[axis], ray->inverse[axis]);
        leave[axis] =
            espyRay_Slab(espyF8_Load(node->bounds[ray->farRow[axis]]), ray->farOrigin[axis], ray->inverse[axis]);
    }
    espyF8 in = espyF8_Max(espyF8_Max3(enter[0], enter[1], enter[2]), espyF8_Set(ray->tMin));
    espyF8 out = espyF8_Min(espyF8_Min3(leave[0], leave[1], leave[2]), espyF8_Set(tFar));
    *entry = in;
    return espyF8_LessEqual(in, out);
}

/// The 2-D corners of a triangle as the lanes compute them.
static void espyRay_Shear(const espyRay* ray, const espyiBvhLeaf* leaf, uint32_t lane, uint32_t corner, double out[2])
{
    float x = leaf->corners[3 * corner + ray->kx][lane] - ray->origin[ray->kx];
    float y = leaf->corners[3 * corner + ray->ky][lane] - ray->origin[ray->ky];
    float z = leaf->corners[3 * corner + ray->kz][lane] - ray->origin[ray->kz];
    float shiftX = ray->shearX * z, shiftY = ray->shearY * z;
    out[0] = (double)(x - shiftX);
    out[1] = (double)(y - shiftY);
}

/// Decides in double a triangle with an edge function that is 0 in float. Products of floats are exact in double, so
/// the signs are. Returns 0 for outside or edge-on, 1 for the front, 2 for the back.
static uint32_t espyRay_DecideExactly(const espyRay* ray, const espyiBvhLeaf* leaf, uint32_t lane)
{
    double a[2], b[2], c[2];
    espyRay_Shear(ray, leaf, lane, 0, a);
    espyRay_Shear(ray, leaf, lane, 1, b);
    espyRay_Shear(ray, leaf, lane, 2, c);
    double u = c[0] * b[1] - c[1] * b[0];
    double v = a[0] * c[1] - a[1] * c[0];
    double w = b[0] * a[1] - b[1] * a[0];
    bool positive = u > 0.0 || v > 0.0 || w > 0.0;
    bool negative = u < 0.0 || v < 0.0 || w < 0.0;
    return positive == negative ? 0 : positive ? 1 : 2;
}

/// Tests eight triangles; one bit for each hit with t in (tMin, tMax) that `skip` lets pass. *t and *backFaces are
/// valid where the bit is set.
static inline uint32_t espyLeaf_Test(const espyiBvhLeaf* leaf, const espyRay* ray, espyiSkip skip, espyF8* t,
                                     uint32_t* backFaces)
{
    espyF8 x[3], y[3];
    for (uint32_t corner = 0; corner < 3; ++corner)
    {
        espyF8 px = espyF8_Sub(espyF8_Load(leaf->corners[3 * corner + ray->kx]), espyF8_Set(ray->origin[ray->kx]));
        espyF8 py = espyF8_Sub(espyF8_Load(leaf->corners[3 * corner + ray->ky]), espyF8_Set(ray->origin[ray->ky]));
        espyF8 pz = espyF8_Sub(espyF8_Load(leaf->corners[3 * corner + ray->kz]), espyF8_Set(ray->origin[ray->kz]));
        x[corner] = espyF8_Sub(px, espyF8_Mul(espyF8_Set(ray->shearX), pz));
        y[corner] = espyF8_Sub(py, espyF8_Mul(espyF8_Set(ray->shearY), pz));
    }
    espyF8 u = espyF8_Sub(espyF8_Mul(x[2], y[1]), espyF8_Mul(y[2], x[1]));
    espyF8 v = espyF8_Sub(espyF8_Mul(x[0], y[2]), espyF8_Mul(y[0], x[2]));
    espyF8 w = espyF8_Sub(espyF8_Mul(x[1], y[0]), espyF8_Mul(y[1], x[0]));
    espyF8 zero = espyF8_Set(0.0f);
    uint32_t negative = espyF8_Less(espyF8_Min3(u, v, w), zero);
    uint32_t positive = espyF8_Less(zero, espyF8_Max3(u, v, w));
    uint32_t hits = ~(negative & positive) & 0xFFu;
    if (hits == 0)
    {
        return 0;
    }
    *backFaces = negative;
    uint32_t touching = hits & (espyF8_Equal(u, zero) | espyF8_Equal(v, zero) | espyF8_Equal(w, zero));
    for (; touching != 0; touching &= touching - 1)
    {
        uint32_t lane = espyBits_Lowest(touching), side = espyRay_DecideExactly(ray, leaf, lane);
        hits &= ~((side == 0 ? 1u : 0u) << lane);
        *backFaces = (*backFaces & ~(1u << lane)) | (side >> 1) << lane;
    }
    espyF8 edgeA[3], edgeB[3], toPlane[3], in = espyF8_Set(ray->tMin), out = espyF8_Set(ray->tMax);
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        espyF8 p0 = espyF8_Load(leaf->corners[axis]), p1 = espyF8_Load(leaf->corners[3 + axis]);
        espyF8 p2 = espyF8_Load(leaf->corners[6 + axis]);
        edgeA[axis] = espyF8_Sub(p1, p0);
        edgeB[axis] = espyF8_Sub(p2, p0);
        toPlane[axis] = espyF8_Sub(p0, espyF8_Set(ray->origin[axis]));
        espyF8 low = espyF8_Min3(p0, p1, p2), high = espyF8_Max3(p0, p1, p2);
        bool upwards = ray->nearRow[axis] < 3;
        espyF8 enter = espyRay_Slab(upwards ? low : high, ray->nearOrigin[axis], ray->inverse[axis]);
        espyF8 leave = espyRay_Slab(upwards ? high : low, ray->farOrigin[axis], ray->inverse[axis]);
        in = axis == 0 ? enter : espyF8_Max(in, enter);
        out = axis == 0 ? leave : espyF8_Min(out, leave);
    }
    espyF8 distance = zero, speed = zero;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        uint32_t i = axis == 2 ? 0 : axis + 1, j = axis == 0 ? 2 : axis - 1;
        espyF8 normal = espyF8_Sub(espyF8_Mul(edgeA[i], edgeB[j]), espyF8_Mul(edgeA[j], edgeB[i]));
        espyF8 a = espyF8_Mul(toPlane[axis], normal), b = espyF8_Mul(espyF8_Set(ray->direction[axis]), normal);
        distance = axis == 0 ? a : espyF8_Add(distance, a);
        speed = axis == 0 ? b : espyF8_Add(speed, b);
    }
    *t = espyF8_Min(espyF8_Max(espyF8_Div(distance, speed), in), out);
    hits &= espyF8_LessEqual(in, out);
    hits &= espyF8_Less(espyF8_Set(ray->tMin), *t) & espyF8_Less(*t, espyF8_Set(ray->tMax));
    if (skip.count > 0)
    {
        for (uint32_t rest = hits; rest != 0; rest &= rest - 1)
        {
            uint32_t lane = espyBits_Lowest(rest), object = leaf->object[lane];
            bool skipped = object >= skip.first && object - skip.first < skip.count;
            hits &= ~((skipped ? 1u : 0u) << lane);
        }
    }
    return hits;
}

static bool espyRay_IsBlocked(const espyiBvhTree* tree, const espyRay* ray, espyiSkip skip)
{
    uint32_t stack[ESPYI_BVH_STACK];
    uint32_t depth = 0, current = 0;
    for (;;)
    {
        const espyiBvhNode* node = &tree->nodes[current];
        espyF8 entry;
        for (uint32_t mask = espyNode_Test(node, ray, ray->tMax, &entry); mask != 0; mask &= mask - 1)
        {
            uint32_t child = node->child[espyBits_Lowest(mask)];
            if ((child & ESPYI_BVH_LEAF) == 0)
            {
                stack[depth++] = child;
                continue;
            }
            espyF8 t;
            uint32_t backFaces;
            if (espyLeaf_Test(&tree->leaves[(child & ~ESPYI_BVH_LEAF) >> 3], ray, skip, &t, &backFaces) != 0)
            {
                return true;
            }
        }
        if (depth == 0)
        {
            return false;
        }
        current = stack[--depth];
    }
}

static void espyBvh_Occluded(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                             uint64_t* blocked)
{
    for (uint32_t word = 0; word < count / 64 + (count % 64 != 0 ? 1 : 0); ++word)
    {
        blocked[word] = 0;
    }
    if (tree->nodeCount == 0)
    {
        return;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        espyRay ray;
        if (espyRay_Prepare(tree, &segments[i], &ray) && espyRay_IsBlocked(tree, &ray, skip))
        {
            blocked[i / 64] |= (uint64_t)1 << (i % 64);
        }
    }
}

/// Takes the hits of a leaf that are nearer than *best, or as near with a lower index.
static void espyHit_Take(espyiHit* best, const espyiBvhLeaf* leaf, uint32_t hits, espyF8 t, uint32_t backFaces)
{
    _Alignas(32) float lanes[8];
    espyF8_Store(lanes, t);
    for (; hits != 0; hits &= hits - 1)
    {
        uint32_t lane = espyBits_Lowest(hits);
        if (lanes[lane] < best->t || (lanes[lane] <= best->t && leaf->triangle[lane] < best->triangle))
        {
            *best = (espyiHit){lanes[lane], leaf->triangle[lane], leaf->object[lane], (backFaces >> lane & 1u) != 0};
        }
    }
}

typedef struct espyPending
{
    float entry;
    uint32_t child;
} espyPending;

/// *best starts as {tMax, UINT32_MAX}. Nearest children first; a box is dropped only where it begins strictly behind
/// the best hit, so that ties are seen.
static void espyRay_FindClosest(const espyiBvhTree* tree, const espyRay* ray, espyiSkip skip, espyiHit* best)
{
    espyPending stack[ESPYI_BVH_STACK];
    uint32_t depth = 0;
    stack[depth++] = (espyPending){ray->tMin, 0};
    while (depth > 0)
    {
        espyPending pending = stack[--depth];
        if (pending.entry > best->t)
        {
            continue;
        }
        if ((pending.child & ESPYI_BVH_LEAF) != 0)
        {
            const espyiBvhLeaf* leaf = &tree->leaves[(pending.child & ~ESPYI_BVH_LEAF) >> 3];
            espyF8 t;
            uint32_t backFaces = 0;
            uint32_t hits = espyLeaf_Test(leaf, ray, skip, &t, &backFaces);
            if (hits != 0)
            {
                espyHit_Take(best, leaf, hits, t, backFaces);
            }
            continue;
        }
        const espyiBvhNode* node = &tree->nodes[pending.child];
        espyF8 entry;
        uint32_t mask = espyNode_Test(node, ray, best->t, &entry);
        _Alignas(32) float lanes[8];
        espyF8_Store(lanes, entry);
        for (uint32_t base = depth; mask != 0; mask &= mask - 1)
        {
            uint32_t lane = espyBits_Lowest(mask), i = depth++;
            for (; i > base && stack[i - 1].entry < lanes[lane]; --i)
            {
                stack[i] = stack[i - 1];
            }
            stack[i] = (espyPending){lanes[lane], node->child[lane]};
        }
    }
}

static void espyBvh_Closest(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                            espyiHit* out)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        espyRay ray;
        espyiHit best = {segments[i].tMax, UINT32_MAX, 0, false};
        if (tree->nodeCount > 0 && espyRay_Prepare(tree, &segments[i], &ray))
        {
            espyRay_FindClosest(tree, &ray, skip, &best);
        }
        if (best.triangle == UINT32_MAX)
        {
            best.t = -1.0f;
        }
        out[i] = best;
    }
}

const espyiBvhKernels ESPY_KERNEL_TABLE = {espyBvh_Occluded, espyBvh_Closest};
