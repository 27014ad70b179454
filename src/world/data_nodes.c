// SPDX-License-Identifier: MIT
// From nodes to draws and occluders: their boxes and bits, whether they are where they were baked, and what follows.
#include "core/log_text.h"
#include "world/data.h"

/// Ancestors up to which transforms are composed exactly: 1 KB of stack.
#define ESPY_DATA_MAX_DEPTH 256

// --- what a node is

bool espyiWorldData_IsField(const espyWorld* world, int32_t slot)
{
    const espyiWorldNode* node = &world->nodes[slot];
    return node->content && node->mesh.index1 == 0 && (node->content->bricks || node->content->terrain.width > 0);
}

uint64_t espyiWorldData_ContentKey(const espyWorld* world, int32_t slot)
{
    const espyiWorldNode* node = &world->nodes[slot];
    // Fields are large and edited often: their hash would cost too much at every change.
    uint64_t key = espyiWorldData_IsField(world, slot) ? node->contentRevision | (uint64_t)1 << 63
                                                       : espyWorld_GetContentHash(world, espyiWorld_IdOf(world, slot));
    return key != 0 ? key : 1;
}

bool espyiWorldNode_MayOcclude(const espyiWorldNode* node)
{
    return (node->flags & espyNodeFlag_OccluderStatic) && !(node->flags & espyNodeFlag_Skybox) &&
           !espyiWorldNode_IsDynamic(node);
}

bool espyiWorldNode_MayBeOccludee(const espyiWorldNode* node)
{
    return (node->flags & espyNodeFlag_OccludeeStatic) &&
           !(node->flags & (espyNodeFlag_Skybox | espyNodeFlag_Blocker)) && !espyiWorldNode_IsDynamic(node);
}

/// True where there is something to draw (or, for a bare box, to cull).
static bool espyWorldNode_IsDrawn(const espyiWorldNode* node)
{
    switch (node->kind)
    {
    case espyNodeKind_Camera3D:
    case espyNodeKind_OcclusionArea:
        return false;
    case espyNodeKind_Node3D:
        return espyBox_IsValid(node->ownBounds);
    case espyNodeKind_StaticMesh3D:
    case espyNodeKind_InstancedMesh3D:
    case espyNodeKind_SkeletalMesh3D:
    case espyNodeKind_Particle3D:
    case espyNodeKind_Terrain3D:
    case espyNodeKind_Voxel3D:
        break;
    }
    return !(node->flags & espyNodeFlag_Blocker);
}

static espyBox espyWorldData_InstancesBox(const espyWorld* world, int32_t slot, int32_t part, bool occluder)
{
    const espyiWorldNode* node = &world->nodes[slot];
    const espyiUnroll* unroll = world->data->unrolls[slot];
    const espyiContent* content = node->content;
    bool inner = occluder && content && content->occluderMesh.index1 != 0;
    const espyiWorldMesh* mesh = espyiWorld_FindMesh(world, inner ? content->occluderMesh : node->mesh);
    espyBox box = espyBox_Empty();
    if (!unroll || (uint32_t)part >= unroll->cellCount || !mesh)
    {
        return box;
    }
    for (uint32_t i = unroll->firsts[part]; i < unroll->firsts[part + 1]; ++i)
    {
        espyMat4 transform = espyMat4_Multiply(node->world, node->instances[unroll->order[i]]);
        box = occluder ? espyiWorldMesh_AddOpaqueBounds(mesh, &transform, box)
                       : espyiWorldMesh_AddBounds(mesh, &transform, box);
        for (uint32_t level = 0; !occluder && content && level < content->levelCount; ++level)
        {
            box = espyiWorldMesh_AddBounds(espyiWorld_FindMesh(world, content->levels[level]), &transform, box);
        }
    }
    return espyBox_IsValid(box) ? box : espyBox_Empty();
}

