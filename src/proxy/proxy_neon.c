// SPDX-License-Identifier: MIT
// Kernels of the proxy pass with NEON (AArch64), where the compiler was asked for it.
#include "proxy/proxy_internal.h"

#if defined(__aarch64__)
#define ESPY_KERNEL_NEON
#define ESPYI_PROXY_KERNELS espyiProxy_GetNeon
#include "kernels/proxy.inl"
#else
const espyiProxyKernels* espyiProxy_GetNeon(void)
{
    return NULL;
}
#endif
