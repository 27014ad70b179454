// SPDX-License-Identifier: MIT
#include "tests/bake_case.h"

#include <string.h>

#include "tests/test_main.h"

static void* espyCase_Copy(espyBakeCase* c, const void* data, size_t size)
{
    void* block = malloc(size > 0 ? size : 1);
    assert_non_null(block);
    memcpy(block, data, size);
    assert_true(c->blockCount < sizeof c->blocks / sizeof c->blocks[0]);
    c->blocks[c->blockCount++] = block;
    return block;
}

espyBakeCase* espyBakeCase_Create(void)
{
    espyBakeCase* c = calloc(1, sizeof *c);
    assert_non_null(c);
    return c;
}

void espyBakeCase_Destroy(espyBakeCase* c)
{
    for (uint32_t i = 0; i < c->blockCount; ++i)
    {
        free(c->blocks[i]);
    }
    free(c);
}

uint32_t espyBakeCase_AddMesh(espyBakeCase* c, const espyVec3* positions, uint32_t vertexCount, const uint32_t* indices,
                              uint32_t triangleCount, uint32_t flags)
{
    espyTriangles mesh = {
        .positions = espyCase_Copy(c, positions, vertexCount * sizeof *positions),
        .indices = espyCase_Copy(c, indices, 3u * triangleCount * sizeof *indices),
        .vertexCount = vertexCount,
        .triangleCount = triangleCount,
    };
    espyBox box = espyBox_Empty();
    for (uint32_t i = 0; i < vertexCount; ++i)
    {
        box = espyBox_AddPoint(box, positions[i]);
    }
    int32_t node = (int32_t)(c->blockCount / 2u) - 1;
    uint32_t occluder = c->occluderCount, occludee = c->occludeeCount;
    bool blocks = (flags & espyCaseFlag_Occluder) != 0;
    if (blocks)
    {
        assert_true(occluder < ESPY_CASE_MAX);
        c->occluders[c->occluderCount++] = (espyBakeOccluder){.mesh = mesh, .node = node, .name = "occluder"};
    }
    if (flags & espyCaseFlag_Occludee)
    {
        assert_true(occludee < ESPY_CASE_MAX);
        c->occludees[c->occludeeCount++] =
            (espyBakeOccludee){mesh, box, node, -1, occluder, blocks ? 1u : 0u, "occludee"};
        return occludee;
    }
    return occluder;
}

