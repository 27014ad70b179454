// SPDX-License-Identifier: MIT
// The file itself: layout, damage, byte order, versions, alignment, and what the writer refuses.
#include "hook_counter.h"
#include "pvs/format.h"
#include "pvs_case.h"
#include "test_main.h"

#include <math.h>
#include <string.h>

/// Of the bytes of test_golden_hash_of_a_fixed_file in little-endian order.
#define ESPY_GOLDEN_HASH 0xC065B5CD258E3A27ull

/// An aligned buffer of exactly `size` bytes, so that a sanitizer sees every read behind it.
static uint8_t* espyTest_Copy(const void* data, size_t size)
{
    uint8_t* copy = NULL;
    assert_int_equal(posix_memalign((void**)&copy, 64, size > 0 ? size : 1), 0);
    memcpy(copy, data, size);
    return copy;
}

static uint64_t espyTest_UseEverything(const espyPvs* pvs)
{
    uint64_t sum = 0;
    espyPvsInfo info;
    espyPvs_GetInfo(pvs, &info);
    for (int32_t cell = -1; cell <= (int32_t)pvs->cellCount; ++cell)
    {
        espyBox box = espyPvs_GetCellBox(pvs, cell);
        espyVec3 middle = {(box.min.x + box.max.x) * 0.5f, (box.min.y + box.max.y) * 0.5f,
                           (box.min.z + box.max.z) * 0.5f};
        sum += (uint64_t)(int64_t)espyPvs_FindCell(pvs, middle);
        sum += (uint64_t)espyPvs_TestBox(pvs, cell, box);
        box.max.x += 100.0f;
        sum += (uint64_t)espyPvs_TestBox(pvs, cell, box);
        sum += espyPvs_IsSolidCell(pvs, cell) ? 1u : 0u;
        const uint32_t* set = espyPvs_GetStaticSet(pvs, cell);
        for (uint32_t i = 0; set && i < pvs->staticWords; ++i)
        {
            sum += set[i];
        }
        set = espyPvs_GetDynamicSet(pvs, cell);
        for (uint32_t i = 0; set && i < pvs->coarseWords; ++i)
        {
            sum += set[i];
        }
        for (uint32_t slot = 0; slot <= pvs->occludeeCount; ++slot)
        {
            sum += (uint64_t)espyPvs_TestSlot(pvs, cell, slot);
        }
    }
    for (uint32_t i = 0; i <= pvs->occludeeCount; ++i)
    {
        sum += espyPvs_GetOccludeeHash(pvs, i) + (uint64_t)espyPvs_GetOccludeeNode(pvs, i);
        sum += (uint64_t)espyPvs_GetOccludeePart(pvs, i) + (espyBox_IsValid(espyPvs_GetOccludeeBox(pvs, i)) ? 1u : 0u);
    }
    for (uint32_t i = 0; i <= pvs->occluderCount; ++i)
    {
        sum += espyPvs_GetOccluderHash(pvs, i) + (uint64_t)espyPvs_GetOccluderNode(pvs, i);
        sum += espyBox_IsValid(espyPvs_GetOccluderBox(pvs, i)) ? 1u : 0u;
    }
    return sum;
}

/// A small file with every section: sparse cells, sparse coarse blocks, tools.
static espyPvsCase espyTest_SmallFile(void)
{
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.dims[0] = 40;
    def.dims[1] = 5;
    def.dims[2] = 5;
    def.storedShare = 0.025f;
    def.occluderCount = 2;
    def.occludeeCount = 5;
    espyPvsCase made = espyPvsCase_Make(&def);
    assert_true(made.grid.cellCount > 5 && made.grid.cellCount < 40);
    assert_true(made.grid.coarseCount < made.grid.coarseDims[0] * made.grid.coarseDims[1] * made.grid.coarseDims[2]);
    return made;
}

// --- layout

