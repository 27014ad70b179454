// SPDX-License-Identifier: MIT
// What a view sees of a set: capsules relative to the eye, joints of groups, and the tree over them.
#include "proxy/lanes.h"
#include "proxy/proxy_internal.h"

#define ESPY_PI 3.14159265f

static espyVec3 espyPack_Sub(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static float espyPack_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// --- joints

/// True where an end (of the limb at place `order`) lies within another limb that already counts for the ball there: a
/// thicker one, or an earlier one.
static bool espyPack_IsJoint(espyVec3 end, float radius, uint32_t order, const espyProxyDef* other, uint32_t otherOrder)
{
    espyVec3 axis = espyPack_Sub(other->b, other->a), to = espyPack_Sub(end, other->a);
    float length2 = espyPack_Dot(axis, axis);
    float s = length2 > 0.0f ? espyPack_Dot(to, axis) / length2 : 0.0f;
    s = espyR_Min(espyR_Max(s, 0.0f), 1.0f);
    float there = other->radius + (other->radiusB - other->radius) * s;
    espyVec3 apart = {to.x - s * axis.x, to.y - s * axis.y, to.z - s * axis.z};
    bool keeps = there > radius || (there == radius && otherOrder < order);
    return keeps && espyPack_Dot(apart, apart) <= there * there;
}

static uint32_t espyPack_JointFlags(const espyProxySet* set, const uint32_t* order, uint32_t first, uint32_t end,
                                    uint32_t i)
{
    const espyProxyDef* def = &set->records[order[i]].def;
    bool ball = def->a.x == def->b.x && def->a.y == def->b.y && def->a.z == def->b.z;
    uint32_t flags = 0;
    for (uint32_t j = first; j < end; ++j)
    {
        const espyProxyDef* other = &set->records[order[j]].def;
        if (j == i)
        {
            continue;
        }
        flags |= espyPack_IsJoint(def->a, def->radius, i, other, j) ? espyProxyFlag_JointA : 0u;
        flags |= !ball && espyPack_IsJoint(def->b, def->radiusB, i, other, j) ? espyProxyFlag_JointB : 0u;
    }
    return flags;
}

// --- entries

static uint32_t espyPack_AddRecord(const espyiProxyRecord* record, uint32_t index, uint32_t joints, espyVec3 eye,
                                   espyProxyEntry* entries)
{
    const espyProxyDef* def = &record->def;
    espyCapsule whole = {espyPack_Sub(def->a, eye), espyPack_Sub(def->b, eye), def->radius, def->radiusB};
    espyVec3 axis = espyPack_Sub(def->b, def->a), zero = {0.0f, 0.0f, 0.0f};
    float grow = def->radiusB - def->radius;
    for (uint32_t i = 0; i < record->pieces; ++i)
    {
        espyCapsule piece = whole;
        if (record->pieces > 1)
        {
            float s0 = (float)i / (float)record->pieces, s1 = (float)(i + 1u) / (float)record->pieces;
            piece.a = (espyVec3){whole.a.x + s0 * axis.x, whole.a.y + s0 * axis.y, whole.a.z + s0 * axis.z};
            piece.b = (espyVec3){whole.a.x + s1 * axis.x, whole.a.y + s1 * axis.y, whole.a.z + s1 * axis.z};
            piece.radiusA = def->radius + s0 * grow;
            piece.radiusB = def->radius + s1 * grow;
        }
        espyProxyEntry* e = &entries[i];
        *e = (espyProxyEntry){.pack = espyiCapsule_Pack(&piece, zero),
                              .strength = def->strength,
                              .selfStrength = def->selfStrength,
                              .owner = (float)def->owner,
                              .record = index};
        e->flags |= e->pack.length == 0.0f ? espyProxyFlag_Ball : 0u;
        e->flags |= e->pack.taper != 0.0f ? espyProxyFlag_Tapered : 0u;
        e->flags |= i > 0 ? espyProxyFlag_Piece : 0u;
        // Long capsules are no limbs: joints are for what is one piece.
        e->flags |= record->pieces == 1 ? joints : 0u;
    }
    return record->pieces;
}

uint32_t espyiProxy_Pack(espyProxySet* set, uint32_t mask, espyVec3 eye, espyProxyEntry* entries)
{
    const uint32_t* order = espyiProxySet_Order(set);
    uint32_t count = 0, groupEnd = 0, groupFirst = 0;
    for (uint32_t i = 0; i < set->count; ++i)
    {
        const espyiProxyRecord* record = &set->records[order[i]];
        if (i >= groupEnd)
        {
            groupFirst = i;
            groupEnd = i + 1u;
            while (record->def.group != 0 && groupEnd < set->count &&
                   set->records[order[groupEnd]].def.group == record->def.group)
            {
                ++groupEnd;
            }
        }
        if ((record->def.viewMask & mask) == 0 || record->def.strength == 0.0f)
        {
            continue;
        }
        uint32_t members = groupEnd - groupFirst;
        uint32_t joints = members > 1u && members <= ESPY_PROXY_GROUP_LIMIT
                              ? espyPack_JointFlags(set, order, groupFirst, groupEnd, i)
                              : 0u;
        count += espyPack_AddRecord(record, i, joints, eye, entries + count);
    }
    return count;
}

// --- tree

static espyProxySource espyTree_MakeSource(const espyProxyEntry* entry)
{
    const espyCapsulePack* k = &entry->pack;
    float half = 0.5f * k->length, r = 0.5f * (k->radiusA + k->radiusB);
    float caps = 0.5f * (k->radiusA * k->radiusA + k->radiusB * k->radiusB);
    caps -= entry->flags & espyProxyFlag_JointA ? k->radiusA * k->radiusA : 0.0f;
    caps -= entry->flags & (espyProxyFlag_JointB | espyProxyFlag_Piece) ? k->radiusB * k->radiusB : 0.0f;
    float side = 2.0f / ESPY_PI * r * k->length;
    // sqrt(1 - c^2) for the cosine c between axis and direction, as 1 - 0.685 c^2: exact from the side, mean error 0.
    float t = 0.685f * side * entry->strength;
    espyProxySource s = {.x = k->ax + half * k->ux,
                         .y = k->ay + half * k->uy,
                         .z = k->az + half * k->uz,
                         .area = espyR_Max(caps + side, 0.0f) * entry->strength,
                         .txx = t * k->ux * k->ux,
                         .tyy = t * k->uy * k->uy,
                         .tzz = t * k->uz * k->uz,
                         .txy = 2.0f * t * k->ux * k->uy,
                         .txz = 2.0f * t * k->ux * k->uz,
                         .tyz = 2.0f * t * k->uy * k->uz,
                         .wide = {r + 0.25f * k->length * espyR_Abs(k->ux), r + 0.25f * k->length * espyR_Abs(k->uy),
                                  r + 0.25f * k->length * espyR_Abs(k->uz)}};
    return s;
}

espyProxyNode espyiProxy_MakeLeaf(const espyProxyEntry* entry)
{
    const espyCapsulePack* k = &entry->pack;
    espyVec3 a = {k->ax, k->ay, k->az};
    espyVec3 b = {k->ax + k->length * k->ux, k->ay + k->length * k->uy, k->az + k->length * k->uz};
    espyProxyNode node = {.box = espyBox_AddPoint(espyBox_AddPoint(espyBox_Empty(), a), b),
                          .radius = espyR_Max(k->radiusA, k->radiusB)};
    node.size = (node.radius * node.radius + 2.0f / ESPY_PI * node.radius * k->length) * entry->strength;
    node.source = espyTree_MakeSource(entry);
    return node;
}

/// Sums up to four children; the point is their mean by area, the spread their deviation from it and their own.
static espyProxyNode espyTree_Join(const espyProxyNode* children, uint32_t count)
{
    espyProxyNode node = children[0];
    espyProxySource* s = &node.source;
    *s = (espyProxySource){0};
    float weight = 0.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyProxySource* c = &children[i].source;
        node.box = espyBox_Union(node.box, children[i].box);
        node.radius = espyR_Max(node.radius, children[i].radius);
        node.size = espyR_Max(node.size, children[i].size);
        // Of no area (joints may take all of it) yet somewhere.
        float w = c->area + 1e-30f;
        weight += w;
        s->x += w * c->x;
        s->y += w * c->y;
        s->z += w * c->z;
        s->area += c->area;
        s->txx += c->txx;
        s->tyy += c->tyy;
        s->tzz += c->tzz;
        s->txy += c->txy;
        s->txz += c->txz;
        s->tyz += c->tyz;
    }
    s->x /= weight;
    s->y /= weight;
    s->z /= weight;
    const float middle[3] = {s->x, s->y, s->z};
    for (uint32_t axis = 0; axis < 3u; ++axis)
    {
        float variance = 0.0f;
        for (uint32_t i = 0; i < count; ++i)
        {
            const espyProxySource* c = &children[i].source;
            float away = (axis == 0 ? c->x : axis == 1u ? c->y : c->z) - middle[axis];
            variance += (c->area + 1e-30f) * (away * away + c->wide[axis] * c->wide[axis]);
        }
        s->wide[axis] = espyR_Sqrt(variance / weight);
    }
    return node;
}

