// SPDX-License-Identifier: MIT
// Kernels of the proxy pass with WebAssembly SIMD, where the compiler was asked for it.
#include "proxy/proxy_internal.h"

#if defined(__wasm_simd128__)
#define ESPY_KERNEL_WASM128
#define ESPYI_PROXY_KERNELS espyiProxy_GetWasm128
#include "kernels/proxy.inl"
#else
const espyiProxyKernels* espyiProxy_GetWasm128(void)
{
    return NULL;
}
#endif
