// SPDX-License-Identifier: MIT
// Occluders: triangles cut into batches of neighbours, made once and drawn every frame.
//
// Sampled mode: two triangles that make a flat convex quad become one. What looks along the same axis is cut apart by
// medians, so that a batch is small, and looks one way often enough to be left out as a whole.
//
// Conservative mode: what hangs together stays together where it is small, because a batch vouches for pixels that its
// triangles cover together. Larger surfaces are cut, and each batch then carries the triangles around its own (all that
// share a vertex with it), which it does not draw but needs to know.
#include "raster/raster_internal.h"

#include <string.h>

/// Triangles that a batch draws at most, by mode.
#define ESPY_OWN_SAMPLED 128u
#define ESPY_OWN_CONSERVATIVE 160u
/// Parts of at most this many triangles are kept whole in Conservative mode.
#define ESPY_WHOLE 160u
#define ESPY_NONE 0xFFFFFFFFu

typedef struct espyBuildTriangle
{
    uint32_t corners[3];    ///< Joined vertices.
    uint32_t neighbours[3]; ///< Triangle across edges 01, 12, 20, or ESPY_NONE.
    float point[3];         ///< What it is sorted by.
    uint32_t part;          ///< Equal for triangles that are not to be cut apart.
    uint32_t sheet;         ///< Equal for triangles that hang together by edges.
    uint32_t partner;       ///< The other half of its quad, or ESPY_NONE.
} espyBuildTriangle;

typedef struct espyBuild
{
    espyOccluder* occluder;
    const espyHooks* hooks;
    const espyVec3* positions;
    espyBuildTriangle* triangles;
    uint32_t* order; ///< Of triangles.
    uint32_t count, vertexCount;
    uint32_t* starts; ///< Triangles of vertex v: incident[starts[v]] .. incident[starts[v + 1] - 1].
    uint32_t* incident;
    uint32_t* vertexStamp; ///< Batch that a vertex, or triangle, was last put in, and its place there.
    uint32_t* vertexPlace;
    uint32_t* triangleStamp;
    uint32_t* trianglePlace;
    uint32_t stamp;
    uint32_t fitVertices; ///< Of the triangles that espyBuild_Fits saw last.
    size_t batchCapacity, positionCapacity, indexCapacity, neighbourCapacity, partCapacity;
    size_t positionCount, indexCount;
    bool failed;
} espyBuild;

espyOccluderDef espyOccluderDef_Default(void)
{
    return (espyOccluderDef){.cookie = ESPY_DEF_COOKIE};
}

// --- joining

static bool espyVec3_IsFinite(espyVec3 p)
{
    return espyBox_IsValid((espyBox){p, p});
}

static uint64_t espyVec3_Hash(espyVec3 p)
{
    // Adding 0 makes one zero of both.
    const float values[3] = {p.x + 0.0f, p.y + 0.0f, p.z + 0.0f};
    uint32_t words[3];
    memcpy(words, values, sizeof words);
    return espyiHash_U64(espyiHash_U64(words[0], words[1]), words[2]);
}

static uint32_t espyBuild_TableSize(uint32_t count)
{
    uint32_t size = 16;
    while (size < 0x80000000u && size / 2u < count)
    {
        size *= 2u;
    }
    return size;
}

/// first[v] becomes the first vertex at the position of v.
static bool espyBuild_Join(const espyHooks* hooks, const espyTriangles* triangles, uint32_t* first)
{
    uint32_t size = espyBuild_TableSize(triangles->vertexCount);
    uint32_t* table = espyiAlloc(hooks, size, sizeof *table); // Vertex + 1.
    if (!table)
    {
        return false;
    }
    for (uint32_t v = 0; v < triangles->vertexCount; ++v)
    {
        espyVec3 p = triangles->positions[v];
        uint32_t slot = (uint32_t)espyVec3_Hash(p) & (size - 1u);
        for (;; slot = (slot + 1u) & (size - 1u))
        {
            if (table[slot] == 0)
            {
                table[slot] = v + 1u;
                first[v] = v;
                break;
            }
            espyVec3 q = triangles->positions[table[slot] - 1u];
            if (p.x == q.x && p.y == q.y && p.z == q.z)
            {
                first[v] = table[slot] - 1u;
                break;
            }
            if (!espyVec3_IsFinite(p))
            {
                first[v] = v; // In no triangle that stays.
                break;
            }
        }
    }
    espyiFree(hooks, table);
    return true;
}

// --- neighbours

typedef struct espyBuildEdge
{
    uint32_t from, to;
    uint32_t owner; ///< 4 * triangle + edge + 1; 0: empty.
    uint32_t uses;
} espyBuildEdge;

static espyBuildEdge* espyEdges_Find(espyBuildEdge* table, uint32_t size, uint32_t from, uint32_t to)
{
    uint32_t slot = (uint32_t)espyiHash_U64(from, to) & (size - 1u);
    while (table[slot].owner != 0 && (table[slot].from != from || table[slot].to != to))
    {
        slot = (slot + 1u) & (size - 1u);
    }
    return &table[slot];
}

