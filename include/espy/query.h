// SPDX-License-Identifier: MIT
// Asynchronous occlusion queries and the visibility system over them: what was hidden a moment ago is not drawn.
//
// The device counts which samples of a box pass the depth test; its answers come frames later. This system decides from
// the answers that it has what to draw now, and which boxes to ask about next. It never waits and draws nothing itself.
//
//     espyQuerySystem_AddObject(system, &objectDef, &id);              once for each object
//     espyQuerySystem_CreateView(system, &viewDef, &view);             once for each camera (or eye, probe, mirror ...)
//
//     espyQuerySystem_SetBox(system, id, box);                         every frame: what moved,
//     device.beginFrame(device.context, frame);
//     espyQuerySystem_BeginFrame(system, frame);                       answers that have come,
//     espyQuerySystem_Cull(system, view, &camera);                     what each view draws,
//     draws = espyQuerySystem_GetDraws(system, view, &count);          draw depth of it in a pass of the device,
//     espyQuerySystem_Submit(system, view);                            and in the same pass, after it: the questions
//
// What changes after BeginFrame counts a frame later. One system takes all answers of its device; views share
// nothing but the objects.
//
// What is drawn
//   Everything of which no answer says that it is hidden. An answer counts from the frame in which it was asked, for
//   `timeLimit` frames, for the object that was asked about and for the camera that looked: a new object, a recycled
//   id, an object that jumped, a camera cut, an answer that is lost or comes too late, a part that was off the screen
//   when it was asked about, a box that the near plane cuts: drawn. While an answer is on its way, the former state
//   stands. What is shown is shown with the first answer that says so, and hidden after `hiddenAfter` that say not.
//   espyQuerySystem_Explain says which of these it was.
//
// What is asked
//   Visible objects every `visibleInterval` frames, the first time after a random part of it, so that they do not all
//   ask at once. Hidden ones every frame, as many as can be with one question: where all below a node of the tree is
//   hidden, the node is asked about (as the boxes below it, where they are tighter), and nodes that have long been
//   hidden share a question. Every second question of such a group is asked about boxes grown further ahead; where that
//   one meets something the group comes apart while its parts are still known to be hidden. Both limits of questions a
//   frame, the view's and the device's, are kept by turns: who waited longest asks first.
//
// Late answers
//   A camera that moves by d until the answer counts sees past an edge at distance e, at distance z, what lay
//   d (z / e - 1) further along the movement. Boxes are swept by that, with the latency that was measured and
//   `nearestOccluder` as e, by their own movement, and by `margin` pixels while the camera turns.
//
// Threads: "owner", but for Cull, Submit and what is read of a view, which may run for different views at the same time
// (Submit as the device allows), while nothing else changes the system.
// Memory: AddObject, CreateView and Reserve allocate. No call of a frame does.
//
// Based on: J. Bittner, M. Wimmer, H. Piringer, W. Purgathofer, "Coherent Hierarchical Culling: Hardware Occlusion
//   Queries Made Useful", Eurographics 2004; O. Mattausch, J. Bittner, M. Wimmer, "CHC++: Coherent Hierarchical Culling
//   Revisited", Eurographics 2008 (multiqueries, tight bounds, random first interval). Those wait inside a frame where
//   they must; this one never does, so what it does while it does not know is its own.
#ifndef ESPY_QUERY_H
#define ESPY_QUERY_H

#include <espy/device.h>
#include <espy/view.h>

#define ESPY_QUERY_MAX_VIEWS 32u
#define ESPY_QUERY_MAX_OBJECTS (1u << 24)
/// Frames of an object's history.
#define ESPY_QUERY_HISTORY 64u
/// Largest espyQueryViewDef.timeLimit.
#define ESPY_QUERY_MAX_TIME_LIMIT 60u
/// espyQueryObjectDef.treeNode: the system's own tree.
#define ESPY_QUERY_NO_NODE 0xFFFFFFFFu

typedef struct espyQuerySystem espyQuerySystem;

typedef struct espyQueryObjectId
{
    int32_t index1; ///< Index + 1; arrays of the caller may use index1 - 1, which is below the most objects at once.
    uint32_t generation;
} espyQueryObjectId;

typedef struct espyQueryViewId
{
    int32_t index1;
    uint32_t generation;
} espyQueryViewId;

