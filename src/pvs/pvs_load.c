// SPDX-License-Identifier: MIT
// Validation of a .espy file, whole and in place, before anything is read from it. No library call, no allocation.
//
// Every number that later becomes an index or an address is proven here, so that no query has to check it again. Sizes
// are compared in 64 bits, where no product of two 32-bit counts and a record size can wrap, and without a 64-bit
// division, which 32-bit targets would need a library for.
#include "pvs/pvs_load.h"

#define ESPY_FLOAT_MAX 3.402823466e+38f
/// A cell must be at least two steps of a float wide everywhere: 2^-22 of the largest coordinate. Below that the
/// borders of neighbouring cells would round to the same number.
#define ESPY_MIN_CELL_SHARE 2.384185791015625e-7f

static bool espyLoad_Fail(espyiLoad* load, espyResult result, uint64_t offset, const char* field)
{
    load->error.result = result;
    load->error.byteOffset = offset;
    load->error.field = field;
    return false;
}

bool espyiLoad_Bad(espyiLoad* load, uint64_t offset, const char* field)
{
    return espyLoad_Fail(load, espyResult_BadData, offset, field);
}

static bool espyLoad_IsFinite(float v)
{
    return v >= -ESPY_FLOAT_MAX && v <= ESPY_FLOAT_MAX;
}

// --- header and directory

static bool espyLoad_Identity(espyiLoad* load)
{
    if (!load->bytes || load->size < sizeof(espyiFileHeader))
    {
        return espyiLoad_Bad(load, 0, "header");
    }
    if (((uintptr_t)load->bytes & (ESPY_PVS_ALIGNMENT - 1u)) != 0)
    {
        return espyLoad_Fail(load, espyResult_Misaligned, 0, "header");
    }
    const espyiFileHeader* h = (const espyiFileHeader*)(const void*)load->bytes;
    load->header = h;
    if (h->magic == ESPYI_FILE_MAGIC_SWAPPED)
    {
        return espyLoad_Fail(load, espyResult_WrongByteOrder, ESPYI_HEADER_OFFSET(magic), "magic");
    }
    if (h->magic != ESPYI_FILE_MAGIC)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(magic), "magic");
    }
    if (h->version >> 16 != ESPYI_FILE_MAJOR && (!ESPYI_PACK_IS_READ || h->version >> 16 != ESPYI_FILE_PACKED_MAJOR))
    {
        return espyLoad_Fail(load, espyResult_UnsupportedVersion, ESPYI_HEADER_OFFSET(version), "version");
    }
    if (h->fileBytes != load->size || load->size % 16u != 0)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(fileBytes), "fileBytes");
    }
    if (h->headerBytes < sizeof(espyiFileHeader) || h->headerBytes % 16u != 0 || h->headerBytes > load->size)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(headerBytes), "headerBytes");
    }
    if (h->sectionCount > (load->size - h->headerBytes) / sizeof(espyiFileSection))
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(sectionCount), "sectionCount");
    }
    load->sections = (const espyiFileSection*)(const void*)(load->bytes + h->headerBytes);
    return true;
}

static bool espyLoad_Padding(espyiLoad* load, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; ++i)
    {
        if (load->bytes[i] != 0)
        {
            return espyiLoad_Bad(load, i, "padding");
        }
    }
    return true;
}

/// Sections ascend by kind and follow one another without gaps or overlap, up to the end of the file.
static bool espyLoad_Directory(espyiLoad* load)
{
    const espyiFileHeader* h = load->header;
    uint64_t end = h->headerBytes + (uint64_t)h->sectionCount * sizeof(espyiFileSection);
    uint32_t lastKind = 0;
    for (uint32_t i = 0; i < h->sectionCount; ++i)
    {
        const espyiFileSection* s = &load->sections[i];
        if (s->kind <= lastKind)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->kind), "section.kind");
        }
        lastKind = s->kind;
        if (s->unitBytes != 1 && s->unitBytes != 2 && s->unitBytes != 4 && s->unitBytes != 8)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->unitBytes), "section.unitBytes");
        }
        if (s->elementBytes == 0 || s->elementBytes % s->unitBytes != 0)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->elementBytes), "section.elementBytes");
        }
        if (s->offset != end)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->offset), "section.offset");
        }
        // `end` is a multiple of 16 not above the file size, itself one, so that the padded end is in the file too.
        if (s->bytes > load->size - end || (s->bytes & (s->unitBytes - 1u)) != 0)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->bytes), "section.bytes");
        }
        end = espyiFile_Align(s->offset + s->bytes);
        if (!espyLoad_Padding(load, s->offset + s->bytes, end))
        {
            return false;
        }
    }
    if (end != load->size)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(fileBytes), "fileBytes");
    }
    return true;
}

