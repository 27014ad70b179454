// SPDX-License-Identifier: MIT
// Validation of a .espy file, whole and in place, before anything is read from it. No library call, no allocation.
//
// Every number that later becomes an index or an address is proven here, so that no query has to check it again. Sizes
// are compared in 64 bits, where no product of two 32-bit counts and a record size can wrap, and without a 64-bit
// division, which 32-bit targets would need a library for.
#include "pvs/packed.h"

#define ESPY_FLOAT_MAX 3.402823466e+38f
/// A cell must be at least two steps of a float wide everywhere: 2^-22 of the largest coordinate. Below that the
/// borders of neighbouring cells would round to the same number.
#define ESPY_MIN_CELL_SHARE 2.384185791015625e-7f

#define ESPY_HEADER_OFFSET(field) ((uint64_t)offsetof(espyiFileHeader, field))

typedef struct espyLoad
{
    const uint8_t* bytes;
    uint64_t size;
    const espyiFileHeader* header;
    const espyiFileSection* sections;
    espyDataError error;
} espyLoad;

static bool espyLoad_Fail(espyLoad* load, espyResult result, uint64_t offset, const char* field)
{
    load->error.result = result;
    load->error.byteOffset = offset;
    load->error.field = field;
    return false;
}

static bool espyLoad_Bad(espyLoad* load, uint64_t offset, const char* field)
{
    return espyLoad_Fail(load, espyResult_BadData, offset, field);
}

static bool espyLoad_IsFinite(float v)
{
    return v >= -ESPY_FLOAT_MAX && v <= ESPY_FLOAT_MAX;
}

static uint64_t espyLoad_OffsetOf(const espyLoad* load, const void* where)
{
    return (uint64_t)((const uint8_t*)where - load->bytes);
}

// --- header and directory

static bool espyLoad_Identity(espyLoad* load)
{
    if (!load->bytes || load->size < sizeof(espyiFileHeader))
    {
        return espyLoad_Bad(load, 0, "header");
    }
    if (((uintptr_t)load->bytes & (ESPY_PVS_ALIGNMENT - 1u)) != 0)
    {
        return espyLoad_Fail(load, espyResult_Misaligned, 0, "header");
    }
    const espyiFileHeader* h = (const espyiFileHeader*)(const void*)load->bytes;
    load->header = h;
    if (h->magic == ESPYI_FILE_MAGIC_SWAPPED)
    {
        return espyLoad_Fail(load, espyResult_WrongByteOrder, ESPY_HEADER_OFFSET(magic), "magic");
    }
    if (h->magic != ESPYI_FILE_MAGIC)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(magic), "magic");
    }
    if (h->version >> 16 != ESPYI_FILE_MAJOR && (!ESPYI_PACK_IS_READ || h->version >> 16 != ESPYI_FILE_PACKED_MAJOR))
    {
        return espyLoad_Fail(load, espyResult_UnsupportedVersion, ESPY_HEADER_OFFSET(version), "version");
    }
    if (h->fileBytes != load->size || load->size % 16u != 0)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(fileBytes), "fileBytes");
    }
    if (h->headerBytes < sizeof(espyiFileHeader) || h->headerBytes % 16u != 0 || h->headerBytes > load->size)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(headerBytes), "headerBytes");
    }
    if (h->sectionCount > (load->size - h->headerBytes) / sizeof(espyiFileSection))
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(sectionCount), "sectionCount");
    }
    load->sections = (const espyiFileSection*)(const void*)(load->bytes + h->headerBytes);
    return true;
}

static bool espyLoad_Padding(espyLoad* load, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; ++i)
    {
        if (load->bytes[i] != 0)
        {
            return espyLoad_Bad(load, i, "padding");
        }
    }
    return true;
}

/// Sections ascend by kind and follow one another without gaps or overlap, up to the end of the file.
static bool espyLoad_Directory(espyLoad* load)
{
    const espyiFileHeader* h = load->header;
    uint64_t end = h->headerBytes + (uint64_t)h->sectionCount * sizeof(espyiFileSection);
    uint32_t lastKind = 0;
    for (uint32_t i = 0; i < h->sectionCount; ++i)
    {
        const espyiFileSection* s = &load->sections[i];
        if (s->kind <= lastKind)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->kind), "section.kind");
        }
        lastKind = s->kind;
        if (s->unitBytes != 1 && s->unitBytes != 2 && s->unitBytes != 4 && s->unitBytes != 8)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->unitBytes), "section.unitBytes");
        }
        if (s->elementBytes == 0 || s->elementBytes % s->unitBytes != 0)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->elementBytes), "section.elementBytes");
        }
        if (s->offset != end)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->offset), "section.offset");
        }
        // `end` is a multiple of 16 not above the file size, itself one, so that the padded end is in the file too.
        if (s->bytes > load->size - end || (s->bytes & (s->unitBytes - 1u)) != 0)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->bytes), "section.bytes");
        }
        end = espyiFile_Align(s->offset + s->bytes);
        if (!espyLoad_Padding(load, s->offset + s->bytes, end))
        {
            return false;
        }
    }
    if (end != load->size)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(fileBytes), "fileBytes");
    }
    return true;
}

