// SPDX-License-Identifier: MIT
// Builds the hierarchy: binary splits by binned surface area cost, then collapse to eight children a node.
//
// The top of the tree is split by one thread until its parts are small; the parts are then built side by side, each in
// its own slice of the arrays. Part sizes and slices depend on the triangles alone, so the tree does too.
//
// Based on: I. Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007 (binning);
//           I. Wald, C. Benthin, S. Boulos, "Getting Rid of Packets", 2008 (wide nodes of the least cost).
#include <math.h>
#include <stdatomic.h>

#include "core/tasks.h"
#include "geometry/bvh_tree.h"

#define ESPY_BIN_COUNT 16
/// A part with at most this many triangles is built by one task.
#define ESPY_PART_MIN 4096u
/// Larger scenes are cut into about this many parts.
#define ESPY_PART_COUNT 64u
/// Cost of testing one leaf relative to one step down a binary level.
#define ESPY_LEAF_COST 3.0f
/// Cost of testing one eight-wide node on the same scale.
#define ESPY_NODE_COST 3.0f
#define ESPY_INFINITE 3.402823466e+38f

typedef struct espyBounds
{
    float min[3], max[3];
} espyBounds;

/// One triangle while building.
typedef struct espyBuildRef
{
    espyBounds box;
    uint32_t triangle;
    uint32_t unused;
} espyBuildRef;

/// Binary node. A leaf has count > 0 and holds refs [first, first + count); else left and right are node indices.
typedef struct espyBuildNode
{
    espyBounds box;
    uint32_t first, count;
    uint32_t left, right;
} espyBuildNode;

/// A range of refs that waits for its split.
typedef struct espyBuildRange
{
    uint32_t begin, end;
    uint32_t node;  ///< Where its node goes.
    uint32_t depth; ///< Of that node; the root has 0.
} espyBuildRange;

typedef struct espyBuild
{
    const espyiSoup* soup;
    espyBuildRef* refs;
    uint32_t refCount;
    espyBuildNode* nodes; ///< 2 * refCount: the node of a range of n refs owns the 2n - 1 nodes from itself on.
    espyBuildRange* parts;
    uint32_t partCount;
    struct espyBuildCost* costs; ///< One a node.
    espyiPoll* poll;             ///< Of the calling thread.
    bool alone;                  ///< There is no other thread.
    atomic_bool stop;            ///< What the others see of its answers.
} espyBuild;

static espyBounds espyBounds_Empty(void)
{
    return (espyBounds){{ESPY_INFINITE, ESPY_INFINITE, ESPY_INFINITE},
                        {-ESPY_INFINITE, -ESPY_INFINITE, -ESPY_INFINITE}};
}

static void espyBounds_Add(espyBounds* a, const espyBounds* b)
{
    for (int axis = 0; axis < 3; ++axis)
    {
        a->min[axis] = b->min[axis] < a->min[axis] ? b->min[axis] : a->min[axis];
        a->max[axis] = b->max[axis] > a->max[axis] ? b->max[axis] : a->max[axis];
    }
}

/// Half the surface area.
static float espyBounds_Area(const espyBounds* b)
{
    float x = b->max[0] - b->min[0], y = b->max[1] - b->min[1], z = b->max[2] - b->min[2];
    return x < 0.0f ? 0.0f : x * y + y * z + z * x;
}

/// Bounds of one triangle; false where it is to be skipped: an index out of range, a coordinate that is not finite or
/// too large, or two equal corners. Thin triangles stay: leaving one out could open a crack between its neighbours.
static bool espyBuild_TriangleBounds(const espyTriangles* triangles, uint32_t triangle, espyBounds* out)
{
    const uint32_t* index = triangles->indices + 3 * (size_t)triangle;
    espyVec3 corner[3];
    *out = espyBounds_Empty();
    for (int i = 0; i < 3; ++i)
    {
        if (index[i] >= triangles->vertexCount)
        {
            return false;
        }
        espyVec3 p = corner[i] = triangles->positions[index[i]];
        float limit = ESPYI_BVH_MAX_COORDINATE;
        if (!(p.x >= -limit && p.x <= limit && p.y >= -limit && p.y <= limit && p.z >= -limit && p.z <= limit))
        {
            return false;
        }
        espyBounds point = {{p.x, p.y, p.z}, {p.x, p.y, p.z}};
        espyBounds_Add(out, &point);
    }
    for (int i = 0; i < 3; ++i)
    {
        espyVec3 a = corner[i], b = corner[(i + 1) % 3];
        if (!(a.x < b.x || a.x > b.x || a.y < b.y || a.y > b.y || a.z < b.z || a.z > b.z))
        {
            return false;
        }
    }
    return true;
}

