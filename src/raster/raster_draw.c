// SPDX-License-Identifier: MIT
// Drawing: plain triangles, prepared occluders, and many of them sorted from front to back.
#include "raster/raster_internal.h"

#include <string.h>

// --- plain triangles

uint32_t espyiLoose_Gather(espyiLoose* loose, const espyTriangles* triangles, uint32_t* next)
{
    uint32_t bad = 0, vertex = 0;
    for (; *next < triangles->triangleCount && vertex + 3u <= 3u * ESPYI_LOOSE_TRIANGLES; ++*next)
    {
        const uint32_t* corners = triangles->indices + (size_t)*next * 3u;
        if (corners[0] >= triangles->vertexCount || corners[1] >= triangles->vertexCount ||
            corners[2] >= triangles->vertexCount)
        {
            ++bad;
            continue;
        }
        for (uint32_t c = 0; c < 3; ++c, ++vertex)
        {
            espyVec3 p = triangles->positions[corners[c]];
            float* to = loose->positions + vertex / 8u * 24u + vertex % 8u;
            to[0] = p.x;
            to[8] = p.y;
            to[16] = p.z;
            loose->indices[vertex] = (uint8_t)vertex;
        }
    }
    loose->triangleCount = vertex / 3u;
    // Lanes past the last vertex are transformed, too.
    for (; vertex % 8u != 0; ++vertex)
    {
        float* to = loose->positions + vertex / 8u * 24u + vertex % 8u;
        to[0] = to[8] = to[16] = 0.0f;
    }
    return bad;
}

espyiBatchView espyiLoose_View(const espyiLoose* loose)
{
    return (espyiBatchView){.positions = loose->positions,
                            .indices = loose->indices,
                            .vertexCount = loose->triangleCount * 3u,
                            .triangleCount = loose->triangleCount};
}

static espyiBand espyRaster_WholeBand(const espyRaster* raster)
{
    return (espyiBand){.tileRow1 = raster->tilesY, .stamp = raster->stamp};
}

static void espyRaster_EndBand(espyRaster* raster, const espyiBand* band)
{
    raster->stamp = band->stamp > raster->stamp ? band->stamp : raster->stamp;
    raster->stats.trianglesSet += band->stats.trianglesSet;
    raster->stats.trianglesDrawn += band->stats.trianglesDrawn;
    raster->stats.batchesOccluded += band->stats.batchesOccluded;
}

static void espyRaster_DrawView(espyRaster* raster, espyiBand* band, const espyiClip* clip, espyiBatchView* batch,
                                bool twoSided)
{
    band->stats.trianglesSet += batch->triangleCount;
    raster->kernels->drawBatch(raster, band, clip, batch);
    if (twoSided)
    {
        batch->flip = !batch->flip;
        raster->kernels->drawBatch(raster, band, clip, batch);
    }
}

espyResult espyRaster_DrawTriangles(espyRaster* raster, const espyTriangles* triangles, const espyMat4* toWorld,
                                    uint32_t id, bool twoSided)
{
    if (raster->recording)
    {
        espyiRecord_Triangles(raster, triangles, toWorld, id, twoSided);
    }
    if (!ESPYI_CHECK(&raster->hooks, raster->begun) ||
        !ESPYI_CHECK(&raster->hooks, !toWorld || espyMat4_IsFinite(*toWorld)))
    {
        return espyResult_InvalidArgument;
    }
    espyiClip clip;
    float eye[4];
    bool flips = espyiRaster_MakeClip(raster, toWorld, &clip, eye);
    espyiBand band = espyRaster_WholeBand(raster);
    uint32_t bad = 0;
    raster->stats.trianglesGiven += triangles->triangleCount;
    for (uint32_t next = 0; next < triangles->triangleCount;)
    {
        espyiLoose loose;
        bad += espyiLoose_Gather(&loose, triangles, &next);
        espyiBatchView view = espyiLoose_View(&loose);
        view.id = id;
        view.flip = flips;
        espyRaster_DrawView(raster, &band, &clip, &view, twoSided);
    }
    espyRaster_EndBand(raster, &band);
    return ESPYI_CHECK(&raster->hooks, bad == 0) ? espyResult_Ok : espyResult_InvalidArgument;
}