// --- header values

static bool espyLoad_Axis(espyLoad* load, uint32_t axis)
{
    static const char* const originNames[3] = {"origin.x", "origin.y", "origin.z"};
    static const char* const dimNames[3] = {"dims.x", "dims.y", "dims.z"};
    const espyiFileHeader* h = load->header;
    float origin = h->origin[axis];
    if (!espyLoad_IsFinite(origin))
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(origin) + 4u * axis, originNames[axis]);
    }
    bool empty = h->cellCount == 0;
    if (h->dims[axis] > ESPYI_FILE_MAX_DIM || (h->dims[axis] == 0) != empty)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(dims) + 4u * axis, dimNames[axis]);
    }
    float high = origin + (float)(int32_t)h->dims[axis] * h->cellSize;
    float low = origin < 0.0f ? -origin : origin;
    float top = high < 0.0f ? -high : high;
    float largest = low > top ? low : top;
    if (!espyLoad_IsFinite(high) || h->cellSize < largest * ESPY_MIN_CELL_SHARE)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(cellSize), "cellSize");
    }
    return true;
}

static bool espyLoad_Values(espyLoad* load)
{
    const espyiFileHeader* h = load->header;
    if (!(h->cellSize > 0.0f) || !espyLoad_IsFinite(h->cellSize) || !espyLoad_IsFinite(1.0f / h->cellSize))
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(cellSize), "cellSize");
    }
    if (!espyLoad_Axis(load, 0) || !espyLoad_Axis(load, 1) || !espyLoad_Axis(load, 2))
    {
        return false;
    }
    uint64_t lattice = (uint64_t)h->dims[0] * h->dims[1] * h->dims[2];
    if (h->cellCount > ESPYI_FILE_MAX_COUNT ||
        (h->cellRowCount == 0 ? lattice != h->cellCount : lattice < h->cellCount))
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(cellCount), "cellCount");
    }
    if (h->solidCellCount > h->cellCount)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(solidCellCount), "solidCellCount");
    }
    if (h->occluderCount > ESPYI_FILE_MAX_COUNT)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(occluderCount), "occluderCount");
    }
    if (h->occludeeCount > ESPYI_FILE_MAX_COUNT)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(occludeeCount), "occludeeCount");
    }
    if (h->quality > (uint32_t)espyBakeQuality_Proven)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(quality), "quality");
    }
    if (!espyLoad_IsFinite(h->nearDistance) || h->nearDistance < 0.0f)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(nearDistance), "nearDistance");
    }
    if (!espyLoad_IsFinite(h->smallestHole) || h->smallestHole < 0.0f)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(smallestHole), "smallestHole");
    }
    return true;
}

// --- sections

const espyiFileSection* espyiFile_Find(const void* bytes, uint32_t kind)
{
    const espyiFileHeader* h = (const espyiFileHeader*)bytes;
    const espyiFileSection* sections = (const espyiFileSection*)(const void*)((const uint8_t*)bytes + h->headerBytes);
    for (uint32_t i = 0; i < h->sectionCount; ++i)
    {
        if (sections[i].kind == kind)
        {
            return &sections[i];
        }
    }
    return NULL;
}

static const char* espyLoad_Name(espyiSectionKind kind)
{
    switch (kind)
    {
    case espyiSectionKind_Entries:
        return "ENTRIES";
    case espyiSectionKind_CellRows:
        return "CELL_ROWS";
    case espyiSectionKind_CellIndex:
        return "CELL_INDEX";
    case espyiSectionKind_StaticCells:
        return "STATIC_CELLS";
    case espyiSectionKind_StaticSets:
        return "STATIC_SETS";
    case espyiSectionKind_CoarseRows:
        return "COARSE_ROWS";
    case espyiSectionKind_CoarseIndex:
        return "COARSE_INDEX";
    case espyiSectionKind_DynamicCells:
        return "DYNAMIC_CELLS";
    case espyiSectionKind_DynamicSets:
        return "DYNAMIC_SETS";
    case espyiSectionKind_StaticMap:
        return "STATIC_MAP";
    case espyiSectionKind_StaticModel:
        return "STATIC_MODEL";
    case espyiSectionKind_StaticLengths:
        return "STATIC_LENGTHS";
    case espyiSectionKind_StaticBases:
        return "STATIC_BASES";
    case espyiSectionKind_StaticBytes:
        return "STATIC_BYTES";
    case espyiSectionKind_DynamicMap:
        return "DYNAMIC_MAP";
    case espyiSectionKind_DynamicModel:
        return "DYNAMIC_MODEL";
    case espyiSectionKind_DynamicLengths:
        return "DYNAMIC_LENGTHS";
    case espyiSectionKind_DynamicBases:
        return "DYNAMIC_BASES";
    case espyiSectionKind_DynamicBytes:
        return "DYNAMIC_BYTES";
    case espyiSectionKind_BakedCellSize:
        return "BAKED_CELL_SIZE";
    case espyiSectionKind_Nodes:
        return "NODES";
    case espyiSectionKind_Parts:
        return "PARTS";
    case espyiSectionKind_Hashes:
        return "HASHES";
    case espyiSectionKind_SolidCells:
        return "SOLID_CELLS";
    case espyiSectionKind_Statistics:
        return "STATISTICS";
    case espyiSectionKind_Unknown:
        return "UNKNOWN";
    case espyiSectionKind_ViewPoints:
        return "VIEW_POINTS";
    }
    return "section";
}

