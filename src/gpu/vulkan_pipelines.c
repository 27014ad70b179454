// SPDX-License-Identifier: MIT
// Render passes and pipelines, one family for each kind of target: format, samples, direction of depth.
#include "gpu/vulkan_device.h"

#include <stddef.h>

#include "gpu/vulkan_shaders.inc"

typedef struct espySpirv
{
    const uint32_t* words;
    size_t size;
} espySpirv;

#define ESPY_SPIRV(name)                          \
    {                                             \
        espySpirv_##name, sizeof espySpirv_##name \
    }

static const espySpirv espyVulkan_Vertex = ESPY_SPIRV(Draw);
/// From espyiVulkanDraw_Flag on.
static const espySpirv espyVulkan_Fragments[3] = {ESPY_SPIRV(Flag), ESPY_SPIRV(Nearest), ESPY_SPIRV(Pick)};

espyResult espyiVulkanDevice_CreateLayouts(espyiVulkanDevice* device)
{
    VkDevice d = device->vulkan.device;
    VkDescriptorSetLayoutBinding bindings[4];
    for (uint32_t i = 0; i < 4; ++i)
    {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = i,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo setInfo = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 4, .pBindings = bindings};
    VkResult result = vkCreateDescriptorSetLayout(d, &setInfo, NULL, &device->setLayout);
    if (result == VK_SUCCESS)
    {
        VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT,
                                     .size = sizeof(espyiVulkanScreen)};
        VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &device->setLayout,
                                           .pushConstantRangeCount = 1,
                                           .pPushConstantRanges = &range};
        result = vkCreatePipelineLayout(d, &info, NULL, &device->layout);
    }
    return result != VK_SUCCESS ? espyiVulkan_Result(result)
                                : espyiVulkan_CreateCompute(&device->vulkan, espySpirv_Resolve,
                                                            sizeof espySpirv_Resolve, device->layout, &device->resolve);
}

// --- render passes

static VkResult espyVulkan_CreateRenderPass(const espyiVulkanDevice* device, const espyiVulkanPipelines* kind,
                                            VkAttachmentLoadOp load, VkRenderPass* out)
{
    bool stencil = espyiVulkan_HasStencil(kind->format);
    VkAttachmentDescription attachment = {
        .format = kind->format,
        .samples = (VkSampleCountFlagBits)kind->samples,
        .loadOp = load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = stencil ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = stencil ? VK_ATTACHMENT_STORE_OP_STORE : VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout = ESPYI_VULKAN_LAYOUT,
        .finalLayout = ESPYI_VULKAN_LAYOUT};
    VkAttachmentReference depth = {.attachment = 0, .layout = ESPYI_VULKAN_LAYOUT};
    VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .pDepthStencilAttachment = &depth};
    const VkPipelineStageFlags tests =
        VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT | VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags access =
        VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT | VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    // One render pass after the other sees what was drawn.
    const VkSubpassDependency dependencies[2] = {{.srcSubpass = VK_SUBPASS_EXTERNAL,
                                                  .dstSubpass = 0,
                                                  .srcStageMask = tests,
                                                  .dstStageMask = tests,
                                                  .srcAccessMask = access,
                                                  .dstAccessMask = access},
                                                 {.srcSubpass = 0,
                                                  .dstSubpass = VK_SUBPASS_EXTERNAL,
                                                  .srcStageMask = tests,
                                                  .dstStageMask = tests,
                                                  .srcAccessMask = access,
                                                  .dstAccessMask = access}};
    VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                   .attachmentCount = 1,
                                   .pAttachments = &attachment,
                                   .subpassCount = 1,
                                   .pSubpasses = &subpass,
                                   .dependencyCount = 2,
                                   .pDependencies = dependencies};
    return vkCreateRenderPass(device->vulkan.device, &info, NULL, out);
}

// --- pipelines

#define ESPY_ATTRIBUTES 6u