espyBox espyiWorldData_PartBox(const espyWorld* world, int32_t slot, int32_t part, bool occluder)
{
    const espyiWorldNode* node = &world->nodes[slot];
    if (part >= 0)
    {
        // Nothing blocks with several levels of detail but without a mesh that all of them cover; hidden nodes do not.
        return occluder && !espyBox_IsValid(node->occluderBounds)
                   ? espyBox_Empty()
                   : espyWorldData_InstancesBox(world, slot, part, occluder);
    }
    return occluder ? node->occluderBounds : node->bounds;
}

uint32_t espyiWorldData_DrawsOf(const espyWorld* world, int32_t slot)
{
    const espyiUnroll* unroll = espyiWorldData_UnrollOf(world, slot);
    return world->data->unrollInstances && unroll && unroll->cellCount > 0 ? unroll->cellCount : 1u;
}

bool espyiWorldData_ExactTransform(const espyWorld* world, int32_t slot, espyiMat4d* out)
{
    int32_t above[ESPY_DATA_MAX_DEPTH];
    uint32_t depth = 0;
    for (; world->nodes[slot].parent != ESPYI_WORLD_NONE; slot = world->nodes[slot].parent)
    {
        if (depth == ESPY_DATA_MAX_DEPTH)
        {
            return false;
        }
        above[depth++] = slot;
    }
    *out = espyiMat4d_From(&world->nodes[slot].local);
    for (uint32_t i = depth; i > 0; --i)
    {
        espyiMat4d local = espyiMat4d_From(&world->nodes[above[i - 1u]].local);
        *out = espyiMat4d_Multiply(out, &local);
    }
    return true;
}

float espyiWorldData_UnrollSize(const espyWorld* world, int32_t slot, const espyPvs* pvs)
{
    float size = world->nodes[slot].unrollCellSize;
    size = size > 0.0f ? size : world->settings.unrollCellSize;
    if (size > 0.0f)
    {
        return size;
    }
    espyPvsInfo info = {.bakedCellSize = 0.0f};
    if (pvs)
    {
        espyPvs_GetInfo(pvs, &info);
    }
    return 4.0f * (info.bakedCellSize > 0.0f ? info.bakedCellSize : world->settings.occlusionCellSize);
}

espyiUnroll* espyiWorldData_MakeUnroll(const espyWorld* world, int32_t slot, const espyPvs* pvs)
{
    const espyiWorldNode* node = &world->nodes[slot];
    const espyiWorldMesh* mesh = espyiWorld_FindMesh(world, node->mesh);
    if (!mesh)
    {
        return NULL;
    }
    float size = espyiWorldData_UnrollSize(world, slot, pvs);
    espyiMat4d transform;
    if (!espyiWorldData_ExactTransform(world, slot, &transform))
    {
        transform = espyiMat4d_From(&node->world);
    }
    uint32_t levels = node->content ? node->content->levelCount : 0u;
    espyTriangles* meshes = (espyTriangles*)espyiAlloc(&world->hooks, (size_t)levels + 1u, sizeof(espyTriangles));
    if (!meshes)
    {
        return NULL;
    }
    for (uint32_t i = 0; i <= levels; ++i)
    {
        mesh = espyiWorld_FindMesh(world, i == 0 ? node->mesh : node->content->levels[i - 1u]);
        meshes[i] = (espyTriangles){mesh->positions, mesh->indices, mesh->vertexCount, mesh->triangleCount};
    }
    espyiUnroll* unroll =
        espyiUnroll_Make(&world->hooks, &transform, node->instances, node->instanceCount, meshes, levels + 1u, size);
    espyiFree(&world->hooks, meshes);
    if (unroll)
    {
        unroll->revision = node->revision;
    }
    return unroll;
}

// --- draws

static espyBox espyBox_Unbounded(void)
{
    const float far = ESPYI_DRAWS_UNBOUNDED;
    return (espyBox){{-far, -far, -far}, {far, far, far}};
}

