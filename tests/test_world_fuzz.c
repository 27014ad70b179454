// SPDX-License-Identifier: MIT
// Random histories of worlds with files: moved, hidden, edited, destroyed and spawned nodes, files that come, go and
// move, cameras anywhere; every answer against the slow reference.
#include "test_main.h"

#include <espy/pack.h>
#include <stdio.h>
#include <string.h>

#include "reference/world_reference.h"
#include "tests/world_case.h"

#define ESPY_FUZZ_FILES 3
#define ESPY_FUZZ_NODES 260

typedef struct espyFuzz
{
    espyiRng rng;
    espyWorldCase cases[ESPY_FUZZ_FILES];
    espyVec3 offsets[ESPY_FUZZ_FILES];
    espyDataId ids[ESPY_FUZZ_FILES]; ///< Null: not loaded.
    espyWorld* world;
    espyMeshId other; ///< Of no file.
    espyWorldReference* reference;
    espyViewTracker* tracker;
    bool tracked[ESPY_FUZZ_NODES * 4];
} espyFuzz;

static espyNodeId espyFuzz_Pick(espyFuzz* f)
{
    return espyWorld_GetNodeAt(f->world, espyiRng_Below(&f->rng, espyWorld_GetNodeCount(f->world)));
}

static espyVec3 espyFuzz_Place(espyFuzz* f)
{
    float x = espyWorldCase_Random(&f->rng, -9.0f, 18.0f);
    float y = espyWorldCase_Random(&f->rng, -1.0f, 10.0f);
    float z = espyWorldCase_Random(&f->rng, -9.0f, 18.0f);
    espyVec3 o = f->offsets[espyiRng_Below(&f->rng, ESPY_FUZZ_FILES)];
    return (espyVec3){x + o.x, y + o.y, z + o.z};
}

static void espyFuzz_Move(espyFuzz* f, espyNodeId node, espyVec3 by)
{
    espyNodeDef def;
    espyWorld_GetNode(f->world, node, &def);
    def.local.m[12] += by.x;
    def.local.m[13] += by.y;
    def.local.m[14] += by.z;
    assert_int_equal(espyWorld_SetLocalTransform(f->world, node, def.local), espyResult_Ok);
}

static espyVec3 espyFuzz_Vector(espyFuzz* f, float reach)
{
    float x = espyWorldCase_Random(&f->rng, -reach, 2.0f * reach);
    float y = espyWorldCase_Random(&f->rng, -reach, 2.0f * reach);
    float z = espyWorldCase_Random(&f->rng, -reach, 2.0f * reach);
    return (espyVec3){x, y, z};
}

/// Puts a node where some entry of a file is.
static void espyFuzz_PutInPlace(espyFuzz* f, espyNodeId node)
{
    uint32_t file = espyiRng_Below(&f->rng, ESPY_FUZZ_FILES);
    uint32_t entry = espyiRng_Below(&f->rng, ESPY_WORLD_CASE_ENTRIES);
    espyVec3 p = f->cases[file].boxes[entry].min, o = f->offsets[file];
    espyMat4 at = espyWorldCase_At((espyVec3){p.x + o.x, p.y + o.y, p.z + o.z});
    assert_int_equal(espyWorld_SetLocalTransform(f->world, node, at), espyResult_Ok);
}

/// Puts every node of a kind of history back: so that files are whole now and then.
static void espyFuzz_Repair(espyFuzz* f, uint32_t file)
{
    for (uint32_t i = 0; i < ESPY_WORLD_CASE_OCCLUDERS; ++i)
    {
        espyNodeId node = {0};
        if (f->ids[file].index1 != 0)
        {
            espyWorld_GetOccluderState(f->world, f->ids[file], i, &node);
        }
        if (node.index1 == 0)
        {
            // Takes the entry where it is free for this content.
            espyWorldCase_Node(f->world, &f->cases[file], i, f->offsets[file]);
            espyWorldReference_Update(f->reference);
            continue;
        }
        espyVec3 p = f->cases[file].boxes[i].min, o = f->offsets[file];
        espyWorld_SetFlags(f->world, node, espyNodeFlag_OccluderStatic);
        espyWorldReference_Update(f->reference);
        espyWorld_SetLocalTransform(f->world, node, espyWorldCase_At((espyVec3){p.x + o.x, p.y + o.y, p.z + o.z}));
        espyWorldReference_Update(f->reference);
    }
}

