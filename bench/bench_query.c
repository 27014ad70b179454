// SPDX-License-Identifier: MIT
// Occlusion queries on a walk: what goes missing, what is asked, what is drawn, what it costs.
//   bench_query [FRAMES [SCENE]]     frames of the walk a scene, 600 by default
//   bench_query cost                 time an object at 100,000 objects
//   bench_query soak [OPERATIONS]    random operations on a device with every fault, 1,000,000 by default
//
// Each frame is drawn once with all objects and their ids: the reference. Beside it run, each with a depth buffer and a
// software device of its own: espy; one question for each object in the frustum in each frame with the same counter-
// measures ("each"); the plain last-frame scheme without any ("plain"); and espy with the meshes themselves as proxies
// ("mesh"). Answers are late by 1, 2 and 3 frames. Props that the walk would lead through are left out: a walker who
// collides with nothing looks out of solid things.
#include "../tests/query_case.h"
#include "../tests/query_soak.h"
#include "../tests/raster_case.h"

#include "core/tasks.h"
#include "scenes/scenes.h"

#include <espy/query.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESPY_WIDTH 1280
#define ESPY_HEIGHT 720
#define ESPY_STEP (5.0f / 60.0f)
#define ESPY_TURN (3.14159265f / 60.0f)
#define ESPY_STEADY 40u ///< Frames without movement after which draws are compared with what is visible.

static void espyBench_Check(espyResult result, const char* what)
{
    if (result != espyResult_Ok)
    {
        fprintf(stderr, "bench_query: %s: %s\n", what, espyResult_GetName(result));
        exit(1);
    }
}

static void* espyBench_Alloc(size_t count, size_t size)
{
    void* p = calloc(count > 0 ? count : 1, size);
    if (!p)
    {
        exit(4);
    }
    return p;
}

// --- the walk

typedef struct espyBenchWalk
{
    espySceneKey* keys;
    uint32_t keyCount, key;
    espyVec3 eye;
    espyVec3 forward;
    uint32_t steady; ///< Frames that it still stands.
    bool teleported;
} espyBenchWalk;

static espyVec3 espyBench_Unit(espyVec3 v)
{
    float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return length > 0.0f ? (espyVec3){v.x / length, v.y / length, v.z / length} : (espyVec3){0, 0, -1};
}

static espyVec3 espyBench_To(espyVec3 a, espyVec3 b)
{
    return (espyVec3){b.x - a.x, b.y - a.y, b.z - a.z};
}

static espyBenchWalk espyBench_StartWalk(const char* name)
{
    espySceneKind kind;
    espyBenchWalk walk = {0};
    espyScene_FindKind(name, &kind);
    walk.keyCount = espyScene_GetPath(kind, 0, 1, NULL, 0);
    walk.keys = espyBench_Alloc(walk.keyCount, sizeof *walk.keys);
    espyScene_GetPath(kind, 0, 1, walk.keys, walk.keyCount);
    walk.eye = walk.keys[0].eye;
    walk.forward = espyBench_Unit(espyBench_To(walk.eye, walk.keys[1].eye));
    walk.key = 1;
    return walk;
}

