// SPDX-License-Identifier: MIT
// From triangles to few, convex, large occluder polygons: the fewer planes, the smaller the BSP.
#include "bake/freespace_internal.h"

#include <float.h>
#include <math.h>

#define ESPYI_MAX_MERGED_POINTS 12u
#define ESPYI_NO_INDEX 0xFFFFFFFFu
// Triangles lower than this have no plane that can be trusted.
#define ESPYI_MIN_HEIGHT 1e-7
// Bound of the joining passes: each at best halves the count, and the first two do nearly all.
#define ESPYI_MERGE_PASSES 6u

typedef struct espyMergePolygon
{
    uint32_t points[ESPYI_MAX_MERGED_POINTS];
    uint32_t count; ///< 0: joined into another.
    double normal[3], w;
    double area, snap;
    double off;   ///< Largest distance of a point from the plane.
    double moved; ///< Largest move of a point when coordinates were aligned.
} espyMergePolygon;

typedef struct espyMerger
{
    const espyHooks* hooks;
    espyiPoll* poll;
    double (*points)[3];
    double* moves; ///< One a point.
    espyMergePolygon* polygons;
    size_t pointCount, polygonCount;
} espyMerger;

/// Non-negative doubles order like their bits.
static uint64_t espyDoubleBits(double value)
{
    union
    {
        double d;
        uint64_t u;
    } bits = {value};
    return bits.u;
}

static void espyCross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double espyDot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void espySub(const double a[3], const double b[3], double out[3])
{
    out[0] = a[0] - b[0];
    out[1] = a[1] - b[1];
    out[2] = a[2] - b[2];
}

/// Step of 32-bit floats at this magnitude.
static double espyFloatStep(double magnitude)
{
    int exponent;
    frexp(magnitude < 1.0 ? 1.0 : magnitude, &exponent);
    return ldexp(1.0, exponent - 24);
}

/// Two float steps: what rotating and placing a mesh in 32-bit floats does to its flat faces.
static double espySnapAt(double magnitude)
{
    return 2 * espyFloatStep(fabs(magnitude));
}

