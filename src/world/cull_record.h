// SPDX-License-Identifier: MIT
// The form of a record of culls: what its writer and its reader share.
//
// A record is a header, then chunks: kind, 0, bytes of payload as 64 bits, the payload, its hash as 64 bits. All
// numbers are 32-bit words of little-endian byte order; floats are their bits. The hash runs over blocks of the
// payload, each seeded with the one before, the first with the kind.
#ifndef ESPYI_CULL_RECORD_H
#define ESPYI_CULL_RECORD_H

#include "core/core.h"

#include <espy/cull_replay.h>

#define ESPYI_RECORD_MAGIC_LOW 0x59505345u  ///< "ESPY"
#define ESPYI_RECORD_MAGIC_HIGH 0x4C4C5543u ///< "CULL"
#define ESPYI_RECORD_VERSION 1u
#define ESPYI_RECORD_HEADER_BYTES 16u
#define ESPYI_RECORD_CHUNK_BYTES 16u
#define ESPYI_RECORD_HASH_BYTES 8u
#define ESPYI_RECORD_BLOCK_BYTES 1024u

#define ESPYI_RECORD_FILE 1u ///< Payload: a baked file, filled up to a multiple of 4 with zeros; its bytes come first.
#define ESPYI_RECORD_CALL 2u

/// Words of a call, in order:
///   head      the indices below
///   view      eyeCount, hasRectangle, shadow; for each eye: eye, planes, corners, cornerError
///   sets      for each: number of its file, offset, 1 where it has words, cellCount, cells
///   draws     boxes (low and high corner of each), then what the bits say: slots, then bitsets in the order of the
///   bits answers   draw list, update list
typedef enum espyiRecordHead
{
    espyiRecordHead_Bits = 0,
    espyiRecordHead_Count,
    espyiRecordHead_FirstIndex,
    espyiRecordHead_FirstSlot,
    espyiRecordHead_SetCount, ///< Sets that moved draws are tested by: the first of all sets.
    espyiRecordHead_SetTotal, ///< And one more where the slots' own set is none of those.
    espyiRecordHead_OwnSet,   ///< From 1; 0: none.
    espyiRecordHead_DrawCount,
    espyiRecordHead_UpdateCount,
    espyiRecordHead_Counts, ///< Six words, espyCullCounts.
    espyiRecordHead_Words = espyiRecordHead_Counts + 6,
} espyiRecordHead;

#define ESPYI_RECORD_OCCLUSION 1u
#define ESPYI_RECORD_FRUSTUM 2u
#define ESPYI_RECORD_SLOTS 4u
#define ESPYI_RECORD_UPDATES 8u ///< There is an update list.
/// First of the bits of the six bitsets: drawable, shown, castsShadow, moved, occludee, alwaysUpdate.
#define ESPYI_RECORD_BITSET 16u
#define ESPYI_RECORD_BITSETS 6u
#define ESPYI_RECORD_ALL_BITS 0x3FFu

#define ESPYI_RECORD_VIEW_WORDS 3u
#define ESPYI_RECORD_EYE_WORDS 40u
#define ESPYI_RECORD_SET_WORDS (6u + ESPY_VIEW_MAX_CELLS)

/// The bitset of a number, as the bits count them.
static inline const uint32_t** espyiRecord_Bitset(espyCullDraws* draws, uint32_t index)
{
    const uint32_t** bitsets[ESPYI_RECORD_BITSETS] = {&draws->drawable, &draws->shown,    &draws->castsShadow,
                                                      &draws->moved,    &draws->occludee, &draws->alwaysUpdate};
    return bitsets[index];
}

#endif
