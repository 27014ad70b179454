// SPDX-License-Identifier: MIT
// Packed tables against the plain ones that they were made from: every cell, slot and box, damage, byte orders,
// versions.
#include "hook_counter.h"
#include "pvs/packed.h"
#include "pvs_case.h"
#include "test_main.h"

#include <espy/bake.h>
#include <espy/cook.h>
#include <espy/pack.h>

#include <stdio.h>
#include <string.h>

/// Of the packed bytes of test_golden_hash_of_a_packed_file in little-endian order.
#define ESPY_GOLDEN_PACKED_HASH 0x42E04B86B4EDFA73ull

static uint8_t* espyTest_Copy(const void* data, size_t size)
{
    uint8_t* copy = NULL;
    assert_int_equal(posix_memalign((void**)&copy, 64, size > 0 ? size : 1), 0);
    memcpy(copy, data, size);
    return copy;
}

static espyPackResult espyTest_Pack(const void* file, size_t size)
{
    espyPackResult packed;
    espyResult result = espyPack_Pack(file, size, NULL, &packed);
    if (result != espyResult_Ok)
    {
        fail_msg("not packed: %s in %s", espyResult_GetName(result), packed.error.field);
    }
    return packed;
}

static espyPvs espyTest_Load(const void* file, size_t size)
{
    espyPvs pvs;
    espyDataError error;
    espyResult result = espyPvs_Load(&pvs, file, size, &error);
    if (result != espyResult_Ok)
    {
        fail_msg("refused: %s at %llu in %s", espyResult_GetName(result), (unsigned long long)error.byteOffset,
                 error.field);
    }
    return pvs;
}

/// Reads exactly the words promised and compares them with the plain set.
static void espyTest_CompareSet(const espyPvs* plain, const espyPvs* packed, int32_t cell, bool dynamic)
{
    uint32_t count = dynamic ? plain->coarseWords : plain->staticWords;
    uint32_t* wanted = malloc(count * sizeof *wanted + 1u);
    uint32_t* got = malloc(count * sizeof *got + 1u);
    assert_true(wanted && got);
    bool known = dynamic ? espyPvs_ReadDynamicSet(plain, cell, wanted) : espyPvs_ReadStaticSet(plain, cell, wanted);
    memset(got, 0x5A, count * sizeof *got);
    assert_int_equal(dynamic ? espyPvs_ReadDynamicSet(packed, cell, got) : espyPvs_ReadStaticSet(packed, cell, got),
                     known);
    if (count > 0)
    {
        assert_memory_equal(got, wanted, count * sizeof *got);
    }
    assert_null(dynamic ? espyPvs_GetDynamicSet(packed, cell) : espyPvs_GetStaticSet(packed, cell));
    free(wanted);
    free(got);
}

static void espyTest_CompareQueries(const espyPvs* plain, const espyPvs* packed, int32_t cell, espyiRng* rng)
{
    for (uint32_t i = 0; i < 6; ++i)
    {
        uint32_t slot = espyiRng_Below(rng, plain->occludeeCount + 2u);
        assert_int_equal(espyPvs_TestSlot(packed, cell, slot), espyPvs_TestSlot(plain, cell, slot));
        espyVec3 a = {plain->origin.x + espyiRng_Float(rng) * (float)plain->dims[0] * plain->cellSize,
                      plain->origin.y + espyiRng_Float(rng) * (float)plain->dims[1] * plain->cellSize,
                      plain->origin.z + espyiRng_Float(rng) * (float)plain->dims[2] * plain->cellSize};
        float size = espyiRng_Float(rng) * 5.0f * plain->cellSize;
        espyBox box = {a, {a.x + size, a.y + size, a.z + size}};
        assert_int_equal(espyPvs_TestBox(packed, cell, box), espyPvs_TestBox(plain, cell, box));
    }
}

