// SPDX-License-Identifier: MIT
// A tower of equal storeys: slabs with a stair hole, window walls, four rooms and a stair hall a storey.
//
//        x 0   3          9.5         16
//   z  0  +---+-----------+-----------+
//         | s |  room 0   |  room 1   |     s: stairs, climbing from z 1 to z 5 under the hole of the slab above
//      8  | h +-----------+-----------+
//         |   |  room 2   |  room 3   |
//     16  +---+-----------+-----------+
#include "scenes/scene_props.h"

#include <stdio.h>

#define ESPY_SIDE 16.0f
#define ESPY_STOREY 4.0f
#define ESPY_CLEAR 3.75f ///< Height between slabs.
#define ESPY_WALL 0.25f
#define ESPY_DOOR_HEIGHT 2.125f

#define ESPY_FACADE 0xCFC4B2u
#define ESPY_CONCRETE 0xA9A7A1u
#define ESPY_PLASTER 0xDAD6CCu

typedef struct espyTowerMeshes
{
    espyMeshId facadeX, facadeZ, slab, closedSlab, stairs;
} espyTowerMeshes;

/// A wall piece in the frame (along, up, across); alongX says which axis "along" is.
static void espyTower_Piece(espyiKit* kit, bool alongX, float a0, float a1, float y0, float y1)
{
    if (alongX)
    {
        espyiKit_Box(kit, a0, y0, 0.0f, a1, y1, ESPY_WALL);
    }
    else
    {
        espyiKit_Box(kit, 0.0f, y0, a0, ESPY_WALL, y1, a1);
    }
}

/// A front with four windows of 2 m: five piers over the full height, a sill and a lintel between each two.
static espyMeshId espyTower_Facade(espyiKit* kit, bool alongX)
{
    float overhang = alongX ? 0.0f : ESPY_WALL;
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_FACADE);
    for (uint32_t pier = 0; pier < 5; ++pier)
    {
        float a0 = pier == 0 ? -overhang : 4.0f * (float)pier - 1.0f;
        float a1 = pier == 4 ? ESPY_SIDE + overhang : 4.0f * (float)pier + 1.0f;
        espyTower_Piece(kit, alongX, a0, a1, 0.0f, ESPY_CLEAR);
        if (pier < 4)
        {
            espyTower_Piece(kit, alongX, a1, a1 + 2.0f, 0.0f, 1.0f);
            espyTower_Piece(kit, alongX, a1, a1 + 2.0f, 2.5f, ESPY_CLEAR);
        }
    }
    return espyiKit_EndMesh(kit, alongX ? "Facade x" : "Facade z");
}

static void espyTower_MakeMeshes(espyiKit* kit, espyTowerMeshes* meshes)
{
    float low = -ESPY_WALL, high = ESPY_SIDE + ESPY_WALL;
    meshes->facadeX = espyTower_Facade(kit, true);
    meshes->facadeZ = espyTower_Facade(kit, false);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_CONCRETE);
    espyiKit_Box(kit, low, -ESPY_WALL, low, high, 0.0f, 1.0f);
    espyiKit_Box(kit, low, -ESPY_WALL, 5.0f, high, 0.0f, high);
    espyiKit_Box(kit, low, -ESPY_WALL, 1.0f, 0.5f, 0.0f, 5.0f);
    espyiKit_Box(kit, 2.0f, -ESPY_WALL, 1.0f, high, 0.0f, 5.0f);
    meshes->slab = espyiKit_EndMesh(kit, "Slab");
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_CONCRETE);
    espyiKit_Box(kit, low, -ESPY_WALL, low, high, 0.0f, high);
    meshes->closedSlab = espyiKit_EndMesh(kit, "Closed slab");
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_CONCRETE);
    for (uint32_t step = 0; step < 16; ++step)
    {
        float y = 0.25f * (float)step, z = 1.0f + 0.25f * (float)step;
        espyiKit_Box(kit, 0.5f, y, z, 2.0f, y + 0.25f, z + 0.25f);
    }
    meshes->stairs = espyiKit_EndMesh(kit, "Stairs");
}

/// A partition from `from` to `to` with a door 1 m wide somewhere in it.
static void espyTower_Partition(espyiKit* kit, const char* name, bool alongX, float from, float to, espyMat4 at)
{
    float door = espyiKit_Step(kit, from + 0.5f, to - 1.5f, 0.25f);
    espyiKit_Paint(kit, espyMaterialClass_Opaque, ESPY_PLASTER);
    espyTower_Piece(kit, alongX, from, door, 0.0f, ESPY_CLEAR);
    espyTower_Piece(kit, alongX, door + 1.0f, to, 0.0f, ESPY_CLEAR);
    espyTower_Piece(kit, alongX, door, door + 1.0f, ESPY_DOOR_HEIGHT, ESPY_CLEAR);
    espyiKit_Place(kit, name, espyiKit_EndMesh(kit, name), at, ESPYI_KIT_BOTH);
}

