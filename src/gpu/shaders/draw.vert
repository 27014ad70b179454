// SPDX-License-Identifier: MIT
// Vertices of all draws.
#version 450

layout(location = 0) in vec3 position;
// One an instance: mesh to clip, columns; the id.
layout(location = 1) in mat4 clip;
layout(location = 5) in uint drawId;

layout(location = 0) flat out uint id;

// The same bits in every pass, and the sums in the order of the software rasteriser.
invariant gl_Position;

void main()
{
    precise vec4 p = ((clip[0] * position.x + clip[1] * position.y) + clip[2] * position.z) + clip[3];
    gl_Position = p;
    id = drawId;
}
