// SPDX-License-Identifier: MIT
// Quake 3 maps: conversion, grouping, flags, curves, damaged bytes, the visibility lump.
#include "test_main.h"

#include "bsp_case.h"
#include "core/core.h"
#include "import/bsp_entities.h"
#include "import/bsp_patch.h"
#include "import/bsp_vis.h"
#include "import/pk3.h"

#include <espy/import.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void espyTest_AssertNear(espyVec3 a, float x, float y, float z)
{
    assert_true(fabsf(a.x - x) < 1e-5f && fabsf(a.y - y) < 1e-5f && fabsf(a.z - z) < 1e-5f);
}

// --- conversion

static void test_faces_become_objects_by_shader_and_block(void** state)
{
    (void)state;
    static const struct
    {
        const char* name;
        uint32_t triangles, flags;
    } wanted[6] = {
        {"textures/test/wall 0 0 0", 3, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic},
        {"textures/test/wall 2 0 0", 2, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic},
        {"textures/test/glass 0 0 0", 2, espyNodeFlag_OccludeeStatic},
        {"textures/test/grate 0 0 0", 2, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic},
        {"textures/test/pillar 0 0 0", 0, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic},
        {"textures/test/water 0 0 -1", 2, espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic},
    };
    espyBytes bytes = espyBspBuilder_Sample();
    espyLog log;
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_Load(&bytes, &log, &world, &report), espyResult_Ok);
    assert_string_equal(report.format, "bsp");
    assert_string_equal(report.message, "");
    assert_int_equal(espyWorld_GetNodeCount(world), 9);
    for (uint32_t i = 0; i < 6; ++i)
    {
        espyNodeDef node = espyTest_Node(world, i);
        assert_string_equal(node.name, wanted[i].name);
        assert_int_equal(node.sourceId, i);
        assert_int_equal(node.flags & ~(uint32_t)espyNodeFlag_CastsShadow, wanted[i].flags);
        assert_int_equal(node.kind, espyNodeKind_StaticMesh3D);
        if (wanted[i].triangles > 0)
        {
            assert_int_equal(espyTest_Mesh(world, i).triangles.triangleCount, wanted[i].triangles);
        }
    }
    // No script is here: one warning for wall, glass, grate, pillar, flare and water together; never-drawn ones are
    // not missed.
    assert_int_equal(log.counts[espyMessageId_ImportMissingShaders], 1);
    assert_non_null(strstr(log.last, ": 6 shaders"));
    assert_int_equal(report.warningCount, 1);
    espyWorld_Destroy(world);
    espyBytes_Free(&bytes);
}

static void test_axes_scale_and_winding(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_Ok);
    espyBox box = espyWorld_GetWorldBounds(world, espyWorld_GetNodeAt(world, 0));
    espyTest_AssertNear(box.min, 0.0f, 0.0f, -8.0f);
    espyTest_AssertNear(box.max, 8.0f, 0.25f, 0.0f);
    // Node 0 is floor and a loose triangle, both with their front up; node 1 a wall whose front looks along +x.
    for (uint32_t node = 0; node < 2; ++node)
    {
        espyMeshDef mesh = espyTest_Mesh(world, node);
        for (uint32_t t = 0; t < mesh.triangles.triangleCount; ++t)
        {
            const uint32_t* c = mesh.triangles.indices + 3 * t;
            espyVec3 p = mesh.triangles.positions[c[0]];
            espyVec3 q = mesh.triangles.positions[c[1]];
            espyVec3 r = mesh.triangles.positions[c[2]];
            float ux = q.x - p.x, uy = q.y - p.y, uz = q.z - p.z;
            float vx = r.x - p.x, vy = r.y - p.y, vz = r.z - p.z;
            assert_true((node == 0 ? uz * vx - ux * vz : uy * vz - uz * vy) > 0.0f);
        }
    }
    espyWorld_Destroy(world);
    espyBytes_Free(&bytes);
}

