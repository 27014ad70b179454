// SPDX-License-Identifier: MIT
// Eight lanes of floats, integers and spans by the instruction set that the including file is compiled for.
//
// AVX2 and AVX-512 hold eight lanes in one register; SSE4.1, NEON and wasm128 in two; where there is none, plain loops
// do. Every operation is exact or rounds once by IEEE 754, so that all sets give the same bits:
//   Min, Max      the second operand where either is NaN;
//   ToInt         of whole numbers below 2^31 only;
//   masks         lanes of all ones or all zeros in espyI8;
//   Bit           2^n for n in 0..30;
//   RowBits       bit 8 * row + column of 64; Keep leaves lanes whose bit is set in a row, 0 in the others.
#ifndef ESPYI_RASTER_SIMD_H
#define ESPYI_RASTER_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2) || defined(ESPY_KERNEL_SSE41)
#include <immintrin.h>
#define ESPY_SIMD_X86
#elif defined(ESPY_KERNEL_NEON)
#include <arm_neon.h>
#elif defined(ESPY_KERNEL_WASM128)
#include <wasm_simd128.h>
#endif

// Loops over the eight rows of a tile, whose row numbers then are constants.
#if defined(__clang__)
#define ESPY_UNROLL _Pragma("clang loop unroll_count(8)")
#elif defined(__GNUC__)
#define ESPY_UNROLL _Pragma("GCC unroll 8")
#else
#define ESPY_UNROLL
#endif

/// Whether to look for rows without a pixel: eight lanes at once are done before a branch is guessed wrong.
#if defined(ESPY_SIMD_X86) || defined(ESPY_KERNEL_NEON) || defined(ESPY_KERNEL_WASM128)
#define ESPY_SKIP_ROWS false
#else
#define ESPY_SKIP_ROWS true
#endif

// Checks at every access of every lane make inlined loops take minutes to compile: there they stay calls.
#if defined(ESPY_SIMD_X86) || defined(ESPY_KERNEL_NEON) || defined(ESPY_KERNEL_WASM128)
#define ESPY_LANES_CALL static inline __attribute__((always_inline, unused))
#else
#define ESPY_LANES_CALL static inline __attribute__((unused))
#endif

// --- AVX2: eight lanes in one register

#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2)

typedef __m256 espyF8;
typedef __m256i espyI8;

ESPY_LANES_CALL espyF8 espyF8_Load(const float* p)
{
    return _mm256_loadu_ps(p);
}
ESPY_LANES_CALL void espyF8_Store(float* p, espyF8 a)
{
    _mm256_storeu_ps(p, a);
}
ESPY_LANES_CALL espyF8 espyF8_Set(float a)
{
    return _mm256_set1_ps(a);
}
ESPY_LANES_CALL espyI8 espyI8_Load(const int32_t* p)
{
    return _mm256_loadu_si256((const __m256i*)(const void*)p);
}
ESPY_LANES_CALL void espyI8_Store(int32_t* p, espyI8 a)
{
    _mm256_storeu_si256((__m256i*)(void*)p, a);
}
ESPY_LANES_CALL espyI8 espyI8_Set(int32_t a)
{
    return _mm256_set1_epi32(a);
}
#define ESPY_LANES_2(name, type, result, call)  \
    ESPY_LANES_CALL result name(type a, type b) \
    {                                           \
        return call;                            \
    }
ESPY_LANES_2(espyF8_Add, espyF8, espyF8, _mm256_add_ps(a, b))
ESPY_LANES_2(espyF8_Sub, espyF8, espyF8, _mm256_sub_ps(a, b))
ESPY_LANES_2(espyF8_Mul, espyF8, espyF8, _mm256_mul_ps(a, b))
ESPY_LANES_2(espyF8_Div, espyF8, espyF8, _mm256_div_ps(a, b))
ESPY_LANES_2(espyF8_Min, espyF8, espyF8, _mm256_min_ps(a, b))
ESPY_LANES_2(espyF8_Max, espyF8, espyF8, _mm256_max_ps(a, b))
ESPY_LANES_2(espyF8_Less, espyF8, espyI8, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LT_OQ)))
ESPY_LANES_2(espyF8_LessEqual, espyF8, espyI8, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_LE_OQ)))
ESPY_LANES_2(espyF8_Equal, espyF8, espyI8, _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)))
ESPY_LANES_2(espyI8_Add, espyI8, espyI8, _mm256_add_epi32(a, b))
ESPY_LANES_2(espyI8_Sub, espyI8, espyI8, _mm256_sub_epi32(a, b))
ESPY_LANES_2(espyI8_And, espyI8, espyI8, _mm256_and_si256(a, b))
ESPY_LANES_2(espyI8_Or, espyI8, espyI8, _mm256_or_si256(a, b))
ESPY_LANES_2(espyI8_AndNot, espyI8, espyI8, _mm256_andnot_si256(b, a))
ESPY_LANES_2(espyI8_Min, espyI8, espyI8, _mm256_min_epi32(a, b))
ESPY_LANES_2(espyI8_Max, espyI8, espyI8, _mm256_max_epi32(a, b))
ESPY_LANES_2(espyI8_Greater, espyI8, espyI8, _mm256_cmpgt_epi32(a, b))
ESPY_LANES_2(espyI8_Equal, espyI8, espyI8, _mm256_cmpeq_epi32(a, b))
ESPY_LANES_2(espyI8_LessU, espyI8, espyI8,
             _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a), _mm256_set1_epi32(-1)))
