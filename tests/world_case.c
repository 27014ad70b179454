// SPDX-License-Identifier: MIT
#include "world_case.h"

#include "test_main.h"

#include <math.h>

float espyWorldCase_Random(espyiRng* rng, float low, float range)
{
    return low + floorf(espyiRng_Float(rng) * range * 64.0f) / 64.0f;
}

static bool espyCase_IsApart(const espyBox* boxes, uint32_t first, uint32_t count, espyBox box)
{
    for (uint32_t i = first; i < count; ++i)
    {
        const float* a = &boxes[i].min.x;
        const float* b = &box.min.x;
        float worst = 0.0f;
        for (int k = 0; k < 6; ++k)
        {
            worst = fmaxf(worst, fabsf(a[k] - b[k]));
        }
        if (worst < 1.0f)
        {
            return false;
        }
    }
    return true;
}

espyWorldCase espyWorldCase_Make(uint64_t seed, bool withIds)
{
    espyWorldCase c = {0};
    espyiRng rng = espyiRng_Seed(seed);
    int32_t nodes[ESPY_WORLD_CASE_ENTRIES];
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        uint32_t first = i < ESPY_WORLD_CASE_OCCLUDERS ? 0 : ESPY_WORLD_CASE_OCCLUDERS;
        do
        {
            for (int k = 0; k < 3; ++k)
            {
                float* min = &c.boxes[i].min.x + k;
                float* max = &c.boxes[i].max.x + k;
                *min = espyWorldCase_Random(&rng, k == 1 ? 0.25f : -7.75f, k == 1 ? 5.0f : 13.0f);
                *max = *min + espyWorldCase_Random(&rng, 0.25f, 2.0f);
            }
        } while (!espyCase_IsApart(c.boxes, first, i, c.boxes[i]));
        nodes[i] = 100 + (int32_t)i;
    }
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.seed = seed;
    def.dims[0] = def.dims[2] = 8;
    def.dims[1] = 4;
    def.origin = (espyVec3){-8, 0, -8};
    def.cellSize = 2.0f;
    def.occluderCount = ESPY_WORLD_CASE_OCCLUDERS;
    def.occludeeCount = ESPY_WORLD_CASE_OCCLUDEES;
    def.tools = withIds;
    def.boxes = c.boxes;
    def.nodes = nodes;
    def.wholeNodes = true;
    c.file = espyPvsCase_Make(&def);
    return c;
}

void espyWorldCase_Free(espyWorldCase* c)
{
    espyPvsCase_Free(&c->file);
}

espyWorld* espyWorldCase_World(const espyHooks* hooks, bool unroll)
{
    espyWorldDef def = espyWorldDef_Default();
    espyWorld* world;
    if (hooks)
    {
        def.hooks = *hooks;
    }
    def.unrollInstances = unroll;
    assert_int_equal(espyWorld_Create(&def, &world), espyResult_Ok);
    return world;
}

espyMeshId espyWorldCase_Mesh(espyWorld* world, espyVec3 size)
{
    espyVec3 corners[8];
    static const uint32_t indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (int i = 0; i < 8; ++i)
    {
        corners[i] = (espyVec3){i & 1 ? size.x : 0, i & 2 ? size.y : 0, i & 4 ? size.z : 0};
    }
    espyMeshDef def = espyMeshDef_Default();
    def.triangles = (espyTriangles){corners, indices, 8, 12};
    espyMeshId mesh;
    assert_int_equal(espyWorld_CreateMesh(world, &def, &mesh), espyResult_Ok);
    return mesh;
}

espyMat4 espyWorldCase_At(espyVec3 place)
{
    espyMat4 m = espyMat4_Identity();
    m.m[12] = place.x;
    m.m[13] = place.y;
    m.m[14] = place.z;
    return m;
}

espyNodeId espyWorldCase_Node(espyWorld* world, const espyWorldCase* c, uint32_t entry, espyVec3 offset)
{
    espyBox box = c->boxes[entry];
    espyVec3 size = {box.max.x - box.min.x, box.max.y - box.min.y, box.max.z - box.min.z};
    espyNodeDef def = espyNodeDef_Default();
    bool occluder = entry < ESPY_WORLD_CASE_OCCLUDERS;
    bool bare = !occluder && entry % 3 == 0;
    def.kind = bare ? espyNodeKind_Node3D : espyNodeKind_StaticMesh3D;
    def.local = espyWorldCase_At((espyVec3){box.min.x + offset.x, box.min.y + offset.y, box.min.z + offset.z});
    def.flags |= occluder ? espyNodeFlag_OccluderStatic : espyNodeFlag_OccludeeStatic;
    if (bare)
    {
        def.bounds = (espyBox){{0, 0, 0}, size};
    }
    else
    {
        def.mesh = espyWorldCase_Mesh(world, size);
    }
    espyNodeId node;
    assert_int_equal(espyWorld_CreateNode(world, &def, &node), espyResult_Ok);
    return node;
}

void espyWorldCase_Nodes(espyWorld* world, const espyWorldCase* c, espyVec3 offset,
                         espyNodeId out[ESPY_WORLD_CASE_ENTRIES])
{
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_ENTRIES; ++i)
    {
        out[i] = espyWorldCase_Node(world, c, i, offset);
    }
}

espyNodeId espyWorldCase_Camera(espyWorld* world, espyVec3 eye)
{
    espyNodeDef def = espyNodeDef_Default();
    def.kind = espyNodeKind_Camera3D;
    def.local = espyWorldCase_At(eye);
    espyNodeId node;
    assert_int_equal(espyWorld_CreateNode(world, &def, &node), espyResult_Ok);
    return node;
}

espyDataId espyWorldCase_Load(espyWorld* world, const espyWorldCase* c, espyVec3 offset)
{
    espyDataDef def = espyDataDef_Default();
    def.bytes = c->file.file;
    def.size = c->file.size;
    def.offset = offset;
    espyDataId id;
    assert_int_equal(espyWorld_AddData(world, &def, &id, NULL), espyResult_Ok);
    return id;
}
