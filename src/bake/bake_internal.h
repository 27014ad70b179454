// SPDX-License-Identifier: MIT
// What the files of the bake share: the gathered scene, one target, one worker's search, and the pipeline's steps.
//
// Everything is worked out in coordinates relative to the lattice origin ("local"), so that a level moved by an offset
// that floats represent exactly gives the same sets.
#ifndef ESPYI_BAKE_INTERNAL_H
#define ESPYI_BAKE_INTERNAL_H

#include <espy/bake.h>

#include <stdatomic.h>

#include "bake/grid.h"
#include "bake/proof.h"
#include "bake/tables.h"
#include "bake/viewers.h"
#include "core/core.h"
#include "core/tasks.h"
#include "geometry/bvh.h"
#include "pvs/content_hash.h"

/// Surfaces this close never hide each other; also where a segment ends before its target. Metres.
#define ESPYI_SURFACE_GAP 1e-4f
/// A line counts for a cell when it runs at least this far inside it. Metres: twenty float steps at 100 m.
#define ESPYI_CELL_DEPTH 2e-4

#define ESPYI_MAX_SAMPLES 17
/// In a cell's mask of samples: a front face is seen from one that is in the open.
#define ESPYI_SAMPLES_FRONT (1u << 31)
/// Corners, centre, face centres, vertices, six face grids.
#define ESPYI_MAX_FIXED_TARGETS (15 + 24 + 6 * 8 * 8)

// --- messages and cancelling

typedef struct espyiWarnings
{
    const espyHooks* hooks;
    espyBakeWarning* items;
    size_t count, capacity;
} espyiWarnings;

/// Adds the message's text with its arguments, and logs it. False: out of memory.
bool espyiWarnings_Add(espyiWarnings* warnings, espyMessageId id, int32_t node, ...);
void espyiWarnings_Free(espyiWarnings* warnings);

/// Shared by all workers of one bake.
typedef struct espyiControl
{
    atomic_bool stop;        ///< Cancelled or failed: jobs end as soon as they see it.
    atomic_bool outOfMemory; ///< Why, where it was not the caller.
    atomic_bool ioFailed;
    bool alone; ///< One thread: a job's polls are the only place to call the progress callback from.
    double lastTick;
    double deadline;             ///< On espyiClock_Seconds; 0: none.
    atomic_bool late;            ///< Some target was not searched to the end because of it.
    bool (*tick)(void* context); ///< Null: no callback.
    void* tickContext;
    atomic_ullong rays, done;
} espyiControl;

/// False where the work should stop. Cheap enough for every few hundred rays.
bool espyiControl_Poll(espyiControl* control);
/// For espyiTasks_For; `context` is the control.
bool espyiControl_Tick(void* context);
/// For an espyiPoll of the calling thread while no other runs; `context` is the control.
bool espyiControl_GoesOn(void* context);
/// For an espyiPoll of a job; `context` is the control. False also after the deadline.
bool espyiControl_JobGoesOn(void* context);
/// True after the deadline.
bool espyiControl_IsLate(const espyiControl* control);
void espyiControl_Fail(espyiControl* control);

// --- stages and their counts

typedef enum espyiStage
{
    espyiStage_Prepare = 0,
    espyiStage_Near,
    espyiStage_Lines,
    espyiStage_Proof,
    espyiStage_Fixed,
    espyiStage_Guided,
    espyiStage_Ladder,
    espyiStage_Dynamic,
    espyiStage_Write,
    espyiStage_Count,
} espyiStage;

typedef struct espyiStageCount
{
    uint64_t rays, pairs;
    double cpuSeconds;
} espyiStageCount;

// --- the gathered scene

typedef struct espyiScene
{
    const espyHooks* hooks;
    espyiPoll* poll; ///< While it is gathered; may be null.
    const espyBakeInput* input;
    espyiGrid grid;
    // All occluders as one local soup; object = index of the occluder. Bad triangles are left out.
    espyVec3* positions;
    uint32_t* indices;
    uint32_t* objects;
    uint32_t vertexCount, triangleCount;
    espyBox* occluderBoxes;   ///< World bounds of the finite vertices.
    espyBox* occludeeBoxes;   ///< As given; a point where they are not valid.
    bool* occludeeBad;        ///< No finite bounds: always visible.
    uint64_t* occluderHashes; ///< Of local triangles.
    uint64_t* occludeeHashes; ///< Of local triangles, box, part and its own occluders.
    uint64_t settingsHash, contentHash;
    espyVec3* viewPoints; ///< Local, finite; of quality proven only, where they decide.
    uint32_t viewPointCount;
    float reach; ///< Longer than any line between two points that matter, metres.
} espyiScene;

