// SPDX-License-Identifier: MIT
#include "reference/view_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double espyRow4[4];

/// Solves a 4x4 system by elimination with pivots. False where it is singular.
static bool espyReference_Solve(const espyRow4 rows[4], const double right[4], double out[4])
{
    double a[4][5];
    for (int i = 0; i < 4; ++i)
    {
        memcpy(a[i], rows[i], sizeof(espyRow4));
        a[i][4] = right[i];
    }
    for (int step = 0; step < 4; ++step)
    {
        int best = step;
        for (int i = step + 1; i < 4; ++i)
        {
            best = fabs(a[i][step]) > fabs(a[best][step]) ? i : best;
        }
        if (a[best][step] == 0.0)
        {
            return false;
        }
        for (int k = 0; k < 5; ++k)
        {
            double swap = a[step][k];
            a[step][k] = a[best][k];
            a[best][k] = swap;
        }
        for (int i = 0; i < 4; ++i)
        {
            double share = i == step ? 0.0 : a[i][step] / a[step][step];
            for (int k = step; k < 5; ++k)
            {
                a[i][k] -= share * a[step][k];
            }
        }
    }
    for (int i = 0; i < 4; ++i)
    {
        out[i] = a[i][4] / a[i][i];
    }
    return true;
}

/// Rows of projection * view in double.
static void espyReference_Rows(const espyViewDef* def, espyRow4 rows[4])
{
    for (int row = 0; row < 4; ++row)
    {
        for (int column = 0; column < 4; ++column)
        {
            rows[row][column] = 0.0;
            for (int k = 0; k < 4; ++k)
            {
                rows[row][column] += (double)def->projection.m[4 * k + row] * (double)def->view.m[4 * column + k];
            }
        }
    }
}

static void espyReference_Project(const espyRow4 rows[4], const double p[3], double out[4])
{
    for (int row = 0; row < 4; ++row)
    {
        out[row] = rows[row][0] * p[0] + rows[row][1] * p[1] + rows[row][2] * p[2] + rows[row][3];
    }
}

double espyViewReference_Outside(const espyViewDef* def, espyBox box)
{
    espyRow4 rows[4], view[4];
    static const double origin[4] = {0, 0, 0, 1};
    double eye[4];
    espyReference_Rows(def, rows);
    for (int row = 0; row < 4; ++row)
    {
        for (int column = 0; column < 4; ++column)
        {
            view[row][column] = (double)def->view.m[4 * column + row];
        }
    }
    if (!espyReference_Solve((const espyRow4*)view, origin, eye))
    {
        return 0.0;
    }
    double best = -1.0;
    for (int plane = 0; plane < 6; ++plane)
    {
        double least = INFINITY, reach = 0.0;
        double normal = 0.0;
        for (int k = 0; k < 3; ++k)
        {
            double w = plane == 4 ? 0.0 : rows[3][k];
            double v = plane == 4 ? rows[2][k] : plane == 5 ? -rows[2][k] : (plane & 1 ? -1 : 1) * rows[plane / 2][k];
            normal += fabs(w + v);
        }
        for (int corner = 0; corner < 8; ++corner)
        {
            const double p[3] = {corner & 1 ? (double)box.max.x : (double)box.min.x,
                                 corner & 2 ? (double)box.max.y : (double)box.min.y,
                                 corner & 4 ? (double)box.max.z : (double)box.min.z};
            double clip[4];
            espyReference_Project((const espyRow4*)rows, p, clip);
            const double inside[6] = {clip[3] + clip[0], clip[3] - clip[0], clip[3] + clip[1],
                                      clip[3] - clip[1], clip[2],           clip[3] - clip[2]};
            least = fmin(least, -inside[plane]);
            reach = fmax(reach, fabs(p[0] - eye[0]) + fabs(p[1] - eye[1]) + fabs(p[2] - eye[2]));
        }
        if (normal > 0.0)
        {
            best = fmax(best, least / (normal * reach));
        }
    }
    return best;
}

