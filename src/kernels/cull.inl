// SPDX-License-Identifier: MIT
// Batch kernels of pvs, compiled once per instruction set. The includer names the getter in ESPYI_CULL_KERNELS.
//
// Testing slots: the words of several slots are brought side by side, each bit is moved to the sign (or masked), and
// the signs of 32 draws become one word. Same results in every version.
#include "core/core.h"
#include "pvs/cull.h"

#include "kernels/list_bits.inl"

// --- 32 draws

/// Bit i is 1 where slots[i] is kept, for up to 32 draws. Reads stay inside the set: a slot out of range reads the last
/// one and is kept whatever it finds.
static inline uint32_t espyCull_TestSome(const uint32_t* set, uint32_t slotCount, const uint32_t* slots, uint32_t count)
{
    uint32_t last = slotCount - 1u;
    uint32_t word = 0;
    for (uint32_t i = count; i > 0; --i)
    {
        uint32_t slot = slots[i - 1u];
        uint32_t inside = slot < last ? slot : last;
        word = word * 2u + (((set[inside >> 5] >> (inside & 31u)) | (uint32_t)(slot != inside)) & 1u);
    }
    return word;
}

#if defined(__SSE4_1__) && !defined(__AVX512F__)

/// Four words of the set. Loads and inserts are faster than a gather on every AMD processor, and on Intel ones since
/// the microcode that guards gathers (measured on Zen 3: 0.35 against 0.49 ns a draw).
static inline __m128i espyCull_Load4(const uint32_t* set, __m128i at)
{
#if defined(__x86_64__)
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(at);
    uint64_t high = (uint64_t)_mm_extract_epi64(at, 1);
    uint32_t at0 = (uint32_t)low, at1 = (uint32_t)(low >> 32), at2 = (uint32_t)high, at3 = (uint32_t)(high >> 32);
#else
    uint32_t at0 = (uint32_t)_mm_cvtsi128_si32(at), at1 = (uint32_t)_mm_extract_epi32(at, 1);
    uint32_t at2 = (uint32_t)_mm_extract_epi32(at, 2), at3 = (uint32_t)_mm_extract_epi32(at, 3);
#endif
    __m128i first = _mm_insert_epi32(_mm_cvtsi32_si128((int)set[at0]), (int)set[at1], 1);
    __m128i second = _mm_insert_epi32(_mm_cvtsi32_si128((int)set[at2]), (int)set[at3], 1);
    return _mm_unpacklo_epi64(first, second);
}

#endif

static inline uint32_t espyCull_Test32(const uint32_t* set, uint32_t slotCount, const uint32_t* slots)
{
#if defined(__AVX512F__)
    const __m512i last = _mm512_set1_epi32((int)(slotCount - 1u));
    uint32_t word = 0;
    for (uint32_t i = 0; i < 32u; i += 16u)
    {
        __m512i slot = _mm512_loadu_si512(slots + i);
        __m512i inside = _mm512_min_epu32(slot, last);
        __m512i bits = _mm512_i32gather_epi32(_mm512_srli_epi32(inside, 5), set, 4);
        __m512i bit = _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(inside, _mm512_set1_epi32(31)));
        uint32_t seen = _mm512_test_epi32_mask(bits, bit);
        uint32_t outside = _mm512_cmpneq_epi32_mask(slot, inside);
        word |= (seen | outside) << i;
    }
    return word;
#elif defined(__AVX2__)
    const __m256i last = _mm256_set1_epi32((int)(slotCount - 1u));
    uint32_t word = 0;
    for (uint32_t i = 0; i < 32u; i += 8u)
    {
        __m256i slot = _mm256_loadu_si256((const __m256i*)(const void*)(slots + i));
        __m256i inside = _mm256_min_epu32(slot, last);
        __m256i at = _mm256_srli_epi32(inside, 5);
        __m256i bits = _mm256_inserti128_si256(_mm256_castsi128_si256(espyCull_Load4(set, _mm256_castsi256_si128(at))),
                                               espyCull_Load4(set, _mm256_extracti128_si256(at, 1)), 1);
        // Up by 31 - slot % 32, so that the bit becomes the sign.
        __m256i sign = _mm256_sllv_epi32(bits, _mm256_andnot_si256(inside, _mm256_set1_epi32(31)));
        __m256i outside = _mm256_xor_si256(_mm256_cmpeq_epi32(inside, slot), _mm256_set1_epi32(-1));
        word |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(sign, outside))) << i;
    }
    return word;
#elif defined(__SSE4_1__)
    const __m128i last = _mm_set1_epi32((int)(slotCount - 1u));
    const __m128i spread = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    const __m128i bytes = _mm_set1_epi32(0x18100800);
    const __m128i bitOfByte = _mm_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    uint32_t word = 0;
    for (uint32_t i = 0; i < 32u; i += 4u)
    {
        __m128i slot = _mm_loadu_si128((const __m128i*)(const void*)(slots + i));
        __m128i inside = _mm_min_epu32(slot, last);
        __m128i bits = espyCull_Load4(set, _mm_srli_epi32(inside, 5));
        // 1 << slot % 32 by bytes: the place of the slot in all four bytes of its lane, a bit from a table of eight,
        // and only the byte that it belongs to.
        __m128i place = _mm_shuffle_epi8(_mm_and_si128(inside, _mm_set1_epi32(31)), spread);
        __m128i ours = _mm_cmpeq_epi8(_mm_and_si128(place, _mm_set1_epi8(24)), bytes);
        __m128i bit = _mm_and_si128(_mm_shuffle_epi8(bitOfByte, place), ours);
        __m128i seen = _mm_cmpeq_epi32(_mm_and_si128(bits, bit), bit);
        __m128i outside = _mm_xor_si128(_mm_cmpeq_epi32(inside, slot), _mm_set1_epi32(-1));
        word |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_or_si128(seen, outside))) << i;
    }
    return word;
#else
    return espyCull_TestSome(set, slotCount, slots, 32);
#endif
}

static void espyCull_TestSlots(const uint32_t* set, uint32_t slotCount, const uint32_t* slots, uint32_t count,
                               uint32_t* out)
{
    uint32_t full = count / 32u;
    for (uint32_t i = 0; i < full; ++i)
    {
        out[i] = espyCull_Test32(set, slotCount, slots + (size_t)i * 32u);
    }
    if (count % 32u != 0)
    {
        out[full] = espyCull_TestSome(set, slotCount, slots + (size_t)full * 32u, count % 32u);
    }
}

const espyiCullKernels* ESPYI_CULL_KERNELS(void)
{
    static const espyiCullKernels kernels = {espyCull_TestSlots, espyList_Bits};
    return &kernels;
}
