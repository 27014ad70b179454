// SPDX-License-Identifier: MIT
// The light of an unshadowed surface, measured before the pass on Vulkan: what 95 % of every second pixel of every second
// row do not exceed. Two dispatches: ESPY_RESOLVE not defined counts, one group of 16 x 16 for 32 x 32 pixels; defined,
// one group turns the counts into the light, eased, and clears them.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

layout(local_size_x = 16, local_size_y = 16) in;

#include "espy_proxy_light.glsl"
#include "espy_proxy_frame.glsl"

#ifndef ESPY_RESOLVE

shared uint counts[128];
shared uint highs[128];
shared uint lows[128];

void espyCount(ivec2 at)
{
    float depth = texelFetch(depthImage, at, 0).x;
    vec3 lit = imageLoad(outImage, at).xyz;
    if (!espyAreFinite(vec3(depth)) || depth < 0.0f || depth > 1.0f || depth == frame.background || !espyAreFinite(lit))
    {
        return;
    }
    vec2 light = espyLightAt(at, lit);
    if (light.y > 0.5f && light.x > 0.0f && light.x < 3e38f)
    {
        // A float's upper bits are its quarter octave; the first one starts at 2^-16.
        uint bits = floatBitsToUint(light.x);
        uint bin = bits >> 21;
        bin = bin < 444u ? 0u : min(bin - 444u, 127u);
        atomicAdd(counts[bin], 1u);
        atomicAdd(highs[bin], bits >> 13 & 255u);
        atomicAdd(lows[bin], bits >> 5 & 255u);
    }
}

void main()
{
    uint i = gl_LocalInvocationIndex;
    if (i < 128u)
    {
        counts[i] = 0u;
        highs[i] = 0u;
        lows[i] = 0u;
    }
    barrier();
    ivec2 at = 2 * ivec2(gl_GlobalInvocationID.xy);
    if (at.x < int(frame.width) && at.y < int(frame.height))
    {
        espyCount(at);
    }
    barrier();
    if (i < 128u && counts[i] > 0u)
    {
        atomicAdd(measured.counts[i], counts[i]);
        atomicAdd(measured.highs[i], highs[i]);
        atomicAdd(measured.lows[i], lows[i]);
    }
}

#else

void main()
{
    if (gl_LocalInvocationIndex != 0u)
    {
        return;
    }
    uint total = 0u;
    for (uint i = 0u; i < 128u; ++i)
    {
        total += measured.counts[i];
    }
    uint goal = total - total / 20u;
    uint below = 0u;
    float now = 0.0f;
    for (uint i = 0u; i < 128u; ++i)
    {
        uint count = measured.counts[i];
        below += count;
        if (count > 0u && below >= goal && now == 0.0f)
        {
            // The mean of the bin: its place in units of 2^-8, then of 2^-16.
            float part = (float(measured.highs[i]) + float(measured.lows[i]) / 256.0f) / float(count);
            now = uintBitsToFloat(((i + 444u) << 21) + uint(part * 8192.0f));
        }
        measured.counts[i] = 0u;
        measured.highs[i] = 0u;
        measured.lows[i] = 0u;
    }
    if (now > 0.0f)
    {
        float last = measured.reference;
        measured.reference = last > 0.0f ? now + (last - now) * frame.keep : now;
    }
}

#endif
