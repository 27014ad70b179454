// SPDX-License-Identifier: MIT
// Small files with known contents, made from random numbers, for suites and benches of lookups.
#ifndef ESPY_PVS_CASE_H
#define ESPY_PVS_CASE_H

#include "bake/tables.h"

typedef struct espyPvsCaseDef
{
    uint64_t seed;
    uint32_t dims[3];
    espyVec3 origin;
    float cellSize;
    float storedShare;   ///< Of the lattice cells; 1: all.
    uint32_t storedLump; ///< Edge of the cubes of cells that are stored together or not at all; 0: each for itself.
    float solidShare;
    uint32_t occluderCount, occludeeCount;
    uint32_t distinctRows; ///< Rows to draw from, so that sets are shared.
    uint32_t coarseFactor; ///< 0: no dynamic table.
    bool coherent;         ///< Neighbouring cells see nearly the same, as in a level; distinctRows is not used.
    bool tools;            ///< With node ids, parts, hashes and solid cells.
    const espyBox* boxes;  ///< Of occluders, then occludees; null: random ones.
    const int32_t* nodes;  ///< In the same order; null: random ones.
    bool wholeNodes;       ///< Every part is -1.
} espyPvsCaseDef;

/// What went into a file, one byte a bit, and the file.
typedef struct espyPvsCase
{
    espyiGrid grid;
    uint8_t* visible;      ///< [cell * occludeeCount + slot]
    uint8_t* blockVisible; ///< [cell * coarseCount + block]
    espyBox* boxes;        ///< Occluders, then occludees.
    int32_t* nodes;
    int32_t* parts;
    uint32_t* proven;
    uint64_t* hashes;
    espyiTable statics, dynamics;
    espyiBlobDef blob;
    void* file;
    size_t size;
} espyPvsCase;

espyPvsCaseDef espyPvsCaseDef_Default(void);
/// Fails the running test where the file cannot be made.
espyPvsCase espyPvsCase_Make(const espyPvsCaseDef* def);
void espyPvsCase_Free(espyPvsCase* made);

/// Writes the right hash into a file that a test has changed.
void espyPvsCase_Rehash(void* file, size_t size);

#endif
