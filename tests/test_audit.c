// SPDX-License-Identifier: MIT
// The audit against files with known faults, and its panoramas against the definition.
//
// The level: two rooms of 4 x 3 x 4 m side by side, a wall 0.25 m thick between them with or without a doorway. Room A
// is x 0 to 4, room B is x 4.25 to 8; cells of 1 m.
#include "test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <espy/audit.h>
#include <espy/editor.h>

#include "audit/panorama.h"
#include "bake/tables.h"
#include "reference/audit_reference.h"
#include "scenes/scene_props.h"

#define ESPY_MAX_SLOTS 16u

typedef struct espyLevel
{
    espyWorld* world;
    espyGathered* gathered;
    espyBakeInput input;
    espyBakeOccludee occludees[ESPY_MAX_SLOTS];
} espyLevel;

static void espyLevel_Make(espyLevel* level, bool doorway)
{
    espyiKit kit;
    espyiKit_Begin(&kit, 1, 1.0f);
    espyiKit_Box(&kit, -0.25f, -0.25f, -0.25f, 8.25f, 0.0f, 4.25f);
    espyiKit_Box(&kit, -0.25f, 3.0f, -0.25f, 8.25f, 3.25f, 4.25f);
    espyiKit_Box(&kit, -0.25f, 0.0f, -0.25f, 0.0f, 3.0f, 4.25f);
    espyiKit_Box(&kit, 8.0f, 0.0f, -0.25f, 8.25f, 3.0f, 4.25f);
    espyiKit_Box(&kit, 0.0f, 0.0f, -0.25f, 8.0f, 3.0f, 0.0f);
    espyiKit_Box(&kit, 0.0f, 0.0f, 4.0f, 8.0f, 3.0f, 4.25f);
    espyiKit_Place(&kit, "Shell", espyiKit_EndMesh(&kit, "Shell"), espyMat4_Identity(), ESPYI_KIT_SHELL);
    espyiKit_Box(&kit, 4.0f, 0.0f, 0.0f, 4.25f, 3.0f, 1.0f);
    espyiKit_Box(&kit, 4.0f, 0.0f, 2.0f, 4.25f, 3.0f, 4.0f);
    espyiKit_Box(&kit, 4.0f, doorway ? 2.25f : 0.0f, 1.0f, 4.25f, 3.0f, 2.0f);
    espyiKit_Place(&kit, "Partition", espyiKit_EndMesh(&kit, "Partition"), espyMat4_Identity(), ESPYI_KIT_BOTH);
    espyiProp crate = espyiProp_Make(&kit, espyiPropKind_Crate);
    espyiProp vase = espyiProp_Make(&kit, espyiPropKind_Vase);
    espyiKit_Place(&kit, "Crate A", crate.mesh, espyiKit_AtTurned(1.0f, 0.0f, 3.0f, 0.05f, 1.0f), ESPYI_KIT_PROP);
    espyiKit_Place(&kit, "Crate B", crate.mesh, espyiKit_AtTurned(6.0f, 0.0f, 1.2f, 0.1f, 1.0f), ESPYI_KIT_BOTH);
    espyiKit_Box(&kit, 5.0f, 0.0f, 3.0f, 5.5f, 2.0f, 3.5f);
    espyiKit_Place(&kit, "Pillar B", espyiKit_EndMesh(&kit, "Pillar B"), espyMat4_Identity(), ESPYI_KIT_BOTH);
    espyiKit_Quad(&kit, (espyVec3){4.0f, 1.0f, 2.5f}, (espyVec3){4.0f, 1.0f, 3.5f}, (espyVec3){4.0f, 2.0f, 3.5f},
                  (espyVec3){4.0f, 2.0f, 2.5f});
    espyiKit_Place(&kit, "Poster A", espyiKit_EndMesh(&kit, "Poster A"), espyMat4_Identity(), ESPYI_KIT_PROP);
    espyiKit_Paint(&kit, espyMaterialClass_Translucent, 0xBBD6DDu);
    espyiKit_Quad(&kit, (espyVec3){2.0f, 0.5f, 0.5f}, (espyVec3){2.0f, 0.5f, 3.5f}, (espyVec3){2.0f, 2.5f, 3.5f},
                  (espyVec3){2.0f, 2.5f, 0.5f});
    espyiKit_Place(&kit, "Screen A", espyiKit_EndMesh(&kit, "Screen A"), espyMat4_Identity(), ESPYI_KIT_BOTH);
    espyMat4 instances[4];
    for (uint32_t i = 0; i < 4; ++i)
    {
        instances[i] = espyiKit_At(7.5f, 0.0f, 0.5f + (float)i);
    }
    espyiKit_PlaceMany(&kit, "Vases B", vase.mesh, instances, 4, ESPYI_KIT_PROP);
    espyiKit_Area(&kit, "Area", 0.0f, 0.0f, 0.0f, 8.0f, 3.0f, 4.0f);
    memset(level, 0, sizeof *level);
    assert_int_equal(espyiKit_Finish(&kit, &level->world), espyResult_Ok);
    assert_int_equal(espyEditor_Gather(level->world, 1.0f, 2.0f, NULL, &level->gathered), espyResult_Ok);
    level->input = *espyGathered_GetInput(level->gathered);
    assert_true(level->input.occludeeCount + 1 < ESPY_MAX_SLOTS);
    memcpy(level->occludees, level->input.occludees, level->input.occludeeCount * sizeof(espyBakeOccludee));
    // An occludee that is only a box.
    level->occludees[level->input.occludeeCount++] =
        (espyBakeOccludee){.box = {{6.5f, 1.5f, 2.5f}, {7.0f, 2.0f, 3.0f}}, .node = 1000, .part = -1, .name = "Box B"};
    level->input.occludees = level->occludees;
}