static void espyFuzz_LoadOrUnload(espyFuzz* f, uint32_t file)
{
    if (f->ids[file].index1 == 0)
    {
        f->ids[file] = espyWorldCase_Load(f->world, &f->cases[file], f->offsets[file]);
        espyWorldReference_Load(f->reference, f->ids[file], f->cases[file].file.file, f->cases[file].file.size,
                                f->offsets[file]);
        return;
    }
    espyWorldReference_Unload(f->reference, f->ids[file]);
    assert_int_equal(espyWorld_RemoveData(f->world, f->ids[file]), espyResult_Ok);
    assert_int_equal(espyWorld_RemoveData(f->world, f->ids[file]), espyResult_InvalidId);
    f->ids[file] = (espyDataId){0};
}

static void espyFuzz_PlaceFile(espyFuzz* f, uint32_t file)
{
    espyVec3 by = espyFuzz_Vector(f, 0.25f);
    espyVec3* o = &f->offsets[file];
    *o = (espyVec3){o->x + by.x, o->y + by.y, o->z + by.z};
    if (f->ids[file].index1 != 0)
    {
        assert_int_equal(espyWorld_SetDataOffset(f->world, f->ids[file], *o), espyResult_Ok);
        espyWorldReference_Place(f->reference, f->ids[file], *o);
    }
}

static void espyFuzz_MoveOrigin(espyFuzz* f)
{
    espyVec3 to = espyFuzz_Vector(f, 32.0f);
    assert_int_equal(espyWorld_MoveOrigin(f->world, to), espyResult_Ok);
    for (uint32_t i = 0; i < ESPY_FUZZ_FILES; ++i)
    {
        espyVec3* o = &f->offsets[i];
        *o = (espyVec3){o->x - to.x, o->y - to.y, o->z - to.z};
    }
    for (uint32_t i = 0; i < f->reference->fileCount; ++i)
    {
        espyVec3* o = &f->reference->files[i].offset;
        *o = (espyVec3){o->x - to.x, o->y - to.y, o->z - to.z};
    }
}

static void espyFuzz_Flags(espyFuzz* f, espyNodeId node)
{
    static const uint32_t flags[] = {espyNodeFlag_Hidden,         espyNodeFlag_Hidden,  espyNodeFlag_OccludeeStatic,
                                     espyNodeFlag_OccluderStatic, espyNodeFlag_Dynamic, espyNodeFlag_Blocker};
    uint32_t flag = flags[espyiRng_Below(&f->rng, 6)];
    espyWorld_SetFlags(f->world, node, espyWorld_GetFlags(f->world, node) ^ flag);
}

static void espyFuzz_Content(espyFuzz* f, espyNodeId node)
{
    espyNodeDef def;
    espyWorld_GetNode(f->world, node, &def);
    if (def.mesh.index1 != 0)
    {
        uint32_t meshes = espyWorld_GetMeshCount(f->world);
        espyMeshId mesh = espyWorld_GetMeshAt(f->world, espyiRng_Below(&f->rng, meshes));
        espyWorld_SetMesh(f->world, node, espyiRng_Below(&f->rng, 2) ? f->other : mesh);
    }
    else if (def.kind == espyNodeKind_Node3D)
    {
        def.bounds.max.x += 0.125f;
        espyWorld_SetBounds(f->world, node, def.bounds);
    }
}

static void espyFuzz_Spawn(espyFuzz* f)
{
    uint32_t file = espyiRng_Below(&f->rng, ESPY_FUZZ_FILES);
    uint32_t entry = espyiRng_Below(&f->rng, ESPY_WORLD_CASE_ENTRIES);
    espyNodeId node = espyWorldCase_Node(f->world, &f->cases[file], entry, f->offsets[file]);
    espyWorldReference_Update(f->reference);
    if (espyiRng_Below(&f->rng, 3) == 0)
    {
        espyFuzz_Move(f, node, espyFuzz_Vector(f, 4.0f));
    }
}

