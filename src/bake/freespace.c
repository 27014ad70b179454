// SPDX-License-Identifier: MIT
// Auto-partition BSP over occluder polygons: every leaf is a convex piece of space that no polygon cuts.
// Based on: Fuchs, Kedem, Naylor, "On Visible Surface Generation by A Priori Tree Structures", 1980 (the tree);
// Teller, "Visibility Computations in Densely Occluded Polyhedral Environments", 1992 (cells and portals from it).
// The tree is built level by level, so that a stop by size coarsens all of space alike, and with lists, never by
// recursion.
#include "bake/freespace_internal.h"

#include <float.h>
#include <math.h>

#include "core/tasks.h"

#define ESPYI_DEFAULT_POLYGONS 32768u
#define ESPYI_DEFAULT_NODES 262144u
// Portals a node, on average, above which the scene is built again with half the polygons.
#define ESPYI_PORTALS_PER_NODE 12u
#define ESPYI_CANDIDATES 14u
#define ESPYI_COST_SAMPLES 192u
#define ESPYI_MAX_PIECE_POINTS 30u
#define ESPYI_BASE_MARGIN 1e-4
// A point is moved along its polygon onto a node plane only where that is at most this many times as far as straight.
#define ESPYI_MOVE_FACTOR 2.0

enum
{
    espySide_Front = 1,
    espySide_Back = 2,
};

typedef struct espyBuildTask
{
    size_t first, count; ///< In the list of the level.
    int32_t parent;
    uint32_t side;
} espyBuildTask;

typedef struct espyBuilder
{
    const espyHooks* hooks;
    const espyiFreeSpaceDef* def;
    espyiPolygonSet* set;
    uint32_t* items; ///< Pieces of this level, task by task.
    uint32_t* nextItems;
    espyBuildTask* tasks;
    espyBuildTask* nextTasks;
    espyiNode* nodes;
    uint32_t* covers;
    size_t itemCapacity, nextItemCapacity, nextItemCount;
    size_t taskCapacity, nextTaskCapacity, nextTaskCount;
    size_t nodeCapacity, nodeCount, maxNodes;
    size_t coverCapacity, coverCount;
    size_t maxPieces;
    uint32_t dropped;
    double snap;
} espyBuilder;

static bool espyBuilder_Reserve(const espyBuilder* builder, void* array, size_t* capacity, size_t needed, size_t size)
{
    void** slot = (void**)array;
    return espyiGrow(builder->hooks, slot, capacity, needed, size);
}

/// Sides of the plane that the piece reaches by more than its snap; 0: it lies in the plane.
static uint32_t espyBuilder_Classify(const espyBuilder* builder, const espyiPolygonD* piece, const espyiPlaneD* plane)
{
    double middle = espyiPlane_At(plane, piece->center);
    double reach =
        fabs(plane->n[0]) * piece->half[0] + fabs(plane->n[1]) * piece->half[1] + fabs(plane->n[2]) * piece->half[2];
    if (middle - reach > piece->snap)
    {
        return espySide_Front;
    }
    if (middle + reach < -piece->snap)
    {
        return espySide_Back;
    }
    uint32_t sides = 0;
    for (uint32_t i = 0; i < piece->count; ++i)
    {
        double d = espyiPlane_At(plane, builder->set->points[piece->first + i]);
        sides |= d > piece->snap ? espySide_Front : (d < -piece->snap ? espySide_Back : 0u);
    }
    return sides;
}

static size_t espyBuildTask_Candidates(const espyBuildTask* task)
{
    return task->count < ESPYI_CANDIDATES ? task->count : ESPYI_CANDIDATES;
}

static size_t espyBuildTask_Samples(const espyBuildTask* task)
{
    return task->count < ESPYI_COST_SAMPLES ? task->count : ESPYI_COST_SAMPLES;
}

