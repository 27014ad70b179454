// SPDX-License-Identifier: MIT
// Which kernels this machine can run.
#include "core/core.h"

espyIsa espyIsa_Detect(espyIsa cap)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    if (avx512 && (cap == espyIsa_Auto || cap == espyIsa_Avx512))
    {
        return espyIsa_Avx512;
    }
    if (__builtin_cpu_supports("avx2") && (cap == espyIsa_Auto || cap >= espyIsa_Avx2))
    {
        return espyIsa_Avx2;
    }
    if (__builtin_cpu_supports("sse4.1") && (cap == espyIsa_Auto || cap >= espyIsa_Sse41))
    {
        return espyIsa_Sse41;
    }
#elif defined(__aarch64__)
    if (cap == espyIsa_Auto || cap == espyIsa_Neon)
    {
        return espyIsa_Neon;
    }
#elif defined(__wasm_simd128__)
    if (cap == espyIsa_Auto || cap == espyIsa_Wasm128)
    {
        return espyIsa_Wasm128;
    }
#else
    (void)cap;
#endif
    return espyIsa_Scalar;
}

const char* espyIsa_GetName(espyIsa isa)
{
    static const char* const names[] = {"auto", "scalar", "sse4.1", "avx2", "avx512", "neon", "wasm128"};
    return (size_t)isa < ESPYI_ARRAY_COUNT(names) ? names[isa] : "unknown";
}