/// Hash of all that a world holds: names, flags, transforms, meshes.
static uint64_t espyTest_HashWorld(const espyWorld* world)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
    {
        espyNodeDef node = espyTest_Node(world, i);
        espyMeshDef mesh;
        hash = espyiHash_Bytes(hash, node.name, strlen(node.name));
        hash = espyiHash_Bytes(hash, &node.local, sizeof node.local);
        hash = espyiHash_U64(hash, node.flags);
        if (espyWorld_GetMesh(world, node.mesh, &mesh) == espyResult_Ok)
        {
            hash = espyiHash_Bytes(hash, mesh.triangles.positions, mesh.triangles.vertexCount * sizeof(espyVec3));
            hash = espyiHash_Words(hash, mesh.triangles.indices, 3 * (size_t)mesh.triangles.triangleCount);
            hash = espyiHash_U64(hash, mesh.parts[0].material);
        }
    }
    return hash;
}

static void test_report_07_the_same_map_gives_the_same_world(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    uint64_t first = 0;
    for (int run = 0; run < 10; ++run)
    {
        espyWorld* world;
        espyImportReport report;
        assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_Ok);
        uint64_t hash = espyTest_HashWorld(world);
        first = run == 0 ? hash : first;
        assert_true(hash == first);
        espyWorld_Destroy(world);
    }
    espyBytes_Free(&bytes);
}

static void test_brush_models_are_dynamic_objects_of_their_own(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_Ok);
    espyNodeDef door = espyTest_Node(world, 6);
    assert_string_equal(door.name, "*1 func_door door1");
    assert_int_equal(door.flags & ~(uint32_t)espyNodeFlag_CastsShadow, espyNodeFlag_Dynamic);
    espyMeshDef mesh = espyTest_Mesh(world, 6);
    assert_int_equal(mesh.partCount, 2);
    assert_int_equal(mesh.parts[0].material, espyMaterialClass_Opaque);
    assert_int_equal(mesh.parts[1].material, espyMaterialClass_Translucent);
    espyBox box = espyWorld_GetWorldBounds(world, espyWorld_GetNodeAt(world, 6));
    espyTest_AssertNear(box.min, 1.5f, 0.0f, -0.5f);
    espyTest_AssertNear(box.max, 9.5f, 8.0f, 0.5f);
    espyWorld_Destroy(world);
    espyBytes_Free(&bytes);
}

static void test_entity_positions_become_cameras(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_Ok);
    espyNodeDef start = espyTest_Node(world, 7);
    espyNodeDef view = espyTest_Node(world, 8);
    assert_int_equal(start.kind, espyNodeKind_Camera3D);
    assert_string_equal(view.name, "info_player_intermission");
    espyTest_AssertNear((espyVec3){start.local.m[12], start.local.m[13], start.local.m[14]}, 10.0f, 1.25f, 20.0f);
    espyTest_AssertNear((espyVec3){view.local.m[12], view.local.m[13], view.local.m[14]}, -1.0f, 1.0f, 0.0f);
    // Cameras look along -z: yaw 90 is Quake's +y; the other looks along -x and 30 degrees down.
    espyTest_AssertNear((espyVec3){-start.local.m[8], -start.local.m[9], -start.local.m[10]}, 0.0f, 0.0f, -1.0f);
    espyTest_AssertNear((espyVec3){-view.local.m[8], -view.local.m[9], -view.local.m[10]}, -0.8660254f, -0.5f, 0.0f);
    espyWorld_Destroy(world);
    espyBytes_Free(&bytes);
}

