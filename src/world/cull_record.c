// SPDX-License-Identifier: MIT
// Writes records of culls. No allocation, no library call but memcpy.
#include "world/cull_record.h"

#include <string.h>

/// A chunk on its way out.
typedef struct espyRecordChunk
{
    espyCullRecorder* recorder;
    uint64_t hash;
    uint32_t used;
    uint8_t block[ESPYI_RECORD_BLOCK_BYTES];
} espyRecordChunk;

static void espyRecord_PutWord(uint8_t* to, uint32_t word)
{
    for (uint32_t i = 0; i < 4; ++i)
    {
        to[i] = (uint8_t)(word >> (8u * i));
    }
}

static void espyRecord_Write(espyCullRecorder* recorder, const void* bytes, size_t size)
{
    if (recorder->result == espyResult_Ok && !recorder->write(bytes, size, recorder->context))
    {
        recorder->result = espyResult_Io;
    }
}

static void espyRecord_Flush(espyRecordChunk* chunk)
{
    if (chunk->used > 0)
    {
        chunk->hash = espyiHash_Bytes(chunk->hash, chunk->block, chunk->used);
        espyRecord_Write(chunk->recorder, chunk->block, chunk->used);
        chunk->used = 0;
    }
}

static void espyRecord_Word(espyRecordChunk* chunk, uint32_t word)
{
    espyRecord_PutWord(chunk->block + chunk->used, word);
    chunk->used += 4u;
    if (chunk->used == ESPYI_RECORD_BLOCK_BYTES)
    {
        espyRecord_Flush(chunk);
    }
}

static void espyRecord_Words(espyRecordChunk* chunk, const uint32_t* words, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        espyRecord_Word(chunk, words[i]);
    }
}

static void espyRecord_Float(espyRecordChunk* chunk, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    espyRecord_Word(chunk, bits);
}

static void espyRecord_Vec3(espyRecordChunk* chunk, espyVec3 v)
{
    espyRecord_Float(chunk, v.x);
    espyRecord_Float(chunk, v.y);
    espyRecord_Float(chunk, v.z);
}

static void espyRecord_Open(espyRecordChunk* chunk, espyCullRecorder* recorder, uint32_t kind, uint64_t payload)
{
    uint8_t head[ESPYI_RECORD_CHUNK_BYTES] = {0};
    espyRecord_PutWord(head, kind);
    espyRecord_PutWord(head + 8, (uint32_t)payload);
    espyRecord_PutWord(head + 12, (uint32_t)(payload >> 32));
    espyRecord_Write(recorder, head, sizeof head);
    chunk->recorder = recorder;
    chunk->hash = kind;
    chunk->used = 0;
}

static void espyRecord_Close(espyRecordChunk* chunk)
{
    uint8_t tail[ESPYI_RECORD_HASH_BYTES];
    espyRecord_Flush(chunk);
    espyRecord_PutWord(tail, (uint32_t)chunk->hash);
    espyRecord_PutWord(tail + 4, (uint32_t)(chunk->hash >> 32));
    espyRecord_Write(chunk->recorder, tail, sizeof tail);
}

// --- files

static void espyRecord_WriteFile(espyCullRecorder* recorder, const espyPvs* pvs)
{
    espyRecordChunk chunk;
    size_t words = pvs->size / 4u;
    espyRecord_Open(&chunk, recorder, ESPYI_RECORD_FILE, (uint64_t)(words + (pvs->size % 4u != 0 ? 1u : 0u)) * 4u);
    for (size_t i = 0; i < pvs->size; i += 4u)
    {
        uint32_t word = 0;
        for (uint32_t k = 0; k < 4u && i + k < pvs->size; ++k)
        {
            word |= (uint32_t)pvs->bytes[i + k] << (8u * k);
        }
        espyRecord_Word(&chunk, word);
    }
    espyRecord_Close(&chunk);
}

