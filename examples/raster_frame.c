// SPDX-License-Identifier: MIT
// A moving occluder on the CPU: a door is drawn into a small depth buffer, a box behind it is tested.
#include <espy/raster.h>
#include <stdio.h>

/// Runs on the calling thread; an engine hands this to its job system.
static void espyExample_For(void* context, uint32_t count, void (*run)(void* job, uint32_t index), void* job)
{
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
    {
        run(job, i);
    }
}

int main(void)
{
    static const espyVec3 door[] = {{-2, -2, -5}, {2, -2, -5}, {2, 2, -5}, {-2, 2, -5}};
    static const uint32_t indices[] = {0, 1, 2, 0, 2, 3};
    espyTriangles triangles = {door, indices, 4, 2};
    // 90 degrees, 16:9, near 0.1, no far plane; the eye is at the origin and looks along -z.
    espyMat4 viewProjection = {{9.0f / 16.0f, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -0.1f, 0}};
    espyTasks tasks = {espyExample_For, NULL, 1};
    espyBox box = {{-0.5f, -0.5f, -9}, {0.5f, 0.5f, -8}};
    espyRaster* raster = NULL;
    espyOccluder* occluder = NULL;
    bool skipped = false;

    // [raster]
    espyRasterDef def = espyRasterDef_Default();
    def.width = 640;
    def.height = 360;
    espyResult made = espyRaster_Create(&def, &raster);

    espyOccluderDef occluderDef = espyOccluderDef_Default(); // once a mesh, at load time
    occluderDef.triangles = triangles;
    made = made == espyResult_Ok ? espyOccluder_Create(&occluderDef, &occluder) : made;

    if (made == espyResult_Ok && espyRaster_Begin(raster, &viewProjection) == espyResult_Ok) // every frame
    {
        espyOccluderDraw draw = {.occluder = occluder};
        espyRaster_DrawSorted(raster, &draw, 1, &tasks);
        skipped = espyRaster_TestBox(raster, box) >= espyVisibility_Outside; // outside the view, or hidden
    }
    // [raster]
    printf("the box behind the door is %s\n", skipped ? "skipped" : "drawn");
    espyOccluder_Destroy(occluder);
    espyRaster_Destroy(raster);
    return skipped ? 0 : 1;
}
