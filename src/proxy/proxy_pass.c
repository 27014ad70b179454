// SPDX-License-Identifier: MIT
// The image pass: from depth to receivers, from receivers to what survives, from that to the lit colour.
//
// A tile's pixels are cut into groups that lie close together, whatever the depth does inside the tile; each group
// gathers its own lists. docs/proxy.md tells how the existing light is estimated.
#include "proxy/lanes.h"
#include "proxy/proxy_math.h"
#include "proxy/proxy_pass_internal.h"

#include <stdatomic.h>

#define ESPY_WORKERS_MAX 256u
/// Bits of a float below those that tell its quarter octave.
#define ESPY_BIN_BITS 21u
/// Quarter octaves; the first one starts at 2^-16.
#define ESPY_BIN_BASE ((127u - 16u) << 2)

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
        espyiProxyPass_FreeLists(pass);
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
    const float *emissive = espyiProxyPlane_At(&image->emissive, x, y),
                *metal = espyiProxyPlane_At(&image->metal, x, y);
    float albedo = espyPass_Luminance(espyiProxyPlane_At(&image->albedo, x, y));
    albedo *= metal ? 1.0f - espyiFloat_Clamp(*metal, 0.0f, 1.0f) : 1.0f;
    float light = espyPass_Luminance(lit) - (emissive ? espyPass_Luminance(emissive) : 0.0f);
    *trust = albedo > 0.0f ? espyiFloat_SmoothStep(0.01f, 0.04f, albedo) : 0.0f;
    return light > 0.0f && albedo > 0.0f ? light / (albedo > 0.04f ? albedo : 0.04f) : 0.0f;
}

// --- tiles

/// Evaluates pixels without a normal: the share of all directions.
static void espyPass_EvaluateBare(const espyProxyPass* pass, espyiProxyWorker* w)
{
    espyiProxyReceivers* g = &w->group;
    for (uint32_t i = 0; i < g->count; ++i)
    {
        espyVec3 p = {g->position[0][i], g->position[1][i], g->position[2][i]};
        float survives = 1.0f, sum = 0.0f;
        for (uint32_t k = 0; k < w->lists.exactCount; ++k)
        {
            const espyProxyEntry* e = &pass->entries[w->lists.exact[k]];
            float strength = e->owner != 0.0f && e->owner == g->owner[i] ? e->strength * e->selfStrength : e->strength;
            survives *= 1.0f - strength * espyiCapsule_SolidAngle(&e->pack, p) * 0.0795774715f;
        }
        for (uint32_t k = 0; k < w->lists.sourceCount; ++k)
        {
            const espyProxySource* s = &w->lists.sources[k];
            float x = s->x - p.x, y = s->y - p.y, z = s->z - p.z;
            float inverse2 = 1.0f / espyR_Max(x * x + y * y + z * z, 1e-12f);
            float across = x * (s->txx * x + s->txy * y + s->txz * z) + y * (s->tyy * y + s->tyz * z) + s->tzz * z * z;
            sum += (s->area - across * inverse2) * inverse2;
        }
        g->survives[i] = survives;
        g->farSum[i] = 0.25f * sum;
    }
}

static void espyPass_EvaluateSpan(const espyProxyPass* pass, espyiProxyWorker* w, const espyiProxySpan* span)
{
    const espyiProxyTile* tile = &w->tile;
    espyiProxyReceivers* g = &w->group;
    uint32_t count = span->count;
    espyiProxyTile_FillGroup(tile, span, g);
    espyiProxy_Gather(&pass->gather, g, &w->lists);
    w->pixels += count;
    w->exact += (uint64_t)count * w->lists.exactCount;
    w->far += (uint64_t)count * w->lists.sourceCount;
    w->overflows += w->lists.overflows;
    if (w->lists.exactCount + w->lists.sourceCount == 0)
    {
        return;
    }
    if (span->bare)
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
        uint32_t at = tile->order[span->first + i];
        float survives = g->survives[i];
        survives *= w->lists.sourceCount > 0 ? espyiFloat_Exp2(g->farSum[i] * -1.44269504f) : 1.0f;
        float hidden = espyiFloat_Pow(espyiFloat_Clamp(1.0f - survives, 0.0f, 1.0f), power);
        w->visibility[tile->pixel[at]] = 1.0f - intensity * tile->fade[at] * hidden;
    }
}