ESPY_LANES_CALL espyF8 espyF8_Abs(espyF8 a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
ESPY_LANES_CALL espyF8 espyF8_Floor(espyF8 a)
{
    return _mm256_floor_ps(a);
}
ESPY_LANES_CALL espyI8 espyF8_ToInt(espyF8 a)
{
    return _mm256_cvttps_epi32(a);
}
ESPY_LANES_CALL espyF8 espyI8_ToFloat(espyI8 a)
{
    return _mm256_cvtepi32_ps(a);
}
ESPY_LANES_CALL espyI8 espyI8_ShiftRight(espyI8 a, uint32_t count)
{
    return _mm256_sra_epi32(a, _mm_cvtsi32_si128((int)count));
}
ESPY_LANES_CALL espyI8 espyI8_ShiftLeft(espyI8 a, uint32_t count)
{
    return _mm256_slli_epi32(a, (int)count);
}
ESPY_LANES_CALL espyI8 espyI8_Bit(espyI8 n)
{
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), n);
}
ESPY_LANES_CALL espyF8 espyF8_Select(espyI8 mask, espyF8 yes, espyF8 no)
{
    return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(mask));
}
ESPY_LANES_CALL espyI8 espyI8_Select(espyI8 mask, espyI8 yes, espyI8 no)
{
    return _mm256_blendv_epi8(no, yes, mask);
}
ESPY_LANES_CALL uint32_t espyI8_Bits(espyI8 mask)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}
ESPY_LANES_CALL espyI8 espyI8_FromBits(uint32_t bits)
{
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), each), each);
}
#if defined(ESPY_KERNEL_AVX512)
typedef uint64_t espyRowBits;
ESPY_LANES_CALL espyRowBits espyRowBits_Make(uint64_t mask)
{
    return mask;
}
ESPY_LANES_CALL espyF8 espyRowBits_Keep(espyRowBits bits, uint32_t row, espyF8 a)
{
    return _mm256_maskz_mov_ps((__mmask8)(bits >> 8u * row), a);
}
#else
typedef struct espyRowBits
{
    __m256i upper, lower; ///< Four rows each.
} espyRowBits;
ESPY_LANES_CALL espyRowBits espyRowBits_Make(uint64_t mask)
{
    return (espyRowBits){_mm256_set1_epi32((int)(uint32_t)mask), _mm256_set1_epi32((int)(uint32_t)(mask >> 32))};
}
ESPY_LANES_CALL espyF8 espyRowBits_Keep(espyRowBits bits, uint32_t row, espyF8 a)
{
    // Moves the bit of each lane to its sign.
    __m256i steps =
        _mm256_sub_epi32(_mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24), _mm256_set1_epi32((int)(8u * (row & 3u))));
    __m256i signs = _mm256_sllv_epi32(row < 4u ? bits.upper : bits.lower, steps);
    return _mm256_blendv_ps(_mm256_setzero_ps(), a, _mm256_castsi256_ps(signs));
}
#endif
/// Eight rows of four floats become four columns.
ESPY_LANES_CALL void espyF8_Columns(const float* const rows[8], espyF8 out[4])
{
    __m256 a[4];
    for (int i = 0; i < 4; ++i)
    {
        a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[i])), _mm_loadu_ps(rows[i + 4]), 1);
    }
    __m256 low0 = _mm256_unpacklo_ps(a[0], a[1]), high0 = _mm256_unpackhi_ps(a[0], a[1]);
    __m256 low1 = _mm256_unpacklo_ps(a[2], a[3]), high1 = _mm256_unpackhi_ps(a[2], a[3]);
    out[0] = _mm256_shuffle_ps(low0, low1, 0x44);
    out[1] = _mm256_shuffle_ps(low0, low1, 0xEE);
    out[2] = _mm256_shuffle_ps(high0, high1, 0x44);
    out[3] = _mm256_shuffle_ps(high0, high1, 0xEE);
}
/// Four columns become eight rows of four floats, one after the other.
ESPY_LANES_CALL void espyF8_StoreRows(float* p, const espyF8 in[4])
{
    __m256 low01 = _mm256_unpacklo_ps(in[0], in[1]), high01 = _mm256_unpackhi_ps(in[0], in[1]);
    __m256 low23 = _mm256_unpacklo_ps(in[2], in[3]), high23 = _mm256_unpackhi_ps(in[2], in[3]);
    __m256 rows[4] = {_mm256_shuffle_ps(low01, low23, 0x44), _mm256_shuffle_ps(low01, low23, 0xEE),
                      _mm256_shuffle_ps(high01, high23, 0x44), _mm256_shuffle_ps(high01, high23, 0xEE)};
    for (int i = 0; i < 4; ++i)
    {
        _mm_storeu_ps(p + 4 * i, _mm256_castps256_ps128(rows[i]));
        _mm_storeu_ps(p + 16 + 4 * i, _mm256_extractf128_ps(rows[i], 1));
    }
}
ESPY_LANES_CALL espyI8 espyF8_AsInt(espyF8 a)
{
    return _mm256_castps_si256(a);
}
ESPY_LANES_CALL espyF8 espyI8_AsFloat(espyI8 a)
{
    return _mm256_castsi256_ps(a);
}
ESPY_LANES_CALL float espyF8_Lowest(espyF8 a)
{
    __m128 m = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    m = _mm_min_ps(m, _mm_shuffle_ps(m, m, 0x4E));
    return _mm_cvtss_f32(_mm_min_ps(m, _mm_shuffle_ps(m, m, 0xB1)));
}

#else

// --- four lanes by instruction set

#if defined(ESPY_KERNEL_SSE41)

