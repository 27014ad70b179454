// SPDX-License-Identifier: MIT
// Openings between the leaves of free space: each node's window minus what covers it, cut by the leaves on both sides.
//
// All work on a window is 2-D: a point of the plane is written without the coordinate along which the normal is
// longest, so axial planes keep their exact coordinates. Windows and openings may only ever be too large, covers only
// too small (by rounding; both by the nanometres of freespace_internal.h): an opening that is missed would be a false
// proof, one too many only a missed proof. So no opening is ever dropped for being small.
#include "bake/flat.h"
#include "bake/freespace_internal.h"

#include <float.h>
#include <math.h>

#define ESPYI_FLAT_LINES (2u * ESPYI_FLAT_POINTS)
// Covers on one window above which the window is halved first: subtraction is quadratic.
#define ESPYI_COVERS_AT_ONCE 20u
#define ESPYI_MAX_HALVINGS 20u
// Openings between the same two leaves up to which joining them is tried.
#define ESPYI_JOIN_GROUP 40u
// What clipping, subtracting or joining a polygon counts for a poll.
#define ESPYI_CLIP_WORK 8u

typedef struct espyCover
{
    espyiFlatLine lines[ESPYI_FLAT_LINES];
    uint32_t lineCount;
    double min[2], max[2];
} espyCover;

typedef struct espyPortal
{
    uint32_t leaf[2];
    uint32_t first, count;
} espyPortal;

typedef struct espyWindowTask
{
    espyiFlat window;
    size_t first, count; ///< In coverIndices.
    uint32_t depth;
} espyWindowTask;

typedef struct espyPortalMaker
{
    espyiFreeSpace* space;
    const espyHooks* hooks;
    espyiPoll* poll;
    espyiFlatList pieces, rest, front, both, stack;
    espyWindowTask* tasks;
    size_t taskCount, taskCapacity;
    espyCover* covers;
    uint32_t* coverIndices;
    espyiKeyed* keys;
    size_t keyCapacity;
    size_t coverCapacity, coverCount, coverIndexCapacity, coverIndexCount;
    espyPortal* portals;
    size_t portalCount, portalCapacity, pointCapacity, maxPortals;
    bool tooMany;
} espyPortalMaker;

// --- windows

/// The plane `cut` as a line in the 2-D coordinates of `plane`.
static espyiFlatLine espyPlane_LineIn(const espyiPlaneD* plane, const espyiPlaneD* cut)
{
    uint32_t k = plane->drop, u = (k + 1) % 3, v = (k + 2) % 3;
    double s = cut->n[k] / plane->n[k];
    espyiFlatLine line;
    line.a = cut->n[u] - s * plane->n[u];
    line.b = cut->n[v] - s * plane->n[v];
    line.c = s * plane->w - cut->w;
    line.length = sqrt(line.a * line.a + line.b * line.b);
    return line;
}

static double espyMaker_Slack(const espyPortalMaker* maker, const espyiFlatLine* line)
{
    return ESPYI_WINDOW_OVERLAP * line->length + maker->space->rounding;
}

/// The node's plane within the world and the planes above the node, a nanometre too large. Count 0: nothing. False:
/// stopped.
static bool espyMaker_Window(const espyPortalMaker* maker, const espyiNode* node, espyiFlat* window)
{
    const espyiBoxD* world = &maker->space->world;
    const espyiPlaneD* plane = &node->plane;
    uint32_t k = plane->drop, u = (k + 1) % 3, v = (k + 2) % 3;
    window->count = 4;
    window->tag[0] = window->tag[1] = 0;
    for (uint32_t i = 0; i < 4; ++i)
    {
        window->p[i][0] = i == 0 || i == 3 ? world->min[u] : world->max[u];
        window->p[i][1] = i < 2 ? world->min[v] : world->max[v];
    }
    for (uint32_t face = 0; face < 2; ++face)
    {
        espyiPlaneD wall = {.drop = k};
        wall.n[k] = face == 0 ? 1.0 : -1.0;
        wall.w = face == 0 ? world->min[k] : -world->max[k];
        espyiFlatLine line = espyPlane_LineIn(plane, &wall);
        espyiFlat_Clip(window, &line, 1.0, espyMaker_Slack(maker, &line), window);
    }
    uint32_t side = node->side;
    for (int32_t above = node->parent; above >= 0 && window->count >= 3;)
    {
        if (!espyiPoll_Work(maker->poll, ESPYI_CLIP_WORK))
        {
            return false;
        }
        const espyiNode* parent = &maker->space->nodes[above];
        espyiFlatLine line = espyPlane_LineIn(plane, &parent->plane);
        // Where the points run out, the window stays too large.
        espyiFlat_Clip(window, &line, side == 0 ? 1.0 : -1.0, espyMaker_Slack(maker, &line), window);
        side = parent->side;
        above = parent->parent;
    }
    window->count = window->count < 3 ? 0 : window->count;
    return true;
}

