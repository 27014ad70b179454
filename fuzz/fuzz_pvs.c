// SPDX-License-Identifier: MIT
// Bytes from anywhere as a .espy file: load them, ask everything, change their byte order.
//
// The hash would stop nearly every input, so each is tried as it is and again with the hash made to fit.
#include "pvs/format.h"

#include <espy/bake.h>
#include <espy/pack.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Sets that are read whole.
#define ESPY_FUZZ_WORDS 200u

/// Answers are only wanted so that their reads happen.
static volatile uint64_t espyFuzzSink;

static uint64_t espyFuzz_AskCell(const espyPvs* pvs, int32_t cell)
{
    espyBox box = espyPvs_GetCellBox(pvs, cell);
    espyVec3 corners[3] = {box.min, box.max, {box.min.x, box.max.y, (box.min.z + box.max.z) * 0.5f}};
    uint64_t sum = espyPvs_IsSolidCell(pvs, cell) ? 1u : 0u;
    for (uint32_t i = 0; i < 3; ++i)
    {
        sum += (uint64_t)(int64_t)espyPvs_FindCell(pvs, corners[i]);
    }
    sum += (uint64_t)espyPvs_TestBox(pvs, cell, box);
    box.max.x += pvs->cellSize * 40.0f;
    sum += (uint64_t)espyPvs_TestBox(pvs, cell, box);
    const uint32_t* set = espyPvs_GetStaticSet(pvs, cell);
    if (pvs->staticWords <= ESPY_FUZZ_WORDS && pvs->coarseWords <= ESPY_FUZZ_WORDS)
    {
        uint32_t words[ESPY_FUZZ_WORDS + 1u];
        sum += espyPvs_ReadDynamicSet(pvs, cell, words) ? words[0] : 0u;
        sum += espyPvs_ReadStaticSet(pvs, cell, words) ? words[0] : 0u;
    }
    static const uint32_t slots[] = {0, 1, 31, 32, 33, 100, 1000, ESPY_PVS_NO_SLOT, 0x80000000u, 5, 6, 7};
    const uint32_t count = (uint32_t)(sizeof slots / sizeof slots[0]);
    uint32_t bits[4];
    uint32_t list[100];
    espyPvs_CullBits(pvs, set, slots, count, bits);
    sum += bits[0] + espyPvs_CullList(pvs, set, slots, count, list);
    espyPvs_CullRange(pvs, set, pvs->occludeeCount / 2u, 100, bits);
    sum += espyBits_ToList(bits, 100, list);
    for (uint32_t slot = 0; slot < 70; ++slot)
    {
        sum += (uint64_t)espyPvs_TestSlot(pvs, cell, slot);
    }
    return sum;
}

static void espyFuzz_AskEverything(const espyPvs* pvs)
{
    espyPvsInfo info;
    espyPvs_GetInfo(pvs, &info);
    uint64_t sum = info.fileBytes;
    // The first and the last of everything, and one past the end.
    for (int32_t i = -1; i < 40; ++i)
    {
        sum += espyFuzz_AskCell(pvs, i) + espyFuzz_AskCell(pvs, (int32_t)pvs->cellCount - i);
    }
    for (uint32_t i = 0; i < 40; ++i)
    {
        uint32_t slot = i < 20 ? i : pvs->occludeeCount + 20u - i;
        uint32_t index = i < 20 ? i : pvs->occluderCount + 20u - i;
        sum += (uint64_t)espyPvs_GetOccludeeNode(pvs, slot) + espyPvs_GetOccludeeHash(pvs, slot);
        sum += (uint64_t)espyPvs_GetOccludeePart(pvs, slot) + (uint64_t)espyPvs_GetOccluderNode(pvs, index);
        sum += espyPvs_GetOccluderHash(pvs, index);
        sum += espyBox_IsValid(espyPvs_GetOccludeeBox(pvs, slot)) ? 1u : 0u;
        sum += espyBox_IsValid(espyPvs_GetOccluderBox(pvs, index)) ? 1u : 0u;
    }
    espyFuzzSink += sum;
}

static void espyFuzz_Require(bool condition)
{
    if (!condition)
    {
        abort();
    }
}

/// Either form from either form; packed again, what was unpacked is the same.
static void espyFuzz_Repack(const uint8_t* file, size_t size)
{
    espyPackResult plain;
    espyPackResult packed;
    espyPackResult again;
    espyResult unpacked = espyPack_Unpack(file, size, NULL, &plain);
    espyFuzz_Require((unpacked == espyResult_Ok) == (plain.data != NULL));
    if (unpacked == espyResult_Ok && espyPack_Pack(plain.data, plain.size, NULL, &packed) == espyResult_Ok)
    {
        espyFuzz_Require(espyPack_Unpack(packed.data, packed.size, NULL, &again) == espyResult_Ok);
        espyFuzz_Require(again.size == plain.size && memcmp(again.data, plain.data, plain.size) == 0);
        espyPack_Free(&again);
        espyPack_Free(&packed);
    }
    espyPack_Free(&plain);
}

static void espyFuzz_Try(const uint8_t* file, size_t size)
{
    espyPvs pvs;
    espyDataError error;
    espyResult result = espyPvs_Load(&pvs, file, size, &error);
    espyFuzz_Require(error.result == result && error.field != NULL && error.byteOffset <= size);
    espyFuzz_AskEverything(&pvs);
    if (result == espyResult_Ok)
    {
        espyFuzz_Repack(file, size);
    }
    uint8_t* big = malloc(size + 1u);
    uint8_t* little = malloc(size + 1u);
    if (big && little)
    {
        // Unaligned on purpose. What loads must convert; what converts must come back the same.
        espyResult converted = espyBake_ConvertByteOrder(file, size, true, big + 1, &error);
        espyFuzz_Require(error.field != NULL && error.byteOffset <= size);
        espyFuzz_Require(result != espyResult_Ok || converted == espyResult_Ok);
        if (converted == espyResult_Ok)
        {
            espyFuzz_Require(espyBake_ConvertByteOrder(big + 1, size, false, little, NULL) == espyResult_Ok);
            espyFuzz_Require(espyBake_ConvertByteOrder(little, size, true, little, NULL) == espyResult_Ok);
            espyFuzz_Require(memcmp(little, big + 1, size) == 0);
        }
    }
    free(big);
    free(little);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    void* copy = NULL;
    // Exactly as large as the input, so that a sanitizer sees every read behind it.
    if (posix_memalign(&copy, ESPY_PVS_ALIGNMENT, size > 0 ? size : 1u) != 0)
    {
        return 0;
    }
    memcpy(copy, data, size);
    espyFuzz_Try(copy, size);
    if (size >= sizeof(espyiFileHeader))
    {
        ((espyiFileHeader*)copy)->hash = espyiFile_Hash(copy, size, NULL);
        espyFuzz_Try(copy, size);
    }
    free(copy);
    return 0;
}
