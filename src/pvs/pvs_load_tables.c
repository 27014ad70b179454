// SPDX-License-Identifier: MIT
// Validation of the tables of a .espy file, plain or packed, and of the row maps that number their cells.
#include "pvs/pvs_load.h"

// --- tables

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

static bool espyLoad_IsPacked(const espyiLoad* load)
{
    return ESPYI_PACK_IS_READ && load->header->version >> 16 == ESPYI_FILE_PACKED_MAJOR;
}

static bool espyLoad_NoPlainTable(espyiLoad* load, const espyTableKinds* kinds)
{
    return espyiLoad_Absent(load, kinds->cells) && espyiLoad_Absent(load, kinds->sets);
}

static bool espyLoad_NoPackedTable(espyiLoad* load, const espyTableKinds* kinds)
{
    return espyiLoad_Absent(load, kinds->map) && espyiLoad_Absent(load, kinds->model) &&
           espyiLoad_Absent(load, kinds->lengths) && espyiLoad_Absent(load, kinds->bases) &&
           espyiLoad_Absent(load, kinds->bytes);
}

/// Where a check of a section found something, if it did.
static bool espyLoad_Checked(espyiLoad* load, const void* fault, espyiSectionKind kind)
{
    return !fault || espyiLoad_Bad(load, espyiLoad_OffsetOf(load, fault), espyiLoad_Name(kind));
}

static bool espyLoad_PackMap(espyiLoad* load, espyiSectionKind kind, espyPvsPack* pack)
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
    if (!espyiLoad_Section(load, kind, true, 4, 4, words, &data))
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
static bool espyLoad_PackedTable(espyiLoad* load, const espyTableKinds* kinds, uint32_t width, espyPvsPack* pack)
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
        !espyiLoad_Section(load, kinds->model, true, 2, 2, (uint64_t)ESPYI_PACK_CONTEXTS + width, &model) ||
        !espyiLoad_Section(load, kinds->lengths, true, lengthBytes, lengthBytes, stripes * pack->lineCount,
                           &pack->lengths) ||
        !espyiLoad_Section(load, kinds->bases, true, 4, 4, stripes * espyiPack_LineGroups(pack->lineCount), &bases) ||
        !espyiLoad_Section(load, kinds->bytes, true, 1, 1, byteCount, &bytes))
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
static bool espyLoad_PlainTable(espyiLoad* load, const espyTableKinds* kinds, uint32_t setCount, uint32_t width,
                                const void** cells, const uint32_t** sets)
{
    const espyiFileHeader* h = load->header;
    uint32_t words = espyiBits_Words(width);
    uint32_t indexBytes = espyiFile_IndexBytes(setCount);
    const void* setData;
    if (!espyLoad_NoPackedTable(load, kinds) ||
        !espyiLoad_Section(load, kinds->cells, true, indexBytes, indexBytes, h->cellCount, cells) ||
        !espyiLoad_Section(load, kinds->sets, true, 4, 4, (uint64_t)setCount * words, &setData))
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
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, where), espyiLoad_Name(kinds->cells));
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
                return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, last), espyiLoad_Name(kinds->sets));
            }
        }
    }
    return true;
}

