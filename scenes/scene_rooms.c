// SPDX-License-Identifier: MIT
// Rooms and slits: a square of rooms under one ceiling, built of boxes that share faces exactly.
//
// All walls, posts and slabs lie on multiples of 1/8 m, so that neighbours meet without a gap and a proof finds the
// free space sealed. Only the walls' own openings join rooms.
#include "scenes/scene_props.h"

#include <stdio.h>

#define ESPY_ROOM 8.0f
#define ESPY_HEIGHT 4.0f
#define ESPY_HALF_WALL 0.125f
#define ESPY_SLAB 0.25f
#define ESPY_DOOR_WIDTH 1.0f
#define ESPY_DOOR_HEIGHT 2.125f
#define ESPY_SLIT_WIDTH 0.05f
#define ESPY_PROPS_A_ROOM 10u

#define ESPY_PLASTER 0xD8D2C6u
#define ESPY_FLOOR 0xB9A88Fu
#define ESPY_CEILING 0xE6E3DCu

/// Wall 2 * room is the one between room (i, j) and (i + 1, j), wall 2 * room + 1 that between (i, j) and (i, j + 1).
typedef struct espyRoomPlan
{
    uint32_t size;
    bool doors[2 * ESPY_SCENE_MAX_SIZE * ESPY_SCENE_MAX_SIZE];
    float openings[2 * ESPY_SCENE_MAX_SIZE * ESPY_SCENE_MAX_SIZE]; ///< Where the door or slit starts along the wall.
} espyRoomPlan;

static bool espyRooms_HasWall(const espyRoomPlan* plan, uint32_t wall)
{
    uint32_t room = wall / 2;
    return (wall & 1u) ? room / plan->size + 1 < plan->size : room % plan->size + 1 < plan->size;
}

static uint16_t espyRooms_Find(uint16_t* parents, uint16_t room)
{
    while (parents[room] != room)
    {
        parents[room] = parents[parents[room]];
        room = parents[room];
    }
    return room;
}

/// A random spanning tree of doors, then doors in two fifths of the walls left over: 45 doors at size 6.
static void espyRooms_Plan(espyiKit* kit, espyRoomPlan* plan)
{
    static const uint32_t maxRooms = ESPY_SCENE_MAX_SIZE * ESPY_SCENE_MAX_SIZE;
    uint32_t n = plan->size, wallCount = 0;
    uint32_t* walls = espyiAlloc(&kit->hooks, 2u * (size_t)maxRooms, sizeof(uint32_t));
    uint16_t* parents = espyiAlloc(&kit->hooks, maxRooms, sizeof(uint16_t));
    if (!walls || !parents)
    {
        kit->result = espyResult_OutOfMemory;
        espyiFree(&kit->hooks, walls);
        espyiFree(&kit->hooks, parents);
        return;
    }
    for (uint32_t room = 0; room < n * n; ++room)
    {
        parents[room] = (uint16_t)room;
    }
    for (uint32_t wall = 0; wall < 2 * n * n; ++wall)
    {
        walls[wallCount] = wall;
        wallCount += espyRooms_HasWall(plan, wall) ? 1u : 0u;
    }
    for (uint32_t i = wallCount; i > 1; --i)
    {
        uint32_t other = espyiKit_Below(kit, i), swap = walls[i - 1];
        walls[i - 1] = walls[other];
        walls[other] = swap;
    }
    uint32_t extra = (wallCount + 1 - n * n) * 2 / 5;
    for (uint32_t pass = 0; pass < 2; ++pass)
    {
        for (uint32_t w = 0; w < wallCount; ++w)
        {
            uint32_t room = walls[w] / 2;
            uint16_t a = espyRooms_Find(parents, (uint16_t)room);
            uint16_t b = espyRooms_Find(parents, (uint16_t)((walls[w] & 1u) ? room + n : room + 1));
            if (a != b)
            {
                parents[a] = b;
                plan->doors[walls[w]] = true;
            }
            else if (pass == 1 && extra > 0 && !plan->doors[walls[w]])
            {
                plan->doors[walls[w]] = true;
                --extra;
            }
        }
    }
    for (uint32_t wall = 0; wall < 2 * n * n; ++wall)
    {
        plan->openings[wall] =
            espyRooms_HasWall(plan, wall) ? espyiKit_Step(kit, 1.0f, ESPY_ROOM - 2.0f, 0.125f) : 0.0f;
    }
    espyiFree(&kit->hooks, walls);
    espyiFree(&kit->hooks, parents);
}

/// A wall from `from` to `to` along its own axis, centred on 0 across; the node carries it to its place.
static void espyRooms_WallPiece(espyiKit* kit, bool alongZ, float from, float to, float low, float high)
{
    if (alongZ)
    {
        espyiKit_Box(kit, -ESPY_HALF_WALL, low, from, ESPY_HALF_WALL, high, to);
    }
    else
    {
        espyiKit_Box(kit, from, low, -ESPY_HALF_WALL, to, high, ESPY_HALF_WALL);
    }
}

