// SPDX-License-Identifier: MIT
#include "reference/pvs_reference.h"

static float espyReference_Border(const espyiGrid* grid, uint32_t axis, uint32_t cell)
{
    const float origin[3] = {grid->origin.x, grid->origin.y, grid->origin.z};
    return origin[axis] + (float)cell * grid->cellSize;
}

static bool espyReference_Holds(const espyiGrid* grid, uint32_t axis, uint32_t cell, float value)
{
    float low = espyReference_Border(grid, axis, cell);
    float high = espyReference_Border(grid, axis, cell + 1);
    return value >= low && (value < high || (cell + 1 == grid->dims[axis] && value == high));
}

int32_t espyPvsReference_FindCell(const espyiGrid* grid, espyVec3 point)
{
    for (uint32_t i = 0; i < grid->cellCount; ++i)
    {
        espyiCellCoord c = grid->cells[i];
        if (espyReference_Holds(grid, 0, c.x, point.x) && espyReference_Holds(grid, 1, c.y, point.y) &&
            espyReference_Holds(grid, 2, c.z, point.z))
        {
            return (int32_t)i;
        }
    }
    return -1;
}

espyBox espyPvsReference_Box(const espyiGrid* grid, const uint32_t first[3], const uint32_t last[3])
{
    return (espyBox){{espyReference_Border(grid, 0, first[0]), espyReference_Border(grid, 1, first[1]),
                      espyReference_Border(grid, 2, first[2])},
                     {espyReference_Border(grid, 0, last[0]), espyReference_Border(grid, 1, last[1]),
                      espyReference_Border(grid, 2, last[2])}};
}

static bool espyReference_Inside(espyBox inner, espyBox outer)
{
    return inner.min.x >= outer.min.x && inner.min.y >= outer.min.y && inner.min.z >= outer.min.z &&
           inner.max.x <= outer.max.x && inner.max.y <= outer.max.y && inner.max.z <= outer.max.z;
}

static bool espyReference_BlockVisible(const espyiGrid* grid, const uint8_t* blockVisible, const uint32_t block[3])
{
    for (uint32_t i = 0; i < grid->coarseCount; ++i)
    {
        espyiCellCoord c = grid->coarse[i];
        if (c.x == block[0] && c.y == block[1] && c.z == block[2])
        {
            return blockVisible[i] != 0;
        }
    }
    return true;
}

espyVisibility espyPvsReference_TestBox(const espyiGrid* grid, const uint8_t* blockVisible, espyBox box)
{
    static const uint32_t zero[3] = {0, 0, 0};
    if (!espyBox_IsValid(box))
    {
        return espyVisibility_Unknown;
    }
    if (!espyReference_Inside(box, espyPvsReference_Box(grid, zero, grid->dims)))
    {
        return espyVisibility_Visible;
    }
    uint32_t block[3];
    for (block[2] = 0; block[2] < grid->coarseDims[2]; ++block[2])
    {
        for (block[1] = 0; block[1] < grid->coarseDims[1]; ++block[1])
        {
            for (block[0] = 0; block[0] < grid->coarseDims[0]; ++block[0])
            {
                uint32_t first[3], last[3];
                for (uint32_t axis = 0; axis < 3; ++axis)
                {
                    first[axis] = block[axis] * grid->coarseFactor;
                    last[axis] = first[axis] + grid->coarseFactor;
                    last[axis] = last[axis] < grid->dims[axis] ? last[axis] : grid->dims[axis];
                }
                if (espyBox_Overlaps(box, espyPvsReference_Box(grid, first, last)) &&
                    espyReference_BlockVisible(grid, blockVisible, block))
                {
                    return espyVisibility_Visible;
                }
            }
        }
    }
    return espyVisibility_Occluded;
}
