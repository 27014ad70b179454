// SPDX-License-Identifier: MIT
// A capsule in the form that the term wants: one end, a unit axis, a length.
#ifndef ESPYI_CAPSULE_PACK_H
#define ESPYI_CAPSULE_PACK_H

#include <espy/proxy.h>

typedef struct espyiCapsulePack
{
    float ax, ay, az, ux, uy, uz;
    float length, radiusA, radiusB, taper, flat;
} espyiCapsulePack;

/// Relative to `origin`. Where one ball holds the other, only that ball is left.
espyiCapsulePack espyiCapsule_Pack(const espyCapsule* capsule, espyVec3 origin);

/// True where `n` can serve as a normal: finite, length between a half and two.
bool espyiCapsule_IsNormal(espyVec3 n);

#endif