typedef __m128 espyF4;
typedef __m128i espyI4;
#define ESPY_F4_LOAD(p) _mm_loadu_ps(p)
#define ESPY_F4_STORE(p, a) _mm_storeu_ps(p, a)
#define ESPY_F4_SET(a) _mm_set1_ps(a)
#define ESPY_I4_LOAD(p) _mm_loadu_si128((const __m128i*)(const void*)(p))
#define ESPY_I4_STORE(p, a) _mm_storeu_si128((__m128i*)(void*)(p), a)
#define ESPY_I4_SET(a) _mm_set1_epi32(a)
#define ESPY_F4_ADD(a, b) _mm_add_ps(a, b)
#define ESPY_F4_SUB(a, b) _mm_sub_ps(a, b)
#define ESPY_F4_MUL(a, b) _mm_mul_ps(a, b)
#define ESPY_F4_DIV(a, b) _mm_div_ps(a, b)
#define ESPY_F4_MIN(a, b) _mm_min_ps(a, b)
#define ESPY_F4_MAX(a, b) _mm_max_ps(a, b)
#define ESPY_F4_LESS(a, b) _mm_castps_si128(_mm_cmplt_ps(a, b))
#define ESPY_F4_LESSEQUAL(a, b) _mm_castps_si128(_mm_cmple_ps(a, b))
#define ESPY_F4_EQUAL(a, b) _mm_castps_si128(_mm_cmpeq_ps(a, b))
#define ESPY_I4_ADD(a, b) _mm_add_epi32(a, b)
#define ESPY_I4_SUB(a, b) _mm_sub_epi32(a, b)
#define ESPY_I4_AND(a, b) _mm_and_si128(a, b)
#define ESPY_I4_OR(a, b) _mm_or_si128(a, b)
#define ESPY_I4_ANDNOT(a, b) _mm_andnot_si128(b, a)
#define ESPY_I4_MIN(a, b) _mm_min_epi32(a, b)
#define ESPY_I4_MAX(a, b) _mm_max_epi32(a, b)
#define ESPY_I4_GREATER(a, b) _mm_cmpgt_epi32(a, b)
#define ESPY_I4_EQUAL(a, b) _mm_cmpeq_epi32(a, b)
#define ESPY_I4_LESSU(a, b) _mm_andnot_si128(_mm_cmpeq_epi32(_mm_max_epu32(a, b), a), _mm_set1_epi32(-1))
#define ESPY_F4_ABS(a) _mm_andnot_ps(_mm_set1_ps(-0.0f), a)
#define ESPY_F4_FLOOR(a) _mm_floor_ps(a)
#define ESPY_F4_TOINT(a) _mm_cvttps_epi32(a)
#define ESPY_I4_TOFLOAT(a) _mm_cvtepi32_ps(a)
#define ESPY_I4_SHIFTRIGHT(a, n) _mm_sra_epi32(a, _mm_cvtsi32_si128((int)(n)))
#define ESPY_F4_SELECT(m, y, n) _mm_blendv_ps(n, y, _mm_castsi128_ps(m))
#define ESPY_I4_SELECT(m, y, n) _mm_blendv_epi8(n, y, m)
#define ESPY_I4_BITS(m) ((uint32_t)_mm_movemask_ps(_mm_castsi128_ps(m)))
#define ESPY_I4_EACH(first) \
    _mm_setr_epi32((int)(1u << (first)), (int)(2u << (first)), (int)(4u << (first)), (int)(8u << (first)))
#define ESPY_I4_SHIFTLEFT(a, n) _mm_slli_epi32(a, (int)(n))
#define ESPY_I4_BIT(n) _mm_cvttps_epi32(_mm_castsi128_ps(_mm_slli_epi32(_mm_add_epi32(n, _mm_set1_epi32(127)), 23)))

#elif defined(ESPY_KERNEL_NEON)

typedef float32x4_t espyF4;
typedef int32x4_t espyI4;
#define ESPY_NEON_INT(a) vreinterpretq_s32_u32(a)
#define ESPY_NEON_MASK(a) vreinterpretq_u32_s32(a)
#define ESPY_F4_LOAD(p) vld1q_f32(p)
#define ESPY_F4_STORE(p, a) vst1q_f32(p, a)
#define ESPY_F4_SET(a) vdupq_n_f32(a)
#define ESPY_I4_LOAD(p) vld1q_s32(p)
#define ESPY_I4_STORE(p, a) vst1q_s32(p, a)
#define ESPY_I4_SET(a) vdupq_n_s32(a)
#define ESPY_F4_ADD(a, b) vaddq_f32(a, b)
#define ESPY_F4_SUB(a, b) vsubq_f32(a, b)
#define ESPY_F4_MUL(a, b) vmulq_f32(a, b)
#define ESPY_F4_DIV(a, b) vdivq_f32(a, b)
#define ESPY_F4_MIN(a, b) vbslq_f32(vcltq_f32(a, b), a, b)
#define ESPY_F4_MAX(a, b) vbslq_f32(vcgtq_f32(a, b), a, b)
#define ESPY_F4_LESS(a, b) ESPY_NEON_INT(vcltq_f32(a, b))
#define ESPY_F4_LESSEQUAL(a, b) ESPY_NEON_INT(vcleq_f32(a, b))
#define ESPY_F4_EQUAL(a, b) ESPY_NEON_INT(vceqq_f32(a, b))
#define ESPY_I4_ADD(a, b) vaddq_s32(a, b)
#define ESPY_I4_SUB(a, b) vsubq_s32(a, b)
#define ESPY_I4_AND(a, b) vandq_s32(a, b)
#define ESPY_I4_OR(a, b) vorrq_s32(a, b)
#define ESPY_I4_ANDNOT(a, b) vbicq_s32(a, b)
#define ESPY_I4_MIN(a, b) vminq_s32(a, b)
#define ESPY_I4_MAX(a, b) vmaxq_s32(a, b)
#define ESPY_I4_GREATER(a, b) ESPY_NEON_INT(vcgtq_s32(a, b))
#define ESPY_I4_EQUAL(a, b) ESPY_NEON_INT(vceqq_s32(a, b))
#define ESPY_I4_LESSU(a, b) ESPY_NEON_INT(vcltq_u32(ESPY_NEON_MASK(a), ESPY_NEON_MASK(b)))
#define ESPY_F4_ABS(a) vabsq_f32(a)
#define ESPY_F4_FLOOR(a) vrndmq_f32(a)
#define ESPY_F4_TOINT(a) vcvtq_s32_f32(a)
#define ESPY_I4_TOFLOAT(a) vcvtq_f32_s32(a)
#define ESPY_I4_SHIFTRIGHT(a, n) vshlq_s32(a, vdupq_n_s32(-(int32_t)(n)))
#define ESPY_F4_SELECT(m, y, n) vbslq_f32(ESPY_NEON_MASK(m), y, n)
#define ESPY_I4_SELECT(m, y, n) vbslq_s32(ESPY_NEON_MASK(m), y, n)
#define ESPY_I4_BITS(m) ((uint32_t)vaddvq_s32(vandq_s32(m, ESPY_I4_EACH(0))))
static inline int32x4_t espyI4_Each(uint32_t first)
{
    const uint32_t each[4] = {1u << first, 2u << first, 4u << first, 8u << first};
    return vreinterpretq_s32_u32(vld1q_u32(each));
}
#define ESPY_I4_EACH(first) espyI4_Each(first)
#define ESPY_I4_SHIFTLEFT(a, n) vshlq_s32(a, vdupq_n_s32((int32_t)(n)))
#define ESPY_I4_BIT(n) vshlq_s32(vdupq_n_s32(1), n)

