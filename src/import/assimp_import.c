// SPDX-License-Identifier: MIT
// Every format that Assimp knows, read in a child process with limits; the parent checks what comes back.
#include "import/assimp_wire.h"

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ESPY_ASSIMP_CPU_SECONDS 60u
#define ESPY_ASSIMP_WALL_SECONDS 180u
#define ESPY_ASSIMP_BUFFER 65536u

int64_t espyiAssimp_Now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// --- receiving

typedef struct espyAssimpReceiver
{
    espyiImport* import;
    int fd;
    int64_t deadline;
    size_t at, size;
    espyMeshId* meshes;
    size_t meshCount, meshCapacity;
    uint32_t nodeCount;
    espyiAssimpOutcome outcome;
    espyVec3* positions;
    uint32_t* indices;
    size_t positionCapacity, indexCapacity;
    espyiMeshBuilder builder;
    uint8_t buffer[ESPY_ASSIMP_BUFFER];
} espyAssimpReceiver;

/// Waits for more bytes; false at the end of the stream or past the deadline.
static bool espyAssimpReceiver_Refill(espyAssimpReceiver* r)
{
    for (;;)
    {
        int64_t left = r->deadline - espyiAssimp_Now();
        if (left <= 0)
        {
            return false;
        }
        struct pollfd wait = {.fd = r->fd, .events = POLLIN};
        int ready = poll(&wait, 1, left < 1000 ? (int)left : 1000);
        if (ready < 0 && errno != EINTR)
        {
            r->outcome.ended = true;
            return false;
        }
        if (ready <= 0)
        {
            continue;
        }
        ssize_t got = read(r->fd, r->buffer, sizeof r->buffer);
        if (got > 0)
        {
            r->at = 0;
            r->size = (size_t)got;
            return true;
        }
        if (got == 0 || errno != EINTR)
        {
            r->outcome.ended = true;
            return false;
        }
    }
}

static bool espyAssimpReceiver_Bytes(espyAssimpReceiver* r, void* out, size_t size)
{
    uint8_t* bytes = out;
    while (size > 0)
    {
        if (r->at == r->size && !espyAssimpReceiver_Refill(r))
        {
            return false;
        }
        size_t have = r->size - r->at;
        size_t part = size < have ? size : have;
        memcpy(bytes, r->buffer + r->at, part);
        r->at += part;
        bytes += part;
        size -= part;
    }
    return true;
}

static bool espyAssimpReceiver_Word(espyAssimpReceiver* r, uint32_t* out)
{
    return espyAssimpReceiver_Bytes(r, out, sizeof *out);
}

static bool espyAssimpReceiver_Text(espyAssimpReceiver* r, char out[ESPYI_ASSIMP_MAX_TEXT + 1])
{
    uint32_t size;
    if (!espyAssimpReceiver_Word(r, &size) || size > ESPYI_ASSIMP_MAX_TEXT || !espyAssimpReceiver_Bytes(r, out, size))
    {
        return false;
    }
    out[size] = '\0';
    return true;
}

/// A stream that ended early or makes no sense. The caller, who knows how the child ended, may find better words.
static espyResult espyAssimpReceiver_Broken(espyAssimpReceiver* r)
{
    r->outcome.broken = true;
    return espyiImport_Fail(r->import, espyResult_BadData, "what Assimp's process sent makes no sense");
}

static espyResult espyAssimpReceiver_Part(espyAssimpReceiver* r)
{
    uint32_t head[4];
    if (!espyAssimpReceiver_Bytes(r, head, sizeof head) || head[0] > (uint32_t)espyMaterialClass_Additive)
    {
        return espyAssimpReceiver_Broken(r);
    }
    if (!espyiImport_Charge(r->import, head[2], sizeof(espyVec3), "a mesh") ||
        !espyiImport_Charge(r->import, head[3], sizeof(uint32_t), "a mesh"))
    {
        return espyResult_LimitExceeded;
    }
    if (!espyiGrow(&r->import->hooks, (void**)&r->positions, &r->positionCapacity, head[2], sizeof(espyVec3)) ||
        !espyiGrow(&r->import->hooks, (void**)&r->indices, &r->indexCapacity, head[3], sizeof(uint32_t)))
    {
        return espyiImport_FailMemory(r->import);
    }
    if (!espyAssimpReceiver_Bytes(r, r->positions, head[2] * sizeof(espyVec3)) ||
        !espyAssimpReceiver_Bytes(r, r->indices, head[3] * sizeof(uint32_t)))
    {
        return espyAssimpReceiver_Broken(r);
    }
    return espyiMeshBuilder_AddPart(&r->builder, r->positions, head[2], r->indices, head[3], (espyMaterialClass)head[0],
                                    head[1] & 0xFFFFFFu);
}

