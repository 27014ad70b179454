// SPDX-License-Identifier: MIT
// Shafts, floods and the scratch memory of a prover, shared by its parts and read by its tests.
#ifndef ESPYI_PROOF_INTERNAL_H
#define ESPYI_PROOF_INTERNAL_H

#include "bake/freespace_internal.h"
#include "bake/proof.h"

/// Boxes of targets and windows thinner than this on an axis are padded to it, boxes of cameras must be a hundred
/// shrinks thick: otherwise the shrink would take a share of the shaft that matters.
#define ESPYI_MIN_THICKNESS 2e-5
#define ESPYI_MIN_CAMERA (100 * ESPYI_SHAFT_SHRINK)

/// Bridging plane: n[0] x[axis[0]] + n[1] x[axis[1]] <= w, unit length.
typedef struct espyiBridge
{
    uint32_t axis[2];
    uint32_t positive[2]; ///< Whether n > 0.
    double n[2], w;
} espyiBridge;

/// Convex hull of two boxes, shrunk: 6 box planes and at most 12 bridging planes.
typedef struct espyiShaft
{
    double min[3], max[3]; ///< Shrunk.
    double shrink;
    double centers[2][3]; ///< Of the two boxes, as given.
    uint32_t bridgeCount;
    espyiBridge bridges[12];
} espyiShaft;

void espyiShaft_Set(espyiShaft* shaft, const espyiBoxD* a, const espyiBoxD* b, double shrink);
/// True where the polygon of the portal may meet the inside of the shaft; false only where it does not.
bool espyiShaft_Meets(const espyiShaft* shaft, const espyiPortalRef* ref, const double (*points)[3]);
/// Clips a polygon to the shaft in place (capacity of at least count + 18 points).
uint32_t espyiShaft_Clip(const espyiShaft* shaft, double (*points)[3], uint32_t count);

typedef struct espyiCellNode
{
    uint16_t min[3], max[3]; ///< Lattice coordinates, both included.
    uint32_t first, count;   ///< In order.
    uint32_t parent;
} espyiCellNode;

struct espyiCellTree
{
    espyHooks hooks;
    double cellSize;
    espyiCellNode* nodes; ///< Pre-order: children of node i are i + 1 and i + 2 * (count of child i + 1).
    uint32_t* order;      ///< Cell ranks in tree order.
    uint32_t* leafOf;     ///< Node of each cell rank.
    uint32_t nodeCount, cellCount;
};

/// In coordinates relative to the lattice's origin, exact.
espyiBoxD espyiCellTree_Box(const espyiCellTree* tree, uint32_t node);

typedef struct espyiLeafList
{
    uint32_t* leaves;
    size_t count, capacity;
} espyiLeafList;

/// Where the leaves of a cell block are kept: offset + 1 into `cached`, 0 for not yet.
typedef struct espyiCachedLeaves
{
    uint32_t offset1, count;
} espyiCachedLeaves;

typedef struct espyiPartNode
{
    espyiBoxD box;
    uint32_t first, count; ///< In order. Children as in the cell tree.
} espyiPartNode;

typedef struct espyiPartTree
{
    espyiPartNode* nodes;
    uint32_t* order;
    size_t nodeCapacity, orderCapacity;
    uint64_t hash; ///< Of the boxes that it was built from.
    uint32_t count;
} espyiPartTree;

/// Two boxes that the ladder has still to close.
typedef struct espyiPair
{
    espyiBoxD a, b;
    uint32_t node; ///< Of the part tree; b is inside its box.
    uint8_t depth;
    bool exited; ///< Exit faces were taken already.
} espyiPair;

/// Leaves of a flood that are kept; more than this is too open for a window cut.
#define ESPYI_MAX_REACHED 192u

struct espyiProver
{
    espyHooks hooks;
    const espyiFreeSpace* space;
    const espyiCellTree* cells;
    espyiPoll* poll;
    const uint32_t* viewers; ///< Leaves that a camera can be in; null: all.
    double shrink;           ///< ESPYI_SHAFT_SHRINK; tests of the tests set more.
    uint64_t work;           ///< Portal tests.
    uint64_t floods;
    uint32_t* marks; ///< Per leaf: 2 * epoch + side.
    uint32_t epoch;
    uint32_t* stacks[2]; ///< leafCount each.
    uint32_t* through;   ///< Per leaf: the opening that the ladder's last flood entered it by.
    /// Per leaf, the stamp of the last flood of the ladder that got to it: of whole pairs, and of the pairs at hand.
    uint32_t* within[2];
    uint32_t withinStamp[2];
    int32_t* nodeStack; ///< Of walks down the tree.
    size_t nodeStackCapacity;
    espyiLeafList seeds[2]; ///< Of the query at hand; 0 target, 1 camera.
    espyiLeafList cached;
    size_t cachedMost;          ///< Leaves.
    espyiCachedLeaves* cacheOf; ///< Per cell tree node.
    uint32_t* seenStamp; ///< Per cell tree node: `stamp` where some cell below is known visible, 1 more where all are.
    uint32_t stamp;
    uint32_t* cellStack;
    espyiPartTree parts; ///< Of the ladder's last target.
    espyiPair* pairs;
    size_t pairCount, pairCapacity;
    uint32_t reached[ESPYI_MAX_REACHED];
    uint32_t reachedCount; ///< May be more than were kept.
    bool failed;           ///< Out of memory, or stopped: nothing is hidden any more.
};

/// Leaves that meet the box grown by `grow` (negative: shrunk), appended in ascending order. False: out of memory,
/// or stopped.
bool espyiProver_FindLeaves(espyiProver* prover, const espyiBoxD* box, double grow, espyiLeafList* list);
/// Takes out, in place, the leaves from `first` on that no camera can be in.
void espyiProver_KeepViewers(const espyiProver* prover, espyiLeafList* list, size_t first);
/// Starts a new set of marks: 2 * epoch and 2 * epoch + 1 are unused.
void espyiProver_NextEpoch(espyiProver* prover);
/// Counts work for the poll. False, with `failed` set, where it says stop.
static inline bool espyiProver_GoesOn(espyiProver* prover, size_t units)
{
    prover->failed = prover->failed || !espyiPoll_Work(prover->poll, units);
    return !prover->failed;
}
/// Leaves that paths may run through.
typedef struct espyiLeafScope
{
    const uint32_t* stamps; ///< Per leaf; null: through all of them.
    uint32_t stamp;         ///< Of those that they may.
} espyiLeafScope;

static inline bool espyiLeafScope_Has(const espyiLeafScope* scope, uint32_t leaf)
{
    return !scope->stamps || scope->stamps[leaf] == scope->stamp;
}

/// True where no path inside the shaft and the scope joins the two sets of leaves.
bool espyiProver_Apart(espyiProver* prover, const espyiShaft* shaft, const espyiLeafScope* scope,
                       const uint32_t* target, size_t targetCount, const uint32_t* camera, size_t cameraCount);
/// Fills prover->parts; kept from call to call while the parts stay the same. False: out of memory,
/// or stopped.
bool espyiProver_BuildParts(espyiProver* prover, const espyiProofTarget* target);
/// The box with thin axes padded.
espyiBoxD espyiBox_Pad(espyiBoxD box, double thickness);
/// Inside the world, finite, not inverted, each axis at least `thickness`.
bool espyiProver_BoxIsUsable(const espyiProver* prover, const espyiBoxD* box, double thickness);

#endif
