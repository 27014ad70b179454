// SPDX-License-Identifier: MIT
// Walks through the scenes.
#include "scenes/scene_kit.h"

#include <math.h>

#define ESPY_WALKING_SPEED 1.5f ///< Metres a second.
#define ESPY_EYE 1.75f

void espyiPath_Walk(espyiPath* path, float x, float y, float z)
{
    espyVec3 to = {x, y, z}, from = path->last;
    espyVec3 step = {to.x - from.x, to.y - from.y, to.z - from.z};
    float length = sqrtf(step.x * step.x + step.y * step.y + step.z * step.z);
    path->seconds += path->count > 0 ? length / ESPY_WALKING_SPEED : 0.0f;
    // A key looks at the next one, which is known only now; the last one looks on in the same direction.
    if (path->count > 0 && path->count <= path->capacity)
    {
        path->keys[path->count - 1].target = to;
    }
    if (path->count < path->capacity)
    {
        path->keys[path->count] = (espySceneKey){path->seconds, to, {to.x + step.x, to.y + step.y, to.z + step.z}};
    }
    path->last = to;
    ++path->count;
}

/// Up one street and down the next; streets run along the borders of the blocks.
static void espyPath_City(espyiPath* path, uint32_t size)
{
    float block = 19.0f, margin = 0.75f, side = block * (float)size;
    for (uint32_t street = 0; street <= size; ++street)
    {
        float x = block * (float)street;
        x = street == 0 ? margin : street == size ? side - margin : x;
        espyiPath_Walk(path, x, ESPY_EYE, (street & 1u) ? side - margin : margin);
        espyiPath_Walk(path, x, ESPY_EYE, (street & 1u) ? margin : side - margin);
    }
}

/// Along the hall of every storey and up its stairs.
static void espyPath_Tower(espyiPath* path, uint32_t storeys)
{
    for (uint32_t storey = 0; storey < storeys; ++storey)
    {
        float y = 4.0f * (float)storey + ESPY_EYE;
        espyiPath_Walk(path, 2.5f, y, 5.5f);
        espyiPath_Walk(path, 2.5f, y, 15.0f);
        espyiPath_Walk(path, 2.5f, y, 0.5f);
        espyiPath_Walk(path, 1.25f, y, 0.5f);
    }
}

/// A round through the hills.
static void espyPath_Forest(espyiPath* path, uint32_t tiles, uint64_t seed)
{
    float middle = 32.0f * (float)tiles, radius = 24.0f * (float)tiles;
    uint32_t steps = 32 * tiles;
    for (uint32_t step = 0; step <= steps; ++step)
    {
        float c, s;
        espyiKit_Turn((float)step / (float)steps, &c, &s);
        float x = middle + radius * c, z = middle + radius * s;
        espyiPath_Walk(path, x, espyiForest_Height(seed, x, z) + ESPY_EYE, z);
    }
}

/// From the garden through the gateway and the courtyard into the hall, up the stairs and to the guest room.
static void espyPath_Sample(espyiPath* path)
{
    static const espyVec3 stops[] = {
        {14.0f, 1.75f, 31.0f}, {14.0f, 1.75f, 19.0f}, {14.0f, 1.75f, 15.5f}, {11.5f, 1.75f, 13.0f},
        {13.0f, 1.75f, 9.5f},  {14.0f, 1.75f, 7.0f},  {10.0f, 1.75f, 4.5f},  {8.6f, 1.75f, 1.25f},
        {9.0f, 1.75f, 1.25f},  {13.0f, 5.75f, 1.25f}, {16.0f, 5.75f, 4.0f},  {19.0f, 5.75f, 5.5f},
        {21.0f, 5.75f, 5.5f},  {23.5f, 5.75f, 4.0f},
    };
    for (uint32_t s = 0; s < ESPYI_ARRAY_COUNT(stops); ++s)
    {
        espyiPath_Walk(path, stops[s].x, stops[s].y, stops[s].z);
    }
}

/// Through the outer gate, once around between the houses and the inner wall, and in at the inner gate.
static void espyPath_Castle(espyiPath* path, uint32_t size)
{
    float half = 12.0f * (float)(size < 3 ? 3 : size), gate = size % 2u ? 0.0f : 12.0f;
    espyiPath_Walk(path, gate, ESPY_EYE, -half + 0.5f);
    espyiPath_Walk(path, gate, ESPY_EYE, -half + 4.5f);
    static const float corners[6][2] = {{0.0f, -30.0f}, {-30.0f, -30.0f}, {-30.0f, 30.0f},
                                        {30.0f, 30.0f}, {30.0f, -30.0f},  {0.0f, -30.0f}};
    for (uint32_t i = 0; i < 6; ++i)
    {
        espyiPath_Walk(path, corners[i][0], ESPY_EYE, corners[i][1]);
    }
    espyiPath_Walk(path, 0.0f, ESPY_EYE, -20.0f);
}

uint32_t espyScene_GetPath(espySceneKind kind, uint32_t size, uint64_t seed, espySceneKey* keys, uint32_t capacity)
{
    espyiPath path = {.keys = keys, .capacity = keys ? capacity : 0};
    if (size > ESPY_SCENE_MAX_SIZE || (uint32_t)kind >= espySceneKind_Count)
    {
        return 0;
    }
    size = size == 0 ? espyScene_GetFullSize(kind) : size;
    switch (kind)
    {
    case espySceneKind_Rooms:
    case espySceneKind_Slits:
        espyiPath_Rooms(&path, size, seed, kind == espySceneKind_Slits);
        break;
    case espySceneKind_City:
        espyPath_City(&path, size);
        break;
    case espySceneKind_Tower:
        espyPath_Tower(&path, size);
        break;
    case espySceneKind_Forest:
        espyPath_Forest(&path, size, seed);
        break;
    case espySceneKind_Sample:
        espyPath_Sample(&path);
        break;
    case espySceneKind_Castle:
        espyPath_Castle(&path, size);
        break;
    case espySceneKind_Count:
        break;
    }
    return path.count;
}
