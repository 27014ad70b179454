// SPDX-License-Identifier: MIT
// Test A: if no path inside the shaft of two boxes leads from one to the other, neither sees the other.
#include "bake/proof_internal.h"

#include <float.h>
#include <math.h>

static const espyiLeafScope espyProver_Everywhere = {0};

// Cached leaf lists of cell blocks that a prover keeps, or all of a bake's together: 32 MiB.
#define ESPYI_CACHED_LEAVES ((size_t)8 << 20)

espyResult espyiProver_Create(const espyiFreeSpace* space, const espyiCellTree* cells, const espyiGrid* grid,
                              const espyHooks* hooks, espyiPoll* poll, espyiProver** out)
{
    espyHooks resolved = espyiHooks_Resolve(hooks);
    if (!ESPYI_CHECK(&resolved, !grid || grid->cellCount == cells->cellCount))
    {
        return espyResult_InvalidArgument;
    }
    espyiProver* prover = espyiAlloc(&resolved, 1, sizeof(espyiProver));
    if (!prover)
    {
        return espyResult_OutOfMemory;
    }
    prover->hooks = resolved;
    prover->space = space;
    prover->cells = cells;
    prover->poll = poll;
    prover->cachedMost = ESPYI_CACHED_LEAVES;
    prover->shrink = ESPYI_SHAFT_SHRINK;
    prover->marks = espyiAlloc(&resolved, space->leafCount, sizeof(uint32_t));
    prover->stacks[0] = espyiAlloc(&resolved, space->leafCount, sizeof(uint32_t));
    prover->stacks[1] = espyiAlloc(&resolved, space->leafCount, sizeof(uint32_t));
    prover->through = espyiAlloc(&resolved, space->leafCount, sizeof(uint32_t));
    prover->within[0] = espyiAlloc(&resolved, space->leafCount, sizeof(uint32_t));
    prover->within[1] = espyiAlloc(&resolved, space->leafCount, sizeof(uint32_t));
    prover->cacheOf = espyiAlloc(&resolved, cells->nodeCount, sizeof(espyiCachedLeaves));
    prover->seenStamp = espyiAlloc(&resolved, cells->nodeCount, sizeof(uint32_t));
    // Two nodes are pushed for each one taken, down at most one chain.
    prover->cellStack = espyiAlloc(&resolved, (size_t)cells->nodeCount + 1, sizeof(uint32_t));
    if (!prover->marks || !prover->stacks[0] || !prover->stacks[1] || !prover->through || !prover->within[0] ||
        !prover->within[1] || !prover->cacheOf || !prover->seenStamp || !prover->cellStack)
    {
        espyiProver_Destroy(prover);
        return espyResult_OutOfMemory;
    }
    *out = prover;
    return espyResult_Ok;
}

void espyiProver_ShareCache(espyiProver* prover, uint32_t provers)
{
    prover->cachedMost = ESPYI_CACHED_LEAVES / (provers > 0 ? provers : 1u);
}

void espyiProver_Destroy(espyiProver* prover)
{
    if (prover)
    {
        espyHooks hooks = prover->hooks;
        espyiFree(&hooks, prover->marks);
        espyiFree(&hooks, prover->stacks[0]);
        espyiFree(&hooks, prover->stacks[1]);
        espyiFree(&hooks, prover->through);
        espyiFree(&hooks, prover->within[0]);
        espyiFree(&hooks, prover->within[1]);
        espyiFree(&hooks, prover->nodeStack);
        espyiFree(&hooks, prover->seeds[0].leaves);
        espyiFree(&hooks, prover->seeds[1].leaves);
        espyiFree(&hooks, prover->cached.leaves);
        espyiFree(&hooks, prover->cacheOf);
        espyiFree(&hooks, prover->seenStamp);
        espyiFree(&hooks, prover->cellStack);
        espyiFree(&hooks, prover->parts.nodes);
        espyiFree(&hooks, prover->parts.order);
        espyiFree(&hooks, prover->pairs);
        espyiFree(&hooks, prover);
    }
}

void espyiProver_SetViewers(espyiProver* prover, const uint32_t* leaves)
{
    prover->viewers = leaves;
}

