// SPDX-License-Identifier: MIT
// Changes the byte order of a .espy file, for cooks and for tools that read files of another machine.
//
// Only the directory is needed: each section says how wide its numbers are, so that sections of later versions are
// turned as well.
#include "bake/tables.h"
#include "core/core.h"
#include "pvs/format.h"

#include <string.h>

static void espyBytes_Reverse(uint8_t* bytes, size_t size, uint32_t unitBytes)
{
    for (size_t at = 0; at + unitBytes <= size; at += unitBytes)
    {
        for (uint32_t i = 0; i < unitBytes / 2u; ++i)
        {
            uint8_t swap = bytes[at + i];
            bytes[at + i] = bytes[at + unitBytes - 1u - i];
            bytes[at + unitBytes - 1u - i] = swap;
        }
    }
}

/// Header words in front of the 64-bit fields, the fields, and so on; what later versions append is 32-bit words.
static void espyFile_ReverseHeader(uint8_t* bytes, size_t headerBytes)
{
    static const size_t wide[] = {offsetof(espyiFileHeader, hash), offsetof(espyiFileHeader, fileBytes),
                                  offsetof(espyiFileHeader, seed), offsetof(espyiFileHeader, settingsHash),
                                  offsetof(espyiFileHeader, contentHash)};
    size_t at = 0;
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(wide); ++i)
    {
        espyBytes_Reverse(bytes + at, wide[i] - at, 4);
        espyBytes_Reverse(bytes + wide[i], 8, 8);
        at = wide[i] + 8u;
    }
    espyBytes_Reverse(bytes + at, headerBytes - at, 4);
}

static void espyFile_ReverseSection(espyiFileSection* section)
{
    uint8_t* bytes = (uint8_t*)section;
    espyBytes_Reverse(bytes, offsetof(espyiFileSection, offset), 4);
    espyBytes_Reverse(bytes + offsetof(espyiFileSection, offset), sizeof *section - offsetof(espyiFileSection, offset),
                      8);
}

/// Turns header, directory and sections. `directory` is readable before (to this machine) or after (away from it), so
/// the numbers that lead the way are taken at the right moment. Stops at the first number that leads out of the file.
static void espyFile_Reverse(uint8_t* bytes, size_t size, bool toNative)
{
    espyiFileHeader* header = (espyiFileHeader*)(void*)bytes;
    uint32_t headerBytes = header->headerBytes;
    uint32_t sectionCount = header->sectionCount;
    if (toNative)
    {
        espyBytes_Reverse((uint8_t*)&headerBytes, 4, 4);
        espyBytes_Reverse((uint8_t*)&sectionCount, 4, 4);
    }
    bool known = headerBytes >= sizeof *header && headerBytes % 16u == 0 && headerBytes <= size;
    espyFile_ReverseHeader(bytes, known ? headerBytes : sizeof *header);
    if (!known || sectionCount > (size - headerBytes) / sizeof(espyiFileSection))
    {
        return;
    }
    espyiFileSection* directory = (espyiFileSection*)(void*)(bytes + headerBytes);
    uint64_t end = headerBytes + (uint64_t)sectionCount * sizeof *directory;
    for (uint32_t i = 0; i < sectionCount; ++i)
    {
        if (toNative)
        {
            espyFile_ReverseSection(&directory[i]);
        }
        espyiFileSection section = directory[i];
        if (!toNative)
        {
            espyFile_ReverseSection(&directory[i]);
        }
        // Sections ascend, so that none can turn what was turned before.
        if (section.offset < end || section.offset > size || section.bytes > size - section.offset)
        {
            return;
        }
        end = section.offset + section.bytes;
        bool turned = section.unitBytes == 2u || section.unitBytes == 4u || section.unitBytes == 8u;
        espyBytes_Reverse(bytes + (size_t)section.offset, (size_t)section.bytes, turned ? section.unitBytes : 1u);
    }
}

/// The hash of a file of the other byte order: over its words as that machine reads them.
static uint64_t espyFile_HashSwapped(uint8_t* bytes, size_t size, espyiPoll* poll)
{
    uint8_t* version = bytes + offsetof(espyiFileHeader, version);
    uint8_t* start = bytes + ESPYI_FILE_HASH_START;
    size_t hashed = (size - ESPYI_FILE_HASH_START) / 4u * 4u;
    espyBytes_Reverse(version, 4, 4);
    espyBytes_Reverse(start, hashed, 4);
    uint64_t hash = espyiFile_Hash(bytes, size, poll);
    espyBytes_Reverse(version, 4, 4);
    espyBytes_Reverse(start, hashed, 4);
    return hash;
}

static void espyFile_ToNative(uint8_t* bytes, size_t size, espyiPoll* poll)
{
    espyiFileHeader* header = (espyiFileHeader*)(void*)bytes;
    uint64_t hash = espyFile_HashSwapped(bytes, size, poll);
    espyFile_Reverse(bytes, size, true);
    // The words changed, so the hash does; a file that was damaged stays so.
    uint64_t native = espyiFile_Hash(bytes, size, poll);
    header->hash = header->hash == hash ? native : ~native;
}

espyResult espyiBlob_ConvertByteOrder(const void* data, size_t size, bool bigEndian, void* out, const espyHooks* hooks,
                                      espyiPoll* poll, espyDataError* error)
{
    espyDataError ignored;
    espyDataError* failure = error ? error : &ignored;
    *failure = (espyDataError){espyResult_BadData, 0, "header"};
    if (!data || size < sizeof(espyiFileHeader))
    {
        return failure->result;
    }
    // Where the reader can read it, the room for the result is the copy.
    bool apart = out != data && ((uintptr_t)out & (ESPY_PVS_ALIGNMENT - 1u)) == 0;
    uint8_t* copy = apart ? out : espyiAlloc(hooks, size, 1);
    if (!copy)
    {
        *failure = (espyDataError){espyResult_OutOfMemory, 0, ""};
        return failure->result;
    }
    memcpy(copy, data, size);
    if (((const espyiFileHeader*)(const void*)copy)->magic == ESPYI_FILE_MAGIC_SWAPPED)
    {
        espyFile_ToNative(copy, size, poll);
    }
    espyPvs pvs;
    espyResult result = espyiPvs_LoadPolled(&pvs, copy, size, poll, failure);
    if (result == espyResult_Ok)
    {
        static const uint32_t one = 1;
        bool native = *(const uint8_t*)&one == 0;
        if (bigEndian != native)
        {
            espyFile_Reverse(copy, size, false);
            uint64_t hash = espyFile_HashSwapped(copy, size, poll);
            espyBytes_Reverse((uint8_t*)&hash, sizeof hash, sizeof hash);
            ((espyiFileHeader*)(void*)copy)->hash = hash;
        }
        result = espyiPoll_IsStopped(poll) ? espyResult_Cancelled : espyResult_Ok;
    }
    if (!apart)
    {
        if (result == espyResult_Ok)
        {
            memcpy(out, copy, size);
        }
        espyiFree(hooks, copy);
    }
    return result;
}

espyResult espyBake_ConvertByteOrder(const void* data, size_t size, bool bigEndian, void* out, espyDataError* error)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    return espyiBlob_ConvertByteOrder(data, size, bigEndian, out, &hooks, NULL, error);
}
