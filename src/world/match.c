// SPDX-License-Identifier: MIT
// Spatial hashing of baked boxes. No library call, no allocation.
//
// Based on: M. Teschner et al., "Optimized Spatial Hashing for Collision Detection of Deformable Objects", 2003, with
// one lattice a class of tolerances.
#include "world/match.h"

#include <string.h>

/// A face within this share of the tolerance is where it was baked: far above the rounding of any transform, far below
/// what anybody calls a move.
#define ESPY_MATCH_EXACT (1.0f / 256.0f)
/// Boxes that one search looks at.
#define ESPY_MATCH_MAX_VISITS 256u
/// Tolerances outside these make lattices whose coordinates do not fit; no level has them.
#define ESPY_MATCH_MIN_TOLERANCE 1.0e-6f
#define ESPY_MATCH_MAX_TOLERANCE 1.0e30f
#define ESPY_MATCH_MAX_LATTICE 1.0e9f
/// Width of lattice cells in powers of two above a tolerance's class. Exact searches reach 1/256 of a tolerance and get
/// cells of 1/8 to 1/4, which few boxes share; searches within the tolerance get 8 to 16.
#define ESPY_MATCH_FINE (-2)
#define ESPY_MATCH_COARSE 4
/// In espyiBoxTable.next of a box that is not in the table.
#define ESPY_MATCH_TAKEN 0xFFFFFFFEu
/// Candidates between asking memory for a bucket, for the boxes in it, and looking at them. Levels of 100,000 boxes are
/// larger than caches: one by one every step would wait for memory three times.
#define ESPY_MATCH_AHEAD 16u

static float espyMatch_ToleranceOfSize(float size, float cellSize)
{
    float ofCell = 0.1f * cellSize;
    float ofSize = 0.01f * size;
    return ofSize > ofCell ? ofSize : ofCell;
}

static float espyMatch_LongestSide(const float box[6])
{
    float x = box[3] - box[0];
    float y = box[4] - box[1];
    float z = box[5] - box[2];
    float longest = y > x ? y : x;
    return z > longest ? z : longest;
}

float espyiMatch_Tolerance(const float baked[6], float cellSize)
{
    return espyMatch_ToleranceOfSize(espyMatch_LongestSide(baked), cellSize);
}

/// Difference of the worst face, all of which are finite.
static float espyMatch_Distance(const float baked[6], const float box[6])
{
    float worst = 0.0f;
    for (uint32_t i = 0; i < 6; ++i)
    {
        float d = box[i] - baked[i];
        d = d < 0.0f ? -d : d;
        worst = d <= worst ? worst : d;
    }
    return worst;
}

static void espyMatch_Faces(espyBox box, float out[6])
{
    out[0] = box.min.x;
    out[1] = box.min.y;
    out[2] = box.min.z;
    out[3] = box.max.x;
    out[4] = box.max.y;
    out[5] = box.max.z;
}

bool espyiMatch_InPlace(const float baked[6], float cellSize, espyBox box)
{
    float faces[6];
    espyMatch_Faces(box, faces);
    // A NaN in any face fails one of the comparisons.
    for (uint32_t i = 0; i < 6; ++i)
    {
        float d = faces[i] - baked[i];
        if (!((d < 0.0f ? -d : d) <= espyiMatch_Tolerance(baked, cellSize)))
        {
            return false;
        }
    }
    return true;
}

// --- lattices

/// Exponent of a tolerance: the lattice that its box is in.
static uint32_t espyMatch_Class(float tolerance)
{
    float t = tolerance > ESPY_MATCH_MIN_TOLERANCE ? tolerance : ESPY_MATCH_MIN_TOLERANCE;
    t = t < ESPY_MATCH_MAX_TOLERANCE ? t : ESPY_MATCH_MAX_TOLERANCE;
    uint32_t bits;
    memcpy(&bits, &t, sizeof bits);
    return bits >> 23;
}

