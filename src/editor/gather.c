// SPDX-License-Identifier: MIT
// Turns a world into the arrays of the bake by the rules of the flags.
//
// World transforms are composed and applied in double precision and rounded once, so that deep hierarchies do not
// drift. Mirrored transforms turn triangles inside out; their corners are swapped back, instance by instance.
#include "editor/gather_form.h"
#include "world/unroll.h"

#include <espy/editor.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// One instance of a node's mesh; an ordinary node is one instance of its own.
typedef struct espyGatherInstance
{
    espyiMat4d transform;
} espyGatherInstance;

/// A run of instances: one unroll cell.
typedef struct espyGatherCell
{
    uint32_t first, count;
} espyGatherCell;

/// World-space copies of a shape, one after the other in order of the instances.
typedef struct espyGatherCopies
{
    const espyVec3* positions;
    const uint32_t* cellIndices;  ///< Counted from the first vertex of the cell.
    const uint32_t* wholeIndices; ///< Counted from the first vertex of all.
} espyGatherCopies;

struct espyGathered
{
    espyHooks hooks;
    espyBakeInput input;
    espyBakeOccluder* occluders;
    espyBakeOccludee* occludees;
    espyBakeArea* areas;
    espyVec3* viewPoints;
    size_t occluderCapacity, occludeeCapacity, areaCapacity, viewPointCapacity;
    espyBakeWarning* warnings;
    size_t warningCount, warningCapacity;
    void** blocks; ///< Everything else that the input points into.
    size_t blockCount, blockCapacity;
    uint64_t triangleCount;
};

/// Scratch of one gathering.
typedef struct espyGatherJob
{
    const espyWorld* world;
    espyGathered* out;
    float unrollCellSize;
    espyiMat4d* transforms; ///< By order of creation.
    uint32_t* sorted;       ///< Orders of the nodes, by source id.
    uint32_t* orderOfSlot;  ///< By index1 - 1 of node ids.
    espyGatherInstance* instances;
    espyGatherCell* cells;
    uint64_t content; ///< Of the node in work.
    size_t instanceCapacity, cellCapacity;
} espyGatherJob;

// --- double-precision transforms

static bool espyMat4d_IsMirrored(const espyiMat4d* m)
{
    return m->m[0] * (m->m[5] * m->m[10] - m->m[9] * m->m[6]) - m->m[4] * (m->m[1] * m->m[10] - m->m[9] * m->m[2]) +
               m->m[8] * (m->m[1] * m->m[6] - m->m[5] * m->m[2]) <
           0.0;
}

static espyMat4 espyMat4d_Round(const espyiMat4d* m)
{
    espyMat4 r;
    for (int i = 0; i < 16; ++i)
    {
        r.m[i] = (float)m->m[i];
    }
    return r;
}

// --- memory that the result owns

static void* espyGathered_Alloc(espyGathered* gathered, size_t count, size_t size)
{
    if (!espyiGrow(&gathered->hooks, (void**)&gathered->blocks, &gathered->blockCapacity, gathered->blockCount + 1,
                   sizeof(void*)))
    {
        return NULL;
    }
    void* block = espyiAlloc(&gathered->hooks, count, size);
    if (block)
    {
        gathered->blocks[gathered->blockCount++] = block;
    }
    return block;
}

static void espyGathered_Warn(const espyGathered* gathered, espyMessageId id, const char* line)
{
    if (gathered->hooks.log)
    {
        gathered->hooks.log(espyMessage_GetLevel(id), id, line, gathered->hooks.context);
    }
}

// --- copies

static espyResult espyGather_Refuse(const espyGathered* out)
{
    char line[160];
    snprintf(line, sizeof line, espyMessage_GetText(espyMessageId_GatherTooManyTriangles),
             (unsigned long long)ESPY_EDITOR_MAX_TRIANGLES);
    espyGathered_Warn(out, espyMessageId_GatherTooManyTriangles, line);
    return espyResult_LimitExceeded;
}

