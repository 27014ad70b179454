// SPDX-License-Identifier: MIT
// What a sound glTF file becomes: geometry of every encoding, nodes, flags, materials, cameras, instances.
#include "gltf_case.h"
#include "test_main.h"

#include "core/core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void espyTest_AssertCube(const espyMeshDef* mesh, float tolerance)
{
    assert_int_equal(mesh->triangles.triangleCount, 12);
    assert_int_equal(mesh->triangles.vertexCount, 8);
    for (uint32_t i = 0; i < 8; ++i)
    {
        assert_float_equal(fabsf(mesh->triangles.positions[i].x), 1, tolerance);
        assert_float_equal(fabsf(mesh->triangles.positions[i].y), 1, tolerance);
        assert_float_equal(fabsf(mesh->triangles.positions[i].z), 1, tolerance);
    }
    assert_float_equal(espyGltfCase_Volume(&mesh->triangles), 8, 20 * tolerance + 1e-6f);
}

static void a_box_becomes_a_node_with_a_mesh(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(&test, "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"name\":\"crate\",\"mesh\":0,"
                                "\"translation\":[1,2,3],\"extras\":{\"occluder\":1}}]," ESPY_GLTF_BOX_MESH
                                "," ESPY_GLTF_BOX_DATA "}");
    espyGltfCase_AssertOk(&test);
    assert_string_equal(test.report.format, "gltf");
    assert_int_equal(test.warningCount, 0);
    assert_int_equal(espyWorld_GetNodeCount(test.world), 1);
    espyNodeDef node = espyGltfCase_Node(&test, 0);
    assert_string_equal(node.name, "crate");
    assert_int_equal(node.kind, espyNodeKind_StaticMesh3D);
    assert_float_equal(node.local.m[13], 2, 0);
    espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
    assert_string_equal(mesh.name, "box");
    espyTest_AssertCube(&mesh, 0);
    espyGltfCase_Drop(&test);
}

/// One cube with positions of every component type and stride, and indices of every type.
static void every_component_type_is_read(void** state)
{
    (void)state;
    static const struct
    {
        int type;
        const char* normalized;
        int size, one;
    } types[] = {
        {5120, "false", 1, 1},    {5120, "true", 1, 127},   {5121, "true", 1, 255}, {5122, "false", 2, 1},
        {5122, "true", 2, 32767}, {5123, "true", 2, 65535}, {5126, "false", 4, 0},
    };
    static const int indexTypes[] = {5121, 5123, 5125}, indexSizes[] = {1, 2, 4};
    for (size_t t = 0; t < ESPYI_ARRAY_COUNT(types); ++t)
    {
        for (size_t k = 0; k < 6; ++k)
        {
            uint8_t bin[8 * 24 + 36 * 4] = {0};
            int stride = k < 3 ? (3 * types[t].size + 3) / 4 * 4 : 24;
            for (int i = 0; i < 24; ++i)
            {
                bool high = (i / 3) >> (i % 3) & 1;
                uint8_t* at = bin + i / 3 * stride + i % 3 * types[t].size;
                // An unsigned type has its low end at zero.
                bool isUnsigned = types[t].type == 5121 || types[t].type == 5123;
                int value = high ? types[t].one : isUnsigned ? 0 : -types[t].one;
                float real = high ? 1.0f : -1.0f;
                if (types[t].type == 5126)
                {
                    memcpy(at, &real, 4);
                }
                else
                {
                    at[0] = (uint8_t)value;
                    if (types[t].size == 2)
                    {
                        at[1] = (uint8_t)(value >> 8);
                    }
                }
            }
            for (int i = 0; i < 36; ++i)
            {
                bin[8 * 24 + i * indexSizes[k % 3]] = espyGltfCase_BoxBytes()[96 + 2 * i];
            }
            char json[1024];
            snprintf(json, sizeof json,
                     "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0,\"extras\":{\"occludee\":true}}],"
                     "\"extensionsRequired\":[\"KHR_mesh_quantization\"]," ESPY_GLTF_BOX_MESH
                     ",\"accessors\":[{\"bufferView\":0,\"componentType\":%d,\"normalized\":%s,\"count\":8,"
                     "\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":%d,\"count\":36,\"type\":\"SCALAR\"}],"
                     "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d,\"byteStride\":%d},"
                     "{\"buffer\":0,\"byteOffset\":192,\"byteLength\":%d}],\"buffers\":[{\"byteLength\":336}]}",
                     types[t].type, types[t].normalized, indexTypes[k % 3], 8 * stride, stride, 36 * indexSizes[k % 3]);
            size_t size;
            espyGltfCase test = {0};
            uint8_t* glb = espyGltfCase_MakeGlb(json, bin, sizeof bin, &size);
            espyGltfCase_LoadBytes(&test, glb, size, 0);
            espyGltfCase_AssertOk(&test);
            espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
            bool isUnsigned = types[t].type == 5121 || types[t].type == 5123;
            assert_float_equal(espyGltfCase_Volume(&mesh.triangles), (isUnsigned ? 1 : 8), 1e-6f);
            espyGltfCase_Drop(&test);
            free(glb);
        }
    }
}

