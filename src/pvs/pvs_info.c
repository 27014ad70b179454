// SPDX-License-Identifier: MIT
// Numbers about a loaded file, for tools and logs.
#include "pvs/format.h"

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
