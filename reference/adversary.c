// SPDX-License-Identifier: MIT
// Attacks what a file hides.
#include "reference/adversary.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "reference/visibility_reference.h"

/// Surfaces this close never hide each other: lines start so far from their target. Metres.
#define ESPY_ADVERSARY_GAP 1e-4
/// A cell counts where a line runs through this much of it.
#define ESPY_ADVERSARY_DEPTH 2e-4
#define ESPY_ADVERSARY_POOL 1024u

typedef struct espyAdversarySurface
{
    double* cumulative;
    uint32_t count;
} espyAdversarySurface;

typedef struct espyAdversaryLine
{
    espyVec3 origin, through;
    uint32_t slot, triangle;
} espyAdversaryLine;

typedef struct espyAdversaryRun
{
    const espyAdversary* adversary;
    const espyAdversaryDef* def;
    espyAdversaryResult* out;
    uint64_t state;
    espyAdversaryLine pool[ESPY_ADVERSARY_POOL];
    uint32_t poolCount, poolNext;
    uint32_t lastHit;
} espyAdversaryRun;

static const uint32_t espyAdversaryBox[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                              2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

static void espyAdversary_Corner(const espyBakeOccludee* occludee, uint32_t triangle, uint32_t k, double out[3])
{
    espyVec3 p;
    if (occludee->mesh.triangleCount > 0)
    {
        p = occludee->mesh.positions[occludee->mesh.indices[3u * triangle + k]];
    }
    else
    {
        uint32_t i = espyAdversaryBox[3u * triangle + k];
        p = (espyVec3){i & 1u ? occludee->box.max.x : occludee->box.min.x,
                       i & 2u ? occludee->box.max.y : occludee->box.min.y,
                       i & 4u ? occludee->box.max.z : occludee->box.min.z};
    }
    out[0] = (double)p.x;
    out[1] = (double)p.y;
    out[2] = (double)p.z;
}

bool espyAdversary_Create(const espyBakeInput* input, espyAdversary* out)
{
    *out = (espyAdversary){.input = input};
    size_t triangles = 0;
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        triangles += input->occluders[i].mesh.triangleCount;
    }
    out->positions = calloc(3 * triangles + 1, sizeof(espyVec3));
    out->indices = calloc(3 * triangles + 1, sizeof(uint32_t));
    out->objects = calloc(triangles + 1, sizeof(uint32_t));
    espyAdversarySurface* surfaces = calloc((size_t)input->occludeeCount + 1, sizeof(espyAdversarySurface));
    out->surfaces = surfaces;
    if (!out->positions || !out->indices || !out->objects || !surfaces)
    {
        espyAdversary_Free(out);
        return false;
    }
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        const espyTriangles* mesh = &input->occluders[i].mesh;
        for (uint32_t t = 0; t < mesh->triangleCount; ++t)
        {
            for (uint32_t k = 0; k < 3; ++k)
            {
                uint32_t at = 3 * out->triangleCount + k;
                out->positions[at] = mesh->positions[mesh->indices[3 * t + k]];
                out->indices[at] = at;
            }
            out->objects[out->triangleCount++] = i;
        }
    }
    for (uint32_t slot = 0; slot < input->occludeeCount; ++slot)
    {
        const espyBakeOccludee* occludee = &input->occludees[slot];
        espyAdversarySurface* surface = &surfaces[slot];
        uint32_t count = occludee->mesh.triangleCount ? occludee->mesh.triangleCount : 12u;
        surface->cumulative = calloc(count, sizeof(double));
        if (!surface->cumulative)
        {
            espyAdversary_Free(out);
            return false;
        }
        surface->count = count;
        double sum = 0;
        for (uint32_t t = 0; t < count; ++t)
        {
            double a[3], b[3], c[3], n[3];
            espyAdversary_Corner(occludee, t, 0, a);
            espyAdversary_Corner(occludee, t, 1, b);
            espyAdversary_Corner(occludee, t, 2, c);
            for (int k = 0; k < 3; ++k)
            {
                int u = (k + 1) % 3, v = (k + 2) % 3;
                n[k] = (b[u] - a[u]) * (c[v] - a[v]) - (b[v] - a[v]) * (c[u] - a[u]);
            }
            double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
            sum += area > 0 ? area : 0;
            surface->cumulative[t] = sum;
        }
    }
    return true;
}

void espyAdversary_Free(espyAdversary* adversary)
{
    espyAdversarySurface* surfaces = adversary->surfaces;
    for (uint32_t i = 0; surfaces && i < adversary->input->occludeeCount; ++i)
    {
        free(surfaces[i].cumulative);
    }
    free(surfaces);
    free(adversary->positions);
    free(adversary->indices);
    free(adversary->objects);
    *adversary = (espyAdversary){0};
}

// --- points and lines