static void test_layout_is_as_documented(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    const espyiFileHeader* h = made.file;
    assert_memory_equal(made.file, h->magic == ESPYI_FILE_MAGIC && *(uint8_t*)made.file == 'E' ? "ESPY" : "YPSE", 4);
    const espyiFileSection* s = (const espyiFileSection*)(h + 1);
    uint32_t wanted[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0x100, 0x101, 0x102, 0x103, 0x104};
    assert_int_equal(h->sectionCount, ESPYI_ARRAY_COUNT(wanted));
    uint64_t end = sizeof *h + h->sectionCount * sizeof *s;
    for (uint32_t i = 0; i < h->sectionCount; ++i)
    {
        assert_int_equal(s[i].kind, wanted[i]);
        assert_int_equal(s[i].flags, s[i].kind >= 0x100 ? ESPYI_SECTION_FLAG_TOOL : 0);
        assert_int_equal(s[i].offset % 16, 0);
        assert_true(s[i].offset == end);
        end = (s[i].offset + s[i].bytes + 15) / 16 * 16;
        assert_int_equal(s[i].bytes % s[i].elementBytes, 0);
    }
    assert_int_equal(end, made.size);
    assert_int_equal(h->fileBytes, made.size);
    espyPvsCase_Free(&made);
}

/// spec/baked-pvs: 230 x 60 x 220 units at 4-unit cells, 30 occludees, 400 unique sets.
static void test_sizes_of_the_worked_example(void** state)
{
    (void)state;
    enum
    {
        cells = 58 * 15 * 55
    };
    assert_int_equal(cells, 47850);
    espyiGrid grid = {.cellSize = 4.0f, .dims = {58, 15, 55}, .cellCount = cells, .dense = true, .coarseFactor = 6};
    grid.coarseDims[0] = 10;
    grid.coarseDims[1] = 3;
    grid.coarseDims[2] = 10;
    grid.coarseCount = 300;
    uint32_t* statics = malloc(cells * sizeof *statics);
    uint32_t* dynamics = malloc(cells * sizeof *dynamics);
    static uint32_t staticSets[400], dynamicSets[250 * 10];
    static espyBox boxes[34];
    assert_true(statics && dynamics);
    for (uint32_t i = 0; i < cells; ++i)
    {
        statics[i] = i % 400;
        dynamics[i] = i % 250;
    }
    for (uint32_t i = 0; i < 400; ++i)
    {
        staticSets[i] = i;
    }
    espyiTable staticTable = {30, 1, 400, cells, statics, staticSets};
    espyiTable dynamicTable = {300, 10, 250, cells, dynamics, dynamicSets};
    espyiBlobDef def = {.grid = &grid,
                        .occluderCount = 4,
                        .occludeeCount = 30,
                        .occluderBoxes = boxes,
                        .occludeeBoxes = boxes + 4,
                        .statics = &staticTable,
                        .dynamics = &dynamicTable};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_Ok);
    espyPvs pvs;
    espyPvsInfo info;
    assert_int_equal(espyPvs_Load(&pvs, file, size, NULL), espyResult_Ok);
    espyPvs_GetInfo(&pvs, &info);
    assert_int_equal(info.entriesBytes, 34 * 24);
    assert_int_equal(info.cellMapBytes, 0);
    assert_int_equal(info.staticCellsBytes, 47850 * 2); // About 96 KB.
    assert_int_equal(info.staticSetsBytes, 400 * 4);    // 1.6 KB.
    assert_int_equal(info.dynamicCellsBytes, 47850 * 2);
    assert_int_equal(info.dynamicSetsBytes, 250 * ((300 + 31) / 32) * 4);
    assert_int_equal(info.staticIndexBytes, 2);
    assert_int_equal(info.dynamicIndexBytes, 2);
    espyiFree(&hooks, file);
    free(statics);
    free(dynamics);
}

/// What a released reader understands must not change unnoticed: a new hash here needs a new version in format.h.
static void test_golden_hash_of_a_fixed_file(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    uint8_t* little = espyTest_Copy(made.file, made.size);
    assert_int_equal(espyBake_ConvertByteOrder(made.file, made.size, false, little, NULL), espyResult_Ok);
    uint64_t hash = espyiHash_Bytes(0, little, made.size);
    if (hash != ESPY_GOLDEN_HASH)
    {
        fail_msg("hash 0x%llX", (unsigned long long)hash);
    }
    free(little);
    espyPvsCase_Free(&made);
}

static void test_one_or_none_of_everything(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    for (uint32_t i = 0; i < 32; ++i)
    {
        def.dims[0] = def.dims[1] = def.dims[2] = i & 1 ? 1 : 3;
        def.occluderCount = i & 2 ? 0 : 1;
        def.occludeeCount = i & 4 ? 0 : 1;
        def.coarseFactor = i & 8 ? 0 : 4;
        def.tools = (i & 16) != 0;
        espyPvsCase made = espyPvsCase_Make(&def);
        espyPvs pvs;
        assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, NULL), espyResult_Ok);
        espyTest_UseEverything(&pvs);
        assert_true((espyPvs_GetStaticSet(&pvs, 0) == NULL) == (def.occludeeCount == 0));
        espyPvsCase_Free(&made);
    }
}

