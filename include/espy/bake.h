// SPDX-License-Identifier: MIT
// The bake: which occludees can be seen from anywhere in each cell, found offline and written as one relocatable blob.
//
// An engine fills espyBakeInput from its own scene (plain world-space arrays), calls espyBake_Run and stores the bytes.
// Tools fill it from a world (editor.h). Part of the library espy-bake, which may allocate and start threads.
//
// Method: uniform cells and first-unblocked-ray-wins sampling; guided lines after Wonka et al., "Guided Visibility
// Sampling", 2006, and Bittner et al., "Adaptive Global Visibility Sampling", 2009; free-space floods of
// docs/notes/proof.md settle hidden pairs before rays are spent on them.
//
// Same bytes for any number of threads and any instruction set.
#ifndef ESPY_BAKE_H
#define ESPY_BAKE_H

#include <espy/mesh.h>
#include <espy/pvs.h>

/// Coordinates beyond this are refused: 32-bit floats step by more than 1 mm there.
#define ESPY_BAKE_MAX_COORDINATE 16384.0f
/// Stored cells above which the bake refuses unless maxCells says more, and above which it warns.
#define ESPY_BAKE_MAX_CELLS 262144u
#define ESPY_BAKE_WARN_CELLS 65536u

/// Opaque static triangles that block sight from both sides.
typedef struct espyBakeOccluder
{
    espyTriangles mesh; ///< World space, opaque parts only.
    int32_t node;       ///< The caller's id, stored in the file.
    const char* name;   ///< For messages; may be null.
    /// What the object's content is, in its own space, as a number of the caller's that changes with it: stored in the
    /// file, so that whoever loads it finds out whether the object is still what was baked, wherever it stands and
    /// however its triangles were brought into the world. For nodes of a world espyWorld_GetContentHash, which
    /// espyWorld_AddData compares it with. 0 (default): not known. Never changes the answers.
    uint64_t content;
} espyBakeOccluder;

/// A thing to be culled as one.
typedef struct espyBakeOccludee
{
    espyTriangles mesh; ///< World-space surface. Without triangles the faces of `box` are the surface.
    espyBox box;        ///< World bounds of all that is ever drawn for it.
    int32_t node;       ///< The caller's id, stored in the file.
    int32_t part;       ///< -1: a whole node; 0..: one unroll cell of an instanced node.
    /// The occluders [firstOwn, firstOwn + ownCount) are this occludee's own triangles and never block rays towards it.
    uint32_t firstOwn, ownCount;
    const char* name; ///< For messages; may be null.
} espyBakeOccludee;

/// A volume that cameras can be in: the cube -0.5..0.5 under this transform.
typedef struct espyBakeArea
{
    espyMat4 transform;
} espyBakeArea;

/// The scene as plain arrays. Borrowed for the length of the call.
typedef struct espyBakeInput
{
    const espyBakeOccluder* occluders;
    const espyBakeOccludee* occludees;
    const espyBakeArea* areas;  ///< None: the union of all occludee bounds.
    const espyVec3* viewPoints; ///< Places that a camera is known to reach (cameras of the level, --start).
    uint32_t occluderCount, occludeeCount, areaCount, viewPointCount;
} espyBakeInput;

typedef enum espyBakeStage
{
    espyBakeStage_Prepare = 0, ///< Validation, hashes, BVH, free space, grid, solid cells.
    espyBakeStage_Static,      ///< One unit an occludee.
    espyBakeStage_Dynamic,     ///< One unit a coarse block.
    espyBakeStage_Write,       ///< Shared sets and the blob.
} espyBakeStage;

/// Passed to the progress callback.
typedef struct espyBakeProgress
{
    espyBakeStage stage;
    uint64_t done, total; ///< Units of work over all stages; done never falls.
    uint64_t cells;       ///< Stored cells of the bake, 0 until the grid stands.
    uint64_t rays;
    double seconds;
} espyBakeProgress;

/// A numbered remark about the input. `text` is one finished line.
typedef struct espyBakeWarning
{
    espyMessageId id;
    int32_t node; ///< -1 where no node is meant.
    const char* text;
} espyBakeWarning;

/// Settings that a level can carry itself and that decide the answers.
typedef enum espyBakeSetting
{
    espyBakeSetting_CellSize = 1 << 0,
    espyBakeSetting_Quality = 1 << 1,
    espyBakeSetting_DynamicObjects = 1 << 2,
} espyBakeSetting;

/// Settings of one bake. Start from espyBakeDef_Default.
typedef struct espyBakeDef
{
    espyBakeQuality quality;  ///< Default Medium.
    float cellSize;           ///< Metres, > 0. Default 4. Halving it makes eight times the cells.
    float nearDistance;       ///< Metres, >= 0. Default 0.1: what touches the cell grown by this is visible.
    float smallestHole;       ///< Metres, 0..1. Default 0: openings below it may be ignored by proofs.
    uint32_t maxCells;        ///< Default ESPY_BAKE_MAX_CELLS.
    bool dynamicObjects;      ///< Default true: also bake the coarse table for things that move.
    bool occlusionCulling;    ///< Default true; stored in the file.
    uint32_t consoleBudgetKB; ///< Default 512; 0 unlimited; stored in the file.
    /// espyBakeSetting bits: taken from the level itself and not given by whoever bakes. Default 0. Stored in the file,
    /// so that a later check knows which must still be the level's. Never changes the answers.
    uint32_t levelSettings;
    uint64_t seed;   ///< Default 1. Another seed looks along other random lines.
    int32_t threads; ///< 0: one a core. 1 starts none. Never changes the result.
    espyIsa isa;     ///< Cap on the kernels. Never changes the result.
    /// Seconds, 0..1e5; 0: as long as it takes. After that the search stops, and what it has not settled is drawn:
    /// still safe, but no longer the same file everywhere, so a later bake reuses none of its answers. Default 0.
    float timeBudget;
    const void* previous; ///< An earlier file of this level to copy unchanged answers from, or null. Either byte order.
    size_t previousSize;
    const char* checkpointPath; ///< File that an interrupted bake resumes from, or null.
    /// Called from the calling thread a few times a second; return false to cancel within 200 ms. May be null.
    bool (*progress)(const espyBakeProgress* progress, void* context);
    void* progressContext;
    espyHooks hooks;
    uint32_t cookie;
} espyBakeDef;