/// Packs, compares all answers, unpacks to the same bytes, packs again to the same bytes.
static void espyTest_CheckFile(const void* file, size_t size)
{
    espyPackResult packed = espyTest_Pack(file, size);
    espyPvs plain = espyTest_Load(file, size);
    espyPvs other = espyTest_Load(packed.data, packed.size);
    espyiRng rng = espyiRng_Seed(size);
    for (int32_t cell = -2; cell <= (int32_t)plain.cellCount; ++cell)
    {
        espyTest_CompareSet(&plain, &other, cell, false);
        espyTest_CompareSet(&plain, &other, cell, true);
        espyTest_CompareQueries(&plain, &other, cell, &rng);
    }
    espyPvsInfo a, b;
    espyPvs_GetInfo(&plain, &a);
    espyPvs_GetInfo(&other, &b);
    assert_true(!a.packed && b.packed && a.formatVersion >> 16 == 1 && b.formatVersion >> 16 == 2);
    assert_int_equal(a.staticCellsBytes, b.staticCellsBytes);
    assert_int_equal(a.staticSetsBytes, b.staticSetsBytes);
    assert_int_equal(a.dynamicCellsBytes, b.dynamicCellsBytes);
    assert_int_equal(a.dynamicSetsBytes, b.dynamicSetsBytes);
    assert_int_equal(a.staticPackBytes + a.dynamicPackBytes, 0);
    assert_true(b.staticPackBytes > 0);
    espyPackResult unpacked;
    assert_int_equal(espyPack_Unpack(packed.data, packed.size, NULL, &unpacked), espyResult_Ok);
    assert_int_equal(unpacked.size, size);
    assert_memory_equal(unpacked.data, file, size);
    espyPackResult again = espyTest_Pack(packed.data, packed.size);
    assert_int_equal(again.size, packed.size);
    assert_memory_equal(again.data, packed.data, packed.size);
    espyPack_Free(&again);
    espyPack_Free(&unpacked);
    espyPack_Free(&packed);
}

static void espyTest_CheckCase(const espyPvsCaseDef* def)
{
    espyPvsCase made = espyPvsCase_Make(def);
    espyTest_CheckFile(made.file, made.size);
    espyPvsCase_Free(&made);
}

// --- tables by hand

typedef bool espyTestVisible(espyiRng* rng, espyiCellCoord cell, uint32_t slot);

static bool espyTest_Never(espyiRng* rng, espyiCellCoord cell, uint32_t slot)
{
    (void)rng;
    (void)cell;
    (void)slot;
    return false;
}

static bool espyTest_Always(espyiRng* rng, espyiCellCoord cell, uint32_t slot)
{
    return !espyTest_Never(rng, cell, slot);
}

static bool espyTest_AtRandom(espyiRng* rng, espyiCellCoord cell, uint32_t slot)
{
    (void)cell;
    (void)slot;
    return (espyiRng_U32(rng) & 1u) != 0;
}

/// Every other slot, against every order.
static bool espyTest_Chequered(espyiRng* rng, espyiCellCoord cell, uint32_t slot)
{
    (void)rng;
    return (((uint32_t)cell.x + cell.y + cell.z + slot) & 1u) != 0;
}

/// Half-spaces: what walls make of a level.
static bool espyTest_Walled(espyiRng* rng, espyiCellCoord cell, uint32_t slot)
{
    (void)rng;
    uint64_t h = espyiHash_U64(5, slot / 7u);
    int32_t side = (int32_t)(h & 15u) * cell.x + (int32_t)(h >> 4 & 15u) * cell.y - (int32_t)(h >> 8 & 15u) * cell.z;
    return side + (int32_t)(slot % 7u) > (int32_t)(h >> 12 & 127u) - 64;
}

