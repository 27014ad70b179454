// SPDX-License-Identifier: MIT
// The tree over the objects: insertion by least area, refits, rebuilding, and the caller's own hierarchy.
//
// Nodes hold lists of children, so that an octree of the caller and the system's own binary tree are walked alike. The
// own tree is kept balanced by rotations. `changed` and `joined` say from which tick on evidence about a node is about
// what is below it now (query_internal.h).
//
// Based on: E. Catto, "Dynamic Bounding Volume Hierarchies", GDC 2019 (insertion by surface area, rotations);
//   I. Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007 (binned building).
#include "query/query_internal.h"

#define ESPY_TREE_BINS 8u
/// Ranges that wait while the tree is built: below this depth they are halved, which ends within 32 levels more.
#define ESPY_TREE_STACK 128u
#define ESPY_TREE_HALVE 64u

/// Half of the area, which is all that is compared. An empty box has none.
static float espyBox_HalfArea(const espyBox* box)
{
    float x = box->max.x - box->min.x, y = box->max.y - box->min.y, z = box->max.z - box->min.z;
    return x >= 0.0f && y >= 0.0f && z >= 0.0f ? x * y + y * z + z * x : 0.0f;
}

static float espyTree_UnionArea(const espyBox* a, const espyBox* b)
{
    espyBox both = espyBox_Union(*a, *b);
    return espyBox_HalfArea(&both);
}

static bool espyBox_IsSame(const espyBox* a, const espyBox* b)
{
    return a->min.x == b->min.x && a->min.y == b->min.y && a->min.z == b->min.z && a->max.x == b->max.x &&
           a->max.y == b->max.y && a->max.z == b->max.z;
}

// --- nodes and lists

uint32_t espyiQueryTree_NewNode(espyQuerySystem* system, uint32_t object)
{
    uint32_t index = system->freeNode;
    if (index != ESPYI_QUERY_NONE)
    {
        system->freeNode = system->nodes[index].next;
    }
    else
    {
        index = system->nodeSlots++;
    }
    uint32_t now = espyiQuery_ChangeTick(system);
    system->nodes[index] = (espyiQueryNode){
        .box = espyBox_Empty(),
        .parent = ESPYI_QUERY_NONE,
        .child = ESPYI_QUERY_NONE,
        .next = ESPYI_QUERY_NONE,
        .previous = ESPYI_QUERY_NONE,
        .object = object,
        .objects = object != ESPYI_QUERY_NONE ? 1u : 0u,
        .stamp = ++system->stamp,
        .changed = now,
        .joined = now,
    };
    return index;
}

static void espyTree_FreeNode(espyQuerySystem* system, uint32_t index)
{
    // Answers on their way name the stamp.
    system->nodes[index].stamp = ++system->stamp;
    system->nodes[index].child = ESPYI_QUERY_NONE;
    system->nodes[index].object = ESPYI_QUERY_NONE;
    system->nodes[index].objects = 0;
    system->nodes[index].next = system->freeNode;
    system->freeNode = index;
}

void espyiQueryTree_Link(espyQuerySystem* system, uint32_t parent, uint32_t node)
{
    espyiQueryNode* nodes = system->nodes;
    uint32_t first = nodes[parent].child;
    nodes[node].parent = parent;
    nodes[node].previous = ESPYI_QUERY_NONE;
    nodes[node].next = first;
    if (first != ESPYI_QUERY_NONE)
    {
        nodes[first].previous = node;
    }
    nodes[parent].child = node;
}

static void espyTree_Unlink(espyQuerySystem* system, uint32_t node)
{
    espyiQueryNode* nodes = system->nodes;
    uint32_t previous = nodes[node].previous, next = nodes[node].next;
    if (previous != ESPYI_QUERY_NONE)
    {
        nodes[previous].next = next;
    }
    else
    {
        nodes[nodes[node].parent].child = next;
    }
    if (next != ESPYI_QUERY_NONE)
    {
        nodes[next].previous = previous;
    }
    nodes[node].parent = nodes[node].next = nodes[node].previous = ESPYI_QUERY_NONE;
}

/// Puts `with` in the place of `node` among the children of its parent.
static void espyTree_Replace(espyQuerySystem* system, uint32_t node, uint32_t with)
{
    uint32_t parent = system->nodes[node].parent;
    espyTree_Unlink(system, node);
    espyiQueryTree_Link(system, parent, with);
}

