// SPDX-License-Identifier: MIT
// Pictures by rays: sun with soft shadows, one ray of ambient occlusion a sample, lines along edges, ghosts that let
// what is behind them show.
#include "audit/render.h"

#include "core/tasks.h"

#include <math.h>

#define ESPY_MAX_LAYERS 48u
#define ESPY_NO_CUT 3.4e38f
#define ESPY_OFF_SURFACE 2e-3f    ///< Metres that secondary rays start away from a surface.
#define ESPY_AMBIENT_REACH 1.5f   ///< Metres within which geometry darkens a corner.
#define ESPY_LINE_HALF_WIDTH 0.6f ///< Pixels.
#define ESPY_GRATE_STEP 0.25f     ///< Metres between the bars of a grate.
#define ESPY_GRATE_BAR 0.035f     ///< Metres.

// Light of a clear morning, in linear units; together they bring a white wall in the sun to about 1.
#define ESPY_SUN 0.72f
#define ESPY_SKY 0.46f
#define ESPY_FILL 0.10f

typedef struct espyRenderJob
{
    const espyPictureDef* def;
    const espyiRenderMesh* mesh;
    uint8_t* rgb;
    espyVec3 forward, right, up, toSun;
    float halfWidth, halfHeight; ///< Of the image plane: metres, or at distance 1 in perspective.
    float backOff;               ///< Orthographic rays start this far behind the eye's plane.
    espyVec3 sky, horizon;       ///< Linear.
} espyRenderJob;

/// One ray through the picture.
typedef struct espyRenderRay
{
    espyVec3 origin, direction;
    float x, y;       ///< Where it passes the picture: pixels from the top left.
    float turn, step; ///< In [0, 1): the pixel's own turn, and the sample's place among those of the pixel.
} espyRenderRay;

