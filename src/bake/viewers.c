// SPDX-License-Identifier: MIT
// Where cameras can be, and by which way they would get out.
#include "bake/viewers.h"

#include <float.h>
#include <math.h>

#include "bake/proof_internal.h"

// A point stands for this much around it: one on a floor is in the open above it, too. Metres.
#define ESPYI_POINT_REACH 1e-3
// Tried for "outside": corners of the world, so far inside.
#define ESPYI_CORNER_INSET 1e-3
#define ESPYI_NO_REF 0xFFFFFFFFu

// --- occluder polygons by place

/// Pre-order: children of node i are i + 1 and i + 2 * (count of child i + 1).
typedef struct espyPolygonNode
{
    double min[3], max[3];
    uint32_t first, count;
} espyPolygonNode;

typedef struct espyPolygonTree
{
    espyiPolygonSet set;
    espyPolygonNode* nodes;
    espyiKeyed* order;
} espyPolygonTree;

static void espyPolygonTree_Free(espyPolygonTree* tree, const espyHooks* hooks)
{
    espyiFree(hooks, tree->nodes);
    espyiFree(hooks, tree->order);
    espyiPolygons_Free(&tree->set, hooks);
}

/// Ordered by the middle along one axis: the offset makes all coordinates positive, whose bits order like themselves.
static uint64_t espyPolygonTree_Key(const espyiPolygonD* polygon, int axis)
{
    union
    {
        double d;
        uint64_t u;
    } bits = {polygon->center[axis] + 4e7};
    return bits.u;
}

static bool espyPolygonTree_Split(espyPolygonTree* tree, uint32_t index, const espyHooks* hooks, espyiPoll* poll)
{
    espyPolygonNode* node = &tree->nodes[index];
    for (int axis = 0; axis < 3; ++axis)
    {
        node->min[axis] = DBL_MAX;
        node->max[axis] = -DBL_MAX;
    }
    for (uint32_t i = 0; i < node->count; ++i)
    {
        const espyiPolygonD* polygon = &tree->set.polygons[tree->order[node->first + i].value];
        for (int axis = 0; axis < 3; ++axis)
        {
            node->min[axis] = fmin(node->min[axis], polygon->center[axis] - polygon->half[axis]);
            node->max[axis] = fmax(node->max[axis], polygon->center[axis] + polygon->half[axis]);
        }
    }
    if (node->count == 1)
    {
        return true;
    }
    int axis = 0;
    for (int other = 1; other < 3; ++other)
    {
        axis = node->max[other] - node->min[other] > node->max[axis] - node->min[axis] ? other : axis;
    }
    for (uint32_t i = 0; i < node->count; ++i)
    {
        espyiKeyed* item = &tree->order[node->first + i];
        item->key = espyPolygonTree_Key(&tree->set.polygons[item->value], axis);
    }
    uint32_t left = node->count / 2;
    tree->nodes[index + 1] = (espyPolygonNode){.first = node->first, .count = left};
    tree->nodes[index + 2 * left] = (espyPolygonNode){.first = node->first + left, .count = node->count - left};
    return espyiKeyed_Sort(tree->order + node->first, node->count, hooks, poll);
}

static espyResult espyPolygonTree_Build(espyPolygonTree* tree, const espyiFreeSpace* space, const espyiSoup* occluders,
                                        const espyHooks* hooks, espyiPoll* poll)
{
    // All of them: what the budget kept out of free space still keeps cameras out.
    espyiFreeSpaceDef def = {.maxPolygons = UINT32_MAX / 8, .hooks = hooks, .poll = poll};
    uint32_t dropped;
    *tree = (espyPolygonTree){0};
    espyResult result = espyiPolygons_Gather(occluders, space->world, &def, &tree->set, &dropped);
    size_t count = result == espyResult_Ok ? tree->set.polygonCount : 0;
    if (count == 0)
    {
        return result;
    }
    tree->nodes = espyiAlloc(hooks, 2 * count, sizeof(espyPolygonNode));
    tree->order = espyiAlloc(hooks, count, sizeof(espyiKeyed));
    bool ok = tree->nodes && tree->order;
    for (uint32_t i = 0; i < count && ok; ++i)
    {
        tree->order[i].value = i;
    }
    if (ok)
    {
        tree->nodes[0] = (espyPolygonNode){.first = 0, .count = (uint32_t)count};
    }
    for (uint32_t i = 0; ok && i < 2 * count - 1; ++i)
    {
        ok = espyiPoll_Work(poll, tree->nodes[i].count) && espyPolygonTree_Split(tree, i, hooks, poll);
    }
    if (!ok)
    {
        espyPolygonTree_Free(tree, hooks);
        return espyiPoll_Result(poll, false);
    }
    return espyResult_Ok;
}

