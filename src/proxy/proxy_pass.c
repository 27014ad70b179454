// SPDX-License-Identifier: MIT
// The image pass: from depth to receivers, from receivers to what survives, from that to the lit colour.
//
// A tile's pixels are cut into groups that lie close together, whatever the depth does inside the tile; each group
// gathers its own lists. docs/proxy.md tells how the existing light is estimated.
#include "proxy/lanes.h"
#include "proxy/proxy_internal.h"
#include "proxy/proxy_math.h"

#include <stdatomic.h>

#define ESPY_SIZE_MAX 16384u
#define ESPY_BINS 128u
/// Bits of a float below those that tell its quarter octave.
#define ESPY_BIN_BITS 21u
/// Quarter octaves; the first one starts at 2^-16.
#define ESPY_BIN_BASE ((127u - 16u) << 2)
#define ESPY_GROUP_MIN 8u
#define ESPY_WORKERS_MAX 256u

/// What one worker needs.
typedef struct espyPassWorker
{
    espyiProxyReceivers tile;  ///< All pixels of the tile that count.
    espyiProxyReceivers group; ///< Those of one group.
    espyiProxyLists lists;
    float fade[ESPYI_PROXY_PIXELS];
    float visibility[ESPYI_PROXY_PIXELS];
    uint16_t pixel[ESPYI_PROXY_PIXELS]; ///< x + 16 y in the tile.
    uint16_t order[ESPYI_PROXY_PIXELS];
    uint32_t bins[ESPY_BINS];
    uint64_t
        parts[ESPY_BINS]; ///< Sums of where in its bin each light lies: whole numbers, so that order does not count.
    uint64_t pixels, exact, far, overflows;
} espyPassWorker;

struct espyProxyPass
{
    espyHooks hooks;
    espyTasks tasks;
    const espyiProxyKernels* kernels;
    uint32_t workerCount;
    espyPassWorker* workers; ///< Null while there is nothing to do.
    espyiProxyEntry* entries;
    espyiProxyNode* nodes;
    uint32_t *sorted, *keys, *swap;
    uint32_t room, nodeRoom;
    size_t bytes;
    float reference; ///< Eased; 0: none yet.
    espyProxyStats stats;

    // Of the image in work.
    const espyProxyImage* image;
    espyProxySettings settings;
    espyiProxyTree tree;
    espyiProxyGather gather;
    espyMat4 fromDepth; ///< Clip space to positions relative to the eye.
    float background;
    float groupSize; ///< Largest extent of a group, metres.
    uint32_t tilesX;
};

// --- lifetime

espyProxyView espyProxyView_Default(void)
{
    return (espyProxyView){
        .camera = espyMat4_Identity(), .projection = espyMat4_Identity(), .mask = ~0u, .cookie = ESPY_DEF_COOKIE};
}

espyProxyPassDef espyProxyPassDef_Default(void)
{
    return (espyProxyPassDef){.isa = espyIsa_Auto, .cookie = ESPY_DEF_COOKIE};
}

const espyiProxyKernels* espyiProxy_PickKernels(espyIsa isa)
{
    const espyiProxyKernels* kernels = NULL;
    if (isa == espyIsa_Neon)
    {
        kernels = espyiProxy_GetNeon();
    }
    if (isa == espyIsa_Wasm128)
    {
        kernels = espyiProxy_GetWasm128();
    }
    if (isa == espyIsa_Avx512)
    {
        kernels = espyiProxy_GetAvx512();
    }
    if (!kernels && (isa == espyIsa_Avx2 || isa == espyIsa_Avx512))
    {
        kernels = espyiProxy_GetAvx2();
    }
    if (!kernels && (isa == espyIsa_Sse41 || isa == espyIsa_Avx2 || isa == espyIsa_Avx512))
    {
        kernels = espyiProxy_GetSse41();
    }
    return kernels ? kernels : espyiProxy_GetScalar();
}

