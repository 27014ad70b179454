// SPDX-License-Identifier: MIT
// Culling one draw at a time, by single bits and single boxes.
#ifndef ESPY_REFERENCE_CULL_REFERENCE_H
#define ESPY_REFERENCE_CULL_REFERENCE_H

#include <espy/culling.h>

/// As espyCull_Run, which it must equal in every list and count. `cells` of the sets decide, never their words.
void espyCullReference_Run(const espyCullInput* input, espyCullOutput* output);

#endif
