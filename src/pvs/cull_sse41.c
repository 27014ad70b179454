// SPDX-License-Identifier: MIT
// Batch kernels with SSE4.1, where the compiler was asked for it.
#include "pvs/cull.h"

#if defined(__SSE4_1__)
#define ESPYI_CULL_KERNELS espyiCull_GetSse41
#include "kernels/cull.inl"
#else
const espyiCullKernels* espyiCull_GetSse41(void)
{
    return NULL;
}
#endif
