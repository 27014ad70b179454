// SPDX-License-Identifier: MIT
// What the shaders of ids share: where testers leave them, and which pixel a fragment is.
// One bit an id, of mode Flag.
layout(set = 0, binding = 0) buffer Flags
{
    uint bits[];
} flags;
// The key of the nearest tester of each pixel; 0: none.
layout(set = 0, binding = 1) buffer Nearest
{
    uint keys[];
} nearest;
// Its id; NO_ID: none.
layout(set = 0, binding = 2) buffer Ids
{
    uint ids[];
} pixels;
// What readIds reads: one bit an id, of both modes.
layout(set = 0, binding = 3) buffer Resolved
{
    uint bits[];
} resolved;

layout(push_constant) uniform Screen
{
    uint width;
    uint firstPixel; // Of the eye.
    uint reversedZ;
    uint pixelCount; // Of both eyes.
} screen;

#define NO_ID 0xFFFFFFFFu

#ifdef FRAGMENT
uint espyPixel()
{
    return screen.firstPixel + uint(gl_FragCoord.y) * screen.width + uint(gl_FragCoord.x);
}

// Greater is nearer, never 0. Bits of floats that are not negative are ordered as the floats.
uint espyKey()
{
    uint bits = floatBitsToUint(clamp(gl_FragCoord.z, 0.0, 1.0));
    return screen.reversedZ != 0u ? bits + 1u : NO_ID - bits;
}
#endif
