// SPDX-License-Identifier: MIT
// Pictures of proxy occlusion: a crowd far past the range of shadow maps, with and without, and a capsule that lies on
// the floor beside what the usual approximation makes of it. Usage: espy-proxy-demo OUT_CROWD.png OUT_LYING.png
#include <espy/proxy.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "scenes/proxy_scene.h"

#define ESPY_PANEL_WIDTH 800u
#define ESPY_PANEL_HEIGHT 560u
#define ESPY_CROWD 900u
#define ESPY_SHADOW_RANGE 60.0f

/// A hash of small numbers to [0, 1), so that the crowd is the same everywhere.
static float espyDemo_Random(uint32_t seed)
{
    seed = (seed ^ 61u) ^ (seed >> 16);
    seed *= 9u;
    seed = (seed ^ (seed >> 4)) * 0x27D4EB2Du;
    return (float)((seed ^ (seed >> 15)) >> 8) / 16777216.0f;
}

static void espyDemo_Draw(espyCanvas* canvas, uint32_t left, const espyProxyScene* scene, const char* caption)
{
    for (uint32_t y = 0; y < scene->height; ++y)
    {
        for (uint32_t x = 0; x < scene->width; ++x)
        {
            uint8_t rgb[3];
            for (size_t k = 0; k < 3; ++k)
            {
                float v = fminf(scene->lit[3 * ((size_t)y * scene->width + x) + k], 1);
                rgb[k] = (uint8_t)(powf(v, 1 / 2.2f) * 255 + 0.5f);
            }
            espyCanvas_Copy(canvas, (int32_t)(left + x), (int32_t)y, rgb, 1, 1);
        }
    }
    float wide = espyCanvas_MeasureText(15, caption);
    espyCanvas_FillRound(canvas, (float)left + 14, 14, wide + 24, 38, 8, 0x101820, 0.7f);
    (void)espyCanvas_DrawText(canvas, (float)left + 26, 41, 15, 2, 0xFFFFFF, caption);
}

/// Runs the pass over the scene. False says why on stderr.
static bool espyDemo_Apply(espyProxyScene* scene, const espyCapsule* capsules, uint32_t count)
{
    espyProxySetDef setDef = espyProxySetDef_Default();
    setDef.technique = espyProxyTechnique_Clusters;
    setDef.limit = ESPY_PROXY_CLUSTER_LIMIT;
    espyProxyPassDef passDef = espyProxyPassDef_Default();
    espyProxySet* set = NULL;
    espyProxyPass* pass = NULL;
    espyResult result = espyProxySet_Create(&setDef, &set);
    result = result == espyResult_Ok ? espyProxyPass_Create(&passDef, &pass) : result;
    for (uint32_t i = 0; result == espyResult_Ok && i < count; ++i)
    {
        espyProxyDef def = espyProxyDef_Default();
        def.a = capsules[i].a;
        def.b = capsules[i].b;
        def.hasB = true;
        def.radius = capsules[i].radiusA;
        def.owner = i + 1;
        def.selfStrength = 0;
        result = espyProxySet_SetId(set, i, &def, NULL);
    }
    result = result == espyResult_Ok ? espyProxyPass_Reserve(pass, set) : result;
    espyProxyImage image = espyProxyScene_Image(scene);
    result = result == espyResult_Ok ? espyProxyPass_Apply(pass, set, &scene->view, &image) : result;
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "espy-proxy-demo: %s\n", espyResult_GetName(result));
    }
    espyProxyPass_Destroy(pass);
    espyProxySet_Destroy(set);
    return result == espyResult_Ok;
}

static bool espyDemo_Write(const espyCanvas* canvas, const char* path)
{
    char message[256];
    bool written = espyCanvas_WritePng(canvas, path, message, sizeof message);
    if (!written)
    {
        fprintf(stderr, "espy-proxy-demo: %s: %s\n", path, message);
    }
    return written;
}

static bool espyDemo_Crowd(const char* path)
{
    static espyCapsule capsules[ESPY_CROWD], shadows[2 * ESPY_CROWD];
    espyProxyScene scene;
    espyCanvas canvas;
    // The eye is 14 m up; the crowd stands 50 to 150 m away, the shadow maps end at 60 m.
    if (!espyCanvas_Create(&canvas, 2 * ESPY_PANEL_WIDTH, ESPY_PANEL_HEIGHT, 0))
    {
        return false;
    }
    if (!espyProxyScene_Create(&scene, ESPY_PANEL_WIDTH, ESPY_PANEL_HEIGHT, (espyVec3){0, 14, 0},
                               (espyVec3){0, 0.2f, -68}, 0.2f))
    {
        espyCanvas_Free(&canvas);
        return false;
    }
    espyProxySurface floor = {.albedo = {0.52f, 0.5f, 0.46f}};
    espyProxyScene_AddPlane(&scene, (espyVec3){0, 0, 0}, (espyVec3){0, 1, 0}, &floor);
    for (uint32_t i = 0; i < ESPY_CROWD; ++i)
    {
        float x = (espyDemo_Random(7 * i + 1) - 0.5f) * 60, z = -50 - espyDemo_Random(7 * i + 2) * 100;
        float tall = 0.9f + 0.2f * espyDemo_Random(7 * i + 3);
        capsules[i] = (espyCapsule){{x, 0.22f, z}, {x, 1.25f * tall, z}, 0.22f, 0.22f};
        espyVec3 head = {x, 1.25f * tall + 0.36f, z};
        espyProxySurface cloth = {.albedo = {0.15f + 0.5f * espyDemo_Random(7 * i + 4),
                                             0.15f + 0.4f * espyDemo_Random(7 * i + 5),
                                             0.2f + 0.4f * espyDemo_Random(7 * i + 6)},
                                  .owner = i + 1};
        espyProxySurface skin = {.albedo = {0.55f, 0.4f, 0.3f}, .owner = i + 1};
        espyProxyScene_AddCapsule(&scene, capsules[i].a, capsules[i].b, 0.22f, &cloth);
        espyProxyScene_AddCapsule(&scene, head, head, 0.12f, &skin);
        shadows[2 * i] = capsules[i];
        shadows[2 * i + 1] = (espyCapsule){head, head, 0.12f, 0.12f};
    }
    espyProxyScene_Light(&scene, (espyVec3){0.5f, 0.8f, 0.45f}, 0.9f, 0.45f, shadows, 2 * ESPY_CROWD,
                         ESPY_SHADOW_RANGE);
    espyDemo_Draw(&canvas, 0, &scene, "shadow maps to 60 m, then nothing");
    bool done = espyDemo_Apply(&scene, capsules, ESPY_CROWD);
    espyDemo_Draw(&canvas, ESPY_PANEL_WIDTH, &scene, "with proxies, one capsule a person");
    done = done && espyDemo_Write(&canvas, path);
    espyProxyScene_Free(&scene);
    espyCanvas_Free(&canvas);
    return done;
}

