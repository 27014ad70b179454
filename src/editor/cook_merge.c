// SPDX-License-Identifier: MIT
// Chooses which sets of a table to unite so that the fewest pairs become visible.
//
// Agglomeration from the cheapest pair on: the cost of a pair is what each of the two would gain, counted in cells.
// With many sets only those are paired that some neighbouring cells use: sets of neighbours are alike, and all pairs of
// sets would be too many. Once few are left all of them are paired. Costs are brought up to date when a pair comes to
// the top of the heap, not before.
//
// Based on: J. Ward, "Hierarchical Grouping to Optimize an Objective Function", 1963; M. Minoux, "Accelerated Greedy
// Algorithms for Maximizing Submodular Set Functions", 1978, for the late update.
#include "cook_internal.h"
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

/// Sets up to which all pairs are looked at.
#define ESPY_MERGE_ALL_PAIRS 256u
/// Next sets that a set is paired with where neighbours are not enough.
#define ESPY_MERGE_REACH 16u

typedef struct espyCookEdge
{
    uint64_t cost;
    uint32_t a, b;
    uint32_t stamp; ///< Of both sets together when the cost was found.
} espyCookEdge;

/// Pairs that were pushed with their stamp. An answer of "no" may be wrong after it was emptied, never one of "yes".
typedef struct espyCookSeen
{
    uint64_t* keys;
    uint32_t* stamps;
    uint32_t mask, used;
} espyCookSeen;

typedef struct espyCookMerger
{
    const espyHooks* hooks;
    uint32_t words, left, stopAt;
    uint32_t* sets;
    uint64_t* weights; ///< Cells of each set.
    uint32_t* parents;
    uint32_t* stamps; ///< How often each set has grown.
    espyCookEdge* heap;
    size_t heapCount, heapCapacity;
    espyCookSeen seen;
    espyiCookMerges* out;
    size_t outCapacity;
} espyCookMerger;

// --- heap

static bool espyCookEdge_Before(const espyCookEdge* l, const espyCookEdge* r)
{
    return l->cost != r->cost ? l->cost < r->cost : l->a != r->a ? l->a < r->a : l->b < r->b;
}