/// One frame further: turns towards the next key by at most 3 degrees while it walks, or on the spot where the key lies
/// more to the side. Stands for a while at every eighth key. Returns true where it teleported.
static bool espyBench_Step(espyBenchWalk* walk, uint32_t frame, uint32_t frames)
{
    if (!walk->teleported && frame == frames / 2u)
    {
        walk->teleported = true;
        walk->key = walk->keyCount / 2u;
        walk->eye = walk->keys[walk->key - 1u].eye;
        walk->forward = espyBench_Unit(espyBench_To(walk->eye, walk->keys[walk->key].eye));
        return true;
    }
    if (walk->steady > 0)
    {
        --walk->steady;
        return false;
    }
    espyVec3 wanted = espyBench_To(walk->eye, walk->keys[walk->key].eye);
    float distance = sqrtf(wanted.x * wanted.x + wanted.y * wanted.y + wanted.z * wanted.z);
    espyVec3 to = espyBench_Unit(wanted);
    float dot = to.x * walk->forward.x + to.y * walk->forward.y + to.z * walk->forward.z;
    float angle = acosf(dot > 1.0f ? 1.0f : dot < -1.0f ? -1.0f : dot);
    if (angle > 1e-3f)
    {
        float share = angle > ESPY_TURN ? ESPY_TURN / angle : 1.0f;
        // Straight on where it turns back; the side does not matter.
        espyVec3 side = dot < -0.999f ? (espyVec3){-walk->forward.z, 0.0f, walk->forward.x} : to;
        float a = sinf((1.0f - share) * angle), b = sinf(share * angle);
        walk->forward = espyBench_Unit((espyVec3){a * walk->forward.x + b * side.x, a * walk->forward.y + b * side.y,
                                                  a * walk->forward.z + b * side.z});
    }
    if (angle <= 0.5f)
    {
        float step = distance < ESPY_STEP ? distance : ESPY_STEP;
        walk->eye = (espyVec3){walk->eye.x + to.x * step, walk->eye.y + to.y * step, walk->eye.z + to.z * step};
        if (distance <= ESPY_STEP)
        {
            walk->key = walk->key + 1u < walk->keyCount ? walk->key + 1u : 1u;
            walk->steady = walk->key % 8u == 0 ? 2u * ESPY_STEADY : 0u;
        }
    }
    if (frame % 150u == 149u)
    {
        walk->steady = 2u * ESPY_STEADY;
    }
    return false;
}

// --- scenes as objects

typedef struct espyBenchObject
{
    espyOccluder* occluder;
    uint32_t mesh;
    espyMat4 toWorld;
    espyBox box;
} espyBenchObject;

typedef struct espyBenchMesh
{
    espyOccluder* occluder;
    espyTriangles triangles; ///< The world's, which lives as long.
} espyBenchMesh;

typedef struct espyBenchScene
{
    espyBenchObject* objects;
    uint32_t count;
    espyBenchMesh* meshes;
    uint32_t meshCount;
    espyWorld* world;
    uint32_t leftOut;
} espyBenchScene;

/// True where the walk leads through the box of a prop.
static bool espyBench_IsInTheWay(const espyBenchWalk* walk, const espyBox* box)
{
    espyVec3 size = {box->max.x - box->min.x, box->max.y - box->min.y, box->max.z - box->min.z};
    espyBox grown = espyBox_Grow(*box, 0.3f);
    bool inTheWay = false;
    for (uint32_t k = 1; k < walk->keyCount && size.x < 6.0f && size.y < 6.0f && size.z < 6.0f; ++k)
    {
        espyVec3 a = walk->keys[k - 1u].eye, b = walk->keys[k].eye;
        espyVec3 d = espyBench_To(a, b);
        float length = sqrtf(d.x * d.x + d.y * d.y + d.z * d.z);
        uint32_t steps = (uint32_t)(length / 0.2f) + 1u;
        for (uint32_t i = 0; i <= steps && !inTheWay; ++i)
        {
            float t = (float)i / (float)steps;
            espyVec3 p = {a.x + d.x * t, a.y + d.y * t, a.z + d.z * t};
            inTheWay = espyBox_Overlaps(grown, (espyBox){p, p});
        }
    }
    return inTheWay;
}

static void espyBench_AddObject(espyBenchScene* scene, const espyBenchWalk* walk, uint32_t mesh, espyMat4 toWorld)
{
    scene->objects = realloc(scene->objects, (scene->count + 1u) * sizeof *scene->objects);
    if (!scene->objects)
    {
        exit(4);
    }
    espyBox box = espyMat4_TransformBox(toWorld, espyOccluder_GetBounds(scene->meshes[mesh].occluder));
    if (walk && espyBench_IsInTheWay(walk, &box))
    {
        ++scene->leftOut;
        return;
    }
    scene->objects[scene->count++] = (espyBenchObject){scene->meshes[mesh].occluder, mesh, toWorld, box};
}

