// SPDX-License-Identifier: MIT
// Meshes and targets of a Vulkan device. What is destroyed while commands that name it are under way is kept until the
// timeline is past them.
#include "gpu/vulkan_device.h"

#include <string.h>

/// Meshes share blocks of this size; a larger one has a block of its own.
#define ESPY_BLOCK_BYTES ((VkDeviceSize)4 << 20)

static uint64_t espyVulkan_Handle(size_t index, uint32_t generation)
{
    return (uint64_t)generation << 32 | (uint64_t)index;
}

// --- garbage

void espyiVulkanDevice_FreeTarget(const espyiVulkanDevice* device, espyiVulkanTarget* target)
{
    VkDevice d = device->vulkan.device;
    vkDestroyDescriptorPool(d, target->pool, NULL);
    for (uint32_t i = 0; i < ESPY_DEVICE_MAX_LAYERS; ++i)
    {
        vkDestroyFramebuffer(d, target->framebuffers[i], NULL);
        vkDestroyImageView(d, target->views[i], NULL);
    }
    if (!target->borrowed)
    {
        vkDestroyImage(d, target->image, NULL);
        vkFreeMemory(d, target->memory, NULL);
    }
    espyiVulkan_DestroyBuffer(&device->vulkan, &target->flags);
    espyiVulkan_DestroyBuffer(&device->vulkan, &target->nearest);
    espyiVulkan_DestroyBuffer(&device->vulkan, &target->pixels);
    espyiVulkan_DestroyBuffer(&device->vulkan, &target->resolved);
    espyiVulkan_DestroyBuffer(&device->vulkan, &target->readBack);
    *target = (espyiVulkanTarget){.generation = target->generation + 1u};
}

static void espyVulkanGarbage_Free(const espyiVulkanDevice* device, espyiVulkanGarbage* garbage)
{
    espyiVulkanDevice_FreeTarget(device, &garbage->target);
    espyiVulkan_DestroyBuffer(&device->vulkan, &garbage->block);
}

void espyiVulkanDevice_Sweep(espyiVulkanDevice* device, bool all)
{
    size_t kept = 0;
    for (size_t i = 0; i < device->garbageCount; ++i)
    {
        if (all || device->garbage[i].value <= device->completed)
        {
            espyVulkanGarbage_Free(device, &device->garbage[i]);
        }
        else
        {
            device->garbage[kept++] = device->garbage[i];
        }
    }
    device->garbageCount = kept;
}

/// Room for all that lives, so that throwing away never fails. Called before anything is made.
static bool espyVulkan_ReserveGarbage(espyiVulkanDevice* device)
{
    void* list = device->garbage;
    size_t most = device->garbageCount + device->blockCount + device->targetCount + 1u;
    bool fits = espyiGrow(&device->hooks, &list, &device->garbageCapacity, most, sizeof *device->garbage);
    device->garbage = (espyiVulkanGarbage*)list;
    return fits;
}

static void espyVulkan_Discard(espyiVulkanDevice* device, espyiVulkanGarbage* garbage)
{
    // Commands that are being recorded end with the next value.
    garbage->value = device->now != NULL ? device->submitted + 1u : device->submitted;
    device->garbage[device->garbageCount++] = *garbage;
}

// --- meshes

const espyiVulkanMesh* espyiVulkanDevice_FindMesh(const espyiVulkanDevice* device, espyDeviceMesh mesh)
{
    uint32_t index = (uint32_t)mesh.value;
    const espyiVulkanMesh* found = index < device->meshCount ? &device->meshes[index] : NULL;
    return found != NULL && found->alive && (index == 0 || found->generation == (uint32_t)(mesh.value >> 32)) ? found
                                                                                                              : NULL;
}