uint32_t espyiProxyTree_CountNodes(uint32_t entries)
{
    uint32_t total = entries;
    while (entries > 1u)
    {
        entries = (entries + ESPYI_PROXY_BRANCH - 1u) / ESPYI_PROXY_BRANCH;
        total += entries;
    }
    return total;
}

static uint32_t espyTree_Spread10(float v)
{
    uint32_t x = (uint32_t)(espyR_Min(espyR_Max(v, 0.0f), 1.0f) * 1023.0f);
    x = (x | (x << 16)) & 0x030000FFu;
    x = (x | (x << 8)) & 0x0300F00Fu;
    x = (x | (x << 4)) & 0x030C30C3u;
    return (x | (x << 2)) & 0x09249249u;
}

/// Sorts sorted[] by keys[], three passes of 10 bits, stable.
static void espyTree_Sort(uint32_t* sorted, uint32_t* keys, uint32_t* swap, uint32_t count)
{
    uint32_t *fromKeys = keys, *toKeys = keys + count, *fromIds = sorted, *toIds = swap;
    for (uint32_t shift = 0; shift < 30u; shift += 10u)
    {
        uint32_t starts[1024] = {0};
        for (uint32_t i = 0; i < count; ++i)
        {
            ++starts[(fromKeys[i] >> shift) & 1023u];
        }
        uint32_t sum = 0;
        for (uint32_t i = 0; i < 1024u; ++i)
        {
            uint32_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t at = starts[(fromKeys[i] >> shift) & 1023u]++;
            toKeys[at] = fromKeys[i];
            toIds[at] = fromIds[i];
        }
        uint32_t* ids = fromIds;
        fromIds = toIds;
        toIds = ids;
        uint32_t* other = fromKeys;
        fromKeys = toKeys;
        toKeys = other;
    }
    // Three passes: the result is in the other arrays.
    for (uint32_t i = 0; i < count; ++i)
    {
        sorted[i] = fromIds[i];
    }
}