/// Work and time of one stage of the search.
typedef struct espyBakeStageStats
{
    const char* name; ///< "near", "proof", "fixed", "lines", "ladder", "dynamic" ...
    uint64_t rays;
    uint64_t pairs; ///< Pairs of cell and occludee that this stage settled.
    double cpuSeconds;
} espyBakeStageStats;

#define ESPY_BAKE_MAX_STAGES 12

/// What a bake did. visible + hidden + unknown = (cells - solidCells) * occludees; provenHidden is part of hidden.
typedef struct espyBakeStats
{
    uint64_t cells, solidCells, occluders, occludees, triangles, rays;
    uint64_t pairsVisible, pairsHidden, pairsProvenHidden, pairsUnknown;
    double seconds, cpuSeconds;
    int32_t threads;
    uint64_t peakMemoryBytes;
    uint64_t copiedOccludees, retestedOccludees; ///< Of an incremental bake; copied is 0 for a full one.
    uint64_t maxThreadWork, totalWork;           ///< Counted work (rays and floods): the busiest thread, and all.
    espyBakeStageStats stages[ESPY_BAKE_MAX_STAGES];
    uint32_t stageCount;
} espyBakeStats;

/// A finished bake. Free with espyBake_Free.
typedef struct espyBakeResult
{
    void* data; ///< The .espy file, 16-byte aligned; null unless the result was Ok.
    size_t size;
    espyBakeStats stats;
    const espyBakeWarning* warnings; ///< Also filled, as far as known, when the bake was refused.
    uint32_t warningCount;
    char message[256]; ///< One line that says what was wrong and what to do; "" after Ok.
    void* owner;       ///< Internal.
} espyBakeResult;

ESPY_API espyBakeDef espyBakeDef_Default(void);

/// Checks every field. On failure writes one line that names the field and the range into `message` (may be null).
ESPY_API espyResult espyBakeDef_Validate(const espyBakeDef* def, char* message, size_t messageSize);

/// Bakes. `out` is always filled and is to be freed, also after a failure. Errors: InvalidArgument (a def or input that
/// breaks a rule), LimitExceeded (cells, coordinates), OutOfMemory, Cancelled, BadData (the checkpoint's path
/// names a file that is none), Io (checkpoint).
/// Thread: build. Cost: seconds to minutes.
ESPY_API espyResult espyBake_Run(const espyBakeInput* input, const espyBakeDef* def, espyBakeResult* out);

ESPY_API void espyBake_Free(espyBakeResult* result);

/// What a bake would come to.
typedef struct espyBakeEstimate
{
    uint64_t cells; ///< Also where that is too many; 0 where it is not known.
    uint64_t pairs; ///< Cells times occludees: what the time of a bake grows with.
    /// Bytes of all tables when every cell shares one set, and when no two cells do. Real files lie near the lower end.
    uint64_t leastBytes, mostBytes;
    bool warns;        ///< More than ESPY_BAKE_WARN_CELLS.
    char message[256]; ///< Why it would be refused, one line; "" after Ok.
} espyBakeEstimate;

/// Counts the cells of a bake without baking, so that an editor can say before what it costs. Cost: linear in cells and
/// occludees, milliseconds. Errors: as espyBake_Run would refuse it (InvalidArgument, LimitExceeded), OutOfMemory.
/// Thread: any.
ESPY_API espyResult espyBake_Estimate(const espyBakeInput* input, const espyBakeDef* def, espyBakeEstimate* out);

/// How a file relates to a level as it is now.
typedef struct espyBakeCheck
{
    bool stale;                ///< True where an occluder, the grid or a setting changed: the data must not be used.
    uint32_t changedOccluders; ///< New, removed or altered occluders.
    uint32_t changedOccludees; ///< New, removed or altered occludees: not stale, they use the dynamic table.
    int32_t firstNode;         ///< A node to name in messages, or -1.
    const char* reason;        ///< Static text, "" where nothing changed.
} espyBakeCheck;

/// Compares a file (either byte order) with a level and the settings that would be used. Content decides, not bounds.
ESPY_API espyResult espyBake_Check(const espyBakeInput* input, const espyBakeDef* def, const void* data, size_t size,
                                   espyBakeCheck* out);

/// Copies a file into the other byte order, or into the given one. `out` has room for `size` bytes and may be `data`,
/// but not overlap it otherwise. Validates first; errors as espyPvs_Load, which this never refuses for byte order or
/// alignment. After an error `out` holds nothing of use, unless it is `data`, which then is as it was.
ESPY_API espyResult espyBake_ConvertByteOrder(const void* data, size_t size, bool bigEndian, void* out,
                                              espyDataError* error);

#endif