static void sparse_accessors_are_read(void** state)
{
    (void)state;
    // Zeros without a view, and a view, each with two vertices replaced: the triangle stands at x = 2.
    uint8_t bin[96] = {0};
    const float values[6] = {2, 0, 0, 2, 1, 0};
    const float base[9] = {2, 0, 1, 9, 9, 9, 9, 9, 9};
    bin[0] = 1;
    bin[1] = 2;
    memcpy(bin + 4, values, sizeof values);
    memcpy(bin + 28, base, sizeof base);
    for (int i = 0; i < 2; ++i)
    {
        char json[1024];
        snprintf(json, sizeof json,
                 "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
                 "\"accessors\":[{%s\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":2,"
                 "\"indices\":{\"bufferView\":0,\"componentType\":5121},\"values\":{\"bufferView\":1}}}],"
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":2},{\"buffer\":0,\"byteOffset\":4,\"byteLength\":24},"
                 "{\"buffer\":0,\"byteOffset\":28,\"byteLength\":36}],\"buffers\":[{\"byteLength\":96}]}",
                 i == 0 ? "" : "\"bufferView\":2,");
        size_t size;
        espyGltfCase test = {0};
        uint8_t* glb = espyGltfCase_MakeGlb(json, bin, sizeof bin, &size);
        espyGltfCase_LoadBytes(&test, glb, size, 0);
        espyGltfCase_AssertOk(&test);
        espyTriangles t = espyGltfCase_Mesh(&test, 0).triangles;
        assert_int_equal(t.triangleCount, 1);
        assert_float_equal(t.positions[t.indices[0]].x, i == 0 ? 0 : 2, 0);
        assert_float_equal(t.positions[t.indices[0]].z, i == 0 ? 0 : 1, 0);
        assert_float_equal(t.positions[t.indices[1]].x, 2, 0);
        assert_float_equal(t.positions[t.indices[2]].y, 1, 0);
        espyGltfCase_Drop(&test);
        free(glb);
    }
}

static void meshopt_compression_is_read(void** state)
{
    (void)state;
    static const char plain[] =
        "oAAAAAE//wAA/////////wAAAAEMzAAA////AAAAAQDAAAD/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAIC/AACAvwAAgL8=";
    static const char exponential[] =
        "oAIENDQ0AAAAAAEmZgAAASZmAAAAAQzMAAAEAwQBCEgAAAEISAAAAAEAwAAABAEAgAAAAQCAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAAD///8A////AP///wA=";
    static const char triangles[] = "4P4A/w9SA1YVTwdVE/8EAv8CAgQBAAB2h1ZneKmGZYlomAFpAAA=";
    static const char sequence[] = "0AAIBAoMBgwECAoMAhYEEBIUAgYQBBIUDgoQCBYYDgIIEBYYBgAAAAA=";
    for (int i = 0; i < 4; ++i)
    {
        bool filtered = i & 1, listed = i & 2;
        char json[2048];
        snprintf(json, sizeof json,
                 "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0}]," ESPY_GLTF_BOX_MESH ","
                 "\"extensionsRequired\":[\"EXT_meshopt_compression\"],"
                 "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
                 "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}],\"bufferViews\":["
                 "{\"buffer\":1,\"byteLength\":96,\"byteStride\":12,\"extensions\":{\"EXT_meshopt_compression\":"
                 "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":%d,\"byteStride\":12,\"count\":8,"
                 "\"mode\":\"ATTRIBUTES\",\"filter\":\"%s\"}}},"
                 "{\"buffer\":1,\"byteOffset\":96,\"byteLength\":72,\"extensions\":{\"EXT_meshopt_compression\":"
                 "{\"buffer\":2,\"byteLength\":%d,\"byteStride\":2,\"count\":36,\"mode\":\"%s\"}}}],"
                 "\"buffers\":[{\"byteLength\":%d,\"uri\":\"data:application/octet-stream;base64,%s\"},"
                 "{\"byteLength\":168,\"extensions\":{\"EXT_meshopt_compression\":{\"fallback\":true}}},"
                 "{\"byteLength\":%d,\"uri\":\"data:application/gltf-buffer;base64,%s\"}]}",
                 filtered ? 89 : 68, filtered ? "EXPONENTIAL" : "NONE", listed ? 41 : 38,
                 listed ? "INDICES" : "TRIANGLES", filtered ? 89 : 68, filtered ? exponential : plain, listed ? 41 : 38,
                 listed ? sequence : triangles);
        espyGltfCase test = {0};
        espyGltfCase_LoadBytes(&test, json, strlen(json), 0);
        espyGltfCase_AssertOk(&test);
        espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
        espyTest_AssertCube(&mesh, 0);
        espyGltfCase_Drop(&test);
    }
}

