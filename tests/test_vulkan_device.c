// SPDX-License-Identifier: MIT
// The Vulkan device, with the validation layer and its check of synchronisation: bounds of the reference, the pixels of
// the software device where both rules are exact, the engine's own device and depth, a device that is lost.
#include "test_main.h"

#include <espy/device_vulkan.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "device_case.h"
#include "gpu/vulkan_device.h"
#include "hook_counter.h"

/// Positions are snapped to 2^-8 of a pixel, and rounded before.
#define ESPY_GPU_SLACK 6e-3

/// Drivers and layers keep memory to their end, and are unloaded before leaks are looked for. What is ours is counted
/// by hooks (test_memory) and by the validation layer when the engine's device goes (test_engines_own).
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}

static espyVulkanDeviceDef espyTest_Def(void)
{
    espyVulkanDeviceDef def = espyVulkanDeviceDef_Default();
    def.validates = true;
    def.maxQueriesPerFrame = 1024;
    def.maxDrawsPerFrame = 4096;
    def.maxIds = 1000;
    return def;
}

static void espyTest_Sleep(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static espyDevice espyTest_Create(void)
{
    espyVulkanDeviceDef def = espyTest_Def();
    espyDevice device;
    espyResult result = espyVulkanDevice_Create(&def, &device);
    if (result == espyResult_Unsupported)
    {
        print_message("no Vulkan device with validation (mesa-vulkan-drivers, vulkan-validationlayers)\n");
        skip();
    }
    assert_int_equal(result, espyResult_Ok);
    assert_int_equal(espyDevice_Validate(&device, NULL), espyResult_Ok);
    return device;
}

static void espyTest_Silent(const espyDevice* device)
{
    const char* text;
    if (espyVulkanDevice_GetMessages(device, &text) != 0)
    {
        print_error("validation: %s\n", text);
        fail();
    }
}

static void test_answers_as_the_reference(void** state)
{
    (void)state;
    static const int32_t sizes[][2] = {{160, 90}, {97, 61}, {1, 1}, {8, 200}, {256, 144}};
    espyDeviceCaseReport report = {0};
    espyDevice device = espyTest_Create();
    print_message("on %s\n", espyVulkanDevice_GetName(&device));
    uint64_t frame = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed)
    {
        espyDeviceCase given = {.seed = seed,
                                .width = sizes[seed % 5][0],
                                .height = sizes[seed % 5][1],
                                .layers = seed % 3 == 0 ? 2 : 1,
                                .reversedZ = seed % 2 == 0,
                                .orthographic = seed % 7 == 0,
                                .infiniteFar = seed % 4 == 1 && seed % 7 != 0,
                                .slack = ESPY_GPU_SLACK,
                                .frame = frame + 1};
        frame = espyDeviceCase_Run(&device, &given, &report);
    }
    print_message("%u queries, %u hidden, %u partly, %u ids, %u seen, %llu samples, %llu in doubt\n", report.queries,
                  report.hidden, report.partly, report.ids, report.seen, (unsigned long long)report.samples,
                  (unsigned long long)report.doubtful);
    assert_true(report.hidden > 100 && report.partly > 300 && report.seen > 300 && report.seen < report.ids);
    assert_true(report.doubtful * 20 < report.samples);
    espyTest_Silent(&device);
    espyVulkanDevice_Destroy(&device);
}

// --- the same pixels as the software device

enum
{
    espyTest_Boxes = 60,
    espyTest_Width = 75,
    espyTest_Height = 52,
};

typedef struct espyTestPicture
{
    float depth[espyTest_Width * espyTest_Height];
    uint32_t ids[espyTest_Width * espyTest_Height];
    uint32_t index[4], flag[4];
    uint64_t counts[espyTest_Boxes];
} espyTestPicture;

static void espyTest_Poll(espyDevice* device, uint64_t* counts, uint32_t wanted, uint64_t frame)
{
    for (uint32_t tries = 0; wanted > 0 && tries < 10000; ++tries)
    {
        espyDeviceAnswer answer;
        if (device->poll(device->context, &answer, 1) == 1)
        {
            assert_int_equal(answer.frame, frame);
            counts[answer.tag] = answer.value;
            --wanted;
        }
        else
        {
            espyTest_Sleep();
        }
    }
    assert_int_equal(wanted, 0);
}

