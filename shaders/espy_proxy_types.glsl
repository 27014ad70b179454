// SPDX-License-Identifier: MIT
// What the library's lists for shaders hold (espyProxyEntry, espyProxySource, espyProxyNode of proxy.h), word by word, so
// that a buffer with layout std430 takes them as they are.

struct EspyEntry
{
    float ax, ay, az, ux, uy, uz;
    float span, radiusA, radiusB, taper, level;
    float strength, selfStrength, owner;
    uint record, flags;
};

struct EspySource
{
    float x, y, z, area;
    float txx, tyy, tzz, txy, txz, tyz;
    float wideX, wideY, wideZ;
};

struct EspyNode
{
    float minX, minY, minZ, maxX, maxY, maxZ;
    float radius, size;
    EspySource source;
};

#define ESPY_BALL 1u
#define ESPY_TAPERED 2u
#define ESPY_JOINT_A 4u
#define ESPY_JOINT_B 8u
#define ESPY_PIECE 16u
