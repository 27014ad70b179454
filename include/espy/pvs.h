// SPDX-License-Identifier: MIT
// Baked potentially visible sets at run time: validate a blob once, in place; find a camera's cell; test bits.
//
// C17, no allocation, no library calls, no threads. A loaded espyPvs is immutable: every query is "Thread: any".
// Format: docs/format.md. The bytes must stay where they are while the espyPvs is used, start at a 16-byte boundary
// and be of this machine's byte order (tools convert; espyPvs_Load names the refusal).
//
// Cells: one lattice, origin at the minimum corner of all areas, one cell size, half-open cells; points on the upper
// faces of the volume belong to the last cell. Stored cells are ranked in z, y, x order; with one axis-aligned area the
// rank is x + nx * (y + ny * z). Cell -1 means "outside": everything is visible.
#ifndef ESPY_PVS_H
#define ESPY_PVS_H

#include <espy/math.h>

#define ESPY_PVS_ALIGNMENT 16
/// Cell of a point that is in no cell: everything counts as visible.
#define ESPY_PVS_OUTSIDE (-1)
/// Slot of a draw that has no baked bit (dynamic, or of another file): always kept by the batch functions.
#define ESPY_PVS_NO_SLOT 0xFFFFFFFFu

typedef enum espyBakeQuality
{
    espyBakeQuality_Low = 0,
    espyBakeQuality_Medium,
    espyBakeQuality_High,
    espyBakeQuality_Proven,
} espyBakeQuality;

/// Facts of a loaded file. Sizes in bytes, by the formulas of docs/format.md.
typedef struct espyPvsInfo
{
    uint32_t formatVersion; ///< major << 16 | minor.
    espyBakeQuality quality;
    espyVec3 origin;         ///< Minimum corner of the lattice.
    float cellSize;          ///< Metres.
    float bakedCellSize;     ///< Metres; below cellSize where a cook joined cells. Nodes are matched by this one.
    uint32_t dims[3];        ///< Lattice cells along x, y, z.
    uint32_t cellCount;      ///< Stored cells.
    uint32_t solidCellCount; ///< Stored cells without an open sample.
    uint32_t occluderCount;
    uint32_t occludeeCount;     ///< Static slots, unroll cells included.
    uint32_t staticSetCount;    ///< Unique sets.
    uint32_t dynamicSetCount;   ///< 0 without the dynamic table.
    uint32_t coarseFactor;      ///< Cells of one coarse block per axis, 4..16; 0 without the dynamic table.
    uint32_t coarseDims[3];     ///< Coarse blocks along x, y, z.
    uint32_t coarseCount;       ///< Coarse blocks that hold a stored cell.
    uint32_t staticIndexBytes;  ///< 2 or 4.
    uint32_t dynamicIndexBytes; ///< 2 or 4; 0 without the dynamic table.
    bool occlusionCulling;      ///< The scene's switch at bake time.
    uint32_t consoleBudgetKB;   ///< 0: unlimited.
    uint32_t levelSettings;     ///< espyBakeSetting bits: settings that were the level's own.
    float nearDistance;         ///< Metres.
    float smallestHole;         ///< Metres.
    uint64_t seed;
    uint64_t settingsHash;      ///< Hash of the settings that decide the answers.
    uint64_t contentHash;       ///< Hash of everything that the bake read.
    uint64_t provenHiddenPairs; ///< 0 where the file was cooked without statistics.
    size_t entriesBytes;
    size_t cellMapBytes; ///< Of cells and coarse blocks together; 0 with one area.
    /// What the plain tables take: of a packed file as well, of which these are the sizes once it is unpacked.
    size_t staticCellsBytes, staticSetsBytes, dynamicCellsBytes, dynamicSetsBytes;
    bool packed;                              ///< The tables are in the packed form.
    size_t staticPackBytes, dynamicPackBytes; ///< Of the packed tables; 0 in a plain file.
    size_t fileBytes;
} espyPvsInfo;

/// Finds the rank of lattice coordinates where not all of them are stored: rows of 32 along x behind a small hash.
typedef struct espyPvsMap
{
    const void* rows;      ///< Null: every coordinate is stored and the rank is x + nx * (y + ny * z).
    const uint32_t* index; ///< Row numbers by hash.
    uint32_t rowCount, slotMask, probes;
} espyPvsMap;

/// A table in packed form; model is null where the file has it plain.
typedef struct espyPvsPack
{
    const uint16_t* model;  ///< Probabilities, then the order of the slots.
    const uint32_t* starts; ///< Where lines start: 32 cells, then the lines before them. Behind all, shapes of tiles.
    const void* lengths;    ///< Bytes of each line, 8 or 16 bits.
    const uint32_t* bases;  ///< Where every 16th line starts.
    const uint8_t* bytes;
    uint32_t width, wideLengths, lineCount, tiles[3];
} espyPvsPack;