/// A block with room for `size` bytes; its index in *out.
static espyResult espyVulkan_FindBlock(espyiVulkanDevice* device, VkDeviceSize size, uint32_t* out)
{
    uint32_t free = UINT32_MAX;
    for (uint32_t i = 0; i < device->blockCount; ++i)
    {
        const espyiVulkanBlock* block = &device->blocks[i];
        if (block->buffer.buffer == VK_NULL_HANDLE)
        {
            free = i;
        }
        else if (block->buffer.size - block->used >= size)
        {
            *out = i;
            return espyResult_Ok;
        }
    }
    if (!espyVulkan_ReserveGarbage(device))
    {
        return espyResult_OutOfMemory;
    }
    if (free == UINT32_MAX)
    {
        void* blocks = device->blocks;
        if (!espyiGrow(&device->hooks, &blocks, &device->blockCapacity, device->blockCount + 1u,
                       sizeof *device->blocks))
        {
            return espyResult_OutOfMemory;
        }
        device->blocks = (espyiVulkanBlock*)blocks;
        free = (uint32_t)device->blockCount;
        device->blocks[device->blockCount++] = (espyiVulkanBlock){0};
    }
    espyResult result =
        espyiVulkan_CreateBuffer(&device->vulkan, size > ESPY_BLOCK_BYTES ? size : ESPY_BLOCK_BYTES,
                                 VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
                                 VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                 VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &device->blocks[free].buffer);
    device->blocks[free].used = 0;
    device->blocks[free].meshes = 0;
    *out = free;
    return result;
}

/// A triangle with a position that is not finite is left out, as in the software device.
static uint32_t espyVulkan_CopyIndices(const espyTriangles* triangles, uint32_t* to)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < triangles->triangleCount; ++t)
    {
        const uint32_t* corners = triangles->indices + (size_t)t * 3u;
        bool finite = true;
        for (uint32_t c = 0; c < 3; ++c)
        {
            espyVec3 p = triangles->positions[corners[c]];
            finite = finite && p.x - p.x == 0.0f && p.y - p.y == 0.0f && p.z - p.z == 0.0f;
        }
        if (finite)
        {
            memcpy(to + count, corners, 3 * sizeof *to);
            count += 3;
        }
    }
    return count;
}

espyResult espyiVulkanDevice_CreateMesh(void* context, const espyTriangles* triangles, bool twoSided,
                                        espyDeviceMesh* out)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    *out = (espyDeviceMesh){0};
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    for (size_t i = 0; i < (size_t)triangles->triangleCount * 3u; ++i)
    {
        if (!ESPYI_CHECK(&device->hooks, triangles->indices[i] < triangles->vertexCount))
        {
            return espyResult_InvalidArgument;
        }
    }
    if (triangles->vertexCount > 1u << 26 || triangles->triangleCount > 1u << 26)
    {
        return espyResult_LimitExceeded;
    }
    uint32_t index = 1;
    while (index < device->meshCount && device->meshes[index].alive)
    {
        ++index;
    }
    index = device->meshCount == 0 ? 0 : index;
    void* meshes = device->meshes;
    if (!espyiGrow(&device->hooks, &meshes, &device->meshCapacity, index + 1u, sizeof *device->meshes))
    {
        return espyResult_OutOfMemory;
    }
    device->meshes = (espyiVulkanMesh*)meshes;
    // Vertices start at a whole vertex, 12 bytes.
    VkDeviceSize vertexBytes = (VkDeviceSize)triangles->vertexCount * sizeof(espyVec3);
    VkDeviceSize indexBytes = (VkDeviceSize)triangles->triangleCount * 3u * sizeof(uint32_t);
    espyiVulkanMesh made = {.alive = true, .twoSided = twoSided};
    espyResult result = espyVulkan_FindBlock(device, vertexBytes + indexBytes + sizeof(espyVec3), &made.block);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiVulkanBlock* block = &device->blocks[made.block];
    VkDeviceSize start = (block->used + sizeof(espyVec3) - 1u) / sizeof(espyVec3) * sizeof(espyVec3);
    unsigned char* bytes = (unsigned char*)block->buffer.mapped + start;
    if (vertexBytes > 0)
    {
        memcpy(bytes, triangles->positions, (size_t)vertexBytes);
    }
    made.indexCount = espyVulkan_CopyIndices(triangles, (uint32_t*)(void*)(bytes + vertexBytes));
    made.vertexOffset = (int32_t)(start / sizeof(espyVec3));
    made.firstIndex = (uint32_t)((start + vertexBytes) / sizeof(uint32_t));
    block->used = start + vertexBytes + indexBytes;
    ++block->meshes;
    if (index == device->meshCount)
    {
        ++device->meshCount;
        made.generation = 1;
    }
    else
    {
        made.generation = device->meshes[index].generation;
    }
    device->meshes[index] = made;
    out->value = espyVulkan_Handle(index, made.generation);
    return espyResult_Ok;
}

