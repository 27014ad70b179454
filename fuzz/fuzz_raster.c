// SPDX-License-Identifier: MIT
// Bytes from anywhere as a recorded frame of the rasteriser: replay it by plain C and by the machine's own kernels.
#include <espy/raster.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/// Memory that one replay may hold: recordings name sizes of rasters that are fine, yet need a gigabyte.
#define ESPY_FUZZ_MOST_BYTES (32u << 20)

typedef struct espyFuzzHeap
{
    size_t used;
} espyFuzzHeap;

/// Sizes stand in front of the blocks.
#define ESPY_FUZZ_FRONT 64u

static void* espyFuzz_Alloc(size_t size, size_t align, void* context)
{
    espyFuzzHeap* heap = (espyFuzzHeap*)context;
    uint8_t* block = NULL;
    if (align <= ESPY_FUZZ_FRONT && size <= ESPY_FUZZ_MOST_BYTES - heap->used)
    {
        block = aligned_alloc(ESPY_FUZZ_FRONT, (size + 2u * ESPY_FUZZ_FRONT - 1u) / ESPY_FUZZ_FRONT * ESPY_FUZZ_FRONT);
    }
    if (!block)
    {
        return NULL;
    }
    heap->used += size;
    memcpy(block, &size, sizeof size);
    return block + ESPY_FUZZ_FRONT;
}

static void espyFuzz_Free(void* pointer, void* context)
{
    espyFuzzHeap* heap = (espyFuzzHeap*)context;
    if (pointer)
    {
        uint8_t* block = (uint8_t*)pointer - ESPY_FUZZ_FRONT;
        size_t size;
        memcpy(&size, block, sizeof size);
        heap->used -= size;
        free(block);
    }
}

/// Every answer and every pixel as one number.
static uint64_t espyFuzz_Hash(const espyRaster* raster)
{
    uint64_t hash = 0;
    for (int32_t y = 0; y < espyRaster_GetHeight(raster); ++y)
    {
        for (int32_t x = 0; x < espyRaster_GetWidth(raster); ++x)
        {
            float depth = espyRaster_GetDepth(raster, x, y);
            uint32_t bits;
            memcpy(&bits, &depth, sizeof bits);
            hash = (hash ^ bits ^ (uint64_t)espyRaster_GetId(raster, x, y) << 32) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 29;
            if (!(depth >= 0.0f && depth <= 1.0f))
            {
                abort();
            }
        }
    }
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const espyIsa caps[2] = {espyIsa_Scalar, espyIsa_Auto};
    uint64_t hashes[2] = {0, 0};
    espyResult results[2];
    espyReplayReport reports[2];
    // Exactly as large as the input, so that a sanitizer sees every read behind it.
    uint8_t* copy = malloc(size > 0 ? size : 1u);
    if (!copy)
    {
        return 0;
    }
    memcpy(copy, data, size);
    for (int i = 0; i < 2; ++i)
    {
        espyFuzzHeap heap = {0};
        espyHooks hooks = {.alloc = espyFuzz_Alloc, .free = espyFuzz_Free, .context = &heap};
        espyRaster* raster = NULL;
        espyDataError error = {0};
        reports[i] = (espyReplayReport){0};
        results[i] = espyRaster_Replay(&hooks, copy, size, caps[i], &raster, &reports[i], &error);
        if ((results[i] == espyResult_Ok) != (raster != NULL) ||
            (results[i] == espyResult_BadData && (error.field == NULL || error.byteOffset > size)))
        {
            abort();
        }
        hashes[i] = raster ? espyFuzz_Hash(raster) : 0;
        espyRaster_Destroy(raster);
        if (heap.used != 0)
        {
            abort();
        }
    }
    if (results[0] != results[1] || hashes[0] != hashes[1] || memcmp(&reports[0], &reports[1], sizeof reports[0]) != 0)
    {
        abort();
    }
    free(copy);
    return 0;
}
