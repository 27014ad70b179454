// SPDX-License-Identifier: MIT
// Writing worlds as .glb, reading them back, and embedding visibility data.
#include "gltf_case.h"
#include "test_main.h"

#include "core/core.h"
#include "import/glb.h"
#include "scenes/scenes.h"

#include <espy/editor.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ESPY_OUT ESPY_BINARY_DIR "/gltf_write.glb"

static bool espyTest_IsNear(const espyMat4* a, const espyMat4* b, float tolerance)
{
    for (int i = 0; i < 16; ++i)
    {
        if (!(fabsf(a->m[i] - b->m[i]) <= tolerance * (1.0f + fabsf(a->m[i]))))
        {
            return false;
        }
    }
    return true;
}

static void espyTest_AssertSameMesh(const espyMeshDef* a, const espyMeshDef* b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->triangles.triangleCount, b->triangles.triangleCount);
    assert_int_equal(a->partCount, b->partCount);
    for (uint32_t i = 0; i < a->partCount; ++i)
    {
        assert_int_equal(a->parts[i].material, b->parts[i].material);
        assert_int_equal(a->parts[i].color, b->parts[i].color);
        assert_int_equal(a->parts[i].indexCount, b->parts[i].indexCount);
        for (uint32_t k = 0; k < a->parts[i].indexCount; ++k)
        {
            // Vertices may be numbered anew; their bits stay.
            uint32_t from = a->triangles.indices[a->parts[i].firstIndex + k];
            uint32_t to = b->triangles.indices[b->parts[i].firstIndex + k];
            assert_memory_equal(&a->triangles.positions[from], &b->triangles.positions[to], sizeof(espyVec3));
        }
    }
}

static void espyTest_AssertSameNode(const espyWorld* a, espyNodeId aId, const espyWorld* b, espyNodeId bId)
{
    espyNodeDef x, y;
    assert_int_equal(espyWorld_GetNode(a, aId, &x), espyResult_Ok);
    assert_int_equal(espyWorld_GetNode(b, bId, &y), espyResult_Ok);
    assert_string_equal(x.name, y.name);
    assert_int_equal(x.kind, y.kind);
    assert_int_equal(x.flags, y.flags);
    assert_memory_equal(&x.local, &y.local, sizeof x.local);
    assert_int_equal(x.parent.index1 != 0, y.parent.index1 != 0);
    assert_int_equal(x.tagCount, y.tagCount);
    for (uint32_t i = 0; i < x.tagCount; ++i)
    {
        assert_string_equal(x.tags[i], y.tags[i]);
    }
    assert_int_equal(x.instanceCount, y.instanceCount);
    for (uint32_t i = 0; i < x.instanceCount; ++i)
    {
        assert_true(espyTest_IsNear(&x.instances[i], &y.instances[i], 1e-5f));
    }
    assert_memory_equal(&x.proxy, &y.proxy, sizeof x.proxy);
    assert_float_equal(x.unrollCellSize, y.unrollCellSize, 0);
    if (x.kind == espyNodeKind_Camera3D)
    {
        assert_int_equal(x.camera.orthographic, y.camera.orthographic);
        assert_float_equal(x.camera.nearDistance, y.camera.nearDistance, 0);
        assert_float_equal(x.camera.aspect, y.camera.aspect, 1e-6f);
    }
    assert_int_equal(x.mesh.index1 != 0, y.mesh.index1 != 0);
    if (x.mesh.index1 != 0)
    {
        espyMeshDef xMesh, yMesh;
        assert_int_equal(espyWorld_GetMesh(a, x.mesh, &xMesh), espyResult_Ok);
        assert_int_equal(espyWorld_GetMesh(b, y.mesh, &yMesh), espyResult_Ok);
        espyTest_AssertSameMesh(&xMesh, &yMesh);
    }
}

static void espyTest_Save(const espyWorld* world, const void* pvs, size_t pvsSize)
{
    espyImportReport report;
    espyResult result = espyImport_SaveGlb(world, ESPY_OUT, pvs, pvsSize, &report);
    if (result != espyResult_Ok)
    {
        fail_msg("%s: %s", espyResult_GetName(result), report.message);
    }
}