static void espyCookHeap_Sink(espyCookMerger* merger, size_t at)
{
    espyCookEdge* heap = merger->heap;
    espyCookEdge moved = heap[at];
    for (;;)
    {
        size_t child = 2u * at + 1u;
        if (child >= merger->heapCount)
        {
            break;
        }
        child += child + 1u < merger->heapCount && espyCookEdge_Before(&heap[child + 1u], &heap[child]) ? 1u : 0u;
        if (!espyCookEdge_Before(&heap[child], &moved))
        {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/// Replaces the top by the last entry.
static void espyCookHeap_Drop(espyCookMerger* merger)
{
    merger->heap[0] = merger->heap[--merger->heapCount];
    if (merger->heapCount > 0)
    {
        espyCookHeap_Sink(merger, 0);
    }
}

// --- sets

static uint32_t espyCookSet_FindRoot(uint32_t* parents, uint32_t set)
{
    while (parents[set] != set)
    {
        parents[set] = parents[parents[set]];
        set = parents[set];
    }
    return set;
}

static uint64_t espyCookMerger_Cost(const espyCookMerger* merger, uint32_t a, uint32_t b)
{
    const uint32_t* l = merger->sets + (size_t)a * merger->words;
    const uint32_t* r = merger->sets + (size_t)b * merger->words;
    uint32_t newToA = 0, newToB = 0;
    for (uint32_t i = 0; i < merger->words; ++i)
    {
        newToA += espyiPopCount32(r[i] & ~l[i]);
        newToB += espyiPopCount32(l[i] & ~r[i]);
    }
    return merger->weights[a] * newToA + merger->weights[b] * newToB;
}

static void espyCookSeen_Clear(espyCookSeen* seen)
{
    memset(seen->keys, 0, ((size_t)seen->mask + 1u) * sizeof *seen->keys);
    seen->used = 0;
}

/// True where the pair was pushed with this stamp before; remembers it otherwise.
static bool espyCookSeen_Check(espyCookSeen* seen, uint32_t a, uint32_t b, uint32_t stamp)
{
    uint64_t key = ((uint64_t)a << 32 | b) + 1u;
    uint32_t slot = (uint32_t)espyiHash_Mix(key) & seen->mask;
    while (seen->keys[slot] != 0 && seen->keys[slot] != key)
    {
        slot = (slot + 1u) & seen->mask;
    }
    if (seen->keys[slot] == key && seen->stamps[slot] == stamp)
    {
        return true;
    }
    if (seen->keys[slot] == 0 && ++seen->used > seen->mask / 2u)
    {
        espyCookSeen_Clear(seen);
        return false;
    }
    seen->keys[slot] = key;
    seen->stamps[slot] = stamp;
    return false;
}

/// Adds a pair of sets at the end of the heap, out of order. False: out of memory.
static bool espyCookMerger_AddEdge(espyCookMerger* merger, uint32_t a, uint32_t b)
{
    if (!espyiGrow(merger->hooks, (void**)&merger->heap, &merger->heapCapacity, merger->heapCount + 1u,
                   sizeof *merger->heap))
    {
        return false;
    }
    merger->heap[merger->heapCount++] = (espyCookEdge){
        .cost = espyCookMerger_Cost(merger, a, b), .a = a, .b = b, .stamp = merger->stamps[a] + merger->stamps[b]};
    return true;
}

static bool espyCookMerger_Unite(espyCookMerger* merger, uint32_t a, uint32_t b, uint64_t cost)
{
    uint32_t* to = merger->sets + (size_t)a * merger->words;
    const uint32_t* from = merger->sets + (size_t)b * merger->words;
    for (uint32_t i = 0; i < merger->words; ++i)
    {
        to[i] |= from[i];
    }
    merger->weights[a] += merger->weights[b];
    merger->parents[b] = a;
    ++merger->stamps[a];
    --merger->left;
    espyiCookMerges* out = merger->out;
    if (!espyiGrow(merger->hooks, (void**)&out->items, &merger->outCapacity, (size_t)out->count + 1u,
                   sizeof *out->items))
    {
        return false;
    }
    out->items[out->count++] = (espyiCookMerge){.keep = a, .gone = b, .pairs = cost};
    return true;
}

/// Merges along the edges in the heap until enough is done or none is left. False: out of memory.
static bool espyCookMerger_Run(espyCookMerger* merger)
{
    for (size_t i = merger->heapCount / 2u; i > 0; --i)
    {
        espyCookHeap_Sink(merger, i - 1u);
    }
    while (merger->heapCount > 0 && merger->left > merger->stopAt)
    {
        espyCookEdge* top = &merger->heap[0];
        uint32_t a = espyCookSet_FindRoot(merger->parents, top->a);
        uint32_t b = espyCookSet_FindRoot(merger->parents, top->b);
        uint32_t low = a < b ? a : b;
        uint32_t high = a < b ? b : a;
        uint32_t stamp = merger->stamps[a] + merger->stamps[b];
        if (a == b)
        {
            espyCookHeap_Drop(merger);
        }
        else if (low == top->a && high == top->b && stamp == top->stamp)
        {
            uint64_t cost = top->cost;
            espyCookHeap_Drop(merger);
            if (!espyCookMerger_Unite(merger, low, high, cost))
            {
                return false;
            }
        }
        else if (espyCookSeen_Check(&merger->seen, low, high, stamp))
        {
            espyCookHeap_Drop(merger);
        }
        else
        {
            *top = (espyCookEdge){espyCookMerger_Cost(merger, low, high), low, high, stamp};
            espyCookHeap_Sink(merger, 0);
        }
    }
    return true;
}

// --- edges

static int espyCookKey_Compare(const void* a, const void* b)
{
    uint64_t l = *(const uint64_t*)a;
    uint64_t r = *(const uint64_t*)b;
    return (l > r) - (l < r);
}

/// Sets of cells that share a face, each pair once.
static bool espyCookMerger_AddNeighbours(espyCookMerger* merger, const espyiTable* table, const espyiGrid* grid)
{
    uint64_t* keys = NULL;
    size_t count = 0, capacity = 0;
    bool good = true;
    for (uint32_t i = 0; good && i < grid->cellCount; ++i)
    {
        espyiCellCoord c = grid->cells[i];
        const uint32_t next[3][3] = {{c.x + 1u, c.y, c.z}, {c.x, c.y + 1u, c.z}, {c.x, c.y, c.z + 1u}};
        for (uint32_t axis = 0; good && axis < 3u; ++axis)
        {
            int32_t other =
                espyiCookCoord_Find(grid->cells, grid->cellCount, next[axis][0], next[axis][1], next[axis][2]);
            if (other < 0 || table->cells[other] == table->cells[i])
            {
                continue;
            }
            uint32_t a = table->cells[i] < table->cells[other] ? table->cells[i] : table->cells[other];
            uint32_t b = table->cells[i] < table->cells[other] ? table->cells[other] : table->cells[i];
            good = espyiGrow(merger->hooks, (void**)&keys, &capacity, count + 1u, sizeof *keys);
            if (good)
            {
                keys[count++] = (uint64_t)a << 32 | b;
            }
        }
    }
    if (good && count > 0)
    {
        qsort(keys, count, sizeof *keys, espyCookKey_Compare);
    }
    for (size_t i = 0; good && i < count; ++i)
    {
        if (i == 0 || keys[i] != keys[i - 1u])
        {
            good = espyCookMerger_AddEdge(merger, (uint32_t)(keys[i] >> 32), (uint32_t)keys[i]);
        }
    }
    espyiFree(merger->hooks, keys);
    return good;
}

/// Each set that is left with the next `reach` ones.
static bool espyCookMerger_AddLeft(espyCookMerger* merger, uint32_t setCount, uint32_t reach)
{
    uint32_t* roots = espyiAlloc(merger->hooks, merger->left, sizeof *roots);
    if (!roots)
    {
        return false;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < setCount; ++i)
    {
        if (merger->parents[i] == i)
        {
            roots[count++] = i;
        }
    }
    merger->heapCount = 0;
    espyCookSeen_Clear(&merger->seen);
    bool good = true;
    for (uint32_t i = 0; good && i < count; ++i)
    {
        for (uint32_t j = i + 1u; good && j < count && j - i <= reach; ++j)
        {
            good = espyCookMerger_AddEdge(merger, roots[i], roots[j]);
        }
    }
    espyiFree(merger->hooks, roots);
    return good;
}

// --- the whole

static bool espyCookMerger_Begin(espyCookMerger* merger, const espyiTable* table, const uint32_t* weights)
{
    const espyHooks* hooks = merger->hooks;
    size_t words = (size_t)table->setCount * table->words;
    uint32_t slots = 1024;
    while (slots / 8u < table->setCount && slots < 1u << 24)
    {
        slots *= 2u;
    }
    merger->sets = espyiAlloc(hooks, words + 1u, sizeof *merger->sets);
    merger->weights = espyiAlloc(hooks, table->setCount, sizeof *merger->weights);
    merger->parents = espyiAlloc(hooks, table->setCount, sizeof *merger->parents);
    merger->stamps = espyiAlloc(hooks, table->setCount, sizeof *merger->stamps);
    merger->seen.keys = espyiAlloc(hooks, slots, sizeof *merger->seen.keys);
    merger->seen.stamps = espyiAlloc(hooks, slots, sizeof *merger->seen.stamps);
    merger->seen.mask = slots - 1u;
    if (!merger->sets || !merger->weights || !merger->parents || !merger->stamps || !merger->seen.keys ||
        !merger->seen.stamps)
    {
        return false;
    }
    if (words > 0)
    {
        memcpy(merger->sets, table->sets, words * sizeof *merger->sets);
    }
    for (uint32_t i = 0; i < table->setCount; ++i)
    {
        merger->parents[i] = i;
    }
    for (uint32_t i = 0; i < table->cellCount; ++i)
    {
        merger->weights[table->cells[i]] += weights[i];
    }
    return true;
}

espyResult espyiCookMerges_Plan(const espyiTable* table, const espyiGrid* grid, const uint32_t* weights,
                                uint32_t stopAt, const espyHooks* hooks, espyiCookMerges* out)
{
    *out = (espyiCookMerges){0};
    if (table->setCount <= 1u || table->setCount <= stopAt)
    {
        return espyResult_Ok;
    }
    espyCookMerger merger = {
        .hooks = hooks, .words = table->words, .left = table->setCount, .stopAt = stopAt, .out = out};
    bool good = espyCookMerger_Begin(&merger, table, weights);
    merger.stopAt = stopAt > ESPY_MERGE_ALL_PAIRS ? stopAt : ESPY_MERGE_ALL_PAIRS;
    if (good && merger.left > merger.stopAt)
    {
        good = espyCookMerger_AddNeighbours(&merger, table, grid) && espyCookMerger_Run(&merger);
    }
    if (good && merger.left > merger.stopAt)
    {
        // Areas that do not touch: sets are numbered along the lattice, so that the next ones are not far either.
        good = espyCookMerger_AddLeft(&merger, table->setCount, ESPY_MERGE_REACH) && espyCookMerger_Run(&merger);
    }
    merger.stopAt = stopAt;
    if (good && merger.left > stopAt)
    {
        good = espyCookMerger_AddLeft(&merger, table->setCount, merger.left) && espyCookMerger_Run(&merger);
    }
    espyiFree(hooks, merger.sets);
    espyiFree(hooks, merger.weights);
    espyiFree(hooks, merger.parents);
    espyiFree(hooks, merger.stamps);
    espyiFree(hooks, merger.heap);
    espyiFree(hooks, merger.seen.keys);
    espyiFree(hooks, merger.seen.stamps);
    if (!good)
    {
        espyiCookMerges_Free(out, hooks);
        return espyResult_OutOfMemory;
    }
    return espyResult_Ok;
}

void espyiCookMerges_Free(espyiCookMerges* merges, const espyHooks* hooks)
{
    espyiFree(hooks, merges->items);
    *merges = (espyiCookMerges){0};
}

typedef struct espyCookMerged
{
    const espyiTable* table;
    uint32_t* parents;
} espyCookMerged;

static void espyCookMerged_Fill(void* context, uint32_t cell, uint32_t* row)
{
    const espyCookMerged* merged = context;
    const espyiTable* table = merged->table;
    uint32_t set = espyCookSet_FindRoot(merged->parents, table->cells[cell]);
    memcpy(row, table->sets + (size_t)set * table->words, (size_t)table->words * sizeof *row);
}

espyResult espyiCookMerges_Apply(const espyiCookMerges* merges, uint32_t count, const espyHooks* hooks,
                                 espyiTable* table)
{
    if (count == 0)
    {
        return espyResult_Ok;
    }
    uint32_t* parents = espyiAlloc(hooks, table->setCount, sizeof *parents);
    if (!parents)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < table->setCount; ++i)
    {
        parents[i] = i;
    }
    // The table's own sets take the unions: it is about to be replaced.
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyiCookMerge* merge = &merges->items[i];
        for (uint32_t j = 0; j < table->words; ++j)
        {
            table->sets[(size_t)merge->keep * table->words + j] |= table->sets[(size_t)merge->gone * table->words + j];
        }
        parents[merge->gone] = merge->keep;
    }
    espyCookMerged merged = {.table = table, .parents = parents};
    espyiTable made;
    espyResult result = espyiTable_FromRows(table->cellCount, table->width, espyCookMerged_Fill, &merged, hooks, &made);
    if (result == espyResult_Ok)
    {
        espyiTable_Free(table, hooks);
        *table = made;
    }
    espyiFree(hooks, parents);
    return result;
}
