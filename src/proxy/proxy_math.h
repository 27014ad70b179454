// SPDX-License-Identifier: MIT
// Exponentials without a library call, the same bits everywhere. Polynomials fitted by exchange (Remez).
#ifndef ESPYI_PROXY_MATH_H
#define ESPYI_PROXY_MATH_H

#include <stdint.h>

/// A float's bits; memory copies become a register move.
static inline uint32_t espyiFloat_Bits(float v)
{
    union
    {
        float f;
        uint32_t u;
    } bits = {.f = v};
    return bits.u;
}

static inline float espyiFloat_FromBits(uint32_t u)
{
    union
    {
        uint32_t u;
        float f;
    } bits = {.u = u};
    return bits.f;
}

static inline float espyiFloat_Clamp(float v, float low, float high)
{
    return v < low ? low : v > high ? high : v;
}

/// 2^x within 1e-7 relative; x is clamped to [-126, 126].
static inline float espyiFloat_Exp2(float x)
{
    x = espyiFloat_Clamp(x, -126.0f, 126.0f);
    int32_t whole = (int32_t)(x + (x < 0.0f ? -0.5f : 0.5f));
    float f = x - (float)whole;
    float p = 0.00133999312f + f * 0.00015345812f;
    p = 0.0555032878f + f * (0.00961848896f + f * p);
    p = 1.0f + f * (0.693147206f + f * (0.240226469f + f * p));
    return p * espyiFloat_FromBits((uint32_t)(whole + 127) << 23);
}

/// log2 x within 1e-7 for normal x > 0.
static inline float espyiFloat_Log2(float x)
{
    // Mantissa in [sqrt(1/2), sqrt(2)).
    uint32_t bits = espyiFloat_Bits(x), shifted = bits - 0x3F3504F3u;
    int32_t exponent = (int32_t)shifted >> 23;
    float z = espyiFloat_FromBits(bits - ((uint32_t)exponent << 23)) - 1.0f;
    float p = -0.208190715f + z * 0.119226829f;
    p = -0.238903683f + z * (0.218742504f + z * p);
    p = -0.360700134f + z * (0.287545925f + z * p);
    p = -0.721347453f + z * (0.480926296f + z * p);
    return (float)exponent + z * (1.44269483f + z * p);
}

/// x^power for x in [0, 1] and power > 0.
static inline float espyiFloat_Pow(float x, float power)
{
    if (power == 1.0f || x <= 1e-30f || x >= 1.0f)
    {
        return power == 1.0f ? x : x >= 1.0f ? 1.0f : 0.0f;
    }
    return espyiFloat_Exp2(power * espyiFloat_Log2(x));
}

static inline float espyiFloat_SmoothStep(float low, float high, float x)
{
    float t = espyiFloat_Clamp((x - low) / (high - low), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

#endif
