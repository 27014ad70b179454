// SPDX-License-Identifier: MIT
// Folders that a test writes into.
#ifndef ESPY_TEST_SCRATCH_H
#define ESPY_TEST_SCRATCH_H

#include <stdbool.h>

#define ESPY_SCRATCH_PATH 192

/// Makes an empty folder below TMPDIR, or /tmp, whose name begins with "espy-" and `name`. False: it cannot.
bool espyScratch_Create(const char* name, char path[ESPY_SCRATCH_PATH]);
/// Removes it with all that is in it; links are not followed.
void espyScratch_Remove(const char* path);

#endif
