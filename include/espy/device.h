// SPDX-License-Identifier: MIT
// What espy asks of something that can draw depth: a GPU, the software rasteriser, or an engine's own renderer.
//
// Testers (tester.h) and queries (query.h) draw through one table of functions, espyDevice. Backends fill it: the
// software device below, the mock (device_mock.h) and Vulkan (device_vulkan.h, in the library espy-gpu). An engine that
// draws by itself fills a table of its own and needs none of them:
//
//     espyDevice device = espyDevice_Default();       every function says Unsupported ...
//     device.context = myRenderer;
//     device.caps = (espyDeviceCaps){.anyQueries = true, .maxQueriesPerFrame = 4096, .maxLayers = 1, ...};
//     device.beginPass = MyBeginPass;                 ... but for those that it has
//
// A frame on a device
//     beginFrame(n)
//       beginPass(target, view)      as many as there are views; each names the target that it draws to
//         drawDepth(draws)           opaque meshes: depth test and write
//         drawIds(draws)             testers: depth test against what is there, no depth write; ids are kept
//         query(queries, proxies)    proxies: depth test, no write; passing samples are counted for each query
//       endPass()
//       readIds(target)              which ids have a pixel; waits, and is the only call that may
//     endFrame()                     submits; the answers to the queries come later
//     poll(answers)                  answers that are ready; never waits. Any number of times, any time
//
// Rules for every backend, which the layers above rely on
//   Waiting    Only readIds and readPixels wait for the device. poll takes what a completion mark (fence, timeline
//              semaphore, GetData) says is finished, and returns at once.
//   Answers    An answer carries its query's tag and frame, and comes at most once, in any order, or never: a layer
//              that gets none for some frames draws. A backend never makes one up.
//   Any        A boolean query's value is "not 0", not 1: drivers return raw counts.
//   Depth      A fragment passes where it is nearer than or as near as the depth in the target.
//   Faces      Meshes are drawn with back faces only where they were made twoSided. Testers and proxies are drawn with
//              both faces, so that one seen from inside has pixels too.
//   Clipping   Near and far as the API does. Where a proxy or tester touches the near plane the layer above has
//              decided already.
//   Failure    A function that fails draws nothing and returns why. DeviceLost comes from every function from then on;
//              the layers then show everything until they are given another device.
//   Threads    "owner": one thread at a time for a device and all that it made.
#ifndef ESPY_DEVICE_H
#define ESPY_DEVICE_H

#include <espy/raster.h>

/// Layers (eyes) of a target at most.
#define ESPY_DEVICE_MAX_LAYERS 2

/// A mesh that the device made, or any number that an engine's own table understands. 0 is the box from (-1, -1, -1)
/// to (1, 1, 1), which every device has: a box or an oriented box is this one under a transform.
typedef struct espyDeviceMesh
{
    uint64_t value;
} espyDeviceMesh;

/// A depth target, with ids if it was made so. Made by createTarget, or by a backend from the caller's own depth.
typedef struct espyDeviceTarget
{
    uint64_t value; ///< 0 is none.
} espyDeviceTarget;

typedef enum espyQueryKind
{
    espyQueryKind_Any = 0, ///< Did a sample pass?
    espyQueryKind_Count,   ///< How many samples passed? Exact; costs more on some GPUs.
} espyQueryKind;

typedef enum espyIdMode
{
    espyIdMode_Index = 0, ///< One id a pixel, that of the nearest tester: a tester behind another is not seen.
    espyIdMode_Flag,      ///< Each tester that has a fragment which passes is seen, also behind others.
} espyIdMode;

/// What a device can do. A layer asks for nothing else.
typedef struct espyDeviceCaps
{
    bool anyQueries, countQueries;
    bool idIndex, idFlag;        ///< Modes of drawIds.
    uint32_t maxQueriesPerFrame; ///< Over all passes of a frame.
    uint32_t maxIds;             ///< Ids are below it.
    uint32_t samplesPerPixel;    ///< Of its targets; counts are in samples. At least 1.
    uint32_t maxLayers;          ///< 1..ESPY_DEVICE_MAX_LAYERS.
    /// Meshes and proxies over all calls of a frame; 0: no limit. A call that goes past it gives LimitExceeded.
    uint32_t maxDrawsPerFrame;
} espyDeviceCaps;

typedef struct espyDeviceTargetDef
{
    int32_t width, height; ///< Pixels, 1..ESPY_RASTER_MAX_SIZE. Default 1280 x 720.
    uint32_t layers;       ///< Default 1.
    bool ids;              ///< Default false.
    bool reversedZ;        ///< Depth 1 at the near plane. Default false.
    uint32_t cookie;
} espyDeviceTargetDef;

/// How a pass starts.
typedef struct espyDevicePass
{
    espyDeviceTarget target;
    espyMat4 viewProjection[ESPY_DEVICE_MAX_LAYERS]; ///< World to clip, one for each layer of the target.
    bool clearDepth;                                 ///< To the far plane. False keeps what was drawn before.
    bool clearIds;                                   ///< No pixel has an id, no flag is set.
} espyDevicePass;

/// One mesh to draw.
typedef struct espyDeviceDraw
{
    espyMat4 toWorld; ///< Affine and finite.
    espyDeviceMesh mesh;
    uint32_t id; ///< For drawIds: below caps.maxIds. Others ignore it.
} espyDeviceDraw;

/// One query over a run of proxies.
typedef struct espyDeviceQuery
{
    uint64_t tag; ///< Comes back with the answer.
    espyQueryKind kind;
    uint32_t firstProxy, proxyCount; ///< In the proxies of the same call. No proxies: an answer of 0 samples.
} espyDeviceQuery;

