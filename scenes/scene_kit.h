// SPDX-License-Identifier: MIT
// What the scene builders share: a mesh under construction, placing of nodes, random numbers, and one result that
// sticks, so that a builder reads as a description and checks for failure once, at the end.
#ifndef ESPYI_SCENE_KIT_H
#define ESPYI_SCENE_KIT_H

#include "scenes/scenes.h"

#include "core/core.h"

#define ESPYI_KIT_MAX_PARTS 16u

// Flags by the usual advice.
#define ESPYI_KIT_SHELL ((uint32_t)espyNodeFlag_OccluderStatic) ///< Floors, outer walls, terrain.
#define ESPYI_KIT_BOTH ((uint32_t)(espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic)) ///< Walls, big props.
#define ESPYI_KIT_PROP ((uint32_t)espyNodeFlag_OccludeeStatic)                                 ///< Small props.

typedef struct espyiKit
{
    espyWorld* world;
    espyResult result; ///< The first failure; later calls then do nothing.
    espyHooks hooks;
    espyiRng rng;
    int32_t nextId;
    // The mesh under construction.
    espyVec3* positions;
    uint32_t* indices;
    size_t positionCount, positionCapacity;
    size_t indexCount, indexCapacity;
    espyMeshPart parts[ESPYI_KIT_MAX_PARTS];
    uint32_t partCount;
} espyiKit;

void espyiKit_Begin(espyiKit* kit, uint64_t seed, float cellSize);
/// Gives the world away, or destroys it after a failure. Frees the rest of the kit.
espyResult espyiKit_Finish(espyiKit* kit, espyWorld** out);

// --- numbers

/// Cosine and sine of an angle in turns (1 is a full circle), by polynomials: libm differs between machines.
void espyiKit_Turn(float turns, float* cosine, float* sine);
/// Uniform in [low, high).
float espyiKit_Range(espyiKit* kit, float low, float high);
/// Uniform in low, low + step, ... below or at high. Dyadic steps keep coordinates exact, so that faces can be shared.
float espyiKit_Step(espyiKit* kit, float low, float high, float step);
uint32_t espyiKit_Below(espyiKit* kit, uint32_t bound);

// --- mesh under construction: triangles are counter-clockwise from outside

/// Later triangles get this material and colour (0xRRGGBB).
void espyiKit_Paint(espyiKit* kit, espyMaterialClass material, uint32_t color);
uint32_t espyiKit_Vertex(espyiKit* kit, espyVec3 position);
void espyiKit_Triangle(espyiKit* kit, uint32_t a, uint32_t b, uint32_t c);
void espyiKit_Quad(espyiKit* kit, espyVec3 a, espyVec3 b, espyVec3 c, espyVec3 d);
void espyiKit_Box(espyiKit* kit, float x0, float y0, float z0, float x1, float y1, float z1);
/// Closed cone stump around Y from base.y up; a radius of 0 gives a point.
void espyiKit_Stump(espyiKit* kit, espyVec3 base, float bottomRadius, float topRadius, float height, uint32_t sides);
/// Closed ellipsoid of flat facets.
void espyiKit_Ball(espyiKit* kit, espyVec3 center, espyVec3 radius, uint32_t rings, uint32_t sides);
espyMeshId espyiKit_EndMesh(espyiKit* kit, const char* name);

// --- nodes

espyMat4 espyiKit_At(float x, float y, float z);
/// Turned around Y by `turns`, scaled uniformly.
espyMat4 espyiKit_AtTurned(float x, float y, float z, float turns, float scale);
espyNodeId espyiKit_Place(espyiKit* kit, const char* name, espyMeshId mesh, espyMat4 local, uint32_t flags);
espyNodeId espyiKit_PlaceTerrain(espyiKit* kit, const char* name, espyMeshId mesh, uint32_t flags);
espyNodeId espyiKit_PlaceMany(espyiKit* kit, const char* name, espyMeshId mesh, const espyMat4* instances,
                              uint32_t count, uint32_t flags);
void espyiKit_Area(espyiKit* kit, const char* name, float x0, float y0, float z0, float x1, float y1, float z1);
void espyiKit_Camera(espyiKit* kit, const char* name, espyVec3 eye, espyVec3 target);

// --- ground

/// Smooth noise in [0, 1) over the plane, lattice distance 1; `seed` chooses the field.
float espyiKit_Noise(uint64_t seed, float x, float z);

// --- paths

/// A camera path under construction.
typedef struct espyiPath
{
    espySceneKey* keys;
    uint32_t capacity, count;
    espyVec3 last;
    float seconds;
} espyiPath;

/// Goes on in a straight line. The camera looks where it goes.
void espyiPath_Walk(espyiPath* path, float x, float y, float z);
void espyiPath_Rooms(espyiPath* path, uint32_t size, uint64_t seed, bool slits);
/// Height of the forest's ground.
float espyiForest_Height(uint64_t seed, float x, float z);

#endif
