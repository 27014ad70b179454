// SPDX-License-Identifier: MIT
// The proxy pass on a Vulkan device against the pass on the processor, with the validation layer listening. Skipped
// where there is no driver.
#include <espy/proxy_vulkan.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gpu/vulkan_boot.h"
#include "tests/hook_counter.h"
#include "tests/proxy_case.h"

enum
{
    Width = 125,
    Height = 75,
    Pixels = Width * Height
};

/// An image that the host fills and reads through a buffer.
typedef struct espyTestImage
{
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    espyiVulkanBuffer buffer;
    bool storage;
} espyTestImage;

typedef enum espyTestPlane
{
    espyTestPlane_Depth,
    espyTestPlane_Normal,
    espyTestPlane_Albedo,
    espyTestPlane_Emissive,
    espyTestPlane_Target,
    espyTestPlane_Count
} espyTestPlane;

typedef struct espyTestGpu
{
    espyiVulkan vulkan;
    espyTestImage planes[espyTestPlane_Count];
    espyiVulkanBuffer owner;
    espyProxyVulkan* pass;
    // Of the image in work.
    const espyProxyLists* lists;
    espyProxySettings settings;
    espyProxyVulkanImages images;
    espyResult recorded;
    uint64_t frame;
} espyTestGpu;

static espyiVulkan espyTestVulkan; ///< Shared by all tests; no device: they are skipped.

static int espyTest_Boot(void** state)
{
    (void)state;
    espyiVulkanWish wish = {.hooks = espyiHooks_Resolve(NULL), .validates = true};
    espyResult result = espyiVulkan_Boot(&wish, &espyTestVulkan);
    if (result != espyResult_Ok)
    {
        wish.validates = false;
        result = espyiVulkan_Boot(&wish, &espyTestVulkan);
    }
    printf("%s, validation %s\n", result == espyResult_Ok ? espyTestVulkan.properties.deviceName : "no Vulkan device",
           espyTestVulkan.messages ? "on" : "off");
    return 0;
}

static int espyTest_Shut(void** state)
{
    (void)state;
    espyiVulkan_Shut(&espyTestVulkan);
    return 0;
}

static espyTestImage espyTest_CreateImage(const espyiVulkan* vulkan, VkFormat format, size_t pixelBytes, bool storage)
{
    espyTestImage t = {.storage = storage};
    VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = format,
        .extent = {Width, Height, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                 (storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT),
    };
    assert_int_equal(vkCreateImage(vulkan->device, &info, NULL, &t.image), VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(vulkan->device, t.image, &needs);
    VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size,
                                   .memoryTypeIndex = espyiVulkan_FindMemory(vulkan, needs.memoryTypeBits, 0,
                                                                             VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)};
    assert_int_equal(vkAllocateMemory(vulkan->device, &memory, NULL, &t.memory), VK_SUCCESS);
    assert_int_equal(vkBindImageMemory(vulkan->device, t.image, t.memory, 0), VK_SUCCESS);
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = t.image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = format,
                                  .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    assert_int_equal(vkCreateImageView(vulkan->device, &view, NULL, &t.view), VK_SUCCESS);
    VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    assert_int_equal(espyiVulkan_CreateBuffer(vulkan, Pixels * pixelBytes,
                                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT, host,
                                              0, &t.buffer),
                     espyResult_Ok);
    return t;
}

static void espyTest_DestroyImage(const espyiVulkan* vulkan, espyTestImage* t)
{
    vkDestroyImageView(vulkan->device, t->view, NULL);
    vkDestroyImage(vulkan->device, t->image, NULL);
    vkFreeMemory(vulkan->device, t->memory, NULL);
    espyiVulkan_DestroyBuffer(vulkan, &t->buffer);
}