/// Two triangles are neighbours where they are the only ones at an edge and run along it in opposite directions.
static bool espyBuild_FindNeighbours(espyBuild* build)
{
    uint32_t size = espyBuild_TableSize(build->count * 3u);
    espyBuildEdge* table = espyiAlloc(build->hooks, size, sizeof *table);
    if (!table)
    {
        return false;
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        for (uint32_t e = 0; e < 3; ++e)
        {
            uint32_t from = build->triangles[t].corners[e], to = build->triangles[t].corners[(e + 1u) % 3u];
            espyBuildEdge* edge = espyEdges_Find(table, size, from, to);
            uint32_t uses = edge->uses + 1u;
            *edge = (espyBuildEdge){from, to, 4u * t + e + 1u, uses};
        }
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        for (uint32_t e = 0; e < 3; ++e)
        {
            uint32_t from = build->triangles[t].corners[e], to = build->triangles[t].corners[(e + 1u) % 3u];
            const espyBuildEdge* ours = espyEdges_Find(table, size, from, to);
            const espyBuildEdge* theirs = espyEdges_Find(table, size, to, from);
            bool pair = ours->uses == 1u && theirs->owner != 0 && theirs->uses == 1u;
            build->triangles[t].neighbours[e] = pair ? (theirs->owner - 1u) / 4u : ESPY_NONE;
        }
    }
    espyiFree(build->hooks, table);
    return true;
}

// --- quads

/// How far from a plane, by the largest coordinate, a corner may be and still count as on it: what rounding makes of a
/// position when a flat mesh is turned and moved. Tests of boxes grow them by four times that.
#define ESPY_FLAT 0x1p-22f
/// Least sine of the angles of a quad: thinner ones are drawn as triangles.
#define ESPY_LEAST_SINE 0.001f

/// Corners of the quad at edge `e` of a triangle: from the end of the edge that comes first by position.
static void espyBuild_QuadCorners(const espyBuild* build, uint32_t t, uint32_t e, uint32_t corners[4])
{
    const espyBuildTriangle *ours = &build->triangles[t], *theirs = &build->triangles[ours->neighbours[e]];
    uint32_t a = ours->corners[e], b = ours->corners[(e + 1u) % 3u], c = ours->corners[(e + 2u) % 3u], d = 0;
    for (uint32_t i = 0; i < 3; ++i)
    {
        d = theirs->corners[i] != a && theirs->corners[i] != b ? theirs->corners[i] : d;
    }
    espyVec3 p = build->positions[a], q = build->positions[b];
    bool fromA = p.x != q.x ? p.x < q.x : p.y != q.y ? p.y < q.y : p.z < q.z;
    const uint32_t both[2][4] = {{b, c, a, d}, {a, d, b, c}};
    memcpy(corners, both[fromA ? 1 : 0], sizeof both[0]);
}

