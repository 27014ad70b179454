// SPDX-License-Identifier: MIT
// Culls a world for any number of views: main and second screen, mirrors, probe faces, stereo pairs, shadows.
//
//     espyRenderer_BeginFrame(renderer);                            every frame:
//     espyRenderer_SetCamera(renderer, main, camera, false);        where each view looks from,
//     espyRenderer_SetView(renderer, sun, &shadowDef, NULL);
//     espyRenderer_CullAll(renderer);                               what each can see,
//     draws = espyRenderer_GetDraws(renderer, main, &count);        draw that,
//     espyRenderer_EndFrame(renderer);                              and sum up the counts.
//
// A renderer draws nothing itself. Each view has its own camera, lists and counts; none reads another's. Order of
// tests and reasons: culling.h. Files of baked data come from the world (world_data.h); what belongs to a file that is
// stale, or whose cells do not hold the whole near rectangle of the view, is kept. Shadow views use their frustum
// alone.
//
// Moving occluders: what baked data cannot know, doors and vehicles, may hide things too. A view with a raster draws
// the occluders that the renderer was given to it at every cull, as their nodes stand, and tests what the other passes
// leave. What is hidden by them alone is counted on its own.
//
// Occlusion queries: a view may ask the device of a query system (query.h) about what all other passes leave, and only
// about that. What answers of former frames say is hidden is culled, and counted on its own.
//
// Memory: all of a view's lists are as long as the world has draws. They grow in CreateView and BeginFrame and nowhere
// else. A cull that finds more draws than there were at BeginFrame (a file was added meanwhile) gives LimitExceeded.
//
// Threads: owner, except that different views may be culled and read at the same time, also while the world's owner
// adds or removes data (world_data.h); nothing else may change the world then.
#ifndef ESPY_RENDERER_H
#define ESPY_RENDERER_H

#include <espy/cull_replay.h>
#include <espy/query.h>
#include <espy/raster.h>
#include <espy/world.h>

typedef struct espyRenderer espyRenderer;

/// Views of one renderer.
#define ESPY_RENDERER_MAX_VIEWS 64
/// Moving occluders of one renderer.
#define ESPY_RENDERER_MAX_OCCLUDERS 4096

typedef struct espyViewId
{
    int32_t index1;
    uint32_t generation;
} espyViewId;

typedef struct espyRendererDef
{
    const espyWorld* world; ///< Borrowed; outlives the renderer.
    espyTasks tasks;        ///< Default: the calling thread does all.
    espyIsa isa;            ///< Kernels at most. Never changes a result.
    espyHooks hooks;
    uint32_t cookie;
} espyRendererDef;

/// A view of a renderer.
typedef struct espyRendererViewDef
{
    const char* name; ///< For the stats text, copied, at most 31 bytes; may be null.
    bool occlusion;   ///< Default true. False: never uses baked data (an editor's own viewport).
    bool frustum;     ///< Default true.
    /// Moving occluders are drawn to it at every cull. Borrowed, of this view alone; its depth direction is that of all
    /// defs that the view is set to. Take Conservative mode, or a raster as large as the picture: in Sampled mode what
    /// shows between its pixel centres only is missed. Default null: no moving occluders.
    espyRaster* raster;
    uint32_t cookie;
} espyRendererViewDef;

/// One thing to draw or to animate.
typedef struct espyDraw
{
    espyNodeId node;
    int32_t part; ///< -1: the whole node; 0..: an unroll cell of an InstancedMesh3D.
} espyDraw;

/// Counts of a view, or sums of several.
typedef struct espyViewStats
{
    espyCullCounts counts;
    uint32_t views;     ///< Views that were culled: 1, or how many are summed.
    uint32_t files;     ///< Files in the world, summed over the views.
    uint32_t filesUsed; ///< Those whose cells the view looked from.
    uint32_t cells;     ///< Cells that it looked from, in all files.
    /// Hidden by moving occluders, after all that counts says: in none of its fields but updatedCulled.
    uint32_t moverCulled;
    /// Hidden by answers to occlusion queries, after all that the others say: in none of the fields but updatedCulled.
    uint32_t queryCulled;
} espyViewStats;

