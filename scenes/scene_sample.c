// SPDX-License-Identifier: MIT
// The level that the project ships: a manor of two storeys around a courtyard, in a garden among hills.
//
//       x  0        8              20        28
//   z  0   +--------+--------------+---------+      Walls stand on even metres, centred on these lines, so that
//          | study  |  hall, stairs|  library|      cells of 2 m end in them.
//      8   +--------+--------------+---------+
//          | pantry |              |  dining |      The wings are two storeys of 4 m high; the south wing is one
//     12   +--------+  courtyard   |         | 14   storey with a terrace on top and the gateway through it.
//          | living |              +---------+
//          |        |              |  kitchen|
//     18   +--------+---+------+---+---------+
//          |  stable    | gate |   workshop  |
//     24   +------------+------+-------------+
#include "scenes/scene_props.h"

#include <math.h>
#include <stdio.h>

#define ESPY_STOREY 4.0f
#define ESPY_CLEAR 3.75f
#define ESPY_HALF 0.125f ///< Half the thickness of a wall.
#define ESPY_WEST 0.0f
#define ESPY_EAST 28.0f
#define ESPY_NORTH 0.0f
#define ESPY_SOUTH 24.0f

// Warm plaster and stone outside, linen inside, slate and copper as accents.
#define ESPY_FACADE 0xDCC9A9u
#define ESPY_PLASTER 0xE4DDD0u
#define ESPY_OAK 0xB08D63u
#define ESPY_STONE 0xB4ADA0u
#define ESPY_PAVING 0xC4BBAAu
#define ESPY_ROOF 0x8C5A48u
#define ESPY_LAWN 0x8DA668u
#define ESPY_MEADOW 0x9AA873u
#define ESPY_HEDGE 0x5C7D4Fu
#define ESPY_WATER 0x7FA9B5u
#define ESPY_IRON 0x4A4F55u
#define ESPY_GLASS 0xBBD6DDu
#define ESPY_FRAME 0x6A4F3Au

/// A hole in a wall: from `start` along the wall, between two heights above the floor.
typedef struct espyOpening
{
    float start, width, sill, head;
} espyOpening;

#define ESPY_DOOR(start)         \
    {                            \
        start, 1.0f, 0.0f, 2.25f \
    }
#define ESPY_WINDOW(start)        \
    {                             \
        start, 1.5f, 0.875f, 2.5f \
    }

typedef struct espyWallDef
{
    const char* name;
    bool alongX;
    bool outside; ///< An outer wall: too large to be worth culling.
    float line;   ///< z of a wall along X, x of a wall along Z.
    float from, to;
    uint32_t openingCount;
    espyOpening openings[4]; ///< Ascending, apart from each other.
} espyWallDef;

// Walls along X take the corners; walls along Z stand between them; so every joint is closed.
static const espyWallDef espyGroundWalls[] = {
    {"North wall",
     true,
     true,
     0,
     -0.125f,
     28.125f,
     4,
     {{2, 1.5f, 0.875f, 2.5f}, {13.5f, 1.0f, 0, 2.25f}, {17, 1.5f, 0.875f, 2.5f}, {23, 2.0f, 0.875f, 2.5f}}},
    {"Study wall", true, false, 8, -0.125f, 8.125f, 1, {ESPY_DOOR(2)}},
    {"Hall wall",
     true,
     false,
     8,
     8.125f,
     19.875f,
     3,
     {{9, 2.0f, 0.875f, 2.5f}, {13, 2.0f, 0, 2.5f}, {17, 2.0f, 0.875f, 2.5f}}},
    {"Library wall", true, false, 8, 19.875f, 28.125f, 1, {ESPY_DOOR(24)}},
    {"Living room wall", true, false, 18, -0.125f, 8.125f, 1, {ESPY_DOOR(2)}},
    {"Gateway wall", true, false, 18, 8.125f, 19.875f, 1, {{12.5f, 3.0f, 0, 3.0f}}},
    {"Kitchen wall", true, false, 18, 19.875f, 28.125f, 1, {ESPY_DOOR(25)}},
    {"South wall",
     true,
     true,
     24,
     -0.125f,
     28.125f,
     3,
     {{4, 1.5f, 0.875f, 2.5f}, {12.5f, 3.0f, 0, 3.0f}, {21, 1.5f, 0.875f, 2.5f}}},
    {"West wall north", false, true, 0, 0.125f, 7.875f, 2, {ESPY_WINDOW(1.5f), ESPY_WINDOW(5)}},
    {"West wall", false, true, 0, 8.125f, 17.875f, 2, {ESPY_WINDOW(9.25f), {14, 2.0f, 0.875f, 2.5f}}},
    {"West wall south", false, true, 0, 18.125f, 23.875f, 1, {ESPY_WINDOW(20.25f)}},
    {"Hall west wall", false, false, 8, 0.125f, 7.875f, 1, {ESPY_DOOR(5)}},
    {"Courtyard west wall", false, false, 8, 8.125f, 17.875f, 2, {ESPY_WINDOW(9.25f), {13, 4.0f, 0.25f, 2.75f}}},
    {"Hall east wall", false, false, 20, 0.125f, 7.875f, 1, {ESPY_DOOR(2)}},
    {"Courtyard east wall",
     false,
     false,
     20,
     8.125f,
     17.875f,
     3,
     {ESPY_DOOR(9.5f), ESPY_WINDOW(11.5f), ESPY_WINDOW(15.25f)}},
    {"East wall north", false, true, 28, 0.125f, 7.875f, 2, {ESPY_WINDOW(1.5f), ESPY_WINDOW(5)}},
    {"East wall", false, true, 28, 8.125f, 17.875f, 2, {ESPY_WINDOW(10), ESPY_WINDOW(15.25f)}},
    {"East wall south", false, true, 28, 18.125f, 23.875f, 1, {ESPY_WINDOW(20.25f)}},
    {"Gate west wall", false, false, 12, 18.125f, 23.875f, 1, {ESPY_DOOR(20)}},
    {"Gate east wall", false, false, 16, 18.125f, 23.875f, 1, {ESPY_DOOR(21)}},
    {"Pantry wall", true, false, 12, 0.125f, 7.875f, 1, {ESPY_DOOR(5)}},
    {"Kitchen partition", true, false, 14, 20.125f, 27.875f, 1, {ESPY_DOOR(21)}},
};

