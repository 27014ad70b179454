// SPDX-License-Identifier: MIT
// A world as the triangles of a picture.
#include "picture_level.h"

#include <stdlib.h>
#include <string.h>

#define ESPY_SLATE 0x6C7F92u
#define ESPY_CUT_STONE 0x3A4048u
#define ESPY_CUT_RED 0x9C2F2Bu
#define ESPY_WALL_SIZE 2.7f ///< Metres: an occluder with a longer side is part of the building.

/// Everything that appending needs.
typedef struct espyPictureJob
{
    const espyWorld* world;
    const espyPvs* pvs;
    int32_t cell;
    espyPictureLevel* level;
} espyPictureJob;

static bool espyPicture_Grow(void** array, size_t* capacity, size_t needed, size_t size)
{
    if (needed > *capacity)
    {
        size_t larger = *capacity * 2 > needed ? *capacity * 2 : needed;
        void* grown = realloc(*array, larger * size);
        if (!grown)
        {
            return false;
        }
        *array = grown;
        *capacity = larger;
    }
    return true;
}

/// What the file says of one instance of a node; `part` is -1 for a node that is no bundle of instances.
static bool espyPicture_IsHidden(const espyPictureJob* job, int32_t node, bool instanced, espyBox box, bool* hasSlot)
{
    bool hidden = false, visible = false;
    for (uint32_t slot = 0; slot < job->pvs->occludeeCount; ++slot)
    {
        if (node < 0 || espyPvs_GetOccludeeNode(job->pvs, slot) != node ||
            instanced != (espyPvs_GetOccludeePart(job->pvs, slot) >= 0))
        {
            continue;
        }
        // An instance belongs to the unroll cell whose box holds it; where several boxes do, it shows if any of them
        // does.
        espyBox around = espyBox_Grow(espyPvs_GetOccludeeBox(job->pvs, slot), 0.01f);
        bool holds =
            !instanced || (around.min.x <= box.min.x && around.max.x >= box.max.x && around.min.y <= box.min.y &&
                           around.max.y >= box.max.y && around.min.z <= box.min.z && around.max.z >= box.max.z);
        bool occluded = espyPvs_TestSlot(job->pvs, job->cell, slot) == espyVisibility_Occluded;
        hidden = hidden || (holds && occluded);
        visible = visible || (holds && !occluded);
    }
    *hasSlot = hidden || visible;
    return hidden && !visible;
}

static bool espyPicture_AddPart(espyPictureLevel* level, const espyTriangles* mesh, const espyMeshPart* part,
                                uint32_t firstVertex, const espyPictureRun* run)
{
    uint32_t surface = level->scene.surfaceCount, triangles = part->indexCount / 3;
    size_t first = level->scene.triangles.triangleCount;
    if (!espyPicture_Grow((void**)&level->runs, &level->runCapacity, (size_t)surface + 1, sizeof *level->runs) ||
        !espyPicture_Grow((void**)&level->surfaces, &level->surfaceCapacity, (size_t)surface + 1,
                          sizeof *level->surfaces) ||
        !espyPicture_Grow((void**)&level->surfaceOf, &level->triangleCapacity, first + triangles, sizeof(uint32_t)) ||
        !espyPicture_Grow((void**)&level->indices, &level->indexCapacity, 3 * (first + triangles), sizeof(uint32_t)))
    {
        return false;
    }
    for (uint32_t t = 0; t < triangles; ++t)
    {
        for (uint32_t c = 0; c < 3; ++c)
        {
            level->indices[3 * (first + t) + c] = firstVertex + mesh->indices[part->firstIndex + 3 * (size_t)t + c];
        }
        level->surfaceOf[first + t] = surface;
    }
    level->runs[surface] = *run;
    level->scene.surfaceCount += 1;
    level->scene.triangles.triangleCount += triangles;
    return true;
}

static espyResult espyPicture_AddInstance(const espyPictureJob* job, const espyNodeDef* node, const espyMeshDef* mesh,
                                          espyMat4 transform)
{
    espyPictureLevel* level = job->level;
    uint32_t firstVertex = level->scene.triangles.vertexCount;
    size_t needed = (size_t)firstVertex + mesh->triangles.vertexCount;
    if (needed > (1u << 28) ||
        (size_t)level->scene.triangles.triangleCount + mesh->triangles.triangleCount > (1u << 26))
    {
        return espyResult_LimitExceeded;
    }
    if (!espyPicture_Grow((void**)&level->positions, &level->positionCapacity, needed + 1, sizeof(espyVec3)))
    {
        return espyResult_OutOfMemory;
    }
    espyBox box = espyBox_Empty();
    for (uint32_t v = 0; v < mesh->triangles.vertexCount; ++v)
    {
        espyVec3 p = espyMat4_TransformPoint(transform, mesh->triangles.positions[v]);
        level->positions[firstVertex + v] = p;
        box = espyBox_AddPoint(box, p);
    }
    level->scene.triangles.vertexCount = (uint32_t)needed;
    bool instanced = node->kind == espyNodeKind_InstancedMesh3D;
    espyPictureRun run = {.whole = instanced || node->kind == espyNodeKind_Terrain3D};
    run.hidden = espyPicture_IsHidden(job, node->sourceId, instanced, box, &run.occludee);
    float longest = box.max.x - box.min.x;
    longest = box.max.y - box.min.y > longest ? box.max.y - box.min.y : longest;
    longest = box.max.z - box.min.z > longest ? box.max.z - box.min.z : longest;
    run.wall = (node->flags & espyNodeFlag_OccluderStatic) && longest > ESPY_WALL_SIZE;
    for (uint32_t p = 0; p < mesh->partCount; ++p)
    {
        run.color = mesh->parts[p].color;
        run.material = mesh->parts[p].material;
        if (!espyPicture_AddPart(level, &mesh->triangles, &mesh->parts[p], firstVertex, &run))
        {
            return espyResult_OutOfMemory;
        }
    }
    return espyResult_Ok;
}