/// Checks the input and finds its bounds. `message` gets one line on failure, none where the poll (may be null) stops.
espyResult espyiScene_Validate(const espyBakeInput* input, espyiPoll* poll, char* message, size_t messageSize);
/// Grid, boxes, soup and hashes. Warnings are added for what is odd. Asks out->poll.
espyResult espyiScene_Gather(const espyBakeInput* input, const espyBakeDef* def, espyiWarnings* warnings,
                             espyiScene* out, char* message, size_t messageSize);
void espyiScene_Free(espyiScene* scene);
uint64_t espyiScene_SettingsHash(const espyBakeDef* def);

static inline espyVec3 espyiScene_ToLocal(const espyiGrid* grid, espyVec3 p)
{
    return (espyVec3){p.x - grid->origin.x, p.y - grid->origin.y, p.z - grid->origin.z};
}

static inline bool espyiFinite3(espyVec3 p)
{
    // x - x is 0 for finite values only.
    return p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f;
}

// --- cell samples and the fixed targets

uint32_t espyiSamples_Count(espyBakeQuality quality);
/// Local position of sample `index` of a cell.
espyVec3 espyiSamples_Point(const espyiGrid* grid, uint32_t rank, espyBakeQuality quality, uint32_t index);

/// Writes the fixed targets of an occludee in local coordinates: centre, corners, face centres, vertices by stride,
/// face grids. `mesh` is in world coordinates. Returns how many.
uint32_t espyiSamples_Targets(const espyiGrid* grid, espyBakeQuality quality, espyBox localBox,
                              const espyTriangles* mesh, espyVec3 out[ESPYI_MAX_FIXED_TARGETS]);

/// How far before `target` a segment of this length ends: the gap, and what floats lose that far out.
static inline float espyiSurfaceGap(espyVec3 target, float length)
{
    float largest = target.x < 0.0f ? -target.x : target.x;
    largest = target.y > largest ? target.y : -target.y > largest ? -target.y : largest;
    largest = target.z > largest ? target.z : -target.z > largest ? -target.z : largest;
    return ESPYI_SURFACE_GAP + 2.4e-7f * (largest + length);
}

/// The open segment that must be free for `from` to see `to`.
espyiSegment espyiSamples_Segment(espyVec3 from, espyVec3 to);

/// True where the closest hit in every one of 14 directions is a back face: inside something solid. `rays` is counted
/// up. One-sided and open meshes leave an escape or a front face.
bool espyiSolid_IsInside(const espyiBvh* bvh, espyVec3 point, float reach, uint64_t* rays);
/// Fills `masks` (bit i: sample i of the cell is in the open; ESPYI_SAMPLES_FRONT), grid->solid and solidCount. False:
/// stopped.
bool espyiSolid_Classify(espyiScene* scene, const espyiBvh* bvh, espyBakeQuality quality, uint32_t threads,
                         espyiControl* control, uint32_t* masks, espyiStageCount* count);

// --- one target

/// Where a target's own occluders are. They block in free space though they never hide the target, so a proof has to
/// speak of them as of the target itself.
typedef enum espyiOwnPlace
{
    espyiOwnPlace_Surface = 0, ///< Each of their triangles is one of the target's: proofs may speak of these alone.
    espyiOwnPlace_Parts,       ///< Each lies in the box of one part: of these boxes.
    espyiOwnPlace_Elsewhere,   ///< Of proofBounds.
} espyiOwnPlace;

/// What is to be seen: a surface of triangles (an occludee; the faces of its box where it has none) or a volume (a
/// coarse block). Local coordinates. The arrays are a worker's and are reused.
typedef struct espyiTarget
{
    espyBox box;    ///< As given: near rule and fixed targets.
    espyBox bounds; ///< The box and every triangle.
    /// What proofs speak of: bounds, and the target's own occluders. Own triangles block in free space; that is sound
    /// only where reaching them counts as reaching the target.
    espyBox proofBounds;
    espyiOwnPlace own;
    bool volume;
    espyiSkip skip;
    uint64_t seed;
    uint32_t triangleCount;
    espyVec3* corners;  ///< Three a triangle, in the order of the parts.
    double* cumulative; ///< Area up to and with each triangle.
    uint32_t partCount;
    espyiBoxD* parts;    ///< Clusters of at most 6 triangles.
    uint32_t* partFirst; ///< First triangle of each part, and triangleCount at the end.
    uint32_t fixedCount;
    espyVec3 fixedTargets[ESPYI_MAX_FIXED_TARGETS];
    size_t cornerCapacity, cumulativeCapacity, partCapacity, firstCapacity, orderCapacity;
    uint32_t* order; ///< Scratch of the clustering.
} espyiTarget;