void espyiPolygon_Bound(espyiPolygonD* polygon, const double (*points)[3])
{
    for (int axis = 0; axis < 3; ++axis)
    {
        double low = DBL_MAX, high = -DBL_MAX;
        for (uint32_t i = 0; i < polygon->count; ++i)
        {
            double x = points[polygon->first + i][axis];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        polygon->center[axis] = 0.5 * (low + high);
        polygon->half[axis] = 0.5 * (high - low);
    }
}

static bool espyTriangle_IsThick(const double a[3], const double b[3], const double c[3], double* area)
{
    double ab[3], ac[3], bc[3], normal[3];
    espySub(b, a, ab);
    espySub(c, a, ac);
    espySub(c, b, bc);
    espyCross(ab, ac, normal);
    double longest = fmax(espyDot(ab, ab), fmax(espyDot(ac, ac), espyDot(bc, bc)));
    double twice = sqrt(espyDot(normal, normal));
    *area = 0.5 * twice;
    return twice > ESPYI_MIN_HEIGHT * sqrt(longest);
}

/// Reads one triangle; false where it cannot occlude.
static bool espyTriangle_Read(const espyTriangles* mesh, uint32_t triangle, espyiBoxD world, double p[3][3],
                              double* area)
{
    for (uint32_t i = 0; i < 3; ++i)
    {
        uint32_t index = mesh->indices[3 * (size_t)triangle + i];
        if (index >= mesh->vertexCount)
        {
            return false;
        }
        espyVec3 v = mesh->positions[index];
        p[i][0] = (double)v.x;
        p[i][1] = (double)v.y;
        p[i][2] = (double)v.z;
    }
    for (int axis = 0; axis < 3; ++axis)
    {
        // Written so that a NaN fails it.
        for (int i = 0; i < 3; ++i)
        {
            if (!(fabs(p[i][axis]) <= 1e7))
            {
                return false;
            }
        }
        if ((p[0][axis] < world.min[axis] && p[1][axis] < world.min[axis] && p[2][axis] < world.min[axis]) ||
            (p[0][axis] > world.max[axis] && p[1][axis] > world.max[axis] && p[2][axis] > world.max[axis]))
        {
            return false;
        }
    }
    return espyTriangle_IsThick(p[0], p[1], p[2], area);
}

/// Newell's normal, area and the plane through the middle of the points' heights.
static bool espyMerge_SetPlane(const espyMerger* merger, espyMergePolygon* polygon)
{
    double normal[3] = {0, 0, 0};
    const double* origin = merger->points[polygon->points[0]];
    for (uint32_t i = 1; i + 1 < polygon->count; ++i)
    {
        double a[3], b[3], c[3];
        espySub(merger->points[polygon->points[i]], origin, a);
        espySub(merger->points[polygon->points[i + 1]], origin, b);
        espyCross(a, b, c);
        for (int axis = 0; axis < 3; ++axis)
        {
            normal[axis] += c[axis];
        }
    }
    double length = sqrt(espyDot(normal, normal));
    if (!(length > 0))
    {
        return false;
    }
    polygon->area = 0.5 * length;
    int zeros = 0;
    for (int axis = 0; axis < 3; ++axis)
    {
        zeros += normal[axis] == 0;
        polygon->normal[axis] = normal[axis] / length;
    }
    if (zeros == 2)
    {
        // Exactly axial; the division may have missed 1 by a rounding.
        for (int axis = 0; axis < 3; ++axis)
        {
            polygon->normal[axis] = normal[axis] == 0 ? 0.0 : (normal[axis] > 0 ? 1.0 : -1.0);
        }
    }
    double low = DBL_MAX, high = -DBL_MAX;
    for (uint32_t i = 0; i < polygon->count; ++i)
    {
        double height = espyDot(polygon->normal, merger->points[polygon->points[i]]);
        low = height < low ? height : low;
        high = height > high ? height : high;
    }
    polygon->w = low == high ? low : 0.5 * (low + high);
    polygon->off = 0.5 * (high - low);
    return true;
}

/// Place of the directed edge a -> b in the polygon, or NO_INDEX.
static uint32_t espyMerge_FindEdge(const espyMergePolygon* polygon, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < polygon->count; ++i)
    {
        if (polygon->points[i] == a && polygon->points[(i + 1) % polygon->count] == b)
        {
            return i;
        }
    }
    return ESPYI_NO_INDEX;
}

static void espyMerge_Reverse(espyMergePolygon* polygon)
{
    for (uint32_t i = 0; i < polygon->count / 2; ++i)
    {
        uint32_t swap = polygon->points[i];
        polygon->points[i] = polygon->points[polygon->count - 1 - i];
        polygon->points[polygon->count - 1 - i] = swap;
    }
}

