// SPDX-License-Identifier: MIT
// Baked data in a world: load and unload files at any time, know which node is which entry, hear when data went stale.
//
// Matching. When a file is added, its occluders and occludees are found among the nodes by their world bounds: every
// face within the larger of 10 % of a cell and 1 % of the baked box's longest side. Exact matches come first, then the
// closest ones; a node id in the file only decides between nodes that fit exactly. A node that is created or moved
// later takes an entry that no node has had yet, or one whose node was destroyed and had the same content.
//
// Moving. A node that leaves its baked place (measured from the box as baked, so that small moves add up), changes
// content, or loses its flag OccludeeStatic is tested by its current bounds against the dynamic table from the next
// query on; back in its place, as it was, it uses its bit again.
//
// Stale. A file is stale while any of its occluders is not where it was baked: missing, moved, hidden, of other
// content, or no longer an opaque static occluder. A stale file hides nothing; other files go on. Once every occluder
// is back within the tolerance the file is used again. Where the file says what an occluder's content was
// (espyBakeOccluder.content), a node with another one counts as changed until it is given that. Where it does not, but
// has hashes of triangles, an occluder that fits to the bit but has another hash counts as changed from the start; it
// stays so until the file is added anew.
//
// Threads. What changes the world is for its owner, while nothing queries it. Two calls may run (on the owner's thread)
// while other threads query: espyWorld_AddData and espyWorld_RemoveData. Queries never wait for them; each sees the
// files as they were when it began.
#ifndef ESPY_WORLD_DATA_H
#define ESPY_WORLD_DATA_H

#include <espy/world.h>

typedef struct espyDataId
{
    int32_t index1;
    uint32_t generation;
} espyDataId;

/// A file to use. Start from espyDataDef_Default.
typedef struct espyDataDef
{
    const void* bytes; ///< An .espy file of this machine's byte order at a 16-byte boundary. Borrowed until released.
    size_t size;
    espyVec3 offset;  ///< Metres: where the origin that it was baked for lies in the world. Default 0.
    const char* name; ///< For messages, copied (at most 63 bytes); may be null.
    /// Called once when nothing reads `bytes` any more: by RemoveData, or where a query was still running by a later
    /// call of AddData, RemoveData or espyWorld_CollectData, at the latest by espyWorld_Destroy. May be null.
    void (*release)(const void* bytes, void* context);
    void* releaseContext;
    uint32_t cookie;
} espyDataDef;

/// Why an occluder makes its file stale.
typedef enum espyOccluderState
{
    espyOccluderState_InPlace = 0,
    espyOccluderState_Missing, ///< No node was ever found for it, or it was destroyed.
    espyOccluderState_Moved,
    espyOccluderState_Hidden,
    espyOccluderState_Changed,   ///< Other content.
    espyOccluderState_Unflagged, ///< No longer OccluderStatic, or dynamic.
} espyOccluderState;

/// What a file is doing in the world.
typedef struct espyDataInfo
{
    espyPvsInfo file;
    espyVec3 offset;
    size_t
        tableBytes; ///< Entries, cell map, static and dynamic tables together, exactly: what stays in memory to query.
    size_t worldBytes;         ///< What the world keeps besides to match nodes with it.
    uint32_t occludersInPlace; ///< Of file.occluderCount.
    uint32_t occludeesFound;   ///< Of file.occludeeCount: slots that have a node, in its place or not.
    uint32_t occludeesInPlace;
    bool stale;
} espyDataInfo;

/// Told to the callback when a file becomes stale, and when it is no longer.
typedef struct espyDataNotice
{
    espyDataId data;
    bool stale;
    uint32_t occluder; ///< Entry of the file that decided.
    espyNodeId node;   ///< Its node; null where it has none.
    int32_t sourceId;  ///< The file's id of that node, -1 where it has none.
    espyOccluderState state;
} espyDataNotice;

/// Where a node stands in the loaded files.
typedef struct espyNodeData
{
    espyDataId data; ///< The file that has it as occludee; null: none.
    uint32_t slot;   ///< Of the whole node or of its first unroll cell; ESPY_PVS_NO_SLOT: none.
    bool inPlace;    ///< Its bits count. Of an unrolled node: those of all its cells.
    bool occluder;   ///< Some file has it as occluder.
} espyNodeData;

