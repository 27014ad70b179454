// SPDX-License-Identifier: MIT
// Voxels in bricks: written and read over boxes, their bounds. A brick has memory of its own exactly while its voxels
// differ. No library call.
#include "world/world_internal.h"

#define ESPY_BRICK_SIZE (ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK)

/// Voxels to write: an array over the whole range, or one value.
typedef struct espyVoxelSource
{
    espyVoxelRange range;
    const uint8_t* values; ///< Null: all `value`.
    uint8_t value;
} espyVoxelSource;

/// The part of a range that lies in one brick: [low, high) in the brick, and where it starts in the range.
typedef struct espyBrickWindow
{
    uint32_t low[3], high[3], start[3];
    espyiBrick* brick;
} espyBrickWindow;

static size_t espyVoxels_BrickCount(const espyiContent* content)
{
    const uint32_t* b = content->voxels.bricks;
    return (size_t)b[0] * b[1] * b[2];
}

static bool espyVoxel_Counts(uint8_t value, bool opaqueOnly)
{
    return opaqueOnly ? value == espyVoxel_Opaque : value != espyVoxel_Empty;
}

/// Gives up memory that holds one value only, and finds which voxels are not empty.
static void espyBrick_Settle(const espyHooks* hooks, espyiBrick* brick)
{
    const uint8_t last = ESPY_VOXEL_BRICK - 1;
    bool same = true;
    for (uint32_t i = 1; brick->values && i < ESPY_BRICK_SIZE && same; ++i)
    {
        same = brick->values[i] == brick->values[0];
    }
    if (same)
    {
        brick->value = brick->values ? brick->values[0] : brick->value;
        espyiFree(hooks, brick->values);
        brick->values = NULL;
        for (int k = 0; k < 2; ++k)
        {
            bool full = espyVoxel_Counts(brick->value, k != 0);
            for (int axis = 0; axis < 3; ++axis)
            {
                brick->low[k][axis] = full ? 0 : 1;
                brick->high[k][axis] = full ? last : 0;
            }
        }
        return;
    }
    for (int k = 0; k < 2; ++k)
    {
        uint8_t low[3] = {last, last, last}, high[3] = {0, 0, 0};
        for (uint32_t i = 0; i < ESPY_BRICK_SIZE; ++i)
        {
            const uint8_t at[3] = {(uint8_t)(i % ESPY_VOXEL_BRICK), (uint8_t)(i / ESPY_VOXEL_BRICK % ESPY_VOXEL_BRICK),
                                   (uint8_t)(i / (ESPY_VOXEL_BRICK * ESPY_VOXEL_BRICK))};
            if (!espyVoxel_Counts(brick->values[i], k != 0))
            {
                continue;
            }
            for (int axis = 0; axis < 3; ++axis)
            {
                low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
                high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
            }
        }
        // Where none counts, low stays above high.
        espyiBytes_Copy(brick->low[k], low, sizeof low);
        espyiBytes_Copy(brick->high[k], high, sizeof high);
    }
}

/// Steps to the next brick that a range touches, in `at`; starts with `first` set. False past the last.
static bool espyVoxelRange_Next(const espyiContent* content, const espyVoxelRange* range, bool first, uint32_t at[3],
                                espyBrickWindow* window)
{
    const uint32_t side = ESPY_VOXEL_BRICK;
    for (int axis = 0; axis < 3 && first; ++axis)
    {
        at[axis] = range->min[axis] / side;
    }
    for (int axis = 0; axis < 3 && !first; ++axis)
    {
        if (at[axis] < (range->min[axis] + range->size[axis] - 1) / side)
        {
            ++at[axis];
            break;
        }
        if (axis == 2)
        {
            return false;
        }
        at[axis] = range->min[axis] / side;
    }
    for (int axis = 0; axis < 3; ++axis)
    {
        uint32_t begin = at[axis] * side, end = range->min[axis] + range->size[axis];
        window->low[axis] = range->min[axis] > begin ? range->min[axis] - begin : 0;
        window->high[axis] = end < begin + side ? end - begin : side;
        window->start[axis] = begin + window->low[axis] - range->min[axis];
    }
    const uint32_t* bricks = content->voxels.bricks;
    window->brick = &content->bricks[at[0] + bricks[0] * (at[1] + (size_t)bricks[1] * at[2])];
    return true;
}

/// Where row (y, z) of a window starts in the array of a range.
static size_t espyBrickWindow_Row(const espyBrickWindow* window, const espyVoxelRange* range, uint32_t y, uint32_t z)
{
    size_t ry = window->start[1] + (y - window->low[1]), rz = window->start[2] + (z - window->low[2]);
    return window->start[0] + range->size[0] * (ry + range->size[1] * rz);
}

