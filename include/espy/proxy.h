// SPDX-License-Identifier: MIT
// Proxy occlusion: capsules that stand in for the bulk of things, and how much of a surface's surroundings they block.
// Evaluated in closed form instead of from a depth map, so that it works at any distance.
//
// Three layers, each usable without the next:
//   espyCapsule_...     one capsule seen from one point; pure functions of their arguments
//   espyProxySet_...    a registry of capsules by name, with the settings of the effect
//   espyProxyPass_...   an image pass over depth, normal, albedo and lit colour, and lists for passes of one's own
//
// Occlusion F is the share of the cosine-weighted hemisphere around a normal that a capsule blocks, in [0, 1]. What
// survives several proxies is the product of what survives each.
//
// Limits of single precision: coordinates relative to the receiver (the pass does this); radii 1e-6 .. 1e8 m, lengths
// up to 1e8 m; errors below 5e-5 where no length exceeds 50 radii. docs/proxy.md derives everything.
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

// --- registry

/// Most proxies of a set that uses the plain loop.
#define ESPY_PROXY_LOOP_LIMIT 64u
/// Most proxies of a set that uses clusters.
#define ESPY_PROXY_CLUSTER_LIMIT 65536u
/// Longest key, bytes without the end.
#define ESPY_PROXY_KEY_LIMIT 255u
/// Largest group for which joints are looked for; members of larger ones multiply plainly.
#define ESPY_PROXY_GROUP_LIMIT 64u
/// Owner ids are 1 .. this.
#define ESPY_PROXY_OWNER_LIMIT 16777215u

/// How many proxies meet a pixel.
typedef enum espyProxyTechnique
{
    /// Every proxy for every pixel, exactly. Honest up to 64.
    espyProxyTechnique_Loop = 0,
    /// Near proxies exactly, the rest as a sum over a tree. For thousands.
    espyProxyTechnique_Clusters,
} espyProxyTechnique;

/// One proxy. Values out of range are refused or clamped, and the field is named.
typedef struct espyProxyDef
{
    espyVec3 a;         ///< One end, world space, metres. Default 0.
    espyVec3 b;         ///< The other end, where hasB. Default 0.
    bool hasB;          ///< Default false: a ball around a.
    float radius;       ///< Metres, 1e-6 .. 1e8; 0 removes the proxy. Default 0.5.
    float radiusB;      ///< Metres, radius at b; 0 (default): as `radius`.
    float strength;     ///< How strongly it occludes, clamped to [0, 1]. Default 1.
    uint32_t group;     ///< Proxies of one group are limbs of one thing: joints count once. 0 (default): none.
    uint32_t viewMask;  ///< Seen by views that share a bit. Default all.
    uint32_t owner;     ///< What it stands for; compared with the image's owner plane. 0 (default): nothing.
    float selfStrength; ///< Factor on strength for pixels of its own owner, clamped to [0, 1]. Default 1; 0 skips.
    uint32_t cookie;
} espyProxyDef;

/// What the pass does with a lit colour.
typedef enum espyProxyMode
{
    /// The lit buffer holds everything: its light is estimated, and the occlusion scaled by it (docs/proxy.md).
    espyProxyMode_Estimate = 0,
    /// The lit buffer holds the ambient part alone: multiplied as it is, with nothing darkened twice.
    espyProxyMode_Ambient,
} espyProxyMode;

/// Settings of the effect, all live.
typedef struct espyProxySettings
{
    float intensity;   ///< How much of the occlusion reaches the image, clamped to [0, 1]. 0: no pass. Default 1.
    float power;       ///< Contrast of the occlusion, clamped to [0.05, 16]; above 1 keeps it tighter. Default 1.
    float minDistance; ///< Metres from the camera before occlusion applies, 0 or more. Default 0.
    float maxDistance; ///< Metres past which it stops; 0 (default): no limit. Both ends fade over 10 %, at least 1 m.
    espyProxyMode mode;
    espyCapsuleInside inside;
    float detail;      ///< Clusters: capsules that may block more are evaluated exactly. [1/4096, 1/4]; default 1/64.
    uint32_t maxExact; ///< Clusters: most exact evaluations a pixel, 1 .. 256; the largest are kept. Default 64.
    uint32_t cookie;
} espyProxySettings;

