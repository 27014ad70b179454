// SPDX-License-Identifier: MIT
// Lays out a .espy file: header, directory, sections. The other side of src/pvs/pvs_load.c; see docs/format.md.
//
// Based on: P. Celis, "Robin Hood Hashing", 1986, for a row index whose longest probe stays short at any size.
#include "bake/tables.h"
#include "pvs/format.h"

#include <string.h>

#define ESPY_BLOB_MAX_SECTIONS 18u
/// Each doubling of the index makes a probe that is too long far less likely; eight never happen by chance.
#define ESPY_MAP_MAX_DOUBLINGS 8u

/// A section as up to two arrays, one after the other.
typedef struct espyBlobSection
{
    espyiSectionKind kind;
    uint32_t flags, unitBytes, elementBytes;
    const void* first;
    const void* second;
    uint64_t firstCount, secondCount;
    bool narrow; ///< 32-bit numbers that are stored in 16 bits.
} espyBlobSection;

typedef struct espyBlobMap
{
    espyiFileRow* rows;
    uint32_t* index;
    uint32_t rowCount, slotCount, probes;
} espyBlobMap;

typedef struct espyBlob
{
    const espyiBlobDef* def;
    const espyHooks* hooks;
    espyBlobMap cellMap, coarseMap;
    espyBlobSection sections[ESPY_BLOB_MAX_SECTIONS];
    uint32_t sectionCount;
} espyBlob;

// --- maps

static void espyBlobMap_Free(espyBlobMap* map, const espyHooks* hooks)
{
    espyiFree(hooks, map->rows);
    espyiFree(hooks, map->index);
}

static bool espyBlobMap_SameRow(espyiCellCoord a, espyiCellCoord b)
{
    return a.x / 32u == b.x / 32u && a.y == b.y && a.z == b.z;
}

/// Gathers coordinates in rank order into rows.
static bool espyBlobMap_FillRows(espyBlobMap* map, const espyiCellCoord* coords, uint32_t count, const espyHooks* hooks)
{
    map->rowCount = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        map->rowCount += i == 0 || !espyBlobMap_SameRow(coords[i - 1u], coords[i]) ? 1u : 0u;
    }
    map->rows = espyiAlloc(hooks, map->rowCount, sizeof *map->rows);
    if (!map->rows)
    {
        return false;
    }
    espyiFileRow* row = map->rows;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (i == 0 || !espyBlobMap_SameRow(coords[i - 1u], coords[i]))
        {
            row += i == 0 ? 0 : 1;
            row->xBlockY = (uint32_t)(coords[i].x >> 5) | (uint32_t)coords[i].y << 16;
            row->z = coords[i].z;
            row->baseRank = i;
        }
        row->mask |= 1u << (coords[i].x & 31u);
    }
    return true;
}

/// Inserts all rows, the one that is farther from its home keeping the slot. Returns the longest probe.
static uint32_t espyBlobMap_FillIndex(const espyBlobMap* map)
{
    uint32_t slotMask = map->slotCount - 1u;
    for (uint32_t i = 0; i < map->slotCount; ++i)
    {
        map->index[i] = ESPYI_FILE_NO_ROW;
    }
    uint32_t longest = 0;
    for (uint32_t i = 0; i < map->rowCount; ++i)
    {
        uint32_t row = i;
        uint32_t slot = espyiFileRow_Hash(map->rows[row].xBlockY, map->rows[row].z) & slotMask;
        uint32_t distance = 0;
        while (map->index[slot] != ESPYI_FILE_NO_ROW)
        {
            const espyiFileRow* holder = &map->rows[map->index[slot]];
            uint32_t held = (slot - espyiFileRow_Hash(holder->xBlockY, holder->z)) & slotMask;
            if (held < distance)
            {
                uint32_t swap = map->index[slot];
                map->index[slot] = row;
                row = swap;
                longest = distance > longest ? distance : longest;
                distance = held;
            }
            slot = (slot + 1u) & slotMask;
            ++distance;
        }
        map->index[slot] = row;
        longest = distance > longest ? distance : longest;
    }
    return longest + 1u;
}