/// Copies a shape once for every instance, in world space. The instances are sorted by cell.
static espyResult espyGather_Copy(espyGathered* out, const espyTriangles* shape, const espyGatherInstance* instances,
                                  const espyGatherCell* cells, uint32_t cellCount, espyGatherCopies* copies)
{
    uint32_t instanceCount = cells[cellCount - 1].first + cells[cellCount - 1].count;
    uint64_t triangles = (uint64_t)shape->triangleCount * instanceCount;
    out->triangleCount += triangles;
    if (out->triangleCount > ESPY_EDITOR_MAX_TRIANGLES)
    {
        return espyGather_Refuse(out);
    }
    size_t indexCount = 3u * (size_t)triangles;
    espyVec3* positions =
        (espyVec3*)espyGathered_Alloc(out, (size_t)shape->vertexCount * instanceCount, sizeof(espyVec3));
    uint32_t* cellIndices = (uint32_t*)espyGathered_Alloc(out, indexCount, sizeof(uint32_t));
    uint32_t* wholeIndices =
        cellCount > 1 ? (uint32_t*)espyGathered_Alloc(out, indexCount, sizeof(uint32_t)) : cellIndices;
    if (!positions || !cellIndices || !wholeIndices)
    {
        return espyResult_OutOfMemory;
    }
    *copies = (espyGatherCopies){positions, cellIndices, wholeIndices};
    for (uint32_t c = 0; c < cellCount; ++c)
    {
        for (uint32_t i = 0; i < cells[c].count; ++i)
        {
            const espyiMat4d* transform = &instances[cells[c].first + i].transform;
            bool mirrored = espyMat4d_IsMirrored(transform);
            uint32_t inCell = i * shape->vertexCount;
            uint32_t inWhole = (cells[c].first + i) * shape->vertexCount;
            for (uint32_t v = 0; v < shape->vertexCount; ++v)
            {
                *positions++ = espyiMat4d_TransformPoint(transform, shape->positions[v]);
            }
            for (uint32_t k = 0; k < 3u * shape->triangleCount; ++k)
            {
                uint32_t corner = k % 3u;
                uint32_t from = mirrored && corner > 0 ? k - corner + 3u - corner : k;
                *wholeIndices++ = inWhole + shape->indices[from];
                // With one cell both are the same array.
                if (cellCount > 1)
                {
                    *cellIndices++ = inCell + shape->indices[from];
                }
            }
        }
    }
    return espyResult_Ok;
}

static espyTriangles espyGatherCopies_Cell(const espyGatherCopies* copies, const espyTriangles* shape,
                                           espyGatherCell cell)
{
    return (espyTriangles){copies->positions + (size_t)cell.first * shape->vertexCount,
                           copies->cellIndices + (size_t)cell.first * 3u * shape->triangleCount,
                           cell.count * shape->vertexCount, cell.count * shape->triangleCount};
}

static espyBox espyTriangles_Bounds(const espyTriangles* triangles)
{
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < triangles->vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, triangles->positions[i]);
    }
    return box;
}

// --- unroll cells

/// Fills job->instances and job->cells for a node; an instance belongs to the cell that holds the centre of its bounds.
static espyResult espyGather_MakeCells(espyGatherJob* job, const espyNodeDef* node, const espyiMat4d* world,
                                       const espyTriangles* mesh, uint32_t* cellCount)
{
    const espyHooks* hooks = &job->out->hooks;
    bool instanced = node->kind == espyNodeKind_InstancedMesh3D;
    uint32_t count = instanced ? node->instanceCount : 1u;
    *cellCount = 0;
    if (!espyiGrow(hooks, (void**)&job->instances, &job->instanceCapacity, count, sizeof(espyGatherInstance)) ||
        !espyiGrow(hooks, (void**)&job->cells, &job->cellCapacity, count, sizeof(espyGatherCell)))
    {
        return espyResult_OutOfMemory;
    }
    if (!instanced)
    {
        job->instances[0] = (espyGatherInstance){.transform = *world};
        job->cells[0] = (espyGatherCell){0, 1};
        *cellCount = 1;
        return espyResult_Ok;
    }
    float size = node->unrollCellSize > 0.0f ? node->unrollCellSize : job->unrollCellSize;
    espyiUnroll* unroll = espyiUnroll_Make(hooks, world, node->instances, count, mesh, 1, size);
    if (!unroll)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        espyiMat4d local = espyiMat4d_From(&node->instances[unroll->order[i]]);
        job->instances[i].transform = espyiMat4d_Multiply(world, &local);
    }
    for (uint32_t c = 0; c < unroll->cellCount; ++c)
    {
        job->cells[c] = (espyGatherCell){unroll->firsts[c], unroll->firsts[c + 1] - unroll->firsts[c]};
    }
    *cellCount = unroll->cellCount;
    espyiFree(hooks, unroll);
    return espyResult_Ok;
}