static const espyWallDef espyUpperWalls[] = {
    {"Upper north wall",
     true,
     true,
     0,
     -0.125f,
     28.125f,
     4,
     {{3, 1.5f, 0.875f, 2.5f}, {9.5f, 1.5f, 0.875f, 2.5f}, {16, 1.5f, 0.875f, 2.5f}, {23, 1.5f, 0.875f, 2.5f}}},
    {"Bedroom wall", true, false, 8, -0.125f, 8.125f, 1, {ESPY_DOOR(6)}},
    {"Gallery wall",
     true,
     false,
     8,
     8.125f,
     19.875f,
     3,
     {ESPY_WINDOW(9.25f), {13, 2.0f, 0.875f, 2.5f}, ESPY_WINDOW(17.25f)}},
    {"Guest room wall", true, false, 8, 19.875f, 28.125f, 1, {ESPY_DOOR(21)}},
    {"Terrace west wall", true, true, 18, -0.125f, 8.125f, 2, {ESPY_DOOR(2), ESPY_WINDOW(5)}},
    {"Terrace east wall", true, true, 18, 19.875f, 28.125f, 1, {ESPY_WINDOW(23.25f)}},
    {"Upper west wall north", false, true, 0, 0.125f, 7.875f, 1, {ESPY_WINDOW(3.25f)}},
    {"Upper west wall", false, true, 0, 8.125f, 17.875f, 2, {ESPY_WINDOW(9.25f), ESPY_WINDOW(14.25f)}},
    {"Gallery west wall", false, false, 8, 0.125f, 7.875f, 1, {ESPY_DOOR(6)}},
    {"Upper courtyard west wall", false, true, 8, 8.125f, 17.875f, 2, {ESPY_WINDOW(9.25f), ESPY_WINDOW(14.25f)}},
    {"Gallery east wall", false, false, 20, 0.125f, 7.875f, 1, {ESPY_DOOR(5)}},
    {"Upper courtyard east wall", false, true, 20, 8.125f, 17.875f, 2, {ESPY_WINDOW(10.25f), ESPY_WINDOW(15.25f)}},
    {"Upper east wall north", false, true, 28, 0.125f, 7.875f, 1, {ESPY_WINDOW(3.25f)}},
    {"Upper east wall", false, true, 28, 8.125f, 17.875f, 2, {ESPY_WINDOW(10.25f), ESPY_WINDOW(15.25f)}},
    {"Dressing room wall", true, false, 12, 0.125f, 7.875f, 1, {ESPY_DOOR(4)}},
    {"Studio wall", true, false, 14, 20.125f, 27.875f, 1, {ESPY_DOOR(25)}},
};

static void espySample_WallPiece(espyiKit* kit, const espyWallDef* wall, float a0, float a1, float y0, float y1)
{
    float low = wall->line - ESPY_HALF, high = wall->line + ESPY_HALF;
    if (wall->alongX)
    {
        espyiKit_Box(kit, a0, y0, low, a1, y1, high);
    }
    else
    {
        espyiKit_Box(kit, low, y0, a0, high, y1, a1);
    }
}

static void espySample_Walls(espyiKit* kit, const espyWallDef* walls, uint32_t count, float floor)
{
    for (uint32_t w = 0; w < count; ++w)
    {
        const espyWallDef* wall = &walls[w];
        espyiKit_Paint(kit, espyMaterialClass_Opaque, wall->outside ? ESPY_FACADE : ESPY_PLASTER);
        float at = wall->from;
        for (uint32_t o = 0; o < wall->openingCount; ++o)
        {
            const espyOpening* opening = &wall->openings[o];
            float end = opening->start + opening->width;
            espySample_WallPiece(kit, wall, at, opening->start, 0.0f, ESPY_CLEAR);
            if (opening->sill > 0.0f)
            {
                espySample_WallPiece(kit, wall, opening->start, end, 0.0f, opening->sill);
            }
            espySample_WallPiece(kit, wall, opening->start, end, opening->head, ESPY_CLEAR);
            at = end;
        }
        espySample_WallPiece(kit, wall, at, wall->to, 0.0f, ESPY_CLEAR);
        espyiKit_Place(kit, wall->name, espyiKit_EndMesh(kit, wall->name), espyiKit_At(0.0f, floor, 0.0f),
                       wall->outside ? ESPYI_KIT_SHELL : ESPYI_KIT_BOTH);
    }
}