static espyVec3 espyVec3_From(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static float espyVec3_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyVec3_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Is the quad at edge `e` of a triangle flat and convex? Both halves come to the same answer.
static bool espyBuild_IsQuad(const espyBuild* build, uint32_t t, uint32_t e)
{
    uint32_t corners[4];
    espyVec3 p[4], sides[4];
    float reach = 0.0f;
    if (build->triangles[t].neighbours[e] == ESPY_NONE)
    {
        return false;
    }
    espyBuild_QuadCorners(build, t, e, corners);
    for (uint32_t i = 0; i < 4; ++i)
    {
        p[i] = build->positions[corners[i]];
        const float values[3] = {p[i].x, p[i].y, p[i].z};
        for (uint32_t k = 0; k < 3; ++k)
        {
            float size = values[k] < 0.0f ? -values[k] : values[k];
            reach = size > reach ? size : reach;
        }
    }
    // The sum of the crosses of both diagonals is the normal that both halves have where it is flat.
    espyVec3 normal = espyVec3_Cross(espyVec3_From(p[2], p[0]), espyVec3_From(p[3], p[1]));
    float length = espyiFloat_Root(espyVec3_Dot(normal, normal));
    if (!(length > 0.0f) || !(length < 1e18f))
    {
        return false;
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        sides[i] = espyVec3_From(p[(i + 1u) & 3u], p[i]);
        float off = espyVec3_Dot(espyVec3_From(p[i], p[0]), normal) / length;
        if (off > reach * ESPY_FLAT || off < -reach * ESPY_FLAT)
        {
            return false;
        }
    }
    for (uint32_t i = 0; i < 4; ++i)
    {
        espyVec3 next = sides[(i + 1u) & 3u];
        float turn = espyVec3_Dot(espyVec3_Cross(sides[i], next), normal) / length;
        float size = espyiFloat_Root(espyVec3_Dot(sides[i], sides[i])) * espyiFloat_Root(espyVec3_Dot(next, next));
        if (!(turn > size * ESPY_LEAST_SINE))
        {
            return false;
        }
    }
    return true;
}

/// Does edge `a` of a triangle come before edge `b` as the diagonal of its quad? The longer does; of equals, the one
/// whose middle comes first. This depends on positions alone, and so does what becomes a quad.
static bool espyBuild_BetterDiagonal(const espyBuild* build, const espyBuildTriangle* triangle, uint32_t a, uint32_t b)
{
    espyVec3 middles[2];
    float lengths[2];
    const uint32_t edges[2] = {a, b};
    for (uint32_t i = 0; i < 2; ++i)
    {
        espyVec3 p = build->positions[triangle->corners[edges[i]]];
        espyVec3 q = build->positions[triangle->corners[(edges[i] + 1u) % 3u]], side = espyVec3_From(p, q);
        middles[i] = (espyVec3){p.x + q.x, p.y + q.y, p.z + q.z};
        lengths[i] = espyVec3_Dot(side, side);
    }
    if (lengths[0] != lengths[1])
    {
        return lengths[0] > lengths[1];
    }
    espyVec3 m = middles[0], n = middles[1];
    return m.x != n.x ? m.x < n.x : m.y != n.y ? m.y < n.y : m.z < n.z;
}

/// Pairs triangles that are the best partner of each other; both then are one part with one middle.
static void espyBuild_FindQuads(espyBuild* build)
{
    for (uint32_t t = 0; t < build->count; ++t)
    {
        espyBuildTriangle* triangle = &build->triangles[t];
        uint32_t best = ESPY_NONE;
        for (uint32_t e = 0; e < 3; ++e)
        {
            if (espyBuild_IsQuad(build, t, e) &&
                (best == ESPY_NONE || espyBuild_BetterDiagonal(build, triangle, e, best)))
            {
                best = e;
            }
        }
        triangle->partner = best != ESPY_NONE ? triangle->neighbours[best] : ESPY_NONE;
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        espyBuildTriangle* triangle = &build->triangles[t];
        uint32_t other = triangle->partner;
        if (other == ESPY_NONE || other < t)
        {
            continue; // Judged from the other side where it is one.
        }
        espyBuildTriangle* partner = &build->triangles[other];
        if (partner->partner != t)
        {
            triangle->partner = ESPY_NONE;
            continue;
        }
        partner->part = triangle->part = t;
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            float middle = 0.5f * (triangle->point[axis] + partner->point[axis]);
            triangle->point[axis] = partner->point[axis] = middle;
        }
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        uint32_t other = build->triangles[t].partner;
        if (other != ESPY_NONE && build->triangles[other].partner != t)
        {
            build->triangles[t].partner = ESPY_NONE;
        }
    }
}

// --- parts

/// Numbers the parts that hang together by edges; small ones are sorted by their middle.
static bool espyBuild_FindParts(espyBuild* build)
{
    uint32_t* stack = espyiAlloc(build->hooks, build->count, sizeof *stack);
    if (!stack)
    {
        return false;
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        build->triangles[t].part = ESPY_NONE;
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        if (build->triangles[t].part != ESPY_NONE)
        {
            continue;
        }
        // The stack keeps all triangles of the part: `done` of them were looked around.
        uint32_t found = 1;
        stack[0] = t;
        build->triangles[t].part = t;
        float middle[3] = {0.0f, 0.0f, 0.0f};
        for (uint32_t done = 0; done < found; ++done)
        {
            const espyBuildTriangle* at = &build->triangles[stack[done]];
            for (uint32_t e = 0; e < 3; ++e)
            {
                middle[e] += at->point[e];
                uint32_t other = at->neighbours[e];
                if (other != ESPY_NONE && build->triangles[other].part == ESPY_NONE)
                {
                    build->triangles[other].part = t;
                    stack[found++] = other;
                }
            }
        }
        for (uint32_t i = 0; i < found; ++i)
        {
            espyBuildTriangle* at = &build->triangles[stack[i]];
            at->sheet = t;
            if (found > ESPY_WHOLE)
            {
                at->part = stack[i];
                continue;
            }
            for (uint32_t axis = 0; axis < 3; ++axis)
            {
                at->point[axis] = middle[axis] / (float)found;
            }
        }
    }
    espyiFree(build->hooks, stack);
    return true;
}