void espyiProver_KeepViewers(const espyiProver* prover, espyiLeafList* list, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < list->count && prover->viewers; ++i)
    {
        list->leaves[kept] = list->leaves[i];
        kept += espyiBits_Get(prover->viewers, list->leaves[i]);
    }
    list->count = prover->viewers ? kept : list->count;
}

espyiBoxD espyiBox_Pad(espyiBoxD box, double thickness)
{
    for (int axis = 0; axis < 3; ++axis)
    {
        if (box.max[axis] - box.min[axis] < thickness)
        {
            double middle = 0.5 * (box.min[axis] + box.max[axis]);
            box.min[axis] = middle - 0.5 * thickness;
            box.max[axis] = middle + 0.5 * thickness;
        }
    }
    return box;
}

bool espyiProver_BoxIsUsable(const espyiProver* prover, const espyiBoxD* box, double thickness)
{
    const espyiBoxD* world = &prover->space->world;
    for (int axis = 0; axis < 3; ++axis)
    {
        // Written so that a NaN fails it.
        if (!(box->max[axis] - box->min[axis] >= thickness && box->min[axis] > world->min[axis] &&
              box->max[axis] < world->max[axis]))
        {
            return false;
        }
    }
    return true;
}

bool espyiProver_FindLeaves(espyiProver* prover, const espyiBoxD* box, double grow, espyiLeafList* list)
{
    const espyiFreeSpace* space = prover->space;
    double center[3], half[3];
    for (int axis = 0; axis < 3; ++axis)
    {
        center[axis] = 0.5 * (box->min[axis] + box->max[axis]);
        half[axis] = 0.5 * (box->max[axis] - box->min[axis]) + grow;
    }
    size_t depth = 0;
    int32_t at = space->nodeCount ? 0 : ~0;
    for (;;)
    {
        while (at >= 0)
        {
            const espyiNode* node = &space->nodes[at];
            double middle = espyiPlane_At(&node->plane, center);
            double reach =
                fabs(node->plane.n[0]) * half[0] + fabs(node->plane.n[1]) * half[1] + fabs(node->plane.n[2]) * half[2];
            bool front = middle + reach > 0, back = middle - reach < 0;
            if (front && back)
            {
                void* stack = prover->nodeStack;
                if (!espyiGrow(&prover->hooks, &stack, &prover->nodeStackCapacity, depth + 1, sizeof(int32_t)))
                {
                    return false;
                }
                prover->nodeStack = stack;
                prover->nodeStack[depth++] = node->child[1];
            }
            at = node->child[front ? 0 : 1];
        }
        void* leaves = list->leaves;
        if (!espyiGrow(&prover->hooks, &leaves, &list->capacity, list->count + 1, sizeof(uint32_t)))
        {
            return false;
        }
        list->leaves = leaves;
        list->leaves[list->count++] = (uint32_t)~at;
        if (depth == 0 || !espyiPoll_Work(prover->poll, 1))
        {
            return !espyiPoll_IsStopped(prover->poll);
        }
        at = prover->nodeStack[--depth];
    }
}

/// Marks the leaves for one side of a flood; true where the other side already holds one.
static bool espyProver_Seed(espyiProver* prover, uint32_t side, const uint32_t* leaves, size_t count, uint32_t* depth)
{
    uint32_t own = 2 * prover->epoch + side, other = 2 * prover->epoch + (1 - side);
    for (size_t i = 0; i < count; ++i)
    {
        if (prover->marks[leaves[i]] == other)
        {
            return true;
        }
        prover->marks[leaves[i]] = own;
        prover->stacks[side][(*depth)++] = leaves[i];
    }
    return false;
}

void espyiProver_NextEpoch(espyiProver* prover)
{
    if (++prover->epoch >= UINT32_MAX / 2)
    {
        for (uint32_t i = 0; i < prover->space->leafCount; ++i)
        {
            prover->marks[i] = 0;
        }
        prover->epoch = 1;
    }
}

static double espyPortalRef_Distance(const espyiPortalRef* ref, const double goal[3])
{
    double square = 0;
    for (int axis = 0; axis < 3; ++axis)
    {
        double d = 0.5 * ((double)ref->min[axis] + (double)ref->max[axis]) - goal[axis];
        square += d * d;
    }
    return square;
}