static espyResult espyAssimpReceiver_Mesh(espyAssimpReceiver* r)
{
    char name[ESPYI_ASSIMP_MAX_TEXT + 1];
    uint32_t parts;
    if (!espyAssimpReceiver_Text(r, name) || !espyAssimpReceiver_Word(r, &parts) || parts > ESPYI_ASSIMP_MAX_PARTS)
    {
        return espyAssimpReceiver_Broken(r);
    }
    for (uint32_t i = 0; i < parts; ++i)
    {
        espyResult result = espyAssimpReceiver_Part(r);
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
    if (!espyiImport_Charge(r->import, 1, sizeof(espyMeshDef), "the meshes"))
    {
        return espyResult_LimitExceeded;
    }
    if (!espyiGrow(&r->import->hooks, (void**)&r->meshes, &r->meshCapacity, r->meshCount + 1, sizeof *r->meshes))
    {
        return espyiImport_FailMemory(r->import);
    }
    espyResult result = espyiMeshBuilder_Finish(&r->builder, name, &r->meshes[r->meshCount]);
    r->meshCount += result == espyResult_Ok ? 1u : 0u;
    return result;
}

static espyResult espyAssimpReceiver_Node(espyAssimpReceiver* r)
{
    char name[ESPYI_ASSIMP_MAX_TEXT + 1];
    uint32_t head[2];
    espyNodeDef def = espyNodeDef_Default();
    if (!espyAssimpReceiver_Text(r, name) || !espyAssimpReceiver_Bytes(r, head, sizeof head) ||
        !espyAssimpReceiver_Bytes(r, def.local.m, sizeof def.local.m) || head[0] >= r->meshCount || head[1] > 1)
    {
        return espyAssimpReceiver_Broken(r);
    }
    if (!espyiImport_Charge(r->import, 1, sizeof(espyNodeDef), "the nodes"))
    {
        return espyResult_LimitExceeded;
    }
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = r->meshes[head[0]];
    def.flags = espyNodeFlag_CastsShadow | (head[1] ? (uint32_t)espyNodeFlag_Dynamic : 0u);
    def.name = name;
    def.sourceId = (int32_t)r->nodeCount;
    if (def.mesh.index1 == 0)
    {
        // Only points, lines or dropped triangles: the node keeps its number and draws nothing.
        def.kind = espyNodeKind_Node3D;
    }
    if (!espyMat4_IsFinite(def.local))
    {
        return espyiImport_Fail(r->import, espyResult_BadData, "node %u '%s' has a transform that is not finite",
                                r->nodeCount, name);
    }
    espyNodeId id;
    ++r->nodeCount;
    espyResult result = espyWorld_CreateNode(r->import->world, &def, &id);
    return result == espyResult_OutOfMemory ? espyiImport_FailMemory(r->import)
           : result != espyResult_Ok ? espyiImport_Fail(r->import, espyResult_BadData, "node %u '%s' cannot be placed",
                                                        r->nodeCount - 1, name)
                                     : result;
}

/// The child's own words about a file that it could not read.
static espyResult espyAssimpReceiver_Error(espyAssimpReceiver* r)
{
    char text[ESPYI_ASSIMP_MAX_TEXT + 1];
    uint32_t result;
    if (!espyAssimpReceiver_Word(r, &result) || !espyAssimpReceiver_Text(r, text))
    {
        return espyAssimpReceiver_Broken(r);
    }
    bool named = result == espyResult_Unsupported || result == espyResult_LimitExceeded;
    return espyiImport_Fail(r->import, named ? (espyResult)result : espyResult_BadData, "%s", text);
}

static espyResult espyAssimpReceiver_All(espyAssimpReceiver* r)
{
    uint32_t magic;
    if (!espyAssimpReceiver_Word(r, &magic) || magic != ESPYI_ASSIMP_MAGIC)
    {
        return espyAssimpReceiver_Broken(r);
    }
    for (;;)
    {
        uint32_t tag;
        uint32_t count;
        espyResult result = espyResult_Ok;
        if (!espyAssimpReceiver_Word(r, &tag))
        {
            return espyAssimpReceiver_Broken(r);
        }
        switch (tag)
        {
        case espyiAssimpTag_Mesh:
            result = espyAssimpReceiver_Mesh(r);
            break;
        case espyiAssimpTag_Node:
            result = espyAssimpReceiver_Node(r);
            break;
        case espyiAssimpTag_Error:
            return espyAssimpReceiver_Error(r);
        case espyiAssimpTag_End:
            return espyAssimpReceiver_Word(r, &count) && count == r->nodeCount ? espyResult_Ok
                                                                               : espyAssimpReceiver_Broken(r);
        default:
            return espyAssimpReceiver_Broken(r);
        }
        if (result != espyResult_Ok)
        {
            return result;
        }
    }
}

espyResult espyiAssimp_Receive(espyiImport* import, int fd, int64_t deadline, espyiAssimpOutcome* outcome)
{
    *outcome = (espyiAssimpOutcome){false, false};
    espyAssimpReceiver* r = espyiAlloc(&import->hooks, 1, sizeof *r);
    if (!r)
    {
        return espyiImport_FailMemory(import);
    }
    r->import = import;
    r->fd = fd;
    r->deadline = deadline;
    r->builder.import = import;
    espyResult result = espyAssimpReceiver_All(r);
    *outcome = r->outcome;
    espyiMeshBuilder_Free(&r->builder);
    espyiFree(&import->hooks, r->meshes);
    espyiFree(&import->hooks, r->positions);
    espyiFree(&import->hooks, r->indices);
    espyiFree(&import->hooks, r);
    return result;
}

// --- the child

/// Address space in use, which a limit on it has to come on top of. 0 where the system does not say.
static size_t espyAssimp_SpaceInUse(void)
{
    unsigned long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file)
    {
        pages = fscanf(file, "%lu", &pages) == 1 ? pages : 0;
        fclose(file);
    }
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (size_t)pages * (size_t)page : 0;
}

