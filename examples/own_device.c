// SPDX-License-Identifier: MIT
// An engine's own renderer as a device: only boolean queries, over the depth that the engine draws anyway. The renderer
// here is a stand-in of a few lines; what matters is which function hands what to it.
#include <espy/device.h>
#include <stdio.h>
#include <string.h>

#define MOST_QUERIES 256u
#define FRAMES 3u

/// Queries of one frame, and where their values land when the GPU is done.
typedef struct MyFrame
{
    espyDeviceAnswer answers[MOST_QUERIES];
    uint32_t count, given;
    uint64_t fence; ///< The GPU has passed it: the answers are there.
} MyFrame;

/// What an engine has: a graphics queue with a fence, and a way to draw a box between two query commands.
typedef struct MyRenderer
{
    MyFrame ring[FRAMES];
    MyFrame* now; ///< Null: the GPU still works on this place of the ring, and the frame is left out.
    uint64_t frame, submitted, passed;
    espyMat4 viewProjection;
    bool inPass;
} MyRenderer;

/// Stands for: begin query, draw the box with the depth test and without writing, end query, resolve.
static uint64_t MyGpu_CountSamples(const MyRenderer* renderer, const espyDeviceDraw* box)
{
    float w = espyMat4_Multiply(renderer->viewProjection, box->toWorld).m[15];
    return w > 0.0f ? 1000 : 0;
}

static espyResult MyDevice_BeginFrame(void* context, uint64_t frame)
{
    MyRenderer* renderer = context;
    if (frame <= renderer->frame)
    {
        return espyResult_InvalidArgument;
    }
    MyFrame* place = &renderer->ring[frame % FRAMES];
    renderer->frame = frame;
    renderer->now = place->fence <= renderer->passed ? place : NULL; // Never wait: leave the frame out.
    if (renderer->now != NULL)
    {
        place->count = place->given = 0;
    }
    return espyResult_Ok;
}

static espyResult MyDevice_BeginPass(void* context, const espyDevicePass* pass)
{
    MyRenderer* renderer = context;
    renderer->viewProjection = pass->viewProjection[0]; // Over the depth of the engine's own pass.
    renderer->inPass = true;
    return espyResult_Ok;
}

static espyResult MyDevice_Query(void* context, const espyDeviceQuery* queries, uint32_t count,
                                 const espyDeviceDraw* proxies, uint32_t proxyCount)
{
    MyRenderer* renderer = context;
    MyFrame* now = renderer->now;
    (void)proxyCount;
    if (!renderer->inPass)
    {
        return espyResult_InvalidArgument;
    }
    if (now == NULL)
    {
        return espyResult_Ok; // No answers will come, and so everything is drawn.
    }
    if (count > MOST_QUERIES - now->count)
    {
        return espyResult_LimitExceeded; // All of a call's queries or none.
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        uint64_t samples = 0;
        for (uint32_t p = 0; p < queries[i].proxyCount; ++p)
        {
            samples += MyGpu_CountSamples(renderer, &proxies[queries[i].firstProxy + p]);
        }
        now->answers[now->count++] = (espyDeviceAnswer){queries[i].tag, renderer->frame, samples};
    }
    return espyResult_Ok;
}

static espyResult MyDevice_EndPass(void* context)
{
    MyRenderer* renderer = context;
    renderer->inPass = false;
    return espyResult_Ok;
}

static espyResult MyDevice_EndFrame(void* context)
{
    MyRenderer* renderer = context;
    if (renderer->now != NULL)
    {
        renderer->now->fence = ++renderer->submitted; // Submit, and let the queue signal the fence.
    }
    return espyResult_Ok;
}

static uint32_t MyDevice_Poll(void* context, espyDeviceAnswer* out, uint32_t capacity)
{
    MyRenderer* renderer = context;
    uint32_t written = 0;
    for (uint32_t i = 0; i < FRAMES; ++i)
    {
        MyFrame* place = &renderer->ring[i];
        uint32_t left = place->count - place->given, room = capacity - written, run = left < room ? left : room;
        if (place == renderer->now || place->fence > renderer->passed)
        {
            continue; // The GPU is not there yet.
        }
        memcpy(out + written, place->answers + place->given, run * sizeof *out);
        place->given += run;
        written += run;
    }
    return written;
}

static espyDevice MyDevice_Make(MyRenderer* renderer)
{
    espyDevice device = espyDevice_Default(); // Every function says Unsupported ...
    device.context = renderer;
    device.caps.anyQueries = true;
    device.caps.maxQueriesPerFrame = MOST_QUERIES;
    device.caps.samplesPerPixel = 1;
    device.caps.maxLayers = 1;
    device.beginFrame = MyDevice_BeginFrame; // ... but for those that this renderer has.
    device.beginPass = MyDevice_BeginPass;
    device.query = MyDevice_Query;
    device.endPass = MyDevice_EndPass;
    device.endFrame = MyDevice_EndFrame;
    device.poll = MyDevice_Poll;
    return device;
}

int main(void)
{
    static MyRenderer renderer;
    espyDevice device = MyDevice_Make(&renderer);
    const char* field;
    if (espyDevice_Validate(&device, &field) != espyResult_Ok)
    {
        printf("the table lacks %s\n", field);
        return 1;
    }
    // What a visibility system does with it, once a frame.
    espyDeviceDraw proxy = {.toWorld = espyMat4_Identity()};
    espyDevicePass pass = {.target = {1}, .viewProjection = {espyMat4_Identity()}};
    uint32_t answered = 0;
    for (uint64_t frame = 1; frame <= 10; ++frame)
    {
        espyDeviceQuery query = {.tag = frame, .kind = espyQueryKind_Any, .proxyCount = 1};
        device.beginFrame(device.context, frame);
        device.beginPass(device.context, &pass);
        device.query(device.context, &query, 1, &proxy, 1);
        device.endPass(device.context);
        device.endFrame(device.context);
        renderer.passed = renderer.submitted > 1 ? renderer.submitted - 1 : 0; // This GPU is one frame behind.
        espyDeviceAnswer answers[8];
        answered += device.poll(device.context, answers, 8);
    }
    printf("%u of 10 answers came so far\n", answered);
    return answered == 9 ? 0 : 1;
}