static bool espyLoad_Table(espyiLoad* load, espyPvs* pvs, const espyTableKinds* kinds)
{
    const espyiFileHeader* h = load->header;
    bool isStatic = kinds == &espyStaticKinds;
    uint32_t setCount = isStatic ? h->staticSetCount : h->dynamicSetCount;
    uint32_t width = isStatic ? h->occludeeCount : h->coarseCount;
    // More sets than cells cannot all be in use; none at all would leave cells without an answer.
    if (setCount > h->cellCount || (setCount == 0 && h->cellCount != 0))
    {
        return espyiLoad_Bad(load,
                             isStatic ? ESPYI_HEADER_OFFSET(staticSetCount) : ESPYI_HEADER_OFFSET(dynamicSetCount),
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

/// Where the header tells of a map, and which sections hold it.
typedef struct espyMapFields
{
    espyiSectionKind rowsKind, indexKind;
    uint64_t rowCount, slotCount, probes; ///< Offsets.
    const char* rowCountName;
    const char* slotCountName;
    const char* probesName;
} espyMapFields;

static const espyMapFields espyCellFields = {espyiSectionKind_CellRows,
                                             espyiSectionKind_CellIndex,
                                             ESPYI_HEADER_OFFSET(cellRowCount),
                                             ESPYI_HEADER_OFFSET(cellSlotCount),
                                             ESPYI_HEADER_OFFSET(cellProbes),
                                             "cellRowCount",
                                             "cellSlotCount",
                                             "cellProbes"};
static const espyMapFields espyCoarseFields = {espyiSectionKind_CoarseRows,
                                               espyiSectionKind_CoarseIndex,
                                               ESPYI_HEADER_OFFSET(coarseRowCount),
                                               ESPYI_HEADER_OFFSET(coarseSlotCount),
                                               ESPYI_HEADER_OFFSET(coarseProbes),
                                               "coarseRowCount",
                                               "coarseSlotCount",
                                               "coarseProbes"};

typedef struct espyMapFacts
{
    const espyMapFields* fields;
    uint32_t rowCount, slotCount, probes;
    const uint32_t* dims;
    uint32_t rankCount;
} espyMapFacts;

static uint32_t espyLoad_HeaderWord(const espyiLoad* load, uint64_t offset)
{
    return *(const uint32_t*)(const void*)(load->bytes + (size_t)offset);
}

static espyMapFacts espyLoad_MapFacts(const espyiLoad* load, const espyMapFields* fields, const uint32_t dims[3],
                                      uint32_t rankCount)
{
    espyMapFacts facts;
    facts.fields = fields;
    facts.rowCount = espyLoad_HeaderWord(load, fields->rowCount);
    facts.slotCount = espyLoad_HeaderWord(load, fields->slotCount);
    facts.probes = espyLoad_HeaderWord(load, fields->probes);
    facts.dims = dims;
    facts.rankCount = rankCount;
    return facts;
}

/// A word of a row that breaks a rule.
static bool espyLoad_BadRow(espyiLoad* load, const espyMapFacts* facts, const uint32_t* word)
{
    return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, word), espyiLoad_Name(facts->fields->rowsKind));
}

/// Rows in strictly ascending (z, y, x) order whose base ranks are the running count of bits: so every rank below
/// rankCount stands for exactly one coordinate, and in lattice order.
static bool espyLoad_MapRows(espyiLoad* load, const espyMapFacts* facts, const espyiFileRow* rows)
{
    uint32_t rank = 0;
    uint64_t last = 0;
    for (uint32_t i = 0; i < facts->rowCount; ++i)
    {
        const espyiFileRow* row = &rows[i];
        uint32_t xBlock = row->xBlockY & 0xFFFFu;
        uint32_t y = row->xBlockY >> 16;
        if (y >= facts->dims[1] || xBlock >= espyiBits_Words(facts->dims[0]))
        {
            return espyLoad_BadRow(load, facts, &row->xBlockY);
        }
        if (row->z >= facts->dims[2])
        {
            return espyLoad_BadRow(load, facts, &row->z);
        }
        // 16 bits each; plus 1 so that 0 stands for "no row yet".
        uint64_t order = (((uint64_t)row->z << 32) | ((uint64_t)y << 16) | xBlock) + 1u;
        if (order <= last)
        {
            return espyLoad_BadRow(load, facts, &row->xBlockY);
        }
        last = order;
        uint32_t inBlock = facts->dims[0] - xBlock * 32u;
        uint32_t allowed = inBlock >= 32u ? ~0u : ~(~0u << inBlock);
        if (row->mask == 0 || (row->mask & ~allowed) != 0)
        {
            return espyLoad_BadRow(load, facts, &row->mask);
        }
        uint32_t bits = espyiPopCount32(row->mask);
        if (row->baseRank != rank || bits > facts->rankCount - rank)
        {
            return espyLoad_BadRow(load, facts, &row->baseRank);
        }
        rank += bits;
    }
    return rank == facts->rankCount || espyiLoad_Bad(load, facts->fields->rowCount, facts->fields->rowCountName);
}

/// As many filled slots as rows, and each row found from its home slot within the probes: so each row has one slot.
static bool espyLoad_MapIndex(espyiLoad* load, const espyMapFacts* facts, const espyiFileRow* rows,
                              const uint32_t* index)
{
    const char* name = espyiLoad_Name(facts->fields->indexKind);
    uint32_t filled = 0;
    for (uint32_t i = 0; i < facts->slotCount; ++i)
    {
        if (index[i] == ESPYI_FILE_NO_ROW)
        {
            continue;
        }
        if (index[i] >= facts->rowCount)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &index[i]), name);
        }
        ++filled;
    }
    if (filled != facts->rowCount)
    {
        return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, index), name);
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
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &index[home & (facts->slotCount - 1u)]), name);
        }
    }
    return true;
}

