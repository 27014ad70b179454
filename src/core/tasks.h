// SPDX-License-Identifier: MIT
// Parallel loops for the offline half (espy-bake). The run-time core never starts a thread.
#ifndef ESPYI_TASKS_H
#define ESPYI_TASKS_H

#include "core/core.h"

/// Work on item `index`; `worker` is in [0, threads). Items may run in any order: results must not depend on it.
typedef void espyiTaskFn(void* context, uint32_t index, uint32_t worker);

/// Number of threads that `wanted` means: itself when positive, else one a core; clamped to 1..256.
uint32_t espyiTasks_ThreadCount(int32_t wanted);

/// Called from the calling thread about every 50 ms while a loop runs; false cancels the rest.
typedef bool espyiTickFn(void* context);

/// Runs fn for every index in [0, count), handing out single items by one counter. With threads 1 nothing is started.
/// `tick` may be null. Returns false where tick asked to stop (items already begun are finished).
bool espyiTasks_For(uint32_t threads, uint32_t count, espyiTaskFn* fn, void* context, espyiTickFn* tick,
                    void* tickContext);

/// Seconds of a monotonic clock, and CPU seconds of the calling thread.
double espyiClock_Seconds(void);
double espyiClock_ThreadCpuSeconds(void);

#endif