/// The plane that splits least, balances best and takes most polygons with it; by a fixed sample of both.
static uint32_t espyBuilder_ChoosePlane(const espyBuilder* builder, const espyBuildTask* task)
{
    const uint32_t* items = builder->items + task->first;
    size_t candidates = espyBuildTask_Candidates(task), samples = espyBuildTask_Samples(task);
    uint32_t best = builder->set->polygons[items[0]].plane;
    double bestCost = DBL_MAX;
    for (size_t c = 0; c < candidates; ++c)
    {
        // Lists are ordered by the size of the polygon they came from: the first are the biggest.
        size_t at =
            c < 4 || task->count <= ESPYI_CANDIDATES ? c : 4 + (c - 4) * (task->count - 4) / (ESPYI_CANDIDATES - 4);
        uint32_t planeIndex = builder->set->polygons[items[at]].plane;
        const espyiPlaneD* plane = &builder->set->planes[planeIndex];
        uint32_t front = 0, back = 0, splits = 0, on = 0;
        for (size_t s = 0; s < samples; ++s)
        {
            const espyiPolygonD* piece = &builder->set->polygons[items[s * task->count / samples]];
            uint32_t sides = piece->plane == planeIndex ? 0 : espyBuilder_Classify(builder, piece, plane);
            front += sides == espySide_Front;
            back += sides == espySide_Back;
            splits += sides == (espySide_Front | espySide_Back);
            on += sides == 0;
        }
        double cost = 6.0 * splits + 0.5 * fabs((double)front - (double)back) - 4.0 * on;
        // Boxes hold axial leaves without slack.
        cost += plane->axial ? 0.0 : 2.0 + 0.05 * (double)samples;
        if (cost < bestCost)
        {
            bestCost = cost;
            best = planeIndex;
        }
    }
    return best;
}

/// Puts points within the snap of the plane onto it, along the polygon's own plane, so that a wall that ends a rounding
/// short of a floor ends at it.
static void espyBuilder_MovePoints(espyBuilder* builder, espyiPolygonD* piece, const espyiPlaneD* plane)
{
    const double* own = builder->set->planes[piece->plane].n;
    double cosine = own[0] * plane->n[0] + own[1] * plane->n[1] + own[2] * plane->n[2];
    double along[3], sine2 = 0;
    for (int axis = 0; axis < 3; ++axis)
    {
        along[axis] = plane->n[axis] - cosine * own[axis];
        sine2 += along[axis] * along[axis];
    }
    if (sine2 * ESPYI_MOVE_FACTOR * ESPYI_MOVE_FACTOR < 1.0)
    {
        return;
    }
    double limit = ESPYI_MOVE_FACTOR * piece->snap, most = 0;
    for (uint32_t i = 0; i < piece->count; ++i)
    {
        double* p = builder->set->points[piece->first + i];
        double d = espyiPlane_At(plane, p);
        double length = fabs(d) / sqrt(sine2);
        if (d == 0 || fabs(d) > piece->snap || piece->moved + length > limit)
        {
            continue;
        }
        for (int axis = 0; axis < 3; ++axis)
        {
            p[axis] -= along[axis] * d / sine2;
        }
        most = length > most ? length : most;
    }
    if (most > 0)
    {
        piece->moved += most;
        espyiPolygon_Bound(piece, (const double(*)[3])builder->set->points);
    }
}

