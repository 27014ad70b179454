// SPDX-License-Identifier: MIT
// Kernels of the proxy pass in plain C.
#define ESPYI_PROXY_KERNELS espyiProxy_GetScalar
#include "kernels/proxy.inl"
