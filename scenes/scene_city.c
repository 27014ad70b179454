// SPDX-License-Identifier: MIT
// A city of blocks: a building and eight street things each, on one slab of ground.
#include "scenes/scene_props.h"

#include <stdio.h>

#define ESPY_BLOCK 19.0f
#define ESPY_STREET_HEIGHT 12.0f ///< Of the space that cameras fly in: roofs stand above it.
#define ESPY_PROPS_A_BLOCK 8u

/// A building of one box, or two where it steps back towards the top, in the middle of its block.
static void espyCity_Building(espyiKit* kit, uint32_t i, uint32_t j, float* halfX, float* halfZ)
{
    static const uint32_t facades[5] = {0xC9B79Cu, 0xB9BDBEu, 0xA8978Au, 0xD8CDBBu, 0x8E9AA3u};
    *halfX = espyiKit_Step(kit, 5.0f, 6.5f, 0.25f);
    *halfZ = espyiKit_Step(kit, 5.0f, 6.5f, 0.25f);
    float height = espyiKit_Step(kit, 6.0f, 30.0f, 0.5f);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, facades[espyiKit_Below(kit, 5)]);
    espyiKit_Box(kit, -*halfX, 0.0f, -*halfZ, *halfX, height, *halfZ);
    if (height > 14.0f && espyiKit_Below(kit, 2) == 0)
    {
        float inset = espyiKit_Step(kit, 1.0f, 2.0f, 0.25f), top = height + espyiKit_Step(kit, 4.0f, 16.0f, 0.5f);
        espyiKit_Box(kit, inset - *halfX, height, inset - *halfZ, *halfX - inset, top, *halfZ - inset);
    }
    char name[48];
    snprintf(name, sizeof name, "Building %u %u", i, j);
    espyMat4 at = espyiKit_At(ESPY_BLOCK * ((float)i + 0.5f), 0.0f, ESPY_BLOCK * ((float)j + 0.5f));
    espyiKit_Place(kit, name, espyiKit_EndMesh(kit, name), at, ESPYI_KIT_BOTH);
}

/// Two things along each side of the building, between its front and the middle of the street.
static void espyCity_Props(espyiKit* kit, const espyiProp* props, uint32_t i, uint32_t j, float halfX, float halfZ)
{
    static const espyiPropKind kinds[6] = {espyiPropKind_Car,   espyiPropKind_StreetLamp, espyiPropKind_Bench,
                                           espyiPropKind_Kiosk, espyiPropKind_Bin,        espyiPropKind_StreetTree};
    char name[64];
    for (uint32_t p = 0; p < ESPY_PROPS_A_BLOCK; ++p)
    {
        const espyiProp* prop = &props[kinds[espyiKit_Below(kit, 6)] - espyiPropKind_Car];
        bool alongX = p < 4;
        float sign = (p & 2u) ? 1.0f : -1.0f;
        float front = alongX ? halfZ : halfX, reach = alongX ? halfX : halfZ;
        float out = espyiKit_Range(kit, front + 1.25f, ESPY_BLOCK * 0.5f - 1.25f) * sign;
        float along = espyiKit_Range(kit, 0.0f, reach - 2.25f) + 0.5f;
        along = (p & 1u) ? along + 0.75f : -along - 0.75f;
        float x = ESPY_BLOCK * ((float)i + 0.5f) + (alongX ? along : out);
        float z = ESPY_BLOCK * ((float)j + 0.5f) + (alongX ? out : along);
        snprintf(name, sizeof name, "%s %u %u %u", prop->name, i, j, p);
        espyMat4 at = espyiKit_AtTurned(x, 0.0f, z, alongX ? 0.0f : 0.25f, 1.0f);
        espyiKit_Place(kit, name, prop->mesh, at, ESPYI_KIT_PROP);
    }
}

espyResult espyScene_BuildCity(uint32_t size, uint64_t seed, espyWorld** out)
{
    *out = NULL;
    if (size > ESPY_SCENE_MAX_SIZE)
    {
        return espyResult_InvalidArgument;
    }
    uint32_t n = size == 0 ? espyScene_GetFullSize(espySceneKind_City) : size;
    float side = ESPY_BLOCK * (float)n;
    espyiKit kit;
    espyiKit_Begin(&kit, seed, 4.0f);
    espyiKit_Paint(&kit, espyMaterialClass_Opaque, 0x8B8D8Bu);
    espyiKit_Box(&kit, 0.0f, -1.0f, 0.0f, side, 0.0f, side);
    espyiKit_Place(&kit, "Ground", espyiKit_EndMesh(&kit, "Ground"), espyMat4_Identity(), ESPYI_KIT_SHELL);
    espyiProp props[espyiPropKind_StreetTree + 1 - espyiPropKind_Car];
    for (uint32_t p = 0; p < ESPYI_ARRAY_COUNT(props); ++p)
    {
        props[p] = espyiProp_Make(&kit, (espyiPropKind)(espyiPropKind_Car + p));
    }
    for (uint32_t j = 0; j < n; ++j)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            float halfX, halfZ;
            espyCity_Building(&kit, i, j, &halfX, &halfZ);
            espyCity_Props(&kit, props, i, j, halfX, halfZ);
        }
    }
    espyiKit_Area(&kit, "Streets", 0.0f, 0.0f, 0.0f, side, ESPY_STREET_HEIGHT, side);
    espyiKit_Camera(&kit, "Camera", (espyVec3){1.0f, 1.75f, 1.0f}, (espyVec3){side, 4.0f, side});
    return espyiKit_Finish(&kit, out);
}
