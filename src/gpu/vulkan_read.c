// SPDX-License-Identifier: MIT
// Submitting, and what comes back: answers that are looked for and never waited for; ids and pixels that are.
#include "gpu/vulkan_device.h"

#include <string.h>

/// Longer than this and the device counts as lost.
#define ESPY_LONGEST_WAIT 10000000000ull

espyResult espyiVulkanDevice_Look(espyiVulkanDevice* device)
{
    uint64_t value = 0;
    VkResult result = vkGetSemaphoreCounterValue(device->vulkan.device, device->timeline, &value);
    if (result == VK_SUCCESS)
    {
        device->completed = value;
    }
    return espyiVulkanDevice_Result(device, result);
}

espyResult espyiVulkanDevice_Submit(espyiVulkanDevice* device)
{
    espyiVulkanFrame* now = device->now;
    espyiVulkan_Barrier(now->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    VkResult result = vkEndCommandBuffer(now->commands);
    uint64_t value = device->submitted + 1u;
    VkTimelineSemaphoreSubmitInfo timeline = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .signalSemaphoreValueCount = 1,
                                              .pSignalSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &now->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &device->timeline};
    result = result == VK_SUCCESS ? vkQueueSubmit(device->vulkan.queue, 1, &info, VK_NULL_HANDLE) : result;
    if (result == VK_SUCCESS)
    {
        device->submitted = value;
        now->value = value;
    }
    else
    {
        now->toReset = device->caps.maxQueriesPerFrame * device->caps.maxLayers; // Its reset was lost, too.
    }
    return espyiVulkanDevice_Result(device, result);
}

espyResult espyiVulkanDevice_Wait(espyiVulkanDevice* device)
{
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &device->timeline,
                                .pValues = &device->submitted};
    VkResult result = vkWaitSemaphores(device->vulkan.device, &info, ESPY_LONGEST_WAIT);
    if (result == VK_TIMEOUT)
    {
        result = VK_ERROR_DEVICE_LOST;
    }
    if (result == VK_SUCCESS)
    {
        device->completed = device->submitted;
    }
    return espyiVulkanDevice_Result(device, result);
}

// --- answers

uint32_t espyiVulkanDevice_Poll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (device->lost || espyiVulkanDevice_Look(device) != espyResult_Ok)
    {
        return 0;
    }
    uint32_t written = 0;
    // In the order of the ring, which is that of the frames as long as none was left out.
    for (uint32_t i = 1; i <= device->frameCount; ++i)
    {
        espyiVulkanFrame* place = &device->frames[(device->ordinal + i) % device->frameCount];
        if (!place->ended || place->value > device->completed)
        {
            continue;
        }
        const uint64_t* results = (const uint64_t*)place->results.mapped;
        for (; place->given < place->askedCount && written < capacity; ++place->given)
        {
            const espyiVulkanAsked* asked = &place->asked[place->given];
            uint64_t sum = 0;
            for (uint32_t p = 0; p < asked->places; ++p)
            {
                sum += results[asked->first + p * asked->stride];
            }
            out[written++] = (espyDeviceAnswer){asked->tag, place->frame, sum};
        }
    }
    return written;
}

// --- ids

static void espyVulkan_ResolveIds(const espyiVulkanDevice* device, const espyiVulkanTarget* target, VkDeviceSize bytes)
{
    VkCommandBuffer commands = device->now->commands;
    const espyiVulkanPipelines* kind = &device->pipelines[target->pipelines];
    const VkPipelineStageFlags shaders = VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkAccessFlags access = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    uint32_t width = (uint32_t)target->width, layerPixels = width * (uint32_t)target->height;
    espyiVulkanScreen screen = {width, 0, kind->reversedZ ? 1u : 0u, layerPixels * target->layers};
    espyiVulkan_Barrier(commands, shaders | VK_PIPELINE_STAGE_TRANSFER_BIT,
                        access | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                        VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT);
    VkBufferCopy whole = {.size = target->flags.size};
    vkCmdCopyBuffer(commands, target->flags.buffer, target->resolved.buffer, 1, &whole);
    espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access);
    uint32_t groups = (screen.pixelCount + 63u) / 64u, across = groups < 32768u ? groups : 32768u;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, device->resolve);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, device->layout, 0, 1, &target->set, 0, NULL);
    vkCmdPushConstants(commands, device->layout, VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       sizeof screen, &screen);
    vkCmdDispatch(commands, across, (groups + across - 1u) / across, 1);
    espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, access, VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_ACCESS_TRANSFER_READ_BIT);
    VkBufferCopy part = {.size = bytes};
    vkCmdCopyBuffer(commands, target->resolved.buffer, target->readBack.buffer, 1, &part);
}

/// Submits what the frame recorded, waits, and records on. Where that fails the rest of the frame is left out.
static espyResult espyVulkan_Flush(espyiVulkanDevice* device)
{
    espyResult result = espyiVulkanDevice_Submit(device);
    result = result == espyResult_Ok ? espyiVulkanDevice_Wait(device) : result;
    result = result == espyResult_Ok ? espyiVulkanDevice_StartCommands(device) : result;
    device->now = result == espyResult_Ok ? device->now : NULL;
    return result;
}