/// Writes the window's voxels into an array of a brick, or with null only says whether one of them is not `value`.
static bool espyBrickWindow_Write(const espyBrickWindow* window, const espyVoxelSource* source, uint8_t* values,
                                  uint8_t value)
{
    bool differs = false;
    for (uint32_t z = window->low[2]; z < window->high[2]; ++z)
    {
        for (uint32_t y = window->low[1]; y < window->high[1]; ++y)
        {
            size_t from = espyBrickWindow_Row(window, &source->range, y, z);
            uint32_t to = ESPY_VOXEL_BRICK * (y + ESPY_VOXEL_BRICK * z) + window->low[0];
            for (uint32_t i = 0; i < window->high[0] - window->low[0]; ++i)
            {
                uint8_t wanted = source->values ? source->values[from + i] : source->value;
                differs = differs || wanted != (values ? values[to + i] : value);
                if (values)
                {
                    values[to + i] = wanted;
                }
            }
        }
    }
    return differs;
}

static bool espyBrickWindow_IsWhole(const espyBrickWindow* window)
{
    bool whole = true;
    for (int axis = 0; axis < 3; ++axis)
    {
        whole = whole && window->low[axis] == 0 && window->high[axis] == ESPY_VOXEL_BRICK;
    }
    return whole;
}

/// What a source holds for the first voxel of a window.
static uint8_t espyBrickWindow_First(const espyBrickWindow* window, const espyVoxelSource* source)
{
    return source->values ? source->values[espyBrickWindow_Row(window, &source->range, window->low[1], window->low[2])]
                          : source->value;
}

/// Gives a brick of one value memory where the window will make its voxels differ.
static bool espyBrickWindow_Reserve(const espyHooks* hooks, const espyBrickWindow* window,
                                    const espyVoxelSource* source)
{
    espyiBrick* brick = window->brick;
    // A window over the whole brick starts at its first voxel, any other leaves voxels as they are.
    bool whole = espyBrickWindow_IsWhole(window);
    uint8_t same = whole ? espyBrickWindow_First(window, source) : brick->value;
    if (brick->values || !espyBrickWindow_Write(window, source, NULL, same))
    {
        return true;
    }
    brick->values = (uint8_t*)espyiAlloc(hooks, ESPY_BRICK_SIZE, 1);
    for (uint32_t i = 0; brick->values && i < ESPY_BRICK_SIZE; ++i)
    {
        brick->values[i] = brick->value;
    }
    return brick->values != NULL;
}

/// Writes a source; false where memory ends, with every voxel as it was.
static bool espyVoxels_Write(const espyHooks* hooks, espyiContent* content, const espyVoxelSource* source,
                             bool* changed)
{
    uint32_t at[3];
    espyBrickWindow window;
    bool reserved = true;
    *changed = false;
    for (bool more = espyVoxelRange_Next(content, &source->range, true, at, &window); more && reserved;
         more = espyVoxelRange_Next(content, &source->range, false, at, &window))
    {
        reserved = espyBrickWindow_Reserve(hooks, &window, source);
    }
    for (bool more = espyVoxelRange_Next(content, &source->range, true, at, &window); more;
         more = espyVoxelRange_Next(content, &source->range, false, at, &window))
    {
        espyiBrick* brick = window.brick;
        if (reserved && brick->values)
        {
            *changed = espyBrickWindow_Write(&window, source, brick->values, 0) || *changed;
        }
        else if (reserved && espyBrickWindow_IsWhole(&window))
        {
            uint8_t value = espyBrickWindow_First(&window, source);
            *changed = *changed || value != brick->value;
            brick->value = value;
        }
        espyBrick_Settle(hooks, brick);
    }
    return reserved;
}

bool espyiVoxels_Fill(const espyHooks* hooks, espyiContent* content, const uint8_t* values)
{
    const uint32_t* b = content->voxels.bricks;
    const uint32_t side = ESPY_VOXEL_BRICK;
    // All empty, with no memory, until written.
    const espyVoxelSource source = {{{0, 0, 0}, {b[0] * side, b[1] * side, b[2] * side}}, values, espyVoxel_Empty};
    bool changed;
    return espyVoxels_Write(hooks, content, &source, &changed);
}

