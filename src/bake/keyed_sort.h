// SPDX-License-Identifier: MIT
// A stable sort of numbers by 64-bit keys that can be stopped: qsort can not, and its order of equals is its own.
#ifndef ESPYI_KEYED_SORT_H
#define ESPYI_KEYED_SORT_H

#include "core/poll.h"

typedef struct espyiKeyed
{
    uint64_t key;
    uint32_t value;
} espyiKeyed;

/// By key, ascending. False: out of memory, or stopped; the items are then in no order. `poll` may be null.
bool espyiKeyed_Sort(espyiKeyed* items, size_t count, const espyHooks* hooks, espyiPoll* poll);

#endif