static espyBenchScene espyBench_Load(const char* name, const espyBenchWalk* walk)
{
    espyBenchScene scene = {0};
    espyWorld* world;
    espyBench_Check(espyScene_Build(name, 0, 1, &world), name);
    uint32_t meshes = espyWorld_GetMeshCount(world);
    scene.meshes = espyBench_Alloc(meshes, sizeof *scene.meshes);
    scene.meshCount = meshes;
    scene.world = world;
    for (uint32_t n = 0; n < espyWorld_GetNodeCount(world); ++n)
    {
        espyNodeId id = espyWorld_GetNodeAt(world, n);
        espyNodeDef node;
        espyMeshDef mesh;
        if (espyWorld_GetNode(world, id, &node) != espyResult_Ok || node.mesh.index1 == 0 ||
            espyWorld_GetMesh(world, node.mesh, &mesh) != espyResult_Ok)
        {
            continue;
        }
        uint32_t at = (uint32_t)node.mesh.index1 - 1u;
        espyOccluder** occluder = &scene.meshes[at].occluder;
        scene.meshes[at].triangles = mesh.triangles;
        if (!*occluder)
        {
            espyOccluderDef def = espyOccluderDef_Default();
            def.triangles = mesh.triangles;
            espyBench_Check(espyOccluder_Create(&def, occluder), "occluder");
        }
        espyMat4 toWorld = espyWorld_GetWorldTransform(world, id);
        if (node.kind != espyNodeKind_InstancedMesh3D)
        {
            espyBench_AddObject(&scene, walk, at, toWorld);
        }
        for (uint32_t i = 0; i < node.instanceCount; ++i)
        {
            espyBench_AddObject(&scene, walk, at, espyMat4_Multiply(toWorld, node.instances[i]));
        }
    }
    return scene;
}

static void espyBench_Unload(espyBenchScene* scene)
{
    for (uint32_t i = 0; i < scene->meshCount; ++i)
    {
        espyOccluder_Destroy(scene->meshes[i].occluder);
    }
    free(scene->meshes);
    free(scene->objects);
    espyWorld_Destroy(scene->world);
}

// --- one scheme at one latency

typedef struct espyBenchScheme
{
    const char* name;
    uint32_t latency;
    espyQueryCaseDevice counted; ///< Between the system and the software device: counts waits and calls.
    espyDevice soft;
    espyRaster* raster;
    espyDeviceTarget target;
    espyQuerySystem* system;
    espyQueryViewId view;
    espyQueryObjectId* ids;
    uint8_t* drawn;
    // Sums.
    uint64_t frames, queries, draws, missingPixels, visible;
    uint64_t steadyDraws, steadyVisible, steadyFrames;
    uint64_t missingInARow, worstPixels, proxies;
    double seconds;
} espyBenchScheme;

static espyQueryViewDef espyBench_ViewDef(const char* name)
{
    espyQueryViewDef def = espyQueryViewDef_Default();
    def.maxQueries = 4096;
    def.autoOff = false;
    def.exact = strcmp(name, "exact") == 0;
    if (strcmp(name, "each") == 0 || strcmp(name, "plain") == 0)
    {
        def.visibleInterval = 1;
        def.maxGroup = 1;
        def.maxBatch = 1;
    }
    if (strcmp(name, "plain") == 0)
    {
        def.hiddenAfter = 1;
        def.margin = 0.0f;
        def.maxSweep = 0.0f;
        def.smallest = 0.0f;
    }
    return def;
}

static void espyBench_StartScheme(espyBenchScheme* s, const espyBenchScene* scene, const char* name, uint32_t latency)
{
    *s = (espyBenchScheme){.name = name, .latency = latency};
    espySoftDeviceDef softDef = espySoftDeviceDef_Default();
    softDef.latency = latency;
    espyBench_Check(espySoftDevice_Create(&softDef, &s->soft), "device");
    espyRasterDef rasterDef = espyRasterDef_Default();
    rasterDef.reversedZ = true;
    espyBench_Check(espyRaster_Create(&rasterDef, &s->raster), "raster");
    espyBench_Check(espySoftDevice_WrapRaster(&s->soft, s->raster, false, &s->target), "target");
    espyDevice counted = espyQueryCase_Count(&s->counted, &s->soft);
    espyQuerySystemDef def = espyQuerySystemDef_Default();
    def.device = &counted;
    espyBench_Check(espyQuerySystem_Create(&def, &s->system), "system");
    s->ids = espyBench_Alloc(scene->count, sizeof *s->ids);
    s->drawn = espyBench_Alloc(scene->count, 1);
    espyDeviceMesh* meshes = espyBench_Alloc(scene->meshCount, sizeof *meshes);
    for (uint32_t i = 0; i < scene->count; ++i)
    {
        espyQueryObjectDef object = espyQueryObjectDef_Default();
        object.box = scene->objects[i].box;
        object.proxy = strcmp(name, "mesh") == 0;
        if (object.proxy)
        {
            espyDeviceMesh* mesh = &meshes[scene->objects[i].mesh];
            if (mesh->value == 0)
            {
                const espyTriangles* triangles = &scene->meshes[scene->objects[i].mesh].triangles;
                espyBench_Check(s->soft.createMesh(s->soft.context, triangles, true, mesh), "mesh");
            }
            object.mesh = *mesh;
            object.toWorld = scene->objects[i].toWorld;
        }
        espyBench_Check(espyQuerySystem_AddObject(s->system, &object, &s->ids[i]), "object");
    }
    free(meshes);
    espyQuerySystem_Rebuild(s->system);
    espyQueryViewDef viewDef = espyBench_ViewDef(name);
    espyBench_Check(espyQuerySystem_CreateView(s->system, &viewDef, &s->view), "view");
}

