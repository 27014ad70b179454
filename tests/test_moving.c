// SPDX-License-Identifier: MIT
// Moving boxes many at a time beside the same boxes one by one: at borders and a bit beside them, in placed files, in
// files too far away for sure answers, with every instruction set.
#include "test_main.h"

#include "cull_case.h"
#include "world/frustum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ESPY_TEST_BOXES 700u

/// A coordinate of a border of the lattice in the world, moved by some units of the last place.
static float espyTest_Border(espyiRng* rng, float origin, float cellSize, float offset, uint32_t dim)
{
    float border = origin + (float)espyiRng_Below(rng, dim + 1u) * cellSize + offset;
    uint32_t bits;
    memcpy(&bits, &border, sizeof bits);
    bits += espyiRng_Below(rng, 9) - 4u;
    memcpy(&border, &bits, sizeof bits);
    return border;
}

static espyBox espyTest_Box(espyiRng* rng, const espyPvs* pvs, espyVec3 offset)
{
    const float origin[3] = {pvs->origin.x, pvs->origin.y, pvs->origin.z};
    const float place[3] = {offset.x, offset.y, offset.z};
    float f[6];
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        float size = (float)pvs->dims[axis] * pvs->cellSize;
        float low = origin[axis] + place[axis] + (espyiRng_Float(rng) * 1.1f - 0.05f) * size;
        float high = low + espyiRng_Float(rng) * (espyiRng_Below(rng, 4) == 0 ? 0.4f * size : 0.5f);
        switch (espyiRng_Below(rng, 8))
        {
        case 0:
            low = espyTest_Border(rng, origin[axis], pvs->cellSize, place[axis], pvs->dims[axis]);
            break;
        case 1:
            high = espyTest_Border(rng, origin[axis], pvs->cellSize, place[axis], pvs->dims[axis]);
            break;
        case 2:
            low = espyTest_Border(rng, origin[axis], pvs->cellSize, place[axis], pvs->dims[axis]);
            high = espyiRng_Below(rng, 2) == 0 ? low : nextafterf(low, -INFINITY);
            break;
        default:
            break;
        }
        f[axis] = low;
        f[axis + 3u] = high;
    }
    static const float odd[] = {NAN, INFINITY, -INFINITY, 3.0e38f, -3.0e38f, 0.0f};
    if (espyiRng_Below(rng, 30) == 0)
    {
        f[espyiRng_Below(rng, 6)] = odd[espyiRng_Below(rng, 6)];
    }
    return (espyBox){{f[0], f[1], f[2]}, {f[3], f[4], f[5]}};
}

/// A set of up to three random cells, with the words of its dynamic table.
static espyViewSet espyTest_Set(espyiRng* rng, const espyPvs* pvs, espyVec3 offset, uint32_t* scratch)
{
    espyViewSet set = {.pvs = pvs, .offset = offset, .cellCount = espyiRng_Below(rng, 4)};
    for (uint32_t i = 0; i < set.cellCount; ++i)
    {
        set.cells[i] = (int32_t)espyiRng_Below(rng, pvs->cellCount);
    }
    if (espyiRng_Below(rng, 6) != 0)
    {
        espyiViewSet_FillDynamic(&set, scratch);
    }
    return set;
}

static void boxes_at_once_are_boxes_one_by_one(void** state)
{
    (void)state;
    const uint64_t seed = 20261201;
    printf("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    static espyBox boxes[ESPY_TEST_BOXES];
    static float coordinates[6][ESPY_TEST_BOXES];
    uint32_t hiddenCount = 0, known = 0, all = 0;
    for (uint64_t round = 0; round < 60; ++round)
    {
        espyCullCase c = espyCullCase_Make(round, 64);
        // Far away, where whole blocks are lost to rounding, nothing may be taken for certain.
        float far = round % 10u == 9u ? 4.0e6f : 1.0f;
        espyVec3 offset = {c.offset.x * far, c.offset.y, c.offset.z};
        uint32_t* scratch[2];
        espyViewSet sets[2];
        for (uint32_t i = 0; i < 2; ++i)
        {
            scratch[i] = calloc(2u * (size_t)c.pvs.coarseWords + 1u, sizeof(uint32_t));
            sets[i] = espyTest_Set(&rng, &c.pvs, offset, scratch[i]);
        }
        for (uint32_t i = 0; i < ESPY_TEST_BOXES; ++i)
        {
            boxes[i] = espyTest_Box(&rng, &c.pvs, offset);
            const float* f = &boxes[i].min.x;
            for (uint32_t k = 0; k < 6; ++k)
            {
                coordinates[k][i] = f[k];
            }
        }
        uint32_t list[ESPY_TEST_BOXES];
        uint32_t count = 0;
        for (uint32_t i = 0; i < ESPY_TEST_BOXES; ++i)
        {
            list[count] = i;
            count += espyiRng_Below(&rng, 3) == 0 ? 0u : 1u;
        }
        static const espyIsa isas[] = {espyIsa_Scalar, espyIsa_Sse41, espyIsa_Avx2, espyIsa_Avx512};
        for (uint32_t k = 0; k < 8; ++k)
        {
            espyCullBoxes layout = k % 2u == 0 ? espyCullBoxes_FromArray(boxes) : (espyCullBoxes){coordinates[0],
                                                                                                  coordinates[1],
                                                                                                  coordinates[2],
                                                                                                  coordinates[3],
                                                                                                  coordinates[4],
                                                                                                  coordinates[5],
                                                                                                  1};
            const espyiFrustumKernels* kernels = espyiFrustum_Pick(isas[k / 2u]);
            espyiMoving moving;
            espyiMoving_Make(&moving, sets, 2, kernels);
            uint32_t hidden[ESPY_TEST_BOXES / 32u + 1u] = {0};
            espyiMoving_Hide(&moving, &layout, list, count, 0, hidden);
            uint32_t next = 0;
            for (uint32_t i = 0; i < ESPY_TEST_BOXES; ++i)
            {
                bool asked = next < count && list[next] == i;
                next += asked ? 1u : 0u;
                bool expected = asked && espyViewSet_HidesBox(sets, 2, boxes[i]);
                assert_int_equal(espyiBits_Get(hidden, i), expected);
                hiddenCount += expected ? 1u : 0u;
            }
            if (moving.grids[0].perBlock > 0.0f)
            {
                espyiBlockSpans spans;
                kernels->findBlocks(&moving.grids[0], &layout, list, ESPYI_MOVING_CHUNK, &spans);
                assert_true(far == 1.0f && (spans.known & spans.outside) == 0);
                for (uint32_t i = 0; i < ESPYI_MOVING_CHUNK; ++i)
                {
                    known += ((spans.known | spans.outside) >> i & 1u) != 0 ? 1u : 0u;
                }
                all += ESPYI_MOVING_CHUNK;
            }
        }
        free(scratch[0]);
        free(scratch[1]);
        espyCullCase_Free(&c);
    }
    printf("%u hidden; %u of %u known without asking\n", hiddenCount, known, all);
    assert_true(hiddenCount > 1000 && all > 1000 && known > all / 3u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_at_once_are_boxes_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
