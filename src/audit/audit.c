// SPDX-License-Identifier: MIT
// Rendered truth against a file: open points, panoramas, and what the file would have left out of them.
#include <espy/audit.h>

#include "audit/face_filter.h"
#include "core/core.h"
#include "core/tasks.h"

#include <math.h>
#include <stdatomic.h>

/// Points tried for one view before it is given up: most of a level's cells may be solid.
#define ESPY_AUDIT_ATTEMPTS 256u
/// Rays a side of each cube face that decide whether a point is inside something solid.
#define ESPY_AUDIT_SOLID_SIDE 4u
/// Pixels along a face from which on the rasteriser is asked which rays can matter: below, rays cost less.
#define ESPY_AUDIT_LEAST_FILTERED 64u

/// Panels of counters that one worker uses for one view.
typedef struct espyAuditScratch
{
    uint32_t* seen;        ///< Bitset over slots.
    uint32_t* set;         ///< What the file draws from the view's cell.
    uint32_t* wrongPixels; ///< By slot.
    uint32_t* lastPixel;   ///< By slot: 1 + the last pixel that was looked at.
    espyiFaceScratch face;
} espyAuditScratch;

typedef struct espyAuditJob
{
    const espyBakeInput* input;
    const espyPvs* pvs;
    const espyAuditDef* def;
    espyiDrawn* drawn;
    bool filters; ///< Leaves out rays that cannot matter.
    espyiFaceFilter filter;
    espyAuditView* views; ///< `cell` is -1 where no open point was found.
    struct espyAuditTally* tallies;
    espyAuditScratch* scratch; ///< One a worker.
    espyHooks hooks;
    atomic_uint done;
} espyAuditJob;

/// What a view adds to the result beyond espyAuditView.
typedef struct espyAuditTally
{
    int32_t worstNode;
    uint32_t worstPixels;
    uint64_t inFrustum, kept;
} espyAuditTally;

/// One view in progress.
typedef struct espyAuditPass
{
    const espyAuditJob* job;
    espyAuditScratch* scratch;
    espyAuditView* view;
    uint32_t lastWrongPixel; ///< 1 + the last pixel that was counted.
} espyAuditPass;

espyAuditDef espyAuditDef_Default(void)
{
    return (espyAuditDef){.views = 200, .size = 256, .seed = 1, .clearance = 0.1f, .cookie = ESPY_DEF_COOKIE};
}

// --- points

/// A point is inside something solid where more than half of all directions meet the back of an occluder first. Under
/// an open sheet of terrain at most half of them do, so that its underside is not solid.
static bool espyAudit_IsSolid(const espyiDrawn* drawn, espyVec3 point)
{
    espyiSegment segments[6 * ESPY_AUDIT_SOLID_SIDE * ESPY_AUDIT_SOLID_SIDE];
    espyiHit hits[ESPYI_ARRAY_COUNT(segments)];
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(segments); ++i)
    {
        espyiRay ray = espyiPanorama_Ray(point, ESPY_AUDIT_SOLID_SIDE, i);
        segments[i] = (espyiSegment){
            .origin = point,
            .tMin = 0.0f,
            .direction = {(float)ray.direction[0], (float)ray.direction[1], (float)ray.direction[2]},
            .tMax = 1e30f,
        };
    }
    espyiBvh_ClosestMany(drawn->blockerBvh, segments, ESPYI_ARRAY_COUNT(segments), (espyiSkip){0, 0}, hits);
    uint32_t backs = 0;
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(segments); ++i)
    {
        backs += hits[i].triangle != UINT32_MAX && hits[i].backFace ? 1u : 0u;
    }
    return 2 * backs > ESPYI_ARRAY_COUNT(segments);
}

