// SPDX-License-Identifier: MIT
// Builds the lattice: one origin and cell size for all areas, and only the cells that an area touches.
//
// An area is the unit cube under a matrix: a parallelepiped. It is convex, so the layers (z), the rows of a layer (y)
// and the cells of a row (x) that it touches are intervals, found by clipping its six faces with the slab of the layer
// and of the row. Every row that is visited holds a cell: counting costs no more than the cells counted.
#include "bake/grid.h"

#include "bake/keyed_sort.h"

#include <stdlib.h>
#include <string.h>

// Share of a cell by which two may overlap and still only touch: what float transforms of exact boxes miss by.
#define ESPY_GRID_TOLERANCE 1e-4
// Flat areas are taken this thick, in cells, so that they overlap what they lie in.
#define ESPY_GRID_FLAT 1e-3
// A direct table of rows is used up to this many (16 MB).
#define ESPY_GRID_MAX_ROWS (4u * 1024u * 1024u)
#define ESPY_GRID_MAX_FACE 12

// An area in lattice units: 1 is a cell, 0 the origin.
typedef struct espyGridArea
{
    double center[3], edge[3][3]; // Half edges.
    double min[3], max[3];
    bool aligned;
    int64_t lo[3], hi[3]; // Cells [lo, hi) of the bounds.
} espyGridArea;

typedef struct espyGridSpan
{
    int64_t lo, hi; // [lo, hi)
} espyGridSpan;

typedef struct espyGridBuilder
{
    const espyiGridDef* def;
    espyGridArea* areas;
    espyGridSpan* spans; // One an area: what touches the current row.
    uint32_t areaCount;
    int64_t dims[3];
    double tolerance;
} espyGridBuilder;

// --- areas

static void espyGrid_FillArea(const espyiGridDef* def, uint32_t index, espyGridArea* out)
{
    // In metres; scaled once the origin is known.
    if (def->areaCount == 0)
    {
        const float lo[3] = {def->bounds.min.x, def->bounds.min.y, def->bounds.min.z};
        const float hi[3] = {def->bounds.max.x, def->bounds.max.y, def->bounds.max.z};
        for (int k = 0; k < 3; ++k)
        {
            out->center[k] = 0.5 * ((double)lo[k] + (double)hi[k]);
            out->edge[k][k] = 0.5 * ((double)hi[k] - (double)lo[k]);
        }
    }
    else
    {
        const float* m = def->areas[index].transform.m;
        for (int k = 0; k < 3; ++k)
        {
            out->center[k] = (double)m[12 + k];
            for (int e = 0; e < 3; ++e)
            {
                out->edge[e][k] = 0.5 * (double)m[4 * e + k];
            }
        }
    }
    for (int k = 0; k < 3; ++k)
    {
        double half = 0.0;
        for (int e = 0; e < 3; ++e)
        {
            half += out->edge[e][k] < 0.0 ? -out->edge[e][k] : out->edge[e][k];
        }
        out->min[k] = out->center[k] - half;
        out->max[k] = out->center[k] + half;
    }
}

static double espyGrid_Abs(double v)
{
    return v < 0.0 ? -v : v;
}

static int64_t espyGrid_Floor(double v)
{
    int64_t i = (int64_t)v;
    return (double)i > v ? i - 1 : i;
}

static int64_t espyGrid_Ceil(double v)
{
    return -espyGrid_Floor(-v);
}

// Cells that [a, b] overlaps by more than the tolerance; at least one.
static espyGridSpan espyGrid_Span(const espyGridBuilder* b, double lo, double hi, int64_t dim)
{
    espyGridSpan span = {espyGrid_Floor(lo + b->tolerance), espyGrid_Ceil(hi - b->tolerance)};
    span.hi = span.hi <= span.lo ? span.lo + 1 : span.hi;
    span.lo = span.lo < 0 ? 0 : span.lo > dim - 1 ? dim - 1 : span.lo;
    span.hi = span.hi > dim ? dim : span.hi < 1 ? 1 : span.hi;
    return span;
}

