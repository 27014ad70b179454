// SPDX-License-Identifier: MIT
// Was an occluder edited since the bake? Bounds cannot tell (a door cut into a wall); content hashes can. Triangles are
// brought into the world in double precision, instance by instance, as the bake's gathering does, so that what did not
// change hashes to the bit.
#include "world/data.h"

#include "pvs/content_hash.h"

typedef struct espyBakedHash
{
    uint64_t hash;
    espyBox box; ///< Of the triangles' corners.
    espyVec3 origin;
    espyiMat4d transform;
    bool mirrored;
} espyBakedHash;

static bool espyMat4d_Mirrors(const espyiMat4d* m)
{
    return m->m[0] * (m->m[5] * m->m[10] - m->m[9] * m->m[6]) - m->m[4] * (m->m[1] * m->m[10] - m->m[9] * m->m[2]) +
               m->m[8] * (m->m[1] * m->m[6] - m->m[5] * m->m[2]) <
           0.0;
}

static uint64_t espyBakedHash_CountTriangles(const espyMeshPart* parts, uint32_t partCount)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < partCount; ++i)
    {
        count += parts[i].material == espyMaterialClass_Opaque ? parts[i].indexCount / 3u : 0u;
    }
    return count;
}

/// Adds the opaque triangles of a mesh under the transform. Those of a mirrored one are turned round.
static void espyBakedHash_AddMesh(espyBakedHash* h, const espyVec3* positions, const uint32_t* indices,
                                  const espyMeshPart* parts, uint32_t partCount)
{
    for (uint32_t i = 0; i < partCount; ++i)
    {
        uint32_t count = parts[i].material == espyMaterialClass_Opaque ? parts[i].indexCount : 0u;
        for (uint32_t k = 0; k < count; k += 3u)
        {
            const uint32_t* at = &indices[parts[i].firstIndex + k];
            const uint32_t order[3] = {at[0], h->mirrored ? at[2] : at[1], h->mirrored ? at[1] : at[2]};
            espyVec3 corners[3];
            for (uint32_t c = 0; c < 3; ++c)
            {
                corners[c] = espyiMat4d_TransformPoint(&h->transform, positions[order[c]]);
                h->box = espyBox_AddPoint(h->box, corners[c]);
            }
            h->hash = espyiContentHash_AddTriangle(h->hash, h->origin, corners);
        }
    }
}

/// Terrain or voxels. False where memory ends.
static bool espyBakedHash_OfField(espyBakedHash* h, const espyWorld* world, int32_t slot)
{
    espySurface surface;
    if (espyWorld_BuildSurface(world, espyiWorld_IdOf(world, slot), &world->hooks, &surface) != espyResult_Ok)
    {
        return false;
    }
    h->hash = espyiContentHash_Begin(espyBakedHash_CountTriangles(surface.parts, surface.partCount));
    espyBakedHash_AddMesh(h, surface.triangles.positions, surface.triangles.indices, surface.parts, surface.partCount);
    espySurface_Free(&surface);
    return true;
}

static void espyBakedHash_OfMesh(espyBakedHash* h, const espyWorld* world, int32_t slot, int32_t part)
{
    const espyiWorldNode* node = &world->nodes[slot];
    const espyiUnroll* unroll = world->data->unrolls[slot];
    bool inner = node->content && node->content->occluderMesh.index1 != 0;
    const espyiWorldMesh* mesh = espyiWorld_FindMesh(world, inner ? node->content->occluderMesh : node->mesh);
    uint64_t triangles = espyBakedHash_CountTriangles(mesh->parts, mesh->partCount);
    espyiMat4d whole = h->transform;
    uint32_t first = part >= 0 ? unroll->firsts[part] : 0u;
    uint32_t end = part >= 0 ? unroll->firsts[part + 1] : 1u;
    h->hash = espyiContentHash_Begin(triangles * (end - first));
    for (uint32_t i = first; i < end; ++i)
    {
        if (part >= 0)
        {
            espyiMat4d local = espyiMat4d_From(&node->instances[unroll->order[i]]);
            h->transform = espyiMat4d_Multiply(&whole, &local);
        }
        h->mirrored = espyMat4d_Mirrors(&h->transform);
        espyBakedHash_AddMesh(h, mesh->positions, mesh->indices, mesh->parts, mesh->partCount);
    }
}

