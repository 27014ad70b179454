// SPDX-License-Identifier: MIT
// The .espy file: the one definition of every on-disk struct. docs/format.md is the normative page.
//
// A file is a header, a directory of sections and the sections themselves, each starting at a multiple of 16 bytes,
// with offsets from the start of the file and no pointers. All numbers are in the file's byte order, which the first
// word tells. Readers refuse another major version and skip sections that they do not know.
#ifndef ESPYI_FORMAT_H
#define ESPYI_FORMAT_H

#include <espy/pvs.h>

#include "core/poll.h"

/// "ESPY" in memory of a little-endian file, "YPSE" of a big-endian one.
#define ESPYI_FILE_MAGIC 0x59505345u
#define ESPYI_FILE_MAGIC_SWAPPED 0x45535059u
#define ESPYI_FILE_MAJOR 1u
#define ESPYI_FILE_MINOR 0u
#define ESPYI_FILE_VERSION ((ESPYI_FILE_MAJOR << 16) | ESPYI_FILE_MINOR)
/// A file whose tables are packed. Nothing else differs.
#define ESPYI_FILE_PACKED_MAJOR 2u
#define ESPYI_FILE_HASH_SEED 0x6573707931ull
/// The hash covers everything from here to the end of the file; the version is part of its seed.
#define ESPYI_FILE_HASH_START 16u

#define ESPYI_FILE_FLAG_OCCLUSION_CULLING 1u
/// Bits 8 to 10 of the flags: espyBakeSetting.
#define ESPYI_FILE_LEVEL_SETTINGS_SHIFT 8u
#define ESPYI_FILE_LEVEL_SETTINGS_MASK 7u

/// Lattice coordinates fit 16 bits, cells and slots fit a positive int32_t.
#define ESPYI_FILE_MAX_DIM 65535u
#define ESPYI_FILE_MAX_COUNT 0x7FFFFFFFu
#define ESPYI_FILE_MIN_COARSE_FACTOR 4u
#define ESPYI_FILE_MAX_COARSE_FACTOR 16u
/// Indices into a pool of this many sets or more take 32 bits.
#define ESPYI_FILE_WIDE_SETS 65535u
/// Slots of a row index that a lookup may visit. Robin Hood hashing at half load stays below it at any size.
#define ESPYI_FILE_MAX_PROBES 16u
#define ESPYI_FILE_NO_ROW 0xFFFFFFFFu

typedef struct espyiFileHeader
{
    uint32_t magic;
    uint32_t version; ///< major << 16 | minor.
    uint64_t hash;    ///< Of the version and of all 32-bit words that follow, in the file's byte order.
    uint64_t fileBytes;
    uint32_t headerBytes; ///< Where the directory starts. Later minor versions may append words to the header.
    uint32_t sectionCount;
    float origin[3];
    float cellSize;
    uint32_t dims[3];
    uint32_t cellCount;
    uint32_t solidCellCount;
    uint32_t occluderCount;
    uint32_t occludeeCount;
    uint32_t staticSetCount;
    uint32_t dynamicSetCount;
    uint32_t coarseFactor;
    uint32_t coarseCount;
    uint32_t quality;
    uint32_t flags;
    uint32_t consoleBudgetKB;
    float nearDistance;
    float smallestHole;
    uint32_t cellRowCount; ///< 0: every lattice cell is stored.
    uint32_t cellSlotCount;
    uint32_t cellProbes;
    uint32_t coarseRowCount; ///< 0: every coarse block is stored.
    uint32_t coarseSlotCount;
    uint32_t coarseProbes;
    uint64_t seed;
    uint64_t settingsHash;
    uint64_t contentHash;
} espyiFileHeader;

/// One entry of the directory. Kinds ascend, so each occurs at most once; sections lie in the same order.
typedef struct espyiFileSection
{
    uint32_t kind;
    uint32_t flags;
    uint32_t unitBytes;    ///< 1, 2, 4 or 8: what a change of byte order reverses.
    uint32_t elementBytes; ///< One record.
    uint64_t offset;
    uint64_t bytes; ///< Without the zero padding up to the next multiple of 16.
} espyiFileSection;

#define ESPYI_SECTION_FLAG_TOOL 1u ///< Only tools read it; a cook may drop it.
#define ESPYI_SECTION_FLAG_LATE 2u ///< Of UNKNOWN: the bake's time ran out.

