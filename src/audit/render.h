// SPDX-License-Identifier: MIT
// The geometry of a picture: triangles after the cut, which of their edges are drawn as lines, and ray hierarchies.
#ifndef ESPYI_RENDER_H
#define ESPYI_RENDER_H

#include <espy/audit.h>

#include "core/core.h"
#include "geometry/bvh.h"

typedef struct espyiRenderMesh
{
    espyHooks hooks;
    const espyPictureSurface* surfaces;
    espyVec3* positions; ///< Three a triangle.
    uint32_t* indices;   ///< 0, 1, 2 ...
    uint32_t* surfaceOf;
    espyVec3* normals; ///< Unit length.
    uint8_t* lines;    ///< Bit e: edge e, from corner e to the next, is drawn.
    uint32_t triangleCount;
    size_t positionCapacity, surfaceCapacity, normalCapacity, lineCapacity, indexCapacity;
    espyiBvh* all;
    espyiBvh* solid; ///< Only what casts shadows; triangle indices are of its own.
} espyiRenderMesh;

/// Errors: InvalidArgument (an index past its end), OutOfMemory.
espyResult espyiRenderMesh_Create(const espyPictureScene* scene, float cutHeight, uint32_t threads,
                                  const espyHooks* hooks, espyiRenderMesh** out);
void espyiRenderMesh_Destroy(espyiRenderMesh* mesh);

#endif