static void espyLevel_Free(espyLevel* level)
{
    espyGathered_Destroy(level->gathered);
    espyWorld_Destroy(level->world);
}

static uint32_t espyLevel_Slot(const espyLevel* level, const char* name, int32_t part)
{
    for (uint32_t slot = 0; slot < level->input.occludeeCount; ++slot)
    {
        if (strcmp(level->input.occludees[slot].name, name) == 0 && level->input.occludees[slot].part == part)
        {
            return slot;
        }
    }
    fail_msg("no occludee %s part %d", name, part);
    return 0;
}

// --- hand-made files

#define ESPY_CELLS (8u * 3u * 4u)

typedef struct espyFile
{
    uint32_t rows[ESPY_CELLS]; ///< One word a cell: the level has fewer than 32 slots.
    void* bytes;
    size_t size;
    espyPvs pvs;
} espyFile;

static void espyFile_Write(espyFile* file, const espyLevel* level)
{
    const espyBakeInput* input = &level->input;
    espyiCellCoord cells[ESPY_CELLS];
    uint32_t solid[ESPY_CELLS / 32] = {0}, indices[ESPY_CELLS];
    for (uint32_t i = 0; i < ESPY_CELLS; ++i)
    {
        cells[i] = (espyiCellCoord){(uint16_t)(i % 8), (uint16_t)(i / 8 % 3), (uint16_t)(i / 24)};
        indices[i] = i;
    }
    espyiGrid grid = {
        .cellSize = 1.0f, .dims = {8, 3, 4}, .cellCount = ESPY_CELLS, .dense = true, .cells = cells, .solid = solid};
    espyiTable statics = {input->occludeeCount, 1, ESPY_CELLS, ESPY_CELLS, indices, file->rows};
    espyBox boxes[2 * ESPY_MAX_SLOTS];
    int32_t nodes[2 * ESPY_MAX_SLOTS], parts[ESPY_MAX_SLOTS];
    for (uint32_t i = 0; i < input->occluderCount; ++i)
    {
        boxes[i] = espyBox_Empty();
        for (uint32_t v = 0; v < input->occluders[i].mesh.vertexCount; ++v)
        {
            boxes[i] = espyBox_AddPoint(boxes[i], input->occluders[i].mesh.positions[v]);
        }
        nodes[i] = input->occluders[i].node;
    }
    for (uint32_t i = 0; i < input->occludeeCount; ++i)
    {
        boxes[ESPY_MAX_SLOTS + i] = input->occludees[i].box;
        nodes[ESPY_MAX_SLOTS + i] = input->occludees[i].node;
        parts[i] = input->occludees[i].part;
    }
    espyiBlobDef blob = {.grid = &grid,
                         .quality = espyBakeQuality_Medium,
                         .nearDistance = 0.1f,
                         .occlusionCulling = true,
                         .consoleBudgetKB = 512,
                         .seed = 1,
                         .occluderCount = input->occluderCount,
                         .occludeeCount = input->occludeeCount,
                         .occluderBoxes = boxes,
                         .occludeeBoxes = boxes + ESPY_MAX_SLOTS,
                         .occluderNodes = nodes,
                         .occludeeNodes = nodes + ESPY_MAX_SLOTS,
                         .occludeeParts = parts,
                         .statics = &statics};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyiBlob_Write(&blob, &hooks, &file->bytes, &file->size), espyResult_Ok);
    assert_int_equal(espyPvs_Load(&file->pvs, file->bytes, file->size, NULL), espyResult_Ok);
}

