// SPDX-License-Identifier: MIT
// What the files of the renderer share.
#ifndef ESPYI_RENDERER_INTERNAL_H
#define ESPYI_RENDERER_INTERNAL_H

#include "core/core.h"

#include <espy/renderer.h>

#define ESPYI_RENDERER_NAME 32u

/// What a set was made from: it holds while a view looks from the same cells of the same file.
typedef struct espyiSetKey
{
    const uint8_t* bytes; ///< Of the file; null: nothing is kept.
    uint64_t hash;        ///< Of its header, which holds the hash of the whole.
    const uint32_t* scratch;
} espyiSetKey;

typedef struct espyiRendererView
{
    uint32_t generation;
    bool alive;
    bool frozen;
    bool occlusion, frustum;
    char name[ESPYI_RENDERER_NAME];
    espyView view;
    espyViewDef defs[2]; ///< What it was set to, for the query system; cookies 0: not set, or no second eye.
    espyMat4 eyes[2];    ///< World to clip space, for the raster.
    espyRaster* raster;
    uint64_t culledFrame; ///< Frame of the last cull; 0: never.
    espyViewStats stats;
    // Room for `capacity` draws each.
    uint32_t* drawList;
    uint32_t* updateList;
    espyDraw* draws; ///< What is drawn, then what is updated.
    uint32_t capacity;
    espyViewSet* sets;    ///< One a group of draws.
    espyiSetKey* setKeys; ///< Of the sets.
    size_t setCapacity;
    uint32_t* scratch; ///< For the unions of all files.
    size_t scratchWords;
    // Room for `moverCapacity` moving occluders each.
    espyOccluderDraw* moverDraws;
    espyMat4* moverTransforms;
    uint32_t moverCapacity;
    // Occlusion queries.
    espyQueryViewId queries; ///< Null: off.
    int32_t queryWidth, queryHeight;
    uint32_t* candidates; ///< Bits of the system's objects.
    uint32_t candidateWords;
} espyiRendererView;

/// A node that occludes where it stands.
typedef struct espyiMover
{
    espyNodeId node;
    const espyOccluder* occluder;
} espyiMover;

/// The object that a node is in the query system.
typedef struct espyiQueriedNode
{
    uint32_t generation; ///< Of the node.
    espyQueryObjectId object;
} espyiQueriedNode;

struct espyRenderer
{
    espyHooks hooks;
    const espyWorld* world;
    espyTasks tasks;
    espyIsa isa;
    bool occlusion, frustum;
    espyCullRecorder* recorder;
    uint64_t frame;
    espyViewStats frameStats;
    espyiMover* movers;
    size_t moverCapacity;
    uint32_t moverCount;
    espyQuerySystem* system;   ///< Null: no view asks.
    espyiQueriedNode* queried; ///< By slot of the node.
    size_t queriedCapacity;
    uint64_t queriedRevision; ///< Of the world, when its nodes were objects as they stood.
    uint32_t queriedObjects;  ///< Largest index1 of an object.
    espyiRendererView views[ESPY_RENDERER_MAX_VIEWS];
};

/// The view of an id, or null.
const espyiRendererView* espyiRenderer_FindView(const espyRenderer* renderer, espyViewId id);

#endif
