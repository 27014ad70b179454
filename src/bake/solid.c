// SPDX-License-Identifier: MIT
// Which points are inside something solid, and which cells therefore hold no camera.
#include "bake/bake_internal.h"

#define ESPY_SOLID_CELLS_A_TASK 64u

// Up first (most open points see the sky), then the other axes and the diagonals; all a little off, so that no ray
// runs along the edges and diagonals that axis-aligned levels are full of.
static const espyVec3 espySolidDirections[] = {
    {0.0071f, 1.0f, 0.0113f},  {1.0f, 0.0127f, 0.0067f},  {-1.0f, 0.0083f, 0.0131f}, {0.0091f, 0.0137f, 1.0f},
    {0.0109f, 0.0079f, -1.0f}, {0.0059f, -1.0f, 0.0101f}, {0.57f, 0.61f, 0.55f},     {-0.59f, 0.56f, 0.58f},
    {0.54f, 0.58f, -0.61f},    {-0.56f, 0.6f, -0.57f},    {0.6f, -0.55f, 0.58f},     {-0.58f, -0.59f, 0.56f},
    {0.55f, -0.57f, -0.6f},    {-0.61f, -0.54f, -0.58f},
};

// A house on the ground shares its floor with it: of two faces at one place either may be hit first. The back face of
// another object within the gap around a front face counts.
static bool espySolid_SharesBack(const espyiBvh* bvh, espyiSegment segment, const espyiHit* front, uint64_t* rays)
{
    float gap = espyiSurfaceGap(segment.origin, front->t);
    segment.tMin = front->t - gap;
    segment.tMax = front->t + gap;
    espyiHit hit;
    ++*rays;
    return espyiBvh_Closest(bvh, &segment, (espyiSkip){front->object, 1}, &hit) && hit.backFace;
}

typedef enum espyPlace
{
    espyPlace_Inside, ///< Back faces on all sides.
    espyPlace_Open,
    espyPlace_Front, ///< Open, and a front face is in sight.
} espyPlace;

/// `untilFront`: goes on where the point is open, to see a front face. Otherwise Front is found by chance only.
static espyPlace espySolid_Look(const espyiBvh* bvh, espyVec3 point, float reach, bool untilFront, uint64_t* rays)
{
    espyPlace place = espyPlace_Inside;
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(espySolidDirections); ++i)
    {
        espyiSegment segment = {point, 0.0f, espySolidDirections[i], reach};
        espyiHit hit;
        ++*rays;
        if (!espyiBvh_Closest(bvh, &segment, (espyiSkip){0, 0}, &hit))
        {
            place = espyPlace_Open;
        }
        else if (!hit.backFace && !espySolid_SharesBack(bvh, segment, &hit, rays))
        {
            return espyPlace_Front;
        }
        if (place == espyPlace_Open && !untilFront)
        {
            break;
        }
    }
    return place;
}

bool espyiSolid_IsInside(const espyiBvh* bvh, espyVec3 point, float reach, uint64_t* rays)
{
    return espySolid_Look(bvh, point, reach, false, rays) == espyPlace_Inside;
}

typedef struct espySolidJob
{
    const espyiScene* scene;
    const espyiBvh* bvh;
    espyBakeQuality quality;
    espyiControl* control;
    uint32_t* masks;
    atomic_ullong rays, nanoseconds;
} espySolidJob;

static void espySolid_Cells(void* context, uint32_t index, uint32_t worker)
{
    (void)worker;
    espySolidJob* job = context;
    const espyiGrid* grid = &job->scene->grid;
    uint32_t count = espyiSamples_Count(job->quality);
    uint32_t first = index * ESPY_SOLID_CELLS_A_TASK;
    uint32_t last =
        grid->cellCount - first < ESPY_SOLID_CELLS_A_TASK ? grid->cellCount : first + ESPY_SOLID_CELLS_A_TASK;
    uint64_t rays = 0;
    double start = espyiClock_ThreadCpuSeconds();
    for (uint32_t cell = first; cell < last && espyiControl_Poll(job->control); ++cell)
    {
        uint32_t mask = 0;
        for (uint32_t i = 0; i < count; ++i)
        {
            espyVec3 p = espyiSamples_Point(grid, cell, job->quality, i);
            bool untilFront = (mask & ESPYI_SAMPLES_FRONT) == 0;
            espyPlace place = espySolid_Look(job->bvh, p, job->scene->reach, untilFront, &rays);
            mask |= place == espyPlace_Inside ? 0u : 1u << i;
            mask |= place == espyPlace_Front ? ESPYI_SAMPLES_FRONT : 0u;
        }
        job->masks[cell] = mask;
    }
    atomic_fetch_add(&job->rays, rays);
    atomic_fetch_add(&job->nanoseconds, (uint64_t)(1e9 * (espyiClock_ThreadCpuSeconds() - start)));
    atomic_fetch_add(&job->control->rays, rays);
}

bool espyiSolid_Classify(espyiScene* scene, const espyiBvh* bvh, espyBakeQuality quality, uint32_t threads,
                         espyiControl* control, uint32_t* masks, espyiStageCount* count)
{
    espyiGrid* grid = &scene->grid;
    espySolidJob job = {.scene = scene, .bvh = bvh, .quality = quality, .control = control, .masks = masks};
    uint32_t tasks = (grid->cellCount - 1u) / ESPY_SOLID_CELLS_A_TASK + 1u;
    bool finished = espyiTasks_For(threads, tasks, espySolid_Cells, &job, espyiControl_Tick, control);
    count->rays += atomic_load(&job.rays);
    count->cpuSeconds += 1e-9 * (double)atomic_load(&job.nanoseconds);
    if (!finished || atomic_load(&control->stop))
    {
        return false;
    }
    grid->solidCount = 0;
    for (uint32_t cell = 0; cell < grid->cellCount; ++cell)
    {
        if (masks[cell] == 0)
        {
            espyiBits_Set(grid->solid, cell);
            ++grid->solidCount;
        }
    }
    return true;
}