static void espyGrid_ScaleArea(const espyGridBuilder* b, const double origin[3], espyGridArea* area)
{
    double inverse = 1.0 / (double)b->def->cellSize;
    for (int k = 0; k < 3; ++k)
    {
        area->center[k] = (area->center[k] - origin[k]) * inverse;
        area->min[k] = (area->min[k] - origin[k]) * inverse;
        area->max[k] = (area->max[k] - origin[k]) * inverse;
        for (int e = 0; e < 3; ++e)
        {
            area->edge[e][k] *= inverse;
        }
        espyGridSpan span = espyGrid_Span(b, area->min[k], area->max[k], b->dims[k]);
        area->lo[k] = span.lo;
        area->hi[k] = span.hi;
    }
    // Aligned: each edge runs along one axis, give or take what turning by 90 degrees in floats leaves.
    area->aligned = true;
    for (int e = 0; e < 3; ++e)
    {
        int along = 0;
        for (int k = 0; k < 3; ++k)
        {
            along += espyGrid_Abs(area->edge[e][k]) > 0.25 * b->tolerance ? 1 : 0;
        }
        area->aligned = area->aligned && along <= 1;
    }
    if (area->aligned)
    {
        return;
    }
    // A flat parallelepiped has no inside to overlap with: thicken every short edge along each axis it lacks.
    for (int e = 0; e < 3; ++e)
    {
        double length = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            length += espyGrid_Abs(area->edge[e][k]);
        }
        if (length < ESPY_GRID_FLAT)
        {
            const double* u = area->edge[(e + 1) % 3];
            const double* v = area->edge[(e + 2) % 3];
            double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
            double size = espyGrid_Abs(n[0]) + espyGrid_Abs(n[1]) + espyGrid_Abs(n[2]);
            for (int k = 0; k < 3; ++k)
            {
                area->edge[e][k] = size > 0.0 ? n[k] / size * ESPY_GRID_FLAT : 0.0;
            }
        }
    }
}

// --- clipping

typedef struct espyGridFace
{
    double p[ESPY_GRID_MAX_FACE][3];
    uint32_t count;
} espyGridFace;

// Keeps the part of a convex face where sign * p[axis] <= sign * bound.
static void espyGrid_ClipFace(espyGridFace* face, int axis, double bound, double sign)
{
    espyGridFace in = *face;
    face->count = 0;
    for (uint32_t i = 0; i < in.count; ++i)
    {
        const double* a = in.p[i];
        const double* c = in.p[(i + 1) % in.count];
        double da = sign * (a[axis] - bound);
        double dc = sign * (c[axis] - bound);
        if (da <= 0.0)
        {
            memcpy(face->p[face->count++], a, sizeof in.p[0]);
        }
        if ((da < 0.0 && dc > 0.0) || (da > 0.0 && dc < 0.0))
        {
            double t = da / (da - dc);
            double* p = face->p[face->count++];
            for (int k = 0; k < 3; ++k)
            {
                p[k] = a[k] + t * (c[k] - a[k]);
            }
            p[axis] = bound;
        }
    }
}