/// What a cook leaves of a file over its budget: no cells, so that everything is visible everywhere.
static void test_a_file_without_cells(void** state)
{
    (void)state;
    espyiGrid grid = {.cellSize = 4.0f, .dense = true};
    espyiTable table = {0};
    espyiBlobDef def = {.grid = &grid, .statics = &table};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* file;
    size_t size;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_Ok);
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, file, size, NULL), espyResult_Ok);
    assert_int_equal(espyPvs_FindCell(&pvs, (espyVec3){0, 0, 0}), ESPY_PVS_OUTSIDE);
    espyTest_UseEverything(&pvs);
    espyiFree(&hooks, file);
}

// --- damage

static void espyTest_CheckRefusal(espyResult result, const espyPvs* pvs, const espyDataError* error, size_t size)
{
    static const espyPvs zero;
    assert_int_equal(error->result, result);
    assert_non_null(error->field);
    assert_true(error->field[0] != 0);
    assert_true(error->byteOffset <= size);
    assert_memory_equal(pvs, &zero, sizeof zero);
}

static void test_every_truncation_is_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    for (size_t size = 0; size < made.size; ++size)
    {
        uint8_t* copy = espyTest_Copy(made.file, size);
        espyPvs pvs;
        espyDataError error;
        espyResult result = espyPvs_Load(&pvs, copy, size, &error);
        assert_int_equal(result, espyResult_BadData);
        espyTest_CheckRefusal(result, &pvs, &error, size);
        assert_int_equal(espyBake_ConvertByteOrder(copy, size, true, copy, &error), espyResult_BadData);
        if (size >= sizeof(espyiFileHeader) && size % 16 == 0)
        {
            // Also where the size in the header was made to fit.
            ((espyiFileHeader*)(void*)copy)->fileBytes = size;
            espyPvsCase_Rehash(copy, size);
            assert_int_not_equal(espyPvs_Load(&pvs, copy, size, &error), espyResult_Ok);
        }
        free(copy);
    }
    espyPvsCase_Free(&made);
}

static void test_every_flipped_byte_is_refused_or_harmless(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    static const uint8_t flips[] = {0x01, 0x80, 0xFF, 0x40};
    uint32_t accepted = 0, named = 0;
    for (size_t at = 0; at < made.size; ++at)
    {
        for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(flips); ++i)
        {
            uint8_t* copy = espyTest_Copy(made.file, made.size);
            copy[at] ^= flips[i];
            espyPvs pvs;
            espyDataError error;
            espyResult result = espyPvs_Load(&pvs, copy, made.size, &error);
            assert_int_not_equal(result, espyResult_Ok);
            espyTest_CheckRefusal(result, &pvs, &error, made.size);
            named += strcmp(error.field, "hash") != 0 ? 1u : 0u;
            // With the hash made to fit, either the field itself is refused or every query stays in bounds.
            espyPvsCase_Rehash(copy, made.size);
            if (espyPvs_Load(&pvs, copy, made.size, &error) == espyResult_Ok)
            {
                ++accepted;
                espyTest_UseEverything(&pvs);
            }
            free(copy);
        }
    }
    assert_true(accepted > 100 && named > 100);
    espyPvsCase_Free(&made);
}

static void test_flipped_bytes_of_the_other_order(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    uint8_t* other = espyTest_Copy(made.file, made.size);
    static const uint32_t one = 1;
    bool big = *(const uint8_t*)&one == 0;
    assert_int_equal(espyBake_ConvertByteOrder(made.file, made.size, !big, other, NULL), espyResult_Ok);
    for (size_t at = 0; at < made.size; ++at)
    {
        uint8_t* copy = espyTest_Copy(other, made.size);
        copy[at] ^= 0x81;
        espyDataError error = {0};
        espyResult result = espyBake_ConvertByteOrder(copy, made.size, big, copy, &error);
        assert_int_not_equal(result, espyResult_Ok);
        assert_int_equal(error.result, result);
        assert_true(error.field[0] != 0 && error.byteOffset <= made.size);
        free(copy);
    }
    free(other);
    espyPvsCase_Free(&made);
}

typedef struct espyTestDamage
{
    const char* field;
    size_t offset; ///< Of a 32-bit word of the header, or SIZE_MAX: in the section.
    uint32_t section;
    size_t inSection;
    uint32_t value;
} espyTestDamage;

