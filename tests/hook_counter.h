// SPDX-License-Identifier: MIT
// Hooks that count what is held, remember the peak, and fail on demand.
#ifndef ESPY_HOOK_COUNTER_H
#define ESPY_HOOK_COUNTER_H

#include <espy/base.h>
#include <stdatomic.h>

typedef struct espyHookCounter
{
    atomic_size_t held; ///< Bytes now.
    atomic_size_t peak;
    atomic_uint blocks; ///< Blocks now.
    atomic_uint calls;  ///< Allocations so far.
    unsigned failAt;    ///< Allocation with this number (from 1) and all later ones fail; 0: none.
    bool once;          ///< Only that one does.
} espyHookCounter;

/// `counter` is zeroed by the caller and outlives the hooks.
espyHooks espyHookCounter_Hooks(espyHookCounter* counter);

#endif
