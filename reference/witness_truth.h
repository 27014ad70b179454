// SPDX-License-Identifier: MIT
// What can be seen, found the slow way: very many lines, each walked through the cells, kept as a bit matrix.
//
// Independent of src/bake: its own cell walk in double precision, its own choice of lines; the tracer is given by the
// caller (an Embree scene in the benches). Every bit has a witness, so the union of any runs is a lower bound of the
// truth that only grows.
#ifndef ESPY_WITNESS_TRUTH_H
#define ESPY_WITNESS_TRUTH_H

#include <espy/bake.h>

/// Distance along a unit direction to the nearest triangle of the occluders other than [firstOwn, firstOwn + ownCount);
/// infinity where there is none. `backFace` says that the back of the triangle was hit. Thread: any.
typedef double espyTruthTraceFn(void* context, const double origin[3], const double direction[3], uint32_t firstOwn,
                                uint32_t ownCount, uint32_t* triangle, bool* backFace);

typedef struct espyTruthDef
{
    const espyBakeInput* input;
    const espyPvs* pvs; ///< Says what the cells are, and which are solid; its answers are not looked at.
    espyTruthTraceFn* trace;
    void* traceContext;
    uint64_t rays;
    uint64_t seed;
    int32_t threads;
} espyTruthDef;

/// cellCount rows of `words` 32-bit words; bit (slot % 32) of word (slot / 32).
typedef struct espyTruthMatrix
{
    uint32_t cellCount, slotCount, words;
    uint32_t* bits;
} espyTruthMatrix;

bool espyTruth_Create(espyTruthMatrix* matrix, const espyPvs* pvs);
void espyTruth_Free(espyTruthMatrix* matrix);

/// Adds what `rays` more lines see: a third uniform from random surface points, a third through the edges of what the
/// line before hit, a third aimed at cells beside ones that are already seen. Returns the number of new pairs.
uint64_t espyTruth_Search(const espyTruthDef* def, espyTruthMatrix* matrix);

/// Pairs seen, over the open cells of `openCells`.
uint64_t espyTruth_Count(const espyTruthMatrix* matrix, const espyPvs* openCells);

/// Pairs that `truth` sees in open cells and `pvs` hides.
uint64_t espyTruth_CountMissing(const espyTruthMatrix* truth, const espyPvs* pvs);

/// A file of the matrix, so that runs add up. False where it cannot be read or is of another scene.
bool espyTruth_Save(const espyTruthMatrix* matrix, uint64_t contentHash, const char* path);
bool espyTruth_Load(espyTruthMatrix* matrix, uint64_t contentHash, const char* path);

#endif
