// SPDX-License-Identifier: MIT
// Every stage of a bake asks often whether to go on, and stops cleanly at each question.
//
// What "often" means is checked by counting: each stage's work on a scene is known from below without asking it (so
// many triangles sorted, so many openings cut), and there is a question for each ESPYI_POLL_UNITS of it. Then the stage
// is stopped at its first question, its second and so on: it says Cancelled, asks no more, and holds nothing.
#include "bake/bake_internal.h"
#include "bake/pack_internal.h"
#include "bake/viewers.h"
#include "bake_case.h"
#include "hook_counter.h"
#include "proof_kit.h"
#include "scenes/scenes.h"
#include "test_main.h"

#include <espy/editor.h>
#include <stdio.h>

typedef struct espyAsker
{
    uint64_t asked, stopAt; ///< stopAt 0: never.
} espyAsker;

static bool espyAsker_GoOn(void* context)
{
    espyAsker* asker = context;
    return ++asker->asked != asker->stopAt;
}

/// One stage on a scene of its own. Frees what it made.
typedef espyResult espyStageFn(void* scene, const espyHooks* hooks, espyiPoll* poll);

/// `work`: what the stage does at least, in units.
static void espyTest_Stage(const char* name, espyStageFn* stage, void* scene, double work)
{
    espyHookCounter counter = {0};
    espyHooks hooks = espyHookCounter_Hooks(&counter);
    espyAsker asker = {0};
    espyiPoll poll = {.goOn = espyAsker_GoOn, .context = &asker};
    assert_int_equal(stage(scene, &hooks, &poll), espyResult_Ok);
    assert_int_equal(atomic_load(&counter.blocks), 0);
    uint64_t questions = asker.asked;
    print_message("%s: %llu questions, at least %.0f\n", name, (unsigned long long)questions,
                  floor(work / ESPYI_POLL_UNITS));
    assert_true(questions >= 3 && (double)questions >= floor(work / ESPYI_POLL_UNITS));
    uint64_t step = 1 + questions / 60;
    for (uint64_t at = 1; at <= questions; at += at < 4 ? 1 : step)
    {
        asker = (espyAsker){.stopAt = at};
        poll = (espyiPoll){.goOn = espyAsker_GoOn, .context = &asker};
        assert_int_equal(stage(scene, &hooks, &poll), espyResult_Cancelled);
        assert_int_equal(asker.asked, at);
        assert_int_equal(atomic_load(&counter.blocks), 0);
    }
    // Without a poll nobody is asked.
    assert_int_equal(stage(scene, &hooks, NULL), espyResult_Ok);
}

/// Boxes in rows, none of which touch: every face is a polygon of its own.
static void espyTest_Town(espyKit* kit, uint32_t side)
{
    for (uint32_t i = 0; i < side * side; ++i)
    {
        double x = 3.0 * (i % side), z = 3.0 * (double)(i / side), height = 1.0 + (double)(i * 7919u % 13u);
        espyKit_Box(kit, x, 0.0, z, x + 1.5 + (double)(i % 5u) / 8.0, height, z + 1.75);
    }
}

// --- hierarchy

static espyResult espyTest_Bvh(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyiSoup soup = espyKit_Soup(scene);
    espyiBvh* bvh = NULL;
    espyResult result = espyiBvh_Build(&soup, espyIsa_Auto, 1, hooks, poll, &bvh);
    assert_true((bvh != NULL) == (result == espyResult_Ok));
    espyiBvh_Destroy(bvh);
    return result;
}

static void hierarchy(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 60);
    // Each triangle is read once and is part of a split on every level down to leaves of eight, at best.
    double n = kit.triangleCount;
    espyTest_Stage("hierarchy", espyTest_Bvh, &kit, n + n * floor(log2(n / 8.0)));
    espyKit_Free(&kit);
}

