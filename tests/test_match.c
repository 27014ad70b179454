// SPDX-License-Identifier: MIT
// Pairing boxes of nodes with those of a file, beside a loop over all pairs that says what the rules say.
#include "tests/test_main.h"
#include "world/match.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/// Fewer than one search looks at: where more begin at the same place some may be passed over.
#define ESPY_TEST_BOXES 250u

typedef struct espyTestMatch
{
    float boxes[ESPY_TEST_BOXES][6];
    int32_t nodes[ESPY_TEST_BOXES];
    int32_t parts[ESPY_TEST_BOXES];
    uint32_t boxCount;
    espyiMatchCandidate candidates[ESPY_TEST_BOXES];
    uint32_t candidateCount;
    float cellSize;
    bool taken[ESPY_TEST_BOXES];
    uint32_t found[ESPY_TEST_BOXES];
} espyTestMatch;

static float espyTest_Distance(const float* baked, espyBox box)
{
    const float faces[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    float worst = 0.0f;
    for (int i = 0; i < 6; ++i)
    {
        worst = fmaxf(worst, fabsf(faces[i] - baked[i]));
    }
    return worst;
}

static float espyTest_Tolerance(const float* baked, float cellSize)
{
    float longest = fmaxf(baked[3] - baked[0], fmaxf(baked[4] - baked[1], baked[5] - baked[2]));
    return fmaxf(0.1f * cellSize, 0.01f * longest);
}

/// One pass: each candidate of a kind, in order, takes the closest free box within a share of its tolerance.
static void espyTest_Pass(espyTestMatch* m, float share, bool hidden, bool byId)
{
    for (uint32_t i = 0; i < m->candidateCount; ++i)
    {
        const espyiMatchCandidate* c = &m->candidates[i];
        uint32_t best = ESPYI_MATCH_NONE;
        for (uint32_t k = 0; k < m->boxCount && m->found[i] == ESPYI_MATCH_NONE && (byId || c->hidden == hidden); ++k)
        {
            float distance = espyTest_Distance(m->boxes[k], c->box);
            bool wanted = !byId || (c->sourceId >= 0 && m->nodes[k] == c->sourceId && m->parts[k] == c->part);
            bool fits = espyBox_IsValid(c->box) && !m->taken[k] &&
                        distance <= share * espyTest_Tolerance(m->boxes[k], m->cellSize);
            if (fits && wanted && (best == ESPYI_MATCH_NONE || distance < espyTest_Distance(m->boxes[best], c->box)))
            {
                best = k;
            }
        }
        if (best != ESPYI_MATCH_NONE)
        {
            m->found[i] = best;
            m->taken[best] = true;
        }
    }
}

static espyBox espyTest_Jitter(espyiRng* rng, const float* b, float reach)
{
    float f[6];
    for (int i = 0; i < 6; ++i)
    {
        f[i] = b[i] + (espyiRng_Float(rng) * 2.0f - 1.0f) * reach;
    }
    return (espyBox){{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
}

/// Boxes crowd together so that several fit; some are the same, some lie across the borders of lattices.
static void espyTest_Make(espyTestMatch* m, espyiRng* rng, bool ascending)
{
    m->boxCount = 1u + espyiRng_Below(rng, ESPY_TEST_BOXES);
    m->cellSize = 0.25f + espyiRng_Float(rng) * 8.0f;
    float spread = 2.0f + espyiRng_Float(rng) * 40.0f;
    for (uint32_t k = 0; k < m->boxCount; ++k)
    {
        float* b = m->boxes[k];
        uint32_t other = espyiRng_Below(rng, k + 1u);
        float size = espyiRng_Below(rng, 8) == 0 ? 200.0f * espyiRng_Float(rng) : 1.0f + espyiRng_Float(rng);
        for (int axis = 0; axis < 3; ++axis)
        {
            b[axis] = (espyiRng_Float(rng) - 0.5f) * spread;
            b[axis + 3] = b[axis] + size * espyiRng_Float(rng);
        }
        if (k > 0 && espyiRng_Below(rng, 5) == 0)
        {
            memcpy(b, m->boxes[other], 6 * sizeof(float));
        }
        m->nodes[k] = (int32_t)(k / 2u);
        m->parts[k] = (int32_t)(k % 2u);
        m->taken[k] = false;
    }
    m->candidateCount = 1u + espyiRng_Below(rng, ESPY_TEST_BOXES);
    for (uint32_t i = 0; i < m->candidateCount; ++i)
    {
        espyiMatchCandidate* c = &m->candidates[i];
        uint32_t of = ascending ? i % m->boxCount : espyiRng_Below(rng, m->boxCount);
        float tolerance = espyTest_Tolerance(m->boxes[of], m->cellSize);
        static const float reaches[] = {0.0f, 0.0f, 0.0f, 1.0f / 400.0f, 1.0f / 200.0f, 0.6f, 1.5f};
        c->box = espyTest_Jitter(rng, m->boxes[of], reaches[espyiRng_Below(rng, 7)] * tolerance);
        c->node = i;
        c->part = ascending ? (int32_t)(of % 2u) : -1;
        c->sourceId = ascending && i < m->boxCount ? (int32_t)(of / 2u) : 1000 + (int32_t)i;
        c->hidden = espyiRng_Below(rng, 4) == 0;
        if (espyiRng_Below(rng, 40) == 0)
        {
            c->box.max.y = NAN;
        }
        m->found[i] = ESPYI_MATCH_NONE;
    }
}

static void test_pairs_are_those_of_all_pairs(void** state)
{
    (void)state;
    const uint64_t seed = 20261201;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    static espyTestMatch m;
    static uint32_t heads[2048], next[ESPY_TEST_BOXES], out[ESPY_TEST_BOXES];
    uint32_t found = 0, all = 0;
    for (uint32_t round = 0; round < 400; ++round)
    {
        bool ids = round % 3u == 0;
        espyTest_Make(&m, &rng, ids);
        espyiBoxTable table;
        assert_true(espyiBoxTable_GetBuckets(m.boxCount) <= ESPYI_ARRAY_COUNT(heads));
        espyiBoxTable_Init(&table, &m.boxes[0][0], m.boxCount, m.cellSize, heads, next);
        espyiMatch_Run(&table, m.candidates, m.candidateCount, ids ? m.nodes : NULL, ids ? m.parts : NULL, out);
        if (ids)
        {
            espyTest_Pass(&m, 1.0f / 256.0f, false, true);
        }
        espyTest_Pass(&m, 0.0f, false, false);
        espyTest_Pass(&m, 1.0f / 256.0f, false, false);
        espyTest_Pass(&m, 1.0f / 256.0f, true, false);
        espyTest_Pass(&m, 1.0f, false, false);
        espyTest_Pass(&m, 1.0f, true, false);
        uint32_t left = m.boxCount;
        for (uint32_t i = 0; i < m.candidateCount; ++i)
        {
            assert_int_equal(out[i], m.found[i]);
            left -= out[i] != ESPYI_MATCH_NONE ? 1u : 0u;
        }
        assert_int_equal(table.waiting, left);
        found += m.boxCount - left;
        all += m.candidateCount;
        // What was not taken is found one by one, and what is put back is found again.
        for (uint32_t k = 0; k < m.boxCount; ++k)
        {
            const float* b = m.boxes[k];
            espyBox box = {{b[0], b[1], b[2]}, {b[3], b[4], b[5]}};
            uint32_t index = espyiBoxTable_Take(&table, box);
            assert_true(m.taken[k] || (index != ESPYI_MATCH_NONE && !m.taken[index]));
            if (index != ESPYI_MATCH_NONE)
            {
                assert_true(espyTest_Distance(m.boxes[index], box) <= (m.taken[k] ? INFINITY : 0.0f));
                espyiBoxTable_Return(&table, index);
            }
        }
        assert_int_equal(table.waiting, left);
    }
    printf("%u of %u candidates found\n", found, all);
    assert_true(found > all / 4u && found < all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_are_those_of_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
