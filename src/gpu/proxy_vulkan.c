// SPDX-License-Identifier: MIT
// The proxy pass as a compute dispatch, after two that measure the light where it is not known. Each frame in flight
// has a buffer that the host writes, cut into the sections that the shader reads, and a descriptor set that is written
// anew.
#include <espy/proxy_vulkan.h>

#include <string.h>

#include "gpu/proxy_shaders.inc"
#include "gpu/vulkan_boot.h"
#include "proxy/proxy_math.h"

#define ESPY_FRAMES_MAX 8u
#define ESPY_SIZE_MAX 16384u

/// Bindings of espy_proxy.comp.
enum
{
    espyBinding_Frame,
    espyBinding_Entries,
    espyBinding_Nodes,
    espyBinding_Leaves,
    espyBinding_Tiles,
    espyBinding_Groups,
    espyBinding_Indices,
    espyBinding_Pixels,
    espyBinding_Owners,
    espyBinding_Depth,
    espyBinding_Normal,
    espyBinding_Albedo,
    espyBinding_Emissive,
    espyBinding_Target,
    espyBinding_Measured,
    espyBinding_Count,
    espyBinding_Sections = espyBinding_Owners, ///< Of the frame's own buffer.
};

/// Bits of espyProxyFrame.flags; the shader's names are ESPY_FRAME_...
enum
{
    espyFrame_Normal = 1,
    espyFrame_Emissive = 2,
    espyFrame_Metal = 4,
    espyFrame_Owner = 8,
    espyFrame_Solid = 16,
    espyFrame_Estimate = 32,
    espyFrame_Lists = 64,
    espyFrame_Tree = 128,
    espyFrame_Measured = 256,
};

/// EspyFrame of the shader.
typedef struct espyProxyFrame
{
    float fromDepth[16];
    float background, intensity, power, minDistance;
    float maxDistance, detail, reference;
    uint32_t flags;
    uint32_t width, height, tilesX, entryCount;
    uint32_t levels;
    uint32_t levelStart[ESPY_PROXY_LEVELS], levelCount[ESPY_PROXY_LEVELS];
    float keep;
} espyProxyFrame;

/// EspyMeasured of the shader.
typedef struct espyProxyMeasured
{
    float reference;
    uint32_t counts[128], highs[128], lows[128];
} espyProxyMeasured;

typedef struct espyProxySection
{
    const void* data;
    size_t size;
} espyProxySection;

struct espyProxyVulkan
{
    espyiVulkan vulkan;
    espyProxyVulkanTarget target;
    uint32_t frames;
    VkDescriptorSetLayout setLayout;
    VkPipelineLayout layout;
    VkPipeline pipeline, count, resolve; ///< The last two: null with the target Visibility.
    VkDescriptorPool pool;
    VkDescriptorSet sets[ESPY_FRAMES_MAX];
    espyiVulkanBuffer buffers[ESPY_FRAMES_MAX];
    espyiVulkanBuffer measured;
    bool cleared; ///< `measured` holds zeros or what frames before left.
    espyProxyVulkanRoom room;
};

espyProxyVulkanDef espyProxyVulkanDef_Default(void)
{
    return (espyProxyVulkanDef){.framesInFlight = 3, .cookie = ESPY_DEF_COOKIE};
}

// --- lifetime

static VkDescriptorType espyProxyVulkan_GetType(uint32_t binding)
{
    if (binding <= espyBinding_Owners || binding == espyBinding_Measured)
    {
        return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    }
    return binding == espyBinding_Target ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE : VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
}

static VkResult espyProxyVulkan_CreateLayouts(espyProxyVulkan* gpu)
{
    VkDescriptorSetLayoutBinding bindings[espyBinding_Count];
    for (uint32_t i = 0; i < espyBinding_Count; ++i)
    {
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = espyProxyVulkan_GetType(i),
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo setInfo = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                               .bindingCount = espyBinding_Count,
                                               .pBindings = bindings};
    VkResult result = vkCreateDescriptorSetLayout(gpu->vulkan.device, &setInfo, NULL, &gpu->setLayout);
    if (result != VK_SUCCESS)
    {
        return result;
    }
    VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1, .pSetLayouts = &gpu->setLayout};
    return vkCreatePipelineLayout(gpu->vulkan.device, &info, NULL, &gpu->layout);
}

