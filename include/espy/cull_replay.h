// SPDX-License-Identifier: MIT
// Records calls of espyCull_Run with all that they were given and what they answered, and runs them again: a frame that
// went wrong becomes a file that a bug report can attach. Format: docs/rendering.md.
#ifndef ESPY_CULL_REPLAY_H
#define ESPY_CULL_REPLAY_H

#include <espy/culling.h>

/// Files that a recorder knows at once; more are written again with each call that uses them.
#define ESPY_CULL_RECORDER_FILES 64
/// Files that one call may use; calls that use more are not recorded (espyResult_LimitExceeded).
#define ESPY_CULL_RECORD_SETS 64

/// Set `write` and `context`, zero the rest.
typedef struct espyCullRecorder
{
    /// Appends bytes to wherever the record goes; false where it cannot.
    bool (*write)(const void* bytes, size_t size, void* context);
    void* context;
    espyResult result; ///< Ok, or why recording stopped: Io, LimitExceeded. Culling goes on all the same.
    bool started;
    uint32_t fileCount;
    uint64_t fileHashes[ESPY_CULL_RECORDER_FILES];
} espyCullRecorder;

typedef struct espyCullReplayDef
{
    espyIsa isa;     ///< Kernels at most.
    espyTasks tasks; ///< Default: the calling thread does all.
    espyHooks hooks;
    uint32_t cookie;
} espyCullReplayDef;

typedef struct espyCullReplayResult
{
    uint32_t calls;
    uint32_t differing; ///< Calls whose cells, counts or lists are not what was recorded.
    uint32_t firstCall; ///< The first of them, from 0 ...
    uint32_t
        firstDraw; ///< ... and the lowest index that is in one of its lists and not in the other's; 0xFFFFFFFF: none.
} espyCullReplayResult;

/// As espyCull_Run, and records the call: the view, the switches, the draws, the baked files that are used (once each,
/// whole), the lists and counts. Returns what the cull returned; recorder->result says how recording went.
/// Cost: writes 24 bytes a draw and more. Thread: one at a time for each recorder. Allocates nothing.
ESPY_API espyResult espyCullRecorder_Run(espyCullRecorder* recorder, const espyCullInput* input,
                                         espyCullOutput* output);

ESPY_API espyCullReplayDef espyCullReplayDef_Default(void);

/// Runs a record. Errors: InvalidArgument, OutOfMemory, BadData and UnsupportedVersion (*error, which may be null, says
/// where). *out tells of the calls before the error.
ESPY_API espyResult espyCullReplay_Run(const void* bytes, size_t size, const espyCullReplayDef* def,
                                       espyCullReplayResult* out, espyDataError* error);

#endif