static espyResult espyTest_BvhThreads(void* scene, uint64_t stopAt)
{
    espyHookCounter counter = {0};
    espyHooks hooks = espyHookCounter_Hooks(&counter);
    espyAsker asker = {.stopAt = stopAt};
    espyiPoll poll = {.goOn = espyAsker_GoOn, .context = &asker};
    espyiSoup soup = espyKit_Soup(scene);
    espyiBvh* bvh = NULL;
    espyResult result = espyiBvh_Build(&soup, espyIsa_Auto, 3, &hooks, &poll, &bvh);
    assert_true((bvh != NULL) == (result == espyResult_Ok));
    assert_true(result == espyResult_Ok ? asker.asked < stopAt : asker.asked == stopAt);
    espyiBvh_Destroy(bvh);
    assert_int_equal(atomic_load(&counter.blocks), 0);
    return result;
}

static void hierarchy_on_threads(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 60);
    espyResult result = espyResult_Cancelled;
    for (uint64_t at = 1; result != espyResult_Ok; ++at)
    {
        result = espyTest_BvhThreads(&kit, at);
        assert_true(result == espyResult_Ok || result == espyResult_Cancelled);
        assert_true(at > 3 || result == espyResult_Cancelled);
    }
    espyKit_Free(&kit);
}

// --- free space and proofs

static const espyiBoxD espyTownWorld = {{-20, -20, -20}, {140, 40, 140}};

static espyResult espyTest_Space(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyiSoup soup = espyKit_Soup(scene);
    espyiFreeSpaceDef def = {.hooks = hooks, .poll = poll};
    espyiFreeSpace* space = NULL;
    espyResult result = espyiFreeSpace_Build(&soup, espyTownWorld, &def, &space);
    assert_true((space != NULL) == (result == espyResult_Ok));
    espyiFreeSpace_Destroy(space);
    return result;
}

static void free_space(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 24);
    espyiFreeSpace* space = espyKit_Space(&kit, espyTownWorld);
    assert_non_null(space);
    espyiFreeSpaceStats stats;
    espyiFreeSpace_GetStats(space, &stats);
    // Triangles are sorted by size, and their edges by the points that they join, three times as many of them. Every
    // plane but the last few is chosen from 14 by trying them on what it may cut. An opening is cut by the leaf in
    // front and the one behind, then linked both ways.
    double n = kit.triangleCount;
    double sorting = n * floor(log2(n)) + 3.0 * n * floor(log2(3.0 * n));
    espyTest_Stage("free space", espyTest_Space, &kit, sorting + 16.0 * stats.portals + 14.0 * 8.0 * stats.nodes / 2.0);
    espyiFreeSpace_Destroy(space);
    espyKit_Free(&kit);
}

/// The cell at (56, 0, 62) of the grid below: in the target's street.
enum
{
    espyTest_camera = 28 + 36 * 6 * 31
};

typedef struct espyProofScene
{
    espyiFreeSpace* space;
    espyiCellTree* tree;
    espyiGrid grid;
    bool ladder;
} espyProofScene;

static espyResult espyTest_CellTree(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyProofScene* s = scene;
    espyiCellTree* tree = NULL;
    espyResult result = espyiCellTree_Build(&s->grid, hooks, poll, &tree);
    assert_true((tree != NULL) == (result == espyResult_Ok));
    espyiCellTree_Destroy(tree);
    return result;
}

static espyResult espyTest_Proofs(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyProofScene* s = scene;
    espyiProver* prover = NULL;
    uint32_t* hidden = calloc(espyiBits_Words(s->grid.cellCount), sizeof *hidden);
    assert_int_equal(espyiProver_Create(s->space, s->tree, &s->grid, hooks, poll, &prover), espyResult_Ok);
    espyiBoxD target = espyKit_BoxD(62.25, 0.25, 62.25, 62.75, 0.75, 62.75);
    if (s->ladder)
    {
        espyiProofTarget proof = {.bounds = target};
        espyiLadderDef def = {.depth = 20, .budget = 4000};
        espyiVerdict verdict = espyiProver_Ladder(prover, espyTest_camera, &proof, &def, NULL);
        // A proof that was stopped proves nothing.
        assert_true(!espyiPoll_IsStopped(poll) || verdict == espyiVerdict_Unknown);
    }
    else
    {
        espyiProver_DriveCells(prover, target, NULL, 0, hidden, NULL);
    }
    espyResult result = espyiPoll_Result(poll, !espyiPoll_IsStopped(poll));
    assert_true(prover->failed == (result == espyResult_Cancelled));
    espyiProver_Destroy(prover);
    free(hidden);
    return result;
}