/// Resolves a section that must have exactly `count` elements. Without `needed` it may also be absent (*data null).
static bool espyLoad_Section(espyLoad* load, espyiSectionKind kind, bool needed, uint32_t unitBytes,
                             uint32_t elementBytes, uint64_t count, const void** data)
{
    const espyiFileSection* s = espyiFile_Find(load->bytes, (uint32_t)kind);
    *data = NULL;
    if (!s)
    {
        return !needed || espyLoad_Bad(load, ESPY_HEADER_OFFSET(sectionCount), espyLoad_Name(kind));
    }
    if (s->unitBytes != unitBytes)
    {
        return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->unitBytes), espyLoad_Name(kind));
    }
    if (s->elementBytes != elementBytes)
    {
        return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->elementBytes), espyLoad_Name(kind));
    }
    if (s->bytes != count * elementBytes)
    {
        return espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->bytes), espyLoad_Name(kind));
    }
    *data = load->bytes + s->offset;
    return true;
}

/// A section that has no meaning in this file would be ignored silently: refuse it.
static bool espyLoad_Absent(espyLoad* load, espyiSectionKind kind)
{
    const espyiFileSection* s = espyiFile_Find(load->bytes, (uint32_t)kind);
    return !s || espyLoad_Bad(load, espyLoad_OffsetOf(load, &s->kind), espyLoad_Name(kind));
}

static bool espyLoad_Entries(espyLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    uint64_t entries = (uint64_t)h->occluderCount + h->occludeeCount;
    const void* data;
    if (!espyLoad_Section(load, espyiSectionKind_Entries, true, 4, 24, entries, &data))
    {
        return false;
    }
    pvs->entries = (const float*)data;
    for (uint64_t i = 0; i < entries * 6u; ++i)
    {
        if (!espyLoad_IsFinite(pvs->entries[i]))
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &pvs->entries[i]), "ENTRIES");
        }
    }
    return true;
}

/// Kinds of the sections of one table in both forms.
typedef struct espyTableKinds
{
    espyiSectionKind cells, sets, map, model, lengths, bases, bytes;
} espyTableKinds;

static const espyTableKinds espyStaticKinds = {espyiSectionKind_StaticCells,   espyiSectionKind_StaticSets,
                                               espyiSectionKind_StaticMap,     espyiSectionKind_StaticModel,
                                               espyiSectionKind_StaticLengths, espyiSectionKind_StaticBases,
                                               espyiSectionKind_StaticBytes};
static const espyTableKinds espyDynamicKinds = {espyiSectionKind_DynamicCells,   espyiSectionKind_DynamicSets,
                                                espyiSectionKind_DynamicMap,     espyiSectionKind_DynamicModel,
                                                espyiSectionKind_DynamicLengths, espyiSectionKind_DynamicBases,
                                                espyiSectionKind_DynamicBytes};

static bool espyLoad_IsPacked(const espyLoad* load)
{
    return ESPYI_PACK_IS_READ && load->header->version >> 16 == ESPYI_FILE_PACKED_MAJOR;
}

static bool espyLoad_NoPlainTable(espyLoad* load, const espyTableKinds* kinds)
{
    return espyLoad_Absent(load, kinds->cells) && espyLoad_Absent(load, kinds->sets);
}

static bool espyLoad_NoPackedTable(espyLoad* load, const espyTableKinds* kinds)
{
    return espyLoad_Absent(load, kinds->map) && espyLoad_Absent(load, kinds->model) &&
           espyLoad_Absent(load, kinds->lengths) && espyLoad_Absent(load, kinds->bases) &&
           espyLoad_Absent(load, kinds->bytes);
}

/// Where a check of a section found something, if it did.
static bool espyLoad_Checked(espyLoad* load, const void* fault, espyiSectionKind kind)
{
    return !fault || espyLoad_Bad(load, espyLoad_OffsetOf(load, fault), espyLoad_Name(kind));
}

static bool espyLoad_PackMap(espyLoad* load, espyiSectionKind kind, espyPvsPack* pack)
{
    const espyiFileHeader* h = load->header;
    // The map says itself how many shapes it ends with.
    const espyiFileSection* s = espyiFile_Find(load->bytes, (uint32_t)kind);
    uint32_t lines = 0;
    if (s && s->bytes >= sizeof(espyiPackMap))
    {
        lines = ((const espyiPackMap*)(const void*)(load->bytes + s->offset))->lineCount;
    }
    uint64_t words = sizeof(espyiPackMap) / 4u + (uint64_t)espyiBits_Words(h->cellCount) * 2u;
    words += lines / 4u + (lines % 4u != 0 ? 1u : 0u);
    const void* data;
    if (!espyLoad_Section(load, kind, true, 4, 4, words, &data))
    {
        return false;
    }
    const espyiPackMap* map = (const espyiPackMap*)data;
    pack->starts = (const uint32_t*)(const void*)(map + 1);
    pack->lineCount = lines;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        pack->tiles[axis] = map->tiles[axis];
    }
    return espyLoad_Checked(load, espyiPack_CheckMap(map, h->dims, h->cellCount), kind);
}

