// SPDX-License-Identifier: MIT
// Ray kernels for any machine.
#define ESPY_KERNEL_TABLE espyiBvhKernels_scalar
#include "kernels/bvh_rays.inl"
