// SPDX-License-Identifier: MIT
// Furniture, street things and trees: a few boxes, stumps and balls each.
#include "scenes/scene_props.h"

#include <stdio.h>

// One restrained palette for every scene: wood, linen, slate, brass, leaf.
#define ESPY_WOOD 0xA9825Au
#define ESPY_DARK_WOOD 0x6E5038u
#define ESPY_LINEN 0xD9CFBEu
#define ESPY_SLATE 0x5C6670u
#define ESPY_BRASS 0xC29B52u
#define ESPY_TERRACOTTA 0xB5674Au
#define ESPY_TEAL 0x4F7F7Bu
#define ESPY_LEAF 0x6F9457u
#define ESPY_DARK_LEAF 0x4E7350u
#define ESPY_BARK 0x6B5444u
#define ESPY_STONE 0x9B978Eu
#define ESPY_GLASS 0x9FC3CCu

static void espyProp_Paint(espyiKit* kit, uint32_t color)
{
    espyiKit_Paint(kit, espyMaterialClass_Opaque, color);
}

/// A box around the vertical axis.
static void espyProp_Block(espyiKit* kit, float halfX, float bottom, float top, float halfZ)
{
    espyiKit_Box(kit, -halfX, bottom, -halfZ, halfX, top, halfZ);
}

/// The same box on the left and on the right, from the floor up.
static void espyProp_Sides(espyiKit* kit, float inner, float outer, float top, float halfZ)
{
    espyiKit_Box(kit, -outer, 0.0f, -halfZ, -inner, top, halfZ);
    espyiKit_Box(kit, inner, 0.0f, -halfZ, outer, top, halfZ);
}

/// Four legs or wheels from the floor up, each of this size, whose low corners are at these places.
static void espyProp_Four(espyiKit* kit, float x0, float x1, float z0, float z1, espyVec3 size)
{
    for (uint32_t i = 0; i < 4; ++i)
    {
        float x = (i & 1u) ? x1 : x0, z = (i & 2u) ? z1 : z0;
        espyiKit_Box(kit, x, 0.0f, z, x + size.x, size.y, z + size.z);
    }
}

static void espyProp_Crate(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_WOOD);
    espyProp_Block(kit, 0.375f, 0.0f, 0.75f, 0.375f);
    espyProp_Paint(kit, ESPY_DARK_WOOD);
    for (int32_t side = -1; side <= 1; side += 2)
    {
        float a = side < 0 ? -0.40625f : 0.34375f;
        espyiKit_Box(kit, a, 0.0f, -0.40625f, a + 0.0625f, 0.78125f, -0.34375f);
        espyiKit_Box(kit, a, 0.0f, 0.34375f, a + 0.0625f, 0.78125f, 0.40625f);
    }
}

static void espyProp_Barrel(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_DARK_WOOD);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.28f, 0.36f, 0.45f, 12);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.45f, 0.0f}, 0.36f, 0.28f, 0.45f, 12);
    espyProp_Paint(kit, ESPY_SLATE);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.40f, 0.0f}, 0.375f, 0.375f, 0.10f, 12);
}

static void espyProp_Table(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_WOOD);
    espyProp_Block(kit, 0.75f, 0.6875f, 0.75f, 0.4375f);
    espyProp_Paint(kit, ESPY_DARK_WOOD);
    espyProp_Four(kit, -0.6875f, 0.5625f, -0.375f, 0.25f, (espyVec3){0.125f, 0.6875f, 0.125f});
}

static void espyProp_Chair(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_DARK_WOOD);
    espyProp_Four(kit, -0.21875f, 0.15625f, -0.21875f, 0.15625f, (espyVec3){0.0625f, 0.4375f, 0.0625f});
    espyProp_Paint(kit, ESPY_TEAL);
    espyProp_Block(kit, 0.25f, 0.4375f, 0.5f, 0.25f);
    espyiKit_Box(kit, -0.25f, 0.5f, -0.25f, 0.25f, 0.9375f, -0.1875f);
}