/// Boxes straight on, with corners on whole pixels and depths that are sums of few powers of two: nothing is rounded
/// on either side.
static void espyTest_Paint(espyDevice* device, bool reversedZ, uint64_t seed, espyTestPicture* out)
{
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = espyTest_Width;
    targetDef.height = espyTest_Height;
    targetDef.ids = true;
    targetDef.reversedZ = reversedZ;
    espyDevicePass pass = {.clearDepth = true, .clearIds = true};
    assert_int_equal(device->createTarget(device->context, &targetDef, &pass.target), espyResult_Ok);
    pass.viewProjection[0] = espyMat4_Identity();
    // Half a pixel off the grid of the middle where the width is odd: whole pixels all the same.
    pass.viewProjection[0].m[0] = 2.0f / 64.0f;
    pass.viewProjection[0].m[5] = 2.0f / 64.0f;
    pass.viewProjection[0].m[15] = 1.0f;
    espyDeviceDraw draws[espyTest_Boxes];
    espyDeviceQuery queries[espyTest_Boxes];
    espyiRng rng = espyiRng_Seed(seed);
    for (uint32_t i = 0; i < espyTest_Boxes; ++i)
    {
        float x = (float)espyiRng_Below(&rng, 64) - 32.0f, y = (float)espyiRng_Below(&rng, 64) - 32.0f;
        float z = (float)(8 + espyiRng_Below(&rng, 48)) / 64.0f;
        espyVec3 half = {(float)(1 + espyiRng_Below(&rng, 12)), (float)(1 + espyiRng_Below(&rng, 12)), 1.0f / 64.0f};
        draws[i] = (espyDeviceDraw){.toWorld = espyDeviceCase_Place((espyVec3){x, y, z}, half), .id = 2 * i};
        queries[i] = (espyDeviceQuery){.tag = i, .kind = espyQueryKind_Count, .firstProxy = i, .proxyCount = 1};
    }
    static uint64_t frame;
    void* c = device->context;
    assert_int_equal(device->beginFrame(c, ++frame), espyResult_Ok);
    assert_int_equal(device->beginPass(c, &pass), espyResult_Ok);
    assert_int_equal(device->drawDepth(c, draws + 40, espyTest_Boxes - 40), espyResult_Ok);
    assert_int_equal(device->drawIds(c, draws, 40, espyIdMode_Index), espyResult_Ok);
    assert_int_equal(device->query(c, queries, espyTest_Boxes, draws, espyTest_Boxes), espyResult_Ok);
    assert_int_equal(device->endPass(c), espyResult_Ok);
    assert_int_equal(device->readIds(c, pass.target, 120, out->index), espyResult_Ok);
    assert_int_equal(device->readPixels(c, pass.target, out->depth, out->ids), espyResult_Ok);
    pass.clearDepth = false;
    assert_int_equal(device->beginPass(c, &pass), espyResult_Ok);
    assert_int_equal(device->drawIds(c, draws, 40, espyIdMode_Flag), espyResult_Ok);
    assert_int_equal(device->endPass(c), espyResult_Ok);
    assert_int_equal(device->readIds(c, pass.target, 120, out->flag), espyResult_Ok);
    assert_int_equal(device->endFrame(c), espyResult_Ok);
    espyTest_Poll(device, out->counts, espyTest_Boxes, frame);
    device->destroyTarget(c, pass.target);
}

static void test_same_pixels_as_soft(void** state)
{
    (void)state;
    espyDevice device = espyTest_Create(), soft;
    espySoftDeviceDef softDef = espySoftDeviceDef_Default();
    assert_int_equal(espySoftDevice_Create(&softDef, &soft), espyResult_Ok);
    static espyTestPicture expected, found;
    uint32_t withId = 0, counted = 0;
    for (uint64_t seed = 1; seed <= 12; ++seed)
    {
        memset(&expected, 0, sizeof expected);
        memset(&found, 0, sizeof found);
        espyTest_Paint(&soft, seed % 2 == 0, seed, &expected);
        espyTest_Paint(&device, seed % 2 == 0, seed, &found);
        for (uint32_t i = 0; i < espyTest_Width * espyTest_Height; ++i)
        {
            if (expected.depth[i] != found.depth[i] || expected.ids[i] != found.ids[i])
            {
                print_error("seed %llu pixel %u %u: depth %.9g id %u, soft %.9g %u\n", (unsigned long long)seed,
                            i % espyTest_Width, i / espyTest_Width, (double)found.depth[i], found.ids[i],
                            (double)expected.depth[i], expected.ids[i]);
                fail();
            }
            withId += found.ids[i] != ESPY_RASTER_NO_ID ? 1u : 0u;
        }
        assert_memory_equal(expected.index, found.index, sizeof found.index);
        assert_memory_equal(expected.flag, found.flag, sizeof found.flag);
        assert_memory_equal(expected.counts, found.counts, sizeof found.counts);
        counted += found.counts[3] > 0 ? 1u : 0u;
    }
    assert_true(withId > 5000 && counted > 3);
    espyTest_Silent(&device);
    espyVulkanDevice_Destroy(&device);
    espySoftDevice_Destroy(&soft);
}

