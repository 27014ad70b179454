// SPDX-License-Identifier: MIT
// Proofs that no point of a box of camera positions sees any point of a target, and rays aimed where proofs fail.
//
// A: in-shaft connectivity. If no path inside the open convex hull of C and T leads from C to T without crossing an
// occluder, every segment from C to T is blocked. C: window cuts. E: exit faces (disjoint boxes only). D: subdivision.
// docs/notes/proof.md derives them and lists the conditions under which each is sound.
//
// All coordinates (occluders, world, boxes, rays) are relative to the grid's origin, as everywhere in the bake.
// All budgets count work (floods, portal tests), never time, so results are the same on every machine.
#ifndef ESPYI_PROOF_H
#define ESPYI_PROOF_H

#include "bake/freespace.h"
#include "bake/grid.h"

typedef enum espyiVerdict
{
    espyiVerdict_Unknown = 0,
    espyiVerdict_Visible,
    espyiVerdict_Hidden,
} espyiVerdict;

/// Binary tree over the stored cells (longest axis halved), shared by all targets. Cell order in the tree is its own.
typedef struct espyiCellTree espyiCellTree;
/// Errors: InvalidArgument (no cells, or too many), OutOfMemory, Cancelled (by the poll, which may be null).
espyResult espyiCellTree_Build(const espyiGrid* grid, const espyHooks* hooks, espyiPoll* poll, espyiCellTree** out);
void espyiCellTree_Destroy(espyiCellTree* tree);

/// What is to be seen: the boxes of its parts (triangle clusters of at most 6 triangles; a volume is one part).
/// Boxes are not yet grown: the prover adds the margin. A tree over the parts is built inside.
typedef struct espyiProofTarget
{
    espyiBoxD bounds;
    const espyiBoxD* parts;
    uint32_t partCount;
    /// The triangles of part i, three corners each: [partFirst[i], partFirst[i + 1]). Null: all of a part's box is the
    /// target, as where something in it blocks that is not one of these triangles.
    const espyVec3* corners;
    const uint32_t* partFirst;
} espyiProofTarget;

/// Scratch memory of one thread; reused over any number of calls. Create one a worker. `poll` (may be null) is asked
/// from the thread that proves; once it stops, nothing more is proven and calls return soon.
typedef struct espyiProver espyiProver;
espyResult espyiProver_Create(const espyiFreeSpace* space, const espyiCellTree* cells, const espyiGrid* grid,
                              const espyHooks* hooks, espyiPoll* poll, espyiProver** out);
/// Keeps a share of the lists of leaves that it otherwise would, since so many provers keep some: what a bake holds
/// should not grow with its threads. Never changes an answer.
void espyiProver_ShareCache(espyiProver* prover, uint32_t provers);
void espyiProver_Destroy(espyiProver* prover);
/// Leaves that a camera can be in (bits; borrowed, null: all). To be called before the first proof. A camera box
/// without such a leaf sees nothing. Only places of cameras are narrowed by it: windows and exit slabs are places of
/// sight.
void espyiProver_SetViewers(espyiProver* prover, const uint32_t* leaves);

/// Test A alone on two boxes: true only with a proof that they cannot see each other.
bool espyiProver_IsHidden(espyiProver* prover, espyiBoxD camera, espyiBoxD target);

/// Drives test A over the cell tree, top-down, against the target's whole bounds: sets bits in `hidden` (over cell
/// ranks) for cells that are proven hidden. Blocks that hold a cell of `visible` (known witnesses; may be null) are
/// split at once. Blocks that fail are split down to single cells. `work` counts portal tests; stops at maxWork (0: no
/// limit), leaving the rest unset.
void espyiProver_DriveCells(espyiProver* prover, espyiBoxD bounds, const uint32_t* visible, uint64_t maxWork,
                            uint32_t* hidden, uint64_t* work);

/// Tries a line that the prover aimed through openings: from a point of the camera box to a point of a part's box. What
/// counts is the line: the caller looks for the target's first surface on it (which may lie before or behind `to`),
/// casts the ray to that, and marks all cells on it. Returns true where the target is seen.
typedef bool espyiTryRayFn(void* context, const double from[3], const double to[3]);

typedef struct espyiLadderDef
{
    uint32_t depth;       ///< Of subdivision and window cuts.
    uint32_t budget;      ///< Floods a pair.
    uint32_t raysPerStep; ///< Tried through the openings of each pair of boxes that could not be closed; 16 is a good
                          ///< balance, as a step costs about as much as that many rays.
    bool
        deep; ///< Depth first, and no further than the first boxes that can be neither closed nor split: a quarter of
              ///< the floods for the same proofs, fewer rays. Else breadth first, which spreads the rays over the pair.
    uint64_t seed;
    espyiTryRayFn* tryRay;
    void* context;
} espyiLadderDef;

/// Works on one open pair (cell, target): A, window cuts, exit faces and subdivision, over the target's parts, with
/// rays through what cannot be closed. Visible: tryRay succeeded. Hidden: proven for every part. Unknown: the budget
/// ended.
espyiVerdict espyiProver_Ladder(espyiProver* prover, uint32_t cell, const espyiProofTarget* target,
                                const espyiLadderDef* def, uint64_t* work);

#endif
