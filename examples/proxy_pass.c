// SPDX-License-Identifier: MIT
// Proxy occlusion in an engine's frame: a set that lives with the level, a pass that lives with the camera.
#include <espy/proxy.h>
#include <stdio.h>

enum
{
    Width = 64,
    Height = 48
};

static float depth[Height][Width], normal[Height][Width][3], albedo[Height][Width][3], lit[Height][Width][3];

/// What a renderer leaves behind: here a floor 2 m below an eye that looks straight down, in even light.
static void espyExample_Render(void)
{
    for (int y = 0; y < Height; ++y)
    {
        for (int x = 0; x < Width; ++x)
        {
            depth[y][x] = 0.1f / 2.0f; // near / distance: reversed depth with an infinite far plane
            normal[y][x][1] = 1.0f;
            for (int k = 0; k < 3; ++k)
            {
                albedo[y][x][k] = 0.5f;
                lit[y][x][k] = 0.5f;
            }
        }
    }
}

/// What a shader does: here it counts instead of evaluating.
static size_t espyExample_CountLists(const espyProxyLists* lists, uint32_t x, uint32_t y)
{
    size_t entries = 0, sums = 0;
    uint8_t inTile = lists->pixels[y * lists->width + x];
    if (inTile == ESPY_PROXY_NO_GROUP)
    {
        return 0; // nothing reaches this pixel
    }
    uint32_t tile = y / ESPY_PROXY_TILE * lists->tilesX + x / ESPY_PROXY_TILE;
    const espyProxyGroup* group = &lists->groups[lists->tiles[tile] + inTile];
    for (uint32_t i = group->firstEntry; i < group->firstNode; ++i)
    {
        const espyProxyEntry* entry = &lists->entries[lists->indices[i]]; // evaluate it
        entries += entry->strength > 0.0f;
    }
    for (uint32_t i = group->firstNode; i < group[1].firstEntry; ++i)
    {
        const espyProxySource* source = &lists->nodes[lists->indices[i]].source; // sum it
        sums += source->area > 0.0f;
    }
    return entries + sums;
}

int main(void)
{
    espyExample_Render();
    // [set]
    espyProxySetDef setDef = espyProxySetDef_Default(); // up to 64; technique Clusters takes thousands
    espyProxySet* set;
    if (espyProxySet_Create(&setDef, &set) != espyResult_Ok)
    {
        return 1;
    }
    espyProxyDef limb = espyProxyDef_Default();
    limb.a = (espyVec3){-0.5f, 0.2f, 0};
    limb.b = (espyVec3){0.5f, 0.2f, 0};
    limb.hasB = true;
    limb.radius = 0.2f;
    espyProxyIssue issue;
    if (espyProxySet_Set(set, "limb", &limb, &issue) != espyResult_Ok) // the same key again moves it
    {
        fprintf(stderr, "limb: %s\n", issue.field);
    }
    // [set]
    // [frame]
    espyProxyPassDef passDef = espyProxyPassDef_Default();
    espyProxyPass* pass;
    if (espyProxyPass_Create(&passDef, &pass) != espyResult_Ok)
    {
        espyProxySet_Destroy(set);
        return 1;
    }
    espyProxyView view = espyProxyView_Default();
    view.camera = (espyMat4){{1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 2, 0, 1}}; // looks down from 2 m
    view.projection = (espyMat4){{0.75f, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0, 0.1f, 0}};
    view.reversedDepth = true;
    espyProxyImage image = {.width = Width, .height = Height};
    image.depth = (espyProxyPlane){&depth[0][0], 1, Width};
    image.normal = (espyProxyPlane){&normal[0][0][0], 3, 3 * Width};
    image.albedo = (espyProxyPlane){&albedo[0][0][0], 3, 3 * Width};
    image.lit = (espyProxyPlane){&lit[0][0][0], 3, 3 * Width};
    espyResult result = espyProxyPass_Reserve(pass, set); // allocates only when proxies came
    if (result == espyResult_Ok)
    {
        result = espyProxyPass_Apply(pass, set, &view, &image); // every frame, after lighting; never allocates
    }
    // [frame]
    // [lists]
    espyProxyLists lists = {0};
    result = result == espyResult_Ok ? espyProxyPass_ReserveLists(pass, Width, Height, 100000) : result;
    result = result == espyResult_Ok ? espyProxyPass_BuildLists(pass, set, &view, &image, &lists) : result;
    // [lists]
    size_t listed = 0;
    for (uint32_t y = 0; result == espyResult_Ok && y < lists.height; ++y)
    {
        for (uint32_t x = 0; x < lists.width; ++x)
        {
            listed += espyExample_CountLists(&lists, x, y);
        }
    }
    printf("%zu entries and nodes meet the pixels\n", listed);
    printf("%s: middle %.3f, corner %.3f\n", espyResult_GetName(result), (double)lit[Height / 2][Width / 2][0],
           (double)lit[0][0][0]);
    espyProxyPass_Destroy(pass);
    espyProxySet_Destroy(set);
    return result == espyResult_Ok ? 0 : 1;
}
