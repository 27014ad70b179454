// SPDX-License-Identifier: MIT
// Batch kernels with AVX-512, where the compiler was asked for it.
#include "pvs/cull.h"

#if defined(__AVX512F__)
#define ESPYI_CULL_KERNELS espyiCull_GetAvx512
#include "kernels/cull.inl"
#else
const espyiCullKernels* espyiCull_GetAvx512(void)
{
    return NULL;
}
#endif
