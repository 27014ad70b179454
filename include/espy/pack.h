// SPDX-License-Identifier: MIT
// Packs the tables of a .espy file for targets with time to decode but little room: some 8 to 11 times smaller, with
// the same answers. Offline; what reads a packed file is pvs.h, like any other.
//
// Room buys time: a table that is at least 8 times smaller so is cut into blocks of which a cell reads at most some
// 2,200 coded bits; the others into larger ones, up to 8,000.
#ifndef ESPY_PACK_H
#define ESPY_PACK_H

#include <espy/pvs.h>

/// What reading a packed static table takes, in coded bits (5 to 8 ns each): the price of a cell change.
typedef struct espyPackStats
{
    uint32_t meanBits;  ///< Over all cells.
    uint32_t worstBits; ///< Of the cell that takes the most.
} espyPackStats;

/// A rewritten file. Free with espyPack_Free.
typedef struct espyPackResult
{
    void* data; ///< 16-byte aligned, in this machine's byte order; null unless the result was Ok.
    size_t size;
    espyPackStats stats; ///< Of espyPack_Pack.
    espyDataError error; ///< What espyPvs_Load found wrong with the input.
    espyHooks hooks;     ///< Internal.
} espyPackResult;

/// Writes a file of either form with packed tables (format version 2.0, which readers of 1.x refuse by name). The same
/// bytes give the same file everywhere. `hooks` may be null. `out` is always filled and is to be freed.
/// Errors: those of espyPvs_Load, LimitExceeded (more than 4 GB of packed bytes), OutOfMemory. Thread: build.
/// Cost: a second or so for 5,000 occludees in 10,000 cells. Small levels may come out larger than they were.
ESPY_API espyResult espyPack_Pack(const void* data, size_t size, const espyHooks* hooks, espyPackResult* out);

/// Writes a file of either form with plain tables: byte for byte what espyPack_Pack was given where equal sets were
/// shared and numbered by the first cell that uses each, as all writers here do. Otherwise the same.
ESPY_API espyResult espyPack_Unpack(const void* data, size_t size, const espyHooks* hooks, espyPackResult* out);

ESPY_API void espyPack_Free(espyPackResult* result);

#endif