static const char dracoJson[] =
    "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0}],"
    "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],"
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"extensions\":"
    "{\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":{\"POSITION\":0}}}}]}],"
    "\"accessors\":[{\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
    "{\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}],"
    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":80}],\"buffers\":[{\"byteLength\":80,\"uri\":\"data:;base64,"
    "RFJBQ08CAgEBAAAACAwACwAAA19LFQEBEAH/AAABAAkDAAACAQEBAAMDASABIAMAsEKcIAIFCAAAAAD/BwAAAACAvwAAgL8AAIC/AAAAQAs=\"}]}";

static void draco_compression_is_read(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBytes(&test, dracoJson, strlen(dracoJson), 0);
    espyGltfCase_AssertOk(&test);
    espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
    espyTest_AssertCube(&mesh, 1e-3f);
    espyGltfCase_Drop(&test);
}

static void strips_and_fans_keep_their_fronts(void** state)
{
    (void)state;
    // A unit square in xy with normals to +z: as a strip 0 1 2 3 and as a fan 0 1 3 2; points are skipped.
    const float square[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    static const struct
    {
        int mode;
        uint8_t indices[4];
        uint32_t triangles;
    } modes[] = {
        {5, {0, 1, 2, 3}, 2}, {6, {0, 1, 3, 2}, 2}, {4, {0, 1, 2, 0}, 1}, {0, {0, 1, 2, 3}, 0}, {3, {0, 1, 2, 3}, 0}};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(modes); ++i)
    {
        uint8_t bin[52];
        memcpy(bin, square, 48);
        memcpy(bin + 48, modes[i].indices, 4);
        char json[1024];
        snprintf(json, sizeof json,
                 "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0}],"
                 "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"mode\":%d}]}],"
                 "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"
                 "{\"bufferView\":0,\"byteOffset\":48,\"componentType\":5121,\"count\":4,\"type\":\"SCALAR\"}],"
                 "\"bufferViews\":[{\"buffer\":0,\"byteLength\":52}],\"buffers\":[{\"byteLength\":52}]}",
                 modes[i].mode);
        size_t size;
        espyGltfCase test = {0};
        uint8_t* glb = espyGltfCase_MakeGlb(json, bin, sizeof bin, &size);
        espyGltfCase_LoadBytes(&test, glb, size, 0);
        espyGltfCase_AssertOk(&test);
        if (modes[i].triangles == 0)
        {
            assert_int_equal(espyGltfCase_Node(&test, 0).mesh.index1, 0);
        }
        else
        {
            espyTriangles t = espyGltfCase_Mesh(&test, 0).triangles;
            assert_int_equal(t.triangleCount, modes[i].triangles);
            float area = 0.0f;
            for (uint32_t k = 0; k < t.triangleCount; ++k)
            {
                espyVec3 a = t.positions[t.indices[3 * k]], b = t.positions[t.indices[3 * k + 1]];
                espyVec3 c = t.positions[t.indices[3 * k + 2]];
                float twice = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
                assert_true(twice > 0.0f);
                area += 0.5f * twice;
            }
            assert_float_equal(area, 0.5f * (float)modes[i].triangles, 1e-6f);
        }
        espyGltfCase_Drop(&test);
        free(glb);
    }
}

static void materials_decide_what_blocks(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(
        &test,
        "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0,\"extras\":{\"occluder\":1}}],\"meshes\":[{"
        "\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1},"
        "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0},"
        "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":1},"
        "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":2},"
        "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":3}]}],"
        "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,0.25,0,1],"
        "\"baseColorTexture\":{\"index\":0}}},{\"alphaMode\":\"MASK\"},{\"alphaMode\":\"BLEND\"},"
        "{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.5}}}],"
        "\"textures\":[{\"source\":0}],\"images\":[{\"uri\":\"missing.png\"},{\"bufferView\":77}],"
        "\"extensionsRequired\":[\"KHR_materials_transmission\",\"KHR_texture_basisu\"]," ESPY_GLTF_BOX_DATA "}");
    espyGltfCase_AssertOk(&test);
    espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
    const espyMaterialClass classes[] = {espyMaterialClass_Opaque, espyMaterialClass_Opaque, espyMaterialClass_Masked,
                                         espyMaterialClass_Translucent, espyMaterialClass_Translucent};
    assert_int_equal(mesh.partCount, 5);
    for (uint32_t i = 0; i < 5; ++i)
    {
        assert_int_equal(mesh.parts[i].material, classes[i]);
        assert_int_equal(mesh.parts[i].indexCount, 36);
    }
    assert_int_equal(mesh.parts[0].color, 0xFFFFFF);
    assert_int_equal(mesh.parts[1].color, 0xFF8000);
    espyGltfCase_Drop(&test);
}

