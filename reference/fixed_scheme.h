// SPDX-License-Identifier: MIT
// The fixed scheme as the text has it, the slow way: every cell, every open sample, every occludee, every target, every
// triangle, in double precision; the first unblocked ray wins.
#ifndef ESPY_FIXED_SCHEME_H
#define ESPY_FIXED_SCHEME_H

#include <espy/bake.h>

typedef struct espyFixedScheme
{
    uint32_t cellCount, occludeeCount;
    uint8_t* visible;     ///< cellCount * occludeeCount; index cell * occludeeCount + occludee.
    uint8_t* openSamples; ///< Of each cell.
    uint64_t rays;
} espyFixedScheme;

/// The cells are those of `pvs`; its answers are not looked at. Low, Medium and High only. False: out of memory.
bool espyFixedScheme_Run(const espyBakeInput* input, const espyPvs* pvs, espyBakeQuality quality, espyFixedScheme* out);
void espyFixedScheme_Free(espyFixedScheme* scheme);

#endif