/// Attributes of draw.vert.
static void espyVulkan_FillAttributes(VkVertexInputAttributeDescription out[ESPY_ATTRIBUTES])
{
    out[0] = (VkVertexInputAttributeDescription){.location = 0, .format = VK_FORMAT_R32G32B32_SFLOAT};
    for (uint32_t i = 0; i < 4; ++i)
    {
        out[1 + i] = (VkVertexInputAttributeDescription){
            .location = 1 + i, .binding = 1, .format = VK_FORMAT_R32G32B32A32_SFLOAT, .offset = 16 * i};
    }
    out[5] = (VkVertexInputAttributeDescription){
        .location = 5, .binding = 1, .format = VK_FORMAT_R32_UINT, .offset = offsetof(espyiVulkanRecord, id)};
}

static VkResult espyVulkan_CreateDraw(const espyiVulkanDevice* device, espyiVulkanPipelines* kind, espyiVulkanDraw draw,
                                      VkShaderModule vertex, VkShaderModule fragment)
{
    VkPipelineShaderStageCreateInfo stages[2] = {{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_VERTEX_BIT,
                                                  .module = vertex,
                                                  .pName = "main"},
                                                 {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
                                                  .module = fragment,
                                                  .pName = "main"}};
    const VkVertexInputBindingDescription bindings[2] = {
        {.binding = 0, .stride = sizeof(espyVec3), .inputRate = VK_VERTEX_INPUT_RATE_VERTEX},
        {.binding = 1, .stride = sizeof(espyiVulkanRecord), .inputRate = VK_VERTEX_INPUT_RATE_INSTANCE}};
    VkVertexInputAttributeDescription attributes[ESPY_ATTRIBUTES];
    espyVulkan_FillAttributes(attributes);
    VkPipelineVertexInputStateCreateInfo input = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                                  .vertexBindingDescriptionCount = 2,
                                                  .pVertexBindingDescriptions = bindings,
                                                  .vertexAttributeDescriptionCount = ESPY_ATTRIBUTES,
                                                  .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {.sType =
                                                           VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
                                                       .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .scissorCount = 1};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .polygonMode = VK_POLYGON_MODE_FILL,
        .cullMode = draw <= espyiVulkanDraw_Back ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_NONE,
        // The viewport is turned over, so that y runs up as in clip space and windings stay.
        .frontFace = draw == espyiVulkanDraw_Back ? VK_FRONT_FACE_CLOCKWISE : VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .lineWidth = 1.0f};
    VkPipelineMultisampleStateCreateInfo samples = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                                    .rasterizationSamples = (VkSampleCountFlagBits)kind->samples};
    VkPipelineDepthStencilStateCreateInfo depth = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
                                                   .depthTestEnable = VK_TRUE,
                                                   .depthWriteEnable = draw <= espyiVulkanDraw_Both,
                                                   .depthCompareOp = kind->reversedZ ? VK_COMPARE_OP_GREATER_OR_EQUAL
                                                                                     : VK_COMPARE_OP_LESS_OR_EQUAL,
                                                   .maxDepthBounds = 1.0f};
    VkPipelineColorBlendStateCreateInfo blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO};
    const VkDynamicState dynamics[2] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                                                .dynamicStateCount = 2,
                                                .pDynamicStates = dynamics};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .stageCount = fragment != VK_NULL_HANDLE ? 2 : 1,
                                         .pStages = stages,
                                         .pVertexInputState = &input,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &viewport,
                                         .pRasterizationState = &raster,
                                         .pMultisampleState = &samples,
                                         .pDepthStencilState = &depth,
                                         .pColorBlendState = &blend,
                                         .pDynamicState = &dynamic,
                                         .layout = device->layout,
                                         .renderPass = kind->load};
    return vkCreateGraphicsPipelines(device->vulkan.device, VK_NULL_HANDLE, 1, &info, NULL, &kind->draws[draw]);
}

static VkResult espyVulkan_CreateModule(const espyiVulkanDevice* device, espySpirv spirv, VkShaderModule* out)
{
    VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = spirv.size, .pCode = spirv.words};
    return vkCreateShaderModule(device->vulkan.device, &info, NULL, out);
}

