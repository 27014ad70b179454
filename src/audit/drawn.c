// SPDX-License-Identifier: MIT
// Collects the triangles that an audit draws.
#include "audit/drawn.h"

#include <stdlib.h>
#include <string.h>

#define ESPY_DRAWN_MAX_TRIANGLES (1u << 28)

/// The faces of a box, for occludees without triangles.
static const uint32_t espyDrawnBoxIndices[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                                 2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};

static bool espyDrawn_IsSound(const espyTriangles* mesh)
{
    if (mesh->triangleCount > 0 && (!mesh->positions || !mesh->indices))
    {
        return false;
    }
    for (size_t i = 0; i < 3u * (size_t)mesh->triangleCount; ++i)
    {
        if (mesh->indices[i] >= mesh->vertexCount)
        {
            return false;
        }
    }
    return true;
}

/// Every mesh is sound and every range of own occluders lies inside the occluders.
static espyResult espyDrawn_CheckInput(const espyBakeInput* input)
{
    if ((input->occluderCount > 0 && !input->occluders) || (input->occludeeCount > 0 && !input->occludees))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        if (!espyDrawn_IsSound(&input->occluders[i].mesh))
        {
            return espyResult_InvalidArgument;
        }
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        const espyBakeOccludee* occludee = &input->occludees[i];
        if (!espyDrawn_IsSound(&occludee->mesh) || occludee->firstOwn > input->occluderCount ||
            occludee->ownCount > input->occluderCount - occludee->firstOwn)
        {
            return espyResult_InvalidArgument;
        }
    }
    return espyResult_Ok;
}

// --- whole nodes and their parts

typedef struct espyDrawnKey
{
    int32_t node, part;
    uint32_t slot;
} espyDrawnKey;

static int espyDrawn_CompareKeys(const void* left, const void* right)
{
    const espyDrawnKey *a = left, *b = right;
    if (a->node != b->node)
    {
        return a->node < b->node ? -1 : 1;
    }
    if (a->part != b->part)
    {
        return a->part < b->part ? -1 : 1;
    }
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/// Fills wholeOf, and marks in `covered` the whole nodes that have parts.
static espyResult espyDrawn_FindWholes(espyiDrawn* drawn, bool* covered)
{
    const espyBakeInput* input = drawn->input;
    espyDrawnKey* keys = espyiAlloc(&drawn->hooks, input->occludeeCount, sizeof *keys);
    if (!keys)
    {
        return espyResult_OutOfMemory;
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        keys[i] = (espyDrawnKey){input->occludees[i].node, input->occludees[i].part, i};
        drawn->wholeOf[i] = i;
    }
    qsort(keys, input->occludeeCount, sizeof *keys, espyDrawn_CompareKeys);
    // Part -1 sorts before the parts of the same node.
    uint32_t whole = 0;
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        if (keys[i].part < 0)
        {
            whole = i;
        }
        else if (keys[whole].part < 0 && keys[whole].node == keys[i].node)
        {
            drawn->wholeOf[keys[i].slot] = keys[whole].slot;
            covered[keys[whole].slot] = true;
        }
    }
    espyiFree(&drawn->hooks, keys);
    return espyResult_Ok;
}

// --- merging

typedef struct espyDrawnTotals
{
    size_t vertices, triangles;
} espyDrawnTotals;

static espyResult espyDrawn_Reserve(const espyHooks* hooks, espyDrawnTotals totals, espyiMerged* out)
{
    if (totals.triangles > ESPY_DRAWN_MAX_TRIANGLES || totals.vertices > UINT32_MAX)
    {
        return espyResult_LimitExceeded;
    }
    out->positions = espyiAlloc(hooks, totals.vertices + 1, sizeof(espyVec3));
    out->indices = espyiAlloc(hooks, 3 * totals.triangles + 1, sizeof(uint32_t));
    out->objects = espyiAlloc(hooks, totals.triangles + 1, sizeof(uint32_t));
    return out->positions && out->indices && out->objects ? espyResult_Ok : espyResult_OutOfMemory;
}

static void espyDrawn_Append(espyiMerged* merged, const espyTriangles* mesh, uint32_t object)
{
    espyTriangles* all = &merged->soup.triangles;
    if (mesh->vertexCount > 0 && mesh->triangleCount > 0)
    {
        memcpy(merged->positions + all->vertexCount, mesh->positions, mesh->vertexCount * sizeof(espyVec3));
        for (uint32_t i = 0; i < 3 * mesh->triangleCount; ++i)
        {
            merged->indices[3 * (size_t)all->triangleCount + i] = all->vertexCount + mesh->indices[i];
        }
        for (uint32_t t = 0; t < mesh->triangleCount; ++t)
        {
            merged->objects[all->triangleCount + t] = object;
        }
        all->vertexCount += mesh->vertexCount;
        all->triangleCount += mesh->triangleCount;
    }
    all->positions = merged->positions;
    all->indices = merged->indices;
    merged->soup.objects = merged->objects;
}

static espyResult espyDrawn_MergeBlockers(espyiDrawn* drawn)
{
    const espyBakeInput* input = drawn->input;
    espyDrawnTotals totals = {0, 0};
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        totals.vertices += input->occluders[i].mesh.vertexCount;
        totals.triangles += input->occluders[i].mesh.triangleCount;
    }
    espyResult result = espyDrawn_Reserve(&drawn->hooks, totals, &drawn->blockers);
    for (uint32_t i = 0; result == espyResult_Ok && i < input->occluderCount; ++i)
    {
        espyDrawn_Append(&drawn->blockers, &input->occluders[i].mesh, i);
    }
    return result;
}