static float espyMatch_FromExponent(int32_t exponent)
{
    uint32_t bits = (uint32_t)exponent << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/// Upper end of a class's tolerances.
static float espyMatch_End(uint32_t class)
{
    return espyMatch_FromExponent((int32_t) class + 1);
}

/// Lattice cells a metre of a class, whose cells are wider than its tolerances by 2 to the power of `above`.
static float espyMatch_PerStep(uint32_t class, int32_t above)
{
    return espyMatch_FromExponent(254 - (int32_t) class - above);
}

/// Lattice coordinate; false where it does not fit. `perStep` is a power of two, so that nothing is rounded.
static bool espyMatch_Coordinate(float value, float perStep, int32_t* out)
{
    float cell = value * perStep;
    if (!(cell > -ESPY_MATCH_MAX_LATTICE && cell < ESPY_MATCH_MAX_LATTICE))
    {
        return false;
    }
    int32_t truncated = (int32_t)cell;
    *out = (float)truncated > cell ? truncated - 1 : truncated;
    return true;
}

static uint32_t espyMatch_Hash(uint32_t class, int32_t x, int32_t y, int32_t z)
{
    uint32_t h =
        (uint32_t)x * 0x9E3779B1u + (uint32_t)y * 0x85EBCA6Bu + (uint32_t)z * 0xC2B2AE35u + class * 0x27D4EB2Fu;
    h ^= h >> 16;
    h *= 0x21F0AAADu;
    h ^= h >> 15;
    h *= 0x735A2D97u;
    return h ^ (h >> 15);
}

/// Bucket of a box as if it was baked; NONE where its coordinates do not fit.
static uint32_t espyBoxTable_Bucket(const espyiBoxTable* table, const float box[6])
{
    uint32_t class = espyMatch_Class(espyiMatch_Tolerance(box, table->cellSize));
    float perStep = espyMatch_PerStep(class, table->above);
    int32_t x = 0;
    int32_t y = 0;
    int32_t z = 0;
    bool fits = espyMatch_Coordinate(box[0], perStep, &x) && espyMatch_Coordinate(box[1], perStep, &y) &&
                espyMatch_Coordinate(box[2], perStep, &z);
    return fits ? espyMatch_Hash(class, x, y, z) & table->mask : ESPYI_MATCH_NONE;
}

uint32_t espyiBoxTable_GetBuckets(uint32_t count)
{
    uint32_t buckets = 16;
    while (buckets < count && buckets < 0x40000000u)
    {
        buckets *= 2u;
    }
    return buckets;
}

static void espyBoxTable_Empty(espyiBoxTable* table, int32_t above)
{
    table->above = above;
    for (uint32_t i = 0; i <= table->mask; ++i)
    {
        table->heads[i] = ESPYI_MATCH_NONE;
    }
}

/// Puts what is not taken into the lattices of another width.
static void espyBoxTable_Fill(espyiBoxTable* table, int32_t above)
{
    espyBoxTable_Empty(table, above);
    table->waiting = 0;
    // From the last one down, so that each bucket ascends.
    for (uint32_t i = table->count; i > 0; --i)
    {
        if (table->next[i - 1u] != ESPY_MATCH_TAKEN)
        {
            espyiBoxTable_Return(table, i - 1u);
        }
    }
}

void espyiBoxTable_Init(espyiBoxTable* table, const float* boxes, uint32_t count, float cellSize, uint32_t* heads,
                        uint32_t* next)
{
    *table = (espyiBoxTable){.boxes = boxes,
                             .count = count,
                             .cellSize = cellSize,
                             .mask = espyiBoxTable_GetBuckets(count) - 1u,
                             .heads = heads,
                             .next = next};
    for (uint32_t i = 0; i < count; ++i)
    {
        next[i] = ESPYI_MATCH_NONE;
    }
    table->waiting = count;
    espyBoxTable_Empty(table, ESPY_MATCH_COARSE);
}

void espyiBoxTable_Return(espyiBoxTable* table, uint32_t index)
{
    uint32_t bucket = espyBoxTable_Bucket(table, table->boxes + (size_t)index * 6u);
    // Those that do not fit share a bucket and are found by no search.
    bucket = bucket != ESPYI_MATCH_NONE ? bucket : 0u;
    table->next[index] = table->heads[bucket];
    table->heads[bucket] = index;
    ++table->waiting;
}

static void espyBoxTable_Unlink(espyiBoxTable* table, uint32_t* link)
{
    uint32_t index = *link;
    *link = table->next[index];
    table->next[index] = ESPY_MATCH_TAKEN;
    --table->waiting;
}

// --- searching

typedef struct espyMatchSearch
{
    float faces[6];
    float share; ///< Of the tolerance that is allowed.
    uint32_t visits;
    float distance; ///< Of the best one so far.
    uint32_t found;
    uint32_t* link; ///< What points at it.
} espyMatchSearch;

static void espyBoxTable_SearchBucket(espyiBoxTable* table, espyMatchSearch* search, uint32_t bucket)
{
    for (uint32_t* link = &table->heads[bucket]; *link != ESPYI_MATCH_NONE; link = &table->next[*link])
    {
        if (search->visits++ >= ESPY_MATCH_MAX_VISITS)
        {
            return;
        }
        const float* baked = table->boxes + (size_t)*link * 6u;
        float distance = espyMatch_Distance(baked, search->faces);
        bool closer = search->found == ESPYI_MATCH_NONE || distance < search->distance ||
                      (distance == search->distance && *link < search->found);
        if (closer && distance <= search->share * espyiMatch_Tolerance(baked, table->cellSize))
        {
            search->distance = distance;
            search->found = *link;
            search->link = link;
            if (distance == 0.0f)
            {
                // Equal boxes share a bucket, which ascends: the first one is the one to take.
                search->visits = ESPY_MATCH_MAX_VISITS;
                return;
            }
        }
    }
}

static void espyBoxTable_SearchClass(espyiBoxTable* table, espyMatchSearch* search, uint32_t class)
{
    float perStep = espyMatch_PerStep(class, table->above);
    float reach = search->share * espyMatch_End(class);
    int32_t low[3];
    int32_t high[3];
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        if (!espyMatch_Coordinate(search->faces[axis] - reach, perStep, &low[axis]) ||
            !espyMatch_Coordinate(search->faces[axis] + reach, perStep, &high[axis]))
        {
            return;
        }
    }
    for (int32_t z = low[2]; z <= high[2]; ++z)
    {
        for (int32_t y = low[1]; y <= high[1]; ++y)
        {
            for (int32_t x = low[0]; x <= high[0]; ++x)
            {
                espyBoxTable_SearchBucket(table, search, espyMatch_Hash(class, x, y, z) & table->mask);
            }
        }
    }
}