/// The coded bytes themselves may be anything: a reader never leaves them and always ends.
static bool espyLoad_PackedTable(espyLoad* load, const espyTableKinds* kinds, uint32_t width, espyPvsPack* pack)
{
    const espyiFileSection* lengthSection = espyiFile_Find(load->bytes, (uint32_t)kinds->lengths);
    const espyiFileSection* byteSection = espyiFile_Find(load->bytes, (uint32_t)kinds->bytes);
    uint32_t lengthBytes = lengthSection && lengthSection->unitBytes == 2u ? 2u : 1u;
    uint64_t byteCount = byteSection ? byteSection->bytes : 0;
    uint64_t stripes = espyiPack_StripeCount(width);
    const void* model;
    const void* bases;
    const void* bytes;
    if (!espyLoad_NoPlainTable(load, kinds) || !espyLoad_PackMap(load, kinds->map, pack) ||
        !espyLoad_Section(load, kinds->model, true, 2, 2, (uint64_t)ESPYI_PACK_CONTEXTS + width, &model) ||
        !espyLoad_Section(load, kinds->lengths, true, lengthBytes, lengthBytes, stripes * pack->lineCount,
                          &pack->lengths) ||
        !espyLoad_Section(load, kinds->bases, true, 4, 4, stripes * espyiPack_LineGroups(pack->lineCount), &bases) ||
        !espyLoad_Section(load, kinds->bytes, true, 1, 1, byteCount, &bytes))
    {
        return false;
    }
    pack->model = (const uint16_t*)model;
    pack->bases = (const uint32_t*)bases;
    pack->bytes = (const uint8_t*)bytes;
    pack->width = width;
    pack->wideLengths = lengthBytes == 2u;
    if (!espyLoad_Checked(load, espyiPack_CheckModel(pack->model, width), kinds->model))
    {
        return false;
    }
    const void* fault = espyiPack_CheckLines(pack, byteCount);
    return espyLoad_Checked(load, fault, fault == pack->lengths ? kinds->lengths : kinds->bases);
}

/// A table: one index a cell below setCount, and sets whose bits above `width` are 0.
static bool espyLoad_PlainTable(espyLoad* load, const espyTableKinds* kinds, uint32_t setCount, uint32_t width,
                                const void** cells, const uint32_t** sets)
{
    const espyiFileHeader* h = load->header;
    uint32_t words = espyiBits_Words(width);
    uint32_t indexBytes = espyiFile_IndexBytes(setCount);
    const void* setData;
    if (!espyLoad_NoPackedTable(load, kinds) ||
        !espyLoad_Section(load, kinds->cells, true, indexBytes, indexBytes, h->cellCount, cells) ||
        !espyLoad_Section(load, kinds->sets, true, 4, 4, (uint64_t)setCount * words, &setData))
    {
        return false;
    }
    *sets = (const uint32_t*)setData;
    for (uint32_t i = 0; i < h->cellCount; ++i)
    {
        const uint8_t* where = (const uint8_t*)*cells + (size_t)i * indexBytes;
        uint32_t set = indexBytes == 2 ? ((const uint16_t*)*cells)[i] : ((const uint32_t*)*cells)[i];
        if (set >= setCount)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, where), espyLoad_Name(kinds->cells));
        }
    }
    if (width % 32u != 0)
    {
        uint32_t unused = ~0u << (width % 32u);
        for (uint32_t i = 0; i < setCount; ++i)
        {
            const uint32_t* last = *sets + (size_t)i * words + (words - 1u);
            if ((*last & unused) != 0)
            {
                return espyLoad_Bad(load, espyLoad_OffsetOf(load, last), espyLoad_Name(kinds->sets));
            }
        }
    }
    return true;
}

/// Cells only ever grow from what was baked.
static bool espyLoad_BakedCellSize(espyLoad* load)
{
    const void* data;
    if (!espyLoad_Section(load, espyiSectionKind_BakedCellSize, false, 4, 4, 1, &data))
    {
        return false;
    }
    return !data || (*(const float*)data > 0.0f && *(const float*)data <= load->header->cellSize) ||
           espyLoad_Bad(load, espyLoad_OffsetOf(load, data), "BAKED_CELL_SIZE");
}