static void espyTower_Storey(espyiKit* kit, const espyTowerMeshes* meshes, const espyiProp* props, uint32_t storey,
                             bool top)
{
    float y = ESPY_STOREY * (float)storey;
    char name[48];
    snprintf(name, sizeof name, "Slab %u", storey);
    espyiKit_Place(kit, name, storey == 0 ? meshes->closedSlab : meshes->slab, espyiKit_At(0.0f, y, 0.0f),
                   ESPYI_KIT_SHELL);
    static const struct
    {
        const char* name;
        bool alongX;
        float x, z;
    } fronts[4] = {{"North front", true, 0.0f, -ESPY_WALL},
                   {"South front", true, 0.0f, ESPY_SIDE},
                   {"West front", false, -ESPY_WALL, 0.0f},
                   {"East front", false, ESPY_SIDE, 0.0f}};
    for (uint32_t f = 0; f < 4; ++f)
    {
        snprintf(name, sizeof name, "%s %u", fronts[f].name, storey);
        espyiKit_Place(kit, name, fronts[f].alongX ? meshes->facadeX : meshes->facadeZ,
                       espyiKit_At(fronts[f].x, y, fronts[f].z), ESPYI_KIT_SHELL);
    }
    if (!top)
    {
        snprintf(name, sizeof name, "Stairs %u", storey);
        espyiKit_Place(kit, name, meshes->stairs, espyiKit_At(0.0f, y, 0.0f), ESPYI_KIT_BOTH);
    }
    static const struct
    {
        const char* name;
        bool alongX;
        float from, to, x, z;
    } partitions[5] = {{"Hall wall north", false, 0.0f, 8.0f, 3.0f, 0.0f},
                       {"Hall wall south", false, 8.0f, 16.0f, 3.0f, 0.0f},
                       {"Cross wall", true, 3.25f, 16.0f, 0.0f, 8.0f},
                       {"Room wall north", false, 0.0f, 8.0f, 9.5f, 0.0f},
                       {"Room wall south", false, 8.25f, 16.0f, 9.5f, 0.0f}};
    for (uint32_t p = 0; p < ESPYI_ARRAY_COUNT(partitions); ++p)
    {
        snprintf(name, sizeof name, "%s %u", partitions[p].name, storey);
        espyTower_Partition(kit, name, partitions[p].alongX, partitions[p].from, partitions[p].to,
                            espyiKit_At(partitions[p].x, y, partitions[p].z));
    }
    for (uint32_t room = 0; room < 4; ++room)
    {
        float x0 = (room & 1u) ? 9.75f : 3.25f, z0 = (room & 2u) ? 8.25f : 0.0f;
        float x1 = (room & 1u) ? 16.0f : 9.5f, z1 = (room & 2u) ? 16.0f : 8.0f;
        char label[32];
        snprintf(label, sizeof label, "%u %u", storey, room);
        espyiProps_Scatter(kit, props, 5, (espyiFloor){x0, z0, x1, z1, y}, true, label);
    }
    snprintf(name, sizeof name, "Storey %u", storey);
    espyiKit_Area(kit, name, 0.0f, y, 0.0f, ESPY_SIDE, y + ESPY_CLEAR, ESPY_SIDE);
}

/// Trees on the ground outside, which show through windows only.
static void espyTower_Garden(espyiKit* kit)
{
    espyiKit_Paint(kit, espyMaterialClass_Opaque, 0x8FA077u);
    espyiKit_Box(kit, -24.0f, -1.0f, -24.0f, 40.0f, -ESPY_WALL, 40.0f);
    espyiKit_Place(kit, "Ground", espyiKit_EndMesh(kit, "Ground"), espyMat4_Identity(), ESPYI_KIT_SHELL);
    espyiProp tree = espyiProp_Make(kit, espyiPropKind_Broadleaf);
    char name[48];
    for (uint32_t t = 0; t < 16; ++t)
    {
        float along = espyiKit_Range(kit, -20.0f, 36.0f), out = espyiKit_Range(kit, 5.0f, 20.0f);
        float across = (t & 1u) ? ESPY_SIDE + out : -out;
        bool alongX = (t & 2u) != 0;
        snprintf(name, sizeof name, "Tree %u", t);
        float scale = espyiKit_Range(kit, 0.8f, 1.2f);
        float turns = espyiKit_Range(kit, 0.0f, 1.0f);
        espyMat4 at = espyiKit_AtTurned(alongX ? along : across, -ESPY_WALL, alongX ? across : along, turns, scale);
        espyiKit_Place(kit, name, tree.mesh, at, ESPYI_KIT_PROP);
    }
}

espyResult espyScene_BuildTower(uint32_t size, uint64_t seed, espyWorld** out)
{
    *out = NULL;
    if (size > ESPY_SCENE_MAX_SIZE)
    {
        return espyResult_InvalidArgument;
    }
    uint32_t storeys = size == 0 ? espyScene_GetFullSize(espySceneKind_Tower) : size;
    espyiKit kit;
    espyiKit_Begin(&kit, seed, 2.0f);
    espyTowerMeshes meshes;
    espyTower_MakeMeshes(&kit, &meshes);
    espyiProp props[espyiPropKind_IndoorCount];
    for (uint32_t p = 0; p < espyiPropKind_IndoorCount; ++p)
    {
        props[p] = espyiProp_Make(&kit, (espyiPropKind)p);
    }
    for (uint32_t storey = 0; storey < storeys; ++storey)
    {
        espyTower_Storey(&kit, &meshes, props, storey, storey + 1 == storeys);
    }
    espyiKit_Place(&kit, "Roof", meshes.closedSlab, espyiKit_At(0.0f, ESPY_STOREY * (float)storeys, 0.0f),
                   ESPYI_KIT_SHELL);
    espyTower_Garden(&kit);
    espyiKit_Camera(&kit, "Camera", (espyVec3){2.5f, 1.75f, 12.0f}, (espyVec3){2.0f, 2.0f, 3.0f});
    return espyiKit_Finish(&kit, out);
}
