// SPDX-License-Identifier: MIT
// A forest on hills: one terrain that occludes, two kinds of instanced trees, rocks.
#include "scenes/scene_props.h"

#include <stdio.h>

#define ESPY_TILE 64.0f
#define ESPY_STEP 4.0f ///< Between vertices of the terrain.
#define ESPY_AREA 16.0f
#define ESPY_HEADROOM 4.0f ///< Metres over the ground that cameras reach.
#define ESPY_TREES_A_TILE 30u
#define ESPY_ROCKS_A_TILE 6u

/// Rolling ground and sharp ridges up to 30 m, which hide what is behind them.
float espyiForest_Height(uint64_t seed, float x, float z)
{
    float rolling =
        espyiKit_Noise(seed, x / 48.0f, z / 48.0f) * 6.0f + espyiKit_Noise(seed + 1, x / 17.0f, z / 17.0f) * 1.5f;
    float ridge = espyiKit_Noise(seed + 2, x / 52.0f, z / 52.0f) * 2.0f - 1.0f;
    ridge = 1.0f - (ridge < 0.0f ? -ridge : ridge);
    return rolling + ridge * ridge * ridge * ridge * 24.0f;
}

static void espyForest_Terrain(espyiKit* kit, uint64_t seed, uint32_t tiles)
{
    uint32_t n = tiles * (uint32_t)(ESPY_TILE / ESPY_STEP);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, 0x94A173u);
    for (uint32_t j = 0; j <= n; ++j)
    {
        for (uint32_t i = 0; i <= n; ++i)
        {
            float x = ESPY_STEP * (float)i, z = ESPY_STEP * (float)j, y = espyiForest_Height(seed, x, z);
            espyiKit_Vertex(kit, (espyVec3){x, y, z});
        }
    }
    for (uint32_t j = 0; j < n; ++j)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            uint32_t a = j * (n + 1) + i;
            espyiKit_Triangle(kit, a, a + n + 1, a + n + 2);
            espyiKit_Triangle(kit, a, a + n + 2, a + 1);
        }
    }
    espyiKit_PlaceTerrain(kit, "Terrain", espyiKit_EndMesh(kit, "Terrain"), ESPYI_KIT_SHELL);
}

/// Areas that follow the ground, so that no cell hangs where only birds look from.
static void espyForest_Areas(espyiKit* kit, uint64_t seed, uint32_t tiles)
{
    char name[48];
    uint32_t n = tiles * (uint32_t)(ESPY_TILE / ESPY_AREA);
    for (uint32_t j = 0; j < n; ++j)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            float x0 = ESPY_AREA * (float)i, z0 = ESPY_AREA * (float)j;
            float low = espyiForest_Height(seed, x0, z0), high = low;
            for (uint32_t k = 1; k < 25; ++k)
            {
                float y = espyiForest_Height(seed, x0 + ESPY_STEP * (float)(k % 5), z0 + ESPY_STEP * (float)(k / 5));
                low = y < low ? y : low;
                high = y > high ? y : high;
            }
            snprintf(name, sizeof name, "Area %u %u", i, j);
            espyiKit_Area(kit, name, x0, low, z0, x0 + ESPY_AREA, high + ESPY_HEADROOM, z0 + ESPY_AREA);
        }
    }
}

static void espyForest_Trees(espyiKit* kit, uint64_t seed, uint32_t tiles, const espyiProp* tree)
{
    uint32_t count = ESPY_TREES_A_TILE * tiles * tiles;
    espyMat4* instances = espyiAlloc(&kit->hooks, count, sizeof(espyMat4));
    if (!instances)
    {
        kit->result = espyResult_OutOfMemory;
        return;
    }
    float side = ESPY_TILE * (float)tiles;
    for (uint32_t t = 0; t < count; ++t)
    {
        float x = espyiKit_Range(kit, 2.0f, side - 2.0f), z = espyiKit_Range(kit, 2.0f, side - 2.0f);
        float turns = espyiKit_Range(kit, 0.0f, 1.0f), scale = espyiKit_Range(kit, 0.75f, 1.3f);
        instances[t] = espyiKit_AtTurned(x, espyiForest_Height(seed, x, z), z, turns, scale);
    }
    // Leaves are opaque here but full of holes in life: trees are culled, and never cull.
    espyiKit_PlaceMany(kit, tree->name, tree->mesh, instances, count, ESPYI_KIT_PROP);
    espyiFree(&kit->hooks, instances);
}

espyResult espyScene_BuildForest(uint32_t size, uint64_t seed, espyWorld** out)
{
    *out = NULL;
    if (size > ESPY_SCENE_MAX_SIZE)
    {
        return espyResult_InvalidArgument;
    }
    uint32_t tiles = size == 0 ? espyScene_GetFullSize(espySceneKind_Forest) : size;
    float side = ESPY_TILE * (float)tiles;
    espyiKit kit;
    espyiKit_Begin(&kit, seed, 8.0f);
    espyForest_Terrain(&kit, seed, tiles);
    espyiProp broadleaf = espyiProp_Make(&kit, espyiPropKind_Broadleaf);
    espyiProp conifer = espyiProp_Make(&kit, espyiPropKind_Conifer);
    espyiProp rock = espyiProp_Make(&kit, espyiPropKind_Rock);
    espyForest_Trees(&kit, seed, tiles, &broadleaf);
    espyForest_Trees(&kit, seed, tiles, &conifer);
    char name[48];
    for (uint32_t r = 0; r < ESPY_ROCKS_A_TILE * tiles * tiles; ++r)
    {
        float x = espyiKit_Range(&kit, 4.0f, side - 4.0f), z = espyiKit_Range(&kit, 4.0f, side - 4.0f);
        float turns = espyiKit_Range(&kit, 0.0f, 1.0f), scale = espyiKit_Range(&kit, 0.8f, 2.5f);
        snprintf(name, sizeof name, "Rock %u", r);
        espyiKit_Place(&kit, name, rock.mesh, espyiKit_AtTurned(x, espyiForest_Height(seed, x, z), z, turns, scale),
                       ESPYI_KIT_BOTH);
    }
    espyForest_Areas(&kit, seed, tiles);
    float middle = side * 0.5f;
    float ground = espyiForest_Height(seed, middle, middle);
    espyiKit_Camera(&kit, "Camera", (espyVec3){middle, ground + 1.75f, middle},
                    (espyVec3){side, ground + 8.0f, middle});
    return espyiKit_Finish(&kit, out);
}