// --- occluders

typedef enum espyBatchFate
{
    espyBatchFate_Test = 0, ///< Its rectangle and depth are known.
    espyBatchFate_Draw,     ///< It crosses the near plane.
    espyBatchFate_Outside,
    espyBatchFate_FacesOff,
} espyBatchFate;

espyBox espyiBatch_SafeBounds(espyBox bounds)
{
    float reach = 0.0f;
    const float values[6] = {bounds.min.x, bounds.min.y, bounds.min.z, bounds.max.x, bounds.max.y, bounds.max.z};
    for (uint32_t i = 0; i < 6; ++i)
    {
        float size = values[i] < 0.0f ? -values[i] : values[i];
        reach = size > reach ? size : reach;
    }
    return espyBox_Grow(bounds, reach * 0x1p-20f);
}

/// Do all faces of a batch look away? For every normal n in the cone and every point p of the bounds, n . (eye - p) is
/// negative where the eye is far enough behind the axis.
static bool espyBatch_FacesOff(const espyiBatch* batch, const float eye[4])
{
    if (!(batch->coneSine < 1.0f))
    {
        return false;
    }
    espyVec3 low = batch->bounds.min, high = batch->bounds.max;
    // From the middle of the bounds to the eye, times its fourth coordinate (0: the eye is a direction).
    float x = eye[0] - 0.5f * (low.x + high.x) * eye[3], y = eye[1] - 0.5f * (low.y + high.y) * eye[3];
    float z = eye[2] - 0.5f * (low.z + high.z) * eye[3];
    float sizeX = 0.5f * (high.x - low.x), sizeY = 0.5f * (high.y - low.y), sizeZ = 0.5f * (high.z - low.z);
    float radius = espyiFloat_Root(sizeX * sizeX + sizeY * sizeY + sizeZ * sizeZ) * (eye[3] < 0.0f ? -eye[3] : eye[3]);
    float distance = espyiFloat_Root(x * x + y * y + z * z);
    float along = x * batch->coneAxis.x + y * batch->coneAxis.y + z * batch->coneAxis.z;
    // A thousandth more than needed: what rounding moves is far less, and a face seen edge-on covers nothing.
    return along < -(distance * (batch->coneSine + 0.001f) + radius * 1.001f);
}

static espyBatchFate espyBatch_Judge(const espyRaster* raster, const espyOccluder* occluder, const espyiBatch* batch,
                                     const espyiClip* clip, const float eye[4], espyiProjectedBox* box)
{
    raster->kernels->projectBox(raster, clip, espyiBatch_SafeBounds(batch->bounds), box);
    if (box->visibility == espyVisibility_Outside)
    {
        return espyBatchFate_Outside;
    }
    if (!occluder->twoSided && espyBatch_FacesOff(batch, eye))
    {
        return espyBatchFate_FacesOff;
    }
    return box->visibility == espyVisibility_Visible ? espyBatchFate_Draw : espyBatchFate_Test;
}

static void espyStats_Judged(espyRasterStats* stats, espyBatchFate fate)
{
    ++stats->batchesGiven;
    stats->batchesOutside += fate == espyBatchFate_Outside ? 1u : 0u;
    stats->batchesFacingOff += fate == espyBatchFate_FacesOff ? 1u : 0u;
}

static bool espyRaster_CheckDraw(const espyRaster* raster, const espyOccluder* occluder, const espyMat4* toWorld)
{
    return ESPYI_CHECK(&raster->hooks, raster->begun) && ESPYI_CHECK(&raster->hooks, occluder->mode == raster->mode) &&
           ESPYI_CHECK(&raster->hooks, !toWorld || espyMat4_IsFinite(*toWorld));
}