static void test_entities_are_read_tolerantly(void** state)
{
    (void)state;
    static const struct
    {
        const char* text;
        int entities;
    } cases[] = {{"", 0},
                 {"{", 1},
                 {"}", 0},
                 {"{}", 1},
                 {"{\"a\"}", 1},
                 {"{\"classname\" \"x", 1},
                 {"junk {\"a\" \"b\"} more {\"origin\" \"1 2\"}", 2},
                 {"\"{\" {}", 1}};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        size_t cursor = 0;
        int count = 0;
        espyiBspEntity entity;
        while (espyiBspEntity_Next(cases[i].text, strlen(cases[i].text), &cursor, &entity))
        {
            assert_false(entity.hasOrigin);
            ++count;
        }
        assert_int_equal(count, cases[i].entities);
    }
    float value = 7.0f;
    assert_int_equal(espyiText_Float(" -12.5e-1 ", 10, &value), 9);
    assert_true(value == -1.25f);
    assert_int_equal(espyiText_Float("nan", 3, &value), 0);
    assert_int_equal(espyiText_Float("1e99", 4, &value), 0);
    assert_int_equal(espyiText_Float("-", 1, &value), 0);
    assert_true(value == -1.25f);
}

// --- curves

/// The patch at (s, t) in pieces, by repeated halving-free de Casteljau steps in double.
static void espyTest_PatchPoint(const float* control, uint32_t width, double s, double t, double out[3])
{
    uint32_t strip = (uint32_t)s;
    uint32_t band = (uint32_t)t;
    double u = s - (double)strip;
    double v = t - (double)band;
    for (uint32_t axis = 0; axis < 3; ++axis)
    {
        double rows[3];
        for (uint32_t r = 0; r < 3; ++r)
        {
            const float* row = control + 3 * ((2 * band + r) * width + 2 * strip) + axis;
            double a = (double)row[0] + u * ((double)row[3] - (double)row[0]);
            double b = (double)row[3] + u * ((double)row[6] - (double)row[3]);
            rows[r] = a + u * (b - a);
        }
        double a = rows[0] + v * (rows[1] - rows[0]);
        double b = rows[1] + v * (rows[2] - rows[1]);
        out[axis] = a + v * (b - a);
    }
}

/// Checks one cell of the grid: at (i, j) of the piece's cuts, the flat triangles against the surface.
static void espyTest_PatchCell(const float* control, uint32_t width, double s, double t, double ds, double dt,
                               const espyVec3 corners[4])
{
    for (int k = 1; k < 16; ++k)
    {
        double a = (double)(k % 4) / 4.0;
        double b = (double)(k / 4) / 4.0;
        double truth[3];
        espyTest_PatchPoint(control, width, s + a * ds, t + b * dt, truth);
        const double x[3] = {(double)corners[0].x, -(double)corners[0].z, (double)corners[0].y};
        const double xu[3] = {(double)corners[1].x, -(double)corners[1].z, (double)corners[1].y};
        const double xv[3] = {(double)corners[2].x, -(double)corners[2].z, (double)corners[2].y};
        const double xuv[3] = {(double)corners[3].x, -(double)corners[3].z, (double)corners[3].y};
        double distance = 0.0;
        for (int axis = 0; axis < 3; ++axis)
        {
            // The quad is cut between the u corner and the v corner.
            double flat = a + b <= 1.0
                              ? x[axis] + a * (xu[axis] - x[axis]) + b * (xv[axis] - x[axis])
                              : xuv[axis] + (1.0 - a) * (xv[axis] - xuv[axis]) + (1.0 - b) * (xu[axis] - xuv[axis]);
            double d = flat * 32.0 - truth[axis];
            distance += d * d;
        }
        assert_true(sqrt(distance) <= (double)ESPYI_PATCH_ERROR + 1e-3);
    }
}

