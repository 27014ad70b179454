// SPDX-License-Identifier: MIT
// A castle on a hill: a curtain wall with round towers, gates and stairs around a ward with houses, and a keep inside a
// wall of its own. Made for the rasteriser: many small triangles in front of, behind and inside large ones.
#include "scenes/scene_props.h"

#include <stdio.h>

#define ESPY_WALL_LENGTH 24.0f ///< From tower to tower.
#define ESPY_WALL_HEIGHT 9.0f
#define ESPY_WALL_DEPTH 2.5f
#define ESPY_GATE_WIDTH 4.0f
#define ESPY_GATE_HEIGHT 5.0f
#define ESPY_TOWER_RADIUS 4.0f
#define ESPY_TOWER_HEIGHT 15.0f
#define ESPY_STONE 0x9A938Au
#define ESPY_STONE_DARK 0x7C766Fu
#define ESPY_ROOF 0x7A3B2Eu
#define ESPY_WOOD 0x6B4A2Fu
#define ESPY_GRASS 0x6F8A4Au

/// Ground around the castle: flat under it, hills farther out.
static float espyCastle_Height(uint64_t seed, float half, float x, float z)
{
    float ax = x < 0.0f ? -x : x, az = z < 0.0f ? -z : z;
    float out = (ax > az ? ax : az) - half - 8.0f;
    if (out <= 0.0f)
    {
        return 0.0f;
    }
    float rise = out * (1.0f / 40.0f);
    rise = rise < 1.0f ? rise * rise : 1.0f;
    return rise * (espyiKit_Noise(seed, x * 0.02f, z * 0.02f) * 26.0f - 9.0f);
}

static void espyCastle_Ground(espyiKit* kit, uint64_t seed, float half)
{
    float side = 2.0f * (half + 72.0f);
    uint32_t cells = 64, first = 0;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_GRASS);
    for (uint32_t j = 0; j <= cells; ++j)
    {
        for (uint32_t i = 0; i <= cells; ++i)
        {
            float x = side * ((float)i / (float)cells - 0.5f), z = side * ((float)j / (float)cells - 0.5f);
            uint32_t v = espyiKit_Vertex(kit, (espyVec3){x, espyCastle_Height(seed, half, x, z), z});
            first = i + j == 0 ? v : first;
        }
    }
    for (uint32_t j = 0; j < cells; ++j)
    {
        for (uint32_t i = 0; i < cells; ++i)
        {
            uint32_t a = first + j * (cells + 1) + i, b = a + 1, c = a + cells + 1, d = c + 1;
            espyiKit_Triangle(kit, a, c, b);
            espyiKit_Triangle(kit, b, c, d);
        }
    }
    espyiKit_PlaceTerrain(kit, "Terrain", espyiKit_EndMesh(kit, "Terrain"), ESPYI_KIT_SHELL);
}

/// Teeth of a straight wall along x on both edges of its top.
static void espyCastle_Crenels(espyiKit* kit, float x0, float x1, float y, float z0, float z1)
{
    uint32_t count = (uint32_t)((x1 - x0) / 1.5f);
    float step = (x1 - x0) / (float)count;
    for (uint32_t i = 0; i < count; ++i)
    {
        float x = x0 + step * (float)i;
        espyiKit_Box(kit, x, y, z0, x + step * 0.5f, y + 1.0f, z0 + 0.5f);
        espyiKit_Box(kit, x, y, z1 - 0.5f, x + step * 0.5f, y + 1.0f, z1);
    }
}