espyResult espyRaster_DrawOccluder(espyRaster* raster, const espyOccluder* occluder, const espyMat4* toWorld,
                                   uint32_t id)
{
    if (raster->recording)
    {
        espyiRecord_Occluder(raster, occluder, toWorld, id);
    }
    if (!espyRaster_CheckDraw(raster, occluder, toWorld))
    {
        return espyResult_InvalidArgument;
    }
    espyiClip clip;
    float eye[4];
    bool flips = espyiRaster_MakeClip(raster, toWorld, &clip, eye);
    espyiBand band = espyRaster_WholeBand(raster);
    raster->stats.trianglesGiven += occluder->triangleCount;
    for (uint32_t b = 0; b < occluder->batchCount; ++b)
    {
        const espyiBatch* batch = &occluder->batches[b];
        espyiProjectedBox box;
        espyBatchFate fate = espyBatch_Judge(raster, occluder, batch, &clip, eye, &box);
        espyStats_Judged(&raster->stats, fate);
        if (fate >= espyBatchFate_Outside)
        {
            continue;
        }
        if (fate == espyBatchFate_Test && !raster->kernels->testRect(raster, box.rect, box.d))
        {
            ++band.stats.batchesOccluded;
            continue;
        }
        espyiBatchView view = espyiOccluder_View(occluder, batch);
        view.id = id;
        view.flip = flips;
        espyRaster_DrawView(raster, &band, &clip, &view, occluder->twoSided);
    }
    espyRaster_EndBand(raster, &band);
    return espyResult_Ok;
}

// --- sorted

#define ESPY_SORT_DIGITS 8u
#define ESPY_MOST_BANDS 64u

/// Sorts by the upper half of the keys, which tells distances apart to less than a hundredth: two passes by bytes.
static void espyEntries_Sort(espyiSortEntry* entries, espyiSortEntry* scratch, uint32_t count)
{
    for (uint32_t shift = 16; shift < 32; shift += ESPY_SORT_DIGITS)
    {
        uint32_t starts[(1u << ESPY_SORT_DIGITS) + 1u] = {0};
        for (uint32_t i = 0; i < count; ++i)
        {
            ++starts[(entries[i].key >> shift & 0xFFu) + 1u];
        }
        for (uint32_t i = 1; i < 1u << ESPY_SORT_DIGITS; ++i)
        {
            starts[i] += starts[i - 1u];
        }
        for (uint32_t i = 0; i < count; ++i)
        {
            scratch[starts[entries[i].key >> shift & 0xFFu]++] = entries[i];
        }
        espyiSortEntry* swapped = entries;
        entries = scratch;
        scratch = swapped;
    }
}

typedef struct espySortedJob
{
    espyRaster* raster;
    const espyOccluderDraw* draws;
    const espyiSortEntry* entries;
    uint32_t count;
    espyiBand bands[ESPY_MOST_BANDS];
} espySortedJob;

static void espySortedJob_Run(void* context, uint32_t index)
{
    espySortedJob* job = (espySortedJob*)context;
    espyRaster* raster = job->raster;
    espyiBand* band = &job->bands[index];
    int32_t top = (int32_t)(band->tileRow0 * ESPYI_TILE), end = (int32_t)(band->tileRow1 * ESPYI_TILE);
    espyiClip clip = raster->view;
    bool flips = raster->viewFlips;
    uint32_t clipOf = UINT32_MAX; // The draw whose clip is at hand, where it has a transform.
    for (uint32_t i = 0; i < job->count; ++i)
    {
        const espyiSortEntry* entry = &job->entries[i];
        espyPixelRect rect = {entry->x0, entry->y0 > top ? entry->y0 : top, entry->x1,
                              entry->y1 < end ? entry->y1 : end};
        // Rows past the last are drawn too where they share a tile with it: the last band ends with the screen.
        if (rect.y0 >= rect.y1)
        {
            continue;
        }
        if (entry->d <= 1.5f && !raster->kernels->testRect(raster, rect, entry->d))
        {
            ++band->stats.batchesOccluded;
            continue;
        }
        const espyOccluderDraw* draw = &job->draws[entry->draw];
        uint32_t wanted = draw->toWorld ? entry->draw : UINT32_MAX;
        if (wanted != clipOf)
        {
            float eye[4];
            flips = espyiRaster_MakeClip(raster, draw->toWorld, &clip, eye);
            clipOf = wanted;
        }
        espyiBatchView view = espyiOccluder_View(draw->occluder, &draw->occluder->batches[entry->batch]);
        view.id = draw->id;
        view.flip = flips;
        espyRaster_DrawView(raster, band, &clip, &view, draw->occluder->twoSided);
    }
}

