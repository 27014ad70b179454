// SPDX-License-Identifier: MIT
// Progress on standard error: a bar on a terminal, otherwise a line every two seconds.
#ifndef ESPYI_PROGRESS_H
#define ESPYI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum espyCliProgressMode
{
    espyCliProgressMode_Auto = 0, ///< A bar where the stream is a terminal, else lines.
    espyCliProgressMode_Plain,
    espyCliProgressMode_None,
} espyCliProgressMode;

/// Names of the modes in their order, null at the end.
extern const char* const espyiCliProgressModes[];

/// What is known at one moment.
typedef struct espyCliProgressState
{
    uint64_t done, total;  ///< Units of work.
    double seconds;        ///< Since the work began.
    uint64_t count;        ///< A number that says how large the work is, 0 while it is not known.
    const char* countName; ///< "cells".
    double rate;           ///< Per second; 0 while it is not known.
    const char* rateName;  ///< "rays".
} espyCliProgressState;

typedef struct espyCliProgress
{
    FILE* stream;
    const char* title; ///< "baking".
    bool bar, lines;
    int width;           ///< Columns of the terminal.
    double lastSeconds;  ///< When something was shown last.
    size_t shownColumns; ///< Columns of the bar that stands there now.
} espyCliProgress;

void espyiCliProgress_Begin(espyCliProgress* progress, espyCliProgressMode mode, FILE* stream, const char* title);
/// Shows the state if it is time to: ten times a second for a bar, every two seconds for lines.
void espyiCliProgress_Show(espyCliProgress* progress, const espyCliProgressState* state);
/// Takes the bar away, so that what follows starts on a clean line.
void espyiCliProgress_End(espyCliProgress* progress);

/// The text of a state: "47 % of 47,850 cells, 3.2 M rays/s, 0:12 left". Parts that are not known are left out.
void espyiCliProgress_Describe(const espyCliProgressState* state, char* out, size_t size);

/// Seconds of a monotonic clock.
double espyiCliClock_GetSeconds(void);

#endif
