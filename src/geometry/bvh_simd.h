// SPDX-License-Identifier: MIT
// Eight float lanes by the instruction set that the including file is compiled for; plain loops where there is none.
//
// Min and Max give the second operand where either is NaN, as the x86 instructions do. Masks become one bit a lane.
#ifndef ESPYI_BVH_SIMD_H
#define ESPYI_BVH_SIMD_H

#include <stdint.h>

#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2) || defined(ESPY_KERNEL_SSE41)
#include <immintrin.h>
#endif

#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2)

typedef __m256 espyF8;

static inline espyF8 espyF8_Load(const float* p)
{
    return _mm256_load_ps(p);
}
static inline void espyF8_Store(float* p, espyF8 a)
{
    _mm256_store_ps(p, a);
}
static inline espyF8 espyF8_Set(float a)
{
    return _mm256_set1_ps(a);
}
static inline espyF8 espyF8_Add(espyF8 a, espyF8 b)
{
    return _mm256_add_ps(a, b);
}
static inline espyF8 espyF8_Sub(espyF8 a, espyF8 b)
{
    return _mm256_sub_ps(a, b);
}
static inline espyF8 espyF8_Mul(espyF8 a, espyF8 b)
{
    return _mm256_mul_ps(a, b);
}
static inline espyF8 espyF8_Div(espyF8 a, espyF8 b)
{
    return _mm256_div_ps(a, b);
}
static inline espyF8 espyF8_Min(espyF8 a, espyF8 b)
{
    return _mm256_min_ps(a, b);
}
static inline espyF8 espyF8_Max(espyF8 a, espyF8 b)
{
    return _mm256_max_ps(a, b);
}

static inline espyF8 espyF8_Abs(espyF8 a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
/// a where `sign` is below 0, else b.
static inline espyF8 espyF8_SelectNegative(espyF8 sign, espyF8 a, espyF8 b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(sign, _mm256_setzero_ps(), _CMP_LT_OQ));
}
/// Eight rows of eight floats become eight columns: out[i] has float i of each row.
static inline void espyF8_LoadTransposed(const float* const rows[8], espyF8 out[8])
{
    __m256 r[8], s[8];
    for (int i = 0; i < 4; ++i)
    {
        // Left halves of rows i and i + 4 side by side in r[i], right halves in r[4 + i].
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[i])), _mm_loadu_ps(rows[i + 4]), 1);
        r[4 + i] =
            _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[i] + 4)), _mm_loadu_ps(rows[i + 4] + 4), 1);
    }
    for (int half = 0; half < 8; half += 4)
    {
        s[half + 0] = _mm256_unpacklo_ps(r[half + 0], r[half + 1]);
        s[half + 1] = _mm256_unpackhi_ps(r[half + 0], r[half + 1]);
        s[half + 2] = _mm256_unpacklo_ps(r[half + 2], r[half + 3]);
        s[half + 3] = _mm256_unpackhi_ps(r[half + 2], r[half + 3]);
        out[half + 0] = _mm256_shuffle_ps(s[half + 0], s[half + 2], _MM_SHUFFLE(1, 0, 1, 0));
        out[half + 1] = _mm256_shuffle_ps(s[half + 0], s[half + 2], _MM_SHUFFLE(3, 2, 3, 2));
        out[half + 2] = _mm256_shuffle_ps(s[half + 1], s[half + 3], _MM_SHUFFLE(1, 0, 1, 0));
        out[half + 3] = _mm256_shuffle_ps(s[half + 1], s[half + 3], _MM_SHUFFLE(3, 2, 3, 2));
    }
}