// --- nodes

static espyResult espyGather_AddOccluders(espyGatherJob* job, const espyNodeDef* node, const espyTriangles* shape,
                                          const espyGatherCopies* copies, uint32_t cellCount)
{
    espyGathered* out = job->out;
    if (!espyiGrow(&out->hooks, (void**)&out->occluders, &out->occluderCapacity,
                   (size_t)out->input.occluderCount + cellCount, sizeof(espyBakeOccluder)))
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t c = 0; c < cellCount; ++c)
    {
        out->occluders[out->input.occluderCount++] =
            (espyBakeOccluder){.mesh = espyGatherCopies_Cell(copies, shape, job->cells[c]),
                               .node = node->sourceId,
                               .name = node->name,
                               .content = job->content};
    }
    return espyResult_Ok;
}

/// Adds the whole node and, where it is instanced, its unroll cells. `ownCount` is cellCount or 0.
static espyResult espyGather_AddOccludees(espyGatherJob* job, const espyNodeDef* node, const espyTriangles* shape,
                                          const espyGatherCopies* copies, uint32_t cellCount, uint32_t firstOwn,
                                          uint32_t ownCount)
{
    espyGathered* out = job->out;
    uint32_t parts = node->kind == espyNodeKind_InstancedMesh3D ? cellCount : 0u;
    if (!espyiGrow(&out->hooks, (void**)&out->occludees, &out->occludeeCapacity,
                   (size_t)out->input.occludeeCount + 1u + parts, sizeof(espyBakeOccludee)))
    {
        return espyResult_OutOfMemory;
    }
    uint32_t instanceCount = job->cells[cellCount - 1].first + job->cells[cellCount - 1].count;
    espyBakeOccludee whole = {
        .mesh = {copies->positions, copies->wholeIndices, instanceCount * shape->vertexCount,
                 instanceCount * shape->triangleCount},
        .node = node->sourceId,
        .part = -1,
        .firstOwn = firstOwn,
        .ownCount = ownCount,
        .name = node->name,
    };
    whole.box = espyTriangles_Bounds(&whole.mesh);
    out->occludees[out->input.occludeeCount++] = whole;
    for (uint32_t c = 0; c < parts; ++c)
    {
        espyBakeOccludee part = whole;
        part.mesh = espyGatherCopies_Cell(copies, shape, job->cells[c]);
        part.box = espyTriangles_Bounds(&part.mesh);
        part.part = (int32_t)c;
        part.firstOwn = firstOwn + (ownCount > 0 ? c : 0u);
        part.ownCount = ownCount > 0 ? 1u : 0u;
        out->occludees[out->input.occludeeCount++] = part;
    }
    return espyResult_Ok;
}

/// "node 'NAME'" or "node #ID".
static void espyGather_NameNode(const espyNodeDef* node, char* text, size_t size)
{
    if (node->name && node->name[0] != '\0')
    {
        snprintf(text, size, "node '%.128s'", node->name);
    }
    else
    {
        snprintf(text, size, "node #%d", (int)node->sourceId);
    }
}

static espyResult espyGather_WarnOfNode(espyGatherJob* job, const espyNodeDef* node, espyMessageId id)
{
    espyGathered* out = job->out;
    char name[160], line[320];
    espyGather_NameNode(node, name, sizeof name);
    snprintf(line, sizeof line, espyMessage_GetText(id), name);
    espyGathered_Warn(out, id, line);
    char* text = (char*)espyGathered_Alloc(out, strlen(line) + 1, 1);
    if (!text || !espyiGrow(&out->hooks, (void**)&out->warnings, &out->warningCapacity, out->warningCount + 1,
                            sizeof(espyBakeWarning)))
    {
        return espyResult_OutOfMemory;
    }
    memcpy(text, line, strlen(line) + 1);
    out->warnings[out->warningCount++] = (espyBakeWarning){id, node->sourceId, text};
    return espyResult_Ok;
}