typedef struct espyProxySetDef
{
    espyProxyTechnique technique; ///< Default Loop.
    uint32_t limit;               ///< Most proxies; default 64, at most 64 with Loop and 65,536 with Clusters.
    espyHooks hooks;
    uint32_t cookie;
} espyProxySetDef;

/// Which field broke which rule. `field` is a static string, null where nothing was wrong.
typedef struct espyProxyIssue
{
    const char* field;
    bool clamped; ///< True: brought into range and accepted. False: refused.
} espyProxyIssue;

typedef struct espyProxySet espyProxySet;

ESPY_API espyProxyDef espyProxyDef_Default(void);
ESPY_API espyProxySettings espyProxySettings_Default(void);
ESPY_API espyProxySetDef espyProxySetDef_Default(void);

/// A capsule that stands on world up at a node: its centre is the node's origin plus `offset` turned and scaled with
/// the node; its axis is `height` long (the whole is height + 2 radius tall). Other fields are the defaults.
ESPY_API espyProxyDef espyProxyDef_AtNode(espyMat4 node, espyVec3 offset, float radius, float height);

/// A limb between two nodes or joints: each end is at an offset in the space of its own matrix (to world space).
/// radiusB 0: as radiusA. Other fields are the defaults; give the limbs of one figure a `group`.
ESPY_API espyProxyDef espyProxyDef_BetweenNodes(espyMat4 a, espyVec3 offsetA, espyMat4 b, espyVec3 offsetB,
                                                float radiusA, float radiusB);

/// Errors: InvalidArgument (cookie, limit), OutOfMemory.
ESPY_API espyResult espyProxySet_Create(const espyProxySetDef* def, espyProxySet** out);
ESPY_API void espyProxySet_Destroy(espyProxySet* set);

/// Adds the proxy `key`, or moves and changes the one of that name; radius 0 removes it. `issue` may be null.
/// Errors: InvalidArgument (names the field: a value that is not finite or out of range, a key that is null or too
/// long), LimitExceeded (field "limit": one more than the set holds; nothing changes), OutOfMemory. Cost: constant; an
/// existing key allocates nothing. Thread: owner.
ESPY_API espyResult espyProxySet_Set(espyProxySet* set, const char* key, const espyProxyDef* def,
                                     espyProxyIssue* issue);
/// As espyProxySet_Set with a number for a name. Numbers and strings never meet.
ESPY_API espyResult espyProxySet_SetId(espyProxySet* set, uint64_t id, const espyProxyDef* def, espyProxyIssue* issue);
/// Errors: NotFound.
ESPY_API espyResult espyProxySet_Remove(espyProxySet* set, const char* key);
ESPY_API espyResult espyProxySet_RemoveId(espyProxySet* set, uint64_t id);
/// Reads a proxy back as it is held (after clamping). Errors: NotFound.
ESPY_API espyResult espyProxySet_Get(const espyProxySet* set, const char* key, espyProxyDef* out);
ESPY_API espyResult espyProxySet_GetId(const espyProxySet* set, uint64_t id, espyProxyDef* out);
/// Replaces the settings. Errors: InvalidArgument (a value that is not finite; named).
ESPY_API espyResult espyProxySet_Configure(espyProxySet* set, const espyProxySettings* settings, espyProxyIssue* issue);
ESPY_API espyProxySettings espyProxySet_GetSettings(const espyProxySet* set);
/// Removes every proxy; settings stay.
ESPY_API void espyProxySet_Clear(espyProxySet* set);
ESPY_API uint32_t espyProxySet_GetCount(const espyProxySet* set);

// --- image pass

/// One buffer of the image: element (x, y) starts at data + y * rowStride + x * pixelStride. Strides in elements.
typedef struct espyProxyPlane
{
    float* data;
    size_t pixelStride, rowStride;
} espyProxyPlane;

/// What the pass reads and writes; rows from the top. Null data: the plane is missing.
typedef struct espyProxyImage
{
    uint32_t width, height;    ///< 1 .. 16384.
    espyProxyPlane depth;      ///< 0..1 as rendered. Needed.
    espyProxyPlane normal;     ///< 3 floats, world space, unit. Missing or zero: none, as for particles.
    espyProxyPlane lit;        ///< 3 floats, linear; changed in place. May be missing where `visibility` is asked for.
    espyProxyPlane albedo;     ///< 3 floats. Needed by espyProxyMode_Estimate where `lit` is given.
    espyProxyPlane emissive;   ///< 3 floats, left alone by the effect.
    espyProxyPlane metal;      ///< 1 float, 0..1.
    espyProxyPlane visibility; ///< 1 float, written: 1 - occlusion after intensity, power and distance.
    const uint32_t* owner;     ///< Owner ids, row by row without gaps; may be null.
} espyProxyImage;

