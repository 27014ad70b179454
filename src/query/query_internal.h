// SPDX-License-Identifier: MIT
// What the files of the query system share: the tree of objects, the records of a view, the questions on their way.
//
// Time is counted in ticks: one for each BeginFrame. A record of a node in a view holds what answers said and in which
// tick they were asked. What they are worth now is decided at each visit (query_cull.c), so nothing has to be reset
// when an object jumps, a camera cuts or an answer is lost: evidence from before is simply too old.
#ifndef ESPYI_QUERY_INTERNAL_H
#define ESPYI_QUERY_INTERNAL_H

#include "core/core.h"

#include <espy/query.h>

#define ESPYI_QUERY_NONE 0xFFFFFFFFu
/// The first tick: later than any age can reach back to 0, which stands for never.
#define ESPYI_QUERY_FIRST_TICK 256u
/// The root; below it the tops of the caller's tree and of the system's own.
#define ESPYI_QUERY_ROOT 0u
/// Above objects without a valid box. Below nothing, never visited.
#define ESPYI_QUERY_LOOSE 1u
/// Nodes that are always there.
#define ESPYI_QUERY_FIXED_NODES 2u
/// Frames of cameras that are remembered, a power of two above the time limit.
#define ESPYI_QUERY_PAST 64u
#define ESPYI_QUERY_MAX_BATCH 64u
/// Frames that a measured latency is kept for.
#define ESPYI_QUERY_LATENCY_FRAMES 16u