static void extras_become_flags_and_settings(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(
        &test,
        "{" ESPY_GLTF_ASSET ",\"scene\":0,\"scenes\":[{\"nodes\":[0,1,2,3],\"extras\":{\"occlusionCulling\":false,"
        "\"occlusionCellSize\":2.5,\"bakeQuality\":\"high\",\"dynamicObjects\":0,\"consoleBudgetKB\":64,"
        "\"unrollCellSize\":9}}],\"nodes\":["
        "{\"mesh\":0,\"extras\":{\"occluder\":1,\"occludee\":true,\"hidden\":\"true\",\"blocker\":1.0,"
        "\"tags\":\" Enemy, Turret ,,\",\"skybox\":false,\"alwaysUpdate\":0,\"other\":{\"a\":[1,2]}}},"
        "{\"mesh\":0,\"extras\":{\"skybox\":1,\"alwaysUpdate\":true,\"dynamic\":\"false\",\"tags\":[\"A\",\"B\"]}},"
        "{\"mesh\":0,\"extras\":{\"occlusionArea\":1,\"occluder\":\"yes\",\"tags\":7}},"
        "{\"extras\":{\"occlusionProxy\":{\"radius\":0.5,\"height\":2,\"offsetY\":1,\"strength\":0.75},"
        "\"dynamic\":true}}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}");
    espyGltfCase_AssertOk(&test);
    espySceneSettings s = espyWorld_GetSettings(test.world);
    assert_false(s.occlusionCulling || s.dynamicObjects);
    assert_float_equal(s.occlusionCellSize, 2.5f, 0);
    assert_int_equal(s.bakeQuality, espyBakeQuality_High);
    assert_int_equal(s.consoleBudgetKB, 64);
    assert_float_equal(s.unrollCellSize, 9, 0);
    espyNodeDef node = espyGltfCase_Node(&test, 0);
    assert_int_equal(node.flags & ~(uint32_t)espyNodeFlag_CastsShadow, espyNodeFlag_OccluderStatic |
                                                                           espyNodeFlag_OccludeeStatic |
                                                                           espyNodeFlag_Hidden | espyNodeFlag_Blocker);
    assert_int_equal(node.tagCount, 2);
    assert_string_equal(node.tags[0], "Enemy");
    assert_string_equal(node.tags[1], "Turret");
    node = espyGltfCase_Node(&test, 1);
    assert_int_equal(node.flags & ~(uint32_t)espyNodeFlag_CastsShadow, espyNodeFlag_Skybox | espyNodeFlag_AlwaysUpdate);
    assert_int_equal(node.tagCount, 2);
    assert_string_equal(node.tags[1], "B");
    node = espyGltfCase_Node(&test, 2);
    assert_int_equal(node.kind, espyNodeKind_OcclusionArea);
    assert_int_equal(node.mesh.index1, 0);
    assert_false(node.flags & espyNodeFlag_OccluderStatic);
    node = espyGltfCase_Node(&test, 3);
    assert_true(node.proxy.present);
    assert_float_equal(node.proxy.height, 2, 0);
    assert_float_equal(node.proxy.strength, 0.75f, 0);
    assert_true(node.flags & espyNodeFlag_Dynamic);
    // "yes" and the number as tags are told about.
    assert_int_equal(test.warningCount, 2);
    assert_true(espyGltfCase_Warned(&test, espyMessageId_ImportUnknownExtra));
    assert_non_null(strstr(test.warnings[0], "node #2: the value of 'occluder'"));
    espyGltfCase_Drop(&test);
}

