// SPDX-License-Identifier: MIT
// Batch kernels with AVX2, where the compiler was asked for it.
#include "pvs/cull.h"

#if defined(__AVX2__)
#define ESPYI_CULL_KERNELS espyiCull_GetAvx2
#include "kernels/cull.inl"
#else
const espyiCullKernels* espyiCull_GetAvx2(void)
{
    return NULL;
}
#endif