/// Fills point and cell; the cell stays -1 where every attempt met a wall.
static void espyAudit_ChoosePoint(const espyAuditJob* job, uint32_t index, espyAuditView* view)
{
    espyiRng rng = espyiRng_Seed(espyiHash_U64(job->def->seed, index));
    view->cell = ESPY_PVS_OUTSIDE;
    for (uint32_t attempt = 0; attempt < ESPY_AUDIT_ATTEMPTS && view->cell < 0; ++attempt)
    {
        espyBox box = espyPvs_GetCellBox(job->pvs, (int32_t)espyiRng_Below(&rng, job->pvs->cellCount));
        float x = espyiRng_Float(&rng), y = espyiRng_Float(&rng), z = espyiRng_Float(&rng);
        espyVec3 point = {box.min.x + x * (box.max.x - box.min.x), box.min.y + y * (box.max.y - box.min.y),
                          box.min.z + z * (box.max.z - box.min.z)};
        const double exact[3] = {(double)point.x, (double)point.y, (double)point.z};
        double clearance = (double)job->def->clearance;
        if (espyiExact_IsClear(job->drawn->blockerExact, exact, clearance) &&
            espyiExact_IsClear(job->drawn->targetExact, exact, clearance) && !espyAudit_IsSolid(job->drawn, point))
        {
            view->point = point;
            view->cell = espyPvs_FindCell(job->pvs, point);
        }
    }
}

// --- one view

static bool espyAudit_IsHidden(const uint32_t* set, uint32_t slot)
{
    return !espyiBits_Get(set, slot);
}

static void espyAudit_OnSeen(void* context, uint32_t pixel, uint32_t slot)
{
    espyAuditPass* pass = context;
    espyAuditScratch* scratch = pass->scratch;
    const espyiDrawn* drawn = pass->job->drawn;
    if (scratch->lastPixel[slot] == pixel + 1)
    {
        return;
    }
    scratch->lastPixel[slot] = pixel + 1;
    uint32_t whole = drawn->wholeOf[slot];
    espyiBits_Set(scratch->seen, slot);
    espyiBits_Set(scratch->seen, whole);
    bool slotHidden = espyAudit_IsHidden(pass->scratch->set, slot);
    bool wholeHidden = whole != slot && espyAudit_IsHidden(pass->scratch->set, whole);
    if (!slotHidden && !wholeHidden)
    {
        return;
    }
    espyiRay ray = espyiPanorama_Ray(pass->view->point, pass->job->def->size, pixel);
    if (!espyiDrawn_Confirm(drawn, slot, &ray, (double)ESPYI_PANORAMA_NEAR))
    {
        return;
    }
    scratch->wrongPixels[slot] += slotHidden ? 1u : 0u;
    if (wholeHidden && scratch->lastPixel[whole] != pixel + 1)
    {
        // Several parts of one node may show in one pixel.
        scratch->lastPixel[whole] = pixel + 1;
        ++scratch->wrongPixels[whole];
    }
    pass->view->wrongPixels += pass->lastWrongPixel != pixel + 1 ? 1u : 0u;
    pass->lastWrongPixel = pixel + 1;
}

static espyiFaceNeed espyAudit_Need(void* context, uint32_t slot)
{
    const espyAuditPass* pass = context;
    const espyAuditScratch* scratch = pass->scratch;
    uint32_t whole = pass->job->drawn->wholeOf[slot];
    if (espyAudit_IsHidden(scratch->set, slot) || espyAudit_IsHidden(scratch->set, whole))
    {
        return espyiFaceNeed_All;
    }
    return espyiBits_Get(scratch->seen, slot) ? espyiFaceNeed_None : espyiFaceNeed_First;
}

static void espyAudit_Tally(const espyAuditPass* pass, espyAuditTally* tally)
{
    const espyBakeInput* input = pass->job->input;
    espyAuditView* view = pass->view;
    tally->worstNode = -1;
    for (uint32_t slot = 0; slot < input->occludeeCount; ++slot)
    {
        uint32_t wrong = pass->scratch->wrongPixels[slot];
        bool drawn = !espyAudit_IsHidden(pass->scratch->set, slot);
        view->visible += espyiBits_Get(pass->scratch->seen, slot) ? 1u : 0u;
        view->drawn += drawn ? 1u : 0u;
        view->wrongObjects += wrong > 0 ? 1u : 0u;
        if (wrong > tally->worstPixels)
        {
            tally->worstPixels = wrong;
            tally->worstNode = input->occludees[slot].node;
        }
        for (uint32_t face = 0; face < 6; ++face)
        {
            bool inFace = espyiPanorama_IsInFace(view->point, face, input->occludees[slot].box);
            tally->inFrustum += inFace ? 1u : 0u;
            tally->kept += inFace && drawn ? 1u : 0u;
        }
    }
}