/// A piece of curtain wall along x with its middle at the origin; with a gate it has an opening on the ground.
static espyMeshId espyCastle_Wall(espyiKit* kit, const char* name, float length, float height, bool gate)
{
    float half = length * 0.5f, inner = ESPY_WALL_DEPTH * 0.5f;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE);
    if (gate)
    {
        float side = ESPY_GATE_WIDTH * 0.5f;
        espyiKit_Box(kit, -half, -0.5f, -inner, -side, height, inner);
        espyiKit_Box(kit, side, -0.5f, -inner, half, height, inner);
        espyiKit_Box(kit, -side, ESPY_GATE_HEIGHT, -inner, side, height, inner);
    }
    else
    {
        espyiKit_Box(kit, -half, -0.5f, -inner, half, height, inner);
    }
    // Buttresses, and a course of stone under the walk.
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE_DARK);
    espyiKit_Box(kit, -half, height - 0.75f, -inner - 0.25f, half, height - 0.25f, -inner);
    for (uint32_t i = 0; i < 6; ++i)
    {
        float x = -half + length * ((float)i + 0.5f) / 6.0f;
        if (!gate || x < -ESPY_GATE_WIDTH || x > ESPY_GATE_WIDTH)
        {
            espyiKit_Box(kit, x - 0.5f, -0.5f, -inner - 0.75f, x + 0.5f, height - 2.0f, -inner);
        }
    }
    espyCastle_Crenels(kit, -half, half, height, -inner, inner);
    return espyiKit_EndMesh(kit, name);
}

/// A round tower of courses of stone with teeth, slits framed by sills, and a roof on some.
static espyMeshId espyCastle_Tower(espyiKit* kit, const char* name, float radius, float height, bool roof)
{
    const uint32_t sides = 16;
    uint32_t courses = (uint32_t)(height / 2.5f);
    float step = height / (float)courses;
    for (uint32_t i = 0; i < courses; ++i)
    {
        espyiKit_Paint(kit, espyMaterialClass_Opaque, (i & 1u) ? ESPY_STONE_DARK : ESPY_STONE);
        float wider = radius * (1.0f + 0.02f * (float)(courses - i));
        espyiKit_Stump(kit, (espyVec3){0.0f, step * (float)i - (i == 0 ? 0.5f : 0.0f), 0.0f}, wider, wider - 0.05f,
                       step + (i == 0 ? 0.5f : 0.0f), sides);
    }
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE);
    espyiKit_Stump(kit, (espyVec3){0.0f, height, 0.0f}, radius + 0.6f, radius + 0.8f, 0.8f, sides);
    for (uint32_t i = 0; i < 12; ++i)
    {
        float c, s;
        espyiKit_Turn((float)i / 12.0f, &c, &s);
        float x = (radius + 0.45f) * c, z = (radius + 0.45f) * s;
        espyiKit_Box(kit, x - 0.35f, height + 0.8f, z - 0.35f, x + 0.35f, height + 1.9f, z + 0.35f);
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        float c, s;
        espyiKit_Turn((float)i / 8.0f + 0.03f, &c, &s);
        float x = radius * 1.08f * c, z = radius * 1.08f * s, y = height * (0.3f + 0.12f * (float)(i % 4u));
        espyiKit_Box(kit, x - 0.4f, y, z - 0.4f, x + 0.4f, y + 0.2f, z + 0.4f);
        espyiKit_Box(kit, x - 0.4f, y + 1.6f, z - 0.4f, x + 0.4f, y + 1.8f, z + 0.4f);
    }
    if (roof)
    {
        espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_ROOF);
        espyiKit_Stump(kit, (espyVec3){0.0f, height + 0.8f, 0.0f}, radius - 0.2f, 0.0f, radius * 1.6f, sides);
    }
    return espyiKit_EndMesh(kit, name);
}

/// Stairs along x up to a wall walk, solid below.
static espyMeshId espyCastle_Stairs(espyiKit* kit)
{
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE_DARK);
    const uint32_t steps = 36;
    for (uint32_t i = 0; i < steps; ++i)
    {
        float x = 0.3f * (float)i;
        espyiKit_Box(kit, x, -0.25f, 0.0f, x + 0.3f, ESPY_WALL_HEIGHT * (float)(i + 1) / (float)steps, 1.5f);
    }
    return espyiKit_EndMesh(kit, "Stairs");
}