/// Adds the triangles of a node, instanced or not. `form` is whole.
static espyResult espyGather_AddForm(espyGatherJob* job, const espyNodeDef* node, const espyiMat4d* world,
                                     const espyiGatherForm* form, bool occludes, bool isOccludee)
{
    espyGathered* out = job->out;
    uint32_t cellCount;
    uint64_t instanceCount = node->kind == espyNodeKind_InstancedMesh3D ? node->instanceCount : 1u;
    uint32_t triangleCount = form->drawn.triangleCount, vertexCount = form->drawn.vertexCount;
    triangleCount = form->blocks.triangleCount > triangleCount ? form->blocks.triangleCount : triangleCount;
    vertexCount = form->blocks.vertexCount > vertexCount ? form->blocks.vertexCount : vertexCount;
    if (instanceCount * triangleCount > ESPY_EDITOR_MAX_TRIANGLES || instanceCount * vertexCount > UINT32_MAX)
    {
        return espyGather_Refuse(out);
    }
    espyResult result = espyGather_MakeCells(job, node, world, &form->drawn, &cellCount);
    if (result != espyResult_Ok || cellCount == 0)
    {
        return result;
    }
    espyGatherCopies copies = {0};
    bool copied = false;
    uint32_t firstOwn = out->input.occluderCount;
    if (occludes && form->blocks.triangleCount > 0)
    {
        result = espyGather_Copy(out, &form->blocks, job->instances, job->cells, cellCount, &copies);
        if (result == espyResult_Ok)
        {
            result = espyGather_AddOccluders(job, node, &form->blocks, &copies, cellCount);
        }
        // Where all of the mesh is opaque the occludee is the same triangles: one copy serves both.
        copied = form->shared;
    }
    uint32_t ownCount = out->input.occluderCount - firstOwn;
    if (result == espyResult_Ok && isOccludee)
    {
        if (!copied)
        {
            result = espyGather_Copy(out, &form->drawn, job->instances, job->cells, cellCount, &copies);
        }
        if (result == espyResult_Ok)
        {
            result = espyGather_AddOccludees(job, node, &form->drawn, &copies, cellCount, firstOwn, ownCount);
        }
    }
    return result;
}

static espyResult espyGather_AddMeshNode(espyGatherJob* job, espyNodeId id, const espyNodeDef* node,
                                         const espyiMat4d* world, bool occludes, bool isOccludee)
{
    const espyHooks* hooks = &job->out->hooks;
    espyiGatherForm form;
    espyResult result = espyiGatherForm_Make(job->world, id, node, hooks, &form);
    if (result == espyResult_Ok && occludes && form.blocksNothing)
    {
        result = espyGather_WarnOfNode(job, node, espyMessageId_GatherLevelsBlockNothing);
    }
    if (result == espyResult_LimitExceeded)
    {
        result = espyGather_Refuse(job->out);
    }
    if (result == espyResult_Ok && form.drawn.triangleCount > 0)
    {
        result = espyGather_AddForm(job, node, world, &form, occludes, isOccludee);
    }
    espyiGatherForm_Free(hooks, &form);
    return result;
}

/// A bare box (light, probe, sound source): an occludee whose surface is its box.
static espyResult espyGather_AddBox(espyGatherJob* job, const espyNodeDef* node, const espyiMat4d* world)
{
    espyGathered* out = job->out;
    espyBox given = node->bounds, box = espyBox_Empty();
    if (!espyiGrow(&out->hooks, (void**)&out->occludees, &out->occludeeCapacity, (size_t)out->input.occludeeCount + 1u,
                   sizeof(espyBakeOccludee)))
    {
        return espyResult_OutOfMemory;
    }
    for (int i = 0; i < 8; ++i)
    {
        espyVec3 corner = {i & 1 ? given.max.x : given.min.x, i & 2 ? given.max.y : given.min.y,
                           i & 4 ? given.max.z : given.min.z};
        box = espyBox_AddPoint(box, espyiMat4d_TransformPoint(world, corner));
    }
    out->occludees[out->input.occludeeCount++] =
        (espyBakeOccludee){.box = box, .node = node->sourceId, .part = -1, .name = node->name};
    return espyResult_Ok;
}

static espyResult espyGather_AddArea(espyGathered* out, const espyiMat4d* world)
{
    if (!espyiGrow(&out->hooks, (void**)&out->areas, &out->areaCapacity, (size_t)out->input.areaCount + 1,
                   sizeof(espyBakeArea)))
    {
        return espyResult_OutOfMemory;
    }
    out->areas[out->input.areaCount++].transform = espyMat4d_Round(world);
    return espyResult_Ok;
}