static espyNodeId espySample_Add(espyiKit* kit, const char* name, uint32_t flags)
{
    return espyiKit_Place(kit, name, espyiKit_EndMesh(kit, name), espyMat4_Identity(), flags);
}

/// Floors and roofs: slabs 0.25 m thick under each floor, cut around the stairs and the courtyard.
static void espySample_Slabs(espyiKit* kit)
{
    float w = ESPY_WEST - ESPY_HALF, e = ESPY_EAST + ESPY_HALF, n = ESPY_NORTH - ESPY_HALF, s = ESPY_SOUTH + ESPY_HALF;
    float low = ESPY_CLEAR, high = ESPY_STOREY;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_OAK);
    espyiKit_Box(kit, w, -0.25f, n, e, 0.0f, 8.0f);
    espyiKit_Box(kit, w, -0.25f, 8.0f, 8.0f, 0.0f, 18.0f);
    espyiKit_Box(kit, 20.0f, -0.25f, 8.0f, e, 0.0f, 18.0f);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE);
    espyiKit_Box(kit, w, -0.25f, 18.0f, e, 0.0f, s);
    espySample_Add(kit, "Ground floor slab", ESPYI_KIT_SHELL);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PAVING);
    espyiKit_Box(kit, 8.0f, -0.25f, 8.0f, 20.0f, 0.0f, 18.0f);
    espySample_Add(kit, "Courtyard paving", ESPYI_KIT_SHELL);

    // Each upper slab is a plastered ceiling below and boards above. The stair hole: x 9 to 13, z 0.5 to 2.
    for (uint32_t layer = 0; layer < 2; ++layer)
    {
        float y0 = layer == 0 ? low : low + 0.125f, y1 = layer == 0 ? low + 0.125f : high;
        espyiKit_Paint(kit, espyMaterialClass_Opaque, layer == 0 ? ESPY_PLASTER : ESPY_OAK);
        espyiKit_Box(kit, w, y0, n, e, y1, 0.5f);
        espyiKit_Box(kit, w, y0, 0.5f, 9.0f, y1, 2.0f);
        espyiKit_Box(kit, 13.0f, y0, 0.5f, e, y1, 2.0f);
        espyiKit_Box(kit, w, y0, 2.0f, e, y1, 8.125f);
    }
    espySample_Add(kit, "Upper floor slab north", ESPYI_KIT_SHELL);
    for (uint32_t wing = 0; wing < 3; ++wing)
    {
        static const char* const names[3] = {"Upper floor slab west", "Upper floor slab east", "Terrace"};
        float x0 = wing == 1 ? 19.875f : w, x1 = wing == 0 ? 8.125f : e;
        float z0 = wing == 2 ? 17.875f : 8.125f, z1 = wing == 2 ? s : 17.875f;
        espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PLASTER);
        espyiKit_Box(kit, x0, low, z0, x1, low + 0.125f, z1);
        espyiKit_Paint(kit, espyMaterialClass_Opaque, wing == 2 ? ESPY_STONE : ESPY_OAK);
        espyiKit_Box(kit, x0, low + 0.125f, z0, x1, high, z1);
        espySample_Add(kit, names[wing], ESPYI_KIT_SHELL);
    }
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FACADE);
    espyiKit_Box(kit, w, high, s - 0.25f, e, high + 1.0f, s);
    espyiKit_Box(kit, w, high, 18.125f, w + 0.25f, high + 1.0f, s - 0.25f);
    espyiKit_Box(kit, e - 0.25f, high, 18.125f, e, high + 1.0f, s - 0.25f);
    espyiKit_Box(kit, 8.125f, high, 17.875f, 19.875f, high + 1.0f, 18.125f);
    espySample_Add(kit, "Terrace parapet", ESPYI_KIT_SHELL);

    float eaves = 0.5f, bottom = ESPY_STOREY + ESPY_CLEAR, top = 2.0f * ESPY_STOREY;
    for (uint32_t layer = 0; layer < 2; ++layer)
    {
        float y0 = layer == 0 ? bottom : bottom + 0.125f, y1 = layer == 0 ? bottom + 0.125f : top;
        espyiKit_Paint(kit, espyMaterialClass_Opaque, layer == 0 ? ESPY_PLASTER : ESPY_ROOF);
        espyiKit_Box(kit, w - eaves, y0, n - eaves, e + eaves, y1, 8.125f);
        espyiKit_Box(kit, w - eaves, y0, 8.125f, 8.125f, y1, 18.125f + eaves);
        espyiKit_Box(kit, 19.875f, y0, 8.125f, e + eaves, y1, 18.125f + eaves);
    }
    espySample_Add(kit, "Roof", ESPYI_KIT_SHELL);
}

/// Sixteen steps along +X with a rail on the open side, and a rail around the hole above.
static void espySample_Stairs(espyiKit* kit)
{
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FRAME);
    for (uint32_t step = 0; step < 16; ++step)
    {
        float x = 9.0f + 0.25f * (float)step, y = 0.25f * (float)step;
        espyiKit_Box(kit, x, y, 0.5f, x + 0.25f, y + 0.25f, 2.0f);
    }
    espySample_Add(kit, "Stairs", ESPYI_KIT_BOTH);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_IRON);
    for (uint32_t post = 0; post < 9; ++post)
    {
        float x = 9.0f + 0.5f * (float)post;
        espyiKit_Box(kit, x - 0.03125f, ESPY_STOREY, 2.0625f, x + 0.03125f, ESPY_STOREY + 0.9375f, 2.125f);
    }
    espyiKit_Box(kit, 8.9375f, ESPY_STOREY + 0.9375f, 2.03125f, 13.0625f, ESPY_STOREY + 1.0f, 2.15625f);
    espySample_Add(kit, "Gallery rail", ESPYI_KIT_PROP);
}