espyResult espyiVulkanDevice_ReadIds(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    const espyiVulkanTarget* from = espyiVulkanDevice_FindTarget(device, target);
    memset(bits, 0, espyiBits_Words(idCount) * sizeof *bits);
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    if (!ESPYI_CHECK(&device->hooks, device->inFrame && device->passTarget == 0) ||
        !ESPYI_CHECK(&device->hooks, from != NULL && from->ids))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t known = idCount < device->caps.maxIds ? idCount : device->caps.maxIds;
    size_t bytes = espyiBits_Words(known) * sizeof *bits;
    if (known == 0 || (device->now != NULL && !from->idsClear))
    {
        return espyResult_Ok; // No pass has drawn to it.
    }
    if (device->now == NULL)
    {
        memset(bits, 0xFF, bytes); // What was left out may have shown anything.
    }
    else
    {
        espyVulkan_ResolveIds(device, from, bytes);
        espyResult result = espyVulkan_Flush(device);
        if (result != espyResult_Ok)
        {
            return result;
        }
        memcpy(bits, from->readBack.mapped, bytes);
    }
    if (known % 32u != 0)
    {
        bits[known / 32u] &= (1u << known % 32u) - 1u;
    }
    return espyResult_Ok;
}

// --- pixels

typedef struct espyVulkanCopy
{
    const espyiVulkanTarget* target;
    VkBuffer depth, ids;
} espyVulkanCopy;

static void espyVulkan_MoveForCopy(VkCommandBuffer commands, const espyiVulkanTarget* target, bool in)
{
    const VkPipelineStageFlags tests =
        VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags access =
        VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = in ? access : VK_ACCESS_TRANSFER_READ_BIT,
        .dstAccessMask = in ? VK_ACCESS_TRANSFER_READ_BIT : access,
        .oldLayout = in ? ESPYI_VULKAN_LAYOUT : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .newLayout = in ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL : ESPYI_VULKAN_LAYOUT,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = target->image,
        .subresourceRange = {.aspectMask = target->aspect, .levelCount = 1, .layerCount = target->layers}};
    vkCmdPipelineBarrier(commands, in ? tests : VK_PIPELINE_STAGE_TRANSFER_BIT,
                         in ? VK_PIPELINE_STAGE_TRANSFER_BIT : tests, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void espyVulkan_RecordCopy(VkCommandBuffer commands, void* context)
{
    const espyVulkanCopy* copy = (const espyVulkanCopy*)context;
    const espyiVulkanTarget* target = copy->target;
    uint32_t width = (uint32_t)target->width, height = (uint32_t)target->height;
    espyVulkan_MoveForCopy(commands, target, true);
    VkBufferImageCopy region = {.imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_DEPTH_BIT, .layerCount = 1},
                                .imageExtent = {width, height, 1}};
    vkCmdCopyImageToBuffer(commands, target->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, copy->depth, 1, &region);
    espyVulkan_MoveForCopy(commands, target, false);
    if (target->ids)
    {
        espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                            VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                            VK_ACCESS_TRANSFER_READ_BIT);
        VkBufferCopy part = {.size = (VkDeviceSize)width * height * sizeof(uint32_t)};
        vkCmdCopyBuffer(commands, target->pixels.buffer, copy->ids, 1, &part);
    }
    espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

espyResult espyiVulkanDevice_ReadPixels(void* context, espyDeviceTarget target, float* depth, uint32_t* ids)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    const espyiVulkanTarget* from = espyiVulkanDevice_FindTarget(device, target);
    if (!ESPYI_CHECK(&device->hooks, device->passTarget == 0) || !ESPYI_CHECK(&device->hooks, from != NULL))
    {
        return espyResult_InvalidArgument;
    }
    if (from->borrowed || from->outside == VK_IMAGE_LAYOUT_UNDEFINED)
    {
        return espyResult_Unsupported;
    }
    espyResult result = device->now != NULL ? espyVulkan_Flush(device) : espyiVulkanDevice_Wait(device);
    size_t pixels = (size_t)from->width * (size_t)from->height;
    espyiVulkanBuffer buffers[2] = {{0}, {0}};
    for (uint32_t i = 0; i < 2 && result == espyResult_Ok; ++i)
    {
        result = espyiVulkan_CreateBuffer(&device->vulkan, pixels * sizeof(uint32_t), VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT, &buffers[i]);
    }
    if (result == espyResult_Ok)
    {
        espyVulkanCopy copy = {from, buffers[0].buffer, buffers[1].buffer};
        result = espyiVulkan_Run(&device->vulkan, espyVulkan_RecordCopy, &copy);
        device->lost = device->lost || result == espyResult_DeviceLost;
    }
    if (result == espyResult_Ok && depth != NULL)
    {
        memcpy(depth, buffers[0].mapped, pixels * sizeof *depth);
    }
    if (result == espyResult_Ok && ids != NULL)
    {
        if (from->ids)
        {
            memcpy(ids, buffers[1].mapped, pixels * sizeof *ids);
        }
        else
        {
            memset(ids, 0xFF, pixels * sizeof *ids); // ESPY_RASTER_NO_ID
        }
    }
    espyiVulkan_DestroyBuffer(&device->vulkan, &buffers[0]);
    espyiVulkan_DestroyBuffer(&device->vulkan, &buffers[1]);
    return result;
}