/// Cuts the piece by the plane into the two that replace it. False: out of memory.
static bool espyBuilder_Split(espyBuilder* builder, uint32_t item, const espyiPlaneD* plane, uint32_t out[2])
{
    espyiPolygonSet* set = builder->set;
    espyiPolygonD piece = set->polygons[item];
    if (!espyBuilder_Reserve(builder, &set->points, &set->pointCapacity, set->pointCount + 2 * (piece.count + 2),
                             sizeof(double[3])) ||
        !espyBuilder_Reserve(builder, &set->polygons, &set->polygonCapacity, set->polygonCount + 2,
                             sizeof(espyiPolygonD)))
    {
        return false;
    }
    for (uint32_t side = 0; side < 2; ++side)
    {
        double sign = side == 0 ? 1.0 : -1.0;
        espyiPolygonD part = piece;
        part.first = (uint32_t)set->pointCount;
        part.count = 0;
        for (uint32_t i = 0; i < piece.count; ++i)
        {
            const double* a = set->points[piece.first + i];
            const double* b = set->points[piece.first + (i + 1) % piece.count];
            double da = sign * espyiPlane_At(plane, a);
            double db = sign * espyiPlane_At(plane, b);
            double* to = set->points[part.first + part.count];
            if (da >= -piece.snap)
            {
                to[0] = a[0];
                to[1] = a[1];
                to[2] = a[2];
                part.count += 1;
                to = set->points[part.first + part.count];
            }
            if ((da > piece.snap && db < -piece.snap) || (da < -piece.snap && db > piece.snap))
            {
                // Always from the front end, so that both parts, and a neighbour on the same edge, get the same point.
                bool fromA = sign * da > 0;
                const double* front = fromA ? a : b;
                const double* back = fromA ? b : a;
                double df = fabs(fromA ? da : db), t = df / (fabs(da) + fabs(db));
                for (int axis = 0; axis < 3; ++axis)
                {
                    to[axis] = front[axis] + t * (back[axis] - front[axis]);
                }
                part.count += 1;
            }
        }
        out[side] = UINT32_MAX;
        if (part.count >= 3 && part.count <= ESPYI_MAX_PIECE_POINTS)
        {
            espyiPolygon_Bound(&part, (const double(*)[3])set->points);
            set->pointCount += part.count;
            out[side] = (uint32_t)set->polygonCount;
            set->polygons[set->polygonCount++] = part;
        }
    }
    return true;
}

static bool espyBuilder_PushItem(espyBuilder* builder, uint32_t item)
{
    if (!espyBuilder_Reserve(builder, &builder->nextItems, &builder->nextItemCapacity, builder->nextItemCount + 1,
                             sizeof(uint32_t)))
    {
        return false;
    }
    builder->nextItems[builder->nextItemCount++] = item;
    return true;
}

static bool espyBuilder_PushTask(espyBuilder* builder, espyBuildTask task)
{
    if (task.count == 0)
    {
        return true;
    }
    if (!espyBuilder_Reserve(builder, &builder->nextTasks, &builder->nextTaskCapacity, builder->nextTaskCount + 1,
                             sizeof(espyBuildTask)))
    {
        return false;
    }
    builder->nextTasks[builder->nextTaskCount++] = task;
    return true;
}

static bool espyBuilder_SplitTask(espyBuilder* builder, espyBuildTask* task)
{
    uint32_t planeIndex = espyBuilder_ChoosePlane(builder, task);
    int32_t nodeIndex = (int32_t)builder->nodeCount;
    if (!espyBuilder_Reserve(builder, &builder->nodes, &builder->nodeCapacity, builder->nodeCount + 1,
                             sizeof(espyiNode)))
    {
        return false;
    }
    builder->nodes[builder->nodeCount++] = (espyiNode){.plane = builder->set->planes[planeIndex],
                                                       .child = {INT32_MIN, INT32_MIN},
                                                       .parent = task->parent,
                                                       .side = task->side,
                                                       .coverFirst = (uint32_t)builder->coverCount};
    const espyiPlaneD plane = builder->set->planes[planeIndex];
    if (task->parent >= 0)
    {
        builder->nodes[task->parent].child[task->side] = nodeIndex;
    }
    uint32_t* items = builder->items + task->first;
    // In front: straight to the next level. Behind: kept in place until the front ones are through.
    size_t frontFirst = builder->nextItemCount, backCount = 0;
    for (size_t i = 0; i < task->count; ++i)
    {
        if (!espyiPoll_Work(builder->def->poll, 4))
        {
            return false;
        }
        uint32_t item = items[i];
        espyiPolygonD* piece = &builder->set->polygons[item];
        uint32_t sides = piece->plane == planeIndex ? 0 : espyBuilder_Classify(builder, piece, &plane);
        if (sides == 0)
        {
            double most = 0;
            for (uint32_t k = 0; k < piece->count; ++k)
            {
                most = fmax(most, fabs(espyiPlane_At(&plane, builder->set->points[piece->first + k])));
            }
            builder->snap = fmax(builder->snap, piece->moved + most);
            if (!espyBuilder_Reserve(builder, &builder->covers, &builder->coverCapacity, builder->coverCount + 1,
                                     sizeof(uint32_t)))
            {
                return false;
            }
            builder->covers[builder->coverCount++] = item;
            builder->nodes[nodeIndex].coverCount += 1;
            continue;
        }
        espyBuilder_MovePoints(builder, piece, &plane);
        uint32_t part[2] = {UINT32_MAX, UINT32_MAX};
        if (sides == espySide_Front || sides == espySide_Back)
        {
            part[sides == espySide_Front ? 0 : 1] = item;
        }
        else if (builder->set->polygonCount + 2 > builder->maxPieces)
        {
            builder->dropped += 1;
        }
        else if (!espyBuilder_Split(builder, item, &plane, part))
        {
            return false;
        }
        if (part[0] != UINT32_MAX && !espyBuilder_PushItem(builder, part[0]))
        {
            return false;
        }
        if (part[1] != UINT32_MAX)
        {
            items[backCount++] = part[1];
        }
    }
    size_t backFirst = builder->nextItemCount;
    for (size_t i = 0; i < backCount; ++i)
    {
        if (!espyBuilder_PushItem(builder, items[i]))
        {
            return false;
        }
    }
    return espyBuilder_PushTask(builder, (espyBuildTask){frontFirst, backFirst - frontFirst, nodeIndex, 0}) &&
           espyBuilder_PushTask(builder, (espyBuildTask){backFirst, backCount, nodeIndex, 1});
}

