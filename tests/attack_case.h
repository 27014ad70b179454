// SPDX-License-Identifier: MIT
// A bake at quality proven and all that an attack on it needs: a tracer, where cameras can be, the rims of openings.
#ifndef ESPY_ATTACK_CASE_H
#define ESPY_ATTACK_CASE_H

#include "bake/bake_internal.h"
#include "bake/freespace_internal.h"
#include "reference/adversary.h"

#define ESPY_ATTACK_MAX_THREADS 64u

/// Zeroed by the caller; large, so not on a stack.
typedef struct espyAttackCase
{
    const espyBakeInput* input;
    espyBakeDef def;
    espyBakeResult result;
    espyPvs pvs; ///< What is attacked: of the result, until a test breaks it.
    espyAdversary adversary;
    espyHooks hooks; ///< The scene keeps them.
    espyiBvh* bvh;
    espyiScene scene;
    espyiFreeSpace* space;
    espyiViewers viewers;
    double (*rims)[2][3];
    uint32_t rimCount;
    uint64_t rays, seed; ///< Of the attack that runs.
    espyAdversaryResult found[ESPY_ATTACK_MAX_THREADS];
} espyAttackCase;

/// Bakes `input` (borrowed) by `def` and loads the file. False: `result.message` says why.
bool espyAttackCase_Bake(espyAttackCase* c, const espyBakeInput* input, const espyBakeDef* def);
/// Free space, openings and places of cameras, made again from the same input; and the tracer. False: out of memory.
bool espyAttackCase_Prepare(espyAttackCase* c, uint32_t threads);
/// Attacks c->pvs with `rays` lines, shared out to the threads: each has a seed of its own. Results add up; the first
/// violation is the first of the first thread that found one.
espyAdversaryResult espyAttackCase_Run(espyAttackCase* c, uint64_t rays, uint64_t seed, uint32_t threads);
void espyAttackCase_Free(espyAttackCase* c);

#endif
