// SPDX-License-Identifier: MIT
// Float lanes of the proxy kernels: one receiver a lane, as many as the instruction set has that the includer names in
// ESPY_KERNEL_...; one where it names none. Only operations that IEEE 754 rounds correctly, so that every width gives
// the same bits.
//
// gcc's and clang's own operators + - * / work on espyR; the rest are functions. Min and Max give the second operand
// where either is NaN, as the x86 instructions do.
#ifndef ESPYI_LANES_H
#define ESPYI_LANES_H

#include <stdbool.h>
#include <stdint.h>

typedef float espyLane;

#if defined(ESPY_KERNEL_AVX512)

#include <immintrin.h>
#define ESPY_LANES 16
typedef float espyR __attribute__((vector_size(64)));
typedef __mmask16 espyM;

static inline espyR espyR_Set(float a)
{
    return _mm512_set1_ps(a);
}
static inline espyR espyR_Load(const float* p)
{
    return _mm512_loadu_ps(p);
}
static inline void espyR_Store(float* p, espyR a)
{
    _mm512_storeu_ps(p, a);
}
static inline espyR espyR_Sqrt(espyR a)
{
    return _mm512_sqrt_ps(a);
}
static inline espyR espyR_Min(espyR a, espyR b)
{
    return _mm512_min_ps(a, b);
}
static inline espyR espyR_Max(espyR a, espyR b)
{
    return _mm512_max_ps(a, b);
}
static inline espyR espyR_Abs(espyR a)
{
    return _mm512_abs_ps(a);
}
static inline espyM espyR_Less(espyR a, espyR b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline espyM espyR_LessEqual(espyR a, espyR b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}
static inline espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return _mm512_mask_blend_ps(m, b, a);
}
static inline espyM espyM_And(espyM a, espyM b)
{
    return (espyM)(a & b);
}
static inline espyM espyM_Or(espyM a, espyM b)
{
    return (espyM)(a | b);
}
static inline espyM espyM_Not(espyM a)
{
    return (espyM)~a;
}
static inline bool espyM_Any(espyM a)
{
    return a != 0;
}

#elif defined(ESPY_KERNEL_AVX2)

#include <immintrin.h>
#define ESPY_LANES 8
typedef float espyR __attribute__((vector_size(32)));
typedef float espyM __attribute__((vector_size(32)));

static inline espyR espyR_Set(float a)
{
    return _mm256_set1_ps(a);
}
static inline espyR espyR_Load(const float* p)
{
    return _mm256_loadu_ps(p);
}
static inline void espyR_Store(float* p, espyR a)
{
    _mm256_storeu_ps(p, a);
}
static inline espyR espyR_Sqrt(espyR a)
{
    return _mm256_sqrt_ps(a);
}
static inline espyR espyR_Min(espyR a, espyR b)
{
    return _mm256_min_ps(a, b);
}
static inline espyR espyR_Max(espyR a, espyR b)
{
    return _mm256_max_ps(a, b);
}
static inline espyR espyR_Abs(espyR a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
static inline espyM espyR_Less(espyR a, espyR b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
static inline espyM espyR_LessEqual(espyR a, espyR b)
{
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
}
static inline espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return _mm256_blendv_ps(b, a, m);
}
static inline espyM espyM_And(espyM a, espyM b)
{
    return _mm256_and_ps(a, b);
}
static inline espyM espyM_Or(espyM a, espyM b)
{
    return _mm256_or_ps(a, b);
}
static inline espyM espyM_Not(espyM a)
{
    return _mm256_xor_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}
static inline bool espyM_Any(espyM a)
{
    return _mm256_movemask_ps(a) != 0;
}

#elif defined(ESPY_KERNEL_SSE41)

#include <smmintrin.h>
#define ESPY_LANES 4
typedef float espyR __attribute__((vector_size(16)));
typedef float espyM __attribute__((vector_size(16)));

static inline espyR espyR_Set(float a)
{
    return _mm_set1_ps(a);
}
static inline espyR espyR_Load(const float* p)
{
    return _mm_loadu_ps(p);
}
static inline void espyR_Store(float* p, espyR a)
{
    _mm_storeu_ps(p, a);
}
static inline espyR espyR_Sqrt(espyR a)
{
    return _mm_sqrt_ps(a);
}
static inline espyR espyR_Min(espyR a, espyR b)
{
    return _mm_min_ps(a, b);
}
static inline espyR espyR_Max(espyR a, espyR b)
{
    return _mm_max_ps(a, b);
}
static inline espyR espyR_Abs(espyR a)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}
static inline espyM espyR_Less(espyR a, espyR b)
{
    return _mm_cmplt_ps(a, b);
}
static inline espyM espyR_LessEqual(espyR a, espyR b)
{
    return _mm_cmple_ps(a, b);
}
static inline espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return _mm_blendv_ps(b, a, m);
}
static inline espyM espyM_And(espyM a, espyM b)
{
    return _mm_and_ps(a, b);
}
static inline espyM espyM_Or(espyM a, espyM b)
{
    return _mm_or_ps(a, b);
}
static inline espyM espyM_Not(espyM a)
{
    return _mm_xor_ps(a, _mm_castsi128_ps(_mm_set1_epi32(-1)));
}
static inline bool espyM_Any(espyM a)
{
    return _mm_movemask_ps(a) != 0;
}

