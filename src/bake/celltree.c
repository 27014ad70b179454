// SPDX-License-Identifier: MIT
// Binary tree over the stored cells, so that one proof can answer for a whole block of them.
#include "bake/proof_internal.h"

static void espyCellNode_Bound(const espyiGrid* grid, const uint32_t* order, espyiCellNode* node)
{
    for (uint32_t i = 0; i < node->count; ++i)
    {
        const espyiCellCoord* cell = &grid->cells[order[node->first + i]];
        const uint16_t at[3] = {cell->x, cell->y, cell->z};
        for (int axis = 0; axis < 3; ++axis)
        {
            node->min[axis] = i == 0 || at[axis] < node->min[axis] ? at[axis] : node->min[axis];
            node->max[axis] = i == 0 || at[axis] > node->max[axis] ? at[axis] : node->max[axis];
        }
    }
}

static uint32_t espyCellCoord_Axis(const espyiCellCoord* cell, uint32_t axis)
{
    return axis == 0 ? cell->x : (axis == 1 ? cell->y : cell->z);
}

espyResult espyiCellTree_Build(const espyiGrid* grid, const espyHooks* hooks, espyiPoll* poll, espyiCellTree** out)
{
    espyHooks resolved = espyiHooks_Resolve(hooks);
    if (!ESPYI_CHECK(&resolved, grid->cellCount > 0 && grid->cellCount <= INT32_MAX / 2))
    {
        return espyResult_InvalidArgument;
    }
    espyiCellTree* tree = espyiAlloc(&resolved, 1, sizeof(espyiCellTree));
    if (!tree)
    {
        return espyResult_OutOfMemory;
    }
    tree->hooks = resolved;
    tree->nodeCount = 2 * grid->cellCount - 1;
    tree->cellCount = grid->cellCount;
    tree->nodes = espyiAlloc(&resolved, tree->nodeCount, sizeof(espyiCellNode));
    tree->order = espyiAlloc(&resolved, grid->cellCount, sizeof(uint32_t));
    tree->leafOf = espyiAlloc(&resolved, grid->cellCount, sizeof(uint32_t));
    uint32_t* scratch = espyiAlloc(&resolved, grid->cellCount, sizeof(uint32_t));
    if (!tree->nodes || !tree->order || !tree->leafOf || !scratch)
    {
        espyiFree(&resolved, scratch);
        espyiCellTree_Destroy(tree);
        return espyResult_OutOfMemory;
    }
    tree->cellSize = (double)grid->cellSize;
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        tree->order[i] = i;
    }
    // Pre-order: a node of n cells is followed by the 2 nl - 1 nodes of its first child, then by the second. So every
    // parent comes before its children, and one pass over the array splits them all.
    tree->nodes[0] = (espyiCellNode){.first = 0, .count = grid->cellCount, .parent = UINT32_MAX};
    for (uint32_t index = 0; index < tree->nodeCount; ++index)
    {
        espyiCellNode* node = &tree->nodes[index];
        if (!espyiPoll_Work(poll, node->count))
        {
            espyiFree(&resolved, scratch);
            espyiCellTree_Destroy(tree);
            return espyResult_Cancelled;
        }
        espyCellNode_Bound(grid, tree->order, node);
        if (node->count == 1)
        {
            tree->leafOf[tree->order[node->first]] = index;
            continue;
        }
        uint32_t axis = 0;
        for (uint32_t other = 1; other < 3; ++other)
        {
            axis = node->max[other] - node->min[other] > node->max[axis] - node->min[axis] ? other : axis;
        }
        uint32_t middle = (node->min[axis] + (uint32_t)node->max[axis] + 1) / 2;
        uint32_t left = 0, right = 0;
        for (uint32_t i = 0; i < node->count; ++i)
        {
            uint32_t rank = tree->order[node->first + i];
            if (espyCellCoord_Axis(&grid->cells[rank], axis) < middle)
            {
                tree->order[node->first + left++] = rank;
            }
            else
            {
                scratch[right++] = rank;
            }
        }
        for (uint32_t i = 0; i < right; ++i)
        {
            tree->order[node->first + left + i] = scratch[i];
        }
        tree->nodes[index + 1] = (espyiCellNode){.first = node->first, .count = left, .parent = index};
        tree->nodes[index + 2 * left] = (espyiCellNode){.first = node->first + left, .count = right, .parent = index};
    }
    espyiFree(&resolved, scratch);
    *out = tree;
    return espyResult_Ok;
}

void espyiCellTree_Destroy(espyiCellTree* tree)
{
    if (tree)
    {
        espyHooks hooks = tree->hooks;
        espyiFree(&hooks, tree->nodes);
        espyiFree(&hooks, tree->order);
        espyiFree(&hooks, tree->leafOf);
        espyiFree(&hooks, tree);
    }
}

espyiBoxD espyiCellTree_Box(const espyiCellTree* tree, uint32_t node)
{
    espyiBoxD box;
    for (int axis = 0; axis < 3; ++axis)
    {
        box.min[axis] = tree->nodes[node].min[axis] * tree->cellSize;
        box.max[axis] = (tree->nodes[node].max[axis] + 1.0) * tree->cellSize;
    }
    return box;
}