// --- frames

/// Many frames without a single wait: what is answered is right, what is not was left out.
static void test_frames_in_flight(void** state)
{
    (void)state;
    espyDevice device = espyTest_Create();
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = 64;
    targetDef.height = 64;
    espyDevicePass pass = {.clearDepth = true, .viewProjection = {espyMat4_Identity()}};
    device.createTarget(device.context, &targetDef, &pass.target);
    pass.viewProjection[0].m[0] = pass.viewProjection[0].m[5] = 2.0f / 64.0f;
    espyDeviceDraw proxies[5];
    for (uint32_t i = 0; i < 5; ++i)
    {
        espyVec3 half = {(float)i + 1.0f, 2.0f, 0.1f};
        proxies[i] = (espyDeviceDraw){.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, half)};
    }
    uint32_t answered = 0;
    static bool got[10001 * 8];
    memset(got, 0, sizeof got);
    // A hundred frames as fast as they can be recorded, then slower ones until enough was answered.
    uint64_t frame = 0;
    while (frame < 300 || (answered < 100 && frame < 10000))
    {
        ++frame;
        if (frame > 100)
        {
            espyTest_Sleep();
        }
        assert_int_equal(device.beginFrame(device.context, frame), espyResult_Ok);
        assert_int_equal(device.beginPass(device.context, &pass), espyResult_Ok);
        espyDeviceQuery queries[5];
        for (uint32_t i = 0; i < 5; ++i)
        {
            espyQueryKind kind = i % 2 ? espyQueryKind_Any : espyQueryKind_Count;
            queries[i] = (espyDeviceQuery){
                .tag = frame * 8 + i, .kind = kind, .firstProxy = i, .proxyCount = frame % 50 == 0 ? 0 : 1};
        }
        assert_int_equal(device.query(device.context, queries, 5, proxies, 5), espyResult_Ok);
        assert_int_equal(device.endPass(device.context), espyResult_Ok);
        assert_int_equal(device.endFrame(device.context), espyResult_Ok);
        espyDeviceAnswer answers[3];
        uint32_t count;
        while ((count = device.poll(device.context, answers, 3)) > 0)
        {
            for (uint32_t i = 0; i < count; ++i)
            {
                uint64_t which = answers[i].tag % 8, sum = 2 * (2 * (which + 1)) * 4;
                assert_int_equal(answers[i].tag / 8, answers[i].frame);
                assert_true(answers[i].tag < sizeof got && !got[answers[i].tag]);
                got[answers[i].tag] = true;
                sum = answers[i].frame % 50 == 0 ? 0 : sum;
                assert_true(which % 2 ? (answers[i].value != 0) == (sum != 0) : answers[i].value == sum);
                ++answered;
            }
        }
    }
    print_message("%u of %llu queries were answered without a wait\n", answered, 5 * (unsigned long long)frame);
    assert_true(answered >= 100 && answered <= 5 * frame);
    espyTest_Silent(&device);
    espyVulkanDevice_Destroy(&device);
}