static void espyProp_Shelf(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_DARK_WOOD);
    espyProp_Sides(kit, 0.5625f, 0.625f, 2.0f, 0.1875f);
    espyiKit_Box(kit, -0.5625f, 0.0f, -0.1875f, 0.5625f, 2.0f, -0.15625f);
    for (uint32_t board = 0; board < 5; ++board)
    {
        float y = 0.0625f + 0.46875f * (float)board;
        espyiKit_Box(kit, -0.5625f, y, -0.15625f, 0.5625f, y + 0.0625f, 0.1875f);
    }
    static const uint32_t books[4] = {ESPY_TERRACOTTA, ESPY_LINEN, ESPY_TEAL, ESPY_BRASS};
    for (uint32_t row = 0; row < 4; ++row)
    {
        float y = 0.125f + 0.46875f * (float)row;
        espyProp_Paint(kit, books[row]);
        espyiKit_Box(kit, -0.5f, y, -0.125f, 0.125f + 0.125f * (float)(row & 1u), y + 0.28125f, 0.125f);
    }
}

static void espyProp_Lamp(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_BRASS);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.18f, 0.14f, 0.05f, 12);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.05f, 0.0f}, 0.025f, 0.025f, 1.30f, 6);
    espyProp_Paint(kit, ESPY_LINEN);
    espyiKit_Stump(kit, (espyVec3){0.0f, 1.35f, 0.0f}, 0.24f, 0.15f, 0.35f, 12);
}

static void espyProp_Plant(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_TERRACOTTA);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.17f, 0.24f, 0.40f, 10);
    espyProp_Paint(kit, ESPY_LEAF);
    espyiKit_Ball(kit, (espyVec3){0.0f, 0.80f, 0.0f}, (espyVec3){0.38f, 0.48f, 0.38f}, 5, 9);
}

static void espyProp_Sofa(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_TEAL);
    espyProp_Block(kit, 1.0f, 0.125f, 0.4375f, 0.4375f);
    espyiKit_Box(kit, -1.0f, 0.4375f, -0.4375f, 1.0f, 0.875f, -0.1875f);
    espyProp_Paint(kit, ESPY_SLATE);
    espyProp_Sides(kit, 1.0f, 1.1875f, 0.625f, 0.4375f);
}

static void espyProp_Bed(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_DARK_WOOD);
    espyProp_Block(kit, 0.75f, 0.0f, 0.25f, 1.0f);
    espyiKit_Box(kit, -0.75f, 0.25f, -1.0f, 0.75f, 1.0f, -0.9375f);
    espyProp_Paint(kit, ESPY_LINEN);
    espyProp_Block(kit, 0.6875f, 0.25f, 0.5f, 0.9375f);
    espyProp_Paint(kit, ESPY_TERRACOTTA);
    espyiKit_Box(kit, -0.71875f, 0.28125f, -0.125f, 0.71875f, 0.53125f, 0.96875f);
}

static void espyProp_Vase(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_BRASS);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.10f, 0.20f, 0.25f, 10);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.25f, 0.0f}, 0.20f, 0.08f, 0.22f, 10);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.47f, 0.0f}, 0.08f, 0.12f, 0.08f, 10);
}

static void espyProp_Car(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_TERRACOTTA);
    espyProp_Block(kit, 2.0f, 0.3125f, 0.875f, 0.875f);
    espyProp_Paint(kit, ESPY_GLASS);
    espyiKit_Box(kit, -1.25f, 0.875f, -0.75f, 1.0f, 1.375f, 0.75f);
    espyProp_Paint(kit, ESPY_SLATE);
    espyProp_Four(kit, -1.5625f, 0.9375f, -0.90625f, 0.6875f, (espyVec3){0.625f, 0.5f, 0.21875f});
}