// Extent along `axis` of the part of the area in the given layer (z >= 0) and row (y >= 0; -1: any). False: none.
static bool espyGrid_Extent(const espyGridBuilder* b, const espyGridArea* area, int axis, int64_t z, int64_t y,
                            double* lo, double* hi)
{
    bool any = false;
    for (int f = 0; f < 6; ++f)
    {
        const double* n = area->edge[f >> 1];
        const double* u = area->edge[((f >> 1) + 1) % 3];
        const double* v = area->edge[((f >> 1) + 2) % 3];
        double side = f & 1 ? 1.0 : -1.0;
        espyGridFace face = {.count = 4};
        for (int c = 0; c < 4; ++c)
        {
            double su = c == 1 || c == 2 ? 1.0 : -1.0;
            double sv = c >= 2 ? 1.0 : -1.0;
            for (int k = 0; k < 3; ++k)
            {
                face.p[c][k] = area->center[k] + side * n[k] + su * u[k] + sv * v[k];
            }
        }
        espyGrid_ClipFace(&face, 2, (double)z + b->tolerance, -1.0);
        espyGrid_ClipFace(&face, 2, (double)z + 1.0 - b->tolerance, 1.0);
        if (y >= 0)
        {
            espyGrid_ClipFace(&face, 1, (double)y + b->tolerance, -1.0);
            espyGrid_ClipFace(&face, 1, (double)y + 1.0 - b->tolerance, 1.0);
        }
        for (uint32_t i = 0; i < face.count; ++i)
        {
            double value = face.p[i][axis];
            *lo = !any || value < *lo ? value : *lo;
            *hi = !any || value > *hi ? value : *hi;
            any = true;
        }
    }
    return any;
}

// Rows [lo, hi) of a layer, or cells of a row, that an area touches.
static bool espyGrid_Touched(const espyGridBuilder* b, const espyGridArea* area, int axis, int64_t z, int64_t y,
                             espyGridSpan* out)
{
    if (z < area->lo[2] || z >= area->hi[2] || (y >= 0 && (y < area->lo[1] || y >= area->hi[1])))
    {
        return false;
    }
    if (area->aligned)
    {
        *out = (espyGridSpan){area->lo[axis], area->hi[axis]};
        return true;
    }
    double lo = 0.0, hi = 0.0;
    if (!espyGrid_Extent(b, area, axis, z, y, &lo, &hi))
    {
        return false;
    }
    *out = espyGrid_Span(b, lo, hi, b->dims[axis]);
    return true;
}

// --- counting and filling

static int espyGrid_CompareSpans(const void* a, const void* b)
{
    int64_t x = ((const espyGridSpan*)a)->lo;
    int64_t y = ((const espyGridSpan*)b)->lo;
    return x < y ? -1 : x > y ? 1 : 0;
}

// Merges overlapping or touching spans in place; returns how many are left.
static uint32_t espyGrid_MergeSpans(espyGridSpan* spans, uint32_t count)
{
    if (count > 1)
    {
        qsort(spans, count, sizeof *spans, espyGrid_CompareSpans);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (kept > 0 && spans[i].lo <= spans[kept - 1].hi)
        {
            spans[kept - 1].hi = spans[i].hi > spans[kept - 1].hi ? spans[i].hi : spans[kept - 1].hi;
        }
        else
        {
            spans[kept++] = spans[i];
        }
    }
    return kept;
}

// Spans of one row into b->spans.
static uint32_t espyGrid_RowSpans(const espyGridBuilder* b, int64_t z, int64_t y)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->areaCount; ++i)
    {
        count += espyGrid_Touched(b, &b->areas[i], 0, z, y, &b->spans[count]) ? 1u : 0u;
    }
    return espyGrid_MergeSpans(b->spans, count);
}

// Volume of the areas in cells, overlaps counted twice: what a refusal says when counting on would take too long.
static uint64_t espyGrid_Estimate(const espyGridBuilder* b)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < b->areaCount; ++i)
    {
        const espyGridArea* a = &b->areas[i];
        if (a->aligned)
        {
            sum += (double)(a->hi[0] - a->lo[0]) * (double)(a->hi[1] - a->lo[1]) * (double)(a->hi[2] - a->lo[2]);
            continue;
        }
        const double* u = a->edge[0];
        const double* v = a->edge[1];
        const double* w = a->edge[2];
        sum += 8.0 * espyGrid_Abs(u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
                                  u[2] * (v[0] * w[1] - v[1] * w[0]));
    }
    return (uint64_t)(sum + 0.5);
}

