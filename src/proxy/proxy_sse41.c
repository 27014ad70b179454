// SPDX-License-Identifier: MIT
// Kernels of the proxy pass with SSE4.1, where the compiler was asked for it.
#include "proxy/proxy_internal.h"

#if defined(__SSE4_1__)
#define ESPY_KERNEL_SSE41
#define ESPYI_PROXY_KERNELS espyiProxy_GetSse41
#include "kernels/proxy.inl"
#else
const espyiProxyKernels* espyiProxy_GetSse41(void)
{
    return NULL;
}
#endif