static void proofs(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 24);
    espyProofScene s = {.space = espyKit_Space(&kit, espyTownWorld), .grid = espyKit_Grid(0, 0, 0, 2, 36, 6, 36)};
    assert_non_null(s.space);
    double cells = s.grid.cellCount;
    espyTest_Stage("cell tree", espyTest_CellTree, &s, cells * floor(log2(cells)));
    assert_int_equal(espyiCellTree_Build(&s.grid, NULL, NULL, &s.tree), espyResult_Ok);
    espyiProver* prover = NULL;
    uint32_t* hidden = calloc(espyiBits_Words(s.grid.cellCount), sizeof *hidden);
    uint64_t work = 0;
    assert_int_equal(espyiProver_Create(s.space, s.tree, &s.grid, NULL, NULL, &prover), espyResult_Ok);
    espyiProver_DriveCells(prover, espyKit_BoxD(62.25, 0.25, 62.25, 62.75, 0.75, 62.75), NULL, 0, hidden, &work);
    espyTest_Stage("flood", espyTest_Proofs, &s, (double)work);
    s.ladder = true;
    work = 0;
    espyiProofTarget proof = {.bounds = espyKit_BoxD(62.25, 0.25, 62.25, 62.75, 0.75, 62.75)};
    espyiLadderDef def = {.depth = 20, .budget = 4000};
    espyiProver_Ladder(prover, espyTest_camera, &proof, &def, &work);
    espyTest_Stage("ladder", espyTest_Proofs, &s, (double)work);
    espyiProver_Destroy(prover);
    free(hidden);
    espyiCellTree_Destroy(s.tree);
    espyiFreeSpace_Destroy(s.space);
    free(s.grid.cells);
    espyKit_Free(&kit);
}

typedef struct espyViewersScene
{
    espyiFreeSpace* space;
    espyiSoup soup;
} espyViewersScene;

static espyResult espyTest_Viewers(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    const espyViewersScene* s = scene;
    static const espyVec3 street = {62.5f, 0.5f, 62.5f};
    espyiViewersDef def = {
        .occluders = &s->soup, .points = &street, .pointCount = 1, .radius = 0.02, .hooks = hooks, .poll = poll};
    espyiViewers viewers;
    espyResult result = espyiViewers_Find(s->space, &def, &viewers);
    if (result == espyResult_Ok)
    {
        assert_true(viewers.count > 0);
        espyiViewers_Free(&viewers);
    }
    return result;
}

static void places_of_cameras(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 24);
    espyViewersScene s = {.space = espyKit_Space(&kit, espyTownWorld), .soup = espyKit_Soup(&kit)};
    assert_non_null(s.space);
    // All triangles are gathered again, and the openings of half the leaves are looked at, at least.
    double n = kit.triangleCount;
    espyTest_Stage("places of cameras", espyTest_Viewers, &s, n * floor(log2(n)) + 64.0 * s.space->leafCount / 2.0);
    espyiFreeSpace_Destroy(s.space);
    espyKit_Free(&kit);
}

// --- input

static espyResult espyTest_Gather(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyBakeDef def = espyBakeCase_Def();
    espyiScene gathered = {.hooks = hooks, .poll = poll};
    espyiWarnings warnings = {.hooks = hooks};
    char message[256] = "";
    espyResult result = espyiScene_Validate(scene, poll, message, sizeof message);
    assert_true(result == espyResult_Ok || message[0] == '\0');
    if (result == espyResult_Ok)
    {
        result = espyiScene_Gather(scene, &def, &warnings, &gathered, message, sizeof message);
    }
    espyiScene_Free(&gathered);
    espyiWarnings_Free(&warnings);
    return result;
}