/// The box that views test. Nothing known is everything.
static espyBox espyWorldData_DrawBox(const espyWorld* world, int32_t slot, int32_t part)
{
    const espyiWorldNode* node = &world->nodes[slot];
    const espyiWorldMesh* mesh = espyiWorld_FindMesh(world, node->mesh);
    espyBox box = espyiWorldData_PartBox(world, slot, part, false);
    if (node->flags & espyNodeFlag_Skybox)
    {
        return espyBox_Unbounded();
    }
    if (!espyBox_IsValid(box) && !(mesh && mesh->vertexCount > 0))
    {
        box = espyWorld_GetQueryBounds(world, espyiWorld_IdOf(world, slot));
    }
    return espyBox_IsValid(box) ? box : espyBox_Unbounded();
}

static void espyBits_Write(uint32_t* bits, uint32_t index, bool value)
{
    if (value)
    {
        espyiBits_Set(bits, index);
    }
    else
    {
        espyiBits_Clear(bits, index);
    }
}

/// A box in the space of a file, rounded to nearest: what is compared with baked boxes.
static espyBox espyGroup_Place(const espyiGroup* group, espyBox box)
{
    espyVec3 o = group->draws.offset;
    return (espyBox){{box.min.x - o.x, box.min.y - o.y, box.min.z - o.z},
                     {box.max.x - o.x, box.max.y - o.y, box.max.z - o.z}};
}

/// `key` is the content of the node, or 0 where it has to be found out.
static void espyGroup_WriteDraw(const espyWorld* world, espyiGroup* group, uint32_t draw, uint64_t key)
{
    espyiDrawGroup* g = &group->draws;
    int32_t slot = g->nodes[draw].index1 - 1;
    const espyiWorldNode* node = &world->nodes[slot];
    espyBox box = espyWorldData_DrawBox(world, slot, g->parts[draw]);
    bool inPlace = false;
    if (draw < g->slotCount && espyiWorldNode_MayBeOccludee(node))
    {
        const espyPvs* pvs = &group->file->pvs;
        const float* baked = pvs->entries + 6u * ((size_t)pvs->occluderCount + draw);
        inPlace = espyiMatch_InPlace(baked, group->file->bakedCellSize, espyGroup_Place(group, box)) &&
                  group->contents[draw] == (key != 0 ? key : espyiWorldData_ContentKey(world, slot));
    }
    g->minX[draw] = box.min.x;
    g->minY[draw] = box.min.y;
    g->minZ[draw] = box.min.z;
    g->maxX[draw] = box.max.x;
    g->maxY[draw] = box.max.y;
    g->maxZ[draw] = box.max.z;
    uint32_t flags = node->flags;
    espyBits_Write(g->present, draw, !(flags & espyNodeFlag_Hidden));
    espyBits_Write(g->drawn, draw, espyWorldNode_IsDrawn(node));
    espyBits_Write(g->moved, draw, !inPlace);
    espyBits_Write(g->occludee, draw,
                   (flags & (espyNodeFlag_OccludeeStatic | espyNodeFlag_Dynamic)) && !(flags & espyNodeFlag_Skybox));
    espyBits_Write(g->castsShadow, draw, (flags & espyNodeFlag_CastsShadow) != 0);
    espyBits_Write(g->alwaysUpdate, draw, (flags & espyNodeFlag_AlwaysUpdate) != 0);
}

void espyiGroup_RefreshDraw(const espyWorld* world, espyiGroup* group, uint32_t draw)
{
    espyGroup_WriteDraw(world, group, draw, 0);
}

