// SPDX-License-Identifier: MIT
// Life of a Vulkan device: its ring of frames, its table, its end.
#include "gpu/vulkan_device.h"

#include <string.h>

#define ESPY_HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

espyResult espyiVulkanDevice_Result(espyiVulkanDevice* device, VkResult result)
{
    device->lost = device->lost || result == VK_ERROR_DEVICE_LOST;
    return espyiVulkan_Result(result);
}

espyVulkanDeviceDef espyVulkanDeviceDef_Default(void)
{
    return (espyVulkanDeviceDef){.framesInFlight = 3,
                                 .maxQueriesPerFrame = 65536,
                                 .maxDrawsPerFrame = 131072,
                                 .maxIds = 1048576,
                                 .cookie = ESPY_DEF_COOKIE};
}

static espyResult espyVulkanDevice_CreateFrame(espyiVulkanDevice* device, espyiVulkanFrame* frame)
{
    const espyiVulkan* vulkan = &device->vulkan;
    uint32_t places = device->caps.maxQueriesPerFrame * device->caps.maxLayers;
    VkCommandPoolCreateInfo poolInfo = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT |
                                                 VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = vulkan->queueFamily};
    VkQueryPoolCreateInfo queryInfo = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO, .queryType = VK_QUERY_TYPE_OCCLUSION, .queryCount = places};
    VkResult result = vkCreateCommandPool(vulkan->device, &poolInfo, NULL, &frame->pool);
    result = result == VK_SUCCESS ? vkCreateQueryPool(vulkan->device, &queryInfo, NULL, &frame->queries) : result;
    if (result == VK_SUCCESS)
    {
        VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = frame->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
        result = vkAllocateCommandBuffers(vulkan->device, &info, &frame->commands);
    }
    if (result != VK_SUCCESS)
    {
        return espyiVulkan_Result(result);
    }
    frame->toReset = places;
    frame->asked = (espyiVulkanAsked*)espyiAlloc(&device->hooks, device->caps.maxQueriesPerFrame, sizeof *frame->asked);
    if (frame->asked == NULL)
    {
        return espyResult_OutOfMemory;
    }
    espyResult made = espyiVulkan_CreateBuffer(
        vulkan, (VkDeviceSize)device->caps.maxDrawsPerFrame * ESPY_DEVICE_MAX_LAYERS * sizeof(espyiVulkanRecord),
        VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, ESPY_HOST, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &frame->records);
    return made != espyResult_Ok ? made
                                 : espyiVulkan_CreateBuffer(vulkan, (VkDeviceSize)places * sizeof(uint64_t),
                                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT, ESPY_HOST,
                                                            VK_MEMORY_PROPERTY_HOST_CACHED_BIT, &frame->results);
}

/// The box that every device has.
static espyResult espyVulkanDevice_CreateBox(espyiVulkanDevice* device)
{
    static const uint32_t indices[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    espyVec3 corners[8];
    for (uint32_t i = 0; i < 8; ++i)
    {
        corners[i] = (espyVec3){(i & 1u) ? 1.0f : -1.0f, (i & 2u) ? 1.0f : -1.0f, (i & 4u) ? 1.0f : -1.0f};
    }
    espyTriangles box = {.positions = corners, .indices = indices, .vertexCount = 8, .triangleCount = 12};
    espyDeviceMesh mesh;
    return espyiVulkanDevice_CreateMesh(device, &box, false, &mesh);
}

static espyResult espyVulkanDevice_CreateParts(espyiVulkanDevice* device)
{
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    espyResult result = espyiVulkan_Result(vkCreateSemaphore(device->vulkan.device, &info, NULL, &device->timeline));
    result = result == espyResult_Ok ? espyiVulkanDevice_CreateLayouts(device) : result;
    for (uint32_t i = 0; i < device->frameCount && result == espyResult_Ok; ++i)
    {
        result = espyVulkanDevice_CreateFrame(device, &device->frames[i]);
    }
    return result == espyResult_Ok ? espyVulkanDevice_CreateBox(device) : result;
}

static void espyVulkanDevice_Free(espyiVulkanDevice* device)
{
    espyHooks hooks = device->hooks;
    const espyiVulkan* vulkan = &device->vulkan;
    if (vulkan->device != VK_NULL_HANDLE)
    {
        if (device->timeline != VK_NULL_HANDLE)
        {
            (void)espyiVulkanDevice_Wait(device);
        }
        espyiVulkanDevice_Sweep(device, true);
        for (size_t i = 0; i < device->targetCount; ++i)
        {
            espyiVulkanDevice_FreeTarget(device, &device->targets[i]);
        }
        for (size_t i = 0; i < device->blockCount; ++i)
        {
            espyiVulkan_DestroyBuffer(vulkan, &device->blocks[i].buffer);
        }
        for (uint32_t i = 0; i < device->frameCount; ++i)
        {
            espyiVulkanFrame* frame = &device->frames[i];
            vkDestroyCommandPool(vulkan->device, frame->pool, NULL);
            vkDestroyQueryPool(vulkan->device, frame->queries, NULL);
            espyiVulkan_DestroyBuffer(vulkan, &frame->records);
            espyiVulkan_DestroyBuffer(vulkan, &frame->results);
            espyiFree(&hooks, frame->asked);
        }
        espyiVulkanDevice_DestroyPipelines(device);
        vkDestroySemaphore(vulkan->device, device->timeline, NULL);
    }
    espyiVulkan_Shut(&device->vulkan);
    espyiFree(&hooks, device->garbage);
    espyiFree(&hooks, device->targets);
    espyiFree(&hooks, device->meshes);
    espyiFree(&hooks, device->blocks);
    espyiFree(&hooks, device);
}

static void espyVulkanDevice_FillCaps(espyiVulkanDevice* device, const espyVulkanDeviceDef* def)
{
    const espyiVulkan* vulkan = &device->vulkan;
    device->caps = (espyDeviceCaps){.anyQueries = true,
                                    .countQueries = vulkan->preciseQueries,
                                    .idIndex = vulkan->fragmentStores,
                                    .idFlag = vulkan->fragmentStores,
                                    .maxQueriesPerFrame = def->maxQueriesPerFrame,
                                    .maxIds = def->maxIds,
                                    .samplesPerPixel = 1,
                                    .maxLayers = ESPY_DEVICE_MAX_LAYERS,
                                    .maxDrawsPerFrame = def->maxDrawsPerFrame};
}

static bool espyVulkanDeviceDef_IsValid(const espyVulkanDeviceDef* def, const espyHooks* hooks)
{
    bool given = def->device != NULL;
    return ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) &&
           ESPYI_CHECK(hooks, (def->instance != NULL) == given && (def->physicalDevice != NULL) == given &&
                                  (def->queue != NULL) == given && !(given && def->validates)) &&
           ESPYI_CHECK(hooks, def->framesInFlight >= 2 && def->framesInFlight <= ESPYI_VULKAN_MAX_FRAMES) &&
           ESPYI_CHECK(hooks, def->maxQueriesPerFrame >= 1 && def->maxQueriesPerFrame <= 1u << 20) &&
           ESPYI_CHECK(hooks, def->maxDrawsPerFrame >= 1 && def->maxDrawsPerFrame <= 1u << 22) &&
           ESPYI_CHECK(hooks, def->maxIds >= 1 && def->maxIds <= 1u << 24);
}