static bool espyLoad_Table(espyLoad* load, espyPvs* pvs, const espyTableKinds* kinds)
{
    const espyiFileHeader* h = load->header;
    bool isStatic = kinds == &espyStaticKinds;
    uint32_t setCount = isStatic ? h->staticSetCount : h->dynamicSetCount;
    uint32_t width = isStatic ? h->occludeeCount : h->coarseCount;
    // More sets than cells cannot all be in use; none at all would leave cells without an answer.
    if (setCount > h->cellCount || (setCount == 0 && h->cellCount != 0))
    {
        return espyLoad_Bad(load, isStatic ? ESPY_HEADER_OFFSET(staticSetCount) : ESPY_HEADER_OFFSET(dynamicSetCount),
                            isStatic ? "staticSetCount" : "dynamicSetCount");
    }
    if (espyLoad_IsPacked(load))
    {
        return espyLoad_PackedTable(load, kinds, width, isStatic ? &pvs->staticPack : &pvs->dynamicPack);
    }
    return espyLoad_PlainTable(load, kinds, setCount, width, isStatic ? &pvs->staticCells : &pvs->dynamicCells,
                               isStatic ? &pvs->staticSets : &pvs->dynamicSets);
}

// --- maps

typedef struct espyMapFacts
{
    espyiSectionKind rowsKind, indexKind;
    uint32_t rowCount, slotCount, probes;
    uint64_t rowCountOffset, slotCountOffset, probesOffset;
    const char* rowCountName;
    const char* slotCountName;
    const char* probesName;
    const uint32_t* dims;
    uint32_t rankCount;
} espyMapFacts;

/// Rows in strictly ascending (z, y, x) order whose base ranks are the running count of bits: so every rank below
/// rankCount stands for exactly one coordinate, and in lattice order.
static bool espyLoad_MapRows(espyLoad* load, const espyMapFacts* facts, const espyiFileRow* rows)
{
    const char* name = espyLoad_Name(facts->rowsKind);
    uint32_t rank = 0;
    uint64_t last = 0;
    for (uint32_t i = 0; i < facts->rowCount; ++i)
    {
        const espyiFileRow* row = &rows[i];
        uint32_t xBlock = row->xBlockY & 0xFFFFu;
        uint32_t y = row->xBlockY >> 16;
        if (y >= facts->dims[1] || xBlock >= espyiBits_Words(facts->dims[0]))
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &row->xBlockY), name);
        }
        if (row->z >= facts->dims[2])
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &row->z), name);
        }
        // 16 bits each; plus 1 so that 0 stands for "no row yet".
        uint64_t order = (((uint64_t)row->z << 32) | ((uint64_t)y << 16) | xBlock) + 1u;
        if (order <= last)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &row->xBlockY), name);
        }
        last = order;
        uint32_t inBlock = facts->dims[0] - xBlock * 32u;
        uint32_t allowed = inBlock >= 32u ? ~0u : ~(~0u << inBlock);
        if (row->mask == 0 || (row->mask & ~allowed) != 0)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &row->mask), name);
        }
        uint32_t bits = espyiPopCount32(row->mask);
        if (row->baseRank != rank || bits > facts->rankCount - rank)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &row->baseRank), name);
        }
        rank += bits;
    }
    return rank == facts->rankCount || espyLoad_Bad(load, facts->rowCountOffset, facts->rowCountName);
}

/// As many filled slots as rows, and each row found from its home slot within the probes: so each row has one slot.
static bool espyLoad_MapIndex(espyLoad* load, const espyMapFacts* facts, const espyiFileRow* rows,
                              const uint32_t* index)
{
    const char* name = espyLoad_Name(facts->indexKind);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < facts->slotCount; ++i)
    {
        if (index[i] == ESPYI_FILE_NO_ROW)
        {
            continue;
        }
        if (index[i] >= facts->rowCount)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &index[i]), name);
        }
        ++filled;
    }
    if (filled != facts->rowCount)
    {
        return espyLoad_Bad(load, espyLoad_OffsetOf(load, index), name);
    }
    for (uint32_t i = 0; i < facts->rowCount; ++i)
    {
        uint32_t home = espyiFileRow_Hash(rows[i].xBlockY, rows[i].z);
        uint32_t probe = 0;
        while (probe < facts->probes && index[(home + probe) & (facts->slotCount - 1u)] != i)
        {
            // A lookup stops at an empty slot.
            probe = index[(home + probe) & (facts->slotCount - 1u)] == ESPYI_FILE_NO_ROW ? facts->probes : probe + 1u;
        }
        if (probe >= facts->probes)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &index[home & (facts->slotCount - 1u)]), name);
        }
    }
    return true;
}

