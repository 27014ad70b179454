// SPDX-License-Identifier: MIT
// How much does a Medium bake miss, and what does it cost, beside the fixed scheme with naive loops over Embree?
//
//   bench_embree_quality [SCENE|LEVEL]... [--size N] [--cell-size M] [--quality Q] [--rays N] [--truth FILE] [--views
//   N]
//
// Truth is the union of the witnesses of reference/witness_truth.c, traced by Embree; with --truth FILE it adds up over
// runs. Without arguments: rooms and slits at full size and a small city, 2e7 lines each.
#include <embree3/rtcore.h>
#include <espy/audit.h>
#include <espy/editor.h>
#include <espy/import.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bake/bake_internal.h"
#include "reference/witness_truth.h"
#include "scenes/scenes.h"

typedef struct espyBenchOptions
{
    uint32_t size, views;
    float cellSize;
    espyBakeQuality quality;
    uint64_t rays;
    const char* truthPath;
} espyBenchOptions;

// --- the peer

typedef struct espyEmbree
{
    RTCDevice device;
    RTCScene scene;
    const espyiScene* gathered;
    espyVec3 offset; ///< From world to local coordinates.
} espyEmbree;

typedef struct espyEmbreeContext
{
    struct RTCIntersectContext base; ///< First, so that filters find the rest.
    const uint32_t* objects;
    uint32_t firstOwn, ownCount;
} espyEmbreeContext;

/// Lets rays through the target's own triangles.
static void espyEmbree_SkipOwn(const struct RTCFilterFunctionNArguments* args)
{
    const espyEmbreeContext* context = (const espyEmbreeContext*)(const void*)args->context;
    // Layout of RTCHitN: Ng x, y, z, u, v, primID, ... each N times; its accessors exist for C++ only.
    const uint32_t* primitives = (const uint32_t*)(const void*)args->hit + 5u * args->N;
    for (unsigned int i = 0; i < args->N; ++i)
    {
        uint32_t object = context->objects[primitives[i]];
        if (args->valid[i] == -1 && object - context->firstOwn < context->ownCount)
        {
            args->valid[i] = 0;
        }
    }
}

static bool espyEmbree_Build(espyEmbree* embree, const espyiScene* gathered)
{
    embree->gathered = gathered;
    embree->device = rtcNewDevice("threads=1");
    embree->scene = rtcNewScene(embree->device);
    rtcSetSceneFlags(embree->scene, RTC_SCENE_FLAG_ROBUST | RTC_SCENE_FLAG_CONTEXT_FILTER_FUNCTION);
    rtcSetSceneBuildQuality(embree->scene, RTC_BUILD_QUALITY_HIGH);
    RTCGeometry geometry = rtcNewGeometry(embree->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    float* positions = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                               3 * sizeof(float), gathered->vertexCount);
    uint32_t* indices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                3 * sizeof(uint32_t), gathered->triangleCount);
    if (!positions || !indices)
    {
        return false;
    }
    memcpy(positions, gathered->positions, gathered->vertexCount * sizeof(espyVec3));
    memcpy(indices, gathered->indices, (size_t)gathered->triangleCount * 3u * sizeof(uint32_t));
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(embree->scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcCommitScene(embree->scene);
    return rtcGetDeviceError(embree->device) == RTC_ERROR_NONE;
}

static void espyEmbree_Free(espyEmbree* embree)
{
    rtcReleaseScene(embree->scene);
    rtcReleaseDevice(embree->device);
}

static void espyEmbree_Context(const espyEmbree* embree, uint32_t firstOwn, uint32_t ownCount,
                               espyEmbreeContext* context)
{
    rtcInitIntersectContext(&context->base);
    context->base.filter = ownCount > 0 ? espyEmbree_SkipOwn : NULL;
    context->objects = embree->gathered->objects;
    context->firstOwn = firstOwn;
    context->ownCount = ownCount;
}

static bool espyEmbree_Occluded(const espyEmbree* embree, const espyiSegment* segment, espyEmbreeContext* context)
{
    struct RTCRay ray = {.org_x = segment->origin.x,
                         .org_y = segment->origin.y,
                         .org_z = segment->origin.z,
                         .tnear = segment->tMin,
                         .dir_x = segment->direction.x,
                         .dir_y = segment->direction.y,
                         .dir_z = segment->direction.z,
                         .tfar = segment->tMax,
                         .mask = 0xFFFFFFFFu};
    rtcOccluded1(embree->scene, &context->base, &ray);
    return ray.tfar < 0.0f;
}