static void espyBench_EndScheme(espyBenchScheme* s)
{
    espyQuerySystem_Destroy(s->system);
    espySoftDevice_Destroy(&s->soft);
    espyRaster_Destroy(s->raster);
    free(s->ids);
    free(s->drawn);
}

/// One frame of a scheme. `pixels` are pixels of each object in the reference.
static void espyBench_Frame(espyBenchScheme* s, const espyBenchScene* scene, const espyQueryCamera* camera,
                            const espyMat4* viewProjection, const uint32_t* pixels, const uint32_t* seen,
                            espyOccluderDraw* room, uint32_t visible, uint64_t frame, bool steady)
{
    double start = espyiClock_ThreadCpuSeconds();
    espyBench_Check(s->soft.beginFrame(s->soft.context, frame), "beginFrame");
    espyBench_Check(espyQuerySystem_BeginFrame(s->system, frame), "BeginFrame");
    espyBench_Check(espyQuerySystem_Cull(s->system, s->view, camera), "Cull");
    uint32_t count;
    const espyQueryObjectId* draws = espyQuerySystem_GetDraws(s->system, s->view, &count);
    s->seconds += espyiClock_ThreadCpuSeconds() - start;
    memset(s->drawn, 0, scene->count);
    for (uint32_t i = 0; i < count; ++i)
    {
        uint32_t object = (uint32_t)draws[i].index1 - 1u;
        s->drawn[object] = 1;
        room[i] = (espyOccluderDraw){scene->objects[object].occluder, &scene->objects[object].toWorld, object};
    }
    espyRaster_Begin(s->raster, viewProjection);
    espyRaster_DrawSorted(s->raster, room, count, NULL);
    espyDevicePass pass = {.target = s->target, .viewProjection = {*viewProjection, *viewProjection}};
    espyBench_Check(s->soft.beginPass(s->soft.context, &pass), "beginPass");
    espyBench_Check(espyQuerySystem_Submit(s->system, s->view), "Submit");
    espyBench_Check(s->soft.endPass(s->soft.context), "endPass");
    espyBench_Check(s->soft.endFrame(s->soft.context), "endFrame");
    if (strcmp(s->name, "exact") == 0)
    {
        espyBench_Check(espyQuerySystem_Wait(s->system, s->view, NULL, NULL), "Wait");
        draws = espyQuerySystem_GetDraws(s->system, s->view, &count);
        memset(s->drawn, 0, scene->count);
        for (uint32_t i = 0; i < count; ++i)
        {
            s->drawn[draws[i].index1 - 1] = 1;
        }
    }
    espyBench_Check(espyQuerySystem_Compare(s->system, s->view, seen, scene->count), "Compare");
    uint64_t missing = 0;
    for (uint32_t i = 0; i < scene->count; ++i)
    {
        missing += s->drawn[i] ? 0u : pixels[i];
    }
    espyQueryStats stats = espyQuerySystem_GetStats(s->system, s->view);
    ++s->frames;
    s->queries += stats.frame.queries;
    s->proxies += stats.frame.proxies;
    s->draws += count;
    s->visible += visible;
    s->missingPixels += missing;
    s->worstPixels = missing > s->worstPixels ? missing : s->worstPixels;
    if (steady)
    {
        s->steadyDraws += count;
        s->steadyVisible += visible;
        ++s->steadyFrames;
    }
}

