// SPDX-License-Identifier: MIT
// Any-hit and closest-hit queries of segments against triangles, over our own bounding volume hierarchy.
//
// The answer of a query is a property of the triangles alone: the triangle test is one fixed sequence of float
// operations, box tests only ever reject what the triangle test would reject too, and "any" / "nearest, ties to the
// lowest triangle index" do not depend on order. So every instruction set, packet width and thread gives the same bits.
//
// Limits. A segment with a NaN, an infinite origin or direction, a coordinate beyond 2^36 m, or a direction whose
// longest component lies outside 2^-60..2^60 is not blocked and hits nothing; tMin and tMax may be infinite.
#ifndef ESPYI_BVH_H
#define ESPYI_BVH_H

#include <espy/mesh.h>

#include "core/core.h"
#include "core/poll.h"

/// Triangles with the object that each belongs to. Skipped at build: those with two equal corners, an index out of
/// range, or a coordinate that is not finite or beyond 2^36 m.
typedef struct espyiSoup
{
    espyTriangles triangles;
    const uint32_t* objects; ///< One a triangle; null: all 0.
} espyiSoup;

/// Points origin + t * direction for t in the open interval (tMin, tMax). Both sides of a triangle block; touching an
/// edge or vertex counts as a hit (watertight across shared edges).
typedef struct espyiSegment
{
    espyVec3 origin;
    float tMin;
    espyVec3 direction;
    float tMax;
} espyiSegment;

/// Objects [first, first + count) are ignored by a query.
typedef struct espyiSkip
{
    uint32_t first, count;
} espyiSkip;

typedef struct espyiHit
{
    float t;
    uint32_t triangle; ///< Index into the soup given at build.
    uint32_t object;
    bool backFace; ///< The segment came from behind: its direction has a positive dot product with the normal.
} espyiHit;

/// How much espyiBlockers holds.
#define ESPYI_BLOCKERS 8u

typedef struct espyiBvh espyiBvh;

/// Copies what it needs. An empty soup is valid and hits nothing. The tree is the same for any number of threads.
/// `poll` (may be null) is asked on the calling thread alone. Errors: InvalidArgument (null), LimitExceeded (more than
/// 2^28 triangles), OutOfMemory, Cancelled (by the poll). Thread: build.
espyResult espyiBvh_Build(const espyiSoup* soup, espyIsa isa, uint32_t threads, const espyHooks* hooks, espyiPoll* poll,
                          espyiBvh** out);
void espyiBvh_Destroy(espyiBvh* bvh);
size_t espyiBvh_GetBytes(const espyiBvh* bvh);

/// True where any triangle meets the open segment. Thread: any.
bool espyiBvh_Occluded(const espyiBvh* bvh, const espyiSegment* segment, espyiSkip skip);

/// The same for `count` segments at once (any count; coherent ones share work): bit i of `blocked` (whole words of 64)
/// is 1 where segment i is blocked. Thread: any.
void espyiBvh_OccludedMany(const espyiBvh* bvh, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                           uint64_t* blocked);

/// Leaves of a hierarchy that blocked earlier segments, the last one first. Starts as {0}.
typedef struct espyiBlockers
{
    uint32_t count;
    uint32_t leaves[ESPYI_BLOCKERS];
} espyiBlockers;

/// The same answers as espyiBvh_OccludedMany, for a caller that goes on asking about segments near one another: what
/// blocked the last ones is tried first on each. Thread: one a `blockers`.
void espyiBvh_OccludedAgain(const espyiBvh* bvh, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                            espyiBlockers* blockers, uint64_t* blocked);

/// Nearest hit; false and *out untouched where there is none. Thread: any.
bool espyiBvh_Closest(const espyiBvh* bvh, const espyiSegment* segment, espyiSkip skip, espyiHit* out);

/// The same for many segments (any count): where segment i hits nothing, out[i].triangle is UINT32_MAX and out[i].t is
/// -1 (with a negative tMin look at the triangle, since t may then be negative too). Thread: any.
void espyiBvh_ClosestMany(const espyiBvh* bvh, const espyiSegment* segments, uint32_t count, espyiSkip skip,
                          espyiHit* out);

#endif