static double espyEmbree_Trace(void* self, const double origin[3], const double direction[3], uint32_t firstOwn,
                               uint32_t ownCount, uint32_t* triangle, bool* backFace)
{
    const espyEmbree* embree = self;
    espyEmbreeContext context;
    espyEmbree_Context(embree, firstOwn, ownCount, &context);
    struct RTCRayHit query = {.ray = {.org_x = (float)origin[0] - embree->offset.x,
                                      .org_y = (float)origin[1] - embree->offset.y,
                                      .org_z = (float)origin[2] - embree->offset.z,
                                      .tnear = 1e-4f,
                                      .dir_x = (float)direction[0],
                                      .dir_y = (float)direction[1],
                                      .dir_z = (float)direction[2],
                                      .tfar = INFINITY,
                                      .mask = 0xFFFFFFFFu},
                              .hit = {.geomID = RTC_INVALID_GEOMETRY_ID}};
    rtcIntersect1(embree->scene, &context.base, &query);
    if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID)
    {
        *backFace = false;
        return INFINITY;
    }
    *triangle = query.hit.primID;
    *backFace =
        query.hit.Ng_x * query.ray.dir_x + query.hit.Ng_y * query.ray.dir_y + query.hit.Ng_z * query.ray.dir_z > 0.0f;
    return (double)query.ray.tfar;
}

// --- the fixed scheme with naive loops

typedef struct espyFixedRun
{
    const espyEmbree* embree;
    const espyiScene* scene;
    const espyBakeInput* input;
    espyBakeQuality quality;
    const uint32_t* masks;
    espyVec3* targets; ///< ESPYI_MAX_FIXED_TARGETS a slot.
    uint32_t* targetCounts;
    uint32_t* columns; ///< words(cells) a slot.
    uint32_t words;
    _Atomic uint64_t rays;
    double cpuSeconds[256];
} espyFixedRun;

static void espyFixed_Slot(void* self, uint32_t slot, uint32_t worker)
{
    espyFixedRun* run = self;
    double start = espyiClock_ThreadCpuSeconds();
    const espyBakeOccludee* occludee = &run->input->occludees[slot];
    const espyVec3* targets = run->targets + (size_t)slot * ESPYI_MAX_FIXED_TARGETS;
    espyEmbreeContext context;
    espyEmbree_Context(run->embree, occludee->firstOwn, occludee->ownCount, &context);
    uint32_t samples = espyiSamples_Count(run->quality);
    uint64_t rays = 0;
    for (uint32_t cell = 0; cell < run->scene->grid.cellCount; ++cell)
    {
        bool seen = false;
        for (uint32_t i = 0; i < samples && !seen; ++i)
        {
            if (run->masks[cell] >> i & 1u)
            {
                espyVec3 from = espyiSamples_Point(&run->scene->grid, cell, run->quality, i);
                for (uint32_t k = 0; k < run->targetCounts[slot] && !seen; ++k)
                {
                    espyiSegment segment = espyiSamples_Segment(from, targets[k]);
                    seen = !espyEmbree_Occluded(run->embree, &segment, &context);
                    ++rays;
                }
            }
        }
        if (seen)
        {
            espyiBits_Set(run->columns + (size_t)slot * run->words, cell);
        }
    }
    run->rays += rays;
    run->cpuSeconds[worker] += espyiClock_ThreadCpuSeconds() - start;
}