/// A dense file whose cells all have a set of their own, which need not differ.
static void espyTest_MakeFile(const uint32_t dims[3], uint32_t width, espyTestVisible* visible, void** out,
                              size_t* outSize)
{
    espyiGrid grid = {.cellSize = 1.0f, .dims = {dims[0], dims[1], dims[2]}, .dense = true};
    grid.cellCount = dims[0] * dims[1] * dims[2];
    grid.cells = calloc(grid.cellCount, sizeof *grid.cells);
    uint32_t words = espyiBits_Words(width);
    espyiTable table = {.width = width, .words = words, .setCount = grid.cellCount, .cellCount = grid.cellCount};
    table.cells = calloc(grid.cellCount, sizeof *table.cells);
    table.sets = calloc((size_t)grid.cellCount * words, sizeof *table.sets);
    espyBox* boxes = calloc(width, sizeof *boxes);
    assert_true(grid.cells && table.cells && table.sets && boxes);
    espyiRng rng = espyiRng_Seed(width);
    for (uint32_t cell = 0; cell < grid.cellCount; ++cell)
    {
        uint32_t row = cell / dims[0];
        grid.cells[cell] =
            (espyiCellCoord){(uint16_t)(cell % dims[0]), (uint16_t)(row % dims[1]), (uint16_t)(row / dims[1])};
        table.cells[cell] = cell;
        for (uint32_t slot = 0; slot < width; ++slot)
        {
            if (visible(&rng, grid.cells[cell], slot))
            {
                espyiBits_Set(table.sets + (size_t)cell * words, slot);
            }
        }
    }
    espyiBlobDef def = {.grid = &grid, .occludeeCount = width, .occludeeBoxes = boxes, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyiBlob_Write(&def, &hooks, out, outSize), espyResult_Ok);
    free(grid.cells);
    free(table.cells);
    free(table.sets);
    free(boxes);
}

/// As espyTest_CheckFile, but for the sets that unpacking shares.
static espyPackStats espyTest_CheckTable(const uint32_t dims[3], uint32_t width, espyTestVisible* visible, double least)
{
    void* file;
    size_t size;
    espyTest_MakeFile(dims, width, visible, &file, &size);
    espyPackResult packed = espyTest_Pack(file, size);
    espyPvs plain = espyTest_Load(file, size);
    espyPvs other = espyTest_Load(packed.data, packed.size);
    for (int32_t cell = 0; cell < (int32_t)plain.cellCount; ++cell)
    {
        espyTest_CompareSet(&plain, &other, cell, false);
    }
    espyPvsInfo info;
    espyPvs_GetInfo(&other, &info);
    double ratio = (double)(info.staticCellsBytes + info.staticSetsBytes) / (double)info.staticPackBytes;
    printf("%u slots: %.2f times smaller, %u bits a cell, %u for the worst\n", width, ratio, packed.stats.meanBits,
           packed.stats.worstBits);
    if (ratio < least)
    {
        fail_msg("%u slots: %.2f times smaller, not %.2f", width, ratio, least);
    }
    espyPackStats stats = packed.stats;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyPack_Free(&packed);
    espyiFree(&hooks, file);
    return stats;
}

static void test_all_answers_of_small_files(void** state)
{
    (void)state;
    static const uint32_t widths[] = {1, 31, 32, 33, 64, 300};
    static const uint32_t dims[][3] = {{7, 5, 6}, {1, 1, 1}, {8, 1, 15}, {2, 9, 3}, {14, 7, 1}, {37, 2, 5}};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(widths); ++i)
    {
        espyPvsCaseDef def = espyPvsCaseDef_Default();
        def.seed = 40 + i;
        def.occludeeCount = widths[i];
        memcpy(def.dims, dims[i], sizeof def.dims);
        def.distinctRows = 3 + 40 * i;
        def.coarseFactor = i == 3 ? 0 : 4;
        espyTest_CheckCase(&def);
    }
}

/// Cells that are not stored lie between those that are, also at the centres of blocks and of whole tiles.
static void test_sparse_grids(void** state)
{
    (void)state;
    static const float shares[] = {0.03f, 0.3f, 0.7f, 0.95f};
    static const uint32_t dims[][3] = {{7, 5, 6}, {97, 2, 3}, {2, 3, 60}, {33, 8, 8}};
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(shares); ++i)
    {
        for (uint32_t j = 0; j < ESPYI_ARRAY_COUNT(dims); ++j)
        {
            espyPvsCaseDef def = espyPvsCaseDef_Default();
            def.seed = 60 + 10 * i + j;
            def.storedShare = shares[i];
            memcpy(def.dims, dims[j], sizeof def.dims);
            espyTest_CheckCase(&def);
        }
    }
}

