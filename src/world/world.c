// SPDX-License-Identifier: MIT
// The world as a whole: creation, settings and the default defs. No library call.
#include "world/world_internal.h"

espyWorldDef espyWorldDef_Default(void)
{
    return (espyWorldDef){.cookie = ESPY_DEF_COOKIE};
}

espyMeshDef espyMeshDef_Default(void)
{
    return (espyMeshDef){.cookie = ESPY_DEF_COOKIE};
}

espyNodeDef espyNodeDef_Default(void)
{
    return (espyNodeDef){
        .local = espyMat4_Identity(),
        .flags = espyNodeFlag_CastsShadow,
        .camera = {.verticalFov = 1.0471976f, .aspect = 16.0f / 9.0f, .halfHeight = 5.0f, .nearDistance = 0.1f},
        .bounds = espyBox_Empty(),
        .sourceId = -1,
        .cookie = ESPY_DEF_COOKIE,
    };
}

espySceneSettings espySceneSettings_Default(void)
{
    return (espySceneSettings){
        .occlusionCulling = true,
        .occlusionCellSize = 4.0f,
        .bakeQuality = espyBakeQuality_Medium,
        .dynamicObjects = true,
        .consoleBudgetKB = 512,
        .unrollCellSize = 0.0f,
    };
}

espyResult espyWorld_Create(const espyWorldDef* def, espyWorld** out)
{
    if (!ESPYI_CHECK(def ? &def->hooks : NULL, def != NULL && out != NULL))
    {
        return espyResult_InvalidArgument;
    }
    *out = NULL;
    if (!ESPYI_CHECK(&def->hooks, def->cookie == ESPY_DEF_COOKIE))
    {
        return espyResult_InvalidArgument;
    }
    espyHooks hooks = espyiHooks_Resolve(&def->hooks);
    espyWorld* world = (espyWorld*)espyiAlloc(&hooks, 1, sizeof(espyWorld));
    if (!world)
    {
        return espyResult_OutOfMemory;
    }
    world->hooks = hooks;
    world->settings = espySceneSettings_Default();
    world->freeSlot = ESPYI_WORLD_NONE;
    world->newest = ESPYI_WORLD_NONE;
    if (!espyiWorldData_Create(world, def->unrollInstances))
    {
        espyiFree(&hooks, world);
        return espyResult_OutOfMemory;
    }
    *out = world;
    return espyResult_Ok;
}

void espyWorld_Destroy(espyWorld* world)
{
    if (world)
    {
        espyHooks hooks = world->hooks;
        espyiWorldData_Destroy(world);
        espyiWorld_FreeNodes(world);
        espyiWorld_FreeMeshes(world);
        espyiFree(&hooks, world);
    }
}

void espyWorld_SetSettings(espyWorld* world, const espySceneSettings* settings)
{
    if (world && ESPYI_CHECK(&world->hooks, settings != NULL))
    {
        world->settings = *settings;
    }
}

espySceneSettings espyWorld_GetSettings(const espyWorld* world)
{
    return world ? world->settings : espySceneSettings_Default();
}