static espyTestGpu espyTest_CreateGpu(espyProxyVulkanTarget target)
{
    static const VkFormat formats[] = {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R16G16B16A16_SFLOAT,
                                       VK_FORMAT_R32G32B32A32_SFLOAT};
    static const size_t sizes[] = {4, 8, 16};
    espyTestGpu g = {.vulkan = espyTestVulkan, .settings = espyProxySettings_Default()};
    const espyiVulkan* v = &g.vulkan;
    g.planes[espyTestPlane_Depth] = espyTest_CreateImage(v, VK_FORMAT_R32_SFLOAT, 4, false);
    g.planes[espyTestPlane_Normal] = espyTest_CreateImage(v, VK_FORMAT_R32G32B32A32_SFLOAT, 16, false);
    g.planes[espyTestPlane_Albedo] = espyTest_CreateImage(v, VK_FORMAT_R32G32B32A32_SFLOAT, 16, false);
    g.planes[espyTestPlane_Emissive] = espyTest_CreateImage(v, VK_FORMAT_R32G32B32A32_SFLOAT, 16, false);
    g.planes[espyTestPlane_Target] = espyTest_CreateImage(v, formats[target], sizes[target], true);
    VkMemoryPropertyFlags host = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    assert_int_equal(espyiVulkan_CreateBuffer(v, Pixels * 4, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, host, 0, &g.owner),
                     espyResult_Ok);
    g.images = (espyProxyVulkanImages){.width = Width,
                                       .height = Height,
                                       .depth = (uint64_t)(uintptr_t)g.planes[espyTestPlane_Depth].view,
                                       .normal = (uint64_t)(uintptr_t)g.planes[espyTestPlane_Normal].view,
                                       .albedo = (uint64_t)(uintptr_t)g.planes[espyTestPlane_Albedo].view,
                                       .emissive = (uint64_t)(uintptr_t)g.planes[espyTestPlane_Emissive].view,
                                       .target = (uint64_t)(uintptr_t)g.planes[espyTestPlane_Target].view,
                                       .owner = (uint64_t)(uintptr_t)g.owner.buffer,
                                       .expectedLight = 1};
    espyProxyVulkanDef def = espyProxyVulkanDef_Default();
    def.instance = v->instance;
    def.physicalDevice = v->physical;
    def.device = v->device;
    def.target = target;
    assert_int_equal(espyProxyVulkan_Create(&def, &g.pass), espyResult_Ok);
    return g;
}

static void espyTest_FreeGpu(espyTestGpu* g)
{
    espyProxyVulkan_Destroy(g->pass);
    for (int i = 0; i < espyTestPlane_Count; ++i)
    {
        espyTest_DestroyImage(&g->vulkan, &g->planes[i]);
    }
    espyiVulkan_DestroyBuffer(&g->vulkan, &g->owner);
}

/// Three floats a pixel to four.
static void espyTest_Widen(const float* from, float* to)
{
    for (size_t i = 0; i < Pixels; ++i)
    {
        memcpy(to + 4 * i, from + 3 * i, 3 * sizeof(float));
        to[4 * i + 3] = 0.5f;
    }
}

static void espyTest_FillPlanes(espyTestGpu* g, const espyProxyScene* scene)
{
    memcpy(g->planes[espyTestPlane_Depth].buffer.mapped, scene->depth, Pixels * sizeof(float));
    espyTest_Widen(scene->normal, g->planes[espyTestPlane_Normal].buffer.mapped);
    espyTest_Widen(scene->albedo, g->planes[espyTestPlane_Albedo].buffer.mapped);
    espyTest_Widen(scene->emissive, g->planes[espyTestPlane_Emissive].buffer.mapped);
    memcpy(g->owner.mapped, scene->owner, Pixels * sizeof(uint32_t));
}

static void espyTest_Move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                                    .oldLayout = from,
                                    .newLayout = to,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image,
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL,
                         0, NULL, 1, &barrier);
}

