// SPDX-License-Identifier: MIT
// Runs programs for tests.
#include "cli_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ESPY_TEST_LIMIT_SECONDS 120.0

static void espyTest_Die(const char* what)
{
    perror(what);
    exit(99);
}

double espyTest_Seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

char* espyTest_ReadText(const char* path, size_t* outSize)
{
    FILE* file = fopen(path, "rb");
    if (!file)
    {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char* text = malloc((size_t)size + 1);
    size_t got = text ? fread(text, 1, (size_t)size, file) : 0;
    fclose(file);
    if (text)
    {
        text[got] = '\0';
        *outSize = got;
    }
    return text;
}

void espyTestFolder_Create(espyTestFolder* folder, const char* program, const char* levels)
{
    char path[8192];
    if (!espyScratch_Create("test", folder->root) || chmod(folder->root, 0755) != 0)
    {
        espyTest_Die(folder->root);
    }
    snprintf(folder->work, sizeof folder->work, "%s/work", folder->root);
    if (mkdir(folder->work, 0777) != 0 || chmod(folder->work, 0777) != 0)
    {
        espyTest_Die(folder->work);
    }
    const char* slash = strrchr(program, '/');
    const char* old = getenv("PATH");
    snprintf(path, sizeof path, "%.*s:%s", slash ? (int)(slash - program) : 1, slash ? program : ".", old ? old : "");
    setenv("PATH", path, 1);
    setenv("LEVELS", levels, 1);
    setenv("LC_ALL", "C", 1);
}

void espyTestFolder_Remove(const espyTestFolder* folder)
{
    espyScratch_Remove(folder->root);
}

int espyTestFolder_CountEntries(const espyTestFolder* folder)
{
    int count = 0;
    DIR* entries = opendir(folder->work);
    while (entries && readdir(entries))
    {
        ++count;
    }
    if (entries)
    {
        closedir(entries);
    }
    return count - 2;
}

/// In the child: the folder, an empty standard input, output into files.
static void espyTestProcess_Redirect(const espyTestFolder* folder)
{
    char out[520], err[520];
    snprintf(out, sizeof out, "%s/out", folder->root);
    snprintf(err, sizeof err, "%s/err", folder->root);
    int outFile = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int errFile = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int inFile = open("/dev/null", O_RDONLY);
    if (outFile < 0 || errFile < 0 || inFile < 0 || chdir(folder->work) != 0)
    {
        _exit(98);
    }
    dup2(inFile, STDIN_FILENO);
    dup2(outFile, STDOUT_FILENO);
    dup2(errFile, STDERR_FILENO);
    close(inFile);
    close(outFile);
    close(errFile);
}

pid_t espyTestProcess_Start(const espyTestFolder* folder, char* const* argv)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
    {
        espyTest_Die("fork");
    }
    if (child == 0)
    {
        // A group of its own, so that all of it can be ended when it hangs.
        setpgid(0, 0);
        espyTestProcess_Redirect(folder);
        execvp(argv[0], argv);
        _exit(97);
    }
    setpgid(child, child);
    return child;
}

espyTestRun espyTestRun_Program(const espyTestFolder* folder, char* const* argv)
{
    espyTestRun run = {0};
    double start = espyTest_Seconds();
    pid_t child = espyTestProcess_Start(folder, argv);
    int status = 0;
    bool late = false;
    for (;;)
    {
        pid_t done = waitpid(child, &status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR))
        {
            break;
        }
        if (!late && espyTest_Seconds() - start > ESPY_TEST_LIMIT_SECONDS)
        {
            late = true;
            kill(-child, SIGKILL);
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    run.seconds = espyTest_Seconds() - start;
    run.status = late ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    char path[520];
    size_t size;
    snprintf(path, sizeof path, "%s/out", folder->root);
    run.out = espyTest_ReadText(path, &size);
    snprintf(path, sizeof path, "%s/err", folder->root);
    run.err = espyTest_ReadText(path, &size);
    if (!run.out || !run.err)
    {
        espyTest_Die("captured output");
    }
    return run;
}

espyTestRun espyTestRun_Shell(const espyTestFolder* folder, const char* command)
{
    char line[8192];
    snprintf(line, sizeof line, "%s", command);
    char shell[] = "sh", option[] = "-c";
    char* argv[] = {shell, option, line, NULL};
    return espyTestRun_Program(folder, argv);
}

void espyTestRun_Free(espyTestRun* run)
{
    free(run->out);
    free(run->err);
    *run = (espyTestRun){0};
}