ESPY_API espyDataDef espyDataDef_Default(void);

/// Validates a file whole and uses it from the next query on. *error (may be null) says what a refused file has wrong.
/// Logs PvsResolved with what was found and the exact size of the tables, and PvsStale where an occluder is missing.
/// Errors: InvalidArgument, OutOfMemory, and those of espyPvs_Load; the world is then as it was, and `release` is not
/// called. Cost: linear in the file, the nodes and all loaded slots; 100,000 nodes: docs/loading.md.
/// Thread: owner; queries may run.
ESPY_API espyResult espyWorld_AddData(espyWorld* world, const espyDataDef* def, espyDataId* out, espyDataError* error);

/// Stops using a file. Its nodes go to the other files where those have entries for them that are free, else to the
/// dynamic tables. Errors: InvalidId, OutOfMemory (the file is then still in use). Cost: as AddData.
/// Thread: owner; queries may run.
ESPY_API espyResult espyWorld_RemoveData(espyWorld* world, espyDataId data);

/// Releases what was replaced or removed while queries ran, where these have ended. Returns how many changes still
/// wait. Thread: owner; queries may run.
ESPY_API uint32_t espyWorld_CollectData(espyWorld* world);

/// Loaded files in order of loading; null id past the end. Thread: any.
ESPY_API uint32_t espyWorld_GetDataCount(const espyWorld* world);
ESPY_API espyDataId espyWorld_GetDataAt(const espyWorld* world, uint32_t index);
/// Errors: InvalidId, InvalidArgument. Cost: linear in the slots. Thread: any.
ESPY_API espyResult espyWorld_GetDataInfo(const espyWorld* world, espyDataId data, espyDataInfo* out);

/// Places a file elsewhere. Nodes that were in place must move along (before or after), or it is stale in between; to
/// move a whole world use espyWorld_MoveOrigin. Errors: InvalidId, InvalidArgument (not finite).
/// Cost: linear in the nodes. Thread: owner.
ESPY_API espyResult espyWorld_SetDataOffset(espyWorld* world, espyDataId data, espyVec3 offset);

/// Moves the origin of the world to `origin`: subtracts it from the place of every root node and from the offset of
/// every file, so that what was in place stays so. For floating origins. No notice is given unless a file really
/// changes. Errors: InvalidArgument (not finite, or a node would get there; nothing is changed). Cost: that of moving
/// every node. Thread: owner.
ESPY_API espyResult espyWorld_MoveOrigin(espyWorld* world, espyVec3 origin);

/// True while any loaded file is stale. Thread: any.
ESPY_API bool espyWorld_IsOcclusionDataStale(const espyWorld* world);
/// True while this one is; false for an id that is none. Thread: any.
ESPY_API bool espyWorld_IsDataStale(const espyWorld* world, espyDataId data);

/// `notice` is called, once each, when a file becomes stale and when it is no longer, from within the call that changed
/// it; the log gets PvsStale or PvsFits at the same time. It must not change the world. Null: none. Thread: owner.
ESPY_API void espyWorld_SetDataCallback(espyWorld* world, void (*notice)(const espyDataNotice* notice, void* context),
                                        void* context);

/// State of one occluder of a file; `node` (may be null) gets its node. Missing for ids and entries that are none.
/// Thread: any.
ESPY_API espyOccluderState espyWorld_GetOccluderState(const espyWorld* world, espyDataId data, uint32_t occluder,
                                                      espyNodeId* node);

/// Where a node stands; all null for an id that is none. Thread: any.
ESPY_API espyNodeData espyWorld_GetNodeData(const espyWorld* world, espyNodeId node);

/// Unroll cells of an InstancedMesh3D where espyWorldDef.unrollInstances is set; 1 for every other node, 0 for an id
/// that is none. Thread: owner.
ESPY_API uint32_t espyWorld_GetPartCount(const espyWorld* world, espyNodeId node);
/// Instances that part `part` of such a node draws: `count` indices, borrowed until the node or the files change; null
/// for a part that does not exist. Thread: owner.
ESPY_API const uint32_t* espyWorld_GetPartInstances(const espyWorld* world, espyNodeId node, uint32_t part,
                                                    uint32_t* count);

#endif
