// SPDX-License-Identifier: MIT
// A device on Vulkan 1.2, without a window: on a device of its own, or on the engine's. In the library espy-gpu.
//
//     espyVulkanDeviceDef def = espyVulkanDeviceDef_Default();
//     if (espyVulkanDevice_Create(&def, &device) != espyResult_Ok) ...    no loader, no driver: use the soft device
//
// What is kept, and why (docs/devices.md says more)
//   Queries are reset outside of render passes, before their first use in a frame; PRECISE only for Count. In a target
//   with two layers each eye is drawn by itself and the counts are summed: of queries within a render pass of both eyes
//   drivers share out the counts as they like, and some get one eye wrong.
//   Results are copied on the device, in the submission that asked, into memory that the host sees. poll looks at a
//   timeline semaphore and never at the query pool, which on some drivers waits.
//   A frame whose place in the ring is still being drawn is left out instead of waited for: its draws do nothing, its
//   queries get no answers, its readIds says that every id was seen.
//
// This header does not include Vulkan's: handles are pointers to its own structs, and images are cast to uint64_t.
#ifndef ESPY_DEVICE_VULKAN_H
#define ESPY_DEVICE_VULKAN_H

#include <espy/device.h>

struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkQueue_T;

typedef struct espyVulkanDeviceDef
{
    espyHooks hooks;
    const char* deviceName; ///< Part of the name of the wanted device. Default null: a discrete one before others.
    bool validates; ///< Run with Khronos' validation layer, synchronisation too. Default false. Own device only.
    /// The engine's device: all of these, or none (default). It lives longer than this one. timelineSemaphore is
    /// enabled; the queue draws and computes, and nobody else submits to it during a call.
    struct VkInstance_T* instance;
    struct VkPhysicalDevice_T* physicalDevice;
    struct VkDevice_T* device;
    struct VkQueue_T* queue;
    uint32_t queueFamily;
    /// Features that are enabled on the engine's device: without the first no Count, without the second no ids.
    bool occlusionQueryPrecise, fragmentStoresAndAtomics;
    uint32_t framesInFlight;     ///< Places in the ring, 2..8, default 3.
    uint32_t maxQueriesPerFrame; ///< Default 65,536; at most 2^20; 16 bytes each on both sides, for each place.
    uint32_t maxDrawsPerFrame;   ///< Default 131,072; at most 2^22; 160 bytes each, for each place.
    uint32_t maxIds;             ///< Default 1,048,576; at most 2^24.
    uint32_t cookie;
} espyVulkanDeviceDef;

/// Depth that the engine draws itself, on the same VkDevice.
typedef struct espyVulkanDepthDef
{
    uint64_t image;  ///< VkImage, with DEPTH_STENCIL_ATTACHMENT usage. It outlives the target.
    uint32_t format; ///< VkFormat.
    uint32_t layout; ///< VkImageLayout before and after each pass. Default DEPTH_STENCIL_ATTACHMENT_OPTIMAL.
    int32_t width, height;
    uint32_t layers;  ///< Default 1.
    uint32_t samples; ///< A pixel, default 1. Counts of queries are in these.
    bool reversedZ, ids;
    uint32_t cookie;
} espyVulkanDepthDef;

ESPY_API espyVulkanDeviceDef espyVulkanDeviceDef_Default(void);
ESPY_API espyVulkanDepthDef espyVulkanDepthDef_Default(void);

/// Makes a device. Meshes lie in memory that the host writes. Errors: InvalidArgument (a field out of range),
/// Unsupported (no loader, driver, layer or feature), OutOfMemory. Thread: any.
ESPY_API espyResult espyVulkanDevice_Create(const espyVulkanDeviceDef* def, espyDevice* out);
/// Waits until all that was submitted has ended, then frees it with all that it made, and empties the table. Null and
/// an empty table are allowed.
ESPY_API void espyVulkanDevice_Destroy(espyDevice* device);

/// Makes a target of the engine's depth. What the engine submitted to the same queue before endFrame (or readIds) is
/// waited for on the device. drawDepth draws into it, clearDepth clears it: leave them away to ask only. readPixels is
/// Unsupported. Errors: InvalidArgument, Unsupported (a format without depth, a count of samples, too large for ids),
/// OutOfMemory, DeviceLost. Thread: owner.
ESPY_API espyResult espyVulkanDevice_WrapDepth(espyDevice* device, const espyVulkanDepthDef* def,
                                               espyDeviceTarget* out);

/// How many warnings and errors the validation layer gave, 0 without it; the first in *text (may be null), else null.
/// Lifetime of the text: the device's.
ESPY_API uint32_t espyVulkanDevice_GetMessages(const espyDevice* device, const char** text);
/// Name of the graphics device, or "". Lifetime: the device's.
ESPY_API const char* espyVulkanDevice_GetName(const espyDevice* device);

#endif
