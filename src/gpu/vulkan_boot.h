// SPDX-License-Identifier: MIT
// What every user of Vulkan here needs first: an instance and a device without a window (or the caller's own), memory,
// buffers, and one submission that is waited for. In the library espy-gpu; src/ only.
#ifndef ESPYI_VULKAN_BOOT_H
#define ESPYI_VULKAN_BOOT_H

#include <espy/base.h>

#include <vulkan/vulkan.h>

#include "core/core.h"

typedef struct espyiVulkanWish
{
    espyHooks hooks;        ///< Resolved.
    const char* deviceName; ///< Part of the name of the wanted device; null: a discrete one before others.
    bool validates; ///< With the validation layer and its check of synchronisation. Unsupported where it is missing.
    /// The caller's own, all or none. Enabled there: timelineSemaphore, and of what this library uses as many of
    /// occlusionQueryPrecise and fragmentStoresAndAtomics as there shall be.
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t queueFamily;
    bool preciseQueries, fragmentStores; ///< What is enabled on the caller's device.
} espyiVulkanWish;

/// What the validation layer said.
typedef struct espyiVulkanMessages
{
    uint32_t count; ///< Warnings and errors.
    char first[1024];
} espyiVulkanMessages;

typedef struct espyiVulkan
{
    espyHooks hooks;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue; ///< Graphics, compute and transfer.
    uint32_t queueFamily;
    bool owns; ///< Instance and device were made here.
    bool preciseQueries, fragmentStores;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDebugUtilsMessengerEXT messenger;
    espyiVulkanMessages* messages; ///< Null without validation.
} espyiVulkan;

typedef struct espyiVulkanBuffer
{
    VkBuffer buffer;
    VkDeviceMemory memory;
    void* mapped; ///< Null where the host cannot see it.
    VkDeviceSize size;
} espyiVulkanBuffer;

/// OutOfMemory, DeviceLost, or Unsupported for what else can go wrong.
espyResult espyiVulkan_Result(VkResult result);

/// Vulkan 1.2 with timeline semaphores. Errors: Unsupported (no loader, driver, layer or feature), OutOfMemory.
espyResult espyiVulkan_Boot(const espyiVulkanWish* wish, espyiVulkan* out);
/// Destroys what Boot made. A zeroed struct is allowed.
void espyiVulkan_Shut(espyiVulkan* vulkan);

/// Index of a memory type with all of `required` and, if there is one, all of `preferred`; UINT32_MAX: none.
uint32_t espyiVulkan_FindMemory(const espyiVulkan* vulkan, uint32_t typeBits, VkMemoryPropertyFlags required,
                                VkMemoryPropertyFlags preferred);
/// A buffer with memory of its own, mapped where `required` holds HOST_VISIBLE (which then must hold HOST_COHERENT).
espyResult espyiVulkan_CreateBuffer(const espyiVulkan* vulkan, VkDeviceSize size, VkBufferUsageFlags usage,
                                    VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred,
                                    espyiVulkanBuffer* out);
/// A zeroed struct is allowed.
void espyiVulkan_DestroyBuffer(const espyiVulkan* vulkan, espyiVulkanBuffer* buffer);

/// A compute pipeline with entry point "main". `layout` is the caller's.
espyResult espyiVulkan_CreateCompute(const espyiVulkan* vulkan, const uint32_t* words, size_t size,
                                     VkPipelineLayout layout, VkPipeline* out);

/// Records commands, submits them and waits for their end. For set-up and tests.
espyResult espyiVulkan_Run(const espyiVulkan* vulkan, void (*record)(VkCommandBuffer commands, void* context),
                           void* context);

/// A barrier over all memory.
void espyiVulkan_Barrier(VkCommandBuffer commands, VkPipelineStageFlags fromStages, VkAccessFlags from,
                         VkPipelineStageFlags toStages, VkAccessFlags to);

#endif
