// SPDX-License-Identifier: MIT
// Any-hit and closest-hit walks of the hierarchy: one text, compiled once per instruction set.
#include "kernels/bvh_lanes.inl"

// --- one segment -----------------------------------------------------------------------------------------------------

/// A triangle by its place.
typedef struct espyBlocker
{
    const espyiBvhLeaf* leaf;
    uint32_t lane;
} espyBlocker;

/// Any-hit walk of one segment below one node. *blocker is set where the answer is true.
static bool espyRay_IsBlocked(const espyiBvhTree* tree, uint32_t root, const espyBlock* block, uint32_t rayLane,
                              espyiSkip skip, espyBlocker* blocker)
{
    const espyView view = espyView_One(block, rayLane);
    uint32_t stack[ESPYI_BVH_STACK + ESPYI_BVH_PUSH_SLACK];
    uint32_t depth = 0, current = root;
    const espySlabs slabs = espyView_GetSlabs(view);
    const espyiBvhNode* const nodes = tree->nodes;
    const espyiBvhLeaf* const allLeaves = tree->leaves;
    for (;;)
    {
        if ((current & ESPYI_BVH_LEAF) == 0)
        {
            const espyiBvhNode* node = &nodes[current];
            espyF8 entry;
            uint32_t mask = espyNode_Test(node, &slabs, slabs.tMax, &entry);
            depth = espyStack_Push(stack, depth, node->child, mask);
        }
        else
        {
            const espyiBvhLeaf* leaf = &allLeaves[espyChild_GetLeaf(current)];
            espyF8 t;
            uint32_t backFaces, hits = espyLeaf_Test(leaf, view, skip, &t, &backFaces);
            if (hits != 0)
            {
                *blocker = (espyBlocker){leaf, espyBits_Lowest(hits)};
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

// --- what blocked earlier segments ---------------------------------------------------------------------------------

/// Puts a leaf first among those to try on later segments.
static void espyBlockers_Keep(espyiBlockers* blockers, uint32_t leaf)
{
    uint32_t at = blockers->count < ESPYI_BLOCKERS ? blockers->count++ : ESPYI_BLOCKERS - 1;
    for (; at > 0; --at)
    {
        blockers->leaves[at] = blockers->leaves[at - 1];
    }
    blockers->leaves[0] = leaf;
}

/// True where a kept leaf blocks the segment; it then goes first.
static bool espyBlockers_Block(espyiBlockers* blockers, const espyiBvhTree* tree, espyView view, espyiSkip skip)
{
    for (uint32_t i = 0; i < blockers->count; ++i)
    {
        uint32_t leaf = blockers->leaves[i], backFaces;
        espyF8 t;
        if (espyLeaf_Test(&tree->leaves[leaf], view, skip, &t, &backFaces) != 0)
        {
            blockers->leaves[i] = blockers->leaves[0];
            blockers->leaves[0] = leaf;
            return true;
        }
    }
    return false;
}

static void espyBvh_OccludedAgain(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count,
                                  espyiSkip skip, espyiBlockers* blockers, uint64_t* blocked)
{
    espyBlock block;
    uint32_t usable = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t lane = i % ESPYI_BVH_WIDTH, left = count - i;
        if (lane == 0 && tree->nodeCount > 0)
        {
            usable = espyBlock_Fill(tree, &segments[i], left < ESPYI_BVH_WIDTH ? left : ESPYI_BVH_WIDTH, &block);
        }
        blocked[i / 64] = i % 64 == 0 ? 0 : blocked[i / 64];
        if ((usable >> lane & 1u) == 0)
        {
            continue;
        }
        bool isBlocked = espyBlockers_Block(blockers, tree, espyView_One(&block, lane), skip);
        espyBlocker blocker;
        if (!isBlocked && espyRay_IsBlocked(tree, 0, &block, lane, skip, &blocker))
        {
            isBlocked = true;
            espyBlockers_Keep(blockers, (uint32_t)(blocker.leaf - tree->leaves));
        }
        blocked[i / 64] |= (uint64_t)isBlocked << (i % 64);
    }
}

#include "kernels/bvh_groups.inl"

// --- nearest hits ----------------------------------------------------------------------------------------------------

/// Takes the hits of a leaf that are nearer than *best, or as near with a lower index.
static void espyHit_Take(espyiHit* best, const espyiBvhLeaf* leaf, uint32_t hits, espyF8 t, uint32_t backFaces)
{
    _Alignas(32) float lanes[ESPYI_BVH_WIDTH];
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

/// A child with the bits of where it is entered above its index: as whole numbers, children sort by entry wherever
/// entries are not negative. Elsewhere walks only take longer.
static inline uint64_t espyPending_Make(const float entries[ESPYI_BVH_WIDTH], const espyiBvhNode* node, uint32_t lane)
{
    uint32_t bits;
    memcpy(&bits, &entries[lane], sizeof(bits));
    return (uint64_t)bits << 32 | node->child[lane];
}

static inline float espyPending_GetEntry(uint64_t pending)
{
    uint32_t bits = (uint32_t)(pending >> 32);
    float entry;
    memcpy(&entry, &bits, sizeof(entry));
    return entry;
}

/// Puts the nearer of two into *b, without a branch, which nothing could predict.
static inline void espyPending_Sort(uint64_t* a, uint64_t* b)
{
    uint64_t x = *a, y = *b;
    *a = x < y ? y : x;
    *b = x < y ? x : y;
}

/// Returns the nearest child of a mask that is not 0, and pushes the others, the farthest first.
ESPY_HOT uint32_t espyNode_PushFarther(const espyiBvhNode* node, uint32_t mask, espyF8 entry, uint64_t* stack,
                                       uint32_t* depth)
{
    uint32_t lane = espyBits_Lowest(mask), base = *depth, end = base;
    mask &= mask - 1;
    if (mask == 0)
    {
        return node->child[lane];
    }
    _Alignas(32) float entries[ESPYI_BVH_WIDTH];
    espyF8_Store(entries, entry);
    uint64_t nearest = espyPending_Make(entries, node, lane);
    uint64_t second = espyPending_Make(entries, node, espyBits_Lowest(mask));
    mask &= mask - 1;
    espyPending_Sort(&second, &nearest);
    if (mask != 0)
    {
        uint64_t third = espyPending_Make(entries, node, espyBits_Lowest(mask));
        mask &= mask - 1;
        espyPending_Sort(&third, &second);
        espyPending_Sort(&second, &nearest);
        stack[end++] = third;
    }
    stack[end++] = second;
    for (; mask != 0; mask &= mask - 1)
    {
        uint64_t pending = espyPending_Make(entries, node, espyBits_Lowest(mask));
        espyPending_Sort(&pending, &nearest);
        uint32_t i = end++;
        for (; i > base && stack[i - 1] < pending; --i)
        {
            stack[i] = stack[i - 1];
        }
        stack[i] = pending;
    }
    *depth = end;
    return (uint32_t)nearest;
}

/// *best starts as {tMax, UINT32_MAX}. Nearest children first; a box is dropped only where it begins strictly behind
/// the best hit, so that ties are seen.
static void espyRay_FindClosest(const espyiBvhTree* tree, const espyBlock* block, uint32_t rayLane, espyiSkip skip,
                                espyiHit* best)
{
    const espyView view = espyView_One(block, rayLane);
    uint64_t stack[ESPYI_BVH_STACK];
    uint32_t depth = 0, current = 0;
    const espySlabs slabs = espyView_GetSlabs(view);
    const espyiBvhNode* const nodes = tree->nodes;
    for (;;)
    {
        if ((current & ESPYI_BVH_LEAF) == 0)
        {
            const espyiBvhNode* node = &nodes[current];
            espyF8 entry;
            uint32_t mask = espyNode_Test(node, &slabs, espyF8_Set(best->t), &entry);
            if (mask != 0)
            {
                current = espyNode_PushFarther(node, mask, entry, stack, &depth);
                continue;
            }
        }
        else
        {
            const espyiBvhLeaf* leaf = &tree->leaves[espyChild_GetLeaf(current)];
            espyF8 t;
            uint32_t backFaces, hits = espyLeaf_Test(leaf, view, skip, &t, &backFaces);
            if (hits != 0)
            {
                espyHit_Take(best, leaf, hits, t, backFaces);
            }
        }
        do
        {
            if (depth == 0)
            {
                return;
            }
            --depth;
        } while (espyPending_GetEntry(stack[depth]) > best->t);
        current = (uint32_t)stack[depth];
    }
}

static void espyBvh_Closest(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                            espyiHit* out)
{
    espyBlock block;
    uint32_t usable = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t lane = i % ESPYI_BVH_WIDTH, left = count - i;
        if (lane == 0 && tree->nodeCount > 0)
        {
            usable = espyBlock_Fill(tree, &segments[i], left < ESPYI_BVH_WIDTH ? left : ESPYI_BVH_WIDTH, &block);
        }
        espyiHit best = {segments[i].tMax, UINT32_MAX, 0, false};
        if ((usable >> lane & 1u) != 0)
        {
            espyRay_FindClosest(tree, &block, lane, skip, &best);
        }
        best.t = best.triangle == UINT32_MAX ? -1.0f : best.t;
        out[i] = best;
    }
}

const espyiBvhKernels ESPY_KERNEL_TABLE = {espyBvh_Occluded, espyBvh_OccludedAgain, espyBvh_Closest};
