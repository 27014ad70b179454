// SPDX-License-Identifier: MIT
// What the software device draws and answers: depth, ids of both modes and counts of turned boxes, from two eyes.
#include "image_answers.h"

#include <espy/device.h>

#include "core/core.h"

enum
{
    espyTarget_Opaque = 40,
    espyTarget_Proxies = 120,
    espyTarget_Width = 93,
    espyTarget_Height = 61,
};

/// Turned about y by a tenth of a circle or so, without a library's sine.
static espyMat4 espyTarget_Pose(espyiRng* rng)
{
    espyMat4 m = espyMat4_Identity();
    float half = 0.1f + espyiRng_Float(rng) * 1.5f, t = espyiRng_Float(rng) * 0.5f, scale = half / (1.0f + t * t);
    m.m[0] = m.m[10] = (1.0f - t * t) * scale;
    m.m[2] = -2.0f * t * scale;
    m.m[8] = 2.0f * t * scale;
    m.m[5] = half;
    m.m[12] = espyiRng_Float(rng) * 24.0f - 12.0f;
    m.m[13] = espyiRng_Float(rng) * 14.0f - 7.0f;
    m.m[14] = -2.0f - espyiRng_Float(rng) * 30.0f;
    return m;
}

/// The kernels that rasters get.
static espyIsa espyTarget_GetIsa(espyIsa cap)
{
    espyRasterDef def = espyRasterDef_Default();
    def.width = def.height = 8;
    def.maxBatches = 1;
    def.isaCap = cap;
    espyRaster* raster;
    espyIsa isa = espyIsa_Scalar;
    if (espyRaster_Create(&def, &raster) == espyResult_Ok)
    {
        isa = espyRaster_GetIsa(raster);
        espyRaster_Destroy(raster);
    }
    return isa;
}

espyTargetImages espyTargetImages_Draw(espyIsa cap)
{
    static espyDeviceDraw draws[espyTarget_Opaque + espyTarget_Proxies];
    static espyDeviceQuery queries[espyTarget_Proxies];
    static espyDeviceAnswer answers[espyTarget_Proxies];
    static uint32_t pixels[espyTarget_Width * espyTarget_Height], index[8], flag[8];
    static float depth[espyTarget_Width * espyTarget_Height];
    espyTargetImages images = {.isa = espyTarget_GetIsa(cap)};
    espySoftDeviceDef def = espySoftDeviceDef_Default();
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    espyDevicePass pass = {.clearDepth = true, .clearIds = true};
    espyDevice device;
    espyiRng rng = espyiRng_Seed(2026);
    def.isaCap = cap;
    def.maxQueriesPerFrame = espyTarget_Proxies;
    def.maxIds = 256;
    targetDef.width = espyTarget_Width;
    targetDef.height = espyTarget_Height;
    targetDef.layers = 2;
    targetDef.ids = targetDef.reversedZ = true;
    if (espySoftDevice_Create(&def, &device) != espyResult_Ok ||
        device.createTarget(device.context, &targetDef, &pass.target) != espyResult_Ok)
    {
        espySoftDevice_Destroy(&device);
        return images;
    }
    for (uint32_t eye = 0; eye < 2; ++eye)
    {
        espyMat4* view = &pass.viewProjection[eye];
        *view = (espyMat4){{0}};
        view->m[0] = 1.0f;
        view->m[5] = 1.67f;
        view->m[11] = -1.0f;
        view->m[12] = eye == 0 ? -0.03f : 0.03f;
        view->m[14] = 0.25f;
    }
    for (uint32_t i = 0; i < espyTarget_Opaque + espyTarget_Proxies; ++i)
    {
        draws[i].toWorld = espyTarget_Pose(&rng);
        draws[i].id = i;
    }
    for (uint32_t i = 0; i < espyTarget_Proxies; ++i)
    {
        queries[i] = (espyDeviceQuery){.tag = i, .kind = espyQueryKind_Count, .firstProxy = i, .proxyCount = 1};
    }
    bool good = device.beginFrame(device.context, 1) == espyResult_Ok;
    good = good && device.beginPass(device.context, &pass) == espyResult_Ok;
    good = good && device.drawDepth(device.context, draws + espyTarget_Proxies, espyTarget_Opaque) == espyResult_Ok;
    good = good && device.drawIds(device.context, draws, espyTarget_Proxies, espyIdMode_Index) == espyResult_Ok;
    good =
        good && device.query(device.context, queries, espyTarget_Proxies, draws, espyTarget_Proxies) == espyResult_Ok;
    good = good && device.endPass(device.context) == espyResult_Ok;
    good = good && device.readIds(device.context, pass.target, 256, index) == espyResult_Ok;
    good = good && device.readPixels(device.context, pass.target, depth, pixels) == espyResult_Ok;
    pass.clearDepth = false;
    good = good && device.beginPass(device.context, &pass) == espyResult_Ok;
    good = good && device.drawIds(device.context, draws, espyTarget_Proxies, espyIdMode_Flag) == espyResult_Ok;
    good = good && device.endPass(device.context) == espyResult_Ok;
    good = good && device.readIds(device.context, pass.target, 256, flag) == espyResult_Ok;
    good = good && device.endFrame(device.context) == espyResult_Ok;
    good = good && device.poll(device.context, answers, espyTarget_Proxies) == espyTarget_Proxies;
    espySoftDevice_Destroy(&device);
    images.succeeded = good;
    images.hash = espyiHash_Words(espyiHash_Words(1, index, 8), flag, 8);
    images.hash = espyiHash_Words(images.hash, pixels, ESPYI_ARRAY_COUNT(pixels));
    for (uint32_t i = 0; i < espyTarget_Proxies; ++i)
    {
        images.hash = espyiHash_U64(images.hash, answers[i].value);
    }
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(depth); ++i)
    {
        union
        {
            float value;
            uint32_t bits;
        } same = {depth[i]};
        images.hash = espyiHash_U64(images.hash, same.bits);
        images.dark += pixels[i] != ESPY_RASTER_NO_ID ? 1u : 0u;
    }
    return images;
}
