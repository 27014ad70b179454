// SPDX-License-Identifier: MIT
// Small glTF files made in memory, and loading them with counted memory and kept warnings.
#ifndef ESPY_GLTF_CASE_H
#define ESPY_GLTF_CASE_H

#include "hook_counter.h"

#include <espy/import.h>

/// A cube of side 2 about the origin: 8 positions (96 bytes), then 36 16-bit indices (72 bytes), little-endian.
#define ESPY_GLTF_BOX_SIZE 168u
const uint8_t* espyGltfCase_BoxBytes(void);

/// Accessors 0 (positions), 1 (indices) and their views over buffer 0.
#define ESPY_GLTF_BOX_DATA                                                                                   \
    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"                \
    "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}],"                           \
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}]," \
    "\"buffers\":[{\"byteLength\":168}]"
#define ESPY_GLTF_BOX_MESH \
    "\"meshes\":[{\"name\":\"box\",\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]"
#define ESPY_GLTF_ASSET "\"asset\":{\"version\":\"2.0\"}"
#define ESPY_GLTF_SCENE "\"scene\":0,\"scenes\":[{\"nodes\":[0]}]"

/// One load and everything that it said.
typedef struct espyGltfCase
{
    espyHookCounter counter; ///< First: it is the hooks' context.
    espyWorld* world;
    espyImportReport report;
    espyResult result;
    char warnings[8][512];
    espyMessageId warningIds[8];
    int32_t warningNodes[8];
    unsigned warningCount;
} espyGltfCase;

/// A .glb of a JSON text and binary bytes (may be null), padded as it must be. Free with free.
uint8_t* espyGltfCase_MakeGlb(const char* json, const void* bin, size_t binSize, size_t* size);

/// Loads bytes. The case starts empty; drop it afterwards.
void espyGltfCase_LoadBytes(espyGltfCase* test, const void* bytes, size_t size, size_t maxMemoryBytes);
/// Makes a .glb of the JSON and the cube's bytes and loads it.
void espyGltfCase_LoadBox(espyGltfCase* test, const char* json);
void espyGltfCase_LoadFile(espyGltfCase* test, const char* path);

/// Destroys the world and fails where memory is still held.
void espyGltfCase_Drop(espyGltfCase* test);

/// Fails unless the load went well.
void espyGltfCase_AssertOk(const espyGltfCase* test);
/// Fails unless the load was refused with this result and one line that contains `part`.
void espyGltfCase_AssertRefused(const espyGltfCase* test, espyResult result, const char* part);
bool espyGltfCase_Warned(const espyGltfCase* test, espyMessageId id);

/// The node with this source id.
espyNodeDef espyGltfCase_Node(const espyGltfCase* test, int32_t sourceId);
/// The mesh of the node with this source id.
espyMeshDef espyGltfCase_Mesh(const espyGltfCase* test, int32_t sourceId);
/// Signed volume of a closed mesh: 8 for the cube.
double espyGltfCase_Volume(const espyTriangles* triangles);

void espyGltfCase_WriteFile(const char* path, const void* bytes, size_t size);
/// Reads a file whole; free with free.
uint8_t* espyGltfCase_ReadFile(const char* path, size_t* size);

#endif
