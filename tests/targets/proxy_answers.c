// SPDX-License-Identifier: MIT
#include "image_answers.h"

#include <espy/proxy.h>

enum
{
    espyTarget_Width = 93,
    espyTarget_Height = 61,
    espyTarget_Pixels = espyTarget_Width * espyTarget_Height
};

/// A floor 2 m below the eye, and a wall 12 m ahead.
typedef struct espyTargetImage
{
    float depth[espyTarget_Pixels], normal[3 * espyTarget_Pixels], lit[3 * espyTarget_Pixels];
    float albedo[3 * espyTarget_Pixels], visibility[espyTarget_Pixels];
    uint32_t owner[espyTarget_Pixels];
} espyTargetImage;

static uint64_t espyTarget_Random(uint64_t* state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 40;
}

static float espyTarget_Range(uint64_t* state, float low, float high)
{
    return low + (high - low) * ((float)(int32_t)espyTarget_Random(state) / 16777216.0f);
}

static void espyTarget_Render(espyTargetImage* image)
{
    uint64_t random = 3;
    for (uint32_t i = 0; i < espyTarget_Pixels; ++i)
    {
        float y = 1.0f - ((float)(i / espyTarget_Width) + 0.5f) * (2.0f / espyTarget_Height);
        bool floor = y < -2.0f / 12.0f;
        // Reversed, without a far plane: near / distance. Some of the sky shows.
        image->depth[i] = i % 31u == 0 ? 0.0f : 0.1f / (floor ? 2.0f / -y : 12.0f);
        image->normal[3 * i] = floor ? 0.28f : 0.0f;
        image->normal[3 * i + 1] = floor ? 0.96f : 0.0f;
        image->normal[3 * i + 2] = i % 7u == 0 || floor ? 0.0f : 1.0f;
        image->owner[i] = i % 5u;
        for (uint32_t k = 0; k < 3u; ++k)
        {
            image->albedo[3 * i + k] = espyTarget_Range(&random, 0.0f, 0.9f);
            image->lit[3 * i + k] = image->albedo[3 * i + k] * espyTarget_Range(&random, 0.1f, 2.0f);
        }
    }
}

/// Capsules, balls and round cones, beside, below and around the surfaces; limbs of groups; long ones.
static bool espyTarget_Fill(espyProxySet* set, uint32_t count)
{
    uint64_t random = 5;
    for (uint32_t i = 0; i < count; ++i)
    {
        espyProxyDef def = espyProxyDef_Default();
        def.a.x = espyTarget_Range(&random, -9.0f, 9.0f);
        def.a.y = espyTarget_Range(&random, -2.5f, 1.0f);
        def.a.z = espyTarget_Range(&random, -14.0f, -1.0f);
        float reach = i % 20u == 0 ? 30.0f : 1.2f;
        def.b.x = def.a.x + espyTarget_Range(&random, -reach, reach);
        def.b.y = def.a.y + espyTarget_Range(&random, -reach, reach);
        def.b.z = def.a.z + espyTarget_Range(&random, -reach, reach);
        def.hasB = i % 4u != 0;
        def.radius = espyTarget_Range(&random, 0.05f, 0.4f);
        def.radiusB = i % 3u == 0 ? espyTarget_Range(&random, 0.05f, 0.4f) : 0.0f;
        def.strength = espyTarget_Range(&random, 0.3f, 1.0f);
        def.group = i % 6u == 1u ? 1u + i / 24u : 0u;
        def.owner = i % 5u;
        def.selfStrength = 0.25f;
        if (espyProxySet_SetId(set, i, &def, NULL) != espyResult_Ok)
        {
            return false;
        }
    }
    return true;
}

static void espyTarget_AddFloats(uint64_t* hash, const float* values, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        union
        {
            float value;
            uint32_t bits;
        } same = {values[i]};
        uint64_t h = (*hash ^ same.bits) * 0x9E3779B97F4A7C15u;
        *hash = h ^ (h >> 29);
    }
}

static bool espyTarget_Apply(espyProxySet* set, espyProxyPass* pass, espyTargetImages* out)
{
    // Not on the stack, which is small on some machines.
    static espyTargetImage image;
    espyProxyView view = espyProxyView_Default();
    view.reversedDepth = true;
    view.projection = (espyMat4){{0}};
    view.projection.m[0] = (float)espyTarget_Height / (float)espyTarget_Width;
    view.projection.m[5] = 1.0f;
    view.projection.m[11] = -1.0f;
    view.projection.m[14] = 0.1f;
    espyProxyImage planes = {.width = espyTarget_Width, .height = espyTarget_Height, .owner = image.owner};
    planes.depth = (espyProxyPlane){image.depth, 1, espyTarget_Width};
    planes.normal = (espyProxyPlane){image.normal, 3, (size_t)3 * espyTarget_Width};
    planes.lit = (espyProxyPlane){image.lit, 3, (size_t)3 * espyTarget_Width};
    planes.albedo = (espyProxyPlane){image.albedo, 3, (size_t)3 * espyTarget_Width};
    planes.visibility = (espyProxyPlane){image.visibility, 1, espyTarget_Width};
    espyTarget_Render(&image);
    if (espyProxyPass_Reserve(pass, set) != espyResult_Ok ||
        espyProxyPass_Apply(pass, set, &view, &planes) != espyResult_Ok)
    {
        return false;
    }
    for (uint32_t i = 0; i < espyTarget_Pixels; ++i)
    {
        out->dark += image.visibility[i] < 0.9f ? 1u : 0u;
    }
    espyTarget_AddFloats(&out->hash, image.visibility, espyTarget_Pixels);
    espyTarget_AddFloats(&out->hash, image.lit, 3u * espyTarget_Pixels);
    return true;
}

static bool espyTarget_Draw(espyProxyTechnique technique, espyProxyPass* pass, espyTargetImages* out)
{
    bool loop = technique == espyProxyTechnique_Loop;
    espyProxySetDef def = espyProxySetDef_Default();
    def.technique = technique;
    def.limit = loop ? ESPY_PROXY_LOOP_LIMIT : 400u;
    espyProxySet* set = NULL;
    bool drawn = espyProxySet_Create(&def, &set) == espyResult_Ok && espyTarget_Fill(set, loop ? 50u : 400u);
    if (drawn)
    {
        espyProxySettings settings = espyProxySettings_Default();
        settings.inside = loop ? espyCapsuleInside_Continuous : espyCapsuleInside_Solid;
        settings.power = 1.5f;
        settings.maxDistance = 30.0f;
        drawn = espyProxySet_Configure(set, &settings, NULL) == espyResult_Ok && espyTarget_Apply(set, pass, out);
    }
    espyProxySet_Destroy(set);
    return drawn;
}

espyTargetImages espyTargetImages_Draw(espyIsa cap)
{
    espyTargetImages out = {.isa = espyIsa_Detect(cap)};
    espyProxyPassDef def = espyProxyPassDef_Default();
    def.isa = cap;
    espyProxyPass* pass = NULL;
    if (espyProxyPass_Create(&def, &pass) != espyResult_Ok)
    {
        return out;
    }
    bool loop = espyTarget_Draw(espyProxyTechnique_Loop, pass, &out);
    bool clusters = espyTarget_Draw(espyProxyTechnique_Clusters, pass, &out);
    out.succeeded = loop && clusters;
    espyProxyPass_Destroy(pass);
    return out;
}