/// Why an object is drawn or not.
typedef enum espyQueryReason
{
    espyQueryReason_None = 0,   ///< Not culled in this frame, or no such object. Drawn.
    espyQueryReason_New,        ///< Drawn: no answer yet, or none since it was added, or jumped.
    espyQueryReason_Cut,        ///< Drawn: the camera jumped, and what was known before is void.
    espyQueryReason_Expired,    ///< Drawn: the last answer is older than the time limit (lost, late, or out of sight).
    espyQueryReason_Entering,   ///< Drawn: part of it was off the screen when it was found hidden.
    espyQueryReason_NearPlane,  ///< Drawn, not asked: its grown box meets the near plane or holds the eye.
    espyQueryReason_Small,      ///< Drawn, not asked: its proxy is thinner than `smallest` pixels, or edge-on.
    espyQueryReason_Visible,    ///< Drawn: an answer says so.
    espyQueryReason_Settling,   ///< Drawn: answered hidden, not `hiddenAfter` times yet.
    espyQueryReason_Revealed,   ///< Drawn: something of its group was seen, its own answer is on its way.
    espyQueryReason_Off,        ///< Drawn: the view is off (switched off, not worth it, or the device is lost).
    espyQueryReason_Outside,    ///< Not drawn: outside the frustum.
    espyQueryReason_Excluded,   ///< Not drawn: not among the camera's candidates.
    espyQueryReason_Hidden,     ///< Not drawn: an answer says so.
    espyQueryReason_HiddenNode, ///< Not drawn: the answer for a node above it says so.
    espyQueryReason_Count,
} espyQueryReason;

/// One object. Start from espyQueryObjectDef_Default.
typedef struct espyQueryObjectDef
{
    espyBox box; ///< World space; holds all of the object. Not valid (default: empty): always drawn.
    /// What is asked about, in place of the box: `mesh` under `toWorld`, which lies inside the box and holds the
    /// object. For an oriented box: mesh 0 and the transform of the box from -1 to 1.
    bool proxy;
    espyDeviceMesh mesh;
    espyMat4 toWorld;  ///< Affine.
    float cost;        ///< Of drawing it, in units of espyQueryCosts.object. Default 1.
    uint32_t treeNode; ///< Of the caller's tree (espyQuerySystem_SetTree). Default ESPY_QUERY_NO_NODE.
    uint32_t cookie;
} espyQueryObjectDef;

typedef struct espyQuerySystemDef
{
    const espyDevice* device;    ///< Copied. Needs queries of either kind.
    uint32_t maxQueriesPerFrame; ///< Of all views together; 0 (default): what the device takes.
    uint64_t seed;               ///< Of the random intervals. Same seed, calls and answers: same decisions.
    espyHooks hooks;
    uint32_t cookie;
} espyQuerySystemDef;

/// What things cost, in any one unit: milliseconds that the caller measured, or a guess.
typedef struct espyQueryCosts
{
    float query;  ///< One question. Default 1.
    float proxy;  ///< One box of it. Default 0.25.
    float object; ///< Drawing an object of cost 1. Default 8.
} espyQueryCosts;

/// A view's settings. Start from espyQueryViewDef_Default; all but maxQueries can be changed later.
typedef struct espyQueryViewDef
{
    uint32_t maxQueries;      ///< A frame, 1..65,536; default 1,024. About 1 KB each.
    uint32_t visibleInterval; ///< Frames between questions about a visible object, 1..64. Default 8.
    uint32_t hiddenAfter;     ///< Answers in a row until what was visible is hidden, 1..16. Default 2.
    /// Frames for which an answer counts, 2..ESPY_QUERY_MAX_TIME_LIMIT. Default 12. At least twice the latency.
    uint32_t timeLimit;
    /// Share of a proxy's pixels, 0..1, up to which it counts as hidden. Default 0: one sample shows it. More than 0
    /// counts samples, whatever the resolution and the samples a pixel are, and may hide what is seen.
    float threshold;
    float bias;            ///< Metres by which boxes are grown, so that faces flush with them pass. Default 0.01.
    float margin;          ///< Pixels by which boxes are grown while the camera turns. Default 1.
    float smallest;        ///< Pixels; what is thinner is drawn and not asked about. Default 1.
    float nearestOccluder; ///< Metres at which something may be that hides others: sweeps are for it. Default 2.
    float maxSweep;        ///< Limit of a sweep, as a share of the distance. Default 0.15.
    float cutDistance;     ///< Metres that the eye moves in one frame at most, else it is a cut. Default 5.
    float cutAngle;        ///< Radians that it turns in one frame at most, 0.01..3.2. Default 0.6.
    uint32_t maxGroup;     ///< Objects below a node that is asked about as one; 1: no hierarchy. Default 4,096.
    uint32_t maxBatch;     ///< Nodes that share a question, 1..64; 1: none do. Default 4.
    bool history;          ///< Keep the history of objects; 40 bytes each. Default false.
    bool autoOff;          ///< Switch off while the costs exceed what is saved. Default true.
    bool exact;            ///< For offline pictures, with espyQuerySystem_Wait: everything is asked. Default false.
    espyQueryCosts costs;
    uint32_t cookie;
} espyQueryViewDef;