static VkResult espyProxyVulkan_CreateSets(espyProxyVulkan* gpu)
{
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (espyBinding_Owners + 2u) * gpu->frames},
        {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, (espyBinding_Target - espyBinding_Depth) * gpu->frames},
        {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, gpu->frames},
    };
    VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = gpu->frames,
                                       .poolSizeCount = ESPYI_ARRAY_COUNT(sizes),
                                       .pPoolSizes = sizes};
    VkResult result = vkCreateDescriptorPool(gpu->vulkan.device, &info, NULL, &gpu->pool);
    if (result != VK_SUCCESS)
    {
        return result;
    }
    VkDescriptorSetLayout layouts[ESPY_FRAMES_MAX];
    for (uint32_t i = 0; i < gpu->frames; ++i)
    {
        layouts[i] = gpu->setLayout;
    }
    VkDescriptorSetAllocateInfo sets = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = gpu->pool,
                                        .descriptorSetCount = gpu->frames,
                                        .pSetLayouts = layouts};
    return vkAllocateDescriptorSets(gpu->vulkan.device, &sets, gpu->sets);
}

static espyResult espyProxyVulkan_CreatePipelines(espyProxyVulkan* gpu)
{
    const struct
    {
        const uint32_t *words, *count;
        size_t size, countSize;
    } shaders[] = {
        {espySpirv_ProxyVisibility, NULL, sizeof espySpirv_ProxyVisibility, 0},
        {espySpirv_ProxyRgba16f, espySpirv_ProxyCount16f, sizeof espySpirv_ProxyRgba16f,
         sizeof espySpirv_ProxyCount16f},
        {espySpirv_ProxyRgba32f, espySpirv_ProxyCount32f, sizeof espySpirv_ProxyRgba32f,
         sizeof espySpirv_ProxyCount32f},
    };
    const espyiVulkan* v = &gpu->vulkan;
    espyResult result = espyiVulkan_CreateCompute(v, shaders[gpu->target].words, shaders[gpu->target].size, gpu->layout,
                                                  &gpu->pipeline);
    if (result == espyResult_Ok && shaders[gpu->target].count)
    {
        result = espyiVulkan_CreateCompute(v, shaders[gpu->target].count, shaders[gpu->target].countSize, gpu->layout,
                                           &gpu->count);
    }
    if (result == espyResult_Ok && shaders[gpu->target].count)
    {
        result = espyiVulkan_CreateCompute(v, espySpirv_ProxyResolve, sizeof espySpirv_ProxyResolve, gpu->layout,
                                           &gpu->resolve);
    }
    return result;
}

espyResult espyProxyVulkan_Create(const espyProxyVulkanDef* def, espyProxyVulkan** out)
{
    espyHooks hooks = espyiHooks_Resolve(def ? &def->hooks : NULL);
    *out = NULL;
    if (!ESPYI_CHECK(&hooks, def != NULL && def->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&hooks, def->instance && def->physicalDevice && def->device) ||
        !ESPYI_CHECK(&hooks, (uint32_t)def->target <= (uint32_t)espyProxyVulkanTarget_Rgba32f &&
                                 def->framesInFlight >= 1u && def->framesInFlight <= ESPY_FRAMES_MAX))
    {
        return espyResult_InvalidArgument;
    }
    espyProxyVulkan* gpu = espyiAlloc(&hooks, 1, sizeof *gpu);
    if (!gpu)
    {
        return espyResult_OutOfMemory;
    }
    gpu->target = def->target;
    gpu->frames = def->framesInFlight;
    espyiVulkanWish wish = {
        .hooks = hooks, .instance = def->instance, .physical = def->physicalDevice, .device = def->device};
    espyResult result = espyiVulkan_Boot(&wish, &gpu->vulkan);
    result = result == espyResult_Ok ? espyiVulkan_Result(espyProxyVulkan_CreateLayouts(gpu)) : result;
    result = result == espyResult_Ok ? espyiVulkan_Result(espyProxyVulkan_CreateSets(gpu)) : result;
    result = result == espyResult_Ok ? espyProxyVulkan_CreatePipelines(gpu) : result;
    if (result != espyResult_Ok)
    {
        espyProxyVulkan_Destroy(gpu);
        return result;
    }
    *out = gpu;
    return espyResult_Ok;
}

static void espyProxyVulkan_Release(espyProxyVulkan* gpu)
{
    for (uint32_t i = 0; i < gpu->frames; ++i)
    {
        espyiVulkan_DestroyBuffer(&gpu->vulkan, &gpu->buffers[i]);
    }
    espyiVulkan_DestroyBuffer(&gpu->vulkan, &gpu->measured);
    gpu->cleared = false;
    gpu->room = (espyProxyVulkanRoom){0};
}