static void espyRooms_Wall(espyiKit* kit, const espyRoomPlan* plan, uint32_t wall, bool slits)
{
    uint32_t i = wall / 2 % plan->size, j = wall / 2 / plan->size;
    bool alongZ = (wall & 1u) == 0;
    uint32_t along = alongZ ? j : i;
    float from = along == 0 ? 0.0f : ESPY_HALF_WALL;
    float to = ESPY_ROOM - (along + 1 == plan->size ? 0.0f : ESPY_HALF_WALL);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PLASTER);
    float opening = plan->openings[wall];
    if (slits)
    {
        espyRooms_WallPiece(kit, alongZ, from, opening, 0.0f, ESPY_HEIGHT);
        espyRooms_WallPiece(kit, alongZ, opening + ESPY_SLIT_WIDTH, to, 0.0f, ESPY_HEIGHT);
    }
    else if (plan->doors[wall])
    {
        float end = opening + ESPY_DOOR_WIDTH;
        espyRooms_WallPiece(kit, alongZ, from, opening, 0.0f, ESPY_HEIGHT);
        espyRooms_WallPiece(kit, alongZ, end, to, 0.0f, ESPY_HEIGHT);
        espyRooms_WallPiece(kit, alongZ, opening, end, ESPY_DOOR_HEIGHT, ESPY_HEIGHT);
    }
    else
    {
        espyRooms_WallPiece(kit, alongZ, from, to, 0.0f, ESPY_HEIGHT);
    }
    char name[48];
    snprintf(name, sizeof name, "Wall %c %u %u", alongZ ? 'x' : 'z', i, j);
    espyMeshId mesh = espyiKit_EndMesh(kit, name);
    float x = ESPY_ROOM * (float)(alongZ ? i + 1 : i), z = ESPY_ROOM * (float)(alongZ ? j : j + 1);
    espyiKit_Place(kit, name, mesh, espyiKit_At(x, 0.0f, z), ESPYI_KIT_SHELL);
}

static void espyRooms_Shell(espyiKit* kit, const espyRoomPlan* plan)
{
    uint32_t n = plan->size;
    float side = ESPY_ROOM * (float)n;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FLOOR);
    espyiKit_Box(kit, 0.0f, -ESPY_SLAB, 0.0f, ESPY_ROOM, 0.0f, ESPY_ROOM);
    espyMeshId floor = espyiKit_EndMesh(kit, "Floor");
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_CEILING);
    espyiKit_Box(kit, 0.0f, ESPY_HEIGHT, 0.0f, ESPY_ROOM, ESPY_HEIGHT + ESPY_SLAB, ESPY_ROOM);
    espyMeshId ceiling = espyiKit_EndMesh(kit, "Ceiling");
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PLASTER);
    espyiKit_Box(kit, -ESPY_HALF_WALL, 0.0f, -ESPY_HALF_WALL, ESPY_HALF_WALL, ESPY_HEIGHT, ESPY_HALF_WALL);
    espyMeshId post = espyiKit_EndMesh(kit, "Post");
    char name[48];
    for (uint32_t j = 0; j < n; ++j)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            espyMat4 at = espyiKit_At(ESPY_ROOM * (float)i, 0.0f, ESPY_ROOM * (float)j);
            snprintf(name, sizeof name, "Floor %u %u", i, j);
            espyiKit_Place(kit, name, floor, at, ESPYI_KIT_SHELL);
            snprintf(name, sizeof name, "Ceiling %u %u", i, j);
            espyiKit_Place(kit, name, ceiling, at, ESPYI_KIT_SHELL);
            if (i > 0 && j > 0)
            {
                snprintf(name, sizeof name, "Post %u %u", i, j);
                espyiKit_Place(kit, name, post, at, ESPYI_KIT_SHELL);
            }
        }
    }
    static const char* const sides[4] = {"West wall", "East wall", "North wall", "South wall"};
    for (uint32_t s = 0; s < 4; ++s)
    {
        espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PLASTER);
        float near = (s & 1u) ? side : -ESPY_SLAB, far = near + ESPY_SLAB;
        float bottom = -ESPY_SLAB, top = ESPY_HEIGHT + ESPY_SLAB;
        if (s < 2)
        {
            espyiKit_Box(kit, near, bottom, -ESPY_SLAB, far, top, side + ESPY_SLAB);
        }
        else
        {
            espyiKit_Box(kit, 0.0f, bottom, near, side, top, far);
        }
        espyiKit_Place(kit, sides[s], espyiKit_EndMesh(kit, sides[s]), espyMat4_Identity(), ESPYI_KIT_SHELL);
    }
}