#define ESPY_HEADER_WORD(name, index, wanted, value)                       \
    {                                                                      \
        wanted, offsetof(espyiFileHeader, name) + 4 * (index), 0, 0, value \
    }
#define ESPY_SECTION_WORD(kind, at, wanted, value)           \
    {                                                        \
        wanted, SIZE_MAX, espyiSectionKind_##kind, at, value \
    }

static void test_damage_is_named_by_its_field(void** state)
{
    (void)state;
    static const uint32_t infinite = 0x7F800000u, nan = 0x7FC00000u, huge = 0xFFFFFFFFu;
    const espyTestDamage damages[] = {
        ESPY_HEADER_WORD(magic, 0, "magic", 0),
        ESPY_HEADER_WORD(headerBytes, 0, "headerBytes", 8),
        ESPY_HEADER_WORD(headerBytes, 0, "headerBytes", huge),
        ESPY_HEADER_WORD(sectionCount, 0, "sectionCount", huge),
        ESPY_HEADER_WORD(origin, 0, "origin.x", nan),
        ESPY_HEADER_WORD(origin, 1, "origin.y", infinite),
        ESPY_HEADER_WORD(origin, 2, "cellSize", 0x7F7FFFFFu), // The cells vanish beside it.
        ESPY_HEADER_WORD(cellSize, 0, "cellSize", 0),
        ESPY_HEADER_WORD(cellSize, 0, "cellSize", nan),
        ESPY_HEADER_WORD(cellSize, 0, "cellSize", 0xBF800000u),
        ESPY_HEADER_WORD(cellSize, 0, "cellSize", 1), // Its inverse is infinite.
        ESPY_HEADER_WORD(cellSize, 0, "cellSize", 0x7F000000u),
        ESPY_HEADER_WORD(dims, 0, "dims.x", 0),
        ESPY_HEADER_WORD(dims, 1, "dims.y", 65536),
        ESPY_HEADER_WORD(dims, 2, "dims.z", huge),
        ESPY_HEADER_WORD(cellCount, 0, "cellCount", huge),
        ESPY_HEADER_WORD(cellCount, 0, "cellCount", 1001),
        ESPY_HEADER_WORD(solidCellCount, 0, "solidCellCount", 100000),
        ESPY_HEADER_WORD(occluderCount, 0, "occluderCount", huge),
        ESPY_HEADER_WORD(occluderCount, 0, "ENTRIES", 1),
        ESPY_HEADER_WORD(occludeeCount, 0, "occludeeCount", 0x80000000u),
        ESPY_HEADER_WORD(staticSetCount, 0, "staticSetCount", 0),
        ESPY_HEADER_WORD(staticSetCount, 0, "staticSetCount", 1000),
        ESPY_HEADER_WORD(dynamicSetCount, 0, "dynamicSetCount", 0),
        ESPY_HEADER_WORD(coarseFactor, 0, "coarseFactor", 3),
        ESPY_HEADER_WORD(coarseFactor, 0, "coarseFactor", 17),
        ESPY_HEADER_WORD(coarseFactor, 0, "coarseCount", 0),
        ESPY_HEADER_WORD(coarseCount, 0, "coarseCount", 1000),
        ESPY_HEADER_WORD(quality, 0, "quality", 4),
        ESPY_HEADER_WORD(nearDistance, 0, "nearDistance", nan),
        ESPY_HEADER_WORD(nearDistance, 0, "nearDistance", 0xBF800000u),
        ESPY_HEADER_WORD(smallestHole, 0, "smallestHole", infinite),
        ESPY_HEADER_WORD(cellRowCount, 0, "cellCount", 0),
        ESPY_HEADER_WORD(cellRowCount, 0, "CELL_ROWS", 1),
        ESPY_HEADER_WORD(cellRowCount, 0, "cellRowCount", 999),
        ESPY_HEADER_WORD(coarseSlotCount, 0, "COARSE_INDEX", 1u << 30),
        ESPY_HEADER_WORD(coarseProbes, 0, "coarseProbes", 0),
        ESPY_HEADER_WORD(cellSlotCount, 0, "cellSlotCount", 3),
        ESPY_HEADER_WORD(cellSlotCount, 0, "cellSlotCount", 0),
        ESPY_HEADER_WORD(cellProbes, 0, "cellProbes", 0),
        ESPY_HEADER_WORD(cellProbes, 0, "cellProbes", 17),
        ESPY_HEADER_WORD(coarseRowCount, 0, "coarseCount", 0),
        ESPY_HEADER_WORD(coarseSlotCount, 0, "coarseSlotCount", 3),
        ESPY_SECTION_WORD(Entries, 8, "ENTRIES", nan),
        ESPY_SECTION_WORD(CellRows, 0, "CELL_ROWS", 2),        // A block past the lattice.
        ESPY_SECTION_WORD(CellRows, 0, "CELL_ROWS", 5u << 16), // y past the lattice.
        ESPY_SECTION_WORD(CellRows, 4, "CELL_ROWS", 5),
        ESPY_SECTION_WORD(CellRows, 8, "CELL_ROWS", 0),
        ESPY_SECTION_WORD(CellRows, 8, "CELL_ROWS", huge),
        ESPY_SECTION_WORD(CellRows, 12, "CELL_ROWS", 1),
        ESPY_SECTION_WORD(CellIndex, 0, "CELL_INDEX", 1000),
        ESPY_SECTION_WORD(StaticCells, 0, "STATIC_CELLS", huge),
        ESPY_SECTION_WORD(StaticSets, 0, "STATIC_SETS", 0x20),
        ESPY_SECTION_WORD(DynamicCells, 0, "DYNAMIC_CELLS", huge),
        ESPY_SECTION_WORD(DynamicSets, 0, "DYNAMIC_SETS", huge),
        ESPY_SECTION_WORD(Parts, 0, "PARTS", 0xFFFFFFFEu),
        ESPY_SECTION_WORD(SolidCells, 0, "SOLID_CELLS", huge),
    };
    espyPvsCase made = espyTest_SmallFile();
    for (uint32_t i = 0; i < ESPYI_ARRAY_COUNT(damages); ++i)
    {
        uint8_t* copy = espyTest_Copy(made.file, made.size);
        size_t offset = damages[i].offset;
        if (offset == SIZE_MAX)
        {
            offset = (size_t)espyiFile_Find(copy, damages[i].section)->offset + damages[i].inSection;
        }
        memcpy(copy + offset, &damages[i].value, 4);
        espyPvsCase_Rehash(copy, made.size);
        espyPvs pvs;
        espyDataError error;
        espyResult result = espyPvs_Load(&pvs, copy, made.size, &error);
        if (result != espyResult_BadData || strcmp(error.field, damages[i].field) != 0)
        {
            fail_msg("damage %u: %s in '%s' at %llu, not in '%s'", i, espyResult_GetName(result), error.field,
                     (unsigned long long)error.byteOffset, damages[i].field);
        }
        free(copy);
    }
    espyPvsCase_Free(&made);
}