bool espyiProver_Apart(espyiProver* prover, const espyiShaft* shaft, const espyiLeafScope* scope,
                       const uint32_t* target, size_t targetCount, const uint32_t* camera, size_t cameraCount)
{
    const espyiFreeSpace* space = prover->space;
    uint32_t depth[2] = {0, 0};
    uint64_t tests[2] = {0, 0};
    const double* goals[2] = {shaft->centers[0], shaft->centers[1]};
    prover->floods += 1;
    espyiProver_NextEpoch(prover);
    bool met = espyProver_Seed(prover, 0, target, targetCount, &depth[0]) ||
               espyProver_Seed(prover, 1, camera, cameraCount, &depth[1]);
    // Both ends grow, the one with less work so far first: the flood ends with the smaller of two closed regions.
    while (!met && depth[0] && depth[1])
    {
        uint32_t side = tests[0] <= tests[1] ? 0 : 1;
        uint32_t own = 2 * prover->epoch + side, other = 2 * prover->epoch + (1 - side);
        uint32_t leaf = prover->stacks[side][--depth[side]];
        uint32_t end = space->leafFirst[leaf + 1], first = depth[side], nearest = 0;
        if (!espyiProver_GoesOn(prover, end - space->leafFirst[leaf] + 1u))
        {
            return false;
        }
        double least = DBL_MAX;
        for (uint32_t i = space->leafFirst[leaf]; i < end && !met; ++i)
        {
            const espyiPortalRef* ref = &space->refs[i];
            if (prover->marks[ref->leaf] == own || !espyiLeafScope_Has(scope, ref->leaf))
            {
                continue;
            }
            tests[side] += 1;
            if (espyiShaft_Meets(shaft, ref, (const double(*)[3])space->points))
            {
                met = prover->marks[ref->leaf] == other;
                prover->marks[ref->leaf] = own;
                double distance = espyPortalRef_Distance(ref, goals[side]);
                nearest = distance < least ? depth[side] : nearest;
                least = distance < least ? distance : least;
                prover->stacks[side][depth[side]++] = ref->leaf;
            }
        }
        if (depth[side] > first)
        {
            // The way that leads nearest to the other end goes first: boxes that do see each other meet soon.
            uint32_t* stack = prover->stacks[side];
            uint32_t swap = stack[nearest];
            stack[nearest] = stack[depth[side] - 1];
            stack[depth[side] - 1] = swap;
        }
    }
    prover->work += tests[0] + tests[1];
    return !met;
}

bool espyiProver_IsHidden(espyiProver* prover, espyiBoxD camera, espyiBoxD target)
{
    espyiBoxD padded = espyiBox_Pad(target, ESPYI_MIN_THICKNESS);
    if (prover->failed || !espyiProver_BoxIsUsable(prover, &camera, ESPYI_MIN_CAMERA) ||
        !espyiProver_BoxIsUsable(prover, &target, 0) || !espyiProver_BoxIsUsable(prover, &padded, 0))
    {
        return false;
    }
    prover->seeds[0].count = prover->seeds[1].count = 0;
    if (!espyiProver_FindLeaves(prover, &padded, prover->space->stats.margin, &prover->seeds[0]) ||
        !espyiProver_FindLeaves(prover, &camera, -prover->shrink, &prover->seeds[1]))
    {
        prover->failed = true;
        return false;
    }
    espyiProver_KeepViewers(prover, &prover->seeds[1], 0);
    espyiShaft shaft;
    espyiShaft_Set(&shaft, &camera, &padded, prover->shrink);
    return espyiProver_Apart(prover, &shaft, &espyProver_Everywhere, prover->seeds[0].leaves, prover->seeds[0].count,
                             prover->seeds[1].leaves, prover->seeds[1].count);
}