static bool espyBuild_FindIncident(espyBuild* build)
{
    build->starts = espyiAlloc(build->hooks, (size_t)build->vertexCount + 1u, sizeof *build->starts);
    build->incident = espyiAlloc(build->hooks, (size_t)build->count * 3u, sizeof *build->incident);
    if (!build->starts || !build->incident)
    {
        return false;
    }
    for (uint32_t t = 0; t < build->count; ++t)
    {
        for (uint32_t c = 0; c < 3; ++c)
        {
            ++build->starts[build->triangles[t].corners[c] + 1u];
        }
    }
    for (uint32_t v = 0; v < build->vertexCount; ++v)
    {
        build->starts[v + 1u] += build->starts[v];
    }
    // Filled from the ends down, which leaves the starts in place.
    for (uint32_t t = build->count; t > 0; --t)
    {
        for (uint32_t c = 0; c < 3; ++c)
        {
            uint32_t v = build->triangles[t - 1u].corners[c];
            build->incident[--build->starts[v + 1u]] = t - 1u;
        }
    }
    // Now starts[v + 1] is where v begins.
    for (uint32_t v = 0; v < build->vertexCount; ++v)
    {
        build->starts[v] = build->starts[v + 1u];
    }
    build->starts[build->vertexCount] = build->count * 3u;
    return true;
}

// --- batches

/// Puts a triangle into the batch under construction unless its vertices have no room there.
static bool espyBuild_Add(espyBuild* build, uint32_t t, uint32_t* vertices, uint32_t* vertexCount, uint32_t* triangles,
                          uint32_t* triangleCount)
{
    const espyBuildTriangle* triangle = &build->triangles[t];
    uint32_t fresh = 0;
    for (uint32_t c = 0; c < 3; ++c)
    {
        fresh += build->vertexStamp[triangle->corners[c]] != build->stamp ? 1u : 0u;
    }
    if (*vertexCount + fresh > ESPYI_BATCH_VERTICES || *triangleCount == ESPYI_BATCH_TRIANGLES)
    {
        return false;
    }
    for (uint32_t c = 0; c < 3; ++c)
    {
        uint32_t v = triangle->corners[c];
        if (build->vertexStamp[v] != build->stamp)
        {
            build->vertexStamp[v] = build->stamp;
            build->vertexPlace[v] = *vertexCount;
            vertices[(*vertexCount)++] = v;
        }
    }
    build->triangleStamp[t] = build->stamp;
    build->trianglePlace[t] = *triangleCount;
    triangles[(*triangleCount)++] = t;
    return true;
}

static espyVec3 espyBuild_Normal(const espyBuild* build, uint32_t t)
{
    const uint32_t* corners = build->triangles[t].corners;
    espyVec3 a = build->positions[corners[0]], b = build->positions[corners[1]], c = build->positions[corners[2]];
    espyVec3 u = {b.x - a.x, b.y - a.y, b.z - a.z}, v = {c.x - a.x, c.y - a.y, c.z - a.z};
    espyVec3 n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
    float length = espyiFloat_Root(n.x * n.x + n.y * n.y + n.z * n.z);
    return length > 0.0f ? (espyVec3){n.x / length, n.y / length, n.z / length} : (espyVec3){0.0f, 0.0f, 0.0f};
}

static void espyBuild_FindCone(const espyBuild* build, const uint32_t* triangles, uint32_t count, espyiBatch* batch)
{
    espyVec3 axis = {0.0f, 0.0f, 0.0f};
    batch->coneSine = 2.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyVec3 n = espyBuild_Normal(build, triangles[i]);
        axis = (espyVec3){axis.x + n.x, axis.y + n.y, axis.z + n.z};
    }
    float length = espyiFloat_Root(axis.x * axis.x + axis.y * axis.y + axis.z * axis.z);
    if (!(length > 0.0f))
    {
        return;
    }
    axis = (espyVec3){axis.x / length, axis.y / length, axis.z / length};
    float least = 1.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyVec3 n = espyBuild_Normal(build, triangles[i]);
        float cosine = axis.x * n.x + axis.y * n.y + axis.z * n.z;
        least = cosine < least ? cosine : least;
    }
    batch->coneAxis = axis;
    if (least > 0.05f)
    {
        float rest = 1.0f - least * least;
        batch->coneSine = espyiFloat_Root(rest > 0.0f ? rest : 0.0f) + 0.001f;
    }
}

static bool espyBuild_AddPart(espyBuild* build, uint32_t own, uint32_t all)
{
    espyOccluder* occluder = build->occluder;
    if (!espyiGrow(build->hooks, (void**)&occluder->parts, &build->partCapacity, (size_t)occluder->partCount + 1u,
                   sizeof *occluder->parts))
    {
        return false;
    }
    occluder->parts[occluder->partCount++] = (espyiPart){(uint8_t)own, (uint8_t)all};
    return true;
}

