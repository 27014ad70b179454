// SPDX-License-Identifier: MIT
// Rays against triangles in double precision, over a plain binary tree of boxes split at the median.
#include "audit/exact.h"

#include <math.h>
#include <stdlib.h>

#define ESPY_EXACT_LEAF 4u
#define ESPY_EXACT_STACK 64u ///< The tree is balanced: depth is at most 32.

typedef struct espyExactTriangle
{
    double corner[3][3];
    double normal[3]; ///< Unit length.
    uint32_t object;
} espyExactTriangle;

typedef struct espyExactNode
{
    double low[3], high[3];
    uint32_t first, count; ///< Triangles under this node.
    uint32_t right;        ///< Index of the second child, the first being the next node; 0: a leaf.
    uint32_t next;         ///< Index of the node after this subtree: where a walk goes on that does not enter it.
} espyExactNode;

struct espyiExact
{
    espyHooks hooks;
    espyExactTriangle* triangles;
    espyExactNode* nodes;
    uint32_t triangleCount, nodeCount;
};

typedef struct espyExactKey
{
    double centre;
    uint32_t triangle;
} espyExactKey;

static double espyExact_Dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void espyExact_Cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void espyExact_Subtract(const double a[3], const double b[3], double out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

// --- building

static bool espyExact_SetTriangle(const espyTriangles* mesh, uint32_t index, espyExactTriangle* out)
{
    double edges[2][3];
    for (uint32_t c = 0; c < 3; ++c)
    {
        espyVec3 p = mesh->positions[mesh->indices[3 * (size_t)index + c]];
        out->corner[c][0] = (double)p.x;
        out->corner[c][1] = (double)p.y;
        out->corner[c][2] = (double)p.z;
    }
    espyExact_Subtract(out->corner[1], out->corner[0], edges[0]);
    espyExact_Subtract(out->corner[2], out->corner[0], edges[1]);
    espyExact_Cross(edges[0], edges[1], out->normal);
    double length = sqrt(espyExact_Dot(out->normal, out->normal));
    if (!(length > 0.0 && length < 1e300))
    {
        return false;
    }
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        out->normal[axis] /= length;
    }
    return true;
}

static int espyExact_CompareKeys(const void* left, const void* right)
{
    const espyExactKey *a = left, *b = right;
    if (a->centre != b->centre)
    {
        return a->centre < b->centre ? -1 : 1;
    }
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static void espyExact_Bound(const espyiExact* exact, espyExactNode* node)
{
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        node->low[axis] = INFINITY;
        node->high[axis] = -INFINITY;
    }
    for (uint32_t t = node->first; t < node->first + node->count; ++t)
    {
        for (uint32_t c = 0; c < 3; ++c)
        {
            for (uint32_t axis = 0; axis < 3; ++axis)
            {
                double value = exact->triangles[t].corner[c][axis];
                node->low[axis] = value < node->low[axis] ? value : node->low[axis];
                node->high[axis] = value > node->high[axis] ? value : node->high[axis];
            }
        }
    }
    // Wide enough for every tolerance of the tests on triangles, so that a box never rejects what they would take.
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        node->low[axis] -= 2.0 * ESPYI_EXACT_FLUSH;
        node->high[axis] += 2.0 * ESPYI_EXACT_FLUSH;
    }
}

/// Sorts the triangles of a node along its longest axis. `keys` and `copy` have room for all of them.
static void espyExact_Sort(espyiExact* exact, const espyExactNode* node, espyExactKey* keys, espyExactTriangle* copy)
{
    uint32_t longest = 0;
    for (uint32_t axis = 1; axis < 3; ++axis)
    {
        longest = node->high[axis] - node->low[axis] > node->high[longest] - node->low[longest] ? axis : longest;
    }
    for (uint32_t i = 0; i < node->count; ++i)
    {
        const espyExactTriangle* triangle = &exact->triangles[node->first + i];
        keys[i].centre = triangle->corner[0][longest] + triangle->corner[1][longest] + triangle->corner[2][longest];
        keys[i].triangle = i;
        copy[i] = *triangle;
    }
    qsort(keys, node->count, sizeof *keys, espyExact_CompareKeys);
    for (uint32_t i = 0; i < node->count; ++i)
    {
        exact->triangles[node->first + i] = copy[keys[i].triangle];
    }
}

