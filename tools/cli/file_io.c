// SPDX-License-Identifier: MIT
// Whole files in and out.
#ifdef __linux__
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): the C library's own switch, for O_TMPFILE.
#endif
#include "file_io.h"
#include "cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform.h"

enum
{
    espyCliHead_Bytes = 256,
    espyCliRead_FirstBytes = 1 << 16,
    espyCliChunk_Bytes = 1 << 30, ///< Of one call: all systems take that many.
    espyCliPath_MaxLinks = 40,
    espyCliTemporary_MaxNames = 100, ///< Of one process: files that are written at once.
    espyCliMemory_Align = 64
};

bool espyiCliFile_IsStandard(const char* path)
{
    return strcmp(path, "-") == 0;
}

const char* espyiCliFile_GetName(const char* path)
{
    return espyiCliFile_IsStandard(path) ? "standard input" : path;
}

/// A file that is not there, or is no file, is bad input; everything else that the system says is the environment.
static espyCliExit espyCliFile_Fail(espyCliLine* line, const char* path, const char* what, int error)
{
    bool input = error == ENOENT || error == ENOTDIR || error == EISDIR || error == ENAMETOOLONG || error == ELOOP;
    return espyiCliLine_Set(line, input ? espyCliExit_BadInput : espyCliExit_Environment, "%s: %s: %s", path, what,
                            strerror(error));
}

static espyCliExit espyCliFile_FailLength(espyCliLine* line, const char* path)
{
    return espyiCliLine_Set(line, espyCliExit_BadInput, "%.80s...: the path is too long", path);
}

espyCliExit espyiCliFile_CheckInput(const char* path, espyCliLine* line)
{
    if (espyiCliFile_IsStandard(path))
    {
        return espyCliExit_Ok;
    }
    struct stat info;
    if (path[0] == '\0')
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "the name of the file to read is empty");
    }
    if (strlen(path) >= PATH_MAX)
    {
        return espyCliFile_FailLength(line, path);
    }
    if (stat(path, &info) != 0)
    {
        return espyCliFile_Fail(line, path, "cannot be read", errno);
    }
    if (S_ISDIR(info.st_mode))
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: is a folder: name a file in it", path);
    }
    if (access(path, R_OK) != 0)
    {
        return espyCliFile_Fail(line, path, "cannot be read", errno);
    }
    return espyCliExit_Ok;
}

/// Writes the folder part of a path, "." where there is none.
static bool espyCliPath_GetFolder(const char* path, char* out, size_t outSize)
{
    const char* slash = espyiPlatform_FindLastSeparator(path);
    size_t length = slash ? (size_t)(slash - path) : 1;
    const char* from = slash ? path : ".";
    if (slash == path)
    {
        length = 1;
    }
    if (length + 1 > outSize)
    {
        return false;
    }
    memcpy(out, from, length);
    out[length] = '\0';
    return true;
}

/// Where a write to the path ends up: links are followed, also to a file that is not there yet. False leaves errno.
static bool espyCliPath_Follow(const char* path, char out[PATH_MAX])
{
    if (snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
    {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int links = 0; links <= espyCliPath_MaxLinks; ++links)
    {
        char link[PATH_MAX], folder[PATH_MAX];
        ssize_t length = readlink(out, link, sizeof link - 1);
        if (length < 0)
        {
            return errno == EINVAL || errno == ENOENT; // No link, or nothing yet.
        }
        link[length] = '\0';
        bool fits = espyCliPath_GetFolder(out, folder, sizeof folder);
        int size =
            link[0] == '/' ? snprintf(out, PATH_MAX, "%s", link) : snprintf(out, PATH_MAX, "%s/%s", folder, link);
        if (!fits || size >= PATH_MAX)
        {
            errno = ENAMETOOLONG;
            return false;
        }
    }
    errno = ELOOP;
    return false;
}

espyCliExit espyiCliFile_CheckOutput(const char* path, espyCliLine* line)
{
    if (espyiCliFile_IsStandard(path))
    {
        return espyCliExit_Ok;
    }
    if (path[0] == '\0')
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "the name of the file to write is empty");
    }
    if (strlen(path) >= PATH_MAX)
    {
        return espyCliFile_FailLength(line, path);
    }
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: is a folder: name a file in it", path);
    }
    // A rename would get past a file that was made read-only on purpose.
    if (exists && access(path, W_OK) != 0)
    {
        return espyCliFile_Fail(line, path, "cannot be written", errno);
    }
    if (exists && !S_ISREG(info.st_mode))
    {
        return espyCliExit_Ok;
    }
    char target[PATH_MAX], folder[PATH_MAX];
    bool followed = espyCliPath_Follow(path, target);
    // What is wrong with a folder on the way is said below.
    if (!followed && errno != ENOTDIR && errno != EACCES)
    {
        return espyCliFile_Fail(line, path, "cannot be written", errno);
    }
    if (!espyCliPath_GetFolder(target, folder, sizeof folder))
    {
        return espyCliFile_Fail(line, path, "cannot be written", ENAMETOOLONG);
    }
    if (stat(folder, &info) != 0)
    {
        return espyCliFile_Fail(line, path, "its folder cannot be used", errno);
    }
    if (!S_ISDIR(info.st_mode))
    {
        return espyCliFile_Fail(line, path, "its folder cannot be used", ENOTDIR);
    }
    if (access(folder, W_OK | X_OK) != 0)
    {
        return espyCliFile_Fail(line, path, "its folder cannot be written to", errno);
    }
    return espyCliExit_Ok;
}

