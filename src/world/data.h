// SPDX-License-Identifier: MIT
// Inside of the world's draws and files: who owns which array, and what the files that keep them up to date share.
//
//   espyiSnapshot   what queries see: groups, and for each node slot where its draws are. Replaced when a file comes or
//                   goes, changed in place when nodes do.
//   espyiGroup      draws of one file (or of none) with what is known of its occluders. Shared by snapshots until a new
//                   one has to change it.
//   espyiFile       the bytes and their owner. Shared by groups.
//
// A snapshot that was replaced is kept until the queries that may have taken it have ended. Based on: P. McKenney and
// J. Slingwine, "Read-Copy Update", 1998, with readers counted in two alternating generations.
#ifndef ESPYI_DATA_H
#define ESPYI_DATA_H

#include "world/draws.h"
#include "world/match.h"
#include "world/unroll.h"
#include "world/world_internal.h"

#include <espy/world_data.h>
#include <stdatomic.h>

#define ESPYI_DATA_NAME_SIZE 64u

typedef struct espyiFile
{
    uint32_t holders;
    espyPvs pvs;
    float bakedCellSize; ///< Metres: what nodes are matched by. Smaller than the cells where a cook joined them.
    espyDataId id;
    void (*release)(const void* bytes, void* context);
    void* releaseContext;
    char name[ESPYI_DATA_NAME_SIZE];
} espyiFile;

/// An occluder entry of a file.
typedef struct espyiOccluder
{
    int32_t node;  ///< Slot of its node; ESPYI_WORLD_NONE: none has it.
    int32_t part;  ///< -1, or its unroll cell.
    uint32_t next; ///< The next entry of the same node, or ESPYI_DRAWS_NONE.
    espyOccluderState state;
    uint64_t content; ///< Key of the node that has it or had it last; 0: none ever had.
} espyiOccluder;

/// Node slots to numbers: open addressing, removal by moving back. Never full.
typedef struct espyiSlotMap
{
    int32_t* keys; ///< ESPYI_WORLD_NONE: empty.
    uint32_t* values;
    uint32_t mask; ///< 0: no memory yet.
    uint32_t count;
} espyiSlotMap;

typedef struct espyiGroup
{
    espyiDrawGroup draws; ///< First, so that a pointer to it is one to the group.
    uint32_t holders;
    espyiFile* file;    ///< Null: the group of nodes that are in no file.
    uint32_t freeDraw;  ///< Of those that have no slot: a list through draws.next.
    uint64_t* contents; ///< By slot: key of the node that has it or had it last; 0: none ever had.
    espyiOccluder* occluders;
    uint32_t displaced; ///< Occluders that are not in place.
    bool announcedStale;
    espyiSlotMap firstOccluder; ///< By node slot.
    espyiBoxTable freeSlots, freeOccluders;
} espyiGroup;

/// Where the draws of a node are. group NONE: the slot has no node.
typedef struct espyiHome
{
    uint32_t group, first;
    uint32_t occluderOf; ///< Files that have it as occluder.
} espyiHome;

typedef struct espyiSnapshot
{
    espyiDraws draws; ///< First.
    espyiGroup** groups;
    espyiHome* homes; ///< By node slot.
    size_t homeCapacity;
    struct espyiSnapshot* next; ///< Among those that wait for readers.
} espyiSnapshot;

/// What a node may be in a file: one box for each of its parts, behind each other.
typedef struct espyiCandidates
{
    espyiMatchCandidate* list;
    uint32_t* found; ///< Entry of each, or NONE.
    size_t count, capacity, foundCapacity;
} espyiCandidates;

