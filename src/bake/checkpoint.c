// SPDX-License-Identifier: MIT
// Finished columns in an append-only file, so that a bake that was killed goes on where it was.
//
// Every record carries a checksum over itself and the checksum before it: a torn tail, or what an earlier and longer
// file left behind the end, never passes for a record. Columns do not depend on each other, so which ones were finished
// never changes the result. The file is of this machine only: another byte order does not read as a checkpoint.
#include "bake/bake_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define ESPY_CHECKPOINT_MAGIC 0x45535059434B3031ull
#define ESPY_CHECKPOINT_MAX_RUN 0xFFFFu

typedef struct espyCheckpointHeader
{
    uint64_t magic, bakeHash;
    uint32_t columnCount, cellCount;
    uint64_t check;
} espyCheckpointHeader;

typedef struct espyCheckpointRecord
{
    uint32_t column, payloadWords;
    espyiTargetCounts counts;
    uint64_t check; // Of the fields above, the payload, and the check before.
} espyCheckpointRecord;

struct espyiCheckpoint
{
    espyHooks hooks;
    FILE* file;
    char* path;
    uint32_t columnCount, cellCount, words;
    uint64_t check;
    uint32_t* buffer; // One encoded column: never more than words + words / ESPY_CHECKPOINT_MAX_RUN + 2.
    size_t bufferWords;
    pthread_mutex_t lock;
};

// Runs of zero words and literal words: a token zeros | literals << 16, then the literals.
static uint32_t espyCheckpoint_Encode(const uint32_t* bits, uint32_t words, uint32_t* out)
{
    uint32_t used = 0, i = 0;
    while (i < words)
    {
        uint32_t zeros = 0, literals = 0;
        while (i + zeros < words && zeros < ESPY_CHECKPOINT_MAX_RUN && bits[i + zeros] == 0)
        {
            ++zeros;
        }
        i += zeros;
        // A lone zero word inside literals costs less than a token.
        while (i + literals < words && literals < ESPY_CHECKPOINT_MAX_RUN &&
               !(bits[i + literals] == 0 && i + literals + 1 < words && bits[i + literals + 1] == 0))
        {
            ++literals;
        }
        out[used++] = zeros | literals << 16;
        memcpy(out + used, bits + i, literals * sizeof *bits);
        used += literals;
        i += literals;
    }
    return used;
}

static bool espyCheckpoint_Decode(const uint32_t* in, uint32_t inWords, uint32_t* bits, uint32_t words)
{
    uint32_t at = 0, i = 0;
    memset(bits, 0, words * sizeof *bits);
    while (at < inWords)
    {
        uint32_t zeros = in[at] & 0xFFFFu, literals = in[at] >> 16;
        ++at;
        if (zeros > words - i || literals > words - i - zeros || literals > inWords - at)
        {
            return false;
        }
        i += zeros;
        memcpy(bits + i, in + at, literals * sizeof *bits);
        at += literals;
        i += literals;
    }
    return i == words;
}

static uint64_t espyCheckpoint_Check(uint64_t before, const espyCheckpointRecord* record, const uint32_t* payload)
{
    espyCheckpointRecord copy = *record;
    copy.check = before;
    return espyiHash_Words(espyiHash_Bytes(0, &copy, sizeof copy), payload, record->payloadWords);
}

static uint64_t espyCheckpoint_HeaderCheck(const espyCheckpointHeader* header)
{
    espyCheckpointHeader copy = *header;
    copy.check = 0;
    return espyiHash_Bytes(header->bakeHash, &copy, sizeof copy);
}

// Hands every good record over; leaves the file positioned behind the last one. False: out of memory.
static bool espyCheckpoint_Restore(espyiCheckpoint* c, espyiCheckpointFn* restore, void* context)
{
    uint32_t* bits = espyiAlloc(&c->hooks, c->words, sizeof *bits);
    bool ok = bits != NULL;
    long good = (long)sizeof(espyCheckpointHeader);
    espyCheckpointRecord record;
    while (ok && fread(&record, sizeof record, 1, c->file) == 1)
    {
        if (record.column >= c->columnCount || record.payloadWords > c->bufferWords ||
            fread(c->buffer, sizeof *c->buffer, record.payloadWords, c->file) != record.payloadWords ||
            espyCheckpoint_Check(c->check, &record, c->buffer) != record.check ||
            !espyCheckpoint_Decode(c->buffer, record.payloadWords, bits, c->words))
        {
            break;
        }
        c->check = record.check;
        good = ftell(c->file);
        ok = restore(context, record.column, bits, &record.counts);
    }
    espyiFree(&c->hooks, bits);
    return ok && fseek(c->file, good, SEEK_SET) == 0;
}