void espyiVulkanDevice_DestroyMesh(void* context, espyDeviceMesh mesh)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (mesh.value == 0 || !ESPYI_CHECK(&device->hooks, espyiVulkanDevice_FindMesh(device, mesh) != NULL))
    {
        return;
    }
    espyiVulkanMesh* slot = &device->meshes[(uint32_t)mesh.value];
    espyiVulkanBlock* block = &device->blocks[slot->block];
    slot->alive = false;
    ++slot->generation;
    // The room of one mesh is not used again before its block is empty: commands may still read it.
    if (--block->meshes == 0)
    {
        espyiVulkanGarbage garbage = {.block = block->buffer};
        *block = (espyiVulkanBlock){0};
        espyVulkan_Discard(device, &garbage);
    }
}

// --- targets

bool espyiVulkan_HasStencil(VkFormat format)
{
    return format == VK_FORMAT_D16_UNORM_S8_UINT || format == VK_FORMAT_D24_UNORM_S8_UINT ||
           format == VK_FORMAT_D32_SFLOAT_S8_UINT;
}

static bool espyVulkan_HasDepth(VkFormat format)
{
    return espyiVulkan_HasStencil(format) || format == VK_FORMAT_D16_UNORM || format == VK_FORMAT_X8_D24_UNORM_PACK32 ||
           format == VK_FORMAT_D32_SFLOAT;
}

espyiVulkanTarget* espyiVulkanDevice_FindTarget(const espyiVulkanDevice* device, espyDeviceTarget target)
{
    uint32_t index = (uint32_t)target.value - 1u;
    return index < device->targetCount && device->targets[index].layers > 0 &&
                   device->targets[index].generation == (uint32_t)(target.value >> 32)
               ? &device->targets[index]
               : NULL;
}

static espyResult espyVulkan_CreateImage(espyiVulkanDevice* device, espyiVulkanTarget* target)
{
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_D32_SFLOAT,
                              .extent = {(uint32_t)target->width, (uint32_t)target->height, 1},
                              .mipLevels = 1,
                              .arrayLayers = target->layers,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .tiling = VK_IMAGE_TILING_OPTIMAL,
                              .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkDevice d = device->vulkan.device;
    VkResult result = vkCreateImage(d, &info, NULL, &target->image);
    if (result == VK_SUCCESS)
    {
        VkMemoryRequirements needs;
        vkGetImageMemoryRequirements(d, target->image, &needs);
        VkMemoryAllocateInfo memory = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
            .allocationSize = needs.size,
            .memoryTypeIndex =
                espyiVulkan_FindMemory(&device->vulkan, needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)};
        result = vkAllocateMemory(d, &memory, NULL, &target->memory);
    }
    result = result == VK_SUCCESS ? vkBindImageMemory(d, target->image, target->memory, 0) : result;
    return espyiVulkanDevice_Result(device, result);
}

static espyResult espyVulkan_CreateIds(espyiVulkanDevice* device, espyiVulkanTarget* target)
{
    const espyiVulkan* vulkan = &device->vulkan;
    VkDeviceSize pixels = (VkDeviceSize)target->width * (VkDeviceSize)target->height * target->layers * 4u;
    VkDeviceSize bits = (VkDeviceSize)espyiBits_Words(device->caps.maxIds) * 4u;
    if (pixels > vulkan->properties.limits.maxStorageBufferRange)
    {
        return espyResult_Unsupported;
    }
    const VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    espyiVulkanBuffer* buffers[4] = {&target->flags, &target->nearest, &target->pixels, &target->resolved};
    const VkDeviceSize sizes[4] = {bits, pixels, pixels, bits};
    espyResult result = espyResult_Ok;
    for (uint32_t i = 0; i < 4 && result == espyResult_Ok; ++i)
    {
        result = espyiVulkan_CreateBuffer(vulkan, sizes[i], usage, 0, local, buffers[i]);
    }
    if (result == espyResult_Ok)
    {
        result = espyiVulkan_CreateBuffer(vulkan, bits, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                          VK_MEMORY_PROPERTY_HOST_CACHED_BIT, &target->readBack);
    }
    if (result != espyResult_Ok)
    {
        return result;
    }
    VkDescriptorPoolSize poolSize = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = 4};
    VkDescriptorPoolCreateInfo poolInfo = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                           .maxSets = 1,
                                           .poolSizeCount = 1,
                                           .pPoolSizes = &poolSize};
    VkResult made = vkCreateDescriptorPool(vulkan->device, &poolInfo, NULL, &target->pool);
    if (made == VK_SUCCESS)
    {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = target->pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &device->setLayout};
        made = vkAllocateDescriptorSets(vulkan->device, &info, &target->set);
    }
    for (uint32_t i = 0; i < 4 && made == VK_SUCCESS; ++i)
    {
        VkDescriptorBufferInfo buffer = {.buffer = buffers[i]->buffer, .range = VK_WHOLE_SIZE};
        VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                      .dstSet = target->set,
                                      .dstBinding = i,
                                      .descriptorCount = 1,
                                      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                      .pBufferInfo = &buffer};
        vkUpdateDescriptorSets(vulkan->device, 1, &write, 0, NULL);
    }
    return espyiVulkanDevice_Result(device, made);
}

