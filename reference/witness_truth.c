// SPDX-License-Identifier: MIT
#include "reference/witness_truth.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tasks.h"

/// Two surfaces closer than this never hide each other; a segment is cut by it at both ends.
#define ESPY_TRUTH_GAP 1e-4
/// A cell counts only where the segment passes through this much of it, so that no rounding at a face decides.
#define ESPY_TRUTH_DEPTH 2e-4
#define ESPY_TRUTH_BATCH 65536u

typedef struct espyTruthSurface
{
    double* cumulative; ///< Area up to and with each triangle.
    uint32_t count;
    double area;
} espyTruthSurface;

typedef struct espyTruthRun
{
    const espyTruthDef* def;
    espyTruthMatrix* matrix;
    espyTruthSurface* surfaces;
    espyVec3* boxVertices; ///< 8 a slot, for occludees without triangles.
    atomic_ullong found;
} espyTruthRun;

static const uint32_t espyTruthBoxIndices[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                                 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void espyTruth_Corner(const espyTruthRun* run, uint32_t slot, uint32_t triangle, uint32_t k, double out[3])
{
    const espyBakeOccludee* occludee = &run->def->input->occludees[slot];
    espyVec3 p;
    if (occludee->mesh.triangleCount > 0)
    {
        p = occludee->mesh.positions[occludee->mesh.indices[3u * triangle + k]];
    }
    else
    {
        p = run->boxVertices[8u * slot + espyTruthBoxIndices[3u * triangle + k]];
    }
    out[0] = (double)p.x;
    out[1] = (double)p.y;
    out[2] = (double)p.z;
}

static double espyTruth_Random(espyiRng* rng)
{
    uint64_t high = espyiRng_U32(rng) >> 5, low = espyiRng_U32(rng) >> 6;
    return ((double)high * 67108864.0 + (double)low) * (1.0 / 9007199254740992.0);
}

static bool espyTruth_BuildSurfaces(espyTruthRun* run)
{
    const espyBakeInput* input = run->def->input;
    run->surfaces = calloc(input->occludeeCount, sizeof *run->surfaces);
    run->boxVertices = calloc((size_t)input->occludeeCount * 8u, sizeof *run->boxVertices);
    if (!run->surfaces || !run->boxVertices)
    {
        return false;
    }
    for (uint32_t slot = 0; slot < input->occludeeCount; ++slot)
    {
        const espyBakeOccludee* occludee = &input->occludees[slot];
        for (uint32_t i = 0; i < 8; ++i)
        {
            run->boxVertices[8u * slot + i] = (espyVec3){i & 1 ? occludee->box.max.x : occludee->box.min.x,
                                                         i & 2 ? occludee->box.max.y : occludee->box.min.y,
                                                         i & 4 ? occludee->box.max.z : occludee->box.min.z};
        }
        espyTruthSurface* surface = &run->surfaces[slot];
        surface->count = occludee->mesh.triangleCount > 0 ? occludee->mesh.triangleCount : 12u;
        surface->cumulative = calloc(surface->count, sizeof(double));
        if (!surface->cumulative)
        {
            return false;
        }
        for (uint32_t t = 0; t < surface->count; ++t)
        {
            double a[3], b[3], c[3], u[3], v[3];
            espyTruth_Corner(run, slot, t, 0, a);
            espyTruth_Corner(run, slot, t, 1, b);
            espyTruth_Corner(run, slot, t, 2, c);
            for (int k = 0; k < 3; ++k)
            {
                u[k] = b[k] - a[k];
                v[k] = c[k] - a[k];
            }
            double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2], z = u[0] * v[1] - u[1] * v[0];
            double area = 0.5 * sqrt(x * x + y * y + z * z);
            surface->area += area > 0.0 ? area : 0.0;
            surface->cumulative[t] = surface->area;
        }
    }
    return true;
}