static double espyRun_Random(espyAdversaryRun* run)
{
    return espyReference_Random(&run->state);
}

static uint32_t espyRun_Below(espyAdversaryRun* run, uint32_t bound)
{
    uint32_t value = (uint32_t)(espyRun_Random(run) * (double)bound);
    return value < bound ? value : bound - 1;
}

/// A tenth on edges and a tenth at corners: what sticks out is seen first.
static void espyRun_SurfacePoint(espyAdversaryRun* run, uint32_t slot, double out[3])
{
    const espyAdversarySurface* surface = &((const espyAdversarySurface*)run->adversary->surfaces)[slot];
    double wanted = espyRun_Random(run) * surface->cumulative[surface->count - 1];
    uint32_t low = 0, high = surface->count - 1;
    while (low < high)
    {
        uint32_t middle = (low + high) / 2;
        bool before = surface->cumulative[middle] < wanted;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    double a[3], b[3], c[3], u = espyRun_Random(run), v = espyRun_Random(run), kind = espyRun_Random(run);
    uint32_t turn = espyRun_Below(run, 3);
    espyAdversary_Corner(&run->def->input->occludees[slot], low, turn, a);
    espyAdversary_Corner(&run->def->input->occludees[slot], low, (turn + 1) % 3, b);
    espyAdversary_Corner(&run->def->input->occludees[slot], low, (turn + 2) % 3, c);
    if (u + v > 1)
    {
        u = 1 - u;
        v = 1 - v;
    }
    v = kind < 0.2 ? 0 : v;
    u = kind < 0.1 ? 0 : u;
    for (int k = 0; k < 3; ++k)
    {
        out[k] = a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]);
    }
}

static void espyRun_Direction(espyAdversaryRun* run, double out[3])
{
    double square;
    do
    {
        square = 0;
        for (int k = 0; k < 3; ++k)
        {
            out[k] = 2 * espyRun_Random(run) - 1;
            square += out[k] * out[k];
        }
    } while (square > 1 || square < 1e-3);
    for (int k = 0; k < 3; ++k)
    {
        out[k] /= sqrt(square);
    }
}

/// From 10 um to half a metre, each decade as likely.
static double espyRun_Offset(espyAdversaryRun* run)
{
    return 1e-5 * pow(5e4, espyRun_Random(run));
}

static void espyRun_Beside(espyAdversaryRun* run, const double a[3], const double b[3], double out[3])
{
    double d[3], along = espyRun_Random(run), offset = espyRun_Offset(run);
    espyRun_Direction(run, d);
    for (int k = 0; k < 3; ++k)
    {
        out[k] = a[k] + along * (b[k] - a[k]) + offset * d[k];
    }
}

static void espyAdversary_TriangleCorner(const espyAdversary* adversary, uint32_t triangle, uint32_t k, double out[3])
{
    espyVec3 p = adversary->positions[3 * triangle + k];
    out[0] = (double)p.x;
    out[1] = (double)p.y;
    out[2] = (double)p.z;
}

static void espyRun_PastEdge(espyAdversaryRun* run, uint32_t triangle, double out[3])
{
    double a[3], b[3];
    uint32_t edge = espyRun_Below(run, 3);
    espyAdversary_TriangleCorner(run->adversary, triangle, edge, a);
    espyAdversary_TriangleCorner(run->adversary, triangle, (edge + 1) % 3, b);
    espyRun_Beside(run, a, b, out);
}

/// A point of a cell that the file hides the slot from. False: none in a few tries.
static bool espyRun_HiddenPoint(espyAdversaryRun* run, uint32_t slot, double out[3])
{
    const espyPvs* pvs = run->def->pvs;
    for (int attempt = 0; attempt < 8; ++attempt)
    {
        int32_t cell = (int32_t)espyRun_Below(run, pvs->cellCount);
        const uint32_t* set = espyPvs_GetStaticSet(pvs, cell);
        if (set && !(set[slot >> 5] >> (slot & 31u) & 1u))
        {
            espyBox box = espyPvs_GetCellBox(pvs, cell);
            const double low[3] = {(double)box.min.x, (double)box.min.y, (double)box.min.z};
            const double high[3] = {(double)box.max.x, (double)box.max.y, (double)box.max.z};
            for (int k = 0; k < 3; ++k)
            {
                out[k] = low[k] + espyRun_Random(run) * (high[k] - low[k]);
            }
            return true;
        }
    }
    return false;
}

