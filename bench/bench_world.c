// SPDX-License-Identifier: MIT
// What a world of 100,000 nodes pays: matching a file with it, moving a node, one query, all that a camera sees.
// Medians of repeated runs; files are shuffled against the nodes and have no ids, as cooked ones do, unless said.
#include "bake/tables.h"

#include <espy/gameplay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ESPY_BENCH_NODES 100000u
#define ESPY_BENCH_OCCLUDERS 20000u
#define ESPY_BENCH_SIDE 400.0f

typedef struct espyBenchWorld
{
    espyiGrid grid;
    void* data;
    size_t size;
    espyBox* boxes; ///< Of the nodes, in order of creation; the first ones are occluders, too.
    espyWorld* world;
    espyNodeId* nodes;
    espyNodeId camera;
} espyBenchWorld;

static void* espyBench_Alloc(size_t count, size_t size)
{
    void* p = calloc(count, size);
    if (!p)
    {
        fprintf(stderr, "bench_world: out of memory\n");
        exit(4);
    }
    return p;
}

static void espyBench_Check(bool ok, const char* what)
{
    if (!ok)
    {
        fprintf(stderr, "bench_world: %s failed\n", what);
        exit(1);
    }
}

/// CPU time of this thread: what else the machine does counts less.
static double espyBench_Now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int espyBench_Compare(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double espyBench_Median(double* values, uint32_t count)
{
    qsort(values, count, sizeof *values, espyBench_Compare);
    return values[count / 2];
}

/// Entries in another order than the nodes have: a file of another history.
static void espyBench_MakeFile(espyBenchWorld* b, bool withIds, bool shuffled)
{
    espyiRng rng = espyiRng_Seed(3);
    const uint32_t side = 50;
    b->grid = (espyiGrid){.cellSize = 8.0f, .dims = {side, 1, side}, .dense = true, .coarseFactor = 4};
    b->grid.cells = espyBench_Alloc((size_t)side * side, sizeof *b->grid.cells);
    for (uint32_t i = 0; i < side * side; ++i)
    {
        b->grid.cells[b->grid.cellCount++] = (espyiCellCoord){(uint16_t)(i % side), 0, (uint16_t)(i / side)};
    }
    uint32_t blocks = (side + 3) / 4;
    b->grid.coarseDims[0] = b->grid.coarseDims[2] = blocks;
    b->grid.coarseDims[1] = 1;
    b->grid.coarse = espyBench_Alloc((size_t)blocks * blocks, sizeof *b->grid.coarse);
    for (uint32_t i = 0; i < blocks * blocks; ++i)
    {
        b->grid.coarse[b->grid.coarseCount++] = (espyiCellCoord){(uint16_t)(i % blocks), 0, (uint16_t)(i / blocks)};
    }
    uint32_t* order = espyBench_Alloc(ESPY_BENCH_NODES, sizeof *order);
    espyBox* entries = espyBench_Alloc(ESPY_BENCH_OCCLUDERS + ESPY_BENCH_NODES, sizeof *entries);
    int32_t* ids = espyBench_Alloc(ESPY_BENCH_OCCLUDERS + ESPY_BENCH_NODES, sizeof *ids);
    for (uint32_t i = 0; i < ESPY_BENCH_NODES; ++i)
    {
        order[i] = i;
    }
    for (uint32_t i = ESPY_BENCH_NODES - 1; i > 0 && shuffled; --i)
    {
        uint32_t k = espyiRng_Below(&rng, i + 1);
        uint32_t swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    uint32_t occluders = 0;
    for (uint32_t i = 0; i < ESPY_BENCH_NODES; ++i)
    {
        entries[ESPY_BENCH_OCCLUDERS + i] = b->boxes[order[i]];
        ids[ESPY_BENCH_OCCLUDERS + i] = (int32_t)order[i];
        if (order[i] < ESPY_BENCH_OCCLUDERS)
        {
            ids[occluders] = (int32_t)order[i];
            entries[occluders++] = b->boxes[order[i]];
        }
    }
    // One in a hundred is seen from anywhere.
    uint32_t words = espyiBits_Words(ESPY_BENCH_NODES), coarseWords = espyiBits_Words(b->grid.coarseCount);
    espyiTable statics = {.width = ESPY_BENCH_NODES, .words = words, .setCount = 1, .cellCount = b->grid.cellCount};
    espyiTable dynamics = {
        .width = b->grid.coarseCount, .words = coarseWords, .setCount = 1, .cellCount = b->grid.cellCount};
    statics.cells = espyBench_Alloc(b->grid.cellCount, sizeof *statics.cells);
    statics.sets = espyBench_Alloc(words, sizeof *statics.sets);
    dynamics.cells = espyBench_Alloc(b->grid.cellCount, sizeof *dynamics.cells);
    dynamics.sets = espyBench_Alloc(coarseWords, sizeof *dynamics.sets);
    for (uint32_t i = 0; i < ESPY_BENCH_NODES; ++i)
    {
        if (espyiRng_Below(&rng, 100) == 0)
        {
            espyiBits_Set(statics.sets, i);
        }
    }
    for (uint32_t i = 0; i < b->grid.coarseCount; ++i)
    {
        if (espyiRng_Below(&rng, 10) == 0)
        {
            espyiBits_Set(dynamics.sets, i);
        }
    }
    espyiBlobDef def = {.grid = &b->grid,
                        .occluderCount = ESPY_BENCH_OCCLUDERS,
                        .occludeeCount = ESPY_BENCH_NODES,
                        .occluderBoxes = entries,
                        .occludeeBoxes = entries + ESPY_BENCH_OCCLUDERS,
                        .occluderNodes = withIds ? ids : NULL,
                        .occludeeNodes = withIds ? ids + ESPY_BENCH_OCCLUDERS : NULL,
                        .statics = &statics,
                        .dynamics = &dynamics};
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyiFree(&hooks, b->data);
    espyBench_Check(espyiBlob_Write(&def, &hooks, &b->data, &b->size) == espyResult_Ok, "writing the file");
    free(order);
    free(entries);
    free(ids);
    free(statics.cells);
    free(statics.sets);
    free(dynamics.cells);
    free(dynamics.sets);
    free(b->grid.cells);
    free(b->grid.coarse);
}

static void espyBench_MakeWorld(espyBenchWorld* b)
{
    espyiRng rng = espyiRng_Seed(1);
    espyWorldDef worldDef = espyWorldDef_Default();
    espyBench_Check(espyWorld_Create(&worldDef, &b->world) == espyResult_Ok, "creating a world");
    static const uint32_t indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    espyVec3 corners[8];
    for (int i = 0; i < 8; ++i)
    {
        corners[i] = (espyVec3){(float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2)};
    }
    espyMeshDef meshDef = espyMeshDef_Default();
    meshDef.triangles = (espyTriangles){corners, indices, 8, 12};
    espyMeshId mesh;
    espyBench_Check(espyWorld_CreateMesh(b->world, &meshDef, &mesh) == espyResult_Ok, "creating a mesh");
    b->boxes = espyBench_Alloc(ESPY_BENCH_NODES, sizeof *b->boxes);
    b->nodes = espyBench_Alloc(ESPY_BENCH_NODES, sizeof *b->nodes);
    for (uint32_t i = 0; i < ESPY_BENCH_NODES; ++i)
    {
        espyNodeDef def = espyNodeDef_Default();
        float x = espyiRng_Float(&rng) * (ESPY_BENCH_SIDE - 4.0f), y = espyiRng_Float(&rng) * 4.0f;
        float z = espyiRng_Float(&rng) * (ESPY_BENCH_SIDE - 4.0f);
        const float none[4] = {0, 0, 0, 1};
        float size = 0.25f + espyiRng_Float(&rng) * 2.0f;
        def.kind = espyNodeKind_StaticMesh3D;
        def.mesh = mesh;
        def.sourceId = (int32_t)i;
        def.local = espyMat4_FromTrs((espyVec3){x, y, z}, none, (espyVec3){size, size, size});
        def.flags |= espyNodeFlag_OccludeeStatic | (i < ESPY_BENCH_OCCLUDERS ? espyNodeFlag_OccluderStatic : 0);
        espyBench_Check(espyWorld_CreateNode(b->world, &def, &b->nodes[i]) == espyResult_Ok, "creating a node");
        b->boxes[i] = espyWorld_GetWorldBounds(b->world, b->nodes[i]);
    }
    espyNodeDef camera = espyNodeDef_Default();
    camera.kind = espyNodeKind_Camera3D;
    camera.local.m[12] = camera.local.m[14] = 0.5f * ESPY_BENCH_SIDE + 4.0f;
    camera.local.m[13] = 2.0f;
    espyBench_Check(espyWorld_CreateNode(b->world, &camera, &b->camera) == espyResult_Ok, "creating a camera");
}

static espyDataId espyBench_Add(espyBenchWorld* b)
{
    espyDataDef def = espyDataDef_Default();
    espyDataId id;
    def.bytes = b->data;
    def.size = b->size;
    espyBench_Check(espyWorld_AddData(b->world, &def, &id, NULL) == espyResult_Ok, "adding the file");
    return id;
}

static void espyBench_Load(espyBenchWorld* b, const char* name, bool withIds, bool shuffled)
{
    enum
    {
        RUNS = 9
    };
    double add[RUNS], remove[RUNS], validate[RUNS];
    espyBench_MakeFile(b, withIds, shuffled);
    for (int i = 0; i < RUNS; ++i)
    {
        espyPvs pvs;
        double start = espyBench_Now();
        espyPvs_Load(&pvs, b->data, b->size, NULL);
        validate[i] = espyBench_Now() - start;
        start = espyBench_Now();
        espyDataId id = espyBench_Add(b);
        add[i] = espyBench_Now() - start;
        espyDataInfo info;
        espyWorld_GetDataInfo(b->world, id, &info);
        espyBench_Check(info.occludeesInPlace == ESPY_BENCH_NODES && !info.stale, "matching");
        start = espyBench_Now();
        espyWorld_RemoveData(b->world, id);
        remove[i] = espyBench_Now() - start;
    }
    printf("%-34s %7.1f ms (of these %.1f ms to validate), removing %.1f ms\n", name, espyBench_Median(add, RUNS),
           espyBench_Median(validate, RUNS), espyBench_Median(remove, RUNS));
}

static void espyBench_Seen(espyBenchWorld* b, const char* name)
{
    enum
    {
        RUNS = 41
    };
    double all[RUNS], one[RUNS], poll[RUNS], move[RUNS];
    espyNodeId* out = espyBench_Alloc(ESPY_BENCH_NODES + 1u, sizeof *out);
    espyViewTrackerDef def = espyViewTrackerDef_Default();
    espyViewTracker* tracker;
    espyBench_Check(espyViewTracker_Create(b->world, &def, &tracker) == espyResult_Ok, "creating a tracker");
    uint32_t count = 0, seen = 0;
    for (int i = 0; i < RUNS; ++i)
    {
        double start = espyBench_Now();
        espyWorld_GetSeenByCamera(b->world, NULL, 0, b->camera, out, ESPY_BENCH_NODES + 1u, &count);
        all[i] = espyBench_Now() - start;
        start = espyBench_Now();
        for (uint32_t k = 0; k < 1000; ++k)
        {
            seen += espyWorld_IsSeenByCamera(b->world, b->nodes[k * 97u], b->camera) ? 1 : 0;
        }
        one[i] = espyBench_Now() - start;
        espyViewEvent event;
        uint32_t events;
        start = espyBench_Now();
        espyViewTracker_Poll(tracker, &event, 0, &events);
        poll[i] = espyBench_Now() - start;
        start = espyBench_Now();
        for (uint32_t k = 0; k < 1000; ++k)
        {
            espyNodeId node = b->nodes[ESPY_BENCH_OCCLUDERS + k * 31u];
            espyMat4 local = espyWorld_GetWorldTransform(b->world, node);
            espyWorld_SetLocalTransform(b->world, node, local);
        }
        move[i] = espyBench_Now() - start;
    }
    // A thousandth of a thousand, in microseconds.
    printf("%-34s %7.3f ms (%u seen), polled %.3f ms, one node %.3f us, moving one %.3f us\n", name,
           espyBench_Median(all, RUNS), count, espyBench_Median(poll, RUNS), espyBench_Median(one, RUNS),
           espyBench_Median(move, RUNS));
    espyBench_Check(seen <= count * (uint32_t)RUNS, "asking");
    espyViewTracker_Destroy(tracker);
    free(out);
}

int main(void)
{
    espyBenchWorld b = {0};
    espyBench_MakeWorld(&b);
    printf("%u nodes, %u of them occluders\n\nadding a file\n", ESPY_BENCH_NODES, ESPY_BENCH_OCCLUDERS);
    espyBench_Load(&b, "  with ids, in order", true, false);
    espyBench_Load(&b, "  with ids, shuffled", true, true);
    espyBench_Load(&b, "  without ids, in order", false, false);
    espyBench_Load(&b, "  without ids, shuffled", false, true);
    printf("\nall that a camera sees\n");
    espyBench_Seen(&b, "  no file: frustum alone");
    espyBench_Add(&b);
    espyBench_Seen(&b, "  in place: bits, frustum");
    for (uint32_t i = ESPY_BENCH_OCCLUDERS; i < ESPY_BENCH_NODES; ++i)
    {
        espyMat4 local = espyWorld_GetWorldTransform(b.world, b.nodes[i]);
        local.m[13] += 1.5f;
        espyWorld_SetLocalTransform(b.world, b.nodes[i], local);
    }
    espyBench_Seen(&b, "  80 % moved: frustum, dynamic table");
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyWorld_Destroy(b.world);
    espyiFree(&hooks, b.data);
    free(b.boxes);
    free(b.nodes);
    return 0;
}