void espyiProxyTree_Build(espyiProxyTree* tree, const espyProxyEntry* entries, uint32_t count, uint32_t* keys,
                          uint32_t* swap)
{
    tree->levels = 0;
    if (count == 0)
    {
        return;
    }
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyCapsulePack* k = &entries[i].pack;
        float h = 0.5f * k->length;
        box = espyBox_AddPoint(box, (espyVec3){k->ax + h * k->ux, k->ay + h * k->uy, k->az + h * k->uz});
    }
    float wide = espyR_Max(box.max.x - box.min.x, espyR_Max(box.max.y - box.min.y, box.max.z - box.min.z));
    float scale = 1.0f / espyR_Max(wide, 1e-12f);
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyCapsulePack* k = &entries[i].pack;
        float h = 0.5f * k->length;
        keys[i] = espyTree_Spread10((k->ax + h * k->ux - box.min.x) * scale) |
                  (espyTree_Spread10((k->ay + h * k->uy - box.min.y) * scale) << 1) |
                  (espyTree_Spread10((k->az + h * k->uz - box.min.z) * scale) << 2);
        tree->sorted[i] = i;
    }
    espyTree_Sort(tree->sorted, keys, swap, count);
    for (uint32_t i = 0; i < count; ++i)
    {
        tree->nodes[i] = espyiProxy_MakeLeaf(&entries[tree->sorted[i]]);
    }
    uint32_t start = 0, level = 0;
    for (;;)
    {
        tree->levelStart[level] = start;
        tree->levelCount[level] = count;
        tree->levels = ++level;
        if (count == 1u)
        {
            break;
        }
        uint32_t next = start + count, parents = (count + ESPYI_PROXY_BRANCH - 1u) / ESPYI_PROXY_BRANCH;
        for (uint32_t i = 0; i < parents; ++i)
        {
            uint32_t first = i * ESPYI_PROXY_BRANCH, left = count - first;
            tree->nodes[next + i] =
                espyTree_Join(&tree->nodes[start + first], left < ESPYI_PROXY_BRANCH ? left : ESPYI_PROXY_BRANCH);
        }
        start = next;
        count = parents;
    }
}