static void espyAssimp_SetLimit(int what, uint64_t value)
{
    struct rlimit limit;
    if (getrlimit(what, &limit) == 0)
    {
        limit.rlim_cur = limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max ? (rlim_t)value : limit.rlim_max;
        setrlimit(what, &limit);
    }
}

/// The child's life. Never returns.
static void espyAssimp_Child(const char* path, int fd, const espyiAssimpLimits* limits, size_t spaceInUse)
{
    // Whatever the host does on Ctrl-C, the child just ends.
    static const int signals[] = {SIGINT, SIGTERM, SIGPIPE, SIGXCPU, SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGCHLD};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(signals); ++i)
    {
        signal(signals[i], SIG_DFL);
    }
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere >= 0)
    {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    espyAssimp_SetLimit(RLIMIT_CORE, 0);
    espyAssimp_SetLimit(RLIMIT_FSIZE, 0);
    espyAssimp_SetLimit(RLIMIT_CPU, limits->cpuSeconds);
#if !defined(ESPYI_ASSIMP_NO_SPACE_LIMIT)
    espyAssimp_SetLimit(RLIMIT_AS, (uint64_t)limits->memoryBytes + spaceInUse);
#else
    (void)spaceInUse;
#endif
    _exit(espyiAssimp_Send(path, fd) ? 0 : 1);
}

/// Collects the child, which has ended or been killed. False where somebody else did.
static bool espyAssimp_Wait(pid_t child, int* status)
{
    pid_t got;
    do
    {
        got = waitpid(child, status, 0);
    } while (got < 0 && errno == EINTR);
    return got == child;
}

