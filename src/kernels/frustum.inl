// SPDX-License-Identifier: MIT
// Frustum kernels, compiled once per instruction set. The includer names the getter in ESPYI_FRUSTUM_KERNELS.
//
// Each lane holds one box: low and high corner from the eye, and how far the box reaches. For a plane, the corner that
// lies farthest inwards is the same one for all boxes, so choosing it is choosing three vectors. Operations and their
// order are those of espyiViewEye_IsOutside. Same results in every version.
//
// Based on: U. Assarsson and T. Moller, "Optimized View Frustum Culling Algorithms for Bounding Boxes", 2000.
#include "kernels/list_bits.inl"
#include "world/frustum.h"
#include "world/view_internal.h"

// --- one box

static inline espyBox espyFrustum_Box(const espyCullBoxes* boxes, uint32_t draw)
{
    size_t at = (size_t)draw * boxes->stride;
    return (espyBox){{boxes->minX[at], boxes->minY[at], boxes->minZ[at]},
                     {boxes->maxX[at], boxes->maxY[at], boxes->maxZ[at]}};
}

static inline bool espyFrustum_IsOutside(const espyView* view, const espyBox* box)
{
    bool outside = box->min.x <= box->max.x && box->min.y <= box->max.y && box->min.z <= box->max.z;
    for (uint32_t i = 0; i < view->eyeCount && outside; ++i)
    {
        outside = espyiViewEye_IsOutside(&view->eyes[i], box);
    }
    return outside;
}

// --- lanes

#if defined(__AVX512F__)

#define ESPY_LANES 16u
typedef __m512 espyLanes;
typedef __mmask16 espyLaneMask;

#define ESPY_SET(v) _mm512_set1_ps(v)
#define ESPY_ADD(a, b) _mm512_add_ps(a, b)
#define ESPY_SUB(a, b) _mm512_sub_ps(a, b)
#define ESPY_MUL(a, b) _mm512_mul_ps(a, b)
#define ESPY_MAX(a, b) _mm512_max_ps(a, b)
#define ESPY_LESS(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define ESPY_UP_TO(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)
#define ESPY_AND(a, b) ((espyLaneMask)((a) & (b)))
#define ESPY_OR(a, b) ((espyLaneMask)((a) | (b)))
#define ESPY_NONE ((espyLaneMask)0)
#define ESPY_BITS(a) ((uint32_t)(a))

static inline void espyFrustum_Load(const espyCullBoxes* boxes, const uint32_t* draws, bool ascending, espyLanes out[6])
{
    (void)ascending;
    // The index fits 32 bits: draws are limited, and the stride is 1 or 6.
    __m512i at = _mm512_mullo_epi32(_mm512_loadu_si512(draws), _mm512_set1_epi32((int)boxes->stride));
    out[0] = _mm512_i32gather_ps(at, boxes->minX, 4);
    out[1] = _mm512_i32gather_ps(at, boxes->minY, 4);
    out[2] = _mm512_i32gather_ps(at, boxes->minZ, 4);
    out[3] = _mm512_i32gather_ps(at, boxes->maxX, 4);
    out[4] = _mm512_i32gather_ps(at, boxes->maxY, 4);
    out[5] = _mm512_i32gather_ps(at, boxes->maxZ, 4);
}

/// Stores the draws of the 1 bits, with `base` added; up to ESPY_LANES entries are overwritten.
static inline uint32_t espyFrustum_Keep(const uint32_t* draws, uint32_t bits, uint32_t base, uint32_t* out)
{
    __m512i entries = _mm512_add_epi32(_mm512_loadu_si512(draws), _mm512_set1_epi32((int)base));
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)bits, entries));
    return (uint32_t)__builtin_popcount(bits);
}

#elif defined(__AVX2__)

#define ESPY_LANES 8u
typedef __m256 espyLanes;
typedef __m256 espyLaneMask;

#define ESPY_SET(v) _mm256_set1_ps(v)
#define ESPY_ADD(a, b) _mm256_add_ps(a, b)
#define ESPY_SUB(a, b) _mm256_sub_ps(a, b)
#define ESPY_MUL(a, b) _mm256_mul_ps(a, b)
#define ESPY_MAX(a, b) _mm256_max_ps(a, b)
#define ESPY_LESS(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define ESPY_UP_TO(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define ESPY_AND(a, b) _mm256_and_ps(a, b)
#define ESPY_OR(a, b) _mm256_or_ps(a, b)
#define ESPY_NONE _mm256_setzero_ps()
#define ESPY_BITS(a) ((uint32_t)_mm256_movemask_ps(a))

