// SPDX-License-Identifier: MIT
// A file of random bits with random draws, for suites that cull arrays.
#ifndef ESPY_CULL_CASE_H
#define ESPY_CULL_CASE_H

#include "pvs_case.h"
#include "view_case.h"

#include <espy/culling.h>
#include <espy/pack.h>

/// A file, and draws in its space, some of whose bounds are of no use.
typedef struct espyCullCase
{
    espyPvsCase made;
    espyPackResult packed; ///< The file in use with every fifth seed.
    espyPvs pvs;
    espyVec3 offset;
    espyBox* boxes;
    float* coordinates; ///< The same boxes as six arrays.
    uint32_t* slots;
    uint32_t* bits[6];
    espyCullDraws draws;
    uint32_t* scratch;
} espyCullCase;

espyCullCase espyCullCase_Make(uint64_t seed, uint32_t count);
void espyCullCase_Free(espyCullCase* c);
/// Random switches, orders and layouts of the case's draws.
void espyCullCase_Vary(espyCullCase* c, espyiRng* rng);
/// The volume of the file, where the draws are.
espyBox espyCullCase_Room(const espyCullCase* c);

#endif
