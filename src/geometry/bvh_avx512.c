// SPDX-License-Identifier: MIT
// Ray kernels for x86 with AVX-512.
#if defined(__x86_64__) || defined(__i386__)
#define ESPY_KERNEL_AVX512
#define ESPY_KERNEL_TABLE espyiBvhKernels_avx512
#include "kernels/bvh_rays.inl"
#endif
