// SPDX-License-Identifier: MIT
// Kernels of the rasteriser: one text, compiled once per instruction set. The includer names the getter in
// ESPYI_RASTER_KERNELS and says by ESPY_KERNEL_... what the lanes are made of.
#include "raster/raster_probe.h"
#include "raster/raster_simd.h"

// Inlined by force where a lane operation is an instruction or two; as loops the text would grow too much.
#if defined(ESPY_SIMD_X86) || defined(ESPY_KERNEL_NEON) || defined(ESPY_KERNEL_WASM128)
#define ESPY_HOT static inline __attribute__((always_inline))
#else
#define ESPY_HOT static
#endif

static inline uint32_t espyBits_Lowest(uint32_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctz(bits);
#else
    return espyiPopCount32((bits & (0u - bits)) - 1u);
#endif
}

/// Index of the lowest byte that is not 0, of a value that is not 0.
static inline uint32_t espyBits_LowestByte(uint64_t bits)
{
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctzll(bits) / 8u;
#else
    uint32_t index = 0;
    for (; (bits & 0xFFu) == 0; bits >>= 8)
    {
        ++index;
    }
    return index;
#endif
}

// Each stands on those before it.
#include "kernels/raster_setup.inl"

#include "kernels/raster_tiles.inl"

#include "kernels/raster_faces.inl"

#include "kernels/raster_sampled.inl"

#include "kernels/raster_conservative.inl"

#include "kernels/raster_tests.inl"

#include "kernels/raster_probe.inl"

static void espyKernel_DrawBatch(espyRaster* raster, espyiBand* band, const espyiClip* clip,
                                 const espyiBatchView* batch)
{
    const int32_t tile = (int32_t)ESPYI_TILE;
    espyClamp clamp = {(int32_t)band->tileRow0 * tile, (int32_t)band->tileRow1 * tile, 0,
                       (int32_t)raster->tilesX * tile};
    if (raster->mode == espyRasterMode_Conservative)
    {
        espyConservative_DrawBatch(raster, band, clip, batch, &clamp);
    }
    else if (raster->ids)
    {
        espySampled_DrawBatch(raster, band, clip, batch, &clamp, true);
    }
    else
    {
        espySampled_DrawBatch(raster, band, clip, batch, &clamp, false);
    }
}

const espyiRasterKernels* ESPYI_RASTER_KERNELS(void)
{
    static const espyiRasterKernels kernels = {espyKernel_DrawBatch, espyKernel_TestRect,  espyKernel_ProjectBox,
                                               espyKernel_TestBatch, espyKernel_MergeTile, espyKernel_ProbeBatch};
    return &kernels;
}