/// Splits depth first, so that the first child of every node is the next one.
static void espyExact_Split(espyiExact* exact, espyExactKey* keys, espyExactTriangle* copy)
{
    struct
    {
        uint32_t first, count, parent; ///< parent: the node whose second child this is, or UINT32_MAX.
    } stack[ESPY_EXACT_STACK];
    uint32_t depth = 0;
    stack[depth].first = 0;
    stack[depth].count = exact->triangleCount;
    stack[depth++].parent = UINT32_MAX;
    while (depth > 0)
    {
        --depth;
        uint32_t index = exact->nodeCount++;
        espyExactNode* node = &exact->nodes[index];
        *node = (espyExactNode){.first = stack[depth].first, .count = stack[depth].count};
        if (stack[depth].parent != UINT32_MAX)
        {
            exact->nodes[stack[depth].parent].right = index;
        }
        espyExact_Bound(exact, node);
        if (node->count > ESPY_EXACT_LEAF)
        {
            espyExact_Sort(exact, node, keys, copy);
            uint32_t half = node->count / 2;
            stack[depth].first = node->first + half;
            stack[depth].count = node->count - half;
            stack[depth++].parent = index;
            stack[depth].first = node->first;
            stack[depth].count = half;
            stack[depth++].parent = UINT32_MAX;
        }
    }
    for (uint32_t index = exact->nodeCount; index-- > 0;)
    {
        espyExactNode* node = &exact->nodes[index];
        node->next = node->right == 0 ? index + 1 : exact->nodes[node->right].next;
    }
}

espyResult espyiExact_Build(const espyiSoup* soup, const espyHooks* hooks, espyiExact** out)
{
    *out = NULL;
    espyiExact* exact = espyiAlloc(hooks, 1, sizeof *exact);
    if (!exact)
    {
        return espyResult_OutOfMemory;
    }
    exact->hooks = *hooks;
    size_t total = soup->triangles.triangleCount;
    if (total > 0)
    {
        espyExactKey* keys = espyiAlloc(hooks, total, sizeof *keys);
        espyExactTriangle* copy = espyiAlloc(hooks, total, sizeof *copy);
        exact->triangles = espyiAlloc(hooks, total, sizeof *exact->triangles);
        exact->nodes = espyiAlloc(hooks, 2 * total, sizeof *exact->nodes);
        bool stored = keys && copy && exact->triangles && exact->nodes;
        for (uint32_t t = 0; stored && t < total; ++t)
        {
            espyExactTriangle* next = &exact->triangles[exact->triangleCount];
            if (espyExact_SetTriangle(&soup->triangles, t, next))
            {
                next->object = soup->objects ? soup->objects[t] : 0;
                ++exact->triangleCount;
            }
        }
        if (stored && exact->triangleCount > 0)
        {
            espyExact_Split(exact, keys, copy);
        }
        espyiFree(hooks, keys);
        espyiFree(hooks, copy);
        if (!stored)
        {
            espyiExact_Destroy(exact);
            return espyResult_OutOfMemory;
        }
    }
    *out = exact;
    return espyResult_Ok;
}

void espyiExact_Destroy(espyiExact* exact)
{
    if (exact)
    {
        espyHooks hooks = exact->hooks;
        espyiFree(&hooks, exact->triangles);
        espyiFree(&hooks, exact->nodes);
        espyiFree(&hooks, exact);
    }
}

// --- distance

/// Squared distance from a point to a segment.
static double espyExact_EdgeDistance2(const double p[3], const double a[3], const double b[3])
{
    double ab[3], ap[3], off[3];
    espyExact_Subtract(b, a, ab);
    espyExact_Subtract(p, a, ap);
    double length2 = espyExact_Dot(ab, ab);
    double t = length2 > 0.0 ? espyExact_Dot(ap, ab) / length2 : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        off[axis] = ap[axis] - t * ab[axis];
    }
    return espyExact_Dot(off, off);
}

/// Signed distance from a point of the plane to the line of edge `e`, positive on the triangle's side.
static double espyExact_EdgeSide(const espyExactTriangle* triangle, uint32_t e, const double p[3])
{
    const double *a = triangle->corner[e], *b = triangle->corner[e == 2 ? 0 : e + 1];
    double ab[3], ap[3], inward[3];
    espyExact_Subtract(b, a, ab);
    espyExact_Subtract(p, a, ap);
    espyExact_Cross(triangle->normal, ab, inward);
    return espyExact_Dot(inward, ap) / sqrt(espyExact_Dot(ab, ab));
}

static bool espyExact_IsInside(const espyExactTriangle* triangle, const double p[3], double margin)
{
    for (uint32_t e = 0; e < 3; ++e)
    {
        if (!(espyExact_EdgeSide(triangle, e, p) >= margin))
        {
            return false;
        }
    }
    return true;
}

static double espyExact_TriangleDistance2(const espyExactTriangle* triangle, const double p[3])
{
    double ap[3];
    espyExact_Subtract(p, triangle->corner[0], ap);
    double height = espyExact_Dot(ap, triangle->normal);
    if (espyExact_IsInside(triangle, p, 0.0))
    {
        return height * height;
    }
    double best = INFINITY;
    for (uint32_t e = 0; e < 3; ++e)
    {
        double distance2 = espyExact_EdgeDistance2(p, triangle->corner[e], triangle->corner[e == 2 ? 0 : e + 1]);
        best = distance2 < best ? distance2 : best;
    }
    return best;
}