static float espyRender_Dot(espyVec3 a, espyVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static espyVec3 espyRender_Mad(espyVec3 a, espyVec3 b, float s)
{
    return (espyVec3){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}

static espyVec3 espyRender_Scale(espyVec3 a, float s)
{
    return (espyVec3){a.x * s, a.y * s, a.z * s};
}

static espyVec3 espyRender_Mix(espyVec3 a, espyVec3 b, float s)
{
    return (espyVec3){a.x + (b.x - a.x) * s, a.y + (b.y - a.y) * s, a.z + (b.z - a.z) * s};
}

static espyVec3 espyRender_Unit(espyVec3 v)
{
    float length = sqrtf(espyRender_Dot(v, v));
    return length > 0.0f ? espyRender_Scale(v, 1.0f / length) : (espyVec3){0.0f, 1.0f, 0.0f};
}

static espyVec3 espyRender_Cross(espyVec3 a, espyVec3 b)
{
    return (espyVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// Gamma 2: close enough to sRGB for a picture, and exact arithmetic.
static espyVec3 espyRender_Linear(uint32_t color)
{
    float r = (float)(color >> 16 & 255u) / 255.0f, g = (float)(color >> 8 & 255u) / 255.0f,
          b = (float)(color & 255u) / 255.0f;
    return (espyVec3){r * r, g * g, b * b};
}

static uint8_t espyRender_Byte(float linear)
{
    float v = sqrtf(linear > 0.0f ? linear < 1.0f ? linear : 1.0f : 0.0f);
    return (uint8_t)(v * 255.0f + 0.5f);
}

// --- lines and grids

/// Distance in pixels between where the ray and where a point pass the picture; huge for points behind the eye.
static float espyRender_PixelsApart(const espyRenderJob* job, const espyRenderRay* ray, espyVec3 p)
{
    espyVec3 v = espyRender_Mad(p, job->def->eye, -1.0f);
    float depth = job->def->orthographic ? 1.0f : espyRender_Dot(v, job->forward);
    if (depth < 1e-3f)
    {
        return 1e9f;
    }
    float x = (espyRender_Dot(v, job->right) / depth / job->halfWidth * 0.5f + 0.5f) * (float)job->def->width;
    float y = (0.5f - espyRender_Dot(v, job->up) / depth / job->halfHeight * 0.5f) * (float)job->def->height;
    return sqrtf((x - ray->x) * (x - ray->x) + (y - ray->y) * (y - ray->y));
}

static bool espyRender_IsOnLine(const espyRenderJob* job, const espyRenderRay* ray, uint32_t triangle, espyVec3 p)
{
    for (uint32_t e = 0; e < 3; ++e)
    {
        if (((uint32_t)job->mesh->lines[triangle] >> e) & 1u)
        {
            espyVec3 a = job->mesh->positions[3u * (size_t)triangle + e];
            espyVec3 b = job->mesh->positions[3u * (size_t)triangle + (e == 2u ? 0u : e + 1u)];
            espyVec3 along = espyRender_Mad(b, a, -1.0f);
            float s = espyRender_Dot(espyRender_Mad(p, a, -1.0f), along) / espyRender_Dot(along, along);
            s = s < 0.0f ? 0.0f : s > 1.0f ? 1.0f : s;
            if (espyRender_PixelsApart(job, ray, espyRender_Mad(a, along, s)) < ESPY_LINE_HALF_WIDTH)
            {
                return true;
            }
        }
    }
    return false;
}

/// Grid lines and the highlighted cell on level ground.
static espyVec3 espyRender_Mark(const espyRenderJob* job, const espyRenderRay* ray, espyVec3 p, espyVec3 normal,
                                espyVec3 color)
{
    const espyPictureDef* def = job->def;
    if (def->gridSize <= 0.0f || normal.y < 0.9f || fabsf(p.y - def->gridOrigin.y) > 0.3f)
    {
        return color;
    }
    const espyBox* box = &def->highlight;
    if (p.x > box->min.x && p.x < box->max.x && p.z > box->min.z && p.z < box->max.z)
    {
        color = espyRender_Mix(color, espyRender_Linear(def->highlightColor), 0.75f);
    }
    float x = p.x - def->gridOrigin.x, z = p.z - def->gridOrigin.z;
    espyVec3 onX = {p.x + (floorf(x / def->gridSize + 0.5f) * def->gridSize - x), p.y, p.z};
    espyVec3 onZ = {p.x, p.y, p.z + (floorf(z / def->gridSize + 0.5f) * def->gridSize - z)};
    bool line = espyRender_PixelsApart(job, ray, onX) < 0.5f || espyRender_PixelsApart(job, ray, onZ) < 0.5f;
    return line ? espyRender_Scale(color, 0.72f) : color;
}

static bool espyRender_IsInGrateHole(espyVec3 p)
{
    float along = (p.x + p.z) / ESPY_GRATE_STEP, up = p.y / (2.0f * ESPY_GRATE_STEP);
    float a = fabsf(along - floorf(along + 0.5f)) * ESPY_GRATE_STEP;
    float b = fabsf(up - floorf(up + 0.5f)) * 2.0f * ESPY_GRATE_STEP;
    return a > ESPY_GRATE_BAR && b > ESPY_GRATE_BAR;
}

// --- light

static espyVec3 espyRender_PointInBall(espyiRng* rng)
{
    for (;;)
    {
        float x = 2.0f * espyiRng_Float(rng) - 1.0f, y = 2.0f * espyiRng_Float(rng) - 1.0f;
        espyVec3 p = {x, y, 2.0f * espyiRng_Float(rng) - 1.0f};
        if (espyRender_Dot(p, p) < 1.0f)
        {
            return p;
        }
    }
}

/// Share of ambient light, by one ray of the cosine distribution. The samples of a pixel are spread over the hemisphere
/// as a sunflower's seeds (Vogel 1979), which leaves little noise in their mean.
static float espyRender_Openness(const espyRenderJob* job, espyVec3 start, espyVec3 normal, const espyRenderRay* ray)
{
    espyVec3 side = espyRender_Unit(
        espyRender_Cross(normal, fabsf(normal.y) < 0.7f ? (espyVec3){0.0f, 1.0f, 0.0f} : (espyVec3){1.0f, 0.0f, 0.0f}));
    espyVec3 other = espyRender_Cross(normal, side);
    float samples = (float)(job->def->samples * job->def->samples);
    float angle = 6.2831853f * (ray->step * samples * 0.61803399f + ray->turn), radius = sqrtf(ray->step * 0.98f);
    espyVec3 direction = espyRender_Scale(normal, sqrtf(1.0f - radius * radius));
    direction = espyRender_Mad(espyRender_Mad(direction, side, radius * cosf(angle)), other, radius * sinf(angle));
    espyiSegment segment = {start, 0.0f, direction, ESPY_AMBIENT_REACH};
    espyiHit hit;
    bool near = espyiBvh_Closest(job->mesh->solid, &segment, (espyiSkip){0, 0}, &hit);
    return near ? 0.3f + 0.7f * hit.t / ESPY_AMBIENT_REACH : 1.0f;
}

static espyVec3 espyRender_Light(const espyRenderJob* job, espyVec3 p, espyVec3 normal, const espyRenderRay* ray,
                                 espyVec3 albedo, espyiRng* rng)
{
    espyVec3 start = espyRender_Mad(p, normal, ESPY_OFF_SURFACE);
    float open = espyRender_Openness(job, start, normal, ray);
    float light =
        ESPY_SKY * open * (0.8f + 0.2f * normal.y) + ESPY_FILL * fabsf(espyRender_Dot(normal, ray->direction));
    float slope = espyRender_Dot(normal, job->toSun);
    espyVec3 color = espyRender_Scale(albedo, light);
    if (slope > 0.0f)
    {
        espyiSegment sun = {start, 0.0f, espyRender_Mad(job->toSun, espyRender_PointInBall(rng), 0.03f), 1e4f};
        if (!espyiBvh_Occluded(job->mesh->solid, &sun, (espyiSkip){0, 0}))
        {
            espyVec3 warm = {albedo.x, albedo.y * 0.96f, albedo.z * 0.86f};
            color = espyRender_Mad(color, warm, ESPY_SUN * slope);
        }
    }
    return espyRender_Scale(color, job->def->exposure);
}

static espyVec3 espyRender_Background(const espyRenderJob* job, espyVec3 direction)
{
    float s = job->def->orthographic ? 0.0f : direction.y * 2.0f;
    return espyRender_Mix(job->horizon, job->sky, s < 0.0f ? 0.0f : s > 1.0f ? 1.0f : s);
}

/// One surface met by a ray: its light, and how much of it covers what is behind.
static espyVec3 espyRender_Surface(const espyRenderJob* job, const espyRenderRay* ray, const espyiHit* hit,
                                   espyiRng* rng, float* cover)
{
    const espyPictureSurface* surface = &job->mesh->surfaces[job->mesh->surfaceOf[hit->triangle]];
    espyVec3 p = espyRender_Mad(ray->origin, ray->direction, hit->t), albedo = espyRender_Linear(surface->color);
    espyVec3 normal = job->mesh->normals[hit->triangle];
    *cover = 1.0f;
    if (surface->cut && hit->backFace && surface->look != espyPictureLook_Ghost && job->def->cutHeight < ESPY_NO_CUT)
    {
        return espyRender_Linear(surface->capColor); // The inside of something cut open stands for its section.
    }
    if (surface->look == espyPictureLook_Grate && espyRender_IsInGrateHole(p))
    {
        *cover = 0.0f;
        return albedo;
    }
    bool line = espyRender_IsOnLine(job, ray, hit->triangle, p);
    if (surface->look == espyPictureLook_Ghost)
    {
        float away = job->def->orthographic ? 0.0f : hit->t;
        *cover = line ? 0.6f / (1.0f + away * 0.04f) : 0.07f;
        return albedo;
    }
    normal = espyRender_Dot(normal, ray->direction) > 0.0f ? espyRender_Scale(normal, -1.0f) : normal;
    espyVec3 color = espyRender_Mark(job, ray, p, normal, albedo);
    color = espyRender_Light(job, p, normal, ray, color, rng);
    float away = job->def->orthographic ? 0.0f : hit->t;
    return line ? espyRender_Scale(color, 1.0f - 0.5f / (1.0f + away * 0.06f)) : color;
}

static espyVec3 espyRender_Trace(const espyRenderJob* job, const espyRenderRay* ray, espyiRng* rng)
{
    espyVec3 color = {0.0f, 0.0f, 0.0f};
    float through = 1.0f;
    espyiSegment segment = {ray->origin, 1e-3f, ray->direction, 1e5f};
    for (uint32_t layer = 0; layer < ESPY_MAX_LAYERS && through > 0.01f; ++layer)
    {
        espyiHit hit;
        if (!espyiBvh_Closest(job->mesh->all, &segment, (espyiSkip){0, 0}, &hit))
        {
            break;
        }
        float cover;
        espyVec3 light = espyRender_Surface(job, ray, &hit, rng, &cover);
        color = espyRender_Mad(color, light, cover * through);
        through *= 1.0f - cover;
        segment.tMin = hit.t;
    }
    return espyRender_Mad(color, espyRender_Background(job, ray->direction), through);
}

// --- pixels

static espyRenderRay espyRender_RayAt(const espyRenderJob* job, float x, float y)
{
    const espyPictureDef* def = job->def;
    float u = (x / (float)def->width * 2.0f - 1.0f) * job->halfWidth;
    float v = (1.0f - y / (float)def->height * 2.0f) * job->halfHeight;
    espyRenderRay ray = {.x = x, .y = y};
    if (def->orthographic)
    {
        espyVec3 onPlane = espyRender_Mad(espyRender_Mad(def->eye, job->right, u), job->up, v);
        ray.origin = espyRender_Mad(onPlane, job->forward, -job->backOff);
        ray.direction = job->forward;
    }
    else
    {
        ray.origin = def->eye;
        ray.direction = espyRender_Unit(espyRender_Mad(espyRender_Mad(job->forward, job->right, u), job->up, v));
    }
    return ray;
}

static void espyRender_Row(void* context, uint32_t row, uint32_t worker)
{
    (void)worker;
    const espyRenderJob* job = context;
    uint32_t side = job->def->samples;
    for (uint32_t column = 0; column < job->def->width; ++column)
    {
        espyVec3 sum = {0.0f, 0.0f, 0.0f};
        espyiRng pixelRng = espyiRng_Seed((uint64_t)row << 32 | column);
        float turn = espyiRng_Float(&pixelRng);
        for (uint32_t s = 0; s < side * side; ++s)
        {
            espyiRng rng = espyiRng_Seed(espyiHash_U64((uint64_t)row << 32 | column, s));
            float x = (float)column + ((float)(s % side) + espyiRng_Float(&rng)) / (float)side;
            float y = (float)row + ((float)(s / side) + espyiRng_Float(&rng)) / (float)side;
            espyRenderRay ray = espyRender_RayAt(job, x, y);
            ray.turn = turn;
            ray.step = ((float)s + espyiRng_Float(&rng)) / (float)(side * side);
            espyVec3 color = espyRender_Trace(job, &ray, &rng);
            // Clamped before the mean, so that bright rims stay smooth.
            color.x = color.x < 1.0f ? color.x : 1.0f;
            color.y = color.y < 1.0f ? color.y : 1.0f;
            color.z = color.z < 1.0f ? color.z : 1.0f;
            sum = espyRender_Mad(sum, color, 1.0f / (float)(side * side));
        }
        uint8_t* out = job->rgb + 3 * ((size_t)row * job->def->width + column);
        out[0] = espyRender_Byte(sum.x);
        out[1] = espyRender_Byte(sum.y);
        out[2] = espyRender_Byte(sum.z);
    }
}

// --- the whole

espyPictureDef espyPictureDef_Default(void)
{
    return (espyPictureDef){.eye = {0.0f, 1.7f, 0.0f},
                            .target = {0.0f, 1.7f, -1.0f},
                            .verticalFov = 1.2f,
                            .halfHeight = 10.0f,
                            .cutHeight = ESPY_NO_CUT,
                            .width = 640,
                            .height = 360,
                            .samples = 3,
                            .toSun = {0.45f, 0.8f, 0.4f},
                            .exposure = 1.0f,
                            .skyColor = 0xA9C7DBu,
                            .horizonColor = 0xEDF1F0u,
                            .highlight = espyBox_Empty(),
                            .highlightColor = 0x3D8BD9u,
                            .cookie = ESPY_DEF_COOKIE};
}

static bool espyRender_IsFinite(espyVec3 v)
{
    espyBox point = {v, v};
    return espyBox_IsValid(point);
}

static bool espyRender_IsDefSound(const espyHooks* hooks, const espyPictureDef* def)
{
    return ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) &&
           ESPYI_CHECK(hooks, def->width >= 1 && def->width <= 8192 && def->height >= 1 && def->height <= 8192) &&
           ESPYI_CHECK(hooks, def->samples >= 1 && def->samples <= 8) && ESPYI_CHECK(hooks, def->exposure > 0.0f) &&
           ESPYI_CHECK(hooks, espyRender_IsFinite(def->eye) && espyRender_IsFinite(def->target)) &&
           ESPYI_CHECK(hooks,
                       def->orthographic ? def->halfHeight > 0.0f : def->verticalFov > 0.0f && def->verticalFov < 3.1f);
}

static float espyRender_Extent(const espyiRenderMesh* mesh, espyVec3 eye)
{
    espyBox box = {eye, eye};
    for (size_t i = 0; i < 3 * (size_t)mesh->triangleCount; ++i)
    {
        box = espyBox_AddPoint(box, mesh->positions[i]);
    }
    return (box.max.x - box.min.x) + (box.max.y - box.min.y) + (box.max.z - box.min.z);
}

static void espyRender_Aim(espyRenderJob* job)
{
    const espyPictureDef* def = job->def;
    job->forward = espyRender_Unit(espyRender_Mad(def->target, def->eye, -1.0f));
    // Straight down, north (-z) is up in the picture.
    espyVec3 upright = fabsf(job->forward.y) < 0.9999f ? (espyVec3){0.0f, 1.0f, 0.0f} : (espyVec3){0.0f, 0.0f, -1.0f};
    job->right = espyRender_Unit(espyRender_Cross(job->forward, upright));
    job->up = espyRender_Cross(job->right, job->forward);
    job->toSun = espyRender_Unit(def->toSun);
    job->halfHeight = def->orthographic ? def->halfHeight : tanf(def->verticalFov * 0.5f);
    job->halfWidth = job->halfHeight * (float)def->width / (float)def->height;
    job->backOff = espyRender_Extent(job->mesh, def->eye);
    job->sky = espyRender_Linear(def->skyColor);
    job->horizon = espyRender_Linear(def->horizonColor);
}

espyResult espyPicture_Render(const espyPictureScene* scene, const espyPictureDef* def, uint8_t* rgb)
{
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    if (!espyRender_IsDefSound(&hooks, def))
    {
        return espyResult_InvalidArgument;
    }
    uint32_t threads = espyiTasks_ThreadCount(def->threads);
    espyiRenderMesh* mesh = NULL;
    espyResult result = espyiRenderMesh_Create(scene, def->cutHeight, threads, &hooks, &mesh);
    if (result == espyResult_Ok)
    {
        espyRenderJob job = {.def = def, .mesh = mesh, .rgb = rgb};
        espyRender_Aim(&job);
        espyiTasks_For(threads, def->height, espyRender_Row, &job, NULL, NULL);
        espyiRenderMesh_Destroy(mesh);
    }
    return result;
}
