// SPDX-License-Identifier: MIT
// Writes a loaded file again with other tables: what packing and unpacking share.
#ifndef ESPYI_PACK_INTERNAL_H
#define ESPYI_PACK_INTERNAL_H

#include <espy/pack.h>

#include "pvs/packed.h"

/// Sections of both tables in either form.
#define ESPYI_REWRITE_MAX_SECTIONS 10u

typedef struct espyiRewriteSection
{
    uint32_t kind, unitBytes;
    uint64_t bytes;
    void* data;
} espyiRewriteSection;

/// Everything of `source` but its tables, and the sections that were added, in ascending order of kind.
typedef struct espyiRewrite
{
    const espyHooks* hooks;
    const espyPvs* source;
    uint32_t major;        ///< Of the format version; the minor one stays.
    uint32_t setCounts[2]; ///< Of the header: static, dynamic.
    espyiPoll* poll;       ///< May be null.
    espyiRewriteSection sections[ESPYI_REWRITE_MAX_SECTIONS];
    uint32_t count;
} espyiRewrite;

/// Adds a section of `count` zeroed units and returns its memory; null: out of memory. Kinds must ascend.
void* espyiRewrite_Add(espyiRewrite* rewrite, uint32_t kind, uint32_t unitBytes, uint64_t count);

/// Writes the file and proves it with espyPvs_Load. Errors: OutOfMemory, LimitExceeded, Cancelled (by the poll).
espyResult espyiRewrite_Write(const espyiRewrite* rewrite, void** out, size_t* outSize);
/// Gives up the sections from number `first` on.
void espyiRewrite_Drop(espyiRewrite* rewrite, uint32_t first);
void espyiRewrite_Free(espyiRewrite* rewrite);

/// espyPack_Unpack that asks `poll` (may be null). One more error: Cancelled.
espyResult espyiPack_Unpack(const void* data, size_t size, const espyHooks* hooks, espyiPoll* poll,
                            espyPackResult* out);

#endif