static void input(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 40);
    espyTriangles mesh = espyKit_Soup(&kit).triangles;
    espyBakeOccluder occluder = {.mesh = mesh, .node = 1};
    espyBakeOccludee occludee = {.mesh = mesh, .box = {{0, 0, 0}, {120, 14, 120}}, .node = 2};
    espyBakeArea areas[200];
    for (uint32_t i = 0; i < 200; ++i)
    {
        areas[i].transform = espyMat4_Identity();
        areas[i].transform.m[0] = areas[i].transform.m[5] = areas[i].transform.m[10] = 20.0f;
        areas[i].transform.m[12] = (float)(i % 20) * 2.0f;
        areas[i].transform.m[14] = (float)(i / 20) * 2.0f;
    }
    espyBakeInput in = {.occluders = &occluder,
                        .occludees = &occludee,
                        .areas = areas,
                        .occluderCount = 1,
                        .occludeeCount = 1,
                        .areaCount = 200};
    // Indices and positions are checked, copied and hashed; every row of cells is compared with every area, twice.
    double meshes = 2.0 * (3.0 * mesh.triangleCount + mesh.vertexCount);
    espyTest_Stage("input", espyTest_Gather, &in, 2.0 * meshes + 2.0 * 200.0 * 10.0 * 19.0);
    espyKit_Free(&kit);
}

static espyResult espyTest_Target(void* context, const espyHooks* hooks, espyiPoll* poll)
{
    espyiScene* scene = context;
    const espyHooks* own = scene->hooks;
    espyiTarget* target = calloc(1, sizeof *target);
    scene->hooks = hooks;
    bool filled = espyiTarget_FillOccludee(target, scene, 0, espyBakeQuality_Medium, poll);
    espyiTarget_Free(target, hooks);
    scene->hooks = own;
    free(target);
    return espyiPoll_Result(poll, filled);
}

static void large_target(void** state)
{
    (void)state;
    espyKit kit = {0};
    espyTest_Town(&kit, 40);
    espyTriangles mesh = espyKit_Soup(&kit).triangles;
    espyBakeOccludee occludee = {.mesh = mesh, .box = {{0, 0, 0}, {120, 14, 120}}, .node = 2};
    espyBakeInput in = {.occludees = &occludee, .occludeeCount = 1};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiScene scene = {.hooks = &hooks};
    espyiWarnings warnings = {.hooks = &hooks};
    espyBakeDef def = espyBakeCase_Def();
    char message[256];
    assert_int_equal(espyiScene_Gather(&in, &def, &warnings, &scene, message, sizeof message), espyResult_Ok);
    double n = mesh.triangleCount;
    espyTest_Stage("target", espyTest_Target, &scene, n + n * floor(log2(n / 6.0)));
    espyiScene_Free(&scene);
    espyiWarnings_Free(&warnings);
    espyKit_Free(&kit);
}

// --- tables and files

enum
{
    espyTest_width = 3000,
    espyTest_side = 16,
};

/// Columns of noise: no two cells share a set. Every seventh cell is solid.
static espyiColumns* espyTest_Columns(const espyHooks* hooks, espyiGrid* grid)
{
    espyiGridRefusal refusal;
    espyiGridDef def = {.bounds = {{0, 0, 0}, {espyTest_side, espyTest_side, espyTest_side}},
                        .cellSize = 1.0f,
                        .maxCells = ESPY_BAKE_MAX_CELLS,
                        .hooks = hooks};
    assert_int_equal(espyiGrid_Build(&def, grid, &refusal), espyResult_Ok);
    espyiColumns* columns = NULL;
    assert_int_equal(espyiColumns_Create(espyTest_width, grid->cellCount, hooks, &columns), espyResult_Ok);
    espyiRng rng = espyiRng_Seed(3);
    uint32_t bits[espyTest_side * espyTest_side * espyTest_side / 32];
    for (uint32_t i = 0; i < espyTest_width; ++i)
    {
        for (uint32_t k = 0; k < ESPYI_ARRAY_COUNT(bits); ++k)
        {
            bits[k] = espyiRng_U32(&rng);
        }
        assert_true(espyiColumns_Put(columns, i, bits));
    }
    for (uint32_t i = 0; i < grid->cellCount; i += 7)
    {
        espyiBits_Set(grid->solid, i);
        ++grid->solidCount;
    }
    return columns;
}

