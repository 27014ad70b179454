// SPDX-License-Identifier: MIT
// Formats read through Assimp in a child process: materials, axes, units, sharing; and children that crash, hang or
// lie.
#include "test_main.h"

#include "core/core.h"
#include "import/assimp_wire.h"
#include "scratch.h"

#include <espy/import.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char espyTestFolder[ESPY_SCRATCH_PATH];

static const char* espyTest_Path(const char* name)
{
    static char path[ESPY_SCRATCH_PATH + 64];
    snprintf(path, sizeof path, "%s/%.60s", espyTestFolder, name);
    return path;
}

static const char* espyTest_Save(const char* name, const char* text)
{
    const char* path = espyTest_Path(name);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return path;
}

typedef struct espyLoaded
{
    espyResult result;
    espyWorld* world;
    espyImportReport report;
    int noFlags;
} espyLoaded;

static void espyTest_Log(espyLogLevel level, espyMessageId id, const char* text, void* context)
{
    (void)level;
    (void)text;
    *(int*)context += id == espyMessageId_ImportNoFlags ? 1 : 0;
}

static espyLoaded espyTest_Load(const char* path)
{
    espyLoaded loaded = {.noFlags = 0};
    espyImportDef def = espyImportDef_Default();
    def.hooks.log = espyTest_Log;
    def.hooks.context = &loaded.noFlags;
    loaded.result = espyImport_LoadFile(path, &def, &loaded.world, &loaded.report);
    assert_true((loaded.result == espyResult_Ok) == (loaded.world != NULL));
    assert_true((loaded.result == espyResult_Ok) == (loaded.report.message[0] == '\0'));
    assert_null(strchr(loaded.report.message, '\n'));
    return loaded;
}

static espyLoaded espyTest_LoadText(const char* name, const char* text)
{
    return espyTest_Load(espyTest_Save(name, text));
}

static const char espyTestTriangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

static int espyTest_Begin(void** state)
{
    (void)state;
    return espyScratch_Create("assimp", espyTestFolder) ? 0 : -1;
}

static int espyTest_End(void** state)
{
    (void)state;
    espyScratch_Remove(espyTestFolder);
    return 0;
}

static void espyTest_NeedAssimp(void)
{
    espyLoaded probe = espyTest_LoadText("probe.obj", espyTestTriangle);
    espyWorld_Destroy(probe.world);
    if (strstr(probe.report.message, "lacks Assimp"))
    {
        print_message("this build has no Assimp: skipped\n");
        skip();
    }
    assert_int_equal(probe.result, espyResult_Ok);
}

static espyNodeDef espyTest_Node(const espyLoaded* loaded, uint32_t index)
{
    espyNodeDef node;
    assert_int_equal(espyWorld_GetNode(loaded->world, espyWorld_GetNodeAt(loaded->world, index), &node), espyResult_Ok);
    return node;
}