/// False: out of memory, or stopped.
bool espyiTarget_FillOccludee(espyiTarget* target, const espyiScene* scene, uint32_t occludee, espyBakeQuality quality,
                              espyiPoll* poll);
/// False: out of memory.
bool espyiTarget_FillBlock(espyiTarget* target, const espyiScene* scene, uint32_t coarse);
void espyiTarget_Free(espyiTarget* target, const espyHooks* hooks);
/// A random point of the surface (by area, with a share on edges and corners, which stick out) or of the volume.
espyVec3 espyiTarget_RandomPoint(const espyiTarget* target, espyiRng* rng);
/// What a proof about the target may speak of, by where the target's own occluders are: triangles, the boxes of its
/// parts, or all of `bounds`. Borrows from both.
espyiProofTarget espyiTarget_DescribeProof(const espyiTarget* target, const espyiBoxD* bounds);
/// The point of the surface that a camera at `from` should look at when it aims at `to`: the first one on the line, or
/// else the nearest to `to`.
espyVec3 espyiTarget_Aim(const espyiTarget* target, espyVec3 from, espyVec3 to);

// --- the search of one worker

/// Answers of one target, over open cells.
typedef struct espyiTargetCounts
{
    uint64_t visible, provenHidden, hidden, unknown; ///< hidden: by sampling.
    bool late; ///< Time ran out: what was not settled is unknown in every quality.
} espyiTargetCounts;

/// What every worker reads.
typedef struct espyiSearchShared
{
    const espyiScene* scene;
    const espyiBvh* bvh;
    const espyiFreeSpace* space; ///< Null: no proofs.
    const uint32_t* viewers;     ///< Leaves that a camera can be in; null: all.
    const espyiCellTree* tree;
    const uint32_t* sampleMasks;
    espyBakeQuality quality;
    float nearDistance;
    uint32_t threads;
    espyiControl* control;
} espyiSearchShared;

#define ESPYI_LINE_BATCH 64

/// A line that found something, to look around it.
typedef struct espyiLine
{
    espyVec3 origin, end;
    uint32_t triangle; ///< That it hit; UINT32_MAX none.
} espyiLine;

#define ESPYI_LINE_POOL 256

typedef struct espyiSearcher
{
    const espyiSearchShared* shared;
    espyiPoll poll; ///< Of this worker.
    espyiProver* prover;
    espyiTarget target;
    espyiRng rng;
    uint32_t* visible;              ///< Over cells: witnessed, or near.
    uint32_t* hidden;               ///< Over cells: proven.
    espyVec3* witness;              ///< Over cells: surface point of the line that found it.
    uint32_t* queue;                ///< Cells found, in order.
    uint32_t queueCount, queueHead; ///< The frontier has looked around those before the head.
    uint32_t* open;                 ///< Cells that the fixed rays have yet to see.
    uint32_t openFound;             ///< Of those found, not solid.
    uint8_t* tries;   ///< Over cells: times that the frontier aimed at it, and the ladder's next rung << 4.
    bool everywhere;  ///< Also cells that no camera is likely to be in get aimed lines.
    uint32_t cell;    ///< The one that the ladder works on.
    uint64_t climbed; ///< Work of the ladder on this target, in rays' worth.
    espyiSegment segments[ESPYI_LINE_BATCH];
    espyiHit hits[ESPYI_LINE_BATCH];
    uint32_t goals[ESPYI_LINE_BATCH]; ///< Cells that the batch is aimed at, where it is.
    espyiLine pool[ESPYI_LINE_POOL];
    uint32_t poolCount, poolNext;
    espyiStageCount stages[espyiStage_Count];
    espyiStageCount* stage; ///< The one that rays are counted for.
    double stageStart;      ///< CPU seconds.
    uint64_t work;          ///< Rays, and proofs in rays' worth.
} espyiSearcher;

bool espyiSearcher_Init(espyiSearcher* searcher, const espyiSearchShared* shared);
/// What it counted stays.
void espyiSearcher_Free(espyiSearcher* searcher);
/// Answers for searcher->target: fills visible and hidden. False: stopped.
bool espyiSearcher_Run(espyiSearcher* searcher, espyiTargetCounts* counts);

