// SPDX-License-Identifier: MIT
#include "world_reference.h"

#include <assert.h>
#include <espy/view.h>
#include <math.h>

static espyBox espyReference_Baked(const espyPvs* pvs, bool occluder, uint32_t entry)
{
    return occluder ? espyPvs_GetOccluderBox(pvs, entry) : espyPvs_GetOccludeeBox(pvs, entry);
}

/// The text's tolerance, in double precision.
static bool espyReference_InPlace(const espyPvs* pvs, espyBox baked, espyBox now, espyVec3 offset, double share)
{
    double x = (double)(baked.max.x - baked.min.x), y = (double)(baked.max.y - baked.min.y);
    double z = (double)(baked.max.z - baked.min.z);
    double size = fmax(x, fmax(y, z));
    double tolerance = fmax(0.1 * (double)pvs->cellSize, 0.01 * size);
    const double faces[6][3] = {
        {baked.min.x, now.min.x, offset.x}, {baked.min.y, now.min.y, offset.y}, {baked.min.z, now.min.z, offset.z},
        {baked.max.x, now.max.x, offset.x}, {baked.max.y, now.max.y, offset.y}, {baked.max.z, now.max.z, offset.z},
    };
    for (int i = 0; i < 6; ++i)
    {
        if (!(fabs(faces[i][1] - faces[i][2] - faces[i][0]) <= share * tolerance))
        {
            return false;
        }
    }
    return true;
}

static bool espyReference_May(const espyWorld* world, espyNodeId node, bool occluder)
{
    espyNodeDef def;
    espyWorld_GetNode(world, node, &def);
    uint32_t never = espyNodeFlag_Skybox | espyNodeFlag_Dynamic | (occluder ? 0u : espyNodeFlag_Blocker);
    return (def.flags & (occluder ? espyNodeFlag_OccluderStatic : espyNodeFlag_OccludeeStatic)) &&
           !(def.flags & never) && def.kind != espyNodeKind_SkeletalMesh3D && def.kind != espyNodeKind_Particle3D;
}

static espyBox espyReference_Box(const espyWorld* world, espyNodeId node, bool occluder)
{
    return occluder ? espyWorld_GetOccluderBounds(world, node) : espyWorld_GetWorldBounds(world, node);
}

static bool espyReference_Same(espyNodeId a, espyNodeId b)
{
    return a.index1 == b.index1 && a.generation == b.generation;
}

static bool espyReference_Fits(const espyWorldReference* r, const espyWorldReferenceFile* f, bool occluder,
                               uint32_t entry, espyNodeId node, double share)
{
    const espyWorldReferenceEntry* e = occluder ? &f->occluders[entry] : &f->occludees[entry];
    espyBox box = espyReference_Box(r->world, node, occluder);
    return espyReference_May(r->world, node, occluder) && espyBox_IsValid(box) &&
           espyReference_InPlace(&f->pvs, espyReference_Baked(&f->pvs, occluder, entry), box, f->offset, share) &&
           (e->content == 0 || e->content == espyWorld_GetContentHash(r->world, node));
}

static bool espyReference_HasSlot(const espyWorldReference* r, espyNodeId node)
{
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        for (uint32_t i = 0; i < r->files[f].pvs.occludeeCount; ++i)
        {
            if (espyReference_Same(r->files[f].occludees[i].node, node))
            {
                return true;
            }
        }
    }
    return false;
}

static bool espyReference_HasEntry(const espyWorldReferenceFile* f, espyNodeId node)
{
    for (uint32_t i = 0; i < f->pvs.occluderCount; ++i)
    {
        if (espyReference_Same(f->occluders[i].node, node))
        {
            return true;
        }
    }
    return false;
}

/// Nodes that changed after `since` take free entries of a file, which is whose they fit within a share of the
/// tolerance.
static void espyReference_OfferSome(espyWorldReference* r, espyWorldReferenceFile* file, bool occluder, uint64_t since,
                                    double share, uint32_t without)
{
    uint32_t count = occluder ? file->pvs.occluderCount : file->pvs.occludeeCount;
    espyWorldReferenceEntry* entries = occluder ? file->occluders : file->occludees;
    for (uint32_t i = 0; i < count; ++i)
    {
        for (uint32_t n = 0; n < espyWorld_GetNodeCount(r->world) && entries[i].node.index1 == 0; ++n)
        {
            espyNodeId node = espyWorld_GetNodeAt(r->world, n);
            bool changed = since == 0 || espyWorld_GetNodeRevision(r->world, node) > since;
            bool free = changed && !(espyWorld_GetFlags(r->world, node) & without) &&
                        !(occluder ? espyReference_HasEntry(file, node) : espyReference_HasSlot(r, node));
            if (free && espyReference_Fits(r, file, occluder, i, node, share))
            {
                entries[i].node = node;
                entries[i].content = espyWorld_GetContentHash(r->world, node);
            }
        }
    }
}

/// One change after the other, as they come.
static void espyReference_Offer(espyWorldReference* r, espyWorldReferenceFile* file, bool occluder, uint64_t since)
{
    espyReference_OfferSome(r, file, occluder, since, 1.0, 0);
}

/// All nodes at once: exact fits first, and of equals those that are not hidden.
static void espyReference_Match(espyWorldReference* r, espyWorldReferenceFile* file, bool occluder)
{
    espyReference_OfferSome(r, file, occluder, 0, 1.0 / 256.0, espyNodeFlag_Hidden);
    espyReference_OfferSome(r, file, occluder, 0, 1.0 / 256.0, 0);
    espyReference_OfferSome(r, file, occluder, 0, 1.0, espyNodeFlag_Hidden);
    espyReference_OfferSome(r, file, occluder, 0, 1.0, 0);
}