static void espyTest_PatchError(const float* control, uint32_t width, uint32_t height)
{
    espyiBspVertex vertices[81] = {{{0.0f}, {0.0f}}};
    for (uint32_t i = 0; i < width * height; ++i)
    {
        memcpy(vertices[i].position, control + 3 * i, sizeof vertices[i].position);
    }
    espyiBsp bsp = {.vertices = vertices, .vertexCount = width * height};
    espyiBspFace face = {.vertexCount = width * height, .patchWidth = width, .patchHeight = height};
    espyiPatchCuts cuts = espyiPatch_Plan(&bsp, &face);
    espyVec3* points = malloc(sizeof *points * cuts.width * cuts.height);
    assert_non_null(points);
    espyiPatch_Evaluate(&bsp, &face, &cuts, points);
    uint32_t row = 0;
    for (uint32_t band = 0; band < (height - 1) / 2; ++band)
    {
        for (uint32_t j = 0; j < cuts.rows[band]; ++j, ++row)
        {
            uint32_t column = 0;
            for (uint32_t strip = 0; strip < (width - 1) / 2; ++strip)
            {
                double ds = 1.0 / (double)cuts.columns[strip];
                double dt = 1.0 / (double)cuts.rows[band];
                for (uint32_t i = 0; i < cuts.columns[strip]; ++i, ++column)
                {
                    const espyVec3* p = points + row * cuts.width + column;
                    const espyVec3 corners[4] = {p[0], p[1], p[cuts.width], p[cuts.width + 1]};
                    // A piece's far edge belongs to the next piece: stay just inside.
                    espyTest_PatchCell(control, width, (double)strip + i * ds, (double)band + j * dt, ds * (1.0 - 1e-9),
                                       dt * (1.0 - 1e-9), corners);
                }
            }
            assert_int_equal(column + 1, cuts.width);
        }
    }
    assert_int_equal(row + 1, cuts.height);
    free(points);
}

static void test_patches_stay_within_their_stated_error(void** state)
{
    (void)state;
    const uint64_t seed = 20240607;
    print_message("seed %llu\n", (unsigned long long)seed);
    espyiRng rng = espyiRng_Seed(seed);
    for (int round = 0; round < 60; ++round)
    {
        uint32_t width = 3 + 2 * espyiRng_Below(&rng, 4);
        uint32_t height = 3 + 2 * espyiRng_Below(&rng, 4);
        float bumps = round % 3 == 0 ? 0.0f : 90.0f;
        float control[81 * 3];
        for (uint32_t i = 0; i < width * height; ++i)
        {
            control[3 * i] = 64.0f * (float)(i % width) + bumps * espyiRng_Float(&rng);
            control[3 * i + 1] = 64.0f * (float)(i / width) + bumps * espyiRng_Float(&rng);
            control[3 * i + 2] = bumps * espyiRng_Float(&rng);
        }
        espyTest_PatchError(control, width, height);
    }
}

static void test_a_flat_patch_is_not_cut(void** state)
{
    (void)state;
    espyiBspVertex vertices[9] = {{{0.0f}, {0.0f}}};
    for (uint32_t i = 0; i < 9; ++i)
    {
        vertices[i].position[0] = 128.0f * (float)(i % 3);
        vertices[i].position[1] = 128.0f * (float)(i / 3);
    }
    espyiBsp bsp = {.vertices = vertices, .vertexCount = 9};
    espyiBspFace face = {.vertexCount = 9, .patchWidth = 3, .patchHeight = 3};
    espyiPatchCuts cuts = espyiPatch_Plan(&bsp, &face);
    assert_int_equal(cuts.width, 2);
    assert_int_equal(cuts.height, 2);
    vertices[4].position[2] = 3.0e38f;
    vertices[0].position[2] = -3.0e38f;
    cuts = espyiPatch_Plan(&bsp, &face);
    assert_true(cuts.width <= ESPYI_PATCH_MAX_CUTS + 1 && cuts.height <= ESPYI_PATCH_MAX_CUTS + 1);
}