/// Number of a file in the record, which it is written to where it is not yet. By content: memory may be used again.
static uint32_t espyRecord_File(espyCullRecorder* recorder, const espyPvs* pvs)
{
    uint64_t hash = espyiHash_Bytes(pvs->size, pvs->bytes, pvs->size);
    uint32_t known = recorder->fileCount < ESPY_CULL_RECORDER_FILES ? recorder->fileCount : ESPY_CULL_RECORDER_FILES;
    for (uint32_t i = 0; i < known; ++i)
    {
        if (recorder->fileHashes[i] == hash)
        {
            return i;
        }
    }
    if (known < ESPY_CULL_RECORDER_FILES)
    {
        recorder->fileHashes[known] = hash;
    }
    espyRecord_WriteFile(recorder, pvs);
    return recorder->fileCount++;
}

// --- calls

/// All sets of a call: those for moved draws, then the slots' own where it is another. Returns how many.
static uint32_t espyRecord_Sets(const espyCullInput* input, const espyViewSet* out[ESPY_CULL_RECORD_SETS],
                                uint32_t* own)
{
    uint32_t total = input->setCount;
    *own = 0;
    for (uint32_t i = 0; i < input->setCount; ++i)
    {
        out[i] = &input->sets[i];
        *own = input->set == out[i] ? i + 1u : *own;
    }
    if (input->set && *own == 0)
    {
        out[total] = input->set;
        *own = ++total;
    }
    return total;
}

static uint32_t espyRecord_Bits(const espyCullInput* input, const espyCullOutput* output)
{
    espyCullDraws draws = *input->draws;
    uint32_t bits = (input->occlusion ? ESPYI_RECORD_OCCLUSION : 0u) | (input->frustum ? ESPYI_RECORD_FRUSTUM : 0u) |
                    (draws.slots ? ESPYI_RECORD_SLOTS : 0u) | (output->updateList ? ESPYI_RECORD_UPDATES : 0u);
    for (uint32_t i = 0; i < ESPYI_RECORD_BITSETS; ++i)
    {
        bits |= *espyiRecord_Bitset(&draws, i) ? ESPYI_RECORD_BITSET << i : 0u;
    }
    return bits;
}

static void espyRecord_View(espyRecordChunk* chunk, const espyView* view)
{
    espyRecord_Word(chunk, view->eyeCount);
    espyRecord_Word(chunk, view->hasRectangle ? 1u : 0u);
    espyRecord_Word(chunk, view->shadow ? 1u : 0u);
    for (uint32_t i = 0; i < view->eyeCount; ++i)
    {
        const espyViewEye* eye = &view->eyes[i];
        espyRecord_Vec3(chunk, eye->eye);
        for (uint32_t p = 0; p < 6; ++p)
        {
            espyRecord_Vec3(chunk, eye->planes[p].normal);
            espyRecord_Float(chunk, eye->planes[p].distance);
        }
        for (uint32_t c = 0; c < 4; ++c)
        {
            espyRecord_Vec3(chunk, eye->corners[c]);
        }
        espyRecord_Float(chunk, eye->cornerError);
    }
}

static void espyRecord_Draws(espyRecordChunk* chunk, const espyCullDraws* from)
{
    espyCullDraws draws = *from;
    const espyCullBoxes* b = &draws.boxes;
    for (uint32_t i = 0; i < draws.count; ++i)
    {
        size_t at = (size_t)i * b->stride;
        espyRecord_Vec3(chunk, (espyVec3){b->minX[at], b->minY[at], b->minZ[at]});
        espyRecord_Vec3(chunk, (espyVec3){b->maxX[at], b->maxY[at], b->maxZ[at]});
    }
    espyRecord_Words(chunk, draws.slots, draws.slots ? draws.count : 0);
    for (uint32_t i = 0; i < ESPYI_RECORD_BITSETS; ++i)
    {
        const uint32_t* words = *espyiRecord_Bitset(&draws, i);
        espyRecord_Words(chunk, words, words ? espyiBits_Words(draws.count) : 0);
    }
}