/// The fixed answers as a file of their own, so that the audit can judge it as it judges ours.
static espyResult espyFixed_Write(const espyFixedRun* run, const espyBakeDef* def, void** data, size_t* size)
{
    const espyiScene* scene = run->scene;
    const espyHooks* hooks = scene->hooks;
    espyiColumns* columns;
    espyResult result = espyiColumns_Create(run->input->occludeeCount, scene->grid.cellCount, hooks, &columns);
    for (uint32_t slot = 0; result == espyResult_Ok && slot < run->input->occludeeCount; ++slot)
    {
        result = espyiColumns_Put(columns, slot, run->columns + (size_t)slot * run->words) ? espyResult_Ok
                                                                                           : espyResult_OutOfMemory;
    }
    espyiTable table = {0};
    if (result == espyResult_Ok)
    {
        result = espyiTable_Build(columns, &scene->grid, false, hooks, NULL, &table);
    }
    if (result == espyResult_Ok)
    {
        uint32_t slots = run->input->occludeeCount, occluders = run->input->occluderCount;
        int32_t* nodes = calloc((size_t)slots * 2u + occluders + 1u, sizeof *nodes);
        for (uint32_t i = 0; nodes && i < slots; ++i)
        {
            nodes[i] = run->input->occludees[i].node;
            nodes[slots + i] = run->input->occludees[i].part;
        }
        for (uint32_t i = 0; nodes && i < occluders; ++i)
        {
            nodes[2u * slots + i] = run->input->occluders[i].node;
        }
        espyiBlobDef blob = {.grid = &scene->grid,
                             .quality = def->quality,
                             .nearDistance = def->nearDistance,
                             .occluderCount = occluders,
                             .occludeeCount = slots,
                             .occluderBoxes = scene->occluderBoxes,
                             .occludeeBoxes = scene->occludeeBoxes,
                             .occluderNodes = nodes ? nodes + 2u * slots : NULL,
                             .occludeeNodes = nodes,
                             .occludeeParts = nodes ? nodes + slots : NULL,
                             .occluderHashes = scene->occluderHashes,
                             .occludeeHashes = scene->occludeeHashes,
                             .statics = &table};
        result = nodes ? espyiBlob_Write(&blob, hooks, data, size) : espyResult_OutOfMemory;
        free(nodes);
    }
    espyiTable_Free(&table, hooks);
    espyiColumns_Destroy(columns);
    return result;
}

// --- one scene

static void espyBench_PrintStages(const espyBakeStats* stats)
{
    for (uint32_t i = 0; i < stats->stageCount; ++i)
    {
        printf("    %-10s %12llu rays %10llu pairs %8.2f s CPU\n", stats->stages[i].name,
               (unsigned long long)stats->stages[i].rays, (unsigned long long)stats->stages[i].pairs,
               stats->stages[i].cpuSeconds);
    }
}