static void espyFuzz_Camera(espyFuzz* f)
{
    espyNodeId camera = espyWorld_GetActiveCamera(f->world);
    espyVec3 p = espyFuzz_Place(f);
    float turn[4] = {0, 0, 0, 1};
    uint32_t quarter = espyiRng_Below(&f->rng, 4);
    turn[1] = quarter == 1 || quarter == 3 ? 0.70710677f : quarter == 2 ? 1.0f : 0.0f;
    turn[3] = quarter == 0 ? 1.0f : quarter == 1 ? 0.70710677f : quarter == 2 ? 0.0f : -0.70710677f;
    espyWorld_SetLocalTransform(f->world, camera, espyMat4_FromTrs(p, turn, (espyVec3){1, 1, 1}));
}

static void espyFuzz_Step(espyFuzz* f)
{
    espyNodeId camera = espyWorld_GetActiveCamera(f->world);
    espyNodeId node = espyFuzz_Pick(f);
    bool isCamera = node.index1 == camera.index1;
    switch (espyiRng_Below(&f->rng, 16))
    {
    case 0:
    case 1:
        espyFuzz_Move(f, node, espyFuzz_Vector(f, 0.125f));
        break;
    case 2:
        espyFuzz_Move(f, node, espyFuzz_Vector(f, 4.0f));
        break;
    case 3:
        espyFuzz_PutInPlace(f, node);
        break;
    case 4:
        espyFuzz_Flags(f, node);
        break;
    case 5:
        espyFuzz_Content(f, node);
        break;
    case 6:
        if (!isCamera)
        {
            espyWorld_DestroyNode(f->world, node);
        }
        break;
    case 7:
        if (espyWorld_GetNodeCount(f->world) < ESPY_FUZZ_NODES)
        {
            espyFuzz_Spawn(f);
        }
        break;
    case 8:
        espyFuzz_LoadOrUnload(f, espyiRng_Below(&f->rng, ESPY_FUZZ_FILES));
        break;
    case 9:
        if (espyiRng_Below(&f->rng, 4) == 0)
        {
            espyFuzz_PlaceFile(f, espyiRng_Below(&f->rng, ESPY_FUZZ_FILES));
        }
        break;
    case 10:
        if (espyiRng_Below(&f->rng, 4) == 0)
        {
            espyFuzz_MoveOrigin(f);
        }
        break;
    case 11:
        f->reference->occlusion = espyiRng_Below(&f->rng, 4) != 0;
        espyWorld_EnableOcclusionCulling(f->world, f->reference->occlusion);
        break;
    case 12:
    case 13:
        if (espyWorld_GetNodeCount(f->world) < ESPY_FUZZ_NODES)
        {
            espyFuzz_Repair(f, espyiRng_Below(&f->rng, ESPY_FUZZ_FILES));
        }
        break;
    default:
        espyFuzz_Camera(f);
        break;
    }
}

static uint64_t espyFuzz_occluded, espyFuzz_seen, espyFuzz_inPlace;

static void espyFuzz_Compare(espyFuzz* f)
{
    const espyWorld* world = f->world;
    espyWorldReference_Update(f->reference);
    bool anyStale = false;
    for (uint32_t i = 0; i < f->reference->fileCount; ++i)
    {
        bool stale = espyWorldReference_IsStale(f->reference, i);
        anyStale = anyStale || stale;
        assert_int_equal(espyWorld_IsDataStale(world, f->reference->files[i].id), stale);
    }
    assert_int_equal(espyWorld_IsOcclusionDataStale(world), anyStale);
    espyNodeId camera = espyWorld_GetActiveCamera(world);
    uint32_t count, nodes = espyWorld_GetNodeCount(world), wanted = 0;
    static espyNodeId seen[ESPY_FUZZ_NODES * 2];
    static bool listed[ESPY_FUZZ_NODES * 4];
    assert_int_equal(espyWorld_GetSeenByCamera(world, NULL, 0, (espyNodeId){0}, seen, ESPY_FUZZ_NODES * 2, &count),
                     espyResult_Ok);
    memset(listed, 0, sizeof listed);
    for (uint32_t i = 0; i < count; ++i)
    {
        assert_true(espyWorld_IsNode(world, seen[i]) && !listed[seen[i].index1]);
        listed[seen[i].index1] = true;
    }
    for (uint32_t i = 0; i < nodes; ++i)
    {
        espyNodeId node = espyWorld_GetNodeAt(world, i);
        espyNodeData a = espyWorld_GetNodeData(world, node), b = espyWorldReference_GetNodeData(f->reference, node);
        assert_int_equal(a.data.index1, b.data.index1);
        assert_int_equal(a.slot, b.slot);
        assert_int_equal(a.inPlace, b.inPlace);
        assert_int_equal(a.occluder, b.occluder);
        bool expected = espyWorldReference_IsSeen(f->reference, node, camera);
        assert_int_equal(espyWorld_IsSeenByCamera(world, node, (espyNodeId){0}), expected);
        assert_int_equal(listed[node.index1], expected);
        wanted += expected ? 1 : 0;
        espyFuzz_seen += expected ? 1 : 0;
        espyFuzz_inPlace += a.inPlace ? 1 : 0;
        espyVisibility box = espyWorld_CouldSeeBox(world, camera, espyWorld_GetQueryBounds(world, node));
        espyFuzz_occluded += box != espyVisibility_Outside && !expected ? 1 : 0;
    }
    assert_int_equal(count, wanted);
    // Events, a few at a time, lead from the last state to this one.
    espyViewEvent events[7];
    do
    {
        assert_int_equal(espyViewTracker_Poll(f->tracker, events, 7, &count), espyResult_Ok);
        for (uint32_t i = 0; i < count; ++i)
        {
            bool* tracked = &f->tracked[events[i].node.index1];
            assert_int_equal(*tracked, !events[i].entered);
            *tracked = events[i].entered;
        }
    } while (count == 7);
    for (uint32_t i = 0; i < nodes; ++i)
    {
        espyNodeId node = espyWorld_GetNodeAt(world, i);
        assert_int_equal(f->tracked[node.index1], listed[node.index1]);
    }
}