#if defined(ESPY_KERNEL_AVX512)
static inline uint32_t espyF8_Less(espyF8 a, espyF8 b)
{
    return _mm256_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline uint32_t espyF8_LessEqual(espyF8 a, espyF8 b)
{
    return _mm256_cmp_ps_mask(a, b, _CMP_LE_OQ);
}
static inline uint32_t espyF8_Equal(espyF8 a, espyF8 b)
{
    return _mm256_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
#else
static inline uint32_t espyF8_Less(espyF8 a, espyF8 b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
static inline uint32_t espyF8_LessEqual(espyF8 a, espyF8 b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
static inline uint32_t espyF8_Equal(espyF8 a, espyF8 b)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
#endif

#elif defined(ESPY_KERNEL_SSE41)

typedef struct espyF8
{
    __m128 low, high;
} espyF8;

static inline espyF8 espyF8_Load(const float* p)
{
    return (espyF8){_mm_load_ps(p), _mm_load_ps(p + 4)};
}
static inline void espyF8_Store(float* p, espyF8 a)
{
    _mm_store_ps(p, a.low);
    _mm_store_ps(p + 4, a.high);
}
static inline espyF8 espyF8_Set(float a)
{
    return (espyF8){_mm_set1_ps(a), _mm_set1_ps(a)};
}
static inline espyF8 espyF8_Add(espyF8 a, espyF8 b)
{
    return (espyF8){_mm_add_ps(a.low, b.low), _mm_add_ps(a.high, b.high)};
}
static inline espyF8 espyF8_Sub(espyF8 a, espyF8 b)
{
    return (espyF8){_mm_sub_ps(a.low, b.low), _mm_sub_ps(a.high, b.high)};
}
static inline espyF8 espyF8_Mul(espyF8 a, espyF8 b)
{
    return (espyF8){_mm_mul_ps(a.low, b.low), _mm_mul_ps(a.high, b.high)};
}
static inline espyF8 espyF8_Div(espyF8 a, espyF8 b)
{
    return (espyF8){_mm_div_ps(a.low, b.low), _mm_div_ps(a.high, b.high)};
}
static inline espyF8 espyF8_Min(espyF8 a, espyF8 b)
{
    return (espyF8){_mm_min_ps(a.low, b.low), _mm_min_ps(a.high, b.high)};
}
static inline espyF8 espyF8_Max(espyF8 a, espyF8 b)
{
    return (espyF8){_mm_max_ps(a.low, b.low), _mm_max_ps(a.high, b.high)};
}
static inline espyF8 espyF8_Abs(espyF8 a)
{
    __m128 sign = _mm_set1_ps(-0.0f);
    return (espyF8){_mm_andnot_ps(sign, a.low), _mm_andnot_ps(sign, a.high)};
}
/// a where `sign` is below 0, else b.
static inline espyF8 espyF8_SelectNegative(espyF8 sign, espyF8 a, espyF8 b)
{
    __m128 zero = _mm_setzero_ps();
    return (espyF8){_mm_blendv_ps(b.low, a.low, _mm_cmplt_ps(sign.low, zero)),
                    _mm_blendv_ps(b.high, a.high, _mm_cmplt_ps(sign.high, zero))};
}
/// Eight rows of eight floats become eight columns: out[i] has float i of each row.
static inline void espyF8_LoadTransposed(const float* const rows[8], espyF8 out[8])
{
    for (int half = 0; half < 8; half += 4)
    {
        __m128 a[4], b[4];
        for (int i = 0; i < 4; ++i)
        {
            a[i] = _mm_loadu_ps(rows[i] + half);
            b[i] = _mm_loadu_ps(rows[i + 4] + half);
        }
        _MM_TRANSPOSE4_PS(a[0], a[1], a[2], a[3]);
        _MM_TRANSPOSE4_PS(b[0], b[1], b[2], b[3]);
        for (int i = 0; i < 4; ++i)
        {
            out[half + i] = (espyF8){a[i], b[i]};
        }
    }
}
static inline uint32_t espyF8_Less(espyF8 a, espyF8 b)
{
    return (uint32_t)_mm_movemask_ps(_mm_cmplt_ps(a.low, b.low)) |
           (uint32_t)_mm_movemask_ps(_mm_cmplt_ps(a.high, b.high)) << 4;
}
static inline uint32_t espyF8_LessEqual(espyF8 a, espyF8 b)
{
    return (uint32_t)_mm_movemask_ps(_mm_cmple_ps(a.low, b.low)) |
           (uint32_t)_mm_movemask_ps(_mm_cmple_ps(a.high, b.high)) << 4;
}
static inline uint32_t espyF8_Equal(espyF8 a, espyF8 b)
{
    return (uint32_t)_mm_movemask_ps(_mm_cmpeq_ps(a.low, b.low)) |
           (uint32_t)_mm_movemask_ps(_mm_cmpeq_ps(a.high, b.high)) << 4;
}

#else

// Checks at every access of every lane make inlined loops take minutes to compile.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ESPY_F8_CALL static __attribute__((noinline, unused))
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ESPY_F8_CALL static __attribute__((noinline, unused))
#endif
#if !defined(ESPY_F8_CALL)
#define ESPY_F8_CALL static inline
#endif

typedef struct espyF8
{
    float lane[8];
} espyF8;

#define ESPY_F8_BINARY(name, expression)                         \
    ESPY_F8_CALL espyF8 espyF8_##name(espyF8 left, espyF8 right) \
    {                                                            \
        espyF8 result;                                           \
        for (int i = 0; i < 8; ++i)                              \
        {                                                        \
            float a = left.lane[i], b = right.lane[i];           \
            result.lane[i] = (expression);                       \
        }                                                        \
        return result;                                           \
    }
ESPY_F8_BINARY(Add, a + b)
ESPY_F8_BINARY(Sub, a - b)
ESPY_F8_BINARY(Mul, a* b)
ESPY_F8_BINARY(Div, a / b)
ESPY_F8_BINARY(Min, a < b ? a : b)
ESPY_F8_BINARY(Max, a > b ? a : b)
#undef ESPY_F8_BINARY

#define ESPY_F8_COMPARE(name, operation)                                   \
    ESPY_F8_CALL uint32_t espyF8_##name(espyF8 left, espyF8 right)         \
    {                                                                      \
        uint32_t bits = 0;                                                 \
        for (int i = 0; i < 8; ++i)                                        \
        {                                                                  \
            bits |= (uint32_t)(left.lane[i] operation right.lane[i]) << i; \
        }                                                                  \
        return bits;                                                       \
    }
ESPY_F8_COMPARE(Less, <)
ESPY_F8_COMPARE(LessEqual, <=)
ESPY_F8_COMPARE(Equal, ==)
#undef ESPY_F8_COMPARE

ESPY_F8_CALL espyF8 espyF8_Load(const float* p)
{
    espyF8 result;
    for (int i = 0; i < 8; ++i)
    {
        result.lane[i] = p[i];
    }
    return result;
}
ESPY_F8_CALL void espyF8_Store(float* p, espyF8 a)
{
    for (int i = 0; i < 8; ++i)
    {
        p[i] = a.lane[i];
    }
}
ESPY_F8_CALL espyF8 espyF8_Set(float a)
{
    return (espyF8){{a, a, a, a, a, a, a, a}};
}

ESPY_F8_CALL espyF8 espyF8_Abs(espyF8 a)
{
    for (int i = 0; i < 8; ++i)
    {
        a.lane[i] = a.lane[i] < 0.0f ? -a.lane[i] : a.lane[i];
    }
    return a;
}
/// a where `sign` is below 0, else b.
ESPY_F8_CALL espyF8 espyF8_SelectNegative(espyF8 sign, espyF8 a, espyF8 b)
{
    for (int i = 0; i < 8; ++i)
    {
        b.lane[i] = sign.lane[i] < 0.0f ? a.lane[i] : b.lane[i];
    }
    return b;
}
/// Eight rows of eight floats become eight columns: out[i] has float i of each row.
ESPY_F8_CALL void espyF8_LoadTransposed(const float* const rows[8], espyF8 out[8])
{
    for (int i = 0; i < 8; ++i)
    {
        for (int k = 0; k < 8; ++k)
        {
            out[i].lane[k] = rows[k][i];
        }
    }
}

#endif

/// Index of the lowest set bit of a value that is not 0.
static inline uint32_t espyBits_Lowest(uint32_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctz(bits);
#else
    uint32_t index = 0;
    for (; (bits & 1u) == 0; bits >>= 1)
    {
        ++index;
    }
    return index;
#endif
}

/// How far past the values that it pushes espyStack_Push may write.
#define ESPYI_BVH_PUSH_SLACK 4u

/// Pushes the values of the lanes in a mask, the lowest lane first; returns the new depth.
static inline uint32_t espyStack_Push(uint32_t* stack, uint32_t depth, const uint32_t values[8], uint32_t mask)
{
#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2) || defined(ESPY_KERNEL_SSE41)
    // Without branches, which nothing could predict: bytes of the chosen lanes move to the front.
#define ESPY_LANE(i) 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3
#define ESPY_LANES(a, b, c, d)                                 \
    {                                                          \
        ESPY_LANE(a), ESPY_LANE(b), ESPY_LANE(c), ESPY_LANE(d) \
    }
    static const _Alignas(16) uint8_t order[16][16] = {
        ESPY_LANES(0, 0, 0, 0), ESPY_LANES(0, 0, 0, 0), ESPY_LANES(1, 0, 0, 0), ESPY_LANES(0, 1, 0, 0),
        ESPY_LANES(2, 0, 0, 0), ESPY_LANES(0, 2, 0, 0), ESPY_LANES(1, 2, 0, 0), ESPY_LANES(0, 1, 2, 0),
        ESPY_LANES(3, 0, 0, 0), ESPY_LANES(0, 3, 0, 0), ESPY_LANES(1, 3, 0, 0), ESPY_LANES(0, 1, 3, 0),
        ESPY_LANES(2, 3, 0, 0), ESPY_LANES(0, 2, 3, 0), ESPY_LANES(1, 2, 3, 0), ESPY_LANES(0, 1, 2, 3),
    };
#undef ESPY_LANES
#undef ESPY_LANE
    for (uint32_t first = 0; first < 8; first += 4)
    {
        uint32_t half = mask >> first & 15u;
        __m128i lanes = _mm_load_si128((const __m128i*)(const void*)(values + first));
        __m128i front = _mm_shuffle_epi8(lanes, _mm_load_si128((const __m128i*)(const void*)order[half]));
        _mm_storeu_si128((__m128i*)(void*)(stack + depth), front);
        depth += (uint32_t)(0x4332322132212110u >> 4 * half) & 7u; // How many bits `half` has.
    }
#else
    for (; mask != 0; mask &= mask - 1)
    {
        stack[depth++] = values[espyBits_Lowest(mask)];
    }
#endif
    return depth;
}

#endif
