// SPDX-License-Identifier: MIT
// Tester meshes: things are hidden until a simple mesh that stands for them is seen.
//
// A **tester** is a simple mesh, most often a box. A **target** is a group of things. A tester that shows in a view
// makes its targets active in that view; a target is shown while it is active and all targets around it are, and with
// it everything in it. A tester may have many targets, a target many testers: any of them is enough.
//
//     none ---- terrain                                     in no target: always drawn
//       |------ tester "hall" ......reveals...... hall
//       |                                          |---- chairs        in a target: drawn while it is shown
//       |                                          |---- tester "chest" ...reveals... chest
//       |------ tester "door" ......reveals......./          (in the hall: asked only while the hall is shown)
//
//     espyTesterScene_Create(&(def with a device), &scene);               once
//     espyTesterScene_CreateTarget(scene, &targetDef, &hall);
//     espyTesterScene_CreateTester(scene, &testerDef, &tester);
//     espyTesterScene_AddTarget(scene, tester, hall);
//
//     device.beginFrame(device.context, ++frame);                         every frame, every view:
//     espyTesterScene_RunView(scene, view, &run);                         draws depth and testers, as often as needed
//     shown = espyTesterScene_GetShown(scene, view, &count);              draw what is in these, and in no target
//     events = espyTesterScene_GetEvents(scene, view, &count);            wake and put to sleep
//     device.endFrame(device.context);
//
// What a run does
//   1  Forced testers, and those that the camera is in, become active.
//   2  Opaque things that are not in a target, or in a shown one, are drawn to depth.
//   3  Testers that are not active and not in a target that is not shown are drawn as ids against that depth.
//   4  Testers that have a pixel become active; what their targets newly show is drawn to depth.
//   5  3 and 4 again, until no tester appears. Then no tester that is not active has a pixel.
// Nothing is assumed about what is in a tester. One that does not contain all of its targets hides what sticks out.
//
// Rules where one may wonder
//   Frame       A view's answers are those of its last run. A view that does not run keeps them: a mirror drawn every
//               second frame does not flicker. Before its first run no tester was active.
//   Force       Lasts until it is taken back, in its view alone; ForceOnce lasts for one run of the view. A forced
//               tester counts as active, also in a target that is not shown.
//   Inside      A tester that the near plane cuts, or that the eye is in, is active without a test, even if only its
//               bounds are.
//   Small       A tester less than two pixels wide on the screen (far away, or seen from its edge) is drawn as its
//               bounding box, one pixel larger to each side: it never falls between pixel centres. Other boxes are
//               drawn 1/16 pixel larger, so that faces flush with what they contain win.
//   Empty       A tester without targets is asked like others. One with empty bounds is never seen. A target without
//               testers is never shown (a warning says how many there are, once).
//   Doubt       Where the device fails or lacks ids, the pass budget ends, or a matrix is no use, all testers that are
//               not decided are active: nothing is hidden without evidence.
//   Shadow      A shadow view asks no device: every tester in its frustum is active.
//   Material    Masked, translucent and additive things are shown and hidden like others, but never drawn to depth.
//   Recycling   An id is an index and a generation. A new tester or target never has the answers of the one before.
//   Loops       A target must not wait for itself: a tester in a target may not reveal that target or one around it, be
//               it through others. What would close such a cycle is refused, and its targets are named.
//
// Threads: owner; a scene has one state for all views, which run one after the other. Nothing allocates in a run.
//
// Based on: SlugFiller, "Add occlusion culling based on proxy/tester meshes", Godot improvement proposals, 2021.
#ifndef ESPY_TESTER_H
#define ESPY_TESTER_H

#include <espy/device.h>

/// Views of a scene, the main one included.
#define ESPY_TESTER_MAX_VIEWS 64

typedef struct espyTesterScene espyTesterScene;

typedef struct espyTesterId
{
    int32_t index1;
    uint32_t generation;
} espyTesterId;

/// A group of things. Null stands for "in no target".
typedef struct espyTesterTargetId
{
    int32_t index1;
    uint32_t generation;
} espyTesterTargetId;

/// A camera. Null is the main view, which every scene has.
typedef struct espyTesterViewId
{
    int32_t index1;
    uint32_t generation;
} espyTesterViewId;

/// A mesh that the scene draws to depth by itself.
typedef struct espyTesterDrawId
{
    int32_t index1;
    uint32_t generation;
} espyTesterDrawId;