static bool espyLoad_Map(espyLoad* load, const espyMapFacts* facts, espyPvsMap* map)
{
    if (facts->rowCount == 0)
    {
        if (facts->slotCount != 0)
        {
            return espyLoad_Bad(load, facts->slotCountOffset, facts->slotCountName);
        }
        if (facts->probes != 0)
        {
            return espyLoad_Bad(load, facts->probesOffset, facts->probesName);
        }
        return espyLoad_Absent(load, facts->rowsKind) && espyLoad_Absent(load, facts->indexKind);
    }
    if (facts->rowCount > facts->rankCount)
    {
        return espyLoad_Bad(load, facts->rowCountOffset, facts->rowCountName);
    }
    if ((facts->slotCount & (facts->slotCount - 1u)) != 0 || facts->slotCount < facts->rowCount)
    {
        return espyLoad_Bad(load, facts->slotCountOffset, facts->slotCountName);
    }
    if (facts->probes == 0 || facts->probes > ESPYI_FILE_MAX_PROBES || facts->probes > facts->slotCount)
    {
        return espyLoad_Bad(load, facts->probesOffset, facts->probesName);
    }
    const void* rows;
    const void* index;
    if (!espyLoad_Section(load, facts->rowsKind, true, 4, sizeof(espyiFileRow), facts->rowCount, &rows) ||
        !espyLoad_Section(load, facts->indexKind, true, 4, 4, facts->slotCount, &index) ||
        !espyLoad_MapRows(load, facts, (const espyiFileRow*)rows) ||
        !espyLoad_MapIndex(load, facts, (const espyiFileRow*)rows, (const uint32_t*)index))
    {
        return false;
    }
    map->rows = rows;
    map->index = (const uint32_t*)index;
    map->rowCount = facts->rowCount;
    map->slotMask = facts->slotCount - 1u;
    map->probes = facts->probes;
    return true;
}

static bool espyLoad_Cells(espyLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    espyMapFacts facts;
    facts.rowsKind = espyiSectionKind_CellRows;
    facts.indexKind = espyiSectionKind_CellIndex;
    facts.rowCount = h->cellRowCount;
    facts.slotCount = h->cellSlotCount;
    facts.probes = h->cellProbes;
    facts.rowCountOffset = ESPY_HEADER_OFFSET(cellRowCount);
    facts.slotCountOffset = ESPY_HEADER_OFFSET(cellSlotCount);
    facts.probesOffset = ESPY_HEADER_OFFSET(cellProbes);
    facts.rowCountName = "cellRowCount";
    facts.slotCountName = "cellSlotCount";
    facts.probesName = "cellProbes";
    facts.dims = h->dims;
    facts.rankCount = h->cellCount;
    return espyLoad_Map(load, &facts, &pvs->cellMap) && espyLoad_Table(load, pvs, &espyStaticKinds);
}

static bool espyLoad_Coarse(espyLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    espyMapFacts facts;
    facts.rowsKind = espyiSectionKind_CoarseRows;
    facts.indexKind = espyiSectionKind_CoarseIndex;
    facts.rowCount = h->coarseRowCount;
    facts.slotCount = h->coarseSlotCount;
    facts.probes = h->coarseProbes;
    facts.rowCountOffset = ESPY_HEADER_OFFSET(coarseRowCount);
    facts.slotCountOffset = ESPY_HEADER_OFFSET(coarseSlotCount);
    facts.probesOffset = ESPY_HEADER_OFFSET(coarseProbes);
    facts.rowCountName = "coarseRowCount";
    facts.slotCountName = "coarseSlotCount";
    facts.probesName = "coarseProbes";
    facts.dims = pvs->coarseDims;
    facts.rankCount = h->coarseCount;
    if (h->coarseFactor == 0)
    {
        if (h->coarseCount != 0 || h->coarseRowCount != 0)
        {
            return espyLoad_Bad(load, ESPY_HEADER_OFFSET(coarseCount), "coarseCount");
        }
        if (h->dynamicSetCount != 0)
        {
            return espyLoad_Bad(load, ESPY_HEADER_OFFSET(dynamicSetCount), "dynamicSetCount");
        }
        return espyLoad_Map(load, &facts, &pvs->coarseMap) && espyLoad_NoPlainTable(load, &espyDynamicKinds) &&
               espyLoad_NoPackedTable(load, &espyDynamicKinds);
    }
    if (h->coarseFactor < ESPYI_FILE_MIN_COARSE_FACTOR || h->coarseFactor > ESPYI_FILE_MAX_COARSE_FACTOR)
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(coarseFactor), "coarseFactor");
    }
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        pvs->coarseDims[axis] = espyiFile_CoarseDim(h->dims[axis], h->coarseFactor);
    }
    uint64_t blocks = (uint64_t)pvs->coarseDims[0] * pvs->coarseDims[1] * pvs->coarseDims[2];
    // A stored block holds a stored cell.
    if (h->coarseCount > h->cellCount || (h->coarseRowCount == 0 ? blocks != h->coarseCount : blocks < h->coarseCount))
    {
        return espyLoad_Bad(load, ESPY_HEADER_OFFSET(coarseCount), "coarseCount");
    }
    return espyLoad_Map(load, &facts, &pvs->coarseMap) && espyLoad_Table(load, pvs, &espyDynamicKinds);
}