/// Where a view looks from in this frame. Start from espyQueryCamera_Default.
typedef struct espyQueryCamera
{
    espyViewDef eye;
    /// A second eye (null: none): seen is what either sees, answers are sums over both layers. For records of each eye
    /// alone make a view for each.
    const espyViewDef* secondEye;
    int32_t width, height; ///< Pixels of the target, 1..ESPY_RASTER_MAX_SIZE. Default 1280 x 720.
    bool cut;              ///< The camera was moved elsewhere: void what is known.
    /// For casters: metres along which each box is extended, from the light on and as far as its shadow goes. The view
    /// then says whether the shadow can be seen by this camera, and is one apart from that of the objects themselves.
    espyVec3 shadow;
    /// Bits of objects (by index1 - 1), in whole words for `candidateCount` objects: what baked data leaves over.
    /// Others are neither drawn nor asked about. Null: all are candidates. Objects past the count are.
    const uint32_t* candidates;
    uint32_t candidateCount;
    uint32_t cookie;
} espyQueryCamera;

/// What is known about an object in a view.
typedef struct espyQueryDecision
{
    espyVisibility visibility; ///< Visible, Outside, Occluded; Unknown where it is drawn without evidence.
    espyQueryReason reason;
    uint32_t age;   ///< Frames since the question behind Hidden or HiddenNode was asked; else 0.
    bool pending;   ///< A question about it, or about the node that hides it, is on its way.
    uint32_t depth; ///< HiddenNode: how many levels above it the node is.
} espyQueryDecision;

/// Counts of a view: of its last frame, or since it was made.
typedef struct espyQueryCounts
{
    uint64_t inFrustum; ///< Objects; all of the below are among them.
    uint64_t drawn, skipped;
    uint64_t queries;   ///< Questions, and
    uint64_t proxies;   ///< the boxes in them.
    uint64_t postponed; ///< Questions that found no room in the frame.
    uint64_t answers;   ///< That came and counted.
    uint64_t stale;     ///< That came for what is gone, twice, or too late.
    uint64_t lost;      ///< Questions that were not answered within the time limit.
    uint64_t ageSum;    ///< Frames from question to answer, over all answers.
    uint64_t pops;      ///< Objects that the reference saw and this view began to miss (espyQuerySystem_Compare).
    uint64_t missing;   ///< Objects that the reference saw and this view did not draw.
} espyQueryCounts;

typedef struct espyQueryStats
{
    espyQueryCounts frame, total;
    uint32_t latency;        ///< Frames from question to answer: the largest of the last 16 frames with answers.
    uint32_t longestMissing; ///< Frames in a row that an object was missing.
    uint32_t oldestEvidence; ///< Frames: largest age of an answer that hid something in the last frame.
    bool off;                ///< Switched off by costs, by the device, or by the caller.
    size_t bytes;            ///< Memory of the view.
} espyQueryStats;

// --- defs

ESPY_API espyQuerySystemDef espyQuerySystemDef_Default(void);
ESPY_API espyQueryObjectDef espyQueryObjectDef_Default(void);
ESPY_API espyQueryViewDef espyQueryViewDef_Default(void);
ESPY_API espyQueryCamera espyQueryCamera_Default(void);
/// InvalidArgument, and the field's name in *field (may be null), where a value is out of range. Thread: any.
ESPY_API espyResult espyQueryViewDef_Validate(const espyQueryViewDef* def, const char** field);
/// Returns "Hidden", "NearPlane" and so on; "" out of range. Thread: any.
ESPY_API const char* espyQueryReason_GetName(espyQueryReason reason);

// --- lifetime