espyResult espyProxyPass_Create(const espyProxyPassDef* def, espyProxyPass** out)
{
    espyHooks hooks = espyiHooks_Resolve(def ? &def->hooks : NULL);
    *out = NULL;
    if (!ESPYI_CHECK(&hooks, def != NULL && def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    espyProxyPass* pass = espyiAlloc(&hooks, 1, sizeof *pass);
    if (!pass)
    {
        return espyResult_OutOfMemory;
    }
    pass->hooks = hooks;
    pass->tasks = def->tasks;
    uint32_t threads = def->tasks.parallelFor ? def->tasks.threadCount : 1u;
    pass->workerCount = threads < 1u ? 1u : threads > ESPY_WORKERS_MAX ? ESPY_WORKERS_MAX : threads;
    pass->kernels = espyiProxy_PickKernels(espyIsa_Detect(def->isa));
    *out = pass;
    return espyResult_Ok;
}

static void espyPass_Release(espyProxyPass* pass)
{
    espyiFree(&pass->hooks, pass->workers);
    espyiFree(&pass->hooks, pass->entries);
    espyiFree(&pass->hooks, pass->nodes);
    espyiFree(&pass->hooks, pass->sorted);
    espyiFree(&pass->hooks, pass->keys);
    espyiFree(&pass->hooks, pass->swap);
    pass->workers = NULL;
    pass->entries = NULL;
    pass->nodes = NULL;
    pass->sorted = pass->keys = pass->swap = NULL;
    pass->room = pass->nodeRoom = 0;
    pass->bytes = 0;
}

void espyProxyPass_Destroy(espyProxyPass* pass)
{
    if (pass)
    {
        espyHooks hooks = pass->hooks;
        espyPass_Release(pass);
        espyiFree(&hooks, pass);
    }
}

espyResult espyProxyPass_Reserve(espyProxyPass* pass, const espyProxySet* set)
{
    if (set->count == 0 || set->settings.intensity == 0.0f)
    {
        espyPass_Release(pass);
        return espyResult_Ok;
    }
    uint32_t wanted = espyiProxySet_CountPieces(set);
    bool clusters = set->technique == espyProxyTechnique_Clusters;
    if (pass->workers && pass->room >= wanted && (!clusters || pass->nodes))
    {
        return espyResult_Ok;
    }
    uint32_t room = wanted < 64u ? 64u : wanted + wanted / 4u;
    uint32_t nodeRoom = clusters ? espyiProxyTree_CountNodes(room) : 0u;
    espyPass_Release(pass);
    pass->workers = espyiAlloc(&pass->hooks, pass->workerCount, sizeof *pass->workers);
    pass->entries = espyiAlloc(&pass->hooks, room, sizeof *pass->entries);
    bool enough = pass->workers && pass->entries;
    if (clusters && enough)
    {
        pass->nodes = espyiAlloc(&pass->hooks, nodeRoom, sizeof *pass->nodes);
        pass->sorted = espyiAlloc(&pass->hooks, room, sizeof *pass->sorted);
        pass->swap = espyiAlloc(&pass->hooks, room, sizeof *pass->swap);
        pass->keys = espyiAlloc(&pass->hooks, room, 2u * sizeof *pass->keys);
        enough = pass->nodes && pass->sorted && pass->swap && pass->keys;
    }
    if (!enough)
    {
        espyPass_Release(pass);
        return espyResult_OutOfMemory;
    }
    pass->room = room;
    pass->nodeRoom = nodeRoom;
    pass->bytes = pass->workerCount * sizeof *pass->workers + (size_t)room * sizeof *pass->entries +
                  (size_t)nodeRoom * sizeof *pass->nodes +
                  (clusters ? (size_t)room * (sizeof *pass->sorted + sizeof *pass->swap + 2u * sizeof *pass->keys) : 0);
    return espyResult_Ok;
}

// --- view

/// General inverse by cofactors; false where it is singular or not finite.
static bool espyPass_Invert(espyMat4 m, espyMat4* out)
{
    const float* a = m.m;
    float s0 = a[0] * a[5] - a[4] * a[1], s1 = a[0] * a[9] - a[8] * a[1], s2 = a[0] * a[13] - a[12] * a[1];
    float s3 = a[4] * a[9] - a[8] * a[5], s4 = a[4] * a[13] - a[12] * a[5], s5 = a[8] * a[13] - a[12] * a[9];
    float c5 = a[10] * a[15] - a[14] * a[11], c4 = a[6] * a[15] - a[14] * a[7], c3 = a[6] * a[11] - a[10] * a[7];
    float c2 = a[2] * a[15] - a[14] * a[3], c1 = a[2] * a[11] - a[10] * a[3], c0 = a[2] * a[7] - a[6] * a[3];
    float det = s0 * c5 - s1 * c4 + s2 * c3 + s3 * c2 - s4 * c1 + s5 * c0;
    if (!(det > 0.0f || det < 0.0f) || !espyMat4_IsFinite(m))
    {
        return false;
    }
    float i = 1.0f / det;
    *out = (espyMat4){{
        (a[5] * c5 - a[9] * c4 + a[13] * c3) * i,
        (-a[1] * c5 + a[9] * c2 - a[13] * c1) * i,
        (a[1] * c4 - a[5] * c2 + a[13] * c0) * i,
        (-a[1] * c3 + a[5] * c1 - a[9] * c0) * i,
        (-a[4] * c5 + a[8] * c4 - a[12] * c3) * i,
        (a[0] * c5 - a[8] * c2 + a[12] * c1) * i,
        (-a[0] * c4 + a[4] * c2 - a[12] * c0) * i,
        (a[0] * c3 - a[4] * c1 + a[8] * c0) * i,
        (a[7] * s5 - a[11] * s4 + a[15] * s3) * i,
        (-a[3] * s5 + a[11] * s2 - a[15] * s1) * i,
        (a[3] * s4 - a[7] * s2 + a[15] * s0) * i,
        (-a[3] * s3 + a[7] * s1 - a[11] * s0) * i,
        (-a[6] * s5 + a[10] * s4 - a[14] * s3) * i,
        (a[2] * s5 - a[10] * s2 + a[14] * s1) * i,
        (-a[2] * s4 + a[6] * s2 - a[14] * s0) * i,
        (a[2] * s3 - a[6] * s1 + a[10] * s0) * i,
    }};
    return espyMat4_IsFinite(*out);
}

/// Clip space to the world without the eye: far from the origin nothing is added that is subtracted again.
static bool espyPass_SetView(espyProxyPass* pass, const espyProxyView* view)
{
    espyMat4 inverse, turn = view->camera;
    turn.m[3] = turn.m[7] = turn.m[11] = turn.m[12] = turn.m[13] = turn.m[14] = 0.0f;
    turn.m[15] = 1.0f;
    if (!espyPass_Invert(view->projection, &inverse) || !espyMat4_IsFinite(view->camera))
    {
        return false;
    }
    pass->fromDepth = espyMat4_Multiply(turn, inverse);
    pass->background = view->reversedDepth ? 0.0f : 1.0f;
    return true;
}

// --- one pixel

static float* espyPass_At(const espyProxyPlane* plane, uint32_t x, uint32_t y)
{
    return plane->data ? plane->data + (size_t)y * plane->rowStride + (size_t)x * plane->pixelStride : NULL;
}

static bool espyPass_IsFinite3(const float* v)
{
    // Infinities and NaN times 0 are NaN.
    float zero = v[0] * 0.0f + v[1] * 0.0f + v[2] * 0.0f;
    return zero == 0.0f;
}

static float espyPass_Luminance(const float* rgb)
{
    return 0.2126f * rgb[0] + 0.7152f * rgb[1] + 0.0722f * rgb[2];
}

/// Light that arrives at the pixel, and the share of it that the estimate trusts: little where the albedo is near black
/// and what shows is a reflection.
static float espyPass_Light(const espyProxyImage* image, uint32_t x, uint32_t y, const float* lit, float* trust)
{
    const float *emissive = espyPass_At(&image->emissive, x, y), *metal = espyPass_At(&image->metal, x, y);
    float albedo = espyPass_Luminance(espyPass_At(&image->albedo, x, y));
    albedo *= metal ? 1.0f - espyiFloat_Clamp(*metal, 0.0f, 1.0f) : 1.0f;
    float light = espyPass_Luminance(lit) - (emissive ? espyPass_Luminance(emissive) : 0.0f);
    *trust = albedo > 0.0f ? espyiFloat_SmoothStep(0.01f, 0.04f, albedo) : 0.0f;
    return light > 0.0f && albedo > 0.0f ? light / (albedo > 0.04f ? albedo : 0.04f) : 0.0f;
}

/// 1 inside the distances, falling to 0 over a tenth of each, at least 1 m, outwards of neither.
static float espyPass_Fade(const espyProxySettings* s, float distance)
{
    float fade = 1.0f;
    if (s->minDistance > 0.0f)
    {
        float band = 0.1f * s->minDistance > 1.0f ? 0.1f * s->minDistance : 1.0f;
        fade = espyiFloat_SmoothStep(s->minDistance, s->minDistance + band, distance);
    }
    if (s->maxDistance > 0.0f)
    {
        float band = 0.1f * s->maxDistance > 1.0f ? 0.1f * s->maxDistance : 1.0f;
        band = band < s->maxDistance ? band : s->maxDistance;
        fade *= 1.0f - espyiFloat_SmoothStep(s->maxDistance - band, s->maxDistance, distance);
    }
    return fade;
}

// --- tiles

/// Collects the receivers of a tile. `visibility` is 1 for every other pixel.
static void espyPass_Collect(const espyProxyPass* pass, espyPassWorker* w, uint32_t tileX, uint32_t tileY)
{
    const espyProxyImage* image = pass->image;
    espyiProxyReceivers* t = &w->tile;
    const float* m = pass->fromDepth.m;
    t->count = 0;
    float scaleX = 2.0f / (float)image->width, scaleY = 2.0f / (float)image->height;
    for (uint32_t i = 0; i < ESPYI_PROXY_PIXELS; ++i)
    {
        uint32_t x = tileX * ESPYI_PROXY_TILE + i % ESPYI_PROXY_TILE,
                 y = tileY * ESPYI_PROXY_TILE + i / ESPYI_PROXY_TILE;
        w->visibility[i] = 1.0f;
        if (x >= image->width || y >= image->height)
        {
            continue;
        }
        float depth = *espyPass_At(&image->depth, x, y);
        // False for a NaN.
        if (!(depth >= 0.0f && depth <= 1.0f) || depth == pass->background)
        {
            continue;
        }
        float cx = ((float)x + 0.5f) * scaleX - 1.0f, cy = 1.0f - ((float)y + 0.5f) * scaleY;
        float px = m[0] * cx + m[4] * cy + m[8] * depth + m[12], py = m[1] * cx + m[5] * cy + m[9] * depth + m[13];
        float pz = m[2] * cx + m[6] * cy + m[10] * depth + m[14], pw = m[3] * cx + m[7] * cy + m[11] * depth + m[15];
        float p[3] = {px / pw, py / pw, pz / pw};
        float distance2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
        if (!(distance2 <= 1e16f))
        {
            continue;
        }
        float fade = espyPass_Fade(&pass->settings, espyR_Sqrt(distance2));
        if (fade <= 0.0f)
        {
            continue;
        }
        const float* n = espyPass_At(&image->normal, x, y);
        espyVec3 normal = n ? (espyVec3){n[0], n[1], n[2]} : (espyVec3){0.0f, 0.0f, 0.0f};
        bool usable = espyiCapsule_IsNormal(normal);
        float size = normal.x * normal.x + normal.y * normal.y + normal.z * normal.z;
        float inverse = usable ? 1.0f / espyR_Sqrt(size) : 0.0f;
        uint32_t at = t->count++;
        for (uint32_t k = 0; k < 3u; ++k)
        {
            t->position[k][at] = p[k];
        }
        t->normal[0][at] = usable ? normal.x * inverse : 0.0f;
        t->normal[1][at] = usable ? normal.y * inverse : 0.0f;
        t->normal[2][at] = usable ? normal.z * inverse : 0.0f;
        t->owner[at] = image->owner ? (float)image->owner[(size_t)y * image->width + x] : 0.0f;
        w->fade[at] = fade;
        w->pixel[at] = (uint16_t)i;
        w->order[at] = (uint16_t)at;
    }
}

static espyBox espyPass_Bounds(const espyiProxyReceivers* t, const uint16_t* order, uint32_t count)
{
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t at = order[i];
        box = espyBox_AddPoint(box, (espyVec3){t->position[0][at], t->position[1][at], t->position[2][at]});
    }
    return box;
}

/// The cone of the group's normals; cosine -1 where one is missing or they differ by more than a right angle.
static void espyPass_FitCone(espyiProxyReceivers* g)
{
    espyVec3 sum = {0.0f, 0.0f, 0.0f};
    for (uint32_t i = 0; i < g->count; ++i)
    {
        sum = (espyVec3){sum.x + g->normal[0][i], sum.y + g->normal[1][i], sum.z + g->normal[2][i]};
    }
    float length = espyR_Sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z), least = 1.0f;
    float inverse = 1.0f / espyR_Max(length, 1e-6f);
    g->axis = (espyVec3){sum.x * inverse, sum.y * inverse, sum.z * inverse};
    for (uint32_t i = 0; i < g->count; ++i)
    {
        float c = g->normal[0][i] * g->axis.x + g->normal[1][i] * g->axis.y + g->normal[2][i] * g->axis.z;
        least = espyR_Min(least, c);
    }
    // A little wider, against rounding.
    least -= 1e-5f;
    g->cosine = least > 0.0f ? least : -1.0f;
    g->sine = least > 0.0f ? espyR_Sqrt((1.0f - least) * (1.0f + least)) : 0.0f;
}

