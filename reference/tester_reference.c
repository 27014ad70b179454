// SPDX-License-Identifier: MIT
// The nine steps of the proposal, one after the other. Based on: SlugFiller, "Add occlusion culling based on
// proxy/tester meshes", Godot improvement proposals, 2021.
#include "reference/tester_reference.h"
#include "reference/raster_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Binary digits that positions keep, those of the software device at these sizes.
#define ESPY_REFERENCE_SNAP 12u

static void* espyReferenceTesters_Alloc(size_t count, size_t size)
{
    void* p = calloc(count > 0 ? count : 1, size);
    if (!p)
    {
        fprintf(stderr, "tester_reference: out of memory\n");
        exit(4);
    }
    return p;
}

/// A target is shown where it and all around it are active.
static void espyReferenceTesters_FindShown(const espyReferenceTesters* scene, const uint8_t* targetActive,
                                           uint8_t* shown)
{
    for (uint32_t i = 0; i < scene->targetCount; ++i)
    {
        shown[i] = 1;
        for (uint32_t at = i; at != ESPY_REFERENCE_NONE; at = scene->targets[at].parent)
        {
            shown[i] = shown[i] && targetActive[at];
        }
    }
}

static bool espyReferenceTesters_IsIn(const uint8_t* shown, uint32_t parent)
{
    return parent == ESPY_REFERENCE_NONE || shown[parent] != 0;
}

static espyReferenceImage espyReferenceTesters_DrawDepth(const espyReferenceTesters* scene, const uint8_t* shown)
{
    espyReferenceImage image =
        espyReferenceImage_Create(scene->width, scene->height, scene->reversedZ, ESPY_REFERENCE_SNAP);
    for (uint32_t i = 0; i < scene->drawCount; ++i)
    {
        if (espyReferenceTesters_IsIn(shown, scene->draws[i].parent))
        {
            espyReferenceImage_Draw(&image, &scene->draws[i].triangles, &scene->clip, 0, false);
        }
    }
    return image;
}

static espyReferenceImage espyReferenceTesters_DrawAlone(const espyReferenceTesters* scene, uint32_t tester)
{
    espyReferenceImage image =
        espyReferenceImage_Create(scene->width, scene->height, scene->reversedZ, ESPY_REFERENCE_SNAP);
    espyReferenceImage_Draw(&image, &scene->testers[tester].triangles, &scene->clip, tester, true);
    return image;
}

static void espyReferenceTesters_Activate(const espyReferenceTesters* scene, uint32_t tester, uint8_t* active,
                                          uint8_t* targetActive)
{
    active[tester] = 1;
    for (uint32_t i = 0; i < scene->testers[tester].targetCount; ++i)
    {
        targetActive[scene->testers[tester].targets[i]] = 1;
    }
}

uint32_t espyReferenceTesters_Run(const espyReferenceTesters* scene, uint8_t* active, uint8_t* shown)
{
    size_t pixels = (size_t)scene->width * (size_t)scene->height;
    uint8_t* targetActive = espyReferenceTesters_Alloc(scene->targetCount, 1);
    memset(active, 0, scene->testerCount);
    for (uint32_t i = 0; i < scene->testerCount; ++i)
    {
        if (scene->testers[i].forced)
        {
            espyReferenceTesters_Activate(scene, i, active, targetActive);
        }
    }
    uint32_t times = 0;
    for (bool any = true; any;)
    {
        any = false;
        ++times;
        espyReferenceTesters_FindShown(scene, targetActive, shown);
        espyReferenceImage depth = espyReferenceTesters_DrawDepth(scene, shown);
        // Buffer B: the nearest tester of each pixel that is not behind buffer A.
        espyReferenceImage ids =
            espyReferenceImage_Create(scene->width, scene->height, scene->reversedZ, ESPY_REFERENCE_SNAP);
        for (uint32_t i = 0; i < scene->testerCount; ++i)
        {
            if (!active[i] && espyReferenceTesters_IsIn(shown, scene->testers[i].parent))
            {
                espyReferenceImage_Draw(&ids, &scene->testers[i].triangles, &scene->clip, i, true);
            }
        }
        for (size_t i = 0; i < pixels; ++i)
        {
            uint32_t tester = ids.ids[i];
            if (tester != UINT32_MAX && ids.nearness[i] >= depth.nearness[i])
            {
                espyReferenceTesters_Activate(scene, tester, active, targetActive);
                any = true;
            }
        }
        espyReferenceImage_Destroy(&ids);
        espyReferenceImage_Destroy(&depth);
    }
    espyReferenceTesters_FindShown(scene, targetActive, shown);
    free(targetActive);
    return times;
}

void espyReferenceTesters_CountPixels(const espyReferenceTesters* scene, const uint8_t* shown, uint32_t* pixels,
                                      uint32_t* inner)
{
    espyReferenceImage depth = espyReferenceTesters_DrawDepth(scene, shown);
    for (uint32_t i = 0; i < scene->testerCount; ++i)
    {
        pixels[i] = 0;
        if (inner)
        {
            inner[i] = 0;
        }
        if (!espyReferenceTesters_IsIn(shown, scene->testers[i].parent))
        {
            continue;
        }
        espyReferenceImage alone = espyReferenceTesters_DrawAlone(scene, i);
        for (int32_t y = 0; y < scene->height; ++y)
        {
            for (int32_t x = 0; x < scene->width; ++x)
            {
                size_t at = (size_t)y * (size_t)scene->width + (size_t)x;
                double front = depth.nearness[at] * (1.0 + 1e-5) + 4e-7;
                if (alone.ids[at] != i || alone.nearness[at] <= front)
                {
                    continue;
                }
                ++pixels[i];
                bool in = x > 0 && y > 0 && x + 1 < scene->width && y + 1 < scene->height && alone.ids[at - 1] == i &&
                          alone.ids[at + 1] == i && alone.ids[at - (size_t)scene->width] == i &&
                          alone.ids[at + (size_t)scene->width] == i;
                if (inner && in)
                {
                    ++inner[i];
                }
            }
        }
        espyReferenceImage_Destroy(&alone);
    }
    espyReferenceImage_Destroy(&depth);
}