/// Counts how often an edge between two positions is used by the triangles of a mesh.
static int espyTest_EdgeUse(const espyTriangles* mesh, espyVec3 a, espyVec3 b)
{
    int uses = 0;
    for (uint32_t i = 0; i < 3 * mesh->triangleCount; ++i)
    {
        espyVec3 p = mesh->positions[mesh->indices[i]];
        espyVec3 q = mesh->positions[mesh->indices[i % 3 == 2 ? i - 2 : i + 1]];
        bool same = memcmp(&p, &a, sizeof p) == 0 && memcmp(&q, &b, sizeof q) == 0;
        bool turned = memcmp(&p, &b, sizeof p) == 0 && memcmp(&q, &a, sizeof q) == 0;
        uses += same || turned ? 1 : 0;
    }
    return uses;
}

static void test_pieces_of_a_patch_meet_without_cracks(void** state)
{
    (void)state;
    // 5 x 5 control points, very unequal curvature in its four pieces.
    float control[75];
    for (uint32_t i = 0; i < 25; ++i)
    {
        control[3 * i] = 64.0f * (float)(i % 5);
        control[3 * i + 1] = 64.0f * (float)(i / 5);
        control[3 * i + 2] = i == 6 ? 200.0f : i == 18 ? 20.0f : 0.0f;
    }
    espyBspBuilder b = {0};
    espyBspBuilder_Shader(&b, "textures/test/curve", 0, 1);
    espyBspBuilder_Patch(&b, 0, 5, 5, control);
    espyBspBuilder_Model(&b, 0, 1);
    espyBytes bytes = espyBspBuilder_Finish(&b, 47);
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_Ok);
    espyTriangles mesh = espyTest_Mesh(world, 0).triangles;
    assert_true(mesh.triangleCount > 20);
    for (uint32_t i = 0; i < 3 * mesh.triangleCount; ++i)
    {
        espyVec3 p = mesh.positions[mesh.indices[i]];
        espyVec3 q = mesh.positions[mesh.indices[i % 3 == 2 ? i - 2 : i + 1]];
        bool border = (p.x == q.x && (p.x == 0.0f || p.x == 8.0f)) || (p.z == q.z && (p.z == 0.0f || p.z == -8.0f));
        assert_int_equal(espyTest_EdgeUse(&mesh, p, q), border ? 1 : 2);
    }
    espyWorld_Destroy(world);
    espyBytes_Free(&bytes);
}

// --- damaged bytes

static uint32_t espyTest_GetU32(const espyBytes* bytes, size_t at)
{
    return (uint32_t)bytes->data[at] | (uint32_t)bytes->data[at + 1] << 8 | (uint32_t)bytes->data[at + 2] << 16 |
           (uint32_t)bytes->data[at + 3] << 24;
}

static void espyTest_SetU32(espyBytes* bytes, size_t at, uint32_t value)
{
    for (size_t i = 0; i < 4; ++i)
    {
        bytes->data[at + i] = (uint8_t)(value >> (8 * i));
    }
}

/// Where element `index` of a lump starts.
static size_t espyTest_At(const espyBytes* bytes, size_t lump, size_t stride, size_t index)
{
    return espyTest_GetU32(bytes, 8 + 8 * lump) + stride * index;
}

static void test_every_truncation_is_refused(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    for (size_t size = 0; size < bytes.size; ++size)
    {
        // A heap block of exactly this size: the sanitizers see a read past it.
        espyBytes cut = {0};
        espyBytes_Add(&cut, bytes.data, size);
        cut.data = size > 0 ? realloc(cut.data, size) : cut.data;
        espyWorld* world;
        espyImportReport report;
        assert_int_equal(espyTest_Load(&cut, NULL, &world, &report), espyResult_BadData);
        assert_null(world);
        assert_int_equal(strncmp(report.message, "memory: ", 8), 0);
        assert_non_null(strstr(report.message, "byte"));
        espyBytes_Free(&cut);
    }
    espyBytes_Free(&bytes);
}

