// SPDX-License-Identifier: MIT
// Reads records of culls and runs them again. Nothing in the bytes is trusted: every size is checked before it is used,
// and no more memory is asked for than the bytes themselves account for.
#include "world/cull_record.h"

#include <string.h>

#define ESPY_REPLAY_NONE 0xFFFFFFFFu
/// Files of one record: more than a recorder of one game would meet.
#define ESPY_REPLAY_MAX_FILES 4096u

typedef struct espyReplayFile
{
    void* bytes;
    espyPvs pvs;
} espyReplayFile;

/// The words of a chunk's payload, which start at any byte.
typedef struct espyReplayWords
{
    const uint8_t* bytes;
    uint64_t offset; ///< Of the payload in the record, for errors.
    size_t count, at;
} espyReplayWords;

typedef struct espyReplay
{
    const espyCullReplayDef* def;
    espyHooks hooks;
    espyReplayFile* files;
    size_t fileCount, fileCapacity;
    espyCullReplayResult* out;
    espyDataError error;
} espyReplay;

/// One call out of a record; the arrays are allocated.
typedef struct espyReplayCall
{
    uint32_t head[espyiRecordHead_Words];
    espyView view;
    espyViewSet sets[ESPY_CULL_RECORD_SETS + 1u];
    uint32_t* scratch[ESPY_CULL_RECORD_SETS + 1u];
    bool cellsDiffer;
    espyCullDraws draws;
    espyBox* boxes;
    uint32_t* words; ///< Slots, bitsets and the recorded lists, as they follow each other.
    uint32_t* lists; ///< What the replay finds: room for two lists of all draws.
    const uint32_t* drawList;
    const uint32_t* updateList;
} espyReplayCall;

espyCullReplayDef espyCullReplayDef_Default(void)
{
    return (espyCullReplayDef){.cookie = ESPY_DEF_COOKIE};
}

static espyResult espyReplay_Bad(espyReplay* replay, uint64_t offset, const char* field)
{
    replay->error = (espyDataError){espyResult_BadData, offset, field};
    return espyResult_BadData;
}

