// SPDX-License-Identifier: MIT
// Frames of a Vulkan device: what is recorded, in which order, behind which barriers.
//
//     frame    reset of the queries that this place of the ring used before
//       pass     layout; ids cleared; then render passes, cut where one draw has to see what another left
//       pass     ...; behind each the values of its queries are copied to where the host reads them
//     end      one submission that signals the timeline
//
// A barrier stands only between things that touch the same: clears and testers, both halves of mode Index.
#include "gpu/vulkan_device.h"

#include <string.h>

#define ESPY_ID_STAGES (VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT)
#define ESPY_ID_ACCESS (VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT)

// --- passes

static espyiVulkanTarget* espyVulkan_PassTarget(espyiVulkanDevice* device)
{
    return &device->targets[device->passTarget - 1u];
}

static void espyVulkan_StopDrawing(espyiVulkanDevice* device)
{
    if (device->drawing != 0)
    {
        vkCmdEndRenderPass(device->now->commands);
        device->drawing = 0;
    }
}

/// Makes sure that what follows draws to an eye. One eye after the other: within a render pass of both, drivers share
/// out the counts of queries as they like, and some get one of the eyes wrong (lavapipe 22.3).
static void espyVulkan_StartDrawing(espyiVulkanDevice* device, uint32_t eye)
{
    if (device->drawing == eye + 1u)
    {
        return;
    }
    espyVulkan_StopDrawing(device);
    const espyiVulkanTarget* target = espyVulkan_PassTarget(device);
    const espyiVulkanPipelines* kind = &device->pipelines[target->pipelines];
    VkCommandBuffer commands = device->now->commands;
    uint32_t width = (uint32_t)target->width, height = (uint32_t)target->height;
    VkClearValue far = {.depthStencil = {.depth = kind->reversedZ ? 0.0f : 1.0f}};
    VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                  .renderPass = (device->passClears >> eye & 1u) != 0 ? kind->clear : kind->load,
                                  .framebuffer = target->framebuffers[eye],
                                  .renderArea = {.extent = {width, height}},
                                  .clearValueCount = 1,
                                  .pClearValues = &far};
    vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    // Turned over: y of clip space runs up.
    VkViewport viewport = {0.0f, (float)height, (float)width, -(float)height, 0.0f, 1.0f};
    VkRect2D scissor = {{0, 0}, {width, height}};
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &scissor);
    const VkDeviceSize offset = 0;
    vkCmdBindVertexBuffers(commands, 1, 1, &device->now->records.buffer, &offset);
    if (target->ids)
    {
        uint32_t pixels = width * height;
        espyiVulkanScreen screen = {width, eye * pixels, kind->reversedZ ? 1u : 0u, pixels * target->layers};
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, device->layout, 0, 1, &target->set, 0, NULL);
        vkCmdPushConstants(commands, device->layout, VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof screen, &screen);
    }
    device->passClears &= ~(1u << eye);
    device->drawing = eye + 1u;
}

/// Ends what is drawn, so that what follows comes behind it, and behind the clear in any case.
static void espyVulkan_Separate(espyiVulkanDevice* device)
{
    for (uint32_t eye = 0; eye < ESPY_DEVICE_MAX_LAYERS; ++eye)
    {
        if ((device->passClears >> eye & 1u) != 0)
        {
            espyVulkan_StartDrawing(device, eye);
        }
    }
    espyVulkan_StopDrawing(device);
}