/// What a bake would read is the same, but for the rounding of instances.
static void espyTest_AssertSameInput(const espyWorld* a, const espyWorld* b)
{
    espyGathered *x, *y;
    assert_int_equal(espyEditor_Gather(a, 4.0f, 0.0f, NULL, &x), espyResult_Ok);
    assert_int_equal(espyEditor_Gather(b, 4.0f, 0.0f, NULL, &y), espyResult_Ok);
    const espyBakeInput *p = espyGathered_GetInput(x), *q = espyGathered_GetInput(y);
    assert_int_equal(p->occluderCount, q->occluderCount);
    assert_int_equal(p->occludeeCount, q->occludeeCount);
    assert_int_equal(p->areaCount, q->areaCount);
    assert_int_equal(p->viewPointCount, q->viewPointCount);
    for (uint32_t i = 0; i < p->occluderCount; ++i)
    {
        assert_int_equal(p->occluders[i].node, q->occluders[i].node);
        assert_int_equal(p->occluders[i].mesh.triangleCount, q->occluders[i].mesh.triangleCount);
    }
    for (uint32_t i = 0; i < p->occludeeCount; ++i)
    {
        const espyBakeOccludee *o = &p->occludees[i], *r = &q->occludees[i];
        assert_int_equal(o->node, r->node);
        assert_int_equal(o->part, r->part);
        assert_int_equal(o->firstOwn, r->firstOwn);
        assert_int_equal(o->ownCount, r->ownCount);
        assert_float_equal(o->box.min.x, r->box.min.x, 1e-4f);
        assert_float_equal(o->box.max.y, r->box.max.y, 1e-4f);
        assert_float_equal(o->box.max.z, r->box.max.z, 1e-4f);
    }
    espyGathered_Destroy(x);
    espyGathered_Destroy(y);
}

static void scenes_come_back_equal(void** state)
{
    (void)state;
    for (int kind = 0; kind < espySceneKind_Count; ++kind)
    {
        const char* name = espyScene_GetName((espySceneKind)kind);
        espyWorld* world;
        assert_int_equal(espyScene_Build(name, 2, 3, &world), espyResult_Ok);
        espyTest_Save(world, NULL, 0);
        espyGltfCase test = {0};
        espyGltfCase_LoadFile(&test, ESPY_OUT);
        espyGltfCase_AssertOk(&test);
        assert_int_equal(test.warningCount, 0);
        assert_int_equal(espyWorld_GetNodeCount(world), espyWorld_GetNodeCount(test.world));
        for (uint32_t i = 0; i < espyWorld_GetNodeCount(world); ++i)
        {
            espyNodeId id = espyWorld_GetNodeAt(world, i), other = espyWorld_FindSource(test.world, (int32_t)i);
            espyNodeDef node, parent, otherNode, otherParent;
            espyWorld_GetNode(world, id, &node);
            assert_int_equal(node.sourceId, i);
            espyTest_AssertSameNode(world, id, test.world, other);
            espyWorld_GetNode(test.world, other, &otherNode);
            if (node.parent.index1 != 0)
            {
                espyWorld_GetNode(world, node.parent, &parent);
                espyWorld_GetNode(test.world, otherNode.parent, &otherParent);
                assert_int_equal(parent.sourceId, otherParent.sourceId);
            }
        }
        espySceneSettings a = espyWorld_GetSettings(world), b = espyWorld_GetSettings(test.world);
        assert_float_equal(a.occlusionCellSize, b.occlusionCellSize, 0);
        assert_int_equal(a.bakeQuality, b.bakeQuality);
        assert_int_equal(a.consoleBudgetKB, b.consoleBudgetKB);
        assert_float_equal(a.unrollCellSize, b.unrollCellSize, 0);
        assert_int_equal(a.occlusionCulling, b.occlusionCulling);
        assert_int_equal(a.dynamicObjects, b.dynamicObjects);
        espyTest_AssertSameInput(world, test.world);
        espyGltfCase_Drop(&test);
        espyWorld_Destroy(world);
    }
}