#elif defined(ESPY_KERNEL_NEON)

#include <arm_neon.h>
#define ESPY_LANES 4
typedef float32x4_t espyR;
typedef uint32x4_t espyM;

static inline espyR espyR_Set(float a)
{
    return vdupq_n_f32(a);
}
static inline espyR espyR_Load(const float* p)
{
    return vld1q_f32(p);
}
static inline void espyR_Store(float* p, espyR a)
{
    vst1q_f32(p, a);
}
static inline espyR espyR_Sqrt(espyR a)
{
    return vsqrtq_f32(a);
}
// Not vminq and vmaxq, which give NaN where either is.
static inline espyR espyR_Min(espyR a, espyR b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
static inline espyR espyR_Max(espyR a, espyR b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
static inline espyR espyR_Abs(espyR a)
{
    return vabsq_f32(a);
}
static inline espyM espyR_Less(espyR a, espyR b)
{
    return vcltq_f32(a, b);
}
static inline espyM espyR_LessEqual(espyR a, espyR b)
{
    return vcleq_f32(a, b);
}
static inline espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return vbslq_f32(m, a, b);
}
static inline espyM espyM_And(espyM a, espyM b)
{
    return vandq_u32(a, b);
}
static inline espyM espyM_Or(espyM a, espyM b)
{
    return vorrq_u32(a, b);
}
static inline espyM espyM_Not(espyM a)
{
    return vmvnq_u32(a);
}
static inline bool espyM_Any(espyM a)
{
    return vmaxvq_u32(a) != 0;
}

#elif defined(ESPY_KERNEL_WASM128)

#include <wasm_simd128.h>
#define ESPY_LANES 4
typedef float espyR __attribute__((vector_size(16)));
typedef v128_t espyM;

static inline espyR espyR_Set(float a)
{
    return (espyR)wasm_f32x4_splat(a);
}
static inline espyR espyR_Load(const float* p)
{
    return (espyR)wasm_v128_load(p);
}
static inline void espyR_Store(float* p, espyR a)
{
    wasm_v128_store(p, (v128_t)a);
}
static inline espyR espyR_Sqrt(espyR a)
{
    return (espyR)wasm_f32x4_sqrt((v128_t)a);
}
// pmin(b, a) is a < b ? a : b.
static inline espyR espyR_Min(espyR a, espyR b)
{
    return (espyR)wasm_f32x4_pmin((v128_t)b, (v128_t)a);
}
static inline espyR espyR_Max(espyR a, espyR b)
{
    return (espyR)wasm_f32x4_pmax((v128_t)b, (v128_t)a);
}
static inline espyR espyR_Abs(espyR a)
{
    return (espyR)wasm_f32x4_abs((v128_t)a);
}
static inline espyM espyR_Less(espyR a, espyR b)
{
    return wasm_f32x4_lt((v128_t)a, (v128_t)b);
}
static inline espyM espyR_LessEqual(espyR a, espyR b)
{
    return wasm_f32x4_le((v128_t)a, (v128_t)b);
}
static inline espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return (espyR)wasm_v128_bitselect((v128_t)a, (v128_t)b, m);
}
static inline espyM espyM_And(espyM a, espyM b)
{
    return wasm_v128_and(a, b);
}
static inline espyM espyM_Or(espyM a, espyM b)
{
    return wasm_v128_or(a, b);
}
static inline espyM espyM_Not(espyM a)
{
    return wasm_v128_not(a);
}
static inline bool espyM_Any(espyM a)
{
    return wasm_v128_any_true(a);
}