#elif defined(ESPY_KERNEL_WASM128)

typedef v128_t espyF4;
typedef v128_t espyI4;
#define ESPY_F4_LOAD(p) wasm_v128_load(p)
#define ESPY_F4_STORE(p, a) wasm_v128_store(p, a)
#define ESPY_F4_SET(a) wasm_f32x4_splat(a)
#define ESPY_I4_LOAD(p) wasm_v128_load(p)
#define ESPY_I4_STORE(p, a) wasm_v128_store(p, a)
#define ESPY_I4_SET(a) wasm_i32x4_splat(a)
#define ESPY_F4_ADD(a, b) wasm_f32x4_add(a, b)
#define ESPY_F4_SUB(a, b) wasm_f32x4_sub(a, b)
#define ESPY_F4_MUL(a, b) wasm_f32x4_mul(a, b)
#define ESPY_F4_DIV(a, b) wasm_f32x4_div(a, b)
#define ESPY_F4_MIN(a, b) wasm_f32x4_pmin(b, a)
#define ESPY_F4_MAX(a, b) wasm_f32x4_pmax(b, a)
#define ESPY_F4_LESS(a, b) wasm_f32x4_lt(a, b)
#define ESPY_F4_LESSEQUAL(a, b) wasm_f32x4_le(a, b)
#define ESPY_F4_EQUAL(a, b) wasm_f32x4_eq(a, b)
#define ESPY_I4_ADD(a, b) wasm_i32x4_add(a, b)
#define ESPY_I4_SUB(a, b) wasm_i32x4_sub(a, b)
#define ESPY_I4_AND(a, b) wasm_v128_and(a, b)
#define ESPY_I4_OR(a, b) wasm_v128_or(a, b)
#define ESPY_I4_ANDNOT(a, b) wasm_v128_andnot(a, b)
#define ESPY_I4_MIN(a, b) wasm_i32x4_min(a, b)
#define ESPY_I4_MAX(a, b) wasm_i32x4_max(a, b)
#define ESPY_I4_GREATER(a, b) wasm_i32x4_gt(a, b)
#define ESPY_I4_EQUAL(a, b) wasm_i32x4_eq(a, b)
#define ESPY_I4_LESSU(a, b) wasm_u32x4_lt(a, b)
#define ESPY_F4_ABS(a) wasm_f32x4_abs(a)
#define ESPY_F4_FLOOR(a) wasm_f32x4_floor(a)
#define ESPY_F4_TOINT(a) wasm_i32x4_trunc_sat_f32x4(a)
#define ESPY_I4_TOFLOAT(a) wasm_f32x4_convert_i32x4(a)
#define ESPY_I4_SHIFTRIGHT(a, n) wasm_i32x4_shr(a, n)
#define ESPY_F4_SELECT(m, y, n) wasm_v128_bitselect(y, n, m)
#define ESPY_I4_SELECT(m, y, n) wasm_v128_bitselect(y, n, m)
#define ESPY_I4_BITS(m) ((uint32_t)wasm_i32x4_bitmask(m))
#define ESPY_I4_EACH(first) \
    wasm_i32x4_make((int)(1u << (first)), (int)(2u << (first)), (int)(4u << (first)), (int)(8u << (first)))
#define ESPY_I4_SHIFTLEFT(a, n) wasm_i32x4_shl(a, n)
#define ESPY_I4_BIT(n) wasm_i32x4_trunc_sat_f32x4(wasm_i32x4_shl(wasm_i32x4_add(n, wasm_i32x4_splat(127)), 23))

#endif

#if defined(ESPY_F4_LOAD)

// --- eight lanes as two registers

typedef struct espyF8
{
    espyF4 low, high;
} espyF8;
typedef struct espyI8
{
    espyI4 low, high;
} espyI8;

ESPY_LANES_CALL espyF8 espyF8_Load(const float* p)
{
    return (espyF8){ESPY_F4_LOAD(p), ESPY_F4_LOAD(p + 4)};
}
ESPY_LANES_CALL void espyF8_Store(float* p, espyF8 a)
{
    ESPY_F4_STORE(p, a.low);
    ESPY_F4_STORE(p + 4, a.high);
}
ESPY_LANES_CALL espyF8 espyF8_Set(float a)
{
    return (espyF8){ESPY_F4_SET(a), ESPY_F4_SET(a)};
}
ESPY_LANES_CALL espyI8 espyI8_Load(const int32_t* p)
{
    return (espyI8){ESPY_I4_LOAD(p), ESPY_I4_LOAD(p + 4)};
}
ESPY_LANES_CALL void espyI8_Store(int32_t* p, espyI8 a)
{
    ESPY_I4_STORE(p, a.low);
    ESPY_I4_STORE(p + 4, a.high);
}
ESPY_LANES_CALL espyI8 espyI8_Set(int32_t a)
{
    return (espyI8){ESPY_I4_SET(a), ESPY_I4_SET(a)};
}
#define ESPY_LANES_2(name, type, result, op)                   \
    ESPY_LANES_CALL result name(type a, type b)                \
    {                                                          \
        return (result){op(a.low, b.low), op(a.high, b.high)}; \
    }
