// SPDX-License-Identifier: MIT
// Random operations on a query system and a mock device with every fault, held to a reference.
#ifndef ESPY_QUERY_SOAK_H
#define ESPY_QUERY_SOAK_H

#include <stdint.h>

typedef struct espyQuerySoakResult
{
    uint64_t operations, frames;
    uint64_t queries, stale, lost;
    uint64_t missing;     ///< Objects in frames that the reference saw and nobody drew.
    uint32_t longest;     ///< Frames in a row of one object.
    uint32_t timeLimit;   ///< Of the view, at least so long ago.
    uint64_t waits;       ///< Of the device.
    uint64_t violations;  ///< Of its rules.
    uint64_t heldAtStart; ///< Bytes, after everything was reserved.
    uint64_t heldAtEnd;
    uint64_t allocations; ///< After that.
    uint64_t wrong;       ///< Answers of the interface that the reference contradicts.
} espyQuerySoakResult;

/// Adds, removes, recycles, moves, jumps, cuts, freezes, loses, delays, forges, switches off, rebuilds ... The same
/// seed does the same.
espyQuerySoakResult espyQuerySoak_Run(uint64_t seed, uint64_t operations);

#endif