/// Joins q to p over the edge a - b where the result is convex and flat. Occluders block both ways, so either side of
/// q will do.
static bool espyMerge_Join(const espyMerger* merger, espyMergePolygon* p, const espyMergePolygon* other, uint32_t a,
                           uint32_t b)
{
    espyMergePolygon q = *other;
    uint32_t i = espyMerge_FindEdge(p, a, b);
    if (i == ESPYI_NO_INDEX)
    {
        uint32_t swap = a;
        a = b;
        b = swap;
        i = espyMerge_FindEdge(p, a, b);
        if (i == ESPYI_NO_INDEX)
        {
            return false;
        }
    }
    uint32_t j = espyMerge_FindEdge(&q, b, a);
    if (j == ESPYI_NO_INDEX)
    {
        espyMerge_Reverse(&q);
        j = espyMerge_FindEdge(&q, b, a);
        if (j == ESPYI_NO_INDEX)
        {
            return false;
        }
    }
    uint32_t total = p->count + q.count - 2;
    if (total > ESPYI_MAX_MERGED_POINTS)
    {
        return false;
    }
    // Around p from b to a, then around q from after a to before b.
    espyMergePolygon joined = *p;
    joined.count = 0;
    for (uint32_t k = 0; k < p->count; ++k)
    {
        joined.points[joined.count++] = p->points[(i + 1 + k) % p->count];
    }
    for (uint32_t k = 2; k < q.count; ++k)
    {
        joined.points[joined.count++] = q.points[(j + k) % q.count];
    }
    joined.snap = fmin(p->snap, q.snap);
    joined.moved = fmax(p->moved, q.moved);
    if (!espyMerge_SetPlane(merger, &joined) || joined.off > 0.5 * joined.snap ||
        fabs(joined.area - p->area - q.area) > 1e-6 * joined.area)
    {
        return false;
    }
    // Convex at the two joints (the other corners were), and a joint on a straight line goes away.
    for (int joint = 0; joint < 2; ++joint)
    {
        uint32_t at = ESPYI_NO_INDEX;
        for (uint32_t k = 0; k < joined.count; ++k)
        {
            at = joined.points[k] == (joint == 0 ? a : b) ? k : at;
        }
        if (at >= joined.count)
        {
            return false;
        }
        const double* before = merger->points[joined.points[(at + joined.count - 1) % joined.count]];
        const double* here = merger->points[joined.points[at]];
        const double* after = merger->points[joined.points[(at + 1) % joined.count]];
        double in[3], out[3], across[3], turn[3];
        espySub(here, before, in);
        espySub(after, here, out);
        espySub(after, before, across);
        espyCross(in, out, turn);
        double span = sqrt(espyDot(across, across));
        double height = span > 0 ? espyDot(turn, joined.normal) / span : -1;
        if (height < -1e-9)
        {
            return false;
        }
        if (height < 1e-9)
        {
            for (uint32_t k = at; k + 1 < joined.count; ++k)
            {
                joined.points[k] = joined.points[k + 1];
            }
            joined.count -= 1;
        }
    }
    if (joined.count < 3 || !espyMerge_SetPlane(merger, &joined))
    {
        return false;
    }
    *p = joined;
    return true;
}

/// One pass over all edges that two polygons share, longest first (so diagonals go before sides).
static bool espyMerge_Pass(espyMerger* merger, size_t* joins)
{
    size_t edgeCount = 0;
    for (size_t i = 0; i < merger->polygonCount; ++i)
    {
        edgeCount += merger->polygons[i].count;
    }
    espyiKeyed* edges = espyiAlloc(merger->hooks, edgeCount, sizeof(espyiKeyed));
    espyiKeyed* runs = espyiAlloc(merger->hooks, edgeCount, sizeof(espyiKeyed));
    bool ok = edges && runs;
    size_t count = 0, runCount = 0;
    for (size_t i = 0; ok && i < merger->polygonCount; ++i)
    {
        const espyMergePolygon* polygon = &merger->polygons[i];
        for (uint32_t k = 0; k < polygon->count; ++k)
        {
            uint32_t a = polygon->points[k], b = polygon->points[(k + 1) % polygon->count];
            edges[count].key = a < b ? ((uint64_t)a << 32 | b) : ((uint64_t)b << 32 | a);
            edges[count++].value = (uint32_t)i;
        }
    }
    ok = ok && espyiKeyed_Sort(edges, count, merger->hooks, merger->poll);
    for (size_t i = 0; ok && i + 1 < count; ++i)
    {
        if (edges[i].key == edges[i + 1].key && (i == 0 || edges[i - 1].key != edges[i].key))
        {
            double along[3];
            espySub(merger->points[edges[i].key >> 32], merger->points[edges[i].key & 0xFFFFFFFFu], along);
            runs[runCount].key = ~espyDoubleBits(espyDot(along, along));
            runs[runCount++].value = (uint32_t)i;
        }
    }
    ok = ok && espyiKeyed_Sort(runs, runCount, merger->hooks, merger->poll);
    for (size_t r = 0; r < runCount; ++r)
    {
        // A try to join is some twenty steps.
        ok = ok && espyiPoll_Work(merger->poll, 20);
        if (!ok)
        {
            break;
        }
        size_t i = runs[r].value;
        size_t end = i;
        // Many polygons on one edge: a few tries are enough.
        while (end < count && edges[end].key == edges[i].key && end < i + 6)
        {
            ++end;
        }
        for (size_t first = i; first < end; ++first)
        {
            espyMergePolygon* p = &merger->polygons[edges[first].value];
            for (size_t second = first + 1; second < end && p->count; ++second)
            {
                espyMergePolygon* q = &merger->polygons[edges[second].value];
                if (p != q && q->count &&
                    espyMerge_Join(merger, p, q, (uint32_t)(edges[i].key >> 32), (uint32_t)edges[i].key))
                {
                    q->count = 0;
                    *joins += 1;
                    break;
                }
            }
        }
    }
    espyiFree(merger->hooks, edges);
    espyiFree(merger->hooks, runs);
    return ok;
}

