// SPDX-License-Identifier: MIT
// Vulkan without a window: instance, device, queue, validation messages, memory.
#include "gpu/vulkan_boot.h"

#include <stdio.h>
#include <string.h>

#define ESPY_MOST_DEVICES 16u
#define ESPY_MOST_FAMILIES 32u

espyResult espyiVulkan_Result(VkResult result)
{
    switch (result)
    {
    case VK_SUCCESS:
        return espyResult_Ok;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
        return espyResult_OutOfMemory;
    case VK_ERROR_DEVICE_LOST:
        return espyResult_DeviceLost;
    default:
        return espyResult_Unsupported;
    }
}

// --- instance

static VKAPI_ATTR VkBool32 VKAPI_CALL espyVulkan_Hear(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                      VkDebugUtilsMessageTypeFlagsEXT types,
                                                      const VkDebugUtilsMessengerCallbackDataEXT* data, void* context)
{
    (void)severity, (void)types;
    espyiVulkanMessages* messages = (espyiVulkanMessages*)context;
    if (messages->count++ == 0)
    {
        snprintf(messages->first, sizeof messages->first, "%s", data->pMessage);
    }
    return VK_FALSE;
}

static espyResult espyVulkan_CreateInstance(const espyiVulkanWish* wish, espyiVulkan* vulkan)
{
    static const char* const layers[] = {"VK_LAYER_KHRONOS_validation"};
    static const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    static const VkValidationFeatureEnableEXT checks[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                     .pApplicationName = "espy",
                                     .pEngineName = "espy",
                                     .apiVersion = VK_API_VERSION_1_2};
    VkValidationFeaturesEXT features = {.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
                                        .enabledValidationFeatureCount = ESPYI_ARRAY_COUNT(checks),
                                        .pEnabledValidationFeatures = checks};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    if (wish->validates)
    {
        info.pNext = &features;
        info.enabledLayerCount = ESPYI_ARRAY_COUNT(layers);
        info.ppEnabledLayerNames = layers;
        info.enabledExtensionCount = ESPYI_ARRAY_COUNT(extensions);
        info.ppEnabledExtensionNames = extensions;
    }
    espyResult result = espyiVulkan_Result(vkCreateInstance(&info, NULL, &vulkan->instance));
    if (result != espyResult_Ok || !wish->validates)
    {
        return result;
    }
    vulkan->messages = (espyiVulkanMessages*)espyiAlloc(&vulkan->hooks, 1, sizeof *vulkan->messages);
    if (vulkan->messages == NULL)
    {
        return espyResult_OutOfMemory;
    }
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)(void (*)(void))vkGetInstanceProcAddr(vulkan->instance,
                                                                                  "vkCreateDebugUtilsMessengerEXT");
    VkDebugUtilsMessengerCreateInfoEXT messenger = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                                                    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                                                       VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
                                                    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                                                                   VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
                                                    .pfnUserCallback = espyVulkan_Hear,
                                                    .pUserData = vulkan->messages};
    return create != NULL ? espyiVulkan_Result(create(vulkan->instance, &messenger, NULL, &vulkan->messenger))
                          : espyResult_Unsupported;
}

// --- device

typedef struct espyVulkanFeatures
{
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan12Features v12;
} espyVulkanFeatures;

static void espyVulkanFeatures_Link(espyVulkanFeatures* features)
{
    *features = (espyVulkanFeatures){.core = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2},
                                     .v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES}};
    features->core.pNext = &features->v12;
}

/// A queue family that does everything; UINT32_MAX: none.
static uint32_t espyVulkan_FindFamily(VkPhysicalDevice physical)
{
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    VkQueueFamilyProperties families[ESPY_MOST_FAMILIES];
    uint32_t count = ESPY_MOST_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; ++i)
    {
        if ((families[i].queueFlags & wanted) == wanted)
        {
            return i;
        }
    }
    return UINT32_MAX;
}

/// 0: cannot be used.
static uint32_t espyVulkan_Rate(VkPhysicalDevice physical, const char* name)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2 || espyVulkan_FindFamily(physical) == UINT32_MAX ||
        (name != NULL && strstr(properties.deviceName, name) == NULL))
    {
        return 0;
    }
    espyVulkanFeatures features;
    espyVulkanFeatures_Link(&features);
    vkGetPhysicalDeviceFeatures2(physical, &features.core);
    if (!features.v12.timelineSemaphore)
    {
        return 0;
    }
    return properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 4
           : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 3
           : properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU    ? 2
                                                                             : 1;
}