static const char* const espyBenchSchemes[] = {"espy", "each", "plain", "mesh"};
#define ESPY_KINDS 4u
/// The kinds at each latency, then "exact": every box as it is, answered in its own frame. Nothing that asks about
/// boxes can draw less in a steady view.
#define ESPY_SCHEMES 13u

static void espyBench_Report(const espyBenchScheme* schemes, uint64_t inFrustum, uint64_t frames)
{
    printf("in the frustum %.0f, visible %.1f\n", (double)inFrustum / (double)frames,
           (double)schemes[0].visible / (double)frames);
    for (uint32_t k = 0; k < ESPY_SCHEMES; ++k)
    {
        const espyBenchScheme* s = &schemes[k];
        const espyBenchScheme* each = &schemes[s->latency > 0 ? k / ESPY_KINDS * ESPY_KINDS + 1u : 1u];
        espyQueryStats stats = espyQuerySystem_GetStats(s->system, s->view);
        double count = (double)s->frames;
        double saved = (double)inFrustum - (double)s->draws, eachSaved = (double)inFrustum - (double)each->draws;
        printf("  %u %-5s missing %.5f %% (worst %.3f %%), longest %u, pops %.3f; queries %.1f (%.1f %% of each; %.1f "
               "proxies), draws %.1f, saved %.1f %% of each, steady draws / visible %.3f; waits %u; %.2f us an object "
               "in the frustum\n",
               s->latency, s->name, 100.0 * (double)s->missingPixels / (count * ESPY_WIDTH * ESPY_HEIGHT),
               100.0 * (double)s->worstPixels / (ESPY_WIDTH * ESPY_HEIGHT), stats.longestMissing,
               (double)stats.total.pops / count, (double)s->queries / count,
               100.0 * (double)s->queries / (double)inFrustum, (double)s->proxies / count, (double)s->draws / count,
               eachSaved > 0 ? 100.0 * saved / eachSaved : 0.0,
               s->steadyVisible > 0 ? (double)s->steadyDraws / (double)s->steadyVisible : 0.0, s->counted.waits,
               1e6 * s->seconds / (double)inFrustum);
    }
}