/// Grows a buffer of aligned memory; the old one is freed on success only.
static bool espyCliBuffer_Grow(void** bytes, size_t used, size_t wanted)
{
    void* grown = NULL;
    if (posix_memalign(&grown, espyCliMemory_Align, wanted) != 0)
    {
        return false;
    }
    if (used > 0)
    {
        memcpy(grown, *bytes, used);
    }
    free(*bytes);
    *bytes = grown;
    return true;
}

static espyCliExit espyCliFile_ReadOpen(int file, const char* name, espyCliHeadFn* accept, void** bytes, size_t* size,
                                        espyCliLine* line)
{
    struct stat info;
    if (fstat(file, &info) != 0)
    {
        return espyCliFile_Fail(line, name, "cannot be read", errno);
    }
    if (S_ISDIR(info.st_mode))
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: is a folder: name a file in it", name);
    }
    bool regular = S_ISREG(info.st_mode);
    if (regular && (uint64_t)info.st_size > ESPY_CLI_MAX_FILE_BYTES)
    {
        return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: has %s bytes, but files above %s bytes are not read",
                                name, espyiCliNumber_FromCount((uint64_t)info.st_size).text,
                                espyiCliNumber_FromCount(ESPY_CLI_MAX_FILE_BYTES).text);
    }
    // One byte more than a regular file has, so that its end is seen without growing.
    size_t capacity = regular && info.st_size > 0 ? (size_t)info.st_size + 1 : (size_t)espyCliRead_FirstBytes;
    size_t used = 0;
    bool asked = !accept;
    if (!espyCliBuffer_Grow(bytes, 0, capacity))
    {
        return espyiCliLine_Set(line, espyCliExit_Environment, "%s: out of memory while reading", name);
    }
    for (;;)
    {
        if (used == capacity)
        {
            if (used > ESPY_CLI_MAX_FILE_BYTES)
            {
                return espyiCliLine_Set(line, espyCliExit_BadInput, "%s: goes on beyond the %s bytes that are read",
                                        name, espyiCliNumber_FromCount(ESPY_CLI_MAX_FILE_BYTES).text);
            }
            if (!espyCliBuffer_Grow(bytes, used, capacity * 2))
            {
                return espyiCliLine_Set(line, espyCliExit_Environment, "%s: out of memory while reading", name);
            }
            capacity *= 2;
        }
        size_t room = capacity - used < espyCliChunk_Bytes ? capacity - used : (size_t)espyCliChunk_Bytes;
        ssize_t got = read(file, (char*)*bytes + used, (unsigned)room);
        if (got < 0 && errno == EINTR)
        {
            continue;
        }
        if (got < 0)
        {
            return espyCliFile_Fail(line, name, "cannot be read", errno);
        }
        used += (size_t)got;
        *size = used;
        if (got == 0)
        {
            return espyCliExit_Ok;
        }
        if (!asked && used >= espyCliHead_Bytes)
        {
            asked = true;
            if (!accept(*bytes, espyCliHead_Bytes))
            {
                *size = espyCliHead_Bytes;
                return espyCliExit_Ok;
            }
        }
    }
}