/// Starts with what is left of each polygon inside the world.
static bool espyBuilder_ClipToWorld(espyBuilder* builder, espyiBoxD world)
{
    size_t originals = builder->set->polygonCount;
    for (size_t i = 0; i < originals; ++i)
    {
        if (!espyiPoll_Work(builder->def->poll, 6))
        {
            return false;
        }
        uint32_t item = (uint32_t)i;
        for (uint32_t face = 0; face < 6 && item != UINT32_MAX; ++face)
        {
            uint32_t axis = face / 2;
            espyiPlaneD plane = {.drop = axis, .axial = axis + 1};
            // In front is inside.
            plane.n[axis] = face % 2 ? -1.0 : 1.0;
            plane.w = face % 2 ? -world.max[axis] : world.min[axis];
            uint32_t sides = espyBuilder_Classify(builder, &builder->set->polygons[item], &plane);
            uint32_t part[2] = {item, UINT32_MAX};
            if (sides == espySide_Back || sides == 0)
            {
                // One that lies in a face of the world blocks nothing.
                item = UINT32_MAX;
                continue;
            }
            if (sides == (espySide_Front | espySide_Back) && !espyBuilder_Split(builder, item, &plane, part))
            {
                return false;
            }
            item = part[0];
        }
        if (item != UINT32_MAX && !espyBuilder_PushItem(builder, item))
        {
            return false;
        }
    }
    return true;
}

static void espyBuilder_NextLevel(espyBuilder* builder)
{
    uint32_t* items = builder->items;
    size_t capacity = builder->itemCapacity;
    builder->items = builder->nextItems;
    builder->itemCapacity = builder->nextItemCapacity;
    builder->nextItems = items;
    builder->nextItemCapacity = capacity;
    builder->nextItemCount = 0;
    espyBuildTask* tasks = builder->tasks;
    capacity = builder->taskCapacity;
    builder->tasks = builder->nextTasks;
    builder->taskCapacity = builder->nextTaskCapacity;
    builder->nextTasks = tasks;
    builder->nextTaskCapacity = capacity;
    builder->nextTaskCount = 0;
}

