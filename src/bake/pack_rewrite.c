// SPDX-License-Identifier: MIT
// A loaded file with other tables, and from packed tables the plain ones.
#include "bake/pack_internal.h"

#include <string.h>

// --- rewriting

void* espyiRewrite_Add(espyiRewrite* rewrite, uint32_t kind, uint32_t unitBytes, uint64_t count)
{
    // One unit more, since nothing is not allocated.
    void* data = count < SIZE_MAX ? espyiAlloc(rewrite->hooks, (size_t)count + 1u, unitBytes) : NULL;
    if (data)
    {
        rewrite->sections[rewrite->count++] =
            (espyiRewriteSection){.kind = kind, .unitBytes = unitBytes, .bytes = count * unitBytes, .data = data};
    }
    return data;
}

void espyiRewrite_Drop(espyiRewrite* rewrite, uint32_t first)
{
    for (uint32_t i = first; i < rewrite->count; ++i)
    {
        espyiFree(rewrite->hooks, rewrite->sections[i].data);
    }
    rewrite->count = first;
}

void espyiRewrite_Free(espyiRewrite* rewrite)
{
    espyiRewrite_Drop(rewrite, 0);
}

static bool espyRewrite_IsTable(uint32_t kind)
{
    return kind == espyiSectionKind_StaticCells || kind == espyiSectionKind_StaticSets ||
           kind == espyiSectionKind_DynamicCells || kind == espyiSectionKind_DynamicSets ||
           (kind >= espyiSectionKind_StaticMap && kind <= espyiSectionKind_DynamicBytes);
}

static espyiFileSection espyRewrite_Entry(const espyiRewriteSection* section)
{
    return (espyiFileSection){.kind = section->kind,
                              .unitBytes = section->unitBytes,
                              .elementBytes = section->unitBytes,
                              .bytes = section->bytes};
}

/// Fills the directory without offsets, and where the bytes of each section come from. Returns how many there are.
static uint32_t espyRewrite_Merge(const espyiRewrite* rewrite, espyiFileSection* directory, const void** from)
{
    const uint8_t* bytes = rewrite->source->bytes;
    const espyiFileHeader* h = (const espyiFileHeader*)(const void*)bytes;
    const espyiFileSection* old = (const espyiFileSection*)(const void*)(bytes + h->headerBytes);
    uint32_t count = 0;
    uint32_t added = 0;
    for (uint32_t i = 0; i < h->sectionCount; ++i)
    {
        for (; added < rewrite->count && rewrite->sections[added].kind < old[i].kind; ++added)
        {
            directory[count] = espyRewrite_Entry(&rewrite->sections[added]);
            from[count++] = rewrite->sections[added].data;
        }
        if (!espyRewrite_IsTable(old[i].kind))
        {
            directory[count] = old[i];
            from[count++] = bytes + old[i].offset;
        }
        else if (added < rewrite->count && rewrite->sections[added].kind == old[i].kind)
        {
            directory[count] = espyRewrite_Entry(&rewrite->sections[added]);
            from[count++] = rewrite->sections[added++].data;
        }
    }
    for (; added < rewrite->count; ++added)
    {
        directory[count] = espyRewrite_Entry(&rewrite->sections[added]);
        from[count++] = rewrite->sections[added].data;
    }
    return count;
}

