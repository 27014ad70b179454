// SPDX-License-Identifier: MIT
// Vertices of all draws. Compiled with LAYERS 1 and 2; the second takes a matrix an eye.
#version 450
#if LAYERS > 1
#extension GL_EXT_multiview : require
#endif

layout(location = 0) in vec3 position;
// One an instance: mesh to clip, columns, for each eye; the id.
layout(location = 1) in mat4 clip0;
layout(location = 5) in mat4 clip1;
layout(location = 9) in uint drawId;

layout(location = 0) flat out uint id;

// The same bits in every pass, and the sums in the order of the software rasteriser.
invariant gl_Position;

void main()
{
#if LAYERS > 1
    mat4 m = gl_ViewIndex == 0 ? clip0 : clip1;
#else
    mat4 m = clip0;
#endif
    precise vec4 p = ((m[0] * position.x + m[1] * position.y) + m[2] * position.z) + m[3];
    gl_Position = p;
    id = drawId;
}
