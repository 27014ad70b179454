// SPDX-License-Identifier: MIT
// The peer of the proxy bench for one instruction set.
#define ESPY_PEER espyPeer_Avx512
#include "bench/proxy_peer.inl"