void espyProxyVulkan_Destroy(espyProxyVulkan* gpu)
{
    if (!gpu)
    {
        return;
    }
    espyHooks hooks = gpu->vulkan.hooks;
    VkDevice device = gpu->vulkan.device;
    espyProxyVulkan_Release(gpu);
    vkDestroyPipeline(device, gpu->pipeline, NULL);
    vkDestroyPipeline(device, gpu->count, NULL);
    vkDestroyPipeline(device, gpu->resolve, NULL);
    vkDestroyDescriptorPool(device, gpu->pool, NULL);
    vkDestroyPipelineLayout(device, gpu->layout, NULL);
    vkDestroyDescriptorSetLayout(device, gpu->setLayout, NULL);
    espyiVulkan_Shut(&gpu->vulkan);
    espyiFree(&hooks, gpu);
}

// --- room

static uint64_t espyProxyVulkan_Align(const espyProxyVulkan* gpu, uint64_t size)
{
    // A power of two.
    uint64_t align = gpu->vulkan.properties.limits.minStorageBufferOffsetAlignment;
    align = align < 16u ? 16u : align;
    return (size + align - 1u) & ~(align - 1u);
}

/// Bytes of one frame's buffer.
static uint64_t espyProxyVulkan_CountBytes(const espyProxyVulkan* gpu, const espyProxyVulkanRoom* room)
{
    uint64_t tiles = (uint64_t)((room->width + 15u) / ESPY_PROXY_TILE) * ((room->height + 15u) / ESPY_PROXY_TILE);
    uint64_t nodes = 0, pixels = (uint64_t)room->width * room->height;
    for (uint64_t level = room->entries; level > 0;
         level = level > 1u ? (level + ESPY_PROXY_BRANCH - 1u) / ESPY_PROXY_BRANCH : 0u)
    {
        nodes += level;
    }
    const uint64_t sizes[] = {
        sizeof(espyProxyFrame),           room->entries * sizeof(espyProxyEntry),
        nodes * sizeof(espyProxyNode),    room->entries * sizeof(uint32_t),
        (tiles + 1u) * sizeof(uint32_t),  (tiles * ESPY_PROXY_TILE_GROUPS + 1u) * sizeof(espyProxyGroup),
        room->indices * sizeof(uint32_t), pixels};
    uint64_t total = 0;
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(sizes); ++i)
    {
        total += espyProxyVulkan_Align(gpu, sizes[i] + 16u);
    }
    return total;
}

espyResult espyProxyVulkan_Reserve(espyProxyVulkan* gpu, const espyProxyVulkanRoom* room)
{
    espyProxyVulkanRoom wanted = *room;
    if (!ESPYI_CHECK(&gpu->vulkan.hooks, wanted.width <= ESPY_SIZE_MAX && wanted.height <= ESPY_SIZE_MAX))
    {
        return espyResult_InvalidArgument;
    }
    if (wanted.entries == 0)
    {
        espyProxyVulkan_Release(gpu);
        return espyResult_Ok;
    }
    const espyProxyVulkanRoom* held = &gpu->room;
    if (held->entries >= wanted.entries && held->indices >= wanted.indices && held->width >= wanted.width &&
        held->height >= wanted.height)
    {
        return espyResult_Ok;
    }
    uint64_t bytes = espyProxyVulkan_CountBytes(gpu, &wanted);
    espyProxyVulkan_Release(gpu);
    espyResult result = espyiVulkan_CreateBuffer(&gpu->vulkan, sizeof(espyProxyMeasured),
                                                 VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                                 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &gpu->measured);
    for (uint32_t i = 0; i < gpu->frames && result == espyResult_Ok; ++i)
    {
        result = espyiVulkan_CreateBuffer(&gpu->vulkan, bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                          VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                          VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &gpu->buffers[i]);
    }
    if (result != espyResult_Ok)
    {
        espyProxyVulkan_Release(gpu);
        return result;
    }
    gpu->room = wanted;
    return espyResult_Ok;
}

// --- recording

/// True where the light of an unshadowed surface is wanted and not known.
static bool espyProxyVulkan_Measures(const espyProxyVulkan* gpu, const espyProxySettings* settings,
                                     const espyProxyVulkanImages* images)
{
    return gpu->target != espyProxyVulkanTarget_Visibility && settings->mode == espyProxyMode_Estimate &&
           !(images->expectedLight > 0.0f);
}