typedef struct espyTableScene
{
    espyiColumns* columns;
    espyiGrid grid;
    espyiTable table;
    espyBox* boxes;
    void* file;
    size_t size;
} espyTableScene;

static espyResult espyTest_Table(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyTableScene* s = scene;
    espyiTable table;
    espyResult result = espyiTable_Build(s->columns, &s->grid, false, hooks, poll, &table);
    assert_true((table.sets != NULL) == (result == espyResult_Ok));
    espyiTable_Free(&table, hooks);
    return result;
}

static espyiBlobDef espyTest_BlobDef(const espyTableScene* s)
{
    return (espyiBlobDef){.grid = &s->grid,
                          .occludeeCount = espyTest_width,
                          .occludeeBoxes = s->boxes,
                          .consoleBudgetKB = 512,
                          .statics = &s->table};
}

static espyResult espyTest_Blob(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    espyiBlobDef def = espyTest_BlobDef(scene);
    def.poll = poll;
    void* file;
    size_t size;
    espyResult result = espyiBlob_Write(&def, hooks, &file, &size);
    assert_true((file != NULL) == (result == espyResult_Ok) && (size > 0) == (result == espyResult_Ok));
    espyiFree(hooks, file);
    return result;
}

/// Into the other byte order and back, the second time over itself.
static espyResult espyTest_Swap(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    const espyTableScene* s = scene;
    espyDataError error;
    void* other = espyiAlloc(hooks, s->size, 1);
    assert_non_null(other);
    espyResult result = espyiBlob_ConvertByteOrder(s->file, s->size, true, other, hooks, poll, &error);
    if (result == espyResult_Ok)
    {
        uint64_t before = espyiHash_Bytes(0, other, s->size);
        result = espyiBlob_ConvertByteOrder(other, s->size, false, other, hooks, poll, &error);
        assert_true(result == espyResult_Ok ? memcmp(other, s->file, s->size) == 0
                                            : espyiHash_Bytes(0, other, s->size) == before);
    }
    espyiFree(hooks, other);
    return result;
}

static espyResult espyTest_Unpack(void* scene, const espyHooks* hooks, espyiPoll* poll)
{
    const espyPackResult* packed = scene;
    espyPackResult plain;
    espyResult result = espyiPack_Unpack(packed->data, packed->size, hooks, poll, &plain);
    assert_true((plain.data != NULL) == (result == espyResult_Ok));
    espyPack_Free(&plain);
    return result;
}

static void tables_and_files(void** state)
{
    (void)state;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyTableScene s = {0};
    s.columns = espyTest_Columns(&hooks, &s.grid);
    double cells = s.grid.cellCount, words = espyiBits_Words(espyTest_width);
    // Each cell's row is put together bit by bit of a word, hashed and copied.
    espyTest_Stage("table", espyTest_Table, &s, cells / 32.0 * espyTest_width + 2.0 * cells * words);
    assert_int_equal(espyiTable_Build(s.columns, &s.grid, false, &hooks, NULL, &s.table), espyResult_Ok);
    s.boxes = espyiAlloc(&hooks, espyTest_width, sizeof *s.boxes);
    assert_non_null(s.boxes);
    espyiBlobDef def = espyTest_BlobDef(&s);
    assert_int_equal(espyiBlob_Write(&def, &hooks, &s.file, &s.size), espyResult_Ok);
    // Copied, hashed, and hashed again by the reader.
    double fileWords = (double)s.size / 4.0;
    espyTest_Stage("file", espyTest_Blob, &s, 3.0 * fileWords * 0.97);
    espyTest_Stage("byte order", espyTest_Swap, &s, 5.0 * fileWords * 0.97);
    espyPackResult packed;
    assert_int_equal(espyPack_Pack(s.file, s.size, &hooks, &packed), espyResult_Ok);
    espyTest_Stage("unpack", espyTest_Unpack, &packed, 3.0 * fileWords * 0.97);
    espyPack_Free(&packed);
    espyiFree(&hooks, s.file);
    espyiFree(&hooks, s.boxes);
    espyiTable_Free(&s.table, &hooks);
    espyiColumns_Destroy(s.columns);
    espyiGrid_Free(&s.grid, &hooks);
}

