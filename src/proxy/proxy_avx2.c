// SPDX-License-Identifier: MIT
// Kernels of the proxy pass with AVX2, where the compiler was asked for it.
#include "proxy/proxy_internal.h"

#if defined(__AVX2__)
#define ESPY_KERNEL_AVX2
#define ESPYI_PROXY_KERNELS espyiProxy_GetAvx2
#include "kernels/proxy.inl"
#else
const espyiProxyKernels* espyiProxy_GetAvx2(void)
{
    return NULL;
}
#endif
