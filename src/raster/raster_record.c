// SPDX-License-Identifier: MIT
// Frames as bytes: every call that draws or tests, with its geometry and answer, and their repetition.
//
// Layout: "ESPYRAS1", then six words (mode, width, height, ids, reversed depth, sub-pixel bits), then calls: a word
// that names it and its fields. Words and floats have 32 bits, little endian. Occluders are written as they were
// prepared, because what a batch may claim depends on which triangles are in it.
#include "raster/raster_internal.h"

#include <string.h>

static const char espyRecord_Magic[8] = {'E', 'S', 'P', 'Y', 'R', 'A', 'S', '1'};

typedef enum espyRecordCall
{
    espyRecordCall_View = 1,
    espyRecordCall_Triangles,
    espyRecordCall_Occluder,
    espyRecordCall_Rect,
    espyRecordCall_Box,
    espyRecordCall_Mesh,
} espyRecordCall;

struct espyRecording
{
    espyHooks hooks;
    uint8_t* bytes;
    size_t size, capacity;
    bool failed;
};

espyResult espyRecording_Create(const espyHooks* hooks, espyRecording** out)
{
    espyHooks resolved = espyiHooks_Resolve(hooks);
    *out = espyiAlloc(&resolved, 1, sizeof **out);
    if (!*out)
    {
        return espyResult_OutOfMemory;
    }
    (*out)->hooks = resolved;
    return espyResult_Ok;
}

void espyRecording_Destroy(espyRecording* recording)
{
    if (recording)
    {
        espyHooks hooks = recording->hooks;
        espyiFree(&hooks, recording->bytes);
        espyiFree(&hooks, recording);
    }
}

const void* espyRecording_GetBytes(const espyRecording* recording, size_t* size)
{
    *size = recording->failed ? 0 : recording->size;
    return recording->failed ? NULL : recording->bytes;
}

// --- writing

static void espyRecord_Bytes(espyRecording* recording, const void* bytes, size_t size)
{
    size_t needed;
    recording->failed = recording->failed || !espyiAddSize(recording->size, size, &needed) ||
                        !espyiGrow(&recording->hooks, (void**)&recording->bytes, &recording->capacity, needed, 1);
    if (!recording->failed && size > 0)
    {
        memcpy(recording->bytes + recording->size, bytes, size);
        recording->size += size;
    }
}

static void espyRecord_Word(espyRecording* recording, uint32_t word)
{
    const uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    espyRecord_Bytes(recording, bytes, sizeof bytes);
}

static void espyRecord_Floats(espyRecording* recording, const float* values, size_t count)
{
    for (size_t i = 0; i < count; ++i)
    {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        espyRecord_Word(recording, word);
    }
}

static void espyRecord_Matrix(espyRecording* recording, const espyMat4* matrix)
{
    espyRecord_Word(recording, matrix ? 1 : 0);
    if (matrix)
    {
        espyRecord_Floats(recording, matrix->m, 16);
    }
}

static void espyRecord_Geometry(espyRecording* recording, const espyTriangles* triangles)
{
    espyRecord_Word(recording, triangles->vertexCount);
    espyRecord_Word(recording, triangles->triangleCount);
    for (uint32_t v = 0; v < triangles->vertexCount; ++v)
    {
        const float p[3] = {triangles->positions[v].x, triangles->positions[v].y, triangles->positions[v].z};
        espyRecord_Floats(recording, p, 3);
    }
    for (size_t i = 0; i < (size_t)triangles->triangleCount * 3u; ++i)
    {
        espyRecord_Word(recording, triangles->indices[i]);
    }
}

static void espyRecord_BoxFloats(espyRecording* recording, espyBox box)
{
    const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    espyRecord_Floats(recording, values, 6);
}

void espyRaster_Record(espyRaster* raster, espyRecording* recording)
{
    raster->recording = recording;
    if (recording && recording->size == 0)
    {
        espyRecord_Bytes(recording, espyRecord_Magic, sizeof espyRecord_Magic);
        espyRecord_Word(recording, (uint32_t)raster->mode);
        espyRecord_Word(recording, (uint32_t)raster->width);
        espyRecord_Word(recording, (uint32_t)raster->height);
        espyRecord_Word(recording, raster->ids ? 1 : 0);
        espyRecord_Word(recording, raster->reversedZ ? 1 : 0);
        espyRecord_Word(recording, raster->wantedBits);
    }
}