/// Rugs on the floors and pictures on the walls: thin, and close to what they lie on.
static void espySample_Furnishings(espyiKit* kit)
{
    static const struct
    {
        float x0, z0, x1, z1, y;
        uint32_t color, border;
    } rugs[6] = {{11.0f, 2.75f, 17.5f, 6.25f, 0.0f, 0x9E4F45u, 0xD8C39Au},
                 {3.0f, 13.5f, 5.0f, 16.5f, 0.0f, 0x5B7583u, 0xD9CFBEu},
                 {22.5f, 2.5f, 26.0f, 5.5f, 0.0f, 0x66755Au, 0xD8C39Au},
                 {1.0f, 1.0f, 3.0f, 5.0f, 4.0f, 0x9E4F45u, 0xD9CFBEu},
                 {12.0f, 3.5f, 18.5f, 6.0f, 4.0f, 0x5B7583u, 0xD8C39Au},
                 {25.0f, 2.75f, 27.0f, 5.0f, 4.0f, 0x66755Au, 0xD9CFBEu}};
    char name[32];
    for (uint32_t r = 0; r < ESPYI_ARRAY_COUNT(rugs); ++r)
    {
        float y = rugs[r].y;
        espyiKit_Paint(kit, espyMaterialClass_Opaque, rugs[r].border);
        espyiKit_Box(kit, rugs[r].x0, y, rugs[r].z0, rugs[r].x1, y + 0.015625f, rugs[r].z1);
        espyiKit_Paint(kit, espyMaterialClass_Opaque, rugs[r].color);
        espyiKit_Box(kit, rugs[r].x0 + 0.25f, y + 0.015625f, rugs[r].z0 + 0.25f, rugs[r].x1 - 0.25f, y + 0.03125f,
                     rugs[r].z1 - 0.25f);
        snprintf(name, sizeof name, "Rug %u", r + 1);
        espySample_Add(kit, name, ESPYI_KIT_PROP);
    }
    // Pictures hang on walls along Z, at x, facing `side`.
    static const struct
    {
        float x, z0, z1, y0, y1, side;
        uint32_t color;
    } pictures[7] = {
        {8.125f, 2.25f, 3.75f, 1.25f, 2.375f, 1.0f, 0x5B7583u}, {19.875f, 4.0f, 6.0f, 1.25f, 2.5f, -1.0f, 0xB98A4Eu},
        {7.875f, 1.5f, 3.5f, 1.25f, 2.25f, -1.0f, 0x66755Au},   {20.125f, 11.0f, 11.5f, 1.5f, 2.125f, 1.0f, 0x9E4F45u},
        {8.125f, 2.0f, 4.5f, 5.25f, 6.5f, 1.0f, 0x66755Au},     {19.875f, 1.5f, 3.5f, 5.25f, 6.5f, -1.0f, 0x9E4F45u},
        {7.875f, 12.5f, 13.75f, 5.25f, 6.25f, -1.0f, 0xB98A4Eu}};
    for (uint32_t p = 0; p < ESPYI_ARRAY_COUNT(pictures); ++p)
    {
        float x = pictures[p].x, out = 0.03125f * pictures[p].side;
        float back = out < 0.0f ? x + out : x, front = out < 0.0f ? x : x + out;
        espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FRAME);
        espyiKit_Box(kit, back, pictures[p].y0, pictures[p].z0, front, pictures[p].y1, pictures[p].z1);
        back = out < 0.0f ? x + 1.5f * out : x + out;
        front = out < 0.0f ? x + out : x + 1.5f * out;
        espyiKit_Paint(kit, espyMaterialClass_Opaque, pictures[p].color);
        espyiKit_Box(kit, back, pictures[p].y0 + 0.125f, pictures[p].z0 + 0.125f, front, pictures[p].y1 - 0.125f,
                     pictures[p].z1 - 0.125f);
        snprintf(name, sizeof name, "Picture %u", p + 1);
        espySample_Add(kit, name, ESPYI_KIT_PROP);
    }
}