/// An index in which a row cannot be found would lose cells: two slots exchanged, and one row entered twice.
static void test_maps_that_lose_a_row_are_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    uint8_t* copy = espyTest_Copy(made.file, made.size);
    const espyiFileSection* section = espyiFile_Find(copy, espyiSectionKind_CellIndex);
    uint32_t* index = (uint32_t*)(void*)(copy + section->offset);
    uint32_t slots = (uint32_t)section->bytes / 4;
    uint32_t first = 0;
    while (index[first] == ESPYI_FILE_NO_ROW)
    {
        ++first;
    }
    uint32_t second = first + 1;
    while (index[second] == ESPYI_FILE_NO_ROW)
    {
        ++second;
    }
    assert_true(second < slots);
    uint32_t kept = index[second];
    index[second] = index[first];
    espyPvsCase_Rehash(copy, made.size);
    espyPvs pvs;
    espyDataError error;
    assert_int_equal(espyPvs_Load(&pvs, copy, made.size, &error), espyResult_BadData);
    assert_string_equal(error.field, "CELL_INDEX");
    index[second] = kept;
    // One slot more than rows.
    uint32_t spare = 0;
    while (index[spare] != ESPYI_FILE_NO_ROW)
    {
        ++spare;
    }
    index[spare] = index[first];
    espyPvsCase_Rehash(copy, made.size);
    assert_int_equal(espyPvs_Load(&pvs, copy, made.size, &error), espyResult_BadData);
    assert_string_equal(error.field, "CELL_INDEX");
    index[spare] = ESPYI_FILE_NO_ROW;
    uint32_t empty = (first + slots / 2) % slots;
    while (index[empty] != ESPYI_FILE_NO_ROW)
    {
        empty = (empty + 1) % slots;
    }
    index[empty] = index[first];
    index[first] = ESPYI_FILE_NO_ROW;
    espyPvsCase_Rehash(copy, made.size);
    if (espyPvs_Load(&pvs, copy, made.size, &error) == espyResult_Ok)
    {
        espyTest_UseEverything(&pvs);
    }
    free(copy);
    espyPvsCase_Free(&made);
}