static void espyProxyVulkan_FillFrame(const espyProxyVulkan* gpu, const espyProxySettings* settings,
                                      const espyProxyLists* lists, const espyProxyVulkanImages* images,
                                      espyProxyFrame* frame)
{
    bool lit = gpu->target != espyProxyVulkanTarget_Visibility;
    *frame = (espyProxyFrame){.background = lists->background,
                              .intensity = settings->intensity,
                              .power = settings->power,
                              .minDistance = settings->minDistance,
                              .maxDistance = settings->maxDistance,
                              .detail = settings->detail,
                              .reference = images->expectedLight,
                              .width = images->width,
                              .height = images->height,
                              .tilesX = lists->tilesX,
                              .entryCount = lists->entryCount,
                              .levels = lists->levels};
    memcpy(frame->fromDepth, lists->fromDepth.m, sizeof frame->fromDepth);
    memcpy(frame->levelStart, lists->levelStart, sizeof frame->levelStart);
    memcpy(frame->levelCount, lists->levelCount, sizeof frame->levelCount);
    frame->flags |= images->normal ? espyFrame_Normal : 0u;
    frame->flags |= images->emissive ? espyFrame_Emissive : 0u;
    frame->flags |= images->metalInAlbedo ? espyFrame_Metal : 0u;
    frame->flags |= images->owner ? espyFrame_Owner : 0u;
    frame->flags |= settings->inside == espyCapsuleInside_Solid ? espyFrame_Solid : 0u;
    frame->flags |= lit && settings->mode == espyProxyMode_Estimate ? espyFrame_Estimate : 0u;
    frame->flags |= espyProxyVulkan_Measures(gpu, settings, images) ? espyFrame_Measured : 0u;
    // Half a second to follow a change, as on the processor.
    frame->keep = images->deltaTime > 0.0f ? espyiFloat_Exp2(-1.44269504f / 0.5f * images->deltaTime) : 0.0f;
    frame->flags |= lists->tiles ? espyFrame_Lists : lists->nodes ? espyFrame_Tree : 0u;
}

static void espyProxyVulkan_ListSections(const espyProxyLists* lists, const espyProxyFrame* frame,
                                         espyProxySection sections[espyBinding_Sections])
{
    size_t tiles = (size_t)lists->tilesX * lists->tilesY, groups = lists->tiles ? lists->tiles[tiles] : 0u;
    sections[espyBinding_Frame] = (espyProxySection){frame, sizeof *frame};
    sections[espyBinding_Entries] = (espyProxySection){lists->entries, lists->entryCount * sizeof *lists->entries};
    sections[espyBinding_Nodes] = (espyProxySection){lists->nodes, lists->nodeCount * sizeof *lists->nodes};
    sections[espyBinding_Leaves] =
        (espyProxySection){lists->leafEntries, lists->nodes ? lists->entryCount * sizeof *lists->leafEntries : 0u};
    sections[espyBinding_Tiles] =
        (espyProxySection){lists->tiles, lists->tiles ? (tiles + 1u) * sizeof *lists->tiles : 0u};
    sections[espyBinding_Groups] =
        (espyProxySection){lists->groups, lists->groups ? (groups + 1u) * sizeof *lists->groups : 0u};
    sections[espyBinding_Indices] = (espyProxySection){
        lists->indices, lists->groups ? lists->groups[groups].firstEntry * sizeof *lists->indices : 0u};
    sections[espyBinding_Pixels] =
        (espyProxySection){lists->pixels, lists->pixels ? (size_t)lists->width * lists->height : 0u};
}

/// Copies the sections into the frame's buffer; false where they do not fit.
static bool espyProxyVulkan_CopySections(const espyProxyVulkan* gpu, const espyProxySection* sections,
                                         const espyiVulkanBuffer* buffer,
                                         VkDescriptorBufferInfo infos[espyBinding_Sections])
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < espyBinding_Sections; ++i)
    {
        // Nothing is a section of some bytes too: a binding must have a range.
        uint64_t size = sections[i].size < 16u ? 16u : (sections[i].size + 3u) & ~(uint64_t)3u;
        if (at + size > buffer->size)
        {
            return false;
        }
        if (sections[i].data && sections[i].size > 0)
        {
            memcpy((uint8_t*)buffer->mapped + at, sections[i].data, sections[i].size);
        }
        infos[i] = (VkDescriptorBufferInfo){.buffer = buffer->buffer, .offset = at, .range = size};
        at = espyProxyVulkan_Align(gpu, at + size);
    }
    return true;
}

