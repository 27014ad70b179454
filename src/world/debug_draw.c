// SPDX-License-Identifier: MIT
// The occlusion preview: volumes, cells, boxes and lines for the caller to draw. No library call.
#include "world/draws.h"
#include "world/view_internal.h"

#include "core/core.h"

#include <espy/culling.h>
#include <espy/debug_draw.h>
#include <espy/gameplay.h>

static espyBox espyDebug_Move(espyBox box, espyVec3 by)
{
    box.min = (espyVec3){box.min.x + by.x, box.min.y + by.y, box.min.z + by.z};
    box.max = (espyVec3){box.max.x + by.x, box.max.y + by.y, box.max.z + by.z};
    return box;
}

static espyVec3 espyDebug_Centre(espyBox box)
{
    return (espyVec3){(box.min.x + box.max.x) * 0.5f, (box.min.y + box.max.y) * 0.5f, (box.min.z + box.max.z) * 0.5f};
}

static void espyDebug_Box(const espyDebugDraw* draw, espyBox box, uint32_t color)
{
    if (draw->box)
    {
        draw->box(box, color, draw->context);
    }
}

static void espyDebug_Line(const espyDebugDraw* draw, espyVec3 from, espyVec3 to, uint32_t color)
{
    if (draw->line)
    {
        draw->line(from, to, color, draw->context);
    }
}

void espyDebugDraw_BoxLines(const espyDebugDraw* draw, espyBox box, uint32_t color)
{
    for (uint32_t i = 0; i < 8; ++i)
    {
        espyVec3 a = {i & 1u ? box.max.x : box.min.x, i & 2u ? box.max.y : box.min.y, i & 4u ? box.max.z : box.min.z};
        for (uint32_t axis = 0; axis < 3; ++axis)
        {
            // From the low end of each edge to its high end.
            if ((i & (1u << axis)) == 0)
            {
                espyVec3 b = {axis == 0 ? box.max.x : a.x, axis == 1 ? box.max.y : a.y, axis == 2 ? box.max.z : a.z};
                espyDebug_Line(draw, a, b, color);
            }
        }
    }
}

// --- the preview

/// What a view sees of a file, one cell at a time, so that no union needs memory.
typedef struct espyDebugCells
{
    const espyiDrawGroup* group; ///< Null: nothing is known.
    int32_t cells[ESPY_VIEW_MAX_CELLS];
    uint32_t count;
} espyDebugCells;

static espyDebugCells espyDebug_Cells(const espyiDrawGroup* group, const espyView* view, bool enabled)
{
    espyDebugCells cells = {.group = group};
    if (enabled && group->pvs && group->usable)
    {
        cells.count = espyView_FindCells(view, group->pvs, group->offset, cells.cells);
    }
    return cells;
}

/// True where some file's dynamic table hides a moved draw.
static bool espyDebug_HidesBox(const espyiDraws* draws, const espyView* view, bool enabled, espyBox box)
{
    for (uint32_t i = 0; i < draws->groupCount; ++i)
    {
        espyDebugCells cells = espyDebug_Cells(draws->groups[i], view, enabled);
        if (cells.count > 0)
        {
            espyViewSet set = {.pvs = draws->groups[i]->pvs, .offset = draws->groups[i]->offset};
            set.cellCount = cells.count;
            for (uint32_t k = 0; k < cells.count; ++k)
            {
                set.cells[k] = cells.cells[k];
            }
            if (espyViewSet_HidesBox(&set, 1, box))
            {
                return true;
            }
        }
    }
    return false;
}

static bool espyDebug_IsSelected(espyNodeId node, const espyNodeId* selected, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        if (selected[i].index1 == node.index1 && selected[i].generation == node.generation)
        {
            return true;
        }
    }
    return false;
}

/// Where lines start: the middle of the first cell that is looked from, or the eye.
static espyVec3 espyDebug_Start(const espyiDraws* draws, const espyView* view, bool enabled)
{
    for (uint32_t i = 0; i < draws->groupCount; ++i)
    {
        espyDebugCells cells = espyDebug_Cells(draws->groups[i], view, enabled);
        if (cells.count > 0)
        {
            espyBox box = espyPvs_GetCellBox(draws->groups[i]->pvs, cells.cells[0]);
            return espyDebug_Centre(espyDebug_Move(box, draws->groups[i]->offset));
        }
    }
    return view->eyes[0].eye;
}