/// Two rows for the same coordinates: a lookup would only ever see the first.
static void test_rows_that_repeat_are_refused(void** state)
{
    (void)state;
    espyPvsCaseDef def = espyPvsCaseDef_Default();
    def.dims[0] = 64;
    def.dims[1] = def.dims[2] = 1;
    def.storedShare = 0.5f;
    def.coarseFactor = 0;
    espyPvsCase made = espyPvsCase_Make(&def);
    espyiFileRow* rows =
        (espyiFileRow*)(void*)((uint8_t*)made.file + espyiFile_Find(made.file, espyiSectionKind_CellRows)->offset);
    assert_int_equal(((espyiFileHeader*)made.file)->cellRowCount, 2);
    assert_int_equal(rows[1].xBlockY, 1);
    rows[1].xBlockY = 0;
    espyPvsCase_Rehash(made.file, made.size);
    espyPvs pvs;
    espyDataError error;
    assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, &error), espyResult_BadData);
    assert_string_equal(error.field, "CELL_ROWS");
    espyPvsCase_Free(&made);
}

static void test_an_index_just_past_the_sets_is_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    const espyiFileSection* cells = espyiFile_Find(made.file, espyiSectionKind_StaticCells);
    uint16_t* indices = (uint16_t*)(void*)((uint8_t*)made.file + cells->offset);
    espyPvs pvs;
    espyDataError error;
    for (uint32_t i = 0; i < 2; ++i)
    {
        indices[2] = (uint16_t)(made.statics.setCount - i);
        espyPvsCase_Rehash(made.file, made.size);
        espyResult result = espyPvs_Load(&pvs, made.file, made.size, &error);
        assert_int_equal(result, i == 0 ? espyResult_BadData : espyResult_Ok);
        assert_true(i != 0 || (strcmp(error.field, "STATIC_CELLS") == 0 && error.byteOffset == cells->offset + 4));
    }
    espyPvsCase_Free(&made);
}

// --- versions, order, alignment

/// A file as a later minor version might write it: a longer header and a section that nobody knows yet.
static uint8_t* espyTest_LaterFile(const espyPvsCase* made, size_t* size)
{
    const espyiFileHeader* old = made->file;
    const espyiFileSection* sections = (const espyiFileSection*)(old + 1);
    const size_t headerBytes = sizeof *old + 32, unknownBytes = 3 * 8;
    *size = made->size + 32 + sizeof *sections + 32;
    uint8_t* file = espyTest_Copy(made->file, made->size);
    uint8_t* later = calloc(1, *size);
    assert_non_null(later);
    memcpy(later, old, sizeof *old);
    espyiFileHeader* h = (espyiFileHeader*)(void*)later;
    h->version = ESPYI_FILE_VERSION + 7;
    h->fileBytes = *size;
    h->headerBytes = (uint32_t)headerBytes;
    h->sectionCount = old->sectionCount + 1;
    later[sizeof *old] = 0x5A;
    espyiFileSection* directory = (espyiFileSection*)(void*)(later + headerBytes);
    uint64_t end = headerBytes + h->sectionCount * sizeof *directory;
    for (uint32_t i = 0; i < old->sectionCount; ++i)
    {
        directory[i] = sections[i];
        directory[i].offset = end;
        memcpy(later + end, file + sections[i].offset, sections[i].bytes);
        end = espyiFile_Align(end + sections[i].bytes);
    }
    directory[old->sectionCount] =
        (espyiFileSection){.kind = 0x7777, .unitBytes = 8, .elementBytes = 8, .offset = end, .bytes = unknownBytes};
    uint64_t numbers[3] = {1, 0x0102030405060708ull, 3};
    memcpy(later + end, numbers, sizeof numbers);
    assert_int_equal(espyiFile_Align(end + unknownBytes), *size);
    free(file);
    uint8_t* aligned = espyTest_Copy(later, *size);
    free(later);
    espyPvsCase_Rehash(aligned, *size);
    return aligned;
}

