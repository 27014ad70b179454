// SPDX-License-Identifier: MIT
// Capsules in the form that the term wants (espyCapsulePack).
#ifndef ESPYI_CAPSULE_PACK_H
#define ESPYI_CAPSULE_PACK_H

#include <espy/proxy.h>

/// Relative to `origin`. Where one ball holds the other, only that ball is left.
espyCapsulePack espyiCapsule_Pack(const espyCapsule* capsule, espyVec3 origin);

/// True where `n` can serve as a normal: finite, length between a half and two.
bool espyiCapsule_IsNormal(espyVec3 n);

#endif
