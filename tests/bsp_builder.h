// SPDX-License-Identifier: MIT
// Builds small Quake 3 maps and zip archives in memory, for tests.
#ifndef ESPY_TESTS_BSP_BUILDER_H
#define ESPY_TESTS_BSP_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Growing bytes. Free with espyBytes_Free.
typedef struct espyBytes
{
    uint8_t* data;
    size_t size, capacity;
} espyBytes;

void espyBytes_Add(espyBytes* bytes, const void* data, size_t size);
void espyBytes_AddU16(espyBytes* bytes, uint32_t value);
void espyBytes_AddU32(espyBytes* bytes, uint32_t value);
void espyBytes_AddI32(espyBytes* bytes, int32_t value);
void espyBytes_AddF32(espyBytes* bytes, float value);
void espyBytes_Free(espyBytes* bytes);

#define ESPY_BSP_LUMPS 17

/// The lumps of a map under construction. Zeroed memory is an empty one.
typedef struct espyBspBuilder
{
    espyBytes lumps[ESPY_BSP_LUMPS];
} espyBspBuilder;

uint32_t espyBspBuilder_Shader(espyBspBuilder* b, const char* name, uint32_t surfaceFlags, uint32_t contents);
uint32_t espyBspBuilder_Plane(espyBspBuilder* b, float x, float y, float z, float distance);
void espyBspBuilder_Node(espyBspBuilder* b, uint32_t plane, int32_t front, int32_t back);
void espyBspBuilder_Leaf(espyBspBuilder* b, int32_t cluster, uint32_t firstFace, uint32_t faces, uint32_t firstBrush,
                         uint32_t brushes);
void espyBspBuilder_Model(espyBspBuilder* b, uint32_t firstFace, uint32_t faces);
/// A polygon face, a rectangle from `corner` along u and v, whose front is the side of cross(u, v).
void espyBspBuilder_Quad(espyBspBuilder* b, uint32_t shader, const float corner[3], const float u[3], const float v[3]);
/// A patch face over width * height control points of three floats.
void espyBspBuilder_Patch(espyBspBuilder* b, uint32_t shader, uint32_t width, uint32_t height, const float* control);
/// A face of any kind with its fields as they are.
void espyBspBuilder_Face(espyBspBuilder* b, uint32_t shader, uint32_t kind, uint32_t firstVertex, uint32_t vertices,
                         uint32_t firstIndex, uint32_t indices, uint32_t width, uint32_t height);
void espyBspBuilder_Vertex(espyBspBuilder* b, const float position[3], const float normal[3]);
/// The whole file. The builder is emptied.
espyBytes espyBspBuilder_Finish(espyBspBuilder* b, uint32_t version);

/// A map with a bit of everything: see the comment in bsp_builder.c.
espyBytes espyBspBuilder_Sample(void);

typedef struct espyZipEntry
{
    const char* name;
    const void* data;
    size_t size;
    uint32_t declaredSize; ///< Of the unpacked entry, as the archive says it.
    bool encrypted;
    bool deflated; ///< Packed as one deflate stream of stored blocks.
} espyZipEntry;

/// A zip archive of these entries.
espyBytes espyZip_Build(const espyZipEntry* entries, size_t count);
/// Writes bytes to a file; false where that failed.
bool espyBytes_Save(const espyBytes* bytes, const char* path);

#endif
