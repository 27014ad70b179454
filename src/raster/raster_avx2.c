// SPDX-License-Identifier: MIT
// Kernels of the rasteriser with AVX2, where the compiler was asked for it.
#include "raster/raster_internal.h"

#if defined(__AVX2__)
#define ESPY_KERNEL_AVX2
#define ESPYI_RASTER_KERNELS espyiRaster_GetAvx2
#include "kernels/raster.inl"
#else
const espyiRasterKernels* espyiRaster_GetAvx2(void)
{
    return NULL;
}
#endif
