// SPDX-License-Identifier: MIT
// Bytes from anywhere as a record of culls: run it.
//
// The hashes of chunks would stop nearly every input, so each is tried as it is and again with hashes made to fit.
#include "world/cull_record.h"

#include <espy/cull_replay.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static uint64_t espyFuzz_Word64(const uint8_t* b)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < 8; ++i)
    {
        value |= (uint64_t)b[i] << (8u * i);
    }
    return value;
}

static void espyFuzz_FixHashes(uint8_t* bytes, size_t size)
{
    size_t at = ESPYI_RECORD_HEADER_BYTES;
    while (at < size && size - at >= ESPYI_RECORD_CHUNK_BYTES + ESPYI_RECORD_HASH_BYTES)
    {
        uint64_t payload = espyFuzz_Word64(bytes + at + 8);
        if (payload > size - at - ESPYI_RECORD_CHUNK_BYTES - ESPYI_RECORD_HASH_BYTES)
        {
            return;
        }
        uint8_t* body = bytes + at + ESPYI_RECORD_CHUNK_BYTES;
        uint64_t hash = (uint64_t)bytes[at] | (uint64_t)bytes[at + 1] << 8;
        for (uint64_t i = 0; i < payload; i += ESPYI_RECORD_BLOCK_BYTES)
        {
            uint64_t left = payload - i;
            hash = espyiHash_Bytes(hash, body + i, left < ESPYI_RECORD_BLOCK_BYTES ? left : ESPYI_RECORD_BLOCK_BYTES);
        }
        for (uint32_t i = 0; i < 8; ++i)
        {
            body[payload + i] = (uint8_t)(hash >> (8u * i));
        }
        at += ESPYI_RECORD_CHUNK_BYTES + (size_t)payload + ESPYI_RECORD_HASH_BYTES;
    }
}

static void espyFuzz_Try(const uint8_t* bytes, size_t size)
{
    // Plain C and the machine's own kernels must agree, also on nonsense.
    espyCullReplayDef def = espyCullReplayDef_Default();
    espyCullReplayResult results[2];
    espyDataError error;
    espyResult first = espyCullReplay_Run(bytes, size, &def, &results[0], &error);
    def.isa = espyIsa_Scalar;
    espyResult second = espyCullReplay_Run(bytes, size, &def, &results[1], NULL);
    if (first != second || error.result != first || error.field == NULL || error.byteOffset > size ||
        memcmp(&results[0], &results[1], sizeof results[0]) != 0)
    {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    // Exactly as large as the input, so that a sanitizer sees every read behind it.
    uint8_t* copy = malloc(size > 0 ? size : 1u);
    if (copy)
    {
        memcpy(copy, data, size);
        espyFuzz_Try(copy, size);
        espyFuzz_FixHashes(copy, size);
        espyFuzz_Try(copy, size);
        free(copy);
    }
    return 0;
}