/// Leaves of a cell block, from the cache while that has room. Null: out of memory.
static const uint32_t* espyProver_CellLeaves(espyiProver* prover, uint32_t node, const espyiBoxD* box, size_t* count)
{
    espyiCachedLeaves* entry = &prover->cacheOf[node];
    if (entry->offset1)
    {
        *count = entry->count;
        return prover->cached.leaves + entry->offset1 - 1;
    }
    bool keep = prover->cached.count < prover->cachedMost;
    espyiLeafList* list = keep ? &prover->cached : &prover->seeds[1];
    size_t first = keep ? list->count : 0;
    list->count = first;
    if (!espyiProver_FindLeaves(prover, box, -prover->shrink, list))
    {
        prover->failed = true;
        return NULL;
    }
    espyiProver_KeepViewers(prover, list, first);
    *count = list->count - first;
    if (keep)
    {
        *entry = (espyiCachedLeaves){(uint32_t)first + 1, (uint32_t)*count};
    }
    return list->leaves + first;
}

/// Stamps every block with a known visible cell, and those with nothing else.
static void espyProver_StampSeen(espyiProver* prover, const uint32_t* visible)
{
    const espyiCellTree* cells = prover->cells;
    prover->stamp += 2;
    uint32_t some = prover->stamp, all = prover->stamp + 1;
    for (uint32_t word = 0; word < espyiBits_Words(cells->cellCount); ++word)
    {
        for (uint32_t bits = visible[word]; bits; bits &= bits - 1)
        {
            uint32_t rank = 32 * word + espyiPopCount32((bits & (~bits + 1)) - 1);
            if (rank >= cells->cellCount)
            {
                break;
            }
            uint32_t node = cells->leafOf[rank];
            prover->seenStamp[node] = all;
            bool whole = true;
            for (node = cells->nodes[node].parent; node != UINT32_MAX; node = cells->nodes[node].parent)
            {
                uint32_t left = node + 1, right = node + 2 * cells->nodes[node + 1].count;
                whole = whole && prover->seenStamp[left] == all && prover->seenStamp[right] == all;
                if (!whole && prover->seenStamp[node] == some)
                {
                    break;
                }
                prover->seenStamp[node] = whole ? all : some;
            }
        }
    }
}

void espyiProver_DriveCells(espyiProver* prover, espyiBoxD bounds, const uint32_t* visible, uint64_t maxWork,
                            uint32_t* hidden, uint64_t* work)
{
    const espyiCellTree* cells = prover->cells;
    espyiBoxD target = espyiBox_Pad(bounds, ESPYI_MIN_THICKNESS);
    uint64_t start = prover->work;
    prover->seeds[0].count = 0;
    if (prover->failed || !espyiProver_BoxIsUsable(prover, &bounds, 0) || !espyiProver_BoxIsUsable(prover, &target, 0))
    {
        return;
    }
    if (!espyiProver_FindLeaves(prover, &target, prover->space->stats.margin, &prover->seeds[0]))
    {
        prover->failed = true;
        return;
    }
    if (visible)
    {
        espyProver_StampSeen(prover, visible);
    }
    size_t depth = 0;
    prover->cellStack[depth++] = 0;
    while (depth && !prover->failed && (maxWork == 0 || prover->work - start < maxWork))
    {
        uint32_t index = prover->cellStack[--depth];
        const espyiCellNode* node = &cells->nodes[index];
        uint32_t seen = visible ? prover->seenStamp[index] : 0;
        if (visible && seen == prover->stamp + 1)
        {
            continue;
        }
        if (!visible || seen != prover->stamp)
        {
            espyiBoxD box = espyiCellTree_Box(cells, index);
            size_t count = 0;
            const uint32_t* leaves = NULL;
            if (espyiProver_BoxIsUsable(prover, &box, ESPYI_MIN_CAMERA))
            {
                leaves = espyProver_CellLeaves(prover, index, &box, &count);
            }
            if (leaves)
            {
                espyiShaft shaft;
                espyiShaft_Set(&shaft, &box, &target, prover->shrink);
                if (espyiProver_Apart(prover, &shaft, &espyProver_Everywhere, prover->seeds[0].leaves,
                                      prover->seeds[0].count, leaves, count))
                {
                    for (uint32_t i = 0; i < node->count; ++i)
                    {
                        espyiBits_Set(hidden, cells->order[node->first + i]);
                    }
                    continue;
                }
            }
        }
        if (node->count > 1)
        {
            uint32_t left = cells->nodes[index + 1].count;
            prover->cellStack[depth++] = index + 2 * left;
            prover->cellStack[depth++] = index + 1;
        }
    }
    if (work)
    {
        *work += prover->work - start;
    }
}
