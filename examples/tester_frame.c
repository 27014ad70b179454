// SPDX-License-Identifier: MIT
// A chest in a hall, with tester meshes: the hall shows while its tester does, the chest while both do.
#include <espy/tester.h>
#include <stdio.h>

typedef struct espyExampleEngine
{
    espyDevice device;
} espyExampleEngine;

// [draw]
/// Draws everything opaque that the engine has in these targets; the null id stands for what is in none.
static espyResult espyExample_DrawTargets(void* context, espyTesterViewId view, const espyTesterTargetId* targets,
                                          uint32_t count)
{
    espyExampleEngine* engine = context;
    (void)view;
    for (uint32_t i = 0; i < count; ++i)
    {
        if (targets[i].index1 == 0)
        {
            // The terrain, the walls: here one box below everything.
            espyDeviceDraw ground = {.toWorld = {{50, 0, 0, 0, 0, 1, 0, 0, 0, 0, 50, 0, 0, -3, 0, 1}}};
            espyResult result = engine->device.drawDepth(engine->device.context, &ground, 1);
            if (result != espyResult_Ok)
            {
                return result;
            }
        }
    }
    return espyResult_Ok;
}
// [draw]

int main(void)
{
    espyExampleEngine engine;
    espyTesterScene* scene = NULL;
    espyTesterTargetId hall = {0, 0}, chest = {0, 0};
    espyTesterId hallTester = {0, 0}, chestTester = {0, 0};
    // 90 degrees, 16:9, near 0.1, no far plane; the eye is at the origin and looks along -z.
    espyMat4 viewProjection = {{9.0f / 16.0f, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, -1, 0, 0, -0.1f, 0}};
    espySoftDeviceDef soft = espySoftDeviceDef_Default();
    if (espySoftDevice_Create(&soft, &engine.device) != espyResult_Ok)
    {
        return 1;
    }

    // [build]
    espyTesterSceneDef def = espyTesterSceneDef_Default();
    def.device = &engine.device;
    def.mainView.width = 640;
    def.mainView.height = 360;
    espyResult made = espyTesterScene_Create(&def, &scene);

    espyTesterTargetDef hallDef = espyTesterTargetDef_Default(); // a group of things
    hallDef.name = "hall";
    made = made == espyResult_Ok ? espyTesterScene_CreateTarget(scene, &hallDef, &hall) : made;
    espyTesterDef hallBox = espyTesterDef_Default(); // and a box around them
    hallBox.bounds = (espyBox){{-4, -2, -20}, {4, 2, -10}};
    made = made == espyResult_Ok ? espyTesterScene_CreateTester(scene, &hallBox, &hallTester) : made;
    made = made == espyResult_Ok ? espyTesterScene_AddTarget(scene, hallTester, hall) : made;

    espyTesterTargetDef chestDef = espyTesterTargetDef_Default();
    chestDef.parent = hall; // in the hall: asked only while the hall is shown
    made = made == espyResult_Ok ? espyTesterScene_CreateTarget(scene, &chestDef, &chest) : made;
    espyTesterDef chestBox = espyTesterDef_Default();
    chestBox.parent = hall;
    chestBox.bounds = (espyBox){{-1, -2, -16}, {1, -1, -15}};
    made = made == espyResult_Ok ? espyTesterScene_CreateTester(scene, &chestBox, &chestTester) : made;
    made = made == espyResult_Ok ? espyTesterScene_AddTarget(scene, chestTester, chest) : made;
    // [build]

    for (uint64_t frame = 1; frame <= 3 && made == espyResult_Ok; ++frame)
    {
        // [frame]
        const espyTesterViewId mainView = {0, 0};
        espyTesterRun run = espyTesterRun_Default();
        run.viewProjection[0] = viewProjection;
        run.drawTargets = espyExample_DrawTargets;
        run.context = &engine;
        engine.device.beginFrame(engine.device.context, frame);
        made = espyTesterScene_RunView(scene, mainView, &run);
        engine.device.endFrame(engine.device.context);

        uint32_t eventCount;
        const espyTesterEvent* events = espyTesterScene_GetEvents(scene, mainView, &eventCount);
        for (uint32_t i = 0; i < eventCount; ++i)
        {
            printf("target %d %s\n", events[i].target.index1, events[i].entered ? "wakes" : "sleeps");
        }
        bool drawChest = espyTesterScene_IsShown(scene, chest, mainView);
        // [frame]
        espyTesterStats stats = espyTesterScene_GetStats(scene, mainView);
        printf("frame %u: the chest is %s, %u passes\n", (unsigned)frame, drawChest ? "drawn" : "hidden", stats.passes);
    }
    bool shown = made == espyResult_Ok && espyTesterScene_WasActiveLastFrame(scene, chestTester, (espyTesterViewId){0});
    espyTesterScene_Destroy(scene);
    espySoftDevice_Destroy(&engine.device);
    return shown ? 0 : 1;
}