#define ESPY_LANES_1(name, type, result, op)    \
    ESPY_LANES_CALL result name(type a)         \
    {                                           \
        return (result){op(a.low), op(a.high)}; \
    }
ESPY_LANES_2(espyF8_Add, espyF8, espyF8, ESPY_F4_ADD)
ESPY_LANES_2(espyF8_Sub, espyF8, espyF8, ESPY_F4_SUB)
ESPY_LANES_2(espyF8_Mul, espyF8, espyF8, ESPY_F4_MUL)
ESPY_LANES_2(espyF8_Div, espyF8, espyF8, ESPY_F4_DIV)
ESPY_LANES_2(espyF8_Min, espyF8, espyF8, ESPY_F4_MIN)
ESPY_LANES_2(espyF8_Max, espyF8, espyF8, ESPY_F4_MAX)
ESPY_LANES_2(espyF8_Less, espyF8, espyI8, ESPY_F4_LESS)
ESPY_LANES_2(espyF8_LessEqual, espyF8, espyI8, ESPY_F4_LESSEQUAL)
ESPY_LANES_2(espyF8_Equal, espyF8, espyI8, ESPY_F4_EQUAL)
ESPY_LANES_2(espyI8_Add, espyI8, espyI8, ESPY_I4_ADD)
ESPY_LANES_2(espyI8_Sub, espyI8, espyI8, ESPY_I4_SUB)
ESPY_LANES_2(espyI8_And, espyI8, espyI8, ESPY_I4_AND)
ESPY_LANES_2(espyI8_Or, espyI8, espyI8, ESPY_I4_OR)
ESPY_LANES_2(espyI8_AndNot, espyI8, espyI8, ESPY_I4_ANDNOT)
ESPY_LANES_2(espyI8_Min, espyI8, espyI8, ESPY_I4_MIN)
ESPY_LANES_2(espyI8_Max, espyI8, espyI8, ESPY_I4_MAX)
ESPY_LANES_2(espyI8_Greater, espyI8, espyI8, ESPY_I4_GREATER)
ESPY_LANES_2(espyI8_Equal, espyI8, espyI8, ESPY_I4_EQUAL)
ESPY_LANES_2(espyI8_LessU, espyI8, espyI8, ESPY_I4_LESSU)
ESPY_LANES_1(espyF8_Abs, espyF8, espyF8, ESPY_F4_ABS)
ESPY_LANES_1(espyF8_Floor, espyF8, espyF8, ESPY_F4_FLOOR)
ESPY_LANES_1(espyF8_ToInt, espyF8, espyI8, ESPY_F4_TOINT)
ESPY_LANES_1(espyI8_ToFloat, espyI8, espyF8, ESPY_I4_TOFLOAT)
ESPY_LANES_CALL espyI8 espyI8_ShiftRight(espyI8 a, uint32_t count)
{
    return (espyI8){ESPY_I4_SHIFTRIGHT(a.low, count), ESPY_I4_SHIFTRIGHT(a.high, count)};
}
ESPY_LANES_CALL espyI8 espyI8_ShiftLeft(espyI8 a, uint32_t count)
{
    return (espyI8){ESPY_I4_SHIFTLEFT(a.low, count), ESPY_I4_SHIFTLEFT(a.high, count)};
}
ESPY_LANES_CALL espyI8 espyI8_Bit(espyI8 n)
{
    return (espyI8){ESPY_I4_BIT(n.low), ESPY_I4_BIT(n.high)};
}
ESPY_LANES_CALL espyF8 espyF8_Select(espyI8 mask, espyF8 yes, espyF8 no)
{
    return (espyF8){ESPY_F4_SELECT(mask.low, yes.low, no.low), ESPY_F4_SELECT(mask.high, yes.high, no.high)};
}
ESPY_LANES_CALL espyI8 espyI8_Select(espyI8 mask, espyI8 yes, espyI8 no)
{
    return (espyI8){ESPY_I4_SELECT(mask.low, yes.low, no.low), ESPY_I4_SELECT(mask.high, yes.high, no.high)};
}
ESPY_LANES_CALL uint32_t espyI8_Bits(espyI8 mask)
{
    return ESPY_I4_BITS(mask.low) | ESPY_I4_BITS(mask.high) << 4;
}
ESPY_LANES_CALL espyI8 espyI8_FromBits(uint32_t bits)
{
    espyI4 all = ESPY_I4_SET((int32_t)bits), low = ESPY_I4_EACH(0), high = ESPY_I4_EACH(4);
    return (espyI8){ESPY_I4_EQUAL(ESPY_I4_AND(all, low), low), ESPY_I4_EQUAL(ESPY_I4_AND(all, high), high)};
}
typedef struct espyRowBits
{
    espyI4 upper, lower; ///< Four rows each.
} espyRowBits;
ESPY_LANES_CALL espyRowBits espyRowBits_Make(uint64_t mask)
{
    return (espyRowBits){ESPY_I4_SET((int32_t)(uint32_t)mask), ESPY_I4_SET((int32_t)(uint32_t)(mask >> 32))};
}
ESPY_LANES_CALL espyF8 espyRowBits_Keep(espyRowBits bits, uint32_t row, espyF8 a)
{
    espyI4 half = row < 4u ? bits.upper : bits.lower, zero = ESPY_I4_SET(0);
    espyI4 none = ESPY_I4_EQUAL(ESPY_I4_AND(half, ESPY_I4_EACH(8u * (row & 3u))), zero);
    espyI4 noneHigh = ESPY_I4_EQUAL(ESPY_I4_AND(half, ESPY_I4_EACH(8u * (row & 3u) + 4u)), zero);
    espyF4 nothing = ESPY_F4_SET(0.0f);
    return (espyF8){ESPY_F4_SELECT(none, nothing, a.low), ESPY_F4_SELECT(noneHigh, nothing, a.high)};
}
/// Eight rows of four floats become four columns.
ESPY_LANES_CALL void espyF8_Columns(const float* const rows[8], espyF8 out[4])
{
#if defined(ESPY_KERNEL_SSE41)
    __m128 a[4], b[4];
    for (int i = 0; i < 4; ++i)
    {
        a[i] = _mm_loadu_ps(rows[i]);
        b[i] = _mm_loadu_ps(rows[i + 4]);
    }
    _MM_TRANSPOSE4_PS(a[0], a[1], a[2], a[3]);
    _MM_TRANSPOSE4_PS(b[0], b[1], b[2], b[3]);
    for (int i = 0; i < 4; ++i)
    {
        out[i] = (espyF8){a[i], b[i]};
    }
#else
    for (int i = 0; i < 4; ++i)
    {
        float column[8];
        for (int k = 0; k < 8; ++k)
        {
            memcpy(&column[k], rows[k] + i, sizeof(float));
        }
        out[i] = espyF8_Load(column);
    }
#endif
}
/// Four columns become eight rows of four floats, one after the other.
ESPY_LANES_CALL void espyF8_StoreRows(float* p, const espyF8 in[4])
{
#if defined(ESPY_KERNEL_SSE41)
    for (int half = 0; half < 2; ++half)
    {
        __m128 a[4];
        for (int i = 0; i < 4; ++i)
        {
            a[i] = half ? in[i].high : in[i].low;
        }
        _MM_TRANSPOSE4_PS(a[0], a[1], a[2], a[3]);
        for (int i = 0; i < 4; ++i)
        {
            _mm_storeu_ps(p + 16 * half + 4 * i, a[i]);
        }
    }
#else
    for (int i = 0; i < 4; ++i)
    {
        float column[8];
        espyF8_Store(column, in[i]);
        for (int k = 0; k < 8; ++k)
        {
            memcpy(p + 4 * k + i, &column[k], sizeof(float));
        }
    }
#endif
}
ESPY_LANES_CALL espyI8 espyF8_AsInt(espyF8 a)
{
    espyI8 r;
    memcpy(&r, &a, sizeof r);
    return r;
}
ESPY_LANES_CALL espyF8 espyI8_AsFloat(espyI8 a)
{
    espyF8 r;
    memcpy(&r, &a, sizeof r);
    return r;
}
ESPY_LANES_CALL float espyF8_Lowest(espyF8 a)
{
    float lanes[4];
    ESPY_F4_STORE(lanes, ESPY_F4_MIN(a.low, a.high));
    float m = lanes[0] < lanes[1] ? lanes[0] : lanes[1], n = lanes[2] < lanes[3] ? lanes[2] : lanes[3];
    return m < n ? m : n;
}

