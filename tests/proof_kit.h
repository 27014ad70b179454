// SPDX-License-Identifier: MIT
// Tiny scenes for the suites of free space and proofs, and for their bench.
#ifndef ESPY_PROOF_KIT_H
#define ESPY_PROOF_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bake/proof_internal.h"
#include "reference/visibility_reference.h"

typedef struct espyKit
{
    espyVec3* positions;
    uint32_t* indices;
    double (*triangles)[3][3];
    uint32_t vertexCount, triangleCount, finiteCount, capacity; ///< triangles holds the finite ones.
} espyKit;

static inline void espyKit_Free(espyKit* kit)
{
    free(kit->positions);
    free(kit->indices);
    free(kit->triangles);
    *kit = (espyKit){0};
}

static inline void espyKit_AddTriangle(espyKit* kit, const double a[3], const double b[3], const double c[3])
{
    if (kit->triangleCount == kit->capacity)
    {
        kit->capacity = kit->capacity ? 2 * kit->capacity : 64;
        kit->positions = realloc(kit->positions, 3 * kit->capacity * sizeof(espyVec3));
        kit->indices = realloc(kit->indices, 3 * kit->capacity * sizeof(uint32_t));
        kit->triangles = realloc(kit->triangles, kit->capacity * sizeof(double[3][3]));
    }
    const double* p[3] = {a, b, c};
    bool finite = true;
    for (int i = 0; i < 3; ++i)
    {
        espyVec3 v = {(float)p[i][0], (float)p[i][1], (float)p[i][2]};
        kit->positions[kit->vertexCount] = v;
        kit->indices[3 * kit->triangleCount + (uint32_t)i] = kit->vertexCount++;
        kit->triangles[kit->finiteCount][i][0] = (double)v.x;
        kit->triangles[kit->finiteCount][i][1] = (double)v.y;
        kit->triangles[kit->finiteCount][i][2] = (double)v.z;
        finite = finite && v.x - v.x == 0 && v.y - v.y == 0 && v.z - v.z == 0;
    }
    kit->triangleCount += 1;
    kit->finiteCount += finite;
}

static inline void espyKit_AddQuad(espyKit* kit, const double a[3], const double b[3], const double c[3],
                                   const double d[3])
{
    espyKit_AddTriangle(kit, a, b, c);
    espyKit_AddTriangle(kit, a, c, d);
}

/// `m`: column-major 3x3 applied to every corner, or null.
static inline void espyKit_AddBox(espyKit* kit, const double low[3], const double high[3], const double* m)
{
    double p[8][3];
    for (int i = 0; i < 8; ++i)
    {
        double q[3] = {i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]};
        for (int k = 0; k < 3; ++k)
        {
            p[i][k] = m ? m[k] * q[0] + m[3 + k] * q[1] + m[6 + k] * q[2] : q[k];
        }
    }
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int f = 0; f < 6; ++f)
    {
        espyKit_AddQuad(kit, p[faces[f][0]], p[faces[f][1]], p[faces[f][2]], p[faces[f][3]]);
    }
}

/// Moves all of it by the same on each axis.
static inline void espyKit_Move(espyKit* kit, double by)
{
    for (uint32_t i = 0; i < kit->vertexCount; ++i)
    {
        espyVec3* v = &kit->positions[i];
        *v = (espyVec3){(float)((double)v->x + by), (float)((double)v->y + by), (float)((double)v->z + by)};
    }
    uint32_t finite = 0;
    for (uint32_t i = 0; i < kit->triangleCount; ++i)
    {
        bool ok = true;
        for (uint32_t k = 0; k < 3; ++k)
        {
            espyVec3 v = kit->positions[3 * i + k];
            kit->triangles[finite][k][0] = (double)v.x;
            kit->triangles[finite][k][1] = (double)v.y;
            kit->triangles[finite][k][2] = (double)v.z;
            ok = ok && v.x - v.x == 0 && v.y - v.y == 0 && v.z - v.z == 0;
        }
        finite += ok;
    }
}

