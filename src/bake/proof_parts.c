// SPDX-License-Identifier: MIT
// Binary tree over the boxes of a target's parts: the space between them need not be proven hidden.
#include "bake/proof_internal.h"

#include <float.h>
#include <math.h>

static espyiBoxD espyPartTree_Bound(const espyiProofTarget* target, const uint32_t* order, uint32_t count)
{
    espyiBoxD box = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (uint32_t i = 0; i < count; ++i)
    {
        for (int axis = 0; axis < 3; ++axis)
        {
            box.min[axis] = fmin(box.min[axis], target->parts[order[i]].min[axis]);
            box.max[axis] = fmax(box.max[axis], target->parts[order[i]].max[axis]);
        }
    }
    return box;
}

/// Splits the parts of a node by their middles, in place; the two sides are never empty.
static uint32_t espyPartTree_Split(const espyiProofTarget* target, const espyiPartNode* node, uint32_t* order)
{
    int axis = 0;
    for (int other = 1; other < 3; ++other)
    {
        axis = node->box.max[other] - node->box.min[other] > node->box.max[axis] - node->box.min[axis] ? other : axis;
    }
    double middle = node->box.min[axis] + node->box.max[axis];
    uint32_t left = 0;
    for (uint32_t i = 0; i < node->count; ++i)
    {
        const espyiBoxD* part = &target->parts[order[node->first + i]];
        if (part->min[axis] + part->max[axis] < middle)
        {
            uint32_t swap = order[node->first + left];
            order[node->first + left++] = order[node->first + i];
            order[node->first + i] = swap;
        }
    }
    return left == 0 || left == node->count ? node->count / 2 : left;
}

bool espyiProver_BuildParts(espyiProver* prover, const espyiProofTarget* target)
{
    espyiPartTree* tree = &prover->parts;
    uint64_t hash = espyiHash_Bytes(target->partCount, target->parts, target->partCount * sizeof(espyiBoxD));
    if (tree->count == target->partCount && tree->hash == hash)
    {
        return true;
    }
    void* nodes = tree->nodes;
    void* order = tree->order;
    tree->count = 0;
    bool ok =
        espyiGrow(&prover->hooks, &nodes, &tree->nodeCapacity, 2 * (size_t)target->partCount, sizeof(espyiPartNode));
    tree->nodes = nodes;
    ok = ok && espyiGrow(&prover->hooks, &order, &tree->orderCapacity, target->partCount, sizeof(uint32_t));
    tree->order = order;
    if (!ok)
    {
        prover->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < target->partCount; ++i)
    {
        tree->order[i] = i;
    }
    tree->nodes[0] = (espyiPartNode){.first = 0, .count = target->partCount};
    for (uint32_t index = 0; index < 2 * target->partCount - 1; ++index)
    {
        espyiPartNode* node = &tree->nodes[index];
        if (!espyiProver_GoesOn(prover, node->count))
        {
            return false;
        }
        node->box = espyPartTree_Bound(target, tree->order + node->first, node->count);
        if (node->count > 1)
        {
            uint32_t left = espyPartTree_Split(target, node, tree->order);
            tree->nodes[index + 1] = (espyiPartNode){.first = node->first, .count = left};
            tree->nodes[index + 2 * left] = (espyiPartNode){.first = node->first + left, .count = node->count - left};
        }
    }
    tree->count = target->partCount;
    tree->hash = hash;
    return true;
}
