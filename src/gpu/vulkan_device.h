// SPDX-License-Identifier: MIT
// What a Vulkan device is made of. Frames are in vulkan_frame.c, meshes and targets in vulkan_objects.c, pipelines in
// vulkan_pipelines.c, life in vulkan_device.c.
#ifndef ESPYI_VULKAN_DEVICE_H
#define ESPYI_VULKAN_DEVICE_H

#include <espy/device_vulkan.h>

#include "gpu/vulkan_boot.h"

#define ESPYI_VULKAN_MAX_FRAMES 8u
#define ESPYI_VULKAN_LAYOUT VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL

/// What the vertex shader takes an instance.
typedef struct espyiVulkanRecord
{
    float clip[16];
    uint32_t id;
    uint32_t unused[3];
} espyiVulkanRecord;

/// As in ids.glsl.
typedef struct espyiVulkanScreen
{
    uint32_t width, firstPixel, reversedZ, pixelCount;
} espyiVulkanScreen;

typedef enum espyiVulkanDraw
{
    espyiVulkanDraw_Front = 0, ///< Depth of counter-clockwise faces ...
    espyiVulkanDraw_Back,      ///< ... of clockwise ones: a transform that mirrors ...
    espyiVulkanDraw_Both,      ///< ... of both.
    espyiVulkanDraw_Probe,     ///< Depth test alone.
    espyiVulkanDraw_Flag,
    espyiVulkanDraw_Nearest,
    espyiVulkanDraw_Pick,
    espyiVulkanDraw_Count,
} espyiVulkanDraw;

/// Render passes and pipelines of one kind of target.
typedef struct espyiVulkanPipelines
{
    VkFormat format;
    uint32_t samples;
    bool reversedZ;
    VkRenderPass load, clear;
    VkPipeline draws[espyiVulkanDraw_Count];
} espyiVulkanPipelines;

/// Where vertices and indices of many meshes lie, one after the other.
typedef struct espyiVulkanBlock
{
    espyiVulkanBuffer buffer; ///< None: the place is free.
    VkDeviceSize used;
    uint32_t meshes; ///< Alive.
} espyiVulkanBlock;

typedef struct espyiVulkanMesh
{
    uint32_t block, firstIndex, indexCount; ///< No indices: nothing is drawn.
    int32_t vertexOffset;
    uint32_t generation;
    bool alive, twoSided;
} espyiVulkanMesh;

typedef struct espyiVulkanTarget
{
    VkImage image;
    VkDeviceMemory memory;                     ///< Null where the image is the caller's.
    VkImageView views[ESPY_DEVICE_MAX_LAYERS]; ///< An eye each.
    VkFramebuffer framebuffers[ESPY_DEVICE_MAX_LAYERS];
    VkImageAspectFlags aspect;
    VkImageLayout outside; ///< Between passes; UNDEFINED before the first of an own image.
    espyiVulkanBuffer flags, nearest, pixels, resolved, readBack;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    uint32_t pipelines; ///< Index.
    int32_t width, height;
    uint32_t layers; ///< 0: the place is free.
    uint32_t generation;
    bool ids, idsClear, borrowed;
} espyiVulkanTarget;

/// What a query needs until its answer is given.
typedef struct espyiVulkanAsked
{
    uint64_t tag;
    uint32_t first, places, stride; ///< In the pool: a place an eye, this many apart.
} espyiVulkanAsked;

/// One place of the ring.
typedef struct espyiVulkanFrame
{
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkQueryPool queries;
    espyiVulkanBuffer records; ///< espyiVulkanRecord, written by the host.
    espyiVulkanBuffer results; ///< uint64_t, read by the host.
    espyiVulkanAsked* asked;
    uint32_t askedCount, given, placesUsed, placesCopied, recordCount;
    uint32_t toReset;               ///< Places of the pool that were used before.
    uint64_t ordinal, frame, value; ///< Of the timeline, at its end.
    bool ended;
} espyiVulkanFrame;

/// What lives until the device is past a value of the timeline.
typedef struct espyiVulkanGarbage
{
    uint64_t value;
    espyiVulkanTarget target;
    espyiVulkanBuffer block;
} espyiVulkanGarbage;