#else

// --- eight lanes as plain loops

typedef struct espyF8
{
    float lane[8];
} espyF8;
typedef struct espyI8
{
    int32_t lane[8];
} espyI8;

ESPY_LANES_CALL espyF8 espyF8_Load(const float* p)
{
    espyF8 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}
ESPY_LANES_CALL void espyF8_Store(float* p, espyF8 a)
{
    memcpy(p, a.lane, sizeof a.lane);
}
ESPY_LANES_CALL espyF8 espyF8_Set(float a)
{
    return (espyF8){{a, a, a, a, a, a, a, a}};
}
ESPY_LANES_CALL espyI8 espyI8_Load(const int32_t* p)
{
    espyI8 r;
    memcpy(r.lane, p, sizeof r.lane);
    return r;
}
ESPY_LANES_CALL void espyI8_Store(int32_t* p, espyI8 a)
{
    memcpy(p, a.lane, sizeof a.lane);
}
ESPY_LANES_CALL espyI8 espyI8_Set(int32_t a)
{
    return (espyI8){{a, a, a, a, a, a, a, a}};
}
static inline int32_t espyLane_Floor(float a)
{
    int32_t whole = (int32_t)a;
    return whole - ((float)whole > a ? 1 : 0);
}
#define ESPY_LANES_2(name, type, result, element, expression) \
    ESPY_LANES_CALL result name(type left, type right)        \
    {                                                         \
        result r;                                             \
        for (int i = 0; i < 8; ++i)                           \
        {                                                     \
            element a = left.lane[i], b = right.lane[i];      \
            r.lane[i] = (expression);                         \
        }                                                     \
        return r;                                             \
    }
#define ESPY_LANES_1(name, type, result, element, expression) \
    ESPY_LANES_CALL result name(type left)                    \
    {                                                         \
        result r;                                             \
        for (int i = 0; i < 8; ++i)                           \
        {                                                     \
            element a = left.lane[i];                         \
            r.lane[i] = (expression);                         \
        }                                                     \
        return r;                                             \
    }