static void espyTruth_SurfacePoint(const espyTruthRun* run, uint32_t slot, espyiRng* rng, double out[3])
{
    const espyTruthSurface* surface = &run->surfaces[slot];
    double wanted = espyTruth_Random(rng) * surface->area;
    uint32_t low = 0, high = surface->count - 1u;
    while (low < high)
    {
        uint32_t middle = (low + high) / 2u;
        if (surface->cumulative[middle] < wanted)
        {
            low = middle + 1u;
        }
        else
        {
            high = middle;
        }
    }
    double a[3], b[3], c[3];
    espyTruth_Corner(run, slot, low, 0, a);
    espyTruth_Corner(run, slot, low, 1, b);
    espyTruth_Corner(run, slot, low, 2, c);
    double u = espyTruth_Random(rng), v = espyTruth_Random(rng);
    if (u + v > 1.0)
    {
        u = 1.0 - u;
        v = 1.0 - v;
    }
    for (int k = 0; k < 3; ++k)
    {
        out[k] = a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
    }
}

static bool espyTruth_Normalize(double d[3])
{
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(length > 1e-12))
    {
        return false;
    }
    for (int k = 0; k < 3; ++k)
    {
        d[k] /= length;
    }
    return true;
}

static void espyTruth_RandomDirection(espyiRng* rng, double d[3])
{
    do
    {
        for (int k = 0; k < 3; ++k)
        {
            d[k] = 2.0 * espyTruth_Random(rng) - 1.0;
        }
    } while (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 1.0 || !espyTruth_Normalize(d));
}

/// Sets the bit of every open cell that the segment passes through.
static uint64_t espyTruth_Walk(espyTruthRun* run, uint32_t slot, const double origin[3], const double direction[3],
                               double end)
{
    const espyPvs* pvs = run->def->pvs;
    double grid[3] = {(double)pvs->origin.x, (double)pvs->origin.y, (double)pvs->origin.z};
    double size = (double)pvs->cellSize;
    double t0 = ESPY_TRUTH_GAP, t1 = end - ESPY_TRUTH_GAP;
    for (int k = 0; k < 3; ++k)
    {
        double low = grid[k], high = grid[k] + size * pvs->dims[k];
        if (fabs(direction[k]) < 1e-12)
        {
            if (origin[k] <= low || origin[k] >= high)
            {
                return 0;
            }
            continue;
        }
        double a = (low - origin[k]) / direction[k], b = (high - origin[k]) / direction[k];
        t0 = fmax(t0, fmin(a, b));
        t1 = fmin(t1, fmax(a, b));
    }
    uint64_t found = 0;
    while (t1 - t0 > ESPY_TRUTH_DEPTH)
    {
        // The cell is that of a point just inside; the exit is the nearest of the three faces ahead.
        double probe = t0 + 0.25 * ESPY_TRUTH_DEPTH, exit = t1;
        int32_t coord[3];
        for (int k = 0; k < 3; ++k)
        {
            coord[k] = (int32_t)floor((origin[k] + probe * direction[k] - grid[k]) / size);
            if (fabs(direction[k]) >= 1e-12)
            {
                double face = grid[k] + size * (coord[k] + (direction[k] > 0.0 ? 1 : 0));
                exit = fmin(exit, (face - origin[k]) / direction[k]);
            }
        }
        if (exit - t0 > ESPY_TRUTH_DEPTH)
        {
            espyVec3 middle = {(float)(grid[0] + size * (coord[0] + 0.5)), (float)(grid[1] + size * (coord[1] + 0.5)),
                               (float)(grid[2] + size * (coord[2] + 0.5))};
            int32_t cell = espyPvs_FindCell(pvs, middle);
            if (cell >= 0 && !espyPvs_IsSolidCell(pvs, cell))
            {
                _Atomic uint32_t* word =
                    (_Atomic uint32_t*)&run->matrix->bits[(size_t)cell * run->matrix->words + (slot >> 5)];
                uint32_t bit = 1u << (slot & 31u);
                if (!(atomic_load_explicit(word, memory_order_relaxed) & bit))
                {
                    found += !(atomic_fetch_or(word, bit) & bit);
                }
            }
        }
        t0 = fmax(exit, t0 + 0.25 * ESPY_TRUTH_DEPTH);
    }
    return found;
}

