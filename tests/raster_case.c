// SPDX-License-Identifier: MIT
// Cameras, meshes and scenes for the rasteriser's suites.
#include "raster_case.h"

#include "core/tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static espyVec3 espyCase_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static espyVec3 espyCase_Normalize(espyVec3 v)
{
    float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return (espyVec3){v.x / length, v.y / length, v.z / length};
}

static float espyCase_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

espyMat4 espyRasterCase_View(espyVec3 eye, espyVec3 target, const espyLens* lens)
{
    espyVec3 back = espyCase_Normalize((espyVec3){eye.x - target.x, eye.y - target.y, eye.z - target.z});
    espyVec3 helper = fabsf(back.y) > 0.99f ? (espyVec3){1.0f, 0.0f, 0.0f} : (espyVec3){0.0f, 1.0f, 0.0f};
    espyVec3 right = espyCase_Normalize(espyCase_Cross(helper, back)), up = espyCase_Cross(back, right);
    espyMat4 view = {{right.x, up.x, back.x, 0.0f, right.y, up.y, back.y, 0.0f, right.z, up.z, back.z, 0.0f,
                      -espyCase_Dot(right, eye), -espyCase_Dot(up, eye), -espyCase_Dot(back, eye), 1.0f}};
    espyMat4 projection = {{0}};
    float n = lens->nearDistance, f = lens->farDistance;
    projection.m[0] = 1.0f / (lens->halfHeight * lens->aspect);
    projection.m[5] = 1.0f / lens->halfHeight;
    if (lens->orthographic)
    {
        projection.m[10] = lens->reversedZ ? 1.0f / (f - n) : -1.0f / (f - n);
        projection.m[14] = lens->reversedZ ? f / (f - n) : -n / (f - n);
        projection.m[15] = 1.0f;
        return espyMat4_Multiply(projection, view);
    }
    projection.m[11] = -1.0f;
    if (f == 0.0f)
    {
        projection.m[10] = lens->reversedZ ? 0.0f : -1.0f;
        projection.m[14] = lens->reversedZ ? n : -n;
    }
    else
    {
        projection.m[10] = lens->reversedZ ? n / (f - n) : -f / (f - n);
        projection.m[14] = lens->reversedZ ? f * n / (f - n) : -f * n / (f - n);
    }
    return espyMat4_Multiply(projection, view);
}

void espyRasterCase_Box(espyBox box, espyVec3 positions[8], uint32_t indices[36])
{
    static const uint32_t faces[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    for (int i = 0; i < 8; ++i)
    {
        positions[i] =
            (espyVec3){i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z};
    }
    memcpy(indices, faces, sizeof faces);
}

static void espyCase_AddInstance(espyRasterMesh* out, const espyMeshDef* mesh, espyMat4 toWorld)
{
    const espyTriangles* from = &mesh->triangles;
    uint32_t firstVertex = out->triangles.vertexCount, firstTriangle = out->triangles.triangleCount;
    out->positions = realloc(out->positions, (size_t)(firstVertex + from->vertexCount + 1u) * sizeof(espyVec3));
    out->indices = realloc(out->indices, (size_t)(firstTriangle + from->triangleCount + 1u) * 3u * sizeof(uint32_t));
    if (!out->positions || !out->indices)
    {
        exit(4);
    }
    for (uint32_t v = 0; v < from->vertexCount; ++v)
    {
        out->positions[firstVertex + v] = espyMat4_TransformPoint(toWorld, from->positions[v]);
    }
    out->triangles.vertexCount += from->vertexCount;
    bool mirrored = espyMat4_Determinant3(toWorld) < 0.0f;
    for (uint32_t p = 0; p < mesh->partCount; ++p)
    {
        for (uint32_t i = 0; i < mesh->parts[p].indexCount && mesh->parts[p].material == espyMaterialClass_Opaque;
             i += 3)
        {
            const uint32_t* corners = from->indices + mesh->parts[p].firstIndex + i;
            uint32_t* to = out->indices + 3u * (size_t)out->triangles.triangleCount++;
            to[0] = firstVertex + corners[0];
            to[1] = firstVertex + corners[mirrored ? 2 : 1];
            to[2] = firstVertex + corners[mirrored ? 1 : 2];
        }
    }
}

espyRasterMesh espyRasterCase_FromWorld(const espyWorld* world)
{
    espyRasterMesh out = {0};
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeDef node;
        espyMeshDef mesh;
        espyNodeId id = espyWorld_GetNodeAt(world, n);
        if (espyWorld_GetNode(world, id, &node) != espyResult_Ok || node.mesh.index1 == 0 ||
            espyWorld_GetMesh(world, node.mesh, &mesh) != espyResult_Ok)
        {
            continue;
        }
        espyMat4 toWorld = espyWorld_GetWorldTransform(world, id);
        if (node.kind != espyNodeKind_InstancedMesh3D)
        {
            espyCase_AddInstance(&out, &mesh, toWorld);
        }
        for (uint32_t i = 0; i < node.instanceCount; ++i)
        {
            espyCase_AddInstance(&out, &mesh, espyMat4_Multiply(toWorld, node.instances[i]));
        }
    }
    out.triangles.positions = out.positions;
    out.triangles.indices = out.indices;
    return out;
}

void espyRasterMesh_Free(espyRasterMesh* mesh)
{
    free(mesh->positions);
    free(mesh->indices);
    *mesh = (espyRasterMesh){0};
}

typedef struct espyCaseLoop
{
    void (*run)(void* job, uint32_t index);
    void* job;
} espyCaseLoop;

static void espyCase_Step(void* context, uint32_t index, uint32_t worker)
{
    const espyCaseLoop* loop = (const espyCaseLoop*)context;
    (void)worker;
    loop->run(loop->job, index);
}

void espyRasterCase_ParallelFor(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job)
{
    espyCaseLoop loop = {run, job};
    espyiTasks_For(*(const uint32_t*)context, count, espyCase_Step, &loop, NULL, NULL);
}