static void test_later_minor_versions_load(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    size_t size;
    uint8_t* later = espyTest_LaterFile(&made, &size);
    espyPvs pvs, old;
    espyDataError error;
    assert_int_equal(espyPvs_Load(&old, made.file, made.size, NULL), espyResult_Ok);
    assert_int_equal(espyPvs_Load(&pvs, later, size, &error), espyResult_Ok);
    assert_true(espyTest_UseEverything(&pvs) == espyTest_UseEverything(&old));
    // The other byte order and back keeps the section that nobody knows.
    uint8_t* big = espyTest_Copy(later, size);
    uint8_t* little = espyTest_Copy(later, size);
    assert_int_equal(espyBake_ConvertByteOrder(later, size, true, big, NULL), espyResult_Ok);
    assert_int_equal(espyBake_ConvertByteOrder(later, size, false, little, NULL), espyResult_Ok);
    static const uint8_t number[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_memory_equal(big + size - 32 + 8, number, 8);
    assert_int_equal(little[size - 32 + 8], 8);
    assert_int_equal(espyBake_ConvertByteOrder(big, size, false, big, NULL), espyResult_Ok);
    assert_memory_equal(big, little, size);
    ((espyiFileHeader*)(void*)later)->version = (ESPYI_FILE_PACKED_MAJOR + 1) << 16;
    assert_int_equal(espyPvs_Load(&pvs, later, size, &error), espyResult_UnsupportedVersion);
    assert_string_equal(error.field, "version");
    assert_int_equal(error.byteOffset, 4);
    free(later);
    free(big);
    free(little);
    espyPvsCase_Free(&made);
}

static uint32_t espyTest_Word(const uint8_t* at, bool big)
{
    return big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void test_both_byte_orders(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyPvs pvs;
    assert_int_equal(espyPvs_Load(&pvs, made.file, made.size, NULL), espyResult_Ok);
    static const uint32_t one = 1;
    bool machineBig = *(const uint8_t*)&one == 0;
    // Neither input nor output is aligned.
    uint8_t* in = malloc(made.size + 1);
    uint8_t* out = malloc(made.size + 3);
    assert_true(in && out);
    memcpy(in + 1, made.file, made.size);
    for (uint32_t i = 0; i < 2; ++i)
    {
        bool big = i == 0;
        uint8_t* file = out + 3;
        assert_int_equal(espyBake_ConvertByteOrder(in + 1, made.size, big, file, NULL), espyResult_Ok);
        assert_memory_equal(file, big ? "YPSE" : "ESPY", 4);
        assert_int_equal(espyTest_Word(file + (big ? 20 : 16), big), made.size);
        assert_int_equal(espyTest_Word(file + 60, big), made.grid.cellCount);
        assert_int_equal(espyTest_Word(file + 72, big), 5);
        // The first entry of STATIC_CELLS, a 16-bit number.
        const espyiFileSection* cells = espyiFile_Find(made.file, espyiSectionKind_StaticCells);
        const uint8_t* at = file + cells->offset + 2;
        assert_int_equal(big ? at[0] << 8 | at[1] : at[1] << 8 | at[0], made.statics.cells[1]);
        // In place and back again, from either order.
        assert_int_equal(espyBake_ConvertByteOrder(file, made.size, machineBig, file, NULL), espyResult_Ok);
        assert_memory_equal(file, made.file, made.size);
        assert_int_equal(espyBake_ConvertByteOrder(file, made.size, !big, file, NULL), espyResult_Ok);
    }
    uint8_t* other = espyTest_Copy(made.file, made.size);
    assert_int_equal(espyBake_ConvertByteOrder(made.file, made.size, !machineBig, other, NULL), espyResult_Ok);
    espyDataError error;
    assert_int_equal(espyPvs_Load(&pvs, other, made.size, &error), espyResult_WrongByteOrder);
    assert_string_equal(error.field, "magic");
    free(in);
    free(out);
    free(other);
    espyPvsCase_Free(&made);
}

static void test_unaligned_data_is_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    uint8_t* buffer = espyTest_Copy(made.file, made.size);
    uint8_t* wide = NULL;
    assert_int_equal(posix_memalign((void**)&wide, 64, made.size + 16), 0);
    for (size_t shift = 1; shift < 16; ++shift)
    {
        memcpy(wide + shift, buffer, made.size);
        espyPvs pvs;
        espyDataError error;
        espyResult result = espyPvs_Load(&pvs, wide + shift, made.size, &error);
        assert_int_equal(result, espyResult_Misaligned);
        espyTest_CheckRefusal(result, &pvs, &error, made.size);
    }
    memcpy(wide + 16, buffer, made.size);
    espyPvs pvs;
    espyDataError error;
    assert_int_equal(espyPvs_Load(&pvs, wide + 16, made.size, &error), espyResult_Ok);
    assert_int_equal(error.result, espyResult_Ok);
    assert_int_equal(espyPvs_Load(&pvs, NULL, 0, &error), espyResult_BadData);
    free(buffer);
    free(wide);
    espyPvsCase_Free(&made);
}

// --- writer

static espyiBlobDef espyTest_Def(espyPvsCase* made)
{
    espyiBlobDef def = made->blob;
    def.grid = &made->grid;
    def.statics = &made->statics;
    def.dynamics = &made->dynamics;
    return def;
}

static void test_writing_survives_every_failed_allocation(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyiBlobDef def = espyTest_Def(&made);
    espyResult result = espyResult_OutOfMemory;
    for (unsigned failAt = 1; result != espyResult_Ok; ++failAt)
    {
        espyHookCounter counter = {.failAt = failAt};
        espyHooks hooks = espyHookCounter_Hooks(&counter);
        void* file;
        size_t size;
        result = espyiBlob_Write(&def, &hooks, &file, &size);
        assert_true(result == espyResult_Ok || result == espyResult_OutOfMemory);
        assert_true((file != NULL) == (result == espyResult_Ok));
        if (file)
        {
            assert_int_equal(size, made.size);
            assert_memory_equal(file, made.file, size);
        }
        espyiFree(&hooks, file);
        assert_int_equal(counter.blocks, 0);
        assert_true(failAt < 100);
    }
    espyPvsCase_Free(&made);
}

static void test_a_def_that_breaks_the_format_is_refused(void** state)
{
    (void)state;
    espyPvsCase made = espyTest_SmallFile();
    espyHooks hooks = espyiHooks_Resolve(NULL);
    void* file;
    size_t size;
    for (uint32_t i = 0; i < 6; ++i)
    {
        espyiBlobDef def = espyTest_Def(&made);
        espyiGrid grid = made.grid;
        def.grid = &grid;
        switch (i)
        {
        case 0:
            def.occludeeCount = 4;
            break;
        case 1:
            grid.cellSize = NAN;
            break;
        case 2:
            grid.cellCount -= 1;
            break;
        case 3:
            grid.origin.y = INFINITY;
            break;
        case 4:
            def.nearDistance = -1.0f;
            break;
        default:
            grid.dims[0] = 70000;
            break;
        }
        assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_InvalidArgument);
        assert_null(file);
    }
    // Two cells out of order.
    espyiBlobDef def = espyTest_Def(&made);
    espyiCellCoord swap = made.grid.cells[0];
    made.grid.cells[0] = made.grid.cells[made.grid.cellCount - 1];
    made.grid.cells[made.grid.cellCount - 1] = swap;
    assert_int_equal(espyiBlob_Write(&def, &hooks, &file, &size), espyResult_InvalidArgument);
    espyPvsCase_Free(&made);
}

