// SPDX-License-Identifier: MIT
// Ray kernels for x86 with AVX2.
#if defined(__x86_64__) || defined(__i386__)
#define ESPY_KERNEL_AVX2
#define ESPY_KERNEL_TABLE espyiBvhKernels_avx2
#include "kernels/bvh_rays.inl"
#endif