static void warnings_say_where(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(&test, "{" ESPY_GLTF_ASSET
                                ",\"scene\":0,\"scenes\":[{\"nodes\":[0,1],\"extras\":{\"bakeQuality\":\"best\"}}],"
                                "\"nodes\":[{\"name\":\"door\",\"extras\":{\"occluder\":7}},"
                                "{\"name\":\"\",\"extras\":{\"occludee\":9}}]}");
    espyGltfCase_AssertOk(&test);
    assert_int_equal(test.warningCount, 3);
    assert_non_null(strstr(test.warnings[0], "the scene: the value of 'bakeQuality'"));
    assert_non_null(strstr(test.warnings[1], "node 'door': the value of 'occluder'"));
    assert_non_null(strstr(test.warnings[2], "node #1: the value of 'occludee'"));
    espyGltfCase_Drop(&test);
}

static void what_moves_is_dynamic(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(
        &test,
        "{" ESPY_GLTF_ASSET ",\"scenes\":[{\"nodes\":[0,3,4,5]}],\"nodes\":[{\"mesh\":0,\"children\":[1]},"
        "{\"mesh\":0,\"children\":[2]},{\"mesh\":0},{\"mesh\":0,\"skin\":0},{\"mesh\":0,\"extras\":{\"occluder\":1}},"
        "{\"mesh\":0}],\"skins\":[{\"joints\":[1]}],\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":"
        "{\"node\":1,\"path\":\"rotation\"}},{\"sampler\":0,\"target\":{\"path\":\"pointer\",\"extensions\":"
        "{\"KHR_animation_pointer\":{\"pointer\":\"/nodes/5/"
        "translation\"}}}},{\"sampler\":0,\"target\":{\"node\":99}}],"
        "\"samplers\":[]}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}");
    espyGltfCase_AssertOk(&test);
    const bool moves[] = {false, true, true, true, false, true};
    for (int32_t i = 0; i < 6; ++i)
    {
        assert_int_equal((espyGltfCase_Node(&test, i).flags & espyNodeFlag_Dynamic) != 0, moves[i]);
    }
    assert_int_equal(espyGltfCase_Node(&test, 3).kind, espyNodeKind_SkeletalMesh3D);
    espyGltfCase_Drop(&test);
}

static void nodes_outside_the_default_scene_keep_their_id_free(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(&test,
                         "{" ESPY_GLTF_ASSET ",\"scene\":1,\"scenes\":[{\"nodes\":[0]},{\"nodes\":[3,1]}],"
                         "\"nodes\":[{\"mesh\":0},{\"children\":[2]},{\"mesh\":0},{\"mesh\":0}]," ESPY_GLTF_BOX_MESH
                         "," ESPY_GLTF_BOX_DATA "}");
    espyGltfCase_AssertOk(&test);
    assert_int_equal(espyWorld_GetNodeCount(test.world), 3);
    assert_int_equal(espyWorld_GetMeshCount(test.world), 1);
    assert_int_equal(espyWorld_FindSource(test.world, 0).index1, 0);
    assert_int_equal(espyGltfCase_Node(&test, 3).sourceId, 3);
    assert_int_equal(espyGltfCase_Node(&test, 2).parent.index1, espyWorld_FindSource(test.world, 1).index1);
    espyGltfCase_Drop(&test);
}

static void transforms_are_composed(void** state)
{
    (void)state;
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(
        &test, "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"matrix\":[2,0,0,0,0,2,0,0,0,0,2,0,5,6,7,1],"
               "\"children\":[1]},{\"mesh\":0,\"translation\":[1,0,0],\"rotation\":[0,0.70710678,0,0.70710678],"
               "\"scale\":[1,1,3]}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}");
    espyGltfCase_AssertOk(&test);
    // The box reaches 3 along its z, which the rotation takes to x; all doubled and moved.
    espyBox box = espyWorld_GetWorldBounds(test.world, espyWorld_FindSource(test.world, 1));
    assert_float_equal(box.min.x, 5 + 2 * (1 - 3), 1e-5f);
    assert_float_equal(box.max.x, 5 + 2 * (1 + 3), 1e-5f);
    assert_float_equal(box.min.y, 4, 1e-5f);
    assert_float_equal(box.max.z, 9, 1e-5f);
    espyGltfCase_Drop(&test);
}

