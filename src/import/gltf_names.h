// SPDX-License-Identifier: MIT
// Words of the extras that the reader and the writer of glTF share.
#ifndef ESPYI_GLTF_NAMES_H
#define ESPYI_GLTF_NAMES_H

#include <espy/world.h>

#define ESPYI_GLTF_FLAG_COUNT 8
#define ESPYI_GLTF_KIND_COUNT 9
#define ESPYI_GLTF_QUALITY_COUNT 4

/// A switch of a node.
typedef struct espyiGltfFlagName
{
    const char* key;
    espyNodeFlag flag;
    bool usual; ///< What a node that does not name it has.
} espyiGltfFlagName;

extern const espyiGltfFlagName espyiGltfFlagNames[ESPYI_GLTF_FLAG_COUNT];
/// By espyNodeKind.
extern const char* const espyiGltfKindNames[ESPYI_GLTF_KIND_COUNT];
/// By espyBakeQuality.
extern const char* const espyiGltfQualityNames[ESPYI_GLTF_QUALITY_COUNT];

/// Index of a name in a list, whatever the case of its Latin letters; `count` where it is none of them.
uint32_t espyiGltfNames_Find(const char* const* names, uint32_t count, const char* name);

#endif
