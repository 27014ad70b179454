// SPDX-License-Identifier: MIT
#include "attack_case.h"

#include <math.h>
#include <stdlib.h>

static void espyAttackCase_Trace(void* context, const espyVec3* origins, const espyVec3* directions, uint32_t count,
                                 float tMin, uint32_t firstOwn, uint32_t ownCount, espyAdversaryHit* hits)
{
    const espyAttackCase* c = context;
    espyiSegment segments[ESPY_ADVERSARY_BATCH] = {0};
    espyiHit found[ESPY_ADVERSARY_BATCH];
    for (uint32_t i = 0; i < count; ++i)
    {
        segments[i] = (espyiSegment){origins[i], tMin, directions[i], 1e6f};
    }
    espyiBvh_ClosestMany(c->bvh, segments, count, (espyiSkip){firstOwn, ownCount}, found);
    for (uint32_t i = 0; i < count; ++i)
    {
        bool hit = found[i].t >= 0.0f && found[i].triangle != UINT32_MAX;
        hits[i] = (espyAdversaryHit){hit ? (double)found[i].t : INFINITY, hit ? found[i].triangle : UINT32_MAX};
    }
}

static bool espyAttackCase_IsPlace(void* context, const double point[3])
{
    const espyAttackCase* c = context;
    const espyVec3 o = c->scene.grid.origin;
    const double p[3] = {point[0] - (double)o.x, point[1] - (double)o.y, point[2] - (double)o.z};
    return c->viewers.count == 0 || espyiBits_Get(c->viewers.leaves, espyiFreeSpace_FindLeaf(c->space, p));
}

static void espyAttackCase_Attack(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espyAttackCase* c = context;
    const espyAdversaryDef def = {
        .input = c->input,
        .pvs = &c->pvs,
        .trace = espyAttackCase_Trace,
        .traceContext = c,
        .place = espyAttackCase_IsPlace,
        .placeContext = c,
        .rims = (const double(*)[2][3])c->rims,
        .rimCount = c->rimCount,
        .tolerance = 2e-5,
        .rays = c->rays,
        .seed = espyiHash_U64(c->seed, index),
    };
    espyAdversary_Run(&c->adversary, &def, &c->found[index]);
}

/// The free space of the bake, for its openings and its viewers; both are rebuilt here from the same input.
static bool espyAttackCase_OpenSpace(espyAttackCase* c)
{
    const espyHooks* hooks = &c->hooks;
    espyiWarnings warnings = {.hooks = hooks};
    char message[256];
    c->scene.hooks = hooks;
    if (espyiScene_Gather(c->input, &c->def, &warnings, &c->scene, message, sizeof message) != espyResult_Ok)
    {
        return false;
    }
    espyiWarnings_Free(&warnings);
    const espyiScene* s = &c->scene;
    espyBox box = {{0, 0, 0},
                   {(float)s->grid.dims[0] * s->grid.cellSize, (float)s->grid.dims[1] * s->grid.cellSize,
                    (float)s->grid.dims[2] * s->grid.cellSize}};
    for (uint32_t i = 0; i < s->vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, s->positions[i]);
    }
    espyiBoxD world = {{(double)box.min.x - 20, (double)box.min.y - 20, (double)box.min.z - 20},
                       {(double)box.max.x + 20, (double)box.max.y + 20, (double)box.max.z + 20}};
    espyiSoup soup = {{s->positions, s->indices, s->vertexCount, s->triangleCount}, s->objects};
    espyiFreeSpaceDef def = {.smallestHole = (double)c->def.smallestHole, .hooks = hooks};
    if (espyiFreeSpace_Build(&soup, world, &def, &c->space) != espyResult_Ok)
    {
        return false;
    }
    if (s->viewPointCount > 0)
    {
        espyiViewersDef viewers = {.occluders = &soup,
                                   .points = s->viewPoints,
                                   .pointCount = s->viewPointCount,
                                   .radius = fmin((double)c->def.nearDistance, ESPYI_CAMERA_RADIUS),
                                   .hooks = hooks};
        if (espyiViewers_Find(c->space, &viewers, &c->viewers) != espyResult_Ok)
        {
            return false;
        }
    }
    size_t most = 0;
    for (size_t i = 0; i < c->space->refCount; ++i)
    {
        most += c->space->refs[i].count;
    }
    c->rims = calloc(most + 1, sizeof *c->rims);
    const double origin[3] = {(double)s->grid.origin.x, (double)s->grid.origin.y, (double)s->grid.origin.z};
    for (size_t i = 0; i < c->space->refCount && c->rims; ++i)
    {
        const espyiPortalRef* ref = &c->space->refs[i];
        for (uint32_t k = 0; k < ref->count; ++k)
        {
            for (int axis = 0; axis < 3; ++axis)
            {
                c->rims[c->rimCount][0][axis] = c->space->points[ref->first + k][axis] + origin[axis];
                c->rims[c->rimCount][1][axis] =
                    c->space->points[ref->first + (k + 1) % ref->count][axis] + origin[axis];
            }
            c->rimCount += 1;
        }
    }
    return c->rims != NULL;
}

bool espyAttackCase_Bake(espyAttackCase* c, const espyBakeInput* input, const espyBakeDef* def)
{
    c->input = input;
    c->def = *def;
    return espyBake_Run(input, def, &c->result) == espyResult_Ok &&
           espyPvs_Load(&c->pvs, c->result.data, c->result.size, NULL) == espyResult_Ok;
}

bool espyAttackCase_Prepare(espyAttackCase* c, uint32_t threads)
{
    c->hooks = espyiHooks_Resolve(NULL);
    if (!espyAdversary_Create(c->input, &c->adversary) || !espyAttackCase_OpenSpace(c))
    {
        return false;
    }
    espyiSoup soup = {
        {c->adversary.positions, c->adversary.indices, 3 * c->adversary.triangleCount, c->adversary.triangleCount},
        c->adversary.objects};
    return espyiBvh_Build(&soup, espyIsa_Auto, threads, &c->hooks, NULL, &c->bvh) == espyResult_Ok;
}

espyAdversaryResult espyAttackCase_Run(espyAttackCase* c, uint64_t rays, uint64_t seed, uint32_t threads)
{
    espyAdversaryResult sum = {0};
    threads = threads < 1 ? 1 : threads > ESPY_ATTACK_MAX_THREADS ? ESPY_ATTACK_MAX_THREADS : threads;
    c->rays = (rays + threads - 1) / threads;
    c->seed = seed;
    espyiTasks_For(threads, threads, espyAttackCase_Attack, c, NULL, NULL);
    for (uint32_t i = 0; i < threads; ++i)
    {
        espyAdversaryResult total = sum.violations > 0 ? sum : c->found[i];
        total.rays = sum.rays + c->found[i].rays;
        total.held = sum.held + c->found[i].held;
        total.violations = sum.violations + c->found[i].violations;
        total.grazing = sum.grazing + c->found[i].grazing;
        sum = total;
    }
    return sum;
}

void espyAttackCase_Free(espyAttackCase* c)
{
    espyiBvh_Destroy(c->bvh);
    espyAdversary_Free(&c->adversary);
    espyiViewers_Free(&c->viewers);
    espyiFreeSpace_Destroy(c->space);
    if (c->scene.hooks)
    {
        espyiScene_Free(&c->scene);
    }
    free(c->rims);
    espyBake_Free(&c->result);
}