ESPY_LANES_2(espyF8_Add, espyF8, espyF8, float, a + b)
ESPY_LANES_2(espyF8_Sub, espyF8, espyF8, float, a - b)
ESPY_LANES_2(espyF8_Mul, espyF8, espyF8, float, a* b)
ESPY_LANES_2(espyF8_Div, espyF8, espyF8, float, a / b)
ESPY_LANES_2(espyF8_Min, espyF8, espyF8, float, a < b ? a : b)
ESPY_LANES_2(espyF8_Max, espyF8, espyF8, float, a > b ? a : b)
ESPY_LANES_2(espyF8_Less, espyF8, espyI8, float, a < b ? -1 : 0)
ESPY_LANES_2(espyF8_LessEqual, espyF8, espyI8, float, a <= b ? -1 : 0)
ESPY_LANES_2(espyF8_Equal, espyF8, espyI8, float, a == b ? -1 : 0)
ESPY_LANES_2(espyI8_Add, espyI8, espyI8, int32_t, (int32_t)((uint32_t)a + (uint32_t)b))
ESPY_LANES_2(espyI8_Sub, espyI8, espyI8, int32_t, (int32_t)((uint32_t)a - (uint32_t)b))
ESPY_LANES_2(espyI8_And, espyI8, espyI8, int32_t, a& b)
ESPY_LANES_2(espyI8_Or, espyI8, espyI8, int32_t, a | b)
ESPY_LANES_2(espyI8_AndNot, espyI8, espyI8, int32_t, a & ~b)
ESPY_LANES_2(espyI8_Min, espyI8, espyI8, int32_t, a < b ? a : b)
ESPY_LANES_2(espyI8_Max, espyI8, espyI8, int32_t, a > b ? a : b)
ESPY_LANES_2(espyI8_Greater, espyI8, espyI8, int32_t, a > b ? -1 : 0)
ESPY_LANES_2(espyI8_Equal, espyI8, espyI8, int32_t, a == b ? -1 : 0)
ESPY_LANES_2(espyI8_LessU, espyI8, espyI8, int32_t, (uint32_t)a < (uint32_t)b ? -1 : 0)
ESPY_LANES_1(espyF8_Abs, espyF8, espyF8, float, a < 0.0f ? -a : a)
ESPY_LANES_1(espyF8_Floor, espyF8, espyF8, float,
             a > -1073741824.0f && a < 1073741824.0f ? (float)espyLane_Floor(a) : a)
ESPY_LANES_1(espyF8_ToInt, espyF8, espyI8, float, a > -2147483648.0f && a < 2147483648.0f ? (int32_t)a : INT32_MIN)
ESPY_LANES_1(espyI8_ToFloat, espyI8, espyF8, int32_t, (float)a)
ESPY_LANES_CALL espyI8 espyI8_ShiftRight(espyI8 a, uint32_t count)
{
    for (int i = 0; i < 8; ++i)
    {
        a.lane[i] >>= count;
    }
    return a;
}
ESPY_LANES_CALL espyI8 espyI8_ShiftLeft(espyI8 a, uint32_t count)
{
    for (int i = 0; i < 8; ++i)
    {
        a.lane[i] = (int32_t)((uint32_t)a.lane[i] << count);
    }
    return a;
}
ESPY_LANES_CALL espyI8 espyI8_Bit(espyI8 n)
{
    for (int i = 0; i < 8; ++i)
    {
        n.lane[i] = (int32_t)(1u << (n.lane[i] & 31));
    }
    return n;
}
ESPY_LANES_CALL espyF8 espyF8_Select(espyI8 mask, espyF8 yes, espyF8 no)
{
    for (int i = 0; i < 8; ++i)
    {
        no.lane[i] = mask.lane[i] ? yes.lane[i] : no.lane[i];
    }
    return no;
}
ESPY_LANES_CALL espyI8 espyI8_Select(espyI8 mask, espyI8 yes, espyI8 no)
{
    for (int i = 0; i < 8; ++i)
    {
        no.lane[i] = mask.lane[i] ? yes.lane[i] : no.lane[i];
    }
    return no;
}
ESPY_LANES_CALL uint32_t espyI8_Bits(espyI8 mask)
{
    uint32_t bits = 0;
    for (int i = 0; i < 8; ++i)
    {
        bits |= (mask.lane[i] ? 1u : 0u) << i;
    }
    return bits;
}
ESPY_LANES_CALL espyI8 espyI8_FromBits(uint32_t bits)
{
    espyI8 r;
    for (int i = 0; i < 8; ++i)
    {
        r.lane[i] = -(int32_t)(bits >> i & 1u);
    }
    return r;
}
typedef uint64_t espyRowBits;
ESPY_LANES_CALL espyRowBits espyRowBits_Make(uint64_t mask)
{
    return mask;
}
ESPY_LANES_CALL espyF8 espyRowBits_Keep(espyRowBits bits, uint32_t row, espyF8 a)
{
    for (uint32_t i = 0; i < 8; ++i)
    {
        a.lane[i] = (bits >> (8u * row + i) & 1u) ? a.lane[i] : 0.0f;
    }
    return a;
}
/// Eight rows of four floats become four columns.
ESPY_LANES_CALL void espyF8_Columns(const float* const rows[8], espyF8 out[4])
{
    for (int k = 0; k < 8; ++k)
    {
        float row[4];
        memcpy(row, rows[k], sizeof row);
        for (int i = 0; i < 4; ++i)
        {
            out[i].lane[k] = row[i];
        }
    }
}
/// Four columns become eight rows of four floats, one after the other.
ESPY_LANES_CALL void espyF8_StoreRows(float* p, const espyF8 in[4])
{
    for (int k = 0; k < 8; ++k)
    {
        for (int i = 0; i < 4; ++i)
        {
            memcpy(p + 4 * k + i, &in[i].lane[k], sizeof(float));
        }
    }
}
ESPY_LANES_CALL espyI8 espyF8_AsInt(espyF8 a)
{
    espyI8 r;
    memcpy(&r, &a, sizeof r);
    return r;
}
ESPY_LANES_CALL espyF8 espyI8_AsFloat(espyI8 a)
{
    espyF8 r;
    memcpy(&r, &a, sizeof r);
    return r;
}
ESPY_LANES_CALL float espyF8_Lowest(espyF8 a)
{
    float m = a.lane[0];
    for (int i = 1; i < 8; ++i)
    {
        m = a.lane[i] < m ? a.lane[i] : m;
    }
    return m;
}

#endif
#endif

// --- spans: for each of eight rows, columns from .. to (half-open), as 16-bit lanes

