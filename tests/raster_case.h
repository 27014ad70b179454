// SPDX-License-Identifier: MIT
// What the rasteriser's suites share: cameras, meshes and scenes as plain triangles.
#ifndef ESPY_RASTER_CASE_H
#define ESPY_RASTER_CASE_H

#include <espy/raster.h>
#include <espy/world.h>

#include "core/core.h"

typedef struct espyLens
{
    bool orthographic, reversedZ;
    float nearDistance, farDistance; ///< farDistance 0: infinite.
    float halfHeight;                ///< At distance 1, or of the box.
    float aspect;
} espyLens;

/// World-to-clip of a camera at `eye` that looks at `target`.
espyMat4 espyRasterCase_View(espyVec3 eye, espyVec3 target, const espyLens* lens);

/// Opaque triangles of all nodes of a world, in world space. Free both arrays with free().
typedef struct espyRasterMesh
{
    espyVec3* positions;
    uint32_t* indices;
    espyTriangles triangles;
} espyRasterMesh;

espyRasterMesh espyRasterCase_FromWorld(const espyWorld* world);
void espyRasterMesh_Free(espyRasterMesh* mesh);

/// The twelve triangles of a box.
void espyRasterCase_Box(espyBox box, espyVec3 positions[8], uint32_t indices[36]);

/// Loops on POSIX threads: the context points at the number of threads.
void espyRasterCase_ParallelFor(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job);

#endif
