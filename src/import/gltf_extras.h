// SPDX-License-Identifier: MIT
// The conventions that extras of a glTF file carry: flags and tags of nodes, settings of the scene.
#ifndef ESPYI_GLTF_EXTRAS_H
#define ESPYI_GLTF_EXTRAS_H

#include "import/gltf_file.h"

#define ESPYI_GLTF_MAX_TAGS 64

/// What a node's extras say.
typedef struct espyiGltfNodeExtras
{
    uint32_t flags;    ///< espyNodeFlag bits.
    bool area;         ///< occlusionArea.
    bool carriesFlags; ///< Names `occluder` or `occludee`, whatever the value.
    espyOcclusionProxy proxy;
    char* tagText; ///< Owns the tags' characters.
    const char* tags[ESPYI_GLTF_MAX_TAGS];
    uint32_t tagCount;
} espyiGltfNodeExtras;

/// Reads a node's extras; values that make no sense are warned about and ignored. Free also after a failure.
espyResult espyiGltfNodeExtras_Read(espyiGltfFile* file, const espyiGltfNode* node, espyiGltfNodeExtras* out);
void espyiGltfNodeExtras_Free(espyiGltfFile* file, espyiGltfNodeExtras* extras);

/// The scene's settings, defaults where its extras are silent.
espySceneSettings espyiGltf_ReadSettings(espyiGltfFile* file);

#endif