/// Every slot visible from every cell.
static void espyFile_Fill(espyFile* file, const espyLevel* level)
{
    memset(file, 0, sizeof *file);
    for (uint32_t i = 0; i < ESPY_CELLS; ++i)
    {
        file->rows[i] = (1u << level->input.occludeeCount) - 1u;
    }
}

static void espyFile_Hide(espyFile* file, uint32_t slot, uint32_t firstX, uint32_t lastX)
{
    for (uint32_t i = 0; i < ESPY_CELLS; ++i)
    {
        if (i % 8 >= firstX && i % 8 <= lastX)
        {
            file->rows[i] &= ~(1u << slot);
        }
    }
}

static void espyFile_Free(espyFile* file)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiFree(&hooks, file->bytes);
}

static espyAuditDef espyTest_Def(void)
{
    espyAuditDef def = espyAuditDef_Default();
    def.views = 40;
    def.size = 32;
    def.seed = 5;
    def.threads = 1;
    return def;
}

// --- tests

typedef struct espyPicture
{
    uint32_t size;
    uint32_t* pixels; ///< Slots that show, as bits.
} espyPicture;

static void espyPicture_OnSeen(void* context, uint32_t pixel, uint32_t slot)
{
    espyPicture* picture = context;
    picture->pixels[pixel] |= 1u << slot;
}

/// Every pixel and every slot against the definition, from points all over both rooms.
static void espyTest_PanoramaEqualsReference(void** state)
{
    (void)state;
    espyLevel level;
    espyLevel_Make(&level, true);
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiDrawn* drawn = NULL;
    assert_int_equal(espyiDrawn_Create(&level.input, 1, &hooks, &drawn), espyResult_Ok);
    static const espyVec3 points[5] = {{0.61f, 1.73f, 0.83f},
                                       {3.57f, 1.21f, 1.47f},
                                       {7.41f, 2.71f, 3.61f},
                                       {4.93f, 0.33f, 0.37f},
                                       {2.71f, 2.31f, 3.43f}};
    espyPicture picture = {.size = 20};
    uint32_t count = 6 * picture.size * picture.size, compared = 0, shown = 0, doubtful = 0;
    picture.pixels = calloc(count, sizeof *picture.pixels);
    assert_non_null(picture.pixels);
    for (uint32_t p = 0; p < 5; ++p)
    {
        memset(picture.pixels, 0, count * sizeof *picture.pixels);
        for (uint32_t face = 0; face < 6; ++face)
        {
            espyiPanorama_RenderFace(drawn, points[p], picture.size, face, espyPicture_OnSeen, &picture);
        }
        for (uint32_t pixel = 0; pixel < count; ++pixel)
        {
            espyiRay ray = espyiPanorama_Ray(points[p], picture.size, pixel);
            for (uint32_t slot = 0; slot < level.input.occludeeCount; ++slot)
            {
                // A node with parts is drawn as its parts: its own bit comes from them.
                bool whole =
                    strcmp(level.input.occludees[slot].name, "Vases B") == 0 && level.input.occludees[slot].part < 0;
                espyAuditReferenceAnswer answer =
                    espyAuditReference_Shows(&level.input, slot, ray.origin, ray.direction);
                bool shows = (picture.pixels[pixel] >> slot) & 1u;
                for (uint32_t part = 0; whole && part < level.input.occludeeCount; ++part)
                {
                    shows = shows || (drawn->wholeOf[part] == slot && ((picture.pixels[pixel] >> part) & 1u));
                }
                doubtful += answer.doubtful ? 1u : 0u;
                if (!answer.doubtful)
                {
                    ++compared;
                    shown += answer.shows ? 1u : 0u;
                    if (shows != answer.shows)
                    {
                        fail_msg("point %u pixel %u slot %u (%s): %d, reference %d", p, pixel, slot,
                                 level.input.occludees[slot].name, shows, answer.shows);
                    }
                    assert_true(whole || espyiDrawn_Confirm(drawn, slot, &ray, 1e-3) == answer.shows);
                }
            }
        }
    }
    assert_true(compared > 50000 && shown > 2000);
    assert_true(doubtful < compared / 50);
    free(picture.pixels);
    espyiDrawn_Destroy(drawn);
    espyLevel_Free(&level);
}