/// Words for a stream that broke off, from how the child ended.
static espyResult espyAssimp_Explain(espyiImport* import, int status, const espyiAssimpLimits* limits)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    switch (number)
    {
    case 0:
        return espyiImport_Fail(import, espyResult_BadData, "Assimp gave up in the middle of it");
    case SIGXCPU:
        return espyiImport_Fail(import, espyResult_LimitExceeded, "Assimp was stopped after %u s of processor time",
                                limits->cpuSeconds);
    case SIGINT:
    case SIGTERM:
        return espyiImport_Fail(import, espyResult_Cancelled, "reading was interrupted");
    case SIGKILL:
        return espyiImport_Fail(import, espyResult_OutOfMemory,
                                "the system stopped Assimp, most likely for its memory");
    case SIGABRT:
        return espyiImport_Fail(import, espyResult_BadData,
                                "Assimp gave up on it, or needs more memory than the %zu bytes "
                                "allowed",
                                limits->memoryBytes);
    default:
        return espyiImport_Fail(import, espyResult_BadData, "Assimp crashed on it (signal %d)", number);
    }
}

/// Starts the child, receives its scene from `ends` and collects it. Closes both ends.
static espyResult espyAssimp_Run(espyiImport* import, const char* path, const espyiAssimpLimits* limits,
                                 const int ends[2])
{
    int64_t deadline = espyiAssimp_Now() + 1000 * (int64_t)limits->wallSeconds;
    size_t spaceInUse = espyAssimp_SpaceInUse();
    pid_t child = fork();
    if (child < 0)
    {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return espyiImport_Fail(import, espyResult_OutOfMemory, "no process for the reader: %s", strerror(error));
    }
    if (child == 0)
    {
        close(ends[0]);
        espyAssimp_Child(path, ends[1], limits, spaceInUse);
    }
    close(ends[1]);
    espyiAssimpOutcome outcome;
    espyResult result = espyiAssimp_Receive(import, ends[0], deadline, &outcome);
    close(ends[0]);
    if (!outcome.ended)
    {
        // All is received, or no more is wanted: what it still does is of no use.
        kill(child, SIGKILL);
    }
    int status = 0;
    bool collected = espyAssimp_Wait(child, &status);
    if (outcome.broken && !outcome.ended && espyiAssimp_Now() >= deadline)
    {
        return espyiImport_Fail(import, espyResult_LimitExceeded, "Assimp was stopped after %u s", limits->wallSeconds);
    }
    return outcome.broken && outcome.ended && collected ? espyAssimp_Explain(import, status, limits) : result;
}

espyResult espyiImport_AssimpWithLimits(espyiImport* import, const char* path, const espyiAssimpLimits* limits)
{
    if (!espyiAssimp_IsAvailable())
    {
        return espyiImport_Fail(import, espyResult_Unsupported,
                                "no importer of this build knows this kind of file (it lacks Assimp)");
    }
    struct stat status;
    if (stat(path, &status) != 0)
    {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return espyiImport_Fail(import, missing ? espyResult_NotFound : espyResult_Io, "cannot open it: %s",
                                strerror(errno));
    }
    if (!S_ISREG(status.st_mode))
    {
        return espyiImport_Fail(import, espyResult_Io, "not a regular file");
    }
    espyiImport_Grant(import, status.st_size > 0 && (uint64_t)status.st_size < SIZE_MAX ? (size_t)status.st_size : 0);
    int ends[2];
    if (pipe(ends) != 0)
    {
        return espyiImport_Fail(import, espyResult_OutOfMemory, "no pipe to the reader: %s", strerror(errno));
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    espyResult result = espyAssimp_Run(import, path, limits, ends);
    if (result == espyResult_Ok)
    {
        espyiImport_FlagIfNone(import);
    }
    return result;
}

espyResult espyiImport_Assimp(espyiImport* import, const char* path)
{
    const espyiAssimpLimits limits = {ESPY_ASSIMP_CPU_SECONDS, ESPY_ASSIMP_WALL_SECONDS,
                                      import->memoryLeft + import->memoryReserve};
    return espyiImport_AssimpWithLimits(import, path, &limits);
}

#else

espyResult espyiImport_Assimp(espyiImport* import, const char* path)
{
    (void)path;
    return espyiImport_Fail(import, espyResult_Unsupported,
                            "no importer knows this kind of file here (Assimp needs a child process)");
}

#endif
