// SPDX-License-Identifier: MIT
// Internal ground floor: hook calls, checked sizes, bits, hash, random numbers. Header-only where it is small.
#ifndef ESPYI_CORE_H
#define ESPYI_CORE_H

#include <espy/base.h>

#define ESPYI_ARRAY_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/// Internal, yet exported from the shared espy: the library espy-bake stands on it. Not for other callers.
#define ESPYI_SHARED ESPY_EXPORT

/// Reports a caller's mistake to the assert hook and gives the condition back.
#define ESPYI_CHECK(hooks, condition) \
    ((condition) ? true : (espyiHooks_AssertFail((hooks), #condition, __func__), false))

/// Asks for memory that is read soon. Never faults and never changes a result.
#if defined(__GNUC__)
#define ESPYI_PREFETCH(address) __builtin_prefetch(address)
#else
#define ESPYI_PREFETCH(address) ((void)(address))
#endif

// --- hooks

/// Fills null entries with the defaults (malloc family in hosted builds).
ESPYI_SHARED espyHooks espyiHooks_Resolve(const espyHooks* hooks);
/// Allocates count * size bytes, zeroed; null on overflow, on count 0, or when the hook fails.
ESPYI_SHARED void* espyiAlloc(const espyHooks* hooks, size_t count, size_t size);
/// Grows *array (elements of `size` bytes, *capacity of them) to hold at least `needed`. Doubles. False on failure,
/// with the old array untouched.
ESPYI_SHARED bool espyiGrow(const espyHooks* hooks, void** array, size_t* capacity, size_t needed, size_t size);
ESPYI_SHARED void espyiFree(const espyHooks* hooks, void* pointer);
ESPYI_SHARED void espyiHooks_AssertFail(const espyHooks* hooks, const char* condition, const char* function);

// --- checked sizes

static inline bool espyiMulSize(size_t a, size_t b, size_t* out)
{
    if (a != 0 && b > SIZE_MAX / a)
    {
        return false;
    }
    *out = a * b;
    return true;
}

static inline bool espyiAddSize(size_t a, size_t b, size_t* out)
{
    if (b > SIZE_MAX - a)
    {
        return false;
    }
    *out = a + b;
    return true;
}

// --- bits

static inline uint32_t espyiBits_Words(uint32_t count)
{
    return count / 32u + (count % 32u != 0u ? 1u : 0u);
}

static inline bool espyiBits_Get(const uint32_t* bits, uint32_t index)
{
    return (bits[index >> 5] >> (index & 31u)) & 1u;
}

static inline void espyiBits_Set(uint32_t* bits, uint32_t index)
{
    bits[index >> 5] |= 1u << (index & 31u);
}

static inline void espyiBits_Clear(uint32_t* bits, uint32_t index)
{
    bits[index >> 5] &= ~(1u << (index & 31u));
}

static inline uint32_t espyiPopCount32(uint32_t v)
{
    v = v - ((v >> 1) & 0x55555555u);
    v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
    return (((v + (v >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
}

// --- hash

/// The same hash as espyiHash_Words in steps: begun with the number of words to come, a word after the other, mixed.
static inline uint64_t espyiHash_Begin(uint64_t seed, size_t count)
{
    return seed ^ (0x9E3779B97F4A7C15ull * ((uint64_t)count + 1u));
}

static inline uint64_t espyiHash_AddWord(uint64_t h, uint32_t word)
{
    h = (h ^ word) * 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 32);
}

static inline uint64_t espyiHash_Mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 32);
}

/// 64-bit hash of 32-bit words; the same on every byte order. `seed` chains calls.
ESPYI_SHARED uint64_t espyiHash_Words(uint64_t seed, const uint32_t* words, size_t count);
/// 64-bit hash of bytes. `seed` chains calls.
ESPYI_SHARED uint64_t espyiHash_Bytes(uint64_t seed, const void* bytes, size_t size);

static inline uint64_t espyiHash_U64(uint64_t seed, uint64_t value)
{
    return espyiHash_Mix(seed ^ espyiHash_Mix(value + 0x9E3779B97F4A7C15ull));
}

// --- random numbers

/// Small counter-free generator (PCG32, O'Neill 2014). The same numbers everywhere.
typedef struct espyiRng
{
    uint64_t state;
} espyiRng;

static inline espyiRng espyiRng_Seed(uint64_t seed)
{
    return (espyiRng){espyiHash_Mix(seed + 0x9E3779B97F4A7C15ull) | 1u};
}

static inline uint32_t espyiRng_U32(espyiRng* rng)
{
    uint64_t old = rng->state;
    rng->state = old * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t xorshifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t rot = (uint32_t)(old >> 59);
    return (xorshifted >> rot) | (xorshifted << ((32u - rot) & 31u));
}

/// In [0, 1), 24 bits.
static inline float espyiRng_Float(espyiRng* rng)
{
    return (float)(espyiRng_U32(rng) >> 8) * (1.0f / 16777216.0f);
}

/// Below `bound` (> 0), without visible bias for bounds far below 2^32.
static inline uint32_t espyiRng_Below(espyiRng* rng, uint32_t bound)
{
    return (uint32_t)(((uint64_t)espyiRng_U32(rng) * bound) >> 32);
}

#endif