static void espyTest_RightFileHasNoWrongPixel(void** state)
{
    (void)state;
    espyLevel level;
    espyLevel_Make(&level, false);
    espyFile file;
    espyFile_Fill(&file, &level);
    uint32_t partition = espyLevel_Slot(&level, "Partition", -1);
    // The wall is solid: each room's things are hidden from the other room. Cell x 4 holds the wall's thickness and
    // room B only.
    for (uint32_t slot = 0; slot < level.input.occludeeCount; ++slot)
    {
        const char* name = level.input.occludees[slot].name;
        if (slot != partition)
        {
            bool inA = name[strlen(name) - 1] == 'A';
            espyFile_Hide(&file, slot, inA ? 4 : 0, inA ? 7 : 3);
        }
    }
    espyFile_Write(&file, &level);
    espyAuditDef def = espyTest_Def();
    espyAuditResult result;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_Ok);
    assert_int_equal(result.views, 40);
    assert_int_equal(result.pixels, 40 * 6 * 32 * 32);
    assert_int_equal(result.wrongPixels, 0);
    assert_int_equal(result.wrongObjects, 0);
    assert_int_equal(result.wrongViews, 0);
    assert_int_equal(result.worst.view, -1);
    assert_true(result.tightness >= 1.0 && result.tightness < 2.0);
    assert_true(result.visibleMean > 1.0);
    assert_true(result.overFrustum > 0.2 && result.overFrustum < 0.9);
    for (uint32_t v = 0; v < result.views; ++v)
    {
        const espyAuditView* view = &result.perView[v];
        const double point[3] = {(double)view->point.x, (double)view->point.y, (double)view->point.z};
        assert_true(point[0] > 0.0 && point[0] < 8.0 && !(point[0] > 4.0 && point[0] < 4.25));
        assert_int_equal(view->cell, espyPvs_FindCell(&file.pvs, view->point));
        assert_true(espyAuditReference_Distance(&level.input, point) >= 0.0999);
        assert_true(view->visible <= view->drawn);
    }
    espyAudit_Free(&result);
    espyFile_Free(&file);
    espyLevel_Free(&level);
}