#if defined(ESPY_SIMD_X86)
typedef __m128i espyS8;
#elif defined(ESPY_KERNEL_NEON)
typedef int16x8_t espyS8;
#elif defined(ESPY_KERNEL_WASM128)
typedef v128_t espyS8;
#else
typedef struct espyS8
{
    int16_t lane[8];
} espyS8;
#endif

/// To 16 bits; saturates.
ESPY_LANES_CALL espyS8 espyS8_FromInts(espyI8 a)
{
#if defined(ESPY_KERNEL_AVX512) || defined(ESPY_KERNEL_AVX2)
    return _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
#elif defined(ESPY_KERNEL_SSE41)
    return _mm_packs_epi32(a.low, a.high);
#elif defined(ESPY_KERNEL_NEON)
    return vcombine_s16(vqmovn_s32(a.low), vqmovn_s32(a.high));
#elif defined(ESPY_KERNEL_WASM128)
    return wasm_i16x8_narrow_i32x4(a.low, a.high);
#else
    espyS8 r;
    for (int i = 0; i < 8; ++i)
    {
        int32_t v = a.lane[i];
        r.lane[i] = (int16_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
    }
    return r;
#endif
}

/// The lowest of the first columns, which are at least 0.
ESPY_LANES_CALL int32_t espyS8_Lowest(espyS8 a)
{
#if defined(ESPY_SIMD_X86)
    return _mm_cvtsi128_si32(_mm_minpos_epu16(a)) & 0xFFFF;
#elif defined(ESPY_KERNEL_NEON)
    return vminvq_s16(a);
#else
    int16_t lane[8];
    memcpy(lane, &a, sizeof lane);
    int32_t m = lane[0];
    for (int i = 1; i < 8; ++i)
    {
        m = lane[i] < m ? lane[i] : m;
    }
    return m;
#endif
}

/// The highest of the last columns, which are at least 0.
ESPY_LANES_CALL int32_t espyS8_Highest(espyS8 a)
{
#if defined(ESPY_SIMD_X86)
    __m128i ones = _mm_set1_epi16(-1);
    return 0xFFFF - (_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(a, ones))) & 0xFFFF);
#elif defined(ESPY_KERNEL_NEON)
    return vmaxvq_s16(a);
#else
    int16_t lane[8];
    memcpy(lane, &a, sizeof lane);
    int32_t m = lane[0];
    for (int i = 1; i < 8; ++i)
    {
        m = lane[i] > m ? lane[i] : m;
    }
    return m;
#endif
}

/// Bit 8 * row + k is 1 where column + k is in the span of the row.
ESPY_LANES_CALL uint64_t espyS8_Cover(espyS8 from, espyS8 to, int32_t column)
{
#if defined(ESPY_SIMD_X86)
    // Byte n of the table has its lowest n bits clear.
    const __m128i table = _mm_setr_epi8(-1, -2, -4, -8, -16, -32, -64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    __m128i at = _mm_set1_epi16((short)column);
    __m128i steps = _mm_packs_epi16(_mm_subs_epi16(from, at), _mm_subs_epi16(to, at));
    steps = _mm_min_epi8(_mm_max_epi8(steps, _mm_setzero_si128()), _mm_set1_epi8(8));
    __m128i masks = _mm_shuffle_epi8(table, steps);
    __m128i cover = _mm_andnot_si128(_mm_unpackhi_epi64(masks, masks), masks);
    uint64_t bits;
    _mm_storel_epi64((__m128i*)(void*)&bits, cover);
    return bits;
#elif defined(ESPY_KERNEL_NEON)
    const uint8_t bytes[16] = {255, 254, 252, 248, 240, 224, 192, 128, 0, 0, 0, 0, 0, 0, 0, 0};
    int16x8_t at = vdupq_n_s16((int16_t)column);
    int8x8_t first = vqmovn_s16(vqsubq_s16(from, at)), last = vqmovn_s16(vqsubq_s16(to, at));
    int8x16_t steps = vcombine_s8(first, last);
    steps = vminq_s8(vmaxq_s8(steps, vdupq_n_s8(0)), vdupq_n_s8(8));
    uint8x16_t masks = vqtbl1q_u8(vld1q_u8(bytes), vreinterpretq_u8_s8(steps));
    uint8x8_t cover = vbic_u8(vget_low_u8(masks), vget_high_u8(masks));
    uint64_t bits = 0;
    uint8_t rows[8];
    vst1_u8(rows, cover);
    for (uint32_t i = 0; i < 8; ++i)
    {
        bits |= (uint64_t)rows[i] << 8u * i;
    }
    return bits;
#elif defined(ESPY_KERNEL_WASM128)
    const v128_t table = wasm_i8x16_make(-1, -2, -4, -8, -16, -32, -64, -128, 0, 0, 0, 0, 0, 0, 0, 0);
    v128_t at = wasm_i16x8_splat((int16_t)column);
    v128_t steps = wasm_i8x16_narrow_i16x8(wasm_i16x8_sub_sat(from, at), wasm_i16x8_sub_sat(to, at));
    steps = wasm_i8x16_min(wasm_i8x16_max(steps, wasm_i8x16_splat(0)), wasm_i8x16_splat(8));
    v128_t masks = wasm_i8x16_swizzle(table, steps);
    return (uint64_t)wasm_i64x2_extract_lane(masks, 0) & ~(uint64_t)wasm_i64x2_extract_lane(masks, 1);
#else
    uint64_t bits = 0;
    for (uint32_t i = 0; i < 8; ++i)
    {
        int32_t first = from.lane[i] - column, last = to.lane[i] - column;
        first = first < 0 ? 0 : first > 8 ? 8 : first;
        last = last < 0 ? 0 : last > 8 ? 8 : last;
        bits |= (uint64_t)((0xFFu << first & 0xFFu) & ~(0xFFu << last)) << 8u * i;
    }
    return bits;
#endif
}

#endif