static void espyDebug_Group(const espyiDraws* draws, uint32_t index, const espyView* view, bool enabled, espyVec3 start,
                            const espyNodeId* selected, uint32_t selectedCount, const espyDebugDraw* draw)
{
    const espyiDrawGroup* group = draws->groups[index];
    espyDebugCells cells = espyDebug_Cells(group, view, enabled);
    if (group->pvs)
    {
        const espyPvs* pvs = group->pvs;
        espyBox volume = {pvs->origin, pvs->origin};
        volume.max.x += (float)pvs->dims[0] * pvs->cellSize;
        volume.max.y += (float)pvs->dims[1] * pvs->cellSize;
        volume.max.z += (float)pvs->dims[2] * pvs->cellSize;
        espyDebug_Box(draw, espyDebug_Move(volume, group->offset), ESPY_DEBUG_CYAN);
        for (uint32_t i = 0; i < cells.count; ++i)
        {
            espyBox box = espyPvs_GetCellBox(pvs, cells.cells[i]);
            espyDebug_Box(draw, espyDebug_Move(box, group->offset), ESPY_DEBUG_GREEN);
        }
    }
    for (uint32_t i = 0; i < group->count; ++i)
    {
        if (!espyiBits_Get(group->present, i) || !espyiBits_Get(group->drawn, i) || !espyiBits_Get(group->occludee, i))
        {
            continue;
        }
        espyBox box = espyiDrawGroup_GetBox(group, i);
        bool hidden = espyiBits_Get(group->moved, i)
                          ? espyDebug_HidesBox(draws, view, enabled, box)
                          : cells.count > 0 &&
                                espyView_TestSlot(group->pvs, cells.cells, cells.count, i) == espyVisibility_Occluded;
        uint32_t color = hidden ? ESPY_DEBUG_RED : ESPY_DEBUG_GREEN;
        espyDebug_Box(draw, box, color);
        if (espyDebug_IsSelected(group->nodes[i], selected, selectedCount))
        {
            espyDebug_Line(draw, start, espyDebug_Centre(box), color);
        }
    }
}

void espyWorld_DrawOcclusion(const espyWorld* world, const espyView* view, const espyNodeId* selected,
                             uint32_t selectedCount, const espyDebugDraw* draw)
{
    uint32_t ticket;
    const espyiDraws* draws = espyiDraws_Acquire(world, &ticket);
    bool enabled = espyWorld_IsOcclusionCullingEnabled(world);
    espyVec3 start = espyDebug_Start(draws, view, enabled);
    for (uint32_t i = 0; i < draws->groupCount; ++i)
    {
        espyDebug_Group(draws, i, view, enabled, start, selected, selectedCount, draw);
    }
    espyiDraws_Release(world, ticket);
}

// --- views

/// Where a ray from a corner meets a plane, as a length along it; `limit` where it does not before.
static float espyDebug_Meet(const espyViewEye* eye, const espyPlane* plane, espyVec3 from, espyVec3 along, float limit)
{
    espyVec3 offset = {from.x - eye->eye.x, from.y - eye->eye.y, from.z - eye->eye.z};
    float speed = espyiVec3_Dot(plane->normal, along);
    float distance = espyiVec3_Dot(plane->normal, offset) + plane->distance;
    return speed < 0.0f && distance + speed * limit < 0.0f ? distance / (0.0f - speed) : limit;
}

/// The direction of the edge between two side planes, away from the eye.
static espyVec3 espyDebug_Edge(const espyPlane* a, const espyPlane* b, const espyPlane* nearPlane)
{
    espyVec3 n = a->normal, m = b->normal;
    espyVec3 edge = {n.y * m.z - n.z * m.y, n.z * m.x - n.x * m.z, n.x * m.y - n.y * m.x};
    if (espyiVec3_Dot(edge, nearPlane->normal) < 0.0f)
    {
        edge = (espyVec3){0.0f - edge.x, 0.0f - edge.y, 0.0f - edge.z};
    }
    float largest =
        espyiFloat_Max(espyiFloat_Abs(edge.x), espyiFloat_Max(espyiFloat_Abs(edge.y), espyiFloat_Abs(edge.z)));
    float scale = largest > 0.0f ? 1.0f / largest : 0.0f;
    return (espyVec3){edge.x * scale, edge.y * scale, edge.z * scale};
}

void espyView_Draw(const espyView* view, float reach, uint32_t color, const espyDebugDraw* draw)
{
    // The side planes that meet at each corner: left bottom, right bottom, right top, left top.
    static const uint32_t sides[4][2] = {{0, 2}, {1, 2}, {1, 3}, {0, 3}};
    for (uint32_t i = 0; view->hasRectangle && i < view->eyeCount; ++i)
    {
        const espyViewEye* eye = &view->eyes[i];
        espyVec3 ends[4];
        for (uint32_t c = 0; c < 4; ++c)
        {
            espyVec3 from = eye->corners[c];
            espyVec3 along = espyDebug_Edge(&eye->planes[sides[c][0]], &eye->planes[sides[c][1]], &eye->planes[4]);
            float length = espyDebug_Meet(eye, &eye->planes[5], from, along, reach);
            ends[c] = (espyVec3){from.x + along.x * length, from.y + along.y * length, from.z + along.z * length};
            espyDebug_Line(draw, from, ends[c], color);
        }
        for (uint32_t c = 0; c < 4; ++c)
        {
            espyDebug_Line(draw, eye->corners[c], eye->corners[(c + 1u) & 3u], color);
            espyDebug_Line(draw, ends[c], ends[(c + 1u) & 3u], color);
        }
    }
}