/// Part by part: the triangles of a sheet, then those around them. What does not fit is left out: the batch then claims
/// less. The vertices of the triangles still to come are kept room for.
static void espyBuild_AddSheets(espyBuild* build, const uint32_t* own, uint32_t count, uint32_t ownVertices,
                                uint32_t* vertices, uint32_t* vertexCount, uint32_t* triangles, uint32_t* triangleCount)
{
    uint32_t around = 0; // Vertices that only triangles around have, at most.
    for (uint32_t from = 0, to; from < count && !build->failed; from = to)
    {
        uint32_t sheet = build->triangles[own[from]].sheet, first = *triangleCount;
        for (to = from; to < count && build->triangles[own[to]].sheet == sheet; ++to)
        {
            espyBuild_Add(build, own[to], vertices, vertexCount, triangles, triangleCount);
        }
        uint32_t ownEnd = *triangleCount;
        for (uint32_t i = first; i < ownEnd; ++i)
        {
            for (uint32_t c = 0; c < 3; ++c)
            {
                uint32_t v = build->triangles[triangles[i]].corners[c];
                for (uint32_t k = build->starts[v]; k < build->starts[v + 1u]; ++k)
                {
                    uint32_t t = build->incident[k], before = *vertexCount;
                    bool room = *triangleCount + (count - to) < ESPYI_BATCH_TRIANGLES &&
                                ownVertices + around + 3u <= ESPYI_BATCH_VERTICES;
                    if (room && build->triangleStamp[t] != build->stamp && build->triangles[t].sheet == sheet &&
                        espyBuild_Add(build, t, vertices, vertexCount, triangles, triangleCount))
                    {
                        around += *vertexCount - before;
                    }
                }
            }
        }
        build->failed = build->failed || !espyBuild_AddPart(build, ownEnd - first, *triangleCount - first);
    }
}

/// Moves the halves of quads to the front, one after the other; returns how many quads those are.
static uint32_t espyBuild_QuadsFirst(espyBuild* build, uint32_t* own, uint32_t count)
{
    uint32_t sorted[ESPYI_BATCH_TRIANGLES], end = 0, quads;
    for (uint32_t i = 0; i < count; ++i)
    {
        build->triangleStamp[own[i]] = build->stamp;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t other = build->triangles[own[i]].partner;
        if (other != ESPY_NONE && own[i] < other && build->triangleStamp[other] == build->stamp)
        {
            sorted[end++] = own[i];
            sorted[end++] = other;
        }
    }
    quads = end / 2u;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t other = build->triangles[own[i]].partner;
        if (other == ESPY_NONE || build->triangleStamp[other] != build->stamp)
        {
            sorted[end++] = own[i];
        }
    }
    memcpy(own, sorted, count * sizeof *own);
    return quads;
}

/// Corners of a triangle of a batch in their order there: as given, or of half a quad.
static void espyBuild_BatchCorners(const espyBuild* build, uint32_t t, bool isHalf, bool second, uint32_t corners[3])
{
    const espyBuildTriangle* triangle = &build->triangles[t];
    memcpy(corners, triangle->corners, 3u * sizeof *corners);
    if (isHalf)
    {
        uint32_t quad[4], e = 0;
        while (triangle->neighbours[e] != triangle->partner)
        {
            ++e;
        }
        espyBuild_QuadCorners(build, t, e, quad);
        corners[0] = quad[0];
        corners[1] = quad[second ? 2 : 1];
        corners[2] = quad[second ? 3 : 2];
    }
}