static void espyTest_AssertBox(const espyLoaded* loaded, uint32_t index, espyVec3 min, espyVec3 max)
{
    espyBox box = espyWorld_GetWorldBounds(loaded->world, espyWorld_GetNodeAt(loaded->world, index));
    const float got[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    const float wanted[6] = {min.x, min.y, min.z, max.x, max.y, max.z};
    for (int i = 0; i < 6; ++i)
    {
        if (!(fabsf(got[i] - wanted[i]) < 1e-4f))
        {
            fail_msg("box value %d is %g, wanted %g", i, (double)got[i], (double)wanted[i]);
        }
    }
}

// --- content

static void test_materials_and_flags_of_an_obj(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    espyTest_Save("m.mtl", "newmtl solid\nKd 1 0 0\nnewmtl glass\nd 0.5\nnewmtl leaf\nmap_d leaf.png\n");
    espyLoaded loaded =
        espyTest_LoadText("m.obj", "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no a\nusemtl solid\n"
                                   "f 1 2 3\no b\nusemtl glass\nf 1 2 4\no c\nusemtl leaf\nf 1 3 4\n");
    assert_int_equal(loaded.result, espyResult_Ok);
    assert_string_equal(loaded.report.format, "assimp");
    assert_int_equal(espyWorld_GetNodeCount(loaded.world), 3);
    assert_int_equal(loaded.noFlags, 1);
    static const espyMaterialClass wanted[3] = {espyMaterialClass_Opaque, espyMaterialClass_Translucent,
                                                espyMaterialClass_Masked};
    for (uint32_t i = 0; i < 3; ++i)
    {
        espyNodeDef node = espyTest_Node(&loaded, i);
        espyMeshDef mesh;
        assert_int_equal(espyWorld_GetMesh(loaded.world, node.mesh, &mesh), espyResult_Ok);
        assert_int_equal(node.sourceId, i);
        assert_int_equal(mesh.partCount, 1);
        assert_int_equal(mesh.triangles.triangleCount, 1);
        assert_int_equal(mesh.parts[0].material, wanted[i]);
        assert_int_equal(!!(node.flags & espyNodeFlag_OccluderStatic), i == 0);
        assert_true(node.flags & espyNodeFlag_OccludeeStatic);
        assert_true(i != 0 || mesh.parts[0].color == 0xFF0000u);
    }
    espyWorld_Destroy(loaded.world);
}

static void test_ac3d_groups_and_offsets(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    espyLoaded loaded = espyTest_LoadText(
        "t.ac",
        "AC3Db\nMATERIAL \"m\" rgb 1 1 1  amb 0 0 0  emis 0 0 0  spec 0 0 0  shi 0  trans 0\nOBJECT world\nkids 1\n"
        "OBJECT group\nname \"g\"\nloc 10 0 0\nkids 2\n"
        "OBJECT poly\nname \"p\"\nnumvert 3\n0 0 0\n1 0 0\n0 1 0\nnumsurf 1\nSURF 0x20\nmat 0\nrefs 3\n"
        "0 0 0\n1 0 0\n2 0 0\nkids 0\n"
        "OBJECT poly\nname \"q\"\nloc 0 5 0\nnumvert 3\n0 0 0\n1 0 0\n0 1 0\nnumsurf 1\nSURF 0x20\nmat 0\nrefs 3\n"
        "0 0 0\n1 0 0\n2 0 0\nkids 0\n");
    assert_int_equal(loaded.result, espyResult_Ok);
    assert_int_equal(espyWorld_GetNodeCount(loaded.world), 2);
    espyTest_AssertBox(&loaded, 0, (espyVec3){10, 0, 0}, (espyVec3){11, 1, 0});
    espyTest_AssertBox(&loaded, 1, (espyVec3){10, 5, 0}, (espyVec3){11, 6, 0});
    espyWorld_Destroy(loaded.world);
}

#define ESPY_DAE_HEAD(up, metre)                                                                                       \
    "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\"><asset>" \
    "<unit name=\"u\" meter=\"" metre "\"/><up_axis>" up "</up_axis></asset><library_geometries>"                      \
    "<geometry id=\"g\"><mesh><source id=\"p\"><float_array id=\"pa\" count=\"9\">0 0 0 1 0 0 0 0 2</float_array>"     \
    "<technique_common><accessor source=\"#pa\" count=\"3\" stride=\"3\"><param name=\"X\" type=\"float\"/>"           \
    "<param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>"      \
    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices><triangles count=\"1\">"                \
    "<input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles></mesh></geometry>"                \
    "</library_geometries>"
#define ESPY_DAE_TAIL "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>"

static void test_collada_states_axis_and_unit(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    espyLoaded loaded = espyTest_LoadText(
        "z.dae", ESPY_DAE_HEAD("Z_UP", "0.5") "<library_visual_scenes><visual_scene id=\"s\">"
                                              "<node id=\"n\"><instance_geometry url=\"#g\"/></node>"
                                              "</visual_scene></library_visual_scenes>" ESPY_DAE_TAIL);
    assert_int_equal(loaded.result, espyResult_Ok);
    assert_int_equal(espyWorld_GetNodeCount(loaded.world), 1);
    espyTest_AssertBox(&loaded, 0, (espyVec3){0, 0, 0}, (espyVec3){0.5f, 1, 0});
    espyWorld_Destroy(loaded.world);
}

static void test_nodes_share_meshes_and_animated_ones_are_dynamic(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    espyLoaded loaded = espyTest_LoadText(
        "a.dae",
        ESPY_DAE_HEAD("Y_UP",
                      "1") "<library_animations><animation id=\"an\"><source id=\"t\"><float_array id=\"ta\" "
                           "count=\"2\">0 1</float_array><technique_common><accessor source=\"#ta\" count=\"2\" "
                           "stride=\"1\"><param name=\"TIME\" type=\"float\"/></accessor></technique_common></source>"
                           "<source id=\"o\"><float_array id=\"oa\" count=\"6\">0 0 0 5 0 0</float_array>"
                           "<technique_common><accessor source=\"#oa\" count=\"2\" stride=\"3\"><param name=\"X\" "
                           "type=\"float\"/><param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/>"
                           "</accessor></technique_common></source><sampler id=\"sm\"><input semantic=\"INPUT\" "
                           "source=\"#t\"/><input semantic=\"OUTPUT\" source=\"#o\"/></sampler>"
                           "<channel source=\"#sm\" target=\"lift/move\"/></animation></library_animations>"
                           "<library_visual_scenes><visual_scene id=\"s\">"
                           "<node id=\"still\"><translate>0 0 3</translate><instance_geometry url=\"#g\"/></node>"
                           "<node id=\"lift\"><translate sid=\"move\">0 0 0</translate>"
                           "<node id=\"load\"><instance_geometry url=\"#g\"/></node></node>"
                           "</visual_scene></library_visual_scenes>" ESPY_DAE_TAIL);
    assert_int_equal(loaded.result, espyResult_Ok);
    assert_int_equal(espyWorld_GetNodeCount(loaded.world), 2);
    assert_int_equal(espyWorld_GetMeshCount(loaded.world), 1);
    assert_false(espyTest_Node(&loaded, 0).flags & espyNodeFlag_Dynamic);
    assert_true(espyTest_Node(&loaded, 0).flags & espyNodeFlag_OccluderStatic);
    assert_true(espyTest_Node(&loaded, 1).flags & espyNodeFlag_Dynamic);
    assert_false(espyTest_Node(&loaded, 1).flags & espyNodeFlag_OccluderStatic);
    espyTest_AssertBox(&loaded, 0, (espyVec3){0, 0, 3}, (espyVec3){1, 0, 5});
    espyWorld_Destroy(loaded.world);
}

static void espyTest_Fbx(char* out, size_t size, int up, int sign, const char* unit)
{
    snprintf(
        out, size,
        "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXHeaderVersion: 1003\n\tFBXVersion: 7400\n}\n"
        "GlobalSettings:  {\n\tVersion: 1000\n\tProperties70:  {\n\t\tP: \"UpAxis\", \"int\", \"Integer\", \"\",%d\n"
        "\t\tP: \"UpAxisSign\", \"int\", \"Integer\", \"\",%d\n\t\tP: \"UnitScaleFactor\", \"double\", \"Number\", "
        "\"\",%s\n\t}\n}\nObjects:  {\n\tGeometry: 1000, \"Geometry::g\", \"Mesh\" {\n\t\tVertices: *9 {\n"
        "\t\t\ta: 0,0,0,1,0,0,0,2,3\n\t\t}\n\t\tPolygonVertexIndex: *3 {\n\t\t\ta: 0,1,-3\n\t\t}\n"
        "\t\tGeometryVersion: 124\n\t}\n\tModel: 2000, \"Model::m\", \"Mesh\" {\n\t\tVersion: 232\n\t}\n}\n"
        "Connections:  {\n\tC: \"OO\",1000,2000\n\tC: \"OO\",2000,0\n}\n",
        up, sign, unit);
}

static void test_fbx_states_axis_and_unit(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    // The triangle (0 0 0) (1 0 0) (0 2 3) of the file.
    static const struct
    {
        int up, sign;
        const char* unit;
        espyVec3 min, max;
    } cases[] = {
        {1, 1, "100", {0, 0, 0}, {1, 2, 3}},
        {1, 1, "1", {0, 0, 0}, {0.01f, 0.02f, 0.03f}},
        {2, 1, "100", {0, 0, -2}, {1, 3, 0}},
        {2, -1, "100", {0, -3, 0}, {1, 0, 2}},
        {0, 1, "100", {-2, 0, 0}, {0, 1, 3}},
        {1, -1, "50", {-0.5f, -1, 0}, {0, 0, 1.5f}},
        {2, 1, "2.54", {0, 0, -0.0508f}, {0.0254f, 0.0762f, 0}},
    };
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        char text[2048];
        espyTest_Fbx(text, sizeof text, cases[i].up, cases[i].sign, cases[i].unit);
        espyLoaded loaded = espyTest_LoadText("axis.fbx", text);
        if (loaded.result != espyResult_Ok)
        {
            fail_msg("%s", loaded.report.message);
        }
        assert_int_equal(espyWorld_GetNodeCount(loaded.world), 1);
        espyTest_AssertBox(&loaded, 0, cases[i].min, cases[i].max);
        espyWorld_Destroy(loaded.world);
    }
}