/// Evaluates pixels without a normal: the share of all directions.
static void espyPass_EvaluateBare(const espyProxyPass* pass, espyPassWorker* w)
{
    espyiProxyReceivers* g = &w->group;
    for (uint32_t i = 0; i < g->count; ++i)
    {
        espyVec3 p = {g->position[0][i], g->position[1][i], g->position[2][i]};
        float survives = 1.0f, sum = 0.0f;
        for (uint32_t k = 0; k < w->lists.exactCount; ++k)
        {
            const espyiProxyEntry* e = &pass->entries[w->lists.exact[k]];
            float strength = e->owner != 0.0f && e->owner == g->owner[i] ? e->strength * e->selfStrength : e->strength;
            survives *= 1.0f - strength * espyiCapsule_SolidAngle(&e->pack, p) * 0.0795774715f;
        }
        for (uint32_t k = 0; k < w->lists.sourceCount; ++k)
        {
            const espyiProxySource* s = &w->lists.sources[k];
            float x = s->x - p.x, y = s->y - p.y, z = s->z - p.z;
            float inverse2 = 1.0f / espyR_Max(x * x + y * y + z * z, 1e-12f);
            float across = x * (s->txx * x + s->txy * y + s->txz * z) + y * (s->tyy * y + s->tyz * z) + s->tzz * z * z;
            sum += (s->area - across * inverse2) * inverse2;
        }
        g->survives[i] = survives;
        g->farSum[i] = 0.25f * sum;
    }
}