/// Doors, glass and the iron gate: what light passes and what moves.
static void espySample_Joinery(espyiKit* kit)
{
    // One mesh with an opaque and a glass part: it occludes with its frame only.
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FRAME);
    for (uint32_t bar = 0; bar < 4; ++bar)
    {
        float z = 13.0f + (4.0f - 0.125f) / 3.0f * (float)bar;
        espyiKit_Box(kit, 7.9375f, 0.375f, z, 8.0625f, 2.625f, z + 0.125f);
    }
    espyiKit_Box(kit, 7.9375f, 0.25f, 13.0f, 8.0625f, 0.375f, 17.0f);
    espyiKit_Box(kit, 7.9375f, 2.625f, 13.0f, 8.0625f, 2.75f, 17.0f);
    espyiKit_Paint(kit, espyMaterialClass_Translucent, ESPY_GLASS);
    espyiKit_Quad(kit, (espyVec3){8.0f, 0.375f, 17.0f}, (espyVec3){8.0f, 0.375f, 13.0f},
                  (espyVec3){8.0f, 2.625f, 13.0f}, (espyVec3){8.0f, 2.625f, 17.0f});
    espySample_Add(kit, "Living room window", ESPYI_KIT_BOTH);

    espyiKit_Paint(kit, espyMaterialClass_Masked, ESPY_IRON);
    espyiKit_Quad(kit, (espyVec3){12.5f, 0.0f, 24.0f}, (espyVec3){15.5f, 0.0f, 24.0f}, (espyVec3){15.5f, 3.0f, 24.0f},
                  (espyVec3){12.5f, 3.0f, 24.0f});
    espySample_Add(kit, "Iron gate", ESPYI_KIT_PROP);

    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FRAME);
    espyiKit_Box(kit, 0.0f, 0.0f, -0.03125f, 0.96875f, 2.21875f, 0.03125f);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, 0xC29B52u);
    espyiKit_Box(kit, 0.84375f, 1.0f, -0.0625f, 0.90625f, 1.0625f, 0.0625f);
    espyMeshId door = espyiKit_EndMesh(kit, "Front door");
    espyiKit_Place(kit, "Front door", door, espyiKit_AtTurned(13.515625f, 0.0f, 0.0f, 0.0f, 1.0f),
                   (uint32_t)(espyNodeFlag_OccludeeStatic | espyNodeFlag_Dynamic));
}

static void espySample_Courtyard(espyiKit* kit, const espyiProp* tree)
{
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_LAWN);
    for (uint32_t lawn = 0; lawn < 4; ++lawn)
    {
        float x = (lawn & 1u) ? 15.0f : 9.0f, z = (lawn & 2u) ? 14.0f : 9.0f;
        espyiKit_Box(kit, x, 0.0f, z, x + 4.0f, 0.0625f, z + 3.0f);
    }
    espySample_Add(kit, "Courtyard lawns", ESPYI_KIT_SHELL);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE);
    espyiKit_Stump(kit, (espyVec3){14.0f, 0.0f, 13.0f}, 1.5f, 1.6f, 0.5f, 16);
    espyiKit_Stump(kit, (espyVec3){14.0f, 0.5f, 13.0f}, 0.25f, 0.2f, 0.9f, 10);
    espyiKit_Stump(kit, (espyVec3){14.0f, 1.4f, 13.0f}, 0.3f, 0.75f, 0.25f, 16);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_WATER);
    espyiKit_Stump(kit, (espyVec3){14.0f, 0.5f, 13.0f}, 1.4f, 1.4f, 0.03125f, 16);
    espyiKit_Stump(kit, (espyVec3){14.0f, 1.65f, 13.0f}, 0.65f, 0.65f, 0.03125f, 16);
    espySample_Add(kit, "Fountain", ESPYI_KIT_PROP);
    static const float at[8][2] = {{9.75f, 9.75f},  {12.25f, 10.5f}, {18.25f, 9.75f},  {15.75f, 10.5f},
                                   {9.75f, 16.25f}, {12.25f, 15.5f}, {18.25f, 16.25f}, {15.75f, 15.5f}};
    espyMat4 instances[8];
    for (uint32_t t = 0; t < 8; ++t)
    {
        // One draw of random numbers a statement: the order of arguments is the compiler's choice.
        float scale = espyiKit_Range(kit, 0.42f, 0.55f);
        float turns = espyiKit_Range(kit, 0.0f, 1.0f);
        instances[t] = espyiKit_AtTurned(at[t][0], 0.0f, at[t][1], turns, scale);
    }
    espyiKit_PlaceMany(kit, "Courtyard trees", tree->mesh, instances, 8, ESPYI_KIT_PROP);
}

/// Flat around the house, hills further out.
static float espySample_Height(uint64_t seed, float x, float z)
{
    float dx = x - 14.0f, dz = z - 12.0f;
    float ax = fabsf(dx) - 14.0f, az = fabsf(dz) - 12.0f;
    ax = ax > 0.0f ? ax : 0.0f;
    az = az > 0.0f ? az : 0.0f;
    float away = (sqrtf(ax * ax + az * az) - 6.0f) / 30.0f;
    away = away < 0.0f ? 0.0f : away > 1.0f ? 1.0f : away;
    float smooth = away * away * (3.0f - 2.0f * away);
    float hills =
        2.0f + 9.0f * espyiKit_Noise(seed, x / 26.0f, z / 26.0f) + 2.0f * espyiKit_Noise(seed + 1, x / 9.0f, z / 9.0f);
    return -0.125f + smooth * hills;
}