/// Meshes and targets that go while commands that name them are recorded or under way.
static void test_destroy_in_flight(void** state)
{
    (void)state;
    espyDevice device = espyTest_Create();
    void* c = device.context;
    espyTriangles box = espyDeviceReference_Box();
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = 40;
    targetDef.height = 30;
    targetDef.ids = true;
    uint64_t total = 0;
    for (uint64_t frame = 1; frame <= 40 || (total < 20 && frame < 10000); ++frame)
    {
        espyTest_Sleep();
        espyDeviceMesh mesh;
        espyDevicePass pass = {.clearDepth = true, .clearIds = true, .viewProjection = {espyMat4_Identity()}};
        assert_int_equal(device.createTarget(c, &targetDef, &pass.target), espyResult_Ok);
        assert_int_equal(device.createMesh(c, &box, false, &mesh), espyResult_Ok);
        espyDeviceDraw draw = {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, (espyVec3){0.5f, 0.5f, 0.1f}),
                               .mesh = mesh};
        espyDeviceQuery query = {.tag = frame, .kind = espyQueryKind_Count, .proxyCount = 1};
        assert_int_equal(device.beginFrame(c, frame), espyResult_Ok);
        assert_int_equal(device.beginPass(c, &pass), espyResult_Ok);
        assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_Ok);
        assert_int_equal(device.drawIds(c, &draw, 1, espyIdMode_Index), espyResult_Ok);
        if (frame % 4 == 0)
        {
            device.destroyTarget(c, pass.target); // Ends its pass.
        }
        else
        {
            assert_int_equal(device.endPass(c), espyResult_Ok);
        }
        device.destroyMesh(c, mesh);
        assert_int_equal(device.endFrame(c), espyResult_Ok);
        if (frame % 4 != 0)
        {
            device.destroyTarget(c, pass.target);
        }
        espyDeviceAnswer answer;
        while (device.poll(c, &answer, 1) == 1)
        {
            assert_int_equal(answer.value, 2 * 20 * 15);
            ++total;
        }
        assert_int_equal(device.drawDepth(c, &draw, 1), espyResult_InvalidArgument);
    }
    espyTest_Silent(&device);
    espyVulkanDevice_Destroy(&device);
    assert_true(total >= 20);
}

static void test_refusals_and_loss(void** state)
{
    (void)state;
    espyDevice device = espyTest_Create();
    void* c = device.context;
    const espyResult bad = espyResult_InvalidArgument;
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    targetDef.width = targetDef.height = 16;
    espyDevicePass pass = {.clearDepth = true, .viewProjection = {espyMat4_Identity()}};
    assert_int_equal(device.createTarget(c, &targetDef, &pass.target), espyResult_Ok);
    espyDeviceDraw draw = {.toWorld = espyMat4_Identity()};
    espyDeviceQuery query = {.proxyCount = 1};
    uint32_t bits[2];
    assert_int_equal(device.beginPass(c, &pass), bad);
    assert_int_equal(device.endFrame(c), bad);
    assert_int_equal(device.beginFrame(c, 5), espyResult_Ok);
    assert_int_equal(device.beginFrame(c, 5), bad);
    assert_int_equal(device.drawDepth(c, &draw, 1), bad);
    assert_int_equal(device.endPass(c), bad);
    assert_int_equal(device.beginPass(c, &pass), espyResult_Ok);
    assert_int_equal(device.beginPass(c, &pass), bad);
    assert_int_equal(device.drawIds(c, &draw, 1, espyIdMode_Flag), bad); // A target without ids.
    assert_int_equal(device.readIds(c, pass.target, 32, bits), bad);
    draw.mesh.value = 77;
    assert_int_equal(device.query(c, &query, 1, &draw, 1), bad);
    draw.mesh.value = 0;
    draw.toWorld.m[0] = __builtin_nanf("");
    assert_int_equal(device.query(c, &query, 1, &draw, 1), bad);
    draw.toWorld.m[0] = 1.0f;
    query.proxyCount = 2;
    assert_int_equal(device.query(c, &query, 1, &draw, 1), bad);
    query.proxyCount = 1;
    query.kind = (espyQueryKind)5;
    assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_Unsupported);
    query.kind = espyQueryKind_Any;
    static espyDeviceQuery queries[1025];
    static espyDeviceDraw draws[4097];
    assert_int_equal(device.query(c, queries, 1025, &draw, 1), espyResult_LimitExceeded);
    for (uint32_t i = 0; i < 4097; ++i)
    {
        draws[i] = draw;
    }
    assert_int_equal(device.drawDepth(c, draws, 4097), espyResult_LimitExceeded);
    assert_int_equal(device.endPass(c), espyResult_Ok);
    assert_int_equal(device.endFrame(c), espyResult_Ok);
    // The driver is gone.
    assert_int_equal(device.beginFrame(c, 6), espyResult_Ok);
    espyiVulkanDevice_Lose(&device);
    espyDeviceAnswer answer;
    espyDeviceMesh mesh;
    espyTriangles box = espyDeviceReference_Box();
    assert_int_equal(device.beginPass(c, &pass), espyResult_DeviceLost);
    assert_int_equal(device.drawDepth(c, &draw, 1), espyResult_DeviceLost);
    assert_int_equal(device.query(c, &query, 1, &draw, 1), espyResult_DeviceLost);
    assert_int_equal(device.endPass(c), espyResult_DeviceLost);
    assert_int_equal(device.endFrame(c), espyResult_DeviceLost);
    assert_int_equal(device.beginFrame(c, 7), espyResult_DeviceLost);
    assert_int_equal(device.readIds(c, pass.target, 32, bits), espyResult_DeviceLost);
    assert_int_equal(device.readPixels(c, pass.target, NULL, NULL), espyResult_DeviceLost);
    assert_int_equal(device.createMesh(c, &box, false, &mesh), espyResult_DeviceLost);
    assert_int_equal(device.createTarget(c, &targetDef, &pass.target), espyResult_DeviceLost);
    assert_int_equal(device.poll(c, &answer, 1), 0);
    espyTest_Silent(&device);
    espyVulkanDevice_Destroy(&device);
    espyVulkanDevice_Destroy(&device);
    espyVulkanDevice_Destroy(NULL);
    espyVulkanDeviceDef def = espyTest_Def();
    def.framesInFlight = 1;
    assert_int_equal(espyVulkanDevice_Create(&def, &device), bad);
    def = espyTest_Def();
    def.deviceName = "no device has this name";
    assert_int_equal(espyVulkanDevice_Create(&def, &device), espyResult_Unsupported);
}