ESPY_API espyRendererDef espyRendererDef_Default(void);
ESPY_API espyRendererViewDef espyRendererViewDef_Default(void);

/// Errors: InvalidArgument, OutOfMemory.
ESPY_API espyResult espyRenderer_Create(const espyRendererDef* def, espyRenderer** out);
ESPY_API void espyRenderer_Destroy(espyRenderer* renderer);

/// Errors: InvalidArgument, LimitExceeded (ESPY_RENDERER_MAX_VIEWS), OutOfMemory.
ESPY_API espyResult espyRenderer_CreateView(espyRenderer* renderer, const espyRendererViewDef* def, espyViewId* out);
ESPY_API espyResult espyRenderer_DestroyView(espyRenderer* renderer, espyViewId view);

// --- switches

/// The pass over baked data, in all views. Default on. Counts as off where the world's is
/// (espyWorld_IsOcclusionCullingEnabled). From the next cull on.
ESPY_API void espyRenderer_EnableOcclusionCulling(espyRenderer* renderer, bool enabled);
ESPY_API bool espyRenderer_IsOcclusionCullingEnabled(const espyRenderer* renderer);
/// The frustum pass, in all views, for debugging. Default on.
ESPY_API void espyRenderer_EnableFrustumCulling(espyRenderer* renderer, bool enabled);
ESPY_API bool espyRenderer_IsFrustumCullingEnabled(const espyRenderer* renderer);

// --- moving occluders

/// Makes a node occlude by a shape: drawn where the node stands at each cull, not while the node is hidden or after it
/// was destroyed. Added again, the node has the new shape. The shape lies within what the node draws and is of the mode
/// of the views' rasters (in others it hides nothing). Borrowed until it is removed. From the next BeginFrame on.
/// Errors: InvalidId, LimitExceeded (ESPY_RENDERER_MAX_OCCLUDERS), OutOfMemory. Thread: owner.
ESPY_API espyResult espyRenderer_AddOccluder(espyRenderer* renderer, espyNodeId node, const espyOccluder* occluder);
/// Errors: InvalidId (the node has none). Thread: owner.
ESPY_API espyResult espyRenderer_RemoveOccluder(espyRenderer* renderer, espyNodeId node);
ESPY_API uint32_t espyRenderer_GetOccluderCount(const espyRenderer* renderer);

// --- occlusion queries

/// Gives the system that views ask. The nodes that may be culled become objects of it, a node each, at every
/// BeginFrame; call espyQuerySystem_BeginFrame after that. Borrowed, without objects of anybody else; outlives the
/// renderer, or is taken away before (null), with its objects. Views do not ask until they are set to again. Errors:
/// InvalidArgument (a null renderer). Thread: owner.
ESPY_API espyResult espyRenderer_SetQuerySystem(espyRenderer* renderer, espyQuerySystem* system);
/// The switch of a view: from the next BeginFrame on its culls cull a view of the system, of this view alone, by the
/// nodes that the other passes left, and leave out what that one hides. Submit it (espyQuerySystem_Submit) in the pass
/// that drew the depth of GetDraws. `width` and `height` are the pixels of that, 1..ESPY_RASTER_MAX_SIZE. A null id:
/// off (the default), which costs nothing. Like moving occluders it rests in shadow views and while occlusion culling
/// is off; a view that was never set does not ask. A node that has moved since BeginFrame is drawn. Freezing the view
/// freezes the other too. Reasons: espyQuerySystem_Explain, with GetQueryObject. Errors: InvalidId (no such view; of
/// `queries` the culls find out, and cull nothing by it), InvalidArgument (no system, sizes), OutOfMemory. Thread:
/// owner.
ESPY_API espyResult espyRenderer_SetViewQueries(espyRenderer* renderer, espyViewId view, espyQueryViewId queries,
                                                int32_t width, int32_t height);
