// SPDX-License-Identifier: MIT
// Batch kernels in plain C; the only ones off x86.
#define ESPYI_CULL_KERNELS espyiCull_GetScalar
#include "kernels/cull.inl"