static bool espyBuilder_Run(espyBuilder* builder, espyiBoxD world)
{
    if (!espyBuilder_ClipToWorld(builder, world) ||
        !espyBuilder_PushTask(builder, (espyBuildTask){0, builder->nextItemCount, -1, 0}))
    {
        return false;
    }
    while (builder->nextTaskCount)
    {
        size_t count = builder->nextTaskCount;
        espyBuilder_NextLevel(builder);
        for (size_t i = 0; i < count; ++i)
        {
            if (builder->nodeCount >= builder->maxNodes)
            {
                builder->dropped += (uint32_t)builder->tasks[i].count;
            }
            else if (!espyiPoll_Work(builder->def->poll, espyBuildTask_Candidates(&builder->tasks[i]) *
                                                             espyBuildTask_Samples(&builder->tasks[i])) ||
                     !espyBuilder_SplitTask(builder, &builder->tasks[i]))
            {
                return false;
            }
        }
    }
    return true;
}

/// Numbers the leaves front to back in tree order, so that every walk down the tree lists them in ascending order.
static bool espyFreeSpace_NumberLeaves(espyiFreeSpace* space, espyiPoll* poll)
{
    size_t capacity = 0, depth = 0;
    void* stack = NULL;
    space->leafCount = space->nodeCount + 1;
    space->leafParents = espyiAlloc(&space->hooks, space->leafCount, sizeof(int32_t));
    if (!space->leafParents)
    {
        return false;
    }
    if (space->nodeCount == 0)
    {
        space->leafParents[0] = -1;
        return true;
    }
    uint32_t leaf = 0;
    bool ok = espyiGrow(&space->hooks, &stack, &capacity, 1, sizeof(int32_t));
    if (ok)
    {
        ((int32_t*)stack)[depth++] = 0;
    }
    while (ok && depth)
    {
        ok = espyiPoll_Work(poll, 1);
        int32_t top = ((int32_t*)stack)[--depth];
        // Even entries enter a node; odd ones come back to it for the side behind.
        espyiNode* node = &space->nodes[top / 2];
        uint32_t side = (uint32_t)top % 2;
        ok = ok && espyiGrow(&space->hooks, &stack, &capacity, depth + 2, sizeof(int32_t));
        if (ok && side == 0)
        {
            ((int32_t*)stack)[depth++] = top + 1;
        }
        if (ok && node->child[side] == INT32_MIN)
        {
            node->child[side] = ~(int32_t)leaf;
            space->leafParents[leaf++] = top / 2;
        }
        else if (ok)
        {
            ((int32_t*)stack)[depth++] = 2 * node->child[side];
        }
    }
    espyiFree(&space->hooks, stack);
    return ok;
}

static void espyBuilder_Free(espyBuilder* builder)
{
    espyiFree(builder->hooks, builder->items);
    espyiFree(builder->hooks, builder->nextItems);
    espyiFree(builder->hooks, builder->tasks);
    espyiFree(builder->hooks, builder->nextTasks);
    espyiFree(builder->hooks, builder->nodes);
    espyiFree(builder->hooks, builder->covers);
}

static espyResult espyFreeSpace_Try(espyiFreeSpace* space, const espyiSoup* occluders, const espyiFreeSpaceDef* def)
{
    espyiPolygonSet set;
    uint32_t dropped;
    espyResult result = espyiPolygons_Gather(occluders, space->world, def, &set, &dropped);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyBuilder builder = {.hooks = &space->hooks, .def = def, .set = &set, .maxNodes = def->maxNodes};
    builder.maxPieces = set.polygonCount + 4 * (size_t)def->maxNodes;
    space->stats.polygons = (uint32_t)set.polygonCount;
    result = espyiPoll_Result(def->poll, espyBuilder_Run(&builder, space->world));
    if (result == espyResult_Ok)
    {
        space->nodes = builder.nodes;
        space->nodeCount = (uint32_t)builder.nodeCount;
        builder.nodes = NULL;
        space->stats.droppedPolygons = dropped + builder.dropped;
        space->stats.snap = builder.snap;
        result = espyiPoll_Result(def->poll, espyFreeSpace_NumberLeaves(space, def->poll));
    }
    if (result == espyResult_Ok)
    {
        size_t maxPortals = ESPYI_PORTALS_PER_NODE * (size_t)def->maxNodes;
        result = espyiPortals_Build(space, &set, builder.covers, def, maxPortals);
    }
    espyBuilder_Free(&builder);
    espyiPolygons_Free(&set, &space->hooks);
    return result;
}