static espyWorld* espyTest_MakeWorld(void)
{
    espyWorldDef def = espyWorldDef_Default();
    espyWorld* world;
    assert_int_equal(espyWorld_Create(&def, &world), espyResult_Ok);
    return world;
}

static espyMeshId espyTest_AddTriangle(espyWorld* world, espyMaterialClass materialClass)
{
    static const espyVec3 positions[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}};
    static const uint32_t indices[3] = {0, 1, 2};
    espyMeshPart part = {0, 3, materialClass, 0x123456};
    espyMeshDef def = espyMeshDef_Default();
    espyMeshId id;
    def.triangles = (espyTriangles){positions, indices, 4, 1};
    def.parts = &part;
    def.partCount = 1;
    def.name = "tri";
    assert_int_equal(espyWorld_CreateMesh(world, &def, &id), espyResult_Ok);
    return id;
}

static void gaps_names_and_classes_survive(void** state)
{
    (void)state;
    espyWorld* world = espyTest_MakeWorld();
    espyNodeId id;
    const char* tags[] = {"a b", "quo\"te"};
    for (int c = 0; c < 4; ++c)
    {
        espyNodeDef def = espyNodeDef_Default();
        def.kind = espyNodeKind_StaticMesh3D;
        def.mesh = espyTest_AddTriangle(world, (espyMaterialClass)c);
        def.sourceId = 20 - 5 * c;
        def.name = "caf\xC3\xA9 \"x\"\n\x01 \\";
        def.tags = tags;
        def.tagCount = 2;
        def.flags = c == 0 ? espyNodeFlag_OccluderStatic | espyNodeFlag_Blocker : espyNodeFlag_OccludeeStatic;
        def.proxy = (espyOcclusionProxy){true, 0.1f, 2, 0, 1, 0, 0.5f};
        assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    }
    espyNodeDef def = espyNodeDef_Default();
    def.parent = id;
    def.name = "no id, bad \xFF\xC3 bytes";
    def.local.m[12] = 0.1f;
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    def = espyNodeDef_Default();
    def.kind = espyNodeKind_OcclusionArea;
    def.sourceId = 2;
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    espyTest_Save(world, NULL, 0);
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, ESPY_OUT);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(espyWorld_GetNodeCount(test.world), 6);
    for (int c = 0; c < 4; ++c)
    {
        espyTest_AssertSameNode(world, espyWorld_FindSource(world, 20 - 5 * c), test.world,
                                espyWorld_FindSource(test.world, 20 - 5 * c));
    }
    espyNodeDef child = espyGltfCase_Node(&test, 21);
    assert_string_equal(child.name, "no id, bad ?? bytes");
    assert_int_equal(child.parent.index1, espyWorld_FindSource(test.world, 5).index1);
    assert_int_equal(espyGltfCase_Node(&test, 2).kind, espyNodeKind_OcclusionArea);
    espyGltfCase_Drop(&test);
    espyWorld_Destroy(world);
}

static void a_world_without_flags_stays_without(void** state)
{
    (void)state;
    espyWorld* world = espyTest_MakeWorld();
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = espyNodeKind_StaticMesh3D;
    def.mesh = espyTest_AddTriangle(world, espyMaterialClass_Opaque);
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    espyTest_Save(world, NULL, 0);
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, ESPY_OUT);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(test.warningCount, 0);
    assert_int_equal(espyGltfCase_Node(&test, 0).flags & espyNodeFlag_OccluderStatic, 0);
    espyGltfCase_Drop(&test);
    espyWorld_Destroy(world);
}