static void test_every_word_flipped_ends_well(void** state)
{
    (void)state;
    static const uint32_t values[] = {0xFFFFFFFFu, 0x7FFFFFFFu, 0x80000000u, 0x40000000u,
                                      0u,          0x7FC00000u, 0x7F800000u, 100u};
    espyBytes bytes = espyBspBuilder_Sample();
    int refused = 0;
    for (size_t at = 0; at + 4 <= bytes.size; at += 4)
    {
        uint32_t old = espyTest_GetU32(&bytes, at);
        for (size_t k = 0; k < ESPYI_ARRAY_COUNT(values) + 3; ++k)
        {
            const uint32_t near[3] = {old + 1, old - 1, old ^ 0x80u};
            espyTest_SetU32(&bytes, at,
                            k < ESPYI_ARRAY_COUNT(values) ? values[k] : near[k - ESPYI_ARRAY_COUNT(values)]);
            espyWorld* world;
            espyImportReport report;
            espyResult result = espyTest_Load(&bytes, NULL, &world, &report);
            assert_true((result == espyResult_Ok) == (world != NULL));
            assert_true((result == espyResult_Ok) == (report.message[0] == '\0'));
            assert_null(strchr(report.message, '\n'));
            refused += result != espyResult_Ok ? 1 : 0;
            espyWorld_Destroy(world);
        }
        espyTest_SetU32(&bytes, at, old);
    }
    assert_true(refused > 100);
    espyBytes_Free(&bytes);
}

static void test_damage_is_named_with_its_place(void** state)
{
    (void)state;
    static const struct
    {
        size_t lump, stride, element, field;
        uint32_t value;
        const char* text;
    } cases[] = {
        {2, 16, 1, 12, 0x7FC00000u, "a plane that is not finite, in element 1 of lump planes"},
        {3, 36, 1, 0, 2, "a plane past the end, in element 1 of lump nodes"},
        {3, 36, 1, 4, 2, "a child past the end, in element 1 of lump nodes"},
        {3, 36, 1, 4, (uint32_t)-4, "a child past the end, in element 1 of lump nodes"},
        {3, 36, 1, 8, 0, "(a cycle), in element 1 of lump nodes"},
        {3, 36, 0, 8, 0, "(a cycle), in element 0 of lump nodes"},
        {4, 48, 1, 0, 2, "a cluster past the end, in element 1 of lump leafs"},
        {4, 48, 2, 36, 2, "faces or brushes past the end, in element 2 of lump leafs"},
        {4, 48, 2, 40, 0xFFFFFFFFu, "faces or brushes past the end, in element 2 of lump leafs"},
        {5, 4, 2, 0, 12, "an index past the end, in element 2 of lump leaf faces"},
        {6, 4, 0, 0, 1, "an index past the end, in element 0 of lump leaf brushes"},
        {7, 40, 1, 28, 3, "faces or brushes past the end, in element 1 of lump models"},
        {8, 12, 0, 4, 2, "sides or a shader past the end, in element 0 of lump brushes"},
        {9, 8, 0, 0, 2, "a plane or shader past the end, in element 0 of lump sides"},
        {10, 44, 3, 4, 0x7F800000u, "a position that is not finite, in element 3 of lump vertices"},
        {13, 104, 1, 0, 8, "a shader past the end, in element 1 of lump faces"},
        {13, 104, 1, 8, 5, "a face of unknown kind, in element 1 of lump faces"},
        {13, 104, 1, 16, 0x7FFFFFFFu, "vertices past the end, in element 1 of lump faces"},
        {13, 104, 1, 24, 5, "meshverts past the end or in no triples, in element 1 of lump faces"},
        {13, 104, 1, 16, 2, "a meshvert past the face's vertices, in element 1 of lump faces"},
        {13, 104, 6, 96, 4, "a patch whose size does not fit its control points, in element 6 of lump faces"},
        {16, 1, 0, 0, 3, "cluster rows that do not fit the lump, in element 0 of lump visibility"},
        {16, 1, 0, 4, 0xFFFFFFFFu, "cluster rows that do not fit the lump, in element 0 of lump visibility"},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        espyBytes bytes = espyBspBuilder_Sample();
        size_t element = espyTest_At(&bytes, cases[i].lump, cases[i].stride, cases[i].element);
        espyTest_SetU32(&bytes, element + cases[i].field, cases[i].value);
        espyWorld* world;
        espyImportReport report;
        assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_BadData);
        char wanted[256];
        snprintf(wanted, sizeof wanted, "%s at byte %zu", cases[i].text, element);
        if (!strstr(report.message, wanted))
        {
            fail_msg("case %zu: '%s' does not say '%s'", i, report.message, wanted);
        }
        espyBytes_Free(&bytes);
    }
}