/// A loaded file. Fill with espyPvs_Load only; the fields are for the inline and batch paths, not for callers.
/// A zeroed espyPvs is valid and answers "everything visible".
typedef struct espyPvs
{
    const uint8_t* bytes;
    size_t size;
    espyVec3 origin;
    float cellSize, inverseCellSize;
    uint32_t dims[3];
    uint32_t cellCount, occludeeCount, occluderCount;
    uint32_t staticWords, staticSetCount, staticWide;
    uint32_t coarseFactor, coarseDims[3], coarseCount, coarseWords, dynamicSetCount, dynamicWide;
    espyIsa isa; ///< Kernels of the batch functions; Load takes the best. Lowering it never changes a result.
    espyPvsMap cellMap, coarseMap;
    const void* staticCells;
    const uint32_t* staticSets;
    const void* dynamicCells;
    const uint32_t* dynamicSets;
    espyPvsPack staticPack, dynamicPack;
    const float* entries;     ///< Occluder boxes, then occludee boxes: min xyz, max xyz each.
    const int32_t* nodes;     ///< Node ids in the order of entries, or null.
    const int32_t* parts;     ///< Parts of occludees, or null.
    const uint64_t* hashes;   ///< Content hashes in the order of entries, or null.
    const uint64_t* contents; ///< Of occluders, as espyBakeOccluder.content, or null.
    const uint32_t* solid;    ///< One bit a cell, or null.
} espyPvs;

/// Validates `size` bytes whole, with checked arithmetic, and resolves them into *out.
/// On failure *out is zeroed (everything visible) and *error (may be null) says what, where and in which field.
/// Errors: BadData, UnsupportedVersion, WrongByteOrder, Misaligned. Cost: linear in the file. Lifetime: borrows bytes.
ESPY_API espyResult espyPvs_Load(espyPvs* out, const void* bytes, size_t size, espyDataError* error);

/// Reads the facts of a loaded file.
ESPY_API void espyPvs_GetInfo(const espyPvs* pvs, espyPvsInfo* out);

/// Returns the cell that holds `point`, or ESPY_PVS_OUTSIDE (also for NaN and infinite coordinates).
/// Cost: constant, whatever the size of the level. Thread: any.
ESPY_API int32_t espyPvs_FindCell(const espyPvs* pvs, espyVec3 point);

/// Returns the closed bounds of a stored cell; an empty box for any other value.
/// Cost: constant with one area, logarithmic in the rows of the map otherwise. Thread: any.
ESPY_API espyBox espyPvs_GetCellBox(const espyPvs* pvs, int32_t cell);

/// Returns the set of a cell: bit (slot % 32) of word (slot / 32) is 1 where the slot can be seen. Null means that
/// everything is visible (outside, or no tables), and always with a packed file, whose sets lie nowhere as words: taken
/// as "everything is visible" that draws too much and culls nothing. Code that must work with every file calls
/// espyPvs_ReadStaticSet. Length: (occludeeCount + 31) / 32 words. Lifetime: that of the bytes.
ESPY_API const uint32_t* espyPvs_GetStaticSet(const espyPvs* pvs, int32_t cell);

/// Returns the coarse set of a cell for dynamic objects, or null as espyPvs_GetStaticSet does.
/// Length: (coarseCount + 31) / 32 words.
ESPY_API const uint32_t* espyPvs_GetDynamicSet(const espyPvs* pvs, int32_t cell);

/// Writes the set of a cell into the caller's words, whatever form the file stores it in: (occludeeCount + 31) / 32
/// words, bits above the last slot 0. Returns true where the file answers for the cell; otherwise (outside, a cell that
/// it does not have) every bit is 1, everything is visible, and it returns false. The words are a set for the batch
/// functions either way. Cost: a copy; from a packed file some microseconds and 17 KB of stack, so call it when the
/// camera changes cell and keep the words. Thread: any.
ESPY_API bool espyPvs_ReadStaticSet(const espyPvs* pvs, int32_t cell, uint32_t* words);

/// The same for the coarse set of a cell: (coarseCount + 31) / 32 words. Without a dynamic table there are none and it
/// returns false.
ESPY_API bool espyPvs_ReadDynamicSet(const espyPvs* pvs, int32_t cell, uint32_t* words);