/// Sums up the children of a node. True where its box, count or cost changed.
static bool espyTree_Sum(espyQuerySystem* system, uint32_t index)
{
    espyiQueryNode* node = &system->nodes[index];
    espyBox box = espyBox_Empty();
    float cost = 0.0f, speed = 0.0f;
    uint32_t objects = 0, height = 0, moved = 0;
    for (uint32_t c = node->child; c != ESPYI_QUERY_NONE; c = system->nodes[c].next)
    {
        const espyiQueryNode* child = &system->nodes[c];
        box = espyBox_Union(box, child->box);
        cost += child->cost;
        objects += child->objects;
        height = child->height >= height ? child->height + 1u : height;
        speed = espyiQuery_Max(speed, espyiQuery_Speed(system, child));
        moved = espyiTick_Later(moved, child->moved);
    }
    bool same = espyBox_IsSame(&box, &node->box) && objects == node->objects && cost == node->cost &&
                height == node->height && speed == node->speed && moved == node->moved;
    node->box = box;
    node->cost = cost;
    node->objects = objects;
    node->height = height;
    node->speed = speed;
    node->moved = moved;
    return !same;
}

// --- balance

/// Turns the higher child of a node up into its place where the children differ by two levels, and returns the node
/// that is there then. The node and its child trade roles; a grandchild moves over.
static uint32_t espyTree_Balance(espyQuerySystem* system, uint32_t a)
{
    espyiQueryNode* nodes = system->nodes;
    uint32_t low = nodes[a].child;
    if (low == ESPYI_QUERY_NONE || nodes[low].next == ESPYI_QUERY_NONE)
    {
        return a;
    }
    uint32_t high = nodes[low].next;
    if (nodes[low].height > nodes[high].height)
    {
        uint32_t swap = low;
        low = high;
        high = swap;
    }
    if (nodes[high].height <= nodes[low].height + 1u)
    {
        return a;
    }
    // a = (low, high = (near, far)) becomes high = (a = (low, near), far), near being the lower one.
    uint32_t near = nodes[high].child, far = nodes[near].next;
    near = nodes[near].height > nodes[far].height ? far : near;
    uint32_t now = espyiQuery_ChangeTick(system);
    uint32_t place = nodes[a].joined;
    espyTree_Unlink(system, high);
    espyTree_Replace(system, a, high);
    espyTree_Unlink(system, near);
    espyiQueryTree_Link(system, a, near);
    espyiQueryTree_Link(system, high, a);
    // What is above sees the same objects as before, and `near` was below `a` all the while. Only `a` is new where it
    // is.
    nodes[near].joined = espyiTick_Later(nodes[near].joined, nodes[high].joined);
    nodes[high].joined = place;
    nodes[a].joined = now;
    nodes[a].changed = nodes[high].changed = now;
    espyTree_Sum(system, a);
    espyTree_Sum(system, high);
    if (system->top == a)
    {
        system->top = high;
    }
    return high;
}

/// Sums, balances and, where `changed`, voids evidence from a node up to the root.
static void espyTree_Climb(espyQuerySystem* system, uint32_t node, bool changed, bool balance)
{
    uint32_t now = espyiQuery_ChangeTick(system);
    while (node != ESPYI_QUERY_NONE)
    {
        bool own = node >= ESPYI_QUERY_FIXED_NODES + system->callerNodes;
        bool differs = espyTree_Sum(system, node);
        if (changed)
        {
            system->nodes[node].changed = now;
        }
        if (balance && own)
        {
            uint32_t there = espyTree_Balance(system, node);
            differs = differs || there != node;
            node = there;
        }
        if (!differs && !changed)
        {
            return;
        }
        node = system->nodes[node].parent;
    }
}

// --- insertion and removal

/// The node of the own tree beside which a box adds least area.
static uint32_t espyTree_FindSibling(const espyQuerySystem* system, const espyBox* box)
{
    const espyiQueryNode* nodes = system->nodes;
    uint32_t at = system->top;
    while (nodes[at].child != ESPYI_QUERY_NONE)
    {
        float area = espyBox_HalfArea(&nodes[at].box);
        float both = espyTree_UnionArea(&nodes[at].box, box);
        // A new node here, and what going further down adds at the least.
        float here = 2.0f * both, inherited = 2.0f * (both - area);
        uint32_t best = ESPYI_QUERY_NONE;
        float bestCost = here;
        for (uint32_t c = nodes[at].child; c != ESPYI_QUERY_NONE; c = nodes[c].next)
        {
            float grown = espyTree_UnionArea(&nodes[c].box, box);
            bool leaf = nodes[c].child == ESPYI_QUERY_NONE;
            float cost = inherited + (leaf ? grown : grown - espyBox_HalfArea(&nodes[c].box));
            if (cost < bestCost)
            {
                bestCost = cost;
                best = c;
            }
        }
        if (best == ESPYI_QUERY_NONE)
        {
            return at;
        }
        at = best;
    }
    return at;
}

