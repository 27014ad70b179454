// SPDX-License-Identifier: MIT
// Random cameras of every kind, for suites and benches of views.
#ifndef ESPY_VIEW_CASE_H
#define ESPY_VIEW_CASE_H

#include "core/core.h"

#include <espy/view.h>

/// World to eye for an eye at `eye` that looks along `forward` (any length), up where it can be up.
espyMat4 espyViewCase_LookAlong(espyVec3 eye, espyVec3 forward);

/// A direction, not of unit length.
espyVec3 espyViewCase_Direction(espyiRng* rng);

/// A def with an eye inside `room`: perspective or orthographic, centred or not, finite or infinite, either depth
/// direction, some with an oblique near plane, some mirrored, some with a scaled or flipped view matrix.
espyViewDef espyViewCase_Random(espyiRng* rng, espyBox room);

#endif