static double espyPoint_SegmentSquare(const double p[3], const double a[3], const double b[3])
{
    double along = 0, length = 0, square = 0;
    for (int k = 0; k < 3; ++k)
    {
        along += (p[k] - a[k]) * (b[k] - a[k]);
        length += (b[k] - a[k]) * (b[k] - a[k]);
    }
    double t = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
    for (int k = 0; k < 3; ++k)
    {
        double gap = p[k] - a[k] - t * (b[k] - a[k]);
        square += gap * gap;
    }
    return square;
}

/// Distance of a point from a convex polygon.
static double espyPolygon_Distance(const espyiPolygonSet* set, const espyiPolygonD* polygon, const double p[3])
{
    const espyiPlaneD* plane = &set->planes[polygon->plane];
    double square = DBL_MAX;
    bool left = true, right = true;
    for (uint32_t i = 0; i < polygon->count; ++i)
    {
        const double* a = set->points[polygon->first + i];
        const double* b = set->points[polygon->first + (i + 1) % polygon->count];
        square = fmin(square, espyPoint_SegmentSquare(p, a, b));
        // Turn of the projected point about the edge.
        double e[3], d[3], turn = 0;
        for (int k = 0; k < 3; ++k)
        {
            e[k] = b[k] - a[k];
            d[k] = p[k] - a[k];
        }
        for (int k = 0; k < 3; ++k)
        {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            turn += plane->n[k] * (e[u] * d[v] - e[v] * d[u]);
        }
        left = left && turn >= 0;
        right = right && turn <= 0;
    }
    return left || right ? fmin(sqrt(square), fabs(espyiPlane_At(plane, p))) : sqrt(square);
}

/// True where one polygon is nearer than the radius to all of the opening.
static bool espyPolygonTree_Bars(const espyPolygonTree* tree, const espyiFreeSpace* space, const espyiPortalRef* ref,
                                 double radius)
{
    uint32_t stack[64], depth = 0;
    if (tree->set.polygonCount == 0 || ref->count == 0)
    {
        return false;
    }
    const double(*points)[3] = (const double(*)[3])space->points + ref->first;
    stack[depth++] = 0;
    while (depth)
    {
        uint32_t index = stack[--depth];
        const espyPolygonNode* node = &tree->nodes[index];
        bool near = true;
        for (uint32_t i = 0; i < ref->count && near; ++i)
        {
            for (int k = 0; k < 3; ++k)
            {
                near = near && points[i][k] >= node->min[k] - radius && points[i][k] <= node->max[k] + radius;
            }
        }
        if (!near)
        {
            continue;
        }
        if (node->count > 1)
        {
            // Halved each time: 64 is more than enough.
            stack[depth++] = index + 2 * tree->nodes[index + 1].count;
            stack[depth++] = index + 1;
            continue;
        }
        const espyiPolygonD* polygon = &tree->set.polygons[tree->order[node->first].value];
        // Openings are where moved polygons leave them.
        double least = radius - polygon->moved - space->stats.snap - 4 * ESPYI_COVER_GROWTH - polygon->step;
        for (uint32_t i = 0; i < ref->count && near; ++i)
        {
            near = espyPolygon_Distance(&tree->set, polygon, points[i]) < least;
        }
        if (near)
        {
            return true;
        }
    }
    return false;
}

// --- walks down the tree

typedef struct espyLeafWalk
{
    const espyHooks* hooks;
    int32_t* stack;
    size_t capacity;
} espyLeafWalk;