static espyAdversaryLine espyRun_NewLine(espyAdversaryRun* run, uint32_t slot, uint32_t kind)
{
    double origin[3], through[3];
    espyRun_SurfacePoint(run, slot, origin);
    bool aimed = false;
    if (kind == 1 && run->lastHit != UINT32_MAX)
    {
        espyRun_PastEdge(run, run->lastHit, through);
        aimed = true;
    }
    else if (kind == 3)
    {
        aimed = espyRun_HiddenPoint(run, slot, through);
    }
    else if (kind == 4 && run->def->rimCount > 0)
    {
        const double(*rim)[3] = run->def->rims[espyRun_Below(run, run->def->rimCount)];
        espyRun_Beside(run, rim[0], rim[1], through);
        aimed = true;
    }
    if (!aimed)
    {
        espyRun_Direction(run, through);
        for (int k = 0; k < 3; ++k)
        {
            through[k] += origin[k];
        }
    }
    return (espyAdversaryLine){{(float)origin[0], (float)origin[1], (float)origin[2]},
                               {(float)through[0], (float)through[1], (float)through[2]},
                               slot,
                               UINT32_MAX};
}

/// A line of the pool with both ends moved a little; half of those that were blocked then pass an edge of the blocker.
static espyAdversaryLine espyRun_Mutate(espyAdversaryRun* run, const espyAdversaryLine* from)
{
    espyAdversaryLine line = *from;
    double d[3], through[3], offset = espyRun_Offset(run);
    espyRun_Direction(run, d);
    if (line.triangle != UINT32_MAX && espyRun_Random(run) < 0.5)
    {
        espyRun_PastEdge(run, line.triangle, through);
        line.through = (espyVec3){(float)through[0], (float)through[1], (float)through[2]};
    }
    else
    {
        line.through.x += (float)(offset * d[0]);
        line.through.y += (float)(offset * d[1]);
        line.through.z += (float)(offset * d[2]);
    }
    if (espyRun_Random(run) < 0.3)
    {
        double origin[3];
        espyRun_SurfacePoint(run, line.slot, origin);
        line.origin = (espyVec3){(float)origin[0], (float)origin[1], (float)origin[2]};
    }
    return line;
}

// --- the second look

/// Clearance of a segment from all triangles that are not the target's own; 0 where one is met.
static double espyRun_Clearance(const espyAdversaryRun* run, uint32_t slot, const double from[3], const double to[3],
                                const double clear[3])
{
    const espyBakeOccludee* occludee = &run->def->input->occludees[slot];
    double best = DBL_MAX;
    for (uint32_t i = 0; i < run->adversary->triangleCount; ++i)
    {
        uint32_t object = run->adversary->objects[i];
        if (object - occludee->firstOwn < occludee->ownCount)
        {
            continue;
        }
        double t[1][3][3];
        for (uint32_t k = 0; k < 3; ++k)
        {
            espyAdversary_TriangleCorner(run->adversary, i, k, t[0][k]);
        }
        espyReferenceScene scene = {.triangles = (const double(*)[3][3])t, .count = 1, .lastBlocker = 1};
        if (espyReference_Blocked(&scene, from, to))
        {
            return 0;
        }
        best = fmin(best, espyReference_Clearance(&scene, from, clear));
    }
    return best;
}

/// One cell that the line runs through between two distances, and that hides its target.
static void espyRun_Accuse(espyAdversaryRun* run, uint32_t slot, int32_t cell, const double origin[3],
                           const double d[3], double enter, double leave)
{
    for (int i = 1; i < 4; ++i)
    {
        double from[3], to[3], clear[3], t = enter + 0.25 * i * (leave - enter);
        for (int k = 0; k < 3; ++k)
        {
            from[k] = origin[k] + t * d[k];
            to[k] = origin[k] + ESPY_ADVERSARY_GAP * d[k];
            clear[k] = origin[k] + fmin(10 * ESPY_ADVERSARY_GAP, 0.5 * t) * d[k];
        }
        if (run->def->place && !run->def->place(run->def->placeContext, from))
        {
            continue;
        }
        double clearance = espyRun_Clearance(run, slot, from, to, clear);
        if (clearance > run->def->tolerance)
        {
            if (run->out->violations++ == 0)
            {
                run->out->cell = (uint32_t)cell;
                run->out->slot = slot;
                for (int k = 0; k < 3; ++k)
                {
                    run->out->from[k] = from[k];
                    run->out->to[k] = to[k];
                }
            }
            return;
        }
        run->out->grazing += clearance > 0;
        if (clearance > 0)
        {
            return;
        }
    }
}

