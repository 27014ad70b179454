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

    /// What the header declares. Reserving memory for that comes before anything is read from the rest.
    typedef struct espyiDracoHeader
    {
        uint64_t faces, vertices;
    } espyiDracoHeader;

    /// False for anything but a mesh of bitstream 2.2 (what glTF allows) without metadata.
    bool espyiDracoHeader_Read(const uint8_t* bytes, size_t size, espyiDracoHeader* out);

    /// Decodes the positions (the attribute with this unique id) and triangles. Errors: BadData, OutOfMemory,
    /// Unsupported (built without Draco).
    espyResult espyiDracoMesh_Decode(const uint8_t* bytes, size_t size, int32_t attribute, espyiDracoMesh* out);
    void espyiDracoMesh_Free(espyiDracoMesh* mesh);

#ifdef __cplusplus
}
#endif

#endif