// --- covers

/// Outward lines of the piece's image, moved out by the growth; corners below 60 degrees are cut off at twice that, or
/// a needle would grow far beyond it.
static bool espyMaker_AddCover(espyPortalMaker* maker, const espyiPlaneD* plane, const espyiPolygonSet* set,
                               const espyiPolygonD* piece)
{
    espyiFlat flat = {.count = 0};
    uint32_t k = plane->drop, u = (k + 1) % 3, v = (k + 2) % 3;
    for (uint32_t i = 0; i < piece->count; ++i)
    {
        const double* p = set->points[piece->first + i];
        const double* last = flat.count ? flat.p[flat.count - 1] : NULL;
        if (flat.count < ESPYI_FLAT_POINTS && !(last && last[0] == p[u] && last[1] == p[v]))
        {
            flat.p[flat.count][0] = p[u];
            flat.p[flat.count++][1] = p[v];
        }
    }
    while (flat.count > 1 && flat.p[0][0] == flat.p[flat.count - 1][0] && flat.p[0][1] == flat.p[flat.count - 1][1])
    {
        flat.count -= 1;
    }
    double area = flat.count < 3 ? 0 : espyiFlat_Area(&flat);
    if (piece->count > ESPYI_FLAT_POINTS || area == 0)
    {
        return true;
    }
    void* covers = maker->covers;
    if (!espyiGrow(maker->hooks, &covers, &maker->coverCapacity, maker->coverCount + 1, sizeof(espyCover)))
    {
        return false;
    }
    maker->covers = covers;
    espyCover* cover = &maker->covers[maker->coverCount];
    cover->lineCount = 0;
    for (int axis = 0; axis < 2; ++axis)
    {
        cover->min[axis] = DBL_MAX;
        cover->max[axis] = -DBL_MAX;
    }
    double turn = area > 0 ? 1.0 : -1.0;
    // Half a step is what the input's coordinates were rounded by. Less leaves cracks along edges of turned boxes, more
    // was measured to close nothing else.
    double growth = ESPYI_COVER_GROWTH + 0.5 * piece->step;
    for (uint32_t i = 0; i < flat.count; ++i)
    {
        const double* a = flat.p[i];
        const double* b = flat.p[(i + 1) % flat.count];
        const double* c = flat.p[(i + 2) % flat.count];
        double in[2] = {b[0] - a[0], b[1] - a[1]}, out[2] = {c[0] - b[0], c[1] - b[1]};
        double inLength = sqrt(in[0] * in[0] + in[1] * in[1]), outLength = sqrt(out[0] * out[0] + out[1] * out[1]);
        for (int axis = 0; axis < 2; ++axis)
        {
            in[axis] /= inLength;
            out[axis] /= outLength;
            cover->min[axis] = fmin(cover->min[axis], a[axis] - growth);
            cover->max[axis] = fmax(cover->max[axis], a[axis] + growth);
        }
        espyiFlatLine* edge = &cover->lines[cover->lineCount++];
        edge->a = turn * in[1];
        edge->b = -turn * in[0];
        edge->c = -(edge->a * a[0] + edge->b * a[1]) - growth;
        edge->length = 1;
        if (in[0] * out[0] + in[1] * out[1] < -0.5)
        {
            double tip[2] = {in[0] - out[0], in[1] - out[1]};
            double tipLength = sqrt(tip[0] * tip[0] + tip[1] * tip[1]);
            espyiFlatLine* bevel = &cover->lines[cover->lineCount++];
            bevel->a = tip[0] / tipLength;
            bevel->b = tip[1] / tipLength;
            bevel->c = -(bevel->a * b[0] + bevel->b * b[1]) - 2 * growth;
            bevel->length = 1;
        }
    }
    maker->coverCount += 1;
    return true;
}