static void espyProp_StreetLamp(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_SLATE);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.14f, 0.10f, 0.5f, 8);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.5f, 0.0f}, 0.06f, 0.05f, 4.0f, 8);
    espyProp_Paint(kit, ESPY_LINEN);
    espyiKit_Stump(kit, (espyVec3){0.0f, 4.5f, 0.0f}, 0.12f, 0.28f, 0.4f, 8);
}

static void espyProp_Bench(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_WOOD);
    espyProp_Block(kit, 0.875f, 0.4375f, 0.5f, 0.25f);
    espyiKit_Box(kit, -0.875f, 0.5f, -0.25f, 0.875f, 0.9375f, -0.1875f);
    espyProp_Paint(kit, ESPY_SLATE);
    espyProp_Sides(kit, 0.625f, 0.75f, 0.4375f, 0.1875f);
}

static void espyProp_Kiosk(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_TEAL);
    espyProp_Block(kit, 0.8125f, 0.0f, 2.25f, 0.8125f);
    espyProp_Paint(kit, ESPY_LINEN);
    espyProp_Block(kit, 1.0f, 2.25f, 2.4375f, 1.0f);
}

static void espyProp_Bin(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_SLATE);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.25f, 0.30f, 0.85f, 10);
    espyProp_Paint(kit, ESPY_BRASS);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.85f, 0.0f}, 0.32f, 0.22f, 0.12f, 10);
}

static void espyProp_StreetTree(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_BARK);
    espyiKit_Stump(kit, (espyVec3){0.0f, 0.0f, 0.0f}, 0.14f, 0.10f, 1.6f, 7);
    espyProp_Paint(kit, ESPY_LEAF);
    espyiKit_Ball(kit, (espyVec3){0.0f, 2.7f, 0.0f}, (espyVec3){1.0f, 1.4f, 1.0f}, 5, 9);
}

static void espyProp_Broadleaf(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_BARK);
    espyiKit_Stump(kit, (espyVec3){0.0f, -0.4f, 0.0f}, 0.30f, 0.18f, 3.2f, 7);
    espyProp_Paint(kit, ESPY_LEAF);
    espyiKit_Ball(kit, (espyVec3){0.0f, 4.6f, 0.0f}, (espyVec3){2.0f, 2.3f, 2.0f}, 5, 9);
    espyProp_Paint(kit, ESPY_DARK_LEAF);
    espyiKit_Ball(kit, (espyVec3){0.9f, 3.9f, 0.5f}, (espyVec3){1.3f, 1.3f, 1.3f}, 4, 8);
}

static void espyProp_Conifer(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_BARK);
    espyiKit_Stump(kit, (espyVec3){0.0f, -0.4f, 0.0f}, 0.26f, 0.16f, 1.9f, 7);
    espyProp_Paint(kit, ESPY_DARK_LEAF);
    espyiKit_Stump(kit, (espyVec3){0.0f, 1.3f, 0.0f}, 1.7f, 0.5f, 2.2f, 9);
    espyiKit_Stump(kit, (espyVec3){0.0f, 2.9f, 0.0f}, 1.3f, 0.35f, 2.0f, 9);
    espyiKit_Stump(kit, (espyVec3){0.0f, 4.4f, 0.0f}, 0.9f, 0.0f, 2.3f, 9);
}

static void espyProp_Rock(espyiKit* kit)
{
    espyProp_Paint(kit, ESPY_STONE);
    espyiKit_Ball(kit, (espyVec3){0.0f, 0.45f, 0.0f}, (espyVec3){1.2f, 0.85f, 0.95f}, 5, 8);
}

