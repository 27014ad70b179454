// SPDX-License-Identifier: MIT
// Meshes of a world: checked once, copied, never changed. No library call.
#include "world/world_internal.h"

static bool espyWorldMesh_IsSound(const espyWorld* world, const espyMeshDef* def)
{
    const espyHooks* hooks = &world->hooks;
    const espyTriangles* t = &def->triangles;
    if (!ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(hooks, t->positions != NULL || t->vertexCount == 0) ||
        !ESPYI_CHECK(hooks, t->indices != NULL || t->triangleCount == 0) ||
        !ESPYI_CHECK(hooks, t->triangleCount <= UINT32_MAX / 3u) ||
        !ESPYI_CHECK(hooks, def->parts != NULL || def->partCount == 0))
    {
        return false;
    }
    uint32_t indexCount = 3u * t->triangleCount;
    for (uint32_t i = 0; i < indexCount; ++i)
    {
        if (!ESPYI_CHECK(hooks, t->indices[i] < t->vertexCount))
        {
            return false;
        }
    }
    for (uint32_t i = 0; i < def->partCount; ++i)
    {
        const espyMeshPart* part = &def->parts[i];
        if (!ESPYI_CHECK(hooks, part->firstIndex % 3u == 0 && part->indexCount % 3u == 0) ||
            !ESPYI_CHECK(hooks, part->firstIndex <= indexCount && part->indexCount <= indexCount - part->firstIndex))
        {
            return false;
        }
    }
    return true;
}

/// Adds `count` elements to *total and returns false on overflow.
static bool espyWorldMesh_AddSize(size_t* total, size_t count, size_t size)
{
    size_t bytes;
    return espyiMulSize(count, size, &bytes) && espyiAddSize(*total, bytes, total);
}

/// Adds floats to a hash; -0 counts as 0.
static uint64_t espyWorldMesh_HashFloats(uint64_t hash, const float* values, size_t count)
{
    uint32_t words[48];
    while (count > 0)
    {
        size_t take = count < ESPYI_ARRAY_COUNT(words) ? count : ESPYI_ARRAY_COUNT(words);
        for (size_t i = 0; i < take; ++i)
        {
            float value = values[i] + 0.0f;
            memcpy(&words[i], &value, sizeof value);
        }
        hash = espyiHash_Words(hash, words, take);
        values += take;
        count -= take;
    }
    return hash;
}

/// Fills what is derived from the arrays of a mesh.
static void espyWorldMesh_Derive(espyiWorldMesh* mesh)
{
    mesh->box = mesh->opaqueBox = espyBox_Empty();
    for (uint32_t i = 0; i < mesh->vertexCount; ++i)
    {
        mesh->box = espyBox_AddPoint(mesh->box, mesh->positions[i]);
    }
    uint64_t hash = espyiHash_U64(mesh->vertexCount, mesh->triangleCount);
    hash = espyWorldMesh_HashFloats(hash, &mesh->positions[0].x, 3u * (size_t)mesh->vertexCount);
    hash = espyiHash_Words(hash, mesh->indices, 3u * (size_t)mesh->triangleCount);
    for (uint32_t i = 0; i < mesh->partCount; ++i)
    {
        const espyMeshPart* part = &mesh->parts[i];
        const uint32_t words[3] = {part->firstIndex, part->indexCount, (uint32_t)part->material};
        hash = espyiHash_Words(hash, words, 3);
        uint32_t count = part->material == espyMaterialClass_Opaque ? part->indexCount : 0;
        for (uint32_t k = 0; k < count; ++k)
        {
            mesh->opaqueBox = espyBox_AddPoint(mesh->opaqueBox, mesh->positions[mesh->indices[part->firstIndex + k]]);
        }
    }
    mesh->hash = hash;
    // Parts may overlap or leave triangles and vertices out: only one part over everything is the mesh itself.
    mesh->opaque = mesh->partCount == 1 && mesh->parts[0].material == espyMaterialClass_Opaque &&
                   mesh->parts[0].indexCount == 3u * mesh->triangleCount;
}