/// Twice the centroid of the box.
static float espyRef_Center(const espyBuildRef* ref, int axis)
{
    return ref->box.min[axis] + ref->box.max[axis];
}

/// Maps centroids to bins along one axis.
typedef struct espyBinning
{
    float origin, scale;
    bool usable;
} espyBinning;

static espyBinning espyBinning_Create(const espyBounds* centers, int axis)
{
    float extent = centers->max[axis] - centers->min[axis];
    // Slightly below the bin count, so that the largest centroid falls into the last bin.
    float scale = extent > 0.0f ? (float)ESPY_BIN_COUNT * 0.99999f / extent : 0.0f;
    return (espyBinning){centers->min[axis], scale, extent > 0.0f && scale < ESPY_INFINITE};
}

static uint32_t espyBinning_GetBin(espyBinning binning, float center)
{
    uint32_t bin = (uint32_t)((center - binning.origin) * binning.scale);
    return bin < ESPY_BIN_COUNT ? bin : ESPY_BIN_COUNT - 1;
}

typedef struct espyBin
{
    espyBounds box;
    uint32_t count;
} espyBin;

/// The cheapest plane between bins. `bin` is the first bin of the right side; cost is infinite where there is none.
typedef struct espySplit
{
    float cost;
    int axis;
    uint32_t bin;
} espySplit;

/// About how many leaves a range needs. Small ranges count in whole leaves, which are tested eight triangles at a time;
/// in large ones that would only blur the choice.
static float espySplit_GetLeaves(uint32_t count)
{
    return count > 32 ? 0.125f * (float)count : (float)((count + ESPYI_BVH_WIDTH - 1) / ESPYI_BVH_WIDTH);
}

static espySplit espySplit_Find(const espyBuildRef* refs, uint32_t begin, uint32_t end, const espyBinning binning[3])
{
    espyBin bins[3][ESPY_BIN_COUNT];
    for (int axis = 0; axis < 3; ++axis)
    {
        for (int i = 0; i < ESPY_BIN_COUNT; ++i)
        {
            bins[axis][i] = (espyBin){espyBounds_Empty(), 0};
        }
    }
    for (uint32_t i = begin; i < end; ++i)
    {
        for (int axis = 0; axis < 3; ++axis)
        {
            if (binning[axis].usable)
            {
                espyBin* bin = &bins[axis][espyBinning_GetBin(binning[axis], espyRef_Center(&refs[i], axis))];
                espyBounds_Add(&bin->box, &refs[i].box);
                ++bin->count;
            }
        }
    }
    espySplit best = {ESPY_INFINITE, 0, 0};
    for (int axis = 0; axis < 3; ++axis)
    {
        if (!binning[axis].usable)
        {
            continue;
        }
        float leftCost[ESPY_BIN_COUNT];
        uint32_t leftCount[ESPY_BIN_COUNT];
        espyBounds box = espyBounds_Empty();
        uint32_t count = 0;
        for (uint32_t i = 0; i + 1 < ESPY_BIN_COUNT; ++i)
        {
            espyBounds_Add(&box, &bins[axis][i].box);
            count += bins[axis][i].count;
            leftCount[i + 1] = count;
            leftCost[i + 1] = count > 0 ? espyBounds_Area(&box) * espySplit_GetLeaves(count) : 0.0f;
        }
        box = espyBounds_Empty();
        count = 0;
        for (uint32_t i = ESPY_BIN_COUNT - 1; i > 0; --i)
        {
            espyBounds_Add(&box, &bins[axis][i].box);
            count += bins[axis][i].count;
            if (count == 0 || leftCount[i] == 0)
            {
                continue;
            }
            float cost = leftCost[i] + espyBounds_Area(&box) * espySplit_GetLeaves(count);
            if (cost < best.cost)
            {
                best = (espySplit){cost, axis, i};
            }
        }
    }
    return best;
}