static espyResult espyBlobMap_Build(espyBlobMap* map, const espyiCellCoord* coords, uint32_t count,
                                    const espyHooks* hooks)
{
    if (!espyBlobMap_FillRows(map, coords, count, hooks))
    {
        return espyResult_OutOfMemory;
    }
    map->slotCount = 2;
    while (map->slotCount / 2u < map->rowCount)
    {
        map->slotCount *= 2u;
    }
    for (uint32_t i = 0; i < ESPY_MAP_MAX_DOUBLINGS && map->slotCount <= ESPYI_FILE_MAX_COUNT; ++i)
    {
        espyiFree(hooks, map->index);
        map->index = espyiAlloc(hooks, map->slotCount, sizeof *map->index);
        if (!map->index)
        {
            return espyResult_OutOfMemory;
        }
        map->probes = espyBlobMap_FillIndex(map);
        if (map->probes <= ESPYI_FILE_MAX_PROBES)
        {
            return espyResult_Ok;
        }
        map->slotCount *= 2u;
    }
    return espyResult_LimitExceeded;
}

// --- sections

static void espyBlob_Add(espyBlob* blob, espyiSectionKind kind, uint32_t unitBytes, uint32_t elementBytes,
                         const void* data, uint64_t count)
{
    blob->sections[blob->sectionCount++] = (espyBlobSection){
        .kind = kind, .unitBytes = unitBytes, .elementBytes = elementBytes, .first = data, .firstCount = count};
}

/// What belongs to all entries: occluders, then occludees.
static void espyBlob_AddPair(espyBlob* blob, espyiSectionKind kind, uint32_t unitBytes, uint32_t elementBytes,
                             const void* occluders, const void* occludees)
{
    espyBlob_Add(blob, kind, unitBytes, elementBytes, occluders, blob->def->occluderCount);
    blob->sections[blob->sectionCount - 1u].second = occludees;
    blob->sections[blob->sectionCount - 1u].secondCount = blob->def->occludeeCount;
}

static void espyBlob_MarkTool(espyBlob* blob)
{
    blob->sections[blob->sectionCount - 1u].flags = ESPYI_SECTION_FLAG_TOOL;
}

static void espyBlob_AddMap(espyBlob* blob, const espyBlobMap* map, espyiSectionKind rows, espyiSectionKind index)
{
    if (map->rowCount > 0)
    {
        espyBlob_Add(blob, rows, 4, sizeof *map->rows, map->rows, map->rowCount);
        espyBlob_Add(blob, index, 4, 4, map->index, map->slotCount);
    }
}

static void espyBlob_AddTable(espyBlob* blob, const espyiTable* table, espyiSectionKind cells, espyiSectionKind sets)
{
    uint32_t indexBytes = espyiFile_IndexBytes(table->setCount);
    espyBlob_Add(blob, cells, indexBytes, indexBytes, table->cells, table->cellCount);
    blob->sections[blob->sectionCount - 1u].narrow = indexBytes == 2u;
    espyBlob_Add(blob, sets, 4, 4, table->sets, (uint64_t)table->setCount * table->words);
}

/// In ascending order of kind.
static void espyBlob_AddSections(espyBlob* blob)
{
    const espyiBlobDef* def = blob->def;
    bool allOccluders = def->occluderCount == 0;
    bool allOccludees = def->occludeeCount == 0;
    espyBlob_AddPair(blob, espyiSectionKind_Entries, 4, sizeof(espyBox), def->occluderBoxes, def->occludeeBoxes);
    espyBlob_AddMap(blob, &blob->cellMap, espyiSectionKind_CellRows, espyiSectionKind_CellIndex);
    espyBlob_AddTable(blob, def->statics, espyiSectionKind_StaticCells, espyiSectionKind_StaticSets);
    espyBlob_AddMap(blob, &blob->coarseMap, espyiSectionKind_CoarseRows, espyiSectionKind_CoarseIndex);
    if (def->dynamics)
    {
        espyBlob_AddTable(blob, def->dynamics, espyiSectionKind_DynamicCells, espyiSectionKind_DynamicSets);
    }
    if (def->bakedCellSize > 0.0f)
    {
        espyBlob_Add(blob, espyiSectionKind_BakedCellSize, 4, 4, &def->bakedCellSize, 1);
    }
    if (def->cooked)
    {
        return;
    }
    if ((allOccluders || def->occluderNodes) && (allOccludees || def->occludeeNodes))
    {
        espyBlob_AddPair(blob, espyiSectionKind_Nodes, 4, 4, def->occluderNodes, def->occludeeNodes);
        espyBlob_MarkTool(blob);
    }
    if (allOccludees || def->occludeeParts)
    {
        espyBlob_Add(blob, espyiSectionKind_Parts, 4, 4, def->occludeeParts, def->occludeeCount);
        espyBlob_MarkTool(blob);
    }
    if ((allOccluders || def->occluderHashes) && (allOccludees || def->occludeeHashes))
    {
        espyBlob_AddPair(blob, espyiSectionKind_Hashes, 8, 8, def->occluderHashes, def->occludeeHashes);
        espyBlob_MarkTool(blob);
    }
    if (def->grid->solid)
    {
        espyBlob_Add(blob, espyiSectionKind_SolidCells, 4, 4, def->grid->solid, espyiBits_Words(def->grid->cellCount));
        espyBlob_MarkTool(blob);
    }
    if (allOccludees || def->occludeeProven)
    {
        espyBlob_Add(blob, espyiSectionKind_Statistics, 4, 4, def->occludeeProven, def->occludeeCount);
        espyBlob_MarkTool(blob);
    }
    if (def->occludeeUnknown && !allOccludees)
    {
        espyBlob_Add(blob, espyiSectionKind_Unknown, 4, 4, def->occludeeUnknown, def->occludeeCount);
        espyBlob_MarkTool(blob);
        blob->sections[blob->sectionCount - 1u].flags |= def->late ? ESPYI_SECTION_FLAG_LATE : 0u;
    }
    if (def->viewPointCount > 0)
    {
        espyBlob_Add(blob, espyiSectionKind_ViewPoints, 4, sizeof(espyVec3), def->viewPoints, def->viewPointCount);
        espyBlob_MarkTool(blob);
    }
    if (def->occluderContents && !allOccluders)
    {
        espyBlob_Add(blob, espyiSectionKind_Contents, 8, 8, def->occluderContents, def->occluderCount);
        espyBlob_MarkTool(blob);
    }
}