/// Gives equal positions one index: open addressing over the bits of the coordinates.
static bool espyMerge_Weld(espyMerger* merger, const espyTriangles* mesh, const espyiKeyed* chosen, size_t count)
{
    size_t slots = 16;
    while (slots < 6 * count)
    {
        slots *= 2;
    }
    uint32_t* table = espyiAlloc(merger->hooks, slots, sizeof(uint32_t));
    merger->points = espyiAlloc(merger->hooks, 3 * count, sizeof(double[3]));
    merger->moves = espyiAlloc(merger->hooks, 3 * count, sizeof(double));
    merger->polygons = espyiAlloc(merger->hooks, count, sizeof(espyMergePolygon));
    bool ok = table && merger->points && merger->moves && merger->polygons;
    for (size_t i = 0; ok && i < count; ++i)
    {
        ok = espyiPoll_Work(merger->poll, 4);
        espyMergePolygon polygon = {.count = 3};
        double magnitude = 0;
        for (uint32_t k = 0; k < 3; ++k)
        {
            espyVec3 v = mesh->positions[mesh->indices[3 * (size_t)chosen[i].value + k]];
            // Adding 0 turns -0 into +0.
            double p[3] = {(double)v.x + 0.0, (double)v.y + 0.0, (double)v.z + 0.0};
            uint64_t hash = 0;
            for (int axis = 0; axis < 3; ++axis)
            {
                hash = espyiHash_U64(hash, espyDoubleBits(p[axis]));
                magnitude = fmax(magnitude, fabs(p[axis]));
            }
            size_t slot = (size_t)hash & (slots - 1);
            while (table[slot] &&
                   !(merger->points[table[slot] - 1][0] == p[0] && merger->points[table[slot] - 1][1] == p[1] &&
                     merger->points[table[slot] - 1][2] == p[2]))
            {
                slot = (slot + 1) & (slots - 1);
            }
            if (!table[slot])
            {
                for (int axis = 0; axis < 3; ++axis)
                {
                    merger->points[merger->pointCount][axis] = p[axis];
                }
                table[slot] = (uint32_t)++merger->pointCount;
            }
            polygon.points[k] = table[slot] - 1;
        }
        polygon.snap = espySnapAt(magnitude);
        if (espyMerge_SetPlane(merger, &polygon))
        {
            merger->polygons[merger->polygonCount++] = polygon;
        }
    }
    espyiFree(merger->hooks, table);
    return ok;
}

