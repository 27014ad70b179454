// SPDX-License-Identifier: MIT
// Triangles as plain arrays, borrowed from the caller.
#ifndef ESPY_MESH_H
#define ESPY_MESH_H

#include <espy/math.h>

/// What a surface does to what is behind it. Only Opaque ever occludes.
typedef enum espyMaterialClass
{
    espyMaterialClass_Opaque = 0,
    espyMaterialClass_Masked,      ///< Alpha-tested: has holes.
    espyMaterialClass_Translucent, ///< Blended.
    espyMaterialClass_Additive,
} espyMaterialClass;

/// Indexed triangles, counter-clockwise from the front. Borrowed: must outlive the call or object it is given to.
typedef struct espyTriangles
{
    const espyVec3* positions; ///< vertexCount points, metres.
    const uint32_t* indices;   ///< 3 * triangleCount indices below vertexCount.
    uint32_t vertexCount;
    uint32_t triangleCount;
} espyTriangles;

#endif