static void espyPass_EvaluateGroup(const espyProxyPass* pass, espyPassWorker* w, const uint16_t* order, uint32_t count,
                                   bool bare)
{
    espyiProxyReceivers *t = &w->tile, *g = &w->group;
    g->count = count;
    g->box = espyPass_Bounds(t, order, count);
    // Lanes past the end repeat the last pixel.
    for (uint32_t i = 0; i < count + ESPYI_PROXY_PAD; ++i)
    {
        uint32_t at = order[i < count ? i : count - 1u];
        for (uint32_t k = 0; k < 3u; ++k)
        {
            g->position[k][i] = t->position[k][at];
            g->normal[k][i] = t->normal[k][at];
        }
        g->owner[i] = t->owner[at];
    }
    espyPass_FitCone(g);
    espyiProxy_Gather(&pass->gather, g, &w->lists);
    w->pixels += count;
    w->exact += (uint64_t)count * w->lists.exactCount;
    w->far += (uint64_t)count * w->lists.sourceCount;
    w->overflows += w->lists.overflows;
    if (w->lists.exactCount + w->lists.sourceCount == 0)
    {
        return;
    }
    if (bare)
    {
        espyPass_EvaluateBare(pass, w);
    }
    else
    {
        bool solid = pass->settings.inside == espyCapsuleInside_Solid;
        pass->kernels->exact(pass->entries, w->lists.exact, w->lists.exactCount, solid, g);
        pass->kernels->farSum(w->lists.sources, w->lists.sourceCount, g);
    }
    float intensity = pass->settings.intensity, power = pass->settings.power;
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t at = order[i];
        float survives = g->survives[i];
        survives *= w->lists.sourceCount > 0 ? espyiFloat_Exp2(g->farSum[i] * -1.44269504f) : 1.0f;
        float hidden = espyiFloat_Pow(espyiFloat_Clamp(1.0f - survives, 0.0f, 1.0f), power);
        w->visibility[w->pixel[at]] = 1.0f - intensity * w->fade[at] * hidden;
    }
}