static void instances_and_cameras_are_read(void** state)
{
    (void)state;
    uint8_t bin[ESPY_GLTF_BOX_SIZE + 24 + 4] = {0};
    memcpy(bin, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE);
    const float places[6] = {0, 0, 0, 10, 0, 0};
    memcpy(bin + ESPY_GLTF_BOX_SIZE, places, sizeof places);
    static const char json[] =
        "{" ESPY_GLTF_ASSET ",\"scenes\":[{\"nodes\":[0,1,2,3]}],\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"],"
        "\"nodes\":[{\"mesh\":0,\"extensions\":{\"EXT_mesh_gpu_instancing\":{\"attributes\":{\"TRANSLATION\":2}}}},"
        "{\"camera\":0,\"name\":\"eye\"},{\"camera\":1},{\"camera\":0,\"mesh\":0}],"
        "\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":0.9,\"aspectRatio\":1.5,\"znear\":0.2}},"
        "{\"type\":\"orthographic\",\"orthographic\":{\"xmag\":6,\"ymag\":3,\"znear\":0.1,\"zfar\":50}}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],"
        "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
        "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"},"
        "{\"bufferView\":2,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72},"
        "{\"buffer\":0,\"byteOffset\":168,\"byteLength\":24}],\"buffers\":[{\"byteLength\":196}]}";
    size_t size;
    espyGltfCase test = {0};
    uint8_t* glb = espyGltfCase_MakeGlb(json, bin, sizeof bin, &size);
    espyGltfCase_LoadBytes(&test, glb, size, 0);
    espyGltfCase_AssertOk(&test);
    espyNodeDef node = espyGltfCase_Node(&test, 0);
    assert_int_equal(node.kind, espyNodeKind_InstancedMesh3D);
    assert_int_equal(node.instanceCount, 2);
    assert_float_equal(node.instances[1].m[12], 10, 0);
    assert_float_equal(node.instances[1].m[0], 1, 0);
    node = espyGltfCase_Node(&test, 1);
    assert_int_equal(node.kind, espyNodeKind_Camera3D);
    assert_float_equal(node.camera.verticalFov, 0.9f, 1e-6f);
    assert_float_equal(node.camera.aspect, 1.5f, 0);
    assert_float_equal(node.camera.farDistance, 0, 0);
    node = espyGltfCase_Node(&test, 2);
    assert_true(node.camera.orthographic);
    assert_float_equal(node.camera.halfHeight, 3, 0);
    assert_float_equal(node.camera.aspect, 2, 0);
    // A node that is a mesh and a camera becomes two; the second has no id.
    assert_int_equal(espyGltfCase_Node(&test, 3).kind, espyNodeKind_StaticMesh3D);
    assert_int_equal(espyWorld_GetNodeCount(test.world), 5);
    espyGltfCase_Drop(&test);
    free(glb);
}

static void without_flags_everything_is_flagged_and_said_so(void** state)
{
    (void)state;
    static const char rest[] = "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]},"
                               "{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0}]}],"
                               "\"materials\":[{\"alphaMode\":\"BLEND\"}]," ESPY_GLTF_BOX_DATA "}";
    char json[2048];
    espyGltfCase test = {0};
    snprintf(json, sizeof json,
             "{" ESPY_GLTF_ASSET ",\"scenes\":[{\"nodes\":[0,1,2,3]}],\"nodes\":[{\"mesh\":0},{\"mesh\":1},"
             "{\"mesh\":0,\"extras\":{\"dynamic\":1}},{\"mesh\":0,\"extras\":{\"skybox\":1}}],%s",
             rest);
    espyGltfCase_LoadBox(&test, json);
    espyGltfCase_AssertOk(&test);
    const uint32_t both = espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic;
    const uint32_t want[] = {both, espyNodeFlag_OccludeeStatic, espyNodeFlag_OccludeeStatic, 0};
    for (int32_t i = 0; i < 4; ++i)
    {
        assert_int_equal(espyGltfCase_Node(&test, i).flags & both, want[i]);
    }
    assert_true(espyGltfCase_Warned(&test, espyMessageId_ImportNoFlags));
    espyGltfCase_Drop(&test);
    // One flag anywhere, even a false one, and the file's word counts.
    snprintf(json, sizeof json,
             "{" ESPY_GLTF_ASSET ",\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"mesh\":0},"
             "{\"mesh\":1,\"extras\":{\"occludee\":false}}],%s",
             rest);
    espyGltfCase_LoadBox(&test, json);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(test.warningCount, 0);
    assert_int_equal(espyGltfCase_Node(&test, 0).flags & both, 0);
    espyGltfCase_Drop(&test);
}

