// SPDX-License-Identifier: MIT
// The list of scenes by name.
#include "scenes/scenes.h"

#include <string.h>

static espyResult espyScene_BuildSampleSized(uint32_t size, uint64_t seed, espyWorld** out)
{
    (void)size;
    return espyScene_BuildSample(seed, out);
}

static const struct
{
    const char* name;
    uint32_t fullSize;
    espyResult (*build)(uint32_t size, uint64_t seed, espyWorld** out);
} espyScenes[espySceneKind_Count] = {
    [espySceneKind_Rooms] = {"rooms", 6, espyScene_BuildRooms},
    [espySceneKind_Slits] = {"slits", 6, espyScene_BuildSlits},
    [espySceneKind_City] = {"city", 12, espyScene_BuildCity},
    [espySceneKind_Tower] = {"tower", 8, espyScene_BuildTower},
    [espySceneKind_Forest] = {"forest", 4, espyScene_BuildForest},
    [espySceneKind_Sample] = {"sample", 1, espyScene_BuildSampleSized},
    [espySceneKind_Castle] = {"castle", 4, espyScene_BuildCastle},
};

const char* espyScene_GetName(espySceneKind kind)
{
    return (uint32_t)kind < espySceneKind_Count ? espyScenes[kind].name : "";
}

bool espyScene_FindKind(const char* name, espySceneKind* out)
{
    for (uint32_t kind = 0; name && kind < espySceneKind_Count; ++kind)
    {
        if (strcmp(name, espyScenes[kind].name) == 0)
        {
            *out = (espySceneKind)kind;
            return true;
        }
    }
    return false;
}

uint32_t espyScene_GetFullSize(espySceneKind kind)
{
    return (uint32_t)kind < espySceneKind_Count ? espyScenes[kind].fullSize : 0;
}

espyResult espyScene_Build(const char* name, uint32_t size, uint64_t seed, espyWorld** out)
{
    espySceneKind kind;
    *out = NULL;
    return espyScene_FindKind(name, &kind) ? espyScenes[kind].build(size, seed, out) : espyResult_NotFound;
}