static void espyBuild_Emit(espyBuild* build, uint32_t* own, uint32_t count)
{
    espyOccluder* occluder = build->occluder;
    uint32_t vertices[ESPYI_BATCH_VERTICES], triangles[ESPYI_BATCH_TRIANGLES];
    uint32_t vertexCount = 0, triangleCount = 0, firstPart = occluder->partCount, ownVertices = build->fitVertices;
    ++build->stamp;
    if (occluder->mode == espyRasterMode_Conservative)
    {
        // By sheets; few and nearly in order.
        for (uint32_t i = 1; i < count; ++i)
        {
            for (uint32_t k = i; k > 0 && build->triangles[own[k]].sheet < build->triangles[own[k - 1u]].sheet; --k)
            {
                uint32_t swapped = own[k];
                own[k] = own[k - 1u];
                own[k - 1u] = swapped;
            }
        }
        espyBuild_AddSheets(build, own, count, ownVertices, vertices, &vertexCount, triangles, &triangleCount);
    }
    uint32_t quadCount = occluder->mode == espyRasterMode_Sampled ? espyBuild_QuadsFirst(build, own, count) : 0;
    for (uint32_t i = 0; i < count && occluder->mode == espyRasterMode_Sampled; ++i)
    {
        espyBuild_Add(build, own[i], vertices, &vertexCount, triangles, &triangleCount);
    }
    uint32_t groups = (vertexCount + 7u) / 8u;
    if (build->failed ||
        !espyiGrow(build->hooks, (void**)&occluder->batches, &build->batchCapacity, (size_t)occluder->batchCount + 1u,
                   sizeof *occluder->batches) ||
        !espyiGrow(build->hooks, (void**)&occluder->positions, &build->positionCapacity,
                   build->positionCount + (size_t)groups * 24u, sizeof(float)) ||
        !espyiGrow(build->hooks, (void**)&occluder->indices, &build->indexCapacity,
                   build->indexCount + (size_t)triangleCount * 3u, 1) ||
        (occluder->mode == espyRasterMode_Conservative &&
         !espyiGrow(build->hooks, (void**)&occluder->neighbours, &build->neighbourCapacity,
                    build->indexCount + (size_t)triangleCount * 3u, 1)))
    {
        build->failed = true;
        return;
    }
    espyiBatch batch = {.bounds = espyBox_Empty(),
                        .firstGroup = (uint32_t)(build->positionCount / 24u),
                        .firstTriangle = (uint32_t)(build->indexCount / 3u),
                        .firstPart = firstPart,
                        .partCount = occluder->partCount - firstPart,
                        .vertexCount = (uint16_t)vertexCount,
                        .triangleCount = (uint8_t)triangleCount,
                        .quadCount = (uint8_t)quadCount};
    float* positions = occluder->positions + build->positionCount;
    for (uint32_t i = 0; i < groups * 8u; ++i)
    {
        espyVec3 p = build->positions[vertices[i < vertexCount ? i : 0]];
        float* to = positions + i / 8u * 24u + i % 8u;
        to[0] = p.x;
        to[8] = p.y;
        to[16] = p.z;
    }
    for (uint32_t i = 0; i < triangleCount; ++i)
    {
        const espyBuildTriangle* triangle = &build->triangles[triangles[i]];
        uint32_t corners[3];
        espyBuild_BatchCorners(build, triangles[i], i < 2u * quadCount, i % 2u == 1u, corners);
        for (uint32_t e = 0; e < 3; ++e)
        {
            occluder->indices[build->indexCount + 3u * i + e] = (uint8_t)build->vertexPlace[corners[e]];
            if (occluder->mode == espyRasterMode_Conservative)
            {
                uint32_t other = triangle->neighbours[e];
                bool here = other != ESPY_NONE && build->triangleStamp[other] == build->stamp;
                occluder->neighbours[build->indexCount + 3u * i + e] =
                    here ? (uint8_t)build->trianglePlace[other] : (uint8_t)ESPYI_NO_NEIGHBOUR;
            }
        }
    }
    for (uint32_t i = 0; i < count * 3u; ++i)
    {
        batch.bounds = espyBox_AddPoint(batch.bounds, build->positions[build->triangles[own[i / 3u]].corners[i % 3u]]);
    }
    espyBuild_FindCone(build, own, count, &batch);
    build->positionCount += (size_t)groups * 24u;
    build->indexCount += (size_t)triangleCount * 3u;
    occluder->bounds = espyBox_Union(occluder->bounds, batch.bounds);
    occluder->batches[occluder->batchCount++] = batch;
}

// --- cutting

static bool espyBuild_Fits(espyBuild* build, const uint32_t* own, uint32_t count)
{
    uint32_t most = build->occluder->mode == espyRasterMode_Conservative ? ESPY_OWN_CONSERVATIVE : ESPY_OWN_SAMPLED;
    if (count > most)
    {
        return false;
    }
    uint32_t vertices = 0;
    ++build->stamp;
    for (uint32_t i = 0; i < count; ++i)
    {
        for (uint32_t c = 0; c < 3; ++c)
        {
            uint32_t v = build->triangles[own[i]].corners[c];
            vertices += build->vertexStamp[v] != build->stamp ? 1u : 0u;
            build->vertexStamp[v] = build->stamp;
        }
    }
    build->fitVertices = vertices;
    return vertices <= ESPYI_BATCH_VERTICES;
}

static bool espyBuild_Before(const espyBuild* build, uint32_t axis, uint32_t a, uint32_t b)
{
    const espyBuildTriangle *first = &build->triangles[a], *second = &build->triangles[b];
    if (first->point[axis] != second->point[axis])
    {
        return first->point[axis] < second->point[axis];
    }
    return first->part != second->part ? first->part < second->part : a < b;
}

/// Moves the element of rank `rank` to its place, lesser ones before it, greater ones behind it.
/// Based on: C. A. R. Hoare, "Algorithm 65: Find", CACM 4(7), 1961.
static void espyBuild_Select(const espyBuild* build, uint32_t axis, uint32_t* items, uint32_t count, uint32_t rank)
{
    uint32_t low = 0, high = count - 1u;
    while (low < high)
    {
        uint32_t pivot = items[low + (high - low) / 2u], i = low, j = high;
        for (;;)
        {
            while (espyBuild_Before(build, axis, items[i], pivot))
            {
                ++i;
            }
            while (espyBuild_Before(build, axis, pivot, items[j]))
            {
                --j;
            }
            if (i >= j)
            {
                break;
            }
            uint32_t swapped = items[i];
            items[i++] = items[j];
            items[j--] = swapped;
        }
        // Items up to j are not behind the pivot, items after it not before it.
        if (rank <= j)
        {
            high = j;
        }
        else
        {
            low = j + 1u;
        }
    }
}

