// SPDX-License-Identifier: MIT
// Sorts the instances of a node into unroll cells. No library call.
#include "world/unroll.h"

/// Cells along an axis: far more than any level has, and three of them fit a key.
#define ESPY_UNROLL_LAST_CELL 1048575.0

typedef struct espyUnrollKey
{
    uint64_t cell; ///< z, y, x: 20 bits each.
    uint32_t index;
} espyUnrollKey;

espyiMat4d espyiMat4d_From(const espyMat4* m)
{
    espyiMat4d r;
    for (int i = 0; i < 16; ++i)
    {
        r.m[i] = (double)m->m[i];
    }
    return r;
}

espyiMat4d espyiMat4d_Multiply(const espyiMat4d* a, const espyiMat4d* b)
{
    espyiMat4d r;
    for (int column = 0; column < 4; ++column)
    {
        for (int row = 0; row < 4; ++row)
        {
            double sum = 0.0;
            for (int k = 0; k < 4; ++k)
            {
                sum += a->m[4 * k + row] * b->m[4 * column + k];
            }
            r.m[4 * column + row] = sum;
        }
    }
    return r;
}

espyVec3 espyiMat4d_TransformPoint(const espyiMat4d* m, espyVec3 p)
{
    double x = (double)p.x;
    double y = (double)p.y;
    double z = (double)p.z;
    return (espyVec3){
        (float)(m->m[0] * x + m->m[4] * y + m->m[8] * z + m->m[12]),
        (float)(m->m[1] * x + m->m[5] * y + m->m[9] * z + m->m[13]),
        (float)(m->m[2] * x + m->m[6] * y + m->m[10] * z + m->m[14]),
    };
}

static uint64_t espyUnroll_CellOf(float value, float origin, double size)
{
    double cell = ((double)value - (double)origin) / size;
    // A NaN fails the first comparison.
    return cell > 0.0 ? (uint64_t)(cell < ESPY_UNROLL_LAST_CELL ? cell : ESPY_UNROLL_LAST_CELL) : 0u;
}

/// Stable, from the bottom up. The result is in `keys`.
static void espyUnroll_Sort(espyUnrollKey* keys, espyUnrollKey* scratch, uint32_t count)
{
    espyUnrollKey* from = keys;
    espyUnrollKey* to = scratch;
    for (uint64_t run = 1; run < count; run *= 2u)
    {
        for (uint64_t start = 0; start < count; start += 2u * run)
        {
            uint64_t middle = start + run < count ? start + run : count;
            uint64_t end = start + 2u * run < count ? start + 2u * run : count;
            uint64_t a = start;
            uint64_t b = middle;
            for (uint64_t k = start; k < end; ++k)
            {
                bool first = a < middle && (b >= end || from[a].cell <= from[b].cell);
                to[k] = first ? from[a++] : from[b++];
            }
        }
        espyUnrollKey* swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t i = 0; i < count && from != keys; ++i)
    {
        keys[i] = from[i];
    }
}

espyiUnroll* espyiUnroll_Make(const espyHooks* hooks, const espyiMat4d* world, const espyMat4* instances,
                              uint32_t instanceCount, const espyTriangles* meshes, uint32_t meshCount, float cellSize)
{
    size_t bytes;
    // Firsts and order share a block with the struct: at most one cell an instance.
    if (!espyiMulSize(instanceCount, 2u * sizeof(uint32_t), &bytes) ||
        !espyiAddSize(bytes, sizeof(espyiUnroll) + sizeof(uint32_t), &bytes))
    {
        return NULL;
    }
    espyiUnroll* unroll = (espyiUnroll*)espyiAlloc(hooks, bytes, 1);
    espyUnrollKey* keys = (espyUnrollKey*)espyiAlloc(hooks, instanceCount, 2u * sizeof(espyUnrollKey));
    espyVec3* centers = (espyVec3*)espyiAlloc(hooks, instanceCount, sizeof(espyVec3));
    if (!unroll || (instanceCount > 0 && (!keys || !centers)))
    {
        espyiFree(hooks, unroll);
        espyiFree(hooks, keys);
        espyiFree(hooks, centers);
        return NULL;
    }
    espyBox whole = espyBox_Empty();
    for (uint32_t i = 0; i < instanceCount; ++i)
    {
        espyiMat4d local = espyiMat4d_From(&instances[i]);
        espyiMat4d transform = espyiMat4d_Multiply(world, &local);
        espyBox box = espyBox_Empty();
        for (uint32_t m = 0; m < meshCount; ++m)
        {
            for (uint32_t v = 0; v < meshes[m].vertexCount; ++v)
            {
                box = espyBox_AddPoint(box, espyiMat4d_TransformPoint(&transform, meshes[m].positions[v]));
            }
        }
        centers[i] = (espyVec3){0.5f * box.min.x + 0.5f * box.max.x, 0.5f * box.min.y + 0.5f * box.max.y,
                                0.5f * box.min.z + 0.5f * box.max.z};
        whole = espyBox_Union(whole, box);
    }
    for (uint32_t i = 0; i < instanceCount; ++i)
    {
        uint64_t x = espyUnroll_CellOf(centers[i].x, whole.min.x, (double)cellSize);
        uint64_t y = espyUnroll_CellOf(centers[i].y, whole.min.y, (double)cellSize);
        uint64_t z = espyUnroll_CellOf(centers[i].z, whole.min.z, (double)cellSize);
        keys[i] = (espyUnrollKey){x | y << 20 | z << 40, i};
    }
    espyUnroll_Sort(keys, keys + instanceCount, instanceCount);
    unroll->instanceCount = instanceCount;
    unroll->cellSize = cellSize;
    unroll->firsts = (uint32_t*)(void*)(unroll + 1);
    unroll->order = unroll->firsts + instanceCount + 1u;
    for (uint32_t i = 0; i < instanceCount; ++i)
    {
        if (i == 0 || keys[i].cell != keys[i - 1u].cell)
        {
            unroll->firsts[unroll->cellCount++] = i;
        }
        unroll->order[i] = keys[i].index;
    }
    unroll->firsts[unroll->cellCount] = instanceCount;
    espyiFree(hooks, keys);
    espyiFree(hooks, centers);
    return unroll;
}