static void espyFreeSpace_Clear(espyiFreeSpace* space)
{
    espyiFree(&space->hooks, space->nodes);
    espyiFree(&space->hooks, space->leafBoxes);
    espyiFree(&space->hooks, space->leafParents);
    espyiFree(&space->hooks, space->leafFirst);
    espyiFree(&space->hooks, space->refs);
    espyiFree(&space->hooks, space->points);
    space->nodes = NULL;
    space->leafBoxes = NULL;
    space->leafParents = NULL;
    space->leafFirst = NULL;
    space->refs = NULL;
    space->points = NULL;
    space->nodeCount = space->leafCount = 0;
    space->pointCount = space->refCount = 0;
}

espyResult espyiFreeSpace_Build(const espyiSoup* occluders, espyiBoxD world, const espyiFreeSpaceDef* def,
                                espyiFreeSpace** out)
{
    double start = espyiClock_Seconds();
    espyHooks hooks = espyiHooks_Resolve(def->hooks);
    double largest = 0;
    bool valid = true;
    for (int axis = 0; axis < 3; ++axis)
    {
        valid =
            valid && fabs(world.min[axis]) <= 1e7 && fabs(world.max[axis]) <= 1e7 && world.min[axis] < world.max[axis];
        largest = fmax(largest, fmax(fabs(world.min[axis]), fabs(world.max[axis])));
    }
    if (!ESPYI_CHECK(&hooks, valid && def->smallestHole >= 0 && def->smallestHole <= 1.0))
    {
        return espyResult_InvalidArgument;
    }
    espyiFreeSpace* space = espyiAlloc(&hooks, 1, sizeof(espyiFreeSpace));
    if (!space)
    {
        return espyResult_OutOfMemory;
    }
    space->hooks = hooks;
    space->world = world;
    // A few dozen roundings of values up to three coordinates large.
    space->rounding = 64 * DBL_EPSILON * largest;
    espyiFreeSpaceDef used = *def;
    used.hooks = &space->hooks;
    used.maxPolygons = def->maxPolygons ? def->maxPolygons : ESPYI_DEFAULT_POLYGONS;
    used.maxNodes = def->maxNodes ? def->maxNodes : ESPYI_DEFAULT_NODES;
    espyResult result = espyFreeSpace_Try(space, occluders, &used);
    while (result == espyResult_LimitExceeded && used.maxPolygons)
    {
        // Too many openings to keep. They cannot be left out, polygons can.
        espyFreeSpace_Clear(space);
        used.maxPolygons = space->stats.polygons / 2;
        result = espyFreeSpace_Try(space, occluders, &used);
    }
    if (result != espyResult_Ok)
    {
        espyiFreeSpace_Destroy(space);
        return result;
    }
    space->stats.nodes = space->nodeCount;
    space->stats.leaves = space->leafCount;
    space->stats.margin = 2 * space->stats.snap + ESPYI_BASE_MARGIN;
    space->stats.seconds = espyiClock_Seconds() - start;
    *out = space;
    return espyResult_Ok;
}

void espyiFreeSpace_Destroy(espyiFreeSpace* space)
{
    if (space)
    {
        espyHooks hooks = space->hooks;
        espyFreeSpace_Clear(space);
        espyiFree(&hooks, space);
    }
}

uint32_t espyiFreeSpace_FindLeaf(const espyiFreeSpace* space, const double p[3])
{
    int32_t at = space->nodeCount ? 0 : ~0;
    while (at >= 0)
    {
        at = space->nodes[at].child[espyiPlane_At(&space->nodes[at].plane, p) > 0 ? 0 : 1];
    }
    return (uint32_t)~at;
}

void espyiFreeSpace_GetStats(const espyiFreeSpace* space, espyiFreeSpaceStats* out)
{
    *out = space->stats;
}
