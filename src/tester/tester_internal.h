// SPDX-License-Identifier: MIT
// What the files of the tester layer share: records by index, links between them, what a view remembers.
//
// Everything is an index into an array of its kind; ESPYI_TESTER_NONE ends a list. The hierarchy is kept as lists of
// what is in each target (child targets, testers, draws), the many-to-many relation as edges that are in one list of
// their tester and in one of their target. A view never visits what is in a target that it does not show, and never
// clears anything: what is true in a run carries the run's number.
#ifndef ESPYI_TESTER_INTERNAL_H
#define ESPYI_TESTER_INTERNAL_H

#include "core/core.h"

#include <espy/tester.h>

#include <string.h>

#define ESPYI_TESTER_NONE (-1)
/// Most records of a kind.
#define ESPYI_TESTER_LIMIT ((size_t)1 << 30)
#define ESPYI_TESTER_CYCLE 256u
/// Draws that are handed to the device at once.
#define ESPYI_TESTER_BATCH 1024u

/// What all records begin with.
typedef struct espyiTesterSlot
{
    uint32_t generation;
    bool alive;
    int32_t parent;         ///< Target that it is in, or NONE.
    int32_t previous, next; ///< In the parent's list; `next` of a free slot is the next free one.
} espyiTesterSlot;

/// Lists of what is in a target, or in none.
typedef struct espyiTesterInside
{
    int32_t firstTarget, firstTester, firstDraw;
} espyiTesterInside;

typedef struct espyiTarget
{
    espyiTesterSlot slot;
    espyiTesterInside inside;
    int32_t firstEdge;
    uint32_t edgeCount;
    char* name;
    uint64_t userData;
} espyiTarget;

typedef struct espyiTester
{
    espyiTesterSlot slot;
    int32_t firstEdge;
    uint32_t edgeCount;
    espyMat4 toWorld;
    espyDeviceMesh mesh;
    espyBox bounds;
    char* name;
    uint64_t userData;
} espyiTester;

typedef struct espyiTesterDraw
{
    espyiTesterSlot slot;
    espyMat4 toWorld;
    espyDeviceMesh mesh;
    espyMaterialClass material;
} espyiTesterDraw;

/// "This tester reveals this target".
typedef struct espyiTesterEdge
{
    int32_t tester, target;
    int32_t previousOfTester, nextOfTester; ///< nextOfTester of a free one is the next free one.
    int32_t previousOfTarget, nextOfTarget;
} espyiTesterEdge;

/// An array of records with the slots that are free in it.
typedef struct espyiTesterPool
{
    void* items;
    size_t count, capacity;
    int32_t firstFree;
} espyiTesterPool;

enum
{
    espyiForce_Held = 1,
    espyiForce_Once = 2,
    espyiForce_Listed = 4, ///< Its index is in the list of forced testers.
};

typedef struct espyiTesterView
{
    bool alive;
    uint32_t generation;
    espyTesterViewDef def;
    espyDeviceTarget made; ///< Target that the view made; 0: none.
    /// Number of the last run; answers carry it. At least 1, so that 0 never matches this or the one before.
    uint32_t run;
    bool ran; ///< Since it was created or reset.
    espyTesterStats stats;
    // One entry a tester.
    uint32_t* active; ///< Last run in which it was active.
    uint32_t* kept;   ///< Last run after which it was worth keeping: seen, or not decided.
    uint8_t* force;
    // One entry a target.
    uint32_t* targetActive;     ///< Last run in which a tester revealed it.
    uint32_t* targetShown;      ///< Last run in which it and all around it were active.
    espyTesterTargetId* shown;  ///< Of the last run; entry 0 is the null id, what is in no target.
    espyTesterTargetId* before; ///< Of the run before.
    espyTesterEvent* events;
    size_t activeCapacity, keptCapacity, forceCapacity, targetActiveCapacity, targetShownCapacity, shownCapacity,
        beforeCapacity, eventCapacity;
    uint32_t shownCount, beforeCount, eventCount; ///< The first two with the null id; 0 before the first run.
    uint32_t* forced; ///< Testers with a force; those that lost it leave the list in the next run.
    size_t forcedCount, forcedCapacity;
} espyiTesterView;

struct espyTesterScene
{
    espyHooks hooks;
    espyDevice device;
    bool hasDevice;
    espyiTesterPool targets, testers, draws, edges;
    espyiTesterInside root; ///< What is in no target.
    uint32_t lonelyTargets; ///< Living targets without a tester.
    espyiTesterView* views[ESPY_TESTER_MAX_VIEWS];
    uint32_t generations[ESPY_TESTER_MAX_VIEWS];
    bool running; ///< A run is in the caller's callback: nothing may change.
    bool warnedLonely, warnedIds, warnedDevice;
    /// Of a run, one entry a tester: candidates from the front, seeds from the back.
    uint32_t* asked;
    size_t askedCapacity;
    uint32_t* bits;        ///< That the device writes.
    espyDeviceDraw* batch; ///< ESPYI_TESTER_BATCH of them.
    size_t bitsCapacity;
    // Of the search for cycles, one entry a target.
    uint32_t* searched; ///< Number of the search that came by.
    int32_t* onward;    ///< Where it came from: the next one of the way to where it began.
    int32_t* queue;
    size_t searchedCapacity, onwardCapacity, queueCapacity;
    uint32_t search;
    char cycle[ESPYI_TESTER_CYCLE];
};

