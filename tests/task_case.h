// SPDX-License-Identifier: MIT
// A task hook that really runs on threads of its own, for suites and benches.
#ifndef ESPY_TASK_CASE_H
#define ESPY_TASK_CASE_H

#include <espy/base.h>

/// Starts `threads - 1` threads for each loop; the calling thread takes part.
espyTasks espyTaskCase_Threads(uint32_t threads);

/// Runs the loop on the calling thread, last index first, yet claims `threads`.
espyTasks espyTaskCase_Backwards(uint32_t threads);

#endif
