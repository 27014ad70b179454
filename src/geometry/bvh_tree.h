// SPDX-License-Identifier: MIT
// Memory layout of the finished hierarchy, and the table of kernels that walk it. Internal to src/geometry.
//
// Eight children a node and eight triangles a leaf, both as structure of arrays, so that one eight-lane instruction (or
// two of four lanes) handles a whole node or leaf. The layout is the same for every instruction set.
#ifndef ESPYI_BVH_TREE_H
#define ESPYI_BVH_TREE_H

#include "geometry/bvh.h"

#define ESPYI_BVH_WIDTH 8u
/// A child with this bit is a leaf: bits 3 to 30 are its index, bits 0 to 2 its triangle count less one.
#define ESPYI_BVH_LEAF 0x80000000u
/// Leaf indices take 28 bits, and no tree has more leaves than triangles.
#define ESPYI_BVH_MAX_TRIANGLES (1u << 28)
/// Binary levels split by cost; below them ranges are halved, which ends within 28 more levels.
#define ESPYI_BVH_COST_DEPTH 40u
#define ESPYI_BVH_MAX_DEPTH (ESPYI_BVH_COST_DEPTH + 30u)
/// Every level leaves at most seven siblings behind.
#define ESPYI_BVH_STACK (7u * ESPYI_BVH_MAX_DEPTH + 1u)
/// Larger coordinates (metres) are refused: products of three of them must stay finite in float.
#define ESPYI_BVH_MAX_COORDINATE 68719476736.0f

/// bounds: min x, y, z, then max x, y, z of each child. An empty slot has min +inf and max -inf, which no ray meets.
typedef struct espyiBvhNode
{
    float bounds[6][ESPYI_BVH_WIDTH];
    uint32_t child[ESPYI_BVH_WIDTH];
    uint32_t childCount;
    uint32_t leafMask;  ///< Bit i: child i is a leaf.
    uint32_t unused[6]; ///< Makes the size four cache lines.
} espyiBvhNode;

/// corners: x, y, z of corner 0, then of 1, then of 2. Lanes past the count repeat the last triangle.
typedef struct espyiBvhLeaf
{
    float corners[9][ESPYI_BVH_WIDTH];
    uint32_t triangle[ESPYI_BVH_WIDTH];
    uint32_t object[ESPYI_BVH_WIDTH];
} espyiBvhLeaf;

static inline uint32_t espyChild_GetLeaf(uint32_t child)
{
    return (child & ~ESPYI_BVH_LEAF) >> 3;
}

static inline uint32_t espyChild_GetCount(uint32_t child)
{
    return (child & 7u) + 1;
}

typedef struct espyiBvhTree
{
    const espyiBvhNode* nodes; ///< nodes[0] is the root.
    const espyiBvhLeaf* leaves;
    uint32_t nodeCount; ///< 0: hits nothing.
    uint32_t leafCount;
    espyBox bounds;
} espyiBvhTree;

typedef struct espyiBvhKernels
{
    /// As espyiBvh_OccludedMany.
    void (*occluded)(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                     uint64_t* blocked);
    /// As espyiBvh_OccludedAgain.
    void (*occludedAgain)(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                          espyiBlockers* blockers, uint64_t* blocked);
    /// As espyiBvh_ClosestMany.
    void (*closest)(const espyiBvhTree* tree, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                    espyiHit* out);
} espyiBvhKernels;

extern const espyiBvhKernels espyiBvhKernels_scalar;
#if defined(__x86_64__) || defined(__i386__)
extern const espyiBvhKernels espyiBvhKernels_sse41;
extern const espyiBvhKernels espyiBvhKernels_avx2;
extern const espyiBvhKernels espyiBvhKernels_avx512;
#endif

/// What the builder hands over: arrays from the hooks' allocator.
typedef struct espyiBvhArrays
{
    espyiBvhNode* nodes;
    espyiBvhLeaf* leaves;
    uint32_t nodeCount, leafCount;
    espyBox bounds;
} espyiBvhArrays;

espyResult espyiBvhBuild_Run(const espyiSoup* soup, uint32_t threads, const espyHooks* hooks, espyiPoll* poll,
                             espyiBvhArrays* out);

/// The tree of a built object, for tests that compare trees.
const espyiBvhTree* espyiBvh_GetTree(const espyiBvh* bvh);

#endif