static void test_other_versions_and_formats_are_refused(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    espyWorld* world;
    espyImportReport report;
    bytes.data[4] = 38;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_UnsupportedVersion);
    assert_non_null(strstr(report.message, "version 38"));
    bytes.data[4] = 47;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_Ok);
    espyWorld_Destroy(world);
    bytes.data[0] = 'V';
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_BadData);
    espyBytes_Free(&bytes);
}

static void test_a_map_that_multiplies_itself_is_refused(void** state)
{
    (void)state;
    // 20,000 faces share one patch that is cut into 32 x 32 a piece: gigabytes of triangles from 2 MB.
    float control[81 * 3];
    espyiRng rng = espyiRng_Seed(5);
    for (uint32_t i = 0; i < 81 * 3; ++i)
    {
        control[i] = 4000.0f * espyiRng_Float(&rng);
    }
    espyBspBuilder b = {0};
    espyBspBuilder_Shader(&b, "textures/test/bomb", 0, 1);
    espyBspBuilder_Patch(&b, 0, 9, 9, control);
    for (int i = 1; i < 20000; ++i)
    {
        espyBspBuilder_Face(&b, 0, 2, 0, 81, 0, 0, 9, 9);
    }
    espyBspBuilder_Model(&b, 0, 20000);
    espyBytes bytes = espyBspBuilder_Finish(&b, 46);
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_Load(&bytes, NULL, &world, &report), espyResult_LimitExceeded);
    assert_null(world);
    espyBytes_Free(&bytes);
}

// --- visibility

static void test_leafs_clusters_and_lines(void** state)
{
    (void)state;
    espyBytes bytes = espyBspBuilder_Sample();
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiBsp bsp;
    espyiBspError error;
    assert_int_equal(espyiBsp_Read(bytes.data, bytes.size, &hooks, &bsp, &error), espyResult_Ok);
    const float right[3] = {10, 5, 5};
    const float left[3] = {-10, 5, 5};
    const float above[3] = {10, 5, 600};
    assert_int_equal(espyiBspVis_GetLeafAt(&bsp, right), 1);
    assert_int_equal(espyiBspVis_GetLeafAt(&bsp, left), 2);
    assert_int_equal(espyiBspVis_GetLeafAt(&bsp, above), 0);
    assert_int_equal(espyiBspVis_GetCluster(&bsp, 1), 0);
    assert_int_equal(espyiBspVis_GetCluster(&bsp, 2), 1);
    assert_int_equal(espyiBspVis_GetCluster(&bsp, 0), -1);
    assert_int_equal(espyiBspVis_GetCluster(&bsp, -1), -1);
    assert_true(espyiBspVis_CanSee(&bsp, 0, 1));
    assert_true(espyiBspVis_CanSee(&bsp, 0, 0));
    assert_false(espyiBspVis_CanSee(&bsp, 1, 0));
    assert_true(espyiBspVis_CanSee(&bsp, 1, 1));
    assert_false(espyiBspVis_CanSee(&bsp, -1, 1));
    assert_false(espyiBspVis_CanSee(&bsp, 1, 2));
    assert_true(espyiBspVis_IsLineOpen(&bsp, right, left));
    assert_false(espyiBspVis_IsLineOpen(&bsp, right, above));
    // Over the top: open at both ends, solid between.
    const float highRight[3] = {100, 0, 511};
    const float highLeft[3] = {-100, 0, 513};
    assert_false(espyiBspVis_IsLineOpen(&bsp, highRight, highLeft));
    // Along the ceiling: 2 mm below it is too near, 4 mm is clear.
    assert_false(espyiBspVis_IsLineOpen(&bsp, (const float[3]){100, 0, 511.94f}, (const float[3]){-100, 0, 511.94f}));
    assert_true(espyiBspVis_IsLineOpen(&bsp, (const float[3]){100, 0, 511.87f}, (const float[3]){-100, 0, 511.87f}));
    float metres[3];
    float back[3];
    espyiBsp_FromQuake(highLeft, metres);
    assert_true(metres[0] == -3.125f && metres[1] == 16.03125f && metres[2] == 0.0f);
    espyiBsp_ToQuake(metres, back);
    assert_true(back[0] == -100.0f && back[1] == 0.0f && back[2] == 513.0f);
    espyiBsp_Free(&bsp);
    espyBytes_Free(&bytes);
}

