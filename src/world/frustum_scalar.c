// SPDX-License-Identifier: MIT
// Frustum kernels in plain C; the only ones off x86.
#define ESPYI_FRUSTUM_KERNELS espyiFrustum_GetScalar
#include "kernels/frustum.inl"