/// A house: walls, a saddle roof, beams, a door and windows that stand out a little.
static espyMeshId espyCastle_House(espyiKit* kit, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "House %u", number);
    float hx = espyiKit_Step(kit, 3.0f, 4.5f, 0.25f), hz = espyiKit_Step(kit, 2.5f, 3.5f, 0.25f);
    float height = espyiKit_Step(kit, 3.0f, 6.0f, 0.5f), ridge = height + hz;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, 0xCBBFA4u);
    espyiKit_Box(kit, -hx, -0.25f, -hz, hx, height, hz);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_ROOF);
    espyVec3 a = {-hx - 0.4f, height - 0.4f, -hz - 0.4f}, b = {hx + 0.4f, height - 0.4f, -hz - 0.4f};
    espyVec3 c = {hx + 0.4f, height - 0.4f, hz + 0.4f}, d = {-hx - 0.4f, height - 0.4f, hz + 0.4f};
    espyVec3 e = {-hx - 0.4f, ridge, 0.0f}, f = {hx + 0.4f, ridge, 0.0f};
    uint32_t v[6];
    const espyVec3 corners[6] = {a, b, c, d, e, f};
    for (uint32_t i = 0; i < 6; ++i)
    {
        v[i] = espyiKit_Vertex(kit, corners[i]);
    }
    const uint8_t faces[8][3] = {{1, 0, 4}, {1, 4, 5}, {3, 2, 5}, {3, 5, 4},
                                 {0, 3, 4}, {2, 1, 5}, {0, 1, 2}, {0, 2, 3}};
    for (uint32_t i = 0; i < 8; ++i)
    {
        espyiKit_Triangle(kit, v[faces[i][0]], v[faces[i][1]], v[faces[i][2]]);
    }
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_WOOD);
    for (uint32_t i = 0; i < 5; ++i)
    {
        float x = -hx + 2.0f * hx * (float)i / 4.0f;
        espyiKit_Box(kit, x - 0.12f, -0.25f, -hz - 0.1f, x + 0.12f, height, -hz);
        espyiKit_Box(kit, x - 0.12f, -0.25f, hz, x + 0.12f, height, hz + 0.1f);
    }
    espyiKit_Box(kit, -0.5f, -0.25f, hz, 0.5f, 2.1f, hz + 0.15f);
    for (uint32_t i = 0; i < 4; ++i)
    {
        float x = -hx + 2.0f * hx * ((float)i + 0.5f) / 4.0f;
        espyiKit_Box(kit, x - 0.35f, 1.2f, -hz - 0.08f, x + 0.35f, 2.2f, -hz);
    }
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE_DARK);
    espyiKit_Box(kit, hx * 0.5f, height, -0.4f, hx * 0.5f + 0.8f, ridge + 1.2f, 0.4f);
    return espyiKit_EndMesh(kit, name);
}

/// The keep: a square tower with corner turrets, windows and a walk of teeth.
static void espyCastle_Keep(espyiKit* kit, espyMeshId turret)
{
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE);
    espyiKit_Box(kit, -9.0f, -0.5f, -9.0f, 9.0f, 22.0f, 9.0f);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE_DARK);
    espyiKit_Box(kit, -9.4f, 20.5f, -9.4f, 9.4f, 21.0f, 9.4f);
    for (uint32_t storey = 0; storey < 4; ++storey)
    {
        for (uint32_t i = 0; i < 5; ++i)
        {
            float along = -7.0f + 3.5f * (float)i, y = 3.0f + 4.5f * (float)storey;
            espyiKit_Box(kit, along - 0.5f, y, -9.25f, along + 0.5f, y + 1.8f, -9.0f);
            espyiKit_Box(kit, along - 0.5f, y, 9.0f, along + 0.5f, y + 1.8f, 9.25f);
            espyiKit_Box(kit, -9.25f, y, along - 0.5f, -9.0f, y + 1.8f, along + 0.5f);
            espyiKit_Box(kit, 9.0f, y, along - 0.5f, 9.25f, y + 1.8f, along + 0.5f);
        }
    }
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_STONE);
    espyCastle_Crenels(kit, -9.0f, 9.0f, 22.0f, -9.0f, -8.0f);
    espyCastle_Crenels(kit, -9.0f, 9.0f, 22.0f, 8.0f, 9.0f);
    espyiKit_Place(kit, "Keep", espyiKit_EndMesh(kit, "Keep"), espyMat4_Identity(), ESPYI_KIT_BOTH);
    char name[32];
    for (uint32_t i = 0; i < 4; ++i)
    {
        snprintf(name, sizeof name, "Turret %u", i);
        espyiKit_Place(kit, name, turret, espyiKit_At((i & 1u) ? 9.0f : -9.0f, 0.0f, (i & 2u) ? 9.0f : -9.0f),
                       ESPYI_KIT_BOTH);
    }
}