/// memcpy that asks now and then. False: stopped.
static bool espyBlob_Copy(espyiPoll* poll, uint8_t* to, const uint8_t* from, size_t bytes)
{
    const size_t most = (size_t)ESPYI_POLL_UNITS * 4u;
    for (size_t at = 0; at < bytes;)
    {
        size_t part = bytes - at < most ? bytes - at : most;
        if (!espyiPoll_Work(poll, part / 4u))
        {
            return false;
        }
        memcpy(to + at, from + at, part);
        at += part;
    }
    return true;
}

/// False: stopped.
static bool espyBlob_CopySection(espyiPoll* poll, const espyBlobSection* section, uint8_t* to)
{
    if (section->narrow)
    {
        const uint32_t* from = section->first;
        uint16_t* narrow = (uint16_t*)(void*)to;
        for (uint64_t i = 0; i < section->firstCount; ++i)
        {
            narrow[i] = (uint16_t)from[i];
        }
        return espyiPoll_Work(poll, (size_t)section->firstCount);
    }
    size_t firstBytes = (size_t)section->firstCount * section->elementBytes;
    size_t secondBytes = (size_t)section->secondCount * section->elementBytes;
    return espyBlob_Copy(poll, to, section->first, firstBytes) &&
           espyBlob_Copy(poll, to + firstBytes, section->second, secondBytes);
}

static void espyBlob_FillHeader(const espyBlob* blob, espyiFileHeader* h)
{
    const espyiBlobDef* def = blob->def;
    const espyiGrid* grid = def->grid;
    h->magic = ESPYI_FILE_MAGIC;
    h->version = ESPYI_FILE_VERSION;
    h->headerBytes = sizeof *h;
    h->sectionCount = blob->sectionCount;
    h->origin[0] = grid->origin.x;
    h->origin[1] = grid->origin.y;
    h->origin[2] = grid->origin.z;
    h->cellSize = grid->cellSize;
    memcpy(h->dims, grid->dims, sizeof h->dims);
    h->cellCount = grid->cellCount;
    h->solidCellCount = grid->solid ? grid->solidCount : 0;
    h->occluderCount = def->occluderCount;
    h->occludeeCount = def->occludeeCount;
    h->staticSetCount = def->statics->setCount;
    h->dynamicSetCount = def->dynamics ? def->dynamics->setCount : 0;
    h->coarseFactor = def->dynamics ? grid->coarseFactor : 0;
    h->coarseCount = def->dynamics ? grid->coarseCount : 0;
    h->quality = (uint32_t)def->quality;
    h->flags = def->occlusionCulling ? ESPYI_FILE_FLAG_OCCLUSION_CULLING : 0;
    h->flags |= (def->levelSettings & ESPYI_FILE_LEVEL_SETTINGS_MASK) << ESPYI_FILE_LEVEL_SETTINGS_SHIFT;
    h->consoleBudgetKB = def->consoleBudgetKB;
    h->nearDistance = def->nearDistance;
    h->smallestHole = def->smallestHole;
    h->cellRowCount = blob->cellMap.rowCount;
    h->cellSlotCount = blob->cellMap.slotCount;
    h->cellProbes = blob->cellMap.probes;
    h->coarseRowCount = blob->coarseMap.rowCount;
    h->coarseSlotCount = blob->coarseMap.slotCount;
    h->coarseProbes = blob->coarseMap.probes;
    h->seed = def->seed;
    h->settingsHash = def->settingsHash;
    h->contentHash = def->contentHash;
}