static uint32_t espyBuild_Partition(espyBuildRef* refs, uint32_t begin, uint32_t end, espySplit split,
                                    espyBinning binning)
{
    uint32_t left = begin, right = end;
    while (left < right)
    {
        if (espyBinning_GetBin(binning, espyRef_Center(&refs[left], split.axis)) < split.bin)
        {
            ++left;
        }
        else
        {
            --right;
            espyBuildRef swap = refs[left];
            refs[left] = refs[right];
            refs[right] = swap;
        }
    }
    return left;
}

/// Fills the node of a range. Returns the middle of the range where it was split, or its end where it became a leaf.
static uint32_t espyBuild_Split(const espyBuild* build, espyBuildRange range)
{
    espyBuildRef* refs = build->refs;
    espyBounds box = espyBounds_Empty(), centers = espyBounds_Empty();
    for (uint32_t i = range.begin; i < range.end; ++i)
    {
        espyBounds_Add(&box, &refs[i].box);
        espyBounds center;
        for (int axis = 0; axis < 3; ++axis)
        {
            center.min[axis] = center.max[axis] = espyRef_Center(&refs[i], axis);
        }
        espyBounds_Add(&centers, &center);
    }
    uint32_t count = range.end - range.begin;
    espyBuildNode* node = &build->nodes[range.node];
    *node = (espyBuildNode){.box = box, .first = range.begin, .count = count};
    if (count == 1)
    {
        return range.end;
    }
    uint32_t middle = range.begin + count / 2;
    espySplit split = {ESPY_INFINITE, 0, 0};
    espyBinning binning[3];
    if (range.depth < ESPYI_BVH_COST_DEPTH)
    {
        for (int axis = 0; axis < 3; ++axis)
        {
            binning[axis] = espyBinning_Create(&centers, axis);
        }
        split = espySplit_Find(refs, range.begin, range.end, binning);
    }
    if (count <= ESPYI_BVH_WIDTH)
    {
        float area = espyBounds_Area(&box);
        if (!(ESPY_LEAF_COST * split.cost + area < ESPY_LEAF_COST * area))
        {
            return range.end;
        }
    }
    if (split.cost < ESPY_INFINITE)
    {
        middle = espyBuild_Partition(refs, range.begin, range.end, split, binning[split.axis]);
    }
    node->count = 0;
    node->left = range.node + 1;
    node->right = range.node + 2 * (middle - range.begin);
    return middle;
}

/// Builds the ranges reachable from `root` by a depth-first walk; ranges of at most `partSize` go to the part list
/// instead, where there is one. False: stopped.
static bool espyBuild_Grow(espyBuild* build, espyBuildRange root, uint32_t partSize, espyiPoll* poll)
{
    espyBuildRange stack[ESPYI_BVH_MAX_DEPTH + 2];
    uint32_t depth = 0;
    stack[depth++] = root;
    while (depth > 0)
    {
        espyBuildRange range = stack[--depth];
        if (range.end - range.begin <= partSize)
        {
            build->parts[build->partCount++] = range;
            continue;
        }
        if (!espyiPoll_Work(poll, range.end - range.begin))
        {
            return false;
        }
        uint32_t middle = espyBuild_Split(build, range);
        if (middle < range.end)
        {
            const espyBuildNode* node = &build->nodes[range.node];
            stack[depth++] = (espyBuildRange){middle, range.end, node->right, range.depth + 1};
            stack[depth++] = (espyBuildRange){range.begin, middle, node->left, range.depth + 1};
        }
    }
    return true;
}

static bool espyBuild_GoesOn(void* context)
{
    espyBuild* build = context;
    return !atomic_load_explicit(&build->stop, memory_order_relaxed);
}

/// The calling thread while it watches the others.
static bool espyBuild_Watch(void* context)
{
    espyBuild* build = context;
    if (!espyiPoll_Ask(build->poll))
    {
        atomic_store(&build->stop, true);
    }
    return espyBuild_GoesOn(build);
}

