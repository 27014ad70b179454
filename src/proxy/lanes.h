// SPDX-License-Identifier: MIT
// Float lanes of the proxy kernels: one receiver a lane, as many as the instruction set that the includer is compiled
// for has. Only operations that IEEE 754 rounds correctly, so that every width gives the same bits.
//
// gcc's and clang's own operators + - * / work on espyR; the rest are functions. Min and Max give the second operand
// where either is NaN, as the x86 instructions do.
#ifndef ESPYI_LANES_H
#define ESPYI_LANES_H

#include <stdbool.h>
#include <stdint.h>

typedef float espyLane;

#if defined(__AVX512F__)

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

#elif defined(__AVX2__)

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

#elif defined(__SSE4_1__)

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

#endif