bool espyRaster_IsRecording(const espyRaster* raster)
{
    return raster->recording != NULL;
}

void espyiRecord_View(const espyRaster* raster, const espyMat4* viewProjection, bool clears)
{
    espyRecord_Word(raster->recording, espyRecordCall_View);
    espyRecord_Word(raster->recording, clears ? 1 : 0);
    espyRecord_Floats(raster->recording, viewProjection->m, 16);
}

void espyiRecord_Triangles(const espyRaster* raster, const espyTriangles* triangles, const espyMat4* toWorld,
                           uint32_t id, bool twoSided)
{
    espyRecord_Word(raster->recording, espyRecordCall_Triangles);
    espyRecord_Word(raster->recording, id);
    espyRecord_Word(raster->recording, twoSided ? 1 : 0);
    espyRecord_Matrix(raster->recording, toWorld);
    espyRecord_Geometry(raster->recording, triangles);
}

void espyiRecord_Occluder(const espyRaster* raster, const espyOccluder* occluder, const espyMat4* toWorld, uint32_t id)
{
    espyRecording* to = raster->recording;
    uint32_t groups = 0, triangles = 0;
    for (uint32_t b = 0; b < occluder->batchCount; ++b)
    {
        groups += (occluder->batches[b].vertexCount + 7u) / 8u;
        triangles += occluder->batches[b].triangleCount;
    }
    espyRecord_Word(to, espyRecordCall_Occluder);
    espyRecord_Word(to, id);
    espyRecord_Matrix(to, toWorld);
    espyRecord_Word(to, (uint32_t)occluder->mode);
    espyRecord_Word(to, occluder->twoSided ? 1 : 0);
    espyRecord_BoxFloats(to, occluder->bounds);
    espyRecord_Word(to, occluder->triangleCount);
    espyRecord_Word(to, occluder->batchCount);
    espyRecord_Word(to, groups);
    espyRecord_Word(to, triangles);
    espyRecord_Word(to, occluder->neighbours ? 1 : 0);
    espyRecord_Word(to, occluder->partCount);
    for (uint32_t b = 0; b < occluder->batchCount; ++b)
    {
        const espyiBatch* batch = &occluder->batches[b];
        const float cone[4] = {batch->coneAxis.x, batch->coneAxis.y, batch->coneAxis.z, batch->coneSine};
        espyRecord_BoxFloats(to, batch->bounds);
        espyRecord_Floats(to, cone, 4);
        espyRecord_Word(to, batch->firstGroup);
        espyRecord_Word(to, batch->firstTriangle);
        espyRecord_Word(to, batch->firstPart);
        espyRecord_Word(to, batch->partCount);
        espyRecord_Word(to, batch->vertexCount);
        espyRecord_Word(to, (uint32_t)batch->quadCount << 8 | batch->triangleCount);
    }
    espyRecord_Floats(to, occluder->positions, (size_t)groups * 24u);
    espyRecord_Bytes(to, occluder->indices, (size_t)triangles * 3u);
    if (occluder->neighbours)
    {
        espyRecord_Bytes(to, occluder->neighbours, (size_t)triangles * 3u);
    }
    for (uint32_t p = 0; p < occluder->partCount; ++p)
    {
        espyRecord_Word(to, (uint32_t)occluder->parts[p].ownCount << 8 | occluder->parts[p].triangleCount);
    }
}

void espyiRecord_Rect(const espyRaster* raster, espyPixelRect rect, float depth, espyVisibility answer)
{
    espyRecord_Word(raster->recording, espyRecordCall_Rect);
    espyRecord_Word(raster->recording, (uint32_t)rect.x0);
    espyRecord_Word(raster->recording, (uint32_t)rect.y0);
    espyRecord_Word(raster->recording, (uint32_t)rect.x1);
    espyRecord_Word(raster->recording, (uint32_t)rect.y1);
    espyRecord_Floats(raster->recording, &depth, 1);
    espyRecord_Word(raster->recording, (uint32_t)answer);
}

