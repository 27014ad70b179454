// SPDX-License-Identifier: MIT
// Coarse blocks of moving boxes: included by frustum.inl, so compiled once per instruction set. Same results in every
// version: operations and their order are those of the plain one.
#include "world/moving.h"

#if defined(ESPY_LANES)

#if defined(__AVX512F__)
#define ESPY_STORE_WHOLE(to, v) _mm512_storeu_si512(to, _mm512_cvttps_epi32(v))
#define ESPY_WHOLE(v) _mm512_cvtepi32_ps(_mm512_cvttps_epi32(v))
#elif defined(__AVX2__)
#define ESPY_STORE_WHOLE(to, v) _mm256_storeu_si256((__m256i*)(void*)(to), _mm256_cvttps_epi32(v))
#define ESPY_WHOLE(v) _mm256_cvtepi32_ps(_mm256_cvttps_epi32(v))
#else
#define ESPY_STORE_WHOLE(to, v) _mm_storeu_si128((__m128i*)(void*)(to), _mm_cvttps_epi32(v))
#define ESPY_WHOLE(v) _mm_cvtepi32_ps(_mm_cvttps_epi32(v))
#endif

/// Blocks of the boxes of one round of lanes, of which the first is number `at` of the spans.
static inline void espyMoving_FindLanes(const espyiBlockGrid* grid, const espyLanes box[6], uint32_t at,
                                        espyiBlockSpans* out)
{
    const espyLanes per = ESPY_SET(grid->perBlock);
    const espyLanes slack = ESPY_SET(grid->slack);
    const espyLanes rest = ESPY_SET(1.0f - grid->slack);
    const espyLanes below = ESPY_SET(0.0f - grid->slack);
    uint32_t known = (1u << ESPY_LANES) - 1u;
    uint32_t outside = 0;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        espyLanes origin = ESPY_SET(grid->origin[axis]);
        espyLanes low = ESPY_MUL(ESPY_SUB(box[axis], origin), per);
        espyLanes high = ESPY_MUL(ESPY_SUB(box[axis + 3u], origin), per);
        outside |= ESPY_BITS(ESPY_OR(ESPY_LESS(low, below), ESPY_LESS(ESPY_SET(grid->top[axis] + grid->slack), high)));
        espyLaneMask sure =
            ESPY_AND(ESPY_UP_TO(box[axis], box[axis + 3u]),
                     ESPY_AND(ESPY_LESS(slack, low), ESPY_LESS(high, ESPY_SET(grid->top[axis] - grid->slack))));
        espyLanes lowPart = ESPY_SUB(low, ESPY_WHOLE(low));
        espyLanes highPart = ESPY_SUB(high, ESPY_WHOLE(high));
        sure = ESPY_AND(sure, ESPY_AND(ESPY_LESS(slack, lowPart), ESPY_LESS(lowPart, rest)));
        sure = ESPY_AND(sure, ESPY_AND(ESPY_LESS(slack, highPart), ESPY_LESS(highPart, rest)));
        known &= ESPY_BITS(sure);
        ESPY_STORE_WHOLE(&out->first[axis][at], low);
        ESPY_STORE_WHOLE(&out->last[axis][at], high);
    }
    out->known |= (uint64_t)known << at;
    out->outside |= (uint64_t)outside << at;
}

static void espyMoving_FindBlocks(const espyiBlockGrid* grid, const espyCullBoxes* boxes, const uint32_t* draws,
                                  uint32_t count, espyiBlockSpans* out)
{
    out->known = out->outside = 0;
    for (uint32_t i = 0; i < count; i += ESPY_LANES)
    {
        espyLanes box[6];
        if (i + ESPY_LANES <= count)
        {
            espyFrustum_Load(boxes, draws + i, true, box);
        }
        else
        {
            // Filled up with the last one: bits behind it mean nothing.
            uint32_t rest[ESPY_LANES];
            for (uint32_t k = 0; k < ESPY_LANES; ++k)
            {
                rest[k] = draws[i + k < count ? i + k : count - 1u];
            }
            espyFrustum_Load(boxes, rest, false, box);
        }
        espyMoving_FindLanes(grid, box, i, out);
    }
}

#else

static void espyMoving_FindBlocks(const espyiBlockGrid* grid, const espyCullBoxes* boxes, const uint32_t* draws,
                                  uint32_t count, espyiBlockSpans* out)
{
    out->known = out->outside = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyBox box = espyFrustum_Box(boxes, draws[i]);
        const float lows[3] = {box.min.x, box.min.y, box.min.z};
        const float highs[3] = {box.max.x, box.max.y, box.max.z};
        bool known = true;
        bool outside = false;
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            float low = (lows[axis] - grid->origin[axis]) * grid->perBlock;
            float high = (highs[axis] - grid->origin[axis]) * grid->perBlock;
            bool sure = lows[axis] <= highs[axis] && grid->slack < low && high < grid->top[axis] - grid->slack;
            outside = outside || low < 0.0f - grid->slack || grid->top[axis] + grid->slack < high;
            // Only what fits may be turned into whole numbers.
            int32_t first = sure ? (int32_t)low : 0;
            int32_t last = sure ? (int32_t)high : 0;
            float lowPart = low - (float)first;
            float highPart = high - (float)last;
            known = known && sure && grid->slack < lowPart && lowPart < 1.0f - grid->slack && grid->slack < highPart &&
                    highPart < 1.0f - grid->slack;
            out->first[axis][i] = first;
            out->last[axis][i] = last;
        }
        out->known |= known ? (uint64_t)1 << i : 0u;
        out->outside |= outside ? (uint64_t)1 << i : 0u;
    }
}

#endif