static void espyProxyVulkan_WriteSet(const espyProxyVulkan* gpu, VkDescriptorSet set,
                                     const espyProxyVulkanImages* images,
                                     const VkDescriptorBufferInfo infos[espyBinding_Sections])
{
    VkDescriptorBufferInfo owner = {.buffer = (VkBuffer)(uintptr_t)images->owner, .range = VK_WHOLE_SIZE};
    VkDescriptorBufferInfo measured = {.buffer = gpu->measured.buffer, .range = VK_WHOLE_SIZE};
    owner = images->owner ? owner : infos[espyBinding_Frame];
    // What is missing is not read; depth stands in for it.
    const uint64_t views[] = {images->depth, images->normal ? images->normal : images->depth,
                              images->albedo ? images->albedo : images->depth,
                              images->emissive ? images->emissive : images->depth, images->target};
    VkDescriptorImageInfo imageInfos[espyBinding_Count - espyBinding_Depth];
    VkWriteDescriptorSet writes[espyBinding_Count];
    for (uint32_t i = 0; i < espyBinding_Count; ++i)
    {
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = espyProxyVulkan_GetType(i)};
        if (i < espyBinding_Depth || i == espyBinding_Measured)
        {
            const VkDescriptorBufferInfo* other = i == espyBinding_Measured ? &measured : &owner;
            writes[i].pBufferInfo = i < espyBinding_Sections ? &infos[i] : other;
            continue;
        }
        imageInfos[i - espyBinding_Depth] =
            (VkDescriptorImageInfo){.imageView = (VkImageView)(uintptr_t)views[i - espyBinding_Depth],
                                    .imageLayout = i == espyBinding_Target ? VK_IMAGE_LAYOUT_GENERAL
                                                                           : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
        writes[i].pImageInfo = &imageInfos[i - espyBinding_Depth];
    }
    vkUpdateDescriptorSets(gpu->vulkan.device, espyBinding_Count, writes, 0, NULL);
}

static bool espyProxyVulkan_CheckImages(const espyProxyVulkan* gpu, const espyProxySettings* settings,
                                        const espyProxyLists* lists, const espyProxyVulkanImages* images)
{
    bool sized = images->width >= 1u && images->width <= ESPY_SIZE_MAX && images->height >= 1u &&
                 images->height <= ESPY_SIZE_MAX;
    bool same = !lists->tiles || (lists->width == images->width && lists->height == images->height);
    bool estimate = gpu->target != espyProxyVulkanTarget_Visibility && settings->mode == espyProxyMode_Estimate;
    return sized && same && images->depth && images->target && (!estimate || images->albedo);
}

static void espyProxyVulkan_Wait(VkCommandBuffer commands)
{
    espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                        VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                        VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

/// Two dispatches and what lies between frames, the two and the pass.
static void espyProxyVulkan_RecordMeasure(espyProxyVulkan* gpu, VkCommandBuffer commands, uint32_t width,
                                          uint32_t height)
{
    if (!gpu->cleared)
    {
        vkCmdFillBuffer(commands, gpu->measured.buffer, 0, VK_WHOLE_SIZE, 0);
        gpu->cleared = true;
    }
    espyProxyVulkan_Wait(commands);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->count);
    vkCmdDispatch(commands, (width + 31u) / 32u, (height + 31u) / 32u, 1);
    espyProxyVulkan_Wait(commands);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->resolve);
    vkCmdDispatch(commands, 1, 1, 1);
    espyProxyVulkan_Wait(commands);
}

espyResult espyProxyVulkan_Record(espyProxyVulkan* gpu, struct VkCommandBuffer_T* commands, uint64_t frame,
                                  const espyProxySettings* settings, const espyProxyLists* lists,
                                  const espyProxyVulkanImages* images)
{
    const espyHooks* hooks = &gpu->vulkan.hooks;
    if (!ESPYI_CHECK(hooks, settings->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    if (lists->entryCount == 0 || settings->intensity == 0.0f)
    {
        return espyResult_Ok;
    }
    if (!ESPYI_CHECK(hooks, espyProxyVulkan_CheckImages(gpu, settings, lists, images)))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t place = (uint32_t)(frame % gpu->frames);
    espyProxyFrame numbers;
    espyProxySection sections[espyBinding_Sections];
    VkDescriptorBufferInfo infos[espyBinding_Sections];
    espyProxyVulkan_FillFrame(gpu, settings, lists, images, &numbers);
    espyProxyVulkan_ListSections(lists, &numbers, sections);
    if (!espyProxyVulkan_CopySections(gpu, sections, &gpu->buffers[place], infos))
    {
        return espyResult_LimitExceeded;
    }
    espyProxyVulkan_WriteSet(gpu, gpu->sets[place], images, infos);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->layout, 0, 1, &gpu->sets[place], 0, NULL);
    if (espyProxyVulkan_Measures(gpu, settings, images))
    {
        espyProxyVulkan_RecordMeasure(gpu, commands, images->width, images->height);
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->pipeline);
    vkCmdDispatch(commands, (images->width + 15u) / 16u, (images->height + 15u) / 16u, 1);
    return espyResult_Ok;
}