typedef struct espyProxyView
{
    espyMat4 camera;     ///< Camera to world, rigid: axes right, up, backward, and the eye.
    espyMat4 projection; ///< Camera to clip space: perspective, off-centre or orthographic; +y is the top row.
    bool reversedDepth;  ///< Background is 0 instead of 1.
    uint32_t mask;       ///< Bits of viewMask. Default all.
    float expectedLight; ///< Luminance over albedo of an unshadowed surface; 0 (default): estimated from the image.
    float deltaTime;     ///< Seconds since the last image; the estimate eases over 0.5 s. 0 (default): at once.
    uint32_t cookie;
} espyProxyView;

typedef struct espyProxyPassDef
{
    /// Default: the calling thread does all. Each of threadCount threads (at most 256 are used) has scratch memory of
    /// its own in the pass.
    espyTasks tasks;
    espyIsa isa; ///< Cap. Never changes the result.
    espyHooks hooks;
    uint32_t cookie;
} espyProxyPassDef;

/// What the last image took.
typedef struct espyProxyStats
{
    uint32_t proxies;   ///< That this view sees.
    uint64_t pixels;    ///< That were evaluated (not background, inside the distances).
    uint64_t exact;     ///< Exact evaluations: pixels times capsules.
    uint64_t far;       ///< Evaluations of sums: pixels times tree nodes.
    uint64_t overflows; ///< Times that maxExact or the room for sums made a pixel's list coarser.
    float reference;    ///< The light that was taken as unshadowed; 0: none needed.
    size_t bytes;       ///< Memory held.
} espyProxyStats;

/// The state of one view: scratch memory and the eased light estimate.
typedef struct espyProxyPass espyProxyPass;

ESPY_API espyProxyView espyProxyView_Default(void);
ESPY_API espyProxyPassDef espyProxyPassDef_Default(void);
ESPY_API espyResult espyProxyPass_Create(const espyProxyPassDef* def, espyProxyPass** out);
ESPY_API void espyProxyPass_Destroy(espyProxyPass* pass);

/// Makes room for the set as it is now, and gives the room back where the set is empty or its intensity is 0. Call
/// after proxies came or went; does nothing while the room is enough. Errors: OutOfMemory. Thread: owner.
ESPY_API espyResult espyProxyPass_Reserve(espyProxyPass* pass, const espyProxySet* set);

/// Darkens the image by the set's proxies. With none that the view sees, or intensity 0, nothing is read or written,
/// and `visibility` becomes 1. Never allocates. The same bits for any instruction set, threads and order of submission.
/// Errors: InvalidArgument (sizes, a missing plane, a matrix that cannot be inverted), LimitExceeded (Reserve was not
/// called after the set grew; the image is untouched). Thread: owner; runs tasks.
ESPY_API espyResult espyProxyPass_Apply(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                                        const espyProxyImage* image);
ESPY_API espyProxyStats espyProxyPass_GetStats(const espyProxyPass* pass);

// --- lists for shaders

/// Side of a tile, pixels.
#define ESPY_PROXY_TILE 16u
/// Most groups of a tile; what is over shares the last one.
#define ESPY_PROXY_TILE_GROUPS 64u
/// Most levels of the tree, and children of a node.
#define ESPY_PROXY_LEVELS 12u
#define ESPY_PROXY_BRANCH 4u
/// In espyProxyLists.pixels: no proxy reaches this pixel (background, or outside the distances).
#define ESPY_PROXY_NO_GROUP 255u

/// A capsule in the form that the term wants: end A, unit axis towards B, length. 11 floats.
typedef struct espyCapsulePack
{
    float ax, ay, az, ux, uy, uz;
    float length, radiusA, radiusB;
    float taper; ///< (radiusB - radiusA) / length
    float flat;  ///< sqrt(1 - taper^2)
} espyCapsulePack;

