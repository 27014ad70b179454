// SPDX-License-Identifier: MIT
// Images for proxy occlusion.
#include "proxy_scene.h"

#include <math.h>
#include <stdlib.h>

#define ESPY_FAR 1e30f

static espyVec3 espyScene_Add(espyVec3 a, espyVec3 b, float scale)
{
    return (espyVec3){a.x + b.x * scale, a.y + b.y * scale, a.z + b.z * scale};
}

static float espyScene_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyScene_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static espyVec3 espyScene_Unit(espyVec3 a)
{
    float length = sqrtf(espyScene_Dot(a, a));
    return (espyVec3){a.x / length, a.y / length, a.z / length};
}

bool espyProxyScene_Create(espyProxyScene* scene, uint32_t width, uint32_t height, espyVec3 eye, espyVec3 target,
                           float fov)
{
    *scene = (espyProxyScene){.width = width, .height = height, .view = espyProxyView_Default()};
    size_t pixels = (size_t)width * height;
    scene->depth = calloc(pixels, sizeof(float));
    scene->distance = calloc(pixels, sizeof(float));
    scene->visibility = calloc(pixels, sizeof(float));
    scene->normal = calloc(pixels, 3 * sizeof(float));
    scene->lit = calloc(pixels, 3 * sizeof(float));
    scene->albedo = calloc(pixels, 3 * sizeof(float));
    scene->emissive = calloc(pixels, 3 * sizeof(float));
    scene->owner = calloc(pixels, sizeof(uint32_t));
    if (!scene->depth || !scene->distance || !scene->visibility || !scene->normal || !scene->lit || !scene->albedo ||
        !scene->emissive || !scene->owner)
    {
        espyProxyScene_Free(scene);
        return false;
    }
    for (size_t i = 0; i < pixels; ++i)
    {
        scene->distance[i] = ESPY_FAR;
    }
    espyVec3 forward = espyScene_Unit(espyScene_Add(target, eye, -1)), world = {0, 1, 0};
    if (fabsf(forward.y) > 0.999f)
    {
        world = (espyVec3){0, 0, -1};
    }
    espyVec3 right = espyScene_Unit(espyScene_Cross(forward, world)), up = espyScene_Cross(right, forward);
    scene->view.camera = (espyMat4){{right.x, right.y, right.z, 0, up.x, up.y, up.z, 0, -forward.x, -forward.y,
                                     -forward.z, 0, eye.x, eye.y, eye.z, 1}};
    scene->view.reversedDepth = true;
    scene->orthographic = fov < 0;
    float aspect = (float)width / (float)height, near = 0.1f, far = 4000;
    float tall = fov < 0 ? -fov : tanf(fov / 2), wide = tall * aspect;
    scene->view.projection = fov < 0 ? (espyMat4){{1 / wide, 0, 0, 0, 0, 1 / tall, 0, 0, 0, 0, 1 / (far - near), 0, 0,
                                                   0, 1 + near / (far - near), 1}}
                                     : (espyMat4){{1 / wide, 0, 0, 0, 0, 1 / tall, 0, 0, 0, 0, 0, -1, 0, 0, near, 0}};
    scene->right = espyScene_Add((espyVec3){0, 0, 0}, right, wide);
    scene->up = espyScene_Add((espyVec3){0, 0, 0}, up, tall);
    scene->forward = forward;
    return true;
}

void espyProxyScene_Free(espyProxyScene* scene)
{
    free(scene->depth);
    free(scene->distance);
    free(scene->visibility);
    free(scene->normal);
    free(scene->lit);
    free(scene->albedo);
    free(scene->emissive);
    free(scene->owner);
    *scene = (espyProxyScene){0};
}

/// Ray of a pixel relative to the eye; `direction` is not unit: its forward part is 1.
static void espyScene_Ray(const espyProxyScene* scene, size_t pixel, espyVec3* from, espyVec3* direction)
{
    float x = ((float)(pixel % scene->width) + 0.5f) / (float)scene->width * 2 - 1;
    float y = 1 - ((float)(pixel / scene->width) + 0.5f) / (float)scene->height * 2;
    espyVec3 aside = espyScene_Add(espyScene_Add((espyVec3){0, 0, 0}, scene->right, x), scene->up, y);
    *from = scene->orthographic ? aside : (espyVec3){0, 0, 0};
    *direction = scene->orthographic ? scene->forward : espyScene_Add(scene->forward, aside, 1);
}