static void random_instances_come_back(void** state)
{
    (void)state;
    enum
    {
        Count = 500,
    };
    const uint64_t seed = 8;
    espyiRng rng = espyiRng_Seed(seed);
    static espyMat4 instances[Count];
    for (int i = 0; i < Count; ++i)
    {
        float q[4], length = 0.0f;
        for (int k = 0; k < 4; ++k)
        {
            q[k] = 2.0f * espyiRng_Float(&rng) - 1.0f;
            // Some turns by exactly a half and a quarter.
            q[k] = i % 5 == 0 ? (float)(k == i / 5 % 4) : q[k];
            length += q[k] * q[k];
        }
        for (int k = 0; k < 4; ++k)
        {
            q[k] /= sqrtf(length);
        }
        espyVec3 t = {espyiRng_Float(&rng), 100.0f * espyiRng_Float(&rng), -espyiRng_Float(&rng)};
        espyVec3 s = {0.1f + espyiRng_Float(&rng), 0.1f + espyiRng_Float(&rng), 0.1f + espyiRng_Float(&rng)};
        s.y = i % 3 == 0 ? -s.y : s.y;
        instances[i] = espyMat4_FromTrs(t, q, s);
    }
    espyWorld* world = espyTest_MakeWorld();
    espyNodeDef def = espyNodeDef_Default();
    espyNodeId id;
    def.kind = espyNodeKind_InstancedMesh3D;
    def.mesh = espyTest_AddTriangle(world, espyMaterialClass_Opaque);
    def.instances = instances;
    def.instanceCount = Count;
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    espyTest_Save(world, NULL, 0);
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, ESPY_OUT);
    espyGltfCase_AssertOk(&test);
    espyNodeDef node = espyGltfCase_Node(&test, 0);
    assert_int_equal(node.instanceCount, Count);
    for (int i = 0; i < Count; ++i)
    {
        if (!espyTest_IsNear(&instances[i], &node.instances[i], 1e-5f))
        {
            fail_msg("seed %llu, instance %d", (unsigned long long)seed, i);
        }
    }
    espyGltfCase_Drop(&test);
    // Shear cannot be written and is said so.
    instances[0].m[4] += 0.5f;
    def.instanceCount = 1;
    assert_int_equal(espyWorld_CreateNode(world, &def, &id), espyResult_Ok);
    espyImportReport report;
    assert_int_equal(espyImport_SaveGlb(world, ESPY_OUT, NULL, 0, &report), espyResult_Unsupported);
    assert_non_null(strstr(report.message, "sheared"));
    espyWorld_Destroy(world);
}

static void the_written_container_is_sound(void** state)
{
    (void)state;
    static const char data[77] = "visibility";
    espyWorld* world;
    assert_int_equal(espyScene_Build("forest", 1, 1, &world), espyResult_Ok);
    espyTest_Save(world, data, sizeof data);
    espyWorld_Destroy(world);
    size_t size, offset;
    uint8_t* glb = espyGltfCase_ReadFile(ESPY_OUT, &size);
    espyiGlb parts;
    const char* what;
    assert_int_equal(espyiGlb_Split(glb, size, &parts, &what, &offset), espyResult_Ok);
    assert_int_equal(espyiLittle_Read32(glb + 8), size);
    assert_int_equal(size % 4, 0);
    assert_int_equal((size_t)(parts.bin - glb) % 16, 0);
    assert_null(espyiJson_Check(parts.json).what);
    espyiJson json = parts.json;
    espyiJsonSpan root = espyiJson_Root(json), views = espyiJson_Member(json, root, "bufferViews"), view;
    // Views are aligned, inside the buffer and apart from each other.
    size_t position = 0;
    uint64_t end = 0, total;
    espyiJsonSpan buffer = espyiJson_Element(json, espyiJson_Member(json, root, "buffers"), 0);
    assert_true(espyiJson_Unsigned(json, espyiJson_Member(json, buffer, "byteLength"), &total));
    assert_true(total <= parts.binSize && total + 4 > parts.binSize);
    while (espyiJson_Next(json, views, &position, NULL, &view))
    {
        uint64_t from, length;
        assert_true(espyiJson_Unsigned(json, espyiJson_Member(json, view, "byteOffset"), &from));
        assert_true(espyiJson_Unsigned(json, espyiJson_Member(json, view, "byteLength"), &length));
        assert_true(from % 4 == 0 && length > 0 && from + length <= total);
        end = from + length > end ? from + length : end;
    }
    const void* pvs;
    size_t pvsSize;
    assert_int_equal(espyImport_FindEmbedded(glb, size, &pvs, &pvsSize), espyResult_Ok);
    assert_int_equal(pvsSize, sizeof data);
    assert_memory_equal(pvs, data, sizeof data);
    assert_int_equal((size_t)((const uint8_t*)pvs - glb) % 16, 0);
    free(glb);
}

