// SPDX-License-Identifier: MIT
// The peer of the proxy bench for one instruction set.
#if defined(__SSE4_1__)
#define ESPY_KERNEL_SSE41
#endif
#define ESPY_PEER espyPeer_Sse41
#include "bench/proxy_peer.inl"
