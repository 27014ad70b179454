// SPDX-License-Identifier: MIT
// The registry of proxies: by name or number, every field checked by name, products in an order that does not depend on
// who came first.
#include "proxy/proxy_internal.h"

#define ESPY_RADIUS_MIN 1e-6f
#define ESPY_SIZE_MAX 1e8f
#define ESPY_FIRST_SLOTS 64u

// --- checks

static bool espyProxy_IsFinite(float v)
{
    return v >= -3.402823466e+38f && v <= 3.402823466e+38f;
}

static bool espyProxy_IsPlace(espyVec3 v)
{
    // False for a NaN.
    return v.x >= -ESPY_SIZE_MAX && v.x <= ESPY_SIZE_MAX && v.y >= -ESPY_SIZE_MAX && v.y <= ESPY_SIZE_MAX &&
           v.z >= -ESPY_SIZE_MAX && v.z <= ESPY_SIZE_MAX;
}

static void espyProxySet_Log(const espyProxySet* set, espyMessageId id, const char* field)
{
    if (!set->hooks.log)
    {
        return;
    }
    // The text has one %s; there is no printf here.
    char line[160];
    size_t length = 0;
    for (const char* from = espyMessage_GetText(id); *from && length + 1 < sizeof line; ++from)
    {
        if (from[0] == '%' && from[1] == 's')
        {
            for (const char* name = field; *name && length + 1 < sizeof line; ++name)
            {
                line[length++] = *name;
            }
            ++from;
            continue;
        }
        line[length++] = *from;
    }
    line[length] = 0;
    set->hooks.log(espyMessage_GetLevel(id), id, line, set->hooks.context);
}

static espyResult espyProxySet_Refuse(const espyProxySet* set, const char* field, espyProxyIssue* issue,
                                      espyResult result)
{
    *issue = (espyProxyIssue){.field = field};
    espyProxySet_Log(set, espyMessageId_ProxyRefused, field);
    return result;
}

/// Brings a finite value into range and names it where that changed it.
static void espyProxySet_Clamp(const espyProxySet* set, float* value, float low, float high, const char* field,
                               espyProxyIssue* issue)
{
    float clamped = *value < low ? low : *value > high ? high : *value;
    if (clamped < *value || clamped > *value)
    {
        *value = clamped;
        *issue = (espyProxyIssue){.field = field, .clamped = true};
        espyProxySet_Log(set, espyMessageId_ProxyClamped, field);
    }
}

/// Fills b and radiusB, clamps, and refuses what cannot be used.
static espyResult espyProxySet_Check(const espyProxySet* set, espyProxyDef* def, espyProxyIssue* issue)
{
    def->b = def->hasB ? def->b : def->a;
    const char* bad = NULL;
    bad = !espyProxy_IsFinite(def->selfStrength) ? "selfStrength" : bad;
    bad = !espyProxy_IsFinite(def->strength) ? "strength" : bad;
    bad = def->owner > ESPY_PROXY_OWNER_LIMIT ? "owner" : bad;
    bad = !(def->radiusB <= ESPY_SIZE_MAX) || def->radiusB < 0.0f ? "radiusB" : bad;
    bad = !(def->radius <= ESPY_SIZE_MAX) || def->radius < 0.0f ? "radius" : bad;
    bad = def->hasB && !espyProxy_IsPlace(def->b) ? "b" : bad;
    bad = !espyProxy_IsPlace(def->a) ? "a" : bad;
    bad = def->cookie != ESPY_DEF_COOKIE ? "cookie" : bad;
    if (bad)
    {
        return espyProxySet_Refuse(set, bad, issue, espyResult_InvalidArgument);
    }
    if (def->radius > 0.0f)
    {
        espyProxySet_Clamp(set, &def->radius, ESPY_RADIUS_MIN, ESPY_SIZE_MAX, "radius", issue);
        if (def->radiusB > 0.0f)
        {
            espyProxySet_Clamp(set, &def->radiusB, ESPY_RADIUS_MIN, ESPY_SIZE_MAX, "radiusB", issue);
        }
        else
        {
            def->radiusB = def->radius;
        }
    }
    espyProxySet_Clamp(set, &def->strength, 0.0f, 1.0f, "strength", issue);
    espyProxySet_Clamp(set, &def->selfStrength, 0.0f, 1.0f, "selfStrength", issue);
    return espyResult_Ok;
}