/// Cuts at the median of the longest side, between parts where that is possible. Returns where; 0 < result < count.
static uint32_t espyBuild_Cut(const espyBuild* build, uint32_t* items, uint32_t count)
{
    float low[3], high[3];
    memcpy(low, build->triangles[items[0]].point, sizeof low);
    memcpy(high, low, sizeof high);
    for (uint32_t i = 1; i < count; ++i)
    {
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            float v = build->triangles[items[i]].point[axis];
            low[axis] = v < low[axis] ? v : low[axis];
            high[axis] = v > high[axis] ? v : high[axis];
        }
    }
    uint32_t axis = 0;
    for (uint32_t i = 1; i < 3; ++i)
    {
        axis = high[i] - low[i] > high[axis] - low[axis] ? i : axis;
    }
    uint32_t middle = count / 2u;
    espyBuild_Select(build, axis, items, count, middle);
    // The part at the middle goes as a whole to the side where it leaves more balance.
    const espyBuildTriangle* at = &build->triangles[items[middle]];
    uint32_t before = 0;
    for (uint32_t i = 0; i < middle; ++i)
    {
        if (build->triangles[items[i]].part != at->part)
        {
            uint32_t swapped = items[before];
            items[before++] = items[i];
            items[i] = swapped;
        }
    }
    if (before > 0)
    {
        return before;
    }
    uint32_t end = middle + 1u;
    for (uint32_t i = end; i < count; ++i)
    {
        if (build->triangles[items[i]].part == at->part)
        {
            uint32_t swapped = items[end];
            items[end++] = items[i];
            items[i] = swapped;
        }
    }
    return end < count ? end : middle;
}

/// A range of build->order still to be cut. Halves are pushed, so that depth is bounded by the bits of the count
/// in all but contrived input; there the smaller half waits and the larger one goes on.
typedef struct espyBuildRange
{
    uint32_t first, count;
} espyBuildRange;

static void espyBuild_CutRange(espyBuild* build, uint32_t first, uint32_t count)
{
    espyBuildRange stack[40];
    uint32_t depth = 0;
    espyBuildRange range = {first, count};
    while (!build->failed && range.count > 0)
    {
        uint32_t* items = build->order + range.first;
        if (espyBuild_Fits(build, items, range.count))
        {
            espyBuild_Emit(build, items, range.count);
            range = depth > 0 ? stack[--depth] : (espyBuildRange){0, 0};
            continue;
        }
        uint32_t at = espyBuild_Cut(build, items, range.count);
        espyBuildRange left = {range.first, at}, right = {range.first + at, range.count - at};
        bool leftIsLess = left.count <= right.count;
        // The lesser half is at most half of the range, so that no more than 32 ranges ever wait.
        stack[depth++] = leftIsLess ? right : left;
        range = leftIsLess ? left : right;
    }
}

/// 0..5 by the axis that a triangle looks along most.
static uint32_t espyBuild_Side(const espyBuild* build, uint32_t t)
{
    espyVec3 n = espyBuild_Normal(build, t);
    float x = n.x < 0.0f ? -n.x : n.x, y = n.y < 0.0f ? -n.y : n.y, z = n.z < 0.0f ? -n.z : n.z;
    if (x >= y && x >= z)
    {
        return n.x < 0.0f ? 1 : 0;
    }
    if (y >= z)
    {
        return n.y < 0.0f ? 3 : 2;
    }
    return n.z < 0.0f ? 5 : 4;
}