/// Replaces the piece by what lies outside the cover: appended to `out`, whole where the two do not overlap.
static bool espyMaker_Subtract(espyPortalMaker* maker, const espyiFlat* piece, const espyCover* cover,
                               espyiFlatList* out)
{
    double tiny = maker->space->rounding;
    bool apart = false;
    for (int axis = 0; axis < 2; ++axis)
    {
        double low = DBL_MAX, high = -DBL_MAX;
        for (uint32_t i = 0; i < piece->count; ++i)
        {
            low = fmin(low, piece->p[i][axis]);
            high = fmax(high, piece->p[i][axis]);
        }
        apart = apart || low >= cover->max[axis] || high <= cover->min[axis];
    }
    double low, high;
    for (uint32_t i = 0; i < cover->lineCount && !apart; ++i)
    {
        espyiFlat_Range(piece, &cover->lines[i], &low, &high);
        apart = low >= -tiny;
    }
    if (apart)
    {
        return espyiFlatList_Push(maker->hooks, out, piece);
    }
    espyiFlat inside = *piece, outside;
    size_t before = out->count;
    for (uint32_t i = 0; i < cover->lineCount; ++i)
    {
        const espyiFlatLine* line = &cover->lines[i];
        espyiFlat_Range(&inside, line, &low, &high);
        if (high <= tiny)
        {
            continue;
        }
        bool fits = low < -tiny && espyiFlat_Clip(&inside, line, 1.0, 0, &outside) && outside.count >= 3 &&
                    espyiFlat_Clip(&inside, line, -1.0, 0, &inside);
        if (!fits || inside.count < 3)
        {
            // Nothing is covered after all (or the points ran out): the piece stays as it was, in one.
            out->count = before;
            return espyiFlatList_Push(maker->hooks, out, piece);
        }
        if (!espyiFlatList_Push(maker->hooks, out, &outside))
        {
            return false;
        }
    }
    return true;
}

/// All covers of one window; what is left of it is added to `pieces`.
static bool espyMaker_Uncover(espyPortalMaker* maker, const espyWindowTask* task)
{
    maker->rest.count = 0;
    if (!espyiFlatList_Push(maker->hooks, &maker->rest, &task->window))
    {
        return false;
    }
    for (size_t i = 0; i < task->count && maker->rest.count; ++i)
    {
        // The results go behind the list and are then moved down.
        size_t count = maker->rest.count;
        const espyCover* cover = &maker->covers[maker->coverIndices[task->first + i]];
        for (size_t k = 0; k < count; ++k)
        {
            espyiFlat piece = maker->rest.items[k];
            if (!espyiPoll_Work(maker->poll, ESPYI_CLIP_WORK) ||
                !espyMaker_Subtract(maker, &piece, cover, &maker->rest))
            {
                return false;
            }
        }
        for (size_t k = count; k < maker->rest.count; ++k)
        {
            maker->rest.items[k - count] = maker->rest.items[k];
        }
        maker->rest.count -= count;
    }
    for (size_t i = 0; i < maker->rest.count; ++i)
    {
        if (!espyiFlatList_Push(maker->hooks, &maker->pieces, &maker->rest.items[i]))
        {
            return false;
        }
    }
    return true;
}

static bool espyMaker_PushTask(espyPortalMaker* maker, const espyWindowTask* task)
{
    void* tasks = maker->tasks;
    if (!espyiGrow(maker->hooks, &tasks, &maker->taskCapacity, maker->taskCount + 1, sizeof(espyWindowTask)))
    {
        return false;
    }
    maker->tasks = tasks;
    maker->tasks[maker->taskCount++] = *task;
    return true;
}

static bool espyMaker_PushCoverIndex(espyPortalMaker* maker, uint32_t index)
{
    void* indices = maker->coverIndices;
    if (!espyiGrow(maker->hooks, &indices, &maker->coverIndexCapacity, maker->coverIndexCount + 1, sizeof(uint32_t)))
    {
        return false;
    }
    maker->coverIndices = indices;
    maker->coverIndices[maker->coverIndexCount++] = index;
    return true;
}