espyResult espyWorld_CreateMesh(espyWorld* world, const espyMeshDef* def, espyMeshId* out)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = (espyMeshId){0};
    if (!espyWorldMesh_IsSound(world, def))
    {
        return espyResult_InvalidArgument;
    }
    const espyTriangles* t = &def->triangles;
    const espyMeshPart whole = {0, 3u * t->triangleCount, espyMaterialClass_Opaque, 0xB0B0B0u};
    const espyMeshPart* parts = def->partCount > 0 ? def->parts : &whole;
    uint32_t partCount = def->partCount > 0 ? def->partCount : 1;
    size_t nameSize = def->name ? espyiText_Length(def->name) + 1 : 1;

    // Every section is a multiple of 4 bytes up to the name, and 4 is the largest alignment among them.
    size_t total = sizeof(espyiWorldMesh);
    if (!espyWorldMesh_AddSize(&total, t->vertexCount, sizeof(espyVec3)) ||
        !espyWorldMesh_AddSize(&total, 3u * (size_t)t->triangleCount, sizeof(uint32_t)) ||
        !espyWorldMesh_AddSize(&total, partCount, sizeof(espyMeshPart)) ||
        !espyWorldMesh_AddSize(&total, nameSize, 1) || world->meshCount >= INT32_MAX ||
        !espyiGrow(&world->hooks, (void**)&world->meshes, &world->meshCapacity, world->meshCount + 1,
                   sizeof(espyiWorldMesh*)))
    {
        return espyResult_OutOfMemory;
    }
    uint8_t* block = (uint8_t*)espyiAlloc(&world->hooks, total, 1);
    if (!block)
    {
        return espyResult_OutOfMemory;
    }
    espyiWorldMesh* mesh = (espyiWorldMesh*)block;
    espyVec3* positions = (espyVec3*)(block + sizeof(espyiWorldMesh));
    uint32_t* indices = (uint32_t*)(positions + t->vertexCount);
    espyMeshPart* ownParts = (espyMeshPart*)(indices + 3u * (size_t)t->triangleCount);
    char* name = (char*)(ownParts + partCount);

    espyiBytes_Copy(positions, t->positions, (size_t)t->vertexCount * sizeof(espyVec3));
    espyiBytes_Copy(indices, t->indices, 3u * (size_t)t->triangleCount * sizeof(uint32_t));
    espyiBytes_Copy(ownParts, parts, partCount * sizeof(espyMeshPart));
    espyiBytes_Copy(name, def->name ? def->name : "", nameSize);
    *mesh = (espyiWorldMesh){
        .positions = positions,
        .indices = indices,
        .parts = ownParts,
        .name = name,
        .vertexCount = t->vertexCount,
        .triangleCount = t->triangleCount,
        .partCount = partCount,
    };
    espyWorldMesh_Derive(mesh);

    world->meshes[world->meshCount++] = mesh;
    *out = (espyMeshId){(int32_t)world->meshCount, 1};
    return espyResult_Ok;
}

// Rounding is monotone, so a transformed mesh box holds every transformed vertex to the bit: an instance whose loose
// box adds nothing needs no look at its vertices.

espyBox espyiWorldMesh_AddBounds(const espyiWorldMesh* mesh, const espyMat4* transform, espyBox box)
{
    if (espyiBox_Contains(box, espyMat4_TransformBox(*transform, mesh->box)))
    {
        return box;
    }
    for (uint32_t i = 0; i < mesh->vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, espyMat4_TransformPoint(*transform, mesh->positions[i]));
    }
    return box;
}

espyBox espyiWorldMesh_AddOpaqueBounds(const espyiWorldMesh* mesh, const espyMat4* transform, espyBox box)
{
    if (mesh->opaque)
    {
        return espyiWorldMesh_AddBounds(mesh, transform, box);
    }
    if (espyiBox_Contains(box, espyMat4_TransformBox(*transform, mesh->opaqueBox)))
    {
        return box;
    }
    for (uint32_t i = 0; i < mesh->partCount; ++i)
    {
        const espyMeshPart* part = &mesh->parts[i];
        uint32_t count = part->material == espyMaterialClass_Opaque ? part->indexCount : 0;
        for (uint32_t k = 0; k < count; ++k)
        {
            espyVec3 p = mesh->positions[mesh->indices[part->firstIndex + k]];
            box = espyBox_AddPoint(box, espyMat4_TransformPoint(*transform, p));
        }
    }
    return box;
}

const espyiWorldMesh* espyiWorld_FindMesh(const espyWorld* world, espyMeshId id)
{
    bool known = id.index1 > 0 && (size_t)id.index1 <= world->meshCount && id.generation == 1;
    return known ? world->meshes[id.index1 - 1] : NULL;
}

espyResult espyWorld_GetMesh(const espyWorld* world, espyMeshId id, espyMeshDef* out)
{
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, world != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = espyMeshDef_Default();
    const espyiWorldMesh* mesh = espyiWorld_FindMesh(world, id);
    if (!ESPYI_CHECK(&world->hooks, mesh != NULL))
    {
        return espyResult_InvalidId;
    }
    out->triangles = (espyTriangles){mesh->positions, mesh->indices, mesh->vertexCount, mesh->triangleCount};
    out->parts = mesh->parts;
    out->partCount = mesh->partCount;
    out->name = mesh->name;
    return espyResult_Ok;
}

uint32_t espyWorld_GetMeshCount(const espyWorld* world)
{
    return world ? (uint32_t)world->meshCount : 0;
}

espyMeshId espyWorld_GetMeshAt(const espyWorld* world, uint32_t index)
{
    return world && index < world->meshCount ? (espyMeshId){(int32_t)index + 1, 1} : (espyMeshId){0};
}

void espyiWorld_FreeMeshes(espyWorld* world)
{
    for (size_t i = 0; i < world->meshCount; ++i)
    {
        espyiFree(&world->hooks, world->meshes[i]);
    }
    espyiFree(&world->hooks, world->meshes);
}