/// Draws the entries gathered so far.
static void espyRaster_DrawEntries(espyRaster* raster, const espyOccluderDraw* draws, uint32_t count,
                                   const espyTasks* tasks)
{
    if (count == 0)
    {
        return;
    }
    espyEntries_Sort(raster->entries, raster->entries + raster->maxBatches, count);
    espySortedJob job = {.raster = raster, .draws = draws, .entries = raster->entries, .count = count};
    uint32_t threads = tasks && tasks->parallelFor && tasks->threadCount > 1 ? tasks->threadCount : 1;
    // Bands are whole rows of cells, which then belong to one thread each; a few a thread even out the work.
    uint32_t bands = threads > 1 ? threads * 3u : 1;
    bands = bands < ESPY_MOST_BANDS ? bands : ESPY_MOST_BANDS;
    bands = bands < raster->coarseY ? bands : raster->coarseY;
    for (uint32_t b = 0; b < bands; ++b)
    {
        uint32_t from = raster->coarseY * b / bands * ESPYI_COARSE,
                 to = raster->coarseY * (b + 1) / bands * ESPYI_COARSE;
        job.bands[b] = (espyiBand){
            .tileRow0 = from, .tileRow1 = to < raster->tilesY ? to : raster->tilesY, .stamp = raster->stamp};
    }
    if (bands > 1)
    {
        tasks->parallelFor(tasks->context, bands, espySortedJob_Run, &job);
    }
    else
    {
        espySortedJob_Run(&job, 0);
    }
    for (uint32_t b = 0; b < bands; ++b)
    {
        espyRaster_EndBand(raster, &job.bands[b]);
    }
}

espyResult espyRaster_DrawSorted(espyRaster* raster, const espyOccluderDraw* draws, uint32_t count,
                                 const espyTasks* tasks)
{
    espyResult result = espyResult_Ok;
    uint32_t held = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyOccluderDraw* draw = &draws[i];
        const espyOccluder* occluder = draw->occluder;
        if (raster->recording)
        {
            espyiRecord_Occluder(raster, occluder, draw->toWorld, draw->id);
        }
        if (!espyRaster_CheckDraw(raster, occluder, draw->toWorld))
        {
            result = espyResult_InvalidArgument;
            continue;
        }
        espyiClip clip;
        float eye[4];
        espyiRaster_MakeClip(raster, draw->toWorld, &clip, eye);
        raster->stats.trianglesGiven += occluder->triangleCount;
        espyiProjectedBox box;
        raster->kernels->projectBox(raster, &clip, espyiBatch_SafeBounds(occluder->bounds), &box);
        if (box.visibility == espyVisibility_Outside)
        {
            raster->stats.batchesGiven += occluder->batchCount;
            raster->stats.batchesOutside += occluder->batchCount;
            continue;
        }
        for (uint32_t b = 0; b < occluder->batchCount; ++b)
        {
            espyBatchFate fate = espyBatch_Judge(raster, occluder, &occluder->batches[b], &clip, eye, &box);
            espyStats_Judged(&raster->stats, fate);
            if (fate >= espyBatchFate_Outside)
            {
                continue;
            }
            if (held == raster->maxBatches)
            {
                espyRaster_DrawEntries(raster, draws, held, tasks);
                held = 0;
            }
            float d = fate == espyBatchFate_Draw ? 2.0f : box.d;
            uint32_t bits;
            memcpy(&bits, &d, sizeof bits);
            raster->entries[held++] = (espyiSortEntry){.key = ~bits,
                                                       .draw = i,
                                                       .batch = b,
                                                       .d = d,
                                                       .x0 = (int16_t)box.rect.x0,
                                                       .y0 = (int16_t)box.rect.y0,
                                                       .x1 = (int16_t)box.rect.x1,
                                                       .y1 = (int16_t)box.rect.y1};
        }
    }
    espyRaster_DrawEntries(raster, draws, held, tasks);
    return result;
}
