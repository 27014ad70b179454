// SPDX-License-Identifier: MIT
// What the ladder's steps and its rays share.
#ifndef ESPYI_PROOF_LADDER_H
#define ESPYI_PROOF_LADDER_H

#include "bake/proof_internal.h"

#define ESPYI_GAP_POINTS 56u
#define ESPYI_MAX_WINDOWS 6u

typedef struct espyiWindow
{
    uint32_t leaf;
    espyiBoxD box, a, b; ///< The window, and what lines through it meet of A and B.
} espyiWindow;

/// An opening cut to the shaft.
typedef struct espyiGap
{
    uint32_t count;
    double points[ESPYI_GAP_POINTS][3];
} espyiGap;

typedef struct espyiLadder
{
    espyiProver* prover;
    const espyiLadderDef* def;
    const espyiProofTarget* target;
    espyiRng rng;
    uint64_t firstFlood, firstWork;
    espyiBoxD camera;
    espyiLeafScope whole; ///< Where the flood of the whole pair got to, once it has run.
    espyiLeafScope scope; ///< Only its leaves count: those of `whole`, or where the flood of the pair at hand got to.
    bool exited;          ///< The near box at hand holds places of sight, not of cameras.
    uint32_t windowCount;
    uint32_t gapCount;
    espyiGap gaps[2];                       ///< On the way that the last flood took.
    bool allWindows;                        ///< No other window of the plane is open.
    espyiWindow windows[ESPYI_MAX_WINDOWS]; ///< Those of the pair at hand that stay open.
    uint32_t aimCount;
    espyiWindow aims[ESPYI_MAX_WINDOWS]; ///< The same of its first slab, for rays.
} espyiLadder;

/// Tries rays from a to b, a box inside a node of the part tree: through the gaps, through the windows kept for aiming,
/// and at random. True where the target is seen.
bool espyiLadder_Shoot(espyiLadder* ladder, const espyiBoxD* a, const espyiBoxD* b, uint32_t node);

#endif
