// SPDX-License-Identifier: MIT
// Words of the extras that the reader and the writer of glTF share.
#include "import/gltf_names.h"

const espyiGltfFlagName espyiGltfFlagNames[ESPYI_GLTF_FLAG_COUNT] = {
    {"occluder", espyNodeFlag_OccluderStatic, false},
    {"occludee", espyNodeFlag_OccludeeStatic, false},
    {"hidden", espyNodeFlag_Hidden, false},
    {"blocker", espyNodeFlag_Blocker, false},
    {"dynamic", espyNodeFlag_Dynamic, false},
    {"skybox", espyNodeFlag_Skybox, false},
    {"alwaysUpdate", espyNodeFlag_AlwaysUpdate, false},
    {"castsShadow", espyNodeFlag_CastsShadow, true},
};

const char* const espyiGltfKindNames[ESPYI_GLTF_KIND_COUNT] = {
    "Node3D",    "StaticMesh3D", "InstancedMesh3D", "SkeletalMesh3D", "Particle3D",
    "Terrain3D", "Voxel3D",      "Camera3D",        "OcclusionArea",
};

const char* const espyiGltfQualityNames[ESPYI_GLTF_QUALITY_COUNT] = {"low", "medium", "high", "proven"};

static char espyGltfNames_Lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

uint32_t espyiGltfNames_Find(const char* const* names, uint32_t count, const char* name)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        size_t at = 0;
        while (name[at] != '\0' && espyGltfNames_Lower(name[at]) == espyGltfNames_Lower(names[i][at]))
        {
            ++at;
        }
        if (name[at] == '\0' && names[i][at] == '\0')
        {
            return i;
        }
    }
    return count;
}