/// A square of walls and towers, `count` walls a side, around the origin. The south side has the gate in its middle.
static void espyCastle_Ring(espyiKit* kit, const char* label, uint32_t count, float length, espyMeshId wall,
                            espyMeshId gate, espyMeshId tower, espyMeshId roofed)
{
    float half = length * (float)count * 0.5f;
    char name[48];
    for (uint32_t side = 0; side < 4; ++side)
    {
        float c, s;
        espyiKit_Turn((float)side * 0.25f, &c, &s);
        for (uint32_t i = 0; i < count; ++i)
        {
            float along = -half + length * ((float)i + 0.5f), corner = -half + length * (float)i;
            bool isGate = side == 0 && i == count / 2u;
            // Outside is -z of the piece: the side turns with it.
            snprintf(name, sizeof name, "%s wall %u %u", label, side, i);
            espyMat4 at =
                espyiKit_AtTurned(c * along - s * half, 0.0f, -s * along - c * half, (float)side * 0.25f, 1.0f);
            espyiKit_Place(kit, name, isGate ? gate : wall, at, ESPYI_KIT_BOTH);
            snprintf(name, sizeof name, "%s tower %u %u", label, side, i);
            at = espyiKit_At(c * corner - s * half, 0.0f, -s * corner - c * half);
            espyiKit_Place(kit, name, (side + i) % 2u ? roofed : tower, at, ESPYI_KIT_BOTH);
        }
    }
}

static void espyCastle_Ward(espyiKit* kit, float inner, float outer)
{
    static const espyiPropKind kinds[6] = {espyiPropKind_Crate, espyiPropKind_Barrel,    espyiPropKind_Bench,
                                           espyiPropKind_Rock,  espyiPropKind_Broadleaf, espyiPropKind_Conifer};
    espyiProp props[6];
    for (uint32_t p = 0; p < 6; ++p)
    {
        props[p] = espyiProp_Make(kit, kinds[p]);
    }
    espyMeshId houses[5];
    for (uint32_t h = 0; h < 5; ++h)
    {
        houses[h] = espyCastle_House(kit, h);
    }
    char name[48];
    uint32_t rows = (uint32_t)((outer - inner) / 12.0f) + 1u, number = 0;
    for (uint32_t ring = 0; ring < rows; ++ring)
    {
        float at = inner + 7.0f + 11.0f * (float)ring;
        uint32_t along = (uint32_t)(2.0f * at / 12.0f);
        for (uint32_t side = 0; side < 4 && at < outer - 8.0f; ++side)
        {
            float c, s;
            espyiKit_Turn((float)side * 0.25f, &c, &s);
            for (uint32_t i = 0; i < along; ++i, ++number)
            {
                float x = -at + 12.0f * ((float)i + 0.5f);
                uint32_t house = espyiKit_Below(kit, 5), left = espyiKit_Below(kit, 6), right = espyiKit_Below(kit, 6);
                // The way from gate to gate stays open.
                if (side == 0 && x > -8.0f && x < 8.0f)
                {
                    continue;
                }
                snprintf(name, sizeof name, "House %u", number);
                espyiKit_Place(kit, name, houses[house],
                               espyiKit_AtTurned(c * x - s * at, 0.0f, -s * x - c * at, (float)side * 0.25f, 1.0f),
                               ESPYI_KIT_BOTH);
                for (uint32_t p = 0; p < 2; ++p)
                {
                    float px = x + (p ? 5.2f : -5.2f), pz = at + 4.5f;
                    const espyiProp* prop = &props[p ? right : left];
                    snprintf(name, sizeof name, "%s %u %u", prop->name, number, p);
                    espyiKit_Place(kit, name, prop->mesh, espyiKit_At(c * px - s * pz, 0.0f, -s * px - c * pz),
                                   ESPYI_KIT_PROP);
                }
            }
        }
    }
}

