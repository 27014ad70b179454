// SPDX-License-Identifier: MIT
// Ctrl-C and its kin: end at once where nothing is half done, else ask the work to stop; never leave a file behind.
#ifndef ESPYI_CANCEL_H
#define ESPYI_CANCEL_H

#include <stdbool.h>

/// Takes over SIGINT, SIGTERM and SIGHUP (those that are not ignored already). Until espyiCliCancel_Defer a signal
/// removes the temporary files and ends the program with status 130.
void espyiCliCancel_Install(void);

/// From here on the first signal is only remembered (one that comes a second later ends the program); false returns to
/// ending at once.
void espyiCliCancel_Defer(bool defer);
bool espyiCliCancel_IsRequested(void);

/// Names a file or empty folder to remove when a signal ends the program; at most four at a time. Children first:
/// removed in reverse order.
void espyiCliCancel_AddTemporary(const char* path);
/// Forgets the path that was added last.
void espyiCliCancel_ForgetTemporary(void);

#endif
