// SPDX-License-Identifier: MIT
// The peer of the proxy bench for one instruction set.
#if defined(__AVX512F__)
#define ESPY_KERNEL_AVX512
#endif
#define ESPY_PEER espyPeer_Avx512
#include "bench/proxy_peer.inl"