static void every_answer_equals_the_reference(void** state)
{
    (void)state;
    static espyFuzz f;
    static espyWorldReference reference;
    for (uint64_t seed = 1; seed <= 8; ++seed)
    {
        printf("seed %llu\n", (unsigned long long)seed);
        f = (espyFuzz){.rng = espyiRng_Seed(seed), .reference = &reference};
        f.world = espyWorldCase_World(NULL, seed % 2 == 0);
        reference = (espyWorldReference){.world = f.world, .occlusion = true};
        f.other = espyWorldCase_Mesh(f.world, (espyVec3){0.75f, 1.5f, 0.5f});
        espyWorldCase_Camera(f.world, (espyVec3){0.5f, 1.5f, 0.5f});
        for (uint32_t i = 0; i < ESPY_FUZZ_FILES; ++i)
        {
            // Files overlap in part, so that a camera can be in two of them.
            f.cases[i] = espyWorldCase_Make(seed * 16 + i, i == 1);
            espyPackResult packed = {0};
            if (i == 2)
            {
                // One of them with packed tables.
                assert_int_equal(espyPack_Pack(f.cases[i].file.file, f.cases[i].file.size, NULL, &packed),
                                 espyResult_Ok);
                espyHooks hooks = espyiHooks_Resolve(NULL);
                espyiFree(&hooks, f.cases[i].file.file);
                f.cases[i].file.file = espyiAlloc(&hooks, packed.size, 1);
                f.cases[i].file.size = packed.size;
                memcpy(f.cases[i].file.file, packed.data, packed.size);
                espyPack_Free(&packed);
            }
            f.offsets[i] = (espyVec3){(float)i * 8.0f, 0, 0};
            espyNodeId nodes[ESPY_WORLD_CASE_ENTRIES];
            espyWorldCase_Nodes(f.world, &f.cases[i], f.offsets[i], nodes);
        }
        espyViewTrackerDef def = espyViewTrackerDef_Default();
        def.maxNodes = ESPY_FUZZ_NODES * 3;
        assert_int_equal(espyViewTracker_Create(f.world, &def, &f.tracker), espyResult_Ok);
        for (uint32_t step = 0; step < 400; ++step)
        {
            espyFuzz_Step(&f);
            espyFuzz_Compare(&f);
        }
        espyViewTracker_Destroy(f.tracker);
        espyWorld_Destroy(f.world);
        for (uint32_t i = 0; i < ESPY_FUZZ_FILES; ++i)
        {
            espyWorldCase_Free(&f.cases[i]);
        }
    }
    printf("%llu seen, %llu hidden, %llu in place\n", (unsigned long long)espyFuzz_seen,
           (unsigned long long)espyFuzz_occluded, (unsigned long long)espyFuzz_inPlace);
    // A comparison that never met a hidden node would be worth nothing.
    assert_true(espyFuzz_occluded > 1000 && espyFuzz_inPlace > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_answer_equals_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