static uint32_t espyReplay_Word(const uint8_t* b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint64_t espyReplay_Word64(const uint8_t* b)
{
    return (uint64_t)espyReplay_Word(b) | (uint64_t)espyReplay_Word(b + 4) << 32;
}

/// The next word; the reader of a call has checked how many there are.
static uint32_t espyReplay_Next(espyReplayWords* words)
{
    return espyReplay_Word(words->bytes + 4u * words->at++);
}

static float espyReplay_NextFloat(espyReplayWords* words)
{
    uint32_t bits = espyReplay_Next(words);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static espyVec3 espyReplay_NextVec3(espyReplayWords* words)
{
    espyVec3 v;
    v.x = espyReplay_NextFloat(words);
    v.y = espyReplay_NextFloat(words);
    v.z = espyReplay_NextFloat(words);
    return v;
}

// --- files

static espyResult espyReplay_AddFile(espyReplay* replay, const espyReplayWords* words)
{
    size_t size = words->count * 4u;
    if (replay->fileCount == ESPY_REPLAY_MAX_FILES)
    {
        return espyReplay_Bad(replay, words->offset, "files");
    }
    void* grown = replay->files;
    if (!espyiGrow(&replay->hooks, &grown, &replay->fileCapacity, replay->fileCount + 1u, sizeof(espyReplayFile)))
    {
        return espyResult_OutOfMemory;
    }
    replay->files = (espyReplayFile*)grown;
    espyReplayFile file = {.bytes = espyiAlloc(&replay->hooks, size > 0 ? size : 1u, 1)};
    if (!file.bytes)
    {
        return espyResult_OutOfMemory;
    }
    memcpy(file.bytes, words->bytes, size);
    espyDataError error;
    espyResult result = espyPvs_Load(&file.pvs, file.bytes, size, &error);
    if (result != espyResult_Ok)
    {
        // Also a good file of the other byte order, or of a later version: recorded on another machine.
        espyiFree(&replay->hooks, file.bytes);
        replay->error = (espyDataError){result, words->offset + error.byteOffset, error.field};
        return result;
    }
    replay->files[replay->fileCount++] = file;
    return espyResult_Ok;
}

// --- a call

/// Checks the head, and that the payload is exactly as long as it says.
static espyResult espyReplay_ReadHead(espyReplay* replay, espyReplayWords* words, espyReplayCall* call)
{
    if (words->count < espyiRecordHead_Words + ESPYI_RECORD_VIEW_WORDS)
    {
        return espyReplay_Bad(replay, words->offset, "call.size");
    }
    for (uint32_t i = 0; i < espyiRecordHead_Words; ++i)
    {
        call->head[i] = espyReplay_Next(words);
    }
    const uint32_t* h = call->head;
    uint32_t bits = h[espyiRecordHead_Bits];
    uint32_t count = h[espyiRecordHead_Count];
    uint32_t total = h[espyiRecordHead_SetTotal];
    uint32_t eyeCount = espyReplay_Word(words->bytes + 4u * words->at);
    if ((bits & ~ESPYI_RECORD_ALL_BITS) != 0)
    {
        return espyReplay_Bad(replay, words->offset, "call.bits");
    }
    if (count == 0 || count > ESPY_CULL_MAX_DRAWS || h[espyiRecordHead_DrawCount] > count ||
        h[espyiRecordHead_UpdateCount] > count)
    {
        return espyReplay_Bad(replay, words->offset + 4u * espyiRecordHead_Count, "call.count");
    }
    if (h[espyiRecordHead_SetCount] > ESPY_CULL_RECORD_SETS || total < h[espyiRecordHead_SetCount] ||
        total > h[espyiRecordHead_SetCount] + 1u || h[espyiRecordHead_OwnSet] > total)
    {
        return espyReplay_Bad(replay, words->offset + 4u * espyiRecordHead_SetCount, "call.sets");
    }
    if (eyeCount > 2u)
    {
        return espyReplay_Bad(replay, words->offset + 4u * espyiRecordHead_Words, "call.eyeCount");
    }
    uint64_t wanted = espyiRecordHead_Words + ESPYI_RECORD_VIEW_WORDS + (uint64_t)eyeCount * ESPYI_RECORD_EYE_WORDS +
                      (uint64_t)total * ESPYI_RECORD_SET_WORDS + (uint64_t)count * 6u +
                      ((bits & ESPYI_RECORD_SLOTS) != 0 ? count : 0u) +
                      (uint64_t)espyiPopCount32(bits / ESPYI_RECORD_BITSET) * espyiBits_Words(count) +
                      h[espyiRecordHead_DrawCount] + h[espyiRecordHead_UpdateCount];
    return wanted == words->count ? espyResult_Ok : espyReplay_Bad(replay, words->offset, "call.size");
}

static void espyReplay_ReadView(espyReplayWords* words, espyView* view)
{
    view->eyeCount = espyReplay_Next(words);
    view->hasRectangle = espyReplay_Next(words) != 0;
    view->shadow = espyReplay_Next(words) != 0;
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        espyViewEye* eye = &view->eyes[i];
        eye->eye = espyReplay_NextVec3(words);
        for (uint32_t p = 0; p < 6; ++p)
        {
            eye->planes[p].normal = espyReplay_NextVec3(words);
            eye->planes[p].distance = espyReplay_NextFloat(words);
        }
        for (uint32_t c = 0; c < 4; ++c)
        {
            eye->corners[c] = espyReplay_NextVec3(words);
        }
        eye->cornerError = espyReplay_NextFloat(words);
    }
}

/// Looks each set up again in its file and compares the cells.
static espyResult espyReplay_ReadSets(espyReplay* replay, espyReplayWords* words, espyReplayCall* call)
{
    for (uint32_t i = 0; i < call->head[espyiRecordHead_SetTotal]; ++i)
    {
        uint64_t offset = words->offset + 4u * words->at;
        uint32_t file = espyReplay_Next(words);
        espyVec3 place = espyReplay_NextVec3(words);
        bool hasWords = espyReplay_Next(words) != 0;
        uint32_t cellCount = espyReplay_Next(words);
        int32_t cells[ESPY_VIEW_MAX_CELLS];
        for (uint32_t c = 0; c < ESPY_VIEW_MAX_CELLS; ++c)
        {
            cells[c] = (int32_t)espyReplay_Next(words);
        }
        if (cellCount > ESPY_VIEW_MAX_CELLS)
        {
            return espyReplay_Bad(replay, offset, "call.cellCount");
        }
        if (cellCount == 0)
        {
            // It said nothing then; the caller may have had reasons that are not in the record.
            continue;
        }
        if (file >= replay->fileCount)
        {
            return espyReplay_Bad(replay, offset, "call.file");
        }
        const espyPvs* pvs = &replay->files[file].pvs;
        size_t scratchWords = espyViewSet_ScratchWords(pvs);
        if (hasWords && scratchWords > 0)
        {
            call->scratch[i] = (uint32_t*)espyiAlloc(&replay->hooks, scratchWords, sizeof(uint32_t));
            if (!call->scratch[i])
            {
                return espyResult_OutOfMemory;
            }
        }
        espyViewSet* set = &call->sets[i];
        espyViewSet_Make(set, &call->view, pvs, place, call->scratch[i]);
        call->cellsDiffer = call->cellsDiffer || set->cellCount != cellCount ||
                            memcmp(set->cells, cells, cellCount * sizeof *cells) != 0;
    }
    return espyResult_Ok;
}

static espyResult espyReplay_ReadDraws(espyReplay* replay, espyReplayWords* words, espyReplayCall* call)
{
    uint32_t bits = call->head[espyiRecordHead_Bits];
    uint32_t count = call->head[espyiRecordHead_Count];
    call->boxes = (espyBox*)espyiAlloc(&replay->hooks, count, sizeof *call->boxes);
    call->lists = (uint32_t*)espyiAlloc(&replay->hooks, (size_t)count * 2u, sizeof *call->lists);
    if (!call->boxes || !call->lists)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        call->boxes[i].min = espyReplay_NextVec3(words);
        call->boxes[i].max = espyReplay_NextVec3(words);
    }
    size_t left = words->count - words->at;
    call->words = (uint32_t*)espyiAlloc(&replay->hooks, left > 0 ? left : 1u, sizeof *call->words);
    if (!call->words)
    {
        return espyResult_OutOfMemory;
    }
    for (size_t i = 0; i < left; ++i)
    {
        call->words[i] = espyReplay_Next(words);
    }
    const uint32_t* from = call->words;
    call->draws = (espyCullDraws){.boxes = espyCullBoxes_FromArray(call->boxes),
                                  .count = count,
                                  .firstIndex = call->head[espyiRecordHead_FirstIndex],
                                  .firstSlot = call->head[espyiRecordHead_FirstSlot]};
    if ((bits & ESPYI_RECORD_SLOTS) != 0)
    {
        call->draws.slots = from;
        from += count;
    }
    for (uint32_t i = 0; i < ESPYI_RECORD_BITSETS; ++i)
    {
        if ((bits & (ESPYI_RECORD_BITSET << i)) != 0)
        {
            *espyiRecord_Bitset(&call->draws, i) = from;
            from += espyiBits_Words(count);
        }
    }
    call->drawList = from;
    call->updateList = from + call->head[espyiRecordHead_DrawCount];
    return espyResult_Ok;
}