/// The object that a node is in the system; a null id where it is none. Thread: any, as the culls.
ESPY_API espyQueryObjectId espyRenderer_GetQueryObject(const espyRenderer* renderer, espyNodeId node);

// --- a frame

/// Starts a frame: no view has been culled. Makes room for what the world has now. Errors: OutOfMemory; views then keep
/// the room that they have.
ESPY_API espyResult espyRenderer_BeginFrame(espyRenderer* renderer);

/// Sets what a view is culled with; `secondEye` (may be null) makes it a stereo pair. The defs are copied. A frozen
/// view ignores it. Errors: InvalidId, InvalidArgument (also another depth direction than that of the view's raster).
ESPY_API espyResult espyRenderer_SetView(espyRenderer* renderer, espyViewId view, const espyViewDef* def,
                                         const espyViewDef* secondEye);
/// The same from a camera of the world as it stands now. Errors: InvalidId (also a node that is no Camera3D).
ESPY_API espyResult espyRenderer_SetCamera(espyRenderer* renderer, espyViewId view, espyNodeId camera, bool reversedZ);

/// Frozen, a view goes on culling with what it was last set to: look with another camera at what is left out.
ESPY_API espyResult espyRenderer_FreezeView(espyRenderer* renderer, espyViewId view, bool frozen);
ESPY_API bool espyRenderer_IsViewFrozen(const espyRenderer* renderer, espyViewId view);
/// What a view is culled with; null for an id that is none.
ESPY_API const espyView* espyRenderer_GetView(const espyRenderer* renderer, espyViewId view);

/// Culls one view, on all threads of the renderer's tasks. A view that was never set sees everything. Errors:
/// InvalidId, LimitExceeded: its lists are then empty, and the caller draws everything. Never allocates. Thread: any,
/// for different views.
ESPY_API espyResult espyRenderer_Cull(espyRenderer* renderer, espyViewId view);
/// Culls all views: several at a time where there are as many as threads, else one after the other. Returns the first
/// error; the others are culled all the same. Never allocates.
ESPY_API espyResult espyRenderer_CullAll(espyRenderer* renderer);

/// Records every cull from now on (cull_replay.h); null stops it. Borrowed. While recording, views are culled one after
/// the other, and Cull is for one thread at a time.
ESPY_API void espyRenderer_SetRecorder(espyRenderer* renderer, espyCullRecorder* recorder);

/// What a view has to draw after its last cull, file by file, in slot order. Borrowed until the next cull of the view
/// or BeginFrame. Null and 0 for an id that is none.
ESPY_API const espyDraw* espyRenderer_GetDraws(const espyRenderer* renderer, espyViewId view, uint32_t* count);
/// What the view culled and has to animate all the same (espyNodeFlag_AlwaysUpdate). Nothing is in both lists.
ESPY_API const espyDraw* espyRenderer_GetUpdates(const espyRenderer* renderer, espyViewId view, uint32_t* count);

/// Ends the frame: sums the counts of the views that were culled in it.
ESPY_API void espyRenderer_EndFrame(espyRenderer* renderer);

// --- stats

/// Counts of a view's last cull. All 0 for an id that is none.
ESPY_API espyViewStats espyRenderer_GetViewStats(const espyRenderer* renderer, espyViewId view);
/// Sums over all views of the last frame that ended.
ESPY_API espyViewStats espyRenderer_GetFrameStats(const espyRenderer* renderer);
ESPY_API uint32_t espyRenderer_GetNumOcclusionCulled(const espyRenderer* renderer);
ESPY_API uint32_t espyRenderer_GetNumFrustumCulled(const espyRenderer* renderer);

/// Writes the text of a stats overlay: the switches, the sums of the last frame, a line a view; lines end in '\n', the
/// text in 0. At most `size` bytes are written, the last a 0; returns the length of the whole text, as snprintf does.
ESPY_API size_t espyRenderer_FormatStats(const espyRenderer* renderer, char* out, size_t size);

#endif