void espyiQueryTree_Insert(espyQuerySystem* system, uint32_t leaf)
{
    espyiQueryNode* nodes = system->nodes;
    uint32_t now = espyiQuery_ChangeTick(system);
    uint32_t wanted = system->objects[nodes[leaf].object].treeNode;
    nodes[leaf].changed = nodes[leaf].joined = now;
    if (!espyBox_IsValid(nodes[leaf].box))
    {
        espyiQueryTree_Link(system, ESPYI_QUERY_LOOSE, leaf);
        return;
    }
    if (wanted != ESPY_QUERY_NO_NODE)
    {
        uint32_t parent = ESPYI_QUERY_FIXED_NODES + wanted;
        espyiQueryTree_Link(system, parent, leaf);
        espyTree_Climb(system, parent, true, false);
        return;
    }
    if (system->top == ESPYI_QUERY_NONE)
    {
        system->top = leaf;
        espyiQueryTree_Link(system, ESPYI_QUERY_ROOT, leaf);
        espyTree_Climb(system, ESPYI_QUERY_ROOT, true, false);
        return;
    }
    uint32_t sibling = espyTree_FindSibling(system, &nodes[leaf].box);
    uint32_t parent = espyiQueryTree_NewNode(system, ESPYI_QUERY_NONE);
    // It takes the place of the sibling, which goes on being below what was above it.
    nodes[parent].joined = nodes[sibling].joined;
    espyTree_Replace(system, sibling, parent);
    espyiQueryTree_Link(system, parent, sibling);
    espyiQueryTree_Link(system, parent, leaf);
    if (system->top == sibling)
    {
        system->top = parent;
    }
    espyTree_Climb(system, parent, true, true);
}

void espyiQueryTree_Remove(espyQuerySystem* system, uint32_t leaf)
{
    espyiQueryNode* nodes = system->nodes;
    uint32_t parent = nodes[leaf].parent;
    espyTree_Unlink(system, leaf);
    if (parent == ESPYI_QUERY_LOOSE)
    {
        return;
    }
    if (parent < ESPYI_QUERY_FIXED_NODES + system->callerNodes)
    {
        if (system->top == leaf)
        {
            system->top = ESPYI_QUERY_NONE;
        }
        espyTree_Climb(system, parent, false, false);
        return;
    }
    // Its sibling takes the place of their parent.
    uint32_t sibling = nodes[parent].child, above = nodes[parent].parent;
    nodes[sibling].joined = espyiTick_Later(nodes[sibling].joined, nodes[parent].joined);
    espyTree_Unlink(system, sibling);
    espyTree_Replace(system, parent, sibling);
    if (system->top == parent)
    {
        system->top = sibling;
    }
    espyTree_FreeNode(system, parent);
    espyTree_Climb(system, above, false, true);
}

void espyiQueryTree_Refit(espyQuerySystem* system, uint32_t leaf)
{
    espyTree_Climb(system, system->nodes[leaf].parent, false, false);
}

// --- building anew

static float espyTree_Centre(const espyBox* box, uint32_t axis)
{
    return axis == 0   ? box->min.x * 0.5f + box->max.x * 0.5f
           : axis == 1 ? box->min.y * 0.5f + box->max.y * 0.5f
                       : box->min.z * 0.5f + box->max.z * 0.5f;
}

static uint32_t espyTree_Bin(float centre, float low, float scale)
{
    float at = (centre - low) * scale;
    return at >= (float)(ESPY_TREE_BINS - 1u) ? ESPY_TREE_BINS - 1u : at > 0.0f ? (uint32_t)at : 0u;
}

typedef struct espyTreeRange
{
    uint32_t first, count;
    uint32_t parent;
    uint32_t depth;
} espyTreeRange;