/// True where the box is the baked one, to the bit but for the sign of zero.
static bool espyBakedHash_IsExact(espyBox box, const float baked[6])
{
    return box.min.x == baked[0] && box.min.y == baked[1] && box.min.z == baked[2] && box.max.x == baked[3] &&
           box.max.y == baked[4] && box.max.z == baked[5];
}

/// 1 where the hash of an occluder is the file's, -1 where it is another at exactly the same bounds, 0 where nothing
/// can be said (it was moved within the tolerance). *memory becomes false where memory ends.
static int espyGroup_CompareHash(const espyWorld* world, const espyiGroup* group, uint32_t entry, bool* memory)
{
    const espyPvs* pvs = &group->file->pvs;
    const espyiOccluder* occluder = &group->occluders[entry];
    espyBakedHash h = {.box = espyBox_Empty(), .origin = pvs->origin};
    if (occluder->state != espyOccluderState_InPlace || pvs->hashes[entry] == 0 ||
        espyPvs_GetOccluderContent(pvs, entry) != 0 ||
        !espyiWorldData_ExactTransform(world, occluder->node, &h.transform))
    {
        return 0;
    }
    if (world->nodes[occluder->node].mesh.index1 != 0)
    {
        espyBakedHash_OfMesh(&h, world, occluder->node, occluder->part);
    }
    else
    {
        h.mirrored = espyMat4d_Mirrors(&h.transform);
        *memory = espyBakedHash_OfField(&h, world, occluder->node) && *memory;
    }
    if (!*memory || !espyBakedHash_IsExact(h.box, pvs->entries + 6u * (size_t)entry))
    {
        return 0;
    }
    return h.hash == pvs->hashes[entry] ? 1 : -1;
}

bool espyiGroup_CheckContent(const espyWorld* world, espyiGroup* group, uint32_t entry)
{
    espyiOccluder* occluder = &group->occluders[entry];
    uint64_t baked = espyPvs_GetOccluderContent(&group->file->pvs, entry);
    if (baked == 0 || occluder->node == ESPYI_WORLD_NONE)
    {
        return false;
    }
    // The key of most nodes is their content's hash; of terrain and voxels it is not, and they cannot come back.
    bool field = espyiWorldData_IsField(world, occluder->node);
    uint64_t now = field ? espyWorld_GetContentHash(world, espyiWorld_IdOf(world, occluder->node)) : occluder->content;
    if (now != baked)
    {
        occluder->content = field ? ~occluder->content : baked;
        espyiGroup_RefreshOccluder(world, group, entry);
    }
    return true;
}

bool espyiGroup_CheckHashes(const espyWorld* world, espyiGroup* group)
{
    const espyPvs* pvs = &group->file->pvs;
    espyVec3 o = group->draws.offset;
    bool memory = true;
    bool agree = false;
    for (uint32_t i = 0; i < pvs->occluderCount; ++i)
    {
        (void)espyiGroup_CheckContent(world, group, i);
    }
    // Elsewhere than where it was baked every coordinate is rounded anew.
    if (!pvs->hashes || o.x != 0.0f || o.y != 0.0f || o.z != 0.0f)
    {
        return true;
    }
    for (uint32_t i = 0; i < pvs->occluderCount && memory; ++i)
    {
        int same = espyGroup_CompareHash(world, group, i, &memory);
        agree = agree || same > 0;
        if (same < 0)
        {
            group->occluders[i].content = ~group->occluders[i].content;
        }
    }
    // Where none agrees the file's hashes are of another kind, and only bounds can decide.
    for (uint32_t i = 0; i < pvs->occluderCount && memory; ++i)
    {
        espyiOccluder* occluder = &group->occluders[i];
        bool differs = occluder->node != ESPYI_WORLD_NONE && occluder->state == espyOccluderState_InPlace &&
                       occluder->content != espyiWorldData_ContentKey(world, occluder->node);
        if (differs && !agree)
        {
            occluder->content = ~occluder->content;
        }
        else if (differs)
        {
            espyiGroup_RefreshOccluder(world, group, i);
        }
    }
    return memory;
}