// Counts stored cells and runs; with `grid` set, fills them too. Stops once the count is past `limit`, or by the poll.
static uint64_t espyGrid_Walk(const espyGridBuilder* b, espyiGrid* grid, uint64_t limit, uint64_t* runCount)
{
    uint64_t cells = 0;
    *runCount = 0;
    for (int64_t z = 0; z < b->dims[2]; ++z)
    {
        if (!espyiPoll_Work(b->def->poll, b->areaCount))
        {
            return cells;
        }
        espyGridSpan rows = {INT64_MAX, INT64_MIN};
        for (uint32_t i = 0; i < b->areaCount; ++i)
        {
            espyGridSpan span;
            if (espyGrid_Touched(b, &b->areas[i], 1, z, -1, &span))
            {
                rows.lo = span.lo < rows.lo ? span.lo : rows.lo;
                rows.hi = span.hi > rows.hi ? span.hi : rows.hi;
            }
        }
        for (int64_t y = rows.lo; y < rows.hi; ++y)
        {
            uint64_t before = cells;
            if (!espyiPoll_Work(b->def->poll, b->areaCount))
            {
                return cells;
            }
            uint32_t count = espyGrid_RowSpans(b, z, y);
            for (uint32_t i = 0; i < count; ++i)
            {
                espyGridSpan span = b->spans[i];
                if (grid)
                {
                    grid->runs[*runCount] = (espyiCellRun){(uint16_t)span.lo, (uint16_t)y, (uint16_t)z,
                                                           (uint16_t)(span.hi - span.lo), (uint32_t)cells};
                    for (int64_t x = span.lo; x < span.hi; ++x)
                    {
                        grid->cells[cells + (uint64_t)(x - span.lo)] =
                            (espyiCellCoord){(uint16_t)x, (uint16_t)y, (uint16_t)z};
                    }
                }
                cells += (uint64_t)(span.hi - span.lo);
                ++*runCount;
            }
            if (cells > limit || (grid && !espyiPoll_Work(b->def->poll, (size_t)(cells - before))))
            {
                return cells;
            }
        }
    }
    return cells;
}

// --- coarse blocks

uint32_t espyiGrid_CoarseFactor(const uint32_t dims[3])
{
    for (uint32_t b = 4; b < 16; ++b)
    {
        uint64_t blocks = 1;
        for (int k = 0; k < 3; ++k)
        {
            blocks *= (dims[k] + b - 1) / b;
        }
        if (blocks <= 512)
        {
            return b;
        }
    }
    return 16;
}

static bool espyGrid_FillCoarse(espyiGrid* grid, const espyHooks* hooks, espyiPoll* poll)
{
    uint32_t b = espyiGrid_CoarseFactor(grid->dims);
    grid->coarseFactor = b;
    for (int k = 0; k < 3; ++k)
    {
        grid->coarseDims[k] = (grid->dims[k] + b - 1) / b;
    }
    // Blocks that each run crosses: at most one a cell.
    size_t count = 0;
    for (uint32_t i = 0; i < grid->runCount; ++i)
    {
        const espyiCellRun* run = &grid->runs[i];
        count += (run->x + run->length - 1u) / b - run->x / b + 1u;
    }
    espyiKeyed* blocks = espyiAlloc(hooks, count, sizeof *blocks);
    if (!blocks)
    {
        return false;
    }
    size_t used = 0;
    for (uint32_t i = 0; i < grid->runCount; ++i)
    {
        const espyiCellRun* run = &grid->runs[i];
        for (uint32_t x = run->x / b; x <= (run->x + run->length - 1u) / b; ++x)
        {
            blocks[used++].key = (uint64_t)(run->z / b) << 32 | (uint64_t)(run->y / b) << 16 | x;
        }
    }
    bool sorted = espyiKeyed_Sort(blocks, used, hooks, poll);
    uint32_t kept = 0;
    for (size_t i = 0; i < used && sorted; ++i)
    {
        if (kept == 0 || blocks[kept - 1].key != blocks[i].key)
        {
            blocks[kept++] = blocks[i];
        }
    }
    grid->coarse = sorted ? espyiAlloc(hooks, kept, sizeof *grid->coarse) : NULL;
    for (uint32_t i = 0; i < kept && grid->coarse; ++i)
    {
        uint64_t key = blocks[i].key;
        grid->coarse[i] = (espyiCellCoord){(uint16_t)key, (uint16_t)(key >> 16), (uint16_t)(key >> 32)};
    }
    grid->coarseCount = grid->coarse ? kept : 0;
    espyiFree(hooks, blocks);
    return grid->coarse != NULL;
}