static uint32_t espyProxy_CountPieces(const espyProxyDef* def)
{
    espyCapsule capsule = {def->a, def->b, def->radius, def->radiusB};
    espyCapsulePack pack = espyiCapsule_Pack(&capsule, def->a);
    float smaller = pack.radiusA < pack.radiusB ? pack.radiusA : pack.radiusB;
    float pieces = pack.length / (smaller * ESPYI_PROXY_PIECE);
    return pieces <= 1.0f ? 1u : pieces >= (float)ESPYI_PROXY_PIECES ? ESPYI_PROXY_PIECES : (uint32_t)pieces + 1u;
}

// --- keys

typedef struct espyProxyKey
{
    const char* name; ///< Null: a number.
    size_t length;
    uint64_t id;
    uint64_t hash;
} espyProxyKey;

static bool espyProxyKey_FromName(const char* name, espyProxyKey* out)
{
    size_t length = 0;
    while (name && length <= ESPY_PROXY_KEY_LIMIT && name[length])
    {
        ++length;
    }
    if (!name || length > ESPY_PROXY_KEY_LIMIT)
    {
        return false;
    }
    *out = (espyProxyKey){.name = name, .length = length, .hash = espyiHash_Bytes(1, name, length)};
    return true;
}

static espyProxyKey espyProxyKey_FromId(uint64_t id)
{
    return (espyProxyKey){.id = id, .hash = espyiHash_U64(2, id)};
}

static bool espyProxyKey_Matches(const espyProxyKey* key, const espyiProxyRecord* record)
{
    if (record->hash != key->hash || !record->name != !key->name)
    {
        return false;
    }
    if (!key->name)
    {
        return record->id == key->id;
    }
    size_t i = 0;
    while (key->name[i] && key->name[i] == record->name[i])
    {
        ++i;
    }
    return key->name[i] == record->name[i];
}

/// The slot of the key, or the free slot where it would go. The table is never full.
static uint32_t espyProxySet_FindSlot(const espyProxySet* set, const espyProxyKey* key)
{
    uint32_t slot = (uint32_t)key->hash & (set->slotCount - 1u);
    while (set->slots[slot] != 0 && !espyProxyKey_Matches(key, &set->records[set->slots[slot] - 1u]))
    {
        slot = (slot + 1u) & (set->slotCount - 1u);
    }
    return slot;
}

static espyiProxyRecord* espyProxySet_Find(const espyProxySet* set, const espyProxyKey* key)
{
    uint32_t index = set->slotCount > 0 ? set->slots[espyProxySet_FindSlot(set, key)] : 0;
    return index > 0 ? &set->records[index - 1u] : NULL;
}

static void espyProxySet_Rehash(espyProxySet* set)
{
    for (uint32_t i = 0; i < set->slotCount; ++i)
    {
        set->slots[i] = 0;
    }
    for (uint32_t i = 0; i < set->count; ++i)
    {
        uint32_t slot = (uint32_t)set->records[i].hash & (set->slotCount - 1u);
        while (set->slots[slot] != 0)
        {
            slot = (slot + 1u) & (set->slotCount - 1u);
        }
        set->slots[slot] = i + 1u;
    }
}

/// Room for one more record; the table stays at most half full. On failure the set is as before.
static bool espyProxySet_Grow(espyProxySet* set)
{
    if (set->count + 1u > set->recordRoom)
    {
        size_t room = set->recordRoom == 0 ? ESPY_FIRST_SLOTS / 2u : set->recordRoom * 2u;
        uint32_t slotCount = (uint32_t)room * 2u;
        uint32_t* order = espyiAlloc(&set->hooks, room, sizeof *order);
        uint32_t* slots = espyiAlloc(&set->hooks, slotCount, sizeof *slots);
        espyiProxyRecord* records = espyiAlloc(&set->hooks, room, sizeof *records);
        if (!order || !slots || !records)
        {
            espyiFree(&set->hooks, order);
            espyiFree(&set->hooks, slots);
            espyiFree(&set->hooks, records);
            return false;
        }
        for (uint32_t i = 0; i < set->count; ++i)
        {
            records[i] = set->records[i];
        }
        espyiFree(&set->hooks, set->order);
        espyiFree(&set->hooks, set->slots);
        espyiFree(&set->hooks, set->records);
        set->order = order;
        set->slots = slots;
        set->records = records;
        set->recordRoom = room;
        set->slotCount = slotCount;
        set->orderStale = true;
        espyProxySet_Rehash(set);
    }
    return true;
}