/// From where the caller's image is between passes, or back.
static void espyVulkan_Move(const espyiVulkanDevice* device, const espyiVulkanTarget* target, bool in)
{
    const VkPipelineStageFlags tests =
        VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags access =
        VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkAccessFlags any = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = in ? any : access,
        .dstAccessMask = in ? access : any,
        .oldLayout = in ? target->outside : ESPYI_VULKAN_LAYOUT,
        .newLayout = in ? ESPYI_VULKAN_LAYOUT : target->outside,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = target->image,
        .subresourceRange = {.aspectMask = target->aspect, .levelCount = 1, .layerCount = target->layers}};
    vkCmdPipelineBarrier(device->now->commands, in ? all : tests, in ? tests : all, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void espyVulkan_ClearIds(const espyiVulkanDevice* device, const espyiVulkanTarget* target)
{
    VkCommandBuffer commands = device->now->commands;
    espyiVulkan_Barrier(commands, ESPY_ID_STAGES | VK_PIPELINE_STAGE_TRANSFER_BIT,
                        ESPY_ID_ACCESS | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    vkCmdFillBuffer(commands, target->flags.buffer, 0, VK_WHOLE_SIZE, 0);
    vkCmdFillBuffer(commands, target->nearest.buffer, 0, VK_WHOLE_SIZE, 0);
    vkCmdFillBuffer(commands, target->pixels.buffer, 0, VK_WHOLE_SIZE, ESPY_RASTER_NO_ID);
    espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT, ESPY_ID_STAGES,
                        ESPY_ID_ACCESS);
}

/// Does world-to-clip turn windings over? Where x, y and w vanish lies the eye; nearness there is negative then.
static bool espyVulkan_Flips(const espyMat4* m, bool reversedZ)
{
    float rows[4][4]; // x, y, w, nearness
    for (uint32_t i = 0; i < 4; ++i)
    {
        rows[0][i] = m->m[4 * i];
        rows[1][i] = m->m[4 * i + 1];
        rows[2][i] = m->m[4 * i + 3];
        rows[3][i] = reversedZ ? m->m[4 * i + 2] : m->m[4 * i + 3] - m->m[4 * i + 2];
    }
    float side = 0.0f;
    for (uint32_t c = 0; c < 4; ++c)
    {
        uint32_t i = c == 0 ? 1 : 0, j = c <= 1 ? 2 : 1, k = c <= 2 ? 3 : 2;
        float minor = rows[0][i] * (rows[1][j] * rows[2][k] - rows[1][k] * rows[2][j]) -
                      rows[0][j] * (rows[1][i] * rows[2][k] - rows[1][k] * rows[2][i]) +
                      rows[0][k] * (rows[1][i] * rows[2][j] - rows[1][j] * rows[2][i]);
        side += (c % 2u ? -minor : minor) * rows[3][c];
    }
    return side < 0.0f;
}

espyResult espyiVulkanDevice_BeginPass(void* context, const espyDevicePass* pass)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    espyiVulkanTarget* target = espyiVulkanDevice_FindTarget(device, pass->target);
    if (!ESPYI_CHECK(&device->hooks, device->inFrame && device->passTarget == 0) ||
        !ESPYI_CHECK(&device->hooks, target != NULL))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < target->layers; ++i)
    {
        if (!ESPYI_CHECK(&device->hooks, espyMat4_IsFinite(pass->viewProjection[i])))
        {
            return espyResult_InvalidArgument;
        }
    }
    device->pass = *pass;
    device->passTarget = (uint32_t)pass->target.value;
    if (device->now == NULL)
    {
        return espyResult_Ok;
    }
    device->flips = espyVulkan_Flips(&pass->viewProjection[0], device->pipelines[target->pipelines].reversedZ);
    bool isNew = target->outside == VK_IMAGE_LAYOUT_UNDEFINED;
    device->passClears = pass->clearDepth || isNew ? (1u << target->layers) - 1u : 0u;
    if (isNew || target->borrowed)
    {
        espyVulkan_Move(device, target, true);
        target->outside = isNew ? ESPYI_VULKAN_LAYOUT : target->outside;
    }
    if (target->ids && (pass->clearIds || !target->idsClear))
    {
        espyVulkan_ClearIds(device, target);
        target->idsClear = true;
    }
    return espyResult_Ok;
}

espyResult espyiVulkanDevice_EndPass(void* context)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    if (!ESPYI_CHECK(&device->hooks, device->passTarget != 0))
    {
        return espyResult_InvalidArgument;
    }
    espyiVulkanFrame* now = device->now;
    if (now != NULL)
    {
        espyVulkan_Separate(device);
        if (now->placesUsed > now->placesCopied)
        {
            // The device waits for the values, not the host: without WAIT some drivers copy what is not there yet.
            uint32_t first = now->placesCopied;
            vkCmdCopyQueryPoolResults(now->commands, now->queries, first, now->placesUsed - first, now->results.buffer,
                                      first * sizeof(uint64_t), sizeof(uint64_t),
                                      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
            now->placesCopied = now->placesUsed;
        }
        const espyiVulkanTarget* target = espyVulkan_PassTarget(device);
        if (target->borrowed)
        {
            espyVulkan_Move(device, target, false);
        }
    }
    device->passTarget = 0;
    return espyResult_Ok;
}