static espyResult espyVulkan_PickPhysical(espyiVulkan* vulkan, const char* name)
{
    VkPhysicalDevice devices[ESPY_MOST_DEVICES];
    uint32_t count = ESPY_MOST_DEVICES, best = 0;
    VkResult result = vkEnumeratePhysicalDevices(vulkan->instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
    {
        return espyiVulkan_Result(result);
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t rating = espyVulkan_Rate(devices[i], name);
        if (rating > best)
        {
            best = rating;
            vulkan->physical = devices[i];
        }
    }
    return best > 0 ? espyResult_Ok : espyResult_Unsupported;
}

static espyResult espyVulkan_CreateDevice(espyiVulkan* vulkan)
{
    espyVulkanFeatures found, wanted;
    espyVulkanFeatures_Link(&found);
    espyVulkanFeatures_Link(&wanted);
    vkGetPhysicalDeviceFeatures2(vulkan->physical, &found.core);
    wanted.core.features.occlusionQueryPrecise = found.core.features.occlusionQueryPrecise;
    wanted.core.features.fragmentStoresAndAtomics = found.core.features.fragmentStoresAndAtomics;
    wanted.v12.timelineSemaphore = VK_TRUE;
    vulkan->preciseQueries = found.core.features.occlusionQueryPrecise;
    vulkan->fragmentStores = found.core.features.fragmentStoresAndAtomics;
    vulkan->queueFamily = espyVulkan_FindFamily(vulkan->physical);
    const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = vulkan->queueFamily,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &wanted.core,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue};
    espyResult result = espyiVulkan_Result(vkCreateDevice(vulkan->physical, &info, NULL, &vulkan->device));
    if (result == espyResult_Ok)
    {
        vkGetDeviceQueue(vulkan->device, vulkan->queueFamily, 0, &vulkan->queue);
    }
    return result;
}

espyResult espyiVulkan_Boot(const espyiVulkanWish* wish, espyiVulkan* out)
{
    espyResult result = espyResult_Ok;
    *out = (espyiVulkan){.hooks = wish->hooks,
                         .instance = wish->instance,
                         .physical = wish->physical,
                         .device = wish->device,
                         .queue = wish->queue,
                         .queueFamily = wish->queueFamily,
                         .owns = wish->device == VK_NULL_HANDLE,
                         .preciseQueries = wish->preciseQueries,
                         .fragmentStores = wish->fragmentStores};
    if (out->owns)
    {
        out->instance = VK_NULL_HANDLE;
        result = espyVulkan_CreateInstance(wish, out);
        result = result == espyResult_Ok ? espyVulkan_PickPhysical(out, wish->deviceName) : result;
        result = result == espyResult_Ok ? espyVulkan_CreateDevice(out) : result;
    }
    if (result != espyResult_Ok)
    {
        espyiVulkan_Shut(out);
        return result;
    }
    vkGetPhysicalDeviceProperties(out->physical, &out->properties);
    vkGetPhysicalDeviceMemoryProperties(out->physical, &out->memory);
    return espyResult_Ok;
}

void espyiVulkan_Shut(espyiVulkan* vulkan)
{
    if (vulkan->owns && vulkan->device != VK_NULL_HANDLE)
    {
        vkDestroyDevice(vulkan->device, NULL);
    }
    if (vulkan->messenger != VK_NULL_HANDLE)
    {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)(void (*)(
            void))vkGetInstanceProcAddr(vulkan->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(vulkan->instance, vulkan->messenger, NULL);
    }
    if (vulkan->owns && vulkan->instance != VK_NULL_HANDLE)
    {
        vkDestroyInstance(vulkan->instance, NULL);
    }
    if (vulkan->messages != NULL)
    {
        espyiFree(&vulkan->hooks, vulkan->messages);
    }
    *vulkan = (espyiVulkan){0};
}

// --- memory

uint32_t espyiVulkan_FindMemory(const espyiVulkan* vulkan, uint32_t typeBits, VkMemoryPropertyFlags required,
                                VkMemoryPropertyFlags preferred)
{
    uint32_t fallback = UINT32_MAX;
    for (uint32_t i = 0; i < vulkan->memory.memoryTypeCount; ++i)
    {
        VkMemoryPropertyFlags flags = vulkan->memory.memoryTypes[i].propertyFlags;
        if (!(typeBits >> i & 1u) || (flags & required) != required)
        {
            continue;
        }
        if ((flags & preferred) == preferred)
        {
            return i;
        }
        fallback = fallback == UINT32_MAX ? i : fallback;
    }
    return fallback;
}