/// Whether the audit finds exactly the views from which a slot shows, when the file hides that slot everywhere.
static void espyTest_ExpectCaught(const espyLevel* level, const char* name, int32_t part)
{
    espyFile all, file;
    espyFile_Fill(&all, level);
    espyFile_Fill(&file, level);
    uint32_t slot = espyLevel_Slot(level, name, part);
    espyFile_Hide(&file, slot, 0, 7);
    espyFile_Write(&all, level);
    espyFile_Write(&file, level);
    espyAuditDef def = espyTest_Def();
    def.views = 12;
    espyAuditResult truth, result;
    assert_int_equal(espyAudit_Run(&level->input, &all.pvs, &def, &truth), espyResult_Ok);
    assert_int_equal(espyAudit_Run(&level->input, &file.pvs, &def, &result), espyResult_Ok);
    assert_int_equal(truth.wrongPixels, 0);
    assert_true(result.wrongPixels > 0);
    assert_int_equal(result.wrongViews, result.wrongObjects);
    assert_int_equal(result.worst.node, level->input.occludees[slot].node);
    assert_true(result.worst.pixels > 0 && result.perView[result.worst.view].wrongPixels == result.worst.pixels);
    // Views that miss it by the reference, ray by ray.
    uint64_t wrongViews = 0, wrongPixels = 0, doubtful = 0;
    for (uint32_t v = 0; v < truth.views; ++v)
    {
        uint64_t before = wrongPixels;
        for (uint32_t pixel = 0; pixel < 6 * def.size * def.size; ++pixel)
        {
            espyiRay ray = espyiPanorama_Ray(truth.perView[v].point, def.size, pixel);
            espyAuditReferenceAnswer answer = espyAuditReference_Shows(&level->input, slot, ray.origin, ray.direction);
            wrongPixels += answer.shows && !answer.doubtful ? 1u : 0u;
            doubtful += answer.doubtful ? 1u : 0u;
        }
        wrongViews += wrongPixels > before ? 1u : 0u;
    }
    assert_true(result.wrongPixels >= wrongPixels && result.wrongPixels <= wrongPixels + doubtful);
    assert_true(result.wrongViews >= wrongViews);
    assert_true(truth.drawnMean - result.drawnMean > 0.999 && truth.drawnMean - result.drawnMean < 1.001);
    espyAudit_Free(&truth);
    espyAudit_Free(&result);
    espyFile_Free(&all);
    espyFile_Free(&file);
}

static void espyTest_WrongBitsAreCaught(void** state)
{
    (void)state;
    espyLevel level;
    espyLevel_Make(&level, true);
    espyTest_ExpectCaught(&level, "Crate B", -1);
    espyTest_ExpectCaught(&level, "Partition", -1);
    espyTest_ExpectCaught(&level, "Vases B", 0);
    espyTest_ExpectCaught(&level, "Vases B", -1);
    espyTest_ExpectCaught(&level, "Box B", -1);
    // Flush on a wall, and behind or as glass: neither hides.
    espyTest_ExpectCaught(&level, "Poster A", -1);
    espyTest_ExpectCaught(&level, "Screen A", -1);
    espyTest_ExpectCaught(&level, "Crate A", -1);
    espyLevel_Free(&level);
}

static void espyTest_SameForAnyThreads(void** state)
{
    (void)state;
    espyLevel level;
    espyLevel_Make(&level, true);
    espyFile file;
    espyFile_Fill(&file, &level);
    espyFile_Hide(&file, espyLevel_Slot(&level, "Crate B", -1), 0, 5);
    espyFile_Write(&file, &level);
    espyAuditDef def = espyTest_Def();
    espyAuditResult one, many;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &one), espyResult_Ok);
    def.threads = 3;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &many), espyResult_Ok);
    assert_int_equal(one.views, many.views);
    assert_memory_equal(one.perView, many.perView, one.views * sizeof *one.perView);
    assert_int_equal(one.wrongPixels, many.wrongPixels);
    assert_true(one.tightness == many.tightness && one.overFrustum == many.overFrustum);
    assert_memory_equal(&one.worst, &many.worst, sizeof one.worst);
    espyAudit_Free(&many);
    def.seed = 6;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &many), espyResult_Ok);
    assert_true(memcmp(one.perView, many.perView, sizeof *one.perView) != 0);
    espyAudit_Free(&one);
    espyAudit_Free(&many);
    espyFile_Free(&file);
    espyLevel_Free(&level);
}

static bool espyTest_Stop(uint32_t done, uint32_t total, void* context)
{
    uint32_t* calls = context;
    ++*calls;
    return done > total;
}

static void espyTest_AssertFail(const char* condition, const char* function, void* context)
{
    (void)condition;
    (void)function;
    uint32_t* fails = context;
    ++*fails;
}