static uint32_t espyBoxTable_Take(espyiBoxTable* table, espyBox box, bool exact)
{
    if (table->waiting == 0 || !espyBox_IsValid(box))
    {
        return ESPYI_MATCH_NONE;
    }
    espyMatchSearch search = {.share = exact ? ESPY_MATCH_EXACT : 1.0f, .found = ESPYI_MATCH_NONE};
    espyMatch_Faces(box, search.faces);
    // Two faces that are off by a tolerance each change the longest side, and with it 1 % of it, by 2 % of a tolerance.
    float tolerance = espyMatch_ToleranceOfSize(espyMatch_LongestSide(search.faces), table->cellSize);
    uint32_t first = espyMatch_Class(tolerance * 0.95f);
    uint32_t last = espyMatch_Class(tolerance * 1.05f);
    espyBoxTable_SearchClass(table, &search, first);
    if (last != first)
    {
        espyBoxTable_SearchClass(table, &search, last);
    }
    if (search.found != ESPYI_MATCH_NONE)
    {
        espyBoxTable_Unlink(table, search.link);
    }
    return search.found;
}

uint32_t espyiBoxTable_Take(espyiBoxTable* table, espyBox box)
{
    return espyBoxTable_Take(table, box, false);
}

// --- pairing

/// Pairs what has the same id and part and has not moved. Both sides ascend by id where the file was baked from this
/// library's world; where they do not, the search finds the rest. What is taken stays in its bucket: the table must be
/// filled after it.
static void espyMatch_ById(espyiBoxTable* table, const espyiMatchCandidate* candidates, uint32_t candidateCount,
                           const int32_t* nodes, const int32_t* parts, uint32_t* out)
{
    uint32_t entry = 0;
    for (uint32_t i = 0; i < candidateCount; ++i)
    {
        const espyiMatchCandidate* c = &candidates[i];
        while (entry < table->count && nodes[entry] < c->sourceId)
        {
            ++entry;
        }
        float faces[6];
        espyMatch_Faces(c->box, faces);
        for (uint32_t k = entry; k < table->count && nodes[k] == c->sourceId && c->sourceId >= 0; ++k)
        {
            const float* baked = table->boxes + (size_t)k * 6u;
            if (parts && parts[k] != c->part)
            {
                continue;
            }
            if (table->next[k] != ESPY_MATCH_TAKEN && espyBox_IsValid(c->box) &&
                espyMatch_Distance(baked, faces) <= ESPY_MATCH_EXACT * espyiMatch_Tolerance(baked, table->cellSize))
            {
                table->next[k] = ESPY_MATCH_TAKEN;
                --table->waiting;
                out[i] = k;
            }
            // Parts ascend within a node: the next candidate goes on behind this one.
            entry = k + 1u;
            break;
        }
    }
}