/// True where tick a is later than tick b.
static inline bool espyiTick_After(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static inline uint32_t espyiTick_Later(uint32_t a, uint32_t b)
{
    return espyiTick_After(a, b) ? a : b;
}

static inline float espyiQuery_Max(float a, float b)
{
    return a > b ? a : b;
}

static inline float espyiQuery_Min(float a, float b)
{
    return a < b ? a : b;
}

static inline float espyiQuery_Abs(float v)
{
    return v < 0.0f ? -v : v;
}

// --- objects and the tree

typedef struct espyiQueryNode
{
    espyBox box;             ///< Of what is below; empty where nothing is.
    uint32_t parent;         ///< NONE for the root.
    uint32_t child;          ///< First of the children, NONE for a leaf. Nodes of the own tree have two.
    uint32_t next, previous; ///< Among the children of the parent. `next` also links free nodes.
    uint32_t object;         ///< Of a leaf, else NONE.
    uint32_t objects;        ///< Leaves below, itself included.
    uint32_t height;         ///< Own tree: 0 for leaves.
    uint32_t stamp;          ///< Differs from owner to owner: answers and records name it.
    uint32_t changed;        ///< Evidence from before says nothing about all that is below now.
    uint32_t joined;         ///< Evidence about the parent from before says nothing about this node.
    uint32_t moved;          ///< Tick in which something below moved last, and
    float speed;             ///< metres that it moved in a tick, at most.
    float cost;              ///< Of drawing all that is below.
} espyiQueryNode;

typedef struct espyiQueryObject
{
    uint32_t generation;
    uint32_t node;  ///< Its leaf; of a free one: the next free object.
    uint32_t added; ///< Tick.
    bool alive;
    bool hasProxy;
    float cost;
    uint32_t treeNode; ///< Of the caller, or NO_NODE.
    espyDeviceMesh mesh;
    espyMat4 toWorld;
} espyiQueryObject;

// --- records of a view

typedef enum espyiQueryState
{
    espyiQueryState_Unknown = 0,
    espyiQueryState_Visible,
    espyiQueryState_Hidden,
} espyiQueryState;

typedef struct espyiQueryRecord
{
    uint32_t stamp;     ///< Of the node that it is about; another one: nothing is known.
    uint32_t evidence;  ///< Tick of the newest question that was answered "hidden", also of one about a node above.
    uint32_t shown;     ///< Tick of the newest question that was answered "visible".
    uint32_t pathShown; ///< The latest of `shown` here and above, as of the last visit.
    uint32_t asked;     ///< Tick of the newest question.
    uint32_t due;       ///< Tick from which a visible one is asked again.
    uint32_t solo;      ///< Shares no question before this tick.
    uint32_t split;     ///< Stands for nothing below it before this tick.
    uint32_t inside;    ///< Tick in which it was in the frustum last.
    uint32_t marked;    ///< Cull in which it had candidates last.
    uint32_t entered;   ///< Tick in which something below became a candidate.
    uint32_t visited;   ///< Cull of the last visit.
    uint16_t run;       ///< Answers "hidden" in a row.
    uint16_t pullRun;
    uint16_t missing; ///< Frames in a row in which the reference saw it and the view did not draw it.
    uint8_t state;    ///< espyiQueryState.
    uint8_t reason;   ///< espyQueryReason of the last visit.
    uint8_t patience; ///< Answers that its children need before it stands for them.
    bool whole;       ///< Unknown, and to be asked about as one.
    bool passes;      ///< In this cull its evidence goes down to its children.
    bool pullOk, pullAny;
} espyiQueryRecord;

/// The last 64 reasons of an object: bit c of plane b is bit b of the reason c culls ago.
typedef struct espyiQueryHistory
{
    uint64_t planes[4];
    uint32_t generation; ///< Of the object.
    uint32_t culls;      ///< How many there are, up to 64.
} espyiQueryHistory;

/// A question about one box or several, before it is asked and while it is on its way.
typedef struct espyiQueryEntry
{
    uint64_t serial;
    uint64_t frame; ///< The device's.
    uint64_t limit; ///< Up to which samples count as hidden.
    uint32_t tick;
    uint32_t firstMember; ///< Counted on without end; the ring holds the last ones.
    uint16_t memberCount;
    bool open;
    bool early; ///< Boxes were grown further ahead: an answer "visible" only takes the group apart.
} espyiQueryEntry;

typedef struct espyiQueryMember
{
    uint32_t node;
    uint32_t stamp;
} espyiQueryMember;

/// What a visit wants to ask.
typedef struct espyiQueryWish
{
    uint32_t node;
    uint8_t wait;   ///< Ticks since it was last asked, up to ESPYI_QUERY_WAITS - 1.
    bool batchable; ///< Long hidden: may share a question.
    bool group;     ///< A node.
    bool hidden;    ///< Expected to stay hidden.
    bool trial;     ///< A node that may stand for its children from now on.
} espyiQueryWish;

#define ESPYI_QUERY_WAITS 32u

// --- cameras

/// One eye in one frame. Planes have unit normals and are relative to the eye.
typedef struct espyiQueryEye
{
    espyVec3 eye;
    espyPlane planes[6];
} espyiQueryEye;

typedef struct espyiQueryPast
{
    uint32_t tick;
    uint32_t camera; ///< Grows when the camera changes: equal numbers are equal cameras.
    uint32_t eyeCount;
    espyiQueryEye eyes[2];
} espyiQueryPast;

/// What a cull knows about its camera.
typedef struct espyiQueryLens
{
    espyView view;
    espyMat4 viewProjection[2];
    espyViewDef defs[2];
    uint32_t eyeCount;
    int32_t width, height;
    espyVec3 shadow;
    bool hasShadow;
    bool orthographic;
    bool turning;    ///< The direction changed since the last cull.
    bool moving;     ///< The eye did.
    float pixel;     ///< Size of a pixel in metres: at distance 1, or anywhere where orthographic.
    float nearDepth; ///< Distance for which depths are graded: m[14] of the projection.
    espyVec3 step;   ///< Metres that the eye moves in a tick.
    float stepLength;
} espyiQueryLens;

/// A box on the screen.
typedef struct espyiQueryScreen
{
    bool nearPlane;  ///< Meets what is nearer than the near plane, or holds the eye.
    bool cut;        ///< Crosses the near plane, perhaps beside the view.
    float area;      ///< Pixels, not more than those of its part on the screen (0 where it is cut), and
    float thickness; ///< across.
} espyiQueryScreen;

// --- views

typedef struct espyiQueryView
{
    bool alive;
    bool enabled, frozen;
    bool lost;       ///< The device said so in Submit.
    bool cutPending; ///< What is known is void from the next cull on.
    bool culled;     ///< At least once.
    bool candidates; ///< The camera of the last cull named some.
    uint32_t generation;
    espyQueryViewDef def;
    espyiQueryLens lens;
    espyiQueryPast* past; ///< Ring of ESPYI_QUERY_PAST.
    uint32_t camera;
    uint32_t culls;
    uint32_t tick;   ///< Of the last cull.
    uint32_t valid;  ///< Evidence from before this tick is void.
    uint32_t budget; ///< Questions of this frame.
    espyiRng rng;
    // One a node.
    espyiQueryRecord* records;
    size_t recordCapacity;
    espyiQueryWish* wishes;
    size_t wishCapacity;
    uint32_t* order;
    size_t orderCapacity;
    // One an object.
    espyQueryObjectId* draws;
    size_t drawCapacity;
    uint32_t wishCount, drawCount;
    espyiQueryHistory* history; ///< Null without.
    size_t historyCapacity;
    // Questions of this frame: entries from `serial` on are staged until Submit.
    espyiQueryEntry* entries;  ///< Ring; entryMask + 1 of them.
    espyiQueryMember* members; ///< Ring; memberMask + 1.
    uint32_t entryMask, memberMask;
    uint64_t serial;     ///< Of the next question. Never starts anew, whoever has the view.
    uint64_t oldest;     ///< Questions from here on may be open.
    uint32_t nextMember; ///< Counted on.
    espyDeviceQuery* questions;
    espyDeviceDraw* proxies;
    uint32_t questionCount, proxyCount, proxyRoom;
    uint32_t stagedMembers;
    // Latency of frames with answers.
    uint8_t latencies[ESPYI_QUERY_LATENCY_FRAMES];
    uint32_t latencyCount;
    uint32_t latencyTick;
    // Costs of a window of culls.
    float spent, saved;
    uint32_t windowCulls;
    uint32_t offUntil;  ///< Cull.
    uint32_t offLength; ///< Culls.
    espyQueryStats stats;
} espyiQueryView;

struct espyQuerySystem
{
    espyHooks hooks;
    espyDevice device;
    uint32_t maxQueriesPerFrame;
    uint64_t seed;
    bool lost;
    uint32_t tick;
    uint64_t frame;
    espyiQueryObject* objects;
    size_t objectCapacity;
    uint32_t objectSlots; ///< That were ever used.
    uint32_t objectCount;
    uint32_t freeObject;
    espyiQueryNode* nodes;
    size_t nodeCapacity;
    uint32_t nodeSlots;
    uint32_t freeNode;
    uint32_t callerNodes; ///< After the fixed ones.
    uint32_t top;         ///< Of the own tree.
    uint32_t stamp;
    uint32_t* sorted; ///< Scratch of Rebuild.
    size_t sortedCapacity;
    espyiQueryView views[ESPY_QUERY_MAX_VIEWS];
};

/// Tick from which evidence about what changes now counts: changes come before BeginFrame.
static inline uint32_t espyiQuery_ChangeTick(const espyQuerySystem* system)
{
    return system->tick + 1u;
}

/// Speed of what is below a node; what has not moved lately is at rest.
static inline float espyiQuery_Speed(const espyQuerySystem* system, const espyiQueryNode* node)
{
    return (int32_t)(system->tick - node->moved) <= 2 ? node->speed : 0.0f;
}

// --- query_system.c

espyiQueryView* espyiQuery_FindView(const espyQuerySystem* system, espyQueryViewId id);
/// Index of an object, or NONE.
uint32_t espyiQuery_FindObject(const espyQuerySystem* system, espyQueryObjectId id);

// --- query_tree.c: none of these allocates; nodes must be there

/// A node from the pool, without neighbours.
uint32_t espyiQueryTree_NewNode(espyQuerySystem* system, uint32_t object);
/// Puts a leaf where it belongs: by its box into the own tree, below a node of the caller, or among the loose ones.
void espyiQueryTree_Insert(espyQuerySystem* system, uint32_t leaf);
void espyiQueryTree_Remove(espyQuerySystem* system, uint32_t leaf);
/// After a leaf's box changed: the boxes above.
void espyiQueryTree_Refit(espyQuerySystem* system, uint32_t leaf);
/// Links a node as last child of another.
void espyiQueryTree_Link(espyQuerySystem* system, uint32_t parent, uint32_t node);

// --- query_box.c

/// Makes the lens of a cull; false where no view can be made of the camera.
bool espyiQueryLens_Make(espyiQueryLens* lens, const espyQueryCamera* camera);
/// The box extended along the shadow.
espyBox espyiQueryLens_Extend(const espyiQueryLens* lens, espyBox box);
/// The box as it is asked about: ready for `horizon` ticks of movement, with bias and margin; the movement `times`
/// over.
espyBox espyiQueryLens_GrowBox(const espyiQueryLens* lens, const espyQueryViewDef* def, espyBox box, float speed,
                               float horizon, float times);
/// Where the box is on the screens.
void espyiQueryLens_Project(const espyiQueryLens* lens, const espyBox* box, espyiQueryScreen* out);
/// Distance of the farthest point of the box from the nearest eye, at least.
float espyiQueryLens_Distance(const espyiQueryLens* lens, const espyBox* box);
void espyiQueryPast_Make(espyiQueryPast* past, const espyiQueryLens* lens, uint32_t tick, uint32_t camera);
/// True where a part of the box may be in the frustum now that was not then.
bool espyiQueryPast_IsEntering(const espyiQueryPast* past, const espyiQueryPast* now, const espyBox* box, float pixel);
/// True where the camera jumped between two culls, `ticks` apart.
bool espyiQueryLens_IsCut(const espyiQueryLens* before, const espyiQueryLens* now, const espyQueryViewDef* def,
                          float ticks);
float espyiVec3_Length(espyVec3 v);

// --- query_ask.c

/// Makes questions of the wishes, in the order of who waited longest, up to the budget.
void espyiQuery_Stage(const espyQuerySystem* system, espyiQueryView* view);
/// Takes what the device has ready; returns how many answers.
uint32_t espyiQuery_Poll(espyQuerySystem* system);
/// Ends what is past its time limit.
void espyiQuery_Expire(const espyQuerySystem* system, espyiQueryView* view);
/// Forgets all questions on their way.
void espyiQuery_Forget(espyiQueryView* view);
/// Ticks from question to answer that are to be expected.
uint32_t espyiQuery_Latency(const espyiQueryView* view);

// --- query_cull.c

/// The record of a node, emptied where it was another's.
espyiQueryRecord* espyiQuery_Record(const espyQuerySystem* system, espyiQueryView* view, uint32_t node);
bool espyiQueryReason_IsDrawn(espyQueryReason reason);

// --- query_stats.c

void espyiQuery_WriteHistory(const espyQuerySystem* system, espyiQueryView* view);

#endif