static espyResult espyPicture_AddNode(const espyPictureJob* job, espyNodeId id)
{
    espyNodeDef node;
    espyMeshDef mesh;
    const uint32_t never = espyNodeFlag_Hidden | espyNodeFlag_Blocker | espyNodeFlag_Skybox;
    if (espyWorld_GetNode(job->world, id, &node) != espyResult_Ok || (node.flags & never) ||
        node.kind == espyNodeKind_OcclusionArea || node.mesh.index1 == 0 ||
        espyWorld_GetMesh(job->world, node.mesh, &mesh) != espyResult_Ok)
    {
        return espyResult_Ok;
    }
    espyMat4 transform = espyWorld_GetWorldTransform(job->world, id);
    if (node.kind != espyNodeKind_InstancedMesh3D)
    {
        return espyPicture_AddInstance(job, &node, &mesh, transform);
    }
    espyResult result = espyResult_Ok;
    for (uint32_t i = 0; i < node.instanceCount && result == espyResult_Ok; ++i)
    {
        result = espyPicture_AddInstance(job, &node, &mesh, espyMat4_Multiply(transform, node.instances[i]));
    }
    return result;
}

espyResult espyPictureLevel_Create(const espyWorld* world, const espyPvs* pvs, int32_t cell, espyPictureLevel* out)
{
    *out = (espyPictureLevel){0};
    espyPictureJob job = {world, pvs, cell, out};
    espyResult result = espyResult_Ok;
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world) && result == espyResult_Ok; ++n)
    {
        result = espyPicture_AddNode(&job, espyWorld_GetNodeAt(world, n));
    }
    for (uint32_t slot = 0; slot < pvs->occludeeCount; ++slot)
    {
        bool occluded = espyPvs_TestSlot(pvs, cell, slot) == espyVisibility_Occluded;
        out->hidden += occluded ? 1u : 0u;
        out->visible += occluded ? 0u : 1u;
    }
    out->scene.triangles.positions = out->positions;
    out->scene.triangles.indices = out->indices;
    out->scene.surfaceOf = out->surfaceOf;
    out->scene.surfaces = out->surfaces;
    return result;
}

void espyPictureLevel_Free(espyPictureLevel* level)
{
    free(level->positions);
    free(level->indices);
    free(level->surfaceOf);
    free(level->surfaces);
    free(level->runs);
    *level = (espyPictureLevel){0};
}

// --- paint

static uint32_t espyPicture_Mix(uint32_t a, uint32_t b, float share)
{
    uint32_t out = 0;
    for (uint32_t shift = 0; shift <= 16; shift += 8)
    {
        float from = (float)(a >> shift & 255u), to = (float)(b >> shift & 255u);
        out |= (uint32_t)(from + (to - from) * share + 0.5f) << shift;
    }
    return out;
}

static uint32_t espyPicture_Coded(const espyPictureRun* run)
{
    if (run->hidden)
    {
        return espyPicture_Mix(run->color, ESPY_PICTURE_RED, 0.85f);
    }
    return run->occludee ? espyPicture_Mix(run->color, ESPY_PICTURE_GREEN, 0.7f) : run->color;
}

static espyPictureSurface espyPicture_PaintRun(const espyPictureRun* run, espyPicturePaint paint)
{
    espyPictureSurface surface = {.color = run->color, .cut = !run->whole && paint == espyPicturePaint_Plan};
    bool seeThrough = run->material == espyMaterialClass_Translucent || run->material == espyMaterialClass_Additive;
    surface.look = seeThrough                                    ? espyPictureLook_Ghost
                   : run->material == espyMaterialClass_Masked   ? espyPictureLook_Grate
                   : run->wall && paint == espyPicturePaint_XRay ? espyPictureLook_Ghost
                                                                 : espyPictureLook_Solid;
    if (paint == espyPicturePaint_Plan)
    {
        surface.color =
            run->wall && !run->hidden ? espyPicture_Mix(run->color, 0xFFFFFFu, 0.25f) : espyPicture_Coded(run);
        surface.capColor = run->hidden ? ESPY_CUT_RED : ESPY_CUT_STONE;
    }
    else if (paint == espyPicturePaint_XRay)
    {
        surface.color = run->wall ? (run->hidden ? ESPY_PICTURE_RED : ESPY_SLATE) : espyPicture_Coded(run);
    }
    return surface;
}

void espyPictureLevel_Paint(espyPictureLevel* level, espyPicturePaint paint)
{
    for (uint32_t s = 0; s < level->scene.surfaceCount; ++s)
    {
        level->surfaces[s] = espyPicture_PaintRun(&level->runs[s], paint);
    }
}