/// A lattice far larger than what it stores costs what it stores.
static void test_the_largest_lattice(void** state)
{
    (void)state;
    espyiCellCoord cells[] = {{0, 0, 0},      {65534, 0, 0},  {0, 65534, 0},
                              {31, 0, 65534}, {32, 0, 65534}, {65534, 65534, 65534}};
    espyiGrid grid = {
        .cellSize = 0.25f, .dims = {65535, 65535, 65535}, .cellCount = ESPYI_ARRAY_COUNT(cells), .cells = cells};
    uint32_t indices[ESPYI_ARRAY_COUNT(cells)] = {0, 1, 0, 1, 0, 1};
    uint32_t sets[2] = {1, 2};
    espyiTable table = {
        .width = 2, .words = 1, .setCount = 2, .cellCount = grid.cellCount, .cells = indices, .sets = sets};
    espyBox boxes[2] = {{{0, 0, 0}, {1, 1, 1}}, {{0, 0, 0}, {1, 1, 1}}};
    espyiBlobDef def = {.grid = &grid, .occludeeCount = 2, .occludeeBoxes = boxes, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_Ok);
    espyTest_CheckFile(file, size);
    espyiFree(&hooks, file);
}

static void test_a_file_without_cells_or_slots(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.occludeeCount = 0;
    espyTest_CheckCase(&def);
    espyiGrid grid = {.cellSize = 1.0f};
    espyiTable table = {.width = 3, .words = 1};
    espyBox boxes[3] = {0};
    espyiBlobDef blob = {.grid = &grid, .occludeeCount = 3, .occludeeBoxes = boxes, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&blob, &hooks, &file, &size), espyResult_Ok);
    espyTest_CheckFile(file, size);
    espyiFree(&hooks, file);
}

static void test_adversarial_tables(void** state)
{
    (void)state;
    static const uint32_t small[3] = {9, 3, 8};
    static const uint32_t dims[3] = {16, 4, 15};
    espyTest_CheckTable(dims, 500, espyTest_Never, 8.0);
    espyTest_CheckTable(dims, 500, espyTest_Always, 8.0);
    espyTest_CheckTable(dims, 500, espyTest_Chequered, 5.0);
    espyTest_CheckTable(dims, 500, espyTest_Walled, 5.0);
    // Nothing can make random bits smaller; they may not grow much either.
    espyTest_CheckTable(dims, 500, espyTest_AtRandom, 0.85);
    espyTest_CheckTable(small, 1, espyTest_AtRandom, 0.0);
    espyTest_CheckTable(small, 33, espyTest_AtRandom, 0.0);
    // Widths around whole stripes.
    espyTest_CheckTable(small, 4096, espyTest_Walled, 1.0);
    espyTest_CheckTable(small, 4097, espyTest_AtRandom, 0.85);
    espyTest_CheckTable(small, 8193, espyTest_Walled, 1.0);
}

static void test_seventy_thousand_sets(void** state)
{
    (void)state;
    static const uint32_t dims[3] = {50, 28, 50};
    espyTest_CheckTable(dims, 40, espyTest_AtRandom, 0.8);
    espyTest_CheckTable(dims, 40, espyTest_Walled, 2.0);
}

/// What reading a cell takes is bounded by the writer, so far as single blocks of two cells can do it.
static void test_work_is_bounded(void** state)
{
    (void)state;
    static const uint32_t dims[3] = {14, 14, 14};
    espyPackStats walled = espyTest_CheckTable(dims, 1500, espyTest_Walled, 8.0);
    // Where there is room it is spent on time.
    assert_true(walled.worstBits <= 2200 && walled.meanBits <= 1200 && walled.meanBits > 0);
    espyPackStats random = espyTest_CheckTable(dims, 1000, espyTest_AtRandom, 0.8);
    assert_true(random.worstBits <= 9 * 1200);
}

// --- the file

static espyPvsCase espyTest_SmallFile(void)
{
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.occluderCount = 1;
    def.occludeeCount = 35;
    def.dims[0] = 9;
    def.dims[1] = 3;
    def.dims[2] = 4;
    def.storedShare = 0.8f;
    def.seed = 3;
    return espyPvsCase_Make(&def);
}

