// SPDX-License-Identifier: MIT
// Which proxies meet a group of receivers: near ones one by one, the rest as nodes of the tree.
//
// A capsule is evaluated exactly where its bound exceeds the detail; a node stands for all that is in it where none of
// its capsules can exceed the detail and it is small against its distance (Barnes and Hut). Nothing is dropped but what
// lies below every receiver's horizon.
//
// Based on: J. Barnes, P. Hut, A hierarchical O(N log N) force-calculation algorithm, Nature 324, 1986.
#include "proxy/lanes.h"
#include "proxy/proxy_internal.h"

/// Largest extent of a node over its distance. Wide, since each node keeps its projected area by direction and its
/// extent across the horizon: the sum over a crowd of 20,000 stays within 0.01 (docs/proxy.md).
#define ESPY_OPENING 1.5f
#define ESPY_STACK 64u

typedef struct espyGather
{
    const espyiProxyGather* input;
    const espyiProxyReceivers* receivers;
    espyiProxyLists* lists;
    espyVec3 middle;
    float lift; ///< How much higher than from the middle a point can be seen from another receiver.
} espyGather;

static float espyGather_Gap(float lowA, float highA, float lowB, float highB)
{
    return espyR_Max(espyR_Max(lowA - highB, lowB - highA), 0.0f);
}

float espyiProxy_BoxDistance(const espyBox* a, const espyBox* b)
{
    float x = espyGather_Gap(a->min.x, a->max.x, b->min.x, b->max.x);
    float y = espyGather_Gap(a->min.y, a->max.y, b->min.y, b->max.y);
    float z = espyGather_Gap(a->min.z, a->max.z, b->min.z, b->max.z);
    return espyR_Sqrt(x * x + y * y + z * z);
}

/// Largest height of the vector c above a horizon, over the normals of the cone.
static float espyGather_Height(const espyiProxyReceivers* r, float x, float y, float z)
{
    float length2 = x * x + y * y + z * z, length = espyR_Sqrt(length2);
    float along = x * r->axis.x + y * r->axis.y + z * r->axis.z;
    if (r->cosine <= -1.0f || along >= length * r->cosine)
    {
        return length;
    }
    return along * r->cosine + espyR_Sqrt(espyR_Max(length2 - along * along, 0.0f)) * r->sine;
}

/// Largest height of any point of the box above any receiver's horizon.
static float espyGather_BoxHeight(const espyGather* g, const espyBox* box)
{
    const espyiProxyReceivers* r = g->receivers;
    float cx = 0.5f * (box->min.x + box->max.x), cy = 0.5f * (box->min.y + box->max.y);
    float cz = 0.5f * (box->min.z + box->max.z);
    float hx = box->max.x - cx, hy = box->max.y - cy, hz = box->max.z - cz;
    float reach = espyR_Abs(r->axis.x) * hx + espyR_Abs(r->axis.y) * hy + espyR_Abs(r->axis.z) * hz +
                  r->sine * espyR_Sqrt(hx * hx + hy * hy + hz * hz);
    if (r->cosine <= -1.0f)
    {
        reach = espyR_Sqrt(hx * hx + hy * hy + hz * hz);
    }
    return espyGather_Height(r, cx - g->middle.x, cy - g->middle.y, cz - g->middle.z) + reach + g->lift;
}

/// Upper bound of one entry's occlusion over the receivers; below 0 where all of it is under every horizon.
static float espyGather_Bound(const espyGather* g, const espyProxyEntry* e, float distance, float radius, float size)
{
    const espyCapsulePack* k = &e->pack;
    float x = k->ax - g->middle.x, y = k->ay - g->middle.y, z = k->az - g->middle.z;
    float height = espyGather_Height(g->receivers, x, y, z) + k->radiusA;
    x += k->length * k->ux;
    y += k->length * k->uy;
    z += k->length * k->uz;
    height = espyR_Max(height, espyGather_Height(g->receivers, x, y, z) + k->radiusB) + g->lift;
    if (height <= 0.0f)
    {
        return -1.0f;
    }
    if (distance <= radius * 1.001f)
    {
        return e->strength;
    }
    float sine = radius / distance;
    float bound = espyR_Min(sine * e->strength, size / (distance * distance));
    float lean = (8.0f / 3.14159265f) / (1.0f + espyR_Sqrt((1.0f - sine) * (1.0f + sine)));
    return bound * espyR_Min(lean * height / (distance - radius), 1.0f);
}

static void espyGather_AddSource(espyGather* g, uint32_t node)
{
    espyiProxyLists* l = g->lists;
    if (l->sourceCount < ESPYI_PROXY_SOURCES)
    {
        l->nodes[l->sourceCount] = node;
        l->sources[l->sourceCount++] = g->input->tree->nodes[node].source;
    }
}

/// Adds to the exact list; where that is full the entry with the smallest bound becomes a source. The plain loop has
/// room for all of its entries.
static void espyGather_AddExact(espyGather* g, uint32_t index, uint32_t leaf, float bound)
{
    espyiProxyLists* l = g->lists;
    uint32_t room = g->input->tree ? g->input->maxExact : ESPYI_PROXY_EXACT, at = l->exactCount;
    if (l->exactCount == room)
    {
        ++l->overflows;
        at = 0;
        for (uint32_t i = 1; i < l->exactCount; ++i)
        {
            at = l->bounds[i] < l->bounds[at] ? i : at;
        }
        bool larger = bound > l->bounds[at];
        espyGather_AddSource(g, larger ? l->leaves[at] : leaf);
        if (!larger)
        {
            return;
        }
    }
    else
    {
        ++l->exactCount;
    }
    l->exact[at] = index;
    l->leaves[at] = leaf;
    l->bounds[at] = bound;
}