static bool espyGrid_FillRows(espyiGrid* grid, const espyHooks* hooks)
{
    uint64_t rows = (uint64_t)grid->dims[1] * grid->dims[2];
    if (grid->dense || rows > ESPY_GRID_MAX_ROWS)
    {
        return true;
    }
    grid->rowRuns = espyiAlloc(hooks, (size_t)rows + 1, sizeof *grid->rowRuns);
    if (!grid->rowRuns)
    {
        return false;
    }
    uint32_t run = 0;
    for (uint32_t row = 0; row < rows; ++row)
    {
        grid->rowRuns[row] = run;
        while (run < grid->runCount && grid->runs[run].y + grid->dims[1] * grid->runs[run].z == row)
        {
            ++run;
        }
    }
    grid->rowRuns[rows] = run;
    return true;
}

// --- building

static espyResult espyGrid_Prepare(espyGridBuilder* b, espyiGrid* out, espyiGridRefusal* refusal)
{
    const espyiGridDef* def = b->def;
    double lo[3] = {0}, hi[3] = {0};
    for (uint32_t i = 0; i < b->areaCount; ++i)
    {
        if (def->areaCount > 0 ? !espyMat4_IsFinite(def->areas[i].transform) : !espyBox_IsValid(def->bounds))
        {
            return espyResult_InvalidArgument;
        }
        espyGrid_FillArea(def, i, &b->areas[i]);
        for (int k = 0; k < 3; ++k)
        {
            lo[k] = i == 0 || b->areas[i].min[k] < lo[k] ? b->areas[i].min[k] : lo[k];
            hi[k] = i == 0 || b->areas[i].max[k] > hi[k] ? b->areas[i].max[k] : hi[k];
        }
    }
    out->origin = (espyVec3){(float)lo[0], (float)lo[1], (float)lo[2]};
    double origin[3] = {(double)out->origin.x, (double)out->origin.y, (double)out->origin.z};
    // What rounding the corners to floats may add, in cells.
    double largest = 0.0;
    for (int k = 0; k < 3; ++k)
    {
        largest = espyGrid_Abs(lo[k]) > largest ? espyGrid_Abs(lo[k]) : largest;
        largest = espyGrid_Abs(hi[k]) > largest ? espyGrid_Abs(hi[k]) : largest;
    }
    double rounding = 2.5e-7 * largest / (double)def->cellSize;
    b->tolerance = ESPY_GRID_TOLERANCE + (rounding < 0.01 ? rounding : 0.01);
    for (int k = 0; k < 3; ++k)
    {
        double cells = (hi[k] - origin[k]) / (double)def->cellSize - b->tolerance;
        if (!(cells <= (double)ESPYI_GRID_MAX_DIM))
        {
            refusal->length = cells < 1e18 ? (uint64_t)espyGrid_Ceil(cells) : UINT64_MAX;
            return espyResult_LimitExceeded;
        }
        b->dims[k] = cells > 1.0 ? espyGrid_Ceil(cells) : 1;
        out->dims[k] = (uint32_t)b->dims[k];
    }
    for (uint32_t i = 0; i < b->areaCount; ++i)
    {
        espyGrid_ScaleArea(b, origin, &b->areas[i]);
    }
    return espyResult_Ok;
}

