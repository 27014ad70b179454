// SPDX-License-Identifier: MIT
// Quake 3 maps inside archives and among loose files: shader scripts, damage, hostile archives, running out of memory.
#include "test_main.h"

#include "bsp_case.h"
#include "core/core.h"
#include "import/pk3.h"
#include "scratch.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// --- folders

typedef struct espyTestFolder
{
    char path[ESPY_SCRATCH_PATH];
} espyTestFolder;

static espyTestFolder espyTestFolder_Create(void)
{
    espyTestFolder folder;
    assert_true(espyScratch_Create("pk3", folder.path));
    return folder;
}

static void espyTest_SaveZip(const char* folder, const char* name, const espyZipEntry* entries, size_t count)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    espyBytes zip = espyZip_Build(entries, count);
    assert_true(espyBytes_Save(&zip, path));
    espyBytes_Free(&zip);
}

/// Skips the test where the build has no libzip.
static void espyTest_NeedZip(const char* folder)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    char path[256];
    snprintf(path, sizeof path, "%s/probe.pk3", folder);
    espyTest_SaveZip(folder, "probe.pk3", &(espyZipEntry){"a", "b", 1, 1, false, false}, 1);
    espyiPk3 pk3;
    espyResult result = espyiPk3_Open(&pk3, path, &hooks);
    espyiPk3_Close(&pk3);
    unlink(path);
    if (result == espyResult_Unsupported)
    {
        espyScratch_Remove(folder);
        print_message("this build reads no pk3: skipped\n");
        skip();
    }
    assert_int_equal(result, espyResult_Ok);
}

#define ESPY_TEXT_ENTRY(path, text)                                  \
    {                                                                \
        path, text, sizeof(text) - 1, sizeof(text) - 1, false, false \
    }

static void test_report_23_masked_grates_from_scripts_never_occlude(void** state)
{
    (void)state;
    espyTestFolder folder = espyTestFolder_Create();
    espyTest_NeedZip(folder.path);
    espyBytes map = espyBspBuilder_Sample();
    static const char wrong[] = "textures/test/grate\n{\n{\nmap x.tga\n}\n}\n";
    static const char right[] =
        "textures/test/grate { { map x.tga\nalphaFunc GE128 } { map $lightmap blendFunc filter } }\n"
        "textures/test/water { deformVertexes wave 64 sin 0 1 0 1 { map w.tga } }\n";
    const espyZipEntry first[] = {{"Maps/Sample.bsp", map.data, map.size, (uint32_t)map.size, false, true},
                                  ESPY_TEXT_ENTRY("scripts/test.shader", wrong),
                                  ESPY_TEXT_ENTRY("textures/TEST/wall.tga", "t")};
    const espyZipEntry second[] = {ESPY_TEXT_ENTRY("scripts/TEST.shader", right),
                                   ESPY_TEXT_ENTRY("textures/test/pillar.jpg", "t"),
                                   ESPY_TEXT_ENTRY("../scripts/evil.shader", right)};
    espyTest_SaveZip(folder.path, "a.pk3", first, 3);
    espyTest_SaveZip(folder.path, "B.pk3", second, 3);
    char path[256];
    snprintf(path, sizeof path, "%s/a.pk3:maps/sample.bsp", folder.path);
    espyLog log;
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_LoadFile(path, &log, &world, &report), espyResult_Ok);
    espyNodeDef grate = espyTest_Node(world, espyTest_Find(world, "textures/test/grate"));
    assert_int_equal(grate.flags & (espyNodeFlag_OccluderStatic | espyNodeFlag_OccludeeStatic),
                     espyNodeFlag_OccludeeStatic);
    assert_int_equal(espyTest_Mesh(world, espyTest_Find(world, "textures/test/grate")).parts[0].material,
                     espyMaterialClass_Masked);
    // Water that a script deforms moves at run time.
    espyNodeDef water = espyTest_Node(world, espyTest_Find(world, "textures/test/water"));
    assert_true(water.flags & espyNodeFlag_Dynamic);
    assert_false(water.flags & espyNodeFlag_OccluderStatic);
    // Left without a script or an image: glass and the flare.
    assert_int_equal(log.counts[espyMessageId_ImportMissingShaders], 1);
    assert_non_null(strstr(log.last, ": 2 shaders"));
    espyWorld_Destroy(world);
    espyBytes_Free(&map);
    espyScratch_Remove(folder.path);
}

/// A game folder with a loose map and a loose script that makes the grate additive. `path` receives the map's path.
static espyTestFolder espyTest_LooseGame(char path[256])
{
    espyTestFolder folder = espyTestFolder_Create();
    espyBytes map = espyBspBuilder_Sample();
    espyBytes script = {0};
    static const char text[] = "textures/test/grate { { map x.tga\nblendFunc add } }";
    espyBytes_Add(&script, text, sizeof text - 1);
    snprintf(path, 256, "%s/scripts", folder.path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, 256, "%s/scripts/any.shader", folder.path);
    assert_true(espyBytes_Save(&script, path));
    snprintf(path, 256, "%s/maps", folder.path);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, 256, "%s/maps/sample.bsp", folder.path);
    assert_true(espyBytes_Save(&map, path));
    espyBytes_Free(&script);
    espyBytes_Free(&map);
    return folder;
}

