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
    uint32_t vertexCount, triangleCount, capacity;
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
    for (int i = 0; i < 3; ++i)
    {
        espyVec3 v = {(float)p[i][0], (float)p[i][1], (float)p[i][2]};
        kit->positions[kit->vertexCount] = v;
        kit->indices[3 * kit->triangleCount + (uint32_t)i] = kit->vertexCount++;
        kit->triangles[kit->triangleCount][i][0] = (double)v.x;
        kit->triangles[kit->triangleCount][i][1] = (double)v.y;
        kit->triangles[kit->triangleCount][i][2] = (double)v.z;
    }
    kit->triangleCount += 1;
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
    return (espyReferenceScene){.triangles = (const double(*)[3][3])kit->triangles, .count = kit->triangleCount};
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
    if (p.space && espyiCellTree_Build(&p.grid, NULL, &p.tree) == espyResult_Ok)
    {
        espyiProver_Create(p.space, p.tree, &p.grid, NULL, &p.prover);
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
