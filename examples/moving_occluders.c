// SPDX-License-Identifier: MIT
// A door that moves hides what stands behind it: what no baked data can know.
#include <espy/espy.h>
#include <stdio.h>

static espyNodeId espyExample_Box(espyWorld* world, espyBox bounds, espyVec3 position)
{
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId node = {0};
    def.kind = espyNodeKind_Node3D;
    def.bounds = bounds;
    def.flags = espyNodeFlag_Dynamic | espyNodeFlag_OccludeeStatic;
    def.local.m[12] = position.x;
    def.local.m[13] = position.y;
    def.local.m[14] = position.z;
    espyWorld_CreateNode(world, &def, &node);
    return node;
}

int main(void)
{
    static const espyVec3 corners[4] = {{-2, -2, 0}, {2, -2, 0}, {2, 2, 0}, {-2, 2, 0}};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    espyTriangles leaf = {corners, indices, 4, 2};
    espyWorldDef worldDef = espyWorldDef_Default();
    espyRendererDef rendererDef = espyRendererDef_Default();
    espyWorld* world = NULL;
    espyRenderer* renderer = NULL;
    espyRaster* raster = NULL;
    espyOccluder* shape = NULL;
    espyViewId main = {0};
    espyViewStats stats = {0};
    if (espyWorld_Create(&worldDef, &world) != espyResult_Ok)
    {
        return 4;
    }
    espyNodeId door = espyExample_Box(world, (espyBox){{-2, -2, -0.1f}, {2, 2, 0.1f}}, (espyVec3){0, 0, -4});
    espyExample_Box(world, (espyBox){{-1, -1, -1}, {1, 1, 1}}, (espyVec3){0, 0, -20});
    rendererDef.world = world;
    espyViewDef viewDef = espyViewDef_Default();
    viewDef.projection = espyMat4_Perspective(1.0f, 16.0f / 9.0f, 0.1f, 0.0f, true);
    viewDef.reversedZ = true;
    if (espyRenderer_Create(&rendererDef, &renderer) == espyResult_Ok)
    {
        // [movers]
        espyRasterDef rasterDef = espyRasterDef_Default(); // once a view
        rasterDef.mode = espyRasterMode_Conservative;
        rasterDef.width = 320;
        rasterDef.height = 180;
        rasterDef.reversedZ = true;
        espyRendererViewDef main3d = espyRendererViewDef_Default();
        espyResult made = espyRaster_Create(&rasterDef, &raster);
        main3d.raster = raster;
        made = made == espyResult_Ok ? espyRenderer_CreateView(renderer, &main3d, &main) : made;

        espyOccluderDef shapeDef = espyOccluderDef_Default(); // once a door
        shapeDef.triangles = leaf;
        shapeDef.mode = espyRasterMode_Conservative;
        shapeDef.twoSided = true;
        made = made == espyResult_Ok ? espyOccluder_Create(&shapeDef, &shape) : made;
        made = made == espyResult_Ok ? espyRenderer_AddOccluder(renderer, door, shape) : made;
        // [movers]
        if (made == espyResult_Ok && espyRenderer_BeginFrame(renderer) == espyResult_Ok)
        {
            espyRenderer_SetView(renderer, main, &viewDef, NULL);
            espyRenderer_Cull(renderer, main);
            stats = espyRenderer_GetViewStats(renderer, main);
        }
        printf("%u drawn, %u behind the door\n", stats.counts.drawn, stats.moverCulled);
    }
    espyRenderer_Destroy(renderer);
    espyOccluder_Destroy(shape);
    espyRaster_Destroy(raster);
    espyWorld_Destroy(world);
    return stats.moverCulled == 1 ? 0 : 1;
}