// --- refusals

static void test_what_is_no_level_is_refused_in_one_line(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    assert_int_equal(espyTest_Load(espyTest_Path("missing.obj")).result, espyResult_NotFound);
    assert_int_equal(espyTest_Load(espyTest_Path("")).result, espyResult_Io);
    const char* fifo = espyTest_Path("pipe.obj");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(espyTest_Load(fifo).result, espyResult_Io);
    assert_int_equal(espyTest_LoadText("x.nothing", "some words").result, espyResult_Unsupported);
    assert_int_equal(espyTest_LoadText("bad.fbx", "; FBX 7.4.0 project file\nObjects: {").result, espyResult_BadData);
    assert_int_equal(espyTest_LoadText("bad.dae", "<COLLADA").result, espyResult_BadData);
    assert_int_equal(espyTest_LoadText("empty.ply", "").result, espyResult_BadData);
}

static void test_a_crash_of_the_reader_is_one_line(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    // Nodes within nodes: the reader recurses until its stack is used up.
    const size_t depth = 300000;
    static const char open[] = "<node>";
    static const char close[] = "</node>";
    FILE* file = fopen(espyTest_Path("deep.dae"), "wb");
    assert_non_null(file);
    fputs(ESPY_DAE_HEAD("Y_UP", "1") "<library_visual_scenes><visual_scene id=\"s\">", file);
    for (size_t i = 0; i < depth; ++i)
    {
        fputs(open, file);
    }
    for (size_t i = 0; i < depth; ++i)
    {
        fputs(close, file);
    }
    fputs("</visual_scene></library_visual_scenes>" ESPY_DAE_TAIL, file);
    fclose(file);
    espyLoaded loaded = espyTest_Load(espyTest_Path("deep.dae"));
    assert_int_equal(loaded.result, espyResult_BadData);
    print_message("%s\n", loaded.report.message);
}