/// How a view is drawn and asked.
typedef struct espyTesterViewDef
{
    int32_t width, height;   ///< Pixels, 1..ESPY_RASTER_MAX_SIZE. Default 1280 x 720.
    uint32_t layers;         ///< Eyes, at most those of the device. Default 1.
    bool reversedZ;          ///< Default false.
    espyDeviceTarget target; ///< With ids, of the size above; borrowed. None, the default: the view makes its own.
    /// Default Index, the plain rule: one id a pixel, so that of testers behind each other one appears a pass, and what
    /// it shows may hide the next. Flag finds all in one pass a level of the hierarchy: fewer waits on a GPU, but what
    /// one tester would show hides no other in the same pass, so that a view's first run shows far more; `seed` lets
    /// go of that in the next run. Testers of less than two pixels are asked by flag in either mode. Where the device
    /// has only one of them, that is taken.
    espyIdMode mode;
    /// Passes in which ids are read back, each a wait on a GPU. What is then not decided is active. 0, the default: as
    /// many as are needed.
    uint32_t passBudget;
    /// Default true: starts with the testers that were seen in the last run, and asks them along with the others, so
    /// that a view where little changes needs one pass. One that has no pixel any more is shown once more and let go.
    /// False: every run starts from nothing.
    bool seed;
    bool shadow; ///< Default false.
    uint32_t cookie;
} espyTesterViewDef;

typedef struct espyTesterSceneDef
{
    espyHooks hooks;
    const espyDevice* device; ///< Copied; what it works on outlives the scene. Null: every tester in sight is active.
    espyTesterViewDef mainView;
    uint32_t cookie;
} espyTesterSceneDef;

typedef struct espyTesterTargetDef
{
    espyTesterTargetId parent; ///< The target around it. Default: none.
    const char* name;          ///< Copied, for messages; may be null.
    uint64_t userData;
    uint32_t cookie;
} espyTesterTargetDef;

typedef struct espyTesterDef
{
    espyTesterTargetId parent; ///< The target that it is in. Default: none.
    espyMat4 toWorld;          ///< Affine and finite. Default: identity.
    espyDeviceMesh mesh;       ///< 0, the default: the box `bounds`.
    espyBox bounds;            ///< Of the mesh, in its own space; tight. Default: -1..1. Empty: never seen.
    const char* name;          ///< Copied, for messages; may be null.
    uint64_t userData;
    uint32_t cookie;
} espyTesterDef;

/// Something for the scene to draw to depth by itself, for programs that have no renderer of their own for it.
typedef struct espyTesterDrawDef
{
    espyTesterTargetId parent;  ///< The target that it is in. Default: none.
    espyMat4 toWorld;           ///< Affine and finite. Default: identity.
    espyDeviceMesh mesh;        ///< Default 0: the box -1..1.
    espyMaterialClass material; ///< Default Opaque; others are never drawn to depth.
    uint32_t cookie;
} espyTesterDrawDef;

/// One run of a view.
typedef struct espyTesterRun
{
    espyMat4 viewProjection[ESPY_DEVICE_MAX_LAYERS]; ///< World to clip, depth 0..1, one for each layer of the view.
    bool keepDepth; ///< Default false: the first pass clears. True: what the target holds already is in the way, too.
    /// Draws to depth everything opaque in these targets that is not in a target within, with the functions of the
    /// device or in any other way; a pass over the view's target is begun. Each target of the run comes once, when it
    /// is first shown; the first call begins with the null id, for what is in no target. The scene must not be changed
    /// in it. What it returns, unless Ok, ends the run as a failure of the device does. May be null.
    espyResult (*drawTargets)(void* context, espyTesterViewId view, const espyTesterTargetId* targets, uint32_t count);
    void* context;
    uint32_t cookie;
} espyTesterRun;

typedef struct espyTesterEvent
{
    espyTesterTargetId target;
    bool entered; ///< True: shown now, and not in the run before. False: the other way round.
} espyTesterEvent;

/// What a run did.
typedef struct espyTesterStats
{
    uint32_t passes;          ///< With ids read back.
    uint32_t depthPasses;     ///< Without: what was shown last had no testers in it.
    uint32_t targetsShown;    ///< Of them all.
    uint32_t entered, exited; ///< Events.
    uint32_t active;          ///< Testers, for whatever reason.
    uint32_t forced;          ///< Of these: by the caller.
    uint32_t inside;          ///< Of these: the near plane cuts them, or the eye is in them.
    uint32_t seen;            ///< Of these: had a pixel and were not active.
    uint32_t seeded;          ///< Of these: from the run before.
    uint32_t undecided;       ///< Of these: the device failed, or the budget or the ids ended; all in a shadow view.
    uint32_t demoted;         ///< Of the seeded ones: had no pixel, and are let go from the next run on.
    uint32_t outside;         ///< Testers that were left out because they are outside the frustum.
    uint32_t ids;             ///< Testers drawn, over all passes.
    uint32_t draws;           ///< Registered meshes drawn to depth.
} espyTesterStats;