static void espyGather_Leaf(espyGather* g, uint32_t leaf, float distance)
{
    const espyiProxyTree* tree = g->input->tree;
    const espyProxyNode* node = &tree->nodes[leaf];
    uint32_t index = tree->sorted[leaf];
    float bound = espyGather_Bound(g, &g->input->entries[index], distance, node->radius, node->size);
    if (bound > g->input->detail)
    {
        espyGather_AddExact(g, index, leaf, bound);
    }
    else if (bound > 0.0f)
    {
        espyGather_AddSource(g, leaf);
    }
}

static void espyGather_Loop(espyGather* g)
{
    for (uint32_t i = 0; i < g->input->count; ++i)
    {
        const espyProxyEntry* e = &g->input->entries[i];
        espyProxyNode node = espyiProxy_MakeLeaf(e);
        float distance = espyiProxy_BoxDistance(&node.box, &g->receivers->box);
        float bound = espyGather_Bound(g, e, distance, node.radius, node.size);
        if (bound >= 0.0f)
        {
            espyGather_AddExact(g, i, 0, bound);
        }
    }
}

static void espyGather_Tree(espyGather* g)
{
    const espyiProxyTree* tree = g->input->tree;
    uint32_t stack[ESPY_STACK], levels[ESPY_STACK], top = 0;
    if (tree->levels == 0)
    {
        return;
    }
    stack[top] = 0;
    levels[top++] = tree->levels - 1u;
    while (top > 0)
    {
        uint32_t at = stack[--top], level = levels[top];
        const espyProxyNode* node = &tree->nodes[tree->levelStart[level] + at];
        if (espyGather_BoxHeight(g, &node->box) + node->radius <= 0.0f)
        {
            continue;
        }
        float distance = espyiProxy_BoxDistance(&node->box, &g->receivers->box);
        if (level == 0)
        {
            espyGather_Leaf(g, at, distance);
            continue;
        }
        float wide = espyR_Max(node->box.max.x - node->box.min.x,
                               espyR_Max(node->box.max.y - node->box.min.y, node->box.max.z - node->box.min.z));
        bool faint = distance > node->radius && node->size <= g->input->detail * distance * distance;
        // Room must be left for what is on the stack: the lists get coarser before they get full.
        bool full = g->lists->sourceCount + top + ESPYI_PROXY_BRANCH + 16u > ESPYI_PROXY_SOURCES - ESPY_STACK;
        if (faint && (full || wide <= ESPY_OPENING * distance))
        {
            g->lists->overflows += full && wide > ESPY_OPENING * distance ? 1u : 0u;
            espyGather_AddSource(g, tree->levelStart[level] + at);
            continue;
        }
        uint32_t first = at * ESPYI_PROXY_BRANCH, left = tree->levelCount[level - 1u] - first;
        uint32_t children = left < ESPYI_PROXY_BRANCH ? left : ESPYI_PROXY_BRANCH;
        for (uint32_t i = children; i > 0; --i)
        {
            stack[top] = first + i - 1u;
            levels[top++] = level - 1u;
        }
    }
}

void espyiProxy_Gather(const espyiProxyGather* gather, const espyiProxyReceivers* receivers, espyiProxyLists* lists)
{
    espyGather g = {.input = gather, .receivers = receivers, .lists = lists};
    const espyBox* box = &receivers->box;
    g.middle = (espyVec3){0.5f * (box->min.x + box->max.x), 0.5f * (box->min.y + box->max.y),
                          0.5f * (box->min.z + box->max.z)};
    float hx = box->max.x - g.middle.x, hy = box->max.y - g.middle.y, hz = box->max.z - g.middle.z;
    float half = espyR_Sqrt(hx * hx + hy * hy + hz * hz);
    g.lift = receivers->cosine <= -1.0f ? half
                                        : espyR_Abs(receivers->axis.x) * hx + espyR_Abs(receivers->axis.y) * hy +
                                              espyR_Abs(receivers->axis.z) * hz + receivers->sine * half;
    // Rounding must not hide what just touches the horizon.
    g.lift += 1e-5f * (half + espyR_Abs(g.middle.x) + espyR_Abs(g.middle.y) + espyR_Abs(g.middle.z));
    lists->exactCount = lists->sourceCount = lists->overflows = 0;
    if (gather->tree)
    {
        espyGather_Tree(&g);
    }
    else
    {
        espyGather_Loop(&g);
    }
    // Products are taken in the order of the entries. Shell's sort: the lists are short and almost in order.
    for (uint32_t gap = lists->exactCount / 2u; gap > 0; gap /= 2u)
    {
        for (uint32_t i = gap; i < lists->exactCount; ++i)
        {
            uint32_t value = lists->exact[i], leaf = lists->leaves[i], at = i;
            float bound = lists->bounds[i];
            while (at >= gap && lists->exact[at - gap] > value)
            {
                lists->exact[at] = lists->exact[at - gap];
                lists->leaves[at] = lists->leaves[at - gap];
                lists->bounds[at] = lists->bounds[at - gap];
                at -= gap;
            }
            lists->exact[at] = value;
            lists->leaves[at] = leaf;
            lists->bounds[at] = bound;
        }
    }
}