static bool espyLoad_Map(espyiLoad* load, const espyMapFacts* facts, espyPvsMap* map)
{
    if (facts->rowCount == 0)
    {
        if (facts->slotCount != 0)
        {
            return espyiLoad_Bad(load, facts->fields->slotCount, facts->fields->slotCountName);
        }
        if (facts->probes != 0)
        {
            return espyiLoad_Bad(load, facts->fields->probes, facts->fields->probesName);
        }
        return espyiLoad_Absent(load, facts->fields->rowsKind) && espyiLoad_Absent(load, facts->fields->indexKind);
    }
    if (facts->rowCount > facts->rankCount)
    {
        return espyiLoad_Bad(load, facts->fields->rowCount, facts->fields->rowCountName);
    }
    if ((facts->slotCount & (facts->slotCount - 1u)) != 0 || facts->slotCount < facts->rowCount)
    {
        return espyiLoad_Bad(load, facts->fields->slotCount, facts->fields->slotCountName);
    }
    if (facts->probes == 0 || facts->probes > ESPYI_FILE_MAX_PROBES || facts->probes > facts->slotCount)
    {
        return espyiLoad_Bad(load, facts->fields->probes, facts->fields->probesName);
    }
    const void* rows;
    const void* index;
    if (!espyiLoad_Section(load, facts->fields->rowsKind, true, 4, sizeof(espyiFileRow), facts->rowCount, &rows) ||
        !espyiLoad_Section(load, facts->fields->indexKind, true, 4, 4, facts->slotCount, &index) ||
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

bool espyiLoad_Cells(espyiLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    espyMapFacts facts = espyLoad_MapFacts(load, &espyCellFields, h->dims, h->cellCount);
    return espyLoad_Map(load, &facts, &pvs->cellMap) && espyLoad_Table(load, pvs, &espyStaticKinds);
}

bool espyiLoad_Coarse(espyiLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    espyMapFacts facts = espyLoad_MapFacts(load, &espyCoarseFields, pvs->coarseDims, h->coarseCount);
    if (h->coarseFactor == 0)
    {
        if (h->coarseCount != 0 || h->coarseRowCount != 0)
        {
            return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(coarseCount), "coarseCount");
        }
        if (h->dynamicSetCount != 0)
        {
            return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(dynamicSetCount), "dynamicSetCount");
        }
        return espyLoad_Map(load, &facts, &pvs->coarseMap) && espyLoad_NoPlainTable(load, &espyDynamicKinds) &&
               espyLoad_NoPackedTable(load, &espyDynamicKinds);
    }
    if (h->coarseFactor < ESPYI_FILE_MIN_COARSE_FACTOR || h->coarseFactor > ESPYI_FILE_MAX_COARSE_FACTOR)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(coarseFactor), "coarseFactor");
    }
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        pvs->coarseDims[axis] = espyiFile_CoarseDim(h->dims[axis], h->coarseFactor);
    }
    uint64_t blocks = (uint64_t)pvs->coarseDims[0] * pvs->coarseDims[1] * pvs->coarseDims[2];
    // A stored block holds a stored cell.
    if (h->coarseCount > h->cellCount || (h->coarseRowCount == 0 ? blocks != h->coarseCount : blocks < h->coarseCount))
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(coarseCount), "coarseCount");
    }
    return espyLoad_Map(load, &facts, &pvs->coarseMap) && espyLoad_Table(load, pvs, &espyDynamicKinds);
}