static inline void espyKit_Box(espyKit* kit, double x0, double y0, double z0, double x1, double y1, double z1)
{
    const double low[3] = {x0, y0, z0}, high[3] = {x1, y1, z1};
    espyKit_AddBox(kit, low, high, NULL);
}

static inline espyiSoup espyKit_Soup(const espyKit* kit)
{
    return (espyiSoup){.triangles = {.positions = kit->positions,
                                     .indices = kit->indices,
                                     .vertexCount = kit->vertexCount,
                                     .triangleCount = kit->triangleCount}};
}

static inline espyReferenceScene espyKit_Reference(const espyKit* kit)
{
    return (espyReferenceScene){.triangles = (const double(*)[3][3])kit->triangles, .count = kit->finiteCount};
}

static inline espyiBoxD espyKit_BoxD(double x0, double y0, double z0, double x1, double y1, double z1)
{
    return (espyiBoxD){{x0, y0, z0}, {x1, y1, z1}};
}

static inline espyiFreeSpace* espyKit_Space(const espyKit* kit, espyiBoxD world)
{
    espyiSoup soup = espyKit_Soup(kit);
    espyiFreeSpaceDef def = {0};
    espyiFreeSpace* space = NULL;
    return espyiFreeSpace_Build(&soup, world, &def, &space) == espyResult_Ok ? space : NULL;
}

/// A rotation from a random unit quaternion.
static inline void espyKit_Rotation(uint64_t* seed, double m[9])
{
    double q[4], length = 0;
    do
    {
        length = 0;
        for (int i = 0; i < 4; ++i)
        {
            q[i] = 2 * espyReference_Random(seed) - 1;
            length += q[i] * q[i];
        }
    } while (length < 0.01 || length > 1);
    double s = 2 / length, x = q[0], y = q[1], z = q[2], w = q[3];
    const double r[9] = {1 - s * (y * y + z * z), s * (x * y + w * z),     s * (x * z - w * y),
                         s * (x * y - w * z),     1 - s * (x * x + z * z), s * (y * z + w * x),
                         s * (x * z + w * y),     s * (y * z - w * x),     1 - s * (x * x + y * y)};
    memcpy(m, r, sizeof(r));
}

typedef enum espyKitKind
{
    espyKitKind_Lattice = 0, ///< Boxes on whole coordinates: shared faces, edges, duplicates.
    espyKitKind_Boxes,       ///< Boxes at any place, axis-parallel, interpenetrating.
    espyKitKind_Rotated,     ///< Each box turned its own way.
    espyKitKind_Turned,      ///< A lattice scene turned as a whole, rounded to floats.
    espyKitKind_Soup,        ///< Triangles, some degenerate or double.
    espyKitKind_Slits,       ///< Two walls, each open along one slit of 1 to 30 cm.
    espyKitKind_Count,
} espyKitKind;

/// A wall of the given thickness across x, open along one slit.
static inline void espyKit_AddSlitWall(espyKit* kit, double x, double thickness, uint64_t* seed)
{
    double at = 4 * (espyReference_Random(seed) - 0.5), width = 0.01 + 0.29 * espyReference_Random(seed);
    if (espyReference_Random(seed) < 0.5)
    {
        espyKit_Box(kit, x, -20, -20, x + thickness, at, 20);
        espyKit_Box(kit, x, at + width, -20, x + thickness, 20, 20);
    }
    else
    {
        espyKit_Box(kit, x, -20, -20, x + thickness, 20, at);
        espyKit_Box(kit, x, -20, at + width, x + thickness, 20, 20);
    }
}