/// Axial faces that floats put a few steps apart get one coordinate, and so do all points within those steps of them:
/// walls that end at a floor then end exactly there. Nothing moves where the coordinates are exact.
static bool espyMerge_Align(espyMerger* merger)
{
    espyiKeyed* faces = espyiAlloc(merger->hooks, merger->polygonCount, sizeof(espyiKeyed));
    double* levels = espyiAlloc(merger->hooks, merger->polygonCount, sizeof(double));
    bool ok = faces && levels;
    for (int axis = 0; axis < 3 && ok; ++axis)
    {
        size_t count = 0, levelCount = 0;
        for (size_t i = 0; i < merger->polygonCount; ++i)
        {
            const uint32_t* p = merger->polygons[i].points;
            double x = merger->points[p[0]][axis];
            double low = fmin(x, fmin(merger->points[p[1]][axis], merger->points[p[2]][axis]));
            double high = fmax(x, fmax(merger->points[p[1]][axis], merger->points[p[2]][axis]));
            if (high - low <= espySnapAt(x))
            {
                // Ordered by coordinate: an offset makes all of them positive.
                faces[count++] = (espyiKeyed){espyDoubleBits(x + 4e7), (uint32_t)i};
            }
        }
        ok = espyiKeyed_Sort(faces, count, merger->hooks, merger->poll);
        for (size_t first = 0, end = 0; first < count && ok; first = end)
        {
            double start = merger->points[merger->polygons[faces[first].value].points[0]][axis], best = -1,
                   level = start;
            for (end = first; end < count; ++end)
            {
                const espyMergePolygon* face = &merger->polygons[faces[end].value];
                double x = merger->points[face->points[0]][axis];
                if (x - start > espySnapAt(start))
                {
                    break;
                }
                level = face->area > best ? x : level;
                best = fmax(best, face->area);
            }
            levels[levelCount++] = level;
        }
        for (size_t i = 0; i < merger->pointCount && levelCount && ok; ++i)
        {
            ok = espyiPoll_Work(merger->poll, 1);
            double x = merger->points[i][axis];
            size_t low = 0, high = levelCount;
            while (high - low > 1)
            {
                size_t middle = (low + high) / 2;
                if (levels[middle] <= x)
                {
                    low = middle;
                }
                else
                {
                    high = middle;
                }
            }
            low += low + 1 < levelCount && fabs(levels[low + 1] - x) < fabs(levels[low] - x);
            double move = fabs(levels[low] - x);
            if (move > 0 && move <= espySnapAt(x))
            {
                merger->points[i][axis] = levels[low];
                merger->moves[i] += move;
            }
        }
    }
    espyiFree(merger->hooks, faces);
    espyiFree(merger->hooks, levels);
    size_t kept = 0;
    for (size_t i = 0; i < merger->polygonCount && ok; ++i)
    {
        ok = espyiPoll_Work(merger->poll, 1);
        espyMergePolygon polygon = merger->polygons[i];
        const uint32_t* p = polygon.points;
        polygon.moved = fmax(merger->moves[p[0]], fmax(merger->moves[p[1]], merger->moves[p[2]]));
        double area;
        if (polygon.moved == 0 ||
            (espyTriangle_IsThick(merger->points[p[0]], merger->points[p[1]], merger->points[p[2]], &area) &&
             espyMerge_SetPlane(merger, &polygon)))
        {
            merger->polygons[kept++] = polygon;
        }
    }
    merger->polygonCount = kept;
    return ok;
}

static bool espyPolygons_Copy(const espyMerger* merger, const espyiKeyed* order, size_t count, double hole,
                              espyiPolygonSet* set, const espyHooks* hooks)
{
    size_t points = 0;
    for (size_t i = 0; i < count; ++i)
    {
        points += merger->polygons[order[i].value].count;
    }
    if (count == 0)
    {
        return true;
    }
    void* polygons = NULL;
    void* pool = NULL;
    bool ok = espyiGrow(hooks, &polygons, &set->polygonCapacity, count, sizeof(espyiPolygonD)) &&
              espyiGrow(hooks, &pool, &set->pointCapacity, points, sizeof(double[3]));
    set->polygons = polygons;
    set->points = pool;
    set->planes = espyiAlloc(hooks, count, sizeof(espyiPlaneD));
    if (!ok || !set->planes)
    {
        return false;
    }
    for (size_t i = 0; i < count; ++i)
    {
        const espyMergePolygon* from = &merger->polygons[order[i].value];
        espyiPolygonD* to = &set->polygons[i];
        espyiPlaneD* plane = &set->planes[i];
        *to = (espyiPolygonD){.first = (uint32_t)set->pointCount,
                              .count = from->count,
                              .plane = (uint32_t)i,
                              .step = 0.5 * from->snap,
                              .snap = fmax(from->snap, 0.25 * hole),
                              .moved = from->moved + from->off};
        for (uint32_t k = 0; k < from->count; ++k)
        {
            for (int axis = 0; axis < 3; ++axis)
            {
                set->points[set->pointCount][axis] = merger->points[from->points[k]][axis];
            }
            set->pointCount += 1;
        }
        plane->w = from->w;
        plane->axial = 0;
        plane->drop = 0;
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            plane->n[axis] = from->normal[axis];
            plane->drop = fabs(plane->n[axis]) > fabs(plane->n[plane->drop]) ? axis : plane->drop;
            plane->axial = fabs(plane->n[axis]) == 1.0 ? axis + 1 : plane->axial;
        }
        espyiPolygon_Bound(to, (const double(*)[3])set->points);
    }
    set->polygonCount = count;
    return true;
}