/// Takes the first box of a bucket that equals a candidate's.
static uint32_t espyBoxTable_TakeEqual(espyiBoxTable* table, uint32_t bucket, const float faces[6])
{
    uint32_t visits = 0;
    for (uint32_t* link = &table->heads[bucket]; *link != ESPYI_MATCH_NONE && visits < ESPY_MATCH_MAX_VISITS;
         link = &table->next[*link], ++visits)
    {
        uint32_t index = *link;
        if (espyMatch_Distance(table->boxes + (size_t)index * 6u, faces) == 0.0f)
        {
            espyBoxTable_Unlink(table, link);
            return index;
        }
    }
    return ESPYI_MATCH_NONE;
}

/// Pairs visible candidates with boxes that equal theirs, as most do: each of them is in one known bucket.
static void espyMatch_Equal(espyiBoxTable* table, const espyiMatchCandidate* candidates, uint32_t candidateCount,
                            uint32_t* out)
{
    uint32_t buckets[4u * ESPY_MATCH_AHEAD];
    const uint32_t size = ESPYI_ARRAY_COUNT(buckets);
    float faces[6];
    for (uint32_t step = 0; step < candidateCount + 2u * ESPY_MATCH_AHEAD; ++step)
    {
        if (step < candidateCount)
        {
            const espyiMatchCandidate* c = &candidates[step];
            bool wanted = out[step] == ESPYI_MATCH_NONE && !c->hidden && espyBox_IsValid(c->box);
            espyMatch_Faces(c->box, faces);
            uint32_t bucket = wanted ? espyBoxTable_Bucket(table, faces) : ESPYI_MATCH_NONE;
            buckets[step % size] = bucket;
            ESPYI_PREFETCH(&table->heads[bucket & table->mask]);
        }
        uint32_t middle = step - ESPY_MATCH_AHEAD;
        if (middle < candidateCount && buckets[middle % size] != ESPYI_MATCH_NONE)
        {
            uint32_t first = table->heads[buckets[middle % size]];
            if (first != ESPYI_MATCH_NONE)
            {
                ESPYI_PREFETCH(table->boxes + (size_t)first * 6u);
                ESPYI_PREFETCH(&table->next[first]);
            }
        }
        uint32_t i = step - 2u * ESPY_MATCH_AHEAD;
        if (i < candidateCount && buckets[i % size] != ESPYI_MATCH_NONE)
        {
            espyMatch_Faces(candidates[i].box, faces);
            out[i] = espyBoxTable_TakeEqual(table, buckets[i % size], faces);
        }
    }
}

void espyiMatch_Run(espyiBoxTable* table, const espyiMatchCandidate* candidates, uint32_t candidateCount,
                    const int32_t* nodes, const int32_t* parts, uint32_t* out)
{
    for (uint32_t i = 0; i < candidateCount; ++i)
    {
        out[i] = ESPYI_MATCH_NONE;
    }
    if (nodes)
    {
        espyMatch_ById(table, candidates, candidateCount, nodes, parts, out);
    }
    if (table->waiting > 0)
    {
        espyBoxTable_Fill(table, ESPY_MATCH_FINE);
        espyMatch_Equal(table, candidates, candidateCount, out);
    }
    for (uint32_t pass = 0; pass < 4 && table->waiting > 0; ++pass)
    {
        bool exact = pass < 2;
        if (pass == 2)
        {
            espyBoxTable_Fill(table, ESPY_MATCH_COARSE);
        }
        bool hidden = pass % 2u != 0;
        for (uint32_t i = 0; i < candidateCount; ++i)
        {
            if (out[i] == ESPYI_MATCH_NONE && candidates[i].hidden == hidden)
            {
                out[i] = espyBoxTable_Take(table, candidates[i].box, exact);
            }
        }
    }
    // Single boxes are looked for within the tolerance.
    if (table->waiting == 0)
    {
        espyBoxTable_Empty(table, ESPY_MATCH_COARSE);
    }
    else if (table->above != ESPY_MATCH_COARSE)
    {
        espyBoxTable_Fill(table, ESPY_MATCH_COARSE);
    }
}