static inline void espyKit_RandomScene(espyKit* kit, espyKitKind kind, uint64_t* seed)
{
    if (kind == espyKitKind_Slits)
    {
        espyKit_AddSlitWall(kit, -1, 0.2, seed);
        espyKit_AddSlitWall(kit, 1, 0.05, seed);
        return;
    }
    double turn[9];
    espyKit_Rotation(seed, turn);
    uint32_t count = 1 + (uint32_t)(espyReference_Random(seed) * 30);
    for (uint32_t i = 0; i < count; ++i)
    {
        double low[3], high[3], m[9];
        for (int k = 0; k < 3; ++k)
        {
            low[k] = 8 * (espyReference_Random(seed) - 0.5);
            high[k] = low[k] + 5 * espyReference_Random(seed) * espyReference_Random(seed) + 0.05;
            if (kind == espyKitKind_Lattice || kind == espyKitKind_Turned)
            {
                low[k] = floor(low[k]);
                high[k] = low[k] + floor(1 + 5 * espyReference_Random(seed) * espyReference_Random(seed));
            }
        }
        if (kind == espyKitKind_Soup)
        {
            double p[3][3];
            for (int v = 0; v < 3; ++v)
            {
                for (int k = 0; k < 3; ++k)
                {
                    p[v][k] = 10 * (espyReference_Random(seed) - 0.5);
                }
            }
            double dice = espyReference_Random(seed);
            if (dice < 0.1)
            {
                memcpy(p[2], p[1], sizeof(p[1]));
            }
            else if (dice < 0.15)
            {
                p[1][0] = (double)NAN;
            }
            espyKit_AddTriangle(kit, p[0], p[1], p[2]);
            if (dice > 0.9)
            {
                espyKit_AddTriangle(kit, p[2], p[1], p[0]);
            }
            else if (dice > 0.8)
            {
                // A T-junction on one of its edges.
                double middle[3] = {0.5 * (p[0][0] + p[1][0]), 0.5 * (p[0][1] + p[1][1]), 0.5 * (p[0][2] + p[1][2])};
                double tip[3] = {p[2][0], p[2][1] + 3, p[2][2]};
                espyKit_AddTriangle(kit, p[0], middle, tip);
                espyKit_AddTriangle(kit, middle, p[1], tip);
            }
        }
        else if (kind == espyKitKind_Rotated)
        {
            espyKit_Rotation(seed, m);
            espyKit_AddBox(kit, low, high, m);
        }
        else
        {
            espyKit_AddBox(kit, low, high, kind == espyKitKind_Turned ? turn : NULL);
        }
    }
}

/// Dense grid of nx * ny * nz cells; only what the proofs read.
static inline espyiGrid espyKit_Grid(double x, double y, double z, double size, uint32_t nx, uint32_t ny, uint32_t nz)
{
    espyiGrid grid = {.origin = {(float)x, (float)y, (float)z},
                      .cellSize = (float)size,
                      .dims = {nx, ny, nz},
                      .cellCount = nx * ny * nz,
                      .dense = true};
    grid.cells = malloc(grid.cellCount * sizeof(espyiCellCoord));
    for (uint32_t i = 0; i < grid.cellCount; ++i)
    {
        grid.cells[i] = (espyiCellCoord){(uint16_t)(i % nx), (uint16_t)(i / nx % ny), (uint16_t)(i / (nx * ny))};
    }
    return grid;
}

/// A prover over a grid of one cell, for tests of box pairs.
typedef struct espyKitProver
{
    espyiGrid grid;
    espyiCellTree* tree;
    espyiFreeSpace* space;
    espyiProver* prover;
} espyKitProver;

static inline espyKitProver espyKit_Prover(const espyKit* kit, espyiBoxD world)
{
    espyKitProver p = {.grid = espyKit_Grid(0, 0, 0, 1, 1, 1, 1), .space = espyKit_Space(kit, world)};
    if (p.space && espyiCellTree_Build(&p.grid, NULL, NULL, &p.tree) == espyResult_Ok)
    {
        espyiProver_Create(p.space, p.tree, &p.grid, NULL, NULL, &p.prover);
    }
    return p;
}

static inline void espyKitProver_Free(espyKitProver* p)
{
    espyiProver_Destroy(p->prover);
    espyiCellTree_Destroy(p->tree);
    espyiFreeSpace_Destroy(p->space);
    free(p->grid.cells);
    *p = (espyKitProver){0};
}

#endif