static void espyTest_Record(VkCommandBuffer commands, void* context)
{
    espyTestGpu* g = context;
    VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                              .imageExtent = {Width, Height, 1}};
    for (int i = 0; i < espyTestPlane_Count; ++i)
    {
        const espyTestImage* t = &g->planes[i];
        espyTest_Move(commands, t->image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        vkCmdCopyBufferToImage(commands, t->buffer.buffer, t->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
        espyTest_Move(commands, t->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                      t->storage ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    }
    g->recorded = espyProxyVulkan_Record(g->pass, commands, g->frame++, &g->settings, g->lists, &g->images);
    const espyTestImage* target = &g->planes[espyTestPlane_Target];
    espyTest_Move(commands, target->image, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
    vkCmdCopyImageToBuffer(commands, target->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, target->buffer.buffer, 1,
                           &copy);
    espyiVulkan_Barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                        VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

/// Runs the pass over what the planes' buffers hold; the target's buffer then holds the result.
static espyResult espyTest_Run(espyTestGpu* g, const espyProxyLists* lists)
{
    g->lists = lists;
    assert_int_equal(espyiVulkan_Run(&g->vulkan, espyTest_Record, g), espyResult_Ok);
    return g->recorded;
}

static bool espyTest_HasDevice(void)
{
    if (espyTestVulkan.device == VK_NULL_HANDLE)
    {
        skip();
    }
    return espyTestVulkan.device != VK_NULL_HANDLE;
}

/// A room with balls, capsules, limbs with two radii, a long pipe, owners, background, and pixels without a normal or a
/// depth.
static espyTestCase espyTest_Scene(espyProxyTechnique technique)
{
    espyTestCase c = espyTest_Create(Width, Height, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, technique);
    espyCapsule capsules[40];
    espyTest_FillRoom(&c, capsules, 40);
    espyProxyDef limb = espyProxyDef_Default();
    limb.hasB = true;
    limb.radius = 0.4f;
    limb.radiusB = 0.15f;
    limb.group = 3;
    limb.a = (espyVec3){0.5f, 0.5f, -5};
    limb.b = (espyVec3){0.5f, 1.5f, -5};
    assert_int_equal(espyProxySet_SetId(c.set, 1, &limb, NULL), espyResult_Ok);
    limb.a = (espyVec3){0.5f, 1.5f, -4};
    assert_int_equal(espyProxySet_SetId(c.set, 2, &limb, NULL), espyResult_Ok);
    if (technique == espyProxyTechnique_Loop)
    {
        espyTest_AddCapsule(&c, 100, (espyVec3){-20, 0.2f, -8}, (espyVec3){20, 0.3f, -9}, 0.1f);
    }
    limb.group = 0;
    limb.owner = 7;
    limb.selfStrength = 0.3f;
    assert_int_equal(espyProxySet_SetId(c.set, 3, &limb, NULL), espyResult_Ok);
    for (size_t i = 0; i < Pixels; i += 3)
    {
        c.scene.owner[i] = 7;
        if (i % 2 == 0)
        {
            memset(c.scene.normal + 3 * i, 0, 3 * sizeof(float));
        }
        c.scene.normal[3 * i] = i % 7 == 0 ? NAN : c.scene.normal[3 * i];
        c.scene.depth[i] = i % 11 == 0 ? NAN : i % 13 == 0 ? -1 : i % 17 == 0 ? 0 : c.scene.depth[i];
    }
    return c;
}

static espyProxyLists espyTest_Build(espyTestCase* c, espyTestGpu* g, bool withImage)
{
    espyProxyLists lists;
    assert_int_equal(espyProxyPass_Reserve(c->pass, c->set), espyResult_Ok);
    assert_int_equal(espyProxyPass_ReserveLists(c->pass, Width, Height, 400000), espyResult_Ok);
    assert_int_equal(espyProxyPass_BuildLists(c->pass, c->set, &c->scene.view, withImage ? &c->image : NULL, &lists),
                     espyResult_Ok);
    espyProxyVulkanRoom room = {.width = withImage ? Width : 0,
                                .height = withImage ? Height : 0,
                                .entries = lists.entryCount,
                                .indices = withImage ? 400000 : 0};
    assert_int_equal(espyProxyVulkan_Reserve(g->pass, &room), espyResult_Ok);
    return lists;
}

static void test_visibility_agrees_with_the_processor(void** state)
{
    (void)state;
    for (int technique = 0; technique < 2 && espyTest_HasDevice(); ++technique)
    {
        for (int withImage = 0; withImage < 2; ++withImage)
        {
            espyTestCase c = espyTest_Scene((espyProxyTechnique)technique);
            espyTestGpu g = espyTest_CreateGpu(espyProxyVulkanTarget_Visibility);
            g.settings.power = 1.5f;
            g.settings.minDistance = 4;
            g.settings.maxDistance = 14;
            g.settings.intensity = 0.9f;
            g.settings.inside = withImage ? espyCapsuleInside_Solid : espyCapsuleInside_Continuous;
            assert_int_equal(espyProxySet_Configure(c.set, &g.settings, NULL), espyResult_Ok);
            c.image.lit.data = NULL;
            espyTest_Apply(&c);
            espyProxyLists lists = espyTest_Build(&c, &g, withImage);
            double worst = 0, dark = 1;
            for (int frame = 0; frame < 4; ++frame)
            {
                espyTest_FillPlanes(&g, &c.scene);
                assert_int_equal(espyTest_Run(&g, &lists), espyResult_Ok);
                const float* found = g.planes[espyTestPlane_Target].buffer.mapped;
                for (size_t i = 0; i < Pixels; ++i)
                {
                    worst = fmax(worst, fabs((double)(found[i] - c.scene.visibility[i])));
                    dark = fmin(dark, (double)found[i]);
                }
            }
            printf("%s, %s: visibility within %.1e\n", technique ? "clusters" : "loop",
                   withImage   ? "lists"
                   : technique ? "tree"
                               : "all",
                   worst);
            assert_true(worst < (technique && !withImage ? 0.02 : 1e-4) && dark < 0.6);
            espyTest_FreeGpu(&g);
            espyTest_Free(&c);
        }
    }
}

static float espyTest_FromHalf(uint16_t h)
{
    float m = (float)(h & 1023u), e = (float)(h >> 10 & 31u);
    float v = e > 0.0f ? ldexpf(1 + m / 1024, (int)e - 15) : ldexpf(m, -24);
    return h & 0x8000u ? -v : v;
}

/// For values from 2^-14 to 65504, rounded down.
static uint16_t espyTest_ToHalf(float v)
{
    int e;
    float m = frexpf(v, &e);
    return v < 6.2e-5f ? 0 : (uint16_t)(((uint32_t)(e + 14) << 10) + (uint32_t)((m * 2 - 1) * 1024));
}

static void test_lit_colours_agree_with_the_processor(void** state)
{
    (void)state;
    for (int half = 0; half < 2 && espyTest_HasDevice(); ++half)
    {
        for (int ambient = 0; ambient < 2; ++ambient)
        {
            espyTestCase c = espyTest_Scene(espyProxyTechnique_Loop);
            espyTestGpu g = espyTest_CreateGpu(half ? espyProxyVulkanTarget_Rgba16f : espyProxyVulkanTarget_Rgba32f);
            // Shadowed, lit, glowing, black, too bright, and not finite.
            for (size_t i = 0; i < 3 * (size_t)Pixels; ++i)
            {
                size_t kind = i / 3 % 6;
                c.scene.albedo[i] = kind == 3 ? 0.0f : 0.25f + 0.5f * (float)(i % 3) / 3;
                c.scene.emissive[i] = kind == 2 ? 2.0f : 0.0f;
                c.scene.lit[i] = c.scene.emissive[i] + c.scene.albedo[i] * (kind == 0 ? 0.25f : kind == 4 ? 3.5f : 1);
                c.scene.lit[i] = !half && kind == 5 && i % 3 == 1 ? NAN : c.scene.lit[i];
            }
            uint16_t* halves = g.planes[espyTestPlane_Target].buffer.mapped;
            float* floats = g.planes[espyTestPlane_Target].buffer.mapped;
            for (size_t i = 0; i < 4 * (size_t)Pixels; ++i)
            {
                float v = i % 4 == 3 ? 0.5f : c.scene.lit[i / 4 * 3 + i % 4];
                if (half)
                {
                    halves[i] = espyTest_ToHalf(v);
                }
                else
                {
                    floats[i] = v;
                }
                if (half && i % 4 < 3)
                {
                    c.scene.lit[i / 4 * 3 + i % 4] = espyTest_FromHalf(halves[i]);
                }
            }
            g.settings.mode = ambient ? espyProxyMode_Ambient : espyProxyMode_Estimate;
            assert_int_equal(espyProxySet_Configure(c.set, &g.settings, NULL), espyResult_Ok);
            c.scene.view.expectedLight = 1;
            // The room is made before the light is changed in place.
            espyProxyLists lists = espyTest_Build(&c, &g, true);
            espyTest_FillPlanes(&g, &c.scene);
            assert_int_equal(espyTest_Run(&g, &lists), espyResult_Ok);
            espyTest_Apply(&c);
            double worst = 0, darkest = 1;
            for (size_t i = 0; i < 4 * (size_t)Pixels; ++i)
            {
                float found = half ? espyTest_FromHalf(halves[i]) : floats[i];
                float wanted = i % 4 == 3 ? 0.5f : c.scene.lit[i / 4 * 3 + i % 4];
                if (isnan(wanted))
                {
                    assert_true(isnan(found));
                    continue;
                }
                worst = fmax(worst, fabs((double)(found - wanted)) / fmax((double)wanted, 0.1));
                darkest = fmin(darkest, i % 4 == 3 ? 1 : (double)found);
            }
            printf("%s, %s: colours within %.1e of themselves\n", half ? "rgba16f" : "rgba32f",
                   ambient ? "ambient" : "estimate", worst);
            assert_true(worst < (half ? 1.5e-3 : 1e-4));
            espyTest_FreeGpu(&g);
            espyTest_Free(&c);
        }
    }
}

// Where it is not told, the device finds the same light of an unshadowed surface, and eases it alike.
static void test_the_device_measures_the_light(void** state)
{
    (void)state;
    if (!espyTest_HasDevice())
    {
        return;
    }
    espyTestCase c = espyTest_Scene(espyProxyTechnique_Loop);
    espyTestGpu g = espyTest_CreateGpu(espyProxyVulkanTarget_Rgba32f);
    espyProxyLists lists = espyTest_Build(&c, &g, true);
    g.images.expectedLight = 0;
    float* floats = g.planes[espyTestPlane_Target].buffer.mapped;
    for (int frame = 0; frame < 5; ++frame)
    {
        // Brighter, then darker; the last one is black, and what was measured before stays.
        float light = frame == 4 ? 0.0f : frame == 1 ? 9.0f : 0.7f;
        espyiRng rng = espyiRng_Seed(12);
        for (size_t i = 0; i < 3 * (size_t)Pixels; ++i)
        {
            c.scene.albedo[i] = espyTest_Range(&rng, 0, 0.9f);
            c.scene.lit[i] = c.scene.albedo[i] * light * espyTest_Range(&rng, 0.2f, 1.2f);
        }
        for (size_t i = 0; i < 4 * (size_t)Pixels; ++i)
        {
            floats[i] = i % 4 == 3 ? 0.5f : c.scene.lit[i / 4 * 3 + i % 4];
        }
        c.scene.view.deltaTime = g.images.deltaTime = frame > 1 ? 0.1f : 0.0f;
        espyTest_FillPlanes(&g, &c.scene);
        assert_int_equal(espyTest_Run(&g, &lists), espyResult_Ok);
        espyTest_Apply(&c);
        double worst = 0;
        for (size_t i = 0; i < 4 * (size_t)Pixels; ++i)
        {
            float wanted = i % 4 == 3 ? 0.5f : c.scene.lit[i / 4 * 3 + i % 4];
            worst = fmax(worst, fabs((double)(floats[i] - wanted)) / fmax((double)wanted, 0.1));
        }
        printf("light %.1f, reference %.4f: colours within %.1e\n", (double)light,
               (double)espyProxyPass_GetStats(c.pass).reference, worst);
        assert_true(worst < 1e-4);
    }
    espyTest_FreeGpu(&g);
    espyTest_Free(&c);
}

static void test_nothing_to_do_records_nothing(void** state)
{
    (void)state;
    if (!espyTest_HasDevice())
    {
        return;
    }
    espyTestCase c =
        espyTest_Create(Width, Height, (espyVec3){0, 1.7f, 0}, (espyVec3){0, 1.7f, -10}, 1.1f, espyProxyTechnique_Loop);
    espyTestGpu g = espyTest_CreateGpu(espyProxyVulkanTarget_Rgba32f);
    float* lit = g.planes[espyTestPlane_Target].buffer.mapped;
    float* before = test_malloc(Pixels * 4 * sizeof *before);
    for (size_t i = 0; i < 4 * (size_t)Pixels; ++i)
    {
        lit[i] = before[i] = i % 5 == 0 ? NAN : (float)i * 0.37f;
    }
    espyTest_FillPlanes(&g, &c.scene);
    espyProxyLists lists;
    // Nothing registered: no room, no lists, and none of the calls asks for memory.
    espyProxyVulkanRoom none = {0};
    assert_int_equal(espyProxyVulkan_Reserve(g.pass, &none), espyResult_Ok);
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, &c.image, &lists), espyResult_Ok);
    assert_int_equal(espyTest_Run(&g, &lists), espyResult_Ok);
    assert_memory_equal(lit, before, Pixels * 4 * sizeof *before);
    // Without room nothing but an empty pass can be recorded.
    espyTest_AddCapsule(&c, 1, (espyVec3){0, 1, -5}, (espyVec3){0, 2, -5}, 0.5f);
    assert_int_equal(espyProxyPass_Reserve(c.pass, c.set), espyResult_Ok);
    assert_int_equal(espyProxyPass_BuildLists(c.pass, c.set, &c.scene.view, NULL, &lists), espyResult_Ok);
    assert_int_equal(espyTest_Run(&g, &lists), espyResult_LimitExceeded);
    assert_memory_equal(lit, before, Pixels * 4 * sizeof *before);
    // Intensity 0 is the same as nothing registered.
    g.settings.intensity = 0;
    assert_int_equal(espyTest_Run(&g, &lists), espyResult_Ok);
    assert_memory_equal(lit, before, Pixels * 4 * sizeof *before);
    test_free(before);
    espyTest_FreeGpu(&g);
    espyTest_Free(&c);
}

static void test_bad_arguments_are_refused(void** state)
{
    (void)state;
    if (!espyTest_HasDevice())
    {
        return;
    }
    espyTestCase c = espyTest_Scene(espyProxyTechnique_Clusters);
    espyTestGpu g = espyTest_CreateGpu(espyProxyVulkanTarget_Rgba32f);
    espyTest_FillPlanes(&g, &c.scene);
    espyProxyLists lists = espyTest_Build(&c, &g, true);
    const espyProxyVulkanImages sound = g.images;
    g.images.depth = 0;
    assert_int_equal(espyTest_Run(&g, &lists), espyResult_InvalidArgument);
    g.images = sound;
    g.images.albedo = 0;
    assert_int_equal(espyTest_Run(&g, &lists), espyResult_InvalidArgument);
    g.images = sound;
    g.images.width = Width - 1; // the lists' is Width
    assert_int_equal(espyTest_Run(&g, &lists), espyResult_InvalidArgument);
    g.images = sound;
    espyProxyVulkanRoom room = {.width = 70000, .height = 1, .entries = 1};
    assert_int_equal(espyProxyVulkan_Reserve(g.pass, &room), espyResult_InvalidArgument);
    espyProxyVulkanDef def = espyProxyVulkanDef_Default();
    espyProxyVulkan* pass;
    assert_int_equal(espyProxyVulkan_Create(&def, &pass), espyResult_InvalidArgument);
    def.instance = g.vulkan.instance;
    def.physicalDevice = g.vulkan.physical;
    def.device = g.vulkan.device;
    def.framesInFlight = 9;
    assert_int_equal(espyProxyVulkan_Create(&def, &pass), espyResult_InvalidArgument);
    espyHookCounter counter = {.failAt = 1};
    def.framesInFlight = 2;
    def.hooks = espyHookCounter_Hooks(&counter);
    assert_int_equal(espyProxyVulkan_Create(&def, &pass), espyResult_OutOfMemory);
    assert_null(pass);
    espyProxyVulkan_Destroy(NULL);
    espyTest_FreeGpu(&g);
    espyTest_Free(&c);
}

/// The last test: what all the others did.
static void test_the_validation_layer_is_silent(void** state)
{
    (void)state;
    if (espyTest_HasDevice() && espyTestVulkan.messages && espyTestVulkan.messages->count > 0)
    {
        fail_msg("%u messages, the first: %s", espyTestVulkan.messages->count, espyTestVulkan.messages->first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visibility_agrees_with_the_processor),
        cmocka_unit_test(test_lit_colours_agree_with_the_processor),
        cmocka_unit_test(test_the_device_measures_the_light),
        cmocka_unit_test(test_nothing_to_do_records_nothing),
        cmocka_unit_test(test_bad_arguments_are_refused),
        cmocka_unit_test(test_the_validation_layer_is_silent),
    };
    return cmocka_run_group_tests(tests, espyTest_Boot, espyTest_Shut);
}