static espyResult espyDrawn_MergeTargets(espyiDrawn* drawn, const bool* covered)
{
    const espyBakeInput* input = drawn->input;
    espyDrawnTotals totals = {0, 0};
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        const espyTriangles* mesh = &input->occludees[i].mesh;
        totals.vertices += covered[i] ? 0 : mesh->triangleCount > 0 ? mesh->vertexCount : 8;
        totals.triangles += covered[i] ? 0 : mesh->triangleCount > 0 ? mesh->triangleCount : 12;
    }
    espyResult result = espyDrawn_Reserve(&drawn->hooks, totals, &drawn->targets);
    for (uint32_t i = 0; result == espyResult_Ok && i < input->occludeeCount; ++i)
    {
        const espyBakeOccludee* occludee = &input->occludees[i];
        espyVec3 corners[8];
        for (uint32_t c = 0; c < 8; ++c)
        {
            corners[c] = (espyVec3){(c & 1u) ? occludee->box.max.x : occludee->box.min.x,
                                    (c & 2u) ? occludee->box.max.y : occludee->box.min.y,
                                    (c & 4u) ? occludee->box.max.z : occludee->box.min.z};
        }
        espyTriangles box = {corners, espyDrawnBoxIndices, 8, 12};
        if (!covered[i])
        {
            espyDrawn_Append(&drawn->targets, occludee->mesh.triangleCount > 0 ? &occludee->mesh : &box, i);
        }
    }
    return result;
}

static espyResult espyDrawn_Index(espyiDrawn* drawn, uint32_t threads)
{
    const espyHooks* hooks = &drawn->hooks;
    espyResult result = espyiBvh_Build(&drawn->blockers.soup, espyIsa_Auto, threads, hooks, NULL, &drawn->blockerBvh);
    if (result == espyResult_Ok)
    {
        result = espyiBvh_Build(&drawn->targets.soup, espyIsa_Auto, threads, hooks, NULL, &drawn->targetBvh);
    }
    if (result == espyResult_Ok)
    {
        result = espyiExact_Build(&drawn->blockers.soup, hooks, &drawn->blockerExact);
    }
    if (result == espyResult_Ok)
    {
        result = espyiExact_Build(&drawn->targets.soup, hooks, &drawn->targetExact);
    }
    return result;
}

espyResult espyiDrawn_Create(const espyBakeInput* input, uint32_t threads, const espyHooks* hooks, espyiDrawn** out)
{
    *out = NULL;
    espyResult result = espyDrawn_CheckInput(input);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiDrawn* drawn = espyiAlloc(hooks, 1, sizeof *drawn);
    if (!drawn)
    {
        return espyResult_OutOfMemory;
    }
    drawn->hooks = *hooks;
    drawn->input = input;
    bool* covered = espyiAlloc(hooks, (size_t)input->occludeeCount + 1, sizeof *covered);
    drawn->wholeOf = espyiAlloc(hooks, (size_t)input->occludeeCount + 1, sizeof(uint32_t));
    result = covered && drawn->wholeOf ? espyResult_Ok : espyResult_OutOfMemory;
    if (result == espyResult_Ok && input->occludeeCount > 0)
    {
        result = espyDrawn_FindWholes(drawn, covered);
    }
    if (result == espyResult_Ok)
    {
        result = espyDrawn_MergeBlockers(drawn);
    }
    if (result == espyResult_Ok)
    {
        result = espyDrawn_MergeTargets(drawn, covered);
    }
    if (result == espyResult_Ok)
    {
        result = espyDrawn_Index(drawn, threads);
    }
    espyiFree(hooks, covered);
    if (result != espyResult_Ok)
    {
        espyiDrawn_Destroy(drawn);
        return result;
    }
    *out = drawn;
    return espyResult_Ok;
}

static void espyDrawn_FreeMerged(const espyHooks* hooks, espyiMerged* merged)
{
    espyiFree(hooks, merged->positions);
    espyiFree(hooks, merged->indices);
    espyiFree(hooks, merged->objects);
}

void espyiDrawn_Destroy(espyiDrawn* drawn)
{
    if (drawn)
    {
        espyHooks hooks = drawn->hooks;
        espyiBvh_Destroy(drawn->blockerBvh);
        espyiBvh_Destroy(drawn->targetBvh);
        espyiExact_Destroy(drawn->blockerExact);
        espyiExact_Destroy(drawn->targetExact);
        espyDrawn_FreeMerged(&hooks, &drawn->blockers);
        espyDrawn_FreeMerged(&hooks, &drawn->targets);
        espyiFree(&hooks, drawn->wholeOf);
        espyiFree(&hooks, drawn);
    }
}

espyiSkip espyiDrawn_OwnOf(const espyiDrawn* drawn, uint32_t slot)
{
    const espyBakeOccludee* occludee = &drawn->input->occludees[slot];
    return (espyiSkip){occludee->firstOwn, occludee->ownCount};
}

bool espyiDrawn_Confirm(const espyiDrawn* drawn, uint32_t slot, const espyiRay* ray, double tMin)
{
    double t;
    return espyiExact_NearestSure(drawn->targetExact, slot, ray, tMin, &t) &&
           !espyiExact_MayBlock(drawn->blockerExact, espyiDrawn_OwnOf(drawn, slot), ray, tMin, t);
}