static uint64_t espyTest_UseEverything(const espyPvs* pvs)
{
    uint64_t sum = 0;
    uint32_t* words = malloc((pvs->staticWords + pvs->coarseWords) * sizeof *words + 1u);
    assert_non_null(words);
    espyPvsInfo info;
    espyPvs_GetInfo(pvs, &info);
    for (int32_t cell = -1; cell <= (int32_t)pvs->cellCount; ++cell)
    {
        sum += espyPvs_ReadStaticSet(pvs, cell, words) && pvs->staticWords > 0 ? words[0] : 0u;
        sum += espyPvs_ReadDynamicSet(pvs, cell, words) && pvs->coarseWords > 0 ? words[0] : 0u;
        sum += (uint64_t)espyPvs_TestSlot(pvs, cell, pvs->occludeeCount / 2u);
        espyBox box = espyPvs_GetCellBox(pvs, cell);
        sum += (uint64_t)espyPvs_TestBox(pvs, cell, box);
    }
    free(words);
    return sum;
}

static void test_every_truncation_is_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    for (size_t size = 0; size < packed.size; ++size)
    {
        uint8_t* copy = espyTest_Copy(packed.data, size);
        espyPvs pvs;
        assert_int_not_equal(espyPvs_Load(&pvs, copy, size, NULL), espyResult_Ok);
        assert_null(pvs.bytes);
        // Also where the header says so itself.
        if (size >= sizeof(espyiFileHeader) && size % 16u == 0)
        {
            ((espyiFileHeader*)(void*)copy)->fileBytes = size;
            espyPvsCase_Rehash(copy, size);
            assert_int_not_equal(espyPvs_Load(&pvs, copy, size, NULL), espyResult_Ok);
        }
        free(copy);
    }
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

/// The hash refuses every change. With the hash made to fit, the reader refuses what it can tell and stays in bounds,
/// on lines that mean nothing as well.
static void test_every_flipped_byte_is_refused_or_harmless(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    static const uint8_t flips[] = {0x01, 0x80, 0xFF, 0x40};
    uint32_t accepted = 0, named = 0;
    for (size_t at = 0; at < packed.size; ++at)
    {
        for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(flips); ++i)
        {
            uint8_t* copy = espyTest_Copy(packed.data, packed.size);
            copy[at] ^= flips[i];
            espyPvs pvs;
            espyDataError error;
            assert_int_not_equal(espyPvs_Load(&pvs, copy, packed.size, &error), espyResult_Ok);
            assert_true(error.byteOffset < packed.size && pvs.bytes == NULL);
            named += strcmp(error.field, "hash") != 0 ? 1u : 0u;
            espyPvsCase_Rehash(copy, packed.size);
            if (espyPvs_Load(&pvs, copy, packed.size, &error) == espyResult_Ok)
            {
                ++accepted;
                espyTest_UseEverything(&pvs);
            }
            free(copy);
        }
    }
    assert_true(accepted > 1000 && named > 1000);
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

/// The first byte of a section, for tests that change it.
static uint8_t* espyTest_Section(uint8_t* file, espyiSectionKind kind)
{
    const espyiFileSection* section = espyiFile_Find(file, (uint32_t)kind);
    assert_non_null(section);
    return file + section->offset;
}

static void espyTest_RefusedIn(uint8_t* file, size_t size, const char* field)
{
    espyPvs pvs;
    espyDataError error;
    espyPvsCase_Rehash(file, size);
    assert_int_equal(espyPvs_Load(&pvs, file, size, &error), espyResult_BadData);
    assert_string_equal(error.field, field);
    free(file);
}