/// Cuts a convex polygon at one side of an axis; keeps sign * (p - border) <= 0.
static int espyReference_Cut(double polygon[][3], int count, int axis, double sign, double border)
{
    double kept[16][3];
    int n = 0;
    for (int i = 0; i < count; ++i)
    {
        const double* a = polygon[i];
        const double* b = polygon[(i + 1) % count];
        double da = sign * (a[axis] - border);
        double db = sign * (b[axis] - border);
        if (da <= 0.0)
        {
            memcpy(kept[n++], a, sizeof kept[0]);
        }
        if ((da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0))
        {
            double t = da / (da - db);
            for (int k = 0; k < 3; ++k)
            {
                kept[n][k] = a[k] + t * (b[k] - a[k]);
            }
            ++n;
        }
    }
    memcpy(polygon, kept, (size_t)n * sizeof kept[0]);
    return n;
}

/// The near rectangle in the space of the data; false where it is not bounded.
static bool espyReference_Rectangle(const espyViewDef* def, espyVec3 offset, double out[4][3])
{
    static const double signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const double shift[3] = {(double)offset.x, (double)offset.y, (double)offset.z};
    espyRow4 rows[4];
    espyReference_Rows(def, rows);
    for (int i = 0; i < 4; ++i)
    {
        const double clip[4] = {signs[i][0], signs[i][1], def->reversedZ ? 1.0 : 0.0, 1.0};
        double h[4];
        if (!espyReference_Solve((const espyRow4*)rows, clip, h) || !(h[3] > 0.0))
        {
            return false;
        }
        for (int k = 0; k < 3; ++k)
        {
            out[i][k] = h[k] / h[3] - shift[k];
        }
    }
    return true;
}

int32_t espyViewReference_FindCells(const espyViewDef* def, const espyPvs* pvs, espyVec3 offset, double margin,
                                    int32_t* cells, uint32_t room)
{
    double corners[4][3];
    if (!espyReference_Rectangle(def, offset, corners))
    {
        return -2;
    }
    const double origin[3] = {(double)pvs->origin.x, (double)pvs->origin.y, (double)pvs->origin.z};
    double size = (double)pvs->cellSize;
    int32_t count = 0;
    bool* touched = calloc(pvs->cellCount + 1u, sizeof *touched);
    // Every cell of the lattice and a ring around it.
    for (int32_t z = -1; z <= (int32_t)pvs->dims[2]; ++z)
    {
        for (int32_t y = -1; y <= (int32_t)pvs->dims[1]; ++y)
        {
            for (int32_t x = -1; x <= (int32_t)pvs->dims[0]; ++x)
            {
                const int32_t at[3] = {x, y, z};
                double polygon[16][3];
                int n = 4;
                memcpy(polygon, corners, sizeof corners);
                for (int axis = 0; axis < 3 && n > 0; ++axis)
                {
                    double low = origin[axis] + at[axis] * size - margin;
                    double high = origin[axis] + (at[axis] + 1) * size + margin;
                    n = espyReference_Cut(polygon, n, axis, -1.0, at[axis] < 0 ? -INFINITY : low);
                    n = n > 0 ? espyReference_Cut(polygon, n, axis, 1.0,
                                                  at[axis] >= (int32_t)pvs->dims[axis] ? INFINITY : high)
                              : 0;
                }
                if (n == 0)
                {
                    continue;
                }
                espyVec3 centre = {(float)(origin[0] + (x + 0.5) * size), (float)(origin[1] + (y + 0.5) * size),
                                   (float)(origin[2] + (z + 0.5) * size)};
                int32_t cell = espyPvs_FindCell(pvs, centre);
                if (cell < 0)
                {
                    free(touched);
                    return -1;
                }
                touched[cell] = true;
            }
        }
    }
    for (uint32_t i = 0; i < pvs->cellCount; ++i)
    {
        if (touched[i])
        {
            if ((uint32_t)count < room)
            {
                cells[count] = (int32_t)i;
            }
            ++count;
        }
    }
    free(touched);
    return count;
}