static void espyAudit_RunView(void* context, uint32_t index, uint32_t worker)
{
    espyAuditJob* job = context;
    espyAuditScratch* scratch = &job->scratch[worker];
    espyAuditPass pass = {.job = job, .scratch = scratch, .view = &job->views[index]};
    espyAudit_ChoosePoint(job, index, pass.view);
    if (pass.view->cell >= 0)
    {
        espyPvs_ReadStaticSet(job->pvs, pass.view->cell, scratch->set);
        for (uint32_t slot = 0; slot < job->input->occludeeCount; ++slot)
        {
            espyiBits_Clear(scratch->seen, slot);
            scratch->wrongPixels[slot] = 0;
            scratch->lastPixel[slot] = 0;
        }
        for (uint32_t face = 0; face < 6; ++face)
        {
            if (job->filters)
            {
                espyiFaceFilter_Render(&job->filter, &scratch->face, job->drawn, pass.view->point, job->def->size, face,
                                       espyAudit_Need, espyAudit_OnSeen, &pass);
            }
            else
            {
                espyiPanorama_RenderFace(job->drawn, pass.view->point, job->def->size, face, espyAudit_OnSeen, &pass);
            }
        }
        espyAudit_Tally(&pass, &job->tallies[index]);
    }
    atomic_fetch_add(&job->done, 1u);
}

// --- the whole

static bool espyAudit_Tick(void* context)
{
    espyAuditJob* job = context;
    return job->def->progress(atomic_load(&job->done), job->def->views, job->def->progressContext);
}

static bool espyAudit_IsDefSound(const espyHooks* hooks, const espyAuditDef* def)
{
    return ESPYI_CHECK(hooks, def->cookie == ESPY_DEF_COOKIE) && ESPYI_CHECK(hooks, def->views >= 1) &&
           ESPYI_CHECK(hooks, def->size >= 1 && def->size <= 4096) &&
           ESPYI_CHECK(hooks, def->clearance >= 0.0f && def->clearance < 1e6f);
}

/// Ids are compared where the file kept them.
static bool espyAudit_Belongs(const espyBakeInput* input, const espyPvs* pvs)
{
    if (pvs->occludeeCount != input->occludeeCount || pvs->occluderCount != input->occluderCount || pvs->cellCount == 0)
    {
        return false;
    }
    for (uint32_t slot = 0; slot < input->occludeeCount; ++slot)
    {
        int32_t node = espyPvs_GetOccludeeNode(pvs, slot);
        if (node >= 0 &&
            (node != input->occludees[slot].node || espyPvs_GetOccludeePart(pvs, slot) != input->occludees[slot].part))
        {
            return false;
        }
    }
    return true;
}

static espyResult espyAudit_Prepare(espyAuditJob* job, uint32_t threads)
{
    size_t slots = (size_t)job->input->occludeeCount + 1;
    espyResult result = espyiDrawn_Create(job->input, threads, &job->hooks, &job->drawn);
    job->views = espyiAlloc(&job->hooks, job->def->views, sizeof *job->views);
    job->tallies = espyiAlloc(&job->hooks, job->def->views, sizeof *job->tallies);
    job->scratch = espyiAlloc(&job->hooks, threads, sizeof *job->scratch);
    bool stored = job->views && job->tallies && job->scratch;
    job->filters = !job->def->allRays && job->def->size >= ESPY_AUDIT_LEAST_FILTERED;
    stored = stored && (!job->filters || result != espyResult_Ok ||
                        espyiFaceFilter_Create(&job->filter, job->drawn, &job->hooks) == espyResult_Ok);
    for (uint32_t w = 0; stored && w < threads; ++w)
    {
        espyAuditScratch* scratch = &job->scratch[w];
        scratch->seen = espyiAlloc(&job->hooks, slots / 32 + 1, sizeof(uint32_t));
        scratch->set = espyiAlloc(&job->hooks, slots / 32 + 1, sizeof(uint32_t));
        scratch->wrongPixels = espyiAlloc(&job->hooks, slots, sizeof(uint32_t));
        scratch->lastPixel = espyiAlloc(&job->hooks, slots, sizeof(uint32_t));
        stored =
            scratch->seen && scratch->set && scratch->wrongPixels && scratch->lastPixel &&
            (!job->filters || espyiFaceScratch_Create(&scratch->face, job->def->size, &job->hooks) == espyResult_Ok);
    }
    return result != espyResult_Ok ? result : stored ? espyResult_Ok : espyResult_OutOfMemory;
}

