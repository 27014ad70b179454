// SPDX-License-Identifier: MIT
// The binary container of glTF: a header and two chunks.
#ifndef ESPYI_GLB_H
#define ESPYI_GLB_H

#include "import/gltf_json.h"

#define ESPYI_GLB_MAGIC 0x46546C67u
#define ESPYI_GLB_CHUNK_JSON 0x4E4F534Au
#define ESPYI_GLB_CHUNK_BIN 0x004E4942u

static inline uint32_t espyiLittle_Read32(const uint8_t* bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline void espyiLittle_Write32(uint8_t* bytes, uint32_t value)
{
    for (int i = 0; i < 4; ++i)
    {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

typedef struct espyiGlb
{
    espyiJson json;
    const uint8_t* bin; ///< Null where there is no such chunk.
    size_t binSize;
    const uint8_t* rest; ///< Chunks behind those two, with their headers.
    size_t restSize;
} espyiGlb;

static inline bool espyiGlb_HasMagic(const uint8_t* bytes, size_t size)
{
    return size >= 4 && espyiLittle_Read32(bytes) == ESPYI_GLB_MAGIC;
}

/// Finds the chunks; borrowed. On failure *what is static text and *offset where it was found.
espyResult espyiGlb_Split(const uint8_t* bytes, size_t size, espyiGlb* out, const char** what, size_t* offset);

#endif