static bool espyLoad_ToolSections(espyLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    uint64_t entries = (uint64_t)h->occluderCount + h->occludeeCount;
    const void* nodes;
    const void* parts;
    const void* hashes;
    const void* solid;
    const void* statistics;
    const void* unknown;
    if (!espyLoad_Section(load, espyiSectionKind_Nodes, false, 4, 4, entries, &nodes) ||
        !espyLoad_Section(load, espyiSectionKind_Parts, false, 4, 4, h->occludeeCount, &parts) ||
        !espyLoad_Section(load, espyiSectionKind_Hashes, false, 8, 8, entries, &hashes) ||
        !espyLoad_Section(load, espyiSectionKind_SolidCells, false, 4, 4, espyiBits_Words(h->cellCount), &solid) ||
        !espyLoad_Section(load, espyiSectionKind_Statistics, false, 4, 4, h->occludeeCount, &statistics) ||
        !espyLoad_Section(load, espyiSectionKind_Unknown, false, 4, 4, h->occludeeCount, &unknown))
    {
        return false;
    }
    pvs->nodes = (const int32_t*)nodes;
    pvs->parts = (const int32_t*)parts;
    pvs->hashes = (const uint64_t*)hashes;
    pvs->solid = (const uint32_t*)solid;
    for (uint32_t i = 0; parts && i < h->occludeeCount; ++i)
    {
        if (pvs->parts[i] < -1)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &pvs->parts[i]), "PARTS");
        }
    }
    if (solid)
    {
        uint32_t words = espyiBits_Words(h->cellCount);
        uint32_t count = 0;
        for (uint32_t i = 0; i < words; ++i)
        {
            count += espyiPopCount32(pvs->solid[i]);
        }
        if (h->cellCount % 32u != 0 && (pvs->solid[words - 1u] >> (h->cellCount % 32u)) != 0)
        {
            return espyLoad_Bad(load, espyLoad_OffsetOf(load, &pvs->solid[words - 1u]), "SOLID_CELLS");
        }
        if (count != h->solidCellCount)
        {
            return espyLoad_Bad(load, ESPY_HEADER_OFFSET(solidCellCount), "solidCellCount");
        }
    }
    return true;
}

// --- the whole

uint64_t espyiFile_Hash(const void* bytes, size_t size, espyiPoll* poll)
{
    const uint32_t* words = (const uint32_t*)(const void*)((const uint8_t*)bytes + ESPYI_FILE_HASH_START);
    size_t count = (size - ESPYI_FILE_HASH_START) / 4u;
    uint64_t h = espyiHash_Begin(ESPYI_FILE_HASH_SEED + ((const espyiFileHeader*)bytes)->version, count);
    for (size_t i = 0; i < count;)
    {
        size_t pause = count - i < ESPYI_POLL_UNITS ? count : i + ESPYI_POLL_UNITS;
        if (!espyiPoll_Work(poll, pause - i))
        {
            break;
        }
        for (; i < pause; ++i)
        {
            h = espyiHash_AddWord(h, words[i]);
        }
    }
    return espyiHash_Mix(h);
}

/// By loop, since a large struct assignment becomes a call of memset on some targets.
static void espyLoad_Clear(espyPvs* out)
{
    uint8_t* bytes = (uint8_t*)out;
    for (size_t i = 0; i < sizeof *out; ++i)
    {
        bytes[i] = 0;
    }
}

static void espyLoad_Resolve(const espyLoad* load, espyPvs* out)
{
    const espyiFileHeader* h = load->header;
    out->bytes = load->bytes;
    out->size = (size_t)load->size;
    out->origin.x = h->origin[0];
    out->origin.y = h->origin[1];
    out->origin.z = h->origin[2];
    out->cellSize = h->cellSize;
    out->inverseCellSize = 1.0f / h->cellSize;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        out->dims[axis] = h->dims[axis];
    }
    out->cellCount = h->cellCount;
    out->occludeeCount = h->occludeeCount;
    out->occluderCount = h->occluderCount;
    out->staticWords = espyiBits_Words(h->occludeeCount);
    out->staticSetCount = h->staticSetCount;
    out->staticWide = espyiFile_IndexBytes(h->staticSetCount) == 4u;
    out->coarseFactor = h->coarseFactor;
    out->coarseCount = h->coarseCount;
    out->coarseWords = espyiBits_Words(h->coarseCount);
    out->dynamicSetCount = h->dynamicSetCount;
    out->dynamicWide = espyiFile_IndexBytes(h->dynamicSetCount) == 4u;
    out->isa = espyIsa_Detect(espyIsa_Auto);
}

static bool espyLoad_Hash(espyLoad* load, espyiPoll* poll)
{
    uint64_t hash = espyiFile_Hash(load->bytes, (size_t)load->size, poll);
    if (espyiPoll_IsStopped(poll))
    {
        return espyLoad_Fail(load, espyResult_Cancelled, ESPY_HEADER_OFFSET(hash), "hash");
    }
    return hash == load->header->hash || espyLoad_Bad(load, ESPY_HEADER_OFFSET(hash), "hash");
}

espyResult espyiPvs_LoadPolled(espyPvs* out, const void* bytes, size_t size, espyiPoll* poll, espyDataError* error)
{
    espyLoad load;
    load.bytes = (const uint8_t*)bytes;
    load.size = size;
    load.header = NULL;
    load.sections = NULL;
    load.error.result = espyResult_Ok;
    load.error.byteOffset = 0;
    load.error.field = "";
    espyLoad_Clear(out);
    // The hash comes last, so that damage is named by the field that it hit wherever the field itself can tell.
    bool good = espyLoad_Identity(&load) && espyLoad_Directory(&load) && espyLoad_Values(&load) &&
                espyLoad_Entries(&load, out) && espyLoad_Cells(&load, out) && espyLoad_Coarse(&load, out) &&
                espyLoad_BakedCellSize(&load) && espyLoad_ToolSections(&load, out) && espyLoad_Hash(&load, poll);
    if (good)
    {
        espyLoad_Resolve(&load, out);
    }
    else
    {
        espyLoad_Clear(out);
    }
    if (error)
    {
        // By field, since some targets call memcpy for the whole.
        error->result = load.error.result;
        error->byteOffset = load.error.byteOffset;
        error->field = load.error.field;
    }
    return load.error.result;
}