/// Halves a window with many covers across its longer side, if that separates them.
static bool espyMaker_Halve(espyPortalMaker* maker, const espyWindowTask* task, bool* halved)
{
    double min[2] = {DBL_MAX, DBL_MAX}, max[2] = {-DBL_MAX, -DBL_MAX};
    for (uint32_t i = 0; i < task->window.count; ++i)
    {
        for (int axis = 0; axis < 2; ++axis)
        {
            min[axis] = fmin(min[axis], task->window.p[i][axis]);
            max[axis] = fmax(max[axis], task->window.p[i][axis]);
        }
    }
    int axis = max[0] - min[0] >= max[1] - min[1] ? 0 : 1;
    double middle = 0;
    for (size_t i = 0; i < task->count; ++i)
    {
        const espyCover* cover = &maker->covers[maker->coverIndices[task->first + i]];
        middle += 0.5 * (fmax(cover->min[axis], min[axis]) + fmin(cover->max[axis], max[axis]));
    }
    middle /= (double)task->count;
    *halved = false;
    espyiFlatLine line = {.a = axis == 0 ? 1.0 : 0.0, .b = axis == 1 ? 1.0 : 0.0, .c = -middle, .length = 1.0};
    espyWindowTask half[2];
    size_t start = maker->coverIndexCount;
    for (uint32_t side = 0; side < 2; ++side)
    {
        half[side].depth = task->depth + 1;
        half[side].first = maker->coverIndexCount;
        if (!espyiFlat_Clip(&task->window, &line, side == 0 ? 1.0 : -1.0, ESPYI_WINDOW_OVERLAP, &half[side].window) ||
            half[side].window.count < 3)
        {
            maker->coverIndexCount = start;
            return true;
        }
        for (size_t i = 0; i < task->count; ++i)
        {
            uint32_t index = maker->coverIndices[task->first + i];
            const espyCover* cover = &maker->covers[index];
            bool meets = side == 0 ? cover->max[axis] > middle - ESPYI_WINDOW_OVERLAP
                                   : cover->min[axis] < middle + ESPYI_WINDOW_OVERLAP;
            if (meets && !espyMaker_PushCoverIndex(maker, index))
            {
                return false;
            }
        }
        half[side].count = maker->coverIndexCount - half[side].first;
    }
    if (4 * half[0].count > 3 * task->count && 4 * half[1].count > 3 * task->count)
    {
        maker->coverIndexCount = start;
        return true;
    }
    *halved = true;
    return espyMaker_PushTask(maker, &half[0]) && espyMaker_PushTask(maker, &half[1]);
}

/// Openings of the window into `pieces`.
static bool espyMaker_Open(espyPortalMaker* maker, const espyiFlat* window)
{
    espyWindowTask task = {.window = *window, .first = 0, .count = maker->coverCount, .depth = 0};
    maker->pieces.count = 0;
    maker->coverIndexCount = 0;
    maker->taskCount = 0;
    for (size_t i = 0; i < maker->coverCount; ++i)
    {
        if (!espyMaker_PushCoverIndex(maker, (uint32_t)i))
        {
            return false;
        }
    }
    if (!espyMaker_PushTask(maker, &task))
    {
        return false;
    }
    while (maker->taskCount)
    {
        task = maker->tasks[--maker->taskCount];
        bool halved = false;
        if (!espyiPoll_Work(maker->poll, task.count + 1))
        {
            return false;
        }
        if (task.count > ESPYI_COVERS_AT_ONCE && task.depth < ESPYI_MAX_HALVINGS &&
            !espyMaker_Halve(maker, &task, &halved))
        {
            return false;
        }
        if (!halved && !espyMaker_Uncover(maker, &task))
        {
            return false;
        }
    }
    return true;
}

// --- leaves