/// A level with things that this library does not know, to be found again untouched.
static const char richJson[] =
    "{ " ESPY_GLTF_ASSET ",\n \"scene\" : 0, \"scenes\":[ {\"nodes\":[0],\"name\":\"main\"} ],"
    "\"nodes\":[{\"mesh\":0,\"extras\":{\"occludee\":1,\"pi\":3.1415926535897932384}}],\"strange\":[1,{\"x\":null}],"
    "\"images\":[{\"uri\":\"wood.png\"}]," ESPY_GLTF_BOX_MESH "," ESPY_GLTF_BOX_DATA "}";

static void espyTest_Embed(const char* from, const char* to, const void* pvs, size_t size)
{
    espyImportReport report;
    espyResult result = espyImport_EmbedGlb(from, to, pvs, size, &report);
    if (result != espyResult_Ok)
    {
        fail_msg("%s: %s", espyResult_GetName(result), report.message);
    }
}

static void espyTest_AssertEmbedded(const char* path, const void* pvs, size_t pvsSize)
{
    size_t size, foundSize;
    const void* found;
    uint8_t* glb = espyGltfCase_ReadFile(path, &size);
    assert_int_equal(espyImport_FindEmbedded(glb, size, &found, &foundSize), espyResult_Ok);
    assert_int_equal(foundSize, pvsSize);
    assert_memory_equal(found, pvs, pvsSize);
    assert_int_equal((size_t)((const uint8_t*)found - glb) % 16, 0);
    free(glb);
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, path);
    espyGltfCase_AssertOk(&test);
    espyMeshDef mesh = espyGltfCase_Mesh(&test, 0);
    assert_float_equal(espyGltfCase_Volume(&mesh.triangles), 8, 1e-6f);
    espyGltfCase_Drop(&test);
}