static espyResult espyRewrite_Emit(const espyiRewrite* rewrite, const espyiFileSection* directory,
                                   const void* const* from, uint32_t count, void** out, size_t* outSize)
{
    const espyiFileHeader* h = (const espyiFileHeader*)(const void*)rewrite->source->bytes;
    uint64_t start = h->headerBytes + (uint64_t)count * sizeof *directory;
    uint64_t size = start;
    for (uint32_t i = 0; i < count; ++i)
    {
        size = espyiFile_Align(size + directory[i].bytes);
    }
    if (size > SIZE_MAX)
    {
        return espyResult_LimitExceeded;
    }
    uint8_t* bytes = espyiAlloc(rewrite->hooks, (size_t)size, 1);
    if (!bytes)
    {
        return espyResult_OutOfMemory;
    }
    memcpy(bytes, h, h->headerBytes);
    espyiFileHeader* header = (espyiFileHeader*)(void*)bytes;
    header->version = rewrite->major << 16 | (h->version & 0xFFFFu);
    header->sectionCount = count;
    header->staticSetCount = rewrite->setCounts[0];
    header->dynamicSetCount = rewrite->setCounts[1];
    header->fileBytes = size;
    espyiFileSection* entries = (espyiFileSection*)(void*)(bytes + h->headerBytes);
    uint64_t offset = start;
    for (uint32_t i = 0; i < count; ++i)
    {
        entries[i] = directory[i];
        entries[i].offset = offset;
        if (directory[i].bytes > 0)
        {
            memcpy(bytes + (size_t)offset, from[i], (size_t)directory[i].bytes);
        }
        offset = espyiFile_Align(offset + directory[i].bytes);
    }
    header->hash = espyiFile_Hash(bytes, (size_t)size, rewrite->poll);
    espyPvs proof;
    espyResult result = espyiPvs_LoadPolled(&proof, bytes, (size_t)size, rewrite->poll, NULL);
    if (result != espyResult_Ok)
    {
        espyiFree(rewrite->hooks, bytes);
        return espyiPoll_IsStopped(rewrite->poll) ? espyResult_Cancelled : result;
    }
    *out = bytes;
    *outSize = (size_t)size;
    return espyResult_Ok;
}

espyResult espyiRewrite_Write(const espyiRewrite* rewrite, void** out, size_t* outSize)
{
    const espyiFileHeader* h = (const espyiFileHeader*)(const void*)rewrite->source->bytes;
    size_t most = (size_t)h->sectionCount + rewrite->count;
    espyiFileSection* directory = espyiAlloc(rewrite->hooks, most, sizeof *directory);
    const void** from = espyiAlloc(rewrite->hooks, most, sizeof *from);
    espyResult result = espyResult_OutOfMemory;
    if (directory && from)
    {
        uint32_t count = espyRewrite_Merge(rewrite, directory, from);
        result = espyRewrite_Emit(rewrite, directory, from, count, out, outSize);
    }
    espyiFree(rewrite->hooks, directory);
    espyiFree(rewrite->hooks, (void*)from);
    return result;
}

// --- plain tables

typedef struct espyUnpack
{
    const espyPvs* pvs;
    const espyHooks* hooks;
    espyiPoll* poll;
    uint32_t words;
    uint32_t* cells;
    uint32_t* sets;
    size_t setCapacity;
    uint32_t setCount;
    uint32_t* slots; ///< Hash of sets: number + 1, or 0.
    uint32_t slotCount;
} espyUnpack;

/// The number of the set behind the last one: that of an equal one before it, or its own from now on.
static uint32_t espyUnpack_Share(espyUnpack* unpack)
{
    const uint32_t* set = unpack->sets + (size_t)unpack->setCount * unpack->words;
    uint64_t hash = espyiHash_Words(0, set, unpack->words);
    for (uint32_t slot = (uint32_t)hash & (unpack->slotCount - 1u);; slot = (slot + 1u) & (unpack->slotCount - 1u))
    {
        uint32_t number = unpack->slots[slot];
        if (number == 0)
        {
            unpack->slots[slot] = unpack->setCount + 1u;
            return unpack->setCount++;
        }
        const uint32_t* other = unpack->sets + (size_t)(number - 1u) * unpack->words;
        if (memcmp(other, set, unpack->words * sizeof *set) == 0)
        {
            return number - 1u;
        }
    }
}