espyResult espyPvs_Load(espyPvs* out, const void* bytes, size_t size, espyDataError* error)
{
    return espyiPvs_LoadPolled(out, bytes, size, NULL, error);
}

static size_t espyPvs_SectionBytes(const espyPvs* pvs, espyiSectionKind kind)
{
    const espyiFileSection* s = espyiFile_Find(pvs->bytes, (uint32_t)kind);
    return s ? (size_t)s->bytes : 0;
}

void espyPvs_GetInfo(const espyPvs* pvs, espyPvsInfo* out)
{
    uint8_t* raw = (uint8_t*)out;
    for (size_t i = 0; i < sizeof *out; ++i)
    {
        raw[i] = 0;
    }
    if (!pvs->bytes)
    {
        return;
    }
    const espyiFileHeader* h = (const espyiFileHeader*)(const void*)pvs->bytes;
    out->formatVersion = h->version;
    out->quality = (espyBakeQuality)h->quality;
    out->origin = pvs->origin;
    out->cellSize = pvs->cellSize;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        out->dims[axis] = pvs->dims[axis];
        out->coarseDims[axis] = pvs->coarseDims[axis];
    }
    out->cellCount = pvs->cellCount;
    out->solidCellCount = h->solidCellCount;
    out->occluderCount = pvs->occluderCount;
    out->occludeeCount = pvs->occludeeCount;
    out->staticSetCount = pvs->staticSetCount;
    out->dynamicSetCount = pvs->dynamicSetCount;
    out->coarseFactor = pvs->coarseFactor;
    out->coarseCount = pvs->coarseCount;
    out->staticIndexBytes = pvs->staticWide ? 4u : 2u;
    out->dynamicIndexBytes = pvs->coarseFactor == 0 ? 0u : pvs->dynamicWide ? 4u : 2u;
    out->occlusionCulling = (h->flags & ESPYI_FILE_FLAG_OCCLUSION_CULLING) != 0;
    out->levelSettings = h->flags >> ESPYI_FILE_LEVEL_SETTINGS_SHIFT & ESPYI_FILE_LEVEL_SETTINGS_MASK;
    out->consoleBudgetKB = h->consoleBudgetKB;
    out->nearDistance = h->nearDistance;
    out->smallestHole = h->smallestHole;
    out->seed = h->seed;
    out->settingsHash = h->settingsHash;
    out->contentHash = h->contentHash;
    const espyiFileSection* baked = espyiFile_Find(pvs->bytes, espyiSectionKind_BakedCellSize);
    out->bakedCellSize = baked ? *(const float*)(const void*)(pvs->bytes + (size_t)baked->offset) : pvs->cellSize;
    const espyiFileSection* statistics = espyiFile_Find(pvs->bytes, espyiSectionKind_Statistics);
    const uint32_t* proven =
        statistics ? (const uint32_t*)(const void*)(pvs->bytes + (size_t)statistics->offset) : NULL;
    for (uint32_t i = 0; proven && i < pvs->occludeeCount; ++i)
    {
        out->provenHiddenPairs += proven[i];
    }
    out->entriesBytes = espyPvs_SectionBytes(pvs, espyiSectionKind_Entries);
    out->cellMapBytes = espyPvs_SectionBytes(pvs, espyiSectionKind_CellRows) +
                        espyPvs_SectionBytes(pvs, espyiSectionKind_CellIndex) +
                        espyPvs_SectionBytes(pvs, espyiSectionKind_CoarseRows) +
                        espyPvs_SectionBytes(pvs, espyiSectionKind_CoarseIndex);
    out->staticCellsBytes = (size_t)pvs->cellCount * out->staticIndexBytes;
    out->staticSetsBytes = (size_t)pvs->staticSetCount * pvs->staticWords * 4u;
    out->dynamicCellsBytes = (size_t)pvs->cellCount * out->dynamicIndexBytes;
    out->dynamicSetsBytes = (size_t)pvs->dynamicSetCount * pvs->coarseWords * 4u;
    out->packed = pvs->staticPack.model != NULL;
    for (uint32_t kind = espyiSectionKind_StaticMap; kind <= espyiSectionKind_StaticBytes; ++kind)
    {
        out->staticPackBytes += espyPvs_SectionBytes(pvs, (espyiSectionKind)kind);
    }
    for (uint32_t kind = espyiSectionKind_DynamicMap; kind <= espyiSectionKind_DynamicBytes; ++kind)
    {
        out->dynamicPackBytes += espyPvs_SectionBytes(pvs, (espyiSectionKind)kind);
    }
    out->fileBytes = pvs->size;
}