espyiProp espyiProp_Make(espyiKit* kit, espyiPropKind kind)
{
    static const struct
    {
        const char* name;
        float radius;
        bool big;
        void (*make)(espyiKit*);
    } table[espyiPropKind_Count] = {
        [espyiPropKind_Crate] = {"Crate", 0.58f, true, espyProp_Crate},
        [espyiPropKind_Barrel] = {"Barrel", 0.38f, false, espyProp_Barrel},
        [espyiPropKind_Table] = {"Table", 0.87f, false, espyProp_Table},
        [espyiPropKind_Chair] = {"Chair", 0.36f, false, espyProp_Chair},
        [espyiPropKind_Shelf] = {"Shelf", 0.66f, true, espyProp_Shelf},
        [espyiPropKind_Lamp] = {"Lamp", 0.24f, false, espyProp_Lamp},
        [espyiPropKind_Plant] = {"Plant", 0.38f, false, espyProp_Plant},
        [espyiPropKind_Sofa] = {"Sofa", 1.27f, false, espyProp_Sofa},
        [espyiPropKind_Bed] = {"Bed", 1.25f, true, espyProp_Bed},
        [espyiPropKind_Vase] = {"Vase", 0.20f, false, espyProp_Vase},
        [espyiPropKind_Car] = {"Car", 2.20f, false, espyProp_Car},
        [espyiPropKind_StreetLamp] = {"Street lamp", 0.28f, false, espyProp_StreetLamp},
        [espyiPropKind_Bench] = {"Bench", 0.91f, false, espyProp_Bench},
        [espyiPropKind_Kiosk] = {"Kiosk", 1.42f, true, espyProp_Kiosk},
        [espyiPropKind_Bin] = {"Bin", 0.32f, false, espyProp_Bin},
        [espyiPropKind_StreetTree] = {"Street tree", 1.0f, false, espyProp_StreetTree},
        [espyiPropKind_Broadleaf] = {"Broadleaf", 2.2f, false, espyProp_Broadleaf},
        [espyiPropKind_Conifer] = {"Conifer", 1.7f, false, espyProp_Conifer},
        [espyiPropKind_Rock] = {"Rock", 1.2f, true, espyProp_Rock},
    };
    table[kind].make(kit);
    return (espyiProp){table[kind].name, espyiKit_EndMesh(kit, table[kind].name), table[kind].radius, table[kind].big};
}

void espyiProps_Scatter(espyiKit* kit, const espyiProp* props, uint32_t count, espyiFloor floor, bool bigOcclude,
                        const char* label)
{
    struct
    {
        float x, z, radius;
    } taken[ESPYI_MAX_SCATTER];
    char name[64];
    for (uint32_t p = 0; p < count && p < ESPYI_MAX_SCATTER; ++p)
    {
        const espyiProp* prop = &props[espyiKit_Below(kit, espyiPropKind_IndoorCount)];
        float margin = prop->radius + 0.25f, x = 0.0f, z = 0.0f;
        // Forty tries nearly always find room; where they do not, the last one may touch another prop.
        for (uint32_t attempt = 0; attempt < 40; ++attempt)
        {
            x = espyiKit_Range(kit, floor.x0 + margin, floor.x1 - margin);
            z = espyiKit_Range(kit, floor.z0 + margin, floor.z1 - margin);
            bool clear = true;
            for (uint32_t q = 0; q < p; ++q)
            {
                float dx = x - taken[q].x, dz = z - taken[q].z, reach = prop->radius + taken[q].radius;
                clear = clear && dx * dx + dz * dz > reach * reach;
            }
            if (clear)
            {
                break;
            }
        }
        taken[p].x = x;
        taken[p].z = z;
        taken[p].radius = prop->radius;
        snprintf(name, sizeof name, "%s %s %u", prop->name, label, p);
        espyMat4 at = espyiKit_AtTurned(x, floor.y, z, espyiKit_Range(kit, 0.0f, 1.0f), 1.0f);
        espyiKit_Place(kit, name, prop->mesh, at, bigOcclude && prop->big ? ESPYI_KIT_BOTH : ESPYI_KIT_PROP);
    }
}