// --- lifetime

ESPY_API espyTesterSceneDef espyTesterSceneDef_Default(void);
ESPY_API espyTesterViewDef espyTesterViewDef_Default(void);
ESPY_API espyTesterTargetDef espyTesterTargetDef_Default(void);
ESPY_API espyTesterDef espyTesterDef_Default(void);
ESPY_API espyTesterDrawDef espyTesterDrawDef_Default(void);
ESPY_API espyTesterRun espyTesterRun_Default(void);

/// Errors: InvalidArgument, Unsupported (the device has no ids), OutOfMemory, DeviceLost.
ESPY_API espyResult espyTesterScene_Create(const espyTesterSceneDef* def, espyTesterScene** out);
/// Null is allowed. The device must still be there, lost or not.
ESPY_API void espyTesterScene_Destroy(espyTesterScene* scene);

/// Takes another device, or none (null). Targets that the views made are destroyed on the old one and made on the new
/// one; borrowed ones are forgotten, ConfigureView gives others. Meshes of the old device mean nothing to the new one:
/// give them again (SetMesh, SetDrawMesh), or use boxes. Answers stay. Errors: as Create; there is then no device.
ESPY_API espyResult espyTesterScene_SetDevice(espyTesterScene* scene, const espyDevice* device);

// --- targets, testers, draws

/// Errors: InvalidArgument, InvalidId (parent), LimitExceeded, OutOfMemory. Cost: constant, on average over many.
ESPY_API espyResult espyTesterScene_CreateTarget(espyTesterScene* scene, const espyTesterTargetDef* def,
                                                 espyTesterTargetId* out);
/// Destroys a target with all that is in it. It leaves no event. Cost: linear in that, and in the views.
ESPY_API espyResult espyTesterScene_DestroyTarget(espyTesterScene* scene, espyTesterTargetId target);
ESPY_API bool espyTesterScene_IsTarget(const espyTesterScene* scene, espyTesterTargetId target);
/// Moves a target with all that is in it into another one, or into none. Errors: InvalidId, InvalidArgument (a cycle).
ESPY_API espyResult espyTesterScene_SetTargetParent(espyTesterScene* scene, espyTesterTargetId target,
                                                    espyTesterTargetId parent);
/// 0 for an id that is none.
ESPY_API uint64_t espyTesterScene_GetTargetUserData(const espyTesterScene* scene, espyTesterTargetId target);

/// Errors: InvalidArgument (a transform or bounds that are not finite), InvalidId (parent), LimitExceeded, OutOfMemory.
ESPY_API espyResult espyTesterScene_CreateTester(espyTesterScene* scene, const espyTesterDef* def, espyTesterId* out);
/// Its targets stay.
ESPY_API espyResult espyTesterScene_DestroyTester(espyTesterScene* scene, espyTesterId tester);
ESPY_API bool espyTesterScene_IsTester(const espyTesterScene* scene, espyTesterId tester);
/// Errors: InvalidId, InvalidArgument (a cycle).
ESPY_API espyResult espyTesterScene_SetTesterParent(espyTesterScene* scene, espyTesterId tester,
                                                    espyTesterTargetId parent);
/// Errors: InvalidId, InvalidArgument (not finite), here and in SetMesh.
ESPY_API espyResult espyTesterScene_SetTransform(espyTesterScene* scene, espyTesterId tester, espyMat4 toWorld);
ESPY_API espyResult espyTesterScene_SetMesh(espyTesterScene* scene, espyTesterId tester, espyDeviceMesh mesh,
                                            espyBox bounds);
ESPY_API uint64_t espyTesterScene_GetTesterUserData(const espyTesterScene* scene, espyTesterId tester);

/// Makes a tester reveal a target, from the next run on; Ok where it does already. Errors: InvalidId, InvalidArgument
/// (a cycle: message TesterCycle and GetCycle name it), OutOfMemory. Cost: the smaller of the tester's targets and the
/// target's testers; with a tester in a target also all targets that this one waits for.
ESPY_API espyResult espyTesterScene_AddTarget(espyTesterScene* scene, espyTesterId tester, espyTesterTargetId target);
/// Errors: InvalidId, NotFound.
ESPY_API espyResult espyTesterScene_RemoveTarget(espyTesterScene* scene, espyTesterId tester,
                                                 espyTesterTargetId target);
/// The names of the targets of the cycle that was refused last, "hall > chest > hall"; a target without a name is its
/// index. Long ones are cut. "" where there was none. Lifetime: until the next call that is refused so.
ESPY_API const char* espyTesterScene_GetCycle(const espyTesterScene* scene);