// --- draws

/// Checks a call within a pass, and all of its draws.
static espyResult espyVulkan_CheckDraws(espyiVulkanDevice* device, const espyDeviceDraw* draws, uint32_t count)
{
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    bool good = ESPYI_CHECK(&device->hooks, device->passTarget != 0);
    for (uint32_t i = 0; i < count && good; ++i)
    {
        good = ESPYI_CHECK(&device->hooks, espyMat4_IsFinite(draws[i].toWorld)) &&
               ESPYI_CHECK(&device->hooks, espyiVulkanDevice_FindMesh(device, draws[i].mesh) != NULL);
    }
    if (!good)
    {
        return espyResult_InvalidArgument;
    }
    return device->now != NULL && count > device->caps.maxDrawsPerFrame - device->now->recordCount
               ? espyResult_LimitExceeded
               : espyResult_Ok;
}

/// Writes what the vertex shader needs of each draw, eye after eye; returns the index of the first.
static uint32_t espyVulkan_Write(espyiVulkanDevice* device, const espyDeviceDraw* draws, uint32_t count)
{
    espyiVulkanFrame* now = device->now;
    uint32_t first = now->recordCount * ESPY_DEVICE_MAX_LAYERS, layers = espyVulkan_PassTarget(device)->layers;
    espyiVulkanRecord* record = (espyiVulkanRecord*)now->records.mapped + first;
    for (uint32_t eye = 0; eye < layers; ++eye)
    {
        for (uint32_t i = 0; i < count; ++i, ++record)
        {
            // Multiplied here, as the software device does, so that both see the same corners.
            espyMat4 clip = espyMat4_Multiply(device->pass.viewProjection[eye], draws[i].toWorld);
            memcpy(record->clip, clip.m, sizeof clip.m);
            record->id = draws[i].id;
        }
    }
    now->recordCount += count;
    return first;
}

/// Which triangles of an opaque mesh show.
static espyiVulkanDraw espyVulkan_Facing(const espyiVulkanDevice* device, const espyDeviceDraw* draw)
{
    const float* m = draw->toWorld.m;
    float volume =
        m[0] * (m[5] * m[10] - m[6] * m[9]) - m[4] * (m[1] * m[10] - m[2] * m[9]) + m[8] * (m[1] * m[6] - m[2] * m[5]);
    return espyiVulkanDevice_FindMesh(device, draw->mesh)->twoSided ? espyiVulkanDraw_Both
           : (volume < 0.0f) != device->flips                       ? espyiVulkanDraw_Back
                                                                    : espyiVulkanDraw_Front;
}

static void espyVulkan_DrawRun(const espyiVulkanDevice* device, const espyiVulkanMesh* mesh, uint32_t first,
                               uint32_t count)
{
    VkCommandBuffer commands = device->now->commands;
    VkBuffer buffer = device->blocks[mesh->block].buffer.buffer;
    const VkDeviceSize offset = 0;
    if (mesh->indexCount == 0)
    {
        return;
    }
    vkCmdBindVertexBuffers(commands, 0, 1, &buffer, &offset);
    vkCmdBindIndexBuffer(commands, buffer, 0, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands, mesh->indexCount, count, mesh->firstIndex, mesh->vertexOffset, first);
}

/// Draws with one pipeline, neighbours of the same mesh together; `record` belongs to draws[0].
static void espyVulkan_DrawAll(const espyiVulkanDevice* device, const espyDeviceDraw* draws, uint32_t count,
                               uint32_t record)
{
    for (uint32_t first = 0, end; first < count; first = end)
    {
        end = first + 1u;
        while (end < count && draws[end].mesh.value == draws[first].mesh.value)
        {
            ++end;
        }
        espyVulkan_DrawRun(device, espyiVulkanDevice_FindMesh(device, draws[first].mesh), record + first, end - first);
    }
}

