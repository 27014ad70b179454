// SPDX-License-Identifier: MIT
// Game logic over baked data: a level of one wall is baked, its file added to the world, and an enemy walks behind it.
#include <espy/editor.h>
#include <espy/gameplay.h>
#include <stdio.h>
#include <stdlib.h>

static void espyExample_Check(espyResult result, const char* what)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "%s: %s\n", what, espyResult_GetName(result));
        exit(1);
    }
}

static espyMat4 espyExample_At(float x, float y, float z)
{
    const float turn[4] = {0, 0, 0, 1};
    return espyMat4_FromTrs((espyVec3){x, y, z}, turn, (espyVec3){1, 1, 1});
}

static espyNodeId espyExample_Node(espyWorld* world, espyNodeDef def, const char* name)
{
    espyNodeId node;
    def.name = name;
    espyExample_Check(espyWorld_CreateNode(world, &def, &node), name);
    return node;
}

static void espyExample_Release(const void* bytes, void* context)
{
    (void)bytes;
    espyBake_Free((espyBakeResult*)context);
}

static void espyExample_Notice(const espyDataNotice* notice, void* context)
{
    (void)context;
    printf("the data is %s: occluder %u\n", notice->stale ? "stale" : "in use again", notice->occluder);
}

/// A wall across the view of a camera, in an area of 16 x 4 x 16 m.
static espyNodeId espyExample_Build(espyWorld* world)
{
    static const espyVec3 corners[] = {{-30, -1, 2}, {30, -1, 2}, {30, 30, 2}, {-30, 30, 2}};
    static const uint32_t indices[] = {0, 1, 2, 0, 2, 3};
    espyMeshDef mesh = espyMeshDef_Default();
    mesh.triangles = (espyTriangles){corners, indices, 4, 2};
    espyMeshId meshId;
    espyExample_Check(espyWorld_CreateMesh(world, &mesh, &meshId), "mesh");
    espyNodeDef wall = espyNodeDef_Default();
    wall.kind = espyNodeKind_StaticMesh3D;
    wall.mesh = meshId;
    wall.flags |= espyNodeFlag_OccluderStatic;
    espyNodeId wallId = espyExample_Node(world, wall, "wall");
    espyNodeDef area = espyNodeDef_Default();
    area.kind = espyNodeKind_OcclusionArea;
    area.local = espyExample_At(0, 2, 0);
    area.local.m[0] = area.local.m[10] = 16;
    area.local.m[5] = 4;
    espyExample_Node(world, area, "area");
    espyNodeDef camera = espyNodeDef_Default();
    camera.kind = espyNodeKind_Camera3D;
    camera.local = espyExample_At(0.5f, 1.5f, 6.5f);
    espyExample_Node(world, camera, "camera");
    return wallId;
}

static void espyExample_Bake(const espyWorld* world, espyBakeResult* baked)
{
    espyGathered* gathered;
    espyBakeDef def = espyBakeDef_Default();
    def.cellSize = 2.0f;
    espyExample_Check(espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered), "gather");
    espyExample_Check(espyBake_Run(espyGathered_GetInput(gathered), &def, baked), "bake");
    espyGathered_Destroy(gathered);
}

int main(void)
{
    espyWorld* world;
    espyWorldDef worldDef = espyWorldDef_Default();
    espyExample_Check(espyWorld_Create(&worldDef, &world), "world");
    espyNodeId wall = espyExample_Build(world);
    static espyBakeResult baked;
    espyExample_Bake(world, &baked);

    espyDataDef data = espyDataDef_Default();
    data.bytes = baked.data;
    data.size = baked.size;
    data.release = espyExample_Release;
    data.releaseContext = &baked;
    espyDataId file;
    espyDataError error;
    if (espyWorld_AddData(world, &data, &file, &error) != espyResult_Ok)
    {
        fprintf(stderr, "%s at byte %llu\n", error.field, (unsigned long long)error.byteOffset);
        return 1;
    }
    espyWorld_SetDataCallback(world, espyExample_Notice, NULL);

    // A null camera is the world's active one.
    const espyNodeId active = {0};
    espyNodeDef def = espyNodeDef_Default();
    const char* enemyTags[] = {"Enemy"};
    def.tags = enemyTags;
    def.tagCount = 1;
    def.local = espyExample_At(0, 1, -6);
    espyNodeId enemy = espyExample_Node(world, def, "enemy");
    if (espyWorld_IsSeenByCamera(world, enemy, active))
    {
        printf("alert!\n");
    }

    // Who came into view, who left it? Once a frame, into an array of your own.
    espyViewTrackerDef tracking = espyViewTrackerDef_Default();
    tracking.tags = enemyTags;
    tracking.tagCount = 1;
    espyViewTracker* tracker;
    espyExample_Check(espyViewTracker_Create(world, &tracking, &tracker), "tracker");
    for (int frame = 0; frame < 3; ++frame)
    {
        espyViewEvent events[16];
        uint32_t count;
        espyWorld_SetLocalTransform(world, enemy, espyExample_At(0, 1, frame == 1 ? 4.0f : -6.0f));
        espyViewTracker_Poll(tracker, events, 16, &count);
        for (uint32_t i = 0; i < count; ++i)
        {
            printf("frame %d: the enemy %s\n", frame, events[i].entered ? "shows itself" : "is gone");
        }
    }

    const char* wanted[] = {"Enemy", "Turret"};
    espyNodeId seen[64];
    uint32_t seenCount;
    espyWorld_GetSeenByCamera(world, wanted, 2, active, seen, 64, &seenCount);
    printf("%u of them in view\n", seenCount);

    // The wall goes up: what it hid can be seen, until it is back.
    espyWorld_SetLocalTransform(world, wall, espyExample_At(0, 40, 0));
    printf("%s\n", espyWorld_IsSeenByCamera(world, enemy, active) ? "seen" : "not seen");
    espyWorld_SetLocalTransform(world, wall, espyExample_At(0, 0, 0));
    printf("%s\n", espyWorld_IsSeenByCamera(world, enemy, active) ? "seen" : "not seen");

    espyViewTracker_Destroy(tracker);
    espyWorld_Destroy(world); // releases the file
    return 0;
}
