// SPDX-License-Identifier: MIT
// Tester meshes as their proposal has them, in the plainest way: every iteration draws everything anew, in double, and
// every tester is looked for in every pixel. Knows nothing of views, seeds, budgets or ids.
#ifndef ESPY_TESTER_REFERENCE_H
#define ESPY_TESTER_REFERENCE_H

#include <espy/mesh.h>

/// In no target.
#define ESPY_REFERENCE_NONE UINT32_MAX

typedef struct espyReferenceTarget
{
    uint32_t parent; ///< Target around it.
} espyReferenceTarget;

/// A mesh in world space, opaque or a tester's.
typedef struct espyReferenceMesh
{
    espyTriangles triangles;
    uint32_t parent;         ///< Target that it is in.
    const uint32_t* targets; ///< Of a tester.
    uint32_t targetCount;
    bool forced; ///< A tester that is active whatever it sees.
} espyReferenceMesh;

typedef struct espyReferenceTesters
{
    const espyReferenceTarget* targets;
    const espyReferenceMesh* testers;
    const espyReferenceMesh* draws;
    uint32_t targetCount, testerCount, drawCount;
    espyMat4 clip;
    int32_t width, height;
    bool reversedZ;
} espyReferenceTesters;

/// The nine steps. Writes 1 for each tester that ends active, and for each target that ends shown (it and all around
/// it are active). Returns the number of times that testers were drawn. Exits the program without memory.
uint32_t espyReferenceTesters_Run(const espyReferenceTesters* scene, uint8_t* active, uint8_t* shown);

/// Draws what is in no target or in shown ones, and counts for each tester the pixels in which it is in front of that,
/// by more than 32-bit depth may be off. `inner` (may be null) counts those whose four neighbours belong to the tester
/// as well, so that no rounding of its edges decides. Testers in a target that is not shown count 0.
void espyReferenceTesters_CountPixels(const espyReferenceTesters* scene, const uint8_t* shown, uint32_t* pixels,
                                      uint32_t* inner);

#endif
