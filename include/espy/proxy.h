// SPDX-License-Identifier: MIT
// Proxy occlusion: capsules that stand in for the bulk of things, and how much of a surface's surroundings they block.
// Evaluated in closed form instead of from a depth map, so that it works at any distance.
//
// Three layers, each usable without the next:
//   espyCapsule_...     one capsule seen from one point; pure functions of their arguments
//   espyProxySet_...    a registry of capsules by name, with the settings of the effect
//   espyProxyPass_...   an image pass over depth, normal, albedo and lit colour
//
// Occlusion F is the share of the cosine-weighted hemisphere around a normal that a capsule blocks, in [0, 1]. What
// survives several proxies is the product of what survives each.
//
// Limits of single precision: coordinates relative to the receiver (the pass does this); radii 1e-6 .. 1e8 m, lengths up
// to 1e8 m; errors below 5e-5 where no length exceeds 50 radii. docs/proxy.md derives everything.
#ifndef ESPY_PROXY_H
#define ESPY_PROXY_H

#include <espy/math.h>

// --- one capsule

/// A round cone with round ends: the hull of two balls. Equal radii: a capsule. a = b: a ball.
typedef struct espyCapsule
{
    espyVec3 a, b;
    float radiusA, radiusB; ///< Metres, 1e-6 or more.
} espyCapsule;

/// What a receiver inside a capsule gets.
typedef enum espyCapsuleInside
{
    espyCapsuleInside_Continuous = 0, ///< The value at the surface, growing to 1 on the axis: no edge, no black disc.
    espyCapsuleInside_Solid,          ///< 1.
} espyCapsuleInside;

/// Share of the cosine-weighted hemisphere around `normal` (unit) that the capsule blocks from `point`, [0, 1]. A zero
/// normal or one that is not finite counts as none: the share of the whole sphere. Cost: 3 arc tangents, 9 where the
/// horizon cuts the capsule. Thread: any.
ESPY_API float espyCapsule_Occlusion(const espyCapsule* capsule, espyVec3 point, espyVec3 normal,
                                     espyCapsuleInside inside);

/// Solid angle of the capsule from `point`, steradians: 0 .. 2 pi outside, growing to 4 pi on the axis. Thread: any.
ESPY_API float espyCapsule_SolidAngle(const espyCapsule* capsule, espyVec3 point);

/// The part of the solid angle above the horizon of `normal` (unit), steradians, [0, 2 pi]. Thread: any.
ESPY_API float espyCapsule_SolidAngleAbove(const espyCapsule* capsule, espyVec3 point, espyVec3 normal);

/// Mean blocked direction above the horizon, weighted: the integral of w dw / pi. Its product with `normal` is the
/// occlusion; normal - sum(strength * this) is the direction that stays open (a "bent normal"). With a zero normal the
/// whole capsule counts. Zero inside. Thread: any.
ESPY_API espyVec3 espyCapsule_BlockedDirection(const espyCapsule* capsule, espyVec3 point, espyVec3 normal);

/// Share of a wide light (radiance falling as the cosine from its axis) that the capsule hides; `toLight` is a unit
/// vector. Exact. Thread: any.
ESPY_API float espyCapsule_CosineLight(const espyCapsule* capsule, espyVec3 point, espyVec3 toLight);

/// Share of a round light of even radiance that the capsule hides, [0, 1]: the sun, a sky opening. `halfAngle` is in
/// radians, 0.001 .. 1.57 (clamped). Exact. Inside: 1. Thread: any.
ESPY_API float espyCapsule_ConeLight(const espyCapsule* capsule, espyVec3 point, espyVec3 toLight, float halfAngle);

/// Upper bound of the occlusion for any normal: min(1, r/d, (r^2 + 2 r L / pi) / d^2) with d to the axis; r the larger
/// radius. Cheap, tight for balls and for very long capsules. Thread: any.
ESPY_API float espyCapsule_Bound(const espyCapsule* capsule, espyVec3 point);

/// Distance from the axis beyond which the occlusion is below `threshold` (0 < threshold < 1) for any normal, metres.
/// Thread: any.
ESPY_API float espyCapsule_Reach(const espyCapsule* capsule, float threshold);

#endif
