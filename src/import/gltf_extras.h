// SPDX-License-Identifier: MIT
// The conventions that extras of a glTF file carry: flags and tags of nodes, settings of the scene.
#ifndef ESPYI_GLTF_EXTRAS_H
#define ESPYI_GLTF_EXTRAS_H

#include "import/gltf_file.h"
#include "import/gltf_names.h"

#define ESPYI_GLTF_MAX_TAGS 64

/// What a node's extras say.
typedef struct espyiGltfNodeExtras
{
    uint32_t flags;    ///< espyNodeFlag bits, the usual ones included.
    int32_t kind;      ///< espyNodeKind, -1: not named.
    bool area;         ///< occlusionArea.
    bool carriesFlags; ///< Names `occluder` or `occludee`, whatever the value.
    espyOcclusionProxy proxy;
    float unrollCellSize; ///< 0: not named.
    espyBox bounds;       ///< Empty: not named.
    float cameraOffset[2];
    int32_t* levels; ///< Meshes of the file.
    uint32_t levelCount;
    int32_t occluderMesh; ///< -1: not named.
    char* tagText;        ///< Owns the tags' characters.
    const char* tags[ESPYI_GLTF_MAX_TAGS];
    uint32_t tagCount;
} espyiGltfNodeExtras;

/// Reads a node's extras; values that make no sense are warned about and ignored. Free also after a failure.
espyResult espyiGltfNodeExtras_Read(espyiGltfFile* file, const espyiGltfNode* node, espyiGltfNodeExtras* out);
void espyiGltfNodeExtras_Free(espyiGltfFile* file, espyiGltfNodeExtras* extras);

/// Warns that the value of a node's extra is not understood; a null node is the scene.
void espyiGltf_WarnExtra(espyiGltfFile* file, const espyiGltfNode* node, const char* key);

/// The scene's settings, defaults where its extras are silent.
espySceneSettings espyiGltf_ReadSettings(espyiGltfFile* file);
/// The node that the scene names as its active camera, -1 where it is silent.
int32_t espyiGltf_ReadActiveCamera(espyiGltfFile* file);

#endif