/// Four floats of two boxes side by side: what the two halves of a transposition take.
static inline __m256 espyFrustum_Pair(const float* first, const float* second)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(first)), _mm_loadu_ps(second), 1);
}

static inline __m256 espyFrustum_Gather(const float* from, const uint32_t* d)
{
    return _mm256_setr_ps(from[d[0]], from[d[1]], from[d[2]], from[d[3]], from[d[4]], from[d[5]], from[d[6]],
                          from[d[7]]);
}

static inline void espyFrustum_LoadBoxes(const float* boxes, const uint32_t* d, espyLanes out[6])
{
    const float *b0 = boxes + (size_t)d[0] * 6u, *b1 = boxes + (size_t)d[1] * 6u, *b2 = boxes + (size_t)d[2] * 6u;
    const float *b3 = boxes + (size_t)d[3] * 6u, *b4 = boxes + (size_t)d[4] * 6u, *b5 = boxes + (size_t)d[5] * 6u;
    const float *b6 = boxes + (size_t)d[6] * 6u, *b7 = boxes + (size_t)d[7] * 6u;
    // Each box as two overlapping quarters: min.x min.y min.z max.x, and min.z max.x max.y max.z.
    __m256 l0 = espyFrustum_Pair(b0, b4), l1 = espyFrustum_Pair(b1, b5);
    __m256 l2 = espyFrustum_Pair(b2, b6), l3 = espyFrustum_Pair(b3, b7);
    __m256 h0 = espyFrustum_Pair(b0 + 2, b4 + 2), h1 = espyFrustum_Pair(b1 + 2, b5 + 2);
    __m256 h2 = espyFrustum_Pair(b2 + 2, b6 + 2), h3 = espyFrustum_Pair(b3 + 2, b7 + 2);
    __m256 low01 = _mm256_unpacklo_ps(l0, l1), low23 = _mm256_unpacklo_ps(l2, l3);
    __m256 mid01 = _mm256_unpackhi_ps(l0, l1), mid23 = _mm256_unpackhi_ps(l2, l3);
    __m256 high01 = _mm256_unpackhi_ps(h0, h1), high23 = _mm256_unpackhi_ps(h2, h3);
    out[0] = _mm256_shuffle_ps(low01, low23, 0x44);
    out[1] = _mm256_shuffle_ps(low01, low23, 0xEE);
    out[2] = _mm256_shuffle_ps(mid01, mid23, 0x44);
    out[3] = _mm256_shuffle_ps(mid01, mid23, 0xEE);
    out[4] = _mm256_shuffle_ps(high01, high23, 0x44);
    out[5] = _mm256_shuffle_ps(high01, high23, 0xEE);
}

static inline void espyFrustum_LoadRun(const espyCullBoxes* boxes, uint32_t first, espyLanes out[6])
{
    out[0] = _mm256_loadu_ps(boxes->minX + first);
    out[1] = _mm256_loadu_ps(boxes->minY + first);
    out[2] = _mm256_loadu_ps(boxes->minZ + first);
    out[3] = _mm256_loadu_ps(boxes->maxX + first);
    out[4] = _mm256_loadu_ps(boxes->maxY + first);
    out[5] = _mm256_loadu_ps(boxes->maxZ + first);
}

static inline uint32_t espyFrustum_Keep(const uint32_t* draws, uint32_t bits, uint32_t base, uint32_t* out)
{
    __m256i places = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)(const void*)&espyList_Places[bits & 0xFFu]));
    __m256i kept = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i*)(const void*)draws), places);
    _mm256_storeu_si256((__m256i*)(void*)out, _mm256_add_epi32(kept, _mm256_set1_epi32((int)base)));
    return espyiPopCount32(bits);
}

#elif defined(__SSE4_1__)

#define ESPY_LANES 4u
typedef __m128 espyLanes;
typedef __m128 espyLaneMask;