static void embedding_changes_nothing_else(void** state)
{
    (void)state;
    static const char first[] = "the first data, of an odd length.", second[] = "other";
    const char* in = ESPY_BINARY_DIR "/gltf_embed_in.glb";
    size_t size, plainSize, outSize;
    uint8_t* glb = espyGltfCase_MakeGlb(richJson, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
    const void* found;
    size_t foundSize;
    assert_int_equal(espyImport_FindEmbedded(glb, size, &found, &foundSize), espyResult_NotFound);
    espyGltfCase_WriteFile(in, glb, size);
    espyTest_Embed(in, ESPY_OUT, first, sizeof first);
    espyTest_AssertEmbedded(ESPY_OUT, first, sizeof first);
    uint8_t* out = espyGltfCase_ReadFile(ESPY_OUT, &outSize);
    espyiGlb parts;
    const char* what;
    size_t offset;
    assert_int_equal(espyiGlb_Split(out, outSize, &parts, &what, &offset), espyResult_Ok);
    assert_memory_equal(parts.bin, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE);
    // The text with what was added taken out again is the text that was there.
    char* text = calloc(1, parts.json.size + 1);
    memcpy(text, parts.json.text, parts.json.size);
    static const char* const added[] = {
        "\"extensionsUsed\":[\"ESPY_visibility\"],",
        "\"extensions\":{\"ESPY_visibility\":{\"bufferView\":2}},",
        ",{\"buffer\":0,\"byteOffset\":176,\"byteLength\":34}",
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(added); ++i)
    {
        char* at = strstr(text, added[i]);
        assert_non_null(at);
        memmove(at, at + strlen(added[i]), strlen(at + strlen(added[i])) + 1);
    }
    char* length = strstr(text, "{\"byteLength\":210}");
    assert_non_null(length);
    memcpy(length, "{\"byteLength\":168}", strlen("{\"byteLength\":168}"));
    assert_memory_equal(text, richJson, sizeof richJson - 1);
    free(text);
    free(out);
    // Embedding again takes the old data's place: the file grows by nothing but the difference.
    plainSize = outSize;
    espyTest_Embed(ESPY_OUT, ESPY_OUT, second, sizeof second);
    espyTest_AssertEmbedded(ESPY_OUT, second, sizeof second);
    out = espyGltfCase_ReadFile(ESPY_OUT, &outSize);
    assert_true(outSize < plainSize);
    free(out);
    free(glb);
}

static void levels_of_several_files_become_one(void** state)
{
    (void)state;
    static const char data[] = "data";
    const char* in = ESPY_BINARY_DIR "/gltf_embed_in.gltf";
    espyGltfCase_WriteFile(ESPY_BINARY_DIR "/gltf_embed.bin", espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE);
    static const struct
    {
        const char* buffers;
        const char* part; ///< Of the refusal; null where it must work.
    } cases[] = {
        {"[{\"byteLength\":168,\"uri\":\"gltf_embed.bin\"}]", NULL},
        {"[{\"uri\":\"gltf_embed.bin\",\"byteLength\":168}]", NULL},
        {"[ { \"name\" : \"n\" , \"uri\" : \"gltf_embed.bin\" , \"byteLength\" : 168 } ]", NULL},
        {"[{\"byteLength\":168,\"uri\":\"gltf_embed.bin\"},{\"byteLength\":3,\"uri\":\"data:;base64,AAAA\"}]", NULL},
        {"[{\"byteLength\":168,\"uri\":\"gltf_embed.bin\"},{\"byteLength\":3,\"uri\":\"gltf_embed.bin\"}]",
         "more than one buffer file"},
        {"[{\"byteLength\":168}]", "no data that could be embedded"},
        {"[{\"byteLength\":168,\"uri\":\"gone.bin\"}]", "gone.bin"},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        char json[2048];
        int length = snprintf(
            json, sizeof json,
            "{" ESPY_GLTF_ASSET "," ESPY_GLTF_SCENE
            ",\"nodes\":[{\"mesh\":0,\"extras\":{\"occludee\":1}}]," ESPY_GLTF_BOX_MESH
            ",\"extensionsUsed\":[\"KHR_lights_punctual\"],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,"
            "\"count\":8,\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5123,\"count\":36,\"type\":\"SCALAR\"}]"
            ","
            "\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":72}],"
            "\"buffers\":%s}",
            cases[i].buffers);
        espyGltfCase_WriteFile(in, json, (size_t)length);
        if (cases[i].part)
        {
            espyImportReport report;
            assert_int_not_equal(espyImport_EmbedGlb(in, ESPY_OUT, data, sizeof data, &report), espyResult_Ok);
            assert_non_null(strstr(report.message, cases[i].part));
            continue;
        }
        espyTest_Embed(in, ESPY_OUT, data, sizeof data);
        espyTest_AssertEmbedded(ESPY_OUT, data, sizeof data);
        size_t size;
        char* out = (char*)espyGltfCase_ReadFile(ESPY_OUT, &size);
        for (size_t k = 0; k + 16 < size; ++k)
        {
            assert_int_not_equal(memcmp(out + k, "gltf_embed.bin", 14), 0);
        }
        free(out);
    }
}