typedef struct espyiVulkanDevice
{
    espyiVulkan vulkan;
    espyHooks hooks;
    espyDeviceCaps caps;
    VkDescriptorSetLayout setLayout;
    VkPipelineLayout layout;
    VkPipeline resolve;
    espyiVulkanPipelines* pipelines;
    size_t pipelineCount, pipelineCapacity;
    espyiVulkanBlock* blocks;
    size_t blockCount, blockCapacity;
    espyiVulkanMesh* meshes; ///< The first is the box.
    size_t meshCount, meshCapacity;
    espyiVulkanTarget* targets;
    size_t targetCount, targetCapacity;
    espyiVulkanGarbage* garbage;
    size_t garbageCount, garbageCapacity;
    espyiVulkanFrame frames[ESPYI_VULKAN_MAX_FRAMES];
    uint32_t frameCount;
    VkSemaphore timeline;
    uint64_t submitted, completed; ///< Values of the timeline.
    uint64_t frame, ordinal;
    espyiVulkanFrame* now; ///< Of the frame that is begun; null: its place was still in use.
    bool inFrame, lost;
    espyDevicePass pass;
    uint32_t passTarget; ///< Index + 1; 0: no pass is begun.
    uint32_t passClears; ///< One bit an eye: its first render pass is to clear.
    uint32_t drawing;    ///< Within a render pass of this eye, from 1; 0: of none.
    bool flips;          ///< The view mirrors, of the first eye.
} espyiVulkanDevice;

/// Remembers a loss.
espyResult espyiVulkanDevice_Result(espyiVulkanDevice* device, VkResult result);
/// As if the driver had reported it. For tests.
void espyiVulkanDevice_Lose(espyDevice* device);

// --- pipelines

/// Layouts and the pipeline that resolves ids.
espyResult espyiVulkanDevice_CreateLayouts(espyiVulkanDevice* device);
/// Index of the pipelines of a kind of target, made where there are none yet.
espyResult espyiVulkanDevice_FindPipelines(espyiVulkanDevice* device, VkFormat format, uint32_t samples, bool reversedZ,
                                           uint32_t* out);
void espyiVulkanDevice_DestroyPipelines(espyiVulkanDevice* device);

// --- objects

espyResult espyiVulkanDevice_CreateMesh(void* context, const espyTriangles* triangles, bool twoSided,
                                        espyDeviceMesh* out);
void espyiVulkanDevice_DestroyMesh(void* context, espyDeviceMesh mesh);
espyResult espyiVulkanDevice_CreateTarget(void* context, const espyDeviceTargetDef* def, espyDeviceTarget* out);
void espyiVulkanDevice_DestroyTarget(void* context, espyDeviceTarget target);
/// Null where a handle names nothing that is alive.
const espyiVulkanMesh* espyiVulkanDevice_FindMesh(const espyiVulkanDevice* device, espyDeviceMesh mesh);
espyiVulkanTarget* espyiVulkanDevice_FindTarget(const espyiVulkanDevice* device, espyDeviceTarget target);
/// Frees what the device is past, or with `all` everything.
void espyiVulkanDevice_Sweep(espyiVulkanDevice* device, bool all);
void espyiVulkanDevice_FreeTarget(const espyiVulkanDevice* device, espyiVulkanTarget* target);
bool espyiVulkan_HasStencil(VkFormat format);

// --- frames

espyResult espyiVulkanDevice_BeginFrame(void* context, uint64_t frame);
espyResult espyiVulkanDevice_BeginPass(void* context, const espyDevicePass* pass);
espyResult espyiVulkanDevice_DrawDepth(void* context, const espyDeviceDraw* draws, uint32_t count);
espyResult espyiVulkanDevice_DrawIds(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode);
espyResult espyiVulkanDevice_Query(void* context, const espyDeviceQuery* queries, uint32_t count,
                                   const espyDeviceDraw* proxies, uint32_t proxyCount);
espyResult espyiVulkanDevice_EndPass(void* context);
espyResult espyiVulkanDevice_EndFrame(void* context);

// --- reading

espyResult espyiVulkanDevice_ReadIds(void* context, espyDeviceTarget target, uint32_t idCount, uint32_t* bits);
uint32_t espyiVulkanDevice_Poll(void* context, espyDeviceAnswer* out, uint32_t capacity);
espyResult espyiVulkanDevice_ReadPixels(void* context, espyDeviceTarget target, float* depth, uint32_t* ids);
/// Asks the timeline how far the device is.
espyResult espyiVulkanDevice_Look(espyiVulkanDevice* device);
/// Submits what the frame recorded so far; afterwards nothing is recorded.
espyResult espyiVulkanDevice_Submit(espyiVulkanDevice* device);
espyResult espyiVulkanDevice_StartCommands(espyiVulkanDevice* device);
/// Waits for all that was submitted, ten seconds at most: then the device counts as lost.
espyResult espyiVulkanDevice_Wait(espyiVulkanDevice* device);

#endif