static void test_damage_is_named_by_its_section(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    uint8_t* copy = espyTest_Copy(packed.data, packed.size);
    espyiPackMap* map = (espyiPackMap*)(void*)espyTest_Section(copy, espyiSectionKind_StaticMap);
    map->tiles[0] = 1;
    espyTest_RefusedIn(copy, packed.size, "STATIC_MAP");
    copy = espyTest_Copy(packed.data, packed.size);
    map = (espyiPackMap*)(void*)espyTest_Section(copy, espyiSectionKind_DynamicMap);
    map->tiles[2] = 5;
    espyTest_RefusedIn(copy, packed.size, "DYNAMIC_MAP");
    copy = espyTest_Copy(packed.data, packed.size);
    ((uint32_t*)(void*)espyTest_Section(copy, espyiSectionKind_StaticMap))[4] ^= 1u;
    espyTest_RefusedIn(copy, packed.size, "STATIC_MAP");
    copy = espyTest_Copy(packed.data, packed.size);
    ((uint16_t*)(void*)espyTest_Section(copy, espyiSectionKind_StaticModel))[7] = 0;
    espyTest_RefusedIn(copy, packed.size, "STATIC_MODEL");
    copy = espyTest_Copy(packed.data, packed.size);
    ((uint16_t*)(void*)espyTest_Section(copy, espyiSectionKind_DynamicModel))[7] = ESPYI_PACK_PROBABILITY_ONE;
    espyTest_RefusedIn(copy, packed.size, "DYNAMIC_MODEL");
    copy = espyTest_Copy(packed.data, packed.size);
    uint16_t* order = (uint16_t*)(void*)espyTest_Section(copy, espyiSectionKind_StaticModel) + ESPYI_PACK_CONTEXTS;
    order[3] = order[4];
    espyTest_RefusedIn(copy, packed.size, "STATIC_MODEL");
    copy = espyTest_Copy(packed.data, packed.size);
    ++*espyTest_Section(copy, espyiSectionKind_StaticLengths);
    espyTest_RefusedIn(copy, packed.size, "STATIC_BASES");
    copy = espyTest_Copy(packed.data, packed.size);
    ++((uint32_t*)(void*)espyTest_Section(copy, espyiSectionKind_DynamicBases))[1];
    espyTest_RefusedIn(copy, packed.size, "DYNAMIC_BASES");
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

/// A file of one form that claims the version of the other lacks its tables.
static void test_versions(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    assert_int_equal(((espyiFileHeader*)made.file)->version, 0x00010000u);
    assert_int_equal(((espyiFileHeader*)packed.data)->version, 0x00020000u);
    uint8_t* copy = espyTest_Copy(packed.data, packed.size);
    ((espyiFileHeader*)(void*)copy)->version = 0x00010000u;
    espyTest_RefusedIn(copy, packed.size, "STATIC_MAP");
    copy = espyTest_Copy(made.file, made.size);
    ((espyiFileHeader*)(void*)copy)->version = 0x00020000u;
    espyTest_RefusedIn(copy, made.size, "STATIC_CELLS");
    copy = espyTest_Copy(packed.data, packed.size);
    ((espyiFileHeader*)(void*)copy)->version = 0x00030000u;
    espyPvsCase_Rehash(copy, packed.size);
    espyPvs pvs;
    espyDataError error;
    assert_int_equal(espyPvs_Load(&pvs, copy, packed.size, &error), espyResult_UnsupportedVersion);
    assert_string_equal(error.field, "version");
    // A later minor version of the packed form loads.
    ((espyiFileHeader*)(void*)copy)->version = 0x00020007u;
    espyPvsCase_Rehash(copy, packed.size);
    assert_int_equal(espyPvs_Load(&pvs, copy, packed.size, &error), espyResult_Ok);
    free(copy);
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

static void test_both_byte_orders(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    static const uint32_t one = 1;
    bool machineBig = *(const uint8_t*)&one == 0;
    uint8_t* other = espyTest_Copy(packed.data, packed.size);
    espyPvs pvs;
    assert_int_equal(espyBake_ConvertByteOrder(other, packed.size, !machineBig, other, NULL), espyResult_Ok);
    assert_int_equal(espyPvs_Load(&pvs, other, packed.size, NULL), espyResult_WrongByteOrder);
    // 16-bit and 32-bit numbers are turned, coded bytes are not.
    const espyiFileSection* model = espyiFile_Find(packed.data, espyiSectionKind_StaticModel);
    const espyiFileSection* bytes = espyiFile_Find(packed.data, espyiSectionKind_StaticBytes);
    const uint8_t* file = packed.data;
    assert_int_equal(other[model->offset], file[model->offset + 1]);
    assert_memory_equal(other + bytes->offset, file + bytes->offset, bytes->bytes);
    assert_int_equal(espyBake_ConvertByteOrder(other, packed.size, machineBig, other, NULL), espyResult_Ok);
    assert_memory_equal(other, packed.data, packed.size);
    free(other);
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

/// What a released reader understands must not change unnoticed, nor what the writer makes of the same tables.
static void test_golden_hash_of_a_packed_file(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    uint8_t* little = espyTest_Copy(packed.data, packed.size);
    assert_int_equal(espyBake_ConvertByteOrder(packed.data, packed.size, false, little, NULL), espyResult_Ok);
    uint64_t hash = espyiHash_Bytes(0, little, packed.size);
    if (hash != ESPY_GOLDEN_PACKED_HASH)
    {
        fail_msg("hash 0x%llX", (unsigned long long)hash);
    }
    free(little);
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

static void test_packing_survives_every_failed_allocation(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult whole = espyTest_Pack(made.file, made.size);
    for (uint32_t back = 0; back < 2; ++back)
    {
        espyResult result = espyResult_OutOfMemory;
        for (unsigned failAt = 1; result != espyResult_Ok; ++failAt)
        {
            espyHookCounter counter = {.failAt = failAt};
            espyHooks hooks = espyHookCounter_Hooks(&counter);
            espyPackResult out;
            result = back ? espyPack_Unpack(whole.data, whole.size, &hooks, &out)
                          : espyPack_Pack(made.file, made.size, &hooks, &out);
            assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
            assert_true((out.data != NULL) == (result == espyResult_Ok));
            espyPack_Free(&out);
            assert_int_equal(counter.blocks, 0);
            assert_true(failAt < 200);
        }
    }
    espyPack_Free(&whole);
    espyPvsCase_Free(&made);
}

static void test_what_is_no_file_is_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult out;
    ((uint8_t*)made.file)[made.size - 1] ^= 1u;
    assert_int_equal(espyPack_Pack(made.file, made.size, NULL, &out), espyResult_BadData);
    assert_true(out.data == NULL && out.error.result == espyResult_BadData);
    espyPack_Free(&out);
    assert_int_equal(espyPack_Unpack(NULL, 0, NULL, &out), espyResult_BadData);
    espyPack_Free(&out);
    espyPvsCase_Free(&made);
}

/// A cook packs last, in the target's byte order; packed data cooks like plain data.
static void test_cooks_pack_and_take_packed_data(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPackResult packed = espyTest_Pack(made.file, made.size);
    espyCookDef def = espyCookDef_Default();
    def.pack = true;
    espyCookResult out;
    assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_Ok);
    assert_int_equal(out.size, packed.size);
    assert_memory_equal(out.data, packed.data, packed.size);
    assert_true(out.report.after.packed);
    assert_int_equal(out.report.steps[out.report.stepCount - 1u].kind, espyCookStepKind_PackTables);
    assert_string_equal(espyCookStep_GetName(espyCookStepKind_PackTables), "pack tables");
    espyCook_Free(&out);
    // For a console, from either form: the same bytes.
    def.target.isConsole = true;
    def.pack = false;
    espyCookResult other;
    assert_int_equal(espyCook_Run(made.file, made.size, &def, &out), espyResult_Ok);
    assert_int_equal(espyCook_Run(packed.data, packed.size, &def, &other), espyResult_Ok);
    assert_int_equal(out.size, other.size);
    assert_memory_equal(out.data, other.data, out.size);
    espyCook_Free(&other);
    espyCook_Free(&out);
    espyPack_Free(&packed);
    espyPvsCase_Free(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_answers_of_small_files),
        cmocka_unit_test(test_sparse_grids),
        cmocka_unit_test(test_the_largest_lattice),
        cmocka_unit_test(test_a_file_without_cells_or_slots),
        cmocka_unit_test(test_adversarial_tables),
        cmocka_unit_test(test_seventy_thousand_sets),
        cmocka_unit_test(test_work_is_bounded),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_every_flipped_byte_is_refused_or_harmless),
        cmocka_unit_test(test_damage_is_named_by_its_section),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_both_byte_orders),
        cmocka_unit_test(test_golden_hash_of_a_packed_file),
        cmocka_unit_test(test_packing_survives_every_failed_allocation),
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_cooks_pack_and_take_packed_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