static void damaged_embeddings_are_refused(void** state)
{
    (void)state;
    const void* pvs;
    size_t pvsSize, size;
    static const struct
    {
        const char* json;
        espyResult result;
    } cases[] = {
        {"{}", espyResult_NotFound},
        {"{\"scenes\":[{\"extensions\":{\"ESPY_visibility\":{\"bufferView\":0}}}]}", espyResult_BadData},
        {"{\"scenes\":[{\"extensions\":{\"ESPY_visibility\":{\"bufferView\":0}}}],\"bufferViews\":[{\"buffer\":0,"
         "\"byteLength\":168}]}",
         espyResult_Ok},
        {"{\"scenes\":[{\"extensions\":{\"ESPY_visibility\":{\"bufferView\":0}}}],\"bufferViews\":[{\"buffer\":0,"
         "\"byteLength\":169}]}",
         espyResult_BadData},
        {"{\"scenes\":[{\"extensions\":{\"ESPY_visibility\":{\"bufferView\":0}}}],\"bufferViews\":[{\"buffer\":1,"
         "\"byteLength\":4}]}",
         espyResult_BadData},
        {"{\"scenes\":[{\"extensions\":{\"ESPY_visibility\":{\"bufferView\":0}}}],\"bufferViews\":[{\"buffer\":0,"
         "\"byteOffset\":9223372036854775807,\"byteLength\":4}]}",
         espyResult_BadData},
        {"[", espyResult_BadData},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        uint8_t* glb = espyGltfCase_MakeGlb(cases[i].json, espyGltfCase_BoxBytes(), ESPY_GLTF_BOX_SIZE, &size);
        assert_int_equal(espyImport_FindEmbedded(glb, size, &pvs, &pvsSize), cases[i].result);
        for (size_t cut = 0; cut < size; ++cut)
        {
            assert_int_not_equal(espyImport_FindEmbedded(glb, cut, &pvs, &pvsSize), espyResult_Ok);
        }
        free(glb);
    }
    assert_int_equal(espyImport_FindEmbedded(NULL, 0, &pvs, &pvsSize), espyResult_BadData);
}

static void unwritable_places_are_named(void** state)
{
    (void)state;
    espyImportReport report;
    espyWorld* world = espyTest_MakeWorld();
    assert_int_equal(espyImport_SaveGlb(world, ESPY_BINARY_DIR "/no/such/folder/x.glb", NULL, 0, &report),
                     espyResult_Io);
    assert_non_null(strstr(report.message, "no/such/folder/x.glb"));
    assert_int_equal(espyImport_SaveGlb(world, ESPY_BINARY_DIR, NULL, 0, &report), espyResult_Io);
    assert_non_null(strstr(report.message, "cannot write"));
    espyTest_Save(world, NULL, 0);
    espyWorld_Destroy(world);
    espyGltfCase test = {0};
    espyGltfCase_LoadFile(&test, ESPY_OUT);
    espyGltfCase_AssertOk(&test);
    assert_int_equal(espyWorld_GetNodeCount(test.world), 0);
    espyGltfCase_Drop(&test);
}

static void only_regular_files_are_replaced(void** state)
{
    (void)state;
    static const char link[] = ESPY_BINARY_DIR "/gltf_write_link.glb", loop[] = ESPY_BINARY_DIR "/gltf_write_loop.glb";
    espyImportReport report;
    espyWorld* world = espyTest_MakeWorld();
    struct stat info;
    remove(ESPY_OUT);
    remove(link);
    remove(loop);
    assert_int_equal(symlink("gltf_write.glb", link), 0);
    assert_int_equal(symlink("gltf_write_loop.glb", loop), 0);
    // Nothing behind the link yet, then a file.
    for (int i = 0; i < 2; ++i)
    {
        assert_int_equal(espyImport_SaveGlb(world, link, NULL, 0, &report), espyResult_Ok);
        assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
        assert_true(lstat(ESPY_OUT, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0);
    }
    assert_int_equal(espyImport_SaveGlb(world, loop, NULL, 0, &report), espyResult_Io);
    assert_non_null(strstr(report.message, "gltf_write_loop.glb"));
    assert_int_equal(espyImport_SaveGlb(world, "/dev/null", NULL, 0, &report), espyResult_Ok);
    assert_true(lstat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    remove(link);
    remove(loop);
    espyWorld_Destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_come_back_equal),
        cmocka_unit_test(gaps_names_and_classes_survive),
        cmocka_unit_test(a_world_without_flags_stays_without),
        cmocka_unit_test(random_instances_come_back),
        cmocka_unit_test(the_written_container_is_sound),
        cmocka_unit_test(embedding_changes_nothing_else),
        cmocka_unit_test(levels_of_several_files_become_one),
        cmocka_unit_test(damaged_embeddings_are_refused),
        cmocka_unit_test(unwritable_places_are_named),
        cmocka_unit_test(only_regular_files_are_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