static void espyReference_Clear(const espyWorld* world, espyWorldReferenceEntry* entries, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!espyWorld_IsNode(world, entries[i].node))
        {
            entries[i].node = (espyNodeId){0};
        }
    }
}

void espyWorldReference_Update(espyWorldReference* r)
{
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        espyReference_Clear(r->world, r->files[f].occluders, r->files[f].pvs.occluderCount);
        espyReference_Clear(r->world, r->files[f].occludees, r->files[f].pvs.occludeeCount);
    }
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        espyReference_Offer(r, &r->files[f], true, r->revision);
        espyReference_Offer(r, &r->files[f], false, r->revision);
    }
    r->revision = espyWorld_GetRevision(r->world);
}

void espyWorldReference_Load(espyWorldReference* r, espyDataId id, const void* bytes, size_t size, espyVec3 offset)
{
    assert(r->fileCount < ESPY_WORLD_REFERENCE_FILES);
    espyWorldReferenceFile* file = &r->files[r->fileCount++];
    *file = (espyWorldReferenceFile){.offset = offset, .id = id};
    espyPvs_Load(&file->pvs, bytes, size, NULL);
    assert(file->pvs.occludeeCount <= ESPY_WORLD_REFERENCE_ENTRIES);
    assert(file->pvs.occluderCount <= ESPY_WORLD_REFERENCE_ENTRIES);
    espyReference_Match(r, file, true);
    espyReference_Match(r, file, false);
}

void espyWorldReference_Place(espyWorldReference* r, espyDataId id, espyVec3 offset)
{
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        if (r->files[f].id.index1 == id.index1 && r->files[f].id.generation == id.generation)
        {
            r->files[f].offset = offset;
            espyReference_Offer(r, &r->files[f], true, 0);
            espyReference_Offer(r, &r->files[f], false, 0);
        }
    }
}

void espyWorldReference_Unload(espyWorldReference* r, espyDataId id)
{
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        if (r->files[f].id.index1 == id.index1 && r->files[f].id.generation == id.generation)
        {
            for (uint32_t i = f; i + 1 < r->fileCount; ++i)
            {
                r->files[i] = r->files[i + 1];
            }
            --r->fileCount;
            break;
        }
    }
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        espyReference_Match(r, &r->files[f], false);
    }
}

bool espyWorldReference_IsStale(const espyWorldReference* r, uint32_t f)
{
    const espyWorldReferenceFile* file = &r->files[f];
    for (uint32_t i = 0; i < file->pvs.occluderCount; ++i)
    {
        espyNodeId node = file->occluders[i].node;
        if (node.index1 == 0 || !espyReference_Fits(r, file, true, i, node, 1.0))
        {
            return true;
        }
    }
    return false;
}

espyNodeData espyWorldReference_GetNodeData(const espyWorldReference* r, espyNodeId node)
{
    espyNodeData data = {.slot = ESPY_PVS_NO_SLOT};
    for (uint32_t f = 0; f < r->fileCount; ++f)
    {
        const espyWorldReferenceFile* file = &r->files[f];
        data.occluder = data.occluder || espyReference_HasEntry(file, node);
        for (uint32_t i = 0; i < file->pvs.occludeeCount; ++i)
        {
            if (espyReference_Same(file->occludees[i].node, node))
            {
                data.data = file->id;
                data.slot = i;
                data.inPlace = espyReference_Fits(r, file, false, i, node, 1.0);
            }
        }
    }
    return data;
}

bool espyWorldReference_IsSeen(const espyWorldReference* r, espyNodeId node, espyNodeId camera)
{
    espyNodeDef def, eye;
    espyWorld_GetNode(r->world, node, &def);
    espyWorld_GetNode(r->world, camera, &eye);
    espyViewDef viewDef = espyViewDef_FromCamera(&eye.camera, espyWorld_GetWorldTransform(r->world, camera), false);
    espyView view;
    espyView_Make(&view, &viewDef, NULL);
    espyBox box = espyWorld_GetQueryBounds(r->world, node);
    if ((def.flags & espyNodeFlag_Hidden) || espyReference_Same(node, camera) ||
        espyView_TestBox(&view, box) == espyVisibility_Outside)
    {
        return false;
    }
    espyNodeData data = espyWorldReference_GetNodeData(r, node);
    bool inPlace = data.data.index1 != 0 && data.inPlace;
    for (uint32_t f = 0; f < r->fileCount && r->occlusion; ++f)
    {
        const espyWorldReferenceFile* file = &r->files[f];
        int32_t cells[ESPY_VIEW_MAX_CELLS];
        uint32_t count = espyView_FindCells(&view, &file->pvs, file->offset, cells);
        bool own = data.data.index1 == file->id.index1 && data.data.generation == file->id.generation;
        if (count == 0 || espyWorldReference_IsStale(r, f) || (inPlace && !own))
        {
            continue;
        }
        bool visible = false;
        for (uint32_t c = 0; c < count; ++c)
        {
            espyVec3 o = file->offset;
            espyBox local = {{box.min.x - o.x, box.min.y - o.y, box.min.z - o.z},
                             {box.max.x - o.x, box.max.y - o.y, box.max.z - o.z}};
            espyVisibility v = inPlace ? espyPvs_TestSlot(&file->pvs, cells[c], data.slot)
                                       : espyPvs_TestBox(&file->pvs, cells[c], local);
            visible = visible || v != espyVisibility_Occluded;
        }
        if (!visible)
        {
            return false;
        }
    }
    return true;
}
