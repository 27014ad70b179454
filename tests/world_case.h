// SPDX-License-Identifier: MIT
// Small worlds beside random files whose boxes they have: every node is a box at a multiple of 1/64 m, so that moving
// it and placing files is exact.
#ifndef ESPY_WORLD_CASE_H
#define ESPY_WORLD_CASE_H

#include <espy/gameplay.h>

#include "tests/pvs_case.h"

#define ESPY_WORLD_CASE_OCCLUDERS 6
#define ESPY_WORLD_CASE_OCCLUDEES 40
#define ESPY_WORLD_CASE_ENTRIES (ESPY_WORLD_CASE_OCCLUDERS + ESPY_WORLD_CASE_OCCLUDEES)

/// A file over 16 x 8 x 16 m from (-8, 0, -8) on in cells of 2 m, and what it is about.
typedef struct espyWorldCase
{
    espyPvsCase file;
    espyBox boxes[ESPY_WORLD_CASE_ENTRIES]; ///< Occluders, then occludees; no two of a kind are near each other.
} espyWorldCase;

/// `withIds`: the file has node ids (100 + entry) and hashes that are none of the world's.
espyWorldCase espyWorldCase_Make(uint64_t seed, bool withIds);
void espyWorldCase_Free(espyWorldCase* c);

espyWorld* espyWorldCase_World(const espyHooks* hooks, bool unroll);
/// A box of this size from the origin on, of one opaque material.
espyMeshId espyWorldCase_Mesh(espyWorld* world, espyVec3 size);
espyMat4 espyWorldCase_At(espyVec3 place);
/// A node with a box of an entry, moved by `offset`; sourceId -1. Bare boxes for every third occludee.
espyNodeId espyWorldCase_Node(espyWorld* world, const espyWorldCase* c, uint32_t entry, espyVec3 offset);
/// All of them.
void espyWorldCase_Nodes(espyWorld* world, const espyWorldCase* c, espyVec3 offset,
                         espyNodeId out[ESPY_WORLD_CASE_ENTRIES]);
espyNodeId espyWorldCase_Camera(espyWorld* world, espyVec3 eye);
/// Adds the file; fails the test where that fails.
espyDataId espyWorldCase_Load(espyWorld* world, const espyWorldCase* c, espyVec3 offset);
/// A random multiple of 1/64 in [low, low + range).
float espyWorldCase_Random(espyiRng* rng, float low, float range);

#endif
