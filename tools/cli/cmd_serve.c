// SPDX-License-Identifier: MIT
// espy serve: the server is a program of its own, so that a build farm needs no HTTP. This finds and becomes it.
#include "commands.h"
#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

espyCliExit espyiCommand_Serve(int argc, char* const* argv)
{
#if defined(_WIN32)
    (void)argc;
    (void)argv;
    espyiCliError_Print("serve: there is no server for Windows: run it on Linux or under WSL");
    return espyCliExit_Environment;
#else
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - sizeof "/espy-serve");
    char* slash = NULL;
    if (size > 0)
    {
        path[size] = '\0';
        slash = strrchr(path, '/');
    }
    // Without /proc the search path has to do.
    memcpy(slash ? slash + 1 : path, "espy-serve", sizeof "espy-serve");
    char** words = calloc((size_t)argc + 2, sizeof *words);
    if (!words)
    {
        espyiCliError_Print("out of memory");
        return espyCliExit_Environment;
    }
    words[0] = path;
    for (int i = 0; i < argc; ++i)
    {
        words[i + 1] = argv[i];
    }
    execvp(path, words);
    espyiCliError_Print("serve: %s cannot be started (%s): build it where libmicrohttpd-dev is installed", path,
                        strerror(errno));
    free(words);
    return espyCliExit_Environment;
#endif
}