// --- the engine's own device and depth

typedef struct espyTestClear
{
    VkImage image;
    VkImageAspectFlags aspect;
    VkImageLayout layout;
    float depth;
} espyTestClear;

static void espyTest_RecordClear(VkCommandBuffer commands, void* context)
{
    const espyTestClear* clear = (const espyTestClear*)context;
    VkImageSubresourceRange range = {.aspectMask = clear->aspect, .levelCount = 1, .layerCount = 1};
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                    .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = clear->image,
                                    .subresourceRange = range};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0,
                         NULL, 1, &barrier);
    VkClearDepthStencilValue value = {.depth = clear->depth};
    vkCmdClearDepthStencilImage(commands, clear->image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &value, 1, &range);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
    barrier.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    barrier.newLayout = clear->layout;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0,
                         NULL, 1, &barrier);
}

static void espyTest_WrapOne(const espyiVulkan* engine, espyDevice* device, VkFormat format, uint32_t samples,
                             uint64_t frame)
{
    VkImageFormatProperties formatProperties;
    const VkImageUsageFlags usage =
        VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    if (vkGetPhysicalDeviceImageFormatProperties(engine->physical, format, VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                                                 usage, 0, &formatProperties) != VK_SUCCESS ||
        !(formatProperties.sampleCounts & samples))
    {
        print_message("format %d with %u samples: not here\n", (int)format, samples);
        return;
    }
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = format,
                              .extent = {64, 32, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = (VkSampleCountFlagBits)samples,
                              .usage = usage};
    VkImage image;
    VkDeviceMemory memory;
    assert_int_equal(vkCreateImage(engine->device, &info, NULL, &image), VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(engine->device, image, &needs);
    VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .allocationSize = needs.size,
                                       .memoryTypeIndex = espyiVulkan_FindMemory(engine, needs.memoryTypeBits, 0, 0)};
    assert_int_equal(vkAllocateMemory(engine->device, &allocation, NULL, &memory), VK_SUCCESS);
    assert_int_equal(vkBindImageMemory(engine->device, image, memory, 0), VK_SUCCESS);
    VkImageAspectFlags aspect = VK_IMAGE_ASPECT_DEPTH_BIT;
    aspect |= espyiVulkan_HasStencil(format) ? (VkImageAspectFlags)VK_IMAGE_ASPECT_STENCIL_BIT : 0u;
    espyTestClear clear = {image, aspect, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, 0.5f};
    assert_int_equal(espyiVulkan_Run(engine, espyTest_RecordClear, &clear), espyResult_Ok);

    espyVulkanDepthDef def = espyVulkanDepthDef_Default();
    memcpy(&def.image, &image, sizeof image);
    def.format = (uint32_t)format;
    def.layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    def.width = 64;
    def.height = 32;
    def.samples = samples;
    def.ids = true;
    espyDevicePass pass = {.viewProjection = {espyMat4_Identity()}, .clearIds = true};
    assert_int_equal(espyVulkanDevice_WrapDepth(device, &def, &pass.target), espyResult_Ok);
    // Half of the screen each way: 32 x 16 pixels; before the depth, behind it, and across it.
    espyVec3 half = {0.5f, 0.5f, 0.1f};
    espyDeviceDraw proxies[3] = {{.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.3f}, half), .id = 11},
                                 {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.7f}, half), .id = 12},
                                 {.toWorld = espyDeviceCase_Place((espyVec3){0, 0, 0.5f}, half), .id = 13}};
    espyDeviceQuery queries[3];
    for (uint32_t i = 0; i < 3; ++i)
    {
        queries[i] = (espyDeviceQuery){.tag = i, .kind = espyQueryKind_Count, .firstProxy = i, .proxyCount = 1};
    }
    void* c = device->context;
    uint32_t bits[1];
    assert_int_equal(device->beginFrame(c, frame), espyResult_Ok);
    assert_int_equal(device->beginPass(c, &pass), espyResult_Ok);
    assert_int_equal(device->query(c, queries, 3, proxies, 3), espyResult_Ok);
    assert_int_equal(device->drawIds(c, proxies, 3, espyIdMode_Flag), espyResult_Ok);
    assert_int_equal(device->endPass(c), espyResult_Ok);
    assert_int_equal(device->readIds(c, pass.target, 32, bits), espyResult_Ok);
    assert_int_equal(device->endFrame(c), espyResult_Ok);
    assert_int_equal(device->readPixels(c, pass.target, NULL, NULL), espyResult_Unsupported);
    uint64_t counts[3] = {0};
    espyTest_Poll(device, counts, 3, frame);
    assert_int_equal(counts[0], 2u * 32u * 16u * samples);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], 32u * 16u * samples);
    assert_int_equal(bits[0], 1u << 11 | 1u << 13);
    device->destroyTarget(c, pass.target);
    // The engine may free its image once its own work, and this, have ended.
    assert_int_equal(vkDeviceWaitIdle(engine->device), VK_SUCCESS);
    assert_int_equal(device->beginFrame(c, frame + 1), espyResult_Ok);
    assert_int_equal(device->endFrame(c), espyResult_Ok);
    assert_int_equal(vkDeviceWaitIdle(engine->device), VK_SUCCESS);
    vkDestroyImage(engine->device, image, NULL);
    vkFreeMemory(engine->device, memory, NULL);
}

