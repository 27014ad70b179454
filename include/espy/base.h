// SPDX-License-Identifier: MIT
// Results, visibility, hooks, messages and version: what every other header of espy stands on.
//
// Conventions of the whole library
//   Axes       right-handed, Y up, metres.
//   Matrices   column-major 4x4, column vectors (p' = M p).
//   Triangles  counter-clockwise seen from the front.
//   Depth      0..1, normal or reversed.
//   Counts     int32_t or uint32_t; bytes are size_t.
//   Threads    every function says who may call it: "any" (re-entrant on const objects), "owner" (one thread at a
//              time per object) or "build" (offline, may start threads of its own).
//   Doubt      espyVisibility_Unknown is 0: zeroed memory draws. Only evidence culls.
#ifndef ESPY_BASE_H
#define ESPY_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(ESPY_SHARED)
#if defined(ESPY_BUILDING)
#define ESPY_EXPORT __declspec(dllexport)
#else
#define ESPY_EXPORT __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ESPY_EXPORT __attribute__((visibility("default")))
#else
#define ESPY_EXPORT
#endif

#ifdef __cplusplus
#define ESPY_API extern "C" ESPY_EXPORT
#else
#define ESPY_API ESPY_EXPORT
#endif

#define ESPY_VERSION_MAJOR 0
#define ESPY_VERSION_MINOR 1
#define ESPY_VERSION_PATCH 0

/// Hidden last field of every def; set by the def's _Default function, so that an uninitialised def is named at once.
#define ESPY_DEF_COOKIE 0x79707365u

/// Outcome of a call that can fail for reasons outside the caller's control. Zero is success.
typedef enum espyResult
{
    espyResult_Ok = 0,
    espyResult_InvalidArgument,    ///< A value the caller passed breaks a documented range; also goes to assertFail.
    espyResult_InvalidId,          ///< An id that is null, stale or of another world.
    espyResult_OutOfMemory,        ///< The allocator returned null.
    espyResult_LimitExceeded,      ///< A documented limit (cells, objects, coordinates) was passed.
    espyResult_BadData,            ///< Bytes from outside are damaged; espyDataError says where.
    espyResult_UnsupportedVersion, ///< A format version or a required extension that this build does not read.
    espyResult_WrongByteOrder,     ///< Valid data of the other byte order; cook it for this target.
    espyResult_Misaligned,         ///< The data does not start at a 16-byte boundary.
    espyResult_Cancelled,          ///< The progress callback asked to stop; nothing was changed.
    espyResult_Io,                 ///< A file could not be read or written.
    espyResult_NotFound,           ///< The named thing does not exist.
    espyResult_Unsupported,        ///< This build lacks the part that is needed (for example a file format).
    espyResult_DeviceLost,         ///< The graphics device is gone; make another.
} espyResult;

/// What is known about one object from one place. Zero draws.
typedef enum espyVisibility
{
    espyVisibility_Unknown = 0, ///< No evidence: draw.
    espyVisibility_Visible,     ///< Can be seen: draw.
    espyVisibility_Outside,     ///< Outside the view's frustum: skip.
    espyVisibility_Occluded,    ///< Evidence says hidden: skip.
} espyVisibility;

typedef enum espyLogLevel
{
    espyLogLevel_Info = 0,
    espyLogLevel_Warning,
    espyLogLevel_Error,
} espyLogLevel;

/// Numbered messages. The number is part of the interface: tests and tools compare ids, never texts.
/// See espyMessage_GetText for the one table.
typedef enum espyMessageId
{
    espyMessageId_None = 0,
#define ESPY_MESSAGE(name, number, level, text) espyMessageId_##name = (number),
#include <espy/messages.inl>
#undef ESPY_MESSAGE
} espyMessageId;

/// Where bytes from outside were found wrong. `field` is a static string and never null after a failed load.
typedef struct espyDataError
{
    espyResult result;
    uint64_t byteOffset; ///< Offset of the offending field from the start of the data.
    const char* field;   ///< Name of the field or section as docs/format.md spells it.
} espyDataError;

/// Kernels by instruction set. Every set gives the same bits. Auto takes the best that the machine has.
typedef enum espyIsa
{
    espyIsa_Auto = 0,
    espyIsa_Scalar,
    espyIsa_Sse41,
    espyIsa_Avx2,
    espyIsa_Avx512,
    espyIsa_Neon,
    espyIsa_Wasm128,
} espyIsa;

/// What the library asks of its host. Copied at creation, kept with the object. Any pointer may be null: the default
/// of that hook is then used (malloc/free, no log, no assert).
typedef struct espyHooks
{
    /// Returns `size` bytes aligned to `align` (a power of two, at most 64), or null. Thread: any.
    void* (*alloc)(size_t size, size_t align, void* context);
    /// Frees what alloc returned; `pointer` may be null. Thread: any.
    void (*free)(void* pointer, void* context);
    /// Receives one finished line of text without a line end. Thread: any.
    void (*log)(espyLogLevel level, espyMessageId id, const char* text, void* context);
    /// Told about a caller's mistake before the call gives its defined result. Thread: any.
    void (*assertFail)(const char* condition, const char* function, void* context);
    void* context;
} espyHooks;

/// Runs loops on the caller's threads; the library starts none. A null function runs them on the calling thread.
typedef struct espyTasks
{
    /// Calls run(job, i) once for each i in [0, count), in any order and on any threads, and returns after the last.
    void (*parallelFor)(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job);
    void* context;
    /// How many threads take part: work is cut to fit. 0 and 1 mean one. Never changes a result.
    uint32_t threadCount;
} espyTasks;

/// Returns the name of a result, "Ok" or "BadData". Never null. Thread: any.
ESPY_API const char* espyResult_GetName(espyResult result);

/// Returns the format text of a message (printf style, one line) or "" for an unknown id. Thread: any.
ESPY_API const char* espyMessage_GetText(espyMessageId id);

/// Returns the name of a message as it appears after espyMessageId_, or "". Thread: any.
ESPY_API const char* espyMessage_GetName(espyMessageId id);

/// Returns the level of a message. Thread: any.
ESPY_API espyLogLevel espyMessage_GetLevel(espyMessageId id);

/// Returns the version as major * 10000 + minor * 100 + patch. Thread: any.
ESPY_API int32_t espyLib_GetVersion(void);

/// Returns the best instruction set of this machine that is not above `cap` (Auto: no cap). Thread: any.
ESPY_API espyIsa espyIsa_Detect(espyIsa cap);

/// Returns "scalar", "sse4.1", "avx2", "avx512", "neon", "wasm128" or "auto". Thread: any.
ESPY_API const char* espyIsa_GetName(espyIsa isa);

#endif