typedef enum espyProxyFlag
{
    espyProxyFlag_Ball = 1 << 0,    ///< Length 0: end A alone.
    espyProxyFlag_Tapered = 1 << 1, ///< Two radii.
    espyProxyFlag_JointA = 1 << 2,  ///< The ball at A is also in a neighbour of the group: divided out again.
    espyProxyFlag_JointB = 1 << 3,
    espyProxyFlag_Piece = 1 << 4, ///< Goes on from the entry before it: their shared ball is taken off the sum.
} espyProxyFlag;

/// A capsule that a view sees, or a piece of a long one, relative to the eye, in the order of the product. 16 words of
/// 32 bits without gaps.
typedef struct espyProxyEntry
{
    espyCapsulePack pack;
    float strength, selfStrength;
    float owner;     ///< 0: nothing's.
    uint32_t record; ///< Pieces of one proxy share it: their shares add up, what survives is multiplied.
    uint32_t flags;  ///< espyProxyFlag
} espyProxyEntry;

/// Distant capsules, one or many, as one point relative to the eye: projected area over pi as area - v'Tv for the
/// direction v towards it. 13 floats.
typedef struct espyProxySource
{
    float x, y, z;
    float area;
    float txx, tyy, tzz, txy, txz, tyz; ///< T; the last three twice, so that each product counts once.
    float wide[3];                      ///< Half of its extent along x, y, z.
} espyProxySource;

/// A node of the tree over the entries. 21 floats.
typedef struct espyProxyNode
{
    espyBox box;  ///< Of the axes.
    float radius; ///< Largest.
    float size;   ///< Largest r^2 + 2 r L / pi, times strength.
    espyProxySource source;
} espyProxyNode;

/// Pixels of a tile that lie close together, whatever the depth does inside the tile.
typedef struct espyProxyGroup
{
    uint32_t firstEntry; ///< In `indices`: entries that are evaluated exactly, ascending, up to firstNode.
    uint32_t firstNode;  ///< In `indices`: nodes that are summed, up to the next group's firstEntry.
} espyProxyGroup;

/// Which proxies meet which pixels, prefix-summed, with all that a shader needs to evaluate them. Lives in the pass
/// until its next Build, Reserve or Destroy. Tile (x, y) of 16 x 16 pixels is number y * tilesX + x.
typedef struct espyProxyLists
{
    uint32_t width, height, tilesX, tilesY;
    const uint32_t* tiles;        ///< tilesX * tilesY + 1: each tile's first group; the last is the number of groups.
    const espyProxyGroup* groups; ///< One more than there are groups: the last holds the ends.
    const uint32_t* indices;
    const uint8_t* pixels; ///< width * height: which of its tile's groups a pixel is in, or ESPY_PROXY_NO_GROUP.
    const espyProxyEntry* entries;
    const espyProxyNode* nodes;     ///< Level by level; level 0 has one node an entry. Null with the plain loop.
    const uint32_t* leafEntries;    ///< Entry of each node of level 0.
    uint32_t entryCount, nodeCount; ///< 0 where nothing is to be done: no pass.
    /// Children of node i of level l are nodes 4 i .. 4 i + 3 of level l - 1, as far as there are any. The last level
    /// has one node.
    uint32_t levelStart[ESPY_PROXY_LEVELS], levelCount[ESPY_PROXY_LEVELS], levels;
    espyMat4 fromDepth; ///< Clip space (x, y, depth) to places relative to the eye.
    float background;   ///< Depth of what is skipped.
    uint64_t leftOut;   ///< Indices for which there was no room: of each group the smallest.
} espyProxyLists;

/// Makes room for lists of images up to this size with up to `indices` indices in all; 0 gives it back. About 20 to 60
/// a group are usual with clusters (docs/proxy.md). Errors: InvalidArgument (sizes), OutOfMemory (the room is as it
/// was). Thread: owner.
ESPY_API espyResult espyProxyPass_ReserveLists(espyProxyPass* pass, uint32_t width, uint32_t height, uint32_t indices);

/// Fills `out` with what espyProxyPass_Apply would evaluate for this image, of which only depth and normal are read.
/// Where the room is too small, groups keep their largest. With a null image, what the view sees and the tree alone:
/// for shaders that walk it themselves. Never allocates. The same bits for any threads. Errors: InvalidArgument,
/// LimitExceeded (Reserve or ReserveLists was not called). Thread: owner; runs tasks.
ESPY_API espyResult espyProxyPass_BuildLists(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                                             const espyProxyImage* image, espyProxyLists* out);

#endif