static void espySample_Landscape(espyiKit* kit, uint64_t seed, const espyiProp* broadleaf, const espyiProp* conifer)
{
    const uint32_t n = 36;
    const float step = 3.0f, x0 = 14.0f - step * (float)n * 0.5f, z0 = 12.0f - step * (float)n * 0.5f;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_MEADOW);
    for (uint32_t j = 0; j <= n; ++j)
    {
        for (uint32_t i = 0; i <= n; ++i)
        {
            float x = x0 + step * (float)i, z = z0 + step * (float)j;
            espyiKit_Vertex(kit, (espyVec3){x, espySample_Height(seed, x, z), z});
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

    espyMat4 instances[96];
    for (uint32_t kind = 0; kind < 2; ++kind)
    {
        uint32_t count = kind == 0 ? 36u : 84u;
        for (uint32_t t = 0; t < count;)
        {
            float x = espyiKit_Range(kit, -36.0f, 64.0f), z = espyiKit_Range(kit, -38.0f, 62.0f);
            float y = espySample_Height(seed, x, z), turns = espyiKit_Range(kit, 0.0f, 1.0f);
            float scale = espyiKit_Range(kit, 0.7f, 1.2f);
            // Conifers on the slopes, broad leaves in the garden but never against the house.
            bool garden = x > -8.0f && x < 36.0f && z > -8.0f && z < 32.0f;
            bool house = x > -4.5f && x < 32.5f && z > -4.5f && z < 28.5f;
            bool path = x > 10.5f && x < 17.5f && (z > 24.0f || z < 0.0f) && z > -14.0f && z < 44.0f;
            if (!house && !path && (kind == 0 ? y < 4.5f : y > 1.5f && !garden))
            {
                instances[t++] = espyiKit_AtTurned(x, y, z, turns, scale);
            }
        }
        espyiKit_PlaceMany(kit, kind == 0 ? "Broadleaf trees" : "Conifers", kind == 0 ? broadleaf->mesh : conifer->mesh,
                           instances, count, ESPYI_KIT_PROP);
    }
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PAVING);
    espyiKit_Box(kit, 12.5f, -0.25f, 24.125f, 15.5f, -0.0625f, 30.0f);
    espyiKit_Box(kit, 13.0f, -0.25f, -6.0f, 15.0f, -0.0625f, -0.125f);
    espySample_Add(kit, "Garden paths", ESPYI_KIT_SHELL);
    static const float hedges[6][4] = {{2.0f, 27.5f, 11.0f, 28.25f}, {17.0f, 27.5f, 26.0f, 28.25f},
                                       {-4.0f, 1.0f, -3.25f, 10.0f}, {-4.0f, 14.0f, -3.25f, 23.0f},
                                       {31.25f, 1.0f, 32.0f, 10.0f}, {31.25f, 14.0f, 32.0f, 23.0f}};
    char name[32];
    for (uint32_t h = 0; h < ESPYI_ARRAY_COUNT(hedges); ++h)
    {
        espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_HEDGE);
        espyiKit_Box(kit, hedges[h][0], -0.25f, hedges[h][1], hedges[h][2], 1.25f, hedges[h][3]);
        snprintf(name, sizeof name, "Hedge %u", h + 1);
        espySample_Add(kit, name, ESPYI_KIT_PROP);
    }
}

typedef struct espyPlacement
{
    uint8_t kind;
    float x, z, turns;
} espyPlacement;