static const struct CMUnitTest espyTests[] = {
    cmocka_unit_test(test_layout_is_as_documented),
    cmocka_unit_test(test_sizes_of_the_worked_example),
    cmocka_unit_test(test_golden_hash_of_a_fixed_file),
    cmocka_unit_test(test_one_or_none_of_everything),
    cmocka_unit_test(test_a_file_without_cells),
    cmocka_unit_test(test_every_truncation_is_refused),
    cmocka_unit_test(test_every_flipped_byte_is_refused_or_harmless),
    cmocka_unit_test(test_flipped_bytes_of_the_other_order),
    cmocka_unit_test(test_damage_is_named_by_its_field),
    cmocka_unit_test(test_maps_that_lose_a_row_are_refused),
    cmocka_unit_test(test_rows_that_repeat_are_refused),
    cmocka_unit_test(test_an_index_just_past_the_sets_is_refused),
    cmocka_unit_test(test_later_minor_versions_load),
    cmocka_unit_test(test_both_byte_orders),
    cmocka_unit_test(test_unaligned_data_is_refused),
    cmocka_unit_test(test_writing_survives_every_failed_allocation),
    cmocka_unit_test(test_a_def_that_breaks_the_format_is_refused),
};

int main(void)
{
    return cmocka_run_group_tests_name("format", espyTests, NULL, NULL);
}