static void espyPass_Resolve(const espyProxyPass* pass, const espyiProxyWorker* w, uint32_t tileX, uint32_t tileY)
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
        float visibility = w->visibility[i], *lit = espyiProxyPlane_At(&image->lit, x, y);
        if (image->visibility.data)
        {
            *espyiProxyPlane_At(&image->visibility, x, y) = visibility;
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

static void espyPass_Tile(espyProxyPass* pass, uint32_t index, espyiProxyWorker* w)
{
    uint32_t tileX = index % pass->tilesX, tileY = index / pass->tilesX;
    for (uint32_t i = 0; i < ESPYI_PROXY_PIXELS; ++i)
    {
        w->visibility[i] = 1.0f;
    }
    espyiProxyTile_Collect(pass, &w->tile, tileX, tileY);
    for (uint32_t i = 0; i < w->tile.spanCount; ++i)
    {
        espyPass_EvaluateSpan(pass, w, &w->tile.spans[i]);
    }
    espyPass_Resolve(pass, w, tileX, tileY);
}

// --- the light without shadow

/// Counts the light of every second pixel of every second row, by quarter octaves.
static void espyPass_Measure(espyProxyPass* pass, uint32_t index, espyiProxyWorker* w)
{
    const espyProxyImage* image = pass->image;
    uint32_t firstY = index * ESPYI_PROXY_TILE, endY = firstY + ESPYI_PROXY_TILE;
    endY = endY < image->height ? endY : image->height;
    for (uint32_t y = firstY; y < endY; y += 2u)
    {
        for (uint32_t x = 0; x < image->width; x += 2u)
        {
            float depth = *espyiProxyPlane_At(&image->depth, x, y);
            const float* lit = espyiProxyPlane_At(&image->lit, x, y);
            if (!(depth >= 0.0f && depth <= 1.0f) || depth == pass->background || !espyPass_IsFinite3(lit))
            {
                continue;
            }
            float trust, light = espyPass_Light(image, x, y, lit, &trust);
            if (trust > 0.5f && light > 0.0f && light < 3e38f)
            {
                uint32_t bits = espyiFloat_Bits(light), bin = bits >> ESPY_BIN_BITS;
                bin = bin < ESPY_BIN_BASE ? 0u : bin - ESPY_BIN_BASE;
                bin = bin < ESPYI_PROXY_BINS ? bin : ESPYI_PROXY_BINS - 1u;
                ++w->bins[bin];
                w->parts[bin] += bits & ((1u << ESPY_BIN_BITS) - 1u);
            }
        }
    }
}

/// The mean of the bin in which 95 % of the measured pixels are reached; 0 where nothing was measured.
static float espyPass_Percentile(const espyProxyPass* pass)
{
    uint32_t counts[ESPYI_PROXY_BINS] = {0}, total = 0, below = 0;
    uint64_t parts[ESPYI_PROXY_BINS] = {0};
    for (uint32_t w = 0; w < pass->workerCount; ++w)
    {
        for (uint32_t i = 0; i < ESPYI_PROXY_BINS; ++i)
        {
            counts[i] += pass->workers[w].bins[i];
            parts[i] += pass->workers[w].parts[i];
            total += pass->workers[w].bins[i];
        }
    }
    uint32_t goal = total - total / 20u;
    for (uint32_t i = 0; i < ESPYI_PROXY_BINS; ++i)
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
    void (*piece)(espyProxyPass* pass, uint32_t index, espyiProxyWorker* worker);
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

void espyiProxyPass_Run(espyProxyPass* pass, void (*piece)(espyProxyPass*, uint32_t, espyiProxyWorker*), uint32_t count)
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
    espyiProxyPass_Run(pass, espyPass_Measure, rows);
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
    bool sized = image->width >= 1u && image->width <= ESPYI_PROXY_SIZE_MAX && image->height >= 1u &&
                 image->height <= ESPYI_PROXY_SIZE_MAX;
    bool lit = image->lit.data && (mode == espyProxyMode_Ambient || image->albedo.data);
    return sized && image->depth.data && (lit || (!image->lit.data && image->visibility.data));
}

static void espyPass_Clear(const espyProxyImage* image)
{
    for (uint32_t y = 0; image->visibility.data && y < image->height; ++y)
    {
        for (uint32_t x = 0; x < image->width; ++x)
        {
            *espyiProxyPlane_At(&image->visibility, x, y) = 1.0f;
        }
    }
}

/// A quarter of the reach at which capsules of middling size stop being evaluated one by one.
static float espyPass_GroupSize(const espyProxyPass* pass, uint32_t count)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; ++i)
    {
        const espyCapsulePack* k = &pass->entries[i].pack;
        float r = espyR_Max(k->radiusA, k->radiusB);
        sum += espyR_Sqrt((r * r + 0.6366197724f * r * k->length) / pass->settings.detail);
    }
    return 0.25f * sum / (float)count;
}