static const espyPlacement espyGroundProps[] = {
    // Study
    {espyiPropKind_Shelf, 0.5f, 4.25f, 0.25f},
    {espyiPropKind_Shelf, 2.5f, 7.5f, 0.5f},
    {espyiPropKind_Table, 4.0f, 2.5f, 0.25f},
    {espyiPropKind_Chair, 3.1f, 2.5f, 0.27f},
    {espyiPropKind_Lamp, 0.7f, 0.7f, 0.0f},
    {espyiPropKind_Plant, 7.3f, 0.8f, 0.1f},
    // Hall
    {espyiPropKind_Sofa, 17.5f, 1.0f, 0.0f},
    {espyiPropKind_Plant, 12.2f, 7.3f, 0.3f},
    {espyiPropKind_Plant, 15.8f, 7.3f, 0.7f},
    {espyiPropKind_Vase, 8.5f, 7.4f, 0.0f},
    {espyiPropKind_Lamp, 19.4f, 0.8f, 0.0f},
    {espyiPropKind_Table, 14.25f, 4.5f, 0.0f},
    {espyiPropKind_Chair, 13.7f, 3.5f, 0.02f},
    {espyiPropKind_Chair, 14.9f, 5.5f, 0.49f},
    {espyiPropKind_Chair, 12.9f, 4.6f, 0.24f},
    {espyiPropKind_Shelf, 11.25f, 7.6f, 0.5f},
    {espyiPropKind_Bench, 16.6f, 7.4f, 0.5f},
    // Library
    {espyiPropKind_Shelf, 21.5f, 0.45f, 0.0f},
    {espyiPropKind_Shelf, 27.5f, 4.25f, 0.75f},
    {espyiPropKind_Shelf, 20.45f, 5.0f, 0.25f},
    {espyiPropKind_Shelf, 22.0f, 7.55f, 0.5f},
    {espyiPropKind_Table, 24.25f, 3.6f, 0.0f},
    {espyiPropKind_Chair, 24.25f, 4.6f, 0.48f},
    {espyiPropKind_Chair, 23.9f, 2.7f, 0.02f},
    {espyiPropKind_Lamp, 27.3f, 7.3f, 0.0f},
    // Pantry
    {espyiPropKind_Shelf, 3.9f, 8.45f, 0.0f},
    {espyiPropKind_Barrel, 0.8f, 11.4f, 0.0f},
    {espyiPropKind_Barrel, 1.6f, 11.3f, 0.2f},
    {espyiPropKind_Crate, 7.2f, 11.2f, 0.03f},
    // Living room
    {espyiPropKind_Sofa, 2.0f, 14.9f, 0.25f},
    {espyiPropKind_Table, 4.0f, 14.9f, 0.25f},
    {espyiPropKind_Chair, 5.6f, 14.2f, 0.72f},
    {espyiPropKind_Chair, 5.6f, 15.6f, 0.78f},
    {espyiPropKind_Lamp, 0.7f, 17.3f, 0.0f},
    {espyiPropKind_Plant, 7.3f, 12.7f, 0.4f},
    {espyiPropKind_Vase, 5.0f, 17.4f, 0.0f},
    // Dining room
    {espyiPropKind_Table, 24.0f, 10.6f, 0.0f},
    {espyiPropKind_Table, 24.0f, 11.5f, 0.5f},
    {espyiPropKind_Chair, 22.75f, 11.0f, 0.25f},
    {espyiPropKind_Chair, 25.25f, 11.0f, 0.75f},
    {espyiPropKind_Chair, 24.0f, 9.7f, 0.0f},
    {espyiPropKind_Chair, 24.0f, 12.4f, 0.5f},
    {espyiPropKind_Plant, 27.3f, 13.3f, 0.2f},
    // Kitchen
    {espyiPropKind_Shelf, 25.5f, 14.45f, 0.0f},
    {espyiPropKind_Table, 23.6f, 16.2f, 0.0f},
    {espyiPropKind_Barrel, 27.3f, 14.7f, 0.0f},
    {espyiPropKind_Crate, 20.8f, 17.3f, 0.02f},
    // Stable
    {espyiPropKind_Crate, 1.0f, 23.0f, 0.03f},
    {espyiPropKind_Crate, 2.1f, 23.1f, 0.22f},
    {espyiPropKind_Barrel, 4.6f, 18.8f, 0.0f},
    {espyiPropKind_Barrel, 5.5f, 19.0f, 0.1f},
    {espyiPropKind_Crate, 9.5f, 19.0f, 0.1f},
    {espyiPropKind_Bench, 7.5f, 23.3f, 0.5f},
    // Workshop
    {espyiPropKind_Table, 20.0f, 19.0f, 0.0f},
    {espyiPropKind_Shelf, 23.0f, 18.45f, 0.0f},
    {espyiPropKind_Crate, 26.9f, 23.0f, 0.02f},
    {espyiPropKind_Crate, 17.0f, 23.2f, 0.24f},
    {espyiPropKind_Barrel, 27.2f, 19.0f, 0.0f},
    // Gateway, courtyard, garden
    {espyiPropKind_Barrel, 12.6f, 22.6f, 0.0f},
    {espyiPropKind_Bench, 14.0f, 9.0f, 0.0f},
    {espyiPropKind_Bench, 11.25f, 13.0f, 0.25f},
    {espyiPropKind_Bench, 16.75f, 13.0f, 0.75f},
};

static const espyPlacement espyUpperProps[] = {
    // Bedroom
    {espyiPropKind_Bed, 2.0f, 1.5f, 0.0f},
    {espyiPropKind_Shelf, 0.45f, 6.0f, 0.25f},
    {espyiPropKind_Lamp, 3.4f, 0.6f, 0.0f},
    {espyiPropKind_Table, 6.2f, 2.0f, 0.25f},
    // Gallery
    {espyiPropKind_Sofa, 16.0f, 6.9f, 0.5f},
    {espyiPropKind_Vase, 19.3f, 0.8f, 0.0f},
    {espyiPropKind_Plant, 8.7f, 7.3f, 0.2f},
    {espyiPropKind_Table, 17.0f, 2.5f, 0.0f},
    {espyiPropKind_Chair, 17.0f, 3.5f, 0.5f},
    // Guest room
    {espyiPropKind_Bed, 26.0f, 1.5f, 0.0f},
    {espyiPropKind_Shelf, 27.5f, 6.0f, 0.75f},
    {espyiPropKind_Lamp, 24.6f, 0.6f, 0.0f},
    {espyiPropKind_Chair, 21.5f, 2.0f, 0.4f},
    // Dressing room
    {espyiPropKind_Shelf, 2.0f, 11.55f, 0.5f},
    {espyiPropKind_Shelf, 0.45f, 8.9f, 0.25f},
    {espyiPropKind_Vase, 7.4f, 11.4f, 0.0f},
    // Master bedroom
    {espyiPropKind_Bed, 6.4f, 15.0f, 0.75f},
    {espyiPropKind_Table, 1.0f, 13.0f, 0.25f},
    {espyiPropKind_Plant, 0.8f, 17.2f, 0.1f},
    {espyiPropKind_Lamp, 7.3f, 17.3f, 0.0f},
    // Painting room
    {espyiPropKind_Table, 24.0f, 11.0f, 0.05f},
    {espyiPropKind_Chair, 22.6f, 10.6f, 0.3f},
    {espyiPropKind_Vase, 27.2f, 8.8f, 0.0f},
    {espyiPropKind_Plant, 20.8f, 13.3f, 0.2f},
    // Studio
    {espyiPropKind_Shelf, 22.5f, 14.45f, 0.0f},
    {espyiPropKind_Sofa, 24.0f, 17.0f, 0.5f},
    {espyiPropKind_Lamp, 27.3f, 17.3f, 0.0f},
    // Terrace
    {espyiPropKind_Bench, 6.0f, 22.8f, 0.5f},
    {espyiPropKind_Plant, 9.5f, 20.0f, 0.0f},
    {espyiPropKind_Plant, 18.5f, 20.0f, 0.0f},
    {espyiPropKind_Table, 22.0f, 21.0f, 0.1f},
};