/// The axis that a normal follows most, 0 .. 5: x, -x, y, -y, z, -z.
static uint32_t espyPass_Facing(const espyiProxyReceivers* t, uint32_t at)
{
    float x = t->normal[0][at], y = t->normal[1][at], z = t->normal[2][at];
    float ax = espyR_Abs(x), ay = espyR_Abs(y), az = espyR_Abs(z);
    uint32_t axis = ax >= ay && ax >= az ? 0u : ay >= az ? 1u : 2u;
    float along = axis == 0 ? x : axis == 1u ? y : z;
    return 2u * axis + (along < 0.0f ? 1u : 0u);
}

/// Evaluates a group whose normals may point anywhere: apart by facing where no cone could hold them.
static void espyPass_EvaluateFacings(const espyProxyPass* pass, espyPassWorker* w, uint16_t* order, uint32_t count)
{
    uint32_t counts[6] = {0}, kinds = 0;
    for (uint32_t i = 0; i < count; ++i)
    {
        ++counts[espyPass_Facing(&w->tile, order[i])];
    }
    bool opposite = false;
    for (uint32_t k = 0; k < 6u; ++k)
    {
        kinds += counts[k] > 0 ? 1u : 0u;
        opposite = opposite || (counts[k] > 0 && counts[k ^ 1u] > 0);
    }
    if (kinds < 3u && !opposite)
    {
        espyPass_EvaluateGroup(pass, w, order, count, false);
        return;
    }
    uint32_t first = 0;
    for (uint32_t k = 0; k < 6u; ++k)
    {
        uint32_t end = first;
        for (uint32_t i = first; i < count; ++i)
        {
            uint16_t at = order[i];
            if (espyPass_Facing(&w->tile, at) == k)
            {
                order[i] = order[end];
                order[end++] = at;
            }
        }
        if (end > first)
        {
            espyPass_EvaluateGroup(pass, w, order + first, end - first, false);
        }
        first = end;
    }
}