#define ESPY_SET(v) _mm_set1_ps(v)
#define ESPY_ADD(a, b) _mm_add_ps(a, b)
#define ESPY_SUB(a, b) _mm_sub_ps(a, b)
#define ESPY_MUL(a, b) _mm_mul_ps(a, b)
#define ESPY_MAX(a, b) _mm_max_ps(a, b)
#define ESPY_LESS(a, b) _mm_cmplt_ps(a, b)
#define ESPY_UP_TO(a, b) _mm_cmple_ps(a, b)
#define ESPY_AND(a, b) _mm_and_ps(a, b)
#define ESPY_OR(a, b) _mm_or_ps(a, b)
#define ESPY_NONE _mm_setzero_ps()
#define ESPY_BITS(a) ((uint32_t)_mm_movemask_ps(a))

static inline __m128 espyFrustum_Gather(const float* from, const uint32_t* d)
{
    return _mm_setr_ps(from[d[0]], from[d[1]], from[d[2]], from[d[3]]);
}

static inline void espyFrustum_LoadBoxes(const float* boxes, const uint32_t* d, espyLanes out[6])
{
    const float *b0 = boxes + (size_t)d[0] * 6u, *b1 = boxes + (size_t)d[1] * 6u;
    const float *b2 = boxes + (size_t)d[2] * 6u, *b3 = boxes + (size_t)d[3] * 6u;
    __m128 l0 = _mm_loadu_ps(b0), l1 = _mm_loadu_ps(b1), l2 = _mm_loadu_ps(b2), l3 = _mm_loadu_ps(b3);
    __m128 h0 = _mm_loadu_ps(b0 + 2), h1 = _mm_loadu_ps(b1 + 2), h2 = _mm_loadu_ps(b2 + 2), h3 = _mm_loadu_ps(b3 + 2);
    __m128 low01 = _mm_unpacklo_ps(l0, l1), low23 = _mm_unpacklo_ps(l2, l3);
    __m128 mid01 = _mm_unpackhi_ps(l0, l1), mid23 = _mm_unpackhi_ps(l2, l3);
    __m128 high01 = _mm_unpackhi_ps(h0, h1), high23 = _mm_unpackhi_ps(h2, h3);
    out[0] = _mm_movelh_ps(low01, low23);
    out[1] = _mm_movehl_ps(low23, low01);
    out[2] = _mm_movelh_ps(mid01, mid23);
    out[3] = _mm_movehl_ps(mid23, mid01);
    out[4] = _mm_movelh_ps(high01, high23);
    out[5] = _mm_movehl_ps(high23, high01);
}

static inline void espyFrustum_LoadRun(const espyCullBoxes* boxes, uint32_t first, espyLanes out[6])
{
    out[0] = _mm_loadu_ps(boxes->minX + first);
    out[1] = _mm_loadu_ps(boxes->minY + first);
    out[2] = _mm_loadu_ps(boxes->minZ + first);
    out[3] = _mm_loadu_ps(boxes->maxX + first);
    out[4] = _mm_loadu_ps(boxes->maxY + first);
    out[5] = _mm_loadu_ps(boxes->maxZ + first);
}

static inline uint32_t espyFrustum_Keep(const uint32_t* draws, uint32_t bits, uint32_t base, uint32_t* out)
{
    // Four numbers of the lanes to keep, each turned into the numbers of its four bytes.
    const __m128i bytes = _mm_set1_epi32(0x03020100);
    __m128i places = _mm_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)(const void*)&espyList_Places[bits]));
    __m128i shuffle = _mm_add_epi8(_mm_mullo_epi32(places, _mm_set1_epi32(0x04040404)), bytes);
    __m128i kept = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i*)(const void*)draws), shuffle);
    _mm_storeu_si128((__m128i*)(void*)out, _mm_add_epi32(kept, _mm_set1_epi32((int)base)));
    return espyiPopCount32(bits);
}

#endif

#if defined(ESPY_LANES)

#if !defined(__AVX512F__)

/// `ascending`: no draw comes twice.
static inline void espyFrustum_Load(const espyCullBoxes* boxes, const uint32_t* draws, bool ascending, espyLanes out[6])
{
    if (boxes->stride == 6u)
    {
        espyFrustum_LoadBoxes(boxes->minX, draws, out);
    }
    else if (ascending && draws[ESPY_LANES - 1u] - draws[0] == ESPY_LANES - 1u)
    {
        // Neighbours.
        espyFrustum_LoadRun(boxes, draws[0], out);
    }
    else
    {
        out[0] = espyFrustum_Gather(boxes->minX, draws);
        out[1] = espyFrustum_Gather(boxes->minY, draws);
        out[2] = espyFrustum_Gather(boxes->minZ, draws);
        out[3] = espyFrustum_Gather(boxes->maxX, draws);
        out[4] = espyFrustum_Gather(boxes->maxY, draws);
        out[5] = espyFrustum_Gather(boxes->maxZ, draws);
    }
}