// --- header values

static bool espyLoad_Axis(espyiLoad* load, uint32_t axis)
{
    static const char* const originNames[3] = {"origin.x", "origin.y", "origin.z"};
    static const char* const dimNames[3] = {"dims.x", "dims.y", "dims.z"};
    const espyiFileHeader* h = load->header;
    float origin = h->origin[axis];
    if (!espyLoad_IsFinite(origin))
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(origin) + 4u * axis, originNames[axis]);
    }
    bool empty = h->cellCount == 0;
    if (h->dims[axis] > ESPYI_FILE_MAX_DIM || (h->dims[axis] == 0) != empty)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(dims) + 4u * axis, dimNames[axis]);
    }
    float high = origin + (float)(int32_t)h->dims[axis] * h->cellSize;
    float low = origin < 0.0f ? -origin : origin;
    float top = high < 0.0f ? -high : high;
    float largest = low > top ? low : top;
    if (!espyLoad_IsFinite(high) || h->cellSize < largest * ESPY_MIN_CELL_SHARE)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(cellSize), "cellSize");
    }
    return true;
}

static bool espyLoad_Values(espyiLoad* load)
{
    const espyiFileHeader* h = load->header;
    if (!(h->cellSize > 0.0f) || !espyLoad_IsFinite(h->cellSize) || !espyLoad_IsFinite(1.0f / h->cellSize))
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(cellSize), "cellSize");
    }
    if (!espyLoad_Axis(load, 0) || !espyLoad_Axis(load, 1) || !espyLoad_Axis(load, 2))
    {
        return false;
    }
    uint64_t lattice = (uint64_t)h->dims[0] * h->dims[1] * h->dims[2];
    if (h->cellCount > ESPYI_FILE_MAX_COUNT ||
        (h->cellRowCount == 0 ? lattice != h->cellCount : lattice < h->cellCount))
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(cellCount), "cellCount");
    }
    if (h->solidCellCount > h->cellCount)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(solidCellCount), "solidCellCount");
    }
    if (h->occluderCount > ESPYI_FILE_MAX_COUNT)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(occluderCount), "occluderCount");
    }
    if (h->occludeeCount > ESPYI_FILE_MAX_COUNT)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(occludeeCount), "occludeeCount");
    }
    if (h->quality > (uint32_t)espyBakeQuality_Proven)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(quality), "quality");
    }
    if (!espyLoad_IsFinite(h->nearDistance) || h->nearDistance < 0.0f)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(nearDistance), "nearDistance");
    }
    if (!espyLoad_IsFinite(h->smallestHole) || h->smallestHole < 0.0f)
    {
        return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(smallestHole), "smallestHole");
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

const char* espyiLoad_Name(espyiSectionKind kind)
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
    case espyiSectionKind_Contents:
        return "CONTENTS";
    case espyiSectionKind_Unknown:
        return "UNKNOWN";
    case espyiSectionKind_ViewPoints:
        return "VIEW_POINTS";
    }
    return "section";
}

bool espyiLoad_Section(espyiLoad* load, espyiSectionKind kind, bool needed, uint32_t unitBytes, uint32_t elementBytes,
                       uint64_t count, const void** data)
{
    const espyiFileSection* s = espyiFile_Find(load->bytes, (uint32_t)kind);
    *data = NULL;
    if (!s)
    {
        return !needed || espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(sectionCount), espyiLoad_Name(kind));
    }
    if (s->unitBytes != unitBytes)
    {
        return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->unitBytes), espyiLoad_Name(kind));
    }
    if (s->elementBytes != elementBytes)
    {
        return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->elementBytes), espyiLoad_Name(kind));
    }
    if (s->bytes != count * elementBytes)
    {
        return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->bytes), espyiLoad_Name(kind));
    }
    *data = load->bytes + s->offset;
    return true;
}

