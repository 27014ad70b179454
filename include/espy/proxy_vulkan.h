// SPDX-License-Identifier: MIT
// The image pass of proxy.h on a Vulkan device: a dispatch in the engine's own command buffer, over the engine's own
// images. In the library espy-gpu. Its shader is shaders/espy_proxy.comp, for those who want to run it themselves.
//
// The capsules come as espyProxyLists:
//   built with an image   each pixel evaluates its group's lists: within 1e-4 of espyProxyPass_Apply
//   built without one     up to 64 in a plain loop (within 1e-4), clusters by a walk of the tree: depth stays on the
//                         device, and the error is the tree's, as that of espyProxyPass_Apply (docs/proxy.md)
//
// This header does not include Vulkan's: handles are pointers to its own structs, views and buffers are cast to
// uint64_t.
#ifndef ESPY_PROXY_VULKAN_H
#define ESPY_PROXY_VULKAN_H

#include <espy/proxy.h>

struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkCommandBuffer_T;

/// What the pass writes.
typedef enum espyProxyVulkanTarget
{
    /// R32_SFLOAT: 1 - occlusion after intensity, power and distance, for shaders that use it themselves.
    espyProxyVulkanTarget_Visibility = 0,
    espyProxyVulkanTarget_Rgba16f, ///< R16G16B16A16_SFLOAT, the lit colour, linear: darkened in place; alpha stays.
    espyProxyVulkanTarget_Rgba32f, ///< R32G32B32A32_SFLOAT, the same.
} espyProxyVulkanTarget;

typedef struct espyProxyVulkanDef
{
    /// The engine's. They outlive the pass.
    struct VkInstance_T* instance;
    struct VkPhysicalDevice_T* physicalDevice;
    struct VkDevice_T* device;
    espyProxyVulkanTarget target; ///< Default Visibility.
    uint32_t framesInFlight;      ///< Frames that may be in work on the device at once, 1..8, default 3.
    espyHooks hooks;
    uint32_t cookie;
} espyProxyVulkanDef;

/// What lists may take.
typedef struct espyProxyVulkanRoom
{
    uint32_t width, height; ///< Of the largest image; 0 with lists built without one.
    uint32_t entries;       ///< espyProxyLists.entryCount. 0: all room is given back.
    uint32_t indices;       ///< As espyProxyPass_ReserveLists; 0 with lists built without an image.
} espyProxyVulkanRoom;

/// Views of the engine's images, all of one size: VkImageView, or 0 for none. Sampled ones are in
/// SHADER_READ_ONLY_OPTIMAL, the target is in GENERAL; compute shaders of the queue see what was written to them.
typedef struct espyProxyVulkanImages
{
    uint32_t width, height;
    uint64_t depth;     ///< 0..1 as rendered; the depth aspect, or a float format.
    uint64_t normal;    ///< World space, xyz -1..1. 0: none, as for particles.
    uint64_t albedo;    ///< Needed by espyProxyMode_Estimate, unless the target is Visibility.
    uint64_t emissive;  ///< Left alone by the effect.
    uint64_t target;    ///< Storage.
    uint64_t owner;     ///< VkBuffer, storage: owner ids, 32 bits a pixel, row by row.
    bool metalInAlbedo; ///< Alpha of albedo is how metallic a surface is.
    /// As in espyProxyView, with espyProxyMode_Estimate. 0: measured on the device, in two small dispatches before.
    float expectedLight;
    float deltaTime; ///< As in espyProxyView.
} espyProxyVulkanImages;

typedef struct espyProxyVulkan espyProxyVulkan;

ESPY_API espyProxyVulkanDef espyProxyVulkanDef_Default(void);

/// Makes the pipeline. Errors: InvalidArgument, Unsupported, OutOfMemory. Thread: any.
ESPY_API espyResult espyProxyVulkan_Create(const espyProxyVulkanDef* def, espyProxyVulkan** out);
/// No frame may be in work on the device. Null is allowed.
ESPY_API void espyProxyVulkan_Destroy(espyProxyVulkan* gpu);

/// Makes room in memory that the host writes, for each frame in flight; does nothing while the room is enough. No frame
/// may be in work on the device where it is not. Errors: InvalidArgument, OutOfMemory, Unsupported. Thread: owner.
ESPY_API espyResult espyProxyVulkan_Reserve(espyProxyVulkan* gpu, const espyProxyVulkanRoom* room);

/// Records the pass of frame number `frame` (any number that counts up; the one framesInFlight before it has ended).
/// `lists` are copied. With none (entryCount 0: nothing registered, nothing that the view sees, intensity 0) nothing is
/// recorded, no image is touched, and visibility is 1 everywhere. Never allocates. Errors: InvalidArgument (a missing
/// view, sizes that differ from the lists'), LimitExceeded (more than was reserved). Thread: owner.
ESPY_API espyResult espyProxyVulkan_Record(espyProxyVulkan* gpu, struct VkCommandBuffer_T* commands, uint64_t frame,
                                           const espyProxySettings* settings, const espyProxyLists* lists,
                                           const espyProxyVulkanImages* images);

#endif