static void test_engines_own(void** state)
{
    (void)state;
    espyiVulkanWish wish = {.hooks = espyiHooks_Resolve(&(espyHooks){0}), .validates = true};
    espyiVulkan engine;
    if (espyiVulkan_Boot(&wish, &engine) != espyResult_Ok)
    {
        skip();
    }
    espyVulkanDeviceDef def = espyTest_Def();
    def.validates = false;
    def.instance = engine.instance;
    def.physicalDevice = engine.physical;
    def.device = engine.device;
    def.queue = engine.queue;
    def.queueFamily = engine.queueFamily;
    def.occlusionQueryPrecise = engine.preciseQueries;
    def.fragmentStoresAndAtomics = engine.fragmentStores;
    espyDevice device;
    assert_int_equal(espyVulkanDevice_Create(&def, &device), espyResult_Ok);
    static const VkFormat formats[] = {VK_FORMAT_D32_SFLOAT, VK_FORMAT_D16_UNORM, VK_FORMAT_X8_D24_UNORM_PACK32,
                                       VK_FORMAT_D24_UNORM_S8_UINT, VK_FORMAT_D32_SFLOAT_S8_UINT};
    uint64_t frame = 1;
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(formats); ++i)
    {
        for (uint32_t samples = 1; samples <= 4; samples *= 4)
        {
            espyTest_WrapOne(&engine, &device, formats[i], samples, frame);
            frame += 2;
        }
    }
    espyVulkanDepthDef wrong = espyVulkanDepthDef_Default();
    espyDeviceTarget target;
    wrong.image = 1;
    wrong.width = wrong.height = 8;
    wrong.format = VK_FORMAT_R8G8B8A8_UNORM;
    assert_int_equal(espyVulkanDevice_WrapDepth(&device, &wrong, &target), espyResult_Unsupported);
    wrong.format = VK_FORMAT_D32_SFLOAT;
    wrong.samples = 3;
    assert_int_equal(espyVulkanDevice_WrapDepth(&device, &wrong, &target), espyResult_Unsupported);
    espyDevice other = espyDevice_Default();
    assert_int_equal(espyVulkanDevice_WrapDepth(&other, &wrong, &target), espyResult_InvalidArgument);
    espyVulkanDevice_Destroy(&device);
    // Complains of everything that is still there.
    vkDestroyDevice(engine.device, NULL);
    engine.device = VK_NULL_HANDLE;
    if (engine.messages->count > 0)
    {
        print_error("validation: %s\n", engine.messages->first);
        fail();
    }
    espyiVulkan_Shut(&engine);
}

