// SPDX-License-Identifier: MIT
// Kernels of the rasteriser with AVX-512, where the compiler was asked for it.
#include "raster/raster_internal.h"

#if defined(__AVX512F__)
#define ESPY_KERNEL_AVX512
#define ESPYI_RASTER_KERNELS espyiRaster_GetAvx512
#include "kernels/raster.inl"
#else
const espyiRasterKernels* espyiRaster_GetAvx512(void)
{
    return NULL;
}
#endif