static void espyRun_Walk(espyAdversaryRun* run, const espyAdversaryLine* line, const espyVec3* direction, double end)
{
    const espyPvs* pvs = run->def->pvs;
    const double o[3] = {(double)line->origin.x, (double)line->origin.y, (double)line->origin.z};
    const double d[3] = {(double)direction->x, (double)direction->y, (double)direction->z};
    const double base[3] = {(double)pvs->origin.x, (double)pvs->origin.y, (double)pvs->origin.z};
    double size = (double)pvs->cellSize, enter = 0, leave = end;
    for (int k = 0; k < 3; ++k)
    {
        double low = base[k] - o[k], high = low + size * (double)pvs->dims[k];
        if (d[k] == 0)
        {
            leave = low > 0 || high < 0 ? -1 : leave;
            continue;
        }
        enter = fmax(enter, fmin(low / d[k], high / d[k]));
        leave = fmin(leave, fmax(low / d[k], high / d[k]));
    }
    while (leave - enter > ESPY_ADVERSARY_DEPTH)
    {
        // The border that comes next.
        double next = leave, probe = enter + 1e-6;
        for (int k = 0; k < 3; ++k)
        {
            if (d[k] != 0)
            {
                double at = floor((o[k] + probe * d[k] - base[k]) / size) + (d[k] > 0 ? 1.0 : 0.0);
                double t = (base[k] + size * at - o[k]) / d[k];
                next = t > probe && t < next ? t : next;
            }
        }
        if (next - enter > ESPY_ADVERSARY_DEPTH)
        {
            double t = 0.5 * (enter + next);
            espyVec3 middle = {(float)(o[0] + t * d[0]), (float)(o[1] + t * d[1]), (float)(o[2] + t * d[2])};
            int32_t cell = espyPvs_FindCell(pvs, middle);
            const uint32_t* set = cell < 0 ? NULL : espyPvs_GetStaticSet(pvs, cell);
            run->out->held += set != NULL;
            if (set && !(set[line->slot >> 5] >> (line->slot & 31u) & 1u))
            {
                double inset = 0.5 * ESPY_ADVERSARY_DEPTH;
                espyRun_Accuse(run, line->slot, cell, o, d, enter + inset, next - inset);
            }
        }
        enter = next;
    }
}

void espyAdversary_Run(const espyAdversary* adversary, const espyAdversaryDef* def, espyAdversaryResult* out)
{
    *out = (espyAdversaryResult){0};
    espyAdversaryRun* run = calloc(1, sizeof *run);
    if (!run || def->input->occludeeCount == 0)
    {
        free(run);
        return;
    }
    run->adversary = adversary;
    run->def = def;
    run->out = out;
    run->state = def->seed;
    run->lastHit = UINT32_MAX;
    while (out->rays < def->rays)
    {
        espyAdversaryLine lines[ESPY_ADVERSARY_BATCH];
        espyVec3 origins[ESPY_ADVERSARY_BATCH], directions[ESPY_ADVERSARY_BATCH];
        espyAdversaryHit hits[ESPY_ADVERSARY_BATCH];
        uint32_t slot = espyRun_Below(run, def->input->occludeeCount), count = 0;
        const espyBakeOccludee* occludee = &def->input->occludees[slot];
        uint32_t mutants = run->poolCount > 0 && espyRun_Random(run) < 0.2 ? ESPY_ADVERSARY_BATCH : 0;
        uint32_t parent = espyRun_Below(run, run->poolCount ? run->poolCount : 1);
        if (mutants)
        {
            slot = run->pool[parent].slot;
            occludee = &def->input->occludees[slot];
        }
        static const uint32_t kinds[4] = {0, 1, 3, 4};
        for (uint32_t i = 0; i < ESPY_ADVERSARY_BATCH; ++i)
        {
            espyAdversaryLine line =
                mutants ? espyRun_Mutate(run, &run->pool[parent]) : espyRun_NewLine(run, slot, kinds[i % 4]);
            double v[3] = {(double)line.through.x - (double)line.origin.x,
                           (double)line.through.y - (double)line.origin.y,
                           (double)line.through.z - (double)line.origin.z};
            double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            if (length > 1e-5)
            {
                lines[count] = line;
                origins[count] = line.origin;
                directions[count++] =
                    (espyVec3){(float)(v[0] / length), (float)(v[1] / length), (float)(v[2] / length)};
            }
        }
        def->trace(def->traceContext, origins, directions, count, (float)ESPY_ADVERSARY_GAP, occludee->firstOwn,
                   occludee->ownCount, hits);
        out->rays += count;
        for (uint32_t i = 0; i < count; ++i)
        {
            espyRun_Walk(run, &lines[i], &directions[i], fmin(hits[i].t, 1e5));
            bool hit = hits[i].t < 1e30;
            run->lastHit = hit ? hits[i].triangle : run->lastHit;
            // Kept for mutation: one in eight of those that went somewhere.
            if (hits[i].t > 0.5 && (i & 7u) == 0)
            {
                lines[i].triangle = hit ? hits[i].triangle : UINT32_MAX;
                run->pool[run->poolNext++ % ESPY_ADVERSARY_POOL] = lines[i];
                run->poolCount = run->poolCount < ESPY_ADVERSARY_POOL ? run->poolCount + 1 : ESPY_ADVERSARY_POOL;
            }
        }
    }
    free(run);
}
