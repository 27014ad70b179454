// SPDX-License-Identifier: MIT
// Ray kernels for x86 with SSE4.1.
#if defined(__x86_64__) || defined(__i386__)
#define ESPY_KERNEL_SSE41
#define ESPY_KERNEL_TABLE espyiBvhKernels_sse41
#include "kernels/bvh_rays.inl"
#endif