static void espyBench_Scene(const char* name, uint32_t frames)
{
    espyBenchWalk walk = espyBench_StartWalk(name);
    espyBenchScene scene = espyBench_Load(name, &walk);
    printf("%-7s %u objects, %u in the way left out; ", name, scene.count, scene.leftOut);
    static espyBenchScheme schemes[ESPY_SCHEMES];
    for (uint32_t k = 0; k < ESPY_SCHEMES; ++k)
    {
        bool exact = k == ESPY_SCHEMES - 1u;
        espyBench_StartScheme(&schemes[k], &scene, exact ? "exact" : espyBenchSchemes[k % ESPY_KINDS],
                              exact ? 0u : 1u + k / ESPY_KINDS);
    }
    espyRasterDef def = espyRasterDef_Default();
    def.reversedZ = true;
    def.ids = true;
    espyRaster* reference;
    espyBench_Check(espyRaster_Create(&def, &reference), "reference");
    uint32_t* image = espyBench_Alloc((size_t)ESPY_WIDTH * ESPY_HEIGHT, sizeof *image);
    uint32_t* pixels = espyBench_Alloc(scene.count, sizeof *pixels);
    uint32_t* seen = espyBench_Alloc(scene.count / 32u + 1u, sizeof *seen);
    espyOccluderDraw* all = espyBench_Alloc(scene.count, sizeof *all);
    espyOccluderDraw* room = espyBench_Alloc(scene.count, sizeof *room);
    for (uint32_t i = 0; i < scene.count; ++i)
    {
        all[i] = (espyOccluderDraw){scene.objects[i].occluder, &scene.objects[i].toWorld, i};
    }
    uint64_t inFrustum = 0;
    uint32_t still = 0;
    for (uint32_t frame = 0; frame < frames; ++frame)
    {
        espyVec3 before = walk.eye, looked = walk.forward;
        bool cut = espyBench_Step(&walk, frame, frames) || frame == 0;
        bool same = !cut && memcmp(&before, &walk.eye, sizeof before) == 0 &&
                    memcmp(&looked, &walk.forward, sizeof looked) == 0;
        still = same ? still + 1u : 0u;
        espyQueryCamera camera = espyQueryCamera_Default();
        espyLens lens = {.reversedZ = true, .nearDistance = 0.1f, .halfHeight = 0.57735f, .aspect = 16.0f / 9.0f};
        espyVec3 target = {walk.eye.x + walk.forward.x, walk.eye.y + walk.forward.y, walk.eye.z + walk.forward.z};
        espyQueryCase_Look(&camera.eye, walk.eye, target, &lens);
        camera.cut = cut;
        espyMat4 viewProjection = espyMat4_Multiply(camera.eye.projection, camera.eye.view);
        espyRaster_Begin(reference, &viewProjection);
        espyRaster_DrawSorted(reference, all, scene.count, NULL);
        espyRaster_ReadIds(reference, image, ESPY_WIDTH);
        memset(pixels, 0, scene.count * sizeof *pixels);
        memset(seen, 0, (scene.count / 32u + 1u) * sizeof *seen);
        for (uint32_t p = 0; p < ESPY_WIDTH * ESPY_HEIGHT; ++p)
        {
            if (image[p] != ESPY_RASTER_NO_ID)
            {
                ++pixels[image[p]];
            }
        }
        uint32_t visible = 0;
        espyView view;
        espyView_Make(&view, &camera.eye, NULL);
        for (uint32_t i = 0; i < scene.count; ++i)
        {
            inFrustum += espyView_TestBox(&view, scene.objects[i].box) != espyVisibility_Outside ? 1u : 0u;
            visible += pixels[i] > 0 ? 1u : 0u;
            seen[i / 32u] |= pixels[i] > 0 ? 1u << (i % 32u) : 0u;
        }
        for (uint32_t k = 0; k < ESPY_SCHEMES; ++k)
        {
            espyBench_Frame(&schemes[k], &scene, &camera, &viewProjection, pixels, seen, room, visible,
                            (uint64_t)frame + 1u, still >= ESPY_STEADY);
        }
    }
    espyBench_Report(schemes, inFrustum, frames);
    for (uint32_t k = 0; k < ESPY_SCHEMES; ++k)
    {
        espyBench_EndScheme(&schemes[k]);
    }
    espyRaster_Destroy(reference);
    free(image);
    free(pixels);
    free(seen);
    free(all);
    free(room);
    free(walk.keys);
    espyBench_Unload(&scene);
}

// --- time an object, and the soak

/// 100,000 boxes in the frustum, one in fifty of which shows; answers from the boxes themselves.
static uint64_t espyBench_CostAnswer(const espyMockQuery* query, void* context)
{
    (void)context;
    uint64_t samples = 0;
    for (uint32_t p = 0; p < query->query->proxyCount; ++p)
    {
        // Those of the first rows show: what stands before the others.
        samples += query->proxies[p].toWorld.m[14] + query->proxies[p].toWorld.m[10] > -105.0f ? 1u : 0u;
    }
    return samples;
}