static void espyBench_Compare(const char* name, const espyBakeInput* input, const espyBakeDef* def,
                              const espyBenchOptions* options)
{
    espyHooks hooks = espyiHooks_Resolve(NULL);
    espyBakeResult baked;
    if (espyBake_Run(input, def, &baked) != espyResult_Ok)
    {
        printf("%s: %s\n", name, baked.message);
        espyBake_Free(&baked);
        return;
    }
    espyPvs ours;
    espyPvs_Load(&ours, baked.data, baked.size, NULL);
    const espyBakeStats* stats = &baked.stats;
    printf("%s: %llu cells (%llu solid), %llu occludees, %llu triangles\n", name, (unsigned long long)stats->cells,
           (unsigned long long)stats->solidCells, (unsigned long long)stats->occludees,
           (unsigned long long)stats->triangles);
    printf("  espy     %10.2f s CPU, %llu rays; visible %llu, proven hidden %llu, hidden by search %llu\n",
           stats->cpuSeconds, (unsigned long long)stats->rays, (unsigned long long)stats->pairsVisible,
           (unsigned long long)stats->pairsProvenHidden,
           (unsigned long long)(stats->pairsHidden - stats->pairsProvenHidden));
    espyBench_PrintStages(stats);

    char message[256];
    espyiWarnings warnings = {.hooks = &hooks};
    espyiScene gathered = {.hooks = &hooks};
    if (espyiScene_Gather(input, def, &warnings, &gathered, message, sizeof message) != espyResult_Ok)
    {
        printf("%s: %s\n", name, message);
        espyBake_Free(&baked);
        return;
    }
    espyiSoup soup = {{gathered.positions, gathered.indices, gathered.vertexCount, gathered.triangleCount},
                      gathered.objects};
    espyiBvh* bvh = NULL;
    uint32_t threads = espyiTasks_ThreadCount(0);
    espyiControl control = {0};
    espyiStageCount count = {0};
    uint32_t* masks = calloc(gathered.grid.cellCount, sizeof *masks);
    espyEmbree embree = {.offset = gathered.grid.origin};
    espyTruthMatrix truth = {0};
    espyFixedRun fixed = {
        .embree = &embree, .scene = &gathered, .input = input, .quality = def->quality, .masks = masks};
    fixed.words = espyiBits_Words(gathered.grid.cellCount);
    fixed.targets = calloc((size_t)input->occludeeCount * ESPYI_MAX_FIXED_TARGETS, sizeof *fixed.targets);
    fixed.targetCounts = calloc(input->occludeeCount, sizeof *fixed.targetCounts);
    fixed.columns = calloc((size_t)input->occludeeCount * fixed.words, sizeof *fixed.columns);
    if (!masks || !fixed.targets || !fixed.targetCounts || !fixed.columns || !espyTruth_Create(&truth, &ours) ||
        espyiBvh_Build(&soup, espyIsa_Auto, threads, &hooks, NULL, &bvh) != espyResult_Ok ||
        !espyiSolid_Classify(&gathered, bvh, def->quality, threads, &control, masks, &count) ||
        !espyEmbree_Build(&embree, &gathered))
    {
        printf("%s: out of memory\n", name);
        exit(4);
    }
    for (uint32_t slot = 0; slot < input->occludeeCount; ++slot)
    {
        const espyBakeOccludee* occludee = &input->occludees[slot];
        espyBox local = {espyiScene_ToLocal(&gathered.grid, occludee->box.min),
                         espyiScene_ToLocal(&gathered.grid, occludee->box.max)};
        fixed.targetCounts[slot] = espyiSamples_Targets(&gathered.grid, def->quality, local, &occludee->mesh,
                                                        fixed.targets + (size_t)slot * ESPYI_MAX_FIXED_TARGETS);
    }
    espyiTasks_For(threads, input->occludeeCount, espyFixed_Slot, &fixed, NULL, NULL);
    double fixedSeconds = 0;
    for (uint32_t i = 0; i < threads; ++i)
    {
        fixedSeconds += fixed.cpuSeconds[i];
    }
    void* fixedData = NULL;
    size_t fixedSize = 0;
    espyPvs theirs = {0};
    if (espyFixed_Write(&fixed, def, &fixedData, &fixedSize) == espyResult_Ok)
    {
        espyPvs_Load(&theirs, fixedData, fixedSize, NULL);
    }
    printf("  fixed    %10.2f s CPU, %llu rays by Embree's rtcOccluded1 (espy / fixed: %.2f)\n", fixedSeconds,
           (unsigned long long)fixed.rays, stats->cpuSeconds / fixedSeconds);

    if (options->truthPath && espyTruth_Load(&truth, gathered.contentHash, options->truthPath))
    {
        printf("  truth    %llu pairs from %s\n", (unsigned long long)espyTruth_Count(&truth, &ours),
               options->truthPath);
    }
    espyTruthDef search = {.input = input,
                           .pvs = &ours,
                           .trace = espyEmbree_Trace,
                           .traceContext = &embree,
                           .rays = options->rays,
                           .seed = espyiHash_U64(77, espyTruth_Count(&truth, &ours)),
                           .threads = 0};
    uint64_t fresh = espyTruth_Search(&search, &truth);
    if (options->truthPath && !espyTruth_Save(&truth, gathered.contentHash, options->truthPath))
    {
        printf("  truth    could not be written to %s\n", options->truthPath);
    }
    uint64_t all = espyTruth_Count(&truth, &ours);
    uint64_t missOurs = espyTruth_CountMissing(&truth, &ours), missFixed = espyTruth_CountMissing(&truth, &theirs);
    printf("  truth    %llu pairs seen, %llu new by %llu lines, seed %llu\n", (unsigned long long)all,
           (unsigned long long)fresh, (unsigned long long)search.rays, (unsigned long long)search.seed);
    printf("  missing  espy %llu (%.3f %%), fixed %llu (%.3f %%): espy / fixed %.4f\n", (unsigned long long)missOurs,
           100.0 * (double)missOurs / (double)(all ? all : 1), (unsigned long long)missFixed,
           100.0 * (double)missFixed / (double)(all ? all : 1), (double)missOurs / (double)(missFixed ? missFixed : 1));

    espyAuditDef audit = espyAuditDef_Default();
    audit.views = options->views;
    audit.size = 128;
    espyAuditResult a = {0}, b = {0};
    espyResult judged = espyAudit_Run(input, &ours, &audit, &a);
    judged = judged == espyResult_Ok ? espyAudit_Run(input, &theirs, &audit, &b) : judged;
    if (judged != espyResult_Ok)
    {
        printf("  points   no audit: %s\n", espyResult_GetName(judged));
    }
    else
    {
        printf("  points   from which anything is missing: espy %llu, fixed %llu of %llu; wrong pixels %llu, %llu; "
               "tightness %.2f, %.2f\n",
               (unsigned long long)a.wrongViews, (unsigned long long)b.wrongViews, (unsigned long long)a.views,
               (unsigned long long)a.wrongPixels, (unsigned long long)b.wrongPixels, a.tightness, b.tightness);
    }
    espyAudit_Free(&a);
    espyAudit_Free(&b);
    espyTruth_Free(&truth);
    espyEmbree_Free(&embree);
    espyiBvh_Destroy(bvh);
    espyiFree(&hooks, fixedData);
    free(masks);
    free(fixed.targets);
    free(fixed.targetCounts);
    free(fixed.columns);
    espyiScene_Free(&gathered);
    espyiWarnings_Free(&warnings);
    espyBake_Free(&baked);
    fflush(stdout);
}