/// Neither seen nor proven hidden. Solid cells too: a line may pass where none of their samples is.
static inline bool espyiSearcher_IsOpen(const espyiSearcher* searcher, uint32_t cell)
{
    return !espyiBits_Get(searcher->visible, cell) && !espyiBits_Get(searcher->hidden, cell);
}

/// The cell sees the target: `witness` is a point of it that is seen.
void espyiSearcher_See(espyiSearcher* searcher, uint32_t cell, espyVec3 witness);

/// The fixed scheme on all cells that are still open. False: stopped.
bool espyiFixed_Run(espyiSearcher* searcher);

/// Marks every cell that the line runs through for t in (0, tEnd); `direction` has unit length. Returns how many open
/// cells were new.
uint32_t espyiLines_Mark(espyiSearcher* searcher, espyVec3 origin, espyVec3 direction, float tEnd);
/// Casts segments [0, count) of the batch (unit directions) to their ends and marks. Lines that found cells go to the
/// pool. Returns how many open cells were new.
uint32_t espyiLines_Cast(espyiSearcher* searcher, uint32_t count);
/// A line from a point of the target towards `towards`, as long as the scene is. False: the two coincide.
bool espyiLines_Aim(const espyiSearcher* searcher, espyVec3 origin, espyVec3 towards, espyiSegment* out);
/// A line from the same point past the nearest rim of what a blocked line hit. False: there is none.
bool espyiLines_Swerve(espyiSearcher* searcher, const espyiSegment* line, const espyiHit* hit, espyiSegment* out);
/// Random, mutated and border lines until they find too little.
bool espyiLines_Explore(espyiSearcher* searcher);
espyVec3 espyiLines_RandomDirection(espyiRng* rng);

// --- earlier work

/// An earlier file whose answers can be copied: same grid, occluders and settings.
typedef struct espyiPrevious
{
    void* owned; ///< A copy in this machine's byte order and alignment.
    espyPvs pvs;
    bool usable;
    uint32_t* slots; ///< Of each occludee: the slot with the same content, or UINT32_MAX.
    uint32_t copied;
} espyiPrevious;

/// Compares and matches; a file that is of no use adds a warning and leaves `usable` false. Errors: OutOfMemory,
/// Cancelled (by the poll, which may be null).
espyResult espyiPrevious_Open(espyiPrevious* previous, const espyiScene* scene, const espyBakeDef* def, espyiPoll* poll,
                              espyiWarnings* warnings);
void espyiPrevious_Close(espyiPrevious* previous, const espyHooks* hooks);
/// Cells proven not to see an old occludee slot.
uint32_t espyiPrevious_GetProven(const espyiPrevious* previous, uint32_t slot);
/// Cells that draw an old occludee slot for want of a proof.
uint32_t espyiPrevious_GetUnknown(const espyiPrevious* previous, uint32_t slot);
/// The column of an old occludee slot, or of a coarse block.
void espyiPrevious_GetStatic(const espyiPrevious* previous, uint32_t slot, uint32_t* cellBits);
void espyiPrevious_GetDynamic(const espyiPrevious* previous, uint32_t coarse, uint32_t* cellBits);

/// A file of finished columns that grows as the bake goes on.
typedef struct espyiCheckpoint espyiCheckpoint;

/// Receives each column that an earlier run finished. False: out of memory.
typedef bool espyiCheckpointFn(void* context, uint32_t column, const uint32_t* cellBits,
                               const espyiTargetCounts* counts);

/// Opens or starts the file. Columns of an earlier run of the same bake go to `restore`; what is damaged is
/// dropped with a warning. Errors: BadData (not a checkpoint at all: the file is left as it is), OutOfMemory, Io.
espyResult espyiCheckpoint_Open(const char* path, uint64_t bakeHash, uint32_t columnCount, uint32_t cellCount,
                                espyiWarnings* warnings, const espyHooks* hooks, espyiCheckpointFn* restore,
                                void* context, espyiCheckpoint** out);
/// Thread: any. False: the file could not be written.
bool espyiCheckpoint_Append(espyiCheckpoint* checkpoint, uint32_t column, const uint32_t* cellBits,
                            const espyiTargetCounts* counts);
/// `remove`: the bake is finished and nothing is left to resume.
void espyiCheckpoint_Close(espyiCheckpoint* checkpoint, bool remove);

#endif
