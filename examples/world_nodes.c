// SPDX-License-Identifier: MIT
// Builds a world with a terrain and a wall of voxels, breaks a window into the wall and lists what changed.
#include <espy/espy.h>
#include <stdio.h>

enum
{
    Side = 17,
};

static espyNodeId espyExample_AddTerrain(espyWorld* world)
{
    float heights[Side * Side];
    for (int i = 0; i < Side * Side; ++i)
    {
        int fromRidge = i % Side - Side / 2;
        heights[i] = (float)(fromRidge < 0 ? -fromRidge : fromRidge) * -0.5f;
    }
    const espyTerrain terrain = {.heights = heights, .width = Side, .depth = Side, .spacing = 1.0f};
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id = {0};
    def.kind = espyNodeKind_Terrain3D;
    def.terrain = &terrain; // copied
    def.flags |= espyNodeFlag_OccluderStatic;
    espyWorld_CreateNode(world, &def, &id);
    return id;
}

static espyNodeId espyExample_AddWall(espyWorld* world)
{
    const espyVoxels voxels = {.bricks = {1, 1, 2}, .voxelSize = 0.25f};
    const espyVoxelRange slab = {{0, 0, 0}, {2, 16, 32}};
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id = {0};
    def.kind = espyNodeKind_Voxel3D;
    def.voxels = &voxels;
    def.flags |= espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    espyWorld_CreateNode(world, &def, &id);
    espyWorld_FillVoxels(world, id, slab, espyVoxel_Opaque);
    return id;
}

int main(void)
{
    espyWorldDef def = espyWorldDef_Default();
    espyWorld* world;
    if (espyWorld_Create(&def, &world) != espyResult_Ok)
    {
        return 1;
    }
    espyNodeId terrain = espyExample_AddTerrain(world);
    espyNodeId wall = espyExample_AddWall(world);
    espyWorld_AddTag(world, wall, "Breakable");

    // [changes]
    uint64_t seen = espyWorld_GetRevision(world);
    const espyVoxelRange window = {{0, 6, 12}, {2, 4, 8}};
    espyWorld_FillVoxels(world, wall, window, espyVoxel_Empty);
    for (espyNodeId node = {0}; espyWorld_NextChange(world, seen, &node);)
    {
        bool content = espyWorld_GetContentRevision(world, node) > seen;
        printf("node %d %s\n", (int)node.index1, content ? "has new content" : "moved or was switched");
    }
    // [changes]

    espySurface surface;
    espyResult result = espyWorld_BuildSurface(world, wall, NULL, &surface);
    if (result == espyResult_Ok)
    {
        printf("the wall is %u triangles\n", (unsigned)surface.triangles.triangleCount);
        espySurface_Free(&surface);
    }
    espyBox box = espyWorld_GetWorldBounds(world, terrain);
    printf("the terrain spans %g m to %g m in y\n", (double)box.min.y, (double)box.max.y);
    espyWorld_Destroy(world);
    return result == espyResult_Ok ? 0 : 1;
}