uint32_t espyBakeCase_AddBox(espyBakeCase* c, espyVec3 min, espyVec3 max, uint32_t flags)
{
    static const uint32_t indices[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    espyVec3 corners[8];
    for (uint32_t i = 0; i < 8; ++i)
    {
        corners[i] = (espyVec3){i & 1u ? max.x : min.x, i & 2u ? max.y : min.y, i & 4u ? max.z : min.z};
    }
    return espyBakeCase_AddMesh(c, corners, 8, indices, 12, flags);
}

uint32_t espyBakeCase_AddQuad(espyBakeCase* c, espyVec3 a, espyVec3 b, espyVec3 d, espyVec3 e, uint32_t flags)
{
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    espyVec3 corners[4] = {a, b, d, e};
    return espyBakeCase_AddMesh(c, corners, 4, indices, 2, flags);
}

uint32_t espyBakeCase_AddBoxOnly(espyBakeCase* c, espyVec3 min, espyVec3 max)
{
    c->occludees[c->occludeeCount] = (espyBakeOccludee){.box = {min, max}, .node = 1000, .part = -1, .name = "box"};
    return c->occludeeCount++;
}

void espyBakeCase_AddArea(espyBakeCase* c, espyVec3 min, espyVec3 max)
{
    espyMat4 m = espyMat4_Identity();
    m.m[0] = max.x - min.x;
    m.m[5] = max.y - min.y;
    m.m[10] = max.z - min.z;
    m.m[12] = 0.5f * (min.x + max.x);
    m.m[13] = 0.5f * (min.y + max.y);
    m.m[14] = 0.5f * (min.z + max.z);
    c->areas[c->areaCount++].transform = m;
}

// Meshes that are occluder and occludee share their arrays: each array is changed once.
static void espyCase_Transform(espyBakeCase* c, espyVec3 scale, espyVec3 offset)
{
    const void* seen[2 * ESPY_CASE_MAX];
    uint32_t seenCount = 0;
    for (uint32_t i = 0; i < c->occluderCount + c->occludeeCount; ++i)
    {
        const espyTriangles* mesh =
            i < c->occluderCount ? &c->occluders[i].mesh : &c->occludees[i - c->occluderCount].mesh;
        bool again = mesh->vertexCount == 0;
        for (uint32_t k = 0; k < seenCount && !again; ++k)
        {
            again = seen[k] == mesh->positions;
        }
        if (again)
        {
            continue;
        }
        seen[seenCount++] = mesh->positions;
        espyVec3* positions = (espyVec3*)(uintptr_t)mesh->positions;
        for (uint32_t k = 0; k < mesh->vertexCount; ++k)
        {
            espyVec3 p = positions[k];
            positions[k] = (espyVec3){p.x * scale.x + offset.x, p.y * scale.y + offset.y, p.z * scale.z + offset.z};
        }
        uint32_t* indices = (uint32_t*)(uintptr_t)mesh->indices;
        for (uint32_t k = 0; k < mesh->triangleCount && scale.x * scale.y * scale.z < 0.0f; ++k)
        {
            uint32_t swap = indices[3 * k + 1];
            indices[3 * k + 1] = indices[3 * k + 2];
            indices[3 * k + 2] = swap;
        }
    }
    for (uint32_t i = 0; i < c->occludeeCount; ++i)
    {
        espyBox b = c->occludees[i].box;
        espyVec3 p = {b.min.x * scale.x + offset.x, b.min.y * scale.y + offset.y, b.min.z * scale.z + offset.z};
        espyVec3 q = {b.max.x * scale.x + offset.x, b.max.y * scale.y + offset.y, b.max.z * scale.z + offset.z};
        c->occludees[i].box = espyBox_AddPoint(espyBox_AddPoint(espyBox_Empty(), p), q);
    }
    for (uint32_t i = 0; i < c->areaCount; ++i)
    {
        float* m = c->areas[i].transform.m;
        m[0] *= scale.x;
        m[5] *= scale.y;
        m[10] *= scale.z;
        m[12] = m[12] * scale.x + offset.x;
        m[13] = m[13] * scale.y + offset.y;
        m[14] = m[14] * scale.z + offset.z;
    }
}

void espyBakeCase_Shift(espyBakeCase* c, espyVec3 by)
{
    espyCase_Transform(c, (espyVec3){1, 1, 1}, by);
}

void espyBakeCase_Scale(espyBakeCase* c, espyVec3 by)
{
    espyCase_Transform(c, by, (espyVec3){0, 0, 0});
}

const espyBakeInput* espyBakeCase_Input(espyBakeCase* c)
{
    c->input = (espyBakeInput){
        .occluders = c->occluders,
        .occludees = c->occludees,
        .areas = c->areas,
        .occluderCount = c->occluderCount,
        .occludeeCount = c->occludeeCount,
        .areaCount = c->areaCount,
    };
    return &c->input;
}

void espyBakeCase_AddTwoRooms(espyBakeCase* c, float doorMin, float doorMax)
{
    uint32_t walls = espyCaseFlag_Occluder;
    espyBakeCase_AddBox(c, (espyVec3){-0.5f, -0.5f, -0.5f}, (espyVec3){8.5f, 0, 8.5f}, walls);
    espyBakeCase_AddBox(c, (espyVec3){-0.5f, 4, -0.5f}, (espyVec3){8.5f, 4.5f, 8.5f}, walls);
    espyBakeCase_AddBox(c, (espyVec3){-0.5f, 0, -0.5f}, (espyVec3){0, 4, 8.5f}, walls);
    espyBakeCase_AddBox(c, (espyVec3){8, 0, -0.5f}, (espyVec3){8.5f, 4, 8.5f}, walls);
    espyBakeCase_AddBox(c, (espyVec3){0, 0, -0.5f}, (espyVec3){8, 4, 0}, walls);
    espyBakeCase_AddBox(c, (espyVec3){0, 0, 8}, (espyVec3){8, 4, 8.5f}, walls);
    if (doorMax > doorMin)
    {
        espyBakeCase_AddBox(c, (espyVec3){3.9f, 0, 0}, (espyVec3){4.1f, 2, doorMin}, walls);
        espyBakeCase_AddBox(c, (espyVec3){3.9f, 0, doorMax}, (espyVec3){4.1f, 2, 8}, walls);
        espyBakeCase_AddBox(c, (espyVec3){3.9f, 2, 0}, (espyVec3){4.1f, 4, 8}, walls);
    }
    else
    {
        espyBakeCase_AddBox(c, (espyVec3){3.9f, 0, 0}, (espyVec3){4.1f, 4, 8}, walls);
    }
    espyBakeCase_AddArea(c, (espyVec3){0, 0, 0}, (espyVec3){8, 4, 8});
}

espyBakeDef espyBakeCase_Def(void)
{
    espyBakeDef def = espyBakeDef_Default();
    def.cellSize = 2.0f;
    def.threads = 1;
    return def;
}

espyPvs espyBakeCase_Load(const espyBakeResult* result)
{
    espyPvs pvs;
    espyDataError error;
    assert_non_null(result->data);
    assert_int_equal(espyPvs_Load(&pvs, result->data, result->size, &error), espyResult_Ok);
    return pvs;
}

bool espyBakeCase_Sees(const espyPvs* pvs, espyVec3 point, uint32_t slot)
{
    int32_t cell = espyPvs_FindCell(pvs, point);
    return cell < 0 || espyPvs_TestSlot(pvs, cell, slot) != espyVisibility_Occluded;
}

uint32_t espyBakeCase_CountCells(const espyPvs* pvs, uint32_t slot)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < pvs->cellCount; ++i)
    {
        count += espyPvs_TestSlot(pvs, (int32_t)i, slot) == espyVisibility_Visible ? 1u : 0u;
    }
    return count;
}

bool espyBakeCase_HasWarning(const espyBakeResult* result, espyMessageId id)
{
    for (uint32_t i = 0; i < result->warningCount; ++i)
    {
        if (result->warnings[i].id == id)
        {
            return true;
        }
    }
    return false;
}