static espyResult espyRooms_Build(uint32_t size, uint64_t seed, bool slits, espyWorld** out)
{
    *out = NULL;
    if (size > ESPY_SCENE_MAX_SIZE)
    {
        return espyResult_InvalidArgument;
    }
    espyiKit kit;
    espyRoomPlan plan = {.size = size == 0 ? espyScene_GetFullSize(espySceneKind_Rooms) : size};
    uint32_t n = plan.size;
    espyiKit_Begin(&kit, seed, 2.0f);
    espyRooms_Plan(&kit, &plan);
    espyRooms_Shell(&kit, &plan);
    for (uint32_t wall = 0; wall < 2 * n * n; ++wall)
    {
        if (espyRooms_HasWall(&plan, wall))
        {
            espyRooms_Wall(&kit, &plan, wall, slits);
        }
    }
    espyiProp props[espyiPropKind_IndoorCount];
    for (uint32_t p = 0; p < espyiPropKind_IndoorCount; ++p)
    {
        props[p] = espyiProp_Make(&kit, (espyiPropKind)p);
    }
    for (uint32_t j = 0; j < n; ++j)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            float x = ESPY_ROOM * (float)i, z = ESPY_ROOM * (float)j;
            char label[32];
            snprintf(label, sizeof label, "%u %u", i, j);
            espyiProps_Scatter(&kit, props, ESPY_PROPS_A_ROOM, (espyiFloor){x, z, x + ESPY_ROOM, z + ESPY_ROOM, 0.0f},
                               false, label);
        }
    }
    espyiKit_Area(&kit, "Area", 0.0f, 0.0f, 0.0f, ESPY_ROOM * (float)n, ESPY_HEIGHT, ESPY_ROOM * (float)n);
    espyiKit_Camera(&kit, "Camera", (espyVec3){4.0f, 1.75f, 4.0f}, (espyVec3){7.0f, 1.5f, 5.0f});
    return espyiKit_Finish(&kit, out);
}

espyResult espyScene_BuildRooms(uint32_t size, uint64_t seed, espyWorld** out)
{
    return espyRooms_Build(size, seed, false, out);
}

espyResult espyScene_BuildSlits(uint32_t size, uint64_t seed, espyWorld** out)
{
    return espyRooms_Build(size, seed, true, out);
}

/// Walks depth first through the doors, from room to room and back, by way of the rooms' middles.
void espyiPath_Rooms(espyiPath* path, uint32_t size, uint64_t seed, bool slits)
{
    static const uint32_t maxRooms = ESPY_SCENE_MAX_SIZE * ESPY_SCENE_MAX_SIZE;
    const float eye = 1.75f, half = ESPY_ROOM * 0.5f;
    if (size == 0 || size > ESPY_SCENE_MAX_SIZE)
    {
        return;
    }
    espyRoomPlan plan = {.size = size};
    espyiKit kit = {.rng = espyiRng_Seed(seed), .hooks = espyiHooks_Resolve(NULL)};
    espyRooms_Plan(&kit, &plan);
    // The way back: rooms, and the room and wall by which each was entered.
    uint16_t* way = espyiAlloc(&kit.hooks, maxRooms, sizeof *way);
    bool* been = espyiAlloc(&kit.hooks, maxRooms, sizeof *been);
    uint32_t depth = way && been && kit.result == espyResult_Ok ? 1 : 0;
    if (depth > 0)
    {
        been[0] = true;
        espyiPath_Walk(path, half, eye, half);
        espyiPath_Walk(path, half + 2.0f, eye, half);
        espyiPath_Walk(path, half, eye, half);
    }
    while (depth > 0 && !slits)
    {
        uint32_t room = way[depth - 1], next = room;
        const uint32_t walls[4] = {2 * room, 2 * room + 1, 2 * (room - 1), 2 * (room - size) + 1};
        const uint32_t others[4] = {room + 1, room + size, room - 1, room - size};
        for (uint32_t k = 0; k < 4 && next == room; ++k)
        {
            bool exists = k < 2 || (k == 2 ? room % size > 0 : room >= size);
            next = exists && plan.doors[walls[k]] && !been[others[k]] ? others[k] : room;
        }
        bool back = next == room;
        depth -= back ? 1u : 0u;
        if (back && depth == 0)
        {
            break;
        }
        next = back ? way[depth - 1] : next;
        uint32_t low = room < next ? room : next, wall = 2 * low + (room + next == 2 * low + 1 ? 0u : 1u);
        float x = ESPY_ROOM * (float)(low % size), z = ESPY_ROOM * (float)(low / size);
        float middle = plan.openings[wall] + 0.5f * ESPY_DOOR_WIDTH, side = room == low ? -0.5f : 0.5f;
        for (uint32_t step = 0; step < 2; ++step, side = -side)
        {
            espyiPath_Walk(path, (wall & 1u) ? x + middle : x + ESPY_ROOM + side, eye,
                           (wall & 1u) ? z + ESPY_ROOM + side : z + middle);
        }
        espyiPath_Walk(path, ESPY_ROOM * (float)(next % size) + half, eye, ESPY_ROOM * (float)(next / size) + half);
        if (!back)
        {
            been[next] = true;
            way[depth++] = (uint16_t)next;
        }
    }
    espyiFree(&kit.hooks, way);
    espyiFree(&kit.hooks, been);
}