/// Cuts the opening by the subtree under `child`; the parts, tagged with their leaf, are added to `out`.
static bool espyMaker_PushDown(espyPortalMaker* maker, const espyiPlaneD* plane, const espyiFlat* opening,
                               int32_t child, uint32_t slot, espyiFlatList* out)
{
    espyiFlat flat = *opening;
    uint32_t kept = opening->tag[0];
    flat.tag[1] = (uint32_t)child;
    maker->stack.count = 0;
    if (!espyiFlatList_Push(maker->hooks, &maker->stack, &flat))
    {
        return false;
    }
    while (maker->stack.count)
    {
        if (!espyiPoll_Work(maker->poll, ESPYI_CLIP_WORK))
        {
            return false;
        }
        flat = maker->stack.items[--maker->stack.count];
        int32_t at = (int32_t)flat.tag[1];
        if (at < 0)
        {
            flat.tag[0] = kept;
            flat.tag[1] = 0;
            flat.tag[slot] = (uint32_t)~at;
            if (!espyiFlatList_Push(maker->hooks, out, &flat))
            {
                return false;
            }
            if (maker->portalCount + out->count > maker->maxPortals)
            {
                maker->tooMany = true;
                return false;
            }
            continue;
        }
        const espyiNode* node = &maker->space->nodes[at];
        espyiFlatLine line = espyPlane_LineIn(plane, &node->plane);
        double slack = espyMaker_Slack(maker, &line), low, high;
        espyiFlat_Range(&flat, &line, &low, &high);
        // An opening that was cut along this same line on its other side reaches over it by one slack. That must not
        // count, or leaves that touch only along an edge would be joined there.
        bool front = high > 2 * slack, back = low < -2 * slack, both = !front && !back;
        for (uint32_t side = 2; side-- > 0;)
        {
            if (!both && !(side == 0 ? front : back))
            {
                continue;
            }
            espyiFlat part = flat;
            if (front && back)
            {
                // Where the points run out, the part stays too large.
                espyiFlat_Clip(&flat, &line, side == 0 ? 1.0 : -1.0, slack, &part);
            }
            part.tag[1] = (uint32_t)node->child[side];
            if (part.count >= 3 && !espyiFlatList_Push(maker->hooks, &maker->stack, &part))
            {
                return false;
            }
        }
    }
    return true;
}

static uint64_t espyiFlat_Pair(const espyiFlat* flat)
{
    return (uint64_t)flat->tag[0] << 32 | flat->tag[1];
}

/// Joins openings between the same two leaves where the hull adds nothing (what it adds is only opened). False:
/// stopped.
static bool espyMaker_JoinGroup(espyPortalMaker* maker, espyiFlat* group, size_t* count)
{
    for (bool again = *count > 1 && *count <= ESPYI_JOIN_GROUP; again;)
    {
        again = false;
        for (size_t i = 0; i < *count; ++i)
        {
            if (!espyiPoll_Work(maker->poll, ESPYI_CLIP_WORK * (*count - i)))
            {
                return false;
            }
            for (size_t k = i + 1; k < *count;)
            {
                espyiFlat hull;
                double sum = fabs(espyiFlat_Area(&group[i])) + fabs(espyiFlat_Area(&group[k]));
                if (espyiFlat_Hull(&group[i], &group[k], &hull) && espyiFlat_Area(&hull) <= sum * (1 + 1e-9) + 1e-15)
                {
                    hull.tag[0] = group[i].tag[0];
                    hull.tag[1] = group[i].tag[1];
                    group[i] = hull;
                    group[k] = group[--*count];
                    again = true;
                }
                else
                {
                    ++k;
                }
            }
        }
    }
    return true;
}

static bool espyMaker_Emit(espyPortalMaker* maker, const espyiPlaneD* plane, const espyiFlat* flat)
{
    espyiFreeSpace* space = maker->space;
    if (space->pointCount + flat->count > ESPYI_MAX_PORTAL_POINTS)
    {
        maker->tooMany = true;
        return false;
    }
    void* portals = maker->portals;
    void* points = space->points;
    if (!espyiGrow(maker->hooks, &portals, &maker->portalCapacity, maker->portalCount + 1, sizeof(espyPortal)))
    {
        return false;
    }
    maker->portals = portals;
    if (!espyiGrow(maker->hooks, &points, &maker->pointCapacity, space->pointCount + flat->count, sizeof(double[3])))
    {
        return false;
    }
    space->points = points;
    maker->portals[maker->portalCount++] =
        (espyPortal){.leaf = {flat->tag[0], flat->tag[1]}, .first = (uint32_t)space->pointCount, .count = flat->count};
    uint32_t k = plane->drop, u = (k + 1) % 3, v = (k + 2) % 3;
    for (uint32_t i = 0; i < flat->count; ++i)
    {
        double* p = space->points[space->pointCount++];
        p[u] = flat->p[i][0];
        p[v] = flat->p[i][1];
        p[k] = (plane->w - plane->n[u] * p[u] - plane->n[v] * p[v]) / plane->n[k];
    }
    return true;
}