void espyiRecord_Box(const espyRaster* raster, espyBox box, espyVisibility answer)
{
    espyRecord_Word(raster->recording, espyRecordCall_Box);
    espyRecord_BoxFloats(raster->recording, box);
    espyRecord_Word(raster->recording, (uint32_t)answer);
}

void espyiRecord_Mesh(const espyRaster* raster, const espyTriangles* triangles, const espyMat4* toWorld,
                      espyVisibility answer)
{
    espyRecord_Word(raster->recording, espyRecordCall_Mesh);
    espyRecord_Matrix(raster->recording, toWorld);
    espyRecord_Geometry(raster->recording, triangles);
    espyRecord_Word(raster->recording, (uint32_t)answer);
}

// --- reading

typedef struct espyReplay
{
    const uint8_t* bytes;
    size_t size, at;
    espyHooks hooks;
    espyDataError error; ///< The first one stays.
    // Geometry of the call at hand.
    espyVec3* positions;
    uint32_t* indices;
    espyOccluder occluder;
} espyReplay;

static bool espyReplay_Fail(espyReplay* replay, espyResult result, const char* field)
{
    if (replay->error.result == espyResult_Ok)
    {
        replay->error = (espyDataError){result, replay->at, field};
    }
    return false;
}

/// `bytes` more, or the error.
static bool espyReplay_Has(espyReplay* replay, size_t count, size_t size, const char* field)
{
    size_t bytes;
    return (espyiMulSize(count, size, &bytes) && bytes <= replay->size - replay->at) ||
           espyReplay_Fail(replay, espyResult_BadData, field);
}

