// SPDX-License-Identifier: MIT
// How a child process that runs Assimp hands its scene to the parent: a bounded stream of records through a pipe.
//
// Assimp reads some fifty formats and trusts their bytes; it may crash, hang or eat memory. It does so in a child with
// limits, and the parent believes nothing that comes back. Both ends are one program on one machine: host byte order.
//
//   stream  := magic record* end
//   record  := mesh | node | end | error
//   mesh    := 'M' name partCount part*          part := material color vertexCount indexCount positions indices
//   node    := 'N' name mesh dynamic matrix      mesh: number of a mesh record before it
//   end     := 'E' nodeCount
//   error   := 'X' result text                   ends the stream
//   name, text := byteCount bytes; counts, enums and flags are 32-bit words
#ifndef ESPYI_ASSIMP_WIRE_H
#define ESPYI_ASSIMP_WIRE_H

#include "import/import_common.h"

#define ESPYI_ASSIMP_MAGIC 0x41737031u
#define ESPYI_ASSIMP_MAX_TEXT 255u
#define ESPYI_ASSIMP_MAX_PARTS 1000000u

enum
{
    espyiAssimpTag_Mesh = 'M',
    espyiAssimpTag_Node = 'N',
    espyiAssimpTag_End = 'E',
    espyiAssimpTag_Error = 'X',
};

/// The sanitizers map terabytes of shadow: no limit on address space can be set under them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ESPYI_ASSIMP_NO_SPACE_LIMIT
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ESPYI_ASSIMP_NO_SPACE_LIMIT
#endif
#endif

typedef struct espyiAssimpLimits
{
    uint32_t cpuSeconds;  ///< Of the child.
    uint32_t wallSeconds; ///< Until the parent gives up on it.
    size_t memoryBytes;   ///< Address space that the child may add.
} espyiAssimpLimits;

/// True where this build has Assimp.
bool espyiAssimp_IsAvailable(void);

/// The child's half: reads `path` through Assimp and writes the stream to `fd`. True where the stream is whole (an
/// error record included).
bool espyiAssimp_Send(const char* path, int fd);

/// How the receiving of a stream ended, besides its result.
typedef struct espyiAssimpOutcome
{
    bool broken; ///< Neither an end nor an error record was reached, nor a limit of the import's own.
    bool ended;  ///< There is nothing more to read.
} espyiAssimpOutcome;

/// The parent's half: fills the import's world from `fd`. `deadline` is a value of espyiAssimp_Now.
espyResult espyiAssimp_Receive(espyiImport* import, int fd, int64_t deadline, espyiAssimpOutcome* outcome);

/// Milliseconds of a clock that never goes back.
int64_t espyiAssimp_Now(void);

/// espyiImport_Assimp with limits of the caller's.
espyResult espyiImport_AssimpWithLimits(espyiImport* import, const char* path, const espyiAssimpLimits* limits);

#endif