/// Openings of one node ordered by pair of leaves: from `both` into `front`.
static bool espyMaker_SortPairs(espyPortalMaker* maker)
{
    void* keys = maker->keys;
    if (!espyiGrow(maker->hooks, &keys, &maker->keyCapacity, maker->both.count, sizeof(espyiKeyed)))
    {
        return false;
    }
    maker->keys = keys;
    for (size_t i = 0; i < maker->both.count; ++i)
    {
        maker->keys[i] = (espyiKeyed){espyiFlat_Pair(&maker->both.items[i]), (uint32_t)i};
    }
    if (!espyiKeyed_Sort(maker->keys, maker->both.count, maker->hooks, maker->poll))
    {
        return false;
    }
    maker->front.count = 0;
    for (size_t i = 0; i < maker->both.count; ++i)
    {
        if (!espyiPoll_Work(maker->poll, 1) ||
            !espyiFlatList_Push(maker->hooks, &maker->front, &maker->both.items[maker->keys[i].value]))
        {
            return false;
        }
    }
    return true;
}

static bool espyMaker_Node(espyPortalMaker* maker, const espyiNode* node, const espyiPolygonSet* pieces,
                           const uint32_t* covers)
{
    espyiFlat window;
    if (!espyMaker_Window(maker, node, &window) || window.count == 0)
    {
        return !espyiPoll_IsStopped(maker->poll);
    }
    maker->coverCount = 0;
    for (uint32_t i = 0; i < node->coverCount; ++i)
    {
        if (!espyiPoll_Work(maker->poll, ESPYI_CLIP_WORK) ||
            !espyMaker_AddCover(maker, &node->plane, pieces, &pieces->polygons[covers[node->coverFirst + i]]))
        {
            return false;
        }
    }
    if (!espyMaker_Open(maker, &window))
    {
        return false;
    }
    maker->both.count = 0;
    for (size_t i = 0; i < maker->pieces.count; ++i)
    {
        maker->front.count = 0;
        if (!espyMaker_PushDown(maker, &node->plane, &maker->pieces.items[i], node->child[0], 0, &maker->front))
        {
            return false;
        }
        for (size_t k = 0; k < maker->front.count; ++k)
        {
            if (!espyMaker_PushDown(maker, &node->plane, &maker->front.items[k], node->child[1], 1, &maker->both))
            {
                return false;
            }
        }
    }
    if (maker->both.count && !espyMaker_SortPairs(maker))
    {
        return false;
    }
    espyiFlat* list = maker->front.items;
    for (size_t first = 0; first < maker->both.count;)
    {
        size_t end = first;
        while (end < maker->both.count && espyiFlat_Pair(&list[end]) == espyiFlat_Pair(&list[first]))
        {
            ++end;
        }
        size_t count = end - first;
        if (!espyMaker_JoinGroup(maker, list + first, &count))
        {
            return false;
        }
        for (size_t i = 0; i < count; ++i)
        {
            if (!espyiPoll_Work(maker->poll, 1) || !espyMaker_Emit(maker, &node->plane, &list[first + i]))
            {
                return false;
            }
        }
        first = end;
    }
    return true;
}

/// A box that holds the leaf: the world tightened by each plane above it. Never empty. False: stopped.
static bool espyFreeSpace_BoundLeaf(espyiFreeSpace* space, uint32_t leaf, espyiPoll* poll)
{
    espyiBoxD box = space->world;
    for (uint32_t sweep = 0; sweep < 2; ++sweep)
    {
        int32_t below = ~(int32_t)leaf;
        for (int32_t at = space->leafParents[leaf]; at >= 0; at = space->nodes[at].parent)
        {
            if (!espyiPoll_Work(poll, 1))
            {
                return false;
            }
            const espyiNode* node = &space->nodes[at];
            double sign = node->child[0] == below ? 1.0 : -1.0;
            below = at;
            for (int axis = 0; axis < 3; ++axis)
            {
                double n = sign * node->plane.n[axis];
                if (fabs(n) < 1e-3)
                {
                    continue;
                }
                double others = sign * node->plane.w;
                for (int other = 0; other < 3; ++other)
                {
                    double m = other == axis ? 0.0 : sign * node->plane.n[other];
                    others -= m > 0 ? m * box.max[other] : m * box.min[other];
                }
                double bound = others / n;
                if (n > 0)
                {
                    bound -= 1e-7;
                    box.min[axis] = bound > box.min[axis] && bound < box.max[axis] ? bound : box.min[axis];
                }
                else
                {
                    bound += 1e-7;
                    box.max[axis] = bound < box.max[axis] && bound > box.min[axis] ? bound : box.max[axis];
                }
            }
        }
    }
    space->leafBoxes[leaf] = box;
    return true;
}