/// What a world keeps for all this.
struct espyiWorldData
{
    _Atomic(espyiSnapshot*) current;
    atomic_uint generation; ///< Readers of an even one count in readers[0].
    atomic_uint readers[2];
    espyiSnapshot* waiting[2]; ///< Replaced in this generation and in the last one.
    bool unrollInstances;
    bool cullingEnabled;
    bool quiet;            ///< Notices wait: the origin is being moved.
    espyiUnroll** unrolls; ///< By node slot: its unroll cells, where they are known.
    size_t unrollCapacity;
    espyiCandidates offered; ///< Of the node that is offered to a file; room for the parts of any node.
    uint32_t* idGenerations; ///< By index of espyDataId.
    size_t idCount, idCapacity;
    void (*notice)(const espyDataNotice* notice, void* context);
    void* noticeContext;
};

// --- draws.c

espyiGroup* espyiGroup_Create(const espyHooks* hooks, espyiFile* file);
espyiGroup* espyiGroup_Clone(const espyHooks* hooks, const espyiGroup* group);
/// Gives up one hold; the last one frees it, and its file with the last group.
void espyiGroup_Drop(const espyHooks* hooks, espyiGroup* group);
/// Makes room for `count` more draws without a slot. False where memory ends, with the group as it was.
bool espyiGroup_Reserve(const espyHooks* hooks, espyiGroup* group, size_t count);
/// Takes a draw without a slot, for which there is room.
uint32_t espyiGroup_TakeDraw(espyiGroup* group);
/// Empties a draw; one without a slot can be taken again.
void espyiGroup_ClearDraw(espyiGroup* group, uint32_t draw);

/// A copy that shares all groups; null where memory ends.
espyiSnapshot* espyiSnapshot_Clone(const espyHooks* hooks, const espyiSnapshot* from, uint32_t groupCapacity);
void espyiSnapshot_Free(const espyHooks* hooks, espyiSnapshot* snapshot);
/// Makes group `index` one that only this snapshot holds; null where memory ends.
espyiGroup* espyiSnapshot_Own(const espyHooks* hooks, espyiSnapshot* snapshot, uint32_t index);
/// Makes it what queries see.
void espyiWorldData_Publish(espyWorld* world, espyiSnapshot* snapshot);
/// For the owner of the world.
static inline espyiSnapshot* espyiWorldData_Current(const espyWorld* world)
{
    return atomic_load_explicit(&world->data->current, memory_order_relaxed);
}

uint32_t espyiSlotMap_Find(const espyiSlotMap* map, int32_t slot);
bool espyiSlotMap_Reserve(const espyHooks* hooks, espyiSlotMap* map, size_t count);
/// Sets the value of a slot, for which there is room.
void espyiSlotMap_Put(espyiSlotMap* map, int32_t slot, uint32_t value);
void espyiSlotMap_Remove(espyiSlotMap* map, int32_t slot);

/// Unroll cells of a node where they are known, else null.
static inline const espyiUnroll* espyiWorldData_UnrollOf(const espyWorld* world, int32_t slot)
{
    return world->nodes[slot].kind == espyNodeKind_InstancedMesh3D ? world->data->unrolls[slot] : NULL;
}

// --- data_nodes.c: what a node's draws and occluders are now

/// What two nodes with the same geometry share, never 0. Of terrain and voxels: what a node shares with itself as long
/// as nobody edits it.
uint64_t espyiWorldData_ContentKey(const espyWorld* world, int32_t slot);
/// True for terrain and voxels, whose key is not their content's hash.
bool espyiWorldData_IsField(const espyWorld* world, int32_t slot);
/// True for nodes that a bake takes as occluder or occludee, hidden ones included.
bool espyiWorldNode_MayOcclude(const espyiWorldNode* node);
bool espyiWorldNode_MayBeOccludee(const espyiWorldNode* node);
/// Bounds of one part as occluder or as occludee; part -1: all of it.
espyBox espyiWorldData_PartBox(const espyWorld* world, int32_t slot, int32_t part, bool occluder);
/// Number of draws that a node has while it is in no file.
uint32_t espyiWorldData_DrawsOf(const espyWorld* world, int32_t slot);