void espyiSnapshot_PlaceNode(const espyWorld* world, espyiSnapshot* snapshot, uint32_t index, int32_t slot,
                             const uint32_t* slots, uint32_t slotCount)
{
    espyiGroup* group = snapshot->groups[index];
    espyiDrawGroup* g = &group->draws;
    const espyiUnroll* unroll = espyiWorldData_UnrollOf(world, slot);
    bool parts = world->data->unrollInstances && unroll && unroll->cellCount > 0;
    uint32_t count = parts ? unroll->cellCount : 1u;
    uint32_t last = ESPYI_DRAWS_NONE;
    uint64_t key = slots ? espyiWorldData_ContentKey(world, slot) : 0;
    snapshot->homes[slot].group = index;
    snapshot->homes[slot].first = ESPYI_DRAWS_NONE;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t k = parts ? i + 1u : 0u;
        uint32_t draw = slots && k < slotCount ? slots[k] : ESPYI_DRAWS_NONE;
        if (draw == ESPYI_DRAWS_NONE)
        {
            draw = espyiGroup_TakeDraw(group);
        }
        else
        {
            group->contents[draw] = key;
        }
        g->nodes[draw] = espyiWorld_IdOf(world, slot);
        g->parts[draw] = (int32_t)k - 1;
        g->next[draw] = ESPYI_DRAWS_NONE;
        *(last == ESPYI_DRAWS_NONE ? &snapshot->homes[slot].first : &g->next[last]) = draw;
        last = draw;
        espyBits_Write(g->several, draw, count > 1);
        espyGroup_WriteDraw(world, group, draw, key);
    }
}

void espyiSnapshot_RemoveNode(espyiSnapshot* snapshot, int32_t slot)
{
    espyiHome* home = &snapshot->homes[slot];
    if (home->group == ESPYI_DRAWS_NONE)
    {
        return;
    }
    espyiGroup* group = snapshot->groups[home->group];
    uint32_t draw = home->first;
    while (draw != ESPYI_DRAWS_NONE)
    {
        uint32_t next = group->draws.next[draw];
        if (draw < group->draws.slotCount)
        {
            espyiBoxTable_Return(&group->freeSlots, draw);
        }
        espyiGroup_ClearDraw(group, draw);
        draw = next;
    }
    home->group = home->first = ESPYI_DRAWS_NONE;
}

// --- occluders

/// `key` as for draws.
static espyOccluderState espyGroup_StateOf(const espyWorld* world, const espyiGroup* group, uint32_t entry,
                                           uint64_t key)
{
    const espyiOccluder* occluder = &group->occluders[entry];
    if (occluder->node == ESPYI_WORLD_NONE)
    {
        return espyOccluderState_Missing;
    }
    const espyiWorldNode* node = &world->nodes[occluder->node];
    if (!espyiWorldNode_MayOcclude(node))
    {
        return espyOccluderState_Unflagged;
    }
    if (node->flags & espyNodeFlag_Hidden)
    {
        return espyOccluderState_Hidden;
    }
    if (occluder->content != (key != 0 ? key : espyiWorldData_ContentKey(world, occluder->node)))
    {
        return espyOccluderState_Changed;
    }
    const espyPvs* pvs = &group->file->pvs;
    espyBox box = espyiWorldData_PartBox(world, occluder->node, occluder->part, true);
    bool inPlace =
        espyiMatch_InPlace(pvs->entries + 6u * (size_t)entry, group->file->bakedCellSize, espyGroup_Place(group, box));
    return inPlace ? espyOccluderState_InPlace : espyOccluderState_Moved;
}

static void espyGroup_WriteState(const espyWorld* world, espyiGroup* group, uint32_t entry, uint64_t key)
{
    espyiOccluder* occluder = &group->occluders[entry];
    group->displaced -= occluder->state != espyOccluderState_InPlace ? 1u : 0u;
    occluder->state = espyGroup_StateOf(world, group, entry, key);
    group->displaced += occluder->state != espyOccluderState_InPlace ? 1u : 0u;
}

void espyiGroup_RefreshOccluder(const espyWorld* world, espyiGroup* group, uint32_t entry)
{
    espyGroup_WriteState(world, group, entry, 0);
}

