// SPDX-License-Identifier: MIT
// Which of a file's boxes is which of the world's: exact matches first, then the closest one within the tolerance.
#ifndef ESPYI_MATCH_H
#define ESPYI_MATCH_H

#include "core/core.h"

#include <espy/math.h>

#define ESPYI_MATCH_NONE 0xFFFFFFFFu

/// The boxes of a file that no node has yet, in a hash of their minimum corners. Boxes of like size share a lattice
/// whose cells are much wider than a search reaches, so that it looks into one to eight of them however many boxes
/// there are.
typedef struct espyiBoxTable
{
    const float* boxes; ///< Six numbers each: minimum, maximum. Borrowed.
    uint32_t count;
    float cellSize;   ///< Of the file, metres.
    uint32_t mask;    ///< Buckets - 1.
    int32_t above;    ///< Width of the lattice cells.
    uint32_t* heads;  ///< First box of a bucket.
    uint32_t* next;   ///< Next box of the bucket.
    uint32_t waiting; ///< Boxes in the table.
} espyiBoxTable;

/// A box of the world in the space of the file.
typedef struct espyiMatchCandidate
{
    espyBox box;
    uint32_t node; ///< The caller's.
    int32_t part;
    int32_t sourceId; ///< -1: none.
    bool hidden;      ///< Comes after all that are not.
} espyiMatchCandidate;

/// Largest difference of any face at which a box still counts as the baked one: the larger of 10 % of a cell and 1 % of
/// the baked box's longest side.
float espyiMatch_Tolerance(const float baked[6], float cellSize);
/// True where no face of `box` is farther from its baked place than the tolerance; false for NaN.
bool espyiMatch_InPlace(const float baked[6], float cellSize, espyBox box);

/// Length of `heads` for a table of `count` boxes.
uint32_t espyiBoxTable_GetBuckets(uint32_t count);
/// Makes a table of which all boxes wait. `boxes`, `heads` (buckets) and `next` (count) stay the caller's. The boxes
/// come into buckets, where single ones are found, with the first espyiMatch_Run.
void espyiBoxTable_Init(espyiBoxTable* table, const float* boxes, uint32_t count, float cellSize, uint32_t* heads,
                        uint32_t* next);
/// Takes out the waiting box that is closest to `box`, by its worst face and then by its index; NONE where none is
/// within the tolerance. Cost: bounded: of more than 256 boxes that begin at about the same place some are passed over.
uint32_t espyiBoxTable_Take(espyiBoxTable* table, espyBox box);
/// Puts one box back.
void espyiBoxTable_Return(espyiBoxTable* table, uint32_t index);

/// Pairs candidates with the boxes of a table. `nodes` and `parts` are those of the boxes, or null: where they are
/// known an exact match with the right id comes first. Then equal boxes, exact ones, and those within the tolerance;
/// candidates that are hidden come last in each of the latter. Candidates ascend by sourceId. `out` gets the box of
/// each candidate or NONE. Same result on every machine. Cost: linear.
void espyiMatch_Run(espyiBoxTable* table, const espyiMatchCandidate* candidates, uint32_t candidateCount,
                    const int32_t* nodes, const int32_t* parts, uint32_t* out);

#endif