static espyResult espyVulkan_CreateView(espyiVulkanDevice* device, espyiVulkanTarget* target, VkFormat format,
                                        uint32_t eye)
{
    VkDevice d = device->vulkan.device;
    VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = target->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {.aspectMask = target->aspect, .levelCount = 1, .baseArrayLayer = eye, .layerCount = 1}};
    VkResult result = vkCreateImageView(d, &info, NULL, &target->views[eye]);
    if (result == VK_SUCCESS)
    {
        VkFramebufferCreateInfo frame = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                         .renderPass = device->pipelines[target->pipelines].load,
                                         .attachmentCount = 1,
                                         .pAttachments = &target->views[eye],
                                         .width = (uint32_t)target->width,
                                         .height = (uint32_t)target->height,
                                         .layers = 1};
        result = vkCreateFramebuffer(d, &frame, NULL, &target->framebuffers[eye]);
    }
    return espyiVulkanDevice_Result(device, result);
}

/// Makes what a target needs beside its image, and takes it over, also when it fails.
static espyResult espyVulkan_AddTarget(espyiVulkanDevice* device, espyiVulkanTarget* made, VkFormat format,
                                       uint32_t samples, bool reversedZ, espyDeviceTarget* out)
{
    size_t slot = 0;
    while (slot < device->targetCount && device->targets[slot].layers > 0)
    {
        ++slot;
    }
    void* targets = device->targets;
    bool fits = espyVulkan_ReserveGarbage(device) &&
                espyiGrow(&device->hooks, &targets, &device->targetCapacity, slot + 1u, sizeof *device->targets);
    device->targets = (espyiVulkanTarget*)targets;
    espyResult result = fits ? espyiVulkanDevice_FindPipelines(device, format, samples, reversedZ, &made->pipelines)
                             : espyResult_OutOfMemory;
    for (uint32_t eye = 0; eye < made->layers && result == espyResult_Ok; ++eye)
    {
        result = espyVulkan_CreateView(device, made, format, eye);
    }
    result = result == espyResult_Ok && made->ids ? espyVulkan_CreateIds(device, made) : result;
    if (result != espyResult_Ok)
    {
        espyiVulkanDevice_FreeTarget(device, made);
        return result;
    }
    if (slot == device->targetCount)
    {
        device->targets[device->targetCount++] = (espyiVulkanTarget){.generation = 1};
    }
    made->generation = device->targets[slot].generation;
    device->targets[slot] = *made;
    out->value = espyVulkan_Handle(slot + 1u, made->generation);
    return espyResult_Ok;
}