static void espyAudit_FreeJob(espyAuditJob* job, uint32_t threads)
{
    for (uint32_t w = 0; job->scratch && w < threads; ++w)
    {
        espyiFree(&job->hooks, job->scratch[w].seen);
        espyiFree(&job->hooks, job->scratch[w].set);
        espyiFree(&job->hooks, job->scratch[w].wrongPixels);
        espyiFree(&job->hooks, job->scratch[w].lastPixel);
        espyiFaceScratch_Destroy(&job->scratch[w].face, &job->hooks);
    }
    espyiFaceFilter_Destroy(&job->filter, &job->hooks);
    espyiFree(&job->hooks, job->scratch);
    espyiFree(&job->hooks, job->tallies);
    espyiFree(&job->hooks, job->views);
    espyiDrawn_Destroy(job->drawn);
}

/// Adds the views up in their order, and closes the gaps that views without a point left.
static void espyAudit_Sum(espyAuditJob* job, espyAuditResult* out)
{
    uint64_t visible = 0, drawn = 0, inFrustum = 0, kept = 0;
    out->worst.view = -1;
    out->worst.node = -1;
    for (uint32_t i = 0; i < job->def->views; ++i)
    {
        const espyAuditView view = job->views[i];
        const espyAuditTally* tally = &job->tallies[i];
        if (view.cell < 0)
        {
            continue;
        }
        if (tally->worstPixels > out->worst.pixels)
        {
            out->worst.view = (int32_t)out->views;
            out->worst.node = tally->worstNode;
            out->worst.pixels = tally->worstPixels;
        }
        out->wrongPixels += view.wrongPixels;
        out->wrongObjects += view.wrongObjects;
        out->wrongViews += view.wrongObjects > 0 ? 1u : 0u;
        visible += view.visible;
        drawn += view.drawn;
        inFrustum += tally->inFrustum;
        kept += tally->kept;
        job->views[out->views++] = view;
    }
    out->pixels = out->views * 6u * job->def->size * job->def->size;
    out->wrongShare = out->pixels > 0 ? (double)out->wrongPixels / (double)out->pixels : 0.0;
    out->visibleMean = out->views > 0 ? (double)visible / (double)out->views : 0.0;
    out->drawnMean = out->views > 0 ? (double)drawn / (double)out->views : 0.0;
    out->tightness = visible > 0 ? (double)drawn / (double)visible : 0.0;
    out->overFrustum = inFrustum > 0 ? (double)kept / (double)inFrustum : 0.0;
}

/// What a result keeps: the views and the hooks that free them.
typedef struct espyAuditOwner
{
    espyHooks hooks;
    espyAuditView* views;
} espyAuditOwner;

espyResult espyAudit_Run(const espyBakeInput* input, const espyPvs* pvs, const espyAuditDef* def, espyAuditResult* out)
{
    *out = (espyAuditResult){.worst = {.view = -1, .node = -1}};
    espyAuditJob job = {.input = input, .pvs = pvs, .def = def, .hooks = espyiHooks_Resolve(&def->hooks)};
    if (!espyAudit_IsDefSound(&job.hooks, def))
    {
        return espyResult_InvalidArgument;
    }
    if (!espyAudit_Belongs(input, pvs))
    {
        return espyResult_BadData;
    }
    uint32_t threads = espyiTasks_ThreadCount(def->threads);
    espyAuditOwner* owner = espyiAlloc(&job.hooks, 1, sizeof *owner);
    espyResult result = owner ? espyAudit_Prepare(&job, threads) : espyResult_OutOfMemory;
    if (result == espyResult_Ok &&
        !espyiTasks_For(threads, def->views, espyAudit_RunView, &job, def->progress ? espyAudit_Tick : NULL, &job))
    {
        result = espyResult_Cancelled;
    }
    if (result == espyResult_Ok)
    {
        espyAudit_Sum(&job, out);
        owner->hooks = job.hooks;
        owner->views = job.views;
        job.views = NULL;
        out->perView = owner->views;
        out->owner = owner;
    }
    else
    {
        espyiFree(&job.hooks, owner);
    }
    espyAudit_FreeJob(&job, threads);
    return result;
}

void espyAudit_Free(espyAuditResult* result)
{
    if (result && result->owner)
    {
        espyAuditOwner* owner = result->owner;
        espyHooks hooks = owner->hooks;
        espyiFree(&hooks, owner->views);
        espyiFree(&hooks, owner);
    }
    if (result)
    {
        *result = (espyAuditResult){.worst = {.view = -1, .node = -1}};
    }
}