// --- the whole

typedef struct espyCancelled
{
    uint64_t calls, stopAt;
    bool stages[4];
} espyCancelled;

static bool espyTest_OnProgress(const espyBakeProgress* progress, void* context)
{
    espyCancelled* c = context;
    c->stages[progress->stage] = true;
    return ++c->calls != c->stopAt;
}

/// Incremental, with a checkpoint beside it: the earlier file stays as it was, the checkpoint can be resumed, and
/// nothing is held.
static void a_cancelled_bake_leaves_all_as_it_was(void** state)
{
    (void)state;
    const char* path = ESPY_BINARY_DIR "/test_cancel.checkpoint";
    remove(path);
    espyWorld* world = NULL;
    assert_int_equal(espyScene_Build("rooms", 2, 1, &world), espyResult_Ok);
    espyBakeDef def = espyBakeCase_Def();
    espyGathered* gathered = NULL;
    espyHooks hooks = espyiHooks_Resolve(NULL);
    assert_int_equal(espyEditor_Gather(world, def.cellSize, 0.0f, &hooks, &gathered), espyResult_Ok);
    def.quality = espyBakeQuality_Low;
    espyBakeResult full;
    assert_int_equal(espyBake_Run(espyGathered_GetInput(gathered), &def, &full), espyResult_Ok);
    uint64_t before = espyiHash_Bytes(0, full.data, full.size);
    espyHookCounter counter = {0};
    espyCancelled c = {0};
    espyBakeDef again = def;
    again.hooks = espyHookCounter_Hooks(&counter);
    again.previous = full.data;
    again.previousSize = full.size;
    again.checkpointPath = path;
    again.progress = espyTest_OnProgress;
    again.progressContext = &c;
    espyResult result = espyResult_Cancelled;
    for (uint64_t at = 1; result == espyResult_Cancelled; ++at)
    {
        espyBakeResult r;
        c = (espyCancelled){.stopAt = at};
        again.threads = at % 2 ? 1 : 2;
        result = espyBake_Run(espyGathered_GetInput(gathered), &again, &r);
        assert_true(result == espyResult_Ok || (result == espyResult_Cancelled && r.data == NULL && c.calls == at));
        assert_true(result != espyResult_Ok || espyiHash_Bytes(0, r.data, r.size) == before);
        assert_true(result == espyResult_Ok || at < 1000);
        espyBake_Free(&r);
        assert_int_equal(atomic_load(&counter.blocks), 0);
        assert_true(espyiHash_Bytes(0, full.data, full.size) == before);
    }
    assert_true(c.stages[espyBakeStage_Prepare] && c.stages[espyBakeStage_Static] && c.stages[espyBakeStage_Dynamic] &&
                c.stages[espyBakeStage_Write]);
    espyBake_Free(&full);
    espyGathered_Destroy(gathered);
    espyWorld_Destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hierarchy),
        cmocka_unit_test(hierarchy_on_threads),
        cmocka_unit_test(free_space),
        cmocka_unit_test(places_of_cameras),
        cmocka_unit_test(proofs),
        cmocka_unit_test(input),
        cmocka_unit_test(large_target),
        cmocka_unit_test(tables_and_files),
        cmocka_unit_test(a_cancelled_bake_leaves_all_as_it_was),
    };
    return cmocka_run_group_tests_name("cancel", tests, NULL, NULL);
}