/// A cell beside one that already sees the slot, or -1.
static int32_t espyTruth_Frontier(const espyTruthRun* run, uint32_t slot, espyiRng* rng)
{
    const espyPvs* pvs = run->def->pvs;
    for (int attempt = 0; attempt < 64; ++attempt)
    {
        uint32_t cell = espyiRng_Below(rng, pvs->cellCount);
        if (espyiBits_Get(run->matrix->bits + (size_t)cell * run->matrix->words, slot))
        {
            espyBox box = espyPvs_GetCellBox(pvs, (int32_t)cell);
            float* middle[3] = {&box.min.x, &box.min.y, &box.min.z};
            for (int k = 0; k < 3; ++k)
            {
                *middle[k] += pvs->cellSize * (0.5f + (float)espyiRng_Below(rng, 3) - 1.0f);
            }
            return espyPvs_FindCell(pvs, box.min);
        }
    }
    return -1;
}

static void espyTruth_Batch(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espyTruthRun* run = context;
    const espyTruthDef* def = run->def;
    espyiRng rng = espyiRng_Seed(espyiHash_U64(def->seed, index));
    uint64_t found = 0;
    uint32_t slot = 0, lastTriangle = UINT32_MAX;
    for (uint32_t i = 0; i < ESPY_TRUTH_BATCH; ++i)
    {
        double origin[3] = {0}, direction[3] = {0};
        uint32_t kind = i % 3u;
        if (kind == 0 || lastTriangle == UINT32_MAX)
        {
            slot = espyiRng_Below(&rng, def->input->occludeeCount);
            espyTruth_SurfacePoint(run, slot, &rng, origin);
            espyTruth_RandomDirection(&rng, direction);
        }
        else if (kind == 1)
        {
            // Through an edge of what was hit, a little beside it.
            uint32_t triangle = lastTriangle;
            for (uint32_t o = 0; o < def->input->occluderCount; ++o)
            {
                const espyTriangles* mesh = &def->input->occluders[o].mesh;
                if (triangle >= mesh->triangleCount)
                {
                    triangle -= mesh->triangleCount;
                    continue;
                }
                uint32_t k = espyiRng_Below(&rng, 3);
                espyVec3 a = mesh->positions[mesh->indices[3u * triangle + k]];
                espyVec3 b = mesh->positions[mesh->indices[3u * triangle + (k + 1u) % 3u]];
                double along = espyTruth_Random(&rng);
                double reach = 1e-4 * pow(5000.0, espyTruth_Random(&rng));
                espyTruth_SurfacePoint(run, slot, &rng, origin);
                direction[0] = (double)a.x + along * ((double)b.x - (double)a.x);
                direction[1] = (double)a.y + along * ((double)b.y - (double)a.y);
                direction[2] = (double)a.z + along * ((double)b.z - (double)a.z);
                for (int axis = 0; axis < 3; ++axis)
                {
                    direction[axis] += reach * (2.0 * espyTruth_Random(&rng) - 1.0) - origin[axis];
                }
                break;
            }
        }
        else
        {
            slot = espyiRng_Below(&rng, def->input->occludeeCount);
            int32_t cell = espyTruth_Frontier(run, slot, &rng);
            if (cell < 0)
            {
                continue;
            }
            espyBox box = espyPvs_GetCellBox(def->pvs, cell);
            espyTruth_SurfacePoint(run, slot, &rng, origin);
            direction[0] = (double)box.min.x + espyTruth_Random(&rng) * (double)def->pvs->cellSize - origin[0];
            direction[1] = (double)box.min.y + espyTruth_Random(&rng) * (double)def->pvs->cellSize - origin[1];
            direction[2] = (double)box.min.z + espyTruth_Random(&rng) * (double)def->pvs->cellSize - origin[2];
        }
        if (!espyTruth_Normalize(direction))
        {
            continue;
        }
        const espyBakeOccludee* occludee = &def->input->occludees[slot];
        bool backFace = false;
        double t = def->trace(def->traceContext, origin, direction, occludee->firstOwn, occludee->ownCount,
                              &lastTriangle, &backFace);
        // A line that ends on a back face ran inside something solid, where no camera is.
        if (!backFace)
        {
            found += espyTruth_Walk(run, slot, origin, direction, t);
        }
    }
    atomic_fetch_add(&run->found, found);
}