static espyResult espyGrid_Fill(const espyGridBuilder* b, espyiGrid* out, espyiGridRefusal* refusal)
{
    const espyHooks* hooks = b->def->hooks;
    // Past the limit the count goes on for a while, so that the message can say how many cells are needed.
    uint64_t limit = (uint64_t)b->def->maxCells;
    uint64_t patience = limit + 4u * 1024u * 1024u;
    uint64_t runs = 0;
    uint64_t cells = b->areaCount == 1 && b->areas[0].aligned ? espyGrid_Estimate(b) : 0;
    if (cells <= limit)
    {
        cells = espyGrid_Walk(b, NULL, patience, &runs);
    }
    if (espyiPoll_IsStopped(b->def->poll))
    {
        return espyResult_Cancelled;
    }
    if (cells > limit || cells > INT32_MAX)
    {
        uint64_t estimate = cells > patience ? espyGrid_Estimate(b) : cells;
        refusal->cells = estimate > cells ? estimate : cells;
        return espyResult_LimitExceeded;
    }
    out->cellCount = (uint32_t)cells;
    out->dense = cells == (uint64_t)out->dims[0] * out->dims[1] * out->dims[2];
    out->cells = espyiAlloc(hooks, (size_t)cells, sizeof *out->cells);
    out->solid = espyiAlloc(hooks, espyiBits_Words(out->cellCount), sizeof *out->solid);
    out->runs = espyiAlloc(hooks, (size_t)runs, sizeof *out->runs);
    if (!out->cells || !out->solid || !out->runs)
    {
        return espyResult_OutOfMemory;
    }
    espyGrid_Walk(b, out, UINT64_MAX, &runs);
    out->runCount = (uint32_t)runs;
    bool filled = !espyiPoll_IsStopped(b->def->poll) && espyGrid_FillCoarse(out, hooks, b->def->poll) &&
                  espyGrid_FillRows(out, hooks);
    return espyiPoll_Result(b->def->poll, filled);
}

espyResult espyiGrid_Build(const espyiGridDef* def, espyiGrid* out, espyiGridRefusal* refusal)
{
    *out = (espyiGrid){.cellSize = def->cellSize};
    *refusal = (espyiGridRefusal){0};
    espyGridBuilder b = {.def = def, .areaCount = def->areaCount > 0 ? def->areaCount : 1};
    b.areas = espyiAlloc(def->hooks, b.areaCount, sizeof *b.areas);
    b.spans = espyiAlloc(def->hooks, b.areaCount, sizeof *b.spans);
    espyResult result = b.areas && b.spans ? espyGrid_Prepare(&b, out, refusal) : espyResult_OutOfMemory;
    if (result == espyResult_Ok)
    {
        result = espyGrid_Fill(&b, out, refusal);
    }
    espyiFree(def->hooks, b.areas);
    espyiFree(def->hooks, b.spans);
    if (result != espyResult_Ok)
    {
        espyiGrid_Free(out, def->hooks);
    }
    return result;
}

void espyiGrid_Free(espyiGrid* grid, const espyHooks* hooks)
{
    espyiFree(hooks, grid->cells);
    espyiFree(hooks, grid->solid);
    espyiFree(hooks, grid->coarse);
    espyiFree(hooks, grid->runs);
    espyiFree(hooks, grid->rowRuns);
    *grid = (espyiGrid){0};
}

// --- lookups

static espyBox espyGrid_LatticeBox(const espyiGrid* grid, espyiCellCoord at, uint32_t size)
{
    float s = grid->cellSize;
    return (espyBox){
        {s * (float)(at.x * size), s * (float)(at.y * size), s * (float)(at.z * size)},
        {s * (float)(at.x * size + size), s * (float)(at.y * size + size), s * (float)(at.z * size + size)},
    };
}