/// `before` is the output as the cull found it.
static void espyRecord_Call(espyCullRecorder* recorder, const espyCullInput* input, const espyCullOutput* before,
                            const espyCullOutput* output)
{
    const espyViewSet* sets[ESPY_CULL_RECORD_SETS + 1u];
    uint32_t files[ESPY_CULL_RECORD_SETS + 1u];
    uint32_t own;
    uint32_t setTotal = espyRecord_Sets(input, sets, &own);
    for (uint32_t i = 0; i < setTotal; ++i)
    {
        // A set that says nothing needs no file.
        files[i] = sets[i]->cellCount > 0 ? espyRecord_File(recorder, sets[i]->pvs) : 0;
    }
    const espyCullDraws* draws = input->draws;
    uint32_t bits = espyRecord_Bits(input, output);
    uint32_t drawn = output->drawCount - before->drawCount;
    uint32_t updated = output->updateCount - before->updateCount;
    uint64_t words =
        espyiRecordHead_Words + ESPYI_RECORD_VIEW_WORDS + (uint64_t)input->view->eyeCount * ESPYI_RECORD_EYE_WORDS +
        (uint64_t)setTotal * ESPYI_RECORD_SET_WORDS + (uint64_t)draws->count * 6u + (draws->slots ? draws->count : 0u) +
        (uint64_t)espyiPopCount32(bits / ESPYI_RECORD_BITSET) * espyiBits_Words(draws->count) + drawn + updated;
    espyRecordChunk chunk;
    espyRecord_Open(&chunk, recorder, ESPYI_RECORD_CALL, words * 4u);
    const uint32_t head[espyiRecordHead_Words] = {
        bits,
        draws->count,
        draws->firstIndex,
        draws->firstSlot,
        input->setCount,
        setTotal,
        own,
        drawn,
        updated,
        output->counts.drawn - before->counts.drawn,
        output->counts.frustumCulled - before->counts.frustumCulled,
        output->counts.occlusionCulled - before->counts.occlusionCulled,
        output->counts.hidden - before->counts.hidden,
        output->counts.withoutShadow - before->counts.withoutShadow,
        output->counts.updatedCulled - before->counts.updatedCulled,
    };
    espyRecord_Words(&chunk, head, espyiRecordHead_Words);
    espyRecord_View(&chunk, input->view);
    for (uint32_t i = 0; i < setTotal; ++i)
    {
        espyRecord_Word(&chunk, files[i]);
        espyRecord_Vec3(&chunk, sets[i]->offset);
        espyRecord_Word(&chunk, sets[i]->set ? 1u : 0u);
        espyRecord_Word(&chunk, sets[i]->cellCount);
        for (uint32_t c = 0; c < ESPY_VIEW_MAX_CELLS; ++c)
        {
            espyRecord_Word(&chunk, c < sets[i]->cellCount ? (uint32_t)sets[i]->cells[c] : 0u);
        }
    }
    espyRecord_Draws(&chunk, draws);
    espyRecord_Words(&chunk, output->drawList + before->drawCount, drawn);
    espyRecord_Words(&chunk, output->updateList ? output->updateList + before->updateCount : NULL, updated);
    espyRecord_Close(&chunk);
}

espyResult espyCullRecorder_Run(espyCullRecorder* recorder, const espyCullInput* input, espyCullOutput* output)
{
    if (!input || !output || !recorder || !recorder->write || recorder->result != espyResult_Ok)
    {
        return espyCull_Run(input, output);
    }
    espyCullOutput before = *output;
    espyResult result = espyCull_Run(input, output);
    if (result != espyResult_Ok || input->draws->count == 0)
    {
        return result;
    }
    if (input->setCount > ESPY_CULL_RECORD_SETS)
    {
        recorder->result = espyResult_LimitExceeded;
        return result;
    }
    if (!recorder->started)
    {
        uint8_t header[ESPYI_RECORD_HEADER_BYTES] = {0};
        espyRecord_PutWord(header, ESPYI_RECORD_MAGIC_LOW);
        espyRecord_PutWord(header + 4, ESPYI_RECORD_MAGIC_HIGH);
        espyRecord_PutWord(header + 8, ESPYI_RECORD_VERSION);
        espyRecord_Write(recorder, header, sizeof header);
        recorder->started = true;
    }
    espyRecord_Call(recorder, input, &before, output);
    return result;
}