void espyiVoxels_Free(const espyHooks* hooks, espyiContent* content)
{
    size_t count = content->bricks ? espyVoxels_BrickCount(content) : 0;
    for (size_t i = 0; i < count; ++i)
    {
        espyiFree(hooks, content->bricks[i].values);
    }
}

// --- bounds

/// The first and last voxel of a row that counts; false where none does.
static bool espyBrick_RowExtent(const uint8_t* row, bool opaqueOnly, uint32_t* first, uint32_t* last)
{
    bool any = false;
    for (uint32_t x = 0; x < ESPY_VOXEL_BRICK; ++x)
    {
        bool counts = espyVoxel_Counts(row[x], opaqueOnly);
        *first = counts && !any ? x : *first;
        *last = counts ? x : *last;
        any = any || counts;
    }
    return any;
}

static espyBox espyVoxels_Box(float size, const uint32_t low[3], const uint32_t end[3])
{
    return (espyBox){{(float)low[0] * size, (float)low[1] * size, (float)low[2] * size},
                     {(float)end[0] * size, (float)end[1] * size, (float)end[2] * size}};
}

/// First voxel of a brick and one past its last that count, in the grid; false where none does.
static bool espyVoxels_BrickExtent(const espyiContent* content, size_t index, bool opaqueOnly, uint32_t low[3],
                                   uint32_t end[3])
{
    const uint32_t* bricks = content->voxels.bricks;
    const espyiBrick* brick = &content->bricks[index];
    const uint8_t* first = brick->low[opaqueOnly ? 1 : 0];
    const uint8_t* last = brick->high[opaqueOnly ? 1 : 0];
    const uint32_t at[3] = {(uint32_t)(index % bricks[0]), (uint32_t)(index / bricks[0] % bricks[1]),
                            (uint32_t)(index / bricks[0] / bricks[1])};
    for (int axis = 0; axis < 3; ++axis)
    {
        low[axis] = ESPY_VOXEL_BRICK * at[axis] + first[axis];
        end[axis] = ESPY_VOXEL_BRICK * at[axis] + last[axis] + 1;
    }
    return first[0] <= last[0];
}

/// True where each axis of the world follows one axis of the node.
static bool espyVoxels_IsStraight(const espyMat4* m)
{
    bool straight = true;
    for (int row = 0; row < 3; ++row)
    {
        int used = (m->m[row] != 0.0f ? 1 : 0) + (m->m[4 + row] != 0.0f ? 1 : 0) + (m->m[8 + row] != 0.0f ? 1 : 0);
        straight = straight && used <= 1;
    }
    return straight;
}

/// Joins what counts in one brick row by row, so that the corners are those of voxels that are there.
static espyBox espyVoxels_AddRows(const espyiContent* content, size_t index, const espyMat4* transform, bool opaqueOnly,
                                  espyBox box)
{
    const uint32_t side = ESPY_VOXEL_BRICK;
    const uint32_t* bricks = content->voxels.bricks;
    const uint32_t base[3] = {side * (uint32_t)(index % bricks[0]), side * (uint32_t)(index / bricks[0] % bricks[1]),
                              side * (uint32_t)(index / bricks[0] / bricks[1])};
    for (uint32_t row = 0; row < side * side; ++row)
    {
        uint32_t first = 0, last = 0;
        if (espyBrick_RowExtent(content->bricks[index].values + side * row, opaqueOnly, &first, &last))
        {
            const uint32_t from[3] = {base[0] + first, base[1] + row % side, base[2] + row / side};
            const uint32_t to[3] = {base[0] + last + 1, from[1] + 1, from[2] + 1};
            espyBox voxels = espyVoxels_Box(content->voxels.voxelSize, from, to);
            box = espyBox_Union(box, espyMat4_TransformBox(*transform, voxels));
        }
    }
    return box;
}

