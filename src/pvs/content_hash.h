// SPDX-License-Identifier: MIT
// The content hash of an occluder in a file: one definition for the bake that writes it and the world that checks it.
#ifndef ESPYI_CONTENT_HASH_H
#define ESPYI_CONTENT_HASH_H

#include "core/core.h"

#include <espy/math.h>
#include <string.h>

/// Part of every hash: raise it with any change that may change the answers of a bake.
#define ESPYI_BAKE_ALGORITHM 5u

static inline uint64_t espyiContentHash_Begin(uint64_t triangleCount)
{
    return espyiHash_U64(triangleCount, ESPYI_BAKE_ALGORITHM);
}

/// At most 24 values. Adding 0 turns -0 into 0, which compare equal and mean the same; every NaN is the same NaN.
static inline uint64_t espyiContentHash_AddFloats(uint64_t hash, const float* values, size_t count)
{
    uint32_t words[24];
    for (size_t i = 0; i < count; ++i)
    {
        float v = values[i] + 0.0f;
        memcpy(&words[i], &v, sizeof v);
        words[i] = v == v ? words[i] : 0x7FC00000u;
    }
    return espyiHash_Words(hash, words, count);
}

/// World-space corners; counted from the lattice's origin.
static inline uint64_t espyiContentHash_AddTriangle(uint64_t hash, espyVec3 origin, const espyVec3 corners[3])
{
    float values[9];
    for (uint32_t i = 0; i < 3; ++i)
    {
        values[3u * i] = corners[i].x - origin.x;
        values[3u * i + 1u] = corners[i].y - origin.y;
        values[3u * i + 2u] = corners[i].z - origin.z;
    }
    return espyiContentHash_AddFloats(hash, values, 9);
}

#endif