/// Writes box and bits of a draw whose node and part are set.
void espyiGroup_RefreshDraw(const espyWorld* world, espyiGroup* group, uint32_t draw);
/// Gives a node that has no home its draws in a group that is its snapshot's own and has room: `slots[k]` is the slot
/// of part k - 1 or NONE (k 0: the whole node), slotCount 1 + parts; null: no slots.
void espyiSnapshot_PlaceNode(const espyWorld* world, espyiSnapshot* snapshot, uint32_t group, int32_t slot,
                             const uint32_t* slots, uint32_t slotCount);
/// Takes a node's draws away. Its slots can be taken again by the same content.
void espyiSnapshot_RemoveNode(espyiSnapshot* snapshot, int32_t slot);

/// Finds out again whether an occluder is in place.
void espyiGroup_RefreshOccluder(const espyWorld* world, espyiGroup* group, uint32_t entry);
/// Gives an entry of a group to a node, whose content is known.
void espyiSnapshot_TakeOccluder(const espyWorld* world, espyiSnapshot* snapshot, uint32_t group, uint32_t entry,
                                int32_t slot, int32_t part, uint64_t content);
/// The first entry that is out of place; 0 where none is.
uint32_t espyiGroup_FirstDisplaced(const espyiGroup* group);
/// Sets `usable`.
void espyiGroup_RefreshUsable(espyiGroup* group);
/// Gives the notice where the file became stale or is no longer. `entry` decided.
void espyiGroup_Announce(const espyWorld* world, espyiGroup* group, uint32_t entry);

// --- data_load.c

/// Appends the boxes of a node in the space of a group's file; false where memory ends.
bool espyiCandidates_Add(const espyWorld* world, const espyiGroup* group, int32_t slot, bool occluder,
                         espyiCandidates* candidates);
void espyiCandidates_Free(const espyHooks* hooks, espyiCandidates* candidates);
/// Makes the unroll cells of an instanced node fit a file unless a file uses them as they are. Where that changes them
/// *old is what they were, to be freed by the caller. False where memory ends.
bool espyiWorldData_FitUnroll(espyWorld* world, const espyiHome* home, int32_t slot, const espyPvs* pvs,
                              espyiUnroll** old, bool* changed);
/// Index of a file's group; 0 for an id that is none.
uint32_t espyiSnapshot_FindData(const espyiSnapshot* snapshot, espyDataId id);
uint32_t espyiSnapshot_CountDraws(const espyiSnapshot* snapshot);

static inline bool espyiVec3_IsFinite(espyVec3 v)
{
    return v.x - v.x == 0.0f && v.y - v.y == 0.0f && v.z - v.z == 0.0f;
}

// --- baked_hash.c

/// Where the file knows what an occluder's content was: changes its state where its node has another one. False where
/// the file does not know. The occluder's key must be its node's.
bool espyiGroup_CheckContent(const espyWorld* world, espyiGroup* group, uint32_t entry);
/// Does so for all occluders, and looks at the hashes of those of which the file knows no more, that have a node and
/// fit to the bit. Those that differ where others agree are given a content that no node has: the node was edited since
/// the bake. False where memory ends.
bool espyiGroup_CheckHashes(const espyWorld* world, espyiGroup* group);

// --- unrolling

/// The double-precision world transform, composed from the root down as a bake does; false for hierarchies of more than
/// 256 levels.
bool espyiWorldData_ExactTransform(const espyWorld* world, int32_t slot, espyiMat4d* out);

/// Side of the unroll cells that a node has in a file (or in none: null), metres.
float espyiWorldData_UnrollSize(const espyWorld* world, int32_t slot, const espyPvs* pvs);
/// Cells of an InstancedMesh3D for a file, computed from where it is now; null where memory ends or it has no mesh.
espyiUnroll* espyiWorldData_MakeUnroll(const espyWorld* world, int32_t slot, const espyPvs* pvs);

#endif