bool espyiLoad_Absent(espyiLoad* load, espyiSectionKind kind)
{
    const espyiFileSection* s = espyiFile_Find(load->bytes, (uint32_t)kind);
    return !s || espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &s->kind), espyiLoad_Name(kind));
}

static bool espyLoad_Entries(espyiLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    uint64_t entries = (uint64_t)h->occluderCount + h->occludeeCount;
    const void* data;
    if (!espyiLoad_Section(load, espyiSectionKind_Entries, true, 4, 24, entries, &data))
    {
        return false;
    }
    pvs->entries = (const float*)data;
    for (uint64_t i = 0; i < entries * 6u; ++i)
    {
        if (!espyLoad_IsFinite(pvs->entries[i]))
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &pvs->entries[i]), "ENTRIES");
        }
    }
    return true;
}

/// Cells only ever grow from what was baked.
static bool espyLoad_BakedCellSize(espyiLoad* load)
{
    const void* data;
    if (!espyiLoad_Section(load, espyiSectionKind_BakedCellSize, false, 4, 4, 1, &data))
    {
        return false;
    }
    return !data || (*(const float*)data > 0.0f && *(const float*)data <= load->header->cellSize) ||
           espyiLoad_Bad(load, espyiLoad_OffsetOf(load, data), "BAKED_CELL_SIZE");
}

static bool espyLoad_ToolSections(espyiLoad* load, espyPvs* pvs)
{
    const espyiFileHeader* h = load->header;
    uint64_t entries = (uint64_t)h->occluderCount + h->occludeeCount;
    const void* nodes;
    const void* parts;
    const void* hashes;
    const void* solid;
    const void* statistics;
    const void* contents;
    const void* unknown;
    if (!espyiLoad_Section(load, espyiSectionKind_Nodes, false, 4, 4, entries, &nodes) ||
        !espyiLoad_Section(load, espyiSectionKind_Parts, false, 4, 4, h->occludeeCount, &parts) ||
        !espyiLoad_Section(load, espyiSectionKind_Hashes, false, 8, 8, entries, &hashes) ||
        !espyiLoad_Section(load, espyiSectionKind_SolidCells, false, 4, 4, espyiBits_Words(h->cellCount), &solid) ||
        !espyiLoad_Section(load, espyiSectionKind_Statistics, false, 4, 4, h->occludeeCount, &statistics) ||
        !espyiLoad_Section(load, espyiSectionKind_Unknown, false, 4, 4, h->occludeeCount, &unknown) ||
        !espyiLoad_Section(load, espyiSectionKind_Contents, false, 8, 8, h->occluderCount, &contents))
    {
        return false;
    }
    pvs->nodes = (const int32_t*)nodes;
    pvs->parts = (const int32_t*)parts;
    pvs->hashes = (const uint64_t*)hashes;
    pvs->contents = (const uint64_t*)contents;
    pvs->solid = (const uint32_t*)solid;
    for (uint32_t i = 0; parts && i < h->occludeeCount; ++i)
    {
        if (pvs->parts[i] < -1)
        {
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &pvs->parts[i]), "PARTS");
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
            return espyiLoad_Bad(load, espyiLoad_OffsetOf(load, &pvs->solid[words - 1u]), "SOLID_CELLS");
        }
        if (count != h->solidCellCount)
        {
            return espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(solidCellCount), "solidCellCount");
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

static void espyLoad_Resolve(const espyiLoad* load, espyPvs* out)
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

static bool espyLoad_Hash(espyiLoad* load, espyiPoll* poll)
{
    uint64_t hash = espyiFile_Hash(load->bytes, (size_t)load->size, poll);
    if (espyiPoll_IsStopped(poll))
    {
        return espyLoad_Fail(load, espyResult_Cancelled, ESPYI_HEADER_OFFSET(hash), "hash");
    }
    return hash == load->header->hash || espyiLoad_Bad(load, ESPYI_HEADER_OFFSET(hash), "hash");
}

espyResult espyiPvs_LoadPolled(espyPvs* out, const void* bytes, size_t size, espyiPoll* poll, espyDataError* error)
{
    espyiLoad load;
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
                espyLoad_Entries(&load, out) && espyiLoad_Cells(&load, out) && espyiLoad_Coarse(&load, out) &&
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