/// Moves the receivers without a normal to the front; returns how many.
static uint32_t espyPass_SplitBare(espyPassWorker* w)
{
    const espyiProxyReceivers* t = &w->tile;
    uint32_t bare = 0;
    for (uint32_t i = 0; i < t->count; ++i)
    {
        uint16_t at = w->order[i];
        if (t->normal[0][at] == 0.0f && t->normal[1][at] == 0.0f && t->normal[2][at] == 0.0f)
        {
            w->order[i] = w->order[bare];
            w->order[bare++] = at;
        }
    }
    return bare;
}

typedef struct espyPassSpan
{
    uint32_t first, count;
} espyPassSpan;

/// Halves what is too wide across its longest side until it is small or few.
static void espyPass_EvaluateSpan(const espyProxyPass* pass, espyPassWorker* w, uint32_t first, uint32_t count,
                                  bool bare)
{
    espyPassSpan stack[24];
    uint32_t top = 0;
    stack[top++] = (espyPassSpan){first, count};
    while (top > 0)
    {
        espyPassSpan span = stack[--top];
        if (span.count == 0)
        {
            continue;
        }
        uint16_t* order = w->order + span.first;
        espyBox box = espyPass_Bounds(&w->tile, order, span.count);
        float x = box.max.x - box.min.x, y = box.max.y - box.min.y, z = box.max.z - box.min.z;
        float widest = espyR_Max(x, espyR_Max(y, z));
        if (widest > pass->groupSize && span.count > ESPY_GROUP_MIN && top + 2u <= 24u)
        {
            uint32_t axis = widest == x ? 0u : widest == y ? 1u : 2u, kept = 0;
            float middle = axis == 0 ? 0.5f * (box.min.x + box.max.x)
                                     : (axis == 1u ? 0.5f * (box.min.y + box.max.y) : 0.5f * (box.min.z + box.max.z));
            for (uint32_t i = 0; i < span.count; ++i)
            {
                uint16_t at = order[i];
                if (w->tile.position[axis][at] <= middle)
                {
                    order[i] = order[kept];
                    order[kept++] = at;
                }
            }
            if (kept > 0 && kept < span.count)
            {
                stack[top++] = (espyPassSpan){span.first + kept, span.count - kept};
                stack[top++] = (espyPassSpan){span.first, kept};
                continue;
            }
        }
        if (bare)
        {
            espyPass_EvaluateGroup(pass, w, order, span.count, true);
        }
        else
        {
            espyPass_EvaluateFacings(pass, w, order, span.count);
        }
    }
}

static void espyPass_Resolve(const espyProxyPass* pass, const espyPassWorker* w, uint32_t tileX, uint32_t tileY)
{
    const espyProxyImage* image = pass->image;
    float reference = pass->stats.reference;
    bool estimate = pass->settings.mode == espyProxyMode_Estimate;
    for (uint32_t i = 0; i < ESPYI_PROXY_PIXELS; ++i)
    {
        uint32_t x = tileX * ESPYI_PROXY_TILE + i % ESPYI_PROXY_TILE,
                 y = tileY * ESPYI_PROXY_TILE + i / ESPYI_PROXY_TILE;
        if (x >= image->width || y >= image->height)
        {
            continue;
        }
        float visibility = w->visibility[i], *lit = espyPass_At(&image->lit, x, y);
        if (image->visibility.data)
        {
            *espyPass_At(&image->visibility, x, y) = visibility;
        }
        if (!lit || visibility >= 1.0f || !espyPass_IsFinite3(lit))
        {
            continue;
        }
        float scale = visibility;
        if (estimate)
        {
            float trust, light = espyPass_Light(image, x, y, lit, &trust);
            float share = reference > 0.0f ? light / reference : 0.0f;
            // Shadowed already: that much less. Far brighter than the unshadowed light: a lamp of its own, left alone.
            float weight =
                trust * espyiFloat_Clamp(share, 0.0f, 1.0f) * (1.0f - espyiFloat_SmoothStep(2.0f, 4.0f, share));
            if (!(weight > 0.0f))
            {
                continue;
            }
            scale = 1.0f - (1.0f - visibility) * weight;
        }
        lit[0] *= scale;
        lit[1] *= scale;
        lit[2] *= scale;
    }
}