static void espyTest_Refusals(void** state)
{
    (void)state;
    espyLevel level;
    espyLevel_Make(&level, true);
    espyFile file;
    espyFile_Fill(&file, &level);
    espyFile_Write(&file, &level);
    espyAuditResult result;
    espyAuditDef def = espyTest_Def();
    uint32_t calls = 0, fails = 0;
    def.views = 500;
    def.size = 64;
    def.threads = 2;
    def.progress = espyTest_Stop;
    def.progressContext = &calls;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_Cancelled);
    assert_true(calls > 0);
    assert_null(result.perView);

    def = espyTest_Def();
    def.hooks.assertFail = espyTest_AssertFail;
    def.hooks.context = &fails;
    def.size = 0;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_InvalidArgument);
    def = espyTest_Def();
    def.hooks.assertFail = espyTest_AssertFail;
    def.hooks.context = &fails;
    def.cookie = 0;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_InvalidArgument);
    assert_int_equal(fails, 2);

    // A file of another level: one occludee fewer, or another node in a slot.
    def = espyTest_Def();
    espyBakeInput other = level.input;
    other.occludeeCount -= 1;
    assert_int_equal(espyAudit_Run(&other, &file.pvs, &def, &result), espyResult_BadData);
    level.occludees[0].node += 1;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_BadData);
    level.occludees[0].node -= 1;
    espyPvs empty = {0};
    assert_int_equal(espyAudit_Run(&level.input, &empty, &def, &result), espyResult_BadData);

    // Arrays that point outside themselves.
    espyBakeOccludee* box = &level.occludees[level.input.occludeeCount - 1];
    box->ownCount = level.input.occluderCount + 1;
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_InvalidArgument);
    box->ownCount = 0;
    uint32_t beyond[3] = {0, 1, 7};
    espyVec3 corners[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    box->mesh = (espyTriangles){corners, beyond, 3, 1};
    assert_int_equal(espyAudit_Run(&level.input, &file.pvs, &def, &result), espyResult_InvalidArgument);
    espyFile_Free(&file);
    espyLevel_Free(&level);
}

typedef struct espyFailingHeap
{
    uint32_t left; ///< Allocations until one fails.
    int32_t live;
} espyFailingHeap;

static void* espyFailingHeap_Alloc(size_t size, size_t align, void* context)
{
    espyFailingHeap* heap = context;
    if (heap->left == 0)
    {
        return NULL;
    }
    --heap->left;
    void* pointer = aligned_alloc(align, (size + align - 1) / align * align);
    heap->live += pointer ? 1 : 0;
    return pointer;
}

static void espyFailingHeap_Free(void* pointer, void* context)
{
    espyFailingHeap* heap = context;
    heap->live -= pointer ? 1 : 0;
    free(pointer);
}

static void espyTest_OutOfMemory(void** state)
{
    (void)state;
    espyLevel level;
    espyLevel_Make(&level, true);
    espyFile file;
    espyFile_Fill(&file, &level);
    espyFile_Write(&file, &level);
    espyAuditDef def = espyTest_Def();
    def.views = 1;
    def.size = 4;
    espyResult outcome = espyResult_OutOfMemory;
    uint32_t n = 0;
    for (; n < 500 && outcome != espyResult_Ok; ++n)
    {
        espyFailingHeap heap = {n, 0};
        espyAuditResult result;
        def.hooks = (espyHooks){.alloc = espyFailingHeap_Alloc, .free = espyFailingHeap_Free, .context = &heap};
        outcome = espyAudit_Run(&level.input, &file.pvs, &def, &result);
        assert_true(outcome == espyResult_Ok || outcome == espyResult_OutOfMemory);
        espyAudit_Free(&result);
        assert_int_equal(heap.live, 0);
    }
    assert_true(n > 10);
    assert_int_equal(outcome, espyResult_Ok);
    espyFile_Free(&file);
    espyLevel_Free(&level);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(espyTest_PanoramaEqualsReference),
        cmocka_unit_test(espyTest_RightFileHasNoWrongPixel),
        cmocka_unit_test(espyTest_WrongBitsAreCaught),
        cmocka_unit_test(espyTest_SameForAnyThreads),
        cmocka_unit_test(espyTest_Refusals),
        cmocka_unit_test(espyTest_OutOfMemory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
