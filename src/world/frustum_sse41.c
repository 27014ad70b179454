// SPDX-License-Identifier: MIT
// Frustum kernels with SSE4.1, where the compiler was asked for it.
#include "world/frustum.h"

#if defined(__SSE4_1__)
#define ESPYI_FRUSTUM_KERNELS espyiFrustum_GetSse41
#include "kernels/frustum.inl"
#else
const espyiFrustumKernels* espyiFrustum_GetSse41(void)
{
    return NULL;
}
#endif