espyResult espyiVulkanDevice_CreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    *out = (espyDeviceTarget){0};
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    if (!ESPYI_CHECK(&device->hooks, def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&device->hooks, def->width >= 1 && def->width <= ESPY_RASTER_MAX_SIZE) ||
        !ESPYI_CHECK(&device->hooks, def->height >= 1 && def->height <= ESPY_RASTER_MAX_SIZE) ||
        !ESPYI_CHECK(&device->hooks, def->layers >= 1 && def->layers <= device->caps.maxLayers) ||
        !ESPYI_CHECK(&device->hooks, !def->ids || device->vulkan.fragmentStores) ||
        !ESPYI_CHECK(&device->hooks, device->passTarget == 0))
    {
        return espyResult_InvalidArgument;
    }
    espyiVulkanTarget made = {.aspect = VK_IMAGE_ASPECT_DEPTH_BIT,
                              .outside = VK_IMAGE_LAYOUT_UNDEFINED,
                              .width = def->width,
                              .height = def->height,
                              .layers = def->layers,
                              .ids = def->ids,
                              .generation = 0};
    espyResult result = espyVulkan_CreateImage(device, &made);
    if (result != espyResult_Ok)
    {
        espyiVulkanDevice_FreeTarget(device, &made);
        return result;
    }
    return espyVulkan_AddTarget(device, &made, VK_FORMAT_D32_SFLOAT, 1, def->reversedZ, out);
}

void espyiVulkanDevice_DestroyTarget(void* context, espyDeviceTarget target)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    espyiVulkanTarget* found = espyiVulkanDevice_FindTarget(device, target);
    if (target.value == 0 || !ESPYI_CHECK(&device->hooks, found != NULL))
    {
        return;
    }
    if (device->passTarget == (uint32_t)target.value)
    {
        (void)espyiVulkanDevice_EndPass(device);
    }
    espyiVulkanGarbage garbage = {.target = *found};
    *found = (espyiVulkanTarget){.generation = found->generation + 1u};
    espyVulkan_Discard(device, &garbage);
}

espyVulkanDepthDef espyVulkanDepthDef_Default(void)
{
    return (espyVulkanDepthDef){.format = VK_FORMAT_D32_SFLOAT,
                                .layout = ESPYI_VULKAN_LAYOUT,
                                .layers = 1,
                                .samples = 1,
                                .cookie = ESPY_DEF_COOKIE};
}

espyResult espyVulkanDevice_WrapDepth(espyDevice* device, const espyVulkanDepthDef* def, espyDeviceTarget* out)
{
    *out = (espyDeviceTarget){0};
    if (device->poll != espyiVulkanDevice_Poll)
    {
        return espyResult_InvalidArgument;
    }
    espyiVulkanDevice* vulkan = (espyiVulkanDevice*)device->context;
    if (vulkan->lost)
    {
        return espyResult_DeviceLost;
    }
    if (!ESPYI_CHECK(&vulkan->hooks, def->cookie == ESPY_DEF_COOKIE && def->image != 0) ||
        !ESPYI_CHECK(&vulkan->hooks, def->width >= 1 && def->height >= 1) ||
        !ESPYI_CHECK(&vulkan->hooks, def->layers >= 1 && def->layers <= vulkan->caps.maxLayers) ||
        !ESPYI_CHECK(&vulkan->hooks, def->layout != VK_IMAGE_LAYOUT_UNDEFINED) ||
        !ESPYI_CHECK(&vulkan->hooks, !def->ids || vulkan->vulkan.fragmentStores) ||
        !ESPYI_CHECK(&vulkan->hooks, vulkan->passTarget == 0))
    {
        return espyResult_InvalidArgument;
    }
    VkFormat format = (VkFormat)def->format;
    bool known = def->samples != 0 && (def->samples & (def->samples - 1u)) == 0 &&
                 (vulkan->vulkan.properties.limits.framebufferDepthSampleCounts & def->samples) != 0;
    if (!espyVulkan_HasDepth(format) || !known)
    {
        return espyResult_Unsupported;
    }
    espyiVulkanTarget made = {
        .aspect = VK_IMAGE_ASPECT_DEPTH_BIT |
                  (espyiVulkan_HasStencil(format) ? (VkImageAspectFlags)VK_IMAGE_ASPECT_STENCIL_BIT : 0u),
        .outside = (VkImageLayout)def->layout,
        .width = def->width,
        .height = def->height,
        .layers = def->layers,
        .ids = def->ids,
        .borrowed = true};
    _Static_assert(sizeof(VkImage) == sizeof def->image, "a pointer of 64 bits or a number of as many");
    memcpy(&made.image, &def->image, sizeof def->image);
    return espyVulkan_AddTarget(vulkan, &made, format, def->samples, def->reversedZ, out);
}
