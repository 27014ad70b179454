// SPDX-License-Identifier: MIT
// A device for tests: draws nothing, or lets another device draw, and does to the answers what GPUs, drivers and late
// frames do. It counts what was asked of it, every wait, and every call that breaks the rules of device.h.
//
//     espyMockDeviceDef def = espyMockDeviceDef_Default();
//     def.faults.latency = 2, def.faults.dropShare = 0.01f;
//     def.answer = MyReference, def.callbackContext = &scene;      or def.inner = &softDevice;
//     espyMockDevice_Create(&def, &device);
//     ... run what is to be tested on `device` ...
//     espyMockDevice_GetCounts(&device, &counts);                   counts.waits == 0, counts.violations == 0
//
// Where a query's value comes from, the first that there is: the script, the callback, the inner device, the default.
#ifndef ESPY_DEVICE_MOCK_H
#define ESPY_DEVICE_MOCK_H

#include <espy/device.h>

/// Frames that an answer can be under way at most: latency + jitter + lateFrames.
#define ESPY_MOCK_MAX_DELAY 1023u

/// Calls that break the rules of device.h. Each is refused with InvalidArgument (Unsupported, LimitExceeded) as well.
typedef enum espyMockViolation
{
    espyMockViolation_FrameNotGrowing = 0, ///< beginFrame with a number that is not above the last.
    espyMockViolation_NoFrame,             ///< beginPass, endFrame or readIds outside of a frame.
    espyMockViolation_NoPass,              ///< A draw, a query or endPass outside of a pass.
    espyMockViolation_InPass,              ///< beginPass, endFrame, a read, or a new target, within a pass.
    espyMockViolation_Target,              ///< No such target, or one without ids where they are needed.
    espyMockViolation_Mesh,                ///< No such mesh.
    espyMockViolation_Matrix,              ///< Not finite.
    espyMockViolation_Id,                  ///< Not below caps.maxIds.
    espyMockViolation_Unsupported,         ///< A mode or a kind that caps do not name.
    espyMockViolation_TooManyQueries,      ///< More than caps.maxQueriesPerFrame in a frame.
    espyMockViolation_Run,                 ///< A query's run past the proxies.
    espyMockViolation_Def,                 ///< A definition or a mesh out of range.
    espyMockViolation_Inner,               ///< The inner device refused what looked right from here.
    espyMockViolation_Count,
} espyMockViolation;

/// What happens to answers. May change at any time; those under way keep what befell them.
typedef struct espyMockFaults
{
    uint32_t latency; ///< Frames, as espySoftDeviceDef.latency. Default 0.
    uint32_t jitter;  ///< Up to this many frames more, by chance: answers of later frames overtake. Default 0.
    bool shuffle;     ///< Gives what is ready in a random order. Default false.
    float dropShare;  ///< Of answers that never come, 0..1. Default 0.
    float lateShare;  ///< Of answers that come `lateFrames` later, when their tags may have new owners. Default 0.
    uint32_t lateFrames;
    bool neverReady;     ///< While set nothing is given; what waited comes when it is cleared. Default false.
    bool anyNonZero;     ///< A boolean query that passes is a random number that is not 0, else 1. Default true.
    uint64_t loseAtCall; ///< The call with this number from now on, from 1, loses the device; 0, the default: none.
} espyMockFaults;

/// A query, as its callback sees it. Lifetime of the pointers: the call.
typedef struct espyMockQuery
{
    uint64_t frame;
    const espyDevicePass* pass;
    const espyDeviceQuery* query;
    const espyDeviceDraw* proxies; ///< query->proxyCount of them.
} espyMockQuery;

typedef struct espyMockDeviceDef
{
    espyHooks hooks;
    espyDeviceCaps caps; ///< Default: everything, 65,536 queries, 1,048,576 ids. With an inner device: the lesser.
    /// Draws and answers instead; all that is made is made by it. Default null. Borrowed: it outlives the mock. Its
    /// frames are the mock's; nobody else uses it.
    const espyDevice* inner;
    /// Samples that pass. Default null.
    uint64_t (*answer)(const espyMockQuery* query, void* context);
    /// Is a tester seen? Asked when it is drawn. Default null: all are. Not with an inner device.
    bool (*sees)(const espyDevicePass* pass, const espyDeviceDraw* tester, espyIdMode mode, void* context);
    /// Told of every drawDepth, so that a reference can follow. Default null.
    void (*drawn)(const espyDevicePass* pass, const espyDeviceDraw* draws, uint32_t count, void* context);
    void* callbackContext;
    uint64_t defaultValue; ///< Default 1: everything shows.
    espyMockFaults faults;
    uint64_t seed;       ///< Of all chance. Default 1.
    uint32_t maxPending; ///< Answers under way; those above it are dropped. Default 262,144; 48 bytes each.
    uint32_t cookie;
} espyMockDeviceDef;

typedef struct espyMockCounts
{
    uint64_t calls;          ///< Of all functions of the table.
    uint64_t callsAfterLoss; ///< Of them, after the one that lost the device.
    uint64_t frames, passes;
    uint64_t depthDraws, idDraws; ///< Meshes.
    uint64_t queries, proxies;
    uint64_t answers;         ///< Given.
    uint64_t dropped;         ///< By chance, or for want of room.
    uint64_t pending;         ///< Under way now.
    uint64_t waits;           ///< readIds and readPixels.
    uint64_t readIds;         ///< Of them: those that the layers may make.
    uint64_t meshes, targets; ///< Alive now.
    uint64_t violations;      ///< All of the next.
    uint64_t violation[espyMockViolation_Count];
} espyMockCounts;

ESPY_API espyMockDeviceDef espyMockDeviceDef_Default(void);
/// Errors: InvalidArgument (a field out of range), OutOfMemory. Nothing allocates in a frame. Thread: any.
ESPY_API espyResult espyMockDevice_Create(const espyMockDeviceDef* def, espyDevice* out);
/// Frees it and all that it made, and empties the table. Null and an empty table are allowed.
ESPY_API void espyMockDevice_Destroy(espyDevice* device);

// --- Thread: owner. `device` is one that Create made: others give InvalidArgument, or nothing.

ESPY_API espyResult espyMockDevice_SetFaults(espyDevice* device, const espyMockFaults* faults);
/// The next `count` queries are answered by these values, in the order in which they are asked. Replaces what was left.
/// Errors: InvalidArgument, OutOfMemory.
ESPY_API espyResult espyMockDevice_Script(espyDevice* device, const uint64_t* values, uint32_t count);
/// An answer that nobody asked for, ready at once: a forged or repeated one. Errors: InvalidArgument, OutOfMemory (no
/// room).
ESPY_API espyResult espyMockDevice_Inject(espyDevice* device, const espyDeviceAnswer* answer);
/// Every call from now on gives DeviceLost.
ESPY_API espyResult espyMockDevice_Lose(espyDevice* device);
ESPY_API espyResult espyMockDevice_GetCounts(const espyDevice* device, espyMockCounts* out);
/// Zeroes what was counted; what is under way or alive stays.
ESPY_API espyResult espyMockDevice_ResetCounts(espyDevice* device);
/// "FrameNotGrowing" and so on; "Unknown" out of range. Thread: any.
ESPY_API const char* espyMockViolation_GetName(espyMockViolation violation);

#endif
