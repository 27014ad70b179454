// SPDX-License-Identifier: MIT
// Runs programs for tests: a folder of its own, captured output, exit status, a time limit.
#ifndef ESPY_CLI_PROCESS_H
#define ESPY_CLI_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tests/scratch.h"

/// A temporary folder in which commands run; their output is captured beside it.
typedef struct espyTestFolder
{
    char root[ESPY_SCRATCH_PATH];
    char work[ESPY_SCRATCH_PATH + 8]; ///< The commands' own, empty at first.
} espyTestFolder;

/// What one command did.
typedef struct espyTestRun
{
    int status; ///< Exit status; 128 + signal where a signal ended it; 124 where it ran too long.
    char* out;  ///< Standard output, zero at the end.
    char* err;
    double seconds;
} espyTestRun;

/// Also puts the folder of the program `espy` in front of PATH and sets LEVELS, so that commands can use them.
void espyTestFolder_Create(espyTestFolder* folder, const char* program, const char* levels);
void espyTestFolder_Remove(const espyTestFolder* folder);
/// Number of entries of the commands' folder.
int espyTestFolder_CountEntries(const espyTestFolder* folder);

/// Runs a shell command line in the folder.
espyTestRun espyTestRun_Shell(const espyTestFolder* folder, const char* command);
/// Runs a program with arguments, no shell between. `input` (may be null) becomes standard input, else it is empty.
espyTestRun espyTestRun_Program(const espyTestFolder* folder, char* const* argv);
void espyTestRun_Free(espyTestRun* run);

/// Starts a program without waiting for it.
pid_t espyTestProcess_Start(const espyTestFolder* folder, char* const* argv);
double espyTest_Seconds(void);
/// A whole file with a zero at the end, or null; free() it.
char* espyTest_ReadText(const char* path, size_t* outSize);

#endif
