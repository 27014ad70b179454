// SPDX-License-Identifier: MIT
// Kernels of the rasteriser in plain C.
#define ESPYI_RASTER_KERNELS espyiRaster_GetScalar
#include "kernels/raster.inl"