bool espyiExact_IsClear(const espyiExact* exact, const double point[3], double distance)
{
    for (uint32_t index = 0; index < exact->nodeCount;)
    {
        const espyExactNode* node = &exact->nodes[index];
        bool near = true;
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            near = near && point[axis] >= node->low[axis] - distance && point[axis] <= node->high[axis] + distance;
        }
        if (near && node->right == 0)
        {
            for (uint32_t t = node->first; t < node->first + node->count; ++t)
            {
                if (espyExact_TriangleDistance2(&exact->triangles[t], point) < distance * distance)
                {
                    return false;
                }
            }
        }
        index = near && node->right != 0 ? index + 1 : node->next;
    }
    return true;
}

// --- rays

static bool espyExact_RayMeetsBox(const espyExactNode* node, const espyiRay* ray, double tMin, double tMax)
{
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        double origin = ray->origin[axis], direction = ray->direction[axis];
        if (direction == 0.0)
        {
            if (origin < node->low[axis] || origin > node->high[axis])
            {
                return false;
            }
            continue;
        }
        double a = (node->low[axis] - origin) / direction, b = (node->high[axis] - origin) / direction;
        double enter = a < b ? a : b, leave = a < b ? b : a;
        tMin = enter > tMin ? enter : tMin;
        tMax = leave < tMax ? leave : tMax;
    }
    return tMin <= tMax;
}

static void espyExact_At(const espyiRay* ray, double t, double p[3])
{
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        p[axis] = ray->origin[axis] + t * ray->direction[axis];
    }
}

/// Signed distance from the plane of a triangle.
static double espyExact_Height(const espyExactTriangle* triangle, const double p[3])
{
    double ap[3];
    espyExact_Subtract(p, triangle->corner[0], ap);
    return espyExact_Dot(ap, triangle->normal);
}

bool espyiExact_NearestSure(const espyiExact* exact, uint32_t object, const espyiRay* ray, double tMin, double* t)
{
    double best = INFINITY, p[3];
    for (uint32_t index = 0; index < exact->nodeCount;)
    {
        const espyExactNode* node = &exact->nodes[index];
        bool enter = espyExact_RayMeetsBox(node, ray, tMin, best);
        for (uint32_t i = node->first; enter && node->right == 0 && i < node->first + node->count; ++i)
        {
            const espyExactTriangle* triangle = &exact->triangles[i];
            double slope = espyExact_Dot(triangle->normal, ray->direction);
            if (triangle->object != object || slope == 0.0)
            {
                continue;
            }
            double hit = -espyExact_Height(triangle, ray->origin) / slope;
            if (hit > tMin && hit < best)
            {
                espyExact_At(ray, hit, p);
                best = espyExact_IsInside(triangle, p, ESPYI_EXACT_GRAZE) ? hit : best;
            }
        }
        index = enter && node->right != 0 ? index + 1 : node->next;
    }
    *t = best;
    return best < INFINITY;
}

/// A ray within this of the plane all along counts as lying in it.
static bool espyExact_LiesInPlane(const espyExactTriangle* triangle, const double a[3], const double b[3])
{
    return fabs(espyExact_Height(triangle, a)) < ESPYI_EXACT_GRAZE &&
           fabs(espyExact_Height(triangle, b)) < ESPYI_EXACT_GRAZE;
}

bool espyiExact_MayBlock(const espyiExact* exact, espyiSkip skip, const espyiRay* ray, double tMin, double tMax)
{
    double start[3], target[3], p[3];
    espyExact_At(ray, tMin, start);
    espyExact_At(ray, tMax, target);
    for (uint32_t index = 0; index < exact->nodeCount;)
    {
        const espyExactNode* node = &exact->nodes[index];
        bool enter = espyExact_RayMeetsBox(node, ray, tMin, tMax);
        for (uint32_t i = node->first; enter && node->right == 0 && i < node->first + node->count; ++i)
        {
            const espyExactTriangle* triangle = &exact->triangles[i];
            if (triangle->object - skip.first < skip.count ||
                fabs(espyExact_Height(triangle, target)) <= ESPYI_EXACT_FLUSH)
            {
                continue;
            }
            if (espyExact_LiesInPlane(triangle, start, target))
            {
                return true;
            }
            double slope = espyExact_Dot(triangle->normal, ray->direction);
            double hit = slope != 0.0 ? -espyExact_Height(triangle, ray->origin) / slope : -1.0;
            if (hit >= tMin && hit <= tMax)
            {
                espyExact_At(ray, hit, p);
                if (espyExact_IsInside(triangle, p, -ESPYI_EXACT_GRAZE))
                {
                    return true;
                }
            }
        }
        index = enter && node->right != 0 ? index + 1 : node->next;
    }
    return false;
}