static void espyBuild_GrowPart(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espyBuild* build = context;
    espyiPoll others = {espyBuild_GoesOn, build, 0, false};
    if (!espyBuild_Grow(build, build->parts[index], 0, build->alone ? build->poll : &others))
    {
        atomic_store(&build->stop, true);
    }
}

/// What the subtree of a binary node costs as part of the wide tree.
typedef struct espyBuildCost
{
    /// cost[j - 1]: the least where the subtree hangs below its wide parent by at most j children.
    float cost[ESPYI_BVH_WIDTH - 1];
    /// left[j - 1]: how many of j children the left half gets; 0 where j - 1 children (or the node itself) cost less.
    uint8_t left[ESPYI_BVH_WIDTH];
    float surface; ///< Sum over the triangles below of the areas of their bounds.
    float density; ///< surface over the area of the node: how likely a segment that meets the node is blocked there.
} espyBuildCost;

/// Finds, from the leaves up, the wide tree of the least surface area cost that the binary tree can be collapsed to.
/// False: stopped.
static bool espyBuild_FindCosts(const espyBuild* build, espyBuildCost* costs)
{
    for (uint32_t i = 2 * build->refCount - 1; i-- > 0;)
    {
        if (!espyiPoll_Work(build->poll, 1))
        {
            return false;
        }
        const espyBuildNode* node = &build->nodes[i];
        espyBuildCost* cost = &costs[i];
        float area = espyBounds_Area(&node->box);
        if (node->count > 0)
        {
            for (uint32_t k = node->first; k < node->first + node->count; ++k)
            {
                cost->surface += espyBounds_Area(&build->refs[k].box);
            }
            cost->density = area > 0.0f ? cost->surface / area : 0.0f;
            for (uint32_t j = 0; j < ESPYI_BVH_WIDTH - 1; ++j)
            {
                cost->cost[j] = ESPY_LEAF_COST * area;
            }
            continue;
        }
        if (node->left == 0)
        {
            continue; // A place that no node took.
        }
        cost->surface = costs[node->left].surface + costs[node->right].surface;
        cost->density = area > 0.0f ? cost->surface / area : 0.0f;
        const float* left = costs[node->left].cost;
        const float* right = costs[node->right].cost;
        float shared[ESPYI_BVH_WIDTH + 1];
        for (uint32_t j = 2; j <= ESPYI_BVH_WIDTH; ++j)
        {
            shared[j] = ESPY_INFINITE;
            for (uint32_t k = 1; k < j; ++k)
            {
                float sum = left[k - 1] + right[j - k - 1];
                if (sum < shared[j])
                {
                    shared[j] = sum;
                    cost->left[j - 1] = (uint8_t)k;
                }
            }
        }
        cost->cost[0] = ESPY_NODE_COST * area + shared[ESPYI_BVH_WIDTH];
        for (uint32_t j = 2; j < ESPYI_BVH_WIDTH; ++j)
        {
            bool better = shared[j] < cost->cost[j - 2];
            cost->cost[j - 1] = better ? shared[j] : cost->cost[j - 2];
            cost->left[j - 1] = better ? cost->left[j - 1] : 0;
        }
    }
    return true;
}

/// True where child a of a wide node comes after child b.
static bool espyBuild_IsAfter(const espyBuildNode* nodes, const espyBuildCost* costs, uint32_t a, uint32_t b)
{
    bool isLeafA = nodes[a].count > 0, isLeafB = nodes[b].count > 0;
    return isLeafA != isLeafB ? isLeafA : costs[a].density > costs[b].density;
}