// --- limits and lies

typedef struct espyTestJob
{
    espyiImport import;
    espyImportReport report;
} espyTestJob;

static void espyTestJob_Begin(espyTestJob* job, size_t memory)
{
    *job = (espyTestJob){.report = {.format = ""}};
    job->import =
        (espyiImport){.hooks = espyiHooks_Resolve(NULL), .file = "job", .memoryLeft = memory, .report = &job->report};
    espyWorldDef def = espyWorldDef_Default();
    assert_int_equal(espyWorld_Create(&def, &job->import.world), espyResult_Ok);
}

static void test_limits_of_time_and_memory_hold(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    FILE* file = fopen(espyTest_Path("big.obj"), "wb");
    assert_non_null(file);
    for (int i = 0; i < 200000; ++i)
    {
        fprintf(file, "v %d %d 0\n", i % 500, i / 500);
    }
    for (int i = 0; i + 501 < 200000; ++i)
    {
        fprintf(file, "f %d %d %d\n", i + 1, i + 2, i + 501);
    }
    fclose(file);
    static const espyiAssimpLimits limits[3] = {{60, 0, (size_t)1 << 30}, {60, 60, 1 << 20}, {60, 60, (size_t)1 << 30}};
    for (int i = 0; i < 3; ++i)
    {
        espyTestJob job;
        espyTestJob_Begin(&job, i < 2 ? (size_t)1 << 30 : 1000000);
        espyResult result = espyiImport_AssimpWithLimits(&job.import, espyTest_Path("big.obj"), &limits[i]);
        print_message("%s: %s\n", espyResult_GetName(result), job.report.message);
#if defined(ESPYI_ASSIMP_NO_SPACE_LIMIT)
        assert_true(i == 1 || result == espyResult_LimitExceeded);
#else
        assert_int_equal(result, espyResult_LimitExceeded);
#endif
        espyWorld_Destroy(job.import.world);
    }
}

