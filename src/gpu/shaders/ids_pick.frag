// SPDX-License-Identifier: MIT
// Mode Index, second half: of the testers with the nearest key the one with the lowest id stays.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FRAGMENT
#include "ids.glsl"

layout(early_fragment_tests) in;
layout(location = 0) flat in uint id;

void main()
{
    uint pixel = espyPixel();
    if (nearest.keys[pixel] == espyKey())
    {
        atomicMin(pixels.ids[pixel], id);
    }
}