// --- records

static inline espyiTarget* espyiTester_TargetAt(const espyTesterScene* scene, int32_t index)
{
    return (espyiTarget*)scene->targets.items + index;
}

static inline espyiTester* espyiTester_At(const espyTesterScene* scene, int32_t index)
{
    return (espyiTester*)scene->testers.items + index;
}

static inline espyiTesterDraw* espyiTester_DrawAt(const espyTesterScene* scene, int32_t index)
{
    return (espyiTesterDraw*)scene->draws.items + index;
}

static inline espyiTesterEdge* espyiTester_EdgeAt(const espyTesterScene* scene, int32_t index)
{
    return (espyiTesterEdge*)scene->edges.items + index;
}

/// Index of a living record, or NONE.
int32_t espyiTester_FindTarget(const espyTesterScene* scene, espyTesterTargetId id);
int32_t espyiTester_Find(const espyTesterScene* scene, espyTesterId id);

static inline espyTesterTargetId espyiTester_TargetId(const espyTesterScene* scene, int32_t index)
{
    return (espyTesterTargetId){index + 1, espyiTester_TargetAt(scene, index)->slot.generation};
}

/// What is in a target, or in none.
static inline espyiTesterInside* espyiTester_Inside(espyTesterScene* scene, int32_t target)
{
    return target == ESPYI_TESTER_NONE ? &scene->root : &espyiTester_TargetAt(scene, target)->inside;
}

// --- cycles

/// Makes room for the search over `targets` targets.
bool espyiTesterCycle_Reserve(espyTesterScene* scene, size_t targets);
/// Marks `from` and every target that it waits for: those around it, and those that a tester of it is in. `onward`
/// then leads from each of them to `from`.
void espyiTesterCycle_Mark(espyTesterScene* scene, int32_t from);
static inline bool espyiTesterCycle_IsMarked(const espyTesterScene* scene, int32_t target)
{
    return scene->searched[target] == scene->search;
}
/// Writes and logs the cycle that goes from a marked target on to where the search began, and back.
void espyiTesterCycle_Report(espyTesterScene* scene, int32_t target);

// --- views

/// Makes room in all views and for runs, for this many testers and targets.
bool espyiTesterView_ReserveAll(espyTesterScene* scene, size_t testers, size_t targets);
/// Forgets all answers about a record whose slot is to be used anew.
void espyiTesterView_ForgetTester(espyTesterScene* scene, int32_t tester);
void espyiTesterView_ForgetTarget(espyTesterScene* scene, int32_t target);
/// Creates the main view.
espyResult espyiTesterView_CreateMain(espyTesterScene* scene, const espyTesterViewDef* def);
/// Destroys, or makes, the targets that views made.
void espyiTesterView_DropTargets(espyTesterScene* scene);
espyResult espyiTesterView_MakeTargets(espyTesterScene* scene);
void espyiTesterView_FreeAll(espyTesterScene* scene);
/// The view of an id, or null.
espyiTesterView* espyiTesterView_Find(const espyTesterScene* scene, espyTesterViewId id);

// --- shapes on the screen

/// One eye's matrix, taken apart. Rows are those of world to clip, with the row of the near plane as the fifth.
typedef struct espyiTesterEye
{
    float rows[5][4]; ///< x, y, z, w, near.
    float nearSlope;  ///< Length of the near row's normal.
    float minScale;   ///< Pixels that a metre across the view has at w = 1, in the direction that has the fewest.
    bool hasPoint;    ///< All lines of sight come from `point`.
    espyVec3 point;
} espyiTesterEye;

typedef struct espyiTesterLens
{
    uint32_t eyeCount; ///< 0: a matrix was of no use; every tester Touches.
    bool reversedZ;
    float width, height; ///< Pixels.
    espyiTesterEye eyes[ESPY_DEVICE_MAX_LAYERS];
} espyiTesterLens;

typedef enum espyiTesterPlace
{
    espyiTesterPlace_Outside = 0,
    espyiTesterPlace_Touches, ///< The near plane, or the eye.
    espyiTesterPlace_Ahead,
} espyiTesterPlace;

void espyiTesterLens_Make(espyiTesterLens* lens, const espyTesterViewDef* def, const espyMat4* viewProjections);
/// Where a tester is. Ahead, *draw is how it is drawn, but for its id, and *small tells whether that is a box grown to
/// its footprint; both may be null.
espyiTesterPlace espyiTesterLens_Place(const espyiTesterLens* lens, const espyiTester* tester, espyDeviceDraw* draw,
                                       bool* small);

static inline bool espyiTester_IsFinite(float v)
{
    return v - v == 0.0f;
}

static inline bool espyiTester_IsBoxFinite(espyBox b)
{
    return espyiTester_IsFinite(b.min.x) && espyiTester_IsFinite(b.min.y) && espyiTester_IsFinite(b.min.z) &&
           espyiTester_IsFinite(b.max.x) && espyiTester_IsFinite(b.max.y) && espyiTester_IsFinite(b.max.z);
}

#endif