static VkResult espyVulkan_CreateDraws(const espyiVulkanDevice* device, espyiVulkanPipelines* kind)
{
    VkDevice d = device->vulkan.device;
    VkShaderModule vertex = VK_NULL_HANDLE;
    VkResult result = espyVulkan_CreateModule(device, espyVulkan_Vertex, &vertex);
    for (uint32_t draw = 0; draw < espyiVulkanDraw_Count && result == VK_SUCCESS; ++draw)
    {
        VkShaderModule fragment = VK_NULL_HANDLE;
        if (draw >= espyiVulkanDraw_Flag)
        {
            if (!device->vulkan.fragmentStores)
            {
                break;
            }
            result = espyVulkan_CreateModule(device, espyVulkan_Fragments[draw - espyiVulkanDraw_Flag], &fragment);
        }
        result = result == VK_SUCCESS ? espyVulkan_CreateDraw(device, kind, (espyiVulkanDraw)draw, vertex, fragment)
                                      : result;
        vkDestroyShaderModule(d, fragment, NULL);
    }
    vkDestroyShaderModule(d, vertex, NULL);
    return result;
}

static void espyVulkanPipelines_Destroy(const espyiVulkanDevice* device, espyiVulkanPipelines* kind)
{
    VkDevice d = device->vulkan.device;
    for (uint32_t i = 0; i < espyiVulkanDraw_Count; ++i)
    {
        vkDestroyPipeline(d, kind->draws[i], NULL);
    }
    vkDestroyRenderPass(d, kind->load, NULL);
    vkDestroyRenderPass(d, kind->clear, NULL);
}

espyResult espyiVulkanDevice_FindPipelines(espyiVulkanDevice* device, VkFormat format, uint32_t samples, bool reversedZ,
                                           uint32_t* out)
{
    for (uint32_t i = 0; i < device->pipelineCount; ++i)
    {
        const espyiVulkanPipelines* kind = &device->pipelines[i];
        if (kind->format == format && kind->samples == samples && kind->reversedZ == reversedZ)
        {
            *out = i;
            return espyResult_Ok;
        }
    }
    void* pipelines = device->pipelines;
    if (!espyiGrow(&device->hooks, &pipelines, &device->pipelineCapacity, device->pipelineCount + 1u,
                   sizeof *device->pipelines))
    {
        return espyResult_OutOfMemory;
    }
    device->pipelines = (espyiVulkanPipelines*)pipelines;
    espyiVulkanPipelines made = {.format = format, .samples = samples, .reversedZ = reversedZ};
    VkResult result = espyVulkan_CreateRenderPass(device, &made, VK_ATTACHMENT_LOAD_OP_LOAD, &made.load);
    result = result == VK_SUCCESS ? espyVulkan_CreateRenderPass(device, &made, VK_ATTACHMENT_LOAD_OP_CLEAR, &made.clear)
                                  : result;
    result = result == VK_SUCCESS ? espyVulkan_CreateDraws(device, &made) : result;
    if (result != VK_SUCCESS)
    {
        espyVulkanPipelines_Destroy(device, &made);
        return espyiVulkanDevice_Result(device, result);
    }
    *out = (uint32_t)device->pipelineCount;
    device->pipelines[device->pipelineCount++] = made;
    return espyResult_Ok;
}

void espyiVulkanDevice_DestroyPipelines(espyiVulkanDevice* device)
{
    for (uint32_t i = 0; i < device->pipelineCount; ++i)
    {
        espyVulkanPipelines_Destroy(device, &device->pipelines[i]);
    }
    espyiFree(&device->hooks, device->pipelines);
    vkDestroyPipeline(device->vulkan.device, device->resolve, NULL);
    vkDestroyPipelineLayout(device->vulkan.device, device->layout, NULL);
    vkDestroyDescriptorSetLayout(device->vulkan.device, device->setLayout, NULL);
}