/// Lowest entry that is in one of two ascending lists only.
static uint32_t espyReplay_FirstDifference(const uint32_t* a, uint32_t aCount, const uint32_t* b, uint32_t bCount)
{
    uint32_t i = 0;
    while (i < aCount && i < bCount && a[i] == b[i])
    {
        ++i;
    }
    uint32_t first = i < aCount ? a[i] : ESPY_REPLAY_NONE;
    return i < bCount && b[i] < first ? b[i] : first;
}

static espyResult espyReplay_RunCall(espyReplay* replay, espyReplayCall* call)
{
    const uint32_t* h = call->head;
    espyCullInput input = {
        .view = &call->view,
        .draws = &call->draws,
        .set = h[espyiRecordHead_OwnSet] > 0 ? &call->sets[h[espyiRecordHead_OwnSet] - 1u] : NULL,
        .sets = call->sets,
        .setCount = h[espyiRecordHead_SetCount],
        .occlusion = (h[espyiRecordHead_Bits] & ESPYI_RECORD_OCCLUSION) != 0,
        .frustum = (h[espyiRecordHead_Bits] & ESPYI_RECORD_FRUSTUM) != 0,
        .isa = replay->def->isa,
        .tasks = &replay->def->tasks,
    };
    espyCullOutput output = {.drawList = call->lists};
    output.updateList = (h[espyiRecordHead_Bits] & ESPYI_RECORD_UPDATES) != 0 ? call->lists + h[1] : NULL;
    espyResult result = espyCull_Run(&input, &output);
    if (result != espyResult_Ok)
    {
        return result;
    }
    const uint32_t counts[6] = {output.counts.drawn,  output.counts.frustumCulled, output.counts.occlusionCulled,
                                output.counts.hidden, output.counts.withoutShadow, output.counts.updatedCulled};
    uint32_t draw =
        espyReplay_FirstDifference(output.drawList, output.drawCount, call->drawList, h[espyiRecordHead_DrawCount]);
    uint32_t update = espyReplay_FirstDifference(output.updateList, output.updateCount, call->updateList,
                                                 h[espyiRecordHead_UpdateCount]);
    update = update < draw ? update : draw;
    espyCullReplayResult* out = replay->out;
    if (call->cellsDiffer || update != ESPY_REPLAY_NONE ||
        memcmp(counts, h + espyiRecordHead_Counts, sizeof counts) != 0)
    {
        if (out->differing++ == 0)
        {
            out->firstCall = out->calls;
            out->firstDraw = update;
        }
    }
    ++out->calls;
    return espyResult_Ok;
}

