// SPDX-License-Identifier: MIT
// Every answer of a file as one number, so that two machines can be compared.
#ifndef ESPY_TARGET_ANSWERS_H
#define ESPY_TARGET_ANSWERS_H

#include <espy/pvs.h>

typedef struct espyTargetAnswers
{
    uint64_t hash; ///< Of all answers, in the order of asking.
    uint32_t cells, occludees;
    uint32_t inside;      ///< Of the points that were asked about, those in a cell.
    uint32_t hidden;      ///< Slots that a point did not see, and draws that were culled.
    uint32_t boxesHidden; ///< Moving boxes that were hidden.
} espyTargetAnswers;

/// Asks `pvs` about points in, around and on the borders of its cells. Needs no library. Lists hold 256 draws at once.
void espyTargetAnswers_Ask(const espyPvs* pvs, uint32_t points, espyTargetAnswers* out);

#endif
