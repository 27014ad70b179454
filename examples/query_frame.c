// SPDX-License-Identifier: MIT
// Occlusion queries on the software device: a crate behind a wall is drawn until the device has said that it is hidden.
#include <espy/query.h>
#include <stdio.h>

int main(void)
{
    espySoftDeviceDef deviceDef = espySoftDeviceDef_Default();
    deviceDef.latency = 2; // As a GPU would: answers come two frames late.
    espyDevice device;
    espyDeviceTarget target = {0};
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    espyQuerySystem* system = NULL;
    espyQueryViewId view = {0};
    espyQueryObjectId wall = {0}, crate = {0};
    bool hidden = false;
    if (espySoftDevice_Create(&deviceDef, &device) != espyResult_Ok)
    {
        return 1;
    }
    espyResult made = device.createTarget(device.context, &targetDef, &target);

    // [setup]
    espyQuerySystemDef def = espyQuerySystemDef_Default();
    def.device = &device; // Any table of device.h: soft, mock, Vulkan, or your own.
    made = made == espyResult_Ok ? espyQuerySystem_Create(&def, &system) : made;

    espyQueryViewDef viewDef = espyQueryViewDef_Default();
    made = made == espyResult_Ok ? espyQuerySystem_CreateView(system, &viewDef, &view) : made;

    espyQueryObjectDef objectDef = espyQueryObjectDef_Default();
    objectDef.box = (espyBox){{-4, -4, -6}, {4, 4, -5}};
    made = made == espyResult_Ok ? espyQuerySystem_AddObject(system, &objectDef, &wall) : made;
    objectDef.box = (espyBox){{-1, -1, -12}, {1, 1, -10}};
    made = made == espyResult_Ok ? espyQuerySystem_AddObject(system, &objectDef, &crate) : made;
    // [setup]

    espyQueryCamera camera = espyQueryCamera_Default(); // At the origin, along -z.
    for (uint64_t frame = 1; frame <= 4 && made == espyResult_Ok; ++frame)
    {
        // [frame]
        device.beginFrame(device.context, frame);
        espyQuerySystem_BeginFrame(system, frame); // Takes the answers that have come.
        espyQuerySystem_Cull(system, view, &camera);

        uint32_t count;
        const espyQueryObjectId* draws = espyQuerySystem_GetDraws(system, view, &count);

        espyDevicePass pass = {.target = target, .clearDepth = true};
        pass.viewProjection[0] = espyMat4_Multiply(camera.eye.projection, camera.eye.view);
        device.beginPass(device.context, &pass);
        for (uint32_t i = 0; i < count; ++i)
        {
            // Boxes stand for the meshes here: mesh 0 is the box from -1 to 1.
            espyBox box = espyQuerySystem_GetBox(system, draws[i]);
            espyDeviceDraw draw = {.toWorld = espyMat4_Identity()};
            draw.toWorld.m[0] = 0.5f * (box.max.x - box.min.x);
            draw.toWorld.m[5] = 0.5f * (box.max.y - box.min.y);
            draw.toWorld.m[10] = 0.5f * (box.max.z - box.min.z);
            draw.toWorld.m[12] = 0.5f * (box.max.x + box.min.x);
            draw.toWorld.m[13] = 0.5f * (box.max.y + box.min.y);
            draw.toWorld.m[14] = 0.5f * (box.max.z + box.min.z);
            device.drawDepth(device.context, &draw, 1);
        }
        espyQuerySystem_Submit(system, view); // In the same pass, after its depth.
        device.endPass(device.context);
        device.endFrame(device.context);
        // [frame]

        espyQueryDecision why = espyQuerySystem_Explain(system, view, crate);
        hidden = why.visibility == espyVisibility_Occluded;
        printf("frame %d: %u drawn, the crate: %s\n", (int)frame, count, espyQueryReason_GetName(why.reason));
    }
    espyQuerySystem_Destroy(system);
    espySoftDevice_Destroy(&device);
    return hidden ? 0 : 1;
}