espyResult espyiProxyPass_Begin(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                                const espyProxyImage* image, uint32_t* count)
{
    *count = 0;
    pass->settings = set->settings;
    if (!ESPYI_CHECK(&pass->hooks, view->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    if (set->count == 0 || pass->settings.intensity == 0.0f)
    {
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
    *count = espyiProxy_Pack(set, view->mask, eye, pass->entries);
    if (*count == 0)
    {
        return espyResult_Ok;
    }
    pass->groupSize = espyPass_GroupSize(pass, *count);
    pass->gather = (espyiProxyGather){.entries = pass->entries,
                                      .count = *count,
                                      .detail = pass->settings.detail,
                                      .maxExact = pass->settings.maxExact};
    if (clusters)
    {
        pass->tree.nodes = pass->nodes;
        pass->tree.sorted = pass->sorted;
        espyiProxyTree_Build(&pass->tree, pass->entries, *count, pass->keys, pass->swap);
        pass->gather.tree = &pass->tree;
    }
    pass->image = image;
    pass->tilesX = image ? (image->width + ESPYI_PROXY_TILE - 1u) / ESPYI_PROXY_TILE : 0u;
    pass->tilesY = image ? (image->height + ESPYI_PROXY_TILE - 1u) / ESPYI_PROXY_TILE : 0u;
    return espyResult_Ok;
}

espyResult espyProxyPass_Apply(espyProxyPass* pass, espyProxySet* set, const espyProxyView* view,
                               const espyProxyImage* image)
{
    pass->stats = (espyProxyStats){.bytes = pass->bytes + pass->lists.bytes};
    if (!ESPYI_CHECK(&pass->hooks, espyPass_CheckImage(image, set->settings.mode)))
    {
        return espyResult_InvalidArgument;
    }
    espyResult result = espyiProxyPass_Begin(pass, set, view, image, &pass->stats.proxies);
    if (result != espyResult_Ok || pass->stats.proxies == 0)
    {
        if (result == espyResult_Ok)
        {
            espyPass_Clear(image);
        }
        return result;
    }
    for (uint32_t i = 0; i < pass->workerCount; ++i)
    {
        espyiProxyWorker* w = &pass->workers[i];
        w->pixels = w->exact = w->far = w->overflows = 0;
        for (uint32_t k = 0; k < ESPYI_PROXY_BINS; ++k)
        {
            w->bins[k] = 0;
            w->parts[k] = 0;
        }
    }
    if (image->lit.data && pass->settings.mode == espyProxyMode_Estimate)
    {
        pass->stats.reference = espyPass_Reference(pass, view, pass->tilesY);
    }
    espyiProxyPass_Run(pass, espyPass_Tile, pass->tilesX * pass->tilesY);
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