static void espyBench_Scene(const char* name, uint32_t size, const espyBenchOptions* options)
{
    espyWorld* world = NULL;
    espySceneKind kind;
    espyImportReport report = {0};
    espyImportDef import = espyImportDef_Default();
    espyResult result = espyScene_FindKind(name, &kind) ? espyScene_Build(name, size, 1, &world)
                                                        : espyImport_LoadFile(name, &import, &world, &report);
    if (result != espyResult_Ok)
    {
        printf("%s: %s\n", name, report.message[0] ? report.message : espyResult_GetName(result));
        return;
    }
    espyBakeDef def = espyBakeDef_Default();
    espyEditor_ApplySettings(world, &def);
    def.quality = options->quality;
    def.dynamicObjects = false;
    if (options->cellSize > 0.0f)
    {
        def.cellSize = options->cellSize;
    }
    espyGathered* gathered = NULL;
    if (espyEditor_Gather(world, def.cellSize, 0.0f, NULL, &gathered) == espyResult_Ok)
    {
        espyBench_Compare(name, espyGathered_GetInput(gathered), &def, options);
        espyGathered_Destroy(gathered);
    }
    espyWorld_Destroy(world);
}

int main(int argc, char** argv)
{
    espyBenchOptions options = {.quality = espyBakeQuality_Medium, .rays = 20000000u, .views = 300};
    const char* names[64];
    uint32_t count = 0;
    for (int i = 1; i < argc; ++i)
    {
        if (argv[i][0] != '-')
        {
            if (count < ESPYI_ARRAY_COUNT(names))
            {
                names[count++] = argv[i];
            }
            continue;
        }
        const char* value = i + 1 < argc ? argv[++i] : "";
        if (strcmp(argv[i - 1], "--size") == 0)
        {
            options.size = (uint32_t)strtoul(value, NULL, 10);
        }
        else if (strcmp(argv[i - 1], "--cell-size") == 0)
        {
            options.cellSize = strtof(value, NULL);
        }
        else if (strcmp(argv[i - 1], "--quality") == 0)
        {
            options.quality = (espyBakeQuality)strtoul(value, NULL, 10);
        }
        else if (strcmp(argv[i - 1], "--rays") == 0)
        {
            options.rays = strtoull(value, NULL, 10);
        }
        else if (strcmp(argv[i - 1], "--views") == 0)
        {
            options.views = (uint32_t)strtoul(value, NULL, 10);
        }
        else if (strcmp(argv[i - 1], "--truth") == 0)
        {
            options.truthPath = value;
        }
        else
        {
            fprintf(stderr, "unknown option %s\n", argv[i - 1]);
            return 2;
        }
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        espyBench_Scene(names[i], options.size, &options);
    }
    if (count == 0)
    {
        espyBench_Scene("rooms", 0, &options);
        espyBench_Scene("slits", 0, &options);
        espyBench_Scene("city", 5, &options);
    }
    return 0;
}