/// The children of one wide node: inner ones, then leaves, each the densest last. Walks go on with the last.
static uint32_t espyBuild_GatherChildren(const espyBuildNode* nodes, const espyBuildCost* costs, uint32_t root,
                                         uint32_t out[ESPYI_BVH_WIDTH])
{
    if (nodes[root].count > 0)
    {
        out[0] = root;
        return 1;
    }
    struct
    {
        uint32_t node, children;
    } open[ESPYI_BVH_WIDTH];
    uint32_t openCount = 1, count = 0;
    open[0].node = root;
    open[0].children = ESPYI_BVH_WIDTH;
    while (openCount > 0)
    {
        --openCount;
        uint32_t node = open[openCount].node, children = open[openCount].children;
        while (children > 1 && costs[node].left[children - 1] == 0)
        {
            --children;
        }
        if (children == 1)
        {
            out[count++] = node;
            continue;
        }
        uint32_t left = costs[node].left[children - 1];
        open[openCount].node = nodes[node].right;
        open[openCount++].children = children - left;
        open[openCount].node = nodes[node].left;
        open[openCount++].children = left;
    }
    for (uint32_t i = 1; i < count; ++i)
    {
        uint32_t node = out[i], j = i;
        for (; j > 0 && espyBuild_IsAfter(nodes, costs, out[j - 1], node); --j)
        {
            out[j] = out[j - 1];
        }
        out[j] = node;
    }
    return count;
}

static void espyBuild_WriteLeaf(const espyBuild* build, const espyBuildNode* node, espyiBvhLeaf* leaf)
{
    const espyiSoup* soup = build->soup;
    for (uint32_t lane = 0; lane < ESPYI_BVH_WIDTH; ++lane)
    {
        uint32_t used = lane < node->count ? lane : node->count - 1;
        uint32_t triangle = build->refs[node->first + used].triangle;
        for (uint32_t corner = 0; corner < 3; ++corner)
        {
            espyVec3 p = soup->triangles.positions[soup->triangles.indices[3 * (size_t)triangle + corner]];
            leaf->corners[3 * corner + 0][lane] = p.x;
            leaf->corners[3 * corner + 1][lane] = p.y;
            leaf->corners[3 * corner + 2][lane] = p.z;
        }
        leaf->triangle[lane] = triangle;
        leaf->object[lane] = soup->objects != NULL ? soup->objects[triangle] : 0;
    }
}

/// Walks the binary tree as wide nodes, parents before children and siblings side by side. Without arrays it only
/// counts. False: stopped.
static bool espyBuild_Collapse(const espyBuild* build, espyiBvhArrays* out)
{
    struct
    {
        uint32_t binary, wide;
    } stack[ESPYI_BVH_STACK];
    uint32_t depth = 0;
    uint32_t nodeCount = 1, leafCount = 0;
    stack[depth].binary = 0;
    stack[depth++].wide = 0;
    while (depth > 0)
    {
        if (!espyiPoll_Work(build->poll, ESPYI_BVH_WIDTH))
        {
            return false;
        }
        --depth;
        uint32_t binary = stack[depth].binary, wide = stack[depth].wide;
        uint32_t children[ESPYI_BVH_WIDTH];
        uint32_t count = espyBuild_GatherChildren(build->nodes, build->costs, binary, children);
        espyiBvhNode node = {.childCount = count};
        uint32_t inner[ESPYI_BVH_WIDTH][2], innerCount = 0;
        for (uint32_t i = 0; i < ESPYI_BVH_WIDTH; ++i)
        {
            const espyBuildNode* child = i < count ? &build->nodes[children[i]] : NULL;
            for (int axis = 0; axis < 3; ++axis)
            {
                node.bounds[axis][i] = child != NULL ? child->box.min[axis] : INFINITY;
                node.bounds[3 + axis][i] = child != NULL ? child->box.max[axis] : -INFINITY;
            }
            if (child == NULL)
            {
                continue;
            }
            if (child->count > 0)
            {
                node.leafMask |= 1u << i;
                node.child[i] = ESPYI_BVH_LEAF | (leafCount << 3) | (child->count - 1);
                if (out->leaves != NULL)
                {
                    espyBuild_WriteLeaf(build, child, &out->leaves[leafCount]);
                }
                ++leafCount;
            }
            else
            {
                node.child[i] = nodeCount;
                inner[innerCount][0] = children[i];
                inner[innerCount++][1] = nodeCount++;
            }
        }
        if (out->nodes != NULL)
        {
            out->nodes[wide] = node;
        }
        while (innerCount > 0)
        {
            --innerCount;
            stack[depth].binary = inner[innerCount][0];
            stack[depth++].wide = inner[innerCount][1];
        }
    }
    out->nodeCount = nodeCount;
    out->leafCount = leafCount;
    return true;
}