/// Errors: InvalidArgument (a null, a table that espyDevice_Validate refuses, a device without queries), OutOfMemory.
ESPY_API espyResult espyQuerySystem_Create(const espyQuerySystemDef* def, espyQuerySystem** out);
/// Null is allowed. The device is not touched.
ESPY_API void espyQuerySystem_Destroy(espyQuerySystem* system);
/// Takes another device, after the old one was lost: questions on their way are forgotten, everything is drawn until
/// there are answers. Errors: InvalidArgument as in Create; the old one stays.
ESPY_API espyResult espyQuerySystem_SetDevice(espyQuerySystem* system, const espyDevice* device);

// --- objects

/// Makes room for `objects` in all, in the system and its views. Errors: LimitExceeded, OutOfMemory.
ESPY_API espyResult espyQuerySystem_Reserve(espyQuerySystem* system, uint32_t objects);
/// Adds an object. Every view draws it until an answer of its own says otherwise. Cost: logarithmic.
/// Errors: InvalidArgument (a matrix or cost that is not finite, no such tree node), LimitExceeded
/// (ESPY_QUERY_MAX_OBJECTS), OutOfMemory; nothing changes then.
ESPY_API espyResult espyQuerySystem_AddObject(espyQuerySystem* system, const espyQueryObjectDef* def,
                                              espyQueryObjectId* out);
/// Answers to questions about it are dropped from now on. Errors: InvalidId.
ESPY_API espyResult espyQuerySystem_RemoveObject(espyQuerySystem* system, espyQueryObjectId id);
ESPY_API bool espyQuerySystem_IsObject(const espyQuerySystem* system, espyQueryObjectId id);
ESPY_API uint32_t espyQuerySystem_GetObjectCount(const espyQuerySystem* system);
/// Moves an object; once a frame, since its speed is what it moved since the last. Nodes above it are refitted. A box
/// that does not meet the one before is a jump: the object counts as new. Errors: InvalidId. Cost: logarithmic.
ESPY_API espyResult espyQuerySystem_SetBox(espyQuerySystem* system, espyQueryObjectId id, espyBox box);
/// As SetBox, for an object with a proxy of its own: its transform moves along. Errors: InvalidId, InvalidArgument.
ESPY_API espyResult espyQuerySystem_SetBoxAndProxy(espyQuerySystem* system, espyQueryObjectId id, espyBox box,
                                                   espyMat4 toWorld);
ESPY_API espyBox espyQuerySystem_GetBox(const espyQuerySystem* system, espyQueryObjectId id);

/// Takes the hierarchy of the caller, say an octree: node i lies below parents[i] (less than i), or at the top
/// with ESPY_QUERY_NO_NODE. Objects that name one of these nodes lie below it; boxes of nodes are fitted to what is
/// below. Only while there are no objects; replaces the tree given before.
/// Errors: InvalidArgument (a parent that is not before its child), LimitExceeded, OutOfMemory.
ESPY_API espyResult espyQuerySystem_SetTree(espyQuerySystem* system, const uint32_t* parents, uint32_t count);
/// Builds the system's own tree anew from the boxes as they are, better than adding one by one does. After loading, or
/// when much has moved. Answers about objects stay, those about nodes are void. Never allocates.
/// Cost: about 2 us an object.
ESPY_API void espyQuerySystem_Rebuild(espyQuerySystem* system);

// --- views

/// Errors: InvalidArgument (espyQueryViewDef_Validate), LimitExceeded (ESPY_QUERY_MAX_VIEWS), OutOfMemory.
ESPY_API espyResult espyQuerySystem_CreateView(espyQuerySystem* system, const espyQueryViewDef* def,
                                               espyQueryViewId* out);
/// Errors: InvalidId.
ESPY_API espyResult espyQuerySystem_DestroyView(espyQuerySystem* system, espyQueryViewId view);
/// Changes settings; maxQueries and history stay as they were. Errors: InvalidId, InvalidArgument.
ESPY_API espyResult espyQuerySystem_ConfigureView(espyQuerySystem* system, espyQueryViewId view,
                                                  const espyQueryViewDef* def);
/// The settings as they are. Zeroed for an id that is none.
ESPY_API espyQueryViewDef espyQuerySystem_GetViewDef(const espyQuerySystem* system, espyQueryViewId view);
/// Costs as they were measured lately. Errors: InvalidId, InvalidArgument (negative or not finite).
ESPY_API espyResult espyQuerySystem_SetCosts(espyQuerySystem* system, espyQueryViewId view,
                                             const espyQueryCosts* costs);
