// SPDX-License-Identifier: MIT
// Tester meshes on the nodes of a world, and after a renderer's cull.
//
//     espyWorldTesters_Create(&(def with a world and a device), &testers);
//     espyWorldTesters_MakeTarget(testers, hall, NULL);              what is under this node is hidden until it is seen
//     espyWorldTesters_MakeTester(testers, hallBox, &tester);        this node's bounds stand for it
//     espyTesterScene_AddTarget(espyWorldTesters_GetScene(testers), tester, target);
//
//     espyRenderer_CullAll(renderer);                                every frame: baked bits and frustum first,
//     espyWorldTesters_Follow(testers);                              nodes that moved,
//     espyWorldTesters_RunView(testers, renderer, view, ...);        then testers, over what is left
//     draws = espyWorldTesters_GetDraws(testers, &count);            draw that
//
// A node is in the targets that it or a node above it was made. A tester is in those above it, and is never drawn
// itself. Its box is that of all that the node draws, in world space (espyWorld_GetWorldBounds); one without bounds is
// never seen. Thread: owner, of world and renderer at once.
#ifndef ESPY_WORLD_TESTERS_H
#define ESPY_WORLD_TESTERS_H

#include <espy/renderer.h>
#include <espy/tester.h>

typedef struct espyWorldTesters espyWorldTesters;

typedef struct espyWorldTestersDef
{
    espyHooks hooks;
    const espyWorld* world;   ///< Borrowed; outlives this.
    const espyDevice* device; ///< As espyTesterSceneDef.
    espyTesterViewDef mainView;
    uint32_t cookie;
} espyWorldTestersDef;

/// Draws to depth what is opaque in these, with the functions of the device or in any other way; a pass is begun.
typedef espyResult (*espyWorldTestersDraw)(void* context, const espyDraw* draws, uint32_t count);

ESPY_API espyWorldTestersDef espyWorldTestersDef_Default(void);
/// Errors: as espyTesterScene_Create.
ESPY_API espyResult espyWorldTesters_Create(const espyWorldTestersDef* def, espyWorldTesters** out);
/// Null is allowed.
ESPY_API void espyWorldTesters_Destroy(espyWorldTesters* testers);

/// The scene that the nodes are in: for its views, forces, answers and events, and for AddTarget and RemoveTarget. What
/// belongs to a node is created, moved and destroyed by this object alone.
ESPY_API espyTesterScene* espyWorldTesters_GetScene(const espyWorldTesters* testers);

/// Makes a node a target, or a tester; Ok where it is one. `out` may be null. Errors: InvalidId, OutOfMemory. Cost:
/// linear in the node's descendants.
ESPY_API espyResult espyWorldTesters_MakeTarget(espyWorldTesters* testers, espyNodeId node, espyTesterTargetId* out);
ESPY_API espyResult espyWorldTesters_MakeTester(espyWorldTesters* testers, espyNodeId node, espyTesterId* out);
/// Null ids for a node that is none.
ESPY_API espyTesterTargetId espyWorldTesters_GetTarget(const espyWorldTesters* testers, espyNodeId node);
ESPY_API espyTesterId espyWorldTesters_GetTester(const espyWorldTesters* testers, espyNodeId node);

/// Brings targets and testers to where their nodes are now: places, parents, nodes that are gone. Errors:
/// InvalidArgument (a move would close a cycle: that node stays where it was, see espyTesterScene_GetCycle); the others
/// are done. Cost: constant for each node that changed. Allocates nothing.
ESPY_API espyResult espyWorldTesters_Follow(espyWorldTesters* testers);

/// Runs a view of the scene over the draws that a view of the renderer kept in its last cull. `run` says where the
/// camera is; its callback is not used. A frame of the device must be begun. Errors: as espyTesterScene_RunView,
/// InvalidId (the renderer's view), OutOfMemory; the draws are then all that the renderer kept. Allocates only where
/// the renderer keeps more draws than ever before.
ESPY_API espyResult espyWorldTesters_RunView(espyWorldTesters* testers, const espyRenderer* renderer, espyViewId view,
                                             espyTesterViewId testerView, const espyTesterRun* run,
                                             espyWorldTestersDraw draw, void* context);
/// What is to be drawn after the last RunView, in the renderer's order. Borrowed until the next one.
ESPY_API const espyDraw* espyWorldTesters_GetDraws(const espyWorldTesters* testers, uint32_t* count);

#endif
