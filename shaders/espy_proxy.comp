// SPDX-License-Identifier: MIT
// The proxy pass as a compute shader for Vulkan: reads depth, normal and albedo, darkens the lit image in place
// (ESPY_LIT rgba16f or rgba32f), or writes the visibility alone (ESPY_LIT not defined: r32f). espy-gpu runs it
// (proxy_vulkan.h), after espy_proxy_measure.comp where the light of an unshadowed surface is not known.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "espy_capsule.glsl"
#include "espy_proxy_light.glsl"
#include "espy_proxy_frame.glsl"
#include "espy_proxy_types.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

#define ESPY_ENTRY(i) entries.data[i]
#define ESPY_NODE(i) nodes.data[i]
#define ESPY_INDEX(i) indices.data[i]
#define ESPY_LEAF(i) leaves.data[i]
#define ESPY_LEVEL_START(l) frame.levelStart[l]
#define ESPY_LEVEL_COUNT(l) frame.levelCount[l]

layout(std430, binding = 1) readonly buffer EspyEntries
{
    EspyEntry data[];
}
entries;
layout(std430, binding = 2) readonly buffer EspyNodes
{
    EspyNode data[];
}
nodes;
layout(std430, binding = 3) readonly buffer EspyLeaves
{
    uint data[];
}
leaves;
layout(std430, binding = 4) readonly buffer EspyTiles
{
    uint data[];
}
tiles;
layout(std430, binding = 5) readonly buffer EspyGroups
{
    uvec2 data[];
}
groups;
layout(std430, binding = 6) readonly buffer EspyIndices
{
    uint data[];
}
indices;
/// Four bytes a word.
layout(std430, binding = 7) readonly buffer EspyPixels
{
    uint data[];
}
pixels;
layout(std430, binding = 8) readonly buffer EspyOwners
{
    uint data[];
}
owners;
#include "espy_proxy.glsl"

float espySurvives(ivec2 at, EspyReceiver r)
{
    if (ESPY_FRAME_IS(ESPY_FRAME_LISTS))
    {
        uint pixel = uint(at.y) * frame.width + uint(at.x);
        uint inTile = (pixels.data[pixel >> 2] >> (8u * (pixel & 3u))) & 255u;
        if (inTile == 255u)
        {
            return 1.0f;
        }
        uint group = tiles.data[uint(at.y) / 16u * frame.tilesX + uint(at.x) / 16u] + inTile;
        return espySurvivesListed(groups.data[group].x, groups.data[group].y, groups.data[group + 1u].x, r);
    }
    if (ESPY_FRAME_IS(ESPY_FRAME_TREE))
    {
        return espySurvivesTree(frame.levels, frame.detail, r);
    }
    return espySurvivesAll(frame.entryCount, r);
}

float espyVisibility(ivec2 at)
{
    float depth = texelFetch(depthImage, at, 0).x;
    if (!espyAreFinite(vec3(depth)) || depth < 0.0f || depth > 1.0f || depth == frame.background)
    {
        return 1.0f;
    }
    vec2 clip = (vec2(at) + 0.5f) * 2.0f / vec2(float(frame.width), float(frame.height));
    vec4 place = frame.fromDepth * vec4(clip.x - 1.0f, 1.0f - clip.y, depth, 1.0f);
    EspyReceiver r;
    r.p = place.xyz / place.w;
    float away2 = dot(r.p, r.p);
    if (!espyAreFinite(r.p) || away2 > 1e16f)
    {
        return 1.0f;
    }
    float fade = espyFade(sqrt(away2), frame.minDistance, frame.maxDistance);
    if (fade <= 0.0f)
    {
        return 1.0f;
    }
    vec3 n = ESPY_FRAME_IS(ESPY_FRAME_NORMAL) ? texelFetch(normalImage, at, 0).xyz : vec3(0.0f);
    float size = dot(n, n);
    r.bare = !espyAreFinite(n) || size <= 0.25f || size >= 4.0f;
    r.n = r.bare ? vec3(0.0f) : n / sqrt(size);
    r.owner = ESPY_FRAME_IS(ESPY_FRAME_OWNER) ? float(owners.data[uint(at.y) * frame.width + uint(at.x)]) : 0.0f;
    r.solid = ESPY_FRAME_IS(ESPY_FRAME_SOLID);
    return 1.0f - frame.intensity * fade * espyHidden(espySurvives(at, r), frame.power);
}

void main()
{
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    if (at.x >= int(frame.width) || at.y >= int(frame.height))
    {
        return;
    }
    float visibility = espyVisibility(at);
#ifdef ESPY_LIT
    if (visibility >= 1.0f)
    {
        return;
    }
    vec4 lit = imageLoad(outImage, at);
    if (!espyAreFinite(lit.xyz))
    {
        return;
    }
    float scale = visibility;
    if (ESPY_FRAME_IS(ESPY_FRAME_ESTIMATE))
    {
        float reference = ESPY_FRAME_IS(ESPY_FRAME_MEASURED) ? measured.reference : frame.reference;
        float weight = espyLightWeight(espyLightAt(at, lit.xyz), reference);
        scale = weight > 0.0f ? 1.0f - (1.0f - visibility) * weight : 1.0f;
    }
    if (scale != 1.0f)
    {
        imageStore(outImage, at, vec4(lit.xyz * scale, lit.w));
    }
#else
    imageStore(outImage, at, vec4(visibility, 0.0f, 0.0f, 0.0f));
#endif
}