/// Empties the slot and moves later entries of its run up, so that no marks are left.
static void espyProxySet_FreeSlot(espyProxySet* set, uint32_t slot)
{
    uint32_t mask = set->slotCount - 1u, next = slot;
    for (;;)
    {
        next = (next + 1u) & mask;
        if (set->slots[next] == 0)
        {
            break;
        }
        uint32_t home = (uint32_t)set->records[set->slots[next] - 1u].hash & mask;
        if (((next - home) & mask) >= ((next - slot) & mask))
        {
            set->slots[slot] = set->slots[next];
            slot = next;
        }
    }
    set->slots[slot] = 0;
}

static espyResult espyProxySet_RemoveKey(espyProxySet* set, const espyProxyKey* key)
{
    const espyiProxyRecord* found = espyProxySet_Find(set, key);
    if (!found)
    {
        return espyResult_NotFound;
    }
    uint32_t index = (uint32_t)(found - set->records), last = set->count - 1u;
    espyProxySet_FreeSlot(set, espyProxySet_FindSlot(set, key));
    espyiFree(&set->hooks, set->records[index].name);
    if (index != last)
    {
        const espyiProxyRecord* moved = &set->records[last];
        espyProxyKey movedKey = {.name = moved->name, .id = moved->id, .hash = moved->hash};
        set->slots[espyProxySet_FindSlot(set, &movedKey)] = index + 1u;
        set->records[index] = *moved;
    }
    --set->count;
    set->orderStale = true;
    return espyResult_Ok;
}

static espyResult espyProxySet_SetKey(espyProxySet* set, const espyProxyKey* key, const espyProxyDef* def,
                                      espyProxyIssue* issue)
{
    espyProxyDef checked = *def;
    espyResult result = espyProxySet_Check(set, &checked, issue);
    if (result != espyResult_Ok)
    {
        return result;
    }
    if (checked.radius == 0.0f)
    {
        (void)espyProxySet_RemoveKey(set, key);
        return espyResult_Ok;
    }
    espyiProxyRecord* record = espyProxySet_Find(set, key);
    if (!record)
    {
        if (set->count >= set->limit)
        {
            return espyProxySet_Refuse(set, "limit", issue, espyResult_LimitExceeded);
        }
        char* name = key->name ? espyiAlloc(&set->hooks, key->length + 1u, 1) : NULL;
        if ((key->name && !name) || !espyProxySet_Grow(set))
        {
            espyiFree(&set->hooks, name);
            return espyResult_OutOfMemory;
        }
        for (size_t i = 0; i < key->length; ++i)
        {
            name[i] = key->name[i];
        }
        set->slots[espyProxySet_FindSlot(set, key)] = set->count + 1u;
        record = &set->records[set->count++];
        *record = (espyiProxyRecord){.name = name, .id = key->id, .hash = key->hash};
        set->orderStale = true;
    }
    set->orderStale = set->orderStale || record->def.group != checked.group;
    record->def = checked;
    record->pieces = espyProxy_CountPieces(&checked);
    return espyResult_Ok;
}

// --- public

espyProxyDef espyProxyDef_Default(void)
{
    return (espyProxyDef){
        .radius = 0.5f, .strength = 1.0f, .selfStrength = 1.0f, .viewMask = ~0u, .cookie = ESPY_DEF_COOKIE};
}

espyProxySettings espyProxySettings_Default(void)
{
    return (espyProxySettings){.intensity = 1.0f,
                               .power = 1.0f,
                               .detail = 1.0f / 64.0f,
                               .maxExact = ESPY_PROXY_LOOP_LIMIT,
                               .cookie = ESPY_DEF_COOKIE};
}

espyProxySetDef espyProxySetDef_Default(void)
{
    return (espyProxySetDef){.limit = ESPY_PROXY_LOOP_LIMIT, .cookie = ESPY_DEF_COOKIE};
}

espyProxyDef espyProxyDef_AtNode(espyMat4 node, espyVec3 offset, float radius, float height)
{
    espyProxyDef def = espyProxyDef_Default();
    espyVec3 centre = espyMat4_TransformPoint(node, offset);
    def.a = (espyVec3){centre.x, centre.y - 0.5f * height, centre.z};
    def.b = (espyVec3){centre.x, centre.y + 0.5f * height, centre.z};
    def.hasB = true;
    def.radius = radius;
    return def;
}