static void espyScene_Hit(espyProxyScene* scene, size_t pixel, float s, espyVec3 normal,
                          const espyProxySurface* surface)
{
    if (!(s > 0.1f && s < scene->distance[pixel] && s < 3999))
    {
        return;
    }
    scene->distance[pixel] = s;
    const float* m = scene->view.projection.m;
    scene->depth[pixel] = (m[10] * -s + m[14]) / (m[11] * -s + m[15]);
    const float n[3] = {normal.x, normal.y, normal.z};
    for (int k = 0; k < 3; ++k)
    {
        scene->normal[3 * pixel + (size_t)k] = n[k];
        scene->albedo[3 * pixel + (size_t)k] = surface->albedo[k];
        scene->emissive[3 * pixel + (size_t)k] = surface->emissive[k];
    }
    scene->owner[pixel] = surface->owner;
}

static espyVec3 espyScene_Eye(const espyProxyScene* scene)
{
    const float* m = scene->view.camera.m;
    return (espyVec3){m[12], m[13], m[14]};
}

void espyProxyScene_AddPlane(espyProxyScene* scene, espyVec3 point, espyVec3 normal, const espyProxySurface* surface)
{
    espyVec3 to = espyScene_Add(point, espyScene_Eye(scene), -1);
    for (size_t i = 0; i < (size_t)scene->width * scene->height; ++i)
    {
        espyVec3 from, d;
        espyScene_Ray(scene, i, &from, &d);
        float slope = espyScene_Dot(d, normal);
        if (slope < 0)
        {
            espyScene_Hit(scene, i, espyScene_Dot(espyScene_Add(to, from, -1), normal) / slope, normal, surface);
        }
    }
}

void espyProxyScene_AddBox(espyProxyScene* scene, espyBox box, const espyProxySurface* surface)
{
    espyVec3 eye = espyScene_Eye(scene), low = espyScene_Add(box.min, eye, -1), high = espyScene_Add(box.max, eye, -1);
    const float lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
    for (size_t i = 0; i < (size_t)scene->width * scene->height; ++i)
    {
        espyVec3 from, d;
        espyScene_Ray(scene, i, &from, &d);
        const float f[3] = {from.x, from.y, from.z}, g[3] = {d.x, d.y, d.z};
        float enter = -ESPY_FAR, leave = ESPY_FAR, n[3] = {0, 0, 0};
        for (int k = 0; k < 3; ++k)
        {
            float a = (lows[k] - f[k]) / g[k], b = (highs[k] - f[k]) / g[k];
            float first = fminf(a, b);
            if (first > enter)
            {
                enter = first;
                n[0] = n[1] = n[2] = 0;
                n[k] = g[k] > 0 ? -1.0f : 1.0f;
            }
            leave = fminf(leave, fmaxf(a, b));
        }
        if (enter < leave)
        {
            espyScene_Hit(scene, i, enter, (espyVec3){n[0], n[1], n[2]}, surface);
        }
    }
}

/// First hit of a ray with a capsule around the segment a, b (relative); negative: none.
static float espyScene_CapsuleHit(espyVec3 a, espyVec3 b, float r, espyVec3 from, espyVec3 d)
{
    espyVec3 axis = espyScene_Add(b, a, -1), o = espyScene_Add(from, a, -1);
    float length2 = espyScene_Dot(axis, axis), best = -1;
    if (length2 > 0)
    {
        float along = espyScene_Dot(d, axis) / length2, start = espyScene_Dot(o, axis) / length2;
        espyVec3 v = espyScene_Add(d, axis, -along), w = espyScene_Add(o, axis, -start);
        float qa = espyScene_Dot(v, v), qb = espyScene_Dot(v, w), qc = espyScene_Dot(w, w) - r * r;
        float root = qb * qb - qa * qc;
        if (root > 0 && qa > 0)
        {
            float s = (-qb - sqrtf(root)) / qa, at = start + s * along;
            best = s > 0 && at > 0 && at < 1 ? s : -1;
        }
    }
    for (int k = 0; k < 2; ++k)
    {
        espyVec3 c = espyScene_Add(from, k ? b : a, -1);
        float qa = espyScene_Dot(d, d), qb = espyScene_Dot(d, c), root = qb * qb - qa * (espyScene_Dot(c, c) - r * r);
        float s = root > 0 ? (-qb - sqrtf(root)) / qa : -1;
        best = s > 0 && (best < 0 || s < best) ? s : best;
    }
    return best;
}

/// Pixels that a ball may cover: x from rect[0] to rect[2], y from rect[1] to rect[3]. All of them where it is near.
static void espyScene_Bounds(const espyProxyScene* scene, espyVec3 centre, float radius, uint32_t rect[4])
{
    float ahead = espyScene_Dot(centre, scene->forward), depth = scene->orthographic ? 1 : ahead;
    rect[0] = rect[1] = 0;
    rect[2] = scene->width;
    rect[3] = scene->height;
    if (!scene->orthographic && ahead < 3 * radius)
    {
        return;
    }
    float wide = espyScene_Dot(scene->right, scene->right), tall = espyScene_Dot(scene->up, scene->up);
    float x = espyScene_Dot(centre, scene->right) / (wide * depth),
          y = espyScene_Dot(centre, scene->up) / (tall * depth);
    float spanX = 1.6f * radius / (depth * sqrtf(wide)), spanY = 1.6f * radius / (depth * sqrtf(tall));
    float w = (float)scene->width, h = (float)scene->height;
    rect[0] = (uint32_t)(fminf(fmaxf((x - spanX + 1) / 2, 0), 1) * w);
    rect[2] = (uint32_t)ceilf(fminf(fmaxf((x + spanX + 1) / 2, 0), 1) * w);
    rect[1] = (uint32_t)(fminf(fmaxf((1 - y - spanY) / 2, 0), 1) * h);
    rect[3] = (uint32_t)ceilf(fminf(fmaxf((1 - y + spanY) / 2, 0), 1) * h);
}