/// False: stopped.
static bool espyBuild_GatherRefs(espyBuild* build)
{
    const espyTriangles* triangles = &build->soup->triangles;
    uint32_t count = 0;
    for (uint32_t i = 0; i < triangles->triangleCount; ++i)
    {
        espyBounds box;
        if (!espyiPoll_Work(build->poll, 1))
        {
            return false;
        }
        if (espyBuild_TriangleBounds(triangles, i, &box))
        {
            build->refs[count++] = (espyBuildRef){box, i, 0};
        }
    }
    build->refCount = count;
    return true;
}

/// Builds into *out; on failure out's arrays are the caller's to free.
static espyResult espyBuild_Fill(espyBuild* build, uint32_t threads, const espyHooks* hooks, espyiBvhArrays* out)
{
    uint32_t triangleCount = build->soup->triangles.triangleCount;
    build->refs = espyiAlloc(hooks, triangleCount, sizeof(espyBuildRef));
    if (build->refs == NULL)
    {
        return espyResult_OutOfMemory;
    }
    bool gathered = espyBuild_GatherRefs(build);
    if (!gathered || build->refCount == 0)
    {
        return espyiPoll_Result(build->poll, gathered);
    }
    uint32_t partSize = build->refCount / ESPY_PART_COUNT;
    partSize = partSize < ESPY_PART_MIN ? ESPY_PART_MIN : partSize;
    build->nodes = espyiAlloc(hooks, build->refCount, 2 * sizeof(espyBuildNode));
    // Every part is one range of the cut; each holds at least one triangle.
    build->parts = espyiAlloc(hooks, build->refCount, sizeof(espyBuildRange));
    if (build->nodes == NULL || build->parts == NULL)
    {
        return espyResult_OutOfMemory;
    }
    if (!espyBuild_Grow(build, (espyBuildRange){0, build->refCount, 0, 0}, partSize, build->poll))
    {
        return espyResult_Cancelled;
    }
    build->alone = threads == 1 || build->partCount == 1;
    // One thread asks by counted work; a watch by the clock beside it would ask at other places each time.
    espyiTickFn* watch = build->poll && !build->alone ? espyBuild_Watch : NULL;
    espyiTasks_For(threads, build->partCount, espyBuild_GrowPart, build, watch, build);
    if (atomic_load(&build->stop))
    {
        return espyResult_Cancelled;
    }
    build->costs = espyiAlloc(hooks, build->refCount, 2 * sizeof(espyBuildCost));
    if (build->costs == NULL)
    {
        return espyResult_OutOfMemory;
    }
    if (!espyBuild_FindCosts(build, build->costs) || !espyBuild_Collapse(build, out))
    {
        return espyResult_Cancelled;
    }
    out->nodes = espyiAlloc(hooks, out->nodeCount, sizeof(espyiBvhNode));
    out->leaves = espyiAlloc(hooks, out->leafCount, sizeof(espyiBvhLeaf));
    if (out->nodes == NULL || out->leaves == NULL)
    {
        return espyResult_OutOfMemory;
    }
    if (!espyBuild_Collapse(build, out))
    {
        return espyResult_Cancelled;
    }
    const espyBounds* box = &build->nodes[0].box;
    out->bounds = (espyBox){{box->min[0], box->min[1], box->min[2]}, {box->max[0], box->max[1], box->max[2]}};
    return espyResult_Ok;
}

espyResult espyiBvhBuild_Run(const espyiSoup* soup, uint32_t threads, const espyHooks* hooks, espyiPoll* poll,
                             espyiBvhArrays* out)
{
    *out = (espyiBvhArrays){.bounds = espyBox_Empty()};
    if (soup->triangles.triangleCount == 0)
    {
        return espyResult_Ok;
    }
    espyBuild build = {.soup = soup, .poll = poll};
    espyResult result = espyBuild_Fill(&build, threads, hooks, out);
    espyiFree(hooks, build.refs);
    espyiFree(hooks, build.nodes);
    espyiFree(hooks, build.parts);
    espyiFree(hooks, build.costs);
    if (result != espyResult_Ok)
    {
        espyiFree(hooks, out->nodes);
        espyiFree(hooks, out->leaves);
        *out = (espyiBvhArrays){.bounds = espyBox_Empty()};
    }
    return result;
}
