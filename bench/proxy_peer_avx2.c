// SPDX-License-Identifier: MIT
// The peer of the proxy bench for one instruction set.
#if defined(__AVX2__)
#define ESPY_KERNEL_AVX2
#endif
#define ESPY_PEER espyPeer_Avx2
#include "bench/proxy_peer.inl"