#endif

/// A plane, and which of a box's coordinates make its inner corner: 0 and 1 are low and high of x, and so on.
typedef struct espyFrustumPlane
{
    espyPlane plane;
    uint32_t x, y, z;
} espyFrustumPlane;

typedef struct espyFrustumPlanes
{
    espyFrustumPlane of[2][ESPYI_VIEW_PLANES];
} espyFrustumPlanes;

static void espyFrustum_Choose(const espyView* view, espyFrustumPlanes* out)
{
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        for (uint32_t p = 0; p < ESPYI_VIEW_PLANES; ++p)
        {
            espyPlane plane = view->eyes[i].planes[p];
            out->of[i][p] = (espyFrustumPlane){plane, plane.normal.x >= 0.0f ? 1u : 0u,
                                               plane.normal.y >= 0.0f ? 3u : 2u, plane.normal.z >= 0.0f ? 5u : 4u};
        }
    }
}

/// Draws whose boxes are asked for ahead.
#define ESPY_AHEAD 32u

// A macro, because compilers drop calls of functions that do nothing but this.
#define espyFrustum_Prefetch(boxes, draw)                     \
    do                                                        \
    {                                                         \
        size_t prefetchAt = (size_t)(draw) * (boxes)->stride; \
        ESPYI_PREFETCH((boxes)->minX + prefetchAt);           \
        ESPYI_PREFETCH((boxes)->maxZ + prefetchAt);           \
        if ((boxes)->stride == 1u)                            \
        {                                                     \
            ESPYI_PREFETCH((boxes)->minY + prefetchAt);       \
            ESPYI_PREFETCH((boxes)->minZ + prefetchAt);       \
            ESPYI_PREFETCH((boxes)->maxX + prefetchAt);       \
            ESPYI_PREFETCH((boxes)->maxY + prefetchAt);       \
        }                                                     \
    } while (0)

/// Bits of the lanes whose box is outside.
static inline uint32_t espyFrustum_TestLanes(const espyView* view, const espyFrustumPlanes* planes,
                                             const espyLanes box[6])
{
    espyLaneMask valid =
        ESPY_AND(ESPY_AND(ESPY_UP_TO(box[0], box[3]), ESPY_UP_TO(box[1], box[4])), ESPY_UP_TO(box[2], box[5]));
    uint32_t outside = ESPY_BITS(valid);
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        const espyViewEye* eye = &view->eyes[i];
        const espyLanes zero = ESPY_SET(0.0f);
        espyLanes eyeX = ESPY_SET(eye->eye.x), eyeY = ESPY_SET(eye->eye.y), eyeZ = ESPY_SET(eye->eye.z);
        espyLanes v[6] = {ESPY_SUB(box[0], eyeX), ESPY_SUB(box[3], eyeX), ESPY_SUB(box[1], eyeY),
                          ESPY_SUB(box[4], eyeY), ESPY_SUB(box[2], eyeZ), ESPY_SUB(box[5], eyeZ)};
        espyLanes reach = ESPY_ADD(ESPY_MAX(ESPY_SUB(zero, v[0]), v[1]), ESPY_MAX(ESPY_SUB(zero, v[2]), v[3]));
        reach = ESPY_ADD(reach, ESPY_MAX(ESPY_SUB(zero, v[4]), v[5]));
        espyLanes limit = ESPY_MUL(reach, ESPY_SET(-ESPYI_VIEW_EPSILON));
        espyLaneMask beyond = ESPY_NONE;
        for (uint32_t p = 0; p < ESPYI_VIEW_PLANES; ++p)
        {
            const espyFrustumPlane* plane = &planes->of[i][p];
            espyLanes inside = ESPY_ADD(ESPY_MUL(ESPY_SET(plane->plane.normal.x), v[plane->x]),
                                        ESPY_MUL(ESPY_SET(plane->plane.normal.y), v[plane->y]));
            inside = ESPY_ADD(inside, ESPY_MUL(ESPY_SET(plane->plane.normal.z), v[plane->z]));
            inside = ESPY_ADD(inside, ESPY_SET(plane->plane.distance));
            beyond = ESPY_OR(beyond, ESPY_LESS(inside, limit));
        }
        outside &= ESPY_BITS(beyond);
    }
    return outside;
}