/// Calls for each leaf that meets the box, until one returns false. False: out of memory.
static bool espyLeafWalk_Visit(espyLeafWalk* walk, const espyiFreeSpace* space, const espyiBoxD* box,
                               bool (*visit)(void* context, uint32_t leaf), void* context)
{
    double center[3], half[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        center[axis] = 0.5 * (box->min[axis] + box->max[axis]);
        half[axis] = 0.5 * (box->max[axis] - box->min[axis]);
    }
    size_t depth = 0;
    int32_t at = space->nodeCount ? 0 : ~0;
    for (;;)
    {
        while (at >= 0)
        {
            const espyiPlaneD* plane = &space->nodes[at].plane;
            double middle = espyiPlane_At(plane, center);
            double reach = fabs(plane->n[0]) * half[0] + fabs(plane->n[1]) * half[1] + fabs(plane->n[2]) * half[2];
            bool front = middle + reach > 0, back = middle - reach < 0;
            if (front && back)
            {
                if (!espyiGrow(walk->hooks, (void**)&walk->stack, &walk->capacity, depth + 1, sizeof(int32_t)))
                {
                    return false;
                }
                walk->stack[depth++] = space->nodes[at].child[1];
            }
            at = space->nodes[at].child[front ? 0 : 1];
        }
        if (!visit(context, (uint32_t)~at) || depth == 0)
        {
            return true;
        }
        at = walk->stack[--depth];
    }
}

// --- the flood

/// Leaves by the area of the narrowest opening on the widest way to them, widest first (a binary heap).
typedef struct espyReach
{
    double width;
    uint32_t leaf;
} espyReach;

typedef struct espyViewerFlood
{
    const espyiFreeSpace* space;
    const espyHooks* hooks;
    espyiViewers* out;
    double* widths;    ///< Over leaves; < 0: not reached.
    uint32_t* through; ///< Over leaves: the opening that the widest way enters by.
    uint32_t* origin;  ///< Over leaves: the point that the way starts from.
    espyReach* heap;
    size_t heapCount, heapCapacity;
    uint32_t point;
    bool failed;
} espyViewerFlood;

static bool espyReach_Before(const espyReach* a, const espyReach* b)
{
    return a->width > b->width || (!(a->width < b->width) && a->leaf < b->leaf);
}

