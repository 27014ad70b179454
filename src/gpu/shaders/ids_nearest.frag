// SPDX-License-Identifier: MIT
// Mode Index, first half: the nearest key of each pixel. Whoever brings a nearer one forgets the id that was there.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FRAGMENT
#include "ids.glsl"

layout(early_fragment_tests) in;
layout(location = 0) flat in uint id;

void main()
{
    uint pixel = espyPixel(), key = espyKey();
    if (atomicMax(nearest.keys[pixel], key) < key)
    {
        pixels.ids[pixel] = NO_ID;
    }
}