static espyResult espyBlob_Emit(const espyBlob* blob, void** out, size_t* outSize)
{
    uint64_t size = sizeof(espyiFileHeader) + (uint64_t)blob->sectionCount * sizeof(espyiFileSection);
    for (uint32_t i = 0; i < blob->sectionCount; ++i)
    {
        const espyBlobSection* s = &blob->sections[i];
        size = espyiFile_Align(size + (s->firstCount + s->secondCount) * s->elementBytes);
    }
    if (size > SIZE_MAX)
    {
        return espyResult_LimitExceeded;
    }
    uint8_t* bytes = espyiAlloc(blob->hooks, (size_t)size, 1);
    if (!bytes)
    {
        return espyResult_OutOfMemory;
    }
    espyiFileHeader* header = (espyiFileHeader*)(void*)bytes;
    espyBlob_FillHeader(blob, header);
    header->fileBytes = size;
    espyiFileSection* directory = (espyiFileSection*)(void*)(bytes + sizeof *header);
    uint64_t offset = sizeof *header + blob->sectionCount * sizeof *directory;
    espyiPoll* poll = blob->def->poll;
    for (uint32_t i = 0; i < blob->sectionCount && !espyiPoll_IsStopped(poll); ++i)
    {
        const espyBlobSection* s = &blob->sections[i];
        directory[i] = (espyiFileSection){.kind = (uint32_t)s->kind,
                                          .flags = s->flags,
                                          .unitBytes = s->unitBytes,
                                          .elementBytes = s->elementBytes,
                                          .offset = offset,
                                          .bytes = (s->firstCount + s->secondCount) * s->elementBytes};
        espyBlob_CopySection(poll, s, bytes + (size_t)offset);
        offset = espyiFile_Align(offset + directory[i].bytes);
    }
    header->hash = espyiFile_Hash(bytes, (size_t)size, poll);
    // The reader is the judge of every rule; a file that it refuses never leaves this room.
    espyPvs proof;
    bool good =
        !espyiPoll_IsStopped(poll) && espyiPvs_LoadPolled(&proof, bytes, (size_t)size, poll, NULL) == espyResult_Ok;
    if (!good)
    {
        espyiFree(blob->hooks, bytes);
        return espyiPoll_IsStopped(poll) ? espyResult_Cancelled : espyResult_InvalidArgument;
    }
    *out = bytes;
    *outSize = (size_t)size;
    return espyResult_Ok;
}

espyResult espyiBlob_Write(const espyiBlobDef* def, const espyHooks* hooks, void** out, size_t* outSize)
{
    *out = NULL;
    *outSize = 0;
    const espyiGrid* grid = def->grid;
    if (def->occluderCount > ESPYI_FILE_MAX_COUNT || def->occludeeCount > ESPYI_FILE_MAX_COUNT ||
        grid->cellCount > ESPYI_FILE_MAX_COUNT)
    {
        return espyResult_LimitExceeded;
    }
    if (def->statics->width != def->occludeeCount || def->statics->cellCount != grid->cellCount ||
        (def->dynamics && (def->dynamics->width != grid->coarseCount || def->dynamics->cellCount != grid->cellCount)))
    {
        return espyResult_InvalidArgument;
    }
    espyBlob blob = {.def = def, .hooks = hooks};
    espyResult result = espyResult_Ok;
    if (!grid->dense && grid->cellCount > 0)
    {
        result = espyBlobMap_Build(&blob.cellMap, grid->cells, grid->cellCount, hooks);
    }
    uint64_t blocks = (uint64_t)grid->coarseDims[0] * grid->coarseDims[1] * grid->coarseDims[2];
    if (result == espyResult_Ok && def->dynamics && grid->coarseCount > 0 && grid->coarseCount != blocks)
    {
        result = espyBlobMap_Build(&blob.coarseMap, grid->coarse, grid->coarseCount, hooks);
    }
    if (result == espyResult_Ok)
    {
        espyBlob_AddSections(&blob);
        result = espyBlob_Emit(&blob, out, outSize);
    }
    espyBlobMap_Free(&blob.cellMap, hooks);
    espyBlobMap_Free(&blob.coarseMap, hooks);
    return result;
}
