// SPDX-License-Identifier: MIT
// Kernels of the rasteriser with WebAssembly SIMD, where the compiler was asked for it.
#include "raster/raster_internal.h"

#if defined(__wasm_simd128__)
#define ESPY_KERNEL_WASM128
#define ESPYI_RASTER_KERNELS espyiRaster_GetWasm128
#include "kernels/raster.inl"
#else
const espyiRasterKernels* espyiRaster_GetWasm128(void)
{
    return NULL;
}
#endif
