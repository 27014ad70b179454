// SPDX-License-Identifier: MIT
// Kernels of the rasteriser with NEON (AArch64), where the compiler was asked for it.
#include "raster/raster_internal.h"

#if defined(__aarch64__)
#define ESPY_KERNEL_NEON
#define ESPYI_RASTER_KERNELS espyiRaster_GetNeon
#include "kernels/raster.inl"
#else
const espyiRasterKernels* espyiRaster_GetNeon(void)
{
    return NULL;
}
#endif
