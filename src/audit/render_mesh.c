// SPDX-License-Identifier: MIT
// Cuts the triangles of a picture at a height and finds the edges worth a line.
//
// A line is drawn where a surface turns by more than 45 degrees or ends, unless another surface goes on in the same
// plane: a wall that is built of several boxes is to look like one.
#include "audit/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_SMOOTH_COSINE 0.7f
#define ESPY_SEAM_OFFSET 0.01f ///< Metres beyond an edge at which the plane is looked at.

typedef struct espyRenderEdge
{
    float key[6]; ///< The two ends, in order.
    uint32_t triangle;
    uint32_t edge;
} espyRenderEdge;

static espyVec3 espyRender_Subtract(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static float espyRender_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyRender_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static espyVec3 espyRender_AddScaled(espyVec3 a, espyVec3 d, float s)
{
    return (espyVec3){a.x + d.x * s, a.y + d.y * s, a.z + d.z * s};
}

static bool espyRender_Normalize(espyVec3* v)
{
    float length = sqrtf(espyRender_Dot(*v, *v));
    if (!(length > 1e-20f && length < 1e20f))
    {
        return false;
    }
    *v = (espyVec3){v->x / length, v->y / length, v->z / length};
    return true;
}

// --- triangles

static bool espyRenderMesh_Add(espyiRenderMesh* mesh, const espyVec3 corners[3], uint32_t surface, uint8_t lines)
{
    espyVec3 normal =
        espyRender_Cross(espyRender_Subtract(corners[1], corners[0]), espyRender_Subtract(corners[2], corners[0]));
    if (!espyRender_Normalize(&normal))
    {
        return true;
    }
    uint32_t t = mesh->triangleCount;
    size_t needed = (size_t)t + 1;
    const espyHooks* hooks = &mesh->hooks;
    if (!espyiGrow(hooks, (void**)&mesh->positions, &mesh->positionCapacity, 3 * needed, sizeof(espyVec3)) ||
        !espyiGrow(hooks, (void**)&mesh->indices, &mesh->indexCapacity, 3 * needed, sizeof(uint32_t)) ||
        !espyiGrow(hooks, (void**)&mesh->surfaceOf, &mesh->surfaceCapacity, needed, sizeof(uint32_t)) ||
        !espyiGrow(hooks, (void**)&mesh->normals, &mesh->normalCapacity, needed, sizeof(espyVec3)) ||
        !espyiGrow(hooks, (void**)&mesh->lines, &mesh->lineCapacity, needed, sizeof(uint8_t)))
    {
        return false;
    }
    for (uint32_t c = 0; c < 3; ++c)
    {
        mesh->positions[3 * (size_t)t + c] = corners[c];
        mesh->indices[3 * (size_t)t + c] = 3 * t + c;
    }
    mesh->surfaceOf[t] = surface;
    mesh->normals[t] = normal;
    mesh->lines[t] = lines;
    ++mesh->triangleCount;
    return true;
}

/// Adds the part of a triangle below a height. Bits of `lines` belong to the edges of the whole triangle.
static bool espyRenderMesh_AddCut(espyiRenderMesh* mesh, const espyVec3 corners[3], uint32_t surface, uint8_t lines,
                                  float height)
{
    espyVec3 kept[4];
    bool drawn[4]; ///< Whether the edge from kept[i] to the next is a line.
    uint32_t count = 0;
    for (uint32_t c = 0; c < 3; ++c)
    {
        espyVec3 a = corners[c], b = corners[c == 2 ? 0 : c + 1];
        bool line = ((uint32_t)lines >> c) & 1u, aBelow = a.y <= height, bBelow = b.y <= height;
        float s = aBelow != bBelow ? (height - a.y) / (b.y - a.y) : 0.0f;
        espyVec3 crossing = {a.x + (b.x - a.x) * s, height, a.z + (b.z - a.z) * s};
        if (aBelow)
        {
            kept[count] = a;
            drawn[count++] = line;
        }
        if (aBelow != bBelow)
        {
            kept[count] = crossing;
            drawn[count++] = aBelow ? true : line; // Leaving: the cut itself follows.
        }
    }
    if (count < 3)
    {
        return true;
    }
    if (count == 3)
    {
        uint8_t bits = (uint8_t)((drawn[0] ? 1u : 0u) | (drawn[1] ? 2u : 0u) | (drawn[2] ? 4u : 0u));
        return espyRenderMesh_Add(mesh, kept, surface, bits);
    }
    espyVec3 first[3] = {kept[0], kept[1], kept[2]}, second[3] = {kept[0], kept[2], kept[3]};
    return espyRenderMesh_Add(mesh, first, surface, (uint8_t)((drawn[0] ? 1u : 0u) | (drawn[1] ? 2u : 0u))) &&
           espyRenderMesh_Add(mesh, second, surface, (uint8_t)((drawn[2] ? 2u : 0u) | (drawn[3] ? 4u : 0u)));
}

// --- lines

static int espyRender_CompareEdges(const void* left, const void* right)
{
    const espyRenderEdge *a = left, *b = right;
    for (uint32_t i = 0; i < 6; ++i)
    {
        if (a->key[i] != b->key[i])
        {
            return a->key[i] < b->key[i] ? -1 : 1;
        }
    }
    return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static void espyRender_SetEdge(const espyTriangles* mesh, uint32_t triangle, uint32_t edge, espyRenderEdge* out)
{
    espyVec3 a = mesh->positions[mesh->indices[3 * (size_t)triangle + edge]];
    espyVec3 b = mesh->positions[mesh->indices[3 * (size_t)triangle + (edge == 2 ? 0 : edge + 1)]];
    bool swap = a.x != b.x ? a.x > b.x : a.y != b.y ? a.y > b.y : a.z > b.z;
    espyVec3 low = swap ? b : a, high = swap ? a : b;
    *out = (espyRenderEdge){{low.x, low.y, low.z, high.x, high.y, high.z}, triangle, edge};
}

static espyVec3 espyRender_NormalOf(const espyTriangles* mesh, uint32_t triangle)
{
    const uint32_t* i = mesh->indices + 3 * (size_t)triangle;
    espyVec3 a = mesh->positions[i[0]];
    espyVec3 normal =
        espyRender_Cross(espyRender_Subtract(mesh->positions[i[1]], a), espyRender_Subtract(mesh->positions[i[2]], a));
    espyRender_Normalize(&normal);
    return normal;
}

/// Sets the bits of the edges across which no other triangle goes on smoothly.
static bool espyRender_FindLines(const espyTriangles* mesh, const espyHooks* hooks, uint8_t* lines)
{
    size_t count = 3 * (size_t)mesh->triangleCount;
    espyRenderEdge* edges = espyiAlloc(hooks, count, sizeof *edges);
    if (!edges)
    {
        return false;
    }
    for (uint32_t t = 0; t < mesh->triangleCount; ++t)
    {
        for (uint32_t e = 0; e < 3; ++e)
        {
            espyRender_SetEdge(mesh, t, e, &edges[3 * (size_t)t + e]);
        }
        lines[t] = 7;
    }
    qsort(edges, count, sizeof *edges, espyRender_CompareEdges);
    for (size_t i = 0; i + 1 < count; ++i)
    {
        // Neighbours in the sorted list are enough: edges that more than two triangles share keep their lines.
        if (memcmp(edges[i].key, edges[i + 1].key, sizeof edges[i].key) == 0)
        {
            espyVec3 a = espyRender_NormalOf(mesh, edges[i].triangle),
                     b = espyRender_NormalOf(mesh, edges[i + 1].triangle);
            if (espyRender_Dot(a, b) > ESPY_SMOOTH_COSINE)
            {
                lines[edges[i].triangle] &= (uint8_t) ~(1u << edges[i].edge);
                lines[edges[i + 1].triangle] &= (uint8_t) ~(1u << edges[i + 1].edge);
            }
        }
    }
    espyiFree(hooks, edges);
    return true;
}

/// True where a surface goes on in the triangle's plane beyond its edge.
static bool espyRenderMesh_IsSeam(const espyiRenderMesh* mesh, uint32_t triangle, uint32_t edge)
{
    espyVec3 a = mesh->positions[3 * (size_t)triangle + edge];
    espyVec3 b = mesh->positions[3 * (size_t)triangle + (edge == 2 ? 0 : edge + 1)];
    espyVec3 normal = mesh->normals[triangle], along = espyRender_Subtract(b, a);
    espyVec3 outward = espyRender_Cross(along, normal);
    if (!espyRender_Normalize(&outward))
    {
        return true;
    }
    uint32_t found = 0;
    for (uint32_t k = 1; k <= 3; ++k)
    {
        espyVec3 p = espyRender_AddScaled(espyRender_AddScaled(a, along, 0.25f * (float)k), outward, ESPY_SEAM_OFFSET);
        espyiSegment segment = {espyRender_AddScaled(p, normal, 1e-3f), 0.0f, {-normal.x, -normal.y, -normal.z}, 2e-3f};
        espyiHit hit;
        if (espyiBvh_Closest(mesh->all, &segment, (espyiSkip){0, 0}, &hit) &&
            espyRender_Dot(mesh->normals[hit.triangle], normal) > 0.99f)
        {
            ++found;
        }
    }
    return found >= 2;
}

// --- the whole

static espyResult espyRenderMesh_Fill(espyiRenderMesh* mesh, const espyPictureScene* scene, float cutHeight)
{
    const espyTriangles* all = &scene->triangles;
    uint8_t* lines = espyiAlloc(&mesh->hooks, (size_t)all->triangleCount + 1, sizeof *lines);
    bool stored = lines && (all->triangleCount == 0 || espyRender_FindLines(all, &mesh->hooks, lines));
    for (uint32_t t = 0; stored && t < all->triangleCount; ++t)
    {
        espyVec3 corners[3];
        for (uint32_t c = 0; c < 3; ++c)
        {
            corners[c] = all->positions[all->indices[3 * (size_t)t + c]];
        }
        uint32_t surface = scene->surfaceOf[t];
        stored = scene->surfaces[surface].cut ? espyRenderMesh_AddCut(mesh, corners, surface, lines[t], cutHeight)
                                              : espyRenderMesh_Add(mesh, corners, surface, lines[t]);
    }
    espyiFree(&mesh->hooks, lines);
    return stored ? espyResult_Ok : espyResult_OutOfMemory;
}

static espyResult espyRenderMesh_Index(espyiRenderMesh* mesh, uint32_t threads)
{
    espyTriangles all = {mesh->positions, mesh->indices, 3 * mesh->triangleCount, mesh->triangleCount};
    espyiSoup soup = {all, NULL};
    espyResult result = espyiBvh_Build(&soup, espyIsa_Auto, threads, &mesh->hooks, NULL, &mesh->all);
    uint32_t* solid = espyiAlloc(&mesh->hooks, 3 * (size_t)mesh->triangleCount + 1, sizeof *solid);
    if (!solid && result == espyResult_Ok)
    {
        result = espyResult_OutOfMemory;
    }
    if (result == espyResult_Ok)
    {
        uint32_t count = 0;
        for (uint32_t t = 0; t < mesh->triangleCount; ++t)
        {
            if (mesh->surfaces[mesh->surfaceOf[t]].look == espyPictureLook_Solid)
            {
                memcpy(&solid[3 * (size_t)count++], &mesh->indices[3 * (size_t)t], 3 * sizeof *solid);
            }
        }
        soup.triangles.indices = solid;
        soup.triangles.triangleCount = count;
        result = espyiBvh_Build(&soup, espyIsa_Auto, threads, &mesh->hooks, NULL, &mesh->solid);
    }
    espyiFree(&mesh->hooks, solid);
    return result;
}

static bool espyRender_IsSceneSound(const espyPictureScene* scene)
{
    const espyTriangles* all = &scene->triangles;
    // Every triangle may become two when it is cut.
    if (all->triangleCount > (1u << 27) ||
        (all->triangleCount > 0 && (!all->positions || !all->indices || !scene->surfaceOf)))
    {
        return false;
    }
    for (uint32_t t = 0; t < all->triangleCount; ++t)
    {
        const uint32_t* i = all->indices + 3 * (size_t)t;
        if (i[0] >= all->vertexCount || i[1] >= all->vertexCount || i[2] >= all->vertexCount ||
            scene->surfaceOf[t] >= scene->surfaceCount)
        {
            return false;
        }
    }
    return true;
}

espyResult espyiRenderMesh_Create(const espyPictureScene* scene, float cutHeight, uint32_t threads,
                                  const espyHooks* hooks, espyiRenderMesh** out)
{
    *out = NULL;
    if (!ESPYI_CHECK(hooks, espyRender_IsSceneSound(scene)))
    {
        return espyResult_InvalidArgument;
    }
    espyiRenderMesh* mesh = espyiAlloc(hooks, 1, sizeof *mesh);
    if (!mesh)
    {
        return espyResult_OutOfMemory;
    }
    mesh->hooks = *hooks;
    mesh->surfaces = scene->surfaces;
    espyResult result = espyRenderMesh_Fill(mesh, scene, cutHeight);
    if (result == espyResult_Ok)
    {
        result = espyRenderMesh_Index(mesh, threads);
    }
    if (result != espyResult_Ok)
    {
        espyiRenderMesh_Destroy(mesh);
        return result;
    }
    for (uint32_t t = 0; t < mesh->triangleCount; ++t)
    {
        for (uint32_t e = 0; e < 3; ++e)
        {
            if ((((uint32_t)mesh->lines[t] >> e) & 1u) && espyRenderMesh_IsSeam(mesh, t, e))
            {
                mesh->lines[t] &= (uint8_t) ~(1u << e);
            }
        }
    }
    *out = mesh;
    return espyResult_Ok;
}

void espyiRenderMesh_Destroy(espyiRenderMesh* mesh)
{
    if (mesh)
    {
        espyHooks hooks = mesh->hooks;
        espyiBvh_Destroy(mesh->all);
        espyiBvh_Destroy(mesh->solid);
        espyiFree(&hooks, mesh->positions);
        espyiFree(&hooks, mesh->indices);
        espyiFree(&hooks, mesh->surfaceOf);
        espyiFree(&hooks, mesh->normals);
        espyiFree(&hooks, mesh->lines);
        espyiFree(&hooks, mesh);
    }
}
