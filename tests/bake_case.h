// SPDX-License-Identifier: MIT
// Small levels for tests of the bake: boxes and quads as occluders and occludees, and a few questions about the result.
#ifndef ESPY_TEST_BAKE_CASE_H
#define ESPY_TEST_BAKE_CASE_H

#include <espy/bake.h>

#define ESPY_CASE_MAX 512

typedef enum espyCaseFlag
{
    espyCaseFlag_Occluder = 1,
    espyCaseFlag_Occludee = 2,
    espyCaseFlag_Both = 3,
} espyCaseFlag;

typedef struct espyBakeCase
{
    espyBakeOccluder occluders[ESPY_CASE_MAX];
    espyBakeOccludee occludees[ESPY_CASE_MAX];
    espyBakeArea areas[16];
    uint32_t occluderCount, occludeeCount, areaCount;
    void* blocks[4 * ESPY_CASE_MAX]; // What the meshes point at.
    uint32_t blockCount;
    espyBakeInput input;
} espyBakeCase;

/// On the heap: it is too large for a stack.
espyBakeCase* espyBakeCase_Create(void);
void espyBakeCase_Destroy(espyBakeCase* c);

/// Copies the mesh. The node id is the number of meshes added before. Returns the occludee's index, or the occluder's
/// where it is no occludee.
uint32_t espyBakeCase_AddMesh(espyBakeCase* c, const espyVec3* positions, uint32_t vertexCount, const uint32_t* indices,
                              uint32_t triangleCount, uint32_t flags);
/// A closed box with outward faces.
uint32_t espyBakeCase_AddBox(espyBakeCase* c, espyVec3 min, espyVec3 max, uint32_t flags);
/// Two triangles, counter-clockwise from the front.
uint32_t espyBakeCase_AddQuad(espyBakeCase* c, espyVec3 a, espyVec3 b, espyVec3 d, espyVec3 e, uint32_t flags);
/// An occludee without triangles.
uint32_t espyBakeCase_AddBoxOnly(espyBakeCase* c, espyVec3 min, espyVec3 max);
void espyBakeCase_AddArea(espyBakeCase* c, espyVec3 min, espyVec3 max);
/// Moves everything.
void espyBakeCase_Shift(espyBakeCase* c, espyVec3 by);
/// Multiplies every coordinate along an axis; a negative factor also turns the triangles round, as an importer does.
void espyBakeCase_Scale(espyBakeCase* c, espyVec3 by);

const espyBakeInput* espyBakeCase_Input(espyBakeCase* c);

/// A room 8 x 4 x 8 m of six slabs cut in two by a wall at x = 4 with an opening z in [doorMin, doorMax], y in [0, 2];
/// no opening where doorMax <= doorMin. Boxes share faces. An area covers the inside.
void espyBakeCase_AddTwoRooms(espyBakeCase* c, float doorMin, float doorMax);

/// The default settings with 2 m cells on one thread.
espyBakeDef espyBakeCase_Def(void);

/// Loads the result. Fails the test where it is not valid.
espyPvs espyBakeCase_Load(const espyBakeResult* result);
/// True where any open cell whose box holds the point sees the slot, or the point is outside.
bool espyBakeCase_Sees(const espyPvs* pvs, espyVec3 point, uint32_t slot);
/// Number of cells that see the slot.
uint32_t espyBakeCase_CountCells(const espyPvs* pvs, uint32_t slot);
/// True where the result has a warning of this id.
bool espyBakeCase_HasWarning(const espyBakeResult* result, espyMessageId id);

#endif