bool espyTruth_Create(espyTruthMatrix* matrix, const espyPvs* pvs)
{
    *matrix = (espyTruthMatrix){
        .cellCount = pvs->cellCount, .slotCount = pvs->occludeeCount, .words = espyiBits_Words(pvs->occludeeCount)};
    matrix->bits = calloc((size_t)matrix->cellCount * matrix->words, sizeof *matrix->bits);
    return matrix->bits != NULL;
}

void espyTruth_Free(espyTruthMatrix* matrix)
{
    free(matrix->bits);
    *matrix = (espyTruthMatrix){0};
}

uint64_t espyTruth_Search(const espyTruthDef* def, espyTruthMatrix* matrix)
{
    espyTruthRun run = {.def = def, .matrix = matrix};
    if (def->input->occludeeCount > 0 && espyTruth_BuildSurfaces(&run))
    {
        uint32_t batches = (uint32_t)((def->rays + ESPY_TRUTH_BATCH - 1u) / ESPY_TRUTH_BATCH);
        espyiTasks_For(espyiTasks_ThreadCount(def->threads), batches, espyTruth_Batch, &run, NULL, NULL);
    }
    for (uint32_t slot = 0; run.surfaces && slot < def->input->occludeeCount; ++slot)
    {
        free(run.surfaces[slot].cumulative);
    }
    free(run.surfaces);
    free(run.boxVertices);
    return atomic_load(&run.found);
}

uint64_t espyTruth_Count(const espyTruthMatrix* matrix, const espyPvs* openCells)
{
    uint64_t count = 0;
    for (uint32_t cell = 0; cell < matrix->cellCount; ++cell)
    {
        for (uint32_t w = 0; w < matrix->words && !espyPvs_IsSolidCell(openCells, (int32_t)cell); ++w)
        {
            count += espyiPopCount32(matrix->bits[(size_t)cell * matrix->words + w]);
        }
    }
    return count;
}

uint64_t espyTruth_CountMissing(const espyTruthMatrix* truth, const espyPvs* pvs)
{
    uint64_t missing = 0;
    uint32_t* set = calloc((size_t)truth->words + 1u, sizeof *set);
    if (!set)
    {
        return UINT64_MAX;
    }
    for (uint32_t cell = 0; cell < truth->cellCount; ++cell)
    {
        espyPvs_ReadStaticSet(pvs, (int32_t)cell, set);
        for (uint32_t w = 0; w < truth->words && !espyPvs_IsSolidCell(pvs, (int32_t)cell); ++w)
        {
            missing += espyiPopCount32(truth->bits[(size_t)cell * truth->words + w] & ~set[w]);
        }
    }
    free(set);
    return missing;
}

bool espyTruth_Save(const espyTruthMatrix* matrix, uint64_t contentHash, const char* path)
{
    FILE* file = fopen(path, "wb");
    if (!file)
    {
        return false;
    }
    size_t words = (size_t)matrix->cellCount * matrix->words;
    uint64_t head[3] = {contentHash, matrix->cellCount, matrix->slotCount};
    bool ok = fwrite(head, sizeof head, 1, file) == 1 && fwrite(matrix->bits, 4, words, file) == words;
    return fclose(file) == 0 && ok;
}

bool espyTruth_Load(espyTruthMatrix* matrix, uint64_t contentHash, const char* path)
{
    FILE* file = fopen(path, "rb");
    if (!file)
    {
        return false;
    }
    size_t words = (size_t)matrix->cellCount * matrix->words;
    uint64_t head[3] = {0};
    bool ok = fread(head, sizeof head, 1, file) == 1 && head[0] == contentHash && head[1] == matrix->cellCount &&
              head[2] == matrix->slotCount;
    uint32_t* stored = ok ? malloc(words * 4u) : NULL;
    ok = stored && fread(stored, 4, words, file) == words;
    for (size_t i = 0; ok && i < words; ++i)
    {
        matrix->bits[i] |= stored[i];
    }
    free(stored);
    fclose(file);
    return ok;
}
