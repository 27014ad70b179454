// SPDX-License-Identifier: MIT
// Which ids any pixel has: their bits are added to those of mode Flag.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "ids.glsl"

layout(local_size_x = 64) in;

void main()
{
    // Work groups in two directions: one has too few for large targets.
    uint pixel = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
    uint id = pixel < screen.pixelCount ? pixels.ids[pixel] : NO_ID;
    if (id != NO_ID && (resolved.bits[id >> 5] & 1u << (id & 31u)) == 0u)
    {
        atomicOr(resolved.bits[id >> 5], 1u << (id & 31u));
    }
}