espyResult espyiPolygons_Gather(const espyiSoup* soup, espyiBoxD world, const espyiFreeSpaceDef* def,
                                espyiPolygonSet* set, uint32_t* dropped)
{
    *set = (espyiPolygonSet){0};
    *dropped = 0;
    const espyTriangles* mesh = &soup->triangles;
    if (mesh->triangleCount == 0)
    {
        return espyResult_Ok;
    }
    espyMerger merger = {.hooks = def->hooks, .poll = def->poll};
    espyiKeyed* chosen = espyiAlloc(def->hooks, mesh->triangleCount, sizeof(espyiKeyed));
    espyiKeyed* order = NULL;
    size_t count = 0, orderCount = 0;
    bool ok = chosen != NULL;
    for (uint32_t i = 0; ok && i < mesh->triangleCount; ++i)
    {
        ok = espyiPoll_Work(def->poll, 1);
        double p[3][3], area;
        if (espyTriangle_Read(mesh, i, world, p, &area))
        {
            chosen[count++] = (espyiKeyed){~espyDoubleBits(area), i};
        }
    }
    // Joining seldom makes one polygon out of more than four triangles; more than that need not be looked at.
    ok = ok && espyiKeyed_Sort(chosen, count, def->hooks, def->poll);
    size_t most = 4 * (size_t)def->maxPolygons;
    size_t kept = count < most ? count : most;
    ok = ok && (kept == 0 || (espyMerge_Weld(&merger, mesh, chosen, kept) && espyMerge_Align(&merger)));
    for (uint32_t pass = 0; ok && kept && pass < ESPYI_MERGE_PASSES; ++pass)
    {
        size_t joins = 0;
        ok = espyMerge_Pass(&merger, &joins);
        if (joins == 0)
        {
            break;
        }
    }
    if (ok && merger.polygonCount)
    {
        order = espyiAlloc(def->hooks, merger.polygonCount, sizeof(espyiKeyed));
        ok = order != NULL;
    }
    for (size_t i = 0; ok && i < merger.polygonCount; ++i)
    {
        if (merger.polygons[i].count)
        {
            order[orderCount++] = (espyiKeyed){~espyDoubleBits(merger.polygons[i].area), (uint32_t)i};
        }
    }
    ok = ok && espyiKeyed_Sort(order, orderCount, def->hooks, def->poll);
    size_t used = orderCount < def->maxPolygons ? orderCount : def->maxPolygons;
    *dropped = (uint32_t)(count - kept + orderCount - used);
    ok = ok && espyPolygons_Copy(&merger, order, used, def->smallestHole, set, def->hooks);
    espyiFree(def->hooks, chosen);
    espyiFree(def->hooks, order);
    espyiFree(def->hooks, merger.points);
    espyiFree(def->hooks, merger.moves);
    espyiFree(def->hooks, merger.polygons);
    if (!ok)
    {
        espyiPolygons_Free(set, def->hooks);
    }
    return espyiPoll_Result(def->poll, ok);
}

void espyiPolygons_Free(espyiPolygonSet* set, const espyHooks* hooks)
{
    espyiFree(hooks, set->polygons);
    espyiFree(hooks, set->planes);
    espyiFree(hooks, set->points);
    *set = (espyiPolygonSet){0};
}