espyResult espyVulkanDevice_Create(const espyVulkanDeviceDef* def, espyDevice* out)
{
    *out = (espyDevice){0};
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    if (!espyVulkanDeviceDef_IsValid(def, &hooks))
    {
        return espyResult_InvalidArgument;
    }
    espyiVulkanDevice* device = (espyiVulkanDevice*)espyiAlloc(&hooks, 1, sizeof *device);
    if (device == NULL)
    {
        return espyResult_OutOfMemory;
    }
    device->hooks = hooks;
    device->frameCount = def->framesInFlight;
    espyiVulkanWish wish = {.hooks = hooks,
                            .deviceName = def->deviceName,
                            .validates = def->validates,
                            .instance = def->instance,
                            .physical = def->physicalDevice,
                            .device = def->device,
                            .queue = def->queue,
                            .queueFamily = def->queueFamily,
                            .preciseQueries = def->occlusionQueryPrecise,
                            .fragmentStores = def->fragmentStoresAndAtomics};
    espyResult result = espyiVulkan_Boot(&wish, &device->vulkan);
    if (result == espyResult_Ok)
    {
        espyVulkanDevice_FillCaps(device, def);
        result = espyVulkanDevice_CreateParts(device);
    }
    if (result != espyResult_Ok)
    {
        espyVulkanDevice_Free(device);
        return result;
    }
    *out = (espyDevice){
        .context = device,
        .caps = device->caps,
        .createMesh = espyiVulkanDevice_CreateMesh,
        .destroyMesh = espyiVulkanDevice_DestroyMesh,
        .createTarget = espyiVulkanDevice_CreateTarget,
        .destroyTarget = espyiVulkanDevice_DestroyTarget,
        .beginFrame = espyiVulkanDevice_BeginFrame,
        .beginPass = espyiVulkanDevice_BeginPass,
        .drawDepth = espyiVulkanDevice_DrawDepth,
        .drawIds = espyiVulkanDevice_DrawIds,
        .query = espyiVulkanDevice_Query,
        .endPass = espyiVulkanDevice_EndPass,
        .readIds = espyiVulkanDevice_ReadIds,
        .endFrame = espyiVulkanDevice_EndFrame,
        .poll = espyiVulkanDevice_Poll,
        .readPixels = espyiVulkanDevice_ReadPixels,
        .cookie = ESPY_DEF_COOKIE,
    };
    return espyResult_Ok;
}

static espyiVulkanDevice* espyVulkanDevice_Of(const espyDevice* device)
{
    return device != NULL && device->poll == espyiVulkanDevice_Poll ? (espyiVulkanDevice*)device->context : NULL;
}

void espyVulkanDevice_Destroy(espyDevice* device)
{
    espyiVulkanDevice* vulkan = espyVulkanDevice_Of(device);
    if (vulkan != NULL)
    {
        espyVulkanDevice_Free(vulkan);
        *device = (espyDevice){0};
    }
}

void espyiVulkanDevice_Lose(espyDevice* device)
{
    espyVulkanDevice_Of(device)->lost = true;
}

uint32_t espyVulkanDevice_GetMessages(const espyDevice* device, const char** text)
{
    const espyiVulkanDevice* vulkan = espyVulkanDevice_Of(device);
    const espyiVulkanMessages* messages = vulkan != NULL ? vulkan->vulkan.messages : NULL;
    uint32_t count = messages != NULL ? messages->count : 0;
    if (text != NULL)
    {
        *text = count > 0 ? messages->first : NULL;
    }
    return count;
}

const char* espyVulkanDevice_GetName(const espyDevice* device)
{
    const espyiVulkanDevice* vulkan = espyVulkanDevice_Of(device);
    return vulkan != NULL ? vulkan->vulkan.properties.deviceName : "";
}