static void espyRef_Fill(const espyiFreeSpace* space, const espyPortal* portal, uint32_t to, espyiPortalRef* ref)
{
    ref->leaf = to;
    ref->first = portal->first & 0x7FFFFFFu;
    ref->count = portal->count & 31u;
    for (int axis = 0; axis < 3; ++axis)
    {
        double low = DBL_MAX, high = -DBL_MAX;
        for (uint32_t i = 0; i < portal->count; ++i)
        {
            low = fmin(low, space->points[portal->first + i][axis]);
            high = fmax(high, space->points[portal->first + i][axis]);
        }
        ref->min[axis] = (float)low;
        ref->max[axis] = (float)high;
        if ((double)ref->min[axis] > low)
        {
            ref->min[axis] = nextafterf(ref->min[axis], -FLT_MAX);
        }
        if ((double)ref->max[axis] < high)
        {
            ref->max[axis] = nextafterf(ref->max[axis], FLT_MAX);
        }
    }
}

/// Both directions of every portal, leaf by leaf. False: out of memory, or stopped.
static bool espyMaker_Link(espyPortalMaker* maker)
{
    espyiFreeSpace* space = maker->space;
    space->refCount = 2 * maker->portalCount;
    space->leafFirst = espyiAlloc(&space->hooks, (size_t)space->leafCount + 1, sizeof(uint32_t));
    space->leafBoxes = espyiAlloc(&space->hooks, space->leafCount, sizeof(espyiBoxD));
    if (!space->leafFirst || !space->leafBoxes)
    {
        return false;
    }
    if (space->refCount)
    {
        space->refs = espyiAlloc(&space->hooks, space->refCount, sizeof(espyiPortalRef));
        if (!space->refs)
        {
            return false;
        }
    }
    for (size_t i = 0; i < maker->portalCount; ++i)
    {
        if (!espyiPoll_Work(maker->poll, 1))
        {
            return false;
        }
        space->leafFirst[maker->portals[i].leaf[0] + 1] += 1;
        space->leafFirst[maker->portals[i].leaf[1] + 1] += 1;
    }
    for (uint32_t leaf = 0; leaf < space->leafCount; ++leaf)
    {
        space->leafFirst[leaf + 1] += space->leafFirst[leaf];
        if (!espyFreeSpace_BoundLeaf(space, leaf, maker->poll))
        {
            return false;
        }
    }
    for (size_t i = 0; i < maker->portalCount; ++i)
    {
        const espyPortal* portal = &maker->portals[i];
        if (!espyiPoll_Work(maker->poll, 2))
        {
            return false;
        }
        for (uint32_t side = 0; side < 2; ++side)
        {
            uint32_t at = space->leafFirst[portal->leaf[side]]++;
            espyRef_Fill(space, portal, portal->leaf[1 - side], &space->refs[at]);
        }
    }
    // Every offset has moved on to the next leaf's start.
    for (uint32_t leaf = space->leafCount; leaf > 0; --leaf)
    {
        space->leafFirst[leaf] = space->leafFirst[leaf - 1];
    }
    space->leafFirst[0] = 0;
    return true;
}

espyResult espyiPortals_Build(espyiFreeSpace* space, const espyiPolygonSet* pieces, const uint32_t* covers,
                              const espyiFreeSpaceDef* def, size_t maxPortals)
{
    espyPortalMaker maker = {.space = space, .hooks = &space->hooks, .poll = def->poll, .maxPortals = maxPortals};
    bool ok = true;
    for (uint32_t i = 0; ok && i < space->nodeCount; ++i)
    {
        ok = espyMaker_Node(&maker, &space->nodes[i], pieces, covers);
    }
    ok = ok && espyMaker_Link(&maker);
    space->stats.portals = (uint32_t)maker.portalCount;
    espyiFree(maker.hooks, maker.pieces.items);
    espyiFree(maker.hooks, maker.rest.items);
    espyiFree(maker.hooks, maker.front.items);
    espyiFree(maker.hooks, maker.both.items);
    espyiFree(maker.hooks, maker.stack.items);
    espyiFree(maker.hooks, maker.tasks);
    espyiFree(maker.hooks, maker.covers);
    espyiFree(maker.hooks, maker.coverIndices);
    espyiFree(maker.hooks, maker.keys);
    espyiFree(maker.hooks, maker.portals);
    return maker.tooMany ? espyResult_LimitExceeded : espyiPoll_Result(def->poll, ok);
}
