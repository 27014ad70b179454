// SPDX-License-Identifier: MIT
// espy: finds the command and runs it.
#include "cancel.h"
#include "commands.h"
#include "options.h"
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct espyCliCommand
{
    const char* name;
    const char* summary;
    espyCliExit (*run)(int argc, char* const* argv);
} espyCliCommand;

static const espyCliCommand espyCliCommands[] = {
    {"bake", "find what can be seen from every cell of a level, and write it to a file", espyiCommand_Bake},
    {"info", "print what is in such a file", espyiCommand_Info},
    {"visible", "print what can be seen from points", espyiCommand_Visible},
    {"audit", "render the level and count what the file would have hidden wrongly", espyiCommand_Audit},
    {"check", "tell whether the file still belongs to the level", espyiCommand_Check},
    {"diff", "compare two files: pairs of cell and object gained and lost", espyiCommand_Diff},
    {"cook", "write a file for a target, inside its budget", espyiCommand_Cook},
    {"import", "write a level of any format as .glb with its flags", espyiCommand_Import},
    {"report", "write maps, worst views and tables of a file as a page for a browser", espyiCommand_Report},
    {"serve", "mark, bake and look at a level in a browser", espyiCommand_Serve},
};

enum
{
    espyCliCommand_Count = sizeof espyCliCommands / sizeof espyCliCommands[0]
};

static void espyCliProgram_PrintHelp(FILE* stream)
{
    fprintf(stream, "usage: espy COMMAND ...\n\n"
                    "Tells what a camera can see in a level, so that an engine draws nothing else.\n\ncommands:\n");
    for (int i = 0; i < espyCliCommand_Count; ++i)
    {
        fprintf(stream, "  %-10s%s\n", espyCliCommands[i].name, espyCliCommands[i].summary);
    }
    fprintf(stream, "\n'espy COMMAND --help' says more; 'espy --version' prints the version.\n"
                    "\nexit status:\n"
                    "  0    done\n"
                    "  1    a check that was asked for did not hold\n"
                    "  2    the command line is wrong\n"
                    "  3    a file is bad, or refused\n"
                    "  4    memory, disk or permission\n"
                    "  130  cancelled\n");
}

static espyCliExit espyCliProgram_RefuseUnknown(const char* word)
{
    const char* names[espyCliCommand_Count];
    for (int i = 0; i < espyCliCommand_Count; ++i)
    {
        names[i] = espyCliCommands[i].name;
    }
    if (word[0] == '-')
    {
        espyiCliError_Print("unknown option '%.80s' before the command: 'espy --help' lists the commands", word);
    }
    else
    {
        espyiCliError_Print("unknown command '%.80s': did you mean '%s'? ('espy --help' lists the commands)", word,
                            espyiCliOptions_FindNearest(word, names, espyCliCommand_Count, UINT32_MAX));
    }
    return espyCliExit_Usage;
}

static espyCliExit espyCliProgram_Run(int argc, char** argv)
{
    if (argc < 2)
    {
        espyCliProgram_PrintHelp(stderr);
        return espyCliExit_Usage;
    }
    if (strcmp(argv[1], "--help") == 0)
    {
        espyCliProgram_PrintHelp(stdout);
        return espyCliExit_Ok;
    }
    if (strcmp(argv[1], "--version") == 0)
    {
        int32_t version = espyLib_GetVersion();
        printf("espy %d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
        return espyCliExit_Ok;
    }
    for (int i = 0; i < espyCliCommand_Count; ++i)
    {
        if (strcmp(argv[1], espyCliCommands[i].name) == 0)
        {
            return espyCliCommands[i].run(argc - 2, argv + 2);
        }
    }
    return espyCliProgram_RefuseUnknown(argv[1]);
}

#if !defined(_WIN32)

/// A standard stream that was closed would be the next file that is opened, and messages would go into it. Opened the
/// wrong way round, so that its use still fails.
static void espyCliProgram_HoldStandardStreams(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
    {
        if (fcntl(file, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) != file)
        {
            _exit(espyCliExit_Environment);
        }
    }
}

#endif

int main(int argc, char** argv)
{
    espyiPlatform_Begin();
#if !defined(_WIN32)
    espyCliProgram_HoldStandardStreams();
    // A file size limit shows as a failed write, which is reported, rather than as a signal.
    signal(SIGXFSZ, SIG_IGN);
#endif
    espyiCliCancel_Install();
    espyCliExit status = espyCliProgram_Run(argc, argv);
    // Results that a full disk swallowed are no results.
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status <= espyCliExit_CheckFailed)
    {
        espyiCliError_Print("standard output: cannot be written: %s", errno ? strerror(errno) : "a write failed");
        status = espyCliExit_Environment;
    }
    return (int)status;
}