// --- real maps

static void test_real_maps(void** state)
{
    (void)state;
    const char* levels = getenv("ESPY_LEVELS");
    if (!levels)
    {
        print_message("ESPY_LEVELS is not set (bench/fetch_levels.sh fetches levels): real maps skipped\n");
        skip();
    }
    espyHooks hooks = espyiHooks_Resolve(NULL);
    char folder[512];
    snprintf(folder, sizeof folder, "%s/openarena", levels);
    DIR* dir = opendir(folder);
    assert_non_null(dir);
    int maps = 0;
    for (struct dirent* file = readdir(dir); file; file = readdir(dir))
    {
        size_t length = strlen(file->d_name);
        if (length < 4 || strcmp(file->d_name + length - 4, ".pk3") != 0)
        {
            continue;
        }
        char archive[1024];
        snprintf(archive, sizeof archive, "%s/%s", folder, file->d_name);
        espyiPk3 pk3;
        assert_int_equal(espyiPk3_Open(&pk3, archive, &hooks), espyResult_Ok);
        for (uint64_t i = 0; i < pk3.count; ++i)
        {
            const char* name = espyiPk3_GetName(&pk3, i);
            if (!name || strncmp(name, "maps/", 5) != 0 || strcmp(name + strlen(name) - 4, ".bsp") != 0)
            {
                continue;
            }
            char path[2048];
            snprintf(path, sizeof path, "%s:%s", archive, name);
            espyLog log;
            espyWorld* world;
            espyImportReport report;
            espyResult result = espyTest_LoadFile(path, &log, &world, &report);
            if (result != espyResult_Ok)
            {
                fail_msg("%s", report.message);
            }
            assert_true(espyWorld_GetNodeCount(world) > 0);
            espyWorld_Destroy(world);
            ++maps;
        }
        espyiPk3_Close(&pk3);
    }
    closedir(dir);
    print_message("%d maps loaded\n", maps);
    assert_true(maps > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faces_become_objects_by_shader_and_block),
        cmocka_unit_test(test_axes_scale_and_winding),
        cmocka_unit_test(test_report_07_the_same_map_gives_the_same_world),
        cmocka_unit_test(test_brush_models_are_dynamic_objects_of_their_own),
        cmocka_unit_test(test_entity_positions_become_cameras),
        cmocka_unit_test(test_entities_are_read_tolerantly),
        cmocka_unit_test(test_patches_stay_within_their_stated_error),
        cmocka_unit_test(test_a_flat_patch_is_not_cut),
        cmocka_unit_test(test_pieces_of_a_patch_meet_without_cracks),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_every_word_flipped_ends_well),
        cmocka_unit_test(test_damage_is_named_with_its_place),
        cmocka_unit_test(test_other_versions_and_formats_are_refused),
        cmocka_unit_test(test_a_map_that_multiplies_itself_is_refused),
        cmocka_unit_test(test_leafs_clusters_and_lines),
        cmocka_unit_test(test_real_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
