// SPDX-License-Identifier: MIT
// Kernels of the rasteriser with SSE4.1, where the compiler was asked for it.
#include "raster/raster_internal.h"

#if defined(__SSE4_1__)
#define ESPY_KERNEL_SSE41
#define ESPYI_RASTER_KERNELS espyiRaster_GetSse41
#include "kernels/raster.inl"
#else
const espyiRasterKernels* espyiRaster_GetSse41(void)
{
    return NULL;
}
#endif