static void report_27_only_used_vertices_count_for_bounds(void** state)
{
    (void)state;
    // One triangle of the cube: the other five corners are not part of it.
    espyGltfCase test = {0};
    espyGltfCase_LoadBox(&test,
                         "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0}]," ESPY_GLTF_BOX_MESH
                         ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
                         "{\"bufferView\":1,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],\"bufferViews\":["
                         "{\"buffer\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}],"
                         "\"buffers\":[{\"byteLength\":168}]}");
    espyGltfCase_AssertOk(&test);
    espyBox box = espyWorld_GetWorldBounds(test.world, espyWorld_FindSource(test.world, 0));
    assert_float_equal(box.max.z, -1, 0);
    espyGltfCase_Drop(&test);
}

static void report_49_bad_triangles_are_dropped_and_counted(void** state)
{
    (void)state;
    uint8_t bin[ESPY_GLTF_BOX_SIZE];
    memcpy(bin, espyGltfCase_BoxBytes(), sizeof bin);
    // Vertex 7 is not a number; one index is past the end.
    bin[7 * 12 + 3] = 0x7F;
    bin[7 * 12 + 2] = 0xC0;
    bin[96] = 200;
    size_t size;
    espyGltfCase test = {0};
    uint8_t* glb = espyGltfCase_MakeGlb("{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE
                                        ",\"nodes\":[{\"mesh\":0}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}",
                                        bin, sizeof bin, &size);
    espyGltfCase_LoadBytes(&test, glb, size, 0);
    espyGltfCase_AssertOk(&test);
    espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
    assert_int_equal(mesh.triangles.triangleCount, 12 - 6 - 1);
    assert_true(espyGltfCase_Warned(&test, espyMessageId_ImportBadTriangles));
    assert_non_null(strstr(test.warnings[0], "7 triangles"));
    espyGltfCase_Drop(&test);
    free(glb);
}

static void files_beside_the_level_are_read_and_no_others(void** state)
{
    (void)state;
    const char* path = ESPY_BINARY_DIR "/gltf_case.gltf";
    espyGltfCase_WriteFile(ESPY_BINARY_DIR "/gltf case.bin", espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE);
    static const struct
    {
        const char* uri;
        espyResult result;
        const char* part;
    } uris[] = {
        {"gltf%20case.bin", espyResult_Ok, ""},
        {"gltf case.bin", espyResult_Ok, ""},
        {"./gltf%20case.bin", espyResult_Ok, ""},
        {"../gltf%20case.bin", espyResult_BadData, "not inside the folder"},
        {"a/../../gltf%20case.bin", espyResult_BadData, "not inside the folder"},
        {"%2e%2e/gltf%20case.bin", espyResult_BadData, "not inside the folder"},
        {"/etc/hostname", espyResult_BadData, "not inside the folder"},
        {"file:///etc/hostname", espyResult_BadData, "not inside the folder"},
        {"..\\\\secret", espyResult_BadData, "not inside the folder"},
        {"a%00b", espyResult_BadData, "not inside the folder"},
        {"", espyResult_BadData, "not inside the folder"},
        {"missing.bin", espyResult_NotFound, "missing.bin"},
        {".", espyResult_Io, "not a regular file"},
        {"data:application/octet-stream;base64,AAAA", espyResult_BadData, "168 bytes are declared, 3 are there"},
        {"data:application/octet-stream;base64,A!AA", espyResult_BadData, "base64"},
        {"data:application/octet-stream,AAAA", espyResult_BadData, "base64"},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(uris); ++i)
    {
        char json[2048];
        int length = snprintf(
            json, sizeof json,
            "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE ",\"nodes\":[{\"mesh\":0}]," ESPY_GLTF_BOX_MESH
            ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":8,\"type\":\"VEC3\"},"
            "{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}],"
            "\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}],"
            "\"buffers\":[{\"byteLength\":168,\"uri\":\"%s\"}]}",
            uris[i].uri);
        espyGltfCase_WriteFile(path, json, (size_t)length);
        espyGltfCase test = {0};
        espyGltfCase_LoadFile(&test, path);
        if (uris[i].result == espyResult_Ok)
        {
            espyGltfCase_AssertOk(&test);
            espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
            espyTest_AssertCube(&mesh, 0);
        }
        else
        {
            espyGltfCase_AssertRefused(&test, uris[i].result, uris[i].part);
            assert_non_null(strstr(test.report.message, "gltf_case.gltf: "));
        }
        espyGltfCase_Drop(&test);
    }
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, ESPY_BINARY_DIR "/no_such_level.glb");
    espyGltfCase_AssertRefused(&test, espyResult_NotFound, "no_such_level.glb");
    espyGltfCase_Drop(&test);
    espyGltfCase_LoadFile(&test, "/dev/null.glb");
    assert_int_not_equal(test.result, espyResult_Ok);
    espyGltfCase_Drop(&test);
}

