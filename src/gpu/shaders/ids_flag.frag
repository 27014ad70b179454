// SPDX-License-Identifier: MIT
// Mode Flag: a fragment that passed the depth test sets its tester's bit.
#version 450
#extension GL_GOOGLE_include_directive : require
#define FRAGMENT
#include "ids.glsl"

layout(early_fragment_tests) in;
layout(location = 0) flat in uint id;

void main()
{
    uint bit = 1u << (id & 31u);
    if ((flags.bits[id >> 5] & bit) == 0u)
    {
        atomicOr(flags.bits[id >> 5], bit);
    }
}
