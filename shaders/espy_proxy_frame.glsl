// SPDX-License-Identifier: MIT
// What both shaders of the pass on Vulkan bind: an image's numbers, the images, and the light that was measured.

const uint ESPY_FRAME_NORMAL = 1u;
const uint ESPY_FRAME_EMISSIVE = 2u;
const uint ESPY_FRAME_METAL = 4u;
const uint ESPY_FRAME_OWNER = 8u;
const uint ESPY_FRAME_SOLID = 16u;
const uint ESPY_FRAME_ESTIMATE = 32u;
const uint ESPY_FRAME_LISTS = 64u;
const uint ESPY_FRAME_TREE = 128u;
const uint ESPY_FRAME_MEASURED = 256u;

layout(std430, binding = 0) readonly buffer EspyFrame
{
    mat4 fromDepth;
    float background, intensity, power, minDistance;
    float maxDistance, detail, reference; // light of an unshadowed surface, where it is known
    uint flags;
    uint width, height, tilesX, entryCount;
    uint levels;
    uint levelStart[12];
    uint levelCount[12];
    float keep; // of the last image's measured light
}
frame;
#define ESPY_FRAME_IS(flag) ((frame.flags & (flag)) != 0u)

layout(binding = 9) uniform texture2D depthImage;
layout(binding = 10) uniform texture2D normalImage;
layout(binding = 11) uniform texture2D albedoImage;
layout(binding = 12) uniform texture2D emissiveImage;
#ifdef ESPY_LIT
layout(binding = 13, ESPY_LIT) uniform image2D outImage;
#else
layout(binding = 13, r32f) writeonly uniform image2D outImage;
#endif

/// Counts by quarter octaves from 2^-16, and sums of where in its bin each light lies, in two parts of eight bits.
layout(std430, binding = 14) buffer EspyMeasured
{
    float reference; // eased; 0: none yet
    uint counts[128];
    uint highs[128];
    uint lows[128];
}
measured;

/// By bits: compilers may take for granted that there are no others.
bool espyAreFinite(vec3 v)
{
    return all(notEqual(floatBitsToUint(v) & 0x7F800000u, uvec3(0x7F800000u)));
}

#ifdef ESPY_LIT
vec2 espyLightAt(ivec2 at, vec3 lit)
{
    vec4 albedo = texelFetch(albedoImage, at, 0);
    vec3 emissive = ESPY_FRAME_IS(ESPY_FRAME_EMISSIVE) ? texelFetch(emissiveImage, at, 0).xyz : vec3(0.0f);
    return espyLight(lit, emissive, albedo.xyz, ESPY_FRAME_IS(ESPY_FRAME_METAL) ? albedo.w : 0.0f);
}
#endif