static void content_decides_where_the_ending_does_not(void** state)
{
    (void)state;
    size_t size;
    uint8_t* glb = espyGltfCase_MakeGlb("{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE
                                        ",\"nodes\":[{\"mesh\":0}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}",
                                        espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    // A binary file under the text's ending, under capitals, and under an ending that nobody knows.
    static const char* const names[] = {"/gltf_content.gltf", "/gltf_content.GLB", "/gltf_content.level"};
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(names); ++i)
    {
        char path[512];
        snprintf(path, sizeof path, "%s%s", ESPY_BINARY_DIR, names[i]);
        espyGltfCase_WriteFile(path, glb, size);
        espyGltfCase test = {0};
        espyGltfCase_LoadFile(&test, path);
        espyGltfCase_AssertOk(&test);
        espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
        espyTest_AssertCube(&mesh, 0);
        espyGltfCase_Drop(&test);
    }
    free(glb);
}

static void a_chain_of_100000_nodes_is_read(void** state)
{
    (void)state;
    enum
    {
        Depth = 100000,
    };
    size_t capacity = (size_t)Depth * 48 + 256, used;
    char* json = malloc(capacity);
    used = (size_t)snprintf(json, capacity, "{" ESPY_GLTF_ASSET ",\"scenes\":[{\"nodes\":[0]}],\"nodes\":[");
    for (int i = 0; i + 1 < Depth; ++i)
    {
        used += (size_t)snprintf(json + used, capacity - used, "{\"children\":[%d],\"translation\":[1,0,0]},", i + 1);
    }
    used += (size_t)snprintf(json + used, capacity - used, "{}]}");
    espyGltfCase test = {0};
    espyGltfCase_LoadBytes(&test, json, used, 0);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(espyWorld_GetNodeCount(test.world), Depth);
    espyMat4 last = espyWorld_GetWorldTransform(test.world, espyWorld_FindSource(test.world, Depth - 1));
    assert_float_equal(last.m[12], Depth - 1, 0);
    espyGltfCase_Drop(&test);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_becomes_a_node_with_a_mesh),
        cmocka_unit_test(every_component_type_is_read),
        cmocka_unit_test(sparse_accessors_are_read),
        cmocka_unit_test(meshopt_compression_is_read),
        cmocka_unit_test(draco_compression_is_read),
        cmocka_unit_test(strips_and_fans_keep_their_fronts),
        cmocka_unit_test(materials_decide_what_blocks),
        cmocka_unit_test(extras_become_flags_and_settings),
        cmocka_unit_test(warnings_say_where),
        cmocka_unit_test(what_moves_is_dynamic),
        cmocka_unit_test(nodes_outside_the_default_scene_keep_their_id_free),
        cmocka_unit_test(transforms_are_composed),
        cmocka_unit_test(instances_and_cameras_are_read),
        cmocka_unit_test(without_flags_everything_is_flagged_and_said_so),
        cmocka_unit_test(report_27_only_used_vertices_count_for_bounds),
        cmocka_unit_test(report_49_bad_triangles_are_dropped_and_counted),
        cmocka_unit_test(files_beside_the_level_are_read_and_no_others),
        cmocka_unit_test(content_decides_where_the_ending_does_not),
        cmocka_unit_test(a_chain_of_100000_nodes_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