static bool espyBuild_Run(espyBuild* build, const espyOccluderDef* def, uint32_t* first)
{
    const espyTriangles* in = &def->triangles;
    build->positions = in->positions;
    build->vertexCount = in->vertexCount;
    build->triangles = espyiAlloc(build->hooks, in->triangleCount, sizeof *build->triangles);
    build->order = espyiAlloc(build->hooks, in->triangleCount, sizeof *build->order);
    build->vertexStamp = espyiAlloc(build->hooks, in->vertexCount, sizeof(uint32_t));
    build->vertexPlace = espyiAlloc(build->hooks, in->vertexCount, sizeof(uint32_t));
    build->triangleStamp = espyiAlloc(build->hooks, in->triangleCount, sizeof(uint32_t));
    build->trianglePlace = espyiAlloc(build->hooks, in->triangleCount, sizeof(uint32_t));
    if (!build->triangles || !build->order || !build->vertexStamp || !build->vertexPlace || !build->triangleStamp ||
        !build->trianglePlace || !espyBuild_Join(build->hooks, in, first))
    {
        return false;
    }
    for (uint32_t t = 0; t < in->triangleCount; ++t)
    {
        espyBuildTriangle* to = &build->triangles[build->count];
        espyVec3 sum = {0.0f, 0.0f, 0.0f};
        bool finite = true;
        for (uint32_t c = 0; c < 3; ++c)
        {
            to->corners[c] = first[in->indices[3u * (size_t)t + c]];
            espyVec3 p = in->positions[to->corners[c]];
            finite = finite && espyVec3_IsFinite(p);
            sum = (espyVec3){sum.x + p.x / 3.0f, sum.y + p.y / 3.0f, sum.z + p.z / 3.0f};
        }
        if (!finite || to->corners[0] == to->corners[1] || to->corners[1] == to->corners[2] ||
            to->corners[2] == to->corners[0])
        {
            continue;
        }
        to->point[0] = sum.x;
        to->point[1] = sum.y;
        to->point[2] = sum.z;
        to->part = build->count++;
    }
    build->occluder->triangleCount = build->count;
    if (build->count == 0)
    {
        return true;
    }
    if (def->mode == espyRasterMode_Conservative)
    {
        if (!espyBuild_FindNeighbours(build) || !espyBuild_FindParts(build) || !espyBuild_FindIncident(build))
        {
            return false;
        }
        for (uint32_t t = 0; t < build->count; ++t)
        {
            build->order[t] = t;
        }
        espyBuild_CutRange(build, 0, build->count);
        return !build->failed;
    }
    if (!espyBuild_FindNeighbours(build))
    {
        return false;
    }
    espyBuild_FindQuads(build);
    // Both halves of a quad, whatever rounding makes of their normals, are on the side of the first.
    uint32_t starts[7] = {0};
    for (uint32_t t = 0; t < build->count; ++t)
    {
        ++starts[(def->twoSided ? 0 : espyBuild_Side(build, build->triangles[t].part)) + 1u];
    }
    for (uint32_t side = 0; side < 6; ++side)
    {
        starts[side + 1u] += starts[side];
    }
    uint32_t at[6];
    memcpy(at, starts, sizeof at);
    for (uint32_t t = 0; t < build->count; ++t)
    {
        build->order[at[def->twoSided ? 0 : espyBuild_Side(build, build->triangles[t].part)]++] = t;
    }
    for (uint32_t side = 0; side < 6; ++side)
    {
        espyBuild_CutRange(build, starts[side], starts[side + 1u] - starts[side]);
    }
    return !build->failed;
}

espyResult espyOccluder_Create(const espyOccluderDef* def, espyOccluder** out)
{
    *out = NULL;
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    if (!ESPYI_CHECK(&hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&hooks, def->mode == espyRasterMode_Sampled || def->mode == espyRasterMode_Conservative) ||
        !ESPYI_CHECK(&hooks, def->triangles.triangleCount <= 0x0FFFFFFFu))
    {
        return espyResult_InvalidArgument;
    }
    for (size_t i = 0; i < (size_t)def->triangles.triangleCount * 3u; ++i)
    {
        if (!ESPYI_CHECK(&hooks, def->triangles.indices[i] < def->triangles.vertexCount))
        {
            return espyResult_InvalidArgument;
        }
    }
    espyOccluder* occluder = espyiAlloc(&hooks, 1, sizeof *occluder);
    if (!occluder)
    {
        return espyResult_OutOfMemory;
    }
    occluder->hooks = hooks;
    occluder->mode = def->mode;
    occluder->twoSided = def->twoSided;
    occluder->bounds = espyBox_Empty();
    bool built = true;
    if (def->triangles.triangleCount > 0)
    {
        espyBuild build = {.occluder = occluder, .hooks = &hooks};
        uint32_t* first = espyiAlloc(&hooks, def->triangles.vertexCount, sizeof *first);
        built = first && espyBuild_Run(&build, def, first);
        espyiFree(&hooks, first);
        espyiFree(&hooks, build.triangles);
        espyiFree(&hooks, build.order);
        espyiFree(&hooks, build.starts);
        espyiFree(&hooks, build.incident);
        espyiFree(&hooks, build.vertexStamp);
        espyiFree(&hooks, build.vertexPlace);
        espyiFree(&hooks, build.triangleStamp);
        espyiFree(&hooks, build.trianglePlace);
    }
    if (!built)
    {
        espyOccluder_Destroy(occluder);
        return espyResult_OutOfMemory;
    }
    *out = occluder;
    return espyResult_Ok;
}

void espyOccluder_Destroy(espyOccluder* occluder)
{
    if (occluder)
    {
        espyHooks hooks = occluder->hooks;
        espyiFree(&hooks, occluder->batches);
        espyiFree(&hooks, occluder->positions);
        espyiFree(&hooks, occluder->indices);
        espyiFree(&hooks, occluder->neighbours);
        espyiFree(&hooks, occluder->parts);
        espyiFree(&hooks, occluder);
    }
}

espyBox espyOccluder_GetBounds(const espyOccluder* occluder)
{
    return occluder->bounds;
}

uint32_t espyOccluder_GetBatchCount(const espyOccluder* occluder)
{
    return occluder->batchCount;
}

uint32_t espyOccluder_GetTriangleCount(const espyOccluder* occluder)
{
    return occluder->triangleCount;
}