void espyiSnapshot_TakeOccluder(const espyWorld* world, espyiSnapshot* snapshot, uint32_t index, uint32_t entry,
                                int32_t slot, int32_t part, uint64_t content)
{
    espyiGroup* group = snapshot->groups[index];
    espyiOccluder* occluder = &group->occluders[entry];
    occluder->node = slot;
    occluder->part = part;
    occluder->content = content;
    occluder->next = espyiSlotMap_Find(&group->firstOccluder, slot);
    snapshot->homes[slot].occluderOf += occluder->next == ESPYI_DRAWS_NONE ? 1u : 0u;
    espyiSlotMap_Put(&group->firstOccluder, slot, entry);
    espyGroup_WriteState(world, group, entry, content);
}

/// Text of a notice: "data 'north': occluder 'wall' (node 12) was moved".
static void espyGroup_WriteNotice(const espyWorld* world, const espyiGroup* group, uint32_t entry, espyiText* text)
{
    static const char* const states[] = {"is in place again", "is missing",  "was moved",
                                         "is hidden",         "has changed", "is no longer an occluder"};
    const espyiOccluder* occluder = &group->occluders[entry];
    if (group->file->name[0] != '\0')
    {
        espyiText_Add(text, "data '");
        espyiText_Add(text, group->file->name);
        espyiText_Add(text, "': ");
    }
    espyiText_Add(text, "occluder ");
    if (occluder->node != ESPYI_WORLD_NONE && world->nodes[occluder->node].name[0] != '\0')
    {
        espyiText_Add(text, "'");
        espyiText_Add(text, world->nodes[occluder->node].name);
        espyiText_Add(text, "' ");
    }
    else
    {
        espyiText_Add(text, "#");
        espyiText_AddNumber(text, entry);
        espyiText_Add(text, " ");
    }
    int32_t id = espyPvs_GetOccluderNode(&group->file->pvs, entry);
    if (id >= 0)
    {
        espyiText_Add(text, "(node ");
        espyiText_AddNumber(text, (uint64_t)id);
        espyiText_Add(text, ") ");
    }
    espyiText_Add(text, states[occluder->state]);
    if (group->displaced > 1)
    {
        espyiText_Add(text, ", as one of ");
        espyiText_AddNumber(text, group->displaced);
    }
}

uint32_t espyiGroup_FirstDisplaced(const espyiGroup* group)
{
    uint32_t entry = 0;
    while (group->displaced > 0 && group->occluders[entry].state == espyOccluderState_InPlace)
    {
        ++entry;
    }
    return entry;
}

void espyiGroup_RefreshUsable(espyiGroup* group)
{
    group->draws.usable = group->displaced == 0 && group->file->pvs.cellCount > 0;
}

void espyiGroup_Announce(const espyWorld* world, espyiGroup* group, uint32_t entry)
{
    const espyiFile* file = group->file;
    bool stale = group->displaced > 0;
    if (stale == group->announcedStale || world->data->quiet)
    {
        return;
    }
    group->announcedStale = stale;
    char piece[160];
    espyiText text = {.at = piece, .room = sizeof piece};
    espyGroup_WriteNotice(world, group, entry, &text);
    espyiHooks_LogText(&world->hooks, stale ? espyMessageId_PvsStale : espyMessageId_PvsFits, piece);
    if (world->data->notice)
    {
        const espyiOccluder* occluder = &group->occluders[entry];
        espyDataNotice notice = {
            .data = file->id,
            .stale = stale,
            .occluder = entry,
            .sourceId = espyPvs_GetOccluderNode(&file->pvs, entry),
            .state = occluder->state,
        };
        if (occluder->node != ESPYI_WORLD_NONE)
        {
            notice.node = espyiWorld_IdOf(world, occluder->node);
        }
        world->data->notice(&notice, world->data->noticeContext);
    }
}