static uint32_t espyReplay_Word(espyReplay* replay, const char* field)
{
    if (!espyReplay_Has(replay, 1, 4, field))
    {
        replay->at = replay->size;
        return 0;
    }
    const uint8_t* p = replay->bytes + replay->at;
    replay->at += 4;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void espyReplay_Floats(espyReplay* replay, float* values, size_t count, const char* field)
{
    for (size_t i = 0; i < count; ++i)
    {
        uint32_t word = espyReplay_Word(replay, field);
        memcpy(&values[i], &word, sizeof word);
    }
}

static bool espyReplay_Matrix(espyReplay* replay, espyMat4* matrix)
{
    bool has = espyReplay_Word(replay, "hasMatrix") != 0;
    if (has)
    {
        espyReplay_Floats(replay, matrix->m, 16, "matrix");
    }
    return has;
}

static bool espyReplay_Geometry(espyReplay* replay, espyTriangles* out)
{
    *out = (espyTriangles){.vertexCount = espyReplay_Word(replay, "vertexCount")};
    out->triangleCount = espyReplay_Word(replay, "triangleCount");
    if (!espyReplay_Has(replay, out->vertexCount, 12, "positions"))
    {
        return false;
    }
    size_t left = replay->size - replay->at - (size_t)out->vertexCount * 12u;
    if (out->triangleCount > left / 12u)
    {
        return espyReplay_Fail(replay, espyResult_BadData, "indices");
    }
    // One more, so that nothing is never asked for.
    replay->positions = espyiAlloc(&replay->hooks, (size_t)out->vertexCount + 1u, sizeof *replay->positions);
    replay->indices = espyiAlloc(&replay->hooks, (size_t)out->triangleCount * 3u + 1u, sizeof *replay->indices);
    if (!replay->positions || !replay->indices)
    {
        return espyReplay_Fail(replay, espyResult_OutOfMemory, "positions");
    }
    for (uint32_t v = 0; v < out->vertexCount; ++v)
    {
        float p[3];
        espyReplay_Floats(replay, p, 3, "positions");
        replay->positions[v] = (espyVec3){p[0], p[1], p[2]};
    }
    for (size_t i = 0; i < (size_t)out->triangleCount * 3u; ++i)
    {
        replay->indices[i] = espyReplay_Word(replay, "indices");
    }
    out->positions = replay->positions;
    out->indices = replay->indices;
    return replay->error.result == espyResult_Ok;
}

static void espyReplay_Release(espyReplay* replay)
{
    espyiFree(&replay->hooks, replay->positions);
    espyiFree(&replay->hooks, replay->indices);
    espyiFree(&replay->hooks, replay->occluder.batches);
    espyiFree(&replay->hooks, replay->occluder.positions);
    espyiFree(&replay->hooks, replay->occluder.indices);
    espyiFree(&replay->hooks, replay->occluder.neighbours);
    espyiFree(&replay->hooks, replay->occluder.parts);
    replay->positions = NULL;
    replay->indices = NULL;
    replay->occluder = (espyOccluder){0};
}

static espyBox espyReplay_Box(espyReplay* replay)
{
    float v[6];
    espyReplay_Floats(replay, v, 6, "box");
    return (espyBox){{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// Batches point into the arrays, and their triangles at their vertices and each other.
static bool espyReplay_CheckBatch(const espyOccluder* occluder, const espyiBatch* batch, uint32_t groups,
                                  uint32_t triangles)
{
    uint32_t own = (batch->vertexCount + 7u) / 8u;
    if (batch->firstGroup > groups || own > groups - batch->firstGroup || batch->firstTriangle > triangles ||
        batch->triangleCount > triangles - batch->firstTriangle)
    {
        return false;
    }
    if (batch->firstPart > occluder->partCount || batch->partCount > occluder->partCount - batch->firstPart)
    {
        return false;
    }
    uint32_t held = 0;
    for (uint32_t p = 0; p < batch->partCount; ++p)
    {
        const espyiPart* part = &occluder->parts[batch->firstPart + p];
        held += part->triangleCount;
        if (part->ownCount > part->triangleCount || held > batch->triangleCount)
        {
            return false;
        }
    }
    for (uint32_t i = 0; i < batch->triangleCount * 3u; ++i)
    {
        size_t at = (size_t)batch->firstTriangle * 3u + i;
        if (occluder->indices[at] >= batch->vertexCount ||
            (occluder->neighbours && occluder->neighbours[at] != ESPYI_NO_NEIGHBOUR &&
             occluder->neighbours[at] >= batch->triangleCount))
        {
            return false;
        }
    }
    return true;
}

static bool espyReplay_Occluder(espyReplay* replay)
{
    espyOccluder* occluder = &replay->occluder;
    occluder->mode = espyReplay_Word(replay, "mode") ? espyRasterMode_Conservative : espyRasterMode_Sampled;
    occluder->twoSided = espyReplay_Word(replay, "twoSided") != 0;
    occluder->bounds = espyReplay_Box(replay);
    occluder->triangleCount = espyReplay_Word(replay, "triangleCount");
    occluder->batchCount = espyReplay_Word(replay, "batchCount");
    uint32_t groups = espyReplay_Word(replay, "groups"), triangles = espyReplay_Word(replay, "triangles");
    bool hasNeighbours = espyReplay_Word(replay, "hasNeighbours") != 0;
    occluder->partCount = espyReplay_Word(replay, "partCount");
    if (!espyReplay_Has(replay, occluder->batchCount, 64, "batches") ||
        !espyReplay_Has(replay, occluder->partCount, 4, "parts") || !espyReplay_Has(replay, groups, 96, "positions") ||
        !espyReplay_Has(replay, triangles, 3, "indices"))
    {
        return false;
    }
    occluder->batches = espyiAlloc(&replay->hooks, (size_t)occluder->batchCount + 1u, sizeof *occluder->batches);
    occluder->positions = espyiAlloc(&replay->hooks, (size_t)groups * 24u + 1u, sizeof(float));
    occluder->indices = espyiAlloc(&replay->hooks, (size_t)triangles * 3u + 1u, 1);
    occluder->neighbours = hasNeighbours ? espyiAlloc(&replay->hooks, (size_t)triangles * 3u + 1u, 1) : NULL;
    occluder->parts =
        hasNeighbours ? espyiAlloc(&replay->hooks, (size_t)occluder->partCount + 1u, sizeof(espyiPart)) : NULL;
    if (!occluder->batches || !occluder->positions || !occluder->indices ||
        (hasNeighbours && (!occluder->neighbours || !occluder->parts)))
    {
        return espyReplay_Fail(replay, espyResult_OutOfMemory, "batches");
    }
    for (uint32_t b = 0; b < occluder->batchCount; ++b)
    {
        espyiBatch* batch = &occluder->batches[b];
        float cone[4];
        batch->bounds = espyReplay_Box(replay);
        espyReplay_Floats(replay, cone, 4, "cone");
        batch->coneAxis = (espyVec3){cone[0], cone[1], cone[2]};
        batch->coneSine = cone[3];
        batch->firstGroup = espyReplay_Word(replay, "firstGroup");
        batch->firstTriangle = espyReplay_Word(replay, "firstTriangle");
        batch->firstPart = espyReplay_Word(replay, "firstPart");
        batch->partCount = espyReplay_Word(replay, "partCount");
        uint32_t vertices = espyReplay_Word(replay, "vertexCount"), counts = espyReplay_Word(replay, "triangleCount");
        uint32_t all = counts & 0xFFu, quads = counts >> 8;
        if (vertices > ESPYI_BATCH_VERTICES || all > ESPYI_BATCH_TRIANGLES || quads > all / 2u)
        {
            return espyReplay_Fail(replay, espyResult_BadData, "batch");
        }
        batch->vertexCount = (uint16_t)vertices;
        batch->triangleCount = (uint8_t)all;
        batch->quadCount = (uint8_t)quads;
    }
    espyReplay_Floats(replay, occluder->positions, (size_t)groups * 24u, "positions");
    uint8_t* const arrays[2] = {occluder->indices, occluder->neighbours};
    for (uint32_t i = 0; i < (hasNeighbours ? 2u : 1u); ++i)
    {
        if (!espyReplay_Has(replay, triangles, 3, "indices"))
        {
            return false;
        }
        memcpy(arrays[i], replay->bytes + replay->at, (size_t)triangles * 3u);
        replay->at += (size_t)triangles * 3u;
    }
    for (uint32_t p = 0; p < occluder->partCount; ++p)
    {
        uint32_t word = espyReplay_Word(replay, "parts");
        if (!occluder->parts || word > 0xFFFFu)
        {
            return espyReplay_Fail(replay, espyResult_BadData, "parts");
        }
        occluder->parts[p] = (espyiPart){(uint8_t)(word >> 8), (uint8_t)word};
    }
    for (uint32_t b = 0; b < occluder->batchCount; ++b)
    {
        if (!espyReplay_CheckBatch(occluder, &occluder->batches[b], groups, triangles))
        {
            return espyReplay_Fail(replay, espyResult_BadData, "batch");
        }
    }
    return replay->error.result == espyResult_Ok;
}

static void espyReplay_Answer(espyReplay* replay, espyReplayReport* report, espyVisibility answer)
{
    bool differs = espyReplay_Word(replay, "answer") != (uint32_t)answer;
    ++report->tests;
    report->testsDiffer += differs ? 1u : 0u;
    report->firstDiffers = differs && report->firstDiffers == UINT32_MAX ? report->calls : report->firstDiffers;
}

/// One call; false at an error.
static bool espyReplay_Step(espyReplay* replay, espyRaster* raster, espyReplayReport* report)
{
    espyMat4 matrix;
    espyTriangles triangles;
    uint32_t call = espyReplay_Word(replay, "call");
    switch (call)
    {
    case espyRecordCall_View:
    {
        bool clears = espyReplay_Word(replay, "clears") != 0;
        espyReplay_Floats(replay, matrix.m, 16, "view");
        if (replay->error.result == espyResult_Ok)
        {
            (void)(clears ? espyRaster_Begin(raster, &matrix) : espyRaster_SetView(raster, &matrix));
        }
        break;
    }
    case espyRecordCall_Triangles:
    {
        uint32_t id = espyReplay_Word(replay, "id");
        bool twoSided = espyReplay_Word(replay, "twoSided") != 0, placed = espyReplay_Matrix(replay, &matrix);
        if (espyReplay_Geometry(replay, &triangles))
        {
            (void)espyRaster_DrawTriangles(raster, &triangles, placed ? &matrix : NULL, id, twoSided);
        }
        break;
    }
    case espyRecordCall_Occluder:
    {
        uint32_t id = espyReplay_Word(replay, "id");
        bool placed = espyReplay_Matrix(replay, &matrix);
        if (espyReplay_Occluder(replay))
        {
            (void)espyRaster_DrawOccluder(raster, &replay->occluder, placed ? &matrix : NULL, id);
        }
        break;
    }
    case espyRecordCall_Rect:
    {
        espyPixelRect rect = {0, 0, 0, 0};
        float depth = 0.0f;
        rect.x0 = (int32_t)espyReplay_Word(replay, "rect");
        rect.y0 = (int32_t)espyReplay_Word(replay, "rect");
        rect.x1 = (int32_t)espyReplay_Word(replay, "rect");
        rect.y1 = (int32_t)espyReplay_Word(replay, "rect");
        espyReplay_Floats(replay, &depth, 1, "depth");
        espyReplay_Answer(replay, report, espyRaster_TestRect(raster, rect, depth));
        break;
    }
    case espyRecordCall_Box:
        espyReplay_Answer(replay, report, espyRaster_TestBox(raster, espyReplay_Box(replay)));
        break;
    case espyRecordCall_Mesh:
    {
        bool placed = espyReplay_Matrix(replay, &matrix);
        if (espyReplay_Geometry(replay, &triangles))
        {
            espyReplay_Answer(replay, report, espyRaster_TestMesh(raster, &triangles, placed ? &matrix : NULL));
        }
        break;
    }
    default:
        espyReplay_Fail(replay, espyResult_BadData, "call");
        break;
    }
    espyReplay_Release(replay);
    ++report->calls;
    return replay->error.result == espyResult_Ok;
}

static espyResult espyReplay_Run(espyReplay* replay, espyIsa isaCap, espyRaster** out, espyReplayReport* report)
{
    if (!espyReplay_Has(replay, 1, sizeof espyRecord_Magic, "magic"))
    {
        return replay->error.result;
    }
    if (memcmp(replay->bytes, espyRecord_Magic, sizeof espyRecord_Magic) != 0)
    {
        bool older = memcmp(replay->bytes, espyRecord_Magic, sizeof espyRecord_Magic - 1u) == 0;
        espyReplay_Fail(replay, older ? espyResult_UnsupportedVersion : espyResult_BadData, "magic");
        return replay->error.result;
    }
    replay->at = sizeof espyRecord_Magic;
    espyRasterDef def = espyRasterDef_Default();
    uint32_t mode = espyReplay_Word(replay, "mode"), width = espyReplay_Word(replay, "width");
    uint32_t height = espyReplay_Word(replay, "height"), ids = espyReplay_Word(replay, "ids");
    uint32_t reversedZ = espyReplay_Word(replay, "reversedZ"), bits = espyReplay_Word(replay, "subPixelBits");
    if (mode > 1 || width < 1 || width > ESPY_RASTER_MAX_SIZE || height < 1 || height > ESPY_RASTER_MAX_SIZE ||
        (ids && mode == 1) || (bits != 0 && (bits < 4 || bits > 12)))
    {
        espyReplay_Fail(replay, espyResult_BadData, "raster");
    }
    if (replay->error.result != espyResult_Ok)
    {
        return replay->error.result;
    }
    def.hooks = replay->hooks;
    def.mode = (espyRasterMode)mode;
    def.width = (int32_t)width;
    def.height = (int32_t)height;
    def.ids = ids != 0;
    def.reversedZ = reversedZ != 0;
    def.subPixelBits = bits;
    def.isaCap = isaCap;
    def.maxBatches = 1;
    espyRaster* raster;
    espyResult result = espyRaster_Create(&def, &raster);
    if (result != espyResult_Ok)
    {
        return result;
    }
    while (replay->at < replay->size && espyReplay_Step(replay, raster, report))
    {
    }
    if (replay->error.result != espyResult_Ok)
    {
        espyRaster_Destroy(raster);
        return replay->error.result;
    }
    *out = raster;
    return espyResult_Ok;
}

espyResult espyRaster_Replay(const espyHooks* hooks, const void* bytes, size_t size, espyIsa isaCap, espyRaster** out,
                             espyReplayReport* report, espyDataError* error)
{
    espyReplay replay = {.bytes = (const uint8_t*)bytes, .size = size, .hooks = espyiHooks_Resolve(hooks)};
    espyReplayReport found = {.firstDiffers = UINT32_MAX};
    *out = NULL;
    espyResult result = espyReplay_Run(&replay, isaCap, out, &found);
    if (report)
    {
        *report = found;
    }
    if (error)
    {
        *error = replay.error;
        error->result = result;
        error->field = replay.error.field ? replay.error.field : "";
    }
    return result;
}