static espyResult espyGather_AddViewPoint(espyGathered* out, const espyiMat4d* world)
{
    if (!espyiGrow(&out->hooks, (void**)&out->viewPoints, &out->viewPointCapacity,
                   (size_t)out->input.viewPointCount + 1, sizeof(espyVec3)))
    {
        return espyResult_OutOfMemory;
    }
    out->viewPoints[out->input.viewPointCount++] =
        (espyVec3){(float)world->m[12], (float)world->m[13], (float)world->m[14]};
    return espyResult_Ok;
}

static espyResult espyGather_AddNode(espyGatherJob* job, espyNodeId id, const espyNodeDef* node,
                                     const espyiMat4d* world)
{
    uint32_t flags = node->flags;
    if (flags & espyNodeFlag_Hidden)
    {
        return espyResult_Ok;
    }
    if (node->kind == espyNodeKind_OcclusionArea)
    {
        return espyGather_AddArea(job->out, world);
    }
    if (node->kind == espyNodeKind_Camera3D)
    {
        return espyGather_AddViewPoint(job->out, world);
    }
    bool bare = node->kind == espyNodeKind_Node3D;
    bool isOccludee = (flags & espyNodeFlag_OccludeeStatic) && !(flags & espyNodeFlag_Blocker);
    bool occludes = flags & espyNodeFlag_OccluderStatic;
    // A skeleton or particles change shape at run time, whatever the flags say.
    bool dynamic = (flags & espyNodeFlag_Dynamic) || node->kind == espyNodeKind_SkeletalMesh3D ||
                   node->kind == espyNodeKind_Particle3D;
    if (dynamic && occludes && !bare)
    {
        return espyGather_WarnOfNode(job, node, espyMessageId_ImportDynamicOccluder);
    }
    if (dynamic || (flags & espyNodeFlag_Skybox))
    {
        return espyResult_Ok;
    }
    if (bare)
    {
        return isOccludee && espyBox_IsValid(node->bounds) ? espyGather_AddBox(job, node, world) : espyResult_Ok;
    }
    job->content = occludes ? espyWorld_GetContentHash(job->world, id) : 0;
    return occludes || isOccludee ? espyGather_AddMeshNode(job, id, node, world, occludes, isOccludee) : espyResult_Ok;
}

typedef struct espyGatherKey
{
    int32_t sourceId;
    uint32_t order;
} espyGatherKey;

static int espyGatherKey_Compare(const void* left, const void* right)
{
    const espyGatherKey* a = (const espyGatherKey*)left;
    const espyGatherKey* b = (const espyGatherKey*)right;
    if (a->sourceId != b->sourceId)
    {
        return a->sourceId < b->sourceId ? -1 : 1;
    }
    return a->order < b->order ? -1 : a->order > b->order;
}

/// World transforms of all nodes by order of creation, in which parents come first, and the order of source ids.
static espyResult espyGather_Prepare(espyGatherJob* job, uint32_t count)
{
    const espyHooks* hooks = &job->out->hooks;
    uint32_t slots = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t slot = (uint32_t)espyWorld_GetNodeAt(job->world, i).index1;
        slots = slot > slots ? slot : slots;
    }
    espyGatherKey* keys = (espyGatherKey*)espyiAlloc(hooks, count, sizeof(espyGatherKey));
    job->transforms = (espyiMat4d*)espyiAlloc(hooks, count, sizeof(espyiMat4d));
    job->orderOfSlot = (uint32_t*)espyiAlloc(hooks, slots, sizeof(uint32_t));
    job->sorted = (uint32_t*)espyiAlloc(hooks, count, sizeof(uint32_t));
    if (!keys || !job->transforms || !job->orderOfSlot || !job->sorted)
    {
        espyiFree(hooks, keys);
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        espyNodeDef node;
        espyNodeId id = espyWorld_GetNodeAt(job->world, i);
        espyWorld_GetNode(job->world, id, &node);
        job->orderOfSlot[id.index1 - 1] = i;
        espyiMat4d local = espyiMat4d_From(&node.local);
        job->transforms[i] =
            node.parent.index1 == 0
                ? local
                : espyiMat4d_Multiply(&job->transforms[job->orderOfSlot[node.parent.index1 - 1]], &local);
        keys[i] = (espyGatherKey){node.sourceId, i};
    }
    qsort(keys, count, sizeof(espyGatherKey), espyGatherKey_Compare);
    for (uint32_t i = 0; i < count; ++i)
    {
        job->sorted[i] = keys[i].order;
    }
    espyiFree(hooks, keys);
    return espyResult_Ok;
}