/// Errors: InvalidArgument, InvalidId (parent), LimitExceeded, OutOfMemory.
ESPY_API espyResult espyTesterScene_CreateDraw(espyTesterScene* scene, const espyTesterDrawDef* def,
                                               espyTesterDrawId* out);
ESPY_API espyResult espyTesterScene_DestroyDraw(espyTesterScene* scene, espyTesterDrawId draw);
/// Errors: InvalidId, InvalidArgument (not finite).
ESPY_API espyResult espyTesterScene_SetDrawTransform(espyTesterScene* scene, espyTesterDrawId draw, espyMat4 toWorld);
ESPY_API espyResult espyTesterScene_SetDrawMesh(espyTesterScene* scene, espyTesterDrawId draw, espyDeviceMesh mesh);

// --- views

/// Errors: InvalidArgument, LimitExceeded (ESPY_TESTER_MAX_VIEWS), OutOfMemory, DeviceLost. Memory: 9 bytes a tester
/// and 36 a target.
ESPY_API espyResult espyTesterScene_CreateView(espyTesterScene* scene, const espyTesterViewDef* def,
                                               espyTesterViewId* out);
/// Errors: InvalidId (also for the main view).
ESPY_API espyResult espyTesterScene_DestroyView(espyTesterScene* scene, espyTesterViewId view);
/// Changes a view: its size, its target, how it is asked. Its answers stay. Errors: as CreateView, InvalidId; the view
/// is then as before, but without a target where none could be made, so that all its testers are active.
ESPY_API espyResult espyTesterScene_ConfigureView(espyTesterScene* scene, espyTesterViewId view,
                                                  const espyTesterViewDef* def);
/// Ends what a view shows, with exit events: for one that is switched off. Its next run starts from nothing.
ESPY_API espyResult espyTesterScene_ResetView(espyTesterScene* scene, espyTesterViewId view);
/// The depth and id target that a view is drawn to; none where there is none.
ESPY_API espyDeviceTarget espyTesterScene_GetDeviceTarget(const espyTesterScene* scene, espyTesterViewId view);

/// Makes a tester active in a view whatever it sees, from the next run on, until it is called with false. For a camera
/// that is in a room, say. Errors: InvalidId, OutOfMemory.
ESPY_API espyResult espyTesterScene_SetForceActive(espyTesterScene* scene, espyTesterId tester, bool force,
                                                   espyTesterViewId view);
/// The same for the view's next run alone. SetForceActive with false takes it back as well.
ESPY_API espyResult espyTesterScene_ForceOnce(espyTesterScene* scene, espyTesterId tester, espyTesterViewId view);
ESPY_API bool espyTesterScene_IsForceActive(const espyTesterScene* scene, espyTesterId tester, espyTesterViewId view);

// --- a frame

/// Finds what a view shows; see above. A frame of the device must be begun. On any failure everything that is in the
/// frustum is shown, and the reason returned: InvalidId (nothing is done), InvalidArgument (a field of the run; a
/// matrix that is not finite shows everything), DeviceLost and whatever the device or the callback returned. Cost: for
/// each shown target its testers (30 ns each), draws and child targets; what is drawn; a wait for each pass. What is in
/// targets that are not shown costs nothing.
ESPY_API espyResult espyTesterScene_RunView(espyTesterScene* scene, espyTesterViewId view, const espyTesterRun* run);

/// Targets that a view shows since its last run, in the order in which they appeared. Borrowed until its next run or
/// until a target is created or destroyed.
ESPY_API const espyTesterTargetId* espyTesterScene_GetShown(const espyTesterScene* scene, espyTesterViewId view,
                                                            uint32_t* count);
/// Is what is in a target to be drawn? True in doubt: before the view's first run, and for an id that is none, the null
/// one included.
ESPY_API bool espyTesterScene_IsShown(const espyTesterScene* scene, espyTesterTargetId target, espyTesterViewId view);
/// Was a tester active in the view's last run? False for an id that is none. For what may sleep while it is not seen.
ESPY_API bool espyTesterScene_WasActiveLastFrame(const espyTesterScene* scene, espyTesterId tester,
                                                 espyTesterViewId view);
/// Targets that the view's last run showed and the one before did not, then those the other way round; also what
/// ResetView ended. Borrowed like GetShown.
ESPY_API const espyTesterEvent* espyTesterScene_GetEvents(const espyTesterScene* scene, espyTesterViewId view,
                                                          uint32_t* count);
/// Of the last run; all 0 before the first.
ESPY_API espyTesterStats espyTesterScene_GetStats(const espyTesterScene* scene, espyTesterViewId view);

#endif