static espyResult espyReplay_Call(espyReplay* replay, espyReplayWords* words)
{
    // Some 9 KB: the caller's stack holds it.
    espyReplayCall call = {.boxes = NULL};
    espyResult result = espyReplay_ReadHead(replay, words, &call);
    if (result == espyResult_Ok)
    {
        espyReplay_ReadView(words, &call.view);
        result = espyReplay_ReadSets(replay, words, &call);
    }
    if (result == espyResult_Ok)
    {
        result = espyReplay_ReadDraws(replay, words, &call);
    }
    if (result == espyResult_Ok)
    {
        result = espyReplay_RunCall(replay, &call);
    }
    for (uint32_t i = 0; i < ESPY_CULL_RECORD_SETS + 1u; ++i)
    {
        espyiFree(&replay->hooks, call.scratch[i]);
    }
    espyiFree(&replay->hooks, call.lists);
    espyiFree(&replay->hooks, call.words);
    espyiFree(&replay->hooks, call.boxes);
    return result;
}

// --- the record

static uint64_t espyReplay_Hash(const uint8_t* bytes, size_t size, uint32_t kind)
{
    uint64_t hash = kind;
    for (size_t at = 0; at < size; at += ESPYI_RECORD_BLOCK_BYTES)
    {
        size_t left = size - at;
        hash = espyiHash_Bytes(hash, bytes + at, left < ESPYI_RECORD_BLOCK_BYTES ? left : ESPYI_RECORD_BLOCK_BYTES);
    }
    return hash;
}

static espyResult espyReplay_Chunks(espyReplay* replay, const uint8_t* bytes, size_t size)
{
    if (size < ESPYI_RECORD_HEADER_BYTES || espyReplay_Word(bytes) != ESPYI_RECORD_MAGIC_LOW ||
        espyReplay_Word(bytes + 4) != ESPYI_RECORD_MAGIC_HIGH)
    {
        return espyReplay_Bad(replay, 0, "magic");
    }
    if (espyReplay_Word(bytes + 12) != 0)
    {
        return espyReplay_Bad(replay, 12, "reserved");
    }
    if (espyReplay_Word(bytes + 8) != ESPYI_RECORD_VERSION)
    {
        replay->error = (espyDataError){espyResult_UnsupportedVersion, 8, "version"};
        return espyResult_UnsupportedVersion;
    }
    for (size_t at = ESPYI_RECORD_HEADER_BYTES; at < size;)
    {
        if (size - at < ESPYI_RECORD_CHUNK_BYTES + ESPYI_RECORD_HASH_BYTES)
        {
            return espyReplay_Bad(replay, at, "chunk");
        }
        uint32_t kind = espyReplay_Word(bytes + at);
        uint64_t payload = espyReplay_Word64(bytes + at + 8);
        size_t room = size - at - ESPYI_RECORD_CHUNK_BYTES - ESPYI_RECORD_HASH_BYTES;
        if (payload > room || payload % 4u != 0 || espyReplay_Word(bytes + at + 4) != 0)
        {
            return espyReplay_Bad(replay, at, "chunk.size");
        }
        const uint8_t* body = bytes + at + ESPYI_RECORD_CHUNK_BYTES;
        if (espyReplay_Word64(body + payload) != espyReplay_Hash(body, (size_t)payload, kind))
        {
            return espyReplay_Bad(replay, at, "chunk.hash");
        }
        espyReplayWords words = {body, at + ESPYI_RECORD_CHUNK_BYTES, (size_t)payload / 4u, 0};
        espyResult result = kind == ESPYI_RECORD_FILE   ? espyReplay_AddFile(replay, &words)
                            : kind == ESPYI_RECORD_CALL ? espyReplay_Call(replay, &words)
                                                        : espyReplay_Bad(replay, at, "chunk.kind");
        if (result != espyResult_Ok)
        {
            return result;
        }
        at += ESPYI_RECORD_CHUNK_BYTES + (size_t)payload + ESPYI_RECORD_HASH_BYTES;
    }
    return espyResult_Ok;
}

espyResult espyCullReplay_Run(const void* bytes, size_t size, const espyCullReplayDef* def, espyCullReplayResult* out,
                              espyDataError* error)
{
    if (!ESPYI_CHECK(def ? &def->hooks : NULL, (bytes != NULL || size == 0) && def != NULL && out != NULL) ||
        !ESPYI_CHECK(&def->hooks, def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyCullReplayResult){.firstDraw = ESPY_REPLAY_NONE};
    espyReplay replay = {.def = def, .hooks = espyiHooks_Resolve(&def->hooks), .out = out};
    espyResult result = espyReplay_Chunks(&replay, (const uint8_t*)bytes, size);
    for (size_t i = 0; i < replay.fileCount; ++i)
    {
        espyiFree(&replay.hooks, replay.files[i].bytes);
    }
    espyiFree(&replay.hooks, replay.files);
    if (error)
    {
        *error = (espyDataError){result, replay.error.byteOffset, replay.error.field ? replay.error.field : ""};
    }
    return result;
}