static bool espyCheckpoint_Start(espyiCheckpoint* c, const espyCheckpointHeader* header)
{
    if (c->file)
    {
        fclose(c->file);
    }
    c->file = fopen(c->path, "w+b");
    return c->file && fwrite(header, sizeof *header, 1, c->file) == 1 && fflush(c->file) == 0;
}

static espyResult espyCheckpoint_Read(espyiCheckpoint* c, espyCheckpointHeader header, espyiWarnings* warnings,
                                      espyiCheckpointFn* restore, void* context)
{
    espyCheckpointHeader found;
    const char* reason = NULL;
    c->file = fopen(c->path, "r+b");
    if (!c->file && errno != ENOENT)
    {
        return espyResult_Io;
    }
    if (c->file)
    {
        // A bake that was killed at once leaves an empty file, or the front of the header.
        size_t size = fread(&found, 1, sizeof found, c->file);
        if (ferror(c->file))
        {
            return espyResult_Io;
        }
        // What is something else altogether is somebody's work under a mistyped name.
        size_t known = size < sizeof found.magic ? size : sizeof found.magic;
        if (memcmp(&found, &header, known) != 0)
        {
            return espyResult_BadData;
        }
        bool whole = size == sizeof found && found.check == espyCheckpoint_HeaderCheck(&found);
        reason = size == 0 || whole ? NULL : "it is damaged";
        if (whole && found.check != header.check)
        {
            reason = "it is of another level or other settings";
            whole = false;
        }
        if (whole)
        {
            return espyCheckpoint_Restore(c, restore, context) ? espyResult_Ok : espyResult_OutOfMemory;
        }
    }
    if (reason && !espyiWarnings_Add(warnings, espyMessageId_BakeCheckpointUnusable, -1, reason))
    {
        return espyResult_OutOfMemory;
    }
    return espyCheckpoint_Start(c, &header) ? espyResult_Ok : espyResult_Io;
}

espyResult espyiCheckpoint_Open(const char* path, uint64_t bakeHash, uint32_t columnCount, uint32_t cellCount,
                                espyiWarnings* warnings, const espyHooks* hooks, espyiCheckpointFn* restore,
                                void* context, espyiCheckpoint** out)
{
    *out = NULL;
    espyiCheckpoint* c = espyiAlloc(hooks, 1, sizeof *c);
    if (!c)
    {
        return espyResult_OutOfMemory;
    }
    c->hooks = *hooks;
    c->columnCount = columnCount;
    c->cellCount = cellCount;
    c->words = espyiBits_Words(cellCount);
    c->bufferWords = (size_t)c->words + c->words / 2u + 2u;
    c->buffer = espyiAlloc(hooks, c->bufferWords, sizeof *c->buffer);
    size_t length = strlen(path) + 1;
    c->path = espyiAlloc(hooks, length, 1);
    pthread_mutex_init(&c->lock, NULL);
    espyResult result = espyResult_OutOfMemory;
    if (c->buffer && c->path)
    {
        memcpy(c->path, path, length);
        espyCheckpointHeader header = {ESPY_CHECKPOINT_MAGIC, bakeHash, columnCount, cellCount, 0};
        header.check = espyCheckpoint_HeaderCheck(&header);
        c->check = header.check;
        result = espyCheckpoint_Read(c, header, warnings, restore, context);
    }
    if (result != espyResult_Ok)
    {
        espyiCheckpoint_Close(c, false);
        return result;
    }
    *out = c;
    return espyResult_Ok;
}

bool espyiCheckpoint_Append(espyiCheckpoint* c, uint32_t column, const uint32_t* cellBits,
                            const espyiTargetCounts* counts)
{
    pthread_mutex_lock(&c->lock);
    espyCheckpointRecord record = {.column = column, .counts = *counts};
    record.payloadWords = espyCheckpoint_Encode(cellBits, c->words, c->buffer);
    record.check = espyCheckpoint_Check(c->check, &record, c->buffer);
    c->check = record.check;
    bool written = fwrite(&record, sizeof record, 1, c->file) == 1 &&
                   fwrite(c->buffer, sizeof *c->buffer, record.payloadWords, c->file) == record.payloadWords &&
                   fflush(c->file) == 0;
    pthread_mutex_unlock(&c->lock);
    return written;
}

void espyiCheckpoint_Close(espyiCheckpoint* c, bool removeFile)
{
    if (!c)
    {
        return;
    }
    if (c->file)
    {
        fclose(c->file);
    }
    if (removeFile)
    {
        remove(c->path);
    }
    pthread_mutex_destroy(&c->lock);
    espyHooks hooks = c->hooks;
    espyiFree(&hooks, c->buffer);
    espyiFree(&hooks, c->path);
    espyiFree(&hooks, c);
}
