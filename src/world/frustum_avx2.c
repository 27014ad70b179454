// SPDX-License-Identifier: MIT
// Frustum kernels with AVX2, where the compiler was asked for it.
#include "world/frustum.h"

#if defined(__AVX2__)
#define ESPYI_FRUSTUM_KERNELS espyiFrustum_GetAvx2
#include "kernels/frustum.inl"
#else
const espyiFrustumKernels* espyiFrustum_GetAvx2(void)
{
    return NULL;
}
#endif