static void espyVulkan_Use(espyiVulkanDevice* device, uint32_t eye, espyiVulkanDraw draw)
{
    const espyiVulkanPipelines* kind = &device->pipelines[espyVulkan_PassTarget(device)->pipelines];
    espyVulkan_StartDrawing(device, eye);
    vkCmdBindPipeline(device->now->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, kind->draws[draw]);
}

espyResult espyiVulkanDevice_DrawDepth(void* context, const espyDeviceDraw* draws, uint32_t count)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    espyResult result = espyVulkan_CheckDraws(device, draws, count);
    if (result != espyResult_Ok || device->now == NULL || count == 0)
    {
        return result;
    }
    uint32_t record = espyVulkan_Write(device, draws, count);
    for (uint32_t eye = 0; eye < espyVulkan_PassTarget(device)->layers; ++eye, record += count)
    {
        for (uint32_t first = 0, end; first < count; first = end)
        {
            espyiVulkanDraw facing = espyVulkan_Facing(device, &draws[first]);
            end = first + 1u;
            while (end < count && espyVulkan_Facing(device, &draws[end]) == facing)
            {
                ++end;
            }
            espyVulkan_Use(device, eye, facing);
            espyVulkan_DrawAll(device, draws + first, end - first, record + first);
        }
    }
    return espyResult_Ok;
}

/// Testers for all eyes, by one pipeline.
static void espyVulkan_DrawTesters(espyiVulkanDevice* device, espyiVulkanDraw draw, const espyDeviceDraw* draws,
                                   uint32_t count, uint32_t record)
{
    for (uint32_t eye = 0; eye < espyVulkan_PassTarget(device)->layers; ++eye)
    {
        espyVulkan_Use(device, eye, draw);
        espyVulkan_DrawAll(device, draws, count, record + eye * count);
    }
}

espyResult espyiVulkanDevice_DrawIds(void* context, const espyDeviceDraw* draws, uint32_t count, espyIdMode mode)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    espyResult result = espyVulkan_CheckDraws(device, draws, count);
    if (result != espyResult_Ok)
    {
        return result;
    }
    if (!(mode == espyIdMode_Index ? device->caps.idIndex : mode == espyIdMode_Flag && device->caps.idFlag))
    {
        return espyResult_Unsupported;
    }
    if (!ESPYI_CHECK(&device->hooks, espyVulkan_PassTarget(device)->ids))
    {
        return espyResult_InvalidArgument;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (!ESPYI_CHECK(&device->hooks, draws[i].id < device->caps.maxIds))
        {
            return espyResult_InvalidArgument;
        }
    }
    if (device->now == NULL || count == 0)
    {
        return espyResult_Ok;
    }
    uint32_t record = espyVulkan_Write(device, draws, count);
    if (mode == espyIdMode_Flag)
    {
        espyVulkan_DrawTesters(device, espyiVulkanDraw_Flag, draws, count, record);
        return espyResult_Ok;
    }
    // The second half looks at all that the first half left, and the next call's first half at what the second left.
    for (uint32_t half = 0; half < 2; ++half)
    {
        espyVulkan_Separate(device);
        espyiVulkan_Barrier(device->now->commands, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, ESPY_ID_ACCESS,
                            VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, ESPY_ID_ACCESS);
        espyVulkan_DrawTesters(device, half == 0 ? espyiVulkanDraw_Nearest : espyiVulkanDraw_Pick, draws, count,
                               record);
    }
    return espyResult_Ok;
}

static espyResult espyVulkan_CheckQueries(espyiVulkanDevice* device, const espyDeviceQuery* queries, uint32_t count,
                                          uint32_t proxyCount)
{
    for (uint32_t i = 0; i < count; ++i)
    {
        bool known = queries[i].kind == espyQueryKind_Any ||
                     (queries[i].kind == espyQueryKind_Count && device->caps.countQueries);
        if (!known)
        {
            return espyResult_Unsupported;
        }
        if (!ESPYI_CHECK(&device->hooks, queries[i].firstProxy <= proxyCount &&
                                             queries[i].proxyCount <= proxyCount - queries[i].firstProxy))
        {
            return espyResult_InvalidArgument;
        }
    }
    return device->now != NULL && count > device->caps.maxQueriesPerFrame - device->now->askedCount
               ? espyResult_LimitExceeded
               : espyResult_Ok;
}