static void espyPass_Tile(espyProxyPass* pass, uint32_t index, espyPassWorker* w)
{
    uint32_t tileX = index % pass->tilesX, tileY = index / pass->tilesX;
    espyPass_Collect(pass, w, tileX, tileY);
    if (w->tile.count > 0)
    {
        uint32_t bare = espyPass_SplitBare(w);
        espyPass_EvaluateSpan(pass, w, 0, bare, true);
        espyPass_EvaluateSpan(pass, w, bare, w->tile.count - bare, false);
    }
    espyPass_Resolve(pass, w, tileX, tileY);
}

// --- the light without shadow

/// Counts the light of every second pixel of every second row, by quarter octaves.
static void espyPass_Measure(espyProxyPass* pass, uint32_t index, espyPassWorker* w)
{
    const espyProxyImage* image = pass->image;
    uint32_t firstY = index * ESPYI_PROXY_TILE, endY = firstY + ESPYI_PROXY_TILE;
    endY = endY < image->height ? endY : image->height;
    for (uint32_t y = firstY; y < endY; y += 2u)
    {
        for (uint32_t x = 0; x < image->width; x += 2u)
        {
            float depth = *espyPass_At(&image->depth, x, y);
            const float* lit = espyPass_At(&image->lit, x, y);
            if (!(depth >= 0.0f && depth <= 1.0f) || depth == pass->background || !espyPass_IsFinite3(lit))
            {
                continue;
            }
            float trust, light = espyPass_Light(image, x, y, lit, &trust);
            if (trust > 0.5f && light > 0.0f && light < 3e38f)
            {
                uint32_t bits = espyiFloat_Bits(light), bin = bits >> ESPY_BIN_BITS;
                bin = bin < ESPY_BIN_BASE ? 0u : bin - ESPY_BIN_BASE;
                bin = bin < ESPY_BINS ? bin : ESPY_BINS - 1u;
                ++w->bins[bin];
                w->parts[bin] += bits & ((1u << ESPY_BIN_BITS) - 1u);
            }
        }
    }
}

/// The mean of the bin in which 95 % of the measured pixels are reached; 0 where nothing was measured.
static float espyPass_Percentile(const espyProxyPass* pass)
{
    uint32_t counts[ESPY_BINS] = {0}, total = 0, below = 0;
    uint64_t parts[ESPY_BINS] = {0};
    for (uint32_t w = 0; w < pass->workerCount; ++w)
    {
        for (uint32_t i = 0; i < ESPY_BINS; ++i)
        {
            counts[i] += pass->workers[w].bins[i];
            parts[i] += pass->workers[w].parts[i];
            total += pass->workers[w].bins[i];
        }
    }
    uint32_t goal = total - total / 20u;
    for (uint32_t i = 0; i < ESPY_BINS; ++i)
    {
        below += counts[i];
        if (counts[i] > 0 && below >= goal)
        {
            uint32_t part = (uint32_t)(parts[i] / counts[i]);
            return espyiFloat_FromBits(((i + ESPY_BIN_BASE) << ESPY_BIN_BITS) + part);
        }
    }
    return 0.0f;
}

/// One loop over the image. A task is a worker: it takes pieces until none is left, so that what it needs is its own on
/// whatever thread it runs.
typedef struct espyPassLoop
{
    espyProxyPass* pass;
    void (*piece)(espyProxyPass* pass, uint32_t index, espyPassWorker* worker);
    uint32_t count;
    atomic_uint next;
} espyPassLoop;

static void espyPass_Work(void* job, uint32_t worker)
{
    espyPassLoop* loop = job;
    uint32_t i = atomic_fetch_add_explicit(&loop->next, 1u, memory_order_relaxed);
    while (i < loop->count)
    {
        loop->piece(loop->pass, i, &loop->pass->workers[worker]);
        i = atomic_fetch_add_explicit(&loop->next, 1u, memory_order_relaxed);
    }
}

static void espyPass_Run(espyProxyPass* pass, void (*piece)(espyProxyPass*, uint32_t, espyPassWorker*), uint32_t count)
{
    espyPassLoop loop = {.pass = pass, .piece = piece, .count = count};
    atomic_init(&loop.next, 0u);
    if (pass->workerCount > 1u)
    {
        pass->tasks.parallelFor(pass->tasks.context, pass->workerCount, espyPass_Work, &loop);
    }
    else
    {
        espyPass_Work(&loop, 0);
    }
}

static float espyPass_Reference(espyProxyPass* pass, const espyProxyView* view, uint32_t rows)
{
    if (view->expectedLight > 0.0f)
    {
        return view->expectedLight;
    }
    espyPass_Run(pass, espyPass_Measure, rows);
    float now = espyPass_Percentile(pass);
    if (now > 0.0f)
    {
        // Half a second to follow a change: the effect must not flicker with what enters the image.
        float keep = pass->reference > 0.0f && view->deltaTime > 0.0f
                         ? espyiFloat_Exp2(-1.44269504f / 0.5f * view->deltaTime)
                         : 0.0f;
        pass->reference = now + (pass->reference - now) * keep;
    }
    return pass->reference;
}