espyResult espyEditor_Gather(const espyWorld* world, float cellSize, float unrollCellSize, const espyHooks* hooks,
                             espyGathered** out)
{
    if (!ESPYI_CHECK(hooks, world != NULL && out != NULL && cellSize > 0.0f))
    {
        return espyResult_InvalidArgument;
    }
    espyHooks resolved = espyiHooks_Resolve(hooks);
    espyGathered* gathered = (espyGathered*)espyiAlloc(&resolved, 1, sizeof(espyGathered));
    *out = NULL;
    if (!gathered)
    {
        return espyResult_OutOfMemory;
    }
    gathered->hooks = resolved;
    espyGatherJob job = {.world = world, .out = gathered, .unrollCellSize = unrollCellSize};
    if (!(job.unrollCellSize > 0.0f))
    {
        job.unrollCellSize = espyWorld_GetSettings(world).unrollCellSize;
    }
    if (!(job.unrollCellSize > 0.0f))
    {
        job.unrollCellSize = 4.0f * cellSize;
    }
    uint32_t count = espyWorld_GetNodeCount(world);
    espyResult result = count > 0 ? espyGather_Prepare(&job, count) : espyResult_Ok;
    for (uint32_t i = 0; i < count && result == espyResult_Ok; ++i)
    {
        espyNodeDef node;
        espyNodeId id = espyWorld_GetNodeAt(world, job.sorted[i]);
        espyWorld_GetNode(world, id, &node);
        result = espyGather_AddNode(&job, id, &node, &job.transforms[job.sorted[i]]);
    }
    espyiFree(&resolved, job.transforms);
    espyiFree(&resolved, job.orderOfSlot);
    espyiFree(&resolved, job.sorted);
    espyiFree(&resolved, job.instances);
    espyiFree(&resolved, job.cells);
    if (result != espyResult_Ok)
    {
        espyGathered_Destroy(gathered);
        return result;
    }
    gathered->input.occluders = gathered->occluders;
    gathered->input.occludees = gathered->occludees;
    gathered->input.areas = gathered->areas;
    gathered->input.viewPoints = gathered->viewPoints;
    *out = gathered;
    return espyResult_Ok;
}

const espyBakeInput* espyGathered_GetInput(const espyGathered* gathered)
{
    return gathered ? &gathered->input : NULL;
}

const espyBakeWarning* espyGathered_GetWarnings(const espyGathered* gathered, uint32_t* count)
{
    *count = gathered ? (uint32_t)gathered->warningCount : 0u;
    return gathered ? gathered->warnings : NULL;
}

void espyGathered_Destroy(espyGathered* gathered)
{
    if (!gathered)
    {
        return;
    }
    espyHooks hooks = gathered->hooks;
    for (size_t i = 0; i < gathered->blockCount; ++i)
    {
        espyiFree(&hooks, gathered->blocks[i]);
    }
    espyiFree(&hooks, gathered->blocks);
    espyiFree(&hooks, gathered->occluders);
    espyiFree(&hooks, gathered->occludees);
    espyiFree(&hooks, gathered->areas);
    espyiFree(&hooks, gathered->viewPoints);
    espyiFree(&hooks, gathered->warnings);
    espyiFree(&hooks, gathered);
}

void espyEditor_ApplySettings(const espyWorld* world, espyBakeDef* def)
{
    espySceneSettings settings = espyWorld_GetSettings(world);
    def->quality = settings.bakeQuality;
    def->cellSize = settings.occlusionCellSize;
    def->dynamicObjects = settings.dynamicObjects;
    def->occlusionCulling = settings.occlusionCulling;
    def->consoleBudgetKB = settings.consoleBudgetKB;
    def->levelSettings = espyBakeSetting_CellSize | espyBakeSetting_Quality | espyBakeSetting_DynamicObjects;
}