static espyBox espyGrid_ToWorld(const espyiGrid* grid, espyBox box)
{
    espyVec3 o = grid->origin;
    return (espyBox){
        {box.min.x + o.x, box.min.y + o.y, box.min.z + o.z},
        {box.max.x + o.x, box.max.y + o.y, box.max.z + o.z},
    };
}

espyBox espyiGrid_LocalCellBox(const espyiGrid* grid, uint32_t rank)
{
    return espyGrid_LatticeBox(grid, grid->cells[rank], 1);
}

espyBox espyiGrid_LocalCoarseBox(const espyiGrid* grid, uint32_t coarse)
{
    return espyGrid_LatticeBox(grid, grid->coarse[coarse], grid->coarseFactor);
}

espyBox espyiGrid_CellBox(const espyiGrid* grid, uint32_t rank)
{
    return espyGrid_ToWorld(grid, espyiGrid_LocalCellBox(grid, rank));
}

espyBox espyiGrid_CoarseBox(const espyiGrid* grid, uint32_t coarse)
{
    return espyGrid_ToWorld(grid, espyiGrid_LocalCoarseBox(grid, coarse));
}

static bool espyGrid_RunBefore(const espyiCellRun* run, uint32_t x, uint32_t y, uint32_t z)
{
    return run->z != z ? run->z < z : run->y != y ? run->y < y : run->x <= x;
}

int32_t espyiGrid_RankAt(const espyiGrid* grid, int32_t x, int32_t y, int32_t z)
{
    if (x < 0 || y < 0 || z < 0 || (uint32_t)x >= grid->dims[0] || (uint32_t)y >= grid->dims[1] ||
        (uint32_t)z >= grid->dims[2])
    {
        return -1;
    }
    if (grid->dense)
    {
        return x + (int32_t)grid->dims[0] * (y + (int32_t)grid->dims[1] * z);
    }
    uint32_t lo = 0, hi = grid->runCount;
    if (grid->rowRuns)
    {
        size_t row = (size_t)y + (size_t)grid->dims[1] * (size_t)z;
        lo = grid->rowRuns[row];
        hi = grid->rowRuns[row + 1];
    }
    // Last run that starts at or before the cell.
    uint32_t first = lo;
    while (lo < hi)
    {
        uint32_t middle = lo + (hi - lo) / 2;
        if (espyGrid_RunBefore(&grid->runs[middle], (uint32_t)x, (uint32_t)y, (uint32_t)z))
        {
            lo = middle + 1;
        }
        else
        {
            hi = middle;
        }
    }
    if (lo == first)
    {
        return -1;
    }
    const espyiCellRun* run = &grid->runs[lo - 1];
    bool inside = run->z == z && run->y == y && x - run->x < run->length;
    return inside ? (int32_t)(run->firstRank + (uint32_t)(x - run->x)) : -1;
}

uint64_t espyiGrid_Hash(const espyiGrid* grid)
{
    uint32_t head[8];
    memcpy(head, &grid->origin, sizeof grid->origin);
    memcpy(head + 3, &grid->cellSize, sizeof grid->cellSize);
    memcpy(head + 4, grid->dims, sizeof grid->dims);
    head[7] = grid->cellCount;
    // A zero may carry a sign; the volume is the same.
    for (int k = 0; k < 3; ++k)
    {
        head[k] = head[k] == 0x80000000u ? 0u : head[k];
    }
    uint64_t hash = espyiHash_Words(0, head, ESPYI_ARRAY_COUNT(head));
    for (uint32_t i = 0; i < grid->runCount; ++i)
    {
        const espyiCellRun* run = &grid->runs[i];
        uint32_t words[2] = {run->x | (uint32_t)run->y << 16, run->z | (uint32_t)run->length << 16};
        hash = espyiHash_Words(hash, words, 2);
    }
    return hash;
}