// --- apply

static bool espyPass_CheckImage(const espyProxyImage* image, espyProxyMode mode)
{
    bool sized =
        image->width >= 1u && image->width <= ESPY_SIZE_MAX && image->height >= 1u && image->height <= ESPY_SIZE_MAX;
    bool lit = image->lit.data && (mode == espyProxyMode_Ambient || image->albedo.data);
    return sized && image->depth.data && (lit || (!image->lit.data && image->visibility.data));
}

static void espyPass_Clear(const espyProxyImage* image)
{
    for (uint32_t y = 0; image->visibility.data && y < image->height; ++y)
    {
        for (uint32_t x = 0; x < image->width; ++x)
        {
            *espyPass_At(&image->visibility, x, y) = 1.0f;
        }
    }
}

/// A quarter of the reach at which capsules of middling size stop being evaluated one by one.
static float espyPass_GroupSize(const espyProxyPass* pass, uint32_t count)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyiCapsulePack* k = &pass->entries[i].pack;
        float r = espyR_Max(k->radiusA, k->radiusB);
        sum += espyR_Sqrt((r * r + 0.6366197724f * r * k->length) / pass->settings.detail);
    }
    return 0.25f * sum / (float)count;
}

espyResult espyProxyPass_Apply(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                               const espyProxyImage* image)
{
    pass->stats = (espyProxyStats){.bytes = pass->bytes};
    pass->settings = set->settings;
    if (!ESPYI_CHECK(&pass->hooks, view->cookie == ESPY_DEF_COOKIE) ||
        !ESPYI_CHECK(&pass->hooks, espyPass_CheckImage(image, pass->settings.mode)))
    {
        return espyResult_InvalidArgument;
    }
    if (set->count == 0 || pass->settings.intensity == 0.0f)
    {
        espyPass_Clear(image);
        return espyResult_Ok;
    }
    bool clusters = set->technique == espyProxyTechnique_Clusters;
    if (!pass->workers || espyiProxySet_CountPieces(set) > pass->room || (clusters && !pass->nodes))
    {
        return espyResult_LimitExceeded;
    }
    if (!ESPYI_CHECK(&pass->hooks, espyPass_SetView(pass, view)))
    {
        return espyResult_InvalidArgument;
    }
    espyVec3 eye = {view->camera.m[12], view->camera.m[13], view->camera.m[14]};
    uint32_t count = espyiProxy_Pack(set, view->mask, eye, pass->entries);
    pass->stats.proxies = count;
    if (count == 0)
    {
        espyPass_Clear(image);
        return espyResult_Ok;
    }
    pass->image = image;
    pass->groupSize = espyPass_GroupSize(pass, count);
    pass->gather = (espyiProxyGather){
        .entries = pass->entries, .count = count, .detail = pass->settings.detail, .maxExact = pass->settings.maxExact};
    if (clusters)
    {
        pass->tree.nodes = pass->nodes;
        pass->tree.sorted = pass->sorted;
        espyiProxyTree_Build(&pass->tree, pass->entries, count, pass->keys, pass->swap);
        pass->gather.tree = &pass->tree;
    }
    for (uint32_t i = 0; i < pass->workerCount; ++i)
    {
        espyPassWorker* w = &pass->workers[i];
        w->pixels = w->exact = w->far = w->overflows = 0;
        for (uint32_t k = 0; k < ESPY_BINS; ++k)
        {
            w->bins[k] = 0;
            w->parts[k] = 0;
        }
    }
    pass->tilesX = (image->width + ESPYI_PROXY_TILE - 1u) / ESPYI_PROXY_TILE;
    uint32_t tilesY = (image->height + ESPYI_PROXY_TILE - 1u) / ESPYI_PROXY_TILE;
    if (image->lit.data && pass->settings.mode == espyProxyMode_Estimate)
    {
        pass->stats.reference = espyPass_Reference(pass, view, tilesY);
    }
    espyPass_Run(pass, espyPass_Tile, pass->tilesX * tilesY);
    for (uint32_t i = 0; i < pass->workerCount; ++i)
    {
        pass->stats.pixels += pass->workers[i].pixels;
        pass->stats.exact += pass->workers[i].exact;
        pass->stats.far += pass->workers[i].far;
        pass->stats.overflows += pass->workers[i].overflows;
    }
    return espyResult_Ok;
}

espyProxyStats espyProxyPass_GetStats(const espyProxyPass* pass)
{
    return pass->stats;
}
