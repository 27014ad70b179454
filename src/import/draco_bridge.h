// SPDX-License-Identifier: MIT
// Draco meshes as plain C, decoded by the one C++ file that talks to libdraco.
#ifndef ESPYI_DRACO_BRIDGE_H
#define ESPYI_DRACO_BRIDGE_H

#include "core/core.h"

#ifdef __cplusplus
extern "C"
{
#endif

    typedef struct espyiDracoMesh
    {
        const float* positions; ///< 3 * vertexCount.
        const uint32_t* indices;
        size_t vertexCount, indexCount;
        void* owner;
    } espyiDracoMesh;

    /// Decodes the positions (the attribute with this unique id) and triangles. Errors: BadData, OutOfMemory,
    /// Unsupported (built without Draco).
    espyResult espyiDracoMesh_Decode(const uint8_t* bytes, size_t size, int32_t attribute, espyiDracoMesh* out);
    void espyiDracoMesh_Free(espyiDracoMesh* mesh);

#ifdef __cplusplus
}
#endif

#endif
