// SPDX-License-Identifier: MIT
// What the builder, the portal maker and the prover share about free space. Not a seam: only those three include it.
#ifndef ESPYI_FREESPACE_INTERNAL_H
#define ESPYI_FREESPACE_INTERNAL_H

#include "bake/freespace.h"
#include "bake/keyed_sort.h"

/// Portal and window sides move outwards, covers grow, and shafts shrink by about a nanometre, each more than the
/// rounding of what it absorbs: overlap < cover growth, so that covers that meet leave nothing open between them.
/// docs/notes/proof.md, "Tolerances".
#define ESPYI_WINDOW_OVERLAP 1e-9
#define ESPYI_COVER_GROWTH 4e-9
#define ESPYI_SHAFT_SHRINK 1e-9

/// Points x with dot(n, x) = w; n has unit length. `drop` is the axis of the largest |n|: the plane is drawn in 2-D by
/// leaving that coordinate out.
typedef struct espyiPlaneD
{
    double n[3], w;
    uint32_t drop;
    uint32_t axial; ///< 1 + axis where the normal is exactly +-1 on that axis, else 0.
} espyiPlaneD;

/// Convex polygon of the input, or a piece of one, in a pool of points.
typedef struct espyiPolygonD
{
    uint32_t first, count;
    uint32_t plane; ///< The polygon whose plane this piece is on by definition.
    double step;    ///< Of 32-bit floats as large as its coordinates.
    double snap;    ///< How far its points may be moved onto other planes.
    double moved;   ///< How far they were.
    double center[3], half[3];
} espyiPolygonD;

typedef struct espyiPolygonSet
{
    espyiPolygonD* polygons;
    espyiPlaneD* planes; ///< One a polygon.
    double (*points)[3];
    size_t polygonCount, pointCount, polygonCapacity, pointCapacity;
} espyiPolygonSet;

/// Children: >= 0 a node, < 0 the leaf ~child. Child 0 is in front (dot(n, x) > w).
typedef struct espyiNode
{
    espyiPlaneD plane;
    int32_t child[2];
    int32_t parent;                  ///< -1: root.
    uint32_t side;                   ///< Which child of the parent it is.
    uint32_t coverFirst, coverCount; ///< Pieces of polygons that lie in its plane, in the builder's list.
} espyiNode;

/// Offsets of portal points fit 27 bits.
#define ESPYI_MAX_PORTAL_POINTS ((size_t)1 << 27)

/// One way out of a leaf. 32 bytes, two a cache line: a flood reads these in order.
typedef struct espyiPortalRef
{
    float min[3], max[3]; ///< Rounded outwards.
    uint32_t leaf;        ///< Where it leads.
    uint32_t first : 27;  ///< Of its points.
    uint32_t count : 5;
} espyiPortalRef;

struct espyiFreeSpace
{
    espyHooks hooks;
    espyiBoxD world;
    double rounding; ///< Bound on the error of a plane evaluated at a point of the world.
    espyiNode* nodes;
    uint32_t nodeCount, leafCount; ///< No node: one leaf, the world.
    espyiBoxD* leafBoxes;          ///< Each holds its leaf.
    int32_t* leafParents;          ///< Node above the leaf; -1 where the leaf is the world.
    uint32_t* leafFirst;           ///< leafCount + 1 offsets into refs.
    espyiPortalRef* refs;
    double (*points)[3]; ///< Of the portals.
    size_t pointCount, refCount;
    espyiFreeSpaceStats stats;
};

static inline double espyiPlane_At(const espyiPlaneD* plane, const double p[3])
{
    return plane->n[0] * p[0] + plane->n[1] * p[1] + plane->n[2] * p[2] - plane->w;
}

/// Collects convex polygons: drops what is degenerate or outside the world, joins coplanar neighbours, keeps the
/// biggest maxPolygons, biggest first.
espyResult espyiPolygons_Gather(const espyiSoup* soup, espyiBoxD world, const espyiFreeSpaceDef* def,
                                espyiPolygonSet* set, uint32_t* dropped);
void espyiPolygons_Free(espyiPolygonSet* set, const espyHooks* hooks);
/// Bounds of the points of a piece.
void espyiPolygon_Bound(espyiPolygonD* polygon, const double (*points)[3]);

/// Fills leafBoxes, refs and points from the nodes. `pieces` and `covers` are the builder's. Errors: LimitExceeded
/// (more than maxPortals openings), OutOfMemory, Cancelled; what was filled stays for the caller to free.
espyResult espyiPortals_Build(espyiFreeSpace* space, const espyiPolygonSet* pieces, const uint32_t* covers,
                              const espyiFreeSpaceDef* def, size_t maxPortals);

#endif