typedef struct espyDeviceAnswer
{
    uint64_t tag;
    uint64_t frame; ///< Number of the frame in which it was asked.
    uint64_t value; ///< Count: samples that passed, summed over the layers. Any: not 0 where one did.
} espyDeviceAnswer;

/// A device: functions and what they work on. Plain data: copy it, borrow it. A function that fails draws nothing of
/// its call. Null functions are not allowed; take those of espyDevice_Default for what the device cannot do.
typedef struct espyDevice
{
    void* context;
    espyDeviceCaps caps;

    /// Copies the triangles. Errors: InvalidArgument, OutOfMemory, DeviceLost.
    espyResult (*createMesh)(void* context, const espyTriangles* triangles, bool twoSided, espyDeviceMesh* out);
    /// 0 is allowed. What was submitted with it still ends well.
    void (*destroyMesh)(void* context, espyDeviceMesh mesh);
    /// Errors: InvalidArgument (a field out of range), OutOfMemory, DeviceLost.
    espyResult (*createTarget)(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out);
    void (*destroyTarget)(void* context, espyDeviceTarget target);

    /// `frame` grows from call to call. A frame that is still begun is ended first. Errors: InvalidArgument (a number
    /// that did not grow), DeviceLost.
    espyResult (*beginFrame)(void* context, uint64_t frame);
    /// Errors: InvalidArgument (no such target, a matrix that is not finite, no frame is begun, a pass is), DeviceLost.
    espyResult (*beginPass)(void* context, const espyDevicePass* pass);
    /// Errors, also of the next two: InvalidArgument (no pass is begun, no such mesh, a matrix that is not finite),
    /// LimitExceeded (more than caps.maxDrawsPerFrame), DeviceLost.
    espyResult (*drawDepth)(void* context, const espyDeviceDraw* draws, uint32_t count);
    /// Errors: Unsupported (a mode that caps do not name), InvalidArgument (a target without ids, an id that is not
    /// below caps.maxIds), DeviceLost.
    espyResult (*drawIds)(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode);
    /// Errors: Unsupported (a kind that caps do not name), LimitExceeded (more than caps.maxQueriesPerFrame: none of
    /// the call's are asked), InvalidArgument (a run past proxyCount), DeviceLost.
    espyResult (*query)(void* context, const espyDeviceQuery* queries, uint32_t count, const espyDeviceDraw* proxies,
                        uint32_t proxyCount);
    espyResult (*endPass)(void* context);
    /// Sets bit i of `bits` (whole words of 32, ceil(idCount / 32) of them, all written) where id i was seen since the
    /// ids were cleared, in either mode. Between passes of a frame. Waits. Errors: InvalidArgument, DeviceLost.
    espyResult (*readIds)(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits);
    espyResult (*endFrame)(void* context);

    /// Writes at most `capacity` answers and returns how many. Never waits. A lost device has none.
    uint32_t (*poll)(void* context, espyDeviceAnswer* out, uint32_t capacity);
    /// Copies layer 0, rows from the top, width * height values each; either may be null. Ids are ESPY_RASTER_NO_ID
    /// where there is none: those of mode Index. Not within a pass. For tests and pictures. Waits.
    espyResult (*readPixels)(void* context, espyDeviceTarget target, float* depth, uint32_t* ids);
    uint32_t cookie;
} espyDevice;

/// A table in which every function returns Unsupported (poll: 0), with no caps and the cookie. Thread: any.
ESPY_API espyDevice espyDevice_Default(void);
ESPY_API espyDeviceTargetDef espyDeviceTargetDef_Default(void);
/// InvalidArgument, and the field's name in *field (may be null), where a table cannot be used: no cookie, a null
/// function, caps out of range. Thread: any.
ESPY_API espyResult espyDevice_Validate(const espyDevice* device, const char** field);

// --- the software device: depth, ids and queries by raster.h. Needs no GPU; the default where there is none.

typedef struct espySoftDeviceDef
{
    espyHooks hooks;
    espyTasks tasks; ///< For drawDepth. Default: the calling thread does all.
    espyIsa isaCap;  ///< Never changes a result.
    /// Frames after which poll gives an answer: 0 in the same frame after endFrame, 1 after the next beginFrame, and so
    /// on. 0..16, default 0. More than 0 is for trying what a GPU would do. An answer that was not polled is gone when
    /// the second frame after the one that it was ready in begins.
    uint32_t latency;
    uint32_t maxQueriesPerFrame; ///< Default 65,536; at most 2^24; memory is 24 bytes each, (latency + 2) times.
    uint32_t maxIds;             ///< Default 1,048,576; at most 2^24; memory is 1 bit each for each target with ids.
    uint32_t cookie;
} espySoftDeviceDef;

ESPY_API espySoftDeviceDef espySoftDeviceDef_Default(void);

/// Makes a software device. Sampled mode: ids and counts are those of pixel centres, as a GPU without multisampling
/// has them. Meshes, targets and queries take memory when they are made; nothing allocates in a frame.
/// Errors: InvalidArgument, OutOfMemory.
ESPY_API espyResult espySoftDevice_Create(const espySoftDeviceDef* def, espyDevice* out);
/// Frees it with all its meshes and targets, and empties the table. Null and an empty table are allowed.
ESPY_API void espySoftDevice_Destroy(espyDevice* device);

/// Makes a target of a raster that the caller draws to; it must be in Sampled mode, and outlives the target. Depth is
/// not cleared by it: draw first, then begin a pass without clearDepth. With `ids` testers can be drawn to it; the
/// raster's own ids are not used. After a Resize of the raster passes give InvalidArgument: wrap it again.
/// Errors: InvalidArgument, OutOfMemory. Thread: owner.
ESPY_API espyResult espySoftDevice_WrapRaster(espyDevice* device, espyRaster* raster, bool ids, espyDeviceTarget* out);

#endif