static void espyFlood_Push(espyViewerFlood* flood, uint32_t leaf, double width)
{
    if (!espyiGrow(flood->hooks, (void**)&flood->heap, &flood->heapCapacity, flood->heapCount + 1, sizeof(espyReach)))
    {
        flood->failed = true;
        return;
    }
    size_t at = flood->heapCount++;
    espyReach item = {width, leaf};
    while (at > 0 && espyReach_Before(&item, &flood->heap[(at - 1) / 2]))
    {
        flood->heap[at] = flood->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    flood->heap[at] = item;
}

static espyReach espyFlood_Pop(espyViewerFlood* flood)
{
    espyReach top = flood->heap[0], last = flood->heap[--flood->heapCount];
    size_t at = 0;
    for (;;)
    {
        size_t child = 2 * at + 1;
        if (child >= flood->heapCount)
        {
            break;
        }
        child += child + 1 < flood->heapCount && espyReach_Before(&flood->heap[child + 1], &flood->heap[child]);
        if (!espyReach_Before(&flood->heap[child], &last))
        {
            break;
        }
        flood->heap[at] = flood->heap[child];
        at = child;
    }
    flood->heap[at] = last;
    return top;
}

static bool espyFlood_Seed(void* context, uint32_t leaf)
{
    espyViewerFlood* flood = context;
    if (flood->widths[leaf] < 0)
    {
        flood->widths[leaf] = DBL_MAX;
        flood->through[leaf] = ESPYI_NO_REF;
        flood->origin[leaf] = flood->point;
        espyFlood_Push(flood, leaf, DBL_MAX);
    }
    return !flood->failed;
}

static double espyPortal_Area(const espyiFreeSpace* space, const espyiPortalRef* ref)
{
    const double(*p)[3] = (const double(*)[3])space->points + ref->first;
    double sum[3] = {0, 0, 0};
    for (uint32_t i = 1; i + 1 < ref->count; ++i)
    {
        for (int k = 0; k < 3; ++k)
        {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            sum[k] += (p[i][u] - p[0][u]) * (p[i + 1][v] - p[0][v]) - (p[i][v] - p[0][v]) * (p[i + 1][u] - p[0][u]);
        }
    }
    return 0.5 * sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}

static void espyFlood_Run(espyViewerFlood* flood, const espyPolygonTree* tree, double radius, espyiPoll* poll)
{
    const espyiFreeSpace* space = flood->space;
    while (flood->heapCount && !flood->failed)
    {
        espyReach top = espyFlood_Pop(flood);
        if (espyiBits_Get(flood->out->leaves, top.leaf))
        {
            continue;
        }
        espyiBits_Set(flood->out->leaves, top.leaf);
        flood->out->count += 1;
        for (uint32_t i = space->leafFirst[top.leaf]; i < space->leafFirst[top.leaf + 1]; ++i)
        {
            const espyiPortalRef* ref = &space->refs[i];
            // An opening is held against the few polygons around it.
            flood->failed = flood->failed || !espyiPoll_Work(poll, 64);
            double width = fmin(top.width, espyPortal_Area(space, ref));
            if (espyiBits_Get(flood->out->leaves, ref->leaf) || width <= flood->widths[ref->leaf] ||
                espyPolygonTree_Bars(tree, space, ref, radius))
            {
                continue;
            }
            flood->widths[ref->leaf] = width;
            flood->through[ref->leaf] = i;
            flood->origin[ref->leaf] = flood->origin[top.leaf];
            espyFlood_Push(flood, ref->leaf, width);
        }
    }
}

// --- the way out

/// The leaf that a way out of it belongs to.
static uint32_t espyRef_Owner(const espyiFreeSpace* space, uint32_t ref)
{
    uint32_t low = 0, high = space->leafCount;
    while (high - low > 1)
    {
        uint32_t middle = (low + high) / 2;
        bool before = space->leafFirst[middle] <= ref;
        low = before ? middle : low;
        high = before ? high : middle;
    }
    return low;
}

static void espyRef_Middle(const espyiFreeSpace* space, uint32_t index, double middle[3], double size[3])
{
    const espyiPortalRef* ref = &space->refs[index];
    for (int k = 0; k < 3; ++k)
    {
        double low = DBL_MAX, high = -DBL_MAX;
        for (uint32_t i = 0; i < ref->count; ++i)
        {
            low = fmin(low, space->points[ref->first + i][k]);
            high = fmax(high, space->points[ref->first + i][k]);
        }
        middle[k] = 0.5 * (low + high);
        size[k] = high - low;
    }
}

typedef struct espyCornerSearch
{
    const espyViewerFlood* flood;
    uint32_t best; ///< The widest one reached; NO_REF none.
} espyCornerSearch;

static bool espyCorner_Take(void* context, uint32_t leaf)
{
    espyCornerSearch* search = context;
    const espyViewerFlood* flood = search->flood;
    if (espyiBits_Get(flood->out->leaves, leaf) &&
        (search->best == ESPYI_NO_REF || flood->widths[leaf] > flood->widths[search->best]))
    {
        search->best = leaf;
    }
    return true;
}

/// Fills the leak from the widest way to a corner of the world. False: out of memory.
static bool espyFlood_Trace(espyViewerFlood* flood, espyLeafWalk* walk, const espyVec3* points)
{
    const espyiFreeSpace* space = flood->space;
    espyiLeak* leak = &flood->out->leak;
    espyCornerSearch search = {.flood = flood, .best = ESPYI_NO_REF};
    for (uint32_t corner = 0; corner < 8; ++corner)
    {
        espyiBoxD box;
        for (int k = 0; k < 3; ++k)
        {
            bool high = (corner >> k & 1u) != 0;
            box.min[k] = box.max[k] =
                high ? space->world.max[k] - ESPYI_CORNER_INSET : space->world.min[k] + ESPYI_CORNER_INSET;
        }
        if (!espyLeafWalk_Visit(walk, space, &box, espyCorner_Take, &search))
        {
            return false;
        }
    }
    if (search.best == ESPYI_NO_REF)
    {
        return true;
    }
    leak->open = true;
    espyVec3 from = points[flood->origin[search.best]];
    leak->from[0] = (double)from.x;
    leak->from[1] = (double)from.y;
    leak->from[2] = (double)from.z;
    leak->area = flood->widths[search.best];
    for (uint32_t leaf = search.best; flood->through[leaf] != ESPYI_NO_REF;
         leaf = espyRef_Owner(space, flood->through[leaf]))
    {
        leak->wayCount += 1;
    }
    if (leak->wayCount == 0)
    {
        return true;
    }
    leak->way = espyiAlloc(flood->hooks, leak->wayCount, sizeof(double[3]));
    if (!leak->way)
    {
        return false;
    }
    uint32_t at = leak->wayCount;
    double least = DBL_MAX;
    for (uint32_t leaf = search.best; flood->through[leaf] != ESPYI_NO_REF;
         leaf = espyRef_Owner(space, flood->through[leaf]))
    {
        double size[3], area = espyPortal_Area(space, &space->refs[flood->through[leaf]]);
        espyRef_Middle(space, flood->through[leaf], leak->way[--at], size);
        if (area < least)
        {
            least = area;
            for (int k = 0; k < 3; ++k)
            {
                leak->at[k] = leak->way[at][k];
                leak->size[k] = size[k];
            }
        }
    }
    return true;
}

// --- calls

espyResult espyiViewers_Find(const espyiFreeSpace* space, const espyiViewersDef* def, espyiViewers* out)
{
    *out = (espyiViewers){.hooks = *def->hooks};
    espyPolygonTree tree;
    espyLeafWalk walk = {.hooks = def->hooks};
    espyResult result = espyPolygonTree_Build(&tree, space, def->occluders, def->hooks, def->poll);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyViewerFlood flood = {.space = space, .hooks = def->hooks, .out = out};
    out->leaves = espyiAlloc(def->hooks, espyiBits_Words(space->leafCount), sizeof(uint32_t));
    flood.widths = espyiAlloc(def->hooks, space->leafCount, sizeof(double));
    flood.through = espyiAlloc(def->hooks, space->leafCount, sizeof(uint32_t));
    flood.origin = espyiAlloc(def->hooks, space->leafCount, sizeof(uint32_t));
    bool ok = out->leaves && flood.widths && flood.through && flood.origin;
    for (uint32_t leaf = 0; ok && leaf < space->leafCount; ++leaf)
    {
        flood.widths[leaf] = -1;
    }
    for (uint32_t i = 0; ok && i < def->pointCount; ++i)
    {
        const double p[3] = {(double)def->points[i].x, (double)def->points[i].y, (double)def->points[i].z};
        espyiBoxD box;
        bool inside = true;
        for (int k = 0; k < 3; ++k)
        {
            // Written so that a NaN fails it.
            inside = inside && p[k] > space->world.min[k] && p[k] < space->world.max[k];
            box.min[k] = p[k] - ESPYI_POINT_REACH;
            box.max[k] = p[k] + ESPYI_POINT_REACH;
        }
        flood.point = i;
        ok = !inside || (espyLeafWalk_Visit(&walk, space, &box, espyFlood_Seed, &flood) && !flood.failed);
    }
    if (ok)
    {
        espyFlood_Run(&flood, &tree, def->radius, def->poll);
        ok = !flood.failed && espyFlood_Trace(&flood, &walk, def->points);
    }
    espyPolygonTree_Free(&tree, def->hooks);
    espyiFree(def->hooks, walk.stack);
    espyiFree(def->hooks, flood.widths);
    espyiFree(def->hooks, flood.through);
    espyiFree(def->hooks, flood.origin);
    espyiFree(def->hooks, flood.heap);
    if (!ok)
    {
        espyiViewers_Free(out);
        return espyiPoll_Result(def->poll, false);
    }
    return espyResult_Ok;
}

void espyiViewers_Free(espyiViewers* viewers)
{
    if (viewers->leaves)
    {
        espyHooks hooks = viewers->hooks;
        espyiFree(&hooks, viewers->leaves);
        espyiFree(&hooks, viewers->leak.way);
    }
    *viewers = (espyiViewers){0};
}

typedef struct espyCellSearch
{
    const espyiViewers* viewers;
    bool found;
} espyCellSearch;

static bool espyCell_Take(void* context, uint32_t leaf)
{
    espyCellSearch* search = context;
    search->found = espyiBits_Get(search->viewers->leaves, leaf);
    return !search->found;
}

bool espyiViewers_MarkCells(const espyiViewers* viewers, const espyiFreeSpace* space, const espyiCellTree* cells,
                            espyiPoll* poll, uint32_t* without)
{
    espyLeafWalk walk = {.hooks = &viewers->hooks};
    bool ok = true;
    for (uint32_t cell = 0; cell < cells->cellCount && ok; ++cell)
    {
        espyiBoxD box = espyiCellTree_Box(cells, cells->leafOf[cell]);
        espyCellSearch search = {.viewers = viewers};
        for (int k = 0; k < 3; ++k)
        {
            // As where proofs look up the leaves of a camera box.
            box.min[k] += ESPYI_SHAFT_SHRINK;
            box.max[k] -= ESPYI_SHAFT_SHRINK;
        }
        ok = espyiPoll_Work(poll, 64) && espyLeafWalk_Visit(&walk, space, &box, espyCell_Take, &search);
        if (ok && !search.found)
        {
            espyiBits_Set(without, cell);
        }
    }
    espyiFree(&viewers->hooks, walk.stack);
    return ok;
}