/// Returns whether the occludee in `slot` can be seen from `cell`: Visible or Occluded, always Visible from
/// ESPY_PVS_OUTSIDE; Unknown for a slot or any other cell that the file does not have. Cost: one bit; from a packed
/// file that of espyPvs_ReadStaticSet for up to 4,096 slots, whatever the size of the table. Thread: any.
ESPY_API espyVisibility espyPvs_TestSlot(const espyPvs* pvs, int32_t cell, uint32_t slot);

/// Returns whether a box that moves freely can be seen from `cell`, by the dynamic table: Occluded only where every
/// coarse block that the box touches (both closed) is hidden and no part of it is outside the stored blocks; Unknown
/// without a table, where the box is not valid, or for a cell other than ESPY_PVS_OUTSIDE that the file does not have.
/// Cost: one bit test a block touched; from a packed file that of espyPvs_ReadDynamicSet on top. Thread: any.
ESPY_API espyVisibility espyPvs_TestBox(const espyPvs* pvs, int32_t cell, espyBox box);

/// The same with the words of a set: one of this file's, as espyPvs_ReadDynamicSet wrote it, or the union of several,
/// which is then seen from any of their cells. Null: everything is visible. Cost: one bit test a block touched,
/// whatever the form of the file: for many boxes from one cell. Thread: any.
ESPY_API espyVisibility espyPvs_TestBoxInSet(const espyPvs* pvs, const uint32_t* dynamicSet, espyBox box);

/// Culls many draws at once. `slots[i]` is the slot of draw i or ESPY_PVS_NO_SLOT. Bit i of outBits (rounded up to
/// whole words, unused high bits zero) is 1 where the draw is kept. Slots out of range are kept. A null `set` keeps
/// all; any other is one of this file's static sets, in the file or as espyPvs_ReadStaticSet wrote it. `outBits` holds
/// (count + 31) / 32 words. Cost: 0.4 ns a draw with AVX2, 1.1 ns in plain C (Zen 3). Thread: any.
ESPY_API void espyPvs_CullBits(const espyPvs* pvs, const uint32_t* set, const uint32_t* slots, uint32_t count,
                               uint32_t* outBits);

/// The same for draws in slot order: draw i has slot firstSlot + i. Cost: below 0.01 ns a draw. Thread: any.
ESPY_API void espyPvs_CullRange(const espyPvs* pvs, const uint32_t* set, uint32_t firstSlot, uint32_t count,
                                uint32_t* outBits);

/// The same as CullBits with a compacted list of kept draw indices, ascending. `outList` has room for `count`.
/// Returns how many were kept. Thread: any.
ESPY_API uint32_t espyPvs_CullList(const espyPvs* pvs, const uint32_t* set, const uint32_t* slots, uint32_t count,
                                   uint32_t* outList);

/// Writes the indices of the 1 bits among the first `count` bits, ascending; `outList` has room for all of them.
/// Returns how many. Cost: about 0.2 ns a bit with SSE4.1 and better. Thread: any.
ESPY_API uint32_t espyBits_ToList(const uint32_t* bits, uint32_t count, uint32_t* outList);

/// Bounds as baked of an occludee slot / an occluder entry; an empty box for an index out of range.
ESPY_API espyBox espyPvs_GetOccludeeBox(const espyPvs* pvs, uint32_t slot);
ESPY_API espyBox espyPvs_GetOccluderBox(const espyPvs* pvs, uint32_t index);

/// Node id of an occludee slot / an occluder, as cli.md defines ids; -1 where the file was cooked without ids.
ESPY_API int32_t espyPvs_GetOccludeeNode(const espyPvs* pvs, uint32_t slot);
ESPY_API int32_t espyPvs_GetOccluderNode(const espyPvs* pvs, uint32_t index);
/// Part of an occludee: -1 for a whole node, 0.. for its unroll cells.
ESPY_API int32_t espyPvs_GetOccludeePart(const espyPvs* pvs, uint32_t slot);
/// Content hash (geometry, transform, material class) as baked; 0 where the file was cooked without hashes.
ESPY_API uint64_t espyPvs_GetOccludeeHash(const espyPvs* pvs, uint32_t slot);
ESPY_API uint64_t espyPvs_GetOccluderHash(const espyPvs* pvs, uint32_t index);
/// espyBakeOccluder.content as baked: compare it with what the object is now. 0 where nothing was given, or the file
/// was cooked. Thread: any.
ESPY_API uint64_t espyPvs_GetOccluderContent(const espyPvs* pvs, uint32_t index);
/// True where the cell had no open sample and took the union of its neighbours.
ESPY_API bool espyPvs_IsSolidCell(const espyPvs* pvs, int32_t cell);

#endif