/// Off, a view draws what is in its frustum and asks nothing. On (the default) it starts knowing nothing.
/// Errors: InvalidId.
ESPY_API espyResult espyQuerySystem_EnableView(espyQuerySystem* system, espyQueryViewId view, bool enable);
/// The camera of the view jumps before its next cull: as espyQueryCamera.cut. Errors: InvalidId.
ESPY_API espyResult espyQuerySystem_Cut(espyQuerySystem* system, espyQueryViewId view);
/// Frozen, a view goes on with the decisions of its last cull, whatever camera it is given, and asks nothing; new
/// objects are drawn. Thawed, it starts knowing nothing. Errors: InvalidId.
ESPY_API espyResult espyQuerySystem_FreezeView(espyQuerySystem* system, espyQueryViewId view, bool frozen);
ESPY_API bool espyQuerySystem_IsViewFrozen(const espyQuerySystem* system, espyQueryViewId view);

// --- a frame

/// Takes the answers that are ready and starts frame `frame`, the number that the device's beginFrame gets; it grows
/// from call to call. Never waits. Errors: InvalidArgument (a number that does not grow: counted on from the last).
ESPY_API espyResult espyQuerySystem_BeginFrame(espyQuerySystem* system, uint64_t frame);

/// Decides what the view draws, and what Submit will ask. Matrices that no view can be made of: everything is drawn.
/// Never waits, never allocates. Cost: 0.1 to 0.3 us an object that is drawn or asked about
/// alone, nothing for what is hidden below nodes.
/// Errors: InvalidId, InvalidArgument (cookie, size). Thread: any, for different views.
ESPY_API espyResult espyQuerySystem_Cull(espyQuerySystem* system, espyQueryViewId view, const espyQueryCamera* camera);

/// What the view draws after its last cull, in the order of the tree. Borrowed until the next cull of the view, or the
/// next change of objects. Null and 0 for an id that is none.
ESPY_API const espyQueryObjectId* espyQuerySystem_GetDraws(const espyQuerySystem* system, espyQueryViewId view,
                                                           uint32_t* count);

/// Asks, in one call of the device's `query`: inside the view's pass and after its depth. Does nothing when there is
/// nothing to ask. Errors: InvalidId; those of the device. After LimitExceeded the questions are asked in other
/// frames; after DeviceLost every view is off.
ESPY_API espyResult espyQuerySystem_Submit(espyQuerySystem* system, espyQueryViewId view);

/// For exact views, after the device's endFrame: takes answers until all of the frame's questions of this view have
/// theirs. This waits. Whenever none is ready `idle` is called (null: poll at once again, 1,000,000 times at most) and
/// ends the wait by returning false; what has no answer then is drawn. After it GetDraws gives what is to be seen, and
/// nothing else of the system has changed.
///
/// The protocol of an exact picture: BeginFrame, Cull; depth of *all* of GetDraws, Submit, endFrame; Wait; then the
/// picture, of GetDraws as it is now. With maxQueries below the objects in the frustum the rest is drawn.
/// Errors: InvalidId, InvalidArgument (not exact), DeviceLost (everything is drawn).
ESPY_API espyResult espyQuerySystem_Wait(espyQuerySystem* system, espyQueryViewId view, bool (*idle)(void* context),
                                         void* context);

// --- what it knows; Thread: any, while nothing changes the view

/// Why an object was drawn or not in the last cull of the view.
ESPY_API espyQueryDecision espyQuerySystem_Explain(const espyQuerySystem* system, espyQueryViewId view,
                                                   espyQueryObjectId id);
/// Reasons of the last ESPY_QUERY_HISTORY culls of the view, out[0] the newest; None before the object was added.
/// Returns how many culls it has been there for; 0 without espyQueryViewDef.history.
ESPY_API uint32_t espyQuerySystem_GetHistory(const espyQuerySystem* system, espyQueryViewId view, espyQueryObjectId id,
                                             espyQueryReason out[ESPY_QUERY_HISTORY]);
/// Compares the last cull with a reference: bit index1 - 1 of `seen` (whole words for `count` objects) says that the
/// object can be seen. Counts pops. Errors: InvalidId. Thread: owner of the view.
ESPY_API espyResult espyQuerySystem_Compare(espyQuerySystem* system, espyQueryViewId view, const uint32_t* seen,
                                            uint32_t count);
/// All 0 for an id that is none.
ESPY_API espyQueryStats espyQuerySystem_GetStats(const espyQuerySystem* system, espyQueryViewId view);

#endif