espyResult espyScene_BuildCastle(uint32_t size, uint64_t seed, espyWorld** out)
{
    *out = NULL;
    if (size > ESPY_SCENE_MAX_SIZE)
    {
        return espyResult_InvalidArgument;
    }
    uint32_t n = size == 0 ? espyScene_GetFullSize(espySceneKind_Castle) : size;
    n = n < 3 ? 3 : n;
    float half = ESPY_WALL_LENGTH * (float)n * 0.5f;
    espyiKit kit;
    espyiKit_Begin(&kit, seed, 4.0f);
    espyCastle_Ground(&kit, seed, half);
    espyMeshId wall = espyCastle_Wall(&kit, "Wall", ESPY_WALL_LENGTH, ESPY_WALL_HEIGHT, false);
    espyMeshId gate = espyCastle_Wall(&kit, "Gate", ESPY_WALL_LENGTH, ESPY_WALL_HEIGHT, true);
    espyMeshId tower = espyCastle_Tower(&kit, "Tower", ESPY_TOWER_RADIUS, ESPY_TOWER_HEIGHT, false);
    espyMeshId roofed = espyCastle_Tower(&kit, "Roofed tower", ESPY_TOWER_RADIUS, ESPY_TOWER_HEIGHT, true);
    espyCastle_Ring(&kit, "Outer", n, ESPY_WALL_LENGTH, wall, gate, tower, roofed);
    espyMeshId innerWall = espyCastle_Wall(&kit, "Inner wall", 16.0f, ESPY_WALL_HEIGHT + 2.0f, false);
    espyMeshId innerGate = espyCastle_Wall(&kit, "Inner gate", 16.0f, ESPY_WALL_HEIGHT + 2.0f, true);
    espyMeshId innerTower = espyCastle_Tower(&kit, "Inner tower", 2.75f, ESPY_TOWER_HEIGHT + 3.0f, false);
    espyCastle_Ring(&kit, "Inner", 3, 16.0f, innerWall, innerGate, innerTower, innerTower);
    espyCastle_Keep(&kit, espyCastle_Tower(&kit, "Turret", 2.0f, 25.0f, true));
    espyMeshId stairs = espyCastle_Stairs(&kit);
    char name[48];
    for (uint32_t side = 0; side < 4; ++side)
    {
        float c, s;
        espyiKit_Turn((float)side * 0.25f, &c, &s);
        // One beside the gate, two at the other walls.
        for (uint32_t i = 0; i < (side == 0 ? 1u : 2u); ++i)
        {
            float x = i ? 6.0f : -16.0f, z = half - ESPY_WALL_DEPTH * 0.5f - 1.5f;
            snprintf(name, sizeof name, "Stairs %u %u", side, i);
            espyMat4 at = espyiKit_AtTurned(c * x - s * z, 0.0f, -s * x - c * z, (float)side * 0.25f, 1.0f);
            espyiKit_Place(&kit, name, stairs, at, ESPYI_KIT_BOTH);
        }
    }
    espyCastle_Ward(&kit, 24.0f + 4.0f, half);
    espyiKit_Area(&kit, "Ward", -half, 0.0f, -half, half, 12.0f, half);
    espyiKit_Camera(&kit, "Camera", (espyVec3){half + 30.0f, 14.0f, -half - 34.0f}, (espyVec3){0.0f, 6.0f, 0.0f});
    return espyiKit_Finish(&kit, out);
}