espyCliExit espyiCliFile_Read(const char* path, espyCliHeadFn* accept, void** outBytes, size_t* outSize,
                              espyCliLine* line)
{
    *outBytes = NULL;
    *outSize = 0;
    const char* name = espyiCliFile_GetName(path);
    if (espyiCliFile_IsStandard(path))
    {
        espyCliExit status = espyCliFile_ReadOpen(STDIN_FILENO, name, accept, outBytes, outSize, line);
        if (status != espyCliExit_Ok)
        {
            free(*outBytes);
            *outBytes = NULL;
        }
        return status;
    }
    espyCliExit status = espyiCliFile_CheckInput(path, line);
    if (status != espyCliExit_Ok)
    {
        return status;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
    {
        return espyCliFile_Fail(line, name, "cannot be read", errno);
    }
    status = espyCliFile_ReadOpen(file, name, accept, outBytes, outSize, line);
    close(file);
    if (status != espyCliExit_Ok)
    {
        free(*outBytes);
        *outBytes = NULL;
    }
    return status;
}

/// Writes everything; false leaves errno.
static bool espyCliFile_WriteAll(int file, const void* bytes, size_t size)
{
    const char* at = bytes;
    while (size > 0)
    {
        ssize_t put = write(file, at, (unsigned)(size < espyCliChunk_Bytes ? size : espyCliChunk_Bytes));
        if (put < 0 && errno == EINTR)
        {
            continue;
        }
        if (put < 0)
        {
            return false;
        }
        at += put;
        size -= (size_t)put;
    }
    return true;
}

/// Straight to a device or pipe: there is no old content to keep.
static espyCliExit espyCliFile_WriteStraight(const char* path, const void* bytes, size_t size, espyCliLine* line)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
    {
        return espyCliFile_Fail(line, path, "cannot be written", errno);
    }
    bool written = espyCliFile_WriteAll(file, bytes, size);
    int error = errno;
    if (close(file) != 0 && written)
    {
        written = false;
        error = errno;
    }
    return written ? espyCliExit_Ok : espyCliFile_Fail(line, path, "cannot be written", error);
}

/// Makes the rename itself last through a power cut. Not every file system can sync a folder, and the data is safe by
/// then, so that a failure here is none of the caller's business.
static void espyCliFolder_Sync(const char* folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0)
    {
        fsync(file);
        close(file);
    }
}

#ifdef O_TMPFILE
/// A file without a name in the folder; -1 where its system has none.
static int espyCliTemporary_OpenNameless(const char* folder)
{
    int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0 && access("/proc/self/fd", X_OK) != 0)
    {
        close(file); // It could never be given a name.
        return -1;
    }
    return file;
}

/// Gives a nameless file its name, for the blink before the rename. False leaves errno.
static bool espyCliTemporary_Name(int file, const char* folder, char beside[PATH_MAX])
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", file);
    for (int i = 0; i < espyCliTemporary_MaxNames; ++i)
    {
        if (snprintf(beside, PATH_MAX, "%s/.espy-%ld-%d", folder, (long)getpid(), i) >= PATH_MAX)
        {
            errno = ENAMETOOLONG;
            break;
        }
        if (linkat(AT_FDCWD, self, AT_FDCWD, beside, AT_SYMLINK_FOLLOW) == 0)
        {
            return true;
        }
        if (errno != EEXIST)
        {
            break;
        }
    }
    beside[0] = '\0'; // The last one tried is not ours.
    return false;
}
#else
static int espyCliTemporary_OpenNameless(const char* folder)
{
    (void)folder;
    return -1;
}

static bool espyCliTemporary_Name(int file, const char* folder, const char* beside)
{
    (void)file;
    (void)folder;
    (void)beside;
    return false;
}
#endif