/// The closest ball by the inverse-square rule: what is common.
static float espyDemo_InverseSquare(const espyCapsule* c, espyVec3 p, espyVec3 n)
{
    espyVec3 axis = {c->b.x - c->a.x, c->b.y - c->a.y, c->b.z - c->a.z};
    espyVec3 to = {p.x - c->a.x, p.y - c->a.y, p.z - c->a.z};
    float s = (to.x * axis.x + to.y * axis.y + to.z * axis.z) / (axis.x * axis.x + axis.y * axis.y + axis.z * axis.z);
    s = fminf(fmaxf(s, 0), 1);
    espyVec3 v = {s * axis.x - to.x, s * axis.y - to.y, s * axis.z - to.z};
    float d2 = v.x * v.x + v.y * v.y + v.z * v.z, height = v.x * n.x + v.y * n.y + v.z * n.z;
    return fminf(fmaxf(height, 0) * c->radiusA * c->radiusA / (d2 * sqrtf(d2)), 1);
}

static bool espyDemo_Lying(const char* path)
{
    espyCapsule log = {{-2, 0.4f, -0.6f}, {2, 0.4f, 0.6f}, 0.4f, 0.4f};
    const espyVec3 eye = {1.5f, 3.2f, 6};
    espyProxyScene scene;
    espyCanvas canvas;
    if (!espyCanvas_Create(&canvas, 2 * ESPY_PANEL_WIDTH, ESPY_PANEL_HEIGHT, 0))
    {
        return false;
    }
    if (!espyProxyScene_Create(&scene, ESPY_PANEL_WIDTH, ESPY_PANEL_HEIGHT, eye, (espyVec3){0, 0.2f, 0}, 0.75f))
    {
        espyCanvas_Free(&canvas);
        return false;
    }
    espyProxySurface floor = {.albedo = {0.6f, 0.58f, 0.54f}}, wood = {.albedo = {0.45f, 0.3f, 0.18f}, .owner = 1};
    espyProxyScene_AddPlane(&scene, (espyVec3){0, 0, 0}, (espyVec3){0, 1, 0}, &floor);
    espyProxyScene_AddCapsule(&scene, log.a, log.b, log.radiusA, &wood);
    espyProxyScene_Light(&scene, (espyVec3){0, 1, 0}, 0, 1, NULL, 0, 0);
    size_t floats = (size_t)ESPY_PANEL_WIDTH * ESPY_PANEL_HEIGHT * 3;
    float* lit = malloc(floats * sizeof *lit);
    bool done = lit != NULL;
    if (lit)
    {
        memcpy(lit, scene.lit, floats * sizeof *lit);
        for (uint32_t y = 0; y < scene.height; ++y)
        {
            for (uint32_t x = 0; x < scene.width; ++x)
            {
                size_t i = (size_t)y * scene.width + x;
                espyVec3 p, n = {scene.normal[3 * i], scene.normal[3 * i + 1], scene.normal[3 * i + 2]};
                if (scene.owner[i] == 0 && espyProxyScene_GetPoint(&scene, x, y, &p))
                {
                    espyVec3 at = {p.x + eye.x, p.y + eye.y, p.z + eye.z};
                    float kept = 1 - espyDemo_InverseSquare(&log, at, n);
                    scene.lit[3 * i] *= kept;
                    scene.lit[3 * i + 1] *= kept;
                    scene.lit[3 * i + 2] *= kept;
                }
            }
        }
        espyDemo_Draw(&canvas, 0, &scene, "closest ball, inverse square");
        memcpy(scene.lit, lit, floats * sizeof *lit);
        scene.view.expectedLight = 1;
        done = espyDemo_Apply(&scene, &log, 1);
        espyDemo_Draw(&canvas, ESPY_PANEL_WIDTH, &scene, "exact capsule");
        done = done && espyDemo_Write(&canvas, path);
    }
    free(lit);
    espyProxyScene_Free(&scene);
    espyCanvas_Free(&canvas);
    return done;
}

int main(int argc, char** argv)
{
    if (argc != 3)
    {
        fprintf(stderr, "usage: %s OUT_CROWD.png OUT_LYING.png\n", argv[0]);
        return 2;
    }
    return espyDemo_Crowd(argv[1]) && espyDemo_Lying(argv[2]) ? 0 : 1;
}