espyResult espyiVulkanDevice_Query(void* context, const espyDeviceQuery* queries, uint32_t count,
                                   const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    espyResult result = espyVulkan_CheckDraws(device, proxies, proxyCount);
    result = result == espyResult_Ok ? espyVulkan_CheckQueries(device, queries, count, proxyCount) : result;
    espyiVulkanFrame* now = device->now;
    if (result != espyResult_Ok || now == NULL || count == 0)
    {
        return result;
    }
    uint32_t record = espyVulkan_Write(device, proxies, proxyCount);
    // A place of the pool for each query and eye.
    uint32_t layers = espyVulkan_PassTarget(device)->layers;
    for (uint32_t i = 0; i < count; ++i)
    {
        now->asked[now->askedCount++] = (espyiVulkanAsked){queries[i].tag, now->placesUsed + i, layers, count};
    }
    for (uint32_t eye = 0; eye < layers; ++eye, record += proxyCount)
    {
        espyVulkan_Use(device, eye, espyiVulkanDraw_Probe);
        for (uint32_t i = 0; i < count; ++i)
        {
            uint32_t first = queries[i].firstProxy, place = now->placesUsed++;
            vkCmdBeginQuery(now->commands, now->queries, place,
                            queries[i].kind == espyQueryKind_Count ? VK_QUERY_CONTROL_PRECISE_BIT : 0u);
            espyVulkan_DrawAll(device, proxies + first, queries[i].proxyCount, record + first);
            vkCmdEndQuery(now->commands, now->queries, place);
        }
    }
    return espyResult_Ok;
}

// --- frames

espyResult espyiVulkanDevice_StartCommands(espyiVulkanDevice* device)
{
    VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return espyiVulkanDevice_Result(device, vkBeginCommandBuffer(device->now->commands, &info));
}

espyResult espyiVulkanDevice_BeginFrame(void* context, uint64_t frame)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    if (!ESPYI_CHECK(&device->hooks, device->ordinal == 0 || frame > device->frame))
    {
        return espyResult_InvalidArgument;
    }
    if (device->inFrame)
    {
        if (device->passTarget != 0)
        {
            (void)espyiVulkanDevice_EndPass(device);
        }
        (void)espyiVulkanDevice_EndFrame(device);
    }
    espyResult result = espyiVulkanDevice_Look(device);
    if (result != espyResult_Ok)
    {
        return result;
    }
    espyiVulkanDevice_Sweep(device, false);
    device->frame = frame;
    ++device->ordinal;
    espyiVulkanFrame* place = &device->frames[device->ordinal % device->frameCount];
    device->inFrame = true;
    device->now = NULL;
    if (place->value > device->completed)
    {
        return espyResult_Ok; // Still under way: this frame is left out.
    }
    place->ordinal = device->ordinal;
    place->frame = frame;
    place->ended = false;
    place->askedCount = place->given = place->placesCopied = place->recordCount = 0;
    device->now = place;
    result = espyiVulkanDevice_StartCommands(device);
    if (result != espyResult_Ok)
    {
        device->now = NULL;
        device->inFrame = false;
        return result;
    }
    uint32_t used = place->toReset > place->placesUsed ? place->toReset : place->placesUsed;
    if (used > 0)
    {
        vkCmdResetQueryPool(place->commands, place->queries, 0, used);
    }
    place->toReset = place->placesUsed = 0;
    return espyResult_Ok;
}

espyResult espyiVulkanDevice_EndFrame(void* context)
{
    espyiVulkanDevice* device = (espyiVulkanDevice*)context;
    if (device->lost)
    {
        return espyResult_DeviceLost;
    }
    if (!ESPYI_CHECK(&device->hooks, device->inFrame && device->passTarget == 0))
    {
        return espyResult_InvalidArgument;
    }
    device->inFrame = false;
    if (device->now == NULL)
    {
        return espyResult_Ok;
    }
    espyiVulkanFrame* ended = device->now;
    espyResult result = espyiVulkanDevice_Submit(device);
    device->now = NULL;
    ended->ended = result == espyResult_Ok;
    return result;
}
