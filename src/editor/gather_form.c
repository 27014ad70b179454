// SPDX-License-Identifier: MIT
// What one node is made of, for the bake: all that is drawn for it, and what of it may block.
//
// Levels of detail: as occludee a node is the union of its levels, for each of them may be what a camera sees. As
// occluder it may block only where every level does. No rule over arbitrary meshes tells that cheaply, so the node
// names a mesh that it warrants to be inside all of them, and blocks nothing without.
#include "editor/gather_form.h"

/// The opaque triangles of a mesh with only the vertices that they use, or the mesh itself where all of it is opaque.
static espyResult espyGatherForm_MakeOpaque(const espyHooks* hooks, const espyMeshDef* mesh, espyiGatherForm* form)
{
    const espyTriangles* all = &mesh->triangles;
    size_t indexCount = 0;
    for (uint32_t i = 0; i < mesh->partCount; ++i)
    {
        indexCount += mesh->parts[i].material == espyMaterialClass_Opaque ? mesh->parts[i].indexCount : 0u;
    }
    // Parts may overlap or leave triangles out: only one part over everything is the mesh itself for sure.
    if (mesh->partCount == 1 && indexCount == 3u * (size_t)all->triangleCount)
    {
        form->blocks = *all;
        return espyResult_Ok;
    }
    form->blocks = (espyTriangles){0};
    if (indexCount == 0)
    {
        return espyResult_Ok;
    }
    if (indexCount > UINT32_MAX)
    {
        return espyResult_LimitExceeded;
    }
    uint32_t* remap = (uint32_t*)espyiAlloc(hooks, all->vertexCount, sizeof(uint32_t));
    espyVec3* positions = form->positions[0] = (espyVec3*)espyiAlloc(hooks, all->vertexCount, sizeof(espyVec3));
    uint32_t* indices = form->indices[0] = (uint32_t*)espyiAlloc(hooks, indexCount, sizeof(uint32_t));
    if (!remap || !positions || !indices)
    {
        espyiFree(hooks, remap);
        return espyResult_OutOfMemory;
    }
    uint32_t vertexCount = 0;
    size_t written = 0;
    for (uint32_t i = 0; i < mesh->partCount; ++i)
    {
        const espyMeshPart* part = &mesh->parts[i];
        uint32_t count = part->material == espyMaterialClass_Opaque ? part->indexCount : 0u;
        for (uint32_t k = 0; k < count; ++k)
        {
            uint32_t vertex = all->indices[part->firstIndex + k];
            if (remap[vertex] == 0)
            {
                positions[vertexCount] = all->positions[vertex];
                remap[vertex] = ++vertexCount;
            }
            indices[written++] = remap[vertex] - 1;
        }
    }
    espyiFree(hooks, remap);
    form->blocks = (espyTriangles){positions, indices, vertexCount, (uint32_t)(indexCount / 3)};
    return espyResult_Ok;
}

/// The mesh of a level: 0 is the node's own.
static espyResult espyGatherForm_GetLevel(const espyWorld* world, const espyNodeDef* node, uint32_t level,
                                          espyMeshDef* out)
{
    return espyWorld_GetMesh(world, level == 0 ? node->mesh : node->levels[level - 1], out);
}

/// Joins the triangles of all levels.
static espyResult espyGatherForm_Join(const espyWorld* world, const espyNodeDef* node, const espyHooks* hooks,
                                      espyiGatherForm* form)
{
    uint64_t vertexCount = 0, triangleCount = 0;
    espyMeshDef mesh;
    for (uint32_t i = 0; i <= node->levelCount; ++i)
    {
        espyResult result = espyGatherForm_GetLevel(world, node, i, &mesh);
        if (result != espyResult_Ok)
        {
            return result;
        }
        vertexCount += mesh.triangles.vertexCount;
        triangleCount += mesh.triangles.triangleCount;
    }
    if (vertexCount > UINT32_MAX || triangleCount > UINT32_MAX / 3u)
    {
        return espyResult_LimitExceeded;
    }
    if (triangleCount == 0)
    {
        return espyResult_Ok;
    }
    espyVec3* positions = form->positions[1] = (espyVec3*)espyiAlloc(hooks, (size_t)vertexCount, sizeof(espyVec3));
    uint32_t* indices = form->indices[1] = (uint32_t*)espyiAlloc(hooks, 3u * (size_t)triangleCount, sizeof(uint32_t));
    if (!positions || !indices)
    {
        return espyResult_OutOfMemory;
    }
    form->drawn = (espyTriangles){positions, indices, (uint32_t)vertexCount, (uint32_t)triangleCount};
    uint32_t first = 0;
    for (uint32_t i = 0; i <= node->levelCount; ++i)
    {
        espyGatherForm_GetLevel(world, node, i, &mesh);
        for (uint32_t v = 0; v < mesh.triangles.vertexCount; ++v)
        {
            *positions++ = mesh.triangles.positions[v];
        }
        for (uint32_t k = 0; k < 3u * mesh.triangles.triangleCount; ++k)
        {
            *indices++ = first + mesh.triangles.indices[k];
        }
        first += mesh.triangles.vertexCount;
    }
    return espyResult_Ok;
}

espyResult espyiGatherForm_Make(const espyWorld* world, espyNodeId id, const espyNodeDef* node, const espyHooks* hooks,
                                espyiGatherForm* out)
{
    *out = (espyiGatherForm){0};
    espyMeshDef mesh = espyMeshDef_Default();
    espyResult result = espyResult_Ok;
    if (node->terrain || node->voxels)
    {
        result = espyWorld_BuildSurface(world, id, hooks, &out->surface);
        mesh.triangles = out->surface.triangles;
        mesh.parts = out->surface.parts;
        mesh.partCount = out->surface.partCount;
    }
    else if (node->mesh.index1 != 0)
    {
        result = espyWorld_GetMesh(world, node->mesh, &mesh);
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    out->drawn = mesh.triangles;
    if (node->levelCount > 0)
    {
        result = espyGatherForm_Join(world, node, hooks, out);
    }
    bool inner = node->occluderMesh.index1 != 0;
    out->blocksNothing = node->levelCount > 0 && !inner;
    if (result != espyResult_Ok || out->blocksNothing)
    {
        return result;
    }
    result = inner ? espyWorld_GetMesh(world, node->occluderMesh, &mesh) : result;
    result = result == espyResult_Ok ? espyGatherForm_MakeOpaque(hooks, &mesh, out) : result;
    out->shared = !inner && out->blocks.indices == out->drawn.indices;
    return result;
}

void espyiGatherForm_Free(const espyHooks* hooks, espyiGatherForm* form)
{
    espySurface_Free(&form->surface);
    for (int i = 0; i < 2; ++i)
    {
        espyiFree(hooks, form->positions[i]);
        espyiFree(hooks, form->indices[i]);
    }
    *form = (espyiGatherForm){0};
}
