// SPDX-License-Identifier: MIT
// Names of results and messages, version, hash, and the calls through hooks. No library call.
#include "core/core.h"

typedef struct espyMessageEntry
{
    espyMessageId id;
    espyLogLevel level;
    const char* name;
    const char* text;
} espyMessageEntry;

static const espyMessageEntry espyMessages[] = {
#define ESPY_MESSAGE(name, number, level, text) {espyMessageId_##name, espyLogLevel_##level, #name, text},
#include <espy/messages.inl>
#undef ESPY_MESSAGE
};

static const espyMessageEntry* espyMessage_Find(espyMessageId id)
{
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(espyMessages); ++i)
    {
        if (espyMessages[i].id == id)
        {
            return &espyMessages[i];
        }
    }
    return NULL;
}

const char* espyMessage_GetText(espyMessageId id)
{
    const espyMessageEntry* entry = espyMessage_Find(id);
    return entry ? entry->text : "";
}

const char* espyMessage_GetName(espyMessageId id)
{
    const espyMessageEntry* entry = espyMessage_Find(id);
    return entry ? entry->name : "";
}

espyLogLevel espyMessage_GetLevel(espyMessageId id)
{
    const espyMessageEntry* entry = espyMessage_Find(id);
    return entry ? entry->level : espyLogLevel_Info;
}

const char* espyResult_GetName(espyResult result)
{
    static const char* const names[] = {
        "Ok",      "InvalidArgument",    "InvalidId",      "OutOfMemory", "LimitExceeded",
        "BadData", "UnsupportedVersion", "WrongByteOrder", "Misaligned",  "Cancelled",
        "Io",      "NotFound",           "Unsupported",    "DeviceLost",
    };
    return (size_t)result < ESPYI_ARRAY_COUNT(names) ? names[result] : "Unknown";
}

int32_t espyLib_GetVersion(void)
{
    return ESPY_VERSION_MAJOR * 10000 + ESPY_VERSION_MINOR * 100 + ESPY_VERSION_PATCH;
}

uint64_t espyiHash_Words(uint64_t seed, const uint32_t* words, size_t count)
{
    uint64_t h = espyiHash_Begin(seed, count);
    for (size_t i = 0; i < count; ++i)
    {
        h = espyiHash_AddWord(h, words[i]);
    }
    return espyiHash_Mix(h);
}

uint64_t espyiHash_Bytes(uint64_t seed, const void* bytes, size_t size)
{
    const uint8_t* p = (const uint8_t*)bytes;
    uint64_t h = espyiHash_Begin(seed, size);
    while (size > 0)
    {
        // Assembled by shifts, so that the hash does not depend on byte order.
        uint32_t word = 0;
        size_t take = size < 4 ? size : 4;
        for (size_t i = 0; i < take; ++i)
        {
            word |= (uint32_t)p[i] << (8u * (uint32_t)i);
        }
        h = espyiHash_AddWord(h, word);
        p += take;
        size -= take;
    }
    return espyiHash_Mix(h);
}

void* espyiAlloc(const espyHooks* hooks, size_t count, size_t size)
{
    size_t bytes;
    if (!espyiMulSize(count, size, &bytes) || bytes == 0)
    {
        return NULL;
    }
    uint8_t* p = (uint8_t*)hooks->alloc(bytes, 64, hooks->context);
    if (p)
    {
        for (size_t i = 0; i < bytes; ++i)
        {
            p[i] = 0;
        }
    }
    return p;
}

bool espyiGrow(const espyHooks* hooks, void** array, size_t* capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
    {
        return true;
    }
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < needed)
    {
        if (wanted > SIZE_MAX / 2)
        {
            return false;
        }
        wanted *= 2;
    }
    uint8_t* grown = (uint8_t*)espyiAlloc(hooks, wanted, size);
    if (!grown)
    {
        return false;
    }
    const uint8_t* old = (const uint8_t*)*array;
    for (size_t i = 0; i < *capacity * size; ++i)
    {
        grown[i] = old[i];
    }
    hooks->free(*array, hooks->context);
    *array = grown;
    *capacity = wanted;
    return true;
}

void espyiFree(const espyHooks* hooks, void* pointer)
{
    if (pointer)
    {
        hooks->free(pointer, hooks->context);
    }
}

void espyiHooks_AssertFail(const espyHooks* hooks, const char* condition, const char* function)
{
    if (hooks && hooks->assertFail)
    {
        hooks->assertFail(condition, function, hooks->context);
    }
}