/// A file in the folder that nobody sees yet: nameless where the system has that, so that even a program that is killed
/// leaves nothing behind, else with a name of its own (beside, empty when nameless). -1 leaves errno.
static int espyCliTemporary_Open(const char* folder, char beside[PATH_MAX])
{
    beside[0] = '\0';
    int file = espyCliTemporary_OpenNameless(folder);
    if (file >= 0)
    {
        return file;
    }
    if (snprintf(beside, PATH_MAX, "%s/.espy-XXXXXX", folder) >= PATH_MAX)
    {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkstemp(beside);
    if (file >= 0)
    {
        espyiCliCancel_AddTemporary(beside);
    }
    return file;
}

espyCliExit espyiCliFile_Write(const char* path, const void* bytes, size_t size, espyCliLine* line)
{
    if (espyiCliFile_IsStandard(path))
    {
        fflush(stdout);
        return espyCliFile_WriteAll(STDOUT_FILENO, bytes, size)
                   ? espyCliExit_Ok
                   : espyCliFile_Fail(line, "standard output", "cannot be written", errno);
    }
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    {
        return espyCliFile_WriteStraight(path, bytes, size, line);
    }
    // A link is written through: the rename must replace what it points to, not the link.
    char target[PATH_MAX], folder[PATH_MAX], beside[PATH_MAX];
    if (!espyCliPath_Follow(path, target))
    {
        return espyCliFile_Fail(line, path, "cannot be written", errno);
    }
    if (!espyCliPath_GetFolder(target, folder, sizeof folder))
    {
        return espyCliFile_Fail(line, path, "cannot be written", ENAMETOOLONG);
    }
    int file = espyCliTemporary_Open(folder, beside);
    if (file < 0)
    {
        return espyCliFile_Fail(line, path, "cannot be written", errno);
    }
    bool named = beside[0] != '\0';
    mode_t mask = (mode_t)umask(0);
    umask(mask);
    mode_t permissions = (mode_t)(exists ? info.st_mode & 07777u : 0666u & ~mask);
    bool done = fchmod(file, permissions) == 0 && espyCliFile_WriteAll(file, bytes, size) && fsync(file) == 0;
    done = done && (named || espyCliTemporary_Name(file, folder, beside));
    int error = errno;
    if (close(file) != 0 && done)
    {
        done = false;
        error = errno;
    }
    if (done && rename(beside, target) != 0)
    {
        done = false;
        error = errno;
    }
    if (!done && beside[0] != '\0')
    {
        unlink(beside);
    }
    if (named)
    {
        espyiCliCancel_ForgetTemporary();
    }
    if (done)
    {
        espyCliFolder_Sync(folder);
    }
    return done ? espyCliExit_Ok : espyCliFile_Fail(line, path, "cannot be written", error);
}

bool espyiCliFile_IsSame(const char* a, const char* b)
{
    if (strcmp(a, b) == 0)
    {
        return true;
    }
    return !espyiCliFile_IsStandard(a) && !espyiCliFile_IsStandard(b) && espyiPlatform_IsSameFile(a, b);
}

bool espyiCliFile_IsRegular(const char* path)
{
    struct stat info;
    return !espyiCliFile_IsStandard(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool espyiCliFile_HasEnding(const char* path, const char* ending)
{
    size_t length = strlen(path), endingLength = strlen(ending);
    return length >= endingLength && strcasecmp(path + length - endingLength, ending) == 0;
}

size_t espyiCliFile_GetSize(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0 ? (size_t)info.st_size : 0;
}

bool espyiCliFile_Stays(const char* path)
{
    struct stat info;
    return !espyiCliFile_IsStandard(path) && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

bool espyiCliTemporary_IsNeeded(const char* path)
{
    struct stat info;
    return espyiCliFile_IsStandard(path) || (lstat(path, &info) == 0 && !S_ISREG(info.st_mode));
}

espyCliExit espyiCliTemporary_Create(espyCliTemporary* out, const char* fileName, espyCliLine* line)
{
    snprintf(out->folder, sizeof out->folder, "%s/espy-XXXXXX", P_tmpdir);
    if (!mkdtemp(out->folder))
    {
        return espyCliFile_Fail(line, out->folder, "cannot be created", errno);
    }
    snprintf(out->path, sizeof out->path, "%s/%s", out->folder, fileName);
    espyiCliCancel_AddTemporary(out->folder);
    espyiCliCancel_AddTemporary(out->path);
    return espyCliExit_Ok;
}

espyCliExit espyiCliTemporary_Send(const espyCliTemporary* temporary, const char* path, espyCliLine* line)
{
    void* bytes;
    size_t size;
    espyCliExit status = espyiCliFile_Read(temporary->path, NULL, &bytes, &size, line);
    if (status == espyCliExit_Ok)
    {
        status = espyiCliFile_Write(path, bytes, size, line);
        free(bytes);
    }
    return status;
}

void espyiCliTemporary_Remove(const espyCliTemporary* temporary)
{
    unlink(temporary->path);
    rmdir(temporary->folder);
    espyiCliCancel_ForgetTemporary();
    espyiCliCancel_ForgetTemporary();
}
