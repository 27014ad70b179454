// SPDX-License-Identifier: MIT
// Culls the draws of one view, given as plain arrays: baked bits first, then the frustum for what they leave.
//
//     espyView_Make(&view, &viewDef, NULL);                              every frame, every view:
//     espyViewSet_Make(&set, &view, &pvs, offset, scratch);              what of the file it can see
//     espyCull_Run(&(espyCullInput){...}, &output);                      two lists, ascending
//
// For engines that have a scene of their own; renderer.h does the same for a world. Nothing is allocated, nothing is
// kept between calls. Lists and counts are the same for any number of threads and any instruction set.
//
// Order of tests, and so of reasons: switched off, casts no shadow (in shadow views), hidden from the view's cells,
// outside the frustum. A draw is counted once, under the first that applies.
#ifndef ESPY_CULLING_H
#define ESPY_CULLING_H

#include <espy/view.h>

/// Draws of one call.
#define ESPY_CULL_MAX_DRAWS (1u << 28)

/// What a view can see of one baked file.
typedef struct espyViewSet
{
    const espyPvs* pvs;
    espyVec3 offset;     ///< Where the data's origin lies in the world, metres.
    const uint32_t* set; ///< Bits of slots. Null: everything in its place is visible.
    /// Bits of coarse blocks. Null: moving things are asked about cell by cell, or there is no table.
    const uint32_t* dynamicSet;
    uint32_t cellCount; ///< 0: everything is visible, moving things too.
    int32_t cells[ESPY_VIEW_MAX_CELLS];
} espyViewSet;

/// Bounds of draws in world space: arrays of one coordinate each, or one array of boxes.
typedef struct espyCullBoxes
{
    const float *minX, *minY, *minZ, *maxX, *maxY, *maxZ;
    uint32_t stride; ///< Floats from one draw to the next: 1, or 6 in an array of espyBox.
} espyCullBoxes;

/// Draws that are culled alone. Bitsets hold one bit a draw in whole words; null means what is said at each.
typedef struct espyCullDraws
{
    espyCullBoxes boxes;
    uint32_t count;
    uint32_t firstIndex;         ///< Added to every index that is written: where these draws start among all.
    const uint32_t* slots;       ///< Slot of each draw, ESPY_PVS_NO_SLOT for none. Null: draw i has slot firstSlot + i.
    uint32_t firstSlot;          ///< Unused with `slots`.
    const uint32_t* drawable;    ///< Counts at all. Null: all do.
    const uint32_t* shown;       ///< Is switched on. Null: all are.
    const uint32_t* castsShadow; ///< Null: all do.
    const uint32_t* moved;       ///< Its slot says nothing (moved, animated, spawned). Null: none has.
    const uint32_t* occludee;    ///< Of the moved draws: may be culled by its bounds. Null: all may.
    const uint32_t* alwaysUpdate; ///< Goes on animating while it is culled. Null: none does.
} espyCullDraws;

typedef struct espyCullInput
{
    const espyView* view;
    const espyCullDraws* draws;
    const espyViewSet* set;  ///< Of the file that the slots belong to. Null: no slot says anything.
    const espyViewSet* sets; ///< All files that moved draws may be hidden by; any of them is evidence enough.
    uint32_t setCount;
    bool occlusion;         ///< False: skips the baked sets.
    bool frustum;           ///< False: skips the frustum.
    espyIsa isa;            ///< Kernels at most. Auto, the zero value: what the machine has. Never changes a result.
    const espyTasks* tasks; ///< Null: the calling thread does all.
} espyCullInput;

/// Draws by what became of them.
typedef struct espyCullCounts
{
    uint32_t drawn;
    uint32_t frustumCulled;
    uint32_t occlusionCulled;
    uint32_t hidden;        ///< Switched off.
    uint32_t withoutShadow; ///< Left out of a shadow view.
    uint32_t updatedCulled; ///< Of the culled ones: those in the update list.
} espyCullCounts;

/// Results of calls; each call appends. Zero it, give the arrays, call once a group of draws.
typedef struct espyCullOutput
{
    uint32_t* drawList; ///< Draws to draw, ascending. Room: drawCount + the draws of the call.
    uint32_t*
        updateList; ///< Culled draws that go on animating (not what is drawn, not what is switched off). May be null.
    uint32_t drawCount, updateCount;
    espyCullCounts counts;
} espyCullOutput;

/// Bounds in an array of boxes.
ESPY_API espyCullBoxes espyCullBoxes_FromArray(const espyBox* boxes);

/// Words that espyViewSet_Make may need for a file.
ESPY_API size_t espyViewSet_ScratchWords(const espyPvs* pvs);

/// Finds what a view can see of a file: its cells, and their union. `scratch` holds espyViewSet_ScratchWords words as
/// long as the result is used; without it (null) a union counts as "everything is visible". Cost: with one cell of a
/// plain file constant, else the sets of all cells are read once. Thread: any.
ESPY_API void espyViewSet_Make(espyViewSet* out, const espyView* view, const espyPvs* pvs, espyVec3 offset,
                               uint32_t* scratch);

/// True where any of the sets says that a box in world space cannot be seen. Thread: any.
ESPY_API bool espyViewSet_HidesBox(const espyViewSet* sets, uint32_t setCount, espyBox box);

/// Culls. Errors: InvalidArgument (a null pointer), LimitExceeded (count); nothing is then appended, and the caller
/// draws everything. Cost: see docs/rendering.md. Thread: any, with an output of its own.
ESPY_API espyResult espyCull_Run(const espyCullInput* input, espyCullOutput* output);

/// Adds the counts of one output to a sum.
ESPY_API void espyCullCounts_Add(espyCullCounts* sum, const espyCullCounts* counts);

#endif