espyResult espyiVulkan_CreateBuffer(const espyiVulkan* vulkan, VkDeviceSize size, VkBufferUsageFlags usage,
                                    VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred,
                                    espyiVulkanBuffer* out)
{
    *out = (espyiVulkanBuffer){.size = size};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = size,
                               .usage = usage,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    VkResult result = vkCreateBuffer(vulkan->device, &info, NULL, &out->buffer);
    if (result == VK_SUCCESS)
    {
        VkMemoryRequirements needs;
        vkGetBufferMemoryRequirements(vulkan->device, out->buffer, &needs);
        VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex =
                                           espyiVulkan_FindMemory(vulkan, needs.memoryTypeBits, required, preferred)};
        result = memory.memoryTypeIndex == UINT32_MAX ? VK_ERROR_FEATURE_NOT_PRESENT
                                                      : vkAllocateMemory(vulkan->device, &memory, NULL, &out->memory);
    }
    result = result == VK_SUCCESS ? vkBindBufferMemory(vulkan->device, out->buffer, out->memory, 0) : result;
    if (result == VK_SUCCESS && (required & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
    {
        result = vkMapMemory(vulkan->device, out->memory, 0, VK_WHOLE_SIZE, 0, &out->mapped);
    }
    if (result != VK_SUCCESS)
    {
        espyiVulkan_DestroyBuffer(vulkan, out);
    }
    return espyiVulkan_Result(result);
}

void espyiVulkan_DestroyBuffer(const espyiVulkan* vulkan, espyiVulkanBuffer* buffer)
{
    vkDestroyBuffer(vulkan->device, buffer->buffer, NULL);
    vkFreeMemory(vulkan->device, buffer->memory, NULL);
    *buffer = (espyiVulkanBuffer){0};
}

// --- pipelines and commands

espyResult espyiVulkan_CreateCompute(const espyiVulkan* vulkan, const uint32_t* words, size_t size,
                                     VkPipelineLayout layout, VkPipeline* out)
{
    *out = VK_NULL_HANDLE;
    VkShaderModuleCreateInfo shader = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module;
    VkResult result = vkCreateShaderModule(vulkan->device, &shader, NULL, &module);
    if (result != VK_SUCCESS)
    {
        return espyiVulkan_Result(result);
    }
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = "main"},
                                        .layout = layout};
    result = vkCreateComputePipelines(vulkan->device, VK_NULL_HANDLE, 1, &info, NULL, out);
    vkDestroyShaderModule(vulkan->device, module, NULL);
    return espyiVulkan_Result(result);
}

espyResult espyiVulkan_Run(const espyiVulkan* vulkan, void (*record)(VkCommandBuffer commands, void* context),
                           void* context)
{
    VkCommandPoolCreateInfo poolInfo = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = vulkan->queueFamily};
    VkFenceCreateInfo fenceInfo = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkResult result = vkCreateCommandPool(vulkan->device, &poolInfo, NULL, &pool);
    result = result == VK_SUCCESS ? vkCreateFence(vulkan->device, &fenceInfo, NULL, &fence) : result;
    if (result == VK_SUCCESS)
    {
        VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
        result = vkAllocateCommandBuffers(vulkan->device, &info, &commands);
    }
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    result = result == VK_SUCCESS ? vkBeginCommandBuffer(commands, &begin) : result;
    if (result == VK_SUCCESS)
    {
        record(commands, context);
        result = vkEndCommandBuffer(commands);
    }
    VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    result = result == VK_SUCCESS ? vkQueueSubmit(vulkan->queue, 1, &submit, fence) : result;
    result = result == VK_SUCCESS ? vkWaitForFences(vulkan->device, 1, &fence, VK_TRUE, UINT64_MAX) : result;
    vkDestroyFence(vulkan->device, fence, NULL);
    vkDestroyCommandPool(vulkan->device, pool, NULL);
    return espyiVulkan_Result(result);
}

void espyiVulkan_Barrier(VkCommandBuffer commands, VkPipelineStageFlags fromStages, VkAccessFlags from,
                         VkPipelineStageFlags toStages, VkAccessFlags to)
{
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = from, .dstAccessMask = to};
    vkCmdPipelineBarrier(commands, fromStages, toStages, 0, 1, &barrier, 0, NULL, 0, NULL);
}