espyProxyDef espyProxyDef_BetweenNodes(espyMat4 a, espyVec3 offsetA, espyMat4 b, espyVec3 offsetB, float radiusA,
                                       float radiusB)
{
    espyProxyDef def = espyProxyDef_Default();
    def.a = espyMat4_TransformPoint(a, offsetA);
    def.b = espyMat4_TransformPoint(b, offsetB);
    def.hasB = true;
    def.radius = radiusA;
    def.radiusB = radiusB;
    return def;
}

espyResult espyProxySet_Create(const espyProxySetDef* def, espyProxySet** out)
{
    espyHooks hooks = espyiHooks_Resolve(def ? &def->hooks : NULL);
    *out = NULL;
    if (!ESPYI_CHECK(&hooks, def != NULL && def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&hooks, def->limit >= 1u &&
                                 def->limit <= (def->technique == espyProxyTechnique_Loop ? ESPY_PROXY_LOOP_LIMIT
                                                                                          : ESPY_PROXY_CLUSTER_LIMIT)))
    {
        return espyResult_InvalidArgument;
    }
    espyProxySet* set = espyiAlloc(&hooks, 1, sizeof *set);
    if (!set)
    {
        return espyResult_OutOfMemory;
    }
    set->hooks = hooks;
    set->technique = def->technique;
    set->limit = def->limit;
    set->settings = espyProxySettings_Default();
    *out = set;
    return espyResult_Ok;
}

void espyProxySet_Destroy(espyProxySet* set)
{
    if (!set)
    {
        return;
    }
    espyProxySet_Clear(set);
    espyHooks hooks = set->hooks;
    espyiFree(&hooks, set->records);
    espyiFree(&hooks, set->slots);
    espyiFree(&hooks, set->order);
    espyiFree(&hooks, set);
}

espyResult espyProxySet_Set(espyProxySet* set, const char* key, const espyProxyDef* def, espyProxyIssue* issue)
{
    espyProxyIssue unused;
    issue = issue ? issue : &unused;
    *issue = (espyProxyIssue){0};
    espyProxyKey made;
    if (!espyProxyKey_FromName(key, &made))
    {
        return espyProxySet_Refuse(set, "key", issue, espyResult_InvalidArgument);
    }
    return espyProxySet_SetKey(set, &made, def, issue);
}

espyResult espyProxySet_SetId(espyProxySet* set, uint64_t id, const espyProxyDef* def, espyProxyIssue* issue)
{
    espyProxyIssue unused;
    issue = issue ? issue : &unused;
    *issue = (espyProxyIssue){0};
    espyProxyKey key = espyProxyKey_FromId(id);
    return espyProxySet_SetKey(set, &key, def, issue);
}

espyResult espyProxySet_Remove(espyProxySet* set, const char* key)
{
    espyProxyKey made;
    return espyProxyKey_FromName(key, &made) ? espyProxySet_RemoveKey(set, &made) : espyResult_NotFound;
}

espyResult espyProxySet_RemoveId(espyProxySet* set, uint64_t id)
{
    espyProxyKey key = espyProxyKey_FromId(id);
    return espyProxySet_RemoveKey(set, &key);
}

static espyResult espyProxySet_GetKey(const espyProxySet* set, const espyProxyKey* key, espyProxyDef* out)
{
    const espyiProxyRecord* record = espyProxySet_Find(set, key);
    if (!record)
    {
        return espyResult_NotFound;
    }
    *out = record->def;
    return espyResult_Ok;
}

espyResult espyProxySet_Get(const espyProxySet* set, const char* key, espyProxyDef* out)
{
    espyProxyKey made;
    return espyProxyKey_FromName(key, &made) ? espyProxySet_GetKey(set, &made, out) : espyResult_NotFound;
}

espyResult espyProxySet_GetId(const espyProxySet* set, uint64_t id, espyProxyDef* out)
{
    espyProxyKey key = espyProxyKey_FromId(id);
    return espyProxySet_GetKey(set, &key, out);
}