typedef enum espyiSectionKind
{
    espyiSectionKind_Entries = 1,     ///< Six floats a box: occluders, then occludees.
    espyiSectionKind_CellRows = 2,    ///< Rows of the stored cells in z, y, x order. Absent where the lattice is full.
    espyiSectionKind_CellIndex = 3,   ///< Hash of the rows.
    espyiSectionKind_StaticCells = 4, ///< Index of the set of each cell, 2 or 4 bytes.
    espyiSectionKind_StaticSets = 5,  ///< Unique sets.
    espyiSectionKind_CoarseRows = 6,  ///< The same two for the stored coarse blocks.
    espyiSectionKind_CoarseIndex = 7,
    espyiSectionKind_DynamicCells = 8,
    espyiSectionKind_DynamicSets = 9,
    espyiSectionKind_StaticMap = 10,     ///< Tiles and lines of the packed table.
    espyiSectionKind_StaticModel = 11,   ///< Probabilities and the order of slots, 16 bits each.
    espyiSectionKind_StaticLengths = 12, ///< Bytes of each line, 8 or 16 bits.
    espyiSectionKind_StaticBases = 13,   ///< Offset of every 16th line.
    espyiSectionKind_StaticBytes = 14,
    espyiSectionKind_DynamicMap = 15, ///< The same five for the coarse blocks.
    espyiSectionKind_DynamicModel = 16,
    espyiSectionKind_DynamicLengths = 17,
    espyiSectionKind_DynamicBases = 18,
    espyiSectionKind_DynamicBytes = 19,
    espyiSectionKind_BakedCellSize = 0x20, ///< float: cell size before a cook joined cells. Absent where none did.
    espyiSectionKind_Nodes = 0x100,        ///< int32_t: occluders, then occludees.
    espyiSectionKind_Parts = 0x101,        ///< int32_t: occludees.
    espyiSectionKind_Hashes = 0x102,       ///< uint64_t: occluders, then occludees.
    espyiSectionKind_SolidCells = 0x103,   ///< One bit a cell.
    espyiSectionKind_Statistics = 0x104,   ///< uint32_t: cells proven not to see each occludee.
    espyiSectionKind_Unknown = 0x105,      ///< uint32_t: cells that draw each occludee for want of a proof.
    espyiSectionKind_ViewPoints = 0x106,   ///< Three floats a point, from the origin: where proofs let cameras start.
    espyiSectionKind_Contents = 0x107,     ///< uint64_t: occluders. What the caller said of their content; 0: nothing.
} espyiSectionKind;

/// Up to 32 stored cells (or coarse blocks) that share y and z. Bit i of `mask` stands for x = 32 * xBlock + i.
typedef struct espyiFileRow
{
    uint32_t xBlockY; ///< xBlock | y << 16.
    uint32_t z;
    uint32_t mask;
    uint32_t baseRank; ///< Rank of the lowest bit.
} espyiFileRow;

_Static_assert(sizeof(espyiFileHeader) == 160 && sizeof(espyiFileSection) == 32 && sizeof(espyiFileRow) == 16,
               "on-disk structs have no hidden padding");

/// Home slot of a row before masking. Finalizer after C. Wellons, "Prospecting for Hash Functions", 2018.
static inline uint32_t espyiFileRow_Hash(uint32_t xBlockY, uint32_t z)
{
    uint32_t h = xBlockY * 0x9E3779B1u + z * 0x85EBCA6Bu;
    h ^= h >> 16;
    h *= 0x21F0AAADu;
    h ^= h >> 15;
    h *= 0x735A2D97u;
    return h ^ (h >> 15);
}

static inline uint32_t espyiFile_IndexBytes(uint32_t setCount)
{
    return setCount < ESPYI_FILE_WIDE_SETS ? 2u : 4u;
}

static inline uint32_t espyiFile_CoarseDim(uint32_t dim, uint32_t factor)
{
    return dim / factor + (dim % factor != 0u ? 1u : 0u);
}

static inline uint64_t espyiFile_Align(uint64_t offset)
{
    return (offset + 15u) & ~(uint64_t)15u;
}

/// Exported from the shared espy for the library espy-bake alone, like what follows.
/// Hash of a file in this machine's byte order, as its header should state it; of no meaning where `poll` (may be null)
/// stops.
ESPY_EXPORT uint64_t espyiFile_Hash(const void* bytes, size_t size, espyiPoll* poll);

/// espyPvs_Load that asks `poll` (may be null) as it hashes, which is what takes long. One more error: Cancelled.
ESPY_EXPORT espyResult espyiPvs_LoadPolled(espyPvs* out, const void* bytes, size_t size, espyiPoll* poll,
                                           espyDataError* error);

/// Entry of the directory of a loaded file, or null.
ESPY_EXPORT const espyiFileSection* espyiFile_Find(const void* bytes, uint32_t kind);

#endif