/// Cuts a range in two by binned area along the longest axis of the centres, or in halves. Returns how many are left.
static uint32_t espyTree_Cut(espyQuerySystem* system, const espyTreeRange* range)
{
    const espyiQueryNode* nodes = system->nodes;
    uint32_t* leaves = system->sorted + range->first;
    float low[3] = {0}, high[3] = {0};
    for (uint32_t i = 0; i < range->count; ++i)
    {
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            float centre = espyTree_Centre(&nodes[leaves[i]].box, axis);
            low[axis] = i == 0 || centre < low[axis] ? centre : low[axis];
            high[axis] = i == 0 || centre > high[axis] ? centre : high[axis];
        }
    }
    uint32_t axis = high[1] - low[1] > high[0] - low[0] ? 1u : 0u;
    axis = high[2] - low[2] > high[axis] - low[axis] ? 2u : axis;
    float extent = high[axis] - low[axis];
    float scale = (float)ESPY_TREE_BINS / extent;
    if (range->depth >= ESPY_TREE_HALVE || !(extent > 0.0f) || !(scale <= 1e30f))
    {
        return range->count / 2u;
    }
    espyBox boxes[ESPY_TREE_BINS];
    uint32_t counts[ESPY_TREE_BINS] = {0};
    for (uint32_t b = 0; b < ESPY_TREE_BINS; ++b)
    {
        boxes[b] = espyBox_Empty();
    }
    for (uint32_t i = 0; i < range->count; ++i)
    {
        uint32_t bin = espyTree_Bin(espyTree_Centre(&nodes[leaves[i]].box, axis), low[axis], scale);
        boxes[bin] = espyBox_Union(boxes[bin], nodes[leaves[i]].box);
        ++counts[bin];
    }
    float rightCost[ESPY_TREE_BINS];
    espyBox right = espyBox_Empty();
    uint32_t rightCount = 0;
    for (uint32_t b = ESPY_TREE_BINS; b-- > 1u;)
    {
        right = espyBox_Union(right, boxes[b]);
        rightCount += counts[b];
        rightCost[b] = espyBox_HalfArea(&right) * (float)rightCount;
    }
    espyBox left = espyBox_Empty();
    uint32_t leftCount = 0, best = 0;
    float bestCost = 0.0f;
    for (uint32_t b = 0; b + 1u < ESPY_TREE_BINS; ++b)
    {
        left = espyBox_Union(left, boxes[b]);
        leftCount += counts[b];
        float cost = espyBox_HalfArea(&left) * (float)leftCount + rightCost[b + 1u];
        if (leftCount > 0 && leftCount < range->count && (best == 0 || cost < bestCost))
        {
            bestCost = cost;
            best = b + 1u;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < range->count; ++i)
    {
        if (espyTree_Bin(espyTree_Centre(&nodes[leaves[i]].box, axis), low[axis], scale) < best)
        {
            uint32_t swap = leaves[kept];
            leaves[kept++] = leaves[i];
            leaves[i] = swap;
        }
    }
    return kept > 0 && kept < range->count ? kept : range->count / 2u;
}

/// Takes the own tree apart; its leaves are then in `sorted`. Returns how many.
static uint32_t espyTree_TakeApart(espyQuerySystem* system)
{
    uint32_t count = 0;
    espyTree_Unlink(system, system->top);
    uint32_t at = system->top;
    while (at != ESPYI_QUERY_NONE)
    {
        uint32_t child = system->nodes[at].child;
        if (child != ESPYI_QUERY_NONE)
        {
            at = child;
            continue;
        }
        uint32_t parent = system->nodes[at].parent;
        if (system->nodes[at].object != ESPYI_QUERY_NONE)
        {
            system->sorted[count++] = at;
        }
        if (parent != ESPYI_QUERY_NONE)
        {
            espyTree_Unlink(system, at);
        }
        if (system->nodes[at].object == ESPYI_QUERY_NONE)
        {
            espyTree_FreeNode(system, at);
        }
        at = parent;
    }
    system->top = ESPYI_QUERY_NONE;
    return count;
}

void espyQuerySystem_Rebuild(espyQuerySystem* system)
{
    if (!system || system->top == ESPYI_QUERY_NONE)
    {
        return;
    }
    uint32_t now = espyiQuery_ChangeTick(system);
    espyTreeRange stack[ESPY_TREE_STACK];
    uint32_t waiting = 0;
    stack[waiting++] = (espyTreeRange){0, espyTree_TakeApart(system), ESPYI_QUERY_ROOT, 0};
    while (waiting > 0)
    {
        espyTreeRange range = stack[--waiting];
        uint32_t node =
            range.count == 1u ? system->sorted[range.first] : espyiQueryTree_NewNode(system, ESPYI_QUERY_NONE);
        espyiQueryTree_Link(system, range.parent, node);
        system->nodes[node].joined = now;
        if (range.parent == ESPYI_QUERY_ROOT)
        {
            system->top = node;
        }
        if (range.count == 1u)
        {
            continue;
        }
        uint32_t left = espyTree_Cut(system, &range);
        stack[waiting++] = (espyTreeRange){range.first + left, range.count - left, node, range.depth + 1u};
        stack[waiting++] = (espyTreeRange){range.first, left, node, range.depth + 1u};
    }
    // From the leaves up, each node after its children.
    uint32_t at = system->top;
    while (at != ESPYI_QUERY_ROOT)
    {
        while (system->nodes[at].child != ESPYI_QUERY_NONE && system->nodes[at].objects == 0)
        {
            uint32_t child = system->nodes[at].child;
            while (child != ESPYI_QUERY_NONE && system->nodes[child].objects != 0)
            {
                child = system->nodes[child].next;
            }
            if (child == ESPYI_QUERY_NONE)
            {
                espyTree_Sum(system, at);
                break;
            }
            at = child;
        }
        at = system->nodes[at].parent;
    }
    espyTree_Climb(system, ESPYI_QUERY_ROOT, true, false);
}