/// The stream for a scene of two nodes, in a file.
static size_t espyTest_Record(void)
{
    espyTest_Save("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no a\nf 1 2 3\no b\nf 1 2 4\n");
    char path[256];
    snprintf(path, sizeof path, "%s", espyTest_Path("s.obj"));
    int fd = open(espyTest_Path("stream"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_true(espyiAssimp_Send(path, fd));
    off_t size = lseek(fd, 0, SEEK_END);
    close(fd);
    return (size_t)size;
}

static espyResult espyTest_Receive(const uint8_t* bytes, size_t size, espyiAssimpOutcome* outcome)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(size < 4096);
    assert_int_equal(write(ends[1], bytes, size), (ssize_t)size);
    close(ends[1]);
    espyTestJob job;
    espyTestJob_Begin(&job, 1 << 20);
    espyResult result = espyiAssimp_Receive(&job.import, ends[0], espyiAssimp_Now() + 10000, outcome);
    assert_true((result == espyResult_Ok) == (job.report.message[0] == '\0'));
    espyWorld_Destroy(job.import.world);
    close(ends[0]);
    return result;
}

static void test_the_parent_believes_nothing(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    uint8_t bytes[4096];
    size_t size = espyTest_Record();
    assert_true(size > 100 && size < sizeof bytes);
    FILE* file = fopen(espyTest_Path("stream"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    espyiAssimpOutcome outcome;
    assert_int_equal(espyTest_Receive(bytes, size, &outcome), espyResult_Ok);
    assert_false(outcome.broken);
    for (size_t cut = 0; cut < size; ++cut)
    {
        assert_int_equal(espyTest_Receive(bytes, cut, &outcome), espyResult_BadData);
        assert_true(outcome.broken && outcome.ended);
    }
    static const uint32_t values[] = {0, 1, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, 0x7FC00000u, 'M', 'N', 'E', 'X'};
    for (size_t at = 0; at + 4 <= size; ++at)
    {
        uint8_t old[4];
        memcpy(old, bytes + at, 4);
        for (size_t i = 0; i < ESPYI_ARRAY_COUNT(values); ++i)
        {
            memcpy(bytes + at, &values[i], 4);
            espyTest_Receive(bytes, size, &outcome);
        }
        memcpy(bytes + at, old, 4);
    }
}

typedef struct espyTestHeap
{
    long live, left;
} espyTestHeap;

static void* espyTestHeap_Alloc(size_t size, size_t align, void* context)
{
    espyTestHeap* heap = context;
    if (heap->left-- <= 0)
    {
        return NULL;
    }
    ++heap->live;
    return aligned_alloc(align < sizeof(void*) ? sizeof(void*) : align, (size + align - 1) / align * align);
}

static void espyTestHeap_Free(void* pointer, void* context)
{
    espyTestHeap* heap = context;
    heap->live -= pointer ? 1 : 0;
    free(pointer);
}

static void test_running_out_of_memory_leaks_nothing(void** state)
{
    (void)state;
    espyTest_NeedAssimp();
    const char* path = espyTest_Save("memory.obj", espyTestTriangle);
    espyResult result = espyResult_OutOfMemory;
    for (long limit = 0; result != espyResult_Ok; ++limit)
    {
        espyTestHeap heap = {0, limit};
        espyImportDef def = espyImportDef_Default();
        def.hooks = (espyHooks){.alloc = espyTestHeap_Alloc, .free = espyTestHeap_Free, .context = &heap};
        espyWorld* world;
        espyImportReport report;
        result = espyImport_LoadFile(path, &def, &world, &report);
        assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
        assert_true(limit < 1000);
        espyWorld_Destroy(world);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials_and_flags_of_an_obj),
        cmocka_unit_test(test_ac3d_groups_and_offsets),
        cmocka_unit_test(test_collada_states_axis_and_unit),
        cmocka_unit_test(test_nodes_share_meshes_and_animated_ones_are_dynamic),
        cmocka_unit_test(test_fbx_states_axis_and_unit),
        cmocka_unit_test(test_what_is_no_level_is_refused_in_one_line),
        cmocka_unit_test(test_a_crash_of_the_reader_is_one_line),
        cmocka_unit_test(test_limits_of_time_and_memory_hold),
        cmocka_unit_test(test_the_parent_believes_nothing),
        cmocka_unit_test(test_running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, espyTest_Begin, espyTest_End);
}