static void espyTest_RecordHazard(VkCommandBuffer commands, void* context)
{
    const espyiVulkanBuffer* buffer = (const espyiVulkanBuffer*)context;
    vkCmdFillBuffer(commands, buffer->buffer, 0, VK_WHOLE_SIZE, 1);
    vkCmdFillBuffer(commands, buffer->buffer, 0, VK_WHOLE_SIZE, 2); // No barrier in between.
}

/// Silence means something: a missing barrier is heard.
static void test_validation_hears(void** state)
{
    (void)state;
    espyiVulkanWish wish = {.hooks = espyiHooks_Resolve(&(espyHooks){0}), .validates = true};
    espyiVulkan vulkan;
    if (espyiVulkan_Boot(&wish, &vulkan) != espyResult_Ok)
    {
        skip();
    }
    espyiVulkanBuffer buffer;
    assert_int_equal(espyiVulkan_CreateBuffer(&vulkan, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT, 0, 0, &buffer),
                     espyResult_Ok);
    assert_int_equal(espyiVulkan_Run(&vulkan, espyTest_RecordHazard, &buffer), espyResult_Ok);
    assert_int_equal(vulkan.messages->count, 1);
    assert_non_null(strstr(vulkan.messages->first, "HAZARD"));
    espyiVulkan_DestroyBuffer(&vulkan, &buffer);
    espyiVulkan_Shut(&vulkan);
}

static void test_memory(void** state)
{
    (void)state;
    // Each of the first allocations fails once; nothing leaks and frames allocate nothing.
    for (unsigned failAt = 0; failAt < 14; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyVulkanDeviceDef def = espyTest_Def();
        def.validates = false;
        def.hooks = espyHookCounter_Hooks(&counter);
        espyDevice device;
        espyResult result = espyVulkanDevice_Create(&def, &device);
        if (result == espyResult_Unsupported)
        {
            skip();
        }
        assert_true(result == espyResult_Ok || (failAt > 0 && result == espyResult_OutOfMemory));
        espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
        targetDef.width = targetDef.height = 16;
        targetDef.ids = true;
        espyDevicePass pass = {.clearDepth = true, .viewProjection = {espyMat4_Identity()}};
        if (result == espyResult_Ok && device.createTarget(device.context, &targetDef, &pass.target) == espyResult_Ok)
        {
            unsigned calls = counter.calls;
            espyDeviceDraw draw = {.toWorld = espyMat4_Identity()};
            device.beginFrame(device.context, 1);
            device.beginPass(device.context, &pass);
            device.drawDepth(device.context, &draw, 1);
            device.drawIds(device.context, &draw, 1, espyIdMode_Index);
            device.endPass(device.context);
            device.endFrame(device.context);
            assert_int_equal(counter.calls, calls);
        }
        espyVulkanDevice_Destroy(&device);
        assert_int_equal(counter.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validation_hears),    cmocka_unit_test(test_refusals_and_loss),
        cmocka_unit_test(test_same_pixels_as_soft), cmocka_unit_test(test_answers_as_the_reference),
        cmocka_unit_test(test_frames_in_flight),    cmocka_unit_test(test_destroy_in_flight),
        cmocka_unit_test(test_engines_own),         cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