espyResult espyProxySet_Configure(espyProxySet* set, const espyProxySettings* settings, espyProxyIssue* issue)
{
    espyProxyIssue unused;
    issue = issue ? issue : &unused;
    *issue = (espyProxyIssue){0};
    espyProxySettings s = *settings;
    const char* bad = NULL;
    bad = !espyProxy_IsFinite(s.detail) ? "detail" : bad;
    bad = s.inside != espyCapsuleInside_Continuous && s.inside != espyCapsuleInside_Solid ? "inside" : bad;
    bad = s.mode != espyProxyMode_Estimate && s.mode != espyProxyMode_Ambient ? "mode" : bad;
    bad = !espyProxy_IsFinite(s.maxDistance) ? "maxDistance" : bad;
    bad = !espyProxy_IsFinite(s.minDistance) ? "minDistance" : bad;
    bad = !espyProxy_IsFinite(s.power) ? "power" : bad;
    bad = !espyProxy_IsFinite(s.intensity) ? "intensity" : bad;
    bad = s.cookie != ESPY_DEF_COOKIE ? "cookie" : bad;
    if (bad)
    {
        return espyProxySet_Refuse(set, bad, issue, espyResult_InvalidArgument);
    }
    espyProxySet_Clamp(set, &s.intensity, 0.0f, 1.0f, "intensity", issue);
    espyProxySet_Clamp(set, &s.power, 0.05f, 16.0f, "power", issue);
    espyProxySet_Clamp(set, &s.minDistance, 0.0f, ESPY_SIZE_MAX, "minDistance", issue);
    espyProxySet_Clamp(set, &s.maxDistance, 0.0f, ESPY_SIZE_MAX, "maxDistance", issue);
    espyProxySet_Clamp(set, &s.detail, 1.0f / 4096.0f, 0.25f, "detail", issue);
    float maxExact = (float)(s.maxExact > 1024u ? 1024u : s.maxExact);
    espyProxySet_Clamp(set, &maxExact, 1.0f, 256.0f, "maxExact", issue);
    s.maxExact = (uint32_t)maxExact;
    set->settings = s;
    return espyResult_Ok;
}

espyProxySettings espyProxySet_GetSettings(const espyProxySet* set)
{
    return set->settings;
}

void espyProxySet_Clear(espyProxySet* set)
{
    for (uint32_t i = 0; i < set->count; ++i)
    {
        espyiFree(&set->hooks, set->records[i].name);
    }
    set->count = 0;
    espyProxySet_Rehash(set);
    set->orderStale = true;
}

uint32_t espyProxySet_GetCount(const espyProxySet* set)
{
    return set->count;
}

// --- order

static bool espyProxyRecord_Before(const espyiProxyRecord* a, const espyiProxyRecord* b)
{
    if (a->def.group != b->def.group)
    {
        return a->def.group < b->def.group;
    }
    if (a->hash != b->hash)
    {
        return a->hash < b->hash;
    }
    if (!a->name || !b->name)
    {
        return a->name ? false : b->name ? true : a->id < b->id;
    }
    size_t i = 0;
    while (a->name[i] && a->name[i] == b->name[i])
    {
        ++i;
    }
    return (unsigned char)a->name[i] < (unsigned char)b->name[i];
}

static void espyProxySet_SiftDown(espyProxySet* set, uint32_t start, uint32_t count)
{
    for (uint32_t root = start; 2u * root + 1u < count;)
    {
        uint32_t child = 2u * root + 1u;
        if (child + 1u < count &&
            espyProxyRecord_Before(&set->records[set->order[child]], &set->records[set->order[child + 1u]]))
        {
            ++child;
        }
        if (!espyProxyRecord_Before(&set->records[set->order[root]], &set->records[set->order[child]]))
        {
            return;
        }
        uint32_t swap = set->order[root];
        set->order[root] = set->order[child];
        set->order[child] = swap;
        root = child;
    }
}

const uint32_t* espyiProxySet_Order(espyProxySet* set)
{
    if (set->orderStale)
    {
        for (uint32_t i = 0; i < set->count; ++i)
        {
            set->order[i] = i;
        }
        // Heap sort: in place, and no two records are equal.
        for (uint32_t i = set->count / 2u; i > 0; --i)
        {
            espyProxySet_SiftDown(set, i - 1u, set->count);
        }
        for (uint32_t i = set->count; i > 1; --i)
        {
            uint32_t swap = set->order[0];
            set->order[0] = set->order[i - 1u];
            set->order[i - 1u] = swap;
            espyProxySet_SiftDown(set, 0, i - 1u);
        }
        set->orderStale = false;
    }
    return set->order;
}

uint32_t espyiProxySet_CountPieces(const espyProxySet* set)
{
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < set->count; ++i)
    {
        pieces += set->records[i].pieces;
    }
    return pieces;
}