static void espyBench_Cost(void)
{
    espyMockDeviceDef mockDef = espyMockDeviceDef_Default();
    mockDef.answer = espyBench_CostAnswer;
    mockDef.faults.latency = 2;
    espyDevice device;
    espyDeviceTarget target;
    espyDeviceTargetDef targetDef = espyDeviceTargetDef_Default();
    espyBench_Check(espyMockDevice_Create(&mockDef, &device), "mock");
    espyBench_Check(device.createTarget(device.context, &targetDef, &target), "target");
    espyQuerySystemDef def = espyQuerySystemDef_Default();
    def.device = &device;
    espyQuerySystem* system;
    espyQueryViewId view;
    espyQueryViewDef viewDef = espyQueryViewDef_Default();
    espyBench_Check(espyQuerySystem_Create(&def, &system), "system");
    espyBench_Check(espyQuerySystem_CreateView(system, &viewDef, &view), "view");
    const uint32_t count = 100000;
    static espyQueryObjectId ids[100000];
    espyiRng rng = espyiRng_Seed(9);
    double start = espyiClock_ThreadCpuSeconds();
    for (uint32_t i = 0; i < count; ++i)
    {
        float z = -100.0f - 900.0f * espyiRng_Float(&rng), x = z * (espyiRng_Float(&rng) - 0.5f),
              y = z * (espyiRng_Float(&rng) - 0.5f), r = 0.5f + 2.0f * espyiRng_Float(&rng);
        espyQueryObjectDef object = espyQueryObjectDef_Default();
        object.box = (espyBox){{x - r, y - r, z - r}, {x + r, y + r, z + r}};
        espyBench_Check(espyQuerySystem_AddObject(system, &object, &ids[i]), "object");
    }
    double added = espyiClock_ThreadCpuSeconds();
    espyQuerySystem_Rebuild(system);
    double built = espyiClock_ThreadCpuSeconds();
    printf("add %.2f us, rebuild %.2f us an object\n", 1e6 * (added - start) / count, 1e6 * (built - added) / count);
    double begin = 0, cull = 0, most = 0, first = 0;
    uint64_t draws = 0, queries = 0;
    const uint32_t frames = 120;
    for (uint32_t frame = 1; frame <= frames; ++frame)
    {
        espyQueryCamera camera = espyQueryCamera_Default();
        espyLens lens = {.nearDistance = 0.1f, .farDistance = 2000.0f, .halfHeight = 0.6f, .aspect = 16.0f / 9.0f};
        float x = 0.05f * (float)frame;
        espyQueryCase_Look(&camera.eye, (espyVec3){x, 0, 0}, (espyVec3){x, 0, -1}, &lens);
        device.beginFrame(device.context, frame);
        double t0 = espyiClock_ThreadCpuSeconds();
        espyQuerySystem_BeginFrame(system, frame);
        double t1 = espyiClock_ThreadCpuSeconds();
        espyQuerySystem_Cull(system, view, &camera);
        double t2 = espyiClock_ThreadCpuSeconds();
        espyDevicePass pass = {.target = target};
        pass.viewProjection[0] = pass.viewProjection[1] = espyMat4_Identity();
        device.beginPass(device.context, &pass);
        espyQuerySystem_Submit(system, view);
        device.endPass(device.context);
        device.endFrame(device.context);
        uint32_t drawn;
        espyQuerySystem_GetDraws(system, view, &drawn);
        draws += drawn;
        queries += espyQuerySystem_GetStats(system, view).frame.queries;
        begin += t1 - t0;
        cull += t2 - t1;
        most = t2 - t0 > most ? t2 - t0 : most;
        first = frame == 1 ? t2 - t0 : first;
    }
    printf(
        "100,000 objects in the frustum: %.3f us an object a frame (answers %.3f, cull %.3f), first frame %.3f, worst "
        "%.3f; %.0f drawn, %.0f queries a frame; memory of the view %.1f MB\n",
        1e6 * (begin + cull) / frames / count, 1e6 * begin / frames / count, 1e6 * cull / frames / count,
        1e6 * first / count, 1e6 * most / count, (double)draws / frames, (double)queries / frames,
        (double)espyQuerySystem_GetStats(system, view).bytes / 1048576.0);
    espyQuerySystem_Destroy(system);
    espyMockDevice_Destroy(&device);
}

static int espyBench_Soak(uint64_t operations)
{
    espyQuerySoakResult r = espyQuerySoak_Run(7, operations);
    printf("%.0f operations, %.0f frames: %.0f questions, %.0f stale and %.0f lost answers; longest missing %u frames "
           "of %u "
           "allowed; wrong answers %.0f, waits %.0f, broken rules %.0f, memory %.0f -> %.0f bytes, allocations %.0f\n",
           (double)r.operations, (double)r.frames, (double)r.queries, (double)r.stale, (double)r.lost, r.longest,
           r.timeLimit, (double)r.wrong, (double)r.waits, (double)r.violations, (double)r.heldAtStart,
           (double)r.heldAtEnd, (double)r.allocations);
    return r.longest <= r.timeLimit && r.wrong == 0 && r.waits == 0 && r.allocations == 0 ? 0 : 1;
}

int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "cost") == 0)
    {
        espyBench_Cost();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "soak") == 0)
    {
        return espyBench_Soak(argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000u);
    }
    uint32_t frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 600u;
    static const char* const names[] = {"city", "forest", "rooms"};
    frames = frames == 0 ? 600u : frames;
    for (uint32_t i = 0; i < 3; ++i)
    {
        if (argc <= 2 || strcmp(argv[2], names[i]) == 0)
        {
            espyBench_Scene(names[i], frames);
        }
    }
    return 0;
}
