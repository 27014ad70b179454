// SPDX-License-Identifier: MIT
// Kernels of the proxy pass with AVX-512, where the compiler was asked for it.
#include "proxy/proxy_internal.h"

#if defined(__AVX512F__)
#define ESPY_KERNEL_AVX512
#define ESPYI_PROXY_KERNELS espyiProxy_GetAvx512
#include "kernels/proxy.inl"
#else
const espyiProxyKernels* espyiProxy_GetAvx512(void)
{
    return NULL;
}
#endif