#else

#define ESPY_LANES 1
typedef float espyR;
typedef bool espyM;

static inline espyR espyR_Set(float a)
{
    return a;
}
static inline espyR espyR_Load(const float* p)
{
    return *p;
}
static inline void espyR_Store(float* p, espyR a)
{
    *p = a;
}
static inline espyR espyR_Sqrt(espyR a)
{
    return __builtin_sqrtf(a);
}
static inline espyR espyR_Min(espyR a, espyR b)
{
    return a < b ? a : b;
}
static inline espyR espyR_Max(espyR a, espyR b)
{
    return a > b ? a : b;
}
static inline espyR espyR_Abs(espyR a)
{
    return __builtin_fabsf(a);
}
static inline espyM espyR_Less(espyR a, espyR b)
{
    return a < b;
}
static inline espyM espyR_LessEqual(espyR a, espyR b)
{
    return a <= b;
}
static inline espyR espyR_Select(espyM m, espyR a, espyR b)
{
    return m ? a : b;
}
static inline espyM espyM_And(espyM a, espyM b)
{
    return a && b;
}
static inline espyM espyM_Or(espyM a, espyM b)
{
    return a || b;
}
static inline espyM espyM_Not(espyM a)
{
    return !a;
}
static inline bool espyM_Any(espyM a)
{
    return a;
}

#endif

/// Angle of (x, y) for y >= 0, in [0, pi]; 0 at the origin. Within 2.5e-7 rad of the true angle before rounding: an odd
/// polynomial of degree 13 on [0, 1], fitted by exchange (Remez), and two reflections.
static inline espyR espyR_Atan2(espyR y, espyR x)
{
    espyR ax = espyR_Abs(x);
    espyR small = espyR_Min(ax, y), large = espyR_Max(ax, y);
    espyR t = small / espyR_Max(large, espyR_Set(1e-37f));
    espyR s = t * t;
    espyR p = espyR_Set(0.00681179294f);
    p = p * s - espyR_Set(0.0336042195f);
    p = p * s + espyR_Set(0.0796236712f);
    p = p * s - espyR_Set(0.13233342f);
    p = p * s + espyR_Set(0.198078155f);
    p = p * s - espyR_Set(0.333173681f);
    p = (p * s + espyR_Set(0.999996112f)) * t;
    p = espyR_Select(espyR_Less(ax, y), espyR_Set(1.57079633f) - p, p);
    return espyR_Select(espyR_Less(x, espyR_Set(0.0f)), espyR_Set(3.14159265f) - p, p);
}

/// Three angles step by step beside each other, so that no processor waits for one: the same bits as espyR_Atan2.
static inline void espyR_Atan2Three(const espyR y[3], const espyR x[3], espyR out[3])
{
    static const float terms[7] = {0.00681179294f, -0.0336042195f, 0.0796236712f, -0.13233342f,
                                   0.198078155f,   -0.333173681f,  0.999996112f};
    espyR t[3], s[3], p[3];
    for (int i = 0; i < 3; ++i)
    {
        espyR ax = espyR_Abs(x[i]);
        espyR small = espyR_Min(ax, y[i]), large = espyR_Max(ax, y[i]);
        t[i] = small / espyR_Max(large, espyR_Set(1e-37f));
    }
    for (int i = 0; i < 3; ++i)
    {
        s[i] = t[i] * t[i];
        p[i] = espyR_Set(terms[0]);
    }
    for (int k = 1; k < 7; ++k)
    {
        for (int i = 0; i < 3; ++i)
        {
            p[i] = p[i] * s[i] + espyR_Set(terms[k]);
        }
    }
    for (int i = 0; i < 3; ++i)
    {
        espyR q = p[i] * t[i];
        q = espyR_Select(espyR_Less(espyR_Abs(x[i]), y[i]), espyR_Set(1.57079633f) - q, q);
        out[i] = espyR_Select(espyR_Less(x[i], espyR_Set(0.0f)), espyR_Set(3.14159265f) - q, q);
    }
}

#endif
