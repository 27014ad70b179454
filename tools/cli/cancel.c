// SPDX-License-Identifier: MIT
// Signals of the program. The state is global because a signal handler can reach nothing else.
#include "cancel.h"
#include "cli_text.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum
{
    espyCliTemporary_Max = 4
};

/// timeout(1) and terminals send one wish to stop twice, to the process and to its group.
#define ESPY_CLI_REPEAT_SECONDS 1

static volatile sig_atomic_t espyCliCancelDeferred;
static volatile sig_atomic_t espyCliCancelRequested;
static volatile sig_atomic_t espyCliTemporaryCount;
static char espyCliTemporaries[espyCliTemporary_Max][PATH_MAX];

static void espyCliCancel_Handle(int signalNumber)
{
    // Written by the first signal alone, which the mask of the handler keeps apart from the others.
    static struct timespec first;
    // Only calls that are safe in a handler: clock_gettime, unlink, rmdir, _exit.
    int error = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    errno = error;
#if defined(_WIN32)
    // There a signal is handled once.
    signal(signalNumber, espyCliCancel_Handle);
#endif
    (void)signalNumber;
    if (espyCliCancelDeferred && !espyCliCancelRequested)
    {
        first = now;
        espyCliCancelRequested = 1;
        return;
    }
    if (espyCliCancelRequested && now.tv_sec - first.tv_sec <= ESPY_CLI_REPEAT_SECONDS)
    {
        return;
    }
    for (int i = (int)espyCliTemporaryCount - 1; i >= 0; --i)
    {
        if (unlink(espyCliTemporaries[i]) != 0)
        {
            rmdir(espyCliTemporaries[i]);
        }
    }
    _exit(espyCliExit_Cancelled);
}

#if defined(_WIN32)

void espyiCliCancel_Install(void)
{
    signal(SIGINT, espyCliCancel_Handle);
    signal(SIGTERM, espyCliCancel_Handle);
    signal(SIGBREAK, espyCliCancel_Handle);
}

#else

void espyiCliCancel_Install(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i)
    {
        struct sigaction old, action = {.sa_handler = espyCliCancel_Handle};
        sigfillset(&action.sa_mask);
        // What nohup or a shell's background job ignores stays ignored.
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        {
            sigaction(signals[i], &action, NULL);
        }
    }
}

#endif

void espyiCliCancel_Defer(bool defer)
{
    espyCliCancelDeferred = defer;
}

bool espyiCliCancel_IsRequested(void)
{
    return espyCliCancelRequested != 0;
}

void espyiCliCancel_AddTemporary(const char* path)
{
    size_t length = strlen(path);
    if (espyCliTemporaryCount < espyCliTemporary_Max && length < PATH_MAX)
    {
        memcpy(espyCliTemporaries[espyCliTemporaryCount], path, length + 1);
        espyCliTemporaryCount = espyCliTemporaryCount + 1;
    }
}

void espyiCliCancel_ForgetTemporary(void)
{
    if (espyCliTemporaryCount > 0)
    {
        espyCliTemporaryCount = espyCliTemporaryCount - 1;
    }
}