void espyProxyScene_AddCapsule(espyProxyScene* scene, espyVec3 a, espyVec3 b, float radius,
                               const espyProxySurface* surface)
{
    espyVec3 eye = espyScene_Eye(scene);
    a = espyScene_Add(a, eye, -1);
    b = espyScene_Add(b, eye, -1);
    espyVec3 axis = espyScene_Add(b, a, -1);
    float length2 = espyScene_Dot(axis, axis);
    uint32_t rect[4];
    espyScene_Bounds(scene, espyScene_Add(a, axis, 0.5f), radius + 0.5f * sqrtf(length2), rect);
    for (uint32_t y = rect[1]; y < rect[3]; ++y)
    {
        for (uint32_t x = rect[0]; x < rect[2]; ++x)
        {
            size_t i = (size_t)y * scene->width + x;
            espyVec3 from, d;
            espyScene_Ray(scene, i, &from, &d);
            float s = espyScene_CapsuleHit(a, b, radius, from, d);
            if (s > 0 && s < scene->distance[i])
            {
                espyVec3 p = espyScene_Add(from, d, s), to = espyScene_Add(p, a, -1);
                float at = length2 > 0 ? fminf(fmaxf(espyScene_Dot(to, axis) / length2, 0), 1) : 0;
                espyScene_Hit(scene, i, s, espyScene_Unit(espyScene_Add(to, axis, -at)), surface);
            }
        }
    }
}

bool espyProxyScene_GetPoint(const espyProxyScene* scene, uint32_t x, uint32_t y, espyVec3* out)
{
    size_t pixel = (size_t)y * scene->width + x;
    espyVec3 from, d;
    espyScene_Ray(scene, pixel, &from, &d);
    *out = espyScene_Add(from, d, scene->distance[pixel]);
    return scene->distance[pixel] < ESPY_FAR;
}

void espyProxyScene_Light(espyProxyScene* scene, espyVec3 toSun, float sun, float sky, const espyCapsule* capsules,
                          uint32_t count, float shadowRange)
{
    espyVec3 eye = espyScene_Eye(scene), light = espyScene_Unit(toSun);
    for (uint32_t y = 0; y < scene->height; ++y)
    {
        for (uint32_t x = 0; x < scene->width; ++x)
        {
            size_t i = (size_t)y * scene->width + x;
            espyVec3 p, n = {scene->normal[3 * i], scene->normal[3 * i + 1], scene->normal[3 * i + 2]};
            if (!espyProxyScene_GetPoint(scene, x, y, &p))
            {
                scene->lit[3 * i] = 0.35f * sky;
                scene->lit[3 * i + 1] = 0.5f * sky;
                scene->lit[3 * i + 2] = 0.75f * sky;
                continue;
            }
            float direct = sun * fmaxf(espyScene_Dot(n, light), 0);
            bool mapped = direct > 0 && scene->distance[i] < shadowRange;
            for (uint32_t k = 0; mapped && direct > 0 && k < count; ++k)
            {
                espyVec3 a = espyScene_Add(capsules[k].a, eye, -1), b = espyScene_Add(capsules[k].b, eye, -1);
                float hit = espyScene_CapsuleHit(a, b, capsules[k].radiusA, espyScene_Add(p, n, 1e-3f), light);
                direct = hit > 0 ? 0 : direct;
            }
            for (size_t c = 0; c < 3; ++c)
            {
                scene->lit[3 * i + c] = scene->albedo[3 * i + c] * (direct + sky) + scene->emissive[3 * i + c];
            }
        }
    }
}

espyProxyImage espyProxyScene_Image(const espyProxyScene* scene)
{
    size_t row = scene->width;
    return (espyProxyImage){.width = scene->width,
                            .height = scene->height,
                            .depth = {scene->depth, 1, row},
                            .normal = {scene->normal, 3, 3 * row},
                            .lit = {scene->lit, 3, 3 * row},
                            .albedo = {scene->albedo, 3, 3 * row},
                            .emissive = {scene->emissive, 3, 3 * row},
                            .visibility = {scene->visibility, 1, row},
                            .owner = scene->owner};
}
