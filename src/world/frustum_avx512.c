// SPDX-License-Identifier: MIT
// Frustum kernels with AVX-512, where the compiler was asked for it.
#include "world/frustum.h"

#if defined(__AVX512F__)
#define ESPYI_FRUSTUM_KERNELS espyiFrustum_GetAvx512
#include "kernels/frustum.inl"
#else
const espyiFrustumKernels* espyiFrustum_GetAvx512(void)
{
    return NULL;
}
#endif
