// SPDX-License-Identifier: MIT
// Furniture, street things and trees: meshes with their origin at the middle of the bottom, in metres.
#ifndef ESPYI_SCENE_PROPS_H
#define ESPYI_SCENE_PROPS_H

#include "scenes/scene_kit.h"

typedef struct espyiProp
{
    const char* name;
    espyMeshId mesh;
    float radius; ///< Of the circle on the ground that holds it.
    bool big;     ///< Worth being an occluder.
} espyiProp;

typedef enum espyiPropKind
{
    espyiPropKind_Crate = 0,
    espyiPropKind_Barrel,
    espyiPropKind_Table,
    espyiPropKind_Chair,
    espyiPropKind_Shelf,
    espyiPropKind_Lamp,
    espyiPropKind_Plant,
    espyiPropKind_Sofa,
    espyiPropKind_Bed,
    espyiPropKind_Vase,
    espyiPropKind_IndoorCount,
    espyiPropKind_Car = espyiPropKind_IndoorCount,
    espyiPropKind_StreetLamp,
    espyiPropKind_Bench,
    espyiPropKind_Kiosk,
    espyiPropKind_Bin,
    espyiPropKind_StreetTree,
    espyiPropKind_Broadleaf,
    espyiPropKind_Conifer,
    espyiPropKind_Rock,
    espyiPropKind_Count,
} espyiPropKind;

/// A rectangle of floor at height y.
typedef struct espyiFloor
{
    float x0, z0, x1, z1, y;
} espyiFloor;

/// Builds the mesh of one kind. Build each kind once and share it between nodes.
espyiProp espyiProp_Make(espyiKit* kit, espyiPropKind kind);

/// Most props that one floor takes.
#define ESPYI_MAX_SCATTER 64u

/// Puts `count` randomly chosen and turned indoor props on a floor, clear of its borders and of each other, and names
/// them "PROP LABEL NUMBER". Where `bigOcclude`, shelves, beds and crates are occluders too.
void espyiProps_Scatter(espyiKit* kit, const espyiProp* props, uint32_t count, espyiFloor floor, bool bigOcclude,
                        const char* label);

#endif