/// Reads all cells and numbers their sets by the first cell that uses each.
static espyResult espyUnpack_Read(espyUnpack* unpack, bool dynamic)
{
    uint32_t cellCount = unpack->pvs->cellCount;
    unpack->slotCount = 2;
    while (unpack->slotCount / 2u < cellCount)
    {
        unpack->slotCount *= 2u;
    }
    unpack->cells = espyiAlloc(unpack->hooks, (size_t)cellCount + 1u, sizeof *unpack->cells);
    unpack->slots = espyiAlloc(unpack->hooks, unpack->slotCount, sizeof *unpack->slots);
    if (!unpack->cells || !unpack->slots)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t cell = 0; cell < cellCount; ++cell)
    {
        size_t needed;
        // A packed word takes some tens of steps to read.
        if (!espyiPoll_Work(unpack->poll, 32u * (size_t)unpack->words + 1u))
        {
            return espyResult_Cancelled;
        }
        if (!espyiMulSize((size_t)unpack->setCount + 1u, unpack->words, &needed) ||
            !espyiGrow(unpack->hooks, (void**)&unpack->sets, &unpack->setCapacity, needed + 1u, sizeof *unpack->sets))
        {
            return espyResult_OutOfMemory;
        }
        uint32_t* set = unpack->sets + (size_t)unpack->setCount * unpack->words;
        if (dynamic)
        {
            espyPvs_ReadDynamicSet(unpack->pvs, (int32_t)cell, set);
        }
        else
        {
            espyPvs_ReadStaticSet(unpack->pvs, (int32_t)cell, set);
        }
        unpack->cells[cell] = espyUnpack_Share(unpack);
    }
    return espyResult_Ok;
}

static espyResult espyUnpack_AddTable(const espyPvs* pvs, bool dynamic, espyiRewrite* rewrite)
{
    espyUnpack unpack = {.pvs = pvs, .hooks = rewrite->hooks, .poll = rewrite->poll};
    unpack.words = dynamic ? pvs->coarseWords : pvs->staticWords;
    espyResult result = espyUnpack_Read(&unpack, dynamic);
    // What the header of a packed file tells is how many there were, shared or not.
    rewrite->setCounts[dynamic ? 1 : 0] = unpack.setCount;
    if (result == espyResult_Ok)
    {
        uint32_t first = (uint32_t)(dynamic ? espyiSectionKind_DynamicCells : espyiSectionKind_StaticCells);
        uint32_t indexBytes = espyiFile_IndexBytes(unpack.setCount);
        uint64_t setWords = (uint64_t)unpack.setCount * unpack.words;
        void* cells = espyiRewrite_Add(rewrite, first, indexBytes, pvs->cellCount);
        uint32_t* sets = espyiRewrite_Add(rewrite, first + 1u, 4, setWords);
        result = cells && sets ? espyResult_Ok : espyResult_OutOfMemory;
        for (uint32_t i = 0; result == espyResult_Ok && i < pvs->cellCount; ++i)
        {
            if (indexBytes == 2u)
            {
                ((uint16_t*)cells)[i] = (uint16_t)unpack.cells[i];
            }
            else
            {
                ((uint32_t*)cells)[i] = unpack.cells[i];
            }
        }
        if (result == espyResult_Ok && setWords > 0)
        {
            memcpy(sets, unpack.sets, (size_t)setWords * sizeof *sets);
        }
    }
    espyiFree(rewrite->hooks, unpack.cells);
    espyiFree(rewrite->hooks, unpack.sets);
    espyiFree(rewrite->hooks, unpack.slots);
    return result;
}

espyResult espyiPack_Unpack(const void* data, size_t size, const espyHooks* hooks, espyiPoll* poll, espyPackResult* out)
{
    *out = (espyPackResult){.hooks = espyiHooks_Resolve(hooks)};
    espyPvs pvs;
    espyResult result = espyiPvs_LoadPolled(&pvs, data, size, poll, &out->error);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiRewrite rewrite = {.hooks = &out->hooks, .source = &pvs, .major = ESPYI_FILE_MAJOR, .poll = poll};
    result = espyUnpack_AddTable(&pvs, false, &rewrite);
    if (result == espyResult_Ok && pvs.coarseFactor > 0)
    {
        result = espyUnpack_AddTable(&pvs, true, &rewrite);
    }
    if (result == espyResult_Ok)
    {
        result = espyiRewrite_Write(&rewrite, &out->data, &out->size);
    }
    espyiRewrite_Free(&rewrite);
    return result;
}

espyResult espyPack_Unpack(const void* data, size_t size, const espyHooks* hooks, espyPackResult* out)
{
    return espyiPack_Unpack(data, size, hooks, NULL, out);
}