static void espySample_Props(espyiKit* kit, const espyiProp* props, const espyPlacement* list, uint32_t count, float y)
{
    uint32_t numbers[espyiPropKind_Count] = {0};
    char name[48];
    for (uint32_t p = 0; p < count; ++p)
    {
        const espyPlacement* at = &list[p];
        const espyiProp* prop = &props[at->kind];
        snprintf(name, sizeof name, "%s %s %u", y > 0.0f ? "Upper" : "Ground", prop->name, ++numbers[at->kind]);
        espyiKit_Place(kit, name, prop->mesh, espyiKit_AtTurned(at->x, y, at->z, at->turns, 1.0f),
                       prop->big ? ESPYI_KIT_BOTH : ESPYI_KIT_PROP);
    }
}

static void espySample_AreasAndCameras(espyiKit* kit)
{
    espyiKit_Area(kit, "Ground floor north", 0.0f, 0.0f, 0.0f, 28.0f, ESPY_CLEAR, 8.0f);
    espyiKit_Area(kit, "Ground floor west", 0.0f, 0.0f, 8.0f, 8.0f, ESPY_CLEAR, 18.0f);
    espyiKit_Area(kit, "Ground floor east", 20.0f, 0.0f, 8.0f, 28.0f, ESPY_CLEAR, 18.0f);
    espyiKit_Area(kit, "Ground floor south", 0.0f, 0.0f, 18.0f, 28.0f, ESPY_CLEAR, 24.0f);
    espyiKit_Area(kit, "Courtyard", 8.0f, 0.0f, 8.0f, 20.0f, ESPY_CLEAR, 18.0f);
    espyiKit_Area(kit, "Upper floor north", 0.0f, 4.0f, 0.0f, 28.0f, 4.0f + ESPY_CLEAR, 8.0f);
    espyiKit_Area(kit, "Upper floor west", 0.0f, 4.0f, 8.0f, 8.0f, 4.0f + ESPY_CLEAR, 18.0f);
    espyiKit_Area(kit, "Upper floor east", 20.0f, 4.0f, 8.0f, 28.0f, 4.0f + ESPY_CLEAR, 18.0f);
    espyiKit_Area(kit, "Terrace", 0.0f, 4.0f, 18.0f, 28.0f, 6.0f, 24.0f);
    espyiKit_Area(kit, "Garden north", -8.0f, 0.0f, -8.0f, 36.0f, 2.0f, 0.0f);
    espyiKit_Area(kit, "Garden south", -8.0f, 0.0f, 24.0f, 36.0f, 2.0f, 32.0f);
    espyiKit_Area(kit, "Garden west", -8.0f, 0.0f, 0.0f, 0.0f, 2.0f, 24.0f);
    espyiKit_Area(kit, "Garden east", 28.0f, 0.0f, 0.0f, 36.0f, 2.0f, 24.0f);
    espyiKit_Camera(kit, "Hall camera", (espyVec3){8.8f, 1.7f, 4.3f}, (espyVec3){19.0f, 1.25f, 5.2f});
    espyiKit_Camera(kit, "Courtyard camera", (espyVec3){18.5f, 1.7f, 14.0f}, (espyVec3){8.0f, 1.6f, 12.0f});
    espyiKit_Camera(kit, "Gallery camera", (espyVec3){19.0f, 5.7f, 6.0f}, (espyVec3){10.0f, 5.2f, 3.0f});
    espyiKit_Camera(kit, "Garden camera", (espyVec3){14.0f, 1.7f, 31.5f}, (espyVec3){14.0f, 2.5f, 18.0f});
}

espyResult espyScene_BuildSample(uint64_t seed, espyWorld** out)
{
    espyiKit kit;
    espyiKit_Begin(&kit, seed, 2.0f);
    espyiProp props[espyiPropKind_Count];
    for (uint32_t p = 0; p < espyiPropKind_Count; ++p)
    {
        bool wanted = p < espyiPropKind_IndoorCount || p == espyiPropKind_Bench || p == espyiPropKind_Broadleaf ||
                      p == espyiPropKind_Conifer;
        props[p] = wanted ? espyiProp_Make(&kit, (espyiPropKind)p) : (espyiProp){0};
    }
    espySample_Landscape(&kit, seed, &props[espyiPropKind_Broadleaf], &props[espyiPropKind_Conifer]);
    espySample_Slabs(&kit);
    espySample_Walls(&kit, espyGroundWalls, ESPYI_ARRAY_COUNT(espyGroundWalls), 0.0f);
    espySample_Walls(&kit, espyUpperWalls, ESPYI_ARRAY_COUNT(espyUpperWalls), ESPY_STOREY);
    espySample_Stairs(&kit);
    espySample_Furnishings(&kit);
    espySample_Joinery(&kit);
    espySample_Courtyard(&kit, &props[espyiPropKind_Broadleaf]);
    espySample_Props(&kit, props, espyGroundProps, ESPYI_ARRAY_COUNT(espyGroundProps), 0.0f);
    espySample_Props(&kit, props, espyUpperProps, ESPYI_ARRAY_COUNT(espyUpperProps), ESPY_STOREY);
    espySample_AreasAndCameras(&kit);
    return espyiKit_Finish(&kit, out);
}