static uint32_t espyFrustum_Cull(const espyView* view, const espyCullBoxes* boxes, const uint32_t* draws,
                                 uint32_t count, uint32_t base, uint32_t* out)
{
    const uint32_t all = (1u << ESPY_LANES) - 1u;
    uint32_t kept = 0;
    uint32_t i = 0;
    espyLanes box[6];
    espyFrustumPlanes planes;
    espyFrustum_Choose(view, &planes);
    // Few of many draws lie far apart, each in memory of its own: all that can be waited for at a time is.
    bool scattered = count > 0 && (draws[count - 1u] - draws[0]) / 4u >= count;
    for (uint32_t k = 0; scattered && k < count && k < ESPY_AHEAD; ++k)
    {
        espyFrustum_Prefetch(boxes, draws[k]);
    }
    for (; i + ESPY_LANES <= count; i += ESPY_LANES)
    {
        for (uint32_t k = i + ESPY_AHEAD; scattered && k < i + ESPY_AHEAD + ESPY_LANES && k < count; ++k)
        {
            espyFrustum_Prefetch(boxes, draws[k]);
        }
        espyFrustum_Load(boxes, draws + i, true, box);
        kept += espyFrustum_Keep(draws + i, all & ~espyFrustum_TestLanes(view, &planes, box), base, out + kept);
    }
    if (i < count)
    {
        // The rest, filled up with its last one.
        uint32_t rest[ESPY_LANES], last[ESPY_LANES];
        uint32_t restCount = count - i;
        for (uint32_t k = 0; k < ESPY_LANES; ++k)
        {
            rest[k] = draws[i + (k < restCount ? k : restCount - 1u)];
        }
        espyFrustum_Load(boxes, rest, false, box);
        uint32_t bits = ~espyFrustum_TestLanes(view, &planes, box) & ((1u << restCount) - 1u);
        uint32_t lastCount = espyFrustum_Keep(rest, bits, base, last);
        for (uint32_t k = 0; k < lastCount; ++k)
        {
            out[kept++] = last[k];
        }
    }
    return kept;
}

#else

static uint32_t espyFrustum_Cull(const espyView* view, const espyCullBoxes* boxes, const uint32_t* draws,
                                 uint32_t count, uint32_t base, uint32_t* out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyBox box = espyFrustum_Box(boxes, draws[i]);
        if (!espyFrustum_IsOutside(view, &box))
        {
            out[kept++] = draws[i] + base;
        }
    }
    return kept;
}

#endif

#include "kernels/moving.inl"

// --- bits

static uint32_t espyFrustum_CountBits(const uint32_t* words, uint32_t wordCount)
{
    uint32_t count = 0;
    uint32_t i = 0;
#if defined(__AVX2__)
    // A table of the ones of half a byte; sums of bytes, then of eight bytes.
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                           2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    __m256i sum = _mm256_setzero_si256();
    for (; i + 8u <= wordCount; i += 8u)
    {
        __m256i w = _mm256_loadu_si256((const __m256i*)(const void*)(words + i));
        __m256i ones = _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(w, low)),
                                       _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(w, 4), low)));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(ones, _mm256_setzero_si256()));
    }
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    count = (uint32_t)_mm_cvtsi128_si32(two) + (uint32_t)_mm_extract_epi32(two, 2);
#elif defined(__SSE4_1__)
    const __m128i table = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m128i low = _mm_set1_epi8(15);
    __m128i sum = _mm_setzero_si128();
    for (; i + 4u <= wordCount; i += 4u)
    {
        __m128i w = _mm_loadu_si128((const __m128i*)(const void*)(words + i));
        __m128i ones = _mm_add_epi8(_mm_shuffle_epi8(table, _mm_and_si128(w, low)),
                                    _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(w, 4), low)));
        sum = _mm_add_epi64(sum, _mm_sad_epu8(ones, _mm_setzero_si128()));
    }
    count = (uint32_t)_mm_cvtsi128_si32(sum) + (uint32_t)_mm_extract_epi32(sum, 2);
#endif
    for (; i < wordCount; ++i)
    {
        count += espyiPopCount32(words[i]);
    }
    return count;
}

const espyiFrustumKernels* ESPYI_FRUSTUM_KERNELS(void)
{
    static const espyiFrustumKernels kernels = {espyFrustum_Cull, espyList_Bits, espyFrustum_CountBits,
                                                espyMoving_FindBlocks};
    return &kernels;
}
