// SPDX-License-Identifier: MIT
// The indices of 1 bits, ascending: included by kernels, so compiled once per instruction set.
//
// Words without a bit are skipped 64 at a time by one mask of those that have any. A byte of bits looks up its up to
// eight indices, which are stored whole; what lies behind the last one is overwritten by the next. Same results in
// every version.
#include "core/core.h"

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

/// Words that one mask covers.
#define ESPY_LIST_BLOCK 64u

/// Lists the bits of one word and stores nothing behind them.
static inline uint32_t espyList_Word(uint32_t word, uint32_t base, uint32_t* out)
{
    uint32_t written = 0;
    while (word != 0)
    {
        out[written++] = base + espyiPopCount32((word & (0u - word)) - 1u);
        word &= word - 1u;
    }
    return written;
}

#if defined(__AVX512F__)

#define ESPY_LIST_ROOM 32u

/// Stores up to 32 entries behind `out`.
static inline uint32_t espyList_Wide(uint32_t word, uint32_t base, uint32_t* out)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i low = _mm512_add_epi32(iota, _mm512_set1_epi32((int)base));
    __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(16));
    uint32_t lowCount = (uint32_t)__builtin_popcount(word & 0xFFFFu);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)word, low));
    _mm512_storeu_si512(out + lowCount, _mm512_maskz_compress_epi32((__mmask16)(word >> 16), high));
    return lowCount + (uint32_t)__builtin_popcount(word >> 16);
}

#elif defined(__SSE4_1__)

#define ESPY_LIST_ROOM 32u

// Byte k of entry b is the place of the k-th 1 bit of b: built from the top bit down, each 1 bit pushing in its place.
#define ESPY_PLACES_1(b, i, above) (((above) << (8u * (((b) >> (i)) & 1u))) | ((uint64_t)(i) * (((b) >> (i)) & 1u)))
#define ESPY_PLACES_4(b, i, above) \
    ESPY_PLACES_1(b, i, ESPY_PLACES_1(b, (i) + 1u, ESPY_PLACES_1(b, (i) + 2u, ESPY_PLACES_1(b, (i) + 3u, above))))
#define ESPY_PLACES(b) ESPY_PLACES_4(b, 0u, ESPY_PLACES_4(b, 4u, (uint64_t)0))
#define ESPY_ROWS_4(b) ESPY_PLACES((b)), ESPY_PLACES((b) + 1u), ESPY_PLACES((b) + 2u), ESPY_PLACES((b) + 3u)
#define ESPY_ROWS_16(b) ESPY_ROWS_4((b)), ESPY_ROWS_4((b) + 4u), ESPY_ROWS_4((b) + 8u), ESPY_ROWS_4((b) + 12u)
#define ESPY_ROWS_64(b) ESPY_ROWS_16((b)), ESPY_ROWS_16((b) + 16u), ESPY_ROWS_16((b) + 32u), ESPY_ROWS_16((b) + 48u)

static const uint64_t espyList_Places[256] = {ESPY_ROWS_64(0u), ESPY_ROWS_64(64u), ESPY_ROWS_64(128u),
                                              ESPY_ROWS_64(192u)};

/// Stores up to 32 entries behind `out`.
static inline uint32_t espyList_Wide(uint32_t word, uint32_t base, uint32_t* out)
{
    // Ones of each byte, side by side.
    uint32_t counts = word - ((word >> 1) & 0x55555555u);
    counts = (counts & 0x33333333u) + ((counts >> 2) & 0x33333333u);
    counts = (counts + (counts >> 4)) & 0x0F0F0F0Fu;
    uint32_t written = 0;
    for (uint32_t i = 0; i < 32u; i += 8u)
    {
        __m128i places = _mm_loadl_epi64((const __m128i*)(const void*)&espyList_Places[(word >> i) & 0xFFu]);
#if defined(__AVX2__)
        __m256i entries = _mm256_add_epi32(_mm256_cvtepu8_epi32(places), _mm256_set1_epi32((int)(base + i)));
        _mm256_storeu_si256((__m256i*)(void*)(out + written), entries);
#else
        __m128i first = _mm_set1_epi32((int)(base + i));
        _mm_storeu_si128((__m128i*)(void*)(out + written), _mm_add_epi32(_mm_cvtepu8_epi32(places), first));
        _mm_storeu_si128((__m128i*)(void*)(out + written + 4),
                         _mm_add_epi32(_mm_cvtepu8_epi32(_mm_srli_si128(places, 4)), first));
#endif
        written += (counts >> i) & 0xFFu;
    }
    return written;
}

#endif

/// Bit i is 1 where words[i] is not 0, for up to 64 words.
static inline uint64_t espyList_NonZero(const uint32_t* words, uint32_t count)
{
    uint64_t mask = 0;
    uint32_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16u <= count; i += 16u)
    {
        __m512i w = _mm512_loadu_si512(words + i);
        mask |= (uint64_t)_mm512_test_epi32_mask(w, w) << i;
    }
#elif defined(__AVX2__)
    for (; i + 8u <= count; i += 8u)
    {
        __m256i w = _mm256_loadu_si256((const __m256i*)(const void*)(words + i));
        __m256i zero = _mm256_cmpeq_epi32(w, _mm256_setzero_si256());
        mask |= (uint64_t)(0xFFu ^ (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(zero))) << i;
    }
#elif defined(__SSE4_1__)
    for (; i + 4u <= count; i += 4u)
    {
        __m128i zero = _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i*)(const void*)(words + i)), _mm_setzero_si128());
        mask |= (uint64_t)(0xFu ^ (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(zero))) << i;
    }
#endif
    for (; i < count; ++i)
    {
        mask |= (uint64_t)(words[i] != 0) << i;
    }
    return mask;
}

/// Place of the lowest 1 bit of a number that is not 0.
static inline uint32_t espyList_Lowest(uint64_t mask)
{
#if defined(__SSE4_1__)
    return (uint32_t)__builtin_ctzll(mask);
#else
    uint32_t low = (uint32_t)mask;
    uint32_t half = low != 0 ? low : (uint32_t)(mask >> 32);
    return espyiPopCount32((half & (0u - half)) - 1u) + (low != 0 ? 0u : 32u);
#endif
}

/// Writes base + the index of each 1 bit of `wordCount` words and returns how many. Stores at most `room` entries,
/// which is at least the number of 1 bits; entries after the last one may be overwritten.
static uint32_t espyList_Bits(const uint32_t* words, uint32_t wordCount, uint32_t base, uint32_t* out, uint32_t room)
{
    uint32_t written = 0;
    for (uint32_t block = 0; block < wordCount; block += ESPY_LIST_BLOCK)
    {
        uint32_t blockWords = wordCount - block < ESPY_LIST_BLOCK ? wordCount - block : ESPY_LIST_BLOCK;
        for (uint64_t mask = espyList_NonZero(words + block, blockWords); mask != 0; mask &= mask - 1u)
        {
            uint32_t i = block + espyList_Lowest(mask);
#if defined(ESPY_LIST_ROOM)
            // Alone in its word, as most of a few are.
            if ((words[i] & (words[i] - 1u)) == 0)
            {
                out[written++] = base + i * 32u + espyList_Lowest(words[i]);
                continue;
            }
            // Near the end of the list nothing may be stored behind the last entry.
            if (room - written >= ESPY_LIST_ROOM)
            {
                written += espyList_Wide(words[i], base + i * 32u, out + written);
                continue;
            }
#endif
            written += espyList_Word(words[i], base + i * 32u, out + written);
        }
    }
    (void)room;
    return written;
}