espyBox espyiVoxels_AddBounds(const espyiContent* content, const espyMat4* transform, bool opaqueOnly, espyBox box)
{
    size_t count = espyVoxels_BrickCount(content);
    bool straight = espyVoxels_IsStraight(transform);
    uint32_t allLow[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, allEnd[3] = {0, 0, 0};
    for (size_t i = 0; i < count; ++i)
    {
        uint32_t low[3], end[3];
        if (!espyVoxels_BrickExtent(content, i, opaqueOnly, low, end))
        {
            continue;
        }
        for (int axis = 0; axis < 3 && straight; ++axis)
        {
            allLow[axis] = low[axis] < allLow[axis] ? low[axis] : allLow[axis];
            allEnd[axis] = end[axis] > allEnd[axis] ? end[axis] : allEnd[axis];
        }
        if (straight)
        {
            continue;
        }
        espyBox whole = espyMat4_TransformBox(*transform, espyVoxels_Box(content->voxels.voxelSize, low, end));
        if (!espyiBox_Contains(box, whole))
        {
            box = content->bricks[i].values ? espyVoxels_AddRows(content, i, transform, opaqueOnly, box)
                                            : espyBox_Union(box, whole);
        }
    }
    // Straight, the box of all is as tight as the voxels themselves.
    bool any = straight && allLow[0] < allEnd[0];
    return any ? espyBox_Union(
                     box, espyMat4_TransformBox(*transform, espyVoxels_Box(content->voxels.voxelSize, allLow, allEnd)))
               : box;
}

// --- public

/// Checks node and range. Ok with *content set, or the error.
static espyResult espyVoxels_Find(const espyWorld* world, espyNodeId id, espyVoxelRange range, bool array,
                                  espyiContent** content)
{
    const espyiWorldNode* node = espyiWorld_FindNode(world, id);
    if (!ESPYI_CHECK(world ? &world->hooks : NULL, node != NULL))
    {
        return espyResult_InvalidId;
    }
    const espyHooks* hooks = &world->hooks;
    if (!ESPYI_CHECK(hooks, node->content != NULL && node->content->bricks != NULL) || !ESPYI_CHECK(hooks, array))
    {
        return espyResult_InvalidArgument;
    }
    for (int axis = 0; axis < 3; ++axis)
    {
        uint32_t length = node->content->voxels.bricks[axis] * ESPY_VOXEL_BRICK;
        if (!ESPYI_CHECK(hooks, range.min[axis] <= length && range.size[axis] <= length - range.min[axis]))
        {
            return espyResult_InvalidArgument;
        }
    }
    *content = node->content;
    return espyResult_Ok;
}

static bool espyVoxelRange_IsEmpty(espyVoxelRange range)
{
    return range.size[0] == 0 || range.size[1] == 0 || range.size[2] == 0;
}

static espyResult espyWorld_WriteVoxels(espyWorld* world, espyNodeId id, espyiContent* content,
                                        const espyVoxelSource* source)
{
    bool changed;
    if (espyVoxelRange_IsEmpty(source->range))
    {
        return espyResult_Ok;
    }
    if (!espyVoxels_Write(&world->hooks, content, source, &changed))
    {
        return espyResult_OutOfMemory;
    }
    if (changed)
    {
        espyiWorld_UpdateBounds(world, &world->nodes[id.index1 - 1]);
        espyiWorld_TouchContent(world, id.index1 - 1);
    }
    return espyResult_Ok;
}

espyResult espyWorld_SetVoxels(espyWorld* world, espyNodeId id, espyVoxelRange range, const uint8_t* values)
{
    espyiContent* content;
    espyResult result = espyVoxels_Find(world, id, range, values != NULL, &content);
    if (result != espyResult_Ok)
    {
        return result;
    }
    size_t count = (size_t)range.size[0] * range.size[1] * range.size[2];
    for (size_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(&world->hooks, values[i] <= espyVoxel_Additive))
        {
            return espyResult_InvalidArgument;
        }
    }
    const espyVoxelSource source = {range, values, 0};
    return espyWorld_WriteVoxels(world, id, content, &source);
}

espyResult espyWorld_FillVoxels(espyWorld* world, espyNodeId id, espyVoxelRange range, espyVoxel value)
{
    espyiContent* content;
    espyResult result = espyVoxels_Find(world, id, range, true, &content);
    if (result != espyResult_Ok)
    {
        return result;
    }
    if (!ESPYI_CHECK(&world->hooks, (uint32_t)value <= espyVoxel_Additive))
    {
        return espyResult_InvalidArgument;
    }
    const espyVoxelSource source = {range, NULL, (uint8_t)value};
    return espyWorld_WriteVoxels(world, id, content, &source);
}

espyResult espyWorld_GetVoxels(const espyWorld* world, espyNodeId id, espyVoxelRange range, uint8_t* out)
{
    espyiContent* content;
    espyResult result = espyVoxels_Find(world, id, range, out != NULL, &content);
    for (uint32_t z = 0; z < range.size[2] && result == espyResult_Ok; ++z)
    {
        for (uint32_t y = 0; y < range.size[1]; ++y)
        {
            for (uint32_t x = 0; x < range.size[0]; ++x)
            {
                *out++ = espyiVoxels_At(content, range.min[0] + x, range.min[1] + y, range.min[2] + z);
            }
        }
    }
    return result;
}