static void test_loose_scripts_next_to_a_loose_map(void** state)
{
    (void)state;
    char path[256];
    espyTestFolder folder = espyTest_LooseGame(path);
    espyLog log;
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_LoadFile(path, &log, &world, &report), espyResult_Ok);
    assert_int_equal(espyTest_Mesh(world, espyTest_Find(world, "textures/test/grate")).parts[0].material,
                     espyMaterialClass_Additive);
    assert_int_equal(log.counts[espyMessageId_ImportSkipped], 0);
    espyWorld_Destroy(world);
    espyScratch_Remove(folder.path);
}

static void test_neighbours_that_cannot_be_read_cost_a_warning_each(void** state)
{
    (void)state;
    char path[256];
    char other[256];
    espyTestFolder folder = espyTest_LooseGame(path);
    const espyBytes junk = {(uint8_t[]){'j', 'u', 'n', 'k'}, 4, 4};
    snprintf(other, sizeof other, "%s/junk.pk3", folder.path);
    assert_true(espyBytes_Save(&junk, other));
    snprintf(other, sizeof other, "%s/scripts/folder.shader", folder.path);
    assert_int_equal(mkdir(other, 0700), 0);
    espyLog log;
    espyWorld* world;
    espyImportReport report;
    assert_int_equal(espyTest_LoadFile(path, &log, &world, &report), espyResult_Ok);
    assert_string_equal(report.message, "");
    assert_int_equal(log.counts[espyMessageId_ImportSkipped], 2);
    assert_int_equal(espyTest_Mesh(world, espyTest_Find(world, "textures/test/grate")).parts[0].material,
                     espyMaterialClass_Additive);
    espyWorld_Destroy(world);
    espyScratch_Remove(folder.path);
}

static void test_hostile_archives_are_refused(void** state)
{
    (void)state;
    static const struct
    {
        const char* entry;
        uint32_t declared;
        bool encrypted, deflated;
        espyResult result;
        const char* text;
    } cases[] = {
        {"maps/other.bsp", 0, false, false, espyResult_NotFound, "there is no 'maps/sample.bsp'"},
        {"maps/../maps/sample.bsp", 0, false, false, espyResult_NotFound, "there is no"},
        {"maps/sample.bsp", 0, true, false, espyResult_Unsupported, "encrypted"},
        {"maps/sample.bsp", 0xFFFFFFF0u, false, true, espyResult_LimitExceeded, "declares 4294967280 bytes"},
        {"maps/sample.bsp", 100, false, true, espyResult_BadData, "damaged"},
        {"maps/sample.bsp", 1000000, false, true, espyResult_BadData, "damaged"},
    };
    espyTestFolder folder = espyTestFolder_Create();
    espyTest_NeedZip(folder.path);
    espyBytes map = espyBspBuilder_Sample();
    for (size_t i = 0; i < ESPYI_ARRAY_COUNT(cases); ++i)
    {
        uint32_t declared = cases[i].declared != 0 ? cases[i].declared : (uint32_t)map.size;
        const espyZipEntry entry = {cases[i].entry, map.data,           map.size,
                                    declared,       cases[i].encrypted, cases[i].deflated};
        espyTest_SaveZip(folder.path, "bad.pk3", &entry, 1);
        char path[256];
        snprintf(path, sizeof path, "%s/bad.pk3:maps/sample.bsp", folder.path);
        espyLog log;
        espyWorld* world;
        espyImportReport report;
        assert_int_equal(espyTest_LoadFile(path, &log, &world, &report), cases[i].result);
        assert_non_null(strstr(report.message, cases[i].text));
        assert_null(strchr(report.message, '\n'));
    }
    espyBytes_Free(&map);
    espyScratch_Remove(folder.path);
}

static void test_truncated_archives_end_well(void** state)
{
    (void)state;
    espyTestFolder folder = espyTestFolder_Create();
    espyTest_NeedZip(folder.path);
    espyBytes map = espyBspBuilder_Sample();
    const espyZipEntry entry = {"maps/sample.bsp", map.data, map.size, (uint32_t)map.size, false, true};
    espyBytes zip = espyZip_Build(&entry, 1);
    char file[256];
    char path[256];
    snprintf(file, sizeof file, "%s/cut.pk3", folder.path);
    snprintf(path, sizeof path, "%s/cut.pk3:maps/sample.bsp", folder.path);
    for (size_t size = 0; size < zip.size; size += 61)
    {
        const espyBytes cut = {zip.data, size, size};
        assert_true(espyBytes_Save(&cut, file));
        espyLog log;
        espyWorld* world;
        espyImportReport report;
        assert_int_not_equal(espyTest_LoadFile(path, &log, &world, &report), espyResult_Ok);
        assert_true(report.message[0] != '\0');
    }
    espyBytes_Free(&zip);
    espyBytes_Free(&map);
    espyScratch_Remove(folder.path);
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
    size_t rounded = (size + align - 1) / align * align;
    return aligned_alloc(align < sizeof(void*) ? sizeof(void*) : align, rounded);
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
    char path[256];
    espyTestFolder folder = espyTest_LooseGame(path);
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
        assert_true(result != espyResult_Ok || report.warningCount == 1);
        assert_true(limit < 1000);
        espyWorld_Destroy(world);
        assert_int_equal(heap.live, 0);
    }
    espyScratch_Remove(folder.path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_23_masked_grates_from_scripts_never_occlude),
        cmocka_unit_test(test_loose_scripts_next_to_a_loose_map),
        cmocka_unit_test(test_neighbours_that_cannot_be_read_cost_a_warning_each),
        cmocka_unit_test(test_hostile_archives_are_refused),
        cmocka_unit_test(test_truncated_archives_end_well),
        cmocka_unit_test(test_running_out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
